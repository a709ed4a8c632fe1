/* jinja.c -- a chat template and a conversation: the source, and behind a line of percent signs the messages, tools and variables in JSON.
   Whatever is printed is UTF-8, whatever is refused has a sentence, and nothing is left. */
#include "fuzz.h"
#include "templates/jinja.h"
#include "tokens/utf8.h"

FUZZ(jinja)
{
  static const char talk[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"Où?\"},{\"role\":\"assistant\",\"content\":\"there\",\"thinking\":\"hm\"}],"
                             "\"tools\":[{\"function\":{\"name\":\"f\"}}],\"kwargs\":{\"n\":7,\"x\":2.5,\"xs\":[3,1,2],\"d\":{\"b\":2,\"a\":null},\"s\":\"a b\\nc\"}}";
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct jinja_answer a;
  const uint8_t *part;
  size_t n = next_part(&data, &size, &part);
  for (size_t i = 0; i < n;) { /* the callers' sources come out of JSON or are checked like it */
    enum utf8_state state;
    i += utf8_next(part + i, n - i, &state);
    if (state != UTF8_WHOLE) return 0;
  }
  json_t *q = size > 0 ? json_loadb((const char *) data, size, JSON_ALLOW_NUL, NULL) : NULL;
  if (!json_is_object(q)) json_decref(q), q = json_loads(talk, 0, NULL);
  json_t *kwargs = json_object_get(q, "kwargs");
  const char *on = json_string_value(json_object_get(q, "on"));
  struct jinja_request of = { .messages = json_object_get(q, "messages"), .tools = json_object_get(q, "tools"),
    .documents = json_object_get(q, "documents"), .kwargs = json_is_object(kwargs) ? kwargs : NULL, .continued = on,
    .add_generation_prompt = json_is_true(json_object_get(q, "ask")), .account = n % 2 == 1, .now = "2026-03-09T14:05:07" };
  if (!jinja_render(&m, (const char *) part, n, &of, &a, &why)) must(why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
  else {
    for (size_t i = 0; i < a.text.n;) {
      enum utf8_state state;
      i += utf8_next(a.text.byte + i, a.text.n - i, &state);
      must(state == UTF8_WHOLE);
    }
    must((a.said != NULL) == (n % 2 == 1 && a.text.byte != NULL));
    for (size_t i = 0; i < a.text.n; i++) must(a.said == NULL || a.said[i] < 2);
    for (size_t i = 0; i < a.n; i++) must(a.span[i].from <= a.span[i].to);
    jinja_answer_free(&m, &a);
  }
  json_decref(q);
  must(m.all.live == 0 && m.all.peak < (UINT64_C(400) << 20));
  return 0;
}
