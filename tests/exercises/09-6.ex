==== check
set -e
# two beams find a text that is less likely than the one that one beam finds
cat > $BUILD/ex.c <<"C"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "search/search.h"
/* a model of three tokens from a file: lines BEGINNING P P P, where - is the empty beginning; others are equally likely */
static struct { char after[16]; double p[3]; } line[64];
static size_t lines;
static bool score(void *ctx, const struct search_beam *grown, size_t n, float *logits, struct error *why)
{
  (void) ctx, (void) why;
  for (size_t i = 0; i < n; i++) {
    char text[16] = ""; float *z = logits + 4 * i;
    for (size_t k = 1; k < grown[i].n; k++) text[k - 1] = (char) ('a' + grown[i].id[k]), text[k] = 0;
    for (size_t v = 0; v < 4; v++) z[v] = v == 3 ? -INFINITY : 0;
    for (size_t l = 0; l < lines; l++) for (size_t v = 0; strcmp(line[l].after, text) == 0 && v < 3; v++) z[v] = (float) log(line[l].p[v]);
  }
  return true;
}
static bool load(const char *path)
{
  char s[200]; FILE *f = fopen(path, "r");
  if (f == NULL) return false;
  while (fgets(s, sizeof s, f) != NULL && lines < 64) {
    if (s[0] == '#') continue;
    if (sscanf(s, "%15s %lf %lf %lf", line[lines].after, &line[lines].p[0], &line[lines].p[1], &line[lines].p[2]) != 4) return false;
    double sum = line[lines].p[0] + line[lines].p[1] + line[lines].p[2];
    for (int v = 0; v < 3; v++) if (!(line[lines].p[v] >= 0)) return false;
    if (fabs(sum - 1) > 1e-6) return false;
    if (strcmp(line[lines].after, "-") == 0) line[lines].after[0] = 0;
    lines++;
  }
  fclose(f);
  return lines > 0;
}
int main(int argc, char **argv)
{
  struct memory m = {0}; struct error why; double sum[3]; (void) argc;
  struct search_source from = {.vocab = 4, .score = score};
  if (!load(argv[1])) return 1;
  for (size_t b = 1; b <= 2; b++) {
    struct search_result r;
    struct search_settings want = {.num_beams = b, .num_return = 1, .max_length = 4};
    if (!search_run(&from, &m, kernels_find(NULL, NULL), &(uint32_t) {3}, 1, &want, &r, &why)) return 1;
    sum[b] = r.text[0].sum;
  }
  return !(sum[2] < sum[1] - 1e-6);
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex "$1"
==== answer
- 0.4 0.35 0.25
a 0.34 0.33 0.33
b 0.5 0.5 0
aa 1 0 0
==== wrong
- 0.4 0.35 0.25
a 0.34 0.33 0.33
b 0.5 0.5 0
==== skeleton
# lines: a beginning (- for none) and three probabilities, as in: b 0.5 0.5 0
