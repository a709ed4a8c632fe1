/* samplers.c -- constraints and samplers. The lexicon belongs to the model and is made when the
   first constraint is opened, under the model's lock, for two threads may be first; afterwards
   it is only read, by all constraints of the model. A constraint has two automata at most. A
   decoder may drop a blank at the front of a text, so the bytes that the first token writes
   depend on whether the prompt had any text, and each prompt needs one of the two. The first is
   made at once, because a pattern that no text can match should be refused when it is opened;
   the second is made when a text needs it. A sampler owns copies of all that its options point
   to, since the caller may free them after the call, and counts as a user of its model and its
   constraint. */

#include <string.h>
#include "library/library.h"

/* A constraint needs the bytes of every token. Special tokens have none here and are never
   allowed. begun is true for each token: here no token is the first, so none loses its blank.
   Addresses are given out at the end, since the bytes may have moved. */
static bool spell_all(struct incipit_model *m, struct memory *book,
  struct token_bytes *spelt, struct bytes *all, struct error *why)
{
  size_t n = m->lm->config.vocab_size, at = 0;
  for (size_t i = 0; i < n; i++) {
    bool begun = true;
    size_t before = all->n;
    if (!tokenizer_decode_next(m->t, book, (uint32_t) i, true, &begun, all, why))
      return false;
    spelt[i].n = all->n - before;
  }
  for (size_t i = 0; i < n; at += spelt[i++].n)
    spelt[i].byte = spelt[i].n > 0 ? all->byte + at : NULL;
  return true;
}

/* The caller holds the model's lock: if two threads ask for the first constraint at the same
   moment, one of them makes the lexicon and the other finds it. */
static bool need_lexicon(struct incipit_model *m, struct error *why)
{
  size_t n = m->lm->config.vocab_size;
  struct bytes all = { NULL, 0, 0 };
  if (m->lexicon != NULL) return true;
  struct token_bytes *spelt = memory_alloc(&m->m, MEMORY_OTHER, n, sizeof *spelt,
    why);
  if (spelt != NULL && spell_all(m, &m->m, spelt, &all, why))
    m->lexicon = lexicon_open(&m->m, spelt, NULL, n, why);
  bytes_free(&m->m, &all);
  memory_free(&m->m, spelt);
  return m->lexicon != NULL;
}

/* From a pattern, a grammar, or chapter W9's grammar of JSON; afterwards it no longer matters
   from which. Compiled again from the text, so that the two automata share nothing. If no text
   of this vocabulary can match, binding fails, and nothing is kept. */
bool library_bound(struct incipit_constraint *c, bool strips, struct error *why)
{
  const char *text = (const char *) c->text.byte;
  if (c->c[strips] != NULL) return true;
  struct constraint *x;
  if (c->language == INCIPIT_REGEX)
    x = constraint_regex(&c->m, text, c->text.n, why);
  else if (c->language == INCIPIT_GRAMMAR)
    x = constraint_grammar(&c->m, "the grammar", text, c->text.n, why);
  else x = constraint_grammar(&c->m, "JSON", constraint_json,
    strlen(constraint_json), why);
  if (x != NULL && !constraint_bind(x, c->model->lexicon, strips, why)) {
    constraint_free(x);
    x = NULL;
  }
  c->c[strips] = x;
  return x != NULL;
}

/* The lexicon is made under the model's lock and charged to the model's memory, so it is an
   attempt of its own, apart from the one for the constraint itself. The lock also covers that
   memory. */
static bool compile(struct incipit_constraint *c, const char *text, size_t n,
  struct incipit_error *why)
{
  struct attempt b = attempt_begin(&c->m);
  pthread_mutex_lock(&c->model->lock);
  struct attempt a = attempt_begin(&c->model->m);
  bool ok = attempt_end(&a, need_lexicon(c->model, &a.why), INCIPIT_INPUT, why);
  pthread_mutex_unlock(&c->model->lock);
  return ok && attempt_end(&b, bytes_push(&c->m, &c->text, n > 0 ? text : "", n, &b.why)
    && library_bound(c, false, &b.why), INCIPIT_INPUT, why);
}

/* For INCIPIT_JSON the grammar is our own, so no text is needed, and one that is given is
   ignored. */
struct incipit_constraint *incipit_constraint_open(struct incipit_model *m,
  enum incipit_language language, const char *text, size_t n,
  struct incipit_error *why)
{
  if (!library_spells(m, __func__, why) || (language != INCIPIT_JSON && n > 0
      && !library_given(text, __func__, "the text", why))) return NULL;
  if (language != INCIPIT_REGEX && language != INCIPIT_GRAMMAR
      && language != INCIPIT_JSON) {
    library_fail(why, INCIPIT_MISUSE, "%s: language %d; wanted: an enum incipit_language",
      __func__, (int) language);
    return NULL;
  }
  struct incipit_constraint *c = library_new(sizeof *c, why);
  if (c == NULL) return NULL;
  c->users = 1;
  c->model = m, c->language = language;
  library_hold(m);
  if (compile(c, text, language == INCIPIT_JSON ? 0 : n, why)) return c;
  incipit_constraint_close(c);
  return NULL;
}

/* When the last user closes the constraint, both bindings are freed. Its samplers are users
   like the caller, who may therefore close it as soon as they are open. No lock: a constraint
   and its samplers are for one thread at a time. */
void incipit_constraint_close(struct incipit_constraint *c)
{
  if (c == NULL || --c->users > 0) return;
  constraint_free(c->c[0]);
  constraint_free(c->c[1]);
  bytes_free(&c->m, &c->text);
  incipit_model_close(c->model);
  library_delete(c);
}

/* As in the command: the temperature and the cuts only if do_sample is true. Makers who do not
   want sampling get the likeliest token; penalties count in either case. */
static struct incipit_sampler_options suggested(const struct incipit_model *m)
{
  const struct sampling_defaults *d = &m->lm->config.sampling;
  struct incipit_sampler_options o = { .size = sizeof o, .top_p = 1,
    .typical_p = 1, .repetition_penalty = d->repetition_penalty,
    .penalty_last_n = -1,
    .no_repeat_ngram = d->no_repeat_ngram_size };
  if (!d->do_sample) return o;
  o.temperature = d->temperature, o.top_k = d->top_k;
  o.top_p = d->top_p, o.min_p = d->min_p;
  o.typical_p = d->typical_p;
  return o;
}

bool incipit_sampler_defaults(const struct incipit_model *m,
  struct incipit_sampler_options *o, size_t size, struct incipit_error *why)
{
  if (!library_given(m, __func__, "the model", why)
      || !library_size(o, size, sizeof *o, __func__, why)) return false;
  memset(o, 0, size);
  *o = suggested(m);
  o->size = size;
  return true;
}

/* The arrays in the options belong to the caller, who may free them after the call. After it o
   points to the copies, and so does the list that the sampler wants. If one of them is missing,
   closing frees the others. */
static bool copy_biases(struct incipit_sampler *s, struct error *why)
{
  size_t n = s->o.n_bias;
  const uint32_t *from = s->o.bias_id;
  const double *added = s->o.bias;
  uint32_t *id = memory_alloc(&s->m, MEMORY_OTHER, n, sizeof *id, why);
  double *bias = memory_alloc(&s->m, MEMORY_OTHER, n, sizeof *bias, why);
  s->bias = memory_alloc(&s->m, MEMORY_OTHER, n, sizeof *s->bias, why);
  s->o.bias_id = id, s->o.bias = bias;
  if (id == NULL || bias == NULL || s->bias == NULL) return false;
  for (size_t i = 0; i < n; i++) {
    id[i] = from[i], bias[i] = added[i];
    s->bias[i] = (struct sequence_bias) { &id[i], 1, bias[i] };
  }
  return true;
}

/* The options have the names of chapter 7, and a stage that is left out here stops the build.
   What the header leaves out keeps the value of sampling_default. */
static void take_options(struct sampling_params *p, enum sample_stage stage,
  const struct incipit_sampler *s)
{
  const struct incipit_sampler_options *o = &s->o;
  switch (stage) {
  case SAMPLE_BIAS: p->logit_bias = s->bias, p->n_logit_bias = o->n_bias; break;
  case SAMPLE_PENALTIES:
    p->repetition_penalty = o->repetition_penalty;
    p->frequency_penalty = o->frequency_penalty;
    p->presence_penalty = o->presence_penalty;
    p->penalty_last_n = o->penalty_last_n;
    break;
  case SAMPLE_NGRAM: p->no_repeat_ngram = o->no_repeat_ngram; break;
  case SAMPLE_TEMPERATURE: p->temperature = o->temperature; break;
  case SAMPLE_TOP_K: p->top_k = o->top_k; break;
  case SAMPLE_TOP_P: p->top_p = o->top_p; break;
  case SAMPLE_MIN_P: p->min_p = o->min_p; break;
  case SAMPLE_TYPICAL_P: p->typical_p = o->typical_p; break;
  case N_SAMPLE_STAGES: break;
  }
}

/* With the stages go the noise and the rule. The rule points to the cursor within s, which
   never moves. */
static bool open_sampler(struct incipit_sampler *s, struct error *why)
{
  const struct incipit_sampler_options *o = &s->o;
  struct sampling_params *p = &s->d.s;
  if (!copy_biases(s, why)) return false;
  *p = sampling_default();
  for (int i = 0; i < N_SAMPLE_STAGES; i++) take_options(p, (enum sample_stage) i, s);
  s->d.seed = o->seed, s->d.sequence = o->sequence;
  if (s->constraint != NULL) s->d.rule = (struct token_rule) { bond_allow,
    bond_take, bond_save, bond_restore, &s->cursor };
  size_t vocab = s->model->lm->config.vocab_size;
  return sampling_check(p, vocab, why)
    && funnel_open(&s->d.f, &s->m, kernels_find(NULL, NULL), vocab, why);
}

static bool options_agree(const struct incipit_model *m,
  const struct incipit_sampler_options *o, const char *call,
  struct incipit_error *why)
{
  if (o->n_bias > 0 && (!library_given(o->bias_id, call, "bias_id", why)
      || !library_given(o->bias, call, "bias", why)
      || !library_ids(m, o->bias_id, o->n_bias, call, why))) return false;
  return o->constraint == NULL || o->constraint->model == m
    || library_fail(why, INCIPIT_MISUSE, "%s: the constraint was opened with another"
      " model; wanted: the same", call);
}

/* The caller's options are copied over the makers' suggestions and not over zeros. A setting
   out of its range is a misuse if it came from the caller's options, and an error of input if
   there were none, because then it came from generation_config.json. The sampler holds what it
   needs before anything can fail, for incipit_sampler_close lets go of it. The last step is a
   reset, so that a sampler is ready for a text without a prompt. */
struct incipit_sampler *incipit_sampler_open(struct incipit_model *m,
  const struct incipit_sampler_options *o, struct incipit_error *why)
{
  if (!library_given(m, __func__, "the model", why)) return NULL;
  struct incipit_sampler_options mine = suggested(m);
  if (!library_options(&mine, sizeof mine, o, __func__, why)
      || !options_agree(m, &mine, __func__, why)) return NULL;
  struct incipit_sampler *s = library_new(sizeof *s, why);
  if (s == NULL) return NULL;
  s->model = m, s->o = mine;
  library_hold(m);
  s->constraint = mine.constraint;
  if (mine.constraint != NULL) mine.constraint->users++;
  struct attempt a = attempt_begin(&s->m);
  struct float_modes modes;
  float_modes_begin(&modes);
  bool ok = open_sampler(s, &a.why);
  float_modes_end(&modes);
  if (attempt_end(&a, ok, o == NULL ? INCIPIT_INPUT : INCIPIT_MISUSE, why)
      && incipit_sampler_reset(s, NULL, 0, 0, why)) return s;
  incipit_sampler_close(s);
  return NULL;
}

void incipit_sampler_close(struct incipit_sampler *s)
{
  if (s == NULL) return;
  constraint_cursor_close(&s->cursor, &s->m);
  continuation_free(&s->m, &s->text);
  funnel_close(&s->d.f);
  memory_free(&s->m, s->bias);
  memory_free(&s->m, (void *) s->o.bias_id);
  memory_free(&s->m, (void *) s->o.bias);
  incipit_constraint_close(s->constraint);
  incipit_model_close(s->model);
  library_delete(s);
}

/* The constraint is shared; the cursor, which says how far the text has come in it, is the
   copy's own. The copy begins the whole text as a prompt, then is told where the prompt really
   ended and where the constraint is: no token is taken a second time. */
struct incipit_sampler *incipit_sampler_copy(const struct incipit_sampler *s,
  struct incipit_error *why)
{
  if (!library_given(s, __func__, "the sampler", why)) return NULL;
  struct incipit_sampler *x = incipit_sampler_open(s->model, &s->o, why);
  if (x == NULL) return NULL;
  const struct constraint_cursor *b = &s->cursor;
  if (library_begin(x, s->text.text.id, s->text.text.n, b->max_tokens, b->eos, b->n_eos,
      why)) {
    x->text.n_prompt = s->text.n_prompt;
    x->cursor.c = b->c, x->cursor.state = b->state;
    return x;
  }
  incipit_sampler_close(x);
  return NULL;
}

/* Does the first token after this prompt lose its blank? We ask the decoder and no
   rule: the first token of the vocabulary that begins with a blank and is longer is
   decoded after the prompt, and by itself. Equal lengths mean that nothing is lost. */
static bool loses_blank(struct incipit_sampler *s, const struct ids *before,
  bool *strips, struct error *why)
{
  struct memory *book = &s->m;
  struct bytes text = { NULL, 0, 0 };
  const struct tokenizer *t = s->model->t;
  bool ok = true, begun = false, spelt = false;
  for (size_t k = 0; ok && k < before->n; k++)
    ok = tokenizer_decode_next(t, book, before->id[k], true, &begun, &text, why);
  size_t vocab = s->model->lm->config.vocab_size, i = 0, whole = 0, from = 0;
  while (ok && i < vocab && !(whole > 1 && text.byte[from] == ' ')) {
    from = text.n, spelt = true;
    ok = tokenizer_decode_next(t, book, (uint32_t) i++, true, &spelt, &text, why);
    whole = text.n - from;
  }
  bool found = ok && whole > 1 && text.byte[from] == ' ';
  from = text.n;
  if (found) ok = tokenizer_decode_next(t, book, (uint32_t) i - 1, true, &begun,
      &text, why);
  *strips = found && ok && text.n - from < whole;
  bytes_free(book, &text);
  return ok;
}

struct attempt attempt_with(const struct incipit_sampler *s)
{
  struct attempt a = attempt_begin(&s->m);
  if (s->constraint == NULL) return a;
  a.also = &s->constraint->m;
  a.refused += a.also->all.refused;
  return a;
}

/* A constraint makes sure that a text can end in time, for example that every open bracket can
   still be closed. So its cursor needs to know how many tokens the text may have. */
static bool open_cursor(struct incipit_sampler *s, const struct ids *text, size_t most,
  const uint32_t *end, size_t n_end, struct constraint_cursor *cursor,
  struct error *why)
{
  bool strips;
  *cursor = (struct constraint_cursor) { .c = NULL };
  return s->constraint == NULL || (loses_blank(s, text, &strips, why)
    && library_bound(s->constraint, strips, why)
    && constraint_cursor_open(cursor, &s->m, s->constraint->c[strips],
      s->model->lm->config.vocab_size, most, end, n_end, why));
}

/* If the caller sets no limit, a text may fill the model's context. That is one token more than
   the rows that are left, because the last token needs no row. The new text is made beside the
   old one and takes its place when nothing can fail any more: a sampler that could not begin it
   is still in the old one. */
bool library_begin(struct incipit_sampler *s, const uint32_t *id, size_t n,
  size_t most, const uint32_t *end, size_t n_end, struct incipit_error *why)
{
  struct attempt a = attempt_with(s);
  size_t context = s->model->lm->config.n_positions;
  struct continuation old = s->text, text = { .n_prompt = n };
  struct constraint_cursor cursor;
  bool ok = true;
  if (most == 0) most = n <= context ? context - n + 1 : 1;
  for (size_t i = 0; ok && i < n; i++)
    ok = ids_push(&s->m, &text.text, id[i], &a.why);
  ok = ok && open_cursor(s, &text.text, most, end, n_end, &cursor, &a.why);
  if (ok) {
    constraint_cursor_close(&s->cursor, &s->m);
    s->text = text, s->cursor = cursor;
  }
  continuation_free(&s->m, ok ? &old : &text);
  return attempt_end(&a, ok, INCIPIT_NO_CHOICE, why);
}

/* A text after another prompt, with the model's end tokens. */
bool incipit_sampler_reset(struct incipit_sampler *s, const uint32_t *id, size_t n,
  size_t max_new_tokens, struct incipit_error *why)
{
  if (!library_given(s, __func__, "the sampler", why)
      || !library_ids(s->model, id, n, __func__, why)) return false;
  const struct model_config *c = &s->model->lm->config;
  return library_begin(s, id, n, max_new_tokens, c->eos, c->n_eos, why);
}

/* With a constraint a text has a largest number of tokens; when they are used up nothing can be
   chosen, and the call says so before the cursor is asked. */
static bool has_budget(const struct incipit_sampler *s, const char *call,
  struct incipit_error *why)
{
  size_t most = s->cursor.max_tokens, n = s->text.text.n - s->text.n_prompt;
  return s->cursor.c == NULL || n < most || library_fail(why, INCIPIT_NO_CHOICE,
    "%s: the text has %zu tokens; wanted: no more, for it was to end by then", call, n);
}

/* Choosing changes nothing. If nothing can be chosen, because a logit is not finite or the
   constraint and the settings leave no token, the sentence is the sampler's. */
bool incipit_sampler_apply(struct incipit_sampler *s, const float *logits,
  uint32_t *id, struct incipit_error *why)
{
  if (!library_given(s, __func__, "the sampler", why)
      || !library_given(logits, __func__, "the list of logits", why)
      || !library_given(id, __func__, "id", why)
      || !has_budget(s, __func__, why)) return false;
  struct attempt a = attempt_with(s);
  bool ok = sampler_choose(&s->d, logits, &s->text, id, &a.why);
  return attempt_end(&a, ok, INCIPIT_NO_CHOICE, why);
}

/* The token need not be the one that was chosen; but if there is a constraint, it must allow
   the token. The token is appended first, for that can be taken back; a rule's step is saved
   and restored. */
bool incipit_sampler_accept(struct incipit_sampler *s, uint32_t id,
  struct incipit_error *why)
{
  if (!library_given(s, __func__, "the sampler", why)
      || !library_ids(s->model, &id, 1, __func__, why)
      || !has_budget(s, __func__, why)) return false;
  struct attempt a = attempt_with(s);
  if (!ids_push(&s->m, &s->text.text, id, &a.why))
    return attempt_end(&a, false, INCIPIT_MEMORY, why);
  uint32_t before = sampler_save(&s->d);
  bool ok = sampler_accept(&s->d, id, &a.why);
  if (!ok) {
    sampler_restore(&s->d, before);
    s->text.text.n--;
  }
  return attempt_end(&a, ok, INCIPIT_NO_CHOICE, why);
}
