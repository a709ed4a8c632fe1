/* probe.c -- made from workshop/20-inspection.w; change it there */

/* H.151 */

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "chat/editing.h"
#include "probe/door.h"

#ifndef INCIPIT_BUILD
#define INCIPIT_BUILD "unknown"
#endif

/* H.153  Note that somebody has pressed Ctrl-C */

static volatile sig_atomic_t interrupt_seen;

static void note_interrupt(int number)
{
  interrupt_seen = number;
}

/* H.154  Note that somebody has pressed Ctrl-C */

static void listen_for_interrupt(void)
{
  struct sigaction how;
  interrupt_seen = 0;
  memset(&how, 0, sizeof how);
  how.sa_handler = note_interrupt;
  how.sa_flags = (int)SA_RESETHAND;
  sigaction(SIGINT, &how, NULL);
}

static bool was_interrupted(void)
{
  return interrupt_seen != 0;
}

/* H.155  Say why a mapped file is gone, and end */

static void lost_file(int number)
{
  static const char words[] = "incipit: a file became shorter while"
      " it was being read, or its disk failed\n";
  (void)number;
  ssize_t n = write(2, words, sizeof words - 1);
  (void)n;
  _exit(STATUS_FAILED);
}

/* H.156  Say why a mapped file is gone, and end */

static void speak_on_lost_file(void)
{
  struct sigaction how;
  memset(&how, 0, sizeof how);
  how.sa_handler = lost_file;
  sigaction(SIGBUS, &how, NULL);
}

/* H.157  Find the path of this program */

static void find_program(char path[CONSOLE_PATH], const char *called)
{
  ssize_t n = readlink("/proc/self/exe", path, CONSOLE_PATH - 1);
  if (n > 0)
    path[n] = '\0';
  else
    snprintf(path, CONSOLE_PATH, "%s", called != NULL ? called : "");
}

/* H.152  Find out about the world, and run the command */

int main(int argc, char **argv)
{
  struct memory memory = {.refuse_at = 0 };
  char path[CONSOLE_PATH];
  find_program(path, argv[0]);
  struct console c = {.in = stdin,.out = stdout,.err = stderr,
    .in_terminal = isatty(0),.out_terminal = isatty(1),
    .program = path,.build = INCIPIT_BUILD,.memory = &memory,
    .listen = listen_for_interrupt,.interrupted = was_interrupted,
    .edit = &editing_by_line
  };
  signal(SIGPIPE, SIG_IGN);
  speak_on_lost_file();
  return command_run(&c, argc, argv);
}
