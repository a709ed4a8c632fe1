/* cmd_generate.c -- incipit generate: the loop of chapter 3 writes, the command watches.

   At every step the watcher is told which token was chosen, and gives the reader the bytes that
   are certain; half of a character and the beginning of a stop string stay in the outflow
   (chapter 8). Output: bytes as they come; with --json one object at the end; with --jsonl an
   object for each token and then that of --json. Several texts of one prompt are written one
   after the other over the same cache; with --num-beams a search gives them all at the end. */

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "ground/timing.h"
#include "accounts/accounts.h"
#include "search/sharing.h"
#include "templates/conversations.h"
#include "command.h"

/* the counters by name, in their order */
static const char *const counter_name[] = { "passes", "rows", "kv_rows_computed",
  "kv_rows_recomputed", "qk_pairs", "madds_linear", "madds_attention", "madds_head",
  "weight_bytes_read", "cache_bytes_read", "cache_bytes_written" };
_Static_assert(sizeof counter_name / sizeof *counter_name == N_COUNTERS,
  "every counter has its name");

uint64_t counters_at(const struct counters *c, int i, const char **name)
{
  *name = counter_name[i];
  return c->of[i];
}

void counters_put(struct json_writer *j, const struct counters *c)
{
  writer_open(j, '{');
  for (int i = 0; i < N_COUNTERS; i++) {
    const char *name;
    uint64_t value = counters_at(c, i, &name);
    put_count_as(j, name, value);
  }
  writer_close(j, '}');
}

/* One text that was written, and what is kept of it for the end. */
struct generated {
  struct ids id; /* the new ones */
  struct bytes text;
  enum finish_reason ended;
  const char *reason; /* what ended it, or null */
  const struct stop_string *string;
  double score; /* of a search */
  struct candidate *noted; /* [tokens][1 + k] */
  size_t tokens, cap;
};
struct generation {
  struct invocation *a;
  struct decode_setup how;
  const uint32_t *eos;
  size_t n_eos;
  struct generated *all, *now; /* all[n], the newest being now */
  size_t n, cap;
  size_t shown; /* bytes of this text that have been released to the reader */
  struct json_writer j;
  /* [vocab_size], or null: no log-probabilities are wanted */
  double *logprob;
  size_t k, steps; /* of a search, so far */
  double began, first, last, decoded; /* moments; time after first tokens */
  bool mute, failed; /* --json shows nothing before the end */
  bool echoed; /* the prompt has been shown, if it is to be */
};

/* the log-probability of token i, and with --logprobs its rank and the likeliest tokens in its
   place. noted begins with the chosen one */
static void put_logprobs(struct generation *g, const struct generated *w, size_t i)
{
  const struct candidate *x = w->noted + i * (1 + g->k);
  writer_double(&g->j, x[0].logprob);
  if (!g->a->w->of[OPTION_LOGPROBS].given) return;
  put_count_as(&g->j, "rank", x[0].rank);
  put_open_as(&g->j, "top", '[');
  for (size_t n = 1; n <= g->k; n++) {
    writer_open(&g->j, '{');
    put_count_as(&g->j, "id", x[n].id);
    put_double_as(&g->j, "logprob", x[n].logprob);
    writer_close(&g->j, '}');
  }
  writer_close(&g->j, ']');
}

/* what the outflow has released and the reader has not seen */
static size_t take_fresh(struct generation *g, const unsigned char **byte)
{
  const struct text_stream *o = &g->how.ends.flow;
  size_t n = o->released - g->shown;
  *byte = n > 0 ? o->text.byte + g->shown : (const unsigned char *) "";
  g->shown = o->released;
  return n;
}

/* As bytes; with --jsonl as a line of its own; for a model without a tokenizer as an id, with a
   comma before all but the first, as --prompt-ids takes it back. A line of --jsonl has no half
   characters, so each can go to a screen as it comes. */
static void show_token(struct generation *g, uint32_t id)
{
  FILE *out = g->a->c->out;
  const unsigned char *byte;
  size_t n = take_fresh(g, &byte);
  if (g->a->w->of[OPTION_JSONL].given) {
    writer_open(&g->j, '{');
    put_count_as(&g->j, "index", g->n - 1);
    put_count_as(&g->j, "id", id);
    put_text_as(&g->j, "text", byte, n);
    writer_key(&g->j, "logprob");
    put_logprobs(g, g->now, g->now->tokens - 1);
    writer_close(&g->j, '}');
    writer_end(&g->j);
  }
  else if (g->a->o.t == NULL)
    fprintf(out, "%s%" PRIu32, g->now->tokens > 1 ? "," : "", id);
  else if (n > 0) fwrite(byte, 1, n, out);
}

/* Log-probabilities come from the logits that the choice was made from, before any temperature
   or penalty: they say what the model thinks, not what the sampler made of it. */
static bool record_logprobs(struct generation *g, const struct step *now)
{
  struct invocation *a = g->a;
  struct generated *w = g->now;
  size_t width = 1 + g->k, v = a->o.vocab_size;
  if (g->logprob == NULL) return true;
  void *p = memory_reserve(a->o.m, MEMORY_OTHER, w->noted, &w->cap, w->tokens, 16,
    width * sizeof *w->noted, &a->why);
  if (p == NULL) return false;
  w->noted = p;
  a->o.e.k->log_softmax(&a->o.e, now->logits, 1, v, g->logprob);
  prompt_candidates(g->logprob, v, now->chosen,
    w->noted + (w->tokens - 1) * width, g->k);
  return true;
}

/* How much of a long prompt is left out on a screen: all but its last lines, six of the terminal's
   width. It begins with a whole line, or, where that is longer, within one, and then with a whole
   character. */
static size_t bytes_not_shown(const struct bytes *text, size_t columns)
{
  size_t width = columns > 0 ? columns : 80, from = text->n, lines = 0, used = 0, line = text->n;
  while (from > 0 && lines < 6) {
    bool ends = text->byte[from - 1] == '\n' && from < text->n;
    if (ends || used == width) lines++, used = 0;
    if (ends) line = from;
    if (lines == 6) break;
    used += (text->byte[--from] & 0xc0) != 0x80;
  }
  if (from == 0) return 0;
  if (line < text->n && line > from && line - from < 3 * width) from = line;
  while (from < text->n && (text->byte[from] & 0xc0) == 0x80) from++;
  return from;
}

/* The prompt before its continuation: in the output if that was asked for, else for the eyes
   only, dimmed on a terminal, since a continuation alone is hard to read; of a long one the end is
   enough for that. A prompt in ids is not shown, nor is one beside objects. On a terminal it appears
   with the first token: until then the line belongs to the progress. */
static void echo_prompt(struct generation *g)
{
  const struct bytes *text = &g->a->p.text;
  const struct console *c = g->a->c;
  const struct option_value *of = g->a->w->of;
  bool asked = of[OPTION_ECHO].given;
  bool seen = c->out_terminal && !g->a->p.in_ids && !of[OPTION_NO_ECHO].given
    && !of[OPTION_JSON].given && !of[OPTION_JSONL].given;
  if (g->echoed || (!asked && !seen)) return;
  bool dim = !asked && c->colour;
  size_t from = asked ? 0 : bytes_not_shown(text, c->columns);
  if (dim) fputs("\x1b[2m", c->out);
  if (from > 0) fprintf(c->out, "[%zu bytes before]\n", from);
  if (text->n > 0) fwrite(text->byte + from, 1, text->n - from, c->out);
  if (dim) fputs("\x1b[0m", c->out);
  g->echoed = true;
}

/* The clock comes first, since what follows is ours and not the model's. The buffer is emptied
   after every token, or a terminal would show a line at a time and a pipe nothing for long.
   false stops the loop: the reader has gone, memory was refused, or Ctrl-C was pressed. */
static bool see_token(void *ctx, const struct step *now)
{
  struct generation *g = ctx;
  g->last = timing_seconds();
  if (g->now->tokens++ == 0) {
    if (g->n == 1) g->first = g->last;
    g->decoded -= g->last;
  }
  g->failed = !record_logprobs(g, now);
  if (g->failed) return false;
  if (!g->mute) {
    waiting_end(&g->a->o.wait);
    echo_prompt(g);
    show_token(g, now->chosen);
  }
  if (!console_flush(g->a->c)) return false;
  return !g->a->c->interrupted();
}

/* With -n 0 the prompt is still evaluated: that is how prefill is timed. No watcher is called
   then, so the clock is read after the loop. */
static bool run_loop(struct generation *g, struct continuation *text)
{
  struct invocation *a = g->a;
  struct session *o = &a->o;
  struct generate_context with = { &o->e, o->lm, o->s, o->m };
  struct generate_options want = { .max_new_tokens = a->max_tokens, .eos = g->eos,
    .n_eos = g->n_eos, .on_step = see_token, .ctx = g,
    .recall = a->w->of[OPTION_NO_CACHE].given ? NULL : store_match_prefix,
    .chunk = (size_t) a->w->of[OPTION_CHUNK].count };
  decode_setup_apply(&g->how, a, &want);
  if (g->n == 1) g->began = timing_seconds();
  bool ok = guess_setup_generate(&o->guess, &with, &a->p.list, &want, text, &a->why);
  if (a->max_tokens == 0) g->first = g->last = timing_seconds();
  if (g->now->tokens > 0) g->decoded += g->last;
  return ok && !g->failed;
}

/* Times: time to the first token is that of the first text, for the others have the prompt in
   the cache; the rest is the mean over all tokens after first ones. NAN for what was not
   measured. */
enum { N_TIMES = 5 };
static const char *const time_name[N_TIMES] = { "load_ms",
  "time_to_first_token_ms", "time_per_output_token_ms",
  "prefill_tokens_per_second", "decode_tokens_per_second" };
static void compute_times(const struct generation *g, double of[N_TIMES])
{
  double until = g->first - g->began, after = g->decoded, steps = 0;
  for (size_t i = 0; i < g->n; i++)
    if (g->all[i].tokens > 1) steps += (double) (g->all[i].tokens - 1);
  bool any = g->n > 0 && g->all[0].tokens > 0;
  of[0] = 1e3 * g->a->o.load_seconds;
  of[1] = any ? 1e3 * until : NAN;
  of[2] = steps > 0 ? 1e3 * after / steps : NAN;
  of[3] = until > 0 ? (double) g->a->p.list.n / until : NAN;
  of[4] = steps > 0 && after > 0 ? steps / after : NAN;
}

static void put_timings(struct generation *g)
{
  double of[N_TIMES];
  compute_times(g, of);
  put_open_as(&g->j, "timings", '{');
  for (int i = 0; i < N_TIMES; i++) {
    writer_key(&g->j, time_name[i]);
    if (isnan(of[i])) writer_word(&g->j, "null");
    else writer_double(&g->j, of[i]);
  }
  writer_close(&g->j, '}');
}

static void put_prompt(struct generation *g)
{
  const struct prompt *p = &g->a->p;
  put_open_as(&g->j, "prompt", '{');
  put_text_as(&g->j, "text", p->text.byte, p->text.n);
  put_ids_as(&g->j, "ids", p->list.id, p->list.n);
  writer_close(&g->j, '}');
}

static void put_all_logprobs(struct generation *g, const struct generated *w)
{
  put_open_as(&g->j, "logprobs", '[');
  for (size_t i = 0; i < w->tokens; i++) {
    writer_open(&g->j, '{');
    put_count_as(&g->j, "id", w->id.id[i]);
    writer_key(&g->j, "logprob");
    put_logprobs(g, w, i);
    writer_close(&g->j, '}');
  }
  writer_close(&g->j, ']');
}

/* finish_reason is one of three words, as other programs have it; stop says what ended the text,
   if something did. That a constraint allowed nothing more is no stop of the caller's, so it is
   null */
static void put_sequence(struct generation *g, size_t i)
{
  static const char *const reason[] = { "\"length\"", "\"stop\"",
    "\"length\"", "\"cancelled\"" };
  struct json_writer *j = &g->j;
  const struct generated *w = &g->all[i];
  writer_open(j, '{');
  put_count_as(j, "index", i);
  put_ids_as(j, "ids", w->id.id, w->id.n);
  put_text_as(j, "text", w->text.byte, w->text.n);
  put_word_as(j, "finish_reason", reason[w->ended]);
  writer_key(j, "stop");
  if (w->string != NULL) {
    writer_open(j, '{');
    put_text_as(j, "string", w->string->byte, w->string->n);
    writer_close(j, '}');
  }
  else if (w->reason == NULL || strcmp(w->reason, "match") == 0)
    writer_word(j, "null");
  else writer_words(j, w->reason);
  if (g->a->w->of[OPTION_NUM_BEAMS].count > 1)
    put_double_as(j, "score", w->score);
  if (g->a->w->of[OPTION_LOGPROBS].given) put_all_logprobs(g, w);
  writer_close(j, '}');
}

static size_t tokens_of(const struct generation *g)
{
  size_t n = 0;
  for (size_t i = 0; i < g->n; i++) n += g->all[i].id.n;
  return n;
}

/* the object of --json */
static void put_generation(struct generation *g)
{
  struct json_writer *j = &g->j;
  size_t n = tokens_of(g), given = g->a->p.list.n;
  writer_open(j, '{');
  put_words_as(j, "model", g->a->o.path);
  put_prompt(g);
  put_open_as(j, "sequences", '[');
  for (size_t i = 0; i < g->n; i++) put_sequence(g, i);
  writer_close(j, ']');
  put_open_as(j, "usage", '{');
  put_count_as(j, "prompt_tokens", given);
  put_count_as(j, "completion_tokens", n);
  put_count_as(j, "total_tokens", given + n);
  writer_close(j, '}');
  writer_key(j, "counters");
  counters_put(j, &g->a->o.counters);
  put_timings(g);
  writer_close(j, '}');
  writer_end(j);
}

/* in what a counter counts, by its name */
static const char *counter_unit(const char *name)
{
  static const struct { const char *part, *unit; } table[] = { { "passes", "passes" },
    { "bytes", "bytes" }, { "pairs", "pairs" }, { "madds", "multiply-adds" }, { "rows", "rows" } };
  size_t i = 0;
  while (i + 1 < sizeof table / sizeof *table && strstr(name, table[i].part) == NULL) i++;
  return table[i].unit;
}

/* --stats, on the standard error; what was not measured, and what is zero, is left out. Weights
   that are mapped were not asked of the allocator, so they have a line of their own. */
static void print_stats(const struct generation *g)
{
  const struct console *c = g->a->c;
  const struct memory *m = g->a->o.m;
  double of[N_TIMES];
  char name[40];
  compute_times(g, of);
  console_tokens(c, g->a->p.list.n, tokens_of(g));
  console_stat(c, "workers", pool_workers(g->a->o.pool), 0, "workers");
  for (int i = 0; i < N_COUNTERS; i++) {
    const char *counter;
    uint64_t value = counters_at(&g->a->o.counters, i, &counter);
    console_stat(c, counter, (double) value, 0, counter_unit(counter));
  }
  const struct speculation *by = &g->a->o.guess.by;
  console_stat(c, "guessed", (double) by->guessed, 0, "tokens");
  console_stat(c, "accepted", (double) by->accepted, 0, "tokens");
  for (int i = 0; i < N_TIMES; i++)
    if (!isnan(of[i])) console_stat(c, time_name[i], of[i], 2, i < N_TIMES - 2 ? "ms" : "tokens/s");
  console_stat(c, "weights mapped", (double) footprint_weights(g->a->o.lm), 0, "bytes");
  for (int i = 0; i < N_MEMORY_CLASSES; i++) {
    snprintf(name, sizeof name, "peak for %s", memory_class_name((enum memory_class) i));
    console_stat(c, name, (double) m->of[i].peak, 0, "bytes");
  }
}

/* Takes the text out of the outflow. At a terminal, and where several texts follow each other, a
   line's end is put after it, which is no part of the text. */
static bool end_text(struct generation *g)
{
  struct invocation *a = g->a;
  struct text_stream *o = &g->how.ends.flow;
  const unsigned char *byte;
  FILE *out = a->c->out;
  waiting_end(&a->o.wait);
  if (!g->mute) echo_prompt(g);
  text_stream_end(o);
  g->now->reason = criteria_reason(&g->how.ends.all, g->now->ended);
  g->now->string = o->found;
  if (!bytes_push(a->o.m, &g->now->text, o->text.byte, o->text.n, &a->why))
    return false;
  size_t n = take_fresh(g, &byte);
  if (g->mute || a->w->of[OPTION_JSONL].given) return true;
  if (n > 0) fwrite(byte, 1, n, out);
  if (a->c->out_terminal || g->how.sequences > 1) putc('\n', out);
  return true;
}

/* of the texts of a search some may have been cancelled and others have ended before */
static bool cancelled(const struct generation *g)
{
  bool any = false;
  for (size_t i = 0; i < g->n; i++) any = any || g->all[i].ended == FINISH_CANCELLED;
  return any;
}

static int finish_writing(struct generation *g)
{
  struct invocation *a = g->a;
  if (g->mute || a->w->of[OPTION_JSONL].given) put_generation(g);
  if (console_end(a->c, STATUS_DONE) != STATUS_DONE)
    return STATUS_FAILED;
  if (a->w->of[OPTION_STATS].given) print_stats(g);
  return cancelled(g) ? STATUS_CANCELLED : STATUS_DONE;
}

static bool new_text(struct generation *g)
{
  void *p = memory_reserve(g->a->o.m, MEMORY_OTHER, g->all, &g->cap, g->n + 1, 1,
    sizeof *g->all, &g->a->why);
  if (p == NULL) return false;
  g->all = p;
  g->now = &g->all[g->n++];
  g->shown = 0, g->echoed = false;
  return true;
}

/* while the prompt is read, how far; with --json also how much has been written, since then the
   text itself is not seen to grow */
static void writing_words(void *ctx, size_t done, size_t all, char text[WAITING_WORDS])
{
  const struct generation *g = ctx;
  if (g->now->tokens == 0) snprintf(text, WAITING_WORDS, "reading %zu of %zu tokens", done, all);
  else if (g->mute) snprintf(text, WAITING_WORDS, "%zu tokens", g->now->tokens);
}

/* A text that had to match, was not cancelled and does not match would be a fault of this
   program; it is looked for all the same, because others believe the status. */
static bool keeps_word(struct generation *g)
{
  bool yes;
  return constraint_cursor_matches(&g->how.match.bond, &yes, &g->a->why) && (yes
    || g->now->ended == FINISH_CANCELLED || error_say(&g->a->why,
    "text %zu does not match what it must", g->n - 1));
}

/* The decoder begins anew and the sampler is told the text's number; the cache is left as it is:
   it still has the prompt's rows, and the loop keeps what the next text has in common with the
   last. */
static bool write_one(struct generation *g)
{
  struct memory *m = g->a->o.m;
  struct error *why = &g->a->why;
  struct continuation text = { .n_prompt = 0 };
  if (!new_text(g)) return false;
  g->how.choice.d.sequence = (uint32_t) (g->n - 1);
  constraint_cursor_restart(&g->how.match.bond);
  if (!g->a->c->out_terminal) echo_prompt(g);
  waiting_begin(&g->a->o.wait, writing_words, g);
  bool ok = stop_setup_begin(&g->how.ends, g->a->p.list.id, g->a->p.list.n, why)
    && run_loop(g, &text);
  for (size_t i = text.n_prompt; ok && i < text.text.n; i++)
    ok = ids_push(m, &g->now->id, text.text.id[i], why);
  g->now->ended = text.ended;
  continuation_free(m, &text);
  return ok && end_text(g) && keeps_word(g);
}

/* With beams the texts are there all at once, at the end. The watcher takes the time and asks
   about Ctrl-C. */
static bool see_search(void *ctx, const struct search_step *now)
{
  struct generation *g = ctx;
  g->last = timing_seconds();
  if (now->number == 1) g->first = g->last;
  g->steps = now->number;
  return !g->a->c->interrupted();
}

/* what a search knows of the settings are those that look at the text: repetition penalty, ban
   of n-grams, least number of tokens */
static bool search_texts(struct generation *g, const struct search_source *from,
  struct search_result *out)
{
  struct invocation *a = g->a;
  const struct option_value *of = a->w->of;
  const struct sampling_params *s = &g->how.choice.d.s;
  /* in the order in which read_early counts */
  static const enum early_stopping early[] = { EARLY_FALSE, EARLY_TRUE, EARLY_NEVER };
  struct search_processor process[3] = {
    { .what = PROCESS_REPETITION, .penalty = s->repetition_penalty },
    { .what = PROCESS_NGRAM, .n = s->no_repeat_ngram },
    { .what = PROCESS_MIN_NEW, .n = (size_t) of[OPTION_MIN_TOKENS].count } };
  struct search_settings want = {
    .num_beams = (size_t) of[OPTION_NUM_BEAMS].count,
    .num_return = (size_t) g->how.sequences,
    .max_length = a->p.list.n + a->max_tokens, .length_penalty = 1,
    .early = early[of[OPTION_EARLY_STOPPING].count], .eos = g->eos, .n_eos = g->n_eos,
    .process = process, .n_process = 3, .see = see_search, .ctx = g };
  if (of[OPTION_LENGTH_PENALTY].given)
    want.length_penalty = of[OPTION_LENGTH_PENALTY].real;
  g->began = timing_seconds();
  return search_run(from, a->o.m, a->o.e.k, a->p.list.id, a->p.list.n,
    &want, out, &a->why);
}

/* decodes a text of the search and shows it like any other; the id that ended it is not shown */
static bool take_text(struct generation *g, const struct search_text *t)
{
  if (!new_text(g)) return false;
  struct generated *w = g->now;
  size_t given = g->a->p.list.n;
  w->ended = t->ended;
  w->score = t->score;
  struct error *why = &g->a->why;
  bool ok = stop_setup_begin(&g->how.ends, g->a->p.list.id, given, why);
  echo_prompt(g);
  for (size_t i = given; ok && i < t->n; i++) {
    bool last = i + 1 == t->n && t->ended == FINISH_STOP;
    w->tokens++;
    ok = ids_push(g->a->o.m, &w->id, t->id[i], why)
      && (last || text_stream_id(&g->how.ends.flow, t->id[i], why));
    if (ok && !last && !g->mute) show_token(g, t->id[i]);
  }
  return ok && end_text(g);
}

/* With --no-cache the store forgets all rows of all beams before each step, as the loop without a
   cache does with its one text. */
struct forgetful { struct search_source from; struct store *s; };
static bool score_anew(void *ctx, const struct search_beam *grown, size_t n, float *logits,
  struct error *why)
{
  struct forgetful *f = ctx;
  for (uint32_t q = 0; q < f->s->n_sequences; q++) store_crop(f->s, q, 0);
  return f->from.score(f->from.ctx, grown, n, logits, why);
}

static void searching_words(void *ctx, size_t done, size_t all, char text[WAITING_WORDS])
{
  const struct generation *g = ctx;
  if (g->steps == 0) snprintf(text, WAITING_WORDS, "reading %zu of %zu tokens", done, all);
  else snprintf(text, WAITING_WORDS, "%zu tokens", g->steps);
}

/* a search that was given up before its first step has found no text */
static bool take_none(struct generation *g)
{
  if (!new_text(g)) return false;
  g->now->ended = FINISH_CANCELLED;
  return stop_setup_begin(&g->how.ends, g->a->p.list.id, g->a->p.list.n, &g->a->why)
    && end_text(g);
}

/* Without a cache every scoring forgets all rows first (score_anew); the search itself is the same. Texts
   are written when it is over, since until then any of them may still lose. */
static bool write_beams(struct generation *g)
{
  struct invocation *a = g->a;
  struct generate_context with = { &a->o.e, a->o.lm, a->o.s, a->o.m };
  struct search_model model;
  struct search_source from;
  struct search_result found;
  struct forgetful anew;
  if (a->max_tokens == 0) return error_say(&a->why, "a search writes 1 token or"
      " more; wanted: another --max-new-tokens");
  if (!search_model_open(&model, &with, (size_t)
      a->w->of[OPTION_NUM_BEAMS].count, (size_t)
      a->w->of[OPTION_CHUNK].count, &from, &a->why)) return false;
  anew = (struct forgetful) { from, a->o.s };
  if (a->w->of[OPTION_NO_CACHE].given) from.ctx = &anew, from.score = score_anew;
  waiting_begin(&a->o.wait, searching_words, g);
  bool searched = search_texts(g, &from, &found), ok = searched;
  waiting_end(&a->o.wait);
  search_model_close(&model);
  if (!searched && progress_cancelled(&a->o.wait.told)) return take_none(g);
  for (size_t i = 0; ok && i < found.n; i++)
    ok = take_text(g, &found.text[i]);
  if (searched) search_free(&found);
  g->decoded = g->last - g->first;
  return ok;
}

/* Two things a reader may not know, said once on the standard error, where they cannot become a
   part of the text: the model was trained on conversations with marks between the turns, of
   which a plain prompt has none; and an option has no effect at temperature 0. They are hints
   and not questions, since a script cannot answer. */
static void give_hints(const struct invocation *a, bool greedy)
{
  char words[120];
  if (!a->p.in_ids && !a->w->of[OPTION_PARSE_SPECIAL].given && chat_template_given(a->o.path))
    session_hint(a->c, a->w, "this model was trained on conversations and has a chat template;"
      " the prompt is used as it is (incipit chat sets it as turns)");
  for (int i = 0; i < N_OPTIONS && greedy; i++) {
    enum sample_stage stage = SAMPLE_BIAS; /* after the temperature come cuts, and the draw */
    option_setting((enum option) i, &stage);
    if (!a->w->of[i].given || (stage <= SAMPLE_TEMPERATURE && i != OPTION_SEED)) continue;
    snprintf(words, sizeof words, "--%s changes nothing at temperature 0 (--temperature 1 is the"
      " model as it is)", options_option((enum option) i).name);
    session_hint(a->c, a->w, words);
  }
}

/* The options, the sampler, and room for log-probabilities if anybody wants them; g is to be
   closed in any case. */
static int writing_open(struct generation *g, struct invocation *a)
{
  const struct option_value *of = a->w->of;
  const struct model_config *config = &a->o.lm->config;
  *g = (struct generation) { .a = a, .eos = config->eos, .j = { a->c->out, '\0' } };
  g->n_eos = of[OPTION_IGNORE_EOS].given ? 0 : config->n_eos;
  g->mute = of[OPTION_JSON].given;
  g->k = (size_t) of[OPTION_LOGPROBS].count;
  if (g->k > config->vocab_size) g->k = config->vocab_size;
  int status = decode_setup_open(&g->how, a, &a->why);
  if (status != STATUS_DONE) return status;
  give_hints(a, sampler_setup_greedy(&g->how.choice));
  if (!of[OPTION_LOGPROBS].given && !of[OPTION_JSONL].given) return STATUS_DONE;
  g->logprob = memory_alloc(a->o.m, MEMORY_OTHER, config->vocab_size, sizeof *g->logprob, &a->why);
  return g->logprob != NULL ? STATUS_DONE : STATUS_FAILED;
}

/* Is another text to be begun? After Ctrl-C none is, nor when nobody reads any more, which a text
   whose last token was the one that could not be written does not show. With -n 0 no watcher is
   called that could ask about Ctrl-C, so it is asked here. */
static bool goes_on(const struct generation *g)
{
  const struct invocation *a = g->a;
  return g->n < g->how.sequences && !cancelled(g) && !ferror(a->c->out)
    && !(a->max_tokens == 0 && a->c->interrupted());
}

static int writing_run(struct generation *g)
{
  g->a->c->listen();
  if (g->a->w->of[OPTION_NUM_BEAMS].count > 1)
    return write_beams(g) ? STATUS_DONE : STATUS_FAILED;
  while (goes_on(g))
    if (!write_one(g)) return STATUS_FAILED;
  return STATUS_DONE;
}

static void writing_close(struct generation *g)
{
  struct memory *m = g->a->o.m;
  memory_free(m, g->logprob);
  for (size_t i = 0; i < g->n; i++) {
    struct generated *w = &g->all[i];
    memory_free(m, w->noted);
    bytes_free(m, &w->text);
    ids_free(m, &w->id);
  }
  memory_free(m, g->all);
  decode_setup_close(m, &g->how);
}

static int write_text(struct invocation *a)
{
  struct generation g;
  int status = writing_open(&g, a);
  if (status == STATUS_DONE) status = writing_run(&g);
  if (status == STATUS_DONE) status = finish_writing(&g);
  writing_close(&g);
  return status;
}

int cmd_generate(const struct console *c, const struct command_line *w)
{
  return invocation_run(c, w, write_text);
}
