/* hub.h -- a hub in a thread of the test: it has one repository, answers as it is told to, wrongly too, and notes
   what it was asked. Another of its kind can be the place to which the first sends people. */
#ifndef INCIPIT_HUB_OF_TESTS_H
#define INCIPIT_HUB_OF_TESTS_H
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/socket.h>
#include "suite.h"
#include "sums.h"

struct kept_file { const char *name, *bytes; size_t n; bool lfs; };
struct question { char path[300], range[60], if_range[220], token[200], host[100]; };
struct test_hub {
  int listening, port;
  pthread_t thread;
  struct kept_file file[14];
  size_t n;
  /* the answer about the repository: null, as it should be */
  const char *answer;
  size_t n_answer;
  /* faults, of files whose name ends like of (all, if it is empty); of the answer about the repository if about is set */
  bool about;
  char of[100];
  int status;           /* instead of 200 or 206 */
  const char *headers;  /* added */
  const char *location; /* with status: where it is to be had */
  const char *range;    /* Content-Range, as it is not */
  const char *tag;      /* the ETag; "" is none */
  bool deaf;            /* sends all, whatever range is asked */
  bool eager;           /* sends a range that nobody has asked for */
  bool blind;           /* does not look at If-Range */
  bool torn;            /* the last byte is another */
  bool mute;            /* does not say how long the answer is */
  size_t more;          /* bytes more than there are */
  size_t cut;           /* the connection ends after so many bytes, */
  unsigned cuts;        /* so many times */
  bool waits;           /* it does not end, but nothing more comes */
  unsigned loops;       /* answers that send people in a circle */
  struct question asked[200];
  size_t n_asked;
};

/* held while something is answered; whoever goes through it sees what the others have written */
static pthread_mutex_t hub_gate = PTHREAD_MUTEX_INITIALIZER;
static inline void through_the_gate(void)
{
  pthread_mutex_lock(&hub_gate);
  pthread_mutex_unlock(&hub_gate);
}
static inline void send_all(int to, const char *bytes, size_t n)
{
  while (n > 0) {
    ssize_t k = send(to, bytes, n, MSG_NOSIGNAL);
    if (k <= 0) return;
    bytes += k, n -= (size_t) k;
  }
}
static inline void send_words(int to, const char *form, ...)
{
  char text[2000];
  va_list list;
  va_start(list, form);
  vsnprintf(text, sizeof text, form, list);
  va_end(list);
  send_all(to, text, strlen(text));
}
static inline void header_of(const char *request, const char *name, char *to, size_t size)
{
  const char *at = strcasestr(request, name);
  to[0] = '\0';
  if (at == NULL) return;
  at += strlen(name);
  size_t n = strcspn(at, "\r\n");
  snprintf(to, size, "%.*s", (int) n, at);
}
static inline bool ends_like(const char *text, const char *end)
{
  size_t n = strlen(text), k = strlen(end);
  return n >= k && strcmp(text + n - k, end) == 0;
}
/* what the hub says about its repository, as the real one does, with much that is of no use */
static inline char *describe(const struct test_hub *h)
{
  static char *text;
  static size_t n;
  char sum[SUM_TEXT];
  FILE *f = open_memstream(&text, &n);
  fprintf(f, "{\"_id\":\"1\",\"id\":\"org/name\",\"private\":false,\"sha\":\"%040d\",\"tags\":[\"gguf\"],"
    "\"cardData\":{\"license\":\"mit\"},\"siblings\":[{\"rfilename\":\".gitattributes\",\"size\":5,\"blobId\":\"%040d\"}", 7, 1);
  for (size_t i = 0; i < h->n; i++) {
    struct sum s;
    sum_begin_blob(&s, h->file[i].n);
    if (h->file[i].lfs) sum_begin(&s, SUM_SHA256);
    sum_add(&s, h->file[i].bytes, h->file[i].n);
    sum_end(&s, sum);
    fprintf(f, ",{\"rfilename\":\"%s\",\"size\":%zu,", h->file[i].name, h->file[i].n);
    if (h->file[i].lfs) fprintf(f, "\"blobId\":\"%040d\",\"lfs\":{\"sha256\":\"%s\",\"size\":%zu,\"pointerSize\":134}}", 2, sum, h->file[i].n);
    else fprintf(f, "\"blobId\":\"%s\"}", sum);
  }
  fprintf(f, "]}");
  fclose(f);
  return text;
}
static inline void answer_bytes(struct test_hub *h, int to, bool faulty, const struct question *a, const char *bytes, size_t n)
{
  const char *tag = faulty && h->tag != NULL ? h->tag : "\"first\"";
  char line[300] = "", *copy = NULL;
  size_t from = 0;
  bool same = (faulty && h->blind) || strcmp(a->if_range, tag) == 0;
  if (a->range[0] != '\0' && same && !(faulty && h->deaf)) sscanf(a->range, "bytes=%zu-", &from);
  bool partial = a->range[0] != '\0' && same && !(faulty && h->deaf) && from < n;
  if (!partial) from = 0;
  if (partial || (faulty && h->eager)) snprintf(line, sizeof line, "Content-Range: %s%s", faulty && h->range != NULL ? h->range : "", "\r\n");
  if ((partial || (faulty && h->eager)) && !(faulty && h->range != NULL)) snprintf(line, sizeof line, "Content-Range: bytes %zu-%zu/%zu\r\n", from, n - 1, n);
  if (faulty && h->range != NULL && h->range[0] == '\0') line[0] = '\0';
  size_t all = n - from + (faulty ? h->more : 0);
  copy = calloc(1, all + 1);
  memcpy(copy, bytes + from, n - from);
  if (faulty && h->torn && n > 0) copy[n - from - 1] ^= 1;
  send_words(to, "HTTP/1.1 %s\r\n%s%s%s%s%s", partial || (faulty && h->eager) ? "206 Partial Content" : "200 OK", line,
    tag[0] != '\0' ? "ETag: " : "", tag, tag[0] != '\0' ? "\r\n" : "", "Connection: close\r\n");
  if (!(faulty && h->mute)) send_words(to, "Content-Length: %zu\r\n", all);
  send_words(to, "\r\n");
  bool cut = faulty && h->cuts > 0 && h->cut < all;
  send_all(to, copy, cut ? h->cut : all);
  if (cut) h->cuts--;
  if (cut && h->waits) {
    char nothing[10];
    while (recv(to, nothing, sizeof nothing, 0) > 0) continue;
  }
  free(copy);
}
static inline void answer_one(struct test_hub *h, int to, const char *request)
{
  struct question *a = &h->asked[h->n_asked < 199 ? h->n_asked : 199];
  memset(a, 0, sizeof *a);
  sscanf(request, "GET %299s", a->path);
  header_of(request, "\r\nRange: ", a->range, sizeof a->range);
  header_of(request, "\r\nIf-Range: ", a->if_range, sizeof a->if_range);
  header_of(request, "\r\nAuthorization: ", a->token, sizeof a->token);
  header_of(request, "\r\nHost: ", a->host, sizeof a->host);
  h->n_asked++;
  bool about = strstr(a->path, "/api/models/") != NULL, faulty = about ? h->about : !h->about && ends_like(a->path, h->of);
  if (faulty && h->loops > 0) {
    h->loops--;
    send_words(to, "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", a->path);
    return;
  }
  if (faulty && h->status != 0) {
    send_words(to, "HTTP/1.1 %d So\r\n%s%s%s%sContent-Length: 6\r\nConnection: close\r\n\r\nbroken", h->status, h->headers != NULL ? h->headers : "",
      h->location != NULL ? "Location: " : "", h->location != NULL ? h->location : "", h->location != NULL ? "\r\n" : "");
    return;
  }
  if (about) {
    char *text = h->answer != NULL ? NULL : describe(h);
    answer_bytes(h, to, faulty, a, h->answer != NULL ? h->answer : text, h->answer != NULL ? h->n_answer : strlen(text));
    free(text);
    return;
  }
  for (size_t i = 0; i < h->n; i++) {
    char end[300];
    snprintf(end, sizeof end, "/%s", h->file[i].name);
    if (!ends_like(a->path, end)) continue;
    answer_bytes(h, to, faulty, a, h->file[i].bytes, h->file[i].n);
    return;
  }
  send_words(to, "HTTP/1.1 404 Not Found\r\nX-Error-Code: EntryNotFound\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}
static inline void *serve_hub(void *ctx)
{
  struct test_hub *h = ctx;
  int door = h->listening;
  for (int to; (to = accept(door, NULL, NULL)) >= 0; close(to)) {
    char request[8192] = "";
    size_t n = 0;
    setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &(int) { 1 }, sizeof(int));
    while (strstr(request, "\r\n\r\n") == NULL && n < sizeof request - 1) {
      ssize_t k = recv(to, request + n, sizeof request - 1 - n, 0);
      if (k <= 0) break;
      n += (size_t) k, request[n] = '\0';
    }
    pthread_mutex_lock(&hub_gate);
    if (strstr(request, "\r\n\r\n") != NULL) answer_one(h, to, request);
    pthread_mutex_unlock(&hub_gate);
    /* the other side may still have something to say; an answer that was sent must not be lost over that */
    shutdown(to, SHUT_WR);
    while (recv(to, request, sizeof request, 0) > 0) continue;
  }
  return NULL;
}
static inline void hub_begin(struct test_hub *h)
{
  struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  socklen_t n = sizeof at;
  h->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert(bind(h->listening, (struct sockaddr *) &at, sizeof at) == 0 && listen(h->listening, 20) == 0
    && getsockname(h->listening, (struct sockaddr *) &at, &n) == 0);
  h->port = ntohs(at.sin_port);
  ck_assert(pthread_create(&h->thread, NULL, serve_hub, h) == 0);
}
static inline void hub_end(struct test_hub *h)
{
  shutdown(h->listening, SHUT_RDWR);
  pthread_join(h->thread, NULL);
  close(h->listening);
}
/* all is in order again, and nothing was asked; the repository stays */
static inline void hub_mended(struct test_hub *h)
{
  memset((char *) h + offsetof(struct test_hub, answer), 0, sizeof *h - offsetof(struct test_hub, answer));
}
#endif
