/* tests.c -- lab 7: the stages of a sampler one by one, Philox, and the draw */
#include "kit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/kernels.h"
#include "sampling/sampling.h"

/* what counted.c counts */
enum { LOGS, MIXED };

enum { MOST = 4000, SHOWN = 12 };
static struct memory memory;
static struct error why;
static struct funnel f;
static struct kernels kernels; /* the plain ones, but the exponentials are counted */
static float logits[MOST];
static uint64_t exponentials;

static void counted_exp(double *z, size_t n, double max)
{
  exponentials += n;
  kernels_plain.exp_shifted(z, n, max);
}

static bool begin(size_t vocab)
{
  memset(&memory, 0, sizeof memory);
  why.text[0] = '\0';
  exponentials = 0;
  kernels = kernels_plain;
  kernels.exp_shifted = counted_exp;
  return funnel_open(&f, &memory, &kernels, vocab, &why);
}
static void end(void)
{
  bool zero = true;
  for (size_t i = 0; i < f.vocab; i++) zero = zero && f.count[i] == 0;
  say("counts are zero again %s", zero ? "yes" : "no");
  funnel_close(&f);
  say("bytes left %llu", (unsigned long long) memory.all.live);
}

/* logits of one of several kinds: spread, tied, near each other, whole numbers, some of them out */
static void draw_logits(size_t vocab, unsigned kind)
{
  static const float few[] = { -2, -1, -0.0f, 0, 0.5f, 1, 1, 2 };
  for (size_t i = 0; i < vocab; i++)
    switch (kind % 6) {
    case 0: logits[i] = 4 * draw_float(); break;
    case 1: logits[i] = few[draw(8)]; break;
    case 2: logits[i] = 12 * draw_float() * draw_float(); break;
    case 3: logits[i] = draw(5) ? 3 * draw_float() : -INFINITY; break;
    case 4: logits[i] = -5 + draw_float(); break;
    default: logits[i] = (float) draw(3) - 1; break;
    }
  logits[draw((uint32_t) vocab)] = 1.5f * draw_float();
}

static void tell_logits(size_t vocab)
{
  char line[300] = "";
  size_t n = 0;
  for (size_t i = 0; i < vocab && i < SHOWN; i++) n += (size_t) snprintf(line + n, sizeof line - n, " %.5g", (double) logits[i]);
  tell("logits of %zu tokens%s%s", vocab, line, vocab > SHOWN ? " ..." : "");
}
static void tell_ids(const char *what, const uint32_t *id, size_t n)
{
  char line[300] = "";
  size_t at = 0;
  for (size_t i = 0; i < n && i < 30; i++) at += (size_t) snprintf(line + at, sizeof line - at, " %u", (unsigned) id[i]);
  tell("%s%s", what, n == 0 ? " none" : line);
}

/* which tokens are left and with what scores; and that the funnel is what its header says */
static void say_left(void)
{
  static bool left[MOST];
  char line[400] = "";
  size_t at = 0, n = f.n <= f.vocab ? f.n : f.vocab;
  uint64_t h = 0xcbf29ce484222325u;
  bool in_order = true, out = true;
  memset(left, 0, sizeof left);
  for (size_t i = 0; i < n; i++) {
    const uint32_t *id = f.candidates;
    if (id[i] >= f.vocab) {
      say("a candidate is no id");
      return;
    }
    left[id[i]] = true;
    if (i == 0) continue;
    double x = f.score[id[i - 1]], z = f.score[id[i]];
    in_order = in_order && (f.sorted ? x > z || (x == z && id[i - 1] < id[i]) : id[i - 1] < id[i]);
  }
  for (size_t i = 0; i < f.vocab; i++) out = out && (left[i] || f.score[i] == -INFINITY);
  for (size_t i = 0, k = 0; i < f.vocab; i++) {
    if (!left[i]) continue;
    if (k++ < 20) at += (size_t) snprintf(line + at, sizeof line - at, " %zu", i);
    h = (h ^ i) * 0x100000001b3u;
  }
  say("%zu left:%s%s", n, line, n > 20 ? " ..." : "");
  if (n > 20) say("their sum %016llx", (unsigned long long) h);
  for (size_t i = 0, k = 0; i < f.vocab && k < SHOWN; i++)
    if (left[i]) say("score of %zu is %.17g", i, f.score[i] + 0.0), k++;
  say("in order %s, the others out %s", in_order ? "yes" : "no", out ? "yes" : "no");
}

/* fills the funnel; sometimes the list is sorted, as a stage before may have left it */
static bool filled(size_t vocab, bool sorted)
{
  static uint8_t allowed[MOST];
  f.allowed = NULL;
  if (draw(5) == 0) {
    for (size_t i = 0; i < vocab; i++) allowed[i] = draw(4) > 0;
    uint32_t one = draw((uint32_t) vocab);
    allowed[one] = 1, logits[one] = draw_float();
    f.allowed = allowed;
    tell("some tokens are masked");
  }
  bool ok = funnel_fill(&f, logits, &why);
  if (ok && sorted) {
    funnel_distribution(&f);
    tell("the list is sorted before");
  }
  return ok;
}

static size_t vocab_of(unsigned size)
{ return size <= 12 ? size : size <= 40 ? 5 + draw(30) : 100 + draw(size == 60 ? MOST - 100 : 400); }

static void distribution(unsigned size)
{
  size_t vocab = vocab_of(size);
  if (!begin(vocab)) return;
  draw_logits(vocab, size);
  tell_logits(vocab);
  if (filled(vocab, false)) {
    funnel_distribution(&f);
    double sum = 0;
    for (size_t i = 0; i < f.n; i++) sum += f.weight[i];
    for (size_t i = 0; i < f.n && i < 25; i++) {
      say("place %zu has %u", i, (unsigned) f.candidates[i]);
      say_near("probability", f.weight[i]);
    }
    say_near("sum", sum);
    say_left();
  }
  end();
}

static void temperature(unsigned size)
{
  static const double some[] = { 1, 0.5, 2, 0, 0.8, 1e-5, 1e4, 0.1, 1.5, 0 };
  size_t vocab = vocab_of(size);
  double t = size % 3 ? some[size % 10] : 0.05 + draw(40) / 10.0;
  if (!begin(vocab)) return;
  draw_logits(vocab, draw(6));
  tell_logits(vocab);
  tell("temperature %g", t);
  if (filled(vocab, size % 4 == 1)) {
    struct sequence_bias low = { &(uint32_t) { draw((uint32_t) vocab) }, 1, -1.7e308 };
    if (size % 8 == 5 && f.n > 1) {
      tell("a bias of -1.7e308 on %u", (unsigned) *low.id);
      funnel_sequence_bias(&f, &low, 1, NULL, 0);
    }
    funnel_temperature(&f, t);
    say_left();
  }
  end();
}

static void top_k(unsigned size)
{
  size_t vocab = vocab_of(size), k = size % 11 == 10 ? 0 : size % 7 == 6 ? vocab + draw(3) : 1 + draw((uint32_t) vocab);
  if (!begin(vocab)) return;
  draw_logits(vocab, size % 2 ? 1 + 4 * draw(2) : draw(6));
  tell_logits(vocab);
  tell("k %zu", k);
  if (filled(vocab, size % 4 == 3)) {
    funnel_top_k(&f, k);
    say_left();
  }
  end();
}

/* a share that is reached exactly, or one that is not near any sum */
static double draw_share(size_t vocab, unsigned size)
{
  if (size % 5 == 0) {
    for (size_t i = 0; i < vocab; i++) logits[i] = -1.25f; /* all alike, and a number that is a power of two */
    return draw(5) / 4.0;
  }
  return size % 9 == 0 ? draw(2) : 0.02 + 0.96 * draw(1000) / 1000;
}

/* from the greatest on (Shell's sort: that of C's library asks the system how much memory there is) */
static void sort_falling(double *z, size_t n)
{
  for (size_t gap = n / 2; gap > 0; gap /= 2)
    for (size_t i = gap; i < n; i++)
      for (size_t k = i; k >= gap && z[k - gap] < z[k]; k -= gap) {
        double x = z[k];
        z[k] = z[k - gap], z[k - gap] = x;
      }
}

/* the share of some of the likeliest tokens, and a little more or less: a sum in less than double precision is on the wrong side */
static double draw_close_share(size_t vocab)
{
  static double z[MOST];
  double all = 0, some = 0;
  for (size_t i = 0; i < vocab; i++) z[i] = f.score[i];
  sort_falling(z, vocab);
  kernels_plain.exp_shifted(z, vocab, z[0]);
  size_t n = 1 + draw((uint32_t) vocab - 1);
  for (size_t i = 0; i < vocab; i++) all += z[i], some += i < n ? z[i] : 0;
  return some / all * (draw(2) ? 1 + 1e-11 : 1 - 1e-11);
}

static void top_p(unsigned size)
{
  size_t vocab = size % 5 == 0 ? (size_t) 4 << size % 6 : vocab_of(size);
  if (!begin(vocab)) return;
  draw_logits(vocab, draw(6));
  double p = draw_share(vocab, size);
  tell_logits(vocab);
  bool close = size % 6 == 2 && size % 5 != 0 && vocab > 2;
  if (!close) tell("p %g", p);
  if (filled(vocab, size % 4 == 2)) {
    if (close) tell("p %.17g", p = draw_close_share(vocab));
    funnel_top_p(&f, p);
    say_left();
  }
  end();
}

static void typical(unsigned size)
{
  size_t vocab = size % 5 == 0 ? (size_t) 4 << size % 6 : vocab_of(size);
  if (!begin(vocab)) return;
  draw_logits(vocab, draw(2) ? 0 : 2);
  if (size % 3 == 0 && vocab > 4) logits[1] = logits[3] = logits[vocab - 1]; /* equal distances */
  double p = draw_share(vocab, size);
  if (p == 0) p = .25;
  tell_logits(vocab);
  tell("p %g", p);
  if (filled(vocab, size % 4 == 2)) {
    if (size % 6 == 5) {
      struct sequence_bias far[2] = { { &(uint32_t) { 0 }, 1, -1.7e308 }, { &(uint32_t) { (uint32_t) vocab - 1 }, 1, 1.7e308 } };
      funnel_sequence_bias(&f, far, 2, NULL, 0);
      tell("biases of -1.7e308 on 0, 1.7e308 on the last");
    }
    if (size % 7 == 3) funnel_top_k(&f, 1 + vocab / 2), tell("after top-k with %zu", 1 + vocab / 2);
    if (size % 10 == 7) { /* tokens of two scores, and each a little more: distances that a float cannot tell apart */
      for (uint32_t i = 0; i < vocab; i++) {
        struct sequence_bias little = { &i, 1, i % 2 - f.score[i] + 1e-9 * draw(1000) };
        funnel_sequence_bias(&f, &little, 1, NULL, 0);
      }
      tell("biases make the scores 0 and 1 in turn, and each up to a millionth more");
    }
    funnel_typical_p(&f, p);
    say_left();
  }
  end();
}

static void min_p(unsigned size)
{
  size_t vocab = vocab_of(size);
  double m = size % 7 == 3 ? 1 : size % 7 == 5 ? 0 : (1 + draw(999)) / (size % 2 ? 1000.0 : 20000.0);
  if (!begin(vocab)) return;
  draw_logits(vocab, m == 1 ? 5 : draw(6));
  tell_logits(vocab);
  tell("m %g", m);
  if (filled(vocab, size % 4 == 2)) {
    funnel_min_p(&f, m);
    say_left();
  }
  end();
}

static size_t draw_history(uint32_t *id, size_t n, size_t vocab)
{
  for (size_t i = 0; i < n; i++) id[i] = i > 0 && draw(3) == 0 ? id[draw((uint32_t) i)] : draw((uint32_t) vocab);
  return n;
}

static void penalties(unsigned size)
{
  size_t vocab = vocab_of(size);
  uint32_t id[60];
  size_t n = draw_history(id, size % 10 == 9 ? 0 : 1 + draw(size < 10 ? 4 : 60), size % 3 == 1 && vocab > 3 ? 3 : vocab);
  static const double some[] = { 0, 0.5, -0.25, 1.5, 2, 0.1 };
  double r = size % 6 == 5 ? 1 : 0.5 + draw(30) / 10.0, a = some[draw(6)], b = some[draw(6)];
  if (!begin(vocab)) return;
  draw_logits(vocab, size);
  tell_logits(vocab);
  tell_ids("history", id, n);
  if (filled(vocab, size % 4 == 2)) {
    if (size % 3 < 2) {
      tell("repetition penalty %g", r);
      funnel_repetition_penalty(&f, r, id, n);
      say_left();
    }
    if (size % 3 > 0) {
      tell("then frequency %g, presence %g", a, b);
      funnel_frequency_presence(&f, a, b, id, n);
      say_left();
    }
    size_t gram = draw(5);
    tell("then no %zu-gram twice", gram);
    funnel_no_repeat_ngram(&f, gram, id, n);
    say_left();
  }
  end();
}

static void philox(unsigned size)
{
  uint32_t key[2] = { 42, 0 }, counter[4] = { 5, 9, 0, 0 }, out[4];
  if (size > 1) {
    for (int i = 0; i < 2; i++) key[i] = size == 2 ? 0 : draw(2) ? draw(UINT32_MAX) : UINT32_MAX - draw(3);
    for (int i = 0; i < 4; i++) counter[i] = size == 2 ? 0 : draw(2) ? draw(UINT32_MAX) : draw(3);
  }
  tell("key %u %u, counter %u %u %u %u", key[0], key[1], counter[0], counter[1], counter[2], counter[3]);
  philox4x32(key, counter, out);
  say("words %08x %08x %08x %08x", out[0], out[1], out[2], out[3]);
  uint64_t seed = (uint64_t) draw(UINT32_MAX) << 32 | draw(UINT32_MAX);
  for (int i = 0; i < 4; i++) {
    uint32_t sequence = draw(4), position = draw(100), id = draw(50000);
    tell("seed %llu, sequence %u, position %u, id %u", (unsigned long long) seed, sequence, position, id);
    say_close("noise", gumbel_noise(seed, sequence, position, id));
  }
  /* numbers near 0 and near 1, where half a unit of u is seen */
  static const uint32_t extreme[] = { 2255507281u, 548102558, 2390898363u, 1858147284 };
  tell("seed 42, sequence 0, position 0, id %u", extreme[size % 4]);
  say_close("noise", gumbel_noise(42, 0, 0, extreme[size % 4]));
}

static void choose(unsigned size)
{
  size_t vocab = vocab_of(size);
  if (!begin(vocab)) return;
  draw_logits(vocab, size % 13 == 12 ? 5 : draw(3));
  if (size % 13 == 12) for (size_t i = 0; i < vocab; i++) logits[i] = draw(3) ? 1e30f : -1e30f; /* the noise is lost in the sums */
  if (size % 13 == 11) for (size_t i = 0; i < vocab; i++) logits[i] = 0x1p55f; /* sums are rounded to multiples of 8 */
  tell_logits(vocab);
  if (filled(vocab, size % 4 == 2)) {
    if (size % 13 == 11) {
      for (uint32_t i = 0; i < vocab; i++) {
        struct sequence_bias some = { &i, 1, 8.0 * draw(4) };
        funnel_sequence_bias(&f, &some, 1, NULL, 0);
        if (i < SHOWN) tell("a bias of %g on %u", some.bias, (unsigned) i);
      }
      funnel_distribution(&f);
    }
    uint64_t seed = (uint64_t) draw(UINT32_MAX) << 32 | draw(UINT32_MAX);
    uint32_t first = UINT32_MAX;
    for (unsigned i = 0; i < 12; i++) {
      uint32_t sequence = i < 4 ? 0 : draw(3), position = i < 8 ? i : draw(1000);
      if (draw(3) == 0) seed++;
      tell("seed %llu, sequence %u, position %u", (unsigned long long) seed, sequence, position);
      uint32_t id = funnel_choose(&f, seed, sequence, position);
      say("drawn %u", (unsigned) id);
      if (i == 0) first = id;
    }
    say("%zu left", f.n);
    if (f.n > 1 && first < vocab) { /* once more without the first that was drawn, and in another order */
      funnel_suppress(&f, &first, 1);
      if (draw(2)) funnel_distribution(&f);
      tell("without %u", (unsigned) first);
      for (uint32_t i = 0; i < 6; i++) say("drawn %u", (unsigned) funnel_choose(&f, seed, 0, i));
    }
  }
  end();
}

/* long lists, and how much of each was looked at; the totals of many draws */
static void choose_work(unsigned size)
{
  size_t vocab = size <= 12 ? (size_t) 1 << size : MOST;
  if (vocab > MOST) vocab = MOST;
  if (!begin(vocab)) return;
  for (size_t i = 0; i < vocab; i++) logits[i] = size % 3 == 0 ? 0 : size % 3 == 1 ? 6 * draw_float() : 40 * draw_float();
  tell("%zu tokens, 20 draws", vocab);
  if (funnel_fill(&f, logits, &why)) {
    uint64_t seed = draw(UINT32_MAX);
    count_begin(), exponentials = 0;
    for (uint32_t i = 0; i < 20; i++) say("drawn %u", (unsigned) funnel_choose(&f, seed, 0, i));
    say_most("logarithms", (double) count_of(LOGS) + 20, 3);
    say_most("random_bits", (double) count_of(MIXED) + 20, 2);
    say_most("exponentials", (double) exponentials + 20, 2.1);
    say_least("logarithms", (double) count_of(LOGS), 40);
  }
  end();
}

static void window(unsigned size)
{
  size_t vocab = vocab_of(size);
  uint32_t id[40];
  size_t n = draw_history(id, size == 1 ? 1 : draw(40), vocab < 6 ? vocab : size % 2 ? 6 : vocab);
  struct history h = { id, n, n == 0 ? 0 : draw((uint32_t) n + 1) };
  struct sampling_params s = sampling_default();
  if (size == 1) h.n_prompt = 0;
  s.repetition_penalty = size % 3 == 0 ? 1 : 1 + draw(20) / 10.0;
  s.frequency_penalty = size % 3 == 1 ? 0 : draw(10) / 8.0;
  s.presence_penalty = size % 3 == 1 ? 0.25 : draw(10) / 8.0;
  s.penalty_last_n = size % 4 == 0 ? -1 : size % 4 == 1 ? (int64_t) draw((uint32_t) n + 3) : (int64_t) draw(6);
  if (size == 1) s.penalty_last_n = -1;
  if (!begin(vocab)) return;
  draw_logits(vocab, draw(3));
  tell_logits(vocab);
  tell_ids("history", id, n);
  tell("the prompt has %zu; repetition %g, frequency %g, presence %g, last %lld", h.n_prompt, s.repetition_penalty, s.frequency_penalty,
    s.presence_penalty, (long long) s.penalty_last_n);
  if (filled(vocab, size % 5 == 2)) {
    sampling_stage_run(&f, &s, SAMPLE_PENALTIES, h);
    say_left();
    sampling_stage_run(&f, &s, SAMPLE_PENALTIES, h);
    say_left();
  }
  end();
}

static void run(unsigned size)
{
  size_t vocab = vocab_of(size);
  uint32_t id[30], out[30];
  size_t n = draw_history(id, draw(30), vocab);
  struct history h = { id, n, n == 0 ? 0 : draw((uint32_t) n + 1) };
  struct sampling_params s = sampling_default();
  const char *named = NULL;
  static const double heat[] = { 1, 0.7, 1.3, 0, 2 };
  s.temperature = heat[draw(5)], s.top_k = draw(2) ? 0 : 1 + draw((uint32_t) vocab), s.top_p = draw(2) ? 1 : .05 + .9 * draw(100) / 100;
  s.min_p = draw(2) ? 0 : draw(100) / 400.0, s.typical_p = draw(3) ? 1 : .3 + .6 * draw(100) / 100;
  s.repetition_penalty = draw(2) ? 1 : 1.3, s.presence_penalty = draw(4) / 2.0, s.no_repeat_ngram = draw(4) ? 0 : 2 + draw(2);
  s.n_stages = size % 3 == 0 ? draw(N_SAMPLE_STAGES + 1) : N_SAMPLE_STAGES;
  if (size % 2) /* another order */
    for (size_t i = N_SAMPLE_STAGES; i-- > 1; ) {
      size_t k = draw((uint32_t) i + 1);
      enum sample_stage x = s.stage[i];
      s.stage[i] = s.stage[k], s.stage[k] = x;
    }
  if (!begin(vocab)) return;
  draw_logits(vocab, draw(4));
  if (size % 12 == 7) { /* a stage that takes all out */
    for (size_t i = 0; i < 30; i++) out[i] = (uint32_t) (i % vocab);
    s.suppress = out, s.n_suppress = vocab < 30 ? vocab : 30, s.n_stages = N_SAMPLE_STAGES;
    for (size_t i = 30; i < vocab; i++) logits[i] = -INFINITY;
    named = "bias";
  }
  if (size % 12 == 10 && n > 0) { /* a stage that makes a score infinite */
    s = sampling_default();
    s.repetition_penalty = 1e-308;
    h = (struct history) { id, n, n };
    for (size_t i = 0; i < vocab; i++) logits[i] = 30 + fabsf(logits[i]);
    if (size % 24 == 10) s.stage[0] = SAMPLE_TEMPERATURE, s.stage[3] = SAMPLE_BIAS;
    named = "penalties";
  }
  if (size % 12 == 4) logits[draw((uint32_t) vocab)] = draw(2) ? NAN : INFINITY;
  tell_logits(vocab);
  tell_ids("history", id, n);
  for (size_t i = 0; i < s.n_stages; i++) tell("stage %s", sampling_stage_name(s.stage[i]));
  f.allowed = NULL;
  bool ok = sampling_run(&f, &s, logits, h, &why);
  say_done("run", ok, why.text);
  if (ok) {
    say_left();
    say("drawn %u", (unsigned) funnel_choose(&f, 7, 0, (uint32_t) n));
  }
  else if (named != NULL) say("names the stage %s", strstr(why.text, named) != NULL ? "yes" : "no");
  end();
}

const struct lab_test lab_tests[] = { { "distribution", 60, distribution }, { "temperature", 60, temperature }, { "top_k", 60, top_k },
  { "top_p", 60, top_p }, { "min_p", 60, min_p }, { "typical", 60, typical }, { "penalties", 60, penalties }, { "philox", 40, philox },
  { "choose", 60, choose }, { "choose_work", 30, choose_work }, { "window", 60, window }, { "run", 96, run }, { NULL, 0, NULL } };
