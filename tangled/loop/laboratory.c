/* laboratory.c -- made from chapters/03-loop.w; change it there */

#include <string.h>
#include "tokenizer/tokenizer.h"
#include "loop/laboratory.h"
#include "families/loader.h"

/* <Make the parrot> */
const char *const parrot_word[WORDS] =
  { "The", " cat", " sat", " on", " the", " mat", "." };
static const float nothing[WIDTH * WIDTH];
static struct tensor at(const float *x)
{
  return (struct tensor) { x, WEIGHT_F32 };
}

static void parrot_layer(struct parrot *p)
{
  struct matrix zero = { .weight = at(nothing), .in = WIDTH, .out = WIDTH };
  struct normalizer norm = { .kind = NORM_RMS, .gain = at(p->ones),
    .epsilon = 1e-5f };
  p->only = (struct model_layer) { .before_attention = norm, .before_mlp = norm,
    .qkv = { zero, zero, zero }, .n_qkv = 3, .out = zero,
    .up = { zero, zero }, .n_up = 2, .down = zero };
  p->lm.last = norm;
}

static void parrot_make(struct parrot *p)
{
  *p = (struct parrot) { .ones = { 1, 1, 1, 1, 1, 1, 1, 1 } };
  for (int i = 0; i < WORDS; i++)
    p->unit[i][i] = 1, p->follows[(i + 1) % WORDS][i] = 1;
  parrot_layer(p);
  /* <Say what shape the parrot has> */
  p->lm.config = (struct model_config) { .family = "llama",
    .vocab_size = WORDS, .n_positions = CONTEXT, .d_model = WIDTH,
    .d_inner = WIDTH, .n_layers = 1, .n_heads = 1, .n_kv_heads = 1,
    .head_dim = WIDTH, .norm_eps = 1e-5, .gated = true };
  p->lm.attention = (struct heads) { 1, 1, WIDTH, 1 };
  p->lm.layers = &p->only, p->lm.frequency = p->frequency;
  p->lm.embedding = at(p->unit[0]);
  p->lm.head = (struct matrix) { .weight = at(p->follows[0]), .in = WIDTH,
    .out = WORDS };
  p->lm.layer_madds = 7 * WIDTH * WIDTH;
}

/* <Leave out what teaches nothing> */
static void idle_attend(const struct engine *e, const struct heads *h,
  const float *q, const struct view *seen, size_t rows, float *room, float *y,
  const struct capture *keep)
{
  (void) e, (void) seen, (void) room, (void) keep;
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

/* <Find the sentence in the tokens of the built-in model> */
static bool find_sentence(struct laboratory *lab, struct error *why)
{
  struct tokenizer *t = tokenizer_open(&lab->m, "models/pocket", why);
  if (t == NULL) return false;
  struct ids ids = { .n = 0 };
  bool ok = true;
  for (int i = 0; ok && i < WORDS; i++)
    ok = tokenizer_encode(t, &lab->m, parrot_word[i], strlen(parrot_word[i]), false, false,
      &ids, why) && (ids.n == (size_t) i + 1
        || error_say(why, "models/pocket: \"%s\" is not one token", parrot_word[i]));
  for (int i = 0; ok && i < WORDS; i++) lab->sentence[i] = ids.id[i];
  ids_free(&lab->m, &ids);
  tokenizer_close(&lab->m, t);
  return ok;
}

/* <Open and close a laboratory> */
bool laboratory_open(struct laboratory *lab, struct error *why)
{
  *lab = (struct laboratory) { .pocket = NULL };
  const struct kernels *best = kernels_find(NULL, why);
  if (best == NULL) return false;
  lab->idle = *best;
  lab->idle.attend = idle_attend, lab->idle.linear = idle_linear;
  lab->e = (struct engine) { .k = best, .c = &lab->c };
  parrot_make(&lab->bird);
  lab->pocket = model_open(&lab->m, "models/pocket", why);
  return lab->pocket != NULL && find_sentence(lab, why);
}

void laboratory_close(struct laboratory *lab)
{
  model_close(&lab->m, lab->pocket);
}
