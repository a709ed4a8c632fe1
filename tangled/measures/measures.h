/* measures.h -- made from workshop/21-measures.w; change it there */

/* R.2  measures.h */

#ifndef INCIPIT_MEASURES_H
#define INCIPIT_MEASURES_H
#include "command/subcommands.h"
int run_bench(const struct console *c, const struct wishes *w);
/* takes the time of both phases; returns an exit status */

int run_perplexity(const struct console *c, const struct wishes *w);
/* reads a file, and says how well it was predicted; returns an exit status */

int run_memory(const struct console *c, const struct wishes *w);
/* says what a model takes, and what fits; returns an exit status */

#endif
