/* running.c -- a template that is run: found beside a model or in a file, and used where a row of the table would be.

   Its text is one string, in which marks, frame and words are no longer told apart; yet what a speaker says must not become a mark. So
   a talk whose words spell no special token is printed and encoded as the library would. If they do, each such place gets a sign that
   is no character, and that no one has written, behind its first letter, before the template runs; what is then found in the text is the
   template's own, and the signs are taken out of all that lies between. */

#define _POSIX_C_SOURCE 200809L
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "gguf/gguf.h"
#include "safetensors/jsonfile.h"
#include "templates/inside.h"
#include "templates/jinja.h"

enum { SIGNS = 32, SIGN_BYTES = 3, TOKEN_NAMES = 7 };

/* the tokens that a template may ask for by name; in a GGUF file they are ids */
static const char *const token_name[TOKEN_NAMES] = { "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
  "mask_token" };
static const char *const token_key[TOKEN_NAMES] = { "tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id",
  "tokenizer.ggml.unknown_token_id", "tokenizer.ggml.seperator_token_id", "tokenizer.ggml.padding_token_id",
  "tokenizer.ggml.cls_token_id", "tokenizer.ggml.mask_token_id" };

/* source of n bytes; what is given besides the turns; ids of tokens by name, -1: none; when the talk began; the file that the
   source is from */
struct jinja_program {
  struct chat_template as;
  struct frame around;
  char *source;
  size_t n;
  json_t *tools, *variables;
  int64_t token[TOKEN_NAMES];
  char now[32], from[128];
};

/* ---- where it is found ---- */

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
    json_t *v = json_object_get(from, token_name[i]);
    if (json_is_object(v)) v = json_object_get(v, "content");
    if (json_is_string(v) && json_object_get(variables, token_name[i]) == NULL) json_object_set(variables, token_name[i], v);
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

static bool keep_file(struct jinja_program *p, struct memory *m, const char *path, struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return false;
  json_t *text = map.size > JSONFILE_MAX_SETTINGS ? NULL : json_stringn((const char *) map.bytes, map.size);
  bool ok = text != NULL || error_say(why, "%s: is not a text of at most %d bytes", path, JSONFILE_MAX_SETTINGS);
  ok = ok && keep(p, m, path, json_string_value(text), json_string_length(text), why);
  json_decref(text);
  file_unmap(&map);
  return ok;
}

static bool keep_gguf(struct jinja_program *p, struct memory *m, const char *path, bool source, struct error *why)
{
  struct mapping map;
  struct gguf_file g;
  struct gguf_words words;
  if (!file_map(&map, path, why)) return false;
  bool ok = gguf_read(&g, m, path, map.bytes, map.size, why);
  for (size_t i = 0; ok && i < TOKEN_NAMES; i++) {
    const struct gguf_entry *e = gguf_find(&g, token_key[i]);
    if (e != NULL && gguf_integer(e) && e->count == 1) p->token[i] = (int64_t) gguf_number(e, 0);
  }
  const struct gguf_entry *e = ok && source ? gguf_find(&g, "tokenizer.chat_template") : NULL;
  if (ok && source) ok = e != NULL ? gguf_string(e, &words) || error_found(why, path, "tokenizer.chat_template", "not a text", "one in UTF-8")
    : has_none(path, why);
  ok = ok && (!source || keep(p, m, path, words.text, words.n, why));
  gguf_free(&g);
  file_unmap(&map);
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

/* ---- words that spell a mark ---- */

/* do these words hold a special token, as the tokenizer would find it? */
static bool spells_mark(const struct tokenizer *v, struct memory *m, const struct turn *t, bool *yes, struct error *why)
{
  struct ids list = { NULL, 0, 0 };
  *yes = false;
  bool ok = t->n == 0 || tokenizer_encode(v, m, t->text, t->n, false, true, &list, why);
  for (size_t i = 0; ok && i < list.n; i++) *yes = *yes || tokenizer_is_special(v, list.id[i]);
  ids_free(m, &list);
  return ok;
}

/* the longest special token that begins here; 0 bytes if there is none */
static size_t mark_at(const struct tokenizer *v, const char *text, size_t n, uint32_t *id)
{
  size_t longest = 0;
  for (size_t i = 0; i < tokenizer_added_count(v); i++) {
    struct tokenizer_added a = tokenizer_added_at(v, i);
    if (!a.special || a.n <= longest || a.n > n || a.byte[0] != (unsigned char) text[0] || memcmp(a.byte, text, a.n) != 0) continue;
    longest = a.n, *id = a.id;
  }
  return longest;
}

/* the bytes of a noncharacter, U+FDD0 and so on */
static void sign_of(int i, char sign[SIGN_BYTES])
{
  sign[0] = (char) 0xef, sign[1] = (char) 0xb7, sign[2] = (char) (0x90 + i);
}

static bool has_sign(const char *text, size_t n, const char sign[SIGN_BYTES])
{
  for (size_t i = 0; i + SIGN_BYTES <= n; i++) if (memcmp(text + i, sign, SIGN_BYTES) == 0) return true;
  return false;
}

static bool free_sign(const struct jinja_program *p, const struct turn *talk, size_t n, char sign[SIGN_BYTES], struct error *why)
{
  for (int i = 0; i < SIGNS; i++) {
    sign_of(i, sign);
    bool used = has_sign(p->source, p->n, sign);
    for (size_t k = 0; !used && k < n; k++) used = has_sign(talk[k].text, talk[k].n, sign);
    if (!used) return true;
  }
  return error_say(why, "the turns spell special tokens and have every noncharacter that could keep them apart");
}

/* the words with the sign behind the first letter of each mark */
static bool disguise(const struct tokenizer *v, struct memory *m, const struct turn *t, const char sign[SIGN_BYTES], struct bytes *out,
  struct error *why)
{
  uint32_t id;
  for (size_t i = 0; i < t->n; i++) {
    size_t k = mark_at(v, t->text + i, t->n - i, &id), first = 1;
    while (k > 0 && first < k && ((unsigned char) t->text[i + first] & 0xc0) == 0x80) first++;
    if (!bytes_push(m, out, t->text + i, k > 0 ? first : 1, why)) return false;
    if (k == 0) continue;
    i += first - 1;
    if (!bytes_push(m, out, sign, SIGN_BYTES, why)) return false;
  }
  return true;
}

/* ---- the talk as messages ---- */

static bool add_message(json_t *list, enum role who, const char *text, size_t n, size_t number, struct error *why)
{
  static const char *const role[] = { "system", "user", "assistant" };
  json_t *content = json_stringn(n > 0 ? text : "", n);
  if (content == NULL) return error_say(why, "turn %zu is no UTF-8; wanted: text, for the template is run", number);
  json_array_append_new(list, json_pack("{s:s, s:o}", "role", role[who], "content", content));
  return true;
}

static json_t *make_messages(const struct tokenizer *v, struct memory *m, const struct turn *talk, size_t n, const char *sign,
  struct error *why)
{
  json_t *list = json_array();
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) {
    struct bytes text = { NULL, 0, 0 };
    if (sign == NULL) ok = add_message(list, talk[i].who, talk[i].text, talk[i].n, i + 1, why);
    else ok = disguise(v, m, &talk[i], sign, &text, why) && add_message(list, talk[i].who, (const char *) text.byte, text.n, i + 1, why);
    bytes_free(m, &text);
  }
  if (ok) return list;
  json_decref(list);
  return NULL;
}

/* the variables, and the tokens that a GGUF file has by number */
static json_t *make_variables(const struct jinja_program *p, const struct tokenizer *v)
{
  json_t *all = json_copy(p->variables);
  for (size_t i = 0; i < TOKEN_NAMES; i++) {
    size_t n = 0;
    if (p->token[i] < 0 || p->token[i] > UINT32_MAX || json_object_get(all, token_name[i]) != NULL) continue;
    const unsigned char *text = tokenizer_text(v, (uint32_t) p->token[i], &n);
    if (n > 0) json_object_set_new(all, token_name[i], json_stringn((const char *) text, n));
  }
  return all;
}

static bool print_talk(const struct jinja_program *p, const struct tokenizer *v, struct memory *m, const struct turn *talk, size_t n,
  bool reply, const char *sign, struct jinja_answer *out, struct error *why)
{
  json_t *messages = make_messages(v, m, talk, n, sign, why), *variables = make_variables(p, v);
  struct jinja_request q = { .messages = messages, .tools = p->tools, .kwargs = variables, .add_generation_prompt = reply, .now = p->now };
  struct error inside;
  bool ok = messages != NULL && (jinja_render(m, p->source, p->n, &q, out, &inside) || error_say(why, "%s: %s", p->from, inside.text));
  json_decref(messages);
  json_decref(variables);
  return ok;
}

/* ---- from text to ids ---- */

/* what lies between two marks, without signs */
static bool encode_between(const struct tokenizer *v, struct memory *m, const char *text, size_t n, const char *sign, bool first,
  struct ids *out, struct error *why)
{
  struct bytes plain = { NULL, 0, 0 };
  bool ok = true;
  for (size_t i = 0; ok && i < n;) {
    bool here = i + SIGN_BYTES <= n && memcmp(text + i, sign, SIGN_BYTES) == 0;
    if (!here) ok = bytes_push(m, &plain, text + i, 1, why);
    i += here ? SIGN_BYTES : 1;
  }
  if (ok && plain.n > 0) ok = first ? tokenizer_encode(v, m, (const char *) plain.byte, plain.n, false, false, out, why)
    : tokenizer_encode_inside(v, m, (const char *) plain.byte, plain.n, out, why);
  bytes_free(m, &plain);
  return ok;
}

/* Where words spell marks, a mark is what is found with the signs in place. */
static bool encode_signed(const struct tokenizer *v, struct memory *m, const struct bytes *all, const char *sign, struct ids *out,
  struct error *why)
{
  const char *text = (const char *) all->byte;
  size_t from = 0;
  bool ok = true;
  for (size_t i = 0; ok && i < all->n;) {
    uint32_t id;
    size_t k = mark_at(v, text + i, all->n - i, &id);
    if (k > 0) {
      ok = encode_between(v, m, text + from, i - from, sign, from == 0, out, why) && ids_push(m, out, id, why);
      from = i + k;
    }
    i += k > 0 ? k : 1;
  }
  return ok && encode_between(v, m, text + from, all->n - from, sign, from == 0, out, why);
}

/* BOS is there if the template prints it, as in the library; so nothing is added. */
bool program_ids(struct memory *m, const struct jinja_program *p, const struct tokenizer *v, const struct turn *talk, size_t n,
  bool reply, struct ids *out, struct error *why)
{
  struct jinja_answer a;
  char sign[SIGN_BYTES];
  bool any = false, one, ok = true;
  size_t start = out->n;
  for (size_t i = 0; ok && !any && i < n; i++) ok = spells_mark(v, m, &talk[i], &one, why), any = one;
  if (!ok || (any && !free_sign(p, talk, n, sign, why))) return false;
  if (!print_talk(p, v, m, talk, n, reply, any ? sign : NULL, &a, why)) return false;
  if (any) ok = encode_signed(v, m, &a.text, sign, out, why);
  else if (a.text.n > 0) ok = tokenizer_encode(v, m, (const char *) a.text.byte, a.text.n, false, true, out, why);
  jinja_answer_free(m, &a);
  if (!ok) out->n = start;
  return ok;
}

/* The mark behind an answer is what the template prints there. A template that does not print our answer, or nothing special behind it,
   has none, and the model's own end tokens serve. */
bool program_ends(struct memory *m, const struct jinja_program *p, const struct tokenizer *v, struct ids *out, struct error *why)
{
  static const char answer[] = "Quite so, 7351";
  const struct turn talk[2] = { { ROLE_USER, "x", 1 }, { ROLE_ASSISTANT, answer, sizeof answer - 1 } };
  struct jinja_answer a;
  size_t at = 0, n = sizeof answer - 1;
  uint32_t id;
  if (!print_talk(p, v, m, talk, 2, false, NULL, &a, NULL)) return true;
  const char *text = (const char *) a.text.byte;
  while (at + n <= a.text.n && memcmp(text + at, answer, n) != 0) at++;
  at += n;
  while (at < a.text.n && strchr(" \n", text[at]) != NULL) at++;
  bool ok = at >= a.text.n || mark_at(v, text + at, a.text.n - at, &id) == 0 || ids_push(m, out, id, why);
  jinja_answer_free(m, &a);
  return ok;
}
