/* remote.h -- a backend whose memory nobody else can touch. Its addresses are handles: they lie in a
   part of the address space without any access, so that a program that reads or writes one of them
   stops at that instruction. What is meant is kept elsewhere, at a distance that only this file
   knows. The arithmetic is that of one of the host's tables, on the translated addresses; so the
   bits must be the same. A host address where a handle is wanted, or the reverse, aborts. */
#ifndef INCIPIT_REMOTE_H
#define INCIPIT_REMOTE_H
#include <sys/mman.h>
#include "kernels/kernels.h"
#include "suite.h"

enum { REMOTE_SPACE = 1 << 30, REMOTE_BLOCKS = 1 << 16 };
struct remote {
  struct buffers b; /* first: a struct buffers * of this backend points here */
  struct kernels k;
  const struct kernels *host;
  char *handles, *truth;
  size_t used, live; /* bytes that were ever given; blocks that are held */
  void *block[REMOTE_BLOCKS];
  size_t bytes[REMOTE_BLOCKS], n;
};
static struct remote the_remote; /* one for each test, which is a process */

static inline bool is_handle(const void *p)
{
  return (const char *) p >= the_remote.handles
    && (const char *) p < the_remote.handles + REMOTE_SPACE;
}
static inline void *true_place(const void *p) /* of a handle */
{
  if (!is_handle(p)) ck_abort_msg("%p is no handle", p);
  return the_remote.truth + ((const char *) p - the_remote.handles);
}
static inline const void *on_host(const void *p) /* an address of the host's */
{
  if (is_handle(p)) ck_abort_msg("%p is a handle", p);
  return p;
}

static inline void *remote_alloc(const struct buffers *b, struct memory *m, enum memory_class what,
  size_t count, size_t size, struct error *why)
{
  struct remote *r = &the_remote;
  (void) b;
  void *shadow = memory_alloc(m, what, count, size, why); /* the books, and refusals */
  if (shadow == NULL) return NULL;
  size_t bytes = (count * size + 63) / 64 * 64;
  ck_assert(r->n < REMOTE_BLOCKS && r->used + bytes + 64 <= REMOTE_SPACE);
  void *p = r->handles + r->used;
  memset(true_place(p), 0, bytes), memset((char *) true_place(p) + bytes, 0x5a, 64);
  r->used += bytes + 64, r->live++;
  r->block[r->n] = shadow, r->bytes[r->n] = bytes;
  r->n++;
  return p;
}
static inline void remote_release(const struct buffers *b, struct memory *m, void *p)
{
  struct remote *r = &the_remote;
  char *at = r->truth;
  (void) b;
  if (p == NULL) return;
  for (size_t i = 0; i < r->n; at += r->bytes[i++] + 64)
    if (at == (char *) true_place(p)) {
      ck_assert_msg(r->block[i] != NULL, "a block is released twice");
      for (int k = 0; k < 64; k++) /* nothing was written behind it */
        ck_assert_int_eq(at[r->bytes[i] + k], 0x5a);
      memory_free(m, r->block[i]);
      memset(at, 0xff, r->bytes[i]); /* whoever goes on using it finds no numbers */
      r->block[i] = NULL, r->live--;
      return;
    }
  ck_abort_msg("%p was never given", p);
}
static inline void remote_set(const struct buffers *b, void *to, const void *from, size_t bytes)
{
  (void) b;
  memcpy(true_place(to), on_host(from), bytes);
}
static inline void remote_get(const struct buffers *b, void *to, const void *from, size_t bytes)
{
  (void) b;
  on_host(to);
  memcpy(to, true_place(from), bytes);
}
static inline void remote_copy(const struct buffers *b, void *to, const void *from, size_t bytes)
{
  (void) b;
  memcpy(true_place(to), true_place(from), bytes);
}

static inline bool remote_working(const struct buffers *b, struct error *why)
{
  (void) b, (void) why;
  return true;
}

/* ---- the kernels: the host's, on translated addresses */
static inline struct engine inner(const struct engine *e)
{
  struct engine in = *e;
  in.k = the_remote.host;
  return in;
}
static inline void remote_linear(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  struct engine in = inner(e);
  float *to[3];
  for (size_t m = 0; m < n; m++) to[m] = true_place(y[m]), on_host(list[m].weight.data);
  in.k->linear(&in, list, n, true_place(x), rows, to);
}
static inline void remote_normalize(const struct engine *e, const struct norm *g, const float *x,
  size_t rows, size_t d, float *y)
{
  struct engine in = inner(e);
  in.k->normalize(&in, g, true_place(x), rows, d, true_place(y));
}
static inline void remote_rotate(const struct engine *e, float *x, size_t rows, size_t n_heads,
  size_t half, const float *c, const float *s)
{
  struct engine in = inner(e);
  in.k->rotate(&in, true_place(x), rows, n_heads, half, true_place(c), true_place(s));
}
static struct segment inner_segments[300];
static const char *inner_pages[1 << 16];
static inline const struct segment *translated(const struct segment *list, size_t n)
{
  size_t used = 0;
  ck_assert_uint_le(n, 300);
  for (size_t i = 0; i < n; i++) {
    struct kv_view *v = &inner_segments[i].view;
    inner_segments[i] = *(const struct segment *) on_host(&list[i]);
    if (v->page == NULL) {
      v->key = (uintptr_t) true_place((void *) v->key);
      v->value = (uintptr_t) true_place((void *) v->value);
      continue;
    }
    on_host(v->page);
    size_t pages = (list[i].first_position + list[i].n_rows - 1) / v->page_rows + 1;
    ck_assert_uint_le(used + pages, sizeof inner_pages / sizeof *inner_pages);
    for (size_t p = 0; p < pages; p++) /* those that a window has left have no place */
      inner_pages[used + p] = is_handle(v->page[p]) ? true_place(v->page[p]) : NULL;
    v->page = inner_pages + used, used += pages;
  }
  return inner_segments;
}
static inline void remote_attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  struct engine in = inner(e);
  struct attention_probe there = { probe ? true_place(probe->weights) : NULL,
    probe ? probe->stride : 0 };
  in.k->attend(&in, h, true_place(q), translated(list, n), n, true_place(scratch), true_place(y),
    probe ? &there : NULL);
}
static inline void remote_activate(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y)
{
  struct engine in = inner(e);
  in.k->activate(&in, kind, true_place(x), up ? true_place(up) : NULL, n, true_place(y));
}
static inline void remote_add(const struct engine *e, float *y, const float *x, size_t n)
{
  struct engine in = inner(e);
  in.k->add(&in, true_place(y), true_place(x), n);
}
static inline void remote_embed(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y)
{
  struct engine in = inner(e);
  in.k->embed(&in, table, d, on_host(id), rows, true_place(y));
}
static inline void remote_angles(const struct engine *e, const uint32_t *position, size_t rows,
  const float *frequency, size_t half, float scaling, float *c, float *s)
{
  struct engine in = inner(e);
  in.k->angles(&in, on_host(position), rows, on_host(frequency), half, scaling, true_place(c),
    true_place(s));
}
static inline void remote_split(const struct engine *e, const float *x, size_t rows, size_t n,
  size_t width, float *const *y)
{
  struct engine in = inner(e);
  float *to[3];
  for (size_t i = 0; i < n; i++) to[i] = true_place(y[i]);
  in.k->split(&in, true_place(x), rows, n, width, to);
}
static inline void remote_gather(const struct engine *e, const float *x, size_t d,
  const size_t *which, size_t n, float *y)
{
  struct engine in = inner(e);
  in.k->gather(&in, true_place(x), d, on_host(which), n, true_place(y));
}
static inline void remote_write(const struct engine *e, const struct attention_dims *h,
  const struct segment *list, size_t n, kv_encode *encode, const float *k, const float *v)
{
  struct engine in = inner(e);
  in.k->write(&in, h, translated(list, n), n, encode, true_place(k), true_place(v));
}
static inline void remote_mark(const struct engine *e, const float *x, size_t rows, size_t d,
  uint32_t mark, uint32_t none, uint32_t *first)
{
  struct engine in = inner(e);
  in.k->mark_nonfinite(&in, true_place(x), rows, d, mark, none, true_place(first));
}

/* the backend with the arithmetic of one of the host's tables */
static inline const struct kernels *remote_open(const struct kernels *host)
{
  struct remote *r = &the_remote;
  void *nowhere = mmap(NULL, REMOTE_SPACE, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
       *truth = mmap(NULL, REMOTE_SPACE, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ck_assert(nowhere != MAP_FAILED && truth != MAP_FAILED);
  r->handles = nowhere, r->truth = truth, r->host = host;
  r->b = (struct buffers){ .is_host = false,
    .alloc = remote_alloc,
    .release = remote_release,
    .set = remote_set,
    .get = remote_get,
    .copy = remote_copy,
    .working = remote_working };
  r->k = *host;
  r->k.name = "remote", r->k.memory = &r->b;
  r->k.linear = remote_linear, r->k.normalize = remote_normalize, r->k.rotate = remote_rotate;
  r->k.attend = remote_attend, r->k.activate = remote_activate, r->k.add = remote_add;
  r->k.embed = remote_embed, r->k.angles = remote_angles, r->k.split = remote_split;
  r->k.gather = remote_gather, r->k.write = remote_write, r->k.mark_nonfinite = remote_mark;
  return &r->k;
}
#endif
