/* constraint.c -- a pattern or a grammar (the first byte says which), and a text.  What compiles
   must answer; a walk by single bytes and one by pairs must agree with the text as a whole, and
   what a mask allows must have an end. */
#include "fuzz.h"
#include "constraints/constraint.h"

enum { MAX_TEXT = 60, LOOKED_AT = 6 };
/* the first ids are the bytes, then pairs of neighbours of the text */
static size_t spell(struct token_bytes *p, const unsigned char *byte, const uint8_t *text, size_t n)
{
  size_t k = 256;
  for (size_t b = 0; b < 256; b++) p[b] = (struct token_bytes){ byte + b, 1 };
  for (size_t i = 0; i + 1 < n && i < 30; i++) p[k++] = (struct token_bytes){ text + i, 2 };
  return k;
}
static void walk_along(struct constraint *c, const uint8_t *text, size_t n, size_t vocab, bool yes)
{
  struct error why = { "" };
  uint32_t state = constraint_start(c), next;
  uint8_t allowed[300];
  bool accepts;
  size_t min;
  for (size_t i = 0; i <= n; i++) {
    if (i < LOOKED_AT && constraint_minimum(c, state, &min, &why)) {
      for (size_t budget = min > 0 ? min - 1 : 0; budget < min + 2; budget++) {
        bool ok = constraint_mask(c, state, budget, allowed, &accepts, &why);
        must(ok == (budget >= min) || strstr(why.text, "room") != NULL
          || strstr(why.text, "ways") != NULL);
        for (uint32_t id = 0; ok && id < vocab; id += 1 + id % 7)
          if (allowed[id]) {
            size_t then;
            bool went = constraint_step(c, state, id, &next, &why)
              && constraint_minimum(c, next, &then, &why);
            must(went ? then < budget
                      : strstr(why.text, "room") != NULL || strstr(why.text, "ways") != NULL);
          }
      }
      must(min > 0 || (i == n ? yes : true));
    }
    if (i == n) {
      must(!yes || min == 0 || i >= LOOKED_AT);
      break;
    }
    if (!constraint_step(c, state, text[i], &state, &why)) {
      must(!yes || strstr(why.text, "can't come") == NULL);
      break;
    }
  }
}

FUZZ(constraint)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  bool grammar = size > 0 && data[0] % 2 == 1, yes;
  if (size > 0) data++, size--;
  const uint8_t *part;
  size_t n = next_part(&data, &size, &part);
  if (n > 400) n = 400; /* longer ones say nothing new, and take long to say it */
  char *exact = malloc(n > 0 ? n : 1); /* one byte behind it is seen */
  memcpy(exact, part, n);
  if (size > MAX_TEXT) size = MAX_TEXT;
  struct constraint *c =
    grammar ? constraint_grammar(&m, "g", exact, n, &why) : constraint_regex(&m, exact, n, &why);
  if (c == NULL)
    must(why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
  else if (constraint_matches(c, (const char *) data, size, &yes, &why)
    && constraint_look(c).nodes < 500) {
    unsigned char byte[256];
    struct token_bytes p[300];
    for (size_t b = 0; b < 256; b++) byte[b] = (unsigned char) b;
    size_t vocab = spell(p, byte, data, size);
    struct lexicon *l = lexicon_open(&m, p, NULL, vocab, &why);
    if (constraint_bind(c, l, false, &why)) walk_along(c, data, size, vocab, yes);
    constraint_free(c), c = NULL;
    lexicon_close(l);
  }
  constraint_free(c);
  free(exact);
  must(m.all.live == 0);
  return 0;
}
