/* order.c -- made from chapters/04-cache.w; change it there */

/* Gives each row of a pass its place in order. When it begins, all of order is 0, and
   the counts are set; first it sets itself. If it fails, order is half filled, and
   sequences_end throws it away. */
#include "cache/sequences.h"

bool sequences_order(struct sequence_table *t, const struct store *s,
  struct error *why)
{
  size_t first = 0;
  for (uint32_t q = 0; q < s->n_sequences; q++)
    t->sequence[q].first = first, first += t->sequence[q].count;
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct row *r = &s->rows[i];
    const struct kv_sequence *q = &t->sequence[r->sequence];
    const char *wrong = NULL;
    /* <Find out what is wrong with the row's position> */
    if (r->position >= s->n_positions) wrong = "beyond the context";
    else if (r->position < q->length) wrong = "stored already";
    else if (r->position >= q->length + q->count) wrong = "after a gap";
    else if (t->order[q->first + r->position - q->length] != 0)
      wrong = "given twice"; /* there is such a place, or one of the questions above would have been answered */
    if (wrong != NULL)
      return error_say(why, "position %u of sequence %u is %s;"
        " wanted: from %zu on, below %u, each once", r->position,
        r->sequence, wrong, q->length, s->n_positions);
    t->order[q->first + r->position - q->length] = i + 1;
  }
  return true;
}
