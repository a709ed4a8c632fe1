/* decoder.c -- the decoder: from ids back to text.

   A byte-level vocabulary needs the decoder that joins bytes, and nothing else. With
   characters the decoder is a small program, whose steps change each token and, after the
   step called Fuse, the whole text. The steps of the first sort are carried out here, once
   for all tokens. Of the second sort we know one, which strips a blank from the beginning. */

#include <string.h>
#include "tokenizer-json/reader.h"

/* No encoder adds more than one blank, and none at the end: to strip more would take what
   the model wrote. The step makes sense only for the whole text, so it must come after
   Fuse. */
static bool read_strip(struct json_reader *r, const char *where, json_t *v)
{
  static const char *const key[] = { "start", "stop" };
  json_t *what = json_object_get(v, "content");
  if (!reader_keys(r, where, v, "type content start stop "))
    return false;
  if (!json_is_string(what)
    || strcmp(json_string_value(what), " ") != 0)
    return reader_refuse(r, field_below(where, "content").name, what, "a blank");
  /* read how many blanks are taken from both ends */
  for (int i = 0; i < 2; i++) {
    json_t *n = json_object_get(v, key[i]);
    if (!json_is_integer(n) || json_integer_value(n) < 0
      || json_integer_value(n) > 1 - i)
      return reader_refuse(r, field_below(where, key[i]).name, n,
        i == 0 ? "0 or 1" : "0");
  }
  r->t->strip_prefix_space = json_integer_value(json_object_get(v,
    "start")) == 1;
  /* of the whole text, not of each token */
  return r->fused || reader_refuse(r, where, v, "Strip after Fuse");
}

/* The format allows a pattern in place of the string; no published file has one. */
static bool read_swap(struct json_reader *r, const char *where, json_t *v)
{
  json_t *from = json_object_get(json_object_get(v, "pattern"),
    "String"), *to = json_object_get(v, "content");
  if (!reader_keys(r, where, v, "type pattern content ")) return false;
  if (json_string_length(from) == 0)
    return reader_refuse(r, field_below(where, "pattern").name,
      json_object_get(v, "pattern"), "a String");
  if (!json_is_string(to))
    return reader_refuse(r, field_below(where, "content").name, to, "some text");
  return tokenizer_texts_replace(r->m, r->t, json_string_value(from),
    json_string_length(from), json_string_value(to),
    json_string_length(to), r->why);
}

/* The way back of read_metaspace: what was put before the text is taken off, and
   blocks are blanks again. */
static bool read_block_decoder(struct json_reader *r, const char *where,
  json_t *v)
{
  enum scheme s;
  bool split;
  if (!stages_read_scheme(r, where, v, &s, &split)) return false;
  r->t->strip_prefix_space = s != SCHEME_NEVER;
  return tokenizer_texts_replace(r->m, r->t, BLOCK, strlen(BLOCK), " ", 1,
    r->why);
}

bool decoder_read(struct json_reader *r, const char *where,
  json_t *v)
{
  json_t *type = json_object_get(v, "type");
  const char *name = json_is_string(type) ? json_string_value(type)
    : "";
  if (strcmp(name, "Sequence") == 0)
    return reader_each(r, where, v, "decoders", decoder_read);
  if (!r->t->char_level) return strcmp(name, "ByteLevel") != 0
    ? reader_refuse(r, field_below(where, "type").name, type, "ByteLevel")
    : reader_keys(r, where, v, BYTE_LEVEL_KEYS) && (r->fused = true);
  if (strcmp(name, "Strip") == 0) return read_strip(r, where, v);
  if (strcmp(name, "Fuse") == 0)
    return reader_keys(r, where, v, "type ") && (r->fused = true);
  /* Steps before Fuse change tokens, and are done here, once for each; after it they
     would change the whole text. */
  if (r->fused) return reader_refuse(r, field_below(where, "type").name, type,
    "only Strip after Fuse");
  if (strcmp(name, "ByteFallback") == 0)
    return reader_keys(r, where, v, "type ")
      && tokenizer_texts_as_bytes(r->m, r->t, r->why);
  if (strcmp(name, "Replace") == 0)
    return read_swap(r, where, v);
  if (strcmp(name, "Metaspace") == 0)
    return read_block_decoder(r, where, v);
  return reader_refuse(r, field_below(where, "type").name, type,
    "Sequence, Replace, ByteFallback, Fuse, Strip or Metaspace");
}
