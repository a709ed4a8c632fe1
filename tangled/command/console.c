/* console.c -- made from workshop/14-command.w; change it there */

#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
#include <string.h>
#include "command/console.h"

int console_fail(const struct console *c, const struct error *why)
{
  fprintf(c->err, "incipit: %s\n", why->words);
  return STATUS_FAILED;
}

int console_misuse(const struct console *c, const struct error *why)
{
  console_fail(c, why);
  return STATUS_USAGE;
}

/* <Empty the output, and look whether that worked> */
static bool reader_gone(const struct console *c)
{
  struct pollfd door = { .fd = fileno(c->out), .events = POLLOUT };
  return door.fd >= 0 && poll(&door, 1, 0) == 1
    && (door.revents & (POLLERR | POLLHUP)) != 0;
}

int console_end(const struct console *c, int status)
{
  errno = 0;
  if ((fflush(c->out) == 0 && !ferror(c->out))
      || status == STATUS_FAILED) return status;
  struct error why;
  error_say(&why, "the output cannot be" " written: %s",
    errno != 0 ? strerror(errno)
    : "the disk is full, or" " has failed");
  if (errno != EPIPE && !reader_gone(c)) console_fail(c, &why);
  return STATUS_FAILED;
}
