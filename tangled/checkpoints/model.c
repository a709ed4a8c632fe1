/* the program -- made from chapters/02-model.w; change it there */

#include <math.h>
#include <stdio.h>
#include "functions/numbers.h"
#include "model/toy.h"

/* <Print the attention of one head> */
static void print_line(const char *name, const float *x, int n)
{
  printf("%-24s", name);
  for (int i = 0; i < n; i++) printf("%6.2f", (double) x[i]);
  printf("\n");
}

static void print_head(const struct toy_trace *a, int h)
{
  float score[3], shrunk[3];
  toy_scores(a, 2, h, score);
  float max = fmaxf(score[0], fmaxf(score[1], score[2]));
  for (int t = 0; t < 3; t++) shrunk[t] = num_expf(score[t] - max);
  print_line(h == 0 ? "head A  scores" : "head B  scores", score, 3);
  print_line("        exponentials", shrunk, 3);
  print_line("        weights", a->x[TAP_WEIGHTS] + (2 * 2 + h) * 3, 3);
}

/* <Print the way of the last row> */
static void print_way(const struct toy *y, const struct toy_trace *a)
{
  int at = 2 * TOY_WIDTH;
  float middle[3] = { 0, 0, a->x[TAP_INNER][2] }, h[TOY_WIDTH];
  const float *n = a->x[TAP_MLP_NORM] + at, *added = a->x[TAP_ATTENTION] + at;
  for (int i = 0; i < TOY_WIDTH; i++) {
    middle[0] += y->gate[i] * n[i], middle[1] += y->up[i] * n[i];
    h[i] = a->x[TAP_EMBEDDING][at + i] + added[i];
  }
  print_line("row of sat", a->x[TAP_EMBEDDING] + at, 4);
  print_line("its query", a->x[TAP_QUERY] + at, 4);
  print_head(a, 0);
  print_head(a, 1);
  print_line("mixed values", a->x[TAP_MIXED] + at, 4);
  print_line("added by attention", added, 4);
  print_line("the row", h, 4);
  print_line("normed", n, 4);
  print_line("gate, up, inner", middle, 3);
  print_line("the row", a->x[TAP_LAYER] + at, 4);
  print_line("logits", a->logits + at, 4);
}

/* <Do what the hand did, and print it> */
static void print_odds(const char *given, const double *chance)
{
  static const char *const word[] = { "the", " cat", " sat", "." };
  int best = 0;
  printf("%-24s", given);
  for (int v = 0; v < TOY_WORDS; v++) {
    printf("%6.2f", chance[v]);
    if (chance[v] > chance[best]) best = v;
  }
  printf("  -> %s\n", word[best]);
}

static bool print_hand(struct engine *e, const struct toy *y,
  struct store *s, struct error *why)
{
  static const uint32_t text[4] = { 0, 1, 2, TOY_STOP };
  static const char *const given[4] = { "the", "the cat", "the cat sat",
    "the cat sat." };
  struct toy_trace a;
  if (!toy_look(e, y, s, text, 3, &a, why)) return false;
  print_way(y, &a);
  if (!toy_look(e, y, s, text, 4, &a, why)) return false;
  printf("\n%-24s%6s%6s%6s%6s\n", "behind", "the", " cat", " sat", ".");
  for (int r = 0; r < 4; r++) print_odds(given[r], a.chance + r * TOY_WORDS);
  return true;
}

int main(void)
{
  static struct toy toy;
  struct memory m = { .fail_at = 0 };
  struct counters c = { .passes = 0 };
  struct error why;
  struct engine e = { .k = &kernels_plain, .c = &c };
  toy_make(&toy);
  struct store *s = store_open(&m, &toy.lm.config, 1, &why);
  bool ok = s != NULL && print_hand(&e, &toy, s, &why);
  store_close(s);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
