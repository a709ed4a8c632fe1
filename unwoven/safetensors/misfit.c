/* misfit.c -- files that are not damaged but something else.

   A pointer of Git LFS, a pickle, a web page, an adapter: the reader's sentence about
   headers would be true and of no help, so it is replaced by one that says what the
   file is and what to do. Known by the first bytes, or by the names in the directory.
   Nothing here opens a pickle: it is a program, and loading it runs it. */

#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "safetensors/misfit.h"
#define SAVE_AGAIN "model.safetensors, as save_pretrained of transformers writes it"

enum kind_number { KIND_GGUF, KIND_LFS, KIND_ZIP, KIND_PICKLE, KIND_HDF5,
  KIND_PAGE, KIND_PACKED, KIND_GGML, KIND_NONE, KIND_JSON, KIND_TENSORS, KIND_UNKNOWN };
/* The kinds, and what to do about each. */
static const struct file_kind { const char *name, *wanted; } kinds[] = {
  [KIND_GGUF] = { "a GGUF file",
    "the path of that file itself, as in -m FILE.gguf" },
  [KIND_LFS] = { "a Git LFS pointer, not the file that it stands for",
    "the file itself, which git lfs pull fetches" },
  [KIND_ZIP] = { "a zip archive, as PyTorch writes its pickles",
    SAVE_AGAIN },
  [KIND_PICKLE] = { "a pickle of Python", SAVE_AGAIN },
  [KIND_HDF5] = { "an HDF5 file, as TensorFlow writes them",
    SAVE_AGAIN },
  [KIND_PAGE] = { "a web page",
    "the file itself; its download may ask for a login" },
  [KIND_PACKED] = { "a gzip archive", "what is in it, unpacked" },
  [KIND_GGML] = { "of the formats that llama.cpp had before GGUF",
    "the model in GGUF, or as safetensors" },
  [KIND_NONE] = { "an empty file", "the file itself, fetched again" },
  [KIND_JSON] = { "a JSON file",
    "a file of tensors, or the directory of a model" },
  [KIND_TENSORS] = { "a file of tensors", "the directory that it is in" },
  [KIND_UNKNOWN] = { "a file", "the directory of a model, or a GGUF file" } };

static bool begins(const unsigned char *byte, size_t n, const char *mark)
{
  return n >= strlen(mark) && memcmp(byte, mark, strlen(mark)) == 0;
}

/* A mark is the first bytes of a format, its magic number. A pickle begins with the byte 0x80
   and its version. A download that needs a login often brings a web page. JSON has no mark but
   its first bracket, with which settings begin as well: those two rows come last, and count
   only where tensors were wanted. */
static enum kind_number kind_of(const unsigned char *byte, size_t n)
{
  static const struct { const char *mark; enum kind_number kind; }
    marks[] = { { "GGUF", KIND_GGUF },
    { "version https://git-lfs", KIND_LFS }, { "PK\3\4", KIND_ZIP },
    { "\200\2", KIND_PICKLE }, { "\200\3", KIND_PICKLE },
    { "\200\4", KIND_PICKLE }, { "\200\5", KIND_PICKLE },
    { "\211HDF", KIND_HDF5 },
    { "<!", KIND_PAGE }, { "<html", KIND_PAGE }, { "\37\213\b", KIND_PACKED },
    { "lmgg", KIND_GGML }, { "fmgg", KIND_GGML }, { "tjgg", KIND_GGML },
    { "{", KIND_JSON }, { "[", KIND_JSON } };
  if (n == 0) return KIND_NONE;
  /* safetensors: a length below 2^40, then a brace */
  if (n > 8 && byte[5] == 0 && byte[6] == 0 && byte[7] == 0 && byte[8] == '{')
    return KIND_TENSORS;
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
    if (begins(byte, n, marks[i].mark)) return marks[i].kind;
  return KIND_UNKNOWN;
}

/* A safetensors file with a broken header and settings with a comma too many are of the right
   kind, and keep the sentence that they have. */
bool misfit_bytes(const char *path, const unsigned char *byte, size_t n,
  bool json, struct error *why)
{
  enum kind_number kind = kind_of(byte, n);
  if (kind < KIND_JSON || (kind == KIND_JSON && !json))
    error_found(why, path, "this", kinds[kind].name, kinds[kind].wanted);
  return false;
}

static bool misfit_file(const char *path, struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return false;
  const struct file_kind *kind = &kinds[kind_of(map.bytes, map.size)];
  const char *wanted = kind == &kinds[KIND_JSON] ? kinds[KIND_UNKNOWN].wanted
    : kind->wanted;
  error_found(why, path, "this", kind->name, wanted);
  file_unmap(&map);
  return false;
}

static bool ends_as(const char *name, const char *end)
{
  size_t n = strlen(name), k = strlen(end);
  return n > k && strcmp(name + n - k, end) == 0;
}

/* If the file that we want is missing from a directory, we look for another file of
   weights. */
static bool is_of_weights(const char *name)
{
  static const char *const ends[] = { ".gguf", ".bin", ".pt", ".pth",
    ".ckpt", ".h5", ".msgpack", ".onnx", ".safetensors" };
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
    if (ends_as(name, ends[i])) return true;
  return false;
}

static bool is_eyes(const char *name)
{
  return strstr(name, "mmproj") != NULL;
}

/* The first by the alphabet, so that the sentence is the same on every file system; but the part of
   a model that sees, which lies beside the model as mmproj, only if there is no other. How many GGUF
   files there are besides such parts is counted: of several the user chooses. */
static size_t find_weights(const char *directory, char found[256])
{
  DIR *list = opendir(directory);
  size_t n = 0;
  found[0] = '\0';
  for (struct dirent *e; list != NULL && (e = readdir(list)) != NULL; ) {
    const char *name = e->d_name;
    if (!is_of_weights(name) || strlen(name) >= 256) continue;
    n += !is_eyes(name) && ends_as(name, ".gguf");
    int later = found[0] == '\0' ? -1 : (int) is_eyes(name) - (int) is_eyes(found);
    if (later < 0 || (later == 0 && strcmp(name, found) < 0)) strcpy(found, name);
  }
  if (list != NULL) closedir(list);
  return n;
}

/* Where Hugging Face's library keeps what it has downloaded, a model lies in a folder below
   snapshots, whose name is a commit; the folder above, which has the model's name, has none of it. */
static bool misfit_cache(const char *path, struct error *why)
{
  char below[PATH_CAP], first[256] = "";
  if (!path_find(below, path, "snapshots", F_OK)) return false;
  DIR *list = opendir(below);
  for (struct dirent *e; list != NULL && (e = readdir(list)) != NULL; )
    if (e->d_name[0] != '.' && strlen(e->d_name) < sizeof first
        && (first[0] == '\0' || strcmp(e->d_name, first) < 0)) strcpy(first, e->d_name);
  if (list != NULL) closedir(list);
  return first[0] != '\0' && error_say(why, "%.160s: this is a folder of Hugging Face's cache;"
    " wanted: the model within it, as -m %.160s/snapshots/%.60s", path, path, first);
}

/* An adapter first: it is only the difference between a model and a fine-tuned one, and its
   settings have a file name of their own. For other files the first bytes decide what the
   sentence says; a file of tensors under another name, or one of weights that we do not know, is
   mentioned only if the missing file is the weights. Often that is one of several shards whose
   index was not downloaded. */
static bool misfit_directory(const char *path, const char *missing,
  struct error *why)
{
  char at[PATH_CAP], found[256], is[400];
  if (path_find(at, path, "adapter_config.json", F_OK))
    return error_found(why, at, "this",
      "of a LoRA adapter, which is no model by itself",
      "its base model with the adapter merged into it (merge_and_unload of peft)");
  size_t several = find_weights(path, found);
  struct mapping map;
  if (found[0] == '\0' || !path_join(at, path, found, NULL)
      || !file_map(&map, at, NULL)) return misfit_cache(path, why);
  enum kind_number kind = kind_of(map.bytes, map.size);
  file_unmap(&map);
  if (kind >= KIND_JSON && (kind == KIND_JSON || !is_of_weights(missing)))
    return false;
  if (kind == KIND_GGUF && several > 1) {
    snprintf(is, sizeof is, "missing, and there are %zu GGUF files, the first of them %s",
      several, found);
    return error_found(why, path, missing, is, "the path of one of them, as in -m FILE.gguf");
  }
  if (kind == KIND_TENSORS && strstr(found, "-of-") != NULL) {
    snprintf(is, sizeof is, "missing, and there is %s, one of several parts", found);
    return error_found(why, path, missing, is,
      "model.safetensors.index.json as well, which names the parts");
  }
  snprintf(is, sizeof is, "missing, and there is %s, %s", found,
    kind == KIND_UNKNOWN ? "weights for another program" : kinds[kind].name);
  return error_found(why, path, missing, is, kind < KIND_JSON ? kinds[kind].wanted : SAVE_AGAIN);
}

/* Many programs take the name of a model on Hugging Face's hub, such as openai-community/gpt2,
   and download what they do not have. Ours opens files and never asks the network for any; a
   user who is used to the others needs to be told so, and told what to type. A name is of the
   hub if it is two words with a slash between, and there is no folder of the first name. */
static bool is_of_hub(const char *path)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  char owner[100];
  size_t n = strspn(path, letters), k = path[n] == '/' ? strspn(path + n + 1, letters) : 0;
  if (n == 0 || n >= sizeof owner || k == 0 || path[n + 1 + k] != '\0') return false;
  snprintf(owner, sizeof owner, "%.*s", (int) n, path);
  return *path != '.' && !is_of_weights(path) && access(owner, F_OK) != 0;
}

static bool misfit_nothing(const char *path, const char *reason, struct error *why)
{
  static const char wanted[] =
    "wanted: the directory of a model, or a GGUF file; nothing is downloaded here";
  if (!is_of_hub(path)) return error_say(why, "%.200s: cannot be opened: %s; %s",
    path, reason, wanted);
  return error_say(why, "%s: cannot be opened: %s; %s:"
    " hf download %.100s --local-dir DIR fetches it, and -m DIR opens it",
    path, reason, wanted, path);
}

/* Does the path lead to a file, to a directory, or nowhere? */
bool misfit_path(const char *path, const char *missing, struct error *why)
{
  struct stat about;
  if (stat(path, &about) != 0) return misfit_nothing(path, strerror(errno), why);
  if (S_ISREG(about.st_mode)) return misfit_file(path, why);
  return S_ISDIR(about.st_mode) && misfit_directory(path, missing, why);
}
