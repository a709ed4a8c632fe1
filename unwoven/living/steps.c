/* steps.c -- the texts of a page, step by step.

   The present place has a sequence of the cache, g->at, whose tip it is. Before a sequence is used, its tokens are
   compared with those of the text. So a mistake in keeping these books can make a step slower, and it cannot show a
   row that belongs to another text. */

#include <string.h>
#include "living/living.h"

/* a path is written from its end, since a place knows only its parent */
size_t living_walk(struct living *g, uint32_t k)
{
  size_t n = g->node[k].n;
  for (; k != 0; k = g->node[k].parent)
    g->path[g->node[k].n - 1] = g->node[k].id;
  memcpy(g->path, g->prompt.id, g->prompt.n * sizeof *g->path);
  return n;
}

/* what the step of its parent left in the counters, so each of two branches counts their common beginning */
struct counters living_base(const struct living *g, uint32_t k)
{
  return k == 0 ? (struct counters) { .passes = 0 }
    : g->node[g->node[k].parent].read.after;
}

bool living_over(const struct living *g)
{
  const struct living_node *k = &g->node[g->now];
  size_t most = g->wish.max_tokens;
  return k->stop || k->n > LIVING_CONTEXT || (most > 0 && k->n - g->prompt.n >= most);
}

/* FNV-1a, byte by byte, of bits and not of values: -0 is not 0 here */
static uint64_t mixed(uint64_t h, const float *x, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    for (int b = 0; b < 32; b += 8)
      h = (h ^ (bits >> b & 0xff)) * 1099511628211u;
  }
  return h;
}

/* a watcher sees the weights of all rows of a pass; what is kept are those of the last */
struct look_at { float *look; size_t n, heads; };

static void see_weights(void *ctx, enum tap_point point, uint32_t layer, float *x,
  size_t rows, size_t width)
{
  const struct look_at *a = ctx;
  if (point != TAP_WEIGHTS) return;
  for (size_t h = 0; h < a->heads; h++)
    memcpy(a->look + (layer * a->heads + h) * a->n,
      x + (rows - 1) * width + h * (width / a->heads), a->n * sizeof *x);
}

/* with the cache, the rows that belong to the text stay, and mostly a single one is computed; without it, all are */
static size_t make_rows(struct living *g, size_t n, struct row *rows)
{
  size_t first = 0;
  if (g->wish.cache) first = store_match_prefix(g->s, g->at, g->path, n - 1);
  else store_crop(g->s, g->at, 0);
  for (size_t i = first; i < n; i++)
    rows[i - first] = (struct row) { g->at, (uint32_t) i, g->path[i] };
  return n - first;
}

static bool pass_through(struct living *g, struct living_read *r, size_t n)
{
  struct look_at a = { r->look, n, g->lm->config.n_heads };
  struct watcher w = { see_weights, &a, true };
  struct row rows[LIVING_CONTEXT];
  struct pass *p = NULL;
  r->rows = make_rows(g, n, rows);
  size_t last = r->rows - 1;
  bool ok = model_forward_watched(&g->e, g->lm, g->s, rows, r->rows, &w, &p, &g->why)
    && pass_is_finite(g->lm, p, last, &g->why)
    && model_logits(&g->e, g->lm, p, &last, 1, r->logits, &g->why);
  pass_close(p);
  return ok;
}

/* also after a step that failed: the place stays unread, as if nothing had happened */
static void forget(struct living *g, struct living_read *r)
{
  memory_free(&g->m, r->logits);
  memory_free(&g->m, r->look);
  *r = (struct living_read) { .logits = NULL };
}

static uint64_t chain_to(const struct living *g, uint32_t k)
{
  return k == 0 ? 14695981039346656037u : g->node[g->node[k].parent].read.chain;
}

static bool read_text(struct living *g)
{
  const struct model_config *c = &g->lm->config;
  size_t n = living_walk(g, g->now);
  struct living_read r = { .before = living_base(g, g->now), .cached = g->wish.cache };
  r.logits = memory_alloc(&g->m, MEMORY_OTHER, c->vocab_size, sizeof *r.logits, &g->why);
  r.look = memory_alloc(&g->m, MEMORY_OTHER, c->n_layers * c->n_heads, n * sizeof *r.look, &g->why);
  g->c = r.before;
  bool ok = r.logits != NULL && r.look != NULL && pass_through(g, &r, n);
  if (!ok) forget(g, &r);
  r.after = g->c;
  if (!ok) return false;
  r.hash = mixed(14695981039346656037u, r.logits, c->vocab_size);
  r.chain = mixed(chain_to(g, g->now), r.logits, c->vocab_size);
  g->node[g->now].read = r;
  return true;
}

/* the sampler, with what the page has set last, and the reason that the page shows */
static bool choose(struct living *g, uint32_t *id, const char **why)
{
  const struct living_node *k = &g->node[g->now];
  struct continuation text = { .text = { g->path, living_walk(g, g->now), 0 },
    .n_prompt = g->prompt.n };
  g->d.s = g->wish.s, g->d.seed = g->wish.seed;
  if (!sampler_choose(&g->d, k->read.logits, &text, id, &g->why)) return false;
  if (g->d.s.temperature <= 0) *why = "greedy";
  else *why = g->d.f.n == 1 ? "forced" : "sampled";
  return true;
}

static bool has_children(const struct living *g, uint32_t k)
{
  for (size_t i = k + 1; i < g->n; i++)
    if (g->node[i].parent == k) return true;
  return false;
}

/* its place in the order of all tokens, of which the likeliest has the first */
static size_t rank_of(const struct living *g, uint32_t id)
{
  size_t rank = 1, v = g->lm->config.vocab_size;
  const double *p = g->logprob;
  for (size_t i = 0; i < v; i++)
    rank += p[i] > p[id] || (p[i] == p[id] && i < id);
  return rank;
}

static bool is_end(const struct living *g, uint32_t id)
{
  for (uint32_t i = 0; i < g->lm->config.n_eos; i++)
    if (g->lm->config.eos[i] == id) return true;
  return false;
}

/* the place of a token after another: where it was chosen before, or a new one */
static bool child_of(struct living *g, uint32_t parent, uint32_t id, const char *why,
  uint32_t *child, bool *made)
{
  for (size_t i = parent + 1; i < g->n; i++)
    if (g->node[i].parent == parent && g->node[i].id == id) {
      *child = (uint32_t) i, *made = false;
      return true;
    }
  if (g->n == LIVING_NODES)
    return error_say(&g->why, "the tree has %d places; wanted: no more", LIVING_NODES);
  const struct living_node *p = &g->node[parent];
  g->e.k->log_softmax(&g->e, p->read.logits, 1, g->lm->config.vocab_size, g->logprob);
  g->node[g->n] = (struct living_node) { .parent = parent, .id = id, .n = p->n + 1,
    .stop = is_end(g, id), .why = is_end(g, id) && strcmp(why, "forced") != 0 ? "stopped" : why,
    .logprob = g->logprob[id], .rank = rank_of(g, id) };
  *child = (uint32_t) g->n++, *made = true;
  return true;
}

/* after a crop the store still remembers what it had computed, and would count the same token as repeated; a forked
   sequence remembers no more than the rows it was given, so what was cropped is forgotten by way of a spare one */
static bool take_rows(struct living *g, uint32_t from, uint32_t to, size_t rows)
{
  uint32_t spare = LIVING_TEXTS;
  if (!store_fork(g->s, from, spare, &g->why)) return false;
  store_crop(g->s, spare, rows);
  store_crop(g->s, to, 0);
  bool ok = store_fork(g->s, spare, to, &g->why);
  store_crop(g->s, spare, 0);
  return ok;
}

static size_t rows_in_common(const struct living *g, uint32_t sequence, size_t most)
{
  const uint32_t *token = store_tokens(g->s, sequence);
  size_t k = 0, n = store_length(g->s, sequence);
  while (k < n && k < most && token[k] == g->path[k]) k++;
  return k;
}

/* a sequence that is free, or the one that was used longest ago */
static uint32_t oldest_text(const struct living *g, uint32_t but)
{
  uint32_t found = but == 0 ? 1 : 0;
  for (uint32_t i = 0; i < LIVING_TEXTS; i++)
    if (i != but && (!g->text[i].taken || (g->text[found].taken
        && g->text[i].used < g->text[found].used))) found = i;
  return found;
}

/* a place that was read has a row for each of its tokens, an unread one none for its last; if no sequence ends at it,
   the one that shares most rows is forked, and the pages are shared with it */
static bool seat(struct living *g, uint32_t k)
{
  size_t n = living_walk(g, k), most = g->node[k].read.logits != NULL ? n : n - 1, rows = 0;
  uint32_t from = LIVING_TEXTS;
  for (uint32_t i = 0; i < LIVING_TEXTS; i++) {
    if (!g->text[i].taken) continue;
    size_t here = rows_in_common(g, i, most);
    if (g->text[i].tip == k || here > rows) from = i, rows = here;
    if (g->text[i].tip == k) break;
  }
  bool own = from < LIVING_TEXTS && g->text[from].tip == k;
  uint32_t to = own ? from : oldest_text(g, from);
  if (!own && !take_rows(g, from, to, rows)) return false;
  g->text[to] = (struct living_text) { k, true, ++g->clock };
  g->at = to, g->now = k;
  return true;
}

/* if the logits are known, as in the middle of a text, choosing again computes nothing */
bool living_next(struct living *g, const uint32_t *wanted)
{
  const char *why = "given";
  uint32_t id = 0, child = 0;
  bool made = false;
  if (g->node[g->now].read.logits == NULL && !read_text(g)) return false;
  if (wanted != NULL) id = *wanted;
  else if (!choose(g, &id, &why)) return false;
  if (!child_of(g, g->now, id, why, &child, &made)) return false;
  if (!made) return seat(g, child);
  g->text[g->at] = (struct living_text) { child, true, ++g->clock };
  g->now = child;
  return true;
}

bool living_go(struct living *g, uint32_t node)
{
  if (node >= g->n) return error_say(&g->why, "there is no node %u; wanted: 0 to %zu",
    (unsigned) node, g->n - 1);
  return seat(g, node);
}

/* the last place of all, and every sequence that ends there */
static void forget_place(struct living *g, uint32_t k)
{
  for (uint32_t i = 0; i < LIVING_TEXTS; i++)
    if (i != g->at && g->text[i].taken && g->text[i].tip == k) {
      store_crop(g->s, i, 0);
      g->text[i].taken = false;
    }
  forget(g, &g->node[k].read);
  g->n--;
}

/* a token that others were written after stays, and so does a step that wrote another token at this place; else both are
   forgotten, so the next step computes the same again and counts the same */
bool living_drop(struct living *g)
{
  uint32_t k = g->now, p = g->node[k].parent;
  if (k == 0) return error_say(&g->why, "nothing has been written that could be dropped");
  if (k + 1 == g->n && !has_children(g, k)) forget_place(g, k);
  bool unread = !has_children(g, p);
  size_t rows = g->node[p].n - unread, there = store_length(g->s, g->at);
  if (unread) forget(g, &g->node[p].read);
  if (unread && p == 0) rows = 0;
  if (!take_rows(g, g->at, g->at, rows < there ? rows : there)) return false;
  g->text[g->at] = (struct living_text) { p, true, ++g->clock };
  g->now = p;
  return true;
}
