/* tiktoken.c -- a file of ranks, as the program tiktoken reads it.

   A line has a token's bytes in base64, a blank, and its rank, which is also its id. The
   file says neither how texts are cut nor which special tokens there are: OpenAI keeps both
   in the source of tiktoken. There are four such files of theirs, and three that other makers of models
   publish; the number of lines tells which is which. */

#include <stdio.h>
#include <string.h>
#include "sentencepiece/pieces.h"

/* Base64 writes three bytes as four letters of an alphabet of 64, and pads the last group
   of four with equal signs. The value of a letter is its place in the alphabet; each adds
   six bits, and as soon as eight have collected, a byte is complete. */
bool pieces_from_base64(struct memory *m, const unsigned char *c,
  size_t n, struct bytes *out, struct error *why, bool *good)
{
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned value = 0, bits = 0;
  *good = n % 4 == 0 && n > 0;
  /* at most two equal signs */
  while (*good && n > 0 && c[n - 1] == '=' && bits++ < 2) n--;
  bits = 0;
  for (size_t i = 0; i < n && *good; i++) {
    const char *at = memchr(alphabet, c[i], 64);
    *good = at != NULL;
    if (!*good) break;
    value = value << 6 | (unsigned) (at - alphabet), bits += 6;
    if (bits < 8) continue;
    unsigned char byte = (unsigned char) (value >> (bits -= 8));
    if (!bytes_push(m, out, &byte, 1, why)) return false;
  }
  return true;
}

/* differs from Llama 3's pattern in how it treats white space at the end of a text, and is
   written so that PCRE2 need not backtrack */
static const char cut_cl100k[] = "'(?i:[sdmt]|ll|ve|re)|"
  "[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|"
  "\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s";

/* distinguishes capital letters, so that camelCase is cut where a person would cut it */
static const char cut_o200k[] = "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
  "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|"
  "\\s+(?!\\S)|\\s+";

/* Qwen's takes digits one by one */
static const char cut_qwen[] = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|"
  "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
  "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/* a token's text and its id; if count is not 0, that many, of which the text has the number, from number
   on */
struct rank_special { const char *text; uint32_t id, count, number; };

/* number of lines, pattern, special tokens with their ids, which do not always follow
   directly on the last rank; composes: a text is brought into the normal form C; begins: it begins with
   the first special token */
static const struct rank_family { size_t lines; const char *pattern; bool composes, begins;
  struct rank_special special[16]; }
  families[] = {
  { 50256, split_gpt2, false, false, { { "<|endoftext|>", 50256, 0, 0 } } },
  { 50280, split_gpt2, false, false, { { "<|endoftext|>", 50256, 0, 0 } } },
  { 100256, cut_cl100k, false, false, { { "<|endoftext|>", 100257, 0, 0 },
    { "<|fim_prefix|>", 100258, 0, 0 }, { "<|fim_middle|>", 100259, 0, 0 },
    { "<|fim_suffix|>", 100260, 0, 0 }, { "<|endofprompt|>", 100276, 0, 0 } } },
  { 199998, cut_o200k, false, false, { { "<|endoftext|>", 199999, 0, 0 },
    { "<|endofprompt|>", 200018, 0, 0 } } },
  { 128000, split_llama3, false, true, { { "<|begin_of_text|>", 128000, 0, 0 },
    { "<|end_of_text|>", 128001, 0, 0 }, { "<|reserved_special_token_%u|>", 128002, 2, 0 },
    { "<|finetune_right_pad_id|>", 128004, 0, 0 }, { "<|reserved_special_token_%u|>", 128005, 1, 2 },
    { "<|start_header_id|>", 128006, 0, 0 }, { "<|end_header_id|>", 128007, 0, 0 },
    { "<|eom_id|>", 128008, 0, 0 }, { "<|eot_id|>", 128009, 0, 0 }, { "<|python_tag|>", 128010, 0, 0 },
    { "<|reserved_special_token_%u|>", 128011, 245, 3 } } },
  { 200000, cut_o200k, false, true, { { "<|begin_of_text|>", 200000, 0, 0 },
    { "<|end_of_text|>", 200001, 0, 0 }, { "<|fim_prefix|>", 200002, 0, 0 },
    { "<|fim_middle|>", 200003, 0, 0 }, { "<|fim_suffix|>", 200004, 0, 0 },
    { "<|header_start|>", 200005, 0, 0 }, { "<|header_end|>", 200006, 0, 0 }, { "<|eom|>", 200007, 0, 0 },
    { "<|eot|>", 200008, 0, 0 }, { "<|step|>", 200009, 0, 0 }, { "<|python_start|>", 200016, 0, 0 },
    { "<|python_end|>", 200017, 0, 0 }, { "<|finetune_right_pad|>", 200018, 0, 0 } } },
  { 151643, cut_qwen, true, false, { { "<|endoftext|>", 151643, 0, 0 },
    { "<|im_start|>", 151644, 0, 0 }, { "<|im_end|>", 151645, 0, 0 },
    { "<|extra_%u|>", 151646, 205, 0 } } } };
enum { FAMILIES = sizeof families / sizeof families[0], SPECIALS = 16 };

/* *wrong: what the line should have been, or null. The id must be free, and smaller than
   max: since each line takes more than one byte, no id need be as large as the file, and a
   small file cannot make the table large. */
static bool read_rank_line(struct memory *m, struct tokenizer *t,
  const unsigned char *c, size_t n, size_t max, struct bytes *row,
  struct error *why, const char **wrong)
{
  const unsigned char *blank = memchr(c, ' ', n);
  size_t id = 0, i = blank == NULL ? n : (size_t) (blank - c) + 1;
  bool good;
  row->n = 0, *wrong = "a word in base64, a blank and a number";
  if (blank == NULL || i == n) return true;
  for (; i < n && c[i] >= '0' && c[i] <= '9' && id < max; i++)
    id = 10 * id + (size_t) (c[i] - '0');
  if (!pieces_from_base64(m, c, (size_t) (blank - c), row, why, &good))
    return false;
  if (!good || i < n || id >= max) return true;
  struct vocab_entry *k = tokenizer_vocab_at(m, t, (uint32_t) id, why);
  if (k == NULL) return false;
  *wrong = "a rank that no other word has";
  if (k->piece.n > 0) return true;
  *wrong = NULL;
  return tokenizer_intern(m, t, row->byte, row->n, &k->piece, why)
    && (k->text = k->piece, true);
}

/* Lines may end as on Windows, and the last newline may be missing. One buffer is used for
   the bytes of all words and keeps its memory from line to line. */
static bool read_rank_lines(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  size_t *lines, struct error *why)
{
  struct bytes row = { NULL, 0, 0 };
  bool ok = true;
  *lines = 0;
  for (size_t at = 0; ok && at < n;) {
    const unsigned char *stop = memchr(byte + at, '\n', n - at);
    size_t length = stop == NULL ? n - at
      : (size_t) (stop - byte) - at, used = length;
    const char *wrong = NULL;
    char field[40];
    if (used > 0 && byte[at + used - 1] == '\r') used--;
    snprintf(field, sizeof field, "line %zu", ++*lines);
    ok = read_rank_line(m, t, byte + at, used, n < TOKENIZER_MAX_ID ? n
      : TOKENIZER_MAX_ID,
      &row, why, &wrong)
      && (wrong == NULL || error_found(why, file, field,
      "something else", wrong));
    at += length + 1;
  }
  bytes_free(m, &row);
  return ok;
}

/* The rank of an id is the id itself, and an id that has no line takes part in no merge.
   The table of ranks is needed only while the pairs are made. */
static bool pairs_by_id(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  size_t n = t->n_vocab;
  uint32_t *rank = memory_alloc(m, MEMORY_TOKENS, n, sizeof *rank, why);
  if (rank == NULL) return false;
  for (uint32_t id = 0; id < n; id++)
    rank[id] = t->vocab[id].piece.n > 0 ? id : TIKTOKEN_NO_RANK;
  bool ok = tiktoken_pairs_from_ranks(m, t, rank, why);
  memory_free(m, rank);
  return ok;
}

/* In another file, with as many lines and other ids, a line may have the special
   token's id. */
static bool add_special_text(struct memory *m, struct tokenizer *t,
  const char *file, const char *text, uint32_t id, struct error *why)
{
  struct added_token x = { .id = id, .special = true };
  char field[40];
  snprintf(field, sizeof field, "rank %u", (unsigned) id);
  if (id < t->n_vocab && t->vocab[id].piece.n > 0)
    return error_found(why, file, field, "a word's", text);
  return tokenizer_intern(m, t, text, strlen(text), &x.text, why)
    && tokenizer_add_token(m, t, &x, why);
}

/* one token, or those that differ in a number; a file that is too small has no such ids */
static bool add_special_series(struct memory *m, struct tokenizer *t,
  const char *file, const struct rank_special *s, struct error *why)
{
  if (s->count == 0) return add_special_text(m, t, file, s->text, s->id, why);
  const char *mark = strstr(s->text, "%u");
  for (uint32_t i = 0; i < s->count; i++) {
    char text[60];
    snprintf(text, sizeof text, "%.*s%u%s", (int) (mark - s->text), s->text,
      (unsigned) (s->number + i), mark + 2);
    if (!add_special_text(m, t, file, text, s->id + i, why)) return false;
  }
  return true;
}

/* A file that has lost or gained a line belongs to none. It is better to say so than to cut
   texts with the wrong pattern. */
static const struct rank_family *family_of(const char *file,
  size_t lines, struct error *why)
{
  char found[40];
  for (size_t i = 0; i < FAMILIES; i++)
    if (families[i].lines == lines) return &families[i];
  snprintf(found, sizeof found, "%zu lines", lines);
  error_found(why, file, "this", found,
    "50256, 50280, 100256, 128000, 151643, 199998 or 200000 ranks");
  return NULL;
}

/* what the makers give with the ranks: normal form, pattern, special tokens */
static bool add_family(struct memory *m, struct tokenizer *t, const char *file,
  const struct rank_family *f, struct error *why)
{
  if (f->composes && !tokenizer_add_step(m, t, (struct text_step) { .what = STEP_NFC }, NULL, 0,
    false, why)) return false;
  t->n_normalizers = t->n_steps;
  if (!tokenizer_index_vocab(m, t, why)
    || !pieces_all_different(t, file, "rank", why)
    || !pairs_by_id(m, t, why)
    || !tokenizer_add_split(m, t, f->pattern, strlen(f->pattern), why))
    return false;
  for (size_t i = 0; i < SPECIALS && f->special[i].text != NULL; i++)
    if (!add_special_series(m, t, file, &f->special[i], why)) return false;
  return (!f->begins || ids_push(m, &t->prefix_ids, f->special[0].id, why))
    && tokenizer_index_added(m, t, why);
}

bool tiktoken_read(struct memory *m, struct tokenizer *t,
  const char *file, const unsigned char *byte, size_t n,
  struct error *why)
{
  size_t lines;
  /* A piece that is a token as a whole becomes that token, wherever merges would
     lead. */
  t->kind = "tiktoken ranks", t->ignore_merges = true;
  if (!read_rank_lines(m, t, file, byte, n, &lines, why))
    return false;
  const struct rank_family *f = family_of(file, lines, why);
  return f != NULL && add_family(m, t, file, f, why);
}
