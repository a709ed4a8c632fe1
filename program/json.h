/* json.h -- JSON as the command writes it, and the lines and objects that it reads. */
#ifndef INCIPIT_JSON_H
#define INCIPIT_JSON_H
#include <stdio.h>
#include "tokens/utf8.h"

/* bytes that the longest number needs, with its zero byte */
enum { MAX_NUMBER_LEN = 40 };

/* the fewest digits that read back to x, as JSON: with a point or an exponent; the words
   "inf", "-inf", "nan" with their quotes */
void number_float(float x, char buffer[MAX_NUMBER_LEN]);

/* the same for a double */
void number_double(double x, char buffer[MAX_NUMBER_LEN]);

/* an answer on its way out; due is written before the next thing, if it is not zero */
struct json_writer { FILE *out; char due; };

/* begins an object or a list: a brace or a square bracket */
void writer_open(struct json_writer *j, char bracket);

/* ends it */
void writer_close(struct json_writer *j, char bracket);

/* the name of what comes next; plain ASCII */
void writer_key(struct json_writer *j, const char *key);

/* a word as it is: true, null, a number that is printed already */
void writer_word(struct json_writer *j, const char *word);

/* an integer */
void writer_count(struct json_writer *j, uint64_t n);

/* a float32, in the fewest digits */
void writer_float(struct json_writer *j, float x);

/* a double, in the fewest digits */
void writer_double(struct json_writer *j, double x);

/* bytes, two hexadecimal digits each */
void writer_hex(struct json_writer *j, const unsigned char *byte, size_t n);

/* bytes as a text, one U+FFFD for each part that is no character */
void writer_text(struct json_writer *j, const void *byte, size_t n);

/* the same, of a C string */
void writer_words(struct json_writer *j, const char *words);

/* a list of integers */
void writer_ids(struct json_writer *j, const uint32_t *id, size_t n);

/* each of these writes a key and its value */

/* begins an object or a list under a key */
void put_open_as(struct json_writer *j, const char *key, char bracket);

/* a word under a key */
void put_word_as(struct json_writer *j, const char *key, const char *word);

/* an integer under a key */
void put_count_as(struct json_writer *j, const char *key, uint64_t n);

/* a double under a key */
void put_double_as(struct json_writer *j, const char *key, double x);

/* bytes in hexadecimal under a key */
void put_hex_as(struct json_writer *j, const char *key, const unsigned char *byte,
  size_t n);

/* bytes as a text under a key */
void put_text_as(struct json_writer *j, const char *key, const void *byte, size_t n);

/* a C string under a key */
void put_words_as(struct json_writer *j, const char *key, const char *words);

/* a list of integers under a key */
void put_ids_as(struct json_writer *j, const char *key, const uint32_t *id, size_t n);

/* the end of the line */
void writer_end(struct json_writer *j);

/* undoes writer_hex: n digits, two for each byte; false if they are anything else */
bool jsonfile_hex(const char *text, size_t n, unsigned char *byte);

/* what jsonfile_line found */
enum line_found { LINE_NONE, LINE_WHOLE, LINE_TOO_LONG };

/* puts the next line, without its end, into text; LINE_NONE at the end of the input;
   LINE_TOO_LONG if it did not fit into memory and was skipped */
enum line_found jsonfile_line(FILE *in, struct memory *m,
  struct bytes *text);

/* how deep the brackets of a request may nest */
enum { JSONFILE_MAX_DEPTH = 64 };

/* jansson's value, known by name alone to those who only write */
struct json_t;

/* the object in n bytes, read strictly by jansson: no key twice, no nesting beyond JSONFILE_MAX_DEPTH,
   nothing after it. The caller releases it with json_decref; null and a sentence if the bytes
   are anything else */
struct json_t *jsonfile_object(const char *text, size_t n, struct error *why);
#endif
