@i types.w
@s INCIPIT_API static
@s json_t int

\chapterquestion{My own program wants a text continued. What must it call, and how little of this book must it know?}
@** From outside: one header for other programs. \label{sec:library}
\incipit{S}{uppose that you} write a text editor, and want it to finish a sentence that its user has begun. The chapters have all the parts, and every chapter
has a header that shows them: structures with all their fields, and functions that are named for what they do, |head| and |forward| and |generate|. Within a book that is right.
In your editor it goes wrong in three ways. You would include half a dozen headers, and what they include, in order to call a few functions. Your editor may have a |generate| of its own, and then the linker finds two. And if we add a field to a
structure next year, an editor that was compiled this year goes on using the old one, and reads the wrong bytes.
What you want is a \emph{library}: one header, |"incipit.h"|, whose names all begin with \.{incipit\_} and which shows nothing of the chapters.
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
@^opaque type@>@^application binary interface@>@^ABI@>

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
@#
  @<Requests that come and go@>@;
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
struct incipit_batch;
  /* requests in the passes of one context; one thread at a time, together with its context and with the
     constraints of its requests */

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
  /* how many ids there are, and logits in a row; 0 for |NULL| */
INCIPIT_API uint32_t incipit_context_size(const struct incipit_model *m);
  /* how many tokens a sequence may have; 0 for |NULL| */
INCIPIT_API bool incipit_is_end(const struct incipit_model *m, uint32_t id);
  /* whether |id| is one of those that end a text; false for |NULL| */
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
    /* the most that all sequences may have together, rounded up to pages of 64; 0: as many as
       each of them can have, the model's context */
  const char *kv_type; /* how rows are kept: |"f16"|, \dots; |NULL|: |"f32"| */
  const char *kernels; /* by name; |NULL|: the fastest */
  uint32_t window, sinks;
    /* a row sees the last |window| rows, itself among them, and the first |sinks| rows of its
       text; both 0: as the model says */
  const char *activations; /* |"bf16"|, |"int8"|; |NULL|: as the weights are */
};
  /* all zero but |size| are the defaults, which |NULL| stands for as well */
INCIPIT_API struct incipit_context *incipit_context_open(struct incipit_model *m,
  const struct incipit_context_options *o, struct incipit_error *why);
  /* opens a context, whose sequences are all closed; |o| may be |NULL|, as everywhere */
INCIPIT_API void incipit_context_close(struct incipit_context *c);
  /* |NULL| does nothing, here and in every close */
struct incipit_report {
  uint64_t weight_bytes; /* bytes of the weights, shared by all contexts */
  uint64_t cache_bytes; /* bytes of the cache */
  uint64_t cache_bytes_used; /* bytes of its pages that are in use */
  uint64_t live_bytes; /* bytes allocated by the context now, with its cache */
  uint64_t peak_bytes; /* the most that it had allocated at any time */
  uint64_t passes; /* passes computed so far */
  uint64_t rows; /* rows in these passes */
  uint64_t rows_recomputed; /* rows that were computed a second time */
};
  /* how much memory a context takes, and how much it has computed */
INCIPIT_API bool incipit_context_report(const struct incipit_context *c,
  struct incipit_report *r, size_t size, struct incipit_error *why);
  /* fills in |*r|, which has |size| bytes */
@#
@<Sequences@>@;
@#
@<Passes@>@;

@ A sequence is named by a number that the library gives out, its \emph{handle}. The number of a closed sequence is refused, and so is 0, which is in a row that was cleared and not filled in (\cref{sec:outside-contexts}).
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
  uint64_t seed; /* of the noise */
  uint32_t sequence; /* which text of that seed: each number gets noise of its own */
  double temperature; /* 0: the likeliest token */
  size_t top_k; double top_p, min_p, typical_p; /* 0, 1, 0, 1: no cut */
  double repetition_penalty, frequency_penalty, presence_penalty; /* 1, 0, 0: none */
  int64_t penalty_last_n; /* how many of the last tokens are penalized; $-1$: all */
  size_t no_repeat_ngram; /* no group of this many tokens comes twice; 0: off */
  const uint32_t *bias_id; const double *bias; size_t n_bias; /* added to these logits */
  struct incipit_constraint *constraint; /* or |NULL| */
};
  /* the arrays are copied when a sampler is opened */
INCIPIT_API bool incipit_sampler_defaults(const struct incipit_model *m,
  struct incipit_sampler_options *o, size_t size, struct incipit_error *why);
  /* what the makers of the model suggest, or else the likeliest token */
INCIPIT_API struct incipit_sampler *incipit_sampler_open(struct incipit_model *m,
  const struct incipit_sampler_options *o, struct incipit_error *why);
  /* opens a sampler for a text of which there is nothing yet */
INCIPIT_API void incipit_sampler_close(struct incipit_sampler *s);
  /* returns its memory */
INCIPIT_API struct incipit_sampler *incipit_sampler_copy(const struct incipit_sampler
  *s, struct incipit_error *why);
  /* a second sampler, with the same text so far */
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
  INCIPIT_FINISH_CANCELLED, /* a callback returned false, or it was cancelled in its batch */@/
  INCIPIT_FINISH_FAILED /* it could not go on; only in a batch, and |incipit_batch_poll| says why */@/
};
  /* how a text ended */
struct incipit_token {
  size_t prompt; /* which prompt of the call it continues, from 0; 0 in a batch */
  size_t number; /* which token of its text, from 1 */
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
  const struct incipit_sampler *sampler; /* copied for text |i|, with |sequence| $+i$ */
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
  /* opens a conversation in a sequence of |c|; |system|: what the system says, or |NULL| */
INCIPIT_API void incipit_chat_close(struct incipit_chat *t);
  /* closes its sequence as well */
INCIPIT_API struct incipit_result *incipit_chat_say(struct incipit_chat *t, const char
  *text, size_t n, const struct incipit_generate_options *o, struct incipit_error
  *why);
  /* the answer to |n| bytes, without blanks before it; |o->sequence| must be |NULL|. On
     failure nothing has been said: with |INCIPIT_FULL| reset it, or say less */
INCIPIT_API bool incipit_chat_reset(struct incipit_chat *t, struct incipit_error *why);
  /* forgets all but what the system said */

@ |incipit_generate_many| is given its prompts together and returns when the last text has ended. A server cannot wait for that. A prompt comes while others are being answered; a user closes the browser in the middle of an answer. So the last object of the header is a \emph{batch}, the scheduler of \cref{serving} for other programs. You submit a request whenever it comes, and call |incipit_batch_step| again and again: each call is one pass, for all requests that have a place in it. Each request has options of its own, the same structure that |incipit_generate| takes.
@^batching@>@^scheduler@>

@<Requests that come and go@>=
struct incipit_batch_options {
  size_t size; /* of this structure */
  size_t pass_rows; /* the most rows in a pass, at least one for each sequence; 0: 256, or that */
  bool no_sharing; /* rows of a text are not kept for others that begin with the same tokens */
};
  /* all zero but |size| are the defaults */
INCIPIT_API struct incipit_batch *incipit_batch_open(struct incipit_context *c,
  const struct incipit_batch_options *o, struct incipit_error *why);
  /* opens a batch in |c|, none of whose sequences may be open: the batch has them all, and so many texts are written
     at a time. Until it is closed, all calls for |c| are refused but those for its report and its close */
INCIPIT_API void incipit_batch_close(struct incipit_batch *b);
  /* cancels its requests, and forgets them with their rows */
INCIPIT_API bool incipit_batch_submit(struct incipit_batch *b, const uint32_t *id, size_t n,
  const struct incipit_generate_options *o, uint64_t *request, struct incipit_error *why);
  /* asks for the text that |incipit_generate| would write; |*request| becomes its number, from 1, which is never given out
     twice. Everything is copied but |o->ctx|. |o->sequence| must be |NULL|, and |o->chunk| is not used; |on_progress| is called
     between passes, about this text alone, and its false ends this text. |INCIPIT_FULL|: the cache could not hold the
     text even alone */
INCIPIT_API bool incipit_batch_step(struct incipit_batch *b, size_t *left,
  struct incipit_error *why);
  /* computes a pass, if there is anything to compute; |*left|, unless |left| is |NULL|, becomes the number of requests
     that have not ended. What is wrong with one text ends that text. Callbacks may submit, poll, cancel and ask for
     reports, and make no other call */

@ Between two steps you may ask what has become of a request. Has it a place in the passes? How many tokens has its text? A text that has ended waits until you take it, and then its number means nothing any more. You may take it in your own time: what waits for you is tokens and characters, and no rows that others could need.

@<Requests that come and go@>=
enum incipit_state {
  INCIPIT_WAITING, /* it has no place in the passes yet, or has lost it */@/
  INCIPIT_RUNNING, /* its prompt is read or its text written */@/
  INCIPIT_ENDED /* its text may be taken */@/
};
  /* what becomes of a request */
struct incipit_request {
  int state; /* an |enum incipit_state| */
  size_t n_ids; /* tokens written so far */
  size_t rows_found; /* rows of its prompt that were in the cache when it got its place, and not computed */
  size_t preempted; /* how often it gave its rows back for want of room, and was read again */
  struct incipit_error failure; /* after |INCIPIT_FINISH_FAILED|, else all zero */
};
  /* how far a request has come; fields may be added at the end */
INCIPIT_API bool incipit_batch_poll(const struct incipit_batch *b, uint64_t request,
  struct incipit_request *r, size_t size, struct incipit_error *why);
  /* fills in |*r|, which has |size| bytes */
INCIPIT_API bool incipit_batch_cancel(struct incipit_batch *b, uint64_t request,
  struct incipit_error *why);
  /* ends its text as it is, or after the pass if a callback calls; no callback hears of it again. A text that has
     ended stays as it is */
INCIPIT_API struct incipit_result *incipit_batch_take(struct incipit_batch *b,
  uint64_t request, struct incipit_error *why);
  /* gives the text of a request that has ended, however it did; the caller owns it, and the request is forgotten */

@ The counts tell you whether the context is large enough. Divide |places_used| by the passes, and you have the number of texts in a mean pass. Many texts that gave their rows back mean that there are more sequences than rows for them.

@<Requests that come and go@>=
struct incipit_batch_counts {
  size_t waiting, running, ended; /* requests in each state; those that were taken are not counted */
  uint64_t passes, rows; /* computed for the batch */
  uint64_t places_used; /* sequences with a row, summed over passes */
  uint64_t rows_found; /* rows that were not computed, because the cache had them */
  uint64_t preempted; /* how often a text gave its rows back */
};
  /* what a batch has, and what it has done; fields may be added at the end */
INCIPIT_API bool incipit_batch_report(const struct incipit_batch *b,
  struct incipit_batch_counts *r, size_t size, struct incipit_error *why);
  /* fills in |*r|, which has |size| bytes */

@* A failure gets its code. \label{sec:outside-errors}
A function of the chapters that fails leaves a sentence and nothing else. For a command that is enough: it prints the sentence and ends. Your editor has to decide something. Should it tell its user, wait, or report a bug? That is why each call of the header adds a code, at the outermost edge, where we know what the caller wanted: a directory that cannot be opened is an error of input, and a row that finds no place means that the cache is full.
@^error@>

One question cannot be answered from there. Was memory refused, somewhere deep inside? The sentence may say so, but we are not going to parse our own English. Fortunately every block is entered in a |struct memory| (\cref{sec:memory}), which counts the requests that it has refused. We look at that count before the call and after it, and call this an \emph{attempt}.

\printedheader[attempt..attempt_end]{library/library.h}

\printedfunction{library/opening.c}{attempt_end}

A refusal goes before the code that the caller has in mind. Imagine that memory runs out while a tokenizer is being read: the reader finds no tokenizer and says so, but there is nothing wrong with the file.

All calls are built around an attempt. As an example, here is decoding. First the arguments are checked, before anything is changed. Then the function tries, with a |struct memory| of its own that lives as long as the call; with the model's, two threads could not decode at the same time. Then it writes what fits and says how much there is, and frees everything. None of this is difficult, and the other functions are made in the same way. They are ordinary C in \.{unwoven/library}, with their reasons beside them, and the rest of this chapter looks only at the few decisions that we had to think about.

\printedfunction{library/opening.c}{incipit_decode}

@* Old programs, new structures. \label{sec:outside-sizes}
The size that begins each structure of options is read here. |mine| has the defaults already; what the caller knows goes over them.

\printedfunction{library/opening.c}{library_options}

Try it on three callers. One has forgotten to set the size: it is 0, smaller than any structure, and is refused. One was compiled with next year's header, which has one field more, and has left that field at 0: all its extra bytes are 0. It has asked for nothing that we would ignore, and is welcome. One has set the new field: it learns which byte we do not understand. There may be a fourth, whose |size| was never written and is some huge number. The bound of \given{4096} keeps us from reading far beyond the structure.

At present there is one version of each structure, and its size is the smallest that is accepted. When a field is added, |size| grows, and the smallest accepted size stays what it is.
@^versions@>

@* Handles that do not go stale. \label{sec:outside-contexts}
What if the number of a sequence were simply its place in the cache? You close the sequence at place 1. Elsewhere in your program another text begins and is given place 1. Now a row that still has the old number arrives. It is valid, it is appended to a stranger's text, and nothing fails; the stranger's text just becomes strange. Programmers call this a \emph{stale handle}, and it is the kind of mistake that is found weeks later.

We let the number say as well \emph{which} tenant of the place is meant. Its lower half is the place and its upper half counts how often the place has been given out, from 1 to $2^{16}-1$ and then from 1 again.
@^handle@>

\printedfunction{library/contexts.c}{library_take_place}

\printedfunction{library/contexts.c}{library_sequence}

The first tenant of place 1 has the number $2^{16}+1$ and the second $2\cdot2^{16}+1$. The stale row is refused with a sentence, and the code says that the program is wrong and not the input. Since the count is never 0, no sequence has the number 0. A number comes back only when its place has been given to $2^{16}-2$ other texts.

A sequence has a second trap. A context cannot be used while it is at work, and the easiest way to do that by mistake is a callback, which runs in the middle of |incipit_generate|. The context is marked as busy while it writes, and every call asks for that mark first. The same test notices a context that was opened before a \.{fork}: the threads of its workers have stayed in the other process, and waiting for them would never end.

@* Who keeps what alive. \label{sec:outside-models}
\fig{owners}{fig:owners}{The objects of the header. An arrow leads to an object that is kept alive: whatever you close first, nothing is freed that is still needed.}{Seven boxes with a solid frame: model at the bottom, above it context, stream and constraint, at the top chat and batch above context and sampler above constraint.
Arrows lead from context, stream and constraint to the model, from chat and batch to context, from sampler to constraint and to the model. An eighth box, result, has a dashed frame and no arrow.}

In which order must a program close its objects? In C the usual answer is a paragraph of rules that nobody reads. Ours is: in any order. Each object that needs another is one of its \emph{users}, and your program, which opened it, is a user until it closes it; the last user frees the object (\cref{fig:owners}). The technique is called \emph{reference counting}. There are no circles among our objects, so the counts always come down to 0.
@^reference counting@>

Only the model needs a lock for this, because only the model may be used by several threads at once. In |incipit_model_close| the lock is left before the model is freed: the last user has it for itself. It protects one thing more. A constraint needs the vocabulary in the order of the bytes, the \emph{lexicon} of \cref{constraints}, which takes a moment to build and is the same for all constraints of a model. It is built when the first constraint asks for it. If two threads ask at the same moment, one of them builds it, while the other waits for the lock. After that a model is only read.
@^lexicon@>@^lock@>@^threads@>

\printedfunction{library/opening.c}{incipit_model_close}

A result is the exception, and keeps nothing: its text and its ids are copied into blocks of its own, so that you may show a text long after its context is gone.

Memory is counted in the same way, object by object. A |struct memory| may be used by one thread at a time, and each object has one, as its first field. There is a small riddle in this: the object is itself a block, entered in a |struct memory| that lies in that very block. So |library_new| counts in a |struct memory| on its stack until the block exists, and |library_delete| copies it out again before the block is freed.
@^memory@>

@* Defaults that the model knows. \label{sec:outside-samplers}
|incipit_sampler_open| copies the caller's options over the makers' suggestions and not over zeros. What you leave out is then what the makers recommend; if they recommend no sampling, it is the likeliest token. A setting out of its range is a misuse if it came from the options, and an error of input if there were none, because then it came from \.{generation\_config.json}.

With a constraint there is one question that we could not answer by looking at the files. Many decoders drop a blank at the front of a text. Does the first token of the answer lose its blank, after this prompt? The rules differ from tokenizer to tokenizer, and we would get one of them wrong. We try it instead: decode the prompt, decode after it the first token of the vocabulary that begins with a blank, and count the bytes. A constraint is bound when it is opened, because a pattern that no text can match should be refused there and not in the middle of a program. If a prompt then shows that the blank behaves otherwise, it is bound once more.
@^constraint@>

Choosing a token changes nothing, and accepting it may fail, if the constraint does not allow the token. Then it is removed again, and the sampler is as it was. All functions of the header keep this promise where it can be kept: a call that fails has changed nothing. |incipit_stream_reset| keeps the old text until the new prompt has been read, and |incipit_forward| keeps the last pass until the new one is there, so that you can still ask for its logits.

@* Many texts at once. \label{sec:outside-generate}
Eight prompts and four sequences: what does |incipit_generate_many| do? One step of \cref{loop} takes any number of texts further in one pass. Each text contributes the rows that it has not read yet, a piece of its prompt or its newest token, and for each text that has been read to its end a new token is chosen. Four texts begin at once, and when one of them has ended, the fifth takes its place. What is left for us is to begin texts, to connect each with its sampler, its stream and the caller's callbacks, and to collect the results. A single text is a list of one.

Why are the texts the same as if they were written one by one? There are two reasons. The logits of a row do not depend on what else is in the pass, as \cref{model} has promised. And each text has its own copy of the sampler, with its own history and its own number, from which its noise is computed.

A step begins with the texts that are waiting. One that finds no place waits on, unless no text at all is being written: then no place will ever become free, and waiting would be forever.

\printedfunction{library/writing.c}{begin_waiting}

@ Reading a long prompt may take minutes, and your user may lose patience. We ask the caller during a pass whether to go on: between the layers, within attention every \given{64} rows, and within a large product whenever a block of rows is done. If |on_progress| returns false, the pass is given up and stores nothing. To |generate_step| that is a failure like any other; only |progress_cancelled| knows better, and we must ask it first. A cancelled call succeeds, and all its texts are results, as short as they are.
@^progress@>

\printedfunction{library/writing.c}{run_step}

Pieces and results must agree: if you put the pieces of |on_token| together, you expect the text of the result. The loop calls its watcher when it is already known whether the text ends with this token. Its last call can therefore bring what the stream still held. If the callback itself ends the text, there is no later call, and what was held is in the result only.

And if one of eight texts fails? The seven others could go on. But a call that fails and still returns some texts would be hard to use, so the whole call fails, and the caller gets all results or none.

@* Conversations. \label{sec:outside-chat}
A chat keeps a conversation in two forms, the turns as text and the ids of everything that was read and written. The next prompt consists of the ids so far and those of the new turn, and the loop computes only the rows that the sequence does not have yet. Some templates change old turns when a new one comes, for example by removing what the model thought before it answered. For these all turns are formatted again, and the cache keeps the rows that both versions have in common.
@^conversation@>

How does an answer end? With the template's own mark, or with another end token of the model, or in the middle of a sentence when the limit is reached. The next turn should always begin in the same place. We leave out the end token that the model chose, and put in the template's mark, however the answer ended. This costs nothing, because the last token of a text has no row yet.

\printedfunction{library/talking.c}{close_answer}

An answer often begins with a blank that belongs to its first word and looks wrong at the beginning of a line. |bare| counts the blanks that were not shown; the result must lose the same.

If anything fails, the user's turn is removed, and the conversation is as it was. For that reason the new ids are collected in a list of their own, which replaces the old one at the very end.

@ Where is the built-in model? That is decided when the library is installed, after it has been compiled. So one small file has the answer, and the Makefile compiles it again for each place of installation.

@(place.c@>=
/** Where the built-in model was installed: a file of its own, since it is compiled again for each
  place. */
#include "library/library.h"
#ifndef INCIPIT_PREFIX
#define INCIPIT_PREFIX "/usr/local"
#endif
@;@#
const char *library_place(void)
{ return INCIPIT_PREFIX "/share/incipit/models/pocket"; }

@* Requests that come and go. \label{sec:outside-batch}
Your editor is a success, and now a whole office uses it, with one model on one machine. If the program calls |incipit_generate| for each of them, the tenth person waits for nine texts. With |incipit_generate_many| nobody waits, but all ten have to ask in the same moment, and all must want the same limit and the same stop strings. What you need is the scheduler of \cref{serving}. A batch is that scheduler, and the library adds little to it: a sampler, a stream and the callbacks for each request, as for any other text.
@^batching@>@^scheduler@>

A batch has the context for itself. The scheduler plans a pass by the pages that are free, and would be wrong if another call wrote to the cache between two of its passes. So while a batch is open, all calls that change its context are refused, with a sentence that says why.

A request's \emph{handle} is a number, as a sequence's is, and not a pointer to some structure of ours. Requests live for a short time, and a program that serves many will sooner or later ask for one that is gone. With a pointer it would read memory that was freed; with a number it is told of its mistake. A number of 64 bits need never be given out twice.
@^handle@>

Here is a step. The scheduler computes a pass, and during the pass the callbacks hear of tokens. Afterwards |tell_progress| tells each reader how much of the prompt has been read.

\printedfunction{library/batch.c}{incipit_batch_step}

What if one of ten texts fails? In |incipit_generate_many| the whole call fails. Here that would be wrong, for the ten have nothing to do with each other. So the step succeeds. The text that could not go on has ended, with |INCIPIT_FINISH_FAILED|. Its result has what was written until then, and |incipit_batch_poll| says why there is no more.

And what may a callback do, in the middle of a pass? A reader who closes his window is noticed there, so it must be possible to cancel: one's own text, by returning false, or another one. It may also submit, if the answer to one question is the next question. Both are safe because the scheduler does not look at its line before the pass is over. Taking a step within a step, or closing the batch, is refused.

Is each text the one that |incipit_generate| writes? The suite \.{check-library} submits twenty requests with samplers, stop strings and constraints of all kinds, a few at a time, to caches of several sizes, some so small that texts lose their rows. It compares ids, text, pieces and the reason of the end. \.{docs/examples/serving.c} and \.{serving.py} are whole programs: the first answers lines as they come, which is a server without the network.

@* The check, and what the library costs. \label{sec:outside-check}
The functions that the library calls have been checked in their own chapters. What can still go wrong is the connection: another default than the header says, a row that is computed twice, an error without a sentence, a name that is seen from outside. So the suite \.{check-library}
uses the header as any other program would. Four prompts are continued by |incipit_generate| and by |generate| of \cref{loop}, with the same settings, and must give the same ids; a text of $g$ tokens after $p$ must have cost $p+g-1$ rows and none of them twice.
|incipit_generate_many| must give the same texts as one prompt at a time, a forked and a cropped sequence the same logits as one that was read anew, and two threads the same texts as one. Every function that can fail is called wrongly, and must return a code and a sentence.
Then the same calls are made again and again, and each time another request for memory is refused: the code must be |INCIPIT_MEMORY|, unless PCRE2 can do without the block, and the sanitizers must find no leak. A second program makes the same calls and is refused nothing: after each refusal the first must still show and answer what the second does. A script looks at the compiled library: the names that it shows are those of the header and no others, and compilers of C and of C++ must accept the header without a warning.
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
