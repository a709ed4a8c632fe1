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
  struct console c = { .out = h->out, .err = h->err, .program = "incipit", .build = "none", .memory = &h->m };
  h->status = command_run(&c, 7, line);
  fclose(h->out);
  return NULL;
}

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

static int end(struct house *h)
{
  kill(getpid(), SIGTERM);
  pthread_join(h->thread, NULL);
  return h->m.all.live == 0 ? h->status : STATUS_FAILED;
}

static void listen_to_nobody(void)
{
}

static bool never(void)
{
  return false;
}

/* <Send bytes, and hear what comes back> */
static bool ask(const struct house *h, const char *bytes, char *answer, size_t size)
{
  struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t) h->port),
    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
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

/* <Nine requests that nobody should send> */
#define POST "POST /v1/completions HTTP/1.1\r\n"
#define POST_JSON "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
static const struct { const char *what, *bytes; } nine[] = {
    { "a length, and chunks", POST_JSON "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
      "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" },
    { "two lengths", POST_JSON "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" },
    { "an unknown coding", POST_JSON "Transfer-Encoding: gzip\r\n\r\n" },
    { "no host", "GET /health HTTP/1.1\r\n\r\n" },
    { "a foreign host", "GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n" },
    { "not JSON, by its own words", POST "Host: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}" },
    { "a body of 5000 bytes, announced", POST_JSON "Content-Length: 5000\r\n\r\n" },
    { "a name that is misspelt", POST_JSON "Connection: close\r\nContent-Length: 15\r\n\r\n{\"temprature\":1}" },
    { "a number in quotation marks", POST_JSON "Connection: close\r\nContent-Length: 16\r\n\r\n{\"max_tokens\":\"5\"}" } };
static const size_t N_NINE = sizeof nine / sizeof *nine;

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

/* <One that everybody sends> */
static bool write_alone(char *text, size_t size)
{
  static char *line[] = { "incipit", "generate", "-q", "-mmodels/pocket",
    "Once upon a time", "-n12" };
  struct memory m = { .fail_at = 0 };
  FILE *out = tmpfile();
  struct console c = { .in = stdin, .out = out, .err = out, .program = "incipit",
    .build = "none", .memory = &m, .listen = listen_to_nobody, .interrupted = never };
  if (out == NULL || command_run(&c, 6, line) != STATUS_DONE) return false;
  rewind(out);
  text[fread(text, 1, size - 1, out)] = '\0';
  fclose(out);
  return true;
}

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

int main(int argc, char **argv)
{
  struct house h = { .status = 0 };
  if (argc > 1 && strcmp(argv[1], "values") == 0) return printf("server.refused %zu\n", N_NINE) > 0 ? 0 : 1;
  bool ok = start(&h) && send_nine(&h) && send_one(&h);
  return end(&h) == STATUS_DONE && ok ? 0 : 1;
}
