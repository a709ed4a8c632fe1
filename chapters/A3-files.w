@i types.w
@s json_error_t int
@s json_int_t int
@s field_read int

\chapterquestion{What is in the files of a model, and how much of it may be believed?}
@** The files of a model.
\incipit{A}{ model arrives} as a directory that a stranger filled: a file of settings, one or more files of numbers, and some others. If the
settings say that a row has 768 numbers and the matrices are made for 640, somebody must notice, and not when the first wrong
word appears. This appendix reads the two kinds of file, believes neither until it adds up, and puts together the model through which chapter 2 sends
its rows.
@^model@>@^validation@>

\begin{byhand}{a file of two tensors}
A file begins with the length of its header, in eight bytes, lowest byte first: \texttt{70} and seven times \texttt{00}, in
decimal 112. So the header is the 112 bytes after these, and the numbers begin at byte $8+112=120$. The header says

\medskip
\begin{tabular}{@@{}llrr@@{}}
\tabhead{name} & \tabhead{type, shape} & \tabhead{from} & \tabhead{to}\\
\texttt{a} & F16, $[3,5]$ & 0 & 30\\
\texttt{b} & F32, $[4]$ & 30 & 46
\end{tabular}
\medskip

Do they add up? Three times five numbers of 2 bytes are 30, and four of 4 bytes are 16, and $30+16=46$. The second begins
where the first ends, and the first at 0. So the file must have $120+46=166$ bytes, without a hole, an overlap or anything
behind. And \texttt{b} begins at byte $120+30=150$, which is not a multiple of four: a program that expects its floats aligned
would stop there.
\end{byhand}

@ The program writes that file, reads it back, and then damages it in five ways, each of which the eye would miss. It prints nothing that prose or
figures quote, so with an argument it is silent.

@c
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "A3-files/config.h"
@;@#
@<Write the file of the hand calculation, damaged or not@>@;
@<Read it, and say what comes of it@>@;
int main(int argc, char **argv)
{
  (void) argv;
  if (argc > 1) return 0;
  for (int damage = 0; damage < DAMAGES; damage++)
    if (!read_back(damage)) return 1;
  return 0;
}

@ Each damage is one small change to a field of the header, or to the number of bytes behind it. One at a time: two faults in one file would leave it open
which of them was found. The fields that change stand in a
table: the type of the first tensor, the name of the second, the columns of the first, where the second begins, and how many bytes follow the header.

@<Write the file of the hand calculation, damaged or not@>=
enum { DAMAGES = 6, MOST_BYTES = 256 };
static const struct { const char *what, *type, *second; int columns, from, bytes; }
  damaged[DAMAGES] =
  @[{ {"as it should be", "F16", "b", 5, 30, 46},@|
    {"one byte is missing", "F16", "b", 5, 30, 45},@|
    {"a hole of two bytes", "F16", "b", 5, 32, 48},@|
    {"another shape", "F16", "b", 6, 30, 46},@|
    {"the same name twice", "F16", "a", 5, 30, 46},@|
    {"an unknown type", "F17", "b", 5, 30, 46} }@];

@ The rest of the header is always the same, and without a blank: with the first row of the table it is as long as in the hand calculation.

@<Write the file of the hand calculation, damaged or not@>=
static int header_of(int damage, char *text, size_t room)
{
  return snprintf(text, room, "{\"a\":{\"dtype\":\"%s\","@|
    "\"shape\":[3,%d],"@| "\"data_offsets\":"@| "[0,30]},\"%s\":"@|
    "{\"dtype\":\"F32\","@| "\"shape\":[4],"@| "\"data_offsets\":"@| "[%d,%d]}}",
    damaged[damage].type, damaged[damage].columns, damaged[damage].second,
    damaged[damage].from, damaged[damage].from + 16);
}

@ The length goes in front, in the lowest of eight bytes, since it is below 256; zeros stand for the numbers, for nobody looks at them here.

@<Write the file of the hand calculation, damaged or not@>=
static bool write_damaged(const char *path, int damage)
{
  char bytes[MOST_BYTES] = @[{ 0 }@];
  int n = header_of(damage, bytes + 8, MOST_BYTES - 8);
  size_t all = 8 + (size_t) n + (size_t) damaged[damage].bytes;
  bytes[0] = (char) n;
  bytes[8 + n] = '\0';
  FILE *f = fopen(path, "wb");
  if (f == NULL) return false;
  bool ok = fwrite(bytes, 1, all, f) == all;
  return fclose(f) == 0 && ok;
}

@ What comes of it is either two tensors that lie where the pencil said, counted from the first byte after the header, or one sentence. The file is removed in both cases, and the memory returned; to close what
was never opened is nothing.

@<Read it, and say what comes of it@>=
static bool read_back(int damage)
{
  struct memory m = @[{ .refuse_at = 0 }@];
  struct error why;
  char path[] = "ab.safetensors";
  if (!write_damaged(path, damage)) return false;
  struct archive *w = weights_open(&m, path, &why);
  printf("%s\n", damaged[damage].what);
  if (w == NULL) printf("  %s\n", why.words);
  for (size_t i = 0; w != NULL && i < weights_count(w); i++) {
    const struct stored *t = weights_at(w, i);
    printf("  %s: %s, %d numbers from byte %d on\n", t->name, t->type,
      (int) t->elements, (int) t->begin);
  }
  weights_close(&m, w);
  unlink(path);
  return true;
}

@* Weights in a file. \label{sec:safetensors}
A model is a long list of named arrays of numbers, called \emph{tensors}, and a page of
settings. The arrays come in a format named safetensors: eight bytes that say how long
the header is, the header, which is JSON and gives for each name a type, a shape and
two offsets, and then the bytes that the offsets point into. The format was made
to be dull. Earlier ones stored the objects of a program, and to load a model was to run whatever a stranger had put into it. Loading this one executes nothing, and we need not copy what we can map.
@^safetensors@>@^tensor@>

Whoever wrote the file may have been careless or hostile, so we believe none of it until
it adds up: the header ends within the file, it is strict JSON, every product of a shape
fits in 64 bits, every tensor has exactly the bytes its shape and type call for, and the
tensors lie one behind the other from the first byte after the header to the last byte
of the file, without hole or overlap. After that no later chapter needs to check an
offset again.

@(safetensors.h@>=
#ifndef INCIPIT_SAFETENSORS_H
#define INCIPIT_SAFETENSORS_H
#include <jansson.h>
#include "00-ground/ground.h"
@<A tensor in a file@>@;
@<All tensors of a model@>@;
@<A file of JSON@>@;
#endif

@ A tensor stays where it is. What we keep beside it is its name, its type as the file
spells it, and its shape, outermost dimension first. The engine computes with three of
the types: F32 is C's |float|, F16 and BF16 are halves of it, with more digits the one and more range the other (appendix F). The others are understood far enough to list them.
The shape stands at the end of the structure, in as many places as the tensor has dimensions, so that each tensor is one block of memory.

@<A tensor in a file@>=
struct stored {
  const char *name, *type, *file; /* type as in the file: \.{"F32"}, \.{"BF16"}, \dots */
  const unsigned char *data; /* little endian, not always aligned */
  uint64_t bytes, elements, begin;
  size_t number; /* its place in the list by name */
  uint32_t rank;
  uint64_t shape[];
}; /* owned by its |struct archive|; rank 0 has one element */

@ A model may be one file, or several, called \emph{shards}, with an index that says which tensor is in which.
Behind this interface the difference is gone. All that is left of it is the path in a message: a sentence about a tensor must name the file that has
the tensor, and a sentence about a missing one the place where we looked.

@<All tensors of a model@>=
struct archive;
struct archive *weights_open(struct memory *m, const char *path,
  struct error *why);
  /* maps and validates a safetensors file, or those of a directory:
     \.{model.safetensors}, else the files that its
     \.{model.safetensors.index.json} names; null and a sentence if anything
     is amiss. Owned by the caller */
void weights_close(struct memory *m, struct archive *w);
  /* unmaps the files; every pointer into them dies. Null is nothing */
size_t weights_count(const struct archive *w);
  /* how many tensors */
const struct stored *weights_at(const struct archive *w, size_t i);
  /* number |i| in the order of their names, $0\le i<{}$|weights_count(w)| */
const struct stored *weights_find(const struct archive *w, const char *name);
  /* by name, or null */
const char *weights_path(const struct archive *w);
  /* the file, or the index: the name to put into an error; of null, a model
     that was made in memory, the words for it */

@ The settings are JSON as well, and so is the index. They are read whole, by the library jansson, and as
strictly as the headers: UTF-8 throughout, no key twice. Why is a key given twice so bad? Most readers take the last of the two and some the first, so such a file is two
models, and which one you get depends on your tools.

@<A file of JSON@>=
enum { SETTINGS_MOST = 1 << 20, INDEX_MOST = 16 << 20 }; /* bytes */
json_t *json_read(const char *path, size_t most, struct error *why);
  /* the value in a file, to be released with |json_decref|; strict: duplicate
     keys, bad UTF-8, more than |most| bytes are errors; null and a sentence */
const char *json_excerpt(json_t *value, char room[64]);
  /* the value as one would type it, cut to fit into |room|, for an error's
     ``found''; returns |room| */

@ Inside, a file is a mapping with its path, and all tensors are in one list. A path is
a block of its own, because tensors point to it while the array of files may still grow, and an array that grows moves.

@<What |struct archive| holds@>=
struct shard { char *path; struct mapping map; };
struct archive {
  char *path; /* what messages name: the file, or the index */
  struct shard *shards;
  size_t n_shards;
  struct stored **list;
  size_t n, room;
};

@* The check of the files. \label{sec:filescheck}
The first file is read as it was written. Of the others each is refused with one sentence, which names the file, the tensor, what was found and what was wanted.
In the second file a tensor begins where the one before it ends, and what is wrong is its own end, which lies
one byte outside the file; in the third its beginning is wrong, by the hole.

\widecheckpoint{build/out/A3-files.txt}{what the program of this appendix prints}

@* Reading a header. \label{sec:header}
A header may have $10^8$ bytes, the format says, and a tree of JSON nodes
takes many times the space of its text. So we let jansson read one value at a time, the
name of a tensor and then its entry, and keep only what the entry says. Between the
values there are braces, colons and commas, and those we read ourselves. A file that
turns out to be bad has then cost little more than its own size. An honest entry fits on a line or two of this
page; |ENTRY_MOST| leaves room for long names.

@<A reader of headers@>=
struct reader {
  struct memory *m;
  struct archive *w; /* where the tensors go */
  const char *path, *at, *end;
  bool metadata; /* has been seen */
  struct error *why;
};
enum { ENTRY_MOST = 4096, METADATA_MOST = 1 << 20 }; /* bytes */
@#
static bool header_bad(struct reader *r, const char *found, const char *wanted)
{
  return error_found(r->why, r->path, "the header", found, wanted);
}

@ jansson is told to stop after one value and to say where it stopped. The bound on the
length is simply the length that it is given: a value that is not finished by then is
an error at the end of the text. A name may be a bare string here, which JSON's own rules forbid at the top of a text; hence |JSON_DECODE_ANY|.

@<Read one value of the header@>=
static json_t *header_value(struct reader *r, size_t most, size_t flags)
{
  json_error_t found;
  size_t left = (size_t) (r->end - r->at);
  json_t *value = json_loadb(r->at, left < most ? left : most, JSON_DECODE_ANY
    | JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES | flags, &found);
  if (value == NULL) header_bad(r, found.text, "strict JSON");
  else r->at += found.position;
  return value;
}

@ Punctuation is one character, perhaps after white space. The character that was read
is the answer; the end of the header reads as a zero. A zero byte \emph{in} the header reads so too, but is not passed over: it is no white space, since the format pads with blanks,
and whoever expects the end sees that it has not been reached.

@<Read one mark of punctuation@>=
static char header_mark(struct reader *r)
{
  while (r->at < r->end && *r->at != '\0' && strchr(" \t\r\n", *r->at) != NULL)
    r->at++;
  return r->at < r->end && *r->at != '\0' ? *r->at++ : '\0';
}

@ The header is a brace, then names and their values until the closing brace, and after
that nothing but white space. A file without any tensor, |{}|, is a file too. |r->at - 1| is the mark just read: an object that is not
empty begins with a name, which jansson wants to see from its first quotation mark, so we step back onto it.

@<Read the whole header@>=
static bool header_read(struct reader *r)
{
  if (header_mark(r) != '{') return header_bad(r, "no object", "{");
  char mark = header_mark(r);
  if (mark == '"') {
    r->at--;
    do if (!header_pair(r)) return false;
    while ((mark = header_mark(r)) == ',');
  }
  if (mark != '}') return header_bad(r, "cut short or out of order", ", or }");
  if (header_mark(r) != '\0' || r->at < r->end)
    return header_bad(r, "followed by something", "white space up to its end");
  return true;
}

@ One name and its value. The name |__metadata__| is not a tensor: its value is an
object of strings, which we check and forget, since nothing in it may change what the
model computes.

@<Read a name and its value@>=
static bool header_pair(struct reader *r)
{
  json_t *name = header_value(r, ENTRY_MOST, 0);
  if (name == NULL) return false;
  bool ok = json_is_string(name) && header_mark(r) == ':';
  if (!ok) header_bad(r, "no list of names and values", "\"name\": value");
  else if (strcmp(json_string_value(name), "__metadata__") == 0)
    ok = header_metadata(r);
  else ok = header_tensor(r, json_string_value(name));
  json_decref(name);
  return ok;
}

@ A string of metadata may contain anything, a zero byte too; so jansson is told to allow
it here, and here only: the name of a tensor is a C string from now on, and a zero in it would make two different names equal.

@<Check the metadata@>=
static bool header_metadata(struct reader *r)
{
  if (r->metadata) return header_bad(r, "__metadata__ twice", "each name once");
  r->metadata = true;
  json_t *all = header_value(r, METADATA_MOST, JSON_ALLOW_NUL);
  if (all == NULL) return false;
  bool ok = json_is_object(all);
  for (void *i = json_object_iter(all); i != NULL && ok;
       i = json_object_iter_next(all, i))
    ok = json_is_string(json_object_iter_value(i));
  if (!ok) tensor_bad(r, "__metadata__", all, "an object of strings");
  json_decref(all);
  return ok;
}

@ The message about a name tells the file, the name, what stands there, and what would
have been accepted: the four parts of \cref{sec:errors}, with the tensor in the place of the field.

@<Say what is wrong with an entry@>=
static bool tensor_bad(struct reader *r, const char *name, json_t *found,
  const char *wanted)
{
  char room[64];
  return error_found(r->why, r->path, name, json_excerpt(found, room), wanted);
}

@ The entry of a tensor has a type, a shape and two offsets. Other members would say nothing to us, and are passed over. (jansson answers questions about a
missing member as about one of another type: a null pointer is no string and an array of no elements, so absence needs no test of its own.)

@<Take down one tensor@>=
static bool header_tensor(struct reader *r, const char *name)
{
  json_t *entry = header_value(r, ENTRY_MOST, 0);
  if (entry == NULL) return false;
  json_t *type = json_object_get(entry, "dtype");
  json_t *shape = json_object_get(entry, "shape");
  json_t *offset = json_object_get(entry, "data_offsets");
  bool ok = json_is_string(type) && json_is_array(shape)
    && json_array_size(offset) == 2;
  if (!ok)
    tensor_bad(r, name, entry, "a dtype, a shape and two data_offsets");
  else {
    struct stored *t = tensor_add(r, name, json_array_size(shape));
    ok = t != NULL && tensor_fill(r, t, type, shape, offset);
  }
  json_decref(entry);
  return ok;
}

@ A tensor's block holds its shape and, behind the shape, its name. The name must be copied, for jansson's string goes with jansson's value.

@<Add a tensor to the list@>=
static struct stored *tensor_add(struct reader *r, const char *name, size_t rank)
{
  struct archive *w = r->w;
  @<Make room in the list for one more tensor@>@;
  size_t fixed = sizeof(struct stored) + rank * sizeof(uint64_t);
  size_t length = strlen(name) + 1;
  struct stored *t = memory_take(r->m, FOR_OTHER, fixed + length, 1, r->why);
  if (t == NULL) return NULL;
  t->rank = (uint32_t) rank, t->file = r->path;
  t->name = memcpy((char *) t + fixed, name, length);
  return w->list[w->n++] = t;
}

@ The list of pointers
doubles when it is full, so that most tensors are added without moving the others: with a list that grew by one each time, a file of $n$ tensors would
move $n^2/2$ pointers. It has an end, |TENSORS_MOST|, at about three times what the largest published model has: an entry can be so short that its block is several times as large as its text.

@<Make room in the list for one more tensor@>=
if (w->n == TENSORS_MOST) {
  error_found(r->why, r->path, name, "one more", "at most 262144 tensors");
  return NULL;
}
if (w->n == w->room) {
  size_t room = w->room == 0 ? 64 : 2 * w->room;
  void *grown = memory_grow(r->m, FOR_OTHER, w->list, w->room, room,
    sizeof *w->list, r->why);
  if (grown == NULL) return NULL;
  w->list = grown, w->room = room;
}

@ The types of the format, with their bits. Some are smaller than a byte; a tensor of
those must still fill whole bytes. The file's own word for a type is replaced by ours from this table, which lives as long as the program.

@<The types that the format knows@>=
static const struct dtype { const char *name; uint64_t bits; } known_type[] =
  @[{ {"F32", 32}, {"F16", 16}, {"BF16", 16}, {"F64", 64}, {"BOOL", 8},@|
    {"U8", 8}, {"I8", 8}, {"U16", 16}, {"I16", 16}, {"U32", 32}, {"I32", 32},@|
    {"U64", 64}, {"I64", 64}, {"C64", 64}, {"F4", 4}, {"F6_E2M3", 6},@|
    {"F6_E3M2", 6}, {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8},@|
    {"F8_E5M2FNUZ", 8}, {"F8_E4M3FNUZ", 8} }@];
@#
static const struct dtype *type_find(const char *name)
{
  for (size_t i = 0; i < sizeof known_type / sizeof known_type[0]; i++)
    if (strcmp(known_type[i].name, name) == 0) return &known_type[i];
  return NULL;
}

@ Multiplying what a stranger wrote is how buffers overflow. |count_up| multiplies only
after it has looked whether the product fits; a negative number, a real and a |true|
are refused by the same line, since none of them is a natural number. A factor of zero is natural, and makes a tensor without elements: $2^{40}$ times $2^{40}$ times 0 is
refused all the same, because the first two do not fit and nobody would write them.

@<Multiply numbers from a file@>=
static bool count_up(uint64_t *product, json_t *factor)
{
  if (!json_is_integer(factor) || json_integer_value(factor) < 0) return false;
  uint64_t f = (uint64_t) json_integer_value(factor);
  if (f != 0 && *product > UINT64_MAX / f) return false;
  *product *= f;
  return true;
}

@ Type, shape and extent say the same thing twice. The type and the shape tell how many bytes there should be, the offsets how many there are. Whether these
lie within the file is seen when all of them are known.

@<Fill in type, shape and extent@>=
static bool tensor_fill(struct reader *r, struct stored *t, json_t *type,
  json_t *shape, json_t *offset)
{
  const struct dtype *known = type_find(json_string_value(type));
  if (known == NULL)
    return tensor_bad(r, t->name, type, "a type of the format");
  t->type = known->name, t->elements = 1;
  @<Multiply out the shape@>@;
  @<Take down the offsets, and hold them against the shape@>@;
  return true;
}

@ One function serves for each dimension and for their product, as a number is itself times one.

@<Multiply out the shape@>=
for (uint32_t i = 0; i < t->rank; i++) {
  t->shape[i] = 1;
  if (!count_up(&t->shape[i], json_array_get(shape, i))
      || !count_up(&t->elements, json_array_get(shape, i)))
    return tensor_bad(r, t->name, shape, "fewer than 2^64 elements");
}

@ Bits are elements times the bits of one. That product is the last that could overflow, and is looked at before it is formed; then it must be whole bytes, and
exactly as many as the offsets enclose. Fewer would read the neighbour's numbers, more would hide bytes that nobody names.

@<Take down the offsets, and hold them against the shape@>=
uint64_t end = 1;
t->begin = 1;
if (!count_up(&t->begin, json_array_get(offset, 0))
    || !count_up(&end, json_array_get(offset, 1)) || t->begin > end)
  return tensor_bad(r, t->name, offset, "two rising offsets");
t->bytes = end - t->begin;
if (t->elements > UINT64_MAX / known->bits
    || t->elements * known->bits % 8 != 0
    || t->elements * known->bits / 8 != t->bytes)
  return tensor_bad(r, t->name, offset, "as many bytes as type and shape need");

@ Now the extents. Sorted by where they begin, each tensor must start where the one
before it ended, and the last must end with the file. That one rule excludes holes,
overlaps, bytes that nobody names, and offsets beyond the end. Why forbid a hole, which harms nobody? Because it is a place where a file can carry what no reader
of the header sees, and the format forbids it for the same reason. (|bytes - at| cannot wrap: |at| is raised only by what was found to fit.)

@<Lay the tensors of a file end to end@>=
static bool extents_check(struct reader *r, struct stored **list, size_t n,
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
    if (list[i]->begin != at || list[i]->bytes > bytes - at)@+
      return error_found(r->why, r->path, list[i]->name, found, wanted);
    list[i]->data = data + at;
    at += list[i]->bytes;
  }
  return at == bytes || error_say(r->why, "%s: the data are %" PRIu64 " bytes;"@|
    " wanted: %" PRIu64 ", the last offset", r->path, bytes, at);
}

@ An empty tensor begins where its successor begins, and sorts before it, or the successor would seem to overlap it. For the final
list, which is searched by name, the order is that of the names, byte by byte and in no language's alphabet.

@<Compare two tensors@>=
static int by_extent(const void *a, const void *b)
{
  const struct stored *x = *(struct stored *const *) a;
  const struct stored *y = *(struct stored *const *) b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}
@#
static int by_name(const void *a, const void *b)
{
  return strcmp((*(struct stored *const *) a)->name,
    (*(struct stored *const *) b)->name);
}

@* Files and shards. \label{sec:shards}
A file is mapped, its length field read, its header walked, its extents laid end to end.
|first| is where the list stood before, so that only this file's tensors are sorted. The list itself may not exist yet, if the file has no tensors: arithmetic on a null pointer is
not C, even when it would add nothing.

@<Read one file of tensors@>=
static bool shard_read(struct archive *w, struct shard *s, struct memory *m,
  struct error *why)
{
  struct reader r = @[{ .m = m, .w = w, .path = s->path, .why = why }@];
  if (!file_map(&s->map, s->path, why)) return false;
  @<Read how long the header is, and where it ends@>@;
  size_t first = w->n;
  if (!header_read(&r)) return false;
  struct stored **list = w->n > 0 ? w->list + first : NULL;
  return extents_check(&r, list, w->n - first, s->map.bytes + 8 + header,
    s->map.size - 8 - header);
}

@ Eight bytes can say a length that no file has. It is compared with what is left of the file before anything is added to it; the sum of 8 and a length near $2^{64}$
would be a small number, and pass.

@<Read how long the header is, and where it ends@>=
uint64_t header = 0;
if (s->map.size < 8) return header_bad(&r, "missing", "8 bytes of length");
for (int i = 0; i < 8; i++) header |= (uint64_t) s->map.bytes[i] << 8 * i;
if (header > HEADER_MOST || header > s->map.size - 8)
  return header_bad(&r, "longer than the file", "at most 100,000,000 bytes, "@|
    "and no more than there are");
r.at = (const char *) s->map.bytes + 8;
r.end = r.at + header;

@ A file joins the list of files before anything can fail with it, so that closing knows
about it in every case.

@<Open one more file@>=
static bool shard_open(struct archive *w, struct memory *m, const char *directory,
  const char *name, struct error *why)
{
  struct shard *grown = memory_grow(m, FOR_OTHER, w->shards, w->n_shards,
    w->n_shards + 1, sizeof *grown, why);
  if (grown == NULL) return false;
  w->shards = grown;
  struct shard *s = &w->shards[w->n_shards++];
  s->path = path_keep(m, directory, name, why);
  return s->path != NULL && shard_read(w, s, m, why);
}

@ The index names a file for every tensor. A name with a slash in it, or one that begins
with a dot, could lead out of the directory (|"../../etc/passwd"| is a file name, too),
and no tool writes such names; they are refused before anything is opened. The index names a file as often as it has tensors, and it is opened the first time.

@<Open the files that an index names@>=
static bool index_open(struct archive *w, struct memory *m, const char *directory,
  json_t *map, struct error *why)
{
  for (void *i = json_object_iter(map); i != NULL;
       i = json_object_iter_next(map, i)) {
    const char *file = json_string_value(json_object_iter_value(i));
    char room[64];
    if (file == NULL || *file == '\0' || *file == '.' || strchr(file, '/') != NULL)
      return error_found(why, w->path, json_object_iter_key(i),
        json_excerpt(json_object_iter_value(i), room),
        "the name of a file in the same directory");
    size_t k = 0, skip = strlen(directory) + 1;
    while (k < w->n_shards && strcmp(w->shards[k].path + skip, file) != 0) k++;
    if (k == w->n_shards && !shard_open(w, m, directory, file, why)) return false;
  }
  return true;
}

@ Afterwards index and files must agree: every tensor of the index in the file that it
names, and no tensor that the index does not know. Since names are unique, equal counts
suffice for the second half. A disagreement means that somebody replaced one shard of a model by one of another: the numbers would fit, and the text would be nonsense.

@<Compare the index with the files@>=
static bool index_check(struct archive *w, json_t *map, struct error *why)
{
  for (void *i = json_object_iter(map); i != NULL;
       i = json_object_iter_next(map, i)) {
    const struct stored *t = weights_find(w, json_object_iter_key(i));
    const char *file = json_string_value(json_object_iter_value(i));
    if (t == NULL || strcmp(strrchr(t->file, '/') + 1, file) != 0)
      return error_found(why, w->path, json_object_iter_key(i), file,
        "the file that has this tensor");
  }
  return json_object_size(map) == w->n || error_say(why,
    "%s: weight_map has %zu tensors; wanted: %zu, as in the files", w->path,
    json_object_size(map), w->n);
}

@ With one file or many, no name may occur twice. In the sorted list two equal names are
neighbours, so one look at each pair of neighbours is enough. Only now, when the order is final, does each tensor learn its number.

@<Sort by name, and refuse a name given twice@>=
static bool weights_sort(struct archive *w, struct error *why)
{
  if (w->n > 0) qsort(w->list, w->n, sizeof *w->list, by_name);
  for (size_t i = 1; i < w->n; i++)
    if (strcmp(w->list[i - 1]->name, w->list[i]->name) == 0)
      return error_found(why, w->list[i]->file, w->list[i]->name,
        "given twice", "each name once");
  for (size_t i = 0; i < w->n; i++) w->list[i]->number = i;
  return true;
}

@ An index is JSON with a |weight_map|. Its other member, |metadata|, counts bytes; we
count them ourselves. Sorting stands between opening and checking, because the check looks names up.

@<Open by an index@>=
static bool weights_open_index(struct archive *w, struct memory *m,
  const char *directory, struct error *why)
{
  json_t *index = json_read(w->path, INDEX_MOST, why);
  if (index == NULL) return false;
  json_t *map = json_object_get(index, "weight_map");
  char room[64];
  bool ok = json_is_object(map) || error_found(why, w->path, "weight_map",
    json_excerpt(map, room), "an object of names and files");
  ok = ok && index_open(w, m, directory, map, why) && weights_sort(w, why)
    && index_check(w, map, why);
  json_decref(index);
  return ok;
}

@ A path is a directory or a file. What it is decides which of two paths is kept, and that one is in the archive before anything is opened, for every message
names it. Whatever fails after that is undone in one place.

@<Open whatever the path leads to@>=
struct archive *weights_open(struct memory *m, const char *path,
  struct error *why)
{
  struct archive *w = memory_take(m, FOR_OTHER, 1, sizeof *w, why);
  if (w == NULL) return NULL;
  @<Choose between a single file and an index@>@;
  w->path = indexed ? index : single;
  path_return(m, indexed ? single : index);
  if (indexed) ok = weights_open_index(w, m, path, why);
  else ok = ok && shard_open(w, m, path, name, why) && weights_sort(w, why);
  if (ok) return w;
  weights_close(m, w);
  return NULL;
}

@ In a directory the single file has precedence over an
index, as elsewhere. If neither is there, opening the single file fails, and its
sentence names what was missing. A file that was named directly is opened as it is.

@<Choose between a single file and an index@>=
struct stat about;
bool directory = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
const char *name = directory ? "model.safetensors" : "";
char *single = path_keep(m, path, name, why);
char *index = path_keep(m, path, "model.safetensors.index.json", why);
bool ok = single != NULL && index != NULL;
bool indexed = ok && directory && access(single, F_OK) != 0
  && access(index, F_OK) == 0;

@ To close is to give back what was taken, in any state of completion. It works because the lists never hold what could not be returned: a tensor enters when its block
is there, and a shard begins with null pointers. The size of a tensor's block is worked out from what it holds, as it was when it was taken.

@<Close what was opened@>=
void weights_close(struct memory *m, struct archive *w)
{
  if (w == NULL) return;
  for (size_t i = 0; i < w->n; i++) {
    struct stored *t = w->list[i];
    memory_give(m, FOR_OTHER, t, sizeof *t + t->rank * sizeof(uint64_t)
      + strlen(t->name) + 1, 1);
  }
  for (size_t i = 0; i < w->n_shards; i++) {
    file_unmap(&w->shards[i].map);
    path_return(m, w->shards[i].path);
  }
  memory_give(m, FOR_OTHER, w->list, w->room, sizeof *w->list);
  memory_give(m, FOR_OTHER, w->shards, w->n_shards, sizeof *w->shards);
  path_return(m, w->path);
  memory_give(m, FOR_OTHER, w, 1, sizeof *w);
}

@ Finding is a binary search: a model asks for every name once, and a list of names in
order is there anyway. The other questions are functions because the structure is private to this module, which alone must know how a shard is kept.

@<Find a tensor by its name@>=
const struct stored *weights_find(const struct archive *w, const char *name)
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
size_t weights_count(const struct archive *w) { return w->n; }
const struct stored *weights_at(const struct archive *w, size_t i)
{
  return w->list[i];
}
const char *weights_path(const struct archive *w)
{
  return w == NULL ? "the model" : w->path;
}

@ A string of ours is a block like any other, and goes back with its size, which is its
length and the zero at its end. A path is made of a directory and a name, with a slash between; without a name it is kept as it came. The zero at the end is there already, as memory comes zeroed.

@<Keep a path, return a path@>=
static char *path_keep(struct memory *m, const char *directory, const char *name,
  struct error *why)
{
  size_t a = strlen(directory), b = strlen(name);
  char *path = memory_take(m, FOR_OTHER, a + (b > 0) + b + 1, 1, why);
  if (path == NULL) return NULL;
  memcpy(path, directory, a);
  if (b > 0) path[a] = '/', memcpy(path + a + 1, name, b);
  return path;
}
@#
static void path_return(struct memory *m, char *path)
{
  if (path != NULL) memory_give(m, FOR_OTHER, path, strlen(path) + 1, 1);
}

@ Settings and index are read from the mapping as well. The bound is there because a tree is larger than its text: a list that holds nothing is three characters with its comma, and jansson keeps many
times as many bytes for it. The largest index that we know has nine megabytes, and settings have a few pages. Where the text goes wrong, jansson knows the line, and a line is what the user will look for; so the sentence has it in the place of a field.

@<Read a file of JSON@>=
json_t *json_read(const char *path, size_t most, struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return NULL;
  json_error_t found;
  json_t *value = NULL;
  if (map.size > most)
    error_say(why, "%s: this has %zu bytes;"@| " wanted: at most %zu of JSON",
      path, map.size, most);
  else {
    value = json_loadb((const char *) map.bytes, map.size, JSON_DECODE_ANY
      | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &found);
    if (value == NULL)
      error_say(why, "%s: line %d: %s; wanted: strict JSON", path, found.line,
        found.text);
  }
  file_unmap(&map);
  return value;
}

@ A value is quoted in a sentence as it would be typed, in ASCII, and cut with three
dots. jansson leaves out a piece that does not fit any more, so the zeros laid down
beforehand end the string there.

@<Quote a value of JSON@>=
const char *json_excerpt(json_t *value, char room[64])
{
  if (value == NULL) return strcpy(room, "missing");
  memset(room, 0, 64);
  size_t n = json_dumpb(value, room, 60,
    JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);
  if (n > 60) strcpy(room + (strlen(room) < 56 ? strlen(room) : 56), "...");
  return room;
}

@ The module, in the order that C wants. The file is little endian, the lowest byte of a number first, and so must the
machine be; a machine that is not would need a copy of every tensor.

@(safetensors.c@>=
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "A3-files/safetensors.h"
@#
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
  "weights are mapped, and stored little endian");
enum { HEADER_MOST = 100000000, TENSORS_MOST = 1 << 18 };
@<What |struct archive| holds@>@;
@<A reader of headers@>@;
@<Headers, from the mark to the whole@>@;
@<Files, from the extent to the directory@>@;

@ First come the pieces that read a header, in the order in which a suspicious reader goes through one: its
length, its JSON, each entry, and how the entries lie together.

@<Headers, from the mark to the whole@>=
@<Quote a value of JSON@>@;
@<Read a file of JSON@>@;
@<Read one value of the header@>@;
@<Read one mark of punctuation@>@;
@<Say what is wrong with an entry@>@;
@<The types that the format knows@>@;
@<Multiply numbers from a file@>@;
@<Fill in type, shape and extent@>@;
@<Add a tensor to the list@>@;
@<Take down one tensor@>@;
@<Check the metadata@>@;
@<Read a name and its value@>@;
@<Read the whole header@>@;

@ Then those that put files together: one file, a list of them from an index, or a directory in which we have to
look for either.

@<Files, from the extent to the directory@>=
@<Keep a path, return a path@>@;
@<Compare two tensors@>@;
@<Lay the tensors of a file end to end@>@;
@<Read one file of tensors@>@;
@<Open one more file@>@;
@<Sort by name, and refuse a name given twice@>@;
@<Find a tensor by its name@>@;
@<Open the files that an index names@>@;
@<Compare the index with the files@>@;
@<Open by an index@>@;
@<Close what was opened@>@;
@<Open whatever the path leads to@>@;
@* The settings. \label{sec:config}
The other file is \.{config.json}. It says how many layers there are and how wide, and
two dozen things more, under names that depend on the \emph{family} of the model, on who designed it, and on the
year in which it was saved. We read it into one structure. Behind this structure there
is only one kind of model: a GPT-2 is a model with learned positions, biases and a
LayerNorm, a Llama is one with rotations and an RMSNorm, and the rest is the same.
@^configuration@>@^GPT-2@>@^Llama@>

@(config.h@>=
#ifndef INCIPIT_CONFIG_H
#define INCIPIT_CONFIG_H
#include "A3-files/safetensors.h"
@<Where the rotations get their frequencies@>@;
@<What the model's maker suggests for sampling@>@;
@<What the settings say@>@;
#endif

@ The sizes are those of the other chapters, and listed under their symbols at the beginning of the book. Flags tell the families apart; the
forward pass asks these flags and never the name of the family. So a family whose parts are all here already costs one row of a table (\cref{sec:families}).
\emph{Tied} means that embedding and head are one matrix.

@<What the settings say@>=
enum { EOS_MOST = 16 };
struct ignored_field { const char *file, *field, *reason; };
  /* a setting that changes nothing, and why we think so */
struct model_config {
  const char *family; /* \.{"gpt2"}, \.{"llama"}, \dots: its |model_type| */
  uint32_t vocab_size, n_positions, d_model, d_inner, n_layers;
  uint32_t n_heads, n_kv_heads, head_dim;
  uint32_t window; /* positions that a row sees, itself included; 0: all */
  double norm_eps;
  bool layer_norm, learned_positions, gated; /* else RMSNorm, rotations, plain MLP */
  bool qkv_bias, out_bias, mlp_bias, qk_norm, tied;
  struct rope_config rope;
  uint32_t n_eos, eos[EOS_MOST];
  bool has_bos;
  uint32_t bos;
  const char *eos_from; /* the file that gave the end tokens; null: none did */
  struct sampling_config sampling;
  struct ignored_field *ignored;
  size_t n_ignored, ignored_room;
};

@ Reading the settings takes memory for one thing only, the list of what was ignored; it is the structure's, and closing returns it.

@<What the settings say@>=
bool config_open(struct model_config *c, struct memory *m, const char *directory,
  struct error *why);
  /* reads \.{config.json} and, if there, \.{generation\_config.json}; every
     field is used, known to be harmless, or an error; on failure nothing is held */
bool config_ignore(struct model_config *c, struct memory *m, const char *file,
  const char *field, const char *reason, struct error *why);
  /* adds to the list of what is ignored; |field| is copied, the others are not */
void config_close(struct memory *m, struct model_config *c);
  /* returns the list of ignored fields */

@ Rotary positions turn pairs of numbers by an angle that is the position times a
frequency (\cref{sec:layer}). The frequencies are a geometric series that starts at 1 and
falls towards |1/theta|. Llama 3.1 stretches the slow ones, so that a model trained on
short texts keeps its bearings in long ones; that takes four more numbers.

@<Where the rotations get their frequencies@>=
struct rope_config {
  bool llama3; /* stretched, else plain */
  double theta, factor, low_freq_factor, high_freq_factor;
  uint32_t original; /* positions that the model was first trained on */
};

@ The maker of a model may leave advice on how to choose tokens. The advice is kept, and
chapter 7 will follow it; here only the end tokens matter, which come with it.

@<What the model's maker suggests for sampling@>=
struct sampling_config {
  bool do_sample;
  double temperature, top_p, min_p, typical_p, repetition_penalty;
  uint32_t top_k, no_repeat_ngram_size;
}; /* what is not given has the value that does nothing */

@ What must not happen is that a setting which matters is overlooked. A model saved with
a kind of normalization that we don't have would still run, and write nonsense in a
confident voice. So every field of the file must be accounted for: it is used; or it
stands in a list of harmless fields, each with its reason; or it is null, |false| or
empty, which is how a feature says that it is absent; or it is an error that names it. The price is that a harmless field invented tomorrow will be refused until somebody has
looked at it. We think that the right price.

@<The state of reading settings@>=
struct settings {
  const char *path, *file; /* the path for messages; the file's bare name */
  json_t *all;
  struct model_config *c;
  struct memory *m;
  struct error *why;
};
static bool setting_bad(struct settings *s, const char *name, json_t *found,
  const char *wanted)
{
  char room[64];
  return error_found(s->why, s->path, name, json_excerpt(found, room), wanted);
}

@ A field that is used has a row in a table: its name, the families that have it, whether
it must be there, the function that reads it, where the value goes, and the least and
greatest value that makes sense. Families are bits of a number, so that one row can be true of several. A table can be read as a list, checked against the published files line by line,
and counted; the same knowledge spread over a function of many branches could not.

@<A row of the table of fields@>=
struct setting;
typedef bool field_read(struct settings *s, const struct setting *f, json_t *value);
struct setting {
  const char *name;
  unsigned of; /* families */
  bool required;
  field_read *read;
  size_t at; /* place in |struct model_config| */
  double least, most;
};
enum { GPT2 = 1, LLAMA = 2, MISTRAL = 4, QWEN2 = 8, QWEN3 = 16,@|
  LATER = LLAMA | MISTRAL | QWEN2 | QWEN3, ALL = GPT2 | LATER, MOST = 0x7fffffff };

@ JSON has a type for a natural number, for a real and for a yes or no, and |12.0| or |"12"| or |true| is not the number 12.
A natural number goes where the row says, and must lie within its bounds; a value of another type is made $-1$, which none of the rows allows.

@<Read a number or a flag@>=
static bool read_count(struct settings *s, const struct setting *f, json_t *value)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "an integer from %.0f to %.0f", f->least,
    f->most);
  double x = json_is_integer(value) ? (double) json_integer_value(value) : -1;
  if (x < f->least || x > f->most) return setting_bad(s, f->name, value, wanted);
  *(uint32_t *) ((char *) s->c + f->at) = (uint32_t) x;
  return true;
}

@ A real may be written as an integer: people who save settings write |1| for |1.0|.

@<Read a number or a flag@>=
static bool read_real(struct settings *s, const struct setting *f, json_t *value)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "a number from %g to %g", f->least, f->most);
  double x = json_is_number(value) ? json_number_value(value) : f->least - 1;
  if (x < f->least || x > f->most) return setting_bad(s, f->name, value, wanted);
  *(double *) ((char *) s->c + f->at) = x;
  return true;
}
@#
static bool read_flag(struct settings *s, const struct setting *f, json_t *value)
{
  if (!json_is_boolean(value))
    return setting_bad(s, f->name, value, "true or false");
  *(bool *) ((char *) s->c + f->at) = json_is_true(value);
  return true;
}

@ Some settings have only one value under which our arithmetic is the model's. A GPT-2
whose scores are divided by the number of the layer, for example, exists as a switch in
the library and would need a line of ours that is not there.

@<Insist on a value@>=
static bool read_true(struct settings *s, const struct setting *f, json_t *value)
{
  return json_is_true(value) || setting_bad(s, f->name, value, "true");
}
static bool read_false(struct settings *s, const struct setting *f, json_t *value)
{
  return json_is_false(value) || setting_bad(s, f->name, value, "false");
}

@ The activation is one, too. A gated MLP is computed with SiLU, the other with the GELU that is written with a hyperbolic tangent, which has two names; the exact GELU is
\emph{not} the same function. It differs so little that a text would look right, and so much that it would not be the model's.

@<Insist on a value@>=
static bool read_activation(struct settings *s, const struct setting *f,
  json_t *value)
{
  const char *wanted = s->c->gated ? "silu" : "gelu_new";
  const char *found = json_is_string(value) ? json_string_value(value) : "";
  bool same = strcmp(found, wanted) == 0
    || (!s->c->gated && strcmp(found, "gelu_pytorch_tanh") == 0);
  return same || setting_bad(s, f->name, value, wanted);
}

@ The token that ends a text is one id or a list of them. The file with the advice for
sampling is read second, and what it says replaces what \.{config.json} said, since it is the younger file and corrects the older one; which file had the last word is kept for those who
wonder why a text ended. The token that begins a text is optional, and any id is possible, 0 as well; so a flag must say whether there is one.

@<Read ids@>=
static bool read_eos(struct settings *s, const struct setting *f, json_t *value)
{
  size_t n = json_is_array(value) ? json_array_size(value) : 1;
  if (n > EOS_MOST) return setting_bad(s, f->name, value, "at most 16 ids");
  for (size_t i = 0; i < n; i++) {
    json_t *id = json_is_array(value) ? json_array_get(value, i) : value;
    if (!json_is_integer(id) || json_integer_value(id) < 0
        || json_integer_value(id) > MOST)
      return setting_bad(s, f->name, value, "an id or a list of ids");
    s->c->eos[i] = (uint32_t) json_integer_value(id);
  }
  s->c->n_eos = (uint32_t) n, s->c->eos_from = s->file;
  return true;
}
@#
static bool read_bos(struct settings *s, const struct setting *f, json_t *value)
{
  s->c->has_bos = read_count(s, f, value);
  return s->c->has_bos;
}

@ GPT-2's early files have |n_ctx| beside |n_positions|, with the same value. Where the
two differ we don't know what was meant, and half a guess is worse than a sentence.

@<Read what must agree with something else@>=
static bool read_n_ctx(struct settings *s, const struct setting *f, json_t *value)
{
  return json_equal(value, json_object_get(s->all, "n_positions"))
    || setting_bad(s, f->name, value, "the same as n_positions");
}

@ Newer files list the kind of each layer: all of its context, or a window of it. Models that mix the two exist and are not ours; where all layers are of one kind, the list must
say the kind that the other settings say.

@<Read what must agree with something else@>=
static bool read_layer_types(struct settings *s, const struct setting *f,
  json_t *value)
{
  json_t *window = json_object_get(s->all, "sliding_window");
  const char *wanted = json_is_integer(window)
    && !json_is_false(json_object_get(s->all, "use_sliding_window"))
    ? "sliding_attention" : "full_attention";
  bool same = json_is_array(value);
  for (size_t i = 0; i < json_array_size(value); i++) {
    json_t *type = json_array_get(value, i);
    same = same && json_is_string(type)
      && strcmp(json_string_value(type), wanted) == 0;
  }
  return same || setting_bad(s, f->name, value, wanted);
}

@ Here are the tables for \.{config.json}, each ended by a row without a name. The same
quantity has one name in GPT-2 and another in the later families; it goes to the same
place, which |at| (\cref{sec:steer}) turns into a distance from the beginning of |struct model_config|.

@<The fields of \.{config.json} that are used@>=
@<Fields of GPT-2@>@;
@<Fields of the later families@>@;
@<Fields that every family has@>@;

@ In GPT-2 the sizes begin with |n_|, and |n_inner| may be null. The two switches for the
scores of attention came later, and stand where the published files have them.

@<Fields of GPT-2@>=
static const struct setting gpt2_field[] =
  @[{ {"n_positions", GPT2, true, read_count, at(n_positions), 1, MOST},@|
  {"n_ctx", GPT2, false, read_n_ctx, 0, 0, 0},@|
  {"n_embd", GPT2, true, read_count, at(d_model), 1, MOST},@|
  {"n_layer", GPT2, true, read_count, at(n_layers), 1, MOST},@|
  {"n_head", GPT2, true, read_count, at(n_heads), 1, MOST},@|
  {"n_inner", GPT2, false, read_count, at(d_inner), 1, MOST},@|
  {"activation_function", GPT2, false, read_activation, 0, 0, 0},@|
  {"layer_norm_epsilon", GPT2, false, read_real, at(norm_eps), 0, 1},@|
  {"scale_attn_weights", GPT2, false, read_true, 0, 0, 0},@|
  {"scale_attn_by_inverse_layer_idx", GPT2, false, read_false, 0, 0, 0},@|
  {NULL, 0, false, NULL, 0, 0, 0} }@];

@ The later families count heads twice, once for queries and once for keys and values, and
may give the width of a head although it could be computed; where it is given it need not be what would be computed, and then it is right. A field that only some of these
families have carries their bits alone. The |sliding_window| of Qwen's files counts only where |use_sliding_window| is true, which is refused; so nothing has to be read from it.

@<Fields of the later families@>=
static const struct setting later_field[] =
  @[{ {"max_position_embeddings", LATER, true, read_count, at(n_positions), 1, MOST},@|
  {"hidden_size", LATER, true, read_count, at(d_model), 1, MOST},@|
  {"num_hidden_layers", LATER, true, read_count, at(n_layers), 1, MOST},@|
  {"num_attention_heads", LATER, true, read_count, at(n_heads), 1, MOST},@|
  {"num_key_value_heads", LATER, false, read_count, at(n_kv_heads), 1, MOST},@|
  {"head_dim", LATER, false, read_count, at(head_dim), 1, MOST},@|
  {"intermediate_size", LATER, true, read_count, at(d_inner), 1, MOST},@|
  {"hidden_act", LATER, false, read_activation, 0, 0, 0},@|
  {"rms_norm_eps", LATER, false, read_real, at(norm_eps), 0, 1},@|
  {"attention_bias", LLAMA | QWEN3, false, read_flag, at(out_bias), 0, 0},@|
  {"mlp_bias", LLAMA, false, read_flag, at(mlp_bias), 0, 0},@|
  {"sliding_window", MISTRAL, false, read_count, at(window), 1, MOST},@|
  {"sliding_window", QWEN2 | QWEN3, false, read_nothing, 0, 0, 0},@|
  {"use_sliding_window", QWEN2 | QWEN3, false, read_false, 0, 0, 0},@|
  {"layer_types", LATER, false, read_layer_types, 0, 0, 0},@|
  {NULL, 0, false, NULL, 0, 0, 0} }@];

@ Three fields about rotation belong together and are read as a group, after the others;
so are the two that name the family, before them. Here they only need to be known, so that they are not refused; |read_nothing| reads them.

@<Fields that every family has@>=
static const struct setting common_field[] =
  @[{ {"vocab_size", ALL, true, read_count, at(vocab_size), 1, MOST},@|
  {"tie_word_embeddings", ALL, false, read_flag, at(tied), 0, 0},@|
  {"bos_token_id", ALL, false, read_bos, at(bos), 0, MOST},@|
  {"eos_token_id", ALL, false, read_eos, 0, 0, 0},@|
  {"rope_theta", LATER, false, read_nothing, 0, 0, 0},@|
  {"rope_scaling", LATER, false, read_nothing, 0, 0, 0},@|
  {"rope_parameters", LATER, false, read_nothing, 0, 0, 0},@|
  {"model_type", ALL, true, read_nothing, 0, 0, 0},@|
  {"architectures", ALL, false, read_nothing, 0, 0, 0},@|
  {NULL, 0, false, NULL, 0, 0, 0} }@];

@ And the one for \.{generation\_config.json}. The lengths that it may suggest are the
caller's business, not the model's, and are among the harmless.

@<The fields of \.{generation\_config.json} that are used@>=
static const struct setting advice_field[] =
  @[{ {"do_sample", ALL, false, read_flag, at(sampling.do_sample), 0, 0},@|
  {"temperature", ALL, false, read_real, at(sampling.temperature), 0, 1e4},@|
  {"top_k", ALL, false, read_count, at(sampling.top_k), 0, MOST},@|
  {"top_p", ALL, false, read_real, at(sampling.top_p), 0, 1},@|
  {"min_p", ALL, false, read_real, at(sampling.min_p), 0, 1},@|
  {"typical_p", ALL, false, read_real, at(sampling.typical_p), 1e-9, 1},@|
  {"repetition_penalty", ALL, false, read_real,@|
    at(sampling.repetition_penalty), 1e-9, 1e9},@|
  {"no_repeat_ngram_size", ALL, false, read_count,@|
    at(sampling.no_repeat_ngram_size), 0, MOST},@|
  {"bos_token_id", ALL, false, read_bos, at(bos), 0, MOST},@|
  {"eos_token_id", ALL, false, read_eos, 0, 0, 0},@|
  {NULL, 0, false, NULL, 0, 0, 0} }@];

@ The harmless fields, with the reason why each cannot change a logit. Most of them
belong to training, to other heads, or to the program that saved the file. The reason is
what \.{incipit inspect} prints beside the name. Two tests stand behind the tables: every field that is used, altered in a small
model, changes the answer or is refused, and every harmless one changes nothing.
@^harmless fields@>

@<The fields that are known to be harmless@>=
struct harmless_entry { const char *name, *reason; };
@<Fields about the file or another program@>@;
@<Fields of training and of other heads@>@;

@ A file tells about itself, and about programs that are not ours. The type of the weights is given here, too, and may be wrong: files are converted and their settings copied. What counts is the
type in the header of each tensor, which has to agree with the number of its bytes at least.

@<Fields about the file or another program@>=
static const struct harmless_entry harmless_file[] =
  @[{ {"transformers_version", "says who wrote the file"},@|
  {"_name_or_path", "says where the file lay"},@|
  {"_commit_hash", "says where the file lay"},@|
  {"torch_dtype", "the weights' own header says their type"},@|
  {"dtype", "the weights' own header says their type"},@|
  {"is_llama_config", "says what model_type says"},@|
  {"transformers.js_config", "settings of another program"},@|
  {"task_specific_params", "suggestions to a user interface"},@|
  {"reorder_and_upcast_attn", "the precision of another program"},@|
  {"pretraining_tp", "cuts a product into parts, and adds them up again"},@|
  {"use_cache", "what is kept changes no result"},@|
  {"pad_token_id", "we never pad"},@|
  {"max_window_layers", "without a window there are none"},@|
  {"output_attentions", "what another program returns"},@|
  {"output_hidden_states", "what another program returns"},@|
  {"return_dict", "what another program returns"},@|
  {NULL, NULL} }@];

@ Dropout and initial values are over when the training is; and the same body may carry a
classifier in place of our head, whose settings stay in the file when the head has gone.

@<Fields of training and of other heads@>=
static const struct harmless_entry harmless_training[] =
  @[{ {"initializer_range", "used before training only"},@|
  {"attn_pdrop", "dropout: used in training only"},@|
  {"embd_pdrop", "dropout: used in training only"},@|
  {"resid_pdrop", "dropout: used in training only"},@|
  {"attention_dropout", "dropout: used in training only"},@|
  {"gradient_checkpointing", "used in training only"},@|
  {"summary_activation", "belongs to a classifier"},@|
  {"summary_first_dropout", "belongs to a classifier"},@|
  {"summary_proj_to_labels", "belongs to a classifier"},@|
  {"summary_type", "belongs to a classifier"},@|
  {"summary_use_proj", "belongs to a classifier"},@|
  {"id2label", "belongs to a classifier"},@|
  {"label2id", "belongs to a classifier"},@|
  {"num_labels", "belongs to a classifier"},@|
  {NULL, NULL} }@];

@ Of the advice, what concerns search is asked for by options (chapter 9), and lengths
belong to the caller. ``Harmless'' has a weaker meaning in this list: these fields do change what another program writes. They change no logit, and who asks us for a text says himself how long
it should be.

@<The advice that is known to be harmless@>=
static const struct harmless_entry harmless_advice[] =
  @[{ {"transformers_version", "says who wrote the file"},@|
  {"_from_model_config", "says who wrote the file"},@|
  {"pad_token_id", "we never pad"},@|
  {"max_length", "lengths are the caller's"},@|
  {"max_new_tokens", "lengths are the caller's"},@|
  {"min_length", "lengths are the caller's"},@|
  {"min_new_tokens", "lengths are the caller's"},@|
  {"num_beams", "a search is asked for by option"},@|
  {"num_return_sequences", "a search is asked for by option"},@|
  {"early_stopping", "a search is asked for by option"},@|
  {"length_penalty", "a search is asked for by option"},@|
  {"use_cache", "what is kept changes no result"},@|
  {"cache_implementation", "where rows are kept changes no result"},@|
  {"output_attentions", "what another program returns"},@|
  {"output_hidden_states", "what another program returns"},@|
  {"output_scores", "what another program returns"},@|
  {"return_dict_in_generate", "what another program returns"},@|
  {NULL, NULL} }@];

@ A reading is steered by the family, \label{sec:steer} which decides which rows count, by lists of tables
with fields that are used, and by lists of tables with fields that are harmless. Both
lists end with a null. Some fields are read elsewhere, as a group, since the meaning of one depends on another; in the tables they have a reader that is content with anything.

@<What steers a reading@>=
struct tables {
  unsigned family;
  const struct setting *used[3];
  const struct harmless_entry *harmless[3];
};
#define at(member) offsetof(struct model_config, member)
static bool read_nothing(struct settings *s, const struct setting *f,
  json_t *value)
{
  (void) s, (void) f, (void) value;
  return true;
}

@ Each field of the file is looked up in the one kind of table, then in the other, and
then asked whether it says anything at all.

@<Account for every field@>=
static const struct setting *used_find(const struct tables *t, const char *name)
{
  for (int i = 0; t->used[i] != NULL; i++)
    for (const struct setting *f = t->used[i]; f->name != NULL; f++)
      if (strcmp(f->name, name) == 0 && (f->of & t->family) != 0) return f;
  return NULL;
}
static const char *harmless_reason(const struct tables *t, const char *name)
{
  for (int i = 0; t->harmless[i] != NULL; i++)
    for (const struct harmless_entry *h = t->harmless[i]; h->name != NULL; h++)
      if (strcmp(h->name, name) == 0) return h->reason;
  return NULL;
}
@<Use a field, ignore it, or refuse it@>@;

@ The last resort is a value that says no. A feature that a later release of the library
invents is saved with every model, switched off in most. A zero is not a no: a threshold at zero may well mean something. A used field that is null is left at its default, as the library does.

@<Use a field, ignore it, or refuse it@>=
static bool account_for(struct settings *s, const char *name, json_t *value,
  const struct tables *t)
{
  const struct setting *f = used_find(t, name);
  const char *reason = harmless_reason(t, name);
  if (f != NULL) return json_is_null(value) || f->read(s, f, value);
  bool says_no = json_is_null(value) || json_is_false(value)
    || (json_is_string(value) && json_string_length(value) == 0)
    || (json_is_array(value) && json_array_size(value) == 0)
    || (json_is_object(value) && json_object_size(value) == 0);
  if (reason == NULL && says_no) reason = "null, false or empty";
  if (reason != NULL)
    return config_ignore(s->c, s->m, s->file, name, reason, s->why);
  return setting_bad(s, name, value, "a field that this program knows");
}

@ A field that is required and absent, or null, is found after all others have been read: the first thing wrong with a file is more likely a name that we don't know than one that is
missing, and often the two are one, spelt differently.

@<Read all fields of a file@>=
static bool settings_read(struct settings *s, const struct tables *t)
{
  for (void *i = json_object_iter(s->all); i != NULL;
       i = json_object_iter_next(s->all, i))
    if (!account_for(s, json_object_iter_key(i), json_object_iter_value(i), t))
      return false;
  for (int i = 0; t->used[i] != NULL; i++)
    for (const struct setting *f = t->used[i]; f->name != NULL; f++) {
      json_t *value = json_object_get(s->all, f->name);
      if (f->required && (f->of & t->family) != 0
          && (value == NULL || json_is_null(value)))
        return setting_bad(s, f->name, value, "a value: it has no default");
    }
  return true;
}

@ What was ignored is remembered, since a user of \.{inspect} wants to see it. The name
may be the file's own, which ends with the reading, so the list keeps a copy.

@<Remember what was ignored@>=
bool config_ignore(struct model_config *c, struct memory *m, const char *file,
  const char *field, const char *reason, struct error *why)
{
  if (c->n_ignored == c->ignored_room) {
    size_t room = c->ignored_room == 0 ? 32 : 2 * c->ignored_room;
    struct ignored_field *grown = memory_grow(m, FOR_OTHER, c->ignored,
      c->ignored_room, room, sizeof *grown, why);
    if (grown == NULL) return false;
    c->ignored = grown, c->ignored_room = room;
  }
  char *copy = memory_take(m, FOR_OTHER, strlen(field) + 1, 1, why);
  if (copy == NULL) return false;
  strcpy(copy, field);
  c->ignored[c->n_ignored++] = (struct ignored_field) @[{ file, copy, reason }@];
  return true;
}

@* Families. \label{sec:families}
The family is told by |model_type|, and |architectures| must not contradict it: a
checkpoint for classification has the same type and no head that we could use. Each
family sets the flags for what it always does, before its fields are read. The five rows below are all that the book knows of the five families: what stands in no row, no field and no name of
\cref{sec:model} is common to them.

@<The families@>=
static const struct family_row {
  const char *type, *architecture;
  unsigned bit;
  struct model_config always;
} family[] =
  @[{ {"gpt2", "GPT2LMHeadModel", GPT2, { .layer_norm = true, .norm_eps = 1e-5,
    .learned_positions = true, .qkv_bias = true, .out_bias = true,
    .mlp_bias = true, .tied = true }},@|
  {"llama", "LlamaForCausalLM", LLAMA, { .gated = true, .norm_eps = 1e-6 }},@|
  {"mistral", "MistralForCausalLM", MISTRAL, { .gated = true,
    .norm_eps = 1e-6 }},@|
  {"qwen2", "Qwen2ForCausalLM", QWEN2, { .gated = true, .norm_eps = 1e-6,
    .qkv_bias = true }},@|
  {"qwen3", "Qwen3ForCausalLM", QWEN3, { .gated = true, .norm_eps = 1e-6,
    .qk_norm = true }} }@];

@ A family that is not in the table is refused by its name. Some of them have tensors
with the very names of Llama's, and put their norms elsewhere: they would load, run, and write nonsense.

@<Find the family@>=
static const struct family_row *family_find(struct settings *s)
{
  json_t *type = json_object_get(s->all, "model_type");
  json_t *list = json_object_get(s->all, "architectures");
  for (size_t i = 0; i < 5 && json_is_string(type); i++) {
    if (strcmp(json_string_value(type), family[i].type) != 0) continue;
    @<Return the row if |list| has its architecture@>@;
  }
  setting_bad(s, "model_type", type, "gpt2, llama, mistral, qwen2 or qwen3");
  return NULL;
}

@ A missing list contradicts nothing; old files have none. One of several names is enough, for a file may be of use to more than one class of a program.

@<Return the row if |list| has its architecture@>=
bool same = list == NULL || json_is_null(list);
for (size_t k = 0; k < json_array_size(list); k++) {
  json_t *name = json_array_get(list, k);
  same = same || (json_is_string(name)
    && strcmp(json_string_value(name), family[i].architecture) == 0);
}
if (same) return &family[i];
setting_bad(s, "architectures", list, family[i].architecture);
return NULL;

@ Some sizes follow from others when they are not given: as many heads for keys as for
queries, heads that divide the width. What does not
divide is an error of the file. (A |head_dim| that is given need not divide anything: the heads together may be wider than the row, or narrower.)

@<Derive the sizes that were not given@>=
static bool settings_derive(struct settings *s)
{
  struct model_config *c = s->c;
  const char *heads = c->learned_positions ? "n_head" : "num_attention_heads";
  json_t *found = json_object_get(s->all, heads);
  if (c->n_kv_heads == 0) c->n_kv_heads = c->n_heads;
  if (c->head_dim == 0 && c->d_model % c->n_heads != 0)
    return setting_bad(s, heads, found, "a divisor of the width");
  if (c->head_dim == 0) c->head_dim = c->d_model / c->n_heads;
  if (c->n_heads % c->n_kv_heads != 0)
    return setting_bad(s, heads, found, "a multiple of num_key_value_heads");
  @<Derive the width of the MLP, and what rotation and biases ask for@>@;
  return true;
}

@ An MLP is four times as wide as the row in GPT-2, unless it says otherwise; a width whose fourfold does not fit into 32 bits is refused before it is formed.
A rotation turns two numbers of a head together, so a head must have an even number of them. And a family that has a switch for all biases of attention
throws it for queries, keys and values as well as for the way out.

@<Derive the width of the MLP, and what rotation and biases ask for@>=
if (!c->learned_positions && c->head_dim % 2 != 0)
  return setting_bad(s, "head_dim", json_object_get(s->all, "head_dim"),
    "an even number: rotations turn pairs");
if (c->d_inner == 0 && c->d_model > MOST / 4)
  return setting_bad(s, "n_embd", json_object_get(s->all, "n_embd"),
    "at most 536870911");
if (c->d_inner == 0) c->d_inner = 4 * c->d_model;
if (c->gated && c->out_bias) c->qkv_bias = true;

@ The frequencies are described in one place or another. Files of transformers 4 have
|rope_theta| and |rope_scaling|, those of version 5 put both into |rope_parameters|, and
the kind is called |rope_type| or, earlier, |type|. We take either, and refuse a file
that says two things: whoever edited one place and forgot the other has not told us which he meant.

@<Read how positions are rotated@>=
static bool settings_rope(struct settings *s)
{
  json_t *old = json_object_get(s->all, "rope_scaling");
  json_t *five = json_object_get(s->all, "rope_parameters");
  bool both = json_is_object(old) && json_is_object(five);
  if (both && !json_equal(old, five))
    return setting_bad(s, "rope_scaling", old, "the same as rope_parameters");
  const char *name = json_is_object(five) ? "rope_parameters" : "rope_scaling";
  json_t *given = json_is_object(five) ? five : old;
  if (given != NULL && !json_is_null(given) && !json_is_object(given))
    return setting_bad(s, name, given, "an object or null");
  @<Read |theta| from either place@>@;
  return given == NULL || json_is_null(given) || rope_kind(s, name, given);
}

@ The number $\theta$ may stand in the description or beside it. Where neither has it, it is $10^4$, as in the first paper on rotary positions.

@<Read |theta| from either place@>=
json_t *theta = json_object_get(s->all, "rope_theta");
if (json_is_null(theta)) theta = NULL;
json_t *inner = json_object_get(given, "rope_theta");
if (theta != NULL && inner != NULL
    && json_number_value(theta) != json_number_value(inner))
  return setting_bad(s, "rope_theta", theta, "the one in rope_parameters");
s->c->rope.theta = 10000;
struct setting f = @[{ "rope_theta", ALL, false, read_real, at(rope.theta), 1, 1e18 }@];
if (inner == NULL) inner = theta;
if (inner != NULL && !read_real(s, &f, inner)) return false;

@ Of the kinds of stretching we have two: none, called |"default"|, and |"llama3"|, which
takes its four numbers. Any other kind is refused by name, and so is any other member: the description is read with a table like the settings themselves, as if it were a file of its own.

@<Read the kind of stretching@>=
@<The fields of a stretching@>@;
static bool rope_kind(struct settings *s, const char *where, json_t *given)
{
  json_t *type = json_object_get(given, "rope_type");
  if (type == NULL) type = json_object_get(given, "type");
  const char *kind = json_is_string(type) ? json_string_value(type) : "";
  s->c->rope.llama3 = strcmp(kind, "llama3") == 0;
  if (!s->c->rope.llama3 && strcmp(kind, "default") != 0)
    return setting_bad(s, where, given, "a rope_type of default or llama3");
  struct settings inner = *s;
  inner.all = given;
  struct tables t = @[{ ALL, { stretching + (s->c->rope.llama3 ? 0 : 4) }, { NULL } }@];
  if (!settings_read(&inner, &t)) return false;
  if (s->c->rope.llama3
      && s->c->rope.high_freq_factor <= s->c->rope.low_freq_factor)
    return setting_bad(s, where, given, "high_freq_factor above low_freq_factor");
  return true;
}

@ The table begins with the four numbers. A description that stretches nothing is read with the rest of it, from the fifth row on, and may not have them.

@<The fields of a stretching@>=
static const struct setting stretching[] =
  @[{ {"factor", ALL, true, read_real, at(rope.factor), 1, 1e9},@|
  {"low_freq_factor", ALL, true, read_real, at(rope.low_freq_factor), 1e-9, 1e9},@|
  {"high_freq_factor", ALL, true, read_real,@|
    at(rope.high_freq_factor), 1e-9, 1e9},@|
  {"original_max_position_embeddings", ALL, true, read_count,@|
    at(rope.original), 1, MOST},@|
  {"rope_type", ALL, false, read_nothing, 0, 0, 0},@|
  {"type", ALL, false, read_nothing, 0, 0, 0},@|
  {"rope_theta", ALL, false, read_nothing, 0, 0, 0},@|
  {NULL, 0, false, NULL, 0, 0, 0} }@];

@ A file is opened, and must be an object. The advice has no families; its tables are read with all bits set. Its path stays with the reading, for every message begins with it.

@<Read one of the two files@>=
static bool settings_file(struct settings *s, const char *directory,
  const char *file, char *path, size_t room)
{
  s->path = path, s->file = file;
  int n = snprintf(path, room, "%s/%s", directory, file);
  if (n < 0 || (size_t) n >= room)
    return error_say(s->why, "%s: the path is too long", directory);
  s->all = json_read(path, SETTINGS_MOST, s->why);
  if (s->all == NULL) return false;
  if (json_is_object(s->all)) return true;
  return setting_bad(s, "this", s->all, "an object");
}
@#
static bool settings_advice(struct settings *s)
{
  struct tables t = @[{ ALL, { advice_field }, { harmless_advice } }@];
  return settings_read(s, &t);
}

@ First the family, since it decides which fields count, then its fields, then what follows from them; the
suggestions for sampling begin with values that do nothing, so that a later chapter can apply all of them without asking which were given.

@<Read the model's own settings@>=
static bool settings_model(struct settings *s)
{
  const struct family_row *f = family_find(s);
  if (f == NULL) return false;
  *s->c = f->always;
  s->c->family = f->type;
  s->c->sampling = (struct sampling_config) @[{ .temperature = 1, .top_p = 1,
    .typical_p = 1, .repetition_penalty = 1 }@];
  struct tables t = @[{ f->bit,
    { f->bit == GPT2 ? gpt2_field : later_field, common_field },
    { harmless_file, harmless_training } }@];
  return settings_read(s, &t) && settings_derive(s)
    && (s->c->learned_positions || settings_rope(s));
}

@ The whole reading, and the way back if it fails half-way. The second file may be absent, and that it is there is asked before it is opened: a file that is there and cannot be read is an
error like any other. jansson's tree is released as soon as it has been read; nothing of ours points into it.

@<Open and close the settings@>=
bool config_open(struct model_config *c, struct memory *m, const char *directory,
  struct error *why)
{
  char path[4096];
  struct settings s = @[{ .c = c, .m = m, .why = why }@];
  *c = (struct model_config) @[{ .family = NULL }@];
  bool ok = settings_file(&s, directory, "config.json", path, sizeof path)
    && settings_model(&s);
  json_decref(s.all);
  s.all = NULL;
  const char *advice = "generation_config.json";
  snprintf(path, sizeof path, "%s/%s", directory, advice);
  if (ok && access(path, F_OK) == 0)
    ok = settings_file(&s, directory, advice, path, sizeof path)
      && settings_advice(&s);
  json_decref(s.all);
  if (!ok) config_close(m, c);
  return ok;
}

@ What was taken was the list, and in it the copies of the names. The structure is emptied, so that a second closing finds nothing.

@<Open and close the settings@>=
void config_close(struct memory *m, struct model_config *c)
{
  for (size_t i = 0; i < c->n_ignored; i++)
    memory_give(m, FOR_OTHER, (char *) (uintptr_t) c->ignored[i].field,
      strlen(c->ignored[i].field) + 1, 1);
  memory_give(m, FOR_OTHER, c->ignored, c->ignored_room, sizeof *c->ignored);
  *c = (struct model_config) @[{ .family = NULL }@];
}

@ The module has the readers first, because the tables name them, and the functions that walk the tables last.
Only two functions of it are seen from outside.

@(config.c@>=
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "A3-files/config.h"
@#
@<The state of reading settings@>@;
@<A row of the table of fields@>@;
@<Readers and tables@>@;
@<From one field to two files@>@;

@ The readers, and the tables that send each field to its reader.

@<Readers and tables@>=
@<Read a number or a flag@>@;
@<Insist on a value@>@;
@<Read ids@>@;
@<Read what must agree with something else@>@;
@<The fields that are known to be harmless@>@;
@<The advice that is known to be harmless@>@;
@<What steers a reading@>@;
@<The fields of \.{config.json} that are used@>@;
@<The fields of \.{generation\_config.json} that are used@>@;
@<The families@>@;

@ And what works on the tables: from a single field, which is used, ignored with a reason or refused, to the two
files of a directory.

@<From one field to two files@>=
@<Remember what was ignored@>@;
@<Account for every field@>@;
@<Read all fields of a file@>@;
@<Find the family@>@;
@<Derive the sizes that were not given@>@;
@<Read the kind of stretching@>@;
@<Read how positions are rotated@>@;
@<Read one of the two files@>@;
@<Read the model's own settings@>@;
@<Open and close the settings@>@;

@* The model, put together. \label{sec:model}
Names and shapes meet here. |model_open| asks the settings what there must be, looks for
each tensor by its name, insists on its shape, and leaves it where it lies: a model of
ten gigabytes is open in a few milliseconds, because nothing of it has been read yet but
the header. Numbers are widened to float32 when they are used.
@^model@>

@(model.h@>=
#ifndef INCIPIT_MODEL_H
#define INCIPIT_MODEL_H
#include "A3-files/config.h"
#include "A6-kernels/kernels.h"
@<One layer@>@;
@<The whole model@>@;
#endif

@ A layer has two halves, each with a norm before it. The first projects to queries, keys
and values and, after attention, back; the second goes up to a wider space and down
again. GPT-2 stores the three projections as one matrix; the later families have a
second matrix on the way up, the gate. One structure serves both, with a count of how many of its matrices there are; what a family does not have is left at zero and never asked for.

@<One layer@>=
struct model_layer {
  struct normalizer before_attention, before_mlp, of_queries, of_keys;
  struct matrix qkv[3], out, up[2], down;
  size_t n_qkv, n_up; /* 1 if fused, else 3; 2 with a gate */
}; /* |qkv[0]| is |[d_model][3*d_model]| if fused; |up[0]| is the gate, if any */

@ The frequencies of the rotations are computed once, from the settings. The last three
numbers are what a pass costs and reads, for the counters.

@<The whole model@>=
struct model {
  struct model_config config;
  struct archive *weights;
  struct tensor embedding, positions; /* |[vocab_size][d_model]|, |[n_positions][d_model]| */
  struct model_layer *layers;
  struct normalizer last; /* before the head */
  struct matrix head; /* |[vocab_size][d_model]|, the embedding itself if tied */
  struct heads attention;
  float *frequency; /* |[head_dim/2]|, or null with learned positions */
  uint64_t layer_madds, layer_bytes, head_bytes;
};

@ From outside a model is opened, closed and counted. It does not change between the first and the last, which is why threads may read it without a lock.

@<The whole model@>=
struct model *model_open(struct memory *m, const char *directory,
  struct error *why);
  /* maps the weights of a directory in Hugging Face's layout and checks them
     against its settings; null and a sentence that names file and field. Owned by
     the caller; any number of threads may read it */
void model_close(struct memory *m, struct model *lm);
  /* closes the files and returns the rest; null is nothing */
uint64_t model_parameters(const struct model *lm);
  /* numbers in the tensors that are used, a tied head not counted twice */

@ While the model is put together we keep the prefix of the names, a mark for each tensor
of the file that has found its use, and whether something has gone wrong: then all that
follows does nothing, and one test at the end suffices. The alternative, a test behind each of a layer's dozen tensors, would bury the list of names that a reader comes for.

@<The state of assembly@>=
struct assembly {
  struct memory *m;
  struct model *lm;
  const char *prefix; /* \.{"transformer."}, \.{"model."}, or nothing */
  bool *used; /* one for each tensor of the file */
  bool ok;
  uint64_t bytes; /* of the tensors found so far */
  struct error *why;
};

@ One tensor, by name, with the shape that it must have; |columns| is 0 for a vector. Three
sentences can come out of here: it is missing, it has another shape, or its type is one
that we cannot compute with. Shapes are compared as words, since the words are what the sentence needs anyway, and then it cannot show two shapes that look alike.

@<Find one tensor, and insist on its shape@>=
static struct tensor need(struct assembly *a, const char *name, uint64_t rows,
  uint64_t columns)
{
  struct tensor none = @[{ NULL, WEIGHT_F32 }@];
  if (!a->ok) return none;
  const struct stored *t = weights_find(a->lm->weights, name);
  char wanted[64], found[64] = "missing";
  if (columns == 0) snprintf(wanted, sizeof wanted, "[%" PRIu64 "]", rows);
  else snprintf(wanted, sizeof wanted, "[%" PRIu64 ", %" PRIu64 "]", rows, columns);
  if (t != NULL) shape_words(t, found);
  a->ok = strcmp(found, wanted) == 0
    || error_found(a->why, t == NULL ? weights_path(a->lm->weights) : t->file, name,
      found, wanted);
  if (!a->ok) return none;
  @<Turn |t| into a tensor of a type that we have, or fail@>@;
}

@ The file's word for the type becomes ours. A tensor that is found is marked as used, and
its bytes are added up.

@<Turn |t| into a tensor of a type that we have, or fail@>=
static const char *const type[] = @[{ "F32", "F16", "BF16" }@];
for (int i = 0; i < 3; i++)
  if (strcmp(t->type, type[i]) == 0) {
    a->used[t->number] = true, a->bytes += t->bytes;
    return (struct tensor) @[{ t->data, (enum weight_type) i }@];
  }
a->ok = error_found(a->why, t->file, name, t->type, "F32, F16 or BF16");
return none;

@ A shape is written as the file writes it, as a list in brackets; a long one is cut, and
is then certainly not the one that was wanted.

@<Write a shape in words@>=
static void shape_words(const struct stored *t, char found[64])
{
  size_t n = (size_t) snprintf(found, 64, "[");
  for (uint32_t i = 0; i < t->rank && n < 40; i++)
    n += (size_t) snprintf(found + n, 64 - n, "%s%" PRIu64, i > 0 ? ", " : "",
      t->shape[i]);
  snprintf(found + n, 64 - n, t->rank > 0 && n >= 40 ? "..." : "]");
}

@ A matrix has a bias
or not, as the settings say; GPT-2 stores its matrices with the inputs first, since its layers were written as convolutions. A square matrix would pass for its transpose here, with the same shape
and other numbers. So which way it lies is decided by the family and never guessed from the shape.

@<Find a matrix with its bias@>=
static struct matrix need_matrix(struct assembly *a, uint32_t layer,
  const char *name, size_t in, size_t out, bool bias)
{
  struct matrix w = @[{ .in = in, .out = out }@];
  char full[160];
  w.transposed = a->lm->config.learned_positions;
  layer_name(a, layer, name, "weight", full);
  w.weight = w.transposed ? need(a, full, in, out) : need(a, full, out, in);
  layer_name(a, layer, name, "bias", full);
  if (bias) w.bias = need(a, full, out, 0);
  a->lm->layer_madds += (uint64_t) in * out;
  return w;
}

@ The name is made of the prefix, the number of the layer and the rest: \.{transformer.h.3.mlp.c\_fc.bias} in one family,
\.{model.layers.3.mlp.up\_proj.weight} in the others.

@<Find a matrix with its bias@>=
static void layer_name(const struct assembly *a, uint32_t layer, const char *name,
  const char *what, char full[160])
{
  const char *list = a->lm->config.learned_positions ? "h" : "layers";
  snprintf(full, 160, "%s%s.%" PRIu32 ".%s.%s", a->prefix, list, layer, name, what);
}

@ A norm has a gain, and a LayerNorm a bias, too. Its epsilon comes from the settings and is rounded to float
here, once, as the published programs do.

@<Find a norm@>=
static struct normalizer need_norm(struct assembly *a, const char *gain,
  const char *bias, size_t d)
{
  const struct model_config *c = &a->lm->config;
  struct normalizer g = @[{ .kind = c->layer_norm ? NORM_LAYER : NORM_RMS,
    .epsilon = (float) c->norm_eps }@];
  g.gain = need(a, gain, d, 0);
  if (c->layer_norm) g.bias = need(a, bias, d, 0);
  return g;
}
@#
static struct normalizer layer_norm(struct assembly *a, uint32_t layer,
  const char *name, size_t d)
{
  char gain[160], bias[160];
  layer_name(a, layer, name, "weight", gain);
  layer_name(a, layer, name, "bias", bias);
  return need_norm(a, gain, bias, d);
}

@ GPT-2's layer, name by name. Query, key and value are one matrix here, three times as wide as the row, and every
matrix has a bias. The names are those that the model's makers gave to the parts of their program: \.{c\_fc} is the way up, \.{c\_proj} a way back.

@<Assemble a layer of GPT-2@>=
static void layer_gpt2(struct assembly *a, uint32_t i, struct model_layer *l)
{
  size_t d = a->lm->config.d_model, inner = a->lm->config.d_inner;
  l->before_attention = layer_norm(a, i, "ln_1", d);
  l->qkv[0] = need_matrix(a, i, "attn.c_attn", d, 3 * d, true);
  l->n_qkv = 1;
  l->out = need_matrix(a, i, "attn.c_proj", d, d, true);
  l->before_mlp = layer_norm(a, i, "ln_2", d);
  l->up[0] = need_matrix(a, i, "mlp.c_fc", d, inner, true);
  l->n_up = 1;
  l->down = need_matrix(a, i, "mlp.c_proj", inner, d, true);
}

@ And Llama's. With fewer heads for keys and values than for queries, two of the matrices
are narrower; with a |head_dim| of its own choosing, the first need not be square. Qwen 3 has a norm for the queries and one for the keys, as wide as one head.

@<Assemble a layer of Llama and its kin@>=
static void layer_llama(struct assembly *a, uint32_t i, struct model_layer *l)
{
  const struct model_config *c = &a->lm->config;
  size_t d = c->d_model, inner = c->d_inner;
  size_t q = (size_t) c->n_heads * c->head_dim;
  size_t kv = (size_t) c->n_kv_heads * c->head_dim;
  l->before_attention = layer_norm(a, i, "input_layernorm", d);
  l->qkv[0] = need_matrix(a, i, "self_attn.q_proj", d, q, c->qkv_bias);
  l->qkv[1] = need_matrix(a, i, "self_attn.k_proj", d, kv, c->qkv_bias);
  l->qkv[2] = need_matrix(a, i, "self_attn.v_proj", d, kv, c->qkv_bias);
  l->n_qkv = 3;
  if (c->qk_norm) {
    l->of_queries = layer_norm(a, i, "self_attn.q_norm", c->head_dim);
    l->of_keys = layer_norm(a, i, "self_attn.k_norm", c->head_dim);
  }
  l->out = need_matrix(a, i, "self_attn.o_proj", q, d, c->out_bias);
  @<Assemble the second half of a layer of Llama@>@;
}

@ The name of the second norm misleads: it stands after the first half, and before the MLP, which is where the engine wants it.

@<Assemble the second half of a layer of Llama@>=
l->before_mlp = layer_norm(a, i, "post_attention_layernorm", d);
l->up[0] = need_matrix(a, i, "mlp.gate_proj", d, inner, c->mlp_bias);
l->up[1] = need_matrix(a, i, "mlp.up_proj", d, inner, c->mlp_bias);
l->n_up = 2;
l->down = need_matrix(a, i, "mlp.down_proj", inner, d, c->mlp_bias);

@ Outside the layers there are the embedding, GPT-2's positions, the last norm and the
head. Most small models have no head of their own: the embedding that turned an id into
a row is used to ask how much the last row looks like each id.
@^tied head@>

@<Assemble what is outside the layers@>=
static void assemble_ends(struct assembly *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  bool gpt2 = c->learned_positions;
  char name[2][160];
  snprintf(name[0], 160, "%s%s", a->prefix, gpt2 ? "wte.weight" : "embed_tokens.weight");
  lm->embedding = need(a, name[0], c->vocab_size, c->d_model);
  snprintf(name[0], 160, "%swpe.weight", a->prefix);
  if (gpt2) lm->positions = need(a, name[0], c->n_positions, c->d_model);
  snprintf(name[0], 160, "%s%s.weight", a->prefix, gpt2 ? "ln_f" : "norm");
  snprintf(name[1], 160, "%sln_f.bias", a->prefix);
  lm->last = need_norm(a, name[0], name[1], c->d_model);
  @<Find the head, or take the embedding for it@>@;
}

@ The head's name has no prefix: it does not belong to the body that the prefix names. What it weighs is kept, because a pass that asks for logits reads all of it, however few rows ask.

@<Find the head, or take the embedding for it@>=
lm->head = (struct matrix) @[{ .in = c->d_model, .out = c->vocab_size }@];
lm->head.weight = c->tied ? lm->embedding
  : need(a, "lm_head.weight", c->vocab_size, c->d_model);
lm->head_bytes = (uint64_t) c->vocab_size * c->d_model
  * weight_bytes(lm->head.weight.type);

@ The number of layers comes from a file, and so we look whether the tensors of the last
one can be there at all before we take memory for that many. Each layer has several tensors, so a number of layers above that of the tensors is a lie that can be told at once.

@<Assemble the layers@>=
static void assemble_layers(struct assembly *a)
{
  struct model *lm = a->lm;
  uint32_t n = lm->config.n_layers;
  uint64_t before = a->bytes;
  if (n > weights_count(lm->weights)) {
    char found[64];
    snprintf(found, sizeof found, "%" PRIu32 " layers", n);
    a->ok = error_found(a->why, weights_path(lm->weights), "this", found,
      "no more layers than the file has tensors");
    return;
  }
  lm->layers = memory_take(a->m, FOR_OTHER, n, sizeof *lm->layers, a->why);
  a->ok = lm->layers != NULL;
  for (uint32_t i = 0; i < n && a->ok; i++)
    if (lm->config.learned_positions) layer_gpt2(a, i, &lm->layers[i]);
    else layer_llama(a, i, &lm->layers[i]);
  lm->layer_bytes = a->bytes - before;
}

@ A tensor that nobody asked for is as suspicious as a setting that nobody knows: a bias
that the settings deny would be left out in silence. So it is an error, unless it is one
of those that the libraries of the years have left behind. Those are recognized by the end of their names, and go to the list of what was ignored, with a reason each.

@<Account for every tensor@>=
static bool left_over(struct assembly *a, const struct stored *t)
{
  static const struct { const char *end, *reason; } known[] =
    @[{ {".attn.bias", "a stored causal mask: ours is the order of rows"},@|
    {".attn.masked_bias", "the value that a stored mask puts in"},@|
    {".rotary_emb.inv_freq", "stored frequencies: computed from rope_theta"} }@];
  size_t n = strlen(t->name);
  for (int i = 0; i < 3; i++) {
    size_t k = strlen(known[i].end);
    if (n > k && strcmp(t->name + n - k, known[i].end) == 0)
      return config_ignore(&a->lm->config, a->m, t->file, t->name,
        known[i].reason, a->why);
  }
  if (strcmp(t->name, "lm_head.weight") == 0) return tied_head(a, t);
  return error_found(a->why, t->file, t->name, "a tensor without use",
    "only the tensors that config.json calls for");
}

@ Some tools write the head of a tied model all the same. It does no harm if it is the
embedding, byte for byte; if it is not, settings and weights contradict each other, and either could be meant.

@<Compare a stored head with the embedding it is tied to@>=
static bool tied_head(struct assembly *a, const struct stored *t)
{
  const struct model_config *c = &a->lm->config;
  uint64_t bytes = (uint64_t) c->vocab_size * c->d_model
    * weight_bytes(a->lm->embedding.type);
  if (t->bytes != bytes || memcmp(t->data, a->lm->embedding.data, bytes) != 0)
    return error_found(a->why, t->file, t->name, "not the embedding",
      "equal, since tie_word_embeddings is true");
  return config_ignore(&a->lm->config, a->m, t->file, t->name,
    "the embedding once more: the head is tied", a->why);
}

@ Frequency number $i$ of |half| is |theta| to the power $-i/{}$|half|, computed in double and
rounded once. A head of four numbers and $\theta=10^4$ has two: 1, and $10^4$ to the power $-\frac12$, which is $10^{-2}$. The first pair turns once in $2\pi$ positions, the second once in $2\pi\cdot10^2$.
@^rotary positions@>@^Llama 3.1@>

@<Compute the frequencies of the rotations@>=
@<Stretch a slow frequency@>@;
static bool model_frequencies(struct assembly *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  uint32_t half = c->head_dim / 2;
  if (c->learned_positions) return true;
  lm->frequency = memory_take(a->m, FOR_OTHER, half, sizeof(float), a->why);
  for (uint32_t i = 0; i < half && lm->frequency != NULL; i++) {
    double f = num_pow(c->rope.theta, -(double) i / half);
    lm->frequency[i] = (float) (c->rope.llama3 ? stretched(&c->rope, f) : f);
  }
  return lm->frequency != NULL;
}

@ The stretching of Llama 3.1 leaves the quick ones alone, those that turn
often within the original context; divides the slow ones by |factor|; and goes smoothly
from the one to the other in between. The reason: a pair that has turned many times in training has shown the model every angle, and a longer text brings it no new one;
a pair that never came round once would be turned to angles that nobody has taught.

@<Stretch a slow frequency@>=
static double stretched(const struct rope_config *r, double frequency)
{
  double turns = frequency * r->original / 6.283185307179586;
  if (turns > r->high_freq_factor) return frequency;
  if (turns < r->low_freq_factor) return frequency / r->factor;
  double t = (turns - r->low_freq_factor)
    / (r->high_freq_factor - r->low_freq_factor);
  double kept = t * frequency, slowed = (1 - t) * (frequency / r->factor);
  return kept + slowed;
}

@ Everything together. The prefix is found out by looking for the embedding with it: a file that was saved from the bare body has none. The number by which scores are multiplied in attention,
$1/\sqrt{d_h}$, is computed here, once, in double, and rounded.

@<Assemble the model@>=
static bool model_assemble(struct assembly *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  a->prefix = c->learned_positions ? "transformer." : "model.";
  if (weights_find(lm->weights, c->learned_positions ? "transformer.wte.weight"
      : "model.embed_tokens.weight") == NULL)
    a->prefix = "";
  lm->attention = (struct heads) @[{ c->n_heads, c->n_kv_heads, c->head_dim,
    (float) (1 / sqrt((double) c->head_dim)) }@];
  assemble_ends(a);
  if (a->ok) assemble_layers(a);
  for (size_t i = 0; i < weights_count(lm->weights) && a->ok; i++)
    if (!a->used[i]) a->ok = left_over(a, weights_at(lm->weights, i));
  return a->ok && model_frequencies(a);
}

@ The marks for used tensors are needed while the model is put together and go back in either case. What a failure leaves behind is freed by the same function that later frees what a success has built.

@<Open and close a model@>=
struct model *model_open(struct memory *m, const char *directory,
  struct error *why)
{
  struct model *lm = memory_take(m, FOR_OTHER, 1, sizeof *lm, why);
  if (lm == NULL) return NULL;
  struct assembly a = @[{ .m = m, .lm = lm, .ok = true, .why = why }@];
  bool ok = config_open(&lm->config, m, directory, why)
    && (lm->weights = weights_open(m, directory, why)) != NULL;
  size_t n = ok ? weights_count(lm->weights) : 0;
  if (ok) a.used = memory_take(m, FOR_OTHER, n, sizeof *a.used, why);
  ok = ok && a.used != NULL && model_assemble(&a);
  memory_give(m, FOR_OTHER, a.used, n, sizeof *a.used);
  if (ok) return lm;
  model_close(m, lm);
  return NULL;
}

@ The settings are closed last, because the sizes of the blocks are worked out from them.

@<Open and close a model@>=
void model_close(struct memory *m, struct model *lm)
{
  if (lm == NULL) return;
  const struct model_config *c = &lm->config;
  memory_give(m, FOR_OTHER, lm->layers, c->n_layers, sizeof *lm->layers);
  memory_give(m, FOR_OTHER, lm->frequency, c->head_dim / 2, sizeof(float));
  weights_close(m, lm->weights);
  config_close(m, &lm->config);
  memory_give(m, FOR_OTHER, lm, 1, sizeof *lm);
}

@ A tied head is counted where it is an embedding, and not again; tensors that were
ignored are not counted at all. The list of what was ignored has settings in it, too; they are no tensors, and are not found.

@<Count the parameters@>=
uint64_t model_parameters(const struct model *lm)
{
  const struct model_config *c = &lm->config;
  uint64_t n = 0;
  for (size_t i = 0; i < weights_count(lm->weights); i++)
    n += weights_at(lm->weights, i)->elements;
  for (size_t i = 0; i < c->n_ignored; i++) {
    const struct stored *t = weights_find(lm->weights, c->ignored[i].field);
    if (t != NULL) n -= t->elements;
  }
  return n;
}

@ The module begins with the state of assembly, which all of its functions share, and ends with the two that
others call.

@(model.c@>=
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "A3-files/model.h"
#include "A6-kernels/numbers.h"
@;@#
@<The state of assembly@>@;
@<Write a shape in words@>@;
@<Find one tensor, and insist on its shape@>@;
@<Tensors by the layer@>@;
@<The model as a whole@>@;

@ From a name to a layer. The function that makes the names is declared ahead, because both kinds of tensors,
matrices and norms, are asked for by it.

@<Tensors by the layer@>=
static void layer_name(const struct assembly *a, uint32_t layer, const char *name,
  const char *what, char full[160]);
@<Find a matrix with its bias@>@;
@<Find a norm@>@;
@<Assemble a layer of GPT-2@>@;
@<Assemble a layer of Llama and its kin@>@;

@ And from the layers to the model: the ends first, then the layers, then the account of what was left over, and
the frequencies, which no file has.

@<The model as a whole@>=
@<Assemble what is outside the layers@>@;
@<Assemble the layers@>@;
@<Compare a stored head with the embedding it is tied to@>@;
@<Account for every tensor@>@;
@<Compute the frequencies of the rotations@>@;
@<Assemble the model@>@;
@<Open and close a model@>@;
@<Count the parameters@>@;
