/* constraint_setup.h -- what a text must match, from the command line. */
#ifndef INCIPIT_CONSTRAINT_SETUP_H
#define INCIPIT_CONSTRAINT_SETUP_H
#include "constraints/bond.h"
#include "sampling/sampling.h"
#include "prompt.h"

/* all is null where nothing must match. It must stay where it is: the rule of the sampler points to
   the cursor */
struct constraint_setup {
  struct constraint *must;
  struct constraint_cursor bond;     /* how far a text has come in it */
  struct lexicon *words;             /* the tokens in order for it */
};

/* makes of the line's options a constraint, and of that the rule that a sampler obeys; x is all
   zero, and nothing happens if the line wants none. Returns an exit status: STATUS_USAGE for a
   pattern that is none; x is to be closed in any case */
int constraint_setup_open(struct constraint_setup *x, const struct invocation *a,
  struct token_rule *rule, struct error *why);

/* the tokens of a model in order, for any number of constraints; null and a sentence if there is no memory */
struct lexicon *constraint_setup_words(const struct session *o, struct memory *m, struct error *why);

/* has a constraint use them after a prompt, which decides whether the decoder drops the first blank; errors: those of
   constraint_bind */
bool constraint_setup_bind(const struct session *o, struct memory *m, const struct lexicon *words, struct constraint *must,
  const struct ids *prompt, struct error *why);

/* the rule of a sampler that a cursor makes; the cursor must stay where it is */
struct token_rule constraint_setup_rule(struct constraint_cursor *b);

/* returns what was taken */
void constraint_setup_close(struct memory *m, struct constraint_setup *x);

/* how many tokens were allowed when the last one was chosen */
size_t constraint_setup_allowed(const struct constraint_setup *x);
#endif
