/* transcript.c -- the lines of a transcript: "size N" begins a case, "# ..." says what it is, "= what value" must be the same,
   "~ what value" must be near, "< what value limit" must not be above the reference's limit, "> what value floor" not below the
   reference's floor, "^ what value" the same in ten digits, "end SEED" is the last.  What follows " | " is what the program has to say itself: it is
   shown, and not compared. */
#include "transcript.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4000, QUOTED = 300 };

/* a line without its end, and where the next begins */
static const char *next_line(const char *at, char *line, size_t size)
{
  size_t n = strcspn(at, "\n");
  snprintf(line, size, "%.*s", (int) (n < size ? n : size - 1), at);
  return at + n + (at[n] == '\n');
}

static bool same_line(const char *wanted, const char *found)
{
  char kind, other_kind, what[100], other[100];
  double value, limit, theirs;
  const char *a = strstr(wanted, " | "), *b = strstr(found, " | ");
  if (*wanted == '=' && (a != NULL || b != NULL)) {
    size_t n = a != NULL ? (size_t) (a - wanted) : strlen(wanted), m = b != NULL ? (size_t) (b - found) : strlen(found);
    return n == m && strncmp(wanted, found, n) == 0;
  }
  if (*wanted == '=' || *wanted == 'e' || *wanted == 's' || *wanted == '\0') return strcmp(wanted, found) == 0;
  int n = sscanf(wanted, "%c %99s %lf %lf", &kind, what, &value, &limit);
  if (sscanf(found, "%c %99s %lf", &other_kind, other, &theirs) != 3 || n < 3 || kind != other_kind || strcmp(what, other) != 0)
    return false;
  switch (kind) {
    case '~': return fabs(value - theirs) <= 1e-6 + 1e-4 * fabs(value);
    case '^': return fabs(value - theirs) <= 1e-10 * fabs(value);
    case '<': return n == 4 && theirs <= limit;
    case '>': return n == 4 && theirs >= limit;
    default: return false;
  }
}

/* a line in words: what it is about and the value, or the bound */
static void words_of(const char *line, bool wanted, char *words, size_t size)
{
  char what[100], limit[40];
  if (wanted && sscanf(line, "< %99s %*s %39s", what, limit) == 2) snprintf(words, size, "%s of at most %s", what, limit);
  else if (wanted && sscanf(line, "> %99s %*s %39s", what, limit) == 2) snprintf(words, size, "%s of at least %s", what, limit);
  else if (strchr("<>", *line) != NULL && sscanf(line, "%*c %99s %39s", what, limit) == 2) snprintf(words, size, "%s %s", what, limit);
  else if (strncmp(line, "= ", 2) == 0 || strncmp(line, "~ ", 2) == 0 || strncmp(line, "^ ", 2) == 0) snprintf(words, size, "%.*s", QUOTED, line + 2);
  else if (*line == '\0' || strncmp(line, "size ", 5) == 0 || strncmp(line, "end ", 4) == 0) snprintf(words, size, "nothing");
  else snprintf(words, size, "%.*s", QUOTED, line);
}

/* last: the line before, which agreed */
static void explain(const char *wanted, const char *found, const struct cage_result *r, const char *which, const char *last, bool detail,
  char *feedback, size_t size)
{
  char a[QUOTED + 100], b[QUOTED + 100], where[QUOTED + 120] = "";
  words_of(wanted, true, a, sizeof a);
  words_of(found, false, b, sizeof b);
  if (detail && *last != '\0') {
    char c[QUOTED + 100];
    words_of(last, false, c, sizeof c);
    snprintf(where, sizeof where, "after \"%s\", ", c);
  }
  if (*found == '\0') {
    char ending[200];
    cage_words(r, ending, sizeof ending);
    snprintf(feedback, size, "%s: %swanted %s, but the program %s", which, where, detail ? a : "a result", ending);
  }
  else if (detail) snprintf(feedback, size, "%s: %swanted %s, got %s", which, where, a, b);
  else snprintf(feedback, size, "%s: a wrong result", which);
}

bool transcript_agrees(const char *wanted, const struct cage_result *r, bool detail, char *feedback, size_t size)
{
  char a[LINE], b[LINE], last[LINE] = "", told[700] = "", which[800];
  const char *found = r->out;
  unsigned number = 0;
  do {
    wanted = next_line(wanted, a, sizeof a);
    if (strncmp(a, "# ", 2) == 0) {
      snprintf(told + strlen(told), sizeof told - strlen(told), "%s%.500s", *told ? "; " : "", a + 2);
      continue;
    }
    if (sscanf(a, "size %u", &number) == 1) *told = *last = '\0';
    do found = next_line(found, b, sizeof b);
    while (strncmp(b, "# ", 2) == 0);
    if (same_line(a, b)) {
      if (strchr("=~^<>", *a) != NULL) strcpy(last, a);
      continue;
    }
    snprintf(which, sizeof which, "case %u%s%.450s", number, detail && *told ? ", " : "", detail ? told : " of a hidden seed");
    explain(a, b, r, which, last, detail, feedback, size);
    return false;
  } while (*wanted != '\0');
  if (*found == '\0' && r->end == CAGE_EXITED && r->code == 0) return true;
  next_line(found, b, sizeof b);
  if (*found != '\0') snprintf(feedback, size, "it goes on printing after its last result: %.200s", b);
  else cage_words(r, feedback, size);
  return false;
}
