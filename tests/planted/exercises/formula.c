/* formula.c -- formula TEXT NAME=VALUE...: the value of a formula in whole numbers, computed in 64 bits as C does (7/2 is 3).
   It has numbers, the names that are given, + - * / % ( ), comparisons, !, && and ||, c ? a : b, min(a, b), max(a, b) and n! */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *at;
static char **names;
static int n_names, depth;

static void refuse(const char *what)
{
  printf("%s; a formula has numbers,", what);
  for (int i = 0; i < n_names; i++) printf(" %.*s,", (int) strcspn(names[i], "="), names[i]);
  puts(" + - * / % ( ), < > = ? : and min(a, b), max(a, b), n!");
  exit(1);
}

static bool next_is(const char *sign)
{
  at += strspn(at, " \t\n");
  size_t n = strlen(sign);
  if (strncmp(at, sign, n) != 0) return false;
  if (n == 1 && ((strchr("<>!=", *sign) != NULL && at[1] == '=') || (strchr("&|", *sign) != NULL && at[1] == *sign))) return false;
  at += n;
  return true;
}

static void want(const char *sign)
{
  char what[60];
  snprintf(what, sizeof what, "%s is missing", sign);
  if (!next_is(sign)) refuse(what);
}

static long long computed(char sign, long long a, long long b)
{
  long long r = 0;
  bool over = false;
  if ((sign == '/' || sign == '%') && (b == 0 || b == -1)) {
    if (b == 0) refuse("it divides by 0");
    return sign == '/' ? computed('-', 0, a) : 0;
  }
  switch (sign) {
    case '+': over = __builtin_add_overflow(a, b, &r); break;
    case '-': over = __builtin_sub_overflow(a, b, &r); break;
    case '*': over = __builtin_mul_overflow(a, b, &r); break;
    case '/': r = a / b; break;
    default: r = a % b;
  }
  if (over) refuse("it becomes too large");
  return r;
}

static long long choice(void);

static long long factor(void)
{
  long long v = 0;
  if (++depth > 100) refuse("it has too many brackets");
  if (next_is("-")) v = computed('-', 0, factor());
  else if (next_is("+")) v = factor();
  else if (next_is("!")) v = !factor();
  else if (next_is("(")) {
    v = choice();
    want(")");
  }
  else if (isdigit((unsigned char) *at)) {
    while (isdigit((unsigned char) *at)) v = computed('+', computed('*', v, 10), *at++ - '0');
    if (isalnum((unsigned char) *at) || *at == '.' || *at == '_') refuse("after a number comes a sign; write 2*n");
  }
  else if (isalpha((unsigned char) *at)) {
    const char *name = at;
    while (isalnum((unsigned char) *at)) at++;
    size_t n = (size_t) (at - name);
    bool least = n == 3 && memcmp(name, "min", 3) == 0, found = false;
    if (least || (n == 3 && memcmp(name, "max", 3) == 0)) {
      want("(");
      long long a = choice();
      want(",");
      long long b = choice();
      want(")");
      v = (a < b) == least ? a : b, found = true;
    }
    for (int i = 0; i < n_names && !found; i++)
      if (strncmp(names[i], name, n) == 0 && names[i][n] == '=') v = strtoll(names[i] + n + 1, NULL, 10), found = true;
    char what[100];
    snprintf(what, sizeof what, "%.*s is no name that is given", (int) (n < 30 ? n : 30), name);
    if (!found) refuse(what);
  }
  else refuse(*at == '\0' ? "it ends too early" : "there is a sign that does not belong there");
  while (next_is("!")) {
    if (v < 0 || v > 20) refuse("n! is computed for n from 0 to 20");
    long long f = 1;
    for (; v > 1; v--) f *= v;
    v = f;
  }
  depth--;
  return v;
}

static long long product(void)
{
  for (long long v = factor();;) {
    if (next_is("*")) v = computed('*', v, factor());
    else if (next_is("/")) v = computed('/', v, factor());
    else if (next_is("%")) v = computed('%', v, factor());
    else return v;
  }
}

static long long sum(void)
{
  for (long long v = product();;) {
    if (next_is("+")) v = computed('+', v, product());
    else if (next_is("-")) v = computed('-', v, product());
    else return v;
  }
}

static long long comparison(void)
{
  for (long long v = sum();;) {
    if (next_is("<=")) v = v <= sum();
    else if (next_is(">=")) v = v >= sum();
    else if (next_is("==")) v = v == sum();
    else if (next_is("!=")) v = v != sum();
    else if (next_is("<")) v = v < sum();
    else if (next_is(">")) v = v > sum();
    else return v;
  }
}

static long long logic(void)
{
  for (long long v = comparison();;) {
    if (next_is("&&")) v = (comparison() != 0) & (v != 0);
    else if (next_is("||")) v = (comparison() != 0) | (v != 0);
    else return v;
  }
}

static long long choice(void)
{
  long long v = logic();
  if (!next_is("?")) return v;
  long long a = choice();
  want(":");
  long long b = choice();
  return v != 0 ? a : b;
}

int main(int argc, char **argv)
{
  if (argc < 2) return fprintf(stderr, "usage: formula TEXT NAME=VALUE...\n"), 2;
  at = argv[1], names = argv + 2, n_names = argc - 2;
  long long v = choice();
  if (next_is("^")) refuse("there is no ^; write n*n for a square");
  at += strspn(at, " \t\n");
  if (*at != '\0') refuse("after it something stands that does not belong to it");
  printf("%lld\n", v);
  return 0;
}
