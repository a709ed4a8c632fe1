/* thoughts.c -- an answer that has a thought: what is between <think> and </think>, and
   what comes after it.

   The thought ends at the first </think>, and the answer begins after the last one: if a
   model is confused enough to write it twice, we drop what is between them. Newlines around
   thought and answer are dropped as well, because the template supplies its own. */

#include <string.h>
#include "templates/inside.h"

/* the first or the last occurrence of a word */
static bool find(const struct turn *said, const char *word, bool last,
  size_t *at)
{
  size_t k = strlen(word);
  bool found = false;
  for (size_t i = 0; i + k <= said->n && !(found && !last); i++)
    if (memcmp(said->text + i, word, k) == 0) found = true, *at = i;
  return found;
}

/* around a thought and an answer the template has newlines of its own */
void thought_strip_lines(struct turn *t)
{
  while (t->n > 0 && *t->text == '\n') t->text++, t->n--;
}

void thought_part(const struct turn *said, struct turn *thought,
  struct turn *rest)
{
  size_t at;
  *thought = (struct turn) { ROLE_ASSISTANT, said->text, 0 };
  *rest = *said;
  if (!find(said, "</think>", true, &at)) return;
  rest->text += at + 8, rest->n -= at + 8;
  thought_strip_lines(rest);
  find(said, "</think>", false, &thought->n);
  while (thought->n > 0 && thought->text[thought->n - 1] == '\n')
    thought->n--;
  if (find(thought, "<think>", true, &at))
    thought->text += at + 7, thought->n -= at + 7;
  thought_strip_lines(thought);
}
