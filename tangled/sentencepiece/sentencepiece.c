/* sentencepiece.c -- Vocabularies that come as ranks or scores instead of merges:
   tiktoken's files, and SentencePiece's.
   made from workshop/05-sentencepiece.w; change it there

   Both become pairs with ranks: a piece that can be cut into two others gives one
   pair for each such cut, all with the piece's rank. That is enough only if every
   part of a piece is a piece, which is checked. Highest score is rank 0, equal scores
   are equal ranks. A message of SentencePiece is read once, and every length is
   compared with what is left before we follow it. What would change an id and is not
   done here (maps of characters, unused pieces, Unigram) is refused, not passed over. */

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sentencepiece/sentencepiece.h"

/* <Make pairs of pieces> */

/* the id plus 1 of a piece that merges, or 0 */
static uint32_t ranked(const struct tokenizer *t,
  const uint32_t *rank, const unsigned char *byte, size_t n)
{
  uint32_t id = name_map_get(&t->by_piece, byte, n);
  return id == 0 || rank[id - 1] == TIKTOKEN_NO_RANK ? 0 : id;
}

/* Every cut of every piece: whichever two parts meet in a text, their pair must be
   found. */
bool tiktoken_pairs_from_ranks(struct memory *m, struct tokenizer *t,
  const uint32_t *rank, struct error *why)
{
  for (uint32_t id = 0; id < t->n_vocab; id++) {
    struct span s = t->vocab[id].piece;
    const unsigned char *byte = t->string_pool.byte + s.at;
    for (size_t k = 1; k < s.n && rank[id] != TIKTOKEN_NO_RANK; k++) {
      uint32_t left = ranked(t, rank, byte, k),
        right = left == 0 ? 0 : ranked(t, rank, byte + k, s.n - k);
      if (right != 0 && !bpe_add_ranked(m, &t->rules,
        (struct bpe_rule) { left - 1, right - 1, id, rank[id] },
        why)) return false;
    }
  }
  return true;
}

/* A word that stands there twice could be decoded by both ids, and encoded by one. */
static bool all_different(const struct tokenizer *t, const char *file,
  const char *what, struct error *why)
{
  for (uint32_t id = 0; id < t->n_vocab; id++) {
    struct span s = t->vocab[id].piece;
    char field[40];
    uint32_t last = s.n == 0 ? id + 1 : name_map_get(&t->by_piece,
      t->string_pool.byte + s.at, s.n);
    if (last == id + 1) continue;
    snprintf(field, sizeof field, "%s %u", what, last - 1);
    return error_found(why, file, field, "a word for the second time",
      "words that are all different");
  }
  return true;
}

/* <Read a word in base64> */
static bool from_base64(struct memory *m, const unsigned char *c,
  size_t n, struct bytes *out, struct error *why, bool *good)
{
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned value = 0, bits = 0;
  *good = n % 4 == 0 && n > 0;
  /* at most two equal signs */
  while (*good && n > 0 && c[n - 1] == '=' && bits++ < 2) n--;
  bits = 0;
  for (size_t i = 0; i < n && *good; i++) {
    const char *at = memchr(alphabet, c[i], 64);
    *good = at != NULL;
    if (!*good) break;
    value = value << 6 | (unsigned) (at - alphabet), bits += 6;
    if (bits < 8) continue;
    unsigned char byte = (unsigned char) (value >> (bits -= 8));
    if (!bytes_push(m, out, &byte, 1, why)) return false;
  }
  return true;
}

/* <What goes with a rank file> */
static const char cut_cl100k[] = "'(?i:[sdmt]|ll|ve|re)|"
  "[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|"
  "\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s";
static const char cut_o200k[] = "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
  "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|"
  "\\s+(?!\\S)|\\s+";

static const struct rank_family { size_t lines; const char *pattern;
  struct { const char *text; uint32_t id; } special[6]; }
  families[] = {
  { 50256, split_gpt2, { { "<|endoftext|>", 50256 } } },
  { 50280, split_gpt2, { { "<|endoftext|>", 50256 } } },
  { 100256, cut_cl100k, { { "<|endoftext|>", 100257 },
    { "<|fim_prefix|>", 100258 }, { "<|fim_middle|>", 100259 },
    { "<|fim_suffix|>", 100260 }, { "<|endofprompt|>", 100276 } } },
  { 199998, cut_o200k, { { "<|endoftext|>", 199999 },
    { "<|endofprompt|>", 200018 } } } };

/* <Read a line of a rank file> */

/* *wrong: what the line should have been, or null. A line takes more than a byte, so
   no id need be as large as the file; a small file cannot make the table large. */
static bool read_rank_line(struct memory *m, struct tokenizer *t,
  const unsigned char *c, size_t n, size_t max, struct bytes *row,
  struct error *why, const char **wrong)
{
  const unsigned char *blank = memchr(c, ' ', n);
  size_t id = 0, i = blank == NULL ? n : (size_t) (blank - c) + 1;
  bool good;
  row->n = 0, *wrong = "a word in base64, a blank and a number";
  if (blank == NULL || i == n) return true;
  for (; i < n && c[i] >= '0' && c[i] <= '9' && id < max; i++)
    id = 10 * id + (size_t) (c[i] - '0');
  if (!from_base64(m, c, (size_t) (blank - c), row, why, &good))
    return false;
  if (!good || i < n || id >= max) return true;
  struct vocab_entry *k = tokenizer_vocab_at(m, t, (uint32_t) id, why);
  if (k == NULL) return false;
  *wrong = "a rank that no other word has";
  if (k->piece.n > 0) return true;
  *wrong = NULL;
  return tokenizer_intern(m, t, row->byte, row->n, &k->piece, why)
    && (k->text = k->piece, true);
}

/* <Read the lines of a rank file> */
static bool read_rank_lines(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  size_t *lines, struct error *why)
{
  struct bytes row = { NULL, 0, 0 };
  bool ok = true;
  *lines = 0;
  for (size_t at = 0; ok && at < n;) {
    const unsigned char *stop = memchr(byte + at, '\n', n - at);
    size_t length = stop == NULL ? n - at
      : (size_t) (stop - byte) - at, used = length;
    const char *wrong = NULL;
    char field[40];
    if (used > 0 && byte[at + used - 1] == '\r') used--;
    snprintf(field, sizeof field, "line %zu", ++*lines);
    ok = read_rank_line(m, t, byte + at, used, n < TOKENIZER_MAX_ID ? n
      : TOKENIZER_MAX_ID,
      &row, why, &wrong)
      && (wrong == NULL || error_found(why, file, field,
      "something else", wrong));
    at += length + 1;
  }
  bytes_free(m, &row);
  return ok;
}

/* <Make a rank of every id> */
static bool pairs_by_id(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  size_t n = t->n_vocab;
  uint32_t *rank = memory_alloc(m, MEMORY_TOKENS, n, sizeof *rank, why);
  if (rank == NULL) return false;
  for (uint32_t id = 0; id < n; id++)
    rank[id] = t->vocab[id].piece.n > 0 ? id : TIKTOKEN_NO_RANK;
  bool ok = tiktoken_pairs_from_ranks(m, t, rank, why);
  memory_free(m, rank);
  return ok;
}

/* In another file, with as many lines and other ids, a line may have the special
   token's id. */
static bool add_special_text(struct memory *m, struct tokenizer *t,
  const char *file, const char *text, uint32_t id, struct error *why)
{
  struct added_token x = { .id = id, .special = true };
  char field[40];
  snprintf(field, sizeof field, "rank %u", (unsigned) id);
  if (id < t->n_vocab && t->vocab[id].piece.n > 0)
    return error_found(why, file, field, "a word's", text);
  return tokenizer_intern(m, t, text, strlen(text), &x.text, why)
    && tokenizer_add_token(m, t, &x, why);
}

/* <Read a rank file> */

/* The file does not say how texts are cut; its number of lines does. It is better to
   refuse than to cut with the wrong pattern. */
static const struct rank_family *family_of(const char *file,
  size_t lines, struct error *why)
{
  char found[40];
  for (size_t i = 0; i < 4; i++)
    if (families[i].lines == lines) return &families[i];
  snprintf(found, sizeof found, "%zu lines", lines);
  error_found(why, file, "this", found,
    "50256, 50280, 100256 or 199998 ranks");
  return NULL;
}

bool tiktoken_read(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  struct error *why)
{
  size_t lines;
  /* A piece that is a token as a whole becomes that token, wherever merges would
     lead. */
  t->kind = "tiktoken ranks", t->ignore_merges = true;
  if (!read_rank_lines(m, t, file, byte, n, &lines, why))
    return false;
  const struct rank_family *f = family_of(file, lines, why);
  if (f == NULL) return false;
  if (!tokenizer_index_vocab(m, t, why)
    || !all_different(t, file, "rank", why)
    || !pairs_by_id(m, t, why)
    || !tokenizer_add_split(m, t, f->pattern, strlen(f->pattern), why))
    return false;
  for (size_t i = 0; i < 6 && f->special[i].text != NULL; i++)
    if (!add_special_text(m, t, file, f->special[i].text,
      f->special[i].id, why)) return false;
  return tokenizer_index_added(m, t, why);
}

/* <Read a message> */

/* n bytes from at on; n may be 0 */
struct wire { const unsigned char *at; size_t n; };

/* number for the forms 0 and 5, inside for 2 */
struct wire_field { uint64_t name, number; unsigned form;
  struct wire inside; };

/* Seven bits a byte, the lowest first; a tenth byte is the last that can matter. */
static bool read_number(struct wire *w, uint64_t *number)
{
  *number = 0;
  for (unsigned shift = 0; w->n > 0 && shift < 64; shift += 7) {
    unsigned char byte = *w->at++;
    w->n--;
    *number |= (uint64_t) (byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/* A field takes at least a byte, so reading ends on any input. */
static bool read_field(struct wire *w, struct wire_field *f)
{
  uint64_t n;
  if (!read_number(w, &f->name)) return false;
  f->form = (unsigned) (f->name & 7);
  f->name >>= 3;
  f->number = 0;
  f->inside = (struct wire) { w->at, 0 };
  if (f->form == 0) return read_number(w, &f->number);
  /* no other forms exist: 3 and 4 are groups, long out of use */
  if (f->form == 1 || f->form == 5) n = f->form == 1 ? 8 : 4;
  else if (f->form != 2 || !read_number(w, &n)) return false;
  if (n > w->n) return false;
  f->inside = (struct wire) { w->at, (size_t) n };
  w->at += n, w->n -= (size_t) n;
  if (f->form == 5) for (int i = 3; i >= 0; i--)
    f->number = f->number << 8 | f->inside.at[i];
  return true;
}

/* <What a model of SentencePiece says> */
enum piece_type { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED,
  BYTE };

/* the fields of the training and the normalizer */
struct piece_spec { uint64_t model, unknown, begin, end, bytes, suffix,
  put, thin, escape; struct wire name, charsmap, back; };

/* Where each number belongs. The last of several counts, as the format demands. */
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

static bool read_spec(struct piece_spec *s, bool training, struct wire w)
{
  while (w.n > 0) {
    struct wire_field f;
    if (!read_field(&w, &f) || !take_field(s, training, &f))
      return false;
    if (training || f.name > 2) continue;
    if (f.form != 2) return false;
    if (f.name == 1) s->name = f.inside;
    else s->charsmap = f.inside;
  }
  return true;
}

/* <Read one piece> */
struct one_piece { struct wire words; float score; uint64_t type; };
static bool read_piece(struct wire w, struct one_piece *p)
{
  bool whole;
  *p = (struct one_piece) { { NULL, 0 }, 0, NORMAL };
  while (w.n > 0) {
    struct wire_field f;
    if (!read_field(&w, &f)) return false;
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

/* <Enter one piece> */

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

/* <A list of pieces> */
struct scored { float score; uint32_t id, type; };
struct piece_list { struct scored *piece; size_t n, cap; };
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

/* <Read the whole message> */
struct piece_model { struct memory *m; struct tokenizer *t;
  const char *file;
  struct piece_list list; struct piece_spec spec; bool cut_first;
  struct error *why; };
static bool read_next_piece(struct piece_model *x, struct wire w)
{
  struct one_piece p;
  char field[40];
  snprintf(field, sizeof field, "piece %zu", x->list.n);
  if (!read_piece(w, &p)) return error_found(x->why, x->file, field,
    "something else", "letters in UTF-8, a score and a type");
  if (p.type == UNUSED || p.type < NORMAL || p.type > BYTE)
    return error_found(x->why, x->file, field, p.type == UNUSED
    ? "a piece that is not used" : "an unknown type",
    "a type from 1 to 4, or 6");
  if (x->list.n == TOKENIZER_MAX_ID) return error_found(x->why, x->file, field,
    "one more", "at most 4194304 pieces");
  return enter_piece(x->m, x->t, &p, (uint32_t) x->list.n, x->why)
    && list_piece(x->m, &x->list, &p, x->why);
}

/* Once, from front to back; what we do not know is skipped, as the format intends. */
static bool read_message(struct piece_model *x, struct wire w)
{
  size_t size = w.n;
  while (w.n > 0) {
    struct wire_field f;
    char place[60];
    snprintf(place, sizeof place, "byte %zu of %zu", size - w.n,
      size);
    bool good = read_field(&w, &f) && (f.form == 2 || f.name > 5);
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

/* <Judge the rules for letters> */

/* A map would change characters before anything is looked up; only the empty one,
   identity, is read. */
static bool rules_are_none(struct piece_model *x)
{
  const struct piece_spec *s = &x->spec;
  char name[80];
  snprintf(name, sizeof name, "the rules %.*s",
    s->name.n < 40 ? (int) s->name.n : 40,
    s->name.n > 0 ? (const char *) s->name.at : "");
  if (s->charsmap.n > 0) return error_found(x->why,
    x->file, "normalizer_spec.precompiled_charsmap", name,
    "none (identity)");
  if (s->back.n > 0) return error_found(x->why, x->file,
    "denormalizer_spec.precompiled_charsmap", "some rules",
    "none");
  return true;
}

/* <Judge what was read> */

/* *ours is false for a valid file of another kind, Unigram for example. */
static bool judge(struct piece_model *x, bool *ours)
{
  static const char *const learner[] = { "a number from 1 to 4",
    "Unigram", "BPE", "words", "characters" };
  const struct piece_spec *s = &x->spec;
  *ours = s->model == 2;
  if (!*ours) return error_found(x->why, x->file,
    "trainer_spec.model_type",
    s->model <= 4 && s->model > 0 ? learner[s->model]
    : "another number", "BPE (another kind of tokenizer)");
  if (s->suffix != 0) return error_found(x->why, x->file,
    "trainer_spec.treat_whitespace_as_suffix", "true", "false");
  if (s->unknown >= x->list.n
    || x->list.piece[s->unknown].type != UNKNOWN)
    return error_found(x->why, x->file, "trainer_spec.unk_id",
    "another piece", "the id of the unknown piece");
  return rules_are_none(x);
}

/* <Tell whether all letters are pieces> */

/* For parts of several letters it follows from how the file was learnt, for single
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
      if (ranked(x->t, rank, c + k, n) != 0) continue;
      snprintf(field, sizeof field, "piece %u", (unsigned) id);
      return error_found(x->why, x->file, field,
        "a letter that is no piece", "letters that are pieces");
    }
  }
  return true;
}

/* <Make ranks of scores> */

/* by id where scores are equal, so that qsort, which is not stable, has one answer */
static int by_score(const void *a, const void *b)
{
  const struct scored *x = a, *y = b;
  if (x->score != y->score) return x->score > y->score ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

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

/* <Set up what is done with a text> */

/* In this order a text goes through them: thin out blanks, put one in front, write
   blocks for blanks. Decoding turns blocks back. */
static bool set_up(struct piece_model *x)
{
  struct tokenizer *t = x->t;
  const struct piece_spec *s = &x->spec;
  static const char block[] = "\xe2\x96\x81";
  struct text_step thin = { .what = STEP_STRIP }, put = { .what = STEP_PREPEND },
    replace = { .what = STEP_REPLACE };
  /* as SentencePiece does it: also if blanks are only thinned */
  t->strip_prefix_space = s->put != 0 || s->thin != 0;
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

/* <Read a model of SentencePiece> */
static bool finish_tokenizer(struct piece_model *x)
{
  struct tokenizer *t = x->t;
  t->kind = "SentencePiece BPE", t->char_level = true;
  t->byte_fallback = x->spec.bytes != 0;
  t->unknown = (uint32_t) x->spec.unknown + 1,
    t->fuse_unk = true;
  if (!tokenizer_index_vocab(x->m, t, x->why)
    || !all_different(t, x->file, "piece", x->why)
    || !rank_scores(x)) return false;
  /* Each step needs the one before: pairs look pieces up, and the splits depend on
     all pieces. */
  tokenizer_find_splits(t);
  return set_up(x) && add_special_pieces(x);
}

static bool make_tokenizer(struct piece_model *x, struct wire w, bool *ours)
{
  return read_message(x, w) && judge(x, ours) && finish_tokenizer(x);
}

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
