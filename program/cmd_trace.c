/* cmd_trace.c -- incipit trace: the loop, step by step.

   For each step: which rows the pass computed for the first time and which again, the likeliest
   tokens with their probabilities, and the choice with its reason. The rows are read off the
   counters before and after the step, so the trace has no opinion of its own about what the
   engine does: a loop that computes less is shown as one that computes less. The loop is the one
   of generate with another watcher, so what is traced is what is generated. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "functions/numbers.h"
#include "cache/cache.h"
#include "phases/phases.h"
#include "command.h"

struct tracing {
  struct invocation *a;
  struct json_writer j;
  bool in_json, failed, keeps;
  struct arena scratch;
  double *logprob; /* [vocab_size] */
  struct candidate *top; /* [1 + k] */
  size_t k;
  uint64_t rows, again; /* in all steps so far */
  const uint32_t *eos;
  size_t n_eos;
  struct decode_setup how;
  uint32_t position; /* of the token that was chosen */
  /* [context + 1]: the text that the step read, and the choice */
  uint32_t *seen;
  /* attention is wanted, that of layer and head_number */
  bool looks;
  uint32_t layer, head_number;
  struct store *s; /* attention's own */
  struct counters counters;
  float *weights; /* [context] */
};

/* greedy, forced or sampled; whatever it was, it may have ended the text: stopped. An end token
   that was the only one allowed was forced like any other */
static const char *reason_of(const struct tracing *g, uint32_t id)
{
  size_t written = g->position + 1 - g->a->p.list.n;
  const char *reason = decode_setup_reason(&g->how);
  if (strcmp(reason, "forced") == 0) return reason;
  for (size_t i = 0; i < g->n_eos; i++)
    if (g->eos[i] == id && written > g->how.ends.flow.min_tokens)
      return "stopped";
  return g->how.ends.all.fired != NULL ? "stopped" : reason;
}

/* a token's bytes; none where there is no tokenizer */
static const unsigned char *text_of(const struct tracing *g,
  uint32_t id, size_t *n)
{
  *n = 0;
  if (g->a->o.t == NULL) return (const unsigned char *) "";
  return tokenizer_text(g->a->o.t, id, n);
}

/* why the chosen token was chosen. Of one that was drawn the Gumbel noise is shown, since that
   is what it won by; rank is the model's */
static void print_reason(const struct tracing *g, const struct candidate *x)
{
  FILE *out = g->a->c->out;
  const char *reason = reason_of(g, x->id);
  bool drawn = strcmp(decode_setup_reason(&g->how), "sampled") == 0;
  fprintf(out, "  <- %s", reason);
  if (drawn) fprintf(out, " at rank %" PRIu64 " with noise %.3f", x->rank,
      gumbel_noise(g->how.choice.d.seed, 0, g->position, x->id));
  if (g->how.match.must != NULL && reason == decode_setup_reason(&g->how)
      && strcmp(reason, "forced") != 0)
    fprintf(out, " among %zu", decode_setup_allowed(&g->how));
}

/* A candidate: rank, probability, id, text, and after the chosen one the reason. Rank and
   probability are the model's. A probability that four digits cannot tell from none is not
   none. */
static void print_candidate(const struct tracing *g,
  const struct candidate *x, bool chosen)
{
  FILE *out = g->a->c->out;
  size_t n;
  const unsigned char *byte = text_of(g, x->id, &n);
  double p = num_exp(x->logprob);
  fprintf(out, p < 0.00005 ? "  %4" PRIu64 " <%.4f  %6" PRIu32 " " : "  %4" PRIu64 "  %.4f  %6"
    PRIu32 " ", x->rank, p < 0.00005 ? 0.0001 : p, x->id);
  prompt_quote_piece(out, byte, n);
  if (chosen) print_reason(g, x);
  fprintf(out, "\n");
}

/* n rows of one kind: its letter for each, or once with their number. Red are the new ones, dim
   those that are computed again */
static void print_rows(const struct tracing *g, char kind, size_t n, bool counted)
{
  FILE *out = g->a->c->out;
  const char *colour = kind == 'C' ? "\x1b[31m" : "\x1b[2m";
  bool coloured = g->a->c->colour && kind != '-';
  for (size_t i = 0; i < (counted && n > 0 ? 1 : n); i++) {
    fprintf(out, " %s%c", coloured ? colour : "", kind);
    if (counted && n > 1) fprintf(out, "\xc3\x97%zu", n);
    if (coloured) fputs("\x1b[0m", out);
  }
}

/* A letter for each row: - kept, C computed, R done again. A row of letters that would not fit
   on the terminal is counted by kind; into a file go letters, which programs count. */
static void print_work(const struct tracing *g, size_t kept, size_t rows,
  size_t again)
{
  FILE *out = g->a->c->out;
  bool counted = g->a->c->columns > 0 && 2 * (kept + rows) + 1 > g->a->c->columns;
  fputs(" ", out);
  print_rows(g, '-', kept, counted);
  print_rows(g, 'R', again, counted);
  print_rows(g, 'C', rows - again, counted);
  putc('\n', out);
}

/* the chosen token gets a line of its own if it is not among the likeliest */
static void print_step(const struct tracing *g, const struct step *now,
  size_t rows, size_t again)
{
  FILE *out = g->a->c->out;
  fprintf(out, "step %zu: %zu rows, %zu new, %zu again", now->number, rows, rows - again, again);
  if (g->how.match.must != NULL) fprintf(out, "; allowed %zu of %" PRIu32,
    decode_setup_allowed(&g->how), g->a->o.vocab_size);
  fprintf(out, "\n");
  print_work(g, now->length - rows, rows, again);
  bool listed = false;
  for (size_t i = 1; i <= g->k; i++) {
    bool chosen = g->top[i].id == now->chosen;
    print_candidate(g, &g->top[i], chosen);
    listed = listed || chosen;
  }
  if (!listed) print_candidate(g, &g->top[0], true);
  if (!g->looks) return;
  fprintf(out, "  looks at");
  for (size_t i = 0; i < now->length; i++)
    fprintf(out, " %.3f", g->weights[i]);
  fprintf(out, "\n");
}

static void put_candidate(struct tracing *g, const struct candidate *x)
{
  size_t n;
  const unsigned char *byte = text_of(g, x->id, &n);
  put_count_as(&g->j, "id", x->id);
  put_text_as(&g->j, "piece", byte, n);
  put_double_as(&g->j, "logprob", x->logprob);
}

static void put_step(struct tracing *g, const struct step *now,
  size_t rows, size_t again)
{
  struct json_writer *j = &g->j;
  writer_open(j, '{');
  put_count_as(j, "step", now->number);
  put_count_as(j, "length", now->length);
  put_open_as(j, "work", '[');
  for (size_t i = rows; i < now->length; i++) writer_word(j, "\"cached\"");
  for (size_t i = 0; i < rows; i++)
    writer_word(j, i < again ? "\"redo\"" : "\"new\"");
  writer_close(j, ']');
  put_open_as(j, "top", '[');
  for (size_t i = 1; i <= g->k; i++) {
    writer_open(j, '{');
    put_candidate(g, &g->top[i]);
    writer_close(j, '}');
  }
  writer_close(j, ']');
  /* the choice, what is kept for the next step (0 if nothing is), the work of this step, and the
     weights of the head that was asked for */
  put_open_as(j, "chosen", '{');
  put_candidate(g, &g->top[0]);
  put_count_as(j, "rank", g->top[0].rank);
  put_words_as(j, "why", reason_of(g, now->chosen));
  if (g->how.match.must != NULL) put_count_as(j, "allowed", decode_setup_allowed(&g->how));
  writer_close(j, '}');
  size_t kept = g->keeps ? now->length : 0;
  put_count_as(j, "cache_rows", kept);
  put_count_as(j, "cache_bytes", kept * g->a->o.s->row_bytes
    * g->a->o.lm->config.n_layers);
  struct counters did = counters_since(&now->before, &now->after);
  writer_key(j, "counters");
  counters_put(j, &did);
  put_open_as(j, "attention", '[');
  for (size_t i = 0; g->looks && i < now->length; i++)
    writer_float(j, g->weights[i]);
  writer_close(j, ']');
  writer_close(j, '}');
}

/* Attention is no part of what the loop reports. --attention runs a second pass over the same
   text, with a watcher, a store of its own and counters that nobody reads, so the numbers of the
   trace stay those of the loop. Weights come head by head, as many for each as the longest text
   in the pass has positions. */
static void take_weights(void *ctx, enum tap_point point,
  uint32_t layer, float *x, size_t rows, size_t width)
{
  struct tracing *g = ctx;
  if (point != TAP_WEIGHTS || layer != g->layer) return;
  size_t max_len = width / g->a->o.lm->config.n_heads;
  const float *from = x + (rows - 1) * width
    + g->head_number * max_len;
  for (size_t i = 0; i < rows && i < max_len; i++)
    g->weights[i] = from[i];
}

/* The weights of attention are looked at in a pass of its own over the whole text, in a store and with
   counters of its own, so that looking changes nothing in what is traced. */
static bool look(struct tracing *g, size_t n)
{
  struct invocation *a = g->a;
  struct engine e = a->o.e;
  struct watcher with = { take_weights, g, true };
  struct row *rows = memory_alloc(a->o.m, MEMORY_OTHER, n, sizeof *rows,
    &a->why);
  struct pass *p = NULL;
  if (rows == NULL) return false;
  e.c = &g->counters;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) { 0, (uint32_t) i, g->seen[i] };
  store_clear(g->s);
  bool ok = model_forward_watched(&e, a->o.lm, g->s, rows, n, &with, &p,
    &a->why);
  pass_close(p);
  memory_free(a->o.m, rows);
  return ok;
}

static void reading_words(void *ctx, size_t done, size_t all, char text[WAITING_WORDS])
{
  (void) ctx;
  snprintf(text, WAITING_WORDS, "reading %zu of %zu tokens", done, all);
}

/* Counts first, then the look, then the printing: a look takes as long as a pass and may be cancelled,
   and a step of which half is printed is worse than none. */
static bool see_trace(void *ctx, const struct step *now)
{
  struct tracing *g = ctx;
  struct invocation *a = g->a;
  size_t again = (size_t) (now->after.kv_rows_recomputed
    - now->before.kv_rows_recomputed);
  size_t rows = (size_t) (now->after.rows - now->before.rows);
  a->o.e.k->log_softmax(&a->o.e, now->logits, 1, a->o.vocab_size,
    g->logprob);
  prompt_candidates(g->logprob, a->o.vocab_size, now->chosen, g->top,
    g->k);
  waiting_end(&a->o.wait);
  if (g->looks && !look(g, now->length)) {
    g->failed = !progress_cancelled(&a->o.wait.told);
    return false;
  }
  g->seen[now->length] = now->chosen;
  g->position = (uint32_t) now->length;
  g->rows += rows, g->again += again;
  if (g->in_json) put_step(g, now, rows, again);
  else {
    struct folding f;
    folding_begin(&f, a->c);
    a->c = &f.c;
    print_step(g, now, rows, again);
    a->c = f.real;
    folding_end(&f);
  }
  if (!console_flush(a->c)) return false;
  waiting_begin(&a->o.wait, reading_words, NULL);
  return !a->c->interrupted();
}

/* LAYER.HEAD, both counted from 0 and checked against the model */
static bool read_head(struct tracing *g)
{
  const struct model_config *config = &g->a->o.lm->config;
  const char *text = g->a->w->of[OPTION_ATTENTION].text;
  char *end;
  unsigned long layer = strtoul(text, &end, 10), number = 0;
  bool ok = *text >= '0' && *text <= '9' && *end == '.' && end[1] >= '0'
    && end[1] <= '9';
  if (ok) number = strtoul(end + 1, &end, 10);
  if (!ok || *end != '\0' || layer >= config->n_layers
      || number >= config->n_heads)
    return error_say(&g->a->why, "--attention is `%s';"
      " wanted: LAYER.HEAD, from 0.0 to %" PRIu32 ".%" PRIu32, text,
      config->n_layers - 1, config->n_heads - 1);
  g->looks = true;
  g->layer = (uint32_t) layer;
  g->head_number = (uint32_t) number;
  return true;
}

/* The prompt as the model sees it: pieces in quotation marks, so that a blank at the end can be
   seen. The sum at the end is what chapter 3 is about: rows computed, rows that would have been
   enough, and the difference. */
static void print_prompt(struct tracing *g, FILE *out)
{
  const struct ids *list = &g->a->p.list;
  fprintf(out, "C computed, R computed again, - from the cache\nprompt:");
  for (size_t i = 0; i < list->n; i++) {
    size_t n;
    const unsigned char *byte = text_of(g, list->id[i], &n);
    putc(' ', out);
    if (n > 0) prompt_quote_piece(out, byte, n);
    else fprintf(out, "%" PRIu32, list->id[i]);
  }
  fprintf(out, "\n");
}

static void open_trace(struct tracing *g)
{
  writer_open(&g->j, '{');
  put_ids_as(&g->j, "prompt_ids", g->a->p.list.id, g->a->p.list.n);
  put_open_as(&g->j, "steps", '[');
}

static void end_trace(struct tracing *g)
{
  if (!g->in_json) {
    struct folding f;
    folding_begin(&f, g->a->c);
    fprintf(f.c.out, "computed %" PRIu64 " rows: %" PRIu64 " necessary, %" PRIu64 " again\n",
      g->rows, g->rows - g->again, g->again);
    folding_end(&f);
    return;
  }
  writer_close(&g->j, ']');
  put_open_as(&g->j, "totals", '{');
  put_count_as(&g->j, "computed", g->rows);
  put_count_as(&g->j, "necessary", g->rows - g->again);
  put_count_as(&g->j, "redundant", g->again);
  writer_close(&g->j, '}');
  writer_close(&g->j, '}');
  writer_end(&g->j);
}

/* A trace that is interrupted ends with its sum like one that has finished, because half an
   object is no object. */
static int run_steps(struct tracing *g)
{
  struct invocation *a = g->a;
  struct generate_context with = { &a->o.e, a->o.lm, a->o.s, a->o.m };
  struct generate_options want = { .max_new_tokens = a->max_tokens, .eos = g->eos,
    .n_eos = g->n_eos, .on_step = see_trace, .ctx = g, .recall = g->keeps ? store_match_prefix : NULL,
    .chunk = (size_t) a->w->of[OPTION_CHUNK].count };
  struct continuation text;
  decode_setup_apply(&g->how, a, &want);
  if (!stop_setup_begin(&g->how.ends, a->p.list.id, a->p.list.n, &a->why))
    return STATUS_FAILED;
  memcpy(g->seen, a->p.list.id, a->p.list.n * sizeof *g->seen);
  a->c->listen();
  if (g->in_json) open_trace(g);
  else {
    struct folding f;
    folding_begin(&f, a->c);
    print_prompt(g, f.c.out);
    folding_end(&f);
  }
  waiting_begin(&a->o.wait, reading_words, NULL);
  bool ok = generate(&with, a->p.list.id, a->p.list.n, &want, &text,
      &a->why) && !g->failed;
  waiting_end(&a->o.wait);
  bool cancelled = ok && text.ended == FINISH_CANCELLED;
  if (ok) end_trace(g);
  continuation_free(a->o.m, &text);
  if (!ok || console_end(a->c, STATUS_DONE) != STATUS_DONE)
    return STATUS_FAILED;
  return cancelled ? STATUS_CANCELLED : STATUS_DONE;
}

/* the arrays of g: for the text all that the context could hold and one token more, which is never
   read; and a store, if the weights of a head are wanted */
static bool tracing_alloc(struct tracing *g)
{
  struct invocation *a = g->a;
  struct arena *scratch = &g->scratch;
  struct error *why = &a->why;
  size_t v = a->o.vocab_size, cap = a->context + 1;
  g->logprob = arena_alloc(scratch, MEMORY_OTHER, v, sizeof *g->logprob, why);
  g->top = arena_alloc(scratch, MEMORY_OTHER, 1 + g->k, sizeof *g->top, why);
  g->seen = arena_alloc(scratch, MEMORY_OTHER, cap, sizeof *g->seen, why);
  g->weights = arena_alloc(scratch, MEMORY_OTHER, cap, sizeof *g->weights, why);
  if (scratch->refused) return false;
  if (g->looks) g->s = cache_open(a->o.m, &a->o.lm->config, 1, &(struct cache_options){ .rows = 0 }, why);
  return !g->looks || g->s != NULL;
}

/* options, sampler, and arrays. Four tokens are written by default: that fits on a screen. g is to
   be closed in any case */
static int tracing_open(struct tracing *g, struct invocation *a)
{
  const struct option_value *of = a->w->of;
  size_t v = a->o.vocab_size;
  *g = (struct tracing) { .a = a, .j = { a->c->out, '\0' }, .eos = a->o.lm->config.eos,
    .scratch.m = a->o.m };
  g->k = of[OPTION_TOP].given ? (size_t) of[OPTION_TOP].count : 5;
  if (g->k > v) g->k = v;
  g->n_eos = of[OPTION_IGNORE_EOS].given ? 0 : a->o.lm->config.n_eos;
  g->in_json = of[OPTION_JSON].given;
  g->keeps = of[OPTION_CACHE].given;
  if (!of[OPTION_MAX_NEW_TOKENS].given && a->max_tokens > 4) a->max_tokens = 4;
  if (of[OPTION_ATTENTION].given && !read_head(g)) return STATUS_USAGE;
  int status = decode_setup_open(&g->how, a, &a->why);
  if (status == STATUS_DONE && !tracing_alloc(g)) status = STATUS_FAILED;
  return status;
}

static void tracing_close(struct tracing *g)
{
  struct invocation *a = g->a;
  arena_free(&g->scratch);
  store_close(g->s);
  decode_setup_close(a->o.m, &g->how);
}

static int trace_text(struct invocation *a)
{
  struct tracing g;
  int status = tracing_open(&g, a);
  if (status == STATUS_DONE) status = run_steps(&g);
  tracing_close(&g);
  return status;
}

int cmd_trace(const struct console *c, const struct command_line *w)
{
  return invocation_run(c, w, trace_text);
}
