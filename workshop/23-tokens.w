@i types.w

\chapterquestion{What does a tokenizer need besides merges?}
@** Inside tokenization: rules, pieces, text that is not UTF-8.
\incipit{C}{hapter 1 has} the merges: how they are learnt, applied and undone. This chapter has what is left of the same module. Rules are entered one by one and freed together; equal pieces of a text are counted;
and a text that is not UTF-8 is cut, and shown as well as it can be.

@* The rules in memory. \label{sec:rules}
The encoder reads an array of rules and a table that leads from a pair to its rule (\cref{sec:encoding}). This is how rules come in, and how the memory goes back. The header of chapter 1 includes this one, so a program
needs to name only the first.

@(rules.h@>=
#ifndef INCIPIT_RULES_H
#define INCIPIT_RULES_H
#include <stdbool.h>
#include <stdint.h>
struct bpe;
struct bpe_rule;
struct bpe_work;
struct error;
struct memory;
bool bpe_add(struct memory *m, struct bpe *b, uint32_t left,
  uint32_t right, uint32_t made, struct error *why);
  /* appends a rule whose rank is its place; of two rules for one pair
     the later counts */
bool bpe_add_ranked(struct memory *m, struct bpe *b,
  struct bpe_rule rule, struct error *why);
  /* the same, with any rank below $2^{32}-1$; several rules may have it */
void bpe_free(struct memory *m, struct bpe *b);
  /* returns the blocks of the rules */
void bpe_work_free(struct memory *m, struct bpe_work *w);
  /* returns the workspace of an encoder */
#endif

@ Appending a rule enters it in the table. An older rule for the same pair stays in the list, where
nothing leads to it any more. (Some published lists name a pair twice, and the libraries that read them let the
later line win.) The rule is written before the table is asked to grow, and counted after, so that a
failure leaves the number of rules as it was.

@<Append a rule@>=
bool bpe_add_ranked(struct memory *m, struct bpe *b,
  struct bpe_rule rule, struct error *why)
{
  struct bpe_rule *p = memory_reserve(m, MEMORY_TOKENS, b->rule, &b->cap,
    b->n + 1, 256, sizeof *p, why);
  if (p == NULL)@+ return false;
  b->rule = p;
  b->rule[b->n] = rule;
  if (!pair_map_put(m, &b->place, rule.left, rule.right,
    (uint32_t) b->n + 1, why))@+ return false;
  b->n++;
  return true;
}

@ The rank of a rule is usually its place in the list. Only files whose tokens have numbers of their own give another (\cref{sentencepiece}).

@<Append a rule@>=
bool bpe_add(struct memory *m, struct bpe *b, uint32_t left,
  uint32_t right, uint32_t made, struct error *why)
{
  return bpe_add_ranked(m, b, (struct bpe_rule) @[{ left, right,
    made,@| (uint32_t) b->n }@], why);
}

@ What was taken is freed by three functions, since rules, workspaces and lists of merges live for different times.

@<Free rules, workspaces and merges@>=
void bpe_free(struct memory *m, struct bpe *b)
{
  pair_map_free(m, &b->place);
  memory_free(m, b->rule);
  b->rule = NULL, b->n = b->cap = 0;
}
void bpe_work_free(struct memory *m, struct bpe_work *w)
{
  heap_free(m, &w->queue);
  ids_free(m, &w->piece);
  memory_free(m, w->node);
  w->node = NULL, w->cap = 0;
}
void bpe_forget(struct memory *m, struct bpe_merge *merge)
{
  memory_free(m, merge);
}

@ These functions are a file of their own.

@(rules.c@>=
#include "tokens/bpe.h"
@<Append a rule@>@;
@<Free rules, workspaces and merges@>@;

@* The pieces of a text. \label{sec:unique}
The trainer of chapter 1 keeps equal pieces once (\cref{sec:learning}). Here they are collected and counted.

@(unique.h@>=
#ifndef INCIPIT_UNIQUE_H
#define INCIPIT_UNIQUE_H
#include "lookups/table.h"
struct unique_piece {@+ const unsigned char *byte;@+ size_t n;
  uint32_t weight;@+ };
  /* |n| bytes inside the text, and how often they are a piece of it */
struct unique_pieces {@+ struct unique_piece *piece;@+ size_t n, cap, n_bytes;
  struct name_map number;@+ };
  /* |n| pieces of |n_bytes| bytes in all; from a piece to its number, plus 1 */
bool unique_collect(struct memory *m, struct unique_pieces *u,
  const unsigned char *text, size_t n, const char *pattern, struct error *why);
  /* cuts |n| bytes by |pattern| (null: one piece) and fills an empty |u|, which points into |text|; whether or not
     that succeeds, |unique_free| returns it */
void unique_free(struct memory *m, struct unique_pieces *u);
  /* returns the blocks */
#endif

@ A piece that is known counts once more; a new one gets the next number. Its bytes are not copied: they stay in the text, which is the caller's and outlives the trainer. The array of pieces may move when it grows; therefore the table gives a piece's
number and not its address.

@<Enter a piece@>=
static bool enter_piece(struct memory *m, struct unique_pieces *u,
  const unsigned char *byte, size_t n, struct error *why)
{
  uint32_t known = name_map_get(&u->number, byte, n);
  if (known != 0) {
    u->piece[known - 1].weight++;
    return true;
  }
  struct unique_piece *p = memory_reserve(m, MEMORY_TOKENS, u->piece,
    &u->cap, u->n + 1, 64, sizeof *p, why);
  if (p == NULL)@+ return false;
  u->piece = p;
  u->piece[u->n++] = (struct unique_piece) @[{ byte, n, 1 }@];
  u->n_bytes += n;
  return name_map_put(m, &u->number, byte, n, (uint32_t) u->n, why);
}

@ Bytes that do not form characters cannot be shown to a pattern, which knows only characters;
each run of them is a piece of its own, and merges may be learnt inside it as anywhere else.

@<Cut the text, and enter its pieces@>=
static bool cut_runs(struct memory *m, struct unique_pieces *u,
  const unsigned char *text, size_t n, const struct splitter *by,
  struct split_work *cut, struct error *why)
{
  for (size_t at = 0, length = 0; at < n; at += length) {
    bool whole;
    struct pieces p;
    struct text_piece next;
    length = utf8_run(text + at, n - at, &whole);
    pieces_begin(&p, whole ? by : NULL, cut, text + at, length);
    do {
      if (!pieces_next(&p, &next, why))@+ return false;
      if (next.n > 0 && !enter_piece(m, u, next.byte, next.n, why))
        return false;
    } while (next.n > 0);
  }
  return true;
}

@ Without a pattern the whole text is one piece. With one, the splitter and the memory of its searches are needed only here.

@<Cut the text, and enter its pieces@>=
bool unique_collect(struct memory *m, struct unique_pieces *u,
  const unsigned char *text, size_t n, const char *pattern, struct error *why)
{
  if (pattern == NULL)@+ return n == 0 || enter_piece(m, u, text, n, why);
  struct split_work cut = @[{ .m = m }@];
  struct splitter *by = splitter_open(m, pattern, strlen(pattern), false, why);
  bool ok = by != NULL && cut_runs(m, u, text, n, by, &cut, why);
  splitter_close(by);
  split_work_free(&cut);
  return ok;
}
void unique_free(struct memory *m, struct unique_pieces *u)
{
  name_map_free(m, &u->number);
  memory_free(m, u->piece);
}

@ The pieces have a file of their own, too.

@(unique.c@>=
#include <string.h>
#include "lookups/split.h"
#include "tokens/unique.h"
#include "tokens/utf8.h"
@<Enter a piece@>@;
@<Cut the text, and enter its pieces@>@;

@* Text that is not UTF-8. \label{sec:notutf}
A text with broken parts can be shown with a U+FFFD in the place of each (\cref{sec:bytes}). The result is for eyes only and must not be encoded again, since a broken byte has become
three other bytes. The header is included by \.{utf8.h}.
@^U+FFFD@>

@(lossy.h@>=
#ifndef INCIPIT_LOSSY_H
#define INCIPIT_LOSSY_H
#include "ground/buffers.h"
size_t utf8_run(const unsigned char *byte, size_t n, bool *whole);
  /* the length of the longest run, from the first of |n| $\ge 1$
     bytes on, of nothing but whole characters, or of nothing that is
     one */
bool utf8_lossy(struct memory *m, const unsigned char *byte, size_t n,
  struct bytes *out, struct error *why);
  /* appends the text, one U+FFFD per maximal subpart; on failure
     |out| is as it was */
uint32_t utf8_point(const unsigned char *byte, size_t length);
  /* the number of the whole character of |length| bytes that begins
     here */
#endif

@ A text can be cut into runs of whole characters and runs of bytes
that do not form characters; a text without faults, which is nearly every text, comes out as a single run.

@<Cut off a run@>=
size_t utf8_run(const unsigned char *byte, size_t n, bool *whole)
{
  enum utf8_state state;
  size_t at = utf8_next(byte, n, &state);
  *whole = state == UTF8_WHOLE;
  while (at < n) {
    size_t step = utf8_next(byte + at, n - at, &state);
    if ((state == UTF8_WHOLE) != *whole)@+ break;
    at += step;
  }
  return at;
}

@ To show a text is easier: |utf8_next| says how long each part is, so the loop only has to copy it or to replace it.

@<Replace what is not a character@>=
bool utf8_lossy(struct memory *m, const unsigned char *byte, size_t n,
  struct bytes *out, struct error *why)
{
  size_t start = out->n, step = 0;
  for (size_t at = 0; at < n; at += step) {
    enum utf8_state state;
    step = utf8_next(byte + at, n - at, &state);
    bool ok = state == UTF8_WHOLE ? bytes_push(m, out, byte + at,
      step, why) : bytes_push(m, out, "\xef\xbf\xbd", 3, why);
    if (ok)@+ continue;
    out->n = start;
    return false;
  }
  return true;
}

@ The number of a whole character is made of the free bits of its bytes: seven, five, four or three in
the first, six in each of the others. The white space of \cref{tokenizer} and the grammars of \cref{constraints} are told by it.

@<The number of a character@>=
uint32_t utf8_point(const unsigned char *byte, size_t length)
{
  static const unsigned char free_bits[5] = @[{ 0, 0x7f, 0x1f, 0x0f,
    0x07 }@];
  uint32_t point = byte[0] & free_bits[length];
  for (size_t k = 1; k < length; k++)
    point = point << 6 | (byte[k] & 0x3f);
  return point;
}

@ The three are in one file.

@(lossy.c@>=
#include "tokens/utf8.h"
@<Cut off a run@>@;
@<Replace what is not a character@>@;
@<The number of a character@>@;
