/* paths.h -- a path out of a directory and a name.

   A model is a directory, and each reader of a format knows the names of its files. */

#ifndef INCIPIT_PATHS_H
#define INCIPIT_PATHS_H
#include <stdbool.h>
struct error;

/* bytes that a path may have, with the zero at its end */
enum { PATH_CAP = 4096 };

/* path is folder, a slash and name; error: a path too long, which is left cut */
bool path_join(char path[PATH_CAP], const char *folder, const char *name,
  struct error *why);

/* path is name in the directory of file, or name as it is if there is no slash in
   file */
bool path_beside(char path[PATH_CAP], const char *file, const char *name,
  struct error *why);

/* path_join, and whether the file may be accessed in a mode of access: F_OK if it is
   there */
bool path_find(char path[PATH_CAP], const char *folder, const char *name, int mode);
#endif
