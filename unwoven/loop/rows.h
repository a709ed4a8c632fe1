/* rows.h -- the rows of a prompt are shown to a caller who wants to know how likely its tokens were. */
#ifndef INCIPIT_LOOP_ROWS_H
#define INCIPIT_LOOP_ROWS_H
#include "loop/generate.h"

/* after a pass p with the rows of n sequences, before their first positions are moved: calls the on_row of those that
   have one. What goes wrong ends the sequence, with FINISH_ERROR */
void tell_of_rows(const struct generate_context *g, struct sequence *const *list, size_t n, struct pass *p);
#endif
