/* console.c -- the two ends of a run: sentences on the standard error, and what became of the
   output.

   Three streams and an exit status. What was asked for goes to the standard output and nothing
   else does, because that is what a pipe carries on; reasons, hints, statistics and a drawn seed
   go to the standard error. The status is 0 if what was asked for is done; 1 if it could not be
   done (the same line may succeed tomorrow); 2 if the question itself was wrong (it never will);
   130 after Ctrl-C, as a shell reports it. */

#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
#include <string.h>
#include "console.h"

int console_fail(const struct console *c, const struct error *why)
{
  fprintf(c->err, "incipit: %s\n", why->text);
  return STATUS_FAILED;
}

int console_usage_error(const struct console *c, const struct error *why)
{
  console_fail(c, why);
  return STATUS_USAGE;
}

/* a count that is zero says nothing; a double holds every count below 2^53 */
void console_stat(const struct console *c, const char *name, double value, int decimals,
  const char *unit)
{
  if (value > 0 || decimals > 0) fprintf(c->err, "%-28s %.*f %s\n", name, decimals, value, unit);
}

/* has the reader of a pipe gone? Then poll reports an error for our end. A reader such as head
   has read what it wanted, and its leaving is no failure worth a sentence */
static bool reader_gone(const struct console *c)
{
  struct pollfd door = { .fd = fileno(c->out), .events = POLLOUT };
  return door.fd >= 0 && poll(&door, 1, 0) == 1
    && (door.revents & (POLLERR | POLLHUP)) != 0;
}

/* A full disk is noticed only when the buffer is emptied, so every run ends here. The stream
   remembers that something failed earlier but not what, and may have thrown away what it could
   not write; then errno is 0. Nothing is said twice: not after STATUS_FAILED, which has had its
   sentence. (incipit --help > /dev/full shows it.) */
int console_end(const struct console *c, int status)
{
  errno = 0;
  if ((fflush(c->out) == 0 && !ferror(c->out))
      || status == STATUS_FAILED) return status;
  struct error why;
  error_say(&why, "the output cannot be written: %s",
    errno != 0 ? strerror(errno)
    : "the disk is full, or has failed");
  if (errno != EPIPE && !reader_gone(c)) console_fail(c, &why);
  return STATUS_FAILED;
}
