/* probe_template.c -- the kind template: what a chat template makes of a conversation. */

#include "templates/jinja.h"
#include "probe.h"

/* true stands for the field content; a text names another; false for none */
static bool continued_field(struct probe_request *q, const char **field)
{
  json_t *v = json_object_get(q->in, "continue_final_message");
  *field = NULL;
  if (v == NULL || json_is_false(v)) return true;
  if (!json_is_true(v) && !json_is_string(v))
    return error_say(q->why, "\"continue_final_message\" is neither true, false nor a text");
  *field = json_is_true(v) ? "content" : json_string_value(v);
  return **field != '\0' || (*field = NULL, true);
}

static void put_spans(struct probe_request *q, const struct jinja_answer *a)
{
  struct json_writer *j = &q->out;
  put_open_as(j, "spans", '[');
  for (size_t i = 0; i < a->n; i++) {
    writer_open(j, '[');
    writer_count(j, a->span[i].from);
    writer_count(j, a->span[i].to);
    writer_close(j, ']');
  }
  writer_close(j, ']');
}

bool probe_template(struct probe_request *q)
{
  size_t n, m;
  struct jinja_answer a;
  const char *source = request_text(q, "template", &n);
  struct jinja_request of = { .messages = json_object_get(q->in, "messages"), .tools = json_object_get(q->in, "tools"),
    .documents = json_object_get(q->in, "documents"), .kwargs = json_object_get(q->in, "kwargs"),
    .add_generation_prompt = request_flag(q, "add_generation_prompt", false), .now = request_text(q, "now", &m) };
  if (!continued_field(q, &of.continued) || !jinja_render(q->o->m, source, n, &of, &a, q->why)) return false;
  put_text_as(&q->out, "text", a.text.n > 0 ? (const char *) a.text.byte : "", a.text.n);
  if (request_flag(q, "spans", false)) put_spans(q, &a);
  jinja_answer_free(q->o->m, &a);
  return true;
}
