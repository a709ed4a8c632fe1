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
#include <stdlib.h>
#include <string.h>
#include "console.h"

/* How many bytes of a line go into so many columns. A character is one column, what colours it
   none; of the places to break the last is taken, but one of two blanks or more before any other,
   since tables have those between their columns. The first word, which stands at first, is never
   broken off; if it is too long alone, the break is after it. */
static size_t bytes_that_fit(const char *line, size_t n, size_t first, size_t columns)
{
  size_t wide = 0, narrow = 0, used = 0;
  for (size_t i = 0; i < n; i++) {
    if (line[i] == '\x1b') {
      while (i < n && line[i] != 'm') i++;
      continue;
    }
    if (i > first && line[i] == ' ' && line[i - 1] != ' ' && (used <= columns || narrow == 0)) {
      narrow = i;
      if (i + 1 < n && line[i + 1] == ' ') wide = i;
    }
    used += ((unsigned char) line[i] & 0xc0) != 0x80;
  }
  if (used <= columns || narrow == 0) return n;
  return wide > 0 ? wide : narrow;
}

/* What is folded goes on two columns right of where the line began, as a list's items do, but never
   beyond half of the screen. */
static void fold_line(FILE *out, size_t columns, const char *line, size_t n)
{
  size_t first = 0, room = columns;
  while (first < n && line[first] == ' ') first++;
  size_t indent = first + 2 < columns / 2 ? first + 2 : columns / 2;
  while (true) {
    size_t k = bytes_that_fit(line, n, first, room);
    fwrite(line, 1, k, out);
    while (k < n && line[k] == ' ') k++;
    line += k, n -= k;
    first = 0;
    if (n == 0) return;
    room = columns - indent;
    fprintf(out, "\n%*s", (int) indent, "");
  }
}

void console_fold(FILE *out, size_t columns, const char *text, size_t n)
{
  while (n > 0) {
    const char *end = memchr(text, '\n', n);
    size_t k = end != NULL ? (size_t) (end - text) : n;
    if (columns > 0) fold_line(out, columns, text, k);
    else fwrite(text, 1, k, out);
    if (end == NULL) return;
    putc('\n', out);
    text = end + 1, n -= k + 1;
  }
}

void folding_begin(struct folding *f, const struct console *real)
{
  *f = (struct folding) { .c = *real, .real = real };
  if (real->columns == 0) return;
  f->c.out = open_memstream(&f->text, &f->n);
  if (f->c.out == NULL) f->c.out = real->out;
}

void folding_end(struct folding *f)
{
  if (f->c.out == f->real->out) return;
  fclose(f->c.out);
  console_fold(f->real->out, f->real->columns, f->text, f->n);
  free(f->text);
}

int console_fail(const struct console *c, const struct error *why)
{
  char line[sizeof why->text + 16];
  int n = snprintf(line, sizeof line, "incipit: %s\n", why->text);
  console_fold(c->err, c->err_columns, line, (size_t) n);
  return STATUS_FAILED;
}

int console_usage_error(const struct console *c, const struct error *why)
{
  console_fail(c, why);
  return STATUS_USAGE;
}

void console_tokens(const struct console *c, size_t given, size_t written)
{
  char line[120];
  int n = snprintf(line, sizeof line, "%-28s %zu + %zu tokens\n", "tokens", given, written);
  console_fold(c->err, c->err_columns, line, (size_t) n);
}

/* a count that is zero says nothing; a double holds every count below 2^53 */
void console_stat(const struct console *c, const char *name, double value, int decimals,
  const char *unit)
{
  char line[120];
  if (value == 0 && decimals == 0) return;
  int n = snprintf(line, sizeof line, "%-28s %.*f %s\n", name, decimals, value, unit);
  if (n > 0 && (size_t) n < sizeof line) console_fold(c->err, c->err_columns, line, (size_t) n);
}

/* has the reader of a pipe gone? Then poll reports an error for our end. A reader such as head
   has read what it wanted, and its leaving is no failure worth a sentence */
static bool reader_gone(const struct console *c)
{
  struct pollfd door = { .fd = fileno(c->out), .events = POLLOUT };
  return door.fd >= 0 && poll(&door, 1, 0) == 1
    && (door.revents & (POLLERR | POLLHUP)) != 0;
}

/* A signal may come while a slow terminal makes a write wait.  The write then ends with EINTR, and the
   stream remembers a failure, though the next bytes can be written as ever.  What it held may be lost: it was
   on its way to somebody who has just asked for no more. */
static bool flush_all(FILE *out)
{
  while (fflush(out) != 0) {
    if (errno != EINTR) return false;
    clearerr(out);
  }
  return true;
}

bool console_flush(const struct console *c)
{
  /* the write just before may have been interrupted as well: a line's end empties the buffer, too */
  if (ferror(c->out) && errno == EINTR) clearerr(c->out);
  return flush_all(c->out);
}

/* A full disk is noticed only when the buffer is emptied, so every run ends here. The stream
   remembers that something failed earlier but not what, and may have thrown away what it could
   not write; then errno is 0. Nothing is said twice: not after STATUS_FAILED, which has had its
   sentence. (incipit --help > /dev/full shows it.) */
int console_end(const struct console *c, int status)
{
  bool flushed = flush_all(c->out);
  if (flushed) errno = 0;
  if ((flushed && !ferror(c->out))
      || status == STATUS_FAILED) return status;
  struct error why;
  error_say(&why, "the output cannot be written: %s",
    errno != 0 ? strerror(errno)
    : "the disk is full, or has failed");
  if (errno != EPIPE && !reader_gone(c)) console_fail(c, &why);
  return STATUS_FAILED;
}
