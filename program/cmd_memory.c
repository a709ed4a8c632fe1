/* cmd_memory.c -- incipit memory: what a model takes, and what fits into a budget, by the accounts
   of chapter 6.

   The settings come from a model on disk, from one of the published shapes by name, or from
   numbers; heads and layers alone do not say how many weights there are, and then those parts
   are null or left out. A shape has weights and cache rows of two bytes a number, unless
   something else is asked for; a model on disk has what is on disk, and its cache is kept in
   f32. */

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "accounts/accounts.h"
#include "command.h"
#include "cuda/device.h"
#include "families/config.h"

struct reckoning {
  const struct console *c;
  const struct command_line *w;
  struct session o;
  bool open, whole;      /* a model is open; its weights are known */
  const char *name;
  struct model_config settings;
  struct cache_plan asked;
  uint64_t parameters, weights, cache, budget;
  bool has_context, has_budget;
  struct error why;
};

static const struct number_row { enum option option; size_t at; } numbers[] =
  { { OPTION_LAYERS, offsetof(struct model_config, n_layers) },
  { OPTION_HEADS, offsetof(struct model_config, n_heads) },
  { OPTION_KV_HEADS, offsetof(struct model_config, n_kv_heads) },
  { OPTION_HEAD_DIM, offsetof(struct model_config, head_dim) },
  { OPTION_D_MODEL, offsetof(struct model_config, d_model) },
  { OPTION_D_INNER, offsetof(struct model_config, d_inner) },
  { OPTION_VOCAB_SIZE, offsetof(struct model_config, vocab_size) } };
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

static bool numbers_given(const struct command_line *w)
{
  bool any = false;
  for (int i = 0; i < N_NUMBERS; i++) any = any || w->of[numbers[i].option].given;
  return any;
}

static void take_numbers(struct reckoning *r)
{
  for (int i = 0; i < N_NUMBERS; i++) {
    const struct option_value *of = &r->w->of[numbers[i].option];
    uint32_t *to = (uint32_t *) (void *) ((char *) &r->settings
      + numbers[i].at);
    if (of->given) *to = (uint32_t) of->count;
  }
}

static int heads_divide(struct reckoning *r)
{
  const struct model_config *c = &r->settings;
  if (c->n_heads % c->n_kv_heads == 0) return STATUS_DONE;
  error_say(&r->why, "%u heads of queries for %u of keys and values; wanted: a"
    " multiple", c->n_heads, c->n_kv_heads);
  return STATUS_USAGE;
}

/* of bare numbers three are needed; as many heads of keys and values as of queries are assumed */
static int settings_from_numbers(struct reckoning *r)
{
  static const enum option least[] = { OPTION_LAYERS, OPTION_HEADS,
    OPTION_HEAD_DIM };
  for (int i = 0; i < 3; i++)
    if (!r->w->of[least[i]].given) {
      error_say(&r->why, "--%s is missing; wanted: --layers, --heads and"
        " --head-dim, or --shape, or --model", options_option(least[i]).name);
      return STATUS_USAGE;
    }
  r->name = "a model of these numbers";
  take_numbers(r);
  if (!r->w->of[OPTION_KV_HEADS].given)
    r->settings.n_kv_heads = r->settings.n_heads;
  return heads_divide(r);
}

/* numbers beside a shape replace its own; if only some layers have a window, a longer list goes on in the
   same way */
static int settings_from_shape(struct reckoning *r)
{
  r->name = r->w->of[OPTION_SHAPE].text;
  if (!named_shape_find(r->name, &r->settings, &r->why)) return STATUS_USAGE;
  take_numbers(r);
  if (r->settings.window_listed && r->settings.n_layers > CONFIG_MAX_LISTED) {
    error_say(&r->why, "--layers %" PRIu32 " of %s; wanted: at most %d, as not all of them have a window",
      r->settings.n_layers, r->name, CONFIG_MAX_LISTED);
    return STATUS_USAGE;
  }
  if (r->settings.window_listed) config_mark_windows(&r->settings);
  r->whole = true;
  r->asked.context = r->settings.n_positions, r->has_context = true;
  return heads_divide(r);
}

/* nothing may be given beside a model on disk: its weights are what they are */
static int settings_from_model(struct reckoning *r)
{
  int status = session_open(&r->o, r->c, r->w, SESSION_NEED_MODEL, &r->why);
  if (status != STATUS_DONE) return status;
  r->open = r->whole = r->has_context = true;
  r->name = r->o.path, r->settings = r->o.lm->config;
  r->asked.context = r->settings.n_positions;
  return STATUS_DONE;
}

/* Window and cache type come after the model, whichever of the three ways gave it, because they
   replace what it says. A model on disk has a cache in f32, a shape in two bytes. */
static int choose_settings(struct reckoning *r)
{
  const struct option_value *of = r->w->of;
  int status;
  if (of[OPTION_SHAPE].given) status = settings_from_shape(r);
  else if (numbers_given(r->w)) status = settings_from_numbers(r);
  else status = settings_from_model(r);
  if (status != STATUS_DONE) return status;
  if (of[OPTION_WINDOW].given && !config_set_window(&r->settings,
    (uint32_t) of[OPTION_WINDOW].count, (uint32_t) of[OPTION_SINKS].count,
    &r->why)) return STATUS_FAILED;
  if (of[OPTION_KV_TYPE].given) r->asked.format = format_find(of[OPTION_KV_TYPE].text, NULL);
  else r->asked.format = format_at(r->open ? 0 : 1);
  if (of[OPTION_CONTEXT].given)
    r->asked.context = of[OPTION_CONTEXT].count, r->has_context = true;
  r->asked.batch = of[OPTION_BATCH].given ? of[OPTION_BATCH].count : 1;
  return STATUS_DONE;
}

static bool read_budget(const char *text, uint64_t *bytes, struct error *why)
{
  return options_parse_size(text, bytes)
    || error_say(why, "--budget `%s'; wanted: a number and a unit, as 24GB or"
    " 22.5GiB", text);
}

/* A model on disk is held to the account: the cache is asked of the allocator, in pages of one
   row, if it is within the context and at most a quarter of a GiB; the bytes that it takes must
   be the same number. */
static bool ask_allocator(struct reckoning *r)
{
  struct memory *m = r->o.m;
  struct cache_options options = { .rows = r->asked.context * r->asked.batch,
    .page_rows = 1, .pass = 1, .format = r->asked.format, .preallocate = true };
  if (!r->open || r->cache == 0 || r->cache > (uint64_t) 1 << 28
    || r->asked.context > r->settings.n_positions) return true;
  uint64_t before = m->of[MEMORY_CACHE].live;
  struct store *s = cache_open(m, &r->settings, (uint32_t) r->asked.batch,
    &options, &r->why);
  uint64_t given = m->of[MEMORY_CACHE].live - before;
  store_close(s);
  return s != NULL && (given == r->cache || error_say(&r->why, "the cache was"
    " reckoned at %" PRIu64 " bytes, and the allocator gave %" PRIu64,
    r->cache, given));
}

/* the sum must be a number that every reader of JSON can read */
static bool compute_footprint(struct reckoning *r)
{
  if (r->whole) r->parameters = footprint_parameters(&r->settings);
  r->weights = r->open ? footprint_weights(r->o.lm) : 2 * r->parameters;
  if (!footprint_cache(&r->settings, &r->asked, &r->cache, &r->why)) return false;
  if (r->cache > INT64_MAX - r->weights)
    return error_say(&r->why, "weights and cache have more bytes than 63 bits"
      " can count; wanted: a smaller context or batch");
  return ask_allocator(r);
}

/* null where a number is not determined: no budget, weights not known, or any number fits
   because all layers have a window (UINT64_MAX) */
static void put_maybe(struct json_writer *j, const char *key, bool known,
  uint64_t n)
{
  writer_key(j, key);
  if (known && n != UINT64_MAX) writer_count(j, n);
  else writer_word(j, "null");
}

/* all nine keys are always there, in this order */
static void put_account(const struct reckoning *r)
{
  struct json_writer j = { r->c->out, '\0' };
  bool bound = r->has_budget && r->whole, sum = r->whole && r->has_context;
  writer_open(&j, '{');
  put_maybe(&j, "parameters", r->whole, r->parameters);
  put_maybe(&j, "weights_bytes", r->whole, r->weights);
  put_maybe(&j, "kv_bytes_per_token", true, footprint_token(&r->settings,
    r->asked.format));
  put_maybe(&j, "context", r->has_context, r->asked.context);
  put_maybe(&j, "batch", true, r->asked.batch);
  put_maybe(&j, "kv_bytes", r->has_context, r->cache);
  put_maybe(&j, "total_bytes", sum, r->weights + r->cache);
  put_maybe(&j, "max_context", bound, footprint_max_context(&r->settings, &r->asked,
    r->weights, r->budget));
  put_maybe(&j, "max_batch", bound && r->has_context, footprint_max_batch(
    &r->settings, &r->asked, r->weights, r->budget));
  writer_close(&j, '}');
  writer_end(&j);
}

/* an amount in bytes and in both kinds of thousands, each with the unit that leaves one to three
   digits before the point */
static void print_amount(FILE *out, const char *what, uint64_t bytes)
{
  static const char *const unit[] = { "B", "k", "M", "G", "T", "P", "E" };
  double ten = (double) bytes, two = ten;
  int a = 0, b = 0;
  while (ten >= 1000 && a < 6) ten /= 1000, a++;
  while (two >= 1024 && b < 6) two /= 1024, b++;
  fprintf(out, "%-26s %19" PRIu64, what, bytes);
  if (a > 0) fprintf(out, " %9.3f %sB", ten, unit[a]);
  if (b > 0) fprintf(out, " %9.3f %siB", two, b == 1 ? "K" : unit[b]);
  fputc('\n', out);
}

/* sixty places, or as many as the screen has, for the budget, or for what is needed if that is more; a part that is there but
   too small for a place gets one */
static void print_bar(const struct reckoning *r)
{
  size_t columns = r->c->columns;
  int places = 60;
  if (columns > 0 && columns < 62) places = columns > 12 ? (int) columns - 2 : 10;
  uint64_t sum = r->weights + r->cache;
  uint64_t all = r->has_budget && r->budget > sum ? r->budget : sum;
  int to_weights = (int) ((double) r->weights / (double) all * places + 0.5);
  int to_cache = (int) ((double) sum / (double) all * places + 0.5);
  if (all == 0) return;
  if (to_weights == 0) to_weights = 1;
  if (to_cache <= to_weights && r->cache > 0) to_cache = to_weights + 1;
  if (to_cache > places) {
    to_cache = places;
    if (to_weights == places) to_weights = places - 1;
  }
  fputc('[', r->c->out);
  for (int i = 0; i < to_weights; i++) fputc('#', r->c->out);
  for (int i = to_weights; i < to_cache; i++) fputc('=', r->c->out);
  for (int i = to_cache; i < places; i++) fputc('.', r->c->out);
  fprintf(r->c->out, "]\n# weights  = cache%s\n",
    r->has_budget ? "  . free" : "");
}

static void print_limit(FILE *out, uint64_t n, const char *what)
{
  if (n == UINT64_MAX) fprintf(out, "any number of %s", what);
  else fprintf(out, "%" PRIu64 " %s", n, what);
}

/* both limits, whatever was asked: how long texts may be if there are as many as now, and how
   many there may be if they are as long as now */
static void print_fit(const struct reckoning *r)
{
  FILE *out = r->c->out;
  uint64_t sum = r->weights + r->cache;
  print_amount(out, "budget", r->budget);
  if (sum > r->budget) print_amount(out, "too much by", sum - r->budget);
  fprintf(out, "%" PRIu64 " text%s: at most ", r->asked.batch,
    r->asked.batch == 1 ? "" : "s");
  print_limit(out, footprint_max_context(&r->settings, &r->asked, r->weights,
    r->budget), "tokens each");
  fprintf(out, "\n%" PRIu64 " tokens: at most ", r->asked.context);
  print_limit(out, footprint_max_batch(&r->settings, &r->asked, r->weights,
    r->budget), "texts");
  fputc('\n', out);
}

/* What is not known ends the account early: without a context there is no cache, and without all
   weights no sum and nothing to fit. */
static void print_account(const struct reckoning *r)
{
  FILE *out = r->c->out;
  const struct model_config *m = &r->settings;
  char words[64];
  fprintf(out, "%s: %u layers, %u heads, %u of keys and values, %u numbers"
    " each\n", r->name, m->n_layers, m->n_heads, m->n_kv_heads, m->head_dim);
  if (r->whole) {
    fprintf(out, "%-26s %19" PRIu64 "\n", "weights", r->parameters);
    if (m->n_experts > 0)
      fprintf(out, "%-26s %19" PRIu64 "\n", "of these, a token uses", footprint_active(m));
    print_amount(out, r->open ? "as stored" : "in two bytes each", r->weights);
  }
  else fprintf(out, "%-26s %19s\n", "weights", "not known");
  snprintf(words, sizeof words, "cache, a token in %s", r->asked.format->name);
  print_amount(out, words, footprint_token(m, r->asked.format));
  if (!r->has_context) return;
  snprintf(words, sizeof words, "%" PRIu64 " tokens, %" PRIu64 " text%s",
    r->asked.context, r->asked.batch, r->asked.batch == 1 ? "" : "s");
  print_amount(out, words, r->cache);
  if (!r->whole) return;
  print_amount(out, "together", r->weights + r->cache);
  if (r->has_budget) print_fit(r);
  print_bar(r);
}

static void put_shapes(const struct reckoning *r)
{
  struct json_writer j = { r->c->out, '\0' };
  writer_open(&j, '{');
  put_open_as(&j, "shapes", '[');
  for (size_t i = 0; named_shape_at(i) != NULL; i++) {
    const struct named_shape *s = named_shape_at(i);
    writer_open(&j, '{');
    put_words_as(&j, "name", s->name);
    put_count_as(&j, "layers", s->n_layers);
    put_count_as(&j, "heads", s->n_heads);
    put_count_as(&j, "kv_heads", s->n_kv_heads);
    put_count_as(&j, "head_dim", s->head_dim);
    put_count_as(&j, "d_model", s->d_model);
    put_count_as(&j, "d_inner", s->d_inner);
    put_count_as(&j, "vocab_size", s->vocab_size);
    put_count_as(&j, "context", s->n_positions);
    put_count_as(&j, "window", s->window);
    put_words_as(&j, "source", s->source);
    writer_close(&j, '}');
  }
  writer_close(&j, ']');
  writer_close(&j, '}');
  writer_end(&j);
}

static void list_shapes(const struct reckoning *r)
{
  FILE *out = r->c->out;
  fprintf(out, "%-17s %6s %5s %8s %8s %7s %7s %6s %7s %6s  %s\n", "shape",
    "layers", "heads", "kv-heads", "head-dim", "d-model", "d-inner", "vocab",
    "context", "window", "source");
  for (size_t i = 0; named_shape_at(i) != NULL; i++) {
    const struct named_shape *s = named_shape_at(i);
    fprintf(out, "%-17s %6u %5u %8u %8u %7u %7u %6u %7u %6u  %s\n", s->name,
      s->n_layers, s->n_heads, s->n_kv_heads, s->head_dim, s->d_model,
      s->d_inner, s->vocab_size, s->n_positions, s->window, s->source);
  }
}

/* --device here: the memory that is free there is the budget */
static int budget_of_device(struct reckoning *r)
{
  uint64_t bytes = 0, free = 0;
  struct device *d = session_device(r->c->memory, r->w, &r->why);
  if (d == NULL) return r->why.text[0] == '\0' ? STATUS_DONE : STATUS_FAILED;
  device_room(d, &bytes, &free);
  device_close(d);
  r->has_budget = true, r->budget = free;
  return STATUS_DONE;
}

int cmd_memory(const struct console *c, const struct command_line *w)
{
  struct reckoning r = { .c = c, .w = w };
  const struct option_value *shape = &w->of[OPTION_SHAPE];
  const struct option_value *budget = &w->of[OPTION_BUDGET];
  if (shape->given && strcmp(shape->text, "list") == 0) {
    if (w->of[OPTION_JSON].given) put_shapes(&r);
    else list_shapes(&r);
    return STATUS_DONE;
  }
  r.has_budget = budget->given;
  int there = budget_of_device(&r);
  if (there != STATUS_DONE) return console_fail(c, &r.why), there;
  if (budget->given && !read_budget(budget->text, &r.budget, &r.why))
    return console_usage_error(c, &r.why);
  int status = choose_settings(&r);
  if (status == STATUS_DONE && !compute_footprint(&r)) status = STATUS_FAILED;
  if (status == STATUS_DONE && w->of[OPTION_JSON].given) put_account(&r);
  else if (status == STATUS_DONE) print_account(&r);
  if (r.open) session_close(&r.o);
  if (status == STATUS_FAILED) console_fail(c, &r.why);
  if (status == STATUS_USAGE) console_usage_error(c, &r.why);
  return status;
}
