==== check
# multiply-adds of a row in the matrices of one layer, and the first number of visible positions at which attention costs more: from the counters
engine <<'C'
#include <stdio.h>
#include <stdlib.h>
#include "model/forward.h"
#include "kernels/kernels.h"
enum { D = 64, KV = 32, INNER = 192, V = 3 };
static float x[D * INNER];
static struct matrix m(size_t in, size_t out) { return (struct matrix) {{x, WEIGHT_F32}, {NULL, WEIGHT_F32}, in, out, false}; }
int main(void)
{
  for (int i = 0; i < D * INNER; i++) x[i] = 0.01f;
  struct norm g = {NORM_RMS, {NULL, WEIGHT_F32}, {NULL, WEIGHT_F32}, 1e-5f};
  struct model_layer l = {.attn_norm = g, .mlp_norm = g, .qkv = {m(D, D), m(D, KV), m(D, KV)}, .out = m(D, D), .up = {m(D, INNER), m(D, INNER)},
    .down = m(INNER, D), .n_qkv = 3, .n_up = 2};
  float f[8] = {0};
  struct model lm = {.config = {.family = "llama", .vocab_size = V, .n_positions = 600, .d_model = D, .d_inner = INNER, .n_layers = 1, .n_heads = 4,
    .n_kv_heads = 2, .head_dim = 16, .gated = true}, .embedding = {x, WEIGHT_F32}, .layers = &l, .final_norm = g, .head = m(D, V), .attention = {4, 2, 16, .25f}, .frequency = f};
  for (int i = 0; i < 3; i++) lm.layer_madds += l.qkv[i].in * l.qkv[i].out;
  lm.layer_madds += l.out.in * l.out.out + 3 * D * INNER;
  struct memory mem = {0}; struct counters c = {0}; struct error why;
  struct engine e = {.k = kernels_find(NULL, NULL), .c = &c};
  struct store *s = array_store_open(&mem, &lm.config, &why);
  for (uint32_t i = 0; i < 600; i++) {
    struct row r = {0, i, 0}; struct pass *p; struct counters b = c;
    if (!model_forward(&e, &lm, s, &r, 1, &p, &why)) return 1;
    if (c.madds_attention - b.madds_attention > c.madds_linear - b.madds_linear) { printf("%d %d\n", (int) (c.madds_linear - b.madds_linear), (int) (i + 1)); return 0; }
    pass_close(p);
  }
  return 1;
}
C
is $(run)
==== answer
49152 385
==== wrong
49152 384
==== skeleton
# multiply-adds, positions
