/* incipit.h -- made from workshop/15-library.w; change it there */

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

  /* <What a failed call says> */
  /* why a call failed, for a program to act on */
  enum incipit_code {
    INCIPIT_OK, /* nothing has failed */
    INCIPIT_MISUSE, /* the program has made a mistake */
    INCIPIT_INPUT, /* a file, a pattern, a template or a text is wrong */
    INCIPIT_MEMORY, /* memory was refused */
    INCIPIT_FULL, /* the context or the cache has no room */
    INCIPIT_NO_CHOICE /* no token can be chosen */
  };
  /* why a call failed. The caller owns it, and it is written on failure only; in
     every call why may be NULL. Functions that return bool are true if all went well,
     those that return a pointer give NULL if not. A call that fails has changed
     nothing, unless its comment says so */
  struct incipit_error {
    int code; /* an enum incipit_code */
    char text[508]; /* one sentence in UTF-8 */
  };
  /* the version of the library that is running; INCIPIT_VERSION is the header's */
  INCIPIT_API const char *incipit_version(void);

  /* <The objects, and which threads may use them> */
  /* weights and a tokenizer, read-only: any number of threads at once */
  struct incipit_model;
  /* a cache, its sequences, and workers; one thread at a time, and no call from its
     own callbacks; contexts in two threads give the bits that they give one by one. A
     process that was forked opens its own: one that was open before, with more than 1
     thread, it can only close */
  struct incipit_context;
  /* a regular expression or grammar; one thread at a time, together with all samplers
     that were opened with it */
  struct incipit_constraint;
  /* how the next token of one text is chosen; one thread at a time */
  struct incipit_sampler;
  /* what may be shown of one text; one thread at a time */
  struct incipit_stream;
  /* a conversation; one thread at a time, together with its context */
  struct incipit_chat;
  /* requests in the passes of one context; one thread at a time, together with its
     context and with the constraints of its requests */
  struct incipit_batch;

  /* <A model and its tokens> */
  /* how a model is opened */
  struct incipit_model_options {
    size_t size; /* sizeof this structure, as in all options */
    /* names of unknown fields of the settings that may be ignored */
    const char *const *ignore_field; size_t n_ignore_field;
    bool packed; /* copy the weights, in an order that makes passes faster */
  };
  /* opens a directory in Hugging Face's layout, or a GGUF file; NULL: the built-in
     model, where INCIPIT_MODEL of the environment says or where make install has put
     it */
  INCIPIT_API struct incipit_model *incipit_model_open(const char *directory,
    const struct incipit_model_options *o, struct incipit_error *why);
  /* freed with the last object that was opened with it; NULL does nothing */
  INCIPIT_API void incipit_model_close(struct incipit_model *m);
  /* how many ids there are, and logits in a row; 0 for NULL */
  INCIPIT_API uint32_t incipit_vocab_size(const struct incipit_model *m);
  /* how many tokens a sequence may have; 0 for NULL */
  INCIPIT_API uint32_t incipit_context_size(const struct incipit_model *m);
  /* whether id is one of those that end a text; false for NULL */
  INCIPIT_API bool incipit_is_end(const struct incipit_model *m, uint32_t id);
  /* encodes n bytes: writes the first cap ids to id, and how many there are to n_ids.
     add_special: with the ids that the model's files put around a text;
     parse_special: the text of a special token becomes that token */
  INCIPIT_API bool incipit_encode(const struct incipit_model *m,
    const char *text, size_t n, bool add_special, bool parse_special,
    uint32_t *id, size_t cap, size_t *n_ids, struct incipit_error *why);
  /* decodes n ids: writes the first cap bytes to text, without a zero after them, and
     how many there are to n_bytes */
  INCIPIT_API bool incipit_decode(const struct incipit_model *m, const uint32_t *id,
    size_t n, bool skip_special, char *text, size_t cap, size_t *n_bytes,
    struct incipit_error *why);

  /* <A context, its sequences and its passes> */
  /* all zero but size are the defaults, which NULL stands for as well */
  struct incipit_context_options {
    size_t size; /* of this structure */
    uint32_t n_sequences; /* the most that are open at once; 0: one */
    uint32_t threads; /* 0: as many as there are cores */
    /* the most that all sequences may have together, rounded up to pages of 64; 0: as
       many as each of them can have, the model's context */
    size_t rows;
    const char *kv_type; /* how rows are kept: "f16", ...; NULL: "f32" */
    const char *kernels; /* by name; NULL: the fastest */
    /* a row sees the last window rows, itself among them, and the first sinks rows of
       its text; both 0: as the model says */
    uint32_t window, sinks;
    const char *activations; /* "bf16", "int8"; NULL: as the weights are */
  };
  /* opens a context, whose sequences are all closed; o may be NULL, as everywhere */
  INCIPIT_API struct incipit_context *incipit_context_open(struct incipit_model *m,
    const struct incipit_context_options *o, struct incipit_error *why);
  /* NULL does nothing, here and in every close */
  INCIPIT_API void incipit_context_close(struct incipit_context *c);
  /* how much memory a context takes, and how much it has computed */
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
  /* fills in *r, which has size bytes */
  INCIPIT_API bool incipit_context_report(const struct incipit_context *c,
    struct incipit_report *r, size_t size, struct incipit_error *why);

  /* <Sequences> */
  /* opens an empty sequence; INCIPIT_FULL if all are open */
  INCIPIT_API bool incipit_sequence_open(struct incipit_context *c, uint32_t *sequence,
    struct incipit_error *why);
  /* forgets the rows, and the number, which is given out again after 65,534 others */
  INCIPIT_API bool incipit_sequence_close(struct incipit_context *c, uint32_t sequence,
    struct incipit_error *why);
  /* how many rows the sequence has, which is also the position of the next */
  INCIPIT_API bool incipit_sequence_length(const struct incipit_context *c, uint32_t
    sequence, size_t *length, struct incipit_error *why);
  /* opens a sequence that is equal to from and shares its memory (copied on write) */
  INCIPIT_API bool incipit_sequence_fork(struct incipit_context *c, uint32_t from,
    uint32_t *to, struct incipit_error *why);
  /* forgets the rows from length on; with a window it may have to forget them all */
  INCIPIT_API bool incipit_sequence_crop(struct incipit_context *c, uint32_t sequence,
    size_t length, struct incipit_error *why);
  /* keeps the first rows, as far as their tokens agree with id[n], and forgets the
     others; *length becomes the number of rows that are left */
  INCIPIT_API bool incipit_sequence_keep(struct incipit_context *c, uint32_t sequence,
    const uint32_t *id, size_t n, size_t *length, struct incipit_error *why);

  /* <Passes> */
  /* a token to read */
  struct incipit_row {
    uint32_t sequence; /* an open one */
    uint32_t position; /* in the sequence, from 0 */
    uint32_t token; /* an id */
  };
  /* puts n rows through the model; the rows of a sequence must come in the order of
     their positions, and go on from its length */
  INCIPIT_API bool incipit_forward(struct incipit_context *c, const struct incipit_row
    *rows, size_t n, struct incipit_error *why);
  /* writes logits[n][vocab_size]: of the rows which[n], counted from 0, of the latest
     pass that did not fail */
  INCIPIT_API bool incipit_logits(struct incipit_context *c, const size_t *which, size_t
    n, float *logits, struct incipit_error *why);

  /* <A constraint and a sampler> */
  /* what the text of a constraint is */
  enum incipit_language {
    INCIPIT_REGEX, /* a regular expression */
    INCIPIT_GRAMMAR, /* a grammar with a rule root */
    INCIPIT_JSON /* any JSON object; no text is needed */
  };
  /* compiles the n bytes of text for the vocabulary of m */
  INCIPIT_API struct incipit_constraint *incipit_constraint_open(struct incipit_model *m,
    enum incipit_language language, const char *text, size_t n, struct incipit_error *why);
  /* its memory is freed with the last sampler that was opened with it */
  INCIPIT_API void incipit_constraint_close(struct incipit_constraint *c);

  /* <Samplers> */
  /* the arrays are copied when a sampler is opened */
  struct incipit_sampler_options {
    size_t size; /* of this structure */
    uint64_t seed; /* of the noise */
    uint32_t sequence; /* which text of that seed: each number gets noise of its own */
    double temperature; /* 0: the likeliest token */
    size_t top_k; double top_p, min_p, typical_p; /* 0, 1, 0, 1: no cut */
    double repetition_penalty, frequency_penalty, presence_penalty; /* 1, 0, 0: none */
    int64_t penalty_last_n; /* how many of the last tokens are penalized; -1: all */
    size_t no_repeat_ngram; /* no group of this many tokens comes twice; 0: off */
    const uint32_t *bias_id; const double *bias; size_t n_bias; /* added to these logits */
    struct incipit_constraint *constraint; /* or NULL */
  };
  /* what the makers of the model suggest, or else the likeliest token */
  INCIPIT_API bool incipit_sampler_defaults(const struct incipit_model *m,
    struct incipit_sampler_options *o, size_t size, struct incipit_error *why);
  /* opens a sampler for a text of which there is nothing yet */
  INCIPIT_API struct incipit_sampler *incipit_sampler_open(struct incipit_model *m,
    const struct incipit_sampler_options *o, struct incipit_error *why);
  /* returns its memory */
  INCIPIT_API void incipit_sampler_close(struct incipit_sampler *s);
  /* a second sampler, with the same text so far */
  INCIPIT_API struct incipit_sampler *incipit_sampler_copy(const struct incipit_sampler
    *s, struct incipit_error *why);
  /* begins a text after the prompt id[n]; a constraint sees to it that the text can
     end within max_new_tokens, 0: as many as the model's context has room for */
  INCIPIT_API bool incipit_sampler_reset(struct incipit_sampler *s, const uint32_t *id,
    size_t n, size_t max_new_tokens, struct incipit_error *why);
  /* chooses by logits[vocab_size]; asked again it chooses the same */
  INCIPIT_API bool incipit_sampler_apply(struct incipit_sampler *s, const float *logits,
    uint32_t *id, struct incipit_error *why);
  /* appends id to the text, whether it was chosen or not */
  INCIPIT_API bool incipit_sampler_accept(struct incipit_sampler *s, uint32_t id,
    struct incipit_error *why);

  /* <A stream> */
  /* what a stream has released */
  struct incipit_piece {
    const char *text; size_t n; /* bytes that may now be shown, borrowed */
    const char *stop; /* the stop string that was met, or NULL */
  };
  /* stop has n_stop strings, perhaps none, which are copied; include_stop: the one
     that ends the text is shown */
  INCIPIT_API struct incipit_stream *incipit_stream_open(struct incipit_model *m, const
    char *const *stop, size_t n_stop, bool include_stop, struct incipit_error *why);
  /* returns its memory, and with it the last piece */
  INCIPIT_API void incipit_stream_close(struct incipit_stream *s);
  /* begins a new text after the prompt id[n], which is not shown */
  INCIPIT_API bool incipit_stream_reset(struct incipit_stream *s, const uint32_t *id,
    size_t n, struct incipit_error *why);
  /* takes a token; after a stop string further tokens are ignored */
  INCIPIT_API bool incipit_stream_push(struct incipit_stream *s, uint32_t id,
    struct incipit_piece *piece, struct incipit_error *why);
  /* releases what is held: no token will follow */
  INCIPIT_API bool incipit_stream_end(struct incipit_stream *s, struct incipit_piece
    *piece, struct incipit_error *why);

  /* <A whole text, or many> */
  /* how a text ended */
  enum incipit_finish {
    INCIPIT_FINISH_END, /* the model chose an end token */
    INCIPIT_FINISH_STOP, /* a stop string was met */
    INCIPIT_FINISH_LENGTH, /* the limit was reached */
    INCIPIT_FINISH_MATCH, /* the constraint is met, and nothing may follow */
    INCIPIT_FINISH_CANCELLED, /* a callback returned false, or it was cancelled in its batch */
    INCIPIT_FINISH_FAILED /* it could not go on; only in a batch, and incipit_batch_poll says why */
  };
  /* a token that has been written */
  struct incipit_token {
    size_t prompt; /* which prompt of the call it continues, from 0; 0 in a batch */
    size_t number; /* which token of its text, from 1 */
    uint32_t id;
    /* bytes that may now be shown, borrowed until the callback returns */
    const char *text; size_t n;
  };
  /* false ends this text */
  typedef bool incipit_on_token(void *ctx, const struct incipit_token *now);
  /* rows rows of the prompts have been read, of all. It is called inside a pass as
     well, where the number may be an estimate and need not grow; false ends all texts */
  typedef bool incipit_on_progress(void *ctx, size_t rows, size_t all);
  /* all zero but size are the defaults: the makers' sampler, the cache, no callback */
  struct incipit_generate_options {
    size_t size; /* of this structure */
    size_t max_new_tokens; /* 0: until the context is full */
    size_t min_new_tokens; /* until then no end token and no stop string ends the text */
    size_t chunk; /* rows of a prompt in one pass; 0: 256 */
    const char *const *stop; size_t n_stop; /* strings that end a text */
    bool include_stop; /* show the one that does */
    bool ignore_end; /* end tokens end nothing */
    const struct incipit_sampler *sampler; /* copied for text i, with sequence +i */
    const uint32_t *sequence; /* NULL, or an open one for each prompt: rows that agree
                                 with it are kept, and the new ones stay, even if the call fails */
    incipit_on_token *on_token; /* called after each token, or NULL */
    incipit_on_progress *on_progress; /* called while prompts are read, or NULL */
    void *ctx; /* the first argument of both */
  };
  /* the ids of a prompt, at least one */
  struct incipit_prompt { const uint32_t *id; size_t n; };
  /* a text that was written; fields may be added at the end */
  struct incipit_result {
    const char *text; size_t n; /* without the prompt; a zero follows the n bytes */
    const uint32_t *id; size_t n_ids; /* its tokens, with the one that ended it */
    int finish; /* an enum incipit_finish */
    const char *stop; /* the stop string that ended it, or NULL */
  };
  /* writes a text after id[n]; the caller owns the result, and gets one for a
     cancelled text as well */
  INCIPIT_API struct incipit_result *incipit_generate(struct incipit_context *c,
    const uint32_t *id, size_t n, const struct incipit_generate_options *o,
    struct incipit_error *why);
  /* writes result[n]: the same texts as one by one; on failure all are NULL */
  INCIPIT_API bool incipit_generate_many(struct incipit_context *c, const struct
    incipit_prompt *prompt, size_t n, const struct incipit_generate_options *o, struct
    incipit_result **result, struct incipit_error *why);
  /* returns its memory */
  INCIPIT_API void incipit_result_close(struct incipit_result *r);

  /* <A conversation> */
  /* who says something */
  enum incipit_role { INCIPIT_SYSTEM, INCIPIT_USER, INCIPIT_ASSISTANT };
  /* a turn of a conversation */
  struct incipit_message {
    int role; /* an enum incipit_role */
    const char *text; size_t n; /* what is said, n bytes */
  };
  /* as incipit_encode, but of n messages, at least one, in the chat template style,
     or NULL for the model's; reply: followed by what asks for an answer */
  INCIPIT_API bool incipit_chat_encode(const struct incipit_model *m,
    const char *style, const struct incipit_message *message, size_t n, bool reply,
    uint32_t *id, size_t cap, size_t *n_ids, struct incipit_error *why);
  /* opens a conversation in a sequence of c; system: what the system says, or NULL */
  INCIPIT_API struct incipit_chat *incipit_chat_open(struct incipit_context *c, const
    char *style, const char *system, struct incipit_error *why);
  /* closes its sequence as well */
  INCIPIT_API void incipit_chat_close(struct incipit_chat *t);
  /* the answer to n bytes, without blanks before it; o->sequence must be NULL. On
     failure nothing has been said: with INCIPIT_FULL reset it, or say less */
  INCIPIT_API struct incipit_result *incipit_chat_say(struct incipit_chat *t, const char
    *text, size_t n, const struct incipit_generate_options *o, struct incipit_error
    *why);
  /* forgets all but what the system said */
  INCIPIT_API bool incipit_chat_reset(struct incipit_chat *t, struct incipit_error *why);

  /* <Requests that come and go> */
  /* all zero but size are the defaults */
  struct incipit_batch_options {
    size_t size; /* of this structure */
    size_t pass_rows; /* the most rows in a pass, at least one for each sequence; 0: 256, or that */
    bool no_sharing; /* rows of a text are not kept for others that begin with the same tokens */
  };
  /* opens a batch in c, none of whose sequences may be open: the batch has them all,
     and so many texts are written at a time. Until it is closed, all calls for c are
     refused but those for its report and its close */
  INCIPIT_API struct incipit_batch *incipit_batch_open(struct incipit_context *c,
    const struct incipit_batch_options *o, struct incipit_error *why);
  /* cancels its requests, and forgets them with their rows */
  INCIPIT_API void incipit_batch_close(struct incipit_batch *b);
  /* asks for the text that incipit_generate would write; *request becomes its number,
     from 1, which is never given out twice. Everything is copied but o->ctx.
     o->sequence must be NULL, and o->chunk is not used; on_progress is called between
     passes, about this text alone, and its false ends this text. INCIPIT_FULL: the
     cache could not hold the text even alone */
  INCIPIT_API bool incipit_batch_submit(struct incipit_batch *b, const uint32_t *id, size_t n,
    const struct incipit_generate_options *o, uint64_t *request, struct incipit_error *why);
  /* computes a pass, if there is anything to compute; *left, unless left is NULL,
     becomes the number of requests that have not ended. What is wrong with one text
     ends that text. Callbacks may submit, poll, cancel and ask for reports, and make
     no other call */
  INCIPIT_API bool incipit_batch_step(struct incipit_batch *b, size_t *left,
    struct incipit_error *why);
  /* what becomes of a request */
  enum incipit_state {
    INCIPIT_WAITING, /* it has no place in the passes yet, or has lost it */
    INCIPIT_RUNNING, /* its prompt is read or its text written */
    INCIPIT_ENDED /* its text may be taken */
  };
  /* how far a request has come; fields may be added at the end */
  struct incipit_request {
    int state; /* an enum incipit_state */
    size_t n_ids; /* tokens written so far */
    size_t rows_found; /* rows of its prompt that were in the cache when it got its place, and not computed */
    size_t preempted; /* how often it gave its rows back for want of room, and was read again */
    struct incipit_error failure; /* after INCIPIT_FINISH_FAILED, else all zero */
  };
  /* fills in *r, which has size bytes */
  INCIPIT_API bool incipit_batch_poll(const struct incipit_batch *b, uint64_t request,
    struct incipit_request *r, size_t size, struct incipit_error *why);
  /* ends its text as it is, or after the pass if a callback calls; no callback hears
     of it again. A text that has ended stays as it is */
  INCIPIT_API bool incipit_batch_cancel(struct incipit_batch *b, uint64_t request,
    struct incipit_error *why);
  /* gives the text of a request that has ended, however it did; the caller owns it,
     and the request is forgotten */
  INCIPIT_API struct incipit_result *incipit_batch_take(struct incipit_batch *b,
    uint64_t request, struct incipit_error *why);
  /* what a batch has, and what it has done; fields may be added at the end */
  struct incipit_batch_counts {
    size_t waiting, running, ended; /* requests in each state; those that were taken are not counted */
    uint64_t passes, rows; /* computed for the batch */
    uint64_t places_used; /* sequences with a row, summed over passes */
    uint64_t rows_found; /* rows that were not computed, because the cache had them */
    uint64_t preempted; /* how often a text gave its rows back */
  };
  /* fills in *r, which has size bytes */
  INCIPIT_API bool incipit_batch_report(const struct incipit_batch *b,
    struct incipit_batch_counts *r, size_t size, struct incipit_error *why);
#endif
