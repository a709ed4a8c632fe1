/* Workshop 9: constraints -- patterns against PCRE2, grammars against a recogniser by tables, masks
 * against their definition, token by token. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "suite.h"
#include <jansson.h>
#include <pcre2.h>
#include "tokenizer/tokenizer.h"
#include "constraints/constraint.h"

static size_t below(uint64_t *seed, size_t n)
{
  return (size_t) (rnd(seed) % n);
}

/* ---- a vocabulary of all bytes, and more */
struct words {
  struct token_bytes p[400];
  unsigned char byte[256];
  size_t n;
};
static void words_of_bytes(struct words *w)
{
  w->n = 256;
  for (size_t b = 0; b < 256; b++)
    w->byte[b] = (unsigned char) b, w->p[b] = (struct token_bytes){ &w->byte[b], 1 };
}
static void words_add(struct words *w, const char *text)
{
  w->p[w->n++] = (struct token_bytes){ (const unsigned char *) text, strlen(text) };
}

/* a text of at most `budget' tokens, chosen at random under the constraint; dead ends are failures.
 * Returns its length in bytes */
static size_t write_at_random(struct constraint *c, const struct token_bytes *p, size_t vocab,
  size_t budget, uint64_t *seed, char *out, size_t cap, unsigned stay)
{
  struct error why;
  uint8_t *allowed = malloc(vocab);
  uint32_t *some = malloc(vocab * sizeof *some), state = constraint_start(c);
  size_t n = 0;
  for (size_t left = budget;; left--) {
    bool accepts;
    size_t k = 0;
    ck_assert_msg(constraint_mask(c, state, left, allowed, &accepts, &why), "%s", why.text);
    for (uint32_t i = 0; i < vocab; i++)
      if (allowed[i]) some[k++] = i;
    ck_assert(k > 0 || accepts);
    ck_assert(left > 0 || accepts);
    if (left == 0 || k == 0 || (accepts && below(seed, stay) == 0)) break;
    uint32_t id = some[below(seed, k)];
    ck_assert_msg(constraint_step(c, state, id, &state, &why), "%s", why.text);
    ck_assert_uint_lt(n + p[id].n, cap);
    memcpy(out + n, p[id].byte, p[id].n), n += p[id].n;
  }
  free(allowed), free(some);
  return n;
}

/* ---- random patterns of the subset */
struct text {
  char s[4000];
  size_t n;
};
static void say(struct text *t, const char *s)
{
  size_t n = strlen(s);
  if (t->n + n < sizeof t->s) memcpy(t->s + t->n, s, n), t->n += n;
  t->s[t->n] = '\0';
}
static const char *pick(uint64_t *seed, const char *const *list, size_t n)
{
  return list[below(seed, n)];
}
#define PICK(seed, list) pick(seed, list, sizeof list / sizeof *list)
static void pattern_set(uint64_t *seed, struct text *t)
{
  static const char *const member[] = { "a", "b", "c", "a-c", "b-z", "0-9", "\\d", "\\w", "\\s",
    "\\W", "\\D", "\\S", "\\n", "\\x61", "\\x{e9}", "\xc3\xa9", "\\x{0}-\\x{7f}",
    "\xc3\xa0-\xe2\x82\xac", "\\-", "\\]", "^", ".", "*", "(", "\\\\", "$", "{" };
  say(t, below(seed, 3) == 0 ? "[^" : "[");
  if (below(seed, 12) == 0) say(t, "-");
  for (size_t k = 1 + below(seed, 3); k > 0; k--) {
    const char *m = PICK(seed, member);
    if (t->s[t->n - 1] == '[' && *m == '^') m = "a";
    say(t, m);
  }
  if (below(seed, 12) == 0) say(t, "-");
  say(t, "]");
}
static void pattern_choice(uint64_t *seed, struct text *t, int depth);
static void pattern_thing(uint64_t *seed, struct text *t, int depth)
{
  static const char *const one[] = { "a", "b", "c", "a", "b", "ab", "\xc3\xa9", "\xe2\x82\xac",
    "\xf0\x9f\x98\x80", ".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\n", "\\t", "\\x62",
    "\\x{1f600}", "\\.", "\\*", "\\\\", "\\^", "\\$", " ", "1", "]", "}", "-", "\\ ", "\\r", "\\f",
    "\\_" };
  size_t kind = below(seed, depth > 0 ? 8 : 5);
  if (kind < 4)
    say(t, PICK(seed, one));
  else if (kind == 4)
    pattern_set(seed, t);
  else {
    say(t, below(seed, 2) ? "(" : "(?:");
    pattern_choice(seed, t, depth - 1);
    say(t, ")");
  }
}
static void pattern_choice(uint64_t *seed, struct text *t, int depth)
{
  static const char *const times[] = { "?", "*", "+", "{0}", "{1}", "{2}", "{0,2}", "{1,3}", "{2,}",
    "{0,}", "*?", "+?", "??", "{1,2}?" };
  for (size_t k = 1 + below(seed, 2) * below(seed, 3); k > 0; k--) {
    for (size_t j = below(seed, 4); j > 0; j--) {
      pattern_thing(seed, t, depth);
      if (below(seed, 3) == 0) say(t, PICK(seed, times));
    }
    if (k > 1) say(t, "|");
  }
}
/* what is said of a text: yes, no, or that the search was too long */
static int pcre2_says(pcre2_code *p, const char *text, size_t n)
{
  pcre2_match_data *d = pcre2_match_data_create(1, NULL);
  int rc = pcre2_match(p, (PCRE2_SPTR) text, n, 0, PCRE2_ANCHORED | PCRE2_ENDANCHORED, d, NULL);
  pcre2_match_data_free(d);
  return rc >= 0                                                   ? 1
    : rc == PCRE2_ERROR_NOMATCH                                    ? 0
    : rc == PCRE2_ERROR_MATCHLIMIT || rc == PCRE2_ERROR_DEPTHLIMIT ? -1
                                                                   : -2;
}
static pcre2_code *pcre2_of(const char *pattern, size_t n)
{
  int code;
  PCRE2_SIZE at;
  pcre2_compile_context *x = pcre2_compile_context_create(NULL);
  pcre2_set_newline(x, PCRE2_NEWLINE_LF);
  pcre2_code *p = pcre2_compile((PCRE2_SPTR) pattern, n, PCRE2_UTF, &code, &at, x);
  pcre2_compile_context_free(x);
  ck_assert_msg(p != NULL, "PCRE2 refuses %s: error %d at %zu", pattern, code, (size_t) at);
  return p;
}
static size_t random_text(uint64_t *seed, char *out)
{
  static const char *const part[] = { "a", "b", "c", "ab", "\xc3\xa9", "\xe2\x82\xac",
    "\xf0\x9f\x98\x80", "1", " ", "\n", ".", "-", "z", "_", "]", "\r", "\t" };
  size_t n = 0;
  for (size_t k = below(seed, 7); k > 0; k--) {
    const char *s = PICK(seed, part);
    memcpy(out + n, s, strlen(s)), n += strlen(s);
  }
  return n;
}
enum { PAIRS = 100000, OF_ONE = 20, PARTS = 10 };
START_TEST(patterns_agree_with_pcre2)
{
  uint64_t seed = suite_seed() + 7919 * (uint64_t) _i;
  struct memory m = { .fail_at = 0 };
  struct words w;
  struct error why;
  size_t pairs = 0, matched = 0, empty = 0, given_up = 0;
  words_of_bytes(&w);
  struct lexicon *l = lexicon_open(&m, w.p, NULL, w.n, &why);
  while (pairs < PAIRS / PARTS) {
    struct text t = { .n = 0 };
    t.s[0] = '\0';
    if (below(&seed, 8) == 0) say(&t, "^");
    pattern_choice(&seed, &t, 3);
    if (below(&seed, 8) == 0) say(&t, "$");
    struct constraint *c = constraint_regex(&m, t.s, t.n, &why);
    if (c == NULL
      && strstr(why.text, "named classes") != NULL) { /* such as [..], which PCRE2 refuses, too */
      int code;
      PCRE2_SIZE at;
      ck_assert(
        pcre2_compile((PCRE2_SPTR) t.s, t.n, PCRE2_UTF, &code, &at, NULL) == NULL && code == 113);
      continue;
    }
    if (c == NULL) { /* the only one of these that we refuse and PCRE2 does not */
      ck_assert_msg(
        strstr(why.text, "no text matches it") != NULL, "%s: %s", t.s, why.text);
      empty++;
      continue;
    }
    pcre2_code *p = pcre2_of(t.s, t.n);
    size_t min;
    ck_assert_msg(
      constraint_bind(c, l, false, &why) && constraint_minimum(c, constraint_start(c), &min, &why),
      "%s", why.text);
    for (int k = 0; k < OF_ONE; k++) {
      char text[600];
      size_t n = k % 2 == 0 || min > 200
        ? random_text(&seed, text)
        : write_at_random(c, w.p, w.n, min + below(&seed, 8), &seed, text, sizeof text, 4);
      bool yes;
      ck_assert_msg(constraint_matches(c, text, n, &yes, &why), "%s", why.text);
      int says = pcre2_says(p, text, n);
      if (k % 2 == 1 && min <= 200)
        ck_assert_msg(yes, "%s does not match what it has written", t.s);
      if (says == -1)
        given_up++;
      else
        ck_assert_msg(yes == says, "seed %llu: pattern %s, text \"%.*s\": %d, and PCRE2 says %d",
          (unsigned long long) seed, t.s, (int) n, text, yes, says);
      matched += yes, pairs++;
    }
    pcre2_code_free(p);
    constraint_free(c);
  }
  lexicon_close(l);
  ck_assert_uint_gt(matched, pairs / 3);
  ck_assert_uint_lt(matched, 4 * pairs / 5);
  ck_assert_uint_lt(given_up, pairs / 100);
  ck_assert_uint_eq(m.all.live, 0);
  tally(
    " patterns and texts, beside PCRE2", (unsigned) pairs, 0, (unsigned) given_up, "PCRE2 gave up");
}
END_TEST

/* every character of Unicode, in a set and out of it: borders of ranges are where encodings break
 */
START_TEST(every_character_is_in_its_range)
{
  static const uint32_t edge[] = { 0, 0x41, 0x7f, 0x80, 0xbf, 0xc0, 0x7ff, 0x800, 0xfff, 0x1000,
    0xcfff, 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x3ffff, 0x40000, 0xfffff, 0x100000,
    0x10ffff };
  uint64_t seed = suite_seed();
  struct memory m = { .fail_at = 0 };
  struct error why;
  for (int k = 0; k < 40; k++) {
    uint32_t lo = edge[below(&seed, 21)], hi = edge[below(&seed, 21)];
    if (k % 2) lo ^= (uint32_t) below(&seed, 64), hi ^= (uint32_t) below(&seed, 4096);
    if (lo > hi) {
      uint32_t t = lo;
      lo = hi, hi = t;
    }
    if (hi > 0x10ffff || (lo >= 0xd800 && lo < 0xe000) || (hi >= 0xd800 && hi < 0xe000)) continue;
    char pattern[64];
    snprintf(
      pattern, sizeof pattern, k % 3 == 0 ? "[^\\x{%x}-\\x{%x}]" : "[\\x{%x}-\\x{%x}]", lo, hi);
    struct constraint *c = constraint_regex(&m, pattern, strlen(pattern), &why);
    if (c == NULL) {
      ck_assert(lo == 0 && hi == 0x10ffff && k % 3 == 0);
      continue;
    }
    for (uint32_t x = 0; x <= 0x10ffff; x += x < 0x3000 || (x & 0xfff) < 2 || (x & 0xfff) > 0xffd
             || (x + 70 > lo && x < lo + 70) || (x + 70 > hi && x < hi + 70)
           ? 1
           : 7) {
      char b[4];
      size_t n = x < 0x80 ? 1 : x < 0x800 ? 2 : x < 0x10000 ? 3 : 4;
      if (n == 1)
        b[0] = (char) x;
      else if (n == 2)
        b[0] = (char) (0xc0 | x >> 6), b[1] = (char) (0x80 | (x & 63));
      else if (n == 3)
        b[0] = (char) (0xe0 | x >> 12), b[1] = (char) (0x80 | (x >> 6 & 63)),
        b[2] = (char) (0x80 | (x & 63));
      else
        b[0] = (char) (0xf0 | x >> 18), b[1] = (char) (0x80 | (x >> 12 & 63)),
        b[2] = (char) (0x80 | (x >> 6 & 63)), b[3] = (char) (0x80 | (x & 63));
      bool yes, in = (x >= lo && x <= hi) != (k % 3 == 0);
      if (x >= 0xd800 && x < 0xe000) in = false; /* no text has one */
      if (!constraint_matches(c, b, n, &yes, &why) || yes != in)
        ck_abort_msg("%s and U+%04X: %d", pattern, x, yes);
    }
    bool yes;
    static const char *const bad[] = { "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
      "\xf4\x90\x80\x80", "\x80", "\xc3", "\xff" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
      ck_assert(constraint_matches(c, bad[i], strlen(bad[i]), &yes, &why) && !yes);
    constraint_free(c);
  }
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- random grammars against a recogniser that fills tables until nothing changes */
enum kind { LETTER, BOTH, EITHER, STAR, PLUS, MAYBE, TWO, CALL, NOTHING };
struct knot {
  enum kind kind;
  int a, b;
};
struct grammar {
  struct knot k[200];
  int n, rule[4], rules;
};
static int knot_of(struct grammar *g, enum kind kind, int a, int b)
{
  g->k[g->n] = (struct knot){ kind, a, b };
  return g->n++;
}
static int random_knot(uint64_t *seed, struct grammar *g, int depth)
{
  size_t k = below(seed, depth > 0 ? 12 : 5);
  if (k < 3) return knot_of(g, LETTER, 'a' + (int) below(seed, 2), 0);
  if (k == 3) return knot_of(g, CALL, (int) below(seed, (size_t) g->rules), 0);
  if (k == 4) return knot_of(g, NOTHING, 0, 0);
  int a = random_knot(seed, g, depth - 1);
  if (k < 8) return knot_of(g, BOTH, a, random_knot(seed, g, depth - 1));
  if (k < 10) return knot_of(g, EITHER, a, random_knot(seed, g, depth - 1));
  return knot_of(g, STAR + (enum kind) below(seed, 4), a, 0);
}
static void write_knot(const struct grammar *g, int k, struct text *t)
{
  static const char *const times[] = { "*", "+", "?", "{2}" };
  char s[8] = "";
  switch (g->k[k].kind) {
  case LETTER: snprintf(s, sizeof s, "\"%c\"", g->k[k].a), say(t, s); break;
  case NOTHING: say(t, "\"\""); break;
  case CALL:
    if (g->k[k].a == 0)
      say(t, "root");
    else
      snprintf(s, sizeof s, "r%d", g->k[k].a), say(t, s);
    break;
  case BOTH: write_knot(g, g->k[k].a, t), say(t, " "), write_knot(g, g->k[k].b, t); break;
  case EITHER:
    say(t, "( "), write_knot(g, g->k[k].a, t), say(t, " |\n  "), write_knot(g, g->k[k].b, t),
      say(t, ")");
    break;
  case STAR: case PLUS: case MAYBE: case TWO:
    say(t, "("), write_knot(g, g->k[k].a, t), say(t, ")"), say(t, times[g->k[k].kind - STAR]);
  }
}
/* bit j of ends[k][i]: knot k makes the text from i to j */
enum { LONGEST = 8 };
struct table {
  unsigned ends[200][LONGEST + 1];
};
static unsigned spread(const struct table *t, int k, unsigned from)
{
  unsigned to = 0;
  for (int i = 0; i <= LONGEST; i++)
    if (from >> i & 1) to |= t->ends[k][i];
  return to;
}
static bool makes(const struct grammar *g, const char *text, int n)
{
  static struct table t;
  memset(&t, 0, sizeof t);
  for (bool changed = true; changed;) {
    changed = false;
    for (int k = 0; k < g->n; k++)
      for (int i = 0; i <= n; i++) {
        int a = g->k[k].a, b = g->k[k].b;
        unsigned now = 0, here = 1u << i;
        switch (g->k[k].kind) {
        case LETTER: now = i < n && text[i] == a ? 1u << (i + 1) : 0; break;
        case NOTHING: now = here; break;
        case CALL: now = t.ends[g->rule[a]][i]; break;
        case BOTH: now = spread(&t, b, t.ends[a][i]); break;
        case EITHER: now = t.ends[a][i] | t.ends[b][i]; break;
        case STAR: now = here | spread(&t, a, t.ends[k][i] | here); break;
        case PLUS: now = t.ends[a][i] | spread(&t, a, t.ends[k][i]); break;
        case MAYBE: now = here | t.ends[a][i]; break;
        case TWO: now = spread(&t, a, t.ends[a][i]); break;
        }
        now |= t.ends[k][i];
        changed = changed || now != t.ends[k][i];
        t.ends[k][i] = now;
      }
  }
  return t.ends[g->rule[0]][0] >> n & 1;
}
static void random_grammar(uint64_t *seed, struct grammar *g, struct text *t)
{
  g->n = 0, g->rules = 1 + (int) below(seed, 4);
  t->n = 0;
  for (int i = 0; i < g->rules; i++) g->rule[i] = random_knot(seed, g, 3);
  for (int i = 0; i < g->rules; i++) {
    char s[16];
    snprintf(s, sizeof s, i == 0 ? "root ::= " : "r%d ::= ", i);
    say(t, s), write_knot(g, g->rule[i], t), say(t, i % 2 ? " # a remark\n\n" : "\n");
  }
}
START_TEST(grammars_agree_with_a_table)
{
  uint64_t seed = suite_seed() + 104729 * (uint64_t) _i;
  struct memory m = { .fail_at = 0 };
  struct error why;
  size_t taken = 0, left = 0, endless = 0, yes_all = 0, all = 0;
  while (taken < 60) {
    struct grammar g;
    struct text t;
    random_grammar(&seed, &g, &t);
    struct constraint *c = constraint_grammar(&m, "g", t.s, t.n, &why);
    if (c == NULL) {
      bool l = strstr(why.text, "left recursion") != NULL,
           e = strstr(why.text, "comes to no end") != NULL;
      ck_assert_msg(l || e, "%s\n%s", t.s, why.text);
      left += l, endless += e;
      continue;
    }
    taken++;
    for (int n = 0; n <= LONGEST - 1; n++)
      for (unsigned bits = 0; bits < 1u << n; bits++) {
        char text[LONGEST];
        for (int i = 0; i < n; i++) text[i] = bits >> i & 1 ? 'b' : 'a';
        bool yes, want = makes(&g, text, n);
        ck_assert_msg(constraint_matches(c, text, (size_t) n, &yes, &why), "%s", why.text);
        ck_assert_msg(yes == want, "%s\"%.*s\": %d", t.s, n, text, yes);
        yes_all += yes, all++;
      }
    constraint_free(c);
  }
  ck_assert_msg(left > 5 && endless > 1 && yes_all > 100, "%zu left, %zu endless, %zu of %zu", left,
    endless, yes_all, all);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- masks: what a token is allowed for, by PCRE2 and by trying every row of tokens */
struct tiny_words {
  struct token_bytes p[6];
  char byte[6][4];
  size_t n;
};
static void random_words(uint64_t *seed, struct tiny_words *w)
{
  w->n = 3 + below(seed, 4);
  for (size_t i = 0; i < w->n; i++) {
    size_t n = below(seed, 20) == 0 ? 0 : 1 + below(seed, 3);
    for (size_t k = 0; k < n; k++) w->byte[i][k] = "abc "[below(seed, below(seed, 3) ? 3 : 4)];
    w->p[i] = (struct token_bytes){ (unsigned char *) w->byte[i], n };
  }
}
enum { AHEAD = 4 };
/* the least number of tokens with which text becomes a match, at most `most'; most + 1 if there is
 * none */
static size_t tokens_to_match(pcre2_code *p, const struct tiny_words *w, const bool *usable,
  char *text, size_t n, size_t max, bool first)
{
  size_t best = max + 1;
  if (pcre2_says(p, text, n) == 1) return 0;
  for (size_t i = 0; max > 0 && i < w->n; i++) {
    const unsigned char *b = w->p[i].byte;
    size_t k = w->p[i].n;
    if (!usable[i] || k == 0) continue;
    if (first && b[0] == ' ') {
      b++;
      if (--k == 0) continue;
    }
    memcpy(text + n, b, k);
    size_t rest = 1 + tokens_to_match(p, w, usable, text, n + k, max - 1, false);
    if (rest < best) best = rest;
  }
  return best;
}
START_TEST(a_mask_is_what_it_is_defined_as)
{
  static const char *const pattern[] = { "(ab|c)*", "a{1,3}b?c", "(a|b){4}", "[ab]*ca",
    "a b|c{8}|(bc)+", "(a{8}|b{7}c)", "(aa|bb|cc)+", "abcabc| abc", "a*", "((a|b)c?){2,3}",
    "[^a]+a", " *a +b", "(abc){2}|a{5}b", "c.c|ab..ba" };
  uint64_t seed = suite_seed() + 15485863 * (uint64_t) _i;
  struct memory m = { .fail_at = 0 };
  struct error why;
  size_t checked = 0, refused = 0, unspeakable = 0, tight = 0;
  for (int trial = 0; trial < 600; trial++) {
    const char *pat = PICK(&seed, pattern);
    struct tiny_words w;
    bool usable[6], strips = below(&seed, 3) == 0;
    random_words(&seed, &w);
    for (size_t i = 0; i < w.n; i++) usable[i] = below(&seed, 8) != 0;
    pcre2_code *p = pcre2_of(pat, strlen(pat));
    struct lexicon *l = lexicon_open(&m, w.p, usable, w.n, &why);
    struct constraint *c = constraint_regex(&m, pat, strlen(pat), &why);
    ck_assert(l != NULL && c != NULL);
    char text[80];
    size_t n = 0, min = tokens_to_match(p, &w, usable, text, 0, AHEAD + 2, strips);
    bool bound = constraint_bind(c, l, strips, &why);
    if (!bound) {
      unspeakable++;
      ck_assert_msg(min == AHEAD + 3, "%s needs %zu", pat, min);
      ck_assert(strstr(why.text, "can't write it") != NULL);
    }
    uint32_t state = constraint_start(c);
    for (int step = 0; bound && step < 3; step++) {
      uint8_t allowed[6];
      size_t want[6], some[6],
        k = 0, now = tokens_to_match(p, &w, usable, text, n, AHEAD + 1, strips && step == 0);
      for (size_t i = 0; i < w.n; i++) {
        const unsigned char *b = w.p[i].byte;
        size_t len = w.p[i].n;
        bool out = !usable[i] || len == 0;
        if (!out && strips && step == 0 && b[0] == ' ') b++, len--, out = len == 0;
        want[i] = AHEAD + 2;
        if (out) continue;
        memcpy(text + n, b, len);
        want[i] = 1 + tokens_to_match(p, &w, usable, text, n + len, AHEAD, false);
      }
      for (size_t budget = 0; budget <= AHEAD + 1; budget++) {
        bool accepts, any = false, ok = constraint_mask(c, state, budget, allowed, &accepts, &why);
        for (size_t i = 0; i < w.n; i++) {
          bool good = want[i] <= budget;
          any = any || good;
          if (ok)
            ck_assert_msg(allowed[i] == good, "%s behind \"%.*s\", token \"%.*s\", %zu left: %d",
              pat, (int) n, text, (int) w.p[i].n, (char *) w.p[i].byte, budget, allowed[i]);
          checked++, tight += good != (want[i] <= AHEAD + 1);
        }
        ck_assert_int_eq(ok, any || now == 0);
        if (ok)
          ck_assert_int_eq(accepts, now == 0);
        else {
          char need[40];
          size_t minimum;
          ck_assert(constraint_minimum(c, state, &minimum, NULL));
          ck_assert(now > AHEAD + 1 ? minimum > AHEAD + 1 : minimum == now);
          snprintf(need, sizeof need, "at least %zu tokens", minimum);
          ck_assert_msg(strstr(why.text, need) != NULL, "%s", why.text);
          refused++;
        }
      }
      for (size_t i = 0; i < w.n; i++)
        if (want[i] <= AHEAD + 1) some[k++] = i;
      if (k == 0) break;
      uint32_t id = (uint32_t) some[below(&seed, k)];
      size_t skip = strips && step == 0 && w.p[id].byte[0] == ' ';
      ck_assert_msg(constraint_step(c, state, id, &state, &why), "%s", why.text);
      memcpy(text + n, w.p[id].byte + skip, w.p[id].n - skip), n += w.p[id].n - skip;
    }
    constraint_free(c), lexicon_close(l), pcre2_code_free(p);
  }
  ck_assert_msg(checked > 8000 && refused > 400 && unspeakable > 20 && tight > 1200,
    "%zu %zu %zu %zu", checked, refused, unspeakable, tight);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- where rules nest: the number of tokens is that of the ways on which each token brings the
 * end nearer, counted in bytes */
static const char *const nesting[] = {
  "root ::= \"(\" root \")\" | \"x\"\n",
  "root ::= \"a\" root \"b\" | \"c\" root \"d\" | \"\"\n",
  "root ::= s (\",\" s)*\ns ::= \"[\" root? \"]\" | \"n\"\n",
  "root ::= (\"a\" root \"a\" | \"b\" root \"b\")?\n",
};
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { NESTED = 20 }; /* under the sanitizers a third of the trials */
#else
enum { NESTED = 60 };
#endif
/* both numbers of the state behind some text: bytes by a binding to single bytes, tokens by the
 * definition */
static size_t bytes_to_end(struct constraint *by_byte, const char *text, size_t n)
{
  struct error why;
  uint32_t state = constraint_start(by_byte);
  size_t min;
  for (size_t i = 0; i < n; i++)
    if (!constraint_step(by_byte, state, (unsigned char) text[i], &state, NULL)) return SIZE_MAX;
  hold_msg(constraint_minimum(by_byte, state, &min, &why), "%s", why.text);
  return min;
}
static size_t tokens_nearer(
  struct constraint *by_byte, const struct words *w, char *text, size_t n, size_t bytes)
{
  size_t best = bytes; /* each byte is a token */
  if (bytes == 0) return 0;
  for (size_t i = 0; i < w->n; i++) {
    if (w->p[i].n == 1 && strchr("()[],xnabcd", w->p[i].byte[0]) == NULL) continue;
    memcpy(text + n, w->p[i].byte, w->p[i].n);
    size_t then = bytes_to_end(by_byte, text, n + w->p[i].n);
    if (then >= bytes) continue;
    size_t rest = 1 + tokens_nearer(by_byte, w, text, n + w->p[i].n, then);
    if (rest < best) best = rest;
  }
  return best;
}
START_TEST(nesting_goes_the_shortest_way_without_a_detour)
{
  static const char *const more[] = { "()", "))", ")))", "]]", "],[", "n]", "]", "bb", "ab", "bd",
    "db", "aa", "bbaa", "(x)", "((", "[", ")", "b", "d", "a", "x", "n", "bbb", "dd", "[]", ",n" };
  struct memory m = { .fail_at = 0 };
  struct error why;
  uint64_t seed = suite_seed() + (uint64_t) _i;
  size_t shorter = 0, refused = 0;
  for (int trial = 0; trial < NESTED; trial++) {
    const char *g = PICK(&seed, nesting);
    struct words w, bytes;
    words_of_bytes(&w), words_of_bytes(&bytes);
    for (size_t k = 3 + below(&seed, 8); k > 0; k--) words_add(&w, PICK(&seed, more));
    struct lexicon *l = lexicon_open(&m, w.p, NULL, w.n, &why),
                   *lb = lexicon_open(&m, bytes.p, NULL, 256, &why);
    struct constraint *c = constraint_grammar(&m, "g", g, strlen(g), &why),
                      *cb = constraint_grammar(&m, "g", g, strlen(g), &why);
    ck_assert(constraint_bind(c, l, false, &why) && constraint_bind(cb, lb, false, &why));
    char text[300];
    size_t n = 0, now;
    uint32_t state = constraint_start(c);
    uint8_t allowed[400];
    bool accepts;
    for (int step = 0; step < 10; step++) {
      size_t left = bytes_to_end(cb, text, n), some[400], k = 0;
      size_t want = tokens_nearer(cb, &w, text, n, left);
      ck_assert(constraint_minimum(c, state, &now, &why));
      ck_assert_msg(
        now == want, "%sbehind %.*s: %zu tokens, %zu by definition", g, (int) n, text, now, want);
      shorter += now < left;
      size_t budget = now + below(&seed, 3) + (step < 5 ? 6 : 0);
      if (now > 0) {
        ck_assert(!constraint_mask(c, state, now - 1, allowed, &accepts, &why)), refused++;
        ck_assert(constraint_mask(c, state, now, allowed, &accepts, &why));
      }
      ck_assert(constraint_mask(c, state, budget, allowed, &accepts, &why));
      for (uint32_t i = 0; i < w.n; i++) {
        memcpy(text + n, w.p[i].byte, w.p[i].n);
        size_t then = bytes_to_end(cb, text, n + w.p[i].n);
        bool good =
          then != SIZE_MAX && 1 + tokens_nearer(cb, &w, text, n + w.p[i].n, then) <= budget;
        hold_msg(allowed[i] == good, "%sbehind %.*s, token %.*s, %zu left", g, (int) n, text,
          (int) w.p[i].n, (char *) w.p[i].byte, budget);
        if (good) some[k++] = i;
      }
      if (k == 0) break;
      uint32_t id = (uint32_t) some[below(&seed, k)];
      ck_assert(constraint_step(c, state, id, &state, &why));
      memcpy(text + n, w.p[id].byte, w.p[id].n), n += w.p[id].n;
      if (n > 40) break;
    }
    constraint_free(c), constraint_free(cb), lexicon_close(l), lexicon_close(lb);
  }
  ck_assert_msg(shorter > NESTED / 4 && refused > NESTED * 5 / 2, "%zu, %zu", shorter, refused);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
/* what was asked before does not change what is answered now */
START_TEST(answers_do_not_depend_on_what_was_asked)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct words w;
  uint64_t seed = suite_seed();
  words_of_bytes(&w);
  static const char *const more[] = { "\"}", "]}", "}}", "\":", "\": \"", ",\"", "{\"", "[[", "]]",
    "\"]", "true", "null}", "0]" };
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) words_add(&w, more[i]);
  struct lexicon *l = lexicon_open(&m, w.p, NULL, w.n, &why);
  struct constraint *busy =
    constraint_grammar(&m, "json", constraint_json, strlen(constraint_json), &why);
  ck_assert(constraint_bind(busy, l, false, &why));
  char text[4000];
  for (int k = 0; k < 20; k++) write_at_random(busy, w.p, w.n, 12, &seed, text, sizeof text, 2);
  size_t states = constraint_look(busy).states;
  for (int k = 0; k < 6; k++) {
    struct constraint *fresh =
      constraint_grammar(&m, "json", constraint_json, strlen(constraint_json), &why);
    ck_assert(constraint_bind(fresh, l, false, &why));
    uint32_t a = constraint_start(busy), b = constraint_start(fresh);
    for (size_t left = 10; left > 0; left--) {
      uint8_t one[400], two[400];
      bool x, y;
      uint32_t id = 0;
      ck_assert(constraint_mask(busy, a, left, one, &x, &why)
        && constraint_mask(fresh, b, left, two, &y, &why));
      ck_assert(x == y && memcmp(one, two, w.n) == 0);
      size_t some = 0;
      for (uint32_t i = 0; i < w.n; i++)
        if (one[i] && below(&seed, ++some) == 0) id = i;
      if (some == 0) break;
      ck_assert(constraint_step(busy, a, id, &a, &why) && constraint_step(fresh, b, id, &b, &why));
    }
    constraint_free(fresh);
  }
  ck_assert_uint_gt(constraint_look(busy).states, 100);
  ck_assert_uint_ge(constraint_look(busy).states, states);
  ck_assert(constraint_forget(busy, &why));
  ck_assert_uint_le(constraint_look(busy).states, 3);
  constraint_free(busy), lexicon_close(l);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- JSON */
static bool is_object(struct constraint *c, const char *text, size_t n)
{
  struct error why;
  bool yes;
  ck_assert_msg(constraint_matches(c, text, n, &yes, &why), "%s", why.text);
  return yes;
}
START_TEST(objects_are_told_from_what_is_none)
{
  static const char *const good[] = { "{}", "{ }", "{\"\":0}",
    "{\"a\":{\"b\":[[],{}, [1,-2.5e+10 ,true,false,null]]}}",
    "{\"a\": \"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "{\"\\u00e9\":\"\\uD83D\\uDE00\"}",
    "{\"a\":\"\xf0\x9f\x98\x80\x7f\"}", "{\n  \"a\": 0.5,\n  \"a\": 1E9 }",
    "{\"x\":[0,10,100,-0,0.0,123456789012345]}", "{\"\\u0001\":\"\\u0010\\u0100\\u1000\"}",
    "{\"a\":[\n\n]}" };
  static const char *const bad[] = { "", "{", "}", "[]", "{} ", " {}", "{a:1}", "{'a':1}",
    "{\"a\":1,}", "{\"a\":[1,]}", "{\"a\" 1}", "{\"a\":01}", "{\"a\":+1}", "{\"a\":.5}",
    "{\"a\":1.}", "{\"a\":1e}", "{\"a\":-}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}",
    "{\"a\":\"\\ud83d\"}", "{\"a\":\"\\ude00\\ud83d\"}", "{\"a\":\"\n\"}", "{\"a\":\"\\u0000\"}",
    "{\"a\":tru}", "{\"a\":True}", "{\"a\":1}}", "{\"a\":\"\xff\"}", "{\"a\":\"\xed\xa0\x80\"}",
    "{\"a\":1 \"b\":2}", "{\"a\":NaN}", "{,}", "{\"a\":}", "{\"a\"}", "{\"a\":1234567890123456}" };
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct constraint *c =
    constraint_grammar(&m, "json", constraint_json, strlen(constraint_json), &why);
  ck_assert_msg(c != NULL, "%s", why.text);
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    /* "\n\n" is one blank too many of ours, not of JSON */
    bool ours = strstr(good[i], "\n\n") == NULL;
    ck_assert_msg(is_object(c, good[i], strlen(good[i])) == ours, "%s", good[i]);
    json_t *j = json_loads(good[i], 0, NULL);
    ck_assert_msg(j != NULL, "%s", good[i]);
    json_decref(j);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    ck_assert_msg(!is_object(c, bad[i], strlen(bad[i])), "%s", bad[i]);
  constraint_free(c);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
static void parses(const char *text, size_t n)
{
  json_error_t e;
  json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES * 0, &e);
  ck_assert_msg(j != NULL && json_is_object(j), "%.*s: %s", (int) n, text, e.text);
  json_decref(j);
}
static struct lexicon *lexicon_of(struct memory *m, const struct tokenizer *t,
  struct token_bytes *p, bool *usable, struct error *why)
{
  for (uint32_t i = 0; i < tokenizer_vocab_size(t); i++)
    p[i].byte = tokenizer_text(t, i, &p[i].n), usable[i] = !tokenizer_is_special(t, i);
  return lexicon_open(m, p, usable, tokenizer_vocab_size(t), why);
}
START_TEST(what_is_written_is_always_an_object)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  uint64_t seed = suite_seed() + 31 * (uint64_t) _i;
  static struct token_bytes p[4096];
  static bool usable[4096];
  static char text[1 << 16];
  struct tokenizer *t = tokenizer_open(&m, "models/pocket", &why);
  ck_assert_msg(t != NULL, "%s", why.text);
  size_t vocab = tokenizer_vocab_size(t), nested = 0, written = 0;
  struct lexicon *l = lexicon_of(&m, t, p, usable, &why);
  struct constraint *c =
    constraint_grammar(&m, "json", constraint_json, strlen(constraint_json), &why);
  ck_assert_msg(l != NULL && c != NULL && constraint_bind(c, l, false, &why), "%s", why.text);
  size_t min;
  ck_assert(constraint_minimum(c, constraint_start(c), &min, &why));
  for (int k = 0; k < 120; k++) {
    size_t n = write_at_random(c, p, vocab, min + below(&seed, 40), &seed, text, sizeof text, 2);
    parses(text, n);
    ck_assert(is_object(c, text, n));
    for (size_t i = 0; i < n; i++) nested += text[i] == '[' || text[i] == '{', written++;
  }
  ck_assert(written > 2000);
  (void) nested;
  constraint_free(c), lexicon_close(l), tokenizer_close(&m, t);
  /* and with a vocabulary of brackets, which nests more than is good for it */
  struct words w;
  words_of_bytes(&w);
  for (size_t b = 'b'; b < 256; b++)
    if (b != 'u' && b != 'n' && b != 'e' && b != 'l' && b != 't' && b != 'r' && b != 's' && b != 'f'
      && b != '{' && b != '}')
      w.p[b].n = b < 128 ? 0 : 1;
  static const char *const more[] = { "{\"a\":", "[[", "[{\"", "}]", "]]", "}}", "\"}", "\"]",
    "\": ", "],", "true", "\\u", "D8", "0]}" };
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) words_add(&w, more[i]);
  l = lexicon_open(&m, w.p, NULL, w.n, &why);
  c = constraint_grammar(&m, "json", constraint_json, strlen(constraint_json), &why);
  ck_assert_msg(l != NULL && c != NULL && constraint_bind(c, l, false, &why), "%s", why.text);
  for (int k = 0; k < 60; k++) {
    size_t n = write_at_random(c, w.p, w.n, 2 + below(&seed, 40), &seed, text, sizeof text, 2);
    parses(text, n);
  }
  constraint_free(c), lexicon_close(l);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
/* random patterns and grammars, random words, the least budget and more: a text that matches, and
 * never a dead end */
START_TEST(whatever_is_written_matches_within_its_budget)
{
  uint64_t seed = suite_seed() + 7 * (uint64_t) _i;
  struct memory m = { .fail_at = 0 };
  struct error why;
  size_t written = 0, speechless = 0, few = 0;
  while (written < 600) {
    struct text t = { .n = 0 };
    struct grammar g;
    struct words w;
    struct tiny_words tiny;
    t.s[0] = '\0';
    bool pattern = below(&seed, 2), strips = below(&seed, 4) == 0, all_bytes = below(&seed, 3) > 0;
    if (pattern)
      pattern_choice(&seed, &t, 2);
    else
      random_grammar(&seed, &g, &t);
    struct constraint *c =
      pattern ? constraint_regex(&m, t.s, t.n, &why) : constraint_grammar(&m, "g", t.s, t.n, &why);
    if (c == NULL) continue;
    random_words(&seed, &tiny);
    words_of_bytes(&w);
    if (!all_bytes) w.n = 0;
    for (size_t i = 0; i < tiny.n; i++) w.p[w.n++] = tiny.p[i];
    struct lexicon *l = lexicon_open(&m, w.p, NULL, w.n, &why);
    size_t min;
    if (!constraint_bind(c, l, strips, &why))
      speechless++, ck_assert(!all_bytes || strips);
    else if (!constraint_minimum(c, constraint_start(c), &min, &why))
      ck_abort_msg("%s", why.text);
    else
      for (int k = 0; k < 4; k++) {
        char text[4000];
        size_t n = write_at_random(c, w.p, w.n, min + below(&seed, 5), &seed, text, sizeof text, 3);
        bool yes, lost = strips && n > 0 && text[0] == ' ';
        ck_assert(constraint_matches(c, text + lost, n - lost, &yes, &why));
        ck_assert_msg(yes, "%s: \"%.*s\"", t.s, (int) n, text);
        written++, few += min > 1;
      }
    constraint_free(c), lexicon_close(l);
  }
  ck_assert_msg(speechless > 3 && few > 20, "%zu, %zu", speechless, few);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- refusals name the thing and the place */
static const struct {
  const char *text, *says, *place;
} bad_pattern[] = {
  { "a\\1", "escape is not done", "byte 1, at \"\\1\"" },
  { "\\bword", "escape is not done", "byte 0" },
  { "\\p{L}", "escape is not done", "byte 0" },
  { "a\\Qb\\E", "escape is not done", "byte 1" },
  { "\\v", "escape is not done", "byte 0" },
  { "\\h", "escape", "byte 0" },
  { "\\R", "escape", "byte 0" },
  { "x\\", "escape", "byte 1" },
  { "\\k<n>", "escape", "byte 0" },
  { "\\0", "escape", "byte 0" },
  { "\\A", "escape", "byte 0" },
  { "[\\b]", "escape", "byte 1" },
  { "(?=a)", "only (?:", "byte 0" },
  { "a(?<=a)", "only (?:", "byte 1" },
  { "(?<n>a)", "only (?:", "byte 0" },
  { "(?>a)", "only (?:", "byte 0" },
  { "(?i)a", "only (?:", "byte 0" },
  { "(*ACCEPT)", "only (?:", "byte 0" },
  { "(?#a)", "only (?:", "byte 0" },
  { "a++", "possessive", "byte 2" },
  { "a*+", "possessive", "byte 2" },
  { "a**", "can't be repeated", "byte 2" },
  { "a{2}{3}", "can't be repeated", "byte 4" },
  { "a*??", "can't be repeated", "byte 3" },
  { "*a", "nothing before this", "byte 0" },
  { "a|+", "nothing before this", "byte 2" },
  { "(?:{2})", "nothing before this", "byte 3" },
  { "^*", "nothing before this", "byte 1" },
  { "a^b", "whole text must match", "byte 1" },
  { "a$b", "whole text must match", "byte 1" },
  { "(^a)", "whole text must match", "byte 1" },
  { "(a$)", "whole text must match", "byte 2" },
  { "(a$|b)c", "whole text must match", "byte 2" },
  { "(b|a$)", "whole text must match", "byte 4" },
  { "(a|^b)c", "whole text must match", "byte 3" },
  { "((a$|b)|c)", "whole text must match", "byte 3" },
  { "(a", "never closed", "byte 0" },
  { "a)", "never opened", "byte 1" },
  { "[a", "never closed", "byte 0" },
  { "[]a]", "a set of nothing", "byte 0" },
  { "[^]", "a set of nothing", "byte 0" },
  { "[z-a]", "not a range", "byte 1" },
  { "[\\d-z]", "not a range", "byte 1" },
  { "[a-\\w]", "not a range", "byte 1" },
  { "[a-c-e]", "hyphen", "byte 4" },
  { "[[:alpha:]]", "named classes", "byte 1" },
  { "[[.a.]]", "named classes", "byte 1" },
  { "[[=a=]]", "named classes", "byte 1" },
  { "[..]", "named classes", "byte 0" },
  { "[:a:]", "named classes", "byte 0" },
  { "a{", "a count is wanted", "byte 2" },
  { "a{x}", "a count is wanted", "byte 2" },
  { "a{,3}", "a count is wanted", "byte 2" },
  { "a{2", "closing brace", "byte 3" },
  { "a{3,2}", "less than the first", "byte 1" },
  { "a{1001}", "1000 times at most", "byte 2" },
  { "a{99999999999999999999}", "1000 times at most", "byte 2" },
  { "a{1,1001}", "1000 times", "byte 4" },
  { "\\x{110000}", "no character has this number", "byte 3" },
  { "\\x{d800}", "no character", "byte 3" },
  { "\\xg", "hexadecimal", "byte 2" },
  { "\\x1", "hexadecimal", "byte 2" },
  { "\\x{}", "hexadecimal", "byte 3" },
  { "\\x{41", "closing brace", "byte 0" },
  { "a\xff", "not UTF-8", "byte 1 is 0xff" },
  { "[^\\x{0}-\\x{10ffff}]", "no text matches it", "the pattern" },
  { "a[^\\d\\D]", "no text matches it", "the pattern" },
  { "((a{1000}){1000}){1000}", "too large", "65536 nodes" },
  { "(((){1000}){1000}){1000}", "too large", "repetitions" },
};
static const struct {
  const char *text, *says, *place;
} bad_grammar[] = {
  { "", "no rule root", "g:" },
  { "a ::= \"x\"", "no rule root", "g:" },
  { "root ::= a", "no rule has this name", "line 1, at \"a\"" },
  { "root ::= \"x\"\n\nroot ::= \"y\"", "defined already", "line 3" },
  { "root ::= \"x", "never closed", "line 1" },
  { "root ::= \"x\n\"", "never closed", "line 1" },
  { "root ::= [a", "never closed", "line 1" },
  { "root ::= [a\n]", "never closed", "line 1" },
  { "root ::= []", "set of nothing", "line 1" },
  { "root ::= [b-a]", "not a range", "line 1" },
  { "root ::= (\"a\"\n", "never closed", "line 1" },
  { "root ::= (\"a\" = )", "closing parenthesis", "line 1, at \"= )\"" },
  { "root ::= \"a\" )", "end of the line", "line 1, at \")\"" },
  { "root ::= \"a\"\n| \"b\"", "name of a rule", "line 2" },
  { "root = \"a\"", "::= is wanted", "line 1" },
  { "root", "::= is wanted", "line 1, at the end" },
  { "root ::= *", "end of the line", "line 1" },
  { "root ::= \"a\" * *", "can't be repeated", "line 1" },
  { "root ::= \"a\"{2}{2}", "can't be repeated", "line 1" },
  { "root ::= \"\\q\"", "escape is not done", "line 1" },
  { "root ::= \"\\", "escape", "line 1" },
  { "root ::= \"\\u12\"", "hexadecimal", "line 1" },
  { "root ::= \"\\ud800\"", "no character", "line 1" },
  { "root ::= \"\\U00110000\"", "no character", "line 1" },
  { "my_rule ::= \"a\"", "::= is wanted", "line 1, at \"_rule" },
  { "root ::= <x>", "end of the line", "line 1" },
  { "root ::= root \"a\" | \"b\"", "left recursion", "the rule root, of line 1" },
  { "# x\nroot ::= a\na ::= e b\nb ::= a | \"x\"\ne ::= \"e\"?", "left recursion",
    "the rule a, of line 2" },
  { "root ::= \"a\" | x\nx ::= \"b\" x", "comes to no end", "the rule x, of line 1" },
  { "root ::= \"a\" root", "comes to no end", "the rule root" },
  { "root ::= (root)* \"a\"", "left recursion", "root" },
  { "root ::= \"a{2\"\nx ::= \"a\"{2", "closing brace", "line 2" },
  { "root ::= \"\xc3\"", "not UTF-8", "byte 10 is 0xc3" },
};
START_TEST(refusals_name_the_thing_and_the_place)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  for (size_t i = 0; i < sizeof bad_pattern / sizeof *bad_pattern; i++) {
    why.text[0] = '\0';
    ck_assert_msg(
      constraint_regex(&m, bad_pattern[i].text, strlen(bad_pattern[i].text), &why) == NULL,
      "%s is taken", bad_pattern[i].text);
    ck_assert_msg(strstr(why.text, bad_pattern[i].says) && strstr(why.text, bad_pattern[i].place),
      "%s: %s", bad_pattern[i].text, why.text);
  }
  for (size_t i = 0; i < sizeof bad_grammar / sizeof *bad_grammar; i++) {
    why.text[0] = '\0';
    ck_assert_msg(
      constraint_grammar(&m, "g", bad_grammar[i].text, strlen(bad_grammar[i].text), &why) == NULL,
      "%s is taken", bad_grammar[i].text);
    ck_assert_msg(strstr(why.text, bad_grammar[i].says) && strstr(why.text, bad_grammar[i].place),
      "%s: %s", bad_grammar[i].text, why.text);
  }
  struct text deep = { .n = 0 };
  for (int i = 0; i < 101; i++) say(&deep, "(");
  ck_assert(constraint_regex(&m, deep.s, deep.n, &why) == NULL && strstr(why.text, "too deep")
    && strstr(why.text, "byte 100"));
  deep.n = 0, say(&deep, "root ::= ");
  for (int i = 0; i < 101; i++) say(&deep, "(");
  ck_assert(
    constraint_grammar(&m, "g", deep.s, deep.n, &why) == NULL && strstr(why.text, "too deep"));
  char *large = calloc(1, (1 << 20) + 2);
  memset(large, 'a', (1 << 20) + 1);
  ck_assert(
    constraint_regex(&m, large, (1 << 20) + 1, &why) == NULL && strstr(why.text, "1048577 bytes"));
  ck_assert(constraint_regex(&m, large, 1 << 20, &why) == NULL
    && strstr(why.text, "more than 65536 nodes"));
  free(large);
  /* a rule that doubles, thirty times and more */
  struct text twice = { .n = 0 };
  say(&twice, "root ::= r00 r00\n");
  for (int i = 0; i < 40; i++) {
    char s[64];
    snprintf(s, sizeof s, "r%02d ::= r%02d r%02d\n", i, i + 1, i + 1), say(&twice, s);
  }
  say(&twice, "r40 ::= \"x\"\n");
  ck_assert(constraint_grammar(&m, "g", twice.s, twice.n, &why) == NULL);
  ck_assert_msg(strstr(why.text, "1073741824 bytes") != NULL, "%s", why.text);
  ck_assert_uint_eq(m.all.live, 0);
  tally("tests/suites/check_constraints.c: refusals",
    (unsigned) (sizeof bad_pattern / sizeof *bad_pattern
      + sizeof bad_grammar / sizeof *bad_grammar),
    0, 0, "");
}
END_TEST
START_TEST(refusals_at_work_are_sentences)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct token_bytes p[] = { { (const unsigned char *) "a", 1 }, { (const unsigned char *) "b", 1 },
    { NULL, 0 }, { (const unsigned char *) " ", 1 }, { (const unsigned char *) " a", 2 },
    { (const unsigned char *) "aa", 2 } };
  bool usable[] = { true, false, true, true, true, true };
  uint8_t allowed[6];
  bool accepts;
  uint32_t next;
  struct lexicon *l = lexicon_open(&m, p, usable, 6, &why);
  struct constraint *c = constraint_regex(&m, "a*", 2, &why);
  ck_assert(!constraint_mask(c, constraint_start(c), 3, allowed, &accepts, &why)
    && strstr(why.text, "not bound"));
  ck_assert(constraint_bind(c, l, false, &why));
  uint32_t state = constraint_start(c);
  ck_assert(
    !constraint_step(c, state, 1, &next, &why) && strstr(why.text, "token 1 can't come here"));
  ck_assert(!constraint_step(c, state, 2, &next, &why) && strstr(why.text, "token 2"));
  ck_assert(!constraint_step(c, state, 6, &next, &why) && strstr(why.text, "token 6"));
  ck_assert(!constraint_step(c, state, 4, &next, &why) && strstr(why.text, "token 4"));
  ck_assert(!constraint_step(c, 999, 0, &next, &why) && strstr(why.text, "no state 999"));
  ck_assert(!constraint_step(c, 0, 0, &next, &why) && strstr(why.text, "no state 0"));
  ck_assert(constraint_mask(c, state, 0, allowed, &accepts, &why) && accepts && allowed[0] == 0);
  ck_assert(constraint_mask(c, state, SIZE_MAX, allowed, &accepts, &why) && allowed[0]
    && !allowed[1] && !allowed[2] && !allowed[3] && !allowed[4] && allowed[5]);
  /* a first token loses a blank, and only the first, and not if it is nothing else */
  ck_assert(constraint_bind(c, l, true, &why));
  ck_assert(constraint_mask(c, constraint_start(c), SIZE_MAX, allowed, &accepts, &why) && allowed[0]
    && !allowed[3] && allowed[4] && allowed[5]);
  ck_assert(!constraint_step(c, constraint_start(c), 3, &next, &why));
  ck_assert(constraint_step(c, constraint_start(c), 4, &next, &why)
    && !constraint_step(c, next, 4, &next, &why));
  constraint_free(c);
  c = constraint_regex(&m, "ab", 2, &why);
  ck_assert(!constraint_bind(c, l, false, &why) && strstr(why.text, "none is byte 0x62 alone"));
  constraint_free(c);
  c = constraint_regex(&m, " ", 1, &why);
  ck_assert(constraint_bind(c, l, false, &why));
  ck_assert(!constraint_bind(c, l, true, &why) && strstr(why.text, "loses a blank"));
  constraint_free(c);
  lexicon_close(l);
  struct token_bytes huge[] = { { (const unsigned char *) "a", 1 },
    { (const unsigned char *) "b", ((size_t) 1 << 24) + 1 } };
  ck_assert(lexicon_open(&m, huge, NULL, 2, &why) == NULL);
  ck_assert_msg(
    strstr(why.text, "token 1 has 16777217 bytes") && strstr(why.text, "may have 16777216"), "%s",
    why.text);
  /* more states than there is room for */
  c = constraint_regex(&m, "(a|b)*a(a|b){40}", 16, &why);
  char text[1 << 16];
  uint64_t seed = suite_seed();
  bool yes, ok = true;
  for (int k = 0; ok && k < 200; k++) {
    for (size_t i = 0; i < sizeof text; i++) text[i] = "ab"[below(&seed, 2)];
    ok = constraint_matches(c, text, sizeof text, &yes, &why);
  }
  ck_assert_msg(!ok && strstr(why.text, "no more room") != NULL, "%s", why.text);
  ck_assert(constraint_look(c).bytes <= m.all.live && constraint_look(c).bytes > m.all.live / 2);
  ck_assert(m.all.live < (size_t) 1 << 29);
  ck_assert(constraint_forget(c, &why) && constraint_matches(c, "aaa", 3, &yes, &why) && !yes);
  constraint_free(c);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* thirty rules, each of which calls the next in two ways, and nothing is read: 2^30 stacks between
 * two bytes */
START_TEST(ways_without_end_are_given_up)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  for (int in_front = 0; in_front < 2; in_front++) {
    struct text t = { .n = 0 };
    bool yes;
    say(&t, in_front ? "root ::= r00 \"x\"\n" : "root ::= \"a\" r00 \"x\" | \"b\"\n");
    for (int i = 0; i < 30; i++) {
      char s[80];
      snprintf(s, sizeof s, "r%02d ::= r%02d (\"\")* | r%02d (\"\")*\n", i, i + 1, i + 1),
        say(&t, s);
    }
    say(&t, "r30 ::= \"\"\n");
    struct constraint *c = constraint_grammar(&m, "g", t.s, t.n, &why);
    ck_assert_int_eq(c == NULL, in_front); /* where it is the beginning, nothing can be made */
    if (c != NULL) {
      ck_assert(!constraint_matches(c, "ax", 2, &yes, &why));
      ck_assert_msg(
        strstr(why.text, "g: there are more than 1048576 ways between two bytes") != NULL, "%s",
        why.text);
      ck_assert(constraint_matches(c, "b", 1, &yes, &why) && yes);
      constraint_free(c);
    }
    ck_assert_msg(strstr(why.text, "more than 1048576 ways") != NULL, "%s", why.text);
    ck_assert_uint_lt(m.all.peak, (size_t) 1 << 27);
    ck_assert_uint_eq(m.all.live, 0);
  }
}
END_TEST
/* where a text may end, what could follow it is not looked at: here it would be too much */
START_TEST(an_end_needs_no_look_ahead)
{
  static const char grammar[] = "root ::= \"a\"* (\"c\" root{60})?\n";
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct words w;
  words_of_bytes(&w);
  struct lexicon *l = lexicon_open(&m, w.p, NULL, w.n, &why);
  struct constraint *c = constraint_grammar(&m, "g", grammar, sizeof grammar - 1, &why);
  ck_assert_msg(c != NULL && constraint_bind(c, l, false, &why), "%s", why.text);
  uint32_t state = constraint_start(c);
  for (int i = 0; i < 3; i++) {
    size_t min = 1;
    ck_assert_msg(
      constraint_minimum(c, state, &min, &why) && min == 0, "after %d: %s", i, why.text);
    ck_assert(i == 2 || constraint_step(c, state, 'c', &state, &why));
  }
  ck_assert(!constraint_step(c, state, 'c', &state, &why)
    && strstr(why.text, "g: more than 65536 ways are open at once") != NULL);
  constraint_free(c), lexicon_close(l);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
/* too many states to look at: the number of tokens is that of the bytes, which is enough, and exact
 * again near the end */
START_TEST(a_large_minimum_is_enough)
{
  static const char pattern[] = "(a|b){1000}(a|b){500}";
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct words w;
  static char text[2000];
  uint8_t allowed[400];
  uint64_t seed = suite_seed();
  bool accepts, yes;
  size_t min;
  words_of_bytes(&w), words_add(&w, "aaaa");
  struct lexicon *l = lexicon_open(&m, w.p, NULL, w.n, &why);
  struct constraint *c = constraint_regex(&m, pattern, strlen(pattern), &why);
  ck_assert(l != NULL && c != NULL && constraint_bind(c, l, false, &why));
  uint32_t state = constraint_start(c);
  ck_assert(constraint_minimum(c, state, &min, &why));
  ck_assert_uint_eq(min, 1500); /* 375 would do */
  ck_assert(!constraint_mask(c, state, 1499, allowed, &accepts, &why)
    && strstr(why.text, "at least 1500 tokens"));
  for (int i = 0; i < 119; i++) ck_assert(constraint_step(c, state, 256, &state, &why));
  ck_assert(constraint_minimum(c, state, &min, &why));
  ck_assert_uint_eq(min, 1500 - 4 * 119); /* 1025 states are nearer, with this one */
  ck_assert(
    constraint_step(c, state, 256, &state, &why) && constraint_minimum(c, state, &min, &why));
  ck_assert_uint_eq(min, (1500 - 4 * 120) / 4);
  ck_assert(constraint_mask(c, state, min, allowed, &accepts, &why) && allowed[256] && !allowed['a']
    && !allowed['b']);
  for (int k = 0; k < 3; k++) {
    size_t n = write_at_random(c, w.p, w.n, 1500, &seed, text, sizeof text, 4);
    ck_assert(n == 1500 && constraint_matches(c, text, n, &yes, &why) && yes);
  }
  constraint_free(c), lexicon_close(l);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- memory refused at each request, one after the other */
static bool whole_life(struct memory *m, struct error *why)
{
  static const char g[] = "root ::= \"[\" (root (\",\" root)*)? \"]\" | [a-c]{1,3} | word\nword "
                          "::= \"x\" word | \"\xc3\xa9\"\n";
  struct words w;
  uint8_t allowed[400];
  bool accepts, yes, ok;
  size_t min;
  words_of_bytes(&w), words_add(&w, "]]"), words_add(&w, "[a"), words_add(&w, ",b");
  w.p['b'].n = 0;
  struct lexicon *l = lexicon_open(m, w.p, NULL, w.n, why);
  struct constraint *c = l ? constraint_grammar(m, "g", g, sizeof g - 1, why) : NULL,
                    *d = c ? constraint_regex(m, "(ab|[^c])*\\d{2}", 15, why) : NULL;
  ok = d != NULL && constraint_matches(c, "[[a,b],c,xx\xc3\xa9]", 14, &yes, why) && yes
    && constraint_bind(c, l, true, why) && constraint_bind(d, l, false, why);
  uint32_t state = ok ? constraint_start(c) : 0;
  for (size_t left = 6; ok && left > 0; left--) {
    ok = constraint_mask(c, state, left, allowed, &accepts, why);
    uint32_t id = 0;
    while (ok && id < w.n && !allowed[w.n - 1 - id]) id++;
    if (id == w.n) break;
    ok = ok && constraint_step(c, state, (uint32_t) w.n - 1 - id, &state, why);
  }
  ok = ok && constraint_minimum(d, constraint_start(d), &min, why)
    && constraint_mask(d, constraint_start(d), 2, allowed, &accepts, why)
    && constraint_forget(c, why) && constraint_matches(c, "[b]", 3, &yes, why) && yes;
  constraint_free(d), constraint_free(c), lexicon_close(l);
  return ok;
}
START_TEST(refused_memory_leaks_nothing)
{
  struct memory all = { .fail_at = 0 };
  struct error why = { "" };
  ck_assert_msg(whole_life(&all, &why), "%s", why.text);
  ck_assert_uint_eq(all.all.live, 0);
  ck_assert_uint_gt(all.all.requests, 100);
  for (uint64_t k = 1; k <= all.all.requests; k++) {
    struct memory m = { .fail_at = k };
    why.text[0] = '\0';
    ck_assert_msg(!whole_life(&m, &why), "request %llu", (unsigned long long) k);
    ck_assert_msg(strstr(why.text, "out of memory") != NULL, "request %llu: %s",
      (unsigned long long) k, why.text);
    ck_assert_uint_eq(m.all.live, 0);
  }
}
END_TEST

/* ---- a vocabulary of the world: 128,256 pieces of Llama 3, against each piece by itself */
static size_t read_pieces(const char *path, struct token_bytes **p, unsigned char **file)
{
  FILE *f = fopen(path, "rb");
  *file = malloc(4 << 20);
  size_t n = fread(*file, 1, 4 << 20, f), count = 0;
  fclose(f);
  *p = calloc(200000, sizeof **p);
  for (size_t at = 4; at + 8 <= n; count++) { /* a score, a length, the bytes */
    uint32_t len;
    memcpy(&len, *file + at + 4, 4);
    (*p)[count] = (struct token_bytes){ *file + at + 8, len }, at += 8 + len;
  }
  return count;
}
START_TEST(the_walk_is_each_piece_by_itself)
{
  char buffer[300];
  const char *path = shared_file(buffer, sizeof buffer, "data/llama3/tokenizer.bin");
  if (path == NULL) return;
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct token_bytes *p;
  unsigned char *file;
  size_t vocab = read_pieces(path, &p, &file), steps = 0;
  ck_assert_uint_eq(vocab, 128256);
  bool *usable = calloc(vocab, 1), accepts;
  for (size_t i = 0; i < vocab; i++) usable[i] = i < 128000;
  uint8_t *allowed = malloc(vocab);
  struct lexicon *l = lexicon_open(&m, p, usable, vocab, &why);
  struct constraint *c =
    constraint_grammar(&m, "json", constraint_json, strlen(constraint_json), &why);
  ck_assert_msg(l != NULL && c != NULL && constraint_bind(c, l, false, &why), "%s", why.text);
  static const char *const so_far[] = { "", "{", "{\"", "{\"name\"", "{\"name\": ", "{\"n\": [1",
    "{\"n\": [[{\"a\": \"b\\", "{\"n\": [[{\"a\": \"b\"", "{\"n\": [[{\"a\": \"\\u" };
  for (size_t k = 0; k < sizeof so_far / sizeof *so_far; k++) {
    uint32_t state = constraint_start(c), next;
    for (const char *s = so_far[k]; *s; s++) {
      uint32_t id = 0;
      while (id < vocab && (p[id].n != 1 || p[id].byte[0] != (unsigned char) *s)) id++;
      ck_assert_msg(constraint_step(c, state, id, &state, &why), "%s", why.text);
    }
    for (size_t budget = 3; budget < 200; budget += 150) {
      bool ok = constraint_mask(c, state, budget, allowed, &accepts, &why);
      size_t min;
      for (uint32_t i = 0; ok && i < vocab; i++) {
        bool good = constraint_step(c, state, i, &next, NULL);
        if (good && budget == 3 && !constraint_minimum(c, next, &min, &why))
          ck_abort_msg("%s", why.text);
        hold(allowed[i] == (good && (budget > 3 || min < budget)));
        steps++;
      }
      if (!ok) ck_assert_msg(strstr(why.text, "at least"), "%s", why.text);
    }
  }
  ck_assert_uint_gt(steps, 10 * vocab);
  uint64_t seed = suite_seed();
  static char text[1 << 16];
  for (int k = 0; k < 8; k++)
    parses(text, write_at_random(c, p, vocab, 5 + below(&seed, 15), &seed, text, sizeof text, 2));
  constraint_free(c), lexicon_close(l);
  ck_assert_uint_eq(m.all.live, 0);
  free(p), free(file), free(allowed), free(usable);
  tally(" masks of 128256 pieces, piece by piece", (unsigned) (steps / vocab), 0, 0, "");
}
END_TEST

/* ---- the edges: the second binding, what a failure leaves, what is counted --------------------
 */

/* the bytes that a constraint says its states take are those that the allocator gave for them: what
   is held beside them is as much before the states are found as behind it,
     and forgetting them gives
   all back.  The second time, as the lists it works with have their room. */
static void ask_around(struct constraint *c, size_t vocab, uint64_t *seed)
{
  static const size_t budget[] = { 9, 4, 2000, 7 };
  struct error why;
  uint8_t allowed[400];
  bool accepts;
  size_t min;
  for (int k = 0; k < 20; k++) {
    uint32_t state = constraint_start(c), id;
    for (size_t step = 0; step < 8; step++) {
      if (!constraint_mask(c, state, budget[k % 4], allowed, &accepts, &why)) break;
      ck_assert(constraint_minimum(c, state, &min, &why));
      size_t tries = 0;
      do id = (uint32_t) below(seed, vocab);
      while (!allowed[id] && tries++ < 4000);
      if (!allowed[id]) break;
      ck_assert(constraint_step(c, state, id, &state, &why));
    }
  }
}
START_TEST(all_bytes_of_the_states_are_counted)
{
  static const char *const pattern[] = { "(a|b)*a(a|b){5}", "[a-z]+( [a-z]+)*x",
    "(ab|ba){3,9}|c*" };
  struct memory m = { 0 };
  struct error why;
  struct words w;
  words_of_bytes(&w), words_add(&w, "ab"), words_add(&w, "ba"), words_add(&w, " ab");
  for (int k = 0; k < 4; k++) {
    struct lexicon *l = lexicon_open(&m, w.p, NULL, w.n, &why);
    struct constraint *c = k < 3
      ? constraint_regex(&m, pattern[k], strlen(pattern[k]), &why)
      : constraint_grammar(&m, "json", constraint_json, strlen(constraint_json), &why);
    ck_assert(constraint_bind(c, l, false, &why));
    struct constraint_look bare = constraint_look(c), look;
    for (int round = 0; round < 2; round++) {
      uint64_t seed = suite_seed() + 70;
      ck_assert(constraint_forget(c, &why));
      look = constraint_look(c);
      ck_assert_uint_eq(look.bytes, bare.bytes);
      ck_assert_uint_eq(look.states, bare.states);
      size_t beside = m.all.live - look.bytes;
      ask_around(c, w.n, &seed);
      look = constraint_look(c);
      ck_assert_uint_gt(look.bytes, bare.bytes);
      ck_assert_msg(round == 0 || m.all.live - look.bytes == beside, "%s: %zu beside, now %zu",
        k < 3 ? pattern[k] : "json", beside, (size_t) m.all.live - look.bytes);
    }
    constraint_free(c), lexicon_close(l);
  }
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* bound to a second vocabulary, and to the first again, a constraint answers as a fresh one */
START_TEST(a_second_binding_is_like_a_first)
{
  static const char *const pattern[] = { "(a|b)*c", "a{2,7}b?", "(ab){1,4}", " ?ab*" };
  struct memory m = { 0 };
  struct error why;
  struct words few, many;
  words_of_bytes(&few), words_of_bytes(&many);
  words_add(&many, "ab"), words_add(&many, "aaa"), words_add(&many, " a"), words_add(&many, "bbc");
  few.p['q'].n = 0;
  struct lexicon *l[2] = { lexicon_open(&m, few.p, NULL, few.n, &why),
    lexicon_open(&m, many.p, NULL, many.n, &why) };
  for (size_t i = 0; i < sizeof pattern / sizeof *pattern; i++) {
    struct constraint *c = constraint_regex(&m, pattern[i], strlen(pattern[i]), &why);
    for (int k = 0; k < 6; k++) {
      struct constraint *fresh = constraint_regex(&m, pattern[i], strlen(pattern[i]), &why);
      bool strips = k % 4 == 2;
      size_t n = k % 2 ? many.n : few.n, a, b;
      ck_assert(constraint_bind(c, l[k % 2], strips, &why));
      ck_assert(constraint_bind(fresh, l[k % 2], strips, &why));
      for (size_t left = 9; left > 0; left--) {
        uint8_t x[400], y[400];
        bool p, q;
        uint32_t s = constraint_start(c), t = constraint_start(fresh);
        ck_assert(constraint_minimum(c, s, &a, &why) && constraint_minimum(fresh, t, &b, &why));
        ck_assert_msg(a == b, "%s, binding %d: %zu, %zu", pattern[i], k, a, b);
        bool one = constraint_mask(c, s, left, x, &p, &why);
        ck_assert(one == constraint_mask(fresh, t, left, y, &q, &why));
        ck_assert(!one || (p == q && memcmp(x, y, n) == 0));
      }
      ck_assert_uint_eq(constraint_look(c).states, constraint_look(fresh).states);
      ck_assert_uint_eq(constraint_look(c).bytes, constraint_look(fresh).bytes);
      constraint_free(fresh);
    }
    constraint_free(c);
  }
  lexicon_close(l[0]), lexicon_close(l[1]);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* a request that is refused in the middle of a mask: the next mask is that of a constraint that has
   never failed, and no state is listed that is not there */
START_TEST(a_mask_behind_a_failure_is_right)
{
  static const char p[] = "(a|b)*a(a|b){3}( [a-f]+)?";
  struct memory all = { 0 };
  struct error why;
  struct words w;
  words_of_bytes(&w), words_add(&w, "ab"), words_add(&w, "bb a");
  uint8_t want[400], got[400];
  bool accepts;
  struct lexicon *l = lexicon_open(&all, w.p, NULL, w.n, &why);
  struct constraint *c = constraint_regex(&all, p, strlen(p), &why);
  uint32_t start;
  ck_assert(constraint_bind(c, l, false, &why));
  start = constraint_start(c);
  ck_assert(constraint_mask(c, start, 5, want, &accepts, &why));
  size_t states = constraint_look(c).states;
  constraint_free(c), lexicon_close(l);
  for (uint64_t k = 1, done = 0; !done; k++) {
    struct memory m = { 0 };
    l = lexicon_open(&m, w.p, NULL, w.n, &why), c = constraint_regex(&m, p, strlen(p), &why);
    ck_assert(constraint_bind(c, l, false, &why));
    uint32_t next = 0;
    m.fail_at = m.all.requests + k;
    done = constraint_mask(c, start, 5, got, &accepts, &why);
    m.fail_at = 0;
    size_t had = constraint_look(c).states;
    ck_assert(!constraint_step(c, (uint32_t) had, 'a', &next, &why));
    ck_assert_msg(strstr(why.text, "there is no state") != NULL, "%s", why.text);
    for (uint32_t s = 1; s < had; s++)
      if (!constraint_step(c, s, 'a', &next, &why))
        ck_assert_msg(strstr(why.text, "can't come here") != NULL, "%s", why.text);
    ck_assert_msg(
      constraint_mask(c, start, 5, got, &accepts, &why), "request %d: %s", (int) k, why.text);
    ck_assert_msg(memcmp(got, want, w.n) == 0, "request %d", (int) k);
    ck_assert_uint_le(constraint_look(c).states, states + had);
    constraint_free(c), lexicon_close(l);
    ck_assert_uint_eq(m.all.live, 0);
  }
  ck_assert_uint_eq(all.all.live, 0);
}
END_TEST

/* of the bytes that no token is alone the first in the pattern is blamed */
START_TEST(the_first_lacking_byte_is_blamed)
{
  struct memory m = { 0 };
  struct error why;
  for (int k = 0; k < 3; k++) {
    struct words w;
    words_of_bytes(&w);
    for (int b = 'f' + k; b < 'k'; b++) w.p[b].n = 0;
    struct lexicon *l = lexicon_open(&m, w.p, NULL, w.n, &why);
    char said[60];
    struct constraint *c = constraint_regex(&m, "x[f-j]{2}", 9, &why);
    bool ok = constraint_bind(c, l, false, &why);
    snprintf(said, sizeof said, "none is byte 0x%02x alone", 'f' + k);
    ck_assert_msg(ok == (k > 0), "%s", why.text);
    if (!ok) ck_assert_msg(strstr(why.text, said) != NULL, "%s; wanted: %s", why.text, said);
    constraint_free(c);
    c = constraint_regex(&m, "[hij]", 5, &why);
    ck_assert(!constraint_bind(c, l, false, &why));
    ck_assert_msg(strstr(why.text, "none is byte 0x68 alone") != NULL, "%s", why.text);
    constraint_free(c), lexicon_close(l);
  }
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- what is taken, and means what: the last that is granted, and the first that is not */
static bool matched(struct memory *m, bool grammar, const char *by, const char *text, struct error *why)
{
  bool yes = false;
  struct constraint *c = grammar ? constraint_grammar(m, "g", by, strlen(by), why) : constraint_regex(m, by, strlen(by), why);
  ck_assert_msg(c != NULL, "%s: %s", by, why->text);
  ck_assert_msg(constraint_matches(c, text, strlen(text), &yes, why), "%s", why->text);
  constraint_free(c);
  return yes;
}
START_TEST(signs_mean_what_they_say)
{
  static const struct { bool grammar; const char *by, *text; bool yes; } of[] = {
    { false, "\\s", "\r", true }, { false, "\\s", "\t", true }, { false, "\\s", "\x0e", false }, { false, "\\s", "\x08", false },
    { false, "\\S", "\r", false }, { false, "\\S", "\x0e", true }, { false, "\\x{a}", "\n", true }, { false, "\\x41", "A", true },
    { false, "\\x{d7ff}", "\xed\x9f\xbf", true }, { false, "\\x{e000}", "\xee\x80\x80", true }, { false, "[a-a]", "a", true },
    { false, "[a-]", "-", true }, { false, "[-a]", "-", true }, { false, "[^b]", "b", false }, { false, "[^b]", "a", true }, { false, "[^b]", "c", true },
    { false, "a??b", "ab", true }, { false, "a{0}b", "b", true }, { false, "\\n\\r\\t\\f", "\n\r\t\f", true },
    { true, "root ::= b # x\rb ::= \"c\"", "c", true }, { true, "# x\r\n# y\n\nroot ::= \"a\" # z", "a", true },
    { true, "root ::= \"\\r\"", "\r", true }, { true, "root ::= \"\\r\"", "\n", false }, { true, "root ::= \"\\n\\t\\\\\\\"\\[\\]\"", "\n\t\\\"[]", true },
    { true, "root ::= \"\\U0001F600\\u00e9\\x41\"", "\xf0\x9f\x98\x80\xc3\xa9" "A", true }, { true, "root ::= [a-a]", "a", true },
    { true, "root ::= (\"a\")\nx ::= \"b\"", "a", true }, { true, "root ::= (\"a\"\n\"b\")\nx ::= \"b\"", "ab", true } };
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    ck_assert_msg(matched(&m, of[i].grammar, of[i].by, of[i].text, &why) == of[i].yes, "%s and %s", of[i].by, of[i].text);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
START_TEST(limits_are_the_last_that_is_granted)
{
  static const struct { bool grammar; const char *text, *says, *place; } bad[] = { { false, "a???", "can't be repeated", "byte 3" },
    { false, "[ab-", "hyphen", "byte 3" }, { false, "\\x{dfff}", "no character", "byte 3" },
    { false, "x)aaaaaaaaaa\xc3\xa9", "never opened", "byte 1, at \")aaaaaaaaaa\":" }, { false, "x)aaaaaaaaa\xc3\xa9z", "never opened", "at \")aaaaaaaaa\xc3\xa9\":" },
    { true, "root ::= \"\\U0041\"", "hexadecimal", "line 1" }, { true, "root ::= a\na ::= \"x\"\na ::= \"y\"", "defined already", "line 3" } };
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  char text[3000], thousand[1001];
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct constraint *c = bad[i].grammar ? constraint_grammar(&m, "g", bad[i].text, strlen(bad[i].text), &why)
      : constraint_regex(&m, bad[i].text, strlen(bad[i].text), &why);
    ck_assert_msg(c == NULL && strstr(why.text, bad[i].says) && strstr(why.text, bad[i].place), "%s: %s", bad[i].text, why.text);
  }
  memset(thousand, 'a', 1000), thousand[1000] = '\0';
  ck_assert(matched(&m, false, "a{1000}", thousand, &why) && !matched(&m, false, "a{1000}", thousand + 1, &why));
  ck_assert(matched(&m, true, "root ::= \"a\"{1000}", thousand, &why));
  for (int grammar = 0; grammar < 2; grammar++) { /* a hundred parentheses */
    size_t n = (size_t) sprintf(text, "%s", grammar ? "root ::= " : "");
    memset(text + n, '(', 100), n += 100;
    n += (size_t) sprintf(text + n, "%s", grammar ? "\"a\"" : "a");
    memset(text + n, ')', 100), text[n + 100] = '\0';
    ck_assert(matched(&m, grammar, text, "a", &why));
  }
  struct bytes rules = { NULL, 0, 0 };
  for (int more = 0; more < 2; more++) { /* 4096 rules, and one more */
    rules.n = 0;
    for (int i = 0; i < 4096 + more; i++) {
      int k = sprintf(text, i == 0 ? "root ::= \"a\"\n" : "r%d ::= \"a\"\n", i);
      ck_assert(bytes_push(&m, &rules, text, (size_t) k, &why));
    }
    struct constraint *c = constraint_grammar(&m, "g", (char *) rules.byte, rules.n, &why);
    ck_assert_msg((c == NULL) == more && (c != NULL || strstr(why.text, "there are too many rules") != NULL), "%s", why.text);
    constraint_free(c);
  }
  bytes_free(&m, &rules);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("constraints");
  TCase *t = tcase_create("constraints");
  tcase_add_loop_test(t, patterns_agree_with_pcre2, 0, PARTS);
  tcase_add_test(t, every_character_is_in_its_range);
  tcase_add_loop_test(t, grammars_agree_with_a_table, 0, 3);
  tcase_add_loop_test(t, a_mask_is_what_it_is_defined_as, 0, 4);
  tcase_add_loop_test(t, nesting_goes_the_shortest_way_without_a_detour, 0, 3);
  tcase_add_test(t, answers_do_not_depend_on_what_was_asked);
  tcase_add_test(t, objects_are_told_from_what_is_none);
  tcase_add_loop_test(t, what_is_written_is_always_an_object, 0, 2);
  tcase_add_loop_test(t, whatever_is_written_matches_within_its_budget, 0, 4);
  tcase_add_test(t, refusals_name_the_thing_and_the_place);
  tcase_add_test(t, refusals_at_work_are_sentences);
  tcase_add_test(t, ways_without_end_are_given_up);
  tcase_add_test(t, an_end_needs_no_look_ahead);
  tcase_add_test(t, a_large_minimum_is_enough);
  tcase_add_test(t, refused_memory_leaks_nothing);
  tcase_add_test(t, the_walk_is_each_piece_by_itself);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_add_test(t, all_bytes_of_the_states_are_counted);
  tcase_add_test(t, a_second_binding_is_like_a_first);
  tcase_add_test(t, a_mask_behind_a_failure_is_right);
  tcase_add_test(t, the_first_lacking_byte_is_blamed);
  suite_add_tcase(s, t);
  t = tcase_create("limits");
  tcase_add_test(t, signs_mean_what_they_say);
  tcase_add_test(t, limits_are_the_last_that_is_granted);
  suite_add_tcase(s, t);
  return suite_run(s);
}
