/* cage.c -- limits of time, memory and output; a filter of system calls (seccomp) and, where the system lets us, namespaces of its own
   with an empty root directory, and a fence around files (Landlock).  Linux. */
#define _GNU_SOURCE
#include "cage.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

#if defined __x86_64__
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

/* what a program without files needs from the system, the beginning and the end of a C program included */
static const int allowed[] = { __NR_write, __NR_writev, __NR_brk, __NR_munmap, __NR_mremap, __NR_madvise, __NR_exit,
  __NR_exit_group, __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_clock_gettime, __NR_gettimeofday, __NR_futex,
  __NR_set_tid_address, __NR_set_robust_list, __NR_rseq, __NR_getrandom, __NR_newfstatat, __NR_fstat, __NR_getpid, __NR_gettid,
  __NR_readlinkat, __NR_sched_yield,
#ifdef __NR_arch_prctl
  __NR_arch_prctl,
#endif
#ifdef __NR_readlink
  __NR_readlink,
#endif
};

#define AT(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, (what))
enum { LOW = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4, HIGH = 4 - LOW };

/* a call is allowed if its argument has a value; the number of instructions */
static unsigned allow_if(struct sock_filter *code, int call, unsigned argument, uint64_t value)
{
  unsigned at = (unsigned) (offsetof(struct seccomp_data, args) + argument * sizeof (uint64_t)), n = 0;
  code[n++] = (struct sock_filter) UNLESS((unsigned) call, 6);
  code[n++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at + LOW);
  code[n++] = (struct sock_filter) UNLESS((uint32_t) value, 3);
  code[n++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at + HIGH);
  code[n++] = (struct sock_filter) UNLESS((uint32_t) (value >> 32), 1);
  code[n++] = (struct sock_filter) ANSWER(SECCOMP_RET_ALLOW);
  code[n++] = (struct sock_filter) ANSWER(SECCOMP_RET_KILL_PROCESS);
  return n;
}

/* memory may be asked for, but not a file's, and never to run what is in it; a signal goes to oneself (abort); limits may be read; and
   the one program that may be started is ours, whose empty path is at an address that nobody can guess */
static bool filter_calls(const char *path)
{
  struct sock_filter code[120];
  unsigned n = 0;
  code[n++] = (struct sock_filter) AT(arch);
  code[n++] = (struct sock_filter) UNLESS(OUR_ARCH, 1);
  code[n++] = (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0);
  code[n++] = (struct sock_filter) ANSWER(SECCOMP_RET_KILL_PROCESS);
  code[n++] = (struct sock_filter) AT(nr);
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
    code[n++] = (struct sock_filter) UNLESS((unsigned) allowed[i], 1);
    code[n++] = (struct sock_filter) ANSWER(SECCOMP_RET_ALLOW);
  }
  n += allow_if(code + n, __NR_tgkill, 0, (uint64_t) getpid());
  n += allow_if(code + n, __NR_prlimit64, 2, 0);
  n += allow_if(code + n, __NR_execveat, 1, (uintptr_t) path);
  code[n++] = (struct sock_filter) UNLESS(__NR_mmap, 6); /* without a file, not to be run */
  code[n++] = (struct sock_filter) AT(args[4]);
  code[n++] = (struct sock_filter) UNLESS(0xffffffffu, 3);
  code[n++] = (struct sock_filter) AT(args[2]);
  code[n++] = (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0);
  code[n++] = (struct sock_filter) ANSWER(SECCOMP_RET_ALLOW);
  code[n++] = (struct sock_filter) ANSWER(SECCOMP_RET_KILL_PROCESS);
  code[n++] = (struct sock_filter) UNLESS(__NR_mprotect, 3);
  code[n++] = (struct sock_filter) AT(args[2]);
  code[n++] = (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0);
  code[n++] = (struct sock_filter) ANSWER(SECCOMP_RET_ALLOW);
  code[n++] = (struct sock_filter) ANSWER(SECCOMP_RET_KILL_PROCESS);
  struct sock_fprog program = { (unsigned short) n, code };
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

/* an empty path somewhere in 2^34 pages; it is not there any more when the program runs */
static char *hidden_path(void)
{
  uint64_t where = 0;
  if (getrandom(&where, sizeof where, 0) != (ssize_t) sizeof where) return NULL;
  char *at = mmap((void *) (uintptr_t) (where >> 18 & ~(uint64_t) 4095), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static void limit(int what, rlim_t most, rlim_t last)
{
  struct rlimit r = { most, last };
  setrlimit((__rlimit_resource_t) what, &r);
}

static bool put(const char *path, const char *text)
{
  int f = open(path, O_WRONLY | O_CLOEXEC);
  bool ok = f >= 0 && write(f, text, strlen(text)) == (ssize_t) strlen(text);
  if (f >= 0) close(f);
  return ok;
}

static bool can(const char *what)
{
  const char *without = getenv("CAGE_WITHOUT");
  return without == NULL || strstr(without, what) == NULL;
}

/* in a new user namespace: an empty root, if the system lets us; uid and gid are those outside */
static bool jail(const char *directory, unsigned uid, unsigned gid)
{
  char map[60];
  put("/proc/self/setgroups", "deny");
  snprintf(map, sizeof map, "0 %u 1", gid);
  put("/proc/self/gid_map", map);
  snprintf(map, sizeof map, "0 %u 1", uid);
  return put("/proc/self/uid_map", map) && chroot(directory) == 0 && chdir("/") == 0;
}

/* Landlock, Linux 5.13 or later; its numbers are the same on every machine, and <linux/landlock.h> is not on every machine */
enum { LANDLOCK_CREATE = 444, LANDLOCK_ADD = 445, LANDLOCK_RESTRICT = 446 };
enum { RUN = 1, WRITE = 2, READ = 4, LIST = 8, REMOVE = 1 << 5, MAKE = 1 << 8, ALL = (1 << 13) - 1, TRUNCATE = 1 << 14 };
struct landlock_rule { uint64_t rights; int32_t file; } __attribute__((packed));

static bool allow_file(int rules, int file, unsigned rights)
{
  struct stat s;
  bool ok = file >= 0 && fstat(file, &s) == 0;
  if (ok && !S_ISDIR(s.st_mode)) rights &= RUN | WRITE | READ | TRUNCATE;
  struct landlock_rule rule = { rights, file };
  return ok && syscall(LANDLOCK_ADD, rules, 1, &rule, 0) == 0;
}

/* from here on no file can be opened but the program, and what the cage allows; false where the kernel has no Landlock */
static bool fence(const struct cage *c, int program)
{
  long version = can("landlock") ? syscall(LANDLOCK_CREATE, NULL, 0, 1) : -1;
  unsigned truncate = version >= 3 ? TRUNCATE : 0;
  uint64_t handled = ALL | truncate;
  int rules = version < 1 ? -1 : (int) syscall(LANDLOCK_CREATE, &handled, sizeof handled, 0);
  bool ok = rules >= 0 && allow_file(rules, program, RUN | READ);
  for (size_t i = 0; ok && !c->closed && c->readable[i] != NULL; i++) {
    int file = open(c->readable[i], O_PATH | O_CLOEXEC);
    ok = file < 0 || allow_file(rules, file, RUN | READ | LIST);
    if (file >= 0) close(file);
  }
  if (ok && !c->closed) {
    int own = open(c->directory, O_PATH | O_CLOEXEC), null = open("/dev/null", O_PATH | O_CLOEXEC);
    ok = allow_file(rules, own, RUN | READ | LIST | WRITE | MAKE | REMOVE | truncate) && allow_file(rules, null, READ | WRITE | truncate);
    close(own), close(null);
  }
  ok = ok && syscall(LANDLOCK_RESTRICT, rules, 0) == 0;
  if (rules >= 0) close(rules);
  return ok;
}

/* in the new process; the byte that it writes first says what holds it: 1 for namespaces, 2 for the fence */
static void become(const struct cage *c, char *const argv[], int out, bool own)
{
  char inside[300], temporary[1100] = "TMPDIR=/tmp", *const few[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", temporary, NULL };
  char *path = c->closed ? hidden_path() : NULL;
  int null = open("/dev/null", O_RDWR);
  dup2(null, 0), dup2(out, 1), dup2(c->closed ? null : out, 2);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CPU, c->seconds, c->seconds + 1);
  limit(RLIMIT_AS, c->memory, c->memory), limit(RLIMIT_CORE, 0, 0);
  for (int f = 3; f < 64; f++) close(f);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (c->readable != NULL && c->directory != NULL) snprintf(temporary, sizeof temporary, "TMPDIR=%s", c->directory);
  if (own) snprintf(inside, sizeof inside, "/%s", strrchr(argv[0], '/') + 1);
  int program = open(own ? inside : argv[0], O_PATH | O_CLOEXEC);
  bool fenced = (c->closed || c->readable != NULL) && fence(c, program);
  char held = (char) ('0' + own + 2 * fenced);
  if (program < 0 || write(1, &held, 1) != 1) _exit(127);
  if (c->closed) {
    char *const none[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };
    limit(RLIMIT_FSIZE, 0, 0), limit(RLIMIT_NOFILE, 4, 4);
    if (path != NULL && filter_calls(path)) syscall(SYS_execveat, program, path, argv, none, AT_EMPTY_PATH);
    _exit(127);
  }
  limit(RLIMIT_FSIZE, 256u << 20, 256u << 20);
  if (c->directory != NULL && chdir(c->directory) != 0) _exit(127);
  execve(argv[0], argv, few);
  _exit(127);
}

/* the first process of the new namespaces: when it ends, all that is in them ends */
static void keep(const struct cage *c, char *const argv[], int out, unsigned uid, unsigned gid, int *status)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  bool own = jail(c->directory, uid, gid);
  pid_t child = fork();
  if (child == 0) become(c, argv, out, own);
  for (int f = 0; f < 64; f++) close(f);
  while (child > 0 && waitpid(child, status, 0) < 0 && errno == EINTR) ;
  _exit(child > 0 ? 0 : 127);
}

struct cage_result cage_run(const struct cage *c, char *const argv[])
{
  struct cage_result r = { .end = CAGE_NOT_RUN };
  int pipes[2], status;
  unsigned uid = (unsigned) geteuid(), gid = (unsigned) getegid();
  double began = now(), most = 2.0 * c->seconds + 2;
  int *kept = mmap(NULL, sizeof *kept, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (kept == MAP_FAILED || pipe2(pipes, O_CLOEXEC) != 0) return r;
  enum { APART = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC };
  pid_t child = c->closed && can("namespaces") ? (pid_t) syscall(SYS_clone, (long) (APART | SIGCHLD), NULL, NULL, NULL, NULL) : -1;
  if (child == 0) keep(c, argv, pipes[1], uid, gid, kept);
  bool apart = child > 0;
  if (!apart) child = fork();
  if (child == 0) become(c, argv, pipes[1], false);
  close(pipes[1]);
  r.out = malloc(c->output + 2);
  if (child < 0 || r.out == NULL) goto over;
  setpgid(child, child);
  r.end = CAGE_EXITED;
  for (;;) {
    struct pollfd p = { pipes[0], POLLIN, 0 };
    double left = began + most - now();
    if (left <= 0 || poll(&p, 1, (int) (1e3 * left) + 1) == 0) {
      r.end = CAGE_TIME;
      break;
    }
    ssize_t n = read(pipes[0], r.out + r.n, c->output + 1 - r.n);
    if (n <= 0) break;
    r.n += (size_t) n;
    if (r.n > c->output) {
      r.end = CAGE_OUTPUT;
      break;
    }
  }
  /* a program that closed its output may go on: it has the same time */
  while (r.end == CAGE_EXITED && waitpid(child, &status, WNOHANG) == 0) {
    struct timespec t = { 0, 2000000 };
    nanosleep(&t, NULL);
    if (now() > began + most) r.end = CAGE_TIME;
  }
  kill(-child, SIGKILL);
  if (r.end != CAGE_EXITED) waitpid(child, &status, 0);
  else if (apart && WIFEXITED(status) && WEXITSTATUS(status) == 0) status = *kept;
  if (r.end != CAGE_EXITED) ;
  else if (WIFSIGNALED(status)) r.code = WTERMSIG(status), r.end = r.code == SIGXCPU ? CAGE_TIME : CAGE_SIGNALLED;
  else r.code = WEXITSTATUS(status);
over:
  close(pipes[0]);
  munmap(kept, sizeof *kept);
  r.seconds = now() - began;
  if (r.out != NULL) {
    unsigned held = r.n > 0 ? (unsigned) (r.out[0] - '0') : 0;
    r.apart = held & 1, r.fenced = held & 2;
    if (r.n > 0) memmove(r.out, r.out + 1, --r.n);
    r.out[r.n] = '\0';
  }
  return r;
}

void cage_words(const struct cage_result *r, char *words, size_t size)
{
  switch (r->end) {
  case CAGE_EXITED: snprintf(words, size, "ended with status %d", r->code); break;
  case CAGE_SIGNALLED:
    if (r->code == SIGSYS) snprintf(words, size, "asked the system for something that no answer needs, and was ended");
    else snprintf(words, size, "was ended by signal %d (%s)", r->code, strsignal(r->code));
    break;
  case CAGE_TIME: snprintf(words, size, "took longer than it may, and was ended"); break;
  case CAGE_OUTPUT: snprintf(words, size, "printed more than it may, and was ended"); break;
  case CAGE_NOT_RUN: snprintf(words, size, "could not be started");
  }
}
