/* files.h -- made from workshop/06-tokenizer-json.w; change it there */

#ifndef INCIPIT_FILES_H
#define INCIPIT_FILES_H
#include "tokenizer/inside.h"

/* the character that stands for byte b in a vocabulary's file */
uint32_t alphabet(unsigned b);
#endif
