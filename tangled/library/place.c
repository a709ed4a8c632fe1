/* place.c -- Where the built-in model was installed: a file of its own, since it is
   compiled again for each place.
   made from workshop/15-library.w; change it there */

#include "library/library.h"
#ifndef INCIPIT_PREFIX
#define INCIPIT_PREFIX "/usr/local"
#endif

const char *library_place(void)
{ return INCIPIT_PREFIX "/share/incipit/models/pocket"; }
