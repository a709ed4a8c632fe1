/* tokenizer_json.c -- a tokenizer from a file: which kind it is, and in which order its
   parts are read.

   A file that is neither BPE nor Unigram is of another kind, which is no error (ours); a file of our kind
   with anything that we do not do is one, and so is a broken file, which deserves a message
   and not silence. Parts are read in the order in which they refer to each other, which is
   not that of the file: words, decoder, added tokens and all stages before
   tokenizer_index_added, after which nothing may be added to the string pool; then what
   goes around a text. */

#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "gguf/parts.h"
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
#include "sentencepiece/sentencepiece.h"
#include "tokenizer-json/gguf_tokenizer.h"
#include "tokenizer-json/reader.h"

enum { MAX_JSON = 64 << 20 };

/* jansson is told to be strict: a key that comes twice is an error, while U+0000 is a
   character like any other. The length is limited before parsing, since the tree takes many
   times the memory of the text, and outside our accounts; the limit is twice the largest
   that was published. What is not JSON may be of another kind that we recognize, and then
   the message names it. */
static json_t *read_json(const char *path, size_t *bytes,
  struct error *why)
{
  struct mapping map;
  json_error_t trouble;
  if (!file_map(&map, path, why)) return NULL;
  *bytes = map.size;
  json_t *v = map.size > MAX_JSON ? NULL
    : json_loadb((const char *) map.bytes, map.size,
      JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &trouble);
  if (*bytes > MAX_JSON)
    error_say(why, "%s: this has %zu bytes; wanted: at most %d of JSON",
      path, *bytes, MAX_JSON);
  else if (v == NULL)
    error_say(why, "%s: line %d, column %d: %s; wanted: strict JSON",
      path, trouble.line, trouble.column,
      jsonfile_trouble(&trouble, (const char *) map.bytes, map.size));
  if (v == NULL) misfit_bytes(path, map.bytes, map.size, true, why);
  file_unmap(&map);
  return v;
}

/* Without a post-processor a second file, tokenizer_config.json, decides whether a text
   begins or ends with a special token. It names the token by its text, or by an object that
   has the text in it. Where no token is named, the one that a model of SentencePiece has
   named is meant. The file is full of other things, but they do not change an encoding. */
static bool read_bracket(struct json_reader *r, json_t *config,
  const char *wish, const char *which, uint32_t id, bool otherwise,
  struct ids *list)
{
  bool add;
  if (!reader_flag(r, "", config, wish, otherwise, &add)) return false;
  if (!add) return true;
  json_t *v = json_object_get(config, which);
  if (json_is_object(v)) v = json_object_get(v, "content");
  if (value_says_nothing(v) && id != 0)
    return ids_push(r->m, list, id - 1, r->why);
  if (!json_is_string(v)
      || !tokenizer_find(r->t, json_string_value(v),
      json_string_length(v), &id))
    return reader_refuse(r, which, v, "the text of a token");
  return ids_push(r->m, list, id, r->why);
}

/* If there is no second file, only the first one counts. */
static bool read_config(struct json_reader *r)
{
  const char *file = r->file;
  char path[PATH_CAP];
  bool here = path_beside(path, file, "tokenizer_config.json", NULL)
    && access(path, F_OK) == 0;
  /* while we read it, messages name the second file */
  if (here) r->file = path;
  size_t bytes;
  json_t *config = here ? read_json(path, &bytes, r->why) : NULL;
  bool ok = (!here || config != NULL)
    && read_bracket(r, config, "add_bos_token", "bos_token", r->begin,
    r->begin != 0, &r->t->prefix_ids)
    && read_bracket(r, config, "add_eos_token", "eos_token", r->end,
      false, &r->t->suffix_ids);
  json_decref(config);
  r->file = file;
  return ok;
}

/* At any depth of nested sequences, and before the vocabulary is read, because it
   says how words are spelt. */
static bool has_byte_level(json_t *v)
{
  const char *type = json_string_value(json_object_get(v, "type"));
  size_t i;
  json_t *each;
  if (type == NULL) return false;
  if (strcmp(type, "ByteLevel") == 0) return true;
  json_array_foreach(json_object_get(v, "pretokenizers"), i, each)
    if (has_byte_level(each)) return true;
  return false;
}

/* A model that names no type is BPE if it has merges, and Unigram if its words are a list; older files
   are like that. */
static bool is_ours(struct json_reader *r, json_t *file)
{
  json_t *model = json_object_get(file, "model");
  json_t *type = json_object_get(model, "type");
  /* more likely a broken file than a new kind */
  if (!json_is_object(model)) {
    r->ours = true;
    return reader_refuse(r, "model", model, "an object");
  }
  const char *name = json_string_value(type);
  r->unigram = type == NULL ? json_object_get(model, "merges") == NULL
    && json_is_array(json_object_get(model, "vocab")) : name != NULL && strcmp(name, "Unigram") == 0;
  r->ours = r->unigram || (type == NULL ? json_object_get(model, "merges") != NULL
    : name != NULL && strcmp(name, "BPE") == 0);
  r->t->char_level = !has_byte_level(json_object_get(file,
    "pre_tokenizer"));
  r->t->kind = r->t->char_level ? "BPE on characters"
    : "byte-level BPE";
  return r->ours || reader_refuse(r, "model.type", type,
    "BPE or Unigram (another kind of tokenizer)");
}

/* Each part is read after the parts that it refers to. The words come before the decoder,
   which changes their texts, and both before the added tokens, which decode as they are
   written. These, and all stages, come before the tables that point into the pool of
   strings: a fuzzer found a stage whose strings were added after the tables, and moved what
   they pointed to. Without a post-processor, another file may say what goes around a text.
   There has been one version of the form so far; a file of the next may mean something else
   by the same words. Truncation and padding concern batches of texts; a training program
   may have left them in the file. We do neither, and say so when asked. */
static bool read_description(struct json_reader *r, json_t *file)
{
  json_t *post = json_object_get(file, "post_processor"),
    *stages = json_object_get(file, "pre_tokenizer");
  if (!is_ours(r, file) || !reader_keys(r, "", file,
    "version added_tokens normalizer pre_tokenizer "
    "post_processor decoder model truncation padding "))
    return false;
  json_t *version = json_object_get(file, "version");
  if (!value_says_nothing(version) && !(json_is_string(version)
      && strcmp(json_string_value(version), "1.0") == 0))
    return reader_refuse(r, "version", version, "\"1.0\"");
  /* see what is for batches of texts */
  r->t->ignored[0] = !value_says_nothing(json_object_get(file,
    "truncation"));
  r->t->ignored[1] = !value_says_nothing(json_object_get(file, "padding"));
  if (!words_read_model(r, json_object_get(file, "model"))
    || !stages_read_normalizer(r, "normalizer",
      json_object_get(file, "normalizer"))
    || !decoder_read(r, "decoder", json_object_get(file, "decoder")))
    return false;
  if (!r->t->char_level && !r->fused) return reader_refuse(r, "decoder",
    json_object_get(file, "decoder"), "a ByteLevel in it");
  /* From here on stages are the pre-tokenizer's. Strings and stages first, then the
     tables that point to them. */
  r->t->n_normalizers = r->t->n_steps;
  return words_read_added(r, json_object_get(file, "added_tokens"))
    && ((r->t->char_level && value_says_nothing(stages))
      || (stages_read(r, "pre_tokenizer", stages) && stages_end(r)))
    && tokenizer_index_added(r->m, r->t, r->why)
    && (json_is_null(post) || post == NULL ? read_config(r)
      : around_read(r, "post_processor", post));
}

/* In messages the field is the line's number, counted from 1, as in an editor. */
static bool read_line(struct json_reader *r, const char *text, size_t n,
  size_t line_number)
{
  char field[40];
  bool whole;
  const char *blank = memchr(text, ' ', n);
  snprintf(field, sizeof field, "line %zu", line_number);
  /* jansson checks this in JSON; to_bytes trusts it */
  if (utf8_run((const unsigned char *) text, n, &whole) != n
    || !whole) return error_found(r->why, r->file, field, "not UTF-8",
    "two words");
  if (blank == NULL) return error_found(r->why, r->file, field,
    "without a blank", "two words with a blank between");
  size_t n_a = (size_t) (blank - text);
  return words_read_merge(r, text, n_a, blank + 1, n - n_a - 1, field);
}

/* One merge per line; the first line may give the version. Lines may end as on Windows, and
   empty lines are skipped. If a list is refused, it may be a file of another kind; then its
   bytes say more than the line that was not a merge. */
static bool read_lines(struct json_reader *r, const char *path)
{
  struct mapping map;
  if (!file_map(&map, path, r->why)) return false;
  bool ok = true;
  r->file = path;
  for (size_t line_number = 1, at = 0; ok && at < map.size;
       line_number++) {
    const char *text = (const char *) map.bytes + at,
      *stop = memchr(text, '\n', map.size - at);
    size_t n = stop == NULL ? map.size - at : (size_t) (stop - text);
    at += n + 1;
    if (n > 0 && text[n - 1] == '\r') n--;
    /* a later line that begins with # is a merge of that sign */
    if (n > 0 && !(line_number == 1 && n >= 8
      && memcmp(text, "#version", 8) == 0)) ok = read_line(r, text, n,
      line_number);
  }
  if (!ok) misfit_bytes(path, map.bytes, map.size, true, r->why);
  file_unmap(&map);
  return ok;
}

/* GPT-2 was published before tokenizer.json existed, as a vocabulary and a list of merges.
   What is in neither file was in GPT-2's program, so it is here: the pattern, and that one
   word is special. The message names the file that is at fault. */
static bool read_pair_of_files(struct json_reader *r, const char *vocab,
  const char *merges)
{
  static const char end_of_text[] = "<|endoftext|>";
  struct added_token x = { .special = true };
  r->file = vocab, r->ours = true;
  r->vocab = read_json(vocab, &r->bytes, r->why);
  bool ok = r->vocab != NULL && words_read(r, "")
    && read_lines(r, merges);
  if (ok && tokenizer_find(r->t, end_of_text, strlen(end_of_text),
    &x.id)) {
    /* as a special token, or its letters would be encoded like any text */
    x.text = r->t->vocab[x.id].text;
    ok = tokenizer_add_token(r->m, r->t, &x, r->why);
  }
  r->file = vocab;
  r->t->kind = "byte-level BPE";
  ok = ok && tokenizer_index_added(r->m, r->t, r->why)
    && stages_cut_at(r, "", split_gpt2, strlen(split_gpt2))
    && read_config(r);
  json_decref(r->vocab);
  return ok;
}

/* A file that cannot be parsed counts as ours: it deserves a message and not silence. */
static bool read_json_file(struct json_reader *r, const char *path)
{
  json_t *file = read_json(path, &r->bytes, r->why);
  /* Mistral's has a list of words with their bytes, and no model */
  bool tekken = json_is_array(json_object_get(file, "vocab"))
    && json_is_object(json_object_get(file, "config"));
  bool ok = file != NULL && (json_is_object(file)
    || reader_refuse(r, "this", file, "an object"))
    && (tekken ? tekken_read(r, file) : read_description(r, file));
  json_decref(file);
  return ok;
}

/* The model says which pieces begin and end a text, but not whether they are added;
   that is in the file beside it, if there is one. */
static bool read_scores(struct json_reader *r, const unsigned char *byte,
  size_t n)
{
  return sentencepiece_read(r->m, r->t, r->file, byte, n, &r->begin,
    &r->end, &r->ours, r->why) && read_config(r);
}

/* A word in base64, a blank and a number: neither JSON nor a message of protobuf
   begins like that. */
static bool is_rank_line(const unsigned char *c, size_t n)
{
  size_t i = 0, digits = 0;
  while (i < n && c[i] > ' ') i++;
  if (i == 0 || i == n || c[i] != ' ') return false;
  for (i++; i < n && c[i] >= '0' && c[i] <= '9'; i++) digits++;
  return digits > 0 && (i == n || c[i] == '\n' || c[i] == '\r');
}

enum file_content { CONTENT_JSON, CONTENT_RANKS, CONTENT_PIECES,
  CONTENT_GGUF };

/* By what it contains; names are changed by users. A model and its first piece both begin
   with the byte 10. Everything else is taken for JSON, and the parser's message says what
   is wrong with it. */
static enum file_content file_content(const unsigned char *c, size_t n)
{
  size_t k = 0;
  while (k < n && strchr(" \t\r\n", c[k]) != NULL && c[k] != 0) k++;
  if (n >= 4 && memcmp(c, "GGUF", 4) == 0) return CONTENT_GGUF;
  if (k < n && c[k] == '{') return CONTENT_JSON;
  if (is_rank_line(c, n < 1000 ? n : 1000)) return CONTENT_RANKS;
  if (n > 2 && c[0] == 10 && c[2] == 10) return CONTENT_PIECES;
  return CONTENT_JSON;
}

/* The vocabulary is in the first of several parts, whichever was named. */
static bool read_gguf(struct json_reader *r, const char *path)
{
  struct gguf_parts p;
  if (!gguf_parts_open(&p, r->m, path, r->why)) return false;
  bool ok = gguf_tokenizer_read(r->m, r->t, &p.part[0].g, &r->found, r->why);
  gguf_parts_close(&p);
  return ok;
}

/* The readers of ranks and pieces take the bytes of the mapped file; JSON is mapped once
   more by its reader, which is also called for files that have that name, and so is GGUF. */
static bool read_file(struct json_reader *r, const char *path)
{
  struct mapping map;
  r->file = path, r->ours = true;
  if (!file_map(&map, path, r->why)) return false;
  bool ok = true;
  enum file_content what = file_content(map.bytes, map.size);
  if (what == CONTENT_RANKS)
    ok = tiktoken_read(r->m, r->t, path, map.bytes, map.size, r->why);
  if (what == CONTENT_PIECES) ok = read_scores(r, map.bytes, map.size);
  file_unmap(&map);
  if (what == CONTENT_GGUF) ok = read_gguf(r, path);
  return what == CONTENT_JSON ? read_json_file(r, path) : ok;
}

/* In a directory we look for six kinds of files; the most informative comes first. Two of
   them are pairs, and half of a pair is useless. Any other path is read as a file, even
   if it does not exist, since opening it gives the better message. */
static bool read_path(struct json_reader *r, const char *path,
  bool *absent)
{
  char one[PATH_CAP], two[PATH_CAP];
  struct stat about;
  *absent = false;
  if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
    return read_file(r, path);
  if (path_find(one, path, "tokenizer.json", F_OK)) return read_file(r, one);
  if (path_find(one, path, "vocab.json", F_OK)
    && path_find(two, path, "merges.txt", F_OK)) return read_pair_of_files(r,
    one, two);
  if (path_find(one, path, "encoder.json", F_OK)
    && path_find(two, path, "vocab.bpe", F_OK)) return read_pair_of_files(r,
    one, two);
  static const char *const others[] = { "tokenizer.model", "tekken.json", "qwen.tiktoken" };
  for (int i = 0; i < 3; i++)
    if (path_find(one, path, others[i], F_OK)) return read_file(r, one);
  *absent = true;
  return error_say(r->why,
    "%s: no tokenizer.json here, nor vocab.json and merges.txt, nor encoder.json and "
    "vocab.bpe, nor tokenizer.model, tekken.json or qwen.tiktoken", path);
}

/* Four outcomes, for a command that can run a model without a tokenizer for a user who
   supplies ids. On failure the half that was built is closed: the caller gets a whole
   tokenizer or none. */
enum tokenizer_found tokenizer_try(struct memory *m, const char *path,
  struct tokenizer **t, struct error *why)
{
  struct json_reader r = { .m = m, .why = why };
  bool absent = false;
  *t = r.t = memory_alloc(m, MEMORY_TOKENS, 1, sizeof **t, why);
  if (r.t == NULL) return TOKENIZER_REFUSED;
  bool ok = read_path(&r, path, &absent);
  bytes_free(m, &r.row);
  if (ok) return TOKENIZER_OPEN;
  tokenizer_close(m, *t);
  *t = NULL;
  /* nothing there, another kind, or wrong: the command can go on after the first two */
  if (absent) return TOKENIZER_ABSENT;
  if (r.found != TOKENIZER_OPEN) return r.found;
  return r.ours ? TOKENIZER_REFUSED : TOKENIZER_OTHER_KIND;
}

/* For a caller that cannot go on without a tokenizer, and needs only the message. */
struct tokenizer *tokenizer_open(struct memory *m, const char *path,
  struct error *why)
{
  struct tokenizer *t;
  tokenizer_try(m, path, &t, why);
  return t;
}
