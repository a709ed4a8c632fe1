/* door.h -- made from workshop/20-inspection.w; change it there */

/* H.144  door.h */

#ifndef INCIPIT_DOOR_H
#define INCIPIT_DOOR_H
#include "measures/measures.h"
#include "command/subcommands.h"
#include "chat/chat.h"

/* H.143  The whole command */

int run_tokenize(const struct console *c, const struct wishes *w);
/* text to ids and back, and learning a vocabulary */

int run_trace(const struct console *c, const struct wishes *w);
/* the loop, step by step */

int run_inspect(const struct console *c, const struct wishes *w);
/* what is in a model's files */

int run_probe(const struct console *c, const struct wishes *w);
/* answers lines */

int command_run(const struct console *c, int argc, char **argv);
/* a whole run of the command, but for what only main can do */

#endif
