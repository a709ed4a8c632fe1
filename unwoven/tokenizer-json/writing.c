/* writing.c -- a tokenizer of merges that were learnt, as a tokenizer.json.

   What is written depends on the merges alone: no date, no order of a hash, one blank of
   indentation; two machines write the same bytes. The file has its name only when it is
   whole. */

#define _POSIX_C_SOURCE 200809L
#include "ground/new_file.h"
#include "tokenizer-json/reader.h"

/* Two words with a blank between, the form that old and new readers understand. The rule
   has only ids; the letters come from the two tokens. */
static bool make_merge(struct memory *m, const struct tokenizer *t,
  const struct bpe_rule *rule, struct bytes *row, json_t *merges,
  struct error *why)
{
  struct span a = t->vocab[rule->left].piece,
    b = t->vocab[rule->right].piece;
  row->n = 0;
  return tokenizer_to_alphabet(m, t->string_pool.byte + a.at, a.n, row, why)
    && bytes_push(m, row, " ", 1, why)
    && tokenizer_to_alphabet(m, t->string_pool.byte + b.at, b.n, row, why)
    && json_array_append_new(merges,
      json_stringn((const char *) row->byte, row->n)) == 0;
}

/* Two words that are spelt alike would be one key, and the first would be lost. A list of
   merges that was learnt has no such pair, as an exercise of chapter 1 shows; but a caller
   may pass any list. */
static bool make_words(struct memory *m, const struct tokenizer *t,
  json_t *vocab, json_t *merges, struct error *why)
{
  struct bytes row = { NULL, 0, 0 };
  bool ok = json_object_set_new(vocab, "<|endoftext|>",
    json_integer(0)) == 0;
  for (size_t i = 1; ok && i < t->n_vocab; i++) {
    struct span s = t->vocab[i].piece;
    row.n = 0;
    ok = tokenizer_to_alphabet(m, t->string_pool.byte + s.at, s.n, &row, why)
      /* the zero: jansson takes keys as C's strings, and the alphabet has none */
      && bytes_push(m, &row, "", 1, why);
    /* would be one key, and the first lost */
    if (ok && json_object_get(vocab, (const char *) row.byte) != NULL)
      ok = error_say(why, "token %zu is spelt like an earlier one",
        i);
    ok = ok && json_object_set_new(vocab, (const char *) row.byte,
      json_integer((json_int_t) i)) == 0;
  }
  for (size_t i = 0; ok && i < t->rules.n; i++)
    ok = make_merge(m, t, &t->rules.rule[i], &row, merges, why);
  bytes_free(m, &row);
  return ok;
}

/* The simplest description of a byte-level tokenizer, that of finish_merges in tokenizer.c:
   change both or none. Where a part of the machine is not needed, the file says null, as
   the makers' library expects. In the format a letter stands for each value, s a string, b
   a flag, n null, O a value of which we keep our reference. */
static json_t *make_description(json_t *vocab, json_t *merges)
{
  return json_pack("{s:s, s:n, s:n, s:[{s:i, s:s, s:b, s:b,"
    " s:b, s:b, s:b}], s:n, s:{s:s, s:b, s:b, s:b}, s:n,"
    " s:{s:s, s:b, s:b, s:b}, s:{s:s, s:n, s:n, s:n, s:n, s:b, s:b, s:b, s:O, s:O}}",
    "version", "1.0", "truncation", "padding",
    "added_tokens", "id", 0, "content", "<|endoftext|>",
      "single_word", 0,
    "lstrip", 0, "rstrip", 0, "normalized", 0, "special", 1,
      "normalizer",
    "pre_tokenizer", "type", "ByteLevel", "add_prefix_space", 0,
    "trim_offsets", 1, "use_regex", 1, "post_processor",
    "decoder", "type", "ByteLevel", "add_prefix_space", 1,
    "trim_offsets", 1, "use_regex", 1,
    "model", "type", "BPE", "dropout", "unk_token",
    "continuing_subword_prefix", "end_of_word_suffix",
      "fuse_unk", 0,
    "byte_fallback", 0, "ignore_merges", 0, "vocab", vocab, "merges",
      merges);
}

/* Four steps can fail before a byte is written; one message serves for all, and has the
   reason if there is one. What jansson could not write shows when the file is closed; it
   may also have been refused memory. If the machine loses power, we promise nothing. */
bool tokenizer_write(struct memory *m, const char *path,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  struct error inner = { "" };
  struct new_file to;
  struct tokenizer *t = tokenizer_from_merges(m, merge, n, why);
  if (t == NULL) return false;
  json_t *vocab = json_object(), *merges = json_array(),
    *whole = NULL;
  bool ok = vocab != NULL && merges != NULL
    && make_words(m, t, vocab, merges, &inner)
    && (whole = make_description(vocab, merges)) != NULL;
  tokenizer_close(m, t);
  /* write it beside its place, and move it there */
  if (!ok) error_say(why, "%s: cannot be made: %s", path,
    inner.text);
  else if ((ok = new_file_open(&to, path, false, why))) {
    bool whole_file = json_dumpf(whole, to.f, JSON_INDENT(1)) == 0;
    ok = new_file_stored(&to, why) && (whole_file
      || error_say(why, "%s: cannot be written: no memory", path));
    ok = new_file_end(&to, ok, why);
  }
  json_decref(whole);
  json_decref(vocab);
  json_decref(merges);
  return ok;
}
