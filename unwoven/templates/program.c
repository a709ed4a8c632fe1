/* program.c -- a template that is run, used where a row of the table would be.

   Its text is one string, in which marks, frame and words are no longer told apart; yet what a speaker says must not become a mark. So
   the interpreter keeps account of every byte that a speaker said, wherever the template puts it, and a mark is a mark if none of its
   bytes is one. A text without such a place is encoded as the library would. Else it is cut at the marks that are the template's own,
   and all that lies between two of them is text. */

#include <string.h>
#include "templates/jinja.h"
#include "templates/calls.h"
#include "templates/program.h"

const char *program_token_name(size_t i)
{
  static const char *const token_name[TOKEN_NAMES] = { "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
    "mask_token" };
  return token_name[i];
}

/* ---- marks ---- */

/* a vocabulary, and which bytes its special tokens begin with */
struct marks { const struct tokenizer *v; bool first[256]; };

static void know_marks(struct marks *k, const struct tokenizer *v)
{
  *k = (struct marks) { .v = v };
  for (size_t i = 0; i < tokenizer_added_count(v); i++) {
    struct tokenizer_added a = tokenizer_added_at(v, i);
    if (a.special && a.n > 0) k->first[a.byte[0]] = true;
  }
}

/* the longest special token that begins here and is no speaker's in any byte; 0 bytes if there is none. *theirs if one begins that is */
static size_t mark_at(const struct marks *k, const struct jinja_answer *t, size_t at,
  uint32_t *id, bool *theirs)
{
  const unsigned char *text = t->text.byte + at;
  size_t longest = 0;
  for (size_t i = 0; k->first[text[0]] && i < tokenizer_added_count(k->v); i++) {
    struct tokenizer_added a = tokenizer_added_at(k->v, i);
    if (!a.special || a.n == 0 || a.n > t->text.n - at) continue;
    if (memcmp(a.byte, text, a.n) != 0) continue;
    bool said = t->said != NULL && memchr(t->said + at, 1, a.n) != NULL;
    *theirs = *theirs || said;
    if (!said && a.n > longest) longest = a.n, *id = a.id;
  }
  return longest;
}

/* how many marks the template put there, and whether words spell one anywhere, or part of one */
static size_t count_marks(const struct marks *k, const struct jinja_answer *t, bool *theirs)
{
  size_t n = 0, after = 0;
  uint32_t id;
  for (size_t i = 0; i < t->text.n; i++) {
    size_t size = mark_at(k, t, i, &id, theirs);
    if (size > 0 && i >= after) n++, after = i + size;
  }
  return n;
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

static json_t *make_messages(const struct turn *talk, size_t n, struct error *why)
{
  json_t *list = json_array();
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) ok = add_message(list, talk[i].who, talk[i].text, talk[i].n, i + 1, why);
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
    if (p->token[i] < 0 || p->token[i] > UINT32_MAX || json_object_get(all, program_token_name(i)) != NULL) continue;
    const unsigned char *text = tokenizer_text(v, (uint32_t) p->token[i], &n);
    if (n > 0) json_object_set_new(all, program_token_name(i), json_stringn((const char *) text, n));
  }
  return all;
}

/* builtin: the tool f is one that the model was trained with, which Llama 3.1's template wants to be told, and whose calls look different */
static bool print_messages(const struct jinja_program *p, const struct tokenizer *v, struct memory *m, json_t *messages, json_t *tools,
  bool reply, bool builtin, struct jinja_answer *out, struct error *why)
{
  json_t *variables = make_variables(p, v);
  if (builtin) json_object_set_new(variables, "builtin_tools", json_pack("[s]", "f"));
  struct jinja_request q = { .messages = messages, .tools = tools, .kwargs = variables, .add_generation_prompt = reply, .account = true,
    .now = p->now };
  struct error inside;
  bool ok = messages != NULL && (jinja_render(m, p->source, p->n, &q, out, &inside) || error_say(why, "%s: %s", p->from, inside.text));
  json_decref(variables);
  return ok;
}

static bool print_talk(const struct jinja_program *p, const struct tokenizer *v, struct memory *m, const struct turn *talk, size_t n,
  bool reply, struct jinja_answer *out, struct error *why)
{
  json_t *messages = make_messages(talk, n, why);
  bool ok = print_messages(p, v, m, messages, p->tools, reply, false, out, why);
  json_decref(messages);
  return ok;
}

/* ---- from text to ids ---- */

/* what lies between two marks */
static bool encode_between(const struct marks *k, struct memory *m, const char *text, size_t from, size_t to, struct ids *out,
  struct error *why)
{
  if (from == to) return true;
  return from == 0 ? tokenizer_encode(k->v, m, text, to, false, false, out, why)
    : tokenizer_encode_inside(k->v, m, text + from, to - from, out, why);
}

/* Where words spell marks, the marks are those of the template. */
static bool encode_apart(const struct marks *k, struct memory *m, const struct jinja_answer *t, struct ids *out, struct error *why)
{
  const char *text = (const char *) t->text.byte;
  size_t from = 0;
  bool ok = true, theirs = false;
  for (size_t i = 0; ok && i < t->text.n;) {
    uint32_t id;
    size_t size = mark_at(k, t, i, &id, &theirs);
    if (size > 0) {
      ok = encode_between(k, m, text, from, i, out, why) && ids_push(m, out, id, why);
      from = i + size;
    }
    i += size > 0 ? size : 1;
  }
  return ok && encode_between(k, m, text, from, t->text.n, out, why);
}

/* Encodes as the library does, unless that finds more special tokens than the template has put there: a tokenizer may see one in letters
   that it changes first. */
static bool encode_text(const struct marks *k, struct memory *m, const struct jinja_answer *t, struct ids *out, struct error *why)
{
  bool theirs = false;
  size_t own = count_marks(k, t, &theirs), start = out->n, special = 0;
  if (t->text.n == 0) return true;
  if (theirs) return encode_apart(k, m, t, out, why);
  if (!tokenizer_encode(k->v, m, (const char *) t->text.byte, t->text.n, false, true, out, why)) return false;
  for (size_t i = start; i < out->n; i++) special += tokenizer_is_special(k->v, out->id[i]);
  if (special <= own) return true;
  out->n = start;
  return encode_apart(k, m, t, out, why);
}

/* BOS is there if the template prints it, as in the library; so nothing is added. */
bool program_ids(struct memory *m, const struct jinja_program *p, const struct tokenizer *v, const struct turn *talk, size_t n,
  bool reply, struct ids *out, struct error *why)
{
  struct jinja_answer a;
  struct marks k;
  size_t start = out->n;
  if (!print_talk(p, v, m, talk, n, reply, &a, why)) return false;
  know_marks(&k, v);
  bool ok = encode_text(&k, m, &a, out, why);
  jinja_answer_free(m, &a);
  if (!ok) out->n = start;
  return ok;
}

/* ---- what ends an answer, and what a call of tools looks like ---- */

static bool is_in(const struct ids *list, uint32_t id)
{
  for (size_t i = 0; i < list->n; i++) if (list->id[i] == id) return true;
  return false;
}

static size_t times_in(const struct ids *list, uint32_t id)
{
  size_t n = 0;
  for (size_t i = 0; i < list->n; i++) n += list->id[i] == id;
  return n;
}

/* the template's marks in their order; *last: the text ends with one, but for blanks and newlines */
static bool list_marks(const struct marks *k, struct memory *m, const struct jinja_answer *t, struct ids *out, bool *last, struct error *why)
{
  bool ok = true, theirs;
  *last = false;
  for (size_t i = 0; ok && i < t->text.n;) {
    uint32_t id;
    size_t n = mark_at(k, t, i, &id, &theirs);
    if (n > 0) ok = ids_push(m, out, id, why), *last = true;
    else if (t->text.byte[i] != ' ' && t->text.byte[i] != '\n') *last = false;
    i += n > 0 ? n : 1;
  }
  return ok;
}

/* A question, and an answer that calls tools so many times. Some templates want the arguments as an object, some as text; and an id of nine
   letters, as Mistral's do, suits all. */
static json_t *make_calls(size_t calls, bool text)
{
  static const char *const name[] = { "call00001", "call00002" };
  json_t *list = json_array();
  for (size_t i = 0; i < calls; i++)
    json_array_append_new(list, json_pack("{s:s, s:s, s:{s:s, s:o}}", "id", name[i], "type", "function", "function", "name", "f", "arguments",
      text ? json_string("{\"x\": 1}") : json_pack("{s:i}", "x", 1)));
  return json_pack("[{s:s, s:s}, {s:s, s:s, s:o}]", "role", "user", "content", "x", "role", "assistant", "content", "", "tool_calls", list);
}

static json_t *make_tools(const struct jinja_program *p)
{
  if (p->tools != NULL) return json_incref(p->tools);
  return json_pack("[{s:s, s:{s:s, s:s, s:{s:s, s:{s:{s:s, s:s}}, s:[s]}}}]", "type", "function", "function", "name", "f", "description", "f",
    "parameters", "type", "object", "properties", "x", "type", "integer", "description", "x", "required", "x");
}

/* The talk with two calls, if the template can say that; else with one. False if it knows no calls at all, and out is then empty. */
static bool print_calls(const struct jinja_program *p, const struct tokenizer *v, struct memory *m, json_t *tools, bool builtin,
  struct jinja_answer *out)
{
  for (int way = 0; way < 4; way++) {
    json_t *talk = make_calls(way < 2 ? 2 : 1, way % 2 == 1);
    bool ok = print_messages(p, v, m, talk, tools, false, builtin, out, NULL);
    json_decref(talk);
    if (ok) return true;
  }
  return false;
}

static bool print_plain(const struct jinja_program *p, const struct tokenizer *v, struct memory *m, json_t *tools, bool builtin,
  struct jinja_answer *out)
{
  json_t *talk = json_pack("[{s:s, s:s}, {s:s, s:s}]", "role", "user", "content", "x", "role", "assistant", "content", "y");
  bool ok = print_messages(p, v, m, talk, tools, false, builtin, out, NULL);
  json_decref(talk);
  return ok;
}

/* Marks that are in a talk with calls and not in one without are those of calls. One that comes at the end, and once though there were two
   calls, ends the turn; the others are parts of a call. */
static bool take_calls(const struct marks *k, struct memory *m,
  const struct jinja_answer *with, const struct jinja_answer *plain, struct ids *inside,
  struct ids *end, struct error *why)
{
  struct ids all = { NULL, 0, 0 }, old = { NULL, 0, 0 };
  bool last, any;
  bool ok = list_marks(k, m, plain, &old, &any, why)
    && list_marks(k, m, with, &all, &last, why);
  for (size_t i = 0; ok && i < all.n; i++) {
    uint32_t id = all.id[i];
    bool ends = last && id == all.id[all.n - 1] && times_in(&all, id) == 1;
    struct ids *to = ends ? end : inside;
    if (!is_in(&old, id) && !is_in(to, id)) ok = ids_push(m, to, id, why);
  }
  ids_free(m, &all), ids_free(m, &old);
  return ok;
}

static bool learn_calls(struct memory *m, const struct jinja_program *p, const struct tokenizer *v, struct ids *inside, struct ids *end,
  struct error *why)
{
  struct jinja_answer with, plain;
  struct marks k;
  json_t *tools = make_tools(p);
  bool ok = true;
  know_marks(&k, v);
  for (int builtin = 0; ok && builtin < 2; builtin++) {
    if (!print_calls(p, v, m, tools, builtin == 1, &with)) continue;
    if (print_plain(p, v, m, tools, builtin == 1, &plain)) ok = take_calls(&k, m, &with, &plain, inside, end, why), jinja_answer_free(m, &plain);
    jinja_answer_free(m, &with);
  }
  json_decref(tools);
  return ok;
}

bool conversations_calls(struct memory *m, const struct chat_template *by, const struct tokenizer *v, struct ids *inside,
  struct ids *end, struct error *why)
{
  size_t before = inside->n, before_end = end->n;
  if (by->around->run == NULL || learn_calls(m, by->around->run, v, inside, end, why)) return true;
  inside->n = before;
  end->n = before_end;
  return false;
}

/* The mark behind an answer is what the template prints there. A template that does not print our answer, or nothing special behind it,
   has none, and the model's own end tokens serve. */
bool program_ends(struct memory *m, const struct jinja_program *p, const struct tokenizer *v, struct ids *out, struct error *why)
{
  static const char answer[] = "Quite so, 7351";
  const struct turn talk[2] = { { ROLE_USER, "x", 1 }, { ROLE_ASSISTANT, answer, sizeof answer - 1 } };
  struct jinja_answer a;
  struct marks k;
  size_t at = 0, n = sizeof answer - 1, start = out->n;
  uint32_t id;
  bool theirs;
  if (!print_talk(p, v, m, talk, 2, false, &a, NULL)) return true;
  know_marks(&k, v);
  const char *text = (const char *) a.text.byte;
  while (at + n <= a.text.n && memcmp(text + at, answer, n) != 0) at++;
  at += n;
  while (at < a.text.n && strchr(" \n", text[at]) != NULL) at++;
  bool ok = at >= a.text.n || mark_at(&k, &a, at, &id, &theirs) == 0 || ids_push(m, out, id, why);
  jinja_answer_free(m, &a);
  if (!ok) out->n = start;
  return ok;
}
