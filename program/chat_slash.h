/* chat_slash.h -- the lines of a talk that are for the program. */
#ifndef INCIPIT_CHAT_SLASH_H
#define INCIPIT_CHAT_SLASH_H
#include "chat.h"

/* does what line[n], which begins with a slash, asks for */
enum chat_result chat_slash(struct chat *t, const char *line, size_t n);

#endif
