/* excerpt.h -- a text from a file, or a word that the user typed, shortened for a message.

   All modules shorten with this function. It cuts between two characters, never within one,
   and marks the cut with three dots. */

#ifndef INCIPIT_EXCERPT_H
#define INCIPIT_EXCERPT_H
#include <stddef.h>

/* bytes of a text that is quoted, at most; a buffer has four more */
enum { EXCERPT_MAX = 60 };

/* the first n bytes of text, or, if those are more than most (at most EXCERPT_MAX),
   as many whole characters as fit into most, and three dots; returns buffer, which
   then ends in a zero */
const char *text_excerpt(const char *text, size_t n, size_t most, char buffer[EXCERPT_MAX + 4]);
#endif
