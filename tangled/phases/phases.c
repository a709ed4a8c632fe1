/* phases.c -- made from chapters/05-phases.w; change it there */

/* What a pass has done, bounds for its time, and the perplexity of a text. Nothing
   here looks at a clock; measure.c does. Counters are only ever added and subtracted,
   so the work between two moments is the difference of two copies. The losses of a
   text are added in the order of its tokens, one by one: the sum does not depend on
   how many rows a pass had. */
#include <inttypes.h>
#include <math.h>
#include "phases/phases.h"

/* <Sum up the work> */
uint64_t work_madds(const struct counters *c)
{ return c->madds_linear + c->madds_attention + c->madds_head; }

/* activations are left out: between two steps they do not leave the cache of the
   processor */
uint64_t work_bytes(const struct counters *c)
{
  return c->weight_bytes_read + c->cache_bytes_read
    + c->cache_bytes_written;
}

void counters_add(struct counters *a, const struct counters *b)
{
  for (int i = 0; i < N_COUNTERS; i++) a->of[i] += b->of[i];
}

struct counters counters_since(const struct counters *before,
  const struct counters *after)
{
  struct counters between = *after;
  for (int i = 0; i < N_COUNTERS; i++) between.of[i] -= before->of[i];
  return between;
}

/* seconds: the longer of calculating and of reading, as if the two overlapped
   completely */
double work_bound(const struct roofline *m, const struct counters *c)
{
  return fmax((double) work_madds(c) / m->madds,
    (double) work_bytes(c) / m->bytes);
}

/* <Score a window> */
enum { READ_AT_ONCE = 64, SCORED_AT_ONCE = 16 };

/* [SCORED_AT_ONCE][vocab_size], twice */
struct ppl_reader { const struct generate_context *g; const uint32_t *id;
  float *logits; double *logprob; struct perplexity *out; };

/* The row of token i predicts token i+1. A few rows at a time, because logits and
   their logarithms take twelve bytes for each token of the vocabulary. */
static bool score_rows(struct ppl_reader *r, struct pass *p, size_t base,
  size_t first, size_t last, struct error *why)
{
  const struct generate_context *g = r->g;
  size_t v = g->lm->config.vocab_size, which[SCORED_AT_ONCE], n;
  for (size_t i = first; i < last; i += n) {
    for (n = 0; n < SCORED_AT_ONCE && i + n < last; n++) which[n] = i + n;
    if (!model_logits(g->e, g->lm, p, which, n, r->logits, why)) return false;
    g->e->k->log_softmax(g->e, r->logits, n, v, r->logprob);
    for (size_t k = 0; k < n; k++)
      /* <Add the loss of the token after row i+k> */
      {
        double loss = -r->logprob[k * v + r->id[base + i + k + 1]];
        if (!isfinite(loss))
          return error_say(why, "the loss of token %zu is not finite; wanted: finite logits",
            base + i + k + 1);
        r->out->loss += loss, r->out->tokens++;
      }
  }
  return true;
}

/* The store is emptied, for positions begin at 0 in each window. seen is the first
   token that no earlier window has scored; its prediction is in the row before it.
   The last row of a window predicts nothing that is in it. */
static bool score_window(struct ppl_reader *r, size_t begin, size_t end,
  size_t seen, struct error *why)
{
  struct row rows[READ_AT_ONCE];
  bool ok = true;
  store_crop(r->g->s, 0, 0);
  for (size_t at = begin, n; ok && at < end; at += n) {
    struct pass *p = NULL;
    n = end - at < READ_AT_ONCE ? end - at : READ_AT_ONCE;
    for (size_t i = 0; i < n; i++)
      rows[i] = (struct row) { 0, (uint32_t) (at + i - begin),
        r->id[at + i] };
    size_t first = seen > at + 1 ? seen - at - 1 : 0;
    size_t last = at + n == end ? n - 1 : n;
    ok = model_forward(r->g->e, r->g->lm, r->g->s, rows, n, &p, why)
      && score_rows(r, p, at, first, last, why);
    pass_close(p);
  }
  return ok;
}

/* <Read a text in windows> */

/* Windows overlap when stride is less than context, and each token is scored once: in
   the first window that has it. The first token of a window has nothing before it and
   is scored by none but an earlier window. */
static bool read_windows(struct ppl_reader *r, size_t n, size_t context,
  size_t stride, struct error *why)
{
  size_t seen = 1, end = 0;
  for (size_t begin = 0; end < n; begin += stride) {
    end = n - begin < context ? n : begin + context;
    if (seen <= begin) seen = begin + 1;
    if (!score_window(r, begin, end, seen, why)) return false;
    r->out->windows++;
    seen = end;
  }
  return true;
}

/* All arguments are checked before anything is read, since a long text takes minutes. */
bool perplexity_of(const struct generate_context *g, const uint32_t *id, size_t n,
  size_t context, size_t stride, struct perplexity *out, struct error *why)
{
  size_t max = g->s->n_positions, v = g->lm->config.vocab_size;
  struct memory *m = g->m;
  *out = (struct perplexity) { .tokens = 0 };
  if (context < 1 || context > max)
    return error_say(why, "windows of %zu tokens; wanted: 1 to %zu, the model's context",
      context, max);
  if (stride < 1 || stride > context)
    return error_say(why, "windows every %zu tokens; wanted: 1 to %zu, the length of a window",
      stride, context);
  for (size_t i = 0; i < n; i++)
    if (id[i] >= v) return error_say(why, "token %zu of the text is"
      " id %" PRIu32 "; the vocabulary has %zu", i, id[i], v);
  struct ppl_reader r = { .g = g, .id = id, .out = out };
  r.logits = memory_alloc(m, MEMORY_ACTIVATIONS, SCORED_AT_ONCE * v,
    sizeof *r.logits, why);
  if (r.logits != NULL) r.logprob = memory_alloc(m, MEMORY_ACTIVATIONS,
    SCORED_AT_ONCE * v, sizeof *r.logprob, why);
  bool ok = r.logprob != NULL && read_windows(&r, n, context, stride, why);
  memory_free(m, r.logprob);
  memory_free(m, r.logits);
  return ok;
}
