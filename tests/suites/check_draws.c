/* Chapter 7: are the dice fair, and what does a choice depend on? */
#define _DEFAULT_SOURCE
#include <fenv.h>
#include <math.h>
#include "tiny.h"
#include "loop/generate.h"
#include "cache/cache.h"
#include "choices.h"
#include "families/loader.h"
#include "kernels/kernels.h"

/* ---- are the dice fair?  The seed is fixed, so that the answer is always the same: 2 * 10^5
 * draws each, at the 99.99 % quantile */
enum { DRAWS = 200000 };
static const float eight[8] = { 0, .5f, 1, -1, 2, .25f, -2.5f, 1.5f }; /* from 0.5 % to 44 % */
static double probability(int i)
{
  double sum = 0;
  for (int k = 0; k < 8; k++) sum += exp((double) eight[k]);
  return exp((double) eight[i]) / sum;
}
static void draw(uint8_t *to, size_t n, uint64_t seed, uint32_t sequence, uint32_t position)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct funnel f;
  ck_assert(funnel_open(&f, &m, kernels_find(NULL, NULL), 8, &why));
  ck_assert(funnel_fill(&f, eight, &why));
  for (size_t i = 0; i < n; i++)
    to[i] = (uint8_t) funnel_choose(&f, seed, sequence, position + (uint32_t) i);
  funnel_close(&f);
}
static double chi_square(const uint8_t *x, size_t n)
{
  double count[8] = { 0 }, sum = 0;
  for (size_t i = 0; i < n; i++) count[x[i]]++;
  for (int i = 0; i < 8; i++) {
    double want = (double) n * probability(i);
    sum += (count[i] - want) * (count[i] - want) / want;
  }
  return sum;
}
/* of pairs against the product of their true probabilities: 63 degrees of freedom */
static double chi_square_of_pairs(const uint8_t *x, const uint8_t *y, size_t n, size_t stride)
{
  double count[64] = { 0 }, sum = 0;
  size_t pairs = 0;
  for (size_t i = 0; i < n; i += stride, pairs++) count[x[i] * 8 + y[i]]++;
  for (int i = 0; i < 64; i++) {
    double want = (double) pairs * probability(i / 8) * probability(i % 8);
    sum += (count[i] - want) * (count[i] - want) / want;
  }
  return sum;
}
START_TEST(the_dice_are_fair)
{
  static uint8_t x[DRAWS + 8], y[DRAWS];
  static const double most_7 = 29.878, most_63 = 115.0; /* the 99.99 % quantiles of chi-square */
  draw(x, DRAWS + 8, 20260101, 0, 0);
  double one = chi_square(x, DRAWS);
  printf("chi-square of %d draws over positions: %.2f; wanted: below %.2f\n", DRAWS, one, most_7);
  ck_assert(one < most_7 && one > .5);
  static const struct {
    const char *what;
    uint64_t seed;
    uint32_t sequence, position;
  } at[] = { { "the next position", 20260101, 0, 1 }, { "the next but one", 20260101, 0, 2 },
    { "the next but seven", 20260101, 0, 8 }, { "the next sequence", 20260101, 1, 0 },
    { "a far sequence", 20260101, 0x80000000u, 0 }, { "the next seed", 20260102, 0, 0 },
    { "a seed that differs in its upper half", 20260101 + (1ull << 32), 0, 0 },
    { "position and sequence exchanged", 20260101, 5, 0 } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    draw(y, DRAWS, at[i].seed, at[i].sequence, at[i].position);
    /* of a text with itself every second pair, so that no draw is counted twice */
    double pairs = chi_square_of_pairs(x, y, DRAWS, i == 0 ? 2 : 1);
    printf("  with %s: %.2f; wanted: below %.2f\n", at[i].what, pairs, most_63);
    ck_assert_msg(pairs < most_63 && pairs > 15, "%s: %g", at[i].what, pairs);
    ck_assert_msg(chi_square(y, DRAWS) < most_7, "%s", at[i].what);
  }
}
END_TEST
START_TEST(every_bit_is_a_coin)
{
  unsigned ones[64] = { 0 }, both[64] = { 0 };
  double sum = 0, pairs = 0;
  uint32_t key[2] = { 20260101, 0 }, last[2] = { 0, 0 };
  for (uint32_t i = 0; i < DRAWS; i++) {
    uint32_t counter[4] = { i % 8, i / 8, 0, 0 }, out[4];
    philox4x32(key, counter, out);
    for (int b = 0; b < 64; b++)
      ones[b] += out[b / 32] >> b % 32 & 1, both[b] += (out[b / 32] ^ last[b / 32]) >> b % 32 & 1;
    last[0] = out[0], last[1] = out[1];
  }
  for (int b = 0; b < 64; b++) {
    double z = (ones[b] - DRAWS / 2.0) / sqrt(DRAWS / 4.0),
           t = (both[b] - DRAWS / 2.0) / sqrt(DRAWS / 4.0);
    sum += z * z, pairs += t * t;
  }
  printf("64 bits: %.2f, and beside their neighbours: %.2f; wanted: below 116.4\n", sum, pairs);
  ck_assert(sum < 116.4 && pairs < 116.4);
}
END_TEST

/* ---- what a choice does not depend on */
struct text {
  uint32_t id[80];
  size_t n;
};
struct way {
  bool plain; /* in the array store: one sequence, nobody else */
  uint32_t sequence;
  size_t chunk;
  unsigned workers;
  bool watched, others;
  const struct kernels *k;
};
static bool watch(void *ctx, const struct step *now)
{
  *(size_t *) ctx += now->length > 0;
  return true;
}
static void spoken(const struct model *lm, const struct sampling_params *s, uint64_t seed,
  const uint32_t *prompt, size_t n, size_t more, struct way w, struct text *out)
{
  struct memory m = { .fail_at = 0 };
  struct counters c = { 0 };
  struct error why = { "" };
  struct pool *pool = w.workers > 1 ? pool_open(&m, w.workers, &why) : NULL;
  struct engine e = { .k = w.k ? w.k : kernels_find(NULL, NULL), .pool = pool, .c = &c };
  struct store *store = w.plain
    ? array_store_open(&m, &lm->config, &why)
    : cache_open(&m, &lm->config, 3, &(struct cache_options){ .page_rows = 16 }, &why);
  ck_assert_msg(store != NULL, "%s", why.text);
  if (w.others) { /* somebody else's text is in the store already */
    struct row rows[9];
    struct pass *p;
    for (uint32_t i = 0; i < 9; i++) rows[i] = (struct row){ w.sequence == 2 ? 0 : 2, i, 1 + i };
    ck_assert(model_forward(&e, lm, store, rows, 9, &p, &why));
    pass_close(p);
  }
  struct sampler d = { .s = *s, .seed = seed, .sequence = 7 };
  ck_assert(funnel_open(&d.f, &m, e.k, lm->config.vocab_size, &why));
  size_t steps = 0;
  struct generate_options want = { .max_new_tokens = more,
    .on_step = w.watched ? watch : NULL,
    .ctx = &steps,
    .sequence = w.sequence,
    .recall = !w.plain ? store_match_prefix : NULL,
    .chunk = w.chunk,
    .select = sampler_choose,
    .select_ctx = &d };
  struct generate_context g = { &e, lm, store, &m };
  struct continuation text;
  ck_assert_msg(generate(&g, prompt, n, &want, &text, &why), "%s", why.text);
  ck_assert(!w.watched || steps == text.text.n - n);
  ck_assert_uint_le(text.text.n, 80);
  out->n = text.text.n, memcpy(out->id, text.text.id, out->n * sizeof *out->id);
  continuation_free(&m, &text), funnel_close(&d.f), store_close(store), pool_close(&m, pool);
  ck_assert_uint_eq(m.all.live, 0);
}
static void same_text(const struct text *a, const struct text *b, const char *what)
{
  ck_assert_msg(a->n == b->n && memcmp(a->id, b->id, a->n * sizeof *a->id) == 0, "%s", what);
}
/* three texts in the same passes, row beside row, each with a sampler of its own */
static void in_company(const struct model *lm, const struct sampling_params *s, uint64_t seed,
  const uint32_t *prompt, size_t n, size_t more, struct text *out)
{
  struct memory m = { .fail_at = 0 };
  struct counters c = { 0 };
  struct error why;
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct store *store =
    cache_open(&m, &lm->config, 3, &(struct cache_options){ .page_rows = 16 }, &why);
  uint32_t id[3][80], vocab = lm->config.vocab_size;
  size_t length[3];
  struct sampler d[3];
  float *logits = malloc(3 * vocab * sizeof *logits);
  for (uint32_t q = 0; q < 3; q++) {
    length[q] = n + q;
    for (size_t i = 0; i < length[q]; i++)
      id[q][i] = q == 0 && i < n ? prompt[i] : (uint32_t) (3 + i + q) % vocab;
    d[q] = (struct sampler){ .s = *s, .seed = seed, .sequence = 7 + q };
    ck_assert(funnel_open(&d[q].f, &m, e.k, vocab, &why));
  }
  for (size_t step = 0; step < more; step++) {
    struct row rows[240];
    size_t k = 0, which[3];
    for (uint32_t q = 3; q-- > 0; which[q] = k - 1)
      for (size_t i = store_length(store, q); i < length[q]; i++)
        rows[k++] = (struct row){ q, (uint32_t) i, id[q][i] };
    struct pass *p;
    ck_assert(model_forward(&e, lm, store, rows, k, &p, &why)
      && model_logits(&e, lm, p, which, 3, logits, &why));
    pass_close(p);
    for (uint32_t q = 0; q < 3; q++) {
      struct continuation text = { .text = { id[q], length[q], 80 }, .n_prompt = n + q };
      ck_assert(sampler_choose(&d[q], logits + q * vocab, &text, &id[q][length[q]], &why));
      length[q]++;
    }
  }
  out->n = length[0], memcpy(out->id, id[0], out->n * sizeof *out->id);
  for (int q = 0; q < 3; q++) funnel_close(&d[q].f);
  store_close(store), free(logits);
  ck_assert_uint_eq(m.all.live, 0);
}
static void no_way_differs(const struct model *lm, uint64_t seed)
{
  struct sampling_params s = sampling_default();
  s.temperature = 1.3, s.top_p = .97, s.min_p = .001, s.top_k = lm->config.vocab_size - 1;
  uint32_t prompt[5];
  for (int i = 0; i < 5; i++) prompt[i] = (uint32_t) (rnd(&seed) % lm->config.vocab_size);
  struct text want, got, half;
  const size_t more = 20;
  spoken(lm, &s, seed, prompt, 5, more, (struct way){ .plain = true }, &want);
  ck_assert_uint_eq(want.n, 5 + more);
  for (size_t i = 0; i < 2 * 2 * 3 * 3 * 2; i++) {
    static const size_t chunk[] = { 0, 1, 3 };
    struct way w = { .plain = i % 2,
      .watched = i / 2 % 2,
      .chunk = chunk[i / 4 % 3],
      .workers = 1 + (unsigned) (i / 12 % 3),
      .others = i % 2 == 0 && i / 36 % 2,
      .sequence = i % 2 ? 0 : (uint32_t) i % 3 };
    spoken(lm, &s, seed, prompt, 5, more, w, &got);
    same_text(&got, &want, "a way of running");
  }
  for (size_t i = 0; kernels_at(i) != NULL; i++) {
    spoken(lm, &s, seed, prompt, 5, more, (struct way){ .k = kernels_at(i) }, &got);
    same_text(&got, &want, kernels_at(i)->name);
  }
  in_company(lm, &s, seed, prompt, 5, more, &got);
  same_text(&got, &want, "in company");
  for (size_t cut = 1; cut < more;
       cut += 6) { /* begun, and continued with what was written as a part of the prompt */
    spoken(lm, &s, seed, prompt, 5, cut, (struct way){ .chunk = 0 }, &half);
    spoken(lm, &s, seed, half.id, half.n, more - cut, (struct way){ .plain = cut % 2 }, &got);
    same_text(&got, &want, "continued");
  }
  spoken(lm, &s, seed + 1, prompt, 5, more, (struct way){ .chunk = 0 },
    &got); /* and another seed is another text */
  ck_assert(memcmp(got.id, want.id, want.n * sizeof *want.id) != 0);
}
START_TEST(only_seed_sequence_and_position_count)
{
  struct tiny t;
  tiny_make(&t, suite_seed());
  for (uint64_t seed = 1; seed <= (LESS > 1 ? 1 : 4); seed++) no_way_differs(&t.lm, seed * 1000003);
  tiny_free(&t);
}
END_TEST
START_TEST(nor_does_the_model_of_the_book_see_a_difference)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct model *lm = model_open(&m, LESS > 1 ? SMALL : "models/pocket", &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  no_way_differs(lm, 5);
  model_close(&m, lm);
}
END_TEST
/* a host may round upwards and flush small numbers: scores, what is left of them, and the choice stay as they are */
START_TEST(modes_of_the_caller_do_not_change_a_choice)
{
  enum { V = 200 };
  struct memory m = { .fail_at = 0 };
  struct error why;
  uint64_t seed = suite_seed();
  double want[V];
  size_t left;
  for (int k = 0; kernels_at((size_t) k) != NULL; k++) {
    struct sampler d = { .s = sampling_default(), .seed = seed };
    d.s.temperature = 0.7, d.s.top_p = 0.9;
    ck_assert(funnel_open(&d.f, &m, kernels_at((size_t) k), V, &why));
    for (uint32_t i = 0; i < 50; i++) {
      float logits[V];
      uint32_t id[1] = { i }, plain = V, other = V;
      struct continuation text = { .text = { id, 1, 1 }, .n_prompt = 1 };
      for (int j = 0; j < V; j++) logits[j] = tiny_normal(&seed) * 9;
      ck_assert(sampler_choose(&d, logits, &text, &plain, &why));
      memcpy(want, d.f.score, sizeof want), left = d.f.n;
      fesetround(FE_UPWARD);
      bool ok = sampler_choose(&d, logits, &text, &other, &why);
      int found = fegetround();
      fesetround(FE_TONEAREST);
      ck_assert(ok && found == FE_UPWARD);
      ck_assert_uint_eq(plain, other);
      ck_assert_msg(left == d.f.n && memcmp(want, d.f.score, sizeof want) == 0, "seed %llu: other scores", (unsigned long long) seed);
    }
    funnel_close(&d.f);
  }
}
END_TEST

int main(void)
{
  unsetenv("INCIPIT_ISA"), unsetenv("OMP_NUM_THREADS");
  Suite *s = suite_create("draws");
  TCase *t = tcase_create("chance");
  tcase_add_test(t, the_dice_are_fair);
  tcase_add_test(t, every_bit_is_a_coin);
  tcase_add_test(t, only_seed_sequence_and_position_count);
  tcase_add_test(t, nor_does_the_model_of_the_book_see_a_difference);
  tcase_add_test(t, modes_of_the_caller_do_not_change_a_choice);
  suite_add_tcase(s, t);
  return suite_run(s);
}
