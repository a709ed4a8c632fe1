/* shards.c -- one file of safetensors, or several with an index.

   A model may be one file, or several, called shards, with an index that says which tensor is
   in which. An index may name files of its own directory only. Afterwards index and files must
   agree: a shard of another model may be among them, whose sizes fit, and the text would be
   nonsense. */

#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
#include "safetensors/shard.h"

/* maps a file and reads it at once */
static bool shard_open(struct tensor_file *w, const char *directory,
  const char *name, struct error *why)
{
  struct shard *s = tensor_file_map(w, directory, name, why);
  return s != NULL && shard_read(w, s, why);
}

/* The index names a file for every tensor, and we open it the first time. A name with a slash
   in it, or one that begins with a dot, could lead out of the directory, as "../../etc/passwd"
   does. No tool writes such names, and they are refused before anything is opened. */
static bool index_open(struct tensor_file *w, const char *directory,
  json_t *map, struct error *why)
{
  for (void *i = json_object_iter(map); i != NULL;
       i = json_object_iter_next(map, i)) {
    const char *file = json_string_value(json_object_iter_value(i));
    char buffer[64];
    if (file == NULL || *file == '\0' || *file == '.' || strchr(file, '/') != NULL)
      return error_found(why, w->path, json_object_iter_key(i),
        jsonfile_excerpt(json_object_iter_value(i), buffer),
        "the name of a file in the same directory");
    size_t k = 0, skip = strlen(directory) + 1;
    while (k < w->n_shards && strcmp(w->shards[k].path + skip, file) != 0) k++;
    if (k == w->n_shards && !shard_open(w, directory, file, why)) return false;
  }
  return true;
}


/* Every tensor of the index is in the file that it names, and the files have no others. Names
   are unique, so equal counts are equal sets. */
static bool index_check(struct tensor_file *w, json_t *map, struct error *why)
{
  for (void *i = json_object_iter(map); i != NULL;
       i = json_object_iter_next(map, i)) {
    const struct tensor_entry *t = tensor_file_find(w, json_object_iter_key(i));
    const char *file = json_string_value(json_object_iter_value(i));
    if (t == NULL || strcmp(strrchr(t->file, '/') + 1, file) != 0)
      return error_found(why, w->path, json_object_iter_key(i), file,
        "the file that has this tensor");
  }
  return json_object_size(map) == w->n || error_say(why,
    "%s: weight_map has %zu tensors; wanted: %zu, as in the files", w->path,
    json_object_size(map), w->n);
}

/* The index is JSON with a weight_map. Its other member, metadata, gives the number of bytes,
   which we count ourselves. The list is sorted before the index is checked, because the check
   looks names up. */
static bool open_by_index(struct tensor_file *w, const char *directory,
  struct error *why)
{
  json_t *index = jsonfile_read(w->path, JSONFILE_MAX_INDEX, why);
  if (index == NULL) return false;
  json_t *map = json_object_get(index, "weight_map");
  char buffer[64];
  bool ok = json_is_object(map) || error_found(why, w->path, "weight_map",
    jsonfile_excerpt(map, buffer), "an object of names and files");
  ok = ok && index_open(w, directory, map, why) && tensor_file_sort(w, why)
    && index_check(w, map, why);
  json_decref(index);
  return ok;
}


/* There is no magic number, so every path will do, and this format is the last in the
   table. */
static bool safetensors_recognizes(const char *path)
{
  (void) path;
  return true;
}

/* In a directory the single file has precedence over an index, as in other programs. If
   neither exists, opening the single file fails, and the sentence names what was missing, or
   what is there in its place. A path that leads to a file is that file. */
static bool safetensors_fill(struct tensor_file *w, const char *path,
  struct error *why)
{
  struct stat about;
  bool directory = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
  const char *name = directory ? "model.safetensors" : "";
  char *single = tensor_file_keep_path(w, path, name, why);
  char *index = tensor_file_keep_path(w, path, "model.safetensors.index.json", why);
  bool ok = single != NULL && index != NULL;
  bool indexed = ok && directory && access(single, F_OK) != 0
    && access(index, F_OK) == 0;
  /* before anything is opened, since every message names it */
  w->path = indexed ? index : single;
  memory_free(w->m, indexed ? single : index);
  if (indexed) return open_by_index(w, path, why);
  if (ok && shard_open(w, path, name, why)) return tensor_file_sort(w, why);
  return ok && directory && access(single, F_OK) != 0
    && misfit_path(path, name, why);
}

const struct tensor_format safetensors_format =
  { .name = "safetensors", .recognizes = safetensors_recognizes,
  .fill = safetensors_fill };
