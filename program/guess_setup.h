/* guess_setup.h -- who guesses tokens ahead: --speculate and --draft. */
#ifndef INCIPIT_GUESS_SETUP_H
#define INCIPIT_GUESS_SETUP_H
#include "speculation/drafter.h"
#include "speculation/lookup.h"
#include "console.h"
struct session;
struct command_line;

/* who guesses; by.most is 0 if nobody does. It must stay where it is: it points to itself */
struct guess_setup {
  struct speculation by;
  struct lookup lookup;
  struct drafter drafter;
  struct model *small; /* of --draft, or null */
};

/* somebody who guesses at most so many tokens a pass by looking them up in the text */
void guess_setup_lookup(struct guess_setup *x, size_t most);

/* what the line asks for, for so many texts at a time. The session has its model, workers and tokenizer. Errors: a second
   model that cannot be opened, or has another vocabulary or tokenizer; x is to be closed in any case */
bool guess_setup_open(struct guess_setup *x, const struct session *o, const struct command_line *w, uint32_t texts,
  struct error *why);

/* returns what was taken */
void guess_setup_close(struct memory *m, struct guess_setup *x);

/* as generate, with the guesses of x, if there are any */
bool guess_setup_generate(struct guess_setup *x, const struct generate_context *g, const struct ids *prompt,
  const struct generate_options *want, struct continuation *out, struct error *why);
#endif
