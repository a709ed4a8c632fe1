==== check
# small random models write greedily, alone and with the reader's guesses; passes are counted
wrapped
says_like_ours --seconds 30
==== head
#include <string.h>
#include "speculation/speculate.h"
==== tail
void ex_guess(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n) { guess(ctx, g, list, n); }
==== test
#include "tiny.h"
#include "exercise.h"
#include "speculation/speculate.h"
enum { SIZES = 4, TEXTS = 24, LONG = 60, MOST_HERE = 4 };
void ex_guess(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n);
/* lets the reader guess, and looks whether anything else was changed */
static size_t changed, steps;
static void watch(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n)
{
  steps++;
#ifndef OURS
  struct sequence before[1] = { *list[0] };
  uint64_t text = hash_of(list[0]->c.text.id, list[0]->c.text.n * sizeof *list[0]->c.text.id);
  ex_guess(NULL, g, list, n);
  before[0].guess = list[0]->guess;
  changed += memcmp(before, list[0], sizeof before) != 0 || text != hash_of(list[0]->c.text.id, list[0]->c.text.n * sizeof *list[0]->c.text.id);
  if (list[0]->guess.n > list[0]->room) changed++, list[0]->guess.n = list[0]->room;
  for (size_t i = 0; i < list[0]->guess.n; i++) if (list[0]->guess.id[i] >= TINY_V) changed++, list[0]->guess.n = i;
#endif
}
static void test(unsigned size)
{
  double alone = 0, guessed = 0, same = 0;
  changed = 0;
  for (int k = 0; k < TEXTS; k++) {
    struct tiny t; struct memory m = { 0 }; struct counters c = { 0 }; struct error why; struct continuation a, b;
    struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
    struct generate_options want = { .max_new_tokens = LONG };
    struct speculation by = { .guess = watch, .most = MOST_HERE };
    uint32_t prompt[3] = { draw(TINY_V), draw(TINY_V), draw(TINY_V) };
    tiny_make(&t, fresh());
    struct generate_context g = { &e, &t.lm, cache_open(&m, &t.lm.config, 1, &(struct cache_options) { .rows = 0 }, &why), &m };
    want.recall = store_match_prefix;
    if (g.s == NULL || !generate(&g, prompt, 3, &want, &a, &why)) return;
    alone += (double) c.passes, steps = 0;
    store_crop(g.s, 0, 0);
    if (!OF(speculate(&by, &g, prompt, 3, &want, &b, &why), generate(&g, prompt, 3, &want, &b, &why))) return;
    guessed += (double) steps; /* each is a pass, and is counted here, where the reader's code does not come */
    same += a.text.n == b.text.n && memcmp(a.text.id, b.text.id, a.text.n * sizeof *a.text.id) == 0;
    continuation_free(&m, &a), continuation_free(&m, &b), store_close(g.s);
  }
  tell("%d texts, alone in %.0f passes; with guesses in %.0f", TEXTS, alone, guessed);
#ifdef OURS
  guessed = .7 * alone;
#endif
  say("the same texts: %.0f", same);
  say("something else was changed: %zu", changed);
  say_most("passes", guessed, 1);
}
==== answer
static void guess(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n)
{
  struct error why;
  for (size_t i = 0; i < n; i++) {
    struct sequence *q = list[i];
    const struct ids *text = &q->c.text;
    size_t at = text->n - 1;
    while (at > 0 && text->id[at - 1] != text->id[text->n - 1]) at--;
    for (; at > 0 && q->guess.n < q->room; at++)
      if (!ids_push(g->m, &q->guess, at < text->n ? text->id[at] : q->guess.id[at - text->n], &why)) break;
  }
}
==== wrong
/* what was said last is said again */
static void guess(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n)
{
  struct error why;
  for (size_t i = 0; i < n; i++)
    while (list[i]->guess.n < list[i]->room)
      if (!ids_push(g->m, &list[i]->guess, list[i]->c.text.id[list[i]->c.text.n - 1], &why)) break;
}
==== skeleton
/* puts at most list[i]->room ids into list[i]->guess, which is empty, with ids_push(g->m, ...); the text is list[i]->c.text */
static void guess(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n)
{
}
