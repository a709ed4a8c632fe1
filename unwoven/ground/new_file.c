/* new_file.c -- a file that appears under its name only when it is whole.

   It is written beside its place and renamed at the end, so a failure leaves the
   older file as it was. rename replaces whatever has the name, a device as well:
   nothing but a regular file, or no file, may be replaced, and that is asked before
   anything is written. A symbolic link is followed, never replaced. */

#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/new_file.h"

/* Names prove nothing: there are links of both kinds, and ./a is a. */
bool path_same(const char *a, const char *b)
{
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0
    && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The system follows all names of a path but the last, which rename would replace. 40
   links: Linux gives up there. */
static bool follow_links(struct new_file *n, struct error *why)
{
  char link[PATH_CAP], from[PATH_CAP];
  if (!path_beside(n->to, "", n->path, why)) return false;
  for (int i = 0; i < 40; i++) {
    ssize_t length = readlink(n->to, link, sizeof link - 1);
    if (length < 0) return true;
    link[length] = '\0';
    strcpy(from, *link == '/' ? "" : n->to);
    if (!path_beside(n->to, from, link, why)) return false;
  }
  return error_say(why, "%s: cannot be written: %s", n->path, strerror(ELOOP));
}

/* The name is short because the final one may already be as long as a name may be;
   "x" lets the opening fail if another process has it. */
static FILE *open_beside(struct new_file *n)
{
  char name[64];
  for (unsigned i = 0; i < 1000; i++) {
    snprintf(name, sizeof name, "incipit-%ld-%u.part", (long) getpid(), i);
    if (!path_beside(n->part, n->to, name, NULL)) errno = ENAMETOOLONG;
    else {
      FILE *f = fopen(n->part, "wbx");
      if (f != NULL) return f;
    }
    if (errno != EEXIST) break;
  }
  n->part[0] = '\0';
  return NULL;
}

static const char *kind_of(mode_t mode)
{
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

static bool open_in_place(struct new_file *n, const struct stat *old,
  struct error *why)
{
  if (old != NULL && !S_ISREG(old->st_mode))
    return error_found(why, n->path, "this", kind_of(old->st_mode),
      "a regular file, which is replaced, or a name that is free");
  if (!follow_links(n, why)) return false;
  /* /dev/stdout is a link whose text may lead elsewhere by now: what we found must be
     what the system finds. A file that may not be written to is not replaced, though
     its directory would allow it. */
  errno = ENOENT;
  if (n->to[0] != '\0' && (old == NULL || (path_same(n->path, n->to)
      && access(n->to, W_OK) == 0))) n->f = open_beside(n);
  if (n->f != NULL && old != NULL) fchmod(fileno(n->f), old->st_mode & 0777);
  return n->f != NULL
    || error_say(why, "%s: cannot be written: %s", n->path, strerror(errno));
}

/* A disk is a device too, but of blocks, and never a stream. */
bool new_file_open(struct new_file *n, const char *path, bool stream,
  struct error *why)
{
  struct stat old;
  bool there = stat(path, &old) == 0;
  *n = (struct new_file) { .path = path };
  /* What goes to a stream is read at once, so nothing is held back or replaced there.
     A disk is a device, but of blocks, and refused. */
  if (!(there && stream && (S_ISCHR(old.st_mode) || S_ISFIFO(old.st_mode))))
    return open_in_place(n, there ? &old : NULL, why);
  n->f = fopen(path, "wb");
  return n->f != NULL
    || error_say(why, "%s: cannot be written: %s", path, strerror(errno));
}

/* Whether everything could be written is known only when the file is closed. */
bool new_file_stored(struct new_file *n, struct error *why)
{
  FILE *f = n->f;
  if (f == NULL) return true;
  n->f = NULL;
  /* A full disk may be noticed only here. Not every failure sets errno. */
  errno = 0;
  bool ok = fflush(f) == 0 && !ferror(f);
  int number = errno;
  ok = fclose(f) == 0 && ok;
  if (number == 0) number = errno != 0 ? errno : EIO;
  return ok || error_say(why, "%s: cannot be written: %s", n->path, strerror(number));
}

bool new_file_end(struct new_file *n, bool ok, struct error *why)
{
  ok = new_file_stored(n, ok ? why : NULL) && ok;
  if (n->part[0] == '\0') return ok;
  if (ok && rename(n->part, n->to) != 0)
    ok = error_say(why, "%s: cannot be written: %s", n->path, strerror(errno));
  if (!ok) unlink(n->part);
  n->part[0] = '\0';
  return ok;
}
