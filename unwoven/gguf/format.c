/* format.c -- GGUF as a format of tensor files: a row of the table in safetensors/tensor_file.c.

   One path, and one file or all that belong to it. Everything that reads tensors goes through tensor_file_open; for
   it a format is a row that recognizes a path and fills a list. Here the names get the zero at
   their end that others expect, and tensor_file_sort finds one that occurs twice. */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "gguf/parts.h"
#include "safetensors/tensor_format.h"

/* By the first four bytes, not by the end of the name. A pipe is not opened: it would have to be
   read, and its reader would find the beginning missing. */
bool gguf_recognizes(const char *path)
{
  struct stat about;
  char begin[4] = "";
  if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
  FILE *f = fopen(path, "rb");
  if (f == NULL) return false;
  bool ok = fread(begin, 1, 4, f) == 4 && memcmp(begin, "GGUF", 4) == 0;
  fclose(f);
  return ok;
}

/* The format's own bound on names, which the reader has checked, and a zero are 64 bytes. */
static bool add_tensor(struct tensor_file *w, const struct gguf_file *g,
  const struct gguf_tensor *t, struct error *why)
{
  char name[64];
  memcpy(name, t->name.text, t->name.n);
  name[t->name.n] = '\0';
  struct tensor_entry *e = tensor_file_add(w, g->path, name, t->rank, why);
  if (e == NULL) return false;
  e->type = t->type;
  e->bytes = t->bytes, e->elements = t->elements;
  e->begin = t->begin, e->data = g->bytes + g->data_at + t->begin;
  memcpy(e->shape, t->shape, t->rank * sizeof *t->shape);
  return true;
}

static bool add_part(struct tensor_file *w, struct gguf_part *one, struct error *why)
{
  struct gguf_walk walk = gguf_begin(&one->g);
  struct gguf_tensor t;
  if (tensor_file_adopt(w, &one->path, one->map, why) == NULL) return false;
  while (walk.left > 0)
    if (!gguf_next(&one->g, &walk, &t, why) || !add_tensor(w, &one->g, &t, why)) return false;
  return true;
}

/* A tensor that is missing is missing in the first part, which is the file that has the settings. */
static bool gguf_fill(struct tensor_file *w, const char *path, struct error *why)
{
  struct gguf_parts p;
  if (!gguf_parts_open(&p, w->m, path, why)) return false;
  w->path = tensor_file_keep_path(w, p.part[0].path, "", why);
  bool ok = w->path != NULL;
  for (size_t i = 0; i < p.n && ok; i++) ok = add_part(w, &p.part[i], why);
  gguf_parts_close(&p);
  return ok && tensor_file_sort(w, why);
}

extern const struct tensor_format gguf_format;
const struct tensor_format gguf_format = { .name = "gguf",
  .recognizes = gguf_recognizes, .fill = gguf_fill };
