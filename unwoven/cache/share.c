/* share.c -- pages that are held without a sequence, and the question whether a pass would fit.

   A page's count of references does all the work: a holder counts like a block table, so a page that
   somebody holds is never free, and one that two have is never written to (a pass copies it first). What
   a holder must not do is forget: pages have no way to find those who hold them. */

#include "cache/inside.h"
#include "cache/share.h"

_Static_assert(CACHE_GROUPS == (int) MAX_GROUPS, "a block has a page of each group");

bool cache_block_of(const struct store *common, uint32_t sequence, size_t i, struct cache_block *b)
{
  const struct cache *s = (const struct cache *) common;
  *b = (struct cache_block) { { 0 } };
  for (size_t k = 0; k < s->n_groups; k++) {
    const struct page_list *l = &s->group[k].sequence[sequence];
    if (i < l->first && i >= s->sink_pages) return false;
    b->page[k] = l->page[i];
  }
  return true;
}

void cache_block_hold(struct store *common, const struct cache_block *b)
{
  struct cache *s = (struct cache *) common;
  for (size_t k = 0; k < s->n_groups; k++) s->group[k].page[b->page[k]].refs++;
}

void cache_block_release(struct store *common, const struct cache_block *b)
{
  struct cache *s = (struct cache *) common;
  for (size_t k = 0; k < s->n_groups; k++) page_release(&s->group[k], b->page[k]);
}

size_t cache_block_bytes(const struct store *common)
{
  const struct cache *s = (const struct cache *) common;
  size_t sum = 0;
  for (size_t k = 0; k < s->n_groups; k++) sum += page_bytes(s, &s->group[k]);
  return sum;
}

/* group after group, each page as it lies in memory, which may be a device's */
void cache_block_get(const struct store *common, const struct cache_block *b, void *to)
{
  const struct cache *s = (const struct cache *) common;
  char *at = to;
  for (size_t k = 0; k < s->n_groups; k++) {
    const struct layer_group *f = &s->group[k];
    common->memory->get(common->memory, at, f->page[b->page[k]].data, page_bytes(s, f));
    at += page_bytes(s, f);
  }
}

/* All groups must have a page before any is taken, or the first would have to be given back. */
bool cache_block_make(struct store *common, const void *from, struct cache_block *b)
{
  struct cache *s = (struct cache *) common;
  const char *at = from;
  struct error why;
  *b = (struct cache_block) { { 0 } };
  for (size_t k = 0; k < s->n_groups; k++) {
    struct layer_group *f = &s->group[k];
    if (f->n_free == 0 && (f->cap == f->max_pages || !pages_grow(s, f, f->cap + 1, &why))) return false;
  }
  for (size_t k = 0; k < s->n_groups; k++) {
    struct layer_group *f = &s->group[k];
    b->page[k] = f->page[--f->n_free].free_next;
    f->page[b->page[k]].refs = 1;
    common->memory->set(common->memory, f->page[b->page[k]].data, at, page_bytes(s, f));
    at += page_bytes(s, f);
  }
  return true;
}

bool cache_block_in_use(const struct store *common, const struct cache_block *b)
{
  const struct cache *s = (const struct cache *) common;
  for (size_t k = 0; k < s->n_groups; k++)
    if (s->group[k].page[b->page[k]].refs > 1) return true;
  return false;
}

/* The tables grow first, in all groups, and the tokens; after that nothing can fail. Pages before the window
   are taken as well: the next pass lets them go, as it does with those that a sequence has read itself. */
bool cache_adopt(struct store *common, uint32_t sequence, const struct cache_block *b,
  const uint32_t *token, struct error *why)
{
  struct cache *s = (struct cache *) common;
  size_t n = pages_for(s, s->table.sequence[sequence].length);
  for (size_t k = 0; k < s->n_groups; k++)
    if (!list_reserve(s, &s->group[k].sequence[sequence], n + 1, why)) return false;
  if (!sequences_append(&s->table, common, sequence, token, s->page_rows, why)) return false;
  for (size_t k = 0; k < s->n_groups; k++) {
    struct page_list *l = &s->group[k].sequence[sequence];
    l->page[l->n] = b->page[k], l->data[l->n] = s->group[k].page[b->page[k]].data;
    l->n++;
  }
  cache_block_hold(common, b);
  return true;
}

/* pages of the sequence that the next pass lets go because they have left the window */
static size_t leaving(const struct cache *s, const struct layer_group *f, uint32_t sequence)
{
  const struct page_list *l = &f->sequence[sequence];
  size_t length = s->table.sequence[sequence].length, n = 0;
  size_t seen = store_window_start(&s->common, f->layer, length) / s->page_rows;
  for (size_t i = l->first; i < seen; i++) n += f->page[l->page[i]].refs == 1;
  return n;
}

/* As group_reserve of chapter 4 counts, but for one thing: that the last of several writers keeps a shared page
   is not foreseen, so a page may be said to lack where the pass would just fit. */
static size_t group_lacks(const struct cache *s, const struct layer_group *f, const struct cache_demand *want,
  size_t n)
{
  size_t wanted = 0, room = f->max_pages - (f->cap - f->n_free);
  for (size_t i = 0; i < n; i++) {
    const struct page_list *l = &f->sequence[want[i].sequence];
    size_t length = s->table.sequence[want[i].sequence].length;
    size_t pages = pages_for(s, length + want[i].rows);
    if (want[i].rows == 0) continue;
    if (pages > l->n) wanted += pages - l->n;
    if (length % s->page_rows != 0 && f->page[l->page[length / s->page_rows]].refs > 1) wanted++;
    room += leaving(s, f, want[i].sequence);
  }
  return wanted > room ? wanted - room : 0;
}

size_t cache_lacks(const struct store *common, const struct cache_demand *want, size_t n)
{
  const struct cache *s = (const struct cache *) common;
  size_t most = 0;
  for (size_t k = 0; k < s->n_groups; k++) {
    size_t lacking = group_lacks(s, &s->group[k], want, n);
    if (lacking > most) most = lacking;
  }
  return most;
}

bool cache_fits(const struct store *common, const struct cache_demand *want, size_t n)
{
  return cache_lacks(common, want, n) == 0;
}

/* With a window, a text has window - 1 + pass rows at a time, which may begin within a page, and its sinks (chapter 4). */
bool cache_could_hold(const struct store *common, size_t rows, size_t pass, size_t *has)
{
  const struct cache *s = (const struct cache *) common;
  bool could = true;
  *has = SIZE_MAX;
  for (size_t k = 0; k < s->n_groups; k++) {
    size_t window = common->window[s->group[k].layer], pages = pages_for(s, rows), there = s->group[k].max_pages;
    size_t ring = pages_for(s, window - 1 + (pass < rows ? pass : rows) - 1) + 1 + s->sink_pages;
    if (window > 0 && ring < pages) pages = ring;
    if (pages <= there) continue;
    could = false;
    if (there * s->page_rows < *has) *has = there * s->page_rows;
  }
  return could;
}
