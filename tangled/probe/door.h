/* door.h -- made from workshop/20-inspection.w; change it there */

#ifndef INCIPIT_DOOR_H
#define INCIPIT_DOOR_H
#include "measures/measures.h"
#include "command/subcommands.h"
#include "chat/chat.h"

/* <The whole command> */

/* text to ids and back, and learning a vocabulary */
int run_tokenize(const struct console *c, const struct wishes *w);

/* the loop, step by step */
int run_trace(const struct console *c, const struct wishes *w);

/* what is in a model's files */
int run_inspect(const struct console *c, const struct wishes *w);

/* answers lines */
int run_probe(const struct console *c, const struct wishes *w);

/* a whole run of the command, but for what only main can do */
int command_run(const struct console *c, int argc, char **argv);
#endif
