/* tests.c -- lab 4: a paged cache. Most tests use no model: they begin passes themselves, write numbers of their own where the cache says that keys
   and values belong, and look whether they are still there. */
#include "kit.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cache/parts.h"
#include "model/toy.h"

enum { TEXTS = 5, LONGEST = 150, MOST_ROWS = TEXTS * LONGEST };

/* a text: its tokens, and after each of them a number that stands for all tokens so far, from which its keys and values are made */
struct text { size_t n; uint32_t token[LONGEST]; uint64_t past[LONGEST]; };

/* a store without a model, and what the test has put into it */
struct rig {
  struct memory m;
  struct model_config config;
  struct store *s;
  struct text text[TEXTS];
  size_t copied; /* bytes that changed in pages while room was made for a pass */
  struct error why;
};

static uint64_t mix(uint64_t z)
{
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* the number i of a key (part 0) or value (part 1) */
static float number(uint64_t past, uint32_t layer, int part, uint32_t head, uint32_t i)
{ return (float) (mix(past + (((layer * 2u + (unsigned) part) * 64u + head) * 64u + i + 1) * 0x9e3779b97f4a7c15u) >> 40); }

/* layers from window_from on see window positions and the first sinks; all see all if window is 0 */
static bool rig_open(struct rig *r, uint32_t texts, const struct cache_options *o, uint32_t window, uint32_t window_from, uint32_t sinks)
{
  memset(r, 0, sizeof *r);
  r->config = (struct model_config) { .family = "llama", .n_positions = LONGEST, .n_layers = 1 + draw(3), .n_kv_heads = 1 + draw(3),
    .head_dim = 1 + draw(4), .window = window, .window_from = window_from, .sinks = sinks };
  if (window_from > 0) r->config.n_layers = window_from + 1 + draw(2);
  r->s = cache_open(&r->m, &r->config, texts, o, &r->why);
  tell("%u texts, %u layers, %u heads of %u, pages of %zu rows", texts, r->config.n_layers, r->config.n_kv_heads, r->config.head_dim, o->page_rows);
  if (o->rows > 0) tell("room for %zu rows", o->rows);
  if (window > 0) tell("layers from %u on see %u positions and the first %u", window_from, window, sinks);
  if (r->s == NULL) say("the cache could not be opened");
  return r->s != NULL;
}

/* n rows of a text are added to those of a pass; nothing has been stored yet */
static size_t add_rows(struct rig *r, struct row *rows, size_t so_far, uint32_t q, size_t n)
{
  struct text *t = &r->text[q];
  for (; n > 0 && t->n < LONGEST; n--, t->n++) {
    t->token[t->n] = draw(50);
    t->past[t->n] = mix((t->n == 0 ? 7 : t->past[t->n - 1]) + 1000003u * (t->token[t->n] + 1u));
    rows[so_far++] = (struct row) { q, (uint32_t) t->n, t->token[t->n] };
  }
  return so_far;
}

static void shuffle(struct row *rows, size_t n)
{
  for (size_t i = n; i > 1; i--) {
    size_t k = draw((uint32_t) i);
    struct row t = rows[i - 1];
    rows[i - 1] = rows[k], rows[k] = t;
  }
}

static float *place(const struct kv_view *v, int part, uint32_t position, uint32_t head)
{ return (float *) (uintptr_t) kv_row(v, part == 0 ? v->key : v->value, position, head).data; }

/* what a model does between the beginning and the end of a pass */
static void write_rows(struct rig *r, const struct row *rows, size_t n, uint64_t spoil)
{
  for (uint32_t layer = 0; layer < r->config.n_layers; layer++)
    for (size_t k = 0; k < n; k++) {
      struct kv_view v;
      store_view(r->s, layer, rows[k].sequence, &v);
      for (int part = 0; part < 2; part++)
        for (uint32_t head = 0; head < r->config.n_kv_heads; head++)
          for (uint32_t i = 0; i < r->config.head_dim; i++)
            place(&v, part, rows[k].position, head)[i] = number(r->text[rows[k].sequence].past[rows[k].position] ^ spoil, layer, part, head, i);
    }
}

/* ---- what is copied is seen in the pages themselves: before a call that may copy, each place for a key or a value that no text has gets
   bytes of its own, and all places are remembered; the places that are others after the call have been written to.  A new page is zero */

struct memory_of_pages { char *byte[MAX_GROUPS]; size_t pages[MAX_GROUPS]; };

/* which places of a page, numbered from 0, a row of a text has */
static void mark_rows(const struct cache *s, const struct layer_group *f, bool *taken)
{
  size_t places = 2 * f->n_layers * s->heads * s->page_rows;
  for (uint32_t q = 0; q < s->common.n_sequences; q++)
    for (size_t t = 0; t < s->table.sequence[q].length; t++) {
      size_t i = t / s->page_rows, page = i < f->sequence[q].n ? f->sequence[q].page[i] : f->cap;
      if (page >= f->cap || (i < f->sequence[q].first && i >= s->sink_pages)) continue;
      for (size_t k = t % s->page_rows; k < places; k += s->page_rows) taken[page * places + k] = true;
    }
}

static struct memory_of_pages remember(const struct rig *r)
{
  const struct cache *s = (const struct cache *) r->s;
  struct memory_of_pages old = { { NULL }, { 0 } };
  for (size_t g = 0; g < s->n_groups; g++) {
    const struct layer_group *f = &s->group[g];
    size_t bytes = page_bytes(s, f), places = bytes / s->head_bytes;
    bool *taken = calloc(f->cap * places + 1, sizeof *taken);
    old.pages[g] = f->cap, old.byte[g] = malloc(f->cap * bytes + 1);
    mark_rows(s, f, taken);
    for (size_t page = 0; page < f->cap; page++) {
      for (size_t k = 0; k < places; k++)
        if (!taken[page * places + k]) memset(f->page[page].data + k * s->head_bytes, 1 + (int) ((page * 7 + k) % 251), s->head_bytes);
      memcpy(old.byte[g] + page * bytes, f->page[page].data, bytes);
    }
    free(taken);
  }
  return old;
}

static size_t bytes_written(const struct rig *r, struct memory_of_pages *old)
{
  const struct cache *s = (const struct cache *) r->s;
  size_t written = 0;
  for (size_t g = 0; g < s->n_groups; g++) {
    const struct layer_group *f = &s->group[g];
    size_t bytes = page_bytes(s, f);
    char *zero = calloc(s->head_bytes, 1);
    for (size_t page = 0; page < f->cap; page++)
      for (size_t at = 0; at < bytes; at += s->head_bytes)
        if (memcmp(f->page[page].data + at, page < old->pages[g] ? old->byte[g] + page * bytes + at : zero, s->head_bytes) != 0) written += s->head_bytes;
    free(zero), free(old->byte[g]);
  }
  return written;
}

static bool begin_pass(struct rig *r, const struct row *rows, size_t n)
{
  struct memory_of_pages old = remember(r);
  bool ok = store_begin(r->s, rows, n, &r->why);
  r->copied += bytes_written(r, &old);
  return ok;
}

static void say_copied(const struct rig *r)
{
  say_most("copied-bytes", (double) r->copied, 1);
  say("they were counted %s", cache_look(r->s).bytes_copied == r->copied ? "yes" : "no");
}

/* a pass; the texts have been told already which rows it has */
static bool pass(struct rig *r, const struct row *rows, size_t n)
{
  if (n == 0) return true;
  if (!begin_pass(r, rows, n)) return false;
  write_rows(r, rows, n, 0);
  store_commit(r->s);
  return true;
}

/* a pass that brings n rows to one text; if it is refused the text is as before */
static bool grow(struct rig *r, uint32_t q, size_t n)
{
  struct row rows[LONGEST];
  size_t old = r->text[q].n;
  n = add_rows(r, rows, 0, q, n);
  if (pass(r, rows, n)) return true;
  r->text[q].n = old;
  return false;
}

/* a pass that begins, writes, and is given up */
static bool give_up(struct rig *r, uint32_t q, size_t n)
{
  struct row rows[LONGEST];
  size_t old = r->text[q].n;
  n = add_rows(r, rows, 0, q, n);
  bool ok = n == 0 || begin_pass(r, rows, n);
  if (ok && n > 0) write_rows(r, rows, n, 99), store_abort(r->s);
  r->text[q].n = old;
  return ok;
}

/* compares what the views show with what was written; a layer with a window need have only what its next row sees */
static void say_text(struct rig *r, uint32_t q)
{
  const struct text *t = &r->text[q];
  size_t length = store_length(r->s, q);
  if (length != t->n) {
    say("text %u has %zu rows", q, length);
    return;
  }
  for (uint32_t layer = 0; layer < r->config.n_layers && length > 0; layer++) {
    struct kv_view v;
    size_t from = store_window_start(r->s, layer, length);
    store_view(r->s, layer, q, &v);
    for (uint32_t p = 0; p < length; p++) {
      if (p < from && p >= r->config.sinks) continue;
      for (int part = 0; part < 2; part++)
        for (uint32_t head = 0; head < r->config.n_kv_heads; head++)
          for (uint32_t i = 0; i < r->config.head_dim; i++)
            if (place(&v, part, p, head)[i] != number(t->past[p], layer, part, head, i)) {
              say("text %u has %zu rows; the %s of row %u, layer %u, head %u is not what was written", q, length, part == 0 ? "key" : "value", p, layer, head);
              return;
            }
    }
  }
  say("text %u has %zu rows, all as written", q, length);
}
static void say_texts(struct rig *r, uint32_t n) { for (uint32_t q = 0; q < n; q++) say_text(r, q); }

static void say_used(const struct rig *r, const char *when)
{ say("pages in use %s: %zu", when, cache_look(r->s).pages_used); }

/* takes back the pages of all texts, and the memory */
static void rig_close(struct rig *r)
{
  store_clear(r->s);
  say_used(r, "when all texts are empty");
  store_close(r->s);
  say("bytes left %" PRIu64, r->m.all.live);
}

/* ---- one function at a time */

static void match(unsigned size)
{
  struct memory m = { .fail_at = 0 };
  struct model_config config = { .family = "llama", .n_positions = 40, .n_layers = 1, .n_kv_heads = 1, .head_dim = 1 };
  struct error why;
  struct row rows[40];
  uint32_t ids[40];
  struct store *s = array_store_open(&m, &config, &why);
  size_t stored = size == 1 ? 1 : draw(12), n = size == 1 ? 1 : draw(14);
  for (uint32_t i = 0; i < 40; i++) ids[i] = draw(1 + size % 3), rows[i] = (struct row) { 0, i, ids[i] };
  if (stored > 0 && store_begin(s, rows, stored, &why)) store_commit(s);
  size_t same = size % 2 ? 40 : draw(8);
  if (same < 40) ids[same]++;
  tell("a store with %zu rows, a text of %zu tokens", stored, n);
  if (same < stored && same < n) tell("token %zu differs", same);
  say("kept %zu", store_match_prefix(s, 0, ids, n));
  say("the store then has %zu", store_length(s, 0));
  say("kept at the second call %zu", store_match_prefix(s, 0, ids, n));
  store_close(s);
}

/* pages are taken and given back at random; each is filled, and looked at when it is given back */
static void pool(unsigned size)
{
  enum { MOST = 40 };
  struct cache_options o = { .page_rows = 1u << draw(4), .preallocate = false };
  struct rig r;
  uint32_t taken[MOST];
  size_t n = 0, most = 1 + size % 16, spoilt = 0, twice = 0;
  o.rows = MOST * o.page_rows;
  if (!rig_open(&r, 1, &o, 0, 0, 0)) return;
  struct cache *s = (struct cache *) r.s;
  struct layer_group *f = &s->group[0];
  size_t bytes = page_bytes(s, f);
  tell("a pool that grows to %zu pages, then to %zu", most, most + 3);
  r.m.fail_at = r.m.all.requests + 1 + size % 2;
  say("grown without memory %s", pages_grow(s, f, most, &r.why) ? "yes" : "no");
  say("pages then %zu, free %zu", f->cap, f->n_free);
  r.m.fail_at = 0;
  uint64_t slabs = r.m.of[MEMORY_CACHE].requests;
  for (int round = 0; round < 2; round++) {
    size_t want = most + 3 * (size_t) round;
    if (!pages_grow(s, f, want, &r.why)) {
      say("refused to grow");
      break;
    }
    say("enough pages %s, not too many %s", f->cap >= want ? "yes" : "no", f->cap <= 2 * want && f->cap <= f->max_pages ? "yes" : "no");
    say("used %zu", f->cap - f->n_free);
    for (unsigned k = 0; k < 4 * want; k++) {
      if (n < want && f->n_free > 0 && draw(3) > 0) {
        uint32_t page = page_acquire(f);
        if (page >= f->cap) { say("there is no page %u", page); break; }
        for (size_t i = 0; i < n; i++) twice += taken[i] == page;
        memset(f->page[page].data, (int) page + 1, bytes);
        taken[n++] = page;
        if (f->page[page].refs != 1) { say("refs of a page just taken %u", f->page[page].refs); break; }
      }
      else if (n > 0) {
        size_t i = draw((uint32_t) n);
        uint32_t page = taken[i];
        for (size_t b = 0; b < bytes; b++) spoilt += f->page[page].data[b] != (char) (page + 1);
        if (draw(2)) { /* another table has it for a while */
          size_t used = f->cap - f->n_free;
          f->page[page].refs++, page_release(f, page);
          if (f->cap - f->n_free != used) { say("a page that is still in a table is free"); break; }
        }
        page_release(f, page);
        taken[i] = taken[--n];
      }
      if (f->cap - f->n_free != n) { say("used %zu, taken %zu", f->cap - f->n_free, n); break; }
    }
  }
  say("bytes overwritten by another page %zu, pages given out twice %zu", spoilt, twice);
  say_most("slabs", (double) (r.m.of[MEMORY_CACHE].requests - slabs), 1);
  while (n > 0) page_release(f, taken[--n]);
  say("used at the end %zu", f->cap - f->n_free);
  store_close(r.s);
  say("bytes left %" PRIu64, r.m.all.live);
}

/* where keys and values of a text with pages are, as distances from the beginning of their page */
static void view(unsigned size)
{
  struct cache_options o = { .page_rows = 1u << draw(4) };
  struct rig r;
  static char memory[TEXTS][8];
  const char *data[TEXTS];
  uint32_t numbers[TEXTS];
  bool two = size % 3 == 0;
  if (!rig_open(&r, 2, &o, two ? 5 : 0, two ? 1 + draw(2) : 0, 0)) return;
  struct cache *s = (struct cache *) r.s;
  for (uint32_t i = 0; i < TEXTS; i++) data[i] = memory[i], numbers[i] = i;
  for (size_t k = 0; k < s->n_groups; k++)
    s->group[k].sequence[1].page = numbers, s->group[k].sequence[1].data = data, s->group[k].sequence[1].n = TEXTS;
  for (unsigned look = 0; look < 6; look++) {
    struct kv_view v;
    uint32_t layer = draw(r.config.n_layers), head = draw(r.config.n_kv_heads), t = draw((uint32_t) (TEXTS * o.page_rows));
    if (size == 1) layer = head = 0, t = look % (uint32_t) o.page_rows;
    store_view(r.s, layer, 1, &v);
    if (v.page != data) {
      say("the view of layer %u has another table", layer);
      break;
    }
    if (v.page_rows != o.page_rows) {
      say("the view has pages of %zu rows", v.page_rows);
      break;
    }
    const char *start = data[t / v.page_rows];
    say("layer %u, head %u, position %u: page %u, key at byte %td, value at byte %td", layer, head, t, (unsigned) (t / v.page_rows),
      (const char *) kv_row(&v, v.key, t, head).data - start, (const char *) kv_row(&v, v.value, t, head).data - start);
  }
  struct layer_group *f = &s->group[s->n_groups - 1];
  struct page_info pages[3] = { { .data = memory[2] }, { .data = memory[0] }, { .data = memory[1] } };
  f->page = pages;
  for (unsigned look = 0; look < 6; look++) {
    size_t part = draw(2 * f->n_layers), page = draw(3), head = draw(r.config.n_kv_heads), row = draw((uint32_t) o.page_rows);
    say("page %zu, part %zu, head %zu, row %zu: byte %td", page, part, head, row, page_address(s, f, part, page, head, row) - pages[page].data);
  }
  f->page = NULL;
  for (size_t k = 0; k < s->n_groups; k++) s->group[k].sequence[1].page = NULL, s->group[k].sequence[1].data = NULL;
  store_close(r.s);
}

/* the pages that a pass needs, from tables that the test has made by hand */
static void count(unsigned size)
{
  struct cache_options o = { .page_rows = 1u << (1 + draw(3)) };
  struct rig r;
  struct page_info pages[4 * TEXTS];
  uint32_t list[TEXTS][8], n = size == 1 ? 1 : 1 + draw(TEXTS), next = 0;
  char line[400] = "";
  memset(pages, 0, sizeof pages);
  if (!rig_open(&r, n, &o, 0, 0, 0)) return;
  struct cache *s = (struct cache *) r.s;
  struct layer_group *f = &s->group[0];
  f->page = pages;
  for (uint32_t q = 0; q < n; q++) {
    struct kv_sequence *t = &s->table.sequence[q];
    struct page_list *l = &f->sequence[q];
    l->page = list[q];
    if (q > 0 && draw(4) > 0) { /* as after a fork */
      uint32_t like = draw(q);
      t->length = s->table.sequence[like].length, l->n = pages_for(s, t->length);
      memcpy(list[q], list[like], sizeof list[q]);
      for (size_t i = 0; i < l->n; i++) pages[list[q][i]].refs++;
    }
    else {
      t->length = draw((uint32_t) (3 * o.page_rows)), l->n = pages_for(s, t->length);
      if (draw(5) == 0) l->n++; /* a page more than its rows need */
      for (size_t i = 0; i < l->n; i++) list[q][i] = next, pages[next++].refs = 1;
    }
    t->count = draw(3) == 0 ? 0 : 1 + draw((uint32_t) (2 * o.page_rows));
    snprintf(line + strlen(line), sizeof line - strlen(line), "%s%zu (pages", q > 0 ? ", " : "", t->length);
    for (size_t i = 0; i < l->n; i++) snprintf(line + strlen(line), sizeof line - strlen(line), " %u", list[q][i]);
    snprintf(line + strlen(line), sizeof line - strlen(line), ") + %zu", t->count);
  }
  tell("rows that each text has and gets: %s", line);
  for (int round = 0; round < 2; round++) {
    say("new pages %zu", count_new_pages(s, f));
    say("copies %zu", count_copies(s, f));
  }
  f->page = NULL;
  for (uint32_t q = 0; q < n; q++) f->sequence[q].page = NULL, s->table.sequence[q].count = 0;
  store_close(r.s);
}

/* ---- the store as its users see it */

static void append(unsigned size)
{
  struct cache_options o = { .page_rows = 1u << draw(5), .preallocate = size % 4 == 0 };
  struct rig r;
  uint32_t n = size < 4 ? 1 : 1 + draw(4);
  if (!rig_open(&r, n, &o, 0, 0, 0)) return;
  for (unsigned k = 0; k < 1 + size / 2; k++) {
    struct row rows[MOST_ROWS];
    size_t rows_n = 0;
    for (uint32_t q = 0; q < n; q++) rows_n = add_rows(&r, rows, rows_n, q, draw(3) == 0 ? draw(30) : draw(3));
    if (rows_n == 0) rows_n = add_rows(&r, rows, rows_n, 0, 1);
    if (k % 3 == 0) shuffle(rows, rows_n);
    tell("a pass of %zu rows", rows_n);
    if (!pass(&r, rows, rows_n)) {
      say("refused: %s", r.why.text);
      break;
    }
    say_used(&r, "after the pass");
  }
  say_texts(&r, n);
  say_copied(&r);
  say_most("pages", (double) cache_look(r.s).pages, 1.5);
  say_most("slabs", (double) r.m.of[MEMORY_CACHE].requests, 2);
  if (size % 4 != 0) say_most("bytes", (double) r.m.of[MEMORY_CACHE].peak, 1.5);
  store_close(r.s);
  say("bytes left %" PRIu64, r.m.all.live);
}

static bool names_number(const char *text, size_t n)
{
  while (*text != '\0') {
    size_t digits = strspn(text, "0123456789");
    if (digits > 0 && strtoull(text, NULL, 10) == n) return true;
    text += digits > 0 ? digits : 1;
  }
  return false;
}

/* passes that are refused, for one reason or another, between others that are not */
static void full(unsigned size)
{
  struct cache_options o = { .page_rows = 1u << draw(4) };
  struct rig r;
  uint32_t n = 1 + size % 3;
  bool two = size % 4 == 3, narrow = size % 4 == 1 && size > 1; /* narrow: only the group with a window can be full */
  if (narrow) o.pass = 1 + draw(4);
  else o.rows = o.page_rows * (3 + draw(6));
  if (!rig_open(&r, n, &o, narrow ? 2 + draw(6) : two ? LONGEST - 1 : 0, two || narrow, 0)) return;
  const struct cache *inside = (const struct cache *) r.s;
  const struct layer_group *full_group = &inside->group[inside->n_groups - 1];
  size_t room = full_group->max_pages * o.page_rows;
  for (unsigned k = 0; k < 6 + size / 2; k++) {
    uint32_t q = draw(n);
    struct row rows[MOST_ROWS];
    struct text before[TEXTS];
    memcpy(before, r.text, sizeof before);
    size_t rows_n = 0;
    unsigned what = draw(5);
    switch (what) {
      case 0: /* a gap, or a row twice, or one that is there */
        rows_n = add_rows(&r, rows, 0, q, 1 + draw(3));
        if (rows_n == 0) continue;
        rows[draw((uint32_t) rows_n)].position += draw(2) ? 1 : (uint32_t) -1;
        tell("positions of text %u wrong", q);
        break;
      case 1: /* more than there is, for several */
        for (uint32_t i = 0; i < n; i++) rows_n = add_rows(&r, rows, rows_n, i, room / n + 1 - draw(2));
        tell("%zu rows for %u texts", rows_n, n);
        break;
      case 2: /* no memory */
        rows_n = add_rows(&r, rows, 0, q, 1 + draw(4));
        r.m.fail_at = r.m.all.requests + 1;
        tell("no memory for %zu rows", rows_n);
        break;
      default:
        rows_n = add_rows(&r, rows, 0, q, 1 + draw((uint32_t) o.page_rows));
        tell("%zu rows for text %u", rows_n, q);
    }
    bool ok = pass(&r, rows, rows_n);
    r.m.fail_at = 0;
    say("%s", ok ? "read" : "refused");
    if (!ok) {
      memcpy(r.text, before, sizeof before);
      if (what != 0 && what != 2) say("the message says how many rows the cache holds: %s", names_number(r.why.text, room) ? "yes" : "no");
    }
    if (!narrow) say_used(&r, "then");
    else say("pages in use of the first layers: %zu", inside->group[0].cap - inside->group[0].n_free);
    say_texts(&r, n);
    if (k > 3 && draw(3) == 0) {
      size_t length = draw((uint32_t) r.text[q].n + 1);
      tell("text %u is cropped to %zu", q, length);
      store_crop(r.s, q, length), r.text[q].n = store_length(r.s, q) == 0 ? 0 : length;
    }
  }
  rig_close(&r);
}

static void crop(unsigned size)
{
  struct cache_options o = { .page_rows = 1u << draw(4) };
  struct rig r;
  uint32_t n = size < 4 ? 1 : 2 + draw(2);
  if (size % 3 == 0) o.rows = n * (60 / o.page_rows + 1) * o.page_rows;
  if (!rig_open(&r, n, &o, 0, 0, 0)) return;
  for (unsigned k = 0; k < 1 + size / 2; k++) {
    uint32_t q = draw(n);
    if (r.text[q].n < 40) {
      size_t more = 1 + draw(20);
      tell("text %u gets %zu rows", q, more);
      if (!grow(&r, q, more)) say("refused: %s", r.why.text);
    }
    say_used(&r, "after the pass");
    size_t length = draw(4) == 0 ? 0 : draw((uint32_t) r.text[q].n + 4);
    tell("text %u is cropped to %zu", q, length);
    store_crop(r.s, q, length);
    if (length < r.text[q].n) r.text[q].n = length;
    say_used(&r, "after the crop");
    say_texts(&r, n);
  }
  rig_close(&r);
}

/* empties a text and makes it equal to another */
static bool fork_text(struct rig *r, uint32_t from, uint32_t to)
{
  if (r->text[to].n > 0) store_crop(r->s, to, 0), r->text[to].n = 0;
  struct memory_of_pages old = remember(r);
  bool ok = store_fork(r->s, from, to, &r->why);
  r->copied += bytes_written(r, &old);
  if (!ok) return false;
  r->text[to] = r->text[from];
  return true;
}

static void forks(unsigned size)
{
  struct cache_options o = { .page_rows = 1u << draw(4) };
  struct rig r;
  uint32_t n = 2 + draw(3);
  bool two = size % 4 == 3;
  if (!rig_open(&r, n, &o, two ? LONGEST - 1 : 0, two ? 1 : 0, 0)) return;
  size_t first = size == 1 ? 1 : 1 + draw(30);
  tell("text 0 gets %zu rows", first);
  if (!grow(&r, 0, first)) say("refused: %s", r.why.text);
  say_used(&r, "before the forks");
  for (uint32_t q = 1; q < n; q++) {
    uint32_t from = draw(q);
    if (size % 5 == 0) {
      tell("text %u has had a pass that was given up", q);
      say("begun %s", give_up(&r, q, 1 + draw(9)) ? "yes" : "no");
    }
    else if (size % 3 == 2) {
      tell("text %u is forked from %u with too little memory", q, from);
      r.m.fail_at = r.m.all.requests + 1 + draw(two ? 5 : 3);
      say("forked %s", store_fork(r.s, from, q, &r.why) ? "yes" : "no");
      r.m.fail_at = 0;
      say_texts(&r, n);
      say_used(&r, "after the fork without memory");
    }
    tell("text %u is forked from %u", q, from);
    say("forked %s", fork_text(&r, from, q) ? "yes" : "no");
    say_used(&r, "after the fork");
    say("a second fork onto it %s", r.text[q].n > 0 && store_fork(r.s, from, q, &r.why) ? "yes" : "no");
    say_texts(&r, n);
  }
  say_copied(&r);
  for (uint32_t q = 0; q < n; q++) {
    uint32_t gone = (q + size) % n;
    store_crop(r.s, gone, 0), r.text[gone].n = 0;
    tell("text %u is dropped", gone);
    say_used(&r, "after that");
    say_texts(&r, n);
  }
  rig_close(&r);
}

/* forks, crops and passes of one text at a time: who writes to a shared page copies it first */
static void branch(unsigned size)
{
  struct cache_options o = { .page_rows = size == 1 ? 2 : 1u << draw(5) };
  struct rig r;
  uint32_t n = size < 6 ? 2 : 2 + draw(3);
  if (!rig_open(&r, n, &o, 0, 0, 0)) return;
  size_t first = size == 1 ? 1 : 1 + draw(20);
  tell("text 0 gets %zu rows", first);
  if (!grow(&r, 0, first)) say("refused: %s", r.why.text);
  for (unsigned k = 0; k < 2 + size; k++) {
    uint32_t q = draw(n), from = draw(n);
    switch (k == 0 ? 0 : draw(4)) {
      case 0:
        if (k == 0) from = 0, q = 1;
        if (q == from) continue;
        tell("text %u is forked from %u", q, from);
        say("forked %s", fork_text(&r, from, q) ? "yes" : "no");
        break;
      case 1: {
        size_t length = draw((uint32_t) r.text[q].n + 1);
        tell("text %u is cropped to %zu", q, length);
        store_crop(r.s, q, length), r.text[q].n = length;
        break;
      }
      default: {
        size_t more = draw(4) == 0 ? 1 + draw(20) : 1;
        if (r.text[q].n + more > LONGEST) continue;
        bool given_up = size % 4 == 0 && draw(5) == 0;
        tell("text %u gets %zu rows%s", q, more, given_up ? ", and the pass is given up" : "");
        if (!(given_up ? give_up(&r, q, more) : grow(&r, q, more))) say("refused: %s", r.why.text);
      }
    }
    say_used(&r, "then");
    say_copied(&r);
    say_texts(&r, n);
  }
  say_most("pages", (double) cache_look(r.s).pages, 1.5);
  rig_close(&r);
}

/* several texts write to the page that they share, in one pass, in a cache that has as many pages as that takes, or one too few */
static void together(unsigned size)
{
  struct cache_options o = { .page_rows = 1u << (1 + draw(4)), .pass = 0 };
  struct rig r;
  uint32_t n = 2 + draw(TEXTS - 1), writers = 1 + draw(n);
  size_t first = 1 + draw(3 * (uint32_t) o.page_rows);
  if (size < 3) n = writers = 2, o.page_rows = 4, first = 6;
  if (first % o.page_rows == 0) first++;
  size_t shared = first / o.page_rows, more = size % 2 ? 1 : size % 4 ? o.page_rows - first % o.page_rows : o.page_rows;
  size_t needed = shared + 1 + (writers < n ? writers : writers - 1) + (size % 4 ? 0 : writers);
  bool too_few = size % 3 == 0 && needed > shared + 1;
  o.rows = (needed - too_few) * o.page_rows;
  if (!rig_open(&r, n, &o, 0, 0, 0)) return;
  tell("%u texts share %zu rows, and %u of them get %zu more%s", n, first, writers, more, too_few ? ", but there is a page too few" : "");
  if (!grow(&r, 0, first)) say("refused: %s", r.why.text);
  for (uint32_t q = 1; q < n; q++) say("forked %s", fork_text(&r, 0, q) ? "yes" : "no");
  for (int round = 0; round < 2; round++) {
    struct row rows[MOST_ROWS];
    struct text before[TEXTS];
    size_t rows_n = 0;
    memcpy(before, r.text, sizeof before);
    uint32_t take = writers - (too_few && round == 1); /* one fewer fits */
    for (uint32_t k = 0; k < take; k++) rows_n = add_rows(&r, rows, rows_n, (k + size) % n, more);
    if (draw(2)) shuffle(rows, rows_n);
    bool ok = pass(&r, rows, rows_n);
    if (!ok) memcpy(r.text, before, sizeof before);
    say("the pass of %u texts %s", take, ok ? "is read" : "is refused");
    say_used(&r, "then");
    say_copied(&r);
    say_texts(&r, n);
    if (ok) break;
  }
  rig_close(&r);
}

/* some layers, or all, see only the newest positions and the first */
static void window(unsigned size)
{
  struct cache_options o = { .page_rows = size == 1 ? 1 : 1u << draw(4) };
  struct rig r;
  uint32_t n = size < 6 ? 1 : 2 + draw(2), wide = 1 + draw(12), sinks = size % 2 ? 0 : draw(5), from = size % 3 == 0 ? 1 : 0;
  if (!rig_open(&r, n, &o, wide, from, sinks)) return;
  for (unsigned k = 0; k < 4 + size; k++) {
    uint32_t q = draw(n), other = draw(n);
    switch (size < 4 ? 5 : draw(6)) {
      case 0:
        if (q == other) continue;
        tell("text %u is forked from %u", q, other);
        say("forked %s", fork_text(&r, other, q) ? "yes" : "no");
        break;
      case 1:
      case 2: {
        size_t length = draw(4) == 0 ? draw((uint32_t) r.text[q].n + 1) : r.text[q].n - (r.text[q].n > 2 ? draw(3) : 0);
        tell("text %u is cropped to %zu", q, length);
        store_crop(r.s, q, length);
        say("it has %zu rows", store_length(r.s, q));
        r.text[q].n = store_length(r.s, q) == 0 ? 0 : length;
        break;
      }
      default: {
        size_t more = draw(3) == 0 ? 1 + draw(12) : 1 + draw(3);
        if (r.text[q].n + more > LONGEST) continue;
        tell("text %u gets %zu rows", q, more);
        if (!grow(&r, q, more)) say("refused: %s", r.why.text);
      }
    }
    say_used(&r, "then");
    say_copied(&r);
    say_texts(&r, n);
  }
  rig_close(&r);
}

/* ---- with a model */

static struct toy toy;
static struct model_layer layers[2];

/* two layers of four words, with other weights each time; the second may have a window */
static void toy_begin(uint32_t wide)
{
  float *const part[] = { toy.token[0], toy.place[0], toy.query[0], toy.value[0], toy.asked[0] };
  static const size_t n[] = { TOY_WORDS * TOY_WIDTH, TOY_PLACES * TOY_WIDTH, TOY_WIDTH * TOY_WIDTH, TOY_WIDTH * TOY_WIDTH, TOY_WORDS * TOY_WIDTH };
  toy_make(&toy);
  for (int k = 0; k < 5; k++)
    for (size_t i = 0; i < n[k]; i++) part[k][i] += .5f * draw_float();
  layers[0] = layers[1] = toy.only;
  toy.lm.layers = layers, toy.lm.config.n_layers = 2, toy.lm.layer_madds *= 2;
  toy.lm.config.window = wide, toy.lm.config.window_from = 1;
}

/* texts that grow, fork, are cropped, and are changed in the middle: every pass gives the logits that a pass from the beginning gives */
static void model(unsigned size)
{
  enum { MOST = 3 };
  struct memory m = { .fail_at = 0 };
  struct counters c = { .rows = 0 }, c2 = { .rows = 0 };
  struct engine e = { .k = &kernels_plain, .c = &c }, e2 = { .k = &kernels_plain, .c = &c2 };
  struct cache_options o = { .page_rows = 1u << draw(3) };
  struct error why;
  uint32_t text[MOST][TOY_PLACES];
  size_t length[MOST] = { 0 };
  uint32_t n = size < 4 ? 1 : MOST, wide = size % 4 == 3 ? 1 + draw(6) : 0;
  toy_begin(wide);
  tell("%u texts, pages of %zu, the second layer sees %u", n, o.page_rows, wide);
  struct store *s = cache_open(&m, &toy.lm.config, n, &o, &why), *plain = array_store_open(&m, &toy.lm.config, &why);
  for (unsigned k = 0; s != NULL && plain != NULL && k < 2 + size / 2; k++) {
    struct row rows[MOST * TOY_PLACES];
    size_t rows_n = 0, last[MOST], lasts = 0;
    uint32_t whose[MOST];
    if (n > 1 && draw(3) == 0) {
      uint32_t from = draw(n), to = (from + 1 + draw(n - 1)) % n;
      store_crop(s, to, 0);
      tell("text %u is forked from %u", to, from);
      if (!store_fork(s, from, to, &why)) say("no fork: %s", why.text);
      memcpy(text[to], text[from], sizeof text[to]), length[to] = length[from];
    }
    for (uint32_t q = 0; q < n; q++) {
      if (k > 0 && draw(3) == 0) continue;
      if (length[q] == TOY_PLACES || (length[q] > 0 && draw(3) == 0)) { /* another token somewhere, or a shorter text */
        length[q] = draw((uint32_t) length[q]);
        if (draw(2)) text[q][length[q]] = draw(TOY_WORDS), length[q]++;
        tell("text %u keeps %zu tokens", q, length[q]);
      }
      for (size_t more = 1 + draw(4); more > 0 && length[q] < TOY_PLACES; more--) text[q][length[q]++] = draw(TOY_WORDS);
      size_t kept = store_match_prefix(s, q, text[q], length[q] - 1);
      say("text %u of %zu tokens has %zu rows already", q, length[q], kept);
      for (size_t i = kept; i < length[q]; i++) rows[rows_n++] = (struct row) { q, (uint32_t) i, text[q][i] };
      whose[lasts] = q, last[lasts++] = rows_n - 1;
    }
    if (rows_n == 0) continue;
    struct pass *p = NULL;
    float logits[MOST * TOY_WORDS], again[TOY_WORDS];
    if (!model_forward(&e, &toy.lm, s, rows, rows_n, &p, &why) || !model_logits(&e, &toy.lm, p, last, lasts, logits, &why)) {
      say("the pass failed: %s", why.text);
      pass_close(p);
      break;
    }
    pass_close(p);
    for (size_t i = 0; i < lasts; i++) {
      size_t at = length[whose[i]] - 1;
      model_evaluate(&e2, &toy.lm, plain, text[whose[i]], at + 1, &at, 1, again, &why);
      say("text %u: the logits are those from the beginning %s", whose[i], memcmp(again, logits + i * TOY_WORDS, sizeof again) == 0 ? "yes" : "no");
      say_bits("logit", logits[i * TOY_WORDS + draw(TOY_WORDS)]);
    }
    if (wide == 0) say("pages in use %zu", cache_look(s).pages_used);
  }
  say_most("rows", (double) c.rows, 1);
  say_most("copied-bytes", (double) cache_look(s).bytes_copied, 3); /* of two writers, either may copy, and one may have three rows in the page */
  store_clear(s);
  say("pages left %zu", cache_look(s).pages_used);
  store_close(s), store_close(plain);
  say("bytes left %" PRIu64, m.all.live);
}

const struct lab_test lab_tests[] = { { "match", 30, match }, { "pool", 30, pool }, { "view", 24, view }, { "count", 40, count },
  { "append", 24, append }, { "full", 30, full }, { "crop", 30, crop }, { "forks", 30, forks }, { "branch", 40, branch },
  { "together", 40, together }, { "window", 50, window }, { "model", 50, model }, { NULL, 0, NULL } };
