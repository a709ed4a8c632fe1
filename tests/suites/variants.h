/* variants.h -- models opened with their engine and store, and copies of their folders in which one
   thing is changed */
#ifndef INCIPIT_VARIANTS_H
#define INCIPIT_VARIANTS_H
#include <dirent.h>
#include <jansson.h>
#include "suite.h"
#include "families/loader.h"
#include "model/forward.h"
#include "kernels/kernels.h"
#include "cache/cache.h"

/* ---- a model with its engine and store, opened together */
struct rig {
  struct memory m;
  struct error why;
  struct model *lm;
  struct store *s;
  struct counters c;
  struct pool *pool;
  struct engine e;
};
static inline bool rig_open(
  struct rig *r, const char *path, const struct kernels *k, unsigned workers, uint32_t sequences)
{
  memset(r, 0, sizeof *r);
  if (workers > 1) r->pool = pool_open(&r->m, workers, &r->why);
  r->e = (struct engine){ .k = k ? k : kernels_find(NULL, NULL), .pool = r->pool, .c = &r->c };
  r->lm = model_open(&r->m, path, &r->why);
  if (r->lm) r->s = cache_open(&r->m, &r->lm->config, sequences, &(struct cache_options){ .rows = 0 }, &r->why);
  return r->s != NULL;
}

/* ---- variants of a small model: a copy of its directory in which one thing is changed */
static inline void variant_path(char *buffer, const char *dir, const char *file)
{
  snprintf(buffer, 400, "%.190s/%.200s", dir, file);
}
static inline unsigned char *slurp(const char *path, size_t *n)
{
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f != NULL, "%s", path);
  fseek(f, 0, SEEK_END);
  *n = (size_t) ftell(f);
  rewind(f);
  unsigned char *b = malloc(*n + 1);
  ck_assert_uint_eq(fread(b, 1, *n, f), *n);
  fclose(f);
  b[*n] = 0;
  return b;
}
static inline void spill(const char *path, const void *b, size_t n)
{
  FILE *f = fopen(path, "wb");
  ck_assert(f != NULL && fwrite(b, 1, n, f) == n);
  fclose(f);
}
static inline void variant_make(char dir[200], const char *base)
{
  char from[400], to[400], source[200];
  const char *t = getenv("TMPDIR");
  snprintf(dir, 200, "%s/incipit-model-XXXXXX", t ? t : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(source, sizeof source, "tests/golden/%s", base);
  DIR *d = opendir(source);
  ck_assert_ptr_nonnull(d);
  for (struct dirent *e = readdir(d); e; e = readdir(d)) {
    if (e->d_name[0] == '.' || strstr(e->d_name, ".jsonl")) continue;
    variant_path(from, source, e->d_name), variant_path(to, dir, e->d_name);
    size_t n;
    unsigned char *b = slurp(from, &n);
    spill(to, b, n);
    free(b);
  }
  closedir(d);
}
static inline void variant_drop(const char *dir)
{
  char path[400];
  DIR *d = opendir(dir);
  for (struct dirent *e = readdir(d); e; e = readdir(d)) {
    variant_path(path, dir, e->d_name);
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) remove(path);
  }
  closedir(d);
  rmdir(dir);
}
/* sets a field (dotted for one level) of a JSON file to a value written as JSON; null text deletes
 * it */
static inline void variant_json(
  const char *dir, const char *file, const char *field, const char *value)
{
  char path[400], outer[100];
  variant_path(path, dir, file);
  json_t *o = json_load_file(path, 0, NULL), *in = o;
  if (o == NULL) in = o = json_object();
  snprintf(outer, sizeof outer, "%s", field);
  char *dot = strchr(outer, '.');
  if (dot && dot != outer && json_is_object(json_object_get(o, (*dot = 0, outer))))
    in = json_object_get(o, outer), field += dot - outer + 1;
  if (value)
    json_object_set_new(in, field, json_loads(value, JSON_DECODE_ANY, NULL));
  else
    json_object_del(in, field);
  ck_assert_int_eq(json_dump_file(o, path, JSON_INDENT(1)), 0);
  json_decref(o);
}
#endif
