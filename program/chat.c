/* chat.c -- a conversation in which no row is computed twice.

   A talk is kept in two forms: the turns as they were said, which a template wants to see, and
   the ids, all that was fed to the model and what it wrote. The ids could be made of the turns
   again at any time; they are kept because they are the exact ones: what the model wrote as two
   tokens its tokenizer might spell as one, and the rows after that place would not fit any more.
   The next prompt is the ids so far and those of the new turn; the loop compares it with what
   the cache has and computes the rest. The sampler's noise depends on the position, and
   positions go on, so the same seed gives the same talk.

   What holds between two calls: the turns are the system's, if it has one, and then questions
   and answers by turns, each question with its answer; text has the ids of just these turns, or
   none, if they have to be made anew. A turn that is refused or fails is taken back, so a caller
   may go on or end as it likes. Who types the lines is none of this file's business. */

#include <inttypes.h>
#include <string.h>
#include "ground/timing.h"
#include "chat.h"
#include "template_setup.h"

/* A turn is copied, since its line will be overwritten by the next; one byte more, so that an
   empty one has an address. */
bool chat_push(struct chat *t, enum role who, const void *text, size_t n)
{
  struct memory *m = t->a.o.m;
  void *p = memory_reserve(m, MEMORY_OTHER, t->turn, &t->cap, t->n + 1, 8, sizeof *t->turn,
    &t->a.why);
  if (p == NULL) return false;
  t->turn = p;
  p = memory_reserve(m, MEMORY_OTHER, t->length, &t->length_cap, t->n + 1, 8, sizeof *t->length,
    &t->a.why);
  if (p == NULL) return false;
  t->length = p;
  char *copy = memory_alloc(m, MEMORY_OTHER, n + 1, 1, &t->a.why);
  if (copy == NULL) return false;
  if (n > 0) memcpy(copy, text, n);
  t->length[t->n] = t->text.n;
  t->turn[t->n++] = (struct turn) { who, copy, n };
  return true;
}

static void pop_turn(struct chat *t)
{
  struct turn *last = &t->turn[--t->n];
  t->text.n = t->length[t->n];
  memory_free(t->a.o.m, (char *) last->text);
}

/* The rows stay in the cache: the next prompt begins with the same mark or the same words of the
   system, and the loop keeps just these. */
void chat_forget(struct chat *t)
{
  while (t->n > t->first) pop_turn(t);
  t->text.n = 0;
  t->how.choice.d.sequence = 0;
}

/* the ids go back to what they were before the question; the cache is cropped by the loop */
char *chat_take_back(struct chat *t, size_t *n)
{
  while (t->n > t->first) {
    struct turn last = t->turn[t->n - 1];
    *n = last.n;
    if (last.who != ROLE_USER) pop_turn(t);
    else {
      t->text.n = t->length[--t->n];
      return (char *) last.text;
    }
  }
  return NULL;
}

/* Whether the template suits the model is tried before anybody has typed a word: a first turn is
   set and thrown away. A mark that the vocabulary lacks is found then, and a system turn that
   has no place. */
static bool try_template(struct chat *t, struct error *why)
{
  struct memory *m = t->a.o.m;
  struct ids none = { NULL, 0, 0 };
  if (!chat_push(t, ROLE_USER, "x", 1)) return false;
  bool ok = conversations_ids(m, t->by, t->a.o.t, t->turn, t->n, 0, true, &none, why);
  pop_turn(t);
  ids_free(m, &none);
  return ok;
}

/* The old turn of the system is kept until the new one is known to have a place in the template: a
   refusal leaves the talk forgotten, but with the words that the model was told. */
bool chat_system(struct chat *t, const char *text, size_t n, struct error *why)
{
  struct turn before = { ROLE_SYSTEM, NULL, 0 };
  chat_forget(t);
  if (t->first > 0) before = t->turn[0];
  t->n = t->first = 0;
  bool ok = n == 0 || chat_push(t, ROLE_SYSTEM, text, n);
  t->first = t->n;
  ok = ok && try_template(t, why);
  if (!ok && t->n > 0) pop_turn(t);
  if (!ok && before.text != NULL) {
    t->turn[0] = before;
    t->length[0] = 0;
    t->n = 1;
  }
  if (ok && before.text != NULL) memory_free(t->a.o.m, (char *) before.text);
  t->first = t->n;
  return ok;
}

/* the template's end tokens, and the model's; and which tokens of a call of tools are to be seen */
static bool learn_ends(struct chat *t)
{
  struct memory *m = t->a.o.m;
  const struct model_config *config = &t->a.o.lm->config;
  bool ok = conversations_ends(m, t->by, t->a.o.t, &t->end, &t->a.why);
  for (size_t i = 0; ok && i < t->end.n; i++)
    ok = ids_push(m, &t->eos, t->end.id[i], &t->a.why);
  for (size_t i = 0; ok && i < config->n_eos; i++)
    ok = ids_push(m, &t->eos, config->eos[i], &t->a.why);
  return ok && template_setup_named(&t->a.o, t->by, &t->eos, &t->named, &t->a.why);
}

/* The template is tried with a first turn before the sampler takes its memory: that the model cannot
   talk at all is the mistake to be told first. */
int chat_open(struct chat *t, const struct console *c,
  const struct command_line *w)
{
  struct invocation *a = &t->a;
  memset(t, 0, sizeof *t);
  a->c = c, a->w = w;
  int status = session_open(&a->o, c, w, SESSION_NEED_MODEL | SESSION_NEED_TOKENIZER, &a->why);
  if (status != STATUS_DONE) return status;
  status = invocation_context(a);
  const char *system = w->of[OPTION_SYSTEM].given ? w->of[OPTION_SYSTEM].text : "";
  if (status == STATUS_DONE && ((t->by = template_setup_open(&t->a.o, t->a.w, &t->a.why)) == NULL
      || !chat_system(t, system, strlen(system), &a->why) || !learn_ends(t)))
    status = STATUS_FAILED;
  if (status == STATUS_DONE)
    status = decode_setup_open(&t->how, a, &a->why);
  if (t->how.match.must == NULL) t->how.ends.named = &t->named;
  return status;
}

void chat_close(struct chat *t)
{
  struct memory *m = t->a.c->memory;
  t->first = 0;
  chat_forget(t);
  memory_free(m, t->turn);
  memory_free(m, t->length);
  ids_free(m, &t->text);
  ids_free(m, &t->end);
  ids_free(m, &t->eos);
  ids_free(m, &t->named);
  decode_setup_close(m, &t->how);
  chat_template_close(m, t->by);
  session_close(&t->a.o);
}

/* The talk so far and the ids of the new turn. A template that changes old turns gets to see all
   of them and everything is written again; then the cache keeps what the two versions have in
   common, which the loop finds by comparing ids. */
static bool next_ids(struct chat *t, struct ids *next)
{
  struct memory *m = t->a.o.m;
  bool whole = t->text.n == 0
    || chat_template_rewrites(t->by, t->turn, t->n);
  bool ok = true;
  for (size_t i = 0; ok && !whole && i < t->text.n; i++)
    ok = ids_push(m, next, t->text.id[i], &t->a.why);
  return ok && conversations_ids(m, t->by, t->a.o.t, t->turn, t->n,
    whole ? 0 : t->n - 1, true, next, &t->a.why);
}

/* room for an answer: what -n says, but no more than an eighth of the context, beyond which old
   turns are worth more */
static size_t room_wanted(const struct chat *t)
{
  const struct option_value *max = &t->a.w->of[OPTION_MAX_NEW_TOKENS];
  size_t room = t->a.context / 8;
  if (max->given && max->count < room) room = (size_t) max->count;
  return room > 0 ? room : 1;
}

/* forgets the oldest question with its answer, but not the last turn; false if there is none. All
   ids have to be made anew */
static bool drop_oldest(struct chat *t)
{
  size_t k = t->first, n = 0;
  while (k + n + 1 < t->n && (n == 0 || t->turn[k + n].who != ROLE_USER)) n++;
  if (n == 0) return false;
  for (size_t i = k; i < k + n; i++) memory_free(t->a.o.m, (char *) t->turn[i].text);
  t->n -= n;
  memmove(t->turn + k, t->turn + k + n, (t->n - k) * sizeof *t->turn);
  t->text.n = 0;
  for (size_t i = k; i < t->n; i++) t->length[i] = 0;
  return true;
}

/* A turn that does not fit although all others but the system's were dropped is refused, with both
   numbers, before any is dropped. */
static bool fits_alone(struct chat *t)
{
  struct invocation *a = &t->a;
  struct turn least[2];
  struct ids list = { NULL, 0, 0 };
  size_t n = t->first;
  if (n > 0) least[0] = t->turn[0];
  least[n++] = t->turn[t->n - 1];
  bool ok = conversations_ids(a->o.m, t->by, a->o.t, least, n, 0, true, &list, &a->why);
  if (ok && list.n > a->context)
    ok = error_say(&a->why, "with this turn the talk has %zu tokens; the context holds %zu", list.n,
      a->context);
  ids_free(a->o.m, &list);
  return ok;
}

/* The ids of the next prompt. If they leave no room for an answer, the oldest turns are dropped
   until what is left fills no more than half of the context. To drop only as many as the answer
   needs would cost more: every row after a gap has to be computed again, so each turn of a long
   talk would read nearly everything. This way half of the context is read once, and then many
   turns cost what they are long. How many turns were dropped is said once. */
static bool fit(struct chat *t, struct ids *next)
{
  struct invocation *a = &t->a;
  const struct option_value *max = &a->w->of[OPTION_MAX_NEW_TOKENS];
  size_t before = t->n;
  bool ok = fits_alone(t) && next_ids(t, next);
  bool full = ok && next->n + room_wanted(t) > a->context + 1;
  while (ok && full && next->n > a->context / 2 && drop_oldest(t)) {
    next->n = 0;
    ok = next_ids(t, next);
  }
  if (ok && t->n < before && !a->w->of[OPTION_QUIET].given)
    fprintf(a->c->err, "incipit: the context of %zu tokens is full; the oldest %zu turns are"
      " forgotten\n", a->context, before - t->n);
  if (!ok) return false;
  a->max_tokens = a->context - next->n + 1;
  if (max->given && max->count < a->max_tokens) a->max_tokens = (size_t) max->count;
  return true;
}

/* An answer often begins with a blank that belongs to its first word; at the beginning of a line
   it is in the way, so blanks before the first letter are not shown. */
static void show_fresh(struct chat *t)
{
  const struct text_stream *o = &t->how.ends.flow;
  while (t->bare == t->shown && t->shown < o->released
      && o->text.byte[t->shown] == ' ') t->bare++, t->shown++;
  if (o->released > t->shown) fwrite(o->text.byte + t->shown, 1,
    o->released - t->shown, t->a.c->out);
  t->shown = o->released;
}

static void reading_words(void *ctx, size_t done, size_t all, char text[WAITING_WORDS])
{
  (void) ctx;
  snprintf(text, WAITING_WORDS, "reading %zu of %zu tokens", done, all);
}

/* Ctrl-C is looked at within every step and after it, and ends the answer by the loop's own cancelling, which
   leaves text and cache as after any other step; so the talk can go on. */
static bool see_answer(void *ctx, const struct step *now)
{
  struct chat *t = ctx;
  waiting_end(&t->a.o.wait);
  t->cost.last = timing_seconds();
  t->cost.written = now->number;
  if (now->number == 1) {
    t->cost.first = t->cost.last;
    t->cost.read = now->after.rows - t->rows_before;
  }
  show_fresh(t);
  if (!console_flush(t->a.c)) return false;
  return !t->a.c->interrupted();
}

/* the loop gets the whole prompt each time, is told to keep rows, and finds out for itself that
   most of them are there */
static bool run_answer(struct chat *t, const struct ids *next,
  struct continuation *out)
{
  struct invocation *a = &t->a;
  struct generate_context with = { &a->o.e, a->o.lm, a->o.s, a->o.m };
  struct generate_options want = { .max_new_tokens = a->max_tokens,
    .eos = t->eos.id, .on_step = see_answer, .ctx = t, .recall = store_match_prefix,
    .chunk = (size_t) a->w->of[OPTION_CHUNK].count };
  want.n_eos = a->w->of[OPTION_IGNORE_EOS].given ? 0 : t->eos.n;
  decode_setup_apply(&t->how, a, &want);
  t->rows_before = a->o.counters.rows, t->bare = t->shown = 0;
  t->cost = (struct turn_cost) { .given = next->n,
    .began = timing_seconds() };
  a->c->listen();
  waiting_begin(&a->o.wait, reading_words, NULL);
  bool ok = guess_setup_generate(&a->o.guess, &with, next, &want, out, &a->why);
  waiting_end(&a->o.wait);
  if (!ok) return false;
  t->cost.rows = a->o.counters.rows - t->rows_before;
  if (t->cost.written == 0) t->cost.read = t->cost.rows;
  return true;
}

/* An answer is closed by the mark that the template closes it with. If the model ended with
   another of its end tokens, that one is exchanged, which costs nothing: the last token of a
   text was written and not read, so it has no row. If the answer was cut, by length, string or
   Ctrl-C, the mark is put after what there is. */
static bool close_answer(struct chat *t, size_t given,
  enum finish_reason ended)
{
  struct ids *x = &t->text;
  const char *reason = criteria_reason(&t->how.ends.all, ended);
  bool by_token = x->n > given && reason != NULL
    && strcmp(reason, "eos") == 0;
  if (by_token) x->n--;
  for (size_t i = 0; i < t->end.n; i++)
    if (!ids_push(t->a.o.m, x, t->end.id[i], &t->a.why)) return false;
  return true;
}

/* Each answer ends with a line's end, in a pipe as well: answers follow each other there and
   must be told apart. The text becomes a turn, because a template that writes everything again
   will ask for it. */
static bool end_answer(struct chat *t)
{
  const struct console *c = t->a.c;
  struct text_stream *o = &t->how.ends.flow;
  text_stream_end(o);
  show_fresh(t);
  putc('\n', c->out);
  if (!console_flush(c)) {
    t->gone = true;
    console_end(c, STATUS_DONE);
    return false;
  }
  return chat_push(t, ROLE_ASSISTANT, o->text.n > 0 ? o->text.byte + t->bare
    : NULL, o->text.n - t->bare);
}

static bool answer(struct chat *t, const struct ids *next)
{
  struct continuation out = { .n_prompt = 0 };
  if (!stop_setup_begin(&t->how.ends, next->id, next->n, &t->a.why)
    || !run_answer(t, next, &out)) return false;
  ids_free(t->a.o.m, &t->text);
  t->text = out.text;
  return close_answer(t, next->n, out.ended) && end_answer(t);
}

/* What cannot be set, because it is too long or has a letter that the vocabulary cannot spell,
   is said and taken back; it ends no talk. What fails in the middle of an answer does. */
enum chat_result chat_send(struct chat *t, const char *line, size_t n)
{
  struct ids next = { NULL, 0, 0 };
  enum chat_result result = CHAT_DONE;
  t->cost = (struct turn_cost) { .given = 0 };
  if (!chat_push(t, ROLE_USER, line, n)) return CHAT_BROKEN;
  if (!fit(t, &next)) {
    console_fail(t->a.c, &t->a.why);
    pop_turn(t);
    result = CHAT_REFUSED;
  }
  else if (!answer(t, &next)) result = CHAT_BROKEN;
  ids_free(t->a.o.m, &next);
  if (result == CHAT_DONE && t->a.w->of[OPTION_STATS].given) chat_print_cost(t);
  return result;
}

/* the names are those of generate --stats; rows_read stands apart from rows, for that is where a
   conversation is cheap or expensive */
void chat_print_cost(const struct chat *t)
{
  const struct turn_cost *k = &t->cost;
  const struct console *c = t->a.c;
  if (k->given == 0) return;
  console_tokens(c, k->given, k->written);
  console_stat(c, "rows_read", (double) k->read, 0, "rows");
  console_stat(c, "rows", (double) k->rows, 0, "rows");
  if (k->written == 0) return;
  console_stat(c, "time_to_first_token_ms", 1e3 * (k->first - k->began), 2, "ms");
  if (k->last > k->first)
    console_stat(c, "decode_tokens_per_second", (double) (k->written - 1) / (k->last - k->first),
      2, "tokens/s");
}
