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
#include "templates/shown.inc"

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
