/* jsonfile.c -- made from workshop/02-safetensors.w; change it there */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"

/* <Count the digits that a value needs> */
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

/* <Quote a value of JSON> */
const char *jsonfile_excerpt(json_t *value, char buffer[64])
{
  if (value == NULL) return strcpy(buffer, "missing");
  memset(buffer, 0, 64);
  size_t digits = (size_t) value_digits(value);
  size_t n = json_dumpb(value, buffer, 60, JSON_ENCODE_ANY | JSON_COMPACT
    | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(digits));
  if (n > 60) strcpy(buffer + (strlen(buffer) < 56 ? strlen(buffer) : 56), "...");
  return buffer;
}

/* <Read a file of JSON> */
json_t *jsonfile_read(const char *path, size_t max, struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return NULL;
  json_error_t found;
  json_t *value = NULL;
  if (map.size > max)
    error_say(why, "%s: this has %zu bytes;" " wanted: at most %zu of JSON",
      path, map.size, max);
  else {
    value = json_loadb((const char *) map.bytes, map.size, JSON_DECODE_ANY
      | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &found);
    if (value == NULL) {
      error_say(why, "%s: line %d: %s; wanted: strict JSON", path, found.line,
        found.text);
      misfit_bytes(path, map.bytes, map.size, true, why);
    }
  }
  file_unmap(&map);
  return value;
}
