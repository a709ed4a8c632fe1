/* around.c -- the post-processor: ids that go before and after a text.

   A template is a list in which A is the text, with special tokens before and after it. If
   two templates follow each other, the second one goes around the first. Each id must be
   that of a token, or it could not be decoded. */

#include <string.h>
#include "tokenizer-json/reader.h"

/* A template names a token by its text, in a field that is called id all the same; the
   numbers are in the template's own list, under ids, and only these count. We do not look
   up the text in the vocabulary. */
static bool read_template_token(struct json_reader *r, const char *where,
  json_t *v, json_t *each, struct ids *list)
{
  json_t *name = json_object_get(json_object_get(each,
    "SpecialToken"), "id"), *id;
  if (!json_is_string(name))
    return reader_refuse(r, where, each, "the text A or a SpecialToken");
  json_t *known = json_object_get(json_object_get(v,
    "special_tokens"), json_string_value(name));
  json_t *all = json_object_get(known, "ids");
  size_t i;
  if (!json_is_array(all)) return reader_refuse(r, where, name,
    "one of special_tokens");
  json_array_foreach(all, i, id) {
    uint32_t n;
    if (!reader_id(r, where, id, &n)) return false;
    if (n >= r->t->n_vocab || r->t->vocab[n].text.n == 0)
      return reader_refuse(r, where, id, "the id of a token");
    if (!ids_push(r->m, list, n, r->why)) return false;
  }
  return true;
}

/* The new ids go around those that are there. A row grows only at its end, so a new prefix
   is built. If memory runs out on the way the tokenizer has half a prefix; but then opening
   fails, and it is never used. */
static bool wrap(struct json_reader *r, const struct ids *before,
  const struct ids *after)
{
  struct ids front = { NULL, 0, 0 };
  bool ok = true;
  for (size_t i = 0; ok && i < before->n; i++)
    ok = ids_push(r->m, &front, before->id[i], r->why);
  for (size_t i = 0; ok && i < r->t->prefix_ids.n; i++)
    ok = ids_push(r->m, &front, r->t->prefix_ids.id[i], r->why);
  for (size_t i = 0; ok && i < after->n; i++)
    ok = ids_push(r->m, &r->t->suffix_ids, after->id[i], r->why);
  ids_free(r->m, &r->t->prefix_ids);
  r->t->prefix_ids = front;
  return ok;
}

/* The tokens up to the text A go before it, the rest after it. A template without the text
   would lose it, and one with two would repeat it; so we count them. The file's second
   list, for pairs of texts, is not looked at: a model that writes is given one text. */
static bool read_template(struct json_reader *r, const char *where,
  json_t *v)
{
  struct field_name at = field_below(where, "single");
  json_t *list = json_object_get(v, "single"), *each;
  struct ids before = { NULL, 0, 0 }, after = { NULL, 0, 0 };
  size_t i, texts = 0;
  bool ok = reader_keys(r, where, v, "type single pair special_tokens ") && (json_is_array(list)
    || reader_refuse(r, at.name, list, "a list"));
  /* sort the tokens by the side of the text on which they stand */
  if (ok) json_array_foreach(list, i, each) {
    json_t *text = json_object_get(json_object_get(each, "Sequence"),
      "id");
    bool is_text = json_is_string(text)
      && strcmp(json_string_value(text), "A") == 0;
    if (is_text) texts++;
    else ok = read_template_token(r, field_element(at.name, i).name, v,
      each, texts == 0 ? &before : &after);
    if (!ok) break;
  }
  if (ok && texts != 1)
    ok = error_found(r->why, r->file, at.name,
      texts == 0 ? "without the text A" : "one with the text A twice",
      "a template with the text A once");
  ok = ok && wrap(r, &before, &after);
  ids_free(r->m, &before);
  ids_free(r->m, &after);
  return ok;
}

/* BERT's and RoBERTa's: one token before a text, cls, and one after it, sep; each is a list of its text
   and its id, and only the id counts. */
static bool read_pair(struct json_reader *r, const char *where, json_t *v)
{
  static const char *const key[] = { "cls", "sep" };
  struct ids side[2] = { { NULL, 0, 0 }, { NULL, 0, 0 } };
  bool ok = reader_keys(r, where, v, "type sep cls trim_offsets add_prefix_space ");
  for (int i = 0; i < 2 && ok; i++) {
    json_t *list = json_object_get(v, key[i]), *id = json_array_get(list, 1);
    struct field_name at = field_below(where, key[i]);
    uint32_t n = 0;
    ok = (json_array_size(list) == 2 || reader_refuse(r, at.name, list, "a token's text and its id"))
      && reader_id(r, at.name, id, &n)
      && ((n < r->t->n_vocab && r->t->vocab[n].text.n > 0)
        || reader_refuse(r, at.name, id, "the id of a token"))
      && ids_push(r->m, &side[i], n, r->why);
  }
  ok = ok && wrap(r, &side[0], &side[1]);
  ids_free(r->m, &side[0]);
  ids_free(r->m, &side[1]);
  return ok;
}

/* ByteLevel moves offsets here, on which no id depends. A template comes alone or in a
   sequence with it, as in Llama 3's file; the processors of other families are refused by
   name. */
bool around_read(struct json_reader *r, const char *where, json_t *v)
{
  json_t *type = json_object_get(v, "type");
  const char *name = json_is_string(type) ? json_string_value(type)
    : "";
  if (strcmp(name, "ByteLevel") == 0)
    return reader_keys(r, where, v, BYTE_LEVEL_KEYS);
  if (strcmp(name, "TemplateProcessing") == 0)
    return read_template(r, where, v);
  if (strcmp(name, "RobertaProcessing") == 0 || strcmp(name, "BertProcessing") == 0)
    return read_pair(r, where, v);
  if (strcmp(name, "Sequence") == 0)
    return reader_each(r, where, v, "processors", around_read);
  return reader_refuse(r, field_below(where, "type").name, type,
    "ByteLevel, TemplateProcessing, RobertaProcessing, BertProcessing or Sequence");
}
