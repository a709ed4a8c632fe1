==== check
set -e
# scores are sums over a power of the whole length; the length of what was written differs, so that the order of texts may
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<"C"
#include <math.h>
#include <stdio.h>
#include "search/search.h"
#include "kernels/kernels.h"
static bool score(void *ctx, const struct search_beam *grown, size_t n, float *logits, struct error *why)
{
  (void) ctx, (void) why;
  for (size_t i = 0; i < n; i++) for (uint32_t v = 0; v < 5; v++) logits[5 * i + v] = (float) ((grown[i].id[grown[i].n - 1] * 7 + v * 3 + grown[i].n) % 5);
  return true;
}
int main(void)
{
  struct memory m = {0}; struct error why; uint32_t eos = 4, prompt[9] = {0, 1, 2, 3, 0, 1, 2, 3, 0}; size_t shorter = 0;
  struct search_source from = {.vocab = 5, .score = score};
  for (size_t p = 1; p <= 9; p += 2) for (int lp = -1; lp <= 2; lp++) {
    struct search_result r;
    struct search_settings want = {.num_beams = 3, .num_return = 3, .max_length = p + 7, .length_penalty = lp, .eos = &eos, .n_eos = 1};
    if (!search_run(&from, &m, kernels_find(NULL, NULL), prompt, p, &want, &r, &why)) return 1;
    for (size_t i = 0; i < r.n; i++) {
      if (fabs(r.text[i].score - r.text[i].sum / pow((double) r.text[i].n, lp)) > 1e-9) return 2;
      shorter += r.text[i].n < p + 7;
    }
    search_free(&r);
  }
  return shorter == 0 || m.all.live != 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -Itests $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/search/search.c
-  return sum / num_pow((double)written, s->want->length_penalty);
+  return sum / num_pow((double)(written + s->n_prompt), s->want->length_penalty);
==== wrong
== tangled/search/search.c
-  return sum / num_pow((double)written, s->want->length_penalty);
+  return sum / num_pow((double)(written + 1), s->want->length_penalty);
==== skeleton
== tangled/search/search.c
-  return sum / num_pow((double)written, s->want->length_penalty);
+  return sum / num_pow((double)written, s->want->length_penalty);
