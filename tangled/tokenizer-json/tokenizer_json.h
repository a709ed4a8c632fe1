/* tokenizer_json.h -- made from workshop/06-tokenizer-json.w; change it there */

#ifndef INCIPIT_TOKENIZER_JSON_H
#define INCIPIT_TOKENIZER_JSON_H
#include "tokenizer/tokenizer_internal.h"

/* the character that stands for byte b in a vocabulary's file */
uint32_t tokenizer_byte_to_unicode(unsigned b);

/* the byte that character c stands for, or -1 */
int tokenizer_unicode_to_byte(uint32_t c);

/* appends n bytes, spelt in these characters, to out */
bool tokenizer_to_alphabet(struct memory *m, const unsigned char *byte,
  size_t n, struct bytes *out, struct error *why);
#endif
