/* files.h -- made from workshop/06-tokenizer-json.w; change it there */

/* Q.3  files.h */

#ifndef INCIPIT_FILES_H
#define INCIPIT_FILES_H
#include "tokenizer/inside.h"
uint32_t alphabet(unsigned b);
/* the character that stands for byte b in a vocabulary's file */

#endif
