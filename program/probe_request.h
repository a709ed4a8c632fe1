/* probe_request.h -- what the answers of the probe share: a question with its keys checked, and the
   way to the answer. */
#ifndef INCIPIT_PROBE_REQUEST_H
#define INCIPIT_PROBE_REQUEST_H
#include <jansson.h>
#include "stopping/stopping.h"
#include "json.h"
#include "session.h"

/* a question on its way to an answer: ids in it are below vocab_size, a model was named on
   the command line, in is the line, the answer goes to out, or a sentence to why */
struct probe_request {
  const struct console *c;
  struct session *o;
  uint32_t vocab_size;
  bool named;
  json_t *in;
  struct json_writer out;
  struct error *why;
};

/* a key that a question may have; letter: see value_fits */
struct key_row {
  const char *name;
  char letter;
  bool required;
};

/* does object have these keys, all that are required, and no other? */
bool request_check_keys(json_t *object, const struct key_row *keys, size_t n,
  struct error *why);

/* the value of a key, normal if it is not there */
bool request_flag(const struct probe_request *q, const char *key, bool normal);

/* the same of an integer; 0 if it is not there */
uint64_t request_count(const struct probe_request *q, const char *key);

/* the same of a text, which may contain U+0000: its bytes and how many; null if it is null or not there */
const char *request_text(const struct probe_request *q, const char *key, size_t *n);

/* appends the ids of the list from; errors: what is no id, memory; then list is empty */
bool request_ids_from(const struct probe_request *q, json_t *from, const char *key,
  struct ids *list);

/* the same, of the value of a key */
bool request_ids(const struct probe_request *q, const char *key, struct ids *list);

/* undoes n hexadecimal digits; errors: anything else */
bool request_hex(const struct probe_request *q, const char *text, size_t n,
  unsigned char *byte);

/* the stop strings of a question, their bytes the question's; list[n] is the caller's */
bool request_stops(const struct probe_request *q, struct stop_string **list,
  size_t *n);
#endif
