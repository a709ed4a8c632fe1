/* phases.h -- made from chapters/phases.w; change it there */

/* 5.4  phases.h */

#ifndef INCIPIT_PHASES_H
#define INCIPIT_PHASES_H
#include "loop/loop.h"

/* 5.5  What a machine can do */

struct machine {
  double madds, bytes;
};
/* multiply--adds of floats and bytes read from memory, a second */

bool machine_probe(struct memory *m, const struct engine *e,
                   struct machine *out, struct error *why);
/* what all workers of the engine together do with its kernels' instructions,
 * the medians of some rounds; errors: memory */

uint64_t work_madds(const struct counters *c);
/* multiply--adds of layers, attention and head */

uint64_t work_bytes(const struct counters *c);
/* bytes of weights and cache, read or written */

void counters_add(struct counters *a, const struct counters *b);
/* a becomes the sum of both */

double work_bound(const struct machine *m, const struct counters *c);
/* the seconds that machine needs at least (Williams, Waterman and Patterson
 * 2009) */

/* 5.10  What a pass has taken */

struct phase {
  double seconds;
  struct counters work;
};
/* of one pass, or of the passes of a chunked prefill together */

bool phase_read(const struct generator *g, size_t depth, size_t n,
                size_t chunk, struct phase *out, struct error *why);
/* reads n rows behind depth rows, in passes of at most chunk (0: in one),
 * and scores the last; sequence 0 of the store then has depth+n rows. Rows
 * that the store lacks are read first, and not counted. Errors: those of
 * forward */

/* 5.14  A model of which only the shape counts */

extern const struct model_config gpt2_small;
/* its shape (Radford and others 2019) */

struct model *stand_in_open(struct memory *m, const struct model_config *shape,
                            struct error *why);
/* a model of GPT-2's kind with random weights in float32; owned by the
 * caller; null and a sentence if memory is refused */

void stand_in_close(struct memory *m, struct model *lm);
/* returns its memory; null is nothing */

size_t stand_in_numbers(const struct model_config *shape);
/* how many weights it has */

/* 5.20  How well a text is predicted */

struct perplexity {
  size_t tokens, windows;
  double loss;
};
/* tokens that were scored, windows that were read, and the sum of -p, in
 * order */

bool perplexity_of(const struct generator *g, const uint32_t * id, size_t n,
                   size_t context, size_t stride, struct perplexity *out,
                   struct error *why);
/* reads n ids in windows of context ids that begin every stride ids, 1 to
 * context; errors: a context beyond the model's, an id out of range, memory,
 * a logit that is not finite */

#endif
