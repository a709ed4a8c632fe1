/* open.c -- a page's texts begin, and end.

   A new prompt has a new cache: an old one remembers which rows it has computed, and would count those of an
   earlier text as computed again. The cache has a sequence more than there are texts; it is empty between two
   calls, and serves to copy. */

#include <inttypes.h>
#include <string.h>
#include "kernels/kernels.h"
#include "living/living.h"

static struct store *new_store(struct living *g)
{
  struct cache_options w = { .page_rows = LIVING_PAGE, .context = LIVING_CONTEXT };
  return cache_open(&g->m, &g->lm->config, LIVING_TEXTS + 1, &w, &g->why);
}

bool living_begin(struct living *g)
{
  size_t v = g->lm->config.vocab_size;
  g->e = (struct engine) { .k = kernels_find(NULL, &g->why), .c = &g->c };
  g->node = memory_alloc(&g->m, MEMORY_OTHER, LIVING_NODES, sizeof *g->node, &g->why);
  g->logprob = memory_alloc(&g->m, MEMORY_OTHER, v, sizeof *g->logprob, &g->why);
  g->cell = memory_alloc(&g->m, MEMORY_OTHER, 2 * g->lm->config.n_kv_heads,
    g->lm->config.head_dim * sizeof *g->cell, &g->why);
  g->wish = (struct living_wish) { .cache = true, .s = sampling_default() };
  g->wish.s.temperature = 0;
  return g->e.k != NULL && g->node != NULL && g->logprob != NULL && g->cell != NULL
    && funnel_open(&g->d.f, &g->m, g->e.k, v, &g->why) && living_restart(g, "", 0);
}

static void forget_all(struct living *g)
{
  for (size_t i = 0; i < g->n; i++) {
    memory_free(&g->m, g->node[i].read.logits);
    memory_free(&g->m, g->node[i].read.look);
  }
  g->n = 0;
  search_free(&g->found);
  if (g->grown.m != NULL) token_tree_close(&g->grown);
  g->found = (struct search_result) { .n = 0 };
}

void living_end(struct living *g)
{
  forget_all(g);
  store_close(g->s);
  ids_free(&g->m, &g->prompt);
  bytes_free(&g->m, &g->room);
  bytes_free(&g->m, &g->out);
  memory_free(&g->m, g->cell);
  memory_free(&g->m, g->logprob);
  memory_free(&g->m, g->node);
  funnel_close(&g->d.f);
}

/* as the command begins: the ids of the text, or else the token that begins one or ends one */
static bool ids_of(struct living *g, const char *text, size_t n, struct ids *out)
{
  const struct model_config *c = &g->lm->config;
  uint32_t first;
  if (!tokenizer_encode(g->t, &g->m, text, n, true, false, out, &g->why)) return false;
  if (out->n > LIVING_CONTEXT)
    return error_say(&g->why, "the prompt has %zu tokens; wanted: at most %d", out->n, LIVING_CONTEXT);
  if (out->n > 0) return true;
  if (tokenizer_bos(g->t, &first)) return ids_push(&g->m, out, first, &g->why);
  if (c->has_bos) return ids_push(&g->m, out, c->bos, &g->why);
  if (c->n_eos > 0) return ids_push(&g->m, out, c->eos[0], &g->why);
  return error_say(&g->why, "the prompt is empty, and the model names no token to begin a text with");
}

bool living_restart(struct living *g, const char *text, size_t n)
{
  struct ids ids = { .n = 0 };
  struct store *s = ids_of(g, text, n, &ids) ? new_store(g) : NULL;
  if (s == NULL) {
    ids_free(&g->m, &ids);
    return false;
  }
  forget_all(g);
  store_close(g->s);
  ids_free(&g->m, &g->prompt);
  g->s = s, g->prompt = ids;
  memset(g->text, 0, sizeof g->text);
  g->node[0] = (struct living_node) { .n = ids.n, .why = "prompt" };
  g->n = 1, g->now = 0;
  g->at = 0, g->clock = 0;
  g->text[0] = (struct living_text) { 0, true, 0 };
  g->c = (struct counters) { .passes = 0 };
  return true;
}

/* numbers as they are in the cache, widened if it keeps them in another type; it keeps floats here */
const float *living_cell(struct living *g, uint32_t layer, uint32_t position)
{
  const struct model_config *c = &g->lm->config;
  size_t heads = c->n_kv_heads, width = c->head_dim;
  struct kv_view v;
  if (layer >= c->n_layers || position >= store_length(g->s, g->at)) return NULL;
  store_view(g->s, layer, g->at, &v);
  for (size_t part = 0; part < 2; part++)
    for (size_t h = 0; h < heads; h++) {
      struct tensor row = kv_row(&v, part == 0 ? v.key : v.value, position, h);
      for (size_t i = 0; i < width; i++)
        g->cell[(part * heads + h) * width + i] = tensor_number(row, i);
    }
  return g->cell;
}
