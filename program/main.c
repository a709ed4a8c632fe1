/* main.c -- the operating system's side of the command: the three streams, who is at the other end
   of them, the path of the executable, and signals. The rest is command_run.

   SIGPIPE is ignored from the first moment, so that a reader who has gone leaves a write that
   fails and not a dead writer. */

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "chat_edit.h"
#include "command.h"
#include "environment.h"

#ifndef INCIPIT_BUILD
#define INCIPIT_BUILD "unknown"
#endif

/* Ctrl-C during a generation raises a flag, which the loop looks at after every step and within
   it: what was written is completed, and counts are printed if they were asked for. The flag is
   the only variable of the project that is neither local to a function nor in allocated memory. A
   handler can reach nothing else; so it is here and not in the library. */
static volatile sig_atomic_t interrupt_seen;

static void note_interrupt(int number)
{
  interrupt_seen = number;
}

/* Before that nothing has been written that would have to be completed, and the program ends at
   once, with the status that a shell would report. What shows how far the work is stands on the
   terminal's last line, and is taken away. */
static void end_at_once(int number)
{
  static const char blank[] = "\r                                                             "
    "                  \r";
  (void) number;
  ssize_t n = isatty(2) ? write(2, blank, sizeof blank - 1) : 0;
  (void) n;
  _exit(STATUS_CANCELLED);
}

/* Who has been started with the signal ignored, as a shell starts what runs behind it, goes on
   ignoring it. */
static void end_on_interrupt(void)
{
  struct sigaction how;
  if (sigaction(SIGINT, NULL, &how) != 0 || how.sa_handler == SIG_IGN) return;
  memset(&how, 0, sizeof how);
  how.sa_handler = end_at_once;
  sigaction(SIGINT, &how, NULL);
}

/* Called when a generation begins.
   SA_RESETHAND takes the handler away when it has been called, so a second Ctrl-C ends the
   program at once. In a talk each answer installs it anew, with the flag down. */
static void listen_for_interrupt(void)
{
  struct sigaction how;
  interrupt_seen = 0;
  memset(&how, 0, sizeof how);
  how.sa_handler = note_interrupt;
  how.sa_flags = (int) SA_RESETHAND;
  sigaction(SIGINT, &how, NULL);
}

/* Called before a file grows that must not be left half written: whoever ends the program, with
   Ctrl-C, kill or by closing the terminal, is obeyed as soon as it is removed. */
static void hold_signals(void)
{
  static const int number[] = { SIGTERM, SIGHUP };
  struct sigaction how;
  listen_for_interrupt();
  for (int i = 0; i < 2; i++) {
    if (sigaction(number[i], NULL, &how) != 0 || how.sa_handler == SIG_IGN) continue;
    memset(&how, 0, sizeof how);
    how.sa_handler = note_interrupt;
    sigaction(number[i], &how, NULL);
  }
}

/* A server that is told twice to end does not finish anything. */
static void leave_at_once(int status)
{
  _exit(status);
}

static bool was_interrupted(void)
{
  return interrupt_seen != 0;
}

/* Another program may shorten a mapped file while we read; then the system sends SIGBUS. A
   library leaves the signals of its caller alone; a command can say what has most likely
   happened. In a handler write and _exit are allowed, printf is not; to return would repeat the
   read that has failed, for ever. */
static void lost_file(int number)
{
  static const char words[] = "incipit: a file became shorter while"
    " it was being read, or its disk failed\n";
  (void) number;
  ssize_t n = write(2, words, sizeof words - 1);
  (void) n;
  _exit(STATUS_FAILED);
}

static void speak_on_lost_file(void)
{
  struct sigaction how;
  memset(&how, 0, sizeof how);
  how.sa_handler = lost_file;
  sigaction(SIGBUS, &how, NULL);
}

/* The built-in model is found relative to the program. Linux says where that is; elsewhere
   argv[0] has to do. */
static void find_program(char path[PATH_CAP], const char *called)
{
  ssize_t n = readlink("/proc/self/exe", path, PATH_CAP - 1);
  if (n > 0) path[n] = '\0';
  else snprintf(path, PATH_CAP, "%s",
      called != NULL ? called : "");
}

/* how wide the terminal is; 0 where nobody knows */
static size_t terminal_columns(int fd)
{
  struct winsize size;
  return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* NO_COLOR, if it is not empty, turns colours off in any program; a dumb terminal has none */
static bool wants_colour(void)
{
  const char *term = environment_get(VARIABLE_TERMINAL);
  return isatty(1) && environment_get(VARIABLE_PLAIN) == NULL
    && (term == NULL || strcmp(term, "dumb") != 0);
}

int main(int argc, char **argv)
{
  struct memory memory = { .fail_at = 0 };
  char path[PATH_CAP];
  find_program(path, argv[0]);
  struct console c = { .in = stdin, .out = stdout, .err = stderr,
    .in_terminal = isatty(0), .out_terminal = isatty(1), .err_terminal = isatty(2),
    .columns = terminal_columns(1), .err_columns = terminal_columns(2), .colour = wants_colour(),
    .program = path, .build = INCIPIT_BUILD, .memory = &memory,
    .listen = listen_for_interrupt, .hold = hold_signals, .leave = leave_at_once, .interrupted = was_interrupted,
    .cancelled = was_interrupted, .edit = &editing_by_line };
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* a limit of a file's size is a write that fails, too */
  speak_on_lost_file();
  end_on_interrupt();
  return command_run(&c, argc, argv);
}
