/* search.c -- a beam search from the present text, as a page shows it.

   It has a cache of its own, so that what it computes is counted for itself and no text of the page loses its
   rows. */

#include "living/living.h"
#include "search/sharing.h"

static bool run(struct living *g, struct store *s, size_t n, size_t width, size_t steps)
{
  struct counters c = { .passes = 0 };
  struct engine e = g->e;
  struct generate_context with = { &e, g->lm, s, &g->m };
  struct search_model sm;
  struct search_source from;
  struct search_settings want = { .num_beams = width, .num_return = width, .max_length = n + steps,
    .length_penalty = 1, .eos = g->lm->config.eos, .n_eos = g->lm->config.n_eos,
    .see = token_tree_search, .ctx = &g->grown };
  e.c = &c;
  bool ok = search_model_open(&sm, &with, width, 0, &from, &g->why);
  if (!ok) return false;
  ok = search_run(&from, &g->m, g->e.k, g->path, n, &want, &g->found, &g->why);
  search_model_close(&sm);
  /* a watcher ends a search without a word: what it could not do, it has kept */
  if (ok && !g->grown.ok) ok = error_say(&g->why, "%s", g->grown.why.text);
  if (ok && g->found.n > 0) token_tree_mark(&g->grown, g->found.text[0].id + n, g->found.text[0].n - n);
  g->search_madds = c.madds_linear + c.madds_attention + c.madds_head;
  return ok;
}

bool living_search(struct living *g, size_t width, size_t steps)
{
  size_t n = living_walk(g, g->now), v = g->lm->config.vocab_size;
  struct cache_options w = { .page_rows = LIVING_PAGE, .context = LIVING_CONTEXT };
  if (width < 1 || width > LIVING_MOST_BEAMS)
    return error_say(&g->why, "%zu beams; wanted: 1 to %d", width, LIVING_MOST_BEAMS);
  if (steps < 1 || n + steps > LIVING_CONTEXT)
    return error_say(&g->why, "%zu steps after %zu tokens; wanted: 1 or more, and %d tokens in all",
      steps, n, LIVING_CONTEXT);
  search_free(&g->found);
  if (g->grown.m != NULL) token_tree_close(&g->grown);
  struct store *s = cache_open(&g->m, &g->lm->config, (uint32_t) width, &w, &g->why);
  bool ok = s != NULL && token_tree_open(&g->grown, &g->m, &g->e, v, 0, width, &g->why) && run(g, s, n, width, steps);
  store_close(s);
  return ok;
}
