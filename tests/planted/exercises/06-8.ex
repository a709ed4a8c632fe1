==== check
# once the first page is out of sight, a shelf with a window has one page more than before; nothing else changes
planted
says_like_ours --seconds 30
==== test
#include "tiny.h"
#include "exercise.h"
enum { SIZES = 5, P = 16 };
static void test(unsigned size)
{
  static const uint32_t of[SIZES][3] = { { 40, 0, 0 }, { 40, 1, 0 }, { 40, 0, 4 }, { 40, 1, 20 }, { 0, 0, 0 } };  /* window, first layer with it, sinks */
  struct tiny t; struct memory m = { 0 }; struct counters count = { 0 }; struct error why; struct pass *p; struct row row[8];
  struct engine e = { kernels_find(NULL, NULL), NULL, &count };
  tiny_make(&t, fresh());
  struct model_config *c = &t.lm.config;
  uint32_t from = of[size - 1][1], sinks = of[size - 1][2], n = 1 + draw(8);
  if (!config_set_window(c, of[size - 1][0], sinks, &why)) return;
  c->window_from = from;
  tell("a window of %u from layer %u on, %u sinks, passes of %u rows", of[size - 1][0], from, sinks, n);
  struct store *s = cache_open(&m, c, 2, &(struct cache_options) { .page_rows = P, .pass = 8 }, &why);
  for (uint32_t at = 0; at + n <= 200; at += n) {
    size_t more = OF(0, sinks == 0 && store_window_start(s, c->n_layers - 1, at) >= P);
    for (uint32_t i = 0; i < n; i++) row[i] = (struct row) { 0, at + i, draw(TINY_V) };
    if (!model_forward(&e, &t.lm, s, row, n, &p, &why)) return;
    struct cache_state now = cache_look(s);
    say("after row %u: pages %zu, bytes %zu, bits %llx", at + n - 1, now.pages_used + more, now.bytes_used + more * (c->n_layers - from) * P * s->row_bytes, (unsigned long long) hash_of(p->hidden, n * TINY_D * sizeof *p->hidden));
    pass_close(p);
  }
  uint32_t end = (uint32_t) store_length(s, 0);         /* a fork, both go on; then cut off, and read again */
  if (!store_fork(s, 0, 1, &why)) return;
  for (uint32_t q = 0; q < 2; q++) {
    if (!model_forward(&e, &t.lm, s, &(struct row) { q, end, 5 }, 1, &p, &why)) return;
    say("text %u, bits %llx", q, (unsigned long long) hash_of(p->hidden, TINY_D * sizeof *p->hidden)), pass_close(p);
  }
  store_crop(s, 0, 60);
  for (uint32_t at = (uint32_t) store_length(s, 0); at <= end; at++) {
    if (!model_forward(&e, &t.lm, s, &(struct row) { 0, at, at % TINY_V }, 1, &p, &why)) return;
    if (at % 40 == 39) say("read again, row %u: bits %llx", at, (unsigned long long) hash_of(p->hidden, TINY_D * sizeof *p->hidden));
    pass_close(p);
  }
  store_close(s);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
==== answer
== unwoven/cache/open.c
-  s->sink_pages = pages_for(s, c->sinks);
+  s->sink_pages = c->sinks > 0 ? pages_for(s, c->sinks) : 1;
==== wrong
== unwoven/cache/open.c
-  s->sink_pages = pages_for(s, c->sinks);
+  s->sink_pages = pages_for(s, c->sinks) + 1;
==== skeleton
# unwoven/cache/open.c says how many pages a shelf never lets go of, because they hold sinks.  Write == FILE, then - lines and + lines
