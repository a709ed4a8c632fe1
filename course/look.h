/* look.h -- what a hand-in may not have in it, before and after it is compiled */
#ifndef INCIPIT_COURSE_LOOK_H
#define INCIPIT_COURSE_LOOK_H
#include <stdbool.h>
#include <stddef.h>

/* a text as it was handed in, which ends with a 0: what it includes has a plain name, so that it is of the lab or of the system, and
   its lines keep their names.  If not, why begins with name and says what was found */
bool look_at_source(const char *text, const char *name, char *why, size_t size);

/* an object file of n bytes: no sections but those that C makes, no code among data or data among code, nothing that runs before the
   tests, no executable stack; what it takes from elsewhere is among use, one name a line, or begins with also (if that is not null); and what
   it gives is among define */
bool look_at_object(const void *object, size_t n, const char *use, const char *also, const char *define, const char *name, char *why,
  size_t size);
#endif
