/* the program -- made from workshop/20-living.w; change it there */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "families/loader.h"
#include "living/exact.h"
#include "living/living.h"

/* <Add in three ways> */
static void add_in_three_ways(void)
{
  const float a = 0x1.000002p+0f, b = 0x1.fffffcp-25f, c = 0x1.000002p+0f;
  double twice = (double) a * b + c, odd = rounded_to_odd((double) a * b, c);
  printf("a * b + c: 1 + 2^-23 + 2^-24 - 2^-70 exactly\n");
  printf("  in double       %-20a then %a\n", twice, (double) (float) twice);
  printf("  rounded to odd  %-20a then %a\n", odd, (double) (float) odd);
  printf("  exact_fmaf      %-20s      %a\n", "", (double) exact_fmaf(a, b, c));
  printf("  this machine    %-20s      %a\n\n", "", (double) fmaf(a, b, c));
}

/* <Write, go back, and branch> */
static bool steps(struct living *g, int n)
{
  bool ok = true;
  for (; ok && n > 0; n--) ok = living_next(g, NULL);
  return ok;
}

static void tell(const struct living *g, uint32_t node)
{
  const struct living_node *k = &g->node[node];
  const struct living_read *r = &g->node[k->parent].read;
  size_t n;
  const unsigned char *piece = tokenizer_text(g->t, k->id, &n);
  if (node == 0) return;
  tell(g, k->parent);
  printf("  %zu: %2zu rows, %2" PRIu64 " again, %8" PRIu64 " multiply-adds, %s:%.*s\n",
    k->n - g->prompt.n, r->rows,
    r->after.kv_rows_recomputed - r->before.kv_rows_recomputed,
    r->after.madds_linear - r->before.madds_linear, k->why, (int) n, piece);
}

static bool branch(bool values)
{
  static const char on[] = "{\"prompt\":\"Once upon a time\",\"cache\":true}";
  static const char off[] = "{\"cache\":false}", again[] = "{\"cache\":true}";
  struct living g = { .now = 0 };
  uint32_t other = 417;
  bool ok = living_material(&g) && living_begin(&g) && living_set(&g, on, strlen(on))
    && steps(&g, 5) && living_set(&g, off, strlen(off)) && steps(&g, 3);
  if (ok && !values) tell(&g, g.now);
  ok = ok && living_drop(&g) && living_drop(&g) && living_set(&g, again, strlen(again))
    && living_go(&g, 3) && living_next(&g, &other) && steps(&g, 2);
  if (ok && !values) printf("another token after the third:\n");
  if (ok && !values) tell(&g, g.now);
  if (ok && values) printf("living.context %d\nliving.texts %d\n", LIVING_CONTEXT, LIVING_TEXTS);
  if (!ok) fprintf(stderr, "%s\n", g.why.text);
  living_end(&g);
  tokenizer_close(&g.m, g.t), model_close(&g.m, g.lm);
  return ok && g.m.all.live == 0;
}

/* <Print what was measured> */
static bool print_clock(void)
{
  FILE *f = fopen("figures/data/living.clock.csv", "r");
  char line[200];
  double rows, kept, naive, here[2];
  if (f == NULL) return false;
  while (fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "%lf,%lf,%lf,%lf,%lf", &rows, &kept, &naive, here, here + 1)
        == 5)
      printf("living.clock.%.0f.slower %.0f\n", rows, naive / here[1]);
  fclose(f);
  return true;
}

static bool print_measured(void)
{
  FILE *f = fopen("figures/data/living.csv", "r");
  char line[200], key[60], number[30], unit[20];
  if (f == NULL) return false;
  while (fgets(line, sizeof line, f) != NULL) {
    int n = sscanf(line, "%59[a-z._],%29[0-9.],%19[a-z]", key, number, unit);
    if (n >= 2) printf("%s %s %s\n", key, number, n == 3 ? unit : "");
  }
  fclose(f);
  return print_clock();
}

int main(int argc, char **argv)
{
  bool values = argc > 1 && strcmp(argv[1], "values") == 0;
  if (values && !print_measured()) return 1;
  if (!values) add_in_three_ways();
  return branch(values) ? 0 : 1;
}
