/* command.h -- the whole command: one function for each subcommand, and the one that chooses
   among them. */
#ifndef INCIPIT_COMMAND_H
#define INCIPIT_COMMAND_H
#include "cmd_generate.h"
#include "help.h"

/* Each subcommand takes the streams and the options, and returns an exit status; what there is
   to say has then been said. */

/* continues a prompt */
int cmd_generate(const struct console *c, const struct command_line *w);

/* text to ids and back; --train learns a vocabulary */
int cmd_tokenize(const struct console *c, const struct command_line *w);

/* the generation loop, step by step */
int cmd_trace(const struct console *c, const struct command_line *w);

/* what is in a model's files */
int cmd_inspect(const struct console *c, const struct command_line *w);

/* answers questions in JSON, one a line */
int cmd_probe(const struct console *c, const struct command_line *w);

/* takes the time of prefill and decode */
int cmd_bench(const struct console *c, const struct command_line *w);

/* reads a file, and says how well it was predicted */
int cmd_perplexity(const struct console *c, const struct command_line *w);

/* says how much memory a model takes, and what fits into a budget */
int cmd_memory(const struct console *c, const struct command_line *w);

/* runs the claims of the ledger, and says what became of them */
int cmd_verify(const struct console *c, const struct command_line *w);

/* makes one GGUF file of a model */
int cmd_quantize(const struct console *c, const struct command_line *w);

/* a conversation with a model */
int cmd_chat(const struct console *c, const struct command_line *w);

/* answers requests over HTTP until a signal ends it */
int cmd_serve(const struct console *c, const struct command_line *w);

/* fetches a model from the hub, or lists those that were */
int cmd_pull(const struct console *c, const struct command_line *w);

/* a whole run of the command, except for what only main can do: find the streams and the
   executable, and catch signals */
int command_run(const struct console *c, int argc, char **argv);
#endif
