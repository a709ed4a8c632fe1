/* sampling.c -- settings and a history from the first bytes, and any 32 bits as logits: a sentence,
 * or a distribution in good order and a token of it. */
#include "fuzz.h"
#include <math.h>
#include "sampling/settings.h"
#include "kernels/kernels.h"

struct source {
  const uint8_t *at;
  size_t n;
};
static unsigned byte_of(struct source *s)
{
  if (s->n == 0) return 0;
  s->n--;
  return *s->at++;
}
static double real_of(struct source *s) /* one of a few, or any bits */
{
  static const double some[] = { 1, 0, .5, .9, -1, 1e-5, 1e-6, 1e4, 1.2, 2, 1e300, -1e300, 1e-300,
    .01, 1 - 0x1p-53, 0x1p-1074 };
  unsigned b = byte_of(s);
  double x = b < 240 ? some[b % 16] : 0;
  if (b < 240) return x;
  for (size_t i = 0; i < 8; i++) ((uint8_t *) &x)[i] = (uint8_t) byte_of(s);
  return x;
}
static void settings_from(
  struct source *in, struct sampling_params *s, struct sequence_bias *list, uint32_t ids[8][3])
{
  *s = sampling_default();
  double *real[] = { &s->temperature, &s->top_p, &s->min_p, &s->typical_p, &s->repetition_penalty,
    &s->frequency_penalty, &s->presence_penalty };
  unsigned which = byte_of(in), more = byte_of(in);
  for (int i = 0; i < 7; i++)
    if (which >> i & 1) *real[i] = real_of(in);
  if (which >> 7) s->top_k = byte_of(in);
  if (more & 1) s->penalty_last_n = (int64_t) byte_of(in) - 2;
  if (more & 2) s->no_repeat_ngram = byte_of(in) % 6;
  if (more & 4)
    for (s->n_stages = 0; s->n_stages < N_SAMPLE_STAGES && s->n_stages < 1 + more / 32;
         s->n_stages++)
      s->stage[s->n_stages] = byte_of(in) % N_SAMPLE_STAGES; /* twice is no matter here */
  for (int i = 0; (more & 24) && i < 8; i++) {
    size_t n = byte_of(in) % 4;
    for (size_t k = 0; k < n; k++) ids[i][k] = byte_of(in);
    list[i] = (struct sequence_bias){ ids[i], n, real_of(in) };
  }
  if (more & 8) s->logit_bias = list, s->n_logit_bias = 5;
  if (more & 16)
    s->bad_words = list + 5, s->n_bad_words = 3, s->suppress = ids[0], s->n_suppress = list[0].n;
}
static void in_order(const struct funnel *f)
{
  static bool left[3000];
  memset(left, 0, f->vocab);
  must(f->n <= f->vocab);
  for (size_t i = 0; i < f->n; i++) {
    uint32_t id = f->candidates[i];
    must(id < f->vocab && !left[id]), left[id] = true;
    must(i == 0
      || (f->sorted ? f->score[f->candidates[i - 1]] > f->score[id]
            || (f->score[f->candidates[i - 1]] == f->score[id] && f->candidates[i - 1] < id)
                    : f->candidates[i - 1] < id));
  }
  for (size_t i = 0; i < f->vocab; i++)
    must((f->score[i] != -INFINITY) == left[i] && f->count[i] == 0);
}
static void choose(struct funnel *f, uint64_t seed)
{
  uint32_t id = funnel_choose(f, seed, 1, 2), want = UINT32_MAX;
  double best = -INFINITY, sum = 0;
  for (size_t i = 0; i < f->n; i++) { /* the whole race */
    double x = f->score[f->candidates[i]] + gumbel_noise(seed, 1, 2, f->candidates[i]);
    if (x > best || (x == best && f->candidates[i] < want)) best = x, want = f->candidates[i];
  }
  must(id == want);
  funnel_distribution(f), in_order(f);
  for (size_t i = 0; i < f->n; i++)
    must(f->weight[i] >= 0 && f->weight[i] <= 1), sum += f->weight[i];
  must(fabs(sum - 1) < 1e-12);
}

FUZZ(sampling)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct source in = { data, size };
  struct sampling_params s;
  struct sequence_bias list[8] = { { NULL, 0, 0 } };
  uint32_t ids[8][3] = { { 0 } }, *text;
  settings_from(&in, &s, list, ids);
  size_t n = byte_of(&in) % 40, prompt = n > 0 ? byte_of(&in) % (n + 1) : 0;
  text = malloc(n * sizeof *text + 1);
  for (size_t i = 0; i < n; i++) text[i] = byte_of(&in);
  size_t v = in.n / 4 < 1 ? 1 : in.n / 4 > 2000 ? 2000 : in.n / 4;
  for (size_t i = 0; i < n; i++) text[i] %= (uint32_t) v;
  float *logits = calloc(v, sizeof *logits);
  memcpy(logits, in.at, in.n / 4 < v ? in.n : 4 * v);
  struct funnel f;
  must(funnel_open(&f, &m, kernels_find(NULL, NULL), v, &why));
  if (!sampling_check(&s, v, &why)
    || !sampling_run(&f, &s, logits, (struct history){ text, n, prompt }, &why))
    must(strlen(why.text) > 20 && strchr(why.text, '\n') == NULL);
  else
    in_order(&f), choose(&f, size);
  funnel_close(&f);
  must(m.all.live == 0);
  free(text), free(logits);
  return 0;
}
