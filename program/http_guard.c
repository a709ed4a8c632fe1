/* http_guard.c -- what a client may not do: the guards around libmicrohttpd 0.9.75.

   The library reads requests well and trusts those who send them. Six things are missing for a server that strangers can
   reach, and each of them was seen to be missing:
   1. two framings of one body (Content-Length and Transfer-Encoding, or two lengths) are accepted, so that a proxy and we
      may disagree about where the next request begins (request smuggling, RFC 9112, section 6.3);
   2. a transfer coding that it does not know is waited for;
   3. HTTP/1.1 without a Host is answered;
   4. its timeout is one of inactivity: a client that sends a byte now and then is served for ever;
   5. a client that has gone is not noticed while its connection waits (is suspended), and a client that takes nothing
      keeps its place;
   6. one connection too many waits in the backlog without an answer, and counts those whose clients have just gone.
   The first three are seen in the headers. For the others the watcher asks the socket itself: whether the other side has
   closed (poll), how many bytes have come, and how many of ours have arrived there (TCP_INFO). It closes a connection with
   shutdown; libmicrohttpd then finds that out for itself, and what an exchange holds is given back in one place only. */

#ifdef INCIPIT_HTTP
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include "http_inside.h"

/* how often three headers come, and whether lengths differ */
struct framing { unsigned lengths, codings, hosts; const char *length, *coding; bool differ; };

static enum MHD_Result note_header(void *ctx, enum MHD_ValueKind kind, const char *key, const char *value)
{
  struct framing *f = ctx;
  (void) kind;
  if (strcasecmp(key, "Content-Length") == 0) {
    if (f->lengths++ > 0 && strcmp(f->length, value) != 0) f->differ = true;
    f->length = value;
  }
  if (strcasecmp(key, "Transfer-Encoding") == 0) f->codings++, f->coding = value;
  if (strcasecmp(key, "Host") == 0) f->hosts++;
  return MHD_YES;
}

/* a length is digits, a comma makes two of it */
static bool is_length(const char *text)
{
  return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

unsigned http_misframed(struct MHD_Connection *mc, const char *version, const char **why)
{
  struct framing f = { .lengths = 0 };
  MHD_get_connection_values(mc, MHD_HEADER_KIND, note_header, &f);
  *why = "Content-Length and Transfer-Encoding contradict each other; wanted: one of them";
  if (f.lengths > 0 && f.codings > 0) return 400;
  *why = "Content-Length is given twice, or is no number; wanted: one number";
  if (f.differ || (f.lengths > 0 && !is_length(f.length))) return 400;
  *why = "the transfer coding is not known here; wanted: chunked";
  if (f.codings > 1 || (f.codings == 1 && strcasecmp(f.coding, "chunked") != 0)) return 501;
  *why = "the request names no host, or several; wanted: one header Host";
  if (f.hosts > 1 || (f.hosts == 0 && strcmp(version, "HTTP/1.0") != 0)) return 400;
  return 0;
}

void http_refuse(int fd, const char id[33], unsigned status, const char *reason, const char *body, bool retry)
{
  char head[300];
  int n = snprintf(head, sizeof head, "HTTP/1.1 %u %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
    "X-Request-Id: %s\r\nCache-Control: no-store\r\n%sConnection: close\r\n\r\n", status, reason, strlen(body), id, retry ? "Retry-After: 1\r\n" : "");
  if (send(fd, head, (size_t) n, MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE) == n)
    (void) !send(fd, body, strlen(body), MSG_DONTWAIT | MSG_NOSIGNAL);
  shutdown(fd, SHUT_WR);
}

/* what the kernel knows of a connection: bytes that have come, bytes of ours that have arrived, bytes still on their way */
struct socket_state { uint64_t received, acked; int unsent; };

static struct socket_state look_at_socket(int fd)
{
  struct socket_state s = { .received = 0 };
  struct tcp_info t;
  socklen_t n = sizeof t;
  memset(&t, 0, sizeof t);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &n) == 0)
    s.received = t.tcpi_bytes_received, s.acked = t.tcpi_bytes_acked;
  if (ioctl(fd, SIOCOUTQ, &s.unsent) != 0) s.unsent = 0;
  return s;
}

void http_begin_phase(struct http_connection *c, enum http_phase phase, double now)
{
  struct socket_state s = look_at_socket(c->fd);
  c->phase = phase;
  c->since = c->moved = now;
  c->begun = false;
  c->received = s.received, c->acked = s.acked;
}

/* Has the other side closed? What it sent before that may not have been read yet; unless we are answering, it is read first. */
static bool is_gone(const struct http_connection *c)
{
  struct pollfd p = { .fd = c->fd, .events = POLLRDHUP };
  int unread = 0;
  if (poll(&p, 1, 0) <= 0 || (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) return false;
  return c->phase == HTTP_ANSWERING || ioctl(c->fd, FIONREAD, &unread) != 0 || unread == 0;
}

/* The client has done nothing for too long, whatever it had to do. An idle connection becomes one that sends a request when a
   first byte has come; one that is being answered is at rest as long as nothing of ours is on its way. */
static bool is_late(struct http_server *h, struct http_connection *c, double now)
{
  struct socket_state s = look_at_socket(c->fd);
  if (c->phase == HTTP_REFUSED) return now - c->since > 0.5;
  if (c->phase == HTTP_READING) return now - c->since > h->w.request_timeout;
  if (c->phase == HTTP_IDLE) {
    if (!c->begun && s.received > c->received) c->begun = true, c->since = now;
    return now - c->since > (c->begun ? h->w.request_timeout : h->w.idle_timeout);
  }
  bool at_rest = s.unsent == 0 && (c->x == NULL || c->x->suspended);
  if (at_rest || s.acked != c->acked) c->moved = now, c->acked = s.acked;
  return now - c->moved > h->w.send_timeout;
}

/* A wake that comes before the rest is remembered: resuming what is not suspended is an error for libmicrohttpd. */
void http_resume(struct http_exchange *x)
{
  if (!x->suspended) {
    x->woken = true;
    return;
  }
  x->suspended = false;
  MHD_resume_connection(x->c->mc);
}

unsigned http_count_present(const struct http_server *h)
{
  unsigned n = 0;
  for (const struct http_connection *c = h->first; c != NULL; c = c->next)
    n += c->phase != HTTP_REFUSED && !c->shut && !is_gone(c);
  return n;
}

void http_look(struct http_server *h, double now)
{
  for (struct http_connection *c = h->first; c != NULL; c = c->next) {
    if (c->shut || (!is_late(h, c, now) && !is_gone(c))) continue;
    c->shut = true;
    if (c->x != NULL) {
      c->x->gone = true;
      http_resume(c->x);
    }
    shutdown(c->fd, SHUT_RDWR);
  }
}
#else
typedef int no_http_here; /* a translation unit is never empty */
#endif
