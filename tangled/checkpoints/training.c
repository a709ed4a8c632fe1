/* the program -- made from workshop/12-training.w; change it there */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ground/timing.h"
#include "functions/numbers.h"
#include "training/publish.h"

/* <Train> */
struct run {
  struct memory m; struct error why;
  struct grammar *g; struct bpe_merge *merges; size_t n_merges;
  struct tokenizer *words; struct source *feed; struct pool *crew;
  struct trainer *t; struct progress done;
};

static bool run_open(struct run *r, const struct plan *p,
  unsigned workers)
{
  const struct kernels *k = kernels_find(NULL, &r->why);
  r->g = grammar_open(&r->m, "models/corpus.grammar", &r->why);
  if (r->g == NULL || k == NULL
    || !training_merges(&r->m, r->g, &r->merges, &r->n_merges,
      &r->why)) return false;
  r->words = tokenizer_from_merges(&r->m, r->merges, r->n_merges,
    &r->why);
  if (r->words == NULL) return false;
  r->feed = source_open(&r->m, r->g, r->words, SEED_TRAINING, &r->why);
  r->crew = pool_open(&r->m, workers, &r->why);
  if (r->feed == NULL || r->crew == NULL) return false;
  r->t = trainer_open(&r->m, p, k, r->crew, r->feed, &r->why);
  return r->t != NULL;
}

static void run_close(struct run *r)
{
  trainer_close(&r->m, r->t);
  pool_close(&r->m, r->crew);
  source_close(&r->m, r->feed);
  tokenizer_close(&r->m, r->words);
  bpe_forget(&r->m, r->merges);
  grammar_close(&r->m, r->g);
}

static FILE *log_open(const char *path, uint64_t steps)
{
  char half[320], line[120];
  snprintf(half, sizeof half, "%s.new", path);
  FILE *old = fopen(path, "r"), *new = fopen(half, "w");
  if (new == NULL) return NULL;
  fprintf(new, "step,tokens,loss,rate\n");
  if (old != NULL) {
    if (fgets(line, sizeof line, old) != NULL)
      for (uint64_t i = 0; i < steps && fgets(line, sizeof line, old)
        != NULL; i++)
        fputs(line, new);
    fclose(old);
  }
  return rename(half, path) == 0 ? new : NULL;
}

static bool run_steps(struct run *r, const struct plan *p,
  const char *kept, FILE *log)
{
  uint64_t last = plan_steps(p), n = 0;
  double start = timing_seconds(), saved = start, said = start, mean =
    0, left = 0;
  while (r->done.step < last) {
    uint64_t before = r->done.tokens;
    if (!trainer_step(r->t, &r->done, &r->why)) return false;
    /* <Write a line of the log> */
    fprintf(log, "%llu,%llu,%.9g,%.9g\n",
      (unsigned long long) r->done.step,
      (unsigned long long) r->done.tokens, (double) r->done.loss,
      (double) r->done.rate);
    n += r->done.tokens - before;
    mean = 0.98 * mean + 0.02 * (double) r->done.loss;
    left = 0.98 * left + 0.02;
    double now = timing_seconds();
    if (now - said > 10) {
      double rate = (double) n / (now - start);
      double all = (double) plan_tokens(p) - (double) r->done.tokens;
      fprintf(stderr, "step %llu of %llu, %.2f M tokens, loss %.3f,"
        " %.0f tokens/s, %.0f min left\n",
        (unsigned long long) r->done.step, (unsigned long long) last,
        1e-6 * (double) r->done.tokens, mean / left, rate, all / rate / 60);
      said = now;
    }
    /* <Save the state every two minutes, and at the end> */
    if (now - saved > 120 || r->done.step == last) {
      if (fflush(log) != 0 || !trainer_save(r->t, kept, &r->why))
        return false;
      saved = now;
    }
  }
  return true;
}

static bool copy_file(const char *from, const char *to, struct error *why)
{
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  bool ok = in != NULL && out != NULL;
  for (int c; ok && (c = fgetc(in)) != EOF;) ok = fputc(c, out) != EOF;
  if (in != NULL) fclose(in);
  if (out != NULL) ok = fclose(out) == 0 && ok;
  return ok || error_say(why, "%s: cannot be copied to %s", from, to);
}

static bool run_publish(struct run *r, const struct plan *p,
  const char *log)
{
  char copy[300];
  struct network *net = trainer_network(r->t);
  snprintf(copy, sizeof copy, "%s/training.csv", p->directory);
  return model_write(&r->m, p->directory, &p->form, net,
    trainer_weights(r->t),
    r->merges, r->n_merges, &r->why) && copy_file(log, copy, &r->why);
}

static int train(int n, char **word)
{
  const struct plan *p = n > 0 && strcmp(word[0], "draft") == 0
    ? &plan_draft : &plan_model;
  const char *folder = n > 1 ? word[1] : "work/run";
  struct run r = { .done = { .step = 0 } };
  char kept[300], log[300];
  snprintf(kept, sizeof kept, "%s/%s.state", folder, p->name);
  snprintf(log, sizeof log, "%s/%s.csv", folder, p->name);
  FILE *f = NULL;
  unsigned workers = n > 2 ? (unsigned) atoi(word[2]) : pool_cores();
  bool ok = run_open(&r, p, workers);
  if (ok && !trainer_load(r.t, kept, &r.done, &r.why))
    fprintf(stderr, "a new run (%s)\n", r.why.words);
  if (ok && (f = log_open(log, r.done.step)) == NULL)
    ok = error_say(&r.why, "%s: cannot be written", log);
  ok = ok && run_steps(&r, p, kept, f) && fflush(f) == 0
    && run_publish(&r, p, log);
  if (f != NULL) fclose(f);
  if (!ok) fprintf(stderr, "%s\n", r.why.words);
  run_close(&r);
  return ok ? 0 : 1;
}

/* <What the checkpoint shows> */

/* <Draw by lot> */
static float lot(uint64_t *dice)
{
  *dice = *dice * UINT64_C(6364136223846793005)
    + UINT64_C(1442695040888963407);
  return (float) (int32_t) (*dice >> 60) / 8 - 0.9375f;
}

static const struct shape tiny = { 2, 32, 2, 1, 16, 48, 40, 64 };
enum { TINY_ROWS = 16 };
struct lab { struct memory m; struct error why; struct network *net;
  size_t n; float *w, *grad; double losses[TINY_ROWS];
  uint32_t inputs[TINY_ROWS], targets[TINY_ROWS]; };

static bool lab_open(struct lab *l)
{
  uint64_t dice = 5;
  l->net = network_open(&l->m, &tiny, TINY_ROWS,
    kernels_find(NULL, &l->why), NULL, &l->why);
  if (l->net == NULL) return false;
  l->n = network_count(l->net);
  l->w = memory_alloc(&l->m, FOR_TRAINING, l->n, sizeof(float), &l->why);
  l->grad = memory_alloc(&l->m, FOR_TRAINING, l->n, sizeof(float), &l->why);
  if (l->w == NULL || l->grad == NULL) return false;
  for (size_t i = 0; i < l->n; i++) l->w[i] = 0.5f * lot(&dice);
  for (size_t i = 0; i < TINY_ROWS; i++) {
    l->inputs[i] = (uint32_t) (7 * i % 40);
    l->targets[i] = (uint32_t) (11 * i % 40);
  }
  return true;
}

static double lab_loss(struct lab *l, size_t rows)
{
  struct batch b = { l->inputs, l->targets, 1, rows, 1.0f };
  double sum = 0;
  if (!network_forward(l->net, l->w, &b, &l->why)) return 0;
  network_judge(l->net, &b, l->losses);
  for (size_t i = 0; i < rows; i++) sum += l->losses[i];
  return sum;
}

static void lab_close(struct lab *l)
{
  memory_free(&l->m, l->w);
  memory_free(&l->m, l->grad);
  network_close(&l->m, l->net);
}

static void differ(struct lab *l, const struct parameter *p,
  double *far, double *back)
{
  uint64_t dice = 3 + p->offset;
  size_t n = p->rows * p->cols;
  float old[40 * 48], way[40 * 48], step = 0x1p-9f;
  double loss[2];
  memcpy(old, l->w + p->offset, n * sizeof *old);
  *back = 0;
  for (size_t i = 0; i < n; i++) {
    way[i] = lot(&dice);
    *back += (double) way[i] * (double) l->grad[p->offset + i];
  }
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < n; i++)
      l->w[p->offset + i] = old[i] + (side == 0 ? -step : step) * way[i];
    loss[side] = lab_loss(l, TINY_ROWS);
  }
  memcpy(l->w + p->offset, old, n * sizeof *old);
  *far = (loss[1] - loss[0]) / (2 * (double) step);
}

static double gradients(struct lab *l, bool aloud)
{
  double worst = 0, far, back;
  struct batch b = { l->inputs, l->targets, 1, TINY_ROWS, 1.0f };
  const struct parameter *p;
  memset(l->grad, 0, l->n * sizeof *l->grad);
  lab_loss(l, TINY_ROWS);
  network_backward(l->net, l->w, &b, l->grad);
  for (size_t i = 0; (p = network_parameter(l->net, i)) != NULL; i++) {
    differ(l, p, &far, &back);
    double off = (far - back) / (back == 0 ? 1 : back);
    if (off < 0) off = -off;
    worst = off > worst ? off : worst;
    if (!aloud || strstr(p->name, "layers.1") != NULL) continue;
    printf("grad.%zu.far %.4f\n", i < 10 ? i : (size_t) 10, far);
    printf("grad.%zu.back %.4f\n", i < 10 ? i : (size_t) 10, back);
  }
  return worst;
}

static int forced(struct lab *l)
{
  double all[TINY_ROWS];
  int same = 0;
  lab_loss(l, TINY_ROWS);
  memcpy(all, l->losses, sizeof all);
  for (size_t n = 2; n <= TINY_ROWS; n++) {
    lab_loss(l, n);
    same += l->losses[n - 1] == all[n - 1];
  }
  return same;
}

static double by_hand(float z[3])
{
  z[0] = num_logf(3), z[1] = num_logf(2), z[2] = 0;
  return slopes_plain.judge(z, 3, 1, 1.0f);
}

static int print_checkpoint(void)
{
  static struct lab l;
  float z[3];
  double loss = by_hand(z);
  printf("by hand: loss %.6f, gradient %.6f %.6f %.6f\n", loss, (double) z[0],
    (double) z[1], (double) z[2]);
  if (!lab_open(&l)) return 1;
  printf("gradients of 20 tensors, worst: %.4f of itself\n",
    gradients(&l, false));
  printf("one pass against 15: %d losses the same\n", forced(&l));
  lab_close(&l);
  return 0;
}

static void print_plans(void)
{
  const struct shape *s = &plan_model.form;
  uint32_t q = s->n_heads * s->head_dim, kv = s->n_kv_heads * s->head_dim;
  uint32_t length = plan_model.leg[STRETCHES - 1].length;
  printf("train.kept.rows %u\n", (unsigned) (4 * s->d_model + 2 * q
    + 2 * kv + 3 * s->d_inner));
  printf("train.kept.known %u\n", (unsigned) (2 * s->n_heads));
  printf("train.length %u\ntrain.kept.weights %u\n", (unsigned) length,
    (unsigned) (s->n_heads * (length + 1) / 2));
  printf("train.merges %d\n", MERGES);
  printf("train.steps %llu\ntrain.tokens %.1f\n",
    (unsigned long long) plan_steps(&plan_model), 1e-6 * (double)
    plan_tokens(&plan_model));
  printf("train.draft.steps %llu\ntrain.draft.tokens %.1f\n",
    (unsigned long long) plan_steps(&plan_draft), 1e-6 * (double)
    plan_tokens(&plan_draft));
}

static int print_values(void)
{
  static struct lab l;
  if (!lab_open(&l)) return 1;
  double worst = gradients(&l, true);
  printf("grad.worst %.4f\n", worst);
  printf("claim.S1-38 %d\nclaim.S1-51 %d\n", forced(&l), forced(&l));
  lab_close(&l);
  print_plans();
  return 0;
}

/* <Main> */
int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "train") == 0) return train(argc - 2, argv + 2);
  if (strcmp(what, "values") == 0) return print_values();
  return print_checkpoint();
}
