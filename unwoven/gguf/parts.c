/* parts.c -- the files of a model in several parts, found by their names and compared by their keys.

   A user may name any part; the names of the others follow from it. So a directory is never listed, and
   no name comes from within a file: what a stranger wrote into one cannot lead anywhere else. The parts
   say which of how many they are, and nothing says which model they are parts of. Files are renamed, and
   two models of one shape may lie in one folder: whatever two parts both say must be the same, and what
   describes the model must be in the first, or nobody would read it. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "gguf/inside.h"
#include "gguf/parts.h"

static const char count_key[] = "split.count", no_key[] = "split.no", tensors_key[] = "split.tensors.count";

/* The five digits of a number in a name, or 0 */
static unsigned digits(const char *at)
{
  unsigned x = 0;
  for (int i = 0; i < 5; i++) {
    if (at[i] < '0' || at[i] > '9') return 0;
    x = 10 * x + (unsigned) (at[i] - '0');
  }
  return x;
}

size_t gguf_part_named(const char *path, unsigned *no, unsigned *of)
{
  static const char form[] = "-00001-of-00002.gguf";
  size_t n = strlen(path), k = sizeof form - 1;
  if (n <= k) return 0;
  const char *end = path + n - k;
  if (end[-1] == '/' || end[0] != '-' || memcmp(end + 6, "-of-", 4) != 0 || strcmp(end + 15, ".gguf") != 0) return 0;
  *no = digits(end + 1), *of = digits(end + 10);
  return *no > 0 && *no <= *of ? n - k : 0;
}

static bool part_bad(const struct gguf_file *g, const char *key, const char *wanted, struct error *why)
{
  char found[64];
  return error_found(why, g->path, key, gguf_excerpt(gguf_find(g, key), found), wanted);
}

/* The number in a key; -1 if there is none. */
static double number_in(const struct gguf_file *g, const char *key)
{
  const struct gguf_entry *e = gguf_find(g, key);
  return e != NULL && gguf_integer(e) && !e->is_array ? gguf_number(e, 0) : -1;
}

/* How many parts a file says there are: 1 if it says nothing, or 0, which is what a program that cuts
   files writes before it has counted. */
static bool read_count(const struct gguf_file *g, size_t *n, struct error *why)
{
  char wanted[64];
  double x = gguf_find(g, count_key) == NULL ? 1 : number_in(g, count_key);
  snprintf(wanted, sizeof wanted, "an integer from 1 to %d", GGUF_MAX_PARTS);
  if (x < 0 || x > GGUF_MAX_PARTS) return part_bad(g, count_key, wanted, why);
  *n = x > 1 ? (size_t) x : 1;
  return true;
}

/* A part is entered before anything that can fail is done with it, so that closing finds it. */
static bool open_one(struct gguf_parts *p, struct gguf_part *one, const char *path, struct error *why)
{
  one->path = memory_alloc(p->m, MEMORY_OTHER, strlen(path) + 1, 1, why);
  if (one->path == NULL) return false;
  strcpy(one->path, path);
  if (!file_map(&one->map, path, why)) {
    one->map = (struct mapping) { NULL, 0 };
    return false;
  }
  return gguf_read(&one->g, p->m, one->path, one->map.bytes, one->map.size, why);
}

/* The first file that was opened says how many there are. Its own name must say the same, because the
   names of the others are made of it. */
static bool check_name(const struct gguf_file *g, size_t n, size_t *stem, struct error *why)
{
  unsigned no = 0, of = 0;
  char wanted[120];
  *stem = gguf_part_named(g->path, &no, &of);
  if (*stem == 0) snprintf(wanted, sizeof wanted,
      "a file with a name such as NAME-00001-of-%05zu.gguf, by which the other parts are found", n);
  else snprintf(wanted, sizeof wanted, "%u, as the name of the file says", of);
  return (*stem > 0 && of == n) || part_bad(g, count_key, wanted, why);
}

/* The same value; of integers, in whatever type. */
static bool same_value(const struct gguf_entry *a, const struct gguf_entry *b)
{
  size_t n = (size_t) (a->end - a->at);
  if (gguf_integer(a) && gguf_integer(b) && !a->is_array && !b->is_array)
    return gguf_number(a, 0) == gguf_number(b, 0);
  return a->type == b->type && a->is_array == b->is_array && a->count == b->count
    && (size_t) (b->end - b->at) == n && memcmp(a->at, b->at, n) == 0;
}

/* A key of a later part: what the first part says as well, or what is about the file alone. */
static bool check_key(const struct gguf_file *first, const struct gguf_file *g,
  const struct gguf_entry *e, struct error *why)
{
  static const char *const of_file[] = { "general.", "split.", "quantize." };
  char key[200], found[64], wanted[160], as[64];
  snprintf(key, sizeof key, "%.*s", (int) (e->key.n < 199 ? e->key.n : 199), e->key.text);
  if (strcmp(key, no_key) == 0 || strcmp(key, "general.alignment") == 0) return true;
  const struct gguf_entry *own = gguf_find_words(first, e->key);
  if (own == NULL) {
    for (int i = 0; i < 3; i++)
      if (strncmp(key, of_file[i], strlen(of_file[i])) == 0) return true;
    return error_found(why, g->path, key, "in this part",
      "in the first part, which has all that describes the model");
  }
  snprintf(wanted, sizeof wanted, "%s, as in the first part", gguf_excerpt(own, as));
  return same_value(own, e) || error_found(why, g->path, key, gguf_excerpt(e, found), wanted);
}

static bool check_part(const struct gguf_parts *p, size_t i, struct error *why)
{
  const struct gguf_file *g = &p->part[i].g;
  char wanted[80];
  snprintf(wanted, sizeof wanted, "%zu, as its name says: parts are counted from 0", i);
  if (number_in(g, no_key) != (double) i) return part_bad(g, no_key, wanted, why);
  snprintf(wanted, sizeof wanted, "%zu, as the name of the file says", p->n);
  if (number_in(g, count_key) != (double) p->n) return part_bad(g, count_key, wanted, why);
  for (size_t k = 0; i > 0 && k < g->n_entries; k++)
    if (!check_key(&p->part[0].g, g, &g->entry[k], why)) return false;
  return true;
}

/* A part that is missing, or that is left over of another cut, would be seen by the model that lacks a
   tensor; but the sentence would be about the tensor. */
static bool check_tensors(const struct gguf_parts *p, struct error *why)
{
  uint64_t all = 0;
  char wanted[64];
  for (size_t i = 0; i < p->n; i++) all += p->part[i].g.n_tensors;
  snprintf(wanted, sizeof wanted, "%" PRIu64 ", as many as the parts have", all);
  return number_in(&p->part[0].g, tensors_key) == (double) all
    || part_bad(&p->part[0].g, tensors_key, wanted, why);
}

static bool open_others(struct gguf_parts *p, size_t given, size_t stem, struct error *why)
{
  const char *path = p->part[given].path;
  char other[PATH_CAP], is[64];
  for (size_t i = 0; i < p->n; i++) {
    int k = snprintf(other, sizeof other, "%.*s-%05zu-of-%05zu.gguf", (int) stem, path, i + 1, p->n);
    if (k < 0 || (size_t) k >= sizeof other) return error_say(why, "%.200s: the path is too long", path);
    snprintf(is, sizeof is, "part %zu of %zu, each of which is a file", i + 1, p->n);
    if (i != given && access(other, F_OK) != 0) return error_found(why, other, "this", "missing", is);
    if (i != given && !open_one(p, &p->part[i], other, why)) return false;
  }
  for (size_t i = 0; i < p->n; i++)
    if (!check_part(p, i, why)) return false;
  return check_tensors(p, why);
}

/* The file that was named is opened first, and moves to its place when it has said that there are more. */
static bool open_all(struct gguf_parts *p, const char *path, struct error *why)
{
  unsigned no = 1, of = 1;
  size_t n = 1, stem = 0;
  p->part = memory_alloc(p->m, MEMORY_OTHER, 1, sizeof *p->part, why);
  if (p->part == NULL) return false;
  p->n = 1;
  if (!open_one(p, &p->part[0], path, why) || !read_count(&p->part[0].g, &n, why)) return false;
  if (n == 1) return true;
  if (!check_name(&p->part[0].g, n, &stem, why)) return false;
  gguf_part_named(path, &no, &of);
  struct gguf_part *all = memory_resize(p->m, MEMORY_OTHER, p->part, n, sizeof *all, why);
  if (all == NULL) return false;
  struct gguf_part given = all[0];
  memset(all, 0, n * sizeof *all);
  all[no - 1] = given;
  p->part = all, p->n = n;
  return open_others(p, no - 1, stem, why);
}

bool gguf_parts_open(struct gguf_parts *p, struct memory *m, const char *path, struct error *why)
{
  *p = (struct gguf_parts) { .m = m };
  if (open_all(p, path, why)) return true;
  gguf_parts_close(p);
  return false;
}

void gguf_parts_close(struct gguf_parts *p)
{
  for (size_t i = 0; i < p->n; i++) {
    struct gguf_part *one = &p->part[i];
    if (one->g.m != NULL) gguf_free(&one->g);
    if (one->path != NULL && one->map.bytes != NULL) file_unmap(&one->map);
    memory_free(p->m, one->path);
  }
  memory_free(p->m, p->part);
  *p = (struct gguf_parts) { .m = p->m };
}
