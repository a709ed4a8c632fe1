/* generate.c -- made from chapters/03-loop.w; change it there */

#include <inttypes.h>
#include <math.h>
#include "loop/generate.h"
#include "safetensors/tensor_file.h"

/* <Name the first row that went bad, if the last one did> */
static bool finite_until(const struct model *lm, const struct pass *p,
  size_t last, struct error *why)
{
  if (pass_is_finite(lm, p, last, NULL)) return true;
  size_t i = 0;
  while (i < last && pass_is_finite(lm, p, i, NULL)) i++;
  return pass_is_finite(lm, p, i, why);
}

/* <Read a list of rows, a chunk at a time> */
bool model_read(const struct generate_context *g, const struct row *rows, size_t n,
  size_t chunk, struct pass **last, struct error *why)
{
  bool ok = true;
  *last = NULL;
  for (size_t i = 0, here; ok && i < n; i += here) {
    here = chunk > 0 && n - i > chunk ? chunk : n - i;
    pass_close(*last);
    ok = model_forward(g->e, g->lm, g->s, rows + i, here, last, why);
  }
  return ok;
}

/* <Read what is not stored, and score what may follow> */
static bool read_and_score(const struct generate_context *g,
  const struct continuation *c, const struct generate_options *want, float *logits,
  struct error *why)
{
  struct pass *p = NULL;
  size_t first = want->recall == NULL ? 0
    : want->recall(g->s, c->sequence, c->text.id, c->text.n - 1);
  size_t n = c->text.n - first;
  struct row *rows = memory_alloc(g->m, MEMORY_ACTIVATIONS, n, sizeof *rows, why);
  if (rows == NULL) return false;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) { .sequence = c->sequence,
      .position = (uint32_t) (first + i), .token = c->text.id[first + i] };
  bool ok = model_read(g, rows, n, want->chunk, &p, why);
  size_t last = ok ? p->n - 1 : 0;
  ok = ok && finite_until(g->lm, p, last, why)
    && model_logits(g->e, g->lm, p, &last, 1, logits, why);
  pass_close(p);
  memory_free(g->m, rows);
  return ok;
}

/* <Choose the token with the highest score> */
static bool select_token(const struct model *lm, const struct generate_options *want,
  const float *logits, const struct continuation *c, uint32_t *chosen,
  struct error *why)
{
  size_t best = 0;
  for (size_t v = 0; v < lm->config.vocab_size; v++) {
    if (!isfinite(logits[v]))
      return error_say(why, "%s: logit %zu is not finite"
        " behind the last layer; wanted: a number",
        tensor_file_path(lm->weights), v);
    if (logits[v] > logits[best]) best = v;
  }
  *chosen = (uint32_t) best;
  return want->select == NULL
    || want->select(want->select_ctx, logits, c, chosen, why);
}

/* <Tell whether an id is in a list> */
static bool is_one_of(uint32_t id, const uint32_t *list, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (list[i] == id) return true;
  return false;
}

/* <Write until something says stop> */
static bool write_on(const struct generate_context *g, const struct generate_options
  *want,
  struct continuation *c, float *logits, struct error *why)
{
  for (size_t number = 1; c->ended == FINISH_NONE; number++) {
    struct step now = { .number = number, .length = c->text.n,
      .logits = logits, .before = *g->e->c };
    if (want->recall == NULL)
      store_crop(g->s, c->sequence, 0);           /* 1. forget */
    if (!read_and_score(g, c, want, logits, why))
      return false;                               /* 2. and 3. */
    if (want->max_new_tokens == 0) {
      c->ended = FINISH_LENGTH;
      break;
    }
    if (!select_token(g->lm, want, logits, c, &now.chosen, why))
      return false;                               /* 4. select */
    if (!ids_push(g->m, &c->text, now.chosen, why)) return false; /* 5. append */
    /* <6. Stop, or go round again> */
    now.after = *g->e->c;
    size_t written = c->text.n - c->n_prompt;
    bool enough = written > want->min_tokens
      && is_one_of(now.chosen, want->eos, want->n_eos);
    if (!enough && want->stop != NULL
        && !want->stop(want->stop_ctx, c, &enough, why))
      return false;
    if (enough) c->ended = FINISH_STOP;
    else if (written == want->max_new_tokens
        || c->text.n > g->lm->config.n_positions)
      c->ended = FINISH_LENGTH;
    if (want->on_step != NULL && !want->on_step(want->ctx, &now)
        && c->ended == FINISH_NONE)
      c->ended = FINISH_CANCELLED;
  }
  return true;
}

/* <Free a continuation> */
void continuation_free(struct memory *m, struct continuation *c)
{
  ids_free(m, &c->text);
  c->ended = FINISH_NONE;
}

/* <Write a continuation> */
bool generate(const struct generate_context *g, const uint32_t *prompt, size_t n,
  const struct generate_options *want, struct continuation *out, struct error *why)
{
  *out = (struct continuation) { .n_prompt = n, .sequence = want->sequence };
  const struct model_config *config = &g->lm->config;
  size_t context = config->n_positions, v = config->vocab_size;
  /* <Refuse a prompt that cannot be continued> */
  if (n == 0) return error_say(why, "the prompt has no tokens; wanted: 1 or more");
  if (n > context)
    return error_say(why, "the prompt has %zu tokens; the context holds %zu", n,
      context);
  for (size_t i = 0; i < n; i++)
    if (prompt[i] >= v)
      return error_say(why, "token %zu of the prompt is id %" PRIu32
        "; the vocabulary has %zu", i, prompt[i], v);
  /* <Take what the loop needs> */
  float *logits = memory_alloc(g->m, MEMORY_ACTIVATIONS, v, sizeof *logits, why);
  bool ok = logits != NULL;
  for (size_t i = 0; ok && i < n; i++)
    ok = ids_push(g->m, &out->text, prompt[i], why);
  ok = ok && write_on(g, want, out, logits, why);
  /* <Give back what the loop needed> */
  memory_free(g->m, logits);
  if (!ok) continuation_free(g->m, out);
  return ok;
}
