/* session.c -- opening what a subcommand works with: kernels, model, store, workers, tokenizer.

   What is not needed is not opened, and opening goes from the cheap to the expensive, so that a
   mistake is reported before anybody has waited. The answers depend neither on the number of
   workers nor on the kernels; the time does. */

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ground/timing.h"
#include "session.h"
#include "families/loader.h"

/* The built-in model is where INCIPIT_MODEL says, or near the program: where both were
   installed, or in the clone that the program was built in, one or two levels up. */
static bool built_in(const struct console *c, char path[PATH_CAP],
  struct error *why)
{
  static const char *const place[] = {
    "../share/incipit/models/pocket",
    "../models/pocket", "../../models/pocket" };
  const char *named = getenv("INCIPIT_MODEL");
  if (named != NULL && *named != '\0')
    return path_beside(path, "", named, why);
  for (int i = 0; i < 3; i++) {
    if (!path_beside(path, c->program, place[i], why)) return false;
    if (access(path, R_OK) == 0) return true;
  }
  path_beside(path, c->program, place[1], NULL);
  return error_say(why, "there is no built-in model"
    " at %s; give one with --model, or name it"
    " in INCIPIT_MODEL", path);
}

/* --threads, or OMP_NUM_THREADS if it is a positive number, or one worker for each physical core
   (two hyperthreads share the units that multiply) */
static unsigned workers_wanted(const struct command_line *w)
{
  if (w->of[OPTION_THREADS].given)
    return (unsigned) w->of[OPTION_THREADS].count;
  const char *habit = getenv("OMP_NUM_THREADS");
  long n = habit == NULL ? 0 : strtol(habit, NULL, 10);
  if (n > 0) return n > 1024 ? 1024 : (unsigned) n;
  return pool_cores();
}

/* an empty INCIPIT_ISA counts as none: that is how a shell takes a variable away for one line */
const struct kernels *session_kernels(struct error *why)
{
  const char *name = getenv("INCIPIT_ISA");
  bool named = name != NULL && *name != '\0';
  return kernels_find(named ? name : NULL, why);
}

/* the named model, or the built-in one */
static bool model_path(struct session *o, const struct console *c,
  const struct command_line *w, struct error *why)
{
  if (w->of[OPTION_MODEL].given)
    return path_beside(o->path, "", w->of[OPTION_MODEL].text, why);
  return built_in(c, o->path, why);
}

/* The store is chapter 4's cache, with rows in the format of --kv-type; --window is the cache's,
   and replaces what the model has in all layers. --num-beams needs a sequence for each beam. */
static struct store *open_store(struct session *o, const struct command_line *w,
  struct error *why)
{
  const struct option_value *of = w->of;
  struct cache_options options = { .format = format_at(0),
    .set_window = of[OPTION_WINDOW].given,
    .window = (uint32_t) of[OPTION_WINDOW].count,
    .sinks = (uint32_t) of[OPTION_SINKS].count };
  if (of[OPTION_KV_TYPE].given)
    options.format = format_find(of[OPTION_KV_TYPE].text, why);
  uint32_t texts = of[OPTION_NUM_BEAMS].given
    ? (uint32_t) of[OPTION_NUM_BEAMS].count : 1;
  return options.format == NULL ? NULL
    : cache_open(o->m, &o->lm->config, texts, &options, why);
}

/* the model, its store, the workers, and the engine that ties them to kernels and counters */
static bool open_model(struct session *o, const struct command_line *w,
  struct error *why)
{
  o->lm = model_open(o->m, o->path, why);
  if (o->lm == NULL) return false;
  o->vocab_size = o->lm->config.vocab_size;
  o->s = open_store(o, w, why);
  if (o->s == NULL) return false;
  o->pool = pool_open(o->m, workers_wanted(w), why);
  o->e.pool = o->pool, o->e.c = &o->counters;
  return o->pool != NULL;
}

/* A tokenizer may have the settings of a model beside it; then they say how many ids the model
   has: an id below that number is no mistake, even if the tokenizer has no text for it. */
static bool look_at_config(struct session *o, struct error *why)
{
  struct model_config config;
  char file[PATH_CAP];
  if (!path_find(file, o->path, "config.json", F_OK)) return true;
  if (!config_open(&config, o->m, o->path, why)) return false;
  o->vocab_size = config.vocab_size;
  config_close(o->m, &config);
  return true;
}

/* A tokenizer of a kind that we do not know counts as absent where it may be absent. One that is
   there and broken is an error, and so is one with ids for which the model has no row; fewer ids
   than rows are common, because makers round their tables up. */
static bool open_tokenizer(struct session *o, const char *path,
  unsigned needs, struct error *why)
{
  enum tokenizer_found found = tokenizer_try(o->m, path, &o->t, why);
  if (found != TOKENIZER_OPEN) return (needs & SESSION_NEED_TOKENIZER) == 0
      && found != TOKENIZER_REFUSED;
  size_t n = tokenizer_vocab_size(o->t);
  if (o->vocab_size == 0) o->vocab_size = (uint32_t) n;
  if (n <= o->vocab_size) return true;
  char has[32], wanted[64];
  snprintf(has, sizeof has, "%zu", n - 1);
  snprintf(wanted, sizeof wanted, "less than %" PRIu32
    ", the vocab_size of config.json", o->vocab_size);
  return error_found(why, path, "the tokenizer's largest id", has,
    wanted);
}

static bool open_parts(struct session *o, const struct console *c,
  const struct command_line *w,
  unsigned needs, struct error *why)
{
  const char *vocab = w->of[OPTION_VOCAB].given ? w->of[OPTION_VOCAB].text : NULL;
  bool with_model = (needs & SESSION_NEED_MODEL) != 0;
  bool with_tokenizer = (needs & (SESSION_NEED_TOKENIZER | SESSION_MAY_TOKENIZER)) != 0;
  /* where only a vocabulary is wanted and one was named, no model is looked for at all */
  bool vocab_alone = !with_model && vocab != NULL && !w->of[OPTION_MODEL].given;
  o->e.k = session_kernels(why);
  if (o->e.k == NULL) return false;
  if (needs != 0 && !vocab_alone && !model_path(o, c, w, why)) return false;
  if (with_model && !open_model(o, w, why)) return false;
  if (!with_model && o->path[0] != '\0' && !look_at_config(o, why)) return false;
  return !with_tokenizer || open_tokenizer(o, vocab != NULL ? vocab : o->path, needs, why);
}

bool session_open(struct session *o, const struct console *c, const struct command_line *w, unsigned needs,
  struct error *why)
{
  memset(o, 0, sizeof *o);
  o->m = c->memory;
  double began = timing_seconds();
  bool ok = open_parts(o, c, w, needs, why);
  if (!ok) session_close(o);
  o->load_seconds = timing_seconds() - began;
  return ok;
}

void session_close(struct session *o)
{
  tokenizer_close(o->m, o->t);
  pool_close(o->m, o->pool);
  store_close(o->s);
  model_close(o->m, o->lm);
  o->t = NULL;
  o->pool = NULL;
  o->s = NULL;
  o->lm = NULL;
}
