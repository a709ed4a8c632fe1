/* jinja_chat.c -- a conversation goes through a template: what the library does before and after, and the run itself.

   Before: null keys are dropped; what a message calls its reasoning is put under the three names that templates look for. After: a text
   that is to go on within the last message is cut where that message ends, which a tag has marked. */

#include <string.h>
#include "templates/jinja_inside.h"

static const char tag[] = "CONTINUE_FINAL_MESSAGE_TAG ";
static const char *const reasoning_fields[] = { "reasoning_content", "thinking", "reasoning" };
enum { REASONING_FIELDS = 3 };

static bool set_word(struct jinja_run *r, struct jinja_dict *d, const char *word, struct jinja_value v)
{
  struct jinja_value key;
  return jinja_words(r, word, &key) && jinja_dict_set(r, d, key, v);
}

/* the message without null keys; with its reasoning under thinking, as the first key, and under reasoning_content */
static bool make_message(struct jinja_run *r, const struct jinja_dict *from, struct jinja_dict **out)
{
  const struct jinja_value *why = NULL, *v;
  struct jinja_dict *d = jinja_dict_new(r);
  for (size_t i = 0; why == NULL && i < REASONING_FIELDS; i++) {
    v = jinja_dict_word(from, reasoning_fields[i], strlen(reasoning_fields[i]));
    if (v != NULL && v->kind != JINJA_NONE) why = v;
  }
  if (d == NULL || (why != NULL && !set_word(r, d, "thinking", *why))) return false;
  for (size_t i = 0; i < from->n; i++)
    if (from->pair[i].value.kind != JINJA_NONE && !jinja_dict_set(r, d, from->pair[i].key, from->pair[i].value)) return false;
  *out = d;
  return why == NULL || set_word(r, d, "reasoning_content", *why);
}

/* accounts for all texts of a value */
static void account_for(struct jinja_run *r, const struct jinja_value *v)
{
  if (v->kind == JINJA_TEXT) jinja_said(r, v->as.text);
  else if (v->kind == JINJA_LIST) for (size_t i = 0; i < v->as.list->n; i++) account_for(r, &v->as.list->item[i]);
  else if (v->kind == JINJA_DICT) for (size_t i = 0; i < v->as.dict->n; i++) {
    account_for(r, &v->as.dict->pair[i].key);
    account_for(r, &v->as.dict->pair[i].value);
  }
}

/* A message's role is the program's word, and so are the names of its fields. */
static void account_for_message(struct jinja_run *r, const struct jinja_dict *d)
{
  for (size_t i = 0; r->account && i < d->n; i++)
    if (d->pair[i].key.kind == JINJA_TEXT && !JINJA_IS(d->pair[i].key.as.text, "role")) account_for(r, &d->pair[i].value);
}

static bool make_messages(struct jinja_run *r, json_t *j, struct jinja_list **out)
{
  struct jinja_list *l = jinja_list_new(r, 0);
  if (l == NULL) return false;
  if (!json_is_array(j) || json_array_size(j) == 0) return jinja_fail(r, "a conversation needs at least one message");
  for (size_t i = 0; i < json_array_size(j); i++) {
    struct jinja_value v;
    struct jinja_dict *d;
    if (!json_is_object(json_array_get(j, i))) return jinja_fail(r, "message %zu is no object", i + 1);
    if (!jinja_from_json(r, json_array_get(j, i), &v)) return false;
    account_for_message(r, v.as.dict);
    if (!make_message(r, v.as.dict, &d) || !jinja_push(r, l, jinja_dicted(d))) return false;
  }
  *out = l;
  return true;
}

/* tools or documents: a list of objects, or null */
static bool make_objects(struct jinja_run *r, json_t *j, const char *what, struct jinja_value *out)
{
  *out = jinja_none();
  if (j == NULL || json_is_null(j)) return true;
  if (!json_is_array(j)) return jinja_fail(r, "%s is no list", what);
  for (size_t i = 0; i < json_array_size(j); i++)
    if (!json_is_object(json_array_get(j, i))) return jinja_fail(r, "number %zu of %s is no object", i + 1, what);
  return jinja_from_json(r, j, out);
}

/* ---- a text that goes on within the last message ---- */

static bool add_tag(struct jinja_run *r, struct jinja_value *v)
{
  struct jinja_text end = { tag, sizeof tag - 1, sizeof tag - 1 };
  if (v->kind != JINJA_TEXT) return jinja_fail(r, "only text can be continued, not %s", jinja_kind_name(v));
  return jinja_text_join(r, v->as.text, &end, v);
}

static bool occurs(const char *source, size_t n, const char *word)
{
  size_t k = strlen(word);
  for (size_t i = 0; i + k <= n; i++) if (memcmp(source + i, word, k) == 0) return true;
  return false;
}

/* the last part of a list that has a text */
static bool tag_part(struct jinja_run *r, struct jinja_value *field, struct jinja_value *said)
{
  struct jinja_list *l = jinja_list_new(r, field->as.list->n);
  if (l == NULL) return false;
  for (size_t i = 0; i < field->as.list->n; i++) if (!jinja_push(r, l, field->as.list->item[i])) return false;
  *field = jinja_listed(JINJA_LIST, l);
  for (size_t i = l->n; i-- > 0;) {
    if (l->item[i].kind != JINJA_DICT) return jinja_fail(r, "a part of the last message is no object");
    struct jinja_value *v = (struct jinja_value *) jinja_dict_word(l->item[i].as.dict, "text", 4);
    if (v == NULL) continue;
    *said = *v;
    return add_tag(r, v);
  }
  return jinja_fail(r, "the last message has no text that could go on");
}

/* Puts the tag behind a field of the last message, and behind its copies if it is reasoning; said becomes what the field said. */
static bool mark_end(struct jinja_run *r, const struct jinja_dict *last, const char *field, const char *source, size_t n,
  struct jinja_value *said)
{
  struct jinja_value *v = (struct jinja_value *) jinja_dict_word(last, field, strlen(field)), *of[REASONING_FIELDS] = { v };
  bool reasoning = false, named, same;
  size_t k = 0;
  if (v == NULL) return jinja_fail(r, "the last message has no %s that could go on", field);
  for (size_t i = 0; i < REASONING_FIELDS; i++) reasoning = reasoning || strcmp(field, reasoning_fields[i]) == 0;
  named = !reasoning && occurs(source, n, field);
  *said = *v;
  if (!reasoning) k = 1;
  else for (size_t i = 0; i < REASONING_FIELDS; i++) {
    struct jinja_value *w = (struct jinja_value *) jinja_dict_word(last, reasoning_fields[i], strlen(reasoning_fields[i]));
    if (w == NULL) continue;
    if (!jinja_equal(r, w, said, &same)) return false;
    if (!same) continue;
    named = named || occurs(source, n, reasoning_fields[i]);
    of[k++] = w;
  }
  if (!named) return jinja_fail(r, "the template does not mention %s, which is to go on", field);
  if (v->kind == JINJA_LIST) return tag_part(r, v, said);
  for (size_t i = 0; i < k; i++) if (!add_tag(r, of[i])) return false;
  return true;
}

/* Cuts the text before the last tag; if the blank of the tag was stripped, so was what comes before it. */
static bool cut_end(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *said)
{
  struct jinja_text all = { (const char *) o->byte, o->n, o->points };
  struct jinja_value bare, rest;
  size_t at, k = sizeof tag - 2, from = o->n;
  if (!jinja_strip(r, said, NULL, &bare) || !jinja_find(r, &all, 0, bare.as.text, &at)) return false;
  while (from-- > 0) if (from + k <= o->n && memcmp(o->byte + from, tag, k) == 0) break;
  if (at > o->n || from == SIZE_MAX) return jinja_fail(r, "the last message does not appear in the text");
  bool whole = from + k < o->n && o->byte[from + k] == ' ';
  o->n = from;
  if (whole) return true;
  static const struct jinja_text name = { "rstrip", 6, 6 };
  struct jinja_call none = { .item = NULL };
  struct jinja_value method;
  if (!jinja_text_of(r, (const char *) o->byte, o->n, &bare) || !jinja_attribute(r, &bare, &name, &method)
    || !jinja_invoke(r, &method, &none, &rest)) return false;
  o->n = rest.as.text->n;
  return true;
}

/* ---- the run ---- */

static bool is_given(const char *name)
{
  static const char *const given[] = { "messages", "tools", "documents", "add_generation_prompt" };
  for (size_t i = 0; i < 4; i++) if (strcmp(name, given[i]) == 0) return true;
  return false;
}

/* what the template sees: the conversation, the caller's variables, the functions */
static bool fill_context(struct jinja_run *r, const struct jinja_request *q, struct jinja_list *messages)
{
  struct jinja_dict *d = jinja_dict_new(r);
  struct jinja_value tools, documents, v;
  if (d == NULL || !make_objects(r, q->tools, "tools", &tools) || !make_objects(r, q->documents, "documents", &documents)) return false;
  for (void *at = q->kwargs == NULL ? NULL : json_object_iter(q->kwargs); at != NULL; at = json_object_iter_next(q->kwargs, at)) {
    if (is_given(json_object_iter_key(at))) return jinja_fail(r, "%s is given twice", json_object_iter_key(at));
    struct jinja_value key;
    if (!jinja_text_copy(r, json_object_iter_key(at), json_object_iter_key_len(at), &key)
      || !jinja_from_json(r, json_object_iter_value(at), &v) || !jinja_dict_set(r, d, key, v)) return false;
  }
  if (!set_word(r, d, "messages", jinja_listed(JINJA_LIST, messages)) || !set_word(r, d, "tools", tools)
    || !set_word(r, d, "documents", documents) || !set_word(r, d, "add_generation_prompt", jinja_bool(q->add_generation_prompt))) return false;
  if ((r->context = jinja_room(r, r->n_names, sizeof *r->context)) == NULL) return false;
  for (size_t i = 0; i < r->n_names; i++) {
    const struct jinja_text *name = r->names[i];
    const struct jinja_value *found = jinja_dict_word(d, name->byte, name->n);
    const struct jinja_function *f = jinja_function_named(name->byte, name->n);
    if (found != NULL) r->context[i] = *found;
    else if (f != NULL) r->context[i] = (struct jinja_value) { .kind = JINJA_FUNCTION, .as.function = f };
  }
  return true;
}

static bool run(struct jinja_run *r, const char *source, size_t n, const struct jinja_request *q, struct jinja_output *o)
{
  struct jinja_list *messages = NULL;
  struct jinja_value said;
  if (q->continued != NULL && q->add_generation_prompt)
    return jinja_fail(r, "a text goes on within the last message, or asks for an answer, not both");
  struct jinja_node *root = jinja_parse(r, source, n);
  if (root == NULL || !jinja_resolve(r, root)) return false;
  r->line = 0;
  if (!make_messages(r, q->messages, &messages)) return false;
  if (q->continued != NULL && !mark_end(r, messages->item[messages->n - 1].as.dict, q->continued, source, n, &said)) return false;
  if (!fill_context(r, q, messages)) return false;
  r->out = r->root = o;
  return jinja_execute(r, root) && (r->line = 0, q->continued == NULL || cut_end(r, o, &said));
}

bool jinja_render(struct memory *m, const char *source, size_t n, const struct jinja_request *q, struct jinja_answer *out,
  struct error *why)
{
  struct jinja_run r = { .m = m, .why = why, .answer = out, .now = q->now, .account = q->account };
  struct jinja_output o = { .byte = NULL };
  *out = (struct jinja_answer) { .n = 0 };
  bool ok = run(&r, source, n, q, &o);
  jinja_heap_free(&r);
  out->text = (struct bytes) { o.byte, o.n, o.cap };
  out->said = o.said;
  out->steps = r.steps;
  if (!ok) jinja_answer_free(m, out);
  return ok;
}

void jinja_answer_free(struct memory *m, struct jinja_answer *a)
{
  bytes_free(m, &a->text);
  memory_free(m, a->said);
  memory_free(m, a->span);
  *a = (struct jinja_answer) { .n = 0 };
}
