/* Chapter 2: every kernel of every table is the oracle, bit for bit, on random shapes; special
 * values; the modes of the caller. */
#define _GNU_SOURCE
#include "blocks.h"
#include "suite.h"
#include "oracle.h"
#include "kernels/kernels.h"
#include "kernels/parts.h"
#include "functions/numbers.h"
#include "stand_in.h"
#include <inttypes.h>
#include <fenv.h>
#include <strings.h>
#include <sys/mman.h>
#include <float.h>
#if defined __x86_64__
#include <xmmintrin.h>
#endif

/* check_tally.c does all of this once more, with the smallest work divided: there a third of what is drawn is enough */
#ifdef TALLIED
enum { SHARE = 3 };
#else
enum { SHARE = 1 };
#endif
enum { MOST = 8 };
static uint64_t seed;
static struct memory books;
static size_t below(size_t n)
{
  return (size_t) (rnd(&seed) % n);
}
static float number(void)
{
  float z = (float) ((double) (int64_t) rnd(&seed) / 9.3e18);
  switch (below(12)) {
  case 0: return z * 1e-20f;
  case 1: return z * 100;
  case 2: return 0.0f * z;
  default: return z;
  }
}
static void *block(size_t n)
{
  void *p = malloc(n + 64);
  ck_assert_ptr_nonnull(p);
  return p;
}
static float *numbers(size_t n)
{
  float *x = block(4 * n);
  for (size_t i = 0; i < n; i++) x[i] = number();
  return x;
}
/* stored numbers at an odd address, to be freed by its base */
static char *stored(enum weight_type type, size_t n, char **base)
{
  *base = block(4 * n + 1);
  char *p = *base + below(2);
  if (type >= WEIGHT_Q8_0) { /* any bytes behind any scales */
    size_t bytes = weight_row_bytes(type, n), one = number_types[type].bytes;
    for (size_t i = 0; i < bytes; i++) p[i] = (char) (unsigned char) below(256);
    for (size_t i = 0; i < bytes; i += one) {
      float size = most_scale(type) * (float) number_types[type].largest;
      put_scale(type, p + i, 32 * number() / size, number());
    }
    return p;
  }
  for (size_t i = 0; i < n; i++) {
    float x = number();
    uint16_t h = type == WEIGHT_F16 ? num_to_f16(x) : num_to_bf16(x);
    if (type == WEIGHT_F32)
      memcpy(p + 4 * i, &x, 4);
    else
      memcpy(p + 2 * i, &h, 2);
  }
  return p;
}
static bool same(const void *a, const void *b, size_t bytes)
{
  return memcmp(a, b, bytes) == 0;
}
/* the same bits, and a NaN is any other NaN (chapter 2): the first of n numbers where that is not so, or n */
static size_t unlike(const float *a, const float *b, size_t n)
{
  size_t i = 0;
  while (i < n && ((a[i] != a[i] && b[i] != b[i]) || same(a + i, b + i, 4))) i++;
  return i;
}
static size_t unlike_doubles(const double *a, const double *b, size_t n)
{
  size_t i = 0;
  while (i < n && ((a[i] != a[i] && b[i] != b[i]) || same(a + i, b + i, 8))) i++;
  return i;
}
#define alike(y, truth, n, ...) \
  do { \
    size_t alike_at = unlike(y, truth, n); \
    if (alike_at < (n)) { \
      char alike_text[300]; \
      snprintf(alike_text, sizeof alike_text, __VA_ARGS__); \
      ck_abort_msg("%s: number %zu is %a, not %a", alike_text, alike_at, (double) (y)[alike_at], \
        (double) (truth)[alike_at]); \
    } \
  } while (0)
/* a palette is a kind of numbers at an edge of the type: those whose products and sums overflow, those that are subnormal
   or lose their last bits there, zeros of both signs, infinities, NaN, any bits at all */
enum { HUGE_ONES, TINY_ONES, ZEROS, INFINITE_ONES, NO_NUMBERS, ANY_BITS, PALETTES };
static float edge_number(unsigned palette)
{
  static const float huge[] = { FLT_MAX, 0x1p127f, 0x1p64f, 1e30f, 1e19f, 0x1.fffffep63f, 65504, 65520, 88.72284f, 104 };
  static const float tiny[] = { 0x1p-149f, 0x1p-126f, 0x1.fffffcp-127f, 0x1p-130f, 0x1p-75f, 1e-30f, 1e-19f, 0x1p-24f, 3.7e-37f, 1e-39f };
  float sign = below(2) ? 1 : -1;
  switch (palette) {
  case HUGE_ONES: return sign * huge[below(sizeof huge / sizeof *huge)];
  case TINY_ONES: return sign * tiny[below(sizeof tiny / sizeof *tiny)];
  case ZEROS: return sign * 0.0f;
  case INFINITE_ONES: return sign * INFINITY;
  case NO_NUMBERS: return sign * num_float(0x7f800000u | 1u << below(23) | (below(2) ? 0 : (uint32_t) rnd(&seed) & 0x7fffffu)); /* in some only a low bit says so */
  default: return num_float((uint32_t) rnd(&seed));
  }
}
/* what an array gets: numbers of some palettes, one in so many */
struct edges { unsigned palettes, one_in; };
static struct edges any_edges(void)
{
  static const unsigned one_in[] = { 1, 2, 10, 100, 1000 };
  return (struct edges){ 1 + (unsigned) below(below(2) ? 7 : 63), one_in[below(5)] };
}
static float edge(const struct edges *e, float otherwise)
{
  if (below(e->one_in) != 0) return otherwise;
  unsigned p = (unsigned) below(PALETTES);
  while ((e->palettes >> p & 1) == 0) p = (p + 1) % PALETTES;
  return edge_number(p);
}
static float *edged(float *x, size_t n)
{
  struct edges e = any_edges();
  for (size_t i = 0; i < n; i++) x[i] = edge(&e, x[i]);
  return x;
}
/* the same for stored numbers; in blocks, scales and minima of any bits */
static char *edged_stored(enum weight_type type, char *p, size_t n)
{
  struct edges e = any_edges();
  for (size_t i = 0; type < WEIGHT_Q8_0 && i < n; i++) {
    float x = edge(&e, NAN);
    uint16_t h = type == WEIGHT_F16 ? num_to_f16(x) : num_to_bf16(x);
    if (x == x || below(20) == 0) memcpy(p + (type == WEIGHT_F32 ? 4 : 2) * i, type == WEIGHT_F32 ? (void *) &x : (void *) &h,
      type == WEIGHT_F32 ? 4 : 2);
  }
  if (type < WEIGHT_Q8_0) return p;
  size_t one = number_types[type].bytes, blocks = n / number_types[type].block;
  for (size_t i = 0; i < blocks; i++)
    for (int half = 0; half < 1 + block_has_min(type); half++) {
      uint16_t h = num_to_f16(edge(&e, 1));
      if (below(4) == 0) h = (uint16_t) rnd(&seed);
      if (below(e.one_in) == 0) memcpy(p + i * one + number_types[type].d_at + 2 * half, &h, 2);
    }
  return p;
}
static struct pool *pools[4];
static void open_pools(void)
{
  seed = suite_seed();
  for (unsigned i = 1; i <= 3; i++) pools[i] = pool_open(&books, i, NULL);
  stand_in_open((unsigned) (seed % 3));
}
static void close_pools(void)
{
  for (unsigned i = 1; i <= 3; i++) pool_close(&books, pools[i]), pools[i] = NULL;
  stand_in_close();
}
/* one random table that this machine can run, with one to three threads; one of them is that of a device */
static struct engine any_engine(void)
{
  size_t n = 0;
  while (kernels_at(n) != NULL) n++;
  const struct kernels *k = kernels_at(below(n + 1));
  struct engine e = { .k = k != NULL ? k : &stand_in_table, .pool = pools[1 + below(3)] };
  return e;
}

/* one that is not a device: it has all types, and prepares weights */
static struct engine host_engine(void)
{
  struct engine e = any_engine();
  if (e.k == &stand_in_table) e.k = kernels_at(0);
  return e;
}

static void one_linear(size_t most_in, size_t most_out, size_t most_rows)
{
  struct engine e = any_engine();
  size_t in = 1 + below(most_in), rows = 1 + below(most_rows), n = 1 + below(3);
  struct matrix list[3];
  float *y[3], *x = numbers(rows * in), *truth;
  char *base[3], *bias[3] = { 0 };
  for (size_t m = 0; m < n; m++) {
    size_t out = 1 + below(most_out);
    enum weight_type type = (enum weight_type) below(3), other = (enum weight_type) below(3);
    list[m] = (struct matrix){ { stored(type, in * out, &base[m]), type }, { NULL, other }, in, out,
      below(2) };
    if (below(2)) list[m].bias.data = stored(other, out, &bias[m]);
    y[m] = numbers(rows * out + 16);
    memset(y[m] + rows * out, 0x5a, 64);
  }
  if (e.pool != pools[2]) /* which has no workspace: the bits are the same */
    ck_assert(pool_reserve(e.pool, e.k->room(list, n, rows), NULL));
  e.k->linear(&e, list, n, x, rows, y);
  for (size_t m = 0; m < n; m++) {
    size_t out = list[m].out;
    truth = numbers(rows * out);
    oracle_linear(list[m].weight.data, list[m].weight.type, list[m].transposed, list[m].bias.data,
      list[m].bias.type, in, out, x, rows, truth);
    ck_assert_msg(same(truth, y[m], 4 * rows * out), "%s: linear [%zu][%zu]->%zu type %d%s",
      e.k->name, rows, in, out, list[m].weight.type, list[m].transposed ? " transposed" : "");
    for (size_t i = 0; i < 64; i++) ck_assert_int_eq(((char *) (y[m] + rows * out))[i], 0x5a);
    free(truth), free(y[m]), free(base[m]), free(bias[m]);
  }
  free(x);
}
START_TEST(linear_is_the_oracle_on_small_shapes)
{
  for (int i = 0; i < 3000; i++) one_linear(70, 40, 7);
}
END_TEST
/* blocks of every type, and inputs of every format; now and then a row with what is no number */
static float hostile(void)
{
  static const float odd[] = { 0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-45f, -1e-40f, 3e38f, -3e38f,
    0x1p-126f, -0x1p-126f, 0x1.8p-76f, -0x1.8p-76f, 0x1p-75f, 1e-30f };
  size_t i = below(1 + sizeof odd / sizeof *odd);
  return i > 0 ? odd[i - 1] : num_float(0x7f800001u); /* NaN by its last bit alone */
}
static void one_format(int i)
{
  struct engine e = any_engine();
  enum weight_type type = i % 8 == 0 ? WEIGHT_BF16 : (enum weight_type) (WEIGHT_Q8_0 + below(N_WEIGHT_TYPES - WEIGHT_Q8_0));
  bool exact = e.k != &stand_in_table || type != WEIGHT_BF16; /* a tensor core has bits of its own */
  if ((e.k->matrix_types >> type & 1) == 0) e.k = kernels_at(0);
  size_t step = number_types[type].block, out = 1 + below(40), rows = 1 + below(7);
  size_t in = step == 1 ? 1 + below(100) : step * (1 + below(step == 32 ? 8 : 3));
  char *base, *bias_base, *w = stored(type, in * out, &base), *bias = stored(WEIGHT_F32, out, &bias_base);
  float *x = numbers(rows * in), *y = numbers(rows * out + 16), *z = numbers(rows * out);
  struct matrix m = { { w, type }, { NULL, WEIGHT_F32 }, in, out, step == 1 && below(2) };
  if (below(2)) m.bias.data = bias;
  for (int j = below(4) ? 0 : 20; j > 0; j--) x[below(rows * in)] = hostile();
  if (below(8) == 0)
    for (size_t j = 0; j < rows * in; j++) x[j] *= below(2) ? 1e-38f : 1e-44f;
  if (type == WEIGHT_BF16 && below(4) == 0)
    for (size_t j = 0; j < in * out; j++) {
      uint16_t h = num_to_bf16(hostile());
      memcpy(w + 2 * j, &h, 2);
    }
  if (step > 1 && below(8) == 0) /* any bits at all in scales as well */
    for (size_t j = 0; j < weight_row_bytes(type, in * out); j++) w[j] = (char) (unsigned char) below(256);
  memset(y + rows * out, 0x5a, 64);
  if (e.pool != pools[2]) ck_assert(pool_reserve(e.pool, e.k->room(&m, 1, rows), NULL));
  for (int format = 0; format < 1 + exact; format++) {
    if (format == 1 && type == WEIGHT_BF16)
      e.k->linear_bf16(&e, &m, 1, x, rows, &y),
      oracle_linear_bf16(w, m.transposed, m.bias.data, ORACLE_F32, in, out, x, rows, z);
    else if (format == 1)
      e.k->linear_int8(&e, &m, 1, x, rows, &y),
      oracle_linear_int8(w, (int) type, m.bias.data, ORACLE_F32, in, out, x, rows, z);
    else
      e.k->linear(&e, &m, 1, x, rows, &y),
      oracle_linear(w, (int) type, m.transposed, m.bias.data, ORACLE_F32, in, out, x, rows, z);
    for (size_t j = 0; j < rows * out; j++)
      ck_assert_msg((y[j] != y[j] && z[j] != z[j]) || same(&y[j], &z[j], 4),
        "%s: %s [%zu][%zu]->%zu of %s: %a, not %a", e.k->name, format ? "rounded" : "float", rows, in,
        out, number_types[type].name, (double) y[j], (double) z[j]);
    for (size_t j = 0; j < 64; j++) ck_assert_int_eq(((char *) (y + rows * out))[j], 0x5a);
  }
  free(base), free(bias_base), free(x), free(y), free(z);
}
/* a sum just below the least normal number: whether it is flushed depends on how it would be rounded */
static void one_tiny_sum(const struct kernels *k, float factor)
{
  struct engine e = { .k = k };
  float x[2] = { factor * -0x1p-76f, 0x1p-63f }, one[2] = { 0x1p-75f, 0x1p-63f }, y, z, *out = &y;
  uint16_t w[2] = { num_to_bf16(one[0]), num_to_bf16(one[1]) };
  struct matrix m = { { w, WEIGHT_BF16 }, { NULL, WEIGHT_F32 }, 2, 1, false };
  k->linear_bf16(&e, &m, 1, x, 1, &out);
  oracle_linear_bf16(w, 0, NULL, 0, 2, 1, x, 1, &z);
  ck_assert_msg(same(&y, &z, 4) && y == (factor <= 1 ? 0x1p-126f : 0), "%s: %a of %a", k->name,
    (double) y, (double) factor);
}
START_TEST(blocks_and_formats_are_the_oracle)
{
  for (size_t k = 0; kernels_at(k) != NULL; k++)
    for (int i = 0; i < 256; i++) one_tiny_sum(kernels_at(k), (float) i / 128);
  for (int i = 0; i < 2000 / SHARE; i++) one_format(i);
}
END_TEST
/* a row that is longer than what a worker rounds on its stack, without a workspace: later pieces go on where the first ended */
START_TEST(a_long_row_goes_on_without_a_workspace)
{
  enum { LONG = 129 * 256, FEW = 43 };
  for (int type = ORACLE_Q8_0; type < N_WEIGHT_TYPES; type++) {
    char *base;
    const void *w = stored((enum weight_type) type, LONG * FEW, &base);
    struct matrix m = { { w, (enum weight_type) type }, { NULL, WEIGHT_F32 }, LONG, FEW, false };
    float *x = numbers(LONG), *y = numbers(FEW), *truth = numbers(FEW);
    oracle_linear_int8(w, type, NULL, 0, LONG, FEW, x, 1, truth);
    for (size_t k = 0; kernels_at(k) != NULL; k++) {
      struct engine e = { .k = kernels_at(k), .activations = ACTIVATIONS_INT8 };
      kernels_multiply(&e, &m, 1, x, 1, &y);
      ck_assert_msg(same(y, truth, 4 * FEW), "%s, %s", e.k->name, number_types[type].name);
    }
    free(base), free(x), free(y), free(truth);
  }
}
END_TEST
/* a list of matrices of many types: each in its own format, whatever was asked for */
START_TEST(each_matrix_has_its_format)
{
  for (int i = 0; i < 300; i++) {
    struct engine e = host_engine();
    struct matrix list[3];
    char *base[3];
    float *x = numbers(2 * 256), *y[3], *z = numbers(2 * 40);
    enum activations asked = e.activations = (enum activations) below(4);
    uint32_t types = 0;
    for (int m = 0; m < 3; m++) {
      enum weight_type type = (enum weight_type) below(N_WEIGHT_TYPES);
      list[m] = (struct matrix){ { stored(type, 256 * 40, &base[m]), type }, { NULL, type }, 256,
        1 + below(40), false };
      y[m] = numbers(2 * 40), types |= 1u << type;
    }
    kernels_multiply(&e, list, 3, x, 2, y);
    bool any = false;
    for (int m = 0; m < 3; m++) {
      int type = (int) list[m].weight.type;
      bool blocks = type >= ORACLE_Q8_0, bytes = blocks && asked != ACTIVATIONS_F32,
           words = type == ORACLE_BF16 && asked == ACTIVATIONS_BF16;
      any |= asked == ACTIVATIONS_INT8 ? blocks : asked == ACTIVATIONS_BF16 ? words : true;
      if (bytes)
        oracle_linear_int8(list[m].weight.data, type, NULL, 0, 256, list[m].out, x, 2, z);
      else if (words)
        oracle_linear_bf16(list[m].weight.data, 0, NULL, 0, 256, list[m].out, x, 2, z);
      else
        oracle_linear(list[m].weight.data, type, 0, NULL, 0, 256, list[m].out, x, 2, z);
      ck_assert_msg(same(y[m], z, 8 * list[m].out), "%s of %s, asked for %d", e.k->name,
        number_types[type].name, (int) asked);
      free(base[m]), free(y[m]);
    }
    struct error why;
    ck_assert(kernels_check_activations(e.k, asked, types, "it", &why) == any);
    if (!any) ck_assert(strstr(why.text, "wanted: matrices of ") != NULL);
    free(x), free(z);
  }
  enum activations f;
  struct error why;
  ck_assert(activations_find("f32", &f, &why) && f == ACTIVATIONS_F32);
  ck_assert(activations_find("bf16", &f, &why) && f == ACTIVATIONS_BF16);
  ck_assert(activations_find("int8", &f, &why) && f == ACTIVATIONS_INT8);
  ck_assert(!activations_find("int", &f, &why) && strstr(why.text, "activations `int'; wanted: f32, bf16 or int8"));
}
END_TEST
/* blocks with rounded inputs, as they lie and in panels, with a workspace and without, by up to eight
 * threads: always what the plain function makes of them. AVX-512 has two pairs of functions, and one
 * machine takes only one of them by itself */
static struct kernels any_blocks(size_t i)
{
  size_t n = 0;
  while (kernels_at(n) != NULL) n++;
  struct kernels k = *kernels_at(1 + i % (n - 1));
#if defined __x86_64__
  if (strcmp(k.name, "avx512") == 0 && below(2))
    k.linear_int8 = blocks_avx512.linear, k.prepare = blocks_avx512.prepare;
#endif
  return k;
}
static void one_in_panels(size_t i, struct pool *pool, size_t most_units, size_t most_out, size_t more_rows)
{
  struct kernels k = any_blocks(i);
  struct engine e = { .k = &k, .pool = pool };
  size_t rows = 1 + below(below(2) ? 4 : 40) + more_rows, in = 256 * (1 + below(most_units)), n = 1 + below(2);
  bool small = below(2);
  if (small) in = 32 * (1 + below(8 * most_units));
  struct matrix list[2];
  const struct matrix *wanted[2] = { &list[0], &list[1] };
  char *base[2], *bias[2] = { 0 };
  float *x = numbers(rows * in), *y[2];
  if (below(4) == 0)
    for (int j = 0; j < 9; j++) x[below(rows * in)] = hostile();
  for (size_t m = 0; m < n; m++) {
    size_t out = 1 + below(most_out);
    enum weight_type type = (enum weight_type) (WEIGHT_Q8_0 + below((small ? WEIGHT_Q4_K : N_WEIGHT_TYPES) - WEIGHT_Q8_0));
    list[m] = (struct matrix){ { stored(type, in * out, &base[m]), type }, { NULL, WEIGHT_F16 }, in, out, false };
    char *w = base[m] + ((const char *) list[m].weight.data - base[m]);
    if (below(8) == 0) /* the largest products there are */
      memset(w, below(2) ? 0x80 : 0xff, weight_row_bytes(type, in * out));
    if (below(2)) list[m].bias.data = stored(WEIGHT_F16, out, &bias[m]);
    y[m] = numbers(rows * out + 16);
    memset(y[m] + rows * out, 0x5a, 64);
  }
  struct error why;
  struct prepared_weights *p = below(2) ? prepared_open(&books, &k, ACTIVATIONS_DEFAULT, NULL, wanted, n, &why) : NULL;
  e.prepared = p;
  if (p != NULL) ck_assert_uint_eq(p->n, n);
  if (below(4)) ck_assert(pool_reserve(pool, k.room(list, n, rows), NULL));
  k.linear_int8(&e, list, n, x, rows, y);
  for (size_t m = 0; m < n; m++) {
    size_t out = list[m].out;
    float *truth = numbers(rows * out);
    plain_linear_int8(&e, &list[m], 1, x, rows, &truth);
    for (size_t j = 0; j < rows * out; j++)
      ck_assert_msg((y[m][j] != y[m][j] && truth[j] != truth[j]) || same(&y[m][j], &truth[j], 4),
        "%s: %s[%zu][%zu]->%zu of %s, row %zu, output %zu: %a, not %a", k.name, p != NULL ? "panels, " : "",
        rows, in, out, number_types[list[m].weight.type].name, j / out, j % out, (double) y[m][j], (double) truth[j]);
    for (size_t j = 0; j < 64; j++) ck_assert_int_eq(((char *) (y[m] + rows * out))[j], 0x5a);
    free(truth), free(y[m]), free(base[m]), free(bias[m]);
  }
  prepared_close(&books, p);
  free(x);
}
START_TEST(blocks_in_panels_are_the_plain_ones)
{
  for (unsigned threads = 1; threads <= 8; threads++) {
    struct pool *pool = pool_open(&books, threads, NULL);
    ck_assert_ptr_nonnull(pool);
    for (size_t i = 0; i < 60; i++) one_in_panels(i, pool, 2, 70, 0);
    pool_close(&books, pool);
  }
  for (size_t i = 0; i < 12; i++) one_in_panels(i, pools[1 + i % 3], 30, 70, 0);
  for (size_t i = 0; i < 16; i++) one_in_panels(i, pools[1 + i % 3], 1, 40, 60 + below(140)); /* a second and a third 96 rows */
}
END_TEST
/* all weights as large as they can be and all inputs 127: the sums of sixteen bits come to their limits */
START_TEST(the_largest_sums_are_exact)
{
  struct pool *pool = pool_open(&books, 2, NULL);
  static const unsigned char fill[] = { 0xff, 0x80, 0x7f, 0 };
  size_t in = 512, out = 40, rows = 7;
  for (size_t i = 0; i < 12; i++)
    for (unsigned type = WEIGHT_Q8_0; type < N_WEIGHT_TYPES; type++)
      for (size_t f = 0; f < sizeof fill; f++) {
        struct kernels k = any_blocks(i);
        struct engine e = { .k = &k, .pool = pool };
        size_t bytes = weight_row_bytes((enum weight_type) type, in * out), size = number_types[type].bytes;
        unsigned char *w = malloc(bytes);
        float *x = numbers(rows * in), *y = numbers(rows * out), *truth = numbers(rows * out);
        memset(w, fill[f], bytes);
        for (size_t j = 0; j < bytes; j += size) put_scale((enum weight_type) type, w + j, 1, 1);
        for (size_t j = 0; j < rows * in; j++) {
          size_t r = j / in % 3;
          x[j] = r == 0 || (r == 2 && below(2)) ? 1 : -1;
        }
        struct matrix m = { { w, (enum weight_type) type }, { NULL, WEIGHT_F16 }, in, out, false };
        const struct matrix *wanted = &m;
        plain_linear_int8(&e, &m, 1, x, rows, &truth);
        for (size_t j = 0; j < rows * out; j++) ck_assert_msg(truth[j] == truth[j], "type %u", type);
        for (int packed = 0; packed < 2; packed++) {
          struct prepared_weights *p = packed ? prepared_open(&books, &k, ACTIVATIONS_DEFAULT, NULL, &wanted, 1, NULL) : NULL;
          e.prepared = p;
          ck_assert(pool_reserve(pool, k.room(&m, 1, rows), NULL));
          k.linear_int8(&e, &m, 1, x, rows, &y);
          ck_assert_msg(same(y, truth, 4 * rows * out), "%s: %s of %02x", k.name, number_types[type].name, fill[f]);
          for (size_t r = 0; r < rows; r++) { /* a row by itself is as it lies in the file */
            float *one = y + r * out;
            k.linear_int8(&e, &m, 1, x + r * in, 1, &one);
          }
          ck_assert_msg(same(y, truth, 4 * rows * out), "%s: %s of %02x, one row", k.name, number_types[type].name, fill[f]);
          prepared_close(&books, p);
        }
        free(w), free(x), free(y), free(truth);
      }
  pool_close(&books, pool);
}
END_TEST
START_TEST(linear_is_the_oracle_on_larger_shapes)
{
  for (int i = 0; i < 40; i++) one_linear(400, 700, 20);
}
END_TEST

/* every number of rows up to two tiles, with as few inputs as may leave lanes without a term, and with more; then more
 * rows than are packed at once. In every table: luck does not decide whether this is tried */
static void packed_linear(const struct kernels *k, size_t in, size_t out, size_t rows, int type, bool transposed)
{
  struct engine e = { .k = k, .pool = pools[1 + below(3)] };
  char *base, *w = stored((enum weight_type) type, in * out, &base);
  float *x = numbers(rows * in), *y = numbers(rows * out), *truth = numbers(rows * out), *bias = numbers(out);
  struct matrix m = { { w, (enum weight_type) type }, { below(2) ? bias : NULL, WEIGHT_F32 }, in, out, transposed };
  ck_assert(pool_reserve(e.pool, e.k->room(&m, 1, rows), NULL));
  e.k->linear(&e, &m, 1, x, rows, &y);
  oracle_linear(w, type, transposed, m.bias.data, ORACLE_F32, in, out, x, rows, truth);
  ck_assert_msg(same(truth, y, 4 * rows * out), "%s: linear [%zu][%zu]->%zu type %d%s", k->name, rows, in,
    out, type, transposed ? " transposed" : "");
  free(base), free(x), free(y), free(truth), free(bias);
}
START_TEST(linear_is_the_oracle_where_panels_are_packed)
{
  for (size_t i = 0; kernels_at(i) != NULL; i++)
    for (int type = 0; type < 3; type++)
      for (int transposed = 0; transposed < 2; transposed++) {
        for (size_t rows = 1; rows <= 26; rows++)
          packed_linear(kernels_at(i), 1 + below(70), 1 + below(70), rows, type, transposed);
        for (size_t in = 1; in <= 34; in++)
          packed_linear(kernels_at(i), in, 1 + below(40), 1 + below(14), type, transposed);
        packed_linear(kernels_at(i), 30 + below(30), 1 + below(40), 510 + below(560), type, transposed);
        for (size_t rows = 1; rows <= 4; rows++) packed_linear(kernels_at(i), 1 + below(20), 513 + below(300), rows, type, transposed);
        packed_linear(kernels_at(i), 1000 + below(3100), 1 + below(40), 1 + below(9), type, transposed);
      }
}
END_TEST

/* what guessed tokens rest on: up to eight rows have the bits that each has alone, without a workspace, in every table and type,
 * as the weights lie and prepared, and with more inputs than go in one piece */
static void few_are_single(const struct kernels *k, enum weight_type type, size_t in, size_t out, bool prepared)
{
  struct engine e = { .k = k, .pool = pools[1 + below(3)] }, alone = { .k = k };
  char *base, *w = stored(type, in * out, &base);
  float *x = numbers(MOST * in), *y = numbers(MOST * out + 16), *z = numbers(MOST * out), *bias = numbers(out);
  struct matrix m = { { w, type }, { below(2) ? bias : NULL, WEIGHT_F32 }, in, out, false };
  const struct matrix *list[] = { &m };
  struct prepared_weights *p = prepared ? prepared_open(&books, k, ACTIVATIONS_DEFAULT, NULL, list, 1, NULL) : NULL;
  e.prepared = p;
  for (size_t r = 0; r < MOST; r++) {
    float *place = z + r * out;
    kernels_multiply(&alone, &m, 1, x + r * in, 1, &place);
  }
  for (size_t rows = 1; rows <= MOST; rows++) {
    memset(y, 0x5a, 4 * (MOST * out + 16));
    ck_assert(pool_reserve(e.pool, k->room(&m, 1, rows), NULL));
    kernels_multiply(&e, &m, 1, x, rows, &y);
    ck_assert_msg(same(y, z, 4 * rows * out), "%s: linear [%zu][%zu]->%zu of %s%s", k->name, rows, in, out,
      number_types[type].name, prepared ? ", prepared" : "");
    for (size_t i = 0; i < 64; i++) ck_assert_int_eq(((char *) (y + rows * out))[i], 0x5a);
  }
  prepared_close(&books, p);
  free(base), free(x), free(y), free(z), free(bias);
}
START_TEST(few_rows_are_single_rows)
{
  for (size_t i = 0; kernels_at(i) != NULL; i++)
    for (int type = 0; type < N_WEIGHT_TYPES; type++)
      for (int prepared = 0; prepared < 2; prepared++) {
        size_t step = (size_t) number_types[type].block;
        few_are_single(kernels_at(i), (enum weight_type) type, step * (1 + below(step > 32 ? 3 : 70)), 1 + below(70), prepared);
        few_are_single(kernels_at(i), (enum weight_type) type, (2060 + below(2100)) / step * step, 1 + below(40), prepared);
      }
}
END_TEST

START_TEST(norms_are_the_oracle)
{
  for (int i = 0; i < 2000; i++) {
    struct engine e = any_engine();
    size_t d = 1 + below(100), rows = 1 + below(6);
    enum weight_type type = (enum weight_type) below(3);
    char *base[2];
    struct tensor gain = { stored(type, d, &base[0]), type },
                  bias = { stored(type, d, &base[1]), type };
    if (below(4) == 0) gain.data = NULL;
    if (below(2) == 0) bias.data = NULL;
    struct norm g = { below(2) ? NORM_RMS : NORM_LAYER, gain, bias, 1e-5f };
    float *x = numbers(rows * d), *y = numbers(rows * d), *truth = numbers(rows * d);
    if (g.kind == NORM_RMS)
      oracle_rmsnorm(x, rows, d, gain.data, type, 1e-5f, truth);
    else
      oracle_layernorm(x, rows, d, gain.data, bias.data, type, 1e-5f, truth);
    e.k->normalize(&e, &g, x, rows, d, y);
    ck_assert_msg(same(y, truth, 4 * rows * d), "%s: norm %d of %zu", e.k->name, g.kind, d);
    e.k->normalize(&e, &g, x, rows, d, x);
    ck_assert(same(x, truth, 4 * rows * d));
    free(x), free(y), free(truth), free(base[0]), free(base[1]);
  }
}
END_TEST

START_TEST(rotation_is_the_oracle)
{
  for (int i = 0; i < 1000; i++) {
    struct engine e = any_engine();
    size_t rows = 1 + below(5), heads = 1 + below(5), half = 1 + below(40);
    uint32_t position[5];
    float *frequency = block(4 * half), *x = numbers(rows * heads * 2 * half),
          *truth = block(4 * rows * heads * 2 * half);
    float *c = block(4 * rows * half), *s = block(4 * rows * half),
          scaling = below(2) ? 1.0f : 1.1386f;
    for (size_t r = 0; r < rows; r++)
      position[r] = (uint32_t) (below(2) ? below(3000) : below(10000000));
    for (size_t j = 0; j < half; j++)
      frequency[j] = (float) pow(10000, -(double) j / (double) half);
    memcpy(truth, x, 4 * rows * heads * 2 * half);
    oracle_rope(truth, rows, heads, half, position, frequency, scaling);
    e.k->angles(&e, position, rows, frequency, half, scaling, c, s);
    e.k->rotate(&e, x, rows, heads, half, c, s);
    ck_assert_msg(same(x, truth, 4 * rows * heads * 2 * half), "%s: rotation", e.k->name);
    free(frequency), free(x), free(truth), free(c), free(s);
  }
}
END_TEST

/* number i becomes x, and in blocks the block of number i 32 times x */
static void put_one(enum weight_type type, char *p, size_t i, float x)
{
  uint16_t h = type == WEIGHT_BF16 ? num_to_bf16(x) : num_to_f16(x);
  size_t size = number_types[type].bytes, block = number_types[type].block;
  p += i / block * size;
  if (type == WEIGHT_F32)
    memcpy(p, &x, 4);
  else
    memcpy(p, &h, 2);
  if (block > 1) memset(p + 2, type == WEIGHT_Q8_0 ? 1 : 0x99, size - 2);
}
/* rows of a cache, one after the other or in shuffled pages with rubbish (not numbers) in all other
 * places */
static void one_attention(size_t most_dim, size_t most_end, bool odd)
{
  struct engine e = any_engine();
  bool wide = most_end < 256 && below(20) == 0; /* groups that do not divide a unit, and such as are larger */
  uint32_t kv = 1 + (uint32_t) below(wide ? 2 : 3), group = 1 + (uint32_t) below(wide ? 60 : 3),
           d = below(4) == 0 ? 8 : 1 + (uint32_t) below(most_dim); /* a loop of its own */
  struct attention_dims h = { kv * group, kv, d, 1 / sqrtf((float) d) };
  enum weight_type type = (enum weight_type) below(5);
  if (type >= WEIGHT_Q8_0)
    d = (d + WEIGHT_BLOCK - 1) / WEIGHT_BLOCK * WEIGHT_BLOCK, h.head_dim = d,
    h.scale = 1 / sqrtf((float) d);
  size_t rows = 1 + below(5), end = 1 + below(most_end), width = kv * d,
         bytes = weight_row_bytes(type, width), max_len = 0;
  uint32_t lo[5], hi[5], sinks[5], start = (uint32_t) below(end),
    window = below(2) ? 0 : 1 + (uint32_t) below(below(2) || end < 6 ? end : 6), few = below(2) ? 0 : below(4) == 0 ? 256 : (uint32_t) below(9);
  bool run = below(2) && start + rows <= end; /* the rows follow each other: one segment, or two */
  size_t page[64];
  const char *address[64];
  char *base[2];
  for (size_t r = 0; r < rows; r++) {
    hi[r] = 1 + (uint32_t) below(end);
    lo[r] = below(2) ? 0 : (uint32_t) below(hi[r]);
    sinks[r] = lo[r] > 0 && below(2) ? (uint32_t) below(below(2) ? lo[r] + 1
                   : lo[r] < 9                                   ? lo[r]
                                                                 : 9)
                                     : 0;
    if (sinks[r] > 0 && lo[r] > 256 && below(2)) sinks[r] = 256; /* they end with a block */
    if (run) { /* what follows from the place in a run, by the rule and not by segment_range */
      hi[r] = start + 1 + (uint32_t) r;
      lo[r] = window > 0 && hi[r] > window ? hi[r] - window : 0;
      sinks[r] = few < lo[r] ? few : 0;
      if (few >= lo[r]) lo[r] = 0;
    }
    if (hi[r] > max_len)
      max_len = hi[r]; /* the room of a view with a hole is that of one without */
  }
  char *k = stored(type, end * width, &base[0]), *v = stored(type, end * width, &base[1]);
  if (type == WEIGHT_F32 && below(3) == 0) { /* a value that would spoil whatever row does not see it and counts it with a zero */
    float infinite = INFINITY;
    memcpy(v + 4 * below(end * width), &infinite, 4);
  }
  if (odd) /* whole blocks of keys whose scores may all be -inf or +inf, and single numbers */
    for (size_t b = 0; b < end; b += 256) {
      float x = below(2) ? 60000 : -60000;
      size_t from = b * width, to = (end - b < 256 ? end : b + 256) * width;
      for (size_t i = below(2) ? from : to; i < to; i++)
        put_one(type, k, i, x);
      if (below(4) == 0) edged_stored(type, k + weight_row_bytes(type, from), to - from);
      if (below(4) == 0) edged_stored(type, v + weight_row_bytes(type, from), to - from);
    }
  size_t page_rows = (size_t) 1 << below(9), pages = (end + page_rows - 1) / page_rows;
  size_t beside = 2 * pages * page_rows * bytes; /* from the keys of a page to its values */
  char *paged[1] = { block(2 * beside) };
  bool use_pages = below(2) && pages <= 64, by_head = use_pages && below(2);
  size_t one = weight_row_bytes(type, d), row_stride = by_head ? one : bytes,
         head_bytes = by_head ? page_rows * one : one;
  memset(paged[0], 0xff, 2 * beside);
  for (size_t p = 0; use_pages && p < pages; p++) {
    page[p] = 2 * pages - 1 - 2 * p;
    address[p] = paged[0] + page[p] * page_rows * bytes;
    for (size_t t = p * page_rows; t < end && t < (p + 1) * page_rows; t++)
      for (size_t g = 0; g < kv; g++) {
        size_t to = page[p] * page_rows * bytes + g * head_bytes + t % page_rows * row_stride;
        memcpy(paged[0] + to, k + t * bytes + g * one, one),
          memcpy(paged[0] + beside + to, v + t * bytes + g * one, one);
      }
  }
  struct segment seen[5];
  struct kv_view view = { use_pages ? 0 : (uintptr_t) k, use_pages ? beside : (uintptr_t) v,
    use_pages ? address : NULL, page_rows, row_stride, head_bytes, type, few };
  size_t n = 0, cut = below(rows + 1);
  for (size_t r = 0; r < rows; r++)
    if (run && r != 0 && r != cut)
      seen[n - 1].n_rows++;
    else
      seen[n++] = (struct segment){ view, (uint32_t) r, 1, hi[r] - 1,
        run            ? window
          : lo[r] > 0 ? hi[r] - lo[r]
                      : 0 };
  for (size_t r = 0; !run && r < rows; r++) seen[r].view.sinks = sinks[r];
  for (size_t r = n - 1; r > 0; r--) { /* in any order */
    size_t other = below(r + 1);
    struct segment s = seen[r];
    seen[r] = seen[other], seen[other] = s;
  }
  float *q = numbers(rows * h.n_heads * d), *y = numbers(rows * h.n_heads * d),
        *truth = numbers(rows * h.n_heads * d);
  float *scratch = numbers(3 * kernels_scratch(&h, max_len)), *w = numbers(rows * h.n_heads * end),
        *v2 = numbers(rows * h.n_heads * end);
  struct attention_probe keep = { w, end };
  bool kept = below(2);
  /* steep scores leave one position, mild ones make every block and every rounding of the join
   * count */
  static const float steep[] = { 3e-4f, 5e-3f, 0.1f, 8 }; /* many a number is large: 3e-4 is mild */
  float times = steep[below(4)];
  for (size_t i = 0; i < rows * h.n_heads * d; i++) q[i] *= times;
  if (odd)
    for (size_t i = 0; i < rows * h.n_heads; i++) { /* one sign in a head, so that the terms of a score overflow to one side */
      if (below(2) == 0) continue;
      float big = below(2) ? 3e37f : -3e37f;
      for (size_t c = 0; c < d; c++) q[i * d + c] = big;
    }
  if (odd && below(3) == 0) edged(q, rows * h.n_heads * d);
  /* a score of its own for each head: mild, far above or far below all others, or none */
  char *drain_base;
  enum weight_type drain_type = (enum weight_type) below(3);
  char *drain = stored(drain_type, h.n_heads, &drain_base);
  float *drains = numbers(h.n_heads);
  for (size_t i = 0; i < h.n_heads; i++) {
    static const float far[] = { 90, -90, 0, 0x1p100f, -0x1p100f };
    if (below(2)) put_one(drain_type, drain, i, below(6) == 0 && odd ? -INFINITY : far[below(5)]);
    drains[i] = tensor_number((struct tensor){ drain, drain_type }, i);
  }
  bool drained = e.k != &stand_in_table && below(2); /* a device refuses such models */
  if (drained) h.sink = (struct tensor){ drain, drain_type };
  oracle_attention(q, rows, h.n_heads, kv, d, h.scale, k, v, type, lo, hi, sinks, drained ? drains : NULL, truth, v2, end);
  if (below(4)) ck_assert(pool_reserve(e.pool, e.k->attention_room(&h, rows, max_len), NULL));
  e.k->attend(&e, &h, q, seen, n, scratch, y, kept ? &keep : NULL);
  alike(y, truth, rows * h.n_heads * d,
    "%s: attention %zu rows, %u/%u heads of %u, %zu positions, type %d, %u sinks%s", e.k->name,
    rows, h.n_heads, kv, d, end, type, sinks[0], use_pages ? ", pages" : "");
  if (kept) alike(w, v2, rows * h.n_heads * end, "%s: weights", e.k->name);
  free(base[0]), free(base[1]), free(paged[0]), free(q), free(y), free(truth),
    free(scratch), free(w), free(v2), free(drain_base), free(drains);
}
START_TEST(attention_is_the_oracle_within_a_block)
{
  for (int i = 0; i < 1500; i++) one_attention(90, 70, false);
}
END_TEST
START_TEST(attention_is_the_oracle_across_blocks)
{
  for (int i = 0; i < 150; i++) one_attention(70, 1100, false);
}
END_TEST

/* scores that overflow, whole blocks of them, infinite values, what is no number: in every type of cache, few rows and many */
START_TEST(attention_at_the_edges_is_the_oracle)
{
  for (int i = 0; i < 1000 / SHARE; i++) one_attention(90, 70, true);
  for (int i = 0; i < 400 / SHARE; i++) one_attention(70, 1100, true);
}
END_TEST
/* one block of scores -inf and one of 0: the first weighs nothing, in whatever way a table goes through the positions */
static void infinite_blocks(struct engine e, enum weight_type type, size_t d, uint32_t rows, bool room, int probe)
{
  enum { END = 600, HEADS = 2 };
  struct attention_dims h = { HEADS, 1, (uint32_t) d, 1 };
  size_t bytes = weight_row_bytes(type, d);
  char *k = block(END * bytes), *v = block(END * bytes);
  float *q = numbers(rows * HEADS * d), *y = numbers(rows * HEADS * d), *w = numbers(rows * HEADS * END),
        *scratch = numbers(3 * kernels_scratch(&h, END));
  struct attention_probe keep = { w, END };
  memset(k, 0, END * bytes);
  for (size_t i = 0; i < END * d; i++) {
    if (i / d < 256) put_one(type, k, i, -60000);
    put_one(type, v, i, 1);
  }
  for (size_t i = 0; i < rows * HEADS * d; i++) q[i] = 3e38f;
  struct segment s = { { .key = (uintptr_t) k, .value = (uintptr_t) v, .row_bytes = bytes, .head_bytes = bytes, .type = type },
    0, rows, 0, 0 };
  if (room) ck_assert(pool_reserve(e.pool, e.k->attention_room(&h, rows, END), NULL));
  for (uint32_t first = 250 - rows; first < END - rows; first += 256) {
    s.first_position = first;
    e.k->attend(&e, &h, q, &s, 1, scratch, y, probe ? &keep : NULL);
    for (uint32_t i = 0; i < rows * HEADS; i++) {
      uint32_t at = first + i / HEADS;
      for (size_t c = 0; c < d; c++)
        ck_assert_msg(at < 256 ? y[i * d + c] != y[i * d + c] : y[i * d + c] == 1, "%s: type %d, %u rows of %zu, position %u: %g", e.k->name,
          (int) type, rows, d, at, (double) y[i * d + c]);
      for (uint32_t t = 0; probe && at >= 256 && t < END; t++)
        ck_assert_msg(t < 256 || t > at ? same(&w[i * END + t], &(float){ 0 }, 4) : w[i * END + t] > 0, "%s: the weight of %u is %g", e.k->name, t,
          (double) w[i * END + t]);
    }
  }
  free(k), free(v), free(q), free(y), free(w), free(scratch);
}
static const struct kernels *table_at(size_t i)
{
  size_t n = 0;
  while (kernels_at(n) != NULL) n++;
  return i < n ? kernels_at(i) : i == n ? &stand_in_table : NULL;
}
/* rows of one segment with every small window: in a tile the last may begin where the first ends, or just after */
START_TEST(every_window_in_a_tile)
{
  enum { D = 20, END = 40, ROWS = 16 };
  for (size_t table = 0; table_at(table) != NULL; table++)
    for (uint32_t window = 1; window <= ROWS; window++)
      for (uint32_t rows = 1; rows <= ROWS; rows++) {
        struct engine e = { .k = table_at(table), .pool = pools[1] };
        struct attention_dims h = { 2, 1 + (uint32_t) below(2), D, 0.3f };
        uint32_t lo[ROWS], hi[ROWS], none[ROWS] = { 0 };
        size_t width = h.n_kv_heads * D;
        float *k = numbers(END * width), *v = numbers(END * width), *q = numbers(rows * 2 * D), *y = numbers(rows * 2 * D),
              *truth = numbers(rows * 2 * D), *scratch = numbers(kernels_scratch(&h, END));
        struct segment s = { { .key = (uintptr_t) k, .value = (uintptr_t) v, .row_bytes = 4 * width, .head_bytes = 4 * D, .type = WEIGHT_F32 },
          0, rows, 1 + (uint32_t) below(END - ROWS), window };
        for (uint32_t r = 0; r < rows; r++) hi[r] = s.first_position + r + 1, lo[r] = hi[r] > window ? hi[r] - window : 0;
        oracle_attention(q, rows, 2, h.n_kv_heads, D, h.scale, k, v, ORACLE_F32, lo, hi, none, NULL, truth, NULL, 0);
        ck_assert(pool_reserve(e.pool, e.k->attention_room(&h, rows, END), NULL));
        e.k->attend(&e, &h, q, &s, 1, scratch, y, NULL);
        alike(y, truth, rows * 2 * D, "%s: %u rows with a window of %u", e.k->name, rows, window);
        free(k), free(v), free(q), free(y), free(truth), free(scratch);
      }
}
END_TEST
/* a block between the sinks and the window is left out, and not joined with a weight of 0: that would make +0 of -0 */
START_TEST(a_block_that_is_not_seen_leaves_no_sign)
{
  enum { END = 600, D = 8 };
  for (size_t table = 0; table == 0 || kernels_at(table - 1) != NULL; table++) {
    struct engine e = { .k = kernels_at(table) != NULL ? kernels_at(table) : &stand_in_table, .pool = pools[1] };
    struct attention_dims h = { 1, 1, D, 1 };
    float *k = numbers(END * D), *v = numbers(END * D), q[D] = { 1 }, y[D], *scratch = numbers(kernels_scratch(&h, END));
    static const struct { int at; float key, value; } seen[] = { { 0, -1, -0x1p-149f }, { END - 2, -5, -0x1p-149f }, { END - 1, 0, -0.0f } };
    for (int i = 0; i < 3; i++)
      for (int c = 0; c < D; c++) k[seen[i].at * D + c] = seen[i].key, v[seen[i].at * D + c] = seen[i].value;
    struct segment s = { { .key = (uintptr_t) k, .value = (uintptr_t) v, .row_bytes = 4 * D, .head_bytes = 4 * D, .type = WEIGHT_F32, .sinks = 1 },
      0, 1, END - 1, 2 };
    e.k->attend(&e, &h, q, &s, 1, scratch, y, NULL);
    for (int c = 0; c < D; c++) ck_assert_msg(y[c] == 0 && signbit(y[c]), "%s: %a", e.k->name, (double) y[c]);
    uint32_t lo = END - 2, hi = END, sinks = s.view.sinks = 256; /* sinks that end with a block */
    float truth[D];
    oracle_attention(q, 1, 1, 1, D, 1, k, v, ORACLE_F32, &lo, &hi, &sinks, NULL, truth, NULL, 0);
    e.k->attend(&e, &h, q, &s, 1, scratch, y, NULL);
    alike(y, truth, D, "%s: 256 sinks", e.k->name);
    free(k), free(v), free(scratch);
  }
}
END_TEST
START_TEST(a_block_of_infinite_scores_weighs_nothing)
{
  for (size_t table = 0; table == 0 || kernels_at(table - 1) != NULL; table++)
    for (int type = WEIGHT_F32; type <= WEIGHT_Q4_0; type++)
      for (int kind = 0; kind < 8; kind++) {
        const struct kernels *k = kernels_at(table) != NULL ? kernels_at(table) : &stand_in_table;
        struct engine e = { .k = k, .pool = pools[1 + below(3)] };
        infinite_blocks(e, (enum weight_type) type, type < WEIGHT_Q8_0 ? 8 : 32, kind & 1 ? 9 : 1, kind & 2, kind & 4);
      }
}
END_TEST
/* what is moved arrives, and a number that is not finite is found wherever it is in a row */
START_TEST(rows_are_moved_and_looked_at)
{
  for (int i = 0; i < 1000; i++) {
    struct engine e = any_engine();
    size_t d = 1 + below(50), rows = 1 + below(5), bad = below(rows), at = below(d), which[3];
    float *x = numbers(rows * 3 * d), *part[3], *few = numbers(3 * d);
    uint32_t first[5] = { 9, 9, 9, 9, 9 };
    for (int k = 0; k < 3; k++) part[k] = numbers(rows * d), which[k] = below(3 * rows);
    e.k->split(&e, x, rows, 3, d, part);
    e.k->gather(&e, x, d, which, 3, few);
    for (int k = 0; k < 3; k++) {
      ck_assert(same(few + (size_t) k * d, x + which[k] * d, 4 * d));
      for (size_t r = 0; r < rows; r++)
        ck_assert(same(part[k] + r * d, x + (3 * r + (size_t) k) * d, 4 * d));
    }
    x[bad * d + at] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
    if (i % 2) first[bad] = 3; /* marked before: the first mark stays */
    e.k->mark_nonfinite(&e, x, rows, d, 7, 9, first);
    for (size_t r = 0; r < 5; r++)
      ck_assert_uint_eq(first[r], r != bad ? 9 : i % 2 ? 3 : 7);
    free(x), free(few);
    for (int k = 0; k < 3; k++) free(part[k]);
  }
}
END_TEST

START_TEST(activations_are_the_oracle)
{
  void (*truths[3])(const float *, size_t, float *) = { [ACTIVATION_GELU_TANH] = oracle_gelu_tanh,
    [ACTIVATION_GELU_ERF] = oracle_gelu_erf,
    [ACTIVATION_SILU] = oracle_silu };
  for (int i = 0; i < 2000; i++) {
    struct engine e = any_engine();
    size_t n = 1 + below(200);
    enum activation_kind kind = (enum activation_kind) below(3);
    float *x = numbers(n), *up = numbers(n), *y = numbers(n), *truth = numbers(n);
    for (size_t j = 0; j < n; j++) x[j] *= below(2) ? 8 : 1;
    truths[kind](x, n, truth);
    bool twice = below(2);
    if (twice)
      for (size_t j = 0; j < n; j++) truth[j] = truth[j] * up[j];
    e.k->activate(&e, kind, x, twice ? up : NULL, n, y);
    ck_assert_msg(same(y, truth, 4 * n), "%s: activation %d", e.k->name, kind);
    e.k->activate(&e, kind, x, twice ? up : NULL, n, x);
    ck_assert(same(x, truth, 4 * n));
    memcpy(truth, y, 4 * n);
    for (size_t j = 0; j < n; j++) truth[j] = truth[j] + up[j];
    e.k->add(&e, y, up, n);
    ck_assert(same(y, truth, 4 * n));
    free(x), free(up), free(y), free(truth);
  }
}
END_TEST

START_TEST(probabilities_are_the_oracle)
{
  for (int i = 0; i < 1000; i++) {
    struct engine e = any_engine();
    size_t n = 1 + below(i % 50 == 0 ? 5000 : 100), rows = 1 + below(4);
    float *x = numbers(rows * n);
    double *y = block(8 * rows * n), *truth = block(8 * rows * n), sum = 0;
    for (size_t j = 0; j < rows * n; j++) x[j] *= 15;
    for (size_t r = 0; r < rows; r++) oracle_softmax(x + r * n, n, truth + r * n);
    e.k->softmax(&e, x, rows, n, y);
    ck_assert_msg(same(y, truth, 8 * rows * n), "%s: softmax of %zu", e.k->name, n);
    for (size_t j = 0; j < n; j++) sum += y[j];
    ck_assert_double_eq_tol(sum, 1, 1e-14);
    for (size_t r = 0; r < rows; r++) oracle_log_softmax(x + r * n, n, truth + r * n);
    e.k->log_softmax(&e, x, rows, n, y);
    ck_assert_msg(same(y, truth, 8 * rows * n), "%s: log-softmax of %zu", e.k->name, n);
    free(x), free(y), free(truth);
  }
}
END_TEST

START_TEST(embedding_widens_exactly)
{
  for (int i = 0; i < 300; i++) {
    struct engine e = any_engine();
    size_t d = 1 + below(50), vocab = 1 + below(30), rows = 1 + below(6);
    enum weight_type type = (enum weight_type) below(N_WEIGHT_TYPES);
    if ((e.k->matrix_types >> type & 1) == 0) e.k = kernels_at(0);
    if (number_types[type].block > 1) d = number_types[type].block * (1 + below(3));
    char *base, *t = stored(type, d * vocab, &base);
    uint32_t id[6];
    float *y = numbers(rows * d);
    for (size_t r = 0; r < rows; r++) id[r] = (uint32_t) below(vocab);
    e.k->embed(&e, (struct tensor){ t, type }, d, id, rows, y);
    for (size_t r = 0; r < rows; r++)
      for (size_t j = 0; j < d; j++) {
        float x = oracle_number(t, type, id[r] * d + j);
        ck_assert(same(&x, &y[r * d + j], 4));
      }
    free(base), free(y);
  }
  for (unsigned h = 0; h < 65536; h++) { /* and all there are */
    uint16_t u = (uint16_t) h;
    float a = num_from_f16(u), b = oracle_number(&u, ORACLE_F16, 0), c = num_from_bf16(u),
          d = oracle_number(&u, ORACLE_BF16, 0);
    ck_assert((a != a && b != b) || same(&a, &b, 4));
    ck_assert((c != c && d != d) || same(&c, &d, 4));
    ck_assert(a != a || num_to_f16(a) == u);
    ck_assert(c != c || num_to_bf16(c) == u);
    for (size_t i = 0; kernels_at(i) != NULL;
         i++) { /* through the registers, where there are 16 and more at once */
      struct engine e = { .k = kernels_at(i) };
      uint16_t w[16 * 16];
      float x[16] = { 0 }, y[16], *out = y;
      if (h % 16 != 0) continue;
      for (unsigned o = 0; o < 16; o++)
        for (unsigned k = 0; k < 16; k++) w[16 * o + k] = k == o ? (uint16_t) (h + o) : 0;
      for (int t = WEIGHT_F16; t <= WEIGHT_BF16; t++) {
        struct matrix m = { { w, (enum weight_type) t }, { NULL, WEIGHT_F32 }, 16, 16, false };
        for (unsigned k = 0; k < 16; k++) x[k] = 1;
        e.k->linear(&e, &m, 1, x, 1, &out);
        for (unsigned o = 0; o < 16; o++) {
          float z = oracle_number(&w[17 * o], t, 0) + 0.0f;
          ck_assert((z != z && y[o] != y[o]) || z == y[o]);
        }
      }
    }
  }
}
END_TEST

/* inputs in bfloat16, as the weights lie and in panels, with a workspace and without: what the plain function makes of them */
static void one_of_pairs(size_t most_in, size_t most_out, size_t most_rows)
{
  struct engine e = host_engine();
  struct error why;
  size_t in = 1 + below(most_in), rows = 1 + below(most_rows), n = 1 + below(6);
  bool odd_one = below(8) == 0;
  if (below(8)) in += in % 2;
  struct matrix list[6];
  const struct matrix *wanted[6];
  char *base[6], *bias[6] = { 0 };
  float *x = numbers(rows * in), *y[6], *truth[6];
  for (size_t j = below(4) ? 0 : 9; j > 0; j--) x[below(rows * in)] = hostile();
  for (size_t m = 0; m < n; m++) {
    size_t out = 1 + below(most_out);
    list[m] = (struct matrix){ { stored(WEIGHT_BF16, in * out, &base[m]), WEIGHT_BF16 }, { NULL, WEIGHT_F32 },
      in, out, odd_one && below(2) };
    if (below(2)) list[m].bias.data = stored(WEIGHT_F32, out, &bias[m]);
    y[m] = numbers(rows * out + 16), truth[m] = numbers(rows * out), wanted[m] = &list[m];
    memset(y[m] + rows * out, 0x5a, 64);
  }
  struct prepared_weights *p = below(2) ? prepared_open(&books, e.k, ACTIVATIONS_BF16, NULL, wanted, n, &why) : NULL;
  e.prepared = p, e.activations = ACTIVATIONS_BF16;
  if (e.pool != pools[2]) ck_assert(pool_reserve(e.pool, e.k->room(list, n, rows), NULL));
  plain_linear_bf16(&e, list, n, x, rows, truth);
  e.k->linear_bf16(&e, list, n, x, rows, y);
  for (size_t m = 0; m < n; m++) {
    size_t out = list[m].out;
    for (size_t j = 0; j < rows * out; j++)
      ck_assert_msg((y[m][j] != y[m][j] && truth[m][j] != truth[m][j]) || same(&y[m][j], &truth[m][j], 4),
        "%s: %s[%zu][%zu]->%zu, row %zu, output %zu: %a, not %a", e.k->name, p != NULL ? "panels, " : "", rows, in,
        out, j / out, j % out, (double) y[m][j], (double) truth[m][j]);
    for (size_t j = 0; j < 64; j++) ck_assert_int_eq(((char *) (y[m] + rows * out))[j], 0x5a);
    free(truth[m]), free(y[m]), free(base[m]), free(bias[m]);
  }
  prepared_close(&books, p);
  free(x);
}
START_TEST(pairs_are_the_plain_ones)
{
  for (int i = 0; i < 600 / SHARE; i++) one_of_pairs(90, 80, 30);
  for (int i = 0; i < 12; i++) one_of_pairs(4100, 40, 6);
  for (int i = 0; i < 6; i++) one_of_pairs(40, 8, 1100);
}
END_TEST
/* prepared weights: the same bits with them and without, for every table, shape, number of rows and of
   workers; none for what a table does not prepare, nor for another table */
static void prepared_linear(size_t in, size_t out, size_t rows, bool transposed, enum weight_type type)
{
  struct engine e = host_engine();
  struct error why;
  char *base, *bias_base, *w = stored(type, in * out, &base),
                          *bias = stored(WEIGHT_F32, out, &bias_base);
  struct matrix m = { .weight = { w, type }, .in = in, .out = out, .transposed = transposed };
  const struct matrix *list[] = { &m };
  if (below(2)) m.bias = (struct tensor){ bias, WEIGHT_F32 };
  float *x = numbers(in * rows), *y = numbers(out * rows), *z = numbers(out * rows);
  for (size_t i = 0; i < in * rows; i++)
    if (below(50) == 0) x[i] = below(2) ? -0.0f : 0.0f;
  struct memory own = { 0 };
  struct prepared_weights *p = prepared_open(&own, e.k, ACTIVATIONS_DEFAULT, NULL, list, 1, &why);
  bool wanted = e.k != &kernels_plain;
  if (below(2)) ck_assert(pool_reserve(e.pool, e.k->room(&m, 1, rows), NULL));
  ck_assert(p != NULL && p->n == wanted && (e.k->prepared_bytes(&m, ACTIVATIONS_F32) > 0) == wanted);
  e.k->linear(&e, &m, 1, x, rows, &y);
  e.prepared = p;
  ck_assert((prepared_find(&e, &m) != NULL) == wanted);
  if (wanted) memset(w, 0x7f, weight_row_bytes(type, in * out)); /* and nothing but the copy is read */
  e.k->linear(&e, &m, 1, x, rows, &z);
  ck_assert(same(y, z, 4 * out * rows));
  struct kernels other = *e.k;
  e.k = &other;
  ck_assert_ptr_null(prepared_find(&e, &m));
  prepared_close(&own, p);
  ck_assert_uint_eq(own.all.live, 0);
  free(base), free(bias_base), free(x), free(y), free(z);
}
START_TEST(prepared_weights_give_the_same_bits)
{
  for (int i = 0; i < 400; i++)
    prepared_linear(1 + below(90), 1 + below(140), 1 + below(30), below(2), (enum weight_type) below(3));
  for (int i = 0; i < 12; i++)
    prepared_linear(1000 + below(1200), 1 + below(100), 1 + below(8), below(2), (enum weight_type) below(3));
  struct memory own = { 0 };
  struct error why;
  float *w = numbers(3 * 40 * 40);
  struct matrix m[3];
  const struct matrix *list[] = { &m[1], &m[2], &m[0] };
  for (int i = 0; i < 3; i++)
    m[i] = (struct matrix){
      .weight = { w + i * 1600, WEIGHT_F32 }, .in = 40, .out = 40, .transposed = true };
  struct prepared_weights *p = NULL;
  uint64_t refused = 0;
  while (p == NULL) {
    ck_assert_uint_eq(own.all.live, 0);
    own.fail_at = own.all.requests + ++refused;
    p = prepared_open(&own, kernels_at(1), ACTIVATIONS_DEFAULT, NULL, list, 3, &why);
  }
  ck_assert_uint_eq(refused, 6); /* five requests */
  struct engine e = { .k = kernels_at(1), .prepared = p };
  for (int i = 0; i < 3; i++) {
    ck_assert_ptr_nonnull(prepared_find(&e, &m[i]));
    for (int j = 0; j < i; j++)
      ck_assert_ptr_ne(prepared_find(&e, &m[i]), prepared_find(&e, &m[j]));
  }
  e.activations = ACTIVATIONS_BF16; /* the copies are for other inputs */
  for (int i = 0; i < 3; i++) ck_assert_ptr_null(prepared_find(&e, &m[i]));
  prepared_close(&own, p), prepared_close(&own, NULL);
  ck_assert_uint_eq(own.all.live, 0);
  own.fail_at = 0, list[1] = &m[1]; /* a matrix that is there twice, as a head that is the embedding, is copied once */
  p = prepared_open(&own, kernels_at(1), ACTIVATIONS_DEFAULT, NULL, list, 3, &why);
  ck_assert(p != NULL && p->n == 2);
  prepared_close(&own, p);
  ck_assert_uint_eq(own.all.live, 0);
  free(w);
}
END_TEST

/* what one fact of a row says of another: a fact that was left out is 0, and fits the others nowhere */
_Static_assert((int) N_ORACLE_TYPES == (int) N_WEIGHT_TYPES, "the oracle knows every type");
START_TEST(every_row_agrees_with_itself)
{
  for (unsigned i = 0; i < N_NUMBER_TYPES; i++)
    for (unsigned j = 0; j < i; j++)
      ck_assert_msg(number_types[i].gguf == NOT_IN_GGUF || number_types[i].gguf != number_types[j].gguf, "%s has the number of %s", number_types[i].name, number_types[j].name);
  for (unsigned i = N_WEIGHT_TYPES; i < N_NUMBER_TYPES; i++)
    ck_assert_msg(number_types[i].word == NULL && number_types[i].bits == 0, "%s is counted as one that is only listed", number_types[i].name);
  for (unsigned i = 0; i < N_WEIGHT_TYPES; i++) {
    const struct number_type *t = &number_types[i];
    unsigned bits = t->bits, centre = 1u << (bits - 1) % 32;
    ck_assert(t->name != NULL && t->word != NULL);
    ck_assert_msg(strcasecmp(t->word, t->name) == 0 && strpbrk(t->word, "FBQK") == NULL, "%s: %s", t->name, t->word);
    ck_assert_msg(t->gguf != NOT_IN_GGUF && (WEIGHTS_IN_BLOCKS >> i & 1) == (t->block > 1), "%s", t->name);
    for (unsigned j = 0; j < i; j++)
      ck_assert_msg(!t->is_written || !number_types[j].is_written || t->file != number_types[j].file, "%s: a file as of %s", t->name, number_types[j].name);
    if (t->block == 1) {
      ck_assert_msg(bits == 8u * t->bytes, "%s: %u bits", t->name, bits);
      continue;
    }
    bool symmetric = !t->has_min && bits < 8;
    unsigned groups = t->block / t->group, low = bits < 4 ? 2 : bits < 8 ? 4 : 8;
    unsigned scales = 2 + 2 * t->has_min;
    switch (t->scales) {
    case SCALE_ALONE: break;
    case SCALES_PACKED: scales += groups * 12 / 8; break;
    case SCALES_BYTES: case SCALES_NIBBLES: scales += groups; break;
    case SCALES_SIXES: case SCALES_APART: scales += groups * 6 / 8; break;
    case SCALE_POWER: scales = 1;
    }
    ck_assert_msg(t->bytes == t->block * bits / 8 + scales, "%s: %u bytes of %u bits and %u of scales", t->name, t->bytes, bits, scales);
    if (t->steps != STEPS_EQUAL) {
      int most = 0, least = 0;
      for (int k = 0; k < 16; k++) {
        int q = block_steps[t->steps][k];
        most = q > most ? q : most, least = q < least ? q : least;
      }
      ck_assert_msg(t->largest == (-least > most ? -least : most) && (t->offset == 0 || t->offset == -least), "%s: %d to %d", t->name, least, most);
    }
    else ck_assert_msg(t->largest == (t->has_min ? 2 * centre - 1 : symmetric ? centre : centre - 1), "%s: largest %u", t->name, t->largest);
    ck_assert_msg(t->steps != STEPS_EQUAL || t->offset == (symmetric ? centre : 0), "%s: offset %u", t->name, t->offset);
    ck_assert_msg((t->group == 16 || t->group == 32) && t->span >= 32 && t->block % t->span == 0, "%s: %u in %u", t->name, t->group, t->span);
    ck_assert_msg(t->low_at + t->block * low / 8 <= t->bytes && t->d_at + 2u + 2u * t->has_min <= t->bytes
      && (t->scales == SCALE_ALONE ? t->scales_at == 0 : t->scales_at + 16 <= t->bytes)
      && (bits == low ? t->high_at == 0 : t->high_at + t->block * (bits - low) / 8 <= t->bytes), "%s: beyond its block", t->name);
  }
}
END_TEST
/* the table of types: what each row says, what a tensor of each type is, and what is refused */
START_TEST(a_type_is_read_as_itself_or_refused)
{
  static const struct { const char *name; size_t block, bytes; } said[] = { { "F32", 1, 4 },
    { "F16", 1, 2 }, { "BF16", 1, 2 }, { "Q8_0", 32, 34 }, { "Q4_0", 32, 18 }, { "Q4_1", 32, 20 },
    { "Q5_0", 32, 22 }, { "Q5_1", 32, 24 }, { "Q4_K", 256, 144 }, { "Q6_K", 256, 210 },
    { "Q2_K", 256, 84 }, { "Q3_K", 256, 110 }, { "Q5_K", 256, 176 }, { "IQ4_NL", 32, 18 }, { "IQ4_XS", 256, 136 }, { "MXFP4", 32, 17 } };
  ck_assert_uint_eq(sizeof said / sizeof said[0], N_WEIGHT_TYPES);
  for (unsigned t = 0; t < N_NUMBER_TYPES; t++)
    for (unsigned u = 0; u < t; u++)
      ck_assert_str_ne(number_types[t].name, number_types[u].name);
  for (unsigned t = 0; t < N_WEIGHT_TYPES; t++) {
    char *base, *p = stored((enum weight_type) t, 768, &base);
    ck_assert_str_eq(number_types[t].name, said[t].name);
    ck_assert_uint_eq(number_types[t].block, said[t].block);
    ck_assert_uint_eq(weight_row_bytes(t, 768), 768 / said[t].block * said[t].bytes);
    for (size_t i = 0; i < 768; i++) {
      float a = oracle_number(p, (int) t, i),
            b = tensor_number((struct tensor){ p, (enum weight_type) t }, i);
      ck_assert(same(&a, &b, 4));
    }
    free(base);
  }
  for (size_t i = 0; kernels_at(i) != NULL; i++) {
    struct kernels k = *kernels_at(i);
    struct error why = { "" };
    char words[TYPES_TEXT], wanted[120];
    kernels_list_types(k.matrix_types, words);
    ck_assert_str_eq(words, "F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q6_K, Q2_K, Q3_K, Q5_K, IQ4_NL, IQ4_XS or MXFP4");
    k.matrix_types = WEIGHTS_ONE_BY_ONE;
    kernels_list_types(k.matrix_types, words);
    ck_assert_str_eq(words, "F32, F16 or BF16");
    ck_assert(kernels_check_types(&k, 0, "m", &why) && kernels_check_types(&k, 7, "m", &why));
    ck_assert(!kernels_check_types(&k, 1u << WEIGHT_F16 | 1u << WEIGHT_Q4_0, "m", &why));
    snprintf(wanted, sizeof wanted,
      "m: matrices of Q4_0; wanted: F32, F16 or BF16, which the kernels %s multiply", k.name);
    ck_assert_str_eq(why.text, wanted);
    k.matrix_types = 1u << WEIGHT_BF16 | 1u << WEIGHT_Q8_0;
    kernels_list_types(k.matrix_types, words);
    ck_assert_str_eq(words, "BF16 or Q8_0");
    k.matrix_types = 1u << WEIGHT_F32;
    kernels_list_types(k.matrix_types, words);
    ck_assert_str_eq(words, "F32");
    kernels_list_words(1u << WEIGHT_Q4_0 | 1u << WEIGHT_Q8_0 | 1u << WEIGHT_Q5_1, words);
    ck_assert_str_eq(words, "q8_0, q5_1 or q4_0");
  }
}
END_TEST

/* blocks that were made and read by others, see tests/checks/blocks.py */
static uint64_t splitmix(uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}
static void tiny_numbers(uint64_t *state, float x[32])
{
  int size = (int) (splitmix(state) % 44) - 149;
  for (int i = 0; i < 32; i++) x[i] = ldexpf((float) ((int) (splitmix(state) >> 40) - (1 << 23)), size - 23);
}
static void made_numbers(uint64_t *state, float x[32])
{
  int size = (int) (splitmix(state) % 44) - 34;
  for (int i = 0; i < 32; i++) {
    uint64_t u = splitmix(state);
    int whole = (int) (u >> 40) - (1 << 23), kind = (int) (u % 16), steps = whole >> 16;
    x[i] = kind == 0 ? 0 : kind < 4 ? ldexpf((float) steps, size - 7)
      : ldexpf((float) whole, size - 23 - (kind < 6 ? 6 : 0));
  }
}
static enum weight_type type_named(const char *name)
{
  unsigned t = 0;
  while (t < N_WEIGHT_TYPES && strcmp(number_types[t].name, name) != 0) t++;
  ck_assert_uint_lt(t, N_WEIGHT_TYPES);
  return (enum weight_type) t;
}
static size_t bytes_of(const char *hex, unsigned char *to)
{
  size_t n = 0;
  unsigned byte;
  for (; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++) to[n] = (unsigned char) byte;
  return n;
}
START_TEST(blocks_are_those_of_others)
{
  static char line[8192], name[8], first[4096], second[4096];
  static unsigned char b[256], floats[1024], packed[32 * 4];
  struct error why;
  unsigned n_read[N_WEIGHT_TYPES] = { 0 }, n_made[N_WEIGHT_TYPES] = { 0 }, count;
  FILE *f = fopen("tests/golden/blocks.txt", "r");
  ck_assert_ptr_nonnull(f);
  while (fgets(line, sizeof line, f) != NULL) {
    unsigned long long seed0, wanted;
    if (line[0] == '#') continue;
    if (sscanf(line, "%7s %llu %u %llx", name, &seed0, &count, &wanted) == 4 && count == 250) {
      uint64_t from = seed0, h = 0xcbf29ce484222325;
      enum weight_type t = type_named(name);
      while (count-- > 0) {
        float x[32];
        (strstr(line, " tiny") ? tiny_numbers : made_numbers)(&from, x);
        ck_assert_msg(weights_encode(t, x, 32, packed, &why), "%s", why.text);
        for (size_t i = 0; i < number_types[t].bytes; i++) h = (h ^ packed[i]) * 0x100000001b3;
      }
      ck_assert_msg(h == wanted, "%s of seed %llu", name, seed0);
      n_made[t]++;
      continue;
    }
    ck_assert_int_eq(sscanf(line, "%7s %4095s %4095s", name, first, second), 3);
    enum weight_type t = type_named(name);
    ck_assert_uint_eq(bytes_of(first, b), number_types[t].bytes);
    ck_assert_uint_eq(bytes_of(second, floats), 4u * number_types[t].block);
    for (size_t i = 0; i < number_types[t].block; i++) {
      float x, y = tensor_number((struct tensor){ b, t }, i), z = oracle_number(b, (int) t, i);
      memcpy(&x, floats + 4 * i, 4);
      ck_assert_msg(x == y && same(&y, &z, 4), "%s: number %zu is %a, not %a", name, i, (double) y, (double) x);
    }
    n_read[t]++;
  }
  for (unsigned t = WEIGHT_Q8_0; t < N_WEIGHT_TYPES; t++)
    ck_assert_msg(n_read[t] == 8 && n_made[t] == (number_types[t].is_written && number_types[t].block == WEIGHT_BLOCK ? 8 + 4 : 0), "%s: %u and %u lines", number_types[t].name, n_read[t], n_made[t]);
  fclose(f);
}
END_TEST

/* what cannot be written, and what is rounded to the last number that can */
START_TEST(blocks_refuse_what_they_cannot_hold)
{
  float x[512] = { 0 };
  unsigned char to[512 * 4];
  struct error why;
  for (unsigned t = 0; t < N_WEIGHT_TYPES; t++) {
    enum weight_type type = (enum weight_type) t;
    bool written = number_types[t].is_written, blocks = number_types[t].block > 1, large = number_types[t].block > 32;
    size_t n = large ? 512 : 64;
    ck_assert(weights_encode(type, x, n, to, &why) == written);
    if (!written) ck_assert(strstr(why.text, number_types[t].name) == why.text && strstr(why.text, "wanted: F32, F16"));
    if (!written) continue;
    if (blocks) ck_assert(!weights_encode(type, x, 33, to, &why) && strstr(why.text, large ? "multiple of 256" : "multiple of 32"));
    for (int k = 0; k < 3; k++) {
      x[40] = k == 0 ? INFINITY : k == 1 ? -INFINITY : NAN;
      ck_assert(!weights_encode(type, x, n, to, &why) && strstr(why.text, "number 40 is not finite"));
    }
    for (int sign = -1; sign <= 1 && large; sign += 2) {
      float most = 65504 * (float) number_types[t].largest * most_scale(type);
      x[300] = x[40] = (float) sign * 0.9f * most;
      ck_assert_msg(weights_encode(type, x, n, to, &why) || (block_has_min(type) && sign < 0), "%s", why.text);
      x[300] = (float) sign * 1.2f * most;
      ck_assert(!weights_encode(type, x, n, to, &why));
      x[40] = 0;
      ck_assert(!weights_encode(type, x, n, to, &why) && strstr(why.text, "numbers 256 to 511"));
      x[300] = 0;
    }
    if (large) continue;
    int largest = number_types[t].largest;
    for (int sign = -1; sign <= 1 && blocks; sign += 2) {
      x[40] = (float) sign * 65519.0f * (float) largest;
      bool low = block_has_min(type) && sign < 0; /* a minimum that does not fit */
      ck_assert_msg(weights_encode(type, x, 64, to, &why) != low, "%s", why.text);
      x[40] = (float) sign * 65521.0f * (float) largest;
      ck_assert(!weights_encode(type, x, 64, to, &why) && strstr(why.text, "numbers 32 to 63"));
    }
    x[40] = 3e38f, x[41] = -3e38f; /* and their difference is no float */
    ck_assert(weights_encode(type, x, 64, to, &why) != blocks);
    x[40] = 0, x[41] = 0;
  }
}
END_TEST

/* what the numbers of a block are off by; each is the nearest that its scales allow, or its neighbours would be nearer */
static double off_of_block(enum weight_type type, const unsigned char *b, const float *x)
{
  double off = 0;
  int low = -number_types[type].offset, high = (1 << number_types[type].bits) - 1 + low;
  for (size_t i = 0; i < 256; i++) {
    struct block_scale s = block_scale_of(type, b, i);
    int q = block_whole(type, b, i);
    double e = fabs(q * (double) s.d + (double) s.m - (double) x[i]), room = 1e-9 * fabs((double) x[i]);
    for (int k = q - 1; k <= q + 1; k += 2)
      if (k >= low && k <= high && s.d != 0) ck_assert_msg(e <= fabs(k * (double) s.d + (double) s.m - (double) x[i]) + room, "number %zu is nearer with %d than with %d", i, k, q);
    off += e * e;
  }
  return off;
}
/* the obvious way, with exact scales: the largest number of a group, or its smallest and its largest, on the ends of its integers */
static double plainly_off(enum weight_type type, const float *x)
{
  size_t group = number_types[type].group;
  double off = 0;
  for (size_t g = 0; g < 256; g += group) {
    double low = 0, high = 0;
    for (size_t i = g; i < g + group; i++) low = fmin(low, (double) x[i]), high = fmax(high, (double) x[i]);
    bool min = block_has_min(type);
    double s = min ? (high - low) / 15 : fmax(high, -low) / 31, t = min ? -low : 0;
    for (size_t i = g; i < g + group && s > 0; i++) {
      double e = floor(((double) x[i] + t) / s + 0.5) * s - t - (double) x[i];
      off += e * e;
    }
  }
  return off;
}
START_TEST(a_search_finds_scales_that_err_less)
{
  static const enum weight_type of[] = { WEIGHT_Q4_K, WEIGHT_Q6_K };
  struct error why;
  for (int k = 0; k < 2; k++) {
    double sum[3] = { 0 }, plain[3] = { 0 };
    for (int n = 0; n < 300; n++) {
      float x[256];
      unsigned char b[210];
      int kind = n % 3;
      for (size_t i = 0; i < 256; i++) {
        double u = -2;
        for (int j = 0; j < 4; j++) u += (double) (rnd(&seed) >> 11) * 0x1p-53;
        x[i] = (float) (kind == 1 ? fabs(u) + 0.5 : kind == 2 && i % 37 == 0 ? 8 * u : u); /* around 0; positive; with outliers */
      }
      ck_assert_msg(weights_encode(of[k], x, 256, b, &why), "%s", why.text);
      sum[kind] += off_of_block(of[k], b, x), plain[kind] += plainly_off(of[k], x);
    }
    for (int kind = 0; kind < 3; kind++)
      ck_assert_msg(sum[kind] < (kind == 2 && k == 1 ? 1.0 : 0.93) * plain[kind], "%s, kind %d: %.4f of what rounding plainly is off by", number_types[of[k]].name, kind, sum[kind] / plain[kind]);
    /* what can be stored is stored: d is 1, scales and minima are whole, and the largest of each is there */
    float y[256] = { 0 };
    unsigned char b[210];
    ck_assert(weights_encode(of[k], y, 256, b, &why));
    ck_assert(off_of_block(of[k], b, y) == 0);
    for (size_t i = 0; i < 256; i++) {
      int s = (k == 0 ? 63 : 127) - (int) (i / number_types[of[k]].group) * 3;
      y[i] = (float) (s * (k == 0 ? (int) (i * 7 % 32) % 16 : (int) (i * 5 % 16) * 4 - 32) - (k == 0 ? 63 - (int) (i / 32) : 0));
    }
    ck_assert(weights_encode(of[k], y, 256, b, &why));
    ck_assert_msg(off_of_block(of[k], b, y) <= 1e-3 * 256, "%s: %g", number_types[of[k]].name, off_of_block(of[k], b, y));
  }
}
END_TEST

START_TEST(narrowing_is_to_the_nearest_and_even)
{
  for (int i = 0; i < 2000000; i++) {
    float x = num_float((uint32_t) rnd(&seed));
    if (i % 2) x = (float) ((double) (int64_t) rnd(&seed) / 9.2e18 * exp2((double) below(45) - 27));
    if (x != x) {
      hold(num_from_f16(num_to_f16(x)) != 0 && num_from_bf16(num_to_bf16(x)) != 0);
      continue;
    }
    uint16_t h = num_to_f16(x), b = num_to_bf16(x);
    hold(h >> 15 == (signbit(x) != 0));
    double a = fabs((double) x), here = fabs((double) num_from_f16(h)), top = ldexp(1, 16);
    double up = (h & 0x7fff) >= 0x7bff ? top : fabs((double) num_from_f16((uint16_t) (h + 1)));
    double down = h & 0x7fff ? fabs((double) num_from_f16((uint16_t) (h - 1))) : 0;
    if (isinf(here))
      hold(a >= 65520);
    else
      hold((a <= (here + up) / 2 && a >= (here + down) / 2)
        && (a < (here + up) / 2 || h % 2 == 0) && (a > (here + down) / 2 || h % 2 == 0 || a == 0));
    double wide = fabs((double) num_from_bf16(b));
    if (!isinf(wide) && !isinf(x)) {
      double more =
        (b & 0x7fff) == 0x7f7f ? ldexp(1, 128) : fabs((double) num_from_bf16((uint16_t) (b + 1)));
      hold(a <= (wide + more) / 2 && (a < (wide + more) / 2 || b % 2 == 0));
    }
  }
  ck_assert_uint_eq(num_to_f16(65519.996f), 0x7bff);
  ck_assert_uint_eq(num_to_f16(65520.0f), 0x7c00);
  ck_assert_uint_eq(num_to_bf16(0x1.ffp127f), 0x7f80);
  ck_assert_uint_eq(num_to_bf16(0x1.fefffep127f), 0x7f7f);
}
END_TEST

START_TEST(functions_at_special_values)
{
  float inf = INFINITY, none = NAN;
  float tiny = num_float(1);
  ck_assert(num_expf(0) == 1 && num_expf(-0.0f) == 1 && num_exp(0) == 1 && num_exp(-0.0) == 1);
  ck_assert(num_expf(inf) == inf && num_expf(-inf) == 0 && num_expf(1e30f) == inf
    && num_expf(-1e30f) == 0 && num_expf(none) != 0);
  ck_assert(num_expf(none) != num_expf(none) && num_exp(NAN) != num_exp(NAN));
  ck_assert(num_expf(88.72283f) < inf && num_expf(88.72284f) == inf && num_expf(-103.97f) == tiny
    && num_expf(-103.98f) == 0);
  ck_assert(num_exp(INFINITY) == INFINITY && num_exp(-INFINITY) == 0
    && num_exp(709.782712893384) < INFINITY && num_exp(709.7827128933841) == INFINITY);
  ck_assert(
    num_exp(-745.1332191019411) == 0x1p-1074 && num_exp(-745.2) == 0 && num_exp(1e300) == INFINITY);
  ck_assert(num_log(0) == -INFINITY && num_log(-0.0) == -INFINITY && num_log(1) == 0
    && !signbit(num_log(1)) && num_log(INFINITY) == INFINITY);
  ck_assert(num_log(-1) != num_log(-1) && num_log(NAN) != num_log(NAN)
    && num_log(-INFINITY) != num_log(-INFINITY));
  ck_assert_double_eq(num_log(0x1p-1074), -744.4400719213812);
  ck_assert(num_tanhf(inf) == 1 && num_tanhf(-inf) == -1 && signbit(num_tanhf(-0.0f))
    && num_tanhf(tiny) == tiny && num_tanhf(none) != num_tanhf(none));
  ck_assert(num_tanh(INFINITY) == 1 && num_tanh(-1e9) == -1 && signbit(num_tanh(-0.0))
    && num_tanh(NAN) != num_tanh(NAN));
  ck_assert(num_erff(inf) == 1 && num_erff(-inf) == -1 && signbit(num_erff(-0.0f))
    && num_erff(none) != num_erff(none));
  ck_assert(num_erf(INFINITY) == 1 && num_erf(-7) == -1 && signbit(num_erf(-0.0))
    && num_erf(NAN) != num_erf(NAN));
  ck_assert(num_sin(0) == 0 && signbit(num_sin(-0.0)) && num_cos(0) == 1
    && num_sin(INFINITY) != num_sin(INFINITY) && num_cos(NAN) != num_cos(NAN));
  ck_assert_double_eq(num_sin(1e22), -0.8522008497671888);
  ck_assert_double_eq(num_cos(0x1.fffffffffffffp1023), cos(0x1.fffffffffffffp1023));
  ck_assert_double_eq(
    num_sin(6381956970095103.0 * 0x1p797), 1.0); /* the double nearest to a multiple of pi/2 */
  ck_assert_double_eq_tol(num_cos(6381956970095103.0 * 0x1p797), -4.6871659242546277e-19, 1e-34);
}
END_TEST

START_TEST(power_keeps_the_rules_of_annex_f)
{
  static const double v[] = { 0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 4, 0x1p53, -0x1p53,
    0x1p53 + 2, 1e300, -1e300, 1e-310, -1e-310, INFINITY, -INFINITY, NAN, 0x1.fffffffffffffp0,
    0x1.fffffffffffffp-1, 4503599627370497.5, 4503599627370497 };
  for (size_t i = 0; i < sizeof v / sizeof *v; i++)
    for (size_t j = 0; j < sizeof v / sizeof *v; j++) {
      double a = num_pow(v[i], v[j]), b = pow(v[i], v[j]);
      ck_assert_msg((a != a && b != b)
          || (signbit(a) == signbit(b) && (a == b || fabs(a - b) <= 4e-16 * fabs(b))),
        "pow(%a, %a) = %a, libm %a", v[i], v[j], a, b);
    }
  ck_assert(num_powf(2, 10) == 1024 && num_powf(10000, 0.5f) == 100 && num_powf(-8, 3) == -512);
}
END_TEST

static bool near(double x, double y, double tolerance)
{
  return fabs(x - y) < tolerance;
}
START_TEST(functions_are_near_the_library)
{
  for (int i = 0; i < 300000; i++) {
    double x = (double) (int64_t) rnd(&seed) / 9.3e18
      * (i % 3 == 0    ? 700
          : i % 3 == 1 ? 5
                       : 1e6),
           p = fabs(x) + 1e-3;
    hold(near(num_exp(x / 2000) / exp(x / 2000), 1, 4e-16));
    hold(x > 700 || fabs(num_exp(x) - exp(x)) <= 4e-16 * exp(x) || exp(x) < 1e-300);
    hold(near(num_log(p), log(p), 2.3e-16 * fmax(1e-3, fabs(log(p)))));
    hold(near(num_sin(x), sin(x), 2e-16));
    hold(near(num_cos(x), cos(x), 2e-16));
    hold(near(num_tanh(x), tanh(x), 3.4e-16));
    hold(near(num_erf(x), erf(x), 2.3e-16));
    hold(near(num_logf((float) p), (float) log((double) (float) p),
      1e-6f * fabsf(logf((float) p)) + 1e-30f));
    float f = (float) x;
    hold(same(&(float){ num_sinf(f) }, &(float){ (float) sin((double) f) }, 4));
    hold(same(&(float){ num_cosf(f) }, &(float){ (float) cos((double) f) }, 4));
    hold(num_tanhf(-f) == -num_tanhf(f) && num_erff(-f) == -num_erff(f));
  }
  for (int i = 0; i < 100000; i++) { /* of every size, and powers of every size */
    double x = num_double(rnd(&seed)), p = fabs(x), small = ldexp((double) (int64_t) rnd(&seed) / 9.3e18, -(int) below(60));
    if (i % 8 == 0) p = ldexp(p, -2000), p = p > 0 ? p : 0x1p-1074; /* most of them subnormal */
    if (i % 8 == 1) p = num_double(below((uint64_t) 1 << 52) + 1);
    if (!(p < INFINITY)) continue;
    hold(near(num_sin(x), sin(x), 2e-16) || !(fabs(x) < INFINITY));
    hold(near(num_cos(x), cos(x), 2e-16) || !(fabs(x) < INFINITY));
    hold(near(num_log(p), log(p), 2.3e-16 * fmax(1e-3, fabs(log(p)))));
    hold(near(num_sin(small), sin(small), 2.3e-16 * fabs(small)));
    hold(near(num_erf(6 * small), erf(6 * small), 2.5e-16 * fabs(erf(6 * small))));
    hold(near(num_tanh(20 * small), (double) tanhl(20 * (long double) small), 4.5e-16 * fabs(tanh(20 * small))));
    double y = (i % 2 ? 760 : 50) * ((double) (int64_t) rnd(&seed) / 9.3e18) / fmax(fabs(log(p)), 1e-300);
    long double truth = powl((long double) p, (long double) y);
    if (!(fabs(y) < 1e300) || truth > 1.7e308L) continue;
    hold_msg(fabsl((long double) num_pow(p, y) - truth) <= 2.3e-16L * truth + 0x1p-1074L, "%a to the %a is %a, not %a", p, y, num_pow(p, y), (double) truth);
  }
}
END_TEST

/* whatever the caller has done to the floating-point unit: rounding upwards, flushing, taking
 * denormals for zero; between begin and end none of it is left */
START_TEST(modes_of_the_caller_do_not_matter)
{
  for (int i = 0; i < 300; i++) {
    struct engine e = any_engine();
    size_t in = 1 + below(60), out = 1 + below(40), rows = 1 + below(4);
    struct matrix m = { { NULL, WEIGHT_F32 }, { NULL, WEIGHT_F32 }, in, out, below(2) };
    float *w = numbers(in * out), *x = numbers(rows * in), *y = numbers(rows * out),
          *z = numbers(rows * out);
    for (size_t j = 0; j < in * out; j++) w[j] *= 1e-37f;
    m.weight.data = w;
    oracle_linear(w, ORACLE_F32, m.transposed, NULL, 0, in, out, x, rows, z);
    fesetround(FE_UPWARD);
#if defined __x86_64__
    unsigned csr = _mm_getcsr(), flushed = i % 2 ? 0x8040 : 0; /* flushing hides some roundings */
    _mm_setcsr(csr | flushed);
#elif defined __aarch64__
    uint64_t fpcr, flushed = i % 2 ? 1u << 24 : 0, later;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr | flushed));
#endif
    double p[2];
    e.k->softmax(&e, (float[]){ 0, -800 }, 1, 2, p); /* which sets them for itself */
    struct float_modes modes;
    float_modes_begin(&modes);
    ck_assert(p[0] + p[1] == 1);
    e.k->linear(&e, &m, 1, x, rows, &y);
    e.k->add(&e, y, y, rows * out);
    e.k->activate(&e, ACTIVATION_SILU, y, y, rows * out, y);
    float_modes_end(&modes);
#if defined __x86_64__
    ck_assert_uint_eq(_mm_getcsr() & 0x8040, flushed);
    _mm_setcsr(csr);
#elif defined __aarch64__
    __asm__ volatile("mrs %0, fpcr" : "=r"(later));
    ck_assert_uint_eq(later, fpcr | flushed);
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
#endif
    ck_assert_int_eq(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    float *silu = numbers(rows * out);
    for (size_t j = 0; j < rows * out; j++) z[j] = z[j] + z[j];
    oracle_silu(z, rows * out, silu);
    for (size_t j = 0; j < rows * out; j++) silu[j] = silu[j] * z[j];
    ck_assert_msg(same(y, silu, 4 * rows * out), "%s: with other modes", e.k->name);
    free(w), free(x), free(y), free(z), free(silu);
  }
}
END_TEST

START_TEST(tables_are_found_and_pass_their_test)
{
  struct error why = { { 0 } };
  size_t n = 0;
  for (; kernels_at(n) != NULL; n++) {
    ck_assert(kernels_self_test(kernels_at(n), &why));
    ck_assert_ptr_eq(kernels_find(kernels_at(n)->name, &why), kernels_at(n));
    ck_assert_float_eq(kernels_at(n)->mul_add_unfused(0x1.001p0f, 0x1.001p0f, -0x1.002p0f), 0);
    ck_assert_float_eq(kernels_at(n)->mul_add_fused(0x1.001p0f, 0x1.001p0f, -0x1.002p0f), 0x1p-24f);
  }
  ck_assert_uint_ge(n, 1);
  ck_assert_ptr_eq(kernels_find(NULL, &why), kernels_at(n - 1));
  ck_assert_ptr_null(kernels_find("sse9", &why));
  ck_assert_ptr_nonnull(strstr(why.text, "sse9"));
  for (size_t i = 0; i < n; i++) ck_assert_ptr_nonnull(strstr(why.text, kernels_at(i)->name));
}
END_TEST
static float contracted(float a, float b, float c)
{
  return fmaf(a, b, c);
}
static float twice(float a, float b, float c)
{
  float p = a * b;
  return p + c;
}
/* the yardsticks do what they say: so many multiply-adds, which end at 2, and a sum of all numbers
 * once */
START_TEST(yardsticks_do_what_they_say)
{
  for (size_t n = 0; kernels_at(n) != NULL; n++) {
    const struct kernels *k = kernels_at(n);
    float left = 0;
    uint64_t asked = 100000 + below(1000), done = k->probe_flops(asked, &left);
    ck_assert_msg(done >= asked && done <= asked + 12 * 16, "%s: %" PRIu64 " of %" PRIu64, k->name,
      done, asked);
    ck_assert_float_eq(left, k == &kernels_plain ? 2 : 24); /* one chain, or twelve */
    for (int i = 0; i < 50; i++) {
      size_t m = below(700);
      float *x = block(4 * m + 4), sum = 0;
      for (size_t j = 0; j < m; j++) x[j] = (float) below(1000), sum += x[j];
      ck_assert_float_eq(k->probe_bandwidth(x, m), sum);
      free(x);
    }
  }
}
END_TEST

START_TEST(self_test_refuses_what_rounds_otherwise)
{
  struct error why = { { 0 } };
  struct kernels k = *kernels_at(0);
  k.mul_add_unfused = contracted;
  ck_assert(!kernels_self_test(&k, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "contract"));
  k.mul_add_unfused = twice, k.mul_add_fused = twice;
  ck_assert(!kernels_self_test(&k, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "rounds twice"));
  ck_assert(!kernels_self_test(&k, NULL));
}
END_TEST

/* not seen is left out: rubbish outside of the view, and infinities, change nothing; times zero
 * they would */
START_TEST(unseen_positions_are_never_touched)
{
  for (int i = 0; i < 100; i++) {
    struct engine e = any_engine();
    struct attention_dims h = { 2, 1, 24, 0.2f };
    uint32_t hi = 1 + (uint32_t) below(600), lo = (uint32_t) below(hi),
             sinks = (uint32_t) below(below(2) ? lo + 1 : 1);
    float *k = numbers(700 * 24), *v = numbers(700 * 24), *q = numbers(48), y[48], z[48],
          *scratch = numbers(2 * kernels_scratch(&h, 700) + 2000);
    struct segment seen = { { .key = (uintptr_t) k, .value = (uintptr_t) v, .row_bytes = 96, .head_bytes = 96,
        .sinks = sinks },
      0, 1, hi - 1, lo > 0 ? hi - lo : 0 };
    e.k->attend(&e, &h, q, &seen, 1, scratch, y, NULL);
    for (size_t t = 0; t < 700; t++)
      if ((t < lo && t >= sinks) || t >= hi)
        for (size_t c = 0; c < 24; c++)
          k[t * 24 + c] = c % 2 ? NAN : INFINITY, v[t * 24 + c] = c % 2 ? INFINITY : NAN;
    e.k->attend(&e, &h, q, &seen, 1, scratch, z, NULL);
    ck_assert(same(y, z, sizeof y));
    free(k), free(v), free(q), free(scratch);
  }
}
END_TEST

/* the other way to mask: weights over all positions, those of the future set to zero.  What is left
   does not sum to 1 and depends on the future; only dividing again by what is left would mend it,
   and that is leaving out */
START_TEST(zeroing_after_the_softmax_is_wrong)
{
  for (int i = 0; i < 500; i++) {
    struct engine e = any_engine();
    float x[40];
    double all[40], seen[40], other[40], left = 0, again = 0;
    size_t n = 2 + below(38), k = 1 + below(n - 1);
    for (size_t j = 0; j < n; j++) x[j] = number() / 30;
    e.k->softmax(&e, x, 1, k, seen);
    e.k->softmax(&e, x, 1, n, all);
    x[n - 1] += 1;
    e.k->softmax(&e, x, 1, n, other);
    for (size_t j = 0; j < k; j++) left += all[j], again += seen[j];
    ck_assert(left < 0.9999 && fabs(again - 1) < 1e-14);
    for (size_t j = 0; j < k; j++) {
      ck_assert(all[j] < seen[j] && other[j] < all[j]);
      ck_assert(fabs(all[j] / left - seen[j]) < 1e-12);
    }
  }
}
END_TEST

/* infinities, what is no number, overflow, subnormals and zeros with a sign go where the oracle sends them: in every table, in
   weights, bias and inputs of every type and format, few rows and many, as the weights lie and prepared */
static void edges_of_linear(const struct kernels *k, enum weight_type type, enum activations format)
{
  struct engine e = { .k = k, .pool = pools[1 + below(3)], .activations = format };
  size_t step = number_types[type].block, out = 1 + below(40), rows = 1 + below(below(2) ? 3 : 27);
  size_t in = step == 1 ? 1 + below(100) : step * (1 + below(step == 32 ? 5 : 2));
  char *base, *bias_base, *w = edged_stored(type, stored(type, in * out, &base), in * out);
  char *bias = edged_stored(WEIGHT_F32, stored(WEIGHT_F32, out, &bias_base), out);
  float *x = edged(numbers(rows * in), rows * in), *y = numbers(rows * out + 16), *z = numbers(rows * out);
  struct matrix m = { { w, type }, { below(2) ? bias : NULL, WEIGHT_F32 }, in, out, step == 1 && below(2) };
  const struct matrix *wanted = &m;
  struct error why;
  struct prepared_weights *p = below(2) && k != &stand_in_table ? prepared_open(&books, k, format, NULL, &wanted, 1, &why) : NULL;
  e.prepared = p;
  memset(y + rows * out, 0x5a, 64);
  if (below(2)) ck_assert(pool_reserve(e.pool, k->room(&m, 1, rows), NULL));
  if (format == ACTIVATIONS_BF16)
    k->linear_bf16(&e, &m, 1, x, rows, &y),
    oracle_linear_bf16(w, m.transposed, m.bias.data, ORACLE_F32, in, out, x, rows, z);
  else if (format == ACTIVATIONS_INT8)
    k->linear_int8(&e, &m, 1, x, rows, &y),
    oracle_linear_int8(w, (int) type, m.bias.data, ORACLE_F32, in, out, x, rows, z);
  else
    k->linear(&e, &m, 1, x, rows, &y),
    oracle_linear(w, (int) type, m.transposed, m.bias.data, ORACLE_F32, in, out, x, rows, z);
  alike(y, z, rows * out, "%s: [%zu][%zu]->%zu of %s, format %d%s%s", k->name, rows, in, out, number_types[type].name, (int) format,
    m.transposed ? ", transposed" : "", p != NULL ? ", prepared" : "");
  for (size_t j = 0; j < 64; j++) ck_assert_int_eq(((char *) (y + rows * out))[j], 0x5a);
  prepared_close(&books, p);
  free(base), free(bias_base), free(x), free(y), free(z);
}
START_TEST(linear_at_the_edges_is_the_oracle)
{
  for (size_t t = 0; table_at(t) != NULL; t++)
    for (int i = 0; i < 60 / SHARE * N_WEIGHT_TYPES; i++) {
      const struct kernels *k = table_at(t);
      enum weight_type type = (enum weight_type) (i % N_WEIGHT_TYPES);
      if (k->matrix_types >> type & 1) edges_of_linear(k, type, ACTIVATIONS_F32);
      if (k->int8_types >> type & 1) edges_of_linear(k, type, ACTIVATIONS_INT8);
      /* a tensor core has bits of its own */
      if (k != &stand_in_table && (k->bf16_types >> type & 1)) edges_of_linear(k, type, ACTIVATIONS_BF16);
    }
}
END_TEST

/* a block of inputs becomes bytes: q is the whole number nearest to x*127/max, by long division in double, however small the block is */
START_TEST(inputs_become_the_nearest_bytes)
{
  for (int i = 0; i < 20000; i++) {
    float x[32], most = 0;
    int size = i < 200 ? i - 149 : -149 + (int) below(277), sum = 0;
    for (int j = 0; j < 32; j++) {
      x[j] = ldexpf((float) ((double) (int64_t) rnd(&seed) / 9.3e18), size + 1);
      if (i % 5 == 0) x[j] = ldexpf((float) (j + 1), size < 120 ? size : 120); /* 1, 2, 3, ... of the least that there is */
      if (fabsf(x[j]) > most) most = fabsf(x[j]);
    }
    struct int8_block b;
    quantize_int8(x, &b);
    ck_assert_msg(same(&b.d, &(float){ most / 127 }, 4), "%a", (double) most);
    for (int j = 0; j < 32; j++) {
      double real = most == 0 ? 0 : (double) x[j] * (127 / (double) most); /* off by less than a float's two roundings */
      sum += b.q[j];
      ck_assert_msg(fabs(b.q[j] - real) <= 0.5 + 3e-5 && (fabsf(x[j]) < most || most == 0 || abs(b.q[j]) == 127),
        "%a of at most %a is %d, not %g", (double) x[j], (double) most, b.q[j], real);
    }
    ck_assert_int_eq(b.sum[0] + b.sum[1], sum);
  }
}
END_TEST

/* the same for all that is not a matrix */
START_TEST(the_other_kernels_at_the_edges_are_the_oracle)
{
  static void (*const curve[3])(const float *, size_t, float *) = { [ACTIVATION_GELU_TANH] = oracle_gelu_tanh,
    [ACTIVATION_GELU_ERF] = oracle_gelu_erf, [ACTIVATION_SILU] = oracle_silu };
  static const float epsilon[] = { 1e-5f, 0, 0x1p-149f, 1e-12f };
  for (size_t t = 0; table_at(t) != NULL; t++)
    for (int i = 0; i < 1000 / SHARE; i++) {
      struct engine e = { .k = table_at(t), .pool = pools[1 + below(3)] };
      size_t d = 1 + below(100), rows = 1 + below(4), n = rows * d;
      enum weight_type type = (enum weight_type) below(3);
      char *base[2];
      struct tensor gain = { edged_stored(type, stored(type, d, &base[0]), d), type },
                    bias = { edged_stored(type, stored(type, d, &base[1]), d), type };
      float *x = edged(numbers(n), n), *up = edged(numbers(n), n), *y = numbers(n), *z = numbers(n);
      struct norm g = { below(2) ? NORM_RMS : NORM_LAYER, gain, below(2) ? bias : (struct tensor){ NULL, type }, epsilon[below(4)] };
      if (below(4) == 0) g.gain.data = NULL;
      if (g.kind == NORM_RMS)
        oracle_rmsnorm(x, rows, d, g.gain.data, type, g.epsilon, z);
      else
        oracle_layernorm(x, rows, d, g.gain.data, g.bias.data, type, g.epsilon, z);
      e.k->normalize(&e, &g, x, rows, d, y);
      alike(y, z, n, "%s: norm %d of %zu", e.k->name, g.kind, d);
      enum activation_kind kind = (enum activation_kind) below(3);
      bool two = below(2);
      curve[kind](x, n, z);
      for (size_t j = 0; two && j < n; j++) z[j] = z[j] * up[j];
      e.k->activate(&e, kind, x, two ? up : NULL, n, y);
      alike(y, z, n, "%s: activation %d", e.k->name, kind);
      for (size_t j = 0; j < n; j++) z[j] = x[j] + up[j];
      memcpy(y, x, 4 * n);
      e.k->add(&e, y, up, n);
      alike(y, z, n, "%s: sum", e.k->name);
      uint32_t id[4], first[4] = { 9, 9, 9, 9 }, position[4];
      for (size_t r = 0; r < rows; r++) id[r] = (uint32_t) below(rows), position[r] = below(4) ? (uint32_t) below(5000) : (uint32_t) rnd(&seed);
      type = (enum weight_type) below(N_WEIGHT_TYPES);
      if (e.k->matrix_types >> type & 1) {
        size_t wide = d * number_types[type].block;
        char *one, *table = edged_stored(type, stored(type, rows * wide, &one), rows * wide);
        float *got = numbers(rows * wide), *truth = numbers(rows * wide);
        for (size_t j = 0; j < rows * wide; j++) truth[j] = oracle_number(table, (int) type, id[j / wide] * wide + j % wide);
        e.k->embed(&e, (struct tensor){ table, type }, wide, id, rows, got);
        alike(got, truth, rows * wide, "%s: embedding of %s", e.k->name, number_types[type].name);
        free(one), free(got), free(truth);
      }
      e.k->mark_nonfinite(&e, x, rows, d, 7, 9, first);
      for (size_t r = 0; r < rows; r++) {
        bool bad = false;
        for (size_t j = 0; j < d; j++) bad |= !isfinite(x[r * d + j]);
        ck_assert_uint_eq(first[r], bad ? 7 : 9);
      }
      size_t half = 1 + below(20), heads = 1 + below(3), turned = rows * heads * 2 * half;
      float *f = edged(numbers(half), half), *c = numbers(rows * half), *s = numbers(rows * half),
            *a = edged(numbers(turned), turned), *b = numbers(turned), scaling = below(2) ? 1 : edge_number((unsigned) below(2));
      memcpy(b, a, 4 * turned);
      oracle_rope(b, rows, heads, half, position, f, scaling);
      e.k->angles(&e, position, rows, f, half, scaling, c, s);
      e.k->rotate(&e, a, rows, heads, half, c, s);
      alike(a, b, turned, "%s: rotation", e.k->name);
      double *p = block(8 * n), *q = block(8 * n);
      for (size_t r = 0; r < rows; r++) oracle_softmax(x + r * d, d, q + r * d);
      e.k->softmax(&e, x, rows, d, p);
      ck_assert_msg(unlike_doubles(p, q, n) == n, "%s: softmax", e.k->name);
      for (size_t r = 0; r < rows; r++) oracle_log_softmax(x + r * d, d, q + r * d);
      e.k->log_softmax(&e, x, rows, d, p);
      ck_assert_msg(unlike_doubles(p, q, n) == n, "%s: log-softmax", e.k->name);
      double max = below(2) ? 0 : (double) edge_number((unsigned) below(PALETTES));
      for (size_t j = 0; j < n; j++) p[j] = (double) x[j] * (below(2) ? 1 : 1e290), q[j] = oracle_exp(p[j] - max);
      e.k->exp_shifted(p, n, max);
      ck_assert_msg(unlike_doubles(p, q, n) == n, "%s: exponentials", e.k->name);
      free(base[0]), free(base[1]), free(x), free(up), free(y), free(z), free(f), free(c), free(s), free(a), free(b), free(p), free(q);
    }
}
END_TEST

static uint32_t i_step(uint32_t u)
{
  uint32_t step = 1 + (uint32_t) below(u > 0x3f000000u && u < 0x43000000u ? 60 : 10000), power = (u | 0x7fffffu) + 1;
  if (u == power - 1 || u == power - 0x800000u) return 1; /* each power of two, and the numbers beside it */
  return u + step < power - 1 ? step : power - 1 - u;
}
/* exponentials where they end: the last float before 0 and before infinity, every subnormal result, the places where the power of two
   changes; in the loops of every table, as the scores of attention (few rows and many) and in double */
START_TEST(long_rows_are_the_oracle)
{
  enum { LONG = 70003, FAR = 4096, WIDE = 1 << 20 };
  struct norm g[2] = { { .kind = NORM_RMS, .epsilon = 1e-5f }, { .kind = NORM_LAYER, .epsilon = 1e-5f } };
  float *x = numbers(LONG), *y = numbers(LONG), *z = numbers(LONG);
  double *p = block(8 * LONG), *q = block(8 * LONG);
  x[LONG - 2] = 150; /* the greatest is beyond the first 65536 */
  for (size_t t = 0; table_at(t) != NULL; t++) {
    struct engine e = { .k = table_at(t), .pool = pools[1 + below(3)] };
    size_t d = 5000 + below(LONG - 5000);
    for (int kind = 0; kind < 2; kind++) {
      if (kind == 0)
        oracle_rmsnorm(x, 1, d, NULL, 0, 1e-5f, z);
      else
        oracle_layernorm(x, 1, d, NULL, NULL, 0, 1e-5f, z);
      e.k->normalize(&e, &g[kind], x, 1, d, y);
      alike(y, z, d, "%s: norm %d of %zu", e.k->name, kind, d);
    }
    oracle_softmax(x, LONG, q), e.k->softmax(&e, x, 1, LONG, p);
    ck_assert_msg(unlike_doubles(p, q, LONG) == LONG, "%s: softmax", e.k->name);
    oracle_log_softmax(x, LONG, q), e.k->log_softmax(&e, x, 1, LONG, p);
    ck_assert_msg(unlike_doubles(p, q, LONG) == LONG, "%s: log-softmax", e.k->name);
  }
  /* a table of more than 2^32 numbers, of which nothing is there but what is touched */
  size_t bytes = (size_t) 2 * FAR * (WIDE + 2);
  char *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (table == MAP_FAILED) tally("a table of 2^32 numbers", 0, 0, 1, "no such room for addresses");
  for (size_t t = 0; table != MAP_FAILED && kernels_at(t) != NULL; t++) {
    struct engine e = { .k = kernels_at(t) };
    memcpy(table + (size_t) 2 * FAR * (WIDE + 1) + 2 * 5, &(uint16_t){ 0x3f80 }, 2);
    e.k->embed(&e, (struct tensor){ table, WEIGHT_BF16 }, FAR, &(uint32_t){ WIDE + 1 }, 1, y);
    for (size_t i = 0; i < FAR; i++) hold(y[i] == (i == 5));
  }
  if (table != MAP_FAILED) munmap(table, bytes);
  free(x), free(y), free(z), free(p), free(q);
}
END_TEST
START_TEST(exponentials_where_they_end)
{
  enum { D = 64, ROWS = 5 };
  for (size_t t = 0; table_at(t) != NULL; t++)
    for (int i = 0; i < 150; i++) {
      struct engine e = { .k = table_at(t), .pool = pools[1 + below(3)] };
      struct attention_dims h = { 1, 1, D, 1 };
      float key[D * D] = { 0 }, value[D * D] = { 0 }, q[ROWS * D] = { 0 }, y[ROWS * D], truth[ROWS * D], x[D],
        *scratch = numbers(3 * kernels_scratch(&h, D));
      double p[D], z[D];
      uint32_t lo[ROWS] = { 0 }, hi[ROWS] = { D - 4, D - 3, D - 2, D - 1, D };
      for (int j = 0; j < D; j++) { /* position j has the score x[j], and one value, which is 1 */
        x[j] = -87.3f - (float) below(1 << 20) * 0x1p-16f;
        if (below(3) == 0) x[j] = (float) (-87 - (int) below(18)) * 1.0f;
        if (below(3) == 0) x[j] = ((float) below(160) - 151.5f) * 0.693147180559945f;
        if (below(9) == 0) x[j] = nextafterf(-103.972084f, below(2) ? 0 : -200);
        if (x[j] > 0) x[j] = -x[j];
        if (j == 0) x[j] = 0;
        key[j * D] = x[j], value[j * D + j] = 1;
      }
      for (int r = 0; r < ROWS; r++) q[r * D] = 1;
      struct segment s = { { .key = (uintptr_t) key, .value = (uintptr_t) value, .row_bytes = 4 * D, .head_bytes = 4 * D, .type = WEIGHT_F32 },
        0, ROWS, D - ROWS, 0 };
      oracle_attention(q, ROWS, 1, 1, D, 1, key, value, ORACLE_F32, lo, hi, lo, NULL, truth, NULL, 0);
      ck_assert(pool_reserve(e.pool, e.k->attention_room(&h, ROWS, D), NULL));
      e.k->attend(&e, &h, q, &s, 1, scratch, y, NULL);
      alike(y, truth, ROWS * D, "%s: exponentials", e.k->name);
      s.n_rows = 1, s.first_position = D - 1;
      e.k->attend(&e, &h, q, &s, 1, scratch, y, NULL);
      alike(y, truth + (ROWS - 1) * D, D, "%s: exponentials of a row", e.k->name);
      for (int j = 0; j < D; j++) {
        static const double end[] = { -746, 710, -745.1332191019412, 709.782712893384, -708.3964185322641 };
        p[j] = below(2) ? end[below(5)] : ((double) below(2110) - 1076.5) * 0.6931471805599453;
        for (size_t k = below(4); k > 0; k--) p[j] = nextafter(p[j], below(2) ? 1e9 : -1e9);
        z[j] = oracle_exp(p[j]);
      }
      e.k->exp_shifted(p, D, 0);
      ck_assert_msg(unlike_doubles(p, z, D) == D, "%s: exponentials in double", e.k->name);
      for (int kind = 0; kind < 3; kind++) { /* the curves where an exponential inside of them ends */
        for (int j = 0; j < D; j++) x[j] = (below(2) ? 88.7228394f : -103.972084f) * (below(2) ? 1 : -1) + (float) below(1 << 16) * 0x1p-13f - 4;
        (kind == ACTIVATION_SILU ? oracle_silu : kind == ACTIVATION_GELU_ERF ? oracle_gelu_erf : oracle_gelu_tanh)(x, D, truth);
        e.k->activate(&e, (enum activation_kind) kind, x, NULL, D, y);
        alike(y, truth, D, "%s: curve %d", e.k->name, kind);
      }
      free(scratch);
    }
  for (uint32_t u = 0; u < 0x7f800000u; u += i_step(u)) /* the functions alone, from the least float to the largest */
    for (uint32_t sign = 0; sign < 2; sign++) {
      float x = num_float(u | sign << 31), a[3] = { num_expf(x), num_tanhf(x), num_erff(x) },
            b[3] = { oracle_expf(x), oracle_tanhf(x), oracle_erff(x) };
      if (unlike(a, b, 3) < 3) ck_abort_msg("of %a: %a %a %a, not %a %a %a", (double) x, (double) a[0], (double) a[1], (double) a[2],
        (double) b[0], (double) b[1], (double) b[2]);
    }
}
END_TEST

/* ---- products too small for a float are zeros with a sign; lanes that are not there add none */
static float speck(void)
{
  return (float) (below(8) ? -1 : 1) * (below(6) ? 1e-30f : 1e-18f);
}
START_TEST(signs_of_nothing_are_the_oracles)
{
  for (size_t table = 0; kernels_at(table) != NULL; table++)
    for (size_t in = 1; in <= 50; in++)
      for (int kind = 0; kind < 6; kind++) {
        struct engine e = { .k = kernels_at(table) };
        size_t out = 1 + below(40), rows = 1 + below(7);
        float *w = numbers(in * out), *x = numbers(rows * in), *y = numbers(rows * out);
        float *truth = numbers(rows * out), sign = kind / 2 == 2 ? 1 : -1;
        for (size_t i = 0; i < in * out; i++) w[i] = kind / 2 ? sign * 1e-30f : speck();
        for (size_t i = 0; i < rows * in; i++) x[i] = kind / 2 ? 1e-30f : fabsf(speck());
        struct matrix m = { { w, WEIGHT_F32 }, { NULL, WEIGHT_F32 }, in, out, kind % 2 };
        oracle_linear(w, ORACLE_F32, kind % 2, NULL, ORACLE_F32, in, out, x, rows, truth);
        e.k->linear(&e, &m, 1, x, rows, &y);
        for (size_t i = 0; i < rows * out; i++)
          if (!same(&truth[i], &y[i], 4))
            ck_abort_msg("%s: [%zu][%zu]->%zu, kind %d: %g, not %g", e.k->name, rows, in, out, kind,
              (double) y[i], (double) truth[i]);
        free(w), free(x), free(y), free(truth);
      }
}
END_TEST

/* every width, in every table: luck does not decide which is tried */
START_TEST(every_width_in_every_table)
{
  for (size_t table = 0; kernels_at(table) != NULL; table++)
    for (size_t n = 1; n <= 70; n++) {
      struct engine e = { .k = kernels_at(table) };
      size_t other = 1 + below(70), rows = 1 + below(8);
      for (int t = 0; t < 6; t++) {
        enum weight_type type = (enum weight_type)(t / 2);
        size_t in = below(2) ? n : other, out = in == n ? other : n;
        char *base, *bias, *w = stored(type, in * out, &base), *b = stored(type, out, &bias);
        float *x = numbers(rows * in), *y = numbers(rows * out + 1), *truth = numbers(rows * out);
        struct matrix m = { { w, type }, { below(2) ? b : NULL, type }, in, out, t % 2 };
        y[rows * out] = 7;
        oracle_linear(w, type, t % 2, m.bias.data, type, in, out, x, rows, truth);
        e.k->linear(&e, &m, 1, x, rows, &y);
        if (!same(truth, y, 4 * rows * out) || y[rows * out] != 7)
          ck_abort_msg("%s: linear [%zu][%zu]->%zu type %d%s", e.k->name, rows, in, out, t / 2,
            t % 2 ? " turned" : "");
        free(base), free(bias), free(x), free(y), free(truth);
      }
      float *x = numbers(n), *y = numbers(n + 1), *truth = numbers(n);
      double *p = block(8 * n + 8), *q = block(8 * n + 8);
      for (int kind = 0; kind < 3; kind++) {
        static void (*const curve[3])(
          const float *, size_t, float *) = { [ACTIVATION_GELU_TANH] = oracle_gelu_tanh,
          [ACTIVATION_GELU_ERF] = oracle_gelu_erf,
          [ACTIVATION_SILU] = oracle_silu };
        y[n] = 7, curve[kind](x, n, truth);
        e.k->activate(&e, (enum activation_kind) kind, x, NULL, n, y);
        if (!same(truth, y, 4 * n) || y[n] != 7)
          ck_abort_msg("%s: curve %d of %zu", e.k->name, kind, n);
      }
      for (int last = 0; last < 2; last++) { /* the likeliest in the middle,
        and behind the last sixteen */
        if (last) x[n - 1] = 99;
        p[n] = 7, oracle_softmax(x, n, q);
        e.k->softmax(&e, x, 1, n, p);
        if (!same(p, q, 8 * n) || p[n] != 7) ck_abort_msg("%s: softmax of %zu", e.k->name, n);
      }
      free(x), free(y), free(truth), free(p), free(q);
    }
}
END_TEST

/* the two short formats: halves between two numbers, the largest, the least, what is no number */
START_TEST(short_formats_at_their_edges)
{
  static const struct {
    float x;
    uint16_t f16;
  } half[] = { { 65504, 0x7bff }, { 65519.996f, 0x7bff }, { 65520, 0x7c00 },
    { -65519.996f, 0xfbff }, { -65520, 0xfc00 }, { 65536, 0x7c00 }, { 1e38f, 0x7c00 },
    { INFINITY, 0x7c00 }, { -INFINITY, 0xfc00 }, { 0x1p-14f, 0x0400 }, { 0x1.ffbffep-15f, 0x03ff },
    { 0x1.ffcp-15f, 0x0400 }, { 0x1p-24f, 1 }, { 0x1p-25f, 0 }, { 0x1.000002p-25f, 1 },
    { 0x1.8p-24f, 2 }, { 0x1.4p-23f, 2 }, { 0x1.cp-23f, 4 }, { -0x1p-25f, 0x8000 },
    { 0x1p-149f, 0 }, { -0.0f, 0x8000 }, { 0, 0 }, { 1, 0x3c00 }, { 0x1.002p0f, 0x3c00 },
    { 0x1.006p0f, 0x3c02 }, { 0x1.002002p0f, 0x3c01 }, { 0x1.ffep0f, 0x4000 }, { 2049, 0x6800 },
    { 2051, 0x6802 } };
  for (size_t i = 0; i < sizeof half / sizeof *half; i++)
    ck_assert_msg(num_to_f16(half[i].x) == half[i].f16, "%a is %04x", (double) half[i].x,
      num_to_f16(half[i].x));
  static const struct {
    uint32_t x;
    uint16_t bf16;
  } wide[] = { { 0x3f808000, 0x3f80 }, { 0x3f818000, 0x3f82 }, { 0x3f808001, 0x3f81 },
    { 0x3f807fff, 0x3f80 }, { 0x7f7f7fff, 0x7f7f }, { 0x7f7f8000, 0x7f80 }, { 0xff7fffff, 0xff80 },
    { 0x7f800000, 0x7f80 }, { 0xff800000, 0xff80 }, { 0x00008000, 0 }, { 0x00008001, 1 },
    { 0x80000001, 0x8000 }, { 0x007fffff, 0x0080 } };
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
    ck_assert_msg(num_to_bf16(num_float(wide[i].x)) == wide[i].bf16, "%08x is %04x", wide[i].x,
      num_to_bf16(num_float(wide[i].x)));
  for (unsigned bit = 0; bit < 23; bit++) /* a payload is never an infinity */
    for (uint32_t sign = 0; sign < 2; sign++)
      for (uint32_t more = 0; more < 2; more++) {
        uint32_t u = sign << 31 | 0x7f800000u | 1u << bit | (more ? 0x7fffffu : 0);
        uint16_t h = num_to_f16(num_float(u)), b = num_to_bf16(num_float(u));
        ck_assert((h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0 && h >> 15 == sign);
        ck_assert((b & 0x7f80) == 0x7f80 && (b & 0x7f) != 0 && b >> 15 == sign);
      }
}
END_TEST

/* room, tables and sentences at their limits */
START_TEST(room_is_for_every_block)
{
  struct attention_dims h = { 4, 2, 6, 1 };
  for (size_t max_len = 1; max_len < 1100; max_len++) {
    size_t blocks = kernels_scratch(&h, max_len) / 8;
    ck_assert(kernels_scratch(&h, max_len) % 8 == 0
      && blocks >= (max_len + 255) / 256 + (max_len % 256 != 1));
    ck_assert_uint_eq(blocks, max_len / 256 + 2);
  }
  struct error why;
  ck_assert_ptr_null(kernels_find("", &why));
  ck_assert_ptr_null(kernels_find("scala", &why));
  ck_assert(strstr(why.text, "kernels: scala is not among those") == why.text
    && strstr(why.text, "one of plain, scalar"));
  ck_assert_ptr_null(kernels_find("scalar2", &why));
  struct pool *p = pools[3];
  for (size_t k = 0; kernels_at(k) != NULL; k++)
    for (int n = 16383; n <= 16385; n++) {
      struct engine one = { .k = kernels_at(k) }, three = { .k = kernels_at(k), .pool = p };
      float *x = numbers((size_t) n), *y = numbers((size_t) n), *z = numbers((size_t) n);
      double *a = block(8 * (size_t) n), *b = block(8 * (size_t) n);
      one.k->activate(&one, ACTIVATION_SILU, x, z, (size_t) n, y);
      three.k->activate(&three, ACTIVATION_SILU, x, z, (size_t) n, x);
      ck_assert(same(x, y, 4 * (size_t) n));
      one.k->log_softmax(&one, y, 1, (size_t) n, a),
        three.k->log_softmax(&three, x, 1, (size_t) n, b);
      ck_assert(same(a, b, 8 * (size_t) n));
      free(x), free(y), free(z), free(a), free(b);
    }
}
END_TEST

#ifndef TALLIED
int main(void)
{
  Suite *s = suite_create("kernels");
#else
static Suite *kernel_suite(void)
{
  Suite *s = suite_create("tally");
#endif
  TCase *edges = tcase_create("edges");
  tcase_set_timeout(edges, 280);
  tcase_add_checked_fixture(edges, open_pools, close_pools);
  tcase_add_test(edges, signs_of_nothing_are_the_oracles);
  tcase_add_test(edges, every_width_in_every_table);
  tcase_add_test(edges, short_formats_at_their_edges);
  tcase_add_test(edges, room_is_for_every_block);
  tcase_add_test(edges, every_window_in_a_tile);
  tcase_add_test(edges, a_block_that_is_not_seen_leaves_no_sign);
  tcase_add_test(edges, attention_at_the_edges_is_the_oracle);
#ifndef TALLIED /* it draws nothing: what it asks has been asked */
  tcase_add_test(edges, a_block_of_infinite_scores_weighs_nothing);
#endif
  tcase_add_test(edges, linear_at_the_edges_is_the_oracle);
  tcase_add_test(edges, inputs_become_the_nearest_bytes);
  tcase_add_test(edges, the_other_kernels_at_the_edges_are_the_oracle);
  tcase_add_test(edges, exponentials_where_they_end);
  tcase_add_test(edges, long_rows_are_the_oracle);
  suite_add_tcase(s, edges);
  TCase *t = tcase_create("kernels");
  tcase_set_timeout(t, 280);
  tcase_add_checked_fixture(t, open_pools, close_pools);
  tcase_add_test(t, linear_is_the_oracle_on_small_shapes);
  tcase_add_test(t, blocks_and_formats_are_the_oracle);
  tcase_add_test(t, a_long_row_goes_on_without_a_workspace);
  tcase_add_test(t, each_matrix_has_its_format);
  tcase_add_test(t, blocks_in_panels_are_the_plain_ones);
  tcase_add_test(t, the_largest_sums_are_exact);
  tcase_add_test(t, pairs_are_the_plain_ones);
  tcase_add_test(t, linear_is_the_oracle_on_larger_shapes);
  tcase_add_test(t, linear_is_the_oracle_where_panels_are_packed);
  tcase_add_test(t, few_rows_are_single_rows);
  tcase_add_test(t, norms_are_the_oracle);
  tcase_add_test(t, rotation_is_the_oracle);
  tcase_add_test(t, attention_is_the_oracle_within_a_block);
  tcase_add_test(t, attention_is_the_oracle_across_blocks);
  tcase_add_test(t, rows_are_moved_and_looked_at);
  tcase_add_test(t, activations_are_the_oracle);
  tcase_add_test(t, probabilities_are_the_oracle);
  tcase_add_test(t, embedding_widens_exactly);
  tcase_add_test(t, every_row_agrees_with_itself);
  tcase_add_test(t, a_type_is_read_as_itself_or_refused);
  tcase_add_test(t, blocks_are_those_of_others);
  tcase_add_test(t, blocks_refuse_what_they_cannot_hold);
  tcase_add_test(t, a_search_finds_scales_that_err_less);
  tcase_add_test(t, prepared_weights_give_the_same_bits);
  tcase_add_test(t, modes_of_the_caller_do_not_matter);
  tcase_add_test(t, unseen_positions_are_never_touched);
  tcase_add_test(t, zeroing_after_the_softmax_is_wrong);
  tcase_add_test(t, tables_are_found_and_pass_their_test);
  tcase_add_test(t, yardsticks_do_what_they_say);
  tcase_add_test(t, self_test_refuses_what_rounds_otherwise);
  suite_add_tcase(s, t);
#ifndef TALLIED
  TCase *f = tcase_create("functions");
  tcase_set_timeout(f, 120);
  tcase_add_checked_fixture(f, open_pools, close_pools);
  tcase_add_test(f, narrowing_is_to_the_nearest_and_even);
  tcase_add_test(f, functions_at_special_values);
  tcase_add_test(f, power_keeps_the_rules_of_annex_f);
  tcase_add_test(f, functions_are_near_the_library);
  suite_add_tcase(s, f);
  return suite_run(s);
#else
  return s;
#endif
}
