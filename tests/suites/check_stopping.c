/* Chapter 8: stopping and streaming -- the sentence about stop strings restated naively, every
 * split of a text, lists of criteria, cancelled texts. */
#define _DEFAULT_SOURCE
#include "tokens.h"
#include "tiny.h"
#include <signal.h>
#include <sys/wait.h>
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "stopping/stopping.h"
#include "families/loader.h"
#include "kernels/kernels.h"

/* ---- the oracle: the sentence, with plain loops over all beginnings and ends; it shares nothing
 * with the machine */
enum { MAX_STOPS = 6, LONGEST = 7, MAX_PIECES = 14, MAX_TEXT = 400 };
struct row_of {
  unsigned char b[MAX_TEXT];
  size_t n;
};
struct oracle {
  struct row_of text;
  size_t released[MAX_PIECES + 1], consumed;
  int found;
};
static size_t half_a_character(const unsigned char *b, size_t n)
{
  static const struct {
    unsigned char first, last, low, high;
    size_t length;
  } row[] = { { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
    { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
    { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
    { 0xf4, 0xf4, 0x80, 0x8f, 4 } }; /* Unicode, table 3-7 */
  for (size_t k = 3; k > 0; k--)
    for (size_t i = 0; k <= n && i < sizeof row / sizeof *row; i++) {
      const unsigned char *x = b + n - k;
      bool begins = x[0] >= row[i].first && x[0] <= row[i].last && k < row[i].length;
      for (size_t j = 1; begins && j < k; j++)
        begins = x[j] >= (j == 1 ? row[i].low : 0x80) && x[j] <= (j == 1 ? row[i].high : 0xbf);
      if (begins) return k;
    }
  return 0;
}
static void restate(struct oracle *o, const struct row_of *piece, size_t pieces,
  const struct row_of *stop, size_t stops, bool include, size_t min_tokens)
{
  *o = (struct oracle){ .found = -1 };
  for (size_t p = 0; p < pieces; p++) {
    size_t before = o->text.n, cut = 0;
    memcpy(o->text.b + before, piece[p].b, piece[p].n), o->text.n += piece[p].n;
    for (size_t end = before + 1; end <= o->text.n && p + 1 > min_tokens && o->found < 0; end++)
      for (size_t s = 0; s < stops; s++)
        if (stop[s].n <= end && memcmp(o->text.b + end - stop[s].n, stop[s].b, stop[s].n) == 0
          && (o->found < 0 || stop[s].n > stop[o->found].n))
          o->found = (int) s, cut = include ? end : end - stop[s].n;
    o->consumed = p + 1;
    if (o->found >= 0) {
      o->text.n = o->released[p] = cut;
      return;
    }
    size_t held = half_a_character(o->text.b, o->text.n);
    for (size_t s = 0; s < stops && !include; s++)
      for (size_t k = held + 1; k < stop[s].n; k++)
        if (k <= o->text.n && memcmp(o->text.b + o->text.n - k, stop[s].b, k) == 0) held = k;
    o->released[p] = o->text.n - held;
  }
}

/* bytes that meet often: two letters, line ends, pieces of e-acute, euro and a face, and a stray
 * byte */
static size_t draw_bytes(uint64_t *seed, int kind, unsigned char *out, size_t max)
{
  static const char *const some[] = { "a", "b", "\n", "\xc3\xa9", "\xe2\x82\xac",
    "\xf0\x9f\x98\x80", "ab", "\n\n", "\xff", "\xe2", "\x82", "User:" };
  size_t n = 0, want = rnd(seed) % (max + 1);
  while (n < want) {
    const char *s = some[rnd(seed) % (kind == 0 ? 2 : kind == 1 ? 6 : 12)];
    size_t k = strlen(s);
    if (n + k > max) break;
    memcpy(out + n, s, k), n += k;
  }
  return n;
}
static unsigned stopped, passed_over, held_back, twice;
static void random_case(struct memory *m, uint64_t *seed)
{
  struct row_of stop[MAX_STOPS], piece[MAX_PIECES];
  struct stop_string list[MAX_STOPS];
  struct oracle want;
  int kind = (int) (rnd(seed) % 3);
  size_t stops = rnd(seed) % (MAX_STOPS + 1), pieces = rnd(seed) % (MAX_PIECES + 1);
  for (size_t i = 0; i < stops; i++) {
    do stop[i].n = draw_bytes(seed, kind, stop[i].b, LONGEST);
    while (stop[i].n == 0);
    list[i] = (struct stop_string){ stop[i].b, stop[i].n };
  }
  struct row_of whole = { .n = 0 }; /* pieces are cut out of one text, so that a character or a stop
                                       string stands in two of them */
  whole.n = draw_bytes(seed, kind, whole.b, 3 + rnd(seed) % 40);
  for (size_t i = 0, at = 0; i < pieces; i++) {
    size_t n = i + 1 == pieces ? whole.n - at : rnd(seed) % 5;
    if (n > whole.n - at) n = whole.n - at;
    memcpy(piece[i].b, whole.b + at, n), piece[i].n = n, at += n;
  }
  bool include = rnd(seed) % 3 == 0;
  size_t min_tokens = rnd(seed) % 2 ? 0 : rnd(seed) % 6;
  restate(&want, piece, pieces, stop, stops, include, min_tokens);
  struct stops s;
  struct error why;
  if (!stops_open(&s, m, list, stops, &why)) ck_abort_msg("%s", why.text);
  struct text_stream o = { .m = m, .until = &s, .include_stop = include, .min_tokens = min_tokens };
  size_t last = 0;
  for (size_t i = 0; i < pieces && o.found == NULL; i++) {
    hold(text_stream_bytes(&o, piece[i].b, piece[i].n, &why));
    hold(o.tokens == i + 1 && o.released == want.released[i] && o.released >= last
      && o.released <= o.text.n);
    held_back += o.released < o.text.n, last = o.released;
  }
  hold(o.tokens == want.consumed && o.text.n == want.text.n
    && (o.text.n == 0 || memcmp(o.text.byte, want.text.b, o.text.n) == 0));
  hold((o.found == NULL) == (want.found < 0));
  if (o.found != NULL) {
    hold(o.found->n == stop[want.found].n
      && memcmp(o.found->byte, stop[want.found].b, o.found->n) == 0);
    stopped++, passed_over += min_tokens > 0;
    hold(text_stream_bytes(&o, (const unsigned char *) "x", 1, &why) && o.tokens == want.consumed
      && o.text.n == want.text.n);
    twice++;
  }
  text_stream_end(&o);
  hold(o.released == o.text.n);
  text_stream_close(&o), text_stream_close(&o), stops_close(&s), stops_close(&s);
}
enum { TENTHS = 10 };
START_TEST(a_hundred_thousand_cases_equal_the_sentence)
{
  uint64_t seed = suite_seed() + 1000 * (uint64_t) _i;
  struct memory m = { .fail_at = 0 };
  for (int i = 0; i < 10000; i++) random_case(&m, &seed);
  ck_assert_uint_eq(m.all.live, 0);
  ck_assert_uint_gt(stopped, 2000);
  ck_assert_uint_gt(passed_over, 300);
  ck_assert_uint_gt(held_back, 5000);
}
END_TEST

/* ---- the machine alone: at every byte the longest string that ends, and the longest beginning, as
 * memcmp finds them */
START_TEST(the_machine_finds_what_comparing_finds)
{
  uint64_t seed = suite_seed();
  struct memory m = { .fail_at = 0 };
  struct error why;
  for (int round = 0; round < 3000; round++) {
    struct row_of stop[12], text = { .n = 0 };
    struct stop_string list[12];
    size_t n = 1 + rnd(&seed) % 12, total = 0;
    for (size_t i = 0; i < n; i++) {
      stop[i].n = 1 + rnd(&seed) % 9, total += stop[i].n;
      for (size_t k = 0; k < stop[i].n; k++) stop[i].b[k] = "abc"[rnd(&seed) % (2 + round % 2)];
      list[i] = (struct stop_string){ stop[i].b, stop[i].n };
    }
    struct stops s;
    hold(stops_open(&s, &m, list, n, &why) && s.n_nodes <= total + 1);
    uint32_t state = 0;
    for (; text.n < 200;) {
      text.b[text.n++] = (unsigned char) "abcd"[rnd(&seed) % (2 + round % 3)];
      state = stops_step(&s, state, text.b[text.n - 1]);
      size_t ends = 0, held = 0, deep = 0;
      for (size_t i = 0; i < n; i++)
        for (size_t k = 1; k <= stop[i].n && k <= text.n; k++)
          if (memcmp(text.b + text.n - k, stop[i].b, k) == 0) {
            if (k == stop[i].n && k > ends) ends = k;
            if (k < stop[i].n && k > held) held = k;
            if (k > deep) deep = k;
          }
      const struct stop_string *x = stops_ending(&s, state);
      hold((x == NULL ? 0 : x->n) == ends
        && (ends == 0 || memcmp(text.b + text.n - ends, x->byte, ends) == 0));
      hold(stops_hold(&s, state) == held && s.node[state].depth == deep);
      char tail[16]; /* and strstr agrees: a string ends here if and only if it is found at the end
                        of the tail */
      size_t l = text.n < 9 ? text.n : 9;
      memcpy(tail, text.b + text.n - l, l), tail[l] = '\0';
      bool any = false;
      for (size_t i = 0; i < n; i++) {
        char one[16];
        memcpy(one, stop[i].b, stop[i].n), one[stop[i].n] = '\0';
        for (const char *p = tail; (p = strstr(p, one)) != NULL; p++)
          any |= (size_t) (p - tail) + stop[i].n == l;
      }
      hold(any == (ends > 0));
    }
    stops_close(&s);
  }
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- two famous strings, cut in every way there is: 2^(n-1) ways to cut n bytes */
static void cut_in_every_way(
  const char *text, const char *const *stop, size_t stops, const char *left, const char *fired)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct stop_string list[4];
  struct stops s;
  size_t n = strlen(text);
  for (size_t i = 0; i < stops; i++)
    list[i] = (struct stop_string){ (const unsigned char *) stop[i], strlen(stop[i]) };
  hold(stops_open(&s, &m, list, stops, &why));
  for (uint32_t cuts = 0; cuts < (uint32_t) 1 << (n - 1); cuts++) {
    struct text_stream o = { .m = &m, .until = &s };
    for (size_t at = 0, to; at < n && o.found == NULL; at = to) {
      for (to = at + 1; to < n && !(cuts >> (to - 1) & 1); to++)
        ;
      hold(text_stream_bytes(&o, (const unsigned char *) text + at, to - at, &why));
      hold(o.released <= strlen(left)
        && memcmp(o.text.byte, left, o.released)
          == 0); /* never a byte that is not of the final text */
    }
    text_stream_end(&o);
    hold(o.text.n == strlen(left) && memcmp(o.text.byte, left, o.text.n) == 0);
    hold(fired == NULL ? o.found == NULL
                       : o.found != NULL && o.found->n == strlen(fired)
          && memcmp(o.found->byte, fired, o.found->n) == 0);
    text_stream_close(&o);
  }
  stops_close(&s);
  ck_assert_uint_eq(m.all.live, 0);
}
START_TEST(two_line_ends_and_a_name_in_every_cut)
{
  static const char *const both[] = { "\n\n", "User:" };
  cut_in_every_way("One.\nTwo.\n\nUser: 3", both, 2, "One.\nTwo.", "\n\n");
  cut_in_every_way("\xe2\x82\xac 5.\nUse\nUser: no", both, 2, "\xe2\x82\xac 5.\nUse\n", "User:");
  cut_in_every_way("Us\n Users: \n \xc3\xa9"
                   "a",
    both, 2,
    "Us\n Users: \n \xc3\xa9"
    "a",
    NULL);
  cut_in_every_way(
    "1. a\n2. b\n3. c\n4. d", (const char *const[]){ "4." }, 1, "1. a\n2. b\n3. c\n", "4.");
  cut_in_every_way("xabcdabcd", (const char *const[]){ "abcd", "bc" }, 2, "xa", "bc");
  cut_in_every_way("Hannah", (const char *const[]){ "anno", "nah" }, 2, "Han", "nah");
}
END_TEST

/* ---- the text does not depend on how it is cut into tokens, and what is released is its
 * beginning, for long texts */
START_TEST(concatenation_is_the_final_text)
{
  uint64_t seed = suite_seed();
  struct memory m = { .fail_at = 0 };
  struct error why;
  for (int round = 0; round < 4000; round++) {
    static unsigned char text[300], shown[300], first[300];
    size_t n = draw_bytes(&seed, 1 + round % 2, text, sizeof text), whole = 0;
    unsigned char stop[3][8];
    struct stop_string list[3];
    size_t stops = 1 + rnd(&seed) % 3;
    for (size_t i = 0; i < stops; i++) {
      size_t k = 0;
      while ((k = draw_bytes(&seed, 1, stop[i], 8)) < 2)
        ;
      list[i] = (struct stop_string){ stop[i], k };
    }
    struct stops s;
    hold(stops_open(&s, &m, list, stops, &why));
    for (int cut = 0; cut < 8; cut++) {
      struct text_stream o = { .m = &m, .until = &s };
      size_t max = 1 + rnd(&seed) % 9, got = 0;
      for (size_t at = 0; at < n && o.found == NULL;) {
        size_t k = rnd(&seed) % (max + 1);
        k = k > n - at ? n - at : k;
        hold(text_stream_bytes(&o, text + at, k, &why));
        if (o.released > got) memcpy(shown + got, o.text.byte + got, o.released - got);
        got = o.released, at += k;
      }
      text_stream_end(&o);
      if (o.released > got)
        memcpy(shown + got, o.text.byte + got, o.released - got), got = o.released;
      if (cut == 0) memcpy(first, shown, got), whole = got;
      hold(got == o.text.n && got == whole && memcmp(shown, first, got) == 0
        && memcmp(shown, text, got) == 0);
      text_stream_close(&o);
    }
    stops_close(&s);
  }
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- what the reference systems did */
static void take_list(json_t *stop, struct stop_string *list)
{
  for (size_t i = 0; i < json_array_size(stop); i++) {
    json_t *x = json_array_get(stop, i);
    list[i] =
      (struct stop_string){ (const unsigned char *) json_string_value(x), json_string_length(x) };
  }
}
START_TEST(stop_vectors_of_hugging_face)
{
  char buffer[400];
  const char *path =
    shared_file(buffer, sizeof buffer, "vectors/stop/hf_stop_string_criteria.json");
  if (path == NULL) return;
  json_t *all = load(path), *c;
  struct error why;
  size_t i;
  unsigned good = 0;
  json_array_foreach(json_object_get(all, "cases"), i, c)
  {
    json_t *stop = json_object_get(c, "stop"), *piece = json_object_get(c, "tokens");
    struct stop_string list[16];
    struct stops s;
    take_list(stop, list);
    hold(json_array_size(stop) <= 16 && stops_open(&s, &M, list, json_array_size(stop), &why));
    /* theirs asks whether an occurrence ends in the last token, wherever it begins: ours with all
     * tokens but the last protected */
    struct text_stream o = { .m = &M, .until = &s, .min_tokens = json_array_size(piece) - 1 };
    for (size_t k = 0; k < json_array_size(piece); k++)
      hold(
        text_stream_bytes(&o, (const unsigned char *) json_string_value(json_array_get(piece, k)),
          json_string_length(json_array_get(piece, k)), &why));
    hold((o.found != NULL) == json_is_true(json_object_get(c, "expect")));
    text_stream_close(&o), stops_close(&s), good++;
  }
  tally("vectors/stop/hf_stop_string_criteria.json", good, 0, 0, "");
  json_decref(all);
  at_peace();
}
END_TEST
START_TEST(stop_vectors_of_vllm)
{
  char buffer[400];
  const char *path = shared_file(buffer, sizeof buffer, "vectors/stop/vllm_stop_strings.json");
  if (path == NULL) return;
  json_t *all = load(path), *c;
  struct error why;
  size_t i;
  unsigned good = 0;
  json_array_foreach(json_object_get(all, "cases"), i, c)
  {
    json_t *stop = json_object_get(c, "stop"), *piece = json_object_get(c, "pieces"),
           *text = json_object_get(c, "text"), *reason = json_object_get(c, "stop_reason");
    struct stop_string list[16];
    struct stops s;
    take_list(stop, list);
    hold(json_array_size(stop) <= 16 && stops_open(&s, &M, list, json_array_size(stop), &why));
    struct text_stream o = { .m = &M,
      .until = &s,
      .include_stop = json_is_true(json_object_get(c, "include_stop")),
      .min_tokens = (size_t) json_integer_value(json_object_get(c, "min_tokens")) };
    size_t theirs = 0; /* vLLM holds the length of the longest string less 1; we never release later
                          than that, when both know as much */
    bool one_by_one = true;
    for (size_t k = 0; k < json_array_size(json_object_get(c, "steps")); k++)
      one_by_one &= json_integer_value(json_array_get(json_object_get(c, "steps"), k)) == 1;
    for (size_t k = 0; k < json_array_size(piece) && o.found == NULL; k++) {
      hold(
        text_stream_bytes(&o, (const unsigned char *) json_string_value(json_array_get(piece, k)),
          json_string_length(json_array_get(piece, k)), &why));
      theirs += json_string_length(json_array_get(json_object_get(c, "deltas"), k));
      if (one_by_one && k + 1 < json_array_size(json_object_get(c, "deltas"))
        && json_array_size(stop) > 0)
        hold(o.released >= theirs);
    }
    text_stream_end(&o);
    hold(o.text.n == json_string_length(text)
      && (o.text.n == 0 || memcmp(o.text.byte, json_string_value(text), o.text.n) == 0));
    hold(o.found == NULL ? json_is_null(reason)
                         : !json_is_null(reason) && o.found->n == json_string_length(reason)
          && memcmp(o.found->byte, json_string_value(reason), o.found->n) == 0);
    /* decided otherwise: four tokens in one step are four tokens, and "tokens_consumed: the number
     * of the token in which it ends" */
    hold(o.tokens == (size_t) json_integer_value(json_object_get(c, "tokens_consumed"))
      || !one_by_one);
    text_stream_close(&o), stops_close(&s), good++;
  }
  tally("vectors/stop/vllm_stop_strings.json", good, 0, 0, "");
  json_decref(all);
  at_peace();
}
END_TEST
START_TEST(stream_vectors_without_stop_strings)
{
  char buffer[400];
  const char *path = shared_file(buffer, sizeof buffer, "vectors/stream/gpt2_stream.json");
  const char *vocab = path ? shared_file((char[400]){ 0 }, 400, "data/gpt2") : NULL;
  if (path == NULL || vocab == NULL) return;
  struct error why;
  struct tokenizer *t = tokenizer_open(&M, vocab, &why);
  struct stops s;
  hold(t != NULL && stops_open(&s, &M, NULL, 0, &why));
  json_t *all = load(path), *c;
  unsigned good = 0;
  size_t i;
  json_array_foreach(json_object_get(all, "cases"), i, c)
  {
    json_t *list = json_object_get(c, "ids"), *want = json_object_get(c, "hold_back_only");
    struct text_stream o = { .m = &M, .t = t, .until = &s };
    size_t shown = 0;
    for (size_t k = 0; k <= json_array_size(list); k++) {
      if (k == json_array_size(list))
        text_stream_end(&o);
      else
        hold(text_stream_id(&o, (uint32_t) json_integer_value(json_array_get(list, k)), &why));
      json_t *w =
        k == json_array_size(list) ? json_object_get(c, "flush") : json_array_get(want, k);
      struct bytes text = { NULL, 0, 0 };
      hold(utf8_lossy(&M, o.text.byte + shown, o.released - shown, &text, &why));
      hold(text.n == json_string_length(w)
        && (text.n == 0 || memcmp(text.byte, json_string_value(w), text.n) == 0));
      bytes_free(&M, &text);
      shown = o.released;
    }
    text_stream_close(&o), good++;
  }
  tally("vectors/stream/gpt2_stream.json: outflow", good, 0, 0, "");
  json_decref(all);
  stops_close(&s), tokenizer_close(&M, t);
  at_peace();
}
END_TEST

/* ---- ids: the text is what the tokenizer decodes behind the prompt, with its rule for a first
 * blank */
static const char *const vocabulary[] = { "models/pocket", "tests/golden/tokenizers/plain",
  "tests/golden/tokenizers/llama", "tests/golden/tokenizers/spaces",
  "tests/golden/tokenizers/pieces" };
START_TEST(ids_become_the_bytes_behind_the_prompt)
{
  struct error why;
  struct tokenizer *t = tokenizer_open(&M, vocabulary[_i], &why);
  ck_assert_msg(t != NULL, "%s", why.text);
  struct stops s;
  hold(stops_open(&s, &M, NULL, 0, &why));
  uint64_t seed = suite_seed();
  size_t v = tokenizer_vocab_size(t);
  for (int round = 0; round < 2000; round++) {
    uint32_t id[24];
    size_t p = rnd(&seed) % 4, n = p + rnd(&seed) % 20;
    for (size_t i = 0; i < n; i++)
      id[i] = (uint32_t) (rnd(&seed) % 5 == 0 ? rnd(&seed) % 8 : rnd(&seed) % v);
    struct bytes given = { NULL, 0, 0 }, both = { NULL, 0, 0 };
    hold(tokenizer_decode(t, &M, id, p, true, &given, &why)
      && tokenizer_decode(t, &M, id, n, true, &both, &why));
    struct text_stream o = { .m = &M, .t = t, .until = &s };
    hold(text_stream_prompt(&o, id, p, &why) && o.text.n == 0);
    for (size_t i = p; i < n; i++) { /* and each behind another, which was guessed and is taken back */
      struct text_stream_state here = text_stream_save(&o);
      hold(text_stream_id(&o, id[n - 1], &why));
      text_stream_restore(&o, &here);
      hold(text_stream_id(&o, id[i], &why));
    }
    hold(o.tokens == n - p && o.text.n == both.n - given.n
      && (o.text.n == 0 || memcmp(o.text.byte, both.byte + given.n, o.text.n) == 0));
    text_stream_close(&o), bytes_free(&M, &given), bytes_free(&M, &both);
  }
  stops_close(&s), tokenizer_close(&M, t);
  at_peace();
}
END_TEST

/* a text that a string has ended hears no further token, whatever this one would spell */
START_TEST(behind_a_stop_string_nothing_is_heard)
{
  struct error why;
  struct tokenizer *t = tokenizer_open(&M, "models/pocket", &why);
  struct stops s;
  struct ids id = { NULL, 0, 0 };
  static const char told[] = "A.\nUser: no\nUser: yes";
  static const struct stop_string name[1] = { { (const unsigned char *) "User:", 5 } };
  hold(t != NULL && tokenizer_encode(t, &M, told, sizeof told - 1, false, false, &id, &why));
  hold(stops_open(&s, &M, name, 1, &why));
  for (int with = 0; with < 2; with++) {
    struct text_stream o = { .m = &M, .t = t, .until = &s, .include_stop = with };
    for (size_t i = 0; i < id.n; i++) hold(text_stream_id(&o, id.id[i], &why));
    hold(o.found == &name[0] && o.text.n == (with ? 8 : 3) && o.released == o.text.n && o.tokens < id.n);
    hold(memcmp(o.text.byte, told, o.text.n) == 0);
    text_stream_close(&o);
  }
  stops_close(&s), ids_free(&M, &id), tokenizer_close(&M, t);
  at_peace();
}
END_TEST

/* ---- the loop, with a chooser that recites: so any text meets any list of criteria */
struct rendered_prompt {
  const uint32_t *id;
  size_t n, at;
};
static bool recite(void *ctx, const float *logits, const struct continuation *text,
  uint32_t *chosen, struct error *why)
{
  struct rendered_prompt *s = ctx;
  (void) logits, (void) text, (void) why;
  *chosen = s->id[s->at++ % s->n];
  return true;
}
struct at_length {
  size_t n, asked;
  bool fails;
};
static bool long_enough(void *ctx, const struct continuation *text, bool *enough, struct error *why)
{
  struct at_length *x = ctx;
  x->asked++;
  *enough = text->text.n - text->n_prompt >= x->n;
  return !x->fails || !*enough || error_say(why, "the judge has fallen asleep");
}
static bool perform(struct tiny_rig *r, const uint32_t *id, size_t n, struct criteria *judges,
  struct generate_options want, struct continuation *c)
{
  struct generate_context g = { &r->e, &r->t.lm, r->s, &r->m };
  struct rendered_prompt script = { id, n, 0 };
  uint32_t prompt[1] = { 3 };
  want.select = recite, want.select_ctx = &script, want.recall = store_match_prefix;
  want.stop = criteria_should_stop, want.stop_ctx = judges;
  return generate(&g, prompt, 1, &want, c, &r->why);
}
START_TEST(any_list_of_criteria_is_an_or_and_keeps_the_first)
{
  struct tiny_rig r;
  tiny_open(&r, 5, 1);
  uint64_t seed = suite_seed();
  static const char *const name[] = { "a", "b", "c", "d", "e", "f" };
  unsigned ties = 0;
  for (int round = 0; round < 400; round++) {
    struct at_length length[6];
    struct criterion list[6];
    size_t n = rnd(&seed) % 7, min = 12, who = 7;
    for (size_t i = 0; i < n; i++) {
      length[i] = (struct at_length){ 1 + rnd(&seed) % 14, 0, false };
      list[i] = (struct criterion){ name[i], long_enough, &length[i] };
      ties += length[i].n == min;
      if (length[i].n < min)
        min = length[i].n, who = i;
      else if (length[i].n == 12 && min == 12 && who == 7)
        who = i;
    }
    struct criteria judges = { list, n, NULL };
    struct continuation c;
    hold(perform(&r, (uint32_t[2]){ 1, 2 }, 2, &judges,
      (struct generate_options){ .max_new_tokens = 12 }, &c));
    hold(c.text.n == 1 + min && c.ended == (who < 7 ? FINISH_STOP : FINISH_LENGTH));
    const char *reason = criteria_reason(&judges, c.ended);
    hold(who < 7 ? judges.fired == &list[who] && strcmp(reason, name[who]) == 0
                 : judges.fired == NULL && reason == NULL);
    for (size_t i = 0; i < n; i++)
      hold(length[i].asked == min); /* all are asked, about every token */
    continuation_free(&r.m, &c);
  }
  ck_assert_uint_gt(ties, 50);
  tiny_close(&r);
}
END_TEST
START_TEST(on_one_token_the_end_token_then_the_list_then_the_length)
{
  struct tiny_rig r;
  tiny_open(&r, 5, 1);
  struct error why;
  struct stops s;
  static const struct stop_string x[1] = { { (const unsigned char *) "x", 1 } };
  hold(stops_open(&s, &r.m, x, 1, &why));
  size_t twice_the_same = 1;
  /* behind four tokens everything says stop at once: an end token, a repetition, a callback, the
   * length */
  for (int without = 0; without < 4; without++) {
    struct text_stream o = { .m = &r.m, .until = &s };
    struct at_length four = { 4, 0, false };
    struct criterion list[] = { { "string", text_stream_should_stop, &o },
      { "repetition", repetition_should_stop, &twice_the_same },
      { "callback", long_enough, &four } };
    twice_the_same = without > 1 ? 0 : 1;
    four.n = without > 2 ? 99 : 4;
    struct criteria judges = { list, 3, NULL };
    struct continuation c;
    uint32_t id[4] = { 2, 7, 7, 7 }, eos[1] = { 7 };
    hold(perform(&r, id, 4, &judges,
      (struct generate_options){
        .max_new_tokens = 4, .eos = eos, .n_eos = without > 0 ? 0 : 1, .min_tokens = 3 },
      &c));
    hold(c.text.n == 5 && c.ended == (without > 2 ? FINISH_LENGTH : FINISH_STOP));
    const char *reason = criteria_reason(&judges, c.ended);
    static const char *const want[] = { "eos", "repetition", "callback", NULL };
    hold(want[without] == NULL ? reason == NULL : strcmp(reason, want[without]) == 0);
    hold(o.tokens == (without == 0 ? 3 : 4));
    continuation_free(&r.m, &c), text_stream_close(&o);
  }
  stops_close(&s);
  tiny_close(&r);
}
END_TEST
START_TEST(a_judge_that_fails_leaves_its_sentence_and_no_text)
{
  struct tiny_rig r;
  tiny_open(&r, 5, 1);
  struct at_length x = { 5, 0, true };
  struct criterion list[] = { { "sleepy", long_enough, &x } };
  struct criteria judges = { list, 1, NULL };
  struct continuation c;
  ck_assert(!perform(
    &r, (uint32_t[2]){ 1, 2 }, 2, &judges, (struct generate_options){ .max_new_tokens = 9 }, &c));
  ck_assert_str_eq(r.why.text, "the judge has fallen asleep");
  ck_assert(c.text.id == NULL && c.text.n == 0);
  tiny_close(&r);
}
END_TEST
START_TEST(three_times_the_same_is_found_when_it_is_complete)
{
  struct tiny_rig r;
  tiny_open(&r, 5, 1);
  uint64_t seed = suite_seed();
  unsigned found = 0;
  for (int round = 0; round < 300; round++) {
    size_t n = rnd(&seed) % 5, max = 1 + rnd(&seed) % 40, min = max;
    uint32_t id[40];
    for (size_t i = 0; i < 40; i++)
      id[i] = (uint32_t) (rnd(&seed) % 4 == 0 || i < 3 ? rnd(&seed) % 2 : id[i - 1 - n % 3]);
    if (round % 3 == 0) id[0] = 3, id[1] = round % 2 ? id[1] : 3; /* as the prompt is */
    for (size_t l = 3 * n; n > 0 && l <= max && l < min; l++) {
      bool same = true;
      for (size_t i = l - 3 * n; same && i < l - n; i++) same = id[i] == id[i + n];
      if (same) min = l;
    }
    bool same = n > 0 && min == max && max >= 3 * n;
    for (size_t i = max - 3 * n; same && i < max - n; i++) same = id[i] == id[i + n];
    bool fires = min < max || same;
    struct criterion list[] = { { "repetition", repetition_should_stop, &n } };
    struct criteria judges = { list, 1, NULL };
    struct continuation c;
    hold(perform(&r, id, 40, &judges, (struct generate_options){ .max_new_tokens = max }, &c));
    hold(c.text.n == 1 + min && (judges.fired != NULL) == fires);
    found += fires;
    continuation_free(&r.m, &c);
  }
  ck_assert_uint_gt(found, 50);
  tiny_close(&r);
}
END_TEST
START_TEST(a_protected_end_token_is_a_token_like_any_other)
{
  struct tiny_rig r;
  tiny_open(&r, 5, 1);
  struct criteria none = { NULL, 0, NULL };
  uint32_t id[6] = { 4, 9, 9, 5, 6, 9 }, eos[2] = { 8, 9 };
  for (size_t min = 0; min < 8; min++) {
    struct continuation c;
    hold(perform(&r, id, 6, &none,
      (struct generate_options){ .max_new_tokens = 6, .eos = eos, .n_eos = 2, .min_tokens = min },
      &c));
    size_t want = min < 2 ? 2 : min < 3 ? 3 : 6;
    ck_assert_uint_eq(c.text.n - 1, want);
    ck_assert_int_eq(c.ended, min < 6 ? FINISH_STOP : FINISH_LENGTH);
    ck_assert_mem_eq(c.text.id + 1, id, want * sizeof *id);
    continuation_free(&r.m, &c);
  }
  tiny_close(&r);
}
END_TEST

/* ---- cancelled: by a callback, or by a signal that a callback notices; valid, and continued it is
 * the whole text */
static volatile sig_atomic_t rung;
static void ring(int number)
{
  rung = number;
}
struct stopwatch {
  size_t left;
  bool by_signal;
};
static bool until_cancelled(void *ctx, const struct step *now)
{
  struct stopwatch *w = ctx;
  (void) now;
  if (w->left-- > 1) return true;
  if (!w->by_signal) return false;
  raise(SIGINT);
  return rung != SIGINT;
}
START_TEST(a_cancelled_text_is_valid_and_goes_on_as_if_nothing_had_been)
{
  struct error why;
  struct counters c = { 0 };
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct model *lm = model_open(&M, "models/pocket", &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  struct tokenizer *t = tokenizer_open(&M, "models/pocket", &why);
  struct store *s = cache_open(&M, &lm->config, 1, &(struct cache_options){ .rows = 128 }, &why);
  struct sampler d = { .s = sampling_default(), .seed = 4 };
  hold(t != NULL && s != NULL && funnel_open(&d.f, &M, e.k, lm->config.vocab_size, &why));
  struct generate_context g = { &e, lm, s, &M };
  struct ids prompt = { NULL, 0, 0 };
  hold(tokenizer_encode(t, &M, "The cat", 7, false, false, &prompt, &why));
  signal(SIGINT, ring);
  struct generate_options want = {
    .max_new_tokens = 30, .recall = store_match_prefix, .select = sampler_choose, .select_ctx = &d
  };
  struct continuation whole, part, rest;
  hold(generate(&g, prompt.id, prompt.n, &want, &whole, &why) && whole.text.n == prompt.n + 30);
  for (size_t at = 1; at < 30; at += 4) {
    struct stopwatch w = { at, at % 8 == 1 };
    rung = 0;
    struct generate_options cut = want;
    cut.on_step = until_cancelled, cut.ctx = &w;
    hold(generate(&g, prompt.id, prompt.n, &cut, &part, &why));
    ck_assert_int_eq(part.ended, FINISH_CANCELLED);
    ck_assert_uint_eq(part.text.n, prompt.n + at);
    ck_assert_mem_eq(part.text.id, whole.text.id, part.text.n * sizeof *part.text.id);
    cut = want, cut.max_new_tokens = 30 - at;
    hold(generate(&g, part.text.id, part.text.n, &cut, &rest, &why) && rest.text.n == whole.text.n);
    ck_assert_mem_eq(rest.text.id, whole.text.id, rest.text.n * sizeof *rest.text.id);
    continuation_free(&M, &part), continuation_free(&M, &rest);
  }
  signal(SIGINT, SIG_DFL);
  continuation_free(&M, &whole), ids_free(&M, &prompt);
  funnel_close(&d.f), store_close(s), tokenizer_close(&M, t), model_close(&M, lm);
  at_peace();
}
END_TEST

/* ---- cancelled anywhere and continued with the outflow that was kept and not ended: the text ends
 * where it would have; with a new one what was held has been let go */
static bool until_done(void *ctx, const struct step *now)
{
  size_t *left = ctx;
  (void) now;
  return --*left > 0;
}
START_TEST(an_outflow_that_is_kept_goes_on_where_it_was)
{
  struct error why;
  struct counters c = { 0 };
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct model *lm = model_open(&M, "models/pocket", &why);
  struct tokenizer *t = tokenizer_open(&M, "models/pocket", &why);
  ck_assert(lm != NULL && t != NULL);
  struct store *store =
    cache_open(&M, &lm->config, 1, &(struct cache_options){ .rows = 128 }, &why);
  struct generate_context g = { &e, lm, store, &M };
  struct ids id = { NULL, 0, 0 };
  static const char told[] = "A.\nUseful.\nUser: no\nUser: yes";
  hold(store != NULL && tokenizer_encode(t, &M, told, sizeof told - 1, false, false, &id, &why));
  struct stops s;
  static const struct stop_string name[1] = { { (const unsigned char *) "User:", 5 } };
  hold(stops_open(&s, &M, name, 1, &why));
  uint32_t prompt[64] = { 3 };
  size_t whole[2] = { 0, 0 }, lost = 0;
  for (int protect = 0; protect < 2; protect++)
    for (size_t at = 0; at < id.n - 3; at++) { /* at 0 nothing is cancelled */
      struct text_stream o = { .m = &M, .t = t, .until = &s, .min_tokens = protect ? 10 : 0 },
                         fresh;
      struct criterion one[] = { { "string", text_stream_should_stop, &o } };
      struct criteria judges = { one, 1, NULL };
      struct rendered_prompt script = { id.id, id.n, 0 };
      size_t left = at;
      struct generate_options want = { .max_new_tokens = id.n,
        .recall = store_match_prefix,
        .select = recite,
        .select_ctx = &script,
        .stop = criteria_should_stop,
        .stop_ctx = &judges,
        .on_step = at > 0 ? until_done : NULL,
        .ctx = &left };
      struct continuation part, rest;
      hold(generate(&g, prompt, 1, &want, &part, &why));
      if (part.ended == FINISH_CANCELLED) {
        bool holds = o.released < o.text.n && o.text.byte[o.text.n - 1] != '\n';
        memcpy(prompt, part.text.id, part.text.n * sizeof *prompt);
        want.on_step = NULL;
        size_t had = o.text.n;
        hold(text_stream_prompt(&o, prompt, part.text.n, &why)
          && o.text.n == had); /* shown the longer prompt it keeps what it has */
        hold(generate(&g, prompt, part.text.n, &want, &rest, &why) && rest.ended == FINISH_STOP);
        continuation_free(&M, &rest);
        fresh = (struct text_stream){ .m = &M, .t = t, .until = &s };
        one[0].ctx = &fresh, judges.fired = NULL, script.at = at;
        hold(text_stream_prompt(&fresh, prompt, part.text.n, &why)
          && generate(&g, prompt, part.text.n, &want, &rest, &why));
        lost += !protect && holds && o.found != NULL && at + fresh.tokens > o.tokens;
        continuation_free(&M, &rest), text_stream_close(&fresh);
      }
      if (at == 0) whole[protect] = o.text.n;
      hold(
        o.found != NULL && o.text.n == whole[protect] && memcmp(o.text.byte, told, o.text.n) == 0);
      continuation_free(&M, &part), text_stream_close(&o);
    }
  ck_assert_uint_eq(whole[0], 11);
  ck_assert_uint_eq(whole[1], 20);
  ck_assert_uint_gt(lost, 0);
  stops_close(&s), ids_free(&M, &id), store_close(store), tokenizer_close(&M, t),
    model_close(&M, lm);
  at_peace();
}
END_TEST

/* ---- a person's Ctrl-C is not swallowed by the chapter's laboratory: it ends with a sentence, or,
 * between two texts, by the signal itself */
START_TEST(the_program_obeys_a_signal_that_nobody_wished)
{
  char path[400], said[400];
  const char *build = getenv("BUILD");
  snprintf(path, sizeof path, "%s/bin/laboratory/stopping", build != NULL ? build : "build");
  ck_assert_msg(access(path, X_OK) == 0, "%s is not built", path);
  unsigned sentences = 0;
  for (unsigned round = 0; round < 6; round++) {
    int err[2];
    ck_assert(pipe(err) == 0);
    pid_t child = fork();
    if (child == 0) {
      dup2(err[1], 2), close(err[0]), close(err[1]);
      signal(SIGINT, SIG_DFL);
      if (freopen("/dev/null", "w", stdout) != NULL) execl(path, path, "running", (char *) NULL);
      _exit(99);
    }
    close(err[1]);
    usleep(200000 + 50000 * round);
    kill(child, SIGINT);
    size_t n = 0;
    for (ssize_t k; n < sizeof said - 1 && (k = read(err[0], said + n, sizeof said - 1 - n)) > 0;)
      n += (size_t) k;
    said[n] = '\0';
    int status;
    ck_assert(waitpid(child, &status, 0) == child);
    close(err[0]);
    bool by_signal = WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
    ck_assert_msg(by_signal
        || (WIFEXITED(status) && WEXITSTATUS(status) == 1 && strstr(said, "interrupted") != NULL),
      "status %d: %s", status, said);
    sentences += !by_signal;
  }
  ck_assert_uint_gt(sentences, 0);
}
END_TEST

/* ---- the whole way with a real model: any stop string that stands in the text ends it where the
 * sentence says */
START_TEST(a_text_ends_where_a_search_in_the_whole_text_finds_the_string)
{
  struct error why;
  struct counters c = { 0 };
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct model *lm = model_open(&M, "models/pocket", &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  struct tokenizer *t = tokenizer_open(&M, "models/pocket", &why);
  struct store *s = cache_open(&M, &lm->config, 1, &(struct cache_options){ .rows = 256 }, &why);
  struct generate_context g = { &e, lm, s, &M };
  struct ids prompt = { NULL, 0, 0 };
  struct bytes all = { NULL, 0, 0 };
  static const char user[] = "User: Where does the owl live?\nAssistant:";
  hold(t != NULL && s != NULL
    && tokenizer_encode(t, &M, user, strlen(user), false, false, &prompt, &why));
  struct generate_options want = { .max_new_tokens = 90, .recall = store_match_prefix };
  struct continuation whole;
  hold(generate(&g, prompt.id, prompt.n, &want, &whole, &why));
  hold(
    tokenizer_decode(t, &M, whole.text.id + prompt.n, whole.text.n - prompt.n, true, &all, &why));
  uint64_t seed = suite_seed();
  for (int round = 0; round < 40; round++) {
    struct stop_string list[3];
    size_t n = 1 + rnd(&seed) % 3, end = all.n, cut = all.n;
    for (size_t i = 0; i < n; i++) {
      size_t at = rnd(&seed) % (all.n - 9);
      list[i] = (struct stop_string){ all.byte + at, 1 + rnd(&seed) % 9 };
      for (at = 0; at + list[i].n <= end; at++)
        if (memcmp(all.byte + at, list[i].byte, list[i].n) == 0) {
          if (at + list[i].n < end || at < cut) end = at + list[i].n, cut = at;
          break;
        }
    }
    struct stops automaton;
    hold(stops_open(&automaton, &M, list, n, &why));
    struct text_stream o = { .m = &M, .t = t, .until = &automaton };
    struct criterion one[] = { { "string", text_stream_should_stop, &o } };
    struct criteria judges = { one, 1, NULL };
    struct generate_options with = want;
    struct continuation text;
    with.stop = criteria_should_stop, with.stop_ctx = &judges;
    hold(text_stream_prompt(&o, prompt.id, prompt.n, &why)
      && generate(&g, prompt.id, prompt.n, &with, &text, &why));
    hold(text.ended == FINISH_STOP && o.found != NULL && o.text.n == cut
      && memcmp(o.text.byte, all.byte, cut) == 0);
    hold(strcmp(criteria_reason(&judges, text.ended), "string") == 0
      && o.tokens == text.text.n - prompt.n);
    continuation_free(&M, &text), text_stream_close(&o), stops_close(&automaton);
  }
  continuation_free(&M, &whole), ids_free(&M, &prompt), bytes_free(&M, &all);
  store_close(s), tokenizer_close(&M, t), model_close(&M, lm);
  at_peace();
}
END_TEST

/* ---- memory: every refusal is survived; what is taken grows with the bytes of the strings, and
 * the time with those of the text */
START_TEST(every_request_may_be_refused)
{
  struct error why;
  struct memory quiet = { .fail_at = 0 };
  struct tokenizer *t = tokenizer_open(&quiet, "models/pocket", &why);
  ck_assert_ptr_nonnull(t);
  bool whole = false;
  uint64_t k = 0;
  for (; !whole && k < 60;) {
    struct memory m = { .fail_at = ++k };
    static const struct stop_string list[2] = { { (const unsigned char *) "\n\n", 2 },
      { (const unsigned char *) "User:", 5 } };
    struct stops s = { .list = NULL };
    struct text_stream o = { .m = &m, .t = t, .until = &s };
    whole = stops_open(&s, &m, list, 2, &why)
      && text_stream_prompt(&o, (uint32_t[2]){ 378, 410 }, 2, &why);
    for (uint32_t i = 0; whole && i < 200; i++) {
      size_t before = o.text.n, tokens = o.tokens;
      whole = text_stream_id(&o, 300 + i, &why);
      if (!whole)
        ck_assert(o.text.n == before
          && o.tokens == tokens); /* as it was, and the token can be taken again */
    }
    if (!whole && o.tokens > 0) {
      m.fail_at = 0;
      for (uint32_t i = (uint32_t) o.tokens; i < 200; i++)
        ck_assert(text_stream_id(&o, 300 + i, &why));
    }
    if (!whole) ck_assert_uint_gt(strlen(why.text), 0);
    text_stream_close(&o), stops_close(&s);
    ck_assert_uint_eq(m.all.live, 0);
  }
  ck_assert(whole);
  ck_assert_uint_gt(k, 3);
  tokenizer_close(&quiet, t);
  ck_assert_uint_eq(quiet.all.live, 0);
}
END_TEST
START_TEST(long_strings_take_linear_memory_and_time)
{
  enum { MANY = 1 << 20 };
  unsigned char *long_one = malloc(MANY + 1), *text = malloc(4 * MANY);
  struct error why;
  for (int kind = 0; kind < 3; kind++) {
    struct memory m = { .fail_at = 0 };
    struct stop_string list[300];
    size_t n = 1, total = MANY;
    memset(long_one, 'a', MANY);
    if (kind == 1) long_one[MANY - 1] = 'b';
    list[0] = (struct stop_string){ long_one, MANY };
    if (kind == 2) { /* every byte begins one, and the tails of one another */
      for (n = 0; n < 256; n++)
        long_one[n * 4000] = (unsigned char) n,
                     list[n] = (struct stop_string){ long_one + n * 4000, 4000 };
      total = n * 4000;
    }
    struct stops s;
    double start = seconds();
    ck_assert_msg(stops_open(&s, &m, list, n, &why), "%s", why.text);
    ck_assert_uint_le(m.all.peak, 40 * (uint64_t) total + 4096);
    /* runs of a that break off just before the string is complete, the worst there is for a search
     * that begins again */
    memset(text, 'a', 4 * MANY);
    for (size_t i = MANY - 1; i < 4 * MANY; i += MANY) text[i] = 'c';
    struct text_stream o = { .m = &m, .until = &s };
    for (size_t at = 0; at < 4 * MANY && o.found == NULL; at += 64)
      hold(text_stream_bytes(&o, text + at, 64, &why));
    IN_TIME(seconds() - start);
    if (kind < 2) ck_assert(o.found == NULL && o.released == o.text.n);
    uint32_t state = 0; /* the string itself is found, at its last byte and not before */
    for (size_t i = 0; i < list[0].n; i++) {
      state = stops_step(&s, state, list[0].byte[i]);
      hold(kind == 2 || (stops_ending(&s, state) != NULL) == (i + 1 == list[0].n));
    }
    text_stream_close(&o), stops_close(&s);
    ck_assert_uint_eq(m.all.live, 0);
  }
  free(long_one), free(text);
}
END_TEST
START_TEST(empty_strings_are_refused_with_their_number)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct stops s;
  struct stop_string list[2] = { { (const unsigned char *) "a", 1 },
    { (const unsigned char *) "", 0 } };
  ck_assert(!stops_open(&s, &m, list, 2, &why));
  ck_assert_str_eq(why.text, "stop string 1 is empty; wanted: 1 byte or more");
  stops_close(&s);
  list[1].n = (size_t) -1;
  ck_assert(!stops_open(&s, &m, list, 2, &why));
  ck_assert_str_eq(why.text, "the stop strings have more than 4294967294 bytes");
  stops_close(&s);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
START_TEST(escapes_are_the_four_and_no_others)
{
  static const struct {
    const char *in, *out;
    int n;
  } good[] = { { "", "", 0 }, { "a\\nb", "a\nb", 3 }, { "\\t\\\\", "\t\\", 2 },
    { "\\x00\\xfF", "\0\xff", 2 }, { "\\x411", "A1", 2 }, { "\\\\n", "\\n", 2 },
    { "\xc3\xa9", "\xc3\xa9", 2 } };
  static const char *const bad[] = { "\\", "a\\", "\\r", "\\0", "\\x", "\\x4", "\\xg0", "\\x4g",
    "\\x 4", "\\x+1", "\\N", "\\\\\\" };
  struct error why;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    struct bytes out = { NULL, 0, 0 };
    ck_assert(bytes_push(&M, &out, "-", 1, &why) && stops_unescape(&M, good[i].in, &out, &why));
    ck_assert_int_eq(out.n, 1 + good[i].n);
    ck_assert(memcmp(out.byte + 1, good[i].out, (size_t) good[i].n) == 0);
    bytes_free(&M, &out);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct bytes out = { NULL, 0, 0 };
    ck_assert(bytes_push(&M, &out, "-", 1, &why) && !stops_unescape(&M, bad[i], &out, &why));
    ck_assert(out.n == 1 && strstr(why.text, bad[i]) != NULL && strstr(why.text, "wanted") != NULL);
    bytes_free(&M, &out);
  }
  at_peace();
}
END_TEST

/* ---- all criteria are asked, up to a failure; the first that fires is the reason */
static bool says(void *ctx, const struct continuation *text, bool *enough, struct error *why)
{
  int *x = ctx;
  (void) text;
  *x += 10;
  if (*x % 10 == 2) return error_say(why, "it cannot be judged");
  if (*x % 10 == 1) *enough = true;
  return true;
}
START_TEST(the_first_criterion_is_the_reason)
{
  struct error why = { "" };
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      int asked[2] = { a, b };
      struct criterion list[2] = { { "one", says, &asked[0] }, { "two", says, &asked[1] } };
      struct criteria c = { list, 2, NULL };
      struct continuation text = { .n_prompt = 0 };
      bool enough = false, ok = criteria_should_stop(&c, &text, &enough, &why);
      ck_assert_int_eq(ok, a != 2 && b != 2);
      ck_assert(asked[0] == 10 + a && asked[1] == (a == 2 ? b : 10 + b));
      if (!ok) continue;
      ck_assert_int_eq(enough, a == 1 || b == 1);
      const char *reason = criteria_reason(&c, FINISH_STOP);
      ck_assert_str_eq(reason, a == 1 ? "one" : b == 1 ? "two" : "eos");
      ck_assert(criteria_reason(&c, FINISH_LENGTH) == NULL
        && criteria_reason(&c, FINISH_CANCELLED) == NULL);
      enough = false, asked[0] = asked[1] = 0; /* what has fired stays the reason */
      ck_assert(criteria_should_stop(&c, &text, &enough, &why));
      ck_assert(enough == (a == 1 || b == 1) && criteria_reason(&c, FINISH_STOP) == reason);
    }
}
END_TEST
START_TEST(outflow_that_breaks_off_has_not_been)
{
  struct memory m = { 0 };
  struct error why;
  struct stops s;
  static const struct stop_string list[2] = { { (const unsigned char *) "\n\n", 2 },
    { (const unsigned char *) "x\n", 2 } };
  ck_assert(stops_open(&s, &m, list, 2, &why));
  for (size_t before = 0; before < 40; before++)
    for (uint64_t k = 1, whole = 0; !whole; k++) {
      struct text_stream o = { .m = &m, .until = &s };
      for (size_t i = 0; i < before; i++)
        hold(text_stream_bytes(&o, (const unsigned char *) "a", 1, &why));
      hold(text_stream_bytes(&o, (const unsigned char *) "x", 1, &why) && o.released == before);
      struct text_stream was = o;
      m.fail_at = m.all.requests + k;
      whole = text_stream_bytes(
        &o, (const unsigned char *) "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\nz", 42, &why);
      m.fail_at = 0;
      if (!whole) {
        hold(o.text.n == was.text.n && o.state == was.state && o.tokens == was.tokens
          && o.released == was.released);
        hold(text_stream_bytes(&o, (const unsigned char *) "\nz", 2, &why));
        hold(o.found == &list[1] && o.text.n == before && o.released == before
          && o.tokens == before + 2);
      } else
        hold(o.found == NULL && o.text.n == before + 43 && o.released == o.text.n);
      text_stream_end(&o);
      hold(o.released == o.text.n);
      text_stream_close(&o);
      hold(o.released == 0 && o.text.n == 0 && o.text.byte == NULL);
    }
  for (uint64_t k = 1; k < 4; k++) { /* the machine itself */
    struct stops t;
    uint64_t held = m.all.live;
    m.fail_at = m.all.requests + k;
    bool ok = stops_open(&t, &m, list, 2, &why);
    m.fail_at = 0;
    ck_assert_int_eq(ok, k == 3);
    if (ok) stops_close(&t);
    ck_assert_uint_eq(m.all.live, held);
  }
  stops_close(&s);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
/* tokens that were only guessed are taken back: what is released, held and found is what a stream
 * has that never saw them */
START_TEST(an_outflow_that_goes_back_has_seen_nothing)
{
  uint64_t seed = suite_seed();
  struct memory m = { .fail_at = 0 };
  struct error why;
  unsigned back = 0, ends = 0, begun = 0;
  for (int round = 0; round < 3000; round++) {
    struct row_of stop[3], piece;
    struct stop_string list[3];
    for (int i = 0; i < 3; i++) {
      do stop[i].n = draw_bytes(&seed, round % 3, stop[i].b, LONGEST);
      while (stop[i].n == 0);
      list[i] = (struct stop_string){ stop[i].b, stop[i].n };
    }
    struct stops s;
    ck_assert(stops_open(&s, &m, list, 3, &why));
    struct text_stream a = { .m = &m, .until = &s, .include_stop = round % 5 == 0,
      .min_tokens = rnd(&seed) % 4 }, b = a;
    for (int token = 0; token < 12 && a.found == NULL; token++) {
      struct text_stream_state here = text_stream_save(&a);
      for (size_t more = rnd(&seed) % 6; more > 0; more--, back++) {
        piece.n = draw_bytes(&seed, round % 3, piece.b, 5);
        ck_assert(text_stream_bytes(&a, piece.b, piece.n, &why));
      }
      ends += a.found != NULL, begun += a.state != here.state;
      text_stream_restore(&a, &here);
      piece.n = draw_bytes(&seed, round % 3, piece.b, 4);
      ck_assert(text_stream_bytes(&a, piece.b, piece.n, &why));
      ck_assert(text_stream_bytes(&b, piece.b, piece.n, &why));
      ck_assert(a.found == b.found && a.released == b.released && a.tokens == b.tokens);
      ck_assert(a.text.n == b.text.n && a.state == b.state && a.begun == b.begun);
      ck_assert(a.text.n == 0 || memcmp(a.text.byte, b.text.byte, a.text.n) == 0);
    }
    text_stream_close(&a), text_stream_close(&b), stops_close(&s);
  }
  ck_assert(back > 5000 && ends > 1000 && begun > 1000 && m.all.live == 0);
}
END_TEST

START_TEST(stop_strings_at_their_limits)
{
  struct memory m = { 0 };
  struct error why;
  struct stops s;
  static const unsigned char some[] = "abc";
  struct stop_string list[3] = { { some, 3 }, { some, 0 }, { some, 0 } };
  ck_assert(!stops_open(&s, &m, list, 3, &why));
  ck_assert_str_eq(why.text, "stop string 1 is empty; wanted: 1 byte or more");
  list[1].n = 1;
  ck_assert(!stops_open(&s, &m, list, 3, &why));
  ck_assert_str_eq(why.text, "stop string 2 is empty; wanted: 1 byte or more");
  list[2].n = UINT32_MAX;
  ck_assert(!stops_open(&s, &m, list, 3, &why));
  ck_assert_str_eq(why.text, "the stop strings have more than 4294967294 bytes");
  ck_assert_uint_eq(m.all.live, 0);
  /* of two that are the same the first has ended the text */
  struct stop_string same[3] = { { some + 1, 1 }, { some, 2 }, { some, 2 } };
  ck_assert(stops_open(&s, &m, same, 3, &why));
  uint32_t state = stops_step(&s, stops_step(&s, 0, 'a'), 'b');
  ck_assert_ptr_eq(stops_ending(&s, state), &same[1]);
  ck_assert_ptr_eq(stops_ending(&s, stops_step(&s, state, 'b')), &same[0]);
  ck_assert(stops_hold(&s, state) == 0 && stops_ending(&s, 0) == NULL);
  stops_close(&s);
  /* escapes: what is broken leaves the list as it was, and is quoted whole */
  static const struct {
    const char *text, *bytes;
  } good[] = { { "a\\n\\t\\\\\\x41\\xfF\\x0a", "a\n\t\\A\xff\n" }, { "\\x00b", "\0b" }, { "", "" },
    { "\\\\n", "\\n" }, { "\\xaAx", "\xaax" }, { "\\x9f\\xF0", "\x9f\xf0" } };
  static const char *const bad[] = { "a\\", "ab\\q", "\\x", "\\x4", "\\xg0", "\\x0g", "\\X41",
    "\\n\\r", "\\x4 " };
  struct bytes out = { 0 };
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    size_t before = out.n, n = i == 1 ? 2 : strlen(good[i].bytes);
    ck_assert(stops_unescape(&m, good[i].text, &out, &why) && out.n == before + n);
    ck_assert(n == 0 || memcmp(out.byte + before, good[i].bytes, n) == 0);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    size_t before = out.n;
    char words[60];
    snprintf(words, sizeof words, "stop string `%s': wanted after a backslash", bad[i]);
    ck_assert(!stops_unescape(&m, bad[i], &out, &why) && out.n == before);
    ck_assert_msg(strstr(why.text, words) == why.text, "%s", why.text);
  }
  bytes_free(&m, &out);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
/* what repeats: three times exactly, and two and a half; of what is written, not of the prompt */
START_TEST(three_times_is_three_times)
{
  struct error why;
  for (size_t n = 0; n < 5; n++)
    for (size_t prompt = 0; prompt < 9; prompt++)
      for (size_t written = 0; written < 16; written++)
        for (size_t other = 0; other <= written; other++) { /* one token is another, or none */
          uint32_t id[30];
          bool enough = false, want = n > 0 && written >= 3 * n;
          struct continuation text = { .n_prompt = prompt };
          text.text.id = id, text.text.n = prompt + written;
          for (size_t i = 0; i < 30; i++) id[i] = n ? (uint32_t) ((i + 30 - text.text.n) % n) : 0;
          if (other < written) id[prompt + other] = 99, want = want && other < written - 3 * n;
          hold(repetition_should_stop(&n, &text, &enough, &why) && enough == want);
        }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("stopping");
  TCase *edges = tcase_create("edges");
  tcase_set_timeout(edges, 60);
  tcase_add_test(edges, the_first_criterion_is_the_reason);
  tcase_add_test(edges, outflow_that_breaks_off_has_not_been);
  tcase_add_test(edges, stop_strings_at_their_limits);
  tcase_add_test(edges, three_times_is_three_times);
  suite_add_tcase(s, edges);
  TCase *t = tcase_create("all");
  suite_add_tcase(s, t);
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, a_hundred_thousand_cases_equal_the_sentence, 0, TENTHS);
  tcase_add_test(t, the_machine_finds_what_comparing_finds);
  tcase_add_test(t, two_line_ends_and_a_name_in_every_cut);
  tcase_add_test(t, concatenation_is_the_final_text);
  tcase_add_test(t, stop_vectors_of_hugging_face);
  tcase_add_test(t, stop_vectors_of_vllm);
  tcase_add_test(t, stream_vectors_without_stop_strings);
  tcase_add_loop_test(
    t, ids_become_the_bytes_behind_the_prompt, 0, sizeof vocabulary / sizeof *vocabulary);
  tcase_add_test(t, behind_a_stop_string_nothing_is_heard);
  tcase_add_test(t, any_list_of_criteria_is_an_or_and_keeps_the_first);
  tcase_add_test(t, on_one_token_the_end_token_then_the_list_then_the_length);
  tcase_add_test(t, a_judge_that_fails_leaves_its_sentence_and_no_text);
  tcase_add_test(t, three_times_the_same_is_found_when_it_is_complete);
  tcase_add_test(t, a_protected_end_token_is_a_token_like_any_other);
  tcase_add_test(t, a_cancelled_text_is_valid_and_goes_on_as_if_nothing_had_been);
  tcase_add_test(t, an_outflow_that_is_kept_goes_on_where_it_was);
  tcase_add_test(t, the_program_obeys_a_signal_that_nobody_wished);
  tcase_add_test(t, a_text_ends_where_a_search_in_the_whole_text_finds_the_string);
  tcase_add_test(t, every_request_may_be_refused);
  tcase_add_test(t, long_strings_take_linear_memory_and_time);
  tcase_add_test(t, an_outflow_that_goes_back_has_seen_nothing);
  tcase_add_test(t, empty_strings_are_refused_with_their_number);
  tcase_add_test(t, escapes_are_the_four_and_no_others);
  return suite_run(s);
}
