@i types.w
@s FILE int
@s pthread_t int
@s sigset_t int
@s ssize_t int
@s size_t int

\chapterquestion{The scheduler is fair to everybody who behaves. What must stand before it when everybody may come, and some of them vanish, drip, or lie about how much they send?}
@** The server.
\incipit{I}{n \cref{serving} thirty} students shared one machine, and none of them ever closed his notebook in the middle of an answer. In a real classroom they do. One of them leaves a loop running that sends the same request every second. The wireless network drops a connection and tells nobody. And if the machine can be reached from outside, somebody will try what happens when a request says twice how long it is, with two different numbers.

A server has to give each of them the right answer, or a refusal that says why, and it must never let one of them harm another. \texttt{incipit serve} does this over HTTP, in the part of OpenAI's interface that programs use, so a student can talk to it with any of the usual clients. Its promise is ours: \emph{an answer is, bit for bit, what \texttt{incipit generate} prints for the same prompt, options and seed}. The scheduler keeps that promise (\cref{sec:scheduler}). This chapter is about everything else.
@^server@>@^HTTP@>

\begin{byhand}{a reader who is slower than the writer}
A student has opened a stream of tokens on a telephone, in a train. The model writes 50 tokens a second, and each is an event of 180 bytes. The telephone takes 3000 bytes a second. How many bytes does the server hold for it after 10 seconds, and how many at most, if the answer has 800 tokens?

After 10 seconds 500 events have been made, $500\cdot180=90000$ bytes, and $10\cdot3000=30000$ were taken: 60000 bytes wait.

The answer is complete after $800/50=16$ seconds, and $800\cdot180=144000$ bytes long. By then $16\cdot3000=48000$ bytes have been taken, so 96000 wait, and from there on it gets less. The server never holds more than the answer has, whatever the telephone does. And if it takes nothing at all for \texttt{--send-timeout} seconds, the request is cancelled.
\end{byhand}

@ Every chapter has a program that shows what it is about. This one starts the server in its own process, as the tests do (\cref{sec:streams}), and talks to it through a socket. Its requests are written out as bytes, because a well-behaved client would refuse to send most of them.

@c
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "command.h"
@;@#
@<Start a server, and end it@>@;
@<Send bytes, and hear what comes back@>@;
@<Nine requests that nobody should send@>@;
@<One that everybody sends@>@;
@#
int main(int argc, char **argv)
{
  struct house h = @[{ .status = 0 }@];
  if (argc > 1 && strcmp(argv[1], "values") == 0) return printf("server.refused %zu\n", N_NINE) > 0 ? 0 : 1;
  bool ok = start(&h) && send_nine(&h) && send_one(&h);
  return end(&h) == STATUS_DONE && ok ? 0 : 1;
}

@* A request's way. \label{sec:requestway}
Let us follow one request. Bytes arrive on a connection; \emph{libmicrohttpd}, a library that most systems have, makes headers and a body of them. The body is JSON. Its fields are read in the order of one table (\.{program/serve\_fields.c}), the prompt becomes ids, and what comes out is a \emph{job}: everything that the request wants, and room for everything that will be written for it. The job is put at the end of a line.
@^libmicrohttpd@>@^JSON@>@^job@>

From here on another thread goes on. The \emph{engine's} thread takes the first job that has a text to begin, hands its texts to the scheduler, and computes passes as long as there is anything to compute (\.{program/serve\_engine.c}). After each pass it writes down what each text has got. The thread of HTTP is woken, and turns that into JSON: the whole answer when the job is done, or one event for each token (\.{program/serve\_answer.c}). \Cref{fig:serverway} shows who does what.

\widefig{serverway}{fig:serverway}{Who touches a job, from its first byte to its last. Between the two dashed lines it belongs to the engine; HTTP reads what has been written under a lock, and never waits for a pass.}{A diagram with three lanes, for the watcher, the thread of HTTP and the engine's thread. In the lane of HTTP: bytes, headers, body, fields and ids; then the job crosses to the engine's lane: queue, slot, passes; after each pass an arrow goes back to HTTP, which writes an event; at last the answer is sent, and the job is freed. In the lane of the watcher ticks, ten times a second, look at every connection.}

Why two threads, and not one for each request, as many servers have it? Because the weights are read once for everybody: all texts are in one pass, and a pass has one owner. And why not one thread for all? Because a pass may take a second, and whoever asks \texttt{/health} in that second wants an answer now. So passes are computed in one place, and everything that may not wait for them happens in the other.

The two share little, and that is why it can be checked. A job belongs to HTTP until it is submitted, and again when it is done. In between, the engine writes to the lists that the structure marks as its own, and HTTP copies from them while it holds a lock for a few instructions. The memory of a job is counted in an account of the job (\cref{sec:memory}), so whoever frees the last one can see whether anything was lost. ThreadSanitizer finds nothing to say about it.
@^thread@>@^lock@>

A listener may leave while the engine still writes. Then the job is marked, the engine takes its texts out of the scheduler before the next pass, and whoever of the two lets go last frees the job.

@ The program's server is |command_run| in a thread. Signals end it, so the main thread blocks them before it starts another one, and sends one to its own process at the end.

@<Start a server, and end it@>=
struct house { struct memory m;@+ FILE *out, *err;@+ pthread_t thread;@+ unsigned port;@+ int status; };
static void *serve(void *ctx)
{
  struct house *h = ctx;
  static char *line[] = @[{ "incipit", "serve", "-mmodels/pocket", "--port", "0", "--max-body", "4KiB" }@];
  struct console c = @[{ .out = h->out, .err = h->err, .program = "incipit", .build = "none", .memory = &h->m }@];
  h->status = command_run(&c, 7, line);
  fclose(h->out);
  return NULL;
}

@ The port is a free one, which the server says in the first line that it prints. So the program reads that line, and takes the number from it.

@<Start a server, and end it@>=
static bool read_port(struct house *h, int from)
{
  FILE *in = fdopen(from, "r");
  bool ok = in != NULL && fscanf(in, "%*[^:]:%*[^:]:%u", &h->port) == 1;
  if (in != NULL) fclose(in);
  return ok;
}
static bool start(struct house *h)
{
  int ends[2];
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGTERM), sigaddset(&wanted, SIGINT);
  pthread_sigmask(SIG_BLOCK, &wanted, NULL);
  if (pipe(ends) != 0 || (h->out = fdopen(ends[1], "w")) == NULL || (h->err = tmpfile()) == NULL
    || pthread_create(&h->thread, NULL, serve, h) != 0) return false;
  return read_port(h, ends[0]);
}

@ At the end, all memory of the server must be given back.

@<Start a server, and end it@>=
static int end(struct house *h)
{
  kill(getpid(), SIGTERM);
  pthread_join(h->thread, NULL);
  return h->m.all.live == 0 ? h->status : STATUS_FAILED;
}

@* What is refused before a pass is computed. \label{sec:guards}
A library that speaks HTTP is a good thing to have: ours reads chunked bodies, keeps connections open, and answers pipelined requests in order, and we have not written a line for that. But it was made for clients who mean well. We sent it what others send, and found six things that it lets pass. Behind each stands an attack, or an accident that happens every day.

\emph{Two framings.} A request may say how long its body is, or send it in chunks that say so themselves. If it does both, a proxy before us may believe one and we the other; then the rest of the body is, to one of the two, the beginning of another request. That is \emph{request smuggling} (\cited{Fielding 2022}), and it has opened many doors. We refuse the request and close.
@^request smuggling@>

\emph{A transfer coding that nobody knows, or no \texttt{Host}.} The library would wait for a body that never comes, or answer without knowing to whom.

\emph{A drip.} The library's timeout begins anew with every byte. One byte every few seconds keeps a connection for ever, and a few such clients keep all connections (a \emph{slowloris} attack). So we count from a request's first byte to its last.
@^slowloris attack@>

\emph{A client that has gone.} While a request waits for its pass, its connection is \emph{suspended}: the library doesn't look at it. If the student closes the notebook now, nobody notices, and the model writes to the end of the context for nobody. Many servers do that, and it is the most frequent report about them.

\emph{A client that takes nothing.} See the box.

\emph{One connection too many.} It would wait without a word until another one ends.

The first three are seen in the headers. For the others there is a \emph{watcher}, a thread that looks at each connection ten times a second and asks the operating system three questions: has the other side closed? how many bytes have come? how many of ours have arrived there? From the answers it knows who has gone, who drips and who takes nothing, and shuts these connections down; the library then finds out for itself, so everything is given back in one place. All of it is in \.{program/http\_guard.c}, which is short enough to be read in one go.
@^watcher@>

@ The program sends \val[word]{server.refused} such requests. Each goes over a connection of its own. We print the first line of what comes back; if there is a second answer, one that could be taken for the answer to another request, we say so.

@<Nine requests that nobody should send@>=
#define POST "POST /v1/completions HTTP/1.1\r\n"
#define POST_JSON "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
static const struct { const char *what, *bytes; } nine[] = @[{@|
    { "a length, and chunks", POST_JSON "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
      "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" },@|
    { "two lengths", POST_JSON "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" },@|
    { "an unknown coding", POST_JSON "Transfer-Encoding: gzip\r\n\r\n" },@|
    { "no host", "GET /health HTTP/1.1\r\n\r\n" },@|
    { "a foreign host", "GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n" },@|
    { "not JSON, by its own words", POST "Host: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}" },@|
    { "a body of 5000 bytes, announced", POST_JSON "Content-Length: 5000\r\n\r\n" },@|
    { "a name that is misspelt", POST_JSON "Connection: close\r\nContent-Length: 15\r\n\r\n{\"temprature\":1}" },@|
    { "a number in quotation marks", POST_JSON "Connection: close\r\nContent-Length: 16\r\n\r\n{\"max_tokens\":\"5\"}" } }@];
static const size_t N_NINE = sizeof nine / sizeof *nine;

@ What comes back is one line, or it should be.

@<Nine requests that nobody should send@>=
static bool send_nine(const struct house *h)
{
  for (size_t i = 0; i < N_NINE; i++) {
    char answer[8192];
    if (!ask(h, nine[i].bytes, answer, sizeof answer)) return false;
    bool again = strstr(answer + 1, "HTTP/1.1 ") != NULL;
    printf("%-32s  %.*s%s\n", nine[i].what, (int) strcspn(answer, "\r"), answer, again ? ", and another" : "");
  }
  return true;
}

@ To hear an answer, we read until the other side closes. A request that we let pass would keep its connection, so each says that it is the last one, or is refused.

@<Send bytes, and hear what comes back@>=
static bool ask(const struct house *h, const char *bytes, char *answer, size_t size)
{
  struct sockaddr_in at = @[{ .sin_family = AF_INET, .sin_port = htons((uint16_t) h->port),@|
    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }@];
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  size_t n = strlen(bytes), have = 0;
  ssize_t got = 0;
  bool ok = fd >= 0 && connect(fd, (struct sockaddr *) &at, sizeof at) == 0
    && send(fd, bytes, n, 0) == (ssize_t) n;
  while (ok && have < size - 1 && (got = recv(fd, answer + have, size - 1 - have, 0)) > 0)
    have += (size_t) got;
  answer[have] = '\0';
  if (fd >= 0) close(fd);
  return ok && have > 0;
}

@ And one request that is as it should be. Its answer must have the text that the command writes, so the command writes it.

@<One that everybody sends@>=
static bool write_alone(char *text, size_t size)
{
  static char *line[] = @[{ "incipit", "generate", "-q", "-mmodels/pocket",@|
    "Once upon a time", "-n12" }@];
  struct memory m = @[{ .fail_at = 0 }@];
  FILE *out = tmpfile();
  struct console c = @[{ .in = stdin, .out = out, .err = out, .program = "incipit",@|
    .build = "none", .memory = &m, .listen = listen_to_nobody, .interrupted = never }@];
  if (out == NULL || command_run(&c, 6, line) != STATUS_DONE) return false;
  rewind(out);
  text[fread(text, 1, size - 1, out)] = '\0';
  fclose(out);
  return true;
}

@ In the answer the text stands between two quotation marks.

@<One that everybody sends@>=
static bool send_one(const struct house *h)
{
  static const char body[] = POST_JSON "Connection: close\r\nContent-Length: 50\r\n\r\n"
    "{\"prompt\": \"Once upon a time\", \"max_tokens\": 12  }";
  char answer[8192], alone[400];
  if (!ask(h, body, answer, sizeof answer) || !write_alone(alone, sizeof alone)) return false;
  size_t n = strlen(alone);
  const char *text = strstr(answer, "\"text\":\"");
  bool same = text != NULL && strncmp(text + 8, alone, n) == 0 && text[8 + n] == '"';
  printf("\n%.*s\n%s%s\nthe text of the command: %s\n", (int) strcspn(answer, "\r"), answer, "Once upon a time", alone,
    same ? "yes" : "no");
  return same;
}

@ (The console's two functions are those of \cref{sec:streams}: nobody presses Ctrl-C here.)

@<Start a server, and end it@>=
static void listen_to_nobody(void)
{
}
static bool never(void)
{
  return false;
}

@ \widecheckpoint{build/out/server.txt}{nine requests that nobody should send, one that everybody sends, and what came back}

The first line is the one that matters most: one status, and no second answer. Somebody had hidden a \texttt{GET} behind the body.

Two of the nine aren't about HTTP at all. A page from anywhere can make your browser send requests to your own machine, and a name of its own may even resolve to your address (\emph{DNS rebinding}); so a server on loopback answers to its own names only, and a body must call itself JSON, which a foreign page cannot do without asking first. And look at the last two. A server that read over \texttt{temprature} would sample at another temperature than you think, and never tell you.
@^DNS rebinding@>

@* A text in pieces. \label{sec:serverpieces}
A stream sends each token when it is known. But a token may end in the middle of a character, or with what may become a stop string; both wait in the text stream of \cref{stopping}, and a piece has only what is certain. So if you join all pieces, you have the text; and no piece ever shows a word that is taken back.
@^streaming@>

If a request asks for log-probabilities, each token must have a name in JSON, and a token need not be text: it may be two of the three bytes of a character. Then its name is \texttt{bytes:} and the bytes, and the exact bytes stand beside it. The log-probabilities themselves are those of the logits before any temperature, as everywhere in this program.

Programs that compare models ask for something else: how likely is a text that the model did \emph{not} write? They send it as a prompt, want nothing written, and the prompt echoed with its log-probabilities. For that the rows of the prompt must be computed even if the index has them (\cref{sec:prefixindex}), because nobody has kept their logits; |on_row| of \cref{sec:watch} sees them go by.
@^log-probability@>

@* What people see. \label{sec:serverpage}
\texttt{GET /} answers with a page. It is one file, \.{program/page.html}, needs nothing from elsewhere, and allows nothing to come from elsewhere. You type a prompt, and see each token arrive, shaded by its probability; point at one, and you see what might have come instead (\cref{fig:servertokens}). Below, the slots fill as in \cref{fig:slots}, and the pages of the cache beside them (\cref{fig:serverslots}).

\widefig{serverslots}{fig:serverslots}{Several texts share the built-in model, as the server's page shows them: each stretch is a text in a slot, and the pages that they need are counted below.}{A picture of the page in a browser: four rows of slots with stretches of different colours and lengths, and a chart of the pages of the cache that grows and falls.}

\fig{servertokens}{fig:servertokens}{A text as it arrives, and what might have come instead of one of its tokens.}{A picture of the page in a browser: a text whose tokens are shaded, and beside one of them a list of five alternatives with their probabilities.}

A model's text is the text of a stranger. If the page put it into itself as HTML, a prompt could make it run a program in the reader's browser. So it is only ever set as text, and the page's own policy forbids the browser to do otherwise. The test of the page (\.{tests/checks/page.sh}) opens it in a browser, types prompts with tags in them, compares what it shows with what \texttt{generate} prints, and counts requests to other machines: there are none.

@* The end. \label{sec:serverend}
When you stop a server, what happens to the student who has half an answer? The usual name for a good answer is \emph{graceful shutdown}. On the first signal we close the door: no new connection, and a new request on an old one gets status \given{503}. What has begun is finished, for at most \texttt{--drain-timeout} seconds. Only what is left then is cut, and told so. If nothing was cut the status is 0. A second signal ends the program at once; somebody who sends two means it.
@^graceful shutdown@>

After such an end the pages of the index can be kept for the next start (\texttt{--prompt-cache}). Such a file is refused if any weight, any setting or any option that changes a row is another one: the key is a sum over all of them.

@* The check, and the cost. \label{sec:servercheck}
How do you test something that strangers will use? We do it in four ways, and each finds what the others do not.

The suite \.{tests/suites/check\_serve.c} asks for a dozen kinds of texts, alone and in company, with little memory and with much, whole and in pieces, and compares each with \texttt{generate}'s by \texttt{==}; it sends each of the requests above, and a table of bodies with the error that each must get. A \emph{soak} (\.{tests/checks/soak.sh}) does everything at once: clients that stop reading, cut, drip and send garbage, between others whose answers are compared; at the end all accounts must be those of the beginning. The page has its browser. And planted faults must be found: each guard taken out, one by one.
@^soak test@>

What does it cost? A request costs its JSON and its tokens; a token in a stream costs an event, some lines of JSON. With the built-in model, which needs less than a tenth of a millisecond for a token, that is more than the model itself, and HTTP is the bottleneck; with any model that people use it is nothing. A connection costs some kilobytes, a waiting request its prompt, and a slot its text. The weights are there once.

@* Exercises. \label{sec:serverexercises}
Each exercise names the command that checks your answer.

\begin{exercises}
\exercise{check}{ex:server.slow}{In the box, the answer has \given{1200} tokens. How many bytes wait at most?}{\texttt{make exercise-W19-1}}{\given{144000}. It is complete after 24 seconds and \given{216000} bytes long; \given{72000} bytes have been taken by then.}
\exercise{think}{ex:server.order}{A request has a wrong key, a body that is too long, and a field that nobody knows. Which error does it get, and why must it be that one?}{\texttt{make exercise-W19-2}}{\given{401}. Who has no key should learn nothing about the server, not even how long a body may be; and the body is not read.}
\end{exercises}
