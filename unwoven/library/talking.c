/* talking.c -- conversations, in two forms: the turns as text, and the ids of everything that
   was read and written. What counts is text, the ids: the model's own tokens go into it and are
   never encoded again, so the rows of the cache stay valid, and the loop computes only those
   that the sequence does not have yet. turn has the same as text, for templates that must see
   all turns. A call of incipit_chat_say either ends with an answer or leaves both as they were. */

#include <string.h>
#include "library/library.h"
#include "templates/calls.h"
#include "templates/conversations.h"

/* a conversation */
struct incipit_chat {
  struct memory m;
  struct incipit_context *c;
  const struct chat_template *by;
  struct turn *turn; /* [n]; texts are blocks of their own */
  size_t n, cap, first; /* first turns are never forgotten: the system's */
  struct ids text, end, eos; /* all so far; the mark that ends an answer; all such */
  uint32_t sequence;
};

/* The files of the built-in model name no template; but we have trained the model, and know
   that it has learnt the template "pocket". It needs no template file, unless someone has put
   one there. */
static bool find_style(const struct incipit_model *m, struct memory *book, const char *style,
  const struct chat_template **by, struct error *why)
{
  static const struct template_settings plain = { .file = NULL };
  if (style == NULL && m->built_in && !chat_template_given(m->path))
    style = "pocket";
  *by = style != NULL ? chat_template_named(style, why)
    : chat_template_open(book, m->path, &plain, why);
  return *by != NULL;
}

/* The roles of the header and those of the templates are two lists, so that one can change
   without the other; a small table translates. */
static bool take_messages(const struct incipit_message *from, size_t n,
  struct turn *to, const char *call, struct incipit_error *why)
{
  static const enum role role[] = { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT };
  for (size_t i = 0; i < n; i++) {
    int who = from[i].role;
    if (who < INCIPIT_SYSTEM || who > INCIPIT_ASSISTANT)
      return library_fail(why, INCIPIT_MISUSE, "%s: the role of message %zu is %d;"
        " wanted: an enum incipit_role", call, i, who);
    if (from[i].n > 0 && !library_given(from[i].text, call, "a message's text", why))
      return false;
    to[i] = (struct turn) { role[who], from[i].n > 0 ? from[i].text : "",
      from[i].n };
  }
  return true;
}

/* As in encoding, the caller gets what fits and how many ids there are in all, and all memory
   is freed before the function returns. */
bool incipit_chat_encode(const struct incipit_model *m, const char *style,
  const struct incipit_message *message, size_t n, bool reply, uint32_t *id,
  size_t cap, size_t *n_ids, struct incipit_error *why)
{
  struct memory book = { .fail_at = 0 };
  struct ids list = { NULL, 0, 0 };
  const struct chat_template *by = NULL;
  if (!library_spells(m, __func__, why)
      || !library_given(message, __func__, "the list of messages", why)
      || !library_given(n_ids, __func__, "n_ids", why)
      || (cap > 0 && !library_given(id, __func__, "the room for ids", why)))
    return false;
  if (n == 0) return library_fail(why, INCIPIT_MISUSE,
    "%s: there are no messages; wanted: 1 or more", __func__);
  struct attempt a = attempt_begin(&book);
  struct turn *turn = memory_alloc(&book, MEMORY_OTHER, n, sizeof *turn, &a.why);
  if (turn == NULL) return attempt_end(&a, false, INCIPIT_MEMORY, why);
  bool taken = take_messages(message, n, turn, __func__, why);
  bool ok = taken && find_style(m, &book, style, &by, &a.why)
    && conversations_ids(&book, by, m->t, turn, n, 0, reply, &list, &a.why)
    && library_copy(&list, id, cap, n_ids);
  ids_free(&book, &list);
  memory_free(&book, turn);
  chat_template_close(&book, by);
  return taken && attempt_end(&a, ok, INCIPIT_INPUT, why);
}

/* The text is copied; one byte more, so that even an empty text has an address. */
static bool push_turn(struct incipit_chat *t, enum role who, const char *text,
  size_t n, struct error *why)
{
  void *p = memory_reserve(&t->m, MEMORY_OTHER, t->turn, &t->cap, t->n + 1, 8,
    sizeof *t->turn, why);
  if (p == NULL) return false;
  t->turn = p;
  char *copy = memory_alloc(&t->m, MEMORY_OTHER, n < SIZE_MAX ? n + 1 : n, 1, why);
  if (copy == NULL) return false;
  if (n > 0) memcpy(copy, text, n);
  t->turn[t->n++] = (struct turn) { who, copy, n };
  return true;
}

static void pop_turns(struct incipit_chat *t, size_t n)
{
  while (t->n > n) {
    t->n--;
    memory_free(&t->m, (void *) t->turn[t->n].text);
  }
}

/* Does the template suit the model? We format a first turn and discard it: a template that
   cannot set a turn is found on opening and not in the middle of a conversation. */
static bool try_style(struct incipit_chat *t, const char *system, struct error *why)
{
  struct ids none = { NULL, 0, 0 };
  struct incipit_model *m = t->c->model;
  if (system != NULL && !push_turn(t, ROLE_SYSTEM, system, strlen(system), why))
    return false;
  t->first = t->n;
  bool ok = push_turn(t, ROLE_USER, "x", 1, why)
    && conversations_ids(&t->m, t->by, m->t, t->turn, t->n, 0, true, &none, why)
    && conversations_ends(&t->m, t->by, m->t, &t->end, why);
  pop_turns(t, t->first);
  ids_free(&t->m, &none);
  return ok;
}

/* An answer may end with the template's mark, with any end token of the model, or with the mark that ends a call of tools. */
static bool learn_ends(struct incipit_chat *t, struct error *why)
{
  const struct model_config *config = &t->c->model->lm->config;
  bool ok = true;
  for (size_t i = 0; ok && i < t->end.n; i++)
    ok = ids_push(&t->m, &t->eos, t->end.id[i], why);
  for (size_t i = 0; ok && i < config->n_eos; i++)
    ok = ids_push(&t->m, &t->eos, config->eos[i], why);
  struct ids parts = { NULL, 0, 0 };
  ok = ok && conversations_calls(&t->m, t->by, t->c->model->t, &parts, &t->eos, why);
  ids_free(&t->m, &parts);
  return ok;
}

/* A conversation is a user of its context, and occupies one sequence of it until it is closed. */
struct incipit_chat *incipit_chat_open(struct incipit_context *c, const char *style,
  const char *system, struct incipit_error *why)
{
  if (!library_idle(c, __func__, why) || !library_spells(c->model, __func__, why))
    return NULL;
  struct incipit_chat *t = library_new(sizeof *t, why);
  if (t == NULL) return NULL;
  t->c = c;
  c->users++;
  struct attempt a = attempt_begin(&t->m);
  bool ok = find_style(c->model, &t->m, style, &t->by, &a.why)
    && try_style(t, system, &a.why) && learn_ends(t, &a.why);
  if (attempt_end(&a, ok, INCIPIT_INPUT, why)
      && incipit_sequence_open(c, &t->sequence, why)) return t;
  incipit_chat_close(t);
  return NULL;
}

/* A conversation that could not be opened has no sequence yet. The field is 0 then, which is no
   sequence's number, so closing it fails without harm. */
void incipit_chat_close(struct incipit_chat *t)
{
  if (t == NULL || t->c->busy) return;
  incipit_sequence_close(t->c, t->sequence, NULL);
  pop_turns(t, 0);
  memory_free(&t->m, t->turn);
  ids_free(&t->m, &t->text);
  ids_free(&t->m, &t->end);
  ids_free(&t->m, &t->eos);
  chat_template_close(&t->m, t->by);
  incipit_context_close(t->c);
  library_delete(t);
}

bool incipit_chat_reset(struct incipit_chat *t, struct incipit_error *why)
{
  if (!library_given(t, __func__, "the conversation", why)
      || !library_idle(t->c, __func__, why)) return false;
  pop_turns(t, t->first);
  t->text.n = 0;
  return true;
}

/* An answer often begins with a blank that belongs to its first word. At the beginning of a
   line that looks wrong, so blanks before the first letter are not shown. This needs a ctx of
   its own, so on_progress has to be passed on as well. */
struct listener {
  const struct incipit_generate_options *o; /* the caller's */
  size_t bare; /* blanks left out so far */
  bool begun; /* something else has been shown */
};

/* Blanks before an answer are not shown, token by token, and counted: the result must lose the
   same. */
static bool hear_token(void *ctx, const struct incipit_token *now)
{
  struct listener *l = ctx;
  struct incipit_token mine = *now;
  while (!l->begun && mine.n > 0 && *mine.text == ' ')
    mine.text++, mine.n--;
  l->bare += now->n - mine.n;
  l->begun = l->begun || mine.n > 0;
  return l->o->on_token == NULL || l->o->on_token(l->o->ctx, &mine);
}

static bool hear_progress(void *ctx, size_t rows, size_t all)
{
  const struct listener *l = ctx;
  return l->o->on_progress == NULL || l->o->on_progress(l->o->ctx, rows, all);
}

/* Usually the next prompt is made of the ids so far and the new turn, and only the turn is
   encoded. Some templates change old turns when a new one comes. For these all turns are set
   again, and the cache keeps the rows that the two versions have in common. */
static bool next_ids(struct incipit_chat *t, struct ids *next, struct error *why)
{
  bool whole = t->text.n == 0 || chat_template_rewrites(t->by, t->turn, t->n);
  bool ok = true;
  for (size_t i = 0; ok && !whole && i < t->text.n; i++)
    ok = ids_push(&t->m, next, t->text.id[i], why);
  return ok && conversations_ids(&t->m, t->by, t->c->model->t, t->turn, t->n,
    whole ? 0 : t->n - 1, true, next, why);
}

static bool write_answer(struct incipit_chat *t, const struct ids *next,
  const struct incipit_generate_options *theirs, struct listener *l,
  struct incipit_result **result, struct incipit_error *why)
{
  struct incipit_generate_options o = *theirs;
  struct incipit_prompt prompt = { next->id, next->n };
  struct writing_request q = { t->c, &prompt, 1, &o, t->eos.id, t->eos.n,
    "incipit_chat_say" };
  l->o = theirs;
  o.sequence = &t->sequence, o.ctx = l;
  o.on_token = hear_token, o.on_progress = hear_progress;
  return library_generate(&q, result, why);
}

/* The end token that the model chose is left out and the template's own mark of an ending put
   in, whichever way the answer ended: so the next turn always begins in the same place. This
   costs nothing, because the last token of a text has no row yet. Then the answer becomes a
   turn. */
static bool close_answer(struct incipit_chat *t, struct ids *next,
  struct incipit_result *r, size_t bare, struct error *why)
{
  size_t n = r->n_ids - (r->finish == INCIPIT_FINISH_END ? 1 : 0);
  bool ok = true;
  while (bare < r->n && r->text[bare] == ' ') bare++;
  for (size_t i = 0; ok && i < n; i++) ok = ids_push(&t->m, next, r->id[i], why);
  for (size_t i = 0; ok && i < t->end.n; i++)
    ok = ids_push(&t->m, next, t->end.id[i], why);
  r->text += bare, r->n -= bare;
  return ok && push_turn(t, ROLE_ASSISTANT, r->text, r->n, why);
}

static bool answer(struct incipit_chat *t, struct ids *next,
  const struct incipit_generate_options *o, struct incipit_result **result,
  struct incipit_error *why)
{
  struct listener l = { .bare = 0 };
  struct attempt a = attempt_begin(&t->m);
  if (!attempt_end(&a, next_ids(t, next, &a.why), INCIPIT_INPUT, why)
      || !write_answer(t, next, o, &l, result, why)) return false;
  return attempt_end(&a, close_answer(t, next, *result, l.bare, &a.why),
    INCIPIT_MEMORY, why);
}

/* If anything fails, the turn is removed, and the conversation is as it was. For that reason
   the new ids are collected in a list of their own, which replaces the old one only at the end. */
struct incipit_result *incipit_chat_say(struct incipit_chat *t, const char *text,
  size_t n, const struct incipit_generate_options *o, struct incipit_error *why)
{
  struct incipit_generate_options mine = { .size = sizeof mine };
  struct incipit_result *result = NULL;
  struct ids next = { NULL, 0, 0 };
  if (!library_given(t, __func__, "the conversation", why)
      || !library_idle(t->c, __func__, why)
      || (n > 0 && !library_given(text, __func__, "the text", why))
      || !library_options(&mine, sizeof mine, o, __func__, why)) return NULL;
  if (mine.sequence != NULL) {
    library_fail(why, INCIPIT_MISUSE, "%s: a sequence is given; wanted: none, for the"
      " conversation has its own", __func__);
    return NULL;
  }
  size_t before = t->n;
  struct attempt a = attempt_begin(&t->m);
  bool ok = attempt_end(&a, push_turn(t, ROLE_USER, text, n, &a.why), INCIPIT_MEMORY,
    why) && answer(t, &next, &mine, &result, why);
  if (ok) {
    ids_free(&t->m, &t->text);
    t->text = next;
    return result;
  }
  pop_turns(t, before);
  ids_free(&t->m, &next);
  incipit_result_close(result);
  return NULL;
}
