/* probe_sample.c -- the kinds process (one stage of the sampler), sample (the whole funnel and the
   choice) and philox (random bits alone). They bring the logits along and need no model; the number
   of logits is the vocabulary.

   All ids of the settings are kept in one list, x->all, and the sequences with a bias as lengths
   in it: the list may move as it grows, so pointers are set when it is complete. Parameters, their
   keys and their ranges come from chapter 7's rows, so that a new stage needs nothing here; what is
   checked here is what JSON can get wrong. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "safetensors/excerpt.h"
#include "probe.h"

/* what a JSON value of a parameter is */
static struct key_row key_of(const struct sampling_option *r, bool required)
{
  struct key_row key = { .name = r->name, .required = required };
  switch (r->type) {
  case SAMPLING_REAL: key.letter = 'x'; break;
  case SAMPLING_COUNT: key.letter = 'n'; break;
  case SAMPLING_WINDOW: key.letter = 'i'; break;
  }
  return key;
}

/* the keys of "params": the lists, and a key for each parameter */
static bool check_sampling_keys(json_t *params, struct error *why)
{
  struct key_row keys[4 + N_SAMPLE_STAGES * STAGE_OPTIONS] = {
    { .name = "logit_bias", .letter = 'o' }, { .name = "bad_words", .letter = 'a' },
    { .name = "suppress_tokens", .letter = 'a' }, { .name = "samplers", .letter = 'a' } };
  const struct sampling_option *r;
  size_t n = 4;
  for (size_t i = 0; (r = sampling_option_at(i, NULL)) != NULL; i++) keys[n++] = key_of(r, false);
  return request_check_keys(params, keys, n, why);
}

/* the ids to be suppressed come last into the list; then nothing moves, and the pointers are set
   in the order in which the sequences were read */
static bool read_suppressed(struct choices *x, const struct probe_request *q,
  json_t *list)
{
  struct ids one = { NULL, 0, 0 };
  size_t at = 0;
  bool ok = request_ids_from(q, list, "suppress_tokens", &one);
  for (size_t i = 0; ok && i < one.n; i++)
    ok = ids_push(q->o->m, &x->all, one.id[i], q->why);
  for (size_t i = 0; i < x->n; at += x->biased[i++].n)
    x->biased[i].id = x->all.id + at;
  x->s.logit_bias = x->biased;
  x->s.bad_words = x->biased + x->s.n_logit_bias;
  if (one.n > 0) x->s.suppress = x->all.id + at;
  x->s.n_suppress = one.n;
  ids_free(q->o->m, &one);
  return ok;
}

/* each number to its place */
static void read_numbers(struct sampling_params *s, json_t *params)
{
  const struct sampling_option *r;
  for (size_t i = 0; (r = sampling_option_at(i, NULL)) != NULL; i++) {
    json_t *v = json_object_get(params, r->name);
    if (v != NULL) sampling_option_set(s, r, json_number_value(v), json_integer_value(v));
  }
}

/* of more names than there are stages one comes twice or is unknown among the first N_SAMPLE_STAGES +
   1; to read those is enough to say which */
static bool read_stages(struct sampling_params *s, json_t *list,
  struct error *why)
{
  const char *name[N_SAMPLE_STAGES + 1];
  size_t n = json_array_size(list);
  if (n > N_SAMPLE_STAGES) n = N_SAMPLE_STAGES + 1;
  for (size_t i = 0; i < n; i++) {
    json_t *v = json_array_get(list, i);
    name[i] = json_string_value(v);
    if (name[i] == NULL || strlen(name[i]) != json_string_length(v))
      return error_say(why, "\"samplers\"[%zu] is no name of a stage", i);
  }
  return list == NULL || sampling_stages_parse(s, name, n, why);
}

/* a sequence of ids with a bias */
static bool add_biased(struct choices *x, const struct probe_request *q,
  json_t *ids, const char *key, double bias)
{
  struct ids one = { NULL, 0, 0 };
  if (!json_is_array(ids) || json_array_size(ids) == 0)
    return error_say(q->why, "\"%s\" has something that is no list of"
      " ids; wanted: 1 id or more", key);
  bool ok = request_ids_from(q, ids, key, &one);
  for (size_t i = 0; ok && i < one.n; i++)
    ok = ids_push(q->o->m, &x->all, one.id[i], q->why);
  if (ok) x->biased[x->n++] = (struct sequence_bias) { NULL, one.n, bias };
  ids_free(q->o->m, &one);
  return ok;
}

/* a number, or the one word for what JSON has no number for */
static bool read_bias(json_t *v, double *bias)
{
  const char *word = json_string_value(v);
  *bias = word != NULL ? -INFINITY : json_number_value(v);
  return json_is_number(v) || (word != NULL && strcmp(word, "-inf") == 0
    && json_string_length(v) == 4);
}

/* a bias by id: the key is the id in digits, without leading zeros */
static bool add_by_id(struct choices *x, const struct probe_request *q,
  const char *name, json_t *v)
{
  uint64_t id = 0;
  double bias;
  char part[EXCERPT_MAX + 4];
  size_t n = strspn(name, "0123456789");
  for (size_t i = 0; i < n && id < q->vocab_size; i++)
    id = id * 10 + (uint64_t) (name[i] - '0');
  if (n == 0 || name[n] != '\0' || (n > 1 && name[0] == '0')
      || id >= q->vocab_size)
    return error_say(q->why, "\"logit_bias\" has the id \"%s\"; wanted: 0 to %" PRIu32,
      text_excerpt(name, strlen(name), 40, part), q->vocab_size - 1);
  if (!read_bias(v, &bias)) return error_say(q->why, "\"logit_bias\" of id"
      " %s is no number; wanted: a number or \"-inf\"", name);
  if (!ids_push(q->o->m, &x->all, (uint32_t) id, q->why)) return false;
  x->biased[x->n++] = (struct sequence_bias) { NULL, 1, bias };
  return true;
}

/* Biases come before bad words, as the settings want them in one list; room for both is taken at once,
   so the list of sequences never moves. */
static bool read_lists(struct choices *x, const struct probe_request *q,
  json_t *params)
{
  json_t *bias = json_object_get(params, "logit_bias");
  json_t *bad = json_object_get(params, "bad_words"), *v;
  const char *name;
  x->cap = json_object_size(bias) + json_array_size(bad);
  x->biased = memory_alloc(q->o->m, MEMORY_OTHER, x->cap, sizeof *x->biased,
    q->why);
  if (x->biased == NULL) return false;
  json_object_foreach(bias, name, v)
    if (!add_by_id(x, q, name, v)) return false;
  x->s.n_logit_bias = x->n;
  for (size_t i = 0; i < json_array_size(bad); i++)
    if (!add_biased(x, q, json_array_get(bad, i), "bad_words", -INFINITY))
      return false;
  x->s.n_bad_words = x->n - x->s.n_logit_bias;
  return read_suppressed(x, q, json_object_get(params, "suppress_tokens"));
}

bool choices_read(struct choices *x, const struct probe_request *q,
  json_t *params, double temperature)
{
  *x = (struct choices) { .s = sampling_default() };
  x->s.temperature = temperature;
  if (!check_sampling_keys(params, q->why)) return false;
  read_numbers(&x->s, params);
  return read_stages(&x->s, json_object_get(params, "samplers"), q->why)
    && read_lists(x, q, params)
    && sampling_check(&x->s, q->vocab_size, q->why);
}

void choices_free(struct memory *m, struct choices *x)
{
  ids_free(m, &x->all);
  memory_free(m, x->biased);
}

/* a number, rounded once to float, which must fit; or one of three words */
static bool logit_from(json_t *v, float *x)
{
  const char *word = json_string_value(v);
  *x = (float) json_number_value(v);
  if (json_is_number(v)) return *x - *x == 0;
  if (word == NULL || strlen(word) != json_string_length(v)) return false;
  static const struct { const char *word; float x; } special[] = {
    { "nan", NAN }, { "inf", INFINITY }, { "-inf", -INFINITY } };
  for (size_t i = 0; i < 3; i++)
    if (strcmp(word, special[i].word) == 0) {
      *x = special[i].x;
      return true;
    }
  return false;
}

struct trickle { struct funnel f; float *logits; size_t n; struct ids list;
  struct choices x; };
/* what both questions about logits begin with: logits, ids, a funnel */
static bool trickle_open(struct trickle *t, struct probe_request *q)
{
  struct memory *m = q->o->m;
  json_t *from = json_object_get(q->in, "logits");
  *t = (struct trickle) { .n = json_array_size(from) };
  if (t->n == 0 || t->n > UINT32_MAX) return error_say(q->why,
      "\"logits\" has %zu numbers; wanted: 1 or more", t->n);
  q->vocab_size = (uint32_t) t->n;
  t->logits = memory_alloc(m, MEMORY_OTHER, t->n, sizeof *t->logits, q->why);
  if (t->logits == NULL || !funnel_open(&t->f, m, q->o->e.k, t->n, q->why))
    return false;
  for (size_t i = 0; i < t->n; i++)
    if (!logit_from(json_array_get(from, i), &t->logits[i]))
      return error_say(q->why, "\"logits\"[%zu] is no float; wanted: a"
        " number, \"inf\", \"-inf\" or \"nan\"", i);
  return request_ids(q, "ids", &t->list);
}

static void trickle_close(struct trickle *t, struct memory *m)
{
  choices_free(m, &t->x);
  ids_free(m, &t->list);
  funnel_close(&t->f);
  memory_free(m, t->logits);
}

/* Nearly every operation is a stage of the sampler with all but one setting normal, so its
   parameters are read as settings. A stage with one parameter of the same name is an operation with
   that key (find_operation); here are those that ask for more, or by another name. */
static const struct key_row
  repetition_keys[] = {
    { .name = "penalty", .letter = 'x', .required = true },
    { .name = "penalty_last_n", .letter = 'i' },
  },
  frequency_keys[] = {
    { .name = "frequency", .letter = 'x' }, { .name = "presence", .letter = 'x' },
    { .name = "prompt_len", .letter = 'n' }, { .name = "penalty_last_n", .letter = 'i' },
  },
  ngram_key[] = { { .name = "n", .letter = 'n', .required = true } },
  bias_key[] = { { .name = "bias", .letter = 'o', .required = true } },
  sequence_key[] = { { .name = "bias", .letter = 'a', .required = true } },
  bad_keys[] = {
    { .name = "bad", .letter = 'a', .required = true }, { .name = "eos", .letter = 'a' },
  },
  tokens_key[] = { { .name = "tokens", .letter = 'a', .required = true } },
  length_keys[] = {
    { .name = "eos", .letter = 'a', .required = true },
    { .name = "min_length", .letter = 'n', .required = true },
  },
  new_keys[] = {
    { .name = "eos", .letter = 'a', .required = true },
    { .name = "min_new_tokens", .letter = 'n', .required = true },
    { .name = "prompt_len", .letter = 'n', .required = true },
  };

#define WITH(list) list, sizeof list / sizeof *list
struct probe_operation { const char *name; enum sample_stage stage; const struct key_row *keys;
  size_t n_keys; const char *as; };
static const struct probe_operation operations[] = {
  {"repetition_penalty", SAMPLE_PENALTIES, WITH(repetition_keys),
    "penalty repetition_penalty"},
  {"frequency_presence", SAMPLE_PENALTIES, WITH(frequency_keys),
    "frequency frequency_penalty presence presence_penalty"},
  {"no_repeat_ngram", SAMPLE_NGRAM, WITH(ngram_key), "n no_repeat_ngram"},
  {"logit_bias", SAMPLE_BIAS, WITH(bias_key), "bias logit_bias"},
  {"sequence_bias", SAMPLE_BIAS, WITH(sequence_key), NULL},
  {"bad_words", SAMPLE_BIAS, WITH(bad_keys), NULL},
  {"suppress_tokens", SAMPLE_BIAS, WITH(tokens_key),
    "tokens suppress_tokens"},
  {"min_length", SAMPLE_BIAS, WITH(length_keys), NULL},
  {"min_new_tokens", SAMPLE_BIAS, WITH(new_keys), NULL},
  {"log_softmax", N_SAMPLE_STAGES, NULL, 0, NULL} };

/* The parameters under the names of settings; as is a list of pairs OLD NEW. The length of the
   prompt is no setting. */
static json_t *renamed(const struct probe_operation *o, json_t *params)
{
  json_t *made = json_object(), *v;
  const char *name;
  json_object_foreach(params, name, v) {
    const char *as = name, *at = o->as != NULL ? strstr(o->as, name) : NULL;
    size_t n = strlen(name);
    char buffer[32] = "";
    if (at != NULL && (at == o->as || at[-1] == ' ') && at[n] == ' ') {
      snprintf(buffer, sizeof buffer, "%.*s", (int) strcspn(at + n + 1, " "),
        at + n + 1);
      as = buffer;
    }
    if (strcmp(name, "prompt_len") != 0 && json_object_set(made, as, v)) {
      json_decref(made);
      return NULL;
    }
  }
  return made;
}

static bool lists_id(json_t *list, json_t *id)
{
  for (size_t i = 0; i < json_array_size(list); i++)
    if (json_equal(json_array_get(list, i), id)) return true;
  return false;
}

/* a bad word that is nothing but an end token is left out, since a text must be able to end;
   Hugging Face does so silently */
static json_t *bad_words(json_t *params)
{
  json_t *bad = json_object_get(params, "bad"), *kept = json_array();
  json_t *eos = json_object_get(params, "eos");
  for (size_t i = 0; i < json_array_size(bad); i++) {
    json_t *one = json_array_get(bad, i);
    bool stays = json_array_size(one) != 1
      || !lists_id(eos, json_array_get(one, 0));
    if (stays && json_array_append(kept, one) != 0) {
      json_decref(kept);
      return NULL;
    }
  }
  return json_pack("{s:o}", "bad_words", kept);
}

/* a text shorter than it should be must not end: its end tokens are suppressed. Its length
   counts with the prompt or without */
static json_t *too_short(const struct probe_operation *o, json_t *params,
  size_t length)
{
  uint64_t min = (uint64_t) json_integer_value(json_object_get(params,
    o->keys[1].name));
  uint64_t given = (uint64_t) json_integer_value(json_object_get(params,
    "prompt_len"));
  bool now = length - given < min;
  return json_pack("{s:o}", "suppress_tokens", now
    ? json_incref(json_object_get(params, "eos")) : json_array());
}

/* a list of sequences, each with its own bias, is no setting of the command; so it goes where
   biases are kept */
static bool read_sequences(struct choices *x, struct probe_request *q,
  json_t *list)
{
  x->cap = json_array_size(list);
  x->biased = memory_alloc(q->o->m, MEMORY_OTHER, x->cap, sizeof *x->biased,
    q->why);
  for (size_t i = 0; x->biased != NULL && i < x->cap; i++) {
    json_t *pair = json_array_get(list, i);
    double bias;
    if (json_array_size(pair) != 2
        || !read_bias(json_array_get(pair, 1), &bias))
      return error_say(q->why, "\"bias\"[%zu] is no pair; wanted: a list of"
        " ids and a number", i);
    if (!add_biased(x, q, json_array_get(pair, 0), "bias", bias))
      return false;
  }
  x->s.n_logit_bias = x->n;
  return x->biased != NULL && read_suppressed(x, q, NULL)
    && sampling_check(&x->s, q->vocab_size, q->why);
}

static bool read_operation(struct trickle *t, struct probe_request *q,
  const struct probe_operation *o, json_t *params)
{
  struct ids eos = { NULL, 0, 0 };
  if (o->keys == sequence_key) {
    t->x = (struct choices) { .s = sampling_default() };
    return read_sequences(&t->x, q, json_object_get(params, "bias"));
  }
  json_t *made;      /* which way an operation goes is told by its keys */
  if (o->keys == bad_keys) made = bad_words(params);
  else if (o->keys == length_keys || o->keys == new_keys) made = too_short(o, params, t->list.n);
  else made = renamed(o, params);
  bool ok = (made != NULL || error_say(q->why, "no memory"))
    && request_ids_from(q, json_object_get(params, "eos"), "eos", &eos)
    && choices_read(&t->x, q, made, 1);
  ids_free(q->o->m, &eos);
  json_decref(made);
  return ok;
}

/* the scores after the stage, rounded to float once; a score out of range is printed as what it
   is then, and if the stage took the last token out, all are -inf */
static void put_scores(struct probe_request *q, const struct trickle *t)
{
  put_open_as(&q->out, "logits", '[');
  for (size_t i = 0; i < t->n; i++) writer_float(&q->out, (float) t->f.score[i]);
  writer_close(&q->out, ']');
}

static bool is_word(json_t *v, const char *word)
{
  return json_string_length(v) == strlen(word) && strcmp(json_string_value(v), word) == 0;
}

/* the operation of a line; key is room for the one key of a stage that is an operation as it stands */
static bool find_operation(struct probe_request *q, struct probe_operation *o, struct key_row *key)
{
  json_t *op = json_object_get(q->in, "op");
  char part[EXCERPT_MAX + 4];
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    if (is_word(op, operations[i].name)) {
      *o = operations[i];
      return true;
    }
  for (int i = 0; i < N_SAMPLE_STAGES; i++) {
    const struct sampling_row *row = sampling_row((enum sample_stage) i);
    const char *first = row->option[0].name;
    if (!is_word(op, row->name) || first == NULL || strcmp(row->name, first) != 0) continue;
    *key = key_of(&row->option[0], true);
    *o = (struct probe_operation) { row->name, (enum sample_stage) i, key, 1, NULL };
    return true;
  }
  return error_say(q->why, "\"op\" is `%s'; wanted: temperature, top_k, ...,"
    " or log_softmax (the book's list)",
    text_excerpt(json_string_value(op), json_string_length(op), 40, part));
}

bool probe_process(struct probe_request *q)
{
  struct trickle t;
  json_t *params = json_object_get(q->in, "params");
  uint64_t given = (uint64_t) json_integer_value(json_object_get(params,
    "prompt_len"));
  struct probe_operation o = { .name = NULL };
  struct key_row key;
  bool found = find_operation(q, &o, &key), ok = trickle_open(&t, q) && found
    && request_check_keys(params, o.keys, o.n_keys, q->why)
    && (given <= t.list.n || error_say(q->why, "\"prompt_len\" is %" PRIu64
      "; wanted: 0 to %zu, the number of ids", given, t.list.n))
    && (o.stage == N_SAMPLE_STAGES || read_operation(&t, q, &o, params))
    && funnel_fill(&t.f, t.logits, q->why);
  if (ok) {
    struct history h = { t.list.id, t.list.n, (size_t) given };
    if (o.stage == N_SAMPLE_STAGES) funnel_log_softmax(&t.f);
    else sampling_stage_run(&t.f, &t.x.s, o.stage, h);
    put_scores(q, &t);
  }
  trickle_close(&t, q->o->m);
  return ok;
}

/* what is left, by falling score, with probabilities that sum to 1 as nearly as doubles can */
static void put_choice(struct probe_request *q, struct funnel *f, uint32_t id)
{
  funnel_distribution(f);
  put_ids_as(&q->out, "kept", f->candidates, f->n);
  put_open_as(&q->out, "probs", '[');
  for (size_t i = 0; i < f->n; i++) writer_double(&q->out, f->weight[i]);
  writer_close(&q->out, ']');
  put_count_as(&q->out, "token", id);
}

/* the position need not be the length of the text that came along */
bool probe_sample(struct probe_request *q)
{
  struct trickle t;
  bool ok = trickle_open(&t, q)
    && choices_read(&t.x, q, json_object_get(q->in, "params"), 1);
  json_t *given = json_object_get(q->in, "prompt_length");
  json_t *at = json_object_get(q->in, "position");
  struct history h = { t.list.id, t.list.n, given == NULL ? t.list.n
    : (size_t) json_integer_value(given) };
  ok = ok && (h.n_prompt <= h.n || error_say(q->why, "\"prompt_length\" is"
      " %zu; wanted: 0 to %zu, the number of ids", h.n_prompt, h.n))
    && sampling_run(&t.f, &t.x.s, t.logits, h, q->why);
  if (ok) {
    uint32_t id = funnel_choose(&t.f, request_count(q, "seed"), (uint32_t)
      request_count(q, "sequence"), at == NULL ? (uint32_t) h.n
      : (uint32_t) json_integer_value(at));
    put_choice(q, &t.f, id);
  }
  trickle_close(&t, q->o->m);
  return ok;
}

/* one counter under one key */
static bool words_of(struct probe_request *q, const char *key, size_t n,
  uint32_t *word)
{
  json_t *list = json_object_get(q->in, key);
  if (json_array_size(list) != n) return error_say(q->why,
      "\"%s\" has %zu words; wanted: %zu", key, json_array_size(list), n);
  for (size_t i = 0; i < n; i++) {
    json_t *v = json_array_get(list, i);
    json_int_t x = json_integer_value(v);
    if (!json_is_integer(v) || x < 0 || x > UINT32_MAX)
      return error_say(q->why, "\"%s\"[%zu] is no word; wanted: an integer"
        " from 0 to 4294967295", key, i);
    word[i] = (uint32_t) x;
  }
  return true;
}

bool probe_philox(struct probe_request *q)
{
  uint32_t key[2], counter[4], out[4];
  if (!words_of(q, "key", 2, key) || !words_of(q, "counter", 4, counter))
    return false;
  philox4x32(key, counter, out);
  put_ids_as(&q->out, "out", out, 4);
  return true;
}
