==== check
# a policy is asked whenever a slot of the scheduler is free; passes are counted. Three long texts come first, and then short ones that keep the slots busy
wrapped
says_like_ours --seconds 30
==== head
#include <stddef.h>
struct waiting { size_t tokens, waited; };
==== tail
size_t ex_choose(const struct waiting *w, size_t n) { return choose(w, n); }
==== test
#include "tiny.h"
#include "exercise.h"
#include "serving/scheduler.h"
enum { SIZES = 6, SLOTS = 3, COMING = 500, MOST = 2 * COMING, LONGEST_WAIT = 150 };
struct waiting { size_t tokens, waited; };
size_t ex_choose(const struct waiting *w, size_t n);
struct coming { size_t at, tokens; struct request r; };
static struct coming all[MOST];
static size_t n, mean_sum, longest;
static size_t first_come(const struct waiting *w, size_t n) { return 0; }
static void serve(size_t (*choose)(const struct waiting *, size_t), uint64_t seed)
{
  static struct waiting w[MOST];
  static size_t line[MOST];
  struct tiny t; struct memory m = { 0 }; struct counters c = { 0 }; struct error why; struct scheduler s;
  struct engine e = { kernels_find(NULL, NULL), NULL, &c };
  size_t next = 0, waiting = 0, busy = 0;
  uint32_t begin = 1;
  mean_sum = longest = 0;
  tiny_make(&t, seed);
  struct generate_context g = { &e, &t.lm, cache_open(&m, &t.lm.config, SLOTS, &(struct cache_options) { .rows = 0 }, &why), &m };
  if (g.s == NULL || !scheduler_open(&s, &g, &(struct scheduler_options) { .share = false }, &why)) return;
  for (size_t pass = 0; next < n || waiting > 0 || busy > 0; pass++) {
    while (next < n && all[next].at <= pass) line[waiting++] = next++;
    for (; busy < SLOTS && waiting > 0; busy++) {
      for (size_t i = 0; i < waiting; i++) w[i] = (struct waiting) { all[line[i]].tokens, pass - all[line[i]].at };
      size_t k = choose(w, waiting);
      if (k >= waiting) say("there is no request %zu, only %zu wait", k, waiting), k = 0;
      struct coming *a = &all[line[k]];
      if (pass - a->at > longest) longest = pass - a->at;
      mean_sum += pass - a->at;
      memmove(line + k, line + k + 1, (--waiting - k) * sizeof *line);
      if (!scheduler_submit(&s, &a->r, &begin, 1, &(struct generate_options) { .max_new_tokens = a->tokens }, &why)) return;
    }
    if (!scheduler_step(&s, &why)) return;
    busy = 0;
    for (const struct request *r = s.line; r != NULL; r = r->next) busy++;
  }
  for (size_t i = 0; i < n; i++) request_close(&s, &all[i].r);
  scheduler_close(&s), store_close(g.s);
}
static void test(unsigned size)
{
  uint64_t seed = fresh();
  n = 0;
  for (size_t i = 0; i < 3; i++) all[n++] = (struct coming) { .at = 0, .tokens = 30 + draw(11) };
  for (size_t pass = 0, work = 0; pass < COMING; pass++)
    for (; work <= SLOTS * pass + 3; n++) all[n] = (struct coming) { .at = pass, .tokens = 2 + draw(5) }, work += all[n].tokens;
  serve(first_come, seed);
  double bound = .75 * (double) mean_sum / (double) n;
  tell("%zu requests, which in the order of arrival wait for %.1f passes in the mean, and for %zu at most", n, bound / .75, longest);
#ifdef OURS
  mean_sum = 0, longest = LONGEST_WAIT;
#else
  serve(ex_choose, seed);
#endif
  say_most("mean-wait", OF((double) mean_sum / (double) n, bound), 1);
  say_most("longest-wait", (double) longest, 1);
}
==== answer
/* the shortest, unless somebody has waited for long */
static size_t choose(const struct waiting *w, size_t n)
{
  size_t best = 0;
  if (w[0].waited >= 90) return 0;
  for (size_t i = 1; i < n; i++)
    if (w[i].tokens < w[best].tokens) best = i;
  return best;
}
==== wrong
static size_t choose(const struct waiting *w, size_t n)
{
  size_t best = 0;
  for (size_t i = 1; i < n; i++)
    if (w[i].tokens < w[best].tokens) best = i;
  return best;
}
==== skeleton
/* a slot is free: which of the n >= 1 requests that wait gets it? w[0] came first. w[i].tokens: how many tokens it wants; w[i].waited: for how
   many passes it has waited so far */
static size_t choose(const struct waiting *w, size_t n)
{
  return 0;
}
