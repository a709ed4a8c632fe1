/* cache.c -- made from chapters/04-cache.w; change it there */

/* Pages: reserving, sharing, copying and releasing them. What holds between passes:
   refs of a page is the number of block tables that have it; a page is on the stack
   of free pages if and only if that is 0. An entry of a table from sink_pages to
   first-1 is out of date: its page was released and may be in use elsewhere. Nobody
   reads it. A page with more than one reference is never written to: a pass that must
   write copies it first. In a pass only cache_reserve can fail. It counts for all
   sequences before it takes anything, and assign_pages takes exactly what was
   counted. */
#include "cache/inside.h"

/* <Grow the pool> */

/* The array page may move; the pages may not, for block tables and running kernels
   have their addresses. So a slab is never resized. If the slab is refused, the array
   is longer than cap says, and nothing else has changed. */
bool pages_grow(struct cache *s, struct layer_group *f, size_t wanted,
  struct error *why)
{
  struct memory *m = s->common.m;
  size_t cap = store_next_cap(f->cap, wanted, f->max_pages);
  size_t old = f->cap, bytes = page_bytes(s, f);
  const struct buffers *b = s->common.memory;
  struct page_info *page = memory_resize(m, MEMORY_OTHER, f->page, cap,
    sizeof *page, why);
  if (page == NULL) return false;
  f->page = page;
  char *slab = b->alloc(b, m, MEMORY_CACHE, cap - old, bytes, why);
  if (slab == NULL) return false;
  f->cap = cap;
  /* <Cut the slab into pages, and make them free> */
  page[old].slab = true;
  for (size_t i = old; i < cap; i++)
    page[i].data = slab + (i - old) * bytes;
  /* downwards, so that the lowest page is taken first and results of tests do not
     depend on growth */
  for (size_t i = cap; i > old; i--)
    page[f->n_free++].free_next = (uint32_t) i - 1;
  return true;
}

/* <Grow a block table> */
bool list_reserve(struct cache *s, struct page_list *l, size_t n,
  struct error *why)
{
  if (n <= l->cap) return true;
  size_t cap = store_next_cap(l->cap, n, pages_for(s, s->common.n_positions));
  uint32_t *page = memory_resize(s->common.m, MEMORY_OTHER, l->page, cap, sizeof *page,
    why);
  if (page == NULL) return false;
  l->page = page;
  const char **data = memory_resize(s->common.m, MEMORY_OTHER, l->data, cap,
    sizeof *data, why);
  if (data == NULL) return false;
  l->data = data, l->cap = cap;
  return true;
}

/* <Release pages> */
void page_release(struct layer_group *f, uint32_t page)
{
  if (--f->page[page].refs == 0) f->page[f->n_free++].free_next = page;
}

/* Entries between the sinks' pages and first have been released already: releasing
   them twice would free a page that another table has. */
static void group_crop(struct cache *s, struct layer_group *f, uint32_t sequence)
{
  struct page_list *l = &f->sequence[sequence];
  size_t n = pages_for(s, s->table.sequence[sequence].length);
  while (l->n > n) {
    l->n--;
    if (l->n >= l->first || l->n < s->sink_pages) page_release(f, l->page[l->n]);
  }
  if (n < l->first) l->first = s->sink_pages;
}

/* first moves on and the entries stay where they are: so a refused pass can take them
   back. */
static void evict_window(struct cache *s, struct layer_group *f, uint32_t sequence)
{
  struct page_list *l = &f->sequence[sequence];
  size_t length = s->table.sequence[sequence].length;
  size_t seen = store_window_start(&s->common, f->layer, length) / s->page_rows;
  while (l->first < seen) page_release(f, l->page[l->first++]);
}

/* First the length, for all groups; then the tables. If rows that the next row must
   see are gone in any group, the whole sequence is: the groups never differ in
   length. */
void cache_crop(struct store *common, uint32_t sequence, size_t length)
{
  struct cache *s = (struct cache *) common;
  struct kv_sequence *q = &s->table.sequence[sequence];
  if (length < q->length) q->length = length;
  for (size_t k = 0; k < s->n_groups; k++) {
    const struct layer_group *f = &s->group[k];
    size_t first = f->sequence[sequence].first;
    if (first > s->sink_pages && first * s->page_rows
        > store_window_start(common, f->layer, q->length)) q->length = 0;
  }
  for (size_t k = 0; k < s->n_groups; k++)
    group_crop(s, &s->group[k], sequence);
}

/* <Count the pages that a pass needs> */

/* Pages that the tables lack. Counting must foretell exactly what assign_pages takes,
   or that would pop from an empty stack. */
static size_t count_new_pages(const struct cache *s,
  const struct layer_group *f)
{
  size_t wanted = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    const struct kv_sequence *q = &s->table.sequence[i];
    size_t had = f->sequence[i].n, n = pages_for(s, q->length + q->count);
    if (q->count > 0 && n > had) wanted += n - had;
  }
  return wanted;
}

/* the partly filled last page of a sequence, which the pass is going to write to;
   null if the pass begins a new page */
static struct page_info *written_page(const struct cache *s,
  const struct layer_group *f, uint32_t sequence)
{
  const struct kv_sequence *q = &s->table.sequence[sequence];
  const uint32_t *list = f->sequence[sequence].page;
  if (q->count == 0 || q->length % s->page_rows == 0) return NULL;
  return &f->page[list[q->length / s->page_rows]];
}

/* Two rounds over the sequences: a count that a refused pass has left behind must not
   be added to. */
static size_t count_copies(const struct cache *s,
  const struct layer_group *f)
{
  size_t wanted = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    struct page_info *page = written_page(s, f, i);
    if (page != NULL) page->writers = 0;
  }
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    struct page_info *page = written_page(s, f, i);
    if (page != NULL && ++page->writers < page->refs) wanted++;
  }
  return wanted;
}

/* <Take the pages that a sequence wants> */

/* never fails: group_reserve has seen to it that the stack is not empty */
static uint32_t page_acquire(struct layer_group *f)
{
  uint32_t n = f->page[--f->n_free].free_next;
  f->page[n].refs = 1;
  return n;
}

static void list_set(const struct layer_group *f, struct page_list *l, size_t i,
  uint32_t page)
{ l->page[i] = page, l->data[i] = f->page[page].data; }

/* <Give a sequence a page of its own> */
static char *page_address(const struct cache *s, const struct layer_group *f, size_t part,
  size_t page, size_t head, size_t row)
{
  return f->page[page].data + part * part_bytes(s)
    + (head * s->page_rows + row) * s->head_bytes;
}

/* The reference is given up before the copy, so that the last of several writers
   finds refs at 1 and keeps the old page. Head by head, for in a part the rows of a
   head are together. */
static void copy_page(struct cache *s, struct layer_group *f, struct page_list *l,
  size_t length)
{
  size_t i = length / s->page_rows;
  size_t bytes = length % s->page_rows * s->head_bytes;
  uint32_t old = l->page[i], mine = page_acquire(f);
  const struct buffers *b = s->common.memory;
  f->page[old].refs--;
  list_set(f, l, i, mine);
  for (size_t part = 0; part < 2 * f->n_layers; part++)
    for (size_t h = 0; h < s->heads; h++) {
      b->copy(b, page_address(s, f, part, mine, h, 0), page_address(s, f, part, old, h, 0),
        bytes);
      s->copied += bytes;
    }
}

/* The copy first: it replaces an entry of the table, and the loop only appends. */
static void assign_pages(struct cache *s, struct layer_group *f, uint32_t sequence)
{
  const struct kv_sequence *q = &s->table.sequence[sequence];
  struct page_list *l = &f->sequence[sequence];
  const struct page_info *shared = written_page(s, f, sequence);
  if (q->count == 0) return;
  if (shared != NULL && shared->refs > 1) copy_page(s, f, l, q->length);
  while (l->n < pages_for(s, q->length + q->count))
    list_set(f, l, l->n++, page_acquire(f));
}

/* <Have pages for the rows of the pass> */

/* Eviction comes first, because the pages that it frees count as free. The tables
   grow last: they are the only request that may fail after the pool has grown, and a
   larger pool does no harm. */
static bool group_reserve(struct cache *s, struct layer_group *f, struct error *why)
{
  for (uint32_t i = 0; i < s->common.n_sequences; i++)
    if (s->table.sequence[i].count > 0) evict_window(s, f, i);
  size_t wanted = count_new_pages(s, f) + count_copies(s, f);
  size_t used = f->cap - f->n_free;
  if (wanted > f->max_pages - used)
    return error_say(why, "the cache holds %zu rows, of which %zu are"
      " taken; wanted: room for %zu more, in pages of %zu",
      f->max_pages * s->page_rows, used * s->page_rows, wanted * s->page_rows,
      s->page_rows);
  if (wanted > f->n_free && !pages_grow(s, f, used + wanted, why))
    return false;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    const struct kv_sequence *q = &s->table.sequence[i];
    size_t n = pages_for(s, q->length + q->count);
    if (!list_reserve(s, &f->sequence[i], n, why)) return false;
  }
  return true;
}

/* two loops: the second cannot be refused */
bool cache_reserve(struct cache *s, struct error *why)
{
  for (size_t k = 0; k < s->n_groups; k++)
    if (!group_reserve(s, &s->group[k], why)) return false;
  for (size_t k = 0; k < s->n_groups; k++)
    for (uint32_t i = 0; i < s->common.n_sequences; i++)
      assign_pages(s, &s->group[k], i);
  return true;
}

/* <Show attention the rows of a sequence> */

/* the group with the layer's window; there is one, since group_layers has put each
   layer into a group */
static const struct layer_group *group_of(const struct cache *s, uint32_t layer)
{
  const struct layer_group *f = s->group;
  const uint32_t *window = s->common.window;
  while (window[layer] != window[f->layer]) f++;
  return f;
}

void cache_view(const struct store *common, uint32_t layer, uint32_t sequence,
  struct kv_view *v)
{
  const struct cache *s = (const struct cache *) common;
  const struct layer_group *f = group_of(s, layer);
  const struct page_list *l = &f->sequence[sequence];
  size_t part = 2 * s->slot_in_group[layer];
  *v = (struct kv_view) { .key = part * part_bytes(s),
    .value = (part + 1) * part_bytes(s), .page = l->data,
    .page_rows = (uint32_t) s->page_rows,
    .row_bytes = (uint32_t) s->head_bytes, .head_bytes = s->page_rows * s->head_bytes,
    .type = s->format.type };
}

/* <Fork a sequence> */

/* to is empty. The entries before first are copied but not counted: they are out of
   date in both tables. b->n grows entry by entry, so a crop can undo a fork that
   stops half-way. */
static bool group_fork(struct cache *s, struct layer_group *f, uint32_t from,
  uint32_t to, struct error *why)
{
  struct page_list *a = &f->sequence[from], *b = &f->sequence[to];
  if (!list_reserve(s, b, a->n, why)) return false;
  for (; b->n < a->n; b->n++) {
    b->page[b->n] = a->page[b->n], b->data[b->n] = a->data[b->n];
    if (b->n >= a->first || b->n < s->sink_pages)
      f->page[a->page[b->n]].refs++;
  }
  b->first = a->first;
  return true;
}

/* The tokens are copied last, because nothing can fail after them; a crop to 0 takes
   back the tables of the groups that were forked. */
bool cache_fork(struct store *common, uint32_t from, uint32_t to,
  struct error *why)
{
  struct cache *s = (struct cache *) common;
  bool ok = true;
  for (size_t k = 0; ok && k < s->n_groups; k++)
    ok = group_fork(s, &s->group[k], from, to, why);
  ok = ok && sequences_fork(&s->table, common, from, to, why);
  if (!ok) cache_crop(common, to, 0);
  return ok;
}
