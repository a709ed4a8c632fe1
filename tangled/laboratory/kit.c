/* kit.c -- made from laboratory/00-kit.w; change it there */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "laboratory/kit.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "functions/numbers.h"
#include "laboratory/kit-random.h"

/* <Open and close a bench> */
bool bench_open(struct bench *b, struct fixture *lab, const struct model *lm,
  unsigned workers, const struct cache_options *options, struct error *why)
{
  *b = (struct bench) { .m = &lab->m, .e = lab->e };
  if (lm == &lab->parrot.lm) b->e.k = &lab->idle_kernels;
  if (workers > 0 && (b->pool = pool_open(&lab->m, workers, why)) == NULL)
    return false;
  b->e.pool = b->pool;
  b->s = options == NULL ? array_store_open(&lab->m, &lm->config, why)
    : cache_open(&lab->m, &lm->config, 1, options, why);
  b->g = (struct generate_context) { &b->e, lm, b->s, &lab->m };
  return b->s != NULL;
}

void bench_close(struct bench *b)
{
  if (b->m == NULL) return;
  store_close(b->s);
  pool_close(b->m, b->pool);
}

/* <Let a bench read and write> */
bool bench_write(struct bench *b, const uint32_t *prompt, size_t n,
  const struct generate_options *want, struct error *why)
{
  struct continuation text;
  bool ok = generate(&b->g, prompt, n, want, &text, why);
  continuation_free(b->m, &text);
  return ok;
}

static uint32_t sentence_at(const struct bench *b, const struct fixture *lab, size_t i)
{
  i %= PARROT_WORDS;
  return b->g.lm == &lab->parrot.lm ? (uint32_t) i : lab->sentence[i];
}

bool bench_recite(struct bench *b, const struct fixture *lab, size_t p, size_t g,
  struct generate_options *want, struct error *why)
{
  uint32_t prompt[PARROT_CONTEXT];
  for (size_t i = 0; i < p; i++) prompt[i] = sentence_at(b, lab, i);
  struct continuation c;
  want->max_new_tokens = g;
  bool ok = generate(&b->g, prompt, p, want, &c, why);
  bool parrot = b->g.lm == &lab->parrot.lm;
  for (size_t i = p; ok && i < c.text.n && (parrot || i < PARROT_WORDS); i++)
    ok = c.text.id[i] == sentence_at(b, lab, i)
      || error_say(why, "token %zu is not the next of the sentence", i);
  continuation_free(b->m, &c);
  return ok;
}

bool bench_feed(struct bench *b, const struct fixture *lab, uint32_t sequence,
  size_t n, struct error *why)
{
  struct row row[64];
  struct pass *p;
  size_t at = store_length(b->s, sequence);
  for (size_t i = 0; i < n; i++)
    row[i] = (struct row) { sequence, (uint32_t) (at + i),
      sentence_at(b, lab, at + i) };
  if (!model_forward(&b->e, b->g.lm, b->s, row, n, &p, why)) return false;
  pass_close(p);
  return true;
}

/* <Find the sentence in the tokens of the built-in model> */
static bool find_sentence(struct fixture *lab, struct error *why)
{
  struct ids ids = { .n = 0 };
  bool ok = true;
  for (int i = 0; ok && i < PARROT_WORDS; i++)
    ok = lab_encode(lab, parrot_word[i], &ids, why) && (ids.n == (size_t) i + 1
      || error_say(why, "models/pocket: \"%s\" is not one token", parrot_word[i]));
  for (int i = 0; ok && i < PARROT_WORDS; i++) lab->sentence[i] = ids.id[i];
  ids_free(&lab->m, &ids);
  return ok;
}

/* <Open and close the laboratory> */
bool lab_open(struct fixture *lab, struct error *why)
{
  static const char *const pocket = "models/pocket";
  *lab = (struct fixture) { .dice.s = sampling_default, .taken.m = &lab->m };
  lab->e = (struct engine) { .k = kernels_find(NULL, why), .c = &lab->c };
  if (lab->e.k == NULL) return false;
  parrot_make(&lab->parrot);
  parrot_kernels(&lab->idle_kernels, lab->e.k);
  if ((lab->model = model_open(&lab->m, pocket, why)) == NULL) return false;
  lab->vocab = lab->model->config.vocab_size;
  return (lab->t = tokenizer_open(&lab->m, pocket, why)) != NULL
    && (lab->logits = lab_take(lab, lab->vocab, sizeof (float), why)) != NULL
    && (lab->logprob = lab_take(lab, lab->vocab, sizeof (double), why)) != NULL
    && find_sentence(lab, why)
    && bench_open(&lab->b, lab, lab->model, 0,
      &(struct cache_options) { .rows = 0 }, why)
    && funnel_open(&lab->dice.f, &lab->m, lab->e.k, lab->vocab, why);
}

void lab_close(struct fixture *lab)
{
  arena_free(&lab->taken);
  continuation_free(&lab->m, &lab->text);
  ids_free(&lab->m, &lab->tales);
  funnel_close(&lab->dice.f);
  bench_close(&lab->b);
  tokenizer_close(&lab->m, lab->t);
  random_model_close(&lab->m, lab->stand_in);
  model_close(&lab->m, lab->model);
}

struct model *lab_stand_in(struct fixture *lab, struct error *why)
{
  if (lab->stand_in == NULL)
    lab->stand_in = random_model_open(&lab->m, &random_model_gpt2, why);
  return lab->stand_in;
}

void *lab_take(struct fixture *lab, size_t count, size_t size, struct error *why)
{
  return arena_alloc(&lab->taken, MEMORY_OTHER, count, size, why);
}

void lab_reset(struct fixture *lab)
{
  lab->c = (struct counters) { .passes = 0 };
}

bool lab_encode(struct fixture *lab, const char *text, struct ids *list,
  struct error *why)
{
  return tokenizer_encode(lab->t, &lab->m, text, strlen(text), false, false,
    list, why);
}

bool lab_encode_file(struct fixture *lab, const char *path, struct ids *list,
  struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return false;
  bool ok = tokenizer_encode(lab->t, &lab->m, (const char *) map.bytes, map.size,
    false, true, list, why);
  file_unmap(&map);
  return ok;
}

/* <Answer what is asked for> */
static bool asked_for(const char *name, const char *word, bool claims)
{
  return strcmp(name, word) == 0
    || (strcmp(name, "details") == 0 && strcmp(word, "values") == 0 && !claims);
}

static bool answer(struct fixture *lab, const char *word, bool claims,
  const struct lab_command *table, struct error *why)
{
  char known[200] = "";
  size_t n = 0, answered = 0;
  for (const struct lab_command *c = table; c->name != NULL; c++) {
    bool again = c > table && strcmp(c[-1].name, c->name) == 0;
    if (!again && n < sizeof known)
      n += (size_t) snprintf(known + n, sizeof known - n, " %s", c->name);
    if (!asked_for(c->name, word, claims)) continue;
    if (!c->print(lab, why)) return false;
    answered++;
  }
  return answered > 0
    || error_say(why, "`%s' is not one of the words:%s", word, known);
}

int lab_main(int argc, char **argv, const struct lab_command *table)
{
  static struct fixture lab;
  struct error why;
  bool ok = lab_open(&lab, &why)
    && answer(&lab, argc > 1 ? argv[1] : "",
      argc > 2 && strcmp(argv[2], "claims") == 0, table, &why);
  lab_close(&lab);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

/* <Put a key and its value on a line> */
void print_key(const char *names, const char *format, ...)
{
  char value[64];
  va_list list;
  va_start(list, format);
  vsnprintf(value, sizeof value, format, list);
  va_end(list);
  while (*names != '\0') {
    int n = (int) strcspn(names, " ");
    printf("%.*s %s\n", n, names, value);
    names += n + (names[n] == ' ');
  }
}

struct label label_of(const char *format, ...)
{
  struct label l;
  va_list list;
  va_start(list, format);
  vsnprintf(l.text, sizeof l.text, format, list);
  va_end(list);
  return l;
}

void print_quartiles(double *x, size_t n, double unit, int decimals)
{
  struct quartiles q = timing_quartiles(x, n);
  printf(",%.*f,%.*f,%.*f", decimals, unit * q.low, decimals, unit * q.median,
    decimals, unit * q.high);
}

/* <Go through the lines of a table> */
bool data_read(const char *name, data_line *take, void *ctx, size_t wanted,
  struct error *why)
{
  char path[80], line[512];
  snprintf(path, sizeof path, "figures/data/%s.csv", name);
  FILE *f = fopen(path, "r");
  size_t n = 0;
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  while (fgets(line, sizeof line, f) != NULL) n += take(ctx, line);
  fclose(f);
  return n == wanted || error_say(why, "%s: %zu lines of numbers, %zu wanted",
    path, n, wanted);
}

struct numbers { double *x; size_t columns, wanted, n; };
static bool take_numbers(void *ctx, const char *line)
{
  struct numbers *t = ctx;
  for (size_t i = 0; i < t->columns; i++) {
    char *end;
    double value = strtod(line, &end);
    if (end == line) return false;
    if (t->n < t->wanted) t->x[i * t->wanted + t->n] = value;
    line = end + (*end == ',');
  }
  t->n++;
  return true;
}

bool data_numbers(const char *name, size_t columns, size_t wanted, double *x,
  struct error *why)
{
  struct numbers t = { x, columns, wanted, 0 };
  return data_read(name, take_numbers, &t, wanted, why);
}

/* <Put a line through points> */
struct fit fit_line(const double *x, const double *y, size_t n)
{
  struct fit l = { 0, 0, 0, 0 };
  double sx = 0, sy = 0, sxy = 0, sxx = 0, m = (double) n;
  for (size_t i = 0; i < n; i++) {
    sx += x[i], sy += y[i];
    sxy += x[i] * y[i], sxx += x[i] * x[i];
  }
  l.slope = (m * sxy - sx * sy) / (m * sxx - sx * sx);
  l.start = (sy - l.slope * sx) / m;
  for (size_t i = 0; i < n; i++) {
    double off = fabs(y[i] / (l.start + l.slope * x[i]) - 1);
    l.mean_error += off / m;
    l.worst_error = fmax(l.worst_error, off);
  }
  return l;
}

/* <Stir a counter> */
uint64_t random_bits(uint64_t *seed)
{
  uint64_t z = *seed += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

double random_uniform(uint64_t *seed)
{
  return ((double) (random_bits(seed) >> 11) + 0.5) * 0x1p-53;
}

double random_normal(uint64_t *seed)
{
  double u = random_uniform(seed), v = random_uniform(seed);
  return sqrt(-2 * num_log(u)) * num_cos(6.283185307179586 * v);
}
