/* three_tokens.h -- a model of three tokens from a file, for the exercises of chapter 9: lines
   BEGINNING P P P, where - is the empty beginning; what follows others is equally likely */
#ifndef INCIPIT_THREE_TOKENS_H
#define INCIPIT_THREE_TOKENS_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "search/search.h"

enum { BEGINNING = 3, MOST_LINES = 64 }; /* the token that begins a text, and is never likely */
static struct {
  char after[16];
  double p[3];
} line[MOST_LINES];
static size_t lines;

static bool score(void *ctx, const struct search_beam *grown, size_t n, float *logits,
  struct error *why)
{
  (void) ctx, (void) why;
  for (size_t i = 0; i < n; i++) {
    char text[16] = "";
    float *z = logits + 4 * i;
    for (size_t k = 1; k < grown[i].n; k++)
      text[k - 1] = (char) ('a' + grown[i].id[k]), text[k] = '\0';
    for (size_t v = 0; v < 4; v++) z[v] = v == BEGINNING ? -INFINITY : 0;
    for (size_t l = 0; l < lines; l++)
      for (size_t v = 0; strcmp(line[l].after, text) == 0 && v < 3; v++)
        z[v] = (float) log(line[l].p[v]);
  }
  return true;
}

/* false if a line is not a beginning and three probabilities that add up to 1 */
static bool load(const char *path)
{
  char s[200];
  FILE *f = fopen(path, "r");
  if (f == NULL) return false;
  while (fgets(s, sizeof s, f) != NULL && lines < MOST_LINES) {
    char *after = line[lines].after;
    double *p = line[lines].p;
    if (s[0] == '#') continue;
    if (sscanf(s, "%15s %lf %lf %lf", after, &p[0], &p[1], &p[2]) != 4) return false;
    for (int v = 0; v < 3; v++)
      if (!(p[v] >= 0)) return false;
    if (fabs(p[0] + p[1] + p[2] - 1) > 1e-6) return false;
    if (strcmp(after, "-") == 0) after[0] = '\0';
    lines++;
  }
  fclose(f);
  return lines > 0;
}
#endif
