/* the program -- made from workshop/07-templates.w; change it there */

#include <stdio.h>
#include <string.h>
#include "templates/conversations.h"

/* <Three turns, and the templates that are shown> */
static const char hello[] = "Hello!", ask[] = "Hello! What would you like to know?",
  fox[] = "What does the fox say?";
static const struct turn three[3] = {
  { ROLE_USER, hello, sizeof hello - 1 },
  { ROLE_ASSISTANT, ask, sizeof ask - 1 },
  { ROLE_USER, fox, sizeof fox - 1 } };
static const char *const shown[] = { "chatml", "qwen2", "llama2",
  "llama3", "llama3.1", "mistral", "mistral-v3", "pocket" };
enum { SHOWN = sizeof shown / sizeof *shown };

/* <Print a script so that its blanks can be seen> */
static size_t print_part(const struct rendered_prompt *s,
  const struct prompt_part *p, bool print)
{
  size_t n = p->kind == PROMPT_PART_SAID ? 2 : 0;
  if (print && n > 0) printf("\"");
  for (size_t i = 0; i < p->n; i++) {
    char c = (char) s->text.byte[p->at + i];
    n += c == '\n' ? 2 : 1;
    if (c == ' ' && p->kind != PROMPT_PART_SAID) c = '_';
    if (print) printf(c == '\n' ? "\\n" : "%c", c);
  }
  if (print && p->kind == PROMPT_PART_SAID) printf("\"");
  return n;
}

static void print_script(const char *name, const struct rendered_prompt *s)
{
  size_t column = 0;
  printf("%-11s", name);
  for (size_t i = 0; i < s->n; i++) {
    size_t n = print_part(s, &s->part[i], false);
    if (column > 0 && column + n > 76)
      printf("\n%-11s", ""), column = 0;
    column += print_part(s, &s->part[i], true);
  }
  printf("\n");
}

/* <Count what is said, and what is not> */
static void print_counts(const char *name, const struct rendered_prompt *s)
{
  size_t count[3] = { 0, 0, 0 };
  for (size_t i = 0; i < s->n; i++)
    count[s->part[i].kind] += s->part[i].kind == PROMPT_PART_MARK ? 1
      : s->part[i].n;
  printf("talk.%s.marks %zu\ntalk.%s.frame %zu\ntalk.%s.said %zu\n",
    name, count[PROMPT_PART_MARK], name, count[PROMPT_PART_FRAME], name,
    count[PROMPT_PART_SAID]);
}

/* <Print the strips of the figure> */
static void print_strips(size_t row, const struct rendered_prompt *s)
{
  size_t at = 0;
  for (size_t i = 0; i < s->n; i++) {
    const struct prompt_part *p = &s->part[i];
    size_t n = p->kind == PROMPT_PART_MARK ? 2 : p->n;
    int column = p->who == ROLE_ASSISTANT;
    if (p->kind == PROMPT_PART_FRAME) column = 2;
    if (p->kind == PROMPT_PART_MARK) column = 3;
    for (int end = 0; end < 3; end++) {
      printf("%zu", end == 0 ? at : at + n);
      for (int k = 0; k < 4; k++)
        printf(end < 2 && k == column ? ",%zu" : ",nan", row);
      printf("\n");
    }
    at += n;
  }
}

int main(int argc, char **argv)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = true;
  if (strcmp(what, "strips") == 0)
    printf("place,user,assistant,frame,mark\n");
  for (size_t i = 0; ok && i < SHOWN; i++) {
    struct rendered_prompt s;
    const struct chat_template *by = chat_template_named(shown[i], &why);
    ok = by != NULL && prompt_render(&m, by, three, 3, 0, true, &s, &why);
    if (!ok) break;
    if (strcmp(what, "values") == 0) print_counts(shown[i], &s);
    else if (strcmp(what, "strips") == 0) print_strips(SHOWN - i, &s);
    else print_script(shown[i], &s);
    prompt_free(&m, &s);
  }
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok || m.all.live != 0;
}
