/* lesson.h -- made from chapters/01-tokens.w; change it there */

#ifndef INCIPIT_LESSON_H
#define INCIPIT_LESSON_H
#include "tokens/bpe.h"
#include "lookups/split.h"

/* the line of the hand calculation; the page about the cat; a page that is new; the
   first sentence of the cat's page; and a price with a euro sign */
extern const char hand_line[], story[], news[], sentence[], price[];

/* merges that we learn from the line, and from the page */
enum { HAND_MERGES = 9, STORY_MERGES = 24 };

/* n merges in a block of asked, and what encodes with them */
struct lesson { struct bpe_merge *merge; size_t n, asked;
  struct bpe rules; struct bpe_work work;
  struct splitter *by; struct split_work cut; };

/* learns at most so many merges from a text; a failure is printed */
bool lesson_learn(struct memory *m, const char *text,
  size_t merges, struct lesson *l);

/* returns what lesson_learn took */
void lesson_forget(struct memory *m, struct lesson *l);

/* appends the ids of a text, which is whole characters */
bool lesson_encode(struct memory *m, struct lesson *l,
  const char *text, struct ids *out);

/* how many ids a text is */
size_t lesson_count(struct memory *m, struct lesson *l,
  const char *text);

/* writes a token so that we can read it; returns its true number of bytes */
size_t lesson_show(struct memory *m, const struct lesson *l,
  uint32_t id, char buffer[64]);

/* feeds a text to a stream, id by id, and prints of each step the id, the bytes
   released and those held */
void lesson_stream(struct memory *m, struct lesson *l, const char *text,
  const char *format);
#endif
