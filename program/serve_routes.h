/* serve_routes.h -- which path is answered how. */
#ifndef INCIPIT_SERVE_ROUTES_H
#define INCIPIT_SERVE_ROUTES_H
#include <stdatomic.h>
#include "http.h"
#include "serve.h"

/* who may ask: keys, one after the other, each with its length; whose pages may read; where lines of the log go, or null */
struct serve_manners {
  const char *cors;
  FILE *log;
  size_t max_body;
  const struct stop_string *key; /* bytes and a length */
  size_t n_keys;
};

/* what the answers come from; draining is set by another thread, and http is the main thread's alone */
struct serve_house {
  struct serve_model *model;
  struct serve_engine *engine;
  struct http_server *http;
  struct serve_manners manners;
  bool loopback;
  atomic_bool draining;
  uint64_t response[SERVE_STATUSES]; /* of the thread of HTTP */
  uint64_t answers; /* for ids */
};

/* the functions for http_open; h must stay where it is */
struct http_service serve_routes(struct serve_house *h);
#endif
