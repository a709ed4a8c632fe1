/* segments.c -- what the rows of a pass see of a store: segments, views, ranges.
   made from chapters/02-model.w; change it there

   Only store_segments writes: it fills the caller's list and sets rows_visible, which
   is good for the layer that was asked for last. */

#include "model/store.h"

/* <Find the range of a row> */
struct kv_range segment_range(const struct segment *s, uint32_t i)
{
  uint32_t at = s->first_position + i, lo = 0;
  if (s->window > 0 && at >= s->window) lo = at + 1 - s->window;
  bool hole = s->view.sinks < lo;
  return (struct kv_range) { hole ? lo : 0, at + 1, hole ? s->view.sinks : 0 };
}

/* <Count the rows of the store that are seen> */
size_t store_window_start(const struct store *s, uint32_t layer, size_t position)
{
  size_t window = s->window[layer];
  bool windowed = window > 0 && position >= window;
  return windowed ? position - window + 1 : 0;
}

static void count_visible(struct store *s, uint32_t layer)
{
  s->rows_visible = s->n_rows;
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct row *r = &s->rows[i];
    size_t start = store_window_start(s, layer, r->position);
    if (r->position == store_length(s, r->sequence))
      s->rows_visible += r->position - start + (s->sinks < start ? s->sinks : start);
  }
}

void store_view(const struct store *s, uint32_t layer, uint32_t sequence,
  struct kv_view *v)
{
  s->kind->view(s, layer, sequence, v);
  v->sinks = s->sinks;
}

/* <Make segments of the rows> */
static bool continues(const struct segment *l, const struct row *before,
  const struct row *r)
{
  return r->sequence == before->sequence
    && r->position == l->first_position + l->n_rows;
}

size_t store_segments(struct store *s, uint32_t layer, size_t most,
  struct segment *list)
{
  const struct row *r = s->rows;
  size_t n = 0;
  count_visible(s, layer);
  for (size_t i = 0; i < s->n_rows; i++) {
    if (n > 0 && list[n - 1].n_rows < most
        && continues(&list[n - 1], &r[i - 1], &r[i])) {
      list[n - 1].n_rows++;
      continue;
    }
    struct segment *l = &list[n++];
    *l = (struct segment) { .first_row = (uint32_t) i, .n_rows = 1,
      .first_position = r[i].position, .window = s->window[layer] };
    store_view(s, layer, r[i].sequence, &l->view);
  }
  return n;
}
