/* jinja_heap.c -- a run's memory and its limits.

   All blocks of a run hang in two chains: one for things, and one for letters, so that a text that grows at its
   end, as templates let it grow turn by turn, finds the place behind it free and need not be copied. Nothing is
   given back before the end, and what was taken is counted against one limit.

   An account of who said what is kept by place: each block of letters has as many bytes again, and what copies a letter copies
   its byte there. A part of a text is the same letters, and needs nothing. Then a block is at least half as large as all
   that was taken before, so that there are few to look through. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "templates/jinja_inside.h"
#include "tokens/utf8.h"

enum { BLOCK_BYTES = 64 << 10, HASH_SEED = 5381 };

/* The first sentence stays: what fails afterwards fails because of it. */
static bool say(struct jinja_run *r, const char *format, va_list list)
{
  char text[sizeof r->why->text];
  vsnprintf(text, sizeof text, format, list);
  if (r->line > 0) return error_say(r->why, "line %u: %s", (unsigned) r->line, text);
  return error_say(r->why, "%s", text);
}

bool jinja_fail(struct jinja_run *r, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  say(r, format, list);
  va_end(list);
  return false;
}

bool jinja_limit(struct jinja_run *r, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  r->fatal = true;
  say(r, format, list);
  va_end(list);
  return false;
}

bool jinja_steps(struct jinja_run *r, size_t n)
{
  if (n > JINJA_MAX_STEPS || r->steps > JINJA_MAX_STEPS - n)
    return jinja_limit(r, "the template takes more than %d steps", JINJA_MAX_STEPS);
  r->steps += n;
  return true;
}

bool jinja_deeper(struct jinja_run *r)
{
  if (r->depth >= JINJA_MAX_DEPTH) return jinja_limit(r, "the template nests more than %d levels", JINJA_MAX_DEPTH);
  r->depth++;
  return true;
}

static bool charge(struct jinja_run *r, size_t n)
{
  if (n > JINJA_MAX_BYTES || r->bytes > JINJA_MAX_BYTES - n)
    return jinja_limit(r, "the template needs more than %d bytes", JINJA_MAX_BYTES);
  r->bytes += n;
  return true;
}

/* a block that has n bytes free; a large one of its own goes behind the first, which may have room left */
static struct jinja_block *block_for(struct jinja_run *r, struct jinja_block **chain, size_t n, size_t most)
{
  struct jinja_block *b = *chain, *made;
  if (b != NULL && b->n - b->used >= n) return b;
  bool twice = r->account && chain == &r->letters;
  if (twice && most < r->bytes / 2) most = r->bytes / 2;
  size_t size = n > most ? n : most;
  if (!charge(r, size) || (twice && !charge(r, size))) return NULL;
  made = memory_alloc(r->m, MEMORY_OTHER, 1, sizeof *made + (twice ? 2 * size : size), r->why);
  if (made == NULL) {
    r->fatal = true;
    return NULL;
  }
  made->n = size;
  if (b != NULL && size == n) made->next = b->next, b->next = made;
  else made->next = b, *chain = made;
  return made;
}

void *jinja_room(struct jinja_run *r, size_t n, size_t size)
{
  size_t k = (size_t) JINJA_MAX_BYTES + 1;
  if (n <= JINJA_MAX_BYTES / size) k = (n * size + 15) / 16 * 16;
  struct jinja_block *b = block_for(r, &r->block, k, BLOCK_BYTES);
  if (b == NULL) return NULL;
  void *p = (char *) (b + 1) + b->used;
  b->used += k;
  return p;
}

char *jinja_letters(struct jinja_run *r, size_t n)
{
  struct jinja_block *b = block_for(r, &r->letters, n, BLOCK_BYTES);
  if (b == NULL) return NULL;
  char *p = (char *) (b + 1) + b->used;
  b->used += n;
  return p;
}

/* where the account of this letter is; null: none is kept, or the letter is no one's here */
static unsigned char *account_of(const struct jinja_run *r, const char *byte)
{
  uintptr_t p = (uintptr_t) byte;
  for (struct jinja_block *b = r->account ? r->letters : NULL; b != NULL; b = b->next) {
    unsigned char *first = (unsigned char *) (b + 1);
    if (p >= (uintptr_t) first && p < (uintptr_t) (first + b->n)) return first + b->n + (p - (uintptr_t) first);
  }
  return NULL;
}

void jinja_put_letters(struct jinja_run *r, char *to, const char *from, size_t n)
{
  if (n == 0) return;
  memcpy(to, from, n);
  const unsigned char *s = account_of(r, from);
  if (s != NULL) memcpy(account_of(r, to), s, n);
}

void jinja_said(struct jinja_run *r, const struct jinja_text *t)
{
  unsigned char *s = t->n > 0 ? account_of(r, t->byte) : NULL;
  if (s != NULL) memset(s, 1, t->n);
}

/* A byte that does not continue a character begins one. */
static size_t count_points(const char *byte, size_t n)
{
  size_t points = 0;
  for (size_t i = 0; i < n; i++) points += ((unsigned char) byte[i] & 0xc0) != 0x80;
  return points;
}

static bool put_text(struct jinja_run *r, const char *byte, size_t n, size_t points, struct jinja_value *out)
{
  struct jinja_text *t = jinja_room(r, 1, sizeof *t);
  if (t == NULL) return false;
  *t = (struct jinja_text) { byte, n, points };
  *out = (struct jinja_value) { .kind = JINJA_TEXT, .as.text = t };
  return true;
}

bool jinja_text_of(struct jinja_run *r, const char *byte, size_t n, struct jinja_value *out)
{
  return jinja_steps(r, n / 16) && put_text(r, byte, n, count_points(byte, n), out);
}

bool jinja_text_copy(struct jinja_run *r, const char *byte, size_t n, struct jinja_value *out)
{
  char *copy = jinja_letters(r, n);
  if (copy == NULL) return false;
  jinja_put_letters(r, copy, byte, n);
  return jinja_text_of(r, copy, n, out);
}

/* In place if the first text ends where the free room begins. */
bool jinja_text_join(struct jinja_run *r, const struct jinja_text *a, const struct jinja_text *b,
  struct jinja_value *out)
{
  struct jinja_block *last = r->letters;
  size_t n = a->n + b->n;
  char *to;
  if (!jinja_steps(r, b->n / 16)) return false;
  if (last != NULL && a->n > 0 && a->byte + a->n == (char *) (last + 1) + last->used
    && last->n - last->used >= b->n) {
    to = (char *) (last + 1) + last->used;
    jinja_put_letters(r, to, b->byte, b->n);
    last->used += b->n;
    return put_text(r, a->byte, n, a->points + b->points, out);
  }
  /* A long text gets room to grow as large again. */
  if (!jinja_steps(r, a->n / 16)) return false;
  last = block_for(r, &r->letters, n, n > BLOCK_BYTES / 4 ? 2 * n : BLOCK_BYTES);
  if (last == NULL) return false;
  to = (char *) (last + 1) + last->used;
  jinja_put_letters(r, to, a->byte, a->n);
  jinja_put_letters(r, to + a->n, b->byte, b->n);
  last->used += n;
  return put_text(r, to, n, a->points + b->points, out);
}

static void free_chain(struct jinja_run *r, struct jinja_block *b)
{
  while (b != NULL) {
    struct jinja_block *next = b->next;
    memory_free(r->m, b);
    b = next;
  }
}

void jinja_heap_free(struct jinja_run *r)
{
  free_chain(r, r->block);
  free_chain(r, r->letters);
  r->block = r->letters = NULL;
}

/* the same room for the account of an output */
static bool account_room(struct jinja_run *r, struct jinja_output *o)
{
  size_t had = o->cap_said;
  if (!r->account) return true;
  unsigned char *p = memory_reserve(r->m, MEMORY_OTHER, o->said, &o->cap_said, o->cap, o->cap, 1, r->why);
  if (p == NULL) {
    r->fatal = true;
    return false;
  }
  o->said = p;
  return charge(r, o->cap_said - had);
}

/* An output grows by doubling; what it holds counts like other text. */
bool jinja_write(struct jinja_run *r, struct jinja_output *o, const char *byte, size_t n)
{
  if (n == 0) return true;
  if (!jinja_steps(r, n / 16)) return false;
  if (n > JINJA_MAX_OUTPUT || o->n > JINJA_MAX_OUTPUT - n)
    return jinja_limit(r, "the template prints more than %d bytes", JINJA_MAX_OUTPUT);
  size_t had = o->cap;
  unsigned char *p = memory_reserve(r->m, MEMORY_OTHER, o->byte, &o->cap, o->n + n, 256, 1, r->why);
  if (p == NULL) {
    r->fatal = true;
    return false;
  }
  o->byte = p;
  if (!charge(r, o->cap - had) || !account_room(r, o)) return false;
  memcpy(o->byte + o->n, byte, n);
  const unsigned char *s = account_of(r, byte);
  if (r->account && s == NULL) memset(o->said + o->n, 0, n);
  else if (r->account) memcpy(o->said + o->n, s, n);
  o->n += n;
  o->points += count_points(byte, n);
  return true;
}

bool jinja_write_for(struct jinja_run *r, struct jinja_output *o, const char *byte, size_t n, const char *from)
{
  size_t at = o->n;
  const unsigned char *s = account_of(r, from);
  if (!jinja_write(r, o, byte, n)) return false;
  if (s != NULL && n > 0) memset(o->said + at, *s, n);
  return true;
}

void jinja_directed(struct jinja_run *r, struct jinja_output *o, const struct jinja_text *by)
{
  const unsigned char *s = by->n > 0 ? account_of(r, by->byte) : NULL;
  if (s != NULL && o->n > 0 && memchr(s, 1, by->n) != NULL) memset(o->said, 1, o->n);
}

bool jinja_write_text(struct jinja_run *r, struct jinja_output *o, const struct jinja_text *t)
{
  return jinja_write(r, o, t->byte, t->n);
}

bool jinja_output_text(struct jinja_run *r, const struct jinja_output *o, struct jinja_value *out)
{
  if (!jinja_text_copy(r, (const char *) o->byte, o->n, out)) return false;
  if (r->account && o->n > 0) memcpy(account_of(r, out->as.text->byte), o->said, o->n);
  return true;
}

void jinja_output_free(struct jinja_run *r, struct jinja_output *o)
{
  size_t had = o->cap + o->cap_said;
  r->bytes -= had < r->bytes ? had : r->bytes;
  memory_free(r->m, o->byte);
  memory_free(r->m, o->said);
  *o = (struct jinja_output) { .byte = NULL };
}

static uint32_t word_hash(const char *byte, size_t n)
{
  uint32_t h = HASH_SEED;
  for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char) byte[i]) * 16777619u;
  return h ^ h >> 15;
}

/* the table has at least twice as many slots as names */
static bool grow_names(struct jinja_run *r)
{
  size_t slots = r->name_slots == 0 ? 256 : 2 * r->name_slots;
  uint32_t *table = jinja_room(r, slots, sizeof *table);
  const struct jinja_text **names = jinja_room(r, slots / 2, sizeof *names);
  if (table == NULL || names == NULL) return false;
  for (size_t i = 0; i < r->n_names; i++) {
    size_t at = word_hash(r->names[i]->byte, r->names[i]->n) & (slots - 1);
    while (table[at] != 0) at = (at + 1) & (slots - 1);
    table[at] = (uint32_t) i + 1;
    names[i] = r->names[i];
  }
  r->names = names, r->cap_names = slots / 2;
  r->name_table = table, r->name_slots = slots;
  return true;
}

bool jinja_intern(struct jinja_run *r, const char *byte, size_t n, uint32_t *id)
{
  struct jinja_value v;
  if (r->n_names == r->cap_names && !grow_names(r)) return false;
  size_t at = word_hash(byte, n) & (r->name_slots - 1);
  for (; r->name_table[at] != 0; at = (at + 1) & (r->name_slots - 1)) {
    const struct jinja_text *t = r->names[r->name_table[at] - 1];
    if (t->n != n || memcmp(t->byte, byte, n) != 0) continue;
    *id = r->name_table[at] - 1;
    return true;
  }
  if (!jinja_text_copy(r, byte, n, &v)) return false;
  *id = (uint32_t) r->n_names;
  r->names[r->n_names++] = v.as.text;
  r->name_table[at] = *id + 1;
  return true;
}
