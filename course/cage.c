/* cage.c -- limits of time, memory and output; a filter of system calls (seccomp) and, where the system lets us, an empty root
   directory of its own (a user namespace).  Linux. */
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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
  __NR_set_tid_address, __NR_set_robust_list, __NR_rseq, __NR_prlimit64, __NR_getrandom, __NR_newfstatat, __NR_fstat, __NR_getpid,
  __NR_gettid, __NR_tgkill, __NR_readlinkat, __NR_sched_yield, __NR_execve,
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

/* memory may be asked for, but not a file's, and never to run what is in it */
static bool filter_calls(void)
{
  struct sock_filter code[100];
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

/* a user namespace in which we may change the root, and a network without connections; false where the system does not let us */
static bool jail(const char *directory)
{
  char map[60];
  unsigned uid = (unsigned) getuid(), gid = (unsigned) getgid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) != 0) return false;
  put("/proc/self/setgroups", "deny");
  snprintf(map, sizeof map, "0 %u 1", gid);
  put("/proc/self/gid_map", map);
  snprintf(map, sizeof map, "0 %u 1", uid);
  return put("/proc/self/uid_map", map) && chroot(directory) == 0 && chdir("/") == 0;
}

/* in the new process; the byte that it writes first says whether it has a root of its own */
static void become(const struct cage *c, char *const argv[], int out)
{
  char *const none[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };
  int null = open("/dev/null", O_RDWR);
  dup2(null, 0), dup2(out, 1), dup2(c->closed ? null : out, 2);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CPU, c->seconds, c->seconds + 1);
  limit(RLIMIT_AS, c->memory, c->memory), limit(RLIMIT_CORE, 0, 0);
  const char *path = argv[0];
  char inside[300];
  if (c->closed) {
    snprintf(inside, sizeof inside, "/%s", strrchr(argv[0], '/') + 1);
    bool own = jail(c->directory);
    if (own) path = inside;
    if (write(1, own ? "j" : "-", 1) != 1) _exit(127);
    limit(RLIMIT_FSIZE, 0, 0), limit(RLIMIT_NOFILE, 3, 3);
  } else {
    if (write(1, "-", 1) != 1) _exit(127);
    limit(RLIMIT_FSIZE, 256u << 20, 256u << 20);
    if (c->directory != NULL && chdir(c->directory) != 0) _exit(127);
  }
  for (int f = 3; f < 64; f++) close(f);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (c->closed && !filter_calls()) _exit(127);
  execve(path, argv, none);
  _exit(127);
}

struct cage_result cage_run(const struct cage *c, char *const argv[])
{
  struct cage_result r = { .end = CAGE_NOT_RUN };
  int pipes[2], status;
  double began = now(), most = 2.0 * c->seconds + 2;
  if (pipe2(pipes, O_CLOEXEC) != 0) return r;
  pid_t child = fork();
  if (child == 0) become(c, argv, pipes[1]);
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
  else if (WIFSIGNALED(status)) r.code = WTERMSIG(status), r.end = r.code == SIGXCPU ? CAGE_TIME : CAGE_SIGNALLED;
  else r.code = WEXITSTATUS(status);
over:
  close(pipes[0]);
  r.seconds = now() - began;
  if (r.out != NULL) {
    r.jailed = r.n > 0 && r.out[0] == 'j';
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
  default: snprintf(words, size, "could not be started");
  }
}
