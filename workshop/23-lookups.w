@i types.w

\chapterquestion{Which number has this pair, and what comes next?}
@** Two hash tables and a heap. \label{sec:tables}
\incipit{L}{earning merges and applying} them asks three questions over and over. Which number has
this pair of ids? Which number has this row of letters? What comes next, in order of importance? Two
hash tables and a heap answer them. Whoever has written such things before may go
on reading in \cref{sec:learning}; all of it is here, since C brings none of the three along.

\begin{byhand}{five things to do}
A heap is an array that is read as a tree: below place $i$ stand the places $2i+1$ and $2i+2$, and nothing
stands above something smaller than itself. Put in 5, 2, 8, 1, 4, one after another. A number comes
in at the end and changes places with the one above it for as long as that one is larger:

\medskip
\begin{tabular}{@@{}rll@@{}}
\tabhead{in} & \tabhead{the array} & \tabhead{what moved}\\
5 & 5 & \\
2 & 2 5 & 2 above 5\\
8 & 2 5 8 & \\
1 & 1 2 8 5 & 1 above 5, then above 2\\
4 & 1 2 8 5 4 & 4 stands below 2, and stays
\end{tabular}
\medskip

The smallest is always at the top. When it is taken out, the last number takes its place and sinks, on
the side of the smaller of the two below it: 4 comes to the top, 2 rises above it, and the array is
2 4 8 5. Taking out all of them gives 1, 2, 4, 5, 8.
\end{byhand}

@ The program does the same with these five numbers, and then fills a table with very many pairs and looks at
how crowded its slots are. The first can be followed with a finger; the second is the only thing about a hash table that can go wrong without
any answer being wrong.

@c
#include <stdio.h>
#include <string.h>
#include "lookups/table.h"
enum { PAIRS = 1000 };
@<Put five numbers into a heap, and take them out@>@;
@<Fill a table, and find its longest crowd@>@;
@#
int main(int argc, char **argv)
{
  struct memory m = @[{ .refuse_at = 0 }@];
  size_t room, crowd;
  if (!fill_table(&m, &room, &crowd)) return 1;
  if (argc > 1 && strcmp(argv[1], "values") == 0) {
    printf("lookups.pairs %d\nlookups.slots %zu\n", PAIRS, room);
    printf("lookups.crowd %zu\n", crowd);
    return 0;
  }
  if (!print_heap(&m)) return 1;
  printf("%d pairs in %zu slots, at most %zu in a row\n", PAIRS, room, crowd);
  return 0;
}

@ The five numbers of the hand calculation are first keys; the second key of an entry plays no
part here and is left at zero. The array is printed as it lies, and not as a tree: it is the array that a reader
of the box has on paper.

@<Put five numbers into a heap, and take them out@>=
static void print_entries(const struct heap *h)
{
  for (size_t i = 0; i < h->n; i++) printf(" %d", (int) h->e[i].first);
  printf("\n");
}

@ Each number goes in by itself, and what it has moved is seen at once; then the smallest is taken out until nothing is left. Both loops
end early if memory is refused, and the heap is returned in any case.

@<Put five numbers into a heap, and take them out@>=
static bool print_heap(struct memory *m)
{
  static const uint64_t five[] = @[{ 5, 2, 8, 1, 4 }@];
  struct heap h = @[{ NULL, 0, 0 }@];
  bool ok = true;
  for (size_t i = 0; ok && i < 5; i++) {
    ok = heap_push(m, &h, (struct entry) @[{ five[i], 0 }@], NULL);
    printf("in %d: ", (int) five[i]);
    print_entries(&h);
  }
  while (ok && h.n > 0) {
    printf("out %d:", (int) heap_pop(&h).first);
    print_entries(&h);
  }
  heap_free(m, &h);
  return ok;
}

@ Neighbouring ids are the worst that can happen to a bad rule, since they differ in few bits. So the
pairs are $(i, i+1)$. We count the longest run of used slots: a search that begins at its first one
and finds nothing looks at all of them.

@<Fill a table, and find its longest crowd@>=
static bool fill_table(struct memory *m, size_t *room, size_t *crowd)
{
  struct pair_map p = @[{ NULL, 0, 0 }@];
  bool ok = true;
  size_t run = 0;
  for (uint32_t i = 1; ok && i <= PAIRS; i++)
    ok = pair_map_put(m, &p, i, i + 1, i, NULL);
  for (uint32_t i = 1; ok && i <= PAIRS; i++)
    ok = pair_map_get(&p, i, i + 1) == i && pair_map_get(&p, i + 1, i) == 0;
  *crowd = 0, *room = p.room;
  for (size_t i = 0; i < p.room; i++) {
    run = p.slot[i].value != 0 ? run + 1 : 0;
    if (run > *crowd) *crowd = run;
  }
  pair_map_free(m, &p);
  return ok;
}

@* Pairs. \label{sec:pairs}
The first question is asked most: once for every two neighbours in a text. A \emph{hash table}
answers it in a few steps, however many pairs it holds. It is an array of slots; from the pair we
compute the number of a slot, by a rule that sends similar pairs to places far apart, and
begin to look there. A value of 0 marks a free slot, which is why the numbers in a table begin with 1; a flag of its own would make
every slot a third larger.
@^hash table@>

@<A table from pairs to numbers@>=
struct pair_slot { uint32_t left, right, value; };
  /* a pair and its value; 0: the slot is free */
struct pair_map { struct pair_slot *slot; size_t room, used; };
  /* |room| slots, a power of two, at most half of them used; a slot whose
     value is 0 is free; all zero is an empty table */
bool pair_map_put(struct memory *m, struct pair_map *p, uint32_t left,
  uint32_t right, uint32_t value, struct error *why);
  /* enters |value| $\ge 1$ for a pair, in place of an older one */
uint32_t pair_map_get(const struct pair_map *p, uint32_t left, uint32_t right);
  /* the value of a pair, 0 if there is none */
void pair_map_free(struct memory *m, struct pair_map *p);
  /* returns the block and empties the table */

@ A pair's place is told by a product: the pair as one number of 64 bits, times a large odd
constant, of which we take bits from the middle, where all bits of both ids have had their
influence. If the place is taken by another pair, the next one is tried, and so on around the
table. When a share $\alpha$ of the slots is used, a search that finds nothing looks at ${1\over2}\bigl({1+1/(1-\alpha)^2}\bigr)$ of them on
average, if the rule is as good as chance (Knuth). At one half that is two and a half; at nine tenths it would be twenty times as many. That is why half
of the slots are left free.
@^linear probing@>

@<Find a pair's slot, or the free one where it belongs@>=
static size_t pair_place(const struct pair_map *p, uint32_t left, uint32_t right)
{
  uint64_t h = ((uint64_t) left << 32 | right) * UINT64_C(0x9e3779b97f4a7c15);
  size_t i = (size_t) (h >> 32) & (p->room - 1);
  while (p->slot[i].value != 0
      && (p->slot[i].left != left || p->slot[i].right != right))
    i = (i + 1) & (p->room - 1);
  return i;
}
@#
uint32_t pair_map_get(const struct pair_map *p, uint32_t left, uint32_t right)
{
  return p->room == 0 ? 0 : p->slot[pair_place(p, left, right)].value;
}

@ A table that would become more than half full is replaced by one of twice the size. Its slots
are not copied but entered again, because with more places every pair may have another one. All doublings together enter again fewer than two pairs
for each that the table holds in the end, since each has half as many to do as the next.

@<Give a table of pairs twice the room@>=
static bool pair_map_grow(struct memory *m, struct pair_map *p, struct error *why)
{
  struct pair_map larger = @[{ NULL, p->room == 0 ? 64 : 2 * p->room, p->used }@];
  larger.slot = memory_take(m, FOR_TOKENS, larger.room, sizeof *larger.slot, why);
  if (larger.slot == NULL) return false;
  for (size_t i = 0; i < p->room; i++) {
    const struct pair_slot *s = &p->slot[i];
    if (s->value != 0) larger.slot[pair_place(&larger, s->left, s->right)] = *s;
  }
  pair_map_free(m, p);
  *p = larger;
  return true;
}

@ To enter is to find the place and to write there; whether something stood there before tells
us whether one more slot is in use. Nothing is ever taken out of a table. That would be the one hard thing about this kind: a slot that became free in the
middle of a crowd would end searches that have to go on.

@<Enter a pair, and return the table@>=
bool pair_map_put(struct memory *m, struct pair_map *p, uint32_t left,
  uint32_t right, uint32_t value, struct error *why)
{
  if (2 * (p->used + 1) > p->room && !pair_map_grow(m, p, why)) return false;
  struct pair_slot *s = &p->slot[pair_place(p, left, right)];
  if (s->value == 0) p->used++;
  *s = (struct pair_slot) @[{ left, right, value }@];
  return true;
}
@#
void pair_map_free(struct memory *m, struct pair_map *p)
{
  memory_give(m, FOR_TOKENS, p->slot, p->room, sizeof *p->slot);
  *p = (struct pair_map) @[{ NULL, 0, 0 }@];
}

@* Names. \label{sec:names}
The second table is the same with rows of letters for keys. It doesn't own the letters; it
points to where they stand, so they must stay there for as long as the table is used.

@<A table from letters to numbers@>=
struct name_slot { const unsigned char *byte; size_t n; uint32_t value; };
  /* |n| bytes and their value; 0: the slot is free */
struct name_map { struct name_slot *slot; size_t room, used; };
  /* like |struct pair_map|; the bytes belong to the caller and stay where they are */
bool name_map_put(struct memory *m, struct name_map *p, const unsigned char *byte,
  size_t n, uint32_t value, struct error *why);
  /* enters |value| $\ge 1$ for a row of |n| bytes, in place of an older one */
uint32_t name_map_get(const struct name_map *p, const unsigned char *byte,
  size_t n);
  /* the value of a row, 0 if there is none */
void name_map_free(struct memory *m, struct name_map *p);
  /* returns the block and empties the table */

@ The place of a row is computed from all of its bytes, each multiplied into what the earlier
ones left: the function known as FNV-1a.\side{Fowler, Noll and Vo, 1991. Its constants
are a prime and an offset that were chosen by trying.} A product carries upwards only, so that its lowest bits know nothing of
the upper bits of any letter. Since the place is taken from the lowest bits, the upper half is first folded over them.
@^hash function@>

@<Find a row's slot, or the free one where it belongs@>=
static size_t name_place(const struct name_map *p, const unsigned char *byte,
  size_t n)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t k = 0; k < n; k++) h = (h ^ byte[k]) * UINT64_C(0x100000001b3);
  size_t i = (size_t) (h ^ h >> 32) & (p->room - 1);
  while (p->slot[i].value != 0 && (p->slot[i].n != n
      || memcmp(p->slot[i].byte, byte, n) != 0))
    i = (i + 1) & (p->room - 1);
  return i;
}
@#
uint32_t name_map_get(const struct name_map *p, const unsigned char *byte, size_t n)
{
  return p->room == 0 ? 0 : p->slot[name_place(p, byte, n)].value;
}

@ Growing follows the same steps as before. We could have written both tables once, with a
pointer to a function for the comparison; two short functions are easier to read than one
with such a pointer.

@<Give a table of names twice the room@>=
static bool name_map_grow(struct memory *m, struct name_map *p, struct error *why)
{
  struct name_map larger = @[{ NULL, p->room == 0 ? 64 : 2 * p->room, p->used }@];
  larger.slot = memory_take(m, FOR_TOKENS, larger.room, sizeof *larger.slot, why);
  if (larger.slot == NULL) return false;
  for (size_t i = 0; i < p->room; i++) {
    const struct name_slot *s = &p->slot[i];
    if (s->value != 0) larger.slot[name_place(&larger, s->byte, s->n)] = *s;
  }
  name_map_free(m, p);
  *p = larger;
  return true;
}

@ What |pair_map_put| does for two numbers, this does for a row of letters; an older entry's
letters are forgotten in favour of the new ones, which are equal to them. So whoever enters a name again may give up the place where it stood before.

@<Enter a name, and return the table@>=
bool name_map_put(struct memory *m, struct name_map *p, const unsigned char *byte,
  size_t n, uint32_t value, struct error *why)
{
  if (2 * (p->used + 1) > p->room && !name_map_grow(m, p, why)) return false;
  struct name_slot *s = &p->slot[name_place(p, byte, n)];
  if (s->value == 0) p->used++;
  *s = (struct name_slot) @[{ byte, n, value }@];
  return true;
}
@#
void name_map_free(struct memory *m, struct name_map *p)
{
  memory_give(m, FOR_TOKENS, p->slot, p->room, sizeof *p->slot);
  *p = (struct name_map) @[{ NULL, 0, 0 }@];
}

@* What comes next. \label{sec:heap}
The third structure answers ``what comes next?''. It is a heap of entries with two keys
each: the first decides, and where it is equal, the second. The encoder will use rank
and place, the learner count and pair; for both, the smallest entry is the next. With one key only, it would be left to the history of the heap
which of two equals comes first, and a vocabulary must not depend on that.

@<A heap of things to do@>=
struct entry { uint64_t first, second; };
  /* what a heap orders: by |first|, of equals by |second| */
struct heap { struct entry *e; size_t n, room; };
  /* |e[0]| is the smallest; |e[i]| is not larger than |e[2*i + 1]| and
     |e[2*i + 2]|; all zero is empty */
bool heap_push(struct memory *m, struct heap *h, struct entry e, struct error *why);
  /* puts an entry in; on failure the heap is as it was */
struct entry heap_pop(struct heap *h);
  /* takes the smallest of |h->n| $\ge 1$ entries out */
void heap_free(struct memory *m, struct heap *h);
  /* returns the block and empties the heap */

@ The order of two entries, in the one place that knows it. The learner wants the largest count first and not the smallest; it enters the complement of a count.

@<Put an entry into the heap@>=
static bool comes_before(struct entry a, struct entry b)
{
  return a.first < b.first || (a.first == b.first && a.second < b.second);
}

@ A new entry begins at the end and rises: as long as the entry above it is larger, that one comes
down. The way up is as long as the heap is deep, the logarithm of its size. The new entry is written once, when its place
is known; until then a hole rises in its stead.

@<Put an entry into the heap@>=
bool heap_push(struct memory *m, struct heap *h, struct entry e, struct error *why)
{
  if (h->n == h->room) {
    size_t room = 2 * h->room + 32;
    struct entry *p = memory_grow(m, FOR_TOKENS, h->e, h->room, room, sizeof *p,
      why);
    if (p == NULL) return false;
    h->e = p, h->room = room;
  }
  size_t i = h->n++;
  for (; i > 0 && comes_before(e, h->e[(i - 1) / 2]); i = (i - 1) / 2)
    h->e[i] = h->e[(i - 1) / 2];
  h->e[i] = e;
  return true;
}

@ When the smallest is taken out, the last entry takes the free place at the top and sinks,
always to the side of the smaller of its two followers, until neither comes before it. On the other side the larger of the two would come to
stand above the smaller.

@<Take the smallest entry out@>=
struct entry heap_pop(struct heap *h)
{
  struct entry top = h->e[0], last = h->e[--h->n];
  size_t i = 0;
  for (;;) {
    size_t next = 2 * i + 1;
    if (next + 1 < h->n && comes_before(h->e[next + 1], h->e[next])) next++;
    if (next >= h->n || !comes_before(h->e[next], last)) break;
    h->e[i] = h->e[next];
    i = next;
  }
  h->e[i] = last;
  return top;
}
@#
void heap_free(struct memory *m, struct heap *h)
{
  memory_give(m, FOR_TOKENS, h->e, h->room, sizeof *h->e);
  *h = (struct heap) @[{ NULL, 0, 0 }@];
}

@ So much for the tools. None of them knows what it is used for, and none will be mentioned
again except by name.

@(table.h@>=
#ifndef INCIPIT_TABLE_H
#define INCIPIT_TABLE_H
#include "ground/ground.h"
@<A table from pairs to numbers@>@;
@<A table from letters to numbers@>@;
@<A heap of things to do@>@;
#endif

@ In the file each function stands before the first that calls it; growing calls |free|, which
the header has announced.

@(table.c@>=
#include <string.h>
#include "lookups/table.h"
@<Find a pair's slot, or the free one where it belongs@>@;
@<Give a table of pairs twice the room@>@;
@<Enter a pair, and return the table@>@;
@<Find a row's slot, or the free one where it belongs@>@;
@<Give a table of names twice the room@>@;
@<Enter a name, and return the table@>@;
@<Put an entry into the heap@>@;
@<Take the smallest entry out@>@;

@ What the program prints. Of \val{lookups.slots} slots \val{lookups.pairs} are used, and no search looks
at more than \val{lookups.crowd} and one.

\checkpoint{build/out/lookups.txt}{five things to do, and a crowd}

@* Exercises. \label{sec:lookupsexercises}
The first two are done with a pencil, and the command beside each lets the program do the same.

\begin{exercises}
\exercise{check}{ex:lookups.heap}{The numbers 5, 3, 8 and 1 are pushed into an empty heap, in this order. How do they lie in it, and how after the smallest was
taken out?}{\texttt{make exercise-W23-1}}{1, 3, 8, 5: the 1 rises past the 5 and the 3. Then 3, 5, 8: the last one, 5, sinks from the top below the 3.}
\exercise{think}{ex:lookups.room}{A table of pairs begins with 64 slots and doubles before more than half of them would be used. How many has it after 100 pairs, and how often were all
pairs put in again? How much work is that for each pair, at the most, however many there are?}{\texttt{make exercise-W23-2}}{256, and twice, at 33 and at 65. Each doubling moves as many pairs as are
there, and there are twice as many as at the last one; so all moves together are fewer than two for each pair that came.}
\exercise{build}{ex:lookups.smallest}{Write the function that finds the $k$ smallest of $n$ numbers, in rising order, with a heap that never holds more than
$k+1$.}{\texttt{make exercise-W23-3}}{The heap has the smallest on top, and we want to throw the largest away: so each number goes in as its distance from the largest number there is. \Cref{sec:heap} takes
out the smallest of those, which is the largest of ours.}
\end{exercises}
