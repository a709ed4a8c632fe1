/* jsonfile.c -- made from workshop/02-safetensors.w; change it there */

#include <string.h>
#include "safetensors/jsonfile.h"

/* <Quote a value of JSON> */
const char *jsonfile_excerpt(json_t *value, char buffer[64])
{
  if (value == NULL) return strcpy(buffer, "missing");
  memset(buffer, 0, 64);
  size_t n = json_dumpb(value, buffer, 60,
    JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);
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
    if (value == NULL)
      error_say(why, "%s: line %d: %s; wanted: strict JSON", path, found.line,
        found.text);
  }
  file_unmap(&map);
  return value;
}
