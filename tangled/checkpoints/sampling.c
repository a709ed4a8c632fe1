/* the program -- made from chapters/07-sampling.w; change it there */

#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "tokenizer/tokenizer.h"
#include "cache/cache.h"
#include "sampling/sampling.h"

/* <What the program works with> */
struct session { struct memory m; struct counters c; struct engine e;
  struct model *lm; struct tokenizer *t; struct store *s; struct sampler d; };
static bool encode(struct session *u, const char *text, struct ids *list,
  struct error *why)
{
  return tokenizer_encode(u->t, &u->m, text, strlen(text), false, false,
    list, why);
}

/* <Show what a stage has left> */
static void show(struct session *u, const char *name)
{
  struct funnel *f = &u->d.f;
  double h = 0;
  size_t n;
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] > 0) h -= f->weight[i] * num_log(f->weight[i]);
  const unsigned char *byte = tokenizer_text(u->t, f->candidates[0], &n);
  printf("%-11s %4zu left, %.2f bits, first \"%.*s\", %.3f\n", name, f->n,
    h / num_log(2), (int) n, (const char *) byte, f->weight[0]);
}

/* <Let one distribution through the stages> */
static bool follow(struct session *u, const struct ids *text, float *logits,
  struct error *why)
{
  struct funnel *f = &u->d.f;
  size_t last = text->n - 1, n;
  uint32_t liked;
  if (!tokenizer_find(u->t, " pancakes", 9, &liked))
    return error_say(why, "the built-in model has no pancakes");
  struct sequence_bias bias = { &liked, 1, 1.0 };
  /* <Give every stage something to do> */
  u->d.s = sampling_default;
  u->d.s.n_logit_bias = 1;
  u->d.s.logit_bias = &bias;
  u->d.s.repetition_penalty = 1.3;
  u->d.s.no_repeat_ngram = 2;
  u->d.s.temperature = 0.8;
  u->d.s.top_k = 8;
  u->d.s.top_p = 0.95;
  u->d.s.min_p = 0.2;
  u->d.s.typical_p = 0.9;
  if (!sampling_check(&u->d.s, f->vocab, why)
      || !model_evaluate(&u->e, u->lm, u->s, text->id, text->n, &last, 1, logits, why)
      || !funnel_fill(f, logits, why)) return false;
  /* <Call the stages one by one> */
  show(u, "the model");
  for (size_t i = 0; i < u->d.s.n_stages; i++) {
    sampling_stage_run(f, &u->d.s, u->d.s.stage[i],
      (struct history) { text->id, text->n, text->n });
    show(u, sampling_stage_name(u->d.s.stage[i]));
  }
  uint32_t id = funnel_choose(f, 1, 0, (uint32_t) text->n);
  const unsigned char *byte = tokenizer_text(u->t, id, &n);
  printf("chosen: \"%.*s\"\n", (int) n, (const char *) byte);
  return true;
}

static bool follow_one(struct session *u, struct error *why)
{
  struct ids text = { NULL, 0, 0 };
  float *logits = memory_alloc(&u->m, MEMORY_OTHER, u->d.f.vocab, 4, why);
  printf("... had milk. The cat thought about\n");
  bool ok = logits != NULL
    && encode(u, "The dog thought about soup. The mouse had milk."
      " The cat thought about", &text, why) && follow(u, &text, logits, why);
  ids_free(&u->m, &text);
  memory_free(&u->m, logits);
  return ok;
}

/* <Write a text by each strategy> */
static const struct { const char *name; double t; size_t k; double p; }
  strategy[] = { {"greedy", 0, 0, 1}, {"near", 0.2, 0, 1},
    {"plain", 1, 0, 1}, {"hotter", 1.5, 0, 1}, {"topk", 1, 3, 1},
    {"nucleus", 1, 0, 0.7} };
enum { N_STRATEGIES = sizeof strategy / sizeof strategy[0], LENGTH = 14 };
static bool write_text(struct session *u, int i, struct error *why)
{
  struct ids prompt = { NULL, 0, 0 };
  struct bytes text = { NULL, 0, 0 };
  struct continuation c = { .n_prompt = 0 };
  struct generate_context g = { &u->e, u->lm, u->s, &u->m };
  struct generate_options want = { .max_new_tokens = LENGTH,
    .recall = store_match_prefix,
    .select = sampler_choose, .select_ctx = &u->d };
  u->d.s = sampling_default, u->d.seed = 2;
  u->d.s.temperature = strategy[i].t;
  u->d.s.top_k = strategy[i].k, u->d.s.top_p = strategy[i].p;
  bool ok = encode(u, "The harvest of the kingdom was very good.", &prompt, why)
    && generate(&g, prompt.id, prompt.n, &want, &c, why)
    && tokenizer_decode(u->t, &u->m, c.text.id + c.n_prompt, LENGTH, true, &text,
      why);
  for (size_t j = 0; j < text.n; j++)
    if (text.byte[j] == '\n') text.byte[j] = '/';
  if (ok) printf("%-8s%.*s\n", strategy[i].name,
    (int) (text.n < 50 ? text.n : 50), (const char *) text.byte);
  bytes_free(&u->m, &text);
  continuation_free(&u->m, &c);
  ids_free(&u->m, &prompt);
  return ok;
}

/* <Open everything, follow, write, and close> */
int main(void)
{
  static struct session u;
  struct error why;
  u.e = (struct engine) { .k = kernels_find(NULL, &why), .c = &u.c };
  bool ok = u.e.k != NULL
    && (u.lm = model_open(&u.m, "models/pocket", &why)) != NULL
    && (u.t = tokenizer_open(&u.m, "models/pocket", &why)) != NULL
    && (u.s = cache_open(&u.m, &u.lm->config, 1,
      &(struct cache_options) { .rows = 256 }, &why)) != NULL
    && funnel_open(&u.d.f, &u.m, u.e.k, u.lm->config.vocab_size, &why)
    && follow_one(&u, &why);
  for (int i = 0; ok && i < N_STRATEGIES; i++) ok = write_text(&u, i, &why);
  funnel_close(&u.d.f);
  store_close(u.s);
  tokenizer_close(&u.m, u.t);
  model_close(&u.m, u.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
