/* sentencepiece.c -- a model of SentencePiece: its pieces, scores and settings, from its
   own file or from one in another format.

   A message is read once, and every length is compared with what is left before we follow
   it; what we do not know is skipped, as the format intends. What would change an id and is
   not done here (unused pieces of BPE, a map for decoded texts) is refused, not passed over.
   Each piece takes some bytes of the file, so a small file cannot make us allocate much
   memory. For BPE the highest score is rank 0, equal scores are equal ranks; Unigram takes the
   scores as they are. */

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sentencepiece/pieces.h"
#include "sentencepiece/wire.h"

enum piece_type { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED,
  BYTE };

/* the fields of the training and the normalizer that could change an id */
struct piece_spec { uint64_t model, unknown, begin, end, bytes, suffix,
  put, thin, escape; struct wire name, charsmap, back; };

/* Where each number belongs, in each of the two inner messages. The last of several counts,
   as the format demands; a field that should be a number and is not makes the file invalid. */
static bool take_field(struct piece_spec *s, bool training,
  const struct wire_field *f)
{
  static const struct { bool training; uint64_t name; size_t at; }
    list[] = { { true, 3, offsetof(struct piece_spec, model) },
    { true, 40, offsetof(struct piece_spec, unknown) },
    { true, 41, offsetof(struct piece_spec, begin) },
    { true, 42, offsetof(struct piece_spec, end) },
    { true, 35, offsetof(struct piece_spec, bytes) },
    { true, 24, offsetof(struct piece_spec, suffix) },
    { false, 3, offsetof(struct piece_spec, put) },
    { false, 4, offsetof(struct piece_spec, thin) },
    { false, 5, offsetof(struct piece_spec, escape) } };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (list[i].training == training && list[i].name == f->name) {
      if (f->form != 0) return false;
      memcpy((char *) s + list[i].at, &f->number, sizeof f->number);
    }
  return true;
}

/* The normalizer has two more fields, its name and a map that replaces characters by
   others. Such maps are not done; the empty one, called identity, needs no work. */
static bool read_spec(struct piece_spec *s, bool training, struct wire w)
{
  while (w.n > 0) {
    struct wire_field f;
    if (!wire_next(&w, &f) || !take_field(s, training, &f))
      return false;
    if (training || f.name > 2) continue;
    if (f.form != 2) return false;
    if (f.name == 1) s->name = f.inside;
    else s->charsmap = f.inside;
  }
  return true;
}

struct one_piece { struct wire words; float score; uint64_t type; };

/* A piece must have letters, whole characters in UTF-8, and a score that is not NaN, which
   cannot be sorted. */
static bool read_piece(struct wire w, struct one_piece *p)
{
  bool whole;
  *p = (struct one_piece) { { NULL, 0 }, 0, NORMAL };
  while (w.n > 0) {
    struct wire_field f;
    if (!wire_next(&w, &f)) return false;
    if (f.name == 1 && f.form == 2) p->words = f.inside;
    else if (f.name == 3 && f.form == 0) p->type = f.number;
    else if (f.name == 2 && f.form == 5) {
      uint32_t bits = (uint32_t) f.number;
      memcpy(&p->score, &bits, sizeof bits);
    } else if (f.name <= 3) return false;
  }
  /* a score that is not itself is NaN, and cannot be sorted */
  return p->words.n > 0 && p->score == p->score
    && utf8_run(p->words.at, p->words.n, &whole) == p->words.n
    && whole;
}

/* Control pieces and the unknown one are made by no merge; they are special. */
static bool enter_piece(struct memory *m, struct tokenizer *t,
  const struct one_piece *p, uint32_t id, struct error *why)
{
  struct vocab_entry *k = tokenizer_vocab_at(m, t, id, why);
  if (k == NULL) return false;
  k->special = p->type == CONTROL || p->type == UNKNOWN;
  if (!tokenizer_intern(m, t, p->words.at, p->words.n, &k->piece, why))
    return false;
  k->text = k->piece;
  return true;
}

struct scored { float score; uint32_t id, type; };

struct piece_list { struct scored *piece; size_t n, cap; };

/* The pieces come in the order of their ids, and are counted as they are read. */
static bool list_piece(struct memory *m, struct piece_list *l,
  const struct one_piece *p, struct error *why)
{
  struct scored *s = memory_reserve(m, MEMORY_TOKENS, l->piece, &l->cap, l->n + 1, 256,
    sizeof *s, why);
  if (s == NULL) return false;
  l->piece = s;
  l->piece[l->n] = (struct scored) { p->score, (uint32_t) l->n,
    (uint32_t) p->type };
  l->n++;
  return true;
}

struct piece_model { struct memory *m; struct tokenizer *t;
  const char *file;
  struct piece_list list; struct piece_spec spec; bool cut_first;
  struct error *why; };

/* A complaint names a piece by its number, which is its id, since its letters may be what
   is wrong. */
static bool read_next_piece(struct piece_model *x, struct wire w)
{
  struct one_piece p;
  char field[40];
  snprintf(field, sizeof field, "piece %zu", x->list.n);
  if (!read_piece(w, &p)) return error_found(x->why, x->file, field,
    "something else", "letters in UTF-8, a score and a type");
  if (p.type < NORMAL || p.type > BYTE)
    return error_found(x->why, x->file, field, "an unknown type",
      "a type from 1 to 6");
  if (x->list.n == TOKENIZER_MAX_ID) return error_found(x->why, x->file, field,
    "one more", "at most 4194304 pieces");
  return enter_piece(x->m, x->t, &p, (uint32_t) x->list.n, x->why)
    && list_piece(x->m, &x->list, &p, x->why);
}

/* Once, from front to back. Unknown fields, such as samples for a self-test, are skipped.
   The denormalizer (5) would change the decoded text; its map must be empty like that of
   the normalizer. */
static bool read_message(struct piece_model *x, struct wire w)
{
  size_t size = w.n;
  while (w.n > 0) {
    struct wire_field f;
    char place[60];
    snprintf(place, sizeof place, "byte %zu of %zu", size - w.n,
      size);
    bool good = wire_next(&w, &f) && (f.form == 2 || f.name > 5);
    if (good && f.name == 1) {
      /* has its own message */
      if (!read_next_piece(x, f.inside)) return false;
    } else if (good && (f.name == 2 || f.name == 3))
      good = read_spec(&x->spec, f.name == 2, f.inside);
    else if (good && f.name == 5) {
      struct piece_spec back = { .model = 0 };
      good = read_spec(&back, false, f.inside);
      x->spec.back = back.charsmap;
    }
    if (!good) return error_found(x->why, x->file, place,
      "no field", "a field of a SentencePiece model");
  }
  return true;
}

/* The rules are a map from strings to strings, with a name such as nmt_nfkc. With that one
   the character for a half becomes three before anything is looked up. The message quotes the name,
   or the beginning of a long one. */
static bool read_rules(struct piece_model *x)
{
  const struct piece_spec *s = &x->spec;
  char name[80], found[200];
  const char *wanted;
  struct error inner = { "" };
  if (s->back.n > 0) return error_found(x->why, x->file,
    "denormalizer_spec.precompiled_charsmap", "some rules",
    "none");
  if (s->charsmap.n == 0 || tokenizer_add_map(x->m, x->t, s->charsmap.at, s->charsmap.n, false,
    &wanted, &inner)) return true;
  snprintf(name, sizeof name, "the rules %.*s",
    s->name.n < 40 ? (int) s->name.n : 40,
    s->name.n > 0 ? (const char *) s->name.at : "");
  snprintf(found, sizeof found, "%s, %.100s", name, inner.text);
  return wanted == NULL ? error_say(x->why, "%s", inner.text) : error_found(x->why, x->file,
    "normalizer_spec.precompiled_charsmap", found, wanted);
}

/* SentencePiece's BPE merges a piece that is not used, and then takes it apart again; its Unigram
   passes it over, and so do we. */
static bool none_is_unused(struct piece_model *x)
{
  for (size_t i = 0; i < x->list.n; i++) {
    char field[40];
    if (x->list.piece[i].type != UNUSED) continue;
    snprintf(field, sizeof field, "piece %zu", i);
    return error_found(x->why, x->file, field, "a piece that is not used",
      "a type from 1 to 4, or 6");
  }
  return true;
}

/* There are two other training methods, which make neither scores for ways of cutting nor merges. Such
   a file is valid, and *ours is false.
   A model that treats the blank as the end of a word cuts texts in another way. One whose
   unk_id is not the unknown piece would give us two unknown tokens. */
static bool judge(struct piece_model *x, bool *ours)
{
  static const char *const learner[] = { "a number from 1 to 4",
    "Unigram", "BPE", "words", "characters" };
  const struct piece_spec *s = &x->spec;
  *ours = s->model == 1 || s->model == 2;
  if (!*ours) return error_found(x->why, x->file,
    "trainer_spec.model_type",
    s->model <= 4 && s->model > 0 ? learner[s->model]
    : "another number", "BPE or Unigram (another kind of tokenizer)");
  if (s->suffix != 0) return error_found(x->why, x->file,
    "trainer_spec.treat_whitespace_as_suffix", "true", "false");
  if (s->unknown >= x->list.n
    || x->list.piece[s->unknown].type != UNKNOWN)
    return error_found(x->why, x->file, "trainer_spec.unk_id",
    "another piece", "the id of the unknown piece");
  return s->model == 1 || none_is_unused(x);
}

/* Pairs are enough only if, whenever two parts of a text merge into a piece, both parts are
   pieces. For parts of several letters it follows from how the file was learnt, for single
   ones it is a property of the file. */
static bool letters_are_pieces(struct piece_model *x, const uint32_t *rank)
{
  enum utf8_state state;
  for (uint32_t id = 0; id < x->t->n_vocab; id++) {
    struct span s = x->t->vocab[id].piece;
    const unsigned char *c = x->t->string_pool.byte + s.at;
    char field[40];
    if (rank[id] == TIKTOKEN_NO_RANK) continue;
    for (size_t k = 0, n; k < s.n; k += n) {
      n = utf8_next(c + k, s.n - k, &state);
      if (pieces_ranked(x->t, rank, c + k, n) != 0) continue;
      snprintf(field, sizeof field, "piece %u", (unsigned) id);
      return error_found(x->why, x->file, field,
        "a letter that is no piece", "letters that are pieces");
    }
  }
  return true;
}

/* by id where scores are equal, so that qsort, which is not stable, has one answer */
static int by_score(const void *a, const void *b)
{
  const struct scored *x = a, *y = b;
  if (x->score != y->score) return x->score > y->score ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* Sorting destroys the order of the list, but each entry knows its id and type. */
static bool rank_scores(struct piece_model *x)
{
  size_t n = x->list.n;
  struct scored *p = x->list.piece;
  uint32_t *rank = memory_alloc(x->m, MEMORY_TOKENS, n, sizeof *rank,
    x->why), next = 0;
  if (rank == NULL) return false;
  qsort(p, n, sizeof *p, by_score);
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && p[i].score != p[i - 1].score) next++;
    /* only normal pieces merge */
    rank[p[i].id] = p[i].type == NORMAL ? next : TIKTOKEN_NO_RANK;
  }
  bool ok = letters_are_pieces(x, rank)
    && tiktoken_pairs_from_ranks(x->m, x->t, rank, x->why);
  memory_free(x->m, rank);
  return ok;
}

/* What a text may be cut into: normal pieces at their scores, and those that the user has defined at a
   score that grows with their length, so that they are nearly always chosen. */
static bool take_scores(struct piece_model *x)
{
  float lowest = 0;
  bool any = false;
  if (!tokenizer_make_scores(x->m, x->t, x->why)) return false;
  for (size_t i = 0; i < x->list.n; i++) {
    const struct scored *p = &x->list.piece[i];
    double *score = &x->t->unigram.score[i];
    if (p->type == USER_DEFINED)
      *score = (float) ((double) (x->t->vocab[i].piece.n - 1) * 0.1);
    if (p->type != NORMAL) continue;
    *score = p->score;
    lowest = any && lowest < p->score ? lowest : p->score, any = true;
  }
  return tokenizer_index_scores(x->m, x->t, lowest, true, x->why);
}

/* In this order a text goes through the steps: map its characters, thin out blanks, put one in front, write
   blocks for blanks. Decoding turns blocks back, and drops the first blank if one was put
   there or if extra blanks are removed, as SentencePiece does. */
static bool set_up(struct piece_model *x)
{
  struct tokenizer *t = x->t;
  const struct piece_spec *s = &x->spec;
  static const char block[] = "\xe2\x96\x81";
  struct text_step thin = { .what = STEP_STRIP }, put = { .what = STEP_PREPEND },
    replace = { .what = STEP_REPLACE };
  /* as SentencePiece does it: also if blanks are only thinned */
  t->strip_prefix_space = s->put != 0 || s->thin != 0;
  /* a text of which the map leaves nothing gets its blank all the same */
  put.even_empty = s->charsmap.n > 0 && s->thin == 0;
  if (!read_rules(x)) return false;
  if (s->thin != 0 && !tokenizer_add_string(x->m, t, thin, block,
    s->escape != 0 ? 3 : 0, NULL, 0, false, x->why)) return false;
  if (s->put != 0 && !tokenizer_add_string(x->m, t, put, " ", 1, NULL, 0, false,
    x->why)) return false;
  if (s->escape != 0 && (!tokenizer_texts_replace(x->m, t, block, 3, " ", 1,
      x->why) || !tokenizer_add_string(x->m, t, replace, block, 3, " ", 1, true,
      x->why))) return false;
  t->n_normalizers = t->n_steps;
  return tokenizer_texts_as_bytes(x->m, t, x->why);
}

/* SentencePiece finds such a piece before it thins out blanks, and we after: a file
   with both is refused. */
static bool has_blank(const struct tokenizer *t, const struct span *s)
{
  const unsigned char *c = t->string_pool.byte + s->at;
  for (size_t i = 0; i < s->n; i++)
    if (c[i] == ' ' || (s->n - i >= 3
      && memcmp(c + i, "\xe2\x96\x81", 3) == 0)) return true;
  return false;
}

/* SentencePiece itself never looks for control pieces in a text; here a caller that asks
   for special tokens gets them, as in the other families. */
static bool add_special_pieces(struct piece_model *x)
{
  for (size_t i = 0; i < x->list.n; i++) {
    const struct scored *p = &x->list.piece[i];
    struct added_token a = { .id = p->id,
      .text = x->t->vocab[p->id].piece,
      .special = p->type == CONTROL || p->type == UNKNOWN,
      .frozen = p->type == USER_DEFINED && !x->cut_first };
    if (a.frozen && x->spec.thin != 0 && has_blank(x->t, &a.text))
      return error_found(x->why, x->file,
        "normalizer_spec.remove_extra_whitespaces", "true, and a user-defined piece with a blank",
        "one of the two");
    if ((a.special || p->type == USER_DEFINED) && !tokenizer_add_token(x->m, x->t, &a,
      x->why)) return false;
  }
  return tokenizer_index_added(x->m, x->t, x->why);
}

static bool finish_tokenizer(struct piece_model *x)
{
  struct tokenizer *t = x->t;
  bool unigram = x->spec.model == 1;
  t->kind = unigram ? "SentencePiece Unigram" : "SentencePiece BPE", t->char_level = true;
  t->byte_fallback = x->spec.bytes != 0;
  t->unknown = (uint32_t) x->spec.unknown + 1,
    t->fuse_unk = true;
  if (!tokenizer_index_vocab(x->m, t, x->why)
    || !pieces_all_different(t, x->file, "piece", x->why)
    || !(unigram ? take_scores(x) : rank_scores(x))) return false;
  /* Each step needs the one before: pairs look pieces up, and the splits depend on
     all pieces. */
  tokenizer_find_splits(t);
  return set_up(x) && add_special_pieces(x);
}

static bool make_tokenizer(struct piece_model *x, struct wire w, bool *ours)
{
  return read_message(x, w) && judge(x, ours) && finish_tokenizer(x);
}

/* Absent fields have the values that the format gives them, in no file: Unigram, the ids 0,
   1 and 2, and a normalizer that removes extra blanks, puts one before the text, and writes
   blocks. */
bool sentencepiece_read(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  uint32_t *begin, uint32_t *end, bool *ours, struct error *why)
{
  struct piece_model x = { .m = m, .t = t, .file = file,
    .spec = { .model = 1, .begin = 1, .end = 2, .put = 1, .thin = 1,
    .escape = 1 }, .why = why };
  *ours = true;
  bool ok = make_tokenizer(&x, (struct wire) { byte, n },
    ours);
  /* none is an id that no piece has, -1 mostly, which is very large here */
  *begin = ok && x.spec.begin < x.list.n
    ? (uint32_t) x.spec.begin + 1 : 0;
  *end = ok && x.spec.end < x.list.n ? (uint32_t) x.spec.end + 1 : 0;
  memory_free(m, x.list.piece);
  return ok;
}

/* The pieces of a file in another format, GGUF, where they are three arrays. Two things
   differ, as in the program for which those files are made: unused pieces occur, as
   padding, and user-defined pieces are cut out of the text before a blank is put before it,
   and not frozen. */
static bool take_piece(struct piece_model *x, sentencepiece_piece_at *at,
  void *ctx, size_t i)
{
  struct sentencepiece_piece from;
  char field[40];
  bool whole = false;
  snprintf(field, sizeof field, "piece %zu", i);
  if (!at(ctx, i, &from)) return error_found(x->why, x->file, field,
    "changed while it was read", "a file that stays as it is");
  struct one_piece p = { { (const unsigned char *) from.text, from.n },
    from.score, from.type };
  if (from.n == 0 || from.score != from.score
    || utf8_run(p.words.at, from.n, &whole) != from.n || !whole)
    return error_found(x->why, x->file, field, "something else",
      "letters in UTF-8 and a score");
  if (p.type < NORMAL || p.type > BYTE) return error_found(x->why, x->file,
    field, "one of an unknown type", "a type from 1 to 6");
  if (!enter_piece(x->m, x->t, &p, (uint32_t) i, x->why)) return false;
  /* padding: it has an id and a text, and is never found */
  if (p.type == UNUSED) x->t->vocab[i].piece.n = 0;
  if (p.type == BYTE) x->spec.bytes = 1;
  return list_piece(x->m, &x->list, &p, x->why);
}

/* The unknown piece is given as its id plus 1, or 0. */
bool sentencepiece_make(struct memory *m, struct tokenizer *t,
  const char *file, size_t n, sentencepiece_piece_at *at, void *ctx,
  bool prefix, uint32_t unknown, struct error *why)
{
  struct piece_model x = { .m = m, .t = t, .file = file,
    .spec = { .put = prefix, .escape = 1 }, .cut_first = true, .why = why };
  bool ok = n <= TOKENIZER_MAX_ID || error_found(why, file, "the vocabulary",
    "larger", "at most 4194304 pieces");
  /* from an id plus 1 to an id; 0 becomes one that no piece has */
  x.spec.unknown = (uint64_t) unknown - 1;
  for (size_t i = 0; ok && i < n; i++) ok = take_piece(&x, at, ctx, i);
  ok = ok && finish_tokenizer(&x);
  memory_free(m, x.list.piece);
  return ok;
}
