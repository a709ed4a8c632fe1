/* Chapter 2 built so that it counts every multiply-add one by one (tests/suites/tally.h) and divides even
   the smallest work: the same equalities as check_kernels.c, and then what they do not show by
   themselves: that every table and every worker really ran. */
#define TALLIED
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "check_kernels.c"
#include "kernels/kernels.h"
#include <stdatomic.h>

enum { TABLES = 3, KERNELS = 9, WORKERS = 3 }; /* a part of pool_share counts as the worker of its number */
static const char *const table_file[TABLES] = { "scalar", "avx2", "avx512" }; /* scalar.c, scalar_linear.c, ... */
static const char *const part[KERNELS] = { "linear part", "normalize part", "angles part",
  "rotate part", "attend part", "activate part", "softmax part", "add part", "embed part" };
static atomic_ullong calls[TABLES][KERNELS][WORKERS], linear_madds, attention_madds, pairs;

static bool of_table(const char *file, int t)
{
  size_t n = strlen(table_file[t]);
  file = strrchr(file, '/') + 1;
  return strncmp(file, table_file[t], n) == 0 && (file[n] == '.' || file[n] == '_');
}

void tally_count(const char *file, const char *what, unsigned worker, uint64_t amount)
{
  if (strcmp(what, "linear") == 0)
    atomic_fetch_add_explicit(&linear_madds, amount, memory_order_relaxed);
  else if (strcmp(what, "attention") == 0)
    atomic_fetch_add_explicit(&attention_madds, amount, memory_order_relaxed);
  else if (strcmp(what, "pairs") == 0)
    atomic_fetch_add_explicit(&pairs, amount, memory_order_relaxed);
  else
    for (int t = 0; t < TABLES; t++)
      for (int k = 0; k < KERNELS; k++)
        if (of_table(file, t) && strcmp(what, part[k]) == 0)
          atomic_fetch_add_explicit(&calls[t][k][worker % WORKERS], amount, memory_order_relaxed);
}

/* the multiply-adds told one by one are rows x in x out, whatever the blocking; and those of
 * attention 2 x head_dim x pairs */
START_TEST(every_multiply_add_is_told)
{
  for (int i = 0; i < 600; i++) {
    struct engine e = host_engine();
    while (e.k == &kernels_plain) e = host_engine(); /* which tells of nothing */
    size_t in = 1 + below(90), out = 1 + below(90), rows = 1 + below(9);
    float *w = numbers(in * out), *x = numbers(rows * in), *y = numbers(rows * out);
    struct matrix m = { { w, WEIGHT_F32 }, { NULL, WEIGHT_F32 }, in, out, below(2) };
    unsigned long long before = linear_madds;
    e.k->linear(&e, &m, 1, x, rows, &y);
    ck_assert_uint_eq(linear_madds - before, rows * in * out);
    free(w), free(x), free(y);

    struct attention_dims h = { 1 + (uint32_t) below(3), 1, 1 + (uint32_t) below(80), 1 };
    size_t d = h.head_dim, seen_pairs = 0;
    struct segment seen[4];
    rows = 1 + below(4);
    float *k = numbers(600 * d), *q = numbers(rows * h.n_heads * d),
          *o = numbers(rows * h.n_heads * d), *scratch = numbers(3 * kernels_scratch(&h, 600));
    for (size_t r = 0; r < rows; r++) {
      uint32_t hi = 1 + (uint32_t) below(600), lo = (uint32_t) below(hi),
               sinks = (uint32_t) below(below(2) ? lo + 1 : 1);
      seen[r] = (struct segment){ { .key = (uintptr_t) k, .value = (uintptr_t) k, .row_bytes = 4 * h.head_dim,
                                    .head_bytes = 4 * d, .sinks = sinks },
        (uint32_t) r, 1, hi - 1, lo > 0 ? hi - lo : 0 };
      seen_pairs += hi - lo + sinks;
    }
    unsigned long long a = attention_madds, p = pairs;
    e.k->attend(&e, &h, q, seen, rows, scratch, o, NULL);
    ck_assert_uint_eq(attention_madds - a, 2 * seen_pairs * h.n_heads * d);
    ck_assert_uint_eq(pairs - p, seen_pairs * h.n_heads);
    free(k), free(q), free(o), free(scratch);
  }
}
END_TEST

/* in one process, since each test is one: everything once more, and then the counts */
START_TEST(every_table_and_every_worker_ran)
{
  for (int i = 0; i < 300; i++) one_linear(60, 60, 7), one_attention(40, 400, false);
  for (size_t i = 0; kernels_at(i) != NULL; i++)
    for (unsigned threads = 1; threads <= 3; threads++) {
      struct engine e = { .k = kernels_at(i), .pool = pools[threads] };
      float x[4 * 48], y[4 * 48], c[4 * 8], s[4 * 8], frequency[8] = { 1 };
      double p[4 * 48];
      uint32_t id[4] = { 0, 1, 2, 3 };
      for (int j = 0; j < 4 * 48; j++) x[j] = number();
      struct norm g = { NORM_LAYER, { x, WEIGHT_F32 }, { x, WEIGHT_F32 }, 1e-5f };
      e.k->normalize(&e, &g, x, 4, 48, y);
      e.k->angles(&e, id, 4, frequency, 8, 1, c, s);
      e.k->rotate(&e, y, 4, 3, 8, c, s);
      e.k->activate(&e, ACTIVATION_SILU, y, NULL, 4 * 48, y);
      e.k->softmax(&e, x, 4, 48, p);
      e.k->add(&e, y, x, 4 * 48);
      e.k->embed(&e, (struct tensor){ x, WEIGHT_F32 }, 48, id, 4, y);
    }
  for (int t = 0; t < TABLES; t++) {
    static const char *const name[TABLES] = { "scalar", "avx2", "avx512" };
    if (kernels_find(name[t], NULL) == NULL) {
      printf("NOT RUN: kernels %s, which this machine lacks\n", name[t]);
      continue;
    }
    for (int k = 0; k < KERNELS; k++)
      for (unsigned w = 0; w < (k < 7 ? WORKERS : 1); w++)
        ck_assert_msg(calls[t][k][w] > 0, "%s: %s of worker %u never ran", name[t], part[k], w);
  }
}
END_TEST

int main(void)
{
  Suite *s = kernel_suite();
  TCase *t = tcase_create("tally");
  tcase_set_timeout(t, 200);
  tcase_add_checked_fixture(t, open_pools, close_pools);
  tcase_add_test(t, every_multiply_add_is_told);
  tcase_add_test(t, every_table_and_every_worker_ran);
  suite_add_tcase(s, t);
  return suite_run(s);
}
