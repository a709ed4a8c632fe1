==== check
# our drafter looks it up; then the first place is found by trying all
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "speculation/lookup.h"
int main(void)
{
  static const char text[] = "ABCABDEBFAB";
  struct memory m = { 0 };
  struct error why;
  struct sequence q = { .room = 3 }, *one = &q;
  struct generate_context g = { .m = &m };
  size_t n = strlen(text), at = 2;
  for (size_t i = 0; i < n; i++)
    if (!ids_push(&m, &q.c.text, (uint32_t) text[i], &why)) return 1;
  guess_by_lookup(&(struct lookup) { 2, 4 }, &g, &one, 1);
  for (size_t i = 0; i < q.guess.n; i++) printf("%c ", (int) q.guess.id[i]);
  while (memcmp(text + at - 2, text + n - 2, 2) != 0) at++;
  printf("%c %c %c\n", text[at], text[at + 1], text[at + 2]);
  return 0;
}
C
is $(run)
==== answer
D E B C A B
==== wrong
C A B D E B
==== skeleton
# six letters with blanks between them: our guesses, and those after the first place
