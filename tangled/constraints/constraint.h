/* constraint.h -- made from workshop/09-constraints.w; change it there */

#ifndef INCIPIT_CONSTRAINT_H
#define INCIPIT_CONSTRAINT_H
#include "ground/ground.h"

/* <A constraint> */
struct constraint;

/* the texts that a pattern of n bytes matches as a whole; owned by the caller; m must
   outlive it; NULL and a sentence that names the byte */
struct constraint *constraint_regex(struct memory *m, const char *pattern,
  size_t n, struct error *why);

/* the texts that rule root of a grammar of n bytes makes; name, of the file, is for
   error messages, which name the line, or the byte that is not UTF-8; otherwise as
   above */
struct constraint *constraint_grammar(struct memory *m, const char *name,
  const char *text, size_t n, struct error *why);

/* a grammar of one JSON object (RFC 8259), with bounded white space and numbers */
extern const char constraint_json[];

/* frees all of it; NULL does nothing */
void constraint_free(struct constraint *c);

/* is the whole text of n bytes one of them? Fails only for lack of memory, or at one
   of the limits of constraint.c, which it names */
bool constraint_matches(struct constraint *c, const char *text, size_t n,
  bool *yes, struct error *why);

/* <A vocabulary in order> */

/* the n bytes of a token */
struct token_bytes { const unsigned char *byte; size_t n; };
struct lexicon;

/* sorts vocab_size pieces and keeps a copy; an id that is not usable (NULL: all are)
   or has no bytes is never allowed; m must outlive it; NULL and a sentence if there
   is no memory */
struct lexicon *lexicon_open(struct memory *m, const struct token_bytes *spelt,
  const bool *usable, size_t vocab_size, struct error *why);

/* frees all of it; NULL does nothing */
void lexicon_close(struct lexicon *l);

/* from now on c uses these tokens; l must outlive c or its next binding; strips: the
   first token of a text loses one blank at its front. The numbers of earlier states
   are invalid. False and a sentence if no text can be written at all, and then c can
   be bound again; or for lack of memory, and then the caller may only call
   constraint_free */
bool constraint_bind(struct constraint *c, const struct lexicon *l,
  bool strips, struct error *why);

/* <Steps of a constraint> */

/* the state in which nothing has been written */
uint32_t constraint_start(const struct constraint *c);

/* allowed[id], for each id of the lexicon: 1 if the token may come next and
   constraint_minimum after it is at most budget - 1, else 0; *accepts: may the text
   end here? False and a sentence if neither is possible: it names the budget that
   would be enough */
bool constraint_mask(struct constraint *c, uint32_t state, size_t budget,
  uint8_t *allowed, bool *accepts, struct error *why);

/* the state after token id; false and a sentence if it cannot come */
bool constraint_step(struct constraint *c, uint32_t state, uint32_t id,
  uint32_t *next, struct error *why);

/* a number of tokens that complete the text: the least, but where rules nest or there
   are very many states it may be more than that; false and a sentence if the tokens
   cannot complete it at all */
bool constraint_minimum(struct constraint *c, uint32_t state, size_t *tokens,
  struct error *why);

/* nodes of the network, classes of bytes that it distinguishes, states found so far,
   bytes they take */
struct constraint_look { size_t nodes, classes, states, bytes; };

/* the present numbers */
struct constraint_look constraint_look(const struct constraint *c);

/* forgets all states but those of the beginning; all numbers are invalid, ask
   constraint_start again; after a failure call constraint_free */
bool constraint_forget(struct constraint *c, struct error *why);
#endif
