/* stages.c -- normalizer and pre-tokenizer: each stage of the file becomes up to three
   steps of ours.

   Sequences may be nested, and are taken apart until single stages are left; the order of
   the file is the order in which they work. A pattern that cannot be compiled is the file's
   fault, so PCRE2's message becomes what was found. Strings go into the pool of strings,
   which tokenizer_index_added points into: so every stage is read before that. */

#include <stdio.h>
#include <string.h>
#include "safetensors/excerpt.h"
#include "tokenizer-json/reader.h"
#include "tokenizer-json/dialects.h"

/* The message of PCRE2, or of the allocator, with the name of the field that asked. */
static bool or_refuse(struct json_reader *r, const char *where, bool ok,
  const struct error *inner)
{
  return ok || error_found(r->why, r->file, where, inner->text,
    "a pattern that can be used, and at most 16 stages");
}

bool stages_cut_at(struct json_reader *r, const char *where,
  const char *pattern, size_t n)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_split(r->m, r->t, pattern, n, &inner),
    &inner);
}

static bool put_before(struct json_reader *r, const char *where,
  const char *words, size_t n, bool first_only, bool unless_there)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_string(r->m, r->t,
    (struct text_step) { .what = STEP_PREPEND, .first_only = first_only,
    .unless_there = unless_there }, words, n, NULL, 0, false,
    &inner), &inner);
}

/* a string, or the matches of a pattern */
static bool put_instead(struct json_reader *r, const char *where,
  const char *pattern, size_t n, bool literal, const char *words,
  size_t n_words)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_string(r->m, r->t,
    (struct text_step) { .what = STEP_REPLACE }, words, n_words, pattern,
    n, literal, &inner), &inner);
}

/* Asked before the pattern is compiled, since PCRE2 would take it, with a meaning of its
   own. The message quotes the pattern from the part that is refused on, and counts bytes
   from 1, as people count, since a pattern may be longer than a line. */
static bool same_in_both(struct json_reader *r, const char *where,
  json_t *regex)
{
  const char *pattern = json_string_value(regex);
  size_t n = json_string_length(regex), at = 0;
  const char *wrong = dialects_differ(pattern, n, &at);
  if (wrong == NULL) return true;
  char text[EXCERPT_MAX + 4], found[128];
  snprintf(found, sizeof found, "%s: `%s' at byte %zu", wrong,
    text_excerpt(pattern + at, n - at, 16, text), at + 1);
  return error_found(r->why, r->file, where, found,
    "a pattern that PCRE2 and Oniguruma read alike");
}

/* The pattern is a regular expression, or a plain string, in which a dot is a dot. Every
   match becomes a piece of its own (Isolated), or matches are dropped (Removed); inverted,
   the gaps are the pieces: a step has a flag for matches and one for gaps, and what cuts
   need not know why. Two more behaviours glue a match to a neighbour; no byte-level
   tokenizer that we have met uses them. */
static bool read_split(struct json_reader *r, const char *where, json_t *v)
{
  struct field_name at = field_below(where, "pattern");
  json_t *pattern = json_object_get(v, "pattern"), *how =
    json_object_get(v, "behavior");
  json_t *regex = json_object_get(pattern, "Regex"), *text =
    json_object_get(pattern, "String");
  bool invert;
  if (!reader_keys(r, where, v, "type pattern behavior invert ")
    || !reader_keys(r, at.name, pattern, "Regex String ")
    || !reader_flag(r, where, v, "invert", false, &invert)) return false;
  json_t *given = regex != NULL ? regex : text;
  if (json_string_length(given) == 0)
    return reader_refuse(r, at.name, given, "a Regex or a String");
  if (regex != NULL && !same_in_both(r, at.name, regex)) return false;
  /* see whether matches are kept or removed */
  const char *name = json_is_string(how) ? json_string_value(how)
    : "";
  bool removed = strcmp(name, "Removed") == 0;
  if (!removed && strcmp(name, "Isolated") != 0)
    return reader_refuse(r, field_below(where, "behavior").name, how,
      "Isolated or Removed");
  struct text_step s = { .what = STEP_SPLIT,
    .keep_matches = !removed || invert,
    .keep_gaps = !removed || !invert };
  struct error inner = { "" };
  return or_refuse(r, at.name, tokenizer_add_step(r->m, r->t, s,
    json_string_value(given), json_string_length(given),
    regex == NULL, &inner), &inner);
}

/* The scheme replaces the older flag, and counts if a file has both, but must not
   contradict it. */
static bool choose_scheme(struct json_reader *r, const char *where,
  json_t *v, enum scheme *s)
{
  static const char *const name[] = { "never", "first",
    "always" };
  json_t *how = json_object_get(v, "prepend_scheme");
  const char *text = json_string_value(how);
  if (how == NULL || json_is_null(how)) return true;
  int i = 0;
  while (i < 3 && (text == NULL || strcmp(text, name[i]) != 0)) i++;
  if (i == 3 || (i != SCHEME_NEVER && *s == SCHEME_NEVER))
    return reader_refuse(r, field_below(where, "prepend_scheme").name, how,
      i == 3 ? "never, first or always"
      : "never, as add_prefix_space is false");
  return *s = (enum scheme) i, true;
}

/* Files from before the schemes have a flag in their place. Only the one character that all
   files use is taken: the decoder undoes it by name. */
bool stages_read_scheme(struct json_reader *r, const char *where,
  json_t *v, enum scheme *s, bool *split)
{
  bool put;
  json_t *mark = json_object_get(v, "replacement");
  if (!reader_keys(r, where, v, "type replacement split str_rep "
    "add_prefix_space prepend_scheme ")
    || !reader_flag(r, where, v, "add_prefix_space", true, &put)
    || !reader_flag(r, where, v, "split", true, split)) return false;
  if (!json_is_string(mark)
    || strcmp(json_string_value(mark), BLOCK) != 0)
    return reader_refuse(r, field_below(where, "replacement").name, mark,
      "the block U+2581");
  *s = put ? SCHEME_ALWAYS : SCHEME_NEVER;
  return choose_scheme(r, where, v, s);
}

/* Blanks become blocks; a block is put before the text, never, always, or only where the
   whole text begins; the text is cut before every block. No block is put where the text
   already begins with one, even one that was a blank; in this the newer form differs from
   the older, whose files prepend first and replace afterwards. */
static bool read_metaspace(struct json_reader *r, const char *where,
  json_t *v)
{
  static const char pattern[] = BLOCK "[^" BLOCK "]*";
  enum scheme s;
  bool split;
  if (!stages_read_scheme(r, where, v, &s, &split)) return false;
  /* Where the whole text begins has two meanings once the normalizer has removed
     something. */
  for (size_t k = 0; s == SCHEME_FIRST && k < r->t->n_normalizers; k++)
    if (r->t->step[k].what == STEP_REPLACE)
      return reader_refuse(r, field_below(where, "prepend_scheme").name,
        json_object_get(v, "prepend_scheme"),
        "never or always, after a Replace");
  return put_instead(r, where, " ", 1, true, BLOCK, strlen(BLOCK))
    && (s == SCHEME_NEVER || put_before(r, where, BLOCK, strlen(BLOCK),
    s == SCHEME_FIRST, true))
    && (!split || stages_cut_at(r, where, pattern, strlen(pattern)));
}

/* All that Unicode counts as numbers, as the makers' own library does: an Arabic four is
   cut out like an ASCII one, and so is a half, which is one character. */
static bool read_digits(struct json_reader *r, const char *where, json_t *v)
{
  bool single;
  return reader_keys(r, where, v, "type individual_digits ")
    && reader_flag(r, where, v, "individual_digits", false, &single)
    && stages_cut_at(r, where, single ? "\\p{N}" : "\\p{N}+", single ? 5 : 6);
}

/* It may put a blank before the text, and it may cut; both flags are true if they are
   absent. Nothing is left to do for its alphabet: our words are bytes already. */
static bool read_byte_level(struct json_reader *r, const char *where,
  json_t *v)
{
  bool blank, regex;
  r->in_bytes = true;
  return reader_keys(r, where, v, BYTE_LEVEL_KEYS)
    && reader_flag(r, where, v, "add_prefix_space", true, &blank)
    && reader_flag(r, where, v, "use_regex", true, &regex)
    && (!blank || put_before(r, where, " ", 1, false, true))
    && (!regex || stages_cut_at(r, where, split_gpt2, strlen(split_gpt2)));
}

/* ByteLevel must come last, if it comes at all: a stage after it would see the letters of
   its alphabet instead of the text, where a byte of an accented letter may look like a
   digit. */
bool stages_read(struct json_reader *r, const char *where, json_t *v)
{
  json_t *name = json_object_get(v, "type");
  const char *type = json_string_value(name);
  if (type == NULL) return reader_refuse(r, field_below(where, "type").name, name,
    "the name of a stage");
  if (strcmp(type, "Sequence") == 0)
    return reader_each(r, where, v, "pretokenizers", stages_read);
  if (r->in_bytes) return reader_refuse(r, field_below(where, "type").name, name,
    "no stage after ByteLevel");
  if (strcmp(type, "Split") == 0) return read_split(r, where, v);
  if (strcmp(type, "Digits") == 0) return read_digits(r, where, v);
  if (strcmp(type, "Metaspace") == 0) return read_metaspace(r, where, v);
  if (strcmp(type, "ByteLevel") == 0) return read_byte_level(r, where, v);
  return reader_refuse(r, field_below(where, "type").name, name,
    "Sequence, Split, Digits, Metaspace or ByteLevel");
}

/* An empty pattern would match everywhere; an empty replacement is a removal, and allowed. */
static bool read_replace(struct json_reader *r, const char *where,
  json_t *v)
{
  struct field_name at = field_below(where, "pattern");
  json_t *pattern = json_object_get(v, "pattern"), *by =
    json_object_get(v, "content");
  json_t *regex = json_object_get(pattern, "Regex"), *given =
    regex != NULL ? regex : json_object_get(pattern, "String");
  if (!reader_keys(r, where, v, "type pattern content ")
    || !reader_keys(r, at.name, pattern, "Regex String ")) return false;
  if (json_string_length(given) == 0)
    return reader_refuse(r, at.name, given, "a Regex or a String");
  if (regex != NULL && !same_in_both(r, at.name, regex)) return false;
  if (!json_is_string(by))
    return reader_refuse(r, field_below(where, "content").name, by, "some text");
  return put_instead(r, at.name, json_string_value(given),
    json_string_length(given), regex == NULL, json_string_value(by),
    json_string_length(by));
}

/* It has neither pattern nor words, so only the number of stages can refuse it. */
static bool compose_too(struct json_reader *r, const char *where)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_step(r->m, r->t,
    (struct text_step) { .what = STEP_NFC }, NULL, 0, false, &inner),
    &inner);
}

/* NFC, and the two steps by which Llama's files prepend a block and replace blanks. The
   normalizers that are refused change letters for good: they make them small, take accents
   off, part ligatures. Without them the ids would be others. */
bool stages_read_normalizer(struct json_reader *r, const char *where,
  json_t *v)
{
  if (json_is_null(v) || v == NULL) return true;
  json_t *type = json_object_get(v, "type"), *put =
    json_object_get(v, "prepend");
  const char *name = json_is_string(type) ? json_string_value(type)
    : "";
  if (strcmp(name, "Sequence") == 0)
    return reader_each(r, where, v, "normalizers", stages_read_normalizer);
  if (strcmp(name, "NFC") == 0)
    return reader_keys(r, where, v, "type ") && compose_too(r, where);
  if (strcmp(name, "Replace") == 0) return read_replace(r, where, v);
  if (strcmp(name, "Prepend") != 0)
    return reader_refuse(r, field_below(where, "type").name, type,
      "NFC, Prepend, Replace or Sequence");
  return reader_keys(r, where, v, "type prepend ")
    && (json_is_string(put) || reader_refuse(r, field_below(where, "prepend").name,
    put, "some text")) && put_before(r, where, json_string_value(put),
    json_string_length(put), false, false);
}
