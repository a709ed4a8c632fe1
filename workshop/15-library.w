@i types.w
@s INCIPIT_API static
@s json_t int

\chapterquestion{My own program wants a text continued. What must it call, and how little of this book must it know?}
@** From outside: one header for other programs. \label{sec:library}
\incipit{S}{uppose that you} write a text editor, and want it to finish a sentence that its user has begun. The chapters have all the parts, and every chapter
has a header that shows them: structures with all their fields, and functions that are named for what they do, |head| and |forward| and |generate|. Within a book that is right.
In your editor it goes wrong in three ways. You would include half a dozen headers, and what they include, in order to call a few functions. Your editor may have a |generate| of its own, and then the linker finds two. And if we add a field to a
structure next year, an editor that was compiled this year goes on using the old one, and reads the wrong bytes.
What you want is a \emph{library}: one header, |"incipit.h"|, whose names all begin with \.{incipit\_}, with the chapters hidden behind it.
@^library@>@^incipit.h@>

The header is worth reading even if you never link a program with it. It has a few dozen functions, each of which does little more than check its arguments and call
something that you know. That makes it the shortest summary of the book: a text becomes ids, rows are computed and kept, a sampler
chooses a token, a stream says which bytes may be shown. It lists everything that a program has to be able to do in order to write one token at a time.

\begin{byhand}{a text that is streamed, call by call}
A prompt has 4 ids. The likeliest token is taken 3 times, and each is shown as soon as it is chosen. Every call of |incipit_forward| is given the rows that the
sequence does not have yet: first those of the prompt, then that of the newest token.

\medskip
\begin{tabular}{@@{}lrr@@{}}
\tabhead{what is read} & \tabhead{rows} & \tabhead{rows so far}\\
the prompt & 4 & 4\\
the first new token & 1 & 5\\
the second new token & 1 & 6
\end{tabular}
\medskip

The third token is shown but not read, because we do not ask what follows it. So 6 rows are computed, $4+3-1$. A program that reads the whole text again for each token computes
$4+5+6=15$ rows. With this library you would have to ask for that, by cropping the sequence to nothing before each step.
\end{byhand}

@ The same in C, for twelve tokens, in a program that includes nothing of ours but |"incipit.h"|. It opens a model, a context, a sampler and a stream. Then it runs the loop that you know: rows go
in, logits come out, the sampler chooses a token and is told that the token was accepted, and the stream says which bytes may be shown. Each call returns false or |NULL| if it fails,
so a chain of |&&| stops at the first one that does.

@c
#include <stdio.h>
#include <string.h>
#include "library/incipit.h"
@;@#
@<What the example works with@>@;
@<Read ids, and choose what follows@>@;
@<Write until the model is done or twelve tokens are@>@;
@#
int main(int argc, char **argv)
{
  struct example x = @[{ .show = argc < 2 || strcmp(argv[1], "values") != 0 }@];
  struct incipit_error *why = &x.why;
  bool ok = (x.model = incipit_model_open("models/pocket", NULL,@| why)) != NULL@|
    && (x.context = incipit_context_open(x.model, NULL, why)) != NULL@|
    && (x.sampler = incipit_sampler_open(x.model, NULL, why)) != NULL@|
    && (x.stream = incipit_stream_open(x.model, NULL, 0, false,@| why)) != NULL@|
    && write_text(&x, "The cat sat");
  if (!ok) fprintf(stderr, "code %d: %s\n", why->code, why->text);
  incipit_stream_close(x.stream);
  incipit_sampler_close(x.sampler);
  incipit_context_close(x.context);
  incipit_model_close(x.model);
  return !ok;
}

@ Closing |NULL| does nothing, so |main| can close all four objects whatever has happened. For this model an array of fixed size is long enough for the logits; your program
should ask the model for the size of its vocabulary.

@<What the example works with@>=
enum { MOST = 12 };
struct example {
  struct incipit_model *model;
  struct incipit_context *context;
  struct incipit_sampler *sampler;
  struct incipit_stream *stream;
  struct incipit_error why;
  uint32_t sequence;
  float logits[4096];
  bool show;
};

@ A row says to which sequence its token belongs and at which position. Positions count from 0, so the next row of a sequence has the position that is now the sequence's length. Of the rows
that are computed we want the logits of the last one only.

@<Read ids, and choose what follows@>=
static bool choose(struct example *x, const uint32_t *id, size_t n, uint32_t *next)
{
  struct incipit_row row[64];
  struct incipit_error *why = &x->why;
  size_t at, last = n - 1;
  if (!incipit_sequence_length(x->context, x->sequence, &at, why)) return false;
  for (size_t i = 0; i < n; i++) {
    row[i].sequence = x->sequence;
    row[i].position = (uint32_t) (at + i);
    row[i].token = id[i];
  }
  return incipit_forward(x->context, row, n, why)@|
    && incipit_logits(x->context, &last, 1, x->logits, why)@|
    && incipit_sampler_apply(x->sampler, x->logits, next, why)@|
    && incipit_sampler_accept(x->sampler, *next, why);
}

@ The loop ends at an end token, which is not shown, or after |MOST| tokens. We know that the prompt has only a few ids; for a prompt that a person types, your program compares |n| with the room in the array, since |n| says how many ids there are and not how many have been written. With the argument |"values"| the program prints what it has counted instead of the text.

@<Write until the model is done or twelve tokens are@>=
static bool write_text(struct example *x, const char *prompt)
{
  uint32_t id[64], next;
  struct incipit_piece piece;
  struct incipit_report report;
  struct incipit_error *why = &x->why;
  size_t n, written = 0;
  if (!incipit_encode(x->model, prompt, strlen(prompt), true, false, id, 64, &n, why)@|
      || !incipit_sequence_open(x->context, &x->sequence, why)@|
      || !incipit_sampler_reset(x->sampler, id, n, 0, why)@|
      || !choose(x, id, n, &next)) return false;
  if (x->show) printf("%s", prompt);
  for (written = 1; !incipit_is_end(x->model, next); written++) {
    if (!incipit_stream_push(x->stream, next, &piece, why)) return false;
    if (x->show) fwrite(piece.text, 1, piece.n, stdout);
    if (written == MOST) break;
    if (!choose(x, &next, 1, &next)) return false;
  }
  if (!incipit_context_report(x->context, &report, sizeof report, why)) return false;
  if (x->show) printf("\n%zu + %zu tokens, %d rows\n", n, written, (int) report.rows);
  else printf("library.prompt %zu\nlibrary.written %zu\nlibrary.rows %d\n",
    n, written, (int) report.rows);
  return true;
}

@ The program prints the text and what it took to write it.

\checkpoint{build/out/library.txt}{a text that is written with the functions of one header}

The prompt has \val{library.prompt} tokens and the text \val{library.written}, and \val{library.rows} rows were computed, one fewer than both together: the cache
is at work although the program did not ask for it. This is a rule of the header: \emph{the defaults are what you most likely want}. A slow default would be a trap, since few people look for
a missing option in a program that works.

@* What the header shows. \label{sec:incipit-h}
Everything in the header is a function, a structure of plain values that the caller fills in or reads, or an \emph{opaque type}: a structure that is declared and not defined there.
A program can hold a pointer to an opaque structure and pass it on, but cannot look inside or know its size. So a later version may
change what is in it, and programs that were compiled before need not be compiled again: the \emph{application binary interface} (ABI) stays the same.
@^opaque type@>@^application binary interface@>

|INCIPIT_API| comes before each function. For a compiler of C++ it says that the function has a name as in C; for the linker it says that the name
may be seen outside a shared library. The macros with the version are for the preprocessor, which can compare numbers and not strings; |incipit_version| tells which library the program really runs
with, and the two may differ, since a shared library can be replaced after the program was compiled.
@^C++@>

@(incipit.h@>=
#ifndef INCIPIT_H
#define INCIPIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define INCIPIT_VERSION "0.3"
#define INCIPIT_VERSION_MAJOR 0
#define INCIPIT_VERSION_MINOR 3
#ifdef __cplusplus
#define INCIPIT_API extern "C" __attribute__((visibility("default")))
#else
#define INCIPIT_API __attribute__((visibility("default")))
#endif
@#
  @<What a failed call says@>@;
@#
  @<The objects, and which threads may use them@>@;
@#
  @<A model and its tokens@>@;
@#
  @<A context, its sequences and its passes@>@;
@#
  @<A constraint and a sampler@>@;
@#
  @<A stream@>@;
@#
  @<A whole text, or many@>@;
@#
  @<A conversation@>@;
#endif

@ A call fails for one of five reasons, and the code tells who can do something about it. A \emph{misuse} is a mistake in the calling program: a |NULL| handle, an id out of
range, a sequence that was closed. It will happen again until the program is corrected. An error of \emph{input} is in something that a person has named, a directory or a pattern, and
that person has to be told. \emph{Memory} may be refused. The context or the cache may be \emph{full}: a server that gets this code waits until another text
has ended, so it must be able to recognize the case without parsing English. And there may be \emph{no choice}, if logits are not finite or the settings leave no token.
@^error@>

The sentence that comes with the code is for people. It names the call, says what was found, and what was wanted instead, as all messages in this book do.

@<What a failed call says@>=
enum incipit_code {
  INCIPIT_OK, /* nothing has failed */@/
  INCIPIT_MISUSE, /* the program has made a mistake */@/
  INCIPIT_INPUT, /* a file, a pattern, a template or a text is wrong */@/
  INCIPIT_MEMORY, /* memory was refused */@/
  INCIPIT_FULL, /* the context or the cache has no room */@/
  INCIPIT_NO_CHOICE /* no token can be chosen */@/
};
  /* why a call failed, for a program to act on */
struct incipit_error {
  int code; /* an |enum incipit_code| */
  char text[508]; /* one sentence in UTF-8 */
};
  /* why a call failed. The caller owns it, and it is written on failure only; in every call
     |why| may be |NULL|. Functions that return |bool| are true if all went well, those that
     return a pointer give |NULL| if not. A call that fails has changed nothing, unless its
     comment says so */
INCIPIT_API const char *incipit_version(void);
  /* the version of the library that is running; |INCIPIT_VERSION| is the header's */

@ A header must also say plainly which threads may call what. The rule here is short: a model may be used by any number of threads at once, and every other object by one thread at a time.
Two threads may each use a context of their own with the same model, and they get the same bits as if one had waited for the other.
@^threads@>

An object that needs another keeps it alive. You may close a model while contexts of it are open; its memory is freed with the last of them. One mistake cannot be caught, just as with |free| in C: using an object after it was closed.

@<The objects, and which threads may use them@>=
struct incipit_model;
  /* weights and a tokenizer, read-only: any number of threads at once */
struct incipit_context;
  /* a cache, its sequences, and workers; one thread at a time, and no call from its own
     callbacks; contexts in two threads give the bits that they give one by one. A process
     that was forked opens its own: one that was open before, with more than 1 thread,
     it can only close */
struct incipit_constraint;
  /* a regular expression or grammar; one thread at a time, together with all samplers
     that were opened with it */
struct incipit_sampler;
  /* how the next token of one text is chosen; one thread at a time */
struct incipit_stream;
  /* what may be shown of one text; one thread at a time */
struct incipit_chat;
  /* a conversation; one thread at a time, together with its context */

@ A model is opened from a directory, or from a GGUF file. If its settings have a field that the engine does not know, the model is refused, because the field may change what the model computes; a caller who knows that it does not can name the field in |ignore_field|. The weights are used as they lie in the file, unless |packed| is set. Texts are passed as bytes with a length, ids as arrays that the caller owns. The caller does not know beforehand how many ids a text will have, so |incipit_encode| and |incipit_decode| work
as |snprintf| does: they write what fits, and always say how many there are. A first call with no room at all tells how much to allocate for the second.

@<A model and its tokens@>=
struct incipit_model_options {
  size_t size; /* |sizeof| this structure, as in all options */
  const char *const *ignore_field; size_t n_ignore_field;
    /* names of unknown fields of the settings that may be ignored */
  bool packed; /* copy the weights, in an order that makes passes faster */
};
  /* how a model is opened */
INCIPIT_API struct incipit_model *incipit_model_open(const char *directory,
  const struct incipit_model_options *o, struct incipit_error *why);
  /* opens a directory in Hugging Face's layout, or a GGUF file; |NULL|: the built-in model,
     where |INCIPIT_MODEL| of the environment says or where \.{make install} has put it */
INCIPIT_API void incipit_model_close(struct incipit_model *m);
  /* freed with the last object that was opened with it; |NULL| does nothing */
INCIPIT_API uint32_t incipit_vocab_size(const struct incipit_model *m);
  /* how many ids there are, and logits in a row; 0 for |NULL|, as the next is */
INCIPIT_API uint32_t incipit_context_size(const struct incipit_model *m);
  /* how many tokens a sequence may have */
INCIPIT_API bool incipit_is_end(const struct incipit_model *m, uint32_t id);
  /* is it one of the ids that end a text? */
INCIPIT_API bool incipit_encode(const struct incipit_model *m,
  const char *text, size_t n, bool add_special, bool parse_special,
  uint32_t *id, size_t cap, size_t *n_ids, struct incipit_error *why);
  /* encodes |n| bytes: writes the first |cap| ids to |id|, and how many there are to
     |n_ids|. |add_special|: with the ids that the model's files put around a text;
     |parse_special|: the text of a special token becomes that token */
INCIPIT_API bool incipit_decode(const struct incipit_model *m, const uint32_t *id,
  size_t n, bool skip_special, char *text, size_t cap, size_t *n_bytes,
  struct incipit_error *why);
  /* decodes |n| ids: writes the first |cap| bytes to |text|, without a zero after them, and
     how many there are to |n_bytes| */

@ Options come in structures, and structures grow: next year there will be a field that today's programs do not know. How will an old program work with a new library?
A version number would do, but then both sides must know which version had which fields. We use the \emph{size} of the structure, as its first field. The library has a structure of its own with the defaults in it, and copies over it as many bytes as the caller
says there are; so a field that the caller does not know keeps its default. The other case is a new program with an old library. Then the bytes that the library does not know must be zero. If one is not, the program has asked for something
that the library would have to ignore, and the call is refused with a sentence. Linux does the same for structures in system calls.
@^versions@>@^Linux@>

A size of zero means that the program has cleared the structure and forgotten the size, so it is refused. In all other fields zero is the default, except in the options of a sampler, whose defaults come from the model; |incipit_sampler_defaults| fills them in.
|NULL| in the place of options means the defaults, so most programs need no structure at all.

@<A context, its sequences and its passes@>=
struct incipit_context_options {
  size_t size; /* of this structure */
  uint32_t n_sequences; /* the most that are open at once; 0: one */
  uint32_t threads; /* 0: as many as there are cores */
  size_t rows;
    /* that all sequences may have together, rounded up to pages of 64; 0: a context for each */
  const char *kv_type; /* how rows are kept: |"f16"|, \dots; |NULL|: |"f32"| */
  const char *kernels; /* by name; |NULL|: the fastest */
  uint32_t window; /* a row sees the last |window| rows, itself among them, */
  uint32_t sinks; /* and the first |sinks| of the text; both 0: as the model says */
  const char *activations; /* |"bf16"|, |"int8"|; |NULL|: as the weights are */
};
  /* all zero but |size| are the defaults, which |NULL| stands for as well */
INCIPIT_API struct incipit_context *incipit_context_open(struct incipit_model *m,
  const struct incipit_context_options *o, struct incipit_error *why);
  /* with all its sequences closed; |o| may be |NULL|, as everywhere */
INCIPIT_API void incipit_context_close(struct incipit_context *c);
  /* |NULL| does nothing, here and in every close */
struct incipit_report {
  uint64_t weight_bytes; /* of the weights, which all contexts share */
  uint64_t cache_bytes; /* of the cache */
  uint64_t cache_bytes_used; /* of its pages in use */
  uint64_t live_bytes; /* of the context and its cache, now */
  uint64_t peak_bytes; /* the same, at most so far */
  uint64_t passes; /* computed so far */
  uint64_t rows; /* of these passes */
  uint64_t rows_recomputed; /* rows that had been computed before */
};
  /* what a context has, and what it has done */
INCIPIT_API bool incipit_context_report(const struct incipit_context *c,
  struct incipit_report *r, size_t size, struct incipit_error *why);
  /* fills in |*r|, which has |size| bytes */
@#
@<Sequences@>@;
@#
@<Passes@>@;

@ A sequence is named by a number that the library gives out, its \emph{handle}. Half of the number is the sequence's place in the cache, and the other half counts how often that place was given out. So the number of a closed sequence is not mistaken for
that of the sequence which has its place now. No sequence has the number 0, so a row that was cleared and not filled in is refused as well.
@^sequence@>@^handle@>

@<Sequences@>=
INCIPIT_API bool incipit_sequence_open(struct incipit_context *c, uint32_t *sequence,
  struct incipit_error *why);
  /* opens an empty sequence; |INCIPIT_FULL| if all are open */
INCIPIT_API bool incipit_sequence_close(struct incipit_context *c, uint32_t sequence,
  struct incipit_error *why);
  /* forgets the rows, and the number, which is given out again after 65,534 others */
INCIPIT_API bool incipit_sequence_length(const struct incipit_context *c, uint32_t
  sequence, size_t *length, struct incipit_error *why);
  /* how many rows the sequence has, which is also the position of the next */
INCIPIT_API bool incipit_sequence_fork(struct incipit_context *c, uint32_t from,
  uint32_t *to, struct incipit_error *why);
  /* opens a sequence that is equal to |from| and shares its memory (copied on write) */
INCIPIT_API bool incipit_sequence_crop(struct incipit_context *c, uint32_t sequence,
  size_t length, struct incipit_error *why);
  /* forgets the rows from |length| on; with a window it may have to forget them all */
INCIPIT_API bool incipit_sequence_keep(struct incipit_context *c, uint32_t sequence,
  const uint32_t *id, size_t n, size_t *length, struct incipit_error *why);
  /* keeps the first rows, as far as their tokens agree with |id[n]|, and forgets the others;
     |*length| becomes the number of rows that are left */

@ A pass takes a list of rows, of one sequence or of many. It does not return logits: most rows of a prompt need none, and a row of logits is as long as the vocabulary.
You ask for them afterwards, for the rows that you choose.

A long list takes a long time, and the call cannot be interrupted. A program that may have to stop passes a long prompt in several pieces; the bits are the same.

@<Passes@>=
struct incipit_row {
  uint32_t sequence; /* an open one */
  uint32_t position; /* in the sequence, from 0 */
  uint32_t token; /* an id */
};
  /* a token to read */
INCIPIT_API bool incipit_forward(struct incipit_context *c, const struct incipit_row
  *rows, size_t n, struct incipit_error *why);
  /* puts |n| rows through the model; the rows of a sequence must come in the order of their
     positions, and go on from its length */
INCIPIT_API bool incipit_logits(struct incipit_context *c, const size_t *which, size_t
  n, float *logits, struct incipit_error *why);
  /* writes |logits[n][vocab_size]|: of the rows |which[n]|, counted from 0, of the latest
     pass that did not fail */

@ A constraint is compiled once and may be used for many texts. A sampler belongs to one text: it remembers the tokens, for the penalties, and how far the constraint has come. Choosing a token and accepting it are two calls (\cref{sec:sampler}). For example, a program that guesses several tokens ahead asks what would be chosen
at each place, and accepts only some of these tokens. A program that forks a sequence copies its sampler.
@^sampling@>@^constraint@>

@<A constraint and a sampler@>=
enum incipit_language {
  INCIPIT_REGEX, /* a regular expression */@/
  INCIPIT_GRAMMAR, /* a grammar with a rule \.{root} */@/
  INCIPIT_JSON /* any JSON object; no text is needed */@/
};
  /* what the text of a constraint is */
INCIPIT_API struct incipit_constraint *incipit_constraint_open(struct incipit_model *m,
  enum incipit_language language, const char *text, size_t n, struct incipit_error *why);
  /* compiles the |n| bytes of |text| for the vocabulary of |m| */
INCIPIT_API void incipit_constraint_close(struct incipit_constraint *c);
  /* its memory is freed with the last sampler that was opened with it */
@#
@<Samplers@>@;

@ The defaults of a sampler are what the model's makers suggest in \.{generation\_config.json}, and where they suggest nothing the likeliest token is taken. So |incipit_sampler_defaults| needs the model.

@<Samplers@>=
struct incipit_sampler_options {
  size_t size; /* of this structure */
  uint64_t seed; uint32_t sequence; /* of noise; the number of the text among others */
  double temperature; /* 0: the likeliest token */
  size_t top_k; double top_p, min_p, typical_p; /* 0, 1, 0, 1: no cut */
  double repetition_penalty, frequency_penalty, presence_penalty; /* 1, 0, 0: none */
  int64_t penalty_last_n; size_t no_repeat_ngram; /* $-1$: all; 0: none */
  const uint32_t *bias_id; const double *bias; size_t n_bias; /* added to logits */
  struct incipit_constraint *constraint; /* or |NULL| */
};
  /* the arrays are copied when a sampler is opened */
INCIPIT_API bool incipit_sampler_defaults(const struct incipit_model *m,
  struct incipit_sampler_options *o, size_t size, struct incipit_error *why);
  /* what the makers of the model suggest, or else the likeliest token */
INCIPIT_API struct incipit_sampler *incipit_sampler_open(struct incipit_model *m,
  const struct incipit_sampler_options *o, struct incipit_error *why);
  /* for a text of which there is nothing yet */
INCIPIT_API void incipit_sampler_close(struct incipit_sampler *s);
  /* returns its memory */
INCIPIT_API struct incipit_sampler *incipit_sampler_copy(const struct incipit_sampler
  *s, struct incipit_error *why);
  /* with the same text so far */
INCIPIT_API bool incipit_sampler_reset(struct incipit_sampler *s, const uint32_t *id,
  size_t n, size_t max_new_tokens, struct incipit_error *why);
  /* begins a text after the prompt |id[n]|; a constraint sees to it that the text can
     end within |max_new_tokens|, 0: as many as the model's context has room for */
INCIPIT_API bool incipit_sampler_apply(struct incipit_sampler *s, const float *logits,
  uint32_t *id, struct incipit_error *why);
  /* chooses by |logits[vocab_size]|; asked again it chooses the same */
INCIPIT_API bool incipit_sampler_accept(struct incipit_sampler *s, uint32_t id,
  struct incipit_error *why);
  /* appends |id| to the text, whether it was chosen or not */

@ A stream turns tokens into text that may be shown (\cref{sec:outflow}). It holds back an unfinished character, and the beginning of what may become a stop string. The bytes that it releases are borrowed: they are valid until the next call for the same stream.
@^streaming@>@^stop string@>

@<A stream@>=
struct incipit_piece {
  const char *text; size_t n; /* bytes that may now be shown, borrowed */
  const char *stop; /* the stop string that was met, or |NULL| */
};
  /* what a stream has released */
INCIPIT_API struct incipit_stream *incipit_stream_open(struct incipit_model *m, const
  char *const *stop, size_t n_stop, bool include_stop, struct incipit_error *why);
  /* |stop| has |n_stop| strings, perhaps none, which are copied; |include_stop|: the one that
     ends the text is shown */
INCIPIT_API void incipit_stream_close(struct incipit_stream *s);
  /* returns its memory, and with it the last piece */
INCIPIT_API bool incipit_stream_reset(struct incipit_stream *s, const uint32_t *id,
  size_t n, struct incipit_error *why);
  /* begins a new text after the prompt |id[n]|, which is not shown */
INCIPIT_API bool incipit_stream_push(struct incipit_stream *s, uint32_t id,
  struct incipit_piece *piece, struct incipit_error *why);
  /* takes a token; after a stop string further tokens are ignored */
INCIPIT_API bool incipit_stream_end(struct incipit_stream *s, struct incipit_piece
  *piece, struct incipit_error *why);
  /* releases what is held: no token will follow */

@ Most programs need no loop of their own. |incipit_generate| writes a whole text and has two callbacks: it calls |on_progress| while the prompt is being read, which may
take minutes, and |on_token| after each token. Either can end the text by returning false. |incipit_generate_many| does the same for many prompts at once, with one row of each in every pass, so that the weights are read once for all of them; \cref{phases}
has shown how much that saves. If there are more prompts than sequences, the others wait until a sequence is free.

@<A whole text, or many@>=
enum incipit_finish {
  INCIPIT_FINISH_END, /* the model chose an end token */@/
  INCIPIT_FINISH_STOP, /* a stop string was met */@/
  INCIPIT_FINISH_LENGTH, /* the limit was reached */@/
  INCIPIT_FINISH_MATCH, /* the constraint is met, and nothing may follow */@/
  INCIPIT_FINISH_CANCELLED /* a callback returned false */@/
};
  /* how a text ended */
struct incipit_token {
  size_t prompt; /* after which prompt of the call, from 0 */
  size_t number; /* of the token in its text, from 1 */
  uint32_t id;
  const char *text; size_t n;
    /* bytes that may now be shown, borrowed until the callback returns */
};
  /* a token that has been written */
typedef bool incipit_on_token(void *ctx, const struct incipit_token *now);
  /* false ends this text */
typedef bool incipit_on_progress(void *ctx, size_t rows, size_t all);
  /* |rows| rows of the prompts have been read, of |all|. It is called inside a pass as well,
     where the number may be an estimate and need not grow; false ends all texts */
struct incipit_generate_options {
  size_t size; /* of this structure */
  size_t max_new_tokens; /* 0: until the context is full */
  size_t min_new_tokens; /* until then no end token and no stop string ends the text */
  size_t chunk; /* rows of a prompt in one pass; 0: 256 */
  const char *const *stop; size_t n_stop; /* strings that end a text */
  bool include_stop; /* show the one that does */
  bool ignore_end; /* end tokens end nothing */
  const struct incipit_sampler *sampler; /* copied for each text, |sequence| $+i$ */
  const uint32_t *sequence; /* |NULL|, or an open one for each prompt: rows that agree
    with it are kept, and the new ones stay, even if the call fails */
  incipit_on_token *on_token; /* called after each token, or |NULL| */
  incipit_on_progress *on_progress; /* called while prompts are read, or |NULL| */
  void *ctx; /* the first argument of both */
};
  /* all zero but |size| are the defaults: the makers' sampler, the cache, no callback */
struct incipit_prompt { const uint32_t *id; size_t n; };
  /* the ids of a prompt, at least one */
struct incipit_result {
  const char *text; size_t n; /* without the prompt; a zero follows the |n| bytes */
  const uint32_t *id; size_t n_ids; /* its tokens, with the one that ended it */
  int finish; /* an |enum incipit_finish| */
  const char *stop; /* the stop string that ended it, or |NULL| */
};
  /* a text that was written; fields may be added at the end */
INCIPIT_API struct incipit_result *incipit_generate(struct incipit_context *c,
  const uint32_t *id, size_t n, const struct incipit_generate_options *o,
  struct incipit_error *why);
  /* writes a text after |id[n]|; the caller owns the result, and gets one for a cancelled text
     as well */
INCIPIT_API bool incipit_generate_many(struct incipit_context *c, const struct
  incipit_prompt *prompt, size_t n, const struct incipit_generate_options *o, struct
  incipit_result **result, struct incipit_error *why);
  /* writes |result[n]|: the same texts as one by one; on failure all are |NULL| */
INCIPIT_API void incipit_result_close(struct incipit_result *r);
  /* returns its memory */

@ A program could hold a conversation with what we have: format the turns with the template, encode, generate, and keep the sequence. But then it encodes the words of the answer again, and they may become other tokens than those that the model wrote.
The rows in the cache would no longer fit. So |incipit_chat| keeps the ids themselves, as the command does. A program with a loop of its own, which only wants the ids of a conversation, calls |incipit_chat_encode|.
@^conversation@>

@<A conversation@>=
enum incipit_role { INCIPIT_SYSTEM, INCIPIT_USER, INCIPIT_ASSISTANT };
  /* who says something */
struct incipit_message {
  int role; /* an |enum incipit_role| */
  const char *text; size_t n; /* what is said, |n| bytes */
};
  /* a turn of a conversation */
INCIPIT_API bool incipit_chat_encode(const struct incipit_model *m,
  const char *style, const struct incipit_message *message, size_t n, bool reply,
  uint32_t *id, size_t cap, size_t *n_ids, struct incipit_error *why);
  /* as |incipit_encode|, but of |n| messages, at least one, in the chat template |style|, or
     |NULL| for the model's; |reply|: followed by what asks for an answer */
INCIPIT_API struct incipit_chat *incipit_chat_open(struct incipit_context *c, const
  char *style, const char *system, struct incipit_error *why);
  /* takes a sequence of |c|; |system|: what the system says, or |NULL| */
INCIPIT_API void incipit_chat_close(struct incipit_chat *t);
  /* closes its sequence as well */
INCIPIT_API struct incipit_result *incipit_chat_say(struct incipit_chat *t, const char
  *text, size_t n, const struct incipit_generate_options *o, struct incipit_error
  *why);
  /* the answer to |n| bytes, without blanks before it; |o->sequence| must be |NULL|. On
     failure nothing has been said: with |INCIPIT_FULL| reset it, or say less */
INCIPIT_API bool incipit_chat_reset(struct incipit_chat *t, struct incipit_error *why);
  /* forgets all but what the system said */

@* Errors and options. \label{sec:outside-errors}
The rest of the chapter is the code that the header hides. Its modules share a private header, |"library.h"|, which defines the opaque structures and declares a few functions whose names begin with \.{library\_}. It is not installed, and none of its names can be seen from outside.

The functions of the chapters fail with a sentence and no code. The code is added here, where we know what the caller wanted. Only one question remains: was memory refused, somewhere deep inside, or did something else go wrong? The |struct memory| in which every block is entered (\cref{sec:memory}) counts refusals. So we look at
that count before the call and after it.
@^error@>

@<What the parts share@>=
bool library_fail(struct incipit_error *why, enum incipit_code code,
  const char *format, ...) __attribute__((format(printf, 3, 4)));
  /* writes code and sentence; always false; |why| may be null */
bool library_given(const void *p, const char *call, const char *what,
  struct incipit_error *why);
  /* false, and a sentence that names the call and what is missing, if |p| is null */
bool library_strings(const char *const *list, size_t n, const char *call,
  const char *what, struct incipit_error *why);
  /* the same for a list of |n| strings, and for each of them */
struct attempt { struct error why; const struct memory *m, *also; uint64_t refused; };
  /* a call of the chapters that is going to be made with the memory |m|, and perhaps
     with that of another object */
struct attempt attempt_begin(const struct memory *m);
  /* notes how many requests have been refused so far */
bool attempt_end(const struct attempt *a, bool ok, enum incipit_code code,
  struct incipit_error *why);
  /* |ok|; if that is false, the sentence of |a| goes to |why|, with |code| or, if
     memory has been refused since, with |INCIPIT_MEMORY| */

@ A sentence that is too long is cut. |struct incipit_error| is larger than |struct error|, so the sentences of the chapters always fit.

@<Fail with a code and a sentence@>=
/* always false, so that a caller can return it; |why| may be null in every call of the header */
bool library_fail(struct incipit_error *why, enum incipit_code code,
  const char *format, ...)
{
  va_list list;
  if (why == NULL) return false;
  why->code = (int) code;
  va_start(list, format);
  vsnprintf(why->text, sizeof why->text, format, list);
  va_end(list);
  return false;
}
@#
bool library_given(const void *p, const char *call, const char *what,
  struct incipit_error *why)
{
  return p != NULL || library_fail(why, INCIPIT_MISUSE,
    "%s: %s is NULL; wanted: a pointer", call, what);
}
@#
bool library_strings(const char *const *list, size_t n, const char *call,
  const char *what, struct incipit_error *why)
{
  if (n > 0 && !library_given(list, call, what, why)) return false;
  for (size_t i = 0; i < n; i++)
    if (list[i] == NULL) return library_fail(why, INCIPIT_MISUSE,
      "%s: %s[%zu] is NULL; wanted: a string", call, what, i);
  return true;
}

@ A sampler that has a constraint charges two objects with what it allocates, itself and the constraint, so an attempt may look at two counts.

@<Fail with a code and a sentence@>=
/* Was it memory? The chapters report a failure in words alone, so we compare how many requests
   have been refused before and after. */
static uint64_t refused_in(const struct attempt *a)
{ return a->m->all.refused + (a->also == NULL ? 0 : a->also->all.refused); }
struct attempt attempt_begin(const struct memory *m)
{
  struct attempt a = @[{ .m = m, .refused = m->all.refused }@];
  return a;
}
@#
bool attempt_end(const struct attempt *a, bool ok, enum incipit_code code,
  struct incipit_error *why)
{
  if (ok) return true;
  bool refused = refused_in(a) > a->refused;
  return library_fail(why, refused ? INCIPIT_MEMORY : code, "%s", a->why.text);
}
  /* a refused request comes before the caller's code: what failed for want of memory says nothing
     about the input */

@ A |struct memory| may be used by one thread at a time, so each object has its own. It is the first field of the object, and the object is the first block that is entered in it. So while the object is being allocated the |struct memory| must be somewhere else,
and before the object is freed it has to be copied out.
@^memory@>

@<What the parts share@>=
void *library_new(size_t size, struct incipit_error *why);
  /* an object of |size| bytes, zeroed, which begins with its |struct memory|; null and
     a sentence */
void library_delete(void *object);
    /* frees it; everything else in its |struct memory| must have been freed */

@ It is copied in and out as bytes, since these two functions know only the size of an object, and that it begins with a |struct memory|.

@<Make an object that begins with its book@>=
void *library_new(size_t size, struct incipit_error *why)
{
  struct memory book = @[{ .fail_at = 0 }@];
  struct attempt a = attempt_begin(&book);
  void *p = memory_alloc(&book, MEMORY_OTHER, 1, size, &a.why);
  if (attempt_end(&a, p != NULL, INCIPIT_MEMORY, why))
    memcpy(p, &book, sizeof book);
  return p;
}
@#
void library_delete(void *object)
{
  struct memory book;
  memcpy(&book, object, sizeof book);
  memory_free(&book, object);
}

@ Options are copied over the defaults, as many bytes as the caller's structure has. All four structures begin with their size, so one function serves them all.

@<What the parts share@>=
bool library_options(void *mine, size_t size, const void *theirs, const char *call,
  struct incipit_error *why);
  /* copies the caller's options, null for none, over the defaults |mine| of |size|
          bytes; errors: a size that is smaller, or a larger one with bytes beyond |size| that
     are not 0 */
bool library_size(const void *p, size_t size, size_t mine, const char *call,
  struct incipit_error *why);
  /* whether |p| is given and |size|, of the caller's structure, is at least |mine| */

@ At present there is one version, and its size is the smallest that is accepted. When a field is added, |size| grows, and the smallest accepted size stays what it is.

@<Take the options of a caller@>=
/* |mine| has the defaults, and what the caller has goes over it. A newer program gives more bytes than
   we know, and these must be 0, or it has asked for something that we would ignore. The bound
   keeps a size that was never set from reading far. */
bool library_options(void *mine, size_t size, const void *theirs, const char *call,
  struct incipit_error *why)
{
  size_t n;
  const unsigned char *byte = theirs;
  if (theirs == NULL) return true;
  memcpy(&n, theirs, sizeof n);
  if (n < size) return library_fail(why, INCIPIT_MISUSE, "%s: the size of the"
    " options is %zu; wanted: %zu, the sizeof of the structure",
    call, n, size);
  for (size_t i = size; i < n && n < 4096; i++)
    if (byte[i] != 0) return library_fail(why, INCIPIT_MISUSE, "%s: byte %zu of the"
      " options is set; wanted: 0, for this library knows only %zu", call, i, size);
  if (n >= 4096) return library_fail(why, INCIPIT_MISUSE,
    "%s: the size of the options is %zu; wanted: below 4096", call, n);
  memcpy(mine, theirs, size);
  memcpy(mine, &size, sizeof size);
  return true;
}

@ A structure that the library fills in, with defaults or with a report, has its size as an argument instead. If it is larger than the one that the library knows, the rest is cleared.

@<Take the options of a caller@>=
bool library_size(const void *p, size_t size, size_t mine, const char *call,
  struct incipit_error *why)
{
  if (!library_given(p, call, "the structure", why)) return false;
  return (size >= mine && size < 4096) || library_fail(why, INCIPIT_MISUSE,
    "%s: the size is %zu; wanted: %zu, the sizeof of the structure", call, size, mine);
}

@* Models and texts. \label{sec:outside-models}
A model may be used by many threads, and almost all of it is only read. Two things change, and a lock protects them: the number of objects that need the model, and the vocabulary in the order that constraints want, which is made when the first constraint asks for it.
@^lock@>@^threads@>

@<The inside of a model@>=
struct incipit_model {
  struct memory m; /* first, in each of these: |library_new| */
  pthread_mutex_t lock; /* for |users|, |lexicon| and, once it is open, |m| */
  size_t users; /* the caller and the objects that were opened with it */
  struct model *lm;
  struct tokenizer *t; /* or null, and then |unspelt| says why */
  struct error unspelt;
  struct prepared_weights *prepared; /* null: as in the file */
  struct lexicon *lexicon; /* null until the first constraint is opened */
  bool built_in;
  char path[PATH_CAP];
};
  /* the model, its tokenizer, and where they came from */
void library_hold(struct incipit_model *m);
  /* one more object needs the model */
bool library_spells(const struct incipit_model *m, const char *call,
  struct incipit_error *why);
  /* whether the model is given and has a tokenizer */
bool library_ids(const struct incipit_model *m, const uint32_t *id, size_t n,
  const char *call, struct incipit_error *why);
  /* whether the |n| ids are given and all below the size of the vocabulary */
bool library_copy(const struct ids *list, uint32_t *id, size_t cap, size_t *n_ids);
  /* the first |cap| ids to |id|, and how many there are; true */
const char *library_place(void);
  /* where \.{make install} puts the built-in model */

@ The tokenizer may be missing, or of a kind that we do not know. Then the functions that take ids work, and those that need text say what is missing. A tokenizer that exists but is broken is an error.

@<Open a model@>=
/* A model without a tokenizer may be opened: ids go in and out. But for want of memory a
   tokenizer may seem to be missing, so refusals are looked at as well. */
static bool open_tokenizer(struct incipit_model *x, struct error *why)
{
  enum tokenizer_found found = tokenizer_try(&x->m, x->path, &x->t, &x->unspelt);
  size_t has = found == TOKENIZER_OPEN ? tokenizer_vocab_size(x->t) : 0;
  if (found == TOKENIZER_REFUSED || (x->t == NULL && x->m.all.refused > 0))
    return error_say(why, "%s", x->unspelt.text);
  return has <= x->lm->config.vocab_size || error_say(why, "%s: the tokenizer's"
    " largest id is %zu; wanted: less than %u, the vocab_size of the model",
    x->path, has - 1, (unsigned) x->lm->config.vocab_size);
}

@ Packed weights (\cref{sec:prepared11}) are made for the fastest kernels and the usual activations. They belong to the model, so all its contexts share them. A context that was asked for other kernels or activations uses the weights in the file.

@<Open a model@>=
static bool pack_weights(struct incipit_model *x, struct error *why)
{
  x->prepared = model_prepare(&x->m, kernels_find(NULL, why),
    ACTIVATIONS_DEFAULT, x->lm, why);
  return x->prepared != NULL;
}

@ The directory is the one that the caller has named, or that of the built-in model. A fault in it is an error of input.

@<Open a model@>=
/* the environment is read when a model is opened, and nowhere else */
static bool open_files(struct incipit_model *x, const char *directory,
  const struct incipit_model_options *o, struct error *why)
{
  const char *named = getenv("INCIPIT_MODEL");
  struct model_open_options want = @[{ .fields = { .ignore = o->ignore_field,@|
    .n_ignore = o->n_ignore_field } }@];
  x->built_in = directory == NULL;
  if (directory == NULL)
    directory = named != NULL && *named != '\0' ? named : library_place();
  if (*directory == '\0')
    return error_say(why, "the directory has no name; wanted: that of a model");
  if (!path_beside(x->path, "", directory, why)) return false;
  x->lm = model_open_with(&x->m, x->path, &want, why);
  return x->lm != NULL && open_tokenizer(x, why)
    && (!o->packed || pack_weights(x, why));
}

@ Every object of the library is opened in this way: it is allocated and gets its first user, the caller; then its parts are opened within an attempt; and if that fails, the object is closed by its own function, which accepts that parts are null.

@<Open a model@>=
/* |users| is 1 before anything can fail, so that closing a half-open model frees it */
struct incipit_model *incipit_model_open(const char *directory,
  const struct incipit_model_options *o, struct incipit_error *why)
{
  struct incipit_model_options mine = @[{ .size = sizeof mine }@];
  if (!library_options(&mine, sizeof mine, o, __func__, why)
      || !library_strings(mine.ignore_field, mine.n_ignore_field, __func__,
        "ignore_field", why)) return NULL;
  struct incipit_model *x = library_new(sizeof *x, why);
  if (x == NULL) return NULL;
  pthread_mutex_init(&x->lock, NULL);
  x->users = 1;
  struct attempt a = attempt_begin(&x->m);
  struct float_modes modes;
  float_modes_begin(&modes);
  bool ok = open_files(x, directory, &mine, &a.why);
  float_modes_end(&modes);
  if (attempt_end(&a, ok, INCIPIT_INPUT, why)) return x;
  incipit_model_close(x);
  return NULL;
}

@ The model is freed when the last of its users closes it. The caller is one of them, and each object that was opened with it is another; so an object, too, gives up its model by this function.

@<Let go of a model@>=
void library_hold(struct incipit_model *m)
{
  pthread_mutex_lock(&m->lock);
  m->users++;
  pthread_mutex_unlock(&m->lock);
}
@#
void incipit_model_close(struct incipit_model *m)
{
  if (m == NULL) return;
  pthread_mutex_lock(&m->lock);
  bool last = --m->users == 0;
  pthread_mutex_unlock(&m->lock);
  if (!last) return;
  lexicon_close(m->lexicon);
  tokenizer_close(&m->m, m->t);
  prepared_close(&m->m, m->prepared);
  model_close(&m->m, m->lm);
  pthread_mutex_destroy(&m->lock);
  library_delete(m);
}
  /* The lock is left before the model is freed: the last user has it for itself. */

@ These three functions have no argument for an error. For |NULL| they return 0 and false.

@<Answer small questions about a model@>=
uint32_t incipit_vocab_size(const struct incipit_model *m)
{ return m == NULL ? 0 : m->lm->config.vocab_size; }
uint32_t incipit_context_size(const struct incipit_model *m)
{ return m == NULL ? 0 : m->lm->config.n_positions; }
bool incipit_is_end(const struct incipit_model *m, uint32_t id)
{
  for (uint32_t i = 0; m != NULL && i < m->lm->config.n_eos; i++)
    if (m->lm->config.eos[i] == id) return true;
  return false;
}

@ Two checks are needed nearly everywhere: that there is a tokenizer, where a call has to do with text, and that every id is one of this vocabulary. An id that is too large comes from another model or from a variable that was never set, so the sentence says which one it was.

@<Check what a text is made of@>=
bool library_spells(const struct incipit_model *m, const char *call,
  struct incipit_error *why)
{
  if (!library_given(m, call, "the model", why)) return false;
  return m->t != NULL || library_fail(why, INCIPIT_INPUT,
    "%s: %s; wanted: a tokenizer, for this is about a text", call, m->unspelt.text);
}
@#
bool library_ids(const struct incipit_model *m, const uint32_t *id, size_t n,
  const char *call, struct incipit_error *why)
{
  if (n > 0 && !library_given(id, call, "the list of ids", why)) return false;
  for (size_t i = 0; i < n; i++)
    if (id[i] >= m->lm->config.vocab_size) return library_fail(why, INCIPIT_MISUSE,
      "%s: id %zu of the list is %u; wanted: below %u, the size of the vocabulary",
      call, i, (unsigned) id[i], (unsigned) m->lm->config.vocab_size);
  return true;
}

@ Encoding takes its memory from a |struct memory| that lives as long as the call, so any number of threads may encode at once.

@<Encode and decode@>=
/* A book of its own for each call and not the model's, because many threads may encode at once. */
bool incipit_encode(const struct incipit_model *m, const char *text, size_t n,
  bool add_special, bool parse_special, uint32_t *id, size_t cap, size_t *n_ids,
  struct incipit_error *why)
{
  struct memory book = @[{ .fail_at = 0 }@];
  struct ids list = { NULL, 0, 0 };
  if (!library_spells(m, __func__, why)
      || !library_given(n_ids, __func__, "n_ids", why)
      || (n > 0 && !library_given(text, __func__, "the text", why))
      || (cap > 0 && !library_given(id, __func__, "the room for ids", why)))
    return false;
  struct attempt a = attempt_begin(&book);
  bool ok = tokenizer_encode(m->t, &book, n > 0 ? text : "", n, add_special,
    parse_special, &list, &a.why) && library_copy(&list, id, cap, n_ids);
  ids_free(&book, &list);
  return attempt_end(&a, ok, INCIPIT_INPUT, why);
}

@ Both directions end in the same way: the caller gets what fits into the array, and how many there are in all.

@<Encode and decode@>=
/* as |snprintf|: the whole number is said even if not all fit */
bool library_copy(const struct ids *list, uint32_t *id, size_t cap, size_t *n_ids)
{
  *n_ids = list->n;
  if (cap > list->n) cap = list->n;
  if (cap > 0) memcpy(id, list->id, cap * sizeof *id);
  return true;
}

@ Decoding, too, changes nothing in the model and needs no lock.

@<Encode and decode@>=
bool incipit_decode(const struct incipit_model *m, const uint32_t *id, size_t n,
  bool skip_special, char *text, size_t cap, size_t *n_bytes,
  struct incipit_error *why)
{
  struct memory book = @[{ .fail_at = 0 }@];
  struct bytes out = { NULL, 0, 0 };
  if (!library_spells(m, __func__, why) || !library_ids(m, id, n, __func__, why)
      || !library_given(n_bytes, __func__, "n_bytes", why)
      || (cap > 0 && !library_given(text, __func__, "the room for bytes", why)))
    return false;
  struct attempt a = attempt_begin(&book);
  bool ok = tokenizer_decode(m->t, &book, id, n, skip_special, &out, &a.why);
  if (ok) *n_bytes = out.n;
  if (ok && out.n > 0 && cap > 0)
    memcpy(text, out.byte, cap < out.n ? cap : out.n);
  bytes_free(&book, &out);
  return attempt_end(&a, ok, INCIPIT_INPUT, why);
}

@ Where is the built-in model? That is decided when the library is installed, after it has been compiled. So one small file has the answer, and the Makefile compiles this file again for each place of installation.

@(place.c@>=
/* where the built-in model was installed: a file of its own, since it is compiled again for
   each place */
#include "library/library.h"
#ifndef INCIPIT_PREFIX
#define INCIPIT_PREFIX "/usr/local"
#endif
@;@#
const char *library_place(void)
{ return INCIPIT_PREFIX "/share/incipit/models/pocket"; }

@* Contexts. \label{sec:outside-contexts}
A context has what \cref{model} calls an engine (kernels, workers and counters) and the cache of \cref{cache}. It also knows which sequences are open, and keeps the latest pass for |incipit_logits|. While it writes a text it is marked as busy, so that a callback which calls it again is refused
instead of spoiling the pass.

@<The inside of a context@>=
struct kv_place { uint16_t times; bool open; size_t next; };
  /* of a sequence in the cache: how often it was given out; whether it is now; in
     |incipit_forward|, the position that comes next */
struct incipit_context {
  struct memory m;
  size_t users; /* the caller, and its chats */
  struct incipit_model *model;
  struct counters counters;
  struct engine e;
  struct store *s;
  struct pass *last; /* the latest, or null */
  struct kv_place *place; /* [|n_places|] */
  uint32_t n_places;
  bool busy; /* a text is being written, and a callback may be running */
};
  /* a context */
bool library_idle(const struct incipit_context *c, const char *call,
  struct incipit_error *why);
  /* whether it is given, and not at work */
bool library_sequence(const struct incipit_context *c, uint32_t sequence,
  const char *call, uint32_t *place, struct incipit_error *why);
  /* the place of an open sequence */
bool library_take_place(struct incipit_context *c, uint32_t *place);
  /* a place that is free; false if there is none */
void library_leave_place(struct incipit_context *c, uint32_t place);
  /* forgets its rows, and makes it free */
void library_return_place(struct incipit_context *c, uint32_t place);
  /* the same, as if it had not been taken */
struct generate_context library_loop(struct incipit_context *c);
  /* what the loop of chapter 3 needs */

@ The upper half of a sequence's number says how many times its place was given out, and the lower half is the place. The count goes from 1 to |UINT16_MAX| and then from 1 again, so no number is 0.

@<Name a sequence@>=
static uint32_t name_of(const struct incipit_context *c, uint32_t place)
{ return (uint32_t) c->place[place].times << 16 | place; }
@#
bool library_sequence(const struct incipit_context *c, uint32_t sequence,
  const char *call, uint32_t *place, struct incipit_error *why)
{
  *place = sequence & 0xffff;
  if (*place >= c->n_places || sequence >> 16 == 0)
    return library_fail(why, INCIPIT_MISUSE, "%s: no sequence of this context has"
      " the number %u; wanted: one that it gave", call, (unsigned) sequence);
  return (c->place[*place].open && name_of(c, *place) == sequence)
    || library_fail(why, INCIPIT_MISUSE, "%s: sequence %u is closed; wanted: an open"
      " one", call, (unsigned) sequence);
}
  /* the place is written to even if the answer is no; no caller uses it then */
@#
bool library_idle(const struct incipit_context *c, const char *call,
  struct incipit_error *why)
{
  if (!library_given(c, call, "the context", why)) return false;
  if (c->busy) return library_fail(why, INCIPIT_MISUSE, "%s: the context is writing a"
    " text; wanted: a call from outside its callbacks", call);
  return pool_alive(c->e.pool) || library_fail(why, INCIPIT_MISUSE, "%s: the context"@|
    " was opened before a fork, and its threads"@| " are in the other process; wanted: a"@|
    " context that was opened in this one, or one of 1 thread", call);
}
  /* After a fork the workers' threads are in the other process, and waiting for them would never
     end. */

@ The first free place is taken. There are few places, and looking through a few dozen of them takes no time beside a pass. When a place is left, its rows are forgotten at once, so that their pages are free for other sequences. A place whose number nobody has seen, because a fork was refused or the place was only for a text, is returned with its number.

@<Name a sequence@>=
/* the counter skips 0 when it wraps */
bool library_take_place(struct incipit_context *c, uint32_t *place)
{
  for (*place = 0; *place < c->n_places; ++*place) {
    struct kv_place *p = &c->place[*place];
    if (p->open) continue;
    p->open = true;
    if (++p->times == 0) p->times = 1;
    return true;
  }
  return false;
}
@#
void library_leave_place(struct incipit_context *c, uint32_t place)
{
  store_crop(c->s, place, 0);
  c->place[place].open = false;
}
@#
void library_return_place(struct incipit_context *c, uint32_t place)
{
  library_leave_place(c, place);
  c->place[place].times--;
}
  /* for a place that no caller has heard of: its number has not been used up */
@#
struct generate_context library_loop(struct incipit_context *c)
{
  struct generate_context with = { &c->e, c->model->lm, c->s, &c->m };
  return with;
}

@ The lower half of a sequence's number has room for |UINT16_MAX| places. The limit for threads is far beyond any use; it is there for a number that was never set. A program that opens contexts in several threads will want to set |threads| to 1, since each context has workers of its own.

@<Open and close a context@>=
static bool options_fit(const struct incipit_context_options *o, const char *call,
  struct incipit_error *why)
{
  if (o->n_sequences > 65535) return library_fail(why, INCIPIT_MISUSE,
    "%s: n_sequences is %u; wanted: at most 65535", call, (unsigned) o->n_sequences);
  return o->threads <= 1024 || library_fail(why, INCIPIT_MISUSE, "%s: threads is"
    " %u; wanted: at most 1024, or 0 for the cores", call, (unsigned) o->threads);
}

@ A sliding window belongs to the context and not to the model, which other contexts may be using. It is an option of the cache, as are the format of keys and values and the largest number of rows. The format of activations is the engine's (\cref{model/quantization}).

@<Open and close a context@>=
/* From the cheap to the expensive, and the workers last: a thread is only started when nothing
   else can fail. */
static bool open_cache(struct incipit_context *c,
  const struct incipit_context_options *o, struct error *why)
{
  struct cache_options want = @[{ .rows = o->rows, .window = o->window,@|
    .sinks = o->sinks, .set_window = o->window > 0 || o->sinks > 0 }@];
  if (o->kv_type != NULL && (want.format = format_find(o->kv_type, why)) == NULL)
    return false;
  c->e.k = kernels_find(o->kernels, why);
  if (c->e.k == NULL || !kernels_self_test(c->e.k, why)) return false;
  if (o->activations != NULL
      && !activations_find(o->activations, &c->e.activations, why)) return false;
  if (!kernels_check_activations(c->e.k, c->e.activations,
      c->model->lm->matrix_types, tensor_file_path(c->model->lm->weights), why))
    return false;
  c->e.c = &c->counters, c->e.prepared = c->model->prepared;
  c->n_places = o->n_sequences > 0 ? o->n_sequences : 1;
  c->place = memory_alloc(&c->m, MEMORY_OTHER, c->n_places, sizeof *c->place, why);
  return c->place != NULL
    && (c->s = cache_open(&c->m, &c->model->lm->config, c->n_places, &want,
      why)) != NULL
    && (c->e.pool = pool_open(&c->m, o->threads > 0 ? o->threads : pool_cores(),
      why)) != NULL;
}

@ The context becomes a user of its model as soon as it has a pointer to it, so closing is right at any later point of the opening.

@<Open and close a context@>=
/* the model is held before anything else, for |incipit_context_close| lets go of it */
struct incipit_context *incipit_context_open(struct incipit_model *m,
  const struct incipit_context_options *o, struct incipit_error *why)
{
  struct incipit_context_options mine = @[{ .size = sizeof mine }@];
  if (!library_given(m, __func__, "the model", why)
      || !library_options(&mine, sizeof mine, o, __func__, why)
      || !options_fit(&mine, __func__, why)) return NULL;
  struct incipit_context *c = library_new(sizeof *c, why);
  if (c == NULL) return NULL;
  c->users = 1, c->model = m;
  library_hold(m);
  struct attempt a = attempt_begin(&c->m);
  if (attempt_end(&a, open_cache(c, &mine, &a.why), INCIPIT_INPUT, why)) return c;
  incipit_context_close(c);
  return NULL;
}

@ A busy context is not closed: the call must come from one of its own callbacks, and after its return the loop would use memory that was freed. Otherwise the context is freed when the last of its users closes it.

@<Open and close a context@>=
/* From its own callback a context cannot be closed; a chat keeps it as a user. The order is
   that of need: the pass and the workers use the store. */
void incipit_context_close(struct incipit_context *c)
{
  if (c == NULL || c->busy || --c->users > 0) return;
  pass_close(c->last);
  pool_close(&c->m, c->e.pool);
  store_close(c->s);
  memory_free(&c->m, c->place);
  incipit_model_close(c->model);
  library_delete(c);
}

@ The report collects its numbers from four places: the model's files, the cache, the context's |struct memory|, and the counters.

@<Report what a context has and has done@>=
/* A newer program's structure may be longer than ours: the rest becomes 0. */
bool incipit_context_report(const struct incipit_context *c,
  struct incipit_report *r, size_t size, struct incipit_error *why)
{
  if (!library_given(c, __func__, "the context", why)
      || !library_size(r, size, sizeof *r, __func__, why)) return false;
  struct cache_state state = cache_look(c->s);
  struct incipit_report mine = @[{@|
    .weight_bytes = footprint_weights(c->model->lm),@|
    .cache_bytes = state.bytes, .cache_bytes_used = state.bytes_used,@|
    .live_bytes = c->m.all.live, .peak_bytes = c->m.all.peak,@|
    .passes = c->counters.passes, .rows = c->counters.rows,@|
    .rows_recomputed = c->counters.kv_rows_recomputed }@];
  memset(r, 0, size);
  memcpy(r, &mine, sizeof mine);
  return true;
}

@ The functions about sequences are short, since \cref{cache} has done the work.

@<Open, close and change sequences@>=
static bool no_place(const struct incipit_context *c, const char *call,
  struct incipit_error *why)
{
  return library_fail(why, INCIPIT_FULL, "%s: all %u sequences of the context are"
    " open; wanted: one that is closed", call, (unsigned) c->n_places);
}
@#
bool incipit_sequence_open(struct incipit_context *c, uint32_t *sequence,
  struct incipit_error *why)
{
  uint32_t place;
  if (!library_idle(c, __func__, why)
      || !library_given(sequence, __func__, "sequence", why)) return false;
  if (!library_take_place(c, &place)) return no_place(c, __func__, why);
  *sequence = name_of(c, place);
  return true;
}

@ Closing a sequence twice is a misuse like any other: its number is no longer that of an open one.

@<Open, close and change sequences@>=
bool incipit_sequence_close(struct incipit_context *c, uint32_t sequence,
  struct incipit_error *why)
{
  uint32_t place;
  if (!library_idle(c, __func__, why)
      || !library_sequence(c, sequence, __func__, &place, why)) return false;
  library_leave_place(c, place);
  return true;
}

@ Asking for the length changes nothing, so it is allowed at any time, even from a callback. A fork takes a place first and gives it back if the cache cannot share its pages.

@<Open, close and change sequences@>=
bool incipit_sequence_length(const struct incipit_context *c, uint32_t sequence,
  size_t *length, struct incipit_error *why)
{
  uint32_t place;
  if (!library_given(c, __func__, "the context", why)
      || !library_given(length, __func__, "length", why)
      || !library_sequence(c, sequence, __func__, &place, why)) return false;
  *length = store_length(c->s, place);
  return true;
}
@#
bool incipit_sequence_fork(struct incipit_context *c, uint32_t from, uint32_t *to,
  struct incipit_error *why)
{
  uint32_t old, place;
  if (!library_idle(c, __func__, why) || !library_given(to, __func__, "to", why)
      || !library_sequence(c, from, __func__, &old, why)) return false;
  if (!library_take_place(c, &place)) return no_place(c, __func__, why);
  struct attempt a = attempt_begin(&c->m);
  bool ok = store_fork(c->s, old, place, &a.why);
  if (ok) *to = name_of(c, place);
  else library_return_place(c, place);
  return attempt_end(&a, ok, INCIPIT_MISUSE, why);
}
  /* if the fork fails, the place goes back as if it had never been taken */

@ Cropping forgets the rows from some position on; keeping crops to what agrees with a list of ids. A length beyond the end is refused, because there are no rows that it could mean.

@<Open, close and change sequences@>=
bool incipit_sequence_crop(struct incipit_context *c, uint32_t sequence,
  size_t length, struct incipit_error *why)
{
  uint32_t place;
  if (!library_idle(c, __func__, why)
      || !library_sequence(c, sequence, __func__, &place, why)) return false;
  size_t has = store_length(c->s, place);
  if (length > has) return library_fail(why, INCIPIT_MISUSE, "%s: the sequence has"
    " %zu rows; wanted: a length of at most that, and not %zu", __func__, has, length);
  store_crop(c->s, place, length);
  return true;
}
@#
bool incipit_sequence_keep(struct incipit_context *c, uint32_t sequence,
  const uint32_t *id, size_t n, size_t *length, struct incipit_error *why)
{
  uint32_t place;
  if (!library_idle(c, __func__, why)
      || !library_given(length, __func__, "length", why)
      || !library_sequence(c, sequence, __func__, &place, why)
      || !library_ids(c->model, id, n, __func__, why)) return false;
  *length = store_match_prefix(c->s, place, id, n);
  return true;
}

@ Before a pass we check the rows ourselves, although the store would do so too, because the store's sentences speak of places and the caller knows the numbers of sequences. After these checks the store can refuse the pass only because it is full or because memory is refused, so the code is known.

@<Compute a pass@>=
/* The store would take rows in any order; a caller who gives them in another has most likely
   miscounted, so they must be in order here. |next| counts on as rows are taken. */
static bool take_row(struct incipit_context *c, const struct incipit_row *from,
  size_t i, struct row *to, struct incipit_error *why)
{
  static const char *const call = "incipit_forward";
  if (!library_sequence(c, from->sequence, call, &to->sequence, why)
      || !library_ids(c->model, &from->token, 1, call, why)) return false;
  size_t next = c->place[to->sequence].next++, has = c->model->lm->config.n_positions;
  to->position = from->position, to->token = from->token;
  if (from->position != next) return library_fail(why, INCIPIT_MISUSE, "%s: row %zu"
    " is at position %u of sequence %u; wanted: %zu, the next", call, i,
    (unsigned) from->position, (unsigned) from->sequence, next);
  return next < has || library_fail(why, INCIPIT_FULL, "%s: row %zu is at position"
    " %zu; the context holds %zu", call, i, next, has);
}
@#
static bool take_rows(struct incipit_context *c, const struct incipit_row *rows,
  size_t n, struct row *to, struct incipit_error *why)
{
  for (uint32_t i = 0; i < c->n_places; i++)
    c->place[i].next = store_length(c->s, i);
  for (size_t i = 0; i < n; i++)
    if (!take_row(c, &rows[i], i, &to[i], why)) return false;
  return true;
}

@ The previous pass is closed when the new one is there. If the new one fails, nothing has changed, and the previous one can still be asked for logits.

@<Compute a pass@>=
/* The old pass stays until the new one is there: after a failure |incipit_logits| still has the
   last good one. */
bool incipit_forward(struct incipit_context *c, const struct incipit_row *rows,
  size_t n, struct incipit_error *why)
{
  if (!library_idle(c, __func__, why)
      || !library_given(rows, __func__, "the list of rows", why)) return false;
  if (n == 0) return library_fail(why, INCIPIT_MISUSE,
    "%s: there are no rows; wanted: 1 or more", __func__);
  struct attempt a = attempt_begin(&c->m);
  struct row *mine = memory_alloc(&c->m, MEMORY_OTHER, n, sizeof *mine, &a.why);
  if (mine == NULL) return attempt_end(&a, false, INCIPIT_MEMORY, why);
  struct pass *made;
  bool taken = take_rows(c, rows, n, mine, why);
  bool ok = taken && model_forward(&c->e, c->model->lm, c->s, mine, n, &made, &a.why);
  if (ok) {
    pass_close(c->last);
    c->last = made;
  }
  memory_free(&c->m, mine);
  return taken && attempt_end(&a, ok, INCIPIT_FULL, why);
}

@ If the hidden state of a row is not finite, its logits would be of no use. The call fails, and the sentence names the layer after which it happened.

@<Compute a pass@>=
/* row by row, a row that is not finite is refused before any logits are computed */
bool incipit_logits(struct incipit_context *c, const size_t *which, size_t n,
  float *logits, struct incipit_error *why)
{
  if (!library_idle(c, __func__, why)
      || !library_given(which, __func__, "the list of rows", why)
      || !library_given(logits, __func__, "the room for logits", why)) return false;
  if (c->last == NULL) return library_fail(why, INCIPIT_MISUSE, "%s: there is no"
    " pass; wanted: a call of incipit_forward that succeeded", __func__);
  struct attempt a = attempt_begin(&c->m);
  for (size_t i = 0; i < n; i++) {
    if (which[i] >= c->last->n) return library_fail(why, INCIPIT_MISUSE, "%s: row %zu"
      " of the pass; wanted: below %zu", __func__, which[i], c->last->n);
    if (!pass_is_finite(c->model->lm, c->last, which[i], &a.why))
      return attempt_end(&a, false, INCIPIT_NO_CHOICE, why);
  }
  bool ok = model_logits(&c->e, c->model->lm, c->last, which, n, logits, &a.why);
  return attempt_end(&a, ok, INCIPIT_MISUSE, why);
}

@* Constraints and samplers. \label{sec:outside-samplers}
A constraint needs the bytes of every token, in the order of chapter W9's lexicon, and one lexicon serves all constraints of a model. It is built when it is first needed. Special tokens have no bytes there and are never allowed.

@<Put the vocabulary in order, once@>=
/* |begun| is true for each token: here no token is the first, so none loses its blank.
   Addresses are given out at the end, since the bytes may have moved. */
static bool spell_all(struct incipit_model *m, struct memory *book,
  struct token_bytes *spelt, struct bytes *all, struct error *why)
{
  size_t n = m->lm->config.vocab_size, at = 0;
  for (size_t i = 0; i < n; i++) {
    bool begun = true;
    size_t before = all->n;
    if (!tokenizer_decode_next(m->t, book, (uint32_t) i, true, &begun, all, why))
      return false;
    spelt[i].n = all->n - before;
  }
  for (size_t i = 0; i < n; at += spelt[i++].n)
    spelt[i].byte = spelt[i].n > 0 ? all->byte + at : NULL;
  return true;
}

@ Two threads may ask for the first constraint of a model at the same moment. The caller of |need_lexicon| holds the lock, so one of them makes the lexicon and the other finds it.

@<Put the vocabulary in order, once@>=
static bool need_lexicon(struct incipit_model *m, struct error *why)
{
  size_t n = m->lm->config.vocab_size;
  struct bytes all = { NULL, 0, 0 };
  if (m->lexicon != NULL) return true;
  struct token_bytes *spelt = memory_alloc(&m->m, MEMORY_OTHER, n, sizeof *spelt,
    why);
  if (spelt != NULL && spell_all(m, &m->m, spelt, &all, why))
    m->lexicon = lexicon_open(&m->m, spelt, NULL, n, why);
  bytes_free(&m->m, &all);
  memory_free(&m->m, spelt);
  return m->lexicon != NULL;
}

@ A decoder may drop a blank at the front of a text, so the bytes that the first token writes depend on whether the prompt had any text. A constraint can therefore be bound to a vocabulary in two ways, and each prompt needs one of them. The first binding is made at once, because a pattern that no text can match should be refused when it is
opened; the second is made when a prompt asks for it.

@<The inside of a constraint@>=
struct incipit_constraint {
  struct memory m;
  size_t users; /* the caller, and samplers */
  struct incipit_model *model;
  enum incipit_language language;
  struct bytes text; /* as it was given */
  struct constraint *c[2]; /* the first token keeps its blank, or loses it */
};
  /* a constraint */
bool library_bound(struct incipit_constraint *c, bool strips, struct error *why);
  /* makes sure that |c->c[strips]| is there */

@ A constraint is compiled from a pattern, from a grammar, or from the grammar of JSON in chapter W9; after that it no longer matters from which. If no text of this vocabulary can match, binding fails, and nothing is kept.

@<Compile a constraint@>=
/* compiled again from the text, so that the two automata share nothing */
bool library_bound(struct incipit_constraint *c, bool strips, struct error *why)
{
  const char *text = (const char *) c->text.byte;
  if (c->c[strips] != NULL) return true;
  struct constraint *x;
  if (c->language == INCIPIT_REGEX)
    x = constraint_regex(&c->m, text, c->text.n, why);
  else if (c->language == INCIPIT_GRAMMAR)
    x = constraint_grammar(&c->m, "the grammar", text, c->text.n, why);
  else x = constraint_grammar(&c->m, "JSON", constraint_json,
    strlen(constraint_json), why);
  if (x != NULL && !constraint_bind(x, c->model->lexicon, strips, why)) {
    constraint_free(x);
    x = NULL;
  }
  c->c[strips] = x;
  return x != NULL;
}

@ The lexicon is made under the model's lock and charged to the model's memory; so it is an attempt of its own, apart from the one for the constraint itself.

@<Compile a constraint@>=
/* the lock also covers the model's memory, where the lexicon is counted */
static bool compile(struct incipit_constraint *c, const char *text, size_t n,
  struct incipit_error *why)
{
  struct attempt b = attempt_begin(&c->m);
  pthread_mutex_lock(&c->model->lock);
  struct attempt a = attempt_begin(&c->model->m);
  bool ok = attempt_end(&a, need_lexicon(c->model, &a.why), INCIPIT_INPUT, why);
  pthread_mutex_unlock(&c->model->lock);
  return ok && attempt_end(&b, bytes_push(&c->m, &c->text, n > 0 ? text : "", n, &b.why)
    && library_bound(c, false, &b.why), INCIPIT_INPUT, why);
}

@ For |INCIPIT_JSON| the grammar is our own, so no text is needed, and one that is given is ignored.

@<Compile a constraint@>=
struct incipit_constraint *incipit_constraint_open(struct incipit_model *m,
  enum incipit_language language, const char *text, size_t n,
  struct incipit_error *why)
{
  if (!library_spells(m, __func__, why) || (language != INCIPIT_JSON && n > 0
      && !library_given(text, __func__, "the text", why))) return NULL;
  if (language != INCIPIT_REGEX && language != INCIPIT_GRAMMAR
      && language != INCIPIT_JSON) {
    library_fail(why, INCIPIT_MISUSE, "%s: language %d; wanted: an enum"
      " incipit_language", __func__, (int) language);
    return NULL;
  }
  struct incipit_constraint *c = library_new(sizeof *c, why);
  if (c == NULL) return NULL;
  c->users = 1;
  c->model = m, c->language = language;
  library_hold(m);
  if (compile(c, text, language == INCIPIT_JSON ? 0 : n, why)) return c;
  incipit_constraint_close(c);
  return NULL;
}

@ When the last user closes the constraint, both bindings are freed. Its samplers are users like the caller, who may therefore close it as soon as they are open.

@<Compile a constraint@>=
/* no lock: a constraint and its samplers are for one thread at a time */
void incipit_constraint_close(struct incipit_constraint *c)
{
  if (c == NULL || --c->users > 0) return;
  constraint_free(c->c[0]);
  constraint_free(c->c[1]);
  bytes_free(&c->m, &c->text);
  incipit_model_close(c->model);
  library_delete(c);
}

@ Inside the object is the sampler of \cref{sampling}. |incipit_sampler_apply| asks it just as the loop of \cref{loop} does: with logits and a |struct continuation|, the text so far. Choosing changes nothing. |incipit_sampler_accept| tells it which token has been appended to the text, and removes the token again if the constraint does not allow it.
@^constraint@>

@<The inside of a sampler@>=
struct incipit_sampler {
  struct memory m;
  struct incipit_model *model;
  struct incipit_constraint *constraint; /* or null */
  struct incipit_sampler_options o; /* with its own copies of the arrays */
  struct sequence_bias *bias; /* [|o.n_bias|], which points to |o.bias_id| */
  struct sampler d;
  struct continuation text; /* the history */
  struct constraint_cursor cursor;
};
  /* a sampler */
bool library_begin(struct incipit_sampler *s, const uint32_t *id, size_t n,
  size_t most, const uint32_t *end, size_t n_end, struct incipit_error *why);
  /* as |incipit_sampler_reset|, with the ids that end the text, borrowed */
struct attempt attempt_with(const struct incipit_sampler *s);
  /* as |attempt_begin|, for the sampler and its constraint */

@ The makers' suggestions are used as in the command: the temperature and the cuts only if |do_sample| is true.

@<Take the makers' suggestions@>=
/* Makers who do not want sampling get the likeliest token; penalties count in either case. */
static struct incipit_sampler_options suggested(const struct incipit_model *m)
{
  const struct sampling_defaults *d = &m->lm->config.sampling;
  struct incipit_sampler_options o = @[{ .size = sizeof o, .top_p = 1,@|
    .typical_p = 1, .repetition_penalty = d->repetition_penalty,@|
    .penalty_last_n = -1,@|
    .no_repeat_ngram = d->no_repeat_ngram_size }@];
  if (!d->do_sample) return o;
  o.temperature = d->temperature, o.top_k = d->top_k;
  o.top_p = d->top_p, o.min_p = d->min_p;
  o.typical_p = d->typical_p;
  return o;
}
@#
bool incipit_sampler_defaults(const struct incipit_model *m,
  struct incipit_sampler_options *o, size_t size, struct incipit_error *why)
{
  if (!library_given(m, __func__, "the model", why)
      || !library_size(o, size, sizeof *o, __func__, why)) return false;
  memset(o, 0, size);
  *o = suggested(m);
  o->size = size;
  return true;
}

@ The arrays in the options belong to the caller, who may free them after the call. So they are copied, and the list that \cref{sampling} wants points into the copies.

@<Open a sampler@>=
/* After it |o| points to the copies. If one of them is missing, closing frees the others. */
static bool copy_biases(struct incipit_sampler *s, struct error *why)
{
  size_t n = s->o.n_bias;
  const uint32_t *from = s->o.bias_id;
  const double *added = s->o.bias;
  uint32_t *id = memory_alloc(&s->m, MEMORY_OTHER, n, sizeof *id, why);
  double *bias = memory_alloc(&s->m, MEMORY_OTHER, n, sizeof *bias, why);
  s->bias = memory_alloc(&s->m, MEMORY_OTHER, n, sizeof *s->bias, why);
  s->o.bias_id = id, s->o.bias = bias;
  if (id == NULL || bias == NULL || s->bias == NULL) return false;
  for (size_t i = 0; i < n; i++) {
    id[i] = from[i], bias[i] = added[i];
    s->bias[i] = (struct sequence_bias) @[{ &id[i], 1, bias[i] }@];
  }
  return true;
}

@ The options have the names that they have in \cref{sampling}, and a stage that is left out here stops the build. What the header leaves out keeps the value of |sampling_default|.

@<Open a sampler@>=
static void take_options(struct sampling_params *p, enum sample_stage stage,
  const struct incipit_sampler *s)
{
  const struct incipit_sampler_options *o = &s->o;
  switch (stage) {
  case SAMPLE_BIAS: p->logit_bias = s->bias, p->n_logit_bias = o->n_bias;@+ break;
  case SAMPLE_PENALTIES:@/
    p->repetition_penalty = o->repetition_penalty;
    p->frequency_penalty = o->frequency_penalty;
    p->presence_penalty = o->presence_penalty;
    p->penalty_last_n = o->penalty_last_n;
    break;
  case SAMPLE_NGRAM: p->no_repeat_ngram = o->no_repeat_ngram;@+ break;
  case SAMPLE_TEMPERATURE: p->temperature = o->temperature;@+ break;
  case SAMPLE_TOP_K: p->top_k = o->top_k;@+ break;
  case SAMPLE_TOP_P: p->top_p = o->top_p;@+ break;
  case SAMPLE_MIN_P: p->min_p = o->min_p;@+ break;
  case SAMPLE_TYPICAL_P: p->typical_p = o->typical_p;@+ break;
  case N_SAMPLE_STAGES: break;
  }
}

@ With the stages goes the noise, and the rule.

@<Open a sampler@>=
/* the rule points to the cursor within |s|, which never moves */
static bool open_sampler(struct incipit_sampler *s, struct error *why)
{
  const struct incipit_sampler_options *o = &s->o;
  struct sampling_params *p = &s->d.s;
  if (!copy_biases(s, why)) return false;
  *p = sampling_default();
  for (int i = 0; i < N_SAMPLE_STAGES; i++)@+ take_options(p, (enum sample_stage) i, s);
  s->d.seed = o->seed, s->d.sequence = o->sequence;
  if (s->constraint != NULL) s->d.rule = (struct token_rule) @[{ bond_allow,@|
    bond_take, bond_save, bond_restore, &s->cursor }@];
  size_t vocab = s->model->lm->config.vocab_size;
  return sampling_check(p, vocab, why)
    && funnel_open(&s->d.f, &s->m, kernels_find(NULL, NULL), vocab, why);
}

@ A setting out of its range is a misuse if it came from the caller's options, and an error of input if there were none, because then it came from \.{generation\_config.json}.

@<Open a sampler@>=
static bool options_agree(const struct incipit_model *m,
  const struct incipit_sampler_options *o, const char *call,
  struct incipit_error *why)
{
  if (o->n_bias > 0 && (!library_given(o->bias_id, call, "bias_id", why)
      || !library_given(o->bias, call, "bias", why)
      || !library_ids(m, o->bias_id, o->n_bias, call, why))) return false;
  return o->constraint == NULL || o->constraint->model == m
    || library_fail(why, INCIPIT_MISUSE, "%s: the constraint was opened with another"
      " model; wanted: the same", call);
}

@ The caller's options are copied over the makers' suggestions and not over zeros. The last step is a reset, so that a sampler is ready for a text without a prompt.

@<Open a sampler@>=
/* It holds what it needs before anything can fail, for |incipit_sampler_close| lets go of it. */
struct incipit_sampler *incipit_sampler_open(struct incipit_model *m,
  const struct incipit_sampler_options *o, struct incipit_error *why)
{
  if (!library_given(m, __func__, "the model", why)) return NULL;
  struct incipit_sampler_options mine = suggested(m);
  if (!library_options(&mine, sizeof mine, o, __func__, why)
      || !options_agree(m, &mine, __func__, why)) return NULL;
  struct incipit_sampler *s = library_new(sizeof *s, why);
  if (s == NULL) return NULL;
  s->model = m, s->o = mine;
  library_hold(m);
  s->constraint = mine.constraint;
  if (mine.constraint != NULL) mine.constraint->users++;
  struct attempt a = attempt_begin(&s->m);
  struct float_modes modes;
  float_modes_begin(&modes);
  bool ok = open_sampler(s, &a.why);
  float_modes_end(&modes);
  if (attempt_end(&a, ok, o == NULL ? INCIPIT_INPUT : INCIPIT_MISUSE, why)
      && incipit_sampler_reset(s, NULL, 0, 0, why)) return s;
  incipit_sampler_close(s);
  return NULL;
}

@ Closing frees what opening has made, and gives up the constraint and the model, of which the sampler was a user.

@<Open a sampler@>=
void incipit_sampler_close(struct incipit_sampler *s)
{
  if (s == NULL) return;
  constraint_cursor_close(&s->cursor, &s->m);
  continuation_free(&s->m, &s->text);
  funnel_close(&s->d.f);
  memory_free(&s->m, s->bias);
  memory_free(&s->m, (void *) s->o.bias_id);
  memory_free(&s->m, (void *) s->o.bias);
  incipit_constraint_close(s->constraint);
  incipit_model_close(s->model);
  library_delete(s);
}

@ A copy is opened with the same options and then given the same history. The constraint is shared; the cursor, which says how far the text has come in it, is the copy's own.

@<Open a sampler@>=
/* The copy begins the whole text as a prompt, then is told where the prompt really ended and
   where the constraint is: no token is taken a second time. */
struct incipit_sampler *incipit_sampler_copy(const struct incipit_sampler *s,
  struct incipit_error *why)
{
  if (!library_given(s, __func__, "the sampler", why)) return NULL;
  struct incipit_sampler *x = incipit_sampler_open(s->model, &s->o, why);
  if (x == NULL) return NULL;
  const struct constraint_cursor *b = &s->cursor;
  if (library_begin(x, s->text.text.id, s->text.text.n, b->max_tokens, b->eos, b->n_eos,
      why)) {
    x->text.n_prompt = s->text.n_prompt;
    x->cursor.c = b->c, x->cursor.state = b->state;
    return x;
  }
  incipit_sampler_close(x);
  return NULL;
}

@ Does the decoder drop a blank after this prompt? We try it: find a token that begins with a blank, decode it after the prompt, and count its bytes.

@<Begin a text@>=
/* Does the first token after this prompt lose its blank? We ask the decoder and no rule: the
   first token of the vocabulary that begins with a blank and is longer is decoded after the
   prompt, and by itself. Equal lengths mean that nothing is lost. */
static bool loses_blank(struct incipit_sampler *s, const struct ids *before,
  bool *strips, struct error *why)
{
  struct memory *book = &s->m;
  struct bytes text = { NULL, 0, 0 };
  const struct tokenizer *t = s->model->t;
  bool ok = true, begun = false, spelt = false;
  for (size_t k = 0; ok && k < before->n; k++)
    ok = tokenizer_decode_next(t, book, before->id[k], true, &begun, &text, why);
  size_t vocab = s->model->lm->config.vocab_size, i = 0, whole = 0, from = 0;
  while (ok && i < vocab && !(whole > 1 && text.byte[from] == ' ')) {
    from = text.n, spelt = true;
    ok = tokenizer_decode_next(t, book, (uint32_t) i++, true, &spelt, &text, why);
    whole = text.n - from;
  }
  bool found = ok && whole > 1 && text.byte[from] == ' ';
  from = text.n;
  if (found) ok = tokenizer_decode_next(t, book, (uint32_t) i - 1, true, &begun,
      &text, why);
  *strips = found && ok && text.n - from < whole;
  bytes_free(book, &text);
  return ok;
}

@ A constraint makes sure that a text can end in time, for example that every open bracket can still be closed. So its cursor needs to know how many tokens the text may have.

@<Begin a text@>=
struct attempt attempt_with(const struct incipit_sampler *s)
{
  struct attempt a = attempt_begin(&s->m);
  if (s->constraint == NULL) return a;
  a.also = &s->constraint->m;
  a.refused += a.also->all.refused;
  return a;
}
@#
static bool open_cursor(struct incipit_sampler *s, const struct ids *text, size_t most,
  const uint32_t *end, size_t n_end, struct constraint_cursor *cursor,
  struct error *why)
{
  bool strips;
  *cursor = (struct constraint_cursor) @[{ .c = NULL }@];
  return s->constraint == NULL || (loses_blank(s, text, &strips, why)
    && library_bound(s->constraint, strips, why)
    && constraint_cursor_open(cursor, &s->m, s->constraint->c[strips],
      s->model->lm->config.vocab_size, most, end, n_end, why));
}

@ If the caller sets no limit, a text may fill the model's context. As \cref{loop} has shown, that is one token more than the rows that are left, because the last token needs no row. The new text takes the place of the old one when all of it is there: a sampler that could not begin it is still in the old one.

@<Begin a text@>=
/* The new text is made beside the old one and takes its place when nothing can fail any more. */
bool library_begin(struct incipit_sampler *s, const uint32_t *id, size_t n,
  size_t most, const uint32_t *end, size_t n_end, struct incipit_error *why)
{
  struct attempt a = attempt_with(s);
  size_t context = s->model->lm->config.n_positions;
  struct continuation old = s->text, text = @[{ .n_prompt = n }@];
  struct constraint_cursor cursor;
  bool ok = true;
  if (most == 0) most = n <= context ? context - n + 1 : 1;
  for (size_t i = 0; ok && i < n; i++)
    ok = ids_push(&s->m, &text.text, id[i], &a.why);
  ok = ok && open_cursor(s, &text.text, most, end, n_end, &cursor, &a.why);
  if (ok) {
    constraint_cursor_close(&s->cursor, &s->m);
    s->text = text, s->cursor = cursor;
  }
  continuation_free(&s->m, ok ? &old : &text);
  return attempt_end(&a, ok, INCIPIT_NO_CHOICE, why);
}

@ A reset begins a text after another prompt, with the model's end tokens. With a constraint a text has a largest number of tokens; when they are used up nothing can be chosen, and the call says so before the cursor is asked.

@<Choose, and go on@>=
bool incipit_sampler_reset(struct incipit_sampler *s, const uint32_t *id, size_t n,
  size_t max_new_tokens, struct incipit_error *why)
{
  if (!library_given(s, __func__, "the sampler", why)
      || !library_ids(s->model, id, n, __func__, why)) return false;
  const struct model_config *c = &s->model->lm->config;
  return library_begin(s, id, n, max_new_tokens, c->eos, c->n_eos, why);
}
@#
static bool has_budget(const struct incipit_sampler *s, const char *call,
  struct incipit_error *why)
{
  size_t most = s->cursor.max_tokens, n = s->text.text.n - s->text.n_prompt;
  return s->cursor.c == NULL || n < most || library_fail(why, INCIPIT_NO_CHOICE,
    "%s: the text has %zu tokens; wanted: no more, for it was to end by then", call, n);
}

@ If nothing can be chosen, because a logit is not finite or the constraint and the settings leave no token, the sentence is that of \cref{sampling}.

@<Choose, and go on@>=
bool incipit_sampler_apply(struct incipit_sampler *s, const float *logits,
  uint32_t *id, struct incipit_error *why)
{
  if (!library_given(s, __func__, "the sampler", why)
      || !library_given(logits, __func__, "the list of logits", why)
      || !library_given(id, __func__, "id", why)
      || !has_budget(s, __func__, why)) return false;
  struct attempt a = attempt_with(s);
  bool ok = sampler_choose(&s->d, logits, &s->text, id, &a.why);
  return attempt_end(&a, ok, INCIPIT_NO_CHOICE, why);
}

@ The token that is accepted need not be the one that was chosen; but if there is a constraint, it must allow the token.

@<Choose, and go on@>=
/* the token is appended first, for that can be taken back; a rule's step is saved and restored */
bool incipit_sampler_accept(struct incipit_sampler *s, uint32_t id,
  struct incipit_error *why)
{
  if (!library_given(s, __func__, "the sampler", why)
      || !library_ids(s->model, &id, 1, __func__, why)
      || !has_budget(s, __func__, why)) return false;
  struct attempt a = attempt_with(s);
  if (!ids_push(&s->m, &s->text.text, id, &a.why))
    return attempt_end(&a, false, INCIPIT_MEMORY, why);
  uint32_t before = sampler_save(&s->d);
  bool ok = sampler_accept(&s->d, id, &a.why);
  if (!ok) {
    sampler_restore(&s->d, before);
    s->text.text.n--;
  }
  return attempt_end(&a, ok, INCIPIT_NO_CHOICE, why);
}

@* Streams. \label{sec:outside-streams}
A stream is the |text_stream| of \cref{stopping} with copies of the stop strings, and with a count of the bytes that have been shown.

@<The inside of a stream@>=
struct incipit_stream {
  struct memory m;
  struct incipit_model *model;
  struct bytes copies; /* of the stop strings, each with its zero */
  struct stop_string *list; /* [|n|] */
  size_t n, shown;
  struct stops until;
  struct text_stream flow;
};
  /* a stream */
void library_show(struct incipit_stream *s, struct incipit_piece *piece);
  /* what has been released since the last time */

@ All strings are copied into one block, each with the zero at its end, and the pointers are set when the block no longer moves. The zero is for the caller, who learns from a pointer into the copies which string was met.

@<Open a stream@>=
static bool copy_stops(struct incipit_stream *s, const char *const *stop,
  struct error *why)
{
  bool ok = true;
  s->list = memory_alloc(&s->m, MEMORY_OTHER, s->n, sizeof *s->list, why);
  for (size_t i = 0; s->list != NULL && ok && i < s->n; i++)
    ok = bytes_push(&s->m, &s->copies, stop[i], strlen(stop[i]) + 1, why);
  if (s->list == NULL || !ok) return false;
  const unsigned char *at = s->copies.byte;
  for (size_t i = 0; i < s->n; at += s->list[i++].n + 1)
    s->list[i] = (struct stop_string) @[{ at, strlen((const char *) at) }@];
  return stops_open(&s->until, &s->m, s->list, s->n, why);
}

@ A stop string is text, so it needs a model with a tokenizer. Without stop strings a stream can be opened for any model: with ids alone it shows nothing, but it counts tokens.

@<Open a stream@>=
struct incipit_stream *incipit_stream_open(struct incipit_model *m,
  const char *const *stop, size_t n_stop, bool include_stop, struct incipit_error *why)
{
  if (!library_given(m, __func__, "the model", why)
      || (n_stop > 0 && !library_spells(m, __func__, why))
      || !library_strings(stop, n_stop, __func__, "stop", why)) return NULL;
  struct incipit_stream *s = library_new(sizeof *s, why);
  if (s == NULL) return NULL;
  s->model = m, s->n = n_stop;
  library_hold(m);
  s->flow = (struct text_stream) @[{ .m = &s->m, .t = m->t, .until = &s->until,@|
    .include_stop = include_stop }@];
  struct attempt a = attempt_begin(&s->m);
  if (attempt_end(&a, copy_stops(s, stop, &a.why), INCIPIT_MISUSE, why)) return s;
  incipit_stream_close(s);
  return NULL;
}

@ A piece points into the text that |flow| keeps, which may move when the next token comes. That is why a piece is valid only until then.

@<Take tokens, and release bytes@>=
/* a piece without bytes has a text as well, so that a caller may print it */
void library_show(struct incipit_stream *s, struct incipit_piece *piece)
{
  const struct text_stream *f = &s->flow;
  *piece = (struct incipit_piece) @[{ "", f->released - s->shown, NULL }@];
  if (piece->n > 0) piece->text = (const char *) f->text.byte + s->shown;
  if (f->found != NULL) piece->stop = (const char *) f->found->byte;
  s->shown = f->released;
}
@#
bool incipit_stream_push(struct incipit_stream *s, uint32_t id,
  struct incipit_piece *piece, struct incipit_error *why)
{
  if (!library_given(s, __func__, "the stream", why)
      || !library_given(piece, __func__, "piece", why)
      || !library_ids(s->model, &id, 1, __func__, why)) return false;
  struct attempt a = attempt_begin(&s->m);
  bool ok = text_stream_id(&s->flow, id, &a.why);
  if (ok) library_show(s, piece);
  return attempt_end(&a, ok, INCIPIT_MEMORY, why);
}

@ At the end of a text nothing more can become a character or a stop string, so what is held is released.

@<Take tokens, and release bytes@>=
bool incipit_stream_end(struct incipit_stream *s, struct incipit_piece *piece,
  struct incipit_error *why)
{
  if (!library_given(s, __func__, "the stream", why)
      || !library_given(piece, __func__, "piece", why)) return false;
  text_stream_end(&s->flow);
  library_show(s, piece);
  return true;
}

@ A reset begins another text, or leaves the old one as it was. It is told the prompt, because whether a blank at the front is dropped depends on what comes before it.

@<Take tokens, and release bytes@>=
/* The old text is kept until the prompt has been read, and comes back if it cannot be. */
bool incipit_stream_reset(struct incipit_stream *s, const uint32_t *id, size_t n,
  struct incipit_error *why)
{
  if (!library_given(s, __func__, "the stream", why)
      || !library_ids(s->model, id, n, __func__, why)) return false;
  struct text_stream old = s->flow, *f = &s->flow;
  f->text = (struct bytes) @[{ NULL, 0, 0 }@];
  f->released = f->tokens = 0;
  f->state = 0, f->begun = false;
  f->found = NULL;
  struct attempt a = attempt_begin(&s->m);
  bool ok = text_stream_prompt(f, id, n, &a.why);
  if (ok) s->shown = 0;
  bytes_free(&s->m, ok ? &old.text : &f->text);
  if (!ok) *f = old;
  return attempt_end(&a, ok, INCIPIT_MEMORY, why);
}
@#
void incipit_stream_close(struct incipit_stream *s)
{
  if (s == NULL) return;
  text_stream_close(&s->flow);
  stops_close(&s->until);
  memory_free(&s->m, s->list);
  bytes_free(&s->m, &s->copies);
  incipit_model_close(s->model);
  library_delete(s);
}

@* Many texts at once. \label{sec:outside-generate}
One step of \cref{loop} takes any number of texts further in one pass. Each text contributes the rows that it has not read yet, a piece of its prompt or its newest token, and for each text that has been read to its end a new token is chosen. Here we only have to begin texts, to connect each with its sampler, its stream and the caller's
callbacks, and to collect the results. A single text is a list of one.

Why are the texts the same as if they were written one by one? There are two reasons. The logits of a row do not depend on what else is in the pass, as \cref{model} has promised. And each text has its own copy of the sampler, with its own history and its own
number, from which its noise is computed.

@<The inside of a run@>=
struct text_run {
  struct run *g; size_t number; /* among the prompts, from 0 */
  uint32_t place; /* in the cache, from |began| on */
  bool began, owns; /* it has a place; the place is returned at the end */
  struct sequence q; /* of chapter 3: the text so far, and how it ended */
  struct generate_options want;
  struct incipit_sampler *sampler;
  struct incipit_stream *stream;
  struct criterion list[2]; struct criteria ends; /* a stop string, a constraint */
};
  /* a text that is being written */
struct run {
  struct incipit_context *c;
  const char *call; /* for sentences */
  struct incipit_generate_options o;
  const struct incipit_prompt *prompt;
  const uint32_t *end;
  size_t n, n_end, n_done; /* texts, end tokens, and texts that have ended */
  size_t read, here, all; /* rows of prompts: so far, in this pass, and in all */
  struct progress told; /* by the passes, if the caller wants to know */
  struct incipit_sampler *sampler; /* that is copied */
  struct text_run *text; /* [|n|] */
  struct sequence **live; size_t n_live; /* those that a step is for */
  float *logits; /* [places][|vocab_size|] */
  struct incipit_result **result; /* [|n|], null while a text is being written */
};
  /* all texts of one call */

@ A result has a |struct memory| of its own, so that it outlives the context. The caller sees only the last field; the three blocks that it points to are freed together.

@<The inside of a result@>=
struct kept_result { struct memory m; struct arena blocks;
  struct incipit_result shown; };
  /* what the caller gets is |shown| */

@ The three blocks are allocated one after the other without a test in between; the arena remembers whether one of them was refused.

@<Make a result, and return it@>=
/* Everything is copied: a result outlives the context. Closing goes from the part that is shown
   to the whole around it. */
static struct incipit_result *make_result(const struct ids *text, size_t n_prompt,
  const struct text_stream *f, int finish, struct incipit_error *why)
{
  struct kept_result *r = library_new(sizeof *r, why);
  if (r == NULL) return NULL;
  struct attempt a = attempt_begin(&r->m);
  struct arena *b = &r->blocks;
  size_t n = text->n - n_prompt, stop_n = f->found == NULL ? 0 : f->found->n + 1;
  b->m = &r->m;
  uint32_t *id = arena_alloc(b, MEMORY_OTHER, n, sizeof *id, &a.why);
  char *bytes = arena_alloc(b, MEMORY_OTHER, f->text.n + 1, 1, &a.why);
  char *stop = arena_alloc(b, MEMORY_OTHER, stop_n, 1, &a.why);
  r->shown = (struct incipit_result) @[{ bytes, f->text.n, id, n, finish,@|
    f->found == NULL ? NULL : stop }@];
  if (!attempt_end(&a, !b->refused, INCIPIT_MEMORY, why)) {
    incipit_result_close(&r->shown);
    return NULL;
  }
  if (n > 0) memcpy(id, text->id + n_prompt, n * sizeof *id);
  if (f->text.n > 0) memcpy(bytes, f->text.byte, f->text.n);
  if (stop_n > 0) memcpy(stop, f->found->byte, stop_n);
  return &r->shown;
}

@ When the caller closes |shown|, we find the whole structure by the offset of that field, and free it with its blocks.

@<Make a result, and return it@>=
void incipit_result_close(struct incipit_result *shown)
{
  if (shown == NULL) return;
  struct kept_result *r = (struct kept_result *) ((char *) shown
    - offsetof(struct kept_result, shown));
  arena_free(&r->blocks);
  library_delete(r);
}

@ The loop calls its watcher after every token, when it is already known whether the text ends with it. So the last call of |on_token| can bring what the stream still held, and the pieces together are the text of the result. If the callback itself ends the text, there is no later call, and what was held is in the result only.

@<Tell the caller about a token@>=
static bool tell_token(void *ctx, const struct step *now)
{
  struct text_run *t = ctx;
  const struct incipit_generate_options *o = &t->g->o;
  struct incipit_piece piece;
  if (t->q.c.ended != FINISH_NONE) text_stream_end(&t->stream->flow);
  library_show(t->stream, &piece);
  struct incipit_token token = { t->number, now->number, now->chosen, piece.text,
    piece.n };
  return o->on_token == NULL || o->on_token(o->ctx, &token);
}

@ A text begins when there is a place for it. If the caller has given a sequence, its rows are kept as far as they agree with the prompt, except for the prompt's last one, which must be computed because its logits are wanted.

@<Begin the next text of a run@>=
static bool find_place(struct run *g, struct text_run *t, struct incipit_error *why)
{
  if (g->o.sequence == NULL) {
    t->began = t->owns = library_take_place(g->c, &t->place);
    return true;
  }
  t->began = library_sequence(g->c, g->o.sequence[t->number], g->call,
    &t->place, why);
  return t->began;
}

@ Each text has a sampler and a stream of its own. The index of the text is added to the sampler's |sequence|, so that texts after the same prompt get different noise.

@<Begin the next text of a run@>=
static bool open_parts(struct run *g, struct text_run *t, size_t most,
  struct incipit_error *why)
{
  const struct incipit_prompt *p = &g->prompt[t->number];
  t->sampler = incipit_sampler_copy(g->sampler, why);
  if (t->sampler == NULL) return false;
  t->stream = incipit_stream_open(g->c->model, g->o.stop, g->o.n_stop,
    g->o.include_stop, why);
  if (t->stream == NULL) return false;
  t->stream->flow.min_tokens = g->o.min_new_tokens;
  t->sampler->d.sequence += (uint32_t) t->number;
  return incipit_stream_reset(t->stream, p->id, p->n, why)@|
    && library_begin(t->sampler, p->id, p->n, most, g->end, g->n_end,@|
      why);
}

@ A text ends by an end token, by one of the two criteria, or by its length; afterwards we ask which of them it was.

@<Begin the next text of a run@>=
static void fill_options(struct run *g, struct text_run *t, size_t most)
{
  t->list[0] = (struct criterion) @[{ "string", text_stream_should_stop,@|
    &t->stream->flow }@];
  t->list[1] = (struct criterion) @[{ "match", constraint_cursor_should_stop,@|
    &t->sampler->cursor }@];
  t->ends = (struct criteria) @[{ .list = t->list, .n = 2 }@];
  t->want = (struct generate_options) @[{ .max_new_tokens = most,@|
    .eos = g->end, .n_eos = g->n_end, .min_tokens = g->o.min_new_tokens,@|
    .on_step = tell_token, .ctx = t, .sequence = t->place,@|
    .recall = store_match_prefix,@|
    .chunk = g->o.chunk > 0 ? g->o.chunk : 256,@|
    .select = sampler_choose, .accept = sampler_accept,@|
    .select_ctx = &t->sampler->d,@|
    .stop = criteria_should_stop, .stop_ctx = &t->ends }@];
}

@ If there is no place yet, the text is left for a later step. The rows that a given sequence has already need not be read, so they are taken off the number that |on_progress| is told.

@<Begin the next text of a run@>=
static bool begin_text(struct run *g, size_t i, struct incipit_error *why)
{
  struct text_run *t = &g->text[i];
  const struct incipit_prompt *p = &g->prompt[i];
  t->g = g, t->number = i;
  if (!find_place(g, t, why)) return false;
  if (!t->began) return true;
  size_t most = g->c->model->lm->config.n_positions - p->n + 1;
  if (g->o.max_new_tokens > 0 && g->o.max_new_tokens < most)
    most = g->o.max_new_tokens;
  if (!open_parts(g, t, most, why)) return false;
  fill_options(g, t, most);
  struct generate_context with = library_loop(g->c);
  struct attempt a = attempt_begin(&g->c->m);
  bool ok = sequence_open(&t->q, &with, p->id, p->n, &t->want, &a.why);
  if (ok) g->all -= store_match_prefix(g->c->s, t->place, p->id, p->n - 1);
  return attempt_end(&a, ok, INCIPIT_MISUSE, why);
}

@ When a text has ended, its result is made, and its place is free for the next text.

@<End a text@>=
/* called twice for a text that ended well: what is gone is null by then */
static void leave_text(struct run *g, struct text_run *t)
{
  if (t->owns) library_return_place(g->c, t->place);
  t->owns = false;
  sequence_close(&g->c->m, &t->q);
  incipit_sampler_close(t->sampler);
  incipit_stream_close(t->stream);
  t->sampler = NULL;
  t->stream = NULL;
}
@#
static enum incipit_finish finish_of(const struct text_run *t)
{
  const char *reason = criteria_reason(&t->ends, t->q.c.ended);
  if (t->q.c.ended == FINISH_LENGTH) return INCIPIT_FINISH_LENGTH;
  if (reason == NULL) return INCIPIT_FINISH_CANCELLED;
  if (strcmp(reason, "string") == 0) return INCIPIT_FINISH_STOP;
  return strcmp(reason, "match") == 0 ? INCIPIT_FINISH_MATCH : INCIPIT_FINISH_END;
}
  /* a text without a reason was stopped by the caller */

@ The stream is ended once more, because a text that a callback has cut short may still have bytes in it that were held.

@<End a text@>=
static bool end_text(struct run *g, size_t i, struct incipit_error *why)
{
  struct text_run *t = &g->text[i];
  text_stream_end(&t->stream->flow);
  g->result[i] = make_result(&t->q.c.text, t->q.c.n_prompt, &t->stream->flow,
    (int) finish_of(t), why);
  leave_text(g, t);
  g->n_done++;
  return g->result[i] != NULL;
}

@ If a step fails for one text, that text has a sentence of its own, and the others could go on. But a call that fails and still returns some texts would be hard to use; so the whole call fails. To find out whether memory was refused, we ask every |struct memory| to which the step could have charged something.

@<End a text@>=
/* Memory may have been refused in any of four books; each of them is asked. */
static bool text_failed(const struct run *g, const struct text_run *t,
  const struct attempt *step, struct incipit_error *why)
{
  const struct incipit_constraint *k = t->sampler->constraint;
  bool refused = g->c->m.all.refused > step->refused
    || t->sampler->m.all.refused + t->stream->m.all.refused > 0
    || (k != NULL && k->m.all.refused > 0);
  return library_fail(why, refused ? INCIPIT_MEMORY : INCIPIT_NO_CHOICE, "%s",
    t->q.why.text);
}

@ In each step the waiting texts are begun if there is a place for them, one pass is computed, and the texts that have ended are collected.

@<Write all texts, step after step@>=
/* A text that finds no place waits, unless none at all is being written: then nobody will ever
   return one. */
static bool begin_waiting(struct run *g, struct incipit_error *why)
{
  g->n_live = 0;
  for (size_t i = 0; i < g->n; i++) {
    struct text_run *t = &g->text[i];
    if (!t->began && !begin_text(g, i, why)) return false;
    if (t->began && g->result[i] == NULL) g->live[g->n_live++] = &t->q;
  }
  return g->n_live > 0 || library_fail(why, INCIPIT_FULL, "%s: all %u"
    " sequences of the context are open; wanted: one that is closed", g->call,
    (unsigned) g->c->n_places);
}
@#
static bool collect(struct run *g, const struct attempt *step,
  struct incipit_error *why)
{
  for (size_t i = 0; i < g->n; i++) {
    struct text_run *t = &g->text[i];
    if (!t->began || g->result[i] != NULL || t->q.c.ended == FINISH_NONE) continue;
    if (t->q.c.ended == FINISH_ERROR) return text_failed(g, t, step, why);
    if (!end_text(g, i, why)) return false;
  }
  return true;
}

@ A pass may take seconds, so we ask the caller during the pass whether to go on: chapter 3's passes report to their |struct progress| between the layers, within attention every 64 rows, and within a large product whenever a block of rows is done. While a text has no token of its own yet, all its rows in the pass
are rows of its prompt. What the pass reports may include rows of other texts, so we report at most the number of these rows.
@^progress@>

@<Tell the caller how far a pass is@>=
static bool tell_progress(void *ctx, size_t done, size_t all)
{
  struct run *g = ctx;
  size_t rows = done - g->told.before;
  (void) all; /* of the pass */
  g->here = 0;
  for (size_t i = 0; i < g->n_live; i++) {
    const struct sequence *q = g->live[i];
    if (q->c.text.n == q->c.n_prompt) g->here += q->count;
  }
  if (rows > g->here) rows = g->here;
  return g->here == 0 || g->o.on_progress(g->o.ctx, g->read + rows, g->all);
}

@ If |on_progress| returns false, all texts end as they are. Those that had not begun yet get an empty stream, from which an empty result is made.

@<Write all texts, step after step@>=
/* also texts that have not begun get a result, with no text in it */
static bool cancel_all(struct run *g, struct incipit_error *why)
{
  for (size_t i = 0; i < g->n; i++) {
    struct text_run *t = &g->text[i];
    if (g->result[i] != NULL) continue;
    if (t->q.c.ended == FINISH_NONE) t->q.c.ended = FINISH_CANCELLED;
    if (t->stream == NULL)
      t->stream = incipit_stream_open(g->c->model, NULL, 0, false, why);
    if (t->stream == NULL || !end_text(g, i, why)) return false;
  }
  return true;
}

@ A pass that the caller has cancelled returns false like one that failed, and has stored nothing. |progress_cancelled| tells the two cases apart: after a cancelled pass the call itself succeeds. When a pass is done, its rows of prompts have been read, and the caller is asked once more.

@<Write all texts, step after step@>=
/* A step that was cancelled has failed as well, so cancelling is asked before success. The
   callback after a pass is called only if the pass read rows of a prompt. */
static bool run_step(struct run *g, struct incipit_error *why)
{
  if (!begin_waiting(g, why)) return false;
  struct generate_context with = library_loop(g->c);
  struct attempt a = attempt_begin(&g->c->m);
  g->here = 0;
  bool ok = generate_step(&with, g->live, g->n_live, g->logits, &a.why);
  if (progress_cancelled(&g->told)) return cancel_all(g, why);
  if (!attempt_end(&a, ok, INCIPIT_FULL, why)) return false;
  g->read += g->here;
  bool more = g->here == 0 || g->o.on_progress(g->o.ctx, g->read, g->all);
  return collect(g, &a, why) && (more || cancel_all(g, why));
}

@ Everything that a run needs is allocated before its first step and freed after its last. The context is busy in between.

@<Write all texts, step after step@>=
/* logits for as many texts as there are places, however many texts wait */
static bool open_run(struct run *g, struct incipit_error *why)
{
  struct memory *m = &g->c->m;
  struct attempt a = attempt_begin(m);
  size_t places = g->n < g->c->n_places ? g->n : g->c->n_places;
  size_t vocab = g->c->model->lm->config.vocab_size;
  g->text = memory_alloc(m, MEMORY_OTHER, g->n, sizeof *g->text, &a.why);
  g->live = memory_alloc(m, MEMORY_OTHER, places, sizeof *g->live, &a.why);
  g->logits = memory_alloc(m, MEMORY_ACTIVATIONS, places, vocab * sizeof *g->logits,
    &a.why);
  bool ok = g->text != NULL && g->live != NULL && g->logits != NULL;
  if (!attempt_end(&a, ok, INCIPIT_MEMORY, why)) return false;
  g->sampler = g->o.sampler != NULL ? incipit_sampler_copy(g->o.sampler, why)
    : incipit_sampler_open(g->c->model, NULL, why);
  return g->sampler != NULL;
}

@ After a failure there may be results of texts that had ended before; they are closed, since the caller gets all results or none.

@<Write all texts, step after step@>=
/* may follow any failure of |open_run|, so lists may be null */
static void close_run(struct run *g, bool ok)
{
  struct memory *m = &g->c->m;
  for (size_t i = 0; i < g->n; i++) {
    if (g->text != NULL) leave_text(g, &g->text[i]);
    if (ok) continue;
    incipit_result_close(g->result[i]);
    g->result[i] = NULL;
  }
  incipit_sampler_close(g->sampler);
  memory_free(m, g->text);
  memory_free(m, g->live);
  memory_free(m, g->logits);
  g->c->e.progress = NULL;
  g->c->busy = false;
}

@ All faults of a request are found before the first row is computed, so that a program does not wait minutes for an error.

@<Check a request@>=
static bool prompts_agree(const struct run *g, const char *call,
  struct incipit_error *why)
{
  size_t context = g->c->model->lm->config.n_positions;
  for (size_t i = 0; i < g->n; i++) {
    const struct incipit_prompt *p = &g->prompt[i];
    if (p->n == 0) return library_fail(why, INCIPIT_MISUSE, "%s: prompt %zu has no"
      " tokens; wanted: 1 or more", call, i);
    if (!library_ids(g->c->model, p->id, p->n, call, why)) return false;
    if (p->n > context) return library_fail(why, INCIPIT_FULL, "%s: prompt %zu has"
      " %zu tokens; the context holds %zu", call, i, p->n, context);
  }
  return true;
}

@ Two texts in one sequence would write over each other's rows, so each prompt must have a sequence of its own.

@<Check a request@>=
static bool sequences_agree(const struct run *g, const char *call,
  struct incipit_error *why)
{
  const uint32_t *of = g->o.sequence;
  uint32_t place;
  for (size_t i = 0; of != NULL && i < g->n; i++) {
    if (!library_sequence(g->c, of[i], call, &place, why)) return false;
    for (size_t k = 0; k < i; k++)
      if (of[k] == of[i]) return library_fail(why, INCIPIT_MISUSE, "%s: prompts %zu"
        " and %zu have the same sequence; wanted: one for each", call, k, i);
  }
  return true;
}

@ A sampler of another model would expect logits of another length, so it is refused, as are stop strings for a model without a tokenizer.

@<Check a request@>=
static bool request_agrees(const struct run *g, const char *call,
  struct incipit_error *why)
{
  const struct incipit_model *m = g->c->model;
  if (!prompts_agree(g, call, why) || !sequences_agree(g, call, why)) return false;
  if (g->o.n_stop > 0 && !library_spells(m, call, why)) return false;
  if (!library_strings(g->o.stop, g->o.n_stop, call, "stop", why)) return false;
  return g->o.sampler == NULL || g->o.sampler->model == m
    || library_fail(why, INCIPIT_MISUSE, "%s: the sampler was opened with another"
      " model; wanted: the context's", call);
}

@ One function writes the texts for three callers. Two of them are public, for one prompt and for many. The third is a conversation, whose template has end tokens of its own besides the model's.

@<What the parts share@>=
struct writing_request {
  struct incipit_context *c;
  const struct incipit_prompt *prompt;
  size_t n;
  const struct incipit_generate_options *o;
  const uint32_t *end; size_t n_end; /* ids that end a text */
  const char *call; /* for sentences */
};
  /* what |incipit_generate_many| is asked for, and more */
bool library_generate(const struct writing_request *q, struct incipit_result **result,
  struct incipit_error *why);
  /* as |incipit_generate_many| */

@ The order of the checks matters: the prompts are checked against the model of the context, so the context comes first. All results are null from the beginning, so a call that fails early leaves nothing undefined.

@<Write all texts, step after step@>=
/* Results are null before anything is checked, since on failure the caller may close them all. */
bool library_generate(const struct writing_request *q, struct incipit_result **result,
  struct incipit_error *why)
{
  struct run g = @[{ .c = q->c, .call = q->call, .prompt = q->prompt,
    .n = q->n, .end = q->end,@|
    .result = result }@];
  for (size_t i = 0; result != NULL && i < g.n; i++) result[i] = NULL;
  if (!library_idle(q->c, q->call, why)
      || !library_given(q->prompt, q->call, "the list of prompts", why)
      || !library_given(result, q->call, "the room for results", why)) return false;
  if (!library_options(&g.o, sizeof g.o, q->o, q->call, why)
      || !request_agrees(&g, q->call, why)) return false;
  g.n_end = g.o.ignore_end ? 0 : q->n_end;
  for (size_t i = 0; i < g.n; i++) g.all += g.prompt[i].n;
  g.told = (struct progress) @[{ .report = tell_progress, .ctx = &g }@];
  g.c->busy = true;
  if (g.o.on_progress != NULL) g.c->e.progress = &g.told;
  bool ok = open_run(&g, why);
  while (ok && g.n_done < g.n) ok = run_step(&g, why);
  close_run(&g, ok);
  return ok;
}

@ The two public functions differ only in the number of prompts. If the context is |NULL|, the end tokens are left out, and |library_generate| says what is missing.

@<Write one text, or many@>=
static struct writing_request request_of(struct incipit_context *c,
  const struct incipit_prompt *prompt, size_t n,
  const struct incipit_generate_options *o, const char *call)
{
  struct writing_request q = @[{ .c = c, .prompt = prompt, .n = n, .o = o, .call = call }@];
  if (c != NULL) q.end = c->model->lm->config.eos;
  if (c != NULL) q.n_end = c->model->lm->config.n_eos;
  return q;
}
@#
bool incipit_generate_many(struct incipit_context *c,
  const struct incipit_prompt *prompt, size_t n,
  const struct incipit_generate_options *o, struct incipit_result **result,
  struct incipit_error *why)
{
  struct writing_request q = request_of(c, prompt, n, o, __func__);
  return library_generate(&q, result, why);
}

@ For one prompt the list of results is a single pointer, which stays null if the call fails.

@<Write one text, or many@>=
struct incipit_result *incipit_generate(struct incipit_context *c, const uint32_t *id,
  size_t n, const struct incipit_generate_options *o, struct incipit_error *why)
{
  struct incipit_prompt prompt = { id, n };
  struct incipit_result *result = NULL;
  struct writing_request q = request_of(c, &prompt, 1, o, __func__);
  library_generate(&q, &result, why);
  return result;
}

@* Conversations. \label{sec:outside-chat}
A conversation is kept in two forms, as in the command: the turns as text, and the ids of everything that was read and written. The next prompt consists of the ids so far and those of the new turn, and the loop computes only the rows that the sequence does not have yet.
@^conversation@>

@<The inside of a conversation@>=
struct incipit_chat {
  struct memory m;
  struct incipit_context *c;
  const struct chat_template *by;
  struct turn *turn; /* [|n|]; texts are blocks of their own */
  size_t n, cap, first; /* |first| turns are never forgotten: the system's */
  struct ids text, end, eos; /* all so far; the mark that ends an answer; all such */
  uint32_t sequence;
};
  /* a conversation */

@ The files of the built-in model name no template; but we have trained the model, and know that it has learnt the template |"pocket"|.

@<Choose a template@>=
/* the built-in model has no template file and needs none, unless someone has put one there */
static bool find_style(const struct incipit_model *m, const char *style,
  const struct chat_template **by, struct error *why)
{
  if (style == NULL && m->built_in && !chat_template_given(m->path))
    style = "pocket";
  *by = style != NULL ? chat_template_named(style, why)
    : chat_template_of(m->path, why);
  return *by != NULL;
}

@ The roles of the header and those of the templates are two lists, so that one can change without the other; a small table translates.

@<Set a conversation as ids@>=
static bool take_messages(const struct incipit_message *from, size_t n,
  struct turn *to, const char *call, struct incipit_error *why)
{
  static const enum role role[] = { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT };
  for (size_t i = 0; i < n; i++) {
    int who = from[i].role;
    if (who < INCIPIT_SYSTEM || who > INCIPIT_ASSISTANT)
      return library_fail(why, INCIPIT_MISUSE, "%s: the role of message %zu is %d;"
        " wanted: an enum incipit_role", call, i, who);
    if (from[i].n > 0 && !library_given(from[i].text, call, "a message's text", why))
      return false;
    to[i] = (struct turn) @[{ role[who], from[i].n > 0 ? from[i].text : "",@|
      from[i].n }@];
  }
  return true;
}

@ As in encoding, the caller gets what fits into the array, and how many ids there are in all, and all memory is freed before the function returns.

@<Set a conversation as ids@>=
bool incipit_chat_encode(const struct incipit_model *m, const char *style,
  const struct incipit_message *message, size_t n, bool reply, uint32_t *id,
  size_t cap, size_t *n_ids, struct incipit_error *why)
{
  struct memory book = @[{ .fail_at = 0 }@];
  struct ids list = { NULL, 0, 0 };
  const struct chat_template *by;
  if (!library_spells(m, __func__, why)
      || !library_given(message, __func__, "the list of messages", why)
      || !library_given(n_ids, __func__, "n_ids", why)
      || (cap > 0 && !library_given(id, __func__, "the room for ids", why)))
    return false;
  if (n == 0) return library_fail(why, INCIPIT_MISUSE,
    "%s: there are no messages; wanted: 1 or more", __func__);
  struct attempt a = attempt_begin(&book);
  struct turn *turn = memory_alloc(&book, MEMORY_OTHER, n, sizeof *turn, &a.why);
  if (turn == NULL) return attempt_end(&a, false, INCIPIT_MEMORY, why);
  bool taken = take_messages(message, n, turn, __func__, why);
  bool ok = taken && find_style(m, style, &by, &a.why)
    && conversations_ids(&book, by, m->t, turn, n, 0, reply, &list, &a.why)
    && library_copy(&list, id, cap, n_ids);
  ids_free(&book, &list);
  memory_free(&book, turn);
  return taken && attempt_end(&a, ok, INCIPIT_INPUT, why);
}

@ The text of a turn is copied. The copy is a byte longer, so that even an empty text has an address.

@<Keep the turns@>=
/* the text is copied; one byte more, so that an empty text is not a null */
static bool push_turn(struct incipit_chat *t, enum role who, const char *text,
  size_t n, struct error *why)
{
  void *p = memory_reserve(&t->m, MEMORY_OTHER, t->turn, &t->cap, t->n + 1, 8,
    sizeof *t->turn, why);
  if (p == NULL) return false;
  t->turn = p;
  char *copy = memory_alloc(&t->m, MEMORY_OTHER, n < SIZE_MAX ? n + 1 : n, 1, why);
  if (copy == NULL) return false;
  if (n > 0) memcpy(copy, text, n);
  t->turn[t->n++] = (struct turn) @[{ who, copy, n }@];
  return true;
}
@#
static void pop_turns(struct incipit_chat *t, size_t n)
{
  while (t->n > n) {
    t->n--;
    memory_free(&t->m, (void *) t->turn[t->n].text);
  }
}

@ Does the template suit the model? We find out when the conversation is opened, by formatting a first turn and discarding it.

@<Open and close a conversation@>=
/* A template that cannot set a turn is found on opening and not in the middle of a
   conversation. */
static bool try_style(struct incipit_chat *t, const char *system, struct error *why)
{
  struct ids none = { NULL, 0, 0 };
  struct incipit_model *m = t->c->model;
  if (system != NULL && !push_turn(t, ROLE_SYSTEM, system, strlen(system), why))
    return false;
  t->first = t->n;
  bool ok = push_turn(t, ROLE_USER, "x", 1, why)
    && conversations_ids(&t->m, t->by, m->t, t->turn, t->n, 0, true, &none, why)
    && conversations_ends(&t->m, t->by, m->t, &t->end, why);
  pop_turns(t, t->first);
  ids_free(&t->m, &none);
  return ok;
}

@ An answer may end with the template's mark or with any end token of the model.

@<Open and close a conversation@>=
static bool learn_ends(struct incipit_chat *t, struct error *why)
{
  const struct model_config *config = &t->c->model->lm->config;
  bool ok = true;
  for (size_t i = 0; ok && i < t->end.n; i++)
    ok = ids_push(&t->m, &t->eos, t->end.id[i], why);
  for (size_t i = 0; ok && i < config->n_eos; i++)
    ok = ids_push(&t->m, &t->eos, config->eos[i], why);
  return ok;
}

@ A conversation is a user of its context, and occupies one sequence of the context until it is closed.

@<Open and close a conversation@>=
struct incipit_chat *incipit_chat_open(struct incipit_context *c, const char *style,
  const char *system, struct incipit_error *why)
{
  if (!library_idle(c, __func__, why) || !library_spells(c->model, __func__, why))
    return NULL;
  struct incipit_chat *t = library_new(sizeof *t, why);
  if (t == NULL) return NULL;
  t->c = c;
  c->users++;
  struct attempt a = attempt_begin(&t->m);
  bool ok = find_style(c->model, style, &t->by, &a.why)
    && try_style(t, system, &a.why) && learn_ends(t, &a.why);
  if (attempt_end(&a, ok, INCIPIT_INPUT, why)
      && incipit_sequence_open(c, &t->sequence, why)) return t;
  incipit_chat_close(t);
  return NULL;
}

@ A conversation that could not be opened has no sequence yet. The field |sequence| is 0, which is no sequence's number, so closing it fails without harm.

@<Open and close a conversation@>=
void incipit_chat_close(struct incipit_chat *t)
{
  if (t == NULL || t->c->busy) return;
  incipit_sequence_close(t->c, t->sequence, NULL);
  pop_turns(t, 0);
  memory_free(&t->m, t->turn);
  ids_free(&t->m, &t->text);
  ids_free(&t->m, &t->end);
  ids_free(&t->m, &t->eos);
  incipit_context_close(t->c);
  library_delete(t);
}
@#
bool incipit_chat_reset(struct incipit_chat *t, struct incipit_error *why)
{
  if (!library_given(t, __func__, "the conversation", why)
      || !library_idle(t->c, __func__, why)) return false;
  pop_turns(t, t->first);
  t->text.n = 0;
  return true;
}

@ An answer often begins with a blank that belongs to its first word. At the beginning of a line that looks wrong, so blanks before the first letter are not shown. |hear_token| leaves them out and calls the caller's |on_token| with the rest. It needs a |ctx| of its own, so |on_progress| has to be passed on as well.

@<Leave out the blanks before an answer@>=
struct listener {
  const struct incipit_generate_options *o; /* the caller's */
  size_t bare; /* blanks left out so far */
  bool begun; /* something else has been shown */
};
@#
static bool hear_token(void *ctx, const struct incipit_token *now)
{
  struct listener *l = ctx;
  struct incipit_token mine = *now;
  while (!l->begun && mine.n > 0 && *mine.text == ' ')
    mine.text++, mine.n--;
  l->bare += now->n - mine.n;
  l->begun = l->begun || mine.n > 0;
  return l->o->on_token == NULL || l->o->on_token(l->o->ctx, &mine);
}
  /* Blanks before an answer are not shown, token by token, and counted: the result must lose the
     same. */
@#
static bool hear_progress(void *ctx, size_t rows, size_t all)
{
  const struct listener *l = ctx;
  return l->o->on_progress == NULL || l->o->on_progress(l->o->ctx, rows, all);
}

@ Usually the next prompt is made of the ids so far and the new turn. But some templates change old turns when a new one comes. For these all turns are formatted again, and the cache keeps the rows that the two versions have in common.

@<Say something, and get an answer@>=
/* Only the new turn is encoded. Some templates change what they have written before when a turn
   is added, and then all is set anew. */
static bool next_ids(struct incipit_chat *t, struct ids *next, struct error *why)
{
  bool whole = t->text.n == 0 || chat_template_rewrites(t->by, t->turn, t->n);
  bool ok = true;
  for (size_t i = 0; ok && !whole && i < t->text.n; i++)
    ok = ids_push(&t->m, next, t->text.id[i], why);
  return ok && conversations_ids(&t->m, t->by, t->c->model->t, t->turn, t->n,
    whole ? 0 : t->n - 1, true, next, why);
}
@#
static bool write_answer(struct incipit_chat *t, const struct ids *next,
  const struct incipit_generate_options *theirs, struct listener *l,
  struct incipit_result **result, struct incipit_error *why)
{
  struct incipit_generate_options o = *theirs;
  struct incipit_prompt prompt = { next->id, next->n };
  struct writing_request q = @[{ t->c, &prompt, 1, &o, t->eos.id, t->eos.n,@|
    "incipit_chat_say" }@];
  l->o = theirs;
  o.sequence = &t->sequence, o.ctx = l;
  o.on_token = hear_token, o.on_progress = hear_progress;
  return library_generate(&q, result, why);
}

@ An answer is closed with the template's own mark. If the model has ended it with another of its end tokens, that token is replaced by the mark. This costs nothing, because the last token of a text has no row yet. Then the answer becomes a turn.

@<Say something, and get an answer@>=
/* The end token that the model chose is left out and the template's own mark of an ending put
   in, whichever way the answer ended: so the next turn always begins in the same place. */
static bool close_answer(struct incipit_chat *t, struct ids *next,
  struct incipit_result *r, size_t bare, struct error *why)
{
  size_t n = r->n_ids - (r->finish == INCIPIT_FINISH_END ? 1 : 0);
  bool ok = true;
  while (bare < r->n && r->text[bare] == ' ') bare++;
  for (size_t i = 0; ok && i < n; i++) ok = ids_push(&t->m, next, r->id[i], why);
  for (size_t i = 0; ok && i < t->end.n; i++)
    ok = ids_push(&t->m, next, t->end.id[i], why);
  r->text += bare, r->n -= bare;
  return ok && push_turn(t, ROLE_ASSISTANT, r->text, r->n, why);
}
@#
static bool answer(struct incipit_chat *t, struct ids *next,
  const struct incipit_generate_options *o, struct incipit_result **result,
  struct incipit_error *why)
{
  struct listener l = @[{ .bare = 0 }@];
  struct attempt a = attempt_begin(&t->m);
  if (!attempt_end(&a, next_ids(t, next, &a.why), INCIPIT_INPUT, why)
      || !write_answer(t, next, o, &l, result, why)) return false;
  return attempt_end(&a, close_answer(t, next, *result, l.bare, &a.why),
    INCIPIT_MEMORY, why);
}

@ If anything fails, the turn is removed, and the conversation is as it was. For that reason the new ids are collected in a list of their own, which replaces the old one only at the end.

@<Say something, and get an answer@>=
/* the turn of the user is taken back if there is no answer */
struct incipit_result *incipit_chat_say(struct incipit_chat *t, const char *text,
  size_t n, const struct incipit_generate_options *o, struct incipit_error *why)
{
  struct incipit_generate_options mine = @[{ .size = sizeof mine }@];
  struct incipit_result *result = NULL;
  struct ids next = { NULL, 0, 0 };
  if (!library_given(t, __func__, "the conversation", why)
      || !library_idle(t->c, __func__, why)
      || (n > 0 && !library_given(text, __func__, "the text", why))
      || !library_options(&mine, sizeof mine, o, __func__, why)) return NULL;
  if (mine.sequence != NULL) {
    library_fail(why, INCIPIT_MISUSE, "%s: a sequence is given; wanted: none, for the"
      " conversation has its own", __func__);
    return NULL;
  }
  size_t before = t->n;
  struct attempt a = attempt_begin(&t->m);
  bool ok = attempt_end(&a, push_turn(t, ROLE_USER, text, n, &a.why), INCIPIT_MEMORY,
    why) && answer(t, &next, &mine, &result, why);
  if (ok) {
    ids_free(&t->m, &t->text);
    t->text = next;
    return result;
  }
  pop_turns(t, before);
  ids_free(&t->m, &next);
  incipit_result_close(result);
  return NULL;
}

@* The files of the library. \label{sec:outside-files}
The private header has what the parts share. It begins with what all of them need and then defines the opaque structures.

@(library.h@>=
#ifndef INCIPIT_LIBRARY_H
#define INCIPIT_LIBRARY_H
#include <pthread.h>
#include "kernels/kernels.h"
#include "library/incipit.h"
#include "tokenizer/tokenizer.h"
#include "sampling/settings.h"
#include "stopping/stopping.h"
#include "constraints/bond.h"
@<What the parts share@>@;
@<The inside of a model@>@;
@<The inside of a context@>@;
@<The inside of a constraint@>@;
@<The inside of a sampler@>@;
@<The inside of a stream@>@;
#endif

@ The files follow the objects. The first is for models, and has what all the others need.

@(opening.c@>=
/* What every call needs (sentences, sizes, arguments), and models. Each object has its own
   |struct memory| as its first field, and its own block is counted in it; |library_new| and
   |library_delete| copy that field in and out, since a block cannot count itself. A model
   counts its users under a lock: the caller is one, each object opened with it another, and the
   last frees it. After opening it is only read, but for the lexicon (samplers.c). Arguments are
   checked before anything is changed. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "library/library.h"
#include "families/loader.h"
@;@#
@<Fail with a code and a sentence@>@;
@<Make an object that begins with its book@>@;
@<Take the options of a caller@>@;
@<Check what a text is made of@>@;
@<Open a model@>@;
@<Let go of a model@>@;
@<Answer small questions about a model@>@;
@<Encode and decode@>@;
@#
const char *incipit_version(void) { return INCIPIT_VERSION; }

@ The second file has contexts, sequences and passes.

@(contexts.c@>=
/* Contexts: a cache, its sequences, workers, and the latest pass. A sequence's number is its
   place and, in the upper half, how often the place has been given out, from 1: so a closed
   sequence's number fits nothing and 0 is never a number. |busy| is true while a text is
   written, and keeps callbacks out. What changes a context asks |library_idle| first. */
#include <string.h>
#include "library/library.h"
#include "accounts/accounts.h"
#include "cache/cache.h"
#include "safetensors/tensor_file.h"
@;@#
@<Name a sequence@>@;
@<Open and close a context@>@;
@<Report what a context has and has done@>@;
@<Open, close and change sequences@>@;
@<Compute a pass@>@;

@ Next come constraints and samplers, which share the model's lexicon.

@(samplers.c@>=
/* Constraints and samplers. The lexicon belongs to the model and is made when the first
   constraint is opened, under the model's lock, for two threads may be first; afterwards it is
   only read. A constraint has two automata at most, for a first token that keeps its blank or
   loses it; the second is made when a text needs it. A sampler owns copies of all that its
   options point to, and counts as a user of its model and its constraint. */
#include <string.h>
#include "library/library.h"
@;@#
@<Put the vocabulary in order, once@>@;
@<Compile a constraint@>@;
@<Take the makers' suggestions@>@;
@<Open a sampler@>@;
@<Begin a text@>@;
@<Choose, and go on@>@;

@ Streams need only a short file.

@(streams.c@>=
/* Streams: chapter 8's text stream for a caller. |shown| is how much the caller has seen, and a
   piece is what has been released since. Stop strings are copied, each with its zero, into one
   block; |list| points into it, so it is filled after the last string is there. */
#include <string.h>
#include "library/library.h"
@;@#
@<Open a stream@>@;
@<Take tokens, and release bytes@>@;

@ This file writes whole texts, one or many.

@(writing.c@>=
/* Whole texts, one or many. A run is all texts of one call: each begins when there is a place
   for it, and in every step all texts that have begun take part in one pass. A text's ids
   depend on nothing but its prompt, its options and its number, so many together are what they
   would be one by one. While |result[i]| is null, text |i| has not ended. On failure nothing is
   left: results are freed and places given back, but a sequence that the caller gave keeps what
   was computed. */
#include <string.h>
#include "library/library.h"
#include "cache/keep.h"
@;@#
@<The inside of a run@>@;
@<The inside of a result@>@;
@<Make a result, and return it@>@;
@<End a text@>@;
@<Tell the caller about a token@>@;
@<Begin the next text of a run@>@;
@<Check a request@>@;
@<Tell the caller how far a pass is@>@;
@<Write all texts, step after step@>@;
@<Write one text, or many@>@;

@ The last file is for conversations, which need all the others.

@(talking.c@>=
/* Conversations. What counts is |text|, the ids of all that was said: the model's own tokens go
   into it and are never encoded again, so the rows of the cache stay valid. |turn| has the same
   as text, for templates that must see all turns. A call of |incipit_chat_say| either ends with
   an answer or leaves both as they were. */
#include <string.h>
#include "library/library.h"
#include "templates/conversations.h"
@;@#
@<The inside of a conversation@>@;
@<Choose a template@>@;
@<Set a conversation as ids@>@;
@<Keep the turns@>@;
@<Open and close a conversation@>@;
@<Leave out the blanks before an answer@>@;
@<Say something, and get an answer@>@;

@* The check, and what the library costs. \label{sec:outside-check}
The functions that the library calls have been checked in their own chapters. What can still go wrong is the connection: another default than the header says, a row that is computed twice, an error without a sentence, a name that is seen from outside. So the suite \.{check-library}
uses the header as any other program would. Four prompts are continued by |incipit_generate| and by |generate| of \cref{loop}, with the same settings, and must give the same ids; a text of $g$ tokens after $p$ must have cost $p+g-1$ rows and none of them twice.
|incipit_generate_many| must give the same texts as one prompt at a time, a forked and a cropped sequence the same logits as one that was read anew, and two threads the same texts as one. Every function that can fail is called wrongly, and must return a code and a sentence.
Then the same calls are made again and again, and each time another request for memory is refused: the code must be |INCIPIT_MEMORY|, unless PCRE2 can do without the block, and the sanitizers must find no leak. After each refusal everything is compared with a program that is the same but was refused nothing: what can be seen, and what the next calls give. A script looks at the compiled library: the names that it shows are those of the header and no others, and compilers of C and of C++ must accept the header without a warning.
@^check of the library@>

What does the library cost? It costs no rows: for $p$ tokens of a prompt and $g$ new ones the example computes $p+g-1$, as |generate| does with a cache, where a loop without a cache computes $gp+g(g-1)/2$. In time, a call adds some comparisons and a copy of its data:
a list of rows on the way in, a row of logits on the way out. In memory, it adds a |struct memory| and copies of the options for each object; the cache and the weights are where they were, and the weights of a model are in memory once for all contexts. The real price is ours: a name in this
header can no longer be changed, because programs that we have never seen are compiled with it.

@* Exercises. \label{sec:outside-exercises}
Each is about a call that looks simpler than it is.

\begin{exercises}
\exercise{check}{ex:library.rows}{A prompt of 20 tokens is continued twice, by 6 tokens each time, in two sequences. How many rows does |incipit_context_report| count if the second sequence is forked from the first after the prompt? And if the prompt is read in
both?}{\texttt{make exercise-W15-1}}{30 and 50: the last token of a text is not read, so each text adds 5 rows to those of the prompt, which are 20 or twice 20.}
\exercise{think}{ex:library.handle}{A new context has 3 sequences. You open all three, close the second, and open one again. Which number does it get? And with which code does |incipit_forward| fail if a row still has the number of the sequence that was closed?}{\texttt{make
exercise-W15-2}}{Its place is 1, and the place was given out twice: $2\cdot2^{16}+1$, or $2^{17}+1$. The code is 1, |INCIPIT_MISUSE|; no text of another sequence was touched.}
\exercise{check}{ex:library.ids}{Write a function |all_ids|, which is given a model, a text that ends with a zero byte, and a pointer to a number. It returns the ids of the text in a block from |malloc| that is no larger than it must be, and stores how many ids there are; it returns |NULL| if the
text cannot be encoded.}{\texttt{make exercise-W15-3}}{Two calls of |incipit_encode|, the first with |NULL| and 0 to learn how many ids there are. The block has one element more, since |malloc(0)| may give |NULL|.}
\end{exercises}
