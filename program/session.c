/* session.c -- opening what a subcommand works with: kernels, model, store, workers, tokenizer.

   What is not needed is not opened, and opening goes from the cheap to the expensive, so that a
   mistake is reported before anybody has waited. The answers depend neither on the number of
   workers nor on the kernels; the time does. */

#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "accounts/accounts.h"
#include "ground/timing.h"
#include "environment.h"
#include "hub.h"
#include "session.h"
#include "cuda/device.h"
#include "families/loader.h"
#include "gguf/gguf.h"
#include "kernels/kernels.h"
#include "safetensors/misfit.h"

/* The built-in model is where INCIPIT_MODEL says, or near the program: where both were
   installed, or in the clone that the program was built in, one or two levels up. */
static bool built_in(const struct console *c, char path[PATH_CAP],
  struct error *why)
{
  static const char *const place[] = {
    "../share/incipit/models/pocket",
    "../models/pocket", "../../models/pocket" };
  const char *named = environment_get(VARIABLE_MODEL);
  char room[PATH_CAP];
  if (named != NULL)
    return hub_resolve(&named, room, why) && path_beside(path, "", named, why);
  for (int i = 0; i < 3; i++) {
    if (!path_beside(path, c->program, place[i], why)) return false;
    char real[PATH_CAP];
    if (access(path, R_OK) != 0) continue;
    if (realpath(path, real) != NULL) strcpy(path, real);
    return true;
  }
  path_beside(path, c->program, place[1], NULL);
  return error_say(why, "there is no built-in model"
    " at %s; give one with --model, or name it"
    " in INCIPIT_MODEL", path);
}

void session_hint(const struct console *c, const struct command_line *w, const char *words)
{
  struct error hint;
  if (w->of[OPTION_QUIET].given) return;
  error_say(&hint, "hint: %s", words);
  console_fail(c, &hint);
}

/* --threads, the first of bench's, or OMP_NUM_THREADS if it is a positive number, or one worker
   for each physical core (two hyperthreads share the units that multiply) */
static unsigned workers_wanted(const struct console *c, const struct command_line *w)
{
  const struct option_value *given = &w->of[OPTION_THREADS], *list = &w->of[OPTION_THREAD_LIST];
  unsigned cores = pool_cores();
  char words[120];
  if (list->given) return (unsigned) list->count;
  if (given->given) {
    snprintf(words, sizeof words, "%" PRIu64 " workers on %u physical cores wait for each other",
      given->count, cores);
    if (given->count > 2 * (uint64_t) cores) session_hint(c, w, words);
    return (unsigned) given->count;
  }
  const char *habit = environment_get(VARIABLE_WORKERS);
  long n = habit == NULL ? 0 : strtol(habit, NULL, 10);
  if (habit != NULL && n <= 0)
    session_hint(c, w, "OMP_NUM_THREADS is not a number of workers, and was passed over");
  if (n > 0) return n > 1024 ? 1024 : (unsigned) n;
  return cores;
}

const struct kernels *session_kernels(struct error *why)
{
  return kernels_find(environment_get(VARIABLE_ISA), why);
}

/* With INCIPIT_CUDA=host a device is the host, which runs the same kernels thread by thread: to
   learn from, and to test without one. */
struct device *session_device(struct memory *m, const struct command_line *w, struct error *why)
{
  const struct option_value *device = &w->of[OPTION_DEVICE];
  const char *instead = environment_get(VARIABLE_CUDA);
  char name[64];
  if (why != NULL) why->text[0] = '\0';
  if (!device->given || strcmp(device->text, "cpu") == 0) return NULL;
  snprintf(name, sizeof name, "%s", device->text);
  if (instead != NULL && strcmp(instead, "host") == 0) memcpy(name, "host", 4);
  return device_open(m, name, why);
}

/* the named model, or the built-in one */
static bool model_path(struct session *o, const struct console *c,
  const struct command_line *w, struct error *why)
{
  if (w->of[OPTION_MODEL].given)
    return path_beside(o->path, "", w->of[OPTION_MODEL].text, why);
  return built_in(c, o->path, why);
}

uint32_t session_serve_rows(const struct session *o, const struct command_line *w, struct cache_options *options)
{
  const struct option_value *of = w->of;
  uint32_t slots = of[OPTION_SLOTS].given ? (uint32_t) of[OPTION_SLOTS].count : 8;
  uint64_t context = of[OPTION_CTX_SIZE].given ? of[OPTION_CTX_SIZE].count : o->lm->config.n_positions;
  uint64_t rows = of[OPTION_KV_ROWS].given ? of[OPTION_KV_ROWS].count : slots * context;
  options->page_rows = 16;
  options->rows = (size_t) (rows + 15) / 16 * 16;
  return slots;
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
    .sinks = (uint32_t) of[OPTION_SINKS].count,
    .memory = o->e.k->memory };
  if (of[OPTION_KV_TYPE].given)
    options.format = format_find(of[OPTION_KV_TYPE].text, why);
  uint32_t texts = of[OPTION_NUM_BEAMS].given
    ? (uint32_t) of[OPTION_NUM_BEAMS].count : 1;
  if (w->sub == SUB_SERVE) texts = session_serve_rows(o, w, &options);
  return options.format == NULL ? NULL
    : cache_open(o->m, &o->lm->config, texts, &options, why);
}

/* The fields of --ignore-field, in the form in which the reader of settings wants them. */
struct field_wishes { const char *name[OPTIONS_MAX_REPEATED]; bool used[OPTIONS_MAX_REPEATED]; };

static struct config_options config_wishes(const struct command_line *w, unsigned needs,
  struct field_wishes *f)
{
  size_t n = 0;
  for (size_t i = 0; i < w->n_repeated; i++)
    if (w->repeated[i].which == OPTION_IGNORE_FIELD) f->name[n++] = w->repeated[i].text;
  for (size_t i = 0; i < n; i++) f->used[i] = false;
  return (struct config_options) { .ignore = f->name, .n_ignore = n, .used = f->used,
    .tolerant = (needs & SESSION_TOLERANT) != 0 };
}

/* a refusal for unknown fields says what can be done; always STATUS_FAILED */
static int settings_refused(const struct config_options *fields, struct error *why)
{
  struct error was = *why;
  if (fields->n_unknown > 0 && !fields->tolerant)
    error_say(why, "%s (--ignore-field NAME reads over one)", was.text);
  return STATUS_FAILED;
}

/* a name that is given twice is used if the first of the two is */
static bool is_used(const struct config_options *fields, size_t i)
{
  for (size_t k = 0; k <= i; k++)
    if (fields->used[k] && strcmp(fields->ignore[k], fields->ignore[i]) == 0) return true;
  return false;
}

/* What was ignored because of --ignore-field is said. To ignore a field that is not there, or one
   that is known, is a mistake: it would hide that the file is another than was thought. */
static int settings_accepted(const struct console *c, const struct command_line *w,
  const char *path, const struct model_config *config, const struct config_options *fields,
  struct error *why)
{
  char words[240];
  for (size_t i = 0; i < config->n_ignored; i++) {
    const struct ignored_field *x = &config->ignored[i];
    if (x->reason != config_ignored_by_caller) continue;
    snprintf(words, sizeof words, "%s: %.160s is %s", x->file, x->field, x->reason);
    session_hint(c, w, words);
  }
  for (size_t i = 0; i < fields->n_ignore; i++)
    if (!is_used(fields, i)) {
      error_say(why, "--ignore-field %s; wanted: a %s that this program does not know",
        fields->ignore[i], gguf_recognizes(path) ? "key of the file"
        : "field of config.json or generation_config.json");
      return STATUS_USAGE;
    }
  return STATUS_DONE;
}

static void loading_words(void *ctx, size_t done, size_t all, char text[WAITING_WORDS])
{
  (void) ctx;
  snprintf(text, WAITING_WORDS, "loading %zu of %zu tensors", done, all);
}

/* the copies of --packed, and how long they took, which a user will weigh against the time saved */
static bool pack_weights(struct session *o, const struct console *c,
  const struct command_line *w, struct error *why)
{
  double began = timing_seconds();
  uint64_t before = o->m->of[MEMORY_WEIGHTS].live;
  char told[WAITING_WORDS];
  snprintf(told, sizeof told, "packing %.1f MB of weights", (double) footprint_weights(o->lm) / 1e6);
  waiting_say(&o->wait, told);
  o->prepared = model_prepare(o->m, o->e.k, o->e.activations, o->lm, why);
  waiting_end(&o->wait);
  if (o->prepared == NULL) return false;
  o->e.prepared = o->prepared;
  char words[120];
  snprintf(words, sizeof words, "%.0f MB of weights %s%s in %.2f s",
    (double) (o->m->of[MEMORY_WEIGHTS].live - before) / 1e6, o->device != NULL ? "on " : "packed",
    o->device != NULL ? device_name(o->device) : "",
    timing_seconds() - began);
  session_hint(c, w, words);
  return true;
}

/* the model, its store, the workers, and the engine that ties them to kernels and counters */
static int open_model(struct session *o, const struct console *c,
  const struct command_line *w, unsigned needs, struct error *why)
{
  struct field_wishes fields;
  struct model_open_options want = { .fields = config_wishes(w, needs, &fields),
    .k = o->e.k,
    .progress = &o->wait.told };
  waiting_begin(&o->wait, loading_words, NULL);
  o->lm = model_open_with(o->m, o->path, &want, why);
  waiting_end(&o->wait);
  if (o->lm == NULL && progress_cancelled(&o->wait.told)) return STATUS_CANCELLED;
  if (o->lm == NULL) return settings_refused(&want.fields, why);
  int status = settings_accepted(c, w, o->path, &o->lm->config, &want.fields, why);
  if (status != STATUS_DONE) return status;
  o->vocab_size = o->lm->config.vocab_size;
  o->e.activations = (enum activations) w->of[OPTION_ACTIVATIONS].count;
  if (!kernels_check_activations(o->e.k, o->e.activations, o->lm->matrix_types, o->path, why))
    return STATUS_FAILED;
  if ((w->of[OPTION_PACKED].given || o->device != NULL) && !pack_weights(o, c, w, why)) return STATUS_FAILED;
  o->s = open_store(o, w, why);
  if (o->s == NULL) return STATUS_FAILED;
  o->pool = pool_open(o->m, workers_wanted(c, w), why);
  o->e.pool = o->pool, o->e.c = &o->counters;
  o->e.progress = &o->wait.told;
  return o->pool != NULL ? STATUS_DONE : STATUS_FAILED;
}

/* A tokenizer may have the settings of a model beside it; then they say how many ids the model
   has: an id below that number is no mistake, even if the tokenizer has no text for it. */
static int look_at_config(struct session *o, const struct console *c,
  const struct command_line *w, unsigned needs, struct error *why)
{
  struct model_config config;
  struct field_wishes names;
  struct config_options fields = config_wishes(w, needs, &names);
  char file[PATH_CAP];
  if (access(o->path, F_OK) != 0) {
    misfit_path(o->path, "config.json", why);
    return STATUS_FAILED;
  }
  if (!path_find(file, o->path, "config.json", F_OK) && !gguf_recognizes(o->path))
    return STATUS_DONE;
  if (!config_open_with(&config, o->m, o->path, &fields, why))
    return settings_refused(&fields, why);
  int status = settings_accepted(c, w, o->path, &config, &fields, why);
  o->vocab_size = config.vocab_size;
  config_close(o->m, &config);
  return status;
}

/* Tensors are mapped, which takes no time; a hundred thousand words have to be read, and the reader
   of JSON does not say how far it is. So a large vocabulary is announced. */
static bool is_large(const char *path)
{
  static const char *const file[] = { "", "tokenizer.json", "tokenizer.model", "vocab.json" };
  struct stat about;
  char where[PATH_CAP];
  for (size_t i = 0; i < sizeof file / sizeof *file; i++)
    if ((i == 0 ? path_beside(where, "", path, NULL) : path_find(where, path, file[i], R_OK))
        && stat(where, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 1 << 20) return true;
  return false;
}

/* A tokenizer of a kind that we do not know counts as absent where it may be absent. One that is
   there and broken is an error, and so is one with ids for which the model has no row; fewer ids
   than rows are common, because makers round their tables up. */
static bool open_tokenizer(struct session *o, const char *path,
  unsigned needs, struct error *why)
{
  if (is_large(path)) waiting_say(&o->wait, "loading the vocabulary");
  enum tokenizer_found found = tokenizer_try(o->m, path, &o->t, why);
  waiting_end(&o->wait);
  if (found != TOKENIZER_OPEN) return (needs & SESSION_NEED_TOKENIZER) == 0
      && found != TOKENIZER_REFUSED;
  size_t n = tokenizer_vocab_size(o->t);
  if (o->vocab_size == 0) o->vocab_size = (uint32_t) n;
  if (n <= o->vocab_size) return true;
  char has[32], wanted[64];
  snprintf(has, sizeof has, "%zu", n - 1);
  snprintf(wanted, sizeof wanted, "less than %" PRIu32
    ", the vocab_size of %s", o->vocab_size, gguf_recognizes(o->path) ? "the model"
    : "config.json");
  return error_found(why, path, "the tokenizer's largest id", has,
    wanted);
}

static int open_parts(struct session *o, const struct console *c,
  const struct command_line *w,
  unsigned needs, struct error *why)
{
  const char *vocab = w->of[OPTION_VOCAB].given ? w->of[OPTION_VOCAB].text : NULL;
  bool with_model = (needs & SESSION_NEED_MODEL) != 0;
  bool with_tokenizer = (needs & (SESSION_NEED_TOKENIZER | SESSION_MAY_TOKENIZER)) != 0;
  /* where only a vocabulary is wanted and one was named, no model is looked for at all */
  bool vocab_alone = !with_model && vocab != NULL && !w->of[OPTION_MODEL].given;
  int status = STATUS_DONE;
  o->e.k = session_kernels(why);
  if (o->e.k == NULL) return STATUS_FAILED;
  o->device = with_model ? session_device(o->m, w, why) : NULL;
  if (o->device != NULL) o->e.k = device_kernels(o->device);
  else if (with_model && why->text[0] != '\0') return STATUS_FAILED;
  if (needs != 0 && !vocab_alone && !model_path(o, c, w, why)) return STATUS_FAILED;
  if (with_model) status = open_model(o, c, w, needs, why);
  else if (o->path[0] != '\0') status = look_at_config(o, c, w, needs, why);
  if (status != STATUS_DONE || !with_tokenizer) return status;
  bool ok = open_tokenizer(o, vocab != NULL ? vocab : o->path, needs, why)
    && (!with_model || guess_setup_open(&o->guess, o, w, o->s->n_sequences, why));
  return ok ? STATUS_DONE : STATUS_FAILED;
}

int session_open(struct session *o, const struct console *c, const struct command_line *w, unsigned needs,
  struct error *why)
{
  memset(o, 0, sizeof *o);
  o->m = c->memory;
  waiting_open(&o->wait, c, w);
  double began = timing_seconds();
  int status = open_parts(o, c, w, needs, why);
  if (status != STATUS_DONE) session_close(o);
  o->load_seconds = timing_seconds() - began;
  return status;
}

/* In the reverse order of opening: workers end before the model that they read goes. Pointers become
   null, so that closing twice does no harm. */
void session_close(struct session *o)
{
  guess_setup_close(o->m, &o->guess);
  tokenizer_close(o->m, o->t);
  pool_close(o->m, o->pool);
  store_close(o->s);
  prepared_close(o->m, o->prepared);
  model_close(o->m, o->lm);
  device_close(o->device);
  o->device = NULL;
  o->t = NULL;
  o->prepared = NULL;
  o->pool = NULL;
  o->s = NULL;
  o->lm = NULL;
}
