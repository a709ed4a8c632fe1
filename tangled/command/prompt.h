/* prompt.h -- made from workshop/14-command.w; change it there */

/* B.114  prompt.h */

#ifndef INCIPIT_PROMPT_H
#define INCIPIT_PROMPT_H
#include "command/outfit.h"

/* B.98  One run with a prompt */

struct prompt {
  struct bytes text;
  struct ids list;
  bool in_ids;
};
/* the bytes that were given or, if it came in_ids, that these stand for */

struct occasion {
  const struct console *c;
  const struct wishes *w;
  struct outfit o;
  struct prompt p;
  size_t context, most;
/* positions we may use; tokens we may write */

  struct error why;
/* no words: nothing is to be said */

};

/* B.99  One run with a prompt */

int occasion_run(const struct console *c, const struct wishes *w,
                 int (*act)(struct occasion *));
/* reads the prompt, opens the outfit, lets act do its work, closes all and
 * says what went wrong; returns the exit status */

int occasion_context(struct occasion *a);
/* sets a->context by --ctx-size and the model, which is open; returns an
 * exit status */

bool bytes_read(struct memory *m, FILE * in, struct bytes *text, struct error *why);
/* appends what is left in in */

int text_gather(const struct console *c, const struct wishes *w,
                struct bytes *text, struct error *why);
/* the text of the operand, of --prompt, of --file or of the standard input;
 * returns an exit status */

/* B.110  The likeliest tokens */

struct candidate {
  uint32_t id;
  double logprob;
  uint64_t rank;
};
/* a token, its natural log-probability, and its place, from 1 */

void candidates_find(const double *logprob, size_t n, uint32_t chosen,
                     struct candidate *out, size_t k);
/* out[0] is chosen, out[1]...out[k] are the likeliest of n >= k */

/* B.113  The likeliest tokens */

void piece_quote(FILE * out, const unsigned char *byte, size_t n);
/* bytes in quotation marks, on one line, escaped where they are no text */

#endif
