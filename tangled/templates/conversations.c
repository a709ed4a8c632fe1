/* conversations.c -- The formats of conversations: turns become text, and text
   becomes ids in which no speaker can write a mark.
   made from workshop/07-templates.w; change it there

   A published template is a program; we do not run it but know it, by a hash of its
   text, and have what it prints as a row of a table, with each mark in braces, which
   no template uses. Each part of a rendered prompt keeps its kind: a mark, text of
   the template, or a speaker's words. A mark counts only where the template put it:
   we cut at those, look them up, and encode all that lies between two of them in one
   call, with special tokens off. So an honest conversation has the ids of Hugging
   Face's library, and a speaker's words never become a special token. What is no
   special token in a vocabulary has no such promise. */

#define _POSIX_C_SOURCE 200809L
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "gguf/gguf.h"
#include "safetensors/excerpt.h"
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
#include "templates/conversations.h"

/* <What surrounds the words> */

/* where the system's words go: into a turn of their own; the user's first turn; the
   last turn, if it is a user's */
enum system_place { OWN_TURN, IN_FIRST, IN_LAST, NOT_AT_ALL };
struct frame {
  const char *begin, *open[N_ROLES], *close[N_ROLES];
  /* of the assistant's turn; reply asks for one */
  const char *end, *after, *reply;
  enum system_place system_at;
  bool alternates, trims[N_ROLES];
};

#define SIGN(name) "{<|" name "|>}"
#define IM(role) SIGN("im_start") role "\n"
static const struct frame chatml = {
  .begin = "", .open = { IM("system"), IM("user"),
    IM("assistant") },
  .close = { SIGN("im_end") "\n", SIGN("im_end") "\n", "" },
  .end = SIGN("im_end"), .after = "\n",
  .reply = IM("assistant"), .system_at = OWN_TURN };

#define BEFORE SIGN("start_header_id")
#define BEHIND SIGN("end_header_id") "\n\n"
#define HEAD(role) BEFORE role BEHIND
static const struct frame llama3 = {
  .begin = SIGN("begin_of_text"), .open = { HEAD("system"),
    HEAD("user"), HEAD("assistant") },
  .close = { SIGN("eot_id"), SIGN("eot_id"), "" },
  .end = SIGN("eot_id"), .after = "", .reply = HEAD("assistant"),
  .system_at = OWN_TURN, .trims = { true, true, true } };

/* Llama 3.1's program prints this date if the caller passes none; a text that depends
   on the day could not be tested. */
static const struct frame llama3_dated = {
  .begin = SIGN("begin_of_text"), .open = { HEAD("system")
    "Cutting Knowledge Date: December 2023\n"
    "Today Date: 26 Jul 2024\n\n",
    HEAD("user"), HEAD("assistant") },
  .close = { SIGN("eot_id"), SIGN("eot_id"), "" },
  .end = SIGN("eot_id"), .after = "", .reply = HEAD("assistant"),
  .system_at = OWN_TURN, .trims = { true, true, true } };

/* No marks for turns: <s> and </s> go around a question and its answer, the rest is
   text. The system's words are stripped together with the question into which they
   go. */
static const struct frame llama2 = {
  .begin = "", .open = { "<<SYS>>\n", "{<s>}{[INST]} ", " " },
  .close = { "\n<</SYS>>\n\n", " {[/INST]}", " " },
  .end = "{</s>}", .after = "", .reply = "", .system_at = IN_FIRST,
  .alternates = true, .trims = { false, true, true } };

static const struct frame mistral = {
  .begin = "{<s>}", .open = { "", "{[INST]} ", "" },
  .close = { "", " {[/INST]}", "" },
  .end = "{</s>}", .after = "", .reply = "", .system_at = NOT_AT_ALL,
  .alternates = true };

/* The first program refuses a system's words, the next puts them into the first
   question, the third into the last, so that they move with every turn. In brackets:
   a token where the vocabulary has one, else text. */
static const struct frame mistral_v1 = {
  .begin = "{<s>}", .open = { "", " {[INST]} ", " " },
  .close = { "\n\n", " {[/INST]}", "" },
  .end = "{</s>}", .after = "", .reply = "", .system_at = IN_FIRST,
  .alternates = true };
static const struct frame mistral_v3 = {
  .begin = "{<s>}", .open = { "", "{[INST]} ", " " },
  .close = { "\n\n", "{[/INST]}", "" },
  .end = "{</s>}", .after = "", .reply = "", .system_at = IN_LAST,
  .alternates = true, .trims = { false, false, true } };

/* No blank after the last colon: the vocabulary puts it at the beginning of the next
   word. */
static const struct frame pocket = {
  .begin = "{<|endoftext|>}", .open = { "", "User: ",
    "Assistant: " },
  .close = { "", "\n", "" },
  .end = "\n", .after = "\n", .reply = "Assistant:",
  .system_at = NOT_AT_ALL, .alternates = true };

/* silent: the default system turn, or null */
struct chat_template { const char *name; const struct frame *around;
  const char *silent; bool thinks; };
static const struct chat_template table[] = {
  { "chatml", &chatml, NULL, false },
  { "qwen2", &chatml, "You are a helpful assistant.", false },
  { "qwen2.5", &chatml, "You are Qwen, created by Alibaba "
    "Cloud. You are a helpful assistant.", false },
  { "qwen3", &chatml, NULL, true },
  { "smollm2", &chatml, "You are a helpful AI assistant named "
    "SmolLM, trained by Hugging Face", false },
  { "llama2", &llama2, NULL, false },
  { "llama3", &llama3, NULL, false },
  { "llama3.1", &llama3_dated, "", false },
  { "mistral", &mistral, NULL, false },
  { "mistral-v1", &mistral_v1, NULL, false },
  { "mistral-v3", &mistral_v3, NULL, false },
  { "pocket", &pocket, NULL, false } };
enum { TEMPLATES = sizeof table / sizeof *table };

/* <Put a part at the end> */
struct writer { struct memory *m; struct rendered_prompt *out;
  struct error *why; };

/* Text of the template that follows the same becomes one part with it. If memory runs
   out after the text, the caller throws the script away. */
static bool put(struct writer *w, enum part_kind kind,
  enum role who, const char *text, size_t n)
{
  struct rendered_prompt *s = w->out;
  struct prompt_part *last = s->n > 0 ? &s->part[s->n - 1] : NULL;
  size_t at = s->text.n;
  if (n == 0) return true;
  if (!bytes_push(w->m, &s->text, text, n, w->why)) return false;
  if (kind == PROMPT_PART_FRAME && last != NULL && last->kind == kind) {
    last->n += n;
    return true;
  }
  /* <Make room for one more part> */
  struct prompt_part *p = memory_reserve(w->m, MEMORY_TOKENS, s->part,
    &s->cap, s->n + 1, 16,
    sizeof *p, w->why);
  if (p == NULL) return false;
  s->part = p;
  s->part[s->n++] = (struct prompt_part) { kind, who, at, n };
  return true;
}

/* <Put what the table says> */

/* The strings are our own: every brace is closed. */
static bool put_frame(struct writer *w, const char *words)
{
  while (*words != '\0') {
    bool sign = *words == '{';
    size_t n = strcspn(words + sign, sign ? "}" : "{");
    if (!put(w, sign ? PROMPT_PART_MARK : PROMPT_PART_FRAME, ROLE_SYSTEM,
      words + sign, n))
      return false;
    words += sign ? n + 2 : n;
  }
  return true;
}

/* <Take white space off> */

/* What Python's strip takes off: Unicode's white space and the four separators 1c to
   1f. A byte of no character is not white. */
static size_t blank_here(const unsigned char *text, size_t n)
{
  enum utf8_state state;
  size_t k = utf8_next(text, n, &state);
  uint32_t c = state == UTF8_WHOLE ? utf8_point(text, k) : 'x';
  bool blank = (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20)
    || c == 0x85 || c == 0xa0 || c == 0x1680
    || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029
    || c == 0x202f || c == 0x205f || c == 0x3000;
  return blank ? k : 0;
}

/* as far back as from, whoever the white space is from; parts that become empty go */
static void trim_end(struct rendered_prompt *s, size_t from)
{
  unsigned char *c = s->text.byte;
  while (s->text.n > from) {
    size_t k = s->text.n - 1;
    while (k > from && (c[k] & 0xc0) == 0x80) k--;
    if (blank_here(c + k, s->text.n - k) != s->text.n - k) break;
    s->text.n = k;
  }
  while (s->n > 0 && s->part[s->n - 1].at >= s->text.n) s->n--;
  if (s->n > 0 && s->part[s->n - 1].at + s->part[s->n - 1].n > s->text.n)
    s->part[s->n - 1].n = s->text.n - s->part[s->n - 1].at;
}

/* <Put a turn> */
static bool put_turn(struct writer *w, const struct frame *f,
  const struct turn *now, const struct turn *within)
{
  if (!put_frame(w, f->open[now->who])) return false;
  size_t from = w->out->text.n, k, at = 0;
  if (within != NULL && (!put_frame(w, f->open[ROLE_SYSTEM])
      || !put(w, PROMPT_PART_SAID, within->who, within->text, within->n)
      || !put_frame(w, f->close[ROLE_SYSTEM]))) return false;
  /* The system's words and the turn's own are stripped together, so the beginning
     only if nothing comes before it. */
  if (f->trims[now->who] && w->out->text.n == from)
    while (at < now->n && (k = blank_here((const unsigned char *)
        now->text + at, now->n - at)) > 0) at += k;
  if (!put(w, PROMPT_PART_SAID, now->who, now->text + at, now->n - at))
    return false;
  if (f->trims[now->who]) trim_end(w->out, from);
  return put_frame(w, f->close[now->who]) && (now->who != ROLE_ASSISTANT
    || (put_frame(w, f->end) && put_frame(w, f->after)));
}

/* <Take an answer's thought apart> */
static bool find(const struct turn *said, const char *word, bool last,
  size_t *at)
{
  size_t k = strlen(word);
  bool found = false;
  for (size_t i = 0; i + k <= said->n && !(found && !last); i++)
    if (memcmp(said->text + i, word, k) == 0) found = true, *at = i;
  return found;
}

/* around a thought and an answer the template has newlines of its own */
static void strip_lines(struct turn *t)
{
  while (t->n > 0 && *t->text == '\n') t->text++, t->n--;
}

/* The thought ends at the first </think>, the answer begins after the last: what lies
   between is dropped. */
static void part_thought(const struct turn *said, struct turn *thought,
  struct turn *rest)
{
  size_t at;
  *thought = (struct turn) { ROLE_ASSISTANT, said->text, 0 };
  *rest = *said;
  if (!find(said, "</think>", true, &at)) return;
  rest->text += at + 8, rest->n -= at + 8;
  strip_lines(rest);
  find(said, "</think>", false, &thought->n);
  while (thought->n > 0 && thought->text[thought->n - 1] == '\n')
    thought->n--;
  if (find(thought, "<think>", true, &at))
    thought->text += at + 7, thought->n -= at + 7;
  strip_lines(thought);
}

/* <Put an answer of one who thinks> */
static bool put_thinker(struct writer *w, const struct turn *said,
  bool late, bool last)
{
  struct turn thought, rest;
  struct frame f = chatml;
  part_thought(said, &thought, &rest);
  /* Thoughts before the last question are dropped; after it they stay, and a last
     answer without one gets an empty one. */
  if (!late || (!last && thought.n == 0))
    return put_turn(w, &f, &rest, NULL);
  strip_lines(&rest);
  /* The thought goes where the system's words would: no turn has both. */
  f.open[ROLE_SYSTEM] = "<think>\n", f.close[ROLE_SYSTEM] = "\n</think>\n\n";
  return put_turn(w, &f, &rest, &thought);
}

/* <Look at the order of the turns> */

/* Stricter than the programs in two things: the system speaks first or not at all,
   and if its words go into a question, there is one; Llama 2's program would lose
   them. */
static bool in_order(const struct chat_template *t,
  const struct turn *talk, size_t n, struct error *why)
{
  static const char *const whose[] = { "the system's", "the user's",
    "the assistant's" };
  size_t first = n > 0 && talk[0].who == ROLE_SYSTEM;
  const struct frame *f = t->around;
  if (first == 1 && f->system_at == NOT_AT_ALL)
    return error_say(why, "the template %s has no place for a system turn", t->name);
  if (n == 0 || (first == n && f->system_at != OWN_TURN))
    return error_say(why, "the template %s needs a turn of the user, and there is none", t->name);
  for (size_t i = first; i < n; i++) {
    enum role due = (i - first) % 2 == 0 ? ROLE_USER : ROLE_ASSISTANT;
    if (talk[i].who == ROLE_SYSTEM || (f->alternates && talk[i].who != due))
      return error_say(why, "turn %zu is %s; the template %s wants %s there",
        i + 1, whose[talk[i].who], t->name,
        f->alternates ? whose[due] : "another's");
  }
  return true;
}

bool chat_template_rewrites(const struct chat_template *t,
  const struct turn *talk, size_t n)
{
  return t->thinks || (t->around->system_at == IN_LAST && n > 0
    && talk[0].who == ROLE_SYSTEM);
}

static bool may_begin(const struct chat_template *t,
  const struct turn *talk, size_t n, size_t from, struct error *why)
{
  /* only an answer is sure to end with a mark, and only there can two halves be
     encoded separately */
  if (from > 0 && (from > n || talk[from - 1].who != ROLE_ASSISTANT))
    return error_say(why, "a conversation of %zu turns cannot be "
      "continued after turn %zu, which is not an answer", n, from);
  if (from > 0 && chat_template_rewrites(t, talk, from))
    return error_say(why, "the template %s changes earlier turns; all must be written again",
      t->name);
  return true;
}

/* <Put the beginning, or what follows an answer> */

/* After an answer, which ended with a mark, only what follows that mark. */
static bool put_beginning(struct writer *w,
  const struct chat_template *t, const struct turn *talk, bool follows)
{
  const struct frame *f = t->around;
  if (follows) return put_frame(w, f->after);
  if (!put_frame(w, f->begin)) return false;
  if (f->system_at != OWN_TURN) return true;
  if (talk[0].who == ROLE_SYSTEM) return put_turn(w, f, &talk[0], NULL);
  return t->silent == NULL || (put_frame(w, f->open[ROLE_SYSTEM])
    && put_frame(w, t->silent) && put_frame(w, f->close[ROLE_SYSTEM]));
}

/* <Put the turns> */

/* To Qwen3, a user's turn that is the reply of a tool is no question, so thoughts
   live through calls of tools. */
static bool is_question(const struct turn *said)
{
  static const char open[] = "<tool_response>",
    close[] = "</tool_response>";
  size_t k = sizeof open - 1, l = sizeof close - 1;
  return said->who == ROLE_USER && !(said->n >= l
    && memcmp(said->text, open, k) == 0
    && memcmp(said->text + said->n - l, close, l) == 0);
}

/* question: how many turns there are up to the last question; 0 if there is none, and
   then all thoughts are dropped. */
static bool put_turns(struct writer *w, const struct chat_template *t,
  const struct turn *talk, size_t n, size_t from)
{
  size_t first = talk[0].who == ROLE_SYSTEM, question = n;
  while (question > 0 && !is_question(&talk[question - 1])) question--;
  for (size_t i = from > first ? from : first; i < n; i++) {
    bool here = first == 1 && talk[i].who == ROLE_USER
      && ((t->around->system_at == IN_FIRST && i == 1)
      || (t->around->system_at == IN_LAST && i == n - 1));
    bool ok;
    if (t->thinks && talk[i].who == ROLE_ASSISTANT)
      ok = put_thinker(w, &talk[i], question > 0 && i >= question,
        i == n - 1);
    else
      ok = put_turn(w, t->around, &talk[i], here ? &talk[0] : NULL);
    if (!ok) return false;
  }
  return true;
}

/* <Write a script> */
bool prompt_render(struct memory *m, const struct chat_template *by,
  const struct turn *talk, size_t n, size_t from, bool reply,
  struct rendered_prompt *out, struct error *why)
{
  struct writer w = { m, out, why };
  *out = (struct rendered_prompt) { .by = by, .inside = from > 0 };
  if (in_order(by, talk, n, why) && may_begin(by, talk, n, from, why)
      && put_beginning(&w, by, talk, from > 0)
      && put_turns(&w, by, talk, n, from)
      && (!reply || put_frame(&w, by->around->reply))) return true;
  prompt_free(m, out);
  return false;
}

void prompt_free(struct memory *m, struct rendered_prompt *s)
{
  bytes_free(m, &s->text);
  memory_free(m, s->part);
  *s = (struct rendered_prompt) { .by = s->by };
}

/* <Find the token of a mark> */

/* A token that is not flagged special would be found in a speaker's words, too, and
   the promise would be empty. A word in brackets is text where the vocabulary has no
   token for it (Mistral's first ones). */
static bool find_mark(const struct rendered_prompt *s, size_t i,
  const struct tokenizer *v, bool *there, uint32_t *id,
  struct error *why)
{
  const struct prompt_part *p = &s->part[i];
  const char *text = (const char *) s->text.byte + p->at;
  *there = p->kind == PROMPT_PART_MARK && tokenizer_find(v, text, p->n, id)
    && tokenizer_is_special(v, *id);
  return *there || p->kind != PROMPT_PART_MARK || *text == '['
    || error_say(why, "the template %s wants the token %.*s, and "
      "this vocabulary has none that is marked special",
      s->by->name, (int) p->n, text);
}

/* <Encode what lies between two marks> */

/* Only the very first stretch is the beginning of a text, before which some files put
   a block. */
static bool encode_stretch(const struct rendered_prompt *s, size_t from,
  size_t to, struct tokenizer *v, struct memory *m, struct ids *out,
  struct error *why)
{
  const char *text = (const char *) s->text.byte + from;
  if (from == to) return true;
  return from > 0 || s->inside
    ? tokenizer_encode_inside(v, m, text, to - from, out, why)
    : tokenizer_encode(v, m, text, to - from, false, false, out, why);
}

/* <Encode a script> */
bool prompt_encode(const struct rendered_prompt *s, struct tokenizer *v,
  struct memory *m, struct ids *out, struct error *why)
{
  size_t start = out->n, done = 0;
  bool ok = true, there;
  for (size_t i = 0; ok && i < s->n; i++) {
    uint32_t id;
    ok = find_mark(s, i, v, &there, &id, why);
    if (!ok || !there) continue;
    ok = encode_stretch(s, done, s->part[i].at, v, m, out, why)
      && ids_push(m, out, id, why);
    done = s->part[i].at + s->part[i].n;
  }
  ok = ok && encode_stretch(s, done, s->text.n, v, m, out, why);
  if (!ok) out->n = start;
  return ok;
}

/* <Encode a conversation> */
bool conversations_ids(struct memory *m, const struct chat_template *by,
  struct tokenizer *v, const struct turn *talk, size_t n, size_t from,
  bool reply, struct ids *out, struct error *why)
{
  struct rendered_prompt s;
  if (!prompt_render(m, by, talk, n, from, reply, &s, why)) return false;
  bool ok = prompt_encode(&s, v, m, out, why);
  prompt_free(m, &s);
  return ok;
}

/* <Find what ends an answer> */

/* Not every model lists its mark among the tokens that end a text; Llama 3's first
   files did not. */
bool conversations_ends(struct memory *m, const struct chat_template *by,
  struct tokenizer *v, struct ids *out, struct error *why)
{
  struct rendered_prompt s = { .by = by, .inside = true };
  struct writer w = { m, &s, why };
  bool ok = put_frame(&w, by->around->end)
    && prompt_encode(&s, v, m, out, why);
  prompt_free(m, &s);
  return ok;
}

/* <Find a template by its name> */
const struct chat_template *chat_template_at(size_t i)
{
  return i < TEMPLATES ? &table[i] : NULL;
}

const char *chat_template_name(const struct chat_template *t)
{
  return t->name;
}

static const char *all_names(char buffer[160])
{
  size_t n = 0;
  for (size_t i = 0; i < TEMPLATES && n < 160; i++)
    n += (size_t) snprintf(buffer + n, 160 - n, "%s%s",
      i == 0 ? "" : ", ", table[i].name);
  return buffer;
}

const struct chat_template *chat_template_named(const char *name,
  struct error *why)
{
  char buffer[160], said[EXCERPT_MAX + 4];
  for (size_t i = 0; i < TEMPLATES; i++)
    if (strcmp(table[i].name, name) == 0) return &table[i];
  error_say(why, "there is no template %s; the names are %s",
    text_excerpt(name, strlen(name), 40, said), all_names(buffer));
  return NULL;
}

/* <Recognize a program> */

/* FNV-1a of the program, but for what prints alike: backslash n is a newline, and
   white space at the end is nothing. It need not be cryptographic: who forged one
   would spoil the conversations of his own model only. */
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

/* <Find a model's template> */

/* A list has several programs, of which "default" is for conversations. */
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

/* An edited program mostly keeps the marks of the one that it came from: a good guess
   for a person to try, and a bad one for us to make. */
static const char *similar_names(const json_t *program, char buffer[160])
{
  const char *text = json_is_string(program) ? json_string_value(program) : "";
  size_t n = 0;
  buffer[0] = '\0';
  for (size_t i = 0; i < TEMPLATES; i++) {
    const char *mark = table[i].around->end, *from = mark + 1;
    char sign[32];
    if (mark[0] != '{') continue;
    snprintf(sign, sizeof sign, "%.*s", (int) strcspn(from, "}"), from);
    if (strstr(text, sign) == NULL) continue;
    n += (size_t) snprintf(buffer + n, 160 - n, "%s%s", n == 0 ? "" : ", ", table[i].name);
  }
  return buffer;
}

/* No guess: a template that is nearly right makes a model answer a little worse, and
   nobody knows why. We name those that end an answer alike, and the user chooses. */
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
    all_names(names), *alike == '\0' ? "" : " (", alike,
    *alike == '\0' ? "" : " end an answer alike)");
  if (t == NULL) error_found(why, path, "chat_template",
    jsonfile_excerpt(program, buffer), wanted);
  return t;
}

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
  struct mapping map;
  struct memory m = { .fail_at = 0 };
  struct gguf_file g;
  struct gguf_words words;
  json_t *program = NULL;
  if (!file_map(&map, path, why)) return NULL;
  if (gguf_read(&g, &m, path, map.bytes, map.size, why)) {
    const struct gguf_entry *e = gguf_find(&g, "tokenizer.chat_template");
    if (e == NULL) program = json_null();
    else if (!gguf_string(e, &words)
      || (program = json_stringn(words.text, words.n)) == NULL)
      error_found(why, path, "tokenizer.chat_template", "not a text", "one in UTF-8");
  }
  gguf_free(&g);
  file_unmap(&map);
  return program;
}

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
      folder, all_names(names));
  else if (settings != NULL) t = judge((json_t *) v, path, why);
  json_decref(settings);
  return t;
}

/* only a hint: what cannot be read counts as none */
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
