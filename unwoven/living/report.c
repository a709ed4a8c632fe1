/* report.c -- what a page is told: the present text, the tree, and the stages of a choice.

   The fields under "step" have the names of `incipit trace --json`, and its numbers: a test compares the two. */

#include <string.h>
#include "cache/share.h"
#include "functions/numbers.h"
#include "living/json.h"
#include "living/living.h"

/* how many of the likeliest tokens a step names, as the command does, and how many a stage */
enum { STEP_TOP = 5, STAGE_TOP = 12 };

static struct report begin(struct living *g)
{
  g->out.n = 0;
  return (struct report) { .m = &g->m, .out = &g->out, .why = &g->why, .ok = true };
}

static bool end(struct living *g, const struct report *j)
{
  return j->ok && bytes_push(&g->m, &g->out, "", 1, &g->why);
}

static void put_piece(const struct living *g, struct report *j, const char *key, uint32_t id)
{
  size_t n;
  const unsigned char *byte = tokenizer_text(g->t, id, &n);
  report_text(j, key, byte, n);
}

static void put_token(const struct living *g, struct report *j, uint32_t id, double logprob)
{
  report_count(j, "id", id);
  put_piece(g, j, "piece", id);
  report_real(j, "logprob", logprob);
}

/* the likeliest of g->logprob, of equals the lower id */
static size_t likeliest(const struct living *g, uint32_t *id, size_t most)
{
  const double *p = g->logprob;
  size_t n = 0;
  for (uint32_t v = 0; v < g->lm->config.vocab_size; v++) {
    if (n == most && !(p[v] > p[id[n - 1]])) continue;
    size_t at = n < most ? n++ : n - 1;
    for (; at > 0 && p[v] > p[id[at - 1]]; at--) id[at] = id[at - 1];
    id[at] = v;
  }
  return n;
}

static void put_counters(struct report *j, const struct counters *a, const struct counters *b)
{
  static const char *const name[] = { "passes", "rows", "kv_rows_computed", "kv_rows_recomputed", "qk_pairs",
    "madds_linear", "madds_attention", "madds_head", "weight_bytes_read", "cache_bytes_read", "cache_bytes_written" };
  _Static_assert(sizeof name / sizeof *name == N_COUNTERS, "a counter without a name");
  report_open(j, "counters", '{');
  for (int i = 0; i < N_COUNTERS; i++) report_count(j, name[i], b->of[i] - a->of[i]);
  report_close(j, '}');
}

static uint64_t madds(const struct counters *c)
{
  return c->madds_linear + c->madds_attention + c->madds_head;
}

static void put_work(struct report *j, const struct living_read *r, size_t n)
{
  uint64_t again = r->after.kv_rows_recomputed - r->before.kv_rows_recomputed;
  report_open(j, "work", '[');
  for (size_t i = r->rows; i < n; i++) report_words(j, NULL, "cached");
  for (size_t i = 0; i < r->rows; i++) report_words(j, NULL, i < again ? "redo" : "new");
  report_close(j, ']');
}

static void put_choice(const struct living *g, struct report *j, const char *key, const struct living_node *k)
{
  report_open(j, key, '{');
  put_token(g, j, k->id, k->logprob);
  report_count(j, "rank", k->rank);
  report_words(j, "why", k->why);
  if (strcmp(key, "choice") == 0) report_real(j, "probability", num_exp(k->logprob));
  report_close(j, '}');
}

/* the step that wrote the token of k, after the text that ends at p */
static void put_step(struct living *g, struct report *j, const struct living_node *p, const struct living_node *k)
{
  const struct living_read *r = &p->read;
  uint32_t id[STEP_TOP];
  g->e.k->log_softmax(&g->e, r->logits, 1, g->lm->config.vocab_size, g->logprob);
  size_t n = likeliest(g, id, STEP_TOP), kept = r->cached ? p->n : 0;
  report_open(j, "step", '{');
  report_count(j, "step", k->n - g->prompt.n);
  report_count(j, "length", p->n);
  put_work(j, r, p->n);
  report_open(j, "top", '[');
  for (size_t i = 0; i < n; i++) {
    report_open(j, NULL, '{');
    put_token(g, j, id[i], g->logprob[id[i]]);
    report_close(j, '}');
  }
  report_close(j, ']');
  put_choice(g, j, "chosen", k);
  report_count(j, "cache_rows", kept);
  report_count(j, "cache_bytes", kept * g->s->row_bytes * g->lm->config.n_layers);
  put_counters(j, &r->before, &r->after);
  report_open(j, "attention", '[');
  report_close(j, ']');
  report_close(j, '}');
}

/* pages that hold rows of a sequence, and those of them that another has as well */
static size_t pages_of(const struct living *g, uint32_t sequence, size_t rows, size_t *shared)
{
  size_t n = (rows + LIVING_PAGE - 1) / LIVING_PAGE;
  *shared = 0;
  for (size_t i = 0; i < n; i++) {
    struct cache_block b;
    if (cache_block_of(g->s, sequence, i, &b) && cache_block_in_use(g->s, &b)) ++*shared;
  }
  return n;
}

static void put_search(const struct living *g, struct report *j)
{
  const struct search_result *f = &g->found;
  report_open(j, "beams", '[');
  for (size_t i = 0; i < f->n; i++) {
    report_open(j, NULL, '{');
    report_open(j, "ids", '[');
    for (size_t k = 0; k < f->text[i].n; k++) report_count(j, NULL, f->text[i].id[k]);
    report_close(j, ']');
    report_open(j, "pieces", '[');
    for (size_t k = 0; k < f->text[i].n; k++) put_piece(g, j, NULL, f->text[i].id[k]);
    report_close(j, ']');
    report_real(j, "sum", f->text[i].sum);
    report_real(j, "score", f->text[i].score);
    report_close(j, '}');
  }
  report_close(j, ']');
  report_count(j, "beams_compute", g->search_madds);
  report_open(j, "search", '[');
  for (size_t i = 0; i < g->grown.n; i++) {
    const struct tree_node *k = &g->grown.node[i];
    report_open(j, NULL, '{');
    report_count(j, "node", i + 1);
    report_count(j, "parent", k->parent);
    report_count(j, "step", k->number);
    put_token(g, j, k->token, k->logprob);
    report_count(j, "rank", k->rank), report_words(j, "why", tree_reason_name(k->reason));
    report_flag(j, "chosen", k->chosen);
    report_close(j, '}');
  }
  report_close(j, ']');
}

static void put_ids(struct living *g, struct report *j)
{
  size_t n = living_walk(g, g->now);
  report_open(j, "ids", '[');
  for (size_t i = 0; i < n; i++) report_count(j, NULL, g->path[i]);
  report_close(j, ']');
  report_open(j, "pieces", '[');
  for (size_t i = 0; i < n; i++) put_piece(g, j, NULL, g->path[i]);
  report_close(j, ']');
}

static void put_work_of_text(struct living *g, struct report *j, const struct living_node *p)
{
  struct counters all = living_base(g, g->now), none = { .passes = 0 };
  const struct counters *before = p == NULL ? &none : &p->read.before, *after = p == NULL ? &none : &p->read.after;
  size_t rows = p == NULL ? 0 : p->n, shared, pages = pages_of(g, g->at, store_length(g->s, g->at), &shared);
  bool kept = p != NULL && p->read.cached;
  report_count(j, "seq_len", rows);
  report_flag(j, "cache", g->wish.cache);
  report_count(j, "kv_cache_bytes", kept ? rows * g->s->row_bytes * g->lm->config.n_layers : 0);
  report_count(j, "compute", madds(&all));
  report_count(j, "compute_step", madds(after) - madds(before));
  report_hash(j, "logits_hash", p == NULL ? 0 : p->read.hash);
  report_hash(j, "hash_all", p == NULL ? 0 : p->read.chain);
  report_count(j, "pages", pages);
  report_count(j, "pages_shared", shared);
}

bool living_put_state(struct living *g)
{
  struct report j = begin(g);
  const struct living_node *k = &g->node[g->now], *p = g->now == 0 ? NULL : &g->node[k->parent];
  report_open(&j, NULL, '{');
  put_ids(g, &j);
  report_count(&j, "prompt_tokens", g->prompt.n);
  report_count(&j, "node", g->now);
  put_work_of_text(g, &j, p);
  report_flag(&j, "end", living_over(g));
  report_words(&j, "kernels", g->e.k->name);
  if (p != NULL) put_choice(g, &j, "choice", k), put_step(g, &j, p, k);
  if (g->found.n > 0) put_search(g, &j);
  report_close(&j, '}');
  return end(g, &j);
}

/* A place may be within the rows of several texts. Those that end at it or go on after it have its rows;
   of these the first is asked. */
static size_t pages_of_place(struct living *g, uint32_t k, size_t *shared)
{
  size_t n = living_walk(g, k), rows = g->node[k].read.logits != NULL ? n : n - 1;
  *shared = 0;
  for (uint32_t i = 0; i < LIVING_TEXTS; i++) {
    const uint32_t *token = store_tokens(g->s, i);
    if (!g->text[i].taken || store_length(g->s, i) < rows || rows == 0
        || memcmp(token, g->path, rows * sizeof *token) != 0) continue;
    return pages_of(g, i, rows, shared);
  }
  return 0;
}

bool living_put_tree(struct living *g)
{
  struct report j = begin(g);
  report_open(&j, NULL, '[');
  for (uint32_t i = 0; i < g->n; i++) {
    const struct living_node *k = &g->node[i];
    size_t shared, pages = pages_of_place(g, i, &shared);
    report_open(&j, NULL, '{');
    report_count(&j, "node", i);
    if (i > 0) report_count(&j, "parent", k->parent), put_token(g, &j, k->id, k->logprob);
    if (i > 0) report_real(&j, "probability", num_exp(k->logprob)), report_count(&j, "rank", k->rank);
    report_words(&j, "why", k->why);
    report_flag(&j, "read", k->read.logits != NULL);
    report_count(&j, "pages", pages), report_count(&j, "shared", shared);
    report_close(&j, '}');
  }
  report_close(&j, ']');
  return end(g, &j);
}

/* the candidates that are left, the likeliest first, and what all the others have together */
static void put_distribution(struct living *g, struct report *j, const char *name)
{
  struct funnel *f = &g->d.f;
  double rest = 0;
  funnel_distribution(f);
  report_open(j, NULL, '{');
  report_words(j, "stage", name);
  report_count(j, "left", f->n);
  report_open(j, "top", '[');
  for (size_t i = 0; i < f->n; i++) {
    if (i >= STAGE_TOP) {
      rest += f->weight[i];
      continue;
    }
    report_open(j, NULL, '{');
    report_count(j, "id", f->candidates[i]);
    put_piece(g, j, "piece", f->candidates[i]);
    report_real(j, "probability", f->weight[i]);
    report_close(j, '}');
  }
  report_close(j, ']');
  report_real(j, "rest", rest);
  report_close(j, '}');
}

/* Each stage is run after those before it, and its distribution is made of a copy of the scores that the
   funnel makes itself; so what follows starts from what the sampler would have. */
static bool put_all_stages(struct living *g, struct report *j, uint32_t node)
{
  const struct living_node *k = &g->node[node];
  const struct sampling_params *s = &g->wish.s;
  size_t n = living_walk(g, node);
  struct history h = { g->path, n, g->prompt.n };
  g->d.f.allowed = NULL;
  if (!funnel_fill(&g->d.f, k->read.logits, &g->why)) return false;
  put_distribution(g, j, "raw");
  for (size_t i = 0; i < s->n_stages; i++) {
    sampling_stage_run(&g->d.f, s, s->stage[i], h);
    if (g->d.f.n == 0) return error_say(&g->why, "after the stage %s no token is left", sampling_stage_name(s->stage[i]));
    put_distribution(g, j, sampling_stage_name(s->stage[i]));
  }
  return true;
}

/* what was chosen at a place: all that was written after it, in the order in which it was */
static void put_children(const struct living *g, struct report *j, uint32_t node)
{
  report_open(j, "chosen", '[');
  for (uint32_t i = node + 1; i < g->n; i++) {
    const struct living_node *k = &g->node[i];
    if (k->parent != node) continue;
    report_open(j, NULL, '{');
    report_count(j, "node", i);
    put_token(g, j, k->id, k->logprob);
    report_real(j, "probability", num_exp(k->logprob));
    report_count(j, "rank", k->rank);
    report_words(j, "why", k->why);
    if (strcmp(k->why, "sampled") == 0)
      report_real(j, "noise", gumbel_noise(g->wish.seed, 0, (uint32_t) g->node[node].n, k->id));
    report_close(j, '}');
  }
  report_close(j, ']');
}

bool living_put_stages(struct living *g, uint32_t node)
{
  struct report j = begin(g);
  if (node >= g->n) return error_say(&g->why, "there is no node %u; wanted: 0 to %zu", (unsigned) node, g->n - 1);
  if (g->node[node].read.logits == NULL)
    return error_say(&g->why, "node %u has not been read: nothing was chosen after it", (unsigned) node);
  report_open(&j, NULL, '{');
  report_count(&j, "node", node);
  report_open(&j, "stages", '[');
  if (!put_all_stages(g, &j, node)) return false;
  report_close(&j, ']');
  put_children(g, &j, node);
  report_close(&j, '}');
  return end(g, &j);
}
