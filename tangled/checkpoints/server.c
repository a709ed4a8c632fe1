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

#include "server/shown.inc"

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
