Lab 3: the generation loop. A change file for chapters/03-loop.w in CWEB's form, with one thing more: a word before @x.
"shape" changes what the files are, for the reference as well; "cut" takes away what the student writes, and what it takes away
is the reference's answer.

shape: the loop in its first form becomes a file of its own, naive.c, with a header
@x
static bool write_text(struct writer *w, size_t full, struct error *why)
{
@y
bool write_text(struct writer *w, size_t full, struct error *why)
{
@z

cut: the six steps
@x
  struct engine *e = &w->e;@+ const struct model *lm = w->lm;
  struct ids *text = &w->text;
  for (;;) {
    struct row rows[LONGEST];
    struct pass *p;
    size_t n = text->n, last = n - 1, vocab = lm->config.vocab_size;
    store_crop(w->s, 0, 0);                                  /* 1. forget */
    for (size_t i = 0; i < n; i++)
      rows[i] = (struct row) @[{ 0, (uint32_t) i, text->id[i] }@];
    bool ok = model_forward(e, lm, w->s, rows, n, &p, why);    /* 2. read */
    ok = ok && model_logits(e, lm, p, &last, 1, w->logits, why); /* 3. score */
    pass_close(p);
    if (!ok)@+ return false;
    uint32_t id = likeliest(w->logits, vocab);               /* 4. select */
    if (!ids_push(&w->m, text, id, why))@+ return false;     /* 5. append */
    if (id == lm->config.eos[0] || text->n == full)
      return true;                                         /* 6. stop */
  }
}
@y
  /* YOUR CODE: forget, read, score, select, append, stop */
  (void) w, (void) full;
  return error_say(why, "write_text has not been written yet");
}
@z

shape
@x
static uint32_t likeliest(const float *logits, size_t vocab)
{
@y
uint32_t likeliest(const float *logits, size_t vocab)
{
@z

cut: greedy decoding
@x
  uint32_t best = 0;
  for (uint32_t v = 1; v < vocab; v++)
    if (logits[v] > logits[best])@+ best = v;
  return best;
}
@y
  /* YOUR CODE: of equal logits, the first */
  (void) logits;
  return (uint32_t) vocab;
}
@z

cut: one step of all sequences
@x
  size_t rows = 0;
  for (size_t i = 0; i < n; i++)
    rows += plan_rows(g, list[i]);                /* 1. forget */
  if (rows > 0 && !read_and_score(g, list, n, rows, logits, why))
    return false;                                 /* 2. and 3. */
  for (size_t i = 0; i < n; i++)
    if (may_choose(list[i]))
      logits = take_tokens(g, list[i], logits);   /* 4., 5. and 6. */
  return true;
}
@y
  /* YOUR CODE: plan, read and score in one pass, let each sequence take its tokens */
  (void) plan_rows, (void) may_choose, (void) read_and_score, (void) take_tokens;
  (void) g, (void) list, (void) n, (void) logits;
  return error_say(why, "generate_step has not been written yet");
}
@z

cut: how a text ends
@x
  const struct generate_options *want = q->want;
  struct continuation *c = &q->c;
  size_t written = c->text.n - c->n_prompt;
  now->after = *g->e->c;
  bool enough = written > want->min_tokens
    && is_one_of(now->chosen, want->eos, want->n_eos);
  if (!enough && want->stop != NULL
      && !want->stop(want->stop_ctx, c, &enough, &q->why))
    return false;
  if (enough)@+ c->ended = FINISH_STOP;
  else if (written == want->max_new_tokens || c->text.n > g->s->n_positions)
    c->ended = FINISH_LENGTH;
  if (want->on_step != NULL && !want->on_step(want->ctx, now)
      && c->ended == FINISH_NONE)
    c->ended = FINISH_CANCELLED;
  return true;
}
@y
  /* YOUR CODE: end tokens, the stop criterion, the length, the watcher */
  (void) now, (void) is_one_of;
  return error_say(&q->why, "stop_or_go_on has not been written yet for position %zu", q->c.text.n + 0 * g->s->n_positions);
}
@z

cut: the choice
@x
  size_t best = 0;
  for (size_t v = 0; v < lm->config.vocab_size; v++) {
    if (!isfinite(logits[v]))
      return error_say(why, "%s: logit %zu is not finite"@|
        " after the last layer; wanted: a number",
        tensor_file_path(lm->weights), v);
    if (logits[v] > logits[best])@+ best = v;
  }
  *chosen = (uint32_t) best;
  return want->select == NULL
    || want->select(want->select_ctx, logits, c, chosen, why);
}
@y
  /* YOUR CODE: refuse what is not finite, take the likeliest, ask the sampler */
  (void) lm, (void) want, (void) logits, (void) c, (void) chosen;
  return error_say(why, "select_token has not been written yet");
}
@z

cut: what a sequence reads next
@x
  const struct generate_options *want = q->want;
  size_t n = q->c.text.n;
  q->count = 0;
  if (q->c.ended != FINISH_NONE)@+ return 0;
  if (!q->reading)@+ q->first = 0, q->before = *g->e->c;
  if (want->recall == NULL) store_crop(g->s, q->c.sequence, q->first);
  else q->first = want->recall(g->s, q->c.sequence, q->c.text.id, n - 1);
  size_t left = n - q->first;
  q->reading = want->chunk > 0 && left > want->chunk;
  if (q->reading)@+ q->guess.n = 0;
  q->count = q->reading ? want->chunk : left + q->guess.n;
  return q->count;
}
@y
  /* YOUR CODE: forget or recall, then a chunk or all that is left */
  (void) g;
  q->count = 0;
  return q->count;
}
@z

shape: the program gives way to naive.c and its header; it can then be tested with other models than the built-in one
@x
@c
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "loop/generate.h"
@;@#
@<The built-in model, and what it takes to run it@>@;
@<Find the token with the highest logit@>@;
@<Write until the end token, or until the text is full@>@;
@<Print what the counters say@>@;
@<Print the text, and write its end once more with the general loop@>@;
int main(void)
{
  static struct writer w;
  struct error why;
  bool ok = writer_open(&w, &why) && write_text(&w, 3 + 4, &why);
  if (ok)@+ print_counts(&w);
  ok = ok && write_text(&w, LONGEST, &why);
  if (ok)@+ print_counts(&w), print_text(&w);
  ok = ok && compare_loops(&w, &why);
  if (!ok)@+ fprintf(stderr, "%s\n", why.text);
  ids_free(&w.m, &w.text), memory_free(&w.m, w.logits);
  store_close(w.s), tokenizer_close(&w.m, w.t);
  model_close(&w.m, w.lm);
  return !ok;
}
@y
@(naive.h@>=
#ifndef INCIPIT_NAIVE_H
#define INCIPIT_NAIVE_H
#include "loop/generate.h"
@<The built-in model, and what it takes to run it@>@;
uint32_t likeliest(const float *logits, size_t vocab);
  /* the token with the highest logit; of equal ones the first */
bool write_text(struct writer *w, size_t full, struct error *why);
  /* writes after the text of |w|, which has fewer than |full| tokens, until the end token or until the
     text has |full|. On failure no pass is open, and the text is as long as the last token made it */
#endif

@ @c
#include "loop/naive.h"
@;@#
@<Find the token with the highest logit@>@;
@<Write until the end token, or until the text is full@>@;
@z

shape
@x
enum {@+ LONGEST = 200@+ };
struct writer {@+ struct memory m;@+ struct counters c;@+ struct engine e;
  struct model *lm;@+ struct tokenizer *t;@+ struct store *s;
  float *logits;@+ struct ids text;@+ };
static bool writer_open(struct writer *w, struct error *why)
{
  static const char pocket[] = "models/pocket", prompt[] = "The cat sat";
  struct memory *m = &w->m;
  w->e = (struct engine) @[{ .k = &kernels_plain, .c = &w->c }@];
  if ((w->lm = model_open(m, pocket, why)) == NULL@|
      || (w->t = tokenizer_open(m, pocket, why)) == NULL@|
      || (w->s = array_store_open(m, &w->lm->config, why)) == NULL)@+ return false;
  w->logits = memory_alloc(m, MEMORY_ACTIVATIONS, w->lm->config.vocab_size,
    sizeof (float), why);
  return w->logits != NULL && tokenizer_encode(w->t, m, prompt,@|
    strlen(prompt), false, false, &w->text, why);
}
@y
enum {@+ LONGEST = 200@+ };
struct writer {@+ struct memory m;@+ struct counters c;@+ struct engine e;
  struct model *lm;@+ struct store *s;@+ float *logits;@+ struct ids text;@+ };
@z
