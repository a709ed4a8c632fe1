/* gguf.c -- Reading the description in a GGUF file: keys, values, and where each
   tensor is.
   made from workshop/08-gguf.w; change it there

   A parser and nothing else: it points into the mapped file and allocates only the
   list of keys, sorted by name. Whatever the file claims is compared with the bytes
   that are left, divided if it is a count, before anything is added to it. The
   tensors are gone through and not listed; each visit repeats the checks, as each
   reading of a string does, so a file that changes meanwhile does no harm. Each
   offset must be the running sum: no hole, no overlap. Numbers are put together byte
   by byte, at any address, on any machine. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gguf/inside.h"

/* <A reader of the description> */
struct gguf_reader {
  const struct gguf_file *g;
  size_t at;
  char field[96];
  struct error *why;
};
static size_t left_of(const struct gguf_reader *r)
{
  return r->g->size - r->at;
}

/* r->field was written down before anything was read, so every complaint names one. */
static bool gguf_bad(struct gguf_reader *r, const char *found, const char *wanted)
{
  return error_found(r->why, r->g->path, r->field, found, wanted);
}

static bool take_number(struct gguf_reader *r, size_t n, uint64_t *x)
{
  if (left_of(r) < n)
    return gguf_bad(r, "cut off by the end of the file", "a whole description");
  *x = gguf_number_at(r->g->bytes + r->at, n);
  r->at += n;
  return true;
}

/* The claim may be 2^64 - 1; it is compared with what is left, and never added to a
   place. */
static bool take_string(struct gguf_reader *r, struct gguf_words *words)
{
  uint64_t n = 0;
  if (!take_number(r, 8, &n)) return false;
  if (n > left_of(r)) {
    char found[64], wanted[64];
    snprintf(found, sizeof found, "a string of %" PRIu64 " bytes", n);
    snprintf(wanted, sizeof wanted, "at most %zu, which the file has left",
      left_of(r));
    return gguf_bad(r, found, wanted);
  }
  words->text = (const char *) r->g->bytes + r->at;
  words->n = (size_t) n;
  r->at += words->n;
  return true;
}

/* Others make C strings of names: two that differ only after a zero would be one.
   ggml keeps names in arrays of 64. */
static bool take_name(struct gguf_reader *r, size_t max, struct gguf_words *name)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "a name of 1 to %zu bytes, none of them zero",
    max);
  if (!take_string(r, name)) return false;
  if (name->n == 0) return gguf_bad(r, "without a name", wanted);
  if (name->n > max) return gguf_bad(r, "one with a longer name", wanted);
  if (memchr(name->text, 0, name->n) != NULL)
    return gguf_bad(r, "one with a zero in its name", wanted);
  snprintf(r->field, sizeof r->field, "%.*s",
    (int) (name->n < 90 ? name->n : 90), name->text);
  return true;
}
#include "gguf/counts.inc"

/* <Check the counts against the size of the file> */
enum { MAX_KEYS = 1 << 16, MAX_NAME = 63, MAX_KEY = 65535 };

/* The size of the file bounds a count before anything else does: a key takes 14 bytes
   at least, a tensor 25. */
static bool count_fits(struct gguf_reader *r, const char *field, uint64_t n,
  size_t least)
{
  char found[64], wanted[64];
  strcpy(r->field, field);
  if (n <= left_of(r) / least) return true;
  snprintf(found, sizeof found, "%" PRIu64, n);
  snprintf(wanted, sizeof wanted, "at most %zu, for which the file has bytes",
    left_of(r) / least);
  return gguf_bad(r, found, wanted);
}

/* <Read a value> */
static bool take_type(struct gguf_reader *r, enum gguf_type *type)
{
  uint64_t x = 0;
  char found[64];
  if (!take_number(r, 4, &x)) return false;
  snprintf(found, sizeof found, "a value of type %" PRIu64, x);
  if (x >= N_GGUF_TYPES) return gguf_bad(r, found, "a type from 0 to 12");
  *type = (enum gguf_type) x;
  return true;
}

/* <Skip the elements of a value> */
static bool skip_elements(struct gguf_reader *r, const struct gguf_entry *e)
{
  size_t each = gguf_bytes_of[e->type];
  char found[64], wanted[64];
  snprintf(found, sizeof found, "an array of %" PRIu64, e->count);
  snprintf(wanted, sizeof wanted, "at most %zu, for which the file has bytes",
    left_of(r) / each);
  /* before the first element is looked at; a string has 8 bytes at least, an array in
     an array 12 */
  if (e->count > left_of(r) / each) return e->is_array
    ? gguf_bad(r, found, wanted)
    : gguf_bad(r, "cut off by the end of the file", "a whole description");
  struct gguf_words skipped;
  for (uint64_t i = 0; e->type == GGUF_STRING && i < e->count; i++)
    if (!take_string(r, &skipped)) return false;
  for (uint64_t i = 0; e->type == GGUF_BOOL && i < e->count; i++)
    /* of any other value we do not know what another program takes it for */
    if (e->at[i] > 1) return gguf_bad(r, "a truth value that is neither", "0 or 1");
  if (e->type != GGUF_STRING && e->type != GGUF_ARRAY)
    r->at += (size_t) e->count * each;
  return true;
}

enum { MAX_DEPTH = 8 };

/* Each level is a call, and a file could nest as deep as it is long. */
static bool read_array(struct gguf_reader *r, struct gguf_entry *e, int levels)
{
  struct gguf_entry inner = { .is_array = true };
  if (levels == 0) return gguf_bad(r, "an array of arrays",
    "a key with a namespace, and at most 8 levels");
  if (!take_type(r, &e->type) || !take_number(r, 8, &e->count)) return false;
  e->at = r->g->bytes + r->at;
  if (!skip_elements(r, e)) return false;
  for (uint64_t i = 0; e->type == GGUF_ARRAY && i < e->count; i++)
    if (!read_array(r, &inner, levels - 1)) return false;
  e->end = r->g->bytes + r->at;
  return true;
}

static bool read_value(struct gguf_reader *r, struct gguf_entry *e)
{
  if (!take_type(r, &e->type)) return false;
  e->is_array = e->type == GGUF_ARRAY, e->count = 1;
  /* Without a namespace nothing says that the key is for other programs only, so no
     arrays in arrays there; ggml has the same rule. */
  bool bare = memchr(e->key.text, '.', e->key.n) == NULL;
  if (e->is_array) return read_array(r, e, bare ? 1 : MAX_DEPTH);
  e->at = r->g->bytes + r->at;
  if (!skip_elements(r, e)) return false;
  e->end = r->g->bytes + r->at;
  return true;
}

/* <Read the keys> */
static bool read_entry(struct gguf_reader *r, struct gguf_file *g)
{
  struct gguf_entry *p = memory_reserve(g->m, MEMORY_OTHER, g->entry, &g->cap,
    g->n_entries + 1, 64, sizeof *p, r->why);
  if (p == NULL) return false;
  g->entry = p;
  struct gguf_entry *e = &g->entry[g->n_entries];
  snprintf(r->field, sizeof r->field, "key %zu", g->n_entries + 1);
  if (!take_name(r, MAX_KEY, &e->key) || !read_value(r, e)) return false;
  g->n_entries++;
  return true;
}

static bool read_keys(struct gguf_reader *r, struct gguf_file *g, uint64_t n)
{
  if (n > MAX_KEYS) return gguf_bad(r, "larger", "at most 65536");
  for (uint64_t i = 0; i < n; i++)
    if (!read_entry(r, g)) return false;
  if (n > 0) qsort(g->entry, g->n_entries, sizeof *g->entry, gguf_by_key);
  for (size_t i = 1; i < g->n_entries; i++) {
    const struct gguf_words *key = &g->entry[i].key;
    if (gguf_by_key(&g->entry[i - 1], &g->entry[i]) != 0) continue;
    snprintf(r->field, sizeof r->field, "%.*s",
      (int) (key->n < 90 ? key->n : 90), key->text);
    return gguf_bad(r, "given twice", "each key once");
  }
  return true;
}

/* <Find the alignment> */
static bool read_alignment(struct gguf_reader *r, struct gguf_file *g)
{
  const struct gguf_entry *e = gguf_find(g, "general.alignment");
  char found[64];
  g->alignment = 32;
  if (e == NULL) return true;
  strcpy(r->field, "general.alignment");
  if (e->type != GGUF_U32 || e->is_array)
    return gguf_bad(r, gguf_excerpt(e, found), "an unsigned integer of 32 bits");
  g->alignment = gguf_number_at(e->at, 4);
  return (g->alignment != 0 && (g->alignment & (g->alignment - 1)) == 0)
    || gguf_bad(r, gguf_excerpt(e, found), "a power of two");
}

static uint64_t aligned(const struct gguf_file *g, uint64_t x)
{
  return (x + g->alignment - 1) & ~(g->alignment - 1);
}

/* <Read the dimensions> */

/* Stored innermost first, and turned round. ggml's dimensions are signed, hence 2^63;
   a product that wraps to 0 was once accepted there. */
static bool read_shape(struct gguf_reader *r, struct gguf_tensor *t)
{
  uint64_t rank = 0, n = 0;
  char found[64];
  if (!take_number(r, 4, &rank)) return false;
  snprintf(found, sizeof found, "one of %" PRIu64 " dimensions", rank);
  if (rank > 4) return gguf_bad(r, found, "at most 4");
  t->rank = (uint32_t) rank, t->elements = 1;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!take_number(r, 8, &n)) return false;
    t->shape[t->rank - 1 - i] = n;
    if (n > INT64_MAX || (n != 0 && t->elements > INT64_MAX / n))
      return gguf_bad(r, "one of too many elements", "fewer than 2^63");
    t->elements *= n;
  }
  return true;
}

/* <Read the type, and count the bytes> */
static bool read_type(struct gguf_reader *r, struct gguf_tensor *t)
{
  uint64_t number = 0;
  char found[64], wanted[64];
  if (!take_number(r, 4, &number)) return false;
  t->type = gguf_type_of_number(number);
  snprintf(found, sizeof found, "of type %" PRIu64, number);
  if (t->type == N_NUMBER_TYPES)
    return gguf_bad(r, found, "a type that this program knows");
  const struct number_type *known = &number_types[t->type];
  uint64_t row = t->rank == 0 ? 1 : t->shape[t->rank - 1];
  snprintf(found, sizeof found, "%s with rows of %" PRIu64, known->name, row);
  snprintf(wanted, sizeof wanted, "rows of a multiple of %u", known->block);
  /* the row, not the product: no row ends within a block */
  if (row % known->block != 0) return gguf_bad(r, found, wanted);
  if (t->elements / known->block > INT64_MAX / known->bytes)
    return gguf_bad(r, "one of too many bytes", "fewer than 2^63");
  t->bytes = t->elements / known->block * known->bytes;
  return true;
}

/* <Go to the next tensor> */
struct gguf_walk gguf_begin(const struct gguf_file *g)
{
  return (struct gguf_walk) { g->tensors_at, g->n_tensors, 0 };
}

bool gguf_next(const struct gguf_file *g, struct gguf_walk *w,
  struct gguf_tensor *t, struct error *why)
{
  struct gguf_reader r = { .g = g, .at = w->at, .why = why };
  char found[64], wanted[64];
  snprintf(r.field, sizeof r.field, "tensor %" PRIu64, g->n_tensors - w->left + 1);
  if (!take_name(&r, MAX_NAME, &t->name) || !read_shape(&r, t)
      || !read_type(&r, t) || !take_number(&r, 8, &t->begin)) return false;
  snprintf(found, sizeof found, "%" PRIu64 " bytes at offset %" PRIu64,
    t->bytes, t->begin);
  snprintf(wanted, sizeof wanted, "offset %" PRIu64 ", no hole, no overlap",
    w->next);
  if (t->begin != w->next) return gguf_bad(&r, found, wanted);
  /* In the first round data_at is 0, and the room too large; see read_tensors. */
  uint64_t room = g->size > g->data_at ? g->size - g->data_at : 0;
  snprintf(wanted, sizeof wanted, g->data_at == 0 ? "fewer than the file has (was it cut?)"
    : "within the %" PRIu64 " bytes of data", room);
  if (t->begin > room || t->bytes > room - t->begin)
    return gguf_bad(&r, found, wanted);
  w->at = r.at, w->left--;
  /* cannot wrap: sizes that were found to fit, rounded up at most once */
  w->next = aligned(g, t->begin + t->bytes);
  return true;
}

/* <Read the description> */

/* Where the data begin is known after the last entry, so two rounds: with data at 0,
   then with the true place. Padding after the last tensor may be missing, and what
   comes after it is not read. */
static bool read_tensors(struct gguf_reader *r, struct gguf_file *g)
{
  struct gguf_tensor t;
  g->tensors_at = r->at;
  for (int round = 0; round < 2; round++) {
    struct gguf_walk w = gguf_begin(g);
    while (w.left > 0)
      if (!gguf_next(g, &w, &t, r->why)) return false;
    uint64_t data = aligned(g, w.at);
    g->data_at = data < g->size ? (size_t) data : g->size;
  }
  return true;
}

bool gguf_read(struct gguf_file *g, struct memory *m, const char *path,
  const unsigned char *bytes, size_t size, struct error *why)
{
  *g = (struct gguf_file) { .m = m, .path = path, .bytes = bytes,
    .size = size, .alignment = 1 };
  struct gguf_reader r = { .g = g, .why = why };
  uint64_t keys = 0;
  return read_counts(&r, g, &keys)
    && count_fits(&r, "the number of tensors", g->n_tensors, 25)
    && count_fits(&r, "the number of keys", keys, 14)
    && read_keys(&r, g, keys) && read_alignment(&r, g)
    && count_fits(&r, "the number of tensors", g->n_tensors, 25)
    && read_tensors(&r, g);
}

void gguf_free(struct gguf_file *g)
{
  memory_free(g->m, g->entry);
  g->entry = NULL, g->n_entries = g->cap = 0;
}
