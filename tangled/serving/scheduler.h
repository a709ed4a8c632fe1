/* scheduler.h -- made from chapters/12-serving.w; change it there */

#ifndef INCIPIT_SCHEDULER_H
#define INCIPIT_SCHEDULER_H
#include "loop/generate.h"
#include "serving/prefix.h"

/* <A text that somebody waits for> */

/* not in the line; in it without a slot; with one */
enum request_state { REQUEST_ENDED, REQUEST_WAITING, REQUEST_RUNNING };

/* a text that somebody waits for; zero: none */
struct request {
  struct sequence q; /* the text so far, and after an end, why it ended */
  struct generate_options want; /* what the caller wants, but for rows and chunks */
  enum request_state state;
  struct prefix_place chain; /* where its newest full page is in the index */
  size_t indexed; /* how many of its pages were brought to the index */
  size_t found; /* rows that were there already when it first got a slot */
  size_t preempted; /* how often it has lost its slot */
  bool unwanted; /* it was cancelled during a pass, and leaves after it */
  struct request *next; /* the one that came after it */
};

/* <What a scheduler is told, and what it counts> */

/* as generate_step, which has no ctx */
typedef bool step_passes(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n, float *logits, struct error *why);

/* how to serve; zero is the usual choice everywhere */
struct scheduler_options {
  size_t pass_rows; /* the most rows in a pass, at least one for each slot; 0: 256 */
  bool share; /* keep full pages, and find them again by their tokens */
  bool in_batches; /* requests are let in only when no text runs: static batching */
  size_t guesses; /* the most for a text in a pass, if there are rows to spare */
  step_passes *step; void *step_ctx; /* computes the passes; null: generate_step */
};

/* what was done since the scheduler was opened */
struct scheduler_counts {
  uint64_t passes, rows; /* computed */
  uint64_t slots_used; /* slots with a row, summed over passes */
  uint64_t found; /* rows that were not computed, because the index had them */
  uint64_t preempted; /* slots taken away */
};

/* <What a scheduler does> */

/* requests, and a cache with a slot for some of them; only counts is for others to
   read */
struct scheduler {
  struct generate_context g; /* the model, and a cache with a sequence for each slot */
  struct scheduler_options w;
  struct request *line; /* all that have not ended, in the order of arrival */
  bool *taken; /* [slots] */
  struct sequence **list; /* [slots]: those that have rows in the next pass */
  struct cache_demand *demand; /* [slots]: their rows */
  float *logits; /* [slots][1 + guesses][vocab] */
  struct prefix_index index;
  uint32_t limit; /* slots that may be used: fewer after memory was refused */
  bool in_pass; /* a pass is being computed, so a callback may be calling */
  struct scheduler_counts counts;
};

/* g->s must be a cache; all four are borrowed. Errors: fewer rows in a pass than
   slots, memory */
bool scheduler_open(struct scheduler *s, const struct generate_context *g,
  const struct scheduler_options *w, struct error *why);

/* puts a text at the end of the line; errors: those of sequence_open, and a text that
   the cache could not hold alone. Then r is empty */
bool scheduler_submit(struct scheduler *s, struct request *r, const uint32_t *prompt,
  size_t n, const struct generate_options *want, struct error *why);

/* one pass; false and a sentence if it was cancelled. An error of one text ends that
   text, with FINISH_ERROR */
bool scheduler_step(struct scheduler *s, struct error *why);

/* ends a text with FINISH_CANCELLED if it has not ended; a callback may call this and
   scheduler_submit, nothing else, and then the pass may still bring the text a token */
void scheduler_cancel(struct scheduler *s, struct request *r);

/* cancels, and frees the text */
void request_close(struct scheduler *s, struct request *r);

/* is the line empty? */
bool scheduler_idle(const struct scheduler *s);

/* cancels all texts, which stay their callers', and returns the memory; the cache is
   empty then */
void scheduler_close(struct scheduler *s);
#endif
