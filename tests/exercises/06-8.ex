==== check
set -e
# once the first page is out of sight, a shelf with a window has one page more than before; nothing else changes
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include "tiny.h"
#include "kernels/kernels.h"
#include "cache/cache.h"
enum { P = 16 };
static uint64_t hash_of(const struct pass *p)
{
  uint64_t h = UINT64_C(14695981039346656037);
  const unsigned char *x = (const unsigned char *) p->hidden;
  for (size_t i = 0; i < p->n * p->d_model * sizeof *p->hidden; i++) h = (h ^ x[i]) * UINT64_C(1099511628211);
  return h;
}
/* per pass: what should come on top in pages and bytes, pages and bytes that are held, the hidden states */
static void read_text(struct tiny *t, uint32_t window, uint32_t from, uint32_t sinks, size_t n)
{
  struct memory m = {0}; struct counters count = {0}; struct error why; struct pass *p;
  struct engine e = {kernels_find(NULL, NULL), NULL, &count};
  struct model_config *c = &t->lm.config;
  if (!config_set_window(c, window, sinks, &why)) exit(1);
  c->window_from = from;
  struct store *s = cache_open(&m, c, 2, &(struct cache_options) {.page_rows = P, .pass = 8}, &why);
  struct row row[8]; float first[TINY_D];
  for (uint32_t at = 0; at + n <= 200; at += (uint32_t) n) {
    size_t more = sinks == 0 && store_window_start(s, c->n_layers - 1, at) >= P;
    for (uint32_t i = 0; i < n; i++) row[i] = (struct row) {0, at + i, (at + i) % TINY_V};
    if (!model_forward(&e, &t->lm, s, row, n, &p, &why)) exit(2);
    struct cache_state now = cache_look(s);
    printf("%zu %zu %zu %zu %llx\n", more, more * (c->n_layers - from) * P * s->row_bytes, now.pages_used, now.bytes_used, (unsigned long long) hash_of(p));
    pass_close(p);
  }
  uint32_t end = (uint32_t) store_length(s, 0);                       /* a fork, both go on; then cut off, and read again */
  if (!store_fork(s, 0, 1, &why)) exit(3);
  for (uint32_t q = 0; q < 2; q++) {
    if (!model_forward(&e, &t->lm, s, &(struct row) {q, end, 5}, 1, &p, &why)) exit(4);
    if (q == 0) memcpy(first, p->hidden, sizeof first); else if (memcmp(first, p->hidden, sizeof first) != 0) exit(5);
    pass_close(p);
  }
  store_crop(s, 0, 60);
  for (uint32_t at = (uint32_t) store_length(s, 0); at <= end; at++) {
    if (!model_forward(&e, &t->lm, s, &(struct row) {0, at, at == end ? 5 : at % TINY_V}, 1, &p, &why)) exit(6);
    if (at == end && memcmp(first, p->hidden, sizeof first) != 0) exit(7);
    pass_close(p);
  }
  store_close(s);
  if (m.all.live != 0) exit(8);
}
int main(void)
{
  struct tiny t;
  tiny_make(&t, 1);
  for (size_t n = 1; n <= 7; n += 3) {
    read_text(&t, 40, 0, 0, n);                                       /* a window in all layers: one shelf */
    read_text(&t, 40, 1, 0, n);                                       /* not in the first: two */
    read_text(&t, 40, 0, 4, n), read_text(&t, 40, 1, 20, n);          /* who has asked for sinks has them, and no more */
    read_text(&t, 0, 0, 0, n);
  }
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex > $BUILD/ex.before
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex > $BUILD/ex.after
paste -d " " $BUILD/ex.before $BUILD/ex.after | awk '$1 != $6 || $8 != $3 + $1 || $9 != $4 + $2 || $10 "" != $5 "" || NF != 10 { bad = 1 } $1 > 0 { n++ } END { exit bad || n < 100 }'
==== answer
== tangled/cache/open.c
-  s->sink_pages = pages_for(s, c->sinks);
+  s->sink_pages = c->sinks > 0 ? pages_for(s, c->sinks) : 1;
==== wrong
== tangled/cache/open.c
-  s->sink_pages = pages_for(s, c->sinks);
+  s->sink_pages = pages_for(s, c->sinks) + 1;
==== skeleton
== tangled/cache/open.c
-  s->sink_pages = pages_for(s, c->sinks);
+  s->sink_pages = pages_for(s, c->sinks);
