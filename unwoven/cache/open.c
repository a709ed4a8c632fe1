/* open.c -- a cache as a store: opening it with a caller's options, its passes, its report, closing it.

   cache.c has what is about pages; this file has the table of functions by which a store is known
   to be a cache (cache_kind), and calls cache.c, never the other way. Two promises are kept here:
   a pass that is refused leaves the cache as it was (cache_begin), and an open that fails frees
   what it has got, because cache_close can close a cache that is only half open. A cache owns its
   tables, its pages and a copy of the options; the model's settings are only read. */

#include <inttypes.h>
#include "cache/inside.h"

/* A store of another kind, which is recognized by its table of functions, has no pages to report. */
struct cache_state cache_look(const struct store *common)
{
  if (common->kind != &cache_kind) return (struct cache_state) { .pages = 0 };
  const struct cache *s = (const struct cache *) common;
  struct cache_state all = { .page_rows = s->page_rows,
    .bytes_copied = s->copied };
  for (size_t k = 0; k < s->n_groups; k++) {
    const struct layer_group *f = &s->group[k];
    size_t used = f->cap - f->n_free;
    all.pages += f->cap, all.pages_used += used;
    all.bytes += f->cap * page_bytes(s, f);
    all.bytes_used += used * page_bytes(s, f);
  }
  return all;
}

/* Pages are freed by the slab; the first page of each slab is marked. Null arrays are those that an
   open did not come to. */
void cache_close(struct store *common)
{
  struct cache *s = (struct cache *) common;
  struct memory *m = common->m;
  for (size_t k = 0; k < s->n_groups; k++) {
    struct layer_group *f = &s->group[k];
    for (uint32_t i = 0; f->sequence != NULL && i < common->n_sequences; i++)
      memory_free(m, f->sequence[i].page), memory_free(m, f->sequence[i].data);
    memory_free(m, f->sequence);
    for (size_t i = 0; i < f->cap; i++)
      if (f->page[i].slab)
        common->memory->release(common->memory, m, f->page[i].data);
    memory_free(m, f->page);
  }
  sequences_close(&s->table, common);
  memory_free(m, s->slot_in_group);
  memory_free(m, s);
}

/* To see whether there is room for the rows of a pass, the cache has to release the pages that they
   will not see. So it remembers where each window began. */
static void windows_remember(struct cache *s)
{
  for (size_t k = 0; k < s->n_groups; k++)
    for (uint32_t i = 0; i < s->common.n_sequences; i++)
      s->group[k].sequence[i].held = s->group[k].sequence[i].first;
}

/* The pass was refused, so nothing has been written to the pages that it released: they come back,
   and the stack of free pages is made anew from the counts, the lowest on top. What was got from the
   system for the pass stays in the pool, as free pages. */
static void windows_restore(struct cache *s)
{
  for (size_t k = 0; k < s->n_groups; k++) {
    struct layer_group *f = &s->group[k];
    for (uint32_t i = 0; i < s->common.n_sequences; i++) {
      struct page_list *l = &f->sequence[i];
      while (l->first > l->held) f->page[l->page[--l->first]].refs++;
    }
    f->n_free = 0;
    for (size_t i = f->cap; i > 0; i--)
      if (f->page[i - 1].refs == 0)
        f->page[f->n_free++].free_next = (uint32_t) i - 1;
  }
}

/* A pass that ends without its rows gives its pages back: each sequence is cropped to the length that
   it has. What has left the window stays away, since the pass may have written there. */
static void cache_end(struct store *common, bool commit)
{
  struct cache *s = (struct cache *) common;
  sequences_end(&s->table, common, commit);
  for (uint32_t i = 0; !commit && i < common->n_sequences; i++)
    cache_crop(common, i, s->table.sequence[i].length);
}

/* The table first, because it checks the positions; pages are counted for rows that are known to be
   in order. */
static bool cache_begin(struct store *common, struct error *why)
{
  struct cache *s = (struct cache *) common;
  if (!sequences_begin(&s->table, common, why)) return false;
  windows_remember(s);
  if (cache_reserve(s, why)) return true;
  windows_restore(s);
  sequences_end(&s->table, common, false);
  return false;
}

static size_t cache_length(const struct store *common, uint32_t sequence)
{
  const struct cache *s = (const struct cache *) common;
  return s->table.sequence[sequence].length;
}

static const uint32_t *cache_tokens(const struct store *common, uint32_t sequence)
{
  const struct cache *s = (const struct cache *) common;
  return s->table.sequence[sequence].token;
}

const struct store_kind cache_kind = {
  .begin = cache_begin, .end = cache_end, .view = cache_view,
  .length = cache_length, .tokens = cache_tokens, .crop = cache_crop,
  .fork = cache_fork, .close = cache_close };

/* The layers are put into their groups in order, by window: a group's first layer stands for all.
   There are never more than MAX_GROUPS windows in a model. The holes of a table begin after the pages of the
   sinks, so first starts there. */
static bool group_layers(struct cache *s, struct error *why)
{
  struct store *common = &s->common;
  const uint32_t *window = common->window;
  s->slot_in_group = memory_alloc(common->m, MEMORY_OTHER, common->n_layers,
    sizeof *s->slot_in_group,
    why);
  for (uint32_t i = 0; s->slot_in_group != NULL && i < common->n_layers; i++) {
    size_t k = 0;
    while (k < s->n_groups && window[s->group[k].layer] != window[i]) k++;
    if (k == s->n_groups) s->group[s->n_groups++].layer = i;
    s->slot_in_group[i] = s->group[k].n_layers++;
  }
  for (size_t k = 0; s->slot_in_group != NULL && k < s->n_groups; k++) {
    struct page_list *l = memory_alloc(common->m, MEMORY_OTHER,
      common->n_sequences, sizeof *l, why);
    if (l == NULL) return false;
    s->group[k].sequence = l;
    for (uint32_t i = 0; i < common->n_sequences; i++)
      l[i].first = s->sink_pages;
  }
  return s->slot_in_group != NULL;
}

/* The largest number of pages of a group. With a window, a sequence needs no more than its ring,
   window - 1 + pass rows, which may begin within a page and so touches one page more than it
   fills. (window is 0 without one; ring then wraps and is not used.) A page's number has 32 bits;
   more pages than that would be more memory than there is. */
static bool group_apply_options(struct cache *s, struct layer_group *f,
  const struct cache_options *w, struct error *why)
{
  size_t context = s->common.n_positions, each = pages_for(s, context);
  size_t window = s->common.window[f->layer];
  size_t pass = w->pass == 0 || w->pass > context ? context : w->pass;
  size_t ring = window - 1 + pass;
  size_t ring_pages = pages_for(s, ring - 1) + 1 + s->sink_pages;
  if (window > 0 && ring_pages < each) each = ring_pages;
  f->max_pages = s->common.n_sequences * each;
  if (w->rows > 0 && (window == 0 || pages_for(s, w->rows) < f->max_pages))
    f->max_pages = pages_for(s, w->rows);
  if (f->max_pages > UINT32_MAX)
    return error_say(why, "a cache of %zu pages; wanted: at most %"
      PRIu32, f->max_pages, UINT32_MAX);
  return !w->preallocate || pages_grow(s, f, f->max_pages, why);
}

/* A page has a power of two of rows, up to 256, so that a block of attention, 256 positions, is always
   a whole number of pages. In a format with blocks of numbers a head must have whole blocks,
   because it is read by itself. */
static bool apply_options(struct cache *s, const struct cache_options *w,
  struct error *why)
{
  static const struct kv_format floats = { "f32", WEIGHT_F32,
    kv_encode_f32 };
  const struct store *c = &s->common;
  s->format = w->format == NULL ? floats : *w->format;
  s->common.encode = s->format.encode;
  if (w->memory != NULL) s->common.memory = w->memory;
  s->page_rows = w->page_rows == 0 ? 64 : w->page_rows;
  if (s->page_rows > 256 || (s->page_rows & (s->page_rows - 1)) != 0)
    return error_say(why, "a page of %zu rows; wanted: a power of two up to 256", s->page_rows);
  int block = number_types[s->format.type].block;
  if (c->head_dim % (uint32_t) block != 0)
    return error_say(why, "a cache in %s for a head_dim of %u; wanted: a multiple of %d",
      s->format.name, c->head_dim, block);
  s->heads = c->n_kv_heads, s->head_bytes = weight_row_bytes(s->format.type,
    c->head_dim);
  s->common.row_bytes = 2 * s->heads * s->head_bytes;
  s->sink_pages = pages_for(s, c->sinks);
  return true;
}

/* The window and the context of this cache alone go into a copy of the settings: other caches use the
   model's, perhaps in other threads. A context longer than the model's is refused, because the
   model was not made for the positions beyond. */
static bool apply_limits(struct model_config *c, const struct cache_options *w,
  struct error *why)
{
  if (w->context > c->n_positions)
    return error_say(why, "a context of %" PRIu32 " positions;"
      " wanted: at most %" PRIu32 ", the model's", w->context, c->n_positions);
  if (w->context > 0) c->n_positions = w->context;
  return (!w->set_window && w->sinks == 0)
    || config_set_window(c, w->window, w->sinks, why);
}

/* The order matters: the number of pages that hold sinks depends on the options, the tables of the groups
   on that number, and the largest pool on both. */
struct store *cache_open(struct memory *m, const struct model_config *c,
  uint32_t n_sequences, const struct cache_options *w, struct error *why)
{
  struct model_config own = *c;
  if (!apply_limits(&own, w, why)) return NULL;
  struct cache *s = memory_alloc(m, MEMORY_OTHER, 1, sizeof *s, why);
  if (s == NULL) return NULL;
  if (!store_prepare(&s->common, &cache_kind, m, &own, n_sequences, why)) {
    memory_free(m, s);
    return NULL;
  }
  bool ok = sequences_open(&s->table, &s->common, why)
    && apply_options(s, w, why) && group_layers(s, why);
  for (size_t k = 0; ok && k < s->n_groups; k++)
    ok = group_apply_options(s, &s->group[k], w, why);
  if (ok) return &s->common;
  store_close(&s->common);
  return NULL;
}
