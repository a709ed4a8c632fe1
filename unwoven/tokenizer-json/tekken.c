/* tekken.c -- a vocabulary in Mistral's own form, tekken.json: ranks, and how a text is cut.

   It says what a file of ranks does not: the pattern, and how many special tokens come before the words,
   so that the id of a word is its rank and that number. Of the words only as many count as the vocabulary
   has room for. Older files do not list the special tokens; they had these. */

#include <stdio.h>
#include <string.h>
#include "sentencepiece/pieces.h"
#include "tokenizer-json/reader.h"

static const char *const older[] = { "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]",
  "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>",
  "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
  "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]" };
enum { OLDER = sizeof older / sizeof older[0] };

static bool add_special(struct json_reader *r, uint32_t id, const char *text)
{
  struct added_token x = { .id = id, .special = true };
  return tokenizer_intern(r->m, r->t, text, strlen(text), &x.text, r->why)
    && tokenizer_add_token(r->m, r->t, &x, r->why);
}

/* those of the list, and for each other number a name that is made of it */
static bool add_specials(struct json_reader *r, json_t *list, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++) {
    char name[40], field[40];
    json_t *each = json_array_get(list, i), *text = json_object_get(each, "token_str");
    const char *said = list == NULL && i < OLDER ? older[i] : json_string_value(text);
    snprintf(field, sizeof field, "special_tokens[%u]", (unsigned) i);
    snprintf(name, sizeof name, "<SPECIAL_%u>", (unsigned) i);
    if (each != NULL && (json_string_length(text) == 0
      || json_integer_value(json_object_get(each, "rank")) != i))
      return reader_refuse(r, field, each, "a token_str, and its place as rank");
    if (!add_special(r, i, said != NULL ? said : name)) return false;
  }
  return true;
}

/* The word's bytes are in base64; its rank must be its place, so that a rank has one word. */
static bool add_word(struct json_reader *r, json_t *each, size_t i, uint32_t first)
{
  json_t *bytes = json_object_get(each, "token_bytes");
  struct field_name at = field_element("vocab", i);
  bool good = false;
  r->row.n = 0;
  if (!pieces_from_base64(r->m, (const unsigned char *) json_string_value(bytes),
    json_string_length(bytes), &r->row, r->why, &good)) return false;
  if (!good || json_integer_value(json_object_get(each, "rank")) != (json_int_t) i)
    return reader_refuse(r, at.name, each, "token_bytes in base64, and its place as rank");
  struct vocab_entry *k = tokenizer_vocab_at(r->m, r->t, first + (uint32_t) i, r->why);
  return k != NULL && tokenizer_intern(r->m, r->t, r->row.byte, r->row.n, &k->piece, r->why)
    && (k->text = k->piece, true);
}

/* as in a file of ranks: every cut of every word gives a merge */
static bool merge_words(struct json_reader *r, uint32_t first)
{
  size_t n = r->t->n_vocab;
  if (!tokenizer_index_vocab(r->m, r->t, r->why)
    || !pieces_all_different(r->t, r->file, "rank", r->why)) return false;
  uint32_t *rank = memory_alloc(r->m, MEMORY_TOKENS, n, sizeof *rank, r->why);
  if (rank == NULL) return false;
  for (uint32_t i = 0; i < n; i++) rank[i] = i < first ? TIKTOKEN_NO_RANK : i;
  bool ok = tiktoken_pairs_from_ranks(r->m, r->t, rank, r->why);
  memory_free(r->m, rank);
  return ok;
}

static bool read_number(struct json_reader *r, json_t *config, const char *key, uint32_t *n)
{
  return reader_id(r, field_below("config", key).name, json_object_get(config, key), n);
}

bool tekken_read(struct json_reader *r, json_t *file)
{
  json_t *config = json_object_get(file, "config"), *vocab = json_object_get(file, "vocab"),
    *special = json_object_get(file, "special_tokens"),
    *pattern = json_object_get(config, "pattern");
  uint32_t all, first;
  if (!json_is_object(config) || json_string_length(pattern) == 0)
    return reader_refuse(r, "config.pattern", pattern, "a pattern");
  if (!read_number(r, config, "default_vocab_size", &all)
    || !read_number(r, config, "default_num_special_tokens", &first)) return false;
  if (first >= all || all - first > json_array_size(vocab))
    return reader_refuse(r, "vocab", vocab, "a list of all words but the special ones");
  if (special != NULL && json_array_size(special) > first)
    return reader_refuse(r, "special_tokens", special, "a list of no more than config says");
  r->t->kind = "tekken ranks", r->t->ignore_merges = true;
  for (size_t i = 0; i < all - first; i++)
    if (!add_word(r, json_array_get(vocab, i), i, first)) return false;
  if (!merge_words(r, first) || !stages_translate(r, "config.pattern", pattern)
    || !stages_cut_at(r, "config.pattern", (const char *) r->row.byte, r->row.n)
    || !add_specials(r, special, first)) return false;
  /* the second of the special tokens begins a text */
  return tokenizer_index_added(r->m, r->t, r->why)
    && (first < 2 || ids_push(r->m, &r->t->prefix_ids, 1, r->why));
}
