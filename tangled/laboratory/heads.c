/* the program -- made from laboratory/w17-heads.w; change it there */

#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "laboratory/kit2.h"

/* <Two texts> */
static const char a_story[] =
  "Once upon a time, in a small kingdom, there"
  " lived a kind girl named Elena. "
  "\"I will find the book,\" whispered";
static const char a_page[] =
  "def count_apples(basket):\n    hen = 0\n"
  "    for apple in basket:\n        hen = hen + 1\n"
  "    return";

/* <What is kept of a reading> */
enum { LAYERS = 6, HEADS = 4, LONGEST = 64 };
struct reading {
  size_t n;
  uint32_t id[LONGEST];
  char word[LONGEST][24]; /* the token as a figure can show it */
  double distance[LAYERS][HEADS], entropy[LAYERS][HEADS];
  float all[LAYERS][HEADS][LONGEST][LONGEST]; /* [row][position] */
  char next[24]; /* what the model writes after the text */
  int layer, head; /* the head that is drawn, and its weights */
  float (*kept)[LONGEST];
};

/* <Look over the model's shoulder> */
static void look(void *ctx, enum tap_point point,
  uint32_t layer, float *x, size_t rows, size_t width)
{
  struct reading *t = ctx;
  if (point != TAP_WEIGHTS) return;
  for (size_t r = 0; r < rows; r++)
    for (size_t h = 0; h < HEADS; h++)
      for (size_t k = 0; k <= r; k++) {
        float p = x[r * width + h * (width / HEADS) + k];
        /* <Enter the weight p of head h, row r, position k> */
        double share = (double) p / (double) rows;
        t->distance[layer][h] += share * (double) (r - k);
        if (p > 0)
          t->entropy[layer][h] -= share * num_log((double) p) / num_log(2);
        t->all[layer][h][r][k] = p;
      }
}

/* <Show a token as a word> */
static void show_word(const struct tokenizer *w, uint32_t id,
  char word[24])
{
  size_t n, k = 0;
  const unsigned char *byte = tokenizer_text(w, id, &n);
  for (size_t i = 0; i < n && k < 20; i++) {
    const char *s = NULL;
    if (byte[i] == ',') s = "\u201a";
    if (byte[i] == '\n') s = "\u00b6";
    if (s != NULL) strcpy(word + k, s), k += strlen(s);
    else if (byte[i] != ' ' || k == 0) word[k++] = (char) byte[i];
  }
  word[k] = '\0';
}

/* <Read a text, and keep what the heads looked at> */
static bool find_words(struct fixture *lab, const char *text,
  struct reading *t, struct error *why)
{
  struct ids ids = { .n = 0 };
  bool ok = lab_encode(lab, text, &ids, why) && (ids.n <= LONGEST
    || error_say(why, "the text is too long"));
  t->n = ids.n;
  for (size_t i = 0; ok && i < t->n; i++) {
    t->id[i] = ids.id[i];
    show_word(lab->t, t->id[i], t->word[i]);
  }
  ids_free(&lab->m, &ids);
  return ok;
}

static bool watch_pass(struct fixture *lab, struct reading *t,
  struct error *why)
{
  struct watcher shoulder = { .tap = look, .ctx = t,
    .weights = true };
  struct row rows[LONGEST];
  for (size_t i = 0; i < t->n; i++)
    rows[i] = (struct row) { .position = (uint32_t) i,
      .token = t->id[i] };
  struct pass *p = NULL;
  store_clear(lab->b.s);
  bool ok = model_forward_watched(&lab->e, lab->model, lab->b.s, rows, t->n,
    &shoulder, &p, why);
  pass_close(p);
  return ok;
}

static bool read_text(struct fixture *lab, const char *text,
  struct reading *t, struct error *why)
{
  const struct model_config *c = &lab->model->config;
  memset(t, 0, sizeof *t);
  if (c->n_layers != LAYERS || c->n_heads != HEADS)
    return error_say(why,
      "models/pocket has another shape "
      "than the program");
  bool ok = find_words(lab, text, t, why) && watch_pass(lab, t, why)
    && lab_logits(lab, lab->b.s, t->id, t->n, 1, lab->logits, why);
  if (ok) show_word(lab->t,
    (uint32_t) best_token(lab->logits, lab->vocab), t->next);
  return ok;
}

/* <Find the head that looks for the next word> */
static double on_next(const struct reading *t, int l, int h)
{
  double max = 0;
  for (size_t k = 0; k < t->n; k++) {
    double p = (double) t->all[l][h][t->n - 1][k];
    if (strcmp(t->word[k], t->next) == 0 && p > max) max = p;
  }
  return max;
}

static void choose_head(struct reading *story, struct reading *code)
{
  int layer = 0, best = 0;
  for (int l = 0; l < LAYERS; l++)
    for (int h = 0; h < HEADS; h++)
      if (on_next(story, l, h) * on_next(code, l, h)
        > on_next(story, layer, best) * on_next(code, layer, best))
        layer = l, best = h;
  story->layer = code->layer = layer;
  story->head = code->head = best;
  story->kept = story->all[layer][best];
  code->kept = code->all[layer][best];
}

/* <Print what was kept> */
static size_t widest(const struct reading *t)
{
  size_t best = 0;
  for (size_t k = 0; k < t->n; k++)
    if (t->kept[t->n - 1][k] > t->kept[t->n - 1][best]) best = k;
  return best;
}

static void print_keys(const char *name, const struct reading *t)
{
  for (int l = 0; l < LAYERS; l++)
    for (int h = 0; h < HEADS; h++) {
      printf("heads.%s.distance.%d.%d %.4f\n", name, l, h,
        t->distance[l][h]);
      printf("heads.%s.entropy.%d.%d %.4f\n", name, l, h,
        t->entropy[l][h]);
    }
  size_t k = widest(t), last = t->n - 1;
  printf("heads.%s.weight %.4f\nheads.%s.back %zu\n", name,
    (double) t->kept[last][k], name, last - k);
  printf("heads.%s.at %s\nheads.%s.next %s\n", name,
    t->word[k] + 1, name, t->next + 1);
}

static void print_all_keys(const struct reading *story,
  const struct reading *code)
{
  double min = story->entropy[0][0], max = min;
  for (int i = 0; i < 2 * LAYERS * HEADS; i++) {
    const struct reading *t = i % 2 == 0 ? story : code;
    double e = t->entropy[i / 2 / HEADS][i / 2 % HEADS];
    if (e < min) min = e;
    if (e > max) max = e;
  }
  print_keys("story", story);
  print_keys("code", code);
  printf("heads.narrowest %.4f\nheads.widest %.4f\n", min, max);
  printf("heads.the.layer %d\nheads.the.head %d\n",
    story->layer, story->head);
}

static void print_words(const struct reading *t)
{
  printf("position,word\n");
  for (size_t i = 0; i < t->n; i++) printf("%zu,%s\n", i, t->word[i]);
}

static void print_arcs(const struct reading *t)
{
  printf("from,to,weight\n");
  for (size_t r = 0; r < t->n; r++)
    for (size_t k = 0; k <= r; k++)
      printf("%zu,%zu,%.4f\n", r, k, (double) t->kept[r][k]);
}

static void print_looks(const struct reading *story,
  const struct reading *code)
{
  printf("layer,head,storydistance,storyentropy,"
    "codedistance,codeentropy\n");
  for (int l = 0; l < LAYERS; l++)
    for (int h = 0; h < HEADS; h++)
      printf("%d,%d,%.4f,%.4f,%.4f,%.4f\n", l, h,
        story->distance[l][h], story->entropy[l][h],
        code->distance[l][h], code->entropy[l][h]);
}

static void print_found(const char *name, const struct reading *t)
{
  size_t k = widest(t), last = t->n - 1;
  printf("%-6s at \"%s\" looks %zu tokens back, "
    "at \"%s\" (%.2f),\n", name,
    t->word[last], last - k, t->word[k],
    (double) t->kept[last][k]);
  printf("       and the model writes \"%s\"\n", t->next);
}

static void print_what(const char *what, const struct reading *story,
  const struct reading *code)
{
  if (strcmp(what, "values") == 0) print_all_keys(story, code);
  else if (strcmp(what, "looks") == 0) print_looks(story, code);
  else if (strcmp(what, "story") == 0) print_arcs(story);
  else if (strcmp(what, "code") == 0) print_arcs(code);
  else if (strcmp(what, "storywords") == 0) print_words(story);
  else if (strcmp(what, "codewords") == 0) print_words(code);
  else print_found("story", story), print_found("code", code);
}

int main(int argc, char **argv)
{
  static struct fixture lab;
  static struct reading story, code;
  struct error why;
  bool ok = lab_open(&lab, &why) && read_text(&lab, a_story, &story, &why)
    && read_text(&lab, a_page, &code, &why);
  if (ok) {
    choose_head(&story, &code);
    print_what(argc > 1 ? argv[1] : "", &story, &code);
  }
  else fprintf(stderr, "%s\n", why.text);
  lab_close(&lab);
  return !ok;
}
