/* incipit serve, from outside: a server in this process, sockets of our own, and incipit generate in the same process as the
   judge.  Each test is a process of its own (Check forks), so a signal to end the server is one to ourselves.
   Bytes are sent as they are, because what a library would refuse to send is what is to be tested. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include "ground/timing.h"
#include "marked.h"
#include "runs.h"
#include "serve.h"
#include "tokenizer/tokenizer.h"
#include "http.h"

/* ---- a server in this process */
struct server {
  pthread_t thread;
  FILE *listening; /* its standard output, as we read it */
  char **argv;
  int argc, port, status;
  char *err;
  size_t n_err;
  struct memory m;
  FILE *out, *err_file;
};
static void (*leave_by)(int status); /* at a second signal; null: not at all */
static void *serve_now(void *ctx)
{
  struct server *s = ctx;
  struct console c = { .program = "build/incipit", .build = "test", .memory = &s->m, .out = s->out, .err = s->err_file,
    .listen = listen_to_nobody, .interrupted = counted_interrupt, .leave = leave_by };
  s->status = command_run(&c, s->argc, s->argv);
  fclose(s->out);
  return NULL;
}
static struct server *serve(const char *const *options)
{
  static struct server s;
  static char *argv[40];
  int ends[2], n = 0;
  sigset_t wanted;
  sigemptyset(&wanted), sigaddset(&wanted, SIGTERM), sigaddset(&wanted, SIGINT), sigaddset(&wanted, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &wanted, NULL);
  free(s.err); /* of the server before */
  memset(&s, 0, sizeof s);
  argv[n++] = "incipit", argv[n++] = "serve", argv[n++] = "--port", argv[n++] = "0";
  for (; *options != NULL; options++) argv[n++] = (char *) *options;
  argv[n] = NULL;
  ck_assert(pipe(ends) == 0);
  s.argv = argv, s.argc = n, s.out = fdopen(ends[1], "w"), s.listening = fdopen(ends[0], "r");
  s.err_file = open_memstream(&s.err, &s.n_err);
  ck_assert(pthread_create(&s.thread, NULL, serve_now, &s) == 0);
  if (fscanf(s.listening, "listening on http://127.0.0.1:%d", &s.port) != 1) s.port = 0;
  return &s;
}
#define SERVE(...) serve((const char *const[]){ __VA_ARGS__, NULL })
static int ended(struct server *s)
{
  pthread_join(s->thread, NULL);
  fclose(s->err_file), fclose(s->listening);
  ck_assert_msg(s->m.all.live == 0, "%lu bytes are still held", (unsigned long) s->m.all.live);
  return s->status;
}
/* it should not have begun to listen; a server that does would wait for a signal */
static void refused_to_begin(struct server *s, const char *words)
{
  bool listens = s->port != 0;
  if (listens) kill(getpid(), SIGTERM);
  int status = ended(s);
  ck_assert_msg(!listens && status == 1 && strstr(s->err, words) != NULL, "%s: status %d: %s", words, status, s->err);
}
static int stop(struct server *s)
{
  kill(getpid(), SIGTERM);
  return ended(s);
}

/* ---- a client */
static int dial(const struct server *s)
{
  struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t) s->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  ck_assert(fd >= 0);
  if (connect(fd, (struct sockaddr *) &at, sizeof at) == 0) return fd;
  close(fd);
  return -1;
}
static void say(int fd, const char *text, size_t n)
{
  for (size_t at = 0; at < n;) {
    ssize_t k = send(fd, text + at, n - at, MSG_NOSIGNAL);
    if (k <= 0) return;
    at += (size_t) k;
  }
}
/* all that comes until the other side closes, or for so many seconds; the caller frees it */
static char *hear(int fd, double seconds, size_t *n)
{
  char *all = NULL, part[65536];
  size_t have = 0;
  double until = timing_seconds() + seconds;
  for (;;) {
    struct pollfd p = { fd, POLLIN, 0 };
    double left = until - timing_seconds();
    if (left <= 0 || poll(&p, 1, (int) (left * 1000) + 1) <= 0) break;
    ssize_t k = recv(fd, part, sizeof part, 0);
    if (k <= 0) break;
    all = realloc(all, have + (size_t) k + 1);
    memcpy(all + have, part, (size_t) k);
    have += (size_t) k;
  }
  if (all == NULL) all = malloc(1);
  all[have] = '\0';
  if (n != NULL) *n = have;
  return all;
}
static int status_of(const char *answer)
{
  int status = 0;
  return sscanf(answer, "HTTP/1.%*d %d", &status) == 1 ? status : 0;
}
static char *body_of(char *answer)
{
  char *body = strstr(answer, "\r\n\r\n");
  return body == NULL ? answer + strlen(answer) : body + 4;
}
/* chunks joined, in place */
static void join_chunks(char *answer)
{
  char *from = body_of(answer), *to = from;
  if (strcasestr(answer, "transfer-encoding: chunked") == NULL) return;
  for (;;) {
    char *end;
    size_t n = strtoul(from, &end, 16);
    if (end == from || n == 0) break;
    from = strstr(end, "\r\n") + 2;
    memmove(to, from, n);
    to += n, from += n + 2;
  }
  *to = '\0';
}
static char *ask_raw(const struct server *s, const char *text, size_t n, double seconds)
{
  int fd = dial(s);
  ck_assert(fd >= 0);
  say(fd, text, n);
  char *all = hear(fd, seconds, NULL);
  close(fd);
  join_chunks(all);
  return all;
}
#define RAW(s, text, seconds) ask_raw(s, text, sizeof(text) - 1, seconds)
#define HOST "Host: 127.0.0.1\r\n"
#define JSON HOST "Content-Type: application/json\r\n"
static char *request(const char *path, const char *body, const char *more, size_t *n)
{
  char *text;
  int k = asprintf(&text, "POST %s HTTP/1.1\r\n" JSON "%sContent-Length: %zu\r\n\r\n%s", path, more, strlen(body), body);
  ck_assert(k > 0);
  *n = (size_t) k;
  return text;
}
static char *post(const struct server *s, const char *path, const char *body)
{
  size_t n;
  char *text = request(path, body, "Connection: close\r\n", &n), *answer = ask_raw(s, text, n, 120);
  free(text);
  return answer;
}
static char *get(const struct server *s, const char *path)
{
  char text[300];
  int n = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", path);
  return ask_raw(s, text, (size_t) n, 60);
}
static double metric(const struct server *s, const char *name)
{
  char *all = get(s, "/metrics"), line[200];
  snprintf(line, sizeof line, "\n%s ", name);
  char *at = strstr(all, line);
  double x = at == NULL ? -1 : strtod(at + strlen(line), NULL);
  free(all);
  return x;
}
static void comes(const struct server *s, const char *name, double value, double seconds)
{
  double until = timing_seconds() + seconds, x = 0;
  static const struct timespec pause = { 0, 20000000 };
  while ((x = metric(s, name)) != value && timing_seconds() < until) nanosleep(&pause, NULL);
  ck_assert_msg(x == value, "%s is %g after %g s; wanted: %g", name, x, seconds, value);
}
static void idles(const struct server *s)
{
  comes(s, "incipit_requests_running", 0, 5), comes(s, "incipit_requests_waiting", 0, 5), comes(s, "incipit_kv_pages_used", 0, 5);
}

/* ---- what generate prints for the same wishes */
struct wish { const char *body, *line; };
static const struct wish wishes[] = {
  { "{\"prompt\":\"Once upon a time\",\"max_tokens\":60}", "generate --json -q -p 'Once upon a time' -n 60" },
  { "{\"prompt\":\"The cat\",\"max_tokens\":80,\"temperature\":1,\"seed\":7}", "generate --json -q -p 'The cat' -n 80 --temperature 1 --seed 7" },
  { "{\"prompt\":\"A small\",\"max_tokens\":70,\"temperature\":0.8,\"top_p\":0.9,\"top_k\":40,\"seed\":12345}",
    "generate --json -q -p 'A small' -n 70 --temperature 0.8 --top-p 0.9 --top-k 40 --seed 12345" },
  { "{\"prompt\":\"Once\",\"max_tokens\":40,\"temperature\":1,\"seed\":3,\"n\":3}",
    "generate --json -q -p Once -n 40 --temperature 1 --seed 3 --num-sequences 3" },
  { "{\"prompt\":\"Once upon a time\",\"max_tokens\":200,\"stop\":[\" kingdom, there\",\"zzz\"]}",
    "generate --json -q -p 'Once upon a time' -n 200 --stop ' kingdom, there' --stop zzz" },
  { "{\"prompt\":\"Year: \",\"regex\":\"[0-9]{3}\",\"max_tokens\":10}", "generate --json -q -p 'Year: ' -n 10 --regex [0-9]{3}" },
  { "{\"prompt\":\"Once\",\"max_tokens\":60,\"response_format\":{\"type\":\"json_object\"},\"temperature\":1,\"seed\":2}",
    "generate --json -q -p Once -n 60 --json-object --temperature 1 --seed 2" },
  { "{\"prompt\":\"\",\"max_tokens\":30}", "generate --json -q -p '' -n 30" },
  { "{\"prompt\":[1155,1156,259,831],\"max_tokens\":30,\"repetition_penalty\":1.3}",
    "generate --json -q --prompt-ids 1155,1156,259,831 -n 30 --repetition-penalty 1.3" },
  { "{\"prompt\":\"The owl\",\"max_tokens\":0}", "generate --json -q -p 'The owl' -n 0" },
  { "{\"prompt\":\"The king\",\"max_tokens\":300,\"temperature\":1,\"seed\":11,\"min_tokens\":20}",
    "generate --json -q -p 'The king' -n 300 --temperature 1 --seed 11 --min-tokens 20" },
  { "{\"prompt\":\"In the village\",\"max_tokens\":150,\"ignore_eos\":true,\"temperature\":1.3,\"seed\":5,\"logit_bias\":{\"261\":-5}}",
    "generate --json -q -p 'In the village' -n 150 --ignore-eos --temperature 1.3 --seed 5 --logit-bias 261=-5" },
  { "{\"prompt\":\"Once\",\"max_tokens\":40,\"stop\":[\" \"],\"min_tokens\":6}", "generate --json -q -p Once -n 40 --stop ' ' --min-tokens 6" },
  { "{\"prompt\":\"Once upon\",\"max_tokens\":60,\"stop\":[\".\"],\"include_stop\":true}", "generate --json -q -p 'Once upon' -n 60 --stop . --include-stop" },
  { "{\"prompt\":\"Once upon\",\"max_tokens\":2,\"stop\":[\" a timely\"]}", "generate --json -q -p 'Once upon' -n 2 --stop ' a timely'" },
};
enum { N_WISHES = sizeof wishes / sizeof *wishes };
static json_t *wanted[N_WISHES]; /* sequences of generate */
static void write_alone(void)
{
  for (size_t i = 0; i < N_WISHES; i++) {
    struct run r = run(wishes[i].line);
    json_t *all = json_loads(r.out, 0, NULL);
    ck_assert_msg(r.status == 0 && all != NULL, "%s: %s", wishes[i].line, r.err);
    wanted[i] = json_incref(json_object_get(all, "sequences"));
    json_decref(all), done(&r);
  }
}
static void free_alone(void)
{
  for (size_t i = 0; i < N_WISHES; i++) json_decref(wanted[i]);
}
static void same(json_t *answer, size_t wish)
{
  json_t *choices = json_object_get(answer, "choices");
  size_t n = json_array_size(wanted[wish]);
  hold_msg(json_array_size(choices) == n, "wish %zu: %zu choices", wish, json_array_size(choices));
  for (size_t i = 0; i < n; i++) {
    json_t *c = json_array_get(choices, i), *w = json_array_get(wanted[wish], i);
    hold_msg(json_equal(json_object_get(c, "text"), json_object_get(w, "text")), "wish %zu: `%s'; wanted: `%s'", wish,
      json_string_value(json_object_get(c, "text")), json_string_value(json_object_get(w, "text")));
    hold(json_equal(json_object_get(c, "finish_reason"), json_object_get(w, "finish_reason")));
    hold(json_integer_value(json_object_get(c, "index")) == (json_int_t) i);
  }
}
static void same_whole(const struct server *s, size_t wish)
{
  char *answer = post(s, "/v1/completions", wishes[wish].body);
  json_t *object = json_loads(body_of(answer), 0, NULL);
  hold_msg(status_of(answer) == 200 && object != NULL, "wish %zu: %s", wish, answer);
  same(object, wish);
  json_decref(object), free(answer);
}
static void same_stream(const struct server *s, size_t wish)
{
  char *body, text[64][2000] = { "" };
  size_t n = json_array_size(wanted[wish]);
  hold(asprintf(&body, "{\"stream\":true,%s", wishes[wish].body + 1) > 0);
  char *answer = post(s, "/v1/completions", body), *at = body_of(answer);
  hold_msg(status_of(answer) == 200, "wish %zu: %s", wish, answer);
  bool ends = false;
  for (char *end; (end = strstr(at, "\n\n")) != NULL; at = end + 2) {
    *end = '\0';
    hold(strncmp(at, "data: ", 6) == 0 && !ends);
    ends = strcmp(at + 6, "[DONE]") == 0;
    json_t *event = ends ? NULL : json_loads(at + 6, 0, NULL), *c = json_array_get(json_object_get(event, "choices"), 0);
    hold(ends || c != NULL);
    if (!ends) strcat(text[json_integer_value(json_object_get(c, "index"))], json_string_value(json_object_get(c, "text")));
    json_decref(event);
  }
  hold(ends);
  for (size_t i = 0; i < n; i++)
    hold_msg(strcmp(text[i], json_string_value(json_object_get(json_array_get(wanted[wish], i), "text"))) == 0, "wish %zu: `%s'", wish, text[i]);
  free(answer), free(body);
}

/* ---- company */
struct crowd { const struct server *s; uint64_t seed; size_t n; };
static void *one_client(void *ctx)
{
  struct crowd *c = ctx;
  for (size_t i = 0; i < c->n; i++) {
    size_t wish = rnd(&c->seed) % N_WISHES;
    switch (rnd(&c->seed) % 4) {
    case 0: same_stream(c->s, wish); break;
    case 1: { /* leaves */
      size_t n;
      char *text = request("/v1/completions", "{\"prompt\":\"Once\",\"max_tokens\":1500,\"ignore_eos\":true,\"n\":2}", "", &n);
      int fd = dial(c->s);
      if (fd >= 0) {
        struct timespec t = { 0, (long) (rnd(&c->seed) % 60) * 1000000 };
        say(fd, text, n), nanosleep(&t, NULL), close(fd);
      }
      free(text);
      break;
    }
    default: same_whole(c->s, wish);
    }
  }
  return NULL;
}
static void in_company(const char *const *options, size_t clients, size_t each)
{
  struct crowd c[16];
  pthread_t t[16];
  uint64_t seed = suite_seed();
  write_alone();
  struct server *s = serve(options);
  ck_assert(s->port > 0);
  for (size_t i = 0; i < clients; i++) {
    c[i] = (struct crowd) { s, rnd(&seed), each };
    ck_assert(pthread_create(&t[i], NULL, one_client, &c[i]) == 0);
  }
  for (size_t i = 0; i < clients; i++) pthread_join(t[i], NULL);
  idles(s);
  ck_assert_int_eq(stop(s), 0);
  free_alone();
}
static size_t rounds(size_t usual)
{
  const char *r = getenv("INCIPIT_ROUNDS");
  return r == NULL ? usual : usual * strtoul(r, NULL, 10);
}

START_TEST(each_request_is_what_generate_prints)
{
  write_alone();
  struct server *s = SERVE("--slots", "3");
  for (size_t i = 0; i < N_WISHES; i++) same_whole(s, i), same_stream(s, i), same_whole(s, i);
  ck_assert_int_eq(stop(s), 0);
  ck_assert_uint_eq(s->n_err, 0);
  free_alone();
}
END_TEST
START_TEST(company_changes_no_answer)
{
  in_company((const char *const[]){ "--slots", "8", NULL }, 6, rounds(12));
}
END_TEST
START_TEST(little_memory_changes_no_answer)
{
  in_company((const char *const[]){ "--slots", "4", "--kv-rows", "2048", "--batch-rows", "8", "-t", "2", NULL }, 6, rounds(8));
}
END_TEST
START_TEST(without_prefixes_no_answer_changes)
{
  in_company((const char *const[]){ "--slots", "2", "--prefix-cache", "off", NULL }, 4, rounds(6));
}
END_TEST

/* ---- guards: each of the six, and what stands beside them */
#define SMALL "{\"prompt\":\"Once\",\"max_tokens\":1}"
#define BEGIN "POST /v1/completions HTTP/1.1\r\n" JSON
static void answers(const struct server *s, const char *text, size_t n, double seconds, int status, const char *words)
{
  char *a = ask_raw(s, text, n, seconds);
  ck_assert_msg(status_of(a) == status && strstr(a, words) != NULL, "%.60s...: %.300s; wanted: %d, %s", text, a, status, words);
  ck_assert_msg(status < 400 || strstr(a + 8, "HTTP/1.") == NULL, "two answers: %.300s", a);
  free(a);
}
#define ANSWERS(s, text, seconds, status, words) answers(s, text, sizeof(text) - 1, seconds, status, words)
START_TEST(two_framings_are_refused)
{
  struct server *s = SERVE("--slots", "1");
  ANSWERS(s, BEGIN "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\n" HOST "\r\n", 3, 400, "bad_request");
  ANSWERS(s, BEGIN "Content-Length: 33\r\nContent-Length: 5\r\n\r\n" SMALL, 3, 400, "");
  ANSWERS(s, BEGIN "Transfer-Encoding: gzip\r\n\r\n", 3, 501, "unsupported_transfer_encoding");
  ANSWERS(s, BEGIN "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 3, 501, "unsupported_transfer_encoding");
  ANSWERS(s, "GET /health HTTP/1.1\r\n\r\n", 3, 400, "");
  ANSWERS(s, "GET /health HTTP/1.1\r\n" HOST "Host: localhost\r\n\r\n", 3, 400, "");
  ANSWERS(s, "GET /health HTTP/1.0\r\n\r\n", 3, 200, "ok");
  ANSWERS(s, "GET /health HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", 3, 200, "ok");
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
START_TEST(large_bodies_are_refused)
{
  struct server *s = SERVE("--max-body", "4KiB");
  static char chunks[9000], line[100];
  ANSWERS(s, BEGIN "Content-Length: 5000\r\nExpect: 100-continue\r\n\r\n", 2, 413, "body_too_large");
  /* libmicrohttpd answers a number that is none by itself, and says so twice on a connection that it closes */
  char *a = RAW(s, BEGIN "Content-Length: 99999999999999999999999999\r\n\r\n", 2);
  ck_assert_msg(status_of(a) == 413 || status_of(a) == 400, "%s", a);
  free(a);
  snprintf(line, sizeof line, "Transfer-Encoding: chunked\r\n\r\n1800\r\n");
  int n = snprintf(chunks, sizeof chunks, "%s%s", BEGIN, line);
  memset(chunks + n, ' ', 0x1800);
  answers(s, chunks, (size_t) n + 0x1800, 2, 413, "body_too_large");
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
/* how long until the other side has closed */
static double closed_after(int fd, double most, const char *drip)
{
  double began = timing_seconds();
  char part[4096];
  while (timing_seconds() - began < most) {
    struct pollfd p = { fd, POLLIN, 0 };
    if (drip != NULL) say(fd, drip, strlen(drip));
    if (poll(&p, 1, 200) > 0 && recv(fd, part, sizeof part, 0) <= 0) return timing_seconds() - began;
  }
  return most;
}
START_TEST(drips_sleepers_and_halves_are_cut)
{
  struct server *s = SERVE("--request-timeout", "2", "--idle-timeout", "3");
  int drip = dial(s), sleeper = dial(s), half = dial(s);
  say(half, BEGIN "Content-Length: 500\r\n\r\n{", sizeof(BEGIN "Content-Length: 500\r\n\r\n{") - 1);
  shutdown(half, SHUT_WR);
  double t = closed_after(half, 6, NULL);
  ck_assert_msg(t < 2.9, "half a body and an end: %.1f s", t);
  say(drip, "GET /health HTTP/1.1\r\n", 22);
  t = closed_after(drip, 8, "X: 1\r\n");
  ck_assert_msg(t > 1 && t < 4.5, "a request that drips was cut after %.1f s", t);
  int body = dial(s);
  say(body, BEGIN "Content-Length: 500\r\n\r\n{", sizeof(BEGIN "Content-Length: 500\r\n\r\n{") - 1);
  t = closed_after(body, 8, " ");
  ck_assert_msg(t > 1 && t < 4.5, "a body that drips was cut after %.1f s", t);
  t = closed_after(sleeper, 8, NULL);
  ck_assert_msg(t < 5, "a sleeper: %.1f s", t);
  comes(s, "incipit_connections", 1, 2); /* the one that asks */
  close(drip), close(sleeper), close(half), close(body);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
START_TEST(a_connection_too_many_is_told)
{
  struct server *s = SERVE("--connections", "3");
  int fd[3];
  for (int i = 0; i < 3; i++) fd[i] = dial(s);
  static const struct timespec moment = { 0, 200000000 };
  nanosleep(&moment, NULL);
  ANSWERS(s, "GET /health HTTP/1.1\r\n" HOST "\r\n", 3, 503, "too_many_connections");
  for (int i = 0; i < 60; i++) { /* who closes a connection has room for the next, though that may be seen first */
    close(fd[i % 3]);
    fd[i % 3] = dial(s);
    struct pollfd p = { fd[i % 3], POLLIN, 0 };
    ck_assert_int_eq(poll(&p, 1, 20), 0);
  }
  for (int i = 0; i < 3; i++) close(fd[i]);
  nanosleep(&moment, NULL), nanosleep(&moment, NULL);
  ANSWERS(s, "GET /health HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", 3, 200, "ok");
  comes(s, "incipit_connections", 1, 2); /* who was turned away is not taken off them */
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
/* what is this machine's own; an address of six times as many digits stands in brackets */
START_TEST(addresses_of_this_machine)
{
  static const struct { const char *host; int own; } of[] = { { "127.0.0.1", 1 }, { "127.0.0.2", 1 }, { "127.255.0.9", 1 }, { "localhost", 1 },
    { "::1", 1 }, { "::2", 0 }, { "::", 0 }, { "0.0.0.0", 0 }, { "128.0.0.1", 0 }, { "1.127.0.1", 0 }, { "example.org", -1 }, { "127.1", -1 }, { "", -1 } };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    bool own = false;
    struct error why = { "" };
    ck_assert_msg(http_address_is_loopback(of[i].host, &own, &why) == (of[i].own >= 0), "%s: %s", of[i].host, why.text);
    ck_assert_msg(own == (of[i].own == 1), "%s", of[i].host);
  }
  struct server *s = SERVE("--host", "::1");
  struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
  int port = 0, fd = -1;
  bool six = fscanf(s->listening, "[::1]:%d", &port) == 1;
  if (!six && feof(s->listening)) { /* a machine without */
    printf("check_serve: no server at ::1 (no such address here)\n");
    ck_assert_int_eq(ended(s), 1);
    return;
  }
  at.sin6_port = htons((uint16_t) port);
  ck_assert(six && (fd = socket(AF_INET6, SOCK_STREAM, 0)) >= 0 && connect(fd, (struct sockaddr *) &at, sizeof at) == 0);
  say(fd, "GET /health HTTP/1.0\r\n\r\n", 24);
  char *answer = hear(fd, 5, NULL);
  ck_assert_msg(status_of(answer) == 200, "%s", answer);
  free(answer), close(fd);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
/* a long text is begun on a socket of its own */
static int begin_long(const struct server *s, const char *more)
{
  char body[300];
  size_t n;
  snprintf(body, sizeof body, "{\"prompt\":\"Once\",\"max_tokens\":1900,\"ignore_eos\":true,\"temperature\":1%s}", more);
  char *text = request("/v1/completions", body, "", &n);
  int fd = dial(s);
  ck_assert(fd >= 0);
  say(fd, text, n);
  free(text);
  return fd;
}
START_TEST(who_has_gone_is_noticed)
{
  struct server *s = SERVE("--slots", "1", "--queue", "1");
  double began;
  for (int way = 0; way < 3; way++) { /* a stream; an answer that is whole; a half-closed socket */
    double before = metric(s, "incipit_requests_total{outcome=\"cancelled\"}");
    int fd = begin_long(s, way == 0 ? ",\"n\":30,\"stream\":true" : ",\"n\":30");
    comes(s, "incipit_requests_running", 1, 5);
    int waits = begin_long(s, "");
    comes(s, "incipit_requests_waiting", 1, 5);
    char *full = post(s, "/v1/completions", SMALL);
    ck_assert_msg(status_of(full) == 429 && strstr(full, "Retry-After: 1") != NULL, "%s", full);
    free(full);
    close(waits);
    comes(s, "incipit_requests_waiting", 0, 1.5);
    if (way == 2) shutdown(fd, SHUT_WR);
    else close(fd);
    began = timing_seconds();
    comes(s, "incipit_requests_running", 0, 1.5);
    comes(s, "incipit_kv_pages_used", 0, 1);
    ck_assert(timing_seconds() - began < 2.5);
    ck_assert_msg(metric(s, "incipit_requests_total{outcome=\"cancelled\"}") == before + 2, "not both are counted as cancelled");
    if (way == 2) close(fd);
  }
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
START_TEST(who_takes_nothing_is_dropped)
{
  struct server *s = SERVE("--send-timeout", "1");
  int fd = socket(AF_INET, SOCK_STREAM, 0), little = 2048;
  struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t) s->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
  ck_assert(connect(fd, (struct sockaddr *) &at, sizeof at) == 0);
  size_t n;
  char *text = request("/v1/completions", "{\"prompt\":\"Once\",\"n\":24,\"max_tokens\":1500,\"ignore_eos\":true,\"stream\":true,\"logprobs\":20,"
    "\"temperature\":1}", "", &n);
  say(fd, text, n);
  comes(s, "incipit_requests_total{outcome=\"cancelled\"}", 1, 60);
  idles(s);
  close(fd), free(text);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
START_TEST(garbage_ends_nothing)
{
  struct server *s = SERVE("--request-timeout", "1");
  uint64_t seed = suite_seed();
  for (int i = 0; i < 60; i++) {
    char text[600];
    size_t n = 1 + rnd(&seed) % 500;
    if (i % 2 == 0) for (size_t k = 0; k < n; k++) text[k] = (char) rnd(&seed);
    else { /* a request with some bytes changed */
      char *good = request("/v1/completions", SMALL, "Connection: close\r\n", &n);
      memcpy(text, good, n), free(good);
      for (int k = 0; k < 3; k++) text[rnd(&seed) % n] = (char) rnd(&seed);
    }
    memcpy(text + n, "\r\n\r\n", 4);
    free(ask_raw(s, text, n + 4, 0.3));
  }
  ANSWERS(s, "GET /health HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", 3, 200, "ok");
  idles(s);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST

/* ---- who may ask */
START_TEST(only_those_with_a_key)
{
  static const char keys[] = "# two\n\nsk-first-0123456789\r\nsk-second-0123456789\n";
  char path[] = "/tmp/incipit-keys-XXXXXX";
  int fd = mkstemp(path);
  ck_assert(fd >= 0 && write(fd, keys, sizeof keys - 1) == sizeof keys - 1 && close(fd) == 0);
  struct server *s = SERVE("--api-key", path);
  static const struct { const char *key; int status; } tried[] = { { "Bearer sk-first-0123456789", 200 },
    { "bearer sk-second-0123456789", 200 }, { "Bearer sk-first-012345678", 401 }, { "Bearer sk-first-01234567890", 401 },
    { "Bearer ", 401 }, { "Basic sk-first-0123456789", 401 }, { "Bearer # two", 401 }, { "Bearer sk-first-0123456789 x", 401 } };
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    char text[300];
    int n = snprintf(text, sizeof text, "GET /v1/models HTTP/1.1\r\n" HOST "Connection: close\r\nAuthorization: %s\r\n\r\n", tried[i].key);
    answers(s, text, (size_t) n, 3, tried[i].status, tried[i].status == 401 ? "WWW-Authenticate: Bearer" : "pocket");
  }
  ANSWERS(s, "GET /health HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", 3, 200, "ok");
  ANSWERS(s, "GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", 3, 200, "<html");
  ANSWERS(s, "GET /metrics HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", 3, 401, "invalid_api_key");
  ANSWERS(s, BEGIN "Content-Length: 99999\r\n\r\n", 3, 401, "invalid_api_key"); /* before the body */
  ck_assert_int_eq(stop(s), 0);
  chmod(path, 0644);
  refused_to_begin(SERVE("--api-key", path), "chmod 600");
  chmod(path, 0600);
  ck_assert(truncate(path, 6) == 0); /* the remark alone */
  refused_to_begin(SERVE("--api-key", path), "there is no key in it");
  FILE *f = fopen(path, "a");
  fputs("\nsk-short\n", f), fclose(f);
  refused_to_begin(SERVE("--api-key", path), "line 3: this is no key");
  unlink(path);
}
END_TEST
START_TEST(foreign_pages_are_refused)
{
  struct server *s = SERVE("--cors", "http://app.example");
  ANSWERS(s, "GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", 3, 403, "host_not_allowed");
  ANSWERS(s, "GET /health HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", 3, 403, "host_not_allowed");
  ANSWERS(s, "GET /health HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n", 3, 200, "ok");
  ANSWERS(s, "GET /health HTTP/1.1\r\nHost: LOCALHOST\r\nConnection: close\r\n\r\n", 3, 200, "ok");
  ANSWERS(s, "POST /v1/completions HTTP/1.1\r\n" HOST "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", 3, 415, "unsupported_media_type");
  ANSWERS(s, "POST /v1/completions HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}", 3, 415, "unsupported_media_type");
  ANSWERS(s, "POST /v1/completions HTTP/1.1\r\n" HOST "Content-Type: application/json; charset=latin1\r\nContent-Length: 2\r\n\r\n{}", 3, 415, "");
  ANSWERS(s, "GET /health HTTP/1.1\r\n" HOST "Origin: http://app.example\r\nConnection: close\r\n\r\n", 3, 200, "Access-Control-Allow-Origin: http://app.example");
  char *a = RAW(s, "GET /health HTTP/1.1\r\n" HOST "Origin: http://app.example.evil\r\nConnection: close\r\n\r\n", 3);
  ck_assert(status_of(a) == 200 && strstr(a, "Access-Control") == NULL);
  free(a);
  ANSWERS(s, "OPTIONS /v1/completions HTTP/1.1\r\n" HOST "Origin: http://app.example\r\nConnection: close\r\n\r\n", 3, 204, "authorization, content-type");
  ANSWERS(s, "DELETE /health HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", 3, 405, "Allow: GET");
  ck_assert_int_eq(stop(s), 0);
}
END_TEST

/* ---- every line of tests/suites/serve.tsv: path, status, code, param, body */
START_TEST(each_mistake_has_its_answer)
{
  struct server *s = SERVE("--slots", "2");
  FILE *f = fopen("tests/suites/serve.tsv", "r");
  char line[4096];
  unsigned n = 0, wrong = 0, texts = 0;
  ck_assert(f != NULL);
  while (fgets(line, sizeof line, f) != NULL) {
    char *path, *status, *code, *param, *body, *save;
    if (line[0] == '#' || line[0] == '\n') continue;
    line[strcspn(line, "\n")] = '\0';
    path = strtok_r(line, "\t", &save), status = strtok_r(NULL, "\t", &save), code = strtok_r(NULL, "\t", &save);
    param = strtok_r(NULL, "\t", &save), body = strtok_r(NULL, "", &save);
    char *a = post(s, path, body == NULL ? "" : body);
    json_t *object = json_loads(body_of(a), 0, NULL), *e = json_object_get(object, "error");
    json_t *p = json_object_get(e, "param"), *k = json_object_get(e, "code");
    bool ok = status_of(a) == atoi(status) && (strcmp(code, "-") == 0 ? e == NULL : k != NULL && strcmp(json_string_value(k), code) == 0)
      && (strcmp(param, "-") == 0 ? e == NULL || json_is_null(p) : p != NULL && json_is_string(p) && strcmp(json_string_value(p), param) == 0)
      && (e == NULL || json_object_size(e) == 4);
    if (!ok) fprintf(stderr, "%s %s: %s\n  wanted: %s %s %s\n", path, body, body_of(a), status, code, param);
    n++, wrong += !ok;
    texts += strncmp(path, "/v1/c", 5) == 0 && status_of(a) >= 400;
    json_decref(object), free(a);
  }
  fclose(f);
  tally("tests/suites/serve.tsv", n - wrong, wrong, 0, "");
  ck_assert_uint_eq(wrong, 0);
  comes(s, "incipit_requests_total{outcome=\"refused\"}", texts, 5);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST

/* a name that is not known here: where it belongs, or what is nearest to it */
START_TEST(an_unknown_field_is_told_by_its_place)
{
  static const struct { const char *path, *body, *words; } told[] = {
    { "/v1/completions", "{\"temprature\":1}", "the nearest is temperature" },
    { "/v1/completions", "{\"messages\":[]}", "is a field of /v1/chat/completions" },
    { "/v1/chat/completions", "{\"prompt\":\"Once\"}", "is a field of /v1/completions" },
    { "/v1/completions", "{\"repeat_penalty\":1.1}", "the nearest is repetition_penalty" },
    { "/v1/completions", "{\"n_predict\":5}", "the nearest is max_tokens" },
    { "/v1/chat/completions", "{\"messages\":[],\"chat_template_kwargs\":{}}", "incipit serve --kwarg NAME=JSON" },
    { "/v1/completions", "{\"something quite different\":1}", "wanted: a field of this interface" } };
  struct server *s = SERVE("--slots", "2");
  for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
    char *a = post(s, told[i].path, told[i].body);
    ck_assert_msg(status_of(a) == 400 && strstr(a, told[i].words) != NULL, "%s", a);
    free(a);
  }
  ck_assert_int_eq(stop(s), 0);
}
END_TEST

/* whoever starts a server for a model that has no template is told so; its clients are told what can be done */
START_TEST(a_model_without_a_template_is_served_with_a_hint)
{
  struct server *s = SERVE("-m", "models/pocket");
  char *a = post(s, "/v1/chat/completions", "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
  ck_assert_msg(status_of(a) == 400 && strstr(a, "template_refused") != NULL && strstr(a, "--chat-template FILE") != NULL
    && strstr(a, "models/") == NULL, "%s", a);
  free(a);
  ck_assert_int_eq(stop(s), 0);
  ck_assert_msg(strstr(s->err, "hint: /v1/chat/completions refuses talks: models/pocket: has no chat template") != NULL
    && strchr(s->err, '\n') == s->err + s->n_err - 1, "%s", s->err);
}
END_TEST

/* a point is the folder that it means; a name with points at its end is its own */
START_TEST(a_model_has_the_name_of_its_folder)
{
  static const struct { const char *path, *id; } at[] = { { "models/pocket", "\"id\":\"pocket\"" }, { "models/pocket/", "\"id\":\"pocket\"" },
    { "models/pocket/.", "\"id\":\"pocket\"" }, { "models/draft/../pocket/./", "\"id\":\"pocket\"" }, { "models/draft/..//pocket", "\"id\":\"pocket\"" } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    struct server *s = SERVE("-m", at[i].path);
    char *a = get(s, "/v1/models");
    ck_assert_msg(strstr(a, at[i].id) != NULL, "%s: %s", at[i].path, a);
    free(a);
    ck_assert_int_eq(stop(s), 0);
  }
}
END_TEST

/* ---- options: what each refuses; what it changes is in the other tests */
static const struct { const char *option, *refused, *words; } refused[] = {
  { "model", "-m /nowhere", "/nowhere" }, { "ignore-field", "--ignore-field nothing", "nothing" },
  { "threads", "-t 0", "--threads is `0'" }, { "kv-type", "--kv-type f8", "f8" }, { "window", "--window x", "--window is `x'" },
  { "sinks", "--sinks 1", "--sinks needs --window" }, { "activations", "--activations f8", "f8" },
  { "packed", "--packed=1", "--packed takes no value" }, { "device", "--device gpu", "gpu" },
  { "ctx-size", "-c 999999", "--ctx-size is 999999; wanted: 1 to" }, { "template", "--template none", "none" },
  { "chat-template", "--chat-template /nowhere/t", "/nowhere/t" }, { "kwarg", "--kwarg x", "wanted: NAME=JSON" },
  { "host", "--host nowhere", "--host is `nowhere'; wanted: an address" }, { "host", "--host 0.0.0.0", "wanted: --api-key FILE, or --no-key" },
  { "host", "--host 192.0.2.1 --no-key --port 0", "192.0.2.1" }, { "port", "--port 65536", "wanted: an integer from 0 to 65535" },
  { "api-key", "--api-key /nowhere/keys", "/nowhere/keys" }, { "no-key", "--no-key --api-key x", "contradicts" },
  { "model-name", "--model-name 'a b'", "--model-name is `a b'" }, { "cors", "--cors ''", "--cors is `'" },
  { "slots", "--slots 257", "1 to 256" }, { "batch-rows", "--batch-rows 7", "a row for each of 8 slots" },
  { "kv-rows", "--kv-rows 0", "--kv-rows is `0'" }, { "queue", "--queue -1", "--queue is `-1'" },
  { "prefix-cache", "--prefix-cache maybe", "wanted: on or off" }, { "prompt-cache", "--prompt-cache x --prefix-cache off", "contradicts" },
  { "prompt-cache", "--port 0 --prompt-cache tests/cases.tsv", "tests/cases.tsv" },
  { "speculate", "--speculate 17", "0 to 16" }, { "draft", "--draft x", "--draft needs --speculate" },
  { "max-body", "--max-body 5", "1024 to" }, { "max-header", "--max-header 1GB", "1024 to" }, { "connections", "--connections 0", "1 to" },
  { "request-timeout", "--request-timeout 0", "1 to" }, { "idle-timeout", "--idle-timeout 1.5", "1 to" },
  { "send-timeout", "--send-timeout x", "1 to" }, { "drain-timeout", "--drain-timeout ''", "1 to" },
  { "log", "--log all", "wanted: requests" }, { "help", "--help=1", "takes no value" } };
START_TEST(each_option_refuses_something)
{
  static bool seen[N_OPTIONS];
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    char line[300];
    int o = 0;
    snprintf(line, sizeof line, "serve %s", refused[i].refused);
    alarm(20); /* a server that is not refused goes on */
    struct run r = run(line);
    alarm(0);
    ck_assert_msg(r.status != 0 && r.n_out == 0 && strstr(r.err, refused[i].words) != NULL, "%s: %d %s", line, r.status, r.err);
    while (o < N_OPTIONS && (strcmp(options_option((enum option) o).name, refused[i].option) != 0
        || (options_option((enum option) o).where >> SUB_SERVE & 1) == 0)) o++;
    ck_assert_msg(o < N_OPTIONS, "%s", refused[i].option);
    seen[o] = true, done(&r);
  }
  for (int o = 0; o < N_OPTIONS; o++)
    ck_assert_msg(seen[o] || (options_option((enum option) o).where >> SUB_SERVE & 1) == 0, "%s", options_option((enum option) o).name);
}
END_TEST

/* ---- numbers: log-probabilities are generate's and probe's, in the shape of this interface */
static json_t *asked(const struct server *s, const char *path, const char *body)
{
  char *answer = post(s, path, body);
  json_t *object = json_loads(body_of(answer), 0, NULL);
  ck_assert_msg(status_of(answer) == 200 && object != NULL, "%s: %s", body, answer);
  free(answer);
  return object;
}
/* the objects of a stream, in a list, without the mark of the end */
static json_t *told(const struct server *s, const char *path, const char *body)
{
  char *streamed;
  ck_assert(asprintf(&streamed, "{\"stream\":true,%s", body + 1) > 0);
  char *answer = post(s, path, streamed), *at = body_of(answer);
  json_t *list = json_array();
  for (char *end; (end = strstr(at, "\n\n")) != NULL; at = end + 2) {
    *end = '\0';
    if (strcmp(at, "data: [DONE]") != 0) json_array_append_new(list, json_loads(at + 6, 0, NULL));
  }
  ck_assert_msg(json_array_size(list) > 0, "%s", answer);
  free(answer), free(streamed);
  return list;
}
static json_t *printed(const char *line)
{
  struct run r = run(line);
  json_t *object = json_loads(r.out, 0, NULL);
  ck_assert_msg(r.status == 0 && object != NULL, "%s: %s", line, r.err);
  done(&r);
  return object;
}
static int64_t usage_of(json_t *answer, const char *key)
{
  json_t *usage = json_object_get(answer, "usage"), *v = json_object_get(usage, key);
  return json_integer_value(v != NULL ? v : json_object_get(json_object_get(usage, "prompt_tokens_details"), key));
}
static json_t *choice_of(json_t *answer, size_t i) { return json_array_get(json_object_get(answer, "choices"), i); }
/* One object of top_logprobs has the numbers of generate's list, and the chosen one's if that is not among them. */
static void same_top(json_t *object, json_t *noted)
{
  json_t *top = json_object_get(noted, "top"), *own = json_object_get(noted, "id");
  bool among = false;
  for (size_t i = 0; i < json_array_size(top); i++) {
    json_t *one = json_array_get(top, i);
    bool found = false;
    among = among || json_equal(json_object_get(one, "id"), own);
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at))
      found = found || json_equal(json_object_iter_value(at), json_object_get(one, "logprob"));
    ck_assert(found);
  }
  ck_assert_uint_eq(json_object_size(object), json_array_size(top) + !among);
}
/* skip: tokens of the prompt that stand before */
static void same_numbers(json_t *choice, json_t *sequence, size_t skip)
{
  json_t *got = json_object_get(choice, "logprobs"), *tokens = json_object_get(got, "tokens"), *own = json_object_get(got, "token_logprobs");
  json_t *top = json_object_get(got, "top_logprobs"), *offset = json_object_get(got, "text_offset"), *noted = json_object_get(sequence, "logprobs");
  size_t n = json_array_size(noted), at = 0;
  const char *text = json_string_value(json_object_get(choice, "text"));
  ck_assert_uint_eq(json_array_size(own), skip + n);
  ck_assert(json_array_size(tokens) == skip + n && json_array_size(top) == skip + n && json_array_size(offset) == skip + n);
  for (size_t i = 0; i < skip + n; i++) {
    const char *token = json_string_value(json_array_get(tokens, i));
    ck_assert_uint_eq((size_t) json_integer_value(json_array_get(offset, i)), at);
    ck_assert_msg(at + strlen(token) > strlen(text) || strncmp(text + at, token, strlen(token)) == 0, "`%s' is not at %zu of `%s'", token, at, text);
    at += strlen(token);
    if (i < skip) continue;
    json_t *one = json_array_get(noted, i - skip);
    ck_assert(json_equal(json_array_get(own, i), json_object_get(one, "logprob")));
    if (json_object_get(one, "top") == NULL || json_array_size(json_object_get(one, "top")) == 0) ck_assert(json_is_null(json_array_get(top, i)));
    else same_top(json_array_get(top, i), one);
  }
}
/* of a stream: the lists of all events, one behind the other, are those of the answer that is whole */
static void same_lists(json_t *events, json_t *choice, size_t index)
{
  static const char *const list[] = { "tokens", "token_logprobs", "top_logprobs", "text_offset" };
  for (size_t k = 0; k < 4; k++) {
    json_t *joined = json_array();
    for (size_t i = 0; i < json_array_size(events); i++) {
      json_t *c = choice_of(json_array_get(events, i), 0);
      if (json_integer_value(json_object_get(c, "index")) == (json_int_t) index)
        json_array_extend(joined, json_object_get(json_object_get(c, "logprobs"), list[k]));
    }
    ck_assert_msg(json_equal(joined, json_object_get(json_object_get(choice, "logprobs"), list[k])), "%s of choice %zu", list[k], index);
    json_decref(joined);
  }
}
/* the pieces of a choice, joined */
static char *joined_text(json_t *events, size_t index)
{
  char *text = calloc(1, 20000);
  for (size_t i = 0; i < json_array_size(events); i++) {
    json_t *c = choice_of(json_array_get(events, i), 0);
    if (c != NULL && json_integer_value(json_object_get(c, "index")) == (json_int_t) index) strcat(text, json_string_value(json_object_get(c, "text")));
  }
  return text;
}
/* each of the two flags is its own: special tokens around a text, and the text of one taken for it */
START_TEST(two_flags_of_a_text)
{
  static const char *const flags[] = { "", ",\"add_special\":true", ",\"parse_special\":true", ",\"parse_special\":true,\"add_special\":true",
    ",\"add_special\":false,\"parse_special\":null" };
  struct memory m = { .fail_at = 0 };
  struct error why;
  char text[100], body[300];
  struct tokenizer *t = tokenizer_open(&m, "models/pocket", &why);
  ck_assert(t != NULL && tokenizer_added_count(t) > 0);
  struct tokenizer_added mark = tokenizer_added_at(t, 0);
  snprintf(text, sizeof text, "%.*sThe cat", (int) mark.n, (const char *) mark.byte);
  struct server *s = SERVE("--slots", "1");
  for (int i = 0; i < 5; i++) {
    struct ids list = { NULL, 0, 0 };
    snprintf(body, sizeof body, "{\"content\":\"%s\"%s}", text, flags[i]);
    ck_assert(tokenizer_encode(t, &m, text, strlen(text), i == 1 || i == 3, i == 2 || i == 3, &list, &why));
    json_t *answer = asked(s, "/tokenize", body), *ids = json_object_get(answer, "tokens");
    bool same = json_array_size(ids) == list.n && json_integer_value(json_object_get(answer, "count")) == (json_int_t) list.n;
    for (size_t k = 0; same && k < list.n; k++) same = json_integer_value(json_array_get(ids, k)) == list.id[k];
    ck_assert_msg(same, "%s", body);
    json_decref(answer), ids_free(&m, &list);
  }
  tokenizer_close(&m, t);
  ck_assert_uint_eq(m.all.live, 0);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
START_TEST(numbers_are_generates)
{
  static const struct wish scored[] = {
    { "{\"prompt\":\"The queen\",\"max_tokens\":20,\"logprobs\":3,\"temperature\":1.2,\"seed\":4,\"n\":2}",
      "generate --json -q -p 'The queen' -n 20 --logprobs 3 --temperature 1.2 --seed 4 --num-sequences 2" },
    { "{\"prompt\":\"The queen\",\"max_tokens\":9,\"logprobs\":0}", "generate --json -q -p 'The queen' -n 9 --logprobs 0" },
    { "{\"prompt\":\"Once upon a time\",\"max_tokens\":40,\"logprobs\":20,\"stop\":[\" girl\"]}",
      "generate --json -q -p 'Once upon a time' -n 40 --logprobs 20 --stop ' girl'" } };
  struct server *s = SERVE("--slots", "2");
  for (size_t i = 0; i < sizeof scored / sizeof *scored; i++) {
    json_t *answer = asked(s, "/v1/completions", scored[i].body), *by = printed(scored[i].line), *events = told(s, "/v1/completions", scored[i].body);
    json_t *all = json_object_get(by, "sequences");
    for (size_t k = 0; k < json_array_size(all); k++) {
      same_numbers(choice_of(answer, k), json_array_get(all, k), 0);
      same_lists(events, choice_of(answer, k), k);
    }
    json_t *usage = json_object_get(answer, "usage"), *of = json_object_get(by, "usage");
    ck_assert(json_equal(json_object_get(usage, "completion_tokens"), json_object_get(of, "completion_tokens")));
    ck_assert(json_equal(json_object_get(usage, "prompt_tokens"), json_object_get(of, "prompt_tokens")));
    json_decref(answer), json_decref(by), json_decref(events);
  }
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
/* a bucket holds all times up to its end, and a sum is over all requests; a pass writes one token and the guesses that were right */
START_TEST(metrics_are_of_all_that_was_done)
{
  struct server *s = SERVE("--slots", "1", "--speculate", "4");
  static const char *const body[] = { "{\"prompt\":\"one two one two one two one two one\",\"max_tokens\":90,\"ignore_eos\":true}",
    "{\"prompt\":\"The cat\",\"max_tokens\":2}" };
  static const char *const of[] = { "incipit_time_to_first_token_seconds", "incipit_request_seconds", "incipit_time_per_output_token_seconds" };
  char name[100];
  double sum = 0;
  for (int i = 0; i < 2; i++) {
    json_t *answer = asked(s, "/v1/completions", body[i]);
    json_decref(answer), idles(s);
    double now = metric(s, "incipit_request_seconds_sum");
    ck_assert_msg(now > sum, "%g and %g", sum, now);
    sum = now;
  }
  for (int i = 0; i < 3; i++) {
    double before = 0, count = (snprintf(name, sizeof name, "%s_count", of[i]), metric(s, name));
    ck_assert_msg(count == 2, "%s: %g", of[i], count);
    for (size_t k = 0; k < SERVE_BUCKETS; k++) {
      snprintf(name, sizeof name, "%s_bucket{le=\"%g\"}", of[i], serve_bucket_end(k));
      double n = metric(s, name);
      ck_assert_msg(n >= before && n <= count, "%s: %g behind %g", name, n, before);
      before = n;
    }
    ck_assert_msg(before == count, "%s: %g within a minute", of[i], before);
  }
  double passes = metric(s, "incipit_passes_total"), guessed = metric(s, "incipit_guessed_tokens_total"), right = metric(s, "incipit_accepted_tokens_total");
  ck_assert_msg(guessed > right && right > 0 && passes + right == metric(s, "incipit_generation_tokens_total"), "%g, %g, %g", passes, guessed, right);
  ck_assert(metric(s, "process_resident_memory_bytes") > 1 << 20);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
/* a choice is numbered among those of its prompt, and draws what it would if its prompt were alone; the parts of a message are one
   text; and there are no more candidates than tokens */
START_TEST(each_prompt_has_choices_of_its_own)
{
  static const char rest[] = "\"max_tokens\":12,\"temperature\":1,\"seed\":9,\"n\":2}";
  static const char *const prompt[] = { "\"The queen\"", "\"A small\"" };
  static const char *const said[] = { "\"Where does the fox live?\"",
    "[{\"type\":\"text\",\"text\":\"Where\"},{\"type\":\"text\",\"text\":\" does the\"},{\"type\":\"text\",\"text\":\" fox live?\"}]" };
  char body[600];
  struct server *s = SERVE("--slots", "3");
  snprintf(body, sizeof body, "{\"prompt\":[%s,%s],%s", prompt[0], prompt[1], rest);
  json_t *both = asked(s, "/v1/completions", body), *talk[2];
  for (size_t i = 0; i < 2; i++) {
    snprintf(body, sizeof body, "{\"prompt\":%s,%s", prompt[i], rest);
    json_t *one = asked(s, "/v1/completions", body);
    for (size_t k = 0; k < 2; k++)
      ck_assert(json_equal(json_object_get(choice_of(one, k), "text"), json_object_get(choice_of(both, 2 * i + k), "text")));
    ck_assert(!json_equal(json_object_get(choice_of(one, 0), "text"), json_object_get(choice_of(one, 1), "text")));
    json_decref(one);
    snprintf(body, sizeof body, "{\"messages\":[{\"role\":\"user\",\"content\":%s}]}", said[i]);
    talk[i] = asked(s, "/v1/chat/completions", body);
  }
  ck_assert(json_equal(json_object_get(choice_of(talk[0], 0), "message"), json_object_get(choice_of(talk[1], 0), "message")));
  ck_assert(usage_of(talk[0], "prompt_tokens") == usage_of(talk[1], "prompt_tokens"));
  json_decref(both), json_decref(talk[0]), json_decref(talk[1]);
  ck_assert_int_eq(stop(s), 0);
  char folder[4100];
  snprintf(folder, sizeof folder, "%s/tests/serve-roles", build_dir());
  make_marked(folder, 2048);
  s = SERVE("--slots", "1", "-m", folder, "--template", "chatml"); /* a developer speaks as the system, and not as a user */
  json_t *as[3];
  for (int i = 0; i < 3; i++) {
    snprintf(body, sizeof body, "{\"messages\":[{\"role\":\"%s\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"The cat\"}],"
      "\"max_tokens\":4,\"logprobs\":true,\"top_logprobs\":3}", i == 0 ? "system" : i == 1 ? "developer" : "user");
    as[i] = asked(s, "/v1/chat/completions", body);
  }
  ck_assert(json_equal(choice_of(as[0], 0), choice_of(as[1], 0)) && !json_equal(choice_of(as[0], 0), choice_of(as[2], 0)));
  for (int i = 0; i < 3; i++) json_decref(as[i]);
  ck_assert_int_eq(stop(s), 0);
  s = SERVE("--slots", "1", "-m", "tests/golden/families/falcon"); /* 18 tokens */
  char *few = post(s, "/v1/completions", "{\"prompt\":[1,2,3],\"max_tokens\":2,\"logprobs\":20,\"ignore_eos\":true}");
  size_t named = 0; /* nobody spells them, so each candidate has an empty name */
  for (const char *at = few; (at = strstr(at, "\"\":")) != NULL; at++) named++;
  ck_assert_msg(status_of(few) == 200 && named == 2 * 18, "%zu: %s", named, few);
  free(few);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
START_TEST(an_echo_is_scored_as_probe_scores_it)
{
  static const char body[] = "{\"prompt\":\"Once upon a time there\",\"max_tokens\":6,\"logprobs\":2,\"echo\":true,\"n\":2,\"temperature\":1,\"seed\":6}";
  struct server *s = SERVE("--slots", "2");
  json_t *by = printed("generate --json -q -p 'Once upon a time there' -n 6 --logprobs 2 --num-sequences 2 --temperature 1 --seed 6");
  json_t *ids = json_object_get(json_object_get(by, "prompt"), "ids");
  char *list = json_dumps(ids, JSON_COMPACT), line[1000];
  snprintf(line, sizeof line, "{\"ids\":%s}\n", list);
  char *argv[] = { "incipit", "probe", "logprob", NULL };
  struct run r = run_console((struct console) { .program = "build/incipit" }, 3, argv, line, strlen(line), 0);
  json_t *probed = json_loads(r.out, 0, NULL), *numbers = json_object_get(probed, "logprobs");
  ck_assert_msg(r.status == 0 && json_array_size(numbers) == json_array_size(ids), "%s", r.out);
  for (int again = 0; again < 2; again++) { /* the second time pages of it could be found */
    json_t *answer = asked(s, "/v1/completions", body), *events = told(s, "/v1/completions", body);
    for (size_t k = 0; k < 2; k++) {
      json_t *c = choice_of(answer, k), *one = json_array_get(json_object_get(by, "sequences"), k), *got = json_object_get(c, "logprobs");
      char *text;
      ck_assert(asprintf(&text, "Once upon a time there%s", json_string_value(json_object_get(one, "text"))) > 0);
      ck_assert_str_eq(json_string_value(json_object_get(c, "text")), text);
      for (size_t i = 0; i < json_array_size(ids); i++)
        ck_assert(json_equal(json_array_get(json_object_get(got, "token_logprobs"), i), json_array_get(numbers, i)));
      ck_assert(json_is_null(json_array_get(json_object_get(got, "top_logprobs"), 0)));
      ck_assert_uint_ge(json_object_size(json_array_get(json_object_get(got, "top_logprobs"), 1)), 2);
      same_numbers(c, one, json_array_size(ids));
      same_lists(events, c, k);
      char *pieces = joined_text(events, k);
      ck_assert_str_eq(pieces, text);
      free(text), free(pieces);
    }
    json_decref(answer), json_decref(events);
  }
  json_t *alone = asked(s, "/v1/completions", "{\"prompt\":[1155,1156],\"max_tokens\":0,\"logprobs\":1,\"echo\":true}"), *c = choice_of(alone, 0);
  ck_assert_str_eq(json_string_value(json_object_get(c, "text")), "Once upon");
  ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(c, "logprobs"), "tokens")), 2);
  json_decref(alone), json_decref(by), json_decref(probed), free(list), done(&r);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
/* The ids of the talk are those of a prompt: what generate says of it is what comes, token for token. */
START_TEST(numbers_of_a_talk)
{
  static const char body[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"Where does the fox live?\"}],\"max_tokens\":12,\"logprobs\":true,\"top_logprobs\":3}";
  struct server *s = SERVE("--slots", "2");
  json_t *answer = asked(s, "/v1/chat/completions", body), *events = told(s, "/v1/chat/completions", body), *c = choice_of(answer, 0);
  json_t *content = json_object_get(json_object_get(c, "logprobs"), "content"), *joined = json_array();
  char text[2000];
  size_t n = 0;
  ck_assert_uint_eq(json_array_size(content), (size_t) json_integer_value(json_object_get(json_object_get(answer, "usage"), "completion_tokens")));
  for (size_t i = 0; i < json_array_size(content); i++) {
    json_t *one = json_array_get(content, i), *top = json_object_get(one, "top_logprobs"), *bytes = json_object_get(one, "bytes");
    ck_assert_uint_eq(json_array_size(top), 3);
    ck_assert(json_equal(json_object_get(json_array_get(top, 0), "logprob"), json_object_get(one, "logprob"))); /* greedy */
    for (size_t k = 1; k < 3; k++) ck_assert(json_number_value(json_object_get(json_array_get(top, k), "logprob"))
      <= json_number_value(json_object_get(json_array_get(top, k - 1), "logprob")));
    for (size_t k = 0; k < json_array_size(bytes); k++) text[n++] = (char) json_integer_value(json_array_get(bytes, k));
  }
  text[n] = '\0';
  const char *said = json_string_value(json_object_get(json_object_get(c, "message"), "content"));
  ck_assert_msg(strncmp(text + strspn(text, " "), said, strlen(said)) == 0, "`%s' and `%s'", text, said);
  json_t *greeting = json_object_get(choice_of(json_array_get(events, 0), 0), "delta");
  ck_assert(json_object_size(greeting) == 2 && strcmp(json_string_value(json_object_get(greeting, "role")), "assistant") == 0);
  for (size_t i = 0; i < json_array_size(events); i++)
    json_array_extend(joined, json_object_get(json_object_get(choice_of(json_array_get(events, i), 0), "logprobs"), "content"));
  ck_assert(json_equal(joined, content));
  json_decref(answer), json_decref(events), json_decref(joined);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST

/* ---- accounts of the scheduler: rows that were found, requests in their order, tokens that were counted */
START_TEST(rows_that_were_found_are_counted)
{
  char prompt[2000], body[2200];
  int n = 0;
  for (int i = 0; i < 100; i++) n += snprintf(prompt + n, sizeof prompt - (size_t) n, "%s%d", i > 0 ? "," : "", 300 + 13 * i);
  snprintf(body, sizeof body, "{\"prompt\":[%s],\"max_tokens\":5}", prompt);
  for (int share = 0; share < 2; share++) {
    struct server *s = SERVE("--slots", "1", "--prefix-cache", share ? "on" : "off");
    for (int again = 0; again < 3; again++) {
      json_t *answer = asked(s, "/v1/completions", body);
      ck_assert_int_eq(usage_of(answer, "cached_tokens"), share && again > 0 ? 96 : 0);
      ck_assert_int_eq(usage_of(answer, "prompt_tokens"), 100);
      ck_assert_int_eq(usage_of(answer, "completion_tokens"), 5);
      ck_assert_int_eq(usage_of(answer, "total_tokens"), 105);
      json_decref(answer);
    }
    snprintf(body, sizeof body, "{\"prompt\":[[%s],[5]],\"max_tokens\":5,\"n\":2}", prompt); /* of each prompt once */
    json_t *two = asked(s, "/v1/completions", body);
    ck_assert_int_eq(usage_of(two, "prompt_tokens"), 101);
    ck_assert_int_eq(usage_of(two, "completion_tokens"), 20);
    ck_assert_int_eq(usage_of(two, "cached_tokens"), share ? 96 : 0);
    ck_assert_uint_eq(json_array_size(json_object_get(two, "choices")), 4);
    json_decref(two);
    idles(s);
    ck_assert(metric(s, "incipit_prompt_tokens_total") == 401 && metric(s, "incipit_generation_tokens_total") == 35);
    ck_assert(metric(s, "incipit_cached_tokens_total") == (share ? 288 : 0));
    ck_assert(metric(s, "incipit_requests_total{outcome=\"length\"}") == 4 && metric(s, "incipit_requests_total{outcome=\"stop\"}") == 0);
    ck_assert(metric(s, "incipit_time_to_first_token_seconds_count") == 4 && metric(s, "incipit_request_seconds_count") == 4);
    ck_assert(metric(s, "incipit_time_per_output_token_seconds_count") == 7);
    ck_assert((metric(s, "incipit_kv_pages_cached") > 0) == share);
    ck_assert_int_eq(stop(s), 0);
    snprintf(body, sizeof body, "{\"prompt\":[%s],\"max_tokens\":5}", prompt);
  }
}
END_TEST
START_TEST(first_come_first_served)
{
  struct server *s = SERVE("--slots", "1", "--queue", "4");
  struct pollfd p[4];
  for (int i = 0; i < 4; i++) {
    char more[100];
    size_t n;
    snprintf(more, sizeof more, "{\"prompt\":\"Once\",\"max_tokens\":%d,\"ignore_eos\":true}", i == 0 ? 1500 : 100);
    char *text = request("/v1/completions", more, "Connection: close\r\n", &n);
    p[i] = (struct pollfd) { dial(s), POLLIN, 0 };
    say(p[i].fd, text, n), free(text);
    comes(s, i == 0 ? "incipit_requests_running" : "incipit_requests_waiting", i == 0 ? 1 : i, 20);
  }
  for (int i = 0; i < 4; i++) { /* none is answered before those that came earlier */
    ck_assert(poll(p + i, (nfds_t) (4 - i), 120000) >= 1);
    ck_assert_msg((p[i].revents & POLLIN) != 0, "request %d was overtaken", i);
    char *a = hear(p[i].fd, 60, NULL);
    ck_assert_msg(status_of(a) == 200, "%.300s", a);
    free(a), close(p[i].fd);
  }
  ck_assert_int_eq(stop(s), 0);
}
END_TEST

START_TEST(a_prompt_may_fill_the_context)
{
  struct server *s = SERVE("--ctx-size", "48", "--kv-rows", "40", "--slots", "2"); /* the smaller of the two */
  for (size_t n = 39; n <= 41; n++) {
    char body[400] = "{\"max_tokens\":9,\"ignore_eos\":true,\"prompt\":[5";
    for (size_t i = 1; i < n; i++) strcat(body, ",5");
    strcat(body, "]}");
    char *a = post(s, "/v1/completions", body);
    ck_assert_msg(n <= 40 ? status_of(a) == 200 : status_of(a) == 400 && strstr(a, "context_length_exceeded") != NULL && strstr(a, "41") != NULL
      && strstr(a, "40") != NULL, "%zu: %s", n, a);
    json_t *answer = json_loads(body_of(a), 0, NULL); /* the last one that is written is not read */
    ck_assert(n > 40 || usage_of(answer, "completion_tokens") == (int64_t) (41 - n));
    json_decref(answer), free(a);
  }
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
START_TEST(without_a_queue_a_free_slot_is_a_place)
{
  struct server *s = SERVE("--slots", "1", "--queue", "0");
  json_decref(asked(s, "/v1/completions", SMALL));
  idles(s);
  int fd = begin_long(s, ",\"n\":30");
  comes(s, "incipit_requests_running", 1, 5);
  char *full = post(s, "/v1/completions", SMALL);
  ck_assert_msg(status_of(full) == 429, "%s", full);
  comes(s, "incipit_http_responses_total{code=\"429\"}", 1, 2); /* each status by itself */
  ck_assert(metric(s, "incipit_http_responses_total{code=\"400\"}") == -1);
  free(full), close(fd);
  idles(s);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
/* ---- a stream: a piece for each token, as it is written, and the numbers at the end if they are wanted */
START_TEST(pieces_come_as_they_are_written)
{
  struct server *s = SERVE("--slots", "1");
  static const char *const body[] = { "{\"prompt\":\"Once upon a time\",\"max_tokens\":10}",
    "{\"prompt\":\"Once upon a time\",\"max_tokens\":10,\"stream_options\":{\"include_usage\":true}}",
    "{\"prompt\":\"Once upon a time\",\"max_tokens\":10,\"stream_options\":{}}" };
  for (int which = 0; which < 3; which++) {
    int usage = which == 1;
    json_t *events = told(s, "/v1/completions", body[which]);
    size_t n = json_array_size(events);
    ck_assert_uint_eq(n, 10 + (size_t) usage);
    for (size_t i = 0; i < n; i++) {
      json_t *e = json_array_get(events, i), *u = json_object_get(e, "usage"), *c = choice_of(e, 0);
      ck_assert(usage ? (i < 10 ? json_is_null(u) : json_is_object(u) && c == NULL && usage_of(e, "completion_tokens") == 10) : u == NULL);
      if (c != NULL) ck_assert(json_string_length(json_object_get(c, "text")) > 0
        && (i < 9 ? json_is_null(json_object_get(c, "finish_reason")) : strcmp(json_string_value(json_object_get(c, "finish_reason")), "length") == 0));
    }
    json_decref(events);
  }
  int fd = begin_long(s, ",\"n\":30,\"stream\":true");
  char *a = hear(fd, 1.5, NULL);
  ck_assert_msg(strstr(a, "data: {") != NULL && strstr(a, "[DONE]") == NULL, "%.300s", a);
  free(a), close(fd);
  idles(s);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST
START_TEST(a_talk_is_what_chat_prints)
{
  static const char said[] = "Where does the fox live?\nAnd what does it say?\n", turn[] = "{\"role\":\"%s\",\"content\":%s}";
  char *argv[] = { "incipit", "chat", "-q", NULL }, line[2][2000] = { "", "" }, body[8000];
  struct server *s = SERVE("--slots", "2");
  struct run r = run_console((struct console) { .program = "build/incipit" }, 3, argv, said, sizeof said - 1, 0);
  ck_assert_int_eq(r.status, 0);
  sscanf(r.out, "%1999[^\n]\n%1999[^\n]", line[0], line[1]);
  int n = snprintf(body, sizeof body, "{\"messages\":[");
  n += snprintf(body + n, sizeof body - (size_t) n, turn, "user", "\"Where does the fox live?\"");
  for (int i = 0; i < 2; i++) {
    snprintf(body + n, sizeof body - (size_t) n, "]}");
    json_t *answer = asked(s, "/v1/chat/completions", body), *c = choice_of(answer, 0);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(c, "message"), "content")), line[i]);
    ck_assert_str_eq(json_string_value(json_object_get(c, "finish_reason")), "stop");
    json_t *quoted = json_string(line[i]);
    char *again = json_dumps(quoted, JSON_ENCODE_ANY);
    n += snprintf(body + n, sizeof body - (size_t) n, ","), n += snprintf(body + n, sizeof body - (size_t) n, turn, "assistant", again);
    n += snprintf(body + n, sizeof body - (size_t) n, ","), n += snprintf(body + n, sizeof body - (size_t) n, turn, "user", "\"And what does it say?\"");
    free(again), json_decref(quoted), json_decref(answer);
  }
  done(&r);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST

/* as in chat: a special token with which the template writes calls of tools is a part of the answer's text */
START_TEST(calls_of_tools_are_seen)
{
  static const char program[] = "{% for m in messages %}{% if m.tool_calls %}<|im_start|>{{ m.tool_calls|tojson }}<|im_end|>{% else %}{{ m.content }}<|im_end|>{% endif %}{% endfor %}";
  char folder[4100], path[4200];
  snprintf(folder, sizeof folder, "%s/tests/serve-marked", build_dir());
  make_marked(folder, 0);
  snprintf(path, sizeof path, "%s/chat_template.jinja", folder);
  FILE *f = fopen(path, "w");
  ck_assert(f != NULL && fputs(program, f) >= 0 && fclose(f) == 0);
  struct server *s = SERVE("-m", folder);
  json_t *a = asked(s, "/v1/chat/completions", "{\"messages\":[{\"role\":\"user\",\"content\":\"The cat\"}],\"max_tokens\":2,\"logit_bias\":{\"284\":100}}");
  ck_assert_str_eq(json_string_value(json_object_get(json_object_get(choice_of(a, 0), "message"), "content")), "<|im_start|><|im_start|>");
  json_t *b = asked(s, "/v1/completions", "{\"prompt\":\"The cat\",\"max_tokens\":2,\"logit_bias\":{\"284\":100}}");
  ck_assert_str_eq(json_string_value(json_object_get(choice_of(b, 0), "text")), "");
  json_decref(a), json_decref(b);
  ck_assert_int_eq(stop(s), 0);
}
END_TEST

/* ---- memory: each request for it is refused in turn, with the engine's own functions */
struct house { struct memory m; struct console c; struct session o; struct serve_model s; struct serve_engine *e; };
static void nobody_listens(void *listener) { (void) listener; }
static const struct serve_limits little = { .slots = 3, .pass_rows = 16, .queue = 8, .pages = 48, .share = true };
static void open_house(struct house *h)
{
  static char *argv[] = { "incipit", "serve", "-t", "1", "--slots", "3", "--kv-rows", "768", NULL };
  struct command_line w;
  struct error why;
  memset(h, 0, sizeof *h);
  h->c = (struct console) { .program = "build/incipit", .build = "test", .memory = &h->m, .out = stdout, .err = stderr, .in = stdin,
    .listen = listen_to_nobody, .interrupted = counted_interrupt };
  ck_assert_msg(options_parse(&w, 8, argv, &why), "%s", why.text);
  ck_assert_msg(session_open(&h->o, &h->c, &w, SESSION_NEED_MODEL | SESSION_MAY_TOKENIZER, &why) == 0, "%s", why.text);
  h->s = (struct serve_model) { .o = &h->o, .name = "pocket", .build = "test", .context = 768 };
}
static void close_house(struct house *h)
{
  serve_engine_close(h->e);
  lexicon_close(h->s.words);
  session_close(&h->o);
  ck_assert_msg(h->m.all.live == 0, "%lu bytes are still held", (unsigned long) h->m.all.live);
  ck_assert(h->s.m.all.live == 0);
}
static struct serve_job *submitted(struct house *h, const char *body, uint64_t fail_after)
{
  struct serve_refusal r;
  struct serve_job *j = serve_job_open(&h->s, false, body, strlen(body), &r);
  ck_assert_msg(j != NULL, "%s", r.why.text);
  j->wake = nobody_listens, j->listener = j;
  if (fail_after > 0) j->m.fail_at = j->m.all.requests + fail_after;
  ck_assert_msg(serve_submit(h->e, j, &r), "%s", r.why.text);
  return j;
}
static void waited(struct house *h, struct serve_job *j)
{
  static const struct timespec moment = { 0, 200000 };
  for (bool over = false; !over; ) {
    serve_lock(h->e);
    over = j->done;
    serve_unlock(h->e);
    if (!over) nanosleep(&moment, NULL);
  }
}
static bool has_text(const struct serve_job *j, const char *text)
{
  const struct bytes *t = &j->choice[0].text;
  return serve_failed(j) == NULL && t->n == strlen(text) && memcmp(t->byte, text, t->n) == 0;
}
#define NEXT_DOOR "{\"prompt\":\"Once upon a time\",\"max_tokens\":30}"
static const struct wish victims[] = {
  { "{\"prompt\":\"The cat\",\"max_tokens\":40,\"temperature\":1,\"seed\":7,\"logprobs\":2,\"stop\":[\"zzz\"],\"no_repeat_ngram_size\":3}",
    "generate --json -q -p 'The cat' -n 40 --temperature 1 --seed 7 --stop zzz --no-repeat-ngram-size 3" },
  { "{\"prompt\":\"Year: \",\"regex\":\"[0-9]{3}\",\"max_tokens\":10}", "generate --json -q -p 'Year: ' -n 10 --regex [0-9]{3}" } };
static char *text_of(const char *line)
{
  json_t *all = printed(line);
  char *text = strdup(json_string_value(json_object_get(json_array_get(json_object_get(all, "sequences"), 0), "text")));
  json_decref(all);
  return text;
}
START_TEST(a_request_without_memory_fails_alone)
{
  static struct house h;
  struct error why;
  char *beside = text_of("generate --json -q -p 'Once upon a time' -n 30");
  open_house(&h);
  h.e = serve_engine_open(&h.s, &little, &why);
  ck_assert_msg(h.e != NULL && serve_engine_start(h.e, &why), "%s", why.text);
  uint64_t failed = 0;
  for (size_t v = 0; v < 2; v++) {
    char *text = text_of(victims[v].line);
    bool whole = false;
    for (uint64_t k = 1; !whole; k++) {
      struct serve_job *first = submitted(&h, NEXT_DOOR, 0), *j = submitted(&h, victims[v].body, k), *last = submitted(&h, NEXT_DOOR, 0);
      waited(&h, first), waited(&h, j), waited(&h, last);
      ck_assert_msg(has_text(first, beside) && has_text(last, beside), "request %lu of a neighbour was refused", (unsigned long) k);
      whole = j->m.all.refused == 0;
      const struct serve_choice *c = serve_failed(j);
      if (whole) ck_assert(has_text(j, text));
      else ck_assert_msg(c != NULL && strstr(c->why.text, "memory") != NULL, "refusal %lu: %s", (unsigned long) k, c == NULL ? "an answer" : c->why.text);
      failed += !whole;
      serve_leave(h.e, first, true), serve_leave(h.e, j, true), serve_leave(h.e, last, true);
    }
    free(text);
  }
  struct serve_counts counts;
  struct serve_look look;
  serve_engine_look(h.e, &counts, &look, NULL, NULL);
  ck_assert_uint_eq(counts.outcome[SERVE_ERROR], failed);
  ck_assert(failed > 10 && serve_is_idle(h.e));
  ck_assert_uint_eq(look.pages_used, 0);
  close_house(&h), free(beside);
}
END_TEST
/* Here whoever needed it may lack it: each text is right, or missing with a reason, and the next one is right. */
START_TEST(an_engine_without_memory_goes_on)
{
  static struct house h;
  struct error why;
  char *beside = text_of("generate --json -q -p 'Once upon a time' -n 30"), *text = text_of(victims[0].line);
  open_house(&h);
  for (uint64_t k = 1; h.e == NULL; k++) { /* as it opens */
    uint64_t live = h.m.all.live, before = h.m.all.refused;
    h.m.fail_at = h.m.all.requests + k;
    h.e = serve_engine_open(&h.s, &little, &why);
    ck_assert(h.e != NULL || (h.m.all.live == live && h.m.all.refused == before + 1));
    h.m.fail_at = 0;
  }
  ck_assert_msg(serve_engine_start(h.e, &why), "%s", why.text);
  bool whole = false;
  for (uint64_t k = 1; !whole && k < 400; k += 1 + k / 16) {
    uint64_t before;
    serve_lock(h.e); /* nobody computes now, and whoever does it later sees it */
    h.m.fail_at = h.m.all.requests + k, before = h.m.all.refused;
    serve_unlock(h.e);
    struct serve_job *a = submitted(&h, NEXT_DOOR, 0), *b = submitted(&h, victims[0].body, 0);
    waited(&h, a), waited(&h, b);
    ck_assert(has_text(a, beside) || (serve_failed(a) != NULL && serve_failed(a)->why.text[0] != '\0'));
    ck_assert(has_text(b, text) || (serve_failed(b) != NULL && serve_failed(b)->why.text[0] != '\0'));
    serve_leave(h.e, a, true), serve_leave(h.e, b, true);
    serve_lock(h.e);
    whole = h.m.all.refused == before, h.m.fail_at = 0;
    serve_unlock(h.e);
    struct serve_job *next = submitted(&h, NEXT_DOOR, 0);
    waited(&h, next);
    ck_assert_msg(has_text(next, beside), "after refusal %lu the next text is wrong", (unsigned long) k);
    serve_leave(h.e, next, true);
  }
  close_house(&h), free(beside), free(text);
}
END_TEST
START_TEST(an_answer_without_memory_is_none)
{
  static struct house h;
  struct error why;
  open_house(&h);
  h.e = serve_engine_open(&h.s, &little, &why);
  ck_assert(h.e != NULL && serve_engine_start(h.e, &why));
  for (int stream = 0; stream < 2; stream++) {
    bool ok = false;
    for (uint64_t k = 1; !ok; k++) {
      struct serve_job *j = submitted(&h, "{\"prompt\":\"Once\",\"max_tokens\":4,\"logprobs\":2,\"echo\":true}", 0);
      struct memory m = { .fail_at = k };
      struct bytes out = { NULL, 0, 0 };
      bool end = false;
      waited(&h, j);
      ok = stream ? serve_put_events(h.e, j, &out, &end, &m) && end : serve_put_answer(j, &out, &m);
      ck_assert_msg(ok == (m.all.refused == 0), "refusal %lu", (unsigned long) k);
      ck_assert(!ok || k > 3);
      bytes_free(&m, &out);
      ck_assert_uint_eq(m.all.live, 0);
      serve_leave(h.e, j, true);
    }
  }
  close_house(&h);
}
END_TEST

/* ---- the end */
START_TEST(a_drained_end_cuts_nothing)
{
  /* texts are long, to be under way when the signal comes; a machine that has much else to do needs a minute for them */
  struct server *s = SERVE("--slots", "2", "--drain-timeout", "250");
  int whole = begin_long(s, ",\"seed\":3"), stream = begin_long(s, ",\"seed\":3,\"stream\":true"), open = dial(s);
  comes(s, "incipit_requests_running", 2, 5);
  say(open, "GET /health HTTP/1.1\r\n" HOST "\r\n", sizeof("GET /health HTTP/1.1\r\n" HOST "\r\n") - 1);
  free(hear(open, 0.3, NULL));
  kill(getpid(), SIGTERM);
  static const struct timespec moment = { 0, 100000000 };
  nanosleep(&moment, NULL);
  ck_assert_msg(dial(s) < 0, "a new connection was taken");
  size_t n;
  char *text = request("/v1/completions", SMALL, "", &n), *a;
  say(open, text, n), free(text);
  a = hear(open, 10, NULL);
  ck_assert_msg(status_of(a) == 503 && strstr(a, "shutting_down") != NULL, "%s", a);
  free(a), close(open);
  a = hear(stream, 240, NULL);
  ck_assert_msg(strstr(a, "data: [DONE]") != NULL, "the stream was cut");
  free(a), close(stream);
  a = hear(whole, 240, NULL);
  ck_assert_msg(status_of(a) == 200 && strstr(a, "\"usage\"") != NULL, "%.200s", a);
  free(a), close(whole);
  ck_assert_int_eq(ended(s), 0);
  ck_assert_msg(strstr(s->err, "for 250 seconds at most") != NULL && strstr(s->err, "was cut") == NULL, "%s", s->err);
}
END_TEST
START_TEST(what_is_cut_is_told)
{
  struct server *s = SERVE("--slots", "1", "--drain-timeout", "1");
  int stream = begin_long(s, ",\"n\":100,\"stream\":true"), whole = begin_long(s, ",\"n\":100");
  comes(s, "incipit_requests_running", 1, 5);
  kill(getpid(), SIGTERM);
  char *a = hear(stream, 20, NULL), *b = hear(whole, 20, NULL);
  ck_assert_msg(strstr(a, "data: {\"error\":{") != NULL && strstr(a, "shutting_down") != NULL && strstr(a, "[DONE]") == NULL, "the stream");
  ck_assert_msg(status_of(b) == 503 && strstr(b, "shutting_down") != NULL, "%s", b);
  ck_assert_int_eq(ended(s), 1);
  ck_assert_msg(strstr(s->err, "was cut") != NULL, "%s", s->err);
  free(a), free(b), close(stream), close(whole);
}
END_TEST
START_TEST(a_second_signal_ends_at_once)
{
  static const struct timespec moment = { 0, 100000000 };
  pid_t child = fork();
  int status;
  if (child == 0) {
    leave_by = _exit;
    struct server *s = SERVE("--slots", "1", "--drain-timeout", "250");
    begin_long(s, ",\"n\":100");
    comes(s, "incipit_requests_running", 1, 5);
    kill(getpid(), SIGTERM);
    nanosleep(&moment, NULL);
    kill(getpid(), SIGINT);
    for (int i = 0; i < 100; i++) nanosleep(&moment, NULL);
    _exit(99);
  }
  ck_assert(child > 0 && waitpid(child, &status, 0) == child);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 130, "status %#x", (unsigned) status);
}
END_TEST
START_TEST(pages_outlive_the_server)
{
  char path[] = "/tmp/incipit-pages-XXXXXX", prompt[2000], body[2200];
  int n = 0, fd = mkstemp(path);
  close(fd), unlink(path);
  for (int i = 0; i < 96; i++) n += snprintf(prompt + n, sizeof prompt - (size_t) n, "%s%d", i > 0 ? "," : "", 300 + 13 * i);
  snprintf(body, sizeof body, "{\"prompt\":[%s],\"max_tokens\":8,\"temperature\":1}", prompt);
  char *answer[2];
  for (int i = 0; i < 2; i++) {
    struct server *s = SERVE("--prompt-cache", path);
    answer[i] = post(s, "/v1/completions", body);
    ck_assert_int_eq(stop(s), 0);
  }
  ck_assert(strstr(answer[0], "\"cached_tokens\":0") != NULL);
  ck_assert_msg(strstr(answer[1], "\"cached_tokens\":9") != NULL || strstr(answer[1], "\"cached_tokens\":8") != NULL, "%s", answer[1]);
  char *a = strstr(answer[0], "\"text\""), *b = strstr(answer[1], "\"text\"");
  ck_assert(strncmp(a, b, strcspn(a, "}")) == 0);
  /* other rows; another weight, in its last bit */
  refused_to_begin(SERVE("--prompt-cache", path, "--kv-type", "f16"), path);
  refused_to_begin(SERVE("--prompt-cache", path, "--window", "2048"), path);
  char other[] = "/tmp/incipit-model-XXXXXX", command[300];
  ck_assert(mkdtemp(other) != NULL);
  snprintf(command, sizeof command, "cp models/pocket/*.json models/pocket/model.safetensors %s", other);
  ck_assert_int_eq(system(command), 0);
  snprintf(command, sizeof command, "%s/model.safetensors", other);
  FILE *f = fopen(command, "r+");
  ck_assert(f != NULL && fseek(f, -4, SEEK_END) == 0);
  int last = getc(f);
  fseek(f, -4, SEEK_END), putc(last ^ 1, f), fclose(f);
  refused_to_begin(SERVE("--prompt-cache", path, "-m", other), path);
  snprintf(command, sizeof command, "rm -r %s", other);
  ck_assert_int_eq(system(command), 0);
  ck_assert(truncate(path, 1000) == 0);
  refused_to_begin(SERVE("--prompt-cache", path), path);
  unlink(path); /* rows of the same size are other rows as well */
  struct server *s = SERVE("--prompt-cache", path, "--kv-type", "f16");
  free(post(s, "/v1/completions", body));
  ck_assert_int_eq(stop(s), 0);
  refused_to_begin(SERVE("--prompt-cache", path, "--kv-type", "bf16"), path);
  unlink(path), free(answer[0]), free(answer[1]);
}
END_TEST
START_TEST(the_log_has_nothing_of_a_client)
{
  struct server *s = SERVE("--log", "requests");
  free(post(s, "/v1/completions?q=SECRET", "{\"prompt\":\"SECRET upon\",\"max_tokens\":2,\"user\":\"SECRET\"}"));
  free(post(s, "/SECRET", "{}")), free(post(s, "/v1/completions", "{\"SECRET\":1}"));
  free(post(s, "/v1/completions", "SECRET"));
  ck_assert_int_eq(stop(s), 0);
  size_t lines = 0;
  for (const char *at = s->err; (at = strchr(at, '\n')) != NULL; at++) lines++;
  ck_assert_uint_eq(lines, 4);
  ck_assert_msg(strstr(s->err, "SECRET") == NULL, "%s", s->err);
}
END_TEST

/* a case by itself: CK_RUN_CASE=guards */
static TCase *add_case(Suite *s, const char *name)
{
  TCase *t = tcase_create(name);
  tcase_set_timeout(t, 300);
  suite_add_tcase(s, t);
  return t;
}

int main(void)
{
  Suite *s = suite_create("serve");
  TCase *t;
  t = add_case(s, "answers");
  tcase_add_test(t, each_request_is_what_generate_prints);
  tcase_add_test(t, company_changes_no_answer);
  tcase_add_test(t, little_memory_changes_no_answer);
  tcase_add_test(t, without_prefixes_no_answer_changes);
  tcase_add_test(t, numbers_are_generates);
  tcase_add_test(t, metrics_are_of_all_that_was_done);
  tcase_add_test(t, each_prompt_has_choices_of_its_own);
  tcase_add_test(t, an_echo_is_scored_as_probe_scores_it);
  tcase_add_test(t, numbers_of_a_talk);
  tcase_add_test(t, rows_that_were_found_are_counted);
  tcase_add_test(t, pieces_come_as_they_are_written);
  tcase_add_test(t, a_talk_is_what_chat_prints);
  tcase_add_test(t, calls_of_tools_are_seen);
  t = add_case(s, "manners");
  tcase_add_test(t, only_those_with_a_key);
  tcase_add_test(t, foreign_pages_are_refused);
  tcase_add_test(t, each_mistake_has_its_answer);
  tcase_add_test(t, an_unknown_field_is_told_by_its_place);
  tcase_add_test(t, two_flags_of_a_text);
  tcase_add_test(t, a_model_without_a_template_is_served_with_a_hint);
  tcase_add_test(t, a_model_has_the_name_of_its_folder);
  tcase_add_test(t, each_option_refuses_something);
  tcase_add_test(t, the_log_has_nothing_of_a_client);
  t = add_case(s, "guards");
  tcase_add_test(t, two_framings_are_refused);
  tcase_add_test(t, large_bodies_are_refused);
  tcase_add_test(t, drips_sleepers_and_halves_are_cut);
  tcase_add_test(t, a_connection_too_many_is_told);
  tcase_add_test(t, addresses_of_this_machine);
  tcase_add_test(t, who_has_gone_is_noticed);
  tcase_add_test(t, who_takes_nothing_is_dropped);
  tcase_add_test(t, garbage_ends_nothing);
  t = add_case(s, "queue");
  tcase_add_test(t, first_come_first_served);
  tcase_add_test(t, a_prompt_may_fill_the_context);
  tcase_add_test(t, without_a_queue_a_free_slot_is_a_place);
  t = add_case(s, "memory");
  tcase_add_test(t, a_request_without_memory_fails_alone);
  tcase_add_test(t, an_engine_without_memory_goes_on);
  tcase_add_test(t, an_answer_without_memory_is_none);
  t = add_case(s, "end");
  tcase_add_test(t, a_drained_end_cuts_nothing);
  tcase_add_test(t, what_is_cut_is_told);
  tcase_add_test(t, a_second_signal_ends_at_once);
  tcase_add_test(t, pages_outlive_the_server);
  return suite_run(s);
}
