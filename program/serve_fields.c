/* serve_fields.c -- a body becomes a job: every field is looked at, in the order of one table.

   A request says what it wants in JSON, and people misspell, so nothing is read over that is not meant to be: an unknown
   name is refused with the nearest one, a number in quotation marks is no number. The table has a row for each field, with
   the interfaces that know it and the function that reads its value into the job; parameters of the sampler have their
   ranges in chapter 7's rows, as for the command. When all fields have been read, those that contradict each other are
   looked for, then prompts become ids, and at last they are measured against the context. The first mistake is the answer.

   Defaults are those of incipit generate: the same fields give the same text there. */

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "ground/timing.h"
#include "options.h"
#include "safetensors/excerpt.h"
#include "safetensors/jsonfile.h"
#include "sampler_setup.h"
#include "constraint_setup.h"
#include "sampling/settings.h"
#include "serve.h"

enum { MAX_TEXTS = 128, MAX_STOPS = 16, MAX_STOP = 1024, MAX_TURNS = 1024, MAX_BIASES = 1024, MAX_LOGPROBS = 20,
  USUAL_TOKENS = 16 };

/* ---- refusals */

static const char *type_of(unsigned status)
{
  switch (status) {
  case 401: return "authentication_error";
  case 403: return "permission_error";
  case 429: return "rate_limit_error";
  case 500: case 503: return "server_error";
  default: return "invalid_request_error";
  }
}

bool serve_refuse(struct serve_refusal *r, unsigned status, const char *code, const char *param, const char *format, ...)
{
  va_list args;
  r->status = status, r->code = code;
  r->type = type_of(status);
  snprintf(r->param, sizeof r->param, "%s", param);
  va_start(args, format);
  vsnprintf(r->why.text, sizeof r->why.text, format, args);
  va_end(args);
  return false;
}

void serve_put_error(struct json_writer *j, const struct serve_refusal *r)
{
  put_open_as(j, "error", '{');
  put_words_as(j, "message", r->why.text);
  put_words_as(j, "type", r->type);
  writer_key(j, "param");
  if (r->param[0] == '\0') writer_word(j, "null");
  else writer_words(j, r->param);
  put_words_as(j, "code", r->code);
  writer_close(j, '}');
}

/* The reader of lines speaks of a line; here it is a body. */
json_t *serve_read_body(const char *body, size_t n, struct serve_refusal *r)
{
  static const char line[] = "this line";
  struct error why;
  json_t *object = jsonfile_object(body, n, &why);
  if (object != NULL) return object;
  bool says = strncmp(why.text, line, sizeof line - 1) == 0;
  serve_refuse(r, 400, "invalid_json", "", "%s%s", says ? "the body" : "", why.text + (says ? sizeof line - 1 : 0));
  return NULL;
}

/* ---- the reader of one field */

struct field_reader {
  struct serve_model *s;
  struct serve_job *j;
  struct serve_refusal *r;
  const char *name; /* of the field that is read */
  json_t *max, *max_completion; /* both names of one number */
  json_t *prompt, *messages, *regex, *grammar;
  bool json_object, top_logprobs, options;
  int64_t best_of;
};

static bool wrong_type(struct field_reader *f, const char *param, json_t *v, const char *wanted)
{
  char buffer[64];
  return serve_refuse(f->r, 400, "invalid_type", param, "`%.100s' is %s; wanted: %s", param, jsonfile_excerpt(v, buffer), wanted);
}

static bool wrong_value(struct field_reader *f, const char *param, json_t *v, const char *wanted)
{
  char buffer[64];
  return serve_refuse(f->r, 400, "invalid_value", param, "`%.100s' is %s; wanted: %s", param, jsonfile_excerpt(v, buffer), wanted);
}

static bool is_missing(struct field_reader *f, const char *param)
{
  return serve_refuse(f->r, 400, "missing_parameter", param, "`%.100s' is missing; wanted: a value", param);
}

static bool is_unsupported(struct field_reader *f, const char *param, const char *wanted)
{
  return serve_refuse(f->r, 400, "unsupported_parameter", param, "`%.100s' is not supported as it stands; wanted: %s", param, wanted);
}

/* A number too large for an integer of 64 bits was read as a real one; it is an integer all the same, out of any range. */
static bool read_integer(struct field_reader *f, json_t *v, int64_t low, int64_t high, int64_t *value)
{
  char wanted[80];
  snprintf(wanted, sizeof wanted, "an integer from %" PRId64 " to %" PRId64, low, high);
  bool huge = json_is_real(v) && fabs(json_real_value(v)) >= 9e18;
  if (!json_is_integer(v) && !huge) return wrong_type(f, f->name, v, wanted);
  *value = huge ? 0 : json_integer_value(v);
  return (!huge && *value >= low && *value <= high) || wrong_value(f, f->name, v, wanted);
}

static bool read_flag(struct field_reader *f, json_t *v, bool *value)
{
  *value = json_is_true(v);
  return json_is_boolean(v) || wrong_type(f, f->name, v, "true or false");
}

/* A parameter of chapter 7, and the limits that this interface has beyond its own. */
static bool read_sampling(struct field_reader *f, json_t *v)
{
  static const struct { const char *name; double low, high; } narrower[] = { { "temperature", 0, 2 },
    { "frequency_penalty", -2, 2 }, { "presence_penalty", -2, 2 } };
  const struct sampling_option *o = NULL;
  double x = json_number_value(v);
  char wanted[100];
  for (size_t i = 0; (o = sampling_option_at(i, NULL)) != NULL; i++) {
    size_t k = 0;
    while (o->option[k] != '\0' && (o->option[k] == f->name[k] || (o->option[k] == '-' && f->name[k] == '_'))) k++;
    if (o->option[k] == '\0' && f->name[k] == '\0') break;
  }
  if (o->type == SAMPLING_REAL ? !json_is_number(v) : !json_is_integer(v))
    return wrong_type(f, f->name, v, o->type == SAMPLING_REAL ? "a number" : "an integer");
  bool fits = sampling_option_fits(o, x);
  snprintf(wanted, sizeof wanted, "%s", o->expected);
  for (size_t i = 0; i < sizeof narrower / sizeof *narrower; i++) {
    if (strcmp(f->name, narrower[i].name) != 0) continue;
    fits = fits && x >= narrower[i].low && x <= narrower[i].high;
    snprintf(wanted, sizeof wanted, "%g to %g%s", narrower[i].low, narrower[i].high,
      o->gap > 0 ? ", and if not 0 then 0.00001 or more" : "");
  }
  if (!fits) return wrong_value(f, f->name, v, wanted);
  sampling_option_set(&f->j->s, o, x, json_integer_value(v));
  return true;
}

static bool read_seed(struct field_reader *f, json_t *v)
{
  int64_t seed;
  bool ok = read_integer(f, v, 0, INT64_MAX, &seed);
  if (ok) f->j->seed = (uint64_t) seed;
  return ok;
}

static bool read_count(struct field_reader *f, json_t *v)
{
  int64_t n;
  bool texts = strcmp(f->name, "n") == 0;
  if (!read_integer(f, v, texts ? 1 : 0, texts ? MAX_TEXTS : INT32_MAX, &n)) return false;
  if (texts) f->j->per_prompt = (size_t) n;
  else f->j->min_tokens = (size_t) n;
  return true;
}

static bool read_max(struct field_reader *f, json_t *v)
{
  int64_t n;
  if (!read_integer(f, v, 0, INT32_MAX, &n)) return false;
  f->j->max_tokens = (size_t) n;
  if (strcmp(f->name, "max_tokens") == 0) f->max = v;
  else f->max_completion = v;
  return f->max == NULL || f->max_completion == NULL || serve_refuse(f->r, 400, "invalid_value", f->name,
    "max_tokens and max_completion_tokens are two names of one number; wanted: one of them");
}

static bool read_flag_field(struct field_reader *f, json_t *v)
{
  struct serve_job *j = f->j;
  bool *const at[] = { &j->stream, &j->echo, &j->ignore_eos, &j->include_stop };
  static const char *const name[] = { "stream", "echo", "ignore_eos", "include_stop" };
  size_t i = 0;
  while (strcmp(f->name, name[i]) != 0) i++;
  return read_flag(f, v, at[i]);
}

static bool read_logprobs(struct field_reader *f, json_t *v)
{
  int64_t k;
  if (f->j->chat) return read_flag(f, v, &f->j->logprobs);
  if (!read_integer(f, v, 0, MAX_LOGPROBS, &k)) return false;
  f->j->logprobs = true;
  f->j->k = (size_t) k;
  return true;
}

static bool read_top_logprobs(struct field_reader *f, json_t *v)
{
  int64_t k;
  if (!read_integer(f, v, 0, MAX_LOGPROBS, &k)) return false;
  f->top_logprobs = true;
  f->j->k = (size_t) k;
  return f->j->logprobs || serve_refuse(f->r, 400, "invalid_value", f->name, "top_logprobs without logprobs; wanted: logprobs true");
}

/* decimal digits and nothing else */
static bool read_id(const char *text, size_t n, uint64_t *id)
{
  *id = 0;
  for (size_t i = 0; i < n; i++) {
    if (text[i] < '0' || text[i] > '9' || *id > UINT32_MAX) return false;
    *id = *id * 10 + (uint64_t) (text[i] - '0');
  }
  return n > 0;
}

static bool read_bias(struct field_reader *f, json_t *v)
{
  struct serve_job *j = f->j;
  size_t n = json_object_size(v), i = 0;
  uint32_t vocab = f->s->o->lm->config.vocab_size;
  if (!json_is_object(v)) return wrong_type(f, f->name, v, "an object of ids and numbers");
  if (n > MAX_BIASES) return serve_refuse(f->r, 400, "invalid_value", f->name, "logit_bias has %zu entries; wanted: %d or fewer",
    n, MAX_BIASES);
  j->bias = memory_alloc(&j->m, MEMORY_OTHER, n, sizeof *j->bias, &f->r->why);
  j->biased = memory_alloc(&j->m, MEMORY_OTHER, n, sizeof *j->biased, &f->r->why);
  if (j->bias == NULL || j->biased == NULL) return serve_refuse(f->r, 500, "internal_error", "", "there is no memory left");
  for (void *at = json_object_iter(v); at != NULL; at = json_object_iter_next(v, at), i++) {
    const char *key = json_object_iter_key(at);
    json_t *x = json_object_iter_value(at);
    uint64_t id;
    if (!read_id(key, json_object_iter_key_len(at), &id) || id >= vocab)
      return serve_refuse(f->r, 400, "invalid_value", f->name, "logit_bias has the key `%.40s'; wanted: an id from 0 to %" PRIu32,
        key, vocab - 1);
    if (!json_is_number(x)) return wrong_type(f, f->name, x, "a number from -100 to 100 for each id");
    if (!(fabs(json_number_value(x)) <= 100)) return wrong_value(f, f->name, x, "a number from -100 to 100 for each id");
    j->biased[i] = (uint32_t) id;
    j->bias[i] = (struct sequence_bias) { &j->biased[i], 1, json_number_value(x) };
  }
  j->s.logit_bias = j->bias, j->s.n_logit_bias = n;
  return true;
}

static bool take_stop(struct field_reader *f, json_t *v)
{
  size_t n = json_string_length(v);
  if (!json_is_string(v)) return wrong_type(f, f->name, v, "a string, or a list of strings");
  if (n == 0 || n > MAX_STOP) return wrong_value(f, f->name, v, "1 to 1024 bytes");
  f->j->stop[f->j->n_stop++] = (struct stop_string) { (const unsigned char *) json_string_value(v), n };
  return true;
}

static bool read_stop(struct field_reader *f, json_t *v)
{
  size_t n = json_array_size(v);
  f->j->stop = memory_alloc(&f->j->m, MEMORY_OTHER, MAX_STOPS, sizeof *f->j->stop, &f->r->why);
  if (f->j->stop == NULL) return serve_refuse(f->r, 500, "internal_error", "", "there is no memory left");
  if (!json_is_array(v)) return take_stop(f, v);
  if (n > MAX_STOPS) return serve_refuse(f->r, 400, "invalid_value", f->name, "stop has %zu strings; wanted: %d or fewer", n, MAX_STOPS);
  for (size_t i = 0; i < n; i++)
    if (!take_stop(f, json_array_get(v, i))) return false;
  return true;
}

/* the keys of an object inside a field: all of them must be in a list, which ends with null */
static bool only_keys(struct field_reader *f, const char *path, json_t *v, const char *const *known)
{
  for (void *at = json_object_iter(v); at != NULL; at = json_object_iter_next(v, at)) {
    const char *key = json_object_iter_key(at);
    char param[120];
    size_t i = 0;
    while (known[i] != NULL && strcmp(known[i], key) != 0) i++;
    if (known[i] != NULL || json_is_null(json_object_iter_value(at))) continue;
    snprintf(param, sizeof param, "%.60s.%.50s", path, key);
    return serve_refuse(f->r, 400, "unknown_parameter", param, "`%s' is not known; wanted: %s", param, known[0]);
  }
  return true;
}

static bool read_stream_options(struct field_reader *f, json_t *v)
{
  static const char *const known[] = { "include_usage", "include_obfuscation", NULL };
  json_t *usage = json_object_get(v, "include_usage");
  if (!json_is_object(v)) return wrong_type(f, f->name, v, "an object");
  if (!only_keys(f, f->name, v, known)) return false;
  if (usage != NULL && !json_is_null(usage) && !json_is_boolean(usage))
    return wrong_type(f, "stream_options.include_usage", usage, "true or false");
  f->j->usage = json_is_true(usage);
  return f->j->stream || serve_refuse(f->r, 400, "invalid_value", f->name, "stream_options without stream; wanted: stream true");
}

/* a constraint excludes another one, stop strings, and a least number of tokens, as it does on the command line */
static bool alone(struct field_reader *f)
{
  const char *other = NULL;
  if (f->regex != NULL && strcmp(f->name, "regex") != 0) other = "regex";
  if (f->json_object && strcmp(f->name, "response_format") != 0) other = "response_format";
  if (f->j->min_tokens > 0) other = "min_tokens";
  if (f->j->n_stop > 0) other = "stop";
  return other == NULL || serve_refuse(f->r, 400, "invalid_value", f->name, "%s contradicts %s; wanted: one of them", f->name, other);
}

static bool read_format(struct field_reader *f, json_t *v)
{
  static const char *const known[] = { "type", NULL };
  json_t *type = json_object_get(v, "type");
  const char *word = json_string_value(type);
  if (!json_is_object(v)) return wrong_type(f, f->name, v, "an object");
  if (type == NULL || json_is_null(type)) return is_missing(f, "response_format.type");
  if (!json_is_string(type)) return wrong_type(f, "response_format.type", type, "text or json_object");
  if (strcmp(word, "json_schema") == 0)
    return is_unsupported(f, "response_format.type", "text or json_object; a grammar can say more (grammar)");
  f->json_object = strcmp(word, "json_object") == 0;
  if (!f->json_object && strcmp(word, "text") != 0) return wrong_value(f, "response_format.type", type, "text or json_object");
  return only_keys(f, f->name, v, known) && (!f->json_object || alone(f));
}

static bool read_constraint(struct field_reader *f, json_t *v)
{
  if (!json_is_string(v)) return wrong_type(f, f->name, v, "a text");
  if (strcmp(f->name, "regex") == 0) f->regex = v;
  else f->grammar = v;
  return alone(f);
}

/* whether it is the served one is asked when all fields have been read */
static bool read_model(struct field_reader *f, json_t *v)
{
  return json_is_string(v) || wrong_type(f, f->name, v, "a text");
}

static bool read_prompt(struct field_reader *f, json_t *v)
{
  f->prompt = v;
  if (json_is_string(v)) return true;
  if (!json_is_array(v)) return wrong_type(f, f->name, v, "a string, or a list of strings, of ids, or of lists of ids");
  return json_array_size(v) > 0 || wrong_value(f, f->name, v, "a list that is not empty");
}

static bool read_messages(struct field_reader *f, json_t *v)
{
  f->messages = v;
  if (!json_is_array(v)) return wrong_type(f, f->name, v, "a list of messages");
  return (json_array_size(v) > 0 && json_array_size(v) <= MAX_TURNS)
    || serve_refuse(f->r, 400, "invalid_value", f->name, "messages has %zu turns; wanted: 1 to %d", json_array_size(v), MAX_TURNS);
}

static bool read_over(struct field_reader *f, json_t *v)
{
  (void) f, (void) v;
  return true;
}

/* fields of others that may only say what holds anyway */
static const struct { const char *name, *only; } neutral[] = { { "suffix", "\"\"" }, { "tools", "[]" }, { "functions", "[]" },
  { "tool_choice", "\"none\"" }, { "function_call", "\"none\"" }, { "modalities", "[\"text\"]" } };

static bool read_neutral(struct field_reader *f, json_t *v)
{
  for (size_t i = 0; i < sizeof neutral / sizeof *neutral; i++) {
    if (strcmp(f->name, neutral[i].name) != 0) continue;
    json_t *only = json_loads(neutral[i].only, JSON_DECODE_ANY, NULL);
    bool same = json_equal(only, v) != 0;
    json_decref(only);
    return same || is_unsupported(f, f->name, neutral[i].only);
  }
  if (strcmp(f->name, "best_of") != 0) return is_unsupported(f, f->name, "a request without it");
  return json_is_integer(v) ? (json_integer_value(v) == (int64_t) f->j->per_prompt || is_unsupported(f, f->name, "as many as n"))
    : wrong_type(f, f->name, v, "an integer");
}

/* ---- the table */

enum { COMPLETIONS = 1, CHAT = 2, BOTH = 3 };
static const struct field_row { const char *name; unsigned where; bool (*read)(struct field_reader *f, json_t *v); } row[] = {
  { "model", BOTH, read_model },
  { "prompt", COMPLETIONS, read_prompt },
  { "messages", CHAT, read_messages },
  { "max_tokens", BOTH, read_max },
  { "max_completion_tokens", CHAT, read_max },
  { "temperature", BOTH, read_sampling },
  { "top_p", BOTH, read_sampling },
  { "top_k", BOTH, read_sampling },
  { "min_p", BOTH, read_sampling },
  { "typical_p", BOTH, read_sampling },
  { "repetition_penalty", BOTH, read_sampling },
  { "penalty_last_n", BOTH, read_sampling },
  { "no_repeat_ngram_size", BOTH, read_sampling },
  { "frequency_penalty", BOTH, read_sampling },
  { "presence_penalty", BOTH, read_sampling },
  { "logit_bias", BOTH, read_bias },
  { "seed", BOTH, read_seed },
  { "n", BOTH, read_count },
  { "stop", BOTH, read_stop },
  { "min_tokens", BOTH, read_count },
  { "ignore_eos", BOTH, read_flag_field },
  { "include_stop", BOTH, read_flag_field },
  { "stream", BOTH, read_flag_field },
  { "stream_options", BOTH, read_stream_options },
  { "logprobs", BOTH, read_logprobs },
  { "top_logprobs", CHAT, read_top_logprobs },
  { "echo", COMPLETIONS, read_flag_field },
  { "response_format", BOTH, read_format },
  { "regex", BOTH, read_constraint },
  { "grammar", BOTH, read_constraint },
  { "user", BOTH, read_over },
  { "metadata", BOTH, read_over },
  { "store", BOTH, read_over },
  { "service_tier", BOTH, read_over },
  { "safety_identifier", BOTH, read_over },
  { "prompt_cache_key", BOTH, read_over },
  { "parallel_tool_calls", BOTH, read_over },
  { "best_of", BOTH, read_neutral },
  { "suffix", BOTH, read_neutral },
  { "tools", BOTH, read_neutral },
  { "functions", BOTH, read_neutral },
  { "tool_choice", BOTH, read_neutral },
  { "function_call", BOTH, read_neutral },
  { "modalities", BOTH, read_neutral },
  { "audio", BOTH, read_neutral },
  { "prediction", BOTH, read_neutral },
  { "reasoning_effort", BOTH, read_neutral },
  { "verbosity", BOTH, read_neutral },
  { "web_search_options", BOTH, read_neutral },
};
enum { N_ROWS = sizeof row / sizeof *row };

static const struct field_row *find_row(const char *name, unsigned where)
{
  for (size_t i = 0; i < N_ROWS; i++)
    if ((row[i].where & where) != 0 && strcmp(row[i].name, name) == 0) return &row[i];
  return NULL;
}

/* What other servers add to this interface has another name here, or is an option of the command. */
static const char *called_elsewhere(const char *key)
{
  static const struct { const char *theirs, *instead; } at[] = {
    { "repeat_penalty", "the nearest is repetition_penalty" }, { "repeat_last_n", "the nearest is penalty_last_n" },
    { "n_predict", "the nearest is max_tokens" }, { "max_new_tokens", "the nearest is max_tokens" },
    { "guided_regex", "the nearest is regex" }, { "guided_grammar", "the nearest is grammar" },
    { "chat_template_kwargs", "variables of a template are given to the command: incipit serve --kwarg NAME=JSON" },
    { "chat_template", "a template is given to the command: incipit serve --chat-template FILE" },
    { "cache_prompt", "prompts are kept and found again without it" } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    if (strcmp(key, at[i].theirs) == 0) return at[i].instead;
  return NULL;
}

/* A field of the other interface is sent more often than one that is misspelt, and has a near name here as well (prompt,
   prompt_cache_key); so it is told by its place. */
static bool is_unknown(struct field_reader *f, const char *key, unsigned where)
{
  const char *name[N_ROWS], *nearest;
  size_t n = 0;
  char shown[120];
  snprintf(shown, sizeof shown, "%.100s", key);
  if (find_row(key, BOTH) != NULL)
    return serve_refuse(f->r, 400, "unknown_parameter", shown, "`%s' is a field of %s; wanted: those of this path", shown,
      where == CHAT ? "/v1/completions" : "/v1/chat/completions");
  for (size_t i = 0; i < N_ROWS; i++)
    if ((row[i].where & where) != 0) name[n++] = row[i].name;
  const char *instead = called_elsewhere(key);
  if (instead != NULL) return serve_refuse(f->r, 400, "unknown_parameter", shown, "`%s' is not known here; %s", shown, instead);
  nearest = strlen(key) < 40 ? options_suggest(key, name, n) : NULL;
  return serve_refuse(f->r, 400, "unknown_parameter", shown, "`%s' is not known here%s%s", shown,
    nearest == NULL ? "; wanted: a field of this interface" : "; the nearest is ", nearest == NULL ? "" : nearest);
}

static bool all_known(struct field_reader *f, unsigned where)
{
  for (void *at = json_object_iter(f->j->body); at != NULL; at = json_object_iter_next(f->j->body, at))
    if (find_row(json_object_iter_key(at), where) == NULL) return is_unknown(f, json_object_iter_key(at), where);
  return true;
}

static bool read_fields(struct field_reader *f)
{
  unsigned where = f->j->chat ? CHAT : COMPLETIONS;
  if (!all_known(f, where)) return false;
  for (size_t i = 0; i < N_ROWS; i++) {
    json_t *v = json_object_get(f->j->body, row[i].name);
    f->name = row[i].name;
    if ((row[i].where & where) == 0) continue;
    if (strcmp(f->name, "messages") == 0 && (v == NULL || json_is_null(v))) return is_missing(f, f->name);
    if (v != NULL && !json_is_null(v) && !row[i].read(f, v)) return false;
  }
  return true;
}

/* ---- prompts */

static bool no_memory(struct field_reader *f)
{
  return serve_refuse(f->r, 500, "internal_error", "", "there is no memory left for this request");
}

static bool encode(struct field_reader *f, struct serve_prompt *p, json_t *v)
{
  struct session *o = f->s->o;
  struct error *why = &f->r->why;
  if (o->t == NULL) return serve_refuse(f->r, 400, "invalid_value", "prompt", "this model has no tokenizer that we know; wanted: a"
      " prompt in ids");
  const char *text = json_string_value(v);
  size_t n = json_string_length(v);
  if (f->j->echo && !bytes_push(&f->j->m, &p->text, text, n, why)) return no_memory(f);
  if (!tokenizer_encode(o->t, &f->j->m, text, n, true, false, &p->list, why)) {
    struct error was = *why;
    return serve_refuse(f->r, 400, "invalid_value", "prompt", "%s", was.text);
  }
  return true;
}

static bool take_ids(struct field_reader *f, struct serve_prompt *p, json_t *v)
{
  uint32_t vocab = f->s->o->lm->config.vocab_size;
  for (size_t i = 0; i < json_array_size(v); i++) {
    json_t *x = json_array_get(v, i);
    json_int_t id = json_integer_value(x);
    if (!json_is_integer(x)) return wrong_type(f, "prompt", x, "an id");
    if (id < 0 || id >= vocab) return serve_refuse(f->r, 400, "invalid_value", "prompt", "id %lld of the prompt is unknown; wanted: 0 to %"
        PRIu32, (long long) id, vocab - 1);
    if (!ids_push(&f->j->m, &p->list, (uint32_t) id, &f->r->why)) return no_memory(f);
  }
  if (p->list.n == 0) return wrong_value(f, "prompt", v, "a list of ids that is not empty");
  return !f->j->echo || f->s->o->t == NULL
    || tokenizer_decode(f->s->o->t, &f->j->m, p->list.id, p->list.n, false, &p->text, &f->r->why) || no_memory(f);
}

static bool open_prompts(struct field_reader *f, size_t n)
{
  struct serve_job *j = f->j;
  if (n > MAX_TEXTS || n * j->per_prompt > MAX_TEXTS) return serve_refuse(f->r, 400, "invalid_value", n > MAX_TEXTS ? "prompt" : "n",
      "%zu prompts with %zu choices each; wanted: %d choices or fewer", n, j->per_prompt, MAX_TEXTS);
  j->n_prompts = n, j->n = n * j->per_prompt;
  j->prompt = memory_alloc(&j->m, MEMORY_OTHER, n, sizeof *j->prompt, &f->r->why);
  j->choice = memory_alloc(&j->m, MEMORY_OTHER, j->n, sizeof *j->choice, &f->r->why);
  if (j->prompt == NULL || j->choice == NULL) return no_memory(f);
  for (size_t i = 0; i < j->n; i++)
    j->choice[i] = (struct serve_choice) { .job = j, .prompt = &j->prompt[i / j->per_prompt], .number = (uint32_t) (i % j->per_prompt) };
  return true;
}

/* what the first element is, all must be; of ids there is one prompt */
static bool read_prompts(struct field_reader *f)
{
  json_t *v = f->prompt, *first = json_array_get(v, 0);
  json_t *empty = v == NULL ? json_string("") : NULL;
  bool many = json_is_array(v) && !json_is_integer(first);
  size_t n = many ? json_array_size(v) : 1;
  if (many && !json_is_string(first) && !json_is_array(first)) return wrong_type(f, "prompt", first, "a string, an id, or a list of ids");
  bool ok = open_prompts(f, n);
  for (size_t i = 0; ok && i < n; i++) {
    json_t *one = v != NULL ? v : empty;
    if (many) one = json_array_get(v, i);
    if (many && json_typeof(one) != json_typeof(first)) ok = wrong_type(f, "prompt", one, "elements of one kind");
    else ok = json_is_string(one) ? encode(f, &f->j->prompt[i], one) : take_ids(f, &f->j->prompt[i], one);
    if (ok && f->j->prompt[i].list.n == 0) {
      struct error why;
      ok = prompt_begin_somewhere(f->s->o, &f->j->m, &f->j->prompt[i].list, &why)
        || serve_refuse(f->r, 400, "invalid_value", "prompt", "%s", why.text);
    }
  }
  json_decref(empty);
  return ok;
}

/* ---- messages */

/* where in a message something is: messages[3].content[0].type */
static const char *path_of(char path[120], size_t i, const char *key)
{
  snprintf(path, 120, "messages[%zu]%s%.80s", i, *key == '\0' ? "" : ".", key);
  return path;
}

static bool read_role(struct field_reader *f, size_t i, json_t *v, enum role *who)
{
  static const struct { const char *name; enum role who; } known[] = { { "system", ROLE_SYSTEM }, { "developer", ROLE_SYSTEM },
    { "user", ROLE_USER }, { "assistant", ROLE_ASSISTANT } };
  char path[120];
  const char *name = json_string_value(v);
  path_of(path, i, "role");
  if (v == NULL || json_is_null(v)) return is_missing(f, path);
  if (!json_is_string(v)) return wrong_type(f, path, v, "system, user or assistant");
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (strcmp(name, known[k].name) == 0) {
      *who = known[k].who;
      return true;
    }
  if (strcmp(name, "tool") == 0 || strcmp(name, "function") == 0) return is_unsupported(f, path, "system, user or assistant");
  return wrong_value(f, path, v, "system, user or assistant");
}

static bool read_part(struct field_reader *f, size_t i, size_t k, json_t *part, struct bytes *text)
{
  static const char *const known[] = { "type", "text", NULL };
  char path[120], key[60];
  json_t *type = json_object_get(part, "type"), *said = json_object_get(part, "text");
  snprintf(key, sizeof key, "content[%zu]", k);
  path_of(path, i, key);
  if (!json_is_object(part)) return wrong_type(f, path, part, "an object");
  snprintf(key, sizeof key, "content[%zu].type", k);
  path_of(path, i, key);
  if (type == NULL || json_is_null(type)) return is_missing(f, path);
  if (!json_is_string(type)) return wrong_type(f, path, type, "text");
  if (strcmp(json_string_value(type), "text") != 0) return is_unsupported(f, path, "text");
  snprintf(key, sizeof key, "content[%zu].text", k);
  path_of(path, i, key);
  if (said == NULL || json_is_null(said)) return is_missing(f, path);
  if (!json_is_string(said)) return wrong_type(f, path, said, "a text");
  snprintf(key, sizeof key, "content[%zu]", k);
  path_of(path, i, key);
  return only_keys(f, path, part, known)
    && (bytes_push(&f->j->m, text, json_string_value(said), json_string_length(said), &f->r->why) || no_memory(f));
}

static bool read_content(struct field_reader *f, size_t i, json_t *v, struct bytes *text)
{
  char path[120];
  path_of(path, i, "content");
  if (v == NULL || json_is_null(v)) return is_missing(f, path);
  if (json_is_string(v)) return bytes_push(&f->j->m, text, json_string_value(v), json_string_length(v), &f->r->why) || no_memory(f);
  if (!json_is_array(v)) return wrong_type(f, path, v, "a text, or a list of parts");
  if (json_array_size(v) == 0) return wrong_value(f, path, v, "one part or more");
  for (size_t k = 0; k < json_array_size(v); k++)
    if (!read_part(f, i, k, json_array_get(v, k), text)) return false;
  return true;
}

static bool read_message(struct field_reader *f, size_t i, json_t *v, enum role *who, struct bytes *text)
{
  static const char *const known[] = { "role", "content", "name", "tool_calls", NULL };
  char path[120];
  json_t *calls = json_object_get(v, "tool_calls");
  if (!json_is_object(v)) return wrong_type(f, path_of(path, i, ""), v, "an object");
  if (!read_role(f, i, json_object_get(v, "role"), who)) return false;
  if (calls != NULL && !json_is_null(calls)) return is_unsupported(f, path_of(path, i, "tool_calls"), "a message without it");
  return read_content(f, i, json_object_get(v, "content"), text) && only_keys(f, path_of(path, i, ""), v, known);
}

static bool set_turns(struct field_reader *f, const struct turn *turn, size_t n)
{
  struct error why;
  if (f->s->by == NULL) return serve_refuse(f->r, 400, "template_refused", "messages", "this model has no template that we know; wanted:"
      " incipit serve with --chat-template FILE or --template NAME, or /v1/completions");
  return conversations_ids(&f->j->m, f->s->by, f->s->o->t, turn, n, 0, true, &f->j->prompt[0].list, &why)
    || serve_refuse(f->r, 400, "template_refused", "messages", "%s", why.text);
}

static bool read_talk(struct field_reader *f, struct turn *turn, struct bytes *said, size_t n)
{
  char path[120];
  for (size_t i = 0; i < n; i++) {
    if (!read_message(f, i, json_array_get(f->messages, i), &turn[i].who, &said[i])) return false;
    turn[i].text = said[i].n > 0 ? (const char *) said[i].byte : "", turn[i].n = said[i].n;
  }
  return turn[n - 1].who == ROLE_USER || serve_refuse(f->r, 400, "invalid_value", path_of(path, n - 1, "role"),
    "the last message is not the user's; wanted: a question to answer");
}

/* the model's name is asked for between the fields and the template */
static bool is_served(struct field_reader *f)
{
  json_t *v = json_object_get(f->j->body, "model");
  if (v == NULL || json_is_null(v) || strcmp(json_string_value(v), f->s->name) == 0) return true;
  return serve_refuse(f->r, 404, "model_not_found", "model", "there is no model `%.100s'; wanted: %.80s", json_string_value(v), f->s->name);
}

static bool read_messages_now(struct field_reader *f)
{
  size_t n = json_array_size(f->messages);
  struct turn *turn = memory_alloc(&f->j->m, MEMORY_OTHER, n, sizeof *turn, &f->r->why);
  struct bytes *said = turn == NULL ? NULL : memory_alloc(&f->j->m, MEMORY_OTHER, n, sizeof *said, &f->r->why);
  bool ok = said != NULL ? open_prompts(f, 1) && read_talk(f, turn, said, n) && is_served(f) && set_turns(f, turn, n) : no_memory(f);
  for (size_t i = 0; said != NULL && i < n; i++) bytes_free(&f->j->m, &said[i]);
  memory_free(&f->j->m, said);
  memory_free(&f->j->m, turn);
  return ok;
}

/* ---- what an answer must match */

static bool compile(struct field_reader *f, struct serve_prompt *p)
{
  struct memory *m = &f->j->m;
  struct error why;
  const char *param = f->grammar != NULL ? "grammar" : "response_format";
  if (f->regex != NULL) param = "regex";
  json_t *v = f->regex != NULL ? f->regex : f->grammar;
  if (f->regex != NULL) p->must = constraint_regex(m, json_string_value(v), json_string_length(v), &why);
  else if (f->grammar != NULL) p->must = constraint_grammar(m, "grammar", json_string_value(v), json_string_length(v), &why);
  else p->must = constraint_grammar(m, "json_object", constraint_json, strlen(constraint_json), &why);
  if (p->must == NULL) return serve_refuse(f->r, 400, "invalid_value", param, "%s", why.text);
  if (f->s->words == NULL) f->s->words = constraint_setup_words(f->s->o, &f->s->m, &why);
  if (f->s->words == NULL || !constraint_setup_bind(f->s->o, m, f->s->words, p->must, &p->list, &why))
    return serve_refuse(f->r, 400, "invalid_value", param, "%s", why.text);
  /* one cursor is opened here, to see whether the limit is enough */
  struct constraint_cursor b = { .c = NULL };
  const struct model_config *config = &f->s->o->lm->config;
  size_t most = f->s->context - p->list.n + 1, limit = f->j->max_tokens < most ? f->j->max_tokens : most;
  if (!constraint_cursor_open(&b, m, p->must, config->vocab_size, limit, config->eos, f->j->ignore_eos ? 0 : config->n_eos, &why))
    return serve_refuse(f->r, 400, "invalid_value", param, "%s", why.text);
  constraint_cursor_close(&b, m);
  return true;
}

static bool measure(struct field_reader *f)
{
  struct serve_job *j = f->j;
  for (size_t i = 0; i < j->n_prompts; i++)
    if (j->prompt[i].list.n > f->s->context)
      return serve_refuse(f->r, 400, "context_length_exceeded", j->chat ? "messages" : "prompt",
        "the prompt has %zu tokens; the context holds %zu", j->prompt[i].list.n, f->s->context);
  if (f->regex == NULL && f->grammar == NULL && !f->json_object) return true;
  if (f->s->o->t == NULL) return serve_refuse(f->r, 400, "invalid_value", "response_format", "this model has no tokenizer that we know");
  for (size_t i = 0; i < j->n_prompts; i++)
    if (!compile(f, &j->prompt[i])) return false;
  return true;
}

/* room for the log-probabilities of the prompts */
static bool open_scores(struct field_reader *f)
{
  struct serve_job *j = f->j;
  for (size_t i = 0; j->echo && j->logprobs && i < j->n_prompts; i++) {
    j->prompt[i].noted = memory_alloc(&j->m, MEMORY_OTHER, j->prompt[i].list.n * (1 + j->k), sizeof *j->prompt[i].noted, &f->r->why);
    if (j->prompt[i].noted == NULL) return no_memory(f);
    j->prompt[i].scored = 1;
  }
  return true;
}

static bool fill(struct field_reader *f)
{
  struct serve_job *j = f->j;
  struct error why;
  if (!read_fields(f)) return false;
  if (j->chat && f->max == NULL && f->max_completion == NULL) j->max_tokens = SIZE_MAX;
  if (j->k > f->s->o->lm->config.vocab_size) j->k = f->s->o->lm->config.vocab_size;
  bool ok = j->chat ? read_messages_now(f) : read_prompts(f) && is_served(f);
  if (ok && !sampling_check(&j->s, f->s->o->lm->config.vocab_size, &why))
    ok = serve_refuse(f->r, 400, "invalid_value", "", "%s", why.text);
  return ok && measure(f) && open_scores(f);
}

struct serve_job *serve_job_open(struct serve_model *s, bool chat, const char *body, size_t n, struct serve_refusal *r)
{
  json_t *object = serve_read_body(body, n, r);
  struct serve_job *j = object == NULL ? NULL : malloc(sizeof *j); /* it counts its memory, so nobody can count it */
  if (object != NULL && j == NULL) serve_refuse(r, 500, "internal_error", "", "there is no memory left for this request");
  if (j == NULL) {
    json_decref(object);
    return NULL;
  }
  *j = (struct serve_job) { .model = s, .chat = chat, .body = object, .per_prompt = 1, .max_tokens = USUAL_TOKENS,
    .created = (uint64_t) time(NULL), .came = timing_seconds() };
  sampler_setup_defaults(&j->s, &s->o->lm->config.sampling);
  struct field_reader f = { .s = s, .j = j, .r = r };
  if (fill(&f)) return j;
  serve_job_close(j);
  return NULL;
}

void serve_job_close(struct serve_job *j)
{
  struct memory *m = &j->m;
  for (size_t i = 0; i < j->n_prompts && j->prompt != NULL; i++) {
    bytes_free(m, &j->prompt[i].text);
    ids_free(m, &j->prompt[i].list);
    constraint_free(j->prompt[i].must);
    memory_free(m, j->prompt[i].noted);
  }
  for (size_t i = 0; i < j->n && j->choice != NULL; i++) {
    memory_free(m, j->choice[i].token);
    memory_free(m, j->choice[i].noted);
    bytes_free(m, &j->choice[i].text);
  }
  memory_free(m, j->prompt), memory_free(m, j->choice);
  memory_free(m, j->bias), memory_free(m, j->biased);
  memory_free(m, j->stop);
  json_decref(j->body);
  free(j);
}
