/* reader.h -- what the readers of the parts of a tokenizer.json share */
#ifndef INCIPIT_JSON_READER_H
#define INCIPIT_JSON_READER_H
#include <jansson.h>
#include "tokenizer-json/tokenizer_json.h"

/* the character U+2581, which older vocabularies write for a blank */
#define BLOCK "\xe2\x96\x81"

/* the keys of the stage ByteLevel, which may be part of three of the five parts */
#define BYTE_LEVEL_KEYS "type add_prefix_space trim_offsets use_regex "

/* The tokenizer to be filled, the file for messages, a buffer, the vocabulary, with which added
   tokens are compared, and the bytes of the file. ours tells a broken file of our kind from a good
   one of another, unigram those with scores from those with merges; fused, in_bytes and scripts: a decoder's Fuse, a ByteLevel and a UnicodeScripts have been met; in_letters: so has a stage after ByteLevel; begin and
   end: the ids that a model of SentencePiece names, plus 1. */
struct json_reader { struct memory *m; struct tokenizer *t;
  const char *file;
  json_t *vocab; size_t bytes; struct bytes row; bool ours, unigram, fused,
    in_bytes, in_letters, scripts;
  uint32_t begin, end; enum tokenizer_found found;
  struct error *why; };

/* ---- fields.c */

/* the full name of a field, for one message */
struct field_name { char name[160]; };

/* the field key of where */
struct field_name field_below(const char *where, const char *key);

/* element i of the list where; the name is cut before its number, which says where in a long list
   to look */
struct field_name field_element(const char *where, size_t i);

/* false and a sentence: the field has found, and not what is wanted */
bool reader_refuse(struct json_reader *r, const char *field,
  const json_t *found, const char *wanted);

/* is it missing, null, false or empty? */
bool value_says_nothing(const json_t *v);

/* an object whose keys are all among keys, or say nothing? false and a sentence */
bool reader_keys(struct json_reader *r, const char *where,
  json_t *object, const char *keys);

/* true, false, or absent, which means otherwise; false and a sentence */
bool reader_flag(struct json_reader *r, const char *where, json_t *object,
  const char *key, bool otherwise, bool *out);

/* an id that this file can have; false and a sentence */
bool reader_id(struct json_reader *r, const char *field,
  const json_t *v, uint32_t *id);

/* reads one element of a sequence */
typedef bool read_part(struct json_reader *r, const char *where,
  json_t *v);

/* reads each element of the list key in a stage of type Sequence */
bool reader_each(struct json_reader *r, const char *where, json_t *v,
  const char *key, read_part *read);

/* ---- words.c */

/* the object vocab, from words to ids */
bool words_read(struct json_reader *r, const char *where);

/* a merge of two words of the vocabulary into a third */
bool words_read_merge(struct json_reader *r, const char *a, size_t n_a,
  const char *b, size_t n_b, const char *field);

/* words, merges, flags, unknown token */
bool words_read_model(struct json_reader *r, json_t *model);

/* the tokens that were added, if there are any */
bool words_read_added(struct json_reader *r, json_t *added);

/* ---- stages.c */

/* a pre-tokenizer, appended to the steps */
bool stages_read(struct json_reader *r, const char *where, json_t *v);

/* after the last stage */
bool stages_end(struct json_reader *r);

/* a normalizer, or null */
bool stages_read_normalizer(struct json_reader *r, const char *where,
  json_t *v);

/* one step that cuts by a pattern */
bool stages_cut_at(struct json_reader *r, const char *where,
  const char *pattern, size_t n);

/* puts a pattern of a file into r->row, as PCRE2 must read it; false and a sentence */
bool stages_translate(struct json_reader *r, const char *where, json_t *regex);

/* where a block is put before a text */
enum scheme { SCHEME_NEVER, SCHEME_FIRST, SCHEME_ALWAYS };

/* the settings of Metaspace */
bool stages_read_scheme(struct json_reader *r, const char *where,
  json_t *v, enum scheme *s, bool *split);

/* ---- tekken.c, around.c and decoder.c */

/* Mistral's own form */
bool tekken_read(struct json_reader *r, json_t *file);

/* a post-processor: ids before and after a text */
bool around_read(struct json_reader *r, const char *where, json_t *v);

/* a decoder, or a step of one */
bool decoder_read(struct json_reader *r, const char *where,
  json_t *v);
#endif
