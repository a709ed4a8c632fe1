/* place.c -- made from workshop/15-library.w; change it there */

/* where the built-in model was installed: a file of its own, since it is compiled
   again for each place */
#include "library/library.h"
#ifndef INCIPIT_PREFIX
#define INCIPIT_PREFIX "/usr/local"
#endif

const char *library_place(void)
{ return INCIPIT_PREFIX "/share/incipit/models/pocket"; }
