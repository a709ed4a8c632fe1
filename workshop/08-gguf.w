@i types.w

\chapterquestion{One file instead of six: can we trust it, and is anything lost on the way?}
@** GGUF: one file with weights, settings and vocabulary.
\incipit{M}{ost people} who run a language model at home have never seen a \.{config.json}. They have downloaded one file whose name ends in \.{.gguf}, and everything is in it: the tensors, usually in blocks of four or
five bits, the settings, the vocabulary with its merges or scores, and the template of a chat. The format comes from the program \texttt{llama.cpp} and the library \emph{ggml} under it.
@^GGUF@>@^ggml@>

Such a file comes from a stranger, so we read it with the five rules of \cref{sec:saferules}, and believe no number in it before we have compared it with something. That is the first half of this chapter. In the second half we ask where the settings of a model and its vocabulary are in the file, and then we go the other way: out of the six files of a directory we make one, with weights in fewer bits. How do we know that nothing else got lost?

\begin{byhand}{two tensors again, byte by byte}
The two tensors of \cref{safetensors}, an F16 of shape $[3,5]$ and an F32 of shape $[4]$, in this format. All numbers are stored lowest byte first; a string is its length in 8 bytes and then its letters.

\medskip
\begin{tabular}{@@{}rrl@@{}}
\tabhead{from} & \tabhead{bytes} & \tabhead{what}\\
0 & 4 & the four letters GGUF\\
4 & 4 & the version, 3\\
8 & 8 & how many tensors, 2\\
16 & 8 & how many keys, 1\\
24 & 25 & a string of 17 letters: general.alignment\\
49 & 4 & the type of its value: 4, which is uint32\\
53 & 4 & the value, 32\\
57 & 9 & a string of 1 letter: a\\
66 & 4 & how many dimensions, 2\\
70 & 16 & the dimensions, innermost first: 5 and 3\\
86 & 4 & the type of its numbers: 1, which is F16\\
90 & 8 & where they begin in the data: 0\\
98 & 9 & a string of 1 letter: b\\
107 & 4 & how many dimensions, 1\\
111 & 8 & the dimension, 4\\
119 & 4 & the type: 0, which is F32\\
123 & 8 & where they begin in the data: 32\\
131 & 29 & zeros\\
160 & 30 & the numbers of a\\
190 & 2 & zeros\\
192 & 16 & the numbers of b
\end{tabular}
\medskip

The description ends at byte 131. Data begin at the next multiple of 32, which is $5\cdot32=160$. The first tensor has $3\cdot5\cdot2=30$ bytes, and the second begins at the next multiple of 32 after 30: at 32, which is byte
$160+32=192$ of the file. It has $4\cdot4=16$ bytes, and the file ends at $192+16=208$. Each tensor now begins at a multiple of 32, so a processor can load its numbers without crossing a boundary: that is what the zeros pay for.
\end{byhand}

@ The program writes this file and seven damaged ones, and opens each of them with the function that opens every file of tensors. The table of the damages is in \.{unwoven/gguf/shown.inc}.

@c
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "safetensors/tensor_file.h"
@;@#
#include "gguf/shown.inc"
@;@#
int main(int argc, char **argv)
{
  (void) argv;
  if (argc > 1) return 0;
  for (int damage = 0; damage < DAMAGES; damage++)
    if (!open_again(damage)) return 1;
  return 0;
}

@* What is in the file. \label{sec:gguf}
\Cref{fig:gguf} shows the three parts. First comes a list of keys with values, the \emph{metadata}; then the list of tensors, each with name, shape, type and place; then, after padding, the numbers. The number of keys and the number of tensors are in the first
24 bytes, but nothing says how long the lists are. So how do we find the tensors? Only by reading all the keys. A whole vocabulary is the value of a single key: an array of strings, each with a length of its own.
@^metadata@>

\widefig{gguf}{fig:gguf}{A GGUF file. Only the two counts are at a fixed place; everything else begins where the one before it ends.}{A long bar from left to right in five parts: GGUF, version and two counts, 24 bytes; keys and values; tensors, each with name, dimensions, type and offset; padding;
the numbers, of which each tensor begins at a multiple of the alignment. Under the keys stands general.architecture, llama.block\_count, tokenizer.ggml.tokens, and so on. An arrow leads from an offset in the list of tensors to the beginning of its numbers.}

Compared with safetensors the format gains one thing and loses another. It gains completeness: weights and vocabulary cannot be separated, so they cannot be of two different models. It loses the second statement of each size. In safetensors an entry says type, shape \emph{and} both ends of its
bytes; here it says type, shape and the beginning. But the beginning is not free: tensors are stored in the order of the list, and each begins at the first multiple of the alignment after the end of the one before. So the offset of the
next tensor repeats the size of this one. Flip one bit of a shape, and an offset no longer fits. Only the last tensor has no successor; for it we have the end of the file.

@ Where do the parts come from? Hugging Face publishes a model as a directory of about six files, and \cref{fig:sixfiles} shows where each of them goes. The settings become keys that begin with the name of the \emph{architecture}, \.{llama.block\_count} for example; the tokenizer becomes a few arrays, and the chat template a single string. The weights are nearly all of the file, and the vocabulary is most of the rest.
@^architecture, in a GGUF file@>

\widefig{sixfiles}{fig:sixfiles}{Six files of a directory, and where each part is in one GGUF file. On the right, the bytes of the built-in model's file with weights in eight bits; that model has no chat template, and no advice for sampling.}{Two columns. On the left six files: config.json, generation\_config.json, tokenizer.json, tokenizer\_config.json, chat\_template.jinja and model.safetensors. Arrows lead to the parts of one tall file on the right: keys of the architecture and ids that end a text; advice for sampling; arrays of tokens, types, merges or scores; the template; the list of tensors; the numbers. Beside each part is its size in bytes: the numbers have more than nine tenths of all, the vocabulary nearly all of the rest.}

Not everything finds a place. The format cannot say whether advice for sampling is to be followed, and it does not describe how the tokenizer cuts a text; it has only a name for that. We come back to both.

@ This is what a reader of the description offers. It maps nothing and copies nothing: the values stay where they are in the mapped file, because a vocabulary has megabytes and many keys are never asked for. What can be asked of a value is in \.{unwoven/gguf/values.h}; for a number, for instance, the caller gets a |double|, which is enough for every size, id or count in a model.

@(gguf.h@>=
#ifndef INCIPIT_GGUF_H
#define INCIPIT_GGUF_H
#include "functions/number_type.h"
#include "gguf/values.h"
@<Keys and values@>@;
@<The description of a file@>@;
@<The tensors, one after another@>@;
#endif

@ A value is a number of one of ten types, a truth value, a string, or an array of any of these. An array of arrays is legal too, although ggml refuses it. No key that we use has one, so we read over it, and an entry says only how many arrays there are.

@<Keys and values@>=
enum gguf_type { GGUF_U8, GGUF_I8, GGUF_U16, GGUF_I16, GGUF_U32, GGUF_I32,@|
  GGUF_F32, GGUF_BOOL, GGUF_STRING, GGUF_ARRAY, GGUF_U64, GGUF_I64, GGUF_F64,@|
  N_GGUF_TYPES };
  /* the types of values, with the format's numbers */
struct gguf_words { const char *text; size_t n; };
  /* |n| bytes of the mapped file, without a zero at the end */
struct gguf_entry {
  struct gguf_words key;
  enum gguf_type type; /* of the value, or of the elements of an array */
  bool is_array;
  uint64_t count; /* elements; 1 if it is no array */
  const unsigned char *at, *end; /* the bytes of the elements */
};
  /* a key and where its value is */

@ The structure belongs to the caller, and so does the memory that it describes. After |gguf_read| has succeeded, everything about the description is known to be within the file.

@<The description of a file@>=
struct gguf_file {
  struct memory *m;
  const char *path; /* for messages; borrowed */
  const unsigned char *bytes;
  size_t size; /* of the file */
  struct gguf_entry *entry; /* in the order of the keys' names */
  size_t n_entries, cap;
  uint64_t n_tensors, alignment;
  size_t tensors_at, data_at; /* where the list of tensors begins, and the data */
};
  /* what a file says about itself, once it has been checked; it points into the file */
bool gguf_recognizes(const char *path);
  /* is this a regular file that begins with the four letters? */
bool gguf_read(struct gguf_file *g, struct memory *m, const char *path,
  const unsigned char *bytes, size_t size, struct error *why);
  /* checks the |size| bytes of a file, and fills in |g|, which |gguf_free| frees even on failure;
     false and a sentence. Not checked: that the names of tensors differ */
void gguf_free(struct gguf_file *g);
  /* frees the list of keys; a structure of zeros is allowed */

@ The tensors are visited one after another, in the order of the file. Each visit repeats all checks, so it is safe even if the file has changed in the meantime. We keep no list of them: a caller who needs one has a list already. One such caller is |tensor_file_open| (\cref{sec:safetensors}); for it GGUF is a row in a table of formats, and that row is \.{unwoven/gguf/format.c}.

@<The tensors, one after another@>=
struct gguf_tensor {
  struct gguf_words name;
  unsigned type; /* its row in |number_types| */
  uint32_t rank;
  uint64_t shape[4]; /* outermost first, as elsewhere in this book */
  uint64_t elements, bytes, begin; /* |begin|: from |data_at| on */
};
  /* an entry of the list of tensors; the name is in the file, the rest is a copy */
struct gguf_walk { size_t at; uint64_t left, next; };
  /* where the next entry is, how many are left, and where the next tensor must begin */
struct gguf_walk gguf_begin(const struct gguf_file *g);
  /* before the first */
bool gguf_next(const struct gguf_file *g, struct gguf_walk *w,
  struct gguf_tensor *t, struct error *why);
  /* the next of |w->left > 0| tensors; false and a sentence */

@* Every number is a claim: reading numbers and strings. \label{sec:ggufnumbers}
A reader has a place in the file. Before it moves on it asks whether there are as many bytes as it wants, and that question has the form of the first rule: we compare the claim with what is left, and add nothing to it. The name of the field
is written down before it is read, so every complaint has one.

@<A reader of the description@>=
struct gguf_reader {
  const struct gguf_file *g;
  size_t at;
  char field[96];
  struct error *why;
};
static size_t left_of(const struct gguf_reader *r)
{
  return r->g->size - r->at;
}
/*- r->field was written down before anything was read, so every complaint names one. */
static bool gguf_bad(struct gguf_reader *r, const char *found, const char *wanted)
{
  return error_found(r->why, r->g->path, r->field, found, wanted);
}

@ A number has 1, 2, 4 or 8 bytes, and |gguf_number_at| puts it together byte by byte. That is right on every machine, and the place need not be aligned.

@<A reader of the description@>=
static bool take_number(struct gguf_reader *r, size_t n, uint64_t *x)
{
  if (left_of(r) < n)
    return gguf_bad(r, "cut off by the end of the file", "a whole description");
  *x = gguf_number_at(r->g->bytes + r->at, n);
  r->at += n;
  return true;
}

@ A string may claim to have $2^{64}-1$ bytes. If we added the claim to a place in the file, the sum would wrap around and look small. Compared with the bytes that are left, the claim is harmless.

@<A reader of the description@>=
static bool take_string(struct gguf_reader *r, struct gguf_words *words)
{
  uint64_t n = 0;
  if (!take_number(r, 8, &n)) return false;
  if (n > left_of(r)) {
    char found[64], wanted[64];
    snprintf(found, sizeof found, "a string of %" PRIu64 " bytes", n);
    snprintf(wanted, sizeof wanted, "at most %zu, which the file has left",
      left_of(r));
    return gguf_bad(r, found, wanted);
  }
  words->text = (const char *) r->g->bytes + r->at;
  words->n = (size_t) n;
  r->at += words->n;
  return true;
}
  /*- The claim may be 2^64 - 1; it is compared with what is left, and never added to a place. */

@ Others will make C strings of keys and names, so these may not contain a zero: two names that differ only after it would become one. A name that is empty cannot be asked for. The format bounds both: a key has fewer than $2^{16}$ bytes, a name fewer than 64, because ggml
keeps names in arrays of that size.

@<A reader of the description@>=
static bool take_name(struct gguf_reader *r, size_t max, struct gguf_words *name)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "a name of 1 to %zu bytes, none of them zero",
    max);
  if (!take_string(r, name)) return false;
  if (name->n == 0) return gguf_bad(r, "without a name", wanted);
  if (name->n > max) return gguf_bad(r, "one with a longer name", wanted);
  if (memchr(name->text, 0, name->n) != NULL)
    return gguf_bad(r, "one with a zero in its name", wanted);
  snprintf(r->field, sizeof r->field, "%.*s",
    (int) (name->n < 90 ? name->n : 90), name->text);
  return true;
}
  /*- Others make C strings of names: two that differ only after a zero would be one. ggml keeps
    names in arrays of 64. */

@* The keys. \label{sec:ggufkeys}
The first 24 bytes decide whether we can read the file at all (\.{unwoven/gguf/counts.inc}). Three kinds that we cannot read deserve a sentence of their own. Files of version 1 have lengths of 32 bits; that version was soon replaced, and such a file must be converted anew. A file from a big-endian machine has its bytes in the other order, so its version 3 reads as $3\cdot2^{24}$. And a later version may change anything.
@^big-endian@>

@ Both counts are claims. How many keys can a file have at most? A key takes at least 14 bytes: 8 for the length of its name, 1 for the name, 4 for the type and 1 for the value. A tensor takes at least 25. So the size of the file bounds both counts, and only after that comes a second, smaller bound: how many any honest file
could have.

@<Check the counts against the size of the file@>=
enum { MAX_KEYS = 1 << 16, MAX_NAME = 63, MAX_KEY = 65535 };
/*- The size of the file bounds a count before anything else does: a key takes 14 bytes at least, a
  tensor 25. */
static bool count_fits(struct gguf_reader *r, const char *field, uint64_t n,
  size_t least)
{
  char found[64], wanted[64];
  strcpy(r->field, field);
  if (n <= left_of(r) / least) return true;
  snprintf(found, sizeof found, "%" PRIu64, n);
  snprintf(wanted, sizeof wanted, "at most %zu, for which the file has bytes",
    left_of(r) / least);
  return gguf_bad(r, found, wanted);
}

@ The value of a key begins with its type. In an array the type of the elements and their number follow. Here we need the rule about products for the first time: we compare the number of elements with the bytes that are left, divided by the bytes of an element.

@<Read a value@>=
static bool take_type(struct gguf_reader *r, enum gguf_type *type)
{
  uint64_t x = 0;
  char found[64];
  if (!take_number(r, 4, &x)) return false;
  snprintf(found, sizeof found, "a value of type %" PRIu64, x);
  if (x >= N_GGUF_TYPES) return gguf_bad(r, found, "a type from 0 to 12");
  *type = (enum gguf_type) x;
  return true;
}
@<Skip the elements of a value@>@;
static bool read_value(struct gguf_reader *r, struct gguf_entry *e)
{
  if (!take_type(r, &e->type)) return false;
  e->is_array = e->type == GGUF_ARRAY, e->count = 1;
  /*- Without a namespace nothing says that the key is for other programs only, so no arrays in
    arrays there; ggml has the same rule. */
  bool bare = memchr(e->key.text, '.', e->key.n) == NULL;
  if (e->is_array) return read_array(r, e, bare ? 1 : MAX_DEPTH);
  e->at = r->g->bytes + r->at;
  if (!skip_elements(r, e)) return false;
  e->end = r->g->bytes + r->at;
  return true;
}

@ A string has at least the 8 bytes of its length, so an array of strings is bounded in the same way, before we read the first of them. A truth value is a byte, and must be 0 or 1. Of any other value we would not know what another program takes it for.

@<Skip the elements of a value@>=
static bool skip_elements(struct gguf_reader *r, const struct gguf_entry *e)
{
  size_t each = gguf_bytes_of[e->type];
  char found[64], wanted[64];
  snprintf(found, sizeof found, "an array of %" PRIu64, e->count);
  snprintf(wanted, sizeof wanted, "at most %zu, for which the file has bytes",
    left_of(r) / each);
  /*- before the first element is looked at; a string has 8 bytes at least, an array in an array 12
    */
  if (e->count > left_of(r) / each) return e->is_array
    ? gguf_bad(r, found, wanted)
    : gguf_bad(r, "cut off by the end of the file", "a whole description");
  struct gguf_words skipped;
  for (uint64_t i = 0; e->type == GGUF_STRING && i < e->count; i++)
    if (!take_string(r, &skipped)) return false;
  for (uint64_t i = 0; e->type == GGUF_BOOL && i < e->count; i++)
    /*- of any other value we do not know what another program takes it for */
    if (e->at[i] > 1) return gguf_bad(r, "a truth value that is neither", "0 or 1");
  if (e->type != GGUF_STRING && e->type != GGUF_ARRAY)
    r->at += (size_t) e->count * each;
  return true;
}

@ An array within an array has at least the 12 bytes of its type and its number of elements. A file could nest them as deep as it is long, and each level is a call of a function; so there is a bound. A key without a point in its name has no namespace (\cref{sec:ggufaccount}), so nothing says that it concerns other programs only. The reader of settings will refuse it; if its value is of this odd kind, we do so here, as ggml does.

@<Skip the elements of a value@>=
enum {@+ MAX_DEPTH = 8@+ };
/*- Each level is a call, and a file could nest as deep as it is long. */
static bool read_array(struct gguf_reader *r, struct gguf_entry *e, int levels)
{
  struct gguf_entry inner = @[{ .is_array = true }@];
  if (levels == 0) return gguf_bad(r, "an array of arrays",@|
    "a key with a namespace, and at most 8 levels");
  if (!take_type(r, &e->type) || !take_number(r, 8, &e->count)) return false;
  e->at = r->g->bytes + r->at;
  if (!skip_elements(r, e)) return false;
  for (uint64_t i = 0; e->type == GGUF_ARRAY && i < e->count; i++)
    if (!read_array(r, &inner, levels - 1)) return false;
  e->end = r->g->bytes + r->at;
  return true;
}

@ The list of keys grows as they are read.

@<Read the keys@>=
static bool read_entry(struct gguf_reader *r, struct gguf_file *g)
{
  struct gguf_entry *p = memory_reserve(g->m, MEMORY_OTHER, g->entry, &g->cap,
    g->n_entries + 1, 64, sizeof *p, r->why);
  if (p == NULL) return false;
  g->entry = p;
  struct gguf_entry *e = &g->entry[g->n_entries];
  snprintf(r->field, sizeof r->field, "key %zu", g->n_entries + 1);
  if (!take_name(r, MAX_KEY, &e->key) || !read_value(r, e)) return false;
  g->n_entries++;
  return true;
}

@ A key that occurs twice makes two models out of one file: one reader takes the first value, another the last. We sort the list and compare neighbours.

@<Read the keys@>=
static bool read_keys(struct gguf_reader *r, struct gguf_file *g, uint64_t n)
{
  if (n > MAX_KEYS) return gguf_bad(r, "larger", "at most 65536");
  for (uint64_t i = 0; i < n; i++)
    if (!read_entry(r, g)) return false;
  if (n > 0) qsort(g->entry, g->n_entries, sizeof *g->entry, gguf_by_key);
  for (size_t i = 1; i < g->n_entries; i++) {
    const struct gguf_words *key = &g->entry[i].key;
    if (gguf_by_key(&g->entry[i - 1], &g->entry[i]) != 0) continue;
    snprintf(r->field, sizeof r->field, "%.*s",
      (int) (key->n < 90 ? key->n : 90), key->text);
    return gguf_bad(r, "given twice", "each key once");
  }
  return true;
}

@ One key concerns the file itself: the alignment. It must be a power of two, so that one mask rounds up to it. With 0 the division of other readers fails; with 24, as in the seventh file of our check, readers that use a mask and readers that divide disagree about every offset.

@<Find the alignment@>=
static bool read_alignment(struct gguf_reader *r, struct gguf_file *g)
{
  const struct gguf_entry *e = gguf_find(g, "general.alignment");
  char found[64];
  g->alignment = 32;
  if (e == NULL) return true;
  strcpy(r->field, "general.alignment");
  if (e->type != GGUF_U32 || e->is_array)
    return gguf_bad(r, gguf_excerpt(e, found), "an unsigned integer of 32 bits");
  g->alignment = gguf_number_at(e->at, 4);
  return (g->alignment != 0 && (g->alignment & (g->alignment - 1)) == 0)
    || gguf_bad(r, gguf_excerpt(e, found), "a power of two");
}
static uint64_t aligned(const struct gguf_file *g, uint64_t x)
{
  return (x + g->alignment - 1) & ~(g->alignment - 1);
}

@* The tensors. \label{sec:gguftensors}
An entry has a name, the dimensions, the type and the offset. ggml has no more than four dimensions. They are stored innermost first, and we turn them round. The product is formed with the check of \cref{sec:header}. ggml itself once forgot
that check: a tensor of $2^{40}$ times $2^{40}$ elements wrapped around to none at all, and was accepted. A dimension is signed in ggml, so it must also be below $2^{63}$.

@<Read the dimensions@>=
static bool read_shape(struct gguf_reader *r, struct gguf_tensor *t)
{
  uint64_t rank = 0, n = 0;
  char found[64];
  if (!take_number(r, 4, &rank)) return false;
  snprintf(found, sizeof found, "one of %" PRIu64 " dimensions", rank);
  if (rank > 4) return gguf_bad(r, found, "at most 4");
  t->rank = (uint32_t) rank, t->elements = 1;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!take_number(r, 8, &n)) return false;
    t->shape[t->rank - 1 - i] = n;
    if (n > INT64_MAX || (n != 0 && t->elements > INT64_MAX / n))
      return gguf_bad(r, "one of too many elements", "fewer than 2^63");
    t->elements *= n;
  }
  return true;
}
  /*- Stored innermost first, and turned round. ggml's dimensions are signed, hence 2^63; a product
    that wraps to 0 was once accepted there. */

@ The types have ggml's numbers, which are in our own table as well (\cref{sec:numbertypes}). A type with a row there is known, whether or not we can multiply by it; that question is for the kernels. Numbers in blocks are stored by the row, and a row may not end within a block. So the innermost dimension, and not the product, must be a multiple of the block. The number of bytes is the last product.

@<Read the type, and count the bytes@>=
static bool read_type(struct gguf_reader *r, struct gguf_tensor *t)
{
  uint64_t number = 0;
  char found[64], wanted[64];
  if (!take_number(r, 4, &number)) return false;
  t->type = gguf_type_of_number(number);
  snprintf(found, sizeof found, "of type %" PRIu64, number);
  if (t->type == N_NUMBER_TYPES)
    return gguf_bad(r, found, "a type that this program knows");
  const struct number_type *known = &number_types[t->type];
  uint64_t row = t->rank == 0 ? 1 : t->shape[t->rank - 1];
  snprintf(found, sizeof found, "%s with rows of %" PRIu64, known->name, row);
  snprintf(wanted, sizeof wanted, "rows of a multiple of %u", known->block);
  /*- the row, not the product: no row ends within a block */
  if (row % known->block != 0) return gguf_bad(r, found, wanted);
  if (t->elements / known->block > INT64_MAX / known->bytes)
    return gguf_bad(r, "one of too many bytes", "fewer than 2^63");
  t->bytes = t->elements / known->block * known->bytes;
  return true;
}

@ The offset must be the running sum. So it is redundant, and that is its use. The tensor must end within the file. Can the comparison wrap around? No: |w->next| is a sum of sizes that were found to fit, rounded up at most once.

@<Go to the next tensor@>=
struct gguf_walk gguf_begin(const struct gguf_file *g)
{
  return (struct gguf_walk) @[{ g->tensors_at, g->n_tensors, 0 }@];
}
bool gguf_next(const struct gguf_file *g, struct gguf_walk *w,
  struct gguf_tensor *t, struct error *why)
{
  struct gguf_reader r = @[{ .g = g, .at = w->at, .why = why }@];
  char found[64], wanted[64];
  snprintf(r.field, sizeof r.field, "tensor %" PRIu64, g->n_tensors - w->left + 1);
  if (!take_name(&r, MAX_NAME, &t->name) || !read_shape(&r, t)
      || !read_type(&r, t) || !take_number(&r, 8, &t->begin)) return false;
  snprintf(found, sizeof found, "%" PRIu64 " bytes at offset %" PRIu64,
    t->bytes, t->begin);
  snprintf(wanted, sizeof wanted, "offset %" PRIu64 ", no hole, no overlap",
    w->next);
  if (t->begin != w->next) return gguf_bad(&r, found, wanted);
  /*- In the first round data_at is 0, and the room too large; see read_tensors. */
  uint64_t room = g->size > g->data_at ? g->size - g->data_at : 0;
  snprintf(wanted, sizeof wanted, g->data_at == 0 ? "fewer than the file has (was it cut?)"@|
    : "within the %" PRIu64 " bytes of data", room);
  if (t->begin > room || t->bytes > room - t->begin)
    return gguf_bad(&r, found, wanted);
  w->at = r.at, w->left--;
  /*- cannot wrap: sizes that were found to fit, rounded up at most once */
  w->next = aligned(g, t->begin + t->bytes);
  return true;
}

@ Only after the last entry of the list do we know where the data begin, so we read the list in two rounds. In the first round the data may begin with the file, which is too generous. Then the true beginning is known, and in the second round each tensor must be within the file. The padding after
the last tensor may be missing, as it is in files of some writers. What comes after it, if anything, is never read; we do not refuse it, since ggml does not.

@<Read the description@>=
static bool read_tensors(struct gguf_reader *r, struct gguf_file *g)
{
  struct gguf_tensor t;
  g->tensors_at = r->at;
  for (int round = 0; round < 2; round++) {
    struct gguf_walk w = gguf_begin(g);
    while (w.left > 0)
      if (!gguf_next(g, &w, &t, r->why)) return false;
    uint64_t data = aligned(g, w.at);
    g->data_at = data < g->size ? (size_t) data : g->size;
  }
  return true;
}
  /*- Where the data begin is known after the last entry, so two rounds: with data at 0, then with
    the true place. Padding after the last tensor may be missing, and what comes after it is not
    read. */
bool gguf_read(struct gguf_file *g, struct memory *m, const char *path,
  const unsigned char *bytes, size_t size, struct error *why)
{
  *g = (struct gguf_file) @[{ .m = m, .path = path, .bytes = bytes,@|
    .size = size, .alignment = 1 }@];
  struct gguf_reader r = @[{ .g = g, .why = why }@];
  uint64_t keys = 0;
  return read_counts(&r, g, &keys)
    && count_fits(&r, "the number of tensors", g->n_tensors, 25)
    && count_fits(&r, "the number of keys", keys, 14)
    && read_keys(&r, g, keys) && read_alignment(&r, g)
    && count_fits(&r, "the number of tensors", g->n_tensors, 25)
    && read_tensors(&r, g);
}
void gguf_free(struct gguf_file *g)
{
  memory_free(g->m, g->entry);
  g->entry = NULL, g->n_entries = g->cap = 0;
}

@ These are the functions of the file, in the order of this chapter.

@(gguf.c@>=
@;
/** Reading the description in a GGUF file: keys, values, and where each tensor is. A parser and
  nothing else: it points into the mapped file and allocates only the list of keys, sorted by name.
  Whatever the file claims is compared with the bytes that are left, divided if it is a count,
  before anything is added to it. The tensors are gone through and not listed; each visit repeats
  the checks, as each reading of a string does, so a file that changes meanwhile does no harm. Each
  offset must be the running sum: no hole, no overlap. Numbers are put together byte by byte, at
  any address, on any machine. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gguf/inside.h"
@;@#
@<A reader of the description@>@;
#include "gguf/counts.inc"
@;@#
@<Check the counts against the size of the file@>@;
@<Read a value@>@;
@<Read the keys@>@;
@<Find the alignment@>@;
@<Read the dimensions@>@;
@<Read the type, and count the bytes@>@;
@<Go to the next tensor@>@;
@<Read the description@>@;

@* The check of the files. \label{sec:ggufcheck}
The first file is read as it was written, and the others are refused. In the fourth file the shape of the first tensor has changed, and the message is about that tensor only because it no longer fits into the file; with 10 columns it would fit, and the message would be about the offset of the second. Many more defects are
in the tests of this chapter, each with the sentence that it must get.

\widecheckpoint{build/out/gguf.txt}{what the program of this chapter prints}

@* Which settings have which keys. \label{sec:ggufsettings}
Does it matter for a model in which kind of file its settings are? It must not. They are the settings of \cref{sec:config} under other names, they fill the same |struct model_config|, and the rule is the same: every key is used, or harmless with a reason, or refused by name. The rest, from the names of the tensors (\cref{sec:layouts}) to the building of the model (\cref{sec:model}), does not know where the settings came from.

A table says which key is which setting. Each key stands after the name of the architecture and a point, as in \.{llama.block\_count}. Then a row says in which families' files we read it (|LATER| is every family but GPT-2), whether it must be there, in whose files we write it, and which setting it is. Place, kind and bounds of a setting are in the table of \cref{sec:settingrows}. The numbers of a stretching (\cref{sec:wheels}) are no settings of their own, so a |part| has its own bounds. Here are a few rows of each kind. All are in \.{unwoven/families/gguf\_keys.inc}.
@^settings, in a GGUF file@>

\printedheader[context_length..block_count, attention.head_count_kv, attention.value_length..rope.dimension_count, attention.scale, expert_count, vocab_size, rope.freq_base..rope.scale_linear]{families/gguf_keys.inc}

Reading and writing go through the same rows, so a setting cannot be read under one name and written under another. Two kinds of rows look strange. Three keys repeat what others say, and \emph{nobody} reads them: |NONE|. We write them because other programs ask for them. Now suppose that a file gives its values another length than its keys, or turns only some of the dimensions. Which key is right? We do not know, and refuse the file. (With the size of the vocabulary we need not ask: it is the number of rows of the embedding.) The rows of stretchings are read and not written, because of these keys a file gets only those that belong to its kind of stretching. A few keys may have a list, with a number for each layer, for there are architectures whose layers differ. In ours they do not: a list of equal numbers is that number, and any other list is refused.

@ Some settings of a \.{config.json} have no key at all (\cref{tab:ggufsays}). What it says in words the tensors may say by being there: a model is tied if there is no \.{output.weight}, and a Llama has biases if its first layer has one. If another layer then lacks its bias, the loader notices. The exact GELU in a Llama, or scores that are scaled by the layer, cannot be said in any way, and so such a model cannot become a GGUF file.

\begin{table}
\tabcaption{tab:ggufsays}{What a \texttt{config.json} says, and how a GGUF file says it if there is no key.}
\begin{tabular*}{\textwidth}{@@{}>{\raggedright\arraybackslash}p{47mm}@@{\extracolsep{\fill}}>{\raggedright\arraybackslash}p{60mm}@@{}}
\tabhead{setting} & \tabhead{in a GGUF file}\\\midrule
\texttt{tie\_word\_embeddings} & there is no tensor \texttt{output.weight}\\
\texttt{attention\_bias}, \texttt{mlp\_bias} & the first layer has a tensor \dots\texttt{.bias}\\
\texttt{vocab\_size} & rows of \texttt{token\_embd.weight}\\
\texttt{rope\_scaling} of a Llama 3 & the tensor \texttt{rope\_freqs.weight}, a divisor for each wheel\\
\texttt{sliding\_window} & a key that \texttt{llama.cpp} reads in a few families only\\
\texttt{hidden\_act}, scaled scores & not at all: the architecture has one\\
\texttt{truncate} of yarn & not at all: bounds are rounded, but in a gpt-oss they are not\\
\texttt{do\_sample} & not at all: so nobody follows the advice
\end{tabular*}
\end{table}

The last row needs a word. Advice for sampling is copied from \.{generation\_config.json}, where temperature, |top_k| and the rest count only if |do_sample| is true. The format has no key for |do_sample|, and the programs that make the files copy a temperature even if the model's makers said that it should not be used. So we let none of them count, except the penalty for repetition, which counts always. Then the directory of a model and its file write the same text. The command \.{inspect} lists the advice, and you can give it as options.

A window is dangerous in the other direction. There is a key for it, but \texttt{llama.cpp} asks for that key only in a few architectures, such as Gemma~3's. A Mistral's file would open everywhere, and then each row would see everything. So we do not write such a file, and refuse to read one whose window is shorter than the context.
@^sliding window@>

@ \label{sec:ggufaccount}Which keys change nothing? Many are known: they describe the file, its author, the tokens for uses that we do not have. Each is listed with its reason, as for \.{config.json}. Some keys are right with one value only: in a family that has no experts their number must be 0, and in one without a cap so must the cap. But there are also keys that nobody can list. The programs that make files add a few of their own, as \.{mradermacher.quantize\_version}, and put their own name before them. The first word of a key is its \emph{namespace}, and a reader of models asks in six of them: that of the file, of its parts, of its rounding, of the tokenizer, of an adapter, and of the architecture. A key in any other namespace changes no model; we skip it, and list it. A key in one of the six that is in none of our tables is refused by name. All unknown keys are named in one sentence, and you can say which of them to ignore.
@^namespace@>

The reading itself, \.{unwoven/families/gguf\_settings.c}, has nothing new. It first asks what the file is: an adapter has the architecture of its model and is none, and a model may be cut into several files, of which each has only some of the tensors.

@* Where the vocabulary is. \label{sec:ggufvocabulary}
A vocabulary is an array of strings, \.{tokenizer.ggml.tokens}; the place of a string is its id. Beside it come arrays of the same length: a type for each token, and, in a vocabulary of SentencePiece (\cref{sentencepiece}), a score. A vocabulary of bytes has a list of merges instead. \Cref{tab:ggufwords} has one of six tokens.
@^vocabulary, in a GGUF file@>

\begin{table}
\tabcaption{tab:ggufwords}{A vocabulary of bytes in a GGUF file: two arrays with an element for each token, and one with two merges.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}llllll@@{}}
\tabhead{id} & 0 & 1 & 2 & 3 & 4 & 5\\\midrule
\texttt{tokens} & \texttt{<\char124 endoftext\char124 >} & \texttt{t} & \texttt{h} & \texttt{Ġ} & \texttt{th} & \texttt{Ġth}\\
\texttt{token\_type} & 3 & 1 & 1 & 1 & 1 & 1\\
\texttt{merges} & \multicolumn{6}{@@{}l@@{}}{\texttt{t h}\quad\texttt{Ġ th}}
\end{tabular*}
\end{table}

How does the reader get from the string \texttt{Ġ th} to a rule of byte-pair encoding (\cref{sec:encoding})? Words of bytes are spelt in the alphabet of \cref{sec:alphabet}, in which a blank is \texttt{Ġ}. So no word contains a blank, and the first blank of a merge is the one between its two words. Here they are \texttt{Ġ} and \texttt{th}, ids 3 and 4; put together they are \texttt{Ġth}, which must be in the vocabulary too, and is id 5. The rule says that 3 and 4 make 5, and its rank is its place in the array. If one of the three words is missing, the file is refused with the merge in the message.

The types are SentencePiece's. Type 3 is \emph{control}: its text is found in a text only if the caller asks for it, and so is the \emph{unknown} token's. A \emph{user-defined} token is always found. \emph{Unused} ones fill the vocabulary up to a round number. Control, unknown and user-defined tokens are not spelt in the alphabet; their text is what it says.

@ \label{sec:ggufpre}Now the reader has words and merges. It still does not know how a text is cut before the merges are applied. A \.{tokenizer.json} has the pattern; a GGUF file has a \emph{name} for it in the key \.{tokenizer.ggml.pre}, and the reader must know what the name stands for (\cref{tab:ggufpre}). An unknown name is refused. Another way of cutting makes other tokens of the same text, and the model was never trained on those.
@^pre-tokenizer, named in a GGUF file@>

\begin{table}
\tabcaption{tab:ggufpre}{Names of patterns, and what they stand for. A row's first name is the one that we write; all names are in \.{gguf\_patterns.c}.}
\begin{tabular*}{\textwidth}{@@{}>{\raggedright\arraybackslash}p{47mm}@@{\extracolsep{\fill}}>{\raggedright\arraybackslash}p{61mm}@@{}}
\tabhead{names} & \tabhead{how a text is cut}\\\midrule
\texttt{gpt-2}, \texttt{phi-2}, \dots & by GPT-2's pattern\\
\texttt{llama3}, \texttt{pixtral}, \dots & by Llama 3's; a word that is a token is taken as a whole, and every text begins with the first token\\
\texttt{dbrx}, \texttt{glm4}, \dots & by Llama 3's, and nothing more\\
\texttt{qwen2}, \dots & normal form C; then by Qwen's pattern, digits one by one\\
\texttt{smollm}, \texttt{starcoder}, \dots & each digit by itself, the rest by GPT-2's pattern\\
\texttt{gpt-4o}, \texttt{llama4}, \dots & capital letters begin a word; digits by threes\\
\texttt{tekken} & the same, but digits one by one\\
\texttt{deepseek-llm}, \texttt{falcon}, \dots & by several patterns, one after the other\\
\texttt{bloom}, \texttt{kimi-k2}, \dots & by a pattern of their own\\
\texttt{gemma4}, \dots & at line ends only; merges begin with characters, and a blank is a block\\
\texttt{default}, or no name & by four patterns, as in \texttt{llama.cpp}
\end{tabular*}
\end{table}

Qwen's row says more than the file. Its published tokenizer brings a text into the normal form C first; the file does not say so, and \texttt{llama.cpp} does not do it. We follow the makers. We also follow the makers where the pattern of \texttt{llama.cpp} differs from theirs. Its own matcher knows no categories of Unicode within a class and no folded case, so where the makers ask whether a letter is small it asks whether it is one of \texttt a to \texttt z. For Greek that makes other tokens. (The patterns are in \.{unwoven/tokenizer-json/gguf\_patterns.c}; a test compares every row with pieces that the makers' library has cut by the makers' own notation.)

Two flags say whether a text gets a token before it and after it. If the first flag is absent, vocabularies with scores add a token, and so does a Llama~3; older files of theirs rely on it. All of this fills the same |struct tokenizer| as \cref{tokenizer-json} does, and is in \.{unwoven/tokenizer-json}.

@* A model in several files. \label{sec:ggufparts}
A file of \given{140} gigabytes is a nuisance: a hub may refuse it, and a download that breaks near the end is a night lost. So large models are published in parts, with names such as \.{NAME-00001-of-00004.gguf}, \.{NAME-00002-of-00004.gguf}, and so on. Each part is a whole file of the format. The first has the settings, the vocabulary and perhaps some tensors; the others have hardly a key, and the rest of the tensors. We want to name any one of them, and get the model.
@^parts of a model@>

How do we find the others? By their names, which differ only in one number. We could list the directory and look into every file, but then a stranger's file that happens to lie there has a say. The name that you typed came from you, and so the names that follow from it lead nowhere else.

Three keys say what a part is: \.{split.no}, counted from zero, \.{split.count}, and \.{split.tensors.count}, which is the number of tensors of all parts together. The reader maps the file that you named. If it says that there are more, and its name says the same number, we map those as well, each checked by itself as a single file is. Nothing is copied, so a model in parts costs what a model in one file costs.

@ Now comes the question that a single file spares us: do they belong together? The format does not say of which model a file is a part. Somebody renames a file, or fetches the second half on another day, when the makers have published a new version. A file of another cut gives itself away, since its number or its count is wrong, or the tensors do not add up. For the rest we compare what can be compared: a key that two parts have must have the same value in both. And what describes the model must be in the first part. If it were in another, we would never read it, and a setting that nobody reads is a model that writes nonsense.

\printedfunction{gguf/parts.c}{check_key}

Afterwards the list of tensors is one list, and a name that occurs twice is refused, in whatever files the two are. What can still go wrong? Two models of one shape, say a model and its fine-tuned kin, have parts that look exactly alike but for their numbers. We cannot tell them apart, and neither can anybody else: a part would need a word that says to which whole it belongs.

@* Writing a file. \label{sec:ggufwriting}
Reading a file means distrusting it. Writing one is easier: the sizes are ours, and the only question is the order. The list of tensors comes before the tensors and says where each of them begins. So we must know everything about them, name, shape and type, before we write the first number. The numbers themselves may be as many as the disk holds, and go to the file as they are computed.

So there is a \emph{draft}. It collects keys and tensors in two lists, which are in memory as they will be in the file. Then the description is written, and after it the caller writes the tensors, one after another, with padding between them. A draft remembers its first failure: the caller adds all keys, one line for each, and asks once at the end. The one-liners are in \.{unwoven/gguf/draft.c}.

\printedheader[gguf_draft]{gguf/writing.h}

@ Even here products and sums are checked, since the shapes come from a model that somebody else made. The last dimension is the row, which must be whole blocks. In the file the dimensions are innermost first.

@<Add a tensor@>=
static bool tensor_bytes(unsigned type, uint32_t rank, const uint64_t *shape,
  uint64_t *bytes)
{
  const struct number_type *t = &number_types[type];
  uint64_t row = shape[rank - 1];
  bool fits = row % t->block == 0 && row / t->block <= UINT64_MAX / t->bytes;
  *bytes = row / t->block * t->bytes;
  for (uint32_t i = 0; i + 1 < rank && fits; i++) {
    fits = shape[i] == 0 || *bytes <= UINT64_MAX / shape[i];
    *bytes *= shape[i];
  }
  return fits;
}
void gguf_add_tensor(struct gguf_draft *d, const char *name, unsigned type,
  uint32_t rank, const uint64_t *shape)
{
  uint32_t number = 0;
  uint64_t bytes = 0;
  bool fits = gguf_type_number(type, &number)
    && tensor_bytes(type, rank, shape, &bytes)
    && bytes <= UINT64_MAX - GGUF_ALIGNMENT - d->next;
  if (d->ok && !fits) d->ok = error_say(d->why,
    "%s: cannot be a tensor of type %s", name, number_types[type].name);
  d->n_tensors++;
  gguf_put_string(d, &d->list, name, strlen(name));
  gguf_put_number(d, &d->list, 4, rank);
  for (uint32_t i = rank; i-- > 0;) gguf_put_number(d, &d->list, 8, shape[i]);
  gguf_put_number(d, &d->list, 4, number);
  gguf_put_number(d, &d->list, 8, d->next);
  d->next += bytes + (GGUF_ALIGNMENT - bytes % GGUF_ALIGNMENT) % GGUF_ALIGNMENT;
}

@ The description has 24 bytes before the two lists, and zeros after them.

@<Write the description@>=
void gguf_write_padding(FILE *f, uint64_t bytes)
{
  static const unsigned char zeros[GGUF_ALIGNMENT] = @[{ 0 }@];
  fwrite(zeros, 1, (GGUF_ALIGNMENT - bytes % GGUF_ALIGNMENT) % GGUF_ALIGNMENT, f);
}
bool gguf_write_draft(struct gguf_draft *d, FILE *f)
{
  struct bytes head = @[{ .n = 0 }@];
  gguf_put(d, &head, "GGUF", 4);
  gguf_put_number(d, &head, 4, 3);
  gguf_put_number(d, &head, 8, d->n_tensors);
  gguf_put_number(d, &head, 8, d->n_keys);
  if (d->ok) {
    fwrite(head.byte, 1, head.n, f);
    if (d->keys.n > 0) fwrite(d->keys.byte, 1, d->keys.n, f);
    if (d->list.n > 0) fwrite(d->list.byte, 1, d->list.n, f);
    gguf_write_padding(f, (uint64_t) head.n + d->keys.n + d->list.n);
  }
  bytes_free(d->m, &head);
  return d->ok;
}

@ The functions that put numbers and strings into a list are shared with \.{draft.c}.

@(writing.c@>=
@;
/** The list of tensors, and the description as it goes to the file. Sizes are products and places are
  sums: both are checked before they are used, although here they are our own. */
#include <string.h>
#include "gguf/inside.h"
@;@#
@<Add a tensor@>@;
@<Write the description@>@;

@* Quantized files: which tensor gets which type. \label{sec:quantplan}
The command \texttt{incipit quantize} makes one file of a directory, with weights in fewer bits (\cref{sec:quantfiles} says which type to choose). Rounding is done by |weights_encode|, and the file is written as above. What is left is translation: other names of tensors, other names of settings, another form of the vocabulary. The program is in \.{unwoven/command}; here we look at its decisions.
@^quantize@>

Does every tensor get fewer bits? No (\cref{tab:quantplan}). A vector of gains or biases is as long as a single row of a matrix, so rounding it saves nothing. The same holds for learned positions, which are added to the residual stream once and never multiplied. The embedding and the head stand out the other way: \cref{sec:quantloss} found the largest error in the embedding, and the head makes the logits. So files with fewer than eight bits keep these two in \texttt{q8\_0}. Rows that are no whole superblocks get the next larger type of short blocks: \texttt{q5\_0} for \texttt{q4\_k}, \texttt{q8\_0} for \texttt{q6\_k}. And a matrix whose rows are no whole blocks at all cannot be rounded; it becomes \texttt{f16}. Both are as in \texttt{llama.cpp}'s files.

\printedfunction{command/quantize_plan.c}{type_for}

\begin{table}
\tabcaption{tab:quantplan}{The type of each tensor, for the type that was asked for.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}lll@@{}}
\tabhead{tensor} & \tabhead{\texttt{f16}, \texttt{bf16}} & \tabhead{\texttt{q8\_0}} & \tabhead{fewer than eight}\\\midrule
gains, biases, positions, routers & \texttt{f32} & \texttt{f32} & \texttt{f32}\\
embedding, head & as asked & \texttt{q8\_0} & \texttt{q8\_0}\\
the other matrices & as asked & \texttt{q8\_0} & as asked\\
rows that are no whole superblocks & as asked & \texttt{q8\_0} & \texttt{q5\_0}, \texttt{q8\_0}\\
rows that are no whole blocks & as asked & \texttt{f16} & \texttt{f16}
\end{tabular*}
\end{table}

\texttt{llama.cpp} itself mixes types a little differently: with four bits its head has the type \texttt{q6\_k}, where ours has \texttt{q8\_0}. Its options \texttt{-{}-pure}, \texttt{-{}-token-embedding-type} and \texttt{-{}-output-tensor-type} make it do as we do, tensor for tensor and, but for the superblocks, whose scales we search ourselves (\cref{sec:ksearch}), byte for byte.

@ Two things may differ besides the type. GPT-2's matrices come from Hugging Face with the inputs first (\cref{sec:layouts}), and the file wants them the other way round; so a row of the file is a column of the matrix. And in the queries and keys of a Llama the two rows that a rotation turns together are neighbours in the file, while in the directory they are half a head apart. The rows are \emph{permuted}: with $h$ for half of the head, row $2i$ of the file is row $i$ of the directory, and row $2i+1$ is row $i+h$. A head of eight rows is written in the order 0, 4, 1, 5, 2, 6, 3, 7. In the code |half| is 0 if nothing is to be regrouped, and $k$ is the place within the head.
@^permuted rows@>

\printedfunction{command/quantize_plan.c}{pair_of}

@ A matrix that is stored head by head (\cref{sec:fusedmatrices}) is put in order in a similar way, as other programs expect it: all queries, all keys, all values. And the matrices of all experts of a layer are one tensor in the file, though they may be in as many places in the directory. So a row of the file is asked for by its number, and the answer is a tensor and a row of it:
@^experts@>

\printedfunction{command/quantize_plan.c}{quantize_row}

The router of the experts is never rounded. It is small, and its error has another kind of effect: where two experts are almost equally good, a rounded router takes the wrong one, and then a whole MLP is wrong, not a digit of it. \texttt{llama.cpp} leaves it in \texttt{f32} as well.

SentencePiece needs a translation that is less obvious. Its tokenizer merges the pair whose result has the best score; ours has a list of rules with ranks (\cref{sec:encoding}), and no scores any more. We need numbers that make another program merge in the same order. So the score of a token is minus the rank of the first rule that makes it, and a token that no rule makes gets a score below all others. This is right if all rules for one token are neighbours in the list, which holds for lists that were made from scores.

\printedfunction{tokenizer-json/gguf_vocabulary.c}{find_scores}

Llama 3's way of stretching positions has no key. Its file gets the tensor \.{rope\_freqs.weight}, with a divisor for each frequency (\cref{sec:ropefactors}). Divisors are rounded to |float|, so a frequency may differ in its last bit from that of the directory. So may those of a model with a setting that is no |float|, such as a factor of \given{7.3}, for a real number under a key is a |float|, too. No weight of a file in \texttt{f32} differs at all.

@* What could get lost. \label{sec:quantlost}
A setting that is forgotten is a model that writes nonsense. How could we be sure that we have forgotten none, including those that somebody adds next year? Not by looking at the list once more. Instead the program reads the finished file, with the same functions that everybody reads it with, and compares the settings with those of the directory, one by one, by the table of \cref{sec:settingrows}. If a setting has no key, the file says nothing of it, the reader assumes the usual, and the comparison fails with the setting's name. Only a file that passes gets the name that you asked for.

With the tokenizer we cannot compare fields, since the two were made of different descriptions. So we try both on a difficult text, with capitals, contractions, runs of blanks, numbers, an emoji, Japanese, and an accent that is a character of its own. Two tokenizers that make the same ids of it are taken for equal. Some differences are refused before that: a way of cutting that has no name, an added token that takes blanks with it, several tokens around a text.

A number can get lost, too. A weight of 16 bits that is too large rounds to infinity, and one such weight is enough for a model that computes nothing. In float16 that begins at \given{65520}, and a model that was published in bfloat16 may have a weight beyond that. The message names the tensor, the row and the number; the weight can stay in bfloat16. And a model in blocks is not rounded a second time: the errors would add up, and nothing would show it.

@ The file itself appears by the rules of \cref{sec:newfile}: it grows under another name and takes its own at the end, and only a regular file is ever replaced. It cannot be a stream, because it is read again before it gets its name. One regular file is never replaced, and that is the model. You may reach it by another name, so we compare the files and not their names. In a directory that protects every file except GGUF files, which were made of the model and are no part of it.

If the model is already a GGUF file of floats, the program copies its keys as they are, whatever they mean, except three: the two that say how the file is rounded, and the alignment, which is ours.

@* Exercises. \label{sec:ggufexercises}
Both are about the list of tensors.

\begin{exercises}
\exercise{check}{ex:gguf.size}{A file of this format has one key, \texttt{general.alignment} with the value 64, and one tensor, \texttt{a}, an F32 of shape $[4]$. How many bytes has it if nothing follows the numbers?}{\texttt{make exercise-W8-1}}{The key ends at byte 57,
as before. The entry of the tensor has $9+4+8+4+8=33$ bytes and ends at 90. Data begin at \given{128}, the next multiple of 64, and 16 bytes follow: \given{144}.}
\exercise{think}{ex:gguf.bits}{In the file of the hand calculation we flip one bit of the \given{131} bytes of the description, each in turn. Most flips are noticed. In which rows of the table is there a bit that can be flipped unnoticed? Give the row's first byte.}{\texttt{make
exercise-W8-2}}{4, since version 2 is read as well; 8, since a file may have no tensors; 24, since an alignment of 32 needs no key; 57 and 98, the names; 70, since 4 or 1 columns, and 2 or 1 rows, still need one unit of 32 bytes; \given{111} and \given{119}, since
nothing follows the last tensor, and it may be smaller.}
\end{exercises}
