/* sources.c -- made from chapters/09-search.w; change it there */

#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "search/sources.h"

/* <Search on paper> */
const struct paper_box paper_boxes[2] = {
  { "abc", false, 5, { { "", { 0.5, 0.4, 0.1 } }, { "a", { 0.4, 0.3, 0.3 } },
    { "b", { 0.1, 0.1, 0.8 } }, { "aa", { 0.6, 0.2, 0.2 } },
    { "bc", { 0.5, 0.25, 0.25 } } } },
  { "ab.", true, 3, { { "", { 0.6, 0.1, 0.3 } }, { "a", { 0.2, 0.5, 0.3 } },
    { "b", { 0.15, 0.05, 0.8 } } } } };
static bool paper_score(void *ctx, const struct search_beam *grown, size_t n,
  float *logits, struct error *why)
{
  const struct paper_box *box = ctx;
  (void) why;
  for (size_t i = 0; i < n; i++, logits += 4) {
    char text[8] = "", *key = text;
    for (size_t k = 1; k < grown[i].n && k < 8; k++)
      text[k - 1] = box->letters[grown[i].id[k]];
    if (box->last && text[0] != '\0') key += strlen(text) - 1;
    for (size_t v = 0; v < 4; v++) logits[v] = v == 3 ? -INFINITY : 0;
    for (size_t l = 0; l < box->lines; l++)
      for (size_t v = 0; strcmp(box->line[l].after, key) == 0 && v < 3; v++)
        logits[v] = (float) num_log(box->line[l].p[v]);
  }
  return true;
}

struct search_source paper_source(size_t box)
{
  return (struct search_source) { .vocab = 4, .score = paper_score,
    .ctx = (void *) &paper_boxes[box] };
}

/* <Search with a model> */
bool search_with_cache(const struct generate_context *g, size_t page_rows,
  const uint32_t *prompt, size_t n, const struct search_settings *want,
  struct search_result *r, struct cache_state *state, struct error *why)
{
  struct search_model beams;
  struct search_source from;
  struct store *s = cache_open(g->m, &g->lm->config,
    (uint32_t) want->num_beams,
    &(struct cache_options) { .page_rows = page_rows }, why);
  if (s == NULL) return false;
  struct generate_context own = { g->e, g->lm, s, g->m };
  bool ok = search_model_open(&beams, &own, want->num_beams, 0, &from, why);
  if (ok) {
    ok = search_run(&from, g->m, g->e->k, prompt, n, want, r, why);
    search_model_close(&beams);
  }
  if (state != NULL) *state = cache_look(s);
  store_close(s);
  return ok;
}
