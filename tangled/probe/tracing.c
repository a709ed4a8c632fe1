/* tracing.c -- made from workshop/20-inspection.w; change it there */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "functions/numbers.h"
#include "probe/door.h"

/* <What is kept during a trace> */
struct tracing {
  struct occasion *a;
  struct json_out j;
  bool in_json, colour, failed, keeps;
  double *logprob; /* [vocab_size] */
  struct candidate *top; /* [1 + k] */
  size_t k;
  uint64_t rows, again; /* in all steps so far */
  const uint32_t *eos;
  size_t n_eos;
  struct decisions how;
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

/* <Say why a token was chosen> */
static const char *reason_of(const struct tracing *g, uint32_t id)
{
  size_t written = g->position + 1 - g->a->p.list.n;
  for (size_t i = 0; i < g->n_eos; i++)
    if (g->eos[i] == id && written > g->how.ends.flow.min_tokens)
      return "stopped";
  return g->how.ends.all.fired != NULL ? "stopped"
    : decisions_reason(&g->how);
}

static const unsigned char *text_of(const struct tracing *g,
  uint32_t id, size_t *n)
{
  *n = 0;
  if (g->a->o.t == NULL) return (const unsigned char *) "";
  return tokenizer_text(g->a->o.t, id, n);
}

/* <Subtract counters> */
static void counters_between(const struct counters *before,
  const struct counters *after, struct counters *did)
{
  uint64_t a[N_COUNTERS], b[N_COUNTERS];
  _Static_assert(sizeof *did == sizeof a, "every counter has its name");
  memcpy(b, before, sizeof b);
  memcpy(a, after, sizeof a);
  for (int i = 0; i < N_COUNTERS; i++) a[i] -= b[i];
  memcpy(did, a, sizeof a);
}

/* <Print a candidate, then a step> */
static void print_candidate(const struct tracing *g,
  const struct candidate *x, bool chosen)
{
  FILE *out = g->a->c->out;
  size_t n;
  const unsigned char *byte = text_of(g, x->id, &n);
  fprintf(out, "  %4" PRIu64 "  %.4f  %6" PRIu32 " ", x->rank,
    num_exp(x->logprob), x->id);
  piece_quote(out, byte, n);
  const char *reason = reason_of(g, x->id);
  if (chosen) fprintf(out, "  <- %s", reason);
  if (chosen && strcmp(decisions_reason(&g->how), "sampled") == 0)
    fprintf(out, " at rank %" PRIu64 " with noise %.3f", x->rank,
      gumbel_noise(g->how.d.seed, 0, g->position, x->id));
  fprintf(out, "\n");
}

static void print_work(const struct tracing *g, size_t kept, size_t rows,
  size_t again)
{
  FILE *out = g->a->c->out;
  for (size_t i = 0; i < kept; i++) fputs("- ", out);
  for (size_t i = 0; i < rows; i++) {
    bool fresh = i >= again;
    if (g->colour) fputs(fresh ? "\x1b[31m" : "\x1b[2m", out);
    fprintf(out, "%c", fresh ? 'C' : 'R');
    if (g->colour) fputs("\x1b[0m", out);
    fputs(i + 1 < rows ? " " : "\n", out);
  }
}

static void print_step(const struct tracing *g, const struct step *now,
  size_t rows, size_t again)
{
  FILE *out = g->a->c->out;
  fprintf(out, "step %zu: %zu rows, %zu new," " %zu again\n  ",
    now->number, rows, rows - again, again);
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

/* <Write a step> */
static void put_candidate(struct tracing *g, const struct candidate *x)
{
  size_t n;
  const unsigned char *byte = text_of(g, x->id, &n);
  put_key(&g->j, "id"), put_count(&g->j, x->id);
  put_key(&g->j, "piece"), put_text(&g->j, byte, n);
  put_key(&g->j, "logprob"), put_double(&g->j, x->logprob);
}

static void put_step(struct tracing *g, const struct step *now,
  size_t rows, size_t again)
{
  struct json_out *j = &g->j;
  struct counters did;
  put_open(j, '{');
  put_key(j, "step"), put_count(j, now->number);
  put_key(j, "length"), put_count(j, now->length);
  put_key(j, "work"), put_open(j, '[');
  for (size_t i = rows; i < now->length; i++) put_word(j, "\"cached\"");
  for (size_t i = 0; i < rows; i++)
    put_word(j, i < again ? "\"redo\"" : "\"new\"");
  put_close(j, ']');
  put_key(j, "top"), put_open(j, '[');
  for (size_t i = 1; i <= g->k; i++) {
    put_open(j, '{');
    put_candidate(g, &g->top[i]);
    put_close(j, '}');
  }
  put_close(j, ']');
  /* <Write the choice, the cache, the work and what was looked at> */
  put_key(j, "chosen"), put_open(j, '{');
  put_candidate(g, &g->top[0]);
  put_key(j, "rank"), put_count(j, g->top[0].rank);
  put_key(j, "why"), put_words(j, reason_of(g, now->chosen));
  put_close(j, '}');
  size_t kept = g->keeps ? now->length : 0;
  put_key(j, "cache_rows"), put_count(j, kept);
  put_key(j, "cache_bytes"), put_count(j, kept * g->a->o.s->row_bytes
    * g->a->o.lm->config.n_layers);
  counters_between(&now->before, &now->after, &did);
  put_key(j, "counters"), put_counters(j, &did);
  put_key(j, "attention"), put_open(j, '[');
  for (size_t i = 0; g->looks && i < now->length; i++)
    put_float(j, g->weights[i]);
  put_close(j, ']');
  put_close(j, '}');
}

/* <Look at what the last row attends to> */
static void take_weights(void *self, enum watch_stage stage,
  uint32_t layer, float *x, size_t rows, size_t width)
{
  struct tracing *g = self;
  if (stage != STAGE_WEIGHTS || layer != g->layer) return;
  size_t longest = width / g->a->o.lm->config.n_heads;
  const float *from = x + (rows - 1) * width
    + g->head_number * longest;
  for (size_t i = 0; i < rows && i < longest; i++)
    g->weights[i] = from[i];
}

static bool look(struct tracing *g, size_t n)
{
  struct occasion *a = g->a;
  struct engine e = a->o.e;
  struct watcher with = { take_weights, g, true };
  struct row *rows = memory_take(a->o.m, FOR_OTHER, n, sizeof *rows,
    &a->why);
  struct pass *p = NULL;
  if (rows == NULL) return false;
  e.c = &g->counters;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) { 0, (uint32_t) i, g->seen[i] };
  store_empty(g->s);
  bool ok = forward_watched(&e, a->o.lm, g->s, rows, n, &with, &p,
    &a->why);
  pass_close(p);
  memory_give(a->o.m, FOR_OTHER, rows, n, sizeof *rows);
  return ok;
}

/* <Watch a step of the trace> */
static bool see_trace(void *self, const struct step *now)
{
  struct tracing *g = self;
  struct occasion *a = g->a;
  size_t again = (size_t) (now->after.kv_rows_recomputed
    - now->before.kv_rows_recomputed);
  size_t rows = (size_t) (now->after.rows - now->before.rows);
  a->o.e.k->log_softmax(&a->o.e, now->logits, 1, a->o.vocab_size,
    g->logprob);
  candidates_find(g->logprob, a->o.vocab_size, now->chosen, g->top,
    g->k);
  if (g->looks && !look(g, now->length)) {
    g->failed = true;
    return false;
  }
  g->seen[now->length] = now->chosen;
  g->position = (uint32_t) now->length;
  g->rows += rows, g->again += again;
  if (g->in_json) put_step(g, now, rows, again);
  else print_step(g, now, rows, again);
  if (fflush(a->c->out) != 0) return false;
  return !a->c->interrupted();
}

/* <Read which head to look at> */
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
      " wanted: LAYER.HEAD, from" " 0.0 to %" PRIu32 ".%" PRIu32, text,
      config->n_layers - 1, config->n_heads - 1);
  g->looks = true, g->layer = (uint32_t) layer;
  g->head_number = (uint32_t) number;
  return true;
}

/* <Begin and end a trace> */
static void begin_trace(struct tracing *g)
{
  const struct ids *list = &g->a->p.list;
  if (g->in_json) {
    put_open(&g->j, '{');
    put_key(&g->j, "prompt_ids"), put_ids(&g->j, list->id, list->n);
    put_key(&g->j, "steps"), put_open(&g->j, '[');
    return;
  }
  fprintf(g->a->c->out, "prompt:");
  for (size_t i = 0; i < list->n; i++) {
    size_t n;
    const unsigned char *byte = text_of(g, list->id[i], &n);
    putc(' ', g->a->c->out);
    if (n > 0) piece_quote(g->a->c->out, byte, n);
    else fprintf(g->a->c->out, "%" PRIu32, list->id[i]);
  }
  fprintf(g->a->c->out, "\n");
}

static void end_trace(struct tracing *g)
{
  if (!g->in_json) {
    fprintf(g->a->c->out, "computed %" PRIu64 " rows: %" PRIu64
      " necessary, %" PRIu64 " again\n", g->rows, g->rows - g->again,
      g->again);
    return;
  }
  put_close(&g->j, ']');
  put_key(&g->j, "totals"), put_open(&g->j, '{');
  put_key(&g->j, "computed"), put_count(&g->j, g->rows);
  put_key(&g->j, "necessary"), put_count(&g->j, g->rows - g->again);
  put_key(&g->j, "redundant"), put_count(&g->j, g->again);
  put_close(&g->j, '}'), put_close(&g->j, '}');
  put_end(&g->j);
}

/* <Run the steps of a trace> */
static int run_steps(struct tracing *g)
{
  struct occasion *a = g->a;
  struct generator with = { &a->o.e, a->o.lm, a->o.s, a->o.m };
  struct settings want = { .max_new_tokens = a->most, .eos = g->eos,
    .n_eos = g->n_eos, .see = see_trace, .self = g, .recall = g->keeps ? store_keep : NULL,
    .chunk = (size_t) a->w->of[OPTION_CHUNK].count };
  struct continuation text;
  decisions_apply(&g->how, a, &want);
  if (!endings_begin(&g->how.ends, a->p.list.id, a->p.list.n, &a->why))
    return STATUS_FAILED;
  memcpy(g->seen, a->p.list.id, a->p.list.n * sizeof *g->seen);
  a->c->listen();
  begin_trace(g);
  bool ok = generate(&with, a->p.list.id, a->p.list.n, &want, &text,
      &a->why) && !g->failed;
  bool cancelled = ok && text.ended == FINISH_CANCELLED;
  if (ok) end_trace(g);
  continuation_free(a->o.m, &text);
  if (!ok || console_end(a->c, STATUS_DONE) != STATUS_DONE)
    return STATUS_FAILED;
  return cancelled ? STATUS_CANCELLED : STATUS_DONE;
}

/* <Trace a text> */
static int trace_text(struct occasion *a)
{
  const struct option_value *of = a->w->of;
  struct tracing g = { .a = a, .j = { a->c->out, '\0' },
    .eos = a->o.lm->config.eos };
  size_t v = a->o.vocab_size;
  g.k = of[OPTION_TOP].given ? (size_t) of[OPTION_TOP].count : 5;
  if (g.k > v) g.k = v;
  g.n_eos = of[OPTION_IGNORE_EOS].given ? 0 : a->o.lm->config.n_eos;
  g.in_json = of[OPTION_JSON].given, g.keeps = of[OPTION_CACHE].given;
  const char *plain = getenv("NO_COLOR");
  g.colour = a->c->out_terminal && (plain == NULL || *plain == '\0');
  if (!of[OPTION_MAX_NEW_TOKENS].given && a->most > 4) a->most = 4;
  if (of[OPTION_ATTENTION].given && !read_head(&g)) return STATUS_USAGE;
  int status = decisions_open(&g.how, a, &a->why);
  /* <Take the rooms of a trace> */
  size_t room = a->context + 1;
  g.logprob = memory_take(a->o.m, FOR_OTHER, v, sizeof *g.logprob,
    &a->why);
  g.top = memory_take(a->o.m, FOR_OTHER, 1 + g.k, sizeof *g.top,
    &a->why);
  g.seen = memory_take(a->o.m, FOR_OTHER, room, sizeof *g.seen, &a->why);
  g.weights = memory_take(a->o.m, FOR_OTHER, room, sizeof *g.weights,
    &a->why);
  if (g.looks) g.s = store_open(a->o.m, &a->o.lm->config, 1, &a->why);
  bool ok = g.logprob != NULL && g.top != NULL && g.seen != NULL
    && g.weights != NULL && (!g.looks || g.s != NULL);
  if (status == STATUS_DONE) status = ok ? run_steps(&g) : STATUS_FAILED;
  /* <Return the rooms of a trace> */
  memory_give(a->o.m, FOR_OTHER, g.logprob, v, sizeof *g.logprob);
  memory_give(a->o.m, FOR_OTHER, g.top, 1 + g.k, sizeof *g.top);
  memory_give(a->o.m, FOR_OTHER, g.seen, room, sizeof *g.seen);
  memory_give(a->o.m, FOR_OTHER, g.weights, room, sizeof *g.weights);
  store_close(g.s);
  decisions_close(a->o.m, &g.how);
  return status;
}

int run_trace(const struct console *c, const struct wishes *w)
{
  return occasion_run(c, w, trace_text);
}
