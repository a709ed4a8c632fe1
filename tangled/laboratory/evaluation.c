/* the program -- made from laboratory/w13-evaluation.w; change it there */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "families/loader.h"
#include "functions/numbers.h"
#include "ground/new_file.h"
#include "training/training.h"
#include "laboratory/kit2.h"

/* <The whole examination> */

/* <The examination> */
enum { HELD_OUT = 600, FACTS = 200000, LONGEST = 2048 };
static const char *const sort[] = { "tale", "home", "chronicle",
  "code", "talk" };
struct exam {
  struct fixture *lab; struct memory *m; struct error *why;
  FILE *out; unsigned failed, asked;
  struct grammar *g; struct tokenizer *words; struct dataset *feed;
  const struct model *lm; struct model *draft; struct bench b, b_draft;
  struct passage piece; struct ids list; struct bytes back;
  float *logits, *others; double *p, *q;
  size_t which[LONGEST], place[LONGEST + 1];
};

static void answer(struct exam *x, const char *key, double figure,
  const char *wanted, bool passed)
{
  const char *verdict = passed ? "PASS" : "FAIL";
  x->asked++, x->failed += !passed;
  printf("%-4s  %-34s %12.6g   %s\n", verdict, key, figure, wanted);
  fprintf(x->out, "%s,%.9g,\"%s\",%s\n", key, figure, wanted, verdict);
}

static void least(struct exam *x, const char *key, double figure,
  double limit)
{
  answer(x, key, figure, label_of("at least %g", limit).text,
    figure >= limit);
}

static void most(struct exam *x, const char *key, double figure,
  double limit)
{
  answer(x, key, figure, label_of("at most %g", limit).text,
    figure <= limit);
}

static void about(struct exam *x, const char *key, double figure,
  double right, double slack)
{
  answer(x, key, figure, label_of("%.4g, give or take %g", right, slack).text,
    figure >= right - slack && figure <= right + slack);
}

static void note(struct exam *x, const char *key, double figure)
{
  printf("      %-34s %12.6g\n", key, figure);
  fprintf(x->out, "%s,%.9g,\"\",\n", key, figure);
}

static bool exam_open(struct exam *x, struct fixture *lab,
  struct error *why)
{
  size_t v = lab->model->config.vocab_size, n = LONGEST * v;
  x->lab = lab, x->m = &lab->m;
  x->why = why;
  x->words = lab->t, x->lm = lab->model;
  for (size_t i = 0; i < LONGEST; i++) x->which[i] = i;
  x->logits = lab_take(lab, n, sizeof *x->logits, why);
  x->others = lab_take(lab, n, sizeof *x->others, why);
  x->p = lab_take(lab, v, sizeof *x->p, why);
  x->q = lab_take(lab, v, sizeof *x->q, why);
  if (x->logits == NULL || x->others == NULL || x->p == NULL
    || x->q == NULL) return false;
  return bench_open(&x->b, lab, x->lm, pool_cores(), NULL, why)
    && (x->g = grammar_open(x->m, "models/corpus.grammar", why)) != NULL
    && (x->feed = dataset_open(x->m, x->g, x->words, SEED_HELD_OUT,
      why)) != NULL;
}

static void exam_close(struct exam *x)
{
  ids_free(x->m, &x->list);
  bytes_free(x->m, &x->back);
  dataset_close(x->m, x->feed);
  grammar_close(x->m, x->g);
  bench_close(&x->b), bench_close(&x->b_draft);
  model_close(x->m, x->draft);
}

static size_t take_text(struct exam *x, bool begin, const char *text,
  size_t n)
{
  x->list.n = 0;
  if (begin) ids_push(x->m, &x->list, 0, x->why);
  tokenizer_encode(x->words, x->m, text, n, false, false, &x->list,
    x->why);
  return x->list.n;
}

static bool look_at(struct exam *x, const struct model *lm,
  struct store *s, size_t n,
  float *logits)
{
  return model_evaluate(&x->b.e, lm, s, x->list.id, n, x->which, n, logits,
    x->why);
}

static const double *probabilities(struct exam *x,
  const float *logits, size_t row, double *p)
{
  size_t v = x->lm->config.vocab_size;
  x->b.e.k->softmax(&x->b.e, logits + row * v, 1, v, p);
  return p;
}

static const double *after(struct exam *x, bool begin,
  const char *text)
{
  size_t n = take_text(x, begin, text, strlen(text));
  if (!look_at(x, x->lm, x->b.s, n, x->logits)) return NULL;
  return probabilities(x, x->logits, n - 1, x->p);
}

static uint32_t first_id(struct exam *x, const char *text)
{
  struct ids own = { NULL, 0, 0 };
  lab_encode(x->lab, text, &own, x->why);
  uint32_t id = own.n > 0 ? own.id[0] : 0;
  ids_free(x->m, &own);
  return id;
}

/* <Examine corpus and tokenizer> */
static void exam_prompts(struct exam *x)
{
  static const struct { const char *key, *text; size_t tokens;
  } prompt[] = {
    { "prompt.cat", "The cat sat", 3 },
    { "prompt.mat", "The cat sat on the mat.", 7 },
    { "prompt.tale", "Once upon a time, in a small", 8 },
    { "prompt.sea", "In a small kingdom by the sea,", 8 },
    { "prompt.code", "def count_apples(basket):", 7 },
    { "prompt.talk", "User: Where does the fox live?", 8 },
    { "prompt.fork",
      "The harvest of the kingdom was very good.", 9 },
    { "prompt.on", " on", 1 },
    { "prompt.the", " the", 1 },
    { "prompt.mat1", " mat", 1 },
    { "prompt.dot", ".", 1 } };
  for (size_t i = 0; i < sizeof prompt / sizeof prompt[0]; i++) {
    double n = (double) take_text(x, false, prompt[i].text,
      strlen(prompt[i].text));
    about(x, prompt[i].key, n, (double) prompt[i].tokens, 0);
  }
}

struct written {
  double bits[N_TEXT_SORTS], tokens[N_TEXT_SORTS], all, sum, n, same;
};

static bool write_one(struct exam *x, uint64_t i, struct written *w)
{
  struct passage *t = &x->piece;
  if (!grammar_write(x->g, SEED_HELD_OUT, i, t, x->why))
    return false;
  size_t n = take_text(x, false, t->words, t->length);
  w->bits[t->sort] += t->bits, w->sum += t->bits;
  w->tokens[t->sort] += 1 + (double) n, w->all += 1 + (double) n;
  w->n++;
  if (i < 1000) {
    x->back.n = 0;
    w->same += tokenizer_decode(x->words, x->m, x->list.id,
      x->list.n, false, &x->back, x->why)
      && x->back.n == t->length
      && memcmp(x->back.byte, t->words, t->length) == 0;
  }
  return true;
}

static bool exam_texts(struct exam *x)
{
  struct written w = { { 0 }, { 0 }, 0, 0, 0, 0 };
  for (uint64_t i = 0; i < 20000; i++)
    if (!write_one(x, i, &w)) return false;
  about(x, "texts.decoded", w.same, 1000, 0);
  for (int s = 0; s < N_TEXT_SORTS; s++)
    note(x, label_of("bits.%s", sort[s]).text, w.bits[s] / w.tokens[s]);
  for (int s = 0; s < N_TEXT_SORTS; s++)
    note(x, label_of("share.%s", sort[s]).text, w.tokens[s] / w.all);
  about(x, "bits.all", w.sum / w.all, 0.75, 0.25);
  /* <Has each kind its share of the tokens?> */
  double stories = w.tokens[TEXT_TALE] + w.tokens[TEXT_HOME]
    + w.tokens[TEXT_CHRONICLE];
  least(x, "kind.stories", stories / w.all, 0.3);
  least(x, "kind.code", w.tokens[TEXT_CODE] / w.all, 0.3);
  least(x, "kind.talk", w.tokens[TEXT_TALK] / w.all, 0.3);
  note(x, "tokens.mean", w.all / w.n);
  return true;
}

static bool replay_one(struct exam *x, struct passage *other,
  uint64_t i, size_t *tried, size_t *silent)
{
  uint16_t taken[PASSAGE_CHOICES];
  struct passage *t = &x->piece;
  for (size_t c = 0; c < t->n_choices; c++)
    taken[c] = t->choices[c].taken;
  /* <Change choice k of the script> */
  size_t k = (i * 2654435761u >> 8) % t->n_choices, length, count = 0;
  uint32_t weight;
  while (grammar_table(x->g, t->choices[k].drawn, count, &length,
    &weight) != NULL) count++;
  taken[k] = (uint16_t) ((taken[k] + 1u
    + i % (count > 1 ? count - 1 : 1)) % count);
  if (!grammar_replay(x->g, taken, t->n_choices, other, x->why))
    return false;
  if (taken[k] == t->choices[k].taken
    || other->choices[k].taken != taken[k]) return true;
  ++*tried;
  *silent += other->length == t->length
    && memcmp(other->words, t->words, t->length) == 0;
  return true;
}

static bool exam_choices(struct exam *x)
{
  static unsigned char reached[1024][64];
  static struct passage other;
  size_t tried = 0, silent = 0, missing = 0;
  for (uint64_t i = 0; i < 60000; i++) {
    struct passage *t = &x->piece;
    if (!grammar_write(x->g, SEED_HELD_OUT, i, t, x->why))
      return false;
    for (size_t c = 0; c < t->n_choices; c++)
      reached[t->choices[c].drawn][t->choices[c].taken] = 1;
    if (i < 4000 && !replay_one(x, &other, i, &tried, &silent))
      return false;
  }
  /* <Count what was never reached> */
  size_t length;
  uint32_t weight;
  for (size_t t = 0; t < grammar_tables(x->g); t++)
    for (size_t i = 0; grammar_table(x->g, t, i, &length, &weight)
      != NULL; i++) missing += !reached[t][i];
  note(x, "grammar.tables", (double) grammar_tables(x->g));
  note(x, "choices.replayed", (double) tried);
  about(x, "choices.silent", (double) silent, 0, 0);
  about(x, "choices.unreached", (double) missing, 0, 0);
  return true;
}

/* <Examine what is remembered> */
enum { NEAR, MIDDLE, FAR, N_REACH };
static struct recall_marks {
  double right[N_REACH], n[N_REACH], name[N_REACH], value[N_REACH],
    n_value[N_REACH], local, n_local, printed, n_printed;
} told;

static int reach(size_t distance)
{
  if (distance < 100) return NEAR;
  return distance <= 300 ? MIDDLE : FAR;
}

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

static size_t token_at(const struct exam *x, size_t byte)
{
  size_t i = 1;
  while (i < x->list.n && x->place[i + 1] <= byte) i++;
  return i;
}

/* <Find the number of a table by its name> */
static size_t number_of(const struct grammar *g, const char *drawer)
{
  size_t length, t = 0;
  uint32_t weight;
  for (; t < grammar_tables(g); t++) {
    const char *name = grammar_table(g, t, SIZE_MAX, &length,
      &weight);
    if (strlen(drawer) == length && memcmp(name, drawer, length) == 0)
      break;
  }
  return t;
}

static size_t rivals(struct exam *x, const char *drawer,
  const char *before, uint32_t *id, size_t n)
{
  size_t length, t = number_of(x->g, drawer);
  uint32_t weight;
  char word[64];
  const char *s;
  if (t == grammar_tables(x->g)) return n;
  for (size_t i = 0; (s = grammar_table(x->g, t, i, &length, &weight))
    != NULL; i++) {
    size_t stop = 0;
    while (stop < length && s[stop] != ';') stop++;
    snprintf(word, sizeof word, "%s%.*s", before, (int) stop, s);
    uint32_t one = first_id(x, word);
    size_t k = 0;
    while (k < n && id[k] != one) k++;
    if (k == n) id[n++] = one;
  }
  return n;
}

static double share_of(struct exam *x, size_t i, const uint32_t *id,
  size_t n)
{
  const double *p = probabilities(x, x->logits, i - 1, x->p);
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += p[id[k]];
  return p[x->list.id[i]] / sum;
}

static void recall_names(struct exam *x)
{
  const char *text = x->piece.words, *named = strstr(text, " named ");
  if (named == NULL) return;
  char name[32];
  uint32_t with[48], without[48];
  size_t length = strcspn(named + 7, "."), n, m;
  snprintf(name, sizeof name, "%.*s", (int) length, named + 7);
  size_t first = token_at(x, (size_t) (named + 7 - text));
  /* <List all heroes' names, with and without a blank> */
  n = rivals(x, "name.she", " ", with, 0);
  n = rivals(x, "name.he", " ", with, n);
  m = rivals(x, "name.she", "", without, 0);
  m = rivals(x, "name.he", "", without, m);
  for (const char *s = named + 7 + length;
    (s = strstr(s, name)) != NULL; s += length) {
    size_t i = token_at(x, (size_t) (s - text));
    bool blank = x->place[i] + 1 == (size_t) (s - text);
    if (!blank && x->place[i] != (size_t) (s - text)) continue;
    double p = share_of(x, i, blank ? with : without, blank ? n : m);
    told.right[reach(i - first)] += p, told.n[reach(i - first)]++;
  }
}

static double chance_of(struct exam *x, size_t at, size_t length)
{
  double p = 1;
  for (size_t i = token_at(x, at); x->place[i] < at + length; i++)
    p *= probabilities(x, x->logits, i - 1, x->p)[x->list.id[i]];
  return p;
}

static void recall_locals(struct exam *x)
{
  static const char back[] = "\n    return ";
  const char *text = x->piece.words;
  char set[64];
  for (const char *s = text; (s = strstr(s, back)) != NULL; s++) {
    const char *name = s + sizeof back - 1;
    size_t length = strcspn(name, "\n");
    snprintf(set, sizeof set, "\n    %.*s = ", (int) length, name);
    const char *first = strstr(text, set);
    if (length > 40 || first == NULL || first > s) continue;
    told.local += chance_of(x, (size_t) (name - text), length);
    told.n_local++;
  }
}

static void recall_variables(struct exam *x)
{
  const char *text = x->piece.words, *last = NULL;
  char name[40];
  size_t length = strcspn(text, " \n");
  if (strncmp(text + length, " = ", 3) != 0 || length >= sizeof name
    || strspn(text + length + 3, "123456789") == 0) return;
  snprintf(name, sizeof name, "%.*s", (int) length, text);
  for (const char *s = text; (s = strstr(s, "print(")) != NULL; s++)
    last = s;
  if (last == NULL || memcmp(last + 6, text, length) != 0) return;
  /* <Which name is printed, and with which value?> */
  size_t at = (size_t) (last + 6 - text), i = token_at(x, at), said = 0;
  for (const char *s = text; s < last; s = strstr(s + 1, name))
    said = token_at(x, (size_t) (s - text));
  int r = reach(i - said);
  told.name[r] += chance_of(x, at, length);
  const char *value = strstr(last, "\n# ") + 3;
  told.value[r] += chance_of(x, (size_t) (value - text), strlen(value));
  told.n_value[r]++;
  /* <Is the value printed that the first line set?> */
  bool right = true;
  for (i = token_at(x, (size_t) (value - text)); i < x->list.n; i++) {
    const double *q = probabilities(x, x->logits, i - 1, x->p);
    for (size_t k = 0; k < x->lm->config.vocab_size; k++)
      right = right && q[k] <= q[x->list.id[i]];
  }
  told.printed += right, told.n_printed++;
}

static void exam_recall(struct exam *x)
{
  find_places(x);
  if (x->piece.sort == TEXT_TALE) recall_names(x);
  if (x->piece.sort == TEXT_CODE) recall_locals(x), recall_variables(x);
}

static void exam_recalled(struct exam *x)
{
  static const char *const far[] = { "near", "middle", "far" };
  for (int r = 0; r < N_REACH; r++) {
    least(x, label_of("names.%s", far[r]).text, told.right[r] / told.n[r], 0.9);
    note(x, label_of("names.%s.n", far[r]).text, told.n[r]);
  }
  least(x, "variables.local", told.local / told.n_local, 0.95);
  note(x, "variables.local.n", told.n_local);
  /* <Say what became of the variables of the first line> */
  for (int r = MIDDLE; r < N_REACH && told.n_value[r] > 0; r++) {
    least(x, label_of("variables.value.%s", far[r]).text,
      told.value[r] / told.n_value[r], 0.95);
    least(x, label_of("variables.name.%s", far[r]).text,
      told.name[r] / told.n_value[r], 0.95);
    note(x, label_of("variables.%s.n", far[r]).text, told.n_value[r]);
  }
  least(x, "printed.right", told.printed / told.n_printed, 0.8);
  note(x, "printed.n", told.n_printed);
}

/* <Examine the loss> */
struct marks { double loss, bits, common, tokens; };

static bool exam_one_loss(struct exam *x, struct marks *mark)
{
  size_t n = take_text(x, true, x->piece.words, x->piece.length);
  size_t v = x->lm->config.vocab_size;
  if (!look_at(x, x->lm, x->b.s, n, x->logits)
    || !look_at(x, x->draft, x->b_draft.s, n, x->others)) return false;
  for (size_t i = 0; i < n; i++) {
    const double *p = probabilities(x, x->logits, i, x->p);
    const double *q = probabilities(x, x->others, i, x->q);
    mark->loss -= num_log(p[i + 1 < n ? x->list.id[i + 1] : 0])
      / num_log(2);
    for (size_t k = 0; k < v; k++)
      mark->common += p[k] < q[k] ? p[k] : q[k];
  }
  mark->bits += x->piece.bits, mark->tokens += (double) n;
  return true;
}

/* <Judge the loss> */
static void judge_loss(struct exam *x, struct marks *mark)
{
  struct marks *all = &mark[N_TEXT_SORTS];
  for (int s = 0; s < N_TEXT_SORTS; s++) {
    all->loss += mark[s].loss, all->bits += mark[s].bits;
    all->tokens += mark[s].tokens, all->common += mark[s].common;
    most(x, label_of("ratio.%s", sort[s]).text, mark[s].loss / mark[s].bits, 1.15);
  }
  most(x, "ratio.all", all->loss / all->bits, 1.10);
  least(x, "ratio.floor", all->loss / all->bits, 0.99);
  note(x, "heldout", HELD_OUT);
  note(x, "loss.bits", all->loss / all->tokens);
  note(x, "source.bits", all->bits / all->tokens);
  /* <Has the sibling enough in common with the model?> */
  for (int s = 0; s < N_TEXT_SORTS; s++) {
    least(x, label_of("draft.common.%s", sort[s]).text,
      mark[s].common / mark[s].tokens, 0.6);
  }
}

static bool exam_loss(struct exam *x)
{
  struct marks mark[N_TEXT_SORTS + 1] = { { 0, 0, 0, 0 } };
  for (uint64_t i = 0; i < HELD_OUT; i++) {
    if (!grammar_write(x->g, SEED_HELD_OUT, i, &x->piece, x->why))
      return false;
    if (!exam_one_loss(x, &mark[x->piece.sort])) return false;
    exam_recall(x);
  }
  judge_loss(x, mark);
  return true;
}

/* <Examine the chances> */
static double source_share(struct exam *x, const char *before,
  const char *with)
{
  static unsigned char kept[FACTS][40];
  static bool full;
  size_t n = 0, m = 0;
  for (uint64_t i = 0; !full && i < FACTS; i++) {
    if (!grammar_write(x->g, SEED_HELD_OUT, i, &x->piece, x->why))
      return 0;
    memcpy(kept[i], x->piece.words, sizeof kept[i]);
  }
  full = true;
  for (size_t i = 0; i < FACTS; i++)
    if (memcmp(kept[i], before, strlen(before)) == 0)
      n++, m += memcmp(kept[i], with, strlen(with)) == 0;
  return (double) m / (double) n;
}

static const struct {
  const char *key, *before, *with, *next;
} fact[] = {
  { "chance.The", "", "The ", "The" },
  { "chance.cat", "The ", "The cat ", " cat" },
  { "chance.sat", "The cat ", "The cat sat ", " sat" },
  { "chance.on", "The cat sat ", "The cat sat on ", " on" },
  { "chance.the", "The cat sat on ", "The cat sat on the ",
    " the" },
  { "chance.mat", "The cat sat on the ", "The cat sat on the mat",
    " mat" },
  { "chance.dot", "The cat sat on the mat",
    "The cat sat on the mat.", "." } };

static void exam_chances(struct exam *x)
{
  char text[64];
  for (size_t i = 0; i < sizeof fact / sizeof fact[0]; i++) {
    snprintf(text, sizeof text, "%s", fact[i].before);
    size_t n = strlen(text);
    if (n > 0 && text[n - 1] == ' ') text[n - 1] = '\0';
    const double *p = after(x, true, text);
    if (p == NULL) return;
    about(x, fact[i].key, p[first_id(x, fact[i].next)],
      source_share(x, fact[i].before, fact[i].with), 0.03);
  }
}

static const char very_good[] =
  "The harvest of the kingdom was very good.";

/* <The twelve roads of the fork> */
enum { BRANCHES = 12 };
static const char *const branch[] = {
  " However", " Additionally", " The", " Everyone", " So", " In",
  " Even", " At", " That", " Soon", " Nobody", " Perhaps" };

static void exam_fork(struct exam *x)
{
  double high = 0, low = 1;
  const double *p = after(x, false, very_good);
  if (p == NULL) return;
  /* <Ask for the chance of each road, and keep low and high> */
  for (int i = 0; i < BRANCHES; i++) {
    double one = p[first_id(x, branch[i])];
    struct label key = label_of("fork.%s", branch[i] + 1);
    if (i < 2) about(x, key.text, one, 0.15, 0.03);
    else most(x, key.text, one, 0.15);
    if (i < 2) low = one < low ? one : low;
    else high = one > high ? one : high;
  }
  double apart = p[first_id(x, branch[0])]
    - p[first_id(x, branch[1])];
  most(x, "fork.apart", apart < 0 ? -apart : apart, 0.02);
  least(x, "fork.lead", low - high, 0);
  p = after(x, true, very_good);
  note(x, "fork.begun.However", p[first_id(x, branch[0])]);
  note(x, "fork.begun.Additionally", p[first_id(x, branch[1])]);
}

/* <Examine what it says> */
static void say(struct exam *x, const char *text, size_t tokens)
{
  size_t from = take_text(x, false, text, strlen(text)), n = from;
  size_t v = x->lm->config.vocab_size;
  for (size_t k = 0; k < tokens; k++) {
    if (!look_at(x, x->lm, x->b.s, n, x->logits)) break;
    const float *z = x->logits + (n - 1) * v;
    uint32_t best = (uint32_t) best_token(z, v);
    if (best == 0 || !ids_push(x->m, &x->list, best, x->why)) break;
    n++;
  }
  x->back.n = 0;
  tokenizer_decode(x->words, x->m, x->list.id + from, n - from,
    false, &x->back, x->why);
}

static bool says(struct exam *x, const char *text, const char *wanted)
{
  say(x, text, 8);
  return x->back.n >= strlen(wanted)
    && memcmp(x->back.byte, wanted, strlen(wanted)) == 0;
}

/* <The ten sums> */
static const char *const sums[] = { "2 plus 2;4", "2 plus 3;5",
  "2 plus 4;6", "2 plus 5;7", "3 plus 3;6", "3 plus 4;7",
  "3 plus 5;8", "4 plus 4;8", "4 plus 5;9", "5 plus 5;10" };

static void exam_greedy(struct exam *x)
{
  char text[80], wanted[80];
  double right = 0;
  about(x, "greedy.cat", says(x, "The cat sat", " on the mat."),
    1, 0);
  about(x, "greedy.the", says(x, "The cat sat on the", " mat."),
    1, 0);
  about(x, "greedy.tale", says(x, "Once upon a time, in a small",
    " kingdom"), 1, 0);
  for (int i = 0; i < 10; i++) {
    snprintf(text, sizeof text, "User: What is %.8s?\nAssistant:",
      sums[i]);
    snprintf(wanted, sizeof wanted, " %.8s is %s.", sums[i],
      sums[i] + 9);
    right += says(x, text, wanted);
  }
  about(x, "sums.right", right, 10, 0);
}

enum way_out { HELD, COUNTED, BLOCKED };
static const double held = 1.3, each = 0.5;

static uint32_t leader(struct exam *x, size_t row, enum way_out way)
{
  size_t v = x->lm->config.vocab_size;
  const uint32_t *id = x->list.id;
  for (size_t i = 0; i < v; i++) x->q[i] = (double) x->logits[row * v + i];
  /* <Hold against each token that it was said> */
  for (size_t i = 0; i <= row; i++) {
    float z = x->logits[row * v + id[i]];
    if (way == HELD)
      x->q[id[i]] = z > 0 ? (double) z / held : (double) z * held;
    if (way == COUNTED) x->q[id[i]] -= each;
    if (way == BLOCKED && i >= 2
      && id[i - 2] == id[row - 1] && id[i - 1] == id[row])
      x->q[id[i]] = -1e9;
  }
  uint32_t best = 0;
  for (uint32_t i = 1; i < v; i++) if (x->q[i] > x->q[best]) best = i;
  return best;
}

static void exam_ways_out(struct exam *x, size_t from)
{
  double stays = 1;
  size_t left[] = { [HELD] = 0, [COUNTED] = 0, [BLOCKED] = 0 };
  size_t n = x->list.n;
  if (!look_at(x, x->lm, x->b.s, n, x->logits)) return;
  for (size_t i = from; i < n; i++) {
    uint32_t said = x->list.id[i];
    if (i < from + 40) stays *= probabilities(x, x->logits, i - 1, x->p)[said];
    for (int w = HELD; w <= BLOCKED; w++)
      if (left[w] == 0 && leader(x, i - 1, (enum way_out) w) != said)
        left[w] = i - from + 1;
  }
  /* <Write down where the wheel was left> */
  note(x, "wheel.held", held);
  note(x, "wheel.each", each);
  most(x, "wheel.drawn", stays, 0.1);
  note(x, "wheel.held.token", (double) left[HELD]);
  least(x, "wheel.counted", left[COUNTED] > 0, 1);
  note(x, "wheel.counted.token", (double) left[COUNTED]);
  least(x, "wheel.blocked", left[BLOCKED] > 0, 1);
  note(x, "wheel.blocked.token", (double) left[BLOCKED]);
}

static void exam_wheel(struct exam *x)
{
  static const char turn[] = " and round", start[] =
    "The cat sat on the mat. Outside, the wheel of the mill went round";
  size_t from = take_text(x, false, start, strlen(start)), n = 0;
  say(x, start, 200);
  while ((n + 1) * 10 <= x->back.n && memcmp(x->back.byte + 10 * n,
    turn, 10) == 0) n++;
  least(x, "wheel.tokens", 2 * (double) n, 200);
  exam_ways_out(x, from);
}

/* <Examine long rows> */
enum { N_ROWS = 12, BLOCK = 128, BLOCKS = LONGEST / BLOCK };

static bool exam_row(struct exam *x, double *bits)
{
  uint32_t row[LONGEST + 1];
  if (!dataset_row(x->feed, row, LONGEST + 1, x->why)) return false;
  x->list.n = 0;
  for (size_t i = 0; i < LONGEST; i++)
    if (!ids_push(x->m, &x->list, row[i], x->why)) return false;
  if (!look_at(x, x->lm, x->b.s, LONGEST, x->logits)) return false;
  for (size_t i = 0; i < LONGEST; i++) {
    const double *p = probabilities(x, x->logits, i, x->p);
    bits[i / BLOCK] -= num_log(p[row[i + 1]]) / num_log(2)
      / BLOCK / N_ROWS;
  }
  return true;
}

static bool exam_positions(struct exam *x)
{
  double bits[BLOCKS] = { 0 }, middle = 0;
  dataset_seek(x->feed, 1000001);
  for (int r = 0; r < N_ROWS; r++)
    if (!exam_row(x, bits)) return false;
  for (int i = 0; i < BLOCKS; i++) {
    note(x, label_of("position.%d", BLOCK * i).text, bits[i]);
    if (i >= 6 && i < 10) middle += bits[i] / 4;
  }
  most(x, "position.end", (bits[14] + bits[15]) / 2 / middle, 1.2);
  most(x, "position.middle", middle / ((bits[2] + bits[3]) / 2), 1.2);
  return true;
}

/* <Examine how far the heads look> */
enum { GAZE_FROM = 24, GAZE_TO = 40, GAZE_TEXTS = 20 };
struct gaze { size_t heads; double tokens, looks; };

static void gaze_add(void *ctx, enum tap_point point, uint32_t layer,
  float *x, size_t rows, size_t width)
{
  struct gaze *g = ctx;
  size_t wide = width / g->heads;
  (void) layer;
  if (point != TAP_WEIGHTS || rows < GAZE_TO) return;
  for (size_t r = GAZE_FROM; r < GAZE_TO; r++)
    for (size_t h = 0; h < g->heads; h++, g->looks++)
      for (size_t k = 0; k <= r; k++)
        g->tokens += (double) x[r * width + h * wide + k] * (double) (r - k);
}

static bool gaze_at(struct exam *x, struct gaze *g)
{
  static struct row rows[LONGEST];
  struct watcher shoulder = { .tap = gaze_add, .ctx = g, .weights = true };
  struct pass *p = NULL;
  size_t n = take_text(x, true, x->piece.words, x->piece.length);
  if (n > LONGEST) n = LONGEST;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) { 0, (uint32_t) i, x->list.id[i] };
  store_clear(x->b.s);
  bool ok = model_forward_watched(&x->b.e, x->lm, x->b.s, rows, n,
    &shoulder, &p, x->why);
  pass_close(p);
  return ok;
}

static bool exam_gaze(struct exam *x)
{
  struct gaze all[N_TEXT_SORTS];
  double most_looks = GAZE_TEXTS * (GAZE_TO - GAZE_FROM)
    * (double) (x->lm->config.n_layers * x->lm->config.n_heads);
  for (int s = 0; s < N_TEXT_SORTS; s++)
    all[s] = (struct gaze) { x->lm->config.n_heads, 0, 0 };
  for (uint64_t i = 0; i < HELD_OUT; i++) {
    if (!grammar_write(x->g, SEED_HELD_OUT, i, &x->piece, x->why))
      return false;
    struct gaze *here = &all[x->piece.sort];
    if (here->looks < most_looks && !gaze_at(x, here)) return false;
  }
  for (int s = 0; s < N_TEXT_SORTS; s++)
    note(x, label_of("gaze.%s", sort[s]).text, all[s].tokens / all[s].looks);
  return true;
}

/* <Examine the files> */
static void exam_files(struct exam *x)
{
  struct mapping file = { NULL, 0 };
  if (file_map(&file, "models/pocket/model.safetensors", x->why))
    most(x, "file.model", (double) file.size, 8e6);
  file_unmap(&file);
  if (file_map(&file, "models/draft/model.safetensors", x->why))
    most(x, "file.draft", (double) file.size, 8e6);
  file_unmap(&file);
  note(x, "parameters.model", (double) model_parameters(x->lm));
  note(x, "parameters.draft", (double) model_parameters(x->draft));
}

/* <Ask everything> */
static bool examine(struct fixture *lab, struct error *why)
{
  static struct exam x;
  struct new_file to;
  if (!new_file_open(&to, "models/pocket/check.csv", false, why)) return false;
  x.out = to.f;
  fprintf(x.out, "key,figure,wanted,verdict\n");
  bool ok = exam_open(&x, lab, why)
    && (x.draft = model_open(x.m, "models/draft", why)) != NULL
    && bench_open(&x.b_draft, lab, x.draft, 0, NULL, why);
  if (ok) {
    exam_prompts(&x);
    ok = exam_texts(&x) && exam_choices(&x) && exam_loss(&x);
    exam_recalled(&x);
    exam_chances(&x);
    exam_fork(&x);
    exam_greedy(&x);
    exam_wheel(&x);
    ok = ok && exam_positions(&x) && exam_gaze(&x);
    exam_files(&x);
    printf("%u questions, %u failed\n", x.asked, x.failed);
  }
  exam_close(&x);
  return new_file_end(&to, ok, why) && (x.failed == 0
    || error_say(why, "%u of %u questions failed", x.failed, x.asked));
}

/* <What is printed> */
struct asked_now { double on, however, additionally; };
static bool ask(struct fixture *lab, struct asked_now *a, struct error *why)
{
  static struct exam x;
  const double *p = NULL;
  if (exam_open(&x, lab, why)) p = after(&x, true, "The cat sat");
  if (p != NULL) a->on = p[first_id(&x, " on")];
  if (p != NULL) p = after(&x, false, very_good);
  if (p != NULL) {
    a->however = p[first_id(&x, branch[0])];
    a->additionally = p[first_id(&x, branch[1])];
  }
  exam_close(&x);
  return p != NULL;
}

static bool print_checkpoint(struct fixture *lab, struct error *why)
{
  struct asked_now a;
  if (!ask(lab, &a, why)) return false;
  printf("The cat sat: on %.3f\n", a.on);
  printf("The harvest ... very good: However %.3f,"
    " Additionally %.3f\n", a.however, a.additionally);
  return true;
}

static bool next_answer(FILE *f, char key[64], double *figure)
{
  char line[200];
  while (fgets(line, sizeof line, f) != NULL) {
    size_t n = strcspn(line, ",");
    if (n >= 64 || line[n] == '\0') continue;
    memcpy(key, line, n);
    key[n] = '\0';
    char *end;
    *figure = strtod(line + n + 1, &end);
    if (end != line + n + 1) return true;
  }
  return false;
}

static bool answered(const char *wanted, double *figure)
{
  char key[64];
  bool found = false;
  FILE *f = fopen("models/pocket/check.csv", "r");
  while (f != NULL && !found && next_answer(f, key, figure))
    found = strcmp(key, wanted) == 0;
  if (f != NULL) fclose(f);
  return found;
}

static bool print_values(struct fixture *lab, struct error *why)
{
  double x;
  char key[64];
  struct asked_now a;
  FILE *f = fopen("models/pocket/check.csv", "r");
  while (f != NULL && next_answer(f, key, &x))
    printf("train.%s %.*f\n", key, x == (double) (long) x ? 0 : 3, x);
  if (f != NULL) fclose(f);
  if (!ask(lab, &a, why)) return false;
  print_key("train.now.on", "%.3f", a.on);
  print_key("train.now.however", "%.3f", a.however);
  print_key("train.now.additionally", "%.3f", a.additionally);
  return true;
}

static bool print_loss(struct fixture *lab, struct error *why)
{
  char line[120];
  unsigned long long step, tokens;
  double loss, sum = 0, source = 0;
  answered("source.bits", &source);
  FILE *f = fopen("models/pocket/training.csv", "r");
  (void) lab, (void) why;
  printf("tokens,bits,source\n");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line, "%llu,%llu,%lf", &step, &tokens, &loss) != 3)
      continue;
    sum += loss / num_log(2);
    if (step % 50 != 0) continue;
    printf("%.4f,%.4f,%.4f\n", 1e-6 * (double) tokens, sum / 50,
      source);
    sum = 0;
  }
  if (f != NULL) fclose(f);
  return true;
}

static bool print_fork(struct fixture *lab, struct error *why)
{
  double x;
  (void) lab, (void) why;
  printf("branch,source,model\n");
  for (int i = 0; i < BRANCHES; i++) {
    if (answered(label_of("fork.%s", branch[i] + 1).text, &x))
      printf("%d,%.2f,%.4f\n", i + 1, i < 2 ? 0.15 : 0.07, x);
  }
  return true;
}

static bool print_positions(struct fixture *lab, struct error *why)
{
  double x;
  (void) lab, (void) why;
  printf("position,bits\n");
  for (int i = 0; i < BLOCKS; i++) {
    if (answered(label_of("position.%d", BLOCK * i).text, &x))
      printf("%d,%.4f\n", BLOCK * i + BLOCK / 2, x);
  }
  return true;
}

int main(int argc, char **argv)
{
  static const struct lab_command table[] = { { "check", examine },
    { "values", print_values }, { "loss", print_loss },
    { "fork", print_fork }, { "positions", print_positions },
    { "", print_checkpoint }, { NULL, NULL } };
  return lab_main(argc, argv, table);
}
