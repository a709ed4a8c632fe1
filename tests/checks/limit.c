/* limit.c SECONDS COMMAND ARGUMENT... -- runs COMMAND and ends it, with everything that it started,
   when the time is over. What is still there when COMMAND ends by itself is ended, too, even if it
   has left its process group or its session: as a "subreaper" this process is the parent of every
   orphan below it, so all of them are found through /proc (Linux). The status is COMMAND's (128 + n
   if signal n ended it), 124 when the time was over, 127 when there is no such command. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* the parent of a process, 0 if it is gone; the name in brackets may have blanks and brackets
 * itself */
static pid_t parent_of(pid_t pid)
{
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%d/stat", (int) pid);
  FILE *f = fopen(path, "r");
  size_t n = f == NULL ? 0 : fread(line, 1, sizeof line - 1, f);
  if (f != NULL) fclose(f);
  line[n] = '\0';
  char *behind = strrchr(line, ')'), state;
  int parent;
  return behind != NULL && sscanf(behind + 1, " %c %d", &state, &parent) == 2 ? parent : 0;
}

static bool is_below(pid_t pid, pid_t top)
{
  for (int depth = 0; pid > 1 && depth < 1000; depth++) {
    pid = parent_of(pid);
    if (pid == top) return true;
  }
  return false;
}

/* one signal to every descendant; how many there were */
static unsigned signal_all(int signal_number)
{
  DIR *d = opendir("/proc");
  unsigned n = 0;
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
    pid_t pid = isdigit((unsigned char) e->d_name[0]) ? (pid_t) atoi(e->d_name) : 0;
    if (pid > 1 && is_below(pid, getpid())) n += kill(pid, signal_number) == 0;
  }
  if (d != NULL) closedir(d);
  return n;
}

/* ends all descendants; what is stopped can start nothing new */
static unsigned end_all(void)
{
  unsigned ended = 0;
  for (double until = now() + 20; now() < until;) {
    pid_t gone = 1;
    while (gone > 0) gone = waitpid(-1, NULL, WNOHANG);
    if (gone < 0 && errno == ECHILD) return ended; /* below a process without children is nobody: /proc need not be read */
    unsigned n = signal_all(SIGSTOP);
    if (n > ended) ended = n;
    signal_all(SIGKILL);
    nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
  }
  fprintf(stderr, "limit: something below this process does not end\n");
  return ended;
}

int main(int argc, char **argv)
{
  char *rest = NULL;
  double seconds = argc < 3 ? 0 : strtod(argv[1], &rest);
  if (argc < 3 || *rest != '\0' || !(seconds > 0))
    return fprintf(stderr, "usage: limit SECONDS COMMAND [ARGUMENT...]\n"), 2;
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return perror("limit: prctl"), 2;
  sigset_t heard, before;
  sigemptyset(&heard);
  sigaddset(&heard, SIGCHLD), sigaddset(&heard, SIGINT), sigaddset(&heard, SIGTERM),
    sigaddset(&heard, SIGHUP);
  sigprocmask(SIG_BLOCK, &heard, &before);
  signal(SIGCHLD, SIG_DFL);
  pid_t self = getpid(), child = fork();
  if (child < 0) return perror("limit: fork"), 2;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(127);
    sigprocmask(SIG_SETMASK, &before, NULL);
    execvp(argv[2], argv + 2);
    fprintf(stderr, "limit: %s: %s\n", argv[2], strerror(errno));
    _exit(127);
  }
  int result = -1, status;
  for (double until = now() + seconds; result < 0;) {
    double left = until - now();
    if (left <= 0) {
      fprintf(stderr, "limit: %s did not end within %s s\n", argv[2], argv[1]);
      result = 124;
      break;
    }
    struct timespec t = { (time_t) left, (long) ((left - (double) (time_t) left) * 1e9) };
    int got = sigtimedwait(&heard, NULL, &t);
    if (got > 0 && got != SIGCHLD) result = 128 + got;
    for (pid_t p; (p = waitpid(-1, &status, WNOHANG)) > 0;)
      if (p == child) result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  unsigned ended = end_all();
  if (ended > 0 && result < 124)
    fprintf(stderr, "limit: %u processes that %s left behind were ended\n", ended, argv[2]);
  return result;
}
