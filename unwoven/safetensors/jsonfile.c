/* jsonfile.c -- files of JSON, and quotations from them for messages.

   A tree takes many times the space of its text, so every file has a bound on its
   size. A quotation is ASCII, has no more digits than were needed to type the number,
   and is never cut within an escape or a number: a part of a number is another
   number. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "safetensors/excerpt.h"
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"

/* A temperature that was typed with one decimal is not quoted with all the digits of a double:
   a real gets the fewest digits that read back as the same number, and more only if that
   avoids an exponent. */
static int real_digits(const json_t *value)
{
  char typed[64];
  int fewest = 0;
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(typed, sizeof typed, "%.*g", digits, json_real_value(value));
    if (strtod(typed, NULL) != json_real_value(value)) continue;
    if (strchr(typed, 'e') == NULL) return digits;
    if (fewest == 0) fewest = digits;
  }
  return fewest;
}

/* A list or an object may contain others. All its numbers get as many digits as the one that
   needs most. */
static int value_digits(json_t *value)
{
  int most = json_is_real(value) ? real_digits(value) : 1;
  for (size_t i = 0; i < json_array_size(value); i++) {
    int digits = value_digits(json_array_get(value, i));
    if (digits > most) most = digits;
  }
  for (void *i = json_object_iter(value); i != NULL;
       i = json_object_iter_next(value, i)) {
    int digits = value_digits(json_object_iter_value(i));
    if (digits > most) most = digits;
  }
  return most;
}

/* n bytes are there, of all */
struct quotation { char *to; size_t n, all; };

/* json_dumpb leaves out a piece that does not fit, and a long text may be one piece,
   so we take them one by one. */
static int quote_piece(const char *piece, size_t n, void *ctx)
{
  struct quotation *q = ctx;
  size_t room = EXCERPT_MAX - q->n, k = n < room ? n : room;
  memcpy(q->to + q->n, piece, k);
  q->n += k, q->all += n;
  return 0;
}

enum { LONGEST_NUMBER = 24 };

/* Not within an escape, of which two may be one character, nor within a number. */
static size_t quotation_cut(const char *text, size_t most)
{
  size_t at = 0, k;
  for (;;) {
    k = 1;
    if (text[at] == '\\') k = text[at + 1] == 'u' ? 6 : 2;
    if (k == 6 && (text[at + 2] | 32) == 'd' && strchr("89abAB", text[at + 3]) != NULL) k = 12;
    if (at + k > most) break;
    at += k;
  }
  for (k = at; k > 0 && at - k < LONGEST_NUMBER && strchr("0123456789.", text[k]) != NULL
    && strchr("0123456789.", text[k - 1]) != NULL; k--) ;
  return at - k < LONGEST_NUMBER ? k : at;
}

const char *jsonfile_excerpt(json_t *value, char buffer[64])
{
  struct quotation q = { buffer, 0, 0 };
  if (value == NULL) return strcpy(buffer, "missing");
  size_t digits = (size_t) value_digits(value);
  json_dump_callback(value, quote_piece, &q, JSON_ENCODE_ANY | JSON_COMPACT
    | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(digits));
  buffer[q.n] = '\0';
  if (q.all > EXCERPT_MAX) strcpy(buffer + quotation_cut(buffer, EXCERPT_MAX - 4), json_is_string(value) ? "...\"" : "...");
  return buffer;
}

/* not within a character */
const char *text_excerpt(const char *text, size_t n, size_t most, char buffer[EXCERPT_MAX + 4])
{
  size_t k = n <= most ? n : most;
  while (k < n && k > 0 && ((unsigned char) text[k] & 0xc0) == 0x80) k--;
  if (k > 0) memcpy(buffer, text, k);
  strcpy(buffer + k, k < n ? "..." : "");
  return buffer;
}

/* A byte of zero is no character of JSON, not even after the last bracket; jansson's own words
   break off at it. */
const char *jsonfile_trouble(const json_error_t *found, const char *text, size_t n)
{
  size_t at = found->position > 0 ? (size_t) found->position - 1 : n;
  return at < n && text[at] == '\0' ? "a byte of zero" : found->text;
}

/* The bound is needed because a tree is larger than its text: an empty list takes three
   characters with its comma, and jansson allocates many times as many bytes for it. The
   largest index that we know has nine megabytes, and settings have a few pages. jansson knows
   the line of an error, and the sentence has it in the place of a field. */
json_t *jsonfile_read(const char *path, size_t max, struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return NULL;
  json_error_t found;
  json_t *value = NULL;
  if (map.size > max)
    error_say(why, "%s: this has %zu bytes; wanted: at most %zu of JSON",
      path, map.size, max);
  else {
    value = json_loadb((const char *) map.bytes, map.size, JSON_DECODE_ANY
      | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &found);
    if (value == NULL) {
      error_say(why, "%s: line %d: %s; wanted: strict JSON", path, found.line,
        jsonfile_trouble(&found, (const char *) map.bytes, map.size));
      misfit_bytes(path, map.bytes, map.size, true, why);
    }
  }
  file_unmap(&map);
  return value;
}
