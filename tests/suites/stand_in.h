/* stand_in.h -- the kernels of chapter 14 on the host, behind a table whose functions have done their
   work when they return: for suites that look at arrays after each call. The memory of the host as a
   device is the host's, so arrays of a test can be passed as they are. */
#ifndef INCIPIT_STAND_IN_H
#define INCIPIT_STAND_IN_H
#include "cuda/device.h"
#include "suite.h"

static struct memory stand_in_books;
static struct device *stand_in_device;
static struct kernels stand_in_table;
static inline struct engine inside(const struct engine *e)
{
  struct engine in = *e;
  in.k = device_kernels(stand_in_device);
  return in;
}
static inline void done(void)
{
  char one;
  struct error why = { "" };
  const struct buffers *b = device_memory(stand_in_device);
  b->get(b, &one, &stand_in_books, 1);
  ck_assert_msg(b->working(b, &why), "%s", why.text);
}
#define STAND_IN(name, parameters, arguments) \
  static inline void stand_in_##name parameters \
  { struct engine in = inside(e); in.k->name arguments; done(); }
STAND_IN(linear, (const struct engine *e, const struct matrix *list, size_t n, const float *x, size_t rows,
  float *const *y), (&in, list, n, x, rows, y))
STAND_IN(linear_int8, (const struct engine *e, const struct matrix *list, size_t n, const float *x, size_t rows,
  float *const *y), (&in, list, n, x, rows, y))
STAND_IN(linear_bf16, (const struct engine *e, const struct matrix *list, size_t n, const float *x, size_t rows,
  float *const *y), (&in, list, n, x, rows, y))
STAND_IN(normalize, (const struct engine *e, const struct norm *g, const float *x, size_t rows, size_t d, float *y),
  (&in, g, x, rows, d, y))
STAND_IN(rotate, (const struct engine *e, float *x, size_t rows, size_t n_heads, size_t half, const float *c,
  const float *s), (&in, x, rows, n_heads, half, c, s))
STAND_IN(attend, (const struct engine *e, const struct attention_dims *h, const float *q, const struct segment *list,
  size_t n, float *scratch, float *y, const struct attention_probe *probe), (&in, h, q, list, n, scratch, y, probe))
STAND_IN(activate, (const struct engine *e, enum activation_kind kind, const float *x, const float *up, size_t n,
  float *y), (&in, kind, x, up, n, y))
STAND_IN(add, (const struct engine *e, float *y, const float *x, size_t n), (&in, y, x, n))
STAND_IN(embed, (const struct engine *e, struct tensor table, size_t d, const uint32_t *id, size_t rows, float *y),
  (&in, table, d, id, rows, y))
STAND_IN(angles, (const struct engine *e, const uint32_t *position, size_t rows, const float *frequency, size_t half,
  float scaling, float *c, float *s), (&in, position, rows, frequency, half, scaling, c, s))
STAND_IN(split, (const struct engine *e, const float *x, size_t rows, size_t n, size_t width, float *const *y),
  (&in, x, rows, n, width, y))
STAND_IN(gather, (const struct engine *e, const float *x, size_t d, const size_t *which, size_t n, float *y),
  (&in, x, d, which, n, y))
STAND_IN(write, (const struct engine *e, const struct attention_dims *h, const struct segment *list, size_t n,
  kv_encode *encode, const float *k, const float *v), (&in, h, list, n, encode, k, v))
STAND_IN(mark_nonfinite, (const struct engine *e, const float *x, size_t rows, size_t d, uint32_t mark, uint32_t none,
  uint32_t *first), (&in, x, rows, d, mark, none, first))

/* its table, with the threads of a block in order 0, 1 or 2 */
static inline const struct kernels *stand_in_open(unsigned order)
{
  char name[10];
  struct error why = { "" };
  snprintf(name, sizeof name, "host:%u", order);
  stand_in_device = device_open(&stand_in_books, name, &why);
  ck_assert_msg(stand_in_device != NULL, "%s", why.text);
  struct kernels *k = &stand_in_table;
  *k = *device_kernels(stand_in_device);
  k->name = "the host as a device", k->memory = &buffers_host;
  k->linear = stand_in_linear, k->linear_int8 = stand_in_linear_int8, k->linear_bf16 = stand_in_linear_bf16;
  k->normalize = stand_in_normalize, k->rotate = stand_in_rotate, k->attend = stand_in_attend;
  k->activate = stand_in_activate, k->add = stand_in_add, k->embed = stand_in_embed;
  k->angles = stand_in_angles, k->split = stand_in_split, k->gather = stand_in_gather;
  k->write = stand_in_write, k->mark_nonfinite = stand_in_mark_nonfinite;
  return k;
}
static inline void stand_in_close(void)
{
  device_close(stand_in_device);
  stand_in_device = NULL;
  ck_assert_uint_eq(stand_in_books.all.live, 0);
}
#endif
