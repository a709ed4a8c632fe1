/* probe.h -- the kinds of questions that have files of their own, and the settings of a sampler in
   a question, which more than one kind has. */
#ifndef INCIPIT_PROBE_H
#define INCIPIT_PROBE_H
#include "sampling/sampling.h"
#include "probe_request.h"

/* one stage of the sampler */
bool probe_process(struct probe_request *q);

/* all of them, and the choice */
bool probe_sample(struct probe_request *q);

/* four words of random bits */
bool probe_philox(struct probe_request *q);

/* a beam search */
bool probe_beam(struct probe_request *q);

/* when guesses are accepted */
bool probe_speculative(struct probe_request *q);

/* a conversation through a template */
bool probe_template(struct probe_request *q);

/* what is released of pieces */
bool probe_stop(struct probe_request *q);

/* s points into the lists; n of room sequences are used */
struct choices {
  struct sampling_params s;
  struct ids all;
  struct sequence_bias *biased;
  size_t n, cap;
};

/* the settings of params, with temperature if it does not say; errors: keys, types, ranges,
   ids. x is to be freed also on failure */
bool choices_read(struct choices *x, const struct probe_request *q,
  json_t *params, double temperature);

/* returns the lists */
void choices_free(struct memory *m, struct choices *x);

/* the name of a kind of questions; null after the last */
const char *probe_kind_at(size_t i);
#endif
