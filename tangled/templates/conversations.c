/* conversations.c -- The formats of conversations: turns become text, and text
   becomes ids in which no speaker can write a mark.
   made from workshop/07-templates.w; change it there

   A published template is a program. Those of a few formats we know, by a hash of
   their text, and have what they print as rows of a table, with each mark in braces,
   which no template uses; the others are run (program.c). Each part of a rendered
   prompt keeps its kind: a mark, text of the template, or a speaker's words. A mark
   counts only where the template put it: we cut at those, look them up, and encode
   all that lies between two of them in one call, with special tokens off. So an
   honest conversation has the ids of Hugging Face's library, and a speaker's words
   never become a special token. What is no special token in a vocabulary has no such
   promise. */

#include <stdio.h>
#include <string.h>
#include "safetensors/excerpt.h"
#include "templates/inside.h"

/* <What surrounds the words> */
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

/* No marks for turns: <s> and </s> go around a question and its answer, the rest is
   text. The system's words are stripped together with the question into which they
   go. */
static const struct frame llama2 = {
  .begin = "", .open = { "<<SYS>>\n", "{<s>}{[INST]} ", " " },
  .close = { "\n<</SYS>>\n\n", " {[/INST]}", " " },
  .end = "{</s>}", .after = "", .reply = "", .system_at = IN_FIRST,
  .alternates = true, .trims = { false, true, true } };

#include "templates/frames.inc"

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
    while (at < now->n && (k = prompt_blank((const unsigned char *)
        now->text + at, now->n - at)) > 0) at += k;
  if (!put(w, PROMPT_PART_SAID, now->who, now->text + at, now->n - at))
    return false;
  if (f->trims[now->who]) prompt_trim_end(w->out, from);
  return put_frame(w, f->close[now->who]) && (now->who != ROLE_ASSISTANT
    || (put_frame(w, f->end) && put_frame(w, f->after)));
}

/* <Put an answer of one who thinks> */
static bool put_thinker(struct writer *w, const struct turn *said,
  bool late, bool last)
{
  struct turn thought, rest;
  struct frame f = chatml;
  thought_part(said, &thought, &rest);
  /* Thoughts before the last question are dropped; after it they stay, and a last
     answer without one gets an empty one. */
  if (!late || (!last && thought.n == 0))
    return put_turn(w, &f, &rest, NULL);
  thought_strip_lines(&rest);
  /* The thought goes where the system's words would: no turn has both. */
  f.open[ROLE_SYSTEM] = "<think>\n", f.close[ROLE_SYSTEM] = "\n</think>\n\n";
  return put_turn(w, &f, &rest, &thought);
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

/* question: how many turns there are up to the last question; 0 if there is none, and
   then all thoughts are dropped. */
static bool put_turns(struct writer *w, const struct chat_template *t,
  const struct turn *talk, size_t n, size_t from)
{
  size_t first = talk[0].who == ROLE_SYSTEM, question = n;
  while (question > 0 && !talk_is_question(&talk[question - 1])) question--;
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
  if (talk_in_order(by, talk, n, why) && talk_may_begin(by, talk, n, from, why)
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
  if (by->around->run != NULL)
    return program_ids(m, by->around->run, v, talk, n, reply, out, why);
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
  if (by->around->run != NULL)
    return program_ends(m, by->around->run, v, out, why);
  bool ok = put_frame(&w, by->around->end)
    && prompt_encode(&s, v, m, out, why);
  prompt_free(m, &s);
  return ok;
}
#include "templates/named.inc"
