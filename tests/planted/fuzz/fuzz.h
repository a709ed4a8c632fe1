/* fuzz.h -- what the targets share.  A target is a function fuzz_NAME(data, size) that must survive
   every input; tests/planted/fuzz.sh compiles it with libFuzzer for campaigns, or with replay.c to run
   through the committed corpus.  The linker puts our own file_map before the library's (--wrap): a
   mapped file becomes a block of exactly its size, so that one byte read too many is seen by
   AddressSanitizer. */
#ifndef INCIPIT_FUZZ_H
#define INCIPIT_FUZZ_H
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/ground.h"

static inline void must(bool ok)
{
  if (!ok) __builtin_trap();
}
/* what a file of so many bytes may make us ask for: a table of ids grows to twice what it needs,
 * beside the one it grows from; and one pattern has all scripts in it */
static inline void cheap(const struct memory *m, size_t size)
{
  must(m->all.peak <= 100 * size + 589824);
}

/* a folder of this process, and files in it */
static inline const char *scratch(void)
{
  static char dir[64];
  if (dir[0] == '\0') {
    const char *base = getenv("FUZZ_ROOM"); /* where fuzz.sh will clean up */
    snprintf(dir, sizeof dir, "%s/incipit-fuzz-%ld",
      base                              ? base
        : access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                                        : "/tmp",
      (long) getpid());
    mkdir(dir, 0700);
  }
  return dir;
}
static inline const char *scratch_path(char buffer[128], const char *name)
{
  snprintf(buffer, 128, "%s/%s", scratch(), name);
  return buffer;
}
static inline void scratch_file(const char *name, const void *data, size_t n)
{
  char path[128];
  int fd = open(scratch_path(path, name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  must(fd >= 0 && write(fd, data, n) == (ssize_t) n);
  close(fd);
}
static inline void scratch_drop(const char *name)
{
  char path[128];
  unlink(scratch_path(path, name));
}

/* inputs of several parts have lines of four percent signs between them */
static inline size_t next_part(const uint8_t **data, size_t *size, const uint8_t **part)
{
  *part = *data;
  const uint8_t *at = *size > 0 ? memmem(*data, *size, "\n%%%%\n", 6) : NULL;
  size_t n = at ? (size_t) (at - *data) : *size, skip = at ? n + 6 : n;
  *data += skip, *size -= skip;
  return n;
}

#ifdef FUZZ_ENTRY
#define FUZZ(name)                                                                                 \
  int fuzz_##name(const uint8_t *data, size_t size);                                               \
  int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                                    \
  int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                     \
  {                                                                                                \
    return fuzz_##name(data, size);                                                                \
  }                                                                                                \
  int fuzz_##name(const uint8_t *data, size_t size)
#else
#define FUZZ(name)                                                                                 \
  int fuzz_##name(const uint8_t *data, size_t size);                                               \
  int fuzz_##name(const uint8_t *data, size_t size)
#endif
#endif
