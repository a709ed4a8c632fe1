/* cages.c -- cages WHAT ...: what a program in a cage of the course can do (course/cage.c), asked of the cage itself, for tests/checks/grader.sh.
     cages try          is the program that is caged, and its tries are numbered: argument 1 is the name of one, 2 a number
     cages closed NAME NUMBER  runs this program closed, and prints what became of it
     cages read FILE DIR READABLE...  prints FILE, with cat, fenced to the rest
     cages look TEXT  whether it may be handed in, with \n for a new line (course/look.c) */
#define _GNU_SOURCE
#include "../../course/cage.h"
#include "../../course/look.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static long attempt(const char *what, long n, char *path)
{
  static struct rlimit none;
  char *const argv[] = { path, NULL };
  long r = 0;
  if (strcmp(what, "nothing") == 0) return 0;
  if (strcmp(what, "abort") == 0) abort();
  if (strcmp(what, "limits") == 0) return syscall(SYS_prlimit64, 0, RLIMIT_CPU, NULL, &none);
  if (strcmp(what, "open") == 0) return syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
  if (strcmp(what, "tgkill") == 0) return syscall(SYS_tgkill, n, n, SIGKILL);
  if (strcmp(what, "kill") == 0) return syscall(SYS_kill, n, SIGKILL);
  if (strcmp(what, "limit-of") == 0) return syscall(SYS_prlimit64, n, RLIMIT_CPU, &none, NULL);
  if (strcmp(what, "limit-high") == 0) { /* a new limit at an address whose lower half is zero */
    struct rlimit *at = mmap((void *) 0x700000000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return syscall(SYS_prlimit64, n, RLIMIT_CPU, at, NULL);
  }
  if (strcmp(what, "exec") == 0) r = syscall(SYS_execve, path, argv, NULL);
  if (strcmp(what, "execat") == 0) r = syscall(SYS_execveat, AT_FDCWD, path, argv, NULL, AT_EMPTY_PATH);
  if (strcmp(what, "again") == 0) for (long f = 3; f < 9; f++) r = syscall(SYS_execveat, f, "", argv, NULL, AT_EMPTY_PATH);
  if (strcmp(what, "fork") == 0) return syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (strcmp(what, "run") == 0) return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
  return r;
}

static void show(struct cage_result *r)
{
  char words[300];
  cage_words(r, words, sizeof words);
  printf("%s%s%s: %s%s\n", r->apart ? "apart " : "", r->fenced ? "fenced " : "", words, r->out, r->n > 0 ? "" : "-");
  free(r->out);
}

int main(int argc, char **argv)
{
  if (argc == 4 && strcmp(argv[1], "try") == 0) {
    printf("begun ");
    fflush(stdout);
    printf("%s %ld", argv[2], attempt(argv[2], strtol(argv[3], NULL, 10), argv[3]));
    return 0;
  }
  if (argc == 5 && strcmp(argv[1], "closed") == 0) {
    char word[] = "try";
    char *const theirs[] = { argv[2], word, argv[3], argv[4], NULL };
    char directory[1000];
    snprintf(directory, sizeof directory, "%.*s", (int) (strrchr(argv[2], '/') - argv[2]), argv[2]);
    struct cage c = { 5, (size_t) 1 << 30, 1u << 16, true, directory, NULL };
    struct cage_result r = cage_run(&c, theirs);
    return show(&r), 0;
  }
  if (argc > 4 && strcmp(argv[1], "read") == 0) {
    char cat[] = "/bin/cat";
    char *const theirs[] = { cat, argv[2], NULL };
    struct cage c = { 5, (size_t) 1 << 30, 1u << 16, false, argv[3], (const char *const *) (argv + 4) };
    struct cage_result r = cage_run(&c, theirs);
    return show(&r), 0;
  }
  if (argc == 3 && strcmp(argv[1], "look") == 0) {
    char why[500] = "fits", *to = argv[2];
    for (const char *at = argv[2]; *at != '\0'; to++, at++) {
      *to = *at;
      if (at[0] == '\\' && at[1] == 'n') *to = '\n', at++;
    }
    *to = '\0';
    look_at_source(argv[2], "it", why, sizeof why);
    return puts(why) < 0;
  }
  return 2;
}
