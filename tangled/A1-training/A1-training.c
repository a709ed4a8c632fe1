/* A1-training.c -- made from chapters/A1-training.w; change it there */

/* A.2 */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "02-model/forward.h"
#include "A6-kernels/numbers.h"
#include "A1-training/publish.h"

/* A.206  Train */

struct run {
  struct memory m;
  struct error why;
  struct grammar *g;
  struct bpe_merge *merges;
  size_t n_merges;
  struct tokenizer *words;
  struct source *feed;
  struct pool *crew;
  struct trainer *t;
  struct progress done;
};

/* A.207  Train */

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
  r->feed = source_open(&r->m, r->g, r->words, SEED_TRAINING, &r->why);
  r->crew = pool_open(&r->m, workers, &r->why);
  if (r->feed == NULL || r->crew == NULL)
    return false;
  r->t = trainer_open(&r->m, p, k, r->crew, r->feed, &r->why);
  return r->t != NULL;
}

/* A.208  Train */

static void run_close(struct run *r)
{
  trainer_close(&r->m, r->t);
  pool_close(&r->m, r->crew);
  source_close(&r->m, r->feed);
  tokenizer_close(&r->m, r->words);
  bpe_forget(&r->m, r->merges, MERGES);
  grammar_close(&r->m, r->g);
}

/* A.209  Train */

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
      for (uint64_t i = 0; i < steps && fgets(line, sizeof line, old)
           != NULL; i++)
        fputs(line, new);
    fclose(old);
  }
  return rename(half, path) == 0 ? new : NULL;
}

/* A.210  Train */

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A.211  Train */

static bool run_steps(struct run *r, const struct plan *p,
                      const char *kept, FILE * log)
{
  uint64_t last = plan_steps(p), n = 0;
  double start = seconds(), saved = start, said = start, mean = 0, left = 0;
  while (r->done.step < last) {
    uint64_t before = r->done.tokens;
    if (!trainer_step(r->t, &r->done, &r->why))
      return false;
    fprintf(log, "%llu,%llu,%.9g,%.9g\n",
            (unsigned long long)r->done.step,
            (unsigned long long)r->done.tokens, (double)r->done.loss,
            (double)r->done.rate);
    n += r->done.tokens - before;
    mean = 0.98 * mean + 0.02 * (double)r->done.loss, left = 0.98 * left + 0.02;
    double now = seconds();
    if (now - said > 10)
/* A.212  Say how far the run is */

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
      if (fflush(log) != 0 || !trainer_save(r->t, kept, &r->why))
        return false;
      saved = now;
    }
  }
  return true;
}

/* A.213  Train */

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

/* A.214  Train */

static bool run_publish(struct run *r, const struct plan *p, const char *log)
{
  char copy[300];
  struct network *net = trainer_network(r->t);
  snprintf(copy, sizeof copy, "%s/training.csv", p->directory);
  return model_write(&r->m, p->directory, &p->form, net,
                     trainer_weights(r->t),
                     r->merges, r->n_merges, &r->why) &&
      copy_file(log, copy, &r->why);
}

/* A.215  Train */

static int train(int n, char **word)
{
  const struct plan *p = n > 0 && strcmp(word[0], "draft") == 0
      ? &plan_draft : &plan_model;
  const char *folder = n > 1 ? word[1] : "work/run";
  struct run r = {.done = {.step = 0} };
  char kept[300], log[300];
  snprintf(kept, sizeof kept, "%s/%s.state", folder, p->name);
  snprintf(log, sizeof log, "%s/%s.csv", folder, p->name);
  FILE *f = NULL;
  unsigned workers = n > 2 ? (unsigned)atoi(word[2]) : pool_cores();
  bool ok = run_open(&r, p, workers);
  if (ok && !trainer_load(r.t, kept, &r.done, &r.why))
    fprintf(stderr, "a new run (%s)\n", r.why.words);
  if (ok && (f = log_open(log, r.done.step)) == NULL)
    ok = error_say(&r.why, "%s: cannot be written", log);
  ok = ok && run_steps(&r, p, kept, f) && fflush(f) == 0 && run_publish(&r, p, log);
  if (f != NULL)
    fclose(f);
  if (!ok)
    fprintf(stderr, "%s\n", r.why.words);
  run_close(&r);
  return ok ? 0 : 1;
}

/* A.258  The whole examination */

/* A.217  The examination */

enum { HELD_OUT = 600, FACTS = 200000, LONGEST = 2048 };
struct exam {
  struct memory m;
  struct error why;
  FILE *out;
  unsigned failed, asked;
  struct grammar *g;
  struct tokenizer *words;
  struct source *feed;
  struct pool *crew;
  struct counters c;
  struct engine e;
  struct model *lm, *draft;
  struct store *s, *s_draft;
  struct passage piece;
  struct ids list;
  struct bytes back;
  float *logits, *others;
  double *p, *q;
  size_t which[LONGEST], place[LONGEST + 1];
};

/* A.218  The examination */

static void answer(struct exam *x, const char *key, double figure,
                   const char *wanted, bool passed)
{
  x->asked++, x->failed += !passed;
  printf("%-4s  %-34s %12.6g   %s\n", passed ? "PASS"
         : "FAIL", key, figure, wanted);
  fprintf(x->out, "%s,%.9g,\"%s\",%s\n", key, figure, wanted, passed
          ? "PASS" : "FAIL");
}

/* A.219  The examination */

static void least(struct exam *x, const char *key, double figure, double limit)
{
  char wanted[40];
  snprintf(wanted, sizeof wanted, "at least %g", limit);
  answer(x, key, figure, wanted, figure >= limit);
}

/* A.220  The examination */

static void most(struct exam *x, const char *key, double figure, double limit)
{
  char wanted[40];
  snprintf(wanted, sizeof wanted, "at most %g", limit);
  answer(x, key, figure, wanted, figure <= limit);
}

/* A.221  The examination */

static void about(struct exam *x, const char *key, double figure,
                  double right, double slack)
{
  char wanted[40];
  snprintf(wanted, sizeof wanted, "%.4g, give or take %g", right, slack);
  answer(x, key, figure, wanted, figure >= right - slack
         && figure <= right + slack);
}

/* A.222  The examination */

static void note(struct exam *x, const char *key, double figure)
{
  printf("      %-34s %12.6g\n", key, figure);
  fprintf(x->out, "%s,%.9g,\"\",\n", key, figure);
}

/* A.223  The examination */

static bool exam_rooms(struct exam *x)
{
  size_t v = x->lm->config.vocab_size, n = LONGEST * v;
  x->logits = memory_take(&x->m, FOR_OTHER, n, sizeof(float), &x->why);
  x->others = memory_take(&x->m, FOR_OTHER, n, sizeof(float), &x->why);
  x->p = memory_take(&x->m, FOR_OTHER, v, sizeof(double), &x->why);
  x->q = memory_take(&x->m, FOR_OTHER, v, sizeof(double), &x->why);
  for (size_t i = 0; i < LONGEST; i++)
    x->which[i] = i;
  return x->logits != NULL && x->others != NULL && x->p != NULL && x->q != NULL;
}

/* A.224  The examination */

static bool exam_open(struct exam *x, const char *directory, const char *draft)
{
  x->g = grammar_open(&x->m, &x->why);
  x->words = tokenizer_open(&x->m, directory, &x->why);
  x->lm = model_open(&x->m, directory, &x->why);
  if (x->g == NULL || x->words == NULL || x->lm == NULL)
    return false;
  x->crew = pool_open(&x->m, pool_cores(), &x->why);
  x->e = (struct engine) { kernels_find(NULL, &x->why), x->crew,
    &x->c
  };
  x->s = store_open(&x->m, &x->lm->config, 1, &x->why);
  x->feed = source_open(&x->m, x->g, x->words, SEED_HELD_OUT, &x->why);
  if (x->crew == NULL || x->s == NULL || x->feed == NULL || !exam_rooms(x))
    return false;
  if (draft == NULL)
    return true;
  x->draft = model_open(&x->m, draft, &x->why);
  if (x->draft != NULL)
    x->s_draft = store_open(&x->m, &x->draft->config, 1, &x->why);
  return x->s_draft != NULL;
}

/* A.225  The examination */

static void exam_close(struct exam *x)
{
  size_t v = x->lm == NULL ? 0 : x->lm->config.vocab_size;
  memory_give(&x->m, FOR_OTHER, x->logits, LONGEST * v, sizeof(float));
  memory_give(&x->m, FOR_OTHER, x->others, LONGEST * v, sizeof(float));
  memory_give(&x->m, FOR_OTHER, x->p, v, sizeof(double));
  memory_give(&x->m, FOR_OTHER, x->q, v, sizeof(double));
  ids_free(&x->m, &x->list);
  bytes_free(&x->m, &x->back);
  source_close(&x->m, x->feed);
  store_close(x->s), store_close(x->s_draft);
  model_close(&x->m, x->lm), model_close(&x->m, x->draft);
  pool_close(&x->m, x->crew);
  tokenizer_close(&x->m, x->words);
  grammar_close(&x->m, x->g);
}

/* A.226  The examination */

static size_t take_text(struct exam *x, bool begin, const char *text, size_t n)
{
  x->list.n = 0;
  if (begin)
    ids_push(&x->m, &x->list, 0, &x->why);
  tokenizer_encode(x->words, &x->m, text, n, false, false, &x->list, &x->why);
  return x->list.n;
}

/* A.227  The examination */

static bool look_at(struct exam *x, const struct model *lm,
                    struct store *s, size_t n, float *logits)
{
  return evaluate(&x->e, lm, s, x->list.id, n, x->which, n, logits, &x->why);
}

/* A.228  The examination */

static const double *probabilities(struct exam *x, const float *logits,
                                   size_t row, double *p)
{
  size_t v = x->lm->config.vocab_size;
  x->e.k->softmax(&x->e, logits + row * v, 1, v, p);
  return p;
}

/* A.229  The examination */

static const double *after(struct exam *x, bool begin, const char *text)
{
  size_t n = take_text(x, begin, text, strlen(text));
  if (!look_at(x, x->lm, x->s, n, x->logits))
    return NULL;
  return probabilities(x, x->logits, n - 1, x->p);
}

/* A.230  The examination */

static uint32_t first_id(struct exam *x, const char *text)
{
  struct ids own = { NULL, 0, 0 };
  tokenizer_encode(x->words, &x->m, text, strlen(text), false, false,
                   &own, &x->why);
  uint32_t id = own.n > 0 ? own.id[0] : 0;
  ids_free(&x->m, &own);
  return id;
}

/* A.254  The length of a text in tokens */

static size_t take_length(struct exam *x, const char *text)
{
  struct ids own = { NULL, 0, 0 };
  tokenizer_encode(x->words, &x->m, text, strlen(text), false, false,
                   &own, &x->why);
  size_t n = own.n;
  ids_free(&x->m, &own);
  return n;
}

/* A.231  Examine corpus and tokenizer */

static void exam_prompts(struct exam *x)
{
  static const struct {
    const char *key, *text;
    size_t tokens;
  } prompt[] = {
    {"prompt.cat", "The cat sat", 3}, {"prompt.mat",
                                       "The cat sat on the mat.", 7},
    {"prompt.tale", "Once upon a time, in a small", 8},
    {"prompt.sea", "In a small kingdom by the sea,", 8},
    {"prompt.code", "def count_apples(basket):", 7},
    {"prompt.talk", "User: Where does the fox live?", 8},
    {"prompt.fork", "The harvest of the kingdom was very good.", 9},
    {"prompt.on", " on", 1}, {"prompt.the", " the", 1},
    {"prompt.mat1", " mat", 1}, {"prompt.dot", ".", 1}
  };
  for (size_t i = 0; i < sizeof prompt / sizeof prompt[0]; i++) {
    double n = (double)take_text(x, false, prompt[i].text,
                                 strlen(prompt[i].text));
    about(x, prompt[i].key, n, (double)prompt[i].tokens, 0);
  }
}

/* A.232  Examine corpus and tokenizer */

static bool exam_texts(struct exam *x)
{
  static const char *const share[] = { "share.tale", "share.home",
    "share.chronicle",
    "share.code", "share.talk"
  }, *const rate[] = { "bits.tale", "bits.home",
    "bits.chronicle", "bits.code", "bits.talk"
  };
  double bits[N_SORTS] = { 0 }, tokens[N_SORTS] = { 0 }, all = 0, sum = 0;
  size_t same = 0, n = 20000;
  for (size_t i = 0; i < n; i++) {
    struct passage *t = &x->piece;
    if (!grammar_write(x->g, SEED_HELD_OUT, i, t, &x->why))
      return false;
    double here = 1 + (double)take_text(x, false, t->words, t->length);
    bits[t->sort] += t->bits, tokens[t->sort] += here, all += here, sum += t->bits;
    x->back.n = 0;
    if (i < 1000 && tokenizer_decode(x->words, &x->m, x->list.id,
                                     x->list.n, false, &x->back, &x->why))
      same += x->back.n == t->length
          && memcmp(x->back.byte, t->words, t->length) == 0;
  }
  about(x, "texts.decoded", (double)same, 1000, 0);
  for (int s = 0; s < N_SORTS; s++)
    note(x, rate[s], bits[s] / tokens[s]);
  for (int s = 0; s < N_SORTS; s++)
    note(x, share[s], tokens[s] / all);
  about(x, "bits.all", sum / all, 0.75, 0.25);
  least(x, "kind.stories", (tokens[TALE] + tokens[HOME]
                            + tokens[CHRONICLE]) / all, 0.3);
  least(x, "kind.code", tokens[CODE] / all, 0.3);
  least(x, "kind.talk", tokens[TALK] / all, 0.3);
  note(x, "tokens.mean", all / (double)n);
  return true;
}

/* A.233  Examine corpus and tokenizer */

static bool replay_one(struct exam *x, struct passage *other,
                       uint64_t i, size_t *tried, size_t *silent)
{
  uint16_t taken[PASSAGE_CHOICES];
  struct passage *t = &x->piece;
  size_t k = (i * 2654435761u >> 8) % t->n_choices;
  for (size_t c = 0; c < t->n_choices; c++)
    taken[c] = t->choices[c].taken;
  size_t length, count = 0;
  uint32_t weight;
  while (grammar_table(x->g, t->choices[k].drawn, count, &length, &weight) != NULL)
    count++;
  taken[k] = (uint16_t) ((taken[k] + 1u + i % (count > 1 ? count - 1 : 1)) % count);
  if (!grammar_replay(x->g, taken, t->n_choices, other, &x->why))
    return false;
  if (taken[k] == t->choices[k].taken || other->choices[k].taken != taken[k])
    return true;
  ++*tried;
  *silent += other->length == t->length
      && memcmp(other->words, t->words, t->length) == 0;
  return true;
}

/* A.234  Examine corpus and tokenizer */

static bool exam_choices(struct exam *x)
{
  static unsigned char reached[1024][64];
  static struct passage other;
  size_t tried = 0, silent = 0, missing = 0, length;
  uint32_t weight;
  for (uint64_t i = 0; i < 60000; i++) {
    struct passage *t = &x->piece;
    if (!grammar_write(x->g, SEED_HELD_OUT, i, t, &x->why))
      return false;
    for (size_t c = 0; c < t->n_choices; c++)
      reached[t->choices[c].drawn][t->choices[c].taken] = 1;
    if (i < 4000 && !replay_one(x, &other, i, &tried, &silent))
      return false;
  }
  for (size_t t = 0; t < grammar_tables(x->g); t++)
    for (size_t i = 0; grammar_table(x->g, t, i, &length, &weight)
         != NULL; i++)
      missing += !reached[t][i];
  note(x, "grammar.tables", (double)grammar_tables(x->g));
  note(x, "choices.replayed", (double)tried);
  about(x, "choices.silent", (double)silent, 0, 0);
  about(x, "choices.unreached", (double)missing, 0, 0);
  return true;
}

/* A.238  Examine what is remembered */

enum { NEAR, MIDDLE, FAR, N_REACH };
static struct recall_marks {
  double right[N_REACH], n[N_REACH],
      name[N_REACH],
      value[N_REACH], n_value[N_REACH], local, n_local, printed, n_printed;
} told;

static int reach(size_t distance)
{
  return distance < 100 ? NEAR : distance <= 300 ? MIDDLE : FAR;
}

/* A.239  Examine what is remembered */

static void find_places(struct exam *x)
{
  size_t at = 0, n;
  for (size_t i = 1; i < x->list.n; i++) {
    x->place[i] = at;
    tokenizer_text(x->words, x->list.id[i], &n);
    at += n;
  }
  x->place[x->list.n] = at;
}

/* A.240  Examine what is remembered */

static size_t token_at(const struct exam *x, size_t byte)
{
  size_t i = 1;
  while (i < x->list.n && x->place[i + 1] <= byte)
    i++;
  return i;
}

/* A.241  Examine what is remembered */

static size_t rivals(struct exam *x, const char *drawer,
                     const char *before, uint32_t * id, size_t n)
{
  size_t length, t = 0;
  uint32_t weight;
  char word[64];
  for (; t < grammar_tables(x->g); t++) {
    const char *name = grammar_table(x->g, t, SIZE_MAX, &length, &weight);
    if (strlen(drawer) == length && memcmp(name, drawer, length) == 0)
      break;
  }
  if (t == grammar_tables(x->g))
    return n;
  const char *s;
  for (size_t i = 0; (s = grammar_table(x->g, t, i, &length, &weight))
       != NULL; i++) {
    size_t stop = 0;
    while (stop < length && s[stop] != '_' && s[stop] != ';')
      stop++;
    snprintf(word, sizeof word, "%s%.*s", before, (int)stop, s);
    uint32_t one = first_id(x, word);
    size_t k = 0;
    while (k < n && id[k] != one)
      k++;
    if (k == n)
      id[n++] = one;
  }
  return n;
}

/* A.242  Examine what is remembered */

static double share_of(struct exam *x, size_t i, const uint32_t * id, size_t n)
{
  const double *p = probabilities(x, x->logits, i - 1, x->p);
  double sum = 0;
  for (size_t k = 0; k < n; k++)
    sum += p[id[k]];
  return p[x->list.id[i]] / sum;
}

/* A.243  Examine what is remembered */

static void recall_names(struct exam *x)
{
  const char *text = x->piece.words, *named = strstr(text, " named ");
  if (named == NULL)
    return;
  char name[32];
  uint32_t with[48], without[48];
  size_t length = strcspn(named + 7, "."), n;
  snprintf(name, sizeof name, "%.*s", (int)length, named + 7);
  size_t first = token_at(x, (size_t)(named + 7 - text));
  n = rivals(x, "name.she", " ", with, 0);
  n = rivals(x, "name.he", " ", with, n);
  size_t m = rivals(x, "name.she", "", without, 0);
  m = rivals(x, "name.he", "", without, m);
  for (const char *s = named + 7 + length;
       (s = strstr(s, name)) != NULL; s += length) {
    size_t i = token_at(x, (size_t)(s - text));
    bool blank = x->place[i] + 1 == (size_t)(s - text);
    if (!blank && x->place[i] != (size_t)(s - text))
      continue;
    double p = share_of(x, i, blank ? with : without, blank ? n : m);
    told.right[reach(i - first)] += p, told.n[reach(i - first)]++;
  }
}

/* A.244  Examine what is remembered */

static double chance_of(struct exam *x, size_t at, size_t length)
{
  double p = 1;
  for (size_t i = token_at(x, at); x->place[i] < at + length; i++)
    p *= probabilities(x, x->logits, i - 1, x->p)[x->list.id[i]];
  return p;
}

/* A.245  Examine what is remembered */

static void recall_locals(struct exam *x)
{
  static const char back[] = "\n    return ";
  const char *text = x->piece.words;
  char set[64];
  for (const char *s = text; (s = strstr(s, back)) != NULL; s++) {
    const char *name = s + sizeof back - 1;
    size_t length = strcspn(name, "\n");
    snprintf(set, sizeof set, "\n    %.*s = ", (int)length, name);
    const char *first = strstr(text, set);
    if (length > 40 || first == NULL || first > s)
      continue;
    told.local += chance_of(x, (size_t)(name - text), length);
    told.n_local++;
  }
}

/* A.246  Examine what is remembered */

static void recall_variables(struct exam *x)
{
  const char *text = x->piece.words, *last = NULL;
  size_t length = strcspn(text, " \n");
  if (strncmp(text + length, " = ", 3) != 0 || memchr(text, '_', length) == NULL)
    return;
  for (const char *s = text; (s = strstr(s, "print(")) != NULL; s++)
    last = s;
  if (last == NULL || memcmp(last + 6, text, length) != 0)
    return;
  uint32_t first[8];
  size_t n = rivals(x, "keepsake", "", first, 0), stop = strcspn(text, "_");
  size_t at = (size_t)(last + 6 - text), i = token_at(x, at);
  int r = reach(i - 1);
  told.name[r] += share_of(x, i, first, n)
      * chance_of(x, at + stop, length - stop);
  const char *value = strstr(last, "\n# ") + 3;
  told.value[r] += chance_of(x, (size_t)(value - text), strlen(value));
  told.n_value[r]++;

/* A.247  Is the value printed that the first line set? */

  bool right = true;
  for (i = token_at(x, (size_t)(value - text)); i < x->list.n; i++) {
    const double *q = probabilities(x, x->logits, i - 1, x->p);
    for (size_t k = 0; k < x->lm->config.vocab_size; k++)
      right = right && q[k] <= q[x->list.id[i]];
  }
  told.printed += right, told.n_printed++;

}

/* A.248  Examine what is remembered */

static void exam_recall(struct exam *x)
{
  find_places(x);
  if (x->piece.sort == TALE)
    recall_names(x);
  if (x->piece.sort == CODE)
    recall_locals(x), recall_variables(x);
}

static void exam_recalled(struct exam *x)
{
  static const char *const far[] = { "near", "middle", "far" };
  char key[40];
  for (int r = 0; r < N_REACH; r++) {
    snprintf(key, sizeof key, "names.%s", far[r]);
    least(x, key, told.right[r] / told.n[r], 0.9);
    snprintf(key, sizeof key, "names.%s.n", far[r]);
    note(x, key, told.n[r]);
  }
  least(x, "variables.local", told.local / told.n_local, 0.95);
  note(x, "variables.local.n", told.n_local);
  for (int r = MIDDLE; r < N_REACH && told.n_value[r] > 0; r++) {
    snprintf(key, sizeof key, "variables.value.%s", far[r]);
    least(x, key, told.value[r] / told.n_value[r], 0.95);
    snprintf(key, sizeof key, "variables.name.%s", far[r]);
    least(x, key, told.name[r] / told.n_value[r], 0.95);
    snprintf(key, sizeof key, "variables.%s.n", far[r]);
    note(x, key, told.n_value[r]);
  }
  least(x, "printed.right", told.printed / told.n_printed, 0.8);
  note(x, "printed.n", told.n_printed);
}

/* A.235  Examine the loss */

struct marks {
  double loss, bits, common, tokens;
};

/* A.236  Examine the loss */

static bool exam_one_loss(struct exam *x, struct marks *mark)
{
  size_t n = take_text(x, true, x->piece.words, x->piece.length);
  size_t v = x->lm->config.vocab_size;
  if (!look_at(x, x->lm, x->s, n, x->logits)
      || !look_at(x, x->draft, x->s_draft, n, x->others))
    return false;
  for (size_t i = 0; i < n; i++) {
    const double *p = probabilities(x, x->logits, i, x->p);
    const double *q = probabilities(x, x->others, i, x->q);
    mark->loss -= num_log(p[i + 1 < n ? x->list.id[i + 1] : 0])
        / num_log(2);
    for (size_t k = 0; k < v; k++)
      mark->common += p[k] < q[k] ? p[k]
          : q[k];
  }
  mark->bits += x->piece.bits, mark->tokens += (double)n;
  return true;
}

/* A.237  Examine the loss */

static bool exam_loss(struct exam *x)
{
  static const char *const sort[] = { "tale", "home", "chronicle",
    "code", "talk"
  };
  struct marks mark[N_SORTS + 1] = { {0, 0, 0, 0} }, *all = &mark[N_SORTS];
  char key[40];
  for (uint64_t i = 0; i < HELD_OUT; i++) {
    if (!grammar_write(x->g, SEED_HELD_OUT, i, &x->piece, &x->why))
      return false;
    struct marks *here = &mark[x->piece.sort];
    if (!exam_one_loss(x, here))
      return false;
    exam_recall(x);
  }
  for (int s = 0; s < N_SORTS; s++) {
    all->loss += mark[s].loss, all->bits +=
        mark[s].bits, all->tokens += mark[s].tokens;
    all->common += mark[s].common;
    snprintf(key, sizeof key, "ratio.%s", sort[s]);
    most(x, key, mark[s].loss / mark[s].bits, 1.15);
  }
  most(x, "ratio.all", all->loss / all->bits, 1.10);
  least(x, "ratio.floor", all->loss / all->bits, 0.99);
  note(x, "heldout", HELD_OUT);
  note(x, "loss.bits", all->loss / all->tokens);
  note(x, "source.bits", all->bits / all->tokens);
  for (int s = 0; s < N_SORTS; s++) {
    snprintf(key, sizeof key, "draft.common.%s", sort[s]);
    least(x, key, mark[s].common / mark[s].tokens, 0.6);
  }
  return true;
}

/* A.249  Examine the chances */

static double source_share(struct exam *x, const char *before, const char *with)
{
  static unsigned char kept[FACTS][40];
  static bool full;
  size_t n = 0, m = 0;
  for (uint64_t i = 0; !full && i < FACTS; i++) {
    if (!grammar_write(x->g, SEED_HELD_OUT, i, &x->piece, &x->why))
      return 0;
    memcpy(kept[i], x->piece.words, sizeof kept[i]);
  }
  full = true;
  for (size_t i = 0; i < FACTS; i++)
    if (memcmp(kept[i], before, strlen(before)) == 0) {
      n++, m += memcmp(kept[i], with, strlen(with)) == 0;
    }
  return (double)m / (double)n;
}

/* A.250  Examine the chances */

static void exam_chances(struct exam *x)
{
  static const struct {
    const char *key, *before, *with, *next;
  } fact[] = {
    {"chance.The", "", "The ", "The"}, {"chance.cat", "The ",
                                        "The cat ", " cat"},
    {"chance.sat", "The cat ", "The cat sat ", " sat"},
    {"chance.on", "The cat sat ", "The cat sat on ", " on"},
    {"chance.the", "The cat sat on ", "The cat sat on the ", " the"},
    {"chance.mat", "The cat sat on the ", "The cat sat on the mat",
     " mat"},
    {"chance.dot", "The cat sat on the mat",
     "The cat sat on the mat.", "."}
  };
  char text[64];
  for (size_t i = 0; i < sizeof fact / sizeof fact[0]; i++) {
    snprintf(text, sizeof text, "%s", fact[i].before);
    size_t n = strlen(text);
    if (n > 0 && text[n - 1] == ' ')
      text[n - 1] = '\0';
    const double *p = after(x, true, text);
    if (p == NULL)
      return;
    about(x, fact[i].key, p[first_id(x, fact[i].next)],
          source_share(x, fact[i].before, fact[i].with), 0.03);
  }
}

/* A.251  Examine the chances */

static const char *const branch[] = { " However", " Additionally",
  " The",
  " Everyone", " So", " In", " Even", " At", " That", " Soon",
  " Nobody", " Perhaps"
};
enum { BRANCHES = 12 };

static void exam_fork(struct exam *x)
{
  char key[40];
  double high = 0, low = 1;
  const double *p = after(x, false, "The harvest of the kingdom was very good.");
  if (p == NULL)
    return;
  for (int i = 0; i < BRANCHES; i++) {
    double one = p[first_id(x, branch[i])];
    snprintf(key, sizeof key, "fork.%s", branch[i] + 1);
    if (i < 2)
      about(x, key, one, 0.15, 0.03);
    else
      most(x, key, one, 0.15);
    if (i < 2)
      low = one < low ? one : low;
    else
      high = one > high ? one : high;
  }
  double apart = p[first_id(x, branch[0])] - p[first_id(x, branch[1])];
  most(x, "fork.apart", apart < 0 ? -apart : apart, 0.02);
  least(x, "fork.lead", low - high, 0);
  p = after(x, true, "The harvest of the kingdom was very good.");
  note(x, "fork.begun.However", p[first_id(x, branch[0])]);
  note(x, "fork.begun.Additionally", p[first_id(x, branch[1])]);
}

/* A.252  Examine what it says */

static void say(struct exam *x, const char *text, size_t tokens)
{
  size_t n = take_text(x, false, text, strlen(text));
  for (size_t k = 0; k < tokens && look_at(x, x->lm, x->s, n, x->logits); k++) {
    size_t v = x->lm->config.vocab_size;
    const float *z = x->logits + (n - 1) * v;
    uint32_t best = 0;
    for (uint32_t i = 1; i < v; i++)
      if (z[i] > z[best])
        best = i;
    if (best == 0 || !ids_push(&x->m, &x->list, best, &x->why))
      break;
    n++;
  }
  x->back.n = 0;
  size_t from = take_length(x, text);
  tokenizer_decode(x->words, &x->m, x->list.id + from, n - from, false,
                   &x->back, &x->why);
}

/* A.253  Examine what it says */

static bool says(struct exam *x, const char *text, const char *wanted)
{
  say(x, text, 8);
  return x->back.n >= strlen(wanted)
      && memcmp(x->back.byte, wanted, strlen(wanted)) == 0;
}

/* A.255  Examine what it says */

static void exam_greedy(struct exam *x)
{
  static const char *const sum[] = { "2 plus 2;4", "2 plus 3;5",
    "2 plus 4;6",
    "2 plus 5;7", "3 plus 3;6", "3 plus 4;7", "3 plus 5;8", "4 plus 4;8",
    "4 plus 5;9", "5 plus 5;10"
  };
  char text[80], wanted[80];
  double right = 0;
  about(x, "greedy.cat", says(x, "The cat sat", " on the mat."), 1, 0);
  about(x, "greedy.the", says(x, "The cat sat on the", " mat."), 1, 0);
  about(x, "greedy.tale", says(x, "Once upon a time, in a small",
                               " kingdom"), 1, 0);
  for (int i = 0; i < 10; i++) {
    snprintf(text, sizeof text, "User: What is %.8s?\nAssistant:", sum[i]);
    snprintf(wanted, sizeof wanted, " %.8s is %s.", sum[i], sum[i] + 9);
    right += says(x, text, wanted);
  }
  about(x, "sums.right", right, 10, 0);
}

static void exam_wheel(struct exam *x)
{
  static const char turn[] = " and round";
  say(x, "The cat sat on the mat. Outside, the wheel of the mill went round", 200);
  size_t n = 0;
  while ((n + 1) * 10 <= x->back.n && memcmp(x->back.byte + 10 * n, turn, 10) == 0)
    n++;
  least(x, "wheel.tokens", 2 * (double)n, 200);
}

/* A.256  Examine long rows */

static bool exam_positions(struct exam *x)
{
  double bits[16] = { 0 }, middle = 0;
  uint32_t row[LONGEST + 1];
  char key[40];
  enum { N_ROWS = 12 };
  source_seek(x->feed, 1000001);
  for (int r = 0; r < N_ROWS; r++) {
    if (!source_row(x->feed, row, LONGEST + 1, &x->why))
      return false;
    x->list.n = 0;
    for (size_t i = 0; i < LONGEST; i++)
      if (!ids_push(&x->m, &x->list, row[i], &x->why))
        return false;
    if (!look_at(x, x->lm, x->s, LONGEST, x->logits))
      return false;
    for (size_t i = 0; i < LONGEST; i++)
      bits[i / 128] -= num_log(probabilities(x, x->logits, i, x->p)[row[i + 1]])
          / num_log(2) / 128 / N_ROWS;
  }
  for (int i = 0; i < 16; i++) {
    snprintf(key, sizeof key, "position.%d", 128 * i);
    note(x, key, bits[i]);
    if (i >= 6 && i < 10)
      middle += bits[i] / 4;
  }
  most(x, "position.end", (bits[14] + bits[15]) / 2 / middle, 1.2);
  most(x, "position.middle", middle / ((bits[2] + bits[3]) / 2), 1.2);
  return true;
}

/* A.257  Examine the files */

static void exam_files(struct exam *x)
{
  struct mapping file = { NULL, 0 };
  if (file_map(&file, "models/pocket/model.safetensors", &x->why))
    most(x, "file.model", (double)file.size, 8e6);
  file_unmap(&file);
  if (file_map(&file, "models/draft/model.safetensors", &x->why))
    most(x, "file.draft", (double)file.size, 8e6);
  file_unmap(&file);
  note(x, "parameters.model", (double)model_parameters(x->lm));
  note(x, "parameters.draft", (double)model_parameters(x->draft));
}

/* A.259  Ask everything */

static int examine(void)
{
  static struct exam x;
  x.out = fopen("models/pocket/check.csv", "w");
  if (x.out == NULL)
    return 1;
  fprintf(x.out, "key,figure,wanted,verdict\n");
  bool ok = exam_open(&x, "models/pocket", "models/draft");
  if (ok) {
    exam_prompts(&x);
    ok = exam_texts(&x) && exam_choices(&x) && exam_loss(&x);
    exam_recalled(&x);
    exam_chances(&x), exam_fork(&x), exam_greedy(&x), exam_wheel(&x);
    ok = ok && exam_positions(&x);
    exam_files(&x);
    printf("%u questions, %u failed\n", x.asked, x.failed);
  }
  if (!ok)
    fprintf(stderr, "%s\n", x.why.words);
  exam_close(&x);
  fclose(x.out);
  return ok && x.failed == 0 ? 0 : 1;
}

/* A.261  What the checkpoint shows */

/* A.262  Draw by lot */

static float lot(uint64_t * dice)
{
  *dice = *dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (float)(int32_t) (*dice >> 60) / 8 - 0.9375f;
}

static const struct shape tiny = { 2, 32, 2, 1, 16, 48, 40, 64 };
enum { TINY_ROWS = 16 };
struct lab {
  struct memory m;
  struct error why;
  struct network *net;
  size_t n;
  float *w, *grad;
  double losses[TINY_ROWS];
  uint32_t inputs[TINY_ROWS], targets[TINY_ROWS];
};

static bool lab_open(struct lab *l)
{
  uint64_t dice = 5;
  l->net = network_open(&l->m, &tiny, TINY_ROWS, kernels_find(NULL, &l->why), NULL,
                        &l->why);
  if (l->net == NULL)
    return false;
  l->n = network_count(l->net);
  l->w = memory_take(&l->m, FOR_TRAINING, l->n, sizeof(float), &l->why);
  l->grad = memory_take(&l->m, FOR_TRAINING, l->n, sizeof(float), &l->why);
  if (l->w == NULL || l->grad == NULL)
    return false;
  for (size_t i = 0; i < l->n; i++)
    l->w[i] = 0.5f * lot(&dice);
  for (size_t i = 0; i < TINY_ROWS; i++) {
    l->inputs[i] = (uint32_t) (7 * i % 40);
    l->targets[i] = (uint32_t) (11 * i % 40);
  }
  return true;
}

/* A.263  What the checkpoint shows */

static double lab_loss(struct lab *l, size_t rows)
{
  struct batch b = { l->inputs, l->targets, 1, rows, 1.0f };
  double sum = 0;
  if (!network_forward(l->net, l->w, &b, &l->why))
    return 0;
  network_judge(l->net, &b, l->losses);
  for (size_t i = 0; i < rows; i++)
    sum += l->losses[i];
  return sum;
}

static void lab_close(struct lab *l)
{
  memory_give(&l->m, FOR_TRAINING, l->w, l->n, sizeof(float));
  memory_give(&l->m, FOR_TRAINING, l->grad, l->n, sizeof(float));
  network_close(&l->m, l->net);
}

/* A.264  What the checkpoint shows */

static void differ(struct lab *l, const struct parameter *p, double *far,
                   double *back)
{
  uint64_t dice = 3 + p->offset;
  size_t n = p->rows * p->cols;
  float old[40 * 48], way[40 * 48], step = 0x1p-9f;
  double loss[2];
  memcpy(old, l->w + p->offset, n * sizeof *old);
  *back = 0;
  for (size_t i = 0; i < n; i++) {
    way[i] = lot(&dice);
    *back += (double)way[i] * (double)l->grad[p->offset + i];
  }
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < n; i++)
      l->w[p->offset + i] = old[i] + (side == 0 ? -step : step) * way[i];
    loss[side] = lab_loss(l, TINY_ROWS);
  }
  memcpy(l->w + p->offset, old, n * sizeof *old);
  *far = (loss[1] - loss[0]) / (2 * (double)step);
}

/* A.265  What the checkpoint shows */

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
    if (off < 0)
      off = -off;
    worst = off > worst ? off : worst;
    if (!aloud || strstr(p->name, "layers.1") != NULL)
      continue;
    printf("grad.%zu.far %.4f\n", i < 10 ? i : (size_t)10, far);
    printf("grad.%zu.back %.4f\n", i < 10 ? i : (size_t)10, back);
  }
  return worst;
}

/* A.266  What the checkpoint shows */

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

/* A.267  What the checkpoint shows */

static double by_hand(float z[3])
{
  z[0] = num_logf(3), z[1] = num_logf(2), z[2] = 0;
  return slopes_plain.judge(z, 3, 1, 1.0f);
}

/* A.268  What the checkpoint shows */

static bool ask(double *on, double *however, double *additionally)
{
  static struct exam x;
  bool ok = exam_open(&x, "models/pocket", NULL);
  const double *p = ok ? after(&x, true, "The cat sat") : NULL;
  if (p != NULL)
    *on = p[first_id(&x, " on")];
  if (p != NULL)
    p = after(&x, false, "The harvest of the kingdom was very good.");
  if (p != NULL) {
    *however = p[first_id(&x, branch[0])];
    *additionally = p[first_id(&x, branch[1])];
  }
  exam_close(&x);
  return p != NULL;
}

/* A.269  What the checkpoint shows */

static int print_checkpoint(void)
{
  static struct lab l;
  float z[3];
  double loss = by_hand(z), on = 0, however = 0, additionally = 0;
  printf("by hand: loss %.6f, gradient %.6f %.6f %.6f\n", loss, (double)z[0],
         (double)z[1], (double)z[2]);
  if (!lab_open(&l))
    return 1;
  printf("gradients of 20 tensors, worst: %.4f of itself\n", gradients(&l, false));
  printf("one pass against 15: %d losses the same\n", forced(&l));
  lab_close(&l);
  bool ok = ask(&on, &however, &additionally);
  if (ok)
    printf("The cat sat: on %.3f\nThe harvest ... very good: However %.3f,"
           " Additionally %.3f\n", on, however, additionally);
  return ok ? 0 : 1;
}

/* A.270  What the checkpoint shows */

static bool next_answer(FILE * f, char key[64], double *figure)
{
  char line[200];
  while (fgets(line, sizeof line, f) != NULL) {
    size_t n = strcspn(line, ",");
    if (n >= 64 || line[n] == '\0')
      continue;
    memcpy(key, line, n);
    key[n] = '\0';
    char *end;
    *figure = strtod(line + n + 1, &end);
    if (end != line + n + 1)
      return true;
  }
  return false;
}

static void print_answers(void)
{
  char key[64];
  double x;
  FILE *f = fopen("models/pocket/check.csv", "r");
  if (f == NULL)
    return;
  while (next_answer(f, key, &x)) {
    if (x == (double)(long)x)
      printf("train.%s %.0f\n", key, x);
    else
      printf("train.%s %.3f\n", key, x);
  }
  fclose(f);
}

/* A.271  What the checkpoint shows */

static int print_values(void)
{
  static struct lab l;
  double on = 0, however = 0, additionally = 0;
  if (!lab_open(&l))
    return 1;
  double worst = gradients(&l, true);
  printf("grad.worst %.4f\n", worst);
  printf("claim.S1-38 %d\nclaim.S1-51 %d\n", forced(&l), forced(&l));
  lab_close(&l);
  print_answers();
  printf("train.merges %d\n", MERGES);
  printf("train.steps %llu\ntrain.tokens %.1f\n",
         (unsigned long long)plan_steps(&plan_model), 1e-6 * (double)
         plan_tokens(&plan_model));
  printf("train.draft.steps %llu\ntrain.draft.tokens %.1f\n",
         (unsigned long long)plan_steps(&plan_draft), 1e-6 * (double)
         plan_tokens(&plan_draft));
  if (ask(&on, &however, &additionally))
    printf("train.now.on %.3f\n"
           "train.now.however %.3f\ntrain.now.additionally %.3f\n", on, however,
           additionally);
  return 0;
}

/* A.272  What the checkpoint shows */

static double source_bits(void)
{
  char key[64];
  double x = 0, found = 0;
  FILE *f = fopen("models/pocket/check.csv", "r");
  while (f != NULL && next_answer(f, key, &x))
    if (strcmp(key, "source.bits") == 0)
      found = x;
  if (f != NULL)
    fclose(f);
  return found;
}

/* A.273  What the checkpoint shows */

static int print_loss(void)
{
  char line[120];
  unsigned long long step, tokens;
  double loss, sum = 0;
  double source = source_bits();
  FILE *f = fopen("models/pocket/training.csv", "r");
  printf("tokens,bits,source\n");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line, "%llu,%llu,%lf", &step, &tokens, &loss) != 3)
      continue;
    sum += loss / num_log(2);
    if (step % 50 != 0)
      continue;
    printf("%.4f,%.4f,%.4f\n", 1e-6 * (double)tokens, sum / 50, source);
    sum = 0;
  }
  if (f != NULL)
    fclose(f);
  return 0;
}

/* A.274  What the checkpoint shows */

static int print_fork(void)
{
  char key[64];
  double x;
  FILE *f = fopen("models/pocket/check.csv", "r");
  printf("branch,source,model\n");
  while (f != NULL && next_answer(f, key, &x))
    for (int i = 0; i < BRANCHES; i++)
      if (strncmp(key, "fork.", 5) == 0 && strcmp(key + 5, branch[i] + 1) == 0)
        printf("%d,%.2f,%.4f\n", i + 1, i < 2 ? 0.15 : 0.07, x);
  if (f != NULL)
    fclose(f);
  return 0;
}

static int print_positions(void)
{
  char key[64];
  double x;
  FILE *f = fopen("models/pocket/check.csv", "r");
  printf("position,bits\n");
  while (f != NULL && next_answer(f, key, &x))
    if (strncmp(key, "position.", 9) == 0 && key[9] >= '0' && key[9] <= '9')
      printf("%d,%.4f\n", atoi(key + 9) + 64, x);
  if (f != NULL)
    fclose(f);
  return 0;
}

/* A.3  Main */

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "train") == 0)
    return train(argc - 2, argv + 2);
  if (strcmp(what, "check") == 0)
    return examine();
  if (strcmp(what, "values") == 0)
    return print_values();
  if (strcmp(what, "loss") == 0)
    return print_loss();
  if (strcmp(what, "fork") == 0)
    return print_fork();
  if (strcmp(what, "positions") == 0)
    return print_positions();
  return print_checkpoint();
}
