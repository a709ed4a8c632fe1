/* tokenizer.c -- made from chapters/A4-vocabularies.w; change it there */

/* D.42  tokenizer.c */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>
#include "A4-vocabularies/inside.h"

/* D.19  What an encoding needs on its way */

struct job {
  struct tokenizer *t;
  struct memory *m;
  struct ids *out;
  struct bpe_work work;
  bool parse_special;
  struct error *why;
};

static bool with_blank(struct job *j, size_t k,
                       const unsigned char *text, size_t n);
static bool encode_added(struct job *j, uint32_t root,
                         const unsigned char *text, size_t n);

/* D.7  Keep letters, and know ids */

bool keep_letters(struct memory *m, struct tokenizer *t,
                  const void *byte, size_t n, struct span *where, struct error *why)
{
  if (n > UINT32_MAX - t->letters.n)
    return error_say(why, "a vocabulary of more than 4 GiB of letters");
  *where = (struct span) { (uint32_t) t->letters.n,
    (uint32_t) n
  };
  return bytes_push(m, &t->letters, byte, n, why);
}

/* D.8  Keep letters, and know ids */

struct known_id *know_id(struct memory *m, struct tokenizer *t,
                         uint32_t id, struct error *why)
{
  if (id >= t->room_known) {
    size_t room = 2 * (size_t)id + 256;
    struct known_id *p = memory_grow(m, FOR_TOKENS, t->known_as,
                                     t->room_known, room, sizeof *p, why);
    if (p == NULL)
      return NULL;
    t->known_as = p, t->room_known = room;
  }
  if (id >= t->n_known)
    t->n_known = (size_t)id + 1;
  return &t->known_as[id];
}

/* D.9  Make the table of pieces */

bool index_pieces(struct memory *m, struct tokenizer *t, struct error *why)
{
  for (size_t i = 0; i < t->n_known; i++) {
    struct span s = t->known_as[i].piece;
    if (s.n > 0 && !name_map_put(m, &t->by_piece,
                                 t->letters.byte + s.at, s.n, (uint32_t) i + 1,
                                 why))
      return false;
  }
  for (int b = 0; b < 256; b++) {
    unsigned char byte = (unsigned char)b;
    uint32_t found = name_map_get(&t->by_piece, &byte, 1);
    t->rules.byte_id[b] = found == 0 ? BPE_NONE : found - 1;
  }
  return true;
}

/* D.10  Add a token */

bool add_extra(struct memory *m, struct tokenizer *t,
               const struct added_token *x, struct error *why)
{
  if (t->n_more == t->room_more) {
    size_t room = 2 * t->room_more + 16;
    struct added_token *p = memory_grow(m, FOR_TOKENS, t->more,
                                        t->room_more, room, sizeof *p, why);
    if (p == NULL)
      return false;
    t->more = p, t->room_more = room;
  }
  struct known_id *k = know_id(m, t, x->id, why);
  if (k == NULL)
    return false;
  k->text = x->text, k->special = x->special;
  t->more[t->n_more++] = *x;
  return true;
}

/* D.11  Make the tree of added tokens */

static bool new_twig(struct memory *m, struct tokenizer *t,
                     unsigned char byte, uint32_t sibling, struct error *why)
{
  if (t->n_twigs == t->room_twigs) {
    size_t room = 2 * t->room_twigs + 64;
    struct twig *p = memory_grow(m, FOR_TOKENS, t->tree,
                                 t->room_twigs, room, sizeof *p, why);
    if (p == NULL)
      return false;
    t->tree = p, t->room_twigs = room;
  }
  t->tree[t->n_twigs++] = (struct twig) { 0, sibling, 0, byte };
  return true;
}

/* D.12  Make the tree of added tokens */

static bool plant(struct memory *m, struct tokenizer *t,
                  uint32_t root, const unsigned char *byte, size_t n,
                  uint32_t number, struct error *why)
{
  uint32_t at = root;
  for (size_t i = 0; i < n; i++) {
    uint32_t k = t->tree[at].child;
    while (k != 0 && t->tree[k].byte != byte[i])
      k = t->tree[k].sibling;
    if (k == 0) {
      k = (uint32_t) t->n_twigs;
      if (!new_twig(m, t, byte[i], t->tree[at].child, why))
        return false;
      t->tree[at].child = k;
    }
    at = k;
  }
  if (t->tree[at].extra == 0)
    t->tree[at].extra = number;
  return true;
}

/* D.13  Make the tree of added tokens */

bool index_extras(struct memory *m, struct tokenizer *t, struct error *why)
{
  name_map_free(m, &t->by_piece);
  bool ok = index_pieces(m, t, why) && new_twig(m, t, 0, 0, why)
      && new_twig(m, t, 0, 0, why);
  for (size_t i = 0; ok && i < t->n_more; i++) {
    const struct added_token *x = &t->more[i];
    const unsigned char *byte = t->letters.byte + x->text.at;
    struct bytes normal = { NULL, 0, 0 };
    bool after = x->normalized && t->nfc;
    if (after)
      ok = normal_form(m, byte, x->text.n, &normal, why);
    ok = ok && plant(m, t, x->normalized ? 1 : 0,
                     after ? normal.byte : byte, after ? normal.n : x->text.n,
                     (uint32_t) i + 1, why);
    bytes_free(m, &normal);
  }
  return ok;
}

/* D.14  Find the longest added token here */

static const struct added_token *longest(const struct tokenizer *t,
                                         uint32_t root, const unsigned char *text,
                                         size_t n, size_t *length)
{
  const struct added_token *found = NULL;
  uint32_t at = root;
  for (size_t i = 0; i < n; i++) {
    at = t->tree[at].child;
    while (at != 0 && t->tree[at].byte != text[i])
      at = t->tree[at].sibling;
    if (at == 0)
      break;
    if (t->tree[at].extra == 0)
      continue;
    found = &t->more[t->tree[at].extra - 1];
    *length = i + 1;
  }
  return found;
}

/* D.15  Measure white space */

static bool is_space(uint32_t c)
{
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85
      || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a)
      || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

static size_t space_after(const unsigned char *text, size_t n, size_t at)
{
  for (enum utf8_state state; at < n;) {
    size_t step = utf8_next(text + at, n - at, &state);
    if (!is_space(utf8_point(text + at, step)))
      break;
    at += step;
  }
  return at;
}

/* D.16  Measure white space */

static size_t character_before(const unsigned char *text, size_t at)
{
  do
    at--;
  while ((text[at] & 0xc0) == 0x80);
  return at;
}

static size_t space_before(const unsigned char *text, size_t at, size_t stop)
{
  while (at > stop) {
    size_t i = character_before(text, at);
    if (i < stop || !is_space(utf8_point(text + i, at - i)))
      break;
    at = i;
  }
  return at;
}

/* D.17  Tell whether a character belongs to a word */

static bool in_word(const unsigned char *text, size_t length)
{
  uint32_t c = utf8_point(text, length);
  switch (utf8proc_category((utf8proc_int32_t) c)) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_LO:
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_MC:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_ND:
  case UTF8PROC_CATEGORY_NL:
  case UTF8PROC_CATEGORY_PC:
    return true;
  default:
    return c == 0x200c || c == 0x200d || (c >= 0x24b6 && c <= 0x24e9)
        || (c >= 0x1f130 && c <= 0x1f149)
        || (c >= 0x1f150 && c <= 0x1f169)
        || (c >= 0x1f170 && c <= 0x1f189);
  }
}

/* D.18  Tell whether a character belongs to a word */

static bool whole_word(const unsigned char *text, size_t n, size_t from, size_t to)
{
  enum utf8_state state;
  size_t before = from > 0 ? character_before(text, from) : 0;
  return (from == 0 || !in_word(text + before, from - before))
      && (to == n || !in_word(text + to, utf8_next(text + to, n - to, &state)));
}

/* D.43  From a text to its ids, by ever smaller cuts */

/* D.20  Encode what needs no more cutting */

static bool encode_piece(struct job *j, const unsigned char *byte, size_t n)
{
  uint32_t whole = j->t->ignore_merges ? name_map_get(&j->t->by_piece, byte, n) : 0;
  if (whole != 0)
    return ids_push(j->m, j->out, whole - 1, j->why);
  return bpe_encode(&j->t->rules, j->m, &j->work, byte, n, j->out, j->why);
}

/* D.21  Cut by the stages of the pre-tokenizer */

static bool encode_from(struct job *j, size_t k,
                        const unsigned char *text, size_t n)
{
  if (n == 0)
    return true;
  if (k == j->t->n_cuts)
    return encode_piece(j, text, n);
  const struct stage *s = &j->t->cut[k];
  if (s->by == NULL)
    return with_blank(j, k, text, n);
  struct pieces p;
  struct text_piece next;
  pieces_begin(&p, s->by, text, n);
  for (;;) {
    if (!pieces_next(&p, &next, j->why))
      return false;
    if (next.n == 0)
      return true;
    if (next.match ? !s->keep_matches : !s->keep_gaps)
      continue;
    if (!encode_from(j, k + 1, next.byte, next.n))
      return false;
  }
}

/* D.22  Put a blank before a piece */

static bool with_blank(struct job *j, size_t k, const unsigned char *text, size_t n)
{
  if (text[0] == ' ')
    return encode_from(j, k + 1, text, n);
  struct bytes copy = { NULL, 0, 0 };
  bool ok = bytes_push(j->m, &copy, " ", 1, j->why)
      && bytes_push(j->m, &copy, text, n, j->why)
      && encode_from(j, k + 1, copy.byte, copy.n);
  bytes_free(j->m, &copy);
  return ok;
}

/* D.23  Go on with what lies between added tokens */

static bool encode_between(struct job *j, uint32_t root,
                           const unsigned char *text, size_t n)
{
  if (root == 1)
    return encode_from(j, 0, text, n);
  if (!j->t->nfc)
    return encode_added(j, 1, text, n);
  struct bytes normal = { NULL, 0, 0 };
  bool ok = normal_form(j->m, text, n, &normal, j->why)
      && encode_added(j, 1, normal.byte, normal.n);
  bytes_free(j->m, &normal);
  return ok;
}

/* D.24  Cut at the added tokens */

static bool encode_added(struct job *j, uint32_t root,
                         const unsigned char *text, size_t n)
{
  size_t done = 0, length = 0;
  for (size_t i = 0; i < n;) {
    const struct added_token *x = longest(j->t, root, text + i, n - i,
                                          &length);
    if (x == NULL) {
      i++;
      continue;
    }
    size_t from = i, to = i += length;
    if (x->special && !j->parse_special)
      continue;
    if (x->single_word && !whole_word(text, n, from, to))
      continue;

/* D.25  Encode what lies before the token, and the token */

    if (x->lstrip)
      from = space_before(text, from, done < from ? done : from);
    if (x->rstrip)
      to = space_after(text, n, to);
    if (done < from && !encode_between(j, root, text + done, from - done))
      return false;
    if (!ids_push(j->m, j->out, x->id, j->why))
      return false;
    done = to;

  }
  return done >= n || encode_between(j, root, text + done, n - done);
}

/* D.26  Bring a text into the normal form */

bool normal_form(struct memory *m, const unsigned char *text,
                 size_t n, struct bytes *out, struct error *why)
{
  utf8proc_uint8_t *made = NULL;
  utf8proc_ssize_t length = utf8proc_map(text, (utf8proc_ssize_t) n,
                                         &made, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  if (length < 0)
    return error_say(why, "the normal form: %s", utf8proc_errmsg(length));
  bool ok = bytes_push(m, out, made, (size_t)length, why);
  free(made);
  return ok;
}

/* D.28  Push the ids that the files add */

static bool push_all(struct job *j, const struct ids *list)
{
  for (size_t i = 0; i < list->n; i++)
    if (!ids_push(j->m, j->out, list->id[i], j->why))
      return false;
  return true;
}

/* D.27  Encode a text */

bool tokenizer_encode(struct tokenizer *t, struct memory *m,
                      const char *text, size_t n, bool add_special,
                      bool parse_special, struct ids *out, struct error *why)
{
  struct job j = {.t = t,.m = m,.out = out,
    .parse_special = parse_special,.why = why
  };
  const unsigned char *byte = (const unsigned char *)text;
  size_t start = out->n, length = 0;
  bool ok = !add_special || push_all(&j, &t->front), whole;
  for (size_t at = 0; ok && at < n; at += length) {
    length = utf8_run(byte + at, n - at, &whole);
    ok = whole ? encode_added(&j, 0, byte + at, length)
        : bpe_encode(&t->rules, m, &j.work, byte + at, length, out, why);
  }
  ok = ok && (!add_special || push_all(&j, &t->back));
  bpe_work_free(m, &j.work);
  if (!ok)
    out->n = start;
  return ok;
}

/* D.29  Decode ids, and answer questions about them */

const unsigned char *tokenizer_text(const struct tokenizer *t,
                                    uint32_t id, size_t *n)
{
  struct span s = { 0, 0 };
  if (id < t->n_known)
    s = t->known_as[id].text;
  *n = s.n;
  return s.n > 0 ? t->letters.byte + s.at : (const unsigned char *)"";
}

/* D.30  Decode ids, and answer questions about them */

bool tokenizer_decode(const struct tokenizer *t, struct memory *m,
                      const uint32_t * id, size_t n, bool skip_special,
                      struct bytes *out, struct error *why)
{
  size_t start = out->n, length;
  for (size_t i = 0; i < n; i++) {
    if (skip_special && tokenizer_is_special(t, id[i]))
      continue;
    const unsigned char *text = tokenizer_text(t, id[i], &length);
    if (bytes_push(m, out, text, length, why))
      continue;
    out->n = start;
    return false;
  }
  return true;
}

/* D.31  Decode ids, and answer questions about them */

bool tokenizer_is_special(const struct tokenizer *t, uint32_t id)
{
  return id < t->n_known && t->known_as[id].special;
}

/* D.32  Decode ids, and answer questions about them */

bool tokenizer_find(const struct tokenizer *t, const char *text,
                    size_t n, uint32_t * id)
{
  for (size_t i = 0; i < t->n_more; i++) {
    struct span s = t->more[i].text;
    if (s.n != n || memcmp(t->letters.byte + s.at, text, n) != 0)
      continue;
    *id = t->more[i].id;
    return true;
  }
  uint32_t found = name_map_get(&t->by_piece,
                                (const unsigned char *)text, n);
  if (found != 0)
    *id = found - 1;
  return found != 0;
}

/* D.33  Decode ids, and answer questions about them */

bool tokenizer_bos(const struct tokenizer *t, uint32_t * id)
{
  if (t->front.n > 0)
    *id = t->front.id[0];
  return t->front.n > 0;
}

/* D.34  Decode ids, and answer questions about them */

const char *tokenizer_kind(const struct tokenizer *t)
{
  (void)t;
  return "byte-level BPE";
}

size_t tokenizer_vocab_size(const struct tokenizer *t)
{
  return t->n_known;
}

size_t tokenizer_extras(const struct tokenizer *t)
{
  return t->n_more;
}

/* D.35  Decode ids, and answer questions about them */

struct tokenizer_extra tokenizer_extra_at(const struct tokenizer *t, size_t i)
{
  const struct added_token *x = &t->more[i];
  return (struct tokenizer_extra) { x->id,
    t->letters.byte + x->text.at, x->text.n, x->special
  };
}

/* D.36  Decode ids, and answer questions about them */

void tokenizer_unicode(char pcre2[24], char utf8proc[24])
{
  splitter_unicode(pcre2);
  snprintf(utf8proc, 24, "%s", utf8proc_unicode_version());
}

/* D.37  Close a tokenizer */

void tokenizer_close(struct memory *m, struct tokenizer *t)
{
  if (t == NULL)
    return;
  for (size_t i = 0; i < t->n_cuts; i++)
    splitter_close(t->cut[i].by);
  ids_free(m, &t->front);
  ids_free(m, &t->back);
  bpe_free(m, &t->rules);
  name_map_free(m, &t->by_piece);
  bytes_free(m, &t->letters);
  memory_give(m, FOR_TOKENS, t->known_as, t->room_known, sizeof *t->known_as);
  memory_give(m, FOR_TOKENS, t->more, t->room_more, sizeof *t->more);
  memory_give(m, FOR_TOKENS, t->tree, t->room_twigs, sizeof *t->tree);
  memory_give(m, FOR_TOKENS, t, 1, sizeof *t);
}

/* D.38  Make a tokenizer from merges */

static bool spell_merges(struct memory *m, struct tokenizer *t,
                         const struct bpe_merge *merge, size_t n, struct error *why)
{
  for (uint32_t i = 0; i < 256 + n; i++) {
    struct known_id *k = know_id(m, t, i + 1, why);
    if (k == NULL)
      return false;
    size_t at = t->letters.n;
    if (i >= 256 && (merge[i - 256].left >= i || merge[i - 256].right >= i))
      return error_say(why, "merge %u joins ids that are not made yet", i - 256);
    if (!bpe_spell(m, merge, i, &t->letters, why))
      return false;
    if (t->letters.n > UINT32_MAX)
      return error_say(why, "a vocabulary of more than 4 GiB of letters");
    k->piece = (struct span) { (uint32_t) at,
      (uint32_t) (t->letters.n - at)
    };
    k->text = k->piece;
    if (i >= 256 && !bpe_add(m, &t->rules, merge[i - 256].left + 1,
                             merge[i - 256].right + 1, i + 1, why))
      return false;
  }
  return true;
}

/* D.39  Make a tokenizer from merges */

static const char end_of_text[] = "<|endoftext|>";
static bool finish_merges(struct memory *m, struct tokenizer *t, struct error *why)
{
  struct added_token x = {.id = 0,.special = true };
  t->cut[0] = (struct stage) { NULL, true, true };
  t->cut[0].by = splitter_open(m, split_gpt2, strlen(split_gpt2), false, why);
  if (t->cut[0].by == NULL)
    return false;
  t->n_cuts = 1;
  return keep_letters(m, t, end_of_text, strlen(end_of_text), &x.text,
                      why) && index_pieces(m, t, why) && add_extra(m, t, &x, why)
      && index_extras(m, t, why);
}

/* D.40  Make a tokenizer from merges */

struct tokenizer *tokenizer_from_merges(struct memory *m,
                                        const struct bpe_merge *merge, size_t n,
                                        struct error *why)
{
  struct tokenizer *t = memory_take(m, FOR_TOKENS, 1, sizeof *t, why);
  if (t == NULL)
    return NULL;
  if (n < MAX_ID - 257 ? spell_merges(m, t, merge, n, why)
      && finish_merges(m, t, why) : error_say(why, "%zu merges are too many", n))
    return t;
  tokenizer_close(m, t);
  return NULL;
}
