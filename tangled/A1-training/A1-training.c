/* A1-training.c -- made from chapters/A1-training.w; change it there */

/* A.2 */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "A1-training/publish.h"

/* A.181  Print one text of each sort with its bits */

static struct passage piece;

static int print_samples(void)
{
  struct memory m = {.refuse_at = 0 };
  struct error why;
  struct grammar *g = grammar_open(&m, &why);
  bool seen[N_SORTS] = { false };
  unsigned left = g == NULL ? 0 : 2;
  for (uint64_t n = 0; left > 0; n++) {
    if (!grammar_write(g, SEED_HELD_OUT, n, &piece, &why))
      break;
    if (seen[piece.sort] || piece.length > 300 || piece.sort < 2)
      continue;
    seen[piece.sort] = true, left--;
    printf("%.60s\n%.1f bits\n", piece.words, piece.bits);
  }
  grammar_close(&m, g);
  return 0;
}

/* A.175  Train */

struct run {
  struct memory m;
  struct error why;
  struct grammar *g;
  struct bpe_merge *merges;
  size_t n_merges;
  struct tokenizer *words;
  struct source *source;
  struct pool *pool;
  struct trainer *trainer;
  struct progress done;
};

static bool run_open(struct run *r, const struct plan *p, unsigned workers)
{
  const struct kernels *k = kernels_find(NULL, &r->why);
  r->g = grammar_open(&r->m, &r->why);
  if (r->g == NULL || k == NULL
      || !training_merges(&r->m, r->g, &r->merges, &r->n_merges, &r->why))
    return false;
  r->words = tokenizer_from_merges(&r->m, r->merges, r->n_merges, &r->why);
  if (r->words == NULL)
    return false;
  r->source = source_open(&r->m, r->g, r->words, SEED_TRAINING, &r->why);
  r->pool = pool_open(&r->m, workers, &r->why);
  if (r->source == NULL || r->pool == NULL)
    return false;
  r->trainer = trainer_open(&r->m, p, k, r->pool, r->source, &r->why);
  return r->trainer != NULL;
}

static void run_close(struct run *r)
{
  trainer_close(&r->m, r->trainer);
  pool_close(&r->m, r->pool);
  source_close(&r->m, r->source);
  tokenizer_close(&r->m, r->words);
  bpe_forget(&r->m, r->merges, MERGES);
  grammar_close(&r->m, r->g);
}

/* A.176  Train */

static FILE *log_open(const char *path, uint64_t steps)
{
  char half[320], line[120];
  snprintf(half, sizeof half, "%s.new", path);
  FILE *old = fopen(path, "r"), *new = fopen(half, "w");
  if (new == NULL)
    return NULL;
  fprintf(new, "step,tokens,loss,rate\n");
  if (old != NULL) {
    if (fgets(line, sizeof line, old) != NULL)
      for (uint64_t i = 0; i < steps && fgets(line, sizeof line, old) != NULL; i++)
        fputs(line, new);
    fclose(old);
  }
  return rename(half, path) == 0 ? new : NULL;
}

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A.177  Train */

static bool run_steps(struct run *r, const struct plan *p, const char *state,
                      FILE * log)
{
  uint64_t last = plan_steps(p), n = 0;
  double start = seconds(), saved = start, said = start, mean = 0, left = 0;
  while (r->done.step < last) {
    uint64_t before = r->done.tokens;
    if (!trainer_step(r->trainer, &r->done, &r->why))
      return false;
    fprintf(log, "%llu,%llu,%.9g,%.9g\n", (unsigned long long)r->done.step,
            (unsigned long long)r->done.tokens, (double)r->done.loss,
            (double)r->done.rate);
    n += r->done.tokens - before;
    mean = 0.98 * mean + 0.02 * (double)r->done.loss, left = 0.98 * left + 0.02;
    double now = seconds();
    if (now - said > 10)
/* A.178  Say how far the run is */

    {
      double rate = (double)n / (now - start);
      double all = (double)plan_tokens(p) - (double)r->done.tokens;
      fprintf(stderr,
              "step %llu of %llu, %.2f M tokens, loss %.3f, %.0f tokens/s, %.0f min"
              " left\n", (unsigned long long)r->done.step, (unsigned long long)last,
              1e-6 * (double)r->done.tokens, mean / left, rate, all / rate / 60);
      said = now;
    }

    if (now - saved > 120 || r->done.step == last) {
      if (fflush(log) != 0 || !trainer_save(r->trainer, state, &r->why))
        return false;
      saved = now;
    }
  }
  return true;
}

/* A.179  Train */

static bool copy_file(const char *from, const char *to, struct error *why)
{
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  bool ok = in != NULL && out != NULL;
  for (int c; ok && (c = fgetc(in)) != EOF;)
    ok = fputc(c, out) != EOF;
  if (in != NULL)
    fclose(in);
  if (out != NULL)
    ok = fclose(out) == 0 && ok;
  return ok || error_say(why, "%s: cannot be copied to %s", from, to);
}

static bool run_publish(struct run *r, const struct plan *p, const char *log)
{
  char copy[300];
  struct network *net = trainer_network(r->trainer);
  snprintf(copy, sizeof copy, "%s/training.csv", p->directory);
  return model_write(&r->m, p->directory, &p->shape, net,
                     trainer_weights(r->trainer), r->merges, r->n_merges, &r->why)
      && copy_file(log, copy, &r->why);
}

/* A.180  Train */

static int train(int n, char **word)
{
  const struct plan *p = n > 0 &&
      strcmp(word[0], "draft") == 0 ? &plan_draft : &plan_model;
  const char *folder = n > 1 ? word[1] : "work/run";
  struct run r = {.done = {.step = 0} };
  char state[300], log[300];
  snprintf(state, sizeof state, "%s/%s.state", folder, p->name);
  snprintf(log, sizeof log, "%s/%s.csv", folder, p->name);
  FILE *f = NULL;
  unsigned workers = n > 2 ? (unsigned)atoi(word[2]) : pool_cores();
  bool ok = run_open(&r, p, workers);
  if (ok && !trainer_load(r.trainer, state, &r.done, &r.why))
    fprintf(stderr, "a new run (%s)\n", r.why.words);
  if (ok && (f = log_open(log, r.done.step)) == NULL)
    ok = error_say(&r.why, "%s: cannot be written", log);
  ok = ok && run_steps(&r, p, state, f) && run_publish(&r, p, log);
  if (f != NULL)
    fclose(f);
  if (!ok)
    fprintf(stderr, "%s\n", r.why.words);
  run_close(&r);
  return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "values") == 0)
    return 0;
  if (strcmp(what, "train") == 0)
    return train(argc - 2, argv + 2);
  return print_samples();
}
