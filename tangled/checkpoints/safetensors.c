/* the program -- made from workshop/02-safetensors.w; change it there */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "safetensors/tensor_file.h"

/* <Write the file of the hand calculation, damaged or not> */
enum { DAMAGES = 6, MAX_BYTES = 256 };
static const struct { const char *what, *type, *second; int columns, from, bytes; }
  damaged[DAMAGES] =
  { {"as it should be", "F16", "b", 5, 30, 46},
    {"one byte is missing", "F16", "b", 5, 30, 45},
    {"a hole of two bytes", "F16", "b", 5, 32, 48},
    {"another shape", "F16", "b", 6, 30, 46},
    {"the same name twice", "F16", "a", 5, 30, 46},
    {"an unknown type", "F17", "b", 5, 30, 46} };

static int header_of(int damage, char *text, size_t cap)
{
  return snprintf(text, cap, "{\"a\":{\"dtype\":\"%s\","
    "\"shape\":[3,%d],\"data_offsets\":[0,30]},\"%s\":"
    "{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[%d,%d]}}",
    damaged[damage].type, damaged[damage].columns, damaged[damage].second,
    damaged[damage].from, damaged[damage].from + 16);
}

static bool write_damaged(const char *path, int damage)
{
  char bytes[MAX_BYTES] = { 0 };
  int n = header_of(damage, bytes + 8, MAX_BYTES - 8);
  size_t all = 8 + (size_t) n + (size_t) damaged[damage].bytes;
  bytes[0] = (char) n;
  bytes[8 + n] = '\0';
  FILE *f = fopen(path, "wb");
  if (f == NULL) return false;
  bool ok = fwrite(bytes, 1, all, f) == all;
  return fclose(f) == 0 && ok;
}

/* <Read the file, and report what it holds> */
static bool read_back(int damage)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  char path[] = "ab.safetensors";
  if (!write_damaged(path, damage)) return false;
  struct tensor_file *w = tensor_file_open(&m, path, &why);
  printf("%s\n", damaged[damage].what);
  if (w == NULL) printf("  %s\n", why.text);
  for (size_t i = 0; w != NULL && i < tensor_file_count(w); i++) {
    const struct tensor_entry *t = tensor_file_at(w, i);
    printf("  %s: %s, %d numbers from byte %d on\n", t->name,
      number_types[t->type].name,
      (int) t->elements, (int) t->begin);
  }
  tensor_file_close(&m, w);
  unlink(path);
  return true;
}

int main(int argc, char **argv)
{
  (void) argv;
  if (argc > 1) return 0;
  for (int damage = 0; damage < DAMAGES; damage++)
    if (!read_back(damage)) return 1;
  return 0;
}
