Lab 4: the KV cache. A change file for chapters/04-cache.w in CWEB's form, with one thing more: a word before @x.
"shape" changes what the files are, for the reference as well; "cut" takes away what the student writes, and what it takes away
is the reference's answer.

cut: how far an earlier text serves
@x
  const uint32_t *token = store_tokens(s, sequence);
  size_t k = 0, length = store_length(s, sequence);
  while (k < n && k < length && token[k] == id[k]) k++;
  store_crop(s, sequence, k);
    /* a store with a window may have to drop more than it was asked to, so the length is asked
       for again */
  return store_length(s, sequence);
}
@y
  /* YOUR CODE: compare the tokens, crop at the first difference, and return what is left */
  (void) s, (void) sequence, (void) id, (void) n;
  return 0;
}
@z

shape: the parts of the cache that have tests of their own are declared in a header
@x
@<What the cache holds@>@;
#endif
@y
@<What the cache holds@>@;
#endif

@ Some of the cache's functions are called by other files, and |inside.h| declares them. Five more are called by the tests of this lab.

@(parts.h@>=
#ifndef INCIPIT_CACHE_PARTS_H
#define INCIPIT_CACHE_PARTS_H
#include "cache/inside.h"
uint32_t page_acquire(struct layer_group *f);
  /* takes the topmost free page from the stack; there must be one. It is then in one table. Returns
     its number */
void page_release(struct layer_group *f, uint32_t page);
  /* one table fewer has the page; if none is left, it goes on top of the free pages */
size_t count_new_pages(const struct cache *s, const struct layer_group *f);
  /* how many pages the tables lack for the rows of the pass, which are |count| for each sequence */
size_t count_copies(const struct cache *s, const struct layer_group *f);
  /* how many shared pages must be copied before the pass can write to them */
char *page_address(const struct cache *s, const struct layer_group *f, size_t part,
  size_t page, size_t head, size_t row);
  /* where a page has row number |row| of a head; |part| is $2l$ for the keys and $2l+1$ for the values of
     the group's layer number $l$, from 0 */
#endif
@z

cut: room for a pass in one group
@x
  for (uint32_t i = 0; i < s->common.n_sequences; i++)
    if (s->table.sequence[i].count > 0) evict_window(s, f, i);
  size_t wanted = count_new_pages(s, f) + count_copies(s, f);
  size_t used = f->cap - f->n_free;
  if (wanted > f->max_pages - used)
    return error_say(why, "the cache holds %zu rows, of which %zu are"@|
      " taken; wanted: room for %zu"@| " more, in pages of %zu",@|
      f->max_pages * s->page_rows, used * s->page_rows, wanted * s->page_rows,
      s->page_rows);
  if (wanted > f->n_free && !pages_grow(s, f, used + wanted, why))
    return false;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    const struct kv_sequence *q = &s->table.sequence[i];
    size_t n = pages_for(s, q->length + q->count);
    if (!list_reserve(s, &f->sequence[i], n, why))@+ return false;
  }
  return true;
}
@y
  /* YOUR CODE: evict, count, refuse or grow, and make every block table long enough */
  (void) s, (void) evict_window, (void) written_page, (void) list_reserve;
  return error_say(why, "group_reserve has not been written yet; the cache holds %zu pages at most", f->max_pages);
}
@z

cut: room for a pass
@x
  for (size_t k = 0; k < s->n_groups; k++)
    if (!group_reserve(s, &s->group[k], why))@+ return false;
  for (size_t k = 0; k < s->n_groups; k++)
    for (uint32_t i = 0; i < s->common.n_sequences; i++)
      assign_pages(s, &s->group[k], i);
  return true;
}
@y
  /* YOUR CODE: all groups must have room before any sequence gets a page */
  (void) s, (void) group_reserve, (void) assign_pages;
  return error_say(why, "cache_reserve has not been written yet");
}
@z

shape
@x
static size_t count_new_pages(const struct cache *s,
  const struct layer_group *f)
@y
size_t count_new_pages(const struct cache *s,
  const struct layer_group *f)
@z

cut: new pages
@x
  size_t wanted = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    const struct kv_sequence *q = &s->table.sequence[i];
    size_t had = f->sequence[i].n, n = pages_for(s, q->length + q->count);
    if (q->count > 0 && n > had)@+ wanted += n - had;
  }
  return wanted;
}
@y
  /* YOUR CODE: what each sequence with rows in the pass lacks */
  (void) s, (void) f;
  return 0;
}
@z

cut: the page that is written to
@x
  const struct kv_sequence *q = &s->table.sequence[sequence];
  const uint32_t *list = f->sequence[sequence].page;
  if (q->count == 0 || q->length % s->page_rows == 0)@+ return NULL;
  return &f->page[list[q->length / s->page_rows]];
}
@y
  /* YOUR CODE: the page that has rows of the sequence and gets more of them in this pass; null if there is none */
  (void) s, (void) f, (void) sequence;
  return NULL;
}
@z

shape
@x
static size_t count_copies(const struct cache *s,
  const struct layer_group *f)
@y
size_t count_copies(const struct cache *s,
  const struct layer_group *f)
@z

cut: copies
@x
  size_t wanted = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    struct page_info *page = written_page(s, f, i);
    if (page != NULL)@+ page->writers = 0;
  }
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    struct page_info *page = written_page(s, f, i);
    if (page != NULL && ++page->writers < page->refs)@+ wanted++;
  }
  return wanted;
}
@y
  /* YOUR CODE: of the sequences that write to a shared page, all that must copy it */
  (void) s, (void) f;
  return 0;
}
@z

shape
@x
static uint32_t page_acquire(struct layer_group *f)
{
@y
uint32_t page_acquire(struct layer_group *f)
{
@z

cut: a page is taken
@x
  uint32_t n = f->page[--f->n_free].free_next;
  f->page[n].refs = 1;
  return n;
}
@y
  /* YOUR CODE: the topmost free page, which is in one table from now on */
  (void) f;
  return 0;
}
@z

cut: pages for a sequence
@x
  const struct kv_sequence *q = &s->table.sequence[sequence];
  struct page_list *l = &f->sequence[sequence];
  const struct page_info *shared = written_page(s, f, sequence);
  if (q->count == 0)@+ return;
  if (shared != NULL && shared->refs > 1) copy_page(s, f, l, q->length);
  while (l->n < pages_for(s, q->length + q->count))
    list_set(f, l, l->n++, page_acquire(f));
}
@y
  /* YOUR CODE: a page of its own for one that it shares and writes to, and the pages that its table lacks */
  (void) s, (void) f, (void) sequence, (void) list_set, (void) copy_page;
}
@z

shape
@x
static char *page_address(const struct cache *s, const struct layer_group *f, size_t part,
  size_t page, size_t head, size_t row)
@y
char *page_address(const struct cache *s, const struct layer_group *f, size_t part,
  size_t page, size_t head, size_t row)
@z

cut: the layout of a page
@x
  return f->page[page].data + part * part_bytes(s)
    + (head * s->page_rows + row) * s->head_bytes;
}
@y
  /* YOUR CODE: parts, heads, rows */
  (void) s, (void) part, (void) head, (void) row;
  return f->page[page].data;
}
@z

cut: copy on write
@x
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
@y
  /* YOUR CODE: a free page takes the place of the shared one; its rows that count are copied and counted */
  (void) s, (void) f, (void) l, (void) length;
}
@z

cut: a page is given back
@x
  if (--f->page[page].refs == 0) f->page[f->n_free++].free_next = page;
}
@y
  /* YOUR CODE: one reference fewer; after the last one the page is free */
  (void) f, (void) page;
}
@z

cut: a shorter table
@x
  struct page_list *l = &f->sequence[sequence];
  size_t n = pages_for(s, s->table.sequence[sequence].length);
  while (l->n > n) {
    l->n--;
    if (l->n >= l->first || l->n < s->sink_pages) page_release(f, l->page[l->n]);
  }
  if (n < l->first)@+ l->first = s->sink_pages;
}
@y
  /* YOUR CODE: release the pages that have no row of the sequence any more */
  (void) s, (void) f, (void) sequence;
}
@z

cut: a larger pool
@x
  struct memory *m = s->common.m;
  size_t cap = store_next_cap(f->cap, wanted, f->max_pages);
  size_t old = f->cap, bytes = page_bytes(s, f);
  const struct buffers *b = s->common.memory;
  struct page_info *page = memory_resize(m, MEMORY_OTHER, f->page, cap,
    sizeof *page, why);
  if (page == NULL)@+ return false;
  f->page = page;
  char *slab = b->alloc(b, m, MEMORY_CACHE, cap - old, bytes, why);
  if (slab == NULL)@+ return false;
  f->cap = cap;
  @<Cut the slab into pages, and make them free@>@;
  return true;
}
@y
  /* YOUR CODE: the next capacity, a longer array |f->page|, a slab for the new pages, and the stack of free pages */
  (void) s, (void) f, (void) wanted;
  return error_say(why, "pages_grow has not been written yet");
}
@z

cut: the pages of a slab
@x
page[old].slab = true;
for (size_t i = old; i < cap; i++)
  page[i].data = slab + (i - old) * bytes;
for (size_t i = cap; i > old; i--)
  page[f->n_free++].free_next = (uint32_t) i - 1;
    /* downwards, so that the lowest page is taken first and results of tests do not depend on
       growth */
@y
/* YOUR CODE: this belongs to |pages_grow| */
@z

cut: what attention is given
@x
  const struct cache *s = (const struct cache *) common;
  const struct layer_group *f = group_of(s, layer);
  const struct page_list *l = &f->sequence[sequence];
  size_t part = 2 * s->slot_in_group[layer];
  *v = (struct kv_view) @[{ .key = part * part_bytes(s),@|
    .value = (part + 1) * part_bytes(s), .page = l->data,@|
    .page_rows = (uint32_t) s->page_rows,@|
    .row_bytes = (uint32_t) s->head_bytes, .head_bytes = s->page_rows * s->head_bytes,@|
    .type = s->format.type }@];
}
@y
  /* YOUR CODE: the block table, where the layer's keys and values begin in a page, and the distances */
  (void) common, (void) layer, (void) sequence, (void) group_of;
  *v = (struct kv_view) @[{ .type = WEIGHT_F32 }@];
}
@z

cut: a table with the same pages
@x
  struct page_list *a = &f->sequence[from], *b = &f->sequence[to];
  if (!list_reserve(s, b, a->n, why))@+ return false;
  for (; b->n < a->n; b->n++) {
    b->page[b->n] = a->page[b->n], b->data[b->n] = a->data[b->n];
    if (b->n >= a->first || b->n < s->sink_pages)
      f->page[a->page[b->n]].refs++;
  }
  b->first = a->first;
  return true;
}
@y
  /* YOUR CODE: copy the table, count the references */
  (void) s, (void) f, (void) from, (void) to;
  return error_say(why, "group_fork has not been written yet");
}
@z

cut: a second text
@x
  struct cache *s = (struct cache *) common;
  bool ok = true;
  for (size_t k = 0; ok && k < s->n_groups; k++)
    ok = group_fork(s, &s->group[k], from, to, why);
  ok = ok && sequences_fork(&s->table, common, from, to, why);
  if (!ok) cache_crop(common, to, 0);
  return ok;
}
@y
  /* YOUR CODE: the tables of all groups, then the tokens; after a failure |to| is empty */
  (void) common, (void) from, (void) to, (void) group_fork;
  return error_say(why, "cache_fork has not been written yet");
}
@z

cut: pages that leave the window
@x
  struct page_list *l = &f->sequence[sequence];
  size_t length = s->table.sequence[sequence].length;
  size_t seen = store_window_start(&s->common, f->layer, length) / s->page_rows;
  while (l->first < seen)@+ page_release(f, l->page[l->first++]);
}
@y
  /* YOUR CODE: release the pages whose rows the next row does not see */
  (void) s, (void) f, (void) sequence;
}
@z

cut: a shorter text
@x
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
@y
  /* YOUR CODE: the new length, which is 0 if rows that the next row sees are gone; then the tables */
  (void) common, (void) sequence, (void) length, (void) group_crop;
}
@z

shape
@x
#include "cache/inside.h"
@;@#
@<Grow the pool@>@;
@y
#include "cache/parts.h"
@;@#
@<Grow the pool@>@;
@z
