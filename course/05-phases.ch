Lab 5: prefill and decode. A change file for chapters/05-phases.w in CWEB's form, with one thing more: a word before @x.
"shape" changes what the files are, for the reference as well; "cut" takes away what the student writes, and what it takes away
is the reference's answer. The lab adds a file, plan.c. A cut can only take away lines of the chapter; so the answer of plan.c
stands in two sections of the chapter's program, by their names, which the reference uses and the skeleton does not.

shape: the model answer of what reads a prompt in chunks; the skeleton does not use this section
@x
@<Show that chunks change nothing@>=
enum { PROMPT = 60 };
static bool read_chunked(struct reading *r, size_t chunk, float *logits,
  struct error *why)
{
  struct row rows[PROMPT];
  struct pass *p = NULL;
  for (uint32_t i = 0; i < PROMPT; i++)
    rows[i] = (struct row) @[{ 0, i, r->text.id[i] }@];
  r->c = (struct counters) @[{ .passes = 0 }@];
  store_clear(r->s);
  bool ok = model_read(&r->g, rows, PROMPT, chunk, &p, why)
    && model_logits(&r->e, r->lm, p, &(size_t) @[{ p->n - 1 }@], 1, logits, why);
  pass_close(p);
  return ok;
}
@y
@<Show that chunks change nothing@>=
bool prefill(const struct generate_context *g, uint32_t sequence, const uint32_t *id,
  size_t n, size_t chunk, float *logits, struct error *why)
{
  size_t most = chunk > 0 && chunk < n ? chunk : n;
  struct row *rows = memory_alloc(g->m, MEMORY_ACTIVATIONS, most, sizeof *rows, why);
  bool ok = rows != NULL;
  for (size_t i = 0, here; ok && i < n; i += here) {
    struct pass *p = NULL;
    here = n - i < most ? n - i : most;
    for (size_t k = 0; k < here; k++)
      rows[k] = (struct row) @[{ sequence, (uint32_t) (i + k), id[i + k] }@];
    ok = model_forward(g->e, g->lm, g->s, rows, here, &p, why);
    if (ok && i + here == n)
      ok = model_logits(g->e, g->lm, p, &(size_t) @[{ here - 1 }@], 1, logits, why);
    pass_close(p);
  }
  memory_free(g->m, rows);
  if (!ok)@+ store_crop(g->s, sequence, 0);
  return ok;
}
@z

shape: and of the pass that a prompt shares with others
@x
@<Show that chunks change nothing@>=
static bool show_chunks(struct reading *r, struct error *why)
{
  static const size_t chunk[] = @[{ 1, 7, 16, 59 }@];
  size_t n = r->lm->config.vocab_size;
  float *z = memory_alloc(&r->m, MEMORY_ACTIVATIONS, 2 * n, sizeof *z, why);
  bool ok = z != NULL && read_chunked(r, 0, z, why);
  for (int i = 0; ok && i < 4; i++) {
    size_t differ = 0;
    ok = read_chunked(r, chunk[i], z + n, why);
    for (size_t k = 0; k < n; k++)
      differ += memcmp(z + k, z + n + k, sizeof *z) != 0;
    if (ok) printf("%d rows in chunks of %2zu: %2zu passes, ", PROMPT,@|
      chunk[i], (size_t) r->c.passes);
    if (ok) printf("%zu of %zu logits differ\n", differ, n);
  }
  memory_free(&r->m, z);
  return ok;
}
@y
@<Show that chunks change nothing@>=
bool mixed_step(const struct generate_context *g, struct prompt *q, size_t chunk,
  const struct row *others, size_t n, float *logits, struct error *why)
{
  size_t left = q->n - q->done, here = left < chunk ? left : chunk;
  bool whole = here > 0 && here == left;
  struct pass *p = NULL;
  struct row *rows = memory_alloc(g->m, MEMORY_ACTIVATIONS, n + here, sizeof *rows, why);
  size_t *which = rows == NULL ? NULL
    : memory_alloc(g->m, MEMORY_ACTIVATIONS, n + 1, sizeof *which, why);
  bool ok = which != NULL;
  for (size_t i = 0; ok && i < n; i++)@+ rows[i] = others[i], which[i] = i;
  for (size_t i = 0; ok && i < here; i++)
    rows[n + i] = (struct row) @[{ q->sequence, (uint32_t) (q->done + i),@|
      q->id[q->done + i] }@];
  if (ok)@+ which[n] = n + here - 1;
  ok = ok && model_forward(g->e, g->lm, g->s, rows, n + here, &p, why);
  if (ok && !model_logits(g->e, g->lm, p, which, n + whole, logits, why)) {
    for (size_t i = 0; i < n; i++)
      store_crop(g->s, others[i].sequence, others[i].position);
    store_crop(g->s, q->sequence, q->done);
    ok = false;
  }
  if (ok)@+ q->done += here;
  pass_close(p);
  memory_free(g->m, which);
  memory_free(g->m, rows);
  return ok;
}
@z

cut: multiply-adds
@x
{@+ return c->madds_linear + c->madds_attention + c->madds_head;@+ }
@y
{
  /* YOUR CODE: of layers, attention and head */
  (void) c;
  return 0;
}
@z

cut: bytes
@x
  return c->weight_bytes_read + c->cache_bytes_read
    + c->cache_bytes_written;
}
@y
  /* YOUR CODE: of weights and cache, read or written */
  (void) c;
  return 0;
}
@z

cut: a sum of counters
@x
  for (int i = 0; i < N_COUNTERS; i++) a->of[i] += b->of[i];
}
@y
  /* YOUR CODE: all counters, none forgotten */
  (void) a, (void) b;
}
@z

cut: a difference of counters
@x
  struct counters between = *after;
  for (int i = 0; i < N_COUNTERS; i++) between.of[i] -= before->of[i];
  return between;
}
@y
  /* YOUR CODE: what has been counted since |before| */
  (void) before;
  return *after;
}
@z

cut: the bound
@x
  return fmax((double) work_madds(c) / m->madds,
    (double) work_bytes(c) / m->bytes);
}
@y
  /* YOUR CODE: the longer of the two times */
  (void) m, (void) c;
  return 0;
}
@z

shape: what the lab adds to the chapter: predictions, and a prompt that is read in chunks; the skeleton has these sections
@x
@* Timing a pass. \label{sec:passes}
@y
@* Predictions. The counters say what a pass has done. Can we say it before the pass, from the settings of the model alone? Then a server can decide how many sequences it takes, and how much of a prompt, before anybody has to wait. A \emph{plan} has the settings of a model, and the bytes of a weight and of a number in the cache. It knows no weights. A \emph{part} of a pass is a number of sequences that are all alike: each has |depth| rows in the store, and |rows| further rows in the pass.

@<What a plan says@>=
struct plan { const struct model_config *c;@+ size_t weight_bytes, cache_bytes; };
  /* the settings of a model, which has no biases and no windows; the bytes of a weight and of a number in the cache */
struct part { size_t sequences, depth, rows; };
  /* so many sequences, each with |depth| rows in the store and |rows| in the pass */
uint64_t plan_layer(const struct plan *p);
  /* the weights in the matrices of one layer */
struct counters plan_pass(const struct plan *p, const struct part *list, size_t n,
  size_t scored);
  /* what |model_forward| will count for a pass of |n| parts, and one call of |model_logits|
     for |scored| of its rows (0: no call); a part with 0 |rows| is not in the pass, and what it has in
     the store is not read */
struct counters plan_prefill(const struct plan *p, size_t depth, size_t n,
  size_t chunk);
  /* the same for |n| rows of a sequence after |depth| in the store, in passes of at most |chunk|
     rows (0: in one), with the logits of the very last row */

@ Two speeds and the counts give times. The bound of several passes one after the other is the sum of their bounds, since a pass begins when the one before it has ended.

@<What a plan says@>=
double intensity(size_t rows, size_t in, size_t out, size_t bytes);
  /* multiply--adds for a byte moved, of a linear layer whose weights, inputs and outputs all
     take |bytes| each and are moved once */
size_t plan_ridge(const struct roofline *m, size_t weight_bytes);
  /* the fewest rows for which the multiply--adds of a large matrix take at least as long as
     its bytes; inputs and outputs are left out */
struct plan_times { double first, last, all; };
  /* seconds until the first token is chosen, for the last pass, and for all passes, by |work_bound| */
struct plan_times plan_text(const struct plan *p, const struct roofline *m,
  size_t prompt, size_t chunk, size_t fresh, struct counters *work);
  /* a text of |fresh >= 1| new tokens after a prompt, which is read in chunks (0: in one pass) into an empty store;
     |*work| is what all passes do together */
size_t plan_batch(const struct plan *p, const struct roofline *m, size_t depth,
  double seconds);
  /* how many sequences, each with |depth| rows in the store, can at most decode a token in
     one pass that is bound by no more than |seconds|; 0: not even one */
size_t plan_chunk(const struct plan *p, const struct roofline *m, size_t others,
  size_t others_depth, size_t done, size_t left, double seconds);
  /* how many rows of a prompt, of which |done| are in the store and |left| are not, can at most join a pass
     in which |others| sequences decode a token after |others_depth| rows each, so that the
     pass is bound by no more than |seconds|; the rows of all |others| are scored, and that of the
     prompt's last token if it is among them; 0: none */

@ The weights of a layer: queries, keys, values and output, and two or three matrices of the MLP (\cref{sec:overtake}). Queries have |n_heads| heads of |head_dim| numbers, keys and values |n_kv_heads| of them, and nothing says that a query is as wide as a hidden state.

Then the pass, counter by counter, as in \cref{sec:counting}. Every row goes through all matrices of all layers. A row at position $i$ meets $i+1$ keys, its own among them; each pair of a query and a key costs two multiply--adds for each number of a head, and |qk_pairs| counts the pairs of one head of one layer. The weights of the layers are read once a pass, and of the embedding a line for each row; with |learned_positions| a line of the positions as well. The head is read once, if at all. Keys and values of each row are written in each layer. All rows that the sequences of the pass have, those of the pass among them, are read in each layer, once a pass.

@<Predict a pass@>=
uint64_t plan_layer(const struct plan *p)
{
  /* YOUR CODE: queries, keys, values, output, MLP */
  (void) p;
  return 0;
}
struct counters plan_pass(const struct plan *p, const struct part *list, size_t n,
  size_t scored)
{
  /* YOUR CODE: each of the counters but |kv_rows_recomputed|, which stays 0 */
  struct counters work = @[{ .passes = 0 }@];
  (void) p, (void) list, (void) n, (void) scored;
  return work;
}

@ A prefill in chunks is a list of passes. Each begins where the one before it has ended, and reads the weights again.

@<Predict a prefill@>=
struct counters plan_prefill(const struct plan *p, size_t depth, size_t n,
  size_t chunk)
{
  /* YOUR CODE: pass by pass */
  struct counters work = @[{ .passes = 0 }@];
  (void) p, (void) depth, (void) n, (void) chunk;
  return work;
}

@ The arithmetic intensity is \eqref{eq:intensity}, with |bytes| instead of 4. The ridge point in rows follows from the two speeds: in the time in which the memory delivers a weight, how many multiply--adds can be done? A row needs one of them.

@<Predict from two speeds@>=
double intensity(size_t rows, size_t in, size_t out, size_t bytes)
{
  /* YOUR CODE: multiply--adds, divided by all bytes */
  (void) rows, (void) in, (void) out, (void) bytes;
  return 0;
}
size_t plan_ridge(const struct roofline *m, size_t weight_bytes)
{
  /* YOUR CODE: round up */
  (void) m, (void) weight_bytes;
  return 0;
}

@ A text is a prefill, then one row for each further token: the last token that is written is chosen and not read (\cref{sec:serial}).

@<Predict from two speeds@>=
struct plan_times plan_text(const struct plan *p, const struct roofline *m,
  size_t prompt, size_t chunk, size_t fresh, struct counters *work)
{
  /* YOUR CODE: the passes one after the other, each with its own bound */
  struct plan_times t = @[{ 0, 0, 0 }@];
  (void) p, (void) m, (void) prompt, (void) chunk, (void) fresh;
  *work = (struct counters) @[{ .passes = 0 }@];
  return t;
}

@ Now the plan is asked backwards: a caller names the seconds that a pass may take, for example because people who read along want a new token so often. How many sequences may share the pass (\cref{sec:batching}), and how many rows of a new prompt may join those that decode (\cref{sec:chunks})? More rows never make a pass faster, so the largest number can be found by trying. It may be in the hundreds of thousands; double the step while it fits, or halve the distance to what does not.

@<Ask a plan backwards@>=
size_t plan_batch(const struct plan *p, const struct roofline *m, size_t depth,
  double seconds)
{
  /* YOUR CODE: the largest batch that keeps the time */
  (void) p, (void) m, (void) depth, (void) seconds;
  return 0;
}
size_t plan_chunk(const struct plan *p, const struct roofline *m, size_t others,
  size_t others_depth, size_t done, size_t left, double seconds)
{
  /* YOUR CODE: the longest piece of the prompt that keeps the time, beside the others */
  (void) p, (void) m, (void) others, (void) others_depth, (void) done, (void) left;
  (void) seconds;
  return 0;
}

@ So much for plans; now the passes themselves. A prompt is read in chunks by |prefill|. The rows of a chunk find their predecessors in the store, so nothing else is handed from one pass to the next, and a pass is closed before the next one is made: only the hidden state of the very last row is of use. With |mixed_step| a prompt advances by a chunk while other sequences decode a token each, in one and the same pass. No row can tell in whose company it is.

@<What reads a prompt@>=
bool prefill(const struct generate_context *g, uint32_t sequence, const uint32_t *id,
  size_t n, size_t chunk, float *logits, struct error *why);
  /* reads the |n >= 1| ids into the empty |sequence| of the store, in passes of at most |chunk| rows (0: in
     one); |logits[vocab_size]| are those after the last. Its own memory is that of the rows of a
     chunk, and it holds one pass at a time. Errors: those of |model_forward| and |model_logits|, and
     memory; then |sequence| is empty again */
struct prompt { uint32_t sequence;@+ const uint32_t *id;@+ size_t n, done; };
  /* |n| ids, of which the first |done| have been read into |sequence| */
bool mixed_step(const struct generate_context *g, struct prompt *q, size_t chunk,
  const struct row *others, size_t n, float *logits, struct error *why);
  /* one pass: at most |chunk| further rows of the prompt, and |n| rows |others|, each of
     another sequence. |logits| has the logits of the |others|, |[n][vocab_size]|, and after them those of the
     prompt's last row, if it is in this pass. |q->done| says how far the prompt has come. There is at least
     one row in all. Errors as for |prefill|; then store and |*q| are as they were */

@ If something fails after the pass, for example because there is no memory for its logits, its rows are in the store already. A caller who tries again would be told that they are there; so they are taken back by |store_crop|.

@<Read a prompt, a chunk at a time@>=
bool prefill(const struct generate_context *g, uint32_t sequence, const uint32_t *id,
  size_t n, size_t chunk, float *logits, struct error *why)
{
  /* YOUR CODE: rows, pass, close; the logits of the very last row */
  (void) g, (void) sequence, (void) id, (void) n, (void) chunk, (void) logits;
  return error_say(why, "prefill has not been written yet");
}
bool mixed_step(const struct generate_context *g, struct prompt *q, size_t chunk,
  const struct row *others, size_t n, float *logits, struct error *why)
{
  /* YOUR CODE: the rows of all in one list, one pass, the logits that are wanted */
  (void) g, (void) q, (void) chunk, (void) others, (void) n, (void) logits;
  return error_say(why, "mixed_step has not been written yet");
}

@* Timing a pass. \label{sec:passes}
@z

cut: a window, chunk by chunk
@x
  struct row rows[READ_AT_ONCE];
  bool ok = true;
  store_crop(r->g->s, 0, 0);
  for (size_t at = begin, n; ok && at < end; at += n) {
    struct pass *p = NULL;
    n = end - at < READ_AT_ONCE ? end - at : READ_AT_ONCE;
    for (size_t i = 0; i < n; i++)
      rows[i] = (struct row) @[{ 0, (uint32_t) (at + i - begin),
        r->id[at + i] }@];
    size_t first = seen > at + 1 ? seen - at - 1 : 0;
    size_t last = at + n == end ? n - 1 : n;
    ok = model_forward(r->g->e, r->g->lm, r->g->s, rows, n, &p, why)
      && score_rows(r, p, at, first, last, why);
    pass_close(p);
  }
  return ok;
}
@y
  /* YOUR CODE: an empty store, chunks of at most |READ_AT_ONCE| ids from |begin| to |end|; after each chunk
     |score_rows| for those of its rows whose next token is in the window and not scored yet */
  (void) r, (void) begin, (void) end, (void) seen, (void) score_rows;
  return error_say(why, "score_window has not been written yet");
}
@z

cut: the windows of a text
@x
  size_t seen = 1, end = 0;
  for (size_t begin = 0; end < n; begin += stride) {
    end = n - begin < context ? n : begin + context;
    if (seen <= begin) seen = begin + 1;
    if (!score_window(r, begin, end, seen, why)) return false;
    r->out->windows++;
    seen = end;
  }
  return true;
}
@y
  /* YOUR CODE: a window every |stride| ids, the last one the first that reaches the end */
  (void) r, (void) n, (void) context, (void) stride, (void) score_window;
  return error_say(why, "read_windows has not been written yet");
}
@z

shape: the program gives way to plan.c and its header
@x
@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/cache.h"
#include "phases/phases.h"
@;@#
@<A model that reads the sentence over and over@>@;
@y
@(plan.h@>=
#ifndef INCIPIT_PLAN_H
#define INCIPIT_PLAN_H
#include "phases/phases.h"
@<What a plan says@>@;
@<What reads a prompt@>@;
#endif

@ @c
#include <math.h>
#include "phases/plan.h"
@;@#
@z

cut: all of plan.c; its sections are among those that the lab adds
@x
@<Show the rows of the two phases@>@;
@<Show that chunks change nothing@>@;
@y
@<Predict a pass@>@;
@<Predict a prefill@>@;
@<Predict from two speeds@>@;
@<Ask a plan backwards@>@;
@<Read a prompt, a chunk at a time@>@;
@z

shape: the rest of the program
@x
@<Show what windows do@>@;
int main(void)
{
  static struct reading r;
  struct error why;
  bool ok = reading_open(&r, &why) && show_phases(&r, &why)
    && show_chunks(&r, &why) && show_windows(&r, &why);
  store_close(r.s), ids_free(&r.m, &r.text);
  model_close(&r.m, r.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
@y
@z

shape: the model answer of the predictions; the skeleton does not use this section
@x
@<Show the rows of the two phases@>=
static bool print_pass(void *ctx, const struct step *now)
{
  const struct counters *a = &now->before, *b = &now->after;
  double madds = (double) (work_madds(b) - work_madds(a));
  double bytes = (double) (work_bytes(b) - work_bytes(a));
  (void) ctx;
  printf("%4zu %5" PRIu64 " %12.0f"@| " %10.0f %9.2f\n", now->number,
    b->rows - a->rows, madds, bytes, madds / bytes);
  return true;
}
static bool show_phases(struct reading *r, struct error *why)
{
  struct generate_options want = @[{ .max_new_tokens = 4, .recall = store_match_prefix,@|
    .on_step = print_pass }@];
  struct continuation text;
  printf("pass  rows  mult.-adds      bytes  a byte\n");
  bool ok = generate(&r->g, r->text.id, WORDS, &want, &text, why);
  continuation_free(&r->m, &text);
  return ok;
}
@y
@<Show the rows of the two phases@>=
uint64_t plan_layer(const struct plan *p)
{
  const struct model_config *c = p->c;
  uint64_t d = c->d_model, q = (uint64_t) c->n_heads * c->head_dim;
  uint64_t kv = (uint64_t) c->n_kv_heads * c->head_dim;
  return 2 * d * (q + kv) + (c->gated ? 3 : 2) * d * c->d_inner;
}
struct counters plan_pass(const struct plan *p, const struct part *list, size_t n,
  size_t scored)
{
  const struct model_config *c = p->c;
  uint64_t d = c->d_model, head = d * c->vocab_size, layers = c->n_layers;
  uint64_t kept = 2 * (uint64_t) c->n_kv_heads * c->head_dim * p->cache_bytes;
  uint64_t rows = 0, pairs = 0, visible = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t r = list[i].rows, b = r == 0 ? 0 : list[i].sequences;
    rows += b * r, pairs += b * (r * list[i].depth + r * (r + 1) / 2);
    visible += b * (list[i].depth + r);
  }
  struct counters work = @[{ .passes = 1, .rows = rows, .kv_rows_computed = rows,@|
    .qk_pairs = pairs, .madds_head = scored * head }@];
  work.madds_linear = rows * layers * plan_layer(p);
  work.madds_attention = 2 * layers * pairs * c->n_heads * c->head_dim;
  work.weight_bytes_read = p->weight_bytes * (layers * plan_layer(p)@|
    + rows * d * (c->learned_positions ? 2 : 1) + (scored > 0 ? head : 0));
  work.cache_bytes_read = layers * visible * kept;
  work.cache_bytes_written = layers * rows * kept;
  return work;
}
struct counters plan_prefill(const struct plan *p, size_t depth, size_t n,
  size_t chunk)
{
  struct counters work = @[{ .passes = 0 }@];
  for (size_t i = 0, here; i < n; i += here) {
    here = chunk > 0 && n - i > chunk ? chunk : n - i;
    struct part one = @[{ 1, depth + i, here }@];
    struct counters pass = plan_pass(p, &one, 1, i + here == n);
    counters_add(&work, &pass);
  }
  return work;
}
double intensity(size_t rows, size_t in, size_t out, size_t bytes)
{
  double n = (double) rows, a = (double) in, b = (double) out;
  return n * a * b / ((double) bytes * (a * b + n * a + n * b));
}
size_t plan_ridge(const struct roofline *m, size_t weight_bytes)
{
  double rows = ceil(m->madds * (double) weight_bytes / m->bytes);
  return rows < 1 ? 1 : (size_t) rows;
}
static void add_pass(struct plan_times *t, const struct roofline *m,
  struct counters *work, const struct counters *pass)
{
  counters_add(work, pass);
  t->last = work_bound(m, pass);
  t->all += t->last;
}
struct plan_times plan_text(const struct plan *p, const struct roofline *m,
  size_t prompt, size_t chunk, size_t fresh, struct counters *work)
{
  struct plan_times t = @[{ 0, 0, 0 }@];
  *work = (struct counters) @[{ .passes = 0 }@];
  for (size_t i = 0, here; i < prompt; i += here) {
    here = chunk > 0 && prompt - i > chunk ? chunk : prompt - i;
    struct part one = @[{ 1, i, here }@];
    struct counters pass = plan_pass(p, &one, 1, i + here == prompt);
    add_pass(&t, m, work, &pass);
  }
  t.first = t.all;
  for (size_t i = 1; i < fresh; i++) {
    struct part one = @[{ 1, prompt + i - 1, 1 }@];
    struct counters pass = plan_pass(p, &one, 1, 1);
    add_pass(&t, m, work, &pass);
  }
  return t;
}
static bool keeps_time(const struct plan *p, const struct roofline *m,
  const struct part *list, size_t n, size_t scored, double seconds)
{
  struct counters work = plan_pass(p, list, n, scored);
  return (double) work_madds(&work) / m->madds <= seconds@|
    && (double) work_bytes(&work) / m->bytes <= seconds;
}
size_t plan_batch(const struct plan *p, const struct roofline *m, size_t depth,
  double seconds)
{
  size_t fits = 0, more = 1;
  struct part all = @[{ 1, depth, 1 }@];
  while (keeps_time(p, m, &all, 1, more, seconds))
    fits = more, more *= 2, all.sequences = more;
  while (more - fits > 1) {
    size_t try = fits + (more - fits) / 2;
    all.sequences = try;
    if (keeps_time(p, m, &all, 1, try, seconds))@+ fits = try;
    else@+ more = try;
  }
  return fits;
}
size_t plan_chunk(const struct plan *p, const struct roofline *m, size_t others,
  size_t others_depth, size_t done, size_t left, double seconds)
{
  size_t fits = 0, more = left + 1;
  while (more - fits > 1) {
    size_t try = fits + (more - fits) / 2;
    struct part list[2] = @[{ { others, others_depth, 1 }, { 1, done, try } }@];
    bool ok = keeps_time(p, m, list, 2, others + (try == left), seconds);
    if (ok)@+ fits = try;
    else@+ more = try;
  }
  return fits;
}
@z
