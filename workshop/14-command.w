@i types.w
@s FILE int
@s chat int

\chapterquestion{What must a program say, and to whom, so that people and scripts can rely on it?}
@** The command.
\incipit{A}{library is called} by programmers who have read its headers. A command has many kinds of callers:
a person who has mistyped an option, a script that runs at night, a program that reads only the first line
of the output and closes the pipe, a fuzzer. None of them has read this book, all of them want to know what happened,
and a wrong answer in a confident tone costs them a day. This chapter is about the rules that make \texttt{incipit} dependable for
all of them.
@^command@>

The command itself is in the folder \.{program}: ordinary C with comments, which this book does not
print. Its files are named after what they do: |"options.c"| reads a command line, |"session.c"| opens a model,
|"cmd_generate.c"|, |"cmd_trace.c"| and their neighbours are the subcommands, |"probe.c"| is the protocol for tests. They leave
all the real work to what the chapters have built. This chapter explains the ideas: the three outputs of a run, the one table of options, what
|generate| and |trace| do with the loop, how numbers are printed, how another program asks questions, what a conversation
keeps, and how all this is tested.

\begin{byhand}{how far is \texttt{josn} from \texttt{json}}
You type \texttt{--josn}. Which option did you mean? Probably the one that is the fewest slips away, where
a slip is a wrong letter, a letter too many, a letter missing, or two neighbours exchanged. This is the
\emph{edit distance} of Damerau and Levenshtein, and a table computes it: each cell says how many slips lie between the
beginning of one word, above, and the beginning of the other, at the left.

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
the cell diagonally above at the left, plus one if the two letters differ; and, if the last two letters of both words are
the same but in exchanged order, one more than the cell two up and two to the left. That is how the 1
between \texttt{os} and \texttt{so} comes about: $0+1$. The answer is the cell at the lower right.
\end{byhand}

@ The program of this chapter calls the command as the tests do: with streams of its own, whose contents it prints
afterwards. With a word after its name it prints the keys that the prose quotes, or the points of \cref{fig:digits}.

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "chat.h"
#include "command.h"
@;@#
@<Make a console of files@>@;
@<Run a line, and show its three results@>@;
#include "command/digits.inc"
@;@#
@<Have a conversation, and count its rows@>@;
@#
int main(int argc, char **argv)
{
  if (argc < 2) return run_lines() && converse(false) ? 0 : 1;
  if (strcmp(argv[1], "digits") == 0) {
    printf("digits,numbers\n");
    print_digits("%d,%u\n");
    return 0;
  }
  printf("command.status.cancelled %d\n", (int) STATUS_CANCELLED);
  printf("json.digits.numbers %d\n", DIGIT_DRAWS);
  print_digits("json.digits.%d %u\n");
  return converse(true) ? 0 : 1;
}

@* Standard streams and exit status. \label{sec:streams}
A command has two output streams, and it must be clear what goes where. The result goes to the \emph{standard output}, and nothing else
does, because that is what a pipe passes on. Everything else goes to the \emph{standard error}: error messages, hints, statistics,
a seed that was drawn. So \texttt{incipit generate "The cat sat" > story.txt} writes a story to the file and nothing but a story,
whatever messages appeared meanwhile. \Cref{fig:streams} shows what leaves where.
@^standard output@>@^standard error@>

\fig{streams}{fig:streams}{One run and its three outputs. The result goes to the standard output, all
messages about it to the standard error, and the exit status tells a script how it went.}{A diagram. On the
left the command line, the standard input and the model's files go into a box named incipit. On the right four things come out: text, ids,
JSON and protocol lines by the standard output; sentences, hints and statistics by the standard error; and the exit status,
which is 0 for done, 1 for failed, 2 for wrong usage, \given{130} for cancelled.}

The third output is the \emph{exit status}. It is 0 if the command did what was asked; 1 if it could not, with one sentence that says
why; 2 if the request itself was wrong, with one sentence that says what would have been right; and
\val{command.status.cancelled} after Ctrl-C, as a shell reports it. The difference between 1 and 2 tells a script where
to look. After a 1 the same command line may succeed tomorrow, when the file is there or the disk has space; after a 2 it never will.
@^exit status@>@^Ctrl-C@>

Two details are easily forgotten. Output is written when its buffer is flushed, not when we print, so a full disk may show only at the
very end, and only to a program that checks. Ours flushes the buffer itself before it ends, and if that fails, it prints a sentence and the status is 1.
(On Linux \texttt{incipit --help > /dev/full} shows it.) The second detail is a reader that stops early. A program such as \texttt{head} reads what
it wants and closes the pipe. By default the system kills the writer of a closed pipe with a signal, |SIGPIPE|, in
the middle of whatever it was doing. The command ignores that signal; the write then fails like any other, the status is 1,
and no sentence is printed, since a reader that has closed the pipe has what it wanted.
@^pipe@>@^SIGPIPE@>

A command that runs for a long time must show that it is alive. If reading a long prompt or computing a perplexity takes longer than half a second, and the standard error is a terminal, a line there shows the progress and is erased
when the work is done. (Weights are mapped, and loading them is quick; what takes time is a large vocabulary, whose reader cannot say how far it is; so it is only announced.) The number comes from the engine, which asks its caller between the layers, and at least every few dozen rows, whether to go on (\cref{sec:progress}). After Ctrl-C the answer is no: a prompt that is being read is
abandoned in the middle of a pass, the store keeps none of its rows, and the object of \texttt{--json} is printed with no ids in it.
@^Ctrl-C@>

@ No subcommand names |stdout|. Each is handed a \emph{console}, a structure with the three streams, the allocator, and two functions for the
keyboard: one begins to listen for Ctrl-C, the other asks whether it was pressed. |main| fills in the real ones. A
test fills in files or blocks of memory and functions of its own, and so it can simulate Ctrl-C after exactly three tokens, any number of times in one process.
Here the streams are temporary files.
@^tests@>

@<Make a console of files@>=
static void listen_to_nobody(void)
{
}

static bool never(void)
{
  return false;
}

static struct console console_of(struct memory *m, FILE *out, FILE *err)
{
  struct console c = @[{ .in = stdin, .out = out, .err = err,@|
    .in_terminal = true, .program = "incipit", .build = "none",@|
    .memory = m, .listen = listen_to_nobody, .interrupted = never }@];
  return c;
}

@ After the run the two streams are printed, each line with the name of its stream before it.

@<Run a line, and show its three results@>=
static void show_stream(FILE *from, const char *name)
{
  char line[256];
  rewind(from);
  while (fgets(line, sizeof line, from) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    printf("  %s  %s\n", name, line);
  }
  fclose(from);
}

@ |command_run| is the whole command except for |main|. It returns the exit status, and all memory is free again when it returns.

@<Run a line, and show its three results@>=
static bool run_line(int argc, char **argv)
{
  struct memory m = @[{ .fail_at = 0 }@];
  FILE *out = tmpfile(), *err = tmpfile();
  if (out == NULL || err == NULL) return false;
  struct console c = console_of(&m, out, err);
  int status = command_run(&c, argc, argv);
  printf("$");
  for (int i = 0; i < argc; i++)
    printf(strchr(argv[i], ' ') != NULL ? " \"%s\"" : " %s", argv[i]);
  printf("\n");
  show_stream(out, "out");
  show_stream(err, "err");
  printf("  status %d\n", status);
  return m.all.live == 0;
}

@ We run six lines: a text that is continued, a file that is missing, and four requests that are wrong. For none of the four is a
model opened: a mistake in the line itself is reported at once, even if the model would take a minute to load.

@<Run a line, and show its three results@>=
static bool run_lines(void)
{
  static char *line[][6] = @[{
    { "incipit", "generate", "-mmodels/pocket", "The cat sat", "-n4" },@|
    { "incipit", "generate", "-f", "/nowhere" },@|
    { "incipit", "generate", "--josn" },@|
    { "incipit", "tokenize", "--ids" },@|
    { "incipit", "trace", "--top=0" },@|
    { "incipit", "generat", "--json" } }@];
  for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
    int n = 0;
    while (n < 6 && line[i][n] != NULL) n++;
    if (!run_line(n, line[i])) return false;
  }
  return true;
}

@ Here they are, each with what it wrote to the standard output (\texttt{out}) or to the standard error (\texttt{err}), and with its status:

\widecheckpoint[1,19]{build/out/command.txt}{six lines, and what each prints on which stream}

@* Signals. \label{sec:signals}
If you press Ctrl-C during a generation, you have seen enough, but the output so far should be well formed: an object of JSON
must be closed, and the counts must be printed if they were asked for. So the signal handler only sets a flag, and the loop of chapter 3 ends at the next step after
its watcher has seen the flag. A second Ctrl-C kills the program at once, because the first one restored the system's default action. The handler is
installed when a generation begins; before that, while a model is being loaded, Ctrl-C ends the program as usual. The flag is the only
variable in the whole project that is not local to a function or in allocated memory. A signal handler can reach only such a global variable, so we keep it in |main|'s file and
not in the library.
@^Ctrl-C@>@^signal handler@>

One more signal is caught. A model's file is mapped, and another program may shorten it while we read; then the address
no longer has any data, and the system sends |SIGBUS|. A library must not touch the signals of the program that uses it. The command may, and ends with a sentence that says what
has most likely happened instead of the shell's two words about a bus error. It cannot continue: returning from the handler would repeat the read that failed.
@^SIGBUS@>

@* The table of options. \label{sec:table}
Every option is mentioned in four places: where it is parsed, in the help, in the manual page, and in the list from which the shell
completes a word. Four lists that are kept by hand soon disagree. So there is one table, and all four are made from it:
\cref{fig:fourforms}. A row has the names of the option, the name of its value, its limits, the subcommands to which it belongs, and the text of the
help. It also names the function that reads the value; most values are integers and share one reader. This is the row of one option:
@^options@>@^help@>

\medskip
{\parindent0pt\obeylines\small\ttfamily
[OPTION\_TOP] = \char`\{ .name = "top", .value = "K", .where = R,
\quad .read = read\_count, .least = 1, .most = \given{100},
\quad .words = "show the K likeliest candidates",
\quad .normal = "5" \char`\},
}
\medskip

\fig{fourforms}{fig:fourforms}{One row of the table, and what is made of it. A name that is
written once cannot be spelled in two ways.}{A diagram. On the left a box with one line of the
option table: its name top, its value K, the limits 1 and \given{100}, its words, and the subcommand
trace. Arrows go from it to four boxes on the right: an error message with the limits, a line of help,
a line of the manual page, and a list of words for the shell.}

To add an option you write its name in an enumeration and a row here; it is then parsed, explained, completed, and suggested to users who
misspell it. A test goes through the table and fails if an option has no effect, or accepts every value. The
subcommands have a table of their own, with an example in each row, and the tests run each example as it is printed, because people copy examples. The installed program writes its own manual
page during installation, so the two always agree.

@* Reading a command line. \label{sec:parsing}
The rules are the usual ones. \texttt{-n 3}, \texttt{-n3}, \texttt{--max-new-tokens 3} and \texttt{--max-new-tokens=3} mean the same; two dashes alone end the
options; one dash alone is the standard input; if an option is given twice, the last one counts, so that you can append a correction to a long
line. A prompt that begins with a dash goes after two dashes, or after an equals sign: \texttt{generate -- --help} continues the text \texttt{--help}. \texttt{--help} wins over everything that comes after it.
@^command line@>

Four decisions go further than the usual parser. \emph{A value is checked when the line is read}, against the limits in the table, which are chosen
so that no later calculation can overflow. \emph{Options that contradict each other are refused}, and the sentence names both. A rule by which one of
them wins would help only users who know it, and would hide the mistake from all others. \emph{An option belongs to a
subcommand}: accepting one that has no effect would be a lie. And \emph{for an unknown name the command suggests the one that was probably meant}: the only one that begins with it, or else the nearest by the table of the hand calculation. If the slips would be more than a third of the
letters, no name is suggested, since such a guess misleads more often than it helps. Words that other programs use, such as llama.cpp's \texttt{-ngl} or ollama's \texttt{run}, have a small table of their own, with what to type instead: to us \texttt{-ngl} is the letter \texttt{n} with the value \texttt{gl}, and a sentence about that value would help no one who typed it. Because of these four decisions we wrote a small parser and do not use |getopt_long|, which accepts abbreviations, whose meaning
changes with each new option, keeps global state, and prints its own messages.\side{\cited[Damerau 1964]{Damerau 1964}; \cited[Levenshtein 1966]{Levenshtein 1966}. Our table never edits the same part of a word twice, which is enough for typing errors.}

Numbers are digits and nothing else. The C library's |strtoull| also accepts blanks, a sign, and anything after the number, and it turns $-1$ into a very
large number without complaint. Our reader tests whether the next digit still fits before it adds it, since an unsigned integer that has wrapped around looks harmless afterwards.
@^overflow@>

@* From a command line to ids. \label{sec:prompt}
A prompt can be given in six ways: as a word on the line, after \texttt{--prompt}, in a file, through the standard input, as ids, or not at all. Two of them at once are a
contradiction and are refused. If the line does not say where the prompt is and the standard input is not a terminal, the prompt is read from there, so the command can
be the end of a pipe. If it is a terminal, the request is refused with a sentence. A program that silently waits for input looks like a
program that is working.
@^prompt@>

An empty prompt is allowed, but the model needs a row to predict from, so a token is put there: the one with which the model's texts begin or, if its
files name none, the one with which they end, because after the end of one text the next begins.

@* Setting up a subcommand. \label{sec:outfit}
Before a subcommand runs, its model, tokenizer, cache and workers are opened, and only those that it needs: counting tokens should not load any weights.
The cheap things are opened before the expensive ones, so that a mistake is reported before the user has waited. The built-in model is found through the variable
|INCIPIT_MODEL|; if that is not set, the command looks near the program, first where \texttt{make install} puts it and then in the clone. The number of workers comes from
\texttt{--threads}, from |OMP_NUM_THREADS|, or from the number of physical cores; the kernels come from |INCIPIT_ISA|, or are the fastest that the machine can run. Neither choice changes
an answer, by the second promise of the preface; both change the time.
@^threads@>

@* Generating. \label{sec:generating}
|generate| is the loop of chapter 3 with a watcher. After every step the watcher learns which token was chosen and prints those bytes that
are certain. An incomplete character, and anything that may be the beginning of a stop string, waits in the text stream of chapter 8. The output buffer is flushed after
each token; otherwise a terminal would show a line at a time, and the program at the other end of a pipe would wait for a full
buffer before it saw the first word. The output has three forms: bytes as they come; with \texttt{--json} one object at the end; with \texttt{--jsonl} one object for each token and then that of \texttt{--json}.
@^streaming@>

How many tokens fit? Take a context of 8 and a prompt of 5. Tokens 6, 7 and 8 are generated and fed back to the model, and then the context is full. But the token that the
last row predicts is still valid. It needs no row of its own, because no later token will look back at it. So $8-5+1=4$ tokens can be written.

The settings of the sampler come from three places: the neutral values of chapter 7 with temperature 0, then the model's \.{generation\_config.json}, then the command line; each
overrides the one before. The model's file needs one rule. If it does not say that the model should be sampled, its temperature is ignored, because the libraries that write such files write all defaults, even
those that the model's authors never chose. A seed can be drawn at random; it is then printed on the standard error, because a text that you like must be repeatable. Log-probabilities, if you ask for them, are taken from the logits before any
setting has touched them: they are the model's probabilities, not the sampler's.
@^generation\_config.json@>@^seed@>

With \texttt{--num-sequences} several texts continue one prompt. They are written one after the other over the same cache, so only the first of them pays for reading the prompt. Hints
on the standard error tell the user what is easily overlooked: that the model was trained on conversations and does not expect a plain
prompt, or that an option such as \texttt{--top-k} changes nothing at temperature 0. The command gives hints and asks no questions, since a script could not answer.

@* Tracing. \label{sec:tracing}
|trace| is the same loop with another watcher. For each step it prints which rows were computed for the first time and which were recomputed, the likeliest
tokens with their probabilities, and the choice with its reason: greedy, sampled, forced because no other token was left, or stopped. It does not assume what the
engine does: all its numbers are differences of the engine's counters before and after the step. So if a loop computes less, its trace shows less, without a change to
|trace|. The grids of chapters 3 and 4 were made in this way.
@^counters@>

The loop does not report the attention weights of a head. If you ask for them, a second pass runs over the same text, with a store and counters of its own,
so that the numbers of the trace remain those of the loop alone.

@* Shortest digits. \label{sec:shortest}
A logit is a float32, and a program that compares two engines must recover exactly the same 32 bits from the printed digits. Nine
significant digits are always enough, and a double needs at most 17. But \given{0.1} printed with nine digits is \given{0.100000001}, and a table of such numbers is unreadable. So we print the
fewest digits that read back.
@^shortest digits@>

\begin{byhand}{the shortest number that reads back}
We want to print a number with the fewest digits from which it can be read back exactly. Take a toy format with three
significant bits: $8,10,12,14,16,20,24,28,32,40,\ldots$, and so on upwards. A
decimal that is read is rounded to the nearest of these. Each number therefore owns an interval that reaches half-way to its
neighbours, and we look for the decimal with the fewest digits in that interval.

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

So 96 is printed as 1e2, and 112 as 1.1e2. Nothing is lost: a program that reads them
gets 96 and 112 back. The power of two in the list, 16, owns less below itself than above.
\end{byhand}

There are famous and fast algorithms for this.\side{\cited[Steele and White 1990]{Steele 1990}; \cited[Gay 1990]{Gay 1990}; \cited[Adams 2018]{Adams 2018}.} Ours is slow but evidently correct. The C library rounds correctly in
both directions, so |number_float| prints with nine digits, then with eight, and so on, reads each result back, and stops at the first that gives
another number. For a given number of digits the library prints the decimal that is \emph{nearest}. If that decimal does not read back, can another of the same length? Only for powers of two, whose interval
reaches half as far down as up: there the next decimal above may be inside although it is farther away. Among all float32 numbers there are three such cases; for them the function tries that decimal as well.

\fig{digits}{fig:digits}{How many digits it takes: of \val{json.digits.numbers} floats with random
bits, those that need 1, 2, \dots, 9.}{A bar chart. Along the bottom the number of digits from 1 to 9, upwards
the count of numbers. Up to six digits there is next to nothing; seven digits are just enough for
\val{json.digits.7} numbers, eight for \val{json.digits.8}, and \val{json.digits.9} need nine.}

@ Of \val{json.digits.numbers} floats with random bits, \val{json.digits.7} need seven digits, \val{json.digits.8} eight and \val{json.digits.9} nine
(\cref{fig:digits}), so counting down from nine ends after two or three attempts. The significant digits of a printed number are all but the leading zeros,
the zeros that only fill the space before the decimal point, and the digits of the exponent.

@* The protocol. \label{sec:probe}
Two programs that claim to compute the same can be compared only if they can be asked the same questions. \texttt{incipit probe} answers questions in JSON, one on each line. What are the ids of this text?
What are the logits after these ids, with a cache or without, in chunks, or in a batch with other sequences? What does this stage of the sampler do to these logits? Which text does this search find? A file of such questions with their
answers tests every program that implements the protocol, in any language. \Cref{fig:probe} shows what happens to a line.
@^protocol@>@^JSON@>

\fig{probe}{fig:probe}{What happens to a line. Whatever comes in, exactly one line goes out, and a
question that cannot be answered has no effect on the next one.}{A flow from the left to the right. A line is read; if it is no object, has a wrong key or a value out of range, it goes down to an error line. Else it is computed; if that fails, it goes down to the same error line. Else it is
written as an answer. Both ways lead to one line out, and back to the next line in.}

Three rules make it dependable. Every line gets exactly one answer, in order. An answer is computed completely before its first character is written,
so a failure half-way gives an error line and not half an answer. And no answer depends on the lines before it. So you can write questions and answers
to two files and still match them line by line a year later.

The reader of questions is strict, because tolerance makes answers ambiguous. An unknown key is an error: if a misspelled key were ignored, the answer would belong to another question. An id written
as \texttt{1.0} is an error, since many programs read every number as a double, and a large seed would become another seed. A line that has the same key twice is an error. The library jansson parses the line, but we do not use it to
print: it writes every number as a double and builds a tree first, and an answer may contain more numbers than the model has weights. So the answers are written directly to the stream,
by a dozen small functions that remember only whether a comma comes next.

@* The chat. \label{sec:chat}
A conversation is a text that two parties write in turns, so new text is always added at the end. Chapter 4 keeps the rows of a text, and \cref{templates} says which ids represent a turn. Together they give a
conversation in which no row is computed twice. \texttt{incipit chat} combines them with a line editor from the library libedit.
@^chat@>@^conversation@>

\begin{byhand}{four turns, with the cache kept and without}
Let each question have 10 ids, including those that the template adds, and each answer 6, including the end mark. A program without a cache reads the whole conversation again at each turn. A program that keeps its rows reads the question and, before it, the end mark, which was generated but not yet fed to the model. While an answer is generated, both compute a row for each of its ids except the last.

\medskip
\begin{tabular}{@@{}lrrr@@{}}
\tabhead{turn} & \tabhead{ids of the prompt} & \tabhead{rows, without} & \tabhead{rows, kept}\\
1 & 10 & $10+5=15$ & $10+5=15$\\
2 & $10+6+10=26$ & $26+5=31$ & $11+5=16$\\
3 & $26+6+10=42$ & $42+5=47$ & $11+5=16$\\
4 & $42+6+10=58$ & $58+5=63$ & $11+5=16$\\
together & & 156 & 63
\end{tabular}
\medskip

The tenth turn costs 16 rows with the cache, like the second, and without it $58+6\cdot16+5=159$.
\end{byhand}

@* Saving a conversation. \label{sec:kept}
A conversation is kept in two forms. One is the list of turns as text, which a chat template needs. The other is the list of ids, both those fed to the
model and those that it generated. We could compute the ids from the turns again at any time, as a stateless server does for every request. We keep them because they are exact. The model may generate two
tokens where its tokenizer would encode the same text as one; the cached rows from there on would not match, and would have to be computed again.
@^chat template@>

The next prompt consists of the ids so far, followed by those of the new turn. The loop receives the whole prompt each time, compares it with the ids whose rows are in the cache, crops what differs, and computes the
rest. Nothing more is needed: the same comparison serves a template that rewrites its old turns (then everything after the first change is computed again), the command \texttt{/new} (the next
conversation still shares its beginning with the last), and the second of several texts of |generate|. An answer must be closed by the mark that the template puts after it. If the model ended with
another of its end tokens, that token is replaced. The replacement costs no computation, because the last token of a text has not been fed to the model and has no row yet.

When a conversation no longer fits the context, many programs silently drop its oldest turns. Ours also drops them, but it keeps the system prompt at the beginning and says how many turns it has dropped. How many should go? As few as possible, you would say, and at first we did. But every row after the gap has another position now and must be computed again; and the next question finds the context
full once more. So each turn of a long conversation read nearly all of it. We now drop until what is left fills at most half of the context. That half is read once, and then many turns cost only what they bring. In either case the model forgets what was
agreed an hour ago; here you know why. A question is refused only if it would not fit even alone, and the message gives both numbers.
@^context@>

\texttt{/save} writes a line of JSON for each turn, and \texttt{/load} reads it. JSON holds text and no other bytes, but an answer that was cut may end within a character. So a turn that is not UTF-8 gets its bytes in hexadecimal as well; other programs read the text, with a replacement character where it is broken, and ours reads the bytes.
@^UTF-8@>

@ The program has a short conversation with the built-in model, and after each answer records two numbers: the rows that were read for the question, and all rows of the turn. It also computes how many rows
a program would need that reads the whole conversation at each turn.

@<Have a conversation, and count its rows@>=
static const char *const said[] = @[{ "Hello!",
  "What does the fox say?", "Where does the cat sleep?",
  "Thank you!" }@];
enum { SAID = sizeof said / sizeof *said };
static bool say_all(struct chat *t, bool keys)
{
  uint64_t kept = 0, again = 0;
  for (size_t i = 0; i < SAID; i++) {
    const struct turn_cost *k = &t->cost;
    if (!keys) printf("> %s\n", said[i]);
    if (chat_send(t, said[i], strlen(said[i])) != CHAT_DONE) return false;
    if (!keys) printf("  [%zu ids and %zu; %" PRIu64 " rows read, %" @|
      PRIu64 " in all]\n", k->given, k->written, k->read, k->rows);
    kept += k->rows, again += k->rows - k->read + k->given;
    if (keys) printf("chat.ids.%zu %zu\nchat.read.%zu %" PRIu64 "\n",@|
      i + 1, k->given, i + 1, k->read);
  }
  if (keys) printf("chat.rows.kept %" PRIu64 "\nchat.rows.again %" @|
    PRIu64 "\n", kept, again);
  return true;
}

@ Like every run, the conversation is opened with the options of a command line.

@<Have a conversation, and count its rows@>=
static bool converse(bool keys)
{
  char *line[] = @[{ "incipit", "chat", "-m", "models/pocket",
    "--template", "pocket", "-t", "1", "-n", "24", NULL }@];
  struct memory m = @[{ .fail_at = 0 }@];
  struct command_line w;
  struct error why;
  struct chat t;
  FILE *out = keys ? tmpfile() : stdout;
  if (out == NULL || !options_parse(&w, 10, line, &why)) return false;
  struct console c = console_of(&m, out, stderr);
  bool ok = chat_open(&t, &c, &w) == STATUS_DONE && say_all(&t, keys);
  chat_close(&t);
  return ok && m.all.live == 0;
}

@ The first number in brackets is the length of the prompt, the second that of the answer:

\checkpoint[20,40]{build/out/command.txt}{a conversation, and what each turn cost}

The last prompt has \val{chat.ids.4} ids, and \val{chat.read.4} rows were read for it: those of the new turn, and one for the mark that ended the answer before it. All four turns together took
\val{chat.rows.kept} rows. A program that reads the whole conversation at each turn computes \val{chat.rows.again} and gives the same answers; its sum grows with the square of the
length. So the tenth question costs no more rows than the second. It still takes a little longer, because each new row attends to all rows before it, and these must be fetched
from memory for every token (\cref{sec:cachebill} counts the bytes).

@* A first model in one line: pull. \label{sec:pull}
The built-in model is small enough to come with the book. Now you want a larger one, and it is at Hugging Face's hub:

\medskip
{\parindent0pt\obeylines\small\ttfamily
\$ incipit pull HuggingFaceTB/SmolLM2-\given{135}M-Instruct
\$ incipit chat -m HuggingFaceTB/SmolLM2-\given{135}M-Instruct
}
\medskip

\noindent
How hard can the first line be? The hub is a web server, a model is a handful of files, and \texttt{curl -O} copies a file. Try it, and wait. After nine tenths the connection
breaks, and what is left on the disk has the right name and a wrong end. You let curl go on from there. Meanwhile the model's makers have put a better file in the place of the old one, so now its beginning is of one version and its end of
another. It loads, since the sizes are right, and the model talks nonsense. Nearly all of |pull| is about such accidents, and about a few that are not accidents. We go through it in the order of a run.
@^pull@>@^hub@>@^Hugging Face@>

\emph{The question.} We first ask the hub what it has. Its answer is an object of JSON with the \emph{commit}, which names this state of the repository, and for each file a name, a size and a sum. You see the list with all sizes before
anything is fetched; with \texttt{--dry-run} that is the end. From now on we ask for files of this commit, so that a change at the hub cannot give us half of each version.

Look at this answer as its reader does. A machine that is not ours tells us under which names we shall write how many bytes to your disk. So \.{program/hub\_list.c} reads it as we read the files of models (\cref{sec:hostile}), with limits and with sentences about the field that is
wrong. A file called \.{../../.profile} would be written outside the model's folder; this is called \emph{path traversal}. No honest answer has such a name, and therefore we refuse the whole answer and not only that file.
@^path traversal@>

\emph{The choice.} A repository often has the same weights in four formats, so fetching everything would be a waste. We take what the engine reads: the settings, the first vocabulary in the order in which the engine looks for one, the chat template, and \.{model.safetensors}, or its parts with their
index. A repository of GGUF files has one model in many types; you choose one by a word of its name, as in \texttt{ORG/NAME:Q4\_K\_M}, and if you do not, |pull| lists them.

\begin{byhand}{four bytes of ten are here}
A file has ten bytes. Four had come when the connection broke, and the server had called its version \texttt{"v1"}; this mark is the \emph{ETag}. The next run asks for the bytes from 4 on, by a header called \texttt{Range}, and on a condition, by another one, \texttt{If-Range}. This is a conditional \emph{range request}: if your
version is still \texttt{"v1"}, send the rest, and if not, send everything. What may come back, and what do we do?

\medskip
\begin{tabular}{@@{}lll@@{}}
\tabhead{answer} & \tabhead{it means} & \tabhead{we}\\
206, 4-9/10, \texttt{"v1"} & the rest of it & append six bytes\\
200, ten bytes & all it has now & begin with these\\
206, 4-9/10, \texttt{"v2"} & the rest of another & ask for all\\
206, 4-8/9 & part of another file & refuse, keep four\\
416 & no such range & ask for all
\end{tabular}
\medskip

Without a mark we could not ask on a condition, so without one we begin again. A weak mark, \texttt{W/"v1"}, promises only that two versions mean the same, which is no use to somebody who joins bytes.
\end{byhand}
@^ETag@>@^If-Range@>@^range request@>

\emph{The sum.} These rules save time; what they cannot do is prove that the file is right, since a server may break them all. The proof is the sum. The hub gives the SHA-256 of each large file, and for a small one the sum by which git knows it, a SHA-1 of its length and its bytes. We compute the sum over every byte, and
for that a run that goes on reads the first part back from the disk. Until the sum is right the file is called \.{NAME.SUM.part}, with the first digits of the sum that it must have; a file that the hub has replaced has another sum, so nothing is ever appended to the old part. If the sum is wrong, everything that came is thrown
away: nobody knows which byte is bad. SHA-1 is broken, in that two files with the same sum can be made on purpose. It still finds every accident; who sent the file is a question for TLS.
@^SHA-256@>@^SHA-1@>

Then the file is renamed, in one step (\cref{sec:streams} has no half results either). \.{config.json} always comes last. A folder without it is no model for any of our programs, so what \texttt{-m} finds is whole, however the run before it ended.

\emph{The redirect.} For a large file the hub answers: it is over there, at some storage company's address. Many people also have a \emph{token}, a secret that tells the hub who they are. A client that follows redirects by itself and sends the same headers again hands the secret to the company. Ours
decides at each step. The token goes to the hub's own scheme, host and port and to nobody else, and never over plain http, except to this machine. An address must begin with http or https: a redirect to \.{file:///etc/passwd} would copy that file into the folder of a model. From https we do not go back to
http, and after ten steps we stop, since somebody may be sending us in a circle.
@^redirect@>@^token (secret)@>

\emph{The disk.} The room on it is compared with the list before the first byte; finding out after an hour is worse. If a write fails all the same, what has come is kept. A second |pull| into the same folder is refused while the first one runs. Ctrl-C is obeyed within a tenth of a second, and the sentence says how much is kept: typing
the same line again goes on from there. In a folder of your own (\texttt{--dir}) nothing is replaced. Otherwise models are kept below \.{\char`\~/.cache/incipit}, each in a folder that you can remove; \texttt{pull --list} shows them.
@^Ctrl-C@>

\emph{And nothing else asks the network.} After \texttt{-m}, a path that exists is a path. Otherwise, if it could be the name of a model, we look among those that were fetched. If it is not there, you read a sentence, with the line that would fetch it. We could fetch it at once, and some programs do. But then a slip of one
letter loads four gigabytes of a model that you did not mean, and a script that ran yesterday waits for the network today.

How do you test all this without the hub? With a hub of your own. The suite has one in a thread: it is told to cut a file after so many bytes, to lie about ranges, to send people in circles, to answer like a hub with a bad day, and it writes down what it was asked, tokens included. Every guard of this section has a planted
fault, a version of |pull| without it, and for each of them some test must fail.

@* Hostile input. \label{sec:hostile}
A program that reads input from strangers must be tested with hostile input. Each option has a line in a table of tests for every subcommand that takes
it: two runs that differ in that option alone, with the difference that their outputs must show; and a third run, which must be refused. Each refusal has a line as well, with words that its
sentence must contain, and no two refusals may have the same sentence. The tests make every allocation of a subcommand fail once, and the command must then print a sentence and free all memory. They also ask the protocol
questions whose answers were computed by a program in another language.
@^tests@>

The tests damage the files of a model bit by bit (\cref{sec:siege}). What remains are inputs that we did not think of. A fuzzer finds them:\side{\cited[Miller, Fredriksen and So 1990]{Miller 1990}; guided by coverage: \cited[Zalewski 2013]{Zalewski 2013}, LLVM's
libFuzzer.} it changes bytes at random, watches which branches of our code were reached, and keeps every input that reached a new one. We fuzz the command line, the protocol, and the readers of tokenizers, vocabularies,
tensor files and settings. None of them may crash, leak, ask for memory that its input does not justify, or read one byte past the end of a file. The best finds are kept and replayed by every \texttt{make check}. And to prove
that the fuzzer would notice something, \texttt{make fuzz-proof} plants one fault in each parser, a bound that is off by one, and waits until the fuzzer finds it.
@^fuzzing@>

The exercises ask what you may expect of a command, as its user and as its programmer.

\begin{exercises}
\exercise{check}{ex:command.doors}{You type, after \texttt{incipit}: \texttt{--help}; \texttt{generate --josn --help}; \texttt{generate --help --josn};
\texttt{generate The -n 0 --stats}, into a pipe; \texttt{help genrate}. Which exit status has each line, and does it write to its standard
output?}{\texttt{make exercise-W14-1}}{0, 2, 0, 0, 2, and only the first and the third do. A line is
read from the left: a mistake before \texttt{--help} is reported, one after it is not. Help that was asked for is a result. Statistics are a
message, and with no tokens there is no text to print.}
\exercise{check}{ex:command.table}{Fill the table of the hand calculation for \texttt{ca}, at the left, and \texttt{abc}, above. How many slips are
counted, and how few would do?}{\texttt{make exercise-W14-2}}{3 and 2: exchange the two letters and put one between them. The table
misses that, because it counts an exchange only where the two letters are neighbours in both words.}
\exercise{think}{ex:command.slip}{Misspell an option of \texttt{generate} so that the command would suggest another one if the exchange of two neighbouring
letters counted as two slips instead of one.}{\texttt{make exercise-W14-3}}{The right option must be one exchange away, and another that comes before it in
the table two slips: \texttt{--jsnol} is \texttt{--jsonl} with two letters exchanged, but also \texttt{--json} with one letter changed
and one too many.}
\exercise{think}{ex:command.interrupt}{You press Ctrl-C while the prompt is being read. How many tokens does \texttt{generate The -n 3} write,
and what is its exit status? And with \texttt{-n 1}?}{\texttt{make exercise-W14-4}}{None, and the status of a cancelled run, in both cases: the engine asks within the pass whether
to go on, and a pass that is given up leaves no logits from which a token could be chosen.}
\exercise{check}{ex:command.script}{Write a shell script that lets \texttt{generate} continue each line of its standard input by three tokens, as an object of JSON
a line; that continues if one of them fails, and then ends with status 1. A line may be anything: empty, a dash, \texttt{--help}, with blanks
at its beginning.}{\texttt{make exercise-W14-5}}{In the loop \texttt{while IFS= read -r line} the command is \texttt{incipit generate -n 3 --json
--prompt="\$line" </dev/null}, followed by \texttt{|| status=1}. After two dashes a line of one dash would still be the standard input; after the equals sign
nothing has a special meaning.}
\exercise{check}{ex:command.option}{Give |generate| an option \texttt{--no-hints}. How many places of the program change, and in how many outputs does it
appear?}{\texttt{make exercise-W14-6}}{Three: its name, its row in the table, and one condition where the hints are given. It is then in the help, the manual
page, the completion, and the suggestions for misspelled names. Its bit is that of |generate| alone: |trace| gives no hints, and an option without an
effect is a lie.}
\exercise{check}{ex:json.toy}{In the toy format of the second hand calculation, with three significant bits, how are \given{448} and \given{512}
printed?}{\texttt{make exercise-W14-7}}{\given{448} is between \given{384} and \given{512} and owns the interval from \given{416} to \given{480}. It contains no decimal of one
digit; of those with two, \given{4.5}e2 is the nearest. \given{512}, with \given{448} below and \given{640} above, owns the interval from \given{480} to \given{576}: 5e2.}
\exercise{think}{ex:questions.pipe}{A reader has closed the pipe before \texttt{generate The -n 3} writes into it. What is the exit status? And what
would the shell report if |main| had no line about |SIGPIPE|?}{\texttt{make exercise-W14-8}}{1, without a sentence, because what was asked for could not be done and
there is no reader to tell. Without the line the signal, number 13, ends the program, and the shell reports $\given{128}+13=\given{141}$; a script could not tell that from a
crash.}
\exercise{think}{ex:questions.conform}{Write a script that is given the name of a command, ours or another's, and finds out by \texttt{probe forward} whether its
logits depend on the chunk, the batch (the key \texttt{mates}) or the cache: exit status 0 if they do not, 1 if they do, or if there is no
answer.}{\texttt{make exercise-W14-9}}{Ask for \texttt{"rows":"all"} of five ids, plainly and with other values of the three keys, and compare the answers as lines:
they must be equal character for character. If you asked for the last row alone, you would miss an error in the others. A command that answers every line with the same
error gives equal lines as well, so check their beginning and their number.}
\exercise{check}{ex:chat.again}{You say \texttt{Hello!} to the built-in model, type \texttt{/new}, and say \texttt{Hello!} again. For the first \texttt{Hello!} 8 rows were read. How many are read for the second?}{\texttt{make exercise-W14-10}}{1. All rows of the second prompt are still in the cache. But the logits of the last one are not kept, so that row is computed again.}
\exercise{think}{ex:chat.cut}{In the program's conversation \val{chat.read.2} rows are read for the second question. How many are read for it if the first answer was stopped after three tokens?}{\texttt{make exercise-W14-11}}{One more. The last token of an answer has been generated but not fed to the model. In a complete answer that token is the mark; in a stopped one it is part of a word, and we put the mark after it.}
\exercise{think}{ex:chat.count}{Add the command \texttt{/count}, which prints on the standard error how many turns the conversation has, not counting the system prompt, and how many ids.}{\texttt{make exercise-W14-12}}{A row in the table of |"chat_slash.c"| and a function of three lines, which prints |t->n - t->first| and |t->text.n|. The help lists it by itself.}
\exercise{check}{ex:command.pull}{The variable |HF_ENDPOINT| names a port of this machine where no program listens. Which exit status have these lines, after \texttt{incipit pull}: \texttt{gpt2}; \texttt{a/b}; \texttt{a/../b}; \texttt{a/b:Q4\_K\_M --dry-run}; \texttt{--list}?}{\texttt{make exercise-W14-13}}{2, 1, 2, 1,
0. The first and the third are no names, and never will be; the second and the fourth may succeed tomorrow, when somebody answers; the last one asks nobody.}
\end{exercises}
