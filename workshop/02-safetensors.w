@i types.w
@s json_error_t int
@s json_int_t int
@s field_read int

\chapterquestion{What is in the files of a model, and how much of it can we trust?}
@** Safetensors, and five rules for hostile files.
\incipit{A}{ model arrives} as a directory that a stranger filled: a file of settings, one or more files of numbers, and some others. If the
settings say that a row has \given{768} numbers and the matrices are made for \given{640}, the program must notice before the first wrong
word appears. This chapter has the rules by which every reader of files here goes, and reads the files of numbers by them. \Cref{families} reads the settings, and puts together the model through which chapter 2 sends
its rows.
@^model@>@^hostile files@>

\begin{byhand}{a file of two tensors}
A file begins with the length of its header, in eight bytes, lowest byte first: \texttt{70} and seven times \texttt{00}, in
decimal 112. The header is the next 112 bytes, and the numbers begin at byte $8+112=120$. The header says

\medskip
\begin{tabular}{@@{}llrr@@{}}
\tabhead{name} & \tabhead{type, shape} & \tabhead{from} & \tabhead{to}\\
\texttt{a} & F16, $[3,5]$ & 0 & 30\\
\texttt{b} & F32, $[4]$ & 30 & 46
\end{tabular}
\medskip

Does this add up? Three times five numbers of 2 bytes take 30 bytes, four of 4 bytes take 16, and $30+16=46$. The first tensor begins
at 0, and the second where the first ends. The file must therefore have $120+46=166$ bytes, without a hole, an overlap or anything
after the tensors. Note that \texttt{b} begins at byte $120+30=150$, which is not a multiple of four: a program that expects aligned floats
would stop there.
\end{byhand}

@ The program writes that file and reads it back, and then does the same with five damaged copies. The damage is always hard to see. The book quotes no
numbers of this program, so with an argument it prints nothing.

@c
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "safetensors/tensor_file.h"
@;@#
@<Write the file of the hand calculation, damaged or not@>@;
@<Read the file, and report what it holds@>@;
int main(int argc, char **argv)
{
  (void) argv;
  if (argc > 1) return 0;
  for (int damage = 0; damage < DAMAGES; damage++)
    if (!read_back(damage)) return 1;
  return 0;
}

@ Each damage is one small change to a field of the header, or to the number of bytes after it. With two faults in one file we would not know
which of them was found. A table lists the fields that change:
the type of the first tensor, the name of the second, the columns of the first, the offset of the second, and the number of bytes after the header.

@<Write the file of the hand calculation, damaged or not@>=
enum { DAMAGES = 6, MAX_BYTES = 256 };
static const struct { const char *what, *type, *second; int columns, from, bytes; }
  damaged[DAMAGES] =
  @[{ {"as it should be", "F16", "b", 5, 30, 46},@|
    {"one byte is missing", "F16", "b", 5, 30, 45},@|
    {"a hole of two bytes", "F16", "b", 5, 32, 48},@|
    {"another shape", "F16", "b", 6, 30, 46},@|
    {"the same name twice", "F16", "a", 5, 30, 46},@|
    {"an unknown type", "F17", "b", 5, 30, 46} }@];

@ The rest of the header is always the same, and has no blanks. With the first row of the table it is as long as in the hand calculation.

@<Write the file of the hand calculation, damaged or not@>=
static int header_of(int damage, char *text, size_t cap)
{
  return snprintf(text, cap, "{\"a\":{\"dtype\":\"%s\","@|
    "\"shape\":[3,%d],"@| "\"data_offsets\":"@| "[0,30]},\"%s\":"@|
    "{\"dtype\":\"F32\","@| "\"shape\":[4],"@| "\"data_offsets\":"@| "[%d,%d]}}",
    damaged[damage].type, damaged[damage].columns, damaged[damage].second,
    damaged[damage].from, damaged[damage].from + 16);
}

@ The length goes in front. It is below \given{256}, so the lowest of its eight bytes is enough. The numbers of the tensors are all zeros; this program never reads them.

@<Write the file of the hand calculation, damaged or not@>=
static bool write_damaged(const char *path, int damage)
{
  char bytes[MAX_BYTES] = @[{ 0 }@];
  int n = header_of(damage, bytes + 8, MAX_BYTES - 8);
  size_t all = 8 + (size_t) n + (size_t) damaged[damage].bytes;
  bytes[0] = (char) n;
  bytes[8 + n] = '\0';
  FILE *f = fopen(path, "wb");
  if (f == NULL) return false;
  bool ok = fwrite(bytes, 1, all, f) == all;
  return fclose(f) == 0 && ok;
}

@ The result is either two tensors at the offsets of the hand calculation, counted from the first byte after the header, or one sentence. In both cases we remove the file and free the memory; closing
a null pointer does nothing.

@<Read the file, and report what it holds@>=
static bool read_back(int damage)
{
  struct memory m = @[{ .fail_at = 0 }@];
  struct error why;
  char path[] = "ab.safetensors";
  if (!write_damaged(path, damage)) return false;
  struct tensor_file *w = tensor_file_open(&m, path, &why);
  printf("%s\n", damaged[damage].what);
  if (w == NULL) printf("  %s\n", why.text);
  for (size_t i = 0; w != NULL && i < tensor_file_count(w); i++) {
    const struct tensor_entry *t = tensor_file_at(w, i);
    printf("  %s: %s, %d numbers from byte %d on\n", t->name,
      number_types[t->type].name,
      (int) t->elements, (int) t->begin);
  }
  tensor_file_close(&m, w);
  unlink(path);
  return true;
}

@* Five rules. \label{sec:saferules}
A model's files come from people we do not know. A wrong file may get nothing from us but a sentence: one line that says which file, which field, what is
there and what should be there. It may not make us crash, or keep us busy for an hour, or take a gigabyte. Least of all may it produce text that looks like a model's. Every reader of files
in this book keeps five rules.

\begin{byhand}{three sums in one byte}
Let sizes be numbers of one byte, from 0 to 255; a larger result wraps around, as in C. We are given a file of 100 bytes, whose
header begins after the first 8.

\medskip
\begin{tabular}{@@{}lll@@{}}
\tabhead{claim} & \tabhead{believed} & \tabhead{asked}\\
header of 250 & $8+250=2$, fits & $100-8=92<250$\\
200 bytes at 80 & $80+200=24$, fits & $100-80=20<200$\\
20 times 13 is 4 & $20\cdot13=4$, true & $\lfloor255/13\rfloor=19<20$
\end{tabular}
\medskip

The true results are $8+250=258$, $80+200=280$ and $20\cdot13=260$, each 256 more than what one byte keeps. If we add or multiply first, we compare a result that has wrapped around. If we subtract or
divide first, no claim can deceive us: a part of what we have is never too large for its type.
\end{byhand}

What a file says is a claim, and the first rule is that \emph{nothing is computed from a claim before it is bounded by something that we know}. At the
beginning we know one number from the system and not from the file: how many bytes the file has. The length of the header is compared with that number; the end of the
header bounds each name and each entry; the number of bytes after the header bounds every offset; and the offsets bound the shapes. Each check relies on the one before it, so their order matters. In each of
them the claim is alone on its side: we ask |header > size - 8| and not |8 + header > size|, because |8 + header| may wrap around to a small number, as in the box. To check a product, we divide the bound by one
factor and compare the quotient with the other; only then do we multiply.

The second rule: \emph{memory is allocated for what has been read, not for what is announced}. The list of tensors grows as entries are read. The number of layers is compared with the
tensors, each of which has an entry of its own in the header. An id must be smaller than the number of bytes of the vocabulary's file, since each token takes more than one byte. The rows of a text are allocated as the text
grows. We learnt this rule by breaking it. An earlier version of the generation loop allocated the rows of the whole context at the beginning, and the context is a number in \.{config.json}:
a number of ten digits there made us allocate gigabytes before the first token. A tokenizer file of a few kilobytes, with one token at the largest id that we allow, took megabytes. In neither case did
the program crash; it did what the file said, and that was the mistake.

The third rule: \emph{the words of a refusal are ours}. Every refusal is one of our sentences, in which a word of the file is quoted and shortened. A complaint of jansson, the library that parses JSON, is quoted in the same way. A quoted word is
cleaned: a name may contain characters that clear a terminal or overwrite a line, and these are printed as question marks. And every sentence names the file, because a user may have downloaded a dozen of them.

@ The fourth rule is about time. \emph{A mapped file can change while we use it}, for it is not a copy. A field that is read twice may change between the two reads.
So we read everything that the checks depend on once, into variables of ours: the length, the names, the types, the shapes, the offsets. Later we read only the numbers, at addresses computed from those
variables. The numbers may be anything: each of the $2^{32}$ bit patterns is a float32, an infinity or NaN among them, and a changed number can only change the text. One thing can still go wrong: the file may become
shorter. Then there is no memory at the address, the read fails, and the system sends a signal, |SIGBUS|. No check can prevent this, because the file had its full length when we looked. A library must not change the signal handlers
of the program that uses it; so the library does nothing, and the command, which owns its process, has a handler (\cref{sec:signals}) that writes a sentence and ends with status 1. A test shortens the file while |generate| runs,
and between two requests to |probe|.
@^SIGBUS@>@^memory mapping@>

A copy of the weights would be safe from this, but for a large model it would cost gigabytes, and a minute at every start. We decided to map: a user who shortens a file of his own spoils only his own run.

The fifth rule is about paths. \emph{A file may name files in its own directory, and no others.} An index that names |"../../x"|, or |"/etc/passwd"|, or any name with a slash in it is refused before anything is opened. Symbolic links are another matter,
and here we had to decide. A link in the directory may lead anywhere; yet we follow it, since Hugging Face's own cache consists of links, from each model's directory to a common store. The
difference is who made it. The stranger wrote the index; a program that the owner of this machine ran made the link. At the end of a link we open only a regular file: no device, no pipe that
would make us wait, no directory.
@^symbolic link@>

@ What do these rules not give? They keep a file from breaking the program; they do not make sure that the model is the right one. An attacker who can write to the files can make the model say anything, and no check of sizes will
notice. Checksums of whole files, such as those of the built-in model, protect against that; they must not come from the same place as the files.

@* Fuzzing the readers. \label{sec:siege}
How do we know that we forgot no check? We lay siege to a model, which is a kind of \emph{fuzzing}. The program \.{tests/suites/siege.c} makes a small model with its tokenizer, five files in a folder. It flips every bit of these files, one at a time, and cuts each file at every byte. Each
time it opens the damaged model, and there are six permitted outcomes. Four are refusals, told apart by their sentences: the file is no longer JSON; a word is unknown, or a value has the wrong type; the sizes do not add
up; a number on the way to the logits is not finite. In the other two the model loads, and its logits are different, or the same. Anything else is a fault, and so is memory out of proportion to the size of the files, or memory that is not freed.
All counts are committed, in \.{tests/golden/siege.txt}, and \texttt{make check} stops if one of them has changed. The program besieges other models as well.

In the header of the weights every flipped bit is noticed, except in the metadata, which we ignore: if any number there changes, the sums no longer add up. This is the benefit of stating the
same size twice, once by type and shape and once by offsets. The settings say most things once. \Cref{fig:siege} shows where a flipped bit goes unnoticed: in the numbers that scale something, the base of the rotations and the epsilon of the norms, and in the ids that
end a text. Of the sizes, only the context can be changed, since no tensor depends on it. The weights themselves are not protected at all: most flipped bits give another model, a little or very different
from the first, and the rest do not affect the logits of our three tokens. The few refusals come from exponents with all bits set, which make a row infinite or NaN; these sentences name the layer.

\widefig{siege}{fig:siege}{The settings of the small model, as they are in the file. Black: whichever of the eight bits of this character we flip, the file is refused. Red: some bits can be flipped, and the model still loads; the darker, the more bits.}{The text of a
file of settings, one field a line. Almost all characters are black. The values of a few fields are red: the ids of the first and last token, the context, the epsilon, the base of the rotations, and the values of two fields that
do not matter.}

@* The tensors of a file. \label{sec:safetensors}
A model is a long list of named arrays of numbers, called \emph{tensors}, and a page of
settings. The arrays come in a format named safetensors: eight bytes that say how long
the header is, the header, which is JSON and gives for each name a type, a shape and
two offsets, and then the bytes that the offsets point into. The format is dull on
purpose. Earlier ones stored the objects of a program, and loading a model could run any code that a stranger had put into the file. Loading a safetensors file runs no code, and its bytes can be mapped without a copy.
@^safetensors@>@^tensor@>

The file's author may have been careless or hostile, so we trust none of it until
it adds up: the header ends within the file, it is strict JSON, every product of a shape
fits in 64 bits, every tensor has exactly the bytes its shape and type call for, and the
tensors lie one after the other from the first byte after the header to the last byte
of the file, without hole or overlap. After that no chapter needs to check an
offset again.

Models also come in files of other formats, and the rest of the program does the same with all of them: it finds a tensor by its name, counts the tensors, goes through them, and closes
the file. These operations have an interface of their own, which does not mention safetensors.

@(tensor_file.h@>=
#ifndef INCIPIT_TENSOR_FILE_H
#define INCIPIT_TENSOR_FILE_H
#include "functions/number_type.h"
@<A tensor in a file@>@;
@<All tensors of a model@>@;
#endif

@ The numbers of a tensor stay in the mapped file. We keep its name, the index of its type in the table of types
(\cref{sec:numbertypes}), and its shape, outermost dimension first. The engine multiplies by matrices of three of
the types: F32 is C's |float|, and F16 and BF16 take half as many bytes, F16 with more digits and BF16 with more range (\cref{sec:formats}). Tensors of the other types can only be listed.
The shape is the last member of the structure, an array with one element for each dimension, so that each tensor is one block of memory.

@<A tensor in a file@>=
struct tensor_entry {
  const char *name, *file;
  unsigned type; /* its row in |number_types|; below |N_WEIGHT_TYPES| we compute with it */
  const unsigned char *data; /* little endian, perhaps unaligned */
  uint64_t bytes, elements, begin;
  size_t number; /* its index in the sorted list */
  uint32_t rank;
  uint64_t shape[];
}; /* owned by its |struct tensor_file|; rank 0 has one element */

@ A model may be one file, or several, called \emph{shards}, with an index that says which tensor is in which.
This interface hides the difference. Only the messages still show it: a sentence about a tensor must name the file that has
the tensor, and a sentence about a missing one the place where we looked.
@^shard@>

@<All tensors of a model@>=
struct tensor_file;
struct tensor_file *tensor_file_open(struct memory *m, const char *path,
  struct error *why);
  /* maps and validates a safetensors file, a GGUF file, or those of a directory:
     \.{model.safetensors}, else the files that its
     \.{model.safetensors.index.json} names; null and a sentence if anything
     is amiss. Owned by the caller */
void tensor_file_close(struct memory *m, struct tensor_file *w);
  /* unmaps the files and invalidates every pointer into them; null is allowed */
size_t tensor_file_count(const struct tensor_file *w);
  /* how many tensors */
const struct tensor_entry *tensor_file_at(const struct tensor_file *w, size_t i);
  /* tensor |i| in the order of names, $0\le i<{}$|tensor_file_count(w)| */
const struct tensor_entry *tensor_file_find(const struct tensor_file *w,
  const char *name);
  /* by name, or null */
const char *tensor_file_path(const struct tensor_file *w);
  /* the file or the index, as messages name it; if |w| is null, because the
     model was made in memory, \.{the model} */
const char *tensor_file_format(const struct tensor_file *w);
  /* the format of the files: \.{"safetensors"} or \.{"gguf"} */
void tensor_file_release(const struct tensor_file *w, const void *from, size_t n);
  /* |n| bytes of a tensor will hardly be read again: returns their memory, if they are in a file of |w|; null does nothing */

@ The settings are JSON as well, and so is the index. They are read whole, by the library jansson, and as
strictly as the headers: UTF-8 throughout, no key twice. Why is a duplicate key so bad? Most readers take the last of the two and some the first, so such a file is two
models, and which one you get depends on your tools. The function returns one of jansson's values. It has a header of its own, so that
only modules that parse JSON include jansson's header; those that map weights do not need it.
@^jansson@>

@(jsonfile.h@>=
#ifndef INCIPIT_JSONFILE_H
#define INCIPIT_JSONFILE_H
#include <jansson.h>
#include "ground/ground.h"
enum { JSONFILE_MAX_SETTINGS = 1 << 20, JSONFILE_MAX_INDEX = 16 << 20 }; /* bytes */
json_t *jsonfile_read(const char *path, size_t max, struct error *why);
  /* the value in a file, to be released with |json_decref|; strict: duplicate
     keys, bad UTF-8, more than |max| bytes are errors; null and a sentence */
const char *jsonfile_trouble(const json_error_t *found, const char *text, size_t n);
  /* what jansson found wrong with |n| bytes of text, in its words or in better ones */
const char *jsonfile_excerpt(json_t *value, char buffer[64]);
  /* the value as one would type it, cut to fit into |buffer|, for an error's
     ``found''; returns |buffer| */
#endif

@ An error message often quotes a text from a file, or a word that the user typed, and either may be long. All modules shorten such a text with one function, which cuts between two characters, never within one, and marks the cut with three dots.

@(excerpt.h@>=
#ifndef INCIPIT_EXCERPT_H
#define INCIPIT_EXCERPT_H
#include <stddef.h>
enum { EXCERPT_MAX = 60 };
  /* bytes of a text that is quoted, at most; a buffer has four more */
const char *text_excerpt(const char *text, size_t n, size_t most, char buffer[EXCERPT_MAX + 4]);
  /* the first |n| bytes of |text|, or, if those are more than |most| (at most |EXCERPT_MAX|), as many whole characters as fit into |most|, and
     three dots; returns |buffer|, which then ends in a zero */
#endif

@ Internally, a file is a mapping with its path, and all tensors are in one list. A path is
a block of its own, because tensors point to it while the array of files may still grow, and growing moves the array.

Only the readers of formats use these structures directly. A reader is a function that \emph{fills} a |struct tensor_file|: it maps files, adds an entry for each tensor that it finds, checks that
every tensor is within its mapping, and sorts the list. This chapter has one reader. A second one, for \texttt{llama.cpp}'s format, is in \cref{gguf}: a source file of its own, and a line in a table.
@^format of files@>

@(tensor_format.h@>=
#ifndef INCIPIT_TENSOR_FORMAT_H
#define INCIPIT_TENSOR_FORMAT_H
#include "safetensors/tensor_file.h"
@<What |struct tensor_file| holds@>@;
@<What a reader of a format is, and what it calls@>@;
#endif

@ |tensor_file_close| frees everything that has been entered here, so a reader that fails half-way need not clean up; it returns false.

@<What |struct tensor_file| holds@>=
struct tensor_format;
struct shard { char *path; struct mapping map; };
  /* a mapped file and its path, each owned by the |struct tensor_file| */
struct tensor_file {
  struct memory *m;
  const struct tensor_format *format;
  char *path; /* what messages name: the file, or the index */
  struct shard *shards;
  size_t n_shards;
  struct tensor_entry **list;
  size_t n, cap;
};
  /* the files of a model and their tensors; once sorted, |list| is in order of names */

@ Every reader does four things, and we give it a function for each: keep a path, map a file, add a tensor, and sort the list.

@<What a reader of a format is, and what it calls@>=
struct tensor_format {
  const char *name;
  bool (*recognizes)(const char *path);
    /* does |path| seem to lead to files of this format? */
  bool (*fill)(struct tensor_file *w, const char *path, struct error *why);
    /* enters all files and tensors, checked and sorted, and |w->path|; or a sentence */
};
  /* a format of tensor files; the first that recognizes a path reads it */
char *tensor_file_keep_path(struct tensor_file *w, const char *directory,
  const char *name, struct error *why);
  /* a block with |directory|, a slash and |name|, or with |directory| alone if |name| is empty; null and a
     sentence. Owned by the caller until it is entered in |w| */
struct shard *tensor_file_map(struct tensor_file *w, const char *directory,
  const char *name, struct error *why);
  /* one more file, entered and mapped; null and a sentence. It lives in an array that moves when
     the next file is mapped */
struct tensor_entry *tensor_file_add(struct tensor_file *w, const char *path,
  const char *name, size_t rank, struct error *why);
  /* a tensor of the file |path| of an entered shard, with a copy of |name|, and zeros for all else but |rank|; null and a
     sentence if there are too many, or if memory is refused */
bool tensor_file_sort(struct tensor_file *w, struct error *why);
  /* the list by name, each entry with its number; error: a name given twice */

@* The check of the files. \label{sec:filescheck}
The first file is read as it was written. Each of the others is refused with one sentence, which names the file, the tensor, what was found and what was wanted.
In the second file a tensor begins where the one before it ends, but its own end is wrong:
it is one byte outside the file. In the third file the hole makes its beginning wrong.

\widecheckpoint{build/out/safetensors.txt}{what the program of this chapter prints}

@* Reading a header. \label{sec:header}
The format allows a header of $10^8$ bytes, and a tree of JSON nodes
takes many times the space of its text. So we let jansson read one value at a time, the
name of a tensor and then its entry, and keep only what the entry says. We read the braces,
colons and commas between the values ourselves. A file that
turns out to be bad then costs little more than its own size. An honest entry fits on a line or two of this
page; |MAX_ENTRY| leaves room for long names. Metadata may be long: training programs keep statistics of their data there.

@<A reader of headers@>=
struct header_parser {
  struct tensor_file *w; /* where the tensors go */
  const char *path, *at, *end;
  bool metadata; /* seen already? */
  struct error *why;
};
enum { MAX_ENTRY = 1 << 16, MAX_METADATA = 4 << 20 }; /* bytes */
@#
static bool header_bad(struct header_parser *r, const char *found, const char *wanted)
{
  return error_found(r->why, r->path, "the header", found, wanted);
}

@ We tell jansson to stop after one value and to say where it stopped. The bound on the
length is simply the length that we pass. A value that is not complete by then is
an error at the end of the text, though the text goes on; so the sentence says that the value is too long. A name is a bare string, which older versions of JSON forbid at the top of a text; hence |JSON_DECODE_ANY|.

@<Read one value of the header@>=
static json_t *header_value(struct header_parser *r, const char *field, size_t max,
  size_t flags)
{
  json_error_t found;
  size_t left = (size_t) (r->end - r->at), n = left < max ? left : max;
  char wanted[64];
  snprintf(wanted, sizeof wanted, "at most %zu bytes", max);
  json_t *value = json_loadb(r->at, n, JSON_DECODE_ANY
    | JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES | flags, &found);
  if (value != NULL) r->at += found.position;
  else if (n < left && (size_t) found.position >= n)
    error_found(r->why, r->path, field, "longer than that", wanted);
  else header_bad(r, jsonfile_trouble(&found, r->at, n), "strict JSON");
  return value;
}
  /*- jansson reads one value and says where it stopped. One that is not complete within max bytes
    is an error at the end of the text though the text goes on: it is too long. */

@ A mark of punctuation is one character, perhaps after white space. The function returns
it, or zero at the end of the header. For a zero byte \emph{in} the header it returns zero as well, but does not move past it, since the format pads with blanks only;
a caller that expects the end compares the position and sees that the end has not been reached.

@<Read one mark of punctuation@>=
static char header_mark(struct header_parser *r)
{
  while (r->at < r->end && *r->at != '\0' && strchr(" \t\r\n", *r->at) != NULL)
    r->at++;
  return r->at < r->end && *r->at != '\0' ? *r->at++ : '\0';
}
  /*- Zero at the end, and at a byte of zero, which is not passed: who expects the end compares the
    place. */

@ The header is a brace, then names and their values until the closing brace, and after
that nothing but white space. A header without tensors, |{}|, is valid. An object that is not
empty begins with a name, and jansson needs the name's first quotation mark; we have just read it, so we step back by one.

@<Read the whole header@>=
static bool header_read(struct header_parser *r)
{
  if (header_mark(r) != '{') return header_bad(r, "no object", "{");
  char mark = header_mark(r);
  if (mark == '"') {
    /*- jansson wants the quotation mark, which we have just read */
    r->at--;
    do if (!header_pair(r)) return false;
    while ((mark = header_mark(r)) == ',');
  }
  if (mark != '}') return header_bad(r, "cut short or out of order", ", or }");
  if (header_mark(r) != '\0' || r->at < r->end)
    return header_bad(r, "followed by something", "white space up to its end");
  return true;
}

@ Next we read one name and its value. The name |__metadata__| is not a tensor: its value is an
object of strings, which we check and then ignore, since nothing in it may change what the
model computes.

@<Read a name and its value@>=
static bool header_pair(struct header_parser *r)
{
  json_t *name = header_value(r, "a name in the header", MAX_ENTRY, 0);
  if (name == NULL) return false;
  bool ok = json_is_string(name) && header_mark(r) == ':';
  if (!ok) header_bad(r, "no list of names and values", "\"name\": value");
  else if (strcmp(json_string_value(name), "__metadata__") == 0)
    ok = header_metadata(r);
  else ok = header_tensor(r, json_string_value(name));
  json_decref(name);
  return ok;
}

@ A string of metadata may contain anything, even a zero byte, so we tell jansson to allow
one here. We allow it only here: the name of a tensor becomes a C string, and a zero in it would make two different names equal.

@<Check the metadata@>=
static bool header_metadata(struct header_parser *r)
{
  if (r->metadata) return header_bad(r, "__metadata__ twice", "each name once");
  r->metadata = true;
  json_t *all = header_value(r, "__metadata__", MAX_METADATA, JSON_ALLOW_NUL);
  if (all == NULL) return false;
  bool ok = json_is_object(all);
  for (void *i = json_object_iter(all); i != NULL && ok;
       i = json_object_iter_next(all, i))
    ok = json_is_string(json_object_iter_value(i));
  if (!ok) tensor_bad(r, "__metadata__", all, "an object of strings");
  json_decref(all);
  return ok;
}
  /*- Checked and then ignored. Only here may a string have a zero: in a name it would make two of
    C's strings equal. */

@ The message about a tensor has the four parts of \cref{sec:errors}: the file, the tensor in the place of the field, what was found,
and what would have been accepted.

@<Say what is wrong with an entry@>=
static bool tensor_bad(struct header_parser *r, const char *name, json_t *found,
  const char *wanted)
{
  char buffer[64];
  return error_found(r->why, r->path, name, jsonfile_excerpt(found, buffer), wanted);
}

@ The entry of a tensor has a type, a shape and two offsets. We ignore any other members. (jansson returns a null pointer for a missing member,
and its functions treat that as neither a string nor an array, and as an array without elements. So absence needs no test of its own.)

@<Take down one tensor@>=
static bool header_tensor(struct header_parser *r, const char *name)
{
  json_t *entry = header_value(r, name, MAX_ENTRY, 0);
  if (entry == NULL) return false;
  /*- null for a missing member, which is neither a string nor an array */
  json_t *type = json_object_get(entry, "dtype");
  json_t *shape = json_object_get(entry, "shape");
  json_t *offset = json_object_get(entry, "data_offsets");
  bool ok = json_is_string(type) && json_is_array(shape)
    && json_array_size(offset) == 2;
  if (!ok)
    tensor_bad(r, name, entry, "a dtype, a shape and two data_offsets");
  else {
    struct tensor_entry *t = tensor_file_add(r->w, r->path, name,
      json_array_size(shape), r->why);
    ok = t != NULL && tensor_fill(r, t, type, shape, offset);
  }
  json_decref(entry);
  return ok;
}

@ A tensor's block holds its shape and, after the shape, its name. The name must be copied, because the string belongs to the parsed header, which will be freed.

@<Add a tensor to the list@>=
struct tensor_entry *tensor_file_add(struct tensor_file *w, const char *path,
  const char *name, size_t rank, struct error *why)
{
  @<Make room in the list for one more tensor@>@;
  size_t fixed = sizeof(struct tensor_entry) + rank * sizeof(uint64_t);
  size_t length = strlen(name) + 1;
  struct tensor_entry *t = memory_alloc(w->m, MEMORY_OTHER, fixed + length, 1, why);
  if (t == NULL) return NULL;
  t->rank = (uint32_t) rank, t->file = path;
  /*- a copy: the string belongs to the header, which will be freed */
  t->name = memcpy((char *) t + fixed, name, length);
  return w->list[w->n++] = t;
}

@ The list of pointers
doubles when it is full, so that most tensors are added without moving the others: with a list that grew by one each time, a file of $n$ tensors would
move $n^2/2$ pointers. The limit |MAX_TENSORS| is about three times what the largest published model has. We need it because an entry can be so short that its block is several times as large as its text.

@<Make room in the list for one more tensor@>=
if (w->n == MAX_TENSORS) {
  error_found(why, path, name, "one more", "at most 262144 tensors");
  return NULL;
}
void *p = memory_reserve(w->m, MEMORY_OTHER, w->list, &w->cap, w->n + 1, 64,
  sizeof *w->list, why);
if (p == NULL) return NULL;
w->list = p;

@ The format spells its types as the table does, but has no blocks with a scale. Some of its types are smaller than a byte, but a tensor of
such a type must still fill whole bytes. Our table defines a block of such a type as the fewest numbers that fill whole bytes, so the tensor must have whole blocks.

@<The types that the format knows@>=
static unsigned type_find(const char *name)
{
  unsigned i = 0;
  while (i < N_NUMBER_TYPES && !(number_types[i].safetensors
      && strcmp(number_types[i].name, name) == 0)) i++;
  return i;
}
  /*- A type smaller than a byte must still fill whole bytes: its block is the fewest numbers that
    do. */

@ Multiplying numbers from an untrusted file is how buffers overflow. |count_up| multiplies only
after checking that the product fits; its first line refuses a negative number, a real and a |true|,
since none of them is a natural number. A factor of zero is allowed, and makes a tensor without elements. Yet $2^{40}$ times $2^{40}$ times 0 is
refused, because the product of the first two does not fit, and no honest file has such a shape.

@<Multiply numbers from a file@>=
static bool count_up(uint64_t *product, json_t *factor)
{
  if (!json_is_integer(factor) || json_integer_value(factor) < 0) return false;
  uint64_t f = (uint64_t) json_integer_value(factor);
  if (f != 0 && *product > UINT64_MAX / f) return false;
  *product *= f;
  return true;
}
  /*- 2^40 x 2^40 x 0 is refused: the first product does not fit, and no honest file has such a
    shape. */

@ An entry states the size of a tensor twice. The type and the shape tell how many bytes there should be, the offsets how many there are. Whether these
are within the file is checked when all offsets are known.

@<Fill in type, shape and extent@>=
static bool tensor_fill(struct header_parser *r, struct tensor_entry *t, json_t *type,
  json_t *shape, json_t *offset)
{
  t->type = type_find(json_string_value(type)), t->elements = 1;
  if (t->type == N_NUMBER_TYPES)
    return tensor_bad(r, t->name, type, "a type of the format");
  @<Multiply out the shape@>@;
  @<Read the offsets, and compare them with the shape@>@;
  return true;
}

@ The same function reads each dimension and forms their product, as any number is itself times one.

@<Multiply out the shape@>=
for (uint32_t i = 0; i < t->rank; i++) {
  t->shape[i] = 1;
  if (!count_up(&t->shape[i], json_array_get(shape, i))
      || !count_up(&t->elements, json_array_get(shape, i)))
    return tensor_bad(r, t->name, shape, "fewer than 2^64 elements");
}

@ The number of bytes of a tensor is the number of its blocks times the bytes of a block, and for most types a block is one number. That product is the last that could overflow, and we check it before we multiply. The blocks must be whole, and the bytes
exactly as many as the offsets enclose. If there were fewer, we would read the numbers of the next tensor; if there were more, a file could hide bytes that belong to no tensor.

@<Read the offsets, and compare them with the shape@>=
uint64_t end = 1;
  /*- The size is stated twice, and both must agree: fewer bytes would be the next tensor's, more
    would be hidden. */
t->begin = 1;
if (!count_up(&t->begin, json_array_get(offset, 0))
    || !count_up(&end, json_array_get(offset, 1)) || t->begin > end)
  return tensor_bad(r, t->name, offset, "two rising offsets");
t->bytes = end - t->begin;
const struct number_type *known = &number_types[t->type];
if (t->elements % known->block != 0
    || t->elements / known->block > UINT64_MAX / known->bytes
    || t->elements / known->block * known->bytes != t->bytes)
  return tensor_bad(r, t->name, offset, "as many bytes as type and shape need");

@ Now the extents. We sort the tensors by where they begin; each must start where the one
before it ended, and the last must end with the file. That one rule excludes holes,
overlaps, bytes that belong to no tensor, and offsets beyond the end. Why forbid a hole, which seems harmless? Because a file can hide data in it that no reader
of the header sees; the format forbids holes for the same reason. (|bytes - at| cannot wrap: |at| grows only by numbers that were found to fit.)

@<Lay the tensors of a file end to end@>=
static bool extents_check(struct header_parser *r, struct tensor_entry **list, size_t n,
  const unsigned char *data, uint64_t bytes)
{
  if (n > 0) qsort(list, n, sizeof *list, by_extent);
  uint64_t at = 0;
  for (size_t i = 0; i < n; i++) {
    char found[64], wanted[64];
    snprintf(found, sizeof found, "%" PRIu64 " bytes at byte %" PRIu64,
      list[i]->bytes, list[i]->begin);
    snprintf(wanted, sizeof wanted, list[i]->begin != at@|
      ? "byte %" PRIu64 ", no hole, no overlap"@|
      : "within the file, before byte %" PRIu64,@|
      list[i]->begin != at ? at : bytes);
    /*- bytes - at cannot wrap: at grows only by what was found to fit. */
    if (list[i]->begin != at || list[i]->bytes > bytes - at)@+
      return error_found(r->why, r->path, list[i]->name, found, wanted);
    list[i]->data = data + at;
    at += list[i]->bytes;
  }
  return at == bytes || error_say(r->why, "%s: the data are %" PRIu64 " bytes;"@|
    " wanted: %" PRIu64 ", the last offset", r->path, bytes, at);
}

@ An empty tensor begins where its successor begins, and must sort before it, or the two would seem to
overlap.

@<Compare where two tensors begin@>=
static int by_extent(const void *a, const void *b)
{
  const struct tensor_entry *x = *(struct tensor_entry *const *) a;
  const struct tensor_entry *y = *(struct tensor_entry *const *) b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}
  /*- An empty tensor begins where the next one does, and must come first, or the two would seem to
    overlap. */

@ The finished list is searched by name, so its order is that of the names, byte by byte, regardless of any language's alphabet.

@<Compare the names of two tensors@>=
static int by_name(const void *a, const void *b)
{
  return strcmp((*(struct tensor_entry *const *) a)->name,
    (*(struct tensor_entry *const *) b)->name);
}

@* Files and shards. \label{sec:shards}
Once a file is mapped, we read its length field, parse its header, and check that its extents lie end to end.
|first| is the length of the list before, so that only this file's tensors are sorted. If there are no tensors yet, the list is a null pointer, and C does not define
arithmetic on it, even when we would add zero.

@<Read one file of tensors@>=
static bool shard_read(struct tensor_file *w, struct shard *s, struct error *why)
{
  struct header_parser r = @[{ .w = w, .path = s->path, .why = why }@];
  @<Read how long the header is, and where it ends@>@;
  size_t first = w->n;
  if (!header_read(&r))
    return misfit_bytes(s->path, s->map.bytes, s->map.size, false, why);
  /*- of a null pointer C does not define even + 0 */
  struct tensor_entry **list = w->n > 0 ? w->list + first : NULL;
  return extents_check(&r, list, w->n - first, s->map.bytes + 8 + header,
    s->map.size - 8 - header);
}

@ The length may be larger than any file. Mostly this happens when the file is of another kind, and then the sentence says which (\cref{sec:misfits}). We compare the length with the rest of the file before we add anything to it: the sum of 8 and a length near $2^{64}$
would wrap around to a small number and pass.

@<Read how long the header is, and where it ends@>=
uint64_t header = 0;
if (s->map.size < 8) return header_bad(&r, "missing", "8 bytes of length");
for (int i = 0; i < 8; i++) header |= (uint64_t) s->map.bytes[i] << 8 * i;
/*- Compare before adding: 8 and a length near 2^64 wrap around to a small number. */
if (header > MAX_HEADER || header > s->map.size - 8)
  return header_bad(&r, "longer than the file", "at most 100,000,000 bytes, "@|
    "and no more than there are")
    || misfit_bytes(s->path, s->map.bytes, s->map.size, false, why);
r.at = (const char *) s->map.bytes + 8;
r.end = r.at + header;

@ A file is entered in the list before any operation on it can fail, so that closing finds it
in every case.

@<Map one more file@>=
struct shard *tensor_file_map(struct tensor_file *w, const char *directory,
  const char *name, struct error *why)
{
  struct shard *grown = memory_resize(w->m, MEMORY_OTHER, w->shards,
    w->n_shards + 1, sizeof *grown, why);
  if (grown == NULL) return NULL;
  w->shards = grown;
  struct shard *s = &w->shards[w->n_shards++];
  s->path = tensor_file_keep_path(w, directory, name, why);
  return s->path != NULL && file_map(&s->map, s->path, why) ? s : NULL;
}

@ The reader of this chapter maps a file and reads it at once.

@<Open one more file@>=
static bool shard_open(struct tensor_file *w, const char *directory,
  const char *name, struct error *why)
{
  struct shard *s = tensor_file_map(w, directory, name, why);
  return s != NULL && shard_read(w, s, why);
}

@ The index names a file for every tensor. A name with a slash in it, or one that begins
with a dot, could lead out of the directory, as |"../../etc/passwd"| does.
No tool writes such names, and we refuse them before we open anything. The index names a file once for each of its tensors; we open it the first time.

@<Open the files that an index names@>=
static bool index_open(struct tensor_file *w, const char *directory,
  json_t *map, struct error *why)
{
  for (void *i = json_object_iter(map); i != NULL;
       i = json_object_iter_next(map, i)) {
    const char *file = json_string_value(json_object_iter_value(i));
    char buffer[64];
    /*- a slash or a dot at the front could lead out of the directory */
    if (file == NULL || *file == '\0' || *file == '.' || strchr(file, '/') != NULL)
      return error_found(why, w->path, json_object_iter_key(i),
        jsonfile_excerpt(json_object_iter_value(i), buffer),
        "the name of a file in the same directory");
    size_t k = 0, skip = strlen(directory) + 1;
    while (k < w->n_shards && strcmp(w->shards[k].path + skip, file) != 0) k++;
    if (k == w->n_shards && !shard_open(w, directory, file, why)) return false;
  }
  return true;
}

@ Afterwards index and files must agree: every tensor of the index is in the file that the index
names, and the files have no other tensors. Since names are unique, equal counts
suffice for the second half. If they disagree, a shard of another model may be among the files: its sizes would fit, and the text would be nonsense.

@<Compare the index with the files@>=
static bool index_check(struct tensor_file *w, json_t *map, struct error *why)
{
  for (void *i = json_object_iter(map); i != NULL;
       i = json_object_iter_next(map, i)) {
    const struct tensor_entry *t = tensor_file_find(w, json_object_iter_key(i));
    const char *file = json_string_value(json_object_iter_value(i));
    if (t == NULL || strcmp(strrchr(t->file, '/') + 1, file) != 0)
      return error_found(why, w->path, json_object_iter_key(i), file,
        "the file that has this tensor");
  }
  return json_object_size(map) == w->n || error_say(why,
    "%s: weight_map has %zu tensors; wanted: %zu, as in the files", w->path,
    json_object_size(map), w->n);
}
  /*- A shard of another model might fit by its sizes. Names are unique, so equal counts are equal
    sets. */

@ With one file or many, no name may occur twice. In the sorted list two equal names are
neighbours, so it is enough to compare each name with the one before it. Only now is the order final, and each tensor gets its number.

@<Sort by name, and refuse a name given twice@>=
bool tensor_file_sort(struct tensor_file *w, struct error *why)
{
  if (w->n > 0) qsort(w->list, w->n, sizeof *w->list, by_name);
  for (size_t i = 1; i < w->n; i++)
    if (strcmp(w->list[i - 1]->name, w->list[i]->name) == 0)
      return error_found(why, w->list[i]->file, w->list[i]->name,
        "given twice", "each name once");
  for (size_t i = 0; i < w->n; i++) w->list[i]->number = i;
  return true;
}

@ An index is JSON with a |weight_map|. Its other member, |metadata|, gives the number of bytes, which we
count ourselves. We sort the list after opening the files and before checking the index, because the check looks names up.

@<Open by an index@>=
static bool open_by_index(struct tensor_file *w, const char *directory,
  struct error *why)
{
  json_t *index = jsonfile_read(w->path, JSONFILE_MAX_INDEX, why);
  if (index == NULL) return false;
  json_t *map = json_object_get(index, "weight_map");
  char buffer[64];
  bool ok = json_is_object(map) || error_found(why, w->path, "weight_map",
    jsonfile_excerpt(map, buffer), "an object of names and files");
  ok = ok && index_open(w, directory, map, why) && tensor_file_sort(w, why)
    && index_check(w, map, why);
  json_decref(index);
  return ok;
}

@ A path leads to a directory or a file, and we keep the path of the single file or that of the index accordingly. It is entered before anything is opened, because every message
names it. A safetensors file does not begin with a magic number that would identify it. So its reader accepts every path, and comes last in the table.

@<Open whatever the path leads to@>=
static bool safetensors_recognizes(const char *path)
{
  (void) path;
  return true;
}
  /*- There is no magic number, so every path will do, and this format is the last in the table. */
static bool safetensors_fill(struct tensor_file *w, const char *path,
  struct error *why)
{
  @<Choose between a single file and an index@>@;
  /*- before anything is opened, since every message names it */
  w->path = indexed ? index : single;
  memory_free(w->m, indexed ? single : index);
  if (indexed) return open_by_index(w, path, why);
  if (ok && shard_open(w, path, name, why)) return tensor_file_sort(w, why);
  return ok && directory && access(single, F_OK) != 0
    && misfit_path(path, name, why);
}
const struct tensor_format safetensors_format =
  @[{ .name = "safetensors", .recognizes = safetensors_recognizes,@|
  .fill = safetensors_fill }@];

@ The first format in the table that recognizes the path reads it. If its reader fails, we close everything that it has entered.

@<Find the format, and let its reader fill the list@>=
extern const struct tensor_format gguf_format, safetensors_format;
@#
struct tensor_file *tensor_file_open(struct memory *m, const char *path,
  struct error *why)
{
  static const struct tensor_format *const formats[] =
    @[{ &gguf_format, &safetensors_format }@];
  struct tensor_file *w = memory_alloc(m, MEMORY_OTHER, 1, sizeof *w, why);
  size_t i = 0;
  if (w == NULL) return NULL;
  while (!formats[i]->recognizes(path)) i++;
  w->m = m, w->format = formats[i];
  if (w->format->fill(w, path, why)) return w;
  tensor_file_close(m, w);
  return NULL;
}

@ In a directory the single file has precedence over an
index, as in other programs. If neither exists, opening the single file fails, and the
sentence names what was missing, or what is there in its place. If the path leads to a file, that file is opened.

@<Choose between a single file and an index@>=
struct stat about;
bool directory = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
const char *name = directory ? "model.safetensors" : "";
char *single = tensor_file_keep_path(w, path, name, why);
char *index = tensor_file_keep_path(w, path, "model.safetensors.index.json", why);
bool ok = single != NULL && index != NULL;
bool indexed = ok && directory && access(single, F_OK) != 0
  && access(index, F_OK) == 0;

@ Closing frees everything that was allocated, even if opening failed half-way. This works because every entry of the lists can be freed: a tensor is entered only when its block
exists, and a shard begins with null pointers.

@<Close what was opened@>=
void tensor_file_close(struct memory *m, struct tensor_file *w)
{
  if (w == NULL) return;
  for (size_t i = 0; i < w->n; i++) memory_free(m, w->list[i]);
  for (size_t i = 0; i < w->n_shards; i++) {
    file_unmap(&w->shards[i].map);
    memory_free(m, w->shards[i].path);
  }
  memory_free(m, w->list);
  memory_free(m, w->shards);
  memory_free(m, w->path);
  memory_free(m, w);
}

@ Finding is a binary search: a model asks for every name once, and the list is
sorted by name already. The small functions after it exist because the structure is private to this module.

@<Find a tensor by its name@>=
const struct tensor_entry *tensor_file_find(const struct tensor_file *w,
  const char *name)
{
  size_t low = 0, high = w->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(name, w->list[middle]->name);
    if (order == 0) return w->list[middle];
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return NULL;
}
@#
size_t tensor_file_count(const struct tensor_file *w) { return w->n; }
const struct tensor_entry *tensor_file_at(const struct tensor_file *w, size_t i)
{
  return w->list[i];
}
const char *tensor_file_path(const struct tensor_file *w)
{
  return w == NULL ? "the model" : w->path;
}
const char *tensor_file_format(const struct tensor_file *w)
{
  return w->format->name;
}

@ Bytes that are in none of the files, because a reader had to convert them, are in no mapping either, and nothing happens to them.

@<Find a tensor by its name@>=
void tensor_file_release(const struct tensor_file *w, const void *from, size_t n)
{
  for (size_t i = 0; w != NULL && i < w->n_shards; i++)
    file_release(&w->shards[i].map, from, n);
}

@ We need the path of a mapped file as long as the file, for sentences about it. It consists of a directory and a name, with a slash between; if the name is empty, it is the directory alone. The zero at the end is there already, since |memory_alloc| returns zeroed memory.

@<Keep a path@>=
char *tensor_file_keep_path(struct tensor_file *w, const char *directory,
  const char *name, struct error *why)
{
  size_t a = strlen(directory), b = strlen(name);
  char *path = memory_alloc(w->m, MEMORY_OTHER, a + (b > 0) + b + 1, 1, why);
  if (path == NULL) return NULL;
  memcpy(path, directory, a);
  if (b > 0) path[a] = '/', memcpy(path + a + 1, name, b);
  return path;
}
  /*- for sentences, as long as the file is open; the zero at the end is there already */

@ Settings and index are mapped as well, and parsed from there. The bound on their size is needed because a tree is larger than its text: an empty list takes three characters with its comma, and jansson allocates many
times as many bytes for it. The largest index that we know has nine megabytes, and settings have a few pages. If the text is not JSON, jansson knows the line of the error, and the sentence names the line in the place of a field. For a byte of zero, which is no character of JSON, not even behind the last bracket, jansson's words break off, and we say it ourselves.

@<Read a file of JSON@>=
const char *jsonfile_trouble(const json_error_t *found, const char *text, size_t n)
{
  size_t at = found->position > 0 ? (size_t) found->position - 1 : n;
  return at < n && text[at] == '\0' ? "a byte of zero" : found->text;
}
  /*- jansson's own words break off at a byte of zero */
json_t *jsonfile_read(const char *path, size_t max, struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return NULL;
  json_error_t found;
  json_t *value = NULL;
  if (map.size > max)
    error_say(why, "%s: this has %zu bytes;"@| " wanted: at most %zu of JSON",
      path, map.size, max);
  else {
    value = json_loadb((const char *) map.bytes, map.size, JSON_DECODE_ANY
      | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &found);
    if (value == NULL) {
      error_say(why, "%s: line %d: %s; wanted: strict JSON", path, found.line,
        jsonfile_trouble(&found, (const char *) map.bytes, map.size));
      misfit_bytes(path, map.bytes, map.size, true, why);
    }
  }
  file_unmap(&map);
  return value;
}

@ A sentence quotes a value as it would be typed, in ASCII, and shortens it with three
dots. A temperature that was typed with one decimal is not quoted with all the digits of a double: a real number gets as many digits as are needed to read the same number back, and more only if that avoids an exponent.
In a list or an object all numbers get as many digits as the one that needs most.

@<Count the digits that a value needs@>=
static int real_digits(const json_t *value)
{
  char typed[64];
  int fewest = 0;
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(typed, sizeof typed, "%.*g", digits, json_real_value(value));
    if (strtod(typed, NULL) != json_real_value(value)) continue;
    if (strchr(typed, 'e') == NULL) return digits;
    if (fewest == 0) fewest = digits;
  }
  return fewest;
}
  /*- The fewest digits that read back as the same number, and more only if that avoids an
    exponent. */

@ A list or an object may contain others, so the function is recursive.

@<Count the digits that a value needs@>=
static int value_digits(json_t *value)
{
  int most = json_is_real(value) ? real_digits(value) : 1;
  for (size_t i = 0; i < json_array_size(value); i++) {
    int digits = value_digits(json_array_get(value, i));
    if (digits > most) most = digits;
  }
  for (void *i = json_object_iter(value); i != NULL;
       i = json_object_iter_next(value, i)) {
    int digits = value_digits(json_object_iter_value(i));
    if (digits > most) most = digits;
  }
  return most;
}
  /*- in a list as many for each as the one that needs most */

@ If the rest of a buffer is too small for the next piece, |json_dumpb| leaves the piece out; and a whole text may be one piece, so that of a long template nothing would be quoted but the quotation mark. So we take the pieces
from jansson one by one, and copy as much of each as there is room for.

@<Quote a value of JSON@>=
struct quotation {@+ char *to;@+ size_t n, all;@+ };
  /* |n| bytes are there, of |all| */
/*- json_dumpb leaves out a piece that does not fit, and a long text may be one piece, so we take
  them one by one. */
static int quote_piece(const char *piece, size_t n, void *ctx)
{
  struct quotation *q = ctx;
  size_t room = EXCERPT_MAX - q->n, k = n < room ? n : room;
  memcpy(q->to + q->n, piece, k);
  q->n += k, q->all += n;
  return 0;
}

@ What is too long is cut so that three dots fit, too. A character beyond ASCII is written as \.{\char92 u} and four digits, or as two of these; such a sequence is not cut, and neither is a number, since a part of a number is another number. (Digits that go on for longer than any number are a text.)

@<Quote a value of JSON@>=
enum { LONGEST_NUMBER = 24 };
/*- Not within an escape, of which two may be one character, nor within a number. */
static size_t quotation_cut(const char *text, size_t most)
{
  size_t at = 0, k;
  for (;;) {
    k = 1;
    if (text[at] == '\\') k = text[at + 1] == 'u' ? 6 : 2;
    if (k == 6 && (text[at + 2] | 32) == 'd' && strchr("89abAB", text[at + 3]) != NULL) k = 12;
    if (at + k > most) break;
    at += k;
  }
  for (k = at; k > 0 && at - k < LONGEST_NUMBER && strchr("0123456789.", text[k]) != NULL@|
    && strchr("0123456789.", text[k - 1]) != NULL; k--) ;
  return at - k < LONGEST_NUMBER ? k : at;
}
@#
const char *jsonfile_excerpt(json_t *value, char buffer[64])
{
  struct quotation q = @[{ buffer, 0, 0 }@];
  if (value == NULL) return strcpy(buffer, "missing");
  size_t digits = (size_t) value_digits(value);
  json_dump_callback(value, quote_piece, &q, JSON_ENCODE_ANY | JSON_COMPACT
    | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(digits));
  buffer[q.n] = '\0';
  if (q.all > EXCERPT_MAX) strcpy(buffer + quotation_cut(buffer, EXCERPT_MAX - 4), "...");
  return buffer;
}

@ A text that is not a value of JSON is quoted as it is. The bytes |10xxxxxx| continue a character, so a cut before one of them is moved to the front.

@<Quote a text@>=
const char *text_excerpt(const char *text, size_t n, size_t most, char buffer[EXCERPT_MAX + 4])
{
  size_t k = n <= most ? n : most;
  while (k < n && k > 0 && ((unsigned char) text[k] & 0xc0) == 0x80) k--;
  if (k > 0) memcpy(buffer, text, k);
  strcpy(buffer + k, k < n ? "..." : "");
  return buffer;
}
  /*- not within a character */

@ Reading comes last, since its messages quote.

@(jsonfile.c@>=
@;
/** Files of JSON, and quotations from them for messages. A tree takes many times the space of its
  text, so every file has a bound on its size. A quotation is ASCII, has no more digits than were
  needed to type the number, and is never cut within an escape or a number: a part of a number is
  another number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "safetensors/excerpt.h"
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
@;@#
@<Count the digits that a value needs@>@;
@<Quote a value of JSON@>@;
@<Quote a text@>@;
@<Read a file of JSON@>@;

@ The functions for the list of tensors serve every format.

@(tensor_file.c@>=
@;
/** The list of a model's tensors, whatever format its files have. A file or a tensor is entered in
  the lists before anything that can fail is done with it, and every entry can be freed, so closing
  finds all of it after half an opening. A tensor is one block: the entry, its shape, its name. The
  list is in the order of the names once |tensor_file_sort| has been called; until then nothing may
  be looked up. */
#include <stdlib.h>
#include <string.h>
#include "safetensors/tensor_format.h"
@#
enum { MAX_TENSORS = 1 << 18 };
@<Keep a path@>@;
@<Map one more file@>@;
@<Add a tensor to the list@>@;
@<Compare the names of two tensors@>@;
@<Sort by name, and refuse a name given twice@>@;
@<Find a tensor by its name@>@;
@<Close what was opened@>@;
@<Find the format, and let its reader fill the list@>@;

@ The reader of safetensors is the largest file; its parts are in the order that C requires. The format is little endian, with the lowest byte of a number first, and so must be the
machine; a big-endian machine would need a copy of every tensor.

@(safetensors.c@>=
@;
/** Reading safetensors, from one file or several with an index. The file is a stranger's, and may
  get nothing from us but a sentence. So nothing is computed from what it claims before that is
  bounded by something known: subtract from the size and compare, divide and then multiply, since a
  sum that wraps around passes any bound. Memory is allocated for what has been read, not for what
  is announced. Whatever a check depends on is read once, into variables of ours: a mapped file can
  change. An index names files of its own directory only. Tensors lie end to end and fill the file:
  a hole could hide data. The numbers are used where they lie, little endian and at any address,
  and may be anything. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
#include "safetensors/tensor_format.h"
@#
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
  "weights are mapped, and stored little endian");
enum { MAX_HEADER = 100000000 };
@<A reader of headers@>@;
@<Headers, from the mark to the whole@>@;
@<Files, from the extent to the directory@>@;

@ First come the parts that read a header: single values and marks, then
an entry, then the whole.

@<Headers, from the mark to the whole@>=
@<Read one value of the header@>@;
@<Read one mark of punctuation@>@;
@<Say what is wrong with an entry@>@;
@<The types that the format knows@>@;
@<Multiply numbers from a file@>@;
@<Fill in type, shape and extent@>@;
@<Take down one tensor@>@;
@<Check the metadata@>@;
@<Read a name and its value@>@;
@<Read the whole header@>@;

@ Then come those that put files together: one file, several files with an index, or a directory that has
one or the other.

@<Files, from the extent to the directory@>=
@<Compare where two tensors begin@>@;
@<Lay the tensors of a file end to end@>@;
@<Read one file of tensors@>@;
@<Open one more file@>@;
@<Open the files that an index names@>@;
@<Compare the index with the files@>@;
@<Open by an index@>@;
@<Open whatever the path leads to@>@;

@* Files of another kind. \label{sec:misfits}
Most files that cannot be read are not damaged; they are something else. A repository that was cloned without Git LFS has a text of three lines in place of each large file. A directory may hold
the weights as a pickle, or a GGUF file (\cref{gguf}), which is a model by itself and opened by its own path, or only an adapter. We recognize most of these by the first bytes of a file, and the rest by the names in the directory. The readers above would refuse
all of them with sentences about headers and lengths; but the user needs to know what the file is, and what to do.
@^Git LFS@>@^pickle@>@^GGUF@>

@(misfit.h@>=
#ifndef INCIPIT_MISFIT_H
#define INCIPIT_MISFIT_H
#include "ground/ground.h"
bool misfit_bytes(const char *path, const unsigned char *byte, size_t n,
  bool json, struct error *why);
  /* if the |n| bytes of a file begin like another kind of file, a new sentence says
     which and what to do, and replaces the earlier one; |json|: JSON was wanted. Always
     false */
bool misfit_path(const char *path, const char *missing, struct error *why);
  /* the same for a path that leads nowhere, for a file where the directory of a model was wanted, and for a
     directory without the file |missing| that has something else in its place; always false */
#endif

@ A mark is the first bytes of a format, its \emph{magic number}. A pickle begins with the byte |0x80| and its version. A download that needs a login often brings a web page. JSON has no mark but its first bracket, with which
settings begin as well; so the two rows for JSON come last, and count only where tensors were wanted.

@<The marks of other kinds of files@>=
enum kind_number { KIND_GGUF, KIND_LFS, KIND_ZIP, KIND_PICKLE, KIND_HDF5,@|
  KIND_PAGE, KIND_JSON, KIND_TENSORS, KIND_UNKNOWN };
static const struct file_kind { const char *name, *wanted; } kinds[] = @[{@|
  [KIND_GGUF] = { "a GGUF file",@|
    "the path of that file itself, as in -m FILE.gguf" },@|
  [KIND_LFS] = { "a Git LFS pointer, not the file that it stands for",@|
    "the file itself, which git lfs pull fetches" },@|
  [KIND_ZIP] = { "a zip archive, as PyTorch writes its pickles",@|
    SAVE_AGAIN },@|
  [KIND_PICKLE] = { "a pickle of Python", SAVE_AGAIN },@|
  [KIND_HDF5] = { "an HDF5 file, as TensorFlow writes them",@|
    SAVE_AGAIN },@|
  [KIND_PAGE] = { "a web page",@|
    "the file itself; its download may ask for a login" },@|
  [KIND_JSON] = { "a JSON file",@|
    "a file of tensors, or the directory of a model" },@|
  [KIND_TENSORS] = { "a file of tensors", "the directory that it is in" },@|
  [KIND_UNKNOWN] = { "a file", "the directory of a model, or a GGUF file" } }@];

@ Why not read a pickle? Because it is a program, and loading it runs it. So we advise the user to convert the model to safetensors once, with the library that reads pickles, on a machine where the program may run.

@<The marks of other kinds of files@>=
static bool begins(const unsigned char *byte, size_t n, const char *mark)
{
  return n >= strlen(mark) && memcmp(byte, mark, strlen(mark)) == 0;
}
static enum kind_number kind_of(const unsigned char *byte, size_t n)
{
  static const struct { const char *mark; enum kind_number kind; }
    marks[] = @[{ { "GGUF", KIND_GGUF },@|
    { "version https://git-lfs", KIND_LFS }, { "PK\3\4", KIND_ZIP },@|
    { "\200\2", KIND_PICKLE }, { "\200\3", KIND_PICKLE },@|
    { "\200\4", KIND_PICKLE }, { "\200\5", KIND_PICKLE },@|
    { "\211HDF", KIND_HDF5 },@|
    { "<!", KIND_PAGE }, { "<html", KIND_PAGE },@|
    { "{", KIND_JSON }, { "[", KIND_JSON } }@];
  /*- safetensors: a length below 2^40, then a brace */
  if (n > 8 && byte[5] == 0 && byte[6] == 0 && byte[7] == 0 && byte[8] == '{')
    return KIND_TENSORS;
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
    if (begins(byte, n, marks[i].mark)) return marks[i].kind;
  return KIND_UNKNOWN;
}

@ A safetensors file with a broken header and settings with a comma too many are of the right kind, and keep the earlier sentence. We replace it only if the mark
is that of another kind.

@<Say what a file is@>=
bool misfit_bytes(const char *path, const unsigned char *byte, size_t n,
  bool json, struct error *why)
{
  enum kind_number kind = kind_of(byte, n);
  /*- settings with a comma too many are of the right kind, and keep the sentence they have */
  if (kind < KIND_JSON || (kind == KIND_JSON && !json))
    error_found(why, path, "this", kinds[kind].name, kinds[kind].wanted);
  return false;
}
static bool misfit_file(const char *path, struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return false;
  const struct file_kind *kind = &kinds[kind_of(map.bytes, map.size)];
  const char *wanted = kind == &kinds[KIND_JSON] ? kinds[KIND_UNKNOWN].wanted
    : kind->wanted;
  error_found(why, path, "this", kind->name, wanted);
  file_unmap(&map);
  return false;
}

@ If the file that we want is missing from a directory, we look for another file of weights, by the ending of its name. If there are several, we name the first in alphabetical order, so that the sentence is the
same on every file system.

@<Find what is in the place of a model@>=
static bool is_of_weights(const char *name)
{
  static const char *const ends[] = @[{ ".gguf", ".bin", ".pt", ".pth",@|
    ".ckpt", ".h5", ".msgpack", ".onnx", ".safetensors" }@];
  size_t n = strlen(name);
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    size_t k = strlen(ends[i]);
    if (n > k && strcmp(name + n - k, ends[i]) == 0) return true;
  }
  return false;
}
/*- The first by the alphabet, so that the sentence is the same on every file system. */
static void find_weights(const char *directory, char found[256])
{
  DIR *list = opendir(directory);
  found[0] = '\0';
  for (struct dirent *e; list != NULL && (e = readdir(list)) != NULL; )
    if (is_of_weights(e->d_name) && strlen(e->d_name) < 256
        && (found[0] == '\0' || strcmp(e->d_name, found) < 0))
      strcpy(found, e->d_name);
  if (list != NULL) closedir(list);
}

@ An adapter holds only the difference between a model and a fine-tuned one. Its settings have a file name of their own, which we look for first. For other files the first bytes decide what the sentence says; it mentions a file of tensors under another name only if the missing file is the weights. Often that is one of several shards (\cref{sec:shards}), whose index was not downloaded.

@<Say what is in the place of a model@>=
static bool misfit_directory(const char *path, const char *missing,
  struct error *why)
{
  char at[PATH_CAP], found[256], is[400];
  if (path_find(at, path, "adapter_config.json", F_OK))
    return error_found(why, at, "this",@|
      "of a LoRA adapter, which is no model by itself",@|
      "its base model with the adapter merged into it"@|
      " (merge_and_unload of peft)");
  find_weights(path, found);
  struct mapping map;
  if (found[0] == '\0' || !path_join(at, path, found, NULL)
      || !file_map(&map, at, NULL)) return false;
  enum kind_number kind = kind_of(map.bytes, map.size);
  file_unmap(&map);
  if (kind >= KIND_JSON && (kind != KIND_TENSORS || !is_of_weights(missing)))
    return false;
  if (kind == KIND_TENSORS && strstr(found, "-of-") != NULL) {
    snprintf(is, sizeof is, "missing, and there is %s, one of several parts", found);
    return error_found(why, path, missing, is,@|
      "model.safetensors.index.json as well, which names the parts");
  }
  snprintf(is, sizeof is, "missing, and there is %s, %s", found,@|
    kinds[kind].name);
  return error_found(why, path, missing, is, kind == KIND_TENSORS ? SAVE_AGAIN
    : kinds[kind].wanted);
}
  /*- An adapter first, by its settings' name: it is a difference of two models, and its file looks
    like one. */

@ Many programs take the name of a model on Hugging Face's hub, such as \.{openai-community/gpt2}, and download what they do not have. Ours opens files and never asks the network for any. A user who is used to the others needs to be told so, and told what to type. A name is of the hub if it is two words with a slash between, and there is no folder of the first name.
@^Hugging Face@>

@<Say what is in the place of a model@>=
static bool is_of_hub(const char *path)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz"@|
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  char owner[100];
  size_t n = strspn(path, letters), k = path[n] == '/' ? strspn(path + n + 1, letters) : 0;
  if (n == 0 || n >= sizeof owner || k == 0 || path[n + 1 + k] != '\0') return false;
  snprintf(owner, sizeof owner, "%.*s", (int) n, path);
  return *path != '.' && !is_of_weights(path) && access(owner, F_OK) != 0;
}
  /*- two words with a slash between, and no folder of the first name */
static bool misfit_nothing(const char *path, const char *reason, struct error *why)
{
  static const char wanted[] =
    "wanted: the directory of a model, or a GGUF file; nothing is downloaded here";
  if (!is_of_hub(path)) return error_say(why, "%.200s: cannot be opened: %s; %s",@|
    path, reason, wanted);
  return error_say(why, "%s: cannot be opened: %s; %s:"@|
    " hf download %.100s --local-dir DIR fetches it, and -m DIR opens it",@|
    path, reason, wanted, path);
}

@ First we ask whether the path leads to a file, to a directory, or nowhere.

@<Say what is in the place of a model@>=
bool misfit_path(const char *path, const char *missing, struct error *why)
{
  struct stat about;
  if (stat(path, &about) != 0) return misfit_nothing(path, strerror(errno), why);
  if (S_ISREG(about.st_mode)) return misfit_file(path, why);
  return S_ISDIR(about.st_mode) && misfit_directory(path, missing, why);
}

@ The advice for all kinds of pickles is the same, and is a macro so that two rows can have it.

@(misfit.c@>=
@;
/** Files that are not damaged but something else. A pointer of Git LFS, a pickle, a web page, an
  adapter: the reader's sentence about headers would be true and of no help, so it is replaced by
  one that says what the file is and what to do. Known by the first bytes, or by the names in the
  directory. Nothing here opens a pickle: it is a program, and loading it runs it. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "safetensors/misfit.h"
#define SAVE_AGAIN "model.safetensors, as save_pretrained of transformers writes it"
@;@#
@<The marks of other kinds of files@>@;
@<Say what a file is@>@;
@<Find what is in the place of a model@>@;
@<Say what is in the place of a model@>@;

@* Exercises. \label{sec:safetensorsexercises}
Both repeat the hand calculation of \cref{sec:saferules} with numbers of 64 bits.

\begin{exercises}
\exercise{check}{ex:safetensors.header}{A file has \given{100} bytes, and sizes have 64 bits. The length $h$ of its header is given as 92, 93, $2^{64}-8$ or $2^{64}-7$. Which of the four does the test $8+h\le100$ accept, and which does $h\le100-8$?}{\texttt{make
exercise-W2-1}}{The first accepts 92, $2^{64}-8$ and $2^{64}-7$, since $8+h$ is \given{100}, 0 and 1; the second accepts only 92.}
\exercise{check}{ex:safetensors.fits}{Write |bool fits(uint64_t size, uint64_t header, uint64_t begin, uint64_t end)|: are the bytes from |begin| to |end|, counted from the first byte after the header, all within a file of |size|
bytes? The header has |header| bytes, with 8 before it. Each of the four may be any number.}{\texttt{make exercise-W2-2}}{|size >= 8 && header <= size - 8 && begin <= end && end <= size - 8 - header|. Each comparison allows the next subtraction.}
\end{exercises}
