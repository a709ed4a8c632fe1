/* probe.h -- what the answers of the probe share: a question with its keys checked, and the way
   to the answer. */
#ifndef INCIPIT_PROBE_H
#define INCIPIT_PROBE_H
#include <jansson.h>
#include "cmd_generate.h"
#include "json.h"

/* a question on its way to an answer: ids in it are below vocab_size, a model was named on
   the command line, in is the line, the answer goes to out, or a sentence to why */
struct request {
  const struct console *c;
  struct session *o;
  uint32_t vocab_size;
  bool named;
  json_t *in;
  struct json_writer out;
  struct error *why;
};

/* a key that a question may have; letter: see value_fits; one of a later chapter may only
   have its normal value, in JSON */
struct key_row {
  const char *name;
  char letter;
  bool required;
  unsigned chapter;
  const char *default_text;
};

/* does object have these keys, all that are required, and no other? */
bool request_check_keys(json_t *object, const struct key_row *keys, size_t n,
  struct error *why);

/* the value of a key, normal if it is not there */
bool request_flag(const struct request *q, const char *key, bool normal);

/* the same of an integer; 0 if it is not there */
uint64_t request_count(const struct request *q, const char *key);

/* appends the ids of the list from; errors: what is no id, memory; then list is empty */
bool request_ids_from(const struct request *q, json_t *from, const char *key,
  struct ids *list);

/* the same, of the value of a key */
bool request_ids(const struct request *q, const char *key, struct ids *list);

/* one stage of the sampler */
bool probe_process(struct request *q);

/* all of them, and the choice */
bool probe_sample(struct request *q);

/* four words of random bits */
bool probe_philox(struct request *q);

/* a beam search */
bool probe_beam(struct request *q);

/* what is released of pieces */
bool probe_stop(struct request *q);

/* undoes n hexadecimal digits; errors: anything else */
bool request_hex(const struct request *q, const char *text, size_t n,
  unsigned char *byte);

/* the stop strings of a question, their bytes the question's; list[n] is the caller's */
bool request_stops(const struct request *q, struct stop_string **list,
  size_t *n);

/* s points into the lists; n of room sequences are used */
struct choices {
  struct sampling_params s;
  struct ids all;
  struct sequence_bias *biased;
  size_t n, cap;
};

/* the settings of params, with temperature if it does not say; errors: keys, types, ranges,
   ids. x is to be freed also on failure */
bool choices_read(struct choices *x, const struct request *q,
  json_t *params, double temperature);

/* returns the lists */
void choices_free(struct memory *m, struct choices *x);
/* the name of a kind of questions; null after the last */
const char *probe_kind_at(size_t i);
#endif
