==== check
# a formula in w (the window) and l (the layers): how far behind the last row the oldest token is that it depends on
engine <<'C'
#include "tiny.h"
#include "kernels/kernels.h"
int main(int argc, char **argv)
{
  enum { N = 60 };
  struct tiny t; struct memory m = {0}; struct counters c = {0}; struct error why; struct row rows[N]; struct pass *p; float last[TINY_D];
  tiny_make(&t, 1);
  t.lm.config.window = (uint32_t) atoi(argv[1]), t.lm.config.n_layers = (uint32_t) atoi(argv[2]);
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  for (int changed = -1; changed < N; changed++) {
    struct store *s = array_store_open(&m, &t.lm.config, &why);
    for (uint32_t i = 0; i < N; i++) rows[i] = (struct row) {0, i, (i * 7 + ((int) i == changed)) % TINY_V};
    if (!model_forward(&e, &t.lm, s, rows, N, &p, &why)) return 1;
    float *h = p->hidden + (N - 1) * TINY_D;
    if (changed < 0) memcpy(last, h, sizeof last);
    else if (memcmp(last, h, sizeof last) != 0) { printf("%d\n", N - 1 - changed); return 0; }
    store_close(s);
  }
  return 1;
}
C
for wl in "3 1" "3 3" "1 2" "$(pick 4 19) $(pick 1 3)" "$(pick 4 19) 2"; do set -- $wl; computes 1 $(run $1 $2) w=$1 l=$2; done
==== answer
l*(w-1)
==== wrong
l*w
==== skeleton
# a formula in w and l
