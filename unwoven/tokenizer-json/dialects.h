/* dialects.h -- do two libraries read a pattern alike? */
#ifndef INCIPIT_DIALECTS_H
#define INCIPIT_DIALECTS_H
#include <stddef.h>

/* what in a pattern of n bytes Oniguruma and PCRE2 may read differently, and at which byte it
   begins; NULL if there is nothing */
const char *dialects_differ(const char *pattern, size_t n, size_t *at);
#endif
