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

The answer is complete after $800/50=16$ seconds, and $800\cdot180=144000$ bytes long. By then $16\cdot3000=48000$ bytes have been taken, so 96000 wait, the most of all. The server never holds more than the answer has, whatever the telephone does. And if it takes nothing at all for \texttt{--send-timeout} seconds, the request is cancelled.
\end{byhand}

@ This chapter's program starts the server in its own process, as the tests do (\cref{sec:streams}), and talks to it through a socket (\.{unwoven/server/shown.inc}). Its requests are written out line by line, because a well-behaved client would refuse to send most of them.

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
#include "server/shown.inc"
@;@#
@<A request that everybody sends@>@;
@<Nine requests that nobody should send@>@;
@<An answer in pieces@>@;
@#
int main(int argc, char **argv)
{
  struct house h = @[{ .status = 0 }@];
  if (argc > 1 && strcmp(argv[1], "values") == 0) return printf("server.refused %zu\n", N_NINE) > 0 ? 0 : 1;
  bool ok = start(&h) && send_one(&h) && send_nine(&h) && send_stream(&h);
  return end(&h) == STATUS_DONE && ok ? 0 : 1;
}

@* A request's way. \label{sec:requestway}
What does a client send, and what does it get? Here is a whole request, and below it the answer's first line and the part of its body that matters most, the \emph{choice}. (A request can ask for several, with \texttt{n}.) Around the choice the answer has an id and a date, and the numbers of tokens, as people pay for them elsewhere.

\widecheckpoint[2,14]{build/out/server.txt}{a request, its answer, and the text that the command writes}

Let us follow it. Bytes arrive on a connection; \emph{libmicrohttpd}, a library that most systems have, makes headers and a body of them. The body is JSON. One table says which fields there are and which function reads each (\.{program/serve\_fields.c}), the prompt becomes ids, and the result is a \emph{job}: everything that the request wants, and room for everything that will be written for it. The job is put at the end of a queue. If \texttt{--queue} jobs wait there already, the client gets status \given{429} at once, with the advice to come back after a second.
@^libmicrohttpd@>@^JSON@>@^job@>

From here on another thread takes over. The \emph{engine's} thread takes the first job in the queue that still has texts to begin, hands them to the scheduler, and computes passes as long as there is anything to compute (\.{program/serve\_engine.c}). After each pass it notes which token each text has got, and wakes the thread of HTTP, which turns tokens into JSON: into the whole answer when the job is done, or into one event for each token (\.{program/serve\_answer.c}). \Cref{fig:serverway} shows who does what.

\widefig{serverway}{fig:serverway}{Who touches a job, from its first byte to its last. Between the two dashed lines it belongs to the engine; HTTP reads what has been written under a lock, and never waits for a pass.}{A diagram with three lanes, for the watcher, the thread of HTTP and the engine's thread. In the lane of HTTP: bytes, headers, body, fields and ids; then the job crosses to the engine's lane: queue, slot, passes; after each pass an arrow goes back to HTTP, which writes an event; at last the answer is sent, and the job is freed. In the lane of the watcher ticks, ten times a second, look at every connection.}

Why two threads, and not one for each request, as many servers have it? Because the weights are read once for everybody: all texts are in one pass, and a pass has one owner. And why not one thread for all? Because a pass may take a second, and a client that asks \texttt{/health} in that second wants an answer now. So passes are computed in one place, and everything that may not wait for them happens in the other.

The two share little, and that is why it can be checked. A job belongs to HTTP until it is submitted, and again when it is done. In between, the engine writes to the lists that the structure marks as its own, and HTTP copies from them while it holds a lock for a few instructions. Even the memory goes by this rule: each job has an account of its own (\cref{sec:memory}), which moves with it, so no two threads ever count in the same account. ThreadSanitizer, under which we run the server's tests, reports nothing.
@^thread@>@^lock@>

A client may leave while the engine still writes for it. Then the job is marked, the engine takes its texts out of the scheduler before the next pass, and the one of the two threads that lets go last frees the job.

@ The first request is the one at the beginning of this section. Its answer must have the text that the command writes, so the command writes it.

@<A request that everybody sends@>=
static bool write_alone(char *text, size_t size)
{
  static char *line[] = @[{ "incipit", "generate", "-q", "-mmodels/pocket",@| "Once upon a time", "-n6" }@];
  struct memory m = @[{ .fail_at = 0 }@];
  FILE *out = tmpfile();
  struct console c = @[{ .in = stdin, .out = out, .err = out, .memory = &m, .program = "incipit",@|
    .build = "none", .listen = listen_to_nobody, .interrupted = never }@];
  if (out == NULL || command_run(&c, 6, line) != STATUS_DONE) return false;
  rewind(out);
  text[fread(text, 1, size - 1, out)] = '\0';
  fclose(out);
  return true;
}

@ In the answer the text stands between two quotation marks.

@<A request that everybody sends@>=
static bool send_one(const struct house *h)
{
  char request[400], answer[8192], alone[400];
  write_request(request, sizeof request, POST_JSON,@| "{\"prompt\": \"Once upon a time\", \"max_tokens\": 6}");
  if (!ask(h, request, answer, sizeof answer) || !write_alone(alone, sizeof alone)) return false;
  printf("%s\n\n%.*s\n", request, (int) strcspn(answer, "\r"), answer);
  print_choice(answer);
  size_t n = strlen(alone);
  const char *text = strstr(answer, "\"text\":\"");
  bool same = text != NULL && strncmp(text + 8, alone, n) == 0 && text[8 + n] == '"';
  printf("$ incipit generate -q \"Once upon a time\" -n6\n" "%s\n" "the same: %s\n\n", alone, same ? "yes" : "no");
  return same;
}

@* What is refused before a pass is computed. \label{sec:guards}
A library that speaks HTTP is a good thing to have: ours reads chunked bodies, keeps connections open, and answers pipelined requests in order, and we have not written a line for that. But it was made for clients who mean well. We sent it what others send, and found six things that it lets pass. Behind each stands an attack, or an accident that happens every day.

\emph{Two framings.} A request may say how long its body is, or send it in chunks that say so themselves. If it does both, a proxy before us may believe one and we the other; then the rest of the body is, to one of the two, the beginning of another request. That is \emph{request smuggling} (\cited{Fielding 2022}), and it has opened many doors. We refuse the request and close.
@^request smuggling@>

\emph{A transfer coding that nobody knows, or no \texttt{Host}.} The library would wait for a body that never comes, or answer without knowing to whom.

\emph{A drip.} The library's timeout begins anew with every byte. One byte every few seconds keeps a connection for ever, and a few such clients keep all connections (a \emph{slowloris} attack). So we count from a request's first byte to its last.
@^slowloris attack@>

\emph{A client that has gone.} While a request waits for its pass, its connection is \emph{suspended}: the library doesn't look at it. If the student closes the notebook now, nobody notices, and the model writes to the end of the context for nobody. We notice within a second. A client that closes only its sending side counts as gone as well, because the two look alike until something is sent.

\emph{A client that takes nothing.} See the box.

\emph{One connection too many.} The library would let it wait without a word until another one ends. We take it, say \given{503}, and close it.

The first two are seen in the headers, and the last when a connection begins. For the others there is a \emph{watcher}, a thread that looks at each connection ten times a second and asks the operating system three questions: has the other side closed? how many bytes have come? how many of ours have arrived there? From the answers it knows who has gone, who drips and who takes nothing, and shuts these connections down; the library then finds out for itself, so everything is given back in one place. The watcher and the look at the headers are in \.{program/http\_guard.c}, which is short enough to be read in one go.
@^watcher@>

@ The program sends \val[word]{server.refused} requests that must be refused. Some are wrong before we look at a body: in their framing, or in the name of the machine that they say they talk to.

@<Nine requests that nobody should send@>=
static const struct { const char *what, *head, *body; } nine[] = @[{@|
    @<Requests with a wrong head@>,@|
    @<Requests with a wrong body@> }@];
static const size_t N_NINE = sizeof nine / sizeof *nine;

@ Behind the first of them we hide a second request, a \texttt{GET} that any server would answer.

@<Requests with a wrong head@>=
{ "a length, and chunks",@| POST_JSON "Content-Length: 4\n" "Transfer-Encoding: chunked\n\n0\n\n"
    "GET /health HTTP/1.1\n" "Host: localhost\n\n", NULL },@|
{ "two lengths",@| POST_JSON "Content-Length: 2\n" "Content-Length: 3\n\n{}", NULL },@|
{ "an unknown coding",@| POST_JSON "Transfer-Encoding: gzip\n\n", NULL },@|
{ "no host",@| "GET /health HTTP/1.1\n\n", NULL },@|
{ "a foreign host",@| "GET /health HTTP/1.1\n" "Host: evil.example\n\n", NULL }

@ The others have a body that is not JSON by its own words, that is longer than \texttt{--max-body}, or that cannot mean what its sender wanted.

@<Requests with a wrong body@>=
{ "not JSON, by its own words",@| POST "Host: localhost\n" "Content-Type: text/plain\n", "{}" },@|
{ "5000 bytes, announced",@| POST_JSON "Content-Length: 5000\n\n", NULL },@|
{ "a misspelt name",@| POST_JSON, "{\"temprature\": 1}" },@|
{ "a number in quotation marks",@| POST_JSON, "{\"max_tokens\": \"5\"}" }

@ Of each answer we print the status and the error's code, which is in its body. If there is a second answer, one that a proxy could take for the answer to another request, we say so.

@<Nine requests that nobody should send@>=
static bool send_nine(const struct house *h)
{
  for (size_t i = 0; i < N_NINE; i++) {
    char request[400], answer[8192];
    write_request(request, sizeof request, nine[i].head, nine[i].body);
    if (!ask(h, request, answer, sizeof answer)) return false;
    const char *code = strstr(answer, "\"code\":\"");
    code = code == NULL ? "no code" : code + 8;
    printf("%-30s  %.3s  %.*s%s\n", nine[i].what, answer + 9, (int) strcspn(code, "\""), code,@|
      strstr(answer + 1, "HTTP/1.1 ") != NULL ? ", and another" : "");
  }
  return true;
}

@ Nine requests, nine refusals:

\widecheckpoint[16,24]{build/out/server.txt}{nine requests that nobody should send, and what came back}

The first line is the one that matters most: one status, and no second answer. We had hidden a \texttt{GET} behind the body.

Two of the nine aren't about HTTP at all. A page from anywhere can make your browser send requests to your own machine, and the page's own name may even resolve to your address (\emph{DNS rebinding}). So a server on loopback answers to its own names only, and a body must call itself JSON, which a foreign page cannot do without asking first. And look at the last two. A server that ignored \texttt{temprature} would sample at another temperature than you think, and never tell you. Ours says which field is meant.
@^DNS rebinding@>

Who may ask at all? On the machine itself, everybody. An address that other machines can reach is refused at the start unless you name a file of \emph{API keys} (\texttt{--api-key}) or say that you want none (\texttt{--no-key}); then each request must bring a key, and we compare it with every key of the file, always to the end, so that the time tells nobody how much of it was right. What we don't do is encrypt. Between us and the world put a proxy that does.
@^API key@>

@* A text in pieces. \label{sec:serverpieces}
With \texttt{"stream": true} the answer comes token by token, as \emph{server-sent events}: each is a line that begins with \texttt{data:} and an empty line. Here is a short answer in events, of each its choice. The last one with a text says why the text ends, and \texttt{[DONE]} closes the stream.
@^server-sent event@>@^streaming@>

\widecheckpoint[26,29]{build/out/server.txt}{three tokens, as they arrive}

A stream sends each token when it is known. But a token may end in the middle of a character, or with what may become a stop string; both wait in the text stream of \cref{stopping}, and a piece has only what is certain. So if you join all pieces, you have the text; and no piece ever shows a word that is taken back.

@ The program has read the whole stream when it prints it, so what it shows is what came, and not when.

@<An answer in pieces@>=
static bool send_stream(const struct house *h)
{
  char request[400], answer[8192];
  write_request(request, sizeof request, POST_JSON,@|
    "{\"prompt\": \"Once upon a time\", \"max_tokens\": 3, \"stream\": true}");
  if (!ask(h, request, answer, sizeof answer)) return false;
  putchar('\n');
  for (const char *at = answer; (at = strstr(at, "data: ")) != NULL; at += 6) {
    printf("data: ");
    if (at[6] == '{') print_choice(at);
    else puts("[DONE]");
  }
  return true;
}

@ If a request asks for log-probabilities, each token must have a name in JSON, and a token need not be text: it may be two of the three bytes of a character. Then its name is \texttt{bytes:} and the bytes, and the exact bytes stand beside it. The log-probabilities themselves are those of the logits before any temperature, as everywhere in this program.

Programs that compare models ask for something else: how likely is a text that the model did \emph{not} write? They send it as a prompt with \texttt{max\_tokens} 0, and ask for the prompt back (\texttt{echo}) with its log-probabilities. For that the prompt's rows must be computed even if the index has them (\cref{sec:prefixindex}), because nobody has kept their logits; |on_row| of \cref{sec:watch} sees them go by.
@^log-probability@>

@* What people see. \label{sec:serverpage}
\texttt{GET /} answers with a page. It is one file, \.{program/page.html}, needs nothing from elsewhere, and allows nothing to come from elsewhere. You type a prompt, and see each token arrive, shaded by its probability; point at one, and you see what might have come instead (\cref{fig:servertokens}). Below, the slots fill as in \cref{fig:slots}, and the pages of the cache beside them (\cref{fig:serverslots}).

\widefig{serverslots}{fig:serverslots}{Several texts share the built-in model, as the server's page shows them: each stretch is a text in a slot, and the pages that they need are counted below.}{A picture of the page in a browser: four rows of slots with stretches of different colours and lengths, and a chart of the pages of the cache that grows and falls.}

\fig{servertokens}{fig:servertokens}{A text as it arrives, and what might have come instead of one of its tokens.}{A picture of the page in a browser: a text whose tokens are shaded, and beside one of them a list of five alternatives with their probabilities.}

Programs that watch programs see the same numbers at \texttt{/metrics}, in the form that Prometheus reads: requests that run and wait, pages of the cache, tokens, and how long a first token and each further one took. A label never has a client's text in it.
@^metrics of the server@>

A model's text is the text of a stranger. If the page put it into itself as HTML, a prompt could make it run a program in the reader's browser. So it is only ever set as text, and the page's own policy forbids the browser to do otherwise. The test of the page (\.{tests/checks/page.sh}) opens it in a browser, types prompts with tags in them, compares what it shows with what \texttt{generate} prints, and counts requests to other machines: there are none.

@* The end. \label{sec:serverend}
When you stop a server, what happens to the student who has half an answer? The usual name for a good answer is \emph{graceful shutdown}. On the first signal we close the door: we take no new connection, and a new request on an old one gets status \given{503}. Answers that have begun are finished, for at most \texttt{--drain-timeout} seconds. Whatever is not finished by then is cut, and its client is told so. If nothing was cut, the program's status is 0. A second signal ends it at once; if you send two, you mean it.
@^graceful shutdown@>

After such an end the index's pages can be kept for the next start (\texttt{--prompt-cache}). At that start the file is refused if a weight, a setting or an option that changes a row is different: the file's key is a sum over all of them.

@* The check, and the cost. \label{sec:servercheck}
How do you test something that strangers will use? We do it in four ways, and each finds faults that the others miss.

The suite \.{tests/suites/check\_serve.c} asks for a dozen kinds of texts, alone and in company, with little memory and with much, whole and in pieces, and compares each with \texttt{generate}'s by \texttt{==}; it sends requests such as those above, and a table of bodies with the error that each must get. A \emph{soak} (\.{tests/checks/soak.sh}) does everything at once: clients that stop reading, cut, drip and send garbage, between others whose answers are compared; at the end all accounts must be those of the beginning. The page has its browser. And we plant faults, among them each guard taken out, one by one: some test must fail for each.
@^soak test@>

What does it cost? A request costs its JSON and its tokens; a token in a stream costs an event, some lines of JSON. Even with the built-in model, whose tokens could hardly be cheaper, that is less work than the passes, and it does not grow with the model. A connection costs some kilobytes, a waiting request its prompt, and a slot its text. The weights are there once.

@* Exercises. \label{sec:serverexercises}
Each exercise names the command that checks your answer.

\begin{exercises}
\exercise{check}{ex:server.slow}{In the box, the answer has \given{1200} tokens. How many bytes wait at most?}{\texttt{make exercise-W19-1}}{\given{144000}. It is complete after 24 seconds and \given{216000} bytes long; \given{72000} bytes have been taken by then.}
\exercise{think}{ex:server.order}{A request has a wrong key, a body that is too long, and a field that nobody knows. Which status does it get? Which one after the key has been put right, and which one after the body has been made short as well? Why in this order? (Three numbers; the command sends the three requests to a server.)}{\texttt{make exercise-W19-2}}{\given{401}, \given{413}, \given{400}. A client without a key should learn nothing about the server, not even how long a body may be. And each test costs more than the one before: for the first two we need only the headers, for the third the body must be read.}
\end{exercises}
