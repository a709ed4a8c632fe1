@i types.w
@s size_t int

\chapterquestion{What does a sampler take, and what does it remember?}
@** Inside the sampler: buffers and state.
\incipit{C}{hapter 7} works with the buffers of a funnel and with the state of a rule. This chapter has the functions that allocate and free the one, and save and restore the other; and those that go through the parameters of all stages.

@* The buffers of a funnel. \label{sec:funnelbuffers}
Two arrays of doubles, two of ids and two lists to sort come from an arena, so that one look at the end tells whether an allocation failed.

@<Allocate and free the buffers@>=
bool funnel_open(struct funnel *f, struct memory *m,
  const struct kernels *k, size_t vocab, struct error *why)
{
  *f = (struct funnel) @[{ .buffers.m = m, .k = k, .vocab = vocab }@];
  struct arena *a = &f->buffers;
  f->score = arena_alloc(a, MEMORY_OTHER, vocab, 8, why);
  f->weight = arena_alloc(a, MEMORY_OTHER, vocab, 8, why);
  f->candidates = arena_alloc(a, MEMORY_OTHER, vocab, 4, why);
  f->count = arena_alloc(a, MEMORY_OTHER, vocab, 4, why);
  f->sort_buf = arena_alloc(a, MEMORY_OTHER, vocab, 16, why);
  f->sort_spare = arena_alloc(a, MEMORY_OTHER, vocab, 16, why);
  if (!a->refused)@+ return true;
  funnel_close(f);
  return false;
}

@ Closing a funnel of which only half is there, or closing it twice, does no harm.

@<Allocate and free the buffers@>=
void funnel_close(struct funnel *f)
{
  arena_free(&f->buffers);
  *f = (struct funnel) @[{ .vocab = 0 }@];
}

@* The state of a sampler. \label{sec:samplerstate}
Accepting a token, saving and restoring are left to the rule. A sampler without a rule has nothing to remember.

@<Accept, save and restore@>=
bool sampler_accept(void *ctx, uint32_t id, struct error *why)
{
  const struct sampler *d = ctx;
  return d->rule.take == NULL || d->rule.take(d->rule.ctx, id, why);
}
uint32_t sampler_save(const struct sampler *d)
{
  return d->rule.save == NULL ? 0 : d->rule.save(d->rule.ctx);
}
void sampler_restore(struct sampler *d, uint32_t state)
{
  if (d->rule.restore != NULL)@+ d->rule.restore(d->rule.ctx, state);
}

@* The parameters of all stages. \label{sec:samplerparameters}
The rows of \cref{sec:settings} hold up to four parameters each. Those who want all of them, for the options of the command or the keys of the protocol, do not care where one row ends: they count from 0.

@<Find a parameter, and set it@>=
const struct sampling_option *sampling_option_at(size_t i, enum sample_stage *stage)
{
  for (int k = 0; k < N_SAMPLE_STAGES; k++) {
    const struct sampling_option *r = sampling_row((enum sample_stage) k)->option;
    for (int j = 0; j < STAGE_OPTIONS && r[j].name != NULL; j++)
      if (i-- == 0) {
        if (stage != NULL)@+ *stage = (enum sample_stage) k;
        return &r[j];
      }
  }
  return NULL;
}

@ A parameter is set by its place and its type, whatever it is called.

@<Find a parameter, and set it@>=
void sampling_option_set(struct sampling_params *s, const struct sampling_option *r,
  double x, int64_t n)
{
  void *at = (char *) s + r->at;
  switch (r->type) {
  case SAMPLING_REAL: *(double *) at = x;@+ break;
  case SAMPLING_COUNT: *(size_t *) at = (size_t) n;@+ break;
  case SAMPLING_WINDOW: *(int64_t *) at = n;@+ break;
  }
}

@ All of this is in one file.

@(inside.c@>=
#include "sampling/sampling.h"
@;@#
@<Find a parameter, and set it@>@;
@<Allocate and free the buffers@>@;
@<Accept, save and restore@>@;
