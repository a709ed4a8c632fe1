/* http.c -- HTTP by libmicrohttpd: an exchange from its headers to the last byte of its answer.

   libmicrohttpd calls handle for each request three times or more: with the headers, with each part of the body, and when it
   is whole. Who has no answer then suspends the connection, and http_wake resumes it. A suspended connection is resumed once
   and never twice, so both are done under the lock, and a wake that comes too early is remembered (woken). The lock is held
   for a few instructions only and never while a function of the service runs; a service may hold a lock of its own when it
   calls http_wake.

   An exchange ends in one place, exchange_over, whatever has happened: libmicrohttpd calls it when the answer was sent, and
   when the connection is gone. */

#ifdef INCIPIT_HTTP
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "ground/timing.h"
#include "http_inside.h"

/* connections beyond the limit that can be told so at a time */
enum { SPARE_CONNECTIONS = 256 };
/* of a piece of a stream */
enum { BLOCK_BYTES = 16384 };

const char *http_method(const struct http_exchange *x) { return x->method; }
const char *http_path(const struct http_exchange *x) { return x->path; }
const char *http_id(const struct http_exchange *x) { return x->id; }
unsigned http_status(const struct http_exchange *x) { return x->status; }
void *http_own(const struct http_exchange *x) { return x->own; }
void http_set_own(struct http_exchange *x, void *own) { x->own = own; }

const char *http_header(const struct http_exchange *x, const char *name)
{
  return MHD_lookup_connection_value(x->c->mc, MHD_HEADER_KIND, name);
}

/* more digits than a number holds are more than any limit */
uint64_t http_length(const struct http_exchange *x)
{
  const char *text = http_header(x, "Content-Length");
  uint64_t n = 0;
  for (; text != NULL && *text >= '0' && *text <= '9'; text++) {
    if (n > UINT64_MAX / 10 - 1) return UINT64_MAX;
    n = n * 10 + (uint64_t) (*text - '0');
  }
  return n;
}

/* ---- answers */

static void add_headers(struct http_exchange *x, struct MHD_Response *r, const struct http_reply *a)
{
  MHD_add_response_header(r, "Content-Type", a->type);
  MHD_add_response_header(r, "X-Request-Id", x->id);
  MHD_add_response_header(r, "Cache-Control", "no-store");
  for (size_t i = 0; i < 6 && a->header[i].name != NULL; i++)
    MHD_add_response_header(r, a->header[i].name, a->header[i].value);
  if (a->close) MHD_add_response_header(r, "Connection", "close");
}

/* Without memory for the answer the connection is closed. */
void http_answer(struct http_exchange *x, const struct http_reply *a)
{
  x->answered = true;
  x->status = a->status;
  x->reply = MHD_create_response_from_buffer(a->n, (void *) a->text, MHD_RESPMEM_MUST_COPY);
  if (x->reply != NULL) add_headers(x, x->reply, a);
}

/* The connection rests until somebody wakes it; false if that has happened already. */
static bool rest(struct http_exchange *x)
{
  pthread_mutex_lock(&x->h->lock);
  bool early = x->woken || x->gone || x->h->ending;
  x->woken = false;
  if (!early) {
    x->suspended = true;
    MHD_suspend_connection(x->c->mc);
  }
  pthread_mutex_unlock(&x->h->lock);
  return !early;
}

static bool is_gone(struct http_exchange *x)
{
  pthread_mutex_lock(&x->h->lock);
  bool gone = x->gone || x->h->ending;
  pthread_mutex_unlock(&x->h->lock);
  return gone;
}

void http_wake(struct http_exchange *x)
{
  pthread_mutex_lock(&x->h->lock);
  http_resume(x);
  pthread_mutex_unlock(&x->h->lock);
}

/* the next bytes of a stream; 0 only if the connection rests */
static ssize_t read_stream(void *ctx, uint64_t pos, char *buffer, size_t max)
{
  struct http_exchange *x = ctx;
  (void) pos;
  while (x->at == x->out.n) {
    x->out.n = x->at = 0;
    if (x->ended) return MHD_CONTENT_READER_END_OF_STREAM;
    if (is_gone(x)) return MHD_CONTENT_READER_END_WITH_ERROR;
    enum http_more got = x->h->s.more(x->h->s.ctx, x, &x->out);
    if (got == HTTP_CUT && x->out.n == 0) return MHD_CONTENT_READER_END_WITH_ERROR;
    x->ended = got == HTTP_END || got == HTTP_CUT;
    if (got == HTTP_WAIT && x->out.n == 0 && rest(x)) return 0;
  }
  size_t n = x->out.n - x->at;
  if (n > max) n = max;
  memcpy(buffer, x->out.byte + x->at, n);
  x->at += n;
  return (ssize_t) n;
}

void http_stream(struct http_exchange *x, const struct http_reply *a)
{
  x->answered = x->streams = true;
  x->status = a->status;
  x->reply = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_stream, x, NULL);
  if (x->reply != NULL) add_headers(x, x->reply, a);
}

static enum MHD_Result queue_reply(struct http_exchange *x)
{
  if (x->reply == NULL) return MHD_NO;
  enum MHD_Result ok = MHD_queue_response(x->c->mc, x->status, x->reply);
  MHD_destroy_response(x->reply);
  x->reply = NULL;
  return ok;
}

/* ---- an exchange */

/* Ids must differ, and tell nothing: a counter, and a part that is another at each start. */
static void make_id(struct http_server *h, char id[33])
{
  snprintf(id, 33, "%016" PRIx64 "%016" PRIx64, h->seed, ++h->count);
}

static struct http_exchange *begin_exchange(struct http_server *h, struct MHD_Connection *mc, const char *url, const char *method)
{
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(mc, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  struct http_connection *c = info == NULL ? NULL : info->socket_context;
  if (c == NULL || c->phase == HTTP_REFUSED) return NULL;
  struct http_exchange *x = memory_alloc(h->m, MEMORY_OTHER, 1, sizeof *x + strlen(url) + 1, NULL);
  if (x == NULL) return NULL;
  *x = (struct http_exchange) { .h = h, .c = c, .method = method, .path = (char *) (x + 1) };
  strcpy((char *) (x + 1), url);
  make_id(h, x->id);
  pthread_mutex_lock(&h->lock);
  c->x = x;
  double began = c->begun ? c->since : timing_seconds();
  http_begin_phase(c, HTTP_READING, began);
  pthread_mutex_unlock(&h->lock);
  return x;
}

static void exchange_over(void *ctx, struct MHD_Connection *mc, void **own, enum MHD_RequestTerminationCode how)
{
  struct http_server *h = ctx;
  struct http_exchange *x = *own;
  (void) mc;
  if (x == NULL) return;
  *own = NULL;
  h->s.end(h->s.ctx, x, x->answered && how == MHD_REQUEST_TERMINATED_COMPLETED_OK);
  pthread_mutex_lock(&h->lock);
  x->c->x = NULL;
  http_begin_phase(x->c, HTTP_IDLE, timing_seconds());
  pthread_mutex_unlock(&h->lock);
  if (x->reply != NULL) MHD_destroy_response(x->reply);
  bytes_free(h->m, &x->body);
  bytes_free(h->m, &x->out);
  memory_free(h->m, x);
}

static enum MHD_Result take_headers(struct http_exchange *x, const char *version)
{
  const char *wrong;
  char body[300];
  unsigned status = http_misframed(x->c->mc, version, &wrong);
  if (status != 0) {
    int n = snprintf(body, sizeof body, "{\"error\":{\"message\":\"%s\",\"type\":\"invalid_request_error\",\"param\":null,"
      "\"code\":\"%s\"}}", wrong, status == 501 ? "unsupported_transfer_encoding" : "bad_request");
    http_answer(x, &(struct http_reply) { .status = status, .type = "application/json", .text = body, .n = (size_t) n, .close = true });
  }
  else x->h->s.begin(x->h->s.ctx, x);
  return x->answered ? queue_reply(x) : MHD_YES;
}

/* Chunks may become too many after we have said that we would read them; libmicrohttpd takes no answer in the middle of a
   body, so it is written past it. */
static enum MHD_Result take_body(struct http_exchange *x, const char *byte, size_t *n)
{
  struct http_server *h = x->h;
  if (x->answered) {
    *n = 0;
    return MHD_YES;
  }
  if (*n > h->w.max_body - x->body.n || !bytes_push(h->m, &x->body, byte, *n, NULL)) {
    x->status = 413;
    http_refuse(x->c->fd, x->id, 413, "Content Too Large", h->s.too_large, false);
    return MHD_NO;
  }
  *n = 0;
  return MHD_YES;
}

static void begin_answer(struct http_exchange *x)
{
  x->acting = true;
  pthread_mutex_lock(&x->h->lock);
  http_begin_phase(x->c, HTTP_ANSWERING, timing_seconds());
  pthread_mutex_unlock(&x->h->lock);
  x->h->s.act(x->h->s.ctx, x, x->body.n > 0 ? (const char *) x->body.byte : "", x->body.n);
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *mc, const char *url, const char *method, const char *version,
  const char *byte, size_t *n, void **own)
{
  struct http_server *h = ctx;
  struct http_exchange *x = *own;
  if (x == NULL) {
    *own = x = begin_exchange(h, mc, url, method);
    return x == NULL ? MHD_NO : take_headers(x, version);
  }
  if (*n > 0) return take_body(x, byte, n);
  if (x->answered) return MHD_YES;
  if (!x->acting) begin_answer(x);
  else if (is_gone(x)) return MHD_NO;
  else h->s.ready(h->s.ctx, x);
  while (!x->answered) {
    if (rest(x)) return MHD_YES;
    if (is_gone(x)) return MHD_NO;
    h->s.ready(h->s.ctx, x);
  }
  return queue_reply(x);
}

/* ---- connections */

static struct http_connection *begin_connection(struct http_server *h, struct MHD_Connection *mc)
{
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(mc, MHD_CONNECTION_INFO_CONNECTION_FD);
  struct http_connection *c = memory_alloc(h->m, MEMORY_OTHER, 1, sizeof *c, NULL);
  char id[33];
  if (c == NULL || info == NULL) return NULL;
  *c = (struct http_connection) { .mc = mc, .fd = info->connect_fd };
  pthread_mutex_lock(&h->lock);
  bool full = h->open >= h->w.connections && http_count_present(h) >= h->w.connections;
  http_begin_phase(c, full ? HTTP_REFUSED : HTTP_IDLE, timing_seconds());
  c->received = 0; /* what has come before we looked has come */
  if (!full) h->open++;
  make_id(h, id);
  c->next = h->first;
  h->first = c;
  pthread_mutex_unlock(&h->lock);
  if (full) http_refuse(c->fd, id, 503, "Service Unavailable", h->s.too_many, true);
  return c;
}

static void end_connection(struct http_server *h, struct http_connection *c)
{
  pthread_mutex_lock(&h->lock);
  struct http_connection **at = &h->first;
  while (*at != c) at = &(*at)->next;
  *at = c->next;
  if (c->phase != HTTP_REFUSED) h->open--;
  pthread_mutex_unlock(&h->lock);
  memory_free(h->m, c);
}

static void note_connection(void *ctx, struct MHD_Connection *mc, void **own, enum MHD_ConnectionNotificationCode what)
{
  struct http_server *h = ctx;
  if (what == MHD_CONNECTION_NOTIFY_STARTED) *own = begin_connection(h, mc);
  else if (*own != NULL) end_connection(h, *own);
}

unsigned http_connections(const struct http_exchange *x)
{
  struct http_server *h = x->h;
  pthread_mutex_lock(&h->lock);
  unsigned n = h->open;
  pthread_mutex_unlock(&h->lock);
  return n;
}

/* ---- the server */

static void *watch(void *ctx)
{
  struct http_server *h = ctx;
  static const struct timespec pause = { 0, 100000000 };
  for (bool ending = false; !ending; ) {
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&h->lock);
    http_look(h, timing_seconds());
    ending = h->ending;
    pthread_mutex_unlock(&h->lock);
  }
  return NULL;
}

/* an address of one of the two families; false: it is none */
static bool parse_address(const char *host, uint16_t port, struct sockaddr_storage *at, socklen_t *n)
{
  struct sockaddr_in *four = (struct sockaddr_in *) at;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *) at;
  memset(at, 0, sizeof *at);
  if (strcmp(host, "localhost") == 0) host = "127.0.0.1";
  if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
    four->sin_family = AF_INET, four->sin_port = htons(port);
    *n = sizeof *four;
    return true;
  }
  if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1) return false;
  six->sin6_family = AF_INET6, six->sin6_port = htons(port);
  *n = sizeof *six;
  return true;
}

bool http_address_is_loopback(const char *host, bool *loopback, struct error *why)
{
  struct sockaddr_storage at;
  socklen_t n;
  if (!parse_address(host, 0, &at, &n))
    return error_say(why, "--host is `%.100s'; wanted: an address, as 127.0.0.1, or localhost", host);
  *loopback = at.ss_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *) &at)->sin6_addr) != 0
    : (ntohl(((struct sockaddr_in *) &at)->sin_addr.s_addr) >> 24) == 127;
  return true;
}

static bool listen_at(struct http_server *h, struct error *why)
{
  struct sockaddr_storage at;
  socklen_t n;
  char text[INET6_ADDRSTRLEN];
  int on = 1;
  if (!http_address_is_loopback(h->w.host, &h->loopback, why) || !parse_address(h->w.host, h->w.port, &at, &n)) return false;
  h->listener = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (h->listener >= 0) setsockopt(h->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (h->listener < 0 || bind(h->listener, (struct sockaddr *) &at, n) != 0 || listen(h->listener, 511) != 0
      || getsockname(h->listener, (struct sockaddr *) &at, &n) != 0)
    return error_say(why, "%s, port %u: %s; wanted: an address of this machine and a free port", h->w.host,
      (unsigned) h->w.port, strerror(errno));
  bool six = at.ss_family == AF_INET6;
  inet_ntop(at.ss_family, six ? (void *) &((struct sockaddr_in6 *) &at)->sin6_addr
    : (void *) &((struct sockaddr_in *) &at)->sin_addr, text, sizeof text);
  unsigned port = ntohs(six ? ((struct sockaddr_in6 *) &at)->sin6_port : ((struct sockaddr_in *) &at)->sin_port);
  snprintf(h->address, sizeof h->address, six ? "http://[%s]:%u" : "http://%s:%u", text, port);
  return true;
}

/* libmicrohttpd divides the memory of a connection between what it reads and what it writes; headers of the limit's size must
   fit. Its own timeout is far beyond ours, which the watcher keeps. */
static bool start(struct http_server *h, struct error *why)
{
  unsigned flags = MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_SUSPEND_RESUME
    | (strchr(h->address, '[') != NULL ? MHD_USE_IPv6 : 0);
  h->daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, h, MHD_OPTION_LISTEN_SOCKET, h->listener,
    MHD_OPTION_CONNECTION_LIMIT, h->w.connections + SPARE_CONNECTIONS,
    MHD_OPTION_CONNECTION_MEMORY_LIMIT, 2 * h->w.max_header + BLOCK_BYTES / 4,
    MHD_OPTION_NOTIFY_COMPLETED, exchange_over, h, MHD_OPTION_NOTIFY_CONNECTION, note_connection, h,
    MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
  if (h->daemon == NULL) return error_say(why, "libmicrohttpd does not start: %s", strerror(errno));
  h->watching = pthread_create(&h->watcher, NULL, watch, h) == 0;
  return h->watching || error_say(why, "a thread cannot be started");
}

struct http_server *http_open(struct memory *m, const struct http_options *w, const struct http_service *s, struct error *why)
{
  struct http_server *h = memory_alloc(m, MEMORY_OTHER, 1, sizeof *h, why);
  if (h == NULL) return NULL;
  *h = (struct http_server) { .m = m, .w = *w, .s = *s, .listener = -1 };
  pthread_mutex_init(&h->lock, NULL);
  FILE *chance = fopen("/dev/urandom", "rb");
  if (chance == NULL || fread(&h->seed, sizeof h->seed, 1, chance) != 1) h->seed = (uint64_t) time(NULL);
  if (chance != NULL) fclose(chance);
  if (listen_at(h, why) && start(h, why)) return h;
  http_close(h);
  return NULL;
}

const char *http_address(const struct http_server *h) { return h->address; }
bool http_is_loopback(const struct http_server *h) { return h->loopback; }

void http_quiesce(struct http_server *h)
{
  if (h->listener < 0) return;
  MHD_quiesce_daemon(h->daemon);
  close(h->listener);
  h->listener = -1;
}

/* A daemon that is stopped must have no suspended connection. */
void http_close(struct http_server *h)
{
  if (h == NULL) return;
  pthread_mutex_lock(&h->lock);
  h->ending = true;
  for (struct http_connection *c = h->first; c != NULL; c = c->next)
    if (c->x != NULL) {
      c->x->gone = true;
      http_resume(c->x);
    }
  pthread_mutex_unlock(&h->lock);
  if (h->watching) pthread_join(h->watcher, NULL);
  if (h->daemon != NULL) MHD_stop_daemon(h->daemon);
  if (h->listener >= 0) close(h->listener);
  pthread_mutex_destroy(&h->lock);
  memory_free(h->m, h);
}
#else
typedef int no_http_here_either; /* a translation unit is never empty */
#endif
