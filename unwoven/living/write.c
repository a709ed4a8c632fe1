/* write.c -- the writer of JSON for a page. A refusal of memory is remembered, so that no caller has to ask after
   each number; what was written is then not used. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "living/json.h"
#include "tokens/utf8.h"

static void put(struct report *j, const void *byte, size_t n)
{
  j->ok = j->ok && bytes_push(j->m, j->out, byte, n, j->why);
}

static void begin(struct report *j, const char *key)
{
  if (j->comma) put(j, ",", 1);
  j->comma = true;
  if (key == NULL) return;
  put(j, "\"", 1);
  put(j, key, strlen(key));
  put(j, "\":", 2);
}

void report_open(struct report *j, const char *key, char bracket)
{
  begin(j, key);
  put(j, &bracket, 1);
  j->comma = false;
}

void report_close(struct report *j, char bracket)
{
  put(j, &bracket, 1);
  j->comma = true;
}

void report_count(struct report *j, const char *key, uint64_t n)
{
  char text[24];
  begin(j, key);
  put(j, text, (size_t) snprintf(text, sizeof text, "%" PRIu64, n));
}

/* fewer digits are tried first: most of the numbers that a page shows are short ones */
void report_real(struct report *j, const char *key, double x)
{
  char text[40];
  int n = 0;
  for (int digits = 15; digits <= 17; digits++) {
    n = snprintf(text, sizeof text, "%.*g", digits, x);
    if (strtod(text, NULL) == x) break;
  }
  begin(j, key);
  /* JSON has no word for what is not finite */
  if (x - x == 0) put(j, text, (size_t) n);
  else put(j, "null", 4);
}

void report_flag(struct report *j, const char *key, bool yes)
{
  begin(j, key);
  put(j, yes ? "true" : "false", yes ? 4 : 5);
}

static void put_character(struct report *j, const unsigned char *byte, size_t n)
{
  char text[8];
  if (n == 1 && (*byte == '"' || *byte == '\\')) put(j, "\\", 1);
  if (n == 1 && (*byte < 0x20 || *byte == 0x7f))
    put(j, text, (size_t) snprintf(text, sizeof text, "\\u%04x", (unsigned) *byte));
  else put(j, byte, n);
}

void report_text(struct report *j, const char *key, const unsigned char *byte, size_t n)
{
  begin(j, key);
  put(j, "\"", 1);
  for (size_t k = 0; n > 0; byte += k, n -= k) {
    enum utf8_state state;
    k = utf8_next(byte, n, &state);
    if (state == UTF8_WHOLE) put_character(j, byte, k);
    else put(j, "\xef\xbf\xbd", 3);
  }
  put(j, "\"", 1);
}

void report_words(struct report *j, const char *key, const char *words)
{
  report_text(j, key, (const unsigned char *) words, strlen(words));
}

void report_hash(struct report *j, const char *key, uint64_t hash)
{
  char text[24];
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  report_words(j, key, text);
}
