/* the program -- made from workshop/08-gguf.w; change it there */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "safetensors/tensor_file.h"

/* <Append to a file in memory> */
struct growing { unsigned char byte[256]; size_t n; };
static void put_number(struct growing *f, size_t bytes, uint64_t x)
{
  for (size_t i = 0; i < bytes; i++)
    f->byte[f->n++] = (unsigned char) (x >> 8 * i);
}

static void put_string(struct growing *f, const char *text)
{
  put_number(f, 8, strlen(text));
  memcpy(f->byte + f->n, text, strlen(text));
  f->n += strlen(text);
}

/* <Write the file of the hand calculation> */
enum { DAMAGES = 8 };
static const struct damage_row { const char *what; unsigned version, alignment,
  columns, type; const char *second; unsigned offset; size_t size; } row[DAMAGES] =
  { {"as it should be", 3, 32, 5, 1, "b", 32, 208},
    {"one byte is missing", 3, 32, 5, 1, "b", 32, 207},
    {"no zeros between", 3, 32, 5, 1, "b", 30, 208},
    {"another shape", 3, 32, 50, 1, "b", 32, 208},
    {"the same name twice", 3, 32, 5, 1, "a", 32, 208},
    {"an unknown type", 3, 32, 5, 99, "b", 32, 208},
    {"an odd alignment", 3, 24, 5, 1, "b", 32, 208},
    {"the first version", 1, 32, 5, 1, "b", 32, 208} };

static void describe(struct growing *f, const struct damage_row *r)
{
  memcpy(f->byte, "GGUF", 4), f->n = 4;
  put_number(f, 4, r->version);
  put_number(f, 8, 2), put_number(f, 8, 1);
  put_string(f, "general.alignment");
  put_number(f, 4, 4), put_number(f, 4, r->alignment);
  put_string(f, "a");
  put_number(f, 4, 2);
  put_number(f, 8, r->columns), put_number(f, 8, 3);
  put_number(f, 4, r->type), put_number(f, 8, 0);
  put_string(f, r->second);
  put_number(f, 4, 1), put_number(f, 8, 4);
  put_number(f, 4, 0), put_number(f, 8, r->offset);
}

/* <Open it, and say what it has> */
static bool open_again(int damage)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct growing f = { .n = 0 };
  char path[] = "ab.gguf";
  describe(&f, &row[damage]);
  FILE *out = fopen(path, "wb");
  bool ok = out != NULL
    && fwrite(f.byte, 1, row[damage].size, out) == row[damage].size;
  if (out == NULL || fclose(out) != 0 || !ok) return false;
  struct tensor_file *w = tensor_file_open(&m, path, &why);
  printf("%s\n", row[damage].what);
  if (w == NULL) printf("  %s\n", why.text);
  for (size_t i = 0; w != NULL && i < tensor_file_count(w); i++) {
    const struct tensor_entry *t = tensor_file_at(w, i);
    printf("  %s: %s, %d numbers from byte %d on\n", t->name,
      number_types[t->type].name, (int) t->elements, (int) t->begin);
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
    if (!open_again(damage)) return 1;
  return 0;
}
