/* training.c -- A run carries out a plan, one step at a time, and nothing in it
   depends on a clock or on the number of workers.
   made from workshop/12-training.w; change it there

   now has all that a run knows besides four lists of numbers, and is saved as it is
   in memory: a state is for the same machine and the same build. The gradient is zero
   between steps. What the plan says of step n is computed from n, so a run that was
   interrupted goes on bit for bit. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "ground/new_file.h"
#include "training/training.h"

#define STATE_MARK UINT64_C(0x31746970696e63)

/* <Plans> */
const struct training_plan training_plan_model = { "pocket", "models/pocket",
  { 6, 128, 4, 2, 32, 384, 2048, 2048 },
  { { 7000000, 2, 512, 1, 7e-3f, 1.4e-3f, 150, false },
    { 2000000, 1, 2048, 1, 1.4e-3f, 0, 1, false },
    { 2000000, 1, 2048, 6, 1e-3f, 0, 20, true },
    { 3000000, 16, 256, 3, 3e-4f, 0, 10, true } }, 1 };
const struct training_plan training_plan_draft = { "draft", "models/draft",
  { 2, 64, 2, 1, 32, 192, 2048, 2048 },
  { { 3200000, 2, 512, 1, 7e-3f, 1.4e-3f, 150, false },
    { 800000, 1, 2048, 1, 1.4e-3f, 0, 1, false },
    { 600000, 1, 2048, 4, 1e-3f, 0, 10, true },
    { 800000, 8, 256, 3, 3e-4f, 0, 10, true } }, 2 };

/* <What a run holds> */
enum { BLOCKS = 64 };
struct trainer {
  const struct training_plan *p; struct pool *pool; struct dataset *feed;
  struct network *net; struct arena buffers;
  size_t n, max_rows;
  float *w, *gradient, *first, *second, *mean; bool *decays;
  uint32_t *row, *inputs, *targets; double *losses;
  struct state { uint64_t mark, n, step, step_of_phase, tokens,
    averaged, at;
    uint64_t phase; double power1, power2; } now;
  struct moments move; double part_square[BLOCKS];
};

/* <Draw the first weights> */

/* Nearly a bell curve: twelve uniform numbers, as whole ones, whose sum has no
   rounding. */
static float noise(uint64_t *dice)
{
  int32_t sum = 0;
  for (int i = 0; i < 12; i++) {
    uint64_t z = *dice += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    sum += (int32_t) (z >> 48) - 32768;
  }
  return (float) sum / 65536;
}

/* The matrices that write into the residual stream begin smaller, by the root of
   their number, or the stream would grow with the layers. Gains begin at 1 and do not
   decay. */
static void draw_weights(struct trainer *t)
{
  uint64_t dice = t->p->seed << 32;
  const struct parameter *p;
  for (size_t i = 0; (p = network_parameter(t->net, i)) != NULL; i++) {
    bool last = strstr(p->name, "o_proj") != NULL
      || strstr(p->name, "down_proj") != NULL;
    float layers = last ? 2 * (float) t->p->form.n_layers : 1;
    float size = i == 0 ? 0.02f : 0.5f / sqrtf((float) p->cols * layers);
    for (size_t k = p->offset; k < p->offset + p->rows * p->cols; k++) {
      t->w[k] = p->rows == 1 ? 1 : size * noise(&dice);
      t->decays[k] = p->rows > 1;
    }
  }
}

#include "training/run.inc"

/* <A step of training> */

/* one pass; share divides by the rows of all passes of the step, so that gradients
   only have to be added */
static bool learn_from_rows(struct trainer *t, const struct training_phase *s,
  double *sum,
  struct error *why)
{
  size_t n = s->length;
  for (uint32_t i = 0; i < s->sequences; i++) {
    if (!dataset_row(t->feed, t->row, n + 1, why)) return false;
    memcpy(t->inputs + i * n, t->row, n * sizeof *t->inputs);
    memcpy(t->targets + i * n, t->row + 1, n * sizeof *t->inputs);
  }
  struct batch b = { t->inputs, t->targets, s->sequences, n,
    1.0f / (float) (s->sequences * n * s->passes) };
  if (!network_forward(t->net, t->w, &b, why)) return false;
  network_loss(t->net, &b, t->losses);
  network_backward(t->net, t->w, &b, t->gradient);
  for (size_t i = 0; i < s->sequences * n; i++) *sum += t->losses[i];
  t->now.tokens += s->sequences * n;
  return true;
}

/* a fixed number of blocks, whatever the workers: their sums are then added in order */
static void square_part(void *ctx, unsigned worker, unsigned workers)
{
  struct trainer *t = ctx;
  for (size_t b = worker; b < BLOCKS; b += workers) {
    size_t from = t->n * b / BLOCKS, to = t->n * (b + 1) / BLOCKS;
    t->part_square[b] = network_gradients(t->net)->square(t->gradient
      + from, to - from);
  }
}

/* shares of whole cache lines, in multiples of 64 weights */
static void adam_part(void *ctx, unsigned worker, unsigned workers)
{
  struct trainer *t = ctx;
  network_gradients(t->net)->adam(&t->move,
    t->n / 64 * worker / workers * 64,
    worker + 1 == workers ? t->n : t->n / 64 * (worker + 1) / workers
      * 64);
}

/* The gradient is scaled down to norm 1 if its norm is larger. power1 and power2
   correct the moments for their beginning at 0. */
static void move_weights(struct trainer *t, const struct training_phase *s)
{
  struct state *now = &t->now;
  double square = 0;
  pool_run(t->pool, square_part, t);
  for (int b = 0; b < BLOCKS; b++) square += t->part_square[b];
  /* <Find the rate of this step> */
  float gone = (float) now->step_of_phase / (float) phase_steps(s);
  float rise = (float) (now->step_of_phase + 1) / (float) s->warm_up;
  float rate = fmaf(gone, s->to - s->from, s->from)
    * (rise < 1 ? rise : 1);
  now->power1 *= (double) 0.9f, now->power2 *= (double) 0.95f;
  /* <Find the memory of the running mean> */
  if (s->averaged) now->averaged++;
  float keep = (float) (now->averaged - 1) / (float) (now->averaged + 3);
  t->move = (struct moments) { t->w, t->gradient, t->first, t->second,
    s->averaged ? t->mean : NULL, t->decays, rate,
    square > 1 ? (float) (1 / sqrt(square))
      : 1, (float) (1 / (1 - now->power1)),
    (float) (1 / (1 - now->power2)), keep < 0.99f ? keep : 0.99f };
  pool_run(t->pool, adam_part, t);
}

/* at is noted when the weights have moved, so a state never has rows that it has not
   learnt from. */
bool trainer_step(struct trainer *t, struct training_progress *done,
  struct error *why)
{
  const struct training_phase *s = &t->p->phase[t->now.phase];
  double sum = 0;
  for (uint32_t pass = 0; pass < s->passes; pass++)
    if (!learn_from_rows(t, s, &sum, why)) return false;
  struct float_modes modes;
  float_modes_begin(&modes);
  move_weights(t, s);
  float_modes_end(&modes);
  t->now.at = dataset_at(t->feed);
  t->now.step++, t->now.step_of_phase++;
  if (t->now.step_of_phase == phase_steps(s)
    && t->now.phase + 1 < TRAINING_PHASES)
    t->now.phase++, t->now.step_of_phase = 0;
  double rows = (double) s->sequences * s->length * s->passes;
  *done = (struct training_progress) { t->now.step, t->now.tokens,
    (float) (sum / rows),
    t->move.rate };
  return true;
}
