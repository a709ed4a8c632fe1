/* serve.h -- what the parts of incipit serve know of each other: a request on its way, and who holds what of it.

   cmd_serve.c        options, start and end; which path is answered how
   http.c             connections (http.h)
   serve_fields.c     a body becomes a job: its fields are read, its prompts become ids
   serve_engine.c     one thread that computes passes for all jobs, with the scheduler of chapter 12
   serve_answer.c     what was written becomes JSON, whole or piece by piece
   serve_metrics.c    GET /metrics

   A job is made and read by the thread of HTTP and written by the thread of the engine. What the engine writes while the job
   runs is marked below, and is read under the engine's lock; the rest does not change between serve_submit and the end. */
#ifndef INCIPIT_SERVE_H
#define INCIPIT_SERVE_H
#include <jansson.h>
#include <pthread.h>
#include "constraints/bond.h"
#include "sampling/sampling.h"
#include "serving/scheduler.h"
#include "templates/conversations.h"
#include "json.h"
#include "prompt.h"
#include "session.h"
#include "stop_setup.h"

/* what is served: the model, opened by session_open; how its talks are set, null: they are not; what ends an answer of a talk;
   its tokens in order, once a constraint has asked for them; positions of the longest text */
struct serve_model {
  struct session *o; /* its account is the engine's, once there is one */
  struct memory m; /* of the thread of HTTP */
  const char *name, *build;
  uint64_t created; /* seconds since 1970 */
  const struct chat_template *by;
  struct ids ends, named; /* of a talk: what ends an answer, and special tokens whose names are text */
  struct lexicon *words;
  size_t context;
};

/* why a request is refused */
struct serve_refusal {
  unsigned status;
  const char *type, *code;
  char param[120]; /* empty: no field is at fault */
  struct error why;
};

/* the sentence of a refusal; always false. param may be empty */
bool serve_refuse(struct serve_refusal *r, unsigned status, const char *code, const char *param, const char *format, ...)
  __attribute__((format(printf, 5, 6)));

/* the body of its answer: an object with error in it */
void serve_put_error(struct json_writer *j, const struct serve_refusal *r);

/* A prompt, as text for those who want it echoed, and as ids; what its answers must match; the log-probabilities of its own
   tokens, if they are wanted: noted[(1 + k) * i] is that of token i, and the k likeliest follow (the engine writes it). */
struct serve_prompt {
  struct bytes text;
  struct ids list;
  struct constraint *must;
  struct candidate *noted;
  size_t scored; /* tokens of which it is known; the first never is */
  size_t cached; /* rows that were found (the engine's) */
};

/* a token that was written; so many bytes of the text may be shown after it */
struct serve_token { uint32_t id; size_t shown; };

/* One text that is wanted: choice number of a prompt. */
struct serve_choice {
  struct serve_job *job;
  struct serve_prompt *prompt;
  uint32_t number; /* of the sequence that the seed gives */
  /* the engine's alone */
  struct request r;
  struct generate_options want;
  struct sampler d;
  struct stop_setup ends;
  struct constraint_cursor cursor;
  bool opened, in_line;
  /* written by the engine, under the lock */
  struct serve_token *token;
  size_t n, token_cap, noted_cap;
  struct candidate *noted; /* [n][1 + k], if log-probabilities are wanted */
  struct bytes text;
  enum finish_reason ended;
  struct error why; /* after FINISH_ERROR */
  bool over;
  double first, last; /* when tokens came */
  /* how far the thread of HTTP has told of it */
  size_t told, shown, bare, points;
  bool greeted, begun, closed;
};

/* what came of a request; the last is for one that is under way */
enum serve_outcome { SERVE_STOP, SERVE_LENGTH, SERVE_CANCELLED, SERVE_REFUSED, SERVE_ERROR, N_SERVE_OUTCOMES };

/* A request on its way. Its memory is counted by itself: m belongs to one thread at a time, with the job. */
struct serve_job {
  struct memory m;
  struct serve_model *model;
  /* what is wanted */
  bool chat, stream, usage, echo, logprobs, ignore_eos, include_stop;
  size_t k, max_tokens, min_tokens;
  uint64_t seed;
  struct sampling_params s;
  struct sequence_bias *bias;
  uint32_t *biased;
  struct stop_string *stop;
  size_t n_stop;
  json_t *body; /* owns the texts */
  struct serve_prompt *prompt;
  struct serve_choice *choice; /* [n_prompts * per_prompt] */
  size_t n_prompts, per_prompt, n;
  char id[48];
  uint64_t created;
  double came; /* when */
  struct serve_engine *engine; /* once it is submitted */
  /* of the engine, under its lock */
  struct serve_job *next;
  size_t started, over; /* choices */
  bool running, timed; /* one of them has had a slot; the time of its first token was noted */
  bool cancelled, done; /* done: the engine has let go of it */
  bool left; /* HTTP has let go of it: whoever comes last frees it */
  uint64_t ticket; /* 1, 2, ...: which request a slot works for */
  void (*wake)(void *listener); /* there is more to tell; called under the lock */
  void *listener; /* null: nobody listens any more */
};

/* Makes a job of a body: chat or completions. Null and a refusal. */
struct serve_job *serve_job_open(struct serve_model *s, bool chat, const char *body, size_t n, struct serve_refusal *r);

/* returns all that a job has. Its engine has let go of it, or never had it */
void serve_job_close(struct serve_job *j);

/* the object of a body of n bytes, or null and a refusal */
json_t *serve_read_body(const char *body, size_t n, struct serve_refusal *r);

/* ---- the engine */

/* how an engine serves */
struct serve_limits { size_t slots, pass_rows, queue, pages; bool share; };

/* how many times a histogram tells apart */
enum { SERVE_BUCKETS = 14 };

/* a histogram of seconds */
struct serve_times { uint64_t bucket[SERVE_BUCKETS], count; double sum; };

/* the upper end of a bucket */
double serve_bucket_end(size_t i);

/* what was counted since the start */
struct serve_counts {
  uint64_t outcome[N_SERVE_OUTCOMES], prompt_tokens, cached_tokens, written_tokens;
  struct serve_times first, per_token, request;
};

/* what there is at the moment; pages: as many as there may be, those of requests, those of nobody */
struct serve_look {
  size_t running, waiting, pages, pages_used, pages_cached, page_rows, slots;
  struct scheduler_counts done;
  uint64_t guessed, accepted;
};

struct serve_engine;

/* the model's session is the engine's until it is closed. Errors: memory, options that contradict the cache */
struct serve_engine *serve_engine_open(struct serve_model *s, const struct serve_limits *w, struct error *why);

/* starts the thread */
bool serve_engine_start(struct serve_engine *e, struct error *why);

/* ends it when no job is left; it may be started again */
void serve_engine_stop(struct serve_engine *e);

/* the job is the engine's until it is done, and wakes its listener whenever there is news; false and a refusal if there is no
   place in the queue */
bool serve_submit(struct serve_engine *e, struct serve_job *j, struct serve_refusal *r);

/* the listener is gone. sent: it has got all of its answer. The job is freed when the engine has let go of it, too */
void serve_leave(struct serve_engine *e, struct serve_job *j, bool sent);

/* counts a request that never became a job */
void serve_count_outcome(struct serve_engine *e, enum serve_outcome what);

/* is every job done and left? */
bool serve_is_idle(struct serve_engine *e);

/* cancels all jobs, with an error for those who listen */
void serve_cut(struct serve_engine *e);

/* counts, and what there is; slot_rows and slot_ticket have slots places, or are null */
void serve_engine_look(struct serve_engine *e, struct serve_counts *c, struct serve_look *l, size_t *slot_rows, uint64_t *slot_ticket);

/* takes the lock, to read what the engine writes */
void serve_lock(struct serve_engine *e);

/* gives it back */
void serve_unlock(struct serve_engine *e);

/* the pages that are known by their tokens; only while the thread does not run */
struct prefix_index *serve_prefixes(struct serve_engine *e);

/* stops it, and returns the memory; no job is left */
void serve_engine_close(struct serve_engine *e);

/* ---- answers */

/* appends to out what can be told of a stream; *end: it is whole now */
bool serve_put_events(struct serve_engine *e, struct serve_job *j, struct bytes *out, bool *end, struct memory *m);

/* the object of an answer that is whole */
bool serve_put_answer(struct serve_job *j, struct bytes *out, struct memory *m);

/* the first choice that failed, or null; the job is done */
const struct serve_choice *serve_failed(const struct serve_job *j);

/* what HTTP has counted: responses by status */
enum { SERVE_STATUSES = 600 };

/* all metrics, as Prometheus reads them */
bool serve_put_metrics(struct serve_engine *e, unsigned connections, const uint64_t response[SERVE_STATUSES], struct bytes *out,
  struct memory *m);

/* what is written to out is kept in memory */
struct serve_text { FILE *out; char *text; size_t n; };

/* opens the stream; false: there is no memory */
bool serve_text_begin(struct serve_text *t);

/* closes it, and appends what was written to out; false: there is no memory */
bool serve_text_end(struct serve_text *t, struct bytes *out, struct memory *m);
#endif
