/* try.c -- try [TEST...]: runs the public tests of a lab, or those named, and says how far each comes.  Reads tests/tests.tsv and
   tests/public/TEST.txt, the transcripts of the reference for the public seed; the grader draws other cases. */
#include "cage.h"
#include "transcript.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *slurp(const char *path)
{
  FILE *f = fopen(path, "rb");
  char *text = f == NULL ? NULL : malloc((4u << 20) + 1);
  if (text != NULL) text[fread(text, 1, 4u << 20, f)] = '\0';
  if (f != NULL) fclose(f);
  return text;
}

/* the seed is the word behind "end" in the transcript */
static bool run(const char *name, unsigned seconds, const char *wanted, char *feedback, size_t size)
{
  char seed[40] = "";
  const char *end = strstr(wanted, "\nend ");
  if (end == NULL || sscanf(end, "\nend %39s", seed) != 1) return snprintf(feedback, size, "tests/public has no seed for it"), false;
  char program[] = "./tests/run";
  char *argv[] = { program, (char *) (uintptr_t) name, seed, NULL };
  struct cage c = { .seconds = seconds, .memory = (size_t) 1 << 30, .output = 4u << 20 };
  struct cage_result r = cage_run(&c, argv);
  bool ok = transcript_agrees(wanted, &r, true, feedback, size);
  free(r.out);
  return ok;
}

static bool asked_for(const char *name, int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], name) == 0) return true;
  return argc < 2;
}

int main(int argc, char **argv)
{
  char line[600], name[60], kind[20], promise[300], path[120], feedback[1500];
  unsigned points, seconds, score = 0, of = 0, n = 0;
  FILE *f = fopen("tests/tests.tsv", "r");
  if (f == NULL) return fprintf(stderr, "try: tests/tests.tsv is not here\n"), 2;
  while (fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line, "%59[^\t#]\t%u\t%19s\t%u\t%299[^\n]", name, &points, kind, &seconds, promise) != 5) continue;
    if (strcmp(kind, "public") != 0 || !asked_for(name, argc, argv)) continue;
    snprintf(path, sizeof path, "tests/public/%s.txt", name);
    char *wanted = slurp(path);
    bool ok = wanted != NULL && run(name, 2 * seconds, wanted, feedback, sizeof feedback);
    if (wanted == NULL) snprintf(feedback, sizeof feedback, "%s is not here", path);
    printf("%-4s %-16s %3u of %3u  %s\n", ok ? "ok" : "not", name, ok ? points : 0, points, promise);
    if (!ok) printf("     %s\n", feedback);
    free(wanted);
    score += ok ? points : 0, of += points, n++;
  }
  fclose(f);
  if (n == 0) return fprintf(stderr, "try: no public test of that name; tests/tests.tsv lists them\n"), 2;
  printf("%u of %u points\n", score, of);
  return score == of ? 0 : 1;
}
