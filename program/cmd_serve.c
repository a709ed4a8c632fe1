/* cmd_serve.c -- incipit serve: options, beginning and end.

   Four threads: the engine's, which computes (with the workers of its pool); two of HTTP; and one that waits for signals. The
   main thread opens what they need, waits until the end is wished for, and closes in the reverse order. The first SIGTERM or
   SIGINT closes the listening socket; what has begun goes on for --drain-timeout at most; what is not over then is told so.
   The second one ends the program at once. */

#define _XOPEN_SOURCE 700
#include "command.h"

#ifdef INCIPIT_HTTP
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "ground/timing.h"
#include "quotation.h"
#include "safetensors/tensor_file.h"
#include "serve_routes.h"
#include "template_setup.h"
#include "serving/prefix_file.h"

/* the end, as the thread of signals and the main thread see it */
struct ending {
  pthread_mutex_t lock;
  pthread_cond_t news;
  pthread_t thread;
  sigset_t wanted;
  bool running, ready, wished;
  void (*leave)(int status); /* the console's */
};

struct serving {
  const struct console *c;
  const struct command_line *w;
  struct session o;
  struct serve_model model;
  struct serve_house house;
  struct ending end;
  struct bytes keys; /* one after the other */
  struct stop_string *key;
  size_t n_keys, kv_rows;
  char name[200];
  struct error why;
};

/* ---- signals */

/* Before the server is ready, and the second time, a signal ends the program as it would have without us. */
static void *wait_for_signals(void *ctx)
{
  struct ending *e = ctx;
  for (;;) {
    int number;
    if (sigwait(&e->wanted, &number) != 0) continue;
    pthread_mutex_lock(&e->lock);
    bool last = !e->ready || e->wished;
    e->wished = true;
    pthread_cond_signal(&e->news);
    pthread_mutex_unlock(&e->lock);
    if (last && e->leave != NULL) e->leave(128 + number);
  }
  return NULL;
}

/* Threads that are started later inherit the mask, so no other thread takes a signal. A write to somebody who has gone fails
   and does not kill. */
static bool ending_open(struct ending *e, struct error *why)
{
  sigset_t pipe;
  pthread_mutex_init(&e->lock, NULL);
  pthread_cond_init(&e->news, NULL);
  sigemptyset(&e->wanted);
  sigaddset(&e->wanted, SIGTERM);
  sigaddset(&e->wanted, SIGINT);
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, NULL);
  pthread_sigmask(SIG_BLOCK, &e->wanted, NULL);
  e->running = pthread_create(&e->thread, NULL, wait_for_signals, e) == 0;
  return e->running || error_say(why, "a thread cannot be started");
}

/* from now on the first signal is a wish */
static void ending_listen(struct ending *e)
{
  pthread_mutex_lock(&e->lock);
  e->ready = true;
  pthread_mutex_unlock(&e->lock);
}

static void ending_wait(struct ending *e)
{
  pthread_mutex_lock(&e->lock);
  while (!e->wished) pthread_cond_wait(&e->news, &e->lock);
  pthread_mutex_unlock(&e->lock);
}

static void ending_close(struct ending *e)
{
  if (!e->running) return;
  pthread_cancel(e->thread);
  pthread_join(e->thread, NULL);
  pthread_sigmask(SIG_UNBLOCK, &e->wanted, NULL);
  pthread_cond_destroy(&e->news);
  pthread_mutex_destroy(&e->lock);
}

/* ---- keys */

enum { LEAST_KEY = 16, MOST_KEY = 256 };

static bool check_key(const char *path, size_t line, const char *key, size_t n, struct error *why)
{
  bool plain = n >= LEAST_KEY && n <= MOST_KEY;
  for (size_t i = 0; plain && i < n; i++) plain = key[i] > ' ' && key[i] < 0x7f;
  return plain || error_say(why, "%.200s, line %zu: this is no key; wanted: 16 to 256 printable characters", path, line);
}

/* pointers are set when the block no longer moves */
static bool take_keys(struct serving *s, const char *path, const struct bytes *file)
{
  struct memory *m = s->c->memory;
  const char *text = (const char *) file->byte;
  size_t line = 1, n;
  for (size_t at = 0; at < file->n; at += n + 1, line++) {
    const char *end = memchr(text + at, '\n', file->n - at);
    n = end != NULL ? (size_t) (end - text) - at : file->n - at;
    size_t length = n > 0 && text[at + n - 1] == '\r' ? n - 1 : n;
    if (length == 0 || text[at] == '#') continue;
    if (!check_key(path, line, text + at, length, &s->why) || !bytes_push(m, &s->keys, text + at, length, &s->why)) return false;
    void *p = memory_resize(m, MEMORY_OTHER, s->key, s->n_keys + 1, sizeof *s->key, &s->why);
    if (p == NULL) return false;
    s->key = p;
    s->key[s->n_keys++].n = length;
  }
  for (size_t i = 0, at = 0; i < s->n_keys; at += s->key[i++].n) s->key[i].byte = s->keys.byte + at;
  return s->n_keys > 0 || error_say(&s->why, "%.200s: there is no key in it; wanted: one a line", path);
}

static bool read_keys(struct serving *s)
{
  const struct option_value *given = &s->w->of[OPTION_API_KEY];
  struct bytes file = { NULL, 0, 0 };
  struct stat about;
  if (!given->given) return true;
  if (stat(given->text, &about) != 0) return error_say(&s->why, "%.200s: %s", given->text, strerror(errno));
  if ((about.st_mode & S_IROTH) != 0)
    return error_say(&s->why, "%.200s: others may read these keys; wanted: chmod 600", given->text);
  bool ok = prompt_read_text(s->c, given->text, &file, &s->why) && take_keys(s, given->text, &file);
  bytes_free(s->c->memory, &file);
  return ok;
}

/* ---- the model */

/* the last part of a path, without a slash at its end; what would not pass as a name is left out. Whoever stands in the folder
   of a model and calls it a point means the folder's name */
static void name_model(struct serving *s)
{
  const struct option_value *given = &s->w->of[OPTION_MODEL_NAME];
  const char *path = given->given ? given->text : s->o.path;
  char real[PATH_CAP];
  size_t end = strlen(path);
  while (end > 1 && path[end - 1] == '/') end--;
  size_t points = end;
  while (points > 0 && strchr("./", path[points - 1]) != NULL) points--;
  bool no_name = end > 0 && path[end - 1] == '.' && (points == 0 || path[points] == '/');
  if (!given->given && no_name && realpath(path, real) != NULL) path = real, end = strlen(real);
  size_t begin = end;
  while (begin > 0 && (given->given || path[begin - 1] != '/')) begin--;
  size_t n = end - begin < sizeof s->name - 1 ? end - begin : sizeof s->name - 1;
  memcpy(s->name, path + begin, n);
  s->name[n] = '\0';
  s->model.name = s->name;
}

/* A model without a template that we know can be served all the same; only talks are refused then, and whoever
   starts the server is told the reason, which is none of its clients' business. */
static void hint_no_talks(struct serving *s)
{
  struct error words;
  error_say(&words, "/v1/chat/completions refuses talks: %s", s->why.text);
  session_hint(s->c, s->w, words.text);
}

static bool choose_template(struct serving *s)
{
  const struct option_value *of = s->w->of;
  struct memory *m = s->o.m;
  const struct model_config *config = &s->o.lm->config;
  bool ok = true, asked = of[OPTION_TEMPLATE].given || of[OPTION_CHAT_TEMPLATE].given;
  if (s->o.t == NULL) return !asked || error_say(&s->why, "%s: there is no tokenizer that we know; wanted: one, to set"
      " talks as --template says", s->o.path);
  s->model.by = template_setup_open(&s->o, s->w, &s->why);
  if (s->model.by == NULL && (asked || of[OPTION_KWARG].given)) return false;
  if (s->model.by == NULL) hint_no_talks(s);
  if (s->model.by == NULL) return true;
  ok = conversations_ends(m, s->model.by, s->o.t, &s->model.ends, &s->why);
  if (!ok && !asked) {
    hint_no_talks(s);
    chat_template_close(m, s->model.by);
    s->model.by = NULL, ok = true;
  }
  for (size_t i = 0; ok && i < config->n_eos; i++) ok = ids_push(m, &s->model.ends, config->eos[i], &s->why);
  if (ok && s->model.by != NULL) ok = template_setup_named(&s->o, s->model.by, &s->model.ends, &s->model.named, &s->why);
  return ok;
}

static int open_model(struct serving *s)
{
  int status = session_open(&s->o, s->c, s->w, SESSION_NEED_MODEL | SESSION_MAY_TOKENIZER, &s->why);
  if (status != STATUS_DONE) return status;
  s->model.o = &s->o;
  struct cache_options size;
  const struct option_value *less = &s->w->of[OPTION_CTX_SIZE], *rows = &s->w->of[OPTION_KV_ROWS];
  size_t has = s->o.lm->config.n_positions, context = less->given ? (size_t) less->count : has;
  if (context > has) {
    error_say(&s->why, "--ctx-size is %zu; wanted: 1 to %zu, the model's context", context, has);
    return STATUS_USAGE;
  }
  session_serve_rows(&s->o, s->w, &size);
  s->kv_rows = size.rows;
  if (rows->given && rows->count < context) context = (size_t) rows->count;
  s->model.context = context;
  s->model.build = s->c->build, s->model.created = (uint64_t) time(NULL);
  name_model(s);
  return choose_template(s) ? STATUS_DONE : STATUS_FAILED;
}

/* ---- the file of pages */

/* All that rows depend on besides tokens: every tensor, every setting, and the options that change a row. */
static bool sum_model(struct serving *s, unsigned char key[PREFIX_KEY])
{
  struct serve_text t;
  struct bytes all = { NULL, 0, 0 };
  const struct tensor_file *w = s->o.lm->weights;
  const struct option_value *of = s->w->of;
  char sum[QUOTATION_SUM];
  if (!serve_text_begin(&t)) return error_say(&s->why, "there is no memory for the sum of the model");
  for (size_t i = 0; i < tensor_file_count(w); i++) {
    const struct tensor_entry *x = tensor_file_at(w, i);
    quotation_sum((const char *) x->data, (size_t) x->bytes, sum);
    fprintf(t.out, "%s %u %s\n", x->name, x->type, sum);
    tensor_file_release(w, x->data, (size_t) x->bytes);
  }
  for (size_t i = 0; i < N_MODEL_SETTINGS; i++)
    if (config_setting[i].listed != SETTING_SHOWN_IF_SET || setting_is_listed(&config_setting[i], &s->o.lm->config)) fprintf(t.out, "%s %.17g\n", config_setting[i].name, setting_value(&config_setting[i], &s->o.lm->config));
  for (uint32_t i = 0; i < s->o.lm->config.n_layers; i++) fprintf(t.out, "%" PRIu32 " ", config_window(&s->o.lm->config, i));
  for (uint32_t i = 0; s->o.lm->frequency != NULL && i < config_rotary(&s->o.lm->config) / 2; i++)
    fprintf(t.out, "%.9g ", (double) s->o.lm->frequency[i]);
  for (uint32_t i = 0; s->o.lm->local_frequency != NULL && i < config_rotary(&s->o.lm->config) / 2; i++)
    fprintf(t.out, "%.9g ", (double) s->o.lm->local_frequency[i]);
  for (uint32_t i = 0; s->o.lm->long_frequency != NULL && i < config_rotary(&s->o.lm->config) / 2; i++)
    fprintf(t.out, "%.9g ", (double) s->o.lm->long_frequency[i]);
  for (uint32_t i = 0; s->o.lm->config.some_unturned && i < s->o.lm->config.n_layers; i++)
    fprintf(t.out, "%d ", config_turns(&s->o.lm->config, i));
  fprintf(t.out, "\n%s %" PRIu64 " %" PRIu64 " %d", of[OPTION_KV_TYPE].given ? of[OPTION_KV_TYPE].text : "f32",
    of[OPTION_WINDOW].given ? of[OPTION_WINDOW].count + 1 : 0, of[OPTION_SINKS].count, (int) s->o.e.activations);
  if (!serve_text_end(&t, &all, s->o.m)) return error_say(&s->why, "there is no memory for the sum of the model");
  quotation_sum((const char *) all.byte, all.n, sum);
  bytes_free(s->o.m, &all);
  return jsonfile_hex(sum, 2 * PREFIX_KEY, key);
}

static bool load_pages(struct serving *s, const unsigned char key[PREFIX_KEY])
{
  const char *path = s->w->of[OPTION_PROMPT_CACHE].text;
  return access(path, F_OK) != 0 || prefix_load(serve_prefixes(s->house.engine), path, key, &s->why);
}

/* ---- beginning and end */

static uint64_t option_or(const struct command_line *w, enum option o, uint64_t usual)
{
  return w->of[o].given ? w->of[o].count : usual;
}

static int open_engine(struct serving *s, unsigned char key[PREFIX_KEY])
{
  const struct command_line *w = s->w;
  struct serve_limits limits = { .slots = (size_t) option_or(w, OPTION_SLOTS, 8),
    .pass_rows = (size_t) option_or(w, OPTION_BATCH_ROWS, 256), .queue = (size_t) option_or(w, OPTION_QUEUE, 64),
    .pages = s->kv_rows / 16, .share = option_or(w, OPTION_PREFIX_CACHE, 1) == 1 };
  s->house.engine = serve_engine_open(&s->model, &limits, &s->why);
  if (s->house.engine == NULL) return STATUS_FAILED;
  if (!w->of[OPTION_PROMPT_CACHE].given) return STATUS_DONE;
  return sum_model(s, key) && load_pages(s, key) ? STATUS_DONE : STATUS_FAILED;
}

/* a server that strangers can reach says who may use it */
static int check_host(struct serving *s)
{
  const struct option_value *of = s->w->of;
  const char *host = of[OPTION_HOST].given ? of[OPTION_HOST].text : "127.0.0.1";
  bool loopback;
  if (!http_address_is_loopback(host, &loopback, &s->why)) return STATUS_USAGE;
  s->house.loopback = loopback;
  if (loopback || of[OPTION_API_KEY].given || of[OPTION_NO_KEY].given) return STATUS_DONE;
  error_say(&s->why, "--host %s can be reached from other machines; wanted: --api-key FILE, or --no-key", host);
  return STATUS_USAGE;
}

static int open_http(struct serving *s)
{
  const struct command_line *w = s->w;
  struct serve_house *h = &s->house;
  struct http_options net = { .host = w->of[OPTION_HOST].given ? w->of[OPTION_HOST].text : "127.0.0.1",
    .port = (uint16_t) option_or(w, OPTION_PORT, 8080), .max_body = (size_t) option_or(w, OPTION_MAX_BODY, 1 << 20),
    .max_header = (size_t) option_or(w, OPTION_MAX_HEADER, 16384), .connections = (unsigned) option_or(w, OPTION_CONNECTIONS, 256),
    .request_timeout = (unsigned) option_or(w, OPTION_REQUEST_TIMEOUT, 10), .idle_timeout = (unsigned) option_or(w, OPTION_IDLE_TIMEOUT, 60),
    .send_timeout = (unsigned) option_or(w, OPTION_SEND_TIMEOUT, 30) };
  h->model = &s->model;
  h->manners = (struct serve_manners) { .cors = w->of[OPTION_CORS].text, .log = w->of[OPTION_LOG].given ? s->c->err : NULL,
    .max_body = net.max_body, .key = s->key, .n_keys = s->n_keys };
  struct http_service routes = serve_routes(h);
  if (!serve_engine_start(h->engine, &s->why)) return STATUS_FAILED;
  h->http = http_open(&s->model.m, &net, &routes, &s->why);
  return h->http != NULL ? STATUS_DONE : STATUS_FAILED;
}

/* until nothing is left, or the time is over; true: nothing is left */
static bool drain(struct serve_engine *e, double seconds)
{
  static const struct timespec pause = { 0, 20000000 };
  double until = timing_seconds() + seconds;
  while (!serve_is_idle(e))
    if (timing_seconds() > until) return false;
    else nanosleep(&pause, NULL);
  return true;
}

/* What was cut has two seconds to be told so. Pages are kept only after an end at which everybody had got an answer. Somebody
   who has pressed Ctrl-C and sees the program go on is told why. */
static int finish(struct serving *s, const unsigned char key[PREFIX_KEY])
{
  struct serve_house *h = &s->house;
  const struct option_value *file = &s->w->of[OPTION_PROMPT_CACHE];
  atomic_store(&h->draining, true);
  http_quiesce(h->http);
  uint64_t seconds = option_or(s->w, OPTION_DRAIN_TIMEOUT, 30);
  if (!serve_is_idle(h->engine)) fprintf(s->c->err, "incipit: answers that have begun are finished first, for %" PRIu64
    " seconds at most; a second signal ends them\n", seconds);
  bool whole = drain(h->engine, (double) seconds);
  if (!whole) {
    serve_cut(h->engine);
    drain(h->engine, 2);
    fprintf(s->c->err, "incipit: what was not finished by then was cut (--drain-timeout)\n");
  }
  http_close(h->http);
  h->http = NULL;
  serve_engine_stop(h->engine);
  if (!whole) return STATUS_FAILED;
  return !file->given || prefix_save(serve_prefixes(h->engine), file->text, key, &s->why) ? STATUS_DONE : console_fail(s->c, &s->why);
}

static int open_all(struct serving *s, unsigned char key[PREFIX_KEY])
{
  int status = check_host(s);
  if (status == STATUS_DONE && !read_keys(s)) status = STATUS_FAILED;
  if (status == STATUS_DONE && !ending_open(&s->end, &s->why)) status = STATUS_FAILED;
  if (status == STATUS_DONE) status = open_model(s);
  if (status == STATUS_DONE) status = open_engine(s, key);
  if (status == STATUS_DONE) status = open_http(s);
  return status;
}

static void close_all(struct serving *s)
{
  struct memory *m = s->c->memory;
  http_close(s->house.http);
  serve_engine_close(s->house.engine);
  lexicon_close(s->model.words);
  ids_free(m, &s->model.ends);
  ids_free(m, &s->model.named);
  chat_template_close(m, s->model.by);
  if (s->model.o != NULL) session_close(&s->o);
  memory_free(m, s->key);
  bytes_free(m, &s->keys);
  ending_close(&s->end);
}

int cmd_serve(const struct console *c, const struct command_line *w)
{
  struct serving *s = memory_alloc(c->memory, MEMORY_OTHER, 1, sizeof *s, NULL);
  unsigned char key[PREFIX_KEY];
  if (s == NULL) return STATUS_FAILED;
  s->c = c, s->w = w;
  s->end.leave = c->leave;
  int status = open_all(s, key);
  if (status == STATUS_DONE) {
    ending_listen(&s->end);
    fprintf(c->out, "listening on %s\n", http_address(s->house.http));
    fflush(c->out);
    ending_wait(&s->end);
    status = finish(s, key);
  }
  else if (status == STATUS_USAGE) console_usage_error(c, &s->why);
  else if (status == STATUS_FAILED) console_fail(c, &s->why);
  close_all(s);
  memory_free(c->memory, s);
  return status;
}
#else
/* Without libmicrohttpd all else is built, and this is what is left of the server. */
int cmd_serve(const struct console *c, const struct command_line *w)
{
  struct error why;
  (void) w;
  error_say(&why, "this program was built without libmicrohttpd; wanted: the library (libmicrohttpd-dev), and make again");
  return console_fail(c, &why);
}
#endif
