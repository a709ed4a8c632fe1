/* toy.c -- fills in the numbers of chapter 2's boxes, runs the model, and prints what the hand has
   computed.

   The settings mix the families, GPT-2's learned positions with Llama's gate, because the hand
   calculation is easiest so. The engine doesn't mind: it asks for each thing by itself, and never
   for the family. Nothing is copied: each matrix of the model points into the struct toy. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "model/toy.h"
#include "functions/numbers.h"

/* Matrices are stored with a row for each output; those that only multiply each number by a factor
   have it in their diagonal. The corners of a square serve twice, as tokens and as positions, and
   the four positions repeat for ever. */
static void toy_by_hand(struct toy *y)
{
  static const float corner[4][2] = { {1, 1}, {1, -1}, {-1, 1}, {-1, -1} };
  static const int place[4] = { 0, 1, 3, 2 };
  static const float query[TOY_WIDTH] = { -0.8f, 0.4f, -0.4f, 0.8f };
  static const float joined[TOY_WIDTH] = { 1, 0.5f, -1, 0.5f };
  static const float asked[TOY_WORDS][TOY_WIDTH] =
    { {0, 0, -1, 0}, {0, -1, 0, -1}, {0, 0, 0, 1}, {-1, 0, 1, 0} };
  memset(y, 0, sizeof *y);
  for (int i = 0; i < TOY_WIDTH; i++) {
    memcpy(y->token[i], corner[i], sizeof corner[i]);
    y->query[i][i] = query[i], y->key[i][i] = 1;
    y->value[i][i % 2] = 1, y->joined[i][i] = joined[i];
  }
  for (int p = 0; p < TOY_PLACES; p++)
    memcpy(y->place[p] + 2, corner[place[p % 4]], sizeof corner[0]);
  y->gate[0] = 0.5f, y->gate[2] = -1;
  y->up[2] = 1;
  y->down[0] = 1, y->down[2] = -1;
  memcpy(y->asked, asked, sizeof asked);
}

/* RMSNorm without a gain, three matrices that make queries, keys and values, and a gated MLP of one
   number. */
static struct matrix around(const float *x, size_t in, size_t out)
{
  return (struct matrix) { .weight = { x, WEIGHT_F32 }, .in = in, .out = out };
}

void toy_make(struct toy *y)
{
  struct norm bare = { .kind = NORM_RMS, .epsilon = 0 };
  toy_by_hand(y);
  y->only = (struct model_layer) { .attn_norm = bare, .mlp_norm = bare,
    .qkv = { around(y->query[0], 4, 4), around(y->key[0], 4, 4),
      around(y->value[0], 4, 4) }, .n_qkv = 3,
    .out = around(y->joined[0], 4, 4), .n_up = 2,
    .up = { around(y->gate, 4, 1), around(y->up, 4, 1) },
    .down = around(y->down, 1, 4) };
  y->lm.config = (struct model_config) { .family = "llama",
    .vocab_size = TOY_WORDS, .n_positions = TOY_PLACES, .d_model = TOY_WIDTH,
    .d_inner = 1, .n_layers = 1, .n_heads = 2, .n_kv_heads = 2,
    .head_dim = 2, .learned_positions = true, .gated = true };
  y->lm.layers = &y->only, y->lm.final_norm = bare;
  y->lm.embedding = (struct tensor) { y->token[0], WEIGHT_F32 };
  y->lm.positions = (struct tensor) { y->place[0], WEIGHT_F32 };
  y->lm.head = around(y->asked[0], TOY_WIDTH, TOY_WORDS);
  y->lm.attention = (struct attention_dims) { 2, 2, 2, 0.70710678f, .cap = 0 };
  y->lm.layer_madds = 4 * TOY_WIDTH * TOY_WIDTH + 3 * TOY_WIDTH;
}

static void keep_all(void *ctx, enum tap_point point, uint32_t layer, float *x,
  size_t rows, size_t width)
{
  struct toy_trace *a = ctx;
  (void) layer;
  memcpy(a->x[point], x, rows * width * sizeof *x);
}

/* All rows are asked for their logits: a model of four words can afford it. */
bool toy_look(struct engine *e, const struct toy *y, struct store *s,
  const uint32_t *ids, size_t n, struct toy_trace *a, struct error *why)
{
  struct row rows[TOY_PLACES]; size_t all[TOY_PLACES];
  struct watcher w = { keep_all, a, true };
  struct pass *p = NULL;
  for (size_t i = 0; i < n; i++)
    all[i] = i, rows[i] = (struct row) { 0, (uint32_t) i, ids[i] };
  store_clear(s);
  bool ok = model_forward_watched(e, &y->lm, s, rows, n, &w, &p, why)
    && model_logits(e, &y->lm, p, all, n, a->logits, why);
  if (ok) e->k->softmax(e, a->logits, n, TOY_WORDS, a->chance);
  pass_close(p);
  return ok;
}

/* Scores never leave the kernel, so they are computed again from the queries and keys that the
   watcher saw. */
void toy_scores(const struct toy_trace *a, int r, int h, float score[3])
{
  for (int t = 0; t < 3; t++) {
    const float *q = a->x[TAP_QUERY] + r * TOY_WIDTH + 2 * h;
    const float *k = a->x[TAP_KEY] + t * TOY_WIDTH + 2 * h;
    score[t] = (q[0] * k[0] + q[1] * k[1]) * 0.70710678f;
  }
}

/* numbers have two decimals, as the hand has written them */
static void print_line(const char *name, const float *x, int n)
{
  printf("%-24s", name);
  for (int i = 0; i < n; i++) printf("%6.2f", (double) x[i]);
  printf("\n");
}

/* The weights are the kernel's own; that they agree with the exponentials above them is the check. */
static void print_head(const struct toy_trace *a, int h)
{
  float score[3], shrunk[3];
  toy_scores(a, 2, h, score);
  float max = fmaxf(score[0], fmaxf(score[1], score[2]));
  for (int t = 0; t < 3; t++) shrunk[t] = num_expf(score[t] - max);
  print_line(h == 0 ? "head A  scores" : "head B  scores", score, 3);
  print_line("        exponentials", shrunk, 3);
  print_line("        weights", a->x[TAP_WEIGHTS] + (2 * 2 + h) * 3, 3);
}

/* The stages in their order, for the third row. The gate and the second number of the MLP are
   multiplied inside the engine, so the two are computed again from what the norm left. */
static void print_way(const struct toy *y, const struct toy_trace *a)
{
  int at = 2 * TOY_WIDTH;
  float middle[3] = { 0, 0, a->x[TAP_INNER][2] }, h[TOY_WIDTH];
  const float *n = a->x[TAP_MLP_NORM] + at, *added = a->x[TAP_ATTENTION] + at;
  for (int i = 0; i < TOY_WIDTH; i++) {
    middle[0] += y->gate[i] * n[i], middle[1] += y->up[i] * n[i];
    h[i] = a->x[TAP_EMBEDDING][at + i] + added[i];
  }
  print_line("row of sat", a->x[TAP_EMBEDDING] + at, 4);
  print_line("its query", a->x[TAP_QUERY] + at, 4);
  print_head(a, 0);
  print_head(a, 1);
  print_line("mixed values", a->x[TAP_MIXED] + at, 4);
  print_line("added by attention", added, 4);
  print_line("the row", h, 4);
  print_line("normed", n, 4);
  print_line("gate, up, inner", middle, 3);
  print_line("the row", a->x[TAP_LAYER] + at, 4);
  print_line("logits", a->logits + at, 4);
}

/* the probabilities of all words after a row; the arrow points to the likeliest */
static void print_odds(const char *given, const double *chance)
{
  static const char *const word[] = { "the", " cat", " sat", "." };
  int best = 0;
  printf("%-24s", given);
  for (int v = 0; v < TOY_WORDS; v++) {
    printf("%6.2f", chance[v]);
    if (chance[v] > chance[best]) best = v;
  }
  printf("  -> %s\n", word[best]);
}

bool toy_print(struct engine *e, const struct toy *y,
  struct store *s, struct error *why)
{
  static const uint32_t text[4] = { 0, 1, 2, TOY_STOP };
  static const char *const given[4] = { "the", "the cat", "the cat sat",
    "the cat sat." };
  struct toy_trace a;
  if (!toy_look(e, y, s, text, 3, &a, why)) return false;
  print_way(y, &a);
  if (!toy_look(e, y, s, text, 4, &a, why)) return false;
  printf("\n%-24s%6s%6s%6s%6s\n", "after", "the", " cat", " sat", ".");
  for (int r = 0; r < 4; r++) print_odds(given[r], a.chance + r * TOY_WORDS);
  return true;
}
