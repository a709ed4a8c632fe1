/* misfit.h -- files that are not damaged but something else.

   A repository that was cloned without Git LFS has a text of three lines in place of each
   large file; a directory may have the weights as a pickle, or only an adapter. The readers
   would refuse all of them with sentences about headers and lengths. The user needs to know
   what the file is, and what to do. */

#ifndef INCIPIT_MISFIT_H
#define INCIPIT_MISFIT_H
#include "ground/ground.h"

/* if the n bytes of a file begin like another kind of file, a new sentence says which
   and what to do, and replaces the earlier one; json: JSON was wanted. Always false */
bool misfit_bytes(const char *path, const unsigned char *byte, size_t n,
  bool json, struct error *why);

/* the same for a path that leads nowhere, for a file where the directory of a model
   was wanted, and for a directory without the file missing that has something else in
   its place; always false */
bool misfit_path(const char *path, const char *missing, struct error *why);
#endif
