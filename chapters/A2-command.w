@i types.w
@s FILE int
@s sigaction x
@s pollfd x
@s json_int_t int
@s json_error_t int

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
  (void) n;
  _exit(STATUS_FAILED);
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
at the end, or never, if nobody looks. We look, unless something has failed before and been told. One kind of failure is none: a reader like
\texttt{head} has read what it wanted and closed the pipe. To complain about that would be to
complain about somebody who has finished their soup.
@^closed pipe@>

@(console.c@>=
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
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

@ A stream remembers that something went wrong, but not what; and after a failure it may have thrown
away what it could not write, so that the last attempt succeeds with nothing left to do. Whether the
reader has gone can still be asked of the system: of a pipe with nobody at its other end,
|poll| reports an error.

@<Empty the output, and look whether that worked@>=
static bool reader_gone(const struct console *c)
{
  struct pollfd door = @[{ .fd = fileno(c->out), .events = POLLOUT }@];
  return door.fd >= 0 && poll(&door, 1, 0) == 1
    && (door.revents & (POLLERR | POLLHUP)) != 0;
}
@#
int console_end(const struct console *c, int status)
{
  errno = 0;
  if ((fflush(c->out) == 0 && !ferror(c->out)) || status == STATUS_FAILED)
    return status;
  struct error why;
  error_say(&why, "the output cannot be written: %s", errno != 0 ? strerror(errno)
    : "the disk is full, or has failed");
  if (errno != EPIPE && !reader_gone(c)) console_fail(c, &why);
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

@* One table. \label{sec:table}
Every option is mentioned at four places: where it is understood, in the help, in the manual page,
and in the list from which the shell completes a word. If a person keeps four lists, three of them
are soon wrong. So there is one table, and everything else is made from it. A line of
it says how an option is called, what value it takes and between which limits, to which subcommands it
belongs, and what it does, in the words that the help will use.
@^option table@>

@<What can be asked for@>=
enum subcommand { SUB_GENERATE, SUB_TOKENIZE, SUB_TRACE, SUB_INSPECT, SUB_PROBE,
  SUB_HELP, SUB_VERSION, SUB_VALUES, SUB_DIGITS, N_SUBCOMMANDS };
enum option { OPTION_MODEL, OPTION_THREADS, OPTION_PROMPT, OPTION_FILE,
  OPTION_PROMPT_IDS, OPTION_MAX_NEW_TOKENS, OPTION_CTX_SIZE, OPTION_IGNORE_EOS,
  OPTION_ECHO, OPTION_LOGPROBS, OPTION_NO_SPECIAL, OPTION_PARSE_SPECIAL,
  OPTION_STATS, OPTION_JSON, OPTION_JSONL, OPTION_IDS, OPTION_COUNT, OPTION_TRAIN,
  OPTION_VOCAB_SIZE, OPTION_OUT, OPTION_TOP, OPTION_ATTENTION, OPTION_VOCAB,
  OPTION_MAN, OPTION_COMPLETION, OPTION_HELP, N_OPTIONS };

@ The subcommands have a table of their own. The last two are for this book: they print the numbers
that the prose quotes and the points of \cref{fig:digits}, and no list shows them.

@<What can be asked for@>=
struct subcommand_row { const char *name, *operand, *words, *example;
  unsigned least, most; bool hidden; };
  /* how it is called; its operand, of which it takes |least| to |most|; what it
     does; an example that works as printed */
struct option_row { const char *name, *also, *value, *words, *normal; char letter;
  bool counts; uint64_t least, most; unsigned where; };
  /* \.{--name}, perhaps another \.{--also} and \.{-letter}; the name of its
     |value|, null for a flag; what it does, and without it; if it |counts|, the
     value is an integer from |least| to |most|; a bit for each subcommand */
const struct subcommand_row *subcommand_at(enum subcommand sub);
  /* a line of the table of subcommands */
const struct option_row *option_at(enum option number);
  /* a line of the table of options */

@ What comes out of reading a command line is kept in the order of the table: for every
option whether it was given, its value as it was typed, and as a number where it is one.

@<What has been asked for@>=
struct option_value { bool given; const char *text; uint64_t count; };
struct wishes { enum subcommand sub; struct option_value of[N_OPTIONS];
  const char *operand; };
  /* what a command line says; all text belongs to |argv|; |operand| may be null */
bool options_parse(struct wishes *w, int argc, char **argv, struct error *why);
  /* reads a command line of at least one word after the program's name; on
     failure a sentence that names what is wrong and what is nearest to it */
const char *nearest_of(const char *word, const char *const *list, size_t n);
  /* the one of |n| $\ge1$ names that can be made of |word| with the fewest
     letters changed, added, left out or exchanged with their neighbour */
int ids_parse(struct memory *m, const char *text, const char *what,
  struct ids *list, struct error *why);
  /* reads ids separated by commas or semicolons; |what| is the option's name;
     an empty text is an empty list. Returns an exit status: |STATUS_USAGE| for what
     is no list of ids, |STATUS_FAILED| for memory; then |list| is empty */

@ Here is the table of subcommands. Each has an example, and the tests type each of the examples,
as it stands, into a shell.

@<The table of subcommands@>=
static const struct subcommand_row subcommand_table[N_SUBCOMMANDS] = @[{
  [SUB_GENERATE] = {"generate", "PROMPT|-", "continue a prompt",
    "incipit generate \"The cat sat\""@| " -n 4", 0, 1, false},@|
  [SUB_TOKENIZE] = {"tokenize", "TEXT|-", "text to ids and pieces,"@| " and back",
    "incipit tokenize \"The cat sat\"", 0, 1, false},@|
  [SUB_TRACE] = {"trace", "PROMPT|-", "the loop, step by step",
    "incipit trace \"The cat sat\""@| " -n 4", 0, 1, false},@|
  [SUB_INSPECT] = {"inspect", "PATH", "what is in a model's files",
    "incipit inspect", 0, 1, false},@|
  [SUB_PROBE] = {"probe", "KIND", "questions in JSON, one a line,"@| " answered one a line",
    "echo '{\"text\": \"The cat sat\"}' |"@| " incipit probe tokenize", 1, 1, false},@|
  [SUB_HELP] = {"help", "SUBCOMMAND", "this list, or the options"@| " of one subcommand",
    "incipit help generate", 0, 1, false},@|
  [SUB_VERSION] = {"--version", NULL, "version, build, compiler,"@| " kernels, Unicode",
    "incipit --version", 0, 0, false},@|
  [SUB_VALUES] = {"values", NULL, "", "", 0, 0, true},@|
  [SUB_DIGITS] = {"digits", NULL, "", "", 0, 0, true}@|
}@];

@ And the table of options. First those that say which model, and what to begin with. The bits of
the last column are spelled with the first letters of the subcommands to which the line belongs.

@<The table of options@>=
enum { G = 1u << SUB_GENERATE, T = 1u << SUB_TOKENIZE, R = 1u << SUB_TRACE,
  I = 1u << SUB_INSPECT, P = 1u << SUB_PROBE, H = 1u << SUB_HELP };
static const struct option_row option_table[N_OPTIONS] = @[{
  [OPTION_MODEL] = {"model", NULL, "PATH", "a directory in Hugging Face's layout",
    "the built-in model", 'm', false, 0, 0, G | T | R | P},@|
  [OPTION_THREADS] = {"threads", NULL, "N", "workers",
    "OMP_NUM_THREADS, or the physical"@| " cores", 't', true, 1, 1024, G | R | P},@|
  [OPTION_PROMPT] = {"prompt", NULL, "TEXT", "the prompt", NULL, 'p', false, 0, 0,
    G | R},@|
  [OPTION_FILE] = {"file", NULL, "FILE", "the text is that of a file, byte for byte",
    NULL, 'f', false, 0, 0, G | T | R},@|
  [OPTION_PROMPT_IDS] = {"prompt-ids", NULL, "1,2,3", "the prompt in ids", NULL, 0,
    false, 0, 0, G | R},@|
  @<Options that bound and show a generation@>,@|
  @<Options of the other subcommands@>@;
}@];

@ Then those that bound a generation and say what to show of it.

@<Options that bound and show a generation@>=
[OPTION_MAX_NEW_TOKENS] = {"max-new-tokens", "max-tokens", "N",
  "write at most so many", "until a stop or the context is full; trace: 4", 'n',
  true, 0, INT64_MAX, G | R},@|
[OPTION_CTX_SIZE] = {"ctx-size", NULL, "N", "use less context than the model has",
  "the model's", 'c', true, 1, INT64_MAX, G | R},@|
[OPTION_IGNORE_EOS] = {"ignore-eos", NULL, NULL, "end tokens end nothing", NULL, 0,
  false, 0, 0, G | R},@|
[OPTION_ECHO] = {"echo", NULL, NULL, "print the prompt first", NULL, 0, false, 0,
  0, G},@|
[OPTION_LOGPROBS] = {"logprobs", NULL, "K", "with --json or --jsonl: the"@|
  " log-probability and rank of each token, and the K likeliest", "off", 0, true, 0,
  1000, G},@|
[OPTION_NO_SPECIAL] = {"no-special", NULL, NULL, "add no special tokens to the text",
  "as the tokenizer's files say", 0, false, 0, 0, G | T | R},@|
[OPTION_PARSE_SPECIAL] = {"parse-special", NULL, NULL, "the text of a special token"@|
  " is that token", "it is plain text", 0, false, 0, 0, G | T | R},@|
[OPTION_STATS] = {"stats", NULL, NULL, "counters, times, rates and memory, on"@|
  " standard error", NULL, 0, false, 0, 0, G},@|
[OPTION_JSON] = {"json", NULL, NULL, "print one JSON object", NULL, 0, false, 0, 0,
  G | T | R | I},@|
[OPTION_JSONL] = {"jsonl", NULL, NULL, "one JSON object a token as it comes, then"@|
  " that of --json", NULL, 0, false, 0, 0, G}

@ And the rest, each of which belongs to a single subcommand, but for the plea for help.

@<Options of the other subcommands@>=
[OPTION_IDS] = {"ids", NULL, "1,2,3", "ids to text", NULL, 0, false, 0, 0, T},@|
[OPTION_COUNT] = {"count", NULL, NULL, "print the number of tokens only", NULL, 0,
  false, 0, 0, T},@|
[OPTION_TRAIN] = {"train", NULL, "FILE", "learn a byte-level BPE from a file", NULL,
  0, false, 0, 0, T},@|
[OPTION_VOCAB_SIZE] = {"vocab-size", NULL, "N", "with --train: how many ids, the end"@|
  " of text and the 256 bytes included", NULL, 0, true, 257, 4194304, T},@|
[OPTION_OUT] = {"out", NULL, "DIR", "with --train: where to write tokenizer.json",
  NULL, 0, false, 0, 0, T},@|
[OPTION_TOP] = {"top", NULL, "K", "show the K likeliest candidates", "5", 0, true, 1,
  100, R},@|
[OPTION_ATTENTION] = {"attention", NULL, "LAYER.HEAD", "show what the last row"@|
  " looks at, layers and heads counted from 0", NULL, 0, false, 0, 0, R},@|
[OPTION_VOCAB] = {"vocab", NULL, "PATH", "a tokenizer.json, or a directory with a"@|
  " tokenizer", "the model's", 0, false, 0, 0, P},@|
[OPTION_MAN] = {"man", NULL, NULL, "print the manual page", NULL, 0, false, 0, 0, H},@|
[OPTION_COMPLETION] = {"completion", NULL, NULL, "print the shell's completion", NULL,
  0, false, 0, 0, H},@|
[OPTION_HELP] = {"help", NULL, NULL, "say what the options are", NULL, 'h', false, 0,
  0, G | T | R | I | P | H}

@ This book is built chapter by chapter, and the command with it. Somebody who has read about
|--temperature| elsewhere should not be told that there is no such thing. It is wrong usage
today, but the sentence names the chapter that brings it. The same goes for whole subcommands.
@^later chapters@>

@<What later chapters bring@>=
struct later_row { const char *name, *also; char letter; unsigned where, chapter; };
static const struct later_row later_option[] = @[{
  {"no-cache", NULL, 0, G, 4}, {"cache", NULL, 0, R, 4},@|
  {"chunk", NULL, 0, G | R, 5}, {"kv-type", NULL, 0, G | R, 6},@|
  {"window", NULL, 0, G | R, 6}, {"temperature", "temp", 0, G | R, 7},@|
  {"top-k", NULL, 0, G | R, 7}, {"top-p", NULL, 0, G | R, 7},@|
  {"min-p", NULL, 0, G | R, 7}, {"typical-p", "typical", 0, G | R, 7},@|
  {"repetition-penalty", "repeat-penalty", 0, G | R, 7},@|
  {"frequency-penalty", NULL, 0, G | R, 7},@|
  {"presence-penalty", NULL, 0, G | R, 7},@|
  {"penalty-last-n", "repeat-last-n", 0, G | R, 7},@|
  {"no-repeat-ngram-size", NULL, 0, G | R, 7},@|
  {"logit-bias", NULL, 0, G | R, 7}, {"samplers", NULL, 0, G | R, 7},@|
  {"seed", NULL, 's', G | R, 7}, {"num-sequences", NULL, 0, G, 7},@|
  {"regex", NULL, 0, G | R, 7}, {"grammar", NULL, 0, G | R, 7},@|
  {"json-object", NULL, 0, G | R, 7}, {"stop", NULL, 0, G | R, 8},@|
  {"no-escape", NULL, 0, G | R, 8}, {"include-stop", NULL, 0, G | R, 8},@|
  {"min-tokens", NULL, 0, G | R, 8}, {"stop-on-repetition", NULL, 0, G | R, 8},@|
  {"num-beams", NULL, 0, G, 9}, {"length-penalty", NULL, 0, G, 9},@|
  {"early-stopping", NULL, 0, G, 9}, {"activations", NULL, 0, G | R | P, 10},@|
  {"device", NULL, 0, G | R, 14}
}@];
enum { N_LATER = sizeof later_option / sizeof *later_option };
static const struct later_row later_subcommand[] = @[{
  {"bench", NULL, 0, 0, 5}, {"perplexity", NULL, 0, 0, 5},@|
  {"memory", NULL, 0, 0, 6}, {"chat", NULL, 0, 0, 8},@|
  {"quantize", NULL, 0, 0, 10}, {"verify", NULL, 0, 0, 16}
}@];
enum { N_LATER_SUBS = sizeof later_subcommand / sizeof *later_subcommand };

@* Reading a command line. \label{sec:parsing}
The rules are those of the field. A word that begins with two dashes is an option, its value is
the next word or stands behind an equals sign; one dash and a letter is a short
option, its value is the next word or the rest of this one; two dashes alone end the
options; one dash alone is an operand, and means the standard input. The last of two equal
options counts, so that one can be added behind a line that is already long.

@<Read a command line@>=
bool options_parse(struct wishes *w, int argc, char **argv, struct error *why)
{
  memset(w, 0, sizeof *w);
  if (!find_subcommand(argv[1], &w->sub, why)) return false;
  bool options = true;
  unsigned operands = 0;
  for (int i = 2; i < argc; i++) {
    const char *word = argv[i];
    if (options && strcmp(word, "--") == 0) options = false;
    else if (options && word[0] == '-' && word[1] != '\0') {
      if (!take_option(w, argc, argv, &i, why)) return false;
      if (w->of[OPTION_HELP].given) return true;
    }
    else if (operands++ < subcommand_table[w->sub].most) w->operand = word;
    else return error_say(why, "`%s' is one word too many"@| " (incipit %s --help)",
      word, subcommand_table[w->sub].name);
  }
  @<Complain if an operand is missing@>@;
  return options_agree(w, why);
}

@ Only one subcommand cannot do without its operand; the message names it as the table does.

@<Complain if an operand is missing@>=
if (operands < subcommand_table[w->sub].least)
  return error_say(why, "%s needs %s (incipit %s --help)",
    subcommand_table[w->sub].name, subcommand_table[w->sub].operand,
    subcommand_table[w->sub].name);

@ The first word is a subcommand. Two old habits are granted: |--help| there, or |-h|, means
the subcommand \texttt{help}.

@<Find the subcommand@>=
static bool find_subcommand(const char *word, enum subcommand *sub,
  struct error *why)
{
  const char *list[N_SUBCOMMANDS];
  size_t n = 0;
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) word = "help";
  for (int i = 0; i < N_SUBCOMMANDS; i++) {
    *sub = (enum subcommand) i;
    if (strcmp(word, subcommand_table[i].name) == 0) return true;
    if (!subcommand_table[i].hidden) list[n++] = subcommand_table[i].name;
  }
  for (int i = 0; i < N_LATER_SUBS; i++)
    if (strcmp(word, later_subcommand[i].name) == 0)
      return error_say(why, "%s comes with chapter %u; this program ends with"@|
        " chapter 3", word, later_subcommand[i].chapter);
  return error_say(why, "there is no subcommand `%s'; the nearest is %s", word,
    nearest_of(word, list, n));
}

@ An option is looked up by what was typed. A short one is a dash and a letter; of a long
one the name ends at the equals sign, if there is one. What stands behind is its value.

@<Take one option, with its value@>=
static bool take_option(struct wishes *w, int argc, char **argv, int *i,
  struct error *why)
{
  const char *word = argv[*i], *value = NULL;
  char name[64], letter = '\0';
  if (word[1] != '-') {
    letter = word[1], name[0] = '\0';
    if (word[2] != '\0') value = word + 2;
  }
  else {
    size_t n = strcspn(word + 2, "=");
    if (word[2 + n] == '=') value = word + 2 + n + 1;
    snprintf(name, sizeof name, "%.*s", (int) (n < 63 ? n : 63), word + 2);
  }
  int found = find_option(w->sub, name, letter);
  if (found < 0) return no_such_option(w->sub, name, letter, why);
  const struct option_row *o = &option_table[found];
  if (o->value == NULL && value != NULL)
    return error_say(why, "--%s takes no value; found `%s'", o->name, value);
  if (o->value != NULL && value == NULL) {
    if (*i + 1 >= argc)
      return error_say(why, "--%s needs a value: %s", o->name, o->value);
    value = argv[++*i];
  }
  w->of[found] = (struct option_value) @[{ .given = true, .text = value }@];
  return !o->counts || count_parse(o, value, &w->of[found].count, why);
}

@ An option of another subcommand is, for this one, none.

@<Find an option of this subcommand@>=
static bool is_called(const char *name, const char *also, char letter,
  const char *typed, char typed_letter)
{
  if (typed_letter != '\0') return letter == typed_letter;
  return strcmp(typed, name) == 0 || (also != NULL && strcmp(typed, also) == 0);
}
@#
static int find_option(enum subcommand sub, const char *name, char letter)
{
  for (int i = 0; i < N_OPTIONS; i++) {
    const struct option_row *o = &option_table[i];
    if ((o->where >> sub & 1) != 0
        && is_called(o->name, o->also, o->letter, name, letter)) return i;
  }
  return -1;
}

@ What is not found may be something that a later chapter brings. Otherwise there has been a slip of
the finger, and the nearest name is offered, of those that this subcommand has now.

@<Say that there is no such option, and what is nearest@>=
static bool no_such_option(enum subcommand sub, const char *name, char letter,
  struct error *why)
{
  const char *list[N_OPTIONS];
  size_t n = 0;
  for (int i = 0; i < N_LATER; i++) {
    const struct later_row *l = &later_option[i];
    if ((l->where >> sub & 1) != 0
        && is_called(l->name, l->also, l->letter, name, letter))
      return error_say(why, "--%s comes with chapter %u; this program ends"@|
        " with chapter 3", l->name, l->chapter);
  }
  for (int i = 0; i < N_OPTIONS; i++)
    if ((option_table[i].where >> sub & 1) != 0) list[n++] = option_table[i].name;
  if (n == 0) return error_say(why, "%s takes no options",
      subcommand_table[sub].name);
  if (letter != '\0')
    return error_say(why, "%s has no option -%c (incipit %s --help)",
      subcommand_table[sub].name, letter, subcommand_table[sub].name);
  return error_say(why, "%s has no option --%s; the nearest is --%s",
    subcommand_table[sub].name, name, nearest_of(name, list, n));
}

@ Which name is nearest? The one that takes the fewest slips to get from what was typed: a letter
too many, one too few, a wrong one, or two neighbours exchanged, which is what hurried fingers
do most. The table |d| has for every beginning of the one word and every beginning of the other
the number of slips between them; each entry comes from its neighbours above and to the
left.\side{Damerau 1964, Levenshtein 1966. No substring is edited twice here, which is all
that typing needs.}
@^edit distance@>

@<Count the slips between two words@>=
enum { WORD_MOST = 40 };
static unsigned slips(const char *a, const char *b)
{
  unsigned d[WORD_MOST + 1][WORD_MOST + 1];
  unsigned n = (unsigned) strlen(a), m = (unsigned) strlen(b);
  if (n > WORD_MOST || m > WORD_MOST) return n + m;
  for (unsigned i = 0; i <= n; i++)
    for (unsigned j = 0; j <= m; j++) {
      unsigned best = i == 0 ? j : d[i - 1][j] + 1;
      if (j > 0 && d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
      if (i > 0 && j > 0) {
        unsigned wrong = a[i - 1] != b[j - 1];
        if (d[i - 1][j - 1] + wrong < best) best = d[i - 1][j - 1] + wrong;
      }
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]
          && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  return d[n][m];
}
@#
const char *nearest_of(const char *word, const char *const *list, size_t n)
{
  const char *nearest = list[0];
  for (size_t i = 1; i < n; i++)
    if (slips(word, list[i]) < slips(word, nearest)) nearest = list[i];
  return nearest;
}

@ A number is digits and nothing else: no sign, no blank, no point. Whoever types a number that is
out of range is told the range; whoever types something else is told it, too.

@<Read a number within its limits@>=
static bool digits_parse(const char *text, size_t n, uint64_t *value)
{
  *value = 0;
  for (size_t i = 0; i < n; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    uint64_t digit = (uint64_t) (text[i] - '0');
    if (*value > (UINT64_MAX - digit) / 10) return false;
    *value = *value * 10 + digit;
  }
  return n > 0;
}
@#
static bool count_parse(const struct option_row *o, const char *text,
  uint64_t *value, struct error *why)
{
  if (digits_parse(text, strlen(text), value) && *value >= o->least
      && *value <= o->most) return true;
  if (o->most == INT64_MAX)
    return error_say(why, "--%s is `%s'; wanted: an integer from %" PRIu64@|
      " on", o->name, text, o->least);
  return error_say(why, "--%s is `%s'; wanted: an integer from %" PRIu64@|
    " to %" PRIu64, o->name, text, o->least, o->most);
}

@ A list of ids has commas or semicolons between them; blanks beside them do no harm. A list that is
badly written is the user's mistake, memory that is refused is not, so the two must not
end in the same status.

@<Read a list of ids@>=
int ids_parse(struct memory *m, const char *text, const char *what,
  struct ids *list, struct error *why)
{
  *list = (struct ids) @[{ NULL, 0, 0 }@];
  const char *all = text;
  text += strspn(text, " ");
  while (*text != '\0') {
    uint64_t id;
    size_t n = strcspn(text, ",; ");
    bool ok = digits_parse(text, n, &id) && id <= UINT32_MAX;
    if (!ok) error_say(why, "--%s is `%s'; wanted: ids with commas between"@|
      " them, as in 1,2,3", what, all);
    if (!ok || !ids_push(m, list, (uint32_t) id, why)) {
      ids_free(m, list);
      return ok ? STATUS_FAILED : STATUS_USAGE;
    }
    text += n + strspn(text + n, " ");
    if (*text == ',' || *text == ';') text += 1 + strspn(text + 1, " ");
  }
  return STATUS_DONE;
}

@ Some options contradict each other, and some mean nothing without another. Both are short lists.
To guess what somebody meant who wants one JSON object and also one a line is not our
business.

@<See whether the options agree@>=
static const struct { enum option a, b; } against[] = @[{
  {OPTION_PROMPT, OPTION_FILE}, {OPTION_PROMPT, OPTION_PROMPT_IDS},@|
  {OPTION_FILE, OPTION_PROMPT_IDS}, {OPTION_JSON, OPTION_JSONL},@|
  {OPTION_ECHO, OPTION_JSON}, {OPTION_ECHO, OPTION_JSONL},@|
  {OPTION_IDS, OPTION_COUNT}, {OPTION_IDS, OPTION_FILE},@|
  {OPTION_IDS, OPTION_TRAIN}, {OPTION_COUNT, OPTION_TRAIN},@|
  {OPTION_COUNT, OPTION_JSON}, {OPTION_JSON, OPTION_TRAIN},@|
  {OPTION_FILE, OPTION_TRAIN}, {OPTION_MODEL, OPTION_TRAIN},@|
  {OPTION_IDS, OPTION_NO_SPECIAL}, {OPTION_IDS, OPTION_PARSE_SPECIAL},@|
  {OPTION_TRAIN, OPTION_NO_SPECIAL}, {OPTION_TRAIN, OPTION_PARSE_SPECIAL},@|
  {OPTION_PROMPT_IDS, OPTION_PARSE_SPECIAL}, {OPTION_PROMPT_IDS, OPTION_NO_SPECIAL},@|
  {OPTION_MAN, OPTION_COMPLETION}
}@];
static const struct { enum option a, b, either; } needs[] = @[{
  {OPTION_LOGPROBS, OPTION_JSON, OPTION_JSONL},@|
  {OPTION_TRAIN, OPTION_VOCAB_SIZE, OPTION_VOCAB_SIZE},@|
  {OPTION_TRAIN, OPTION_OUT, OPTION_OUT},@|
  {OPTION_VOCAB_SIZE, OPTION_TRAIN, OPTION_TRAIN},@|
  {OPTION_OUT, OPTION_TRAIN, OPTION_TRAIN}
}@];

@ An operand is a text or a prompt as well, so it counts as one more option that brings one.

@<See whether the options agree@>=
static bool options_agree(const struct wishes *w, struct error *why)
{
  static const enum option text[] = @[{ OPTION_PROMPT, OPTION_FILE,
    OPTION_PROMPT_IDS, OPTION_IDS, OPTION_TRAIN, OPTION_MAN, OPTION_COMPLETION }@];
  for (size_t i = 0; i < sizeof against / sizeof *against; i++)
    if (w->of[against[i].a].given && w->of[against[i].b].given)
      return error_say(why, "--%s contradicts --%s",
        option_table[against[i].a].name, option_table[against[i].b].name);
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
    if (w->of[needs[i].a].given && !w->of[needs[i].b].given
        && !w->of[needs[i].either].given)
      return error_say(why, "--%s needs --%s", option_table[needs[i].a].name,
        option_table[needs[i].b].name);
  for (size_t i = 0; i < sizeof text / sizeof *text; i++)
    if (w->operand != NULL && w->of[text[i]].given)
      return error_say(why, "--%s contradicts `%s'", option_table[text[i]].name,
        w->operand);
  return true;
}

@ The module, in the order of its parts.

@(options.h@>=
#ifndef INCIPIT_OPTIONS_H
#define INCIPIT_OPTIONS_H
#include "01-tokens/bpe.h"
#include "A2-command/console.h"
@<What can be asked for@>@;
@<What has been asked for@>@;
#endif

@ The tables come first, and the two functions that show a line of them to the writer of the help.

@(options.c@>=
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "A2-command/options.h"
@;@#
@<The table of subcommands@>@;
@<The table of options@>@;
@<What later chapters bring@>@;
@<Read what was typed@>@;
@#
const struct subcommand_row *subcommand_at(enum subcommand sub)
{
  return &subcommand_table[sub];
}
@#
const struct option_row *option_at(enum option number)
{
  return &option_table[number];
}

@ Reading begins with the smallest parts, a word and a number, and ends with the whole line.

@<Read what was typed@>=
@<Count the slips between two words@>@;
@<Read a number within its limits@>@;
@<Read a list of ids@>@;
@<Find the subcommand@>@;
@<Find an option of this subcommand@>@;
@<Say that there is no such option, and what is nearest@>@;
@<Take one option, with its value@>@;
@<See whether the options agree@>@;
@<Read a command line@>@;

@* Help, four times. \label{sec:help}
The same lines of the table are printed in four ways: as a screen of help, as the list of
subcommands, as a manual page, and as a program for the shell. None of the four knows an option by
name, so an option that is added to the table is in all of them.
@^help@>@^manual page@>@^completion@>

@<The table, in four forms@>=
void help_greet(FILE *out);
  /* what somebody sees who has typed the name alone: three things to try */
void help_overview(FILE *out);
  /* the subcommands */
void help_subcommand(FILE *out, enum subcommand sub);
  /* one subcommand: usage, options, an example */
void help_manual(FILE *out);
  /* a manual page, for man(1) */
void help_completion(FILE *out);
  /* a program for bash that completes subcommands and options */

@ Whoever types the name of a program and nothing else wants to know what it is for. A list of
options does not answer that; three lines that can be typed do.

@<Greet@>=
void help_greet(FILE *out)
{
  static const enum subcommand three[] = @[{ SUB_GENERATE, SUB_TRACE,
    SUB_TOKENIZE }@];
  fprintf(out, "Incipit writes what follows, one token"@| " at a time. Three to try:\n\n");
  for (int i = 0; i < 3; i++)
    fprintf(out, "  %s\n      %s\n", subcommand_at(three[i])->example,
      subcommand_at(three[i])->words);
  fprintf(out, "\nincipit --help lists the rest.\n");
}
@#
void help_overview(FILE *out)
{
  fprintf(out, "usage: incipit SUBCOMMAND ...\n\n");
  for (int i = 0; i < N_SUBCOMMANDS; i++)
    if (!subcommand_at((enum subcommand) i)->hidden)
      fprintf(out, "  %-12s %s\n", subcommand_at((enum subcommand) i)->name,
        subcommand_at((enum subcommand) i)->words);
  fprintf(out, "\nincipit SUBCOMMAND --help lists its options.\n");
}

@ The words of an option stand in a column of their own and are broken between words where the
screen ends. A default follows in brackets, so that nobody has to try what happens without.

@<Print words in a column@>=
enum { COLUMN = 28, SCREEN = 78 };
static void print_words(FILE *out, size_t *at, const char *words)
{
  while (*words != '\0') {
    size_t n = strcspn(words, " ");
    if (*at + 1 + n > SCREEN) {
      fprintf(out, "\n%*s", COLUMN, "");
      *at = COLUMN;
    }
    fprintf(out, " %.*s", (int) n, words);
    *at += 1 + n;
    words += n + strspn(words + n, " ");
  }
}

@ The names of an option are put together once, in the order in which people write them: the
letter, the name, its other name, its value. The manual page takes them from here as well.

@<Put the names of an option together@>=
static size_t option_names(const struct option_row *o, char room[80])
{
  size_t n = 0;
  if (o->letter != '\0') n += (size_t) snprintf(room, 80, "-%c, ", o->letter);
  n += (size_t) snprintf(room + n, 80 - n, "--%s", o->name);
  if (o->also != NULL) n += (size_t) snprintf(room + n, 80 - n, ", --%s", o->also);
  if (o->value != NULL) n += (size_t) snprintf(room + n, 80 - n, " %s", o->value);
  return n;
}
@#
static void print_option(FILE *out, const struct option_row *o)
{
  char names[80], normal[80];
  size_t at = 2 + option_names(o, names);
  fprintf(out, "  %s", names);
  if (at >= COLUMN) fprintf(out, "\n%*s", COLUMN, "");
  else fprintf(out, "%*s", (int) (COLUMN - at), "");
  at = COLUMN;
  print_words(out, &at, o->words);
  snprintf(normal, sizeof normal, "(default: %s)", o->normal ? o->normal : "");
  if (o->normal != NULL) print_words(out, &at, normal);
  fprintf(out, "\n");
}

@ A screen of help ends with an example, since most people read the end first.

@<Print the help of one subcommand@>=
void help_subcommand(FILE *out, enum subcommand sub)
{
  const struct subcommand_row *s = subcommand_at(sub);
  const char *left = s->least > 0 ? "" : "[", *right = s->least > 0 ? "" : "]";
  fprintf(out, "usage: incipit %s", s->name);
  if (s->operand != NULL) fprintf(out, " %s%s%s", left, s->operand, right);
  fprintf(out, " [OPTION]...\n%s\n\n", s->words);
  for (int i = 0; i < N_OPTIONS; i++)
    if ((option_at((enum option) i)->where >> sub & 1) != 0)
      print_option(out, option_at((enum option) i));
  fprintf(out, "\nExample:\n  %s\n", s->example);
}

@ A manual page is written in a language of 1973, in which a dash is not a minus sign and a
line that begins with a point is a command. Both have to be said with a backslash.
@^troff@>

@<Print a text for troff@>=
static void print_troff(FILE *out, const char *text)
{
  if (*text == '.' || *text == '\'') fputs("\\&", out);
  for (; *text != '\0'; text++)
    if (*text == '-' || *text == '\\') fprintf(out, "\\%c", *text == '-' ? '-' : 'e');
    else putc(*text, out);
}
@#
static void print_troff_option(FILE *out, const struct option_row *o)
{
  char names[80];
  option_names(o, names);
  fprintf(out, ".TP\n.B ");
  print_troff(out, names);
  fprintf(out, "\n");
  print_troff(out, o->words);
  fprintf(out, ".");
  if (o->normal != NULL) {
    fprintf(out, " Default: ");
    print_troff(out, o->normal);
    fprintf(out, ".");
  }
  fprintf(out, "\n");
}

@ The page itself: a head, a section for each subcommand, and what the table does not know, which
is the exit status and the environment.

@<Print the manual page@>=
void help_manual(FILE *out)
{
  fprintf(out, ".TH INCIPIT 1\n.SH NAME\nincipit \\- write what follows,"@|
    " one token at a time\n.SH SYNOPSIS\n.B incipit\nSUBCOMMAND [OPTION]...\n"@|
    ".SH SUBCOMMANDS\n");
  for (int i = 0; i < N_SUBCOMMANDS; i++) {
    const struct subcommand_row *s = subcommand_at((enum subcommand) i);
    if (s->hidden) continue;
    fprintf(out, ".SS \"incipit ");
    print_troff(out, s->name);
    if (s->operand != NULL) fprintf(out, s->least > 0 ? " %s" : " [%s]", s->operand);
    fprintf(out, "\"\n");
    print_troff(out, s->words);
    fprintf(out, ".\n");
    for (int k = 0; k < N_OPTIONS; k++)
      if ((option_at((enum option) k)->where >> i & 1) != 0)
        print_troff_option(out, option_at((enum option) k));
    fprintf(out, ".PP\nExample:\n.PP\n.RS\n.nf\n");
    print_troff(out, s->example);
    fprintf(out, "\n.fi\n.RE\n");
  }
  @<Print the rest of the manual page@>@;
}

@ The names of the environment variables are known here and where they are read, and nowhere else.

@<Print the rest of the manual page@>=
fprintf(out, ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 130 cancelled"@|
  " by Ctrl\\-C.\n.SH ENVIRONMENT\n.TP\n.B INCIPIT_MODEL\nThe model to use where"@|
  " none is given.\n.TP\n.B INCIPIT_ISA\nThe kernels to use:"@|
  " scalar, avx2 or avx512.\n.TP\n.B OMP_NUM_THREADS\n"@|
  "The number of workers where none is given.\n");

@ What the shell needs is small: for the first word the subcommands, after it the options of
that subcommand; where nothing fits it completes the names of files by itself.

@<Print the program for the shell@>=
void help_completion(FILE *out)
{
  fprintf(out, "# bash completion for incipit\n_incipit()\n{\n  local words=\n"@|
    "  case $COMP_CWORD:${COMP_WORDS[1]} in\n    1:*) words=\"");
  for (int i = 0; i < N_SUBCOMMANDS; i++)
    if (!subcommand_at((enum subcommand) i)->hidden)
      fprintf(out, "%s%s", i > 0 ? " " : "", subcommand_at((enum subcommand) i)->name);
  fprintf(out, "\" ;;\n");
  for (int i = 0; i < SUB_VERSION; i++) {
    fprintf(out, "    *:%s) words=\"", subcommand_at((enum subcommand) i)->name);
    for (int k = 0, n = 0; k < N_OPTIONS; k++)
      if ((option_at((enum option) k)->where >> i & 1) != 0)
        fprintf(out, "%s--%s", n++ > 0 ? " " : "", option_at((enum option) k)->name);
    fprintf(out, "\" ;;\n");
  }
  fprintf(out, "  esac\n  COMPREPLY=($(compgen -W \"$words\" --"@|
    " \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"@|
    "complete -o default -F _incipit incipit\n");
}

@ That is all of the module.

@(help.h@>=
#ifndef INCIPIT_HELP_H
#define INCIPIT_HELP_H
#include <stdio.h>
#include "A2-command/options.h"
@<The table, in four forms@>@;
#endif

@ The smaller printers stand before those that use them.

@(help.c@>=
#include <string.h>
#include "A2-command/help.h"
@;@#
@<Greet@>@;
@<Print words in a column@>@;
@<Put the names of an option together@>@;
@<Print the help of one subcommand@>@;
@<Print a text for troff@>@;
@<Print the manual page@>@;
@<Print the program for the shell@>@;

@* Numbers in print. \label{sec:shortest}
Now the numbers of the hand calculation, in earnest. A logit is a float32, and whoever compares
two programs must get from the printed digits exactly the 32 bits that were computed. Nine
significant digits are always enough for that, and a double needs at most 17. But 0.1 printed with
nine digits is 0.100000001, and a table of such numbers is unreadable. So we print
the fewest digits that read back.
@^shortest digits@>@^round trip@>

There are famous and fast ways to find them.\side{Steele and White 1990; Gay 1990; Adams 2018.}
Ours is slow and can be seen to be right: the C library rounds correctly in both
directions, so we print with fewer and fewer digits, and read each of them back, until one
fails. Going down is quicker than going up, because most numbers that come out of arithmetic
need many digits: \cref{fig:digits}.

@<Numbers and words in JSON@>=
enum { NUMBER_ROOM = 40 };
void number_float(float x, char room[NUMBER_ROOM]);
  /* the fewest digits that read back to |x|, as JSON: with a point or an
     exponent; the words \.{"inf"}, \.{"-inf"}, \.{"nan"} with their quotes */
void number_double(double x, char room[NUMBER_ROOM]);
  /* the same for a double */

@ Correct rounding gives, for each number of digits, the decimal \emph{nearest} to |x|. If that
does not read back, can another of the same length? It can, though only just. A power of two has
its neighbour below at half the distance of the neighbour above, as 16 had in the hand
calculation. So the nearest decimal may lie below, outside what |x| owns, and the next one above
farther away and yet inside. Of all float32 numbers, this happens to
\val{command.float.second}: they are the powers of two with the exponents
\val{command.float.exponent.1}, \val{command.float.exponent.2} and
\val{command.float.exponent.3}. Of the doubles it happens to \val{command.double.second}. Programs
that print with the nearest decimal only give these one digit more than they need.

@<Print a number with the fewest digits that read back@>=
static bool reads_back(double x, bool single, const char *text)
{
  return single ? strtof(text, NULL) == (float) x : strtod(text, NULL) == x;
}
@#
static bool shorter(double x, bool single, int digits, char room[NUMBER_ROOM])
{
  snprintf(room, NUMBER_ROOM, "%.*g", digits, x);
  if (reads_back(x, single, room)) return true;
  int exponent;
  if (fabs(frexp(x, &exponent)) != 0.5) return false;
  snprintf(room, NUMBER_ROOM, "%.*e", digits - 1, x);
  next_decimal(room);
  return reads_back(x, single, room);
}

@ The next decimal of the same length has its last digit raised by one; nines become zeros and
carry. (So it must be written out with all its digits: \texttt{\%g} leaves out zeros at the end.) The first digit of these numbers never is a nine that must be carried out of: then a decimal
with one digit alone would have been as near.

@<Raise the last digit@>=
static void next_decimal(char *text)
{
  size_t k = strcspn(text, "e");
  while (k > 0) {
    char *c = &text[--k];
    if (*c == '9') *c = '0';
    else if (*c >= '0' && *c < '9') {
      ++*c;
      return;
    }
  }
}

@ One digit fewer, until it fails. A number that comes out without a point and without an exponent
gets a point and a zero, so that every reader of JSON takes it for a real number; that makes the
zero with a sign |-0.0|.

@<Print a number with the fewest digits that read back@>=
static void number_shortest(double x, bool single, char room[NUMBER_ROOM])
{
  if (!isfinite(x)) {
    strcpy(room, isnan(x) ? "\"nan\"" : x > 0 ? "\"inf\"" : "\"-inf\"");
    return;
  }
  char trial[NUMBER_ROOM];
  int digits = single ? 9 : 17;
  snprintf(room, NUMBER_ROOM, "%.*g", digits, x);
  while (--digits > 0 && shorter(x, single, digits, trial)) strcpy(room, trial);
  if (room[strcspn(room, ".e")] == '\0') strcat(room, ".0");
}
@#
void number_float(float x, char room[NUMBER_ROOM])
{
  number_shortest(x, true, room);
}
@#
void number_double(double x, char room[NUMBER_ROOM])
{
  number_shortest(x, false, room);
}

@ All this assumes that a decimal point is a point. In some places of the world the C
library prints a comma, if a program asks it to follow local custom by calling
|setlocale|. This one never does.\side{Nor do the libraries that it uses. JSON knows no
commas in numbers, whatever the country.}
@^locale@>

\fig{digits}{fig:digits}{How many digits it takes: of \val{command.digits.numbers} floats with
random bits, those that need 1, 2, \dots, 9.}{A bar chart. Along the bottom the number of
digits from 1 to 9, upwards the count of numbers. Up to six digits there is next to nothing; seven
digits are just enough for \val{command.digits.7} numbers, eight for \val{command.digits.8}, and
\val{command.digits.9} need nine.}

Of \val{command.digits.numbers} floats whose bits are drawn at random, \val{command.digits.7} need
seven digits, \val{command.digits.8} eight and \val{command.digits.9} nine. So the loop, which begins
with nine, is left after two or three attempts.

@<Count how many digits random floats need@>=
enum { DIGIT_DRAWS = 20000 };
static void count_digits(unsigned of[10])
{
  uint64_t state = 1;
  memset(of, 0, 10 * sizeof *of);
  for (int drawn = 0; drawn < DIGIT_DRAWS;) {
    char room[NUMBER_ROOM];
    float x;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint32_t bits = (uint32_t) (state >> 32);
    memcpy(&x, &bits, sizeof x);
    if (!isfinite(x)) continue;
    number_float(x, room);
    of[significant(room)]++, drawn++;
  }
}

@ To count the digits of a printed number, leave out what stands before the first digit that is no
zero, the point, what comes with the exponent, and zeros that only fill up to the point.

@<Count the significant digits of a printed number@>=
static unsigned significant(const char *text)
{
  unsigned n = 0, zeros = 0;
  for (; *text != '\0' && *text != 'e'; text++) {
    if (*text == '0') zeros++;
    if (*text < '1' || *text > '9') continue;
    if (n > 0) n += zeros;
    zeros = 0, n++;
  }
  return n > 0 ? n : 1;
}

@ The claim about powers of two is one about all of them, so all of them are tried: a number needs
the second attempt if what we print has fewer digits than the nearest decimal that reads back.

@<Find the powers of two that need the second attempt@>=
static bool needs_second(double x, bool single)
{
  char ours[NUMBER_ROOM], nearest[NUMBER_ROOM];
  number_shortest(x, single, ours);
  unsigned digits = significant(ours);
  snprintf(nearest, sizeof nearest, "%.*g", (int) digits, x);
  return !reads_back(x, single, nearest);
}
@#
static unsigned count_second(bool single, FILE *out)
{
  unsigned n = 0;
  for (int e = single ? -149 : -1074; e < (single ? 128 : 1024); e++)
    if (needs_second(ldexp(1, e), single)) {
      n++;
      if (single) fprintf(out, "command.float.exponent.%u %d\n", n, e);
    }
  return n;
}

@ These are the numbers of this appendix, as the prose quotes them, and the points of its figure.

@<Print the numbers of the book@>=
void number_values(FILE *out)
{
  unsigned of[10];
  fprintf(out, "command.float.second %u\n", count_second(true, out));
  fprintf(out, "command.double.second %u\n", count_second(false, out));
  fprintf(out, "command.depth %d\n", (int) JSON_DEPTH);
  count_digits(of);
  fprintf(out, "command.digits.numbers %d\n", DIGIT_DRAWS);
  for (int k = 1; k < 10; k++) fprintf(out, "command.digits.%d %u\n", k, of[k]);
}
@#
void number_digits(FILE *out)
{
  unsigned of[10];
  count_digits(of);
  fprintf(out, "digits,numbers\n");
  for (int k = 1; k < 10; k++) fprintf(out, "%d,%u\n", k, of[k]);
}

@ Both are called by the two subcommands that no list shows.

@<Numbers and words in JSON@>=
void number_values(FILE *out);
  /* keys and values about printed numbers, for the prose of this book */
void number_digits(FILE *out);
  /* the points of its figure: how many floats need how many digits */

@* Words in print. \label{sec:json}
Answers are written piece by piece, straight into the stream. There is no tree of objects to be
built first: an answer of |forward| may have more numbers in it than the model has. All
that has to be remembered between two pieces is what is due before the next: nothing, a comma, or,
at the beginning of an answer, the brace that opens it.
@^JSON@>

@<Numbers and words in JSON@>=
struct json_out { FILE *out; char due; };
  /* an answer on its way out; |due| is written before the next thing, if it is
     not zero */
void put_open(struct json_out *j, char bracket);
  /* begins an object or a list: a brace or a square bracket */
void put_close(struct json_out *j, char bracket);
  /* ends it */
void put_key(struct json_out *j, const char *key);
  /* the name of what comes next; plain ASCII */
void put_word(struct json_out *j, const char *word);
  /* a word as it stands: \.{true}, \.{null}, a number in print */
void put_count(struct json_out *j, uint64_t n);
  /* an integer */
void put_float(struct json_out *j, float x);
  /* a float32, in the fewest digits */
void put_double(struct json_out *j, double x);
  /* a double, in the fewest digits */
void put_hex(struct json_out *j, const unsigned char *byte, size_t n);
  /* bytes, two hexadecimal digits each */
void put_text(struct json_out *j, const void *byte, size_t n);
  /* bytes as a text, one U+FFFD for each part that is no character */
void put_words(struct json_out *j, const char *words);
  /* the same, of a C string */
void put_ids(struct json_out *j, const uint32_t *id, size_t n);
  /* a list of integers */
void put_end(struct json_out *j);
  /* the end of the line */

@ A comma is due before everything but the first thing in a bracket and the value after a key.

@<Write a piece of JSON@>=
static void put_comma(struct json_out *j)
{
  if (j->due != '\0') putc(j->due, j->out);
  j->due = ',';
}
@#
void put_open(struct json_out *j, char bracket)
{
  put_comma(j);
  putc(bracket, j->out);
  j->due = '\0';
}
@#
void put_close(struct json_out *j, char bracket)
{
  putc(bracket, j->out);
  j->due = ',';
}
@#
void put_key(struct json_out *j, const char *key)
{
  put_comma(j);
  fprintf(j->out, "\"%s\":", key);
  j->due = '\0';
}

@ The simple values differ only in how they are printed.

@<Write a piece of JSON@>=
void put_word(struct json_out *j, const char *word)
{
  put_comma(j);
  fputs(word, j->out);
}
@#
void put_count(struct json_out *j, uint64_t n)
{
  put_comma(j);
  fprintf(j->out, "%" PRIu64, n);
}
@#
void put_float(struct json_out *j, float x)
{
  char room[NUMBER_ROOM];
  number_float(x, room);
  put_word(j, room);
}
@#
void put_double(struct json_out *j, double x)
{
  char room[NUMBER_ROOM];
  number_double(x, room);
  put_word(j, room);
}

@ Lists of ids and bytes in hexadecimal are written often enough to have functions.

@<Write a piece of JSON@>=
void put_ids(struct json_out *j, const uint32_t *id, size_t n)
{
  put_open(j, '[');
  for (size_t i = 0; i < n; i++) put_count(j, id[i]);
  put_close(j, ']');
}
@#
void put_hex(struct json_out *j, const unsigned char *byte, size_t n)
{
  put_comma(j);
  putc('"', j->out);
  for (size_t i = 0; i < n; i++) fprintf(j->out, "%02x", (unsigned) byte[i]);
  putc('"', j->out);
}
@#
void put_end(struct json_out *j)
{
  putc('\n', j->out);
  j->due = '\0';
}

@ A text may contain anything: a quotation mark, a line's end, the character U+0000, bytes that are
no text. The first three are escaped; for the last, chapter 1 knows how far each broken part
reaches, and we put the character for what cannot be shown.

@<Write a text in quotation marks@>=
void put_text(struct json_out *j, const void *text, size_t n)
{
  const unsigned char *byte = text;
  put_comma(j);
  putc('"', j->out);
  while (n > 0) {
    enum utf8_state state;
    size_t k = utf8_next(byte, n, &state);
    if (state != UTF8_WHOLE) fputs("\xef\xbf\xbd", j->out);
    else if (k > 1) fwrite(byte, 1, k, j->out);
    else put_ascii(j->out, *byte);
    byte += k, n -= k;
  }
  putc('"', j->out);
}
@#
void put_words(struct json_out *j, const char *words)
{
  put_text(j, words, strlen(words));
}

@ Of the characters below 128, JSON wants three kinds escaped. The letter escapes are
easier to read than numbers.

@<Write a character of ASCII@>=
static void put_ascii(FILE *out, unsigned char c)
{
  static const char plain[] = "\"\\\n\t\r\b\f", letter[] = "\"\\ntrbf";
  const char *found = c == '\0' ? NULL : strchr(plain, c);
  if (found != NULL) fprintf(out, "\\%c", letter[found - plain]);
  else if (c < 0x20 || c == 0x7f) fprintf(out, "\\u%04x", (unsigned) c);
  else putc(c, out);
}

@* Lines in. \label{sec:lines}
In the other direction we trust nobody. A line that comes in must be one JSON object, whole, in
UTF-8, with no key twice, no number that a double cannot hold, and no more than
\val{command.depth} brackets deep. The library jansson does nearly all of that, if it is asked
to. The depth we measure ourselves, on what it made.
@^jansson@>

@<Lines of JSON, strictly read@>=
enum { JSON_DEPTH = 64 };
json_t *json_object_read(const char *text, size_t n, struct error *why);
  /* the object in |n| bytes, to be released with |json_decref|; null and a
     sentence if they are anything else */
enum line_found { LINE_NONE, LINE_WHOLE, LINE_TOO_LONG };
enum line_found line_read(FILE *in, struct memory *m, struct bytes *text);
  /* puts the next line, without its end, into |text|; |LINE_NONE| at the end of
     the input; |LINE_TOO_LONG| if it did not fit into memory and was skipped */

@ A depth of one is an object without further brackets inside. Of a value that is no list the
library says that it has no elements, and of one that is no object that it has no keys. What is
far too deep it refuses itself, so the recursion cannot be made to run away.

@<Measure how deep a value is nested@>=
static unsigned json_depth(json_t *value)
{
  unsigned deepest = 0, below;
  for (size_t i = 0; i < json_array_size(value); i++) {
    below = json_depth(json_array_get(value, i));
    if (below > deepest) deepest = below;
  }
  for (void *at = json_object_iter(value); at != NULL;
      at = json_object_iter_next(value, at)) {
    below = json_depth(json_object_iter_value(at));
    if (below > deepest) deepest = below;
  }
  return json_is_array(value) || json_is_object(value) ? deepest + 1 : 0;
}

@ Two flags make the library as strict as we want it: the last of two equal keys shall not win, and
the character U+0000 is a character. It knows an object from a list, and both from the rest.

@<Read one object@>=
json_t *json_object_read(const char *text, size_t n, struct error *why)
{
  json_error_t where;
  if (n == 0) {
    error_say(why, "this line is empty; wanted: an object");
    return NULL;
  }
  json_t *value = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL,
    &where);
  if (value == NULL) {
    error_say(why, "this line is no JSON object: %s", where.text);
    return NULL;
  }
  if (json_is_object(value) && json_depth(value) <= JSON_DEPTH) return value;
  if (json_is_object(value))
    error_say(why, "this line has %u brackets in each other; wanted: at most %d",
      json_depth(value), (int) JSON_DEPTH);
  else error_say(why, "this line is a list; wanted: an object");
  json_decref(value);
  return NULL;
}

@ A line may be of any length. We read it in parts of a page and put them behind each other. If
one day they do not fit, we read on to the end of the line without keeping
anything, so that the next line is a line again.

@<Read a line of any length@>=
enum line_found line_read(FILE *in, struct memory *m, struct bytes *text)
{
  unsigned char part[4096];
  size_t n = 0;
  int c = EOF;
  bool begun = false, fits = true;
  text->n = 0;
  while ((c = getc(in)) != EOF && c != '\n') {
    begun = true;
    part[n++] = (unsigned char) c;
    if (n < sizeof part) continue;
    fits = fits && bytes_push(m, text, part, n, NULL);
    n = 0;
  }
  if (c == EOF && !begun) return LINE_NONE;
  fits = fits && bytes_push(m, text, part, n, NULL);
  return fits ? LINE_WHOLE : LINE_TOO_LONG;
}

@ Numbers, words and lines together are the module.

@(json.h@>=
#ifndef INCIPIT_JSON_H
#define INCIPIT_JSON_H
#include <jansson.h>
#include <stdio.h>
#include "01-tokens/utf8.h"
@<Numbers and words in JSON@>@;
@<Lines of JSON, strictly read@>@;
#endif

@ First the numbers, then what is written, then what is read.

@(json.c@>=
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "A2-command/json.h"
@;@#
@<Print numbers, and count their digits@>@;
@<Write a character of ASCII@>@;
@<Write a piece of JSON@>@;
@<Write a text in quotation marks@>@;
@<Measure how deep a value is nested@>@;
@<Read one object@>@;
@<Read a line of any length@>@;

@ The parts about numbers, in the order in which they need each other.

@<Print numbers, and count their digits@>=
@<Raise the last digit@>@;
@<Print a number with the fewest digits that read back@>@;
@<Count the significant digits of a printed number@>@;
@<Count how many digits random floats need@>@;
@<Find the powers of two that need the second attempt@>@;
@<Print the numbers of the book@>@;

@* What a subcommand works with. \label{sec:outfit}
Most subcommands need a model, or a tokenizer, or both, with workers, kernels, a store, and somebody
to count. They are opened together and closed together. What is not needed is not opened: to
cut a text into tokens, nobody should have to wait for weights, nor even own them.

@<What a subcommand works with@>=
enum { NEED_TOKENIZER = 1, NEED_MODEL = 2, MAY_TOKENIZER = 4 };
struct outfit {
  struct memory *m;
  struct counters counters;
  struct pool *crew;
  struct engine e;
  struct model *lm;
  struct store *s;
  struct tokenizer *t;
  uint32_t vocab_size; /* the model's if it is known, else the tokenizer's */
  double load_seconds;
  char path[CONSOLE_PATH]; /* of the model */
};
bool outfit_open(struct outfit *o, const struct console *c, const struct wishes *w,
  unsigned needs, struct error *why);
  /* opens what |needs| says: the model of \.{--model} or the built-in one, and the
     tokenizer of \.{--vocab} or the model's, which |MAY_TOKENIZER| lets be
     absent; on failure nothing is held. It stays where it is: it points to itself */
void outfit_close(struct outfit *o);
  /* closes what was opened */
const struct kernels *outfit_kernels(struct error *why);
  /* those that |INCIPIT_ISA| names, or the best */

@ The built-in model is where the variable |INCIPIT_MODEL| says, or else not far from the program: where
both were installed, or in the folder of the clone that the program was built in, one or two levels
up. If it is at none of these places, the sentence says what can be done.
@^built-in model@>

@<Find the built-in model@>=
static bool built_in(const struct console *c, char path[CONSOLE_PATH],
  struct error *why)
{
  static const char *const place[] = @[{ "../share/incipit/models/pocket",@|
    "../models/pocket", "../../models/pocket" }@];
  const char *named = getenv("INCIPIT_MODEL");
  if (named != NULL && *named != '\0')
    return join_path(path, "", named, why);
  const char *slash = strrchr(c->program, '/');
  size_t n = slash == NULL ? 0 : (size_t) (slash - c->program) + 1;
  char folder[CONSOLE_PATH];
  snprintf(folder, sizeof folder, "%.*s", (int) n, c->program);
  for (int i = 0; i < 3; i++) {
    if (!join_path(path, folder, place[i], why)) return false;
    if (access(path, R_OK) == 0) return true;
  }
  join_path(path, folder, place[1], NULL);
  return error_say(why, "there is no built-in model at %s; give one with"@|
    " --model, or name it in INCIPIT_MODEL", path);
}

@ A path longer than the room for it is refused and not cut: a cut path may name something else.

@<Put two parts of a path together@>=
static bool join_path(char path[CONSOLE_PATH], const char *folder,
  const char *name, struct error *why)
{
  int n = snprintf(path, CONSOLE_PATH, "%s%s", folder, name);
  return (n >= 0 && n < CONSOLE_PATH)
    || error_say(why, "%s: the path has %d bytes; wanted: fewer than %d", name, n,
    (int) CONSOLE_PATH);
}

@ How many workers? As many as were asked for; else as many as other programs are told to use by
|OMP_NUM_THREADS|, if that is a number; else one for each physical core. What one worker more or less
does not change is the answer.

@<Count the workers that are wanted@>=
static unsigned workers_wanted(const struct wishes *w)
{
  if (w->of[OPTION_THREADS].given) return (unsigned) w->of[OPTION_THREADS].count;
  const char *habit = getenv("OMP_NUM_THREADS");
  long n = habit == NULL ? 0 : strtol(habit, NULL, 10);
  if (n > 0) return n > 1024 ? 1024 : (unsigned) n;
  return pool_cores();
}
@#
const struct kernels *outfit_kernels(struct error *why)
{
  const char *name = getenv("INCIPIT_ISA");
  return kernels_find(name != NULL && *name != '\0' ? name : NULL, why);
}

@ Opening goes from the cheap to the dear, so that a mistake is reported before anybody has waited.

@<Open what is needed@>=
bool outfit_open(struct outfit *o, const struct console *c, const struct wishes *w,
  unsigned needs, struct error *why)
{
  memset(o, 0, sizeof *o);
  o->m = c->memory;
  double began = console_seconds();
  const char *vocab = w->of[OPTION_VOCAB].given ? w->of[OPTION_VOCAB].text : NULL;
  o->e.k = outfit_kernels(why);
  bool ok = o->e.k != NULL && (needs == 0
    || ((needs & NEED_MODEL) == 0 && vocab != NULL && !w->of[OPTION_MODEL].given)
    || model_path(o, c, w, why));
  if (ok && (needs & NEED_MODEL) != 0) ok = open_model(o, w, why);
  else if (ok && o->path[0] != '\0') ok = look_at_config(o, why);
  if (ok && (needs & (NEED_TOKENIZER | MAY_TOKENIZER)) != 0)
    ok = open_tokenizer(o, vocab != NULL ? vocab : o->path, needs, why);
  if (!ok) outfit_close(o);
  o->load_seconds = console_seconds() - began;
  return ok;
}

@ The model that is named, or the built-in one.

@<Tell where the model is@>=
static bool model_path(struct outfit *o, const struct console *c,
  const struct wishes *w, struct error *why)
{
  if (w->of[OPTION_MODEL].given)
    return join_path(o->path, "", w->of[OPTION_MODEL].text, why);
  return built_in(c, o->path, why);
}

@ With the model come the store, the crew of workers, and the engine, which ties them to the
kernels and to the counters.

@<Open the model, and what runs it@>=
static bool open_model(struct outfit *o, const struct wishes *w, struct error *why)
{
  o->lm = model_open(o->m, o->path, why);
  if (o->lm == NULL) return false;
  o->vocab_size = o->lm->config.vocab_size;
  o->s = store_open(o->m, &o->lm->config, 1, why);
  if (o->s == NULL) return false;
  o->crew = pool_open(o->m, workers_wanted(w), why);
  o->e.self = o->crew, o->e.c = &o->counters;
  return o->crew != NULL;
}

@ A tokenizer's directory may have the settings of a model beside it. Then we want to know from
them how many ids the model has: an id below that number is no mistake, even if the
tokenizer has never heard of it.

@<Learn the size of the vocabulary from the settings@>=
static bool look_at_config(struct outfit *o, struct error *why)
{
  struct model_config config;
  char file[CONSOLE_PATH];
  int n = snprintf(file, sizeof file, "%s/config.json", o->path);
  if (n < 0 || n >= CONSOLE_PATH || access(file, F_OK) != 0) return true;
  if (!config_open(&config, o->m, o->path, why)) return false;
  o->vocab_size = config.vocab_size;
  config_close(o->m, &config);
  return true;
}

@ Where a tokenizer may be absent, one of a kind that we do not know counts as absent, too, and the
model serves ids. But one that is there and broken is an error; and so is one that has ids for which
the model has no row.

@<Open the tokenizer@>=
static bool open_tokenizer(struct outfit *o, const char *path, unsigned needs,
  struct error *why)
{
  enum tokenizer_found found = tokenizer_try(o->m, path, &o->t, why);
  if (found != TOKENIZER_OPEN)
    return (needs & NEED_TOKENIZER) == 0 && found != TOKENIZER_REFUSED;
  size_t n = tokenizer_vocab_size(o->t);
  if (o->vocab_size == 0) o->vocab_size = (uint32_t) n;
  if (n <= o->vocab_size) return true;
  char has[32], wanted[64];
  snprintf(has, sizeof has, "%zu", n - 1);
  snprintf(wanted, sizeof wanted, "less than %" PRIu32 ", the vocab_size of"@|
    " config.json", o->vocab_size);
  return error_found(why, path, "the tokenizer's largest id", has, wanted);
}

@ Closing goes backwards, and null is nothing, so it also serves when opening has failed half-way.

@<Close what was opened@>=
void outfit_close(struct outfit *o)
{
  tokenizer_close(o->m, o->t);
  pool_close(o->m, o->crew);
  store_close(o->s);
  model_close(o->m, o->lm);
  o->t = NULL, o->crew = NULL, o->s = NULL, o->lm = NULL;
}

@ These are the two files of the module.

@(outfit.h@>=
#ifndef INCIPIT_OUTFIT_H
#define INCIPIT_OUTFIT_H
#include "01-tokens/tokenizer.h"
#include "02-model/forward.h"
#include "A2-command/console.h"
#include "A2-command/options.h"
@<What a subcommand works with@>@;
#endif

@ In the second, the order is that of use.

@(outfit.c@>=
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "A2-command/outfit.h"
@;@#
@<Put two parts of a path together@>@;
@<Find the built-in model@>@;
@<Count the workers that are wanted@>@;
@<Tell where the model is@>@;
@<Open the model, and what runs it@>@;
@<Learn the size of the vocabulary from the settings@>@;
@<Open the tokenizer@>@;
@<Open what is needed@>@;
@<Close what was opened@>@;

@* From a command line to ids. \label{sec:prompt}
A prompt can come in six ways: as a word on the line, behind |--prompt|, in a file, through the
standard input, in ids, or not at all. Both |generate| and |trace| accept all of them, so
they share what follows. An \emph{occasion} is one run of such a subcommand, with everything that
belongs to it.
@^prompt@>

@<One run with a prompt@>=
struct prompt { struct bytes text; struct ids list; bool in_ids; };
  /* the bytes that were given or, if it came |in_ids|, that these stand for */
struct occasion {
  const struct console *c;
  const struct wishes *w;
  struct outfit o;
  struct prompt p;
  size_t context, most; /* positions we may use; tokens we may write */
  struct error why; /* no words: nothing is to be said */
};
int occasion_run(const struct console *c, const struct wishes *w,
  int (*act)(struct occasion *));
  /* reads the prompt, opens the outfit, lets |act| do its work, closes all and
     says what went wrong; returns the exit status */
bool bytes_read(struct memory *m, FILE *in, struct bytes *text, struct error *why);
  /* appends what is left in |in| */
int text_gather(const struct console *c, const struct wishes *w,
  struct bytes *text, struct error *why);
  /* the text of the operand, of \.{--prompt}, of \.{--file} or of the standard
     input; returns an exit status */

@ Text is taken byte for byte, from wherever it comes. If nothing was said about where, and the
standard input is not a keyboard, it comes from there, so that our command can stand at the end of a
pipe. If it is a keyboard, nobody is typing: then the question was wrong.

@<Gather the text@>=
int text_gather(const struct console *c, const struct wishes *w,
  struct bytes *text, struct error *why)
{
  const char *given = w->of[OPTION_PROMPT].given ? w->of[OPTION_PROMPT].text
    : w->operand;
  bool dash = w->operand != NULL && strcmp(w->operand, "-") == 0;
  bool ok;
  if (w->of[OPTION_FILE].given)
    ok = file_read(c->memory, w->of[OPTION_FILE].text, text, why);
  else if (dash || (given == NULL && !c->in_terminal))
    ok = bytes_read(c->memory, c->in, text, why);
  else if (given != NULL)
    ok = bytes_push(c->memory, text, given, strlen(given), why);
  else {
    error_say(why, "%s needs a text, or - for the standard input"@|
      " (incipit %s --help)", subcommand_at(w->sub)->name,
      subcommand_at(w->sub)->name);
    return STATUS_USAGE;
  }
  return ok ? STATUS_DONE : STATUS_FAILED;
}

@ A stream is read in parts, a file is mapped and copied: it might be shortened while we work
with it, and a text is small.

@<Read a stream or a file to its end@>=
bool bytes_read(struct memory *m, FILE *in, struct bytes *text, struct error *why)
{
  char part[4096];
  size_t n;
  while ((n = fread(part, 1, sizeof part, in)) > 0)
    if (!bytes_push(m, text, part, n, why)) return false;
  return !ferror(in) || error_say(why, "the standard input cannot be read: %s",
    strerror(errno));
}
@#
static bool file_read(struct memory *m, const char *path, struct bytes *text,
  struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return false;
  bool ok = bytes_push(m, text, map.bytes, map.size, why);
  file_unmap(&map);
  return ok;
}

@ Ids are believed only after a look: that each is one the model has is checked when the model
is open. To give an id that it has not is wrong usage, like any value out of its range.

@<Check the ids that were given@>=
static int check_ids(struct occasion *a)
{
  for (size_t i = 0; i < a->p.list.n; i++)
    if (a->p.list.id[i] >= a->o.vocab_size) {
      error_say(&a->why, "--prompt-ids has id %" PRIu32 "; wanted: 0 to %" PRIu32,
        a->p.list.id[i], a->o.vocab_size - 1);
      return STATUS_USAGE;
    }
  return STATUS_DONE;
}

@ Text becomes ids by chapter 1, and ids text, for those who want to see it. An empty prompt still needs a token to stand on: the one that the
files name as the beginning of a text, or else the one that ends a text, since what follows an
end is a beginning. A model with neither cannot begin by itself.
@^beginning of text@>

@<Turn the prompt into ids@>=
static bool encode_prompt(struct occasion *a)
{
  const struct model_config *config = &a->o.lm->config;
  uint32_t first;
  if (!a->p.in_ids && a->o.t == NULL)
    return error_say(&a->why, "%s: there is no tokenizer that we know; wanted:"@|
      " a prompt in ids (--prompt-ids)", a->o.path);
  bool ok = a->o.t == NULL || (a->p.in_ids
    ? tokenizer_decode(a->o.t, a->o.m, a->p.list.id, a->p.list.n, false,
      &a->p.text, &a->why)
    : tokenizer_encode(a->o.t, a->o.m, (char *) a->p.text.byte, a->p.text.n,
      !a->w->of[OPTION_NO_SPECIAL].given, a->w->of[OPTION_PARSE_SPECIAL].given,
      &a->p.list, &a->why));
  if (!ok || a->p.list.n > 0) return ok;
  if (a->o.t != NULL && tokenizer_bos(a->o.t, &first)) ;
  else if (config->has_bos) first = config->bos;
  else if (config->n_eos > 0) first = config->eos[0];
  else return error_say(&a->why, "%s: the prompt is empty, and the model names no"@|
      " token to begin or end a text with", a->o.path);
  return ids_push(a->o.m, &a->p.list, first, &a->why);
}

@ The context is what the model was made for, or less if somebody wants less. A prompt that does not
fit is refused with both numbers; how much may be written follows from them, since the last
token that is written needs no row.

@<Measure the prompt against the context@>=
static int measure_context(struct occasion *a)
{
  const struct option_value *less = &a->w->of[OPTION_CTX_SIZE];
  const struct option_value *most = &a->w->of[OPTION_MAX_NEW_TOKENS];
  size_t has = a->o.lm->config.n_positions, n = a->p.list.n;
  a->context = less->given ? (size_t) less->count : has;
  if (a->context > has) {
    error_say(&a->why, "--ctx-size is %zu; wanted: 1 to %zu, the model's context",
      a->context, has);
    return STATUS_USAGE;
  }
  if (n > a->context) {
    error_say(&a->why, "the prompt has %zu tokens; the context holds %zu", n,
      a->context);
    return STATUS_FAILED;
  }
  a->most = a->context - n + 1;
  if (most->given && most->count < a->most) a->most = (size_t) most->count;
  return STATUS_DONE;
}

@ An occasion from beginning to end. A status with no words to it is a reader who has closed the
pipe, about which nothing is said.

@<Run an occasion@>=
int occasion_run(const struct console *c, const struct wishes *w,
  int (*act)(struct occasion *))
{
  struct occasion a;
  memset(&a, 0, sizeof a);
  a.c = c, a.w = w;
  const struct option_value *given = &w->of[OPTION_PROMPT_IDS];
  a.p.in_ids = given->given;
  int status;
  if (!given->given) status = text_gather(c, w, &a.p.text, &a.why);
  else status = ids_parse(c->memory, given->text, "prompt-ids", &a.p.list, &a.why);
  if (status == STATUS_DONE)
    @<Open, measure, act and close@>@;
  bytes_free(c->memory, &a.p.text);
  ids_free(c->memory, &a.p.list);
  if (status == STATUS_USAGE) return console_misuse(c, &a.why);
  if (status == STATUS_FAILED && a.why.words[0] != '\0') console_fail(c, &a.why);
  return status;
}

@ The four steps in between, each only if the one before it has gone well.

@<Open, measure, act and close@>=
{
  if (!outfit_open(&a.o, c, w, NEED_MODEL | MAY_TOKENIZER, &a.why))
    status = STATUS_FAILED;
  else {
    a.why.words[0] = '\0'; /* what a missing tokenizer may have said */
    if (a.p.in_ids) status = check_ids(&a);
    if (status == STATUS_DONE && !encode_prompt(&a)) status = STATUS_FAILED;
    if (status == STATUS_DONE) status = measure_context(&a);
    if (status == STATUS_DONE) status = act(&a);
    outfit_close(&a.o);
  }
}

@ Both subcommands may be asked which tokens were likely. One walk over the vocabulary finds the
$k$ likeliest, kept in order in a short list, and the rank of the one that was chosen: one more than
the number of those before it. Of equal ones the lower id comes first, as in the choice itself.
@^rank@>

@<The likeliest tokens@>=
struct candidate { uint32_t id; double logprob; uint64_t rank; };
  /* a token, its natural log-probability, and its place, from 1 */
void candidates_find(const double *logprob, size_t n, uint32_t chosen,
  struct candidate *out, size_t k);
  /* |out[0]| is |chosen|, |out[1]|\dots|out[k]| are the likeliest of |n| $\ge k$ */

@ The list is kept by insertion: nearly every token fails at the first comparison.

@<Find the likeliest tokens@>=
void candidates_find(const double *logprob, size_t n, uint32_t chosen,
  struct candidate *out, size_t k)
{
  size_t held = 0;
  out[0] = (struct candidate) @[{ chosen, logprob[chosen], 1 }@];
  for (size_t v = 0; v < n; v++) {
    double x = logprob[v];
    if (x > logprob[chosen] || (x == logprob[chosen] && v < chosen)) out[0].rank++;
    if (held == k && (k == 0 || !(x > out[held].logprob))) continue;
    size_t at = held < k ? ++held : held;
    for (; at > 1 && x > out[at - 1].logprob; at--) out[at] = out[at - 1];
    out[at] = (struct candidate) @[{ (uint32_t) v, x, 0 }@];
  }
  for (size_t i = 1; i <= held; i++) out[i].rank = i;
}

@ For the eyes, a piece of text is shown in quotation marks. Characters stand for themselves; line
ends, tabs, and bytes that are no characters are escaped, so that a piece always is one line.

@<Show a piece of text@>=
void piece_quote(FILE *out, const unsigned char *byte, size_t n)
{
  putc('"', out);
  while (n > 0) {
    enum utf8_state state;
    size_t k = utf8_next(byte, n, &state);
    bool control = k == 1 ? *byte < 0x20 || *byte == 0x7f
      : byte[0] == 0xc2 && byte[1] < 0xa0;
    if (*byte == '\n') fputs("\\n", out);
    else if (*byte == '\t') fputs("\\t", out);
    else if (*byte == '"' || *byte == '\\') fprintf(out, "\\%c", *byte);
    else if (state == UTF8_WHOLE && !control) fwrite(byte, 1, k, out);
    else for (size_t i = 0; i < k; i++) fprintf(out, "\\x%02x", byte[i]);
    byte += k, n -= k;
  }
  putc('"', out);
}

@ What is public of these, and the module around it.

@<The likeliest tokens@>=
void piece_quote(FILE *out, const unsigned char *byte, size_t n);
  /* bytes in quotation marks, on one line, escaped where they are no text */

@ The header names an occasion, and what may be done with its tokens.

@(prompt.h@>=
#ifndef INCIPIT_PROMPT_H
#define INCIPIT_PROMPT_H
#include "A2-command/outfit.h"
@<One run with a prompt@>@;
@<The likeliest tokens@>@;
#endif

@ The order in the file is that of the way from the line to the ids.

@(prompt.c@>=
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "A2-command/prompt.h"
@;@#
@<Read a stream or a file to its end@>@;
@<Gather the text@>@;
@<Check the ids that were given@>@;
@<Turn the prompt into ids@>@;
@<Measure the prompt against the context@>@;
@<Run an occasion@>@;
@<Find the likeliest tokens@>@;
@<Show a piece of text@>@;

@* Generate. \label{sec:generating}
The loop of chapter 3 does the work; the command watches. At every step it is told which token was
chosen, turns it into bytes, and hands to the reader those bytes that are certain: half of a character
stays behind until its other half comes. What it needs for this, and what it keeps for the end,
is the \emph{writing}.
@^streaming@>

@<What is kept during a generation@>=
struct writing {
  struct occasion *a;
  const uint32_t *eos;
  size_t n_eos;
  struct bytes text, fresh; /* all that was written; what came with one token */
  struct stream tail;
  struct json_out j;
  double *logprob; /* |[vocab_size]|, or null: nobody wants to know */
  struct candidate *noted; /* |[tokens][1 + k]| */
  size_t k, tokens, room;
  double began, first, last; /* moments */
  bool mute, failed;
};

@ One step: the clock, the bytes, the likelihood, the output. |false| stops the loop; that
happens when the reader has gone, when memory is refused, and when somebody has pressed
Ctrl-C.

@<Watch a step of the generation@>=
static bool see_token(void *self, const struct step *now)
{
  struct writing *g = self;
  g->last = console_seconds();
  if (g->tokens++ == 0) g->first = g->last;
  g->fresh.n = 0;
  bool ends = false;
  for (size_t i = 0; i < g->n_eos; i++) ends = ends || g->eos[i] == now->chosen;
  g->failed = !(ends || take_bytes(g, now->chosen)) || !note_odds(g, now);
  if (g->failed) return false;
  if (!g->mute) show_token(g, now->chosen);
  if (fflush(g->a->c->out) != 0) return false;
  return !g->a->c->interrupted();
}

@ The text is kept whole for the end, and released in parts. An end token has no text, whatever the
vocabulary may say about it; nor has any other special token.

@<Turn a token into bytes that may be released@>=
static bool take_bytes(struct writing *g, uint32_t id)
{
  struct occasion *a = g->a;
  size_t before = g->text.n;
  if (a->o.t == NULL) return true;
  return tokenizer_decode(a->o.t, a->o.m, &id, 1, true, &g->text, &a->why)
    && stream_feed(a->o.m, &g->tail, g->text.byte + before, g->text.n - before,
      &g->fresh, &a->why);
}

@ If log-probabilities are wanted, they come from the very logits that the choice was made from, and
the token's line of candidates is put behind those of its predecessors.

@<Note how likely the token was@>=
static bool note_odds(struct writing *g, const struct step *now)
{
  struct occasion *a = g->a;
  size_t width = 1 + g->k, v = a->o.vocab_size;
  if (g->logprob == NULL) return true;
  if (g->tokens > g->room) {
    size_t room = 2 * g->room + 16;
    void *more = memory_grow(a->o.m, FOR_OTHER, g->noted, g->room * width,
      room * width, sizeof *g->noted, &a->why);
    if (more == NULL) return false;
    g->noted = more, g->room = room;
  }
  a->o.e.k->log_softmax(&a->o.e, now->logits, 1, v, g->logprob);
  candidates_find(g->logprob, v, now->chosen, g->noted + (g->tokens - 1) * width,
    g->k);
  return true;
}

@ Three ways to show it: as bytes; with |--jsonl| as a line of its own; and for a model without a
tokenizer as the id, with a comma before all but the first, as |--prompt-ids| would
take it back.

@<Show a token as it comes@>=
static void show_token(struct writing *g, uint32_t id)
{
  FILE *out = g->a->c->out;
  if (g->a->w->of[OPTION_JSONL].given) {
    put_open(&g->j, '{');
    put_key(&g->j, "index"), put_count(&g->j, 0);
    put_key(&g->j, "id"), put_count(&g->j, id);
    put_key(&g->j, "text"), put_text(&g->j, g->fresh.byte, g->fresh.n);
    put_key(&g->j, "logprob");
    put_odds(g, g->tokens - 1);
    put_close(&g->j, '}');
    put_end(&g->j);
  }
  else if (g->a->o.t == NULL)
    fprintf(out, "%s%" PRIu32, g->tokens > 1 ? "," : "", id);
  else fwrite(g->fresh.byte, 1, g->fresh.n, out);
}

@ The log-probability of one token, and with |--logprobs| its rank and the likeliest in its place.

@<Write how likely a token was@>=
static void put_odds(struct writing *g, size_t i)
{
  const struct candidate *x = g->noted + i * (1 + g->k);
  put_double(&g->j, x[0].logprob);
  if (!g->a->w->of[OPTION_LOGPROBS].given) return;
  put_key(&g->j, "rank"), put_count(&g->j, x[0].rank);
  put_key(&g->j, "top"), put_open(&g->j, '[');
  for (size_t n = 1; n <= g->k; n++) {
    put_open(&g->j, '{');
    put_key(&g->j, "id"), put_count(&g->j, x[n].id);
    put_key(&g->j, "logprob"), put_double(&g->j, x[n].logprob);
    put_close(&g->j, '}');
  }
  put_close(&g->j, ']');
}

@ Before the first step the rooms are taken and the prompt is echoed, if that is wanted. Somebody who
wants no tokens at all still wants the prompt evaluated: that is how the time of a prefill
is measured.

@<Generate, watching@>=
static bool run_loop(struct writing *g, struct continuation *text)
{
  struct occasion *a = g->a;
  struct outfit *o = &a->o;
  struct generator with = @[{ &o->e, o->lm, o->s, o->m }@];
  struct settings want = @[{ .max_new_tokens = a->most, .eos = g->eos,
    .n_eos = g->n_eos, .see = see_token, .self = g }@];
  a->c->listen();
  g->began = console_seconds();
  if (a->most == 0 && !evaluate(&o->e, o->lm, o->s, a->p.list.id, a->p.list.n, NULL,
      0, NULL, &a->why)) return false;
  if (a->most == 0) g->first = g->last = console_seconds();
  return generate(&with, a->p.list.id, a->p.list.n, &want, text, &a->why)
    && !g->failed;
}

@ The whole of it: take, hint, run, finish, give back.

@<Take, hint, run, finish, give back@>=
static int write_text(struct occasion *a)
{
  const struct option_value *of = a->w->of;
  const struct model_config *config = &a->o.lm->config;
  struct writing g = @[{ .a = a, .eos = config->eos, .j = { a->c->out, '\0' } }@];
  struct continuation text = @[{ .n_prompt = 0 }@];
  g.n_eos = of[OPTION_IGNORE_EOS].given ? 0 : config->n_eos;
  g.mute = of[OPTION_JSON].given;
  g.k = (size_t) of[OPTION_LOGPROBS].count;
  if (g.k > config->vocab_size) g.k = config->vocab_size;
  give_hints(a);
  if (of[OPTION_ECHO].given) fwrite(a->p.text.byte, 1, a->p.text.n, a->c->out);
  bool ok = !(of[OPTION_LOGPROBS].given || of[OPTION_JSONL].given)
    || (g.logprob = memory_take(a->o.m, FOR_OTHER, config->vocab_size,
      sizeof *g.logprob, &a->why)) != NULL;
  ok = ok && run_loop(&g, &text);
  int status = !ok ? STATUS_FAILED : finish_writing(&g, &text);
  memory_give(a->o.m, FOR_OTHER, g.logprob, config->vocab_size, sizeof *g.logprob);
  memory_give(a->o.m, FOR_OTHER, g.noted, g.room * (1 + g.k), sizeof *g.noted);
  bytes_free(a->o.m, &g.text);
  bytes_free(a->o.m, &g.fresh);
  continuation_free(a->o.m, &text);
  return status;
}

@ Two things a reader may not know are said once, on the standard error. The model's makers may have
trained it on conversations with marks between the turns, of which a plain prompt has none; and they
may recommend to sample, or to punish repetition, which we cannot do yet.
@^chat template@>

@<Give hints@>=
static bool has_chat_template(const char *folder)
{
  char path[CONSOLE_PATH];
  int n = snprintf(path, sizeof path, "%s/chat_template.jinja", folder);
  if (n < 0 || n >= CONSOLE_PATH) return false;
  if (access(path, R_OK) == 0) return true;
  snprintf(path, sizeof path, "%s/tokenizer_config.json", folder);
  json_t *value = access(path, R_OK) == 0 ? json_read(path, NULL) : NULL;
  json_t *found = json_object_get(value, "chat_template");
  bool has = found != NULL && !json_is_null(found);
  json_decref(value);
  return has;
}
@#
static void give_hints(const struct occasion *a)
{
  if (!a->p.in_ids && has_chat_template(a->o.path))
    fprintf(a->c->err, "incipit: hint: this model was trained on"@|
      " conversations and has a chat template; the prompt is used as it is\n");
  const struct sampling_config *s = &a->o.lm->config.sampling;
  if (s->do_sample || s->repetition_penalty != 1 || s->no_repeat_ngram_size != 0)
    fprintf(a->c->err, "incipit: hint: this model's makers recommend %s, which"@|
      " comes with chapter 7; the likeliest token is taken\n",
      s->do_sample ? "to sample" : "a penalty");
}

@ At the end the held bytes are flushed, whatever they are: a pipe gets them raw. On a terminal the
reader's own next line should begin at the left edge, so there, and only there, a line's end is
added that the model has not written.

@<Finish a generation@>=
static int finish_writing(struct writing *g, const struct continuation *text)
{
  struct occasion *a = g->a;
  FILE *out = a->c->out;
  g->fresh.n = 0;
  if (!stream_flush(a->o.m, &g->tail, &g->fresh, &a->why)) return STATUS_FAILED;
  if (g->mute || a->w->of[OPTION_JSONL].given) put_generation(g, text);
  else {
    fwrite(g->fresh.byte, 1, g->fresh.n, out);
    if (a->c->out_terminal) putc('\n', out);
  }
  if (console_end(a->c, STATUS_DONE) != STATUS_DONE) return STATUS_FAILED;
  if (a->w->of[OPTION_STATS].given) print_stats(g, text);
  return text->ended == FINISH_CANCELLED ? STATUS_CANCELLED : STATUS_DONE;
}

@ The object that |--json| prints has five parts. What was asked, what came, how much of it, what it
cost, and how long it took. The generated ids include the end token; the text does not.

@<Write the object of a generation@>=
static void put_generation(struct writing *g, const struct continuation *text)
{
  static const char *const reason[] = @[{ "\"length\"", "\"stop\"",
    "\"length\"", "\"cancelled\"" }@];
  struct json_out *j = &g->j;
  size_t n = text->text.n - text->n_prompt;
  put_open(j, '{');
  put_key(j, "model"), put_words(j, g->a->o.path);
  put_prompt(g);
  put_key(j, "sequences"), put_open(j, '['), put_open(j, '{');
  put_key(j, "index"), put_count(j, 0);
  put_key(j, "ids"), put_ids(j, text->text.id + text->n_prompt, n);
  put_key(j, "text"), put_text(j, g->text.byte, g->text.n);
  put_key(j, "finish_reason"), put_word(j, reason[text->ended]);
  put_key(j, "stop");
  put_word(j, text->ended == FINISH_STOP ? "\"eos\"" : "null");
  if (g->a->w->of[OPTION_LOGPROBS].given) put_all_odds(g, text);
  put_close(j, '}'), put_close(j, ']');
  put_key(j, "usage"), put_open(j, '{');
  put_key(j, "prompt_tokens"), put_count(j, text->n_prompt);
  put_key(j, "completion_tokens"), put_count(j, n);
  put_key(j, "total_tokens"), put_count(j, text->text.n);
  put_close(j, '}');
  put_key(j, "counters"), put_counters(j, &g->a->o.counters);
  put_timings(g, n);
  put_close(j, '}');
  put_end(j);
}

@ The prompt is shown as it came: a text with its ids, or ids with the text that they stand for.

@<Write the prompt@>=
static void put_prompt(struct writing *g)
{
  const struct prompt *p = &g->a->p;
  put_key(&g->j, "prompt"), put_open(&g->j, '{');
  put_key(&g->j, "text"), put_text(&g->j, p->text.byte, p->text.n);
  put_key(&g->j, "ids"), put_ids(&g->j, p->list.id, p->list.n);
  put_close(&g->j, '}');
}
@#
static void put_all_odds(struct writing *g, const struct continuation *text)
{
  put_key(&g->j, "logprobs"), put_open(&g->j, '[');
  for (size_t i = 0; i < g->tokens; i++) {
    put_open(&g->j, '{');
    put_key(&g->j, "id"), put_count(&g->j, text->text.id[text->n_prompt + i]);
    put_key(&g->j, "logprob"), put_odds(g, i);
    put_close(&g->j, '}');
  }
  put_close(&g->j, ']');
}

@ The counters go out by their names. There is one list of these names, which |--stats| and |trace|
use as well.

@<The counters by name@>=
enum { N_COUNTERS = 11 };
uint64_t counter_at(const struct counters *c, int i, const char **name);
  /* counter number |i| $<$ |N_COUNTERS|, and how it is called */
void put_counters(struct json_out *j, const struct counters *c);
  /* an object with all of them */

@ Every counter has the type |uint64_t|, but they are told apart by name and not by place, so
that another order in the structure is no mistake here.

@<Name the counters@>=
uint64_t counter_at(const struct counters *c, int i, const char **name)
{
  const struct { const char *name; uint64_t value; } list[N_COUNTERS] = @[{
    {"passes", c->passes}, {"rows", c->rows},@|
    {"kv_rows_computed", c->kv_rows_computed},@|
    {"kv_rows_recomputed", c->kv_rows_recomputed}, {"qk_pairs", c->qk_pairs},@|
    {"madds_linear", c->madds_linear}, {"madds_attention", c->madds_attention},@|
    {"madds_head", c->madds_head}, {"weight_bytes_read", c->weight_bytes_read},@|
    {"cache_bytes_read", c->cache_bytes_read},@|
    {"cache_bytes_written", c->cache_bytes_written}
  }@];
  *name = list[i].name;
  return list[i].value;
}
@#
void put_counters(struct json_out *j, const struct counters *c)
{
  put_open(j, '{');
  for (int i = 0; i < N_COUNTERS; i++) {
    const char *name;
    uint64_t value = counter_at(c, i, &name);
    put_key(j, name), put_count(j, value);
  }
  put_close(j, '}');
}

@ Four of the times are quotients, and where there is nothing to divide by there is no number. The
first token is the end of the prefill; each later one is a step of the decoding.

@<Reckon the times@>=
enum { N_TIMES = 5 };
static const char *const time_name[N_TIMES] = @[{ "load_ms",
  "time_to_first_token_ms", "time_per_output_token_ms",
  "prefill_tokens_per_second", "decode_tokens_per_second" }@];
static void reckon_times(const struct writing *g, size_t n, double of[N_TIMES])
{
  double until = g->first - g->began, after = g->last - g->first;
  of[0] = 1e3 * g->a->o.load_seconds;
  of[1] = n > 0 ? 1e3 * until : NAN;
  of[2] = n > 1 ? 1e3 * after / (double) (n - 1) : NAN;
  of[3] = until > 0 ? (double) g->a->p.list.n / until : NAN;
  of[4] = n > 1 && after > 0 ? (double) (n - 1) / after : NAN;
}
@#
static void put_timings(struct writing *g, size_t n)
{
  double of[N_TIMES];
  reckon_times(g, n, of);
  put_key(&g->j, "timings"), put_open(&g->j, '{');
  for (int i = 0; i < N_TIMES; i++) {
    put_key(&g->j, time_name[i]);
    if (isnan(of[i])) put_word(&g->j, "null");
    else put_double(&g->j, of[i]);
  }
  put_close(&g->j, '}');
}

@ The same for the eyes, with the books of chapter 0 below.

@<Print the statistics@>=
static void print_stats(const struct writing *g, const struct continuation *text)
{
  FILE *err = g->a->c->err;
  const struct memory *m = g->a->o.m;
  double of[N_TIMES];
  reckon_times(g, text->text.n - text->n_prompt, of);
  fprintf(err, "%-28s %zu + %zu\n", "tokens", text->n_prompt,
    text->text.n - text->n_prompt);
  fprintf(err, "%-28s %u\n", "workers", pool_workers(g->a->o.crew));
  for (int i = 0; i < N_COUNTERS; i++) {
    const char *name;
    uint64_t value = counter_at(&g->a->o.counters, i, &name);
    fprintf(err, "%-28s %" PRIu64 "\n", name, value);
  }
  for (int i = 0; i < N_TIMES; i++)
    if (!isnan(of[i])) fprintf(err, "%-28s %.2f\n", time_name[i], of[i]);
  for (int i = 0; i < N_PURPOSES; i++)
    fprintf(err, "peak for %-19s %" PRIu64 " bytes\n",
      purpose_name((enum purpose) i), m->of[i].peak);
}

@ The subcommand itself is one line, since an occasion does the rest.

@(generating.c@>=
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "A2-command/subcommands.h"
@;@#
@<Name the counters@>@;
@<What is kept during a generation@>@;
@<Write how likely a token was@>@;
@<Show a token as it comes@>@;
@<Turn a token into bytes that may be released@>@;
@<Note how likely the token was@>@;
@<Watch a step of the generation@>@;
@<Generate, watching@>@;
@<Show what came of it@>@;
@<Give hints@>@;
@<Take, hint, run, finish, give back@>@;
@#
int run_generate(const struct console *c, const struct wishes *w)
{
  return occasion_run(c, w, write_text);
}

@ What is printed at the end, from its parts to the whole.

@<Show what came of it@>=
@<Reckon the times@>@;
@<Write the prompt@>@;
@<Write the object of a generation@>@;
@<Print the statistics@>@;
@<Finish a generation@>@;

@ All subcommands have the same form, and one header names them.

@(subcommands.h@>=
#ifndef INCIPIT_SUBCOMMANDS_H
#define INCIPIT_SUBCOMMANDS_H
#include "03-loop/loop.h"
#include "A2-command/help.h"
#include "A2-command/json.h"
#include "A2-command/prompt.h"
@<The subcommands@>@;
@<The counters by name@>@;
#endif

@ They get the console and the wishes, and return the exit status. What goes wrong they
have said already.

@<The subcommands@>=
int run_generate(const struct console *c, const struct wishes *w);
  /* continues a prompt */
int run_tokenize(const struct console *c, const struct wishes *w);
  /* text to ids and back, and learning a vocabulary */
int run_trace(const struct console *c, const struct wishes *w);
  /* the loop, step by step */
int run_inspect(const struct console *c, const struct wishes *w);
  /* what is in a model's files */
int run_probe(const struct console *c, const struct wishes *w);
  /* answers lines */
int command_run(const struct console *c, int argc, char **argv);
  /* a whole run of the command, but for what only |main| can do */

@* Tokenize. \label{sec:tokenizing}
Text to ids, one token a line; or ids to text; or, from a file, a new vocabulary. The three have only
the name of the subcommand in common, and the first thing to do is to tell which is meant.

@<Tell what to do with tokens@>=
int run_tokenize(const struct console *c, const struct wishes *w)
{
  struct cutting g = @[{ .c = c, .w = w }@];
  int status;
  if (w->of[OPTION_TRAIN].given) status = learn(&g);
  else {
    status = gather_tokens(&g);
    if (status == STATUS_DONE) show_tokens(&g);
    ids_free(c->memory, &g.list);
    bytes_free(c->memory, &g.text);
    outfit_close(&g.o);
  }
  if (status == STATUS_USAGE) return console_misuse(c, &g.why);
  return status == STATUS_FAILED ? console_fail(c, &g.why) : status;
}

@ What the first two need: both have ids and text in the end, one of them given and one made.

@<What is cut and put together@>=
struct cutting { const struct console *c; const struct wishes *w; struct outfit o;
  struct bytes text; struct ids list; struct error why; };

@ From text to ids, or from ids to text. An id that the model does not have is wrong
usage; one that it has and that stands for nothing has no bytes.

@<Make ids of the text, or text of the ids@>=
static int gather_tokens(struct cutting *g)
{
  const struct option_value *of = g->w->of;
  struct memory *m = g->o.m = g->c->memory;
  bool back = of[OPTION_IDS].given;
  int status;
  if (!back) status = text_gather(g->c, g->w, &g->text, &g->why);
  else status = ids_parse(m, of[OPTION_IDS].text, "ids", &g->list, &g->why);
  if (status != STATUS_DONE) return status;
  if (!outfit_open(&g->o, g->c, g->w, NEED_TOKENIZER, &g->why))
    return STATUS_FAILED;
  for (size_t i = 0; back && i < g->list.n; i++)
    if (g->list.id[i] >= g->o.vocab_size) {
      error_say(&g->why, "--ids has id %" PRIu32 "; wanted: 0 to %" PRIu32,
        g->list.id[i], g->o.vocab_size - 1);
      return STATUS_USAGE;
    }
  bool ok = back
    ? tokenizer_decode(g->o.t, m, g->list.id, g->list.n, false, &g->text, &g->why)
    : tokenizer_encode(g->o.t, m, (char *) g->text.byte, g->text.n,
      !of[OPTION_NO_SPECIAL].given, of[OPTION_PARSE_SPECIAL].given, &g->list,
      &g->why);
  return ok ? STATUS_DONE : STATUS_FAILED;
}

@ And what is shown of it. Going back gives the bytes and not one more, so that a text which goes
there and back is the same file.

@<Show what was cut or put together@>=
static void show_tokens(struct cutting *g)
{
  FILE *out = g->c->out;
  const struct option_value *of = g->w->of;
  if (of[OPTION_JSON].given) put_tokens(g);
  else if (of[OPTION_COUNT].given) fprintf(out, "%zu\n", g->list.n);
  else if (of[OPTION_IDS].given) fwrite(g->text.byte, 1, g->text.n, out);
  else for (size_t i = 0; i < g->list.n; i++) {
    size_t n;
    const unsigned char *byte = tokenizer_text(g->o.t, g->list.id[i], &n);
    fprintf(out, "%" PRIu32 "\t", g->list.id[i]);
    piece_quote(out, byte, n);
    fprintf(out, "\n");
  }
}

@ As an object, with every piece as a text: a piece that is half a character becomes the sign for
what cannot be shown, and the ids say what it really is.

@<Write ids, pieces and bytes as an object@>=
static void put_tokens(struct cutting *g)
{
  struct json_out j = @[{ g->c->out, '\0' }@];
  put_open(&j, '{');
  put_key(&j, "ids"), put_ids(&j, g->list.id, g->list.n);
  put_key(&j, "pieces"), put_open(&j, '[');
  for (size_t i = 0; i < g->list.n; i++) {
    size_t n;
    const unsigned char *byte = tokenizer_text(g->o.t, g->list.id[i], &n);
    put_text(&j, byte, n);
  }
  put_close(&j, ']');
  put_key(&j, "bytes"), put_count(&j, g->text.n);
  put_close(&j, '}');
  put_end(&j);
}

@ To learn a vocabulary takes a text, a number and a place. The number counts everything: the id that
ends a text, the 256 bytes, and then as many merges as are left of it. A short text may run
out of pairs before; that is said, because the number in the file will not be the one that was asked
for.
@^training a tokenizer@>

@<Learn a vocabulary@>=
static int learn(struct cutting *g)
{
  const struct option_value *of = g->w->of;
  struct memory *m = g->c->memory;
  size_t merges = (size_t) of[OPTION_VOCAB_SIZE].count - 257, n = 0;
  struct bpe_merge *merge = NULL;
  struct mapping map;
  char path[CONSOLE_PATH];
  int length = snprintf(path, sizeof path, "%s/tokenizer.json", of[OPTION_OUT].text);
  if (length < 0 || length >= CONSOLE_PATH) {
    error_say(&g->why, "--out is too long");
    return STATUS_USAGE;
  }
  if (!file_map(&map, of[OPTION_TRAIN].text, &g->why)) return STATUS_FAILED;
  bool ok = make_folder(of[OPTION_OUT].text, &g->why)
    && bpe_train(m, (const char *) map.bytes, map.size, split_gpt2, merges, &merge,
      &n, &g->why)
    && tokenizer_write(m, path, merge, n, &g->why);
  if (ok) fprintf(g->c->err, "incipit: %s: %zu ids, of them %zu merges%s\n", path,
      n + 257, n, n < merges ? "; the text has no more pairs" : "");
  bpe_forget(m, merge, merges);
  file_unmap(&map);
  return ok ? STATUS_DONE : STATUS_FAILED;
}

@ A folder that is there already serves as well as a new one.

@<Make a folder, unless it is there@>=
static bool make_folder(const char *path, struct error *why)
{
  return mkdir(path, 0777) == 0 || errno == EEXIST
    || error_say(why, "%s: cannot be made: %s", path, strerror(errno));
}

@ Learning and cutting come from chapter 1; what is new in this file is how to ask for them.

@(tokenizing.c@>=
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include "01-tokens/split.h"
#include "A2-command/subcommands.h"
@;@#
@<What is cut and put together@>@;
@<Make ids of the text, or text of the ids@>@;
@<Write ids, pieces and bytes as an object@>@;
@<Show what was cut or put together@>@;
@<Make a folder, unless it is there@>@;
@<Learn a vocabulary@>@;
@<Tell what to do with tokens@>@;

@* Trace. \label{sec:tracing}
To see the loop at work, run it slowly. For each step |trace| prints which rows the pass
computed for the first time and which again, the candidates with their probabilities, and
the choice with its reason. It is the grid of chapter 3 with the words written
beside it, and it is drawn from the counters: what it calls new are the rows that the engine did not
count as computed before.
@^trace@>

@<What is kept during a trace@>=
struct tracing {
  struct occasion *a;
  struct json_out j;
  bool in_json, colour, failed;
  double *logprob; /* |[vocab_size]| */
  struct candidate *top; /* |[1 + k]| */
  size_t k;
  uint64_t rows, again; /* in all steps so far */
  const uint32_t *eos;
  size_t n_eos;
  uint32_t *seen; /* |[context + 1]|: the text that the step read, and the choice */
  bool looks; /* attention is wanted, that of |layer| and |head_number| */
  uint32_t layer, head_number;
  struct store *s; /* attention's own */
  struct counters counters;
  float *weights; /* |[context]| */
};

@ A step in six parts; the two forms of output share what is found out.

@<Watch a step of the trace@>=
static bool see_trace(void *self, const struct step *now)
{
  struct tracing *g = self;
  struct occasion *a = g->a;
  size_t again = (size_t) (now->after.kv_rows_recomputed
    - now->before.kv_rows_recomputed);
  size_t rows = (size_t) (now->after.rows - now->before.rows);
  a->o.e.k->log_softmax(&a->o.e, now->logits, 1, a->o.vocab_size, g->logprob);
  candidates_find(g->logprob, a->o.vocab_size, now->chosen, g->top, g->k);
  if (g->looks && !look(g, now->length)) {
    g->failed = true;
    return false;
  }
  g->seen[now->length] = now->chosen;
  g->rows += rows, g->again += again;
  if (g->in_json) put_step(g, now, rows, again);
  else print_step(g, now, rows, again);
  if (fflush(a->c->out) != 0) return false;
  return !a->c->interrupted();
}

@ Why this token? In this chapter of the book there are two answers: it was the likeliest, or it
was the likeliest and ended the text.

@<Say why a token was chosen@>=
static const char *reason_of(const struct tracing *g, uint32_t id)
{
  for (size_t i = 0; i < g->n_eos; i++)
    if (g->eos[i] == id) return "stopped";
  return "greedy";
}
@#
static const unsigned char *text_of(const struct tracing *g, uint32_t id, size_t *n)
{
  *n = 0;
  if (g->a->o.t == NULL) return (const unsigned char *) "";
  return tokenizer_text(g->a->o.t, id, n);
}

@ A candidate is a line: its rank, its probability, its id and its text, and behind the one that was
taken the reason.

@<Print a candidate, then a step@>=
static void print_candidate(const struct tracing *g, const struct candidate *x,
  bool chosen)
{
  FILE *out = g->a->c->out;
  size_t n;
  const unsigned char *byte = text_of(g, x->id, &n);
  fprintf(out, "  %4" PRIu64 "  %.4f  %6" PRIu32 " ", x->rank, num_exp(x->logprob),
    x->id);
  piece_quote(out, byte, n);
  if (chosen) fprintf(out, "  <- %s", reason_of(g, x->id));
  fprintf(out, "\n");
}

@ For the eyes, a row is one letter: C for computed, R for done again. On a terminal the new ones
are red, as everything is in this book that begins; a terminal that wants no colours says so in
|NO_COLOR|.
@^NO_COLOR@>

@<Print a candidate, then a step@>=
static void print_step(const struct tracing *g, const struct step *now, size_t rows,
  size_t again)
{
  FILE *out = g->a->c->out;
  fprintf(out, "step %zu: %zu rows, %zu new, %zu again\n  ", now->number, rows,
    rows - again, again);
  for (size_t i = 0; i < rows; i++) {
    bool fresh = i >= again;
    if (g->colour) fputs(fresh ? "\x1b[31m" : "\x1b[2m", out);
    fprintf(out, "%c", fresh ? 'C' : 'R');
    if (g->colour) fputs("\x1b[0m", out);
    fputs(i + 1 < rows ? " " : "\n", out);
  }
  bool listed = false;
  for (size_t i = 1; i <= g->k; i++) {
    bool chosen = g->top[i].id == now->chosen;
    print_candidate(g, &g->top[i], chosen);
    listed = listed || chosen;
  }
  if (!listed) print_candidate(g, &g->top[0], true);
  if (!g->looks) return;
  fprintf(out, "  looks at");
  for (size_t i = 0; i < now->length; i++) fprintf(out, " %.3f", g->weights[i]);
  fprintf(out, "\n");
}

@ For programs, the same as an object. What the cache keeps for the next step is nothing in this
chapter of the book, so both of its numbers are 0 until chapter 4.

@<Write a step@>=
static void put_candidate(struct tracing *g, const struct candidate *x)
{
  size_t n;
  const unsigned char *byte = text_of(g, x->id, &n);
  put_key(&g->j, "id"), put_count(&g->j, x->id);
  put_key(&g->j, "piece"), put_text(&g->j, byte, n);
  put_key(&g->j, "logprob"), put_double(&g->j, x->logprob);
}
@#
static void put_step(struct tracing *g, const struct step *now, size_t rows,
  size_t again)
{
  struct json_out *j = &g->j;
  struct counters did;
  put_open(j, '{');
  put_key(j, "step"), put_count(j, now->number);
  put_key(j, "length"), put_count(j, now->length);
  put_key(j, "work"), put_open(j, '[');
  for (size_t i = 0; i < rows; i++)
    put_word(j, i < again ? "\"redo\"" : "\"new\"");
  put_close(j, ']');
  put_key(j, "top"), put_open(j, '[');
  for (size_t i = 1; i <= g->k; i++) {
    put_open(j, '{');
    put_candidate(g, &g->top[i]);
    put_close(j, '}');
  }
  put_close(j, ']');
  @<Write the choice, the cache, the work and what was looked at@>@;
  put_close(j, '}');
}

@ The counters of one step are the differences between after and before.

@<Write the choice, the cache, the work and what was looked at@>=
put_key(j, "chosen"), put_open(j, '{');
put_candidate(g, &g->top[0]);
put_key(j, "rank"), put_count(j, g->top[0].rank);
put_key(j, "why"), put_words(j, reason_of(g, now->chosen));
put_close(j, '}');
put_key(j, "cache_rows"), put_count(j, 0);
put_key(j, "cache_bytes"), put_count(j, 0);
counters_between(&now->before, &now->after, &did);
put_key(j, "counters"), put_counters(j, &did);
put_key(j, "attention"), put_open(j, '[');
for (size_t i = 0; g->looks && i < now->length; i++) put_float(j, g->weights[i]);
put_close(j, ']');

@ All counters are numbers of one type that stand side by side, and none may be forgotten when a
later chapter adds one; so the difference is taken over the whole structure.

@<Subtract counters@>=
static void counters_between(const struct counters *before,
  const struct counters *after, struct counters *did)
{
  uint64_t a[N_COUNTERS], b[N_COUNTERS];
  _Static_assert(sizeof *did == sizeof a, "every counter has its name");
  memcpy(b, before, sizeof b);
  memcpy(a, after, sizeof a);
  for (int i = 0; i < N_COUNTERS; i++) a[i] -= b[i];
  memcpy(did, a, sizeof a);
}

@ Attention is not part of what the loop reports. Whoever wants to see it gets a second pass over the
same text, with a watcher, a store of its own, and counters that nobody reads; so the numbers
of the trace are those of the loop alone. The weights of the last row are what
the choice was made from.
@^attention@>

@<Look at what the last row attends to@>=
static void take_weights(void *self, enum watch_stage stage, uint32_t layer, float *x,
  size_t rows, size_t width)
{
  struct tracing *g = self;
  if (stage != STAGE_WEIGHTS || layer != g->layer) return;
  size_t longest = width / g->a->o.lm->config.n_heads;
  const float *from = x + (rows - 1) * width + g->head_number * longest;
  for (size_t i = 0; i < rows && i < longest; i++) g->weights[i] = from[i];
}
@#
static bool look(struct tracing *g, size_t n)
{
  struct occasion *a = g->a;
  struct engine e = a->o.e;
  struct watcher with = @[{ take_weights, g, true }@];
  struct row *rows = memory_take(a->o.m, FOR_OTHER, n, sizeof *rows, &a->why);
  struct pass *p = NULL;
  if (rows == NULL) return false;
  e.c = &g->counters;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) i, g->seen[i] }@];
  store_empty(g->s);
  bool ok = forward_watched(&e, a->o.lm, g->s, rows, n, &with, &p, &a->why);
  pass_close(p);
  memory_give(a->o.m, FOR_OTHER, rows, n, sizeof *rows);
  return ok;
}

@ Which head, is written as two numbers with a point between them. Both are checked against the
model, and the sentence says how far they go.

@<Read which head to look at@>=
static bool read_head(struct tracing *g)
{
  const struct model_config *config = &g->a->o.lm->config;
  const char *text = g->a->w->of[OPTION_ATTENTION].text;
  char *end;
  unsigned long layer = strtoul(text, &end, 10), number = 0;
  bool ok = *text >= '0' && *text <= '9' && *end == '.' && end[1] >= '0'
    && end[1] <= '9';
  if (ok) number = strtoul(end + 1, &end, 10);
  if (!ok || *end != '\0' || layer >= config->n_layers
      || number >= config->n_heads)
    return error_say(&g->a->why, "--attention is `%s'; wanted: LAYER.HEAD, from"@|
      " 0.0 to %" PRIu32 ".%" PRIu32, text, config->n_layers - 1,
      config->n_heads - 1);
  g->looks = true, g->layer = (uint32_t) layer, g->head_number = (uint32_t) number;
  return true;
}

@ Before the first step, the rooms; after the last, the sum: how many rows were computed, how many of
them would have been enough, and how many were computed again.

@<Trace a text@>=
static int trace_text(struct occasion *a)
{
  const struct option_value *of = a->w->of;
  struct tracing g = @[{ .a = a, .j = { a->c->out, '\0' },
    .eos = a->o.lm->config.eos }@];
  size_t v = a->o.vocab_size;
  g.k = of[OPTION_TOP].given ? (size_t) of[OPTION_TOP].count : 5;
  if (g.k > v) g.k = v;
  g.n_eos = of[OPTION_IGNORE_EOS].given ? 0 : a->o.lm->config.n_eos;
  g.in_json = of[OPTION_JSON].given;
  const char *plain = getenv("NO_COLOR");
  g.colour = a->c->out_terminal && (plain == NULL || *plain == '\0');
  if (!of[OPTION_MAX_NEW_TOKENS].given && a->most > 4) a->most = 4;
  if (of[OPTION_ATTENTION].given && !read_head(&g)) return STATUS_USAGE;
  int status = STATUS_FAILED;
  @<Take the rooms of a trace@>@;
  if (ok) status = run_steps(&g);
  @<Return the rooms of a trace@>@;
  return status;
}

@ The room for the text is for all that the context could hold, and one token more, which is never read.

@<Take the rooms of a trace@>=
size_t room = a->context + 1;
g.logprob = memory_take(a->o.m, FOR_OTHER, v, sizeof *g.logprob, &a->why);
g.top = memory_take(a->o.m, FOR_OTHER, 1 + g.k, sizeof *g.top, &a->why);
g.seen = memory_take(a->o.m, FOR_OTHER, room, sizeof *g.seen, &a->why);
g.weights = memory_take(a->o.m, FOR_OTHER, room, sizeof *g.weights, &a->why);
if (g.looks) g.s = store_open(a->o.m, &a->o.lm->config, 1, &a->why);
bool ok = g.logprob != NULL && g.top != NULL && g.seen != NULL
  && g.weights != NULL && (!g.looks || g.s != NULL);

@ What was not given is null, and null may be returned.

@<Return the rooms of a trace@>=
memory_give(a->o.m, FOR_OTHER, g.logprob, v, sizeof *g.logprob);
memory_give(a->o.m, FOR_OTHER, g.top, 1 + g.k, sizeof *g.top);
memory_give(a->o.m, FOR_OTHER, g.seen, room, sizeof *g.seen);
memory_give(a->o.m, FOR_OTHER, g.weights, room, sizeof *g.weights);
store_close(g.s);

@ The loop itself is the one that |generate| runs.

@<Run the steps of a trace@>=
static int run_steps(struct tracing *g)
{
  struct occasion *a = g->a;
  struct generator with = @[{ &a->o.e, a->o.lm, a->o.s, a->o.m }@];
  struct settings want = @[{ .max_new_tokens = a->most, .eos = g->eos,
    .n_eos = g->n_eos, .see = see_trace, .self = g }@];
  struct continuation text;
  memcpy(g->seen, a->p.list.id, a->p.list.n * sizeof *g->seen);
  a->c->listen();
  begin_trace(g);
  bool ok = generate(&with, a->p.list.id, a->p.list.n, &want, &text, &a->why)
    && !g->failed;
  bool cancelled = ok && text.ended == FINISH_CANCELLED;
  if (ok) end_trace(g);
  continuation_free(a->o.m, &text);
  if (!ok || console_end(a->c, STATUS_DONE) != STATUS_DONE) return STATUS_FAILED;
  return cancelled ? STATUS_CANCELLED : STATUS_DONE;
}

@ What stands above the steps, and below them.

@<Begin and end a trace@>=
static void begin_trace(struct tracing *g)
{
  const struct ids *list = &g->a->p.list;
  if (g->in_json) {
    put_open(&g->j, '{');
    put_key(&g->j, "prompt_ids"), put_ids(&g->j, list->id, list->n);
    put_key(&g->j, "steps"), put_open(&g->j, '[');
    return;
  }
  fprintf(g->a->c->out, "prompt:");
  for (size_t i = 0; i < list->n; i++) {
    size_t n;
    const unsigned char *byte = text_of(g, list->id[i], &n);
    putc(' ', g->a->c->out);
    if (n > 0) piece_quote(g->a->c->out, byte, n);
    else fprintf(g->a->c->out, "%" PRIu32, list->id[i]);
  }
  fprintf(g->a->c->out, "\n");
}
@#
static void end_trace(struct tracing *g)
{
  if (!g->in_json) {
    fprintf(g->a->c->out, "computed %" PRIu64 " rows: %" PRIu64 " necessary, %"
      PRIu64 " again\n", g->rows, g->rows - g->again, g->again);
    return;
  }
  put_close(&g->j, ']');
  put_key(&g->j, "totals"), put_open(&g->j, '{');
  put_key(&g->j, "computed"), put_count(&g->j, g->rows);
  put_key(&g->j, "necessary"), put_count(&g->j, g->rows - g->again);
  put_key(&g->j, "redundant"), put_count(&g->j, g->again);
  put_close(&g->j, '}'), put_close(&g->j, '}');
  put_end(&g->j);
}

@ The file of the trace, from what a step needs to the whole.

@(tracing.c@>=
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "02-model/numbers.h"
#include "A2-command/subcommands.h"
@;@#
@<What is kept during a trace@>@;
@<Say why a token was chosen@>@;
@<Subtract counters@>@;
@<Print a candidate, then a step@>@;
@<Write a step@>@;
@<Look at what the last row attends to@>@;
@<Watch a step of the trace@>@;
@<Read which head to look at@>@;
@<Begin and end a trace@>@;
@<Run the steps of a trace@>@;
@<Trace a text@>@;
@#
int run_trace(const struct console *c, const struct wishes *w)
{
  return occasion_run(c, w, trace_text);
}

@* Inspect. \label{sec:inspecting}
What is in these files, and what will the engine make of it? Half of all trouble with a
checkpoint is a field that one program reads and another ignores. So |inspect| does not print
what the files say, but what was \emph{understood}: the settings as they will be used, every tensor, where
the special tokens come from, and each field that changes nothing, with the reason why it may be
ignored. A model that the engine would refuse is refused here as well, in the same words.
@^inspect@>

@<Look into a directory or a file@>=
int run_inspect(const struct console *c, const struct wishes *w)
{
  struct inspection g = @[{ .c = c, .in_json = w->of[OPTION_JSON].given,
    .j = { c->out, '\0' } }@];
  struct wishes asked = *w;
  struct stat about;
  asked.of[OPTION_MODEL] = (struct option_value) @[{ w->operand != NULL, w->operand,
    0 }@];
  bool is_file = w->operand != NULL && stat(w->operand, &about) == 0
    && !S_ISDIR(about.st_mode);
  bool ok;
  if (is_file) {
    g.tensors = g.alone = weights_open(c->memory, w->operand, &g.why);
    ok = g.alone != NULL;
  }
  else {
    ok = outfit_open(&g.o, c, &asked, NEED_MODEL | MAY_TOKENIZER, &g.why);
    if (ok) g.tensors = g.o.lm->weights;
  }
  if (ok) show_inspection(&g);
  weights_close(c->memory, g.alone);
  if (ok && !is_file) outfit_close(&g.o);
  return ok ? STATUS_DONE : console_fail(c, &g.why);
}

@ A file of tensors has no settings and no tokenizer; then those parts are left out of the screen,
and are null or empty in the object.

@<What is inspected@>=
struct inspection { const struct console *c; struct outfit o; bool in_json;
  struct json_out j; const struct archive *tensors; struct archive *alone;
  struct error why; };

@ The settings are many and of three sorts. A short list of names, with where the numbers lie, serves
the screen and the object alike.

@<List the settings as they were understood@>=
struct setting { const char *name; double value; bool is_bool; };
enum { N_SETTINGS = 22 };
static void list_settings(const struct model_config *c,
  struct setting of[N_SETTINGS])
{
  const struct setting list[N_SETTINGS] = @[{
    {"vocab_size", c->vocab_size, false}, {"n_positions", c->n_positions, false},@|
    {"d_model", c->d_model, false}, {"d_inner", c->d_inner, false},@|
    {"n_layers", c->n_layers, false}, {"n_heads", c->n_heads, false},@|
    {"n_kv_heads", c->n_kv_heads, false}, {"head_dim", c->head_dim, false},@|
    {"window", c->window, false}, {"norm_eps", c->norm_eps, false},@|
    {"layer_norm", c->layer_norm, true},@|
    {"learned_positions", c->learned_positions, true}, {"gated", c->gated, true},@|
    {"qkv_bias", c->qkv_bias, true}, {"out_bias", c->out_bias, true},@|
    {"mlp_bias", c->mlp_bias, true}, {"qk_norm", c->qk_norm, true},@|
    {"tied", c->tied, true}, {"rope_llama3", c->rope.llama3, true},@|
    {"rope_theta", c->rope.theta, false}, {"rope_factor", c->rope.factor, false},@|
    {"do_sample", c->sampling.do_sample, true}
  }@];
  memcpy(of, list, sizeof list);
}

@ The numbers among them are integers but for three, and an integer is printed as one.

@<Show the settings@>=
static void show_settings(struct inspection *g)
{
  struct setting of[N_SETTINGS];
  list_settings(&g->o.lm->config, of);
  if (g->in_json) put_key(&g->j, "config"), put_open(&g->j, '{');
  for (int i = 0; i < N_SETTINGS; i++) {
    char room[NUMBER_ROOM];
    double x = of[i].value;
    if (of[i].is_bool) strcpy(room, x != 0 ? "true" : "false");
    else if (x == (double) (uint32_t) x)
      snprintf(room, sizeof room, "%" PRIu32, (uint32_t) x);
    else number_double(x, room);
    if (g->in_json) put_key(&g->j, of[i].name), put_word(&g->j, room);
    else fprintf(g->c->out, "  %-20s %s\n", of[i].name, room);
  }
  if (g->in_json) put_close(&g->j, '}');
}

@ A tensor has a name, a type, a shape, and a size in bytes.

@<Show the tensors@>=
static void show_tensor(struct inspection *g, const struct stored *t)
{
  if (!g->in_json) {
    fprintf(g->c->out, "  %s %s [", t->name, t->type);
    for (uint32_t i = 0; i < t->rank; i++)
      fprintf(g->c->out, "%s%" PRIu64, i > 0 ? ", " : "", t->shape[i]);
    fprintf(g->c->out, "] %" PRIu64 " bytes\n", t->bytes);
    return;
  }
  put_open(&g->j, '{');
  put_key(&g->j, "name"), put_words(&g->j, t->name);
  put_key(&g->j, "type"), put_words(&g->j, t->type);
  put_key(&g->j, "shape"), put_open(&g->j, '[');
  for (uint32_t i = 0; i < t->rank; i++) put_count(&g->j, t->shape[i]);
  put_close(&g->j, ']');
  put_key(&g->j, "bytes"), put_count(&g->j, t->bytes);
  put_close(&g->j, '}');
}
@#
static void show_tensors(struct inspection *g)
{
  size_t n = weights_count(g->tensors);
  if (g->in_json) put_key(&g->j, "tensors"), put_open(&g->j, '[');
  else fprintf(g->c->out, "tensors: %zu\n", n);
  for (size_t i = 0; i < n; i++) show_tensor(g, weights_at(g->tensors, i));
  if (g->in_json) put_close(&g->j, ']');
}

@ A special token has a role, and the role has a source. The ends of a text are named by
|generation_config.json| or |config.json|, the beginning by the tokenizer or |config.json|;
what the tokenizer calls special and nobody has given a role is just that.

@<Show a special token@>=
static void show_special(struct inspection *g, uint32_t id, const char *role,
  const char *from)
{
  size_t n = 0;
  const unsigned char *byte = (const unsigned char *) "";
  if (g->o.t != NULL) byte = tokenizer_text(g->o.t, id, &n);
  if (!g->in_json) {
    fprintf(g->c->out, "  %" PRIu32 " ", id);
    piece_quote(g->c->out, byte, n);
    fprintf(g->c->out, " %s (%s)\n", role, from);
    return;
  }
  put_open(&g->j, '{');
  put_key(&g->j, "id"), put_count(&g->j, id);
  put_key(&g->j, "text"), put_text(&g->j, byte, n);
  put_key(&g->j, "role"), put_words(&g->j, role);
  put_key(&g->j, "from"), put_words(&g->j, from);
  put_close(&g->j, '}');
}

@ All of them: first those with a role, then the rest.

@<Show the special tokens@>=
static void show_specials(struct inspection *g)
{
  const struct model_config *c = &g->o.lm->config;
  uint32_t first = 0;
  bool begins = g->o.t != NULL && tokenizer_bos(g->o.t, &first);
  for (uint32_t i = 0; i < c->n_eos; i++)
    show_special(g, c->eos[i], "eos", c->eos_from);
  if (begins) show_special(g, first, "bos", "tokenizer.json");
  else if (c->has_bos) show_special(g, c->bos, "bos", "config.json");
  for (size_t i = 0; g->o.t != NULL && i < tokenizer_extras(g->o.t); i++) {
    struct tokenizer_extra x = tokenizer_extra_at(g->o.t, i);
    bool known = begins ? x.id == first : c->has_bos && x.id == c->bos;
    for (uint32_t k = 0; k < c->n_eos; k++) known = known || x.id == c->eos[k];
    if (!known) show_special(g, x.id, x.special ? "special" : "added", "tokenizer.json");
  }
}
@#
static void show_tokenizer(struct inspection *g)
{
  struct json_out *j = &g->j;
  const char *kind = g->o.t == NULL ? "none" : tokenizer_kind(g->o.t);
  size_t n = g->o.t == NULL ? 0 : tokenizer_vocab_size(g->o.t);
  if (!g->in_json)
    fprintf(g->c->out, "tokenizer: %s, %zu ids; special tokens:\n", kind, n);
  else {
    put_key(j, "tokenizer"), put_open(j, '{');
    put_key(j, "kind"), put_words(j, kind);
    put_key(j, "vocab_size"), put_count(j, n);
    put_key(j, "special"), put_open(j, '[');
  }
  show_specials(g);
  if (g->in_json) put_close(j, ']'), put_close(j, '}');
}

@ A field that is ignored is listed with its file and the reason.

@<Show what is ignored@>=
static void show_ignored(struct inspection *g)
{
  const struct model_config *c = &g->o.lm->config;
  if (g->in_json) put_key(&g->j, "ignored_fields"), put_open(&g->j, '[');
  else fprintf(g->c->out, "ignored: %zu fields\n", c->n_ignored);
  for (size_t i = 0; i < c->n_ignored; i++) {
    const struct ignored_field *x = &c->ignored[i];
    if (g->in_json) {
      put_open(&g->j, '{');
      put_key(&g->j, "file"), put_words(&g->j, x->file);
      put_key(&g->j, "field"), put_words(&g->j, x->field);
      put_key(&g->j, "reason"), put_words(&g->j, x->reason);
      put_close(&g->j, '}');
    }
    else fprintf(g->c->out, "  %s: %s: %s\n", x->file, x->field, x->reason);
  }
  if (g->in_json) put_close(&g->j, ']');
}

@ How many parameters? Those that the model uses; of a file alone, all numbers in it.

@<Count the parameters@>=
static uint64_t count_parameters(const struct inspection *g)
{
  uint64_t n = 0;
  if (g->o.lm != NULL) return model_parameters(g->o.lm);
  for (size_t i = 0; i < weights_count(g->tensors); i++)
    n += weights_at(g->tensors, i)->elements;
  return n;
}

@ The parts in their order. A file alone has neither settings nor tokenizer, and says so with nulls.

@<Show all that was found@>=
static void show_inspection(struct inspection *g)
{
  struct json_out *j = &g->j;
  const struct model_config *c = g->o.lm == NULL ? NULL : &g->o.lm->config;
  if (!g->in_json) {
    if (c != NULL) fprintf(g->c->out, "architecture: %s\n", c->family);
    fprintf(g->c->out, "parameters: %" PRIu64 "\n", count_parameters(g));
    if (c != NULL) show_settings(g);
    show_tensors(g);
    if (c != NULL) show_tokenizer(g), show_ignored(g);
    return;
  }
  put_open(j, '{');
  put_key(j, "architecture");
  if (c != NULL) put_words(j, c->family);
  else put_word(j, "null");
  put_key(j, "parameters"), put_count(j, count_parameters(g));
  put_key(j, "context");
  if (c != NULL) put_count(j, c->n_positions);
  else put_word(j, "null");
  if (c != NULL) show_settings(g);
  else put_key(j, "config"), put_open(j, '{'), put_close(j, '}');
  show_tensors(g);
  if (c != NULL) show_tokenizer(g), show_ignored(g);
  else @<Put what a file alone does not have@>@;
  put_close(j, '}');
  put_end(j);
}

@ A program that reads the object finds all keys in it, whatever was inspected.

@<Put what a file alone does not have@>=
put_key(j, "tokenizer"), put_word(j, "null"), put_key(j, "ignored_fields"),
  put_open(j, '['), put_close(j, ']');

@ From the parts to the whole.

@(inspecting.c@>=
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include "A2-command/subcommands.h"
@;@#
@<What is inspected@>@;
@<List the settings as they were understood@>@;
@<Show the settings@>@;
@<Show the tensors@>@;
@<Show a special token@>@;
@<Show the special tokens@>@;
@<Show what is ignored@>@;
@<Count the parameters@>@;
@<Show all that was found@>@;
@<Look into a directory or a file@>@;

@* The protocol. \label{sec:probe}
Two programs that claim to do the same can be compared only if they can be asked the same questions.
\texttt{incipit probe} answers questions, one a line, in JSON: what are the ids of this text; what
are the logits behind these ids; what would you write? The questions that a program in any language
can be asked are a small and stable set, and a file of them, with the answers, is a test of every
program there will ever be. \Cref{fig:probe} shows what becomes of a line.
@^probe@>@^conformance@>

\fig{probe}{fig:probe}{The life of a line. Whatever comes in, exactly one line goes out, and a
question that cannot be answered leaves nothing behind that the next could notice.}{A flow from the
left to the right. A line is read; if it is no object, has a wrong key or a value out of range, it goes
down to an error line. Else it is computed; if that fails, it goes down to the same error line. Else it
is written as an answer. Both ways lead to one line out, and back to the next line in.}

Three rules make it dependable. Every line gets exactly one answer, and in order. An answer is
computed whole before its first character is written, so that a failure half-way is an
error line and not half an answer. And no answer depends on the lines before it.

@<A question on its way to an answer@>=
struct inquiry {
  const struct console *c;
  struct outfit *o;
  json_t *in;
  struct json_out out;
  struct error *why;
};

@ Each kind of question has a name, a list of the keys that it may have, what it needs to be
open, and a function that answers. A kind without a function belongs to a later chapter, and
answers every line with an error that says so.

@<A kind of question@>=
struct key_row { const char *name; char letter; bool required; unsigned chapter;
  const char *normal; };
  /* |letter|: see |value_fits|; a key of a later |chapter| may only have its
     |normal| value, in JSON */
struct kind_row { const char *name; unsigned needs, chapter; const struct key_row *keys;
  size_t n_keys; bool (*answer)(struct inquiry *q); };

@ The types that a key may have are more than those of JSON. Each has a letter, and the words by which a
wrong value is told what it should have been.

@<The types of values@>=
static const struct { char letter; const char *words; } value_type[] = @[{
  {'s', "a text"}, {'b', "true or false"}, {'n', "an integer from 0 on"},@|
  {'u', "an integer from 0 to 4294967295"}, {'i', "an integer"},@|
  {'x', "a number"}, {'a', "a list"}, {'o', "an object"},@|
  {'p', "a text or null"}, {'e', "a list or null"}, {'r', "a list or a text"}
}@];
static const char *words_of_type(char letter)
{
  size_t i = 0;
  while (value_type[i].letter != letter) i++;
  return value_type[i].words;
}

@ What a letter stands for is decided here. An integer is one only if it was written without a point:
then no two programs can disagree about which integer it is.

@<Tell whether a value fits its key@>=
static bool value_fits(char letter, json_t *v)
{
  json_int_t n = json_integer_value(v);
  switch (letter) {
  case 's': return json_is_string(v);
  case 'b': return json_is_boolean(v);
  case 'n': return json_is_integer(v) && n >= 0;
  case 'u': return json_is_integer(v) && n >= 0 && n <= UINT32_MAX;
  case 'i': return json_is_integer(v);
  case 'x': return json_is_number(v);
  case 'a': return json_is_array(v);
  case 'p': return json_is_string(v) || json_is_null(v);
  case 'e': return json_is_array(v) || json_is_null(v);
  case 'r': return json_is_array(v) || json_is_string(v);
  default: return json_is_object(v);
  }
}

@ A value is the normal one if it is the same JSON, where a number may be written with a point or
without: a temperature of 0.0 is one of 0.

@<Tell whether a value is the normal one@>=
static bool is_normal(const struct key_row *k, json_t *v)
{
  json_t *normal = json_loads(k->normal, JSON_DECODE_ANY, NULL);
  bool same = json_is_number(v) && json_is_number(normal)
    ? json_number_value(v) == json_number_value(normal) : json_equal(v, normal);
  json_decref(normal);
  return same;
}

@ Every key that is there must be in the list, and every one that is required must be there. The
function is used for the line itself and for the object |"params"| inside it.

@<Check the keys of an object@>=
static bool check_keys(json_t *object, const struct key_row *keys, size_t n,
  struct error *why)
{
  for (void *at = json_object_iter(object); at != NULL;
      at = json_object_iter_next(object, at)) {
    const char *name = json_object_iter_key(at);
    json_t *v = json_object_iter_value(at);
    size_t i = 0;
    while (i < n && strcmp(keys[i].name, name) != 0) i++;
    if (i == n) return error_say(why, "\"%s\" is no key here", name);
    char room[64];
    if (!value_fits(keys[i].letter, v))
      return error_say(why, "\"%s\" is %s; wanted: %s", name,
        json_excerpt(v, room), words_of_type(keys[i].letter));
    if (keys[i].chapter > 0 && !is_normal(&keys[i], v))
      return error_say(why, "\"%s\" can only be %s until chapter %u", name,
        keys[i].normal, keys[i].chapter);
  }
  for (size_t i = 0; i < n; i++)
    if (keys[i].required && json_object_get(object, keys[i].name) == NULL)
      return error_say(why, "\"%s\" is missing", keys[i].name);
  return true;
}

@ Then values are taken out. A key that may be left out has a default, which the caller names.

@<Take values out of a question@>=
static bool flag_of(const struct inquiry *q, const char *key, bool normal)
{
  json_t *v = json_object_get(q->in, key);
  return v == NULL ? normal : json_is_true(v);
}
@#
static uint64_t count_of(const struct inquiry *q, const char *key)
{
  return (uint64_t) json_integer_value(json_object_get(q->in, key));
}
@#
static const char *text_value(const struct inquiry *q, const char *key, size_t *n)
{
  json_t *v = json_object_get(q->in, key);
  *n = json_string_length(v);
  return json_string_value(v);
}

@ Ids are integers, and each must be one that the model has; the sentence names the first that is
not. A list may be empty here; whether that makes sense the kind decides.

@<Take ids out of a question@>=
static bool ids_from(const struct inquiry *q, json_t *from, const char *key,
  struct ids *list)
{
  for (size_t i = 0; i < json_array_size(from); i++) {
    json_t *v = json_array_get(from, i);
    json_int_t id = json_integer_value(v);
    bool ok = json_is_integer(v) && id >= 0 && id < q->o->vocab_size;
    if (!ok) error_say(q->why, "\"%s\"[%zu] is no id; wanted: an integer from 0"@|
        " to %" PRIu32, key, i, q->o->vocab_size - 1);
    if (!ok || !ids_push(q->o->m, list, (uint32_t) id, q->why)) {
      ids_free(q->o->m, list);
      return false;
    }
  }
  return true;
}
@#
static bool ids_of(const struct inquiry *q, const char *key, struct ids *list)
{
  return ids_from(q, json_object_get(q->in, key), key, list);
}

@ A text is its ids.

@<Answer with ids, bytes or merges@>=
static bool answer_tokenize(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct ids list = @[{ NULL, 0, 0 }@];
  size_t n;
  const char *text = text_value(q, "text", &n);
  bool ok = tokenizer_encode(q->o->t, m, text, n, flag_of(q, "add_special", false),
    flag_of(q, "parse_special", false), &list, q->why);
  if (ok) {
    put_key(&q->out, "ids");
    put_ids(&q->out, list.id, list.n);
  }
  ids_free(m, &list);
  return ok;
}

@ Ids are bytes, and the bytes, as far as they are a text, a text.

@<Answer with ids, bytes or merges@>=
static bool answer_detokenize(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct ids list = @[{ NULL, 0, 0 }@];
  struct bytes text = @[{ NULL, 0, 0 }@];
  bool ok = ids_of(q, "ids", &list) && tokenizer_decode(q->o->t, m, list.id, list.n,
    flag_of(q, "skip_special", false), &text, q->why);
  if (ok) {
    put_key(&q->out, "hex"), put_hex(&q->out, text.byte, text.n);
    put_key(&q->out, "text"), put_text(&q->out, text.byte, text.n);
  }
  bytes_free(m, &text);
  ids_free(m, &list);
  return ok;
}

@ The question about streaming is: which bytes can be released after each id? Ids are fed one at a time,
as |generate| does it, through the same hold for unfinished characters. All chunks are found
first, one behind the other, with the places where they end, and printed afterwards.

@<Answer with ids, bytes or merges@>=
static bool answer_stream(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct ids list = @[{ NULL, 0, 0 }@], ends = @[{ NULL, 0, 0 }@];
  struct bytes all = @[{ NULL, 0, 0 }@], fresh = @[{ NULL, 0, 0 }@];
  struct stream held = @[{ .n = 0 }@];
  bool ok = ids_of(q, "ids", &list);
  for (size_t i = 0; ok && i < list.n; i++) {
    fresh.n = 0;
    ok = tokenizer_decode(q->o->t, m, list.id + i, 1, false, &fresh, q->why)
      && stream_feed(m, &held, fresh.byte, fresh.n, &all, q->why)
      && ids_push(m, &ends, (uint32_t) all.n, q->why);
  }
  ok = ok && stream_flush(m, &held, &all, q->why);
  if (ok) put_chunks(&q->out, &all, &ends);
  bytes_free(m, &all), bytes_free(m, &fresh);
  ids_free(m, &list), ids_free(m, &ends);
  return ok;
}

@ What lies behind the last end is what was flushed.

@<Write the chunks of a stream@>=
static void put_chunks(struct json_out *j, const struct bytes *all,
  const struct ids *ends)
{
  size_t from = 0;
  put_key(j, "chunks"), put_open(j, '[');
  for (size_t i = 0; i < ends->n; from = ends->id[i++])
    put_hex(j, all->byte + from, ends->id[i] - from);
  put_close(j, ']');
  put_key(j, "flush"), put_hex(j, all->byte + from, all->n - from);
}

@ Learning needs no model at all. Every merge makes a text shorter by at least one id, so more
merges than it has bytes cannot be learnt, and no room is taken for them, however many are asked for.

@<Answer with ids, bytes or merges@>=
static bool answer_train(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct bpe_merge *merge = NULL;
  size_t n, length, made = 0, most = (size_t) count_of(q, "merges");
  const char *text = text_value(q, "text", &n);
  const char *pattern = text_value(q, "pattern", &length);
  if (most > n) most = n;
  if (pattern != NULL && strlen(pattern) != length)
    return error_say(q->why, "\"pattern\" contains U+0000");
  if (!bpe_train(m, text, n, pattern, most, &merge, &made, q->why)) return false;
  put_key(&q->out, "merges"), put_open(&q->out, '[');
  for (size_t k = 0; k < made; k++) {
    uint32_t pair[2] = @[{ merge[k].left, merge[k].right }@];
    put_ids(&q->out, pair, 2);
  }
  put_close(&q->out, ']');
  bpe_forget(m, merge, most);
  return true;
}

@ Logits are asked for by position. The rows wanted become a list of indices first; the same
index may come twice.

@<Find the rows that are wanted@>=
static bool rows_of(const struct inquiry *q, size_t n, size_t **which, size_t *wanted)
{
  json_t *v = json_object_get(q->in, "rows");
  const char *word = v == NULL ? "last" : json_string_value(v);
  bool all = word != NULL && strcmp(word, "all") == 0;
  bool whole = word == NULL || v == NULL || strlen(word) == json_string_length(v);
  if (!whole || (word != NULL && !all && strcmp(word, "last") != 0))
    return error_say(q->why, "\"rows\" is `%s'; wanted: last, all, or a list", word);
  *wanted = all ? n : word != NULL ? 1 : json_array_size(v);
  *which = memory_take(q->o->m, FOR_OTHER, *wanted, sizeof **which, q->why);
  if (*which == NULL) return false;
  for (size_t i = 0; i < *wanted; i++) {
    json_t *one = json_array_get(v, i);
    json_int_t at = json_integer_value(one);
    (*which)[i] = all ? i : word != NULL ? n - 1 : (size_t) at;
    if (word != NULL || (json_is_integer(one) && at >= 0 && (size_t) at < n)) continue;
    memory_give(q->o->m, FOR_OTHER, *which, *wanted, sizeof **which);
    *which = NULL;
    return error_say(q->why, "\"rows\"[%zu] is no row; wanted: an integer from 0"@|
      " to %zu", i, n - 1);
  }
  return true;
}

@ There must be ids, and no more of them than the context holds.

@<Check that ids fit the context@>=
static bool fits_context(const struct inquiry *q, const char *key, size_t n)
{
  size_t context = q->o->lm->config.n_positions;
  if (n == 0) return error_say(q->why, "\"%s\" has a text without ids; wanted: 1 or"@|
      " more", key);
  return n <= context || error_say(q->why, "\"%s\" has a text of %zu ids; the"@|
    " context holds %zu", key, n, context);
}

@ The ids may be given company: other texts, the |"mates"|, whose rows go through the same passes. And they
may be fed in parts, with |"chunk"|. Promise 2 says that nobody can tell from the answer; here
anybody can try to. All the texts together are a \emph{crowd}, in which number 0 is the one
that was asked about.
@^mates@>@^chunk@>

@<A question about logits@>=
struct crowd { struct ids *of; size_t n; struct store *s; struct row *rows; };
static bool gather_crowd(const struct inquiry *q, struct crowd *all)
{
  json_t *mates = json_object_get(q->in, "mates");
  size_t n = json_array_size(mates) + 1, total = 0;
  struct memory *m = q->o->m;
  all->of = memory_take(m, FOR_OTHER, n, sizeof *all->of, q->why);
  if (all->of == NULL) return false;
  all->n = n;
  bool ok = ids_of(q, "ids", &all->of[0]) && fits_context(q, "ids", all->of[0].n);
  for (size_t i = 1; ok && i < n; i++)
    ok = take_mate(q, json_array_get(mates, i - 1), &all->of[i]);
  for (size_t i = 0; i < n; i++) total += all->of[i].n;
  return ok && n <= UINT32_MAX
    && (all->rows = memory_take(m, FOR_OTHER, total, sizeof *all->rows, q->why))
      != NULL
    && (all->s = store_open(m, &q->o->lm->config, (uint32_t) n, q->why)) != NULL;
}

@ A mate must be a list of ids that is not empty and fits, like the text itself.

@<Take a mate@>=
static bool take_mate(const struct inquiry *q, json_t *from, struct ids *list)
{
  if (!json_is_array(from))
    return error_say(q->why, "\"mates\" has something that is no list of ids");
  return ids_from(q, from, "mates", list)
    && fits_context(q, "mates", list->n);
}

@ What was gathered is let go, also if the gathering stopped half-way: what is not there is null, and a
list that could not be read is empty.

@<Let the crowd go@>=
static void dismiss_crowd(const struct inquiry *q, struct crowd *all)
{
  struct memory *m = q->o->m;
  size_t total = 0;
  for (size_t i = 0; i < all->n; i++) total += all->of[i].n;
  memory_give(m, FOR_OTHER, all->rows, total, sizeof *all->rows);
  for (size_t i = 0; i < all->n; i++) ids_free(m, &all->of[i]);
  memory_give(m, FOR_OTHER, all->of, all->n, sizeof *all->of);
  store_close(all->s);
}

@ One pass takes the positions from |from| up to, but not including, |to|, of each text as far as it has
them. The rows of the text that was asked about come first, so that a row's number in the pass is its
position less |from|; and those among the wanted ones that are in this pass get their logits.

@<Run a crowd through one pass@>=
static bool run_crowd(const struct inquiry *q, struct crowd *all, size_t from,
  size_t to, const size_t *which, size_t wanted, float *logits)
{
  struct outfit *o = q->o;
  struct pass *p = NULL;
  size_t n = 0;
  for (size_t s = 0; s < all->n; s++)
    for (size_t i = from; i < to && i < all->of[s].n; i++)
      all->rows[n++] = (struct row) @[{ (uint32_t) s, (uint32_t) i,
        all->of[s].id[i] }@];
  bool ok = forward(&o->e, o->lm, all->s, all->rows, n, &p, q->why);
  for (size_t i = 0; ok && i < wanted; i++) {
    size_t at = which[i] - from;
    if (which[i] < from || which[i] >= to) continue;
    ok = head(&o->e, o->lm, p, &at, 1, logits + i * o->lm->config.vocab_size,
      q->why);
  }
  pass_close(p);
  return ok;
}

@ With |"cache"| true, the passes go over the text once, in chunks if they are wanted; what one pass has
left in the store the next one sees. With false, each wanted row has a pass of its own over all
ids up to it, and the store is emptied before.

@<Find the logits that are wanted@>=
static bool find_logits(const struct inquiry *q, struct crowd *all,
  const size_t *which, size_t wanted, float *logits)
{
  size_t n = all->of[0].n, part = (size_t) count_of(q, "chunk");
  size_t v = q->o->lm->config.vocab_size;
  if (part == 0 || part > n) part = n;
  if (flag_of(q, "cache", true)) {
    for (size_t from = 0; from < n; from += part)
      if (!run_crowd(q, all, from, from + part < n ? from + part : n, which,
          wanted, logits)) return false;
    return true;
  }
  for (size_t i = 0; i < wanted; i++) {
    store_empty(all->s);
    if (!run_crowd(q, all, 0, which[i] + 1, &which[i], 1, logits + i * v))
      return false;
  }
  return true;
}

@ The answer is a matrix, row by row as they were wanted. Its size cannot overflow in the product of
rows and vocabulary alone, but in bytes it might; that, the allocator looks at.

@<Answer with logits@>=
static bool answer_forward(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct crowd all = @[{ NULL, 0, NULL, NULL }@];
  size_t *which = NULL, wanted = 0, v = q->o->vocab_size;
  float *logits = NULL;
  bool ok = gather_crowd(q, &all) && rows_of(q, all.of[0].n, &which, &wanted);
  ok = ok && (logits = memory_take(m, FOR_OTHER, wanted * v, sizeof *logits,
      q->why)) != NULL
    && find_logits(q, &all, which, wanted, logits);
  if (ok) put_logits(&q->out, logits, wanted, v);
  memory_give(m, FOR_OTHER, logits, wanted * v, sizeof *logits);
  memory_give(m, FOR_OTHER, which, wanted, sizeof *which);
  dismiss_crowd(q, &all);
  return ok;
}

@ A list of logits for each row, each with the fewest digits that give back its 32 bits.

@<Write logits@>=
static void put_logits(struct json_out *j, const float *logits, size_t wanted,
  size_t v)
{
  put_key(j, "logits"), put_open(j, '[');
  for (size_t i = 0; i < wanted; i++) {
    put_open(j, '[');
    for (size_t k = 0; k < v; k++) put_float(j, logits[i * v + k]);
    put_close(j, ']');
  }
  put_close(j, ']');
}

@ The first token of a text has no predecessor, hence no probability here, and the answer has a null in
its place. The sum is that of the others.

@<Answer with probabilities@>=
static bool answer_logprob(struct inquiry *q)
{
  struct outfit *o = q->o;
  struct ids list = @[{ NULL, 0, 0 }@];
  double *logprob = NULL, sum = 0;
  bool ok = ids_of(q, "ids", &list) && fits_context(q, "ids", list.n)
    && (logprob = memory_take(o->m, FOR_OTHER, list.n, sizeof *logprob, q->why))
      != NULL
    && logprobs(&o->e, o->lm, o->s, list.id, list.n, logprob, &sum, q->why);
  if (ok) {
    put_key(&q->out, "logprobs"), put_open(&q->out, '[');
    put_word(&q->out, "null");
    for (size_t i = 1; i < list.n; i++) put_double(&q->out, logprob[i]);
    put_close(&q->out, ']');
    put_key(&q->out, "sum"), put_double(&q->out, sum);
  }
  memory_give(o->m, FOR_OTHER, logprob, list.n, sizeof *logprob);
  ids_free(o->m, &list);
  return ok;
}

@ The last kind runs the whole loop, the same that |generate| runs. End tokens are the model's own, or
those of the question; an empty list means that nothing ends the text but its length.

@<Answer with a text@>=
static bool answer_generate(struct inquiry *q)
{
  struct outfit *o = q->o;
  const struct model_config *config = &o->lm->config;
  struct ids list = @[{ NULL, 0, 0 }@], eos = @[{ NULL, 0, 0 }@];
  struct generator with = @[{ &o->e, o->lm, o->s, o->m }@];
  struct continuation text = @[{ .n_prompt = 0 }@];
  json_t *params = json_object_get(q->in, "params");
  bool own = !json_is_array(json_object_get(q->in, "eos"));
  bool ok = check_keys(params, sampling_keys, N_SAMPLING_KEYS, q->why)
    && ids_of(q, "ids", &list) && ids_of(q, "eos", &eos) && fits_context(q, "ids", list.n);
  struct settings want = @[{ .max_new_tokens = (size_t) count_of(q, "max_tokens"),
    .eos = own ? config->eos : eos.id, .n_eos = own ? config->n_eos : eos.n }@];
  ok = ok && generate(&with, list.id, list.n, &want, &text, q->why)
    && put_continuation(q, &text);
  continuation_free(o->m, &text);
  ids_free(o->m, &list);
  ids_free(o->m, &eos);
  return ok;
}

@ The text of an answer is what the new ids add to the text of the prompt. Where that begins is found
by decoding both, since a token's text may depend on what stands before it. The end token has no
part in it.

@<Write a continuation as an answer@>=
static bool put_continuation(struct inquiry *q, const struct continuation *text)
{
  struct outfit *o = q->o;
  struct bytes whole = @[{ NULL, 0, 0 }@], before = @[{ NULL, 0, 0 }@];
  const uint32_t *id = text->text.id;
  size_t n = text->text.n;
  bool stopped = text->ended == FINISH_STOP;
  bool ok = o->t == NULL
    || (tokenizer_decode(o->t, o->m, id, text->n_prompt, true, &before, q->why)
    && tokenizer_decode(o->t, o->m, id, n - stopped, true, &whole, q->why));
  if (ok) {
    struct json_out *j = &q->out;
    put_key(j, "ids"), put_ids(j, id + text->n_prompt, n - text->n_prompt);
    put_key(j, "text");
    put_text(j, whole.byte + before.n, whole.n - before.n);
    put_key(j, "finish"), put_word(j, stopped ? "\"stop\"" : "\"length\"");
    put_key(j, "stop_reason");
    if (stopped) put_count(j, id[n - 1]);
    else put_word(j, "null");
  }
  bytes_free(o->m, &whole);
  bytes_free(o->m, &before);
  return ok;
}

@ What is in a file of tensors? Opening it validates all of it, so there is nothing left to do but to
add up. A file that is refused is an error line; the program goes on.

@<Answer about a file@>=
static bool answer_inspect(struct inquiry *q)
{
  size_t length;
  uint64_t parameters = 0;
  const char *path = text_value(q, "file", &length);
  if (strlen(path) != length) return error_say(q->why, "\"file\" contains U+0000");
  struct archive *w = weights_open(q->o->m, path, q->why);
  if (w == NULL) return false;
  size_t n = weights_count(w);
  for (size_t i = 0; i < n; i++) parameters += weights_at(w, i)->elements;
  put_key(&q->out, "ok"), put_word(&q->out, "true");
  put_key(&q->out, "tensors"), put_count(&q->out, n);
  put_key(&q->out, "parameters"), put_count(&q->out, parameters);
  weights_close(q->o->m, w);
  return true;
}

@ Now the tables. The keys of the kinds, first the short ones.

@<The keys of every kind@>=
static const struct key_row tokenize_keys[] = @[{ {"text", 's', true, 0, NULL},@|
  {"add_special", 'b', false, 0, NULL}, {"parse_special", 'b', false, 0, NULL} }@];
static const struct key_row detokenize_keys[] = @[{ {"ids", 'a', true, 0, NULL},@|
  {"skip_special", 'b', false, 0, NULL} }@];
static const struct key_row ids_keys[] = @[{ {"ids", 'a', true, 0, NULL} }@];
static const struct key_row train_keys[] = @[{ {"text", 's', true, 0, NULL},@|
  {"pattern", 'p', false, 0, NULL}, {"merges", 'n', true, 0, NULL} }@];
static const struct key_row forward_keys[] = @[{ {"ids", 'a', true, 0, NULL},@|
  {"rows", 'r', false, 0, NULL}, {"chunk", 'n', false, 0, NULL},@|
  {"cache", 'b', false, 0, NULL}, {"mates", 'a', false, 0, NULL} }@];
static const struct key_row inspect_keys[] = @[{ {"file", 's', true, 0, NULL} }@];

@ A question for a whole generation has many keys already, most of which only later chapters will let
vary. Whoever sends them with their defaults gets an answer today.

@<The keys of every kind@>=
static const struct key_row generate_keys[] = @[{ {"ids", 'a', true, 0, NULL},@|
  {"max_tokens", 'n', true, 0, NULL}, {"params", 'o', false, 0, NULL},@|
  {"seed", 'n', false, 7, "0"}, {"sequence", 'u', false, 7, "0"},@|
  {"stop", 'a', false, 8, "[]"}, {"include_stop", 'b', false, 8, "false"},@|
  {"min_tokens", 'n', false, 8, "0"}, {"eos", 'e', false, 0, NULL},@|
  {"cache", 'b', false, 0, NULL}, {"chunk", 'n', false, 5, "0"},@|
  {"speculate", 'n', false, 13, "0"} }@];
static const struct key_row sampling_keys[] = @[{ {"temperature", 'x', false, 7, "0"},@|
  {"top_k", 'n', false, 7, "0"}, {"top_p", 'x', false, 7, "1"},@|
  {"min_p", 'x', false, 7, "0"}, {"typical_p", 'x', false, 7, "1"},@|
  {"repetition_penalty", 'x', false, 7, "1"},@|
  {"frequency_penalty", 'x', false, 7, "0"},@|
  {"presence_penalty", 'x', false, 7, "0"},@|
  {"penalty_last_n", 'i', false, 7, "-1"}, {"no_repeat_ngram", 'n', false, 7, "0"},@|
  {"logit_bias", 'o', false, 7, "{}"}, {"bad_words", 'a', false, 7, "[]"},@|
  {"suppress_tokens", 'a', false, 7, "[]"},@|
  {"samplers", 'a', false, 7, "[\"bias\",\"penalties\",\"ngram\","@|
    "\"temperature\",\"top_k\",\"top_p\",\"min_p\",\"typical_p\"]"} }@];
enum { N_SAMPLING_KEYS = sizeof sampling_keys / sizeof *sampling_keys };

@ And the kinds. Those of later chapters are in the table so that an unknown kind can be told from one
that is not there yet.

@<The table of kinds@>=
#define KEYS(list) list, sizeof list / sizeof *list
static const struct kind_row kind_table[] = @[{
  {"tokenize", NEED_TOKENIZER, 0, KEYS(tokenize_keys), answer_tokenize},@|
  {"detokenize", NEED_TOKENIZER, 0, KEYS(detokenize_keys), answer_detokenize},@|
  {"stream", NEED_TOKENIZER, 0, KEYS(ids_keys), answer_stream},@|
  {"train-bpe", 0, 0, KEYS(train_keys), answer_train},@|
  {"forward", NEED_MODEL | MAY_TOKENIZER, 0, KEYS(forward_keys), answer_forward},@|
  {"logprob", NEED_MODEL | MAY_TOKENIZER, 0, KEYS(ids_keys), answer_logprob},@|
  {"generate", NEED_MODEL | MAY_TOKENIZER, 0, KEYS(generate_keys),
    answer_generate},@|
  {"inspect", 0, 0, KEYS(inspect_keys), answer_inspect},@|
  {"process", 0, 7, NULL, 0, NULL}, {"sample", 0, 7, NULL, 0, NULL},@|
  {"philox", 0, 7, NULL, 0, NULL}, {"beam", 0, 9, NULL, 0, NULL},@|
  {"stop", 0, 8, NULL, 0, NULL}, {"quantize", 0, 6, NULL, 0, NULL},@|
  {"speculative", 0, 13, NULL, 0, NULL}
}@];
enum { N_KINDS = sizeof kind_table / sizeof *kind_table };

@ One line: read it, check it, answer it. An answering function writes nothing before its last
calculation has succeeded; that is the whole secret of answers that are never half.

@<Answer one line@>=
static bool answer_line(const struct kind_row *k, struct inquiry *q, const char *text,
  size_t n)
{
  if (k->answer == NULL)
    return error_say(q->why, "%s comes with chapter %u", k->name, k->chapter);
  q->in = json_object_read(text, n, q->why);
  if (q->in == NULL) return false;
  bool ok = check_keys(q->in, k->keys, k->n_keys, q->why) && k->answer(q);
  json_decref(q->in);
  return ok;
}

@ The brace that opens the answer is due before its first key, and before nothing else has been
written; so a function that fails has left nothing on the line, and the error begins with the
same brace.

@<Serve one line, whatever it is@>=
static void serve_line(const struct kind_row *k, struct inquiry *q, const char *text,
  size_t n, bool fits)
{
  FILE *out = q->c->out;
  q->out = (struct json_out) @[{ out, '{' }@];
  bool ok = fits ? answer_line(k, q, text, n)
    : error_say(q->why, "the line does not fit into memory");
  if (!ok) {
    q->out = (struct json_out) @[{ out, '{' }@];
    put_key(&q->out, "error"), put_words(&q->out, q->why->words);
  }
  put_close(&q->out, '}');
  put_end(&q->out);
}

@ All lines, until there are no more or nobody listens. The room for lines is given back after a
long one, so that one enormous question does not cost memory for ever.

@<Serve all lines@>=
static int serve(const struct console *c, const struct kind_row *k, struct outfit *o)
{
  struct error why;
  struct inquiry q = @[{ .c = c, .o = o, .why = &why }@];
  struct bytes text = @[{ NULL, 0, 0 }@];
  enum line_found found;
  int status = STATUS_DONE;
  while (status == STATUS_DONE
      && (found = line_read(c->in, c->memory, &text)) != LINE_NONE) {
    serve_line(k, &q, (const char *) text.byte, text.n, found == LINE_WHOLE);
    status = console_end(c, STATUS_DONE);
    if (text.room > 1 << 20 || found == LINE_TOO_LONG) bytes_free(c->memory, &text);
  }
  bytes_free(c->memory, &text);
  return status;
}

@ Before the first line is read, everything is open; so a model that cannot be loaded is a sentence and
a status, and no line has been taken from anybody.

@<Probe@>=
int run_probe(const struct console *c, const struct wishes *w)
{
  struct error why;
  struct outfit o;
  const char *list[N_KINDS];
  const struct kind_row *k = NULL;
  for (size_t i = 0; i < N_KINDS; i++) {
    list[i] = kind_table[i].name;
    if (strcmp(list[i], w->operand) == 0) k = &kind_table[i];
  }
  if (k == NULL) {
    error_say(&why, "there is no kind `%s'; the nearest is %s", w->operand,
      nearest_of(w->operand, list, N_KINDS));
    return console_misuse(c, &why);
  }
  if (!outfit_open(&o, c, w, k->needs, &why)) return console_fail(c, &why);
  int status = serve(c, k, &o);
  outfit_close(&o);
  return status;
}

@ The file of the protocol: checking, then answering, then the tables, then the lines.

@(probe.c@>=
#include <inttypes.h>
#include <string.h>
#include "A3-files/safetensors.h"
#include "A2-command/subcommands.h"
@;@#
@<A question on its way to an answer@>@;
@<A kind of question@>@;
@<Check what was asked@>@;
@<The keys of every kind@>@;
@<The answers, kind by kind@>@;
@<The table of kinds@>@;
@<Answer one line@>@;
@<Serve one line, whatever it is@>@;
@<Serve all lines@>@;
@<Probe@>@;

@ The checks, from one value to a whole object.

@<Check what was asked@>=
@<The types of values@>@;
@<Tell whether a value fits its key@>@;
@<Tell whether a value is the normal one@>@;
@<Check the keys of an object@>@;
@<Take values out of a question@>@;
@<Take ids out of a question@>@;

@ The answers, each behind what it needs.

@<The answers, kind by kind@>=
@<Write the chunks of a stream@>@;
@<Answer with ids, bytes or merges@>@;
@<Find the rows that are wanted@>@;
@<Check that ids fit the context@>@;
@<Take a mate@>@;
@<A question about logits@>@;
@<Let the crowd go@>@;
@<Run a crowd through one pass@>@;
@<Find the logits that are wanted@>@;
@<Write logits@>@;
@<Answer with logits@>@;
@<Answer with probabilities@>@;
@<Write a continuation as an answer@>@;
@<Answer with a text@>@;
@<Answer about a file@>@;

@* The front door. \label{sec:door}
What remains is to choose among the subcommands, and to answer the three small ones at once.

@<Answer the small subcommands@>=
static int run_help(const struct console *c, const struct wishes *w)
{
  struct error why;
  enum subcommand sub = SUB_GENERATE;
  const char *list[SUB_VERSION];
  for (int i = 0; i < SUB_VERSION; i++) list[i] = subcommand_at((enum subcommand) i)->name;
  if (w->of[OPTION_MAN].given) help_manual(c->out);
  else if (w->of[OPTION_COMPLETION].given) help_completion(c->out);
  else if (w->operand == NULL) help_overview(c->out);
  else {
    while (sub < SUB_VERSION && strcmp(list[sub], w->operand) != 0) sub++;
    if (sub < SUB_VERSION) help_subcommand(c->out, sub);
    else {
      error_say(&why, "there is no subcommand `%s'; the nearest is %s", w->operand,
        nearest_of(w->operand, list, SUB_VERSION));
      return console_misuse(c, &why);
    }
  }
  return STATUS_DONE;
}

@ Whoever reports an error is asked for the version, so it says all that may matter: the build, the
compiler, the kernels in use and those that could be, and which Unicode the patterns of chapter 1
believe in.

@<Say which version this is@>=
static int run_version(const struct console *c)
{
  struct error why;
  const struct kernels *k = outfit_kernels(&why);
  char pcre2[24], utf8proc[24];
  if (k == NULL) return console_fail(c, &why);
  tokenizer_unicode(pcre2, utf8proc);
  fprintf(c->out, "incipit 0.3 (build %s)\ncompiler: " COMPILER "\nkernels: %s, of",
    c->build, k->name);
  for (size_t i = 0; kernels_at(i) != NULL; i++)
    fprintf(c->out, " %s", kernels_at(i)->name);
  fprintf(c->out, "\nUnicode: %s (PCRE2), %s (utf8proc)\n", pcre2, utf8proc);
  return STATUS_DONE;
}

@ A compiler knows its own name, if not always under the same name.

@<What this was compiled with@>=
#if defined __clang__
#define COMPILER __VERSION__
#elif defined __GNUC__
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

@ Without an argument, a greeting. It is printed whoever is listening: a script that calls us
without a word gets an answer and not a reproach.

\checkpoint{build/out/A2-command.txt}{what the command says when it is given nothing to do}

@(command.c@>=
#include <string.h>
#include "A2-command/subcommands.h"
@;@#
@<What this was compiled with@>@;
@<Answer the small subcommands@>@;
@<Say which version this is@>@;
@#
static int run_wishes(const struct console *c, const struct wishes *w)
{
  switch (w->sub) {
  case SUB_GENERATE: return run_generate(c, w);
  case SUB_TOKENIZE: return run_tokenize(c, w);
  case SUB_TRACE: return run_trace(c, w);
  case SUB_INSPECT: return run_inspect(c, w);
  case SUB_PROBE: return run_probe(c, w);
  case SUB_HELP: return run_help(c, w);
  case SUB_VERSION: return run_version(c);
  case SUB_VALUES: @<Print what the prose quotes@>@;
    return STATUS_DONE;
  default: number_digits(c->out);
    return STATUS_DONE;
  }
}
@#
int command_run(const struct console *c, int argc, char **argv)
{
  struct wishes w;
  struct error why;
  if (argc < 2) {
    help_greet(c->out);
    return console_end(c, STATUS_DONE);
  }
  if (!options_parse(&w, argc, argv, &why)) return console_misuse(c, &why);
  if (w.of[OPTION_HELP].given) {
    help_subcommand(c->out, w.sub);
    return console_end(c, STATUS_DONE);
  }
  return console_end(c, run_wishes(c, &w));
}

@* What tries to break it. \label{sec:hostile}
A program that reads what strangers write is tested by being a stranger. Each option has a line in a
table of pairs: two runs that differ in that option alone, and what differs in what they say; and a
third run, which must be refused. Each refusal has a line, too, with the words that its sentence must
contain, and no two lines may be answered by the same sentence. Every request for memory that any
subcommand makes is refused once, and the program must survive it with a sentence and with nothing
held. The protocol is asked questions of which an oracle in another language knows the answers.
@^tests@>

What remains are the inputs that nobody thinks of. They are found by a program that changes bytes at
random, watches which lines of ours have been reached, and keeps what reached a new one.\side{Called
fuzzing: Miller, Fredriksen and So 1990; guided by coverage: Zalewski 2013, LLVM's libFuzzer.} There is
such a \emph{target} for the command line, for the protocol, for tokenizers, for tensor files and
for settings; what it must not do is crash, leak, or read one byte behind the end of a file. Their best
finds are kept and replayed with every \texttt{make check}, which prints how much of each parser
they reach. And since a watchdog that never barks may be asleep, \texttt{make fuzz-proof} plants
one fault in each parser, a boundary moved by one, and waits for it to be found.
@^fuzzing@>

\begin{exercises}
\exercise{check}{ex:command.toy}{In the toy format of the hand calculation, with three significant bits, how are 448 and 512
printed?}{\texttt{make exercise-A2-1}}{448 lies between 384 and 512 and owns what lies from 416 to 480: no decimal of one
digit, and of those of two, 4.5e2 is the nearest. 512, with 448 below and 640 above, owns what lies from 480 to 576: 5e2.}
\exercise{check}{ex:command.status}{A script asks for no tokens; for fewer than none; for the text of a file that is not there; and asks
\texttt{probe philox} the question \texttt{[}. What are the four exit statuses?}{\texttt{make exercise-A2-2}}{0, 2, 1 and 0. To evaluate
a prompt and write nothing is a wish like any other; a number out of its range is wrong usage; a missing file is a
failure. The question gets an error for its answer, and giving it is what a protocol is for.}
\exercise{think}{ex:command.hold}{A model writes, one byte a token, a character of two bytes, one of three, one of four and one of one,
and then its end token. Of how many of the lines that \texttt{--jsonl} prints is the text empty?}{\texttt{make exercise-A2-3}}{Of seven: one, two and
three bytes wait for the last of their character, and the end token has no text.}
\exercise{think}{ex:command.slip}{Misspell an option of \texttt{generate} so that another one would be offered if the exchange of two neighbouring
letters counted as two slips and not as one.}{\texttt{make exercise-A2-4}}{The right one must be one exchange away, another that stands before it in
the table two slips: \texttt{--jsnol} is \texttt{--jsonl} with two letters exchanged, but also \texttt{--json} with one letter changed
and one too many.}
\exercise{build}{ex:command.count}{Let \texttt{tokenize --count} print, behind the number of tokens, how many bytes a token has on the average,
with two decimals; of no tokens, zero.}{\texttt{make exercise-A2-5}}{One line of |show_tokens|: divide |g->text.n| by |g->list.n|, both as
doubles, unless there is nothing to divide by. Divided as integers, the decimals are always zero.}
\exercise{build}{ex:command.upwards}{Let |number_shortest| try one digit first, then two, and so on. Is it still the same number that is
printed?}{\texttt{make exercise-A2-6}}{Yes: a decimal that reads back does so also with a zero behind it, so whether a number of digits is enough is
false up to some point and true from there on. The last attempt needs no trial: nine digits, or 17, always read back.}
\end{exercises}

@ The prose of this appendix quotes the numbers that were promised in \cref{sec:shortest}, and one
of the statuses.

@<Print what the prose quotes@>=
number_values(c->out);
fprintf(c->out, "command.status.cancelled %d\n", (int) STATUS_CANCELLED);

