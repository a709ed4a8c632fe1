/* http.h -- HTTP for a server whose answers come from elsewhere, around libmicrohttpd and with the guards that it lacks.

   One thread reads requests and writes answers; it calls the functions of a service. An answer is given at once, or later, when
   somebody calls http_wake, or piece by piece. A second thread is the watcher: it looks ten times a second at each connection
   and closes those whose clients are gone, drip, sleep, or take nothing (http_guard.c). */
#ifndef INCIPIT_HTTP_H
#define INCIPIT_HTTP_H
#include <stdint.h>
#include "ground/buffers.h"

/* limits in bytes, connections, seconds; all of them 1 or more */
struct http_options {
  const char *host; /* an address, or localhost */
  uint16_t port; /* 0: any that is free */
  size_t max_body, max_header;
  unsigned connections, request_timeout, idle_timeout, send_timeout;
};

/* a request and its answer; the functions below are for the thread that calls the service, but for http_wake */
struct http_exchange;

/* an answer that is whole: n bytes of text, which are copied; up to six more headers; close: no request follows */
struct http_reply {
  unsigned status;
  const char *type, *text;
  size_t n;
  struct { const char *name, *value; } header[6];
  bool close;
};

/* what a stream has at the moment: something, or nothing yet; it is at its end; it must be cut */
enum http_more { HTTP_MORE, HTTP_WAIT, HTTP_END, HTTP_CUT };

/* who answers. What is refused before a service can be asked has two bodies of its own. */
struct http_service {
  void *ctx;
  /* the headers are there, of the body nothing: may refuse the request with http_answer */
  void (*begin)(void *ctx, struct http_exchange *x);
  /* the body is there as well: answers, or begins a stream, or does neither and is asked again (ready) after http_wake */
  void (*act)(void *ctx, struct http_exchange *x, const char *body, size_t n);
  void (*ready)(void *ctx, struct http_exchange *x);
  /* appends what a stream has to out */
  enum http_more (*more)(void *ctx, struct http_exchange *x, struct bytes *out);
  /* the exchange is over; sent: the client has taken all of the answer. After it x is gone */
  void (*end)(void *ctx, struct http_exchange *x, bool sent);
  const char *too_large, *too_many; /* bodies of 413 and 503 */
};

struct http_server;

/* listens, and answers from now on; m is for this module alone. Errors: the address, the port, memory */
struct http_server *http_open(struct memory *m, const struct http_options *w, const struct http_service *s, struct error *why);

/* where it listens: http://127.0.0.1:8080 */
const char *http_address(const struct http_server *h);

/* is it reached from this machine only? */
bool http_is_loopback(const struct http_server *h);

/* is this address one of the machine's own, 127.0.0.0/8, ::1 or localhost? false and a sentence if it is no address */
bool http_address_is_loopback(const char *host, bool *loopback, struct error *why);

/* no new connection from now on */
void http_quiesce(struct http_server *h);

/* ends what is there, and returns the memory */
void http_close(struct http_server *h);

/* of a request: GET, POST, ... */
const char *http_method(const struct http_exchange *x);

/* its path, without a query */
const char *http_path(const struct http_exchange *x);

/* one of its headers, null if it is not there */
const char *http_header(const struct http_exchange *x, const char *name);

/* what its Content-Length says, 0 without it */
uint64_t http_length(const struct http_exchange *x);

/* connections of its server that are open */
unsigned http_connections(const struct http_exchange *x);

/* the X-Request-Id of its answer */
const char *http_id(const struct http_exchange *x);

/* the status of its answer, once it is given */
unsigned http_status(const struct http_exchange *x);

/* what the service keeps with it; null at first */
void *http_own(const struct http_exchange *x);

/* keeps something else with it */
void http_set_own(struct http_exchange *x, void *own);

/* answers, once */
void http_answer(struct http_exchange *x, const struct http_reply *a);

/* answers 200 with the pieces that more will give; header as in a reply; text and n are not read */
void http_stream(struct http_exchange *x, const struct http_reply *a);

/* any thread: there is more of a stream, or the answer can be given. x must not be over */
void http_wake(struct http_exchange *x);
#endif
