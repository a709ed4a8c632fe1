==== check
# a network in which token 39 occurs neither as input nor as target: is its row of the embedding's gradient 0?
engine <<'C'
#include <stdio.h>
#include <stdlib.h>
#include "training/network.h"
#include "kernels/kernels.h"
int main(void)
{
  struct memory m = {0}; struct error why; struct model_shape s = {1, 32, 2, 1, 16, 48, 40, 64};
  struct network *net = network_open(&m, &s, 16, kernels_find(NULL, &why), NULL, &why);
  size_t n = network_count(net); float *w = calloc(n, 4), *g = calloc(n, 4); double loss[16];
  uint32_t in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {2, 3, 4, 5, 6, 7, 8, 9};
  for (size_t i = 0; i < n; i++) w[i] = (float) (i * 37 % 101) / 101 - 0.5f;
  struct batch b = {in, out, 1, 8, 1};
  network_forward(net, w, &b, &why); network_loss(net, &b, loss); network_backward(net, w, &b, g);
  for (int k = 0; k < 32; k++) if (g[39 * 32 + k] != 0) { puts("no"); return 0; }
  puts("yes"); return 0;
}
C
is $(run)
==== answer
no
==== wrong
yes
==== skeleton
# yes or no
