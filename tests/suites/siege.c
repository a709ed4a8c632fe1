/* siege.c -- every bit of a model's files turned, one at a time, and the files cut at every byte:
   each trial ends with one of our sentences, or with a model that works; it does not crash, does
   not take more memory than the files justify, and gives back what it took. The five rules that the
   loaders keep are in workshop/02-safetensors.w; this program looks whether a check was forgotten.

   siege: besieges a small model of its own; what came of it must be tests/golden/siege.txt, byte by
   byte, and figures/data/safetensors.siege.csv.

   siege table: prints the one; siege map: prints the other.

   siege whole DIR: does the same to the model in DIR, with every 64th byte of its numbers, and says
   how long it took. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tokenizer/tokenizer.h"
#include "model/forward.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/cache.h"

/* What a change did. Four of the seven answers are refusals, told apart by their words: the file is
   no JSON any more; a word is not one of ours, or a value not of its kind; the sizes do not add up;
   a number on the way to the logits is not finite. Two are not: the model loads, and its answers
   are others, or the same. The seventh must not occur. */
enum verdict { NO_JSON, NO_WORD, NO_SUM, NO_NUMBER, OTHERS, SAME, STRANGE, VERDICTS };

/* the parts of a model that are counted separately */
enum part { HEADER, SETTINGS, INDEX, WORDS, NUMBERS, PARTS };
static const char *const part_name[PARTS] = { "header", "settings", "index", "tokenizer",
  "numbers" };
enum { MAX_FILES = 16, MAX_NAME = 64, COST = 16, TEXT = 3 };

/* the text whose logits are compared */
static const uint32_t text[TEXT] = { 1, 2, 3 };

/* A file, twice: in a folder, open for writing, where one file is always a little wrong, and in
   memory, where it is right. */
struct besieged {
  char name[MAX_NAME];
  unsigned char *bytes;
  size_t n;
  int at;
};

/* The counts are one table for bits and one for cuts. loads[i]: how many of the eight bits of byte
   i of the settings may be turned, and the model still loads. */
struct siege {
  struct memory m;
  struct error why;
  char folder[64];
  struct besieged file[MAX_FILES];
  size_t n_files, all, stride; /* bytes of all files; of numbers every stride-th */
  float *logits[2]; /* of the right files, and of those that are tried */
  size_t n_logits;
  struct ids ids[2];
  uint64_t bits[PARTS][VERDICTS], cuts[PARTS][VERDICTS];
  uint64_t largest; /* most bytes held in one trial */
  unsigned char loads[4096];
  char strange[sizeof(struct error)];
};

/* ---- a small model in files: one layer, rows of four numbers
   Its settings are a list of names and values, as they are published, with one field that is
   harmless and one that is advice. */
static const char *const own_setting[][2] = { { "architectures", "[\"LlamaForCausalLM\"]" },
  { "attention_dropout", "0.0" }, { "bos_token_id", "0" }, { "eos_token_id", "0" },
  { "hidden_act", "\"silu\"" }, { "hidden_size", "4" }, { "intermediate_size", "6" },
  { "max_position_embeddings", "16" }, { "model_type", "\"llama\"" },
  { "num_attention_heads", "2" }, { "num_hidden_layers", "1" }, { "num_key_value_heads", "1" },
  { "rms_norm_eps", "1e-05" }, { "rope_theta", "10000.0" }, { "tie_word_embeddings", "true" },
  { "torch_dtype", "\"float32\"" }, { "vocab_size", "8" } };

/* its tensors, of which those of the layer have a common prefix; a vector has no columns */
static const struct {
  bool in_layer;
  const char *name;
  int rows, columns;
} own_tensor[] = { { false, "embed_tokens", 8, 4 }, { true, "input_layernorm", 4, 0 },
  { true, "self_attn.q_proj", 4, 4 }, { true, "self_attn.k_proj", 2, 4 },
  { true, "self_attn.v_proj", 2, 4 }, { true, "self_attn.o_proj", 4, 4 },
  { true, "post_attention_layernorm", 4, 0 }, { true, "mlp.gate_proj", 6, 4 },
  { true, "mlp.up_proj", 6, 4 }, { true, "mlp.down_proj", 4, 6 }, { false, "norm", 4, 0 } };
enum {
  OWN_SETTINGS = sizeof own_setting / sizeof *own_setting,
  OWN_TENSORS = sizeof own_tensor / sizeof *own_tensor
};

/* appends text, as printf would print it */
static bool put(struct siege *s, struct bytes *to, const char *format, ...)
{
  char piece[256];
  va_list list;
  va_start(list, format);
  int n = vsnprintf(piece, sizeof piece, format, list);
  va_end(list);
  return n >= 0 && n < (int) sizeof piece && bytes_push(&s->m, to, piece, (size_t) n, &s->why);
}

static bool put_settings(struct siege *s, struct bytes *to)
{
  bool ok = put(s, to, "{\n");
  for (size_t i = 0; ok && i < OWN_SETTINGS; i++)
    ok = put(s, to, "  \"%s\": %s%s\n", own_setting[i][0], own_setting[i][1],
      i + 1 < OWN_SETTINGS ? "," : "");
  return ok && put(s, to, "}\n");
}

/* the header: an offset for each tensor, the sum of the sizes before it, and the one piece of
   metadata that published files have */
static bool put_header(struct siege *s, struct bytes *to, int *at)
{
  bool ok = put(s, to, "{\"__metadata__\":{\"format\":\"pt\"}");
  for (size_t i = 0; ok && i < OWN_TENSORS; i++) {
    int rows = own_tensor[i].rows, columns = own_tensor[i].columns;
    int n = rows * (columns == 0 ? 1 : columns) * 4;
    ok = put(s, to, ",\"model.%s%s.weight\":{\"dtype\":\"F32\",\"shape\":",
           own_tensor[i].in_layer ? "layers.0." : "", own_tensor[i].name)
      && (columns == 0 ? put(s, to, "[%d]", rows) : put(s, to, "[%d,%d]", rows, columns))
      && put(s, to, ",\"data_offsets\":[%d,%d]}", *at, *at + n);
    *at += n;
  }
  return ok && put(s, to, "}");
}

/* the numbers: multiples of 1/16 from -1/2 to 1/2, in no particular order; the length goes in front
   when it is known */
static bool put_weights(struct siege *s, struct bytes *to)
{
  int end = 0;
  uint64_t length = 0;
  if (!bytes_push(&s->m, to, &length, 8, &s->why) || !put_header(s, to, &end)) return false;
  length = to->n - 8;
  memcpy(to->byte, &length, 8);
  bool ok = true;
  for (int i = 0; ok && i < end / 4; i++) {
    float x = (float) (i * 37 % 17 - 8) / 16;
    ok = bytes_push(&s->m, to, &x, 4, &s->why);
  }
  return ok;
}

/* the tokenizer, learnt from a line of text */
static bool put_tokenizer(struct siege *s)
{
  static const char lesson[] = "the cat sat on the mat";
  char path[160];
  struct bpe_merge *merge;
  size_t n;
  snprintf(path, sizeof path, "%s/tokenizer.json", s->folder);
  if (!bpe_train(&s->m, lesson, strlen(lesson), split_gpt2, 4, &merge, &n, &s->why)) return false;
  bool ok = tokenizer_write(&s->m, path, merge, n, &s->why);
  bpe_forget(&s->m, merge);
  return ok;
}

static bool write_file(struct siege *s, const char *name, const void *bytes, size_t n)
{
  char path[160];
  snprintf(path, sizeof path, "%s/%s", s->folder, name);
  FILE *f = fopen(path, "wb");
  if (f == NULL) return error_say(&s->why, "%s: cannot be written", path);
  bool ok = fwrite(bytes, 1, n, f) == n;
  return (fclose(f) == 0 && ok) || error_say(&s->why, "%s: cannot be written", path);
}

/* all five files; two of them only suggest how to sample, and name the end of a text */
static bool make_model(struct siege *s)
{
  static const char advice[] = "{\"do_sample\": true, "
                               "\"temperature\": 0.8, \"eos_token_id\": [0]}\n";
  static const char words[] = "{\"add_bos_token\": true,"
                              " \"bos_token\": \"<|endoftext|>\"}\n";
  struct bytes b = { NULL, 0, 0 };
  bool ok = put_settings(s, &b) && write_file(s, "config.json", b.byte, b.n);
  b.n = 0;
  ok = ok && put_weights(s, &b) && write_file(s, "model.safetensors", b.byte, b.n)
    && write_file(s, "generation_config.json", advice, strlen(advice))
    && write_file(s, "tokenizer_config.json", words, strlen(words)) && put_tokenizer(s);
  bytes_free(&s->m, &b);
  return ok;
}

/* ---- the files, and the folder that they are in
   The folder is in memory where the system has such a place, since so many small writes would wear
   a disk for nothing. */
static bool folder_open(struct siege *s)
{
  snprintf(s->folder, sizeof s->folder, "%s/incipit-siege-XXXXXX",
    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  return mkdtemp(s->folder) != NULL || error_say(&s->why, "%s: cannot be made", s->folder);
}

static void folder_close(struct siege *s)
{
  char path[160];
  for (size_t i = 0; i < s->n_files; i++) {
    snprintf(path, sizeof path, "%s/%s", s->folder, s->file[i].name);
    if (s->file[i].at >= 0) close(s->file[i].at);
    unlink(path);
    memory_free(&s->m, s->file[i].bytes);
  }
  rmdir(s->folder);
}

/* adds a file, with a copy of its bytes; one from another directory is written into the folder
   first */
static bool file_join(struct siege *s, const char *from, const char *name)
{
  char path[4096];
  struct mapping map;
  struct besieged *f = &s->file[s->n_files];
  snprintf(path, sizeof path, "%s/%s", from, name);
  if (!file_map(&map, path, &s->why)) return false;
  f->n = map.size;
  f->bytes = memory_alloc(&s->m, MEMORY_OTHER, f->n, 1, &s->why);
  if (f->bytes != NULL && f->n > 0) memcpy(f->bytes, map.bytes, f->n);
  file_unmap(&map);
  snprintf(f->name, sizeof f->name, "%s", name);
  if (f->bytes == NULL || (strcmp(from, s->folder) != 0 && !write_file(s, name, f->bytes, f->n)))
    return false;
  snprintf(path, sizeof path, "%s/%s", s->folder, name);
  f->at = open(path, O_RDWR);
  s->n_files++, s->all += f->n;
  return f->at >= 0 || error_say(&s->why, "%s: cannot be opened", path);
}

static bool ends_with(const char *name, const char *end)
{
  size_t n = strlen(name), k = strlen(end);
  return n >= k && strcmp(name + n - k, end) == 0;
}

/* adds the files of a directory that a loader would look at */
static bool files_join(struct siege *s, const char *from)
{
  DIR *d = opendir(from);
  if (d == NULL) return error_say(&s->why, "%s: cannot be read", from);
  bool ok = true;
  for (struct dirent *e = readdir(d); ok && e != NULL; e = readdir(d))
    if ((ends_with(e->d_name, ".json") || ends_with(e->d_name, ".safetensors"))
      && strlen(e->d_name) < MAX_NAME && s->n_files < MAX_FILES)
      ok = file_join(s, from, e->d_name);
  closedir(d);
  return ok;
}

/* the part that a byte belongs to: by its file and, in a file of tensors, by its place */
static enum part part_of(const struct besieged *f, size_t at)
{
  uint64_t length = 0;
  if (ends_with(f->name, ".safetensors")) {
    if (f->n >= 8) memcpy(&length, f->bytes, 8);
    return at < 8 + length ? HEADER : NUMBERS;
  }
  if (ends_with(f->name, ".index.json")) return INDEX;
  return strncmp(f->name, "tokenizer", 9) == 0 ? WORDS : SETTINGS;
}

/* ---- what the files are now */
static bool any_of(const char *words, const char *const *some)
{
  while (*some != NULL && strstr(words, *some) == NULL) some++;
  return *some != NULL;
}

/* A sentence is recognized by its words. What speaks of JSON or of a line is from the parser; a few
   ends of sentences are about sizes and about what is there and what is not; the rest of ours have
   a "wanted", except that of a vocabulary that lacks a byte. A sentence without any of these is
   none of ours. So is one about memory: asking for more than there is would be a fault. */
static enum verdict verdict_of(const char *words)
{
  static const char *const json[] = { "strict JSON", ": line ", NULL };
  static const char *const sums[] = { "as many bytes", "no hole", "within the file",
    "the last offset", "rising offsets", "longer than the file", "2^64", "wanted: [",
    "no more layers", "a multiple of", "a divisor of", "each name once", "without use",
    "the file that has", "as in the files", "an even number", "cannot be opened", NULL };
  static const char *const finite[] = { "is not finite", NULL };
  static const char *const wanted[] = { "; wanted: ", "cannot spell", NULL };
  if (any_of(words, json)) return NO_JSON;
  if (any_of(words, finite)) return NO_NUMBER;
  if (any_of(words, sums)) return NO_SUM;
  return any_of(words, wanted) ? NO_WORD : STRANGE;
}

/* A trial has an account of its own, so that what it took can be compared with the size of the
   files: at most COST times as much, and a little for the smallest. What it took must be back.
   Either failure is strange, whatever the loader said. */
static enum verdict settle(
  struct siege *s, const struct memory *m, enum verdict v, const struct error *why)
{
  if (m->all.peak > s->largest) s->largest = m->all.peak;
  if (m->all.live != 0 || m->all.peak > COST * s->all + 65536) v = STRANGE;
  if (v == STRANGE && s->strange[0] == '\0')
    snprintf(s->strange, sizeof s->strange, "%.300s (%zu held, at most %zu)", why->text,
      (size_t) m->all.live, (size_t) m->all.peak);
  return v;
}

/* A model that opens is put to work: the probabilities of three tokens, which fail by name if a
   number on the way is not finite, and the logits after each of them. */
static bool work_it(
  struct siege *s, struct memory *m, const struct model *lm, float *logits, struct error *why)
{
  static const size_t every[TEXT] = { 0, 1, 2 };
  struct counters c = { .passes = 0 };
  struct engine e = { .k = kernels_find("scalar", NULL), .c = &c };
  double logprob[TEXT], sum;
  struct store *t = cache_open(m, &lm->config, 1, &(struct cache_options){ .rows = 0 }, why);
  if (t == NULL) return false;
  bool ok = lm->config.vocab_size == s->n_logits || error_say(why, "another vocabulary");
  ok = ok && model_logprobs(&e, lm, t, text, TEXT, logprob, &sum, why)
    && model_evaluate(&e, lm, t, text, TEXT, every, TEXT, logits, why);
  store_close(t);
  return ok;
}

/* Nothing is kept between two trials: each opens the files anew, as a new process would. */
static enum verdict try_model(struct siege *s, int which)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct model *lm = model_open(&m, s->folder, &why);
  bool ok = lm != NULL && work_it(s, &m, lm, s->logits[which], &why);
  model_close(&m, lm);
  enum verdict v = !ok ? verdict_of(why.text)
    : memcmp(s->logits[0], s->logits[which], TEXT * s->n_logits * sizeof(float)) == 0 ? SAME
                                                                                      : OTHERS;
  return settle(s, &m, v, &why);
}

/* a tokenizer that opens has a text to encode */
static enum verdict try_words(struct siege *s, int which)
{
  static const char some[] = "the cat's 12 \xc3\xa9 <|endoftext|>";
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct tokenizer *t = tokenizer_open(&m, s->folder, &why);
  struct ids *list = &s->ids[which];
  list->n = 0;
  bool ok = t != NULL && tokenizer_encode(t, &s->m, some, strlen(some), true, true, list, &why);
  enum verdict v = !ok ? verdict_of(why.text)
    : list->n == s->ids[0].n && memcmp(list->id, s->ids[0].id, list->n * sizeof *list->id) == 0
    ? SAME
    : OTHERS;
  tokenizer_close(&m, t);
  return settle(s, &m, v, &why);
}

/* before the first change both are tried as they are, to have something to compare with */
static bool try_first(struct siege *s)
{
  struct model *lm = model_open(&s->m, s->folder, &s->why);
  if (lm == NULL) return false;
  s->n_logits = lm->config.vocab_size;
  model_close(&s->m, lm);
  for (int i = 0; i < 2; i++) {
    s->logits[i] = memory_alloc(&s->m, MEMORY_OTHER, TEXT * s->n_logits, sizeof(float), &s->why);
    if (s->logits[i] == NULL) return false;
  }
  for (size_t i = 0; i < s->n_files; i++)
    if ((part_of(&s->file[i], 0) == WORDS ? try_words(s, 0) : try_model(s, 0)) != SAME)
      return error_say(&s->why, "the model does not stand unaltered");
  return true;
}

/* ---- the siege itself */
static enum verdict try_part(struct siege *s, enum part p)
{
  return p == WORDS ? try_words(s, 1) : try_model(s, 1);
}

/* turns each bit of a byte in the file, tries the file, and turns the bit back */
static bool turn_bits(struct siege *s, const struct besieged *f, size_t at)
{
  enum part p = part_of(f, at);
  for (int bit = 0; bit < 8; bit++) {
    unsigned char wrong = f->bytes[at] ^ (unsigned char) (1 << bit);
    if (pwrite(f->at, &wrong, 1, (off_t) at) != 1) return false;
    enum verdict v = try_part(s, p);
    s->bits[p][v]++;
    if (strcmp(f->name, "config.json") == 0 && at < sizeof s->loads)
      s->loads[at] = (unsigned char) (s->loads[at] + (v == OTHERS || v == SAME));
  }
  return pwrite(f->at, &f->bytes[at], 1, (off_t) at) == 1;
}

/* Turns bits; then the file loses its last byte, and another, until it is empty, and gets all of
   them back. Of the numbers every stride-th byte is attacked. */
static bool attack(struct siege *s, const struct besieged *f)
{
  for (size_t at = 0; at < f->n; at++)
    if ((part_of(f, at) != NUMBERS || at % s->stride == 0) && !turn_bits(s, f, at)) return false;
  for (size_t n = f->n; n-- > 0;) {
    enum part p = part_of(f, n);
    if (p == NUMBERS && n % s->stride != 0) continue;
    if (ftruncate(f->at, (off_t) n) != 0) return false;
    s->cuts[p][try_part(s, p)]++;
  }
  return pwrite(f->at, f->bytes, f->n, 0) == (ssize_t) f->n;
}

/* ---- what came of it */
static uint64_t add_up(const uint64_t table[PARTS][VERDICTS], enum verdict from, enum verdict to)
{
  uint64_t sum = 0;
  for (int p = 0; p < PARTS; p++)
    for (int v = (int) from; v <= (int) to; v++) sum += table[p][v];
  return sum;
}

/* bits and cuts together; the index of shards has a line if there is one */
static void print_table(const struct siege *s, FILE *f)
{
  fprintf(f, "%-12s %9s %9s %9s %9s %9s %9s %9s\n", "", "no JSON", "words", "sums", "no number",
    "others", "same", "strange");
  for (int p = 0; p < PARTS; p++) {
    if (p == INDEX && s->bits[p][NO_JSON] == 0) continue;
    fprintf(f, "%-12s", part_name[p]);
    for (int v = 0; v < VERDICTS; v++)
      fprintf(f, " %9zu", (size_t) (s->bits[p][v] + s->cuts[p][v]));
    fprintf(f, "\n");
  }
  fprintf(f, "%zu bits turned, %zu cuts, %zu bytes of files\n",
    (size_t) add_up(s->bits, NO_JSON, STRANGE), (size_t) add_up(s->cuts, NO_JSON, STRANGE), s->all);
  if (s->strange[0] != '\0') fprintf(f, "strange: %s\n", s->strange);
}

/* the data of the figure: a line for each byte of the settings, with the character and how many of
   its bits can be turned */
static void print_map(const struct siege *s, FILE *f)
{
  fprintf(f, "character,loads\n");
  for (size_t i = 0; i < s->n_files; i++)
    for (size_t at = 0; at < s->file[i].n && at < sizeof s->loads; at++)
      if (strcmp(s->file[i].name, "config.json") == 0)
        fprintf(f, "%d,%d\n", s->file[i].bytes[at], s->loads[at]);
}

/* one siege, of the small model or of another's; with only, of one file */
static bool besiege(struct siege *s, const char *from, const char *only)
{
  s->stride = from == NULL ? 1 : 64;
  bool ok = folder_open(s) && (from != NULL || make_model(s))
    && files_join(s, from != NULL ? from : s->folder) && try_first(s);
  for (size_t i = 0; ok && i < s->n_files; i++)
    ok = (only != NULL && strcmp(s->file[i].name, only) != 0) || attack(s, &s->file[i])
      || error_say(&s->why, "%s: cannot be altered", s->file[i].name);
  return ok;
}

static void siege_close(struct siege *s)
{
  folder_close(s);
  for (int i = 0; i < 2; i++) {
    ids_free(&s->m, &s->ids[i]);
    memory_free(&s->m, s->logits[i]);
  }
}

/* is FILE what print says of this siege? */
static bool as_committed(
  const struct siege *s, void (*print)(const struct siege *, FILE *), const char *file)
{
  char *said = NULL;
  size_t n = 0;
  struct mapping map;
  struct error why;
  FILE *f = open_memstream(&said, &n);
  if (f == NULL) return false;
  print(s, f);
  fclose(f);
  bool same = file_map(&map, file, &why);
  if (same) {
    same = map.size == n && memcmp(map.bytes, said, n) == 0;
    file_unmap(&map);
  }
  if (!same) printf("%s says something else than\n%s", file, said);
  free(said);
  return same;
}

int main(int argc, char **argv)
{
  static struct siege s;
  const char *what = argc > 1 ? argv[1] : "";
  bool whole = strcmp(what, "whole") == 0 && argc > 2, map = strcmp(what, "map") == 0;
  clock_t began = clock();
  bool ok = besiege(&s, whole ? argv[2] : NULL, map ? "config.json" : NULL);
  if (!ok)
    fprintf(stderr, "%s\n", s.why.text);
  else if (map)
    print_map(&s, stdout);
  else if (what[0] != '\0')
    print_table(&s, stdout);
  else {
    ok = as_committed(&s, print_table, "tests/golden/siege.txt");
    ok = as_committed(&s, print_map, "figures/data/safetensors.siege.csv") && ok;
  }
  if (whole && ok)
    printf("%s: at most %zu bytes held, %.1f s\n", argv[2], (size_t) s.largest,
      (double) (clock() - began) / CLOCKS_PER_SEC);
  siege_close(&s);
  return !ok || s.strange[0] != '\0' || s.m.all.live != 0;
}
