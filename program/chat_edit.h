/* chat_edit.h -- lines that a person types. */
#ifndef INCIPIT_CHAT_EDIT_H
#define INCIPIT_CHAT_EDIT_H
#include "console.h"

/* lines are edited by libedit, with a history as long as the program runs; both streams must
   be terminals */
extern const struct editing editing_by_line;
#endif
