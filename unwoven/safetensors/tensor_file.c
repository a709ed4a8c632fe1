/* tensor_file.c -- the list of a model's tensors, whatever format its files have.

   A file or a tensor is entered in the lists before anything that can fail is done
   with it, and every entry can be freed, so closing finds all of it after half an
   opening. A tensor is one block: the entry, its shape, its name. The list is in the
   order of the names once tensor_file_sort has been called; until then nothing may be
   looked up. */

#include <stdlib.h>
#include <string.h>
#include "safetensors/tensor_format.h"

/* About three times what the largest published model has. An entry can be so short that its
   block is several times as large as its text. */
enum { MAX_TENSORS = 1 << 18 };

/* the one type that is copied */
static const char copied_type[] = "F64";

/* Sentences about a file need its path as long as it is open. The zero at the end is there
   already, since memory_alloc returns zeroed memory. */
char *tensor_file_keep_path(struct tensor_file *w, const char *directory,
  const char *name, struct error *why)
{
  size_t a = strlen(directory), b = strlen(name);
  char *path = memory_alloc(w->m, MEMORY_OTHER, a + (b > 0) + b + 1, 1, why);
  if (path == NULL) return NULL;
  memcpy(path, directory, a);
  if (b > 0) path[a] = '/', memcpy(path + a + 1, name, b);
  return path;
}

static struct shard *one_more(struct tensor_file *w, struct error *why)
{
  struct shard *grown = memory_resize(w->m, MEMORY_OTHER, w->shards,
    w->n_shards + 1, sizeof *grown, why);
  if (grown == NULL) return NULL;
  w->shards = grown;
  return &w->shards[w->n_shards++];
}

/* A file is entered before anything that can fail is done with it, so that closing finds it in
   every case. */
struct shard *tensor_file_map(struct tensor_file *w, const char *directory,
  const char *name, struct error *why)
{
  struct shard *s = one_more(w, why);
  if (s == NULL) return NULL;
  s->path = tensor_file_keep_path(w, directory, name, why);
  return s->path != NULL && file_map(&s->map, s->path, why) ? s : NULL;
}

/* Its owner has compared it with other files, and keeps what it found out. */
struct shard *tensor_file_adopt(struct tensor_file *w, char **path, struct mapping map,
  struct error *why)
{
  struct shard *s = one_more(w, why);
  if (s == NULL) return NULL;
  *s = (struct shard) { *path, map };
  *path = NULL;
  return s;
}

/* The list of pointers doubles when it is full: with one that grew by one each time, a file of
   n tensors would move n * n / 2 pointers. */
struct tensor_entry *tensor_file_add(struct tensor_file *w, const char *path,
  const char *name, size_t rank, struct error *why)
{
  if (w->n == MAX_TENSORS) {
    error_found(why, path, name, "one more", "at most 262144 tensors");
    return NULL;
  }
  void *p = memory_reserve(w->m, MEMORY_OTHER, w->list, &w->cap, w->n + 1, 64,
    sizeof *w->list, why);
  if (p == NULL) return NULL;
  w->list = p;
  size_t fixed = sizeof(struct tensor_entry) + rank * sizeof(uint64_t);
  size_t length = strlen(name) + 1;
  struct tensor_entry *t = memory_alloc(w->m, MEMORY_OTHER, fixed + length, 1, why);
  if (t == NULL) return NULL;
  t->rank = (uint32_t) rank, t->file = path;
  /* a copy: the string belongs to the header, which will be freed */
  t->name = memcpy((char *) t + fixed, name, length);
  return w->list[w->n++] = t;
}

/* byte by byte, regardless of any language's alphabet */
static int by_name(const void *a, const void *b)
{
  return strcmp((*(struct tensor_entry *const *) a)->name,
    (*(struct tensor_entry *const *) b)->name);
}

/* With one file or many, no name may occur twice; in the sorted list two equal names are
   neighbours. Only now is the order final, and each tensor gets its number. */
bool tensor_file_sort(struct tensor_file *w, struct error *why)
{
  if (w->n > 0) qsort(w->list, w->n, sizeof *w->list, by_name);
  for (size_t i = 1; i < w->n; i++)
    if (strcmp(w->list[i - 1]->name, w->list[i]->name) == 0)
      return error_found(why, w->list[i]->file, w->list[i]->name,
        "given twice", "each name once");
  for (size_t i = 0; i < w->n; i++) w->list[i]->number = i;
  return true;
}

/* a model asks for every name once */
const struct tensor_entry *tensor_file_find(const struct tensor_file *w,
  const char *name)
{
  size_t low = 0, high = w->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(name, w->list[middle]->name);
    if (order == 0) return w->list[middle];
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return NULL;
}

struct stored_form tensor_file_stored(const struct tensor_entry *t)
{
  if (t->copied) return (struct stored_form) { copied_type, t->elements * sizeof(double) };
  return (struct stored_form) { number_types[t->type].name, t->bytes };
}

/* No kernel multiplies doubles, and a library that trains in float rounds them when it opens the file. The
   file is the same machine's byte order (see shard_read); its numbers may be unaligned. Once they are copied
   their pages are given back, so the process never holds both forms of more than one tensor. */
bool tensor_file_narrow(struct tensor_file *w, const struct tensor_entry *named, struct error *why)
{
  struct tensor_entry *t = w->list[named->number];
  if (strcmp(number_types[t->type].name, copied_type) != 0) return true;
  float *copy = memory_alloc(w->m, MEMORY_WEIGHTS, t->elements, sizeof *copy, why);
  if (copy == NULL) return false;
  for (size_t i = 0; i < t->elements; i++) {
    double x;
    memcpy(&x, t->data + i * sizeof x, sizeof x);
    copy[i] = (float) x;
  }
  tensor_file_release(w, t->data, t->bytes);
  t->data = (unsigned char *) copy, t->copied = true;
  t->type = WEIGHT_F32, t->bytes = t->elements * sizeof *copy;
  return true;
}

size_t tensor_file_files(const struct tensor_file *w) { return w->n_shards; }
size_t tensor_file_count(const struct tensor_file *w) { return w->n; }
const struct tensor_entry *tensor_file_at(const struct tensor_file *w, size_t i)
{
  return w->list[i];
}

const char *tensor_file_path(const struct tensor_file *w)
{
  return w == NULL ? "the model" : w->path;
}

const char *tensor_file_format(const struct tensor_file *w)
{
  return w->format->name;
}

/* Bytes that had to be converted are in none of the files, and nothing happens to them. */
void tensor_file_release(const struct tensor_file *w, const void *from, size_t n)
{
  for (size_t i = 0; w != NULL && i < w->n_shards; i++)
    file_release(&w->shards[i].map, from, n);
}

/* Even after half an opening: a tensor is entered only when its block exists, and a shard
   begins with null pointers. */
void tensor_file_close(struct memory *m, struct tensor_file *w)
{
  if (w == NULL) return;
  for (size_t i = 0; i < w->n; i++) {
    if (w->list[i]->copied) memory_free(m, (void *) (uintptr_t) w->list[i]->data);
    memory_free(m, w->list[i]);
  }
  for (size_t i = 0; i < w->n_shards; i++) {
    file_unmap(&w->shards[i].map);
    memory_free(m, w->shards[i].path);
  }
  memory_free(m, w->list);
  memory_free(m, w->shards);
  memory_free(m, w->path);
  memory_free(m, w);
}

extern const struct tensor_format gguf_format, safetensors_format;

/* The first format that recognizes the path reads it; safetensors recognizes every path and
   comes last. If the reader fails, all that it has entered is closed. */
struct tensor_file *tensor_file_open(struct memory *m, const char *path,
  struct error *why)
{
  static const struct tensor_format *const formats[] =
    { &gguf_format, &safetensors_format };
  struct tensor_file *w = memory_alloc(m, MEMORY_OTHER, 1, sizeof *w, why);
  size_t i = 0;
  if (w == NULL) return NULL;
  while (!formats[i]->recognizes(path)) i++;
  w->m = m, w->format = formats[i];
  if (w->format->fill(w, path, why)) return w;
  tensor_file_close(m, w);
  return NULL;
}
