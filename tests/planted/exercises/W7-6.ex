==== check
# the program formats talks that are drawn anew; what is right is put together beside it
engine <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "templates/jinja.h"
static const char *const role[] = { "system", "user", "assistant" }, *const word[] = { "Be kind.", "Hi", " Good day. ", "a\nb", "</s>", "" };
int main(int argc, char **argv)
{
  static char source[100000], want[4000];
  FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
  size_t size = f != NULL ? fread(source, 1, sizeof source, f) : 0;
  struct memory m = { .fail_at = 0 };
  struct error why;
  srand((unsigned) time(NULL));
  for (int k = 0; k < 40; k++) {
    json_t *talk = json_array(), *tokens = json_pack("{s:s}", "eos_token", "</s>");
    struct jinja_request q = { .messages = talk, .kwargs = tokens, .add_generation_prompt = k % 2 };
    struct jinja_answer a;
    want[0] = '\0';
    for (int i = 0, n = 1 + rand() % 6; i < n; i++) {
      const char *who = role[rand() % 3], *said = word[rand() % 6];
      json_array_append_new(talk, json_pack("{s:s, s:s}", "role", who, "content", said));
      sprintf(want + strlen(want), "<|%s|>\n%s</s>\n", who, said);
    }
    if (k % 2) strcat(want, "<|assistant|>\n");
    if (!jinja_render(&m, source, size, &q, &a, &why)) return printf("the program fails: %s\n", why.text), 0;
    if (a.text.n != strlen(want) || memcmp(a.text.byte, want, a.text.n) != 0) return printf("it prints %.*s, not %s\n", (int) a.text.n, (char *) a.text.byte, want), 0;
    json_array_append_new(talk, json_pack("{s:s, s:s}", "role", "tool", "content", "x"));
    if (jinja_render(&m, source, size, &q, &a, &why)) return printf("it takes a turn of a tool\n"), 0;
    if (strstr(why.text, "the template says") == NULL || strstr(why.text, "tool") == NULL) return printf("its error does not say which role it was: %s\n", why.text), 0;
  }
  printf("right\n");
}
C
said=$(run "$answer"); [ "$said" = right ] || no "$said"
==== answer
{%- for m in messages %}
{%- if m.role not in ['system', 'user', 'assistant'] %}{{ raise_exception('no turns of ' + m.role) }}{% endif %}
{{- '<|' + m.role + '|>\n' + m.content + eos_token + '\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}
==== wrong
{%- for m in messages %}
{%- if m.role not in ['system', 'user', 'assistant'] %}{{ raise_exception('no turns of ' + m.role) }}{% endif %}
{{- '<|' + m.role + '|>\n' + m.content|trim + eos_token + '\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}
==== skeleton
{# TinyLlama's template #}
