/* values.h -- what can be asked of the value of a key in a GGUF file.

   gguf/gguf.h includes it: who reads a file includes that. A caller asks for the kind of value that
   it expects, and gets false if the value is of another kind; so nobody has to know the thirteen
   types of the format. */

#ifndef INCIPIT_GGUF_VALUES_H
#define INCIPIT_GGUF_VALUES_H
#include <stdbool.h>
#include <stdint.h>

/* those of gguf/gguf.h */
struct gguf_entry;
struct gguf_file;
struct gguf_words;

/* by name, or null */
const struct gguf_entry *gguf_find(const struct gguf_file *g, const char *key);

/* whether the value or the elements are integers; null has none */
bool gguf_integer(const struct gguf_entry *e);

/* integers or reals */
bool gguf_numeric(const struct gguf_entry *e);

/* number i of a numeric value, i < e->count; a double holds every integer up to 2^53, and no size,
   id or count in a model is larger: larger ones are rounded */
double gguf_number(const struct gguf_entry *e, uint64_t i);

/* a truth value; or false */
bool gguf_flag(const struct gguf_entry *e, bool *flag);

/* a string; or false */
bool gguf_string(const struct gguf_entry *e, struct gguf_words *words);

/* the string at *at, at first e->at, and moves *at to the next; false if there is none, or if the
   file has been changed since it was checked */
bool gguf_next_string(const struct gguf_entry *e, const unsigned char **at,
  struct gguf_words *words);

/* the value in a few words, for an error's "found"; null: missing */
const char *gguf_excerpt(const struct gguf_entry *e, char buffer[64]);

/* the format's number of a row of number_types; false if it has none */
bool gguf_type_number(unsigned type, uint32_t *number);
#endif
