/* editing.h -- made from workshop/22-chat.w; change it there */

/* U.36  editing.h */

#ifndef INCIPIT_EDITING_H
#define INCIPIT_EDITING_H
#include "command/console.h"
extern const struct editing editing_by_line;
/* lines are edited by libedit, with a history as long as the program runs;
 * both streams must be terminals */

#endif
