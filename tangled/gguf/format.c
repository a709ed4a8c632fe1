/* format.c -- GGUF as a format of tensor files: a row of the table in tensor_file.c.
   made from workshop/08-gguf.w; change it there

   One path, one file, one shard. Names get a zero at their end here, and
   tensor_file_sort finds one that occurs twice. */

#include <string.h>
#include "gguf/gguf.h"
#include "safetensors/tensor_format.h"

/* <Add a tensor of the file> */
static bool add_tensor(struct tensor_file *w, const struct gguf_file *g,
  const struct gguf_tensor *t, struct error *why)
{
  /* the format's bound, which take_name has checked, and a zero */
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

/* <Read a file of this format> */
static bool gguf_fill(struct tensor_file *w, const char *path, struct error *why)
{
  struct shard *s = tensor_file_map(w, path, "", why);
  struct gguf_file g = { .m = w->m };
  struct gguf_tensor t;
  w->path = tensor_file_keep_path(w, path, "", why);
  bool ok = s != NULL && w->path != NULL
    && gguf_read(&g, w->m, s->path, s->map.bytes, s->map.size, why);
  struct gguf_walk walk = gguf_begin(&g);
  while (ok && walk.left > 0)
    ok = gguf_next(&g, &walk, &t, why) && add_tensor(w, &g, &t, why);
  gguf_free(&g);
  return ok && tensor_file_sort(w, why);
}

extern const struct tensor_format gguf_format;
const struct tensor_format gguf_format = { .name = "gguf",
  .recognizes = gguf_recognizes, .fill = gguf_fill };
