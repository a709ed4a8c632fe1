/* the program -- made from workshop/19-server.w; change it there */

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

/* <Start a server, and end it> */
struct house { struct memory m; FILE *out, *err; pthread_t thread; unsigned port; int status; };
static void *serve(void *ctx)
{
  struct house *h = ctx;
  static char *line[] = { "incipit", "serve", "-mmodels/pocket", "--port", "0", "--max-body", "4KiB" };
  struct console c = { .out = h->out, .err = h->err, .memory = &h->m, .program = "incipit", .build = "none" };
  h->status = command_run(&c, 7, line);
  fclose(h->out);
  return NULL;
}

static bool start(struct house *h)
{
  int ends[2];
  FILE *in;
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGTERM), sigaddset(&wanted, SIGINT);
  pthread_sigmask(SIG_BLOCK, &wanted, NULL);
  if (pipe(ends) != 0 || (h->out = fdopen(ends[1], "w")) == NULL || (h->err = tmpfile()) == NULL
    || (in = fdopen(ends[0], "r")) == NULL || pthread_create(&h->thread, NULL, serve, h) != 0) return false;
  bool ok = fscanf(in, "%*[^:]:%*[^:]:%u", &h->port) == 1;
  fclose(in);
  return ok;
}

static void listen_to_nobody(void) { }
static bool never(void) { return false; }

static int end(struct house *h)
{
  kill(getpid(), SIGTERM);
  pthread_join(h->thread, NULL);
  return h->m.all.live == 0 ? h->status : STATUS_FAILED;
}

/* <Send a request, and hear what comes back> */
#define POST "POST /v1/completions HTTP/1.1\n"
#define POST_JSON POST "Host: localhost\n" "Content-Type: application/json\n"
static void write_request(char *request, size_t size, const char *head, const char *body)
{
  if (body == NULL) snprintf(request, size, "%s", head);
  else snprintf(request, size, "%sConnection: close\n" "Content-Length: %zu\n" "\n" "%s", head, strlen(body), body);
}

static void put_lines(FILE *to, const char *text)
{
  for (; *text != '\0'; text++) {
    if (*text == '\n') putc('\r', to);
    putc(*text, to);
  }
}

static bool ask(const struct house *h, const char *request, char *answer, size_t size)
{
  struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t) h->port),
    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  FILE *line = fd < 0 ? NULL : fdopen(fd, "r+");
  if (line == NULL) return false;
  bool ok = connect(fd, (struct sockaddr *) &at, sizeof at) == 0;
  if (ok) {
    put_lines(line, request);
    fflush(line);
    answer[fread(answer, 1, size - 1, line)] = '\0';
  }
  fclose(line);
  return ok && answer[0] != '\0';
}

static void print_choice(const char *from)
{
  from = strstr(from, "{\"index\"");
  if (from != NULL) printf("%.*s}\n", (int) strcspn(from, "}"), from);
}

/* <A request that everybody sends> */
static bool write_alone(char *text, size_t size)
{
  static char *line[] = { "incipit", "generate", "-q", "-mmodels/pocket", "Once upon a time", "-n6" };
  struct memory m = { .fail_at = 0 };
  FILE *out = tmpfile();
  struct console c = { .in = stdin, .out = out, .err = out, .memory = &m, .program = "incipit",
    .build = "none", .listen = listen_to_nobody, .interrupted = never };
  if (out == NULL || command_run(&c, 6, line) != STATUS_DONE) return false;
  rewind(out);
  text[fread(text, 1, size - 1, out)] = '\0';
  fclose(out);
  return true;
}

static bool send_one(const struct house *h)
{
  char request[400], answer[8192], alone[400];
  write_request(request, sizeof request, POST_JSON, "{\"prompt\": \"Once upon a time\", \"max_tokens\": 6}");
  if (!ask(h, request, answer, sizeof answer) || !write_alone(alone, sizeof alone)) return false;
  printf("%s\n\n%.*s\n", request, (int) strcspn(answer, "\r"), answer);
  print_choice(answer);
  size_t n = strlen(alone);
  const char *text = strstr(answer, "\"text\":\"");
  bool same = text != NULL && strncmp(text + 8, alone, n) == 0 && text[8 + n] == '"';
  printf("$ incipit generate -q \"Once upon a time\" -n6\n" "%s\n" "the same: %s\n\n", alone, same ? "yes" : "no");
  return same;
}

/* <Nine requests that nobody should send> */
static const struct { const char *what, *head, *body; } nine[] = {
    /* <Requests with a wrong head> */
    { "a length, and chunks", POST_JSON "Content-Length: 4\n" "Transfer-Encoding: chunked\n\n0\n\n"
        "GET /health HTTP/1.1\n" "Host: localhost\n\n", NULL },
    { "two lengths", POST_JSON "Content-Length: 2\n" "Content-Length: 3\n\n{}", NULL },
    { "an unknown coding", POST_JSON "Transfer-Encoding: gzip\n\n", NULL },
    { "no host", "GET /health HTTP/1.1\n\n", NULL },
    { "a foreign host", "GET /health HTTP/1.1\n" "Host: evil.example\n\n", NULL },
    /* <Requests with a wrong body> */
    { "not JSON, by its own words", POST "Host: localhost\n" "Content-Type: text/plain\n", "{}" },
    { "5000 bytes, announced", POST_JSON "Content-Length: 5000\n\n", NULL },
    { "a misspelt name", POST_JSON, "{\"temprature\": 1}" },
    { "a number in quotation marks", POST_JSON, "{\"max_tokens\": \"5\"}" } };
static const size_t N_NINE = sizeof nine / sizeof *nine;

static bool send_nine(const struct house *h)
{
  for (size_t i = 0; i < N_NINE; i++) {
    char request[400], answer[8192];
    write_request(request, sizeof request, nine[i].head, nine[i].body);
    if (!ask(h, request, answer, sizeof answer)) return false;
    const char *code = strstr(answer, "\"code\":\"");
    code = code == NULL ? "no code" : code + 8;
    printf("%-30s  %.3s  %.*s%s\n", nine[i].what, answer + 9, (int) strcspn(code, "\""), code,
      strstr(answer + 1, "HTTP/1.1 ") != NULL ? ", and another" : "");
  }
  return true;
}

/* <An answer in pieces> */
static bool send_stream(const struct house *h)
{
  char request[400], answer[8192];
  write_request(request, sizeof request, POST_JSON,
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

int main(int argc, char **argv)
{
  struct house h = { .status = 0 };
  if (argc > 1 && strcmp(argv[1], "values") == 0) return printf("server.refused %zu\n", N_NINE) > 0 ? 0 : 1;
  bool ok = start(&h) && send_one(&h) && send_nine(&h) && send_stream(&h);
  return end(&h) == STATUS_DONE && ok ? 0 : 1;
}
