/* the program -- made from workshop/09-constraints.w; change it there */

#include <stdio.h>
#include <string.h>
#include "constraints/constraint.h"

/* <Make the table of the hand calculation> */
enum { LAUGHS = 7, LAUGH_STATES = 4 };
static const char *const laugh_piece[LAUGHS] = { "h", "a", "!", "ha", "ah",
  "a!", "haha" };
static const char laugh[] = "(ha)+!";
struct laughing { uint32_t state[LAUGH_STATES]; size_t n; };
static size_t met_as(struct laughing *x, uint32_t state)
{
  size_t k = 0;
  while (k < x->n && x->state[k] != state) k++;
  if (k == x->n && k < LAUGH_STATES) x->state[x->n++] = state;
  return k;
}

static bool print_laugh(struct constraint *c, struct error *why)
{
  struct laughing x = { .state[0] = constraint_start(c), .n = 1 };
  uint32_t next;
  size_t tokens;
  printf("%s\nstate", laugh);
  for (uint32_t i = 0; i < LAUGHS; i++) printf("%5s", laugh_piece[i]);
  printf("   to the end\n");
  for (size_t k = 0; k < x.n; k++) {
    printf("%5zu", k);
    for (uint32_t i = 0; i < LAUGHS; i++)
      if (constraint_step(c, x.state[k], i, &next, NULL))
        printf("%5zu", met_as(&x, next));
      else printf("    -");
    if (!constraint_minimum(c, x.state[k], &tokens, why)) return false;
    printf("%13zu\n", tokens);
  }
  return true;
}

static bool laugh_aloud(struct memory *m, struct error *why)
{
  struct token_bytes spelt[LAUGHS];
  uint8_t allowed[LAUGHS];
  struct error none;
  bool accepts;
  for (int i = 0; i < LAUGHS; i++)
    spelt[i] = (struct token_bytes) { (const unsigned char *) laugh_piece[i],
      strlen(laugh_piece[i]) };
  struct lexicon *l = lexicon_open(m, spelt, NULL, LAUGHS, why);
  struct constraint *c = l == NULL ? NULL
    : constraint_regex(m, laugh, strlen(laugh), why);
  bool ok = c != NULL && constraint_bind(c, l, false, why)
    && print_laugh(c, why);
  if (ok && !constraint_mask(c, constraint_start(c), 1, allowed, &accepts,
    &none)) printf("%s\n", none.text);
  constraint_free(c);
  lexicon_close(l);
  return ok;
}

int main(void)
{
  static struct memory m;
  struct error why;
  bool ok = laugh_aloud(&m, &why);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
