/* json.c -- JSON as the command writes it, and the lines and objects that it reads.

   Reading is jansson's. Writing is ours, for three reasons: jansson prints every real number as
   a double with 17 digits (or with a number of digits that is the same for all), so it cannot
   print a float32 with the fewest digits that read back, and a table of logits would be
   unreadable; an answer of probe forward may have more numbers in it than the model has, and
   goes straight into the stream, without a tree of objects; and a text with bytes that do not
   form a character must still be printed. Numbers use the point of the C locale: nothing in this
   program sets LC_NUMERIC. */

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "safetensors/jsonfile.h"

/* The next decimal of the same length: the last digit is raised, nines become zeros and carry.
   (All digits must be written out: %g leaves out zeros at the end.) The first digit never is a
   nine to be carried out of: then a decimal of one digit would be as near. */
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

static bool reads_back(double x, bool single, const char *text)
{
  return single ? strtof(text, NULL) == (float) x
    : strtod(text, NULL) == x;
}

/* Does a decimal of so many digits read back as x? Correct rounding gives the nearest one. Only
   a power of two can have another: its neighbour below is at half the distance of the one above,
   so the nearest decimal may lie below, outside what is read as x, and the next one above may be
   farther away and yet inside. (Of all float32 numbers this happens to three, of all doubles to
   some fifty.) */
static bool shorter(double x, bool single, int digits,
  char buffer[MAX_NUMBER_LEN])
{
  snprintf(buffer, MAX_NUMBER_LEN, "%.*g", digits, x);
  if (reads_back(x, single, buffer)) return true;
  int exponent;
  if (fabs(frexp(x, &exponent)) != 0.5) return false;
  snprintf(buffer, MAX_NUMBER_LEN, "%.*e", digits - 1, x);
  next_decimal(buffer);
  return reads_back(x, single, buffer);
}

/* One digit fewer, until it fails: nine digits are always enough for a float32 and 17 for a
   double, and most numbers that come out of arithmetic need nearly that many, so going down is
   quicker than going up. Slower than Steele and White (1990) or Ryu (Adams 2018), and easily
   seen to be right, because the C library rounds correctly both ways. A number without a point
   or an exponent gets .0, so that every reader takes it for a real number; what is not finite
   has no number in JSON and becomes a word in quotation marks. */
static void number_shortest(double x, bool single,
  char buffer[MAX_NUMBER_LEN])
{
  if (!isfinite(x)) {
    if (isnan(x)) strcpy(buffer, "\"nan\"");
    else strcpy(buffer, x > 0 ? "\"inf\"" : "\"-inf\"");
    return;
  }
  char trial[MAX_NUMBER_LEN];
  int digits = single ? 9 : 17;
  snprintf(buffer, MAX_NUMBER_LEN, "%.*g", digits, x);
  while (--digits > 0 && shorter(x, single, digits, trial))
    strcpy(buffer, trial);
  if (buffer[strcspn(buffer, ".e")] == '\0') strcat(buffer, ".0");
}

void number_float(float x, char buffer[MAX_NUMBER_LEN])
{
  number_shortest(x, true, buffer);
}

void number_double(double x, char buffer[MAX_NUMBER_LEN])
{
  number_shortest(x, false, buffer);
}

/* JSON wants the quotation mark, the backslash and everything below the blank escaped; delete is
   escaped because a terminal does not show it. */
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

/* A comma is due before everything but the first thing in a bracket and the value after a key.
   due is what stands before the next thing: nothing, a comma, or at the beginning of an answer
   the brace that opens it. The functions that write an answer call these in order and never
   think of commas. */
static void put_comma(struct json_writer *j)
{
  if (j->due != '\0') putc(j->due, j->out);
  j->due = ',';
}

void writer_open(struct json_writer *j, char bracket)
{
  put_comma(j);
  putc(bracket, j->out);
  j->due = '\0';
}

void writer_close(struct json_writer *j, char bracket)
{
  putc(bracket, j->out);
  j->due = ',';
}

void writer_key(struct json_writer *j, const char *key)
{
  put_comma(j);
  fprintf(j->out, "\"%s\":", key);
  j->due = '\0';
}

void writer_word(struct json_writer *j, const char *word)
{
  put_comma(j);
  fputs(word, j->out);
}

void writer_count(struct json_writer *j, uint64_t n)
{
  put_comma(j);
  fprintf(j->out, "%" PRIu64, n);
}

void writer_float(struct json_writer *j, float x)
{
  char buffer[MAX_NUMBER_LEN];
  number_float(x, buffer);
  writer_word(j, buffer);
}

void writer_double(struct json_writer *j, double x)
{
  char buffer[MAX_NUMBER_LEN];
  number_double(x, buffer);
  writer_word(j, buffer);
}

void writer_ids(struct json_writer *j, const uint32_t *id, size_t n)
{
  writer_open(j, '[');
  for (size_t i = 0; i < n; i++) writer_count(j, id[i]);
  writer_close(j, ']');
}

void writer_hex(struct json_writer *j, const unsigned char *byte, size_t n)
{
  put_comma(j);
  putc('"', j->out);
  for (size_t i = 0; i < n; i++)
    fprintf(j->out, "%02x", (unsigned) byte[i]);
  putc('"', j->out);
}

void writer_end(struct json_writer *j)
{
  putc('\n', j->out);
  j->due = '\0';
}

/* A text may contain anything, U+0000 and broken characters included; each broken part, as far
   as chapter 1 says it reaches, becomes one U+FFFD. */
void writer_text(struct json_writer *j, const void *text, size_t n)
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

void writer_words(struct json_writer *j, const char *words)
{
  writer_text(j, words, strlen(words));
}

/* a key with its value, by kinds of value */

void put_open_as(struct json_writer *j, const char *key, char bracket)
{
  writer_key(j, key);
  writer_open(j, bracket);
}

void put_word_as(struct json_writer *j, const char *key, const char *word)
{
  writer_key(j, key);
  writer_word(j, word);
}

void put_count_as(struct json_writer *j, const char *key, uint64_t n)
{
  writer_key(j, key);
  writer_count(j, n);
}

void put_double_as(struct json_writer *j, const char *key, double x)
{
  writer_key(j, key);
  writer_double(j, x);
}

void put_hex_as(struct json_writer *j, const char *key, const unsigned char *byte,
  size_t n)
{
  writer_key(j, key);
  writer_hex(j, byte, n);
}

void put_text_as(struct json_writer *j, const char *key, const void *byte, size_t n)
{
  writer_key(j, key);
  writer_text(j, byte, n);
}

void put_words_as(struct json_writer *j, const char *key, const char *words)
{
  writer_key(j, key);
  writer_words(j, words);
}

void put_ids_as(struct json_writer *j, const char *key, const uint32_t *id, size_t n)
{
  writer_key(j, key);
  writer_ids(j, id, n);
}

/* The depth of what jansson has read; it refuses what is far too deep by itself (2048), so the
   recursion ends. */
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

/* the length of the run of digits at i */
static size_t digits_at(const char *text, size_t n, size_t i)
{
  size_t end = i;
  while (end < n && text[end] >= '0' && text[end] <= '9') end++;
  return end - i;
}

/* the length of the string that begins at i, with its quotation marks */
static size_t string_at(const char *text, size_t n, size_t i)
{
  size_t end = i + 1;
  while (end < n && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return (end < n ? end + 1 : n) - i;
}

/* do k digits at i make a number without a point or an exponent? */
static bool stands_alone(const char *text, size_t n, size_t i, size_t k)
{
  if (i + k < n && memchr(".eE", text[i + k], 3) != NULL) return false;
  while (i > 0 && (text[i - 1] == '+' || text[i - 1] == '-')) i--;
  return i == 0 || memchr(".eE", text[i - 1], 3) == NULL;
}

/* Copies a line, with a point and a zero after every integer of more than 18 digits. jansson
   takes a number without a point for an integer, and refuses one of more than 63 bits; but in a
   list of logits 100000000000000000000 is as good a number as 1e20. (JSON_DECODE_INT_AS_REAL
   would make reals of all integers, ids among them.) */
static size_t add_points(const char *text, size_t n, char *to)
{
  size_t m = 0, k;
  for (size_t i = 0; i < n; i += k) {
    size_t digits = digits_at(text, n, i);
    k = 1;
    if (digits > 0) k = digits;
    else if (text[i] == '"') k = string_at(text, n, i);
    memcpy(to + m, text + i, k);
    m += k;
    if (digits <= 18 || !stands_alone(text, n, i, k)) continue;
    memcpy(to + m, ".0", 2);
    m += 2;
  }
  return m;
}

/* Reads the line a second time, with the points. The room is taken where jansson takes its own:
   eighteen digits make room for two characters, so twice the line is enough. */
static json_t *read_with_points(const char *text, size_t n,
  json_error_t *where)
{
  json_malloc_t take;
  json_free_t give;
  json_get_alloc_funcs(&take, &give);
  char *buffer = n < SIZE_MAX / 2 ? take(2 * n + 2) : NULL;
  if (buffer == NULL) return NULL;
  size_t m = add_points(text, n, buffer);
  json_t *value = json_loadb(buffer, m, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL,
    where);
  give(buffer);
  return value;
}

bool jsonfile_hex(const char *text, size_t n, unsigned char *byte)
{
  for (size_t i = 0; i < n; i += 2) {
    int value = n % 2 != 0 ? -1 : hex_byte(text + i);
    if (value < 0) return false;
    byte[i / 2] = (unsigned char) value;
  }
  return true;
}

/* Two flags make jansson as strict as we want it: no key twice, and U+0000 is a character. An
   empty line gets a sentence of its own, since jansson's would speak of an end where something
   was expected. */
json_t *jsonfile_object(const char *text, size_t n,
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
    error_say(why, "this line is not a JSON object: %s", jsonfile_trouble(&where, text, n));
    return NULL;
  }
  if (json_is_object(value) && json_depth(value) <= JSONFILE_MAX_DEPTH)
    return value;
  /* it may be a list, or brackets within brackets */
  if (json_is_object(value))
    error_say(why, "this line has %u brackets in"
      " each other; wanted: at most %d", json_depth(value),
      (int) JSONFILE_MAX_DEPTH);
  else error_say(why, "this line is a list; wanted: an object");
  json_decref(value);
  return NULL;
}

/* No line that anybody means is longer; without a limit /dev/zero would take all memory there is. */
enum { MAX_LINE = 1 << 30 };

/* A line is read in parts of a page. If they do not fit into memory, or into the limit, the rest of
   the line is read and dropped, so that the next line is a line again. */
enum line_found jsonfile_line(FILE *in, struct memory *m,
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
    fits = fits && text->n < MAX_LINE && bytes_push(m, text, part, n, NULL);
    n = 0;
  }
  if (c == EOF && !begun) return LINE_NONE;
  fits = fits && bytes_push(m, text, part, n, NULL);
  return fits ? LINE_WHOLE : LINE_TOO_LONG;
}
