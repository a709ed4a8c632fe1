/* opening.c -- a template is found beside a model or in a file. A program that is a row of the table is that row; any other is kept, to be
   run. */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "gguf/parts.h"
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
#include "templates/program.h"

/* in a GGUF file the tokens are ids */
static const char *const token_key[TOKEN_NAMES] = { "tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id",
  "tokenizer.ggml.unknown_token_id", "tokenizer.ggml.seperator_token_id", "tokenizer.ggml.padding_token_id",
  "tokenizer.ggml.cls_token_id", "tokenizer.ggml.mask_token_id" };

/* a field that is a text, or a list of texts by name; the first that is wanted */
static json_t *choose(json_t *v, bool tools)
{
  const char *const wanted[] = { tools ? "tool_use" : "default", "default" };
  json_t *one;
  size_t i;
  for (size_t k = 0; k < 2; k++)
    json_array_foreach(v, i, one) {
      const char *name = json_string_value(json_object_get(one, "name"));
      if (name != NULL && strcmp(name, wanted[k]) == 0) return json_object_get(one, "template");
    }
  return v;
}

/* a token's text: a string, or an object with one under content */
static void take_tokens(json_t *variables, const json_t *from)
{
  for (size_t i = 0; i < TOKEN_NAMES; i++) {
    json_t *v = json_object_get(from, program_token_name(i));
    if (json_is_object(v)) v = json_object_get(v, "content");
    if (json_is_string(v) && json_object_get(variables, program_token_name(i)) == NULL) json_object_set(variables, program_token_name(i), v);
  }
}

static void tokens_beside(struct jinja_program *p, const char *folder)
{
  static const char *const files[] = { "tokenizer_config.json", "special_tokens_map.json" };
  char path[PATH_CAP];
  for (size_t i = 0; i < 2; i++) {
    if (!path_find(path, folder, files[i], R_OK)) continue;
    json_t *v = jsonfile_read(path, JSONFILE_MAX_INDEX, NULL);
    take_tokens(p->variables, v);
    json_decref(v);
  }
}

static bool keep(struct jinja_program *p, struct memory *m, const char *path, const char *text, size_t n, struct error *why)
{
  snprintf(p->from, sizeof p->from, "%s%s", strlen(path) > 100 ? "..." : "", path + (strlen(path) > 100 ? strlen(path) - 100 : 0));
  p->source = memory_alloc(m, MEMORY_OTHER, n + 1, 1, why);
  if (p->source == NULL) return false;
  memcpy(p->source, text, n);
  p->n = n;
  return true;
}

static bool has_none(const char *path, struct error *why)
{
  char names[160];
  return error_say(why, "%.120s: has no chat template; its name may be given: %s", path, chat_template_names(names));
}

static bool keep_field(struct jinja_program *p, struct memory *m, json_t *v, const char *path, struct error *why)
{
  char buffer[64];
  if (json_is_null(v)) return has_none(path, why);
  if (!json_is_string(v)) return error_found(why, path, "chat_template", jsonfile_excerpt(v, buffer), "a text, or a list with one for default");
  return keep(p, m, path, json_string_value(v), json_string_length(v), why);
}

/* A file of another kind, as the pointer that a repository without its large files has, is no template, though it may be text. */
static bool keep_file(struct jinja_program *p, struct memory *m, const char *path, struct error *why)
{
  struct mapping map;
  struct error misfit = { "" };
  if (!file_map(&map, path, why)) return false;
  misfit_bytes(path, map.bytes, map.size, true, &misfit);
  json_t *text = map.size > JSONFILE_MAX_SETTINGS ? NULL : json_stringn((const char *) map.bytes, map.size);
  bool ok = text != NULL || error_say(why, "%s: is not a text of at most %d bytes", path, JSONFILE_MAX_SETTINGS);
  if (misfit.text[0] != '\0') ok = error_say(why, "%s", misfit.text);
  ok = ok && keep(p, m, path, json_string_value(text), json_string_length(text), why);
  json_decref(text);
  file_unmap(&map);
  return ok;
}

static bool keep_gguf(struct jinja_program *p, struct memory *m, const char *path, bool source, struct error *why)
{
  struct gguf_parts all;
  struct gguf_words words;
  if (!gguf_parts_open(&all, m, path, why)) return false;
  const struct gguf_file *g = &all.part[0].g;
  bool ok = true;
  for (size_t i = 0; i < TOKEN_NAMES; i++) {
    const struct gguf_entry *e = gguf_find(g, token_key[i]);
    if (e != NULL && gguf_integer(e) && e->count == 1) p->token[i] = (int64_t) gguf_number(e, 0);
  }
  const struct gguf_entry *e = source ? gguf_find(g, "tokenizer.chat_template") : NULL;
  if (source) ok = e != NULL ? gguf_string(e, &words) || error_found(why, path, "tokenizer.chat_template", "not a text", "one in UTF-8")
    : has_none(path, why);
  ok = ok && (!source || keep(p, m, path, words.text, words.n, why));
  gguf_parts_close(&all);
  return ok;
}

static bool keep_beside(struct jinja_program *p, struct memory *m, const char *folder, struct error *why)
{
  char path[PATH_CAP];
  if (path_find(path, folder, "chat_template.jinja", F_OK)) return keep_file(p, m, path, why);
  if (!path_find(path, folder, "chat_template.json", F_OK) && !path_find(path, folder, "tokenizer_config.json", F_OK))
    return has_none(folder, why);
  json_t *settings = jsonfile_read(path, JSONFILE_MAX_SETTINGS, why);
  json_t *v = choose(json_object_get(settings, "chat_template"), p->tools != NULL);
  bool ok = settings != NULL && (v == NULL ? has_none(folder, why) : keep_field(p, m, v, path, why));
  json_decref(settings);
  return ok;
}

static bool find_source(struct jinja_program *p, struct memory *m, const char *folder, const char *file, struct error *why)
{
  bool one_file = gguf_recognizes(folder);
  if (one_file && !keep_gguf(p, m, folder, file == NULL, why)) return false;
  if (!one_file) tokens_beside(p, folder);
  if (file != NULL) return keep_file(p, m, file, why);
  return one_file || keep_beside(p, m, folder, why);
}

static void set_clock(struct jinja_program *p)
{
  time_t now = time(NULL);
  struct tm t;
  if (localtime_r(&now, &t) == NULL || strftime(p->now, sizeof p->now, "%Y-%m-%dT%H:%M:%S", &t) == 0) snprintf(p->now, sizeof p->now, "1970-01-01T00:00:00");
}

/* A row of the table is its program's equal, and has been tested against it; with tools or variables the program itself is run. */
const struct chat_template *chat_template_open(struct memory *m, const char *folder, const struct template_settings *with,
  struct error *why)
{
  struct jinja_program *p = memory_alloc(m, MEMORY_OTHER, 1, sizeof *p, why);
  if (p == NULL) return NULL;
  p->around = (struct frame) { .begin = "", .open = { "", "", "" }, .close = { "", "", "" }, .end = "", .after = "", .reply = "", .run = p };
  p->as = (struct chat_template) { with->file != NULL ? "of a file" : "of the model, run", &p->around, NULL, false };
  p->tools = json_incref(with->tools);
  p->variables = with->variables != NULL ? json_copy(with->variables) : json_object();
  for (size_t i = 0; i < TOKEN_NAMES; i++) p->token[i] = -1;
  set_clock(p);
  bool ok = find_source(p, m, folder, with->file, why);
  const struct chat_template *known = ok ? chat_template_known(p->source, p->n) : NULL;
  bool plain = with->tools == NULL && with->variables == NULL;
  if (ok && (known == NULL || !plain)) return &p->as;
  chat_template_close(m, &p->as);
  return known;
}

void chat_template_close(struct memory *m, const struct chat_template *t)
{
  struct jinja_program *p = t == NULL ? NULL : (struct jinja_program *) t->around->run;
  if (p == NULL) return;
  json_decref(p->tools);
  json_decref(p->variables);
  memory_free(m, p->source);
  memory_free(m, p);
}
