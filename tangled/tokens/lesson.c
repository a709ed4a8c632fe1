/* lesson.c -- made from chapters/01-tokens.w; change it there */

#include <stdio.h>
#include <string.h>
#include "tokens/lesson.h"
const char hand_line[] = "the cat that sat";
const char story[] =
  "The cat sat on the mat." " The rat sat on the " "cat.\n"
  "The cat sat up and " "the rat ran. That is " "that,\n"
  "said the cat, and sat " "on the mat.\n";
const char news[] =
  "Then the hat ran up to " "the oat. A man has sat "
  "there and has seen a\n"
  "star on the path: what " "is that? said the man, "
    "and he sat at last on\n"
  "the hat.\n";
const char sentence[] = "The cat sat on the " "mat.";
const char price[] = "on \xe2\x82\xac" "9";

/* <Learn, and be ready to encode> */
bool lesson_learn(struct memory *m, const char *text,
  size_t merges, struct lesson *l)
{
  struct error why;
  *l = (struct lesson) { .asked = merges, .cut = { .m = m } };
  if (bpe_train(m, text, strlen(text), split_gpt2, merges, &l->merge,
    &l->n, &why) && bpe_learnt(m, &l->rules, l->merge, l->n, &why)
    && (l->by = splitter_open(m, split_gpt2, strlen(split_gpt2),
      false, &why))) return true;
  fprintf(stderr, "%s\n", why.text);
  return false;
}

void lesson_forget(struct memory *m, struct lesson *l)
{
  split_work_free(&l->cut);
  splitter_close(l->by);
  bpe_work_free(m, &l->work);
  bpe_free(m, &l->rules);
  bpe_forget(m, l->merge);
}

/* <From a text to its ids> */
bool lesson_encode(struct memory *m, struct lesson *l,
  const char *text, struct ids *out)
{
  struct pieces p;
  struct text_piece next;
  pieces_begin(&p, l->by, &l->cut, (const unsigned char *) text,
    strlen(text));
  while (pieces_next(&p, &next, NULL) && next.n > 0)
    if (!bpe_encode(&l->rules, m, &l->work, next.byte, next.n, out,
      NULL)) return false;
  return next.n == 0;
}

size_t lesson_count(struct memory *m, struct lesson *l,
  const char *text)
{
  struct ids list = { NULL, 0, 0 };
  lesson_encode(m, l, text, &list);
  size_t n = list.n;
  ids_free(m, &list);
  return n;
}

/* <Show a token, and feed a stream> */
size_t lesson_show(struct memory *m, const struct lesson *l,
  uint32_t id, char buffer[64])
{
  struct bytes b = { NULL, 0, 0 };
  size_t to = 0;
  bpe_spell(m, l->merge, id, &b, NULL);
  for (size_t i = 0; i < b.n && to < 58; i++) {
    bool plain = b.byte[i] > 32 && b.byte[i] < 127;
    if (plain || b.byte[i] == ' ') buffer[to++] = plain
      ? (char) b.byte[i] : '_';
    else to += (size_t) sprintf(buffer + to, "<%02x>", b.byte[i]);
  }
  buffer[to] = '\0';
  to = b.n;
  bytes_free(m, &b);
  return to;
}

void lesson_stream(struct memory *m, struct lesson *l, const char *text,
  const char *format)
{
  struct ids list = { NULL, 0, 0 };
  struct stream s = { .n = 0 };
  lesson_encode(m, l, text, &list);
  for (size_t i = 0; i < list.n; i++) {
    struct bytes token = { NULL, 0, 0 }, out = token;
    bpe_spell(m, l->merge, list.id[i], &token, NULL);
    stream_feed(m, &s, token.byte, token.n, &out, NULL);
    printf(format, (unsigned) list.id[i], out.n, s.n);
    bytes_free(m, &token);
    bytes_free(m, &out);
  }
  ids_free(m, &list);
}
