/* files.h -- made from chapters/A17-descriptions.w; change it there */

/* Q.3  files.h */

#ifndef INCIPIT_FILES_H
#define INCIPIT_FILES_H
#include "A4-vocabularies/inside.h"
uint32_t alphabet(unsigned b);
/* the character that stands for byte b in a vocabulary's file */

#endif
