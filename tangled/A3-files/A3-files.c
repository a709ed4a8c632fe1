/* A3-files.c -- made from chapters/A3-files.w; change it there */

/* C.2 */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "A3-files/config.h"

/* C.3  Write the file of the hand calculation, damaged or not */

enum { DAMAGES = 6, MOST_BYTES = 256 };
static const struct {
  const char *what, *header;
  int bytes;
} damaged[DAMAGES] =
    { {"as it should be",
       "{'a':{'dtype':'F16','shape':[3,5],'data_offsets':[0,30]},"
       "'b':{'dtype':'F32','shape':[4],'data_offsets':[30,46]}}", 46},
{"one byte is missing",
 "{'a':{'dtype':'F16','shape':[3,5],'data_offsets':[0,30]},"
 "'b':{'dtype':'F32','shape':[4],'data_offsets':[30,46]}}", 45},
{"a hole of two bytes",
 "{'a':{'dtype':'F16','shape':[3,5],'data_offsets':[0,30]},"
 "'b':{'dtype':'F32','shape':[4],'data_offsets':[32,48]}}", 48},
{"another shape",
 "{'a':{'dtype':'F16','shape':[3,6],'data_offsets':[0,30]},"
 "'b':{'dtype':'F32','shape':[4],'data_offsets':[30,46]}}", 46},
{"the same name twice",
 "{'a':{'dtype':'F16','shape':[3,5],'data_offsets':[0,30]},"
 "'a':{'dtype':'F32','shape':[4],'data_offsets':[30,46]}}", 46},
{"an unknown type",
 "{'a':{'dtype':'F17','shape':[3,5],'data_offsets':[0,30]},"
 "'b':{'dtype':'F32','shape':[4],'data_offsets':[30,46]}}", 46}
};

static bool write_damaged(const char *path, int damage)
{
  unsigned char bytes[MOST_BYTES] = { 0 };
  const char *from = damaged[damage].header;
  size_t n = strlen(from), all = 8 + n + (size_t)damaged[damage].bytes;
  bytes[0] = (unsigned char)n;
  for (size_t i = 0; i < n; i++)
    bytes[8 + i] = (unsigned char)(from[i] == '\'' ? '"' : from[i]);
  FILE *f = fopen(path, "wb");
  if (f == NULL)
    return false;
  bool ok = fwrite(bytes, 1, all, f) == all;
  return fclose(f) == 0 && ok;
}

/* C.4  Read it, and say what comes of it */

static bool read_back(int damage)
{
  struct memory m = {.refuse_at = 0 };
  struct error why;
  char path[] = "ab.safetensors";
  if (!write_damaged(path, damage))
    return false;
  struct archive *w = weights_open(&m, path, &why);
  printf("%s\n", damaged[damage].what);
  if (w == NULL)
    printf("  %s\n", why.words);
  for (size_t i = 0; w != NULL && i < weights_count(w); i++) {
    const struct stored *t = weights_at(w, i);
    printf("  %s: %s, %d numbers from byte %d on\n", t->name, t->type,
           (int)t->elements, (int)t->begin);
  }
  weights_close(&m, w);
  unlink(path);
  return true;
}

int main(int argc, char **argv)
{
  (void)argv;
  if (argc > 1)
    return 0;
  for (int damage = 0; damage < DAMAGES; damage++)
    if (!read_back(damage))
      return 1;
  return 0;
}
