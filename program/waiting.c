/* waiting.c -- what takes longer than half a second shows how far it is.

   The engine tells a function of its caller how many rows of a pass are done, between the layers
   and at least every 64 rows, and asks it whether to go on; the loader does so for its tensors.
   The function is the one below. It asks the console about Ctrl-C each time and, at most ten times
   a second, writes a line over the one before. The line is taken away with blanks and not with an
   escape sequence, because blanks work on every terminal. Nothing is shown where the standard
   error is no terminal: a log would be full of lines that were meant to vanish. */

#include <stdio.h>
#include <string.h>
#include "ground/timing.h"
#include "waiting.h"

/* seconds before the first line, and between two */
static const double FIRST = 0.5, NEXT = 0.1;

/* A line that is as wide as the terminal would go on in the next one, from where a carriage return
   does not come back; so it is cut. */
static void show(struct waiting *w, const char *text)
{
  size_t n = strlen(text), columns = w->c->err_columns;
  if (columns > 0 && n >= columns) n = columns - 1;
  int rest = w->width > n ? (int) (w->width - n) : 0;
  fprintf(w->c->err, "\r%.*s%*s", (int) n, text, rest, "");
  if (rest > 0) fprintf(w->c->err, "\r%.*s", (int) n, text);
  fflush(w->c->err);
  w->width = n;
}

static bool report(void *ctx, size_t done, size_t all)
{
  struct waiting *w = ctx;
  if (w->c->cancelled != NULL && w->c->cancelled()) return false;
  if (!w->seen || w->words == NULL) return true;
  double now = timing_seconds();
  if (now - w->began < FIRST || now - w->shown < NEXT) return true;
  char text[WAITING_WORDS] = "";
  w->words(w->ctx, done, all, text);
  if (text[0] != '\0') show(w, text);
  w->shown = now;
  return true;
}

void waiting_open(struct waiting *w, const struct console *c, const struct command_line *line)
{
  *w = (struct waiting) { .told = { .report = report, .ctx = w }, .c = c };
  w->seen = c->err_terminal && !line->of[OPTION_QUIET].given;
}

void waiting_begin(struct waiting *w, waiting_words *words, void *ctx)
{
  waiting_end(w);
  w->told.cancelled = false;
  w->words = words, w->ctx = ctx;
  w->began = w->seen ? timing_seconds() : 0;
  w->shown = 0;
}

void waiting_say(struct waiting *w, const char *words)
{
  waiting_begin(w, NULL, NULL);
  if (w->seen) show(w, words);
}

void waiting_end(struct waiting *w)
{
  if (w->width > 0) fprintf(w->c->err, "\r%*s\r", (int) w->width, "");
  if (w->width > 0) fflush(w->c->err);
  w->width = 0;
  w->words = NULL;
}

bool waiting_tell(struct waiting *w, size_t done, size_t all)
{
  return progress_tell(&w->told, done, all);
}
