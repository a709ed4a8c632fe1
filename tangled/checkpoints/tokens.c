/* the program -- made from chapters/01-tokens.w; change it there */

#include <stdio.h>
#include <string.h>
#include "tokens/lesson.h"

/* <Turn ids back into text> */
static bool decode(struct memory *m, const struct lesson *l,
  const struct ids *list, struct bytes *out)
{
  for (size_t i = 0; i < list->n; i++)
    if (!bpe_spell(m, l->merge, list->id[i], out, NULL)) return false;
  return true;
}

/* <Print merges, and ids beside their text> */
static void print_merges(struct memory *m, const struct lesson *l)
{
  for (size_t k = 0; k < l->n; k++) {
    char left[64], right[64], both[140];
    lesson_show(m, l, l->merge[k].left, left);
    lesson_show(m, l, l->merge[k].right, right);
    snprintf(both, sizeof both, "%s+%s", left, right);
    bool last = (k + 1) % 4 == 0 || k + 1 == l->n;
    printf("%4zu %-*s%s", 256 + k, last ? 1 : 11, both,
      last ? "\n" : "");
  }
}

static bool print_ids(struct memory *m, struct lesson *l,
  const char *text)
{
  struct ids list = { NULL, 0, 0 };
  struct bytes back = { NULL, 0, 0 };
  bool ok = lesson_encode(m, l, text, &list) && decode(m, l, &list, &back);
  printf("%s\n ", text);
  for (size_t i = 0; i < list.n; i++) {
    char buffer[64];
    lesson_show(m, l, list.id[i], buffer);
    printf(" %u:%s", (unsigned) list.id[i], buffer);
  }
  bool same = ok && back.n == strlen(text)
    && memcmp(back.byte, text, back.n) == 0;
  printf("\n  %zu ids, and back: %s\n", list.n,
    same ? "the same" : "DIFFERENT");
  ids_free(m, &list);
  bytes_free(m, &back);
  return same;
}

int main(int argc, char **argv)
{
  struct memory m = { .fail_at = 0 };
  struct lesson hand, cat;
  (void) argv;
  if (argc > 1 || !lesson_learn(&m, hand_line, HAND_MERGES, &hand))
    return 1;
  printf("%zu merges from `%s'\n", hand.n, hand_line);
  print_merges(&m, &hand);
  bool ok = print_ids(&m, &hand, "that");
  lesson_forget(&m, &hand);
  if (!lesson_learn(&m, story, STORY_MERGES, &cat)) return 1;
  printf("%zu merges from three lines about a cat\n", cat.n);
  print_merges(&m, &cat);
  ok = print_ids(&m, &cat, "The cat sat") && ok;
  ok = print_ids(&m, &cat, sentence) && ok;
  ok = print_ids(&m, &cat, "The bat") && ok;
  printf("a stream of %zu ids: id, bytes released, bytes held\n ",
    lesson_count(&m, &cat, price));
  lesson_stream(&m, &cat, price, " %u/%zu/%zu");
  printf("\n");
  lesson_forget(&m, &cat);
  return ok && m.all.live == 0 ? 0 : 1;
}
