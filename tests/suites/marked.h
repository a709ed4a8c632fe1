/* marked.h -- ChatML's marks in a vocabulary of tests/golden/small, in the place of its last two
   merges, and another context if that is not 0: a model that templates other than the built-in
   model's can be tried with. */
#ifndef INCIPIT_MARKED_H
#define INCIPIT_MARKED_H
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static inline json_t *marked_from(const char *file)
{
  char path[8400];
  snprintf(path, sizeof path, "tests/golden/small/%s", file);
  json_t *j = json_load_file(path, 0, NULL);
  if (j == NULL) perror(path), exit(1);
  return j;
}
static inline void marked_to(const char *folder, const char *file, json_t *j)
{
  char path[8400];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  if (json_dump_file(j, path, JSON_PRESERVE_ORDER) != 0) perror(path), exit(1);
  json_decref(j);
}
static inline void make_marked(const char *folder, int context)
{
  static const char *const gone[] = { "\xc4\xa0"
                                      "end",
    "\xc4\xa0"
    "hat" },
                           *const mark[] = { "<|im_start|>", "<|im_end|>" };
  static char part[1 << 20];
  char path[8400];
  mkdir(folder, 0777);
  snprintf(path, sizeof path, "%s/model.safetensors", folder);
  FILE *a = fopen("tests/golden/small/model.safetensors", "rb"), *b = fopen(path, "wb");
  if (a == NULL || b == NULL) perror(path), exit(1);
  for (size_t n; (n = fread(part, 1, sizeof part, a)) > 0;) fwrite(part, 1, n, b);
  fclose(a), fclose(b);
  json_t *c = marked_from("config.json"), *t = marked_from("tokenizer.json"),
         *model = json_object_get(t, "model");
  if (context != 0) json_object_set_new(c, "max_position_embeddings", json_integer(context));
  marked_to(folder, "config.json", c),
    marked_to(folder, "generation_config.json", marked_from("generation_config.json"));
  for (int i = 0; i < 2; i++) {
    json_t *merges = json_object_get(model, "merges"), *added = json_object_get(t, "added_tokens"),
           *one = json_deep_copy(json_array_get(added, 0));
    json_object_del(json_object_get(model, "vocab"), gone[i]),
      json_array_remove(merges, json_array_size(merges) - 1);
    json_object_set_new(one, "id", json_integer(284 + i)),
      json_object_set_new(one, "content", json_string(mark[i]));
    json_array_append_new(added, one);
  }
  marked_to(folder, "tokenizer.json", t);
}
#endif
