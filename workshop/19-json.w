@i types.w
@s json_error_t int

\chapterquestion{How does a program write for another program, so that nothing is lost on the way, and
how does it read what was written by nobody knows whom?}
@** Writing JSON.
\incipit{P}{eople forgive.} A number with two digits too few is near enough for them, half a line is
better than none, and a comma too many they do not even see. Programs forgive nothing, and that
is their virtue: what one of them prints, another can take up exactly where it was left. So
the command of \cref{sec:table} has two ways to speak. What it says to people is in its own words; what it
says to programs is JSON\side{Bray 2017, RFC 8259.}, and this chapter is the small module that writes
and reads it. @^JSON@>

Two things in it deserve thought. A logit that is printed must come back as the same 32 bits, or
else nobody could check from outside what the preface promises, one answer on every path; and yet nobody wants to read nine digits where
one would do. And a line that comes in may contain anything at all.

\begin{byhand}{the shortest number that reads back}
Whoever prints a number for a program wants as few digits as will do: as many as
are needed so that reading gives the same number again, and none more. Take a toy format with three
significant bits: $8,10,12,14,16,20,24,28,32,40,\ldots$, and so on upwards. A
decimal that is read becomes the nearest of these. So each owns everything up to the middle of
the way to its neighbours, and we look for the decimal with the fewest digits in what it owns.

\medskip
\begin{tabular}{@@{}rrrlll@@{}}
\tabhead{number} & \tabhead{below} & \tabhead{above} & \tabhead{owns} & \tabhead{one digit} & \tabhead{two digits}\\
14 & 12 & 16 & 13 to 15 & 10 is outside & 14\\
16 & 14 & 20 & 15 to 18 & 20 is outside & 16\\
20 & 16 & 24 & 18 to 22 & 20 &\\
96 & 80 & 112 & 88 to 104 & 100 &\\
112 & 96 & 128 & 104 to 120 & 100 is outside & 110
\end{tabular}
\medskip

So 96 is printed as 1e2, and 112 as 1.1e2. Nothing is lost: whoever reads them
gets 96 and 112 back. The power of two in the list, 16, owns less below itself than above.
\end{byhand}

@ The program of this chapter prints some numbers in the form that it promises: those of the
checkpoint, or with a word the keys for the prose and the points of \cref{fig:digits}.

\checkpoint{build/out/json.txt}{numbers, in the fewest digits that read back}

@c
#include <string.h>
#include "json/json.h"
@;@#
@<Print some numbers, each in two sizes@>@;
@#
int main(int argc, char **argv)
{
  if (argc < 2) print_numbers();
  else if (strcmp(argv[1], "values") == 0) number_values(stdout);
  else number_digits(stdout);
  return 0;
}

@ A tenth is not a tenth in either format; the next two show a sum that everybody has met, and a power
of two that is one of three exceptions, as we shall see. A zero keeps its sign, and a number that
is none becomes a word.

@<Print some numbers, each in two sizes@>=
static void print_numbers(void)
{
  static const double some[] = @[{ 0.1, 0.1 + 0.2, 0x1p-96, 1e23,
    100, -0.0 }@];
  char single[NUMBER_ROOM], whole[NUMBER_ROOM];
  printf("%-24s %-16s %s\n", "17 digits", "as float32", "as double");
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
    number_float((float) some[i], single);
    number_double(some[i], whole);
    printf("%-24.17g %-16s %s\n", some[i], single, whole);
  }
}

@* Numbers in print. \label{sec:shortest}
Now the numbers of the hand calculation, in earnest. A logit is a float32, and whoever compares
two programs must get from the printed digits exactly the 32 bits that were computed. Nine
significant digits are always enough for that, and a double needs at most 17. But 0.1 printed with
nine digits is 0.100000001, and a table of such numbers is unreadable. So we print
the fewest digits that read back.
@^shortest digits@>@^round trip@>

There are famous and fast ways to find them.\side{Steele and White 1990; Gay 1990; Adams 2018.}
Ours is slow and can be seen to be right: the C library rounds correctly in both
directions, so we print with fewer and fewer digits, and read each of them back, until one
fails. Going down is quicker than going up, because most numbers that come out of arithmetic
need many digits: \cref{fig:digits}.

@<Numbers and words in JSON@>=
enum { NUMBER_ROOM = 40 };
  /* bytes that the longest number needs, with its zero byte */
void number_float(float x, char room[NUMBER_ROOM]);
  /* the fewest digits that read back to |x|, as JSON: with a point or an
     exponent; the words \.{"inf"}, \.{"-inf"}, \.{"nan"} with their quotes */
void number_double(double x, char room[NUMBER_ROOM]);
  /* the same for a double */

@ Correct rounding gives, for each number of digits, the decimal \emph{nearest} to |x|. If that
does not read back, can another of the same length? It can, though only just. A power of two has
its neighbour below at half the distance of the neighbour above, as 16 had in the hand
calculation. So the nearest decimal may lie below, outside what |x| owns, and the next one above
farther away and yet inside. Of all float32 numbers, this happens to
\val{json.float.second}: they are the powers of two with the exponents
\val{json.float.exponent.1}, \val{json.float.exponent.2} and
\val{json.float.exponent.3}. Of the doubles it happens to \val{json.double.second}. Programs
that print with the nearest decimal only give these one digit more than they need.

@<Print a number with the fewest digits that read back@>=
static bool reads_back(double x, bool single, const char *text)
{
  return single ? strtof(text, NULL) == (float) x
    : strtod(text, NULL) == x;
}

@ The second attempt is made for powers of two only: |frexp| takes a number apart into a fraction from a half up to,
but not including, one and a power of two, and the fraction of a power of two is a half.

@<Print a number with the fewest digits that read back@>=
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

@ The next decimal of the same length has its last digit raised by one; nines become zeros and
carry. (So it must be written out with all its digits: \texttt{\%g} leaves out zeros at the end.) The first digit of these numbers never is a nine that must be carried out of: then a decimal
with one digit alone would have been as near.

@<Raise the last digit@>=
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

@ One digit fewer, until it fails. A third of a float32 goes down one step, from 0.333333343 to 0.33333334, and stops, since 0.3333333 is
another number; a tenth goes down to 0.1. A number that comes out without a point and without an exponent
gets a point and a zero, so that every reader of JSON takes it for a real number; that makes the
zero with a sign \texttt{-0.0}. What is not finite has no digits, and no number in JSON either: it becomes a word, in quotation marks.

@<Print a number with the fewest digits that read back@>=
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

@ To callers these are two functions. They differ in what it means to read back; the digits of a float32 are
those of the double with the same value, since each float32 is one.

@<Print a number with the fewest digits that read back@>=
void number_float(float x, char room[NUMBER_ROOM])
{
  number_shortest(x, true, room);
}
@#
void number_double(double x, char room[NUMBER_ROOM])
{
  number_shortest(x, false, room);
}

@ All this assumes that a decimal point is a point. In some places of the world the C
library prints a comma, if a program asks it to follow local custom by calling
|setlocale|. This one never does.\side{Nor do the libraries that it uses. JSON knows no
commas in numbers, whatever the country.}
@^locale@>

\fig{digits}{fig:digits}{How many digits it takes: of \val{json.digits.numbers} floats with
random bits, those that need 1, 2, \dots, 9.}{A bar chart. Along the bottom the number of
digits from 1 to 9, upwards the count of numbers. Up to six digits there is next to nothing; seven
digits are just enough for \val{json.digits.7} numbers, eight for \val{json.digits.8}, and
\val{json.digits.9} need nine.}

Of \val{json.digits.numbers} floats whose bits are drawn at random, \val{json.digits.7} need
seven digits, \val{json.digits.8} eight and \val{json.digits.9} nine. So the loop, which begins
with nine, is left after two or three attempts. The draws come from the simplest generator there is, a multiplication and an addition, of
whose sum the upper half is taken; every build draws the same floats.

@<Count how many digits random floats need@>=
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

@ To count the digits of a printed number, leave out what stands before the first digit that is no
zero, the point, what comes with the exponent, and zeros that only fill up to the point.

@<Count the significant digits of a printed number@>=
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

@ The claim about powers of two is one about all of them, so all of them are tried: a number needs
the second attempt if what we print has fewer digits than the nearest decimal that reads back.

@<Find the powers of two that need the second attempt@>=
static bool needs_second(double x, bool single)
{
  char ours[NUMBER_ROOM], nearest[NUMBER_ROOM];
  number_shortest(x, single, ours);
  unsigned digits = significant(ours);
  snprintf(nearest, sizeof nearest, "%.*g", (int) digits, x);
  return !reads_back(x, single, nearest);
}

@ The exponents run from that of the smallest number a format has to that of its largest power of two. For
float32 they are printed, so that the prose above can name them.

@<Find the powers of two that need the second attempt@>=
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

@ These are the numbers of this chapter, as the prose quotes them, and the points of its figure.

@<Print the numbers of the book@>=
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

@ The points of the figure are the same counts as a table, with the names of its columns in the first
line.

@<Print the numbers of the book@>=
void number_digits(FILE *out)
{
  unsigned of[10];
  count_digits(of);
  fprintf(out, "digits,numbers\n");
  for (int k = 1; k < 10; k++) fprintf(out, "%d,%u\n", k, of[k]);
}

@ Both are called by the program of this chapter. They stand in the module because what they look at, the second attempt and
the digits, is not to be seen from outside.

@<Numbers and words in JSON@>=
void number_values(FILE *out);
  /* keys and values about printed numbers, for the prose of this book */
void number_digits(FILE *out);
  /* the points of its figure: how many floats need how many digits */

@* Words in print. \label{sec:json}
Answers are written piece by piece, straight into the stream. There is no tree of objects to be
built first: an answer of |forward| may have more numbers in it than the model has. All
that has to be remembered between two pieces is what is due before the next: nothing, a comma, or,
at the beginning of an answer, the brace that opens it.
@^JSON@>

@<Numbers and words in JSON@>=
struct json_out { FILE *out; char due; };
  /* an answer on its way out; |due| is written before the next thing,
     if it is not zero */
void put_open(struct json_out *j, char bracket);
  /* begins an object or a list: a brace or a square bracket */
void put_close(struct json_out *j, char bracket);
  /* ends it */
void put_key(struct json_out *j, const char *key);
  /* the name of what comes next; plain ASCII */
void put_word(struct json_out *j, const char *word);
  /* a word as it stands: \.{true}, \.{null}, a number in print */

@ Behind these four come the values, one function for each sort of thing that an answer may have in it.

@<Numbers and words in JSON@>=
void put_count(struct json_out *j, uint64_t n);
  /* an integer */
void put_float(struct json_out *j, float x);
  /* a float32, in the fewest digits */
void put_double(struct json_out *j, double x);
  /* a double, in the fewest digits */
void put_hex(struct json_out *j, const unsigned char *byte, size_t n);
  /* bytes, two hexadecimal digits each */
void put_text(struct json_out *j, const void *byte, size_t n);
  /* bytes as a text, one U+FFFD for each part that is no character */
void put_words(struct json_out *j, const char *words);
  /* the same, of a C string */
void put_ids(struct json_out *j, const uint32_t *id, size_t n);
  /* a list of integers */
void put_end(struct json_out *j);
  /* the end of the line */

@ A comma is due before everything but the first thing in a bracket and the value after a key. Follow |due| through
\texttt{\{"a":[1,2]\}}: nothing is due before the brace; after it nothing; after the key nothing; after the square bracket nothing; after the 1 a
comma, which is written before the 2; after the 2 a comma, which the closing bracket does not ask for. Who writes an answer calls
these functions in order and never thinks of commas.

@<Write a piece of JSON@>=
static void put_comma(struct json_out *j)
{
  if (j->due != '\0') putc(j->due, j->out);
  j->due = ',';
}

@ A bracket that opens is a thing like others and may need a comma before it; behind it nothing is
due, because the first thing inside needs none.

@<Write a piece of JSON@>=
void put_open(struct json_out *j, char bracket)
{
  put_comma(j);
  putc(bracket, j->out);
  j->due = '\0';
}

@ A bracket that closes needs nothing before itself, whatever was due; and what comes after it is
once more a neighbour of a thing.

@<Write a piece of JSON@>=
void put_close(struct json_out *j, char bracket)
{
  putc(bracket, j->out);
  j->due = ',';
}

@ The keys are ours, so they need no escaping; the value that follows stands behind the colon without
a comma.

@<Write a piece of JSON@>=
void put_key(struct json_out *j, const char *key)
{
  put_comma(j);
  fprintf(j->out, "\"%s\":", key);
  j->due = '\0';
}

@ The simple values differ only in how they are printed. The simplest is one that is in print already: a word of JSON's own, or a number that
was made into digits before.

@<Write a piece of JSON@>=
void put_word(struct json_out *j, const char *word)
{
  put_comma(j);
  fputs(word, j->out);
}

@ An integer is printed without a point, which in JSON is all that makes an integer; a reader who wants 64 bits of it
has to take care not to read it as a double.

@<Write a piece of JSON@>=
void put_count(struct json_out *j, uint64_t n)
{
  put_comma(j);
  fprintf(j->out, "%" PRIu64, n);
}

@ Real numbers come in their fewest digits, of the format that they had: the same value as a double would
need more of them.

@<Write a piece of JSON@>=
void put_float(struct json_out *j, float x)
{
  char room[NUMBER_ROOM];
  number_float(x, room);
  put_word(j, room);
}
@#
void put_double(struct json_out *j, double x)
{
  char room[NUMBER_ROOM];
  number_double(x, room);
  put_word(j, room);
}

@ Lists of ids are written often enough to have a function. There is none for reals: logits come in matrices, and log-probabilities with
a null before them.

@<Write a piece of JSON@>=
void put_ids(struct json_out *j, const uint32_t *id, size_t n)
{
  put_open(j, '[');
  for (size_t i = 0; i < n; i++) put_count(j, id[i]);
  put_close(j, ']');
}

@ Bytes that may be no text go out in hexadecimal, two digits each, small letters: longer than any encoding in
use, but everybody can read it, and nobody can get it wrong.

@<Write a piece of JSON@>=
void put_hex(struct json_out *j, const unsigned char *byte, size_t n)
{
  put_comma(j);
  putc('"', j->out);
  for (size_t i = 0; i < n; i++)
    fprintf(j->out, "%02x", (unsigned) byte[i]);
  putc('"', j->out);
}

@ The end of an answer is the end of its line. Nothing is due at the beginning of the next. A line's end inside a text has been
escaped, so this is the only one, and whoever reads lines can cut an answer from the next without knowing anything of JSON.

@<Write a piece of JSON@>=
void put_end(struct json_out *j)
{
  putc('\n', j->out);
  j->due = '\0';
}

@ A text may contain anything: a quotation mark, a line's end, the character U+0000, bytes that are
no text. The first three are escaped; for the last, chapter 1 knows how far each broken part
reaches, and we put the character for what cannot be shown.

@<Write a text in quotation marks@>=
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

@ A sentence of our own is a text like any other: it may quote what somebody typed, and what somebody typed
may be no UTF-8.

@<Write a text in quotation marks@>=
void put_words(struct json_out *j, const char *words)
{
  put_text(j, words, strlen(words));
}

@ Of the characters below 128, JSON wants three kinds escaped: the quotation mark, which would end the text; the backslash, which begins an
escape; and those below the blank. The letter escapes are easier to read than numbers. The last of the 128, delete, need not be escaped, but
a terminal does not show it, and what is not seen should not be there.

@<Write a character of ASCII@>=
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

@* Lines in. \label{sec:lines}
In the other direction we trust nobody. A line that comes in must be one JSON object, whole, in
UTF-8, with no key twice, no number that a double cannot hold, and no more than
\val{json.depth} brackets deep. The library jansson does nearly all of that, if it is asked
to. The depth we measure ourselves, on what it made, and numbers of many digits we write in its own way.
@^jansson@>

@<An object of JSON, strictly read@>=
enum { JSON_DEPTH = 64 };
  /* how deep values may nest */
json_t *json_object_read(const char *text, size_t n,
  struct error *why);
  /* the object in |n| bytes, to be released with |json_decref|; null and
     a sentence if they are anything else */

@ Where a line ends is no question of JSON; the chat of \cref{chat} asks it too, of a person who types.

@<Lines of any length@>=
enum line_found { LINE_NONE, LINE_WHOLE, LINE_TOO_LONG };
  /* what |line_read| found */
enum line_found line_read(FILE *in, struct memory *m,
  struct bytes *text);
  /* puts the next line, without its end, into |text|; |LINE_NONE| at the
     end of the input; |LINE_TOO_LONG| if it did not fit into memory and
     was skipped */

@ An object without further brackets inside has a depth of one, and \texttt{\{"a":[[],\{\}]\}} one of three. Of a value that is no list the
library says that it has no elements, and of one that is no object that it has no keys. What is
far too deep it refuses itself, so the recursion cannot be made to run away.

@<Measure how deep a value is nested@>=
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

@ In one point the library is stricter than we are. A number without a point is an integer to it, and one of more than 63 bits an error. But in a list of logits \texttt{100000000000000000000} is as good a number as \texttt{1e20}. So a line that was refused for a number gets a second chance, in which every integer of more than 18 digits has a point and a zero behind it. As an integer it would have been out of range in any case. The room is taken where the library takes its own.

@<Put points behind long integers@>=
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

@ Eighteen digits make room for two characters, so twice the line is always enough.

@<Put points behind long integers@>=
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

@ Two flags make the library as strict as we want it: the last of two equal keys shall not win, and
the character U+0000 is a character. An empty line gets a sentence of its own, since the library's would speak of an end where something was
expected.

@<Read one object@>=
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
  @<Say why the value is no object for us, and let it go@>@;
}

@ What the library has read may still be a list, or brackets within brackets within brackets. (A text or a number alone is no whole answer
to it, and has been refused.)

@<Say why the value is no object for us, and let it go@>=
if (json_is_object(value))
  error_say(why, "this line has %u brackets in"@|
    " each other; wanted: at most %d", json_depth(value),
    (int) JSON_DEPTH);
else error_say(why, "this line is a list; wanted: an"@| " object");
json_decref(value);
return NULL;

@ A line may be of any length. We read it in parts of a page and put them behind each other. If
one day they do not fit, we read on to the end of the line without keeping
anything, so that the next line is a line again.

@<Read a line of any length@>=
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

@ Numbers, words and lines together are the module. It has two headers, one for those who write JSON or read lines and one for those who read JSON: only the
second shows jansson's, because what is read is one of its objects.

@(json.h@>=
#ifndef INCIPIT_JSON_H
#define INCIPIT_JSON_H
#include <stdio.h>
#include "tokens/utf8.h"
@<Numbers and words in JSON@>@;
@<Lines of any length@>@;
#endif

@ The second is short.

@(object.h@>=
#ifndef INCIPIT_JSON_OBJECT_H
#define INCIPIT_JSON_OBJECT_H
#include <jansson.h>
#include "ground/ground.h"
@<An object of JSON, strictly read@>@;
#endif

@ First the numbers, then what is written, then what is read.

@(json.c@>=
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "json/json.h"
#include "json/object.h"
@;@#
@<Print numbers, and count their digits@>@;
@<Write a character of ASCII@>@;
@<Write a piece of JSON@>@;
@<Write a text in quotation marks@>@;
@<Measure how deep a value is nested@>@;
@<Put points behind long integers@>@;
@<Read one object@>@;
@<Read a line of any length@>@;

@ The parts about numbers, in the order in which they need each other.

@<Print numbers, and count their digits@>=
@<Raise the last digit@>@;
@<Print a number with the fewest digits that read back@>@;
@<Count the significant digits of a printed number@>@;
@<Count how many digits random floats need@>@;
@<Find the powers of two that need the second attempt@>@;
@<Print the numbers of the book@>@;


@* Questions and answers. \label{sec:jsonex} What the module prints can be printed in other ways, and
most of them are wrong for some number, or for some text. The exercises look for it.

\begin{exercises}
\exercise{check}{ex:json.toy}{In the toy format of the hand calculation, with three significant bits, how are 448 and 512
printed?}{\texttt{make exercise-W19-1}}{448 lies between 384 and 512 and owns what lies from 416 to 480: no decimal of one
digit, and of those of two, 4.5e2 is the nearest. 512, with 448 below and 640 above, owns what lies from 480 to 576: 5e2.}
\exercise{think}{ex:json.longest}{How many characters can |number_float| write at the most, the sign included, and how many
|number_double|?}{\texttt{make exercise-W19-2}}{15 and 24: a sign, 9 or 17 digits, a point, and an exponent of four characters like \texttt{e-38} or five
like \texttt{e-308}. Without an exponent there may stand \texttt{-0.000} before the digits, which is no more.}
\exercise{build}{ex:json.upwards}{Let |number_shortest| try one digit first, then two, and so on. Is it still the same number that is
printed?}{\texttt{make exercise-W19-3}}{Yes: a decimal that reads back does so also with a zero behind it, so whether a number of digits is enough is
false up to some point and true from there on. The last attempt needs no trial: nine digits, or 17, always read back.}
\exercise{build}{ex:json.ascii}{Some readers of JSON take bytes above 127 for letters of an older alphabet. Let |put_text| write nothing but
ASCII.}{\texttt{make exercise-W19-4}}{Every character beyond is written as \texttt{\textbackslash u} and four hexadecimal digits, also the sign for what cannot be shown. Four digits
reach to $2^{16}-1$: of a character |c| beyond that, $c-2^{16}$ has 20 bits, of which the upper ten go behind \texttt{d800} and the lower ten behind
\texttt{dc00}. With five digits the fifth would be read as a character of its own.}
\end{exercises}
