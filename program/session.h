/* session.h -- what a subcommand works with, opened together and closed together. */
#ifndef INCIPIT_SESSION_H
#define INCIPIT_SESSION_H
#include "tokenizer/tokenizer.h"
#include "model/forward.h"
#include "accounts/formats.h"
#include "cache/cache.h"
#include "guess_setup.h"
#include "waiting.h"

/* what a subcommand asks for: it must have a tokenizer, a model, or takes a tokenizer if
   there is one; the settings alone; and whether unknown fields of the settings are to be read over */
enum { SESSION_NEED_TOKENIZER = 1, SESSION_NEED_MODEL = 2, SESSION_MAY_TOKENIZER = 4,
  SESSION_TOLERANT = 8, SESSION_SETTINGS = 16 };

/* what a subcommand works with; all of it is given back by session_close */
struct session {
  struct memory *m;
  struct counters counters;
  struct pool *pool;
  struct engine e;
  struct model *lm;
  struct prepared_weights *prepared; /* of --packed or for a device, or null */
  struct device *device; /* of --device, or null */
  struct store *s;
  struct tokenizer *t;
  /* the model's if it is known, else the tokenizer's */
  uint32_t vocab_size;
  struct guess_setup guess; /* who guesses tokens ahead, if somebody does */
  double load_seconds; /* of all that is opened */
  char path[PATH_CAP]; /* of the model */
  struct waiting wait; /* the engine tells it how far a pass is */
};

/* a line on the standard error, unless --quiet; words without a line break */
void session_hint(const struct console *c, const struct command_line *w, const char *words);

/* opens what needs says: the model of --model or the built-in one, and the tokenizer of
   --vocab or the model's, which SESSION_MAY_TOKENIZER lets be absent; returns an exit status, and
   on failure nothing is held. It stays where it is: it points to itself */
int session_open(struct session *o, const struct console *c,
  const struct command_line *w, unsigned needs, struct error *why);

/* closes what was opened */
void session_close(struct session *o);

/* of a server: the slots, each a sequence of its cache, and the pages that the cache has */
uint32_t session_serve_rows(const struct session *o, const struct command_line *w, struct cache_options *options);

/* the device that --device names; null for cpu, and null and a sentence (*why not empty) on failure */
struct device *session_device(struct memory *m, const struct command_line *w, struct error *why);

/* those that INCIPIT_ISA names, or the best */
const struct kernels *session_kernels(struct error *why);
#endif
