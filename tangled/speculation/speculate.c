/* speculate.c -- Texts are written with guesses.
   made from chapters/13-speculation.w; change it there

   Nothing here decides about a token: guesses are read after the text, the loop
   chooses as it always does, and a row is looked at only if the tokens before it are
   those of the text. So a drafter that is wrong costs time and nothing else. */

#include "speculation/speculate.h"

/* <Limit the guesses> */
static bool will_read_on(const struct generate_context *g, const struct sequence *q)
{
  size_t n = q->c.text.n, first = q->reading ? q->first : 0;
  if (q->want->recall != NULL) first = store_length(g->s, q->c.sequence);
  return q->want->chunk > 0 && n > first && n - first > q->want->chunk;
}

static size_t room_for_guesses(const struct generate_context *g, const struct sequence *q)
{
  size_t n = q->c.text.n, written = n - q->c.n_prompt, room = q->room;
  size_t wanted = q->want->max_new_tokens, left = g->s->n_positions - n;
  uint32_t original = g->lm->config.rope.original;
  if (g->s->stretched != NULL && n <= original) left = original - n;
  if (q->c.ended != FINISH_NONE || wanted <= written + 1 || will_read_on(g, q)) return 0;
  if (room > wanted - written - 1) room = wanted - written - 1;
  return room < left ? room : left;
}

/* <Count, and forget what was read in vain> */
static bool drop_guesses(struct sequence *const *list, size_t n)
{
  size_t dropped = 0;
  for (size_t i = 0; i < n; i++)
    dropped += list[i]->guess.n, list[i]->guess.n = list[i]->room = 0;
  return dropped > 0;
}

static void settle_guesses(struct speculation *by, const struct generate_context *g,
  struct sequence *q, bool ok)
{
  if (q->room == 0) return;
  if (ok && !q->reading) {
    by->guessed += q->room, by->accepted += q->right;
    by->came[q->right]++;
  }
  store_crop(g->s, q->c.sequence, q->c.text.n - 1);
}

/* <Take texts further, with guesses> */
bool speculate_step(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n, float *logits, struct error *why)
{
  struct speculation *by = ctx;
  for (size_t i = 0; i < n; i++) {
    list[i]->room = room_for_guesses(g, list[i]);
    list[i]->guess.n = list[i]->right = 0;
  }
  by->guess(by->ctx, g, list, n);
  for (size_t i = 0; i < n; i++) list[i]->room = list[i]->guess.n;
  bool ok = generate_step(g, list, n, logits, why);
  if (!ok && drop_guesses(list, n) && !progress_cancelled(g->e->progress))
    ok = generate_step(g, list, n, logits, why);
  for (size_t i = 0; i < n; i++) settle_guesses(by, g, list[i], ok);
  return ok;
}

/* <Write one text, with guesses> */
bool speculate(struct speculation *by, const struct generate_context *g,
  const uint32_t *prompt, size_t n, const struct generate_options *want,
  struct continuation *out, struct error *why)
{
  struct sequence q, *one = &q;
  size_t vocab = g->lm->config.vocab_size;
  bool ok = sequence_open(&q, g, prompt, n, want, why);
  float *logits = !ok ? NULL : memory_alloc(g->m, MEMORY_ACTIVATIONS,
    (1 + by->most) * vocab, sizeof *logits, why);
  ok = logits != NULL;
  while (ok && q.c.ended == FINISH_NONE) {
    q.room = by->most;
    ok = speculate_step(by, g, &one, 1, logits, why);
    if (!ok && progress_cancelled(g->e->progress))
      ok = true, q.c.ended = FINISH_CANCELLED;
  }
  if (q.c.ended == FINISH_ERROR) ok = error_say(why, "%s", q.why.text);
  memory_free(g->m, logits), ids_free(g->m, &q.guess);
  if (!ok) sequence_close(g->m, &q);
  *out = q.c;
  return ok;
}
