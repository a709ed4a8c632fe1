/* progress.h -- made from workshop/00-ground.w; change it there */

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
