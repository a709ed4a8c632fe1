==== check
# of the prompts, the one that lacks the fewest rows is read first, and of equals the one that came first; who decodes has a row as before
planted
says_like_ours
==== test
#include "tiny.h"
#include "exercise.h"
#include "serving/scheduler.h"
enum { SIZES = 30, MOST = 6, ROWS = 40 };
static void test(unsigned size)
{
  struct tiny t; struct memory m = { 0 }; struct counters c = { 0 }; struct error why; struct scheduler s;
  struct engine e = { kernels_find(NULL, NULL), NULL, &c };
  struct request r[MOST] = { { .state = REQUEST_ENDED } };
  size_t n = 1 + draw(MOST), most = MOST + draw(14), lacks[MOST], length[MOST];
  uint32_t id[ROWS];
  tiny_make(&t, fresh());
  struct generate_context g = { &e, &t.lm, cache_open(&m, &t.lm.config, MOST, &(struct cache_options) { .rows = 0 }, &why), &m };
  if (g.s == NULL || !scheduler_open(&s, &g, &(struct scheduler_options) { .pass_rows = most }, &why)) return;
  for (int i = 0; i < ROWS; i++) id[i] = draw(TINY_V);
  tell("%zu rows in a pass", most);
  for (size_t i = 0; i < n; i++) {
    lacks[i] = length[i] = 1 + draw(size < 4 ? 4 : ROWS);
    tell("a prompt of %zu", length[i]);
    if (!scheduler_submit(&s, &r[i], id, length[i], &(struct generate_options) { .max_new_tokens = 60 }, &why)) return;
  }
  for (int pass = 1; pass < 40; pass++) {
#ifdef OURS
    size_t left = most, now[MOST];
    memcpy(now, lacks, sizeof now);
    for (size_t i = 0; i < n; i++) left -= now[i] == 1;
    for (size_t wanted = 2; wanted <= ROWS; wanted++)
      for (size_t i = 0; i < n; i++) if (now[i] == wanted) lacks[i] -= wanted < left ? wanted : left, left -= wanted < left ? wanted : left, lacks[i] += lacks[i] == 0;
#else
    if (!scheduler_step(&s, &why)) return;
    for (size_t i = 0; i < n; i++) lacks[i] = r[i].q.c.text.n - store_length(g.s, r[i].q.c.sequence);
#endif
    for (size_t i = 0; i < n; i++) say("after pass %d, text %zu lacks %zu", pass, i + 1, lacks[i]);
  }
  for (size_t i = 0; i < n; i++) request_close(&s, &r[i]);
  scheduler_close(&s), store_close(g.s);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
==== answer
== tangled/serving/scheduler.c
-  for (struct request *r = s->line; is_running(r) && left > 0; r = r->next) {
-    size_t rows = rows_to_read(s, r);
-    if (rows == 1) continue;
-    if (rows > left) rows = left;
-    plan_text(s, r, rows, &n), left -= rows;
-  }
-  return n;
+  for (size_t last = 1, now; left > 0; last = now) {
+    now = SIZE_MAX;
+    for (struct request *r = s->line; is_running(r); r = r->next)
+      if (rows_to_read(s, r) > last && rows_to_read(s, r) < now) now = rows_to_read(s, r);
+    if (now == SIZE_MAX) break;
+    for (struct request *r = s->line; is_running(r) && left > 0; r = r->next) {
+      if (rows_to_read(s, r) != now) continue;
+      size_t rows = now < left ? now : left;
+      plan_text(s, r, rows, &n), left -= rows;
+    }
+  }
+  return n;
==== wrong is the answer but
-+      if (rows_to_read(s, r) > last && rows_to_read(s, r) < now) now = rows_to_read(s, r);
++      if (rows_to_read(s, r) > last && (now == SIZE_MAX || rows_to_read(s, r) > now)) now = rows_to_read(s, r);
==== skeleton
# tangled/serving/scheduler.c plans a pass.  Write == FILE, then - lines and + lines
