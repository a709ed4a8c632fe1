@i types.w
@s FILE int
@s sigaction x

\chapterquestion{What must a program say, and to whom, so that it can be used by people and by
scripts that its authors will never meet?}
@** The command.
\incipit{A}{library is spoken} to by its authors' friends. A command is spoken to by everybody: by
somebody who has typed a letter too few, by a script that runs at night, by another program that
reads only the first line and closes the pipe, by a test that sends it a row of letters that
nobody would ever type. They have three things in common. They have not read this book; they
want to know what happened; and the wrong answer to them, given in a confident tone, costs them a
day. So this appendix is about manners, and manners in a program are mostly a matter of
saying each thing at the right place: results here, remarks there, and a number at the end
that tells a script how it went.
@^command@>@^manners@>

There is nothing in it about language models that the chapters have not built. What is new is one
table, from which the help, the manual page and the shell's completion are all made; a writer and
a reader of JSON, strict enough that another program may rely on them; and a protocol by
which this program can be compared with any other, question by question.

\begin{byhand}{the shortest number that reads back}
Whoever prints a number for a program wants as few digits as will do: as many as
are needed so that reading gives the same number again, and none more. Take a toy format with three
significant bits: $8,10,12,14,16,20,24,28,32,40,\ldots$, and so on upwards. A
decimal that is read becomes the nearest of these. So each owns everything up to the middle of
the way to its neighbours, and we look for the decimal with the fewest digits in what it owns.

\medskip
\begin{tabular}{@@{}rrrlll@@{}}
\tabhead{number} & \tabhead{below} & \tabhead{above} & \tabhead{owns} & \tabhead{one digit} & \tabhead{two digits}\\
14 & 12 & 16 & 13 to 15 & 10 is outside & 14\\
16 & 14 & 20 & 15 to 18 & 20 is outside & 16\\
20 & 16 & 24 & 18 to 22 & 20 &\\
96 & 80 & 112 & 88 to 104 & 100 &\\
112 & 96 & 128 & 104 to 120 & 100 is outside & 110
\end{tabular}
\medskip

So 96 is printed as 1e2, and 112 as 1.1e2. Nothing is lost: whoever reads them
gets 96 and 112 back. The power of two in the list, 16, owns less below itself than above.
\end{byhand}

@ What the reader types is |main|'s business only as far as the operating system is concerned:
the three streams, who is at the other end of them, and the signals. All the rest is done by
|command_run|, which gets these things handed to it and can therefore be tried by a test with
streams that are blocks of memory.

@c
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "A2-command/subcommands.h"
@;@#
#ifndef INCIPIT_BUILD
#define INCIPIT_BUILD "unknown"
#endif
@<Note that somebody has pressed Ctrl-C@>@;
@<Say why a mapped file is gone, and end@>@;
@<Find the path of this program@>@;
@#
int main(int argc, char **argv)
{
  struct memory memory = @[{ .refuse_at = 0 }@];
  char path[CONSOLE_PATH];
  find_program(path, argv[0]);
  struct console c = @[{ .in = stdin, .out = stdout, .err = stderr,
    .in_terminal = isatty(0), .out_terminal = isatty(1), .program = path,
    .build = INCIPIT_BUILD, .memory = &memory, .listen = listen_for_interrupt,
    .interrupted = was_interrupted }@];
  signal(SIGPIPE, SIG_IGN);
  speak_on_lost_file();
  return command_run(&c, argc, argv);
}

@* Signals. \label{sec:signals}
A reader who presses Ctrl-C during a generation has seen enough, but not necessarily too much: what
has been written so far should be complete, and the counts of the work should be printed if they
were asked for. So the signal only raises a flag, and the loop of chapter 3 looks at
it after every step. A second Ctrl-C, from a reader with less patience, ends the program at
once, because the first one puts the system's own treatment back.
@^Ctrl-C@>@^signal@>

The flag is the only variable in the whole project that is not on somebody's stack or in somebody's
block; a signal handler can reach nothing else. That is why it stands here, in the program, and
not in the library.

@<Note that somebody has pressed Ctrl-C@>=
static volatile sig_atomic_t interrupt_seen;
@#
static void note_interrupt(int number)
{
  interrupt_seen = number;
}
@#
static void listen_for_interrupt(void)
{
  struct sigaction how;
  memset(&how, 0, sizeof how);
  how.sa_handler = note_interrupt;
  how.sa_flags = (int) SA_RESETHAND;
  sigaction(SIGINT, &how, NULL);
}
@#
static bool was_interrupted(void)
{
  return interrupt_seen != 0;
}

@ A model's file is mapped, and another program may shorten it while we read. Then there is nothing
behind the address, and the system sends |SIGBUS|. The usual end is two words from the shell
about a bus. A library must leave the signals of its caller alone; a command can say what
has most likely happened. In a handler only a few functions are allowed; |write| and |_exit|
are among them, |printf| is not.
@^SIGBUS@>

@<Say why a mapped file is gone, and end@>=
static void lost_file(int number)
{
  static const char words[] = "incipit: a file became shorter while"@|
    " it was being read, or its disk failed\n";
  (void) number;
  ssize_t n = write(2, words, sizeof words - 1);
  _exit(n < 0 ? STATUS_FAILED : STATUS_FAILED);
}
@#
static void speak_on_lost_file(void)
{
  struct sigaction how;
  memset(&how, 0, sizeof how);
  how.sa_handler = lost_file;
  sigaction(SIGBUS, &how, NULL);
}

@ The built-in model lies beside the program, so the program must know where it is itself. Linux
tells; elsewhere the name by which we were called has to do.

@<Find the path of this program@>=
static void find_program(char path[CONSOLE_PATH], const char *called)
{
  ssize_t n = readlink("/proc/self/exe", path, CONSOLE_PATH - 1);
  if (n > 0) path[n] = '\0';
  else snprintf(path, CONSOLE_PATH, "%s", called != NULL ? called : "");
}

@* Three streams and a number. \label{sec:streams}
A command has two outputs, and the whole art is to know which is which. What was asked for goes to
the standard output, because that is what a pipe carries on. Everything else goes to the standard
error: reasons, hints, statistics, the name of a seed. Then \texttt{incipit generate "The cat
sat" > story.txt} has a story in the file and nothing but a story, whatever was remarked
meanwhile. \Cref{fig:streams} shows which fact about a run leaves by which door.
@^standard output@>@^exit status@>

\fig{streams}{fig:streams}{One run, three doors. What was asked for leaves by the standard output, all
words about it by the standard error, and the number at the end tells a script how it went.}{A diagram.
On the left the command line, the standard input and the model's files go into a box named incipit. On
the right four things come out: text, ids, JSON and protocol lines by the standard output; sentences,
hints and statistics by the standard error; and the exit status, which is 0 for done, 1 for failed, 2 for
wrong usage, 130 for cancelled.}

The number at the end is the exit status. It is 0 if what was asked for has been done; 1 if it could
not be done, with one sentence that says why; 2 if the question itself was wrong, with one sentence
that says what would have been right; and \val{command.status.cancelled} if somebody pressed Ctrl-C,
as a shell would report it.

@<What the program stands on@>=
enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2,
  STATUS_CANCELLED = 130, CONSOLE_PATH = 4096 };
struct console {
  FILE *in, *out, *err;
  bool in_terminal, out_terminal;
  const char *program, *build; /* the executable's path; the build's id */
  struct memory *memory;
  void (*listen)(void); /* from now on Ctrl-C is noted and does not kill */
  bool (*interrupted)(void); /* has it been noted? */
};
  /* what |main| has found out about the world; all of it is borrowed */

@ Three functions write the sentences, so that they all begin with the program's name, and return the
status that goes with them: a subcommand that fails can end with |return console_fail(...)|.

@<What the program stands on@>=
int console_fail(const struct console *c, const struct error *why);
  /* writes the sentence to |c->err|; returns |STATUS_FAILED| */
int console_misuse(const struct console *c, const struct error *why);
  /* writes the sentence to |c->err|; returns |STATUS_USAGE| */
int console_end(const struct console *c, int status);
  /* empties |c->out|. If that fails the status becomes |STATUS_FAILED|, with a
     sentence unless the reader has closed the pipe */
double console_seconds(void);
  /* of a clock that never goes back, from some moment on */

@ Output is not written when we print it, but when its buffer is emptied; so a full disk is noticed
at the end, or never, if nobody looks. We look. One kind of failure is none: a reader like
\texttt{head} has read what it wanted and closed the pipe. To complain about that would be to
complain about somebody who has finished their soup.
@^closed pipe@>

@(console.c@>=
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <time.h>
#include "A2-command/console.h"
@;@#
int console_fail(const struct console *c, const struct error *why)
{
  fprintf(c->err, "incipit: %s\n", why->words);
  return STATUS_FAILED;
}
@#
int console_misuse(const struct console *c, const struct error *why)
{
  console_fail(c, why);
  return STATUS_USAGE;
}
@<Empty the output, and look whether that worked@>@;
@<Read the clock@>@;

@ The stream remembers that something went wrong earlier; the number of the error it does not
remember. If the last attempt reports none, the reader has gone: a pipe that is closed
is reported at the first attempt after it, and at each one from then on.

@<Empty the output, and look whether that worked@>=
int console_end(const struct console *c, int status)
{
  errno = 0;
  if (fflush(c->out) == 0 && !ferror(c->out)) return status;
  struct error why;
  error_say(&why, "the output cannot be written: %s", strerror(errno));
  if (errno != EPIPE && errno != 0) console_fail(c, &why);
  return STATUS_FAILED;
}

@ Times are for the eyes of whoever asked for statistics; no number that this book quotes
depends on them.

@<Read the clock@>=
double console_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

@ The header has nothing else in it.

@(console.h@>=
#ifndef INCIPIT_CONSOLE_H
#define INCIPIT_CONSOLE_H
#include <stdio.h>
#include "00-ground/ground.h"
@<What the program stands on@>@;
#endif

