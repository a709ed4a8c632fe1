/* cage.c -- cage [--seconds N] [--closed | --reading] [--hide DIR]... [--scratch DIR] [--like REFERENCE] PROGRAM ARGUMENT...

   Runs a program with limits of time, memory and output, and prints what it printed.  --closed: it can open no file and start no
   program (course/cage.c).  --reading: it can read files and start programs, but write only in the scratch directory, see nothing of
   the hidden ones, and reach no network and no other process.  --like: the reference is run with the same arguments, and the
   transcripts are compared (course/transcript.c); the status is 0 if they agree, else 1, and a sentence says where they differ.
   --can: says by its status whether this system lets a process be cut off.  */
#define _GNU_SOURCE
#include "../../../course/cage.h"
#include "../../../course/transcript.h"
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* <sys/mount.h> and <linux/mount.h> do not go together everywhere */
extern int mount(const char *from, const char *at, const char *kind, unsigned long flags, const void *data);
enum { BIND = 4096, REC = 16384, PRIVATE = 1 << 18, MOST_HIDDEN = 8 };

static bool put(const char *path, const char *format, unsigned id)
{
  FILE *f = fopen(path, "w");
  return f != NULL && (fprintf(f, format, id, id), fclose(f) == 0);
}

static bool set_mount(const char *at, unsigned flags, uint64_t set, uint64_t clear)
{
  struct mount_attr a = { .attr_set = set, .attr_clr = clear };
  return syscall(SYS_mount_setattr, AT_FDCWD, at, flags, &a, sizeof a) == 0;
}

/* what this process starts sees its own processes, no network, and all files as they are, without the right to write */
static bool cut_off(const char *scratch, char *const *hidden)
{
  unsigned uid = (unsigned) getuid(), gid = (unsigned) getgid();
  char here[4000];
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWPID) != 0) return false;
  put("/proc/self/setgroups", "deny", 0);
  if (!put("/proc/self/gid_map", "%u %u 1", gid) || !put("/proc/self/uid_map", "%u %u 1", uid)) return false;
  if (mount("none", "/", NULL, REC | PRIVATE, NULL) != 0) return false;
  if (scratch != NULL && mount(scratch, scratch, NULL, BIND, NULL) != 0) return false;
  if (!set_mount("/", AT_RECURSIVE, MOUNT_ATTR_RDONLY, 0)) return false;
  if (scratch != NULL && !set_mount(scratch, 0, 0, MOUNT_ATTR_RDONLY)) return false;
  if (getcwd(here, sizeof here) != NULL && strncmp(here, "/tmp/", 5) != 0) mount("none", "/tmp", "tmpfs", 0, "size=16m");
  for (; *hidden != NULL; hidden++)
    if (mount("none", *hidden, "tmpfs", 0, "size=4k") != 0) return false;
  return true;
}

int main(int argc, char **argv)
{
  char *scratch = NULL, *reference = NULL, *hidden[MOST_HIDDEN + 1] = { NULL }, directory[4000], words[1500];
  struct cage c = { 10, (size_t) 2 << 30, 1u << 20, false, NULL, NULL };
  bool closed = false, reading = false;
  int i = 1, n_hidden = 0;
  if (argc == 2 && strcmp(argv[1], "--can") == 0) return !cut_off(NULL, hidden);
  for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
    if (strcmp(argv[i], "--closed") == 0) closed = true;
    else if (strcmp(argv[i], "--reading") == 0) reading = true;
    else if (i + 2 >= argc) break;
    else if (strcmp(argv[i], "--seconds") == 0) c.seconds = (unsigned) atoi(argv[++i]);
    else if (strcmp(argv[i], "--scratch") == 0) scratch = argv[++i];
    else if (strcmp(argv[i], "--like") == 0) reference = argv[++i];
    else if (strcmp(argv[i], "--hide") == 0 && n_hidden < MOST_HIDDEN) hidden[n_hidden++] = argv[++i];
    else break;
  }
  if (i >= argc || strchr(argv[i], '/') == NULL || c.seconds == 0 || (closed && reading)) {
    fprintf(stderr, "usage: cage [--seconds N] [--closed | --reading] [--hide DIR]... [--scratch DIR] [--like REFERENCE] PROGRAM ...\n");
    return 2;
  }
  argv += i;
  struct cage_result right = { .end = CAGE_EXITED }, r;
  if (reference != NULL) {
    char *program = argv[0];
    argv[0] = reference, right = cage_run(&c, argv), argv[0] = program;
    if (right.end != CAGE_EXITED || right.code != 0) {
      cage_words(&right, words, sizeof words);
      return printf("our own answer fails here: it %s\n", words), 2;
    }
    c.output = right.n + (1u << 16);
  }
  if (closed) {
    snprintf(directory, sizeof directory, "%.*s", (int) (strrchr(argv[0], '/') - argv[0]), argv[0]);
    c.closed = true, c.directory = directory, c.memory = (size_t) 1 << 30;
  }
  if (reading && !cut_off(scratch, hidden)) fprintf(stderr, "this system does not let a program be cut off from files: only its time is limited\n");
  r = cage_run(&c, argv);
  if (r.end == CAGE_SIGNALLED && r.code == SIGKILL && r.seconds >= c.seconds) r.end = CAGE_TIME;
  if (reference != NULL) {
    if (transcript_agrees(right.out, &r, true, words, sizeof words)) return 0;
    return puts(words), 1;
  }
  fwrite(r.out, 1, r.out != NULL ? r.n : 0, stdout);
  if (r.end == CAGE_EXITED) return r.code;
  cage_words(&r, words, sizeof words);
  return fprintf(stderr, "it %s\n", words), 124;
}
