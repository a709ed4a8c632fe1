@i types.w
@s time_t int
@s DIR int
@s va_list int

\chapterquestion{A model's files come from somebody we do not know. What does a program owe to a file that lies?}
@** How a loader is made safe. \label{sec:safeloader}
\incipit{A}{ sentence.} That is all a wrong file may get out of us: one line that says which file, which field, what is there and what ought to be. It may not get a crash, nor an hour,
nor a gigabyte, and least of all a text that looks like a model's. The appendices that read files check each thing where it is needed. Here is what these
checks have in common, and a program that turns every bit of a model's files, one at a time, and looks whether any of them was forgotten.
@^hostile files@>@^validation@>

\begin{byhand}{three sums in one byte}
Let sizes be numbers of one byte, from 0 to 255; what is larger loses its high digits, as in C. A file of 100 bytes comes in, whose
header begins behind the first 8.

\medskip
\begin{tabular}{@@{}lll@@{}}
\tabhead{claim} & \tabhead{believed} & \tabhead{asked}\\
header of 250 & $8+250=2$, fits & $100-8=92<250$\\
200 bytes at 80 & $80+200=24$, fits & $100-80=20<200$\\
20 times 13 is 4 & $20\cdot13=4$, true & $\lfloor255/13\rfloor=19<20$
\end{tabular}
\medskip

The true results are $8+250=258$, $80+200=280$ and $20\cdot13=260$, each 256 more than what one byte keeps. Whoever adds or multiplies first has nothing left to compare. Whoever subtracts or
divides first cannot be lied to: a part of what is there is never too large.
\end{byhand}

@ The program makes a small model with its tokenizer, five files in a folder of its own, and lays siege to it. With a word it prints the keys of the prose or the data of the figure; with
|"whole"| and a directory it does the same to somebody else's model, and says how long that took.

@c
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
@;@#
@<What a siege knows@>@;
@<A small model in files@>@;
@<The files, and the folder that they lie in@>@;
@<Try what the files are now@>@;
@<Turn every bit, cut at every byte@>@;
@<Say what came of it@>@;
@<Lay siege to a model@>@;

@* Five rules. \label{sec:saferules}
A file is not data. It is a claim, and the first rule is that \emph{nothing is computed from a claim before it is bounded by something that is there}. What is there, at the
beginning, is one number that the system and not the file has told us: how many bytes the file has. The length of the header is held against that number; the header's
end bounds each name and each entry; the number of bytes behind the header bounds every offset; and the offsets bound the shapes. So each check stands on the one before it, and their order is not a matter of taste. In every one
of them the unknown stands alone on its side: |header > size - 8| and not |8 + header > size|, because the left side of the second may be a small number again, as in the box. A product is looked at by dividing what it may be by one
factor, and formed only then.
@^overflow@>

The second rule: \emph{memory is taken for what has been seen, not for what is announced}. The list of tensors grows as entries are read. The layers are counted against the
tensors, of which each has its own line in the header. An id is held against the number of bytes of the vocabulary's file, since a word takes more than one. The rows of a text are taken as the text
grows. We have learnt this rule as one learns it. An earlier form of the loop took its rows at the beginning, as many as the context has, and the context is a number in \.{config.json}:
ten digits there were \val{hostile.claim} before the first token. A tokenizer of a few kilobytes, with one word under the largest id that we allow, took \val{hostile.claim.ids}. Neither was a
crash; both did what the file said. That is the fault.

The third: \emph{the only words that a stranger's file may cause are ours}. Every refusal is one of our sentences, with the file's word quoted in it and cut. What jansson has to say about a comma is quoted as well. A quoted word is
cleaned: a name may contain the characters that clear a terminal, or paint the next line over the last, and they come out as question marks. And every sentence names the file, because whoever has downloaded a dozen of them will ask.

@ The fourth rule is about time. \emph{A mapped file can change behind our back}, for it is not a copy. Our own program may be the only honest one on the machine. What is read twice may have changed between the first look and
the second, so what the checks depend on is read once, into variables of ours: the length, the names, the types, the shapes, the offsets. All later reading is of numbers, at places that were computed from those
variables. And numbers may be anything: each of the $2^{32}$ patterns of bits is a float32, also the patterns for what is no number, and nothing but another text can come of them. Only one thing is left that can go wrong. The file may become
shorter. Then there is nothing behind the address, the read has no result, and the system sends a signal, |SIGBUS|. No check can prevent this, because the file was as long as it should be when we looked. A library must not touch the signals
of the program that it serves; so the library leaves it, and the command, which owns its process, has a handler (\cref{sec:signals}) that writes a sentence and ends with status 1. A test shortens the file under a running |generate|
and under a |probe| between two questions.
@^SIGBUS@>@^mapped file@>

To copy the weights instead of mapping them would be safe from this, and would cost, for a large model, gigabytes and a minute at every start. We decided for the mapping: the owner of the file can always ruin his own run.

The fifth rule is about places. \emph{A file may name its neighbours, and nothing else.} An index that names |"../../x"|, or |"/etc/passwd"|, or any name with a slash in it is refused before anything is opened. Links are another matter,
and here we had to decide. A link in the directory may lead anywhere; yet we follow it, since Hugging Face's own cache is made of nothing but links, from each model's directory to a common store. The
difference is whose word it is. The index was written by the stranger; a link was made on this machine, by a program that its owner ran. Where a link leads, only a regular file is opened: no device, no pipe that
would make us wait, no directory.
@^symbolic link@>@^path@>

@ What do these rules not give? They give a program that cannot be broken by a file, not a model that is the right one. Somebody who may write into the files can make the model say what he likes, and no check of sizes will
notice. We shall see how many of the turned bits go through. Against that there are sums over whole files, such as those beside the built-in model; they must come from another place than the files.

@* The siege. \label{sec:siege}
Five rules can be believed, or tried. A siege needs to know what a change did, and there are seven answers. Four are refusals, told apart by their sentences: it is not JSON any more; a word is not one of ours, or a value not of its kind; the sizes do not add
up; a number on the way to the logits is not finite. Two are not: the model loads, and its answers are others, or the same. The seventh must not occur.

@<What a siege knows@>=
enum verdict { NO_JSON, NO_WORD, NO_SUM, NO_NUMBER, OTHERS, SAME, STRANGE,@|
  VERDICTS };
enum part { HEADER, SETTINGS, INDEX, WORDS, NUMBERS, PARTS };
enum { MOST_FILES = 16, MOST_NAME = 64, COST = 16, TEXT = 3 };
static const uint32_t text[TEXT] = @[{ 1, 2, 3 }@];
static const char *const verdict_name[VERDICTS] = @[{ "json", "word", "sum",@|
  "nan", "other", "same", "strange" }@];
static const char *const part_name[PARTS] = @[{ "header", "settings",@|
  "index", "tokenizer", "numbers" }@];

@ The files lie twice: in a folder, where one of them is always a little wrong, and in memory, where they are right. |at| is the file in the folder, open for writing. The counts are one table
for bits and one for cuts; |loads| is for the figure: at each byte of the settings, how many of its eight bits may be turned.

@<What a siege knows@>=
struct besieged { char name[MOST_NAME]; unsigned char *bytes; size_t n;
  int at; };
struct siege {
  struct memory m;
  struct error why;
  char folder[64];
  struct besieged file[MOST_FILES];
  size_t n_files, all, stride; /* bytes of all files; of numbers every |stride|-th */
  float *logits[2]; /* of the right files, and of those that are tried */
  size_t n_logits;
  struct ids ids[2];
  uint64_t bits[PARTS][VERDICTS], cuts[PARTS][VERDICTS];
  uint64_t largest; /* most bytes held in one trial */
  unsigned char loads[4096];
  char strange[sizeof(struct error)];
};

@ Our own model is as small as a Llama can be: one layer, rows of four numbers. Its settings are a list of names and values, as they are published, with one field that is harmless and one that is advice.

@<A small model in files@>=
static const char *const own_setting[][2] = @[{@|
  {"architectures", "[\"LlamaForCausalLM\"]"},@|
  {"attention_dropout", "0.0"}, {"bos_token_id", "0"},@|
  {"eos_token_id", "0"}, {"hidden_act", "\"silu\""},@|
  {"hidden_size", "4"}, {"intermediate_size", "6"},@|
  {"max_position_embeddings", "16"}, {"model_type", "\"llama\""},@|
  {"num_attention_heads", "2"}, {"num_hidden_layers", "1"},@|
  {"num_key_value_heads", "1"}, {"rms_norm_eps", "1e-05"},@|
  {"rope_theta", "10000.0"}, {"tie_word_embeddings", "true"},@|
  {"torch_dtype", "\"float32\""}, {"vocab_size", "8"} }@];

@ And its tensors, of which those of the layer have a common beginning. The shapes are those that the settings call for; a vector has no columns.

@<A small model in files@>=
static const struct { bool in_layer; const char *name; int rows, columns; }
  own_tensor[] = @[{@|
  {false, "embed_tokens", 8, 4}, {true, "input_layernorm", 4, 0},@|
  {true, "self_attn.q_proj", 4, 4}, {true, "self_attn.k_proj", 2, 4},@|
  {true, "self_attn.v_proj", 2, 4}, {true, "self_attn.o_proj", 4, 4},@|
  {true, "post_attention_layernorm", 4, 0}, {true, "mlp.gate_proj", 6, 4},@|
  {true, "mlp.up_proj", 6, 4}, {true, "mlp.down_proj", 4, 6},@|
  {false, "norm", 4, 0} }@];
enum { OWN_SETTINGS = sizeof own_setting / sizeof *own_setting,@|
  OWN_TENSORS = sizeof own_tensor / sizeof *own_tensor };

@ Text is put together as in |printf|, a piece at a time, in a row of bytes.

@<A small model in files@>=
static bool put(struct siege *s, struct bytes *to, const char *format, ...)
{
  char piece[256];
  va_list list;
  va_start(list, format);
  int n = vsnprintf(piece, sizeof piece, format, list);
  va_end(list);
  return n >= 0 && n < (int) sizeof piece
    && bytes_push(&s->m, to, piece, (size_t) n, &s->why);
}
@#
static bool put_settings(struct siege *s, struct bytes *to)
{
  bool ok = put(s, to, "{\n");
  for (size_t i = 0; ok && i < OWN_SETTINGS; i++)
    ok = put(s, to, "  \"%s\": %s%s\n", own_setting[i][0], own_setting[i][1],
      i + 1 < OWN_SETTINGS ? "," : "");
  return ok && put(s, to, "}\n");
}

@ The header of the weights has an offset for each tensor, which is the sum of the sizes before it, and the one piece of metadata that the published files have.

@<A small model in files@>=
static bool put_header(struct siege *s, struct bytes *to, int *at)
{
  bool ok = put(s, to, "{\"__metadata__\":"@| "{\"format\":\"pt\"}");
  for (size_t i = 0; ok && i < OWN_TENSORS; i++) {
    int rows = own_tensor[i].rows, columns = own_tensor[i].columns;
    int n = rows * (columns == 0 ? 1 : columns) * 4;
    ok = put(s, to, ",\"model.%s%s.weight\":"@| "{\"dtype\":\"F32\",\"shape\":",
      own_tensor[i].in_layer ? "layers.0." : "", own_tensor[i].name)
      && (columns == 0 ? put(s, to, "[%d]", rows)
        : put(s, to, "[%d,%d]", rows, columns))
      && put(s, to, ",\"data_offsets\":[%d,%d]}", *at, *at + n);
    *at += n;
  }
  return ok && put(s, to, "}");
}

@ The numbers are multiples of a sixteenth, from a half below zero to a half above, in no particular order. The length goes in front when it is known.

@<A small model in files@>=
static bool put_weights(struct siege *s, struct bytes *to)
{
  int end = 0;
  uint64_t length = 0;
  if (!bytes_push(&s->m, to, &length, 8, &s->why) || !put_header(s, to, &end))
    return false;
  length = to->n - 8;
  memcpy(to->byte, &length, 8);
  bool ok = true;
  for (int i = 0; ok && i < end / 4; i++) {
    float x = (float) (i * 37 % 17 - 8) / 16;
    ok = bytes_push(&s->m, to, &x, 4, &s->why);
  }
  return ok;
}

@ The tokenizer is learnt from a line of text and written by \cref{tokenizer}, and two more files suggest how to sample and name the end of a text.

@<A small model in files@>=
static bool put_tokenizer(struct siege *s)
{
  static const char lesson[] = "the cat sat on the mat";
  char path[160];
  struct bpe_merge *merge;
  size_t n;
  snprintf(path, sizeof path, "%s/tokenizer.json", s->folder);
  if (!bpe_train(&s->m, lesson, strlen(lesson), split_gpt2, 4, &merge, &n,
    &s->why)) return false;
  bool ok = tokenizer_write(&s->m, path, merge, n, &s->why);
  bpe_forget(&s->m, merge, 4);
  return ok;
}

@ Each of the other files is put together in memory and written out whole.

@<A small model in files@>=
static bool write_file(struct siege *s, const char *name, const void *bytes,
  size_t n)
{
  char path[160];
  snprintf(path, sizeof path, "%s/%s", s->folder, name);
  FILE *f = fopen(path, "wb");
  if (f == NULL) return error_say(&s->why, "%s: cannot be written", path);
  bool ok = fwrite(bytes, 1, n, f) == n;
  return (fclose(f) == 0 && ok)
    || error_say(&s->why, "%s: cannot be written", path);
}

@ A list of merges needs no end token for the siege, but a model's folder has these two files as a rule, and what a rule has is attacked.

@<A small model in files@>=
static bool make_model(struct siege *s)
{
  static const char advice[] = "{\"do_sample\": true, "@|
    "\"temperature\": 0.8,"@| " \"eos_token_id\": [0]}\n";
  static const char words[] = "{\"add_bos_token\": true,"@|
    " \"bos_token\": "@| "\"<|endoftext|>\"}\n";
  struct bytes b = @[{ NULL, 0, 0 }@];
  bool ok = put_settings(s, &b)
    && write_file(s, "config.json", b.byte, b.n);
  b.n = 0;
  ok = ok && put_weights(s, &b)
    && write_file(s, "model.safetensors", b.byte, b.n)
    && write_file(s, "generation_config.json", advice, strlen(advice))
    && write_file(s, "tokenizer_config.json", words, strlen(words))
    && put_tokenizer(s);
  bytes_free(&s->m, &b);
  return ok;
}

@* What a change did. \label{sec:siegetrial}
The folder lies in memory where the system has such a place, since so many small writes would wear a disk for nothing.

@<The files, and the folder that they lie in@>=
static bool folder_open(struct siege *s)
{
  snprintf(s->folder, sizeof s->folder, "%s/incipit-siege-XXXXXX",
    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  return mkdtemp(s->folder) != NULL
    || error_say(&s->why, "%s: cannot be made", s->folder);
}
@#
static void folder_close(struct siege *s)
{
  char path[160];
  for (size_t i = 0; i < s->n_files; i++) {
    snprintf(path, sizeof path, "%s/%s", s->folder, s->file[i].name);
    if (s->file[i].at >= 0) close(s->file[i].at);
    unlink(path);
    memory_give(&s->m, FOR_OTHER, s->file[i].bytes, s->file[i].n, 1);
  }
  rmdir(s->folder);
}

@ A file joins the siege with a copy of its bytes. If it comes from another directory it is written into the folder first.

@<The files, and the folder that they lie in@>=
static bool file_join(struct siege *s, const char *from, const char *name)
{
  char path[4096];
  struct mapping map;
  struct besieged *f = &s->file[s->n_files];
  snprintf(path, sizeof path, "%s/%s", from, name);
  if (!file_map(&map, path, &s->why)) return false;
  f->n = map.size;
  f->bytes = memory_take(&s->m, FOR_OTHER, f->n, 1, &s->why);
  if (f->bytes != NULL && f->n > 0) memcpy(f->bytes, map.bytes, f->n);
  file_unmap(&map);
  snprintf(f->name, sizeof f->name, "%s", name);
  if (f->bytes == NULL || (strcmp(from, s->folder) != 0
    && !write_file(s, name, f->bytes, f->n))) return false;
  snprintf(path, sizeof path, "%s/%s", s->folder, name);
  f->at = open(path, O_RDWR);
  s->n_files++, s->all += f->n;
  return f->at >= 0 || error_say(&s->why, "%s: cannot be opened", path);
}

@ Of a directory we take the files that a loader would look at: those whose names end as JSON and as tensors do.

@<The files, and the folder that they lie in@>=
static bool ends_with(const char *name, const char *end)
{
  size_t n = strlen(name), k = strlen(end);
  return n >= k && strcmp(name + n - k, end) == 0;
}
@#
static bool files_join(struct siege *s, const char *from)
{
  DIR *d = opendir(from);
  if (d == NULL) return error_say(&s->why, "%s: cannot be read", from);
  bool ok = true;
  for (struct dirent *e = readdir(d); ok && e != NULL; e = readdir(d))
    if ((ends_with(e->d_name, ".json") || ends_with(e->d_name, ".safetensors"))
        && strlen(e->d_name) < MOST_NAME && s->n_files < MOST_FILES)
      ok = file_join(s, from, e->d_name);
  closedir(d);
  return ok;
}

@ Which part of the model a byte belongs to follows from its file, and in a file of tensors from its place.

@<The files, and the folder that they lie in@>=
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

@ A sentence is recognized by its words. What speaks of JSON or of a line is from the parser; a few ends of sentences are about sizes and about what is there and what is not; the rest of ours have a ``wanted'', but for the one of a vocabulary that lacks a byte. A sentence
without any of these is none of ours. So is one about memory: to ask for more than there is would be a fault, however well it ended.

@<Try what the files are now@>=
static bool any_of(const char *words, const char *const *some)
{
  while (*some != NULL && strstr(words, *some) == NULL) some++;
  return *some != NULL;
}
@#
static enum verdict verdict_of(const char *words)
{
  static const char *const json[] = @[{ "strict JSON", ": line ", NULL }@];
  static const char *const sums[] = @[{ "as many bytes", "no hole",@|
    "within the file", "the last offset", "rising offsets",@|
    "longer than the file", "2^64", "wanted: [", "no more layers",@|
    "a multiple of", "a divisor of", "each name once", "without use",@|
    "the file that has", "as in the files", "an even number",@|
    "cannot be opened", NULL }@];
  static const char *const finite[] = @[{ "is not finite", NULL }@];
  static const char *const wanted[] = @[{ "; wanted: ", "cannot spell", NULL }@];
  if (any_of(words, json)) return NO_JSON;
  if (any_of(words, finite)) return NO_NUMBER;
  if (any_of(words, sums)) return NO_SUM;
  return any_of(words, wanted) ? NO_WORD : STRANGE;
}

@ A trial has a book of its own, so that what it took can be held against the size of the files: at most |COST| times as much, and a little for the smallest. What it took must be back. Either failure is strange, whatever the loader said.

@<Try what the files are now@>=
static enum verdict settle(struct siege *s, const struct memory *m,
  enum verdict v, const struct error *why)
{
  if (m->all.peak > s->largest) s->largest = m->all.peak;
  if (m->all.held != 0 || m->all.peak > COST * s->all + 65536) v = STRANGE;
  if (v == STRANGE && s->strange[0] == '\0')
    snprintf(s->strange, sizeof s->strange, "%.300s (%zu held, at most %zu)",
      why->words, (size_t) m->all.held, (size_t) m->all.peak);
  return v;
}

@ A model that opens is put to work: the probabilities of three tokens, which fail by name if a number on the way is none, and the logits behind each of them, bit for bit.

@<Try what the files are now@>=
static bool work_it(struct siege *s, struct memory *m, const struct model *lm,
  float *logits, struct error *why)
{
  static const size_t every[TEXT] = @[{ 0, 1, 2 }@];
  struct counters c = @[{ .passes = 0 }@];
  struct engine e = @[{ kernels_find("scalar", NULL), NULL, &c }@];
  double logprob[TEXT], sum;
  struct store *t = store_open(m, &lm->config, 1, why);
  if (t == NULL) return false;
  bool ok = lm->config.vocab_size == s->n_logits
    || error_say(why, "another vocabulary");
  ok = ok && logprobs(&e, lm, t, text, TEXT, logprob, &sum, why)
    && evaluate(&e, lm, t, text, TEXT, every, TEXT, logits, why);
  store_close(t);
  return ok;
}

@ Whether its logits are those of the right files decides between the last two answers. Nothing is kept between two trials: each opens the files anew, as a new process would.

@<Try what the files are now@>=
static enum verdict try_model(struct siege *s, int which)
{
  struct memory m = @[{ .refuse_at = 0 }@];
  struct error why = @[{ "" }@];
  struct model *lm = model_open(&m, s->folder, &why);
  bool ok = lm != NULL && work_it(s, &m, lm, s->logits[which], &why);
  model_close(&m, lm);
  enum verdict v = !ok ? verdict_of(why.words)
    : memcmp(s->logits[0], s->logits[which],
      TEXT * s->n_logits * sizeof(float)) == 0 ? SAME : OTHERS;
  return settle(s, &m, v, &why);
}

@ A tokenizer that opens has a text to encode.

@<Try what the files are now@>=
static enum verdict try_words(struct siege *s, int which)
{
  static const char some[] = "the cat's 12 \xc3\xa9 <|endoftext|>";
  struct memory m = @[{ .refuse_at = 0 }@];
  struct error why = @[{ "" }@];
  struct tokenizer *t = tokenizer_open(&m, s->folder, &why);
  struct ids *list = &s->ids[which];
  list->n = 0;
  bool ok = t != NULL && tokenizer_encode(t, &s->m, some, strlen(some), true,
    true, list, &why);
  enum verdict v = !ok ? verdict_of(why.words)
    : list->n == s->ids[0].n && memcmp(list->id, s->ids[0].id,
      list->n * sizeof *list->id) == 0 ? SAME : OTHERS;
  tokenizer_close(&m, t);
  return settle(s, &m, v, &why);
}

@ Before the first change both are tried as they are, to have something to compare with.

@<Try what the files are now@>=
static bool try_first(struct siege *s)
{
  struct model *lm = model_open(&s->m, s->folder, &s->why);
  if (lm == NULL) return false;
  s->n_logits = lm->config.vocab_size;
  model_close(&s->m, lm);
  for (int i = 0; i < 2; i++) {
    s->logits[i] = memory_take(&s->m, FOR_OTHER, TEXT * s->n_logits,
      sizeof(float), &s->why);
    if (s->logits[i] == NULL) return false;
  }
  for (size_t i = 0; i < s->n_files; i++)
    if ((part_of(&s->file[i], 0) == WORDS ? try_words(s, 0)
        : try_model(s, 0)) != SAME)
      return error_say(&s->why, "the model does not stand unaltered");
  return true;
}

@ Now the siege itself. A bit is turned in the file, the file is tried, the bit is turned back.

@<Turn every bit, cut at every byte@>=
static enum verdict try_part(struct siege *s, enum part p)
{
  return p == WORDS ? try_words(s, 1) : try_model(s, 1);
}
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

@ Then the file loses its last byte, and another, until it is empty, and gets all of them back. Of numbers every |stride|-th byte is attacked, in a file of our own each.

@<Turn every bit, cut at every byte@>=
static bool attack(struct siege *s, const struct besieged *f)
{
  for (size_t at = 0; at < f->n; at++)
    if ((part_of(f, at) != NUMBERS || at % s->stride == 0)
        && !turn_bits(s, f, at)) return false;
  for (size_t n = f->n; n-- > 0;) {
    enum part p = part_of(f, n);
    if (p == NUMBERS && n % s->stride != 0) continue;
    if (ftruncate(f->at, (off_t) n) != 0) return false;
    s->cuts[p][try_part(s, p)]++;
  }
  return pwrite(f->at, f->bytes, f->n, 0) == (ssize_t) f->n;
}

@* What came of it. \label{sec:siegeresult}
\Cref{tab:siege} has the answers for every bit of the small model, \val{hostile.bits} trials; \val{hostile.cuts} more were cuts. The largest trial held \val{hostile.largest}, of files that have \val{hostile.bytes} together, and none was strange.

\begin{table}[tp]
\tabcaption{tab:siege}{What became of a model after one bit of its files was turned. The first four counts are refusals; the last two are of models that load.}
\centering\small
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lrrrrrr@@{}}
\toprule
\tabhead{part} & \tabhead{no JSON} & \tabhead{words} & \tabhead{sums} & \tabhead{not finite} & \tabhead{other answers} & \tabhead{the same}\\
\midrule
header & \val{hostile.header.json} & \val{hostile.header.word} & \val{hostile.header.sum} & \val{hostile.header.nan} & \val{hostile.header.other} & \val{hostile.header.same}\\
settings & \val{hostile.settings.json} & \val{hostile.settings.word} & \val{hostile.settings.sum} & \val{hostile.settings.nan} & \val{hostile.settings.other} & \val{hostile.settings.same}\\
tokenizer & \val{hostile.tokenizer.json} & \val{hostile.tokenizer.word} & \val{hostile.tokenizer.sum} & \val{hostile.tokenizer.nan} & \val{hostile.tokenizer.other} & \val{hostile.tokenizer.same}\\
numbers & \val{hostile.numbers.json} & \val{hostile.numbers.word} & \val{hostile.numbers.sum} & \val{hostile.numbers.nan} & \val{hostile.numbers.other} & \val{hostile.numbers.same}\\
\bottomrule
\end{tabular*}
\end{table}

Read the table by its lines. In the header nothing goes through but in the metadata, which we forget: there is no number that could be another and still add up. That is what it means that type, shape and offsets
say the same thing twice. The settings say most things once. \Cref{fig:siege} shows where a bit may be turned in them: in the digits that scale something, the base of the rotations and the epsilon of the norms, and in the ids that
end a text. Of the sizes, only the context can be changed, since no tensor is as long as it. The numbers of the model itself are not protected at all. Most turned bits give another model, a hair beside the first or far
from it; those that give the same were the last digits of numbers that are rounded away, or belong to tokens that our three do not meet. The few refusals among them are exponents with all bits set, of which no row survives. These name the layer.

\widefig{siege}{fig:siege}{The settings of the small model, as they stand in the file. Black: none of the eight bits of this character can be turned without a refusal. Red, the darker the more: bits that can be turned, and the model loads.}{The text of a
file of settings, one field a line. Almost all characters are black. Red are the values of a few fields: the ids of the first and last token, the context, the epsilon, the base of the rotations, and the values of two fields that
do not matter.}

@ A cut is the simpler attack. Of all places where a file can end too early, \val{hostile.cuts.loads} leave it a model: they take away a line end behind the last brace.

@<Say what came of it@>=
static uint64_t add_up(const uint64_t table[PARTS][VERDICTS], enum verdict from,
  enum verdict to)
{
  uint64_t sum = 0;
  for (int p = 0; p < PARTS; p++)
    for (int v = (int) from; v <= (int) to; v++) sum += table[p][v];
  return sum;
}

@ The keys are named after the part and the answer.

@<Say what came of it@>=
static void print_keys(const struct siege *s)
{
  for (int p = 0; p < PARTS; p++)
    for (int v = 0; v < STRANGE && p != INDEX; v++)
      printf("hostile.%s.%s %zu\n", part_name[p], verdict_name[v],
        (size_t) s->bits[p][v]);
  @<Print the sums, and what two claims would have cost@>@;
}

@ The two sizes of \cref{sec:saferules} are products: rows of a context of $2^{31}-1$ positions, and the table of ids, at twice the largest, of which each entry is two places of letters and a mark.

@<Print the sums, and what two claims would have cost@>=
size_t entry = 4 * sizeof(uint32_t) + 4;
const struct { const char *name; size_t n; const char *unit; } sum[] = @[{@|
  {"bits", (size_t) add_up(s->bits, NO_JSON, STRANGE), ""},@|
  {"cuts", (size_t) add_up(s->cuts, NO_JSON, STRANGE), ""},@|
  {"cuts.loads", (size_t) add_up(s->cuts, OTHERS, SAME), ""},@|
  {"bytes", s->all, " bytes"}, {"largest", (size_t) s->largest, " bytes"},@|
  {"claim", sizeof(struct row) * 0x7fffffff, " bytes"},@|
  {"claim.ids", (2 * ((size_t) 1 << 22) + 254) * entry, " bytes"},@|
  {"entry", entry, " bytes"} }@];
for (size_t i = 0; i < sizeof sum / sizeof *sum; i++)
  printf("hostile.%s %zu%s\n", sum[i].name, sum[i].n, sum[i].unit);

@ For people the counts stand in a table, with bits and cuts together; the index of shards has a line if there is one.

\widecheckpoint{build/out/hostile.txt}{the small model under siege}

@<Say what came of it@>=
static void print_table(const struct siege *s)
{
  printf("%-12s %9s %9s %9s %9s %9s %9s %9s\n", "", "no JSON", "words", "sums",
    "no number", "others", "same", "strange");
  for (int p = 0; p < PARTS; p++) {
    if (p == INDEX && s->bits[p][NO_JSON] == 0) continue;
    printf("%-12s", part_name[p]);
    for (int v = 0; v < VERDICTS; v++)
      printf(" %9zu", (size_t) (s->bits[p][v] + s->cuts[p][v]));
    printf("\n");
  }
  printf("%zu bits turned, %zu cuts,"@| " %zu bytes of files\n",@|
    (size_t) add_up(s->bits, NO_JSON, STRANGE),
    (size_t) add_up(s->cuts, NO_JSON, STRANGE), s->all);
  if (s->strange[0] != '\0') printf("strange: %s\n", s->strange);
}

@ The figure gets a line for each byte of the settings: the character and how many of its bits can be turned.

@<Say what came of it@>=
static void print_map(const struct siege *s)
{
  printf("character,loads\n");
  for (size_t i = 0; i < s->n_files; i++)
    for (size_t at = 0; at < s->file[i].n && at < sizeof s->loads; at++)
      if (strcmp(s->file[i].name, "config.json") == 0)
        printf("%d,%d\n", s->file[i].bytes[at], s->loads[at]);
}

@ One run is one siege, of our model or of another's, and what it prints depends on the word. A strange answer is a failure of the program, as it would be of a test, for it is one: \texttt{make check} and \texttt{make sanitize}
run it on two more models, where every |stride|-th byte of the numbers is attacked. The figure needs one file only.

@<Lay siege to a model@>=
static bool besiege(struct siege *s, const char *from, const char *only)
{
  s->stride = from == NULL ? 1 : 64;
  bool ok = folder_open(s) && (from != NULL || make_model(s))
    && files_join(s, from != NULL ? from : s->folder) && try_first(s);
  for (size_t i = 0; ok && i < s->n_files; i++)
    ok = (only != NULL && strcmp(s->file[i].name, only) != 0)
      || attack(s, &s->file[i])
      || error_say(&s->why, "%s: cannot be altered", s->file[i].name);
  return ok;
}
@#
static void siege_close(struct siege *s)
{
  folder_close(s);
  for (int i = 0; i < 2; i++) {
    ids_free(&s->m, &s->ids[i]);
    memory_give(&s->m, FOR_OTHER, s->logits[i], TEXT * s->n_logits,
      sizeof(float));
  }
}

@ The clock is asked only where a time is wanted; a checkpoint must print the same every day.

@<Lay siege to a model@>=
int main(int argc, char **argv)
{
  static struct siege s;
  const char *what = argc > 1 ? argv[1] : "";
  bool whole = strcmp(what, "whole") == 0 && argc > 2;
  clock_t began = clock();
  bool map = strcmp(what, "map") == 0;
  bool ok = besiege(&s, whole ? argv[2] : NULL, map ? "config.json" : NULL);
  if (!ok) fprintf(stderr, "%s\n", s.why.words);
  else if (strcmp(what, "values") == 0) print_keys(&s);
  else if (map) print_map(&s);
  else print_table(&s);
  if (whole && ok)
    printf("%s: at most %zu bytes held, %.1f s\n", argv[2],
      (size_t) s.largest, (double) (clock() - began) / CLOCKS_PER_SEC);
  siege_close(&s);
  return !ok || s.strange[0] != '\0' || s.m.all.held != 0;
}

@* Exercises. \label{sec:siegeexercises}
The last one is the box in earnest, for four numbers of 64 bits.

\begin{exercises}
\exercise{check}{ex:hostile.header}{A file has 100 bytes, and sizes have 64 bits. Its header says that it has 92 bytes; or 93; or $2^{64}-8$; or $2^{64}-7$. Which of the four are let in by the test $8+h\le100$, and which by $h\le100-8$?}{\texttt{make
exercise-W18-1}}{By the first 92, $2^{64}-8$ and $2^{64}-7$, since $8+h$ is 100, 0 and 1; by the second only 92.}
\exercise{think}{ex:hostile.ids}{An id is let in if it is smaller than the number of bytes of its file. How many bytes has the smallest \texttt{vocab.json} of ten words with the ids from 0 to 9? And what is the largest number of bytes that one word with one id can
make our table of ids ask for, at twice the id and \val{hostile.entry} a place, if the file has ten times as many bytes as this smallest one and may have gaps?}{\texttt{make exercise-W18-2}}{A word of one letter, its quotation marks, a colon, a digit: five
bytes; nine commas, two braces: 61. Of 610 bytes the largest id is 609, and the table has $2\cdot609+256=1474$ places of \val{hostile.entry}, together 29,480 bytes: a good deal, but no more than such a file could pay for with words.}
\exercise{build}{ex:hostile.fits}{Write |bool fits(uint64_t size, uint64_t header, uint64_t begin, uint64_t end)|: do the bytes from |begin| to |end|, counted from behind a header of |header| bytes and the 8 before it, lie in a file of |size|
bytes? Nothing is known of the four numbers.}{\texttt{make exercise-W18-3}}{|size >= 8 && header <= size - 8 && begin <= end && end <= size - 8 - header|. Each comparison allows the next subtraction.}
\end{exercises}
