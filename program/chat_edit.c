/* chat_edit.c -- lines that are typed and edited, by libedit; nothing outside this file knows that.

   Readline has the GPL, which would have to become the licence of the whole program; linenoise
   is meant to be copied into one's own sources, where it would be ours to look after. libedit
   comes from BSD, knows wide characters, and reads its user's habits from .editrc. It takes its
   memory from the system and not from our accounts, like jansson. */

#define _XOPEN_SOURCE 700
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <termios.h>
#include "chat_edit.h"

struct editor { struct memory *m; EditLine *line; History *past;
  FILE *in, *out; const char *prompt; bool dropped; };

static struct editor *editor_of(EditLine *line)
{
  void *ctx = NULL;
  el_get(line, EL_CLIENTDATA, &ctx);
  return ctx;
}

static char *prompt_of(EditLine *line)
{
  return (char *) editor_of(line)->prompt;
}

/* While a line is typed, Ctrl-C drops the line. What libedit does with signals depends on its
   version, and our flag is for answers; so the signal is taken away as long as the editor has
   the terminal, and the key is bound to this function. (libedit keeps the name of a function as
   a wide string, and leaks the copy that it makes of a narrow one; so the name is given wide.) */
static unsigned char drop_line(EditLine *line, int key)
{
  (void) key;
  editor_of(line)->dropped = true;
  return CC_EOF;
}

static void bind_keys(struct editor *e)
{
  el_set(e->line, EL_SETTY, "-d", "-isig", NULL);
  el_wset(e->line, EL_ADDFN, L"drop-line", L"give it up", drop_line);
  el_set(e->line, EL_BIND, "^C", "drop-line", NULL);
}

/* libedit takes the signal away only when it waits for the first key, a moment after the prompt
   can be seen. A Ctrl-C or Ctrl-D of that moment would be lost or worse; so we tell the terminal
   ourselves, before the prompt, to hand over all keys, and put everything back when the line is
   there. */
static bool keep_quiet(int fd, struct termios *before)
{
  struct termios now;
  if (tcgetattr(fd, before) != 0) return false;
  now = *before;
  now.c_lflag &= ~(tcflag_t) (ISIG | ECHO | ICANON);
  now.c_cc[VMIN] = 1, now.c_cc[VTIME] = 0;
  return tcsetattr(fd, TCSANOW, &now) == 0;
}

/* Letters beyond ASCII need a locale that has them. Only LC_CTYPE is set, so that no number is
   ever printed with a comma. */
static void choose_letters(void)
{
  if (setlocale(LC_CTYPE, "") == NULL
    || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
    setlocale(LC_CTYPE, "C.UTF-8");
}

static void editor_close(struct editor *e)
{
  if (e->line != NULL) el_end(e->line);
  if (e->past != NULL) history_end(e->past);
  memory_free(e->m, e);
}

static struct editor *editor_open(struct memory *m, FILE *in, FILE *out,
  FILE *err, const char *prompt, struct error *why)
{
  HistEvent now;
  struct editor *e = memory_alloc(m, MEMORY_OTHER, 1, sizeof *e, why);
  if (e == NULL) return NULL;
  choose_letters();
  *e = (struct editor) { .m = m, .in = in, .out = out,
    .prompt = prompt, .line = el_init("incipit", in, out, err),
    .past = history_init() };
  if (e->line == NULL || e->past == NULL) {
    editor_close(e);
    error_say(why, "the terminal cannot be set up for typing");
    return NULL;
  }
  history(e->past, &now, H_SETSIZE, 1000);
  /* the user's own file is read last but for our one key */
  el_set(e->line, EL_CLIENTDATA, e);
  el_set(e->line, EL_PROMPT, prompt_of);
  el_set(e->line, EL_EDITOR, "emacs");
  el_set(e->line, EL_HIST, history, e->past);
  el_source(e->line, NULL);
  bind_keys(e);
  return e;
}

/* After a dropped line the cursor is in the middle of it, so we write the line's end ourselves;
   at the end of the input as well, so that the shell's prompt begins a line. */
static enum asked editor_ask(struct editor *e, const char **line,
  size_t *n)
{
  HistEvent now;
  struct termios before;
  int count = 0;
  e->dropped = false;
  bool quiet = keep_quiet(fileno(e->in), &before);
  const char *text = el_gets(e->line, &count);
  if (quiet) tcsetattr(fileno(e->in), TCSADRAIN, &before);
  if (text == NULL || count <= 0) {
    fputs(e->dropped ? "^C\n" : "\n", e->out);
    fflush(e->out);
    return e->dropped ? ASKED_DROPPED : ASKED_END;
  }
  *line = text, *n = strlen(text);
  if (*n > 1) history(e->past, &now, H_ENTER, text);
  while (*n > 0 && strchr("\r\n", text[*n - 1]) != NULL) --*n;
  return ASKED_LINE;
}

const struct editing editing_by_line = {
  .open = editor_open, .ask = editor_ask, .close = editor_close };
