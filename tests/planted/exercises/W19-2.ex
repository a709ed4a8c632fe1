==== check
# the three requests are sent to a server that wants a key and reads bodies of 4 KiB
engine <<'C'
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"

static FILE *out;
static struct memory m;

static void *serve(void *path)
{
  char *line[] = { "incipit", "serve", "--port", "0", "--max-body", "4KiB", "--api-key", path, "-mmodels/pocket" };
  struct console c = { .out = out, .err = stderr, .memory = &m, .program = "incipit", .build = "none" };
  command_run(&c, 9, line);
  fclose(out);
  return NULL;
}

static int status_of(unsigned port, const char *key, int length)
{
  static const char field[] = "{\"temprature\":1}";
  struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  int fd = socket(AF_INET, SOCK_STREAM, 0), status = 0;
  FILE *line = fdopen(fd, "r+");
  if (connect(fd, (struct sockaddr *) &at, sizeof at) != 0) return 0;
  fprintf(line, "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    "Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s%*s", key, length, field, length - (int) strlen(field), "");
  fflush(line);
  if (fscanf(line, "HTTP/1.1 %d", &status) != 1) status = 0;
  fclose(line);
  return status;
}

int main(void)
{
  char path[] = "/tmp/exercise.XXXXXX";
  FILE *keys = fdopen(mkstemp(path), "w");
  int ends[2];
  unsigned port = 0;
  pthread_t thread;
  sigset_t wanted;
  sigemptyset(&wanted), sigaddset(&wanted, SIGTERM), sigaddset(&wanted, SIGINT), sigaddset(&wanted, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &wanted, NULL);
  fputs("a-key-of-a-student\n", keys), fclose(keys);
  if (pipe(ends) != 0 || (out = fdopen(ends[1], "w")) == NULL || pthread_create(&thread, NULL, serve, path) != 0) return 1;
  if (fscanf(fdopen(ends[0], "r"), "%*[^:]:%*[^:]:%u", &port) != 1) return 1;
  int nobody = status_of(port, "a-key-of-nobody", 5000), many = status_of(port, "a-key-of-a-student", 5000);
  printf("%d %d %d\n", nobody, many, status_of(port, "a-key-of-a-student", 20));
  kill(getpid(), SIGTERM);
  pthread_join(thread, NULL);
  remove(path);
  return 0;
}
C
is $(run)
==== answer
401 413 400
==== wrong
413 401 400
==== skeleton
# three statuses
