/* corpus.c -- made from workshop/11-corpus.w; change it there */

/* A grammar in a file, and the texts that it writes. Reading checks everything that
   can be checked by line, so that the writer may trust brackets, names of tables and
   weights; what depends on the text (a key that was never remembered, a table that is
   used up) is found by the writer, which stops with a sentence. Text n of a seed
   depends on nothing but the grammar, the seed and n: no libm, no global state, whole
   numbers for the dice. tables is sorted by name after reading; before that a table's
   alternatives are only known to be the last. All strings are in words, which never
   moves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "corpus/corpus.h"

/* <What a grammar holds> */
enum {
  TABLES = 256, ALTERNATIVES = 64, HEAVIEST = 9999, LARGEST = 1 << 20
};
struct alternative { const char *words; uint32_t length, weight; };
struct table {
  const char *name; uint32_t name_length, first, count; bool once;
};
struct grammar {
  struct table tables[TABLES]; size_t n_tables;
  struct alternative *alternatives; size_t n_alternatives, lines;
  char *words; size_t n_words, size;
};

/* <A text that is being written> */
enum { MEMORIES = 64, MAX_KEY_LEN = 8, MAX_VALUE_LEN = 160, SLOT_ROOM = 64 };
struct remembered {
  char key[MAX_KEY_LEN]; char value[MAX_VALUE_LEN]; size_t length;
};
struct scribe {
  const struct grammar *g;
  struct passage *out;
  uint64_t dice;
  const uint16_t *script; size_t n_script;
  struct remembered memories[MEMORIES]; size_t n_memories;
  uint64_t used[TABLES];
  bool failed; char fault[SLOT_ROOM];
};

/* <Classes of characters> */
static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static bool is_small(char c)
{
  return (c >= 'a' && c <= 'z') || is_digit(c);
}

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char) (c + 32) : c;
}

static char upper(char c)
{
  return c >= 'a' && c <= 'z' ? (char) (c - 32) : c;
}

/* <A slot and its parts> */
struct slot {
  char words[SLOT_ROOM];
  const char *key, *name, *except;
  size_t key_length, name_length;
  bool silent, capital;
};

/* The parts are pointers into the copy parts->words, so a struct slot must not be
   copied. */
static void split_slot(const char *words, size_t n, struct slot *parts)
{
  char *w = parts->words;
  memcpy(w, words, n), w[n] = '\0';
  size_t k = strcspn(w, ":=");
  parts->silent = w[k] == '=';
  parts->capital = w[0] == '^' || w[0] != lower(w[0]);
  parts->key = w, parts->key_length = w[k] == '\0' ? 0 : k;
  if (parts->key_length > 0) parts->name = w + k + 1;
  else parts->name = w + parts->capital;
  parts->name_length = strcspn(parts->name, "-");
  parts->except = parts->name + parts->name_length;
}

/* <Compare a table's name with another name> */
static int compare_names(const struct table *t, const char *name,
  size_t length)
{
  size_t n = t->name_length < length ? t->name_length : length;
  int c = memcmp(t->name, name, n);
  if (c != 0) return c;
  return (t->name_length > length) - (t->name_length < length);
}

static int order_of_tables(const void *a, const void *b)
{
  const struct table *t = b;
  return compare_names(a, t->name, t->name_length);
}

/* <Find a table by its name> */
static const struct table *find_table(const struct grammar *g,
  const char *name, size_t length)
{
  size_t low = 0, high = g->n_tables;
  while (low < high) {
    size_t middle = (low + high) / 2;
    int c = compare_names(&g->tables[middle], name, length);
    if (c == 0) return &g->tables[middle];
    if (c < 0) low = middle + 1;
    else high = middle;
  }
  return NULL;
}

/* <Close the grammar> */
void grammar_close(struct memory *m, struct grammar *g)
{
  if (g == NULL) return;
  memory_free(m, g->words);
  memory_free(m, g->alternatives);
  memory_free(m, g);
}

/* <Show the tables to those who ask> */
size_t grammar_tables(const struct grammar *g)
{
  return g->n_tables;
}

const char *grammar_table(const struct grammar *g, size_t number,
  size_t i, size_t *length, uint32_t *weight)
{
  const struct table *t = &g->tables[number];
  if (i == SIZE_MAX) {
    *length = t->name_length;
    return t->name;
  }
  if (i >= t->count) return NULL;
  const struct alternative *a = &g->alternatives[t->first + i];
  *length = a->length, *weight = a->weight;
  return a->words;
}

/* <Read the file> */

/* <A file that is being read> */
struct reading {
  const char *path, *at, *end;
  const char *line; size_t length, number;
  struct grammar *g;
  struct error *why;
};

static bool next_line(struct reading *r)
{
  if (r->at == r->end) return false;
  const char *stop = memchr(r->at, '\n', (size_t) (r->end - r->at));
  r->line = r->at;
  r->length = (size_t) ((stop != NULL ? stop : r->end) - r->at);
  r->at += r->length + (stop != NULL), r->number++;
  return true;
}

/* <Refuse a line> */
static bool refuse(const struct reading *r, const char *words,
  size_t n, const char *wanted)
{
  enum { SHOWN = 40 };
  char field[32], found[SHOWN + 8];
  snprintf(field, sizeof field, "line %zu", r->number);
  snprintf(found, sizeof found, "\"%.*s\"%s",
    n < SHOWN ? (int) n : SHOWN, words, n > SHOWN ? "..." : "");
  return error_found(r->why, r->path, field, found, wanted);
}

/* <Look at the bytes of a line> */
static bool check_bytes(const struct reading *r)
{
  char field[60], found[16];
  for (size_t i = 0; i < r->length; i++) {
    if (r->line[i] >= ' ' && r->line[i] <= '~') continue;
    snprintf(field, sizeof field, "line %zu, column %zu", r->number,
      i + 1);
    snprintf(found, sizeof found, "byte 0x%02x",
      (unsigned) (unsigned char) r->line[i]);
    return error_found(r->why, r->path, field, found,
      "a printable character of ASCII");
  }
  return r->length == 0 || r->line[r->length - 1] != ' '
    || refuse(r, r->line, r->length, "no blank at the end");
}

/* <Keep words> */

/* never full: what is kept of a file is shorter than the file */
static const char *keep(struct grammar *g, const char *words, size_t n)
{
  char *copy = g->words + g->n_words;
  memcpy(copy, words, n);
  g->n_words += n;
  return copy;
}

/* <Begin a table> */
static bool table_is_full(const struct reading *r)
{
  const struct grammar *g = r->g;
  return g->n_tables == 0 || g->tables[g->n_tables - 1].count > 0
    || refuse(r, r->line, r->length,
      "an alternative for the table above");
}

/* a linear search for the name, since the tables are not sorted yet */
static bool begin_table(struct reading *r)
{
  struct grammar *g = r->g;
  const char *name = r->line + strlen("table ");
  size_t left = (size_t) (r->line + r->length - name), n = 0;
  while (n < left && (is_small(name[n]) || name[n] == '.')) n++;
  bool once = left - n == 5 && memcmp(name + n, " once", 5) == 0;
  if (n == 0 || (n < left && !once)) return refuse(r, r->line,
    r->length, "table NAME, or table NAME once");
  if (!table_is_full(r)) return false;
  for (size_t i = 0; i < g->n_tables; i++)
    if (compare_names(&g->tables[i], name, n) == 0) return refuse(r,
      name, n, "a name that no table above has");
  if (g->n_tables == TABLES) return refuse(r, name, n,
    "at most 256 tables");
  g->tables[g->n_tables++] = (struct table) {
    .name = keep(g, name, n), .name_length = (uint32_t) n,
    .first = (uint32_t) g->n_alternatives, .once = once };
  return true;
}

/* <Read a line of an alternative> */
static bool read_weight(struct reading *r, size_t *at, uint32_t *weight)
{
  size_t i = *at;
  while (i < r->length && r->line[i] == ' ') i++;
  size_t from = i;
  for (*weight = 0; i < r->length && is_digit(r->line[i])
      && *weight <= HEAVIEST; i++)
    *weight = 10 * *weight + (uint32_t) (r->line[i] - '0');
  if (i > from && (*weight == 0 || *weight > HEAVIEST))
    return refuse(r, r->line, r->length, "a weight from 1 to 9999");
  while (i < r->length && r->line[i] == ' ') i++;
  *at = i;
  return true;
}

/* The words of an alternative are kept right after those of the one before it, so
   that lines that go on with it are in one piece. */
static bool begin_alternative(struct reading *r, uint32_t weight)
{
  struct grammar *g = r->g;
  if (g->n_tables == 0) return refuse(r, r->line, r->length,
    "a table before the first alternative");
  struct table *t = &g->tables[g->n_tables - 1];
  if (weight == 0) return t->count > 0 || refuse(r, r->line, r->length,
    "an alternative to go on with");
  if (t->count == ALTERNATIVES) return refuse(r, r->line,
    r->length, "at most 64 alternatives in a table");
  t->count++;
  g->alternatives[g->n_alternatives++] = (struct alternative)
    { g->words + g->n_words, 0, weight };
  return true;
}

/* A weight begins an alternative; a bar alone goes on in a new line of the text, a
   plus in the same. A bar at the end protects a blank there, which the file may not
   have. */
static bool read_words(struct reading *r)
{
  struct grammar *g = r->g;
  size_t i = 0;
  uint32_t weight;
  if (!read_weight(r, &i, &weight)) return false;
  char sign = i < r->length ? r->line[i++] : '\0';
  if (sign != '|' && (weight > 0 || sign != '+'))
    return refuse(r, r->line, r->length,
      "a table; a weight and a bar; a bar; or a plus");
  if (!begin_alternative(r, weight)) return false;
  struct alternative *a = &g->alternatives[g->n_alternatives - 1];
  const char *words = r->line + i;
  size_t n = r->length - i;
  if (n > 0 && words[n - 1] == '|') n--;
  if (memchr(words, '|', n) != NULL) return refuse(r, words, n,
    "a text without a bar");
  if (weight == 0 && sign == '|') keep(g, "\n", 1), a->length++;
  keep(g, words, n), a->length += (uint32_t) n;
  return true;
}

/* <Measure slots and fields> */
static bool is_doubled(const char *s, size_t n)
{
  return n > 1 && s[0] == s[1] && strchr("[]{}", s[0]) != NULL;
}

/* the length of {key} or {key.1} with its braces, or 0 */
static size_t field_at(const char *s, size_t n)
{
  size_t k = 1;
  while (k < n && is_small(lower(s[k]))) k++;
  if (k == 1 || k > MAX_KEY_LEN) return 0;
  if (k + 1 < n && s[k] == '.' && is_digit(s[k + 1])) k += 2;
  return k < n && s[k] == '}' ? k + 1 : 0;
}

/* The length of a slot with its brackets, or 0. If it has fields in it, the table's
   name is known only when a text is written. */
static size_t slot_at(const struct grammar *g, const char *s, size_t n)
{
  const char *stop = memchr(s, ']', n);
  size_t length = stop == NULL ? 0 : (size_t) (stop - s - 1);
  struct slot parts;
  if (length == 0 || length >= SLOT_ROOM
    || memchr(s + 1, '[', length) != NULL) return 0;
  bool braces = false;
  for (const char *c = s + 1; c < stop; c++) {
    if (*c == '}') return 0;
    if (*c != '{') continue;
    size_t k = field_at(c, (size_t) (stop - c));
    if (k == 0) return 0;
    braces = true, c += k - 1;
  }
  if (braces) return length + 2;
  split_slot(s + 1, length, &parts);
  for (size_t i = 0; i < parts.key_length; i++)
    if (!is_small(lower(parts.key[i]))) return 0;
  bool known = parts.key_length < MAX_KEY_LEN
    && find_table(g, parts.name, parts.name_length) != NULL;
  return known ? length + 2 : 0;
}

/* <Look at the brackets of a line> */
static bool check_brackets(const struct reading *r)
{
  const char *s = r->line, *end = r->line + r->length;
  if (r->length == 0 || *s == '#') return true;
  while (s < end) {
    size_t n = (size_t) (end - s), k = 1;
    const char *wanted = "an opening bracket before it, or two";
    if (is_doubled(s, n)) k = 2;
    else if (*s == '[')
      k = slot_at(r->g, s, n), wanted =
        "a slot on one line, with a table that is in the file";
    else if (*s == '{') k = field_at(s, n), wanted = "{key} or {key.1}";
    else if (*s == ']' || *s == '}') k = 0;
    if (k == 0) return refuse(r, s, n, wanted);
    s += k;
  }
  return true;
}

/* <Read all tables> */
static bool read_tables(struct reading *r)
{
  while (next_line(r)) {
    if (!check_bytes(r)) return false;
    if (r->length == 0 || r->line[0] == '#') continue;
    bool begins = r->length > 6 && memcmp(r->line, "table ", 6) == 0;
    bool ok = begins ? begin_table(r) : read_words(r);
    if (!ok) return false;
  }
  if (!table_is_full(r)) return false;
  qsort(r->g->tables, r->g->n_tables, sizeof *r->g->tables,
    order_of_tables);
  return true;
}

/* the second reading of the file: brackets name tables, and all tables must be known
   by then */
static bool check_tables(struct reading *r)
{
  const struct table *t = find_table(r->g, "text", 4);
  if (t == NULL || t->count > N_TEXT_SORTS)
    return error_found(r->why, r->path, "the table text",
      t == NULL ? "missing" : "too long",
      "one alternative for each sort of text, five at most");
  while (next_line(r))
    if (!check_brackets(r)) return false;
  return true;
}

/* <Take the blocks of a grammar> */
static struct grammar *take_blocks(struct memory *m,
  const struct mapping *map, struct error *why)
{
  struct grammar *g = memory_alloc(m, MEMORY_TRAINING, 1, sizeof *g, why);
  if (g == NULL) return NULL;
  g->size = map->size, g->lines = 1;
  for (size_t i = 0; i < map->size; i++)
    g->lines += map->bytes[i] == '\n';
  g->alternatives = memory_alloc(m, MEMORY_TRAINING, g->lines,
    sizeof *g->alternatives, why);
  if (g->alternatives != NULL)
    g->words = memory_alloc(m, MEMORY_TRAINING, g->size, 1, why);
  if (g->words != NULL) return g;
  grammar_close(m, g);
  return NULL;
}

/* <Open the grammar> */

/* The file is read twice while it is mapped; nothing in the grammar points into it
   afterwards. */
struct grammar *grammar_open(struct memory *m, const char *path,
  struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return NULL;
  struct grammar *g = NULL;
  if (map.size > LARGEST)
    error_found(why, path, "the size of the file",
      "more than a mebibyte", "a grammar of at most a mebibyte");
  else g = take_blocks(m, &map, why);
  if (g != NULL) {
    const char *bytes = (const char *) map.bytes;
    struct reading r = { .path = path, .g = g, .why = why };
    r.at = bytes, r.end = bytes + map.size;
    bool ok = read_tables(&r);
    r.at = bytes, r.number = 0;
    if (!ok || !check_tables(&r)) grammar_close(m, g), g = NULL;
  }
  file_unmap(&map);
  return g;
}

/* <Throw a die with n sides> */

/* SplitMix64, 32 bits of it. Numbers beyond the last whole multiple of n are thrown
   again, or the first sides would be a little likelier; so the chance of a choice is
   exactly what its record says. */
static uint32_t throw_die(struct scribe *s, uint32_t n)
{
  uint64_t fair = (UINT64_C(1) << 32) / n * n, z;
  do {
    z = s->dice += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z = (z ^ z >> 31) >> 32;
  } while (z >= fair);
  return (uint32_t) (z % n);
}

/* <The binary logarithm of a small whole number> */

/* A series and not the C library's, whose last bit differs from system to system. */
static double log2_of(uint32_t n)
{
  double whole = 0, x = n, power = 1, sum = 0;
  while (x >= 1.5) x /= 2, whole++;
  double y = (x - 1) / (x + 1);
  for (int k = 1; k < 48; k += 2, power *= y * y)
    sum += power * y / k;
  return whole + 2 * sum / 0.69314718055994530942;
}

/* <Write texts> */

/* <Complain of the grammar> */

/* The first fault is kept: those that follow are its consequences. Always false. */
static bool fault(struct scribe *s, const char *what, size_t length)
{
  if (s->failed) return false;
  s->failed = true;
  if (length >= sizeof s->fault) length = sizeof s->fault - 1;
  memcpy(s->fault, what, length), s->fault[length] = '\0';
  for (char *c = s->fault; *c != '\0'; c++)
    if (*c == '\n') *c = ' ';
  return false;
}

/* <Put words into the text> */
static bool put(struct scribe *s, const char *words, size_t n)
{
  struct passage *p = s->out;
  if (n >= sizeof p->words - p->length) return fault(s, words, n);
  memcpy(p->words + p->length, words, n);
  p->length += n;
  return true;
}

/* <Recall what is remembered under a key> */

/* from the latest back; a capital letter at the beginning of a key is the same key */
static struct remembered *recall(struct scribe *s, const char *key,
  size_t length)
{
  for (size_t i = s->n_memories; i-- > 0;) {
    struct remembered *r = &s->memories[i];
    if (strlen(r->key) == length && lower(key[0]) == r->key[0]
      && memcmp(r->key + 1, key + 1, length - 1) == 0) return r;
  }
  return NULL;
}

/* <The length of the first field> */
static size_t field_length(const char *words, size_t n)
{
  const char *stop = memchr(words, ';', n);
  return stop != NULL ? (size_t) (stop - words) : n;
}

/* <Write a field of what is remembered> */
static bool put_field(struct scribe *s, const char *key, size_t length)
{
  size_t k = 0, field = 0;
  while (k < length && key[k] != '.') k++;
  if (k < length) field = (size_t) (key[length - 1] - '0');
  struct remembered *r = recall(s, key, k);
  if (r == NULL) return fault(s, key, length);
  const char *v = r->value, *end = r->value + r->length;
  for (; field > 0; field--) {
    v = memchr(v, ';', (size_t) (end - v));
    if (v++ == NULL) return fault(s, key, length);
  }
  /* <Write from v to the end of the field> */
  size_t n = field_length(v, (size_t) (end - v));
  size_t at = s->out->length;
  if (!put(s, v, n)) return false;
  if (key[0] != lower(key[0]))
    s->out->words[at] = upper(s->out->words[at]);
  return true;
}

/* <May alternative i be taken?> */

/* An alternative is out if its table is "once" and it was used, or if its first field
   is that of a remembered exception. A fault inside leaves failed set; choose then
   finds no total or a later step stops. */
static bool may_take(struct scribe *s, const struct table *t,
  uint32_t i, const char *except)
{
  if (t->once && (s->used[t - s->g->tables] >> i & 1) != 0)
    return false;
  const struct alternative *a = &s->g->alternatives[t->first + i];
  for (const char *e = except; *e != '\0';) {
    size_t n = strcspn(e + 1, "-");
    struct remembered *r = recall(s, e + 1, n);
    if (r == NULL) return fault(s, except, strlen(except));
    size_t w = field_length(a->words, a->length);
    if (w == field_length(r->value, r->length)
      && memcmp(a->words, r->value, w) == 0) return false;
    e += n + 1;
  }
  return true;
}

/* <Choose an alternative, and account for the choice> */

/* The chance is taken among what may still be taken, so total is part of the record.
   A script replaces the die as long as it lasts, and only by what is allowed. */
static const struct alternative *choose(struct scribe *s,
  const struct table *t, const char *except)
{
  const struct alternative *a = s->g->alternatives + t->first;
  struct passage *p = s->out;
  bool may[ALTERNATIVES];
  uint32_t total = 0, i = 0;
  for (i = 0; i < t->count; i++)
    if ((may[i] = may_take(s, t, i, except))) total += a[i].weight;
  if (total == 0 || p->n_choices == PASSAGE_CHOICES) {
    fault(s, t->name, t->name_length);
    return NULL;
  }
  /* <Let i be the alternative of the script, or else of the die> */
  if (p->n_choices < s->n_script && s->script[p->n_choices] < t->count
    && may[s->script[p->n_choices]])
    i = s->script[p->n_choices];
  else {
    uint32_t r = throw_die(s, total);
    for (i = 0; !may[i] || r >= a[i].weight; i++)
      if (may[i]) r -= a[i].weight;
  }
  /* <Write the choice down, and add its bits> */
  p->choices[p->n_choices++] = (struct choice)
    { (uint16_t) (t - s->g->tables), (uint16_t) i,
    a[i].weight, total };
  p->bits += log2_of(total) - log2_of(a[i].weight);
  if (t->once) s->used[t - s->g->tables] |= UINT64_C(1) << i;
  return &a[i];
}

static bool expand(struct scribe *s, const char *words, size_t n);

/* <Read a slot> */

/* A slot may have fields in it, so it is written like text, split, and taken back. */
static bool read_slot(struct scribe *s, const char *words,
  size_t length, struct slot *parts)
{
  size_t start = s->out->length;
  if (!expand(s, words, length)) return false;
  size_t n = s->out->length - start;
  s->out->length = start;
  if (n >= SLOT_ROOM) return fault(s, words, length);
  split_slot(s->out->words + start, n, parts);
  return true;
}

/* <Remember what was written> */

/* all fields are kept, though only the first is shown */
static bool remember(struct scribe *s, const struct slot *parts,
  size_t start)
{
  size_t n = s->out->length - start;
  if (parts->key_length >= MAX_KEY_LEN || n > MAX_VALUE_LEN) return false;
  struct remembered *r = recall(s, parts->key, parts->key_length);
  if (r == NULL) {
    if (s->n_memories == MEMORIES) return false;
    r = &s->memories[s->n_memories++];
  }
  memcpy(r->key, parts->key, parts->key_length);
  r->key[parts->key_length] = '\0', r->key[0] = lower(parts->key[0]);
  memcpy(r->value, s->out->words + start, n), r->length = n;
  return true;
}

/* <Show the first field> */
static void show_first_field(struct scribe *s, const struct slot *parts,
  size_t start)
{
  char *v = s->out->words + start;
  size_t n = field_length(v, s->out->length - start);
  if (parts->silent) n = 0;
  if (parts->capital && n > 0) v[0] = upper(v[0]);
  s->out->length = start + n;
}

/* <Fill a slot> */

/* The order is fixed: choose, write, remember, cut to the first field. A table that
   names itself ends because texts have a greatest length and a most of choices. */
static bool fill_slot(struct scribe *s, const char *words,
  size_t length)
{
  struct slot parts;
  if (!read_slot(s, words, length, &parts)) return false;
  const struct table *t = find_table(s->g, parts.name,
    parts.name_length);
  if (t == NULL) return fault(s, words, length);
  const struct alternative *a = choose(s, t, parts.except);
  size_t start = s->out->length;
  if (a == NULL || !expand(s, a->words, a->length)) return false;
  if (parts.key_length > 0 && !remember(s, &parts, start))
    return fault(s, words, length);
  show_first_field(s, &parts, start);
  return true;
}

/* <Write what an alternative says> */

/* check_brackets has seen to it that every bracket is closed, so stop is never null */
static bool expand(struct scribe *s, const char *words, size_t n)
{
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) {
    const char *w = words + i;
    if (is_doubled(w, n - i)) ok = put(s, w, 1), i++;
    else if (*w == '{' || *w == '[') {
      const char *stop = memchr(w, *w == '{' ? '}' : ']', n - i);
      size_t k = (size_t) (stop - w);
      ok = *w == '{' ? put_field(s, w + 1, k - 1)
        : fill_slot(s, w + 1, k - 1);
      i += k;
    }
    else ok = put(s, w, 1);
  }
  return ok;
}

/* <Write a whole text> */

/* the sort of a text is the alternative of its first choice, in the table text */
static bool write_text(const struct grammar *g, uint64_t dice,
  const uint16_t *script, size_t n_script, struct passage *out,
  struct error *why)
{
  struct scribe s;
  memset(&s, 0, sizeof s);
  s.g = g;
  s.out = out;
  s.dice = dice;
  s.script = script, s.n_script = n_script;
  out->length = out->n_choices = 0;
  out->bits = 0;
  bool ok = fill_slot(&s, "text", 4);
  out->words[out->length] = '\0';
  out->sort = ok ? out->choices[0].taken : 0;
  return ok || error_say(why,
    "the grammar: \"%s\" has no place or no meaning", s.fault);
}

/* seed and number are mixed by a multiplication, or the streams of neighbouring texts
   would begin close together */
bool grammar_write(const struct grammar *g, uint64_t seed,
  uint64_t number, struct passage *out, struct error *why)
{
  uint64_t z = (seed << 40 ^ number) * UINT64_C(0x2545f4914f6cdd1d);
  return write_text(g, z ^ z >> 29, NULL, 0, out, why);
}

bool grammar_replay(const struct grammar *g, const uint16_t *taken,
  size_t n, struct passage *out, struct error *why)
{
  return write_text(g, 0, taken, n, out, why);
}
