/* the program -- made from chapters/07-sampling.w; change it there */

#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "tokenizer/tokenizer.h"
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "sampling/pocket.inc"

static const char sentences[] = "The dog thought about soup."
  " The mouse had milk. The cat thought about";
struct session { struct pocket p; struct store *s; struct funnel f; };

/* <Show what a stage has left> */
static const char *piece(const struct session *u, uint32_t id, int *n)
{
  size_t length;
  const unsigned char *byte = tokenizer_text(u->p.t, id, &length);
  *n = (int) length;
  return (const char *) byte;
}

static void show(struct session *u, const char *name)
{
  struct funnel *f = &u->f;
  double h = 0;
  int n;
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] > 0) h -= f->weight[i] * num_log(f->weight[i]);
  const char *first = piece(u, f->candidates[0], &n);
  printf("%-11s %4zu left, %.2f bits, first \"%.*s\", %.3f\n", name, f->n,
    h / num_log(2), n, first, f->weight[0]);
}

/* <Let one distribution through the stages> */
static bool follow(struct session *u, const struct ids *text,
  float *logits, struct error *why)
{
  struct sampling_params s = sampling_default();
  struct history h = { text->id, text->n, text->n };
  size_t last = text->n - 1;
  uint32_t liked;
  int n;
  if (!tokenizer_find(u->p.t, " pancakes", 9, &liked))
    return error_say(why, "the built-in model has no pancakes");
  struct sequence_bias bias = { &liked, 1, 1.0 };
  /* <Give every stage something to do> */
  s.n_logit_bias = 1, s.logit_bias = &bias;
  s.repetition_penalty = 1.3, s.no_repeat_ngram = 2;
  s.temperature = 0.8;
  s.top_k = 8, s.top_p = 0.95;
  s.min_p = 0.2, s.typical_p = 0.9;
  if (!model_evaluate(&u->p.e, u->p.lm, u->s, text->id, text->n, &last, 1,
        logits, why) || !funnel_fill(&u->f, logits, why)) return false;
  /* <Run the stages, and draw> */
  show(u, "the model");
  for (size_t i = 0; i < s.n_stages; i++) {
    sampling_stage_run(&u->f, &s, s.stage[i], h);
    show(u, sampling_stage_name(s.stage[i]));
  }
  const char *chosen = piece(u, funnel_choose(&u->f, 1, 0,
    (uint32_t) text->n), &n);
  printf("chosen: \"%.*s\"\n", n, chosen);
  return true;
}

/* <Open everything, follow one distribution, and close> */
int main(void)
{
  static struct session u;
  struct error why;
  struct ids text = { NULL, 0, 0 };
  struct memory *m = &u.p.m;
  float *logits = NULL;
  printf("... had milk. The cat thought about\n");
  bool ok = pocket_open(&u.p, &why)
    && (u.s = cache_open(m, &u.p.lm->config, 1,
      &(struct cache_options) { .rows = 256 }, &why)) != NULL
    && funnel_open(&u.f, m, u.p.e.k, u.p.lm->config.vocab_size, &why)
    && (logits = memory_alloc(m, MEMORY_OTHER, u.f.vocab, 4, &why)) != NULL
    && tokenizer_encode(u.p.t, m, sentences, strlen(sentences), false, false,
      &text, &why)
    && follow(&u, &text, logits, &why);
  ids_free(m, &text), memory_free(m, logits);
  funnel_close(&u.f), store_close(u.s);
  pocket_close(&u.p);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
