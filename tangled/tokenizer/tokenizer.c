/* tokenizer.c -- From text to ids, whatever file the vocabulary came from.
   made from workshop/04-tokenizer.w; change it there

   Encoding is a series of cuts: valid UTF-8 and other bytes; added tokens in the text
   (root 0 of the tree); added tokens in its normal form (root 1); the stages of the
   pre-tokenizer; and only then merging, before which frozen tokens (root 2) are
   found. Where two readings are possible we do what Hugging Face's library does,
   since the model was trained so. by_piece and the tree borrow bytes of the string
   pool, which moves when it grows: tokenizer_index_added comes after the last byte.
   In the tables 0 is no entry, so ids stand there plus 1. A tokenizer is only read
   once it is made; all that an encoding changes is in its struct job. */

#include <string.h>
#include "tokenizer/inside.h"

/* <What an encoding needs on its way> */

/* unknown: there is an unknown character that the row of the piece does not yet have */
struct job { const struct tokenizer *t; struct memory *m; struct ids *out;
  struct bpe_work work; struct unigram_work best; struct split_work cut;
  bool parse_special; struct error *why; bool unknown; };
static bool push_bytes(struct job *j, const unsigned char *byte,
  size_t n);
static bool encode_changed(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n);
static bool encode_added(struct job *j, uint32_t root, bool first,
  const unsigned char *text, size_t n);

/* <Make the tree of added tokens> */
#include "tokenizer/plant.inc"

bool tokenizer_index_added(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  /* The tokens' bytes came after those of the pieces, and the pool may have moved;
     by_piece would point into what was freed. */
  name_map_free(m, &t->by_piece);
  bool ok = tokenizer_index_vocab(m, t, why);
  for (int root = 0; root < 3; root++)
    ok = ok && new_trie_node(m, t, 0, 0, why);
  for (size_t i = 0; ok && i < t->n_added; i++) {
    const struct added_token *x = &t->added[i];
    const unsigned char *byte = t->string_pool.byte + x->text.at;
    struct bytes normal = { NULL, 0, 0 };
    bool after = x->normalized && t->n_normalizers > 0 && !x->frozen;
    /* What is looked for in the normal form must be in it, block before it and all,
       or it would never be found. */
    if (after) ok = tokenizer_normalize(t, m, byte, x->text.n, true, &normal,
      why);
    t->any_frozen = t->any_frozen || x->frozen;
    uint32_t root = x->normalized ? 1 : 0;
    if (x->frozen) root = 2;
    ok = ok && plant(m, t, root, after ? normal.byte : byte,
      after ? normal.n : x->text.n, (uint32_t) i + 1, why);
    bytes_free(m, &normal);
  }
  return ok;
}

/* <Encode a piece of characters> */

/* It waits until a character follows that is known, so that several can become one. */
static bool push_unknown(struct job *j)
{
  bool waits = j->unknown;
  j->unknown = false;
  return !waits || ids_push(j->m, &j->work.piece,
    j->t->unknown - 1, j->why);
}

/* A character without a token is spelt in bytes if there is one for each, else it
   becomes the unknown token; several in a row may become one. None is lost without a
   trace. */
static bool push_character(struct job *j, const unsigned char *c,
  size_t n)
{
  const struct tokenizer *t = j->t;
  struct ids *row = &j->work.piece;
  uint32_t id = n == 1 ? t->letter[*c] : name_map_get(&t->by_piece, c,
    n);
  if (id != 0) return push_unknown(j)
    && ids_push(j->m, row, id - 1, j->why);
  bool bytes = true;
  for (size_t i = 0; i < n; i++)
    bytes = bytes && t->rules.byte_id[c[i]] != BPE_NONE;
  /* the unknown character before waits: the makers' library does so */
  if (bytes) return push_bytes(j, c, n);
  if (t->unknown == 0)
    return error_say(j->why, "the vocabulary cannot spell the character U+%04X",
      (unsigned) utf8_point(c, n));
  if (!t->fuse_unk && !push_unknown(j)) return false;
  return j->unknown = true;
}

/* unknown counts from 1, so if there is no unknown token its id is BPE_NONE as well. */
static bool push_bytes(struct job *j, const unsigned char *byte,
  size_t n)
{
  for (size_t i = 0; i < n; i++) {
    uint32_t id = j->t->rules.byte_id[byte[i]];
    if (id == BPE_NONE) id = j->t->unknown - 1;
    if (id == BPE_NONE) return error_say(j->why,
      "the vocabulary cannot spell byte 0x%02x", byte[i]);
    if (!ids_push(j->m, &j->work.piece, id, j->why)) return false;
  }
  return true;
}

/* Merges the row and begins a new one. */
static bool join(struct job *j)
{
  bool ok = push_unknown(j)
    && bpe_join(&j->t->rules, j->m, &j->work, j->out, j->why);
  j->work.piece.n = 0;
  return ok;
}

static bool encode_characters(struct job *j,
  const unsigned char *text, size_t n)
{
  enum utf8_state state;
  size_t length;
  j->work.piece.n = 0;
  for (size_t at = 0; at < n; at += length) {
    const struct added_token *x = !j->t->any_frozen ? NULL
      : tokenizer_longest_added(j->t, 2, text + at, n - at, &length);
    if (x == NULL) length = utf8_next(text + at, n - at, &state);
    if ((x != NULL || (j->t->splits_at_spaces
      && tokenizer_word_begins(text, at, n))) && !join(j)) return false;
    if (x != NULL ? !ids_push(j->m, j->out, x->id, j->why)
      : !push_character(j, text + at, length)) return false;
  }
  return join(j);
}

/* <Encode what needs no more cutting> */
static bool encode_piece(struct job *j, const unsigned char *byte,
  size_t n)
{
  /* Llama 3 has tokens that its own merges do not reach. */
  bool asks = j->t->ignore_merges
    || (j->t->lines_whole && byte[0] == '\n');
  uint32_t whole = asks ? name_map_get(&j->t->by_piece, byte, n) : 0;
  if (whole != 0) return ids_push(j->m, j->out, whole - 1, j->why);
  if (j->t->unigram.n > 0) return unigram_encode(j->t, j->m, &j->best,
    byte, n, j->out, j->why);
  return j->t->char_level ? encode_characters(j, byte, n)
    : bpe_encode(&j->t->rules, j->m, &j->work, byte, n, j->out,
    j->why);
}

/* <Go through the stages> */

/* of several matches in a row only the first goes to the gap before, the last to that
   after; two gaps in a row have an empty match between them, which keeps them apart */
static bool glues(enum text_glue how, const struct text_piece *held,
  const struct text_piece *next)
{
  if (held->n == 0) return false;
  switch (how) {
  case GLUE_BEFORE: return next->match && !held->match;
  case GLUE_AFTER: return !next->match && held->match;
  case GLUE_RUNS: return next->match && held->match;
  case GLUE_NONE: break;
  }
  return false;
}

/* Calls itself with each piece for the next stage: no list of pieces is ever made,
   and the recursion is as deep as there are stages. */
static bool encode_from(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n)
{
  if (n == 0) return true;
  if (k == j->t->n_steps) return encode_piece(j, text, n);
  const struct text_step *s = &j->t->step[k];
  /* which calls encode_from with the changed copy */
  if (s->what != STEP_SPLIT) return encode_changed(j, k, first, text, n);
  struct pieces p;
  struct text_piece next, held = { text, 0, false };
  pieces_begin(&p, s->by, &j->cut, text, n);
  do {
    if (!pieces_next(&p, &next, j->why)) return false;
    if (next.n > 0 && (next.match ? !s->keep_matches
      : !s->keep_gaps)) continue;
    if (next.n > 0 && glues(s->glue, &held, &next)) {
      held.n += next.n, held.match = next.match;
      continue;
    }
    if (held.n > 0 && !encode_from(j, k + 1,
      first && held.byte == text, held.byte, held.n)) return false;
    held = next;
  } while (next.n > 0);
  return true;
}

static bool encode_changed(struct job *j, size_t k, bool first,
  const unsigned char *text, size_t n)
{
  struct bytes copy = { NULL, 0, 0 };
  bool ok = tokenizer_change(j->t, &j->t->step[k], j->m, text, n, first, &copy,
    j->why) && encode_from(j, k + 1, first, copy.byte, copy.n);
  bytes_free(j->m, &copy);
  return ok;
}

/* <Encode the text between added tokens> */

/* After root 0 the text is normalized and searched again; after root 1 it goes to the
   stages. Without a normal form the two searches still follow each other, since
   Hugging Face's do. */
static bool encode_between(struct job *j, uint32_t root, bool first,
  const unsigned char *text, size_t n)
{
  if (root == 1)
    return encode_from(j, j->t->n_normalizers, first, text, n);
  if (j->t->n_normalizers == 0) return encode_added(j, 1, first, text, n);
  struct bytes normal = { NULL, 0, 0 };
  bool ok = tokenizer_normalize(j->t, j->m, text, n, first, &normal, j->why)
    && encode_added(j, 1, first, normal.byte, normal.n);
  bytes_free(j->m, &normal);
  return ok;
}

/* <Cut at the added tokens> */
struct added_place { const struct added_token *token; size_t from, to; };

/* A match that does not count is skipped whole, as Hugging Face does it: no other
   token that overlaps it is found. */
static bool find_added(const struct job *j, uint32_t root,
  const unsigned char *text, size_t n, size_t *at, struct added_place *p)
{
  while (*at < n) {
    size_t from = *at, length = 1;
    const struct added_token *x = tokenizer_longest_added(j->t, root, text + from,
      n - from, &length);
    *at += length;
    if (x == NULL || (x->special && !j->parse_special)) continue;
    if (x->single_word && !tokenizer_whole_word(text, n, from, *at)) continue;
    *p = (struct added_place) { x, from, *at };
    return true;
  }
  return false;
}

/* The token before may have swallowed beyond our beginning; what lies between is
   white space. */
static void swallow_space(struct added_place *p, const unsigned char *text,
  size_t n, size_t done)
{
  if (p->token->lstrip)
    p->from = done < p->from ? tokenizer_space_before(text, p->from, done) : done;
  if (p->token->rstrip)
    p->to = p->to < done ? done : tokenizer_space_after(text, n, p->to);
}

static bool encode_added(struct job *j, uint32_t root, bool first,
  const unsigned char *text, size_t n)
{
  size_t done = 0, at = 0;
  struct added_place p;
  while (find_added(j, root, text, n, &at, &p)) {
    swallow_space(&p, text, n, done);
    /* all of it has been swallowed by the token before */
    if (p.from >= p.to) continue;
    /* only now: a token may swallow white space on its left */
    if (done < p.from && !encode_between(j, root, first && done == 0,
      text + done, p.from - done)) return false;
    if (!ids_push(j->m, j->out, p.token->id, j->why)) return false;
    done = p.to;
  }
  return done >= n || encode_between(j, root, first && done == 0,
    text + done, n - done);
}

/* <Push the ids that the files add> */
static bool push_all(struct job *j, const struct ids *list)
{
  for (size_t i = 0; i < list->n; i++)
    if (!ids_push(j->m, j->out, list->id[i], j->why)) return false;
  return true;
}

/* <Encode a text> */
static bool encode_runs(struct job *j, bool first,
  const unsigned char *byte, size_t n)
{
  size_t length = 0;
  bool ok = true, whole;
  for (size_t at = 0; ok && at < n; at += length) {
    /* What is no UTF-8 is spelt byte by byte, so every string of bytes comes back. */
    length = utf8_run(byte + at, n - at, &whole);
    j->work.piece.n = 0;
    ok = whole ? encode_added(j, 0, first && at == 0, byte + at, length)
      : push_bytes(j, byte + at, length) && join(j);
  }
  return ok;
}

bool tokenizer_encode(const struct tokenizer *t, struct memory *m,
  const char *text, size_t n, bool add_special, bool parse_special,
  struct ids *out,
  struct error *why)
{
  struct job j = { .t = t, .m = m, .out = out, .cut = { .m = m },
    .parse_special = parse_special, .why = why };
  size_t start = out->n;
  bool ok = (!add_special || push_all(&j, &t->prefix_ids))
    && encode_runs(&j, true, (const unsigned char *) text, n)
    && (!add_special || push_all(&j, &t->suffix_ids));
  split_work_free(&j.cut), bpe_work_free(m, &j.work);
  memory_free(m, j.best.node);
  if (!ok) out->n = start;
  return ok;
}

/* A stretch of a conversation is not the beginning of a text, though it is all that
   we get. */
bool tokenizer_encode_inside(const struct tokenizer *t, struct memory *m,
  const char *text, size_t n, struct ids *out, struct error *why)
{
  struct job j = { .t = t, .m = m, .out = out, .cut = { .m = m },
    .why = why };
  size_t start = out->n;
  bool ok = encode_runs(&j, false, (const unsigned char *) text, n);
  split_work_free(&j.cut), bpe_work_free(m, &j.work);
  memory_free(m, j.best.node);
  if (!ok) out->n = start;
  return ok;
}
