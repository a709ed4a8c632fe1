/* safetensors.c -- Reading a file of safetensors.
   made from workshop/02-safetensors.w; change it there

   The file is a stranger's, and may get nothing from us but a sentence. So nothing is
   computed from what it claims before that is bounded by something known: subtract
   from the size and compare, divide and then multiply, since a sum that wraps around
   passes any bound. Memory is allocated for what has been read, not for what is
   announced. Whatever a check depends on is read once, into variables of ours: a
   mapped file can change. Tensors lie end to end and fill the file: a hole could hide
   data. The numbers are used where they lie, little endian and at any address, and
   may be anything. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
#include "safetensors/shard.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
  "weights are mapped, and stored little endian");
enum { MAX_HEADER = 100000000 };

/* <A reader of headers> */
struct header_parser {
  struct tensor_file *w; /* where the tensors go */
  const char *path, *at, *end;
  bool metadata; /* seen already? */
  struct error *why;
};

/* bytes */
enum { MAX_ENTRY = 1 << 16, MAX_METADATA = 4 << 20 };

static bool header_bad(struct header_parser *r, const char *found, const char *wanted)
{
  return error_found(r->why, r->path, "the header", found, wanted);
}

/* <Read one value of the header> */

/* jansson reads one value and says where it stopped. One that is not complete within
   max bytes is an error at the end of the text though the text goes on: it is too
   long. */
static json_t *header_value(struct header_parser *r, const char *field, size_t max,
  size_t flags)
{
  json_error_t found;
  size_t left = (size_t) (r->end - r->at), n = left < max ? left : max;
  char wanted[64];
  snprintf(wanted, sizeof wanted, "at most %zu bytes", max);
  json_t *value = json_loadb(r->at, n, JSON_DECODE_ANY
    | JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES | flags, &found);
  if (value != NULL) r->at += found.position;
  else if (n < left && (size_t) found.position >= n)
    error_found(r->why, r->path, field, "longer than that", wanted);
  else header_bad(r, jsonfile_trouble(&found, r->at, n), "strict JSON");
  return value;
}

/* <Read one mark of punctuation> */

/* Zero at the end, and at a byte of zero, which is not passed: who expects the end
   compares the place. */
static char header_mark(struct header_parser *r)
{
  while (r->at < r->end && *r->at != '\0' && strchr(" \t\r\n", *r->at) != NULL)
    r->at++;
  return r->at < r->end && *r->at != '\0' ? *r->at++ : '\0';
}

/* <Say what is wrong with an entry> */
static bool tensor_bad(struct header_parser *r, const char *name, json_t *found,
  const char *wanted)
{
  char buffer[64];
  return error_found(r->why, r->path, name, jsonfile_excerpt(found, buffer), wanted);
}

/* <The types that the format knows> */

/* A type smaller than a byte must still fill whole bytes: its block is the fewest
   numbers that do. */
static unsigned type_find(const char *name)
{
  unsigned i = 0;
  while (i < N_NUMBER_TYPES && !(number_types[i].safetensors
      && strcmp(number_types[i].name, name) == 0)) i++;
  return i;
}

/* <Multiply numbers from a file> */

/* 2^40 x 2^40 x 0 is refused: the first product does not fit, and no honest file has
   such a shape. */
static bool count_up(uint64_t *product, json_t *factor)
{
  if (!json_is_integer(factor) || json_integer_value(factor) < 0) return false;
  uint64_t f = (uint64_t) json_integer_value(factor);
  if (f != 0 && *product > UINT64_MAX / f) return false;
  *product *= f;
  return true;
}

/* <Fill in type, shape and extent> */
static bool tensor_fill(struct header_parser *r, struct tensor_entry *t, json_t *type,
  json_t *shape, json_t *offset)
{
  t->type = type_find(json_string_value(type)), t->elements = 1;
  if (t->type == N_NUMBER_TYPES)
    return tensor_bad(r, t->name, type, "a type of the format");
  /* <Multiply out the shape> */
  for (uint32_t i = 0; i < t->rank; i++) {
    t->shape[i] = 1;
    if (!count_up(&t->shape[i], json_array_get(shape, i))
        || !count_up(&t->elements, json_array_get(shape, i)))
      return tensor_bad(r, t->name, shape, "fewer than 2^64 elements");
  }
  /* <Read the offsets, and compare them with the shape> */
  /* The size is stated twice, and both must agree: fewer bytes would be the next
     tensor's, more would be hidden. */
  uint64_t end = 1;
  t->begin = 1;
  if (!count_up(&t->begin, json_array_get(offset, 0))
      || !count_up(&end, json_array_get(offset, 1)) || t->begin > end)
    return tensor_bad(r, t->name, offset, "two rising offsets");
  t->bytes = end - t->begin;
  const struct number_type *known = &number_types[t->type];
  if (t->elements % known->block != 0
      || t->elements / known->block > UINT64_MAX / known->bytes
      || t->elements / known->block * known->bytes != t->bytes)
    return tensor_bad(r, t->name, offset, "as many bytes as type and shape need");
  return true;
}

/* <Take down one tensor> */
static bool header_tensor(struct header_parser *r, const char *name)
{
  json_t *entry = header_value(r, name, MAX_ENTRY, 0);
  if (entry == NULL) return false;
  /* null for a missing member, which is neither a string nor an array */
  json_t *type = json_object_get(entry, "dtype");
  json_t *shape = json_object_get(entry, "shape");
  json_t *offset = json_object_get(entry, "data_offsets");
  bool ok = json_is_string(type) && json_is_array(shape)
    && json_array_size(offset) == 2;
  if (!ok)
    tensor_bad(r, name, entry, "a dtype, a shape and two data_offsets");
  else {
    struct tensor_entry *t = tensor_file_add(r->w, r->path, name,
      json_array_size(shape), r->why);
    ok = t != NULL && tensor_fill(r, t, type, shape, offset);
  }
  json_decref(entry);
  return ok;
}

/* <Check the metadata> */

/* Checked and then ignored. Only here may a string have a zero: in a name it would
   make two of C's strings equal. */
static bool header_metadata(struct header_parser *r)
{
  if (r->metadata) return header_bad(r, "__metadata__ twice", "each name once");
  r->metadata = true;
  json_t *all = header_value(r, "__metadata__", MAX_METADATA, JSON_ALLOW_NUL);
  if (all == NULL) return false;
  bool ok = json_is_object(all);
  for (void *i = json_object_iter(all); i != NULL && ok;
       i = json_object_iter_next(all, i))
    ok = json_is_string(json_object_iter_value(i));
  if (!ok) tensor_bad(r, "__metadata__", all, "an object of strings");
  json_decref(all);
  return ok;
}

/* <Read a name and its value> */
static bool header_pair(struct header_parser *r)
{
  json_t *name = header_value(r, "a name in the header", MAX_ENTRY, 0);
  if (name == NULL) return false;
  bool ok = json_is_string(name) && header_mark(r) == ':';
  if (!ok) header_bad(r, "no list of names and values", "\"name\": value");
  else if (strcmp(json_string_value(name), "__metadata__") == 0)
    ok = header_metadata(r);
  else ok = header_tensor(r, json_string_value(name));
  json_decref(name);
  return ok;
}

/* <Read the whole header> */
static bool header_read(struct header_parser *r)
{
  if (header_mark(r) != '{') return header_bad(r, "no object", "{");
  char mark = header_mark(r);
  if (mark == '"') {
    /* jansson wants the quotation mark, which we have just read */
    r->at--;
    do if (!header_pair(r)) return false;
    while ((mark = header_mark(r)) == ',');
  }
  if (mark != '}') return header_bad(r, "cut short or out of order", ", or }");
  if (header_mark(r) != '\0' || r->at < r->end)
    return header_bad(r, "followed by something", "white space up to its end");
  return true;
}

/* <Compare where two tensors begin> */

/* An empty tensor begins where the next one does, and must come first, or the two
   would seem to overlap. */
static int by_extent(const void *a, const void *b)
{
  const struct tensor_entry *x = *(struct tensor_entry *const *) a;
  const struct tensor_entry *y = *(struct tensor_entry *const *) b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* <Lay the tensors of a file end to end> */
static bool extents_check(struct header_parser *r, struct tensor_entry **list, size_t n,
  const unsigned char *data, uint64_t bytes)
{
  if (n > 0) qsort(list, n, sizeof *list, by_extent);
  uint64_t at = 0;
  for (size_t i = 0; i < n; i++) {
    char found[64], wanted[64];
    snprintf(found, sizeof found, "%" PRIu64 " bytes at byte %" PRIu64,
      list[i]->bytes, list[i]->begin);
    snprintf(wanted, sizeof wanted, list[i]->begin != at
      ? "byte %" PRIu64 ", no hole, no overlap"
      : "within the file, before byte %" PRIu64,
      list[i]->begin != at ? at : bytes);
    /* bytes - at cannot wrap: at grows only by what was found to fit. */
    if (list[i]->begin != at || list[i]->bytes > bytes - at)
      return error_found(r->why, r->path, list[i]->name, found, wanted);
    list[i]->data = data + at;
    at += list[i]->bytes;
  }
  return at == bytes || error_say(r->why, "%s: the data are %" PRIu64 " bytes;"
    " wanted: %" PRIu64 ", the last offset", r->path, bytes, at);
}

/* <Read one file of tensors> */
bool shard_read(struct tensor_file *w, struct shard *s, struct error *why)
{
  struct header_parser r = { .w = w, .path = s->path, .why = why };
  /* <Read how long the header is, and where it ends> */
  uint64_t header = 0;
  if (s->map.size < 8) return header_bad(&r, "missing", "8 bytes of length");
  for (int i = 0; i < 8; i++) header |= (uint64_t) s->map.bytes[i] << 8 * i;
  /* Compare before adding: 8 and a length near 2^64 wrap around to a small number. */
  if (header > MAX_HEADER || header > s->map.size - 8)
    return header_bad(&r, "longer than the file", "at most 100,000,000 bytes, "
      "and no more than there are")
      || misfit_bytes(s->path, s->map.bytes, s->map.size, false, why);
  r.at = (const char *) s->map.bytes + 8;
  r.end = r.at + header;
  size_t first = w->n;
  if (!header_read(&r))
    return misfit_bytes(s->path, s->map.bytes, s->map.size, false, why);
  /* of a null pointer C does not define even + 0 */
  struct tensor_entry **list = w->n > 0 ? w->list + first : NULL;
  return extents_check(&r, list, w->n - first, s->map.bytes + 8 + header,
    s->map.size - 8 - header);
}
