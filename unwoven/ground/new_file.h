/* new_file.h -- a file that appears when it is whole.

   Half a file is worse than none: it has the right name, and it is found months later. So it
   is written under another name in the same folder and renamed at the end, which the system
   does in one step. Until then an older file of that name is as it was, and if anything fails,
   the new one is removed. All writers of the engine open their files here. */

#ifndef INCIPIT_NEW_FILE_H
#define INCIPIT_NEW_FILE_H
#include <stdio.h>
#include "ground/ground.h"

/* a file that is being made */
struct new_file {
  FILE *f; /* to be written to; null when it is closed */
  const char *path; /* as it was given, for messages; borrowed */
  char to[PATH_CAP], part[PATH_CAP]; /* its name at the end, and until then; none for a stream */
};

/* begins the file path, in place of a regular file or of none; stream: if path leads
   to a pipe or a device of characters, such as a terminal, that is opened and written
   to; false and a sentence, and nothing is held */
bool new_file_open(struct new_file *n, const char *path, bool stream,
  struct error *why);

/* closes what has been written, so that n->part can be read; error: not all of it
   could be stored */
bool new_file_stored(struct new_file *n, struct error *why);

/* if ok, the file gets its name; else, or if that fails, it is removed, and the older
   one stays. Whether it has its name */
bool new_file_end(struct new_file *n, bool ok, struct error *why);

/* whether both paths lead to one file, under whatever names */
bool path_same(const char *a, const char *b);
#endif
