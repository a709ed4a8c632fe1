@i types.w

\chapterquestion{What are merges worth, and what does finding them cost?}
@** Experiments on tokenization. \label{lab:tokens}
\incipit{F}{our questions} of chapter 1 are answered by counting. How much shorter does a text become with each merge, on the page that was learnt from and on
another? How often does an encoder look into the table of ranks, if it does what the definition says, and if it is clever? How crowded are
the slots of a hash table that is half full? And how many tokens is a word, in English, in German and in C? No clock is read, so everything here is the same on every machine.

Without a word the program prints the check of the chapter on a longer page. The word |"values"| prints the keys, and each of the other four words the points of one figure.

@c
#include <stdio.h>
#include <string.h>
#include "lookups/split.h"
#include "tokens/bpe.h"
#include "laboratory/kit.h"
@<The texts@>@;
@<A lesson@>@;
@<Print the check@>@;
@<Count looks, the slow way and the fast way@>@;
@<Fill a table, and find its longest run@>@;
@<Print the numbers that the prose quotes@>@;
@<Print the points of the figures@>@;
@#
int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (argc == 1)@+ return print_check();
  if (strcmp(what, "values") == 0)@+ return print_values();
  if (strcmp(what, "growth") == 0)@+ return print_growth();
  if (strcmp(what, "shrink") == 0)@+ return print_shrink();
  if (strcmp(what, "work") == 0)@+ return print_work();
  if (strcmp(what, "stream") == 0)@+ return print_held();
  return 1;
}

@* A lesson, and the check on a page. \label{lab:tokenscheck}
The texts are the line of the hand calculation; a page about a cat; a page of the same words that is never learnt from; the first sentence of the cat's page; and a price with a euro sign, spelt as UTF-8.

@<The texts@>=
static const char hand_line[] = "the cat that sat";
static const char story[] =@|
  "The cat sat on the mat."@| " The rat sat on the "@| "cat.\n"@|
  "The cat sat up and "@| "the rat ran. That is "@| "that,\n"@|
  "said the cat, and sat "@| "on the mat.\n";
static const char news[] =@|
  "Then the hat ran up to "@| "the oat. A man has sat "@|
  "there and has seen a\n"@|
  "star on the path: what "@| "is that? said the man, "@|
    "and he sat at last on\n"@|
  "the hat.\n";
static const char sentence[] = "The cat sat on the "@| "mat.";
static const char price[] = "on \xe2\x82\xac" "9";
enum {@+ HAND_MERGES = 9, STORY_MERGES = 24@+ };

@ A \emph{lesson} is everything that learning from a text leads to: the merges, an encoder made of them, a splitter
and a workspace.

@<A lesson@>=
struct lesson {@+ struct bpe_merge *merge;@+ size_t n, asked;
  struct bpe rules;@+ struct bpe_work work;
  struct splitter *by;@+ struct split_work cut;@+ };
  /* |n| merges in a block of |asked|, and what encodes with them */

@ Learning is the trainer, the encoder made of its merges, and the pattern.

@<A lesson@>=
static bool lesson_learn(struct memory *m, const char *text,
  size_t merges, struct lesson *l)
{
  struct error why;
  *l = (struct lesson) @[{ .asked = merges, .cut = { .m = m } }@];
  if (bpe_train(m, text, strlen(text), split_gpt2, merges, &l->merge,
    &l->n, &why) && bpe_learnt(m, &l->rules, l->merge, l->n, &why)
    && (l->by = splitter_open(m, split_gpt2, strlen(split_gpt2),
      false, &why)))@+ return true;
  fprintf(stderr, "%s\n", why.text);
  return false;
}
static void lesson_forget(struct memory *m, struct lesson *l)
{
  split_work_free(&l->cut);
  splitter_close(l->by);
  bpe_work_free(m, &l->work);
  bpe_free(m, &l->rules);
  bpe_forget(m, l->merge);
}

@ A text is cut, and each piece encoded. Often we only want to know how many ids it is.

@<A lesson@>=
static bool lesson_encode(struct memory *m, struct lesson *l,
  const char *text, struct ids *out)
{
  struct pieces p;
  struct text_piece next;
  pieces_begin(&p, l->by, &l->cut, (const unsigned char *) text,
    strlen(text));
  while (pieces_next(&p, &next, NULL) && next.n > 0)
    if (!bpe_encode(&l->rules, m, &l->work, next.byte, next.n, out,
      NULL))@+ return false;
  return next.n == 0;
}
static size_t lesson_count(struct memory *m, struct lesson *l,
  const char *text)
{
  struct ids list = @[{ NULL, 0, 0 }@];
  lesson_encode(m, l, text, &list);
  size_t n = list.n;
  ids_free(m, &list);
  return n;
}

@ To print a token we must make it visible: a low line for the space, and the number in angle brackets for a byte that
cannot be shown. The stream is fed token by token, and prints one step for each.

@<A lesson@>=
static size_t lesson_show(struct memory *m, const struct lesson *l,
  uint32_t id, char buffer[64])
{
  struct bytes b = @[{ NULL, 0, 0 }@];
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
static void lesson_stream(struct memory *m, struct lesson *l, const char *text,
  const char *format)
{
  struct ids list = @[{ NULL, 0, 0 }@];
  struct stream s = @[{ .n = 0 }@];
  lesson_encode(m, l, text, &list);
  for (size_t i = 0; i < list.n; i++) {
    struct bytes token = @[{ NULL, 0, 0 }@], out = token;
    bpe_spell(m, l->merge, list.id[i], &token, NULL);
    stream_feed(m, &s, token.byte, token.n, &out, NULL);
    printf(format, (unsigned) list.id[i], out.n, s.n);
    bytes_free(m, &token);
    bytes_free(m, &out);
  }
  ids_free(m, &list);
}

@ The way back expands every id.

@<Print the check@>=
static bool decode(struct memory *m, const struct lesson *l,
  const struct ids *list, struct bytes *out)
{
  for (size_t i = 0; i < list->n; i++)
    if (!bpe_spell(m, l->merge, list->id[i], out, NULL))@+ return false;
  return true;
}

@ The merges are printed four in a line, each with its id and its two halves. Ids are printed beside the text that they came from, and the way back is tested at once; a difference decides the status with which the program
ends, because a build does not read what a program prints.

@<Print the check@>=
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
  struct ids list = @[{ NULL, 0, 0 }@];
  struct bytes back = @[{ NULL, 0, 0 }@];
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

@ Without a word the program prints the check: the merges of both texts, four texts as ids and back, and the price as a stream.

@<Print the check@>=
static int print_check(void)
{
  struct memory m = @[{ .fail_at = 0 }@];
  struct lesson hand, cat;
  if (!lesson_learn(&m, hand_line, HAND_MERGES, &hand))@+ return 1;
  printf("%zu merges from `%s'\n", hand.n, hand_line);
  print_merges(&m, &hand);
  bool ok = print_ids(&m, &hand, "that");
  lesson_forget(&m, &hand);
  if (!lesson_learn(&m, story, STORY_MERGES, &cat))@+ return 1;
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

@* Lookups of a hash table, counted. \label{lab:tokenslooks}
The definition of encoding, done literally: look at all neighbours, merge the pair of lowest rank, repeat. This function
counts its looks into the same table as the fast encoder, so the two counts can be compared. In the tests a program like this
judges the fast one, on very many random texts and lists.

@<Count looks, the slow way and the fast way@>=
static uint64_t slow_looks(const struct bpe *b, uint32_t *id,
  size_t n)
{
  uint64_t looks = 0;
  for (;;) {
    uint32_t best = UINT32_MAX;
    size_t at = 0;
    for (size_t i = 0; i + 1 < n; i++, looks++) {
      uint32_t rank = pair_map_get(&b->place, id[i], id[i + 1]);
      if (rank != 0 && rank < best) best = rank, at = i;
    }
    if (best == UINT32_MAX)@+ return looks;
    id[at] = b->rule[best - 1].made;
    memmove(id + at + 1, id + at + 2, (n - at - 2) * sizeof *id);
    n--;
  }
}

@ Both encode a row of equal letters with merges that double: \tok{aa}, \tok{aaaa}, and so on. There are ten such merges, and $2^{10}$ letters in the longest
row, which becomes a single token in the end. The row is one piece; patterns have no part in this. A look is the same on every machine, so the numbers are too.

@<Count looks, the slow way and the fast way@>=
enum { LONGEST = 1024 };
static bool count_looks(struct memory *m, size_t n, uint64_t *slow,
  uint64_t *fast)
{
  struct bpe b = @[{ .n = 0 }@];
  struct bpe_work w = @[{ .lookups = 0 }@];
  struct ids out = @[{ NULL, 0, 0 }@];
  unsigned char letter[LONGEST];
  uint32_t id[LONGEST];
  bool ok = true;
  memset(letter, 'a', n);
  for (uint32_t i = 0; i < 256; i++) b.byte_id[i] = i;
  for (size_t i = 0; i < n; i++) id[i] = 'a';
  @<Add ten merges that double@>@;
  ok = ok && bpe_encode(&b, m, &w, letter, n, &out, NULL);
  *fast = w.lookups, *slow = slow_looks(&b, id, n);
  ids_free(m, &out);
  bpe_work_free(m, &w);
  bpe_free(m, &b);
  return ok;
}

@ The first merge joins two letters; each of the others joins two of the tokens that the one before it has made.

@<Add ten merges that double@>=
for (uint32_t k = 0; ok && k < 10; k++)
  ok = bpe_add(m, &b, k == 0 ? 'a' : 255 + k,
    k == 0 ? 'a' : 255 + k, 256 + k, NULL);

@* Occupied slots. \label{lab:tokenscrowd}
To see how crowded a hash table is, we enter the pairs $(i, i+1)$, find each of them again, and look for the longest run of used slots.
None of the pairs $(i+1, i)$ may be found.

@<Fill a table, and find its longest run@>=
enum { PAIRS = 1000 };
static bool fill_table(struct memory *m, size_t *buffer, size_t *max_len)
{
  struct pair_map p = @[{ NULL, 0, 0 }@];
  bool ok = true;
  size_t run = 0;
  for (uint32_t i = 1; ok && i <= PAIRS; i++)
    ok = pair_map_put(m, &p, i, i + 1, i, NULL);
  for (uint32_t i = 1; ok && i <= PAIRS; i++)
    ok = pair_map_get(&p, i, i + 1) == i && pair_map_get(&p, i + 1, i) == 0;
  *max_len = 0, *buffer = p.cap;
  for (size_t i = 0; i < p.cap; i++) {
    run = p.slot[i].value != 0 ? run + 1 : 0;
    if (run > *max_len) *max_len = run;
  }
  pair_map_free(m, &p);
  return ok;
}

@* The keys. \label{lab:tokenskeys}
The numbers in the prose of chapter 1 are what the hand calculation and the page about the cat contain, the looks, the slots, and three published
vocabularies, each the sum of what it was made from. The build stops if the prose asks for a key that is not printed here.

@<Print the numbers that the prose quotes@>=
@<Print the keys of the story@>@;
@<Print the sizes of published vocabularies@>@;
@<Print tokens per word@>@;
@#
static int print_values(void)
{
  struct memory m = @[{ .fail_at = 0 }@];
  struct lesson hand, cat;
  uint64_t slow, fast;
  size_t cap, max_len;
  if (!lesson_learn(&m, hand_line, HAND_MERGES, &hand)
    || !lesson_learn(&m, story, STORY_MERGES, &cat)
    || !count_looks(&m, LONGEST, &slow, &fast)
    || !fill_table(&m, &cap, &max_len)) return 1;
  printf("tokens.bytes 256\ntokens.looks.n %d\n", LONGEST);
  printf("tokens.looks.slow %d\ntokens.looks.fast %d\n", (int) slow,
    (int) fast);
  printf("tokens.hand.merges %zu\n", hand.n);
  printf("tokens.hand.that %zu\n", lesson_count(&m, &hand, "that"));
  print_story_keys(&m, &cat);
  print_published();
  if (!print_words())@+ return 1;
  printf("lookups.pairs %d\nlookups.slots %zu\n", PAIRS, cap);
  printf("lookups.crowd %zu\n", max_len);
  lesson_forget(&m, &hand);
  lesson_forget(&m, &cat);
  return 0;
}

@ The keys of the page come from encoding, not from counting by hand. Two of them decide claims of the tutorials, and the version of Unicode is
that of the PCRE2 that this book was made with.

@<Print the keys of the story@>=
static void print_story_keys(struct memory *m, struct lesson *cat)
{
  char unicode[24];
  splitter_unicode(unicode);
  printf("tokens.unicode %s\n", unicode);
  printf("tokens.story.merges %zu\n", cat->n);
  printf("tokens.story.bytes %zu\n", strlen(story));
  printf("tokens.story.ids %zu\n", lesson_count(m, cat, story));
  printf("tokens.news.bytes %zu\n", strlen(news));
  printf("tokens.news.ids %zu\n", lesson_count(m, cat, news));
  printf("tokens.sentence.bytes %zu\n", strlen(sentence));
  printf("tokens.sentence.ids %zu\n", lesson_count(m, cat, sentence));
  printf("tokens.cat.ids %zu\n", lesson_count(m, cat, "The cat sat"));
  printf("tokens.euro.ids %zu\n", lesson_count(m, cat, "\xe2\x82\xac"));
  printf("claim.S3-52 %zu\n", lesson_count(m, cat, "\xe2\x82\xac"));
  printf("claim.S4-03 %zu\n", lesson_count(m, cat, " on the mat"));
}

@ A published vocabulary has an id for each byte, merge and special text. (OpenAI's second vocabulary numbers its five special
texts with a gap; what counts for a model is the largest number plus one.)

@<Print the sizes of published vocabularies@>=
static void print_published(void)
{
  static const struct { const char *name, *claim; int merges,
    special; } list[] = @[{ { "gpt2", NULL, 50000, 1 },@|
      { "llama3", "S1-04", 127744, 256 },@|
      { "cl100k", "S3-02", 100000, 21 } }@];
  for (size_t i = 0; i < 3; i++) {
    int size = 256 + list[i].merges + list[i].special;
    printf("tokens.%s %d\n", list[i].name, size);
    printf("tokens.%s.merges %d\n", list[i].name, list[i].merges);
    printf("tokens.%s.special %d\n", list[i].name, list[i].special);
    if (list[i].claim != NULL) printf("claim.%s %d\n", list[i].claim,
      size);
  }
}

@ Words and bytes per token were counted once, with four vocabularies that cannot be part of this book; \.{tools/wordcounts.lua} does it, and a test repeats it where the vocabularies are. The texts are
in \.{tests/texts}: a page on manuscripts, the same in German, and |utf8_next|. What is printed are ratios: tokens per word, bytes per token, and the tokens of the German page for each token of the English one.

@<Print tokens per word@>=
enum { COUNTED = 15 };
struct word_counts { double english; size_t printed; };
static bool print_count(void *ctx, const char *line)
{
  struct word_counts *c = ctx;
  char name[16], text[16];
  unsigned words, bytes, tokens;
  if (sscanf(line, "%15[^,],%15[^,],%u,%u,%u", name, text, &words, &bytes,
    &tokens) != 5) return false;
  printf("tokens.words.%s.%s %.4f\n", name, text, (double) tokens / words);
  printf("tokens.width.%s.%s %.4f\n", name, text, (double) bytes / tokens);
  if (c->printed++ < 3) printf("tokens.words.%s %u\n", text, words);
  if (strcmp(text, "english") == 0) c->english = tokens;
  if (strcmp(text, "german") == 0)
    printf("tokens.german.%s %.4f\n", name, tokens / c->english);
  return true;
}
static bool print_words(void)
{
  struct word_counts c = @[{ 0, 0 }@];
  struct error why;
  if (data_read("tokens.words", print_count, &c, COUNTED, &why))
    return true;
  fprintf(stderr, "%s\n", why.text);
  return false;
}

@* Points of the figures. \label{lab:tokensfigures}
\Cref{fig:merges} needs, after some numbers of merges, where each token of the sentence begins and
how long it is. We learn from the beginning each time, which costs
nothing with a page of three lines and shows that the first $k$ merges do not depend on how many are learnt after them.

@<Print the points of the figures@>=
static bool print_row(struct memory *m, size_t merges)
{
  struct lesson l;
  struct ids list = @[{ NULL, 0, 0 }@];
  size_t at = 0, n;
  if (!lesson_learn(m, story, merges, &l))@+ return false;
  bool ok = lesson_encode(m, &l, sentence, &list);
  for (size_t i = 0; i < list.n; at += n, i++) {
    char buffer[64];
    n = lesson_show(m, &l, list.id[i], buffer);
    printf("%zu,%zu,%zu,%s\n", merges, at, n, buffer);
  }
  ids_free(m, &list);
  lesson_forget(m, &l);
  return ok;
}

@ The numbers of merges are those at which the sentence changes; between two of them there are merges that this sentence has no use for.

@<Print the points of the figures@>=
static int print_growth(void)
{
  static const size_t level[] = @[{ 0, 1, 2, 4, 5, 6, 8, 11, 13,
    18 }@];
  struct memory m = @[{ .fail_at = 0 }@];
  printf("merges,from,length,text\n");
  for (size_t i = 0; i < sizeof level / sizeof *level; i++)
    if (!print_row(&m, level[i]))@+ return 1;
  return 0;
}

@ \Cref{fig:shrink} has two curves, bytes per id against merges, for the page that was learnt from and for the news.

@<Print the points of the figures@>=
enum { MANY = 40 };
static int print_shrink(void)
{
  struct memory m = @[{ .fail_at = 0 }@];
  printf("merges,story,news\n");
  for (size_t k = 0; k <= MANY; k++) {
    struct lesson l;
    if (!lesson_learn(&m, story, k, &l))@+ return 1;
    printf("%zu,%.4f,%.4f\n", k,@|
      (double) strlen(story) / (double) lesson_count(&m, &l, story),@|
      (double) strlen(news) / (double) lesson_count(&m, &l, news));
    lesson_forget(&m, &l);
  }
  return 0;
}

@ For \cref{fig:work}, looks against the length of a row of letters, the length doubles from point to point, so that the points
are at equal distances on a logarithmic axis.

@<Print the points of the figures@>=
static int print_work(void)
{
  struct memory m = @[{ .fail_at = 0 }@];
  printf("n,slow,fast\n");
  for (size_t n = 2; n <= LONGEST; n *= 2) {
    uint64_t slow, fast;
    if (!count_looks(&m, n, &slow, &fast))@+ return 1;
    printf("%zu,%d,%d\n", n, (int) slow, (int) fast);
  }
  return 0;
}

@ \Cref{fig:stream} shows the stream of the checkpoint, with a line for each step. It is fed by the same function as the checkpoint, so that the two cannot
differ.

@<Print the points of the figures@>=
static int print_held(void)
{
  struct memory m = @[{ .fail_at = 0 }@];
  struct lesson cat;
  if (!lesson_learn(&m, story, STORY_MERGES, &cat))@+ return 1;
  printf("id,released,held\n");
  lesson_stream(&m, &cat, price, "%u,%zu,%zu\n");
  lesson_forget(&m, &cat);
  return 0;
}

@* Claims of the tutorials. \label{lab:tokensclaims}
The chapter has two boxes. This is the other one.

\begin{claimed}{S4-03}
The program counts \val{claim.S4-03} tokens in \texttt{\textvisiblespace on the mat}, one a word. The fourth is the full stop, which the quoted text
does not have; the article writes it in its last step.
\end{claimed}
