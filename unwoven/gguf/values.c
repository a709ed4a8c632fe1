/* values.c -- the values of keys in a GGUF file that has been checked.

   An entry says where its value is in the mapped file; nothing is copied before it is asked for, as
   a vocabulary has megabytes and many keys are never asked for. Numbers have a fixed size, so their
   places were checked once and for all. Strings have not: they are read again when they are asked
   for, and compared with the end of the value again, because the file may have changed since. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gguf/inside.h"
#include "safetensors/excerpt.h"

const uint8_t gguf_bytes_of[N_GGUF_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8 };

/* Byte by byte: right on every machine, and the place need not be aligned. */
uint64_t gguf_number_at(const unsigned char *byte, size_t n)
{
  uint64_t x = 0;
  for (size_t i = 0; i < n; i++) x |= (uint64_t) byte[i] << 8 * i;
  return x;
}

/* Names are not C strings: they have no zero at their end, so strcmp would read on. */
int gguf_by_key(const void *a, const void *b)
{
  const struct gguf_words *x = &((const struct gguf_entry *) a)->key;
  const struct gguf_words *y = &((const struct gguf_entry *) b)->key;
  int order = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
  return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

/* bsearch must not be given a null list, not even an empty one. */
const struct gguf_entry *gguf_find_words(const struct gguf_file *g, struct gguf_words key)
{
  struct gguf_entry wanted = { .key = key };
  return g->n_entries == 0 ? NULL
    : bsearch(&wanted, g->entry, g->n_entries, sizeof wanted, gguf_by_key);
}

const struct gguf_entry *gguf_find(const struct gguf_file *g, const char *key)
{
  return gguf_find_words(g, (struct gguf_words) { key, strlen(key) });
}

bool gguf_integer(const struct gguf_entry *e)
{
  return gguf_numeric(e) && e->type != GGUF_F32 && e->type != GGUF_F64;
}

bool gguf_numeric(const struct gguf_entry *e)
{
  return e != NULL && e->type != GGUF_BOOL && e->type != GGUF_STRING
    && e->type != GGUF_ARRAY;
}

/* The two float types are copied bit by bit. The sign of an integer is the highest bit that is
   stored, wherever that lies in 64 bits: two's complement of n bytes. */
double gguf_number(const struct gguf_entry *e, uint64_t i)
{
  size_t n = gguf_bytes_of[e->type];
  uint64_t x = gguf_number_at(e->at + i * n, n), sign = (uint64_t) 1 << (8 * n - 1);
  uint32_t word = (uint32_t) x;
  float single;
  double real;
  memcpy(&single, &word, sizeof single);
  memcpy(&real, &x, sizeof real);
  if (e->type == GGUF_F32) return (double) single;
  if (e->type == GGUF_F64) return real;
  bool is_signed = e->type == GGUF_I8 || e->type == GGUF_I16
    || e->type == GGUF_I32 || e->type == GGUF_I64;
  if (is_signed && (x & sign) != 0)
    return -(double) ((sign - (x & (sign - 1))));
  return (double) x;
}

/* The length is compared a second time, with the end of the value. */
bool gguf_next_string(const struct gguf_entry *e, const unsigned char **at,
  struct gguf_words *words)
{
  size_t left = (size_t) (e->end - *at);
  if (e->type != GGUF_STRING || left < 8) return false;
  uint64_t n = gguf_number_at(*at, 8);
  if (n > left - 8) return false;
  *words = (struct gguf_words) { (const char *) *at + 8, (size_t) n };
  *at += 8 + words->n;
  return true;
}

bool gguf_string(const struct gguf_entry *e, struct gguf_words *words)
{
  const unsigned char *at = e == NULL ? NULL : e->at;
  return e != NULL && !e->is_array && gguf_next_string(e, &at, words);
}

bool gguf_flag(const struct gguf_entry *e, bool *flag)
{
  if (e == NULL || e->is_array || e->type != GGUF_BOOL) return false;
  *flag = *e->at != 0;
  return true;
}

/* A message quotes a number or a short string, and says of everything else what it is. Numbers go
   through error_say, which writes a point whatever the customs of the country. */
const char *gguf_excerpt(const struct gguf_entry *e, char buffer[64])
{
  struct gguf_words words;
  char text[EXCERPT_MAX + 4];
  bool flag;
  if (e == NULL) return "missing";
  if (e->is_array)
    snprintf(buffer, 64, "an array of %" PRIu64, e->count);
  else if (gguf_string(e, &words))
    snprintf(buffer, 64, "\"%s\"", text_excerpt(words.text, words.n, 40, text));
  else if (gguf_flag(e, &flag))
    snprintf(buffer, 64, "%s", flag ? "true" : "false");
  else if (e->type == GGUF_STRING) snprintf(buffer, 64, "a string");
  else {
    struct error number;
    error_say(&number, gguf_integer(e) ? "%.0f" : "%.9g", gguf_number(e, 0));
    snprintf(buffer, 64, "%.63s", number.text);
  }
  return buffer;
}

/* Some numbers of the format are missing in our table: they belonged to types that were given up,
   or that ggml uses in memory and never in a file. A type that has a row is known, whether or not
   we can multiply by it; that question is for the kernels, when a model is built. So the tensors of
   every file can at least be listed. A short search, once for each tensor of a file. */
unsigned gguf_type_of_number(uint64_t number)
{
  unsigned type = 0;
  while (type < N_NUMBER_TYPES && (number == NOT_IN_GGUF
      || number_types[type].gguf != number)) type++;
  return type;
}

bool gguf_type_number(unsigned type, uint32_t *number)
{
  *number = type < N_NUMBER_TYPES ? number_types[type].gguf : NOT_IN_GGUF;
  return *number != NOT_IN_GGUF;
}
