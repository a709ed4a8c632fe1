/* inside.h -- what the files of this module share with each other and with nobody else. */

#ifndef INCIPIT_GGUF_INSIDE_H
#define INCIPIT_GGUF_INSIDE_H
#include "gguf/writing.h"

/* the bytes of a value of each type, or the fewest that it can have: a string has the 8 of its
   length, an array in an array the 12 of its type and its count */
extern const uint8_t gguf_bytes_of[N_GGUF_TYPES];

/* n bytes as a number, lowest byte first, at any address, on any machine */
uint64_t gguf_number_at(const unsigned char *byte, size_t n);

/* the order of keys, for qsort and bsearch: of two entries, by their bytes, then by their lengths */
int gguf_by_key(const void *a, const void *b);

/* by a name that may be of another file, or null */
const struct gguf_entry *gguf_find_words(const struct gguf_file *g, struct gguf_words key);

/* the row of number_types with this number of the format; N_NUMBER_TYPES if there is none */
unsigned gguf_type_of_number(uint64_t number);

/* appends n bytes to one of the two lists of a draft; after a failure nothing, as the next two */
void gguf_put(struct gguf_draft *d, struct bytes *list, const void *byte, size_t n);

/* a number of n bytes, lowest first */
void gguf_put_number(struct gguf_draft *d, struct bytes *list, size_t n, uint64_t x);

/* its length in 8 bytes, and the string */
void gguf_put_string(struct gguf_draft *d, struct bytes *list, const void *text, size_t n);
#endif
