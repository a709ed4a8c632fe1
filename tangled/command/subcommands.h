/* subcommands.h -- made from workshop/14-command.w; change it there */

#ifndef INCIPIT_SUBCOMMANDS_H
#define INCIPIT_SUBCOMMANDS_H
#include "loop/loop.h"
#include "command/help.h"
#include "json/json.h"
#include "command/deciding.h"

/* continues a prompt */
int run_generate(const struct console *c, const struct wishes *w);

/* do a model's files say how conversations are set? */
bool has_chat_template(const char *folder);

/* <The counters by name> */

/* how many counters there are */
enum { N_COUNTERS = 11 };

/* counter number i < N_COUNTERS, and how it is called */
uint64_t counter_at(const struct counters *c, int i, const char **name);

/* an object with all of them */
void put_counters(struct json_out *j, const struct counters *c);
#endif
