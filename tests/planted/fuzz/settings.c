/* settings.c -- the settings that a page sends, beside jansson: what the page's reader takes is JSON, with the same strings and numbers,
 * and what is JSON it refuses only for what it does not know: lists, objects, null, a name of 32 bytes or more, a number of 64 characters or more. */
#include <jansson.h>
#include "fuzz.h"
#include "living/json.h"

static bool as_jansson(const json_t *all, const struct page_field *f)
{
  const json_t *v = json_object_get(all, f->name);
  if (v == NULL) return false;
  if (f->kind == PAGE_FLAG) return f->flag ? json_is_true(v) : json_is_false(v);
  if (f->kind == PAGE_NUMBER) return json_is_number(v) && json_number_value(v) == f->number;
  return json_is_string(v) && json_string_length(v) == f->text.n
    && (f->text.n == 0 || memcmp(json_string_value(v), f->text.byte, f->text.n) == 0);
}

static bool is_flat(json_t *all)
{
  const char *name;
  json_t *v;
  json_object_foreach(all, name, v)
    if (!json_is_string(v) && !json_is_number(v) && !json_is_boolean(v)) return false;
    else if (strlen(name) >= 32) return false;
  return true;
}

/* a name with a zero byte, or twice in an object, is beyond what jansson can be asked for */
static bool is_plain(const uint8_t *data, size_t size)
{
  static const char zero[] = "\\u0000";
  if (memchr(data, 0, size) != NULL) return false;
  return memmem(data, size, zero, 6) == NULL;
}

FUZZ(settings)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  struct page_reader r = { .m = &m, .at = text, .from = text, .end = text + size, .why = &why };
  struct page_field f = { .number = 0 };
  json_error_t e;
  json_t *all = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &e);
  bool more = true, ok = true;
  why.text[0] = '\0';
  while (ok && more) {
    ok = page_next(&r, &f, &more);
    if (ok && more && all != NULL && is_plain(data, size)) must(as_jansson(all, &f));
  }
  must(ok || why.text[0] != '\0');
  /* a name twice is the last of the two; bytes that are no character are passed on to the tokenizer */
  if (all == NULL && ok && is_plain(data, size))
    must(json_error_code(&e) == json_error_duplicate_key || json_error_code(&e) == json_error_invalid_utf8);
  if (json_is_object(all) && !ok && is_plain(data, size)) must(!is_flat(all) || strstr(why.text, "fewer than 64 characters") != NULL);
  json_decref(all);
  bytes_free(&m, &f.text), free(text);
  must(m.all.live == 0);
  cheap(&m, size);
  return 0;
}
