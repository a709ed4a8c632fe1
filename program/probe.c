/* probe.c -- incipit probe KIND: questions in JSON, one a line, answered one a line.

   The contract, which programs in other languages rely on: every line gets exactly one answer, in
   order; an answer is computed whole before its first character is written, so that a failure
   half-way is an error line ({"error":"..."}) and not half an answer; no answer depends on the
   lines before it. The output is emptied after each line, since the other side may wait for it.

   Checks (probe_request.c) come before anything is computed; an answering function writes only
   after its last calculation has succeeded. To add a kind, write one function, its list of keys,
   and a row in kind_table. The kinds about sampling, searches and stopping have files of their
   own: probe_sample.c, probe_beam.c, probe_stop.c, probe_speculate.c, probe_template.c; they look at questions and never back here. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "model/quantization.h"
#include "safetensors/excerpt.h"
#include "safetensors/jsonfile.h"
#include "safetensors/tensor_file.h"
#include "command.h"
#include "probe.h"

/* A kind: what must be open for it (NEED_...), its keys, and the function that answers. */
struct kind_row { const char *name; unsigned needs;
  const struct key_row *keys; size_t n_keys;
  bool (*answer)(struct probe_request *q); };

/* The keys of each kind. */
static const struct key_row tokenize_keys[] = {
  { .name = "text", .letter = 's', .required = true }, { .name = "add_special", .letter = 'b' },
  { .name = "parse_special", .letter = 'b' },
};
static const struct key_row detokenize_keys[] = {
  { .name = "ids", .letter = 'a', .required = true }, { .name = "skip_special", .letter = 'b' },
};
static const struct key_row ids_keys[] = { { .name = "ids", .letter = 'a', .required = true } };
static const struct key_row train_keys[] = {
  { .name = "text", .letter = 's', .required = true }, { .name = "pattern", .letter = 'p' },
  { .name = "merges", .letter = 'n', .required = true },
};
static const struct key_row forward_keys[] = {
  { .name = "ids", .letter = 'a', .required = true }, { .name = "rows", .letter = 'r' },
  { .name = "chunk", .letter = 'n' }, { .name = "cache", .letter = 'b' },
  { .name = "mates", .letter = 'a' },
};
static const struct key_row inspect_keys[] = {
  { .name = "file", .letter = 's', .required = true } };
static const struct key_row quantize_keys[] = {
  { .name = "type", .letter = 's', .required = true }, { .name = "x", .letter = 'a' },
  { .name = "hex", .letter = 's' },
};

static const struct key_row generate_keys[] = {
  { .name = "ids", .letter = 'a', .required = true },
  { .name = "max_tokens", .letter = 'n', .required = true }, { .name = "params", .letter = 'o' },
  { .name = "seed", .letter = 'n' }, { .name = "sequence", .letter = 'u' },
  { .name = "stop", .letter = 'a' }, { .name = "include_stop", .letter = 'b' },
  { .name = "min_tokens", .letter = 'n' }, { .name = "eos", .letter = 'e' },
  { .name = "cache", .letter = 'b' }, { .name = "chunk", .letter = 'n' },
  { .name = "speculate", .letter = 'n' },
};

static const struct key_row speculative_keys[] = {
  { .name = "p", .letter = 'a', .required = true }, { .name = "q", .letter = 'a', .required = true },
};
static const struct key_row process_keys[] = {
  { .name = "op", .letter = 's', .required = true }, { .name = "params", .letter = 'o' },
  { .name = "ids", .letter = 'a' }, { .name = "logits", .letter = 'a', .required = true },
};
static const struct key_row sample_keys[] = {
  { .name = "logits", .letter = 'a', .required = true }, { .name = "ids", .letter = 'a' },
  { .name = "prompt_length", .letter = 'n' }, { .name = "params", .letter = 'o' },
  { .name = "seed", .letter = 'n' }, { .name = "sequence", .letter = 'u' },
  { .name = "position", .letter = 'u' },
};
static const struct key_row philox_keys[] = {
  { .name = "key", .letter = 'a', .required = true },
  { .name = "counter", .letter = 'a', .required = true },
};
static const struct key_row stop_keys[] = {
  { .name = "pieces", .letter = 'a' }, { .name = "pieces_hex", .letter = 'a' },
  { .name = "stop", .letter = 'a' }, { .name = "include_stop", .letter = 'b' },
  { .name = "min_tokens", .letter = 'n' },
};

static const struct key_row template_keys[] = {
  { .name = "template", .letter = 's', .required = true }, { .name = "messages", .letter = '*', .required = true },
  { .name = "tools", .letter = 'e' }, { .name = "documents", .letter = 'e' }, { .name = "kwargs", .letter = 'o' },
  { .name = "add_generation_prompt", .letter = 'b' }, { .name = "continue_final_message", .letter = '*' },
  { .name = "now", .letter = 'p' }, { .name = "spans", .letter = 'b' },
};

static const struct key_row beam_keys[] = {
  { .name = "V", .letter = 'n' }, { .name = "P", .letter = 'n' },
  { .name = "table", .letter = 'a' },
  { .name = "prompt", .letter = 'a', .required = true },
  { .name = "eos", .letter = 'a', .required = true },
  { .name = "max_length", .letter = 'n', .required = true },
  { .name = "num_beams", .letter = 'n', .required = true },
  { .name = "num_return_sequences", .letter = 'n' }, { .name = "length_penalty", .letter = 'x' },
  { .name = "early_stopping", .letter = '*' }, { .name = "processors", .letter = 'a' },
  { .name = "case", .letter = '*' }, { .name = "pad", .letter = '*' },
};

/* Chunk i is between end i-1 and end i, empty where they are equal; what comes after the last
   end was flushed. A text of no bytes has no block, and to a null pointer C adds not even a
   zero; so an empty string takes its place. (A fuzzer asked for the chunks of no ids.) */
static void put_chunks(struct json_writer *j, const struct bytes *all,
  const struct ids *ends)
{
  size_t from = 0;
  const unsigned char *text = all->n > 0 ? all->byte
    : (const unsigned char *) "";
  put_open_as(j, "chunks", '[');
  for (size_t i = 0; i < ends->n; from = ends->id[i++])
    writer_hex(j, text + from, ends->id[i] - from);
  writer_close(j, ']');
  put_hex_as(j, "flush", text + from, all->n - from);
}

/* add_special and parse_special are two keys: a text from a stranger may contain the name of an
   end token, and must not be ended by it */
static bool handle_tokenize(struct probe_request *q)
{
  struct memory *m = q->o->m;
  struct ids list = { NULL, 0, 0 };
  size_t n;
  const char *text = request_text(q, "text", &n);
  bool ok = tokenizer_encode(q->o->t, m, text, n,
    request_flag(q, "add_special", false),
    request_flag(q, "parse_special", false), &list, q->why);
  if (ok) {
    put_ids_as(&q->out, "ids", list.id, list.n);
  }
  ids_free(m, &list);
  return ok;
}

/* hex and text: the text alone cannot say what its broken parts have been */
static bool handle_detokenize(struct probe_request *q)
{
  struct memory *m = q->o->m;
  struct ids list = { NULL, 0, 0 };
  struct bytes text = { NULL, 0, 0 };
  bool ok = request_ids(q, "ids", &list)
    && tokenizer_decode(q->o->t, m, list.id, list.n,
      request_flag(q, "skip_special", false), &text, q->why);
  if (ok) {
    put_hex_as(&q->out, "hex", text.byte, text.n);
    put_text_as(&q->out, "text", text.byte, text.n);
  }
  bytes_free(m, &text);
  ids_free(m, &list);
  return ok;
}

/* which bytes can be released after each id: ids are fed one at a time, as generate does it */
static bool handle_stream(struct probe_request *q)
{
  struct memory *m = q->o->m;
  struct ids list = { NULL, 0, 0 }, ends = { NULL, 0, 0 };
  struct bytes all = { NULL, 0, 0 }, fresh = { NULL, 0, 0 };
  struct stream held = { .n = 0 };
  bool ok = request_ids(q, "ids", &list), begun = false;
  for (size_t i = 0; ok && i < list.n; i++) {
    fresh.n = 0;
    ok = tokenizer_decode_next(q->o->t, m, list.id[i], false, &begun,
        &fresh, q->why)
      && stream_feed(m, &held, fresh.byte, fresh.n, &all, q->why)
      && ids_push(m, &ends, (uint32_t) all.n, q->why);
  }
  ok = ok && stream_flush(m, &held, &all, q->why);
  if (ok) put_chunks(&q->out, &all, &ends);
  bytes_free(m, &all);
  bytes_free(m, &fresh);
  ids_free(m, &list);
  ids_free(m, &ends);
  return ok;
}

/* every merge makes a text shorter by at least one id, so no more than n are learnt or given
   room, however many are asked for */
static bool handle_train(struct probe_request *q)
{
  struct memory *m = q->o->m;
  struct bpe_merge *merge = NULL;
  size_t n, length, made = 0, max = (size_t) request_count(q, "merges");
  const char *text = request_text(q, "text", &n);
  const char *pattern = request_text(q, "pattern", &length);
  if (max > n) max = n;
  if (pattern != NULL && strlen(pattern) != length)
    return error_say(q->why, "\"pattern\" contains U+0000");
  if (!bpe_train(m, text, n, pattern, max, &merge, &made, q->why))
    return false;
  put_open_as(&q->out, "merges", '[');
  for (size_t k = 0; k < made; k++) {
    uint32_t pair[2] = { merge[k].left, merge[k].right };
    writer_ids(&q->out, pair, 2);
  }
  writer_close(&q->out, ']');
  bpe_forget(m, merge);
  return true;
}

static bool row_from(const struct probe_request *q, json_t *list, size_t i, size_t n, size_t *row)
{
  json_t *v = json_array_get(list, i);
  json_int_t at = json_integer_value(v);
  if (!json_is_integer(v) || at < 0 || (size_t) at >= n)
    return error_say(q->why, "\"rows\"[%zu] is no row; wanted: an integer from 0 to %zu", i, n - 1);
  *row = (size_t) at;
  return true;
}

/* "rows" is last, all, or a list of positions in which one may come twice; it becomes a list of
   indices. A word is compared with its length, since it may go on after a U+0000. On failure
   nothing is held. */
static bool rows_of(const struct probe_request *q, size_t n, size_t **which, size_t *wanted)
{
  json_t *v = json_object_get(q->in, "rows");
  const char *word = v == NULL ? "last" : json_string_value(v);
  bool all = word != NULL && strcmp(word, "all") == 0;
  bool whole = word == NULL || v == NULL || strlen(word) == json_string_length(v);
  if (!whole || (word != NULL && !all && strcmp(word, "last") != 0))
    return error_say(q->why, "\"rows\" is `%s'; wanted: last, all, or a list", word);
  if (word == NULL) *wanted = json_array_size(v);
  else *wanted = all ? n : 1;
  *which = memory_alloc(q->o->m, MEMORY_OTHER, *wanted, sizeof **which, q->why);
  if (*which == NULL) return false;
  bool ok = true;
  for (size_t i = 0; ok && i < *wanted; i++)
    if (word == NULL) ok = row_from(q, v, i, n, &(*which)[i]);
    else (*which)[i] = all ? i : n - 1;
  if (ok) return true;
  memory_free(q->o->m, *which);
  *which = NULL;
  return false;
}

static bool fits_context(const struct probe_request *q, const char *key,
  size_t n)
{
  size_t context = q->o->lm->config.n_positions;
  if (n == 0) return error_say(q->why, "\"%s\" has a text"
      " without ids; wanted: 1 or more", key);
  return n <= context || error_say(q->why, "\"%s\" has a text"
    " of %zu ids; the context holds %zu", key, n, context);
}

static bool take_mate(const struct probe_request *q, json_t *from,
  struct ids *list)
{
  if (!json_is_array(from))
    return error_say(q->why, "\"mates\" has something"
      " that is no list of ids");
  return request_ids_from(q, from, "mates", list)
    && fits_context(q, "mates", list->n);
}

/* A text and its mates, whose rows go through the same passes; number 0 is the one that was
   asked about. No mate, no chunk and no cache may change an answer: here anybody can try. */
struct request_batch { struct ids *of; size_t n; struct store *s;
  struct row *rows; };

static bool open_batch(const struct probe_request *q, struct request_batch *all)
{
  json_t *mates = json_object_get(q->in, "mates");
  size_t n = json_array_size(mates) + 1, total = 0;
  struct memory *m = q->o->m;
  all->of = memory_alloc(m, MEMORY_OTHER, n, sizeof *all->of, q->why);
  if (all->of == NULL) return false;
  all->n = n;
  bool ok = request_ids(q, "ids", &all->of[0])
    && fits_context(q, "ids", all->of[0].n);
  for (size_t i = 1; ok && i < n; i++)
    ok = take_mate(q, json_array_get(mates, i - 1), &all->of[i]);
  for (size_t i = 0; i < n; i++) total += all->of[i].n;
  return ok && n <= UINT32_MAX
    && (all->rows = memory_alloc(m, MEMORY_OTHER, total,
      sizeof *all->rows, q->why)) != NULL
    && (all->s = cache_open(m, &q->o->lm->config, (uint32_t) n,
      &(struct cache_options) { .rows = 0 }, q->why)) != NULL;
}

/* even if the gathering stopped half-way: what is not there is null or empty */
static void close_batch(const struct probe_request *q, struct request_batch *all)
{
  struct memory *m = q->o->m;
  memory_free(m, all->rows);
  for (size_t i = 0; i < all->n; i++) ids_free(m, &all->of[i]);
  memory_free(m, all->of);
  store_close(all->s);
}

/* One pass over the positions from <= i < to of each text that has them. The rows of text 0 come
   first, so a row's number in the pass is its position less from; those among the wanted that
   are in this pass get their logits. */
static bool run_batch(const struct probe_request *q, struct request_batch *all,
  size_t from, size_t to, const size_t *which, size_t wanted,
  float *logits)
{
  struct session *o = q->o;
  struct pass *p = NULL;
  size_t n = 0;
  for (size_t s = 0; s < all->n; s++)
    for (size_t i = from; i < to && i < all->of[s].n; i++)
      all->rows[n++] = (struct row) { (uint32_t) s, (uint32_t) i,
        all->of[s].id[i] };
  bool ok = model_forward(&o->e, o->lm, all->s, all->rows, n, &p, q->why);
  for (size_t i = 0; ok && i < wanted; i++) {
    size_t at = which[i] - from;
    if (which[i] < from || which[i] >= to) continue;
    ok = model_logits(&o->e, o->lm, p, &at, 1,
      logits + i * o->lm->config.vocab_size, q->why);
  }
  pass_close(p);
  return ok;
}

/* With "cache" the passes go over the text once, in chunks if they are wanted; without it each
   wanted row has a pass of its own over all ids up to it. For 5 ids of which all rows are
   wanted: one pass over 5 rows; with a chunk of 2 three passes over 2, 2 and 1; without the
   cache five, over 15 rows. Three prices for one answer. */
static bool find_logits(const struct probe_request *q, struct request_batch *all,
  const size_t *which, size_t wanted, float *logits)
{
  size_t n = all->of[0].n, part = (size_t) request_count(q, "chunk");
  size_t v = q->o->lm->config.vocab_size;
  if (part == 0 || part > n) part = n;
  if (request_flag(q, "cache", true)) {
    for (size_t from = 0; from < n; from += part)
      if (!run_batch(q, all, from, from + part < n ? from + part : n,
          which, wanted, logits)) return false;
    return true;
  }
  for (size_t i = 0; i < wanted; i++) {
    store_clear(all->s);
    if (!run_batch(q, all, 0, which[i] + 1, &which[i], 1,
        logits + i * v)) return false;
  }
  return true;
}

static void put_logits(struct json_writer *j, const float *logits,
  size_t wanted, size_t v)
{
  put_open_as(j, "logits", '[');
  for (size_t i = 0; i < wanted; i++) {
    writer_open(j, '[');
    for (size_t k = 0; k < v; k++) writer_float(j, logits[i * v + k]);
    writer_close(j, ']');
  }
  writer_close(j, ']');
}

/* Everything that can fail is before put_logits, as for every kind; the numbers of an answer may be
   more than the model has, so they are kept once and written straight. */
static bool handle_forward(struct probe_request *q)
{
  struct memory *m = q->o->m;
  struct request_batch all = { NULL, 0, NULL, NULL };
  size_t *which = NULL, wanted = 0, v = q->o->vocab_size;
  float *logits = NULL;
  bool ok = open_batch(q, &all)
    && rows_of(q, all.of[0].n, &which, &wanted);
  ok = ok && (logits = memory_alloc(m, MEMORY_OTHER, wanted * v,
      sizeof *logits, q->why)) != NULL
    && find_logits(q, &all, which, wanted, logits);
  if (ok) put_logits(&q->out, logits, wanted, v);
  memory_free(m, logits);
  memory_free(m, which);
  close_batch(q, &all);
  return ok;
}

/* The first token has no predecessor, hence null in its place. Sums are doubles: the logarithms
   of a long text, added in float32, would lose the digits that this question is about. */
static bool handle_logprob(struct probe_request *q)
{
  struct session *o = q->o;
  struct ids list = { NULL, 0, 0 };
  double *logprob = NULL, sum = 0;
  bool ok = request_ids(q, "ids", &list) && fits_context(q, "ids", list.n)
    && (logprob = memory_alloc(o->m, MEMORY_OTHER, list.n,
      sizeof *logprob, q->why)) != NULL
    && model_logprobs(&o->e, o->lm, o->s, list.id, list.n, logprob, &sum,
      q->why);
  if (ok) {
    put_open_as(&q->out, "logprobs", '[');
    writer_word(&q->out, "null");
    for (size_t i = 1; i < list.n; i++)
      writer_double(&q->out, logprob[i]);
    writer_close(&q->out, ']');
    put_double_as(&q->out, "sum", sum);
  }
  memory_free(o->m, logprob);
  ids_free(o->m, &list);
  return ok;
}

/* stop_reason is the string that stopped the text, or the id */
static void put_continuation(struct probe_request *q,
  const struct continuation *text, const struct text_stream *flow)
{
  struct json_writer *j = &q->out;
  const uint32_t *id = text->text.id;
  size_t n = text->text.n;
  bool stopped = text->ended == FINISH_STOP;
  put_ids_as(j, "ids", id + text->n_prompt, n - text->n_prompt);
  put_text_as(j, "text", flow->text.n > 0 ? (const char *) flow->text.byte : "",
    flow->text.n);
  put_word_as(j, "finish", stopped ? "\"stop\"" : "\"length\"");
  writer_key(j, "stop_reason");
  if (flow->found != NULL) writer_text(j, flow->found->byte, flow->found->n);
  else if (stopped) writer_count(j, id[n - 1]);
  else writer_word(j, "null");
}

/* The whole loop, as generate runs it. An empty list of end tokens means that nothing ends the
   text but its length; none given, the model's own. */
static bool run_text(struct probe_request *q, const struct ids *list,
  const struct ids *eos, struct sampler *d, struct stop_setup *ends)
{
  struct session *o = q->o;
  const struct model_config *config = &o->lm->config;
  struct generate_context with = { &o->e, o->lm, o->s, o->m };
  struct continuation text = { .n_prompt = 0 };
  bool own = !json_is_array(json_object_get(q->in, "eos"));
  struct guess_setup guess;
  guess_setup_lookup(&guess, (size_t) request_count(q, "speculate"));
  struct generate_options want = {
    .max_new_tokens = (size_t) request_count(q, "max_tokens"),
    .eos = own ? config->eos : eos->id,
    .n_eos = own ? config->n_eos : eos->n,
    .recall = request_flag(q, "cache", true) ? store_match_prefix : NULL,
    .chunk = (size_t) request_count(q, "chunk"),
    .select = sampler_choose, .accept = sampler_accept, .select_ctx = d,
    .stop = criteria_should_stop, .stop_ctx = &ends->all,
    .min_tokens = ends->flow.min_tokens };
  bool ok = guess_setup_generate(&guess, &with, list, &want, &text, q->why);
  if (ok) {
    text_stream_end(&ends->flow);
    put_continuation(q, &text, &ends->flow);
  }
  continuation_free(o->m, &text);
  return ok;
}

/* The settings of the stops are set even if opening failed: ends is closed in any case. */
static bool write_answer(struct probe_request *q, const struct ids *list,
  const struct ids *eos, const struct choices *x,
  const struct stop_string *stop, size_t n)
{
  struct session *o = q->o;
  struct stop_setup ends;
  struct sampler d = { .s = x->s, .seed = request_count(q, "seed"),
    .sequence = (uint32_t) request_count(q, "sequence") };
  if (n > 0 && o->t == NULL) return error_say(q->why, "\"stop\" has strings,"
      " and the model has no tokenizer");
  bool ok = stop_setup_open(&ends, o->m, o->t, stop, n, NULL, q->why);
  ends.flow.include_stop = request_flag(q, "include_stop", false);
  ends.flow.min_tokens = (size_t) request_count(q, "min_tokens");
  ok = ok && stop_setup_begin(&ends, list->id, list->n, q->why)
    && funnel_open(&d.f, o->m, o->e.k, o->vocab_size, q->why)
    && run_text(q, list, eos, &d, &ends);
  funnel_close(&d.f);
  stop_setup_close(&ends);
  return ok;
}

static bool handle_generate(struct probe_request *q)
{
  struct memory *m = q->o->m;
  struct ids list = { NULL, 0, 0 }, eos = { NULL, 0, 0 };
  struct stop_string *stop = NULL;
  struct choices x;
  size_t n = 0;
  bool ok = choices_read(&x, q, json_object_get(q->in, "params"), 0)
    && request_ids(q, "ids", &list) && request_ids(q, "eos", &eos)
    && fits_context(q, "ids", list.n) && request_stops(q, &stop, &n)
    && write_answer(q, &list, &eos, &x, stop, n);
  memory_free(m, stop);
  choices_free(m, &x);
  ids_free(m, &list);
  ids_free(m, &eos);
  return ok;
}

/* Opening a file of tensors validates all of it. A file that is refused is an error line, and
   the program goes on. */
static bool handle_inspect(struct probe_request *q)
{
  size_t length;
  uint64_t parameters = 0;
  const char *path = request_text(q, "file", &length);
  if (strlen(path) != length)
    return error_say(q->why, "\"file\" contains U+0000");
  struct tensor_file *w = tensor_file_open(q->o->m, path, q->why);
  if (w == NULL) return false;
  size_t n = tensor_file_count(w);
  for (size_t i = 0; i < n; i++)
    parameters += tensor_file_at(w, i)->elements;
  put_word_as(&q->out, "ok", "true");
  put_count_as(&q->out, "tensors", n);
  put_count_as(&q->out, "parameters", parameters);
  tensor_file_close(q->o->m, w);
  return true;
}

/* Floats are no blocks. */
static bool pack_type(const struct probe_request *q, enum weight_type *type)
{
  size_t n;
  char wanted[TYPES_TEXT];
  const char *name = request_text(q, "type", &n);
  for (unsigned t = WEIGHT_F16; t < N_WEIGHT_TYPES; t++)
    if (strlen(number_types[t].word) == n && memcmp(name, number_types[t].word, n) == 0) {
      *type = (enum weight_type) t;
      return true;
    }
  kernels_list_words(WEIGHTS_ALL & ~(1u << WEIGHT_F32), wanted);
  return error_say(q->why, "\"type\" is no type of blocks; wanted: %s", wanted);
}

/* a number is rounded once to float, and must fit */
static bool pack_numbers(struct probe_request *q, enum weight_type type,
  json_t *from, float *x, unsigned char *packed)
{
  size_t n = json_array_size(from);
  /* the scales of a superblock are searched for, and every program finds others */
  if (number_types[type].block > WEIGHT_BLOCK)
    return error_say(q->why, "\"type\" is %s, whose blocks have no one right form; wanted: \"hex\"",
      number_types[type].word);
  for (size_t i = 0; i < n; i++) {
    json_t *v = json_array_get(from, i);
    x[i] = (float) json_number_value(v);
    if (!json_is_number(v) || x[i] - x[i] != 0)
      return error_say(q->why, "\"x\"[%zu] is not finite as a float; wanted:"
        " a number", i);
  }
  if (!weights_encode(type, x, n, packed, q->why)) return false;
  put_hex_as(&q->out, "hex", packed, weight_row_bytes(type, n));
  return true;
}

static bool unpack_bytes(struct probe_request *q, enum weight_type type,
  const char *text, size_t digits, float *x, unsigned char *packed)
{
  size_t whole = number_types[type].block, one = number_types[type].bytes;
  size_t n = digits / 2 / one * whole;
  if (!request_hex(q, text, digits, packed)) return false;
  if (digits / 2 % one != 0)
    return error_say(q->why, "%zu bytes in %s; wanted: a multiple of %zu",
      digits / 2, number_types[type].name, one);
  for (size_t i = 0; i < n; i++)
    x[i] = tensor_number((struct tensor) { packed, type }, i);
  put_open_as(&q->out, "x", '[');
  for (size_t i = 0; i < n; i++) writer_float(&q->out, x[i]);
  writer_close(&q->out, ']');
  return true;
}

/* room for both sides is taken for the larger of two estimates: as many numbers as were given,
   or a digit for each byte */
static bool handle_quantize(struct probe_request *q)
{
  enum weight_type f = WEIGHT_F32;
  json_t *from = json_object_get(q->in, "x");
  size_t digits, n;
  const char *text = request_text(q, "hex", &digits);
  if (!pack_type(q, &f)) return false;
  if ((from == NULL) == (text == NULL))
    return error_say(q->why, "wanted: either \"x\" or \"hex\"");
  n = (text == NULL ? json_array_size(from) : digits) + WEIGHT_SUPER_BLOCK;
  float *x = memory_alloc(q->o->m, MEMORY_OTHER, n, sizeof *x, q->why);
  unsigned char *packed = x == NULL ? NULL
    : memory_alloc(q->o->m, MEMORY_OTHER, n, sizeof *x, q->why);
  bool ok = packed != NULL && (text == NULL
    ? pack_numbers(q, f, from, x, packed)
    : unpack_bytes(q, f, text, digits, x, packed));
  memory_free(q->o->m, packed);
  memory_free(q->o->m, x);
  return ok;
}

/* The kinds. */
#define KEYS(list) .keys = list, .n_keys = sizeof list / sizeof *list
static const struct kind_row kind_table[] = {
  { .name = "tokenize", .needs = SESSION_NEED_TOKENIZER, KEYS(tokenize_keys), .answer = handle_tokenize },
  { .name = "detokenize", .needs = SESSION_NEED_TOKENIZER, KEYS(detokenize_keys),
    .answer = handle_detokenize },
  { .name = "stream", .needs = SESSION_NEED_TOKENIZER, KEYS(ids_keys),
  .answer = handle_stream },
  { .name = "train-bpe", KEYS(train_keys), .answer = handle_train },
  { .name = "forward", .needs = SESSION_NEED_MODEL | SESSION_MAY_TOKENIZER,
  KEYS(forward_keys),
    .answer = handle_forward },
  { .name = "logprob", .needs = SESSION_NEED_MODEL | SESSION_MAY_TOKENIZER,
  KEYS(ids_keys),
    .answer = handle_logprob },
  { .name = "generate", .needs = SESSION_NEED_MODEL | SESSION_MAY_TOKENIZER,
  KEYS(generate_keys),
    .answer = handle_generate },
  { .name = "inspect", KEYS(inspect_keys), .answer = handle_inspect },
  { .name = "process", KEYS(process_keys), .answer = probe_process },
  { .name = "sample", KEYS(sample_keys), .answer = probe_sample },
  { .name = "philox", KEYS(philox_keys), .answer = probe_philox },
  { .name = "beam", .needs = SESSION_NEED_MODEL | SESSION_MAY_TOKENIZER, KEYS(beam_keys),
    .answer = probe_beam },
  { .name = "quantize", KEYS(quantize_keys), .answer = handle_quantize },
  { .name = "stop", KEYS(stop_keys), .answer = probe_stop },
  { .name = "speculative", KEYS(speculative_keys), .answer = probe_speculative },
  { .name = "template", KEYS(template_keys), .answer = probe_template },
};
enum { N_KINDS = sizeof kind_table / sizeof *kind_table };

const char *probe_kind_at(size_t i)
{
  return i < N_KINDS ? kind_table[i].name : NULL;
}

static bool handle_line(const struct kind_row *k, struct probe_request *q,
  const char *text, size_t n)
{
  q->in = jsonfile_object(text, n, q->why);
  if (q->in == NULL) return false;
  bool ok = request_check_keys(q->in, k->keys, k->n_keys, q->why)
    && k->answer(q);
  json_decref(q->in);
  return ok;
}

/* The brace that opens the answer is due before its first key; a function that fails has left
   nothing on the line, and the error begins with the same brace. */
static void serve_line(const struct kind_row *k, struct probe_request *q,
  const char *text, size_t n, bool fits)
{
  FILE *out = q->c->out;
  q->out = (struct json_writer) { out, '{' };
  q->vocab_size = q->o->vocab_size;
  bool ok = fits ? handle_line(k, q, text, n)
    : error_say(q->why, "the line does not fit into memory");
  if (!ok) {
    q->out = (struct json_writer) { out, '{' };
    put_words_as(&q->out, "error", q->why->text);
  }
  writer_close(&q->out, '}');
  writer_end(&q->out);
}

/* The room for lines is given back after a long one, so that one enormous question does not cost
   memory for ever. */
static int serve(const struct console *c, const struct kind_row *k,
  struct session *o, bool named)
{
  struct error why;
  struct probe_request q = { .c = c, .o = o, .named = named, .why = &why };
  struct bytes text = { NULL, 0, 0 };
  enum line_found found;
  int status = STATUS_DONE;
  errno = 0;
  while (status == STATUS_DONE
      && (found = jsonfile_line(c->in, c->memory, &text)) != LINE_NONE) {
    serve_line(k, &q, (const char *) text.byte, text.n,
      found == LINE_WHOLE);
    status = console_end(c, STATUS_DONE);
    if (text.cap > 1 << 20 || found == LINE_TOO_LONG)
      bytes_free(c->memory, &text);
  }
  if (status == STATUS_DONE && ferror(c->in)) {
    error_say(&why, "the standard input cannot be read: %s", strerror(errno));
    status = console_fail(c, &why);
  }
  bytes_free(c->memory, &text);
  return status;
}

/* Everything is open before the first line is read: a model that cannot be loaded is a sentence
   and a status, and no line has been taken. */
int cmd_probe(const struct console *c, const struct command_line *w)
{
  struct error why;
  struct session o;
  const char *list[N_KINDS];
  const struct kind_row *k = NULL;
  for (size_t i = 0; i < N_KINDS; i++) {
    list[i] = kind_table[i].name;
    if (strcmp(list[i], w->operand) == 0) k = &kind_table[i];
  }
  if (k == NULL) {
    char wrong[120], word[EXCERPT_MAX + 4];
    snprintf(wrong, sizeof wrong, "there is no kind `%s'",
      text_excerpt(w->operand, strlen(w->operand), 40, word));
    options_unknown(&why, wrong, "", options_suggest(w->operand, list, N_KINDS), "probe --help");
    return console_usage_error(c, &why);
  }
  int status = session_open(&o, c, w, k->needs, &why);
  if (status == STATUS_USAGE) return console_usage_error(c, &why);
  if (status != STATUS_DONE) return console_fail(c, &why);
  status = serve(c, k, &o, w->of[OPTION_MODEL].given);
  session_close(&o);
  return status;
}
