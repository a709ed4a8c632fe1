/* progress.h -- how long work asks its caller whether to go on.

   The caller fills in the function and what the function wants to know; progress_tell keeps
   the rest. A refusal is remembered: work is nested, a layer in a pass and a pass in a
   prefill, and a caller who has said no to one of them must not be asked again by the others,
   and perhaps say yes to one. */

#ifndef INCIPIT_PROGRESS_H
#define INCIPIT_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>

/* how far work has come, in rows or whatever the working function counts: report
   returns false to give up, and is not asked again (cancelled); before and all: if
   the work is a part, what came before it and the whole, else 0. It is the caller's,
   and used by one thread at a time */
struct progress {
  bool (*report)(void *ctx, size_t done, size_t all); void *ctx;
  size_t before, all; bool cancelled;
};

/* done of all are done; false: give up. A null p always goes on */
bool progress_tell(struct progress *p, size_t done, size_t all);

/* whether it was given up; false for null */
bool progress_cancelled(const struct progress *p);
#endif
