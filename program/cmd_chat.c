/* cmd_chat.c -- incipit chat: what is typed or piped becomes turns of a conversation.

   Lines come from an editor at a keyboard and from a file or a pipe otherwise; a text may have
   several lines, and one that begins with a slash is for the program (chat_slash.c). The talk
   itself, its cache and its answers, is chat.c's. Every way to end has one status, which is
   found in one place (converse), and every failure one sentence. */

#include <errno.h>
#include <string.h>
#include "command.h"
#include "chat_slash.h"

/* Lines come from the editor, or as they are; in a pipe there is no prompt. The carriage return
   of a file from elsewhere is no part of what is said. */
struct line_source { const struct console *c; struct editor *e;
  struct bytes text;
  bool quoted; /* the newest text stood between quotation marks */
};

static enum asked next_line(struct line_source *r, const char **line,
  size_t *n)
{
  const struct console *c = r->c;
  struct error why;
  if (r->e != NULL) return c->edit->ask(r->e, line, n);
  enum line_found found = jsonfile_line(c->in, c->memory, &r->text);
  if (found == LINE_NONE) return ASKED_END;
  *line = (const char *) r->text.byte, *n = r->text.n;
  if (*n > 0 && (*line)[*n - 1] == '\r') *n -= 1;
  if (found == LINE_WHOLE) return ASKED_LINE;
  error_say(&why, "a line does not fit into memory, and is left out");
  console_fail(c, &why);
  return ASKED_DROPPED;
}

/* appends to a text of several lines; what does not fit is said, and given up */
static bool add_line(struct line_source *r, struct bytes *text, const char *line, size_t n)
{
  struct error why;
  if (bytes_push(r->c->memory, text, line, n, &why)) return true;
  console_fail(r->c, &why);
  text->n = 0;
  return false;
}

/* Three quotation marks open a text of several lines and close it. What stands beside them on their
   lines belongs to it; a line with nothing beside them is none of its lines, so the text neither
   begins nor ends with a line break that nobody meant. From a keyboard Ctrl-C gives it up. If the
   input ends within it, text is what there was */
static enum asked next_text(struct line_source *r, struct bytes *text)
{
  static const char quotes[] = "\"\"\"";
  const char *line = "";
  size_t n = 0;
  text->n = 0;
  enum asked got = next_line(r, &line, &n);
  r->quoted = got == ASKED_LINE && n >= 3 && memcmp(line, quotes, 3) == 0;
  if (r->quoted) line += 3, n -= 3;
  for (size_t i = 0, lines = 0; got == ASKED_LINE; i++) {
    bool closes = r->quoted && n >= 3 && memcmp(line + n - 3, quotes, 3) == 0;
    if (closes) n -= 3;
    if (n > 0 || (i > 0 && !closes)) {
      if (lines++ > 0 && !add_line(r, text, "\n", 1)) return ASKED_DROPPED;
      if (!add_line(r, text, line, n)) return ASKED_DROPPED;
    }
    if (!r->quoted || closes) return ASKED_LINE;
    got = next_line(r, &line, &n);
  }
  return got;
}

/* What begins with a slash is for the program, two slashes are a turn that begins with one; a
   text of several lines is a turn in any case. Blanks alone say nothing. */
static enum chat_result take_text(struct chat *t, const struct bytes *text, bool quoted)
{
  const char *line = (const char *) text->byte;
  size_t n = text->n;
  size_t blanks = 0;
  while (blanks < n && (line[blanks] == ' ' || line[blanks] == '\t')) blanks++;
  if (blanks == n) return CHAT_DONE;
  if (quoted || line[0] != '/') return chat_send(t, line, n);
  return n > 1 && line[1] == '/' ? chat_send(t, line + 1, n - 1) : chat_slash(t, line, n);
}

/* The talk goes on until somebody ends it or the input does, which is no failure. At a keyboard
   a refusal has been read by the one who typed; from a pipe nobody looks, so it ends the talk
   with a status. If the input ended because a signal came while nothing was being answered, the
   status says so. */
static int converse(struct chat *t, struct line_source *r)
{
  struct bytes text = { NULL, 0, 0 };
  enum chat_result did = CHAT_DONE;
  enum asked got = ASKED_LINE;
  while (did == CHAT_DONE || (did == CHAT_REFUSED && r->e != NULL)) {
    errno = 0;
    got = next_text(r, &text);
    if (got == ASKED_END) break;
    if (got == ASKED_LINE) did = take_text(t, &text, r->quoted);
  }
  bool cut = got == ASKED_END && r->quoted;
  bytes_free(r->c->memory, &text);
  if (did == CHAT_REFUSED) {
    t->gone = true;
    return STATUS_FAILED;
  }
  if (did == CHAT_BROKEN) return STATUS_FAILED;
  if (did == CHAT_QUIT) return STATUS_DONE;
  if (ferror(r->c->in)) {
    if (errno == EINTR) return STATUS_CANCELLED;
    error_say(&t->a.why, "the standard input cannot be read: %s", strerror(errno));
    return STATUS_FAILED;
  }
  if (cut) error_say(&t->a.why, "the input ends within a text of several lines; wanted: \"\"\"");
  return cut ? STATUS_FAILED : STATUS_DONE;
}

/* The editor is there only if both ends are a terminal: a pipe gets neither a prompt nor a greeting.
   A refusal that was said already (t.gone) is not said again. */
int cmd_chat(const struct console *c, const struct command_line *w)
{
  struct chat t;
  struct line_source r = { .c = c };
  int status = chat_open(&t, c, w);
  bool typed = c->in_terminal && c->out_terminal && c->edit != NULL;
  if (status == STATUS_DONE && typed) {
    r.e = c->edit->open(c->memory, c->in, c->out, c->err, "> ",
      &t.a.why);
    if (r.e == NULL) status = STATUS_FAILED;
    else fprintf(c->err, "%s, template %s; /help, /quit\n", t.a.o.path,
      chat_template_name(t.by));
  }
  if (status == STATUS_DONE) status = converse(&t, &r);
  if (r.e != NULL) c->edit->close(r.e);
  bytes_free(c->memory, &r.text);
  chat_close(&t);
  if (status == STATUS_USAGE) return console_usage_error(c, &t.a.why);
  if (status == STATUS_FAILED && !t.gone) console_fail(c, &t.a.why);
  return status;
}
