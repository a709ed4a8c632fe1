/* buffers.c -- the memory of a funnel: allocated once, for every token of a text.

   Two arrays of doubles, two of ids and two lists to sort come from an arena, so that one look at
   the end tells whether an allocation failed.  To close a funnel of which only half is there, or to close it
   twice, does no harm. */

#include "sampling/sampling.h"

bool funnel_open(struct funnel *f, struct memory *m,
  const struct kernels *k, size_t vocab, struct error *why)
{
  *f = (struct funnel) { .buffers.m = m, .k = k, .vocab = vocab };
  struct arena *a = &f->buffers;
  f->score = arena_alloc(a, MEMORY_OTHER, vocab, 8, why);
  f->weight = arena_alloc(a, MEMORY_OTHER, vocab, 8, why);
  f->candidates = arena_alloc(a, MEMORY_OTHER, vocab, 4, why);
  f->count = arena_alloc(a, MEMORY_OTHER, vocab, 4, why);
  f->sort_buf = arena_alloc(a, MEMORY_OTHER, vocab, 16, why);
  f->sort_spare = arena_alloc(a, MEMORY_OTHER, vocab, 16, why);
  if (!a->refused) return true;
  funnel_close(f);
  return false;
}

void funnel_close(struct funnel *f)
{
  arena_free(&f->buffers);
  *f = (struct funnel) { .vocab = 0 };
}
