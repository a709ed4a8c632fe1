/* Chapter 1: bytes, characters, pieces, merges. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include "tokens.h"
#include "tokens/unique.h"
#include "tokenizer/tokenizer_internal.h"

static struct split_work W = { .m = &M }; /* of all cuttings, one inside another too */

/* ---- UTF-8 ------------------------------------------------------------------------------ */

/* the rule said another way: is there a continuation of these bytes that is one character? */
static bool decodes(const unsigned char *b, size_t n)
{
  uint32_t c;
  if (n == 1 && b[0] < 0x80) return true;
  if (n == 2 && (b[0] & 0xe0) == 0xc0)
    c = (uint32_t) (b[0] & 31) << 6 | (b[1] & 63);
  else if (n == 3 && (b[0] & 0xf0) == 0xe0)
    c = (uint32_t) (b[0] & 15) << 12 | (uint32_t) (b[1] & 63) << 6 | (b[2] & 63);
  else if (n == 4 && (b[0] & 0xf8) == 0xf0)
    c = (uint32_t) (b[0] & 7) << 18 | (uint32_t) (b[1] & 63) << 12 | (uint32_t) (b[2] & 63) << 6
      | (b[3] & 63);
  else
    return false;
  for (size_t i = 1; i < n; i++)
    if ((b[i] & 0xc0) != 0x80) return false;
  static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
  return c >= least[n] && c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff);
}
static bool completable(const unsigned char *b, size_t n)
{
  static signed char known[65536 + 256]; /* of one and of two bytes, remembered */
  size_t key = n == 1 ? b[0] : 256 + (size_t) b[0] * 256 + b[n > 1];
  if (n < 3 && known[key]) return known[key] > 0;
  unsigned char x[4];
  memcpy(x, b, n);
  bool yes = false;
  for (size_t total = n + 1; total <= 4 && !yes; total++) {
    uint32_t tries = total - n == 1 ? 64 : total - n == 2 ? 4096 : 262144;
    for (uint32_t k = 0; k < tries && !yes; k++) {
      for (size_t i = n; i < total; i++)
        x[i] = (unsigned char) (0x80 | (k >> 6 * (total - 1 - i) & 63));
      yes = decodes(x, total);
    }
  }
  if (n < 3) known[key] = yes ? 1 : -1;
  return yes;
}

START_TEST(utf8_agrees_with_the_definition_on_all_short_rows)
{
  static const unsigned char interesting[] = { 0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
    0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf8,
    0xff };
  size_t many = sizeof interesting, cases = 0;
  unsigned char row[4];
  for (size_t n = 1; n <= 4; n++) {
    size_t all = 1;
    for (size_t i = 0; i < n; i++) all *= many;
    for (size_t k = 0; k < all; k++, cases++) {
      size_t rest = k;
      for (size_t i = 0; i < n; i++, rest /= many) row[i] = interesting[rest % many];
      enum utf8_state state;
      size_t got = utf8_next(row, n, &state);
      size_t whole = 0;
      for (size_t i = 1; i <= n; i++)
        if (decodes(row, i)) {
          whole = i;
          break;
        }
      if (whole) {
        hold(state == UTF8_WHOLE);
        hold(got == whole);
        continue;
      }
      size_t prefix = 0; /* the longest beginning that could have become a character */
      for (size_t i = 1; i <= n && i < 4 && completable(row, i); i++) prefix = i;
      hold(state == (prefix == n ? UTF8_UNFINISHED : UTF8_BROKEN));
      hold(got == (prefix ? prefix : 1));
    }
  }
  ck_assert_uint_gt(cases, 400000);
}
END_TEST

START_TEST(every_character_has_its_number)
{
  for (uint32_t c = 0; c <= 0x10ffff; c++) {
    if (c >= 0xd800 && c <= 0xdfff) continue;
    unsigned char b[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (n == 1)
      b[0] = (unsigned char) c;
    else {
      for (size_t i = n - 1, d = c; i > 0; i--, d >>= 6) b[i] = (unsigned char) (0x80 | (d & 63));
      b[0] = (unsigned char) (0xf00 >> n | c >> 6 * (n - 1));
    }
    enum utf8_state state;
    hold(utf8_next(b, n, &state) == n);
    hold(state == UTF8_WHOLE);
    hold(utf8_point(b, n) == c);
    hold(utf8_held(b, n) == 0);
    for (size_t k = 1; k < n; k++) hold(utf8_held(b, k) == k);
  }
}
END_TEST

START_TEST(utf8_vectors)
{
  char buffer[400];
  const char *path = shared_file(buffer, sizeof buffer, "vectors/utf8/replacement.json");
  if (path != NULL) {
    json_t *all = load(path), *c;
    unsigned good = 0;
    size_t i;
    json_array_foreach(json_object_get(all, "cases"), i, c)
    {
      unsigned char b[256];
      size_t n = unhex(json_string_value(json_object_get(c, "hex")), b);
      struct bytes out = { 0 };
      ck_assert(utf8_lossy(&M, b, n, &out, NULL));
      json_t *text = json_object_get(c, "text");
      ck_assert_uint_eq(out.n, json_string_length(text));
      if (out.n) ck_assert_mem_eq(out.byte, json_string_value(text), out.n);
      ck_assert_uint_eq(
        utf8_held(b, n), (size_t) json_integer_value(json_object_get(c, "incomplete_tail")));
      bool whole = true;
      if (n > 0) whole = utf8_run(b, n, &whole) == n && whole;
      ck_assert_int_eq(whole, json_is_true(json_object_get(c, "valid")));
      bytes_free(&M, &out);
      good++;
    }
    tally("vectors/utf8/replacement.json", good, 0, 0, "");
    json_decref(all);
  }
  path = shared_file(buffer, sizeof buffer, "vectors/utf8/byte_fallback.json");
  if (path != NULL) {
    json_t *all = load(path), *c, *t;
    unsigned good = 0, otherwise = 0;
    size_t i, k;
    json_array_foreach(json_object_get(all, "cases"), i, c)
    {
      struct bytes raw = { 0 }, out = { 0 };
      json_array_foreach(json_object_get(c, "tokens"), k, t)
      {
        const char *s = json_string_value(t);
        unsigned v;
        unsigned char one;
        if (strlen(s) == 6 && sscanf(s, "<0x%2X>", &v) == 1)
          one = (unsigned char) v, bytes_push(&M, &raw, &one, 1, NULL);
        else
          bytes_push(&M, &raw, s, strlen(s), NULL);
      }
      ck_assert(utf8_lossy(&M, raw.byte, raw.n, &out, NULL));
      json_t *want = json_object_get(c, "raw_bytes_lossy");
      ck_assert_uint_eq(out.n, json_string_length(want));
      if (out.n) ck_assert_mem_eq(out.byte, json_string_value(want), out.n);
      bytes_free(&M, &raw);
      bytes_free(&M, &out);
      good++, otherwise += !json_equal(want, json_object_get(c, "hf_tokenizers"));
    }
    tally("vectors/utf8/byte_fallback.json", good, 0, 0, "");
    tally(
      "  of these otherwise than tokenizers: one U+FFFD a maximal subpart", otherwise, 0, 0, "");
    json_decref(all);
  }
  at_peace();
}
END_TEST

START_TEST(a_stream_holds_exactly_the_unfinished_ending)
{
  uint64_t seed = suite_seed();
  for (int round = 0; round < 4000; round++) {
    unsigned char text[40];
    size_t n = rnd(&seed) % 40;
    static const unsigned char likely[] = { 0x41, 0x80, 0xbf, 0xc2, 0xe2, 0x82, 0xac, 0xf0, 0x9f,
      0x98, 0x80, 0xed, 0xe0, 0xf4 };
    for (size_t i = 0; i < n; i++)
      text[i] = rnd(&seed) % 4 ? likely[rnd(&seed) % sizeof likely] : (unsigned char) rnd(&seed);
    struct stream s = { .n = 0 };
    struct bytes out = { 0 };
    for (size_t at = 0; at < n;) {
      size_t step = 1 + rnd(&seed) % 4;
      if (step > n - at) step = n - at;
      ck_assert(stream_feed(&M, &s, text + at, step, &out, NULL));
      at += step;
      size_t hold = 0;
      for (size_t k = 1; k <= 3 && k <= at; k++)
        if (completable(text + at - k, k) && !decodes(text + at - k, k)) hold = k;
      ck_assert_uint_eq(s.n, hold);
      ck_assert_uint_eq(out.n + s.n, at);
    }
    ck_assert(stream_flush(&M, &s, &out, NULL));
    ck_assert_uint_eq(out.n, n);
    if (n) ck_assert_mem_eq(out.byte, text, n);
    bytes_free(&M, &out);
  }
  at_peace();
}
END_TEST

START_TEST(stream_vectors)
{
  char buffer[400];
  const char *path = shared_file(buffer, sizeof buffer, "vectors/stream/gpt2_stream.json");
  const char *vocab = path ? shared_file((char[400]){ 0 }, 400, "data/gpt2") : NULL;
  if (path == NULL || vocab == NULL) return;
  struct error why;
  struct tokenizer *t = tokenizer_open(&M, vocab, &why);
  if (t == NULL) ck_abort_msg("%s", why.text);
  json_t *all = load(path), *c;
  unsigned good = 0;
  size_t i;
  json_array_foreach(json_object_get(all, "cases"), i, c)
  {
    json_t *list = json_object_get(c, "ids"), *want = json_object_get(c, "hold_back_only");
    struct stream s = { .n = 0 };
    for (size_t k = 0; k <= json_array_size(list); k++) {
      struct bytes out = { 0 }, text = { 0 };
      size_t n;
      bool last = k == json_array_size(list);
      if (last)
        stream_flush(&M, &s, &out, NULL);
      else {
        const unsigned char *b =
          tokenizer_text(t, (uint32_t) json_integer_value(json_array_get(list, k)), &n);
        stream_feed(&M, &s, b, n, &out, NULL);
      }
      ck_assert(utf8_lossy(&M, out.byte, out.n, &text, NULL));
      json_t *w = last ? json_object_get(c, "flush") : json_array_get(want, k);
      ck_assert_uint_eq(text.n, json_string_length(w));
      if (text.n) ck_assert_mem_eq(text.byte, json_string_value(w), text.n);
      bytes_free(&M, &out);
      bytes_free(&M, &text);
    }
    good++;
  }
  tally("vectors/stream/gpt2_stream.json", good, 0, 0, "");
  json_decref(all);
  tokenizer_close(&M, t);
  at_peace();
}
END_TEST

/* ---- cutting ---------------------------------------------------------------------------- */

START_TEST(split_vectors)
{
  char buffer[400];
  const char *path = shared_file(buffer, sizeof buffer, "vectors/split/pretokenizer_splits.json");
  if (path == NULL) return;
  json_t *all = load(path), *c, *pattern;
  const char *name;
  unsigned good = 0;
  json_object_foreach(json_object_get(all, "patterns"), name, pattern)
  {
    struct error why;
    struct splitter *s =
      splitter_open(&M, json_string_value(pattern), json_string_length(pattern), false, &why);
    if (s == NULL) ck_abort_msg("%s: %s", name, why.text);
    size_t i;
    json_array_foreach(json_object_get(all, "cases"), i, c)
    {
      json_t *text = json_object_get(c, "text"),
             *want = json_object_get(json_object_get(c, "split"), name);
      struct pieces p;
      struct text_piece next;
      pieces_begin(&p, s, &W, (const unsigned char *) json_string_value(text), json_string_length(text));
      size_t k = 0;
      for (;; k++) {
        ck_assert(pieces_next(&p, &next, &why));
        if (next.n == 0) break;
        json_t *w = json_array_get(want, k);
        if (w == NULL || next.n != json_string_length(w)
          || memcmp(next.byte, json_string_value(w), next.n) || !next.match)
          ck_abort_msg("%s, case %zu, piece %zu", name, i, k);
      }
      ck_assert_uint_eq(k, json_array_size(want));
      good++;
    }
    splitter_close(s), split_work_free(&W);
  }
  if (strcmp(
        split_gpt2, json_string_value(json_object_get(json_object_get(all, "patterns"), "gpt2")))
    == 0)
    good++;
  if (strcmp(split_llama3,
        json_string_value(json_object_get(json_object_get(all, "patterns"), "llama3")))
    == 0)
    good++;
  tally("vectors/split/pretokenizer_splits.json", good, 0, 0, "");
  json_decref(all);
  at_peace();
}
END_TEST

static void cut(const char *pattern, bool literal, const char *text, const char *want)
{
  struct error why;
  struct splitter *s = pattern ? splitter_open(&M, pattern, strlen(pattern), literal, &why) : NULL;
  if (pattern) ck_assert_ptr_nonnull(s);
  struct pieces p;
  struct text_piece next;
  char got[400] = "";
  pieces_begin(&p, s, &W, (const unsigned char *) text, strlen(text));
  while (pieces_next(&p, &next, &why) && next.n > 0) {
    size_t n = strlen(got);
    snprintf(got + n, sizeof got - n, "%s%.*s", next.match ? "[" : "(", (int) next.n, next.byte);
  }
  ck_assert_str_eq(got, want);
  splitter_close(s), split_work_free(&W);
}

START_TEST(gaps_and_empty_matches)
{
  cut("b+", false, "abbacb", "(a[bb(ac[b");
  cut("x*", false, "ab", "(a(b");
  cut("x*", false, "axxb", "(a[xx(b");
  cut("(?=b)", false, "abab", "(a(ba(b");
  cut("$", false, "ab", "(ab");
  cut("a.c", true, "abca.cabc", "(abc[a.c(abc");
  cut("\\s", false,
    "a\xe1\xa0\x8e"
    "b c",
    "(a\xe1\xa0\x8e"
    "b[ (c"); /* U+180E is no white space */
  cut("[^\\s]+", false,
    "a\xe1\xa0\x8e"
    "b\xc2\x85"
    "c",
    "[a\xe1\xa0\x8e"
    "b(\xc2\x85[c");
  cut("\\S+", false, " ab c", "( [ab( [c");
  cut("\\S+", false,
    "a\xe1\xa0\x8e"
    "b c",
    "[a\xe1\xa0\x8e"
    "b( [c");
  cut("\\\\s", false, "a\\sb", "(a[\\s(b");
  cut(NULL, false, "one piece", "(one piece");
  cut(split_gpt2, false, "I've  10 cats!\n", "[I['ve[ [ 10[ cats[![\n");
  cut(split_gpt2, false, "It's 12345 o'clock,  he'll say.",
    "[It['s[ 12345[ o['[clock[,[ [ he['ll[ say[."); /* the table of chapter 1 */
  cut(split_llama3, false, "It's 12345 o'clock,  he'll say.",
    "[It['s[ [123[45[ o['clock[,[ [ he['ll[ say[.");
  struct error why;
  ck_assert_ptr_null(splitter_open(&M, "a(", 2, false, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "byte 2"));
  ck_assert_ptr_null(splitter_open(&M, "\\C", 2, false, &why));
  struct splitter *s = splitter_open(&M, "(a+a+)+[bc]", 11, false, &why);
  struct pieces p;
  struct text_piece next;
  char as[64];
  memset(as, 'a', sizeof as);
  pieces_begin(&p, s, &W, (unsigned char *) as, sizeof as);
  ck_assert(!pieces_next(&p, &next, &why)); /* gives up, and says so */
  ck_assert_ptr_nonnull(strstr(why.text, "limit"));
  splitter_close(s), split_work_free(&W);
  at_peace();
}
END_TEST

/* ---- merges ----------------------------------------------------------------------------- */

/* the trainer of probe.md, literally; the text given as pieces */
struct slow {
  uint32_t id[4000];
  size_t n;
};
static size_t slow_train(struct slow *piece, size_t n_pieces, size_t merges, struct bpe_merge *out)
{
  size_t k = 0;
  for (; k < merges; k++) {
    uint64_t best_count = 0;
    struct bpe_merge best = { 0, 0 };
    for (size_t i = 0; i < n_pieces; i++)
      for (size_t j = 0; j + 1 < piece[i].n; j++) {
        uint32_t a = piece[i].id[j], b = piece[i].id[j + 1];
        uint64_t count = 0;
        for (size_t u = 0; u < n_pieces; u++)
          for (size_t v = 0; v + 1 < piece[u].n; v++)
            count += piece[u].id[v] == a && piece[u].id[v + 1] == b;
        if (count > best_count
          || (count == best_count && (a < best.left || (a == best.left && b < best.right))))
          best_count = count, best = (struct bpe_merge){ a, b };
      }
    if (best_count == 0) break;
    out[k] = best;
    for (size_t i = 0; i < n_pieces; i++) {
      size_t to = 0;
      for (size_t j = 0; j < piece[i].n; to++)
        if (j + 1 < piece[i].n && piece[i].id[j] == best.left && piece[i].id[j + 1] == best.right)
          piece[i].id[to] = 256 + (uint32_t) k, j += 2;
        else
          piece[i].id[to] = piece[i].id[j++];
      piece[i].n = to;
    }
  }
  return k;
}

START_TEST(training_is_the_definition)
{
  uint64_t seed = suite_seed();
  static struct slow piece[200];
  for (int round = 0; round < 1200; round++) {
    char text[201];
    size_t n = rnd(&seed) % (round % 10 ? 60 : 200), letters = 1 + rnd(&seed) % 4;
    for (size_t i = 0; i < n; i++) text[i] = "ab c"[rnd(&seed) % letters];
    bool one = round % 2;
    size_t n_pieces = 0, ask = rnd(&seed) % 30;
    struct splitter *s =
      one ? NULL : splitter_open(&M, split_gpt2, strlen(split_gpt2), false, NULL);
    struct pieces p;
    struct text_piece next;
    pieces_begin(&p, s, &W, (unsigned char *) text, n);
    while (pieces_next(&p, &next, NULL) && next.n > 0) {
      for (size_t i = 0; i < next.n; i++) piece[n_pieces].id[i] = next.byte[i];
      piece[n_pieces++].n = next.n;
    }
    splitter_close(s), split_work_free(&W);
    struct bpe_merge want[30], *got;
    size_t n_want = slow_train(piece, n_pieces, ask, want), n_got;
    ck_assert(bpe_train(&M, text, n, one ? NULL : split_gpt2, ask, &got, &n_got, NULL));
    ck_assert_uint_eq(n_got, n_want);
    for (size_t k = 0; k < n_got; k++) {
      ck_assert_msg(got[k].left == want[k].left && got[k].right == want[k].right,
        "round %d, merge %zu of '%.*s'", round, k, (int) n, text);
    }
    bpe_forget(&M, got);
  }
  at_peace();
}
END_TEST

START_TEST(training_gaps_and_bytes_that_are_no_text)
{
  struct bpe_merge *got;
  size_t n;
  ck_assert(bpe_train(&M, "abxxab", 6, "b", 9, &got, &n, NULL)); /* pieces a b xxa b */
  ck_assert_uint_eq(n, 2);
  ck_assert(got[0].left == 'x' && got[0].right == 'a');
  ck_assert(got[1].left == 'x' && got[1].right == 256);
  bpe_forget(&M, got);
  ck_assert(bpe_train(&M,
    "\xff\xfe"
    "a\xff\xfe",
    5, split_gpt2, 1, &got, &n, NULL));
  ck_assert(n == 1 && got[0].left == 0xff && got[0].right == 0xfe);
  bpe_forget(&M, got);
  ck_assert(bpe_train(&M, "", 0, NULL, 5, &got, &n, NULL));
  ck_assert_uint_eq(n, 0);
  bpe_forget(&M, got);
  struct error why;
  ck_assert(!bpe_train(&M, "aa", 2, "(", 5, &got, &n, &why));
  ck_assert(!bpe_train(&M, "aa", 2, NULL, SIZE_MAX, &got, &n, &why));
  at_peace();
}
END_TEST

/* a text as ids, with APART between its pieces: is the highest count that of two pairs? */
enum { APART = 599 };
static bool tied(const uint32_t *id, size_t n)
{
  static uint32_t count[600][600];
  memset(count, 0, sizeof count);
  uint32_t best = 0, times = 0;
  for (size_t i = 0; i + 1 < n; i++)
    if (id[i] != APART && id[i + 1] != APART) count[id[i]][id[i + 1]]++;
  for (size_t a = 0; a < 600; a++)
    for (size_t b = 0; b < 600; b++)
      if (count[a][b] > best)
        best = count[a][b], times = 1;
      else
        times += count[a][b] == best;
  return times > 1;
}
static size_t apply(uint32_t *id, size_t n, struct bpe_merge m, uint32_t made)
{
  size_t to = 0;
  for (size_t j = 0; j < n; to++)
    if (j + 1 < n && id[j] == m.left && id[j + 1] == m.right)
      id[to] = made, j += 2;
    else
      id[to] = id[j++];
  return to;
}

static void bytes_as_ids(struct bpe *b)
{
  memset(b, 0, sizeof *b);
  for (uint32_t i = 0; i < 256; i++) b->byte_id[i] = i;
}

/* karpathy/minbpe: training as far as no two counts are equal (its rule for ties is another one),
   then encoding and decoding with its merges. Its regex runs cut by the pattern of cl100k. */
START_TEST(minbpe_vectors)
{
  char buffer[400], room2[400], room3[400];
  const char *path = shared_file(buffer, sizeof buffer, "vectors/minbpe/minbpe_train.json");
  const char *swift =
    path ? shared_file(room2, sizeof room2, "vectors/minbpe/taylorswift.txt") : NULL;
  const char *splits =
    path ? shared_file(room3, sizeof room3, "vectors/split/pretokenizer_splits.json") : NULL;
  if (path == NULL || swift == NULL || splits == NULL) return;
  json_t *all = load(path), *patterns = load(splits), *run;
  const char *cl100k =
    json_string_value(json_object_get(json_object_get(patterns, "patterns"), "cl100k"));
  size_t i, n_swift;
  char *text_swift = slurp(swift, &n_swift);
  unsigned good = 0, learnt = 0;
  json_array_foreach(json_object_get(all, "runs"), i, run)
  {
    const char *name = json_string_value(json_object_get(run, "name"));
    bool regex = strncmp(name, "regex", 5) == 0, llama = strstr(name, "llama") != NULL;
    json_t *list = json_object_get(run, "merges"), *c;
    const char *text = llama ? json_string_value(json_object_get(all, "llama_text")) : text_swift;
    size_t n = llama ? json_string_length(json_object_get(all, "llama_text")) : n_swift,
           many = json_array_size(list), k, e;
    struct bpe_merge *got;
    ck_assert(bpe_train(&M, text, n, regex ? cl100k : NULL, many, &got, &k, NULL));
    struct bpe b;
    bytes_as_ids(&b);
    struct splitter *s = regex ? splitter_open(&M, cl100k, strlen(cl100k), false, NULL) : NULL;
    struct pieces p;
    struct text_piece next;
    uint32_t *id = malloc(2 * n * sizeof *id);
    size_t n_id = 0, free_of_ties = 0;
    pieces_begin(&p, s, &W, (const unsigned char *) text, n);
    while (pieces_next(&p, &next, NULL) && next.n > 0) {
      for (size_t q = 0; q < next.n; q++) id[n_id++] = next.byte[q];
      id[n_id++] = APART;
    }
    bool open = true; /* no tie so far: then there is one answer, and both must have it */
    for (size_t q = 0; q < many; q++) {
      uint32_t l = (uint32_t) json_integer_value(json_array_get(json_array_get(list, q), 0));
      uint32_t r = (uint32_t) json_integer_value(json_array_get(json_array_get(list, q), 1));
      ck_assert(bpe_add(&M, &b, l, r, 256 + (uint32_t) q, NULL));
      open = open && !tied(id, n_id);
      if (open) {
        free_of_ties++;
        ck_assert_msg(got[q].left == l && got[q].right == r, "%s: merge %zu", name, q);
      }
      n_id = apply(id, n_id, (struct bpe_merge){ l, r }, 256 + (uint32_t) q);
    }
    ck_assert_uint_ge(free_of_ties, llama ? 1 : 20);
    learnt += (unsigned) free_of_ties;
    free(id);
    struct bpe_work w = { 0 };
    json_array_foreach(json_object_get(run, "encode"), e, c)
    {
      json_t *t = json_object_get(c, "text"), *want = json_object_get(c, "ids");
      const char *from = json_string_value(t);
      size_t length = json_string_length(t);
      if (want == NULL) continue;
      struct ids out = { 0 };
      pieces_begin(&p, s, &W, (const unsigned char *) from, length);
      while (pieces_next(&p, &next, NULL) && next.n > 0)
        ck_assert(bpe_encode(&b, &M, &w, next.byte, next.n, &out, NULL));
      ck_assert_uint_eq(out.n, json_array_size(want));
      for (size_t q = 0; q < out.n; q++)
        ck_assert_uint_eq(out.id[q], (uint32_t) json_integer_value(json_array_get(want, q)));
      ids_free(&M, &out);
      good++;
    }
    splitter_close(s), split_work_free(&W);
    bpe_work_free(&M, &w);
    bpe_free(&M, &b);
    bpe_forget(&M, got);
  }
  json_t *wiki = json_object_get(all, "wikipedia");
  struct bpe_merge *got;
  size_t k;
  ck_assert(bpe_train(&M, "aaabdaaabac", 11, NULL, 3, &got, &k, NULL));
  struct bpe b;
  bytes_as_ids(&b);
  for (uint32_t q = 0; q < k; q++)
    ck_assert(bpe_add(&M, &b, got[q].left, got[q].right, 256 + q, NULL));
  struct bpe_work w = { 0 };
  struct ids out = { 0 };
  ck_assert(bpe_encode(&b, &M, &w, (const unsigned char *) "aaabdaaabac", 11, &out, NULL));
  ck_assert_uint_eq(
    out.n, json_array_size(json_object_get(wiki, "ids"))); /* tied: the same length, other merges */
  good++;
  ids_free(&M, &out);
  bpe_work_free(&M, &w);
  bpe_free(&M, &b);
  bpe_forget(&M, got);
  tally("vectors/minbpe/minbpe_train.json", good + learnt, 0, 0, "");
  free(text_swift);
  json_decref(patterns);
  json_decref(all);
  at_peace();
}
END_TEST

START_TEST(encoding_is_the_definition)
{
  uint64_t seed = suite_seed() + 1;
  for (int round = 0; round < 3000; round++) {
    struct bpe b;
    bytes_as_ids(&b);
    uint32_t alphabet = 1 + rnd(&seed) % 3, made = 256;
    size_t rules = rnd(&seed) % 12;
    for (size_t k = 0; k < rules; k++, made++) {
      uint32_t pick[2];
      for (int s = 0; s < 2; s++) {
        uint64_t r = rnd(&seed) % (alphabet + (made - 256));
        pick[s] = r < alphabet ? 'a' + (uint32_t) r : 256 + (uint32_t) (r - alphabet);
      }
      ck_assert(bpe_add(&M, &b, pick[0], pick[1], made, NULL));
    }
    unsigned char text[60];
    uint32_t id[60];
    size_t n = rnd(&seed) % 60, m = n;
    for (size_t i = 0; i < n; i++) id[i] = text[i] = (unsigned char) ('a' + rnd(&seed) % alphabet);
    for (;;) { /* the lowest rank, the leftmost place; a later rule for the same pair counts */
      size_t best = SIZE_MAX, at = 0;
      for (size_t i = 0; i + 1 < m; i++) {
        size_t rank = SIZE_MAX;
        for (size_t k = 0; k < rules; k++)
          if (b.rule[k].left == id[i] && b.rule[k].right == id[i + 1]) rank = k;
        if (rank < best) best = rank, at = i;
      }
      if (best == SIZE_MAX) break;
      id[at] = b.rule[best].made;
      memmove(id + at + 1, id + at + 2, (m - at - 2) * sizeof *id);
      m--;
    }
    struct bpe_work w = { 0 };
    struct ids out = { 0 };
    ck_assert(bpe_encode(&b, &M, &w, text, n, &out, NULL));
    ck_assert_uint_eq(out.n, m);
    for (size_t i = 0; i < m; i++) ck_assert_uint_eq(out.id[i], id[i]);
    ids_free(&M, &out);
    bpe_work_free(&M, &w);
    bpe_free(&M, &b);
  }
  at_peace();
}
END_TEST

/* ---- what breaks off in the middle has not been: nothing is longer, and the next try is right */
enum broken_kind { JOIN_SHORT, JOIN_LONG, ENCODE, SPELL, LOSSY, FEED, FLUSH, RULE, BROKEN_KINDS };
struct broken {
  struct bpe b;
  struct bpe_work w;
  struct ids ids;
  struct bytes bytes;
  struct stream s;
  struct bpe_merge merge[4];
};
static bool break_off(struct broken *x, int kind, struct error *why)
{
  static const unsigned char letters[] = "abcdabcdabxyabcdabcdabxyabcdabcdabxyabcdabcdabxy";
  static const unsigned char loose[] = "ab\xff\xe2\x82z\xed\xa0\x80\xf0\x9f\x98\x80"
                                       " and some more of this\xc3";
  switch (kind) {
  case JOIN_SHORT: return bpe_encode(&x->b, &M, &x->w, letters, 12, &x->ids, why);
  case JOIN_LONG: return bpe_encode(&x->b, &M, &x->w, letters, sizeof letters - 1, &x->ids, why);
  case ENCODE: return bpe_encode(&x->b, &M, &x->w, letters, 33, &x->ids, why);
  case SPELL: return bpe_spell(&M, x->merge, 259, &x->bytes, why);
  case LOSSY: return utf8_lossy(&M, loose, sizeof loose - 1, &x->bytes, why);
  case FEED: return stream_feed(&M, &x->s, loose, sizeof loose - 1, &x->bytes, why);
  case FLUSH: return stream_flush(&M, &x->s, &x->bytes, why);
  default: return bpe_add(&M, &x->b, 'x', 'y', 300, why);
  }
}
/* `ids' and `bytes' are there already, so that the room ends at any place of what is added */
static void broken_begin(struct broken *x, size_t ids, size_t bytes)
{
  memset(x, 0, sizeof *x);
  bytes_as_ids(&x->b);
  static const struct bpe_merge merge[4] = { { 'a', 'b' }, { 'c', 'd' }, { 256, 257 },
    { 258, 258 } };
  memcpy(x->merge, merge, sizeof merge);
  for (uint32_t k = 0; k < 4; k++)
    hold(bpe_add(&M, &x->b, merge[k].left, merge[k].right, 256 + k, NULL));
  for (uint32_t i = 0; i < ids; i++) {
    hold(ids_push(&M, &x->ids, 1000 + i, NULL));
    hold(bpe_add(&M, &x->b, 1000 + i, 1, 2000, NULL));
  }
  for (size_t i = 0; i < bytes; i++) hold(bytes_push(&M, &x->bytes, "=", 1, NULL));
  x->s = (struct stream){ .held = { 0xe2, 0x82 }, .n = 2 };
}
static void broken_end(struct broken *x)
{
  ids_free(&M, &x->ids), bytes_free(&M, &x->bytes);
  bpe_work_free(&M, &x->w), bpe_free(&M, &x->b);
  hold(x->ids.n == 0 && x->ids.cap == 0 && x->b.n == 0);
  hold(x->bytes.n == 0 && x->bytes.byte == NULL);
}
START_TEST(what_breaks_off_has_not_been)
{
  unsigned failures = 0;
  for (size_t before = 0; before < 70; before++) {
    struct broken want;
    struct error why;
    broken_begin(&want, before, before);
    hold(break_off(&want, _i, &why));
    for (uint64_t k = 1, whole = 0; !whole; k++) {
      struct broken x;
      broken_begin(&x, before, before);
      struct stream held = x.s;
      size_t rules = x.b.n;
      M.fail_at = M.all.requests + k;
      whole = break_off(&x, _i, &why);
      M.fail_at = 0;
      if (!whole) {
        failures++;
        hold(x.ids.n == before && x.bytes.n == before && x.b.n == rules && x.s.n == held.n);
        hold(memcmp(x.s.held, held.held, held.n) == 0);
        for (size_t i = 0; i < before; i++) hold(x.ids.id[i] == 1000 + i && x.bytes.byte[i] == '=');
        if (_i == JOIN_SHORT || _i == JOIN_LONG) { /* another text with the same desk first */
          struct ids other = { 0 };
          static const unsigned char text[] = "xyzabcdabcd"
                                              "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
          hold(bpe_encode(&x.b, &M, &x.w, text, 41, &other, &why));
          hold(other.n == 34 && other.id[3] == 259 && other.id[4] == 'x');
          ids_free(&M, &other);
        }
        hold(break_off(&x, _i, &why));
      }
      hold(x.ids.n == want.ids.n && x.bytes.n == want.bytes.n && x.b.n == want.b.n);
      hold(x.ids.n == 0 || memcmp(x.ids.id, want.ids.id, x.ids.n * sizeof *x.ids.id) == 0);
      hold(x.bytes.n == 0 || memcmp(x.bytes.byte, want.bytes.byte, x.bytes.n) == 0);
      hold(x.s.n == want.s.n && memcmp(x.s.held, want.s.held, x.s.n) == 0);
      broken_end(&x);
    }
    broken_end(&want);
  }
  ck_assert_uint_gt(failures, 0);
  at_peace();
}
END_TEST

/* a desk whose list of nodes could not grow has none, and grows again; one that was freed is empty, as
   are rules that were freed */
START_TEST(a_desk_begins_again)
{
  struct bpe b = { .n = 0 };
  struct bpe_work w = { .cap = 0 };
  struct ids out = { 0 };
  struct error why;
  unsigned char text[200];
  memset(text, 'x', sizeof text);
  hold(bpe_learnt(&M, &b, NULL, 0, &why));
  for (uint64_t k = 1, whole = 0; !whole; k++) {
    hold(bpe_encode(&b, &M, &w, text, 40, &out, &why) && out.n == 40);
    out.n = 0;
    M.fail_at = M.all.requests + k;
    whole = bpe_encode(&b, &M, &w, text, 150, &out, &why);
    M.fail_at = 0;
    out.n = 0;
    hold(bpe_encode(&b, &M, &w, text, 40, &out, &why) && out.n == 40);
    bpe_work_free(&M, &w);
    hold(w.node == NULL && w.cap == 0 && w.piece.n == 0 && w.queue.n == 0);
    out.n = 0;
  }
  ids_free(&M, &out);
  bpe_free(&M, &b);
  hold(b.rule == NULL && b.n == 0 && b.cap == 0);
  bpe_free(&M, &b), bpe_work_free(&M, &w);
  at_peace();
}
END_TEST

/* rules have the rank of their place in the list, whatever ids they make; and each pair that is looked at
   is counted: first every pair, then the two about what was made */
START_TEST(rules_are_ranked_by_their_place)
{
  static const struct { uint32_t made[2]; const char *text; size_t n; uint32_t id[4]; uint64_t looks; } of[] = {
    { { 300, 256 }, "abc", 2, { 300, 'c' }, 2 + 1 },
    { { 256, 300 }, "abc", 2, { 256, 'c' }, 2 + 1 },
    { { 300, 256 }, "bcab", 2, { 256, 300 }, 3 + 1 + 1 },
    { { 300, 256 }, "xabx", 3, { 'x', 300, 'x' }, 3 + 2 },
    { { 300, 256 }, "xyz", 3, { 'x', 'y', 'z' }, 2 },
    { { 300, 256 }, "x", 1, { 'x' }, 0 },
  };
  struct error why;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct bpe b = { .n = 0 };
    struct bpe_work w = { .cap = 0 };
    struct ids out = { 0 };
    hold(bpe_learnt(&M, &b, NULL, 0, &why) && bpe_add(&M, &b, 'a', 'b', of[i].made[0], &why)
      && bpe_add(&M, &b, 'b', 'c', of[i].made[1], &why));
    for (int round = 1; round < 3; round++, out.n = 0) {
      hold(bpe_encode(&b, &M, &w, (const unsigned char *) of[i].text, strlen(of[i].text), &out, &why));
      ck_assert_msg(out.n == of[i].n && memcmp(out.id, of[i].id, out.n * sizeof *out.id) == 0, "%s",
        of[i].text);
      ck_assert_msg(w.lookups == (uint64_t) round * of[i].looks, "%s: %d looks", of[i].text, (int) w.lookups);
    }
    ids_free(&M, &out), bpe_work_free(&M, &w), bpe_free(&M, &b);
  }
  at_peace();
}
END_TEST

/* pieces that are different, how often each stands in the text, and how many bytes they have in all; bytes
   that are no text are a piece by themselves */
START_TEST(pieces_are_counted_once)
{
  static const char text[] = "ab ab ab\xff\xfe ab\xff\xfe";
  struct unique_pieces u = { .n = 0 };
  struct error why;
  hold(unique_collect(&M, &u, (const unsigned char *) text, strlen(text), split_gpt2, &why));
  static const struct { const char *piece; uint32_t weight; } want[] = { { "ab", 1 }, { " ab", 3 },
    { "\xff\xfe", 2 } };
  ck_assert_uint_eq(u.n, 3);
  ck_assert_uint_eq(u.n_bytes, 2 + 3 + 2);
  for (size_t i = 0; i < u.n; i++)
    ck_assert_msg(u.piece[i].n == strlen(want[i].piece) && u.piece[i].weight == want[i].weight
        && memcmp(u.piece[i].byte, want[i].piece, u.piece[i].n) == 0, "piece %zu", i);
  unique_free(&M, &u);
  u = (struct unique_pieces){ .n = 0 };
  hold(unique_collect(&M, &u, (const unsigned char *) text, strlen(text), NULL, &why) && u.n == 1
    && u.n_bytes == strlen(text));
  unique_free(&M, &u);
  at_peace();
}
END_TEST

/* what a stream held is given once; behind the end of a text the next one begins */
START_TEST(a_second_text_begins_without_the_first)
{
  struct stream s = { .n = 0 };
  struct bytes out = { 0 };
  struct error why;
  for (int text = 0; text < 3; text++) {
    size_t before = out.n;
    hold(stream_feed(&M, &s, (const unsigned char *) "a\xf0\x9f\x98", 4, &out, &why) && s.n == 3);
    hold(out.n == before + 1);
    hold(stream_flush(&M, &s, &out, &why) && s.n == 0 && out.n == before + 4);
    hold(stream_flush(&M, &s, &out, &why) && out.n == before + 4);
    /* half a character that was flushed does not wait for what is fed next */
    hold(stream_feed(&M, &s, (const unsigned char *) "\x80", 1, &out, &why));
    hold(s.n == 0 && out.n == before + 5);
    hold(memcmp(out.byte + before, "a\xf0\x9f\x98\x80", 5) == 0);
  }
  out.byte[out.n - 1] = 0xe2; /* what is in the list already is not the stream's */
  hold(stream_feed(&M, &s, (const unsigned char *) "", 0, &out, &why) && s.n == 0 && out.n == 15);
  hold(stream_feed(&M, &s, (const unsigned char *) "\x82", 1, &out, &why) && s.n == 0);
  bytes_free(&M, &out), bytes_free(&M, &out);
  at_peace();
}
END_TEST

/* a text on which the stack of the machine code ends is cut as the pattern says; so is the next */
START_TEST(a_long_match_needs_a_second_attempt)
{
  enum { LONG = 150000 };
  unsigned char *text = malloc(LONG);
  struct splitter *s = splitter_open(&M, "(?:ab|a)+", 9, false, NULL);
  struct error why;
  memset(text, 'a', LONG), text[LONG - 1] = 'c', text[7] = ' ';
  for (int round = 0; round < 2; round++) {
    static const size_t want[] = { 7, 1, LONG - 9, 1, 0 };
    struct pieces p;
    struct text_piece next;
    pieces_begin(&p, s, &W, text, LONG);
    for (int k = 0; k < 5; k++) {
      if (!pieces_next(&p, &next, &why)) ck_abort_msg("%s", why.text);
      ck_assert_uint_eq(next.n, want[k]);
      ck_assert_int_eq(next.match, k == 0 || k == 2);
    }
  }
  splitter_close(s), split_work_free(&W), free(text);
  at_peace();
}
END_TEST

/* which byte, which place, which limit a sentence names */
START_TEST(sentences_about_pieces_name_the_place)
{
  struct bpe b;
  struct bpe_work w = { 0 };
  struct ids out = { 0 };
  struct error why;
  bytes_as_ids(&b);
  b.byte_id['q'] = BPE_NONE, b.byte_id[0xfe] = BPE_NONE;
  hold(!bpe_encode(&b, &M, &w, (const unsigned char *) "ab\xfeq", 4, &out, &why) && out.n == 0);
  ck_assert_str_eq(why.text, "the vocabulary cannot spell byte 0xfe");
  hold(!bpe_encode(&b, &M, &w, (const unsigned char *) "q", 1, &out, &why) && out.n == 0);
  ck_assert_str_eq(why.text, "the vocabulary cannot spell byte 0x71");
  hold(bpe_encode(&b, &M, &w, (const unsigned char *) "abc", 3, &out, &why) && out.n == 3);
  ids_free(&M, &out), bpe_work_free(&M, &w), bpe_free(&M, &b);
  struct splitter *s = splitter_open(&M, "(a+a+)+[bc]", 11, false, &why);
  struct pieces p;
  struct text_piece next;
  char as[64];
  memset(as, 'a', sizeof as), memcpy(as, "aab  ", 5);
  for (int twice = 0; twice < 2; twice++) { /* a splitter that gave up cuts the next text */
    pieces_begin(&p, s, &W, (unsigned char *) as, sizeof as);
    hold(pieces_next(&p, &next, &why) && next.n == 3 && next.match);
    hold(!pieces_next(&p, &next, &why));
    ck_assert_msg(strstr(why.text, "cutting the text at byte 3:") == why.text, "%s", why.text);
    pieces_begin(&p, s, &W, (const unsigned char *) "aac", 3);
    hold(pieces_next(&p, &next, &why) && next.n == 3 && next.match);
  }
  splitter_close(s), split_work_free(&W);
  s = splitter_open(&M, "(?:a+a+)+[bc]", 13, false, &why);
  memset(as, 'a', sizeof as); /* what takes a million steps is no reason to give up */
  pieces_begin(&p, s, &W, (unsigned char *) as, 18);
  hold(pieces_next(&p, &next, &why) && next.n == 18 && !next.match);
  splitter_close(s), split_work_free(&W);
  static const struct {
    const char *pattern, *place;
  } bad[] = { { "ab\\", "byte 3" }, { "[a", "byte 2" } };
  for (int i = 0; i < 2; i++) {
    hold(splitter_open(&M, bad[i].pattern, strlen(bad[i].pattern), false, &why) == NULL);
    ck_assert_msg(strstr(why.text, bad[i].place) != NULL, "%s", why.text);
  }
  at_peace();
  struct bpe_merge *got;
  size_t n = 99, merges[] = { (size_t) UINT32_MAX - 256, (size_t) UINT32_MAX - 255, SIZE_MAX };
  for (int i = 0; i < 3; i++) {
    hold(!bpe_train(&M, "aa", 2, NULL, merges[i], &got, &n, &why) && got == NULL && n == 0);
    ck_assert_ptr_nonnull(strstr(why.text, "are more than ids can number"));
  }
  at_peace();
}
END_TEST

/* training that is refused memory anywhere has no merges, and then the same call gives all */
START_TEST(training_that_breaks_off_has_learnt_nothing)
{
  static const char text[] = "the cat and the hat and the bat that sat on the mat, that the cat";
  struct error why;
  for (int one = 0; one < 2; one++)
    for (uint64_t k = 1, whole = 0; !whole; k++) {
      struct bpe_merge *got = (struct bpe_merge *) (uintptr_t) text;
      size_t n = 99;
      uint64_t held = M.all.live;
      M.fail_at = M.all.requests + k;
      whole = bpe_train(&M, text, sizeof text - 1, one ? NULL : split_gpt2, 40, &got, &n, &why);
      M.fail_at = 0;
      if (whole)
        bpe_forget(&M, got);
      else
        hold(got == NULL && n == 0);
      hold(M.all.live == held);
    }
  at_peace();
}
END_TEST

/* thirty-one to thirty-four letters in a row: the last short one, and the first long */
START_TEST(short_rows_and_long_ones_are_joined_alike)
{
  uint64_t seed = suite_seed() + 9;
  for (int round = 0; round < 400; round++) {
    struct bpe b;
    struct bpe_work w = { 0 };
    bytes_as_ids(&b);
    for (uint32_t k = 0; k < 12; k++) { /* some rules have one rank */
      uint32_t left = 'a' + (uint32_t) (rnd(&seed) % 3), right = 'a' + (uint32_t) (rnd(&seed) % 3);
      struct bpe_rule rule = { left, right, 300 + k, k / 2 };
      hold(bpe_add_ranked(&M, &b, rule, NULL));
    }
    unsigned char text[80];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (unsigned char) ('a' + rnd(&seed) % 3);
    for (size_t n = 30; n < 36; n++) {
      struct ids half = { 0 }, alone = { 0 };
      memset(text + n, 'z', 80 - n);
      hold(bpe_encode(&b, &M, &w, text, 80, &half, NULL)); /* behind n letters nothing is joined */
      hold(bpe_encode(&b, &M, &w, text, n, &alone, NULL));
      hold(half.n == alone.n + 80 - n);
      hold(memcmp(half.id, alone.id, alone.n * sizeof *alone.id) == 0);
      ids_free(&M, &half), ids_free(&M, &alone);
    }
    bpe_work_free(&M, &w), bpe_free(&M, &b);
  }
  at_peace();
}
END_TEST

START_TEST(a_megabyte_takes_little_time)
{
  enum { MEGA = 1 << 20 };
  char *text = malloc(MEGA);
  struct bpe_merge *merge;
  size_t n;
  uint64_t seed = suite_seed();
  double start = seconds();
  /* words of two to nine letters, uneven, so that there are 1,000 merges to be learnt, in one piece
   * and in many */
  for (size_t i = 0; i < MEGA; i++)
    text[i] = rnd(&seed) % 6 == 0 ? ' ' : "eeettaaoinshrdlu"[rnd(&seed) % 16];
  ck_assert(bpe_train(&M, text, MEGA, split_gpt2, 1000, &merge, &n, NULL));
  ck_assert_uint_eq(n, 1000);
  double many = seconds() - start;
  struct tokenizer *t = tokenizer_from_merges(&M, merge, n, NULL);
  ck_assert_ptr_nonnull(t);
  bpe_forget(&M, merge);
  start = seconds();
  ck_assert(bpe_train(&M, text, MEGA, NULL, 1000, &merge, &n, NULL));
  bpe_forget(&M, merge);
  double one = seconds() - start;
  IN_TIME(many);
  IN_TIME(one);
  for (int kind = 0; kind < 4; kind++) {
    memset(text, "a <\xe2"[kind], MEGA);
    start = seconds();
    struct ids out = { 0 };
    struct bytes back = { 0 };
    ck_assert(tokenizer_encode(t, &M, text, MEGA, false, true, &out, NULL));
    ck_assert(tokenizer_decode(t, &M, out.id, out.n, false, &back, NULL));
    ck_assert_uint_eq(back.n, MEGA);
    ck_assert_mem_eq(back.byte, text, MEGA);
    IN_TIME(seconds() - start);
    ids_free(&M, &out);
    bytes_free(&M, &back);
  }
  memset(text, 'a', MEGA);
  start = seconds();
  ck_assert(bpe_train(&M, text, MEGA, NULL, 1000, &merge, &n, NULL));
  ck_assert_uint_eq(n, 20); /* 2^20 letters: twenty doublings */
  IN_TIME(seconds() - start);
  bpe_forget(&M, merge);
  tokenizer_close(&M, t);
  free(text);
  at_peace();
}
END_TEST

/* exercise 1-4: no two ids of a learnt list are spelt alike; and what is decoded and encoded again
 * comes back */
START_TEST(learnt_ids_are_spelt_once)
{
  uint64_t seed = suite_seed() + 9;
  for (int round = 0; round < 300; round++) {
    char text[120];
    struct bpe_merge *merge;
    struct bpe b = { .n = 0 };
    struct bytes spelt[256 + 60] = { { 0 } };
    size_t n = 1 + rnd(&seed) % 119, made, letters = 1 + rnd(&seed) % 3;
    for (size_t i = 0; i < n; i++) text[i] = (char) ('a' + rnd(&seed) % letters);
    ck_assert(bpe_train(&M, text, n, NULL, 60, &merge, &made, NULL));
    ck_assert(bpe_learnt(&M, &b, merge, made, NULL));
    for (uint32_t i = 0; i < 256 + made; i++) {
      ck_assert(bpe_spell(&M, merge, i, &spelt[i], NULL));
      for (uint32_t k = 0; i >= 256 && k < i; k++)
        hold(spelt[k].n != spelt[i].n || memcmp(spelt[k].byte, spelt[i].byte, spelt[i].n) != 0);
    }
    struct bpe_work w = { 0 };
    for (uint32_t i = 0; i < 256 + made; i++) { /* a token that stands alone is itself */
      struct ids out = { 0 };
      ck_assert(bpe_encode(&b, &M, &w, spelt[i].byte, spelt[i].n, &out, NULL));
      hold(out.n == 1 && out.id[0] == i);
      ids_free(&M, &out);
    }
    for (uint32_t i = 0; i < 256 + made; i++) bytes_free(&M, &spelt[i]);
    bpe_work_free(&M, &w);
    bpe_free(&M, &b);
    bpe_forget(&M, merge);
  }
  at_peace();
}
END_TEST

/* the looks of the fast encoder grow with the text and not with its square, whatever the text: at
 * most two for each merge and one a byte */
START_TEST(looks_grow_with_the_text)
{
  uint64_t seed = suite_seed() + 10;
  static unsigned char text[1 << 16];
  struct bpe b;
  bytes_as_ids(&b);
  for (uint32_t k = 0; k < 16; k++)
    ck_assert(bpe_add(&M, &b, k ? 255 + k : 'a', k ? 255 + k : 'a', 256 + k, NULL));
  ck_assert(bpe_add(&M, &b, 'a', 'b', 272, NULL));
  ck_assert(bpe_add(&M, &b, 272, 272, 273, NULL));
  for (int kind = 0; kind < 3; kind++)
    for (size_t n = 1 << 10; n <= sizeof text; n *= 4) {
      for (size_t i = 0; i < n; i++)
        text[i] = kind == 0 ? 'a' : kind == 1 ? "ab"[i % 2] : "ab"[rnd(&seed) % 2];
      struct bpe_work w = { 0 };
      struct ids out = { 0 };
      ck_assert(bpe_encode(&b, &M, &w, text, n, &out, NULL));
      ck_assert_uint_le(w.lookups, n + 2 * (n - out.n));
      ids_free(&M, &out);
      bpe_work_free(&M, &w);
    }
  bpe_free(&M, &b);
  at_peace();
}
END_TEST

/* ---- the edges: the limit and one beyond it, the second of a thing, what a failure leaves ---- */

/* tables of pairs and of names beside plain lists: whatever was entered last counts, nothing is
   counted twice, and a table has no more room than so many entries need, however often they came */
START_TEST(tables_are_what_lists_are)
{
  enum { MANY = 700 };
  static unsigned char name[MANY][4];
  static uint32_t pair[MANY][2], value[MANY];
  uint64_t seed = suite_seed() + 40;
  for (int round = 0; round < 12; round++) {
    struct pair_map p = { 0 };
    struct name_map q = { 0 };
    size_t n = 0, max = round == 0 ? 32 : round == 1 ? 33 : 1 + rnd(&seed) % MANY;
    for (int k = 0; k < 4 * MANY; k++) {
      uint32_t left = (uint32_t) (rnd(&seed) % 40), right = (uint32_t) (rnd(&seed) % 40);
      uint32_t now = 1 + (uint32_t) (rnd(&seed) % 1000);
      size_t i = 0;
      while (i < n && (pair[i][0] != left || pair[i][1] != right)) i++;
      ck_assert_uint_eq(pair_map_get(&p, left, right), i < n ? value[i] : 0);
      const unsigned char row[4] = { 'x', (unsigned char) left, (unsigned char) right, 'y' };
      ck_assert_uint_eq(name_map_get(&q, row, 4), i < n ? value[i] : 0);
      ck_assert_uint_eq(name_map_get(&q, row, 3), 0);
      if (i == n && n == max) continue;
      if (i == n) pair[n][0] = left, pair[n][1] = right, memcpy(name[n++], row, 4);
      value[i] = now;
      ck_assert(pair_map_put(&M, &p, left, right, now, NULL));
      ck_assert(name_map_put(&M, &q, name[i], 4, now, NULL));
      ck_assert_msg(p.used == n && q.used == n, "%zu pairs, %zu names for %zu", p.used, q.used, n);
    }
    size_t cap = 64;
    while (cap < 2 * n) cap *= 2;
    ck_assert_msg(p.cap >= cap && p.cap <= 2 * cap, "%zu for %zu pairs", p.cap, n);
    ck_assert_msg(q.cap >= cap && q.cap <= 2 * cap, "%zu for %zu names", q.cap, n);
    for (size_t i = 0; i < n; i++) {
      ck_assert_uint_eq(pair_map_get(&p, pair[i][0], pair[i][1]), value[i]);
      ck_assert_uint_eq(name_map_get(&q, name[i], 4), value[i]);
    }
    pair_map_free(&M, &p), name_map_free(&M, &q);
  }
  at_peace();
}
END_TEST

/* what comes out of the heap is sorted, the second number deciding where the first are equal */
START_TEST(a_heap_sorts)
{
  uint64_t seed = suite_seed() + 41;
  for (int round = 0; round < 2000; round++) {
    struct heap h = { 0 };
    struct heap_item last = { 0, 0 };
    size_t n = 1 + rnd(&seed) % 70, out = 0;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
      struct heap_item e = { rnd(&seed) % 4, rnd(&seed) % 9 };
      sum += 100 * e.key + e.tie;
      ck_assert(heap_push(&M, &h, e, NULL));
    }
    for (; h.n > 0; out++) {
      struct heap_item e = heap_pop(&h);
      hold(e.key > last.key || (e.key == last.key && e.tie >= last.tie));
      sum -= 100 * e.key + e.tie, last = e;
    }
    hold(out == n && sum == 0);
    heap_free(&M, &h);
  }
  at_peace();
}
END_TEST

int main(void)
{
  Suite *s = suite_create("tokens");
  TCase *t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, what_breaks_off_has_not_been, 0, BROKEN_KINDS);
  tcase_add_test(t, a_second_text_begins_without_the_first);
  tcase_add_test(t, a_desk_begins_again);
  tcase_add_test(t, rules_are_ranked_by_their_place);
  tcase_add_test(t, pieces_are_counted_once);
  tcase_add_test(t, a_long_match_needs_a_second_attempt);
  tcase_add_test(t, sentences_about_pieces_name_the_place);
  tcase_add_test(t, training_that_breaks_off_has_learnt_nothing);
  tcase_add_test(t, short_rows_and_long_ones_are_joined_alike);
  suite_add_tcase(s, t);
  t = tcase_create("tokens");
  tcase_set_timeout(t, 240);
  tcase_add_test(t, utf8_agrees_with_the_definition_on_all_short_rows);
  tcase_add_test(t, every_character_has_its_number);
  tcase_add_test(t, utf8_vectors);
  tcase_add_test(t, a_stream_holds_exactly_the_unfinished_ending);
  tcase_add_test(t, stream_vectors);
  tcase_add_test(t, split_vectors);
  tcase_add_test(t, gaps_and_empty_matches);
  tcase_add_test(t, training_is_the_definition);
  tcase_add_test(t, training_gaps_and_bytes_that_are_no_text);
  tcase_add_test(t, minbpe_vectors);
  tcase_add_test(t, encoding_is_the_definition);
  tcase_add_test(t, a_megabyte_takes_little_time);
  tcase_add_test(t, learnt_ids_are_spelt_once);
  tcase_add_test(t, looks_grow_with_the_text);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_add_test(t, tables_are_what_lists_are);
  tcase_add_test(t, a_heap_sorts);
  suite_add_tcase(s, t);
  return suite_run(s);
}
