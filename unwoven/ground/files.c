/* files.c -- files that are mapped, and paths.

   A descriptor can be closed at once, because the mapping keeps the file. If another program
   shortens the file while it is looked at, reading past its new end raises a signal and not an
   error code. A library may not catch signals that belong to its caller, so the command does
   that. */

#define _DEFAULT_SOURCE /* madvise */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/ground.h"

/* Ending a mapping twice is harmless, since the first time leaves it empty. */
static bool map_open_file(struct mapping *map, const char *path, int file,
  size_t size, struct error *why)
{
  void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (p == MAP_FAILED)
    return error_say(why, "%s: cannot be mapped: %s", path, strerror(errno));
  *map = (struct mapping) { p, size };
  return true;
}

void file_unmap(struct mapping *map)
{
  if (map->size > 0) munmap((void *) (uintptr_t) map->bytes, map->size);
  *map = (struct mapping) { (const unsigned char *) "", 0 };
}

/* A program that has made a copy of a part of a file will not read that part again. The system
   counts in whole pages, so those at the two ends are kept: other bytes of them may be in use.
   Bytes that are not in the mapping are left alone, because from memory that no file stands
   behind they would be lost. A refusal costs nothing but the memory, and is passed over. */
void file_release(const struct mapping *map, const void *from, size_t n)
{
  uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE), a = (uintptr_t) from;
  uintptr_t base = (uintptr_t) map->bytes;
  if (a < base || a - base > map->size || n > map->size - (a - base)) return;
  uintptr_t end = (a + n) / page * page;
  a = (a + page - 1) / page * page;
  if (a < end) madvise((void *) a, end - a, MADV_DONTNEED);
}

/* A directory can be opened, too, and only mmap would fail, with words about devices; so we
   look at what was opened. A pipe has no size, and is refused for the same reason. An empty
   file is no error here: the reader of the format will say what is missing. */
bool file_map(struct mapping *map, const char *path, struct error *why)
{
  *map = (struct mapping) { (const unsigned char *) "", 0 };
  /* A pipe must not make us wait for its writer. A directory can be opened, too, and
     would fail only in mmap, with words about devices; so we look first. */
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return error_say(why, "%s: cannot be opened: %s", path, strerror(errno));
  struct stat about;
  bool ok = fstat(file, &about) == 0;
  if (!ok) error_say(why, "%s: %s", path, strerror(errno));
  if (ok && !S_ISREG(about.st_mode))
    ok = error_found(why, path, "this", S_ISDIR(about.st_mode)
      ? "a directory" : "not a regular file", "a file");
  /* An empty file cannot be mapped, and is no error here: no bytes, at a valid
     address. The mapping keeps the file, so it can be closed. */
  if (ok && about.st_size > 0)
    ok = map_open_file(map, path, file, (size_t) about.st_size, why);
  close(file);
  return ok;
}

/* A path that was cut might name another file, so one that is too long is refused. */
static bool path_fits(const char *path, int n, struct error *why)
{
  return (n >= 0 && n < PATH_CAP) || error_say(why,
    "%.200s: the path has %d bytes; wanted: fewer than %d", path, n, (int) PATH_CAP);
}

bool path_join(char path[PATH_CAP], const char *folder, const char *name,
  struct error *why)
{
  return path_fits(path, snprintf(path, PATH_CAP, "%s/%s", folder, name), why);
}

bool path_beside(char path[PATH_CAP], const char *file, const char *name,
  struct error *why)
{
  const char *slash = strrchr(file, '/');
  int n = slash == NULL ? 0 : (int) (slash + 1 - file);
  return path_fits(path, snprintf(path, PATH_CAP, "%.*s%s", n, file, name), why);
}

/* asks the system, and does not try to open: a file that is there and cannot be read deserves
   a message of its own */
bool path_find(char path[PATH_CAP], const char *folder, const char *name, int mode)
{
  return path_join(path, folder, name, NULL) && access(path, mode) == 0;
}
