/* training.c -- made from workshop/12-training.w; change it there */

/* A run carries out a plan, one step at a time, and nothing in it depends on a clock
   or on the number of workers. now has all that a run knows besides four lists of
   numbers, and is saved as it is in memory: a state is for the same machine and the
   same build. The gradient is zero between steps. What the plan says of step n is
   computed from n, so a run that was interrupted goes on bit for bit. */
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
  { 2, 128, 4, 2, 32, 384, 2048, 2048 },
  { { 1600000, 2, 512, 1, 7e-3f, 1.4e-3f, 150, false },
    { 400000, 1, 2048, 1, 1.4e-3f, 0, 1, false },
    { 300000, 1, 2048, 4, 1e-3f, 0, 10, true },
    { 400000, 8, 256, 3, 3e-4f, 0, 10, true } }, 2 };

static uint64_t phase_steps(const struct training_phase *s)
{
  uint64_t each_step = (uint64_t) s->sequences * s->length * s->passes;
  return (s->tokens + each_step - 1) / each_step;
}

uint64_t training_plan_steps(const struct training_plan *p)
{
  uint64_t n = 0;
  for (int i = 0; i < TRAINING_PHASES; i++) n += phase_steps(&p->phase[i]);
  return n;
}

uint64_t training_plan_tokens(const struct training_plan *p)
{
  uint64_t n = 0;
  for (int i = 0; i < TRAINING_PHASES; i++) n += p->phase[i].tokens;
  return n;
}

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

/* <Open and close a training run> */
static bool alloc_buffers(struct trainer *t, struct error *why)
{
  float **buffer[] = { &t->w, &t->gradient, &t->first, &t->second,
    &t->mean };
  uint32_t **row[] = { &t->row, &t->inputs, &t->targets };
  struct arena *a = &t->buffers;
  for (int i = 0; i < 5; i++) *buffer[i] = arena_alloc(a, MEMORY_TRAINING,
    t->n, sizeof(float), why);
  for (int i = 0; i < 3; i++) *row[i] = arena_alloc(a, MEMORY_TRAINING,
    t->max_rows + 1, sizeof(uint32_t), why);
  t->losses = arena_alloc(a, MEMORY_TRAINING, t->max_rows,
    sizeof *t->losses, why);
  t->decays = arena_alloc(a, MEMORY_TRAINING, t->n, sizeof *t->decays, why);
  return !a->refused;
}

struct trainer *trainer_open(struct memory *m, const struct training_plan *p,
  const struct kernels *k, struct pool *pool, struct dataset *s,
    struct error *why)
{
  struct trainer *t = memory_alloc(m, MEMORY_TRAINING, 1, sizeof *t, why);
  if (t == NULL) return NULL;
  t->p = p;
  t->pool = pool;
  t->feed = s;
  t->buffers.m = m;
  t->now = (struct state) { .mark = STATE_MARK, .power1 = 1, .power2 =
    1 };
  /* <Find the largest pass of the plan> */
  for (int i = 0; i < TRAINING_PHASES; i++) {
    size_t rows = (size_t) p->phase[i].sequences * p->phase[i].length;
    if (rows > t->max_rows) t->max_rows = rows;
  }
  t->net = network_open(m, &p->form, t->max_rows, k, pool, why);
  if (t->net != NULL) t->now.n = t->n = network_count(t->net);
  if (t->net != NULL && alloc_buffers(t, why)) {
    draw_weights(t);
    return t;
  }
  trainer_close(m, t);
  return NULL;
}

void trainer_close(struct memory *m, struct trainer *t)
{
  if (t == NULL) return;
  arena_free(&t->buffers);
  network_close(m, t->net);
  memory_free(m, t);
}

/* <A step of training> */

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

/* <Save and load a run> */

/* to a new file that then takes the old one's place: an interrupted save loses
   nothing. Errors of fwrite are found by new_file_end. */
bool trainer_save(const struct trainer *t, const char *path,
  struct error *why)
{
  struct new_file to;
  if (!new_file_open(&to, path, false, why)) return false;
  fwrite(&t->now, sizeof t->now, 1, to.f);
  const float *buffer[] = { t->w, t->first, t->second, t->mean };
  for (int i = 0; i < 4; i++) fwrite(buffer[i], sizeof(float), t->n, to.f);
  return new_file_end(&to, true, why);
}

/* without it a file with something after its numbers would pass */
static bool length_is(FILE *f, size_t n)
{
  long at = ftell(f);
  bool ok = fseek(f, 0, SEEK_END) == 0 && ftell(f) == (long) n;
  return fseek(f, at, SEEK_SET) == 0 && ok;
}

/* After a failure the weights may be half read, and the trainer is of no use: only
   closing it makes sense. */
bool trainer_load(struct trainer *t, const char *path,
  struct training_progress *done,
  struct error *why)
{
  FILE *f = fopen(path, "rb");
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  struct state now;
  bool ok = fread(&now, sizeof now, 1, f) == 1
    && now.mark == STATE_MARK && now.n == t->n
    && length_is(f, sizeof now + 4 * t->n * sizeof(float));
  float *buffer[] = { t->w, t->first, t->second, t->mean };
  for (int i = 0; ok && i < 4; i++) ok =
    fread(buffer[i], sizeof(float), t->n, f) == t->n;
  fclose(f);
  if (!ok) return error_say(why, "%s: no state of this run; wanted: one of %zu weights",
    path, t->n);
  t->now = now;
  dataset_seek(t->feed, now.at);
  *done = (struct training_progress) { .step = now.step, .tokens = now.tokens };
  return true;
}

const float *trainer_weights(const struct trainer *t)
{
  return t->now.averaged > 0 ? t->mean : t->w;
}

struct network *trainer_network(const struct trainer *t)
{
  return t->net;
}
