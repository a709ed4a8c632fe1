/* change.c -- change ANSWER DIR: makes the changes of an answer in the copies of tangled/, unwoven/ and program/ below DIR, and prints the
   names of the files that are changed, one a line.  ANSWER has entries  == FILE, then lines with - (as they are now: these tokens
   stand in the file exactly once) and lines with + (as they shall be); other lines are remarks.  tools/ctokens.lua reads the same.
   This is the place where the names of files in an answer are looked at. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 21, NAMED = 200 };

static void refuse(const char *format, const char *a, const char *b)
{
  printf(format, a, b);
  putchar('\n');
  exit(1);
}

static char *slurp(const char *path)
{
  FILE *f = fopen(path, "rb");
  char *text = calloc(1, MOST + 1);
  if (f == NULL || text == NULL || fread(text, 1, MOST, f) == MOST) refuse("%s: cannot be read, or is too long%s", path, "");
  fclose(f);
  return text;
}

/* tangled/MODULE/FILE, unwoven/MODULE/FILE or program/FILE: words of letters, digits, - and _, and an ending of C */
static bool may_name(const char *name)
{
  size_t n = strlen(name);
  const char *end = strrchr(name, '.');
  if (strncmp(name, "tangled/", 8) != 0 && strncmp(name, "unwoven/", 8) != 0 && strncmp(name, "program/", 8) != 0) return false;
  if (end == NULL || (strcmp(end, ".c") != 0 && strcmp(end, ".h") != 0 && strcmp(end, ".inc") != 0 && strcmp(end, ".cu") != 0)) return false;
  for (const char *p = name; p < end; p++)
    if (!(isalnum((unsigned char) *p) || *p == '_' || *p == '-' || (*p == '/' && p[1] != '/'))) return false;
  return n < NAMED - 20;
}

/* what follows the token at p; *begin is where it begins, after white space and comments; null at the end of the text */
static const char *token(const char *p, const char **begin)
{
  static const char *const long_ones[] = { "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "*=", "/=", "%=", "+=", "-=", "&=", "^=", "|=", "##" };
  for (;;) {
    if (isspace((unsigned char) *p)) p++;
    else if (p[0] == '\\' && p[1] == '\n') p += 2;
    else if (p[0] == '/' && p[1] == '/') p += strcspn(p, "\n");
    else if (p[0] == '/' && p[1] == '*') p = strstr(p + 2, "*/") != NULL ? strstr(p + 2, "*/") + 2 : p + strlen(p);
    else break;
  }
  *begin = p;
  if (*p == '\0') return NULL;
  if (isalpha((unsigned char) *p) || *p == '_') {
    while (isalnum((unsigned char) *p) || *p == '_') p++;
    return p;
  }
  if (isdigit((unsigned char) *p) || (*p == '.' && isdigit((unsigned char) p[1]))) {
    while (isalnum((unsigned char) *p) || *p == '_' || *p == '.' || ((*p == '+' || *p == '-') && strchr("eEpP", p[-1]) != NULL)) p++;
    return p;
  }
  if (*p == '"' || *p == '\'') {
    char quote = *p++;
    while (*p != '\0' && *p != '\n' && *p != quote) p += *p == '\\' && p[1] != '\0' ? 2 : 1;
    return p + (*p == quote);
  }
  for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++)
    if (strncmp(p, long_ones[i], strlen(long_ones[i])) == 0) return p + strlen(long_ones[i]);
  return p + 1;
}

/* whether the tokens of old begin at p; *end is what follows them */
static bool begins(const char *p, const char *old, const char **end)
{
  const char *a, *b, *a_end, *b_end;
  while ((b_end = token(old, &b)) != NULL) {
    a_end = token(p, &a);
    if (a_end == NULL || a_end - a != b_end - b || memcmp(a, b, (size_t) (b_end - b)) != 0) return false;
    p = a_end, old = b_end, *end = a_end;
  }
  return true;
}

static void change(const char *dir, const char *name, const char *old, const char *new)
{
  char path[1000];
  const char *first = NULL, *last = "", *begin, *end = NULL;
  if (!may_name(name)) refuse("%s: a change is of a file of tangled/, unwoven/ or program/, with its whole name%s", name, "");
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "rb");
  if (f == NULL) refuse("%s: there is no such file%s", name, "");
  fclose(f);
  if (token(old, &begin) == NULL) refuse("%s: lines with - are wanted, which say what stands there now%s", name, "");
  char *text = slurp(path);
  for (const char *p = text, *next; (next = token(p, &begin)) != NULL; p = next) {
    if (!begins(begin, old, &end)) continue;
    if (first != NULL) refuse("%s: the lines with - stand there more than once%s", name, "");
    first = begin, last = end;
  }
  if (first == NULL) refuse("%s: the lines with - do not stand there%s", name, "");
  f = fopen(path, "wb");
  bool written = f != NULL && fprintf(f, "%.*s%s%s", (int) (first - text), text, new, last) > 0;
  if (f == NULL || fclose(f) != 0 || !written) refuse("%s: cannot be written%s", path, "");
  free(text);
  puts(name);
}

int main(int argc, char **argv)
{
  if (argc != 3) return fprintf(stderr, "usage: change ANSWER DIR\n"), 2;
  char *text = slurp(argv[1]), *old = calloc(1, MOST), *new = calloc(1, MOST), name[NAMED] = "";
  unsigned changes = 0;
  for (char *line = text, *next; line != NULL; line = next) {
    next = strchr(line, '\n');
    if (next != NULL) *next++ = '\0';
    if (strncmp(line, "== ", 3) == 0) {
      if (*name != '\0') change(argv[2], name, old, new), changes++;
      *old = *new = '\0';
      if (sscanf(line + 3, "%199s", name) != 1) refuse("%s: a file is wanted here%s", line, "");
    }
    else if (*name != '\0' && (*line == '-' || *line == '+')) {
      char *to = *line == '-' ? old : new;
      strcat(strcat(to, *to != '\0' ? "\n" : ""), line + 1);
    }
  }
  if (*name != '\0') change(argv[2], name, old, new), changes++;
  if (changes == 0) refuse("there is no change: == FILE, then - lines and + lines are wanted%s%s", "", "");
  return 0;
}
