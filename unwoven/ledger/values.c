/* values.c -- numbers that programs print, and expressions of them.

   If two programs print different numbers under the same key, one of the programs is wrong. We
   cannot know which, so the list never has two: the second is refused. A key that no run printed
   makes a whole test unknown; it is never taken for a number. */

#include <stdlib.h>
#include <string.h>
#include "ledger/rules.h"

bool run_values_find(const struct run_values *v, const char *key, size_t n,
  double *x)
{
  for (size_t i = 0; i < v->n; i++)
    if (strncmp(v->list[i].key, key, n) == 0 && v->list[i].key[n] == '\0') {
      *x = v->list[i].x;
      return true;
    }
  return false;
}

static bool take_value(struct run_values *v, struct memory *m, const char *key,
  double x, struct error *why)
{
  double before;
  if (run_values_find(v, key, strlen(key), &before))
    return before == x
      || error_say(why, "two numbers for %s: %g and %g", key, before, x);
  void *more = memory_reserve(m, MEMORY_OTHER, v->list, &v->cap, v->n + 1, 64,
    sizeof *v->list, why);
  if (more == NULL) return false;
  v->list = more;
  v->list[v->n++] = (struct run_value) { key, x };
  return true;
}

/* After the number the line ends, or a blank and a unit follow. A line whose second word is not a
   number is skipped; it may be a message of the program. */
bool run_values_take(struct run_values *v, struct memory *m, char *text,
  struct error *why)
{
  bool ok = true;
  while (ok && *text != '\0') {
    char *line = text, *end;
    text += strcspn(text, "\n");
    if (*text != '\0') *text++ = '\0';
    size_t n = strcspn(line, " ");
    if (n == 0 || line[n] == '\0') continue;
    line[n] = '\0';
    double x = strtod(line + n + 1, &end);
    if (end == line + n + 1 || (*end != '\0' && *end != ' ')) continue;
    ok = take_value(v, m, line, x, why);
  }
  return ok;
}

void run_values_free(struct run_values *v, struct memory *m)
{
  memory_free(m, v->list);
  *v = (struct run_values) { .n = 0 };
}

static bool operand_value(const struct operand *o, const struct run_values *v,
  double *x, struct error *why)
{
  *x = o->x;
  return o->n == 0 || run_values_find(v, o->key, o->n, x)
    || error_say(why, "no program printed the key %.*s", (int) o->n, o->key);
}

/* An expression without a sign is its first operand. */
bool expression_value(const struct expression *e, const struct run_values *v,
  double *x, struct error *why)
{
  double y;
  if (!operand_value(&e->first, v, x, why)) return false;
  if (e->sign == '\0') return true;
  if (!operand_value(&e->second, v, &y, why)) return false;
  switch (e->sign) {
  case '+': *x += y; break;
  case '-': *x -= y; break;
  case '*': *x *= y; break;
  default: if (y == 0)
      return error_say(why, "the rule divides by zero");
    *x /= y;
  }
  return true;
}
