/* serve_routes.c -- which path is answered how: the tests before an answer, in their order, and the small answers.

   All of it runs in the thread of HTTP, but for the waking of an exchange, which the engine does. The order of the tests is
   that of the contract: Host, path, method, key, Content-Type, length; then the body. What is refused before the body is there
   costs nothing to refuse. */

#ifdef INCIPIT_HTTP
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include "ground/timing.h"
#include "page.h"
#include "safetensors/jsonfile.h"
#include "serve_routes.h"

/* what the service keeps with an exchange: its job, and what the log will say */
struct visit { struct serve_job *job; double came; size_t given, written, cached; };

static const char json_media[] = "application/json";

/* ---- sending */

/* n bytes; head: more headers, at most three, then null */
static void send_bytes(struct serve_house *h, struct http_exchange *x, unsigned status, const char *type, const void *text, size_t n,
  const char *const *head, bool close)
{
  struct http_reply a = { .status = status, .type = type, .text = text, .n = n, .close = close };
  size_t i = 0;
  for (; head != NULL && head[2 * i] != NULL; i++) a.header[i].name = head[2 * i], a.header[i].value = head[2 * i + 1];
  const char *origin = http_header(x, "Origin");
  if (h->manners.cors != NULL && origin != NULL && strcmp(origin, h->manners.cors) == 0) {
    a.header[i].name = "Access-Control-Allow-Origin", a.header[i++].value = h->manners.cors;
    a.header[i].name = "Vary", a.header[i].value = "Origin";
  }
  http_answer(x, &a);
}

/* what is said when there is not even memory to say so */
static const char no_memory[] = "{\"error\":{\"message\":\"there is no memory left for this answer\",\"type\":\"server_error\","
  "\"param\":null,\"code\":\"internal_error\"}}\n";

/* what f writes goes out as one object */
static void send_object(struct serve_house *h, struct http_exchange *x, unsigned status, const char *const *head, bool close,
  void (*f)(struct json_writer *j, void *ctx), void *ctx)
{
  struct serve_text t;
  struct bytes out = { NULL, 0, 0 };
  bool ok = serve_text_begin(&t);
  if (ok) {
    struct json_writer j = { t.out, '\0' };
    writer_open(&j, '{');
    f(&j, ctx);
    writer_close(&j, '}');
    writer_end(&j);
    ok = serve_text_end(&t, &out, &h->model->m);
  }
  if (ok) send_bytes(h, x, status, json_media, out.byte, out.n, head, close);
  else send_bytes(h, x, 500, json_media, no_memory, sizeof no_memory - 1, NULL, true);
  bytes_free(&h->model->m, &out);
}

static void put_refusal(struct json_writer *j, void *ctx)
{
  serve_put_error(j, ctx);
}

static void send_refusal(struct serve_house *h, struct http_exchange *x, struct serve_refusal *r, const char *allow, bool close)
{
  const char *head[6] = { NULL };
  size_t n = 0;
  if (allow != NULL) head[n++] = "Allow", head[n++] = allow;
  if (r->status == 401) head[n++] = "WWW-Authenticate", head[n++] = "Bearer";
  if (r->status == 429 || r->status == 503) head[n++] = "Retry-After", head[n++] = "1";
  head[n] = NULL;
  send_object(h, x, r->status, head, close, put_refusal, r);
}

static void refuse(struct serve_house *h, struct http_exchange *x, unsigned status, const char *code, const char *param, bool close,
  const char *words)
{
  struct serve_refusal r;
  serve_refuse(&r, status, code, param, "%s", words);
  send_refusal(h, x, &r, NULL, close);
}

/* ---- the small answers */

static void get_health(struct serve_house *h, struct http_exchange *x)
{
  static const char *const head[] = { "Retry-After", "1", NULL };
  const char *words = h->draining ? "{\"status\":\"draining\"}\n" : "{\"status\":\"ok\"}\n";
  send_bytes(h, x, h->draining ? 503 : 200, json_media, words, strlen(words), h->draining ? head : NULL, false);
}

static void get_metrics(struct serve_house *h, struct http_exchange *x)
{
  struct bytes out = { NULL, 0, 0 };
  bool ok = serve_put_metrics(h->engine, http_connections(x), h->response, &out, &h->model->m);
  if (ok) send_bytes(h, x, 200, "text/plain; version=0.0.4; charset=utf-8", out.byte, out.n, NULL, false);
  else refuse(h, x, 500, "internal_error", "", false, "there is no memory left for the metrics");
  bytes_free(&h->model->m, &out);
}

static void get_page(struct serve_house *h, struct http_exchange *x)
{
  static const char *const head[] = { "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src"
    " 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options", "nosniff", NULL };
  send_bytes(h, x, 200, "text/html; charset=utf-8", serve_page, serve_page_length, head, false);
}

static void put_model(struct json_writer *j, void *ctx)
{
  const struct serve_model *s = ctx;
  put_words_as(j, "id", s->name);
  put_words_as(j, "object", "model");
  put_count_as(j, "created", s->created);
  put_words_as(j, "owned_by", "incipit");
  put_count_as(j, "max_model_len", s->context);
}

static void put_models(struct json_writer *j, void *ctx)
{
  put_words_as(j, "object", "list");
  put_open_as(j, "data", '[');
  writer_open(j, '{');
  put_model(j, ctx);
  writer_close(j, '}');
  writer_close(j, ']');
}

/* all models, which is one, or the one that is named */
static void get_models(struct serve_house *h, struct http_exchange *x)
{
  static const char list[] = "/v1/models";
  const char *rest = http_path(x) + sizeof list - 1;
  if (*rest == '\0') send_object(h, x, 200, NULL, false, put_models, h->model);
  else if (strcmp(rest + 1, h->model->name) == 0) send_object(h, x, 200, NULL, false, put_model, h->model);
  else refuse(h, x, 404, "model_not_found", "model", false, "there is no model of this name; wanted: one of /v1/models");
}

/* ---- text and ids */

/* the one field that is required, and two that are flags: content, or tokens */
static json_t *read_small(struct serve_house *h, struct http_exchange *x, const char *body, size_t n, bool ids, bool flag[2])
{
  static const char *const name[] = { "add_special", "parse_special" };
  const char *field = ids ? "tokens" : "content";
  struct serve_refusal r;
  json_t *object = serve_read_body(body, n, &r), *v = json_object_get(object, field);
  bool ok = object != NULL;
  for (void *at = ok ? json_object_iter(object) : NULL; ok && at != NULL; at = json_object_iter_next(object, at)) {
    const char *key = json_object_iter_key(at);
    char shown[100];
    int k = -1;
    for (int i = 0; !ids && i < 2; i++)
      if (strcmp(key, name[i]) == 0) k = i;
    json_t *value = json_object_iter_value(at);
    snprintf(shown, sizeof shown, "%.90s", key);
    if (k < 0 && strcmp(key, field) != 0) ok = serve_refuse(&r, 400, "unknown_parameter", shown, "`%s' is not known here; wanted: %s", shown, field);
    else if (k >= 0 && !json_is_null(value) && !json_is_boolean(value))
      ok = serve_refuse(&r, 400, "invalid_type", name[k], "`%s' is no flag; wanted: true or false", name[k]);
    else if (k >= 0) flag[k] = json_is_true(value);
  }
  if (ok && (v == NULL || json_is_null(v))) ok = serve_refuse(&r, 400, "missing_parameter", field, "`%s' is missing; wanted: a value", field);
  if (ok && (ids ? !json_is_array(v) : !json_is_string(v)))
    ok = serve_refuse(&r, 400, "invalid_type", field, "`%s' is of another kind; wanted: %s", field, ids ? "a list of ids" : "a text");
  if (ok && h->model->o->t == NULL) ok = serve_refuse(&r, 400, "invalid_value", field, "this model has no tokenizer that we know");
  if (ok) return object;
  json_decref(object);
  send_refusal(h, x, &r, NULL, false);
  return NULL;
}

static void put_tokens(struct json_writer *j, void *ctx)
{
  const struct ids *list = ctx;
  put_ids_as(j, "tokens", list->id, list->n);
  put_count_as(j, "count", list->n);
}

static void post_tokenize(struct serve_house *h, struct http_exchange *x, const char *body, size_t n)
{
  bool flag[2] = { false, false };
  struct ids list = { NULL, 0, 0 };
  struct error why;
  json_t *object = read_small(h, x, body, n, false, flag), *v = json_object_get(object, "content");
  if (object == NULL) return;
  if (tokenizer_encode(h->model->o->t, &h->model->m, json_string_value(v), json_string_length(v), flag[0], flag[1], &list, &why))
    send_object(h, x, 200, NULL, false, put_tokens, &list);
  else refuse(h, x, 400, "invalid_value", "content", false, why.text);
  ids_free(&h->model->m, &list);
  json_decref(object);
}

static void put_content(struct json_writer *j, void *ctx)
{
  const struct bytes *text = ctx;
  const void *byte = text->n > 0 ? (const void *) text->byte : "";
  put_text_as(j, "content", byte, text->n);
  put_hex_as(j, "hex", byte, text->n);
}

static void post_detokenize(struct serve_house *h, struct http_exchange *x, const char *body, size_t n)
{
  bool flag[2];
  struct ids list = { NULL, 0, 0 };
  struct bytes text = { NULL, 0, 0 };
  struct memory *m = &h->model->m;
  struct error why;
  bool ok = true, wrong = false;
  json_t *object = read_small(h, x, body, n, true, flag), *v = json_object_get(object, "tokens");
  if (object == NULL) return;
  for (size_t i = 0; ok && !wrong && i < json_array_size(v); i++) {
    json_t *id = json_array_get(v, i);
    wrong = !json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) >= h->model->o->vocab_size;
    if (wrong) refuse(h, x, 400, json_is_integer(id) ? "invalid_value" : "invalid_type", "tokens", false,
      "`tokens' has something that is no id of this model; wanted: integers from 0 to the vocabulary's last");
    else ok = ids_push(m, &list, (uint32_t) json_integer_value(id), &why);
  }
  if (ok && !wrong && tokenizer_decode(h->model->o->t, m, list.id, list.n, false, &text, &why)) send_object(h, x, 200, NULL, false, put_content, &text);
  else if (!wrong) refuse(h, x, 500, "internal_error", "", false, "there is no memory left for this request");
  ids_free(m, &list);
  bytes_free(m, &text);
  json_decref(object);
}

/* ---- texts */

static void wake(void *listener)
{
  http_wake(listener);
}

static void send_job(struct serve_house *h, struct http_exchange *x, struct serve_job *j)
{
  struct bytes out = { NULL, 0, 0 };
  const struct serve_choice *failed = serve_failed(j);
  if (j->cancelled) refuse(h, x, 503, "shutting_down", "", true, "the server ends before this answer does; wanted: another try, later");
  else if (failed != NULL) refuse(h, x, 500, "internal_error", "", false, failed->why.text);
  else if (serve_put_answer(j, &out, &h->model->m)) send_bytes(h, x, 200, json_media, out.byte, out.n, NULL, false);
  else refuse(h, x, 500, "internal_error", "", false, "there is no memory left for this answer");
  bytes_free(&h->model->m, &out);
}

static void begin_stream(struct serve_house *h, struct http_exchange *x)
{
  struct http_reply a = { .status = 200, .type = "text/event-stream; charset=utf-8",
    .header = { { "X-Accel-Buffering", "no" } } };
  const char *origin = http_header(x, "Origin");
  if (h->manners.cors != NULL && origin != NULL && strcmp(origin, h->manners.cors) == 0) {
    a.header[1].name = "Access-Control-Allow-Origin", a.header[1].value = h->manners.cors;
    a.header[2].name = "Vary", a.header[2].value = "Origin";
  }
  http_stream(x, &a);
}

static void post_text(struct serve_house *h, struct http_exchange *x, const char *body, size_t n)
{
  struct visit *v = http_own(x);
  struct serve_refusal r;
  bool chat = strcmp(http_path(x), "/v1/chat/completions") == 0;
  struct serve_job *j = serve_job_open(h->model, chat, body, n, &r);
  if (j != NULL) {
    snprintf(j->id, sizeof j->id, "%s-%.16s%016" PRIx64, chat ? "chatcmpl" : "cmpl", http_id(x), ++h->answers);
    j->came = v->came;
    j->listener = x, j->wake = wake;
    if (!serve_submit(h->engine, j, &r)) {
      serve_job_close(j);
      j = NULL;
    }
  }
  if (j == NULL) {
    send_refusal(h, x, &r, NULL, false);
    return;
  }
  v->job = j;
  if (j->stream) begin_stream(h, x);
}

/* a stream has begun, or this is an answer that is whole */
static void text_is_ready(void *ctx, struct http_exchange *x)
{
  struct serve_house *h = ctx;
  struct visit *v = http_own(x);
  if (v == NULL || v->job == NULL) return;
  serve_lock(h->engine);
  bool done = v->job->done;
  serve_unlock(h->engine);
  if (done) send_job(h, x, v->job);
}

static enum http_more more_of_text(void *ctx, struct http_exchange *x, struct bytes *out)
{
  struct serve_house *h = ctx;
  struct visit *v = http_own(x);
  bool end = false;
  if (!serve_put_events(h->engine, v->job, out, &end, &h->model->m)) return HTTP_CUT;
  if (end) return HTTP_END;
  return out->n > 0 ? HTTP_MORE : HTTP_WAIT;
}

/* ---- routes */

static const struct route { const char *path, *method; bool open, text;
  void (*get)(struct serve_house *h, struct http_exchange *x);
  void (*post)(struct serve_house *h, struct http_exchange *x, const char *body, size_t n); } route[] = {
  { "/", "GET", true, false, get_page, NULL },
  { "/health", "GET", true, false, get_health, NULL },
  { "/metrics", "GET", false, false, get_metrics, NULL },
  { "/v1/models", "GET", false, false, get_models, NULL },
  { "/v1/models/", "GET", false, false, get_models, NULL }, /* and a name */
  { "/v1/completions", "POST", false, true, NULL, post_text },
  { "/v1/chat/completions", "POST", false, true, NULL, post_text },
  { "/tokenize", "POST", false, false, NULL, post_tokenize },
  { "/detokenize", "POST", false, false, NULL, post_detokenize },
};

static const struct route *find_route(const char *path)
{
  for (size_t i = 0; i < sizeof route / sizeof *route; i++) {
    size_t n = strlen(route[i].path);
    bool named = n > 1 && route[i].path[n - 1] == '/';
    if (named ? strncmp(path, route[i].path, n) == 0 && path[n] != '\0' : strcmp(path, route[i].path) == 0) return &route[i];
  }
  return NULL;
}

static bool is_get(const char *method)
{
  return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* localhost, 127.0.0.1 or [::1], and perhaps a port: on loopback another name is that of a page which resolves to us */
static bool host_is_ours(const char *host)
{
  static const char *const ours[] = { "localhost", "127.0.0.1", "[::1]" };
  for (size_t i = 0; host != NULL && i < 3; i++) {
    size_t n = strlen(ours[i]);
    const char *rest = host + n;
    if (strncasecmp(host, ours[i], n) != 0) continue;
    if (*rest == '\0' || (*rest == ':' && rest[1 + strspn(rest + 1, "0123456789")] == '\0')) return true;
  }
  return host == NULL;
}

/* All keys are compared, each as far as the longest may reach, so the time tells nothing of how much of a key was right. */
static bool has_key(const struct serve_manners *w, const char *given)
{
  unsigned found = 0;
  if (given == NULL || strncasecmp(given, "Bearer ", 7) != 0) return false;
  given += 7;
  given += strspn(given, " ");
  size_t n = strlen(given);
  for (size_t i = 0; i < w->n_keys; i++) {
    unsigned differ = n != w->key[i].n;
    for (size_t k = 0; k < 256; k++) {
      unsigned a = k < n ? (unsigned char) given[k] : 0, b = k < w->key[i].n ? w->key[i].byte[k] : 0;
      differ |= a ^ b;
    }
    found |= differ == 0;
  }
  return found != 0;
}

/* application/json, with parameters of which charset may only be utf-8 */
static bool is_json(const char *type)
{
  size_t n = type == NULL ? 0 : strcspn(type, "; \t");
  if (n != sizeof json_media - 1 || strncasecmp(type, json_media, n) != 0) return false;
  for (const char *at = type + n; *(at += strspn(at, "; \t")) != '\0'; at += strcspn(at, ";")) {
    if (strncasecmp(at, "charset=", 8) != 0) continue;
    at += 8;
    at += *at == '"';
    if (strncasecmp(at, "utf-8", 5) != 0 || strchr("\"; \t", at[5]) == NULL) return false;
  }
  return true;
}

static const char *allowed(const struct route *r)
{
  return r->get != NULL ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
}

static void send_options(struct serve_house *h, struct http_exchange *x, const struct route *r)
{
  const char *origin = http_header(x, "Origin");
  bool may = h->manners.cors != NULL && origin != NULL && strcmp(origin, h->manners.cors) == 0;
  const char *head[] = { "Allow", allowed(r), may ? "Access-Control-Allow-Methods" : NULL, allowed(r),
    "Access-Control-Allow-Headers", "authorization, content-type", NULL };
  send_bytes(h, x, 204, "text/plain", "", 0, head, false);
}

/* The tests in their order; what passes has no answer yet. */
static void admit(struct serve_house *h, struct http_exchange *x)
{
  const struct route *r = find_route(http_path(x));
  const char *method = http_method(x);
  struct serve_refusal why;
  bool post = strcmp(method, "POST") == 0;
  if (h->loopback && !host_is_ours(http_header(x, "Host")))
    refuse(h, x, 403, "host_not_allowed", "", true, "this server answers to localhost, 127.0.0.1 and [::1]; wanted: one of these as Host");
  else if (r == NULL) refuse(h, x, 404, "not_found", "", false, "there is nothing at this path; wanted: one of /v1/completions,"
      " /v1/chat/completions, /v1/models, /tokenize, /detokenize, /health, /metrics");
  else if (strcmp(method, "OPTIONS") == 0) send_options(h, x, r);
  else if (r->get != NULL ? !is_get(method) : !post) {
    serve_refuse(&why, 405, "method_not_allowed", "", "this path has no such method; wanted: %s", allowed(r));
    send_refusal(h, x, &why, allowed(r), false);
  }
  else if (!r->open && h->manners.n_keys > 0 && !has_key(&h->manners, http_header(x, "Authorization")))
    refuse(h, x, 401, "invalid_api_key", "", false, "this server wants a key; wanted: Authorization: Bearer KEY");
  else if (post && !is_json(http_header(x, "Content-Type")))
    refuse(h, x, 415, "unsupported_media_type", "", false, "the body is not announced as JSON; wanted: Content-Type: application/json");
  else if (http_length(x) > h->manners.max_body) refuse(h, x, 413, "body_too_large", "", true, "the body is larger than --max-body");
  else if (h->draining && r->get != get_health && r->get != get_metrics)
    refuse(h, x, 503, "shutting_down", "", true, "the server is ending; wanted: another one, or another try, later");
}

static void begin(void *ctx, struct http_exchange *x)
{
  struct serve_house *h = ctx;
  struct visit *v = memory_alloc(&h->model->m, MEMORY_OTHER, 1, sizeof *v, NULL);
  http_set_own(x, v);
  if (v == NULL) {
    refuse(h, x, 500, "internal_error", "", true, "there is no memory left for this request");
    return;
  }
  v->came = timing_seconds();
  admit(h, x);
}

static void act(void *ctx, struct http_exchange *x, const char *body, size_t n)
{
  const struct route *r = find_route(http_path(x));
  if (r->get != NULL) r->get(ctx, x);
  else r->post(ctx, x, body, n);
}

/* ---- the end of an exchange */

/* one line: nothing that a client has written is in it but the name of a path that we know */
static void log_visit(struct serve_house *h, struct http_exchange *x, const struct visit *v)
{
  const struct route *r = find_route(http_path(x));
  const char *method = http_method(x);
  static const char *const known[] = { "GET", "HEAD", "POST", "OPTIONS" };
  time_t now = time(NULL);
  struct tm utc;
  char when[32];
  size_t i = 0;
  while (i < 4 && strcmp(known[i], method) != 0) i++;
  strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  fprintf(h->manners.log, "%s %s %s %s %u %zu %zu %zu %.0f\n", when, http_id(x), i < 4 ? known[i] : "-", r != NULL ? r->path : "-",
    http_status(x), v->given, v->written, v->cached, 1e3 * (timing_seconds() - v->came));
  fflush(h->manners.log);
}

/* Tokens are read before the job is given back; while the engine still writes, they are those so far. */
static void note_tokens(struct serve_house *h, struct visit *v)
{
  struct serve_job *j = v->job;
  serve_lock(h->engine);
  for (size_t i = 0; i < j->n_prompts; i++) v->given += j->prompt[i].list.n, v->cached += j->prompt[i].cached;
  for (size_t i = 0; i < j->n; i++) v->written += j->choice[i].n;
  serve_unlock(h->engine);
}

/* A request for text that never became a job was refused, or failed; one whose client has gone before that is not counted. */
static void count_refusal(struct serve_house *h, struct http_exchange *x)
{
  const struct route *r = find_route(http_path(x));
  unsigned status = http_status(x);
  if (r == NULL || !r->text || strcmp(http_method(x), "OPTIONS") == 0) return;
  if ((status >= 400 && status < 500) || status == 503) serve_count_outcome(h->engine, SERVE_REFUSED);
  else if (status >= 500) serve_count_outcome(h->engine, SERVE_ERROR);
}

static void end(void *ctx, struct http_exchange *x, bool sent)
{
  struct serve_house *h = ctx;
  struct visit *v = http_own(x);
  unsigned status = http_status(x);
  if (status > 0 && status < SERVE_STATUSES) h->response[status]++;
  if (v == NULL || v->job == NULL) count_refusal(h, x);
  else {
    note_tokens(h, v);
    serve_leave(h->engine, v->job, sent);
  }
  if (v != NULL && h->manners.log != NULL) log_visit(h, x, v);
  memory_free(&h->model->m, v);
}

struct http_service serve_routes(struct serve_house *h)
{
  return (struct http_service) { .ctx = h, .begin = begin, .act = act, .ready = text_is_ready, .more = more_of_text, .end = end,
    .too_large = "{\"error\":{\"message\":\"the body is larger than --max-body\",\"type\":\"invalid_request_error\",\"param\":null,"
      "\"code\":\"body_too_large\"}}",
    .too_many = "{\"error\":{\"message\":\"there are as many connections as --connections says; wanted: another try, later\","
      "\"type\":\"server_error\",\"param\":null,\"code\":\"too_many_connections\"}}" };
}
#else
typedef int no_routes_here; /* a translation unit is never empty */
#endif
