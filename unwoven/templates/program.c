/* program.c -- a template that is run, used where a row of the table would be.

   Its text is one string, in which marks, frame and words are no longer told apart; yet what a speaker says must not become a mark. So
   a talk whose words spell no special token is printed and encoded as the library would. If they do, each such place gets a sign that
   is no character, and that no one has written, behind its first letter, before the template runs; what is then found in the text is the
   template's own, and the signs are taken out of all that lies between. */

#include <string.h>
#include "templates/jinja.h"
#include "templates/program.h"

enum { SIGNS = 32, SIGN_BYTES = 3 };

const char *program_token_name(size_t i)
{
  static const char *const token_name[TOKEN_NAMES] = { "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
    "mask_token" };
  return token_name[i];
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
  sign[0] = (char) 0xef, sign[1] = (char) 0xb7;
  sign[2] = (char) (0x90 + i);
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
static bool disguise(const struct tokenizer *v, struct memory *m, const struct turn *t,
  const char sign[SIGN_BYTES], struct bytes *out, struct error *why)
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
    if (p->token[i] < 0 || p->token[i] > UINT32_MAX || json_object_get(all, program_token_name(i)) != NULL) continue;
    const unsigned char *text = tokenizer_text(v, (uint32_t) p->token[i], &n);
    if (n > 0) json_object_set_new(all, program_token_name(i), json_stringn((const char *) text, n));
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
