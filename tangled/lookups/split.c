/* split.c -- Cutting a text at the matches of a pattern, with PCRE2.
   made from workshop/16-lookups.w; change it there

   The only file that knows PCRE2. A splitter is compiled once and only read
   afterwards, so any number of threads may search with it; what a search changes is
   in the thread's own struct split_work. Neither the machine code that PCRE2 makes
   nor the size of its stack may decide what the pieces are: whatever fails for lack
   of those is searched again without. PCRE2's memory is ours, and counted. */

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>
#include "ground/buffers.h"
#include "lookups/split.h"

/* <The published patterns> */
const char split_gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
  "\\s+(?!\\S)|\\s+";
const char split_llama3[] = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|"
  "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+";

/* <Rewrite white space and words in a pattern> */
#define WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}" SIGNS
#define SIGNS "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"
static const char *rewritten(char c, bool in_class)
{
  switch (c) {
  case 's': return "\\p{White_Space}";
  case 'S': return "\\P{White_Space}";
  case 'w': return in_class ? WORD : "[" WORD "]";
  /* not in a class, where it cannot be written as a list */
  case 'W': return in_class ? NULL : "[^" WORD "]";
  default: return NULL;
  }
}

/* Only what PCRE2 understands otherwise than the pattern's author is rewritten: white
   space and words. A backslash takes its next character with it, so a bracket that is
   quoted opens no class. */
static bool rewrite(struct memory *m, const char *pattern, size_t n,
  struct bytes *out, struct error *why)
{
  bool in_class = false;
  for (size_t i = 0; i < n;) {
    size_t length = pattern[i] == '\\' && i + 1 < n ? 2 : 1;
    const char *put = pattern + i;
    const char *instead = length == 2 ? rewritten(put[1], in_class) : NULL;
    i += length;
    if (length == 1 && *put == '[') in_class = true;
    else if (length == 1 && *put == ']') in_class = false;
    if (instead != NULL) put = instead, length = strlen(instead);
    if (!bytes_push(m, out, put, length, why)) return false;
  }
  return true;
}

/* <Let PCRE2 take its memory from ours> */
static void *take_for_pcre2(size_t n, void *m)
{
  return memory_alloc(m, MEMORY_TOKENS, n, 1, NULL);
}

static void give_for_pcre2(void *block, void *m)
{
  memory_free(m, block);
}

/* <What a splitter holds> */
struct splitter {
  struct memory *home;
  pcre2_general_context *general;
  pcre2_code *code;
  uint64_t mark; /* FNV-1a of the pattern, and whether it is literal */
};

/* <Have PCRE2 compile it> */
static bool compile(struct splitter *s, const struct bytes *text,
  bool literal, struct error *why)
{
  int code = 0;
  PCRE2_SIZE place = 0;
  pcre2_compile_context *c = pcre2_compile_context_create(s->general);
  if (c == NULL) return error_say(why, "out of memory for a pattern");
  s->code = pcre2_compile(text->n > 0 ? text->byte : (PCRE2_SPTR) "",
    text->n, PCRE2_UTF | (literal ? PCRE2_LITERAL
    : PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C),
    &code, &place, c);
  pcre2_compile_context_free(c);
  if (s->code != NULL) {
    /* The result is ignored: without machine code the interpreter finds the same
       matches, later. */
    pcre2_jit_compile(s->code, PCRE2_JIT_COMPLETE);
    return true;
  }
  unsigned char words[160] = "";
  pcre2_get_error_message(code, words, sizeof words);
  return error_say(why, "%s at byte %zu", (const char *) words,
    (size_t) place);
}

/* <Make room for the searches> */
static bool make_room(struct split_work *w, struct error *why)
{
  if (w->limits != NULL) return true;
  if (w->general == NULL) w->general =
    pcre2_general_context_create(take_for_pcre2, give_for_pcre2, w->m);
  if (w->general != NULL && w->result == NULL)
    w->result = pcre2_match_data_create(1, w->general);
  if (w->result != NULL)
    w->limits = pcre2_match_context_create(w->general);
  return w->limits != NULL
    || error_say(why, "out of memory for a pattern");
}

void split_work_free(struct split_work *w)
{
  pcre2_jit_stack_free(w->stack);
  pcre2_match_context_free(w->limits);
  pcre2_match_data_free(w->result);
  pcre2_general_context_free(w->general);
  *w = (struct split_work) { .m = w->m };
}

void splitter_close(struct splitter *s)
{
  if (s == NULL) return;
  pcre2_code_free(s->code);
  pcre2_general_context_free(s->general);
  memory_free(s->home, s);
}

/* <Compile a pattern> */
struct splitter *splitter_open(struct memory *m, const char *pattern,
  size_t n, bool literal, struct error *why)
{
  struct splitter *s = memory_alloc(m, MEMORY_TOKENS, 1, sizeof *s, why);
  if (s == NULL) return NULL;
  s->home = m;
  s->general = pcre2_general_context_create(take_for_pcre2,
    give_for_pcre2, m);
  struct bytes text = { NULL, 0, 0 };
  /* Each step runs only if the one before went well; splitter_close undoes whatever
     there is. */
  bool ok = s->general != NULL || error_say(why,
    "out of memory for a pattern");
  ok = ok && (literal ? bytes_push(m, &text, pattern, n, why)
    : rewrite(m, pattern, n, &text, why));
  ok = ok && compile(s, &text, literal, why);
  s->mark = literal;
  for (size_t i = 0; i < text.n; i++)
    s->mark = (s->mark ^ text.byte[i]) * 1099511628211u;
  bytes_free(m, &text);
  if (ok) return s;
  splitter_close(s);
  return NULL;
}

/* <Say why a search failed> */
static bool pcre2_error(int code, size_t at,
  struct error *why)
{
  unsigned char words[160] = "";
  pcre2_get_error_message(code, words, sizeof words);
  return error_say(why, "cutting the text at byte %zu: %s", at,
    (const char *) words);
}

/* <Begin to cut> */
void pieces_begin(struct pieces *p, const struct splitter *by,
  struct split_work *w, const unsigned char *text, size_t n)
{
  *p = (struct pieces) { .by = by, .work = w, .text = text, .n = n };
  if (by == NULL) p->from = p->to = n, p->known = true;
}

/* Against patterns that try everything. 100 steps a byte are plenty for those that
   are published; set anew before each search, since another pattern may have been
   searched with this work meanwhile. */
static void set_limit(struct split_work *w, size_t n)
{
  size_t limit = n < 20000000 ? 10000000 + 100 * n : UINT32_MAX;
  pcre2_set_match_limit(w->limits, (uint32_t) limit);
}

/* <Look for the next match> */
static bool look(struct pieces *p, struct error *why)
{
  const struct splitter *s = p->by;
  struct split_work *w = p->work;
  /* The text is UTF-8, and PCRE2 would check the rest of it at each search. After an
     empty match another at the same place is forbidden, or we would find it for ever. */
  uint32_t options = PCRE2_NO_UTF_CHECK | (p->full
    ? PCRE2_NOTEMPTY_ATSTART : 0);
  int got;
  if (!make_room(w, why)) return false;
  set_limit(w, p->n);
  /* <Search, and once more without machine code if its stack ends> */
  got = pcre2_match(s->code, p->text, p->n, p->at, options,
    w->result, w->limits);
  if (got == PCRE2_ERROR_JIT_STACKLIMIT && w->stack == NULL) {
    w->stack = pcre2_jit_stack_create(32 * 1024, 1024 * 1024, w->general);
    pcre2_jit_stack_assign(w->limits, NULL, w->stack);
    got = pcre2_match(s->code, p->text, p->n, p->at, options,
      w->result, w->limits);
  }
  if (got == PCRE2_ERROR_JIT_STACKLIMIT)
    got = pcre2_match(s->code, p->text, p->n, p->at,
      options | PCRE2_NO_JIT, w->result, w->limits);
  p->from = p->to = p->n;
  p->known = true;
  if (got == PCRE2_ERROR_NOMATCH) return true;
  if (got < 0) return pcre2_error(got, p->at, why);
  const PCRE2_SIZE *found = pcre2_get_ovector_pointer(w->result);
  p->from = found[0], p->to = found[1];
  /* a look-around can make a match end before it begins */
  return (p->at <= p->from && p->from <= p->to)
    || error_say(why, "the pattern matches backwards at byte %zu",
    p->at);
}

/* <Cut off the next piece> */
bool pieces_next(struct pieces *p, struct text_piece *next,
  struct error *why)
{
  *next = (struct text_piece) { p->text, 0, false };
  /* Ends: each round moves at, or sets full, after which the next match is not empty
     or lies further on. */
  while (p->at < p->n) {
    if (!p->known && !look(p, why)) return false;
    /* here and not before: a text of no bytes may be null */
    next->byte = p->text + p->at;
    if (p->at < p->from) {
      next->n = p->from - p->at;
      p->at = p->from;
      return true;
    }
    p->known = false, p->full = p->from == p->to;
    /* an empty match is no piece, but it ends the one before it */
    if (p->full) continue;
    next->n = p->to - p->from, next->match = true;
    p->at = p->to;
    return true;
  }
  return true;
}

/* <Ask for the version of Unicode> */
bool splitter_same(const struct splitter *a, const struct splitter *b)
{ return a == b || (a != NULL && b != NULL && a->mark == b->mark); }
void splitter_unicode(char version[24])
{
  if (pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, NULL) > 24
      || pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, version) < 0)
    strcpy(version, "?");
}
