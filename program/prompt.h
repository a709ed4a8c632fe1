/* prompt.h -- a prompt, and a run that begins with one. */
#ifndef INCIPIT_PROMPT_H
#define INCIPIT_PROMPT_H
#include "session.h"

/* the bytes that were given or, if it came in_ids, that these stand for */
struct prompt { struct bytes text; struct ids list; bool in_ids; };

/* a subcommand at work: streams, command line, outfit, prompt */
struct invocation {
  const struct console *c;
  const struct command_line *w;
  struct session o;
  struct prompt p;
  /* positions we may use; tokens we may write */
  size_t context, max_tokens;
  struct error why; /* no words: nothing is to be said */
};

/* reads the prompt, opens the outfit, lets act do its work, closes all and says what went
   wrong; returns the exit status */
int invocation_run(const struct console *c, const struct command_line *w,
  int (*act)(struct invocation *));

/* sets a->context by --ctx-size and the model, which is open; returns an exit status */
int invocation_context(struct invocation *a);

/* appends the text of a file, a pipe, or the standard input, which is called -, to its end; on
   failure text may have a part of it */
bool prompt_read_text(const struct console *c, const char *path, struct bytes *text,
  struct error *why);

/* the text of the operand, of --prompt, of --file or of the standard input; returns an exit
   status */
int prompt_collect(const struct console *c, const struct command_line *w,
  struct bytes *text, struct error *why);

/* appends the token that an empty prompt stands for; errors: the model names none, memory */
bool prompt_begin_somewhere(const struct session *o, struct memory *m, struct ids *list, struct error *why);

/* a token, its natural log-probability, and its place, from 1 */
struct candidate { uint32_t id; double logprob; uint64_t rank; };

/* out[0] is chosen, out[1]...out[k] are the likeliest of n >=k */
void prompt_candidates(const double *logprob, size_t n, uint32_t chosen,
  struct candidate *out, size_t k);

/* bytes in quotation marks, on one line, escaped where they are no text */
void prompt_quote_piece(FILE *out, const unsigned char *byte, size_t n);
#endif
