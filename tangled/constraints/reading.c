/* reading.c -- made from workshop/09-constraints.w; change it there */

#include <stdlib.h>
#include <string.h>
#include "tokens/utf8.h"
#include "constraints/reading.h"

/* <Make room in a list> */
void *list_more(struct memory *m, struct list *l, size_t size,
  struct error *why)
{
  if (l->n == l->room) {
    size_t room = 2 * l->room + 16;
    void *p = memory_resize(m, FOR_TOKENS, l->block, room, size, why);
    if (p == NULL) return NULL;
    l->block = p, l->room = room;
  }
  return memset((char *) l->block + size * l->n++, 0, size);
}

void list_free(struct memory *m, struct list *l)
{
  memory_free(m, l->block);
  *l = (struct list) { NULL, 0, 0 };
}

/* <Begin to read, and end> */
bool reader_begin(struct reader *r, struct memory *m, const char *name,
  const char *text, size_t n, struct error *why)
{
  *r = (struct reader) { .m = m, .name = name, .n = n, .why = why };
  r->text = (const unsigned char *) text;
  if (n > TEXT_MOST) return error_say(why, "%s: it has %zu bytes,"
    " the most is %d", name, n, TEXT_MOST);
  for (size_t i = 0, k; i < n; i += k) {
    bool whole;
    k = utf8_run(r->text + i, n - i, &whole);
    if (!whole) return error_say(why, "%s: byte %zu is 0x%02x,"
      " which is not UTF-8", name, i, r->text[i]);
  }
  return true;
}

void reader_end(struct reader *r)
{
  list_free(r->m, &r->shapes);
  list_free(r->m, &r->ranges);
}

/* <Refuse what stands here> */
uint32_t reader_refuse(struct reader *r, size_t at, const char *what)
{
  size_t line = 1, n = 0;
  const char *shown = (const char *) r->text + at;
  for (size_t i = 0; i < at; i++) line += r->text[i] == '\n';
  while (at + n < r->n && n < 12 && shown[n] != '\n' && shown[n] != '\r') n++;
  while (at + n < r->n && n > 0 && (r->text[at + n] & 0xc0) == 0x80) n--;
  error_say(r->why, "%s, %s %zu%s%.*s%s: %s", r->name,
    r->lines ? "line" : "byte", r->lines ? line : at,
    n > 0 ? ", at \"" : ", at the end", (int) n, shown,
    n > 0 ? "\"" : "", what);
  return NO_SHAPE;
}

/* <Add a shape> */
uint32_t reader_shape(struct reader *r, struct shape s)
{
  struct shape *fresh = list_more(r->m, &r->shapes, sizeof *fresh, r->why);
  if (fresh == NULL) return NO_SHAPE;
  *fresh = s;
  return (uint32_t) (r->shapes.n - 1);
}

uint32_t reader_join(struct reader *r, enum shape_kind kind, uint32_t a,
  uint32_t b)
{
  if (a == NO_SHAPE || b == NO_SHAPE) return NO_SHAPE;
  return reader_shape(r, (struct shape) { kind, a, b, 0, 0 });
}

/* <Read a character, or its number> */
uint32_t reader_point(struct reader *r)
{
  enum utf8_state state;
  size_t k = utf8_next(r->text + r->at, r->n - r->at, &state);
  uint32_t point = utf8_point(r->text + r->at, k);
  r->at += k;
  return point;
}

static int hex_digit(unsigned char b)
{
  if (b >= '0' && b <= '9') return b - '0';
  b |= 0x20;
  return b >= 'a' && b <= 'f' ? b - 'a' + 10 : -1;
}

bool reader_hex(struct reader *r, size_t least, size_t most,
  uint32_t *point)
{
  size_t from = r->at, k = 0;
  uint32_t x = 0;
  for (; k < most && r->at < r->n && hex_digit(r->text[r->at]) >= 0; k++)
    if ((x = 16 * x + (uint32_t) hex_digit(r->text[r->at++])) > LAST_POINT)
      break;
  *point = x;
  if (x > LAST_POINT || (x >= 0xd800 && x <= 0xdfff))
    return reader_refuse(r, from, "no character has this number"), false;
  return k >= least || (reader_refuse(r, from,
    "hexadecimal digits are wanted"), false);
}

/* <Read how often> */
static bool read_count(struct reader *r, uint32_t *count)
{
  size_t from = r->at;
  *count = 0;
  for (; r->at < r->n && r->text[r->at] >= '0' && r->text[r->at] <= '9';
      r->at++) {
    *count = 10 * *count + (uint32_t) (r->text[r->at] - '0');
    if (*count > TIMES_MOST) return reader_refuse(r, from,
      "a thing may be repeated 1000 times at most"), false;
  }
  return r->at > from || (reader_refuse(r, from,
    "a count is wanted; a brace itself is written \\{"), false);
}

static bool read_braces(struct reader *r, struct shape *s)
{
  size_t from = r->at++;
  if (!read_count(r, &s->least)) return false;
  s->most = s->least;
  if (r->at < r->n && r->text[r->at] == ',') {
    r->at++;
    if (r->at < r->n && r->text[r->at] == '}') s->most = FOREVER;
    else if (!read_count(r, &s->most)) return false;
  }
  if (r->at == r->n || r->text[r->at] != '}')
    return reader_refuse(r, r->at, "a closing brace is wanted"), false;
  r->at++;
  return s->most >= s->least || (reader_refuse(r, from,
    "the second count is less than the first"), false);
}

uint32_t reader_times(struct reader *r, uint32_t s)
{
  if (s == NO_SHAPE || r->at == r->n) return s;
  struct shape t = { SHAPE_TIMES, s, 0, 0, FOREVER };
  switch (r->text[r->at]) {
  case '?': t.most = 1, r->at++; break;
  case '*': r->at++; break;
  case '+': t.least = 1, r->at++; break;
  case '{': if (!read_braces(r, &t)) return NO_SHAPE; break;
  default: return s;
  }
  return reader_shape(r, t);
}

/* <Finish a set> */
static int by_beginning(const void *a, const void *b)
{
  const struct code_range *x = a, *y = b;
  return x->lo < y->lo ? -1 : x->lo > y->lo;
}

bool reader_range(struct reader *r, uint32_t lo, uint32_t hi)
{
  struct code_range *fresh = list_more(r->m, &r->ranges, sizeof *fresh, r->why);
  if (fresh == NULL) return false;
  *fresh = (struct code_range) { lo, hi };
  return true;
}

uint32_t reader_set(struct reader *r, size_t from, bool negated)
{
  if (negated && !reader_range(r, LAST_POINT + 1, LAST_POINT + 1))
    return NO_SHAPE;
  struct code_range *x = r->ranges.block;
  size_t n = r->ranges.n - from, k = 0;
  uint32_t next = 0;                        /* no range so far reaches this far */
  if (n > 0) qsort(x += from, n, sizeof *x, by_beginning);
  for (size_t i = 0; i < n; i++) {
    struct code_range now = x[i];
    if (negated && now.lo > next)
      x[k++] = (struct code_range) { next, now.lo - 1 };
    if (!negated && (k == 0 || now.lo > next)) x[k++] = now;
    else if (!negated && now.hi > x[k - 1].hi) x[k - 1].hi = now.hi;
    if (now.hi >= next) next = now.hi + 1;
  }
  r->ranges.n = from + k;
  return reader_shape(r, (struct shape) { SHAPE_SET, (uint32_t) from,
    (uint32_t) k, 0, 0 });
}
