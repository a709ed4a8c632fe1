/* json.h -- made from workshop/19-json.w; change it there */

/* G.39  json.h */

#ifndef INCIPIT_JSON_H
#define INCIPIT_JSON_H
#include <jansson.h>
#include <stdio.h>
#include "tokens/utf8.h"

/* G.4  Numbers and words in JSON */

enum { NUMBER_ROOM = 40 };
void number_float(float x, char room[NUMBER_ROOM]);
/* the fewest digits that read back to x, as JSON: with a point or an
 * exponent; the words "inf", "-inf", "nan" with their quotes */

void number_double(double x, char room[NUMBER_ROOM]);
/* the same for a double */

/* G.16  Numbers and words in JSON */

void number_values(FILE * out);
/* keys and values about printed numbers, for the prose of this book */

void number_digits(FILE * out);
/* the points of its figure: how many floats need how many digits */

/* G.17  Numbers and words in JSON */

struct json_out {
  FILE *out;
  char due;
};
/* an answer on its way out; due is written before the next thing, if it is
 * not zero */

void put_open(struct json_out *j, char bracket);
/* begins an object or a list: a brace or a square bracket */

void put_close(struct json_out *j, char bracket);
/* ends it */

void put_key(struct json_out *j, const char *key);
/* the name of what comes next; plain ASCII */

void put_word(struct json_out *j, const char *word);
/* a word as it stands: true, null, a number in print */

/* G.18  Numbers and words in JSON */

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

void put_ids(struct json_out *j, const uint32_t * id, size_t n);
/* a list of integers */

void put_end(struct json_out *j);
/* the end of the line */

/* G.32  Lines of JSON, strictly read */

enum { JSON_DEPTH = 64 };
json_t *json_object_read(const char *text, size_t n, struct error *why);
/* the object in n bytes, to be released with json_decref; null and a
 * sentence if they are anything else */

enum line_found { LINE_NONE, LINE_WHOLE, LINE_TOO_LONG };
enum line_found line_read(FILE * in, struct memory *m, struct bytes *text);
/* puts the next line, without its end, into text; LINE_NONE at the end of
 * the input; LINE_TOO_LONG if it did not fit into memory and was skipped */

#endif
