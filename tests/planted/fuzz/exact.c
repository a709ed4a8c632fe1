/* exact.c -- file_map for the fuzzers: the file in a block of its own size, with nothing behind it.
 */
#include "fuzz.h"
bool __real_file_map(struct mapping *map, const char *path, struct error *why);
void __real_file_unmap(struct mapping *map);
bool __wrap_file_map(struct mapping *map, const char *path, struct error *why);
void __wrap_file_unmap(struct mapping *map);
bool __wrap_file_map(struct mapping *map, const char *path, struct error *why)
{
  struct mapping real;
  if (!__real_file_map(&real, path, why)) return false;
  unsigned char *copy = malloc(real.size);
  if (real.size > 0) memcpy(copy, real.bytes, real.size);
  *map = (struct mapping){ copy, real.size };
  __real_file_unmap(&real);
  return true;
}
void __wrap_file_unmap(struct mapping *map)
{
  free((void *) map->bytes);
  *map = (struct mapping){ NULL, 0 };
}
