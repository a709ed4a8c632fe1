/* kinds.h -- what a character is, to the pattern that cuts texts. wasm/snapshot.c writes the table. */

#ifndef INCIPIT_WASM_KINDS_H
#define INCIPIT_WASM_KINDS_H
#include <stddef.h>
#include <stdint.h>

/* \p{L}, \p{N}, \s, and the rest */
enum character_kind { KIND_OTHER, KIND_LETTER, KIND_NUMBER, KIND_SPACE };

/* from first on, up to the next of the list, all code points are of this kind */
struct kind_range { uint32_t first; enum character_kind kind; };

/* by rising first, which is 0 in the first; and by which version of Unicode */
extern const struct kind_range kinds[];
extern const size_t n_kinds;
extern const char kinds_unicode[];
#endif
