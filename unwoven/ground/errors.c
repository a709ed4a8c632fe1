/* errors.c -- an error is one line, written by the function that fails; and the question
   whether to go on.

   A message is one line and nothing that steers a terminal. What does not fit is cut at the
   end of a character. */

#define _POSIX_C_SOURCE 200809L
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "ground/ground.h"

/* Goes back over at most three continuation bytes, then over the byte that begins the
   character. A character that was complete goes as well; to keep it, we would have to
   count. */
static void cut_at_character(char *words)
{
  size_t n = strlen(words), k = 0;
  while (k < n && k < 3 && ((unsigned char) words[n - 1 - k] & 0xc0) == 0x80) k++;
  if (k < n && (unsigned char) words[n - 1 - k] >= 0xc0) words[n - 1 - k] = '\0';
}

bool error_say(struct error *why, const char *format, ...)
{
  if (why == NULL) return false;
  /* Under a foreign locale, 2.5 would be printed with a comma. uselocale is the
     thread's; setlocale would change it for the whole process. */
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t) 0);
  locale_t before = plain != (locale_t) 0 ? uselocale(plain) : (locale_t) 0;
  va_list list;
  va_start(list, format);
  int n = vsnprintf(why->text, sizeof why->text, format, list);
  va_end(list);
  if (plain != (locale_t) 0) uselocale(before), freelocale(plain);
  /* one line, and nothing that steers a terminal: control characters, also the second
     set, which UTF-8 writes as c2 80 to c2 9f */
  if (n < 0) why->text[0] = '\0';
  if (n >= (int) sizeof why->text) cut_at_character(why->text);
  for (unsigned char *c = (unsigned char *) why->text; *c != '\0'; c++)
    if (*c < 0x20 || *c == 0x7f) *c = '?';
    else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) c[0] = c[1] = '?';
  return false;
}

/* All such messages have their parts in the same order, and a test looks in each of them for
   the file, the field, what was found and what was wanted. */
bool error_found(struct error *why, const char *file, const char *field,
  const char *found, const char *wanted)
{
  return error_say(why, "%s: %s is %s; wanted: %s", file, field, found,
    wanted);
}

/* If work is cut into parts, such as a prefill in chunks, before and all say where the part
   belongs. */
bool progress_tell(struct progress *p, size_t done, size_t all)
{
  if (p == NULL) return true;
  /* A refusal is remembered: work is nested, and who said no to a part is not asked
     again by the whole. */
  if (p->all > 0) all = p->all;
  if (!p->cancelled) p->cancelled = !p->report(p->ctx, p->before + done, all);
  return !p->cancelled;
}

bool progress_cancelled(const struct progress *p)
{
  return p != NULL && p->cancelled;
}
