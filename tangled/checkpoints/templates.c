/* the program -- made from workshop/07-templates.w; change it there */

#include <stdio.h>
#include <string.h>
#include "templates/conversations.h"
#include "templates/jinja.h"

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

/* <Small templates, and what they print> */
static const char *const small[] = {
  "{{ 2 ** 3 ** 2 }} {{ -2 ** 2 }}",
  "{{ 1 + 1 is even }}",
  "{{ 'a' ~ 1 + 2 }}",
  "{% set n = 0 %}{% for x in [1, 2] %}{% set n = n + x %}{% endfor %}{{ n }}",
  "{% for x in [1, 2] %}{% break %}{% else %}none{% endfor %}",
  "{{ [1, 'it\\'s', None, 1e16, true] }}",
  "{{ ('<'|safe) + '<' }} {{ '<' + '<' }}",
  "{{ messages[0].items is defined }} {{ gone|length }} {{ gone }}|",
  "{{ 9223372036854775807 + 1 }}",
  "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}" };

static void print_small(struct memory *m)
{
  json_t *one = json_pack("[{s:s, s:s}]", "role", "user", "content", "Hi");
  struct jinja_request q = { .messages = one };
  for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
    struct jinja_answer a;
    struct error why;
    bool ok = jinja_render(m, small[i], strlen(small[i]), &q, &a, &why);
    printf("%s\n  %.*s\n", small[i], ok ? (int) a.text.n : 400,
      ok ? (const char *) a.text.byte : why.text);
    jinja_answer_free(m, &a);
  }
  json_decref(one);
}

/* <A program for ChatML, and what it costs> */
static const char chatml[] = "{% for m in messages %}{{ '<|im_start|>' + "
  "m.role + '\\n' + m.content + '<|im_end|>' + '\\n' }}{% endfor %}"
  "{{ '<|im_start|>assistant\\n' }}";

static bool print_cost(struct memory *m, struct error *why)
{
  static const char *const role[] = { "system", "user", "assistant" };
  json_t *all = json_array();
  struct jinja_request q = { .messages = all };
  struct jinja_answer a;
  for (size_t i = 0; i < 3; i++)
    json_array_append_new(all, json_pack("{s:s, s:s%}", "role",
      role[three[i].who], "content", three[i].text, three[i].n));
  bool ok = jinja_render(m, chatml, sizeof chatml - 1, &q, &a, why);
  json_decref(all);
  if (!ok) return false;
  printf("talk.run.steps %zu\ntalk.run.bytes %zu bytes\n", a.steps, a.text.n);
  jinja_answer_free(m, &a);
  return true;
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
  if (ok && strcmp(what, "values") == 0) ok = print_cost(&m, &why);
  if (ok && argc < 2) print_small(&m);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok || m.all.live != 0;
}
