/* rows.c -- the logits of the rows of a prompt, for a caller who wants to know how likely its tokens were.

   The last row of a prompt is none of these: its logits say what will be written, and the watcher of the steps sees them.
   A row is scored when its pass is done and never later, since the pass is all that has its numbers. So a text whose rows
   are to be seen must compute them: it may not take over the rows of another. */

#include "loop/rows.h"

/* The head's matrix is read once for so many rows; more would take memory for little. */
enum { ROWS_TOGETHER = 16 };

/* how many of the sequence's rows in this pass have a token of the prompt behind them */
static size_t rows_to_show(const struct sequence *q)
{
  size_t end = q->c.n_prompt - 1;
  if (q->want->on_row == NULL || q->count == 0 || q->first >= end) return 0;
  return q->count < end - q->first ? q->count : end - q->first;
}

/* rows from to from + n - 1 of the pass, the first of which has the position q->first + done */
static bool show_rows(const struct generate_context *g, struct sequence *q, struct pass *p,
  size_t from, size_t done, size_t n, float *logits)
{
  size_t row[ROWS_TOGETHER], vocab = g->lm->config.vocab_size;
  for (size_t i = 0; i < n; i++) {
    row[i] = from + done + i;
    if (!pass_is_finite(g->lm, p, row[i], &q->why)) return false;
  }
  if (!model_logits(g->e, g->lm, p, row, n, logits, &q->why)) return false;
  for (size_t i = 0; i < n; i++)
    if (!q->want->on_row(q->want->ctx, q->first + done + i, logits + i * vocab))
      return error_say(&q->why, "there is no memory for the log-probabilities of the prompt");
  return true;
}

/* all that are wanted of one sequence, whose rows begin at from */
static bool show_sequence(const struct generate_context *g, struct sequence *q, struct pass *p, size_t from)
{
  size_t n = rows_to_show(q), most = n < ROWS_TOGETHER ? n : ROWS_TOGETHER;
  if (n == 0) return true;
  float *logits = memory_alloc(g->m, MEMORY_ACTIVATIONS, most * g->lm->config.vocab_size, sizeof *logits, &q->why);
  bool ok = logits != NULL;
  for (size_t done = 0; ok && done < n; done += most) {
    if (most > n - done) most = n - done;
    ok = show_rows(g, q, p, from, done, most, logits);
  }
  memory_free(g->m, logits);
  return ok;
}

void tell_of_rows(const struct generate_context *g, struct sequence *const *list, size_t n, struct pass *p)
{
  for (size_t i = 0, from = 0; i < n; from += list[i++]->count)
    if (!show_sequence(g, list[i], p, from)) list[i]->c.ended = FINISH_ERROR;
}
