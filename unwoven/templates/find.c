/* find.c -- a template for a model: by a hash of its published program, or none.

   A program that is nearly one of ours is no such program: a template that is nearly right
   makes a model answer a little worse, and nobody knows why. So an unknown program is
   refused with a message that lists the names a user may give. */

#define _POSIX_C_SOURCE 200809L
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "gguf/parts.h"
#include "safetensors/excerpt.h"
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
#include "templates/inside.h"

/* FNV-1a of the program, but for what prints alike: backslash n is a newline in Jinja's
   strings, and white space at the end prints nothing. It need not be cryptographic: an
   attacker could construct a program with the hash of another, and would only give the
   conversations of his own model the wrong format. */
static uint64_t key_of(const char *text, size_t n)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  while (n > 0 && memchr(" \t\r\n", text[n - 1], 4) != NULL) n--;
  for (size_t i = 0; i < n; i++) {
    bool line = i + 1 < n && text[i] == '\\' && text[i + 1] == 'n';
    i += line;
    h = (h ^ (line ? '\n' : (unsigned char) text[i]))
      * UINT64_C(0x100000001b3);
  }
  return h;
}

/* Each published with its model: ChatML as OpenHermes and Dolphin have it, and as Qwen3 has
   it in its later versions without thoughts; Qwen2; Qwen2.5; the thinking Qwen3, twice;
   SmolLM2; Llama 2; Llama 3, twice; Llama 3.1 and 3.3, which are the same, and Llama 3.2;
   Mistral 7B 0.2 and Mixtral, as they were first published, and the former as it was later.
   Source and licence of each text are in tests/golden/conversations/templates.json, and a
   test compares the table with them. Llama 3's first program asks for an answer even if the
   caller does not want one; a chat always wants one. Two are missing: Mistral 7B 0.1 was
   first published with a blank after each answer, which no row has; and no two copies of
   Mistral's third that we found were alike. */
static const struct { uint64_t key; const char *name; } published[] = {
  { UINT64_C(0x88bf4138d5c826f0), "chatml" },
  { UINT64_C(0x773d13e188afc917), "chatml" },
  { UINT64_C(0xe62b0eb869d628c3), "chatml" },
  { UINT64_C(0x8a87094e0e1e24c5), "qwen2" },
  { UINT64_C(0x11d394755cef9355), "qwen2.5" },
  { UINT64_C(0xabb815b933a4981a), "qwen3" },
  { UINT64_C(0x521e84e1430005c3), "qwen3" },
  { UINT64_C(0x45ec583d4d25bc3a), "smollm2" },
  { UINT64_C(0x4d1512049817743d), "llama2" },
  { UINT64_C(0x74891e390e614ae2), "llama3" },
  { UINT64_C(0x0e60067a5537498e), "llama3" },
  { UINT64_C(0x4fd30286bc0da17c), "llama3.1" },
  { UINT64_C(0x1a6da26e3aef1b34), "llama3.1" },
  { UINT64_C(0x8c734b90b4f8d84d), "mistral" },
  { UINT64_C(0xd99e5b4469be13b3), "mistral-v1" } };

const struct chat_template *chat_template_known(const char *text,
  size_t n)
{
  uint64_t key = key_of(text, n);
  for (size_t i = 0; i < sizeof published / sizeof *published; i++)
    if (published[i].key == key)
      return chat_template_named(published[i].name, NULL);
  return NULL;
}

/* The field may be a list of several programs, of which "default" is for conversations. */
static const json_t *field_of(const json_t *settings)
{
  json_t *v = json_object_get(settings, "chat_template"), *one;
  size_t i;
  json_array_foreach(v, i, one) {
    const char *name =
      json_string_value(json_object_get(one, "name"));
    if (name != NULL && strcmp(name, "default") == 0)
      return json_object_get(one, "template");
  }
  return v;
}

/* An edited program mostly keeps the marks of the one that it came from: a good guess for a
   person to try, and a bad one for us to make. A field that is not a text at all gets the
   same message without the guess. */
static const char *similar_names(const json_t *program, char buffer[160])
{
  const char *text = json_is_string(program) ? json_string_value(program) : "";
  size_t n = 0;
  buffer[0] = '\0';
  const struct chat_template *t;
  for (size_t i = 0; (t = chat_template_at(i)) != NULL; i++) {
    const char *mark = t->around->end, *from = mark + 1;
    char sign[32];
    if (mark[0] != '{') continue;
    snprintf(sign, sizeof sign, "%.*s", (int) strcspn(from, "}"), from);
    if (strstr(text, sign) == NULL) continue;
    n += (size_t) snprintf(buffer + n, 160 - n, "%s%s", n == 0 ? "" : ", ", t->name);
  }
  return buffer;
}

/* We name those that end an answer alike, and the user chooses. The sentence has room for
   all names twice; jsonfile_excerpt removes the characters that could disturb a terminal. */
static const struct chat_template *judge(json_t *program,
  const char *path, struct error *why)
{
  char buffer[64], names[160], alike[160], wanted[340];
  const struct chat_template *t = !json_is_string(program) ? NULL
    : chat_template_known(json_string_value(program),
    json_string_length(program));
  similar_names(program, alike);
  snprintf(wanted, sizeof wanted, "a published template that is "
    "known here, or the name of one: %s%s%s%s",
    chat_template_names(names), *alike == '\0' ? "" : " (", alike,
    *alike == '\0' ? "" : " end an answer alike)");
  if (t == NULL) error_found(why, path, "chat_template",
    jsonfile_excerpt(program, buffer), wanted);
  return t;
}

/* A file of its own becomes a JSON string, so that both cases go through the same check.
   Bytes that are not UTF-8 make no string; if they are those of a file of another kind, the
   message names that kind. */
static const struct chat_template *judge_file(const char *path,
  struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return NULL;
  json_t *program = map.size > JSONFILE_MAX_SETTINGS ? NULL
    : json_stringn((const char *) map.bytes, map.size);
  const struct chat_template *t = NULL;
  if (program == NULL) error_say(why, "%s: is not a text of at most %d bytes",
    path, JSONFILE_MAX_SETTINGS);
  else t = judge(program, path, why);
  if (t == NULL) misfit_bytes(path, map.bytes, map.size, true, why);
  json_decref(program);
  file_unmap(&map);
  return t;
}

/* Absence is no fault of the file, so null, in JSON's sense, and the caller finds the
   sentence; NULL is a fault. */
static json_t *program_in_gguf(const char *path, struct error *why)
{
  struct memory m = { .fail_at = 0 };
  struct gguf_parts p;
  struct gguf_words words;
  json_t *program = NULL;
  if (!gguf_parts_open(&p, &m, path, why)) return NULL;
  const struct gguf_entry *e = gguf_find(&p.part[0].g, "tokenizer.chat_template");
  if (e == NULL) program = json_null();
  else if (!gguf_string(e, &words)
    || (program = json_stringn(words.text, words.n)) == NULL)
    error_found(why, path, "tokenizer.chat_template", "not a text", "one in UTF-8");
  gguf_parts_close(&p);
  return program;
}

/* A file of its own takes precedence over a field. If a directory has neither, its model
   was not trained on conversations, or its makers did not say in which format; then the
   user has to name a template. */
const struct chat_template *chat_template_of(const char *folder,
  struct error *why)
{
  char path[PATH_CAP], names[160];
  bool one_file = gguf_recognizes(folder);
  if (!one_file && path_find(path, folder, "chat_template.jinja", F_OK))
    return judge_file(path, why);
  if (one_file) snprintf(path, sizeof path, "%s", folder);
  json_t *settings = json_null();
  if (one_file) settings = program_in_gguf(folder, why);
  else if (path_find(path, folder, "chat_template.json", F_OK)
      || path_find(path, folder, "tokenizer_config.json", F_OK))
    settings = jsonfile_read(path, JSONFILE_MAX_SETTINGS, why);
  const json_t *v = one_file ? settings : field_of(settings);
  const struct chat_template *t = NULL;
  if (settings != NULL && (v == NULL || json_is_null(v)))
    error_say(why, "%.120s: has no chat template; its name may be given: %s",
      folder, chat_template_names(names));
  else if (settings != NULL) t = judge((json_t *) v, path, why);
  json_decref(settings);
  return t;
}

/* A model that has one was trained on conversations, and does not expect a plain prompt.
   Only a hint: what cannot be read counts as none, and no model is refused because of it. */
bool chat_template_given(const char *folder)
{
  char path[PATH_CAP];
  bool one_file = gguf_recognizes(folder);
  if (path_find(path, folder, "chat_template.jinja", R_OK)) return true;
  json_t *settings = NULL;
  if (one_file) settings = program_in_gguf(folder, NULL);
  else if (path_find(path, folder, "chat_template.json", R_OK)
      || path_find(path, folder, "tokenizer_config.json", R_OK))
    settings = jsonfile_read(path, JSONFILE_MAX_SETTINGS, NULL);
  json_t *v = one_file ? settings : json_object_get(settings, "chat_template");
  bool given = v != NULL && !json_is_null(v);
  json_decref(settings);
  return given;
}
