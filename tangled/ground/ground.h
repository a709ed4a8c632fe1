/* ground.h -- made from chapters/00-foundations.w; change it there */

#ifndef INCIPIT_GROUND_H
#define INCIPIT_GROUND_H
#ifdef __FAST_MATH__
_Static_assert(0, "-ffast-math would reorder the sums");
#endif
#if defined __FLT_EVAL_METHOD__ && __FLT_EVAL_METHOD__ != 0
_Static_assert(0, "floats in wider registers (x87?)");
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* <An error is one message> */

/* why the last call failed: one message in UTF-8, no line break; owned by the caller,
   written only on failure */
struct error { char text[400]; };

/* writes the message, cut to fit; why may be null; always false, so that a function
   can end with return error_say(...) */
bool error_say(struct error *why, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* file: field is found; wanted: wanted, found quoted by the caller */
bool error_found(struct error *why, const char *file, const char *field,
  const char *found, const char *wanted);
#include "ground/memory.h"

/* <A file that is mapped> */

/* a file as memory, read-only; an empty file has size == 0 */
struct mapping { const unsigned char *bytes; size_t size; };

/* maps the whole regular file path; the message names it */
bool file_map(struct mapping *map, const char *path, struct error *why);

/* ends a mapping; all pointers into it die with it */
void file_unmap(struct mapping *map);

/* gives back the memory of n bytes, if they are in map; whoever reads them again
   waits for the file */
void file_release(const struct mapping *map, const void *from, size_t n);
#include "ground/paths.h"
#include "ground/pool.h"
#include "ground/progress.h"
#endif
