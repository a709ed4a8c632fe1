/* outfit.h -- made from workshop/14-command.w; change it there */

/* B.96  outfit.h */

#ifndef INCIPIT_OUTFIT_H
#define INCIPIT_OUTFIT_H
#include "tokens/tokenizer.h"
#include "model/forward.h"
#include "accounts/formats.h"
#include "command/console.h"
#include "command/options.h"

/* B.83  What a subcommand works with */

enum { NEED_TOKENIZER = 1, NEED_MODEL = 2, MAY_TOKENIZER = 4 };
struct outfit {
  struct memory *m;
  struct counters counters;
  struct pool *crew;
  struct engine e;
  struct model *lm;
  struct store *s;
  struct tokenizer *t;
  uint32_t vocab_size;
/* the model's if it is known, else the tokenizer's */

  double load_seconds;
  char path[CONSOLE_PATH];
/* of the model */

};

/* B.84  What a subcommand works with */

bool outfit_open(struct outfit *o, const struct console *c,
                 const struct wishes *w, unsigned needs, struct error *why);
/* opens what needs says: the model of --model or the built-in one, and the
 * tokenizer of --vocab or the model's, which MAY_TOKENIZER lets be absent;
 * on failure nothing is held. It stays where it is: it points to itself */

void outfit_close(struct outfit *o);
/* closes what was opened */

const struct kernels *outfit_kernels(struct error *why);
/* those that INCIPIT_ISA names, or the best */

#endif
