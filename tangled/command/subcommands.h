/* subcommands.h -- made from workshop/14-command.w; change it there */

/* B.173  subcommands.h */

#ifndef INCIPIT_SUBCOMMANDS_H
#define INCIPIT_SUBCOMMANDS_H
#include "loop/loop.h"
#include "command/help.h"
#include "json/json.h"
#include "command/deciding.h"
int run_generate(const struct console *c, const struct wishes *w);
/* continues a prompt */

bool has_chat_template(const char *folder);
/* do a model's files say how conversations are set? */

/* B.165  The counters by name */

enum { N_COUNTERS = 11 };
uint64_t counter_at(const struct counters *c, int i, const char **name);
/* counter number i < N_COUNTERS, and how it is called */

void put_counters(struct json_out *j, const struct counters *c);
/* an object with all of them */

#endif
