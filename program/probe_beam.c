/* probe_beam.c -- the kind beam: a search, with a model or with a table that stands for one.

   The table: the logits after a text of length n that ends with token t are row t of sheet n mod
   P. So small a model fits into the question, and the answer depends on nothing but the rule of
   chapter 9. */

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "search/sharing.h"
#include "probe.h"

struct sheets { size_t v, p; float *logit; };

static bool score_by_table(void *ctx, const struct search_beam *grown,
  size_t n, float *logits, struct error *why)
{
  const struct sheets *t = ctx;
  (void) why;
  for (size_t i = 0; i < n; i++) {
    size_t sheet = grown[i].n % t->p, last = grown[i].id[grown[i].n - 1];
    memcpy(logits + i * t->v, t->logit + (sheet * t->v + last) * t->v,
      t->v * sizeof *logits);
  }
  return true;
}

static bool read_row(struct probe_request *q, json_t *row, size_t v, float *x)
{
  if (json_array_size(row) != v) return error_say(q->why, "\"table\" has a"
      " row of %zu numbers; wanted: %zu", json_array_size(row), v);
  for (size_t i = 0; i < v; i++) {
    json_t *one = json_array_get(row, i);
    x[i] = (float) json_number_value(one);
    if (!json_is_number(one) || x[i] - x[i] != 0) return error_say(q->why,
        "\"table\" has something that is no float; wanted: numbers");
  }
  return true;
}

/* the table must have the shape that V and P say; room is taken only when there are as many rows
   as they claim */
static bool read_sheets(struct probe_request *q, struct sheets *t)
{
  json_t *table = json_object_get(q->in, "table");
  t->v = (size_t) request_count(q, "V");
  t->p = (size_t) request_count(q, "P");
  if (t->v == 0 || t->p == 0 || t->v > UINT16_MAX || t->p > UINT16_MAX)
    return error_say(q->why, "\"V\" is %zu and \"P\" is %zu; wanted: 1 to"
      " 65535 of both", t->v, t->p);
  if (json_array_size(table) != t->p) return error_say(q->why, "\"table\""
      " has %zu sheets; wanted: %zu", json_array_size(table), t->p);
  for (size_t i = 0; i < t->p; i++)
    if (json_array_size(json_array_get(table, i)) != t->v)
      return error_say(q->why, "\"table\"[%zu] has %zu rows; wanted: %zu", i,
        json_array_size(json_array_get(table, i)), t->v);
  t->logit = memory_alloc(q->o->m, MEMORY_OTHER, t->p * t->v * t->v,
    sizeof *t->logit, q->why);
  if (t->logit == NULL) return false;
  for (size_t i = 0; i < t->p * t->v; i++)
    if (!read_row(q, json_array_get(json_array_get(table, i / t->v),
        i % t->v), t->v, t->logit + i * t->v)) return false;
  return true;
}

/* the processors are pairs of a name and a value */
static bool read_processor(struct probe_request *q, json_t *pair,
  struct search_processor *p)
{
  static const char *const name[] = { "repetition_penalty",
    "no_repeat_ngram", "min_new_tokens" };
  const char *word = json_string_value(json_array_get(pair, 0));
  json_t *v = json_array_get(pair, 1);
  for (int i = 0; word != NULL && json_array_size(pair) == 2 && i < 3; i++) {
    if (strcmp(word, name[i]) != 0
        || strlen(word) != json_string_length(json_array_get(pair, 0)))
      continue;
    p->what = (enum search_process) i;
    p->penalty = json_number_value(v);
    p->n = (size_t) json_integer_value(v);
    if (i == 0 ? json_is_number(v)
        : json_is_integer(v) && json_integer_value(v) >= 0) return true;
  }
  return error_say(q->why, "\"processors\" has something else than"
    " [\"repetition_penalty\", r], [\"no_repeat_ngram\", n] and"
    " [\"min_new_tokens\", n]");
}

static bool read_early(struct probe_request *q, enum early_stopping *early)
{
  json_t *v = json_object_get(q->in, "early_stopping");
  const char *word = json_string_value(v);
  *early = json_is_true(v) ? EARLY_TRUE : EARLY_FALSE;
  if (word != NULL) *early = EARLY_NEVER;
  return v == NULL || json_is_boolean(v) || (word != NULL
      && strcmp(word, "never") == 0 && json_string_length(v) == 5)
    || error_say(q->why, "\"early_stopping\" is neither true nor false;"
      " wanted: true, false or \"never\"");
}

static bool read_search(struct probe_request *q, struct search_settings *s,
  struct search_processor *p)
{
  json_t *list = json_object_get(q->in, "processors");
  json_t *wanted = json_object_get(q->in, "num_return_sequences");
  json_t *power = json_object_get(q->in, "length_penalty");
  s->num_beams = (size_t) request_count(q, "num_beams");
  s->max_length = (size_t) request_count(q, "max_length");
  s->num_return = wanted == NULL ? 1 : (size_t) json_integer_value(wanted);
  s->length_penalty = power == NULL ? 1 : json_number_value(power);
  s->process = p, s->n_process = json_array_size(list);
  for (size_t i = 0; i < s->n_process; i++)
    if (!read_processor(q, json_array_get(list, i), &p[i])) return false;
  return read_early(q, &s->early);
}

/* A model needs a cache with a sequence for each beam. How many beams are wanted is checked before,
   since a cache of any number of sequences is quickly asked for. On failure nothing is held. */
static bool dataset_open(struct probe_request *q, const struct search_settings *s, size_t n_prompt,
  struct store **cache, struct search_model *model, struct search_source *source)
{
  struct session *o = q->o;
  if (n_prompt == 0)
    return error_say(q->why, "\"prompt\" has a text without ids; wanted: 1 or more");
  if (!search_check(s, q->vocab_size, n_prompt, q->why)) return false;
  *cache = cache_open(o->m, &o->lm->config, (uint32_t) s->num_beams,
    &(struct cache_options) { .rows = 0 }, q->why);
  if (*cache == NULL) return false;
  struct generate_context g = { &o->e, o->lm, *cache, o->m };
  if (search_model_open(model, &g, s->num_beams, 0, source, q->why)) return true;
  store_close(*cache);
  return false;
}

/* one search after the ids of prompt, by the table or by the model */
static bool search_ids(struct probe_request *q, const struct sheets *t, const struct search_settings *s,
  const struct ids *prompt, struct search_result *out)
{
  struct session *o = q->o;
  if (t->logit != NULL) {
    struct search_source source = { .vocab = t->v, .ctx = (void *) t, .score = score_by_table };
    return search_run(&source, o->m, o->e.k, prompt->id, prompt->n, s, out, q->why);
  }
  struct search_source source;
  struct search_model model;
  struct store *cache = NULL;
  if (!dataset_open(q, s, prompt->n, &cache, &model, &source)) return false;
  bool ok = search_run(&source, o->m, o->e.k, prompt->id, prompt->n, s, out, q->why);
  search_model_close(&model);
  store_close(cache);
  return ok;
}

static bool search_prompt(struct probe_request *q, const struct sheets *t,
  const struct search_settings *s, json_t *from, struct search_result *out)
{
  struct ids prompt = { NULL, 0, 0 };
  if (!json_is_array(from))
    return error_say(q->why, "\"prompt\" has something that is no list of ids");
  bool ok = request_ids_from(q, from, "prompt", &prompt) && search_ids(q, t, s,
    &prompt, out);
  ids_free(q->o->m, &prompt);
  return ok;
}

/* Scores come after all texts, and a later prompt may be refused, so everything is kept until
   all prompts are done. */
static bool search_all(struct probe_request *q, const struct sheets *t,
  const struct search_settings *s, struct search_result *out)
{
  json_t *prompts = json_object_get(q->in, "prompt");
  size_t n = json_array_size(prompts);
  for (size_t i = 0; i < n; i++)
    if (!search_prompt(q, t, s, json_array_get(prompts, i), &out[i]))
      return false;
  put_open_as(&q->out, "sequences", '[');
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < out[i].n; k++)
      writer_ids(&q->out, out[i].text[k].id, out[i].text[k].n);
  writer_close(&q->out, ']');
  put_open_as(&q->out, "scores", '[');
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < out[i].n; k++)
      writer_double(&q->out, out[i].text[k].score);
  writer_close(&q->out, ']');
  return true;
}

/* if a model was named, the question may bring no table; if none was, it may, and without one
   the built-in model serves */
static bool tabled(struct probe_request *q, struct sheets *t)
{
  bool has = json_object_get(q->in, "table") != NULL
    || json_object_get(q->in, "V") != NULL
    || json_object_get(q->in, "P") != NULL;
  if (!has) return true;
  if (q->named) return error_say(q->why, "a model was named with -m; wanted:"
      " no \"V\", no \"P\" and no \"table\"");
  if (!read_sheets(q, t)) return false;
  q->vocab_size = (uint32_t) t->v;
  return true;
}

/* each prompt gets a search and a result of its own; the room for results is zero, so those that were
   not reached can be freed like the others */
bool probe_beam(struct probe_request *q)
{
  struct memory *m = q->o->m;
  struct sheets t = { .v = 0 };
  struct search_settings s = { .num_beams = 0 };
  struct ids eos = { NULL, 0, 0 };
  size_t n = json_array_size(json_object_get(q->in, "prompt"));
  size_t cap = json_array_size(json_object_get(q->in, "processors"));
  struct search_processor *p = memory_alloc(m, MEMORY_OTHER, cap, sizeof *p,
    q->why);
  struct search_result *out = p == NULL ? NULL
    : memory_alloc(m, MEMORY_OTHER, n, sizeof *out, q->why);
  bool ok = out != NULL && tabled(q, &t) && request_ids(q, "eos", &eos)
    && read_search(q, &s, p);
  s.eos = eos.id, s.n_eos = eos.n;
  ok = ok && search_all(q, &t, &s, out);
  for (size_t i = 0; out != NULL && i < n; i++) search_free(&out[i]);
  memory_free(m, out);
  memory_free(m, p);
  memory_free(m, t.logit);
  ids_free(m, &eos);
  return ok;
}
