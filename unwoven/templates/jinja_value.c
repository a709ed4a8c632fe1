/* jinja_value.c -- values with Python's rules: what is true, equal, less, contained; lists, dictionaries, items.

   Numbers of different kinds are equal if they are the same number, so true == 1 == 1.0, and one of them is as
   good a key as the other. Undefined values equal each other, are empty, and cannot be compared. */

#include <math.h>
#include <string.h>
#include "templates/jinja_inside.h"
#include "tokens/utf8.h"

enum { FEW_KEYS = 8 };

const char *jinja_kind_name(const struct jinja_value *v)
{
  static const char *const name[] = { "nothing", "Undefined", "NoneType", "bool", "int", "float", "str", "list",
    "tuple", "dict", "range", "dict view", "generator", "namespace", "macro", "function", "method", "loop" };
  return name[v->kind];
}

bool jinja_words(struct jinja_run *r, const char *words, struct jinja_value *out)
{
  return jinja_text_of(r, words, strlen(words), out);
}

bool jinja_integer(const struct jinja_value *v, int64_t *n)
{
  if (v->kind == JINJA_INT) *n = v->as.n;
  else if (v->kind == JINJA_BOOL) *n = v->as.flag;
  else return false;
  return true;
}

struct jinja_list *jinja_list_new(struct jinja_run *r, size_t cap)
{
  struct jinja_list *l = jinja_room(r, 1, sizeof *l);
  if (l == NULL || cap == 0) return l;
  l->item = jinja_room(r, cap, sizeof *l->item);
  l->cap = cap;
  return l->item == NULL ? NULL : l;
}

bool jinja_push(struct jinja_run *r, struct jinja_list *l, struct jinja_value v)
{
  if (l->n == l->cap) {
    size_t cap = l->cap == 0 ? 4 : 2 * l->cap;
    struct jinja_value *item = jinja_room(r, cap, sizeof *item);
    if (item == NULL) return false;
    if (l->n > 0) memcpy(item, l->item, l->n * sizeof *item);
    l->item = item, l->cap = cap;
  }
  l->item[l->n++] = v;
  return true;
}

/* ---- numbers ---- */

static bool number(const struct jinja_value *v)
{
  return v->kind == JINJA_INT || v->kind == JINJA_FLOAT || v->kind == JINJA_BOOL;
}

/* An integer against a double, exactly: the double's whole part fits into an integer or is beyond all of them. */
static int order_mixed(int64_t n, double x)
{
  if (x >= 9223372036854775808.0) return -1;
  if (x < -9223372036854775808.0) return 1;
  double whole = floor(x);
  int64_t k = (int64_t) whole;
  if (n != k) return n < k ? -1 : 1;
  return x > whole ? -1 : 0;
}

/* -1, 0, 1, and 2 if one is no number (nan) */
static int order_numbers(const struct jinja_value *a, const struct jinja_value *b)
{
  int64_t n, k;
  bool whole_a = jinja_integer(a, &n), whole_b = jinja_integer(b, &k);
  if (whole_a && whole_b) return (n > k) - (n < k);
  if ((!whole_a && isnan(a->as.x)) || (!whole_b && isnan(b->as.x))) return 2;
  if (whole_a) return order_mixed(n, b->as.x);
  if (whole_b) return -order_mixed(k, a->as.x);
  return (a->as.x > b->as.x) - (a->as.x < b->as.x);
}

/* ---- dictionaries ---- */

static uint64_t mix(uint64_t h)
{
  h ^= h >> 33, h *= 0xff51afd7ed558ccdu;
  return h ^ h >> 33;
}

static uint64_t hash_bytes(const char *byte, size_t n)
{
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char) byte[i]) * 1099511628211u;
  return mix(h);
}

/* Equal keys have equal hashes: a whole double hashes as its integer. */
static bool hash_value(struct jinja_run *r, const struct jinja_value *v, uint64_t *h)
{
  int64_t n;
  if (jinja_integer(v, &n)) *h = mix((uint64_t) n);
  else if (v->kind == JINJA_NONE || v->kind == JINJA_UNDEFINED) *h = (uint64_t) v->kind;
  else if (v->kind == JINJA_TEXT) {
    *h = hash_bytes(v->as.text->byte, v->as.text->n);
    return jinja_steps(r, v->as.text->n / 16);
  }
  else if (v->kind == JINJA_FLOAT) {
    double x = v->as.x;
    bool whole = x == floor(x) && x >= -9223372036854775808.0 && x < 9223372036854775808.0;
    *h = mix(0x9e37);
    if (whole) *h = mix((uint64_t) (int64_t) x);
  }
  else if (v->kind == JINJA_TUPLE) {
    if (!jinja_deeper(r)) return false;
    *h = 7;
    for (size_t i = 0; i < v->as.list->n; i++) {
      uint64_t part;
      if (!hash_value(r, &v->as.list->item[i], &part)) return false;
      *h = mix(*h * 31 + part);
    }
    r->depth--;
  }
  else return jinja_fail(r, "a %s cannot be the key of a dictionary", jinja_kind_name(v));
  return true;
}

struct jinja_dict *jinja_dict_new(struct jinja_run *r)
{
  return jinja_room(r, 1, sizeof (struct jinja_dict));
}

/* the number of a key + 1, or 0 */
static bool find_key(struct jinja_run *r, const struct jinja_dict *d, const struct jinja_value *key, uint64_t hash,
  size_t *found)
{
  bool same;
  *found = 0;
  size_t at = d->slots > 0 ? (size_t) hash & (d->slots - 1) : 0;
  while (d->slots > 0 ? d->table[at] != 0 : at < d->n) {
    size_t i = d->slots > 0 ? d->table[at] - 1 : at;
    if (d->pair[i].hash == hash) {
      if (!jinja_equal(r, &d->pair[i].key, key, &same)) return false;
      if (same) {
        *found = i + 1;
        return true;
      }
    }
    at++;
    if (d->slots > 0) at &= d->slots - 1;
  }
  return true;
}

static bool grow_table(struct jinja_run *r, struct jinja_dict *d)
{
  size_t slots = d->slots == 0 ? 4 * FEW_KEYS : 2 * d->slots;
  uint32_t *table = jinja_room(r, slots, sizeof *table);
  if (table == NULL) return false;
  for (size_t i = 0; i < d->n; i++) {
    size_t at = (size_t) d->pair[i].hash & (slots - 1);
    while (table[at] != 0) at = (at + 1) & (slots - 1);
    table[at] = (uint32_t) i + 1;
  }
  d->table = table, d->slots = slots;
  return true;
}

static bool add_pair(struct jinja_run *r, struct jinja_dict *d, struct jinja_pair p)
{
  if (d->n == d->cap) {
    size_t cap = d->cap == 0 ? 4 : 2 * d->cap;
    struct jinja_pair *pair = jinja_room(r, cap, sizeof *pair);
    if (pair == NULL) return false;
    if (d->n > 0) memcpy(pair, d->pair, d->n * sizeof *pair);
    d->pair = pair, d->cap = cap;
  }
  d->pair[d->n++] = p;
  if (d->n > FEW_KEYS && 2 * d->n > d->slots) return grow_table(r, d);
  if (d->slots > 0) {
    size_t at = (size_t) p.hash & (d->slots - 1);
    while (d->table[at] != 0) at = (at + 1) & (d->slots - 1);
    d->table[at] = (uint32_t) d->n;
  }
  return true;
}

bool jinja_dict_set(struct jinja_run *r, struct jinja_dict *d, struct jinja_value key, struct jinja_value v)
{
  uint64_t hash;
  size_t found;
  if (!hash_value(r, &key, &hash) || !find_key(r, d, &key, hash, &found)) return false;
  if (found == 0) return add_pair(r, d, (struct jinja_pair) { key, v, hash });
  d->pair[found - 1].value = v;
  return true;
}

bool jinja_dict_get(struct jinja_run *r, const struct jinja_dict *d, struct jinja_value key, const struct jinja_value **v)
{
  uint64_t hash;
  size_t found;
  if (!hash_value(r, &key, &hash) || !find_key(r, d, &key, hash, &found)) return false;
  *v = found == 0 ? NULL : &d->pair[found - 1].value;
  return true;
}

const struct jinja_value *jinja_dict_word(const struct jinja_dict *d, const char *word, size_t n)
{
  uint64_t hash = hash_bytes(word, n);
  for (size_t i = 0; i < d->n; i++) {
    const struct jinja_pair *p = &d->pair[i];
    if (p->hash == hash && p->key.kind == JINJA_TEXT && jinja_is(p->key.as.text, word, n)) return &p->value;
  }
  return NULL;
}

/* ---- from JSON ---- */

static bool object_from_json(struct jinja_run *r, json_t *j, struct jinja_value *out)
{
  struct jinja_dict *d = jinja_dict_new(r);
  if (d == NULL) return false;
  for (void *at = json_object_iter(j); at != NULL; at = json_object_iter_next(j, at)) {
    struct jinja_value key, v;
    if (!jinja_text_copy(r, json_object_iter_key(at), json_object_iter_key_len(at), &key)
      || !jinja_from_json(r, json_object_iter_value(at), &v) || !jinja_dict_set(r, d, key, v)) return false;
  }
  *out = jinja_dicted(d);
  return true;
}

static bool array_from_json(struct jinja_run *r, json_t *j, struct jinja_value *out)
{
  struct jinja_list *l = jinja_list_new(r, json_array_size(j));
  if (l == NULL) return false;
  for (size_t i = 0; i < json_array_size(j); i++) {
    struct jinja_value v;
    if (!jinja_from_json(r, json_array_get(j, i), &v) || !jinja_push(r, l, v)) return false;
  }
  *out = jinja_listed(JINJA_LIST, l);
  return true;
}

bool jinja_from_json(struct jinja_run *r, json_t *j, struct jinja_value *out)
{
  bool ok = true;
  if (!jinja_deeper(r)) return false;
  switch (json_typeof(j)) {
  case JSON_OBJECT: ok = object_from_json(r, j, out); break;
  case JSON_ARRAY: ok = array_from_json(r, j, out); break;
  case JSON_STRING: ok = jinja_text_copy(r, json_string_value(j), json_string_length(j), out); break;
  case JSON_INTEGER: *out = jinja_int(json_integer_value(j)); break;
  case JSON_REAL: *out = jinja_float(json_real_value(j)); break;
  case JSON_TRUE: case JSON_FALSE: *out = jinja_bool(json_is_true(j)); break;
  default: *out = jinja_none();
  }
  r->depth--;
  return ok;
}

/* ---- truth, equality, order ---- */

bool jinja_true(const struct jinja_value *v)
{
  switch (v->kind) {
  case JINJA_MISSING: case JINJA_UNDEFINED: case JINJA_NONE: return false;
  case JINJA_BOOL: return v->as.flag;
  case JINJA_INT: return v->as.n != 0;
  case JINJA_FLOAT: return v->as.x != 0;
  case JINJA_TEXT: return v->as.text->n > 0;
  case JINJA_LIST: case JINJA_TUPLE: return v->as.list->n > 0;
  case JINJA_DICT: return v->as.dict->n > 0;
  case JINJA_RANGE: return v->as.range->n > 0;
  case JINJA_VIEW: return v->as.view->dict->n > 0;
  case JINJA_LOOP: return true;
  default: return true;
  }
}

static bool equal_lists(struct jinja_run *r, const struct jinja_list *a, const struct jinja_list *b, bool *same)
{
  *same = a->n == b->n;
  for (size_t i = 0; *same && i < a->n; i++)
    if (!jinja_equal(r, &a->item[i], &b->item[i], same)) return false;
  return true;
}

static bool equal_dicts(struct jinja_run *r, const struct jinja_dict *a, const struct jinja_dict *b, bool *same)
{
  *same = a->n == b->n;
  for (size_t i = 0; *same && i < a->n; i++) {
    const struct jinja_value *v;
    if (!jinja_dict_get(r, b, a->pair[i].key, &v)) return false;
    *same = v != NULL;
    if (*same && !jinja_equal(r, &a->pair[i].value, v, same)) return false;
  }
  return true;
}

static bool equal_alike(struct jinja_run *r, const struct jinja_value *a, const struct jinja_value *b, bool *same)
{
  switch (a->kind) {
  case JINJA_NONE: case JINJA_UNDEFINED: case JINJA_MISSING: *same = true; break;
  case JINJA_TEXT:
    *same = jinja_is(a->as.text, b->as.text->byte, b->as.text->n);
    return jinja_steps(r, a->as.text->n / 64);
  case JINJA_LIST: case JINJA_TUPLE: return equal_lists(r, a->as.list, b->as.list, same);
  case JINJA_DICT: return equal_dicts(r, a->as.dict, b->as.dict, same);
  case JINJA_RANGE:
    *same = a->as.range->n == b->as.range->n && (a->as.range->n == 0 || (a->as.range->from == b->as.range->from
      && (a->as.range->n == 1 || a->as.range->step == b->as.range->step)));
    break;
  case JINJA_VIEW: return jinja_fail(r, "views of dictionaries are not compared here");
  case JINJA_METHOD: case JINJA_FUNCTION: case JINJA_MACRO:
    return jinja_fail(r, "functions are not compared here");
  default: *same = a->as.list == b->as.list;
  }
  return true;
}

bool jinja_equal(struct jinja_run *r, const struct jinja_value *a, const struct jinja_value *b, bool *same)
{
  if (!jinja_steps(r, 1)) return false;
  if (number(a) && number(b)) {
    *same = order_numbers(a, b) == 0;
    return true;
  }
  *same = false;
  if (a->kind != b->kind) return true;
  if (!jinja_deeper(r)) return false;
  bool ok = equal_alike(r, a, b, same);
  r->depth--;
  return ok;
}

/* The first items that differ decide, else the lengths. */
static bool less_lists(struct jinja_run *r, const struct jinja_list *a, const struct jinja_list *b, const char *op,
  int *order)
{
  bool same;
  for (size_t i = 0; i < a->n && i < b->n; i++) {
    if (!jinja_equal(r, &a->item[i], &b->item[i], &same)) return false;
    if (!same) return jinja_less(r, &a->item[i], &b->item[i], op, order);
  }
  *order = (a->n > b->n) - (a->n < b->n);
  return true;
}

bool jinja_less(struct jinja_run *r, const struct jinja_value *a, const struct jinja_value *b, const char *op, int *order)
{
  if (number(a) && number(b)) {
    *order = order_numbers(a, b);
    return true;
  }
  if (a->kind == JINJA_TEXT && b->kind == JINJA_TEXT) {
    const struct jinja_text *s = a->as.text, *t = b->as.text;
    size_t n = s->n < t->n ? s->n : t->n;
    int c = n > 0 ? memcmp(s->byte, t->byte, n) : 0;
    *order = c != 0 ? (c > 0) - (c < 0) : (s->n > t->n) - (s->n < t->n);
    return jinja_steps(r, n / 64);
  }
  if (a->kind == b->kind && (a->kind == JINJA_LIST || a->kind == JINJA_TUPLE)) {
    if (!jinja_deeper(r)) return false;
    bool ok = less_lists(r, a->as.list, b->as.list, op, order);
    r->depth--;
    return ok;
  }
  if (a->kind == JINJA_UNDEFINED || b->kind == JINJA_UNDEFINED)
    return jinja_fail(r, "an undefined value cannot be compared with %s", op);
  return jinja_fail(r, "%s and %s cannot be compared with %s", jinja_kind_name(a), jinja_kind_name(b), op);
}

/* Every place where the first byte fits is paid for, so that a long word in a longer one is a limit and not an hour. */
bool jinja_find(struct jinja_run *r, const struct jinja_text *in, size_t from, const struct jinja_text *what, size_t *at)
{
  *at = in->n + 1;
  if (what->n == 0) *at = from;
  if (!jinja_steps(r, 1)) return false;
  for (size_t i = from; what->n > 0 && i + what->n <= in->n; i++) {
    const char *p = memchr(in->byte + i, what->byte[0], in->n - what->n - i + 1);
    size_t gone = p == NULL ? in->n - i : (size_t) (p - in->byte) - i;
    if (!jinja_steps(r, gone / 16 + what->n / 64)) return false;
    if (p == NULL) return true;
    i += gone;
    if (memcmp(p, what->byte, what->n) != 0) continue;
    *at = i;
    return true;
  }
  return true;
}

bool jinja_contains(struct jinja_run *r, const struct jinja_value *in, const struct jinja_value *v, bool *found)
{
  const struct jinja_value *there;
  struct jinja_value from = *in, item;
  bool some;
  size_t at = 0;
  *found = false;
  if (in->kind == JINJA_TEXT) {
    if (v->kind != JINJA_TEXT) return jinja_fail(r, "in a str only a str can be looked for, not %s", jinja_kind_name(v));
    if (!jinja_find(r, in->as.text, 0, v->as.text, &at)) return false;
    *found = at <= in->as.text->n;
    return true;
  }
  if (in->kind == JINJA_DICT || (in->kind == JINJA_VIEW && in->as.view->of == JINJA_KEYS)) {
    if (!jinja_dict_get(r, in->kind == JINJA_DICT ? in->as.dict : in->as.view->dict, *v, &there)) return false;
    *found = there != NULL;
    return true;
  }
  if (!jinja_iterable(in)) return jinja_fail(r, "in %s nothing can be looked for", jinja_kind_name(in));
  for (;;) {
    if (!jinja_next(r, &from, &at, &item, &some)) return false;
    if (!some) return true;
    if (!jinja_equal(r, &item, v, found)) return false;
    if (*found) return true;
  }
}

/* ---- going through ---- */

bool jinja_length(struct jinja_run *r, const struct jinja_value *v, int64_t *n)
{
  switch (v->kind) {
  case JINJA_UNDEFINED: *n = 0; break;
  case JINJA_TEXT: *n = (int64_t) v->as.text->points; break;
  case JINJA_LIST: case JINJA_TUPLE: *n = (int64_t) v->as.list->n; break;
  case JINJA_DICT: *n = (int64_t) v->as.dict->n; break;
  case JINJA_RANGE: *n = (int64_t) v->as.range->n; break;
  case JINJA_VIEW: *n = (int64_t) v->as.view->dict->n; break;
  default: return jinja_fail(r, "%s has no length", jinja_kind_name(v));
  }
  return true;
}

bool jinja_iterable(const struct jinja_value *v)
{
  switch (v->kind) {
  case JINJA_UNDEFINED: case JINJA_TEXT: case JINJA_LIST: case JINJA_TUPLE: case JINJA_DICT: case JINJA_RANGE:
  case JINJA_VIEW: case JINJA_ITERATOR: return true;
  default: return false;
  }
}

static bool next_point(struct jinja_run *r, const struct jinja_text *t, size_t *at, struct jinja_value *out, bool *some)
{
  uint32_t c;
  *some = *at < t->n;
  if (!*some) return true;
  size_t k = jinja_point(t->byte + *at, t->n - *at, &c), from = *at;
  *at += k;
  return jinja_text_of(r, t->byte + from, k, out);
}

static bool next_pair(struct jinja_run *r, const struct jinja_dict *d, enum jinja_view_of of, size_t i,
  struct jinja_value *out)
{
  struct jinja_list *both;
  if (of == JINJA_KEYS) *out = d->pair[i].key;
  else if (of == JINJA_VALUES) *out = d->pair[i].value;
  else {
    if ((both = jinja_list_new(r, 2)) == NULL) return false;
    *out = jinja_listed(JINJA_TUPLE, both);
    return jinja_push(r, both, d->pair[i].key) && jinja_push(r, both, d->pair[i].value);
  }
  return true;
}

static bool next_made(struct jinja_run *r, struct jinja_iterator *t, struct jinja_value *out, bool *some)
{
  *some = t->at < t->list->n;
  if (*some) *out = t->list->item[t->at++];
  else if (t->failed != NULL) return jinja_fail(r, "%s", t->failed);
  return true;
}

bool jinja_next(struct jinja_run *r, struct jinja_value *of, size_t *at, struct jinja_value *out, bool *some)
{
  size_t i = *at;
  if (!jinja_steps(r, 1)) return false;
  *some = false;
  switch (of->kind) {
  case JINJA_UNDEFINED: return true;
  case JINJA_TEXT: return next_point(r, of->as.text, at, out, some);
  case JINJA_ITERATOR: return next_made(r, of->as.iterator, out, some);
  case JINJA_LIST: case JINJA_TUPLE:
    if ((*some = i < of->as.list->n)) *out = of->as.list->item[i];
    break;
  case JINJA_RANGE:
    if ((*some = i < of->as.range->n)) *out = jinja_int(of->as.range->from + (int64_t) i * of->as.range->step);
    break;
  case JINJA_DICT:
    if ((*some = i < of->as.dict->n)) *out = of->as.dict->pair[i].key;
    break;
  case JINJA_VIEW:
    *some = i < of->as.view->dict->n;
    if (*some && !next_pair(r, of->as.view->dict, of->as.view->of, i, out)) return false;
    break;
  default: return jinja_fail(r, "%s cannot be gone through", jinja_kind_name(of));
  }
  ++*at;
  return true;
}

bool jinja_items(struct jinja_run *r, const struct jinja_value *v, struct jinja_list **out)
{
  struct jinja_value from = *v, item;
  size_t at = 0;
  bool some = true;
  if (v->kind == JINJA_LIST || v->kind == JINJA_TUPLE) {
    *out = v->as.list;
    return true;
  }
  if ((*out = jinja_list_new(r, 0)) == NULL) return false;
  while (some) {
    if (!jinja_next(r, &from, &at, &item, &some)) return false;
    if (some && !jinja_push(r, *out, item)) return false;
  }
  return true;
}

/* ---- arguments ---- */

const struct jinja_value *jinja_argument(const struct jinja_call *c, size_t i, const char *name)
{
  if (i < c->n) return &c->item[i];
  for (size_t k = 0; name != NULL && k < c->n_named; k++)
    if (jinja_is(c->named[k].name, name, strlen(name))) return &c->named[k].value;
  return NULL;
}

bool jinja_arguments(struct jinja_run *r, const char *what, const struct jinja_call *c, size_t least, size_t most,
  const char *const *names)
{
  if (c->n > most || c->n + c->n_named < least)
    return jinja_fail(r, "%s takes %zu to %zu arguments, not %zu", what, least, most, c->n + c->n_named);
  for (size_t k = 0; k < c->n_named; k++) {
    size_t i = 0;
    while (names[i] != NULL && !jinja_is(c->named[k].name, names[i], strlen(names[i]))) i++;
    if (names[i] == NULL || i < c->n)
      return jinja_fail(r, "%s has no argument %.*s to give by name", what, (int) c->named[k].name->n, c->named[k].name->byte);
  }
  return true;
}

/* ---- code points ---- */

/* A byte that begins nothing valid counts as itself; source and JSON are UTF-8, so that there is none. */
size_t jinja_point(const char *byte, size_t n, uint32_t *point)
{
  enum utf8_state state;
  size_t k = utf8_next((const unsigned char *) byte, n, &state);
  if (state == UTF8_WHOLE) {
    *point = utf8_point((const unsigned char *) byte, k);
    return k;
  }
  *point = 0xfffd;
  return k > 0 ? k : 1;
}

size_t jinja_byte_of(struct jinja_run *r, const struct jinja_text *t, size_t k)
{
  size_t at = 0;
  if (t->points == t->n || k >= t->points) return k >= t->points ? t->n : k;
  for (size_t seen = 0; at < t->n; at++)
    if (((unsigned char) t->byte[at] & 0xc0) != 0x80 && seen++ == k) break;
  r->steps += at / 16;
  return at;
}

bool jinja_part(struct jinja_run *r, const struct jinja_text *t, size_t from, size_t to, struct jinja_value *out)
{
  if (to > t->points) to = t->points;
  if (from > to) from = to;
  size_t a = jinja_byte_of(r, t, from), b = jinja_byte_of(r, t, to);
  return jinja_text_of(r, t->byte + a, b - a, out);
}
