/* search.h -- made from chapters/09-search.w; change it there */

#ifndef INCIPIT_SEARCH_H
#define INCIPIT_SEARCH_H
#include "loop/generate.h"

/* <What a search works on> */

/* a text id[n], grown by its last token from beam number parent of the step before;
   score: the sum of the log-probabilities of what was written */
struct search_beam { const uint32_t *id; size_t n, parent;
  double score; };

/* puts what may follow each of n texts into logits[n][vocab]; it is called once a
   step, for one beam at first: the prompt */
typedef bool search_score(void *ctx, const struct search_beam *grown,
  size_t n, float *logits, struct error *why);

/* score, called with ctx, knows what may follow; no text will have more than max_len
   tokens, 0: any number; when score has failed, progress tells whether it was
   cancelled, null: it never is */
struct search_source { size_t vocab, max_len; void *ctx;
  search_score *score; const struct progress *progress; };

/* <The outcome of a candidate> */

/* it was too low; it is a beam of the next step; it ends, and was offered a place */
enum search_outcome { OUTCOME_DROPPED, OUTCOME_KEPT, OUTCOME_FINISHED };

/* beam parent and token after it; its log-probability after the processors, and the
   sum with it; rank from 1 by score; those kept are the beams of the next step, in
   this order */
struct search_candidate { size_t parent, rank; uint32_t token;
  double logprob, score;
  enum search_outcome outcome; };

/* id[n], prompt and end token included; the sum of its log-probabilities, and that
   sum over the power of its length; ended by an end token, the length, or a watcher */
struct search_text { uint32_t *id; size_t n; double sum, score;
  enum finish_reason ended; };

/* step number, from 1: the beams that grew, the candidates by rank, and the texts
   that have finished so far, best first; all lives until the watcher returns */
struct search_step { size_t number;
  const struct search_beam *active; size_t n;
  const struct search_candidate *candidate; size_t n_candidates;
  const struct search_text *finished; size_t n_finished; };

/* <The options of a search> */

/* with num_beams finished texts a search ends: (false) if the best beam, ended as it
   is, would not be among them; (true) at once; (never) if no beam ever can be */
enum early_stopping { EARLY_FALSE, EARLY_TRUE, EARLY_NEVER };

/* a repetition penalty; no n-gram twice; no end before n tokens */
enum search_process { PROCESS_REPETITION, PROCESS_NGRAM, PROCESS_MIN_NEW };

/* penalty for the first, n for the others, and n == 0 does nothing */
struct search_processor { enum search_process what; double penalty;
  size_t n; };

/* is called after each step; false ends the search */
typedef bool search_see(void *ctx, const struct search_step *now);

/* beams; texts wanted, 1 to num_beams; the most tokens of a text, prompt included;
   the exponent of the length; ids that end a text; processors in order; and a
   watcher, null: none */
struct search_settings { size_t num_beams, num_return, max_length;
  double length_penalty; enum early_stopping early; const uint32_t *eos;
  size_t n_eos; const struct search_processor *process;
  size_t n_process; search_see *see; void *ctx; };

/* <What a search gives> */

/* n texts by falling score, at most num_return; each begins with the n_prompt tokens
   of the prompt */
struct search_result { struct search_text *text; size_t n, n_prompt, steps;
  struct memory *m; };

/* are all options in their ranges? On failure a sentence that names the option, its
   value and the range */
bool search_check(const struct search_settings *s, size_t vocab,
  size_t n_prompt, struct error *why);

/* searches; errors: an option out of range, an empty prompt, an id out of range, a
   prompt too long for the source, memory, what the source says, a NaN among the
   logits, or no token left for any beam before a text has ended. On failure out is
   empty */
bool search_run(const struct search_source *from, struct memory *m,
  const struct kernels *k, const uint32_t *prompt, size_t n_prompt,
  const struct search_settings *want, struct search_result *out,
  struct error *why);

/* returns the texts */
void search_free(struct search_result *r);
#endif
