@i types.w
@s FILE int
@s pollfd x
@s stat x

\chapterquestion{What must a program say, and to whom, so that it can be used by people and by
scripts that its authors will never meet?}
@** The command.
\incipit{A}{library is spoken} to by its authors' friends. A command is spoken to by everybody: by
somebody who has typed a letter too few, by a script that runs at night, by another program that
reads only the first line and closes the pipe, by a test that sends it a row of letters that
nobody would ever type. They have three things in common. They have not read this book; they
want to know what happened; and the wrong answer to them, given in a confident tone, costs them a
day. So this chapter is about manners, and manners in a program are mostly a matter of
saying each thing at the right place: results here, remarks there, and a number at the end
that tells a script how it went.
@^command@>@^manners@>

There is nothing in it about language models that the chapters have not built. What is new is one
table, from which the help, the manual page and the shell's completion are all made, and the
subcommand for which the rest exists, |generate|. The others, which look inside, have an
appendix of their own.

\begin{byhand}{how far is \texttt{josn} from \texttt{json}}
Somebody types \texttt{--josn}. Which option was meant? The one that is the fewest slips away, where
a slip is a letter wrong, a letter too many, a letter missing, or two neighbours exchanged. A table
counts them: in each cell stands how many slips it takes from the beginning of the
one word, above, to the beginning of the other, at the left.

\medskip
\begin{tabular}{@@{}lrrrrr@@{}}
& \tabhead{nothing} & \tabhead{j} & \tabhead{s} & \tabhead{o} & \tabhead{n}\\
nothing & 0 & 1 & 2 & 3 & 4\\
\texttt{j} & 1 & 0 & 1 & 2 & 3\\
\texttt{o} & 2 & 1 & 1 & 1 & 2\\
\texttt{s} & 3 & 2 & 1 & 1 & 2\\
\texttt{n} & 4 & 3 & 2 & 2 & 1
\end{tabular}
\medskip

Each cell is the smallest of these: one more than the cell above it; one more than the cell at its left;
the cell between them, and one more if the two letters differ; and, if the last two letters of both are
the same two exchanged, one more than the cell two up and two to the left. That is how the 1
between \texttt{os} and \texttt{so} comes about: $0+1$. The answer stands at the lower right.
\end{byhand}

@ The program of this chapter shows what the module makes of lines that have a slip in them; with a
word behind its name it prints the one number that the prose below quotes. The
command itself, with all its subcommands, is put together in \cref{sec:door}.

\checkpoint{build/out/command.txt}{five lines with a slip each, and what is said about it}

@c
#include <stdio.h>
#include <string.h>
#include "command/options.h"
@;@#
@<Say what is wrong with a line@>@;
@#
int main(int argc, char **argv)
{
  (void) argv;
  if (argc > 1)
    printf("command.status.cancelled"@| " %d\n", (int) STATUS_CANCELLED);
  else {
    judge("generate", "--josn");
    judge("generate", "--promt=x");
    judge("tokenize", "--ids");
    judge("trace", "--top=0");
    judge("generat", "--json");
  }
  return 0;
}

@ Each line has a subcommand and an option, and nothing else. The reader of command lines is called
directly: to say what is wrong with a line nobody has to open a model, so a mistake is told at once, even
where the model would take a minute to load or is not there at all.

@<Say what is wrong with a line@>=
static void judge(const char *sub, const char *option)
{
  char *argv[] = @[{ "incipit", (char *) sub, (char *) option, NULL }@];
  struct wishes w;
  struct error why;
  printf("incipit %s %s\n", sub, option);
  bool ok = options_parse(&w, 3, argv, &why);
  printf("  %s\n", ok ? "nothing is wrong" : why.words);
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
as a shell would report it. The difference between 1 and 2 is where to look for the fault. After a 1 the same
line may succeed tomorrow, when the file is there or the disk has room; after a 2 it never will.

@<What the program stands on@>=
enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2,
  STATUS_CANCELLED = 130, CONSOLE_PATH = 4096 };
  /* exit statuses, and the longest path with its zero byte */

@ Every subcommand is handed a \emph{console}: the three streams, and what is known about who is at the other end of
them. None of them names |stdout| or asks who is listening. So a test can put blocks of memory in the place of
the streams, and a function of its own in the place of the keyboard: that is how Ctrl-C is tested
without anybody pressing it.

@<What the program stands on@>=
@<How a person's lines are read@>@;
struct console {
  FILE *in, *out, *err;
  bool in_terminal, out_terminal;
  const char *program, *build;
    /* the executable's path; the build's id */
  struct memory *memory;
  void (*listen)(void);
    /* from now on Ctrl-C is noted and does not kill; what was noted
       before is forgotten */
  bool (*interrupted)(void); /* has it been noted? */
  const struct editing *edit; /* or null: lines are read as they are */
};
  /* what |main| has found out about the world; all of it is borrowed */

@ The last of these is for lines that somebody types and corrects while typing, with cursor keys and with earlier lines to come back to. A
library does that (\cref{sec:chat}), and so that only the program needs the library, and not everybody who links with ours, it is
behind three functions. A test puts its own there, as it does for the keyboard.

@<How a person's lines are read@>=
enum asked { ASKED_END, ASKED_LINE, ASKED_DROPPED };
  /* the input has ended; a line; a line that was begun and, with
     Ctrl-C, given up */
struct editor;
struct editing {
  struct editor *(*open)(struct memory *m, FILE *in, FILE *out,
    FILE *err, const char *prompt, struct error *why);
    /* between two terminals; null and a sentence on failure; |prompt| is
       borrowed */
  enum asked (*ask)(struct editor *e, const char **line, size_t *n);
    /* a line of |n| bytes without its end, good until the next */
  void (*close)(struct editor *e);
    /* gives the terminal back */
};
  /* how lines are read that a person types and may edit */

@ Two functions write the sentences, so that all of them begin with the program's name, and return the
status that goes with them: a subcommand that fails can end with |return console_fail(...)|.

@<What the program stands on@>=
int console_fail(const struct console *c, const struct error *why);
  /* writes the sentence to |c->err|; returns |STATUS_FAILED| */
int console_misuse(const struct console *c, const struct error *why);
  /* writes the sentence to |c->err|; returns |STATUS_USAGE| */
int console_end(const struct console *c, int status);
  /* empties |c->out|. If that fails the status becomes |STATUS_FAILED|,
     with a sentence unless the reader has closed the pipe */

@ Output is not written when we print it, but when its buffer is emptied; so a full disk is noticed
at the end, or never, if nobody looks. We look, unless something has failed before and been told. One kind of failure is none: a reader like
\texttt{head} has read what it wanted and closed the pipe. To complain about that would be to
complain about somebody who has finished their soup. (The system's own way is to kill the writer of such a
pipe by a signal, without a word and in the middle of whatever it was doing; \cref{sec:main} puts an end to
that, and the closed pipe arrives here, as a write that has failed.)
@^closed pipe@>

@(console.c@>=
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
#include <string.h>
#include "command/console.h"
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

@ With that, the end of every run is the same: empty the buffer; if something failed now or earlier, say so
once, unless it has been said or there is nobody to say it to. The status tells a script what the
words tell a person. Linux has a file that is always full, for whoever wants to see it: \texttt{incipit --help >
/dev/full}.

@<Empty the output, and look whether that worked@>=
int console_end(const struct console *c, int status)
{
  errno = 0;
  if ((fflush(c->out) == 0 && !ferror(c->out))
      || status == STATUS_FAILED) return status;
  struct error why;
  error_say(&why, "the output cannot be"@| " written: %s",
    errno != 0 ? strerror(errno)
    : "the disk is full, or"@| " has failed");
  if (errno != EPIPE && !reader_gone(c)) console_fail(c, &why);
  return STATUS_FAILED;
}

@ The header includes nothing of the command, so that everything in the command can include it: a console
can be made by anybody who has three streams and an allocator.

@(console.h@>=
#ifndef INCIPIT_CONSOLE_H
#define INCIPIT_CONSOLE_H
#include <stdio.h>
#include "ground/ground.h"
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
enum subcommand { SUB_GENERATE, SUB_TOKENIZE, SUB_TRACE, SUB_INSPECT,
  SUB_PROBE, SUB_BENCH, SUB_PERPLEXITY, SUB_MEMORY, SUB_CHAT, SUB_HELP,@|
  SUB_VERSION, SUB_VALUES, N_SUBCOMMANDS };
  /* the subcommands, in the order of the help */

@ A new option begins as a name in the second list. From then on the compiler counts it and there is room for
its value; as long as it has no line in the table it belongs to no subcommand, so nobody can give it.

@<What can be asked for@>=
enum option { OPTION_MODEL, OPTION_THREADS, OPTION_PROMPT, OPTION_FILE,
  OPTION_PROMPT_IDS, OPTION_MAX_NEW_TOKENS, OPTION_CTX_SIZE,
  OPTION_IGNORE_EOS, OPTION_ECHO, OPTION_LOGPROBS, OPTION_NO_SPECIAL,
  OPTION_PARSE_SPECIAL, OPTION_STATS, OPTION_JSON, OPTION_JSONL,
  OPTION_NO_CACHE, OPTION_CACHE, OPTION_CHUNK, OPTION_KV_TYPE,
  OPTION_WINDOW, OPTION_SINKS,
  OPTION_TEMPERATURE, OPTION_TOP_K, OPTION_TOP_P, OPTION_MIN_P,
  OPTION_TYPICAL_P, OPTION_REPETITION_PENALTY,
  OPTION_FREQUENCY_PENALTY, OPTION_PRESENCE_PENALTY,
  OPTION_PENALTY_LAST_N, OPTION_NO_REPEAT_NGRAM, OPTION_LOGIT_BIAS,
  OPTION_REGEX, OPTION_GRAMMAR, OPTION_JSON_OBJECT,
  OPTION_SAMPLERS, OPTION_SEED, OPTION_NUM_SEQUENCES,
  OPTION_NUM_BEAMS, OPTION_LENGTH_PENALTY, OPTION_EARLY_STOPPING,
  OPTION_STOP, OPTION_NO_ESCAPE, OPTION_INCLUDE_STOP,
  OPTION_MIN_TOKENS, OPTION_STOP_ON_REPETITION,
  OPTION_IDS, OPTION_COUNT, OPTION_TRAIN, OPTION_VOCAB_SIZE, OPTION_OUT,
  OPTION_N_PROMPT, OPTION_N_GEN, OPTION_N_DEPTH, OPTION_REPETITIONS,
  OPTION_OUTPUT, OPTION_CONTEXT, OPTION_STRIDE, OPTION_SHAPE,
  OPTION_LAYERS, OPTION_HEADS, OPTION_KV_HEADS, OPTION_HEAD_DIM,
  OPTION_D_MODEL, OPTION_D_INNER, OPTION_BATCH, OPTION_BUDGET,
  OPTION_TOP, OPTION_ATTENTION, OPTION_VOCAB, OPTION_SYSTEM,
  OPTION_TEMPLATE, OPTION_MAN,
  OPTION_COMPLETION, OPTION_HELP, N_OPTIONS };
  /* the options, in the order of the help */

@ The subcommands have a table of their own. The last one is for this book: it prints numbers
that the prose quotes, and no list shows it.

@<What can be asked for@>=
struct subcommand_row { const char *name, *operand, *words, *example;
  unsigned least, most; bool hidden; };
  /* how it is called; its operand, of which it takes |least| to |most|;
     what it does; an example that works as printed */
const struct subcommand_row *subcommand_at(enum subcommand sub);
  /* a line of the table of subcommands */

@ An option may belong to several subcommands. So its line has one bit for each of them, and whether it belongs to
one is a shift and a mask. The words are kept in pieces, the name of the value and the default apart
from the rest, because each form puts them together in its own way.

@<What can be asked for@>=
struct option_row { const char *name, *also, *value, *words, *normal;
  char letter; bool counts; uint64_t least, most; unsigned where; };
  /* \.{--name}, perhaps another \.{--also} and \.{-letter}; the name of
     its |value|, null for a flag; what it does, and without it; if it
     |counts|, the value is an integer from |least| to |most|; a bit for
     each subcommand */
const struct option_row *option_at(enum option number);
  /* a line of the table of options */

@ What comes out of reading a command line is kept in the order of the table: for every
option whether it was given, its value as it was typed, and as a number where it is one. An option that may be given several times leaves each of its values in a list as well.

@<What has been asked for@>=
enum { REPEATED_MOST = 64 };
  /* how many values of repeated options a command line may have */
struct option_value { bool given; const char *text; uint64_t count;
  double real; };
  /* what was given of an option: the text, and its number if it has one */
struct wishes { enum subcommand sub; const char *operand;
  struct option_value of[N_OPTIONS];
  struct { enum option which; const char *text; }
    repeated[REPEATED_MOST];
  size_t n_repeated; };
  /* what a command line says; all text belongs to |argv|; |operand| may
     be null; |repeated| has the values of those that may be given several times, in order */
bool options_parse(struct wishes *w, int argc, char **argv,
  struct error *why);
  /* reads a command line of at least one word after the program's name;
     on failure a sentence that names what is wrong and what is nearest */

@ Some values have a form of their own, and are looked through twice: when the line is read, so that a mistake is told at once, and when they are used.

@<What has been asked for@>=
enum option option_of_real(const struct sampling_real *r);
  /* the option for a setting of chapter 7 that is a real number */
struct bias_pair { uint64_t id; double bias; };
  /* a pair of \.{--logit-bias} */
bool bias_next(const char **at, struct bias_pair *pair);
  /* takes the next pair \.{ID=B} from |*at| and steps over the comma or semicolon behind it; false at the
     end, and where there is no pair: then |**at| is not the end */
bool samplers_parse(const char *text, struct sampling *s,
  struct error *why);
  /* the list of stages in |text|, with commas or semicolons between the names */

@ Two parts of the reading serve others as well: the nearest name in any list of names, and a list of ids, which |tokenize| takes in the same
form.

@<What has been asked for@>=
const char *nearest_of(const char *word, const char *const *list,
  size_t n);
  /* the one of |n| $\ge1$ names that can be made of |word| with the
     fewest letters changed, added, left out or exchanged with their
     neighbour */
int ids_parse(struct memory *m, const char *text, const char *what,
  struct ids *list, struct error *why);
  /* reads ids separated by commas or semicolons; |what| is the option's
     name; an empty text is an empty list. Returns an exit status:
     |STATUS_USAGE| for what is no list of ids, |STATUS_FAILED| for
     memory; then |list| is empty */

@ Here is the table of subcommands. Each has an example, and the tests type each of the examples,
as it stands, into a shell. An example that does not work is worse than none: it is the one line of a help
screen that people copy. What a subcommand takes beside options is its operand, and the table says how many it needs and how
many it bears.

@<The table of subcommands@>=
static const struct subcommand_row subcommand_table[N_SUBCOMMANDS] = @[{@|
  [SUB_GENERATE] = {"generate", "PROMPT|-", "continue a prompt",
    "incipit generate \"The cat sat\""@| " -n 4", 0, 1, false},@|
  [SUB_TOKENIZE] = {"tokenize", "TEXT|-",
    "text to ids and pieces,"@| " and back",
    "incipit tokenize \"The cat sat\"", 0, 1, false},@|
  [SUB_TRACE] = {"trace", "PROMPT|-", "the loop, step by step",
    "incipit trace \"The cat sat\""@| " -n 4", 0, 1, false},@|
  [SUB_INSPECT] = {"inspect", "PATH", "what is in a model's files",
    "incipit inspect", 0, 1, false},@|
  [SUB_PROBE] = {"probe", "KIND", "questions in JSON, one a line,"@|
    " answered one a line", "echo '{\"text\": \"The cat sat\"}' |"@|
    " incipit probe tokenize", 1, 1, false},@|
  [SUB_BENCH] = {"bench", NULL, "how fast tokens are read and written,"@|
    " and what share of the"@| " machine that is",
    "incipit bench -p 32 -n 8 -r 2", 0, 0, false},@|
  [SUB_PERPLEXITY] = {"perplexity", "FILE", "how well a text is"@|
    " predicted", "incipit perplexity README.md", 1, 1, false},@|
  [SUB_MEMORY] = {"memory", NULL, "what a model takes, and what fits into"@|
    " a budget", "incipit memory --shape llama-7b"@| " --context 4096"@|
    " --budget 24GB", 0, 0, false},@|
  [SUB_CHAT] = {"chat", NULL, "talk with a model, turn by turn",@|
    "echo 'Hello!' | incipit chat", 0, 0, false},@|
  [SUB_HELP] = {"help", "SUBCOMMAND", "this list, or the options"@|
    " of one subcommand", "incipit help generate", 0, 1, false},@|
  [SUB_VERSION] = {"--version", NULL, "version, build, compiler,"@|
    " kernels, Unicode", "incipit --version", 0, 0, false},@|
  [SUB_VALUES] = {"values", NULL, "", "", 0, 0, true}@|
}@];

@ And the table of options. The bits of
the last column are spelled with the first letters of the subcommands to which the line belongs (but |R| is trace, |X| is perplexity, and |C| is chat). What stands
in the column of defaults is meant for eyes; the default itself is whatever the code does when the option was not given.

@<The table of options@>=
enum { G = 1u << SUB_GENERATE, T = 1u << SUB_TOKENIZE,
  R = 1u << SUB_TRACE, I = 1u << SUB_INSPECT, P = 1u << SUB_PROBE,
  B = 1u << SUB_BENCH, X = 1u << SUB_PERPLEXITY,
  M = 1u << SUB_MEMORY, C = 1u << SUB_CHAT, H = 1u << SUB_HELP };
static const struct option_row option_table[N_OPTIONS] = @[{@|
  @<Options that say what to begin with@>,@|
  @<Options that bound a generation@>,@|
  @<Options that say how to choose@>,@|
  @<Options that say what to show of it@>,@|
  @<Options of |tokenize|@>,@|
  @<Options of what measures@>,@|
  @<Options of |memory|@>,@|
  @<Options of |chat|@>,@|
  @<Options of the other subcommands@>@;
}@];

@ First which model, and with how many workers; then what to continue. The second line of the table reads:
\texttt{--threads}, or \texttt{-t}, has a value, which the help calls \texttt{N}; it means workers; without it the
environment decides, or the machine; it is a number, and not below 1; and it can be given to |generate|, |trace|, |probe|, |chat| and what measures, but not to |tokenize|, which has no use for it. Its upper limit is there for fingers that slip: workers are
started before anything is computed, and a few zeros too many would bring the machine to its knees.

@<Options that say what to begin with@>=
[OPTION_MODEL] = {"model", NULL, "PATH", "a directory in Hugging Face's"@|
  " layout", "the built-in model", 'm', false, 0, 0,@|
  G | T | R | P | B | X | M | C},@|
[OPTION_THREADS] = {"threads", NULL, "N", "workers",
  "OMP_NUM_THREADS, or the physical"@| " cores", 't', true, 1, 1024,
  G | R | P | B | X | C},@|
[OPTION_PROMPT] = {"prompt", NULL, "TEXT", "the prompt", NULL, 'p',
  false, 0, 0, G | R},@|
[OPTION_FILE] = {"file", NULL, "FILE", "the text is that of a file,"@|
  " byte for byte", NULL, 'f', false, 0, 0, G | T | R},@|
[OPTION_PROMPT_IDS] = {"prompt-ids", NULL, "1,2,3", "the prompt in ids",
  NULL, 0, false, 0, 0, G | R}

@ Then those that bound a generation, or change the ids that it begins with or ends at, or the way there: |generate| keeps rows unless it is told not to, |trace|, which
shows what is done, only if it is told to (chapter 4); and either can be told to read a long text in pieces (chapter 5). In what form rows are kept, and how many of them a row sees (chapter 6), can be asked of what measures, too. Numbers have limits, and the
limits are what a mistake is told: they are chosen so that within them nothing can overflow and no sensible
wish is refused. Where the model's context sets the bound, the table sets none but that of the integers.

@<Options that bound a generation@>=
[OPTION_MAX_NEW_TOKENS] = {"max-new-tokens", "max-tokens", "N",
  "write at most so many", "until a stop or the context is"@|
  " full; trace: 4", 'n', true, 0, INT64_MAX, G | R | C},@|
[OPTION_CTX_SIZE] = {"ctx-size", NULL, "N", "use less context than the"@|
  " model has", "the model's", 'c', true, 1, INT64_MAX, G | R | C},@|
[OPTION_IGNORE_EOS] = {"ignore-eos", NULL, NULL, "end tokens end nothing",
  NULL, 0, false, 0, 0, G | R | C},@|
[OPTION_NO_CACHE] = {"no-cache", NULL, NULL, "compute every row in"@|
  " every step", "rows are kept", 0, false, 0, 0, G},@|
[OPTION_CACHE] = {"cache", NULL, NULL, "keep rows from step to step",
  "every row in every step", 0, false, 0, 0, R},@|
[OPTION_CHUNK] = {"chunk", NULL, "N", "read at most N tokens in a pass",
  "all in one", 0, true, 0, INT64_MAX, G | R},@|
[OPTION_KV_TYPE] = {"kv-type", NULL, "TYPE", "keep rows in f32, f16,"@|
  " bf16, q8_0 or q4_0", "f32; a shape's: f16", 0, false, 0, 0,
  G | R | B | X | M | C},@|
[OPTION_WINDOW] = {"window", NULL, "N", "every row sees the last N only;"@|
  " 0: all", "the model's", 0, true, 0, UINT32_MAX,
  G | R | B | X | M | C},@|
[OPTION_SINKS] = {"sinks", NULL, "N", "with --window: and the first N",
  "0", 0, true, 0, UINT32_MAX, G | R | B | X | M | C},@|
[OPTION_NO_SPECIAL] = {"no-special", NULL, NULL, "add no special tokens"@|
  " to the text", "as the tokenizer's files say", 0, false, 0, 0,
  G | T | R},@|
[OPTION_PARSE_SPECIAL] = {"parse-special", NULL, NULL, "the text of a"@|
  " special token is that token", "it is plain text", 0, false, 0, 0,
  G | T | R}

@ How to choose among likely tokens is chapter 7's business. The help has a line for each setting, and where two families of
programs have two names for one thing, the second name is accepted, too. What a line does not say the model's makers may have said.

@<Options that say how to choose@>=
[OPTION_TEMPERATURE] = {"temperature", "temp", "T", "divide the scores by"@|
  " T; 0: the likeliest token", "the model's, or 0", 0, false, 0, 0,
  G | R | C},@|
[OPTION_TOP_K] = {"top-k", NULL, "K", "only the K likeliest; 0: all",
  "the model's, or 0", 0, true, 0, INT64_MAX, G | R | C},@|
[OPTION_TOP_P] = {"top-p", NULL, "P", "only the fewest with a share of P",
  "the model's, or 1", 0, false, 0, 0, G | R | C},@|
[OPTION_MIN_P] = {"min-p", NULL, "M", "only those M times as likely as the"@|
  " best", "the model's, or 0", 0, false, 0, 0, G | R | C},@|
[OPTION_TYPICAL_P] = {"typical-p", "typical", "P", "only the most typical"@|
  " with a share of P", "the model's, or 1", 0, false, 0, 0, G | R | C},@|
[OPTION_SAMPLERS] = {"samplers", NULL, "LIST", "the stages, in order",
  "bias, penalties, ngram,"@| " temperature, top_k, top_p,"@| " min_p, typical_p", 0,
  false, 0, 0, G | R | C},@|
[OPTION_SEED] = {"seed", NULL, "S", "another seed, another text; random:"@|
  " draw one and print it", "0", 's', false, 0, 0, G | R | C},@|
[OPTION_NUM_SEQUENCES] = {"num-sequences", NULL, "N", "write N texts",
  "1", 0, true, 1, 1000000, G},@|
@<Options against repetition, and biases@>,@|
@<Options about what must match@>,@|
@<Options of a search@>,@|
@<Options that say when to stop@>

@ A search looks for likely texts instead of drawing one; so its three options do not go with those that draw.

@<Options of a search@>=
[OPTION_NUM_BEAMS] = {"num-beams", NULL, "B", "search with B beams for the"@|
  " likeliest text", "1: no search", 0, true, 1, 65536, G},@|
[OPTION_LENGTH_PENALTY] = {"length-penalty", NULL, "A", "with --num-beams:"@|
  " divide a text's score by its"@| " length to the power A", "1", 0, false,
  0, 0, G},@|
[OPTION_EARLY_STOPPING] = {"early-stopping", NULL, "true|false|never",
  "with --num-beams: stop as soon"@| " as B texts have ended; when no beam"@|
  " is better; when none can be", "false", 0, false, 0, 0, G}

@ A text may end at a string that somebody names, or when it goes round in a circle; and not before so many tokens (chapter 8).

@<Options that say when to stop@>=
[OPTION_STOP] = {"stop", NULL, "STRING", "end before this string, with"@|
  " \\n, \\t, \\\\ and \\xNN in it"@| " (repeatable)", NULL, 0, false, 0, 0,
  G | R | C},@|
[OPTION_NO_ESCAPE] = {"no-escape", NULL, NULL, "a backslash in --stop is a"@|
  " backslash", NULL, 0, false, 0, 0, G | R | C},@|
[OPTION_INCLUDE_STOP] = {"include-stop", NULL, NULL, "end behind the stop"@|
  " string", NULL, 0, false, 0, 0, G | C},@|
[OPTION_MIN_TOKENS] = {"min-tokens", NULL, "N", "end tokens and stop"@|
  " strings count from token N + 1"@| " on", "0", 0, true, 0, INT64_MAX,
  G | R | C},@|
[OPTION_STOP_ON_REPETITION] = {"stop-on-repetition", NULL, "N", "end when"@|
  " the same N tokens stand three"@| " times in a row; 0: never", "0", 0,
  true, 0, INT64_MAX, G | R | C}

@ A pattern or a grammar for the whole answer: what it does not allow is not written. \Cref{constraints} has the languages of both.

@<Options about what must match@>=
[OPTION_REGEX] = {"regex", NULL, "R", "write what the regular expression R"@|
  " matches as a whole", NULL, 0, false, 0, 0, G | R},@|
[OPTION_GRAMMAR] = {"grammar", NULL, "FILE", "write what the grammar of a"@|
  " file makes (GBNF)", NULL, 0, false, 0, 0, G | R},@|
[OPTION_JSON_OBJECT] = {"json-object", NULL, NULL, "write one object of"@|
  " JSON", NULL, 0, false, 0, 0, G | R}

@ The penalties look at the text so far; a bias is for a token wherever it comes.

@<Options against repetition, and biases@>=
[OPTION_REPETITION_PENALTY] = {"repetition-penalty", "repeat-penalty",
  "R", "divide the scores of what the"@| " text has by R, or multiply",
  "the model's, or 1", 0, false, 0, 0, G | R | C},@|
[OPTION_FREQUENCY_PENALTY] = {"frequency-penalty", NULL, "A", "subtract A"@|
  " for each time a token was"@| " written", "0", 0, false, 0, 0, G | R | C},@|
[OPTION_PRESENCE_PENALTY] = {"presence-penalty", NULL, "A", "subtract A if"@|
  " a token was written", "0", 0, false, 0, 0, G | R | C},@|
[OPTION_PENALTY_LAST_N] = {"penalty-last-n", "repeat-last-n", "N",
  "penalties look at the last N"@| " tokens; -1: all", "-1", 0, false, 0, 0,
  G | R | C},@|
[OPTION_NO_REPEAT_NGRAM] = {"no-repeat-ngram-size", NULL, "N", "no N"@|
  " tokens in a row come twice;"@| " 0: off", "the model's, or 0", 0, true,
  0, INT64_MAX, G | R | C},@|
[OPTION_LOGIT_BIAS] = {"logit-bias", NULL, "ID=B", "add B to the score of"@|
  " a token; -inf: never write"@| " it (repeatable)", NULL, 0, false, 0, 0,
  G | R | C}

@ Then what to show of it: to people, in words, or to programs, as objects. The bound on \texttt{K} bounds a list that is kept
for every token until the end.

@<Options that say what to show of it@>=
[OPTION_ECHO] = {"echo", NULL, NULL, "print the prompt first", NULL, 0,
  false, 0, 0, G},@|
[OPTION_LOGPROBS] = {"logprobs", NULL, "K", "with --json or --jsonl: the"@|
  " log-probability and rank of"@| " each token, and the K likeliest",
  "off", 0, true, 0, 1000, G},@|
[OPTION_STATS] = {"stats", NULL, NULL, "counters, times, rates and"@|
  " memory, on standard error", NULL, 0, false, 0, 0, G | C},@|
[OPTION_JSON] = {"json", NULL, NULL, "print one JSON object", NULL, 0,
  false, 0, 0, G | T | R | I | B | X | M},@|
[OPTION_JSONL] = {"jsonl", NULL, NULL, "one JSON object a token as it"@|
  " comes, then that of --json", NULL, 0, false, 0, 0, G}

@ To learn a vocabulary is a task of |tokenize|, and has three options of its own. The least number of ids is that of no
merges at all, and the greatest is the one up to which \cref{tokenizer} reads a file, \val{vocab.max_id}: to
learn what nobody could load would be a waste.

@<Options of |tokenize|@>=
[OPTION_IDS] = {"ids", NULL, "1,2,3", "ids to text", NULL, 0, false, 0, 0,
  T},@|
[OPTION_COUNT] = {"count", NULL, NULL, "print the number of tokens only",
  NULL, 0, false, 0, 0, T},@|
[OPTION_TRAIN] = {"train", NULL, "FILE", "learn a byte-level BPE from a"@|
  " file", NULL, 0, false, 0, 0, T},@|
[OPTION_VOCAB_SIZE] = {"vocab-size", NULL, "N", "with --train: how many"@|
  " ids, the end of text and the"@| " 256 bytes included; beside --shape:"@|
  " another vocabulary", NULL, 0, true, 257, 4194304, T | M},@|
[OPTION_OUT] = {"out", NULL, "DIR", "with --train: where to write"@|
  " tokenizer.json", NULL, 0, false, 0, 0, T}

@ What measures has its own letters: those of \emph{llama-bench}, as far as they mean the same. \texttt{-p} and \texttt{-n} are other options to |generate|; a letter belongs to a subcommand.

@<Options of what measures@>=
[OPTION_N_PROMPT] = {"n-prompt", NULL, "N", "read N tokens at once; 0:"@|
  " leave that out", "512, or what fits", 'p', true, 0, INT32_MAX, B},@|
[OPTION_N_GEN] = {"n-gen", NULL, "N", "write N tokens; 0: leave that out",
  "128, or what fits", 'n', true, 0, INT32_MAX, B},@|
[OPTION_N_DEPTH] = {"n-depth", NULL, "N", "behind N tokens that are"@|
  " stored already", "0", 'd', true, 0, INT32_MAX, B},@|
[OPTION_REPETITIONS] = {"repetitions", NULL, "N", "so many times", "5",
  'r', true, 1, 1000, B},@|
[OPTION_OUTPUT] = {"output", NULL, "table|csv|json", "in which form",
  "table", 'o', false, 0, 0, B},@|
[OPTION_CONTEXT] = {"context", "ctx-size", "N", "windows, or texts, of N"@|
  " tokens", "the model's context", 'c', true, 1, INT64_MAX, X | M},@|
[OPTION_STRIDE] = {"stride", NULL, "N", "a window every N tokens",
  "the context", 0, true, 1, INT64_MAX, X}

@ What is reckoned and not measured can be of models that nobody has on disk: by name, or by numbers. Their limits are such that the weights, in any combination, have fewer bytes than $2^{62}$.

@<Options of |memory|@>=
[OPTION_SHAPE] = {"shape", NULL, "NAME", "a model that everybody names, or"@|
  " list", NULL, 0, false, 0, 0, M},@|
[OPTION_LAYERS] = {"layers", NULL, "N", "so many layers", "the shape's", 0,
  true, 1, 16384, M},@|
[OPTION_HEADS] = {"heads", NULL, "N", "so many heads of queries",
  "the shape's", 0, true, 1, 4096, M},@|
[OPTION_KV_HEADS] = {"kv-heads", NULL, "N", "so many of keys and values",
  "the shape's; without a shape as many as --heads", 0, true, 1, 4096, M},@|
[OPTION_HEAD_DIM] = {"head-dim", NULL, "N", "numbers of a head",
  "the shape's", 0, true, 1, 4096, M},@|
[OPTION_D_MODEL] = {"d-model", NULL, "N", "beside --shape: numbers of a row",
  "the shape's", 0, true, 1, 262144, M},@|
[OPTION_D_INNER] = {"d-inner", NULL, "N", "beside --shape: numbers inside"@|
  " the MLP", "the shape's", 0, true, 1, 1048576, M},@|
[OPTION_BATCH] = {"batch", NULL, "N", "so many texts", "1", 0, true, 1,
  UINT32_MAX, M},@|
[OPTION_BUDGET] = {"budget", NULL, "SIZE", "what there is, as 24GB or"@|
  " 22.5GiB", NULL, 0, false, 0, 0, M}

@ A talk has a beginning that nobody says aloud, and marks between the turns. (What they are, \cref{templates} tells.)

@<Options of |chat|@>=
[OPTION_SYSTEM] = {"system", NULL, "S", "tell the model first how to"@|
  " behave", "what the template says", 0, false, 0, 0, C},@|
[OPTION_TEMPLATE] = {"template", NULL, "T", "set turns as this template"@|
  " does: chatml, llama3, ...", "the model's", 0, false, 0, 0, C}

@ And the rest, each of which belongs to a single subcommand, but for the plea for help. That one is in all of them, and wins
over everything that stands behind it: who asks for help in the middle of a line is not told what is wrong with its end.

@<Options of the other subcommands@>=
[OPTION_TOP] = {"top", NULL, "K", "show the K likeliest candidates", "5",
  0, true, 1, 100, R},@|
[OPTION_ATTENTION] = {"attention", NULL, "LAYER.HEAD", "show what the"@|
  " last row looks at, layers and"@| " heads counted from 0", NULL, 0,
  false, 0, 0, R},@|
[OPTION_VOCAB] = {"vocab", NULL, "PATH", "a tokenizer.json, or a"@|
  " directory with a tokenizer", "the model's", 0, false, 0, 0, P},@|
[OPTION_MAN] = {"man", NULL, NULL, "print the manual page", NULL, 0,
  false, 0, 0, H},@|
[OPTION_COMPLETION] = {"completion", NULL, NULL, "print the shell's"@|
  " completion", NULL, 0, false, 0, 0, H},@|
[OPTION_HELP] = {"help", NULL, NULL, "say what the options are", NULL,
  'h', false, 0, 0, G | T | R | I | P | B | X | M | H | C}

@ This book is built chapter by chapter, and the command with it. Somebody who has read about
\texttt{--stop} elsewhere should not be told that there is no such thing. It is wrong usage
today, but the sentence names the chapter that brings it. The same goes for whole subcommands.
@^later chapters@>

@<What later chapters bring@>=
struct later_row { const char *name, *also; char letter;
  unsigned where, chapter; };
static const struct later_row later_option[] = @[{@|

  {"activations", NULL, 0, G | R | P, 10},@|
  {"device", NULL, 0, G | R, 14}
}@];
enum { N_LATER = sizeof later_option / sizeof *later_option };
static const struct later_row later_subcommand[] = @[{@|
  {"quantize", NULL, 0, 0, 10}, {"verify", NULL, 0, 0, 16}
}@];
enum { N_LATER_SUBS = sizeof later_subcommand
  / sizeof *later_subcommand };

@* Reading a command line. \label{sec:parsing}
The rules are those of the field. A word that begins with two dashes is an option, its value is
the next word or stands behind an equals sign; one dash and a letter is a short
option, its value is the next word or the rest of this one; two dashes alone end the
options; one dash alone is an operand, and means the standard input. So \texttt{-n 3}, \texttt{-n3},
\texttt{--max-new-tokens 3} and \texttt{--max-new-tokens=3} are one wish in four spellings, and
\texttt{generate -- --help} continues the text \texttt{--help}. The last of two equal
options counts, so that one can be added behind a long line.

@<Read a command line@>=
bool options_parse(struct wishes *w, int argc, char **argv,
  struct error *why)
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
    else if (operands++ < subcommand_table[w->sub].most)
      w->operand = word;
    else return error_say(why, "`%s' is one word too many"@|
      " (incipit %s --help)", word, subcommand_table[w->sub].name);
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

@ The first word is a subcommand. Two old habits are granted: \texttt{--help} there, or \texttt{-h}, means
the subcommand \texttt{help}. A name that only a later chapter knows is told so; a name that nobody knows
is answered with the nearest one, which may be far. The list from which it is taken is made on the way: it has the names that are shown.

@<Find the subcommand@>=
static bool find_subcommand(const char *word, enum subcommand *sub,
  struct error *why)
{
  const char *list[N_SUBCOMMANDS];
  size_t n = 0;
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
    word = "help";
  for (int i = 0; i < N_SUBCOMMANDS; i++) {
    *sub = (enum subcommand) i;
    if (strcmp(word, subcommand_table[i].name) == 0) return true;
    if (!subcommand_table[i].hidden)
      list[n++] = subcommand_table[i].name;
  }
  for (int i = 0; i < N_LATER_SUBS; i++)
    if (strcmp(word, later_subcommand[i].name) == 0)
      return error_say(why, "%s comes with chapter %u;"@|
        " this program ends with"@| " chapter 9", word,
        later_subcommand[i].chapter);
  return error_say(why, "there is no subcommand"@|
    " `%s'; the nearest is %s", word, nearest_of(word, list, n));
}

@ An option is looked up by what was typed. A short one is a dash and a letter; of a long
one the name ends at the equals sign, if there is one. What stands behind is its value. A name that is longer
than the room for it may be cut, since no option of ours is so long: what is left of it is unknown, too, and fits into the
sentence that says so.

@<Take one option, with its value@>=
static bool take_option(struct wishes *w, int argc, char **argv,
  int *i, struct error *why)
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
    snprintf(name, sizeof name, "%.*s", (int) (n < 63 ? n : 63),
      word + 2);
  }
  int found = find_option(w->sub, name, letter);
  if (found < 0) return no_such_option(w->sub, name, letter, why);
  @<See to the value of option |found|@>@;
}

@ Three things may be wrong with a value: it is there and should not be, it is not there and should be, or it is no
number within its limits. If it does not stand behind an equals sign, it is the next word, even if that
begins with a dash: \texttt{-n -1} is a mistake about a number.

@<See to the value of option |found|@>=
const struct option_row *o = &option_table[found];
if (o->value == NULL && value != NULL)
  return error_say(why, "--%s takes no value;"@| " found `%s'", o->name,
    value);
if (o->value != NULL && value == NULL) {
  if (*i + 1 >= argc)
    return error_say(why, "--%s needs a value: %s", o->name,
      o->value);
  value = argv[++*i];
}
w->of[found] = (struct option_value) @[{ .given = true, .text = value }@];
if (found == OPTION_LOGIT_BIAS || found == OPTION_STOP) {
  if (w->n_repeated == REPEATED_MOST)
    return error_say(why, "--%s is given more than %d times", o->name,
      REPEATED_MOST);
  w->repeated[w->n_repeated].which = (enum option) found;
  w->repeated[w->n_repeated++].text = value;
}
return o->counts ? count_parse(o, value, &w->of[found].count, why)
  : other_parse((enum option) found, value, &w->of[found], why);

@ An option has up to three names: its own; another, by which other programs call the same thing; and a letter. Either a
letter was typed or a name, never both, and the letter says which it was.

@<Find an option of this subcommand@>=
static bool is_called(const char *name, const char *also, char letter,
  const char *typed, char typed_letter)
{
  if (typed_letter != '\0') return letter == typed_letter;
  return strcmp(typed, name) == 0
    || (also != NULL && strcmp(typed, also) == 0);
}

@ An option of another subcommand is, for this one, none: a line of the table counts only if the subcommand's bit is
set in it. To take what has no effect, without a word, would be the worse courtesy. And
the same name may stand in two lines, for two subcommands that mean different things by it.

@<Find an option of this subcommand@>=
static int find_option(enum subcommand sub, const char *name,
  char letter)
{
  for (int i = 0; i < N_OPTIONS; i++) {
    const struct option_row *o = &option_table[i];
    if ((o->where >> sub & 1) != 0
        && is_called(o->name, o->also, o->letter, name, letter))
      return i;
  }
  return -1;
}

@ What is not found may be something that a later chapter brings; then there was no mistake but to be early.

@<Say that there is no such option, and what is nearest@>=
static bool comes_later(enum subcommand sub, const char *name,
  char letter, struct error *why)
{
  for (int i = 0; i < N_LATER; i++) {
    const struct later_row *l = &later_option[i];
    if ((l->where >> sub & 1) == 0 || !is_called(l->name, l->also,
        l->letter, name, letter)) continue;
    error_say(why, "--%s comes with chapter %u;"@|
      " this program ends with"@| " chapter 9", l->name, l->chapter);
    return true;
  }
  return false;
}

@ Otherwise there has been a slip of the finger, and the nearest name is offered, of those that this subcommand
has now. For a letter nothing is offered: every other letter is one slip away.

@<Say that there is no such option, and what is nearest@>=
static bool no_such_option(enum subcommand sub, const char *name,
  char letter, struct error *why)
{
  const char *list[N_OPTIONS], *asked = subcommand_table[sub].name;
  size_t n = 0;
  if (comes_later(sub, name, letter, why)) return false;
  for (int i = 0; i < N_OPTIONS; i++)
    if ((option_table[i].where >> sub & 1) != 0)
      list[n++] = option_table[i].name;
  if (n == 0) return error_say(why, "%s takes no options", asked);
  if (letter != '\0')
    return error_say(why, "%s has no option -%c"@| " (incipit %s --help)",
      asked, letter, asked);
  return error_say(why, "%s has no option --%s;"@| " the nearest is --%s",
    asked, name, nearest_of(name, list, n));
}

@ Which name is nearest? The one that takes the fewest slips to get from what was typed: a letter
too many, one too few, a wrong one, or two neighbours exchanged, which is what hurried fingers
do most. The table |d| has for every beginning of the one word and every beginning of the other
the number of slips between them; each entry comes from its neighbours above and to the
left.\side{Damerau 1964, Levenshtein 1966. No substring is edited twice here, which is all
that typing needs.} A word too long for the table is no slip of anything, and counts as if every letter of both were one.
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
      unsigned best;
      @<Set |best| to the slips between |i| letters and |j| letters@>@;
      d[i][j] = best;
    }
  return d[n][m];
}

@ The four ways to come into a cell are those of the hand calculation, in its order: from above, where a letter of |a| is
one too many; from the left, where one is missing; from between, where the letters are the same or one is wrong; and by
an exchange. In the first line nothing lies above, and what is left of |j| letters is |j| slips.

@<Set |best| to the slips between |i| letters and |j| letters@>=
best = i == 0 ? j : d[i - 1][j] + 1;
if (j > 0 && d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
if (i > 0 && j > 0) {
  unsigned wrong = a[i - 1] != b[j - 1];
  if (d[i - 1][j - 1] + wrong < best) best = d[i - 1][j - 1] + wrong;
}
if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]
    && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;

@ Of two names that are equally near the one that stands first in the table is offered, so that the
answer does not depend on chance. A word that is near to nothing gets an offer all the same; whoever reads
it sees at least how a name looks.

@<Count the slips between two words@>=
const char *nearest_of(const char *word, const char *const *list,
  size_t n)
{
  const char *nearest = list[0];
  for (size_t i = 1; i < n; i++)
    if (slips(word, list[i]) < slips(word, nearest))
      nearest = list[i];
  return nearest;
}

@ A number is digits and nothing else: no sign, no blank, no point. (The library's |strtoull| would take the first two
and stop at the third, and for $-1$ it gives a very large number.) Whether the next digit still fits is asked before it is added: afterwards would be
too late, since unsigned numbers go round, and then look harmless.

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

@ A real number is digits with a point among them, perhaps a sign before and a power of ten behind. The library's |strtod| reads that, and more: words for what is no number, hexadecimal digits, blanks; so the letters are looked at first. Which settings are real numbers, and between which limits, chapter 7 knows; their names there are spelled with other dashes.

@<Read what is no count@>=
static bool real_digits(const char *text, double *x)
{
  char *end;
  size_t n = strspn(text, "0123456789+-.eE");
  *x = n > 0 && text[n] == '\0' ? strtod(text, &end) : NAN;
  return n > 0 && text[n] == '\0' && *end == '\0';
}

@ The option of a setting is found by comparing names, a dash here for a low line there.

@<Read what is no count@>=
enum option option_of_real(const struct sampling_real *r)
{
  int i = 0;
  for (; i < N_OPTIONS; i++) {
    const char *a = option_table[i].name, *b = r->name;
    while (a != NULL && *a != '\0' && (*a == *b || (*a == '-' && *b == '_')))
      a++, b++;
    if (a != NULL && *a == '\0' && *b == '\0') break;
  }
  return (enum option) i;
}

@ A pair of a bias is an id, an equals sign and a number, which may be |"-inf"|.

@<Read what is no count@>=
bool bias_next(const char **at, struct bias_pair *pair)
{
  size_t n = strcspn(*at, "=,;"), m;
  char room[64];
  if (!digits_parse(*at, n, &pair->id) || (*at)[n] != '=') return false;
  const char *number = *at + n + 1;
  m = strcspn(number, ",;");
  if (m == 0 || m >= sizeof room) return false;
  memcpy(room, number, m);
  room[m] = '\0';
  if (strcmp(room, "-inf") == 0) pair->bias = -INFINITY;
  else if (!real_digits(room, &pair->bias) || pair->bias - pair->bias != 0)
    return false;
  *at = number + m + (number[m] != '\0');
  return true;
}

@ The list of stages is cut at its commas; the names are chapter 7's to judge.

@<Read what is no count@>=
bool samplers_parse(const char *text, struct sampling *s,
  struct error *why)
{
  char room[256];
  const char *name[N_STAGES + 1];
  size_t n = 0;
  if (snprintf(room, sizeof room, "%s", text) >= (int) sizeof room)
    return error_say(why, "--samplers has more names than there are stages");
  for (char *at = room; *at != '\0' && n <= N_STAGES; ) {
    size_t length = strcspn(at, ",;");
    name[n++] = at;
    at += length;
    if (*at != '\0') *at++ = '\0';
  }
  struct error wrong;
  return sampling_stages_parse(s, name, n, &wrong)
    || error_say(why, "--%s", wrong.words);
}

@ These have such values: the reals, of which chapter 7 has a table with the limits of each, and the length penalty of a search; those that may be a word or a number; the biases, and the stages.

@<Read what is no count@>=
static bool other_parse(enum option o, const char *text,
  struct option_value *v, struct error *why)
{
  const struct sampling_real *r;
  struct sampling s;
  for (size_t i = 0; (r = sampling_real_at(i)) != NULL; i++)
    if (option_of_real(r) == o)
      return (real_digits(text, &v->real) && sampling_real_fits(r, v->real))
        || error_say(why, "--%s is `%s'; wanted: %s", option_table[o].name,
          text, r->wanted);
  if (o == OPTION_LENGTH_PENALTY)
    return (real_digits(text, &v->real) && fabs(v->real) <= 1000)
      || error_say(why, "--length-penalty is `%s'; wanted: a number from"@|
        " -1000 to 1000", text);
  @<Read what may be a word@>@;
  @<Read biases or stages, if they are meant@>@;
}

@ Three have words. When a search may stop early is one of three, which are counted from 0 in chapter 9's order; the window of the penalties may be $-1$, which is all of the text; and a seed may be left to chance, which is settled later and then said, so that the run can be had again.

@<Read what may be a word@>=
  if (o == OPTION_EARLY_STOPPING) {
    v->count = strcmp(text, "true") == 0 ? 1 : strcmp(text, "never") == 0
      ? 2 : 0;
    return v->count > 0 || strcmp(text, "false") == 0 || error_say(why,
      "--early-stopping is `%s'; wanted: true, false or never", text);
  }
  if (o == OPTION_PENALTY_LAST_N) {
    v->count = UINT64_MAX;
    return strcmp(text, "-1") == 0 || (digits_parse(text, strlen(text),
        &v->count) && v->count <= INT64_MAX)
      || error_say(why, "--penalty-last-n is `%s'; wanted: -1 for all, or a"@|
        " number of tokens", text);
  }
  if (o == OPTION_SEED) return strcmp(text, "random") == 0
      || (digits_parse(text, strlen(text), &v->count)
        && v->count <= INT64_MAX) || error_say(why, "--seed is `%s'; wanted:"@|
        " an integer from 0 to 9223372036854775807, or random", text);

@ Both may be wrong in the middle, and the sentence shows the whole.

@<Read biases or stages, if they are meant@>=
struct bias_pair pair;
const char *at = text;
if (o == OPTION_SAMPLERS) return samplers_parse(text, &s, why);
if (o != OPTION_LOGIT_BIAS) return true;
while (bias_next(&at, &pair)) ;
return (*at == '\0' && at > text) || error_say(why, "--logit-bias is `%s';"@|
  " wanted: ID=B, as in 5=1.5 or 5=-inf", text);

@ A number counts only within its limits, which stand in the table. What has no upper limit but that of the
integers is told its lower one alone: nobody wants to read the digits of the largest integer in order to learn that there is no
limit.

@<Read a number within its limits@>=
static bool count_parse(const struct option_row *o, const char *text,
  uint64_t *value, struct error *why)
{
  if (digits_parse(text, strlen(text), value) && *value >= o->least
      && *value <= o->most) return true;
  if (o->most == INT64_MAX)
    return error_say(why, "--%s is `%s'; wanted: an"@|
      " integer from %" PRIu64 " on", o->name, text, o->least);
  return error_say(why, "--%s is `%s'; wanted: an"@|
    " integer from %" PRIu64 " to %" PRIu64, o->name, text, o->least,
    o->most);
}

@ A list of ids has commas or semicolons between them; blanks beside them do no harm, and a comma at the end is forgiven:
lists are made by programs, and programs leave commas. Two commas with nothing between them are not, since an id may have been
lost there. A list that is badly written is the user's mistake, memory that is refused is not, so the two must not
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
    if (!ok) error_say(why, "--%s is `%s'; wanted: ids"@|
      " with commas between them,"@| " as in 1,2,3", what, all);
    if (!ok || !ids_push(m, list, (uint32_t) id, why)) {
      ids_free(m, list);
      return ok ? STATUS_FAILED : STATUS_USAGE;
    }
    text += n + strspn(text + n, " ");
    if (*text == ',' || *text == ';')
      text += 1 + strspn(text + 1, " ");
  }
  return STATUS_DONE;
}

@ Some options contradict each other, and some mean nothing without another. Both are short lists.
To guess what somebody meant who wants one JSON object and also one a line is not our
business: a rule by which one of them wins would have to be known to be of use, and would hide the mistake from those who do not
know it.

@<See whether the options agree@>=
static const struct { enum option a, b; } against[] = @[{@|
  {OPTION_PROMPT, OPTION_FILE},@|
  {OPTION_PROMPT, OPTION_PROMPT_IDS},@|
  {OPTION_FILE, OPTION_PROMPT_IDS}, {OPTION_JSON, OPTION_JSONL},@|
  {OPTION_ECHO, OPTION_JSON}, {OPTION_ECHO, OPTION_JSONL},@|
  {OPTION_IDS, OPTION_COUNT}, {OPTION_IDS, OPTION_FILE},@|
  {OPTION_IDS, OPTION_TRAIN}, {OPTION_COUNT, OPTION_TRAIN},@|
  {OPTION_COUNT, OPTION_JSON}, {OPTION_JSON, OPTION_TRAIN},@|
  {OPTION_FILE, OPTION_TRAIN}, {OPTION_MODEL, OPTION_TRAIN},@|
  {OPTION_IDS, OPTION_NO_SPECIAL},@|
  {OPTION_IDS, OPTION_PARSE_SPECIAL},@|
  {OPTION_TRAIN, OPTION_NO_SPECIAL},@|
  {OPTION_TRAIN, OPTION_PARSE_SPECIAL},@|
  {OPTION_PROMPT_IDS, OPTION_PARSE_SPECIAL},@|
  {OPTION_PROMPT_IDS, OPTION_NO_SPECIAL},@|
  {OPTION_REGEX, OPTION_GRAMMAR}, {OPTION_REGEX, OPTION_JSON_OBJECT},@|
  {OPTION_REGEX, OPTION_STOP}, {OPTION_GRAMMAR, OPTION_STOP},@|
  {OPTION_JSON_OBJECT, OPTION_STOP}, {OPTION_REGEX, OPTION_MIN_TOKENS},@|
  {OPTION_GRAMMAR, OPTION_MIN_TOKENS},@|
  {OPTION_JSON_OBJECT, OPTION_MIN_TOKENS},@|
  {OPTION_REGEX, OPTION_STOP_ON_REPETITION},@|
  {OPTION_GRAMMAR, OPTION_STOP_ON_REPETITION},@|
  {OPTION_JSON_OBJECT, OPTION_STOP_ON_REPETITION},@|
  {OPTION_GRAMMAR, OPTION_JSON_OBJECT},@|
  {OPTION_MAN, OPTION_COMPLETION}, {OPTION_JSON, OPTION_OUTPUT},@|
  {OPTION_MODEL, OPTION_SHAPE}, {OPTION_MODEL, OPTION_LAYERS},@|
  {OPTION_MODEL, OPTION_HEADS}, {OPTION_MODEL, OPTION_KV_HEADS},@|
  {OPTION_MODEL, OPTION_HEAD_DIM}, {OPTION_MODEL, OPTION_D_MODEL},@|
  {OPTION_MODEL, OPTION_D_INNER}
}@];

@ An option that needs another may be content with either of two; where there is only one, it stands in both places. In a subcommand that does not have the other, it stands for something else, and needs nothing: \texttt{--vocab-size} is that of a vocabulary to be learnt, or that of a shape.

@<See whether the options agree@>=
static const struct { enum option a, b, either; } needs[] = @[{@|
  {OPTION_LOGPROBS, OPTION_JSON, OPTION_JSONL},@|
  {OPTION_TRAIN, OPTION_VOCAB_SIZE, OPTION_VOCAB_SIZE},@|
  {OPTION_TRAIN, OPTION_OUT, OPTION_OUT},@|
  {OPTION_VOCAB_SIZE, OPTION_TRAIN, OPTION_TRAIN},@|
  {OPTION_OUT, OPTION_TRAIN, OPTION_TRAIN},@|
  {OPTION_SINKS, OPTION_WINDOW, OPTION_WINDOW},@|
  {OPTION_LENGTH_PENALTY, OPTION_NUM_BEAMS, OPTION_NUM_BEAMS},@|
  {OPTION_EARLY_STOPPING, OPTION_NUM_BEAMS, OPTION_NUM_BEAMS},@|
  {OPTION_NO_ESCAPE, OPTION_STOP, OPTION_STOP},@|
  {OPTION_INCLUDE_STOP, OPTION_STOP, OPTION_STOP},@|
  {OPTION_D_MODEL, OPTION_SHAPE, OPTION_SHAPE},@|
  {OPTION_D_INNER, OPTION_SHAPE, OPTION_SHAPE},@|
  {OPTION_VOCAB_SIZE, OPTION_SHAPE, OPTION_SHAPE}
}@];

@ A search with more than one beam draws nothing, so it has no use for what loads the dice; it sees texts whole and not token by token; and it cannot give more texts than it has beams.

@<See whether the options agree@>=
static bool beams_agree(const struct wishes *w, struct error *why)
{
  static const enum option without[] = @[{@|
    OPTION_TEMPERATURE, OPTION_TOP_K, OPTION_TOP_P, OPTION_MIN_P,@|
    OPTION_TYPICAL_P, OPTION_SAMPLERS, OPTION_SEED,@|
    OPTION_FREQUENCY_PENALTY, OPTION_PRESENCE_PENALTY,@|
    OPTION_PENALTY_LAST_N, OPTION_LOGIT_BIAS, OPTION_REGEX,@|
    OPTION_GRAMMAR, OPTION_JSON_OBJECT, OPTION_LOGPROBS, OPTION_JSONL,@|
    OPTION_NO_CACHE, OPTION_STOP, OPTION_STOP_ON_REPETITION }@];
  uint64_t beams = w->of[OPTION_NUM_BEAMS].count;
  if (!w->of[OPTION_NUM_BEAMS].given || beams == 1) return true;
  for (size_t i = 0; i < sizeof without / sizeof *without; i++)
    if (w->of[without[i]].given) return error_say(why, "--%s contradicts"@|
        " --num-beams %" PRIu64, option_table[without[i]].name, beams);
  return w->of[OPTION_NUM_SEQUENCES].count <= beams || error_say(why,
    "--num-sequences is %" PRIu64 "; wanted: 1 to %" PRIu64@|
    ", the number of beams", w->of[OPTION_NUM_SEQUENCES].count, beams);
}

@ Stop strings are looked through when the whole line is known, since an option that stands behind them may take their backslashes for what they are.

@<See whether the options agree@>=
static bool stops_agree(const struct wishes *w, struct error *why)
{
  struct memory m = @[{ .refuse_at = 0 }@];
  bool ok = true;
  for (size_t i = 0; ok && i < w->n_repeated; i++) {
    struct bytes text = @[{ NULL, 0, 0 }@];
    struct error wrong;
    const char *typed = w->repeated[i].text;
    if (w->repeated[i].which != OPTION_STOP) continue;
    if (*typed == '\0') ok = error_say(why, "--stop is empty; wanted: a"@|
        " string");
    else if (!w->of[OPTION_NO_ESCAPE].given
        && !stop_unescape(&m, typed, &text, &wrong))
      ok = error_say(why, "--%s", wrong.words);
    bytes_free(&m, &text);
  }
  return ok;
}

@ Some values are wrong beside others, or are names that somebody has to know: sinks without a window, a template that there isn't, a format that the store doesn't have. To refuse them now costs a comparison; to refuse them later would cost the reading of a model.

@<See whether the options agree@>=
static bool values_agree(const struct wishes *w, struct error *why)
{
  if (w->of[OPTION_SINKS].count > 0 && w->of[OPTION_WINDOW].count == 0)
    return error_say(why, "--sinks contradicts --window 0, which is no window");
  if (w->of[OPTION_TEMPLATE].given
    && chat_template_named(w->of[OPTION_TEMPLATE].text, why) == NULL)
    return false;
  const struct option_value *kept = &w->of[OPTION_KV_TYPE];
  return !kept->given || format_find(kept->text, NULL) != NULL
    || error_say(why, "--kv-type `%s'; wanted: f32, f16, bf16, q8_0 or q4_0",
      kept->text);
}

@ An operand is a text or a prompt as well, so it counts as one more option that brings one. The sentence names both
sides of a contradiction, since the one who made it thinks of one side only; and it does not say which of them
would have won, for none does.

@<See whether the options agree@>=
static bool options_agree(const struct wishes *w, struct error *why)
{
  static const enum option text[] = @[{ OPTION_PROMPT, OPTION_FILE,
    OPTION_PROMPT_IDS, OPTION_IDS, OPTION_TRAIN, OPTION_MAN,
    OPTION_COMPLETION }@];
  for (size_t i = 0; i < sizeof against / sizeof *against; i++)
    if (w->of[against[i].a].given && w->of[against[i].b].given)
      return error_say(why, "--%s contradicts --%s",
        option_table[against[i].a].name, option_table[against[i].b].name);
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
    if (w->of[needs[i].a].given && !w->of[needs[i].b].given
        && !w->of[needs[i].either].given
        && (option_table[needs[i].b].where >> w->sub & 1) != 0)
      return error_say(why, "--%s needs --%s",
        option_table[needs[i].a].name, option_table[needs[i].b].name);
  for (size_t i = 0; i < sizeof text / sizeof *text; i++)
    if (w->operand != NULL && w->of[text[i]].given)
      return error_say(why, "--%s contradicts `%s'",
        option_table[text[i]].name, w->operand);
  return beams_agree(w, why) && stops_agree(w, why) && values_agree(w, why);
}

@ The header of the module: what can be asked for, and what has been. It needs chapter 1 for the lists of ids, and chapter 7 for the settings of a sampler.

@(options.h@>=
#ifndef INCIPIT_OPTIONS_H
#define INCIPIT_OPTIONS_H
#include "tokens/bpe.h"
#include "sampling/sampling.h"
#include "command/console.h"
@<What can be asked for@>@;
@<What has been asked for@>@;
#endif

@ The tables come first, and the two functions that show a line of them to the writer of the help. Nobody else can see the tables: the rest of the command sees only the wishes.

@(options.c@>=
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "accounts/formats.h"
#include "stopping/stops.h"
#include "command/options.h"
#include "templates/conversations.h"
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
@<Read what is no count@>@;
@<Find the subcommand@>@;
@<Find an option of this subcommand@>@;
@<Say that there is no such option, and what is nearest@>@;
@<Take one option, with its value@>@;
@<See whether the options agree@>@;
@<Read a command line@>@;

@* Help, four times. \label{sec:help}
The same lines of the table are printed in four ways: as a screen of help, as the list of
subcommands, as a manual page, and as a program for the shell. None of the four knows an option by
name, so an option that is added to the table is in all of them: \cref{fig:fourforms}.
@^help@>@^manual page@>@^completion@>

\fig{fourforms}{fig:fourforms}{One line of the table, and what is made of it. A name that is spelled once cannot be
spelled in two ways.}{A diagram. On the left a box with one line of the option table: its name top, its value K, the
limits 1 and 100, its words, and the subcommand trace. Arrows go from it to four boxes on the right: an error message with
the limits, a line of help, a line of the manual page, and a list of words for the shell.}

@<The table, in four forms@>=
void help_greet(FILE *out);
  /* what somebody sees who has typed the name alone */
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
  fprintf(out, "Incipit writes what follows, one token"@|
    " at a time. Three to try:\n\n");
  for (int i = 0; i < 3; i++)
    fprintf(out, "  %s\n      %s\n", subcommand_at(three[i])->example,
      subcommand_at(three[i])->words);
  fprintf(out, "\nincipit --help lists the rest.\n");
}

@ Who asks for more gets the list of subcommands, each with the words of its line in the table, and is told how
to ask on.

@<Greet@>=
void help_overview(FILE *out)
{
  fprintf(out, "usage: incipit SUBCOMMAND ...\n\n");
  for (int i = 0; i < N_SUBCOMMANDS; i++)
    if (!subcommand_at((enum subcommand) i)->hidden)
      fprintf(out, "  %-12s %s\n",
        subcommand_at((enum subcommand) i)->name,
        subcommand_at((enum subcommand) i)->words);
  fprintf(out, "\nincipit SUBCOMMAND --help"@| " lists its options.\n");
}

@ The words of an option stand in a column of their own and are broken between words where the
screen ends. A default follows in brackets, so that nobody has to try what happens without. Where the line stands is kept
outside, in |*at|, so that the brackets go on behind the words.

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
  if (o->letter != '\0')
    n += (size_t) snprintf(room, 80, "-%c, ", o->letter);
  n += (size_t) snprintf(room + n, 80 - n, "--%s", o->name);
  if (o->also != NULL)
    n += (size_t) snprintf(room + n, 80 - n, ", --%s", o->also);
  if (o->value != NULL)
    n += (size_t) snprintf(room + n, 80 - n, " %s", o->value);
  return n;
}

@ On the screen, the names stand at the left and the words in their column, on the same line if there is room and on the next one if not.

@<Put the names of an option together@>=
static void print_option(FILE *out, const struct option_row *o)
{
  char names[80], normal[80];
  size_t at = 2 + option_names(o, names);
  fprintf(out, "  %s", names);
  if (at >= COLUMN) fprintf(out, "\n%*s", COLUMN, "");
  else fprintf(out, "%*s", (int) (COLUMN - at), "");
  at = COLUMN;
  print_words(out, &at, o->words);
  snprintf(normal, sizeof normal, "(default: %s)",
    o->normal ? o->normal : "");
  if (o->normal != NULL) print_words(out, &at, normal);
  fprintf(out, "\n");
}

@ A screen of help ends with an example, since most people read the end first: it is what stands above the prompt when the
list has run through. Brackets around the operand say that it may be left out.

@<Print the help of one subcommand@>=
void help_subcommand(FILE *out, enum subcommand sub)
{
  const struct subcommand_row *s = subcommand_at(sub);
  const char *left = s->least > 0 ? "" : "[";
  const char *right = s->least > 0 ? "" : "]";
  fprintf(out, "usage: incipit %s", s->name);
  if (s->operand != NULL)
    fprintf(out, " %s%s%s", left, s->operand, right);
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
    if (*text == '-' || *text == '\\')
      fputs(*text == '-' ? "\\-" : "\\e", out);
    else putc(*text, out);
}

@ An option in the manual page is a paragraph with a heading of its own, in bold, and what was the bracket with
the default on the screen becomes a sentence.

@<Print a text for troff@>=
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
is the exit status and the environment. It is written when the program is installed, by the program that is
installed, so the page and the program are always of the same age.

@<Print the manual page@>=
void help_manual(FILE *out)
{
  fprintf(out, ".TH INCIPIT 1\n.SH NAME\n"@|
    "incipit \\- write what follows,"@| " one token at a time\n"@|
    ".SH SYNOPSIS\n.B incipit\n"@| "SUBCOMMAND [OPTION]...\n"@|
    ".SH SUBCOMMANDS\n");
  for (int i = 0; i < N_SUBCOMMANDS; i++) {
    const struct subcommand_row *s = subcommand_at((enum subcommand) i);
    if (!s->hidden)
      @<Print the page's section about subcommand |i|@>@;
  }
  @<Print the rest of the manual page@>@;
}

@ What the screen says with indentation, the page says with the commands of its language: \texttt{.SS} begins a section, \texttt{.PP} a
paragraph, and between \texttt{.nf} and \texttt{.fi} the lines stay as they are, as an example must.

@<Print the page's section about subcommand |i|@>=
{
  fprintf(out, ".SS \"incipit ");
  print_troff(out, s->name);
  if (s->operand != NULL)
    fprintf(out, s->least > 0 ? " %s" : " [%s]", s->operand);
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

@ The names of the environment variables are known here and where they are read, and nowhere else. They are few, because an
option can be seen in the line that was typed, and a variable works unseen.

@<Print the rest of the manual page@>=
fprintf(out, ".SH EXIT STATUS\n0 done, 1 failed,"@|
  " 2 wrong usage, 130 cancelled"@| " by Ctrl\\-C.\n.SH ENVIRONMENT\n"@|
  ".TP\n.B INCIPIT_MODEL\n"@|
  "The model to use where"@| " none is given.\n"@|
  ".TP\n.B INCIPIT_ISA\n"@| "The kernels to use:"@|
  " scalar, avx2 or avx512.\n"@| ".TP\n.B OMP_NUM_THREADS\n"@|
  "The number of workers where"@| " none is given.\n");

@ What the shell needs is small: for the first word the subcommands, after it the options of
that subcommand; where nothing fits it completes the names of files by itself. Suppose that somebody has typed
\texttt{incipit trace --at} and presses the tab key. The shell calls our function with the words, and the number of the one
that is being typed, 2. We put the number and the first word together, \texttt{2:trace}; that fits the pattern
\texttt{*:trace} of the case below, the options of |trace| become the list, and one of them begins as was typed.

@<Print the program for the shell@>=
void help_completion(FILE *out)
{
  fprintf(out, "# bash completion for incipit\n"@|
    "_incipit()\n{\n  local words=\n"@|
    "  case $COMP_CWORD:"@| "${COMP_WORDS[1]} in\n"@|
    "    1:*) words=\"");
  for (int i = 0; i < N_SUBCOMMANDS; i++)
    if (!subcommand_at((enum subcommand) i)->hidden)
      fprintf(out, "%s%s", i > 0 ? " " : "",
        subcommand_at((enum subcommand) i)->name);
  fprintf(out, "\" ;;\n");
  @<Print the options of each subcommand, for the shell@>@;
  fprintf(out, "  esac\n  COMPREPLY=($(compgen -W"@| " \"$words\" --"@|
    " \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"@|
    "complete -o default -F"@| " _incipit incipit\n");
}

@ One case for each subcommand. The list is a variable of the shell's with blanks between the words; no word of ours has one.

@<Print the options of each subcommand, for the shell@>=
for (int i = 0; i < SUB_VERSION; i++) {
  fprintf(out, "    *:%s) words=\"",
    subcommand_at((enum subcommand) i)->name);
  for (int k = 0, n = 0; k < N_OPTIONS; k++)
    if ((option_at((enum option) k)->where >> i & 1) != 0)
      fprintf(out, "%s--%s", n++ > 0 ? " " : "",
        option_at((enum option) k)->name);
  fprintf(out, "\" ;;\n");
}

@ The module needs the table, and a stream to print on, be it a terminal, a file, or a test's.

@(help.h@>=
#ifndef INCIPIT_HELP_H
#define INCIPIT_HELP_H
#include <stdio.h>
#include "command/options.h"
@<The table, in four forms@>@;
#endif

@ The smaller printers stand before those that use them.

@(help.c@>=
#include <string.h>
#include "command/help.h"
@;@#
@<Greet@>@;
@<Print words in a column@>@;
@<Put the names of an option together@>@;
@<Print the help of one subcommand@>@;
@<Print a text for troff@>@;
@<Print the manual page@>@;
@<Print the program for the shell@>@;

@* What a subcommand works with. \label{sec:outfit}
Most subcommands need a model, or a tokenizer, or both, with workers, kernels, a store, and somebody
to count. They are opened together and closed together. What is not needed is not opened: to
cut a text into tokens, nobody should need weights.

@<What a subcommand works with@>=
enum { NEED_TOKENIZER = 1, NEED_MODEL = 2, MAY_TOKENIZER = 4 };
  /* what a subcommand asks for: it must have a tokenizer, a model, or takes a tokenizer if there is one */
struct outfit {
  struct memory *m;
  struct counters counters;
  struct pool *crew;
  struct engine e;
  struct model *lm;
  struct store *s;
  struct tokenizer *t;
  uint32_t vocab_size;
    /* the model's if it is known, else the tokenizer's */
  double load_seconds;
  char path[CONSOLE_PATH]; /* of the model */
};
  /* what a subcommand works with; all of it is given back by |outfit_close| */

@ What is needed is said in bits. The third stands between yes and no: |generate| can do without a tokenizer if its prompt comes
in ids, and must not fail for the lack of one.

@<What a subcommand works with@>=
bool outfit_open(struct outfit *o, const struct console *c,
  const struct wishes *w, unsigned needs, struct error *why);
  /* opens what |needs| says: the model of \.{--model} or the built-in
     one, and the tokenizer of \.{--vocab} or the model's, which
     |MAY_TOKENIZER| lets be absent; on failure nothing is held. It
     stays where it is: it points to itself */
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
  static const char *const place[] = @[{@|
    "../share/incipit/models/pocket",@|
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
  return error_say(why, "there is no built-in model"@|
    " at %s; give one with"@| " --model, or name it"@|
    " in INCIPIT_MODEL", path);
}

@ A path longer than the room for it is refused and not cut: a cut path may name something else.

@<Put two parts of a path together@>=
static bool join_path(char path[CONSOLE_PATH], const char *folder,
  const char *name, struct error *why)
{
  int n = snprintf(path, CONSOLE_PATH, "%s%s", folder, name);
  return (n >= 0 && n < CONSOLE_PATH)
    || error_say(why, "%s: the path has %d bytes;"@|
      " wanted: fewer than %d", name, n, (int) CONSOLE_PATH);
}

@ How many workers? As many as were asked for; else as many as other programs are told to use by
|OMP_NUM_THREADS|, if that is a number; else one for each physical core. (A core may pretend to be two, and
the two then share the parts that multiply, which is what we do all the time.) What one worker more or less
does not change is the answer.

@<Count the workers that are wanted@>=
static unsigned workers_wanted(const struct wishes *w)
{
  if (w->of[OPTION_THREADS].given)
    return (unsigned) w->of[OPTION_THREADS].count;
  const char *habit = getenv("OMP_NUM_THREADS");
  long n = habit == NULL ? 0 : strtol(habit, NULL, 10);
  if (n > 0) return n > 1024 ? 1024 : (unsigned) n;
  return pool_cores();
}

@ Which kernels, the inner loops of \cref{kernels}? Those that were asked for by name, or else the best that this machine can run. The
answer does not depend on it, by the second promise of the preface; the time does. An empty variable counts as none, since that is how a shell
takes one away for the length of a line.

@<Count the workers that are wanted@>=
const struct kernels *outfit_kernels(struct error *why)
{
  const char *name = getenv("INCIPIT_ISA");
  bool named = name != NULL && *name != '\0';
  return kernels_find(named ? name : NULL, why);
}

@ Opening goes from the cheap to the dear, so that a mistake is reported before anybody has waited. A misspelled set of
kernels costs nothing to find, a missing directory little, and a tokenizer that does not fit its model is noticed before the
first token. Where only a vocabulary is wanted and one was named, no model is looked for at all; and what needs neither opens nothing but the kernels.

@<Open what is needed@>=
bool outfit_open(struct outfit *o, const struct console *c,
  const struct wishes *w, unsigned needs, struct error *why)
{
  memset(o, 0, sizeof *o);
  o->m = c->memory;
  double began = timing_seconds();
  const char *vocab = w->of[OPTION_VOCAB].given
    ? w->of[OPTION_VOCAB].text : NULL;
  o->e.k = outfit_kernels(why);
  bool ok = o->e.k != NULL && (needs == 0
    || ((needs & NEED_MODEL) == 0 && vocab != NULL
      && !w->of[OPTION_MODEL].given)
    || model_path(o, c, w, why));
  if (ok && (needs & NEED_MODEL) != 0) ok = open_model(o, w, why);
  else if (ok && o->path[0] != '\0') ok = look_at_config(o, why);
  if (ok && (needs & (NEED_TOKENIZER | MAY_TOKENIZER)) != 0)
    ok = open_tokenizer(o, vocab != NULL ? vocab : o->path, needs,
      why);
  if (!ok) outfit_close(o);
  o->load_seconds = timing_seconds() - began;
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

@ The store is chapter 4's cache. Its rows are kept in the format that was wished for, and a window that was wished for replaces the model's, in all layers.

@<Open the store@>=
static struct store *open_store(struct outfit *o, const struct wishes *w,
  struct error *why)
{
  struct model_config *c = &o->lm->config;
  const struct option_value *of = w->of;
  struct cache_wishes how = @[{ .format = format_at(0) }@];
  if (of[OPTION_WINDOW].given && !config_set_window(c,@|
    (uint32_t) of[OPTION_WINDOW].count, (uint32_t) of[OPTION_SINKS].count, why))
    return NULL;
  if (of[OPTION_KV_TYPE].given)
    how.format = format_find(of[OPTION_KV_TYPE].text, why);
  uint32_t texts = of[OPTION_NUM_BEAMS].given
    ? (uint32_t) of[OPTION_NUM_BEAMS].count : 1;
  return how.format == NULL ? NULL : cache_open(o->m, c, texts, &how, why);
}

@ With the model come the store, the crew of workers, and the engine, which ties them to the
kernels and to the counters.

@<Open the model, and what runs it@>=
static bool open_model(struct outfit *o, const struct wishes *w,
  struct error *why)
{
  o->lm = model_open(o->m, o->path, why);
  if (o->lm == NULL) return false;
  o->vocab_size = o->lm->config.vocab_size;
  o->s = open_store(o, w, why);
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
  if (n < 0 || n >= CONSOLE_PATH || access(file, F_OK) != 0)
    return true;
  if (!config_open(&config, o->m, o->path, why)) return false;
  o->vocab_size = config.vocab_size;
  config_close(o->m, &config);
  return true;
}

@ Where a tokenizer may be absent, one of a kind that we do not know counts as absent, too, and the
model serves ids. But one that is there and broken is an error; and so is one that has ids for which
the model has no row: the first text with such a token in it would be refused, with a sentence about an id that nobody has typed. The
opposite is common and harmless, since makers round their tables up.

@<Open the tokenizer@>=
static bool open_tokenizer(struct outfit *o, const char *path,
  unsigned needs, struct error *why)
{
  enum tokenizer_found found = tokenizer_try(o->m, path, &o->t, why);
  if (found != TOKENIZER_OPEN) return (needs & NEED_TOKENIZER) == 0
      && found != TOKENIZER_REFUSED;
  size_t n = tokenizer_vocab_size(o->t);
  if (o->vocab_size == 0) o->vocab_size = (uint32_t) n;
  if (n <= o->vocab_size) return true;
  char has[32], wanted[64];
  snprintf(has, sizeof has, "%zu", n - 1);
  snprintf(wanted, sizeof wanted, "less than %" PRIu32@|
    ", the vocab_size of"@| " config.json", o->vocab_size);
  return error_found(why, path, "the tokenizer's largest id", has,
    wanted);
}

@ Closing goes backwards, and null is nothing, so it also serves when opening has failed.

@<Close what was opened@>=
void outfit_close(struct outfit *o)
{
  tokenizer_close(o->m, o->t);
  pool_close(o->m, o->crew);
  store_close(o->s);
  model_close(o->m, o->lm);
  o->t = NULL, o->crew = NULL, o->s = NULL, o->lm = NULL;
}

@ The header brings the model and the tokenizer with it; a subcommand needs no other.

@(outfit.h@>=
#ifndef INCIPIT_OUTFIT_H
#define INCIPIT_OUTFIT_H
#include "tokenizer/tokenizer.h"
#include "model/forward.h"
#include "accounts/formats.h"
#include "command/console.h"
#include "command/options.h"
@<What a subcommand works with@>@;
#endif

@ In the second, the order is that of use. None of it knows which subcommand is being run, only what it said it needs.

@(outfit.c@>=
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ground/timing.h"
#include "command/outfit.h"
#include "families/loader.h"
@;@#
@<Put two parts of a path together@>@;
@<Find the built-in model@>@;
@<Count the workers that are wanted@>@;
@<Tell where the model is@>@;
@<Open the store@>@;
@<Open the model, and what runs it@>@;
@<Learn the size of the vocabulary from the settings@>@;
@<Open the tokenizer@>@;
@<Open what is needed@>@;
@<Close what was opened@>@;

@* From a command line to ids. \label{sec:prompt}
A prompt can come in six ways: as a word on the line, behind \texttt{--prompt}, in a file, through the
standard input, in ids, or not at all. Both |generate| and |trace| accept all of them, so
they share what follows. An \emph{occasion} is one run of such a subcommand, with everything that
belongs to it.
@^prompt@>

@<One run with a prompt@>=
struct prompt { struct bytes text; struct ids list; bool in_ids; };
  /* the bytes that were given or, if it came |in_ids|, that these
     stand for */
struct occasion {
  const struct console *c;
  const struct wishes *w;
  struct outfit o;
  struct prompt p;
  size_t context, most;
    /* positions we may use; tokens we may write */
  struct error why; /* no words: nothing is to be said */
};
  /* a subcommand at work: streams, command line, outfit, prompt */

@ What a subcommand does with its prompt is a function that it hands in. So opening and closing, and the order in which mistakes
are noticed, are written once, and |generate| and |trace| cannot differ in them.

@<One run with a prompt@>=
int occasion_run(const struct console *c, const struct wishes *w,
  int (*act)(struct occasion *));
  /* reads the prompt, opens the outfit, lets |act| do its work, closes
     all and says what went wrong; returns the exit status */
int occasion_context(struct occasion *a);
  /* sets |a->context| by \.{--ctx-size} and the model, which is open;
     returns an exit status */
bool bytes_read(struct memory *m, FILE *in, struct bytes *text,
  struct error *why);
  /* appends what is left in |in| */
int text_gather(const struct console *c, const struct wishes *w,
  struct bytes *text, struct error *why);
  /* the text of the operand, of \.{--prompt}, of \.{--file} or of the
     standard input; returns an exit status */

@ Text is taken byte for byte, from wherever it comes. If nothing was said about where, and the
standard input is not a keyboard, it comes from there, so that our command can stand at the end of a
pipe. If it is a keyboard, nobody is typing: then the question was wrong. A program that waits for a text without saying so looks
as if it were working; many a user has waited for such a one.

@<Gather the text@>=
int text_gather(const struct console *c, const struct wishes *w,
  struct bytes *text, struct error *why)
{
  const char *given = w->of[OPTION_PROMPT].given
    ? w->of[OPTION_PROMPT].text : w->operand;
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
bool bytes_read(struct memory *m, FILE *in, struct bytes *text,
  struct error *why)
{
  char part[4096];
  size_t n;
  while ((n = fread(part, 1, sizeof part, in)) > 0)
    if (!bytes_push(m, text, part, n, why)) return false;
  return !ferror(in) || error_say(why, "the standard input"@|
    " cannot be read: %s", strerror(errno));
}

@ A file has a size that is known beforehand, and a name that belongs into the sentence if it cannot be
read; both are seen to by chapter 0.

@<Read a stream or a file to its end@>=
static bool file_read(struct memory *m, const char *path,
  struct bytes *text, struct error *why)
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
      error_say(&a->why, "--prompt-ids has id"@| " %" PRIu32@|
        "; wanted: 0 to %" PRIu32, a->p.list.id[i], a->o.vocab_size - 1);
      return STATUS_USAGE;
    }
  return STATUS_DONE;
}

@ Text becomes ids by chapter 1, and ids text, for those who want to see it. A model that has no tokenizer, or none that we
know, can still be given ids; what it cannot be given is a text.

@<Turn the prompt into ids@>=
static bool encode_prompt(struct occasion *a)
{
  const struct option_value *of = a->w->of;
  if (!a->p.in_ids && a->o.t == NULL)
    return error_say(&a->why, "%s: there is no tokenizer"@|
      " that we know; wanted:"@| " a prompt in ids (--prompt-ids)",
      a->o.path);
  bool ok = a->o.t == NULL || (a->p.in_ids
    ? tokenizer_decode(a->o.t, a->o.m, a->p.list.id, a->p.list.n,
      false, &a->p.text, &a->why)
    : tokenizer_encode(a->o.t, a->o.m, (char *) a->p.text.byte,
      a->p.text.n, !of[OPTION_NO_SPECIAL].given,
      of[OPTION_PARSE_SPECIAL].given, &a->p.list, &a->why));
  return ok && (a->p.list.n > 0 || begin_somewhere(a));
}

@ An empty prompt still needs a token to stand on, because the first prediction is read off a row, and a row needs a token. It is
the one that the files name as the beginning of a text, or else the one that ends a text, since what follows an
end is a beginning. A model with neither cannot begin by itself. (Where the tokenizer knows the answer, |first| has it already, and
nothing is left to do.)
@^beginning of text@>

@<Begin with a token that begins a text@>=
static bool begin_somewhere(struct occasion *a)
{
  const struct model_config *config = &a->o.lm->config;
  uint32_t first;
  if (a->o.t != NULL && tokenizer_bos(a->o.t, &first)) ;
  else if (config->has_bos) first = config->bos;
  else if (config->n_eos > 0) first = config->eos[0];
  else return error_say(&a->why, "%s: the prompt is empty,"@|
      " and the model names no"@| " token to begin or end a"@|
      " text with", a->o.path);
  return ids_push(a->o.m, &a->p.list, first, &a->why);
}

@ The context is what the model was made for, or less if somebody wants less. A prompt that does not
fit is refused with both numbers; how much may be written follows from them. Take a context of 8 and a prompt of 5 tokens.
Tokens 6, 7 and 8 are written and read; then the context is full. But the token that the last row predicts is still
good: it needs no row, because nobody will read it. So $8-5+1=4$ are written.

@<Measure the prompt against the context@>=
int occasion_context(struct occasion *a)
{
  const struct option_value *less = &a->w->of[OPTION_CTX_SIZE];
  size_t has = a->o.lm->config.n_positions;
  a->context = less->given ? (size_t) less->count : has;
  if (a->context <= has) return STATUS_DONE;
  error_say(&a->why, "--ctx-size is %zu; wanted:"@|
    " 1 to %zu, the model's context", a->context, has);
  return STATUS_USAGE;
}

@ The context being known, the prompt is laid against it, and what may be written is the rest and one more, or what was asked for.

@<Measure the prompt against the context@>=
static int measure_context(struct occasion *a)
{
  const struct option_value *most = &a->w->of[OPTION_MAX_NEW_TOKENS];
  size_t n = a->p.list.n;
  int status = occasion_context(a);
  if (status != STATUS_DONE) return status;
  if (n > a->context) {
    error_say(&a->why, "the prompt has %zu tokens;"@|
      " the context holds %zu", n, a->context);
    return STATUS_FAILED;
  }
  a->most = a->context - n + 1;
  if (most->given && most->count < a->most)
    a->most = (size_t) most->count;
  return STATUS_DONE;
}

@ An occasion from beginning to end. A status with no words to it is a reader who has closed the
pipe, about which nothing is said. All that was taken on the way is given back at one place, whatever
happened; the sentence is written last, so that it stands below all else.

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
  else status = ids_parse(c->memory, given->text, "prompt-ids",
      &a.p.list, &a.why);
  if (status == STATUS_DONE)
    @<Open, measure, act and close@>@;
  bytes_free(c->memory, &a.p.text);
  ids_free(c->memory, &a.p.list);
  if (status == STATUS_USAGE) return console_misuse(c, &a.why);
  if (status == STATUS_FAILED && a.why.words[0] != '\0')
    console_fail(c, &a.why);
  return status;
}

@ The four steps in between, each only if the one before it has gone well. What a missing tokenizer may have said is forgotten: it was
allowed to be missing, and the sentence would be printed at the end.

@<Open, measure, act and close@>=
{
  if (!outfit_open(&a.o, c, w, NEED_MODEL | MAY_TOKENIZER, &a.why))
    status = STATUS_FAILED;
  else {
    a.why.words[0] = '\0';
    if (a.p.in_ids) status = check_ids(&a);
    if (status == STATUS_DONE && !encode_prompt(&a))
      status = STATUS_FAILED;
    if (status == STATUS_DONE) status = measure_context(&a);
    if (status == STATUS_DONE) status = act(&a);
    outfit_close(&a.o);
  }
}

@ Both subcommands may be asked which tokens were likely. For each token of the vocabulary there is the natural logarithm
of its probability, from \cref{sec:chance}. One walk over the vocabulary finds the
$k$ likeliest, kept in order in a short list, and the rank of the one that was chosen: one more than
the number of those before it. Of equal ones the lower id comes first, as in the choice itself.
@^rank@>

@<The likeliest tokens@>=
struct candidate { uint32_t id; double logprob; uint64_t rank; };
  /* a token, its natural log-probability, and its place, from 1 */
void candidates_find(const double *logprob, size_t n, uint32_t chosen,
  struct candidate *out, size_t k);
  /* |out[0]| is |chosen|, |out[1]|\dots|out[k]| are the likeliest of
     |n| $\ge k$ */

@ The list is kept by insertion: nearly every token fails at the first comparison. So the cost is one comparison a token and,
for the few that pass, a short shift; to sort a whole vocabulary for the sake of five would take longer than the head
needs to compute it.

@<Find the likeliest tokens@>=
void candidates_find(const double *logprob, size_t n, uint32_t chosen,
  struct candidate *out, size_t k)
{
  size_t held = 0;
  out[0] = (struct candidate) @[{ chosen, logprob[chosen], 1 }@];
  for (size_t v = 0; v < n; v++) {
    double x = logprob[v];
    if (x > logprob[chosen] || (x == logprob[chosen] && v < chosen))
      out[0].rank++;
    if (held == k && (k == 0 || !(x > out[held].logprob))) continue;
    size_t at = held < k ? ++held : held;
    for (; at > 1 && x > out[at - 1].logprob; at--)
      out[at] = out[at - 1];
    out[at] = (struct candidate) @[{ (uint32_t) v, x, 0 }@];
  }
  for (size_t i = 1; i <= held; i++) out[i].rank = i;
}

@ For the eyes, a piece of text is shown in quotation marks. Characters stand for themselves; line
ends, tabs, and bytes that are no characters are escaped, so that a piece always is one line. Control characters are escaped even where they are valid: a
vocabulary has tokens for all of them, and some of them would clear the screen. (The second half of the test is about those
that have two bytes, \texttt{c2} and one below \texttt{a0}: they are as old as the others, and terminals obey them, too.)

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
    else if (*byte == '"' || *byte == '\\')
      fprintf(out, "\\%c", *byte);
    else if (state == UTF8_WHOLE && !control) fwrite(byte, 1, k, out);
    else for (size_t i = 0; i < k; i++)
      fprintf(out, "\\x%02x", byte[i]);
    byte += k, n -= k;
  }
  putc('"', out);
}

@ The same form is used wherever a token is shown to people, so it is public: |tokenize|, |trace| and |inspect| quote pieces with it.

@<The likeliest tokens@>=
void piece_quote(FILE *out, const unsigned char *byte, size_t n);
  /* bytes in quotation marks, on one line, escaped where they are no
     text */

@ The header names an occasion, and what may be done with its tokens.

@(prompt.h@>=
#ifndef INCIPIT_PROMPT_H
#define INCIPIT_PROMPT_H
#include "command/outfit.h"
@<One run with a prompt@>@;
@<The likeliest tokens@>@;
#endif

@ The order in the file is that of the way from the line to the ids.

@(prompt.c@>=
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "command/prompt.h"
@;@#
@<Read a stream or a file to its end@>@;
@<Gather the text@>@;
@<Check the ids that were given@>@;
@<Begin with a token that begins a text@>@;
@<Turn the prompt into ids@>@;
@<Measure the prompt against the context@>@;
@<Run an occasion@>@;
@<Find the likeliest tokens@>@;
@<Show a piece of text@>@;

@* When to stop. \label{sec:ending}
Chapter 8 has three things that may end a text besides its end token and its length: a string, a repetition, and a judge of the caller's own; and here the third is a text that must match something, when nothing may follow it. All of them stand in one list, which a subcommand gives to the loop. With the list goes the outflow, through which every byte passes on its way to a reader, so that the string's beginning is not shown before it is known whether the rest will come.
@^stop strings@>

@<What ends a text@>=
struct endings { struct stops until; struct outflow flow; size_t repeat;
  struct criterion list[3]; struct criteria all; };
  /* stop strings, what has been said so far, and the list: a string, so many tokens three times
     in a row, a text that can't go on */
bool endings_open(struct endings *x, struct memory *m,
  const struct tokenizer *t, const struct stop_string *stop, size_t n,@|
  struct bond *b, struct error *why);
  /* the list for |stop[n]|, borrowed like the rest; |t| and |b| may be null; what else the outflow may be
     told, and |repeat|, is zero and may be set; on failure there is nothing to close, but it does no harm. |x| must stay where it is */
void endings_close(struct endings *x);
  /* returns what was taken */
bool endings_begin(struct endings *x, const uint32_t *id, size_t n,
  struct error *why);
  /* a new text behind the prompt |id[n]| */

@ Only the text changes from one to the next; the wishes of the outflow stay.

@<Open, begin and close the endings@>=
bool endings_open(struct endings *x, struct memory *m,
  const struct tokenizer *t, const struct stop_string *stop, size_t n,@|
  struct bond *b, struct error *why)
{
  *x = (struct endings) @[{ .flow = { .m = m, .t = t } }@];
  x->list[0] = (struct criterion) @[{ "string", outflow_judge, &x->flow }@];
  x->list[1] = (struct criterion) @[{ "repetition", repetition_judge,
    &x->repeat }@];
  x->list[2] = (struct criterion) @[{ "match", bond_judge, b }@];
  x->all = (struct criteria) @[{ .list = x->list, .n = b != NULL ? 3 : 2 }@];
  x->flow.until = &x->until;
  return stops_open(&x->until, m, stop, n, why);
}

@ What a text before has left behind is forgotten, and the prompt is taken note of.

@<Open, begin and close the endings@>=
bool endings_begin(struct endings *x, const uint32_t *id, size_t n,
  struct error *why)
{
  struct outflow *o = &x->flow;
  outflow_close(o);
  o->released = o->tokens = 0, o->state = 0, o->begun = false;
  o->found = NULL, x->all.fired = NULL;
  return outflow_prompt(o, id, n, why);
}
void endings_close(struct endings *x)
{
  if (x->flow.m == NULL) return;
  outflow_close(&x->flow);
  stops_close(&x->until);
}

@ The protocol makes such a list, too, and so its header asks for nothing of the command.

@(ending.h@>=
#ifndef INCIPIT_ENDING_H
#define INCIPIT_ENDING_H
#include "sampling/sampling.h"
#include "stopping/stopping.h"
#include "constraints/bond.h"
@<What ends a text@>@;
#endif

@ Its file is as short as it looks.

@(ending.c@>=
#include "command/ending.h"
@;@#
@<Open, begin and close the endings@>@;

@* How to choose. \label{sec:deciding}
Chapter 7's sampler has a dozen settings, and each is an option. Where an option is not given, the model's makers may have said something in \.{generation\_config.json}: if they say that one should sample, their temperature and their cuts are taken; penalties are taken in any case. A temperature that stands beside the word that one should not sample is not taken, nor are its companions; such files are common, since the libraries that write them write all defaults. And if nobody has said anything, the likeliest token is taken.
@^sampling@>

@<What decides@>=
struct decisions { struct sampler d; struct ids id; struct biased *biased;
  size_t room; uint64_t sequences; struct constraint *must;
  struct bond bond; struct lexicon *words; struct bytes said; struct stop_string *stop;
  size_t n_stop; struct endings ends; };
  /* a sampler, the lists that its settings point into, how many texts are wanted, what they
     must match, or null, how far a text has come in it, and the tokens in order for it; the stop strings, one behind the other in |said|; and what ends a text. It must
     stay where it is */
void decisions_apply(struct decisions *x, const struct occasion *a,
  struct settings *want);
  /* tells the loop who chooses and who judges */
int decisions_open(struct decisions *x, const struct occasion *a,
  struct error *why);
  /* the settings of the line and of the model; returns an exit status:
     |STATUS_USAGE| for an id that the model has not, |STATUS_FAILED| for
     memory; |x| is to be closed in any case */
void decisions_close(struct memory *m, struct decisions *x);
  /* returns what was taken */
bool decisions_greedy(const struct decisions *x);
  /* is the likeliest token taken, whatever the seed? */
const char *decisions_reason(const struct decisions *x);
  /* why the last token was chosen: \.{greedy}, \.{sampled}, or \.{forced},
     which is to say that no other was left */

@ First what the makers say.

@<Take the makers' settings@>=
static void take_config(struct sampling *s,
  const struct sampling_config *makers)
{
  *s = sampling_normal;
  s->temperature = 0;
  s->repetition_penalty = makers->repetition_penalty;
  s->no_repeat_ngram = makers->no_repeat_ngram_size;
  if (!makers->do_sample) return;
  s->temperature = makers->temperature, s->top_k = makers->top_k;
  s->top_p = makers->top_p, s->min_p = makers->min_p;
  s->typical_p = makers->typical_p;
}

@ Then what the line says. The reals go to their places by chapter 7's table; their values were read when the line was read, and lie within their ranges.

@<Take the line's settings@>=
static bool take_line(struct sampling *s, const struct wishes *w,
  struct error *why)
{
  const struct option_value *of = w->of;
  const struct sampling_real *r;
  for (size_t i = 0; (r = sampling_real_at(i)) != NULL; i++) {
    enum option o = option_of_real(r);
    if (of[o].given) memcpy((char *) s + r->at, &of[o].real, sizeof(double));
  }
  if (of[OPTION_TOP_K].given) s->top_k = (size_t) of[OPTION_TOP_K].count;
  if (of[OPTION_NO_REPEAT_NGRAM].given)
    s->no_repeat_ngram = (size_t) of[OPTION_NO_REPEAT_NGRAM].count;
  if (of[OPTION_PENALTY_LAST_N].given)
    s->penalty_last_n = (int64_t) of[OPTION_PENALTY_LAST_N].count;
  return !of[OPTION_SAMPLERS].given
    || samplers_parse(of[OPTION_SAMPLERS].text, s, why);
}

@ Biases come as pairs of an id and a number, several in one option or the option several times. Only here is it known which ids there are.

@<Take the biases@>=
static int take_biases(struct decisions *x, const struct occasion *a,
  struct error *why)
{
  const struct wishes *w = a->w;
  size_t n = 0;
  for (size_t i = 0; i < w->n_repeated; i++) {
    if (w->repeated[i].which != OPTION_LOGIT_BIAS) continue;
    const char *at = w->repeated[i].text;
    struct bias_pair pair;
    while (bias_next(&at, &pair)) {
      if (pair.id >= a->o.vocab_size) {
        error_say(why, "--logit-bias has id %" PRIu64 "; wanted: 0 to %"@|
          PRIu32, pair.id, a->o.vocab_size - 1);
        return STATUS_USAGE;
      }
      @<Add the pair to the lists@>@;
    }
  }
  @<Let the sampler know its biases@>@;
  return STATUS_DONE;
}

@ Both lists grow, so no pointer between them is set before they are complete.

@<Add the pair to the lists@>=
if (n == x->room) {
  void *more = memory_grow(a->o.m, FOR_OTHER, x->biased, x->room,
    2 * x->room + 8, sizeof *x->biased, why);
  if (more == NULL) return STATUS_FAILED;
  x->biased = more, x->room = 2 * x->room + 8;
}
if (!ids_push(a->o.m, &x->id, (uint32_t) pair.id, why))
  return STATUS_FAILED;
x->biased[n++] = (struct biased) @[{ NULL, 1, pair.bias }@];

@ And then they are.

@<Let the sampler know its biases@>=
for (size_t i = 0; i < n; i++) x->biased[i].id = &x->id.id[i];
x->d.s.logit_bias = x->biased, x->d.s.n_logit_bias = n;

@ The seed is a number, or a wish for one that nobody knows: then it is drawn from the system's own source of chance, and said on the standard error, because a text that somebody likes must be possible to have again.

@<Settle the seed@>=
static bool settle_seed(struct decisions *x, const struct occasion *a,
  struct error *why)
{
  const struct option_value *seed = &a->w->of[OPTION_SEED];
  x->d.seed = seed->count;
  if (!seed->given || strcmp(seed->text, "random") != 0) return true;
  FILE *chance = fopen("/dev/urandom", "rb");
  size_t n = chance == NULL ? 0 : fread(&x->d.seed, sizeof x->d.seed, 1,
    chance);
  if (chance != NULL) fclose(chance);
  if (n != 1) return error_say(why, "--seed random: /dev/urandom cannot be"@|
      " read: %s", strerror(errno));
  x->d.seed >>= 1;
  fprintf(a->c->err, "incipit: --seed %" PRIu64 "\n", x->d.seed);
  return true;
}

@ If the text must match something, that is read first: a pattern is a part of the line, and a mistake in it is wrong usage; a grammar is a file.

@<Read what must match@>=
static int read_constraint(struct decisions *x, const struct occasion *a,
  struct error *why)
{
  const struct option_value *of = a->w->of;
  struct memory *m = a->o.m;
  struct mapping map;
  if (of[OPTION_REGEX].given) {
    const char *text = of[OPTION_REGEX].text;
    x->must = constraint_regex(m, text, strlen(text), why);
    return x->must != NULL ? STATUS_DONE : STATUS_USAGE;
  }
  if (of[OPTION_JSON_OBJECT].given) x->must = constraint_grammar(m,
      "--json-object", constraint_json, strlen(constraint_json), why);
  else if (file_map(&map, of[OPTION_GRAMMAR].text, why)) {
    x->must = constraint_grammar(m, of[OPTION_GRAMMAR].text,
      (const char *) map.bytes, map.size, why);
    file_unmap(&map);
  }
  return x->must != NULL ? STATUS_DONE : STATUS_FAILED;
}

@ The machine walks by the bytes of the tokens, as the decoder makes them in the middle of a text. Special tokens have no text there, and are none of its business. All bytes are gathered in one block, which moves as it grows, so pieces are lengths first and pointers afterwards.

@<Gather the pieces of all tokens@>=
static bool gather_pieces(const struct occasion *a, struct piece *spelt,
  struct bytes *all, struct error *why)
{
  size_t n = a->o.lm->config.vocab_size, at = 0;
  for (size_t i = 0; i < n; i++) {
    bool begun = true;
    size_t before = all->n;
    if (!tokenizer_decode_next(a->o.t, a->o.m, (uint32_t) i, true, &begun,
        all, why)) return false;
    spelt[i].n = all->n - before;
  }
  for (size_t i = 0; i < n; at += spelt[i++].n)
    spelt[i].byte = spelt[i].n > 0 ? all->byte + at : NULL;
  return true;
}

@ The first token of a text may lose a blank at its front: that depends on the decoder, and on whether the prompt has any text. So one token with a blank is decoded at the beginning of a text, and counted.

@<Tell whether a first blank is lost@>=
static bool loses_blank(const struct occasion *a, const struct piece *spelt,
  bool *strips, struct error *why)
{
  struct bytes text = @[{ NULL, 0, 0 }@];
  bool ok = true, begun = false;
  const struct ids *p = &a->p.list;
  size_t n = a->o.lm->config.vocab_size, i = 0;
  for (size_t k = 0; ok && k < p->n; k++)
    ok = tokenizer_decode_next(a->o.t, a->o.m, p->id[k], true, &begun,
      &text, why);
  size_t before = text.n;
  while (i < n && (spelt[i].n < 2 || spelt[i].byte[0] != ' ')) i++;
  if (ok && i < n) ok = tokenizer_decode_next(a->o.t, a->o.m, (uint32_t) i,
      true, &begun, &text, why);
  *strips = ok && i < n && text.n - before < spelt[i].n;
  bytes_free(a->o.m, &text);
  return ok;
}

@ Then the tokens are put in order for the machine, and the text is bound. A limit that is too small is the line's mistake if the line has set it.

@<Bind the text to what it must match@>=
static int bind_text(struct decisions *x, const struct occasion *a,
  struct error *why)
{
  size_t n = a->o.lm->config.vocab_size;
  struct bytes all = @[{ NULL, 0, 0 }@];
  bool strips, ends = !a->w->of[OPTION_IGNORE_EOS].given;
  if (a->o.t == NULL) {
    error_say(why, "%s: there is no tokenizer that we know; wanted: one, for"@|
      " what must match is a text", a->o.path);
    return STATUS_FAILED;
  }
  int status = read_constraint(x, a, why);
  if (status != STATUS_DONE) return status;
  struct piece *spelt = memory_take(a->o.m, FOR_OTHER, n, sizeof *spelt,
    why);
  bool ok = spelt != NULL && gather_pieces(a, spelt, &all, why)
    && loses_blank(a, spelt, &strips, why)
    && (x->words = lexicon_open(a->o.m, spelt, NULL, n, why)) != NULL
    && constraint_bind(x->must, x->words, strips, why);
  bytes_free(a->o.m, &all);
  memory_give(a->o.m, FOR_OTHER, spelt, n, sizeof *spelt);
  if (!ok) return STATUS_FAILED;
  ok = bond_open(&x->bond, a->o.m, x->must, n, a->most,
    a->o.lm->config.eos, ends ? a->o.lm->config.n_eos : 0, why);
  if (ok) x->d.rule = (struct token_rule) @[{ bond_allow, bond_take, &x->bond }@];
  return ok ? STATUS_DONE : a->w->of[OPTION_MAX_NEW_TOKENS].given
    ? STATUS_USAGE : STATUS_FAILED;
}

@ Stop strings are counted, put one behind the other without their escapes, and pointed to when they have come to rest.

@<Take the stop strings@>=
static bool take_stops(struct decisions *x, const struct occasion *a,
  struct error *why)
{
  const struct wishes *w = a->w;
  struct memory *m = a->o.m;
  bool plain = w->of[OPTION_NO_ESCAPE].given, ok = true;
  x->stop = memory_take(m, FOR_OTHER, REPEATED_MOST, sizeof *x->stop, why);
  for (size_t i = 0; x->stop != NULL && ok && i < w->n_repeated; i++) {
    const char *text = w->repeated[i].text;
    size_t before = x->said.n;
    if (w->repeated[i].which != OPTION_STOP) continue;
    ok = plain ? bytes_push(m, &x->said, text, strlen(text), why)
      : stop_unescape(m, text, &x->said, why);
    x->stop[x->n_stop++].n = x->said.n - before;
  }
  for (size_t i = 0, at = 0; ok && i < x->n_stop; at += x->stop[i++].n)
    x->stop[i].byte = x->said.byte + at;
  return ok && x->stop != NULL;
}

@ With the strings in place the endings can be opened, and told the other wishes.

@<Take the stop strings@>=
static bool open_endings(struct decisions *x, const struct occasion *a,
  struct error *why)
{
  const struct option_value *of = a->w->of;
  if (of[OPTION_STOP].given && a->o.t == NULL) return error_say(why,
      "%s: there is no tokenizer that we know; wanted: one, for --stop is"@|
      " about a text", a->o.path);
  if (!take_stops(x, a, why) || !endings_open(&x->ends, a->o.m, a->o.t,
      x->stop, x->n_stop, &x->bond, why)) return false;
  x->ends.flow.include_stop = of[OPTION_INCLUDE_STOP].given;
  x->ends.flow.min_tokens = (size_t) of[OPTION_MIN_TOKENS].count;
  x->ends.repeat = (size_t) of[OPTION_STOP_ON_REPETITION].count;
  return true;
}

@ The loop is told by the same function in |generate| and in |trace|.

@<Tell the loop who chooses and who judges@>=
void decisions_apply(struct decisions *x, const struct occasion *a,
  struct settings *want)
{
  want->choose = sampler_choose, want->chooser = &x->d;
  want->judge = criteria_judge, want->judging = &x->ends.all;
  want->min_tokens = (size_t) a->w->of[OPTION_MIN_TOKENS].count;
}

@ All of it; what the makers' file says is checked here for the first time as settings of a sampler, and the sentence names the file. (A stage that is not run reads nothing, and a number for it may be anything.)

@<Decide@>=
int decisions_open(struct decisions *x, const struct occasion *a,
  struct error *why)
{
  const struct model_config *config = &a->o.lm->config;
  *x = (struct decisions) @[{ .sequences = 1 }@];
  if (a->w->of[OPTION_NUM_SEQUENCES].given)
    x->sequences = a->w->of[OPTION_NUM_SEQUENCES].count;
  take_config(&x->d.s, &config->sampling);
  if (!take_line(&x->d.s, a->w, why)) return STATUS_USAGE;
  int status = take_biases(x, a, why);
  if (status != STATUS_DONE) return status;
  struct error wrong;
  if (!sampling_check(&x->d.s, config->vocab_size, &wrong)) {
    error_say(why, "%s/generation_config.json: %s", a->o.path, wrong.words);
    return STATUS_FAILED;
  }
  if (!settle_seed(x, a, why) || !funnel_open(&x->d.f, a->o.m, a->o.e.k,
      config->vocab_size, why) || !open_endings(x, a, why))
    return STATUS_FAILED;
  const struct option_value *of = a->w->of;
  return of[OPTION_REGEX].given || of[OPTION_GRAMMAR].given
    || of[OPTION_JSON_OBJECT].given ? bind_text(x, a, why) : STATUS_DONE;
}

@ They are closed in the reverse order, also if only some of them have been opened.

@<Decide@>=
void decisions_close(struct memory *m, struct decisions *x)
{
  endings_close(&x->ends);
  memory_give(m, FOR_OTHER, x->stop, REPEATED_MOST, sizeof *x->stop);
  bytes_free(m, &x->said);
  bond_close(&x->bond, m);
  constraint_free(x->must);
  lexicon_close(x->words);
  if (x->d.f.m != NULL) funnel_close(&x->d.f);
  memory_give(m, FOR_OTHER, x->biased, x->room, sizeof *x->biased);
  ids_free(m, &x->id);
}

@ Why a token was chosen can be told from the settings and from how many tokens were left. A temperature of 0 is greedy only if there is a stage that reads it.

@<Decide@>=
bool decisions_greedy(const struct decisions *x)
{
  const struct sampling *s = &x->d.s;
  for (size_t i = 0; i < s->n_stages; i++)
    if (s->stage[i] == STAGE_TEMPERATURE && s->temperature == 0)
      return true;
  return false;
}
const char *decisions_reason(const struct decisions *x)
{
  if (decisions_greedy(x)) return "greedy";
  return x->d.f.n == 1 ? "forced" : "sampled";
}

@ The file stands between the prompt and those who write.

@(deciding.h@>=
#ifndef INCIPIT_DECIDING_H
#define INCIPIT_DECIDING_H
#include "command/ending.h"
#include "command/prompt.h"
@<What decides@>@;
#endif

@ Makers, line, biases, seed: each of the first three may overrule the one before it.

@(deciding.c@>=
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "command/deciding.h"
@;@#
@<Take the makers' settings@>@;
@<Take the line's settings@>@;
@<Take the biases@>@;
@<Settle the seed@>@;
@<Read what must match@>@;
@<Gather the pieces of all tokens@>@;
@<Tell whether a first blank is lost@>@;
@<Bind the text to what it must match@>@;
@<Take the stop strings@>@;
@<Tell the loop who chooses and who judges@>@;
@<Decide@>@;

@* Generate. \label{sec:generating}
The loop of chapter 3 does the work; the command watches. At every step it is told which token was
chosen, and hands to the reader those bytes that are certain: half of a character, or the beginning of a stop string,
stays behind until it is known what it was; the outflow of chapter 8 sees to that. What it needs for this, and what it keeps for the end,
is the \emph{writing}. Several texts may be wanted of one prompt; they are written one after the other, and what is kept of each is the \emph{written}.
@^streaming@>

@<What is kept during a generation@>=
struct written {
  struct ids id; /* the new ones */
  struct bytes text;
  enum finish ended;
  const char *reason; /* what ended it, or null */
  const struct stop_string *string;
  double score; /* of a search */
  struct candidate *noted; /* |[tokens][1 + k]| */
  size_t tokens, room;
};
struct writing {
  struct occasion *a;
  struct decisions how;
  const uint32_t *eos;
  size_t n_eos;
  struct written *all, *now; /* |all[n]|, the newest being |now| */
  size_t n, room;
  size_t shown; /* bytes of this text that have been released to the reader */
  struct json_out j;
  double *logprob;
    /* |[vocab_size]|, or null: nobody wants to know */
  size_t k;
  double began, first, last, decoded; /* moments; time behind first tokens */
  bool mute, failed; /* \.{--json} shows nothing before the end */
};

@ One step: the clock, the likelihood, the output. The bytes have gone into the outflow already, when the judge looked at them. The clock comes first, since what follows is ours and not
the model's. The buffer is emptied after every token: without that a terminal would show a line at a time, and the
program at the other end of a pipe would wait for a whole buffer of text before it saw the first word. |false| stops the loop; that
happens when the reader has gone, when memory is refused, and when somebody has pressed
Ctrl-C.

@<Watch a step of the generation@>=
static bool see_token(void *self, const struct step *now)
{
  struct writing *g = self;
  g->last = timing_seconds();
  if (g->now->tokens++ == 0) @<Note the time of a first token@>@;
  g->failed = !note_odds(g, now);
  if (g->failed) return false;
  if (!g->mute) show_token(g, now->chosen);
  if (fflush(g->a->c->out) != 0) return false;
  return !g->a->c->interrupted();
}

@ The first token of the first text is the one that the reader has waited for. Those of the others come sooner, since the prompt is in the cache by then.

@<Note the time of a first token@>=
{
  if (g->n == 1) g->first = g->last;
  g->decoded -= g->last;
}

@ The text is kept whole for the end, and released in parts: what the outflow lets go, and the reader has not seen. An end token has no text, whatever the
vocabulary may say about it; nor has any other special token. A model without a tokenizer has no text at all, and then there is nothing to show but ids.

@<Show what may be shown@>=
static size_t take_fresh(struct writing *g, const unsigned char **byte)
{
  const struct outflow *o = &g->how.ends.flow;
  size_t n = o->released - g->shown;
  *byte = n > 0 ? o->text.byte + g->shown : (const unsigned char *) "";
  g->shown = o->released;
  return n;
}

@ If log-probabilities are wanted, they come from the very logits that the choice was made from, and
the token's line of candidates is put behind those of its predecessors. They are raw: no temperature or
penalty has touched them, so that they say what the model thinks and not what the sampler made of it.

@<Note how likely the token was@>=
static bool note_odds(struct writing *g, const struct step *now)
{
  struct occasion *a = g->a;
  struct written *w = g->now;
  size_t width = 1 + g->k, v = a->o.vocab_size;
  if (g->logprob == NULL) return true;
  if (w->tokens > w->room) {
    size_t room = 2 * w->room + 16;
    void *more = memory_grow(a->o.m, FOR_OTHER, w->noted,
      w->room * width, room * width, sizeof *w->noted, &a->why);
    if (more == NULL) return false;
    w->noted = more, w->room = room;
  }
  a->o.e.k->log_softmax(&a->o.e, now->logits, 1, v, g->logprob);
  candidates_find(g->logprob, v, now->chosen,
    w->noted + (w->tokens - 1) * width, g->k);
  return true;
}

@ Three ways to show it: as bytes; with \texttt{--jsonl} as a line of its own; and for a model without a
tokenizer as the id, with a comma before all but the first, as \texttt{--prompt-ids} would
take it back. The lines of \texttt{--jsonl} are for programs that show a text while it grows: half of a character is in none of
them, so each can go to the screen as it comes.

@<Show a token as it comes@>=
static void show_token(struct writing *g, uint32_t id)
{
  FILE *out = g->a->c->out;
  const unsigned char *byte;
  size_t n = take_fresh(g, &byte);
  if (g->a->w->of[OPTION_JSONL].given) {
    put_open(&g->j, '{');
    put_key(&g->j, "index"), put_count(&g->j, g->n - 1);
    put_key(&g->j, "id"), put_count(&g->j, id);
    put_key(&g->j, "text");
    put_text(&g->j, byte, n);
    put_key(&g->j, "logprob");
    put_odds(g, g->now, g->now->tokens - 1);
    put_close(&g->j, '}');
    put_end(&g->j);
  }
  else if (g->a->o.t == NULL)
    fprintf(out, "%s%" PRIu32, g->now->tokens > 1 ? "," : "", id);
  else if (n > 0) fwrite(byte, 1, n, out);
}

@ The log-probability of one token, and with \texttt{--logprobs} its rank and the likeliest in its place. The list begins with the one that was
chosen, which is the object itself and is left out.

@<Write how likely a token was@>=
static void put_odds(struct writing *g, const struct written *w, size_t i)
{
  const struct candidate *x = w->noted + i * (1 + g->k);
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
wants no tokens at all still wants the prompt evaluated: that is how the time of the \emph{prefill} is measured, of the pass that
reads the prompt and comes before the first token. No watcher is called then, so the clock is looked at behind the loop.

@<Generate, watching@>=
static bool run_loop(struct writing *g, struct continuation *text)
{
  struct occasion *a = g->a;
  struct outfit *o = &a->o;
  struct generator with = @[{ &o->e, o->lm, o->s, o->m }@];
  struct settings want = @[{ .max_new_tokens = a->most, .eos = g->eos,
    .n_eos = g->n_eos, .see = see_token, .self = g,@|
    .recall = a->w->of[OPTION_NO_CACHE].given ? NULL : store_keep,
    .chunk = (size_t) a->w->of[OPTION_CHUNK].count }@];
  decisions_apply(&g->how, a, &want);
  if (g->n == 1) g->began = timing_seconds();
  bool ok = generate(&with, a->p.list.id, a->p.list.n, &want, text, &a->why);
  if (a->most == 0) g->first = g->last = timing_seconds();
  if (g->now->tokens > 0) g->decoded += g->last;
  return ok && !g->failed;
}

@ Each text gets a place in the list, the decoder begins anew, and the sampler is told the text's number. The cache is left as it is: it still has the prompt's rows, and chapter 4 keeps what the next text has in common with the last. A text that had to match something, was not cancelled and does not match would be a fault of this program; it is looked for all the same, because others will believe the status. Then the new ids are kept, and the rest of the continuation can go.

@<Make a place for a text@>=
static bool new_text(struct writing *g)
{
  if (g->n == g->room) {
    void *more = memory_grow(g->a->o.m, FOR_OTHER, g->all, g->room,
      2 * g->room + 1, sizeof *g->all, &g->a->why);
    if (more == NULL) return false;
    g->all = more, g->room = 2 * g->room + 1;
  }
  g->now = &g->all[g->n++];
  g->shown = 0;
  return true;
}
static bool echo_prompt(const struct writing *g)
{
  const struct bytes *text = &g->a->p.text;
  if (g->a->w->of[OPTION_ECHO].given)
    fwrite(text->byte, 1, text->n, g->a->c->out);
  return true;
}

@ So a text is written.

@<Write one text@>=
static bool keeps_word(struct writing *g)
{
  bool yes;
  return bond_matches(&g->how.bond, &yes, &g->a->why) && (yes
    || g->now->ended == FINISH_CANCELLED || error_say(&g->a->why,
    "text %zu does not match what it must", g->n - 1));
}
static bool write_one(struct writing *g)
{
  struct memory *m = g->a->o.m;
  struct error *why = &g->a->why;
  struct continuation text = @[{ .n_prompt = 0 }@];
  if (!new_text(g)) return false;
  g->how.d.sequence = (uint32_t) (g->n - 1);
  bond_restart(&g->how.bond);
  bool ok = echo_prompt(g) && endings_begin(&g->how.ends,
    g->a->p.list.id, g->a->p.list.n, why) && run_loop(g, &text);
  for (size_t i = text.n_prompt; ok && i < text.text.n; i++)
    ok = ids_push(m, &g->now->id, text.text.id[i], why);
  g->now->ended = text.ended;
  continuation_free(m, &text);
  return ok && end_text(g) && keeps_word(g);
}

@ With beams the texts are there all at once, at the end; until then none of their words is certain. What of the settings a search knows are those that look at the text: the repetition penalty, the ban of n-grams, and the least number of tokens. A watcher is asked after each step whether somebody has pressed Ctrl-C.

@<Write the best of a search@>=
static bool see_search(void *self, const struct search_step *now)
{
  struct writing *g = self;
  g->last = timing_seconds();
  if (now->number == 1) g->first = g->last;
  return !g->a->c->interrupted();
}

@ The wishes of the line become those of the search.

@<Write the best of a search@>=
static bool search_texts(struct writing *g, const struct search_source *from,
  struct search_result *out)
{
  struct occasion *a = g->a;
  const struct option_value *of = a->w->of;
  const struct sampling *s = &g->how.d.s;
  struct search_processor process[3] = @[{@|
    {PROCESS_REPETITION, s->repetition_penalty, 0},@|
    {PROCESS_NGRAM, 0, s->no_repeat_ngram},@|
    {PROCESS_MIN_NEW, 0, (size_t) of[OPTION_MIN_TOKENS].count} }@];
  struct search_settings want = @[{
    .num_beams = (size_t) of[OPTION_NUM_BEAMS].count,
    .num_return = (size_t) g->how.sequences,@|
    .max_length = a->p.list.n + a->most, .length_penalty = 1,
    .early = (enum early_stopping) @[(of[OPTION_EARLY_STOPPING].count == 1@|
      ? EARLY_TRUE : of[OPTION_EARLY_STOPPING].count == 2 ? EARLY_NEVER
      : EARLY_FALSE)@], .eos = g->eos, .n_eos = g->n_eos,@|
    .process = process, .n_process = 3, .see = see_search, .self = g }@];
  if (of[OPTION_LENGTH_PENALTY].given)
    want.length_penalty = of[OPTION_LENGTH_PENALTY].real;
  g->began = timing_seconds();
  return search_run(from, a->o.m, a->o.e.k, a->p.list.id, a->p.list.n,
    &want, out, &a->why);
}

@ Then each of the texts is decoded, and shown like any other, the best first.

@<Write the best of a search@>=
static bool take_text(struct writing *g, const struct search_text *t)
{
  if (!new_text(g)) return false;
  struct written *w = g->now;
  size_t given = g->a->p.list.n;
  w->ended = t->ended, w->score = t->score;
  struct error *why = &g->a->why;
  bool ok = echo_prompt(g) && endings_begin(&g->how.ends,
    g->a->p.list.id, given, why);
  for (size_t i = given; ok && i < t->n; i++) {
    bool last = i + 1 == t->n && t->ended == FINISH_STOP;
    w->tokens++;
    ok = ids_push(g->a->o.m, &w->id, t->id[i], why)
      && (last || outflow_id(&g->how.ends.flow, t->id[i], why));
    if (ok && !last && !g->mute) show_token(g, t->id[i]);
  }
  return ok && end_text(g);
}

@ The whole: a source that shares the cache among beams, a search in it, and its texts.

@<Write the best of a search@>=
static bool write_beams(struct writing *g)
{
  struct occasion *a = g->a;
  struct generator with = @[{ &a->o.e, a->o.lm, a->o.s, a->o.m }@];
  struct search_model model;
  struct search_source from;
  struct search_result found;
  if (a->most == 0) return error_say(&a->why, "a search writes 1 token or"@|
      " more; wanted: another --max-new-tokens");
  if (!search_model_open(&model, &with, (size_t)
      a->w->of[OPTION_NUM_BEAMS].count, (size_t)
      a->w->of[OPTION_CHUNK].count, &from, &a->why)) return false;
  bool ok = search_texts(g, &from, &found);
  search_model_close(&model);
  for (size_t i = 0; ok && i < found.n; i++)
    ok = take_text(g, &found.text[i]);
  if (ok) g->decoded = g->last - g->first, search_free(&found);
  return ok;
}

@ The whole of it: decide, hint, write as many texts as are wanted, finish, give back. Whoever presses Ctrl-C has seen enough, so no other text is begun. (Where no token is written, no step is there to ask; so the loop asks.) What was taken is given back on every way out, and
since giving back nothing is allowed, there is only one way out.

@<Take, hint, run, finish, give back@>=
static int write_text(struct occasion *a)
{
  const struct option_value *of = a->w->of;
  const struct model_config *config = &a->o.lm->config;
  struct writing g = @[{ .a = a, .eos = config->eos,
    .j = { a->c->out, '\0' } }@];
  g.n_eos = of[OPTION_IGNORE_EOS].given ? 0 : config->n_eos;
  g.mute = of[OPTION_JSON].given;
  g.k = (size_t) of[OPTION_LOGPROBS].count;
  if (g.k > config->vocab_size) g.k = config->vocab_size;
  int status = decisions_open(&g.how, a, &a->why);
  bool ok = status == STATUS_DONE;
  if (ok) give_hints(a, decisions_greedy(&g.how));
  if (ok && (of[OPTION_LOGPROBS].given || of[OPTION_JSONL].given))
    ok = (g.logprob = memory_take(a->o.m, FOR_OTHER, config->vocab_size,
      sizeof *g.logprob, &a->why)) != NULL;
  if (ok) a->c->listen();
  if (ok && of[OPTION_NUM_BEAMS].count > 1) ok = write_beams(&g);
  else while (ok && g.n < g.how.sequences && !cancelled(&g)
      && !(a->most == 0 && a->c->interrupted())) ok = write_one(&g);
  if (status == STATUS_DONE) status = ok ? finish_writing(&g)
    : STATUS_FAILED;
  @<Give back what the writing held@>@;
  return status;
}

@ The caller of the allocator says how much it returns, so the lists are measured as when they were taken.

@<Give back what the writing held@>=
memory_give(a->o.m, FOR_OTHER, g.logprob, config->vocab_size,
  sizeof *g.logprob);
for (size_t i = 0; i < g.n; i++) {
  struct written *w = &g.all[i];
  memory_give(a->o.m, FOR_OTHER, w->noted, w->room * (1 + g.k),
    sizeof *w->noted);
  bytes_free(a->o.m, &w->text);
  ids_free(a->o.m, &w->id);
}
memory_give(a->o.m, FOR_OTHER, g.all, g.room, sizeof *g.all);
decisions_close(a->o.m, &g.how);

@ Two things a reader may not know are said once, on the standard error. The model's makers may have
trained it on conversations with marks between the turns, of which a plain prompt has none. And somebody may have set what has no effect: a cut, where the temperature is 0 and one token is left anyway. The template that tells where the marks belong lies beside the
model, in a file of its own or as a field of the tokenizer's settings. Whether there is one is all we ask; a file that cannot be
read is no reason to refuse a text that does not need it.
@^chat template@>

@<Give hints@>=
bool has_chat_template(const char *folder)
{
  char path[CONSOLE_PATH];
  int n = snprintf(path, sizeof path, "%s/chat_template.jinja", folder);
  if (n < 0 || n >= CONSOLE_PATH) return false;
  if (access(path, R_OK) == 0) return true;
  n = snprintf(path, sizeof path, "%s/tokenizer_config.json", folder);
  json_t *value = n > 0 && n < CONSOLE_PATH && access(path, R_OK) == 0
    ? json_read(path, SETTINGS_MOST, NULL) : NULL;
  json_t *found = json_object_get(value, "chat_template");
  bool has = found != NULL && !json_is_null(found);
  json_decref(value);
  return has;
}

@ The hints go to the standard error, where they cannot become a part of the text; and they are
hints, not questions, since a script cannot answer.

@<Give hints@>=
static void give_hints(const struct occasion *a, bool greedy)
{
  static const enum option idle[] = @[{ OPTION_TOP_K, OPTION_TOP_P,
    OPTION_MIN_P, OPTION_TYPICAL_P, OPTION_SEED }@];
  if (!a->p.in_ids && has_chat_template(a->o.path))
    fprintf(a->c->err, "incipit: hint: this model was"@|
      " trained on conversations and"@| " has a chat template; the"@|
      " prompt is used as it is"@| " (incipit chat sets it as"@|
      " turns)\n");
  for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
    if (a->w->of[idle[i]].given && greedy)
      fprintf(a->c->err, "incipit: hint: --%s changes nothing at"@|
        " temperature 0 (--temperature 1"@| " is the model as it is)\n",
        option_at(idle[i])->name);
}

@ At the end of a text the held bytes are flushed, whatever they are: a pipe gets them raw. On a terminal the
reader's own next line should begin at the left edge, so there, and only there, a line's end is
added that the model has not written; but of several texts each ends with one, or nobody could tell where the next begins.

@<End a text@>=
static bool end_text(struct writing *g)
{
  struct occasion *a = g->a;
  struct outflow *o = &g->how.ends.flow;
  const unsigned char *byte;
  FILE *out = a->c->out;
  outflow_end(o);
  g->now->reason = criteria_reason(&g->how.ends.all, g->now->ended);
  g->now->string = o->found;
  if (!bytes_push(a->o.m, &g->now->text, o->text.byte, o->text.n, &a->why))
    return false;
  size_t n = take_fresh(g, &byte);
  if (g->mute || a->w->of[OPTION_JSONL].given) return true;
  if (n > 0) fwrite(byte, 1, n, out);
  if (a->c->out_terminal || g->how.sequences > 1) putc('\n', out);
  return true;
}
static bool cancelled(const struct writing *g)
{
  return g->n > 0 && g->now->ended == FINISH_CANCELLED;
}

@ When all are written, the object, if it is wanted, and the statistics. A text that was cancelled ends in the same way as one that is complete, with all that belongs to it;
the status alone tells the two apart, and for programs the object's |"finish_reason"|.

@<Finish a generation@>=
static int finish_writing(struct writing *g)
{
  struct occasion *a = g->a;
  if (g->mute || a->w->of[OPTION_JSONL].given) put_generation(g);
  if (console_end(a->c, STATUS_DONE) != STATUS_DONE)
    return STATUS_FAILED;
  if (a->w->of[OPTION_STATS].given) print_stats(g);
  return cancelled(g) ? STATUS_CANCELLED : STATUS_DONE;
}

@ The object that \texttt{--json} prints has, behind the name of the model, five parts: what was asked, what came, how much of it, what it
cost, and how long it took. A script that wants one of them takes one
key and need not know the others. The generated ids include the end token; the text does not. The prompt is counted once, however many texts follow it.

@<Write the object of a generation@>=
static size_t tokens_of(const struct writing *g)
{
  size_t n = 0;
  for (size_t i = 0; i < g->n; i++) n += g->all[i].id.n;
  return n;
}

@ The object itself is the list of its parts. Keys stand in the order in which the contract of the command has them, so that two runs can be compared line by line.

@<Write the object of a generation@>=
static void put_generation(struct writing *g)
{
  struct json_out *j = &g->j;
  size_t n = tokens_of(g), given = g->a->p.list.n;
  put_open(j, '{');
  put_key(j, "model"), put_words(j, g->a->o.path);
  put_prompt(g);
  put_key(j, "sequences"), put_open(j, '[');
  for (size_t i = 0; i < g->n; i++) put_sequence(g, i);
  put_close(j, ']');
  put_key(j, "usage"), put_open(j, '{');
  put_key(j, "prompt_tokens"), put_count(j, given);
  put_key(j, "completion_tokens"), put_count(j, n);
  put_key(j, "total_tokens"), put_count(j, given + n);
  put_close(j, '}');
  put_key(j, "counters"), put_counters(j, &g->a->o.counters);
  put_timings(g);
  put_close(j, '}');
  put_end(j);
}

@ The sequences stand in the list in the order of their numbers. Why a text ended is one of three words; what
stopped it is the name of one of the things that may, or the string itself. (A text that has to match and can't go on is stopped by nothing that anybody asked for.)

@<Write one sequence@>=
static void put_sequence(struct writing *g, size_t i)
{
  static const char *const reason[] = @[{ "\"length\"", "\"stop\"",
    "\"length\"", "\"cancelled\"" }@];
  struct json_out *j = &g->j;
  const struct written *w = &g->all[i];
  put_open(j, '{');
  put_key(j, "index"), put_count(j, i);
  put_key(j, "ids"), put_ids(j, w->id.id, w->id.n);
  put_key(j, "text"), put_text(j, w->text.byte, w->text.n);
  put_key(j, "finish_reason"), put_word(j, reason[w->ended]);
  put_key(j, "stop");
  if (w->string != NULL) {
    put_open(j, '{'), put_key(j, "string");
    put_text(j, w->string->byte, w->string->n), put_close(j, '}');
  }
  else if (w->reason == NULL || strcmp(w->reason, "match") == 0)
    put_word(j, "null");
  else put_words(j, w->reason);
  if (g->a->w->of[OPTION_NUM_BEAMS].count > 1)
    put_key(j, "score"), put_double(j, w->score);
  if (g->a->w->of[OPTION_LOGPROBS].given) put_all_odds(g, w);
  put_close(j, '}');
}

@ The prompt is shown as it came: a text with its ids, or ids with the text that they stand for. Half of the questions why a model
wrote something odd are answered by its ids: a blank too many at the end of the prompt cannot be seen in the text.

@<Write the prompt@>=
static void put_prompt(struct writing *g)
{
  const struct prompt *p = &g->a->p;
  put_key(&g->j, "prompt"), put_open(&g->j, '{');
  put_key(&g->j, "text"), put_text(&g->j, p->text.byte, p->text.n);
  put_key(&g->j, "ids"), put_ids(&g->j, p->list.id, p->list.n);
  put_close(&g->j, '}');
}

@ If they were asked for, the log-probabilities of all tokens follow in a list as long as that of the ids, in
the same order, so that the two can be read side by side.

@<Write the prompt@>=
static void put_all_odds(struct writing *g, const struct written *w)
{
  put_key(&g->j, "logprobs"), put_open(&g->j, '[');
  for (size_t i = 0; i < w->tokens; i++) {
    put_open(&g->j, '{');
    put_key(&g->j, "id"), put_count(&g->j, w->id.id[i]);
    put_key(&g->j, "logprob"), put_odds(g, w, i);
    put_close(&g->j, '}');
  }
  put_close(&g->j, ']');
}

@ The counters go out by the names that they have in \cref{sec:counters}, where it is said what each of them counts. There is one list of these
names, which \texttt{--stats} and |trace| use as well.

@<The counters by name@>=
enum { N_COUNTERS = 11 };
  /* how many counters there are */
uint64_t counter_at(const struct counters *c, int i, const char **name);
  /* counter number |i| $<$ |N_COUNTERS|, and how it is called */
void put_counters(struct json_out *j, const struct counters *c);
  /* an object with all of them */

@ Every counter has the type |uint64_t|, but they are told apart by name and not by place, so their order does not matter here.

@<Name the counters@>=
uint64_t counter_at(const struct counters *c, int i, const char **name)
{
  const struct { const char *name; uint64_t value; }
    list[N_COUNTERS] = @[{@|
    {"passes", c->passes}, {"rows", c->rows},@|
    {"kv_rows_computed", c->kv_rows_computed},@|
    {"kv_rows_recomputed", c->kv_rows_recomputed},@|
    {"qk_pairs", c->qk_pairs},@|
    {"madds_linear", c->madds_linear},@|
    {"madds_attention", c->madds_attention},@|
    {"madds_head", c->madds_head},@|
    {"weight_bytes_read", c->weight_bytes_read},@|
    {"cache_bytes_read", c->cache_bytes_read},@|
    {"cache_bytes_written", c->cache_bytes_written}
  }@];
  *name = list[i].name;
  return list[i].value;
}

@ As an object they are written from the list, so that a counter which a later chapter adds appears in every
output at once, or nowhere.

@<Name the counters@>=
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

@ Where there is nothing to divide by there is no number. The first token is the end of the prefill; each later one is a step of the
\emph{decoding}, which is the name of the rest. Of three tokens at 5, 7 and 9 milliseconds after the beginning the first took 5 and each of the
others 2, since 3 tokens have only 2 steps between them; so the quotients have $n-1$ below them, and a text of one token has no time for
a token. Of several texts the steps behind the first tokens are added up.

@<Reckon the times@>=
enum { N_TIMES = 5 };
static const char *const time_name[N_TIMES] = @[{ "load_ms",
  "time_to_first_token_ms", "time_per_output_token_ms",
  "prefill_tokens_per_second", "decode_tokens_per_second" }@];
static void reckon_times(const struct writing *g, double of[N_TIMES])
{
  double until = g->first - g->began, after = g->decoded, steps = 0;
  for (size_t i = 0; i < g->n; i++)
    if (g->all[i].tokens > 1) steps += (double) (g->all[i].tokens - 1);
  bool any = g->n > 0 && g->all[0].tokens > 0;
  of[0] = 1e3 * g->a->o.load_seconds;
  of[1] = any ? 1e3 * until : NAN;
  of[2] = steps > 0 ? 1e3 * after / steps : NAN;
  of[3] = until > 0 ? (double) g->a->p.list.n / until : NAN;
  of[4] = steps > 0 && after > 0 ? steps / after : NAN;
}

@ In the object a time that does not exist is |null|, and not zero: whoever divides by it should notice. Times
are the only part of the answer that two runs do not have in common, so they stand at its end; whoever compares runs leaves
them out.

@<Reckon the times@>=
static void put_timings(struct writing *g)
{
  double of[N_TIMES];
  reckon_times(g, of);
  put_key(&g->j, "timings"), put_open(&g->j, '{');
  for (int i = 0; i < N_TIMES; i++) {
    put_key(&g->j, time_name[i]);
    if (isnan(of[i])) put_word(&g->j, "null");
    else put_double(&g->j, of[i]);
  }
  put_close(&g->j, '}');
}

@ The same for the eyes, with the books of chapter 0 below. Counters come before times, because they are the same on every
machine; the last lines say how much memory was held at the worst moment, and for what.

@<Print the statistics@>=
static void print_stats(const struct writing *g)
{
  FILE *err = g->a->c->err;
  const struct memory *m = g->a->o.m;
  double of[N_TIMES];
  reckon_times(g, of);
  fprintf(err, "%-28s %zu + %zu\n", "tokens", g->a->p.list.n,
    tokens_of(g));
  fprintf(err, "%-28s %u\n", "workers", pool_workers(g->a->o.crew));
  for (int i = 0; i < N_COUNTERS; i++) {
    const char *name;
    uint64_t value = counter_at(&g->a->o.counters, i, &name);
    fprintf(err, "%-28s %" PRIu64 "\n", name, value);
  }
  for (int i = 0; i < N_TIMES; i++)
    if (!isnan(of[i]))
      fprintf(err, "%-28s %.2f\n", time_name[i], of[i]);
  for (int i = 0; i < N_PURPOSES; i++)
    fprintf(err, "peak for %-19s %" PRIu64 " bytes\n",
      purpose_name((enum purpose) i), m->of[i].peak);
}

@ The subcommand itself is one line, since an occasion does the rest. What stands before it in the file is the order in which a
token meets it: noted, shown, watched; and at the end the sum.

@(generating.c@>=
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "ground/timing.h"
#include "search/sharing.h"
#include "safetensors/jsonfile.h"
#include "command/subcommands.h"
@;@#
@<Name the counters@>@;
@<What is kept during a generation@>@;
@<Write how likely a token was@>@;
@<Show what may be shown@>@;
@<Show a token as it comes@>@;
@<Note how likely the token was@>@;
@<Watch a step of the generation@>@;
@<Generate, watching@>@;
@<Show what came of it@>@;
@<Make a place for a text@>@;
@<Write one text@>@;
@<Write the best of a search@>@;
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
@<Write one sequence@>@;
@<Write the object of a generation@>@;
@<Print the statistics@>@;
@<End a text@>@;
@<Finish a generation@>@;

@ The subcommand of this chapter stands in a header, with what the others need of it: All subcommands have the same form: they get the console and the wishes, and return the exit status; what goes wrong they have said already.

@(subcommands.h@>=
#ifndef INCIPIT_SUBCOMMANDS_H
#define INCIPIT_SUBCOMMANDS_H
#include "loop/loop.h"
#include "command/help.h"
#include "json/json.h"
#include "command/deciding.h"
int run_generate(const struct console *c, const struct wishes *w);
  /* continues a prompt */
bool has_chat_template(const char *folder);
  /* do a model's files say how conversations are set? */
@<The counters by name@>@;
#endif

@* Somebody else's lines. \label{sec:commandex} The exercises are about what others type: people who slip, people who have
seen enough, and scripts that take whatever line comes.

\begin{exercises}
\exercise{check}{ex:command.doors}{Somebody types, behind \texttt{incipit}: \texttt{--help}; \texttt{generate --josn --help}; \texttt{generate --help --josn};
\texttt{generate The -n 0 --stats}, into a pipe; \texttt{help genrate}. Which exit status has each line, and does it write to its standard
output?}{\texttt{make exercise-W14-1}}{0, 2, 0, 0, 2, and only the first and the third do. A line is
read from the left: a mistake before the plea for help is told, one behind it is not. Help that was asked for is a result; statistics are a
remark, and no token is no text.}
\exercise{check}{ex:command.table}{Fill the table of the hand calculation for \texttt{ca}, at the left, and \texttt{abc}, above. How many slips are
counted, and how few would do?}{\texttt{make exercise-W14-2}}{3 and 2: exchange the two letters and put one between them. The table
does not see that, because it looks at an exchange of neighbours in what was typed only where they are neighbours in the name, too.}
\exercise{think}{ex:command.slip}{Misspell an option of \texttt{generate} so that another one would be offered if the exchange of two neighbouring
letters counted as two slips and not as one.}{\texttt{make exercise-W14-3}}{The right one must be one exchange away, another that stands before it in
the table two slips: \texttt{--jsnol} is \texttt{--jsonl} with two letters exchanged, but also \texttt{--json} with one letter changed
and one too many.}
\exercise{think}{ex:command.interrupt}{Somebody presses Ctrl-C while the prompt is being read. How many tokens does \texttt{generate The -n 3} write,
and what is its exit status? And with \texttt{-n 1}?}{\texttt{make exercise-W14-4}}{One token, and the status of a cancelled run: the flag is looked
at after a step and never within, so the pass goes on to its end, and the token that it has chosen is shown. With \texttt{-n 1} the same token, and 0:
the text has ended by its length before anybody looks, and what was asked for has been done.}
\exercise{build}{ex:command.script}{Write a shell script that lets \texttt{generate} continue each line of its standard input by three tokens, as an object of JSON
a line; that goes on if one of them fails, and then ends with status 1. A line may be anything: empty, a dash, \texttt{--help}, with blanks
at its beginning.}{\texttt{make exercise-W14-5}}{In the loop \texttt{while IFS= read -r line} the command is \texttt{incipit generate -n 3 --json
--prompt="\$line" </dev/null}, followed by \texttt{|| status=1}. Behind two dashes a line of one dash would still be the standard input; behind the equals sign
nothing has a meaning.}
\exercise{build}{ex:command.option}{Give |generate| an option \texttt{--no-hints}. How many places of the program change, and in how many outputs does it
appear?}{\texttt{make exercise-W14-6}}{Three: its name, its line in the table, and one condition where the hints are given. It is then in the help, the manual
page, the completion and the offers to those who misspell it. Its bit is that of |generate| alone: |trace| gives no hints, and an option without an
effect is a lie.}
\end{exercises}
