/* editing.c -- made from workshop/22-chat.w; change it there */

/* U.37  editing.c */

#define _XOPEN_SOURCE 700
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <termios.h>
#include "chat/editing.h"

/* U.29  What an editor holds */

struct editor {
  struct memory *m;
  EditLine *line;
  History *past;
  FILE *in, *out;
  const char *prompt;
  bool dropped;
};
static struct editor *editor_of(EditLine * line)
{
  void *self = NULL;
  el_get(line, EL_CLIENTDATA, &self);
  return self;
}

static char *prompt_of(EditLine * line)
{
  return (char *)editor_of(line)->prompt;
}

/* U.30  Drop a line */

static unsigned char drop_line(EditLine * line, int key)
{
  (void)key;
  editor_of(line)->dropped = true;
  return CC_EOF;
}

static void bind_keys(struct editor *e)
{
  el_set(e->line, EL_SETTY, "-d", "-isig", NULL);
  el_wset(e->line, EL_ADDFN, L"drop-line", L"give it up", drop_line);
  el_set(e->line, EL_BIND, "^C", "drop-line", NULL);
}

/* U.31  Take the keys as they are */

static bool keep_quiet(int fd, struct termios *before)
{
  struct termios now;
  if (tcgetattr(fd, before) != 0)
    return false;
  now = *before;
  now.c_lflag &= ~(tcflag_t) (ISIG | ECHO | ICANON);
  now.c_cc[VMIN] = 1, now.c_cc[VTIME] = 0;
  return tcsetattr(fd, TCSANOW, &now) == 0;
}

/* U.32  Let letters be letters */

static void choose_letters(void)
{
  if (setlocale(LC_CTYPE, "") == NULL || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
    setlocale(LC_CTYPE, "C.UTF-8");
}

/* U.33  Open an editor */

static void editor_close(struct editor *e)
{
  if (e->line != NULL)
    el_end(e->line);
  if (e->past != NULL)
    history_end(e->past);
  memory_give(e->m, FOR_OTHER, e, 1, sizeof *e);
}

static struct editor *editor_open(struct memory *m, FILE * in, FILE * out,
                                  FILE * err, const char *prompt, struct error *why)
{
  HistEvent now;
  struct editor *e = memory_take(m, FOR_OTHER, 1, sizeof *e, why);
  if (e == NULL)
    return NULL;
  choose_letters();
  *e = (struct editor) {.m = m,.in = in,.out = out,
    .prompt = prompt,.line = el_init("incipit", in, out, err),
    .past = history_init()
  };
  if (e->line == NULL || e->past == NULL) {
    editor_close(e);
    error_say(why, "the terminal cannot be set up for typing");
    return NULL;
  }
  history(e->past, &now, H_SETSIZE, 1000);

/* U.34  Tell the library its habits */

  el_set(e->line, EL_CLIENTDATA, e);
  el_set(e->line, EL_PROMPT, prompt_of);
  el_set(e->line, EL_EDITOR, "emacs");
  el_set(e->line, EL_HIST, history, e->past);
  el_source(e->line, NULL);
  bind_keys(e);

  return e;
}

/* U.35  Ask for a line */

static enum asked editor_ask(struct editor *e, const char **line, size_t *n)
{
  HistEvent now;
  struct termios before;
  int count = 0;
  e->dropped = false;
  bool quiet = keep_quiet(fileno(e->in), &before);
  const char *text = el_gets(e->line, &count);
  if (quiet)
    tcsetattr(fileno(e->in), TCSADRAIN, &before);
  if (text == NULL || count <= 0) {
    fputs(e->dropped ? "^C\n" : "\n", e->out);
    fflush(e->out);
    return e->dropped ? ASKED_DROPPED : ASKED_END;
  }
  *line = text, *n = strlen(text);
  if (*n > 1)
    history(e->past, &now, H_ENTER, text);
  while (*n > 0 && strchr("\r\n", text[*n - 1]) != NULL)
    -- * n;
  return ASKED_LINE;
}

const struct editing editing_by_line = { editor_open, editor_ask,
  editor_close
};
