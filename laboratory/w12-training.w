@i types.w

\chapterquestion{What goes into a training run?}
@** The training run of the built-in model. \label{lab:run}
\incipit{T}{his program} trains the built-in model and its sibling. With |"train"| it carries out a plan; \texttt{make model} calls it so. It also counts what the rows of a run are made
of: without an argument it prints the checkpoint of \cref{sec:trainrows}, with |"values"| the keys that the prose quotes, and with |"pack"| the data
of \cref{fig:pack}.

@c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ground/new_file.h"
#include "ground/timing.h"
#include "kernels/kernels.h"
#include "training/publish.h"
@;@#
@<A grammar, a tokenizer and a source@>@;
@<Train@>@;
@<Follow one row@>@;
@<Count what many rows are made of@>@;
@<Print how a few rows are packed@>@;
@<Print the plans@>@;
@<Main@>@;

@ The words after |"train"| are read by |train|. The other words need a source.
@<Main@>=
int main(int argc, char **argv)
{
  static struct feed f;
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "train") == 0) return train(argc - 2, argv + 2);
  bool values = strcmp(what, "values") == 0, ok = feed_open(&f);
  if (ok && strcmp(what, "pack") == 0) ok = print_pack(&f);
  else if (ok) ok = count_rows(&f, !values);
  if (ok && values) print_plans();
  if (!ok) fprintf(stderr, "%s\n", f.why.text);
  feed_close(&f);
  return !ok;
}

@* Grammar, tokenizer and source. \label{lab:runfeed}
A source needs a grammar and a tokenizer. The merges are learnt again, which takes a second: a run that begins with nothing
but its seeds cannot use a tokenizer that was not renewed when the grammar changed.

@<A grammar, a tokenizer and a source@>=
struct feed { struct memory m; struct error why; struct grammar *g;
  struct bpe_merge *merges; size_t n; struct tokenizer *words;
  struct dataset *source; struct passage piece; };
@#
static bool feed_open(struct feed *f)
{
  f->g = grammar_open(&f->m, "models/corpus.grammar", &f->why);
  if (f->g == NULL || !dataset_merges(&f->m, f->g, &f->merges, &f->n,
    &f->why)) return false;
  f->words = tokenizer_from_merges(&f->m, f->merges, f->n, &f->why);
  if (f->words == NULL) return false;
  f->source = dataset_open(&f->m, f->g, f->words, SEED_TRAINING, &f->why);
  return f->source != NULL;
}
@#
static void feed_close(struct feed *f)
{
  dataset_close(&f->m, f->source);
  tokenizer_close(&f->m, f->words);
  bpe_forget(&f->m, f->merges);
  grammar_close(&f->m, f->g);
}

@* The training run. \label{lab:runtrain}
A run adds the workers and the trainer.
@<Train@>=
struct run { struct feed f; struct pool *pool; struct trainer *t;
  struct training_progress done; };
@#
static bool run_open(struct run *r, const struct training_plan *p,
  unsigned workers)
{
  struct error *why = &r->f.why;
  const struct kernels *k = kernels_find(NULL, why);
  if (k == NULL || !feed_open(&r->f)) return false;
  r->pool = pool_open(&r->f.m, workers, why);
  if (r->pool == NULL) return false;
  r->t = trainer_open(&r->f.m, p, k, r->pool, r->f.source, why);
  return r->t != NULL;
}
@#
static void run_close(struct run *r)
{
  trainer_close(&r->f.m, r->t);
  pool_close(&r->f.m, r->pool);
  feed_close(&r->f);
}

@ An interrupted run continues from its last saved state, which may be older than the last line of its log. So the log is cut back to
the steps of that state. The steps after it are done again, and give the same lines.
@<Train@>=
static FILE *log_open(const char *path, uint64_t steps, struct error *why)
{
  char line[120];
  struct new_file to;
  if (!new_file_open(&to, path, false, why)) return NULL;
  FILE *old = fopen(path, "r");
  fprintf(to.f, "step,tokens,loss,rate\n");
  if (old != NULL) {
    if (fgets(line, sizeof line, old) != NULL)
      for (uint64_t i = 0; i < steps && fgets(line, sizeof line, old)
        != NULL; i++)
        fputs(line, to.f);
    fclose(old);
  }
  return new_file_end(&to, true, why) ? fopen(path, "a") : NULL;
}



@ In the loop the time decides only when a line of progress is shown, every ten seconds, and when the state is saved, every two minutes. No weight ever depends on it.
@<Train@>=
static bool run_steps(struct run *r, const struct training_plan *p,
  const char *kept, FILE *log)
{
  uint64_t last = training_plan_steps(p), n = 0;
  double start = timing_seconds(), saved = start, said = start, mean =
    0, left = 0;
  while (r->done.step < last) {
    uint64_t before = r->done.tokens;
    if (!trainer_step(r->t, &r->done, &r->f.why)) return false;
    @<Write a line of the log@>@;
    n += r->done.tokens - before;
    mean = 0.98 * mean + 0.02 * (double) r->done.loss;
    left = 0.98 * left + 0.02;
    double now = timing_seconds();
    if (now - said > 10) @<Say how far the run is@>@;
    @<Save the state every two minutes, and at the end@>@;
  }
  return true;
}



@ The log is flushed before the state is saved, so that it has every step that the state has. A state takes a moment to write, and an interruption costs two minutes at most.
@<Save the state every two minutes, and at the end@>=
if (now - saved > 120 || r->done.step == last) {
  if (fflush(log) != 0 || !trainer_save(r->t, kept, &r->f.why))
    return false;
  saved = now;
}



@ Nine digits of the loss tell any two floats apart.
@<Write a line of the log@>=
fprintf(log, "%llu,%llu,%.9g,%.9g\n",
  (unsigned long long) r->done.step,
  (unsigned long long) r->done.tokens, (double) r->done.loss,
  (double) r->done.rate);



@ The loss of one step jumps with its texts, so the line shows a running mean, divided by the share of it that has been filled, as in \cref{sec:adam}. The time that is left follows from the
speed so far. It is too short where long rows are still to come, since a token of a long row costs more.
@<Say how far the run is@>=
{
  double rate = (double) n / (now - start);
  double all = (double) training_plan_tokens(p) - (double) r->done.tokens;
  fprintf(stderr, "step %llu of %llu, %.2f M tokens, loss %.3f,"@|
    " %.0f tokens/s, %.0f min left\n",
    (unsigned long long) r->done.step, (unsigned long long) last,
    1e-6 * (double) r->done.tokens, mean / left, rate, all / rate / 60);
  said = now;
}



@ The log stays in the folder of the run, in case the run goes on. So it is copied, byte for byte.
@<Train@>=
static bool copy_file(const char *from, const char *to, struct error *why)
{
  struct new_file copy;
  FILE *in = fopen(from, "rb");
  if (in == NULL) return error_say(why, "%s: cannot be opened", from);
  bool ok = new_file_open(&copy, to, false, why);
  for (int c; ok && (c = fgetc(in)) != EOF;) fputc(c, copy.f);
  fclose(in);
  return ok && new_file_end(&copy, true, why);
}



@ Publishing rounds and writes the weights and the tokenizer, and copies the log beside them.
@<Train@>=
static bool run_publish(struct run *r, const struct training_plan *p,
  const char *log)
{
  char copy[300];
  struct network *net = trainer_network(r->t);
  snprintf(copy, sizeof copy, "%s/training.csv", p->directory);
  return publish_model(&r->f.m, p->directory, &p->form, net,
    trainer_weights(r->t),
    r->f.merges, r->f.n, &r->f.why) && copy_file(log, copy, &r->f.why);
}



@ The words after |"train"| are the model, the folder of its state, and the number of workers. All of them have defaults, and
the result does not depend on the last two. The same command begins a run and continues it: |train| tries to load a state and, if there is none, shows why and begins anew. A plan of your
own needs a constant beside the two of \cref{sec:plan}, and a word here.
@<Train@>=
static int train(int n, char **word)
{
  const struct training_plan *p = n > 0 && strcmp(word[0], "draft") == 0
    ? &training_plan_draft : &training_plan_model;
  const char *folder = n > 1 ? word[1] : "work/run";
  static struct run r;
  char kept[300], log[300];
  snprintf(kept, sizeof kept, "%s/%s.state", folder, p->name);
  snprintf(log, sizeof log, "%s/%s.csv", folder, p->name);
  FILE *f = NULL;
  unsigned workers = n > 2 ? (unsigned) atoi(word[2]) : pool_cores();
  bool ok = run_open(&r, p, workers);
  if (ok && !trainer_load(r.t, kept, &r.done, &r.f.why))
    fprintf(stderr, "a new run (%s)\n", r.f.why.text);
  if (ok && (f = log_open(log, r.done.step, &r.f.why)) == NULL)
    ok = false;
  ok = ok && run_steps(&r, p, kept, f) && fflush(f) == 0
    && run_publish(&r, p, log);
  if (f != NULL) fclose(f);
  if (!ok) fprintf(stderr, "%s\n", r.f.why.text);
  run_close(&r);
  return ok ? 0 : 1;
}



@* The training texts. \label{lab:runrows}
To learn how many tokens a text has, we write and encode it once more, apart from the source. So what the source did can be checked.

@<Follow one row@>=
enum { LENGTH = 512, ROWS = 200 };
static size_t tokens_of(struct feed *f, uint64_t text)
{
  struct ids list = @[{ .n = 0 }@];
  if (!grammar_write(f->g, SEED_TRAINING, text, &f->piece, &f->why)
    || !tokenizer_encode(f->words, &f->m, f->piece.words,
      f->piece.length, false, false, &list, &f->why)) return 0;
  size_t n = list.n;
  ids_free(&f->m, &list);
  return n;
}

@ The position of the source before and after a row tells us which texts the row has used. The rule of \cref{sec:trainrows} then
says where each text begins and ends. For every text |see| is told where it begins, and where it would end if rows had no end. A row is right only if its last text reaches its end.

@<Follow one row@>=
static bool follow(struct feed *f, size_t row, void *ctx,
  void (*see)(void *ctx, size_t row, size_t from, size_t to))
{
  static uint32_t ids[LENGTH];
  uint64_t text = dataset_at(f->source);
  if (!dataset_row(f->source, ids, LENGTH, &f->why)) return false;
  size_t at = text & 1;
  for (bool first = true; text < dataset_at(f->source); first = false) {
    at += first ? 0 : 1;
    size_t n = tokens_of(f, text++);
    see(ctx, row, at, at + n);
    at += n;
  }
  return at >= LENGTH;
}

@ Four sums are kept. A text that begins at place 1 has an end-of-text before it at the beginning of its row; a later text begins farther on.

@<Count what many rows are made of@>=
struct tallies { size_t texts, written, dropped, marked; };
@#
static void tally_text(void *ctx, size_t row, size_t from, size_t to)
{
  struct tallies *t = ctx;
  (void) row;
  t->texts++, t->written += to - from;
  t->dropped += to > LENGTH ? to - LENGTH : 0;
  t->marked += from == 1;
}

@ The sums are printed as sentences for the checkpoint, or as keys.

@<Count what many rows are made of@>=
static bool count_rows(struct feed *f, bool aloud)
{
  struct tallies t = @[{ .texts = 0 }@];
  for (size_t row = 0; row < ROWS; row++)
    if (!follow(f, row, &t, tally_text)) return false;
  double texts = (double) t.texts / ROWS;
  double lost = 100 * (double) t.dropped / (double) t.written;
  if (aloud)
    printf("%d rows of %d tokens: %.1f texts a row, %.1f %% dropped\n"@|
      "%zu rows begin with end-of-text\n", ROWS, LENGTH, texts, lost,
      t.marked);
  else
    printf("rows.counted %d\nrows.length %d\nrows.texts %.4f\n"@|
      "rows.dropped %.4f\nrows.marked %zu\nrows.merges %d\n", ROWS,
      LENGTH, texts, lost, t.marked, DATASET_MERGES);
  return true;
}

@ In the data of the figure a line of |nan| lifts the pen.

@<Print how a few rows are packed@>=
static void draw_text(void *ctx, size_t row, size_t from, size_t to)
{
  size_t end = to < LENGTH ? to : LENGTH;
  (void) ctx;
  printf("%zu,%zu,nan\n%zu,%zu,nan\nnan,nan,nan\n", from, 8 - row, end,
    8 - row);
  if (to > LENGTH)
    printf("%zu,nan,%zu\n%zu,nan,%zu\nnan,nan,nan\n", end, 8 - row, to,
      8 - row);
}
@#
static bool print_pack(struct feed *f)
{
  bool ok = true;
  printf("token,kept,dropped\n");
  for (size_t row = 0; ok && row < 8; row++)
    ok = follow(f, row, NULL, draw_text);
  return ok;
}

@ Of the plans the prose quotes the sizes, and what a layer keeps for the way back. That number follows from the widths of |lay_out_layer|.
@<Print the plans@>=
static void print_plans(void)
{
  const struct model_shape *s = &training_plan_model.form;
  uint32_t q = s->n_heads * s->head_dim, kv = s->n_kv_heads * s->head_dim;
  uint32_t length = training_plan_model.phase[TRAINING_PHASES - 1].length;
  printf("train.kept.rows %u\n", (unsigned) (4 * s->d_model + 2 * q
    + 2 * kv + 3 * s->d_inner));
  printf("train.kept.known %u\n", (unsigned) (2 * s->n_heads));
  printf("train.length %u\ntrain.kept.weights %u\n", (unsigned) length,
    (unsigned) (s->n_heads * (length + 1) / 2));
  printf("train.merges %d\n", DATASET_MERGES);
  printf("train.steps %llu\ntrain.tokens %.1f\n",
    (unsigned long long) training_plan_steps(&training_plan_model), 1e-6 * (double)
    training_plan_tokens(&training_plan_model));
  printf("train.draft.steps %llu\ntrain.draft.tokens %.1f\n",
    (unsigned long long) training_plan_steps(&training_plan_draft), 1e-6 * (double)
    training_plan_tokens(&training_plan_draft));
}
