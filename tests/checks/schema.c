/* schema.c -- schema SCHEMA.json FILE.json...: whether files have the form that a schema asks for.  A schema has "type", "required", "properties",
   "closed" (no other properties), "values" (of all properties), "items" and "enum", with the meanings of JSON Schema, where "closed"
   is "additionalProperties": false. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool fault(const char *where, const char *what, const char *word)
{ return printf("%s: %s%s\n", where, what, word) < 0; }

static bool has_type(const char *type, const json_t *x)
{
  if (strcmp(type, "object") == 0) return json_is_object(x);
  if (strcmp(type, "array") == 0) return json_is_array(x);
  if (strcmp(type, "number") == 0) return json_is_number(x);
  if (strcmp(type, "string or null") == 0) return json_is_string(x) || json_is_null(x);
  return strcmp(type, "string") == 0 && json_is_string(x);
}

static bool fits(const json_t *schema, json_t *x, const char *where);

static bool object_fits(const json_t *schema, json_t *x, const char *where)
{
  const char *key;
  json_t *value, *name;
  size_t i;
  bool ok = true;
  json_array_foreach(json_object_get(schema, "required"), i, name)
    if (json_object_get(x, json_string_value(name)) == NULL) ok = fault(where, "has no ", json_string_value(name));
  json_object_foreach(x, key, value) {
    char at[400];
    snprintf(at, sizeof at, "%.300s.%.80s", where, key);
    const json_t *of = json_object_get(json_object_get(schema, "properties"), key), *any = json_object_get(schema, "values");
    if (of == NULL && json_is_true(json_object_get(schema, "closed"))) ok = fault(at, "is not of this format", "");
    else if (of != NULL || any != NULL) ok = fits(of != NULL ? of : any, value, at) && ok;
  }
  return ok;
}

static bool fits(const json_t *schema, json_t *x, const char *where)
{
  const char *type = json_string_value(json_object_get(schema, "type"));
  json_t *one, *words = json_object_get(schema, "enum");
  size_t i;
  bool ok = words == NULL;
  json_array_foreach(words, i, one) ok = ok || json_equal(one, x);
  if (!ok) return fault(where, "is none of the words that it may be", "");
  if (type != NULL && !has_type(type, x)) return fault(where, "is not a ", type);
  if (json_is_object(x)) return object_fits(schema, x, where);
  json_array_foreach(x, i, one) {
    char at[400];
    snprintf(at, sizeof at, "%.300s[%zu]", where, i);
    if (json_object_get(schema, "items") != NULL) ok = fits(json_object_get(schema, "items"), one, at) && ok;
  }
  return ok;
}

int main(int argc, char **argv)
{
  json_error_t why;
  json_t *schema = argc > 2 ? json_load_file(argv[1], 0, &why) : NULL;
  bool ok = schema != NULL;
  if (!ok) fprintf(stderr, "schema: usage: schema SCHEMA.json FILE.json...\n");
  for (int i = 2; ok && i < argc; i++) {
    json_t *x = json_load_file(argv[i], 0, &why);
    ok = x == NULL ? fault(argv[i], why.text, "") : fits(schema, x, argv[i]);
    json_decref(x);
  }
  json_decref(schema);
  return !ok;
}
