/* editing.h -- made from workshop/22-chat.w; change it there */

#ifndef INCIPIT_EDITING_H
#define INCIPIT_EDITING_H
#include "command/console.h"

/* lines are edited by libedit, with a history as long as the program runs; both
   streams must be terminals */
extern const struct editing editing_by_line;
#endif
