/* tests.c -- lab 1: UTF-8 as a stream, and byte-pair encoding learnt, applied and undone */
#include "kit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tokens/bpe.h"

/* what counted.c counts: questions to the table of pairs and entries into it, and entries into the heap */
enum { LOOKUPS, ENTRIES };

static struct memory memory;
static struct error why;

static void begin(void)
{
  memset(&memory, 0, sizeof memory);
  why.text[0] = '\0';
}

enum { MOST_IN_LINE = 40 };

/* bytes as they are written by hand: letters as letters, the others in hexadecimal, a space as _ */
static const char *shown(const unsigned char *byte, size_t n)
{
  static char line[2][8 * MOST_IN_LINE];
  static int turn;
  char *to = line[turn = 1 - turn];
  size_t at = 0;
  to[0] = '\0';
  for (size_t i = 0; i < n && i < MOST_IN_LINE; i++)
    at += (size_t) snprintf(to + at, 8, byte[i] > ' ' && byte[i] < 127 ? "%s%c" : byte[i] == ' ' ? "%s_" : "%s<%02x>", "", byte[i]);
  if (n > MOST_IN_LINE) snprintf(to + at, 8, "...");
  return to;
}

/* a number that stands for many bytes */
static uint64_t sum_of(const void *what, size_t n)
{
  const unsigned char *byte = what;
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++) h = (h ^ byte[i]) * 0x100000001b3u;
  return h;
}
static void say_bytes(const char *what, const unsigned char *byte, size_t n)
{
  if (n <= MOST_IN_LINE) say("%s %s", what, shown(byte, n));
  else say("%s of %zu bytes, sum %016llx", what, n, (unsigned long long) sum_of(byte, n));
}
static void say_ids(const char *what, const uint32_t *id, size_t n)
{
  char line[400];
  size_t at = 0;
  line[0] = '\0';
  for (size_t i = 0; i < n && i < 25; i++) at += (size_t) snprintf(line + at, 12, " %u", (unsigned) id[i]);
  if (n > 25) snprintf(line + at, 60, " ..., %zu in all, sum %016llx", n, (unsigned long long) sum_of(id, n * sizeof *id));
  say("%s%s", what, line);
}

/* ---- UTF-8 */

static const char *const state_name[] = { [UTF8_WHOLE] = "whole", [UTF8_BROKEN] = "broken", [UTF8_UNFINISHED] = "unfinished" };

/* a character of 1 to 4 bytes, often the first or the last of its length, or beside the surrogates */
static size_t draw_character(unsigned char *to)
{
  static const uint32_t edge[] = { 0x41, 0x7f, 0x80, 0x7ff, 0x800, 0x20ac, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x1f408, 0x3ffff, 0x40000, 0xfffff,
    0x100000, 0x10ffff };
  static const uint32_t beyond[] = { 0x80, 0x800, 0xd800, 0x10000 };
  uint32_t c = edge[draw(16)];
  if (draw(2)) c = draw(beyond[draw(4)]);
  size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char mark[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
  for (size_t k = n; k-- > 1; c >>= 6) to[k] = (unsigned char) (0x80 | (c & 0x3f));
  to[0] = (unsigned char) (mark[n] | c);
  return n;
}

/* some bytes: characters, beginnings of characters, and bytes at which the tables have an edge */
static size_t draw_text(unsigned char *to, size_t most)
{
  static const unsigned char lead[] = { 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff };
  static const unsigned char other[] = { 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0 };
  size_t n = 0;
  while (n + 4 <= most) {
    uint32_t kind = draw(8);
    size_t length = 1;
    if (kind < 3) length = draw_character(to + n);
    else if (kind < 5) {
      length = draw_character(to + n);
      length = 1 + draw((uint32_t) length);
    }
    else if (kind == 5) to[n] = lead[draw(16)];
    else {
      to[n] = lead[draw(16)];
      for (; length < 4 && draw(4); length++) to[n + length] = other[draw(8)];
    }
    n += length;
    if (draw(12) == 0) break;
  }
  return n;
}

static void next(unsigned size)
{
  unsigned char byte[48] = { 0 };
  size_t n = size <= 4 ? 0 : draw_text(byte, 5 + size % 36);
  while (n == 0 || (size <= 4 && n != size)) n = draw_character(byte);
  tell("the bytes %s", shown(byte, n));
  for (size_t at = 0; at < n; ) {
    enum utf8_state state = UTF8_UNFINISHED;
    size_t length = utf8_next(byte + at, n - at, &state);
    say("at %zu, %zu bytes: %s", at, length, state <= UTF8_UNFINISHED ? state_name[state] : "?");
    if (length == 0 || length > n - at) return;
    at += length;
  }
  struct bytes out = { NULL, 0, 0 };
  begin();
  say("replaced %s", utf8_lossy(&memory, byte, n, &out, &why) ? "yes" : "no");
  say_bytes("with U+FFFD", out.byte, out.n);
  bytes_free(&memory, &out);
}

static void held(unsigned size)
{
  unsigned char byte[48] = { 0 };
  size_t n = size <= 4 ? size - 1 : draw_text(byte, 4 + size % 12); /* at most 15 of 48 */
  if (size == 2) byte[0] = 0xe2;
  if (size > 2 && size <= 4) draw_character(byte);
  if (size == 3) memcpy(byte, "\xe2\x82", 2);
  if (size == 4) memcpy(byte, "\xf0\x9f\x90", 3);
  if (n > 1 && size % 3 == 0) n -= draw(3) % n;
  if (size > 4 && size % 2) n += draw_character(byte + n), n -= draw(2);
  tell("the bytes %s", shown(byte, n));
  say("held %zu", utf8_held(byte, n));
}

static void stream(unsigned size)
{
  unsigned char byte[200];
  struct stream s = { .n = 0 };
  struct bytes out = { NULL, 0, 0 };
  size_t n = size <= 4 ? 0 : draw_text(byte, 4 + 2 * size), most = 1 + size % 5;
  while (n == 0) n = draw_character(byte);
  begin();
  tell("the bytes %s, in tokens of at most %zu", shown(byte, n), most);
  for (size_t at = 0, length; at < n; at += length) {
    size_t before = out.n;
    length = most == 1 ? 1 : draw((uint32_t) most + 1); /* a token may be empty */
    if (length > n - at) length = n - at;
    bool ok = stream_feed(&memory, &s, byte + at, length, &out, &why);
    say("token %s: %s", shown(byte + at, length), ok ? "taken" : "refused");
    if (!ok || out.n < before) break;
    say_bytes("released", out.byte + before, out.n - before);
    say("held %zu", s.n);
  }
  say_done("flushed", stream_flush(&memory, &s, &out, &why), why.text);
  say("all of the text %s", out.n == n && memcmp(out.byte, byte, n) == 0 ? "yes" : "no");
  bytes_free(&memory, &out);
  say("bytes left %llu", (unsigned long long) memory.all.live);
}

/* ---- learning */

static const char spaces[] = " "; /* cut before every space: counted.c */

/* a text of n bytes from few letters; with words if spaced, some of them again and again */
static char *draw_letters(size_t n, uint32_t letters, bool spaced)
{
  char *text = malloc(n + 1);
  size_t word = 0;
  for (size_t i = 0; i < n; i++) {
    if (spaced && i > 0 && text[i - 1] != ' ' && draw(5) == 0) text[i] = ' ', word = draw(3) ? draw((uint32_t) i) : 0;
    else if (word > 0 && word + 1 < i) {
      text[i] = text[++word];
      if (text[i] == ' ') word = 0;
    }
    else text[i] = (char) ('a' + draw(letters));
  }
  text[n] = '\0';
  return text;
}

static void train_on(const char *text, size_t n, const char *pattern, size_t merges)
{
  struct bpe_merge *merge = NULL;
  size_t found = 0;
  bool ok = bpe_train(&memory, text, n, pattern, merges, &merge, &found, &why);
  say("learnt %s, %zu merges", ok ? "yes" : "no", found);
  for (size_t k = 0; ok && k < found && k < 60; k++) say("merge %zu is %u %u", k, (unsigned) merge[k].left, (unsigned) merge[k].right);
  if (ok && found > 60) say("all of them, sum %016llx", (unsigned long long) sum_of(merge, found * sizeof *merge));
  bpe_forget(&memory, merge);
  say("bytes left %llu", (unsigned long long) memory.all.live);
}

static void first_merge(unsigned size)
{
  size_t n = size + 1;
  char *text = draw_letters(n, size < 8 ? 2 : 2 + size % 7, size > 5 && size % 2);
  bool cut = size % 3 == 0;
  begin();
  tell("one merge from %s%s", shown((unsigned char *) text, n), cut ? ", cut before spaces" : "");
  train_on(text, n, cut ? spaces : NULL, 1);
  free(text);
}

static void train(unsigned size)
{
  size_t n = size < 20 ? size + 1 : size < 40 ? 3 * size : 40 * size;
  size_t merges = size % 4 == 1 ? n + 5 : 1 + size / 2;
  uint32_t letters = size < 6 ? 1 + size % 2 : 1 + draw(size < 20 ? 3 : 9);
  bool spaced = size > 5 && size % 3 > 0, cut = spaced && size % 3 == 1;
  char *text = draw_letters(n, letters, spaced);
  begin();
  tell("%zu merges from %s%s", merges, shown((unsigned char *) text, n), cut ? ", cut before spaces" : "");
  train_on(text, n, cut ? spaces : NULL, merges);
  free(text);
}

/* texts that double, and all merges that they have */
static void train_work(unsigned size)
{
  size_t n = (size_t) 8 << size, found = 0, merges = n;
  struct bpe_merge *merge = NULL;
  char *text = draw_letters(n, 2 + 12 * (size % 2), size % 3 == 0);
  begin();
  tell("%zu letters, and as many merges as they have", n);
  count_begin();
  bool ok = bpe_train(&memory, text, n, size % 3 == 0 ? spaces : NULL, merges, &merge, &found, &why);
  say("learnt %s, %zu merges", ok ? "yes" : "no", found);
  if (ok) say("the last of them %u %u", (unsigned) merge[found - 1].left, (unsigned) merge[found - 1].right);
  say_most("look-ups", (double) count_of(LOOKUPS), 2.5);
  say_most("entries_into_the_heap", (double) count_of(ENTRIES), 3);
  say_most("bytes_at_most", (double) memory.all.peak, 3);
  bpe_forget(&memory, merge);
  free(text);
}

/* ---- encoding */

enum { MOST_RULES = 60 };

/* rules as no trainer makes them: any ids, any order of ranks, several with one rank; the letters are a, b, ... */
static bool draw_rules(struct bpe *b, uint32_t letters, uint32_t rules, bool in_order)
{
  uint32_t id[MOST_RULES + 8], n = 0, base = 1 + draw(1000);
  for (unsigned i = 0; i < 256; i++) b->byte_id[i] = BPE_NONE;
  for (; n < letters; n++) b->byte_id['a' + n] = id[n] = base + 7 * n;
  for (uint32_t k = 0; k < rules; k++) {
    uint32_t made = base + 100 + 3 * k + draw(3), rank = in_order ? k : draw(rules);
    struct bpe_rule r = { id[draw(n)], id[draw(k % 2 ? letters : n)], made, rank };
    if (k % 3 == 0) r.right = r.left;
    if (!bpe_add_ranked(&memory, b, r, &why)) return false;
    id[n++] = made;
    char word[80];
    snprintf(word, sizeof word, "%u %u -> %u, rank %u", (unsigned) r.left, (unsigned) r.right, (unsigned) made, (unsigned) rank);
    if (k < 6) tell("rule %s", word);
  }
  return true;
}

static void encode(size_t n, unsigned size)
{
  struct bpe b = { .n = 0 };
  struct bpe_work work = { .cap = 0 };
  struct ids out = { NULL, 0, 0 };
  uint32_t letters = size < 8 ? 1 + size % 2 : 1 + draw(4);
  begin();
  if (!draw_rules(&b, letters, size < 4 ? 1 : 1 + draw(size < 30 ? 6 : MOST_RULES - 1), size % 3 == 0)) return;
  char *text = draw_letters(n, letters, false);
  tell("the piece %s", shown((unsigned char *) text, n));
  for (uint32_t i = 0; i < letters; i++) tell("%c is %u", (char) ('a' + i), (unsigned) b.byte_id['a' + i]);
  bool ok = ids_push(&memory, &out, 12345, &why) && bpe_encode(&b, &memory, &work, (unsigned char *) text, n, &out, &why);
  say_done("encoded", ok, why.text);
  say_ids("ids", out.id, out.n);
  free(text);
  bpe_free(&memory, &b), bpe_work_free(&memory, &work), ids_free(&memory, &out);
  say("bytes left %llu", (unsigned long long) memory.all.live);
}
static void encode_short(unsigned size) { encode(size < 33 ? size : 1 + draw(32), size); }
static void encode_long(unsigned size) { encode(size < 40 ? 32 + size : size < 60 ? 33 + draw(100) : 500 + draw(3000), size); }

/* a run of one letter, or of a few, that gets longer and longer; its merges are as many as there can be */
static void encode_work(unsigned size)
{
  size_t n = size <= 17 ? (size_t) 2 << size : 25 + size % 8;
  struct bpe b = { .n = 0 };
  struct bpe_work work = { .cap = 0 };
  struct ids out = { NULL, 0, 0 };
  uint32_t doubled = 'a';
  begin();
  for (unsigned i = 0; i < 256; i++) b.byte_id[i] = i;
  bool ok = true, backwards = draw(2);
  for (uint32_t k = 0; ok && k < 20; k++) {
    ok = bpe_add_ranked(&memory, &b, (struct bpe_rule) { doubled, backwards ? doubled : k < 10 ? doubled : 'a', 1000 + k, k }, &why);
    doubled = 1000 + k;
  }
  ok = ok && bpe_add(&memory, &b, 'a', 'b', 500, &why) && bpe_add(&memory, &b, 'b', 'a', 501, &why);
  char *text = draw_letters(n, size % 2 ? 1 : 2, false);
  tell("a piece of %zu letters: %s", n, shown((unsigned char *) text, n));
  count_begin();
  for (size_t i = 0; ok && i < 2; i++) {
    uint64_t asked = memory.all.requests;
    out.n = 0;
    ok = bpe_encode(&b, &memory, &work, (unsigned char *) text, n, &out, &why);
    say_done("encoded", ok, why.text);
    say_ids("ids", out.id, out.n);
    if (i > 0) say("more memory for the same piece %s", memory.all.requests > asked ? "yes" : "no");
  }
  say_most("look-ups", (double) count_of(LOOKUPS), 2.1);
  say_most("entries_into_the_heap", (double) count_of(ENTRIES) + (double) n, 2.5);
  free(text);
  bpe_free(&memory, &b), bpe_work_free(&memory, &work), ids_free(&memory, &out);
}

/* ---- decoding */

static void spell(unsigned size)
{
  size_t n = size < 10 ? size : size < 40 ? 3 * size : size == 50 ? (size_t) 1 << 20 : (size_t) 1 << (size - 34);
  struct bpe_merge *merge = calloc(n, sizeof *merge);
  struct bytes out = { NULL, 0, 0 };
  size_t *length = calloc(n + 256, sizeof *length);
  for (size_t i = 0; i < 256; i++) length[i] = 1;
  for (size_t k = 0; k < n; k++) {
    uint32_t older = k == 0 ? draw(256) : 256 + (uint32_t) (size >= 40 ? k - 1 : draw((uint32_t) k)), byte = size < 40 ? 'a' + draw(26) : draw(256);
    if (size < 40 && draw(3) == 0) byte = draw(256 + (uint32_t) k);
    if (length[older] + length[byte] > 3000 && size < 40) older = draw(256), byte = draw(256);
    merge[k] = (size < 40 ? draw(2) : size % 2) ? (struct bpe_merge) { byte, older } : (struct bpe_merge) { older, byte };
    length[256 + k] = length[older] + length[byte];
  }
  begin();
  tell("%zu merges, %s", n, size < 40 ? "each of two older ids" : "each of the one before and a byte");
  if (n <= 4) for (size_t k = 0; k < n; k++) tell("id %zu is %u %u", 256 + k, (unsigned) merge[k].left, (unsigned) merge[k].right);
  bool ok = bytes_push(&memory, &out, "so ", 3, &why);
  uint32_t last = 255 + (uint32_t) n, some = draw(256 + (uint32_t) n);
  ok = ok && bpe_spell(&memory, merge, last, &out, &why);
  say("id %u spelt %s", (unsigned) last, ok ? "yes" : "no");
  if (ok) say_bytes("bytes", out.byte, out.n);
  ok = ok && bpe_spell(&memory, merge, some, &out, &why);
  say("then id %u spelt %s", (unsigned) some, ok ? "yes" : "no");
  if (ok) say_bytes("bytes", out.byte, out.n);
  bytes_free(&memory, &out);
  say("bytes left %llu", (unsigned long long) memory.all.live);
  free(merge), free(length);
}

static void round_trip(unsigned size)
{
  size_t n = size == 1 ? 2 : 20 * size, found = 0;
  char *text = draw_letters(n, 2 + size % 20, size % 4 > 0);
  struct bpe_merge *merge = NULL;
  struct bpe b = { .n = 0 };
  struct bpe_work work = { .cap = 0 };
  struct ids out = { NULL, 0, 0 };
  struct bytes back = { NULL, 0, 0 };
  begin();
  tell("%zu bytes, %s, and bytes that were not learnt", n, shown((unsigned char *) text, n));
  bool ok = bpe_train(&memory, text, n, size % 2 ? spaces : NULL, 5 + size, &merge, &found, &why)
    && bpe_learnt(&memory, &b, merge, found, &why);
  for (size_t i = 0; i < n / 10; i++) text[draw((uint32_t) n)] = (char) draw(256);
  for (size_t at = 0, length; ok && at < n; at += length) {
    length = size % 3 ? 1 + draw(60) : n;
    if (length > n - at) length = n - at;
    ok = bpe_encode(&b, &memory, &work, (unsigned char *) text + at, length, &out, &why);
  }
  say_done("encoded", ok, why.text);
  say_ids("ids", out.id, out.n);
  struct stream s = { .n = 0 };
  struct bytes token = { NULL, 0, 0 };
  for (size_t i = 0; ok && i < out.n; i++) {
    token.n = 0;
    ok = bpe_spell(&memory, merge, out.id[i], &token, &why) && stream_feed(&memory, &s, token.byte, token.n, &back, &why);
  }
  ok = ok && stream_flush(&memory, &s, &back, &why);
  say("decoded %s, the same text %s", ok ? "yes" : "no", ok && back.n == n && memcmp(back.byte, text, n) == 0 ? "yes" : "no");
  free(text);
  bpe_forget(&memory, merge), bpe_free(&memory, &b), bpe_work_free(&memory, &work);
  ids_free(&memory, &out), bytes_free(&memory, &back), bytes_free(&memory, &token);
  say("bytes left %llu", (unsigned long long) memory.all.live);
}

/* ---- each request for memory is refused once, in turn; what is promised then holds however many there are */

enum { MOST_REQUESTS = 2000 };

static void refused_stream(void)
{
  struct stream s = { .n = 2, .held = { 0xe2, 0x82 } }, before = s;
  struct bytes out = { NULL, 0, 0 };
  bool kept = true, ok = bytes_push(&memory, &out, "it costs ", 9, &why);
  size_t many = 60 + draw(2000);
  unsigned char *more = malloc(many);
  more[0] = 0xac;
  for (size_t i = 1; i < many; i++) more[i] = (unsigned char) ('0' + draw(10));
  more[many - 1] = 0xf0;
  for (uint64_t k = 1; ok && k < MOST_REQUESTS; k++) {
    memory.fail_at = memory.all.requests + k;
    bool fed = stream_feed(&memory, &s, more, many, &out, &why);
    memory.fail_at = 0;
    if (fed) break;
    kept = kept && out.n == 9 && s.n == before.n && memcmp(s.held, before.held, 2) == 0 && memcmp(out.byte, "it costs ", 9) == 0;
  }
  say("stream and text kept %s", kept ? "yes" : "no");
  say_bytes("fed at last", out.byte, out.n);
  say("held %zu", s.n);
  free(more);
  bytes_free(&memory, &out);
}

static void refused_spell(void)
{
  enum { N = 400 };
  struct bpe_merge merge[N];
  struct bytes out = { NULL, 0, 0 };
  bool kept = true, ok = bytes_push(&memory, &out, "so ", 3, &why);
  for (uint32_t k = 0; k < N; k++) merge[k] = (struct bpe_merge) { k == 0 ? 'a' : 255 + k, draw(256) };
  for (uint64_t k = 1; ok && k < MOST_REQUESTS; k++) {
    uint64_t live = memory.all.live - out.cap;
    memory.fail_at = memory.all.requests + k;
    bool spelt = bpe_spell(&memory, merge, 255 + N, &out, &why);
    memory.fail_at = 0;
    if (spelt) break;
    kept = kept && out.n == 3 && memory.all.live - out.cap == live;
  }
  say("bytes kept %s", kept ? "yes" : "no");
  say_bytes("spelt at last", out.byte, out.n);
  bytes_free(&memory, &out);
}

/* a heap that is full and has to grow in the middle of an encoding */
static void refused_growth(void)
{
  struct bpe b = { .n = 0 };
  struct ids out = { NULL, 0, 0 };
  unsigned char text[97];
  size_t n = draw(2) ? 33 : 97;
  bool kept = true, ok = true;
  memset(text, 'a', n);
  text[2 + draw((uint32_t) n - 4)] = 'c';
  for (unsigned i = 0; i < 256; i++) b.byte_id[i] = i;
  static const uint32_t rule[][3] = { { 'a', 'c', 300 }, { 'a', 'a', 301 }, { 'c', 'a', 302 }, { 'a', 300, 303 }, { 300, 'a', 304 },
    { 301, 301, 305 } };
  for (size_t k = 0; k < sizeof rule / sizeof *rule && ok; k++) ok = bpe_add(&memory, &b, rule[k][0], rule[k][1], rule[k][2], &why);
  for (uint64_t k = 1; ok && k < MOST_REQUESTS; k++) {
    struct bpe_work work = { .cap = 0 };
    memory.fail_at = memory.all.requests + k;
    bool encoded = bpe_encode(&b, &memory, &work, text, n, &out, &why);
    bool asked = memory.all.requests >= memory.fail_at;
    memory.fail_at = 0;
    bpe_work_free(&memory, &work);
    kept = kept && encoded == !asked; /* whatever is refused, the caller is told */
    if (!asked) break;
    kept = kept && out.n == 0;
    out.n = 0;
  }
  say("told of every refusal %s", kept ? "yes" : "no");
  say_ids("encoded at last", out.id, out.n);
  bpe_free(&memory, &b), ids_free(&memory, &out);
}

static void refused_encode(unsigned size)
{
  refused_growth();
  struct bpe b = { .n = 0 };
  struct ids out = { NULL, 0, 0 };
  size_t n = size % 2 ? 200 + draw(200) : 5 + draw(20);
  if (!draw_rules(&b, 3, 20, true)) return;
  char *text = draw_letters(n, 3, false), number[12];
  bool kept = true, ok = true;
  for (uint32_t i = 0; ok && i < 60; i++) ok = ids_push(&memory, &out, i, &why);
  uint64_t live = memory.all.live - out.cap * sizeof *out.id;
  for (uint64_t k = 1; ok && k < MOST_REQUESTS; k++) {
    struct bpe_work work = { .cap = 0 };
    memory.fail_at = memory.all.requests + k;
    bool encoded = bpe_encode(&b, &memory, &work, (unsigned char *) text, n, &out, &why);
    memory.fail_at = 0;
    bpe_work_free(&memory, &work);
    kept = kept && memory.all.live - out.cap * sizeof *out.id == live;
    if (encoded) break;
    kept = kept && out.n == 60 && out.id[59] == 59;
  }
  say("ids kept %s", kept ? "yes" : "no");
  say_ids("encoded at last", out.id, out.n);
  struct bpe_work work = { .cap = 0 };
  size_t at = draw((uint32_t) n);
  text[at] = (char) ('d' + draw(20));
  snprintf(number, sizeof number, "0x%02x", (unsigned) text[at]);
  size_t before = out.n;
  ok = bpe_encode(&b, &memory, &work, (unsigned char *) text, n, &out, &why);
  say("a byte without an id: %s, ids kept %s, named %s", ok ? "encoded" : "refused", out.n == before ? "yes" : "no", strstr(why.text, number) ? "yes" : "no");
  free(text);
  bpe_free(&memory, &b), bpe_work_free(&memory, &work), ids_free(&memory, &out);
}

static void refused_train(void)
{
  size_t n = 300 + draw(600), found = 0;
  char *text = draw_letters(n, 4, true);
  struct bpe_merge *merge = NULL;
  bool nothing = true;
  for (uint64_t k = 1; k < MOST_REQUESTS; k++) {
    memory.fail_at = memory.all.requests + k;
    bool learnt = bpe_train(&memory, text, n, spaces, 50, &merge, &found, &why);
    memory.fail_at = 0;
    if (learnt) break;
    nothing = nothing && merge == NULL && memory.all.live == 0;
  }
  say("nothing left of a training that was refused %s", nothing ? "yes" : "no");
  if (merge != NULL) say_ids("learnt at last", &merge->left, 2 * found);
  bpe_forget(&memory, merge);
  free(text);
}

static void refused(unsigned size)
{
  begin();
  tell("each request for memory is refused once");
  if (size % 4 == 1) refused_stream();
  if (size % 4 == 2) refused_spell();
  if (size % 4 == 3) refused_encode(size / 4);
  if (size % 4 == 0) refused_train();
  say("bytes left %llu", (unsigned long long) memory.all.live);
}

const struct lab_test lab_tests[] = { { "utf8_next", 80, next }, { "utf8_held", 80, held }, { "stream", 40, stream },
  { "first_merge", 40, first_merge }, { "train", 60, train }, { "train_work", 13, train_work }, { "encode_short", 80, encode_short },
  { "encode_long", 70, encode_long }, { "encode_work", 24, encode_work }, { "spell", 50, spell }, { "round_trip", 30, round_trip },
  { "refused", 24, refused }, { NULL, 0, NULL } };
