@i types.w
@s cache_options int
@s cache_state int

\chapterquestion{What does a cache need besides pages?}
@** Inside the cache: sequences, options, opening.
\incipit{C}{hapter 4} has the pages of a cache, its block tables and its forks. This chapter has the rest of the same module: the table that says which row belongs to which text, the options of a caller, and how a cache is opened, looked at and closed.

@* The table of sequences. \label{sec:sequencetable}
What a store knows of its sequences is the same wherever it keeps the rows: how many rows each sequence has, which tokens they had, and, during a pass, which row comes where. So it is a table of its own.

@(sequences.h@>=
#ifndef INCIPIT_SEQUENCES_H
#define INCIPIT_SEQUENCES_H
#include "model/store.h"
struct kv_sequence {
  size_t length; /* rows of the sequence that count */
  uint32_t *token; size_t cap, computed;
    /* |[cap]|; how many of them are known from earlier passes */
  size_t first, count; /* its rows in |order|, during a pass */
};
  /* what a cache knows of one sequence */
struct sequence_table { struct kv_sequence *sequence; size_t *order; };
  /* |[n_sequences]|; |[n_rows]|, during a pass: indices of rows by sequence and position, plus one,
     because 0 says that no row has come there yet */
@<What a table of sequences does@>@;
#endif

@ Each function also gets the store that the table belongs to, which has the rows of the pass, the sizes and the memory.

@<What a table of sequences does@>=
bool sequences_open(struct sequence_table *t, struct store *s, struct error *why);
  /* |n_sequences| empty sequences */
bool sequences_begin(struct sequence_table *t, struct store *s, struct error *why);
  /* finds the place of each row of the pass, and sets |rows_recomputed|; errors: a position beyond the
     context, stored already, after a gap or given twice, and memory; then nothing has changed */
void sequences_end(struct sequence_table *t, struct store *s, bool commit);
  /* the rows of the pass count from now on, or are forgotten */
bool sequences_fork(struct sequence_table *t, struct store *s, uint32_t from, uint32_t to,
  struct error *why);
  /* copies the tokens of |from| to the empty sequence |to| */
void sequences_close(struct sequence_table *t, struct store *s);
  /* frees the table's arrays */
size_t store_next_cap(size_t cap, size_t wanted, size_t max);
  /* what the capacity |cap| should become, so that |wanted| fit: twice as much, or what is wanted,
     or |max| */

@ The functions are in the order that C wants.

@(sequences.c@>=
#include <string.h>
#include "cache/sequences.h"
@;@#
@<Count the rows of a sequence that were computed before@>@;
@<End a pass of the sequences@>@;
@<Find a place for every row@>@;
@<Grow the token arrays@>@;
@<Begin a pass of the sequences@>@;
@<Open, fork and close the sequences@>@;

@ The rows of a pass may come in any order. If a sequence that has |length| rows gets |count| more, their positions must be
|length| \dots\ |length+count-1|, each once. So there is exactly one place for each row,
and a row whose place is out of bounds or taken is an error. If no row is, all places are taken, for there are as many rows as places.
After that |order| lists the rows by sequence and position, and nothing had to be sorted.

@<Find a place for every row@>=
static bool order_rows(struct sequence_table *t, const struct store *s,
  struct error *why)
{
  size_t first = 0;
  for (uint32_t q = 0; q < s->n_sequences; q++)
    t->sequence[q].first = first, first += t->sequence[q].count;
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct row *r = &s->rows[i];
    const struct kv_sequence *q = &t->sequence[r->sequence];
    const char *wrong = NULL;
    @<Find out what is wrong with the row's position@>@;
    if (wrong != NULL)
      return error_say(why, "position %u of sequence %u is %s;"@|
        " wanted: from %zu on, below %u,"@| " each once", r->position,
        r->sequence, wrong, q->length, s->n_positions);
    t->order[q->first + r->position - q->length] = i + 1;
  }
  return true;
}

@ The order of the questions matters: the last one reads |order|, and may do so only because the two before it have shown
that the place exists.

@<Find out what is wrong with the row's position@>=
if (r->position >= s->n_positions) wrong = "beyond the context";
else if (r->position < q->length)@+ wrong = "stored already";
else if (r->position >= q->length + q->count) wrong = "after a gap";
else if (t->order[q->first + r->position - q->length] != 0)
  wrong = "given twice";

@ A text that comes in token by token should not be copied once for every token. So the token array of a sequence grows by doubling, as the lists of \cref{ground} do, but never beyond the context.

@<Grow the token arrays@>=
size_t store_next_cap(size_t cap, size_t wanted, size_t max)
{
  size_t twice = cap <= max / 2 ? 2 * cap : max;
  return twice < wanted ? wanted : twice;
}
static bool reserve_tokens(struct kv_sequence *q, const struct store *s, size_t wanted,
  struct error *why)
{
  if (wanted <= q->cap) return true;
  size_t cap = store_next_cap(q->cap, wanted, s->n_positions);
  uint32_t *token = memory_resize(s->m, MEMORY_TOKENS, q->token, cap, sizeof *token,
    why);
  if (token == NULL)@+ return false;
  q->token = token, q->cap = cap;
  return true;
}

@ Rows that were computed before are counted as in \cref{sec:rows}, sequence by sequence.

@<Count the rows of a sequence that were computed before@>=
static uint32_t token_at(const struct sequence_table *t, const struct store *s,
  const struct kv_sequence *q, size_t k)
{@+ return s->rows[t->order[q->first + k] - 1].token;@+ }
static size_t known(const struct sequence_table *t, const struct store *s,
  const struct kv_sequence *q)
{
  size_t k = 0;
  while (k < q->count && q->length + k < q->computed
      && q->token[q->length + k] == token_at(t, s, q, k))
    k++;
  return k;
}

@ A refusal has to leave everything as it was. So nothing is changed before all checks are through, except the counts, which are
zero between passes and which |sequences_end| sets back.

@<Begin a pass of the sequences@>=
bool sequences_begin(struct sequence_table *t, struct store *s, struct error *why)
{
  t->order = memory_alloc(s->m, MEMORY_ACTIVATIONS, s->n_rows, sizeof *t->order, why);
  if (t->order == NULL)@+ return false;
  for (size_t i = 0; i < s->n_rows; i++) t->sequence[s->rows[i].sequence].count++;
  bool ok = order_rows(t, s, why);
  s->rows_recomputed = 0;
  for (uint32_t i = 0; ok && i < s->n_sequences; i++) {
    struct kv_sequence *q = &t->sequence[i];
    ok = reserve_tokens(q, s, q->length + q->count, why);
    if (ok) s->rows_recomputed += known(t, s, q);
  }
  if (!ok)@+ sequences_end(t, s, false);
  return ok;
}

@ If the pass succeeds, its tokens are remembered, and what had been computed beyond a new token is forgotten: it belonged to another text.

@<End a pass of the sequences@>=
void sequences_end(struct sequence_table *t, struct store *s, bool commit)
{
  for (uint32_t i = 0; i < s->n_sequences; i++) {
    struct kv_sequence *q = &t->sequence[i];
    size_t old = commit ? known(t, s, q) : 0, end = q->length + q->count;
    for (size_t k = old; k < q->count && commit; k++)
      q->token[q->length + k] = token_at(t, s, q, k);
    if (commit && old < q->count) q->computed = end;
    if (commit)@+ q->length = end;
    q->count = 0;
  }
  memory_free(s->m, t->order);
  t->order = NULL;
}

@ The table's part in a fork is to copy the tokens that count. Opening takes an array of empty sequences, and closing frees what they own.

@<Open, fork and close the sequences@>=
bool sequences_open(struct sequence_table *t, struct store *s, struct error *why)
{
  t->sequence = memory_alloc(s->m, MEMORY_OTHER, s->n_sequences,
    sizeof *t->sequence, why);
  return t->sequence != NULL;
}
bool sequences_fork(struct sequence_table *t, struct store *s,
  uint32_t from, uint32_t to,
  struct error *why)
{
  const struct kv_sequence *a = &t->sequence[from];
  struct kv_sequence *b = &t->sequence[to];
  if (!reserve_tokens(b, s, a->length, why)) return false;
  if (a->length > 0)
    memcpy(b->token, a->token, a->length * sizeof *a->token);
  b->length = b->computed = a->length;
  return true;
}
void sequences_close(struct sequence_table *t, struct store *s)
{
  for (uint32_t i = 0; t->sequence != NULL && i < s->n_sequences; i++)
    memory_free(s->m, t->sequence[i].token);
  memory_free(s->m, t->sequence);
}

@* Opening a cache. \label{sec:cacheopen}
The structures of a cache are in \.{pages.h} (\cref{sec:pagecode}). Opening one copies the caller's options into them, and puts the layers into groups.

@(open.c@>=
#include <inttypes.h>
#include "cache/inside.h"
@;@#
@<Look at a cache, and close it@>@;
@<Begin and end a pass of the cache@>@;
@<Grow a block table@>@;
@<Open a cache@>@;

@ On opening, the layers are put into their groups, in order.

@<Open a cache@>=
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
    if (k == s->n_groups)@+ s->group[s->n_groups++].layer = i;
    s->slot_in_group[i] = s->group[k].n_layers++;
  }
  for (size_t k = 0; s->slot_in_group != NULL && k < s->n_groups; k++) {
    struct page_list *l = memory_alloc(common->m, MEMORY_OTHER,
      common->n_sequences, sizeof *l, why);
    if (l == NULL)@+ return false;
    s->group[k].sequence = l;
    for (uint32_t i = 0; i < common->n_sequences; i++)
      l[i].first = s->sink_pages;
  }
  return s->slot_in_group != NULL;
}

@ The largest number of pages of a group follows from the options. With a window a sequence needs no more than its ring, which may begin within a page and so touch one page more than it fills. The number of a page has 32 bits; a cache of more pages than that would take more memory than there is.

@<Open a cache@>=
static bool group_apply_options(struct cache *s, struct layer_group *f,
  const struct cache_options *w, struct error *why)
{
  size_t context = s->common.n_positions, each = pages_for(s, context);
  size_t window = s->common.window[f->layer];
  size_t pass = w->pass == 0 || w->pass > context ? context : w->pass;
  size_t ring = window - 1 + pass;
  size_t ring_pages = pages_for(s, ring - 1) + 1 + s->sink_pages;
  if (window > 0 && ring_pages < each)@+ each = ring_pages;
  f->max_pages = s->common.n_sequences * each;
  if (w->rows > 0 && (window == 0 || pages_for(s, w->rows) < f->max_pages))
    f->max_pages = pages_for(s, w->rows);
  if (f->max_pages > UINT32_MAX)
    return error_say(why, "a cache of %zu pages; wanted: at most %"
      PRIu32, f->max_pages, UINT32_MAX);
  return !w->preallocate || pages_grow(s, f, f->max_pages, why);
}

@ A page has a power of two of rows, up to 256, so that a block of attention, 256 positions, is always a whole number of pages. In a format with blocks of 32 numbers a head must have whole blocks, because it is read by itself.

@<Open a cache@>=
static bool apply_options(struct cache *s, const struct cache_options *w,
  struct error *why)
{
  static const struct kv_format floats = @[{ "f32", WEIGHT_F32,@|
    kv_encode_f32 }@];
  const struct store *c = &s->common;
  s->format = w->format == NULL ? floats : *w->format;
  s->common.encode = s->format.encode;
  if (w->memory != NULL)@+ s->common.memory = w->memory;
  s->page_rows = w->page_rows == 0 ? 64 : w->page_rows;
  if (s->page_rows > 256 || (s->page_rows & (s->page_rows - 1)) != 0)
    return error_say(why, "a page of %zu rows;"@|
      " wanted: a power of two up to 256", s->page_rows);
  int block = number_types[s->format.type].block;
  if (c->head_dim % (uint32_t) block != 0)
    return error_say(why, "a cache in %s for a head_dim of %u; wanted: a"@|
      " multiple of %d", s->format.name, c->head_dim, block);
  s->heads = c->n_kv_heads, s->head_bytes = weight_row_bytes(s->format.type,
    c->head_dim);
  s->common.row_bytes = 2 * s->heads * s->head_bytes;
  s->sink_pages = pages_for(s, c->sinks);
  return true;
}

@ A caller may decide for this cache alone how far back a row sees, and how long a text may be. The model's settings are not touched, since other caches use them, perhaps in other threads; the options are written into a copy. A context longer than the model's is refused, because the model was not made for the positions beyond.
@^window@>

@<Open a cache@>=
static bool apply_limits(struct model_config *c, const struct cache_options *w,
  struct error *why)
{
  if (w->context > c->n_positions)
    return error_say(why, "a context of %" PRIu32 " positions;"@|
      " wanted: at most %" PRIu32 ", the model's", w->context, c->n_positions);
  if (w->context > 0)@+ c->n_positions = w->context;
  return (!w->set_window && w->sinks == 0)
    || config_set_window(c, w->window, w->sinks, why);
}

@ If anything fails on the way, |store_close| frees what there is; it can close a cache that is only half open.

@<Open a cache@>=
struct store *cache_open(struct memory *m, const struct model_config *c,
  uint32_t n_sequences, const struct cache_options *w, struct error *why)
{
  struct model_config own = *c;
  if (!apply_limits(&own, w, why))@+ return NULL;
  struct cache *s = memory_alloc(m, MEMORY_OTHER, 1, sizeof *s, why);
  if (s == NULL)@+ return NULL;
  if (!store_prepare(&s->common, &cache_kind, m, &own, n_sequences, why)) {
    memory_free(m, s);
    return NULL;
  }
  bool ok = sequences_open(&s->table, &s->common, why)@|
    && apply_options(s, w, why) && group_layers(s, why);
  for (size_t k = 0; ok && k < s->n_groups; k++)
    ok = group_apply_options(s, &s->group[k], w, why);
  if (ok)@+ return &s->common;
  store_close(&s->common);
  return NULL;
}

@* Looking at a cache, and closing it. \label{sec:cachelook}
The report adds up the pages of all groups. A store of another kind, which we recognize by its table of functions, has no pages to report.

@<Look at a cache, and close it@>=
struct cache_state cache_look(const struct store *common)
{
  if (common->kind != &cache_kind) return (struct cache_state) @[{ .pages = 0 }@];
  const struct cache *s = (const struct cache *) common;
  struct cache_state all = @[{ .page_rows = s->page_rows,@|
    .bytes_copied = s->copied }@];
  for (size_t k = 0; k < s->n_groups; k++) {
    const struct layer_group *f = &s->group[k];
    size_t used = f->cap - f->n_free;
    all.pages += f->cap, all.pages_used += used;
    all.bytes += f->cap * page_bytes(s, f);
    all.bytes_used += used * page_bytes(s, f);
  }
  return all;
}

@ A cache is closed group by group; the marked pages are the first of their slabs.

@<Look at a cache, and close it@>=
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

@* What makes a cache a store. \label{sec:cachestore}
Chapter 2 says what a store must be able to do (\cref{sec:rows}). Chapter 4 has the functions that are about pages. The others are here. Both halves share a header that nothing else includes.

@(inside.h@>=
#ifndef INCIPIT_CACHE_INSIDE_H
#define INCIPIT_CACHE_INSIDE_H
#include "cache/pages.h"
bool pages_grow(struct cache *s, struct layer_group *f, size_t wanted,
  struct error *why);
  /* lets the pool of a group have |wanted| pages or more; errors: memory, and then
     the pool is as it was */
bool list_reserve(struct cache *s, struct page_list *l, size_t n, struct error *why);
  /* lets a block table have |n| entries; errors: memory, and then it is as it was */
bool cache_reserve(struct cache *s, struct error *why);
  /* gets pages for all rows of the pass; errors: the cache is full, and memory */
void cache_view(const struct store *common, uint32_t layer, uint32_t sequence,
  struct kv_view *v);
  /* tells where the keys and values of a sequence are in one layer */
void cache_crop(struct store *common, uint32_t sequence, size_t length);
  /* keeps the first |length| rows, or none if rows that the next row sees are gone */
bool cache_fork(struct store *common, uint32_t from, uint32_t to, struct error *why);
  /* gives the empty sequence |to| the rows of |from|; errors: memory */
void cache_close(struct store *common);
  /* frees a cache, even one that is only half open */
extern const struct store_kind cache_kind;
  /* the table of these functions: a store is a cache if its |kind| is this */
#endif

@ A pass that is refused leaves everything as it was. But to see whether there is room for its rows, |group_reserve| has to release the pages that they will not see. So the cache remembers where the window of each sequence began, and if the pass is refused, the pages come back: nothing has been written to them. The stack of free pages is then made anew, from the counts. What has been got for the pass from the system stays in the pool, as free pages.

@<Begin and end a pass of the cache@>=
static void windows_remember(struct cache *s)
{
  for (size_t k = 0; k < s->n_groups; k++)
    for (uint32_t i = 0; i < s->common.n_sequences; i++)
      s->group[k].sequence[i].held = s->group[k].sequence[i].first;
}
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

@ A pass begins in the table of sequences, and then has its pages reserved. If there are too few, the table forgets the pass. A pass that ends without its rows gives its pages back: each sequence is cropped to the length that it has. (What has left the window stays away, since rows of the pass may have been written there.) Two more functions tell what a sequence holds.

@<Begin and end a pass of the cache@>=
static void cache_end(struct store *common, bool commit)
{
  struct cache *s = (struct cache *) common;
  sequences_end(&s->table, common, commit);
  for (uint32_t i = 0; !commit && i < common->n_sequences; i++)
    cache_crop(common, i, s->table.sequence[i].length);
}
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

@ This is the table of a cache's functions. A store is a cache if its |kind| is this table.

@<Begin and end a pass of the cache@>=
const struct store_kind cache_kind = @[{@|
  .begin = cache_begin, .end = cache_end, .view = cache_view,@|
  .length = cache_length, .tokens = cache_tokens, .crop = cache_crop,@|
  .fork = cache_fork, .close = cache_close }@];

@ A block table grows as the token arrays do, by doubling, but never beyond the pages of a whole context.

@<Grow a block table@>=
bool list_reserve(struct cache *s, struct page_list *l, size_t n,
  struct error *why)
{
  if (n <= l->cap)@+ return true;
  size_t cap = store_next_cap(l->cap, n, pages_for(s, s->common.n_positions));
  uint32_t *page = memory_resize(s->common.m, MEMORY_OTHER, l->page, cap, sizeof *page,
    why);
  if (page == NULL)@+ return false;
  l->page = page;
  const char **data = memory_resize(s->common.m, MEMORY_OTHER, l->data, cap,
    sizeof *data, why);
  if (data == NULL)@+ return false;
  l->data = data, l->cap = cap;
  return true;
}
