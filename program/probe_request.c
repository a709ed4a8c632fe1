/* probe_request.c -- a question of the probe: are its keys those of its kind, and what are their
   values?

   Every value is checked against the letter of its key before any function of a kind runs
   (request_check_keys). So what takes values out of a question may rely on their types, and
   checks only what a type cannot say: that an id is below vocab_size, that a text is no empty
   one. Nothing here writes to the answer, and nothing depends on a kind. */

#include <inttypes.h>
#include <string.h>
#include "safetensors/jsonfile.h"
#include "probe_request.h"

/* the types of values by letter, with the words that a wrong value is told */
static const struct { char letter; const char *words; }
  value_type[] = {
  {'s', "a text"}, {'b', "true or false"},
  {'n', "an integer from 0 on"},
  {'u', "an integer from 0 to 4294967295"}, {'i', "an integer"},
  {'x', "a number"}, {'a', "a list"}, {'o', "an object"},
  {'p', "a text or null"}, {'e', "a list or null"},
  {'r', "a list or a text"}, {'*', "anything"}
};

static const char *words_of_type(char letter)
{
  size_t i = 0;
  while (value_type[i].letter != letter) i++;
  return value_type[i].words;
}

/* An integer is one only if it was written without a point: then no two programs can disagree
   about which integer it is. (Many read every number as a double, which holds all integers only
   up to 2^53.) */
static bool value_fits(char letter, json_t *v)
{
  json_int_t n = json_integer_value(v);
  switch (letter) {
  case 's': return json_is_string(v);
  case 'b': return json_is_boolean(v);
  case 'n': return json_is_integer(v) && n >= 0;
  case 'u': return json_is_integer(v) && n >= 0 && n <= UINT32_MAX;
  case 'i': return json_is_integer(v);
  case 'x': return json_is_number(v);
  case 'a': return json_is_array(v);
  case 'p': return json_is_string(v) || json_is_null(v);
  case 'e': return json_is_array(v) || json_is_null(v);
  case 'r': return json_is_array(v) || json_is_string(v);
  case '*': return true;
  default: return json_is_object(v);
  }
}

static bool check_value(const struct key_row *k, json_t *v,
  struct error *why)
{
  char buffer[64];
  if (!value_fits(k->letter, v))
    return error_say(why, "\"%s\" is %s; wanted: %s", k->name,
      jsonfile_excerpt(v, buffer), words_of_type(k->letter));
  return true;
}

/* Every key must be in the list: a misspelt one would otherwise be ignored, and the answer be
   that to another question. Used for the line itself and for the object "params" inside it. */
bool request_check_keys(json_t *object, const struct key_row *keys,
  size_t n, struct error *why)
{
  for (void *at = json_object_iter(object); at != NULL;
      at = json_object_iter_next(object, at)) {
    const char *name = json_object_iter_key(at);
    size_t i = 0;
    while (i < n && strcmp(keys[i].name, name) != 0) i++;
    if (i == n) return error_say(why, "\"%s\" is no key here", name);
    if (!check_value(&keys[i], json_object_iter_value(at), why))
      return false;
  }
  for (size_t i = 0; i < n; i++)
    if (keys[i].required
        && json_object_get(object, keys[i].name) == NULL)
      return error_say(why, "\"%s\" is missing", keys[i].name);
  return true;
}

bool request_flag(const struct probe_request *q, const char *key, bool normal)
{
  json_t *v = json_object_get(q->in, key);
  return v == NULL ? normal : json_is_true(v);
}

uint64_t request_count(const struct probe_request *q, const char *key)
{
  return (uint64_t) json_integer_value(json_object_get(q->in, key));
}

const char *request_text(const struct probe_request *q, const char *key, size_t *n)
{
  json_t *v = json_object_get(q->in, key);
  *n = json_string_length(v);
  return json_string_value(v);
}

/* a list may be empty here; whether that makes sense the kind decides */
bool request_ids_from(const struct probe_request *q, json_t *from, const char *key,
  struct ids *list)
{
  for (size_t i = 0; i < json_array_size(from); i++) {
    json_t *v = json_array_get(from, i);
    json_int_t id = json_integer_value(v);
    bool ok = json_is_integer(v) && id >= 0 && id < q->vocab_size;
    if (!ok) error_say(q->why, "\"%s\"[%zu] is no id;"
        " wanted: an integer from 0 to %" PRIu32, key, i,
        q->vocab_size - 1);
    if (!ok || !ids_push(q->o->m, list, (uint32_t) id, q->why)) {
      ids_free(q->o->m, list);
      return false;
    }
  }
  return true;
}

bool request_ids(const struct probe_request *q, const char *key, struct ids *list)
{
  return request_ids_from(q, json_object_get(q->in, key), key, list);
}

bool request_stops(const struct probe_request *q, struct stop_string **list, size_t *n)
{
  json_t *from = json_object_get(q->in, "stop");
  *n = json_array_size(from);
  *list = memory_alloc(q->o->m, MEMORY_OTHER, *n, sizeof **list, q->why);
  for (size_t i = 0; *list != NULL && i < *n; i++) {
    json_t *v = json_array_get(from, i);
    (*list)[i].byte = (const unsigned char *) json_string_value(v);
    (*list)[i].n = json_string_length(v);
    if (json_string_length(v) > 0) continue;
    memory_free(q->o->m, *list);
    *list = NULL;
    return error_say(q->why, "\"stop\"[%zu] is no string, or an empty one;"
      " wanted: texts", i);
  }
  return *list != NULL;
}

bool request_hex(const struct probe_request *q, const char *text, size_t n,
  unsigned char *byte)
{
  return jsonfile_hex(text, n, byte)
    || error_say(q->why, "\"hex\" is no list of bytes; wanted: two digits for each");
}
