/* library.h -- what the parts of the library share: the opaque structures, and functions whose names begin
   with library_. It is not installed, and none of its names can be seen from outside.

   The functions of the chapters fail with a sentence and no code. The code is added here, where we know what
   the caller wanted; whether memory was refused is told by the counts of an attempt. */
#ifndef INCIPIT_LIBRARY_H
#define INCIPIT_LIBRARY_H
#include <pthread.h>
#include "kernels/kernels.h"
#include "library/incipit.h"
#include "tokenizer/tokenizer.h"
#include "sampling/settings.h"
#include "stopping/stopping.h"
#include "constraints/bond.h"

/* writes code and sentence; always false; why may be null */
bool library_fail(struct incipit_error *why, enum incipit_code code,
  const char *format, ...) __attribute__((format(printf, 3, 4)));

/* false, and a sentence that names the call and what is missing, if p is null */
bool library_given(const void *p, const char *call, const char *what,
  struct incipit_error *why);

/* the same for a list of n strings, and for each of them */
bool library_strings(const char *const *list, size_t n, const char *call,
  const char *what, struct incipit_error *why);

/* a call of the chapters that is going to be made with the memory m, and perhaps with
   that of another object */
struct attempt { struct error why; const struct memory *m, *also; uint64_t refused; };

/* notes how many requests have been refused so far */
struct attempt attempt_begin(const struct memory *m);

/* ok; if that is false, the sentence of a goes to why, with code or, if memory has
   been refused since, with INCIPIT_MEMORY */
bool attempt_end(const struct attempt *a, bool ok, enum incipit_code code,
  struct incipit_error *why);

/* an object of size bytes, zeroed, which begins with its struct memory; null and a
   sentence */
void *library_new(size_t size, struct incipit_error *why);

/* frees it; everything else in its struct memory must have been freed */
void library_delete(void *object);

/* copies the caller's options, null for none, over the defaults mine of size bytes;
   errors: a size that is smaller, or a larger one with bytes beyond size that are not
   0 */
bool library_options(void *mine, size_t size, const void *theirs, const char *call,
  struct incipit_error *why);

/* whether p is given and size, of the caller's structure, is at least mine */
bool library_size(const void *p, size_t size, size_t mine, const char *call,
  struct incipit_error *why);

/* what incipit_generate_many is asked for, and more */
struct writing_request {
  struct incipit_context *c;
  const struct incipit_prompt *prompt;
  size_t n;
  const struct incipit_generate_options *o;
  const uint32_t *end; size_t n_end; /* ids that end a text */
  const char *call; /* for sentences */
};

/* as incipit_generate_many */
bool library_generate(const struct writing_request *q, struct incipit_result **result,
  struct incipit_error *why);

/* the model, its tokenizer, and where they came from */
struct incipit_model {
  struct memory m; /* first, in each of these: library_new */
  pthread_mutex_t lock; /* for users, lexicon and, once it is open, m */
  size_t users; /* the caller and the objects that were opened with it */
  struct model *lm;
  struct tokenizer *t; /* or null, and then unspelt says why */
  struct error unspelt;
  struct prepared_weights *prepared; /* null: as in the file */
  struct lexicon *lexicon; /* null until the first constraint is opened */
  bool built_in;
  char path[PATH_CAP];
};

/* one more object needs the model */
void library_hold(struct incipit_model *m);

/* whether the model is given and has a tokenizer */
bool library_spells(const struct incipit_model *m, const char *call,
  struct incipit_error *why);

/* whether the n ids are given and all below the size of the vocabulary */
bool library_ids(const struct incipit_model *m, const uint32_t *id, size_t n,
  const char *call, struct incipit_error *why);

/* the first cap ids to id, and how many there are; true */
bool library_copy(const struct ids *list, uint32_t *id, size_t cap, size_t *n_ids);

/* where make install puts the built-in model */
const char *library_place(void);

/* of a sequence in the cache: how often it was given out; whether it is now; in
   incipit_forward, the position that comes next */
struct kv_place { uint16_t times; bool open; size_t next; };

/* a context */
struct incipit_context {
  struct memory m;
  size_t users; /* the caller, its chats and its batch */
  struct incipit_model *model;
  struct counters counters;
  struct engine e;
  struct store *s;
  struct pass *last; /* the latest, or null */
  struct kv_place *place; /* [n_places] */
  uint32_t n_places;
  bool busy; /* a text is being written, and a callback may be running */
  bool batched; /* a batch has it, with all its sequences */
};

/* whether its workers are in this process */
bool library_alive(const struct incipit_context *c, const char *call,
  struct incipit_error *why);

/* whether it is given, alive and not at work */
bool library_at_rest(const struct incipit_context *c, const char *call,
  struct incipit_error *why);

/* the same, and whether no batch has it */
bool library_idle(const struct incipit_context *c, const char *call,
  struct incipit_error *why);

/* the place of an open sequence */
bool library_sequence(const struct incipit_context *c, uint32_t sequence,
  const char *call, uint32_t *place, struct incipit_error *why);

/* a place that is free; false if there is none */
bool library_take_place(struct incipit_context *c, uint32_t *place);

/* forgets its rows, and makes it free */
void library_leave_place(struct incipit_context *c, uint32_t place);

/* the same, as if it had not been taken */
void library_return_place(struct incipit_context *c, uint32_t place);

/* what the loop of chapter 3 needs */
struct generate_context library_loop(struct incipit_context *c);

/* a constraint */
struct incipit_constraint {
  struct memory m;
  size_t users; /* the caller, and samplers */
  struct incipit_model *model;
  enum incipit_language language;
  struct bytes text; /* as it was given */
  struct constraint *c[2]; /* the first token keeps its blank, or loses it */
};

/* makes sure that c->c[strips] is there */
bool library_bound(struct incipit_constraint *c, bool strips, struct error *why);

/* a sampler */
struct incipit_sampler {
  struct memory m;
  struct incipit_model *model;
  struct incipit_constraint *constraint; /* or null */
  struct incipit_sampler_options o; /* with its own copies of the arrays */
  struct sequence_bias *bias; /* [o.n_bias], which points to o.bias_id */
  struct sampler d;
  struct continuation text; /* the history */
  struct constraint_cursor cursor;
};

/* as incipit_sampler_reset, with the ids that end the text, borrowed */
bool library_begin(struct incipit_sampler *s, const uint32_t *id, size_t n,
  size_t most, const uint32_t *end, size_t n_end, struct incipit_error *why);

/* as attempt_begin, for the sampler and its constraint */
struct attempt attempt_with(const struct incipit_sampler *s);

/* a stream */
struct incipit_stream {
  struct memory m;
  struct incipit_model *model;
  struct bytes copies; /* of the stop strings, each with its zero */
  struct stop_string *list; /* [n] */
  size_t n, shown;
  struct stops until;
  struct text_stream flow;
};

/* what has been released since the last time */
void library_show(struct incipit_stream *s, struct incipit_piece *piece);

/* what a text has besides its tokens: how they are chosen and shown, and what ends it; zero: nothing */
struct text_parts {
  struct incipit_sampler *sampler;
  struct incipit_stream *stream;
  struct criterion list[2]; struct criteria ends; /* a stop string, a constraint */
};

/* whether the n prompts may be continued with the options; errors: as incipit_generate_many */
bool library_agree(const struct incipit_context *c, const struct incipit_prompt *prompt,
  size_t n, const struct incipit_generate_options *o, const char *call,
  struct incipit_error *why);

/* opens the parts of text number i after the prompt, with a copy of the sampler from, and fills
   in *want, but for the watcher, the place and how rows are read. The n_end ids are borrowed. On
   failure some parts may be open */
bool library_parts(struct text_parts *t, const struct incipit_context *c,
  const struct incipit_sampler *from, size_t i, const struct incipit_prompt *prompt,
  const struct incipit_generate_options *o, const uint32_t *end, size_t n_end,
  struct generate_options *want, struct incipit_error *why);

/* closes what is open of them */
void library_parts_close(struct text_parts *t);

/* tells o->on_token of the newest token of text i; what the callback says */
bool library_tell(struct text_parts *t, enum finish_reason ended, size_t i,
  const struct step *now, const struct incipit_generate_options *o);

/* the text as a result, which the caller owns; its stream is ended */
struct incipit_result *library_result(struct text_parts *t,
  const struct continuation *text, struct incipit_error *why);

/* false, and the sentence of a text that has failed, with the code INCIPIT_MEMORY if any was refused
   to its context since refused were, or to its parts */
bool library_text_failed(const struct incipit_context *c, uint64_t refused,
  const struct text_parts *t, const struct error *said, struct incipit_error *why);
#endif
