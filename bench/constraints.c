/* constraints.c -- what a mask costs, in a vocabulary of the world.  constraints TOKENIZER.BIN
   [ROUNDS] Lines: constraint, what has been written, budget (0: none), tokens allowed, microseconds
   of the first mask and of later ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ground/timing.h"
#include "constraints/constraint.h"

static double now(void)
{
  return 1e6 * timing_seconds();
}
static int by_size(const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}
static struct token_bytes piece_of[200000];
static bool usable[200000];
static uint8_t allowed[200000];

int main(int argc, char **argv)
{
  static const struct {
    const char *name, *text, *so_far;
    size_t budget;
    bool grammar;
  } row[] = {
    { "json", NULL, "", SIZE_MAX, true },
    { "json", NULL, "{", SIZE_MAX, true },
    { "json", NULL, "{\"", SIZE_MAX, true },
    { "json", NULL, "{\"name", SIZE_MAX, true },
    { "json", NULL, "{\"name\": ", SIZE_MAX, true },
    { "json", NULL, "{\"name\": [1, {\"a\": \"b", SIZE_MAX, true },
    { "json", NULL, "{\"name\": [1, {\"a\": \"b\"", SIZE_MAX, true },
    { "json", NULL, "{\"name\": \"a", 4, true },
    { "json", NULL, "{\"name\": [1, {\"a\": \"b", 3, true },
    { "json", NULL, "{\"a\":[[{\"a\":[{\"a\":[\"b", 6, true },
    { "dot star", ".*", "", SIZE_MAX, false },
    { "dot star", ".*", "\xc3", SIZE_MAX, false },
    { "words", "([A-Z]?[a-z]+[ ,.])*", "Once ", SIZE_MAX, false },
    { "date", "\\d{4}-\\d{2}-\\d{2}", "20", SIZE_MAX, false },
    { "long", ".{0,500}\\.", "abc", SIZE_MAX, false },
    { "exact", "[a-z ]{300}", "abc", 80, false },
  };
  struct memory m = { .fail_at = 0 };
  struct error why;
  int rounds = argc > 3 ? atoi(argv[3]) : 25;
  FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (f == NULL) {
    fprintf(stderr, "which tokenizer.bin?\n");
    return 2;
  }
  unsigned char *file = malloc(4 << 20);
  size_t n = fread(file, 1, 4 << 20, f), vocab = 0;
  for (size_t at = 4; at + 8 <= n; vocab++) {
    uint32_t len;
    memcpy(&len, file + at + 4, 4);
    piece_of[vocab] = (struct token_bytes){ file + at + 8, len }, usable[vocab] = vocab < 128000,
    at += 8 + len;
  }
  double t = now();
  struct lexicon *l = lexicon_open(&m, piece_of, usable, vocab, &why);
  char machine[200] = "unknown";
  FILE *cpu = fopen("/proc/cpuinfo", "r");
  for (char line[300]; cpu != NULL && fgets(line, sizeof line, cpu) != NULL;)
    if (sscanf(line, "model name : %199[^\n]", machine) == 1) break;
  if (cpu != NULL) fclose(cpu);
  printf("# command: make bench-constraints\n# build: %s\n# machine: %s, one thread\n# rounds: %d; "
         "microseconds of a mask of %zu pieces: the first one, then the best, median and quartiles "
         "of the rounds; the lexicon took %.1f ms and %.1f MiB\n",
    argc > 2 ? argv[2] : "unknown", machine, rounds, vocab, (now() - t) / 1e3,
    (double) m.all.live / 1048576);
  printf("constraint,behind,budget,allowed,first,best,median,lower,upper\n");
  double worst = 0, worst_median = 0, worst_cold = 0;
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    struct constraint *c = row[k].grammar
      ? constraint_grammar(&m, "json", constraint_json, strlen(constraint_json), &why)
      : constraint_regex(&m, row[k].text, strlen(row[k].text), &why);
    if (c == NULL || !constraint_bind(c, l, false, &why)) {
      fprintf(stderr, "%s\n", why.text);
      return 1;
    }
    char row_state[100];
    uint32_t state = constraint_start(c);
    for (const char *s = row[k].so_far; *s; s++) {
      uint32_t id = 0;
      while (piece_of[id].n != 1 || piece_of[id].byte[0] != (unsigned char) *s) id++;
      if (!constraint_step(c, state, id, &state, &why)) {
        fprintf(stderr, "%s\n", why.text);
        return 1;
      }
    }
    double *time = malloc((size_t) rounds * sizeof *time), cold = 0;
    bool accepts;
    size_t many = 0;
    for (int r = -1; r < rounds; r++) {
      t = now();
      if (!constraint_mask(c, state, row[k].budget, allowed, &accepts, &why)) {
        fprintf(stderr, "%s\n", why.text);
        return 1;
      }
      if (r < 0)
        cold = now() - t;
      else
        time[r] = now() - t;
    }
    for (size_t i = 0; i < vocab; i++) many += allowed[i];
    qsort(time, (size_t) rounds, sizeof *time, by_size);
    for (char *q = row_state;
         (*q = *row[k].so_far == '\0' ? '\0' : row[k].so_far[q - row_state]) != '\0'; q++)
      if (*q == ',' || *q < 0) *q = ';';
    if (row_state[0] == '\0') strcpy(row_state, "nothing");
    printf("%s,%s,%zu,%zu,%.0f,%.0f,%.0f,%.0f,%.0f\n", row[k].name, row_state,
      row[k].budget == SIZE_MAX ? 0 : row[k].budget, many, cold, time[0], time[rounds / 2],
      time[rounds / 4], time[rounds * 3 / 4]);
    if (time[0] > worst) worst = time[0];
    if (time[rounds / 2] > worst_median) worst_median = time[rounds / 2];
    if (cold > worst_cold) worst_cold = cold;
    constraint_free(c), free(time);
  }
  fprintf(stderr, "worst: %.0f us at best, %.0f us as a rule, %.0f us the first time\n", worst,
    worst_median, worst_cold);
  lexicon_close(l);
  return worst_median > 2000;
}
