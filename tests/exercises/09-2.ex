==== check
set -e
# the texts that three beams keep after the second step
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
static bool see(void *ctx, const struct search_step *now)
{
  (void) ctx;
  for (size_t i = 0; now->number == 2 && i < now->n_candidates; i++)
    if (now->candidate[i].outcome == OUTCOME_KEPT) printf("%c%c\n", 'a' + (int) now->active[now->candidate[i].parent].id[1], 'a' + (int) now->candidate[i].token);
  return true;
}
int main(int argc, char **argv)
{
  struct memory m = {0}; struct error why; struct search_result r; (void) argc;
  struct search_source from = {.vocab = 4, .score = score};
  struct search_settings want = {.num_beams = 3, .num_return = 1, .max_length = 4, .see = see};
  if (!load(argv[1])) return 1;
  return !search_run(&from, &m, kernels_find(NULL, NULL), &(uint32_t) {3}, 1, &want, &r, &why);
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
printf '%s\n' '- 0.5 0.4 0.1' 'a 0.4 0.3 0.3' 'b 0.1 0.1 0.8' 'aa 0.6 0.2 0.2' 'bc 0.5 0.25 0.25' > $BUILD/ex.model
set -- $(grep -v "^#" "$1" | tr -d '\n ') $($BUILD/ex $BUILD/ex.model | tr -d '\n')
[ "$1" = "$2" ]
==== answer
bc
aa
ab
==== wrong
bc
aa
ac
==== skeleton
# three texts, one a line, the best first
