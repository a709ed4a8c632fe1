/* http_inside.h -- what http.c and http_guard.c know of each other. */
#ifndef INCIPIT_HTTP_INSIDE_H
#define INCIPIT_HTTP_INSIDE_H
#include <pthread.h>
#include <microhttpd.h>
#include "http.h"

/* Of an open connection: it waits for a request; one is being read; it is being answered; it is one too many. */
enum http_phase { HTTP_IDLE, HTTP_READING, HTTP_ANSWERING, HTTP_REFUSED };

/* An open connection. All but next is the watcher's to read under the lock. */
struct http_connection {
  struct http_connection *next;
  struct MHD_Connection *mc;
  struct http_exchange *x; /* or null */
  int fd;
  enum http_phase phase;
  double since; /* when the phase began, or, of an idle one, when the first byte of a request was seen to have come */
  bool begun; /* that byte has come */
  uint64_t received, acked; /* bytes; when they were last looked at */
  double moved; /* when acked was last seen to grow, or nothing had to go out */
  bool shut; /* by us */
};

/* A request, and as much of its answer as is known; of the thread of HTTP, but for the last line. */
struct http_exchange {
  struct http_server *h;
  struct http_connection *c;
  void *own;
  char id[33];
  const char *method, *path; /* path is a copy */
  struct bytes body, out; /* what has come; what goes out next, from at on */
  size_t at;
  unsigned status;
  struct MHD_Response *reply; /* given and not yet queued */
  bool answered, streams, ended; /* more has said HTTP_END */
  bool acting; /* the body is there, and act was called */
  /* under the lock */
  bool suspended, woken, gone;
};

/* Listens, and has a list of its open connections. */
struct http_server {
  struct memory *m;
  struct http_options w;
  struct http_service s;
  struct MHD_Daemon *daemon;
  char address[80];
  bool loopback;
  int listener;
  pthread_mutex_t lock;
  pthread_t watcher;
  bool watching, ending;
  struct http_connection *first;
  unsigned open; /* connections, without those that were one too many */
  uint64_t seed, count; /* for ids */
};

/* the forms of a request that libmicrohttpd lets pass and we do not: a status, or 0 */
unsigned http_misframed(struct MHD_Connection *mc, const char *version, const char **why);

/* one look of the watcher at all connections, under the lock */
void http_look(struct http_server *h, double now);

/* under the lock: connections with a client. One that has gone gives up its place at once: somebody who closes a connection and
   opens the next is seen to open first, because libmicrohttpd accepts before it reads */
unsigned http_count_present(const struct http_server *h);

/* writes a whole answer, with this X-Request-Id, past libmicrohttpd, which has not begun one, and closes our side; what does not fit into the
   socket's buffer is lost */
void http_refuse(int fd, const char id[33], unsigned status, const char *reason, const char *body, bool retry);

/* has a connection's phase begin; under the lock */
void http_begin_phase(struct http_connection *c, enum http_phase phase, double now);

/* under the lock: an exchange that waits, waits no longer */
void http_resume(struct http_exchange *x);
#endif
