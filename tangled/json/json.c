/* json.c -- made from workshop/19-json.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "json/json.h"
#include "json/object.h"

/* <Print numbers, and count their digits> */

/* <Raise the last digit> */
static void next_decimal(char *text)
{
  size_t k = strcspn(text, "e");
  while (k > 0) {
    char *c = &text[--k];
    if (*c == '9') *c = '0';
    else if (*c >= '0' && *c < '9') {
      ++*c;
      return;
    }
  }
}

/* <Print a number with the fewest digits that read back> */
static bool reads_back(double x, bool single, const char *text)
{
  return single ? strtof(text, NULL) == (float) x
    : strtod(text, NULL) == x;
}

static bool shorter(double x, bool single, int digits,
  char room[NUMBER_ROOM])
{
  snprintf(room, NUMBER_ROOM, "%.*g", digits, x);
  if (reads_back(x, single, room)) return true;
  int exponent;
  if (fabs(frexp(x, &exponent)) != 0.5) return false;
  snprintf(room, NUMBER_ROOM, "%.*e", digits - 1, x);
  next_decimal(room);
  return reads_back(x, single, room);
}

static void number_shortest(double x, bool single,
  char room[NUMBER_ROOM])
{
  if (!isfinite(x)) {
    strcpy(room, isnan(x) ? "\"nan\"" : x > 0 ? "\"inf\""
      : "\"-inf\"");
    return;
  }
  char trial[NUMBER_ROOM];
  int digits = single ? 9 : 17;
  snprintf(room, NUMBER_ROOM, "%.*g", digits, x);
  while (--digits > 0 && shorter(x, single, digits, trial))
    strcpy(room, trial);
  if (room[strcspn(room, ".e")] == '\0') strcat(room, ".0");
}

void number_float(float x, char room[NUMBER_ROOM])
{
  number_shortest(x, true, room);
}

void number_double(double x, char room[NUMBER_ROOM])
{
  number_shortest(x, false, room);
}

/* <Count the significant digits of a printed number> */
static unsigned significant(const char *text)
{
  unsigned n = 0, zeros = 0;
  for (; *text != '\0' && *text != 'e'; text++) {
    if (*text == '0') zeros++;
    if (*text < '1' || *text > '9') continue;
    if (n > 0) n += zeros;
    zeros = 0, n++;
  }
  return n > 0 ? n : 1;
}

/* <Count how many digits random floats need> */
enum { DIGIT_DRAWS = 20000 };
static void count_digits(unsigned of[10])
{
  uint64_t state = 1;
  memset(of, 0, 10 * sizeof *of);
  for (int drawn = 0; drawn < DIGIT_DRAWS;) {
    char room[NUMBER_ROOM];
    float x;
    state = state * UINT64_C(6364136223846793005)
      + UINT64_C(1442695040888963407);
    uint32_t bits = (uint32_t) (state >> 32);
    memcpy(&x, &bits, sizeof x);
    if (!isfinite(x)) continue;
    number_float(x, room);
    of[significant(room)]++, drawn++;
  }
}

/* <Find the powers of two that need the second attempt> */
static bool needs_second(double x, bool single)
{
  char ours[NUMBER_ROOM], nearest[NUMBER_ROOM];
  number_shortest(x, single, ours);
  unsigned digits = significant(ours);
  snprintf(nearest, sizeof nearest, "%.*g", (int) digits, x);
  return !reads_back(x, single, nearest);
}

static unsigned count_second(bool single, FILE *out)
{
  unsigned n = 0;
  for (int e = single ? -149 : -1074; e < (single ? 128 : 1024); e++)
    if (needs_second(ldexp(1, e), single)) {
      n++;
      if (single) fprintf(out, "json.float.exponent.%u %d\n", n, e);
    }
  return n;
}

/* <Print the numbers of the book> */
void number_values(FILE *out)
{
  unsigned of[10];
  fprintf(out, "json.float.second %u\n", count_second(true, out));
  fprintf(out, "json.double.second %u\n", count_second(false, out));
  fprintf(out, "json.depth %d\n", (int) JSON_DEPTH);
  count_digits(of);
  fprintf(out, "json.digits.numbers %d\n", DIGIT_DRAWS);
  for (int k = 1; k < 10; k++)
    fprintf(out, "json.digits.%d %u\n", k, of[k]);
}

void number_digits(FILE *out)
{
  unsigned of[10];
  count_digits(of);
  fprintf(out, "digits,numbers\n");
  for (int k = 1; k < 10; k++) fprintf(out, "%d,%u\n", k, of[k]);
}

/* <Write a character of ASCII> */
static void put_ascii(FILE *out, unsigned char c)
{
  static const char plain[] = "\"\\\n\t\r\b\f";
  static const char letter[] = "\"\\ntrbf";
  const char *found = c == '\0' ? NULL : strchr(plain, c);
  if (found != NULL) fprintf(out, "\\%c", letter[found - plain]);
  else if (c < 0x20 || c == 0x7f)
    fprintf(out, "\\u%04x", (unsigned) c);
  else putc(c, out);
}

/* <Write a piece of JSON> */
static void put_comma(struct json_out *j)
{
  if (j->due != '\0') putc(j->due, j->out);
  j->due = ',';
}

void put_open(struct json_out *j, char bracket)
{
  put_comma(j);
  putc(bracket, j->out);
  j->due = '\0';
}

void put_close(struct json_out *j, char bracket)
{
  putc(bracket, j->out);
  j->due = ',';
}

void put_key(struct json_out *j, const char *key)
{
  put_comma(j);
  fprintf(j->out, "\"%s\":", key);
  j->due = '\0';
}

void put_word(struct json_out *j, const char *word)
{
  put_comma(j);
  fputs(word, j->out);
}

void put_count(struct json_out *j, uint64_t n)
{
  put_comma(j);
  fprintf(j->out, "%" PRIu64, n);
}

void put_float(struct json_out *j, float x)
{
  char room[NUMBER_ROOM];
  number_float(x, room);
  put_word(j, room);
}

void put_double(struct json_out *j, double x)
{
  char room[NUMBER_ROOM];
  number_double(x, room);
  put_word(j, room);
}

void put_ids(struct json_out *j, const uint32_t *id, size_t n)
{
  put_open(j, '[');
  for (size_t i = 0; i < n; i++) put_count(j, id[i]);
  put_close(j, ']');
}

void put_hex(struct json_out *j, const unsigned char *byte, size_t n)
{
  put_comma(j);
  putc('"', j->out);
  for (size_t i = 0; i < n; i++)
    fprintf(j->out, "%02x", (unsigned) byte[i]);
  putc('"', j->out);
}

void put_end(struct json_out *j)
{
  putc('\n', j->out);
  j->due = '\0';
}

/* <Write a text in quotation marks> */
void put_text(struct json_out *j, const void *text, size_t n)
{
  const unsigned char *byte = text;
  put_comma(j);
  putc('"', j->out);
  while (n > 0) {
    enum utf8_state state;
    size_t k = utf8_next(byte, n, &state);
    if (state != UTF8_WHOLE) fputs("\xef\xbf\xbd", j->out);
    else if (k > 1) fwrite(byte, 1, k, j->out);
    else put_ascii(j->out, *byte);
    byte += k, n -= k;
  }
  putc('"', j->out);
}

void put_words(struct json_out *j, const char *words)
{
  put_text(j, words, strlen(words));
}

/* <Measure how deep a value is nested> */
static unsigned json_depth(json_t *value)
{
  unsigned deepest = 0, below;
  for (size_t i = 0; i < json_array_size(value); i++) {
    below = json_depth(json_array_get(value, i));
    if (below > deepest) deepest = below;
  }
  for (void *at = json_object_iter(value); at != NULL;
      at = json_object_iter_next(value, at)) {
    below = json_depth(json_object_iter_value(at));
    if (below > deepest) deepest = below;
  }
  return json_is_array(value) || json_is_object(value)
    ? deepest + 1 : 0;
}

/* <Put points behind long integers> */
static size_t digits_at(const char *text, size_t n, size_t i)
{
  size_t end = i;
  while (end < n && text[end] >= '0' && text[end] <= '9') end++;
  return end - i;
}

static size_t add_points(const char *text, size_t n, char *to)
{
  bool quoted = false, real = false;
  size_t m = 0;
  for (size_t i = 0; i < n; i++) {
    size_t digits = quoted ? 0 : digits_at(text, n, i);
    if (digits > 0) {
      memcpy(to + m, text + i, digits), m += digits, i += digits;
      bool more = i < n && strchr(".eE", text[i]) != NULL && text[i] != '\0';
      if (digits > 18 && !more && !real) memcpy(to + m, ".0", 2), m += 2;
      if (i == n) break;
    }
    real = !quoted && (text[i] == '.' || text[i] == 'e' || text[i] == 'E'
      || (real && (text[i] == '+' || text[i] == '-')));
    if (quoted && text[i] == '\\' && i + 1 < n) to[m++] = text[i++];
    else if (text[i] == '"') quoted = !quoted;
    to[m++] = text[i];
  }
  return m;
}

static json_t *read_with_points(const char *text, size_t n,
  json_error_t *where)
{
  json_malloc_t take;
  json_free_t give;
  json_get_alloc_funcs(&take, &give);
  char *room = n < SIZE_MAX / 2 ? take(2 * n + 2) : NULL;
  if (room == NULL) return NULL;
  size_t m = add_points(text, n, room);
  json_t *value = json_loadb(room, m, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL,
    where);
  give(room);
  return value;
}

/* <Read one object> */
json_t *json_object_read(const char *text, size_t n,
  struct error *why)
{
  json_error_t where;
  if (n == 0) {
    error_say(why, "this line is empty; wanted: an object");
    return NULL;
  }
  json_t *value = json_loadb(text, n,
    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &where);
  if (value == NULL && json_error_code(&where) == json_error_numeric_overflow)
    value = read_with_points(text, n, &where);
  if (value == NULL) {
    error_say(why, "this line is no JSON object: %s", where.text);
    return NULL;
  }
  if (json_is_object(value) && json_depth(value) <= JSON_DEPTH)
    return value;
  /* <Say why the value is no object for us, and let it go> */
  if (json_is_object(value))
    error_say(why, "this line has %u brackets in"
      " each other; wanted: at most %d", json_depth(value),
      (int) JSON_DEPTH);
  else error_say(why, "this line is a list; wanted: an" " object");
  json_decref(value);
  return NULL;
}

/* <Read a line of any length> */
enum line_found line_read(FILE *in, struct memory *m,
  struct bytes *text)
{
  unsigned char part[4096];
  size_t n = 0;
  int c = EOF;
  bool begun = false, fits = true;
  text->n = 0;
  while ((c = getc(in)) != EOF && c != '\n') {
    begun = true;
    part[n++] = (unsigned char) c;
    if (n < sizeof part) continue;
    fits = fits && bytes_push(m, text, part, n, NULL);
    n = 0;
  }
  if (c == EOF && !begun) return LINE_NONE;
  fits = fits && bytes_push(m, text, part, n, NULL);
  return fits ? LINE_WHOLE : LINE_TOO_LONG;
}
