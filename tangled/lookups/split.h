/* split.h -- made from workshop/16-lookups.w; change it there */

#ifndef INCIPIT_SPLIT_H
#define INCIPIT_SPLIT_H
#include "ground/ground.h"

/* <A pattern that cuts> */
struct splitter;

/* compiles n bytes of pattern, as they stand if literal; m must outlive the splitter,
   which is not changed by its use; null and a sentence */
struct splitter *splitter_open(struct memory *m, const char *pattern,
  size_t n, bool literal, struct error *why);

/* returns all of it; closing a null does nothing */
void splitter_close(struct splitter *s);

/* do they cut by the same pattern? */
bool splitter_same(const struct splitter *a, const struct splitter *b);

/* which version of Unicode the patterns know, as in "14.0.0" */
void splitter_unicode(char version[24]);

/* the patterns of GPT-2 and of Llama 3 */
extern const char split_gpt2[], split_llama3[];

/* m is set by the caller, the rest begins as null and is PCRE2's; serves all
   splitters and all cuttings of one thread, even one inside another */
struct split_work { struct memory *m; void *general, *result, *limits,
  *stack; };

/* returns what the searches took; it may be used again */
void split_work_free(struct split_work *w);

/* n bytes inside the text; were they a match, or did they lie between two? */
struct text_piece { const unsigned char *byte; size_t n;
  bool match; };

/* a text that is being cut; for pieces_next only */
struct pieces { const struct splitter *by; struct split_work *work;
  const unsigned char *text; size_t n, at, from, to; bool known, full; };

/* begins to cut n bytes, which must be whole characters; with a null splitter the
   text is one piece, and w may be null */
void pieces_begin(struct pieces *p, const struct splitter *by,
  struct split_work *w, const unsigned char *text, size_t n);

/* the next piece; next->n == 0 at the end, no other piece is empty; false and a
   sentence if the pattern gives up */
bool pieces_next(struct pieces *p, struct text_piece *next,
  struct error *why);
#endif
