/* framing.c -- headers of a request: a line for the version, and one for each header. What the guards say is what the rules say,
 * one after the other; libmicrohttpd, which would have read the headers, hands them over from here (--wrap). */
#include "fuzz.h"
#ifdef INCIPIT_HTTP
#include <strings.h>
#include "http_inside.h"

enum { MOST = 64 };
static struct { char *key[MOST], *value[MOST]; size_t n; } lines; /* of the input that is read now */

int __wrap_MHD_get_connection_values(struct MHD_Connection *mc, enum MHD_ValueKind kind, MHD_KeyValueIterator note, void *ctx);
int __wrap_MHD_get_connection_values(struct MHD_Connection *mc, enum MHD_ValueKind kind, MHD_KeyValueIterator note, void *ctx)
{
  (void) mc;
  for (size_t i = 0; i < lines.n; i++)
    if (note(ctx, kind, lines.key[i], lines.value[i]) != MHD_YES) break;
  return (int) lines.n;
}
/* values of a header; the first of them */
static size_t count(const char *key, const char **first)
{
  size_t n = 0;
  for (size_t i = 0; i < lines.n; i++)
    if (strcasecmp(lines.key[i], key) == 0 && n++ == 0) *first = lines.value[i];
  return n;
}
static bool all_equal(const char *key, const char *value)
{
  for (size_t i = 0; i < lines.n; i++)
    if (strcasecmp(lines.key[i], key) == 0 && strcmp(lines.value[i], value) != 0) return false;
  return true;
}
/* what RFC 9112 wants of us, by itself */
static unsigned expected(const char *version)
{
  const char *length = "", *coding = "", *host = "";
  size_t lengths = count("Content-Length", &length), codings = count("Transfer-Encoding", &coding), hosts = count("Host", &host);
  bool digits = *length != '\0';
  for (const char *at = length; *at != '\0'; at++) digits = digits && *at >= '0' && *at <= '9';
  if (lengths > 0 && (codings > 0 || !digits || !all_equal("Content-Length", length))) return 400;
  if (codings > 1 || (codings == 1 && strcasecmp(coding, "chunked") != 0)) return 501;
  return hosts > 1 || (hosts == 0 && strcmp(version, "HTTP/1.0") != 0) ? 400 : 0;
}
FUZZ(framing)
{
  char *text = malloc(size + 1), *version = text;
  const char *why = NULL;
  memcpy(text, data, size);
  text[size] = '\0';
  lines.n = 0;
  for (char *p = strchr(text, '\n'); p != NULL && lines.n < MOST; lines.n++) {
    *p++ = '\0';
    char *colon = strchr(p, ':'), *end = strchr(p, '\n');
    if (colon == NULL || (end != NULL && colon > end)) break;
    *colon = '\0';
    lines.key[lines.n] = p, lines.value[lines.n] = colon + 1;
    p = end;
  }
  for (size_t i = 0; i < lines.n; i++) lines.value[i][strcspn(lines.value[i], "\n")] = '\0';
  unsigned status = http_misframed(NULL, version, &why);
  must(status == expected(version) && (status == 0 || (why != NULL && strlen(why) < 200)));
  free(text);
  return 0;
}
#else
FUZZ(framing)
{
  (void) data, (void) size;
  return 0;
}
#endif
