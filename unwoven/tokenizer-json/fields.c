/* fields.c -- what every reader of a part asks of a value, and how a value is refused.

   A refusal has four parts: file, field, found, wanted. A field's full name is built where
   it is needed, from the outside in, as model.vocab or added_tokens[3], long enough to find
   the field in the file. A key that is not known may change ids or not; we cannot tell. So
   it is refused, unless its value says nothing. jansson's functions take null, and answer
   null, zero or false: asking for the third element of a value that is no list is not an
   error, so we may ask first and check the answer where it matters. */

#include <stdio.h>
#include <string.h>
#include "safetensors/excerpt.h"
#include "tokenizer-json/reader.h"

/* As a person names it who reads the file aloud: of an object or a list it helps most to
   know that it is one. */
static const char *kind_of(const json_t *v)
{
  switch (json_typeof(v)) {
  case JSON_NULL: return "null";
  case JSON_TRUE: return "true";
  case JSON_FALSE: return "false";
  case JSON_OBJECT: return "an object";
  case JSON_ARRAY: return "a list";
  case JSON_STRING: return "a string";
  case JSON_INTEGER: return "an integer";
  case JSON_REAL: break;
  }
  return "a number with a point";
}

/* Only strings and integers are worth quoting, and a string may be as long as the
   file, so it is cut. */
static const char *shown(const json_t *v, char buffer[80])
{
  const char *text = json_string_value(v);
  char part[EXCERPT_MAX + 4];
  if (v == NULL) return "missing";
  if (text != NULL)
    snprintf(buffer, 80, "\"%s\"",
      text_excerpt(text, json_string_length(v), EXCERPT_MAX, part));
  else if (json_is_integer(v))
    snprintf(buffer, 80, "%lld", (long long) json_integer_value(v));
  else return kind_of(v);
  return buffer;
}

/* False, as error_found, so that a check can be written: this is so, or refuse. */
bool reader_refuse(struct json_reader *r, const char *field,
  const json_t *found, const char *wanted)
{
  char buffer[80];
  return error_found(r->why, r->file, field, shown(found, buffer),
    wanted);
}

/* By value: names are short and live for one message, and nothing need be freed. A long key
   is shortened. */
struct field_name field_below(const char *where, const char *key)
{
  struct field_name p;
  char part[EXCERPT_MAX + 4];
  snprintf(p.name, sizeof p.name, "%s%s%s", where,
    *where ? "." : "", text_excerpt(key, strlen(key), 40, part));
  return p;
}

/* The name is cut before its number, which says where in a long list to look. */
struct field_name field_element(const char *where, size_t i)
{
  struct field_name p;
  snprintf(p.name, sizeof p.name, "%.130s[%zu]", where, i);
  return p;
}

/* Programs write out every field they have, whether a tokenizer uses it or not, and a newer
   program has more of them: what is null, false or empty asks for nothing. Without this
   exception most files would be refused for fields that say nothing. */
bool value_says_nothing(const json_t *v)
{
  return v == NULL || json_is_null(v) || json_is_false(v)
    || (json_is_string(v) && json_string_length(v) == 0)
    || (json_is_array(v) && json_array_size(v) == 0)
    || (json_is_object(v) && json_object_size(v) == 0);
}

/* Only objects have keys, so every reader that begins with this call knows that it has one.
   keys is one string with a blank after each key, the last one, too, and a key that
   contains a blank is not one of them. A search through a few words is fast enough for what
   is done a dozen times per file. */
bool reader_keys(struct json_reader *r, const char *where,
  json_t *object, const char *keys)
{
  const char *key;
  json_t *v;
  if (!json_is_object(object)) return reader_refuse(r, where, object,
    "an object");
  json_object_foreach(object, key, v) {
    size_t n = strlen(key);
    const char *at = strchr(key, ' ') == NULL ? keys : "";
    while (*at != '\0' && !(strncmp(at, key, n) == 0 && at[n] == ' '))
      at = strchr(at, ' ') + 1;
    if (*at == '\0' && !value_says_nothing(v))
      return reader_refuse(r, field_below(where, key).name, v,
        "a key that this reader knows");
  }
  return true;
}

/* An absent flag has a default, which is not the same for all. A 1 is not a flag. */
bool reader_flag(struct json_reader *r, const char *where, json_t *object,
  const char *key, bool otherwise, bool *out)
{
  json_t *v = json_object_get(object, key);
  *out = v == NULL || json_is_null(v) ? otherwise : json_is_true(v);
  return v == NULL || json_is_null(v) || json_is_boolean(v)
    || reader_refuse(r, field_below(where, key).name, v, "true or false");
}

/* The table of ids is as long as the largest, so a file of ten bytes could ask for a table
   of gigabytes, if we believed it. But each word takes some bytes of the file: in a
   vocabulary without gaps every id is smaller than the number of bytes, and with gaps it
   almost always is. The other limit is several times the size of the largest published
   vocabularies. */
bool reader_id(struct json_reader *r, const char *field,
  const json_t *v, uint32_t *id)
{
  char wanted[64];
  /* Each word takes some bytes of the file, so no honest id is as large as that; a
     small file cannot ask for a large table. */
  size_t max = r->bytes < TOKENIZER_MAX_ID ? r->bytes : TOKENIZER_MAX_ID;
  snprintf(wanted, sizeof wanted, "an integer from 0 to %zu", max - 1);
  if (!json_is_integer(v) || json_integer_value(v) < 0
      || json_integer_value(v) >= (json_int_t) max)
    return reader_refuse(r, field, v, wanted);
  *id = (uint32_t) json_integer_value(v);
  return true;
}

/* All parts but the model may be sequences, so one function goes through a sequence and is
   told what to do with each element. The limit on the length of the field's name bounds how
   deep sequences may be nested, and with it the recursion. */
bool reader_each(struct json_reader *r, const char *where, json_t *v,
  const char *key, read_part *read)
{
  size_t i;
  json_t *each, *list = json_object_get(v, key);
  struct field_name at = field_below(where, key);
  char keys[40];
  snprintf(keys, sizeof keys, "type %s ", key);
  if (!reader_keys(r, where, v, keys)) return false;
  if (strlen(at.name) > 120) return reader_refuse(r, where, v,
    "less nesting");
  if (!json_is_array(list)) return reader_refuse(r, at.name, list, "a list");
  json_array_foreach(list, i, each)
    if (!read(r, field_element(at.name, i).name, each)) return false;
  return true;
}
