/* serve_answer.c -- what was written becomes JSON, as OpenAI's interface has it: whole, or piece by piece.

   An answer that is whole is made when its job is done, and nobody else touches the job. Of a stream the engine still writes
   the next tokens while we tell of the last ones: so a token, its candidates and its piece of text are copied under the
   engine's lock, and made into JSON without it. Pieces are those that the outflow has released, so no piece ends within a
   character or within what may become a stop string.

   What a token is called: its bytes as the decoder writes them at this place, if they are UTF-8 by themselves, else the word
   bytes: and each byte as \xNN. A special token has no bytes; among alternatives it goes by its name in the vocabulary, or two
   of them would be one key of an object. */

#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include "sampler_setup.h"
#include "serve.h"

bool serve_text_begin(struct serve_text *t)
{
  t->text = NULL, t->n = 0;
  t->out = open_memstream(&t->text, &t->n);
  return t->out != NULL;
}

bool serve_text_end(struct serve_text *t, struct bytes *out, struct memory *m)
{
  bool ok = ferror(t->out) == 0;
  ok = fclose(t->out) == 0 && ok && bytes_push(m, out, t->text, t->n, NULL);
  free(t->text);
  return ok;
}

/* ---- tokens by name */

/* the bytes of a token at this place of a text; special: its name instead of nothing */
static bool spell(const struct serve_job *j, struct memory *m, uint32_t id, bool *begun, bool special, struct bytes *out)
{
  const struct tokenizer *t = j->model->o->t;
  struct error why;
  size_t n = 0;
  out->n = 0;
  if (t == NULL) return true;
  if (!tokenizer_decode_next(t, m, id, true, begun, out, &why)) return false;
  const unsigned char *name = special && out->n == 0 ? tokenizer_text(t, id, &n) : NULL;
  return n == 0 || bytes_push(m, out, name, n, &why);
}

static bool is_whole(const struct bytes *text)
{
  enum utf8_state state = UTF8_WHOLE;
  for (size_t at = 0; at < text->n && state == UTF8_WHOLE; ) at += utf8_next(text->byte + at, text->n - at, &state);
  return state == UTF8_WHOLE;
}

/* the name of a token in JSON; as a key it is written with its colon */
static void put_name(struct json_writer *j, const struct bytes *text, bool key)
{
  if (is_whole(text)) writer_text(j, text->n > 0 ? (const void *) text->byte : "", text->n);
  else {
    char *name = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&name, &n);
    if (f != NULL) {
      fputs("bytes:", f);
      for (size_t i = 0; i < text->n; i++) fprintf(f, "\\x%02x", (unsigned) text->byte[i]);
      fclose(f);
    }
    writer_text(j, name != NULL ? name : "", n);
    free(name);
  }
  if (!key) return;
  putc(':', j->out);
  j->due = '\0';
}

/* code points, as writer_text writes them: one for each part that is no character */
static size_t count_points(const unsigned char *byte, size_t n)
{
  size_t points = 0;
  enum utf8_state state;
  for (size_t at = 0; at < n; points++) at += utf8_next(byte + at, n - at, &state);
  return points;
}

/* ---- log-probabilities */

/* Tokens of which something is told at once: first the prompt's, if it is echoed, then those that were written. noted[0] of each
   is the token itself; of the first of a prompt there is none. */
struct told {
  const struct candidate *noted;
  const uint32_t *id;
  size_t n, k;
  bool prompt;
};

struct teller { struct serve_job *j; struct memory *m; struct json_writer out; struct bytes name; bool ok; };

static bool lacks(const struct told *t, size_t i)
{
  return t->prompt && i == 0;
}

/* the four lists of completions go side by side, so the tokens are walked through four times */
static void put_tokens(struct teller *x, const struct told *t, bool begun)
{
  for (size_t i = 0; i < t->n; i++) {
    x->ok = spell(x->j, x->m, t->id[i], &begun, false, &x->name) && x->ok;
    put_name(&x->out, &x->name, false);
  }
}

static void put_own(struct teller *x, const struct told *t)
{
  for (size_t i = 0; i < t->n; i++)
    if (lacks(t, i)) writer_word(&x->out, "null");
    else writer_double(&x->out, t->noted[i * (1 + t->k)].logprob);
}

/* the likeliest, and the chosen one if it is none of them */
static void put_object(struct teller *x, const struct candidate *noted, size_t k, bool begun)
{
  bool chosen = false;
  writer_open(&x->out, '{');
  for (size_t i = 1; i <= k + 1; i++) {
    const struct candidate *c = i <= k ? &noted[i] : &noted[0];
    bool again = begun;
    if (i <= k) chosen = chosen || c->id == noted[0].id;
    else if (chosen) break;
    x->ok = spell(x->j, x->m, c->id, &again, true, &x->name) && x->ok;
    put_name(&x->out, &x->name, true);
    writer_double(&x->out, c->logprob);
  }
  writer_close(&x->out, '}');
}

static void put_top(struct teller *x, const struct told *t, bool begun)
{
  for (size_t i = 0; i < t->n; i++) {
    bool before = begun;
    x->ok = spell(x->j, x->m, t->id[i], &begun, false, &x->name) && x->ok;
    if (lacks(t, i) || t->k == 0) writer_word(&x->out, "null");
    else put_object(x, t->noted + i * (1 + t->k), t->k, before);
  }
}

static void put_offsets(struct teller *x, const struct told *t, bool begun, size_t *points)
{
  for (size_t i = 0; i < t->n; i++) {
    x->ok = spell(x->j, x->m, t->id[i], &begun, false, &x->name) && x->ok;
    writer_count(&x->out, *points);
    *points += count_points(x->name.byte, x->name.n);
  }
}

/* has anything been written when the tokens of t are over? */
static bool begun_after(struct teller *x, const struct told *t, bool begun)
{
  for (size_t i = 0; i < t->n && !begun; i++) x->ok = spell(x->j, x->m, t->id[i], &begun, false, &x->name) && x->ok;
  return begun;
}

/* n parts: the prompt's, and what was written */
static void put_completion_logprobs(struct teller *x, const struct told *t, size_t n, struct serve_choice *c)
{
  bool begun[3] = { c->begun };
  for (size_t i = 0; i < n; i++) begun[i + 1] = begun_after(x, &t[i], begun[i]);
  put_open_as(&x->out, "logprobs", '{');
  put_open_as(&x->out, "tokens", '[');
  for (size_t i = 0; i < n; i++) put_tokens(x, &t[i], begun[i]);
  writer_close(&x->out, ']');
  put_open_as(&x->out, "token_logprobs", '[');
  for (size_t i = 0; i < n; i++) put_own(x, &t[i]);
  writer_close(&x->out, ']');
  put_open_as(&x->out, "top_logprobs", '[');
  for (size_t i = 0; i < n; i++) put_top(x, &t[i], begun[i]);
  writer_close(&x->out, ']');
  put_open_as(&x->out, "text_offset", '[');
  for (size_t i = 0; i < n; i++) put_offsets(x, &t[i], begun[i], &c->points);
  writer_close(&x->out, ']');
  writer_close(&x->out, '}');
  c->begun = begun[n];
}

static void put_token_object(struct teller *x, uint32_t id, double logprob, bool *begun, bool special)
{
  x->ok = spell(x->j, x->m, id, begun, special, &x->name) && x->ok;
  writer_open(&x->out, '{');
  writer_key(&x->out, "token");
  put_name(&x->out, &x->name, false);
  put_double_as(&x->out, "logprob", logprob);
  put_open_as(&x->out, "bytes", '[');
  for (size_t i = 0; i < x->name.n; i++) writer_count(&x->out, x->name.byte[i]);
  writer_close(&x->out, ']');
}

static void put_chat_logprobs(struct teller *x, const struct told *t, struct serve_choice *c)
{
  put_open_as(&x->out, "logprobs", '{');
  put_open_as(&x->out, "content", '[');
  for (size_t i = 0; i < t->n; i++) {
    const struct candidate *noted = t->noted + i * (1 + t->k);
    bool before = c->begun;
    put_token_object(x, t->id[i], noted[0].logprob, &c->begun, false);
    put_open_as(&x->out, "top_logprobs", '[');
    for (size_t n = 1; n <= t->k; n++) {
      bool again = before;
      put_token_object(x, noted[n].id, noted[n].logprob, &again, true);
      writer_close(&x->out, '}');
    }
    writer_close(&x->out, ']');
    writer_close(&x->out, '}');
  }
  writer_close(&x->out, ']');
  writer_close(&x->out, '}');
}

/* the prompt's tokens come once, before the first that was written */
static void put_logprobs(struct teller *x, struct serve_choice *c, const struct told *written, bool first)
{
  struct told part[2];
  size_t n = 0;
  struct serve_prompt *p = c->prompt;
  if (x->j->chat) {
    put_chat_logprobs(x, written, c);
    return;
  }
  if (first && p->noted != NULL) part[n++] = (struct told) { p->noted, p->list.id, p->scored, x->j->k, true };
  part[n++] = *written;
  put_completion_logprobs(x, part, n, c);
}

/* ---- what all answers have */

static void put_head(struct json_writer *out, const struct serve_job *j, const char *object)
{
  char print[80];
  snprintf(print, sizeof print, "incipit-%.60s", j->model->build);
  put_words_as(out, "id", j->id);
  put_words_as(out, "object", object);
  put_count_as(out, "created", j->created);
  put_words_as(out, "model", j->model->name);
  put_words_as(out, "system_fingerprint", print);
}

static void put_usage(struct json_writer *out, const struct serve_job *j)
{
  size_t given = 0, written = 0, cached = 0;
  for (size_t i = 0; i < j->n_prompts; i++) given += j->prompt[i].list.n, cached += j->prompt[i].cached;
  for (size_t i = 0; i < j->n; i++) written += j->choice[i].n;
  put_open_as(out, "usage", '{');
  put_count_as(out, "prompt_tokens", given);
  put_count_as(out, "completion_tokens", written);
  put_count_as(out, "total_tokens", given + written);
  put_open_as(out, "prompt_tokens_details", '{');
  put_count_as(out, "cached_tokens", cached);
  writer_close(out, '}');
  writer_close(out, '}');
}

static const char *finish_word(const struct serve_choice *c)
{
  if (c->ended == FINISH_STOP) return "\"stop\"";
  return c->ended == FINISH_LENGTH ? "\"length\"" : "null";
}

/* an answer in a talk has no blanks at its beginning: they belong to a word, and stand at the beginning of a line */
static void skip_blanks(struct serve_choice *c, const unsigned char **byte, size_t *n)
{
  for (; c->job->chat && c->bare == c->shown && *n > 0 && **byte == ' '; c->bare++) {
    ++*byte, --*n;
    c->shown++;
  }
}

static bool has_failed(const struct serve_choice *c)
{
  return c->over && c->ended != FINISH_STOP && c->ended != FINISH_LENGTH;
}

const struct serve_choice *serve_failed(const struct serve_job *j)
{
  for (size_t i = 0; i < j->n; i++)
    if (has_failed(&j->choice[i])) return &j->choice[i];
  return NULL;
}

/* the ids of tokens n..., for the functions above */
static uint32_t *list_ids(struct memory *m, const struct serve_token *token, size_t n)
{
  uint32_t *id = memory_alloc(m, MEMORY_OTHER, n, sizeof *id, NULL);
  for (size_t i = 0; id != NULL && i < n; i++) id[i] = token[i].id;
  return id;
}

/* ---- an answer that is whole */

static void put_text(struct teller *x, struct serve_choice *c)
{
  struct json_writer *out = &x->out;
  const unsigned char *byte = c->text.byte;
  size_t n = c->text.n;
  skip_blanks(c, &byte, &n);
  if (x->j->chat) {
    put_open_as(out, "message", '{');
    put_words_as(out, "role", "assistant");
    put_text_as(out, "content", n > 0 ? (const void *) byte : "", n);
    put_word_as(out, "refusal", "null");
    writer_close(out, '}');
    return;
  }
  struct bytes all = { NULL, 0, 0 };
  const struct bytes *echo = &c->prompt->text;
  if (x->j->echo && echo->n > 0) x->ok = bytes_push(x->m, &all, echo->byte, echo->n, NULL) && x->ok;
  if (n > 0) x->ok = bytes_push(x->m, &all, byte, n, NULL) && x->ok;
  put_text_as(out, "text", all.n > 0 ? (const void *) all.byte : "", all.n);
  bytes_free(x->m, &all);
}

static void put_choice(struct teller *x, size_t i)
{
  struct serve_choice *c = &x->j->choice[i];
  writer_open(&x->out, '{');
  put_count_as(&x->out, "index", i);
  put_text(x, c);
  if (!x->j->logprobs) put_word_as(&x->out, "logprobs", "null");
  else {
    uint32_t *id = list_ids(x->m, c->token, c->n);
    struct told t = { c->noted, id, c->n, x->j->k, false };
    x->ok = id != NULL && x->ok;
    if (id != NULL) put_logprobs(x, c, &t, true);
    memory_free(x->m, id);
  }
  put_word_as(&x->out, "finish_reason", finish_word(c));
  writer_close(&x->out, '}');
}

bool serve_put_answer(struct serve_job *j, struct bytes *out, struct memory *m)
{
  struct serve_text t;
  if (!serve_text_begin(&t)) return false;
  struct teller x = { .j = j, .m = m, .out = { t.out, '\0' }, .ok = true };
  writer_open(&x.out, '{');
  put_head(&x.out, j, j->chat ? "chat.completion" : "text_completion");
  put_open_as(&x.out, "choices", '[');
  for (size_t i = 0; i < j->n; i++) put_choice(&x, i);
  writer_close(&x.out, ']');
  put_usage(&x.out, j);
  writer_close(&x.out, '}');
  writer_end(&x.out);
  bytes_free(m, &x.name);
  return serve_text_end(&t, out, m) && x.ok;
}

/* ---- a stream */

/* What is new of one choice, copied: tokens, their candidates, and the text that goes with them. */
struct news {
  struct serve_token token[1];
  struct candidate noted[1 + 20];
  size_t n; /* tokens: 0 or 1 */
  struct bytes text;
  bool over;
};

/* Under the lock. The last piece of a text may come after its last token: what was held back is released at the end. */
static bool copy_news(struct serve_choice *c, struct news *w, struct memory *m)
{
  size_t width = 1 + c->job->k, until = c->text.n;
  w->n = c->told < c->n;
  w->text.n = 0;
  if (w->n > 0) {
    w->token[0] = c->token[c->told];
    if (c->told + 1 < c->n || !c->over) until = w->token[0].shown;
    if (c->job->logprobs) memcpy(w->noted, c->noted + c->told * width, width * sizeof *w->noted);
    c->told++;
  }
  w->over = c->over && c->told == c->n;
  return until <= c->shown || bytes_push(m, &w->text, c->text.byte + c->shown, until - c->shown, NULL);
}

static void begin_event(struct teller *x)
{
  fputs("data: ", x->out.out);
  x->out.due = '\0';
  writer_open(&x->out, '{');
  put_head(&x->out, x->j, x->j->chat ? "chat.completion.chunk" : "text_completion");
}

static void end_event(struct teller *x)
{
  if (x->j->usage) put_word_as(&x->out, "usage", "null");
  writer_close(&x->out, '}');
  fputs("\n\n", x->out.out);
}

static void begin_choice(struct teller *x, const struct serve_choice *c)
{
  begin_event(x);
  put_open_as(&x->out, "choices", '[');
  writer_open(&x->out, '{');
  put_count_as(&x->out, "index", (uint64_t) (c - x->j->choice));
}

static void end_choice(struct teller *x, const char *finish)
{
  put_word_as(&x->out, "finish_reason", finish);
  writer_close(&x->out, '}');
  writer_close(&x->out, ']');
  end_event(x);
}

/* the first event of a choice in a talk */
static void greet(struct teller *x, struct serve_choice *c)
{
  begin_choice(x, c);
  put_open_as(&x->out, "delta", '{');
  put_words_as(&x->out, "role", "assistant");
  put_words_as(&x->out, "content", "");
  writer_close(&x->out, '}');
  put_word_as(&x->out, "logprobs", "null");
  end_choice(x, "null");
}

static void put_piece(struct teller *x, struct serve_choice *c, const struct news *w, const unsigned char *byte, size_t n, bool first)
{
  const struct bytes *echo = &c->prompt->text;
  struct bytes all = { NULL, 0, 0 };
  if (x->j->chat) {
    put_open_as(&x->out, "delta", '{');
    put_text_as(&x->out, "content", n > 0 ? (const void *) byte : "", n);
    writer_close(&x->out, '}');
  }
  else {
    if (first && x->j->echo && echo->n > 0) x->ok = bytes_push(x->m, &all, echo->byte, echo->n, NULL) && x->ok;
    if (n > 0) x->ok = bytes_push(x->m, &all, byte, n, NULL) && x->ok;
    put_text_as(&x->out, "text", all.n > 0 ? (const void *) all.byte : "", all.n);
    bytes_free(x->m, &all);
  }
  if (!x->j->logprobs) put_word_as(&x->out, "logprobs", "null");
  else {
    struct told t = { w->noted, &w->token[0].id, w->n, x->j->k, false };
    put_logprobs(x, c, &t, first);
  }
}

/* One event for what is new, and in a talk another one for the end; nothing if there is nothing to see. */
static void put_news(struct teller *x, struct serve_choice *c, const struct news *w)
{
  const unsigned char *byte = w->text.byte;
  size_t n = w->text.n;
  bool first = !c->greeted;
  skip_blanks(c, &byte, &n);
  c->shown += n;
  if (first && x->j->chat) greet(x, c);
  c->greeted = true;
  bool ends = w->over && !c->closed;
  if (n > 0 || (x->j->logprobs && w->n > 0) || (!x->j->chat && (ends || (first && x->j->echo)))) {
    begin_choice(x, c);
    put_piece(x, c, w, byte, n, first);
    end_choice(x, ends && !x->j->chat ? finish_word(c) : "null");
  }
  if (!ends) return;
  c->closed = true;
  if (!x->j->chat) return;
  begin_choice(x, c);
  put_open_as(&x->out, "delta", '{');
  writer_close(&x->out, '}');
  put_word_as(&x->out, "logprobs", "null");
  end_choice(x, finish_word(c));
}

/* has the choice something to tell? under the lock; that it has failed is told at the end, for all */
static bool has_news(const struct serve_choice *c)
{
  return !has_failed(c) && (c->told < c->n || (c->over && !c->closed));
}

/* is all told that will ever be? under the lock */
static bool is_told(const struct serve_job *j)
{
  for (size_t i = 0; i < j->n; i++)
    if (has_news(&j->choice[i])) return false;
  return j->done;
}

static void put_failure(struct teller *x, const struct serve_choice *c)
{
  struct serve_refusal r;
  bool cut = x->j->cancelled;
  serve_refuse(&r, cut ? 503 : 500, cut ? "shutting_down" : "internal_error", "", "%s",
    cut ? "the server ends before this answer does; wanted: another try, later" : c->why.text);
  fputs("data: ", x->out.out);
  x->out.due = '\0';
  writer_open(&x->out, '{');
  serve_put_error(&x->out, &r);
  writer_close(&x->out, '}');
  fputs("\n\n", x->out.out);
}

/* the event of the numbers, and the mark of the end */
static void put_tail(struct teller *x)
{
  if (x->j->usage) {
    begin_event(x);
    put_open_as(&x->out, "choices", '[');
    writer_close(&x->out, ']');
    put_usage(&x->out, x->j);
    writer_close(&x->out, '}');
    fputs("\n\n", x->out.out);
  }
  fputs("data: [DONE]\n\n", x->out.out);
}

/* one round over all choices; true: there was something to tell */
static bool tell_round(struct serve_engine *e, struct teller *x, struct news *w)
{
  bool any = false;
  for (size_t i = 0; i < x->j->n && x->ok; i++) {
    struct serve_choice *c = &x->j->choice[i];
    serve_lock(e);
    bool some = has_news(c);
    if (some) x->ok = copy_news(c, w, x->m);
    serve_unlock(e);
    if (some && x->ok) put_news(x, c, w);
    any = any || some;
  }
  return any;
}

/* more than this is not told at once, so that a long answer does not hold up those of others */
enum { ENOUGH = 1 << 16 };

bool serve_put_events(struct serve_engine *e, struct serve_job *j, struct bytes *out, bool *end, struct memory *m)
{
  struct serve_text t;
  struct news w = { .n = 0 };
  if (!serve_text_begin(&t)) return false;
  struct teller x = { .j = j, .m = m, .out = { t.out, '\0' }, .ok = true };
  bool more = true;
  while (more && x.ok && ftell(t.out) < ENOUGH) more = tell_round(e, &x, &w);
  serve_lock(e);
  *end = is_told(j);
  serve_unlock(e);
  if (*end && x.ok) {
    const struct serve_choice *failed = serve_failed(j);
    if (failed != NULL) put_failure(&x, failed);
    else put_tail(&x);
  }
  bytes_free(m, &w.text);
  bytes_free(m, &x.name);
  return serve_text_end(&t, out, m) && x.ok;
}
