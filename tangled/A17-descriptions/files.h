/* files.h -- made from chapters/A17-descriptions.w; change it there */

#ifndef INCIPIT_FILES_H
#define INCIPIT_FILES_H
#include "A4-vocabularies/inside.h"

/* the character that stands for byte b in a vocabulary's file */
uint32_t alphabet(unsigned b);
#endif
