@i types.w

\chapterquestion{Where does a head of the built-in model look?}
@** The attention weights of two texts. \label{lab:heads}
\incipit{T}{he built-in model} reads the beginning of a story and a page of code, and a watcher copies the weights of all heads as they are computed. For
each layer and head the program keeps the mean distance and the mean entropy over all rows. Then it finds the head that looks most at the word that the model is about to write.
Without an argument it prints what that head found, with |"values"| the keys, with the other words the data of \cref{fig:looks,fig:storyarcs,fig:codearcs}.

@c
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "laboratory/kit2.h"
@;@#
@<Two texts@>@;
@<What is kept of a reading@>@;
@<Look over the model's shoulder@>@;
@<Show a token as a word@>@;
@<Read a text, and keep what the heads looked at@>@;
@<Find the head that looks for the next word@>@;
@<Print what was kept@>@;

@ A reading holds the weights of all heads, which is too much for the stack of some machines, so both readings are static.
@c
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

@ Each text stops just before a word that the model can know only by looking back: the girl's name, and the name of the variable. Nothing else in the text
tells them. The variable occurs three times before, and it does not matter at which of the three places a head looks.
@<Two texts@>=
static const char a_story[] =
  "Once upon a time, in a small kingdom, there"@|
  " lived a kind girl named Elena. "@|
  "\"I will find the book,\" whispered";
static const char a_page[] =
  "def count_apples(basket):\n    hen = 0\n"@|
  "    for apple in basket:\n        hen = hen + 1\n"@|
  "    return";

@ The shape of the model is fixed and both texts are short, so the arrays have fixed sizes, and a longer text is refused. All weights are kept, because the program learns
only after both texts which head is drawn.
@<What is kept of a reading@>=
enum { LAYERS = 6, HEADS = 4, LONGEST = 64 };
struct reading {
  size_t n;
  uint32_t id[LONGEST];
  char word[LONGEST][24]; /* the token as a figure can show it */
  double distance[LAYERS][HEADS], entropy[LAYERS][HEADS];
  float all[LAYERS][HEADS][LONGEST][LONGEST]; /* |[row][position]| */
  char next[24]; /* what the model writes after the text */
  int layer, head; /* the head that is drawn, and its weights */
  float (*kept)[LONGEST];
};

@ The engine calls a watcher at several stages of each layer. One stage is |TAP_WEIGHTS|: the watcher gets $n$ rows, each with the weights of
the first head, then of the second, and so on; each head has the same room, however many positions the row sees. A row sees no position after its own, so the loop ends there.
@<Look over the model's shoulder@>=
static void look(void *ctx, enum tap_point point,
  uint32_t layer, float *x, size_t rows, size_t width)
{
  struct reading *t = ctx;
  if (point != TAP_WEIGHTS) return;
  for (size_t r = 0; r < rows; r++)
    for (size_t h = 0; h < HEADS; h++)
      for (size_t k = 0; k <= r; k++) {
        float p = x[r * width + h * (width / HEADS) + k];
        @<Enter the weight |p| of head |h|, row |r|, position |k|@>@;
      }
}

@ The sums are divided by the number of rows as they grow, so they end as means. A weight of 0 adds nothing to the
entropy, but has no logarithm.
@<Enter the weight |p| of head |h|, row |r|, position |k|@>=
double share = (double) p / (double) rows;
t->distance[layer][h] += share * (double) (r - k);
if (p > 0)
  t->entropy[layer][h] -= share * num_log((double) p) / num_log(2);
t->all[layer][h][r][k] = p;

@ A comma would end a field of the
data, so a low mark that looks like a comma replaces it, and a paragraph sign replaces the end of a line. Of several blanks, as at the beginning of a line of code, one is shown.
@<Show a token as a word@>=
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

@ The text becomes ids for the model, and each id a word for the figures.
@<Read a text, and keep what the heads looked at@>=
static bool find_words(struct fixture *lab, const char *text,
  struct reading *t, struct error *why)
{
  struct ids ids = @[{ .n = 0 }@];
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

@ One pass computes all rows, and the watcher sees them. That a row cannot see later ones makes this the same as reading word by word.
@<Read a text, and keep what the heads looked at@>=
static bool watch_pass(struct fixture *lab, struct reading *t,
  struct error *why)
{
  struct watcher shoulder = @[{ .tap = look, .ctx = t,
    .weights = true }@];
  struct row rows[LONGEST];
  for (size_t i = 0; i < t->n; i++)
    rows[i] = (struct row) @[{ .position = (uint32_t) i,
      .token = t->id[i] }@];
  struct pass *p = NULL;
  store_clear(lab->b.s);
  bool ok = model_forward_watched(&lab->e, lab->model, lab->b.s, rows, t->n,@|
    &shoulder, &p, why);
  pass_close(p);
  return ok;
}

@ A model of another shape would write beyond the ends of the arrays, so the shape is checked first. At the end the logits of the last row say what the model writes
next: the word with the highest logit is the one that greedy decoding writes.
@<Read a text, and keep what the heads looked at@>=
static bool read_text(struct fixture *lab, const char *text,
  struct reading *t, struct error *why)
{
  const struct model_config *c = &lab->model->config;
  memset(t, 0, sizeof *t);
  if (c->n_layers != LAYERS || c->n_heads != HEADS)
    return error_say(why,@|
      "models/pocket has another shape "@|
      "than the program");
  bool ok = find_words(lab, text, t, why) && watch_pass(lab, t, why)@|
    && lab_logits(lab, lab->b.s, t->id, t->n, 1, lab->logits, why);
  if (ok) show_word(lab->t,@|
    (uint32_t) best_token(lab->logits, lab->vocab), t->next);
  return ok;
}

@ With so many heads, a good picture can be found for any story. So the program chooses by a rule: for each head, how much of the last row's weight goes to
an earlier place of the very word that the model writes next? The answers of the two texts are multiplied, because we want a head that is good at both.
@<Find the head that looks for the next word@>=
static double on_next(const struct reading *t, int l, int h)
{
  double max = 0;
  for (size_t k = 0; k < t->n; k++) {
    double p = (double) t->all[l][h][t->n - 1][k];
    if (strcmp(t->word[k], t->next) == 0 && p > max) max = p;
  }
  return max;
}

@ The same head is drawn for both texts. If the model wrote a word that its text does not contain, all products would be 0 and the first head would be drawn.
@<Find the head that looks for the next word@>=
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

@* What is printed. \label{lab:headsprints}
The widest arc of the last row is looked for among all tokens, not only among the places of the wanted word. If the chosen head looked more at something else, the prose would have to say so.
@<Print what was kept@>=
static size_t widest(const struct reading *t)
{
  size_t best = 0;
  for (size_t k = 0; k < t->n; k++)
    if (t->kept[t->n - 1][k] > t->kept[t->n - 1][best]) best = k;
  return best;
}

@ For each text the keys give distance and entropy of every head, and what the last row found. The blank at the beginning of a word is left out.
@<Print what was kept@>=
static void print_keys(const char *name, const struct reading *t)
{
  for (int l = 0; l < LAYERS; l++)
    for (int h = 0; h < HEADS; h++) {
      printf("heads.%s.distance.%d.%d %.4f\n", name, l, h,@|
        t->distance[l][h]);
      printf("heads.%s.entropy.%d.%d %.4f\n", name, l, h,@|
        t->entropy[l][h]);
    }
  size_t k = widest(t), last = t->n - 1;
  printf("heads.%s.weight %.4f\nheads.%s.back %zu\n", name,
    (double) t->kept[last][k], name, last - k);
  printf("heads.%s.at %s\nheads.%s.next %s\n", name,@|
    t->word[k] + 1, name, t->next + 1);
}

@ Four more keys are the place of the chosen head, and the smallest and the largest entropy of all heads in both texts.
@<Print what was kept@>=
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
  printf("heads.the.layer %d\nheads.the.head %d\n",@|
    story->layer, story->head);
}

@ A figure reads its words from one file and its arcs from another: there is a word for each token, and an arc for each pair of tokens of which one sees the other.
@<Print what was kept@>=
static void print_words(const struct reading *t)
{
  printf("position,word\n");
  for (size_t i = 0; i < t->n; i++) printf("%zu,%s\n", i, t->word[i]);
}
@#
static void print_arcs(const struct reading *t)
{
  printf("from,to,weight\n");
  for (size_t r = 0; r < t->n; r++)
    for (size_t k = 0; k <= r; k++)
      printf("%zu,%zu,%.4f\n", r, k, (double) t->kept[r][k]);
}

@ The dots of both texts are in one file, because the figure draws both over the same axes.
@<Print what was kept@>=
static void print_looks(const struct reading *story,
  const struct reading *code)
{
  printf("layer,head,storydistance,storyentropy,"@|
    "codedistance,codeentropy\n");
  for (int l = 0; l < LAYERS; l++)
    for (int h = 0; h < HEADS; h++)
      printf("%d,%d,%.4f,%.4f,%.4f,%.4f\n", l, h,@|
        story->distance[l][h], story->entropy[l][h],@|
        code->distance[l][h], code->entropy[l][h]);
}

@ The checkpoint says what the chosen head found, so that it can be compared with the two figures.
@<Print what was kept@>=
static void print_found(const char *name, const struct reading *t)
{
  size_t k = widest(t), last = t->n - 1;
  printf("%-6s at \"%s\" looks %zu tokens back, "@|
    "at \"%s\" (%.2f),\n", name,@|
    t->word[last], last - k, t->word[k],@|
    (double) t->kept[last][k]);
  printf("       and the model writes \"%s\"\n", t->next);
}

@ Each word of the command line prints one file; the \.{Makefile} finds the words in the figures that read them.
@<Print what was kept@>=
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
