/* hub_fetch.c -- transfers from the hub, by libcurl.

   A file comes into NAME.SUM.part beside its place, where SUM are the first digits of the sum that it must have in the end: what has come of
   another version is never gone on with. Beside it is the server's own mark of the version, the ETag, which is sent back as If-Range when a
   transfer is taken up again: the server sends the rest if the mark still holds, and all of it if not. What it then says about the range is
   compared with what was asked for. The last word has the sum, over every byte on the disk; only then the file gets its name.

   Redirects are followed here and not by libcurl, because each step is a decision: at most ten, never to anything but http or https, never
   from https to http, and the token goes to the hub's own scheme, host and port, and to nobody else. */

#ifdef INCIPIT_CURL
#define _POSIX_C_SOURCE 200809L
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "environment.h"
#include "hub.h"
#include "library/incipit.h"

enum { MAX_URL = 4096, MAX_TOKEN = 512, MAX_HOPS = 10, MAX_TRIES = 4, TAG = 200,
  PATIENCE = 30, /* seconds for a connection, and twice that for a byte */
  MAX_REFUSAL = 1 << 20 /* bytes that come with a refusal, and that nobody reads */ };

/* who is asked: of an address */
struct origin { char scheme[8], host[256], port[8]; };

struct hub_net {
  struct memory *m;
  struct waiting *wait;
  CURL *easy;
  CURLM *multi;
  struct origin home;
  char endpoint[MAX_URL / 4], token[MAX_TOKEN];
  const char *hint;
};

/* a file on its way: what is there; what the server called its version; the sum of what is there */
struct part {
  const struct hub_file *f;
  int fd;
  char path[PATH_CAP], note[PATH_CAP], tag[TAG];
  uint64_t have, came;
  struct sum sum;
};

/* one request and its answer, which goes into a text or a part; asked: the range that was asked for begins here */
struct transfer {
  struct hub_net *h;
  struct bytes *text;
  struct part *part;
  uint64_t asked;
  char tag[TAG], range[80], retry[40], trouble[60];
  struct origin at; /* who answers */
  size_t refused;
  bool begun, anew, failed;
  struct error *why;
};

/* ---- addresses */

static bool copy_part(CURLU *u, CURLUPart what, unsigned flags, char *to, size_t size)
{
  char *text = NULL;
  bool ok = curl_url_get(u, what, &text, flags) == CURLUE_OK && strlen(text) < size;
  if (ok) strcpy(to, text);
  curl_free(text);
  return ok;
}

static bool origin_of(const char *url, struct origin *o, struct error *why)
{
  CURLU *u = curl_url();
  bool ok = u != NULL && curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK
    && copy_part(u, CURLUPART_SCHEME, 0, o->scheme, sizeof o->scheme);
  bool web = ok && (strcmp(o->scheme, "http") == 0 || strcmp(o->scheme, "https") == 0);
  ok = web && copy_part(u, CURLUPART_HOST, 0, o->host, sizeof o->host) && copy_part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT, o->port, sizeof o->port);
  curl_url_cleanup(u);
  return ok || error_say(why, "%.200s is no address of https or http", url);
}

static bool same_origin(const struct origin *a, const struct origin *b)
{
  return strcmp(a->scheme, b->scheme) == 0 && strcasecmp(a->host, b->host) == 0 && strcmp(a->port, b->port) == 0;
}

static bool is_this_machine(const struct origin *o)
{
  return strcmp(o->host, "127.0.0.1") == 0 || strcmp(o->host, "localhost") == 0 || strcmp(o->host, "[::1]") == 0;
}

/* ---- the token */

/* It becomes a header, so it has no blank and no line's end within. */
static bool take_token(struct hub_net *h, const char *text, const char *from, struct error *why)
{
  size_t n = strlen(text);
  while (n > 0 && strchr(" \t\r\n", text[n - 1]) != NULL) n--;
  bool ok = n < sizeof h->token;
  for (size_t i = 0; ok && i < n; i++) ok = text[i] > ' ' && text[i] < 0x7f;
  if (!ok) return error_say(why, "%s: this is no token; wanted: one word of printable characters", from);
  memcpy(h->token, text, n);
  h->token[n] = '\0';
  return true;
}

static bool read_token(struct hub_net *h, struct error *why)
{
  const char *given = environment_get(VARIABLE_TOKEN), *hub = environment_get(VARIABLE_HUB_HOME), *home = environment_get(VARIABLE_HOME);
  char path[PATH_CAP], text[MAX_TOKEN + 2] = "";
  if (given != NULL) return take_token(h, given, environment_name(VARIABLE_TOKEN), why);
  if (hub == NULL && home == NULL) return true;
  if (!path_join(path, hub != NULL ? hub : home, hub != NULL ? "token" : ".cache/huggingface/token", why)) return false;
  FILE *f = fopen(path, "rb");
  if (f == NULL) return true;
  size_t n = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  text[n] = '\0';
  return take_token(h, text, path, why);
}

/* Over plain http everybody on the way could read it. */
static void keep_token_home(struct hub_net *h)
{
  if (h->token[0] == '\0' || strcmp(h->home.scheme, "https") == 0 || is_this_machine(&h->home)) return;
  h->token[0] = '\0';
  h->hint = "the token is not sent, because the hub's address is one of http and not of https";
}

/* ---- beginning and end */

static bool set_endpoint(struct hub_net *h, struct error *why)
{
  const char *given = environment_get(VARIABLE_ENDPOINT), *url = given != NULL ? given : "https://huggingface.co";
  struct error is;
  size_t n = strlen(url);
  while (n > 0 && url[n - 1] == '/') n--;
  if (n >= sizeof h->endpoint || strcspn(url, "?# \t\r\n") < n || !origin_of(url, &h->home, &is))
    return error_say(why, "%s is `%.200s'; wanted: an address, as https://huggingface.co", environment_name(VARIABLE_ENDPOINT), url);
  memcpy(h->endpoint, url, n);
  h->endpoint[n] = '\0';
  return true;
}

struct hub_net *hub_net_open(struct memory *m, struct waiting *wait, struct error *why)
{
  struct hub_net *h = memory_alloc(m, MEMORY_OTHER, 1, sizeof *h, why);
  if (h == NULL) return NULL;
  h->m = m;
  h->wait = wait;
  if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) h->easy = curl_easy_init(), h->multi = curl_multi_init();
  bool ok = (h->easy != NULL && h->multi != NULL) || error_say(why, "libcurl does not start");
  ok = ok && set_endpoint(h, why) && read_token(h, why);
  if (ok) keep_token_home(h);
  if (ok) return h;
  hub_net_close(h);
  return NULL;
}

void hub_net_close(struct hub_net *h)
{
  if (h == NULL) return;
  curl_easy_cleanup(h->easy);
  curl_multi_cleanup(h->multi);
  curl_global_cleanup();
  memory_free(h->m, h);
}

const char *hub_net_endpoint(const struct hub_net *h) { return h->endpoint; }
const char *hub_net_hint(const struct hub_net *h) { return h->hint; }

/* ---- what comes */

static bool fail(struct transfer *t)
{
  t->failed = true;
  return false;
}

/* the value of a header, if that is its name; one that does not fit counts as absent */
static void take_header(const char *line, size_t n, const char *name, char *to, size_t size)
{
  size_t k = strlen(name);
  if (n <= k || line[k] != ':' || strncasecmp(line, name, k) != 0) return;
  for (k++; k < n && (line[k] == ' ' || line[k] == '\t'); ) k++;
  while (n > k && strchr(" \t\r\n", line[n - 1]) != NULL) n--;
  bool fits = n - k < size;
  if (fits) memcpy(to, line + k, n - k);
  to[fits ? n - k : 0] = '\0';
}

static size_t on_header(char *line, size_t one, size_t n, void *ctx)
{
  struct transfer *t = ctx;
  (void) one;
  if (n > 5 && memcmp(line, "HTTP/", 5) == 0) t->tag[0] = t->range[0] = '\0';
  take_header(line, n, "ETag", t->tag, sizeof t->tag);
  take_header(line, n, "Content-Range", t->range, sizeof t->range);
  take_header(line, n, "Retry-After", t->retry, sizeof t->retry);
  take_header(line, n, "X-Error-Code", t->trouble, sizeof t->trouble);
  return n;
}

/* "..." and not W/"...": only then two files of one mark are the same byte for byte */
static bool is_strong(const char *tag)
{
  size_t n = strlen(tag);
  for (size_t i = 0; i < n; i++)
    if (tag[i] <= ' ' || tag[i] >= 0x7f) return false;
  return n > 2 && tag[0] == '"' && tag[n - 1] == '"';
}

static void part_sum_begin(struct part *p)
{
  if (p->f->kind == SUM_SHA256) sum_begin(&p->sum, SUM_SHA256);
  else sum_begin_blob(&p->sum, p->f->bytes);
}

/* nothing is there any more, and nothing is known of it */
static bool part_empty(struct part *p, struct error *why)
{
  p->have = 0;
  p->tag[0] = '\0';
  part_sum_begin(p);
  unlink(p->note);
  return (ftruncate(p->fd, 0) == 0 && lseek(p->fd, 0, SEEK_SET) == 0) || error_say(why, "%s: cannot be written: %s", p->path, strerror(errno));
}

/* The mark is on the disk before the first byte that it is about. */
static bool part_note(struct part *p, const char *tag)
{
  FILE *f = is_strong(tag) ? fopen(p->note, "wb") : NULL;
  if (f == NULL) return false;
  bool ok = fputs(tag, f) >= 0;
  ok = fclose(f) == 0 && ok;
  if (ok) snprintf(p->tag, sizeof p->tag, "%s", tag);
  else unlink(p->note);
  return ok;
}

/* The part of a range that was asked for ends with the file, and the file has the length that the list says. */
static bool range_fits(struct transfer *t)
{
  const struct part *p = t->part;
  char wanted[80];
  snprintf(wanted, sizeof wanted, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, t->asked, p->f->bytes - 1, p->f->bytes);
  return strcmp(t->range, wanted) == 0
    || error_found(t->why, p->f->name, "Content-Range", t->range[0] != '\0' ? t->range : "missing", wanted);
}

/* The first byte of an answer about a file has come. A range with another mark is of another version: all of it is to be fetched. */
static bool begin_part(struct transfer *t, long status)
{
  struct part *p = t->part;
  if (status != 206) {
    if (!part_empty(p, t->why)) return false;
    part_note(p, t->tag);
    return true;
  }
  if (t->asked == 0) return error_say(t->why, "%s: the server sent a range, and none was asked for", p->f->name);
  t->anew = t->tag[0] != '\0' && strcmp(t->tag, p->tag) != 0;
  return !t->anew && range_fits(t);
}

static bool part_add(struct transfer *t, const char *bytes, size_t n)
{
  struct part *p = t->part;
  if (n > p->f->bytes - p->have) return error_found(t->why, p->f->name, "what the server sends", "longer", "as many bytes as the hub's list says");
  for (size_t at = 0; at < n; ) {
    ssize_t k = write(p->fd, bytes + at, n - at);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return error_say(t->why, "%s: cannot be written: %s; what has come is kept", p->path, strerror(errno));
    sum_add(&p->sum, bytes + at, (size_t) k);
    at += (size_t) k;
    p->have += (size_t) k;
    p->came += (size_t) k;
  }
  return true;
}

static size_t on_bytes(char *bytes, size_t one, size_t n, void *ctx)
{
  struct transfer *t = ctx;
  long status = 0;
  (void) one;
  curl_easy_getinfo(t->h->easy, CURLINFO_RESPONSE_CODE, &status);
  if (status / 100 != 2) return (t->refused += n) > MAX_REFUSAL ? 0 : n;
  bool ok = true;
  if (t->part != NULL && !t->begun) ok = begin_part(t, status);
  t->begun = true;
  if (ok && t->part != NULL) ok = part_add(t, bytes, n);
  else if (ok && n > HUB_MAX_ANSWER - t->text->n) ok = error_say(t->why, "the hub's answer has more than 16 MiB; wanted: what is known about one model");
  else if (ok) ok = bytes_push(t->h->m, t->text, bytes, n, t->why);
  return ok || fail(t) ? n : 0;
}

/* ---- one request */

/* as long as nobody presses Ctrl-C, which is asked ten times a second */
static bool go_on(struct transfer *t)
{
  const struct part *p = t->part;
  return waiting_tell(t->h->wait, p != NULL ? (size_t) p->have : t->text->n, p != NULL ? (size_t) p->f->bytes : 0);
}

static CURLcode run_transfer(struct transfer *t)
{
  struct hub_net *h = t->h;
  int running = 1, left;
  CURLcode result = CURLE_FAILED_INIT;
  if (curl_multi_add_handle(h->multi, h->easy) != CURLM_OK) return result;
  while (running > 0) {
    if (!go_on(t) || curl_multi_perform(h->multi, &running) != CURLM_OK) break;
    if (running > 0) curl_multi_poll(h->multi, NULL, 0, 100, NULL);
  }
  const CURLMsg *said = curl_multi_info_read(h->multi, &left);
  if (said != NULL && said->msg == CURLMSG_DONE) result = said->data.result;
  curl_multi_remove_handle(h->multi, h->easy);
  return result;
}

static struct curl_slist *headers_of(const struct transfer *t)
{
  char line[MAX_TOKEN + 40];
  struct curl_slist *list = curl_slist_append(NULL, "Accept-Encoding: identity");
  if (t->h->token[0] != '\0' && same_origin(&t->at, &t->h->home)) {
    snprintf(line, sizeof line, "Authorization: Bearer %s", t->h->token);
    list = curl_slist_append(list, line);
  }
  if (t->asked == 0) return list;
  snprintf(line, sizeof line, "Range: bytes=%" PRIu64 "-", t->asked);
  list = curl_slist_append(list, line);
  snprintf(line, sizeof line, "If-Range: %s", t->part->tag);
  return curl_slist_append(list, line);
}

static void set_options(struct transfer *t, const char *url, struct curl_slist *headers)
{
  CURL *c = t->h->easy;
  curl_easy_reset(c);
  curl_easy_setopt(c, CURLOPT_URL, url);
  curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(c, CURLOPT_USERAGENT, "incipit/" INCIPIT_VERSION);
  curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(c, CURLOPT_BUFFERSIZE, 1L << 18);
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(c, CURLOPT_PROTOCOLS, (long) (CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  curl_easy_setopt(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long) PATIENCE);
  curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, 2L * PATIENCE);
  curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
  curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_bytes);
  curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
}

static bool is_redirect(long status)
{
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static bool hop_fits(const struct origin *from, const char *to, struct origin *next, struct error *why)
{
  if (!origin_of(to, next, NULL)) return error_say(why, "%s sends us to %.100s; wanted: an address of https or http", from->host, to);
  return strcmp(from->scheme, "https") != 0 || strcmp(next->scheme, "https") == 0
    || error_say(why, "%s sends us from https to %.100s; wanted: an address of https", from->host, to);
}

bool hub_hop_fits(const char *from, const char *to, struct error *why)
{
  struct origin at, next;
  return origin_of(from, &at, why) && hop_fits(&at, to, &next, why);
}

/* where the answer sends us, if we go there */
static bool next_hop(struct transfer *t, char url[MAX_URL])
{
  char *to = NULL;
  struct origin next;
  curl_easy_getinfo(t->h->easy, CURLINFO_REDIRECT_URL, &to);
  if (to == NULL || strlen(to) >= MAX_URL) return error_say(t->why, "%s sends us elsewhere and does not say where", t->at.host);
  if (!hop_fits(&t->at, to, &next, t->why)) return false;
  strcpy(url, to);
  t->at = next;
  return true;
}

/* asks, and where the answer sends us; the last status, 0 if there is none, and what libcurl thinks of it */
static long go(struct transfer *t, const char *first, CURLcode *result)
{
  char url[MAX_URL];
  long status = 0;
  snprintf(url, sizeof url, "%s", first);
  if (!origin_of(url, &t->at, t->why)) return fail(t);
  for (int hops = 0; ; hops++) {
    struct curl_slist *headers = headers_of(t);
    set_options(t, url, headers);
    *result = run_transfer(t);
    curl_slist_free_all(headers);
    curl_easy_getinfo(t->h->easy, CURLINFO_RESPONSE_CODE, &status);
    if (t->failed || *result != CURLE_OK || !is_redirect(status)) return status;
    if (hops == MAX_HOPS) error_say(t->why, "%s: the server has sent us elsewhere %d times; wanted: the file", first, MAX_HOPS);
    if (hops == MAX_HOPS || !next_hop(t, url)) return fail(t);
  }
}

/* ---- what an answer means */

/* A stranger's word goes into a sentence only if it is one word of letters. */
static void add_trouble(const struct transfer *t, char words[80])
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  words[0] = '\0';
  if (t->trouble[0] != '\0' && t->trouble[strspn(t->trouble, letters)] == '\0') snprintf(words, 80, " (%s)", t->trouble);
}

static bool say_status(const struct transfer *t, long status, const struct hub_name *n, const char *what)
{
  char word[80];
  const char *hub = t->h->endpoint, *who = t->h->token[0] != '\0' ? "a token that may read it" : "a token in HF_TOKEN";
  add_trouble(t, word);
  if (!same_origin(&t->at, &t->h->home))
    return error_say(t->why, "%s: %s, where the hub keeps it, answers %ld; wanted: the same once more later", what, t->at.host, status);
  /* a stranger who asks for such a model gets 401 and this word */
  switch (status == 401 && strcmp(t->trouble, "GatedRepo") == 0 ? 403 : status) {
  case 401: return error_say(t->why, "%s: the hub answers 401%s: it knows no such model, or none for everybody; wanted: the name as it is at"
      " %s, or %s", what, word, hub, who);
  case 403: return error_say(t->why, "%s: the hub answers %ld%s: its makers want to be asked first; wanted: their conditions accepted at"
      " %s/%s, and %s", what, status, word, hub, n->repo, who);
  case 404: return error_say(t->why, "%s: the hub answers 404%s: there is no such model, revision or file at %s", what, word, hub);
  case 429: return error_say(t->why, "%s: the hub answers 429: too many have asked; wanted: the same once more%s%s%s", what,
      t->retry[0] != '\0' ? " in " : " later", t->retry, t->retry[0] != '\0' ? " s" : "");
  default: break;
  }
  if (status / 100 == 5) return error_say(t->why, "%s: the hub answers %ld: it has a trouble of its own; wanted: the same once more later", what, status);
  return error_say(t->why, "%s: the hub answers %ld; wanted: 200", what, status);
}

static bool say_broken(const struct transfer *t, CURLcode result, const char *what)
{
  const struct part *p = t->part;
  if (p == NULL) return error_say(t->why, "%s: %s does not answer: %s", what, t->h->endpoint, curl_easy_strerror(result));
  return error_say(t->why, "%s: the connection broke at %" PRIu64 " of %" PRIu64 " bytes: %s; what has come is kept, and the same line goes on"
    " from there", what, p->have, p->f->bytes, result == CURLE_OK ? "the server closed it" : curl_easy_strerror(result));
}

int hub_ask(struct hub_net *h, const struct hub_name *n, struct bytes *answer, struct error *why)
{
  char url[MAX_URL], revision[3 * HUB_REVISION], *to = revision;
  struct transfer t = { .h = h, .text = answer, .why = why };
  CURLcode result = CURLE_OK;
  for (const char *at = n->revision[0] != '\0' ? n->revision : "main"; *at != '\0'; at++)
    to += sprintf(to, *at == '/' ? "%%2F" : "%c", *at);
  snprintf(url, sizeof url, "%s/api/models/%s/revision/%s?blobs=true", h->endpoint, n->repo, revision);
  long status = go(&t, url, &result);
  if (progress_cancelled(&h->wait->told)) return STATUS_CANCELLED;
  if (t.failed) return STATUS_FAILED;
  bool ok = result == CURLE_OK && status == 200;
  if (!ok && status != 0 && status / 100 != 2) say_status(&t, status, n, n->repo);
  else if (!ok) say_broken(&t, result, n->repo);
  return ok ? STATUS_DONE : STATUS_FAILED;
}

/* ---- parts */

/* the names beside a file's place */
static bool part_names(struct part *p, const char *folder, const struct hub_file *f, struct error *why)
{
  char name[HUB_FILE + 40];
  p->f = f;
  snprintf(name, sizeof name, "%s.%.16s.part", f->name, f->sum);
  if (!path_join(p->path, folder, name, why)) return false;
  snprintf(name, sizeof name, "%s.%.16s.etag", f->name, f->sum);
  return path_join(p->note, folder, name, why);
}

uint64_t hub_begun(const char *folder, const struct hub_file *f)
{
  struct part p;
  struct stat about;
  if (!part_names(&p, folder, f, NULL) || lstat(p.path, &about) != 0 || !S_ISREG(about.st_mode)) return 0;
  return (uint64_t) about.st_size <= f->bytes ? (uint64_t) about.st_size : 0;
}

static void read_note(struct part *p)
{
  FILE *f = fopen(p->note, "rb");
  size_t n = f != NULL ? fread(p->tag, 1, sizeof p->tag - 1, f) : 0;
  if (f != NULL) fclose(f);
  p->tag[n] = '\0';
  if (!is_strong(p->tag)) p->tag[0] = '\0';
}

/* Bytes of the disk are added to a sum. */
static bool add_file(struct waiting *wait, struct sum *sum, int fd, uint64_t bytes)
{
  unsigned char piece[1 << 16];
  uint64_t done = 0;
  while (done < bytes) {
    ssize_t k = read(fd, piece, bytes - done < sizeof piece ? (size_t) (bytes - done) : sizeof piece);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    sum_add(sum, piece, (size_t) k);
    done += (size_t) k;
    if (!waiting_tell(wait, (size_t) done, (size_t) bytes)) return false;
  }
  return true;
}

/* What is there is gone on with if the server gave it a mark, and all of it is read first: the sum is one of every byte. */
static bool part_open(struct hub_net *h, struct part *p, struct error *why)
{
  struct stat about;
  p->fd = open(p->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (p->fd < 0 || fstat(p->fd, &about) != 0 || !S_ISREG(about.st_mode))
    return error_say(why, "%s: cannot be written: %s", p->path, p->fd < 0 ? strerror(errno) : "it is no regular file");
  read_note(p);
  part_sum_begin(p);
  p->have = (uint64_t) about.st_size;
  if (p->have > 0 && p->have <= p->f->bytes && p->tag[0] != '\0' && add_file(h->wait, &p->sum, p->fd, p->have)) return true;
  return progress_cancelled(&h->wait->told) || part_empty(p, why);
}

static bool part_finish(struct part *p, const char *folder, struct error *why)
{
  char text[SUM_TEXT], path[PATH_CAP];
  sum_end(&p->sum, text);
  if (strcmp(text, p->f->sum) != 0) {
    unlink(p->path);
    unlink(p->note);
    return error_say(why, "%s: its %s is %.20s...; wanted: %.20s..., as the hub's list says; what had come was thrown away", p->f->name,
      p->f->kind == SUM_SHA256 ? "SHA-256" : "git sum", text, p->f->sum);
  }
  if (!path_join(path, folder, p->f->name, why)) return false;
  if (fsync(p->fd) != 0 || rename(p->path, path) != 0) return error_say(why, "%s: cannot be written: %s", path, strerror(errno));
  unlink(p->note);
  return true;
}

/* a while between two tries, longer each time; false if it was given up */
static bool pause_before(struct hub_net *h, int tries)
{
  static const struct timespec tick = { 0, 50000000 };
  for (int i = 0; i < 4 << tries; i++) {
    if (!waiting_tell(h->wait, 0, 0)) return false;
    nanosleep(&tick, NULL);
  }
  return true;
}

/* one request for what is missing; true: another may bring more */
static bool fetch_once(struct hub_net *h, struct part *p, const char *url, const struct hub_name *n, bool *failed, struct error *why)
{
  struct transfer t = { .h = h, .part = p, .why = why };
  CURLcode result = CURLE_OK;
  *failed = p->tag[0] == '\0' && !part_empty(p, why); /* without a mark there is nothing to go on with */
  if (*failed) return false;
  t.asked = p->have;
  long status = go(&t, url, &result);
  if (progress_cancelled(&h->wait->told)) return false;
  if (t.anew || status == 416) { /* another version, or no such range */
    error_say(why, "%s: the server has another version at each try; wanted: one", p->f->name);
    *failed = !part_empty(p, why);
    return !*failed;
  }
  *failed = t.failed;
  if (t.failed) return false;
  if (status != 0 && status / 100 != 2) {
    *failed = true;
    return say_status(&t, status, n, p->f->name);
  }
  if (p->have < p->f->bytes) say_broken(&t, result, p->f->name);
  return p->have < p->f->bytes;
}

static int fetch_part(struct hub_net *h, struct part *p, const char *url, const struct hub_name *n, struct error *why)
{
  bool failed = false;
  for (int tries = 0; p->have < p->f->bytes; tries++) {
    if (tries == MAX_TRIES) return STATUS_FAILED;
    if (tries > 0 && !pause_before(h, tries - 1)) break;
    if (!fetch_once(h, p, url, n, &failed, why)) break;
  }
  if (progress_cancelled(&h->wait->told)) {
    error_say(why, "%s: stopped at %" PRIu64 " of %" PRIu64 " bytes; they are kept, and the same line goes on from there", p->f->name, p->have,
      p->f->bytes);
    return STATUS_CANCELLED;
  }
  return failed ? STATUS_FAILED : STATUS_DONE;
}

int hub_fetch(struct hub_net *h, const struct hub_name *n, const char *commit, const char *folder, const struct hub_file *f,
  uint64_t *fetched, struct error *why)
{
  char url[MAX_URL];
  struct part p = { .fd = -1 };
  snprintf(url, sizeof url, "%s/%s/resolve/%s/%s", h->endpoint, n->repo, commit, f->name);
  int status = part_names(&p, folder, f, why) && part_open(h, &p, why) ? STATUS_DONE : STATUS_FAILED;
  if (status == STATUS_DONE) status = fetch_part(h, &p, url, n, why);
  if (status == STATUS_DONE && !part_finish(&p, folder, why)) status = STATUS_FAILED;
  if (p.fd >= 0) close(p.fd);
  *fetched += p.came;
  return status;
}

bool hub_is_here(struct waiting *wait, const char *folder, const struct hub_file *f)
{
  char path[PATH_CAP], text[SUM_TEXT];
  struct part p = { .f = f };
  struct stat about;
  int fd = path_join(path, folder, f->name, NULL) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return false;
  bool same = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && (uint64_t) about.st_size == f->bytes;
  part_sum_begin(&p);
  same = same && add_file(wait, &p.sum, fd, f->bytes);
  if (same) sum_end(&p.sum, text);
  close(fd);
  return same && strcmp(text, f->sum) == 0;
}
#else
typedef int without_curl; /* a file of C declares something */
#endif
