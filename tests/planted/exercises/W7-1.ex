==== check
# a script's ids as in the box: a mark is one, and so is each word and each line's end
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "templates/conversations.h"
static size_t ids(const struct turn *talk, size_t n, bool reply)
{
  struct memory m = { .fail_at = 0 };
  struct rendered_prompt s;
  size_t all = 0;
  if (!prompt_render(&m, chat_template_named("chatml", NULL), talk, n, 0, reply, &s, NULL)) return 0;
  for (size_t i = 0; i < s.n; i++)
    for (size_t k = 0, in = 0; k < s.part[i].n; k++) {
      char c = (char) s.text.byte[s.part[i].at + k];
      if (s.part[i].kind == PROMPT_PART_MARK) { all++; break; }
      all += c == '\n' || (c != ' ' && !in), in = c != ' ' && c != '\n';
    }
  prompt_free(&m, &s);
  return all;
}
int main(void)
{
  static const char *const said[] = {"a b", "a b c d", "a b c", "a b c d e f g h i j", "a b c d e f"};
  struct turn talk[5];
  for (int i = 0; i < 5; i++) talk[i] = (struct turn) { i % 2 ? ROLE_ASSISTANT : ROLE_USER, said[i], strlen(said[i]) };
  size_t prompt = ids(talk, 5, true), before = ids(talk, 4, false) - 1; /* without the line's end behind the answer */
  printf("%zu %zu\n", prompt, prompt - (before - 1));
}
C
is $(run)
==== answer
# how many ids the third prompt has, and how many rows are computed for it, with a blank between
53 16
==== wrong
# how many ids the third prompt has, and how many rows are computed for it, with a blank between
53 15
==== skeleton
# how many ids the third prompt has, and how many rows are computed for it, with a blank between
