/* serving.h -- the built-in model behind a scheduler, for the judges of chapter 12's exercises. */
#include <stdio.h>
#include <stdlib.h>
#include "families/loader.h"
#include "kernels/kernels.h"
#include "serving/scheduler.h"

static struct memory m;
static struct counters c;
static struct engine e;
static struct error why;
static struct scheduler d;

static void holds(bool ok)
{
  if (!ok) puts(why.text), exit(1);
}

static void serve_with(uint32_t slots, struct cache_options size, struct scheduler_options how)
{
  struct model *lm = model_open(&m, "models/pocket", &why);
  holds(lm != NULL);
  e = (struct engine) { .k = kernels_find(NULL, &why), .c = &c };
  holds(e.k != NULL);
  struct generate_context g = { &e, lm, cache_open(&m, &lm->config, slots, &size, &why), &m };
  holds(g.s != NULL && scheduler_open(&d, &g, &how, &why));
}

static void submit(struct request *r, const uint32_t *id, size_t n, size_t new_tokens)
{
  holds(scheduler_submit(&d, r, id, n, &(struct generate_options) { .max_new_tokens = new_tokens }, &why));
}

static void step(void)
{
  holds(scheduler_step(&d, &why));
}
