/* tests.c -- lab 8: the automaton of stop strings, the text stream, and the stopping criteria */
#include "kit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stopping/stopping.h"

enum { MOST_STRINGS = 8, MOST_BYTES = 24, MOST_TEXT = 200 };

enum { LOOKS }; /* of child.c */

static struct memory memory;
static struct error why;

/* ---- stop strings and texts over a few letters */

struct strings { unsigned char byte[MOST_STRINGS][MOST_BYTES]; struct stop_string list[MOST_STRINGS]; size_t n; };
struct text { unsigned char byte[MOST_TEXT]; size_t n; };
static unsigned char letter[4];
static uint32_t letters;

static void draw_letters(unsigned size)
{
  static const unsigned char sets[][4] = { { 'a', 'b', 'c', 'd' }, { 'n', 'a', 'h', 'o' }, { '\n', 'U', ' ', ':' },
    { 0, 0xff, 0x7f, 0x80 } };
  memcpy(letter, sets[size < 4 ? 0 : draw(4)], 4);
  letters = 2 + draw(size < 8 ? 1 : 3);
}

static const char *quoted(const unsigned char *byte, size_t n)
{
  static char of[4][5 * MOST_TEXT];
  static unsigned next;
  char *q = of[next++ % 4], *at = q;
  for (size_t i = 0; i < n && i < MOST_TEXT; i++)
    at += byte[i] == '\n' ? sprintf(at, "\\n") : byte[i] < ' ' || byte[i] > '~' ? sprintf(at, "\\x%02x", byte[i]) : sprintf(at, "%c", byte[i]);
  *at = '\0';
  return q;
}

static void tell_strings(const struct strings *x)
{
  char line[1000];
  size_t n = 0;
  line[0] = '\0';
  for (size_t i = 0; i < x->n && n < 700; i++)
    n += (size_t) snprintf(line + n, sizeof line - n, " [%s]", quoted(x->list[i].byte, x->list[i].n));
  tell("stop strings%s", x->n == 0 ? " none" : line);
}

/* one string of one letter at first; later several that lie in each other, begin or end alike, or are equal */
static void draw_strings(struct strings *x, unsigned size, size_t shortest)
{
  unsigned longest = 1 + size / 3 < 8 ? 1 + size / 3 : 8;
  x->n = size < 4 ? 1 : 1 + draw(size < 12 ? 3 : MOST_STRINGS);
  for (size_t i = 0; i < x->n; i++) {
    unsigned char *b = x->byte[i];
    size_t n = 0;
    if (i > 0 && draw(2) == 0) { /* a part of an earlier one, with letters before or after it */
      const struct stop_string *y = &x->list[draw((uint32_t) i)];
      size_t from = draw((uint32_t) y->n), to = from + 1 + draw((uint32_t) (y->n - from));
      if (draw(3) == 0) b[n++] = letter[draw(letters)];
      memcpy(b + n, y->byte + from, to - from), n += to - from;
    }
    while (n < shortest || (n < longest && draw(3) > 0)) b[n++] = letter[draw(letters)];
    x->list[i] = (struct stop_string) { b, n };
  }
  tell_strings(x);
}

/* letters, and beginnings of the strings one after the other; one in whole of them is a whole string */
static void draw_text(struct text *t, const struct strings *x, size_t n, uint32_t whole)
{
  t->n = 0;
  while (t->n < n)
    if (x->n > 0 && draw(3) > 0) {
      const struct stop_string *y = &x->list[draw((uint32_t) x->n)];
      size_t part = draw(whole) == 0 ? y->n : 1 + draw((uint32_t) y->n);
      if (part == y->n && part > 1 && draw(whole) > 0) part--;
      if (t->n + part > MOST_TEXT) break;
      memcpy(t->byte + t->n, y->byte, part), t->n += part;
    }
    else t->byte[t->n++] = letter[draw(letters)];
}

static bool open_automaton(struct stops *s, const struct strings *x)
{
  memset(&memory, 0, sizeof memory), memset(s, 0, sizeof *s);
  bool ok = stops_open(s, &memory, x->list, x->n, &why);
  say_done("open", ok, why.text);
  return ok;
}
static void close_automaton(struct stops *s)
{
  stops_close(s);
  say("bytes left %llu", (unsigned long long) memory.all.live);
}
static void say_string(const char *what, const struct stop_string *x)
{
  if (x == NULL) say("%s none", what);
  else say("%s [%s]", what, quoted(x->byte, x->n));
}

/* ---- the automaton */

/* walks down the tree from its root; says where the walk ends */
static void walk(const struct stops *s, const unsigned char *byte, size_t n, bool whole)
{
  uint32_t at = 0;
  size_t i = 0;
  for (; i < n; i++) {
    uint32_t next = child_for(s, at, byte[i]);
    if (next == 0) break;
    if (next >= s->n_nodes) {
      say("the walk leaves the nodes");
      return;
    }
    at = next;
  }
  say("%zu bytes of [%s] are in the tree, depth %u", i, quoted(byte, n), s->node[at].depth);
  if (whole && i == n) say_string("the string there is", s->node[at].ending - 1 < s->n ? &s->list[s->node[at].ending - 1] : NULL);
}

static void tree(unsigned size)
{
  struct strings x;
  struct stops s;
  draw_letters(size), draw_strings(&x, size, 1);
  if (!open_automaton(&s, &x)) return;
  say("nodes %zu", s.n_nodes);
  for (size_t i = 0; i < x.n; i++) walk(&s, x.list[i].byte, x.list[i].n, true);
  for (unsigned i = 0; i < 4; i++) {
    unsigned char other[6];
    for (unsigned k = 0; k < 6; k++) other[k] = letter[draw(letters)];
    walk(&s, other, 6, false);
  }
  say_most("bytes_taken", (double) memory.all.peak, 2);
  close_automaton(&s);
}

static void refused(unsigned size)
{
  struct strings x;
  struct stops s;
  char name[30];
  draw_letters(size), draw_strings(&x, 3 + size, 1);
  uint32_t empty = draw((uint32_t) x.n);
  size_t n = x.list[empty].n;
  if (size % 2 == 0) {
    x.list[empty].n = 0;
    tell("string %u made empty", empty);
  }
  memset(&memory, 0, sizeof memory), memset(&s, 0, sizeof s), memset(&why, 0, sizeof why);
  memory.fail_at = size % 2 == 1 ? 1 + size / 2 % 3 : 0;
  if (memory.fail_at != 0) tell("request %u for memory fails", (unsigned) memory.fail_at);
  bool ok = stops_open(&s, &memory, x.list, x.n, &why);
  if (memory.fail_at < 2) say_done("open", ok, why.text);
  if (memory.fail_at == 0) {
    snprintf(name, sizeof name, "%u", empty);
    say("the message has its number %s", strstr(why.text, name) != NULL ? "yes" : "no");
  }
  stops_close(&s);
  say("bytes left %llu", (unsigned long long) memory.all.live);
  x.list[empty].n = n, memory.fail_at = 0;
  if (!open_automaton(&s, &x)) return;
  close_automaton(&s);
}

/* what the automaton says after each byte */
static void read_text(unsigned size, char what)
{
  struct strings x;
  struct stops s;
  struct text t;
  uint32_t state = 0;
  draw_letters(size), draw_strings(&x, size, 1);
  draw_text(&t, &x, 2 + 2 * size < 100 ? 2 + 2 * size : 100, 2);
  if (size == 20) x.n = 0;
  tell("text %s", quoted(t.byte, t.n));
  if (!open_automaton(&s, &x)) return;
  for (size_t i = 0; i < t.n; i++) {
    state = stops_step(&s, state, t.byte[i]);
    if (state >= s.n_nodes) {
      say("there is no state %u", state);
      break;
    }
    if (what == 's') say("after byte %zu the state has depth %u", i, s.node[state].depth);
    else if (what == 'h') say("after byte %zu held %zu", i, stops_hold(&s, state));
    else {
      char name[40];
      snprintf(name, sizeof name, "after byte %zu ends", i);
      say_string(name, stops_ending(&s, state));
    }
  }
  close_automaton(&s);
}
static void states(unsigned size) { read_text(size, 's'); }
static void endings(unsigned size) { read_text(size, 'e'); }
static void holds(unsigned size) { read_text(size, 'h'); }

/* ---- the text stream */

/* what a reader has been shown, and whether that has ever been taken back */
struct shown { unsigned char byte[MOST_TEXT + 50]; size_t n; };
static bool show(struct shown *z, const struct text_stream *o)
{
  bool ok = o->released >= z->n && o->released <= o->text.n && o->text.n <= sizeof z->byte && (z->n == 0 || memcmp(z->byte, o->text.byte, z->n) == 0);
  if (!ok) say("text of %zu bytes, released %zu, but %zu have been shown", o->text.n, o->released, z->n);
  else if (o->released > 0) memcpy(z->byte, o->text.byte, o->released), z->n = o->released;
  return ok;
}

/* pieces of at most so many bytes; the text that is left, and what waits after each */
static void feed(struct text_stream *o, const struct text *t, uint32_t most, bool exact)
{
  struct shown z = { .n = 0 };
  struct text whole = *t;
  bool ok = true;
  for (size_t at = 0; ok && at < whole.n; ) {
    size_t n = draw(most + 1);
    if (n > whole.n - at) n = whole.n - at;
    ok = text_stream_bytes(o, whole.byte + at, n, &why);
    at += n;
    if (!ok) say_why("refused", why.text);
    else if (exact) say("after [%s] released %zu", quoted(whole.byte + at - n, n), o->released);
    else {
      say("after [%s] the text has %zu", quoted(whole.byte + at - n, n), o->text.n);
      say_most("held", (double) o->text.n - (double) o->released, 1);
    }
    ok = ok && show(&z, o);
  }
  text_stream_end(o);
  ok = ok && show(&z, o);
  say("text [%s], shown %zu", quoted(o->text.byte, o->text.n), z.n);
  say("tokens %zu", o->tokens);
  say_string("found", o->found);
}

static void stream(unsigned size)
{
  struct strings x;
  struct stops s;
  struct text t;
  draw_letters(size), draw_strings(&x, size, size < 6 ? 1 : 2 + draw(3));
  draw_text(&t, &x, 1 + size < 60 ? 1 + size : 60, 20);
  if (size % 10 == 0) x.n = 0;
  tell("text %s", quoted(t.byte, t.n));
  if (!open_automaton(&s, &x)) return;
  struct text_stream o = { .m = &memory, .until = &s };
  if (size % 4 == 3) { /* the first token finds no memory, and nothing has changed */
    memory.fail_at = memory.all.requests + 1;
    bool ok = text_stream_bytes(&o, t.byte, 1, &why);
    say("without memory %s: text %zu, released %zu, tokens %zu, state %u", ok ? "taken" : "refused", o.text.n, o.released, o.tokens, o.state);
    memory.fail_at = 0;
  }
  feed(&o, &t, size < 6 ? 1 : 1 + draw(5), false);
  text_stream_close(&o);
  close_automaton(&s);
}

/* characters of one to four bytes, some of them broken, in pieces */
static void characters(unsigned size)
{
  static const char *const some[] = { "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "e", "\xc3\xa8", "\xe2\x82\xad", "\xf0\x9f\x98\x81", "n",
    "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xa9", "\xed\xa0", "\xf5" };
  struct strings x = { .n = size % 3 == 0 ? 0 : 1 };
  struct stops s;
  struct text t = { .n = 0 };
  uint32_t most = size < 3 ? 4 : size % 5 == 4 ? 14 : 8;
  if (x.n > 0) {
    size_t n = 0, k = 1 + draw(3);
    for (size_t i = 0; i < k; i++) { /* whole characters */
      const char *c = some[draw(size < 3 ? 2 : 8)];
      memcpy(x.byte[0] + n, c, strlen(c)), n += strlen(c);
    }
    x.list[0] = (struct stop_string) { x.byte[0], n };
  }
  tell_strings(&x);
  for (unsigned i = 0; i < 1 + size / 2; i++)
    if (x.n > 0 && draw(4) == 0) {
      size_t part = 1 + draw((uint32_t) x.list[0].n - (size % 4 == 0 || x.list[0].n == 1 ? 0 : 1));
      memcpy(t.byte + t.n, x.byte[0], part), t.n += part;
    }
    else {
      const char *c = some[draw(most)];
      memcpy(t.byte + t.n, c, strlen(c)), t.n += strlen(c);
    }
  tell("text %s", quoted(t.byte, t.n));
  if (!open_automaton(&s, &x)) return;
  struct text_stream o = { .m = &memory, .until = &s };
  feed(&o, &t, 1 + draw(3), true);
  text_stream_close(&o);
  close_automaton(&s);
}

static void options(unsigned size)
{
  struct strings x;
  struct stops s;
  struct text t;
  draw_letters(size), draw_strings(&x, size, size < 6 ? 1 : 2 + draw(3));
  draw_text(&t, &x, 2 + size < 60 ? 2 + size : 60, 6);
  tell("text %s", quoted(t.byte, t.n));
  if (!open_automaton(&s, &x)) return;
  struct text_stream o = { .m = &memory, .until = &s, .include_stop = size % 3 == 1, .min_tokens = size % 6 == 1 ? 0 : 1 + draw(1 + size / 6) };
  tell("include_stop %s, min_tokens %zu", o.include_stop ? "true" : "false", o.min_tokens);
  feed(&o, &t, 1 + draw(4), false);
  if (o.found != NULL) { /* nothing is taken any more */
    bool ok = text_stream_bytes(&o, t.byte, 1, &why);
    say("after the stop string %s: text %zu, tokens %zu", ok ? "yes" : "no", o.text.n, o.tokens);
  }
  text_stream_close(&o);
  close_automaton(&s);
}

/* ---- a tokenizer of a few tokens, in place of the library's; it takes away the blank before the first word of a text */

struct token { const char *text; bool special; };
struct tokenizer { const struct token *token; size_t n; bool fails; unsigned asked; };
static const struct token tokens[] = { { " a", false }, { "<s>", true }, { " ", false }, { "b", false }, { "", false }, { " ab", false },
  { "\xc3", false }, { "\xa9", false }, { "ba", false }, { "</s>", true } };

bool tokenizer_decode_next(const struct tokenizer *t, struct memory *m, uint32_t id, bool skip_special, bool *begun, struct bytes *out,
  struct error *e)
{
  struct tokenizer *asked = (struct tokenizer *) (uintptr_t) t;
  asked->asked++;
  if (t->fails) return error_say(e, "the tokenizer fails");
  if (id >= t->n || (skip_special && t->token[id].special)) return true;
  const char *text = t->token[id].text;
  size_t n = strlen(text), drop = !*begun && *text == ' ';
  if (!bytes_push(m, out, text + drop, n - drop, e)) return false;
  *begun = *begun || n > 0;
  return true;
}

static const char *ids_in_words(const uint32_t *id, size_t n)
{
  static char line[600];
  size_t k = 0;
  line[0] = '\0';
  for (size_t i = 0; i < n && k < 500; i++)
    k += (size_t) snprintf(line + k, sizeof line - k, " [%s]", quoted((const unsigned char *) tokens[id[i]].text, strlen(tokens[id[i]].text)));
  return n == 0 ? " nothing" : line;
}

static void ids(unsigned size)
{
  struct tokenizer toy = { tokens, sizeof tokens / sizeof *tokens, false, 0 };
  struct strings x = { .n = size % 5 == 0 ? 0 : 2 };
  struct stops s;
  struct shown z = { .n = 0 };
  uint32_t prompt[4], id[20];
  size_t n_prompt = size % 5, n = 1 + size / 3;
  memcpy(x.byte[0], "b b", 3), x.list[0] = (struct stop_string) { x.byte[0], 1 + draw(3) };
  memcpy(x.byte[1], " aba", 4), x.list[1] = (struct stop_string) { x.byte[1], 2 + draw(3) };
  for (size_t i = 0; i < n_prompt; i++) prompt[i] = draw(2) ? draw(10) : i % 2 ? 4 : 1;
  for (size_t i = 0; i < n; i++) id[i] = draw(10);
  if (size == 1) id[0] = 0;
  tell_strings(&x);
  tell("prompt%s", ids_in_words(prompt, n_prompt));
  tell("tokens%s", ids_in_words(id, n));
  if (!open_automaton(&s, &x)) return;
  struct text_stream o = { .m = &memory, .t = size % 11 == 10 ? NULL : &toy, .until = &s, .min_tokens = size % 4 == 3 ? 1 + draw(3) : 0 };
  if (o.min_tokens > 0) tell("min_tokens %zu", o.min_tokens);
  if (o.t == NULL) tell("no tokenizer");
  toy.fails = n_prompt > 0 && size % 3 == 0;
  bool ok = text_stream_prompt(&o, prompt, n_prompt, &why);
  say("prompt %s, begun %s, text %zu", ok ? "yes" : "no", o.begun ? "yes" : "no", o.text.n);
  say_most("ids_looked_at", toy.asked, 1);
  if (toy.fails) {
    toy.fails = false;
    ok = text_stream_prompt(&o, prompt, n_prompt, &why);
    say("once more %s, begun %s, text %zu", ok ? "yes" : "no", o.begun ? "yes" : "no", o.text.n);
  }
  for (size_t i = 0; ok && i < n; i++) {
    if (i == 2 && size % 2 == 0) { /* a token that the tokenizer cannot decode, and nothing has changed */
      toy.fails = true;
      size_t released = o.released;
      ok = text_stream_id(&o, id[i], &why);
      say("fails %s: text %zu, tokens %zu, released as before %s", ok ? "no" : "yes", o.text.n, o.tokens, o.released == released ? "yes" : "no");
      toy.fails = false;
    }
    ok = text_stream_id(&o, id[i], &why);
    say("token %zu %s: text [%s]", i, ok ? "taken" : "refused", quoted(o.text.byte, o.text.n));
    say_most("held", (double) o.text.n - (double) o.released, 1);
    ok = ok && show(&z, &o);
  }
  if (size % 3 == 1) { /* a longer prompt for the same stream, whose text stays */
    ok = text_stream_prompt(&o, id, n, &why);
    say("a longer prompt %s: text [%s]", ok ? "yes" : "no", quoted(o.text.byte, o.text.n));
  }
  say("tokens %zu", o.tokens);
  say_string("found", o.found);
  text_stream_close(&o);
  close_automaton(&s);
}

/* ---- criteria */

struct member { char name[12]; size_t at; bool fails; unsigned asked; };
static bool ask_member(void *ctx, const struct continuation *text, bool *enough, struct error *e)
{
  struct member *m = ctx;
  m->asked++;
  if (m->fails && text->text.n == m->at) return error_say(e, "%s fails", m->name);
  if (text->text.n == m->at) *enough = true;
  return true;
}

static void criteria(unsigned size)
{
  enum { MOST = 5 };
  struct tokenizer toy = { tokens, sizeof tokens / sizeof *tokens, false, 0 };
  struct member m[MOST];
  struct criterion list[MOST + 1];
  struct strings x = { .n = 1 };
  struct stops s;
  uint32_t id[10];
  size_t n = size < 3 ? size : 1 + draw(MOST), with = size % 3 == 0 ? draw((uint32_t) n + 1) : MOST + 1, k = 0;
  struct continuation text = { .text = { .id = id }, .n_prompt = 2 };
  memcpy(x.byte[0], "ba", 2), x.list[0] = (struct stop_string) { x.byte[0], 2 };
  if (!open_automaton(&s, &x)) return;
  struct text_stream o = { .m = &memory, .t = &toy, .until = &s };
  bool fails = size % 4 == 3;
  size_t failing = draw((uint32_t) n);
  for (size_t i = 0; i < n; i++) {
    m[i] = (struct member) { .at = 3 + draw(7), .fails = fails && i == failing };
    snprintf(m[i].name, sizeof m[i].name, "member %zu", i);
    if (i == with) list[k++] = (struct criterion) { "stream", text_stream_should_stop, &o };
    list[k++] = (struct criterion) { m[i].name, ask_member, &m[i] };
    tell("%s%s at %zu", m[i].name, m[i].fails ? " fails" : " says yes", m[i].at);
  }
  if (n == with) list[k++] = (struct criterion) { "stream", text_stream_should_stop, &o };
  struct criteria c = { list, k, NULL };
  if (with <= n) tell("the text stream is member %zu of the list", with);
  for (unsigned i = 0; i < 10; i++) id[i] = draw(4) ? draw(10) : 8;
  bool ok = true, enough = false;
  for (text.text.n = 3; ok && !enough && text.text.n <= 10; text.text.n++) {
    ok = criteria_should_stop(&c, &text, &enough, &why);
    if (ok) say("token %u of the text, stop %s", (unsigned) text.text.n, enough ? "yes" : "no");
    else say("an error");
  }
  for (size_t i = 0; i < n; i++) say("%s was asked %u times", m[i].name, m[i].asked);
  say("the stream has taken %zu tokens", o.tokens);
  for (enum finish_reason r = FINISH_NONE; ok && r <= FINISH_CANCELLED; r++) {
    const char *name = criteria_reason(&c, r);
    say("ended %u, reason %s", (unsigned) r, name == NULL ? "none" : name);
  }
  c.fired = NULL;
  const char *name = criteria_reason(&c, FINISH_STOP);
  say("no criterion, reason %s", name == NULL ? "none" : name);
  text_stream_close(&o);
  close_automaton(&s);
}

/* a text of two tokens, with a part that is written several times over, cut anywhere */
static void repetition(unsigned size)
{
  uint32_t id[80];
  char line[200];
  struct continuation text = { .text = { .id = id }, .n_prompt = size < 4 ? 0 : draw(6) };
  size_t n = size < 4 ? size : 1 + draw(5), wanted[] = { n, 0, 1, 2, SIZE_MAX / 3 + 1, SIZE_MAX / 2 };
  size_t end = text.n_prompt + (size < 4 ? 0 : draw(4)), times = size < 4 ? 3 : 2 + draw(3);
  for (size_t i = 0; i < end; i++) id[i] = draw(2);
  if (draw(2) && end > text.n_prompt) end = text.n_prompt; /* what is repeated begins in the prompt */
  if (draw(3) == 0) end = end > n ? end - n : 0;
  for (size_t i = 0; i < n; i++) id[end + i] = draw(2);
  for (size_t i = n; i < times * n; i++) id[end + i] = id[end + i - n];
  end += times * n;
  if (size > 6 && draw(3) == 0) id[draw((uint32_t) end)] ^= 1;
  for (size_t i = 0; i < end; i++) line[i] = (char) ('0' + id[i]);
  line[end] = '\0';
  if (end < text.n_prompt) text.n_prompt = end;
  tell("text %s, the first %zu are the prompt", line, text.n_prompt);
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
    for (text.text.n = text.n_prompt + (k > 1 && text.n_prompt < end); text.text.n <= end; text.text.n += 1 + (end - text.text.n > 12)) {
      bool enough = false, ok = repetition_should_stop(&wanted[k], &text, &enough, &why);
      say("N %zu, %zu tokens: %s, %s", wanted[k], text.text.n, ok ? "ok" : "an error", enough ? "stop" : "go on");
    }
}

/* ---- what is counted: looks for a child, while the automaton is built and while a text is read */

static unsigned char *many(size_t n, unsigned char with)
{
  unsigned char *p = malloc(n);
  if (p == NULL) abort();
  memset(p, with, n);
  return p;
}

static void looks(unsigned size)
{
  struct stop_string list[60];
  struct stops s;
  size_t n_list = 0, n = size < 12 ? 10 * size : 300000, length = size < 12 ? 2 + size : 20000, gap = size % 2 ? length : 3 + length / 2;
  unsigned char *text = many(n, 'a'), *string = many(length, 'a');
  if (size % 3 == 0) { /* strings that each end in all the shorter ones */
    for (size_t k = 1; n_list < 60 && k <= length; k += 1 + length / 60) list[n_list++] = (struct stop_string) { string + length - k, k };
    string[length - 1] = 'b';
    tell("%zu strings of many a and one b, up to %zu bytes", n_list, length);
  }
  else { /* one string: all a but the last byte, or two letters in turn */
    string[length - 1] = 'b';
    if (size % 3 == 2) for (size_t i = 0; i + 1 < length; i += 2) string[i] = 'c';
    list[n_list++] = (struct stop_string) { string, length };
    tell("a string of %zu bytes", length);
  }
  size_t alike = draw(5);
  for (size_t i = 0; i < n; i++) { /* the string without its last byte, again and again */
    text[i] = string[i % gap < length - 1 ? i % gap : 0];
    if (i % (gap + alike) == gap - 1) text[i] = 'x';
  }
  tell("a text of %zu bytes, in tokens of one byte", n);
  memset(&memory, 0, sizeof memory), memset(&s, 0, sizeof s);
  count_begin();
  bool ok = stops_open(&s, &memory, list, n_list, &why);
  say_done("open", ok, why.text);
  if (ok) {
    say_most("looks_to_build", (double) count_of(LOOKS), 2);
    struct text_stream o = { .m = &memory, .until = &s };
    size_t held = 0;
    count_begin();
    for (size_t i = 0; ok && i < n; i++) {
      ok = text_stream_bytes(&o, text + i, 1, &why);
      held += o.text.n - o.released;
    }
    say("read %s, text %zu", ok ? "yes" : "no", o.text.n);
    say_most("looks_to_read", (double) count_of(LOOKS), 2);
    say_most("held_together", (double) held, 1);
    text_stream_close(&o);
    close_automaton(&s);
  }
  free(text), free(string);
}

const struct lab_test lab_tests[] = { { "tree", 30, tree }, { "refused", 12, refused }, { "states", 40, states }, { "endings", 40, endings },
  { "holds", 40, holds }, { "stream", 60, stream }, { "characters", 60, characters }, { "options", 60, options }, { "ids", 45, ids },
  { "criteria", 40, criteria }, { "repetition", 40, repetition }, { "looks", 15, looks }, { NULL, 0, NULL } };
