@i types.w
@s json_error_t int
@s json_int_t int

\chapterquestion{What is in the files of a model, and how much of it can we trust?}
@** Safetensors, and five rules for hostile files.
\incipit{A}{ model arrives} as a directory that a stranger filled: a file of settings, one or more files of numbers, and some others. Suppose the
settings say that a row has \given{768} numbers, and the matrices are made for \given{640}. The program must notice before the first wrong
word appears. In this chapter we make five rules for readers of such files, and read the numbers by them. \Cref{families} reads the settings and puts the model together.
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

@ The program writes that file and reads it back, and then does the same with five damaged copies. Could you see the damage? (No number of this program is quoted anywhere, so with an argument it prints nothing.)

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

What a file says is a claim. The first rule is that \emph{nothing is computed from a claim before it is bounded by something that we know}. What do we know at the
beginning? One number, and we have it from the system and not from the file: how many bytes there are. It bounds the length of the header; the end of the
header bounds each name and each entry; and so on down \cref{fig:checks}. Each check relies on those above it.

\fig{checks}{fig:checks}{Five questions in their order. What a claim has been compared with is on its left; once the answer is yes, it is known, and bounds the next claim.}{A ladder of six rungs. On the left what we know: the size of the file; that the header ends in the file; that entries are strict JSON; how many elements and bytes a tensor has; that every tensor has its bytes; that every address is safe. From each of the first five an arrow leads to a claim of the file on the right: length of the header, names and entries, shape, two offsets, where each tensor begins. From each claim an arrow leads back, one rung down.}

In each of them the claim is alone on its side: we ask |header > size - 8| and not |8 + header > size|, because |8 + header| may wrap around to a small number, as in the box. To check a product, we divide the bound by one
factor and compare the quotient with the other; only then do we multiply.

The second rule is that \emph{memory is allocated for what has been read, not for what is announced}. The list of tensors grows as entries are read. The number of layers is compared with the
tensors, each of which has an entry of its own in the header. An id must be smaller than the number of bytes of the vocabulary's file, since each token takes more than one byte. The rows of a text are allocated as the text
grows. We learnt this rule by breaking it. An earlier version of the generation loop allocated the rows of the whole context at the beginning, and the context is a number in \.{config.json}:
a number of ten digits there made us allocate gigabytes before the first token. A tokenizer file of a few kilobytes, with one token at the largest id that we allow, took megabytes. In neither case did
the program crash; it did what the file said, and that was the mistake.

The third rule is that \emph{the words of a refusal are ours}. Every refusal is one of our sentences, in which a word of the file is quoted and shortened. A complaint of jansson, the library that parses JSON, is quoted in the same way. A quoted word is
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
A model is a long list of named arrays of numbers, called \emph{tensors}. The arrays come in a format named \emph{safetensors}: eight bytes that say how long
the header is, the header, which is JSON and gives for each name a type, a shape and
two offsets, and then the bytes that the offsets point into. The format is dull on
purpose. Earlier ones stored the objects of a program, and loading a model could run any code that a stranger had put into the file. Loading a safetensors file runs no code, and its bytes can be mapped without a copy.
@^safetensors@>@^tensor@>

We trust none of it until
it adds up: the header ends within the file, it is strict JSON, every product of a shape
fits in 64 bits, every tensor has exactly the bytes that its shape and type call for, and the
tensors lie end to end from the first byte after the header to the last byte
of the file, without hole or overlap. After that no other chapter needs to check an
offset again. This is all that the others see of a tensor:

\printedheader[tensor_entry]{safetensors/tensor_file.h}

Its numbers stay where they are in the mapped file. A model may be one file, or several \emph{shards} with an index (\cref{sec:shards}); it may have another format (\cref{gguf}). A caller who looks a tensor up by its name need not know.
@^shard@>

@ The engine multiplies by matrices of a few of
the types: F32 is C's |float|, and F16 and BF16 take half as many bytes, F16 with more digits and BF16 with more range (\cref{sec:formats}). A few files have doubles, F64, because somebody converted a model and did not say to what. Nobody trains in them, and no kernel multiplies them; so each is rounded to the nearest float when the model is opened, in memory that the list owns (|tensor_file_narrow|), and that model alone takes memory of its own beside the file. Tensors of other types can only be listed.

A list of tensors is filled by a reader of one format, which has four helpers: they keep a path, map a file, add a tensor, and sort the list (\.{unwoven/safetensors/tensor\_format.h}). Whatever has been entered is freed by the one function that closes everything. So a reader that fails half-way need not clean up; it returns false.

@* The check of the files. \label{sec:filescheck}
The first file is read as it was written. Each of the others is refused with one sentence, which names the file, the tensor, what was found and what was wanted.
In the second file a tensor begins where the one before it ends, but its own end is wrong:
it is one byte outside the file. In the third file the hole makes its beginning wrong.

\widecheckpoint{build/out/safetensors.txt}{what the program of this chapter prints}

@* Reading a header. \label{sec:header}
The header is JSON, and there is a library for that, jansson. Why not give it the whole header? Because the format allows one of $10^8$ bytes, and a tree of JSON nodes
takes many times the space of its text: that breaks our second rule. So jansson reads one value at a time, the
name of a tensor and then its entry, and we keep only what the entry says. The braces,
colons and commas between the values we read ourselves. A file that
turns out to be bad then costs little more than its own size.

An honest entry fits on a line or two of this
page, and |MAX_ENTRY| leaves room for long names. Metadata may be long: training programs keep statistics of their data there.
@^jansson@>

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
length is simply the length that we pass. If a value is not complete by then, jansson complains about the end of the text, though the text goes on; our sentence says that the value is too long. The flag |JSON_REJECT_DUPLICATES| is one that you should never leave out. Most readers take the last of two equal keys and some the first, so such a file is two
models, and which one you get depends on your tools.

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
it, or zero at the end of the header. For a zero byte \emph{in} the header it returns zero as well, but does not move past it;
a caller that expects the end compares the position, and sees that this is not it.

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
that nothing but white space. A header without tensors, |{}|, is valid.

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

@ One name, |__metadata__|, is not a tensor. Its value is an
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

@ A string of metadata may contain anything, even a zero byte. Only here do we let jansson pass one. The name of a tensor becomes a C string, and a zero in it would make two different names equal.

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

@ The entry of a tensor has a type, a shape and two offsets. Where is the test for a member that is missing? For such a member jansson returns a null pointer,
and its functions take that for neither a string nor an array, and for an array without elements. So absence needs no test of its own.

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

@ The format spells its types as the table does (\cref{sec:numbertypes}). Some of them are smaller than a byte, but a tensor of
such a type must still fill whole bytes. Our table defines a block of such a type as the fewest numbers that do, so the tensor must have whole blocks.

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

@ Multiplying numbers from an untrusted file is how buffers overflow. |count_up| is the third line of the box: it divides first. Its first line refuses a negative number, a real and a |true|. A factor of zero is allowed, and makes a tensor without elements. Yet $2^{40}$ times $2^{40}$ times 0 is
refused, because the product of the first two does not fit, and no honest file has such a shape.
@^overflow@>

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

@ Now the last rung of the ladder. We sort the tensors by where they begin; each must start where the one
before it ended, and the last must end with the file. That one rule excludes holes,
overlaps, bytes that belong to no tensor, and offsets beyond the end. It is all we need in place of a comparison of each tensor with each other one. Why forbid a hole, which seems harmless? Because a file can hide data in it that no reader
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

@* From a file to its tensors. \label{sec:shards}
Now one file can be read from end to end. |first| is the length of the list before, since only this file's tensors are to be laid end to end.

@<Read one file of tensors@>=
bool shard_read(struct tensor_file *w, struct shard *s, struct error *why)
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

@ Here is the first question of \cref{fig:checks}, in the form of the box: the length is compared with |size - 8|, and nothing is added to it. A length that is larger than any file mostly means that the file is of another kind; then the sentence says which (\cref{sec:misfits}).

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

@ And a model in several files? Large models come in \emph{shards}, with an index, \.{model.safetensors.index.json}, that names a file for every tensor. Here the fifth rule is at home:

\printedfunction{safetensors/shards.c}{index_open}

Once the files are open, index and files must agree: each tensor is in the file that the index names, and the files have no other tensors. Else a shard of another model may be among them; its sizes would fit, and the text would be nonsense. The index has names without repetition, and so has the sorted list. So for the second half it is enough to count both.

@ The parts are in the order that C requires. The format is little endian, with the lowest byte of a number first, and so must be the
machine; a big-endian machine would need a copy of every tensor.

@(safetensors.c@>=
@;
/** Reading a file of safetensors. The file is a stranger's, and may
  get nothing from us but a sentence. So nothing is computed from what it claims before that is
  bounded by something known: subtract from the size and compare, divide and then multiply, since a
  sum that wraps around passes any bound. Memory is allocated for what has been read, not for what
  is announced. Whatever a check depends on is read once, into variables of ours: a mapped file can
  change. Tensors lie end to end and fill the file:
  a hole could hide data. The numbers are used where they lie, little endian and at any address,
  and may be anything. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
#include "safetensors/shard.h"
@#
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
  "weights are mapped, and stored little endian");
enum { MAX_HEADER = 100000000 };
@<A reader of headers@>@;
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
@<Compare where two tensors begin@>@;
@<Lay the tensors of a file end to end@>@;
@<Read one file of tensors@>@;

@* Files of another kind. \label{sec:misfits}
Most files that cannot be read are not damaged; they are something else. A repository that was cloned without Git LFS has a text of three lines in place of each large file. A download that needs a login brings a web page. A directory may have
the weights as a pickle, or only an adapter. A sentence about headers and lengths would be true of all of them and of no help. You want to know what the file is, and what to do.
@^Git LFS@>@^pickle@>@^GGUF@>

Most formats begin with a few bytes that no other format begins with, a \emph{magic number} (\cref{tab:magic}). So before a reader gives up, it asks whether the file has the mark of another kind, and if so, a better sentence replaces its own. Safetensors has no magic number. We know such a file by a length below $2^{40}$ and a brace after it.
@^magic number@>

\begin{table}[tbp]
\tabcaption{tab:magic}{First bytes that we know, and what the sentence says.}
\centering\footnotesize
\begin{tabular}{@@{}l>{\raggedright\arraybackslash}p{31mm}>{\raggedright\arraybackslash}p{33mm}@@{}}
\toprule
\tabhead{first bytes} & \multicolumn{1}{l}{\tabhead{this is}} & \multicolumn{1}{l@@{}}{\tabhead{wanted}}\\
\midrule
\.{GGUF} & a GGUF file & the path of that file itself\\
\.{version https://git-lfs} & a Git LFS pointer & the file itself, which \.{git lfs pull} fetches\\
\.{PK}, 3, 4 & a zip archive, as PyTorch writes its pickles & the weights saved again, as safetensors\\
\given{128}, then 2 to 5 & a pickle of Python & the same\\
\given{137}, \.{HDF} & an HDF5 file & the same\\
\.{<!} or \.{<html} & a web page & the file itself; its download may ask for a login\\
\given{31}, \given{139}, \given{8} & a gzip archive & what is in it, unpacked\\
\.{lmgg}, \.{fmgg}, \.{tjgg} & one of the formats before GGUF & the model in GGUF, or as safetensors\\
none & an empty file & the file itself, fetched again\\
\bottomrule
\end{tabular}
\end{table}

Why not read a pickle? Because it is a program, and loading it runs it. So we advise you to convert the model to safetensors once, with the library that reads pickles, on a machine where the program may run.

@ A missing file is looked for in the same spirit. If \.{model.safetensors} is not there, which other file of weights is? If there are several, we name the first in alphabetical order, so that the sentence is the same on every file system; of GGUF files we also say how many there are, since then you have to choose, and the file that is only the eyes of a model (\.{mmproj}) comes last. One kind is known by the name of its settings: a \emph{LoRA} adapter, which has only the difference between a model and a fine-tuned one, in two narrow matrices for each wide one. It is no model by itself, and must be merged into one first.
@^LoRA@>@^adapter@>

And if the path leads nowhere at all? Many programs take the name of a model on Hugging Face's hub, such as \.{openai-community/gpt2}, and download what they do not have. Ours opens files and never asks the network for any. If you are used to the others you need to be told so, and told what to type. All of this is in \.{unwoven/safetensors/misfit.c}.
@^Hugging Face@>

@* Exercises. \label{sec:safetensorsexercises}
Both repeat the hand calculation of \cref{sec:saferules} with numbers of 64 bits.

\begin{exercises}
\exercise{check}{ex:safetensors.header}{A file has \given{100} bytes, and sizes have 64 bits. The length $h$ of its header is given as 92, 93, $2^{64}-8$ or $2^{64}-7$. Which of the four does the test $8+h\le100$ accept, and which does $h\le100-8$?}{\texttt{make
exercise-W2-1}}{The first accepts 92, $2^{64}-8$ and $2^{64}-7$, since $8+h$ is \given{100}, 0 and 1; the second accepts only 92.}
\exercise{check}{ex:safetensors.fits}{Write |bool fits(uint64_t size, uint64_t header, uint64_t begin, uint64_t end)|: are the bytes from |begin| to |end|, counted from the first byte after the header, all within a file of |size|
bytes? The header has |header| bytes, with 8 before it. Each of the four may be any number.}{\texttt{make exercise-W2-2}}{|size >= 8 && header <= size - 8 && begin <= end && end <= size - 8 - header|. Each comparison allows the next subtraction.}
\end{exercises}
