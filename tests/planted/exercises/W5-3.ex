==== check
# a piece of type 5 is there, can be decoded, and no merge makes it; a type that does not exist is still refused
planted
says_like_ours
==== test
#include "exercise.h"
#include "sentencepiece/sentencepiece.h"
enum { SIZES = 30, PIECES = 6 };
static size_t piece(unsigned char *out, const char *w, float score, unsigned char type)
{
  size_t n = strlen(w);
  unsigned char head[4] = { 10, (unsigned char) (n + 9), 10, (unsigned char) n }, *at = out;
  memcpy(at, head, 4), at += 4, memcpy(at, w, n), at += n, *at++ = 21, memcpy(at, &score, 4), at += 4, *at++ = 24, *at++ = type;
  return (size_t) (at - out);
}
static void test(unsigned size)
{
  static const char *const word[PIECES] = { "<unk>", "a", "b", "ab", "ba", "aba" };
  static const unsigned char rest[] = { 18, 2, 24, 2, 26, 6, 24, 0, 32, 0, 40, 0 };
  unsigned char b[400]; char text[12]; float points[PIECES];
  struct memory m = { 0 }; struct error why; uint32_t begin, end; bool theirs; struct ids list = { 0 };
  size_t n = piece(b, "<unk>", 0, 2), length, of = 1 + draw(11), which = 3 + draw(3);
  unsigned char type = size % 6 == 0 ? 7 : size % 3 == 0 ? 1 : 5;
  for (size_t i = 1; i < PIECES; i++) {
    float score = -(float) (1 + draw(1000)) / 8;
    points[i] = i > 2 && (i != which || type == 1) ? score : -INFINITY;
    n += piece(b + n, word[i], score, i == which ? type : 1);
  }
  memcpy(b + n, rest, sizeof rest), n += sizeof rest;
  for (size_t i = 0; i < of; i++) text[i] = "ab"[draw(2)];
  tell("%s has type %d, the text %.*s", word[which], type, (int) of, text);
#ifdef OURS
  if (type == 7) say("the file: refused");
  else {
    char row[12][12] = { "" };
    size_t left = of;
    for (size_t i = 0; i < of; i++) row[i][0] = text[i];
    for (;;) {                                          /* the pair whose piece has the most points becomes that piece */
      float top = -INFINITY; size_t at = 0;
      for (size_t i = 0; i + 1 < left; i++)
        for (size_t k = 3; k < PIECES; k++)
          if (strlen(row[i]) + strlen(row[i + 1]) == strlen(word[k]) && strncmp(word[k], row[i], strlen(row[i])) == 0
            && strcmp(word[k] + strlen(row[i]), row[i + 1]) == 0 && points[k] > top) top = points[k], at = i;
      if (top == -INFINITY) break;
      strcat(row[at], row[at + 1]);
      for (left--, at++; at < left; at++) strcpy(row[at], row[at + 1]);
    }
    for (size_t i = 0; i < left; i++)
      for (size_t k = 1; k < PIECES; k++) if (strcmp(row[i], word[k]) == 0) say("id: %zu", k);
    say("bytes of the piece: %zu", strlen(word[which]));
  }
  say("bytes that are still held: 0");
#else
  struct tokenizer *t = memory_alloc(&m, MEMORY_TOKENS, 1, sizeof *t, &why);
  if (!sentencepiece_read(&m, t, "ex", b, n, &begin, &end, &theirs, &why)) say("the file: refused");
  else {
    if (!tokenizer_encode(t, &m, text, of, false, false, &list, &why)) return;
    for (size_t i = 0; i < list.n; i++) say("id: %u", list.id[i]);
    tokenizer_text(t, (uint32_t) which, &length);
    say("bytes of the piece: %zu", length);
    ids_free(&m, &list);
  }
  tokenizer_close(&m, t);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
#endif
}
==== answer
== unwoven/sentencepiece/sentencepiece.c
-  return s->model == 1 || none_is_unused(x);
+  return true;
==== wrong
== unwoven/sentencepiece/sentencepiece.c
-  return s->model == 1 || none_is_unused(x);
+  for (size_t i = 0; i < x->list.n; i++)
+    if (x->list.piece[i].type == UNUSED) x->list.piece[i].type = NORMAL;
+  return true;
==== skeleton
# unwoven/sentencepiece/sentencepiece.c looks at the type of each piece.  Write == FILE, then - lines and + lines
