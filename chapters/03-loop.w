@i types.w
@s step_watch int
@s step_select int
@s step_accept int
@s step_stop int
@s step_recall int

\chapterquestion{Why does the tenth word of an answer cost more than the first, when it is
only one more word?}
@** The generation loop, and what recomputing costs.
\incipit{A}{model} predicts one token. It becomes a writer when somebody feeds it its own
words: the token it predicted is appended to the text, and the longer text goes in
again. That is all there is to it, and a loop of six steps does it. But look at what goes
in. To predict the fourth token the model reads three; to predict the fifth it reads
four, three of which it has read before; and a model has no yesterday. Everything it
worked out about those three it works out again.
@^autoregressive generation@>@^redundancy@>

In this chapter we build that loop, exactly as the simplest accounts of it are written, and
then we count. The counters of \cref{model} sit beside the work they count. What they show is the
reason for the whole second part of the book.

To recall the words: a \emph{row} is one token at one position on its way through the model; a \emph{pass} takes a set of rows
through all layers; in each layer a row makes a query, a key and a value, and its query is compared with the keys of the
rows before it and its own. The \emph{store} keeps keys and values. At the end the \emph{head} turns a row into
scores, the logits, one for each token of the vocabulary.

\begin{byhand}{three tokens given, four to write}
\tok{The}\tok{\ cat}\tok{\ sat} are given; \gen{\ on}\gen{\ the}\gen{\ mat}\gen{.} are written.
Each pass computes a row for every token so far.

\medskip
\begin{tabular}{@@{}llrr@@{}}
\tabhead{pass} & \tabhead{reads positions} & \tabhead{rows} & \tabhead{of them new}\\
1, writes \gen{\ on} & 0 1 2 & 3 & 3\\
2, writes \gen{\ the} & 0 1 2 3 & 4 & 1\\
3, writes \gen{\ mat} & 0 1 2 3 4 & 5 & 1\\
4, writes \gen{.} & 0 1 2 3 4 5 & 6 & 1
\end{tabular}
\medskip

In all $3+4+5+6=18$ rows, of which $3+1+1+1=6$ are computed for the first time and
$18-6=12$ again. By position: \tok{The}, \tok{\ cat} and \tok{\ sat} are repeated three times each,
\gen{\ on} twice, \gen{\ the} once, \gen{\ mat} never: $3+3+3+2+1+0=12$. The full stop has no
row at all. Nobody reads it.
\end{byhand}

\widefig{redogrid}{fig:grid}{The work of four passes. A cell is one row, computed in one pass
at one position. Solid cells are computed for the first time; hatched cells have been computed
before, and come out the same to the last bit. The number in a cell counts the computations of its row so far.}{A grid of four lines, the passes, and six
columns, the positions of The cat sat on the mat. Pass 1 fills positions 0 to 2, pass 2
positions 0 to 3, pass 3 positions 0 to 4, pass 4 positions 0 to 5. The first-time cells are the
three of pass 1 and the last cell of each later pass, six in all; the other twelve cells are
work done again.}

@ The chapter makes a module, |generate.h| and |generate.c|, whose function |generate| serves the
command of \cref{command}, its protocol (\cref{sec:probe}), by which engines are compared, and every later chapter; and a program,
\.{checkpoints/loop.c}, that finds by running the loop what the hand has just found with a pencil, and then counts four cases that no
hand would. \Cref{lab:loop} is a longer program. It prints the points of the figures and every number that is quoted here; a note
in the margin says where.

@c
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "loop/generate.h"
#include "loop/parrot.h"
@;@#
@<Somebody who writes the sentence@>@;
@<Count the rows of a text@>@;
@<Draw the four passes as the hand drew them@>@;
@<Count the four cases that are quoted everywhere@>@;
int main(void)
{
  static struct writer model, parrot;
  struct error why;
  parrot_writer(&parrot);
  bool ok = model_writer(&model, &why) && draw_passes(&model, &why)
    && print_table(&parrot, &why);
  model_close(&model.m, model.own);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@* The loop in six steps. \label{sec:sixsteps}
The loop in words: forget everything; make a row for every token of the text that the store has no row of, and run the
rows through the model; score what may follow the last row; select one token; append it;
stop, or begin again. We write one round of these six, which is also called a \emph{step} of the text, as a function of its own, and the loop around it. Why not everything in one function? Because a step has a second use: it can
take several texts one round further in the same pass. Then the weights of the model are read once for all of them, and \cref{phases} shows how much that saves. Which texts share a pass changes no
bit of any of them, because rows of different sequences never see each other.
@^step@>@^batching@>

Here is the step. A text that is being written is a |struct sequence|: its tokens so far, its options, and its number in the store. The first loop forgets, and counts the rows that have to be read for each sequence. One pass reads all these rows, and one product scores the last row of each sequence.
In the last loop each sequence takes a token by its own logits. They are in one array, a row of |vocab_size| numbers for each sequence that may choose.

@<Take every sequence one step further@>=
bool generate_step(const struct generate_context *g, struct sequence *const *list,
  size_t n, float *logits, struct error *why)
{
  size_t rows = 0;
  for (size_t i = 0; i < n; i++)
    rows += plan_rows(g, list[i]);                /* 1. forget */
  if (rows > 0 && !read_and_score(g, list, n, rows, logits, why))
    return false;                                 /* 2. and 3. */
  for (size_t i = 0; i < n; i++)
    if (may_choose(list[i])) {
      take_token(g, list[i], logits);             /* 4., 5. and 6. */
      logits += g->lm->config.vocab_size;
    }
  return true;
}

@ The loop around it is short: while the text has not ended, take a step. It has one sequence and one row of logits, which is allocated once, since it is equally long in every round.

In a step with several texts something may be wrong with one of them, and the others should go on. So a sequence that fails ends like any other, and keeps the sentence that says what was wrong. The caller of |generate| has only this one, and gets the sentence as an error.

In one case a step that fails is not an error. If the caller has given up a pass, because Ctrl-C was pressed while a long prompt was read (\cref{sec:progress}), the text ends where it is, and what was written before is kept.

@<Write a continuation@>=
static bool given_up(const struct generate_context *g, struct continuation *c)
{
  bool cancelled = progress_cancelled(g->e->progress);
  if (cancelled) c->ended = FINISH_CANCELLED;
  return cancelled;
}
@#
bool generate(const struct generate_context *g, const uint32_t *prompt, size_t n,
  const struct generate_options *want, struct continuation *out, struct error *why)
{
  struct sequence q, *one = &q;
  bool ok = sequence_open(&q, g, prompt, n, want, why);
  float *logits = !ok ? NULL : memory_alloc(g->m, MEMORY_ACTIVATIONS,
    g->lm->config.vocab_size, sizeof *logits, why);
  ok = logits != NULL;
  while (ok && q.c.ended == FINISH_NONE)
    ok = generate_step(g, &one, 1, logits, why) || given_up(g, &q.c);
  if (q.c.ended == FINISH_ERROR) ok = error_say(why, "%s", q.why.text);
  memory_free(g->m, logits);
  if (!ok) sequence_close(g->m, &q);
  *out = q.c;
  return ok;
}

@ Now the steps one by one. To forget costs
nothing, but it is why the second step costs so much: a store that has forgotten has no row of any token. \Cref{cache} will take the first step out: a caller may bring a function, |recall|, that
says how many rows the store has already. In this chapter there is none, so |first|, the position of the first row to be read, is 0 when a round begins.

A caller may want shorter passes than the text has rows, because a pass takes memory for each of its rows, and the other texts of a step wait for the longest. Then at most |chunk| rows of a sequence are read in one step; the sequence is still |reading|, and the next step goes on where this one stopped (\emph{chunked prefill}). Only after the step that reads its last row may it choose a token.
The counters are copied when a round begins, for a watcher who wants to know what the round cost (\cref{sec:watch}).
@^chunked prefill@>

@<Plan the rows of a sequence@>=
static size_t plan_rows(const struct generate_context *g, struct sequence *q)
{
  const struct generate_options *want = q->want;
  size_t n = q->c.text.n;
  q->count = 0;
  if (q->c.ended != FINISH_NONE) return 0;
  if (!q->reading) q->first = 0, q->before = *g->e->c;
  if (want->recall == NULL) store_crop(g->s, q->c.sequence, q->first);
  else q->first = want->recall(g->s, q->c.sequence, q->c.text.id, n - 1);
  size_t left = n - q->first;
  q->reading = want->chunk > 0 && left > want->chunk;
  q->count = q->reading ? want->chunk : left;
  return q->count;
}
static bool may_choose(const struct sequence *q)
{
  return q->count > 0 && !q->reading && q->c.ended == FINISH_NONE;
}

@ Reading is one pass over the rows of all sequences, |model_forward| of \cref{sec:forward}; scoring is one product with the head's matrix,
for the last row of each sequence alone. A long text has as many rows as tokens, and each could say
what it expects next. But only the last is asked: the others would predict tokens that are
already there. That saves a good deal. In GPT-2 small the head takes \val{gpt2.head} multiply--adds for a row, and
all layers together \val{gpt2.layers.madds}.

The list of rows is taken anew for every pass, as long as the texts are now. Once for all, at the length that a text may reach, would be simpler; but that length
comes out of the model's file, and a file of a few lines may claim a context of $2^{31}-1$ positions. What |model_forward| makes, the pass with its hidden states, is
closed as soon as the scores are computed, even if computing them failed: nobody looks at it again, and the next round makes a larger one.
If there is only one text, the progress that is reported is that of the whole text, and not of the piece that this pass reads.

@<Read what is not stored, and score what may follow@>=
static void tell_of_text(struct progress *p, const struct sequence *q)
{
  if (p == NULL) return;
  p->before = q == NULL ? 0 : q->first;
  p->all = q == NULL ? 0 : q->c.text.n;
}

@ Reading, now, is to make the rows, put them through the model, find the last row of each sequence that has been read to its end, and ask for the logits of those rows.

@<Read what is not stored, and score what may follow@>=
static bool read_and_score(const struct generate_context *g,
  struct sequence *const *list, size_t n, size_t total, float *logits,@|
  struct error *why)
{
  struct pass *p = NULL;
  size_t k = 0;
  struct row *rows = memory_alloc(g->m, MEMORY_ACTIVATIONS, total, sizeof *rows, why);
  size_t *last = rows == NULL ? NULL
    : memory_alloc(g->m, MEMORY_ACTIVATIONS, n, sizeof *last, why);
  for (size_t i = 0; last != NULL && i < n; i++)
    k += make_rows(list[i], rows + k);
  if (n == 1) tell_of_text(g->e->progress, list[0]);
  bool ok = last != NULL
    && model_forward(g->e, g->lm, g->s, rows, total, &p, why);
  tell_of_text(g->e->progress, NULL);
  if (ok) k = find_last_rows(g->lm, list, n, p, last);
  ok = ok && (k == 0 || model_logits(g->e, g->lm, p, last, k, logits, why));
  pass_close(p);
  memory_free(g->m, last);
  memory_free(g->m, rows);
  return ok;
}

@ A row is a sequence, a position and a token. The rows of a sequence begin where the store's rows of it end; here the store has nothing of the text, and they begin at position 0. The last row is read in any case, or there would be nothing to score.

@<Make the rows of a sequence@>=
static size_t make_rows(const struct sequence *q, struct row *rows)
{
  for (size_t i = 0; i < q->count; i++)
    rows[i] = (struct row) @[{ .sequence = q->c.sequence,
      .position = (uint32_t) (q->first + i),
      .token = q->c.text.id[q->first + i] }@];
  return q->count;
}

@ After a pass that has succeeded the rows of each sequence are in the store, and each sequence whose text has been read to the end needs a score. If the pass fails, nothing has been stored, and no sequence has changed. So the caller may try the same step again, perhaps with one sequence fewer.

@<Find the last row of every sequence that may choose@>=
static size_t find_last_rows(const struct model *lm, struct sequence *const *list,
  size_t n, const struct pass *p, size_t *last)
{
  size_t k = 0, end = 0;
  for (size_t i = 0; i < n; i++) {
    struct sequence *q = list[i];
    size_t begin = end;
    end += q->count, q->first += q->count;
    if (!may_choose(q)) continue;
    if (finite_until(lm, p, begin, end - 1, &q->why)) last[k++] = end - 1;
    else q->c.ended = FINISH_ERROR;
  }
  return k;
}

@ The weights may hold infinite numbers, or NaN, and then the rows go bad somewhere on their way. A bad row spoils those that see it; so if the last one of a sequence is bad, its first
bad one is where to look, and |pass_is_finite| says after which layer. A bad row that the last one does not see, because a window ends before it, is no reason to stop.

@<Name the first row that went bad, if the last one did@>=
static bool finite_until(const struct model *lm, const struct pass *p,
  size_t first, size_t last, struct error *why)
{
  if (pass_is_finite(lm, p, last, NULL)) return true;
  while (first < last && pass_is_finite(lm, p, first, NULL)) first++;
  return pass_is_finite(lm, p, first, why);
}

@ The last three of the six steps concern one sequence and its own logits: select a token, append it, and stop or go on. If one of them fails, the sequence ends with an error. In |now| we keep what the watcher is told about the round. If no token is wanted, the text is as long as it should be once it has been read, and ends without a choice: a caller who asks for no token may want to know what the reading costs.

The caller's choosing function |select| has a companion, |accept|, which is told the token that has joined the text. Why, when the token was chosen a moment ago? Because a choice may come to nothing: a program that guesses (\cref{sec:sampler}) asks for many choices and keeps some of them. So choosing changes nothing, and |accept| is where a function that has to remember the text learns of each token.

@<Take a token, and perhaps end@>=
static void take_token(const struct generate_context *g, struct sequence *q,
  const float *logits)
{
  struct continuation *c = &q->c;
  const struct generate_options *want = q->want;
  struct step now = @[{ .number = c->text.n - c->n_prompt + 1,
    .length = c->text.n, .logits = logits, .before = q->before }@];
  if (want->max_new_tokens == 0) {
    c->ended = FINISH_LENGTH;
    return;
  }
  bool ok = select_token(g->lm, want, logits, c, &now.chosen, &q->why)@|
    && ids_push(g->m, &c->text, now.chosen, &q->why)@|
    && (want->accept == NULL
      || want->accept(want->select_ctx, now.chosen, &q->why))@|
    && stop_or_go_on(g, q, &now);
  if (!ok) c->ended = FINISH_ERROR;
}

@ Some programs read rows without writing a text. \Cref{phases} takes the time of a prefill, and \cref{search} reads the rows of all beams; both have a list of rows already. |model_read| puts such a list through the model in pieces of at most |chunk| rows, one pass each,
and hands on only the last pass. The progress that is reported is that of the whole list, not of the piece. It makes no difference to a row in which piece it comes, as the keys and values of the earlier pieces are in the store, with the same bits; \cref{phases} has more to say about this.

@<Read a list of rows, a chunk at a time@>=
bool model_read(const struct generate_context *g, const struct row *rows, size_t n,
  size_t chunk, struct pass **last, struct error *why)
{
  struct progress none = @[{ .all = 0 }@];
  struct progress *p = g->e->progress != NULL ? g->e->progress : &none;
  bool ok = true;
  *last = NULL;
  p->all = n;
  for (size_t i = 0, here; ok && i < n; i += here) {
    here = chunk > 0 && n - i > chunk ? chunk : n - i;
    p->before = i;
    pass_close(*last);
    ok = model_forward(g->e, g->lm, g->s, rows + i, here, last, why);
  }
  p->before = p->all = 0;
  return ok;
}

@ Until chapter 7 we select in the simplest way there is, called \emph{greedy}: the highest score wins, and of
equal scores the token with the lowest number. Equal scores are rare, but a rule that let the order of the machine's work decide between
them would now and then give two machines two texts. A caller who knows a better way may bring it: the loop then asks the caller's function, and
does not care how it chooses.

A score that is not a number would lose every
comparison: every |>| with it is false. So a model that has gone wrong altogether would write token 0 for ever, and a reader might take that for a bad
model. It is an error instead, and the sentence names the first such score. The row was finite after the last layer, as we have just seen; so it is the last norm or
the head that did it.
@^greedy decoding@>@^ties@>

@<Choose the token with the highest score@>=
static bool select_token(const struct model *lm, const struct generate_options *want,
  const float *logits, const struct continuation *c, uint32_t *chosen,@|
  struct error *why)
{
  size_t best = 0;
  for (size_t v = 0; v < lm->config.vocab_size; v++) {
    if (!isfinite(logits[v]))
      return error_say(why, "%s: logit %zu is not finite"@|
        " behind the last layer; wanted: a number",
        tensor_file_path(lm->weights), v);
    if (logits[v] > logits[best]) best = v;
  }
  *chosen = (uint32_t) best;
  return want->select == NULL
    || want->select(want->select_ctx, logits, c, chosen, why);
}

@ Three things end a text in this chapter: the model selects a token that means the end;
the text has the length that was asked for, or the context is full; or the watcher cancels. (A caller may bring a judge for a fourth; chapter 8 does.) An end token is appended like any other; whoever prints the text leaves it out.
The order matters when two of them happen on one token: the end that the model itself chose
is the better news, and a watcher that would cancel a text which has ended anyway comes too late.

When is a context full? The context is the store's: it may be shorter than what the model was trained for. Take one of 8 positions and a prompt of 6 tokens. The passes read 6, 7 and 8 tokens; the third writes a ninth, which would stand at
position 8, where there is none. It is written all the same, for it need not be read.\side{A last token needs no row, so a prompt of $n$ in a context of $C$ can
be followed by $C-n+1$ tokens: here $8-6+1=3$.} That is why the text is compared with |>| and not with |>=|.
@^stopping@>

@<Stop, or go round again@>=
static bool stop_or_go_on(const struct generate_context *g, struct sequence *q,
  struct step *now)
{
  const struct generate_options *want = q->want;
  struct continuation *c = &q->c;
  size_t written = c->text.n - c->n_prompt;
  now->after = *g->e->c;
  bool enough = written > want->min_tokens
    && is_one_of(now->chosen, want->eos, want->n_eos);
  if (!enough && want->stop != NULL
      && !want->stop(want->stop_ctx, c, &enough, &q->why))
    return false;
  if (enough) c->ended = FINISH_STOP;
  else if (written == want->max_new_tokens || c->text.n > g->s->n_positions)
    c->ended = FINISH_LENGTH;
  if (want->on_step != NULL && !want->on_step(want->ctx, now)
      && c->ended == FINISH_NONE)
    c->ended = FINISH_CANCELLED;
  return true;
}

@ Why a list and not one number? Because published models have more than one end: Llama 3 has one for a text and another for a turn
of a conversation. The list is short, two or three ids, so looking through it costs nothing beside a pass; an empty one means that nothing ends the text but
its length.

@<Tell whether an id is in a list@>=
static bool is_one_of(uint32_t id, const uint32_t *list, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (list[i] == id) return true;
  return false;
}

@* The interface of the loop. \label{sec:generate}
One function writes for everybody: the command, the protocol, the programs of later
chapters. If each had a loop of its own, each would sooner or later stop in its own way, and none could be a witness for
the others. It is given a generator, which is no more than the four things that a
pass needs, a prompt in ids, and the caller's options. All four are borrowed: a model is large, and the next text wants the same one.

@<What it takes to generate@>=
struct generate_context { struct engine *e; const struct model *lm; struct store *s;
  struct memory *m; };
  /* what a pass needs; all four are borrowed. |e->c| counts the work */
enum finish_reason { FINISH_NONE, FINISH_STOP, FINISH_LENGTH, FINISH_CANCELLED,
  FINISH_ERROR };
  /* why a text ended: not yet, an end token, its length or the context's, the
     |false| of the watcher or of the engine's |progress|, or something that went wrong
     with this text alone */

@ A caller may watch the loop: to print tokens as they come, to draw a grid, to cancel. \label{sec:watch} The watcher
is called once a step, after the token was chosen, and sees the scores it was chosen from
and the counters before and after. The difference of the two is what the
step cost, so a second set of counters is not needed. (In a step of several texts the pass is shared, and so is its cost: each watcher sees the whole difference.) The alternative, a loop that prints, would have to know who reads.

@<What it takes to generate@>=
struct step { size_t number, length; const float *logits; uint32_t chosen;
  struct counters before, after; };
  /* step |number| (from 1) read |length| tokens; |logits[vocab_size]| lives until
     the watcher returns */
typedef bool step_watch(void *ctx, const struct step *now);
  /* called after every step; |false| cancels */

@ Three decisions of the loop can be left to the caller, each as a function. The first chooses the next token, and is told afterwards which token has joined the text; choosing and joining are apart, because a caller may want to ask what would be chosen without writing it. The second
says when a text has enough. The third says which of the stored rows still belong to the text. A function that is not given leaves the decision to the loop: the likeliest token, no other end than those above, no row kept.

@<What it takes to generate@>=
struct continuation;
typedef bool step_select(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why);
  /* chooses what follows the |text| by |logits[vocab_size]|, all finite;
     |*chosen| is the likeliest before; |false| and a sentence if it cannot. Choosing
     changes nothing that a later choice depends on */
typedef bool step_accept(void *ctx, uint32_t id, struct error *why);
  /* is told that |id| has joined the text; |false| and a sentence if it may not */
typedef bool step_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);
  /* says whether the |text|, whose last token is the newest, is to end with
     it; |*enough| is false before; |false| and a sentence if it cannot */
typedef size_t step_recall(struct store *s, uint32_t sequence,
  const uint32_t *id, size_t n);
  /* makes the store forget what does not belong to the text |id[n]|, and says
     how many of its rows are left */

@ The options are a structure, so that a caller names those that matter to it and leaves the others zero. Zero is the plain loop of this chapter, except that |max_new_tokens| must say how much to write.

@<What it takes to generate@>=
struct generate_options { size_t max_new_tokens; const uint32_t *eos; size_t n_eos;
  step_watch *on_step; void *ctx; uint32_t sequence; step_recall *recall; size_t chunk;
  step_select *select; step_accept *accept; void *select_ctx;
  step_stop *stop; void *stop_ctx;
  size_t min_tokens; };
  /* the caller's options: the most new tokens, the ids that end a text, a
     watcher or null, the number of the sequence in the store, what is asked at
     every step for the rows that it has, null to forget them, the most rows of
     a pass, 0 for any number; what chooses, null for the likeliest token, and what
     is told which token has joined the text, or null; what
     judges whether the text is to end, or null; up to how many new tokens an
     end token ends nothing */

@ What comes back is the text, prompt included, and the reason why it ended. It belongs to the
caller, and is valid after a cancellation, too: a reader who breaks off a long answer wants to keep what there is. After a failure it is empty.

@<What it takes to generate@>=
struct continuation { struct ids text; size_t n_prompt; enum finish_reason ended;
  uint32_t sequence; };
  /* |text.id[n_prompt]| is the first token written */
void continuation_free(struct memory *m, struct continuation *c);
  /* returns the text */

@ A text that is still being written is a \emph{sequence}: what there is of it, the caller's options, and how far the reading has come. The function that does the work takes several of them one step further, in one pass; a server that writes for many people calls it again and again, with whatever sequences are there.
@^sequence@>

@<What it takes to generate@>=
struct sequence { struct continuation c; const struct generate_options *want;
  size_t first, count; bool reading; struct counters before; struct error why; };
  /* a text that is being written: what there is of it, and the caller's options, borrowed. The rest
     is the step's: it reads |count| rows from position |first| on, and is
     still |reading| if that is not all; |before|: the counters when the round began; |why|: the sentence, if
     |c.ended| is |FINISH_ERROR| */
bool sequence_open(struct sequence *q, const struct generate_context *g,
  const uint32_t *prompt, size_t n, const struct generate_options *want,
  struct error *why);
  /* begins a text after the |n| $\ge 1$ ids of the prompt, as sequence |want->sequence| of
     the store; errors: an empty prompt, an id out of range, a prompt longer than
     the context, memory. On failure |q| is empty */
void sequence_close(struct memory *m, struct sequence *q);
  /* returns the text; the store keeps its rows */
bool generate_step(const struct generate_context *g, struct sequence *const *list,
  size_t n, float *logits, struct error *why);
  /* takes |n| sequences, each with a number of its own in the store, one step further in one pass. One that has ended is left
     alone; of one that has more than |want->chunk| rows to read, that many are read; each of the others
     takes one token, and may end by it. |logits| has room for |[n][vocab_size]|. Errors,
     after which all sequences are as they were: those of |model_forward| and |model_logits|. What is wrong with one text, a
     logit that is not finite or a function of the caller's that fails, ends this
     sequence with |FINISH_ERROR| and no other */

@ Most callers have one text and want it whole: |generate| opens a sequence, takes steps until it has ended, and hands the text over. Some want to read and not to write, as for the probability of a text that exists; for them |model_read| is the part of a step that fills the store.

@<What it takes to generate@>=
bool generate(const struct generate_context *g, const uint32_t *prompt, size_t n,
  const struct generate_options *want, struct continuation *out, struct error *why);
  /* writes after the |n| $\ge 1$ ids of the prompt until something says stop;
     errors: an empty prompt, an id out of range, a prompt longer than the
     context, memory, a logit that is not finite. On failure |out| is empty */
bool model_read(const struct generate_context *g, const struct row *rows, size_t n,
  size_t chunk, struct pass **last, struct error *why);
  /* puts |n| $\ge 1$ rows through the model and its store in passes of at most
     |chunk| rows, 0 for one pass; |*last| is the last one, owned by the caller, null on failure */

@ When a sequence begins, the prompt is checked, so that a mistake is reported before it has
cost a pass. An id that the vocabulary does not have is the common one, made by pairing one model with another's tokenizer; unchecked, it would be an
address beyond the end of the embedding. (A prompt that fills the context to its last position is no mistake: one token can still be written.)

@<Refuse a prompt that cannot be continued@>=
static bool check_prompt(const struct generate_context *g, const uint32_t *prompt,
  size_t n, struct error *why)
{
  size_t context = g->s->n_positions, v = g->lm->config.vocab_size;
  if (n == 0)
    return error_say(why, "the prompt has no tokens; wanted: 1 or more");
  if (n > context)
    return error_say(why, "the prompt has %zu tokens; the context holds %zu",
      n, context);
  for (size_t i = 0; i < n; i++)
    if (prompt[i] >= v)
      return error_say(why, "token %zu of the prompt is id %" PRIu32@|
        "; the vocabulary has %zu", i, prompt[i], v);
  return true;
}

@ Then the text begins as a copy of the prompt. How long it can become need not be known beforehand: the caller may say ``as many as you like'' with the
largest number there is, and the context ends the loop.

@<Begin and close a sequence@>=
bool sequence_open(struct sequence *q, const struct generate_context *g,
  const uint32_t *prompt, size_t n, const struct generate_options *want,
  struct error *why)
{
  *q = (struct sequence) @[{ .want = want,
    .c = { .n_prompt = n, .sequence = want->sequence } }@];
  bool ok = check_prompt(g, prompt, n, why);
  for (size_t i = 0; ok && i < n; i++)
    ok = ids_push(g->m, &q->c.text, prompt[i], why);
  if (!ok) sequence_close(g->m, q);
  return ok;
}

@ Only the text of a sequence is allocated, so only the text is freed. It may be freed twice, or after a failure, without harm: |ids_free| leaves an empty
list behind, and freeing an empty list does nothing.

@<Begin and close a sequence@>=
void continuation_free(struct memory *m, struct continuation *c)
{
  ids_free(m, &c->text);
  c->ended = FINISH_NONE;
}
void sequence_close(struct memory *m, struct sequence *q)
{
  continuation_free(m, &q->c);
}

@ The module is short, and should be: whatever later chapters add to the choice of rows and
tokens, this loop stays. A program that serves many texts at once is another loop over the same step. It uses two others: the growing list of ids is chapter 0's, the pass and the store are
the model's. It needs no tokenizer, since it reads and writes ids and never a letter.

@(generate.h@>=
#ifndef INCIPIT_GENERATE_H
#define INCIPIT_GENERATE_H
#include "ground/buffers.h"
#include "model/forward.h"
@<What it takes to generate@>@;
#endif

@ Its parts stand in the order that C wants, where a name must be known before it is used: the smaller ones first, |generate| last. The
reader's order was the other one, and need not bow to it.

@(generate.c@>=
#include <inttypes.h>
#include <math.h>
#include "loop/generate.h"
#include "safetensors/tensor_file.h"
@;@#
@<Refuse a prompt that cannot be continued@>@;
@<Begin and close a sequence@>@;
@<Plan the rows of a sequence@>@;
@<Make the rows of a sequence@>@;
@<Name the first row that went bad, if the last one did@>@;
@<Find the last row of every sequence that may choose@>@;
@<Read what is not stored, and score what may follow@>@;
@<Choose the token with the highest score@>@;
@<Tell whether an id is in a list@>@;
@<Stop, or go round again@>@;
@<Take a token, and perhaps end@>@;
@<Take every sequence one step further@>@;
@<Write a continuation@>@;
@<Read a list of rows, a chunk at a time@>@;

@* The cost in rows. \label{sec:naivecost}
Pass $t$ reads $p+t-1$ tokens. So $g$ passes compute
\begin{equation}\label{eq:naive}
  N(p,g)=\sum_{t=1}^{g}(p+t-1)=gp+\frac{g(g-1)}2
\end{equation}
rows. What was necessary? Each token that is ever read needs its row once. The last token
written is never read; so $p+g-1$ rows would have been enough. The first term
of~\eqref{eq:naive} grows with the prompt, the second with the square of what we write, and
\cref{fig:growth} shows the one taking over from the other. That answers the question at the head of the chapter: the first
word of an answer costs a pass of $p$ rows, the tenth one of $p+9$.

\Cref{fig:heat}\lab{lab:loopgrid} is the grid of \cref{fig:grid} seen from far away, for 50 tokens given and $10^2$ written. Between the two the
proportions have changed: of 18 cells 6 were needed, of \val{loop.naive.50.100} there are \val{loop.needed.50.100}, and they are no more than the outline of the picture.

\widefig{heat}{fig:heat}{A pass is a line, one below the other; the prompt has 50 tokens. Of \val{loop.naive.50.100} cells, the first line and the dark
edge, \val{loop.needed.50.100} cells, are needed. The deeper the amber, the more often the row had been
made before.}{A strip of many lines, one a pass. A thin teal line runs along the top and down the
diagonal edge at the right, the rows made for the first time. Everything to the left of it is amber, and
darkens downwards, as the earlier computations add up.}

\Cref{tab:waste}\lab{lab:looptable} counts four cases that one article made popular. (The article's own table says $p+g$ where ours says $p+g-1$, and
leaves off most decimals of the quotient; \cref{sec:looptutorials} has the details.)

\begin{table}[tp]
\tabcaption{tab:waste}{Rows computed by the naive loop, rows that were needed, and their
quotient. Every entry was counted by running the loop, with the model of \cref{sec:parrot}, whose passes cost next to
nothing; the drawing of \cref{fig:grid} was counted with the built-in model.}
\centering\small
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}rrrrr@@{}}
\toprule
\tabhead{prompt $p$} & \tabhead{written $g$} & \tabhead{computed} & \tabhead{needed} & \tabhead{computed / needed}\\
\midrule
\val{loop.p.1} & \val{loop.g.1} & \val{loop.naive.100.50} & \val{loop.needed.100.50} & \val[2]{loop.waste.100.50}\\
\val{loop.p.2} & \val{loop.g.2} & \val{loop.naive.500.200} & \val{loop.needed.500.200} & \val[2]{loop.waste.500.200}\\
\val{loop.p.3} & \val{loop.g.3} & \val{loop.naive.1000.500} & \val{loop.needed.1000.500} & \val[2]{loop.waste.1000.500}\\
\val{loop.p.4} & \val{loop.g.4} & \val{loop.naive.2000.1000} & \val{loop.needed.2000.1000} & \val[2]{loop.waste.2000.1000}\\
\bottomrule
\end{tabular*}
\end{table}

\fig{growth}{fig:growth}{Rows computed to write $g$ tokens after a prompt of 16, on logarithmic paper, where a power of $g$ is a straight line and
its exponent the slope. The small triangles have the slopes written beside them. While $g$ is
small against the prompt, the naive line has slope 1 and the other is flat; then they turn to slopes 2 and 1.}{A
plot with two logarithmic axes: tokens written against rows computed. Both lines start at 16
rows. The line of the naive loop rises with slope 1 and bends upwards to slope 2; the line that computes each row once
is flat at first and then rises with slope 1.}

@ How large can the waste be? Write $R=N(p,g)/(p+g-1)$ for the redundancy. The numerator is $g$ passes of mean
length $p+(g-1)/2$, so
\begin{equation}\label{eq:waste}
  R=g\cdot\frac{p+\frac{g-1}2}{p+g-1}.
\end{equation}
Let $p\ge1$ and $g\ge1$. The fraction is
$1-\frac{(g-1)/2}{p+g-1}$. What is subtracted is not negative, so $R\le g$. And what is subtracted shrinks as $p$
grows, so $R$ is smallest at $p=1$, where the fraction is $\frac{1+(g-1)/2}{g}=\frac{g+1}{2g}$. Therefore
$$\frac{g+1}2\le R\le g,$$
with equality on the left for a prompt of one token, and on the right for a single token written; for longer answers $R$
comes as near to $g$ as you like when the prompt grows.
Put in the first line of the table: between \val[1]{loop.bound.low} and \val{loop.bound.high}, and counted
\val[2]{loop.waste.100.50}. The waste belongs to the length of the answer. A longer prompt can at
most double it.

@ ``Generating twice as many tokens costs four times as much'' is true of very long answers
only. Doubling $g$ turns $gp+g(g-1)/2$ into $2gp+g(2g-1)$; the quotient is near 2 while the prompt
dominates and tends to 4 when the answer does. For the four lines of the table it is
\val[2]{loop.double.100.50}, \val[2]{loop.double.500.200}, \val[2]{loop.double.1000.500} and
\val[2]{loop.double.2000.1000}; ten times as many tokens cost \val[1]{loop.tenfold.100.50} times
as much in the first line, not $10^2$ times.

There is a second count, and it grows faster. Within a pass, the row at position $i$ looks at
$i+1$ keys, so a pass of $n$ rows has $n(n+1)/2$ pairs of a query and a key, and $g$ passes from a
prompt of one token
\begin{equation}\label{eq:pairs}
  \sum_{n=1}^{g}\frac{n(n+1)}2=\frac{g(g+1)(g+2)}6 .
\end{equation}
For $10^3$ tokens the counters say \val{loop.naive.1.1000} rows and \val{loop.pairs.1.1000} pairs.
The rows grow with the square, the pairs with the cube; fitted apart, between $10^3$ and twice as many tokens after a prompt of
one, the slopes on logarithmic paper are \val[2]{loop.slope.rows} and \val[2]{loop.slope.pairs}.
Whoever writes that the naive loop is ``quadratic'' has counted one of the two.

The sums go where no run can follow. A text of $10^5$ tokens would cost \val{loop.formula.100000} rows
to write this way, and one of $10^6$ tokens, which a popular page uses to frighten its readers, \val{claim.S0-25}. The laboratory
prints such numbers only after \eqref{eq:naive} has agreed with five runs.

@* Why rows do not change: causality. \label{sec:causal}
All this work is wasted only if it comes out the same each time. It does, to the last bit, and
the reason is one arrow that is missing: a row looks at rows before it and never at rows after
it. Go through the layers. The embedding of position $i$ depends on token $i$ and on $i$. A layer
turns the hidden states of positions $0\ldots i$ into the hidden state of position $i$. By
induction over the layers, whatever is computed at position $i$ depends on tokens $0\ldots i$ only;
its key and its value, too. A later token can change none of it. That settles the values. For the bits we need
\cref{model} as well: the sums of a row are added in the same order however many rows share its pass.
@^causal mask@>

Three tests keep this honest. The first lets texts go on differently, and compares all that was computed before they part. The
second takes away the mask, the rule that hides later rows; then the
argument must fail in the second layer, though not in the first, whose keys
are made from the embeddings alone. And the third leaves out a single query of the first layer, at any
position: if the old rows' queries were really of no use to later tokens, nothing should
change. It does, since the next layer's keys at that position are made from what
that query found. So the naive loop cannot save itself the queries, in any layer but the last, and keep the rest.\side{In
\.{tests/check\_loop.c}: |later_tokens_change_nothing|, |without_the_mask_they_do|, |every_query_is_needed|.}

@* Measured times. \label{sec:clock}
Counts are exact, and nobody waits for a count. So we also took the time: one pass of the built-in model, a step of
the naive loop, over texts of growing length. A pass of $n$ rows does the same for each row, apart from attention, where row $i$ looks at
$i+1$ keys. We expect
\begin{equation}\label{eq:clock}
  t(n)=an+b\,\frac{n(n+1)}2 ,\qquad\hbox{so}\qquad\frac{t(n)}n=a+b\,\frac{n+1}2:
\end{equation}
the time for each \emph{row} is a straight line over the length. \Cref{fig:clock} is that line.\lab{lab:loopclock} It begins at
\val[1]{loop.clock.row} microseconds, which is what projections, feed-forward and norms cost a row, and
rises by \val[1]{loop.clock.pair} nanoseconds for each key looked at; \val[0]{loop.clock.texts} lengths fit it with a largest
error of \val[1]{loop.clock.error} percent. In a pass of \val{loop.clock.longest} rows attention
takes \val[0]{loop.clock.share} percent of the time, in one of \val{loop.clock.shortest} rows
\val[0]{loop.clock.share.short}. The cost of a step is nearly linear for short texts only. Within this small model's context the
looking overtakes everything else, and the loop as a whole is on its way from \eqref{eq:naive}'s square to the cube of \eqref{eq:pairs}.

\fig{clock}{fig:clock}{Time of one pass, divided by its rows, over the number of rows, and the straight line
of \eqref{eq:clock}. Bars span the middle half of the rounds. Measured once, on the machine that
the file of the numbers names.}{A plot of microseconds a row against rows in the pass. The points lie close to a
straight line that starts well above zero and rises slowly: most of a row's cost does not depend on the length of the text.}

@* What the tutorials say. \label{sec:looptutorials}
Five popular explanations of this loop print numbers about it. We ran them. Where several say the
same thing in other words, one is quoted and all are named: S4-03 is the third claim of the source that the bibliography
lists as S4.\lab{lab:loopclaims}

The first three go wrong by one.

\begin{tutorial}{offbyone}{S4-03, S4-08, S4-56}
\quoted{The → Q\textsubscript{0}, K\textsubscript{0}, V\textsubscript{0} ← RECOMPUTED (3rd time!)}
\ourrun in step 3 of the drawing that is the computation number \val{claim.S4-08} of row 0, and the second
that was not needed; the first computes, it does not recompute. Likewise a row that is ``recomputed once per step'' is, in
$10^2$ steps, repeated \val{claim.S4-56} times; and the four tokens announced as ``on the mat'' are three and a full stop.
\end{tutorial}

\begin{tutorial}{offbyone}{S0-32, S4-26, S4-27, S4-30, S4-33, S4-36, S4-39}
\quoted{Total K,V computations: p + g = O(p + g)}
\ourrun for $p=3$, $g=4$ it is \val{claim.S4-27}, which the article's own drawing counts too. Its table should say
\val{claim.S4-30}, \val{claim.S4-33}, \val{claim.S4-36} and \val{claim.S4-39}.
\end{tutorial}

\begin{tutorial}{offbyone}{S4-14}
\quoted{We did 12 redundant computations to avoid storing just 6 results.}
\ourrun \val{claim.S4-14}: the row of the last token read is never read again.
\end{tutorial}

@ The next three are about quotients: one is put together wrongly, one is true in a limit that the example is far
from, one multiplies what cancels.

\begin{tutorial}{wrong}{S4-28}
\quoted{Waste ratio = (Naive) / (Optimal) = (g×p + g²/2) / (p + g)}
\ourrun the equals sign fails twice: the sum has $g(g-1)/2$ in it, and the rows needed are $p+g-1$. In the
first line the printed formula gives \val[2]{loop.article.formula}; with the exact numerator over the article's
$p+g$ it is \val[1]{loop.article.table.1}, the number in its table; the counters say \val[2]{claim.S4-28}. The other
lines of the table are \val[2]{loop.article.table.2}, \val[2]{loop.article.table.3} and \val[2]{loop.article.table.4}
with the decimals cut off.
\end{tutorial}

\begin{tutorial}{wrong}{S4-43, S4-44}
\quoted{Generating 2× more tokens costs 4× more compute}
\ourrun \val[2]{claim.S4-43} times as much in the article's first line, and \val[1]{claim.S4-44} where it says $10^2$.
\end{tutorial}

\begin{tutorial}{wrong}{S4-48}
\quoted{For a 96-layer model with 96 heads, multiply all those waste factors by 9,216.}
\ourrun the product is right, \val{claim.S4-48}. But layers and heads multiply what was computed and what was
needed alike: a quotient of counts does not change. In the second line of the table it stays \val[2]{loop.waste.500.200}.
\end{tutorial}

@ These count one thing and name another.

\begin{tutorial}{misleading}{S4-52, S4-53, S4-58}
\quoted{For typical requests, we do 100-800× more K,V computation than necessary.}
\ourrun the article's own table begins at \val[1]{loop.article.table.1}. The factor lies between $(g+1)/2$ and $g$: the
redundant \emph{work} grows with the square of the answer, the \emph{factor} only in proportion to it:
\val[0]{claim.S4-53} after a prompt of $10^2$ tokens and $10^4$ written. And with a longer prompt it does not grow beyond $g$: for $10^4$
tokens given and $10^2$ written it is \val[1]{claim.S4-58}.
\end{tutorial}

\begin{tutorial}{wrong}{S0-36}
\quoted{That makes each step O(T).}
\ourrun one step over $10^3$ tokens computes \val{loop.step.rows.1000} rows, but \val{claim.S0-36} pairs. (That the whole loop
from one token to $10^3$ computes as many \emph{rows} is no accident: both are the sum of the numbers up to $10^3$.)
\end{tutorial}

\begin{tutorial}{misleading}{S0-04, S0-37, S0-58, S1-19, S1-57, S2-35, S2-36, S3-11}
\quoted{Summed over N generation steps, total cost is O(N squared).}
\ourrun for $10^3$ tokens \val{claim.S0-37} rows, which is quadratic, and \val{loop.pairs.1.1000} pairs, which is
cubic. The number \val{claim.S1-57} that is printed as ``attention'' counts rows.
\end{tutorial}

@ The next doubles a count; the two after it are about what a pass must do, and confuse the loop of this chapter with the loops of later ones.

\begin{tutorial}{misleading}{S2-37, S2-38}
\quoted{generating 1000 tokens requires roughly 1,000,000 attention operations}
\ourrun \val{claim.S2-37} rows; the sum printed just above it says so too. For $10^2$ tokens \val{claim.S2-38}, and
so ten times the tokens cost \val[2]{loop.ratio.1000.100} times the rows.
\end{tutorial}

\begin{tutorial}{misleading}{S1-02, S1-37, S2-89, S3-03, S4-02, S4-10}
\quoted{A 500-token response requires 500 complete forward passes through the transformer.}
\ourrun \val{claim.S3-03} passes, and in this chapter's loop each is complete. That it need not be is chapter 4. Nor does
the loop end by itself: in the pseudo-code nothing sets the variable it waits for, and a full stop is not an end token.
\end{tutorial}

\begin{tutorial}{wrong}{S2-12, S2-46}
\quoted{At each step, the model must process the entire sequence to maintain the correct attention patterns.}
\ourrun of \val{loop.naive.50.100} rows that the loop computes for this very article's example, \val{claim.S2-12} are enough.
It goes on: ``we actually only need the query at the last position''. Not in this loop: leave one query of the first layer
out, and the keys of the second change.
\end{tutorial}

@ And five about what a step is, what it costs, and when there is no further one.

\begin{tutorial}{misleading}{S2-17, S2-32}
\quoted{Each factor in the product corresponds to exactly one step of the generation loop.}
\ourrun ``The cat sat on the mat.'' has seven factors and is written in \val{claim.S2-17} steps: the factors of the prompt
are no steps, and what was given was not generated.
\end{tutorial}

\begin{tutorial}{wrong}{S0-20, S0-62}
\quoted{COMPUTE per step climbs only in KV CACHE mode, rapidly in NO CACHE}
\ourrun with the drawing's six layers and a prompt of eight, step 21 computes \val{claim.S0-20} blocks and the first 48: it climbs
here, by six a step. Nor are long outputs dear ``not because each step is expensive'': in a text of $10^3$ tokens
the last step computes \val{claim.S0-62} rows and the first a single one.
\end{tutorial}

\begin{tutorial}{misleading}{S3-37}
\quoted{Left unchecked, it would generate tokens forever.}
\ourrun asked for $10^2$ tokens ten short of its context of \val{loop.context}, our model writes \val{claim.S3-37}. The last is never read,
and after it there is no position for another.
\end{tutorial}

\begin{tutorial}{misleading}{S4-41}
\quoted{the naive approach does 171× more work than necessary for K and V projections alone}
\ourrun \val[2]{loop.waste.500.200} times \emph{as much}, so \val[2]{claim.S4-41} times more, of rows. A row of a long pass costs
more than a row of a short one, so this is no ratio of times.
\end{tutorial}

\begin{tutorial}{offbyone}{S0-35, S1-18}
\quoted{generating token T+1 would require recomputing K and V for tokens 0 through T}
\ourrun after a prompt of ten and one token written, the next pass computes \val{loop.step.rows.10} rows, \val{claim.S0-35} of them
again; the newest is computed for the first time.
\end{tutorial}

@* A model of one sentence, for counting. \label{sec:parrot}
For counting rows it does not matter what the model knows, only that every pass goes through the same
|model_forward| and the same counters as the largest checkpoint. So we make the smallest
model that can write our sentence, and call it the parrot. Its vocabulary is the seven tokens; the embedding of token $i$ is
the $i$-th unit vector; the one layer adds nothing, for all its matrices are zero; and the head
gives the highest score to the token that follows in the sentence, which goes round in a circle. (It is eight wide and
not seven because a head turns its numbers in pairs, \cref{sec:layer}. The angles it turns by do not matter, as nothing is turned: the queries and keys
of zero matrices are zero.)

@<A model that knows one sentence by heart@>=
enum { PARROT_WORDS = 7, PARROT_WIDTH = 8, PARROT_CONTEXT = 4096 };
  /* tokens it knows, numbers in a row, positions */
extern const char *const parrot_word[PARROT_WORDS];
  /* the sentence, a token each */
struct parrot {
  float unit[PARROT_WORDS][PARROT_WIDTH], follows[PARROT_WORDS][PARROT_WIDTH], ones[PARROT_WIDTH];
  float frequency[PARROT_WIDTH / 2];
  struct model_layer only;
  struct model lm;
};
  /* embedding, head, and what the one layer needs; |lm| points into the rest, so
     a parrot is not to be moved */
void parrot_make(struct parrot *p);
  /* fills it in; nothing is allocated */
void parrot_kernels(struct kernels *idle, const struct kernels *best);
  /* a copy of |best| that leaves out what the parrot does not need */

@ Such a model has no file; its |struct model| is filled in by hand, with tensors that point to
the arrays above. It is a Llama in miniature: one layer, one head, RMSNorm, a gate. The last norm makes a unit vector longer, in proportion, and so changes all
scores alike and no choice. One matrix of zeros stands for all seven: nothing in the engine writes to a weight, so they may share it.

@<Make the parrot@>=
const char *const parrot_word[PARROT_WORDS] =
  @[{ "The", " cat", " sat", " on", " the", " mat", "." }@];
static const float nothing[PARROT_WIDTH * PARROT_WIDTH];
static struct tensor at(const float *x)
{
  return (struct tensor) @[{ x, WEIGHT_F32 }@];
}
@#
static void parrot_layer(struct parrot *p)
{
  struct matrix zero = @[{ .weight = at(nothing), .in = PARROT_WIDTH, .out = PARROT_WIDTH }@];
  struct norm norm = @[{ .kind = NORM_RMS, .gain = at(p->ones),
    .epsilon = 1e-5f }@];
  p->only = (struct model_layer) @[{ .attn_norm = norm, .mlp_norm = norm,@|
    .qkv = { zero, zero, zero }, .n_qkv = 3, .out = zero,@|
    .up = { zero, zero }, .n_up = 2, .down = zero }@];
  p->lm.final_norm = norm;
}

@ Embedding and head complete it. Token $i$ has its one at place $i$ of the embedding; the token after it has a one at the same place of the
head; the product of the two is then largest for the token after. A layer's multiply--adds are those of its seven
matrices, for query, key, value, output, gate, up and down.

@<Make the parrot@>=
void parrot_make(struct parrot *p)
{
  *p = (struct parrot) @[{ .ones = { 1, 1, 1, 1, 1, 1, 1, 1 } }@];
  for (int i = 0; i < PARROT_WORDS; i++)
    p->unit[i][i] = 1, p->follows[(i + 1) % PARROT_WORDS][i] = 1;
  parrot_layer(p);
  @<Say what shape the parrot has@>@;
  p->lm.layers = &p->only, p->lm.frequency = p->frequency;
  p->lm.embedding = at(p->unit[0]);
  p->lm.head = (struct matrix) @[{ .weight = at(p->follows[0]), .in = PARROT_WIDTH,
    .out = PARROT_WORDS }@];
  p->lm.layer_madds = 7 * PARROT_WIDTH * PARROT_WIDTH;
}

@ A published model says these things in its \.{config.json} (\cref{safetensors}). The parrot's only extravagance is its context: the longest of the four
cases is a text of \val{loop.p.4}${}+{}$\val{loop.g.4} tokens, by a bird that knows seven.

@<Say what shape the parrot has@>=
p->lm.config = (struct model_config) @[{ .family = "llama",
  .vocab_size = PARROT_WORDS, .n_positions = PARROT_CONTEXT, .d_model = PARROT_WIDTH,@|
  .d_inner = PARROT_WIDTH, .n_layers = 1, .n_heads = 1, .n_kv_heads = 1,@|
  .head_dim = PARROT_WIDTH, .norm_eps = 1e-5, .gated = true }@];
p->lm.attention = (struct attention_dims) @[{ 1, 1, PARROT_WIDTH, 1 }@];

@ The longest run has \val{loop.pairs.2000.1000} pairs of a query and a key, and to look at them takes time that
teaches nothing. Since the layer adds nothing, nobody would notice if attention did not
look; |idle_attend| does not. The pairs are counted all the same, because they are counted by
|model_forward|, which asks the store what each row sees. Something must stand in |y| afterwards, so it puts the queries there; the matrix that follows is zero,
and makes zeros of anything.\side{The four passes of the first grid
use the true kernels. A test compares both on every small case.}

@<Leave out what teaches nothing@>=
static void idle_attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  size_t rows = 0;
  (void) e, (void) scratch;
  (void) probe;
  for (size_t i = 0; i < n; i++) rows += list[i].n_rows;
  memcpy(y, q, rows * h->n_heads * h->head_dim * sizeof *y);
}

@ Nor does anybody need products with a matrix of zeros: |idle_linear| writes the zeros
down. One matrix is left, the head, and each of its rows has a single one in it; which kernel adds up
a product of that kind makes no difference to any bit of the sum.

@<Leave out what teaches nothing@>=
static void idle_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t m = 0; m < n; m++) {
    const struct matrix *w = &list[m];
    memset(y[m], 0, rows * w->out * sizeof(float));
    const float *row = w->weight.data;
    if (row == nothing) continue;
    for (size_t i = 0; i < rows * w->out; i++)
      for (size_t k = 0; k < w->in; k++)
        y[m][i] += x[i / w->out * w->in + k] * row[i % w->out * w->in + k];
  }
}

@ The table of kernels is copied first and the two idle functions are put in the copy, since the library's own table is constant
and everybody shares it.

@<Leave out what teaches nothing@>=
void parrot_kernels(struct kernels *idle, const struct kernels *best)
{
  *idle = *best;
  idle->attend = idle_attend, idle->linear = idle_linear;
}

@ The parrot has a header and a file of its own, since the programs of later chapters compare their loops with this one. They are
linked to those programs and are no part of the library.

@(parrot.h@>=
#ifndef INCIPIT_PARROT_H
#define INCIPIT_PARROT_H
#include "model/forward.h"
@<A model that knows one sentence by heart@>@;
#endif

@ Its file makes the bird first, and then gives it something simpler to do.

@(parrot.c@>=
#include <string.h>
#include "loop/parrot.h"
@;@#
@<Make the parrot@>@;
@<Leave out what teaches nothing@>@;

@* Running and counting. \label{sec:count}
Two of them write the sentence for the program of this chapter: the built-in model, which is asked for a few tokens, and the parrot, which writes the long
texts. To the loop they are the same. Each has its memory, its counters, an engine, and the ids that stand for the seven words of the sentence.

@<Somebody who writes the sentence@>=
struct writer {
  struct memory m;@+ struct counters c;@+ struct engine e;
  const struct model *lm;@+ struct model *own;
  uint32_t sentence[PARROT_WORDS];
  struct parrot bird;@+ struct kernels idle;
};
@<Let the built-in model write it@>@;
@<Let the parrot write it@>@;

@ The built-in model is in \.{models/pocket}, with its tokenizer. The small grid is drawn from its runs, so that it is that of a model that has learnt to write. What
the parrot knows by heart this model has to know by learning; and if the tokenizer cut one of the words in two, there would be an eighth token, and the
grid would not be the one that was drawn by hand.

@<Let the built-in model write it@>=
static bool model_writer(struct writer *w, struct error *why)
{
  w->e = (struct engine) @[{ .k = &kernels_plain, .c = &w->c }@];
  w->lm = w->own = model_open(&w->m, "models/pocket", why);
  struct tokenizer *t = tokenizer_open(&w->m, "models/pocket", why);
  const char *text = "The cat sat on the mat.";
  struct ids ids = @[{ .n = 0 }@];
  bool ok = w->own != NULL && t != NULL
    && tokenizer_encode(t, &w->m, text, strlen(text), false, false, &ids, why)
    && (ids.n == PARROT_WORDS || error_say(why, "%s has %zu tokens, not %d",
      text, ids.n, PARROT_WORDS));
  if (ok) memcpy(w->sentence, ids.id, sizeof w->sentence);
  ids_free(&w->m, &ids);
  tokenizer_close(&w->m, t);
  return ok;
}

@ The parrot's tokens are the numbers from 0 on, and its kernels the idle ones. Nothing of it is taken from memory.

@<Let the parrot write it@>=
static void parrot_writer(struct writer *w)
{
  parrot_kernels(&w->idle, &kernels_plain);
  parrot_make(&w->bird);
  w->e = (struct engine) @[{ .k = &w->idle, .c = &w->c }@];
  w->lm = &w->bird.lm;
  for (uint32_t i = 0; i < PARROT_WORDS; i++) w->sentence[i] = i;
}

@ One function runs the loop for $p$ tokens given and $g$ to write, in an empty store, with all counters at zero. The prompt is the beginning of the
sentence, repeated as often as it takes. The text is read as well: if it does not go on with the sentence, round and round, then what was counted was not the
loop, and nothing is printed.

@<Count the rows of a text@>=
static bool count_rows(struct writer *w, size_t p, size_t g, struct error *why)
{
  uint32_t prompt[PARROT_CONTEXT];
  for (size_t i = 0; i < p; i++) prompt[i] = w->sentence[i % PARROT_WORDS];
  struct store *s = array_store_open(&w->m, &w->lm->config, why);
  if (s == NULL) return false;
  struct generate_context maker = @[{ &w->e, w->lm, s, &w->m }@];
  struct generate_options want = @[{ .max_new_tokens = g }@];
  struct continuation c;
  w->c = (struct counters) @[{ .passes = 0 }@];
  bool ok = generate(&maker, prompt, p, &want, &c, why);
  for (size_t i = p; ok && i < c.text.n; i++)
    ok = c.text.id[i] == w->sentence[i % PARROT_WORDS]
      || error_say(why, "token %zu is not the next of the sentence", i);
  continuation_free(&w->m, &c);
  store_close(s);
  return ok;
}

@ The counters then say how many rows were computed, and how many of them had been computed before. The rest were needed. That is not
$p+g-1$ by definition: it is what the store saw, and that the two are equal is a finding. In \cref{lab:loopcount} a second witness watches the loop, who knows
only how long the text is at each step, and the two are compared.\lab{lab:loopcount}

@<Count the rows of a text@>=
static size_t needed(const struct writer *w)
{
  return (size_t) (w->c.kv_rows_computed - w->c.kv_rows_recomputed);
}

@* The check. \label{sec:loopcheck}
The program must find what the pencil found. It runs the loop for one, two, three and four tokens; what the counters of two runs differ by is a
pass. That is the long way round, for the watcher could have printed each pass as it went by. But then the lines would show what the watcher
drew, and the numbers what the counters counted, and a reader could not tell which of them was checked.

\checkpoint{build/out/loop.txt}{what the program of this chapter prints}

@<Draw the four passes as the hand drew them@>=
static bool draw_passes(struct writer *w, struct error *why)
{
  size_t rows = 0, again = 0;
  for (size_t g = 1; g <= 4; g++) {
    if (!count_rows(w, 3, g, why)) return false;
    rows = w->c.kv_rows_computed - rows;
    again = w->c.kv_rows_recomputed - again;
    @<Draw a pass of |rows| rows, |again| of them computed before@>@;
    rows = w->c.kv_rows_computed, again = w->c.kv_rows_recomputed;
  }
  printf("%zu computed = %zu necessary + %zu redundant;", rows, needed(w),@|
    again);
  printf(" %" PRIu64 " pairs\n\n", w->c.qk_pairs);
  return true;
}

@ A row that was computed before is further left than one that is new, because a pass repeats the beginning of the text and adds to its end. So it is
enough to know how many there are. Each cell is five columns wide, and a pass has six at most.

@<Draw a pass of |rows| rows, |again| of them computed before@>=
printf("pass %zu  ", g);
for (size_t i = 0; i < rows; i++)
  printf("%s", i < again ? " REDO" : "  NEW");
printf("%*s -> %s\n", (int) (5 * (6 - rows)), "", parrot_word[2 + g]);

@ The lower half of the box has the four lines of \cref{tab:waste}, and the parrot writes them all.

@<Count the four cases that are quoted everywhere@>=
static bool print_table(struct writer *w, struct error *why)
{
  static const size_t quoted[4][2] =
    @[{ {100, 50}, {500, 200}, {1000, 500}, {2000, 1000} }@];
  printf("     p      g   computed   needed     waste\n");
  for (int i = 0; i < 4; i++) {
    size_t p = quoted[i][0], g = quoted[i][1];
    if (!count_rows(w, p, g, why)) return false;
    size_t rows = w->c.kv_rows_computed;
    printf("%6zu %6zu %10zu %8zu %8.2fx\n", p, g, rows, needed(w),@|
      (double) rows / (double) needed(w));
  }
  return true;
}

@* Exercises. \label{sec:loopexercises}
The loop is complete, and it is wasteful: of all the rows it makes, the next chapter keeps every one and computes none twice.
Before you turn the page, the command beside an exercise runs the loop and judges your answer by it.

\begin{exercises}
\exercise{check}{ex:loop.grid}{Draw the grid for a prompt of two tokens and five to write. How many cells, how many
of them needed?}{\texttt{make exercise-03-1}}{Lines of 2, 3, 4, 5 and 6 cells: 20, of which $2+5-1=6$ are needed.}
\exercise{check}{ex:loop.zero}{A prompt of $10^2$ tokens, $10^2$ to write. How often is the row of token 0 computed, how
often for nothing, how many rows are there in all and how many are needed?}{\texttt{make exercise-03-2}}{Once in
each pass: 100 times, 99 of them for nothing; 14,950 rows, of which 199 are needed.}
\exercise{think}{ex:loop.pairs}{Give the number of query--key pairs of the naive loop for any $p$ and $g$, and check it
for one prompt and one length of your own.}{\texttt{make exercise-03-3}}{$\sum_{n=p}^{p+g-1}n(n+1)/2$, a difference of two of the sums in
\eqref{eq:pairs}: $\bigl((p+g-1)(p+g)(p+g+1)-(p-1)p(p+1)\bigr)/6$.}
\exercise{think}{ex:loop.ratio}{For which $p$ is the waste of a text of $g$ written tokens exactly three quarters of
$g$?}{\texttt{make exercise-03-4}}{By \eqref{eq:waste} $\frac{(g-1)/2}{p+g-1}=\frac14$, so $p=g-1$.}
\exercise{think}{ex:loop.end}{An end token is selected in step $k$. How many rows has the naive loop computed, and how many of them
were needed, if the end token itself is never read?}{\texttt{make exercise-03-5}}{$kp+k(k-1)/2$, as if $k$ tokens had been
asked for, and $p+k-1$: the end token costs a pass like any other.}
\exercise{think}{ex:loop.narrow}{In a model whose rows see $w$ positions, how many query--key pairs does the naive loop cost, if $p\ge
w$?}{\texttt{make exercise-03-8}}{A pass of $n$ rows has $wn-w(w-1)/2$; together $w\bigl(pg+g(g-1)/2\bigr)-gw(w-1)/2$. Linear in $n$, and still a square in $g$.}
\exercise{think}{ex:loop.full}{The loop runs until the context of $c$ positions is full. How many tokens does it write after a prompt of $p$, and how many
rows does it compute?}{\texttt{make exercise-03-9}}{$c-p+1$, for the last one needs no place, and $c(c+1)/2-p(p-1)/2$.}
\exercise{build}{ex:loop.stop}{Let the loop also end when the last $n$ tokens repeat the $n$ before them. Which of the six
steps changes?}{\texttt{make exercise-03-6}}{Only the sixth.}
\exercise{build}{ex:loop.window}{Let |plan_rows| and |make_rows| make rows for the last 64 tokens only, at positions from 0. For which $p$ and
$g$ is the loop now linear, and are the rows it repeats still equal to the last bit?}{\texttt{make exercise-03-7}}{Linear once the
window is full: 64 rows a pass. But no row is repeated: the window begins one token later each time, so every row stands at
another position, after another beginning.}
\exercise{build}{ex:loop.half}{Let the loop go on when the context is full: it leaves out the oldest half context, counts positions from 0 again, and does so whenever it is
full. What does this cost a token, compared with the exercise before?}{\texttt{make exercise-03-10}}{Between a half and a whole context of rows, three quarters on the average; but most
rows stay where they were from one pass to the next, so a cache could keep them.}
\end{exercises}
