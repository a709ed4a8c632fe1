/* kit-parrot.c -- made from laboratory/00-kit.w; change it there */

#include <string.h>
#include "laboratory/kit-parrot.h"

/* <Make the parrot> */
const char *const parrot_word[PARROT_WORDS] =
  { "The", " cat", " sat", " on", " the", " mat", "." };
static const float nothing[PARROT_WIDTH * PARROT_WIDTH];
static struct tensor at(const float *x)
{
  return (struct tensor) { x, WEIGHT_F32 };
}

static void parrot_layer(struct parrot *p)
{
  struct matrix zero = { .weight = at(nothing), .in = PARROT_WIDTH,
    .out = PARROT_WIDTH };
  struct norm rms = { .kind = NORM_RMS, .gain = at(p->ones),
    .epsilon = 1e-5f };
  p->only = (struct model_layer) { .attn_norm = rms, .mlp_norm = rms,
    .qkv = { zero, zero, zero }, .n_qkv = 3, .out = zero,
    .up = { zero, zero }, .n_up = 2, .down = zero };
  p->lm.final_norm = rms;
}

void parrot_make(struct parrot *p)
{
  *p = (struct parrot) { .ones = { 1, 1, 1, 1, 1, 1, 1, 1 } };
  for (int i = 0; i < PARROT_WORDS; i++)
    p->unit[i][i] = 1, p->follows[(i + 1) % PARROT_WORDS][i] = 1;
  parrot_layer(p);
  /* <Say what shape the parrot has> */
  p->lm.config = (struct model_config) { .family = "llama",
    .vocab_size = PARROT_WORDS, .n_positions = PARROT_CONTEXT, .d_model = PARROT_WIDTH,
    .d_inner = PARROT_WIDTH, .n_layers = 1, .n_heads = 1, .n_kv_heads = 1,
    .head_dim = PARROT_WIDTH, .norm_eps = 1e-5, .gated = true };
  p->lm.attention = (struct attention_dims) { 1, 1, PARROT_WIDTH, 1 };
  p->lm.layers = &p->only, p->lm.frequency = p->frequency;
  p->lm.embedding = at(p->unit[0]);
  p->lm.head = (struct matrix) { .weight = at(p->follows[0]), .in = PARROT_WIDTH,
    .out = PARROT_WORDS };
  p->lm.layer_madds = 7 * PARROT_WIDTH * PARROT_WIDTH;
}

/* <Leave out what teaches nothing> */
static void idle_attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  size_t rows = 0;
  (void) e, (void) scratch;
  (void) probe;
  for (size_t i = 0; i < n; i++) rows += list[i].n_rows;
  memcpy(y, q, rows * h->n_heads * h->head_dim * sizeof *y);
}

static void idle_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t m = 0; m < n; m++) {
    const struct matrix *w = &list[m];
    memset(y[m], 0, rows * w->out * sizeof(float));
    const float *row = w->weight.data;
    if (row == nothing) continue;
    for (size_t i = 0; i < rows * w->out; i++)
      for (size_t k = 0; k < w->in; k++)
        y[m][i] += x[i / w->out * w->in + k] * row[i % w->out * w->in + k];
  }
}

void parrot_kernels(struct kernels *idle, const struct kernels *best)
{
  *idle = *best;
  idle->attend = idle_attend, idle->linear = idle_linear;
}
