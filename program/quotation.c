/* quotation.c -- what a quotation of the ledger is compared with: its folded text, and the SHA-256 of
   that, which tools/quotations.lua has made from the source.

   Both programs fold in the same way, so a change of one is a change of the other. Folding makes no
   text longer; that is why the result may have the room of the text. */

#include <string.h>
#include "quotation.h"
#include "sums.h"

/* Marks of emphasis go, a gap and any white space become one blank, and none is left after a bracket:
   what is equal then is the same words, however the two sources are set. */
void quotation_fold(const char *text, char *to)
{
  static const char lost[] = "[lost]";
  size_t n = 0;
  bool blank = false;
  while (*text != '\0') {
    if (strncmp(text, "**", 2) == 0) text += 2;
    else if (strncmp(text, lost, sizeof lost - 1) == 0) blank = true, text += sizeof lost - 1;
    else if (strchr(" \t\n\r", *text) != NULL) blank = true, text++;
    else {
      if (blank && n > 0 && to[n - 1] != '(') to[n++] = ' ';
      blank = false;
      to[n++] = *text++;
    }
  }
  to[n] = '\0';
}

/* The next character of a text as a reader would type it: printed quotation marks and dashes have three
   bytes in UTF-8, of which the first two are E2 80. */
static char typed(const char **text)
{
  static const struct { const char *printed; char plain; } of[] = {
    { "\xe2\x80\x98", '\'' }, { "\xe2\x80\x99", '\'' }, { "\xe2\x80\x9c", '"' }, { "\xe2\x80\x9d", '"' },
    { "\xe2\x80\x90", '-' }, { "\xe2\x80\x91", '-' }, { "\xe2\x80\x93", '-' }, { "\xe2\x80\x94", '-' } };
  const char *at = *text;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (strncmp(at, of[i].printed, 3) == 0) {
      *text += 3;
      return of[i].plain;
    }
  ++*text;
  if (strchr(" \t\n\r", *at) == NULL) return *at >= 'A' && *at <= 'Z' ? (char) (*at - 'A' + 'a') : *at;
  while (**text != '\0' && strchr(" \t\n\r", **text) != NULL) ++*text;
  return ' ';
}

static bool begins_with(const char *text, const char *words)
{
  while (*words != '\0')
    if (*text == '\0' || typed(&text) != typed(&words)) return false;
  return true;
}

bool quotation_contains(const char *text, const char *words)
{
  for (; !begins_with(text, words); typed(&text))
    if (*text == '\0') return false;
  return true;
}

void quotation_sum(const char *bytes, size_t n, char sum[QUOTATION_SUM])
{
  struct sum s;
  sum_begin(&s, SUM_SHA256);
  sum_add(&s, bytes, n);
  sum_end(&s, sum);
}
