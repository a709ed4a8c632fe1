/* jinja_operators.c -- Python's operators on values, and its slices.

   An integer has 64 bits, and what would need more is an error. Text that is safe makes text beside it safe, by escaping it. */

#include <math.h>
#include <string.h>
#include "templates/jinja_inside.h"

static bool number(const struct jinja_value *v)
{
  return v->kind == JINJA_INT || v->kind == JINJA_BOOL || v->kind == JINJA_FLOAT;
}

static double real(const struct jinja_value *v)
{
  int64_t n = 0;
  return jinja_integer(v, &n) ? (double) n : v->as.x;
}

static bool overflow(struct jinja_run *r)
{
  return jinja_fail(r, "an integer would have more than 64 bits");
}

static bool bad_pair(struct jinja_run *r, uint32_t op, const struct jinja_value *a, const struct jinja_value *b)
{
  char sign[3] = { (char) (op & 255), (char) (op >> 8), '\0' };
  return jinja_fail(r, "%s cannot join %s and %s%s", sign, jinja_kind_name(a), jinja_kind_name(b),
    a->kind == JINJA_UNDEFINED || b->kind == JINJA_UNDEFINED ? ": a value is undefined" : "");
}

/* The product's size is bounded in doubles first: they are exact enough to tell 2^62 from 2^63, and in between we divide back. */
static bool multiply(int64_t a, int64_t b, int64_t *out)
{
  double rough = (double) a * (double) b;
  if (rough > 9.3e18 || rough < -9.3e18) return false;
  int64_t x = (int64_t) ((uint64_t) a * (uint64_t) b);
  if (a != 0 && a != -1 && (x / a != b || x % a != 0)) return false;
  if (a == -1 && b == INT64_MIN) return false;
  *out = x;
  return true;
}

/* Beyond 63 factors only 0, 1 and -1 stay small. */
static bool power(struct jinja_run *r, int64_t a, int64_t n, struct jinja_value *out)
{
  int64_t x = 1;
  if (n < 0) {
    if (a == 0) return jinja_fail(r, "zero cannot have a negative power");
    *out = jinja_float(pow((double) a, (double) n));
    return true;
  }
  if (a == 1 || a == 0 || a == -1) x = n == 0 || (a == -1 && n % 2 == 0) ? 1 : a;
  else for (int64_t i = 0; i < n; i++) if (i >= 64 || !multiply(x, a, &x)) return overflow(r);
  *out = jinja_int(x);
  return true;
}

/* towards the lower integer, as Python divides */
static bool divide_down(struct jinja_run *r, int64_t a, int64_t b, bool rest, struct jinja_value *out)
{
  if (b == 0) return jinja_fail(r, "division by zero");
  if (b == -1) {
    if (a == INT64_MIN && !rest) return overflow(r);
    *out = jinja_int(rest ? 0 : -a);
    return true;
  }
  int64_t q = a / b, m = a % b;
  if (m != 0 && (m < 0) != (b < 0)) q--, m += b;
  *out = jinja_int(rest ? m : q);
  return true;
}

static bool true_divide(struct jinja_run *r, const struct jinja_value *a, const struct jinja_value *b, struct jinja_value *out)
{
  int64_t n = 0, k = 0, most = (int64_t) 1 << 53;
  if (real(b) == 0) return jinja_fail(r, "division by zero");
  if (jinja_integer(a, &n) && jinja_integer(b, &k) && (n > most || n < -most || k > most || k < -most))
    return jinja_fail(r, "integers beyond 2 ** 53 are not divided here");
  *out = jinja_float(real(a) / real(b));
  return true;
}

static bool whole(struct jinja_run *r, uint32_t op, int64_t a, int64_t b, struct jinja_value *out)
{
  int64_t x = 0;
  switch (op) {
  case '+':
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return overflow(r);
    *out = jinja_int(a + b);
    return true;
  case '-':
    if (b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b) return overflow(r);
    *out = jinja_int(a - b);
    return true;
  case '*':
    if (!multiply(a, b, &x)) return overflow(r);
    *out = jinja_int(x);
    return true;
  case '%': return divide_down(r, a, b, true, out);
  case JINJA_OP('/', '/'): return divide_down(r, a, b, false, out);
  default: return power(r, a, b, out);
  }
}

/* Python's rest has the sign of what one divides by. */
static bool floats(struct jinja_run *r, uint32_t op, double a, double b, struct jinja_value *out)
{
  double x;
  if ((op == '%' || op == JINJA_OP('/', '/')) && b == 0) return jinja_fail(r, "division by zero");
  if (op == '+') x = a + b;
  else if (op == '-') x = a - b;
  else if (op == '*') x = a * b;
  else if (op == '%' || op == JINJA_OP('/', '/')) {
    double m = fmod(a, b), q = (a - m) / b;
    if (m != 0 ? (b < 0) != (m < 0) : false) m += b, q -= 1;
    if (m == 0) m = copysign(0, b);
    double down = floor(q);
    if (q - down > 0.5) down += 1;
    if (q == 0) down = copysign(0, a / b);
    x = op == '%' ? m : down;
  }
  else return jinja_fail(r, "powers of floats are not known here");
  *out = jinja_float(x);
  return true;
}

static bool numbers(struct jinja_run *r, uint32_t op, const struct jinja_value *a, const struct jinja_value *b, struct jinja_value *out)
{
  int64_t n = 0, k = 0;
  if (op == '/') return true_divide(r, a, b, out);
  if (jinja_integer(a, &n) && jinja_integer(b, &k)) return whole(r, op, n, k, out);
  return floats(r, op, real(a), real(b), out);
}

static bool add_lists(struct jinja_run *r, const struct jinja_value *a, const struct jinja_value *b, struct jinja_value *out)
{
  size_t n = a->as.list->n + b->as.list->n;
  struct jinja_list *l = jinja_list_new(r, n);
  if (l == NULL || !jinja_steps(r, n / 4)) return false;
  if (a->as.list->n > 0) memcpy(l->item, a->as.list->item, a->as.list->n * sizeof *l->item);
  if (b->as.list->n > 0) memcpy(l->item + a->as.list->n, b->as.list->item, b->as.list->n * sizeof *l->item);
  l->n = n;
  *out = jinja_listed(a->kind, l);
  return true;
}

static bool add_texts(struct jinja_run *r, const struct jinja_value *a, const struct jinja_value *b, struct jinja_value *out)
{
  struct jinja_value left = *a, right = *b;
  bool safe = a->safe || b->safe;
  if (safe && !a->safe && !jinja_escape(r, a, &left)) return false;
  if (safe && !b->safe && !jinja_escape(r, b, &right)) return false;
  if (!jinja_text_join(r, left.as.text, right.as.text, out)) return false;
  out->safe = safe;
  return true;
}

/* a text or a list, so many times */
static bool repeat(struct jinja_run *r, const struct jinja_value *a, int64_t n, struct jinja_value *out)
{
  bool text = a->kind == JINJA_TEXT;
  size_t one = text ? a->as.text->n : a->as.list->n, times = n > 0 ? (size_t) n : 0;
  if (one > 0 && times > JINJA_MAX_BYTES / one) return jinja_limit(r, "the template needs more than %d bytes", JINJA_MAX_BYTES);
  size_t all = one * times;
  if (!jinja_steps(r, all / 16)) return false;
  if (text) {
    char *to = jinja_letters(r, all);
    if (to == NULL) return false;
    for (size_t i = 0; i < times && one > 0; i++) jinja_put_letters(r, to + i * one, a->as.text->byte, one);
    if (!jinja_text_of(r, to, all, out)) return false;
    out->safe = a->safe;
    return true;
  }
  struct jinja_list *l = jinja_list_new(r, all);
  if (l == NULL) return false;
  for (size_t i = 0; i < all; i++) l->item[i] = a->as.list->item[i % one];
  l->n = all;
  *out = jinja_listed(a->kind, l);
  return true;
}

static bool repeatable(const struct jinja_value *v)
{
  return v->kind == JINJA_TEXT || v->kind == JINJA_LIST || v->kind == JINJA_TUPLE;
}

bool jinja_binary(struct jinja_run *r, uint32_t op, const struct jinja_value *a, const struct jinja_value *b,
  struct jinja_value *out)
{
  int64_t n = 0;
  if (number(a) && number(b)) return numbers(r, op, a, b, out);
  if (op == '+' && a->kind == JINJA_TEXT && b->kind == JINJA_TEXT) return add_texts(r, a, b, out);
  if (op == '+' && a->kind == b->kind && (a->kind == JINJA_LIST || a->kind == JINJA_TUPLE)) return add_lists(r, a, b, out);
  if (op == '*' && repeatable(a) && jinja_integer(b, &n)) return repeat(r, a, n, out);
  if (op == '*' && repeatable(b) && jinja_integer(a, &n)) return repeat(r, b, n, out);
  if (op == '%' && a->kind == JINJA_TEXT) return jinja_percent(r, a, b, out);
  return bad_pair(r, op, a, b);
}

bool jinja_sign(struct jinja_run *r, uint32_t op, const struct jinja_value *a, struct jinja_value *out)
{
  int64_t n = 0;
  if (!number(a)) return jinja_fail(r, "%c has no meaning before %s", (char) op, jinja_kind_name(a));
  if (!jinja_integer(a, &n)) *out = jinja_float(op == '-' ? -a->as.x : a->as.x);
  else if (op == '-' && n == INT64_MIN) return overflow(r);
  else *out = jinja_int(op == '-' ? -n : n);
  return true;
}

bool jinja_compare(struct jinja_run *r, uint32_t op, const struct jinja_value *a, const struct jinja_value *b, bool *out)
{
  char sign[3] = { (char) (op & 255), (char) (op >> 8), '\0' };
  int order = 0;
  bool yes;
  if (op == 'i' || op == 'n') {
    if (!jinja_contains(r, b, a, &yes)) return false;
    *out = yes == (op == 'i');
    return true;
  }
  if (op == JINJA_OP('=', '=') || op == JINJA_OP('!', '=')) {
    if (!jinja_equal(r, a, b, &yes)) return false;
    *out = yes == (op == JINJA_OP('=', '='));
    return true;
  }
  if (!jinja_less(r, a, b, sign, &order)) return false;
  if (order == 2) *out = false;
  else if (op == '<') *out = order < 0;
  else if (op == '>') *out = order > 0;
  else *out = op == JINJA_OP('<', '=') ? order <= 0 : order >= 0;
  return true;
}

/* ---- slices ---- */

static bool bound_of(struct jinja_run *r, const struct jinja_value *v, int64_t normal, int64_t n, bool back, int64_t *out)
{
  int64_t least = back ? -1 : 0, most = back ? n - 1 : n;
  if (v->kind == JINJA_NONE || v->kind == JINJA_MISSING) return *out = normal, true;
  if (!jinja_integer(v, out)) return jinja_fail(r, "a slice goes from integer to integer, not %s", jinja_kind_name(v));
  if (*out < -n) *out = least;
  else if (*out < 0) *out = *out + n;
  else if (*out > most) *out = most;
  return true;
}

static bool slice_text(struct jinja_run *r, const struct jinja_value *of, int64_t from, int64_t step, size_t n, struct jinja_value *out)
{
  const struct jinja_text *t = of->as.text;
  struct jinja_output o = { .byte = NULL };
  bool ok = true;
  if (step == 1) ok = jinja_part(r, t, (size_t) from, (size_t) from + n, out);
  else {
    /* the beginning of every code point, once */
    size_t *at = jinja_room(r, t->points + 1, sizeof *at), k = 0;
    if (at == NULL) return false;
    for (size_t i = 0; i < t->n; i++) if (((unsigned char) t->byte[i] & 0xc0) != 0x80) at[k++] = i;
    at[k] = t->n;
    for (size_t i = 0; ok && i < n; i++) {
      size_t p = (size_t) (from + (int64_t) i * step);
      ok = jinja_steps(r, 1) && jinja_write(r, &o, t->byte + at[p], at[p + 1] - at[p]);
    }
    ok = ok && jinja_output_text(r, &o, out);
    jinja_output_free(r, &o);
  }
  if (ok) out->safe = of->safe;
  return ok;
}

/* Python prints such a range with the bounds and the step that it was asked for, whether numbers reach them or not. */
static bool slice_range(struct jinja_run *r, const struct jinja_range *g, int64_t from, int64_t to, int64_t step, size_t n,
  struct jinja_value *out)
{
  struct jinja_range *made = jinja_room(r, 1, sizeof *made);
  int64_t by, first, end;
  if (made == NULL) return false;
  if (__builtin_mul_overflow(g->step, step, &by) || __builtin_mul_overflow(g->step, from, &first) || __builtin_mul_overflow(g->step, to, &end)
    || __builtin_add_overflow(g->from, first, &first) || __builtin_add_overflow(g->from, end, &end)) return jinja_fail(r, "a range is too large");
  *made = (struct jinja_range) { first, by, n, end };
  *out = (struct jinja_value) { .kind = JINJA_RANGE, .as.range = made };
  return true;
}

static bool slice_list(struct jinja_run *r, const struct jinja_value *of, int64_t from, int64_t step, size_t n, struct jinja_value *out)
{
  struct jinja_list *l = jinja_list_new(r, n);
  if (l == NULL || !jinja_steps(r, n)) return false;
  for (size_t i = 0; i < n; i++) l->item[i] = of->as.list->item[from + (int64_t) i * step];
  l->n = n;
  *out = jinja_listed(of->kind, l);
  return true;
}

bool jinja_slice(struct jinja_run *r, const struct jinja_value *of, const struct jinja_value bound[3], struct jinja_value *out)
{
  int64_t n, from = 0, to = 0, step = 1;
  bool list = of->kind == JINJA_LIST || of->kind == JINJA_TUPLE;
  if (of->kind != JINJA_TEXT && of->kind != JINJA_RANGE && !list) return jinja_fail(r, "a %s has no slices", jinja_kind_name(of));
  if (bound[2].kind != JINJA_NONE && !jinja_integer(&bound[2], &step))
    return jinja_fail(r, "a slice goes by an integer, not %s", jinja_kind_name(&bound[2]));
  if (step == 0) return jinja_fail(r, "a slice cannot go by zero");
  if (!jinja_length(r, of, &n)) return false;
  bool back = step < 0;
  if (!bound_of(r, &bound[0], back ? n - 1 : 0, n, back, &from) || !bound_of(r, &bound[1], back ? -1 : n, n, back, &to)) return false;
  int64_t wide = back ? from - to : to - from, asked = step;
  if (step < -n - 1) step = -n - 1;
  if (step > n + 1) step = n + 1;
  int64_t by = back ? -step : step;
  size_t count = wide > 0 ? (size_t) ((wide - 1) / by + 1) : 0;
  if (of->kind == JINJA_TEXT) return slice_text(r, of, from, step, count, out);
  return list ? slice_list(r, of, from, step, count, out) : slice_range(r, of->as.range, from, to, asked, count, out);
}
