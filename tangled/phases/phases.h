/* phases.h -- made from chapters/05-phases.w; change it there */

#ifndef INCIPIT_PHASES_H
#define INCIPIT_PHASES_H
#include "loop/generate.h"

/* <What a machine can do> */

/* multiply-adds of floats and bytes read from memory, a second */
struct roofline { double madds, bytes; };

/* what all workers of the engine together do with its kernels' instructions, the
   medians of some rounds; errors: memory */
bool roofline_measure(struct memory *m, const struct engine *e,
  struct roofline *out, struct error *why);

/* multiply-adds of layers, attention and head */
uint64_t work_madds(const struct counters *c);

/* bytes of weights and cache, read or written */
uint64_t work_bytes(const struct counters *c);

/* a becomes the sum of both */
void counters_add(struct counters *a, const struct counters *b);

/* what was counted between two copies */
struct counters counters_since(const struct counters *before,
  const struct counters *after);

/* the seconds that roofline needs at least (Williams, Waterman and Patterson 2009) */
double work_bound(const struct roofline *m, const struct counters *c);

/* <What a pass has taken> */

/* of one pass, or of the passes of a chunked prefill together */
struct phase { double seconds; struct counters work; };

/* reads n rows after depth stored rows, in passes of at most chunk (0: in one), and
   computes the logits of the last; sequence 0 of the store then has depth+n rows.
   Rows that the store lacks are read first, and not counted. Errors: those of
   model_forward */
bool phase_read(const struct generate_context *g, size_t depth, size_t n,
  size_t chunk, struct phase *out, struct error *why);

/* <How well a text is predicted> */

/* of a text, of which tokens were scored, in windows windows; loss is the sum of
   their -ln p, so the perplexity is e to the power of loss/tokens */
struct perplexity { size_t tokens, windows; double loss; };

/* reads n ids in windows of context ids that begin every stride ids, 1 to context;
   errors: a context beyond the model's, an id out of range, memory, a logit that is
   not finite */
bool perplexity_of(const struct generate_context *g, const uint32_t *id, size_t n,
  size_t context, size_t stride, struct perplexity *out, struct error *why);
#endif
