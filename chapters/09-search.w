@i types.w
@s size_t int
@s step_watch int
@s step_select int
@s search_score int
@s search_see int

\chapterquestion{Taking the likeliest word at every step: does that make the likeliest text?}
@** Beam search, best of n, the token tree.
\incipit{N}{ot always.} A word that is likely now may lead to a place where nothing is likely any more, and the word that you passed over may have led to a better one. If you choose a text word by word, you choose each word before you know what follows from it,
and you never take one back. The likeliest \emph{text} is another thing. To find it you would have to look at all texts, and there are $V^N$ of them for $N$ words from a vocabulary of $V$.

Between one text and all of them there is a compromise, which was made for speech recognition. Keep not one beginning but a few, the $B$ best that you know; let each of them grow by every possible token; and of all the results keep the
$B$ best again. This is \emph{beam search}, the beginnings are \emph{beams}, and $B$ is the \emph{beam width}.\side{\cited[Lowerre 1976]{Lowerre 1976}, in a system for speech named Harpy. The picture is that of a beam of light, with darkness on either side.} With $B=1$ it is greedy decoding. With $B$ large enough nothing is ever thrown away. In practice $B$ is small. (\cited[Wu and others 2016]{Wu 2016} keep 8 to 12 beams when they translate, and find 4 or even 2 nearly as good.)
@^beam search@>@^greedy decoding@>
@^beam width@>

@ The chapter makes two files. |search| is the rule; it knows nothing of models and works with any function that gives logits. |sharing| is such a function: a model with the cache of \cref{cache}, in which the beams share the rows that they have in
common; best-of-n is in the same file. We build the rule to the letter of the library \emph{transformers} (\cited[Wolf and others 2020]{Wolf 2020}; we read \texttt{5.0.1.dev0}, commit \texttt{6978a60}), so that our tests can compare texts and scores with those that the library writes. Then we count how often a search was worth its price. The answer is not cheerful. But first a search with a pencil.

\widefig{lattice}{fig:lattice}{Four beams after The cat sat. In each step the eight candidates are in the order of their ranks; the four that were kept, or in the last step finished, have dark frames; those that were dropped are pale. Red is the text that was best in the end. Numbers are sums of log-probabilities.}{Six columns of eight words. In the first step on, by, in and at are kept; each goes on by itself for three steps, to on the mat, by the fire, in the sun, at the window. In the fifth step the four kept all begin with on the mat; the other three are gone. In the sixth the second of them, It was, overtakes the first, The cat.}

\begin{byhand}{two beams, three words, three steps}
A model knows three words, \tok{again}, \tok{birds} and \tok{came}, and is to go on after \emph{Then}. To the first word it gives the probabilities $0.5$, $0.4$ and $0.1$. After that it depends on the text:

\medskip
\begin{tabular}{@@{}lrrr@@{}}
\tabhead{after} & \tabhead{again} & \tabhead{birds} & \tabhead{came}\\
Then again & 0.4 & 0.3 & 0.3\\
Then birds & 0.1 & 0.1 & 0.8\\
Then again again & 0.6 & 0.2 & 0.2\\
Then birds came & 0.5 & 0.25 & 0.25
\end{tabular}
\medskip

Greedy decoding takes the likeliest word each time, and writes \emph{Then again again again}: $0.5\cdot0.4\cdot0.6=0.12$. With two beams, \emph{again} has $0.5$ and \emph{birds} has $0.4$ after the first step, and both grow:

\medskip
\begin{tabular}{@@{}lrrr@@{}}
\tabhead{grown from} & \tabhead{again} & \tabhead{birds} & \tabhead{came}\\
again, which has 0.5 & 0.20 & 0.15 & 0.15\\
birds, which has 0.4 & 0.04 & 0.04 & 0.32\\
birds came, which has 0.32 & 0.16 & 0.08 & 0.08\\
again again, which has 0.20 & 0.12 & 0.04 & 0.04
\end{tabular}
\medskip

After the second step \emph{birds came} leads with $0.32$, before \emph{again again} with $0.20$. The leader's first word was \emph{again}; now it is \emph{birds}. After the third step \emph{Then birds came again} has $0.16$, more than the greedy text's $0.12$. And no text is better: each of those that we dropped had at most $0.15$ by then, and a further word never makes a text likelier.
\end{byhand}

\Cref{fig:lattice}\lab{lab:lattice} shows the same on the built-in model, with four beams and six steps: the leader of the last step does not descend from the leader of the step before.

@* A source of logits. \label{sec:searchsource}
What does a search need of a model? Look at the box: it passed a few texts, and wanted a line of numbers for each, what may follow. So a \emph{source} is one function from texts to logits. A table can be a source, as in the box; so can a function of a random number generator, as in the small models on which we test the search;
and so can a transformer. The transformer wants to know one thing more: which text each text was grown from, since that is where its keys and values are. So a beam carries the index of its parent.
@^beam@>

@<What a search works on@>=
struct search_beam {@+ const uint32_t *id;@+ size_t n, parent;
  double score;@+ };
  /* a text |id[n]|, grown by its last token from beam number |parent| of the
     step before; |score|: the sum of the log-probabilities of what was written */
typedef bool search_score(void *ctx, const struct search_beam *grown,
  size_t n, float *logits, struct error *why);
  /* puts what may follow each of |n| texts into |logits[n][vocab]|; it is called
     once a step, for one beam at first: the prompt */
struct search_source {@+ size_t vocab, max_len;@+ void *ctx;
  search_score *score;@+ const struct progress *progress;@+ };
  /* |score|, called with |ctx|, knows what may follow; no text will have more
     than |max_len| tokens, 0: any number; when |score| has failed, |progress| tells whether
     it was cancelled, null: it never is */

@* Candidates: expand and prune. \label{sec:beams}
In one step every beam grows by every token. A beam's \emph{score} is the sum of the log-probabilities of its tokens; a sum, because the product of the probabilities of a long text is smaller than the smallest positive double. Each token that may follow makes a \emph{candidate}, a text one token longer, whose score is the beam's plus the token's log-probability. That makes $B\cdot V$ candidates, and we want the $B$ best.

So we rank the $B$ best? That fails at the first end token. A candidate that ends does not grow any more, and we want $B$ that do. In the worst case each of the $B$ beams has all its $E$ end tokens among the best, as in \cref{fig:beamranks}; so we rank the best $(1+E)B$, and $B$ of them are certain not to end. With four beams and two end tokens that makes 12.
(The library ranks at least $2B$, and so do we. Without end tokens that is more than is needed, and it changes nothing.) A ranked candidate is not yet \emph{kept}: at most $B$ of the ranked become beams of the next step.
@^candidate@>@^expand@>@^prune@>

\widefig{beamranks}{fig:beamranks}{The worst case for two beams and one end token, drawn as a black square. Both beams most likely end, so the two best candidates finish, and only the third and the fourth are left to grow. Ranking $B$ candidates would have left no beam; ranking $(1+E)B$ always leaves $B$.}{Two beams, A with probability \given{0.50} and B with \given{0.40}, have three candidates each. In the order of their probabilities these are A end \given{0.25}, B end \given{0.20}, A x \given{0.15}, B y \given{0.12}, A y \given{0.10} and B x \given{0.08}. The first two finish, the next two are kept, and the last two are below the line and not ranked.}

@ A candidate has one of three outcomes. The other structures are what a watcher sees after each step.

@<The outcome of a candidate@>=
enum search_outcome {@+ OUTCOME_DROPPED, OUTCOME_KEPT, OUTCOME_FINISHED@+ };
  /* it was too low; it is a beam of the next step; it ends, and was offered a place */
struct search_candidate {@+ size_t parent, rank;@+ uint32_t token;
  double logprob, score;
  enum search_outcome outcome;@+ };
  /* beam |parent| and |token| after it; its log-probability after the
     processors, and the sum with it; |rank| from 1 by |score|; those kept are the
     beams of the next step, in this order */
struct search_text {@+ uint32_t *id;@+ size_t n;@+ double sum, score;
  enum finish_reason ended;@+ };
  /* |id[n]|, prompt and end token included; the sum of its log-probabilities, and
     that sum over the power of its length; |ended| by an end token, the length, or a watcher */
struct search_step {@+ size_t number;
  const struct search_beam *active;@+ size_t n;
  const struct search_candidate *candidate;@+ size_t n_candidates;
  const struct search_text *finished;@+ size_t n_finished;@+ };
  /* step |number|, from 1: the beams that grew, the candidates by rank, and the texts
     that have finished so far, best first; all lives until the watcher returns */

@ What if two candidates have the same score? Then the candidate of the earlier beam goes first, and of one beam's the lower id: the order of the array $[B][V]$ read from end to end. (In transformers the order of equals is left to a function whose description does not settle it.) The candidates arrive in that order, so a simple insertion keeps the rule: a newcomer moves up past those that it beats, and stays below its equals.
Once the list is full of good candidates, the first comparison turns nearly all others away. We sort nothing.

@<Put a candidate where it belongs, if anywhere@>=
/* Insertion into a short sorted list. The comparison is strict: of two equal candidates the one
   that came first stays first. */
static void rank_candidate(struct search *s, struct search_candidate c)
{
  size_t i = s->n_list;
  if (i == s->max_candidates && !(c.score > s->list[i - 1].score)) return;
  if (i < s->max_candidates)@+ s->n_list++;
  else i--;
  for (; i > 0 && c.score > s->list[i - 1].score; i--)
    s->list[i] = s->list[i - 1];
  s->list[i] = c;
}

@ The candidate list of \cref{sec:funnel}, |struct funnel|, computes what may follow a beam: we fill it with logits, take the logarithm of the softmax, and let the \emph{processors} work. These are three of the logits processors of \cref{sampling}, a repetition penalty, a ban on repeated n-grams, and a minimum length, in the order in which you give them. (The minimum length masks the end tokens. The loop of \cref{stopping} has the other rule: there the token may be selected, and does not end the text.)
@^logits processor@>

We do not normalize again after the processors, so the probability of a banned token is simply lost. The library does the same, and it makes a difference: a text whose words were all penalized ends with a lower score than one that was left alone, which is the purpose.

@<Score what may follow a beam@>=
/* in the caller's order, on log-probabilities: a penalty applied before the softmax would give
   another result */
static void process_all(struct search *s, const struct search_beam *grown)
{
  const struct search_settings *w = s->want;
  for (size_t i = 0; i < w->n_process; i++) {
    const struct search_processor *p = &w->process[i];
    if (p->what == PROCESS_REPETITION)
      funnel_repetition_penalty(&s->f, p->penalty, grown->id, grown->n);
    if (p->what == PROCESS_NGRAM)
      funnel_no_repeat_ngram(&s->f, p->n, grown->id, grown->n);
    if (p->what == PROCESS_MIN_NEW && grown->n - s->n_prompt < p->n)
      funnel_suppress(&s->f, w->eos, w->n_eos);
  }
}

@ We add before we compare. That matters at a tie: two log-probabilities that differ in their last bit may give the same sum, and then the ids decide.

@<Score what may follow a beam@>=
/* All tokens that are left are offered, and the list keeps the best of all beams: no beam has a
   quota. */
static bool grow_beam(struct search *s, size_t beam, struct error *why)
{
  const struct search_beam *b = &s->active[beam];
  if (!funnel_fill(&s->f, s->logits + beam * s->f.vocab, why)) return false;
  funnel_log_softmax(&s->f);
  process_all(s, b);
  for (size_t i = 0; i < s->f.n; i++) {
    uint32_t id = s->f.candidates[i];
    double z = s->f.score[id];
    rank_candidate(s, (struct search_candidate) @[{ .parent = beam,@|
      .token = id, .logprob = z, .score = b->score + z }@]);
  }
  return true;
}

@ You might expect that a repetition penalty of, say, $\val{penalty.r}$ means the same here as in greedy decoding. It does not. The penalty $r$ divides what is positive and multiplies what is not. Greedy decoding meets logits of both signs; a log-probability is never positive. \Cref{tab:penalty}\lab{lab:paper} has three tokens, of which a and c have occurred before. In greedy decoding
a falls below b. In a search a stays in front: its log-probability is near 0, and a number near 0 loses little by being multiplied. A token of probability $p$ has $p^r$ after the penalty, so a token that is nearly certain pays next to nothing, however often it has occurred. (One more difference: adding the same number to all logits leaves the probabilities alone, but it changes what a penalty on logits does.)

\begin{table}
\tabcaption{tab:penalty}{A repetition penalty of \val{penalty.r} on logits, as in greedy decoding, and on log-probabilities in nats, as in a search. The tokens a and c have occurred before.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{token} & \tabhead{logit} & \tabhead{penalized} & \tabhead{log-probability} & \tabhead{penalized}\\\midrule
a & \val[2]{penalty.logit.a} & \val[2]{penalty.logit.after.a} & \val[2]{penalty.log.a} & \val[2]{penalty.log.after.a}\\
b & \val[2]{penalty.logit.b} & \val[2]{penalty.logit.after.b} & \val[2]{penalty.log.b} & \val[2]{penalty.log.after.b}\\
c & \val[2]{penalty.logit.c} & \val[2]{penalty.logit.after.c} & \val[2]{penalty.log.c} & \val[2]{penalty.log.after.c}
\end{tabular*}
\end{table}

The funnel lists its tokens by rising id, so the candidates do arrive in the order of the array.

@<Grow all beams by every token@>=
/* one pass for all beams; the ranks are given when the list is complete */
static bool grow_beams(struct search *s, struct error *why)
{
  s->n_list = 0;
  if (!s->from->score(s->from->ctx, s->active, s->n_active, s->logits, why))
    return false;
  for (size_t i = 0; i < s->n_active; i++)
    if (!grow_beam(s, i, why))@+ return false;
  for (size_t i = 0; i < s->n_list; i++)@+ s->list[i].rank = i + 1;
  return true;
}

@* Finished hypotheses: the length penalty. \label{sec:finished}
A candidate ends if its token is an end token, or if the text has reached its maximum length. Then it is a \emph{hypothesis}, and competes with others that have ended at other lengths. How do you compare them? Not by their sums: each further word makes a sum smaller, so short texts would win by being short. We divide the sum by a power of the length, @^hypothesis@>
\begin{equation}\label{eq:lengthpenalty}
  \hbox{score}=\frac{\sum_i\ln p_i}{t^\lambda},
\end{equation}
where $p_i$ is the probability of the $i$th token that was written, $t$ counts these tokens, the end token included and the prompt not, and $\lambda$ is called the \emph{length penalty}. It is an odd name: sums are negative, so a larger $\lambda$ is kinder to long texts. With $\lambda=0$ the sum itself counts, with $\lambda=1$ the mean. (Programs differ here: some count the prompt, some leave the end token out. The penalty of \cited[Wu and others 2016]{Wu 2016}, which you will often see quoted, is another formula: it divides by $((5+t)/6)^\lambda$.)
@^length penalty@>

Try it on a text of 2 words with the sum $-3$ and one of 5 words with $-5$. With $\lambda=0$ the short one wins, $-3$ against $-5$; with $\lambda=1$ the long one, $-1$ against $-\given{1.5}$.

@<The score of a finished text@>=
/* the length penalty of transformers: the prompt does not count, and an end token does */
static double final_score(const struct search *s, double sum, size_t written)
{
  return sum / num_pow((double) written, s->want->length_penalty);
}

@ A \emph{pool} of $B$ places keeps the finished texts, best first. A newcomer goes after its equals, as with the candidates. When all places are taken the worst text falls out, and its memory serves the newcomer.
@^pool, of hypotheses@>

@<Offer a text a place among the finished@>=
/* The block of ids of the text that is pushed out, or an unused one, goes to the new text:
   entries move, their blocks of memory are only handed on. |token| is the one that ended the
   text, or null for a text that was broken off. */
static void finish_text(struct search *s, const struct search_beam *b,
  const uint32_t *token, double sum, enum finish_reason ended)
{
  size_t n = b->n + (token != NULL), i = s->n_hypotheses;
  double score = final_score(s, sum, n - s->n_prompt);
  if (i == s->want->num_beams && !(score > s->hypotheses[i - 1].score)) return;
  if (i < s->want->num_beams)@+ s->n_hypotheses++;
  else i--;
  uint32_t *id = s->hypotheses[i].id;
  for (; i > 0 && score > s->hypotheses[i - 1].score; i--)
    s->hypotheses[i] = s->hypotheses[i - 1];
  memcpy(id, b->id, b->n * sizeof *id);
  if (token != NULL)@+ id[b->n] = *token;
  s->hypotheses[i] = (struct search_text) @[{ id, n, sum, score, ended }@];
}

@ Does a candidate end, and how? An end token that comes as the last token that the length allows counts as an end token.

@<Decide what becomes of the candidates@>=
/* an end token counts as such even if it is also the last that there is room for */
static bool ends(const struct search *s, const struct search_candidate *c,
  enum finish_reason *how)
{
  const struct search_settings *w = s->want;
  *how = s->active[c->parent].n + 1 == s->limit ? FINISH_LENGTH : FINISH_NONE;
  for (size_t i = 0; i < w->n_eos; i++)
    if (w->eos[i] == c->token)@+ *how = FINISH_STOP;
  return *how != FINISH_NONE;
}

@ Not every candidate that ends may finish: only those among the first $B$. We ranked the others to be sure of $B$ candidates that do not end. Of these, the first $B$ are the beams of the next step. An end token of a lower rank is dropped and forgotten. Other children of the same beam may be kept, and may end one step later; but then it is another text.

@<Decide what becomes of the candidates@>=
/* Of the candidates that end a text only those among the best |num_beams| may finish; others
   are dropped. There are enough candidates to fill all beams even if each beam offers every end
   token. */
static void decide(struct search *s)
{
  size_t width = s->want->num_beams;
  enum finish_reason how;
  s->n_next = 0;
  for (size_t i = 0; i < s->n_list; i++) {
    struct search_candidate *c = &s->list[i];
    if (ends(s, c, &how)) {
      if (i >= width)@+ continue;
      finish_text(s, &s->active[c->parent], &c->token, c->score, how);
      c->outcome = OUTCOME_FINISHED;
    }
    else if (s->n_next < width)@+ keep_candidate(s, c);
  }
}

@ Here is all of that by hand, with two beams and one end token. Look for the ends that rank too low, and for the text that ends only because of its length.

\begin{byhand}{two beams, two tokens and an end}
The tokens are \tok{a}, \tok{b} and an end token, the stop; at most four are written. What follows depends only on the last token:

\medskip
\begin{tabular}{@@{}lrrr@@{}}
\tabhead{after} & \tabhead{a} & \tabhead{b} & \tabhead{stop}\\
nothing & 0.60 & 0.10 & 0.30\\
a & 0.20 & 0.50 & 0.30\\
b & 0.15 & 0.05 & 0.80
\end{tabular}
\medskip

With two beams and one end token up to four candidates are ranked in a step, and those of rank 1 and 2 may finish.

\medskip
\begin{tabular}{@@{}lrrr@@{}}
\tabhead{grown from} & \tabhead{a} & \tabhead{b} & \tabhead{stop}\\
nothing, which has 1 & 0.60 & 0.10 & 0.30\\
a, which has 0.60 & 0.12 & 0.30 & 0.18\\
b, which has 0.10 & 0.015 & 0.005 & 0.08\\
a b, which has 0.30 & 0.045 & 0.015 & 0.24\\
a a, which has 0.12 & 0.024 & 0.060 & 0.036\\
a a b, which has 0.060 & 0.009 & 0.003 & 0.048\\
a b a, which has 0.045 & 0.009 & 0.0225 & 0.0135
\end{tabular}
\medskip

Step 1: a is kept, the stop finishes, b is kept. Step 2: a b is kept, a stop finishes, a a is kept; b stop has rank 4 and is dropped. Step 3: a b stop finishes, a a b is kept, a b a is kept; a a stop has rank 4 and is dropped. Step 4 is the last, and all texts end: a a b stop finishes, and so does a b a b, by its length; a b a stop has rank 3 and is dropped.
\end{byhand}

@ We write out a candidate that is kept: its parent's tokens and one more. That copies four bytes a token, where the keys and values of a token have \val{share.row} in the built-in model; \cref{sec:sharing} avoids copying those. A parent may have several children, so its text must live until all of them are written. Two sets of texts therefore take turns.

@<Make a beam of a candidate@>=
/* the text is copied to the other half, since its parent may have more children */
static void keep_candidate(struct search *s, struct search_candidate *c)
{
  const struct search_beam *b = &s->active[c->parent];
  uint32_t *id = s->text[s->turn ^ 1] + s->n_next * s->limit;
  memcpy(id, b->id, b->n * sizeof *id);
  id[b->n] = c->token;
  s->next[s->n_next++] = (struct search_beam) @[{ id, b->n + 1, c->parent,@|
    c->score }@];
  c->outcome = OUTCOME_KEPT;
}

@* Early stopping. \label{sec:enough}
When is a search over? If no beam is left, certainly. Otherwise only if the pool is full; and then you might stop at once. That is the first rule, \.{true}. But is a beam perhaps about to become something better? The second rule, \.{false}, which is the usual one, compares the best beam with the worst text of the pool as if the beam ended here and now:
if even the best beam would not get in, the search stops. That is not quite safe. A beam that goes on becomes longer, and if $\lambda>0$ a greater length may lift its score although its sum falls. The third rule, \.{never}, divides the best beam's sum by the greatest length that the beam can reach. The sum can only fall; so if this score is not better than the worst of the pool, no score of any beam ever will be.
@^early stopping@>

The proof for the third rule is one line. Let $S<0$ be the beam's sum, $S'\le S$ that of a text grown from it, with a length $t\le L$; then $S'/t^\lambda\le S/t^\lambda\le S/L^\lambda$. With $S=-4$, $L=8$ and $\lambda=1$ the beam will reach $-\given{0.5}$ at best. (With $\lambda\le0$ a longer text is never better, and the present length is the best case. A processor cannot make a sum rise either: a log-probability is never positive, and no multiple of it is.)

@<Is the search over?@>=
/* The search may stop when no active beam can still beat the worst finished text. With a
   positive length penalty a longer text divides its sum by more, so the best that |EARLY_NEVER|
   can hope for is the greatest length; the default looks at the present length, as transformers
   does. */
static bool search_is_done(const struct search *s)
{
  const struct search_settings *w = s->want;
  if (s->n_next == 0)@+ return true;
  if (s->n_hypotheses < w->num_beams)@+ return false;
  if (w->early == EARLY_TRUE)@+ return true;
  size_t written = s->next[0].n - s->n_prompt;
  if (w->early == EARLY_NEVER && w->length_penalty > 0)
    written = s->limit - s->n_prompt;
  return !(final_score(s, s->next[0].score, written)
    > s->hypotheses[w->num_beams - 1].score);
}

@ Here are the three rules at work, in the search of the last box.

\begin{byhand}{the same search, and three ways to stop}
The scores of those that finish, with $\lambda=1$:

\medskip
\begin{tabular}{@@{}lrrrr@@{}}
\tabhead{text} & \tabhead{step} & \tabhead{probability} & \tabhead{logarithm} & \tabhead{score}\\
stop & 1 & 0.30 & $-1.204$ & $-1.204$\\
a stop & 2 & 0.18 & $-1.715$ & $-0.857$\\
a b stop & 3 & 0.24 & $-1.427$ & $-0.476$\\
a a b stop & 4 & 0.048 & $-3.037$ & $-0.759$\\
a b a b & 4 & 0.0225 & $-3.794$ & $-0.949$
\end{tabular}
\medskip

After step 2 the pool is full, with $-0.857$ and $-1.204$. \.{true} ends here, and returns a stop. \.{false} asks the best beam, a b, which has 0.30: its logarithm is $-1.204$, and $-1.204/2=-0.602$ is better than the worst of the pool, so the search goes on. Step 3 puts $-0.476$ in and $-1.204$ out. The best beam is now a a b, which has 0.060, and $-2.813/3=-0.938$ is worse than $-0.857$: \.{false} ends here and returns a b stop. \.{never} divides by the greatest length, $-2.813/4=-0.703$, and goes on. In step 4 $-0.759$ pushes out $-0.857$, and $-0.949$ does not get in; the best text is the same. With $\lambda=0$ the logarithms themselves count: the stop alone has $-1.204$, no text has more, and the result is the empty text.
\end{byhand}

@ Back to the program. It takes one step after another, until the search is over. If all tokens are out for all beams and no text has ended, that is an error.

@<Search step by step@>=
/* A step that was cancelled inside the source has made no candidates, so the beams of the step
   before are ended; before the first step there are none, and the search fails. The two lists
   of beams change places, and with them the halves of |text|. */
static bool search_steps(struct search *s, struct error *why)
{
  const struct search_settings *w = s->want;
  for (bool over = false; !over; ) {
    if (!grow_beams(s, why)) {
      if (s->number == 0 || !progress_cancelled(s->from->progress)) return false;
      cancel(s, s->active, s->n_active);
      break;
    }
    decide(s);
    s->number++;
    over = search_is_done(s);
    @<Let the watcher see the step@>@;
    if (s->n_next > 0) @<Let the beams that were kept grow next@>@;
  }
  return s->n_hypotheses > 0 || error_say(why, "after token %zu of"@| " the text all"@|
    " tokens are out for"@| " all beams, and no"@| " text has ended", s->active[0].n);
}

@ The two sets of texts change places, and with them the two lists of beams. If no beam was kept, they do not; then the error message can still say how long the last beams were.

@<Let the beams that were kept grow next@>=
{
  struct search_beam *old = s->active;
  s->active = s->next, s->n_active = s->n_next;
  s->next = old, s->turn ^= 1;
}

@ After each step you may look: the watcher sees what was considered, and it may end the search.

@<Let the watcher see the step@>=
if (w->see != NULL && !w->see(w->ctx, &(struct search_step) @[{@|
    s->number, s->active, s->n_active, s->list, s->n_list, s->hypotheses,@|
    s->n_hypotheses }@]) && !over) {
  cancel(s, s->next, s->n_next);
  over = true;
}

@ When a watcher ends a search early, we offer all beams to the pool as they are: the caller has asked for the best text so far. They have their last token already, so none is added. We do the same when the source gives up in the middle of a step. Its logits are worthless then, but the beams that were about to grow are whole. Only a search that was given up before its first step has no text to return, and fails.

@<End all beams where they are@>=
/* a caller who stops a search gets the unfinished texts, if they are good enough */
static void cancel(struct search *s, const struct search_beam *beam, size_t n)
{
  for (size_t i = 0; i < n; i++)
    finish_text(s, &beam[i], NULL, beam[i].score, FINISH_CANCELLED);
}

@* A search from end to end. \label{sec:wholesearch}
The parts are there; what remains is to put them together. While it runs, a search keeps two sets of beams, the pool, the list of candidates, logits for all beams, and one funnel that serves the beams one after the other.

@<What a search keeps@>=
struct search {@+ const struct search_source *from;
  const struct search_settings *want;@+ struct memory *m;
  size_t n_prompt, limit, max_candidates, number;
    /* |limit|: the most tokens of a text; |max_candidates|: the most candidates; |number|: steps so far */
  struct funnel f;
  struct arena lists; /* what follows, but for the numbers */
  float *logits; /* |[num_beams][vocab]| */
  struct search_beam *active, *next; /* |[num_beams]|: those that grow, those kept */
  size_t n_active, n_next;
  uint32_t *text[2]; /* |[num_beams][limit]|: the ids of both lists of beams */
  unsigned turn; /* |text[turn]| has those of |active| */
  struct search_candidate *list; /* |[max_candidates]|, by rank */
  size_t n_list;
  uint32_t *pooled; /* |[num_beams][limit]|: the ids of the pool */
  struct search_text *hypotheses; /* |[num_beams]|, best first */
  size_t n_hypotheses;@+ };
  /* a search while it runs; |want| and |from| are borrowed */

@ The caller chooses the number of beams, the length penalty, the rule for stopping, the processors, and who may watch. All options are checked once, before anything is computed (\.{unwoven/search/options.c}).

@<The options of a search@>=
enum early_stopping {@+ EARLY_FALSE, EARLY_TRUE, EARLY_NEVER@+ };
  /* with |num_beams| finished texts a search ends: (false) if the best beam, ended as it
     is, would not be among them; (true) at once; (never) if no beam ever can be */
enum search_process {@+ PROCESS_REPETITION, PROCESS_NGRAM, PROCESS_MIN_NEW@+ };
  /* a repetition penalty; no n-gram twice; no end before |n| tokens */
struct search_processor {@+ enum search_process what;@+ double penalty;
  size_t n;@+ };
  /* |penalty| for the first, |n| for the others, and |n == 0| does nothing */
typedef bool search_see(void *ctx, const struct search_step *now);
  /* is called after each step; |false| ends the search */
struct search_settings {@+ size_t num_beams, num_return, max_length;
  double length_penalty;@+ enum early_stopping early;@+ const uint32_t *eos;
  size_t n_eos;@+ const struct search_processor *process;
  size_t n_process;@+ search_see *see;@+ void *ctx;@+ };
  /* beams; texts wanted, 1 to |num_beams|; the most tokens of a text, prompt included; the
     exponent of the length; ids that end a text; processors in order; and a watcher,
     null: none */

@ You get texts, best first, and they are yours to free.

@<What a search gives@>=
struct search_result {@+ struct search_text *text;@+ size_t n, n_prompt, steps;
  struct memory *m;@+ };
  /* |n| texts by falling score, at most |num_return|; each begins with the
     |n_prompt| tokens of the prompt */
bool search_check(const struct search_settings *s, size_t vocab,
  size_t n_prompt, struct error *why);
  /* are all options in their ranges? On failure a sentence that names the
     option, its value and the range */
bool search_run(const struct search_source *from, struct memory *m,
  const struct kernels *k, const uint32_t *prompt, size_t n_prompt,
  const struct search_settings *want, struct search_result *out,
  struct error *why);
  /* searches; errors: an option out of range, an empty prompt, an id out of range, a prompt
     too long for the source, memory, what the source says, a NaN among the logits, or
     no token left for any beam before a text has ended. On failure |out| is empty */
void search_free(struct search_result *r);
  /* returns the texts */

@ Four functions frame a search. The first checks a prompt; the others allocate what a search keeps, free it, and copy the best texts out. (They are plain C: the checks in \.{unwoven/search/options.c}, the memory in \.{unwoven/search/room.c}.)

@<The frame of a search@>=
bool search_check_prompt(const struct search *s, const uint32_t *prompt,
  struct error *why);
  /* can a search begin with it? On failure a sentence that says why not */
bool search_take(struct search *s, const struct kernels *k,
  struct error *why);
  /* allocates all that a search keeps; what it has is freed by |search_give|, even on failure */
void search_give(struct search *s);
  /* frees it */
bool search_export(struct search *s, struct search_result *out,
  struct error *why);
  /* copies the best of the pool to the caller; on failure |out| is empty */

@ So the search itself checks, allocates, takes its steps, and hands the results over. It frees what it allocated in any case.

@<Search, and hand the best over@>=
/* Two candidates for each beam are enough with one end token: at most one of each beam's best
   can be it. With more end tokens there are as many more. */
bool search_run(const struct search_source *from, struct memory *m,
  const struct kernels *k, const uint32_t *prompt, size_t n_prompt,
  const struct search_settings *want, struct search_result *out,
  struct error *why)
{
  struct search s = @[{ .from = from, .want = want, .m = m, .lists.m = m,@|
    .n_prompt = n_prompt, .limit = want->max_length }@];
  *out = (struct search_result) @[{ .m = m, .n_prompt = n_prompt }@];
  if (!search_check_prompt(&s, prompt, why)
      || !search_check(want, from->vocab, n_prompt, why)) return false;
  @<Set the limits of the search@>@;
  bool ok = search_take(&s, k, why);
  if (ok) {
    @<Make the prompt the only beam@>@;
    ok = search_steps(&s, why) && search_export(&s, out, why);
  }
  search_give(&s);
  return ok;
}

@ Whatever length you ask for, a text also ends where the model's context does, as in the loop of \cref{loop}.

@<Set the limits of the search@>=
if (from->max_len > 0 && s.limit > from->max_len) s.limit = from->max_len;
s.max_candidates = (want->n_eos > 1 ? 1 + want->n_eos : 2) * want->num_beams;
if (s.limit > SIZE_MAX / sizeof (uint32_t)) return error_say(why,
    "max_length is %zu;"@| " wanted: less", s.limit);

@ At the beginning there is one beam, the prompt, and not $B$ of them. Programs that work on arrays of a fixed shape begin with $B$ copies and give all but the first a score of $-10^9$. That comes to the same, unless $B$ is larger than the vocabulary; then those copies may take places in the pool. (The loop gives each place of the pool its own block of memory for ids; when texts move up and down, the places exchange their blocks.)

@<Make the prompt the only beam@>=
memcpy(s.text[0], prompt, n_prompt * sizeof *prompt);
s.active[0] = (struct search_beam) @[{ .id = s.text[0], .n = n_prompt }@];
s.n_active = 1;
for (size_t i = 0; i < want->num_beams; i++)
  s.hypotheses[i].id = s.pooled + i * s.limit;

@ The header collects the declarations.

@(search.h@>=
#ifndef INCIPIT_SEARCH_H
#define INCIPIT_SEARCH_H
#include "loop/generate.h"
@<What a search works on@>@;
@<The outcome of a candidate@>@;
@<The options of a search@>@;
@<What a search gives@>@;
#endif

@ The structure and the frame are in a header of the module's own.

@(inside.h@>=
#ifndef INCIPIT_SEARCH_INSIDE_H
#define INCIPIT_SEARCH_INSIDE_H
#include "sampling/funnel.h"
#include "search/search.h"
@<What a search keeps@>@;
@<The frame of a search@>@;
#endif

@ The source file begins with what holds while a search is under way.

@(search.c@>=
/* Beam search over any source of logits. Between steps: |active| has at most |num_beams|
   unfinished texts and |hypotheses| at most as many finished ones, both in falling order of
   score. Equal scores keep the order in which they came, so a search gives the same texts on
   every machine. The ids of active beams are in |text[turn]|; those of the next are written to
   |text[turn^1]|, so a parent may have several children. All memory is taken before the first
   step, so a step can fail only for what the source says or gives. */
#include <string.h>
#include "search/inside.h"
#include "functions/numbers.h"
@;@#
@<Put a candidate where it belongs, if anywhere@>@;
@<Score what may follow a beam@>@;
@<Grow all beams by every token@>@;
@<The score of a finished text@>@;
@<Offer a text a place among the finished@>@;
@<Make a beam of a candidate@>@;
@<Decide what becomes of the candidates@>@;
@<Is the search over?@>@;
@<End all beams where they are@>@;
@<Search step by step@>@;
@<Search, and hand the best over@>@;

@* Beams share cache pages. \label{sec:sharing}
Now let a model be the source. Each beam is a sequence of the cache. The first pass reads the prompt; in every later pass each beam has one row, the newest token of its text. So a step of the search is one pass of $B$ rows, which costs less than $B$ passes of one (\cref{phases}); and the logits are bit for bit those of reading each text alone.

But beams descend from each other. All have the prompt in common, and when a beam has two children, both begin with the whole of it. An engine that keeps keys and values in arrays of a fixed shape has to \emph{reorder its cache}: for every beam, in every step, it copies the parent's rows to where the child's belong. With four beams of \given{1000} tokens that is \given{4000} rows, for four new ones. In \cref{cache} a sequence is a list of pages, and a child
gets a copy of the list: |store_fork|. The first sequence that writes to a shared page copies the rows in that page, at most a page's worth.
@^sharing@>@^fork@>
@^cache reorder@>

We call the number of a sequence in the cache (a \emph{sequence id} elsewhere) its \emph{slot}. The first child of a parent takes over the parent's slot, and nothing is copied at all. A parent without children frees its slot. A second child, or a third, takes a free slot and forks its parent into it. \Cref{fig:seats}\lab{lab:seats} shows this in a search that we shall watch in \cref{sec:searchcheck}: before its fifth step each of the four beams has pages of its own, and after it all four are children of the first.
@^slot@>

\widefig{seats}{fig:seats}{Slots and pages at a fork, in pages of four rows. Left, four beams with a page and three rows each. Right, the four children of the first: all read its first page (dotted: shared), the last page was copied three times (hatched), and the last child keeps the original. Red is the newest row of each beam.}{Two panels of four lines, a line for each slot. On the left each line is a first page of four words, The cat sat and on, by, in or at, and a second page of three more. On the right all four lines begin with The cat sat on, which is drawn solid once and dotted three times; three words, the mat and a full stop, are hatched three times as copied, and solid in the last line. After them come four new words.}

@<Beams that share a cache@>=
struct search_model {@+ struct generate_context g;
  size_t chunk, max_beams, n, *which;
  uint32_t *slot, *prev_slot;@+ };
  /* |slot[max_beams]| are the sequences of the |n| beams of the last step;
     |prev_slot[max_beams]|
     and |which[max_beams]| are scratch */
bool search_model_open(struct search_model *s, const struct generate_context *g,
  size_t num_beams, size_t chunk, struct search_source *from,
  struct error *why);
  /* makes |from| a source for one search: |g->s| must be a cache with
     |num_beams| sequences or more, whose rows may serve if sequence 0 begins
     like the prompt, and else are dropped; the prompt is read in passes of |chunk|
     rows, 0: in one. |s| and what |g| borrows must outlive |from| */
void search_model_close(struct search_model *s);
  /* returns what was taken; the rows stay in the cache */

@ We assign slots in two rounds: first those that a child inherits, then the forks.

@<Assign slots to the children@>=
enum {@+ NO_SLOT = 0x7fffffff@+ };
@#
static bool is_taken(const struct search_model *s, size_t n, uint32_t slot)
{
  for (size_t i = 0; i < n; i++)
    if (s->slot[i] == slot)@+ return true;
  return false;
}
  /* linear, twice over few beams: cheaper than a table */
@#
static bool assign_slots(struct search_model *s,
  const struct search_beam *grown, size_t n, struct error *why)
{
  memcpy(s->prev_slot, s->slot, s->n * sizeof *s->prev_slot);
  @<Give each parent's slot to its first child@>@;
  @<Fork the other children into empty slots@>@;
  return true;
}
  /* The order matters. Slots that no child has are emptied before anything forks, because a fork
     needs an empty sequence, and the pages that they release may be needed. A slot that was given
     to a first child has not been written to yet, so its siblings can fork from it. */

@ In the first round each parent's slot goes to its first child. The slots that no beam has then are emptied, and so their pages are free before any page is taken.

@<Give each parent's slot to its first child@>=
for (size_t i = 0; i < n; i++) {
  size_t first = 0;
  while (grown[first].parent != grown[i].parent)@+ first++;
  s->slot[i] = first == i ? s->prev_slot[grown[i].parent] : NO_SLOT;
}
for (uint32_t q = 0; q < s->max_beams; q++)
  if (!is_taken(s, n, q))@+ store_crop(s->g.s, q, 0);

@ In the second round the other children take empty slots, lowest first. A fork copies a list of page numbers, four bytes for each page, and no key.

@<Fork the other children into empty slots@>=
for (size_t i = 0; i < n; i++) {
  if (s->slot[i] != NO_SLOT)@+ continue;
  uint32_t q = 0;
  while (is_taken(s, n, q))@+ q++;
  s->slot[i] = q;
  if (!store_fork(s->g.s, s->prev_slot[grown[i].parent], q, why)) return false;
}

@ In the first step there is one beam, without a parent. It gets the first slot, where an earlier text may have left rows that we can use again.

@<Assign a slot to the prompt@>=
/* The first sequence may have rows of an earlier search with the same prompt. The last token is
   always read again, since its logits are wanted. */
static void assign_prompt_slots(struct search_model *s, const struct search_beam *only)
{
  for (uint32_t q = 1; q < s->max_beams; q++) store_crop(s->g.s, q, 0);
  store_match_prefix(s->g.s, 0, only->id, only->n - 1);
  s->slot[0] = 0;
}

@ When all beams have a slot, we make the rows that are missing from their sequences: the whole prompt in the first step, and one row for each beam after that.

@<Make the rows that the beams lack@>=
/* |which[i]| is the last row of beam |i|, whose logits are wanted */
static struct row *rows_lacking(struct search_model *s,
  const struct search_beam *grown, size_t n, size_t *all, struct error *why)
{
  *all = 0;
  for (size_t i = 0; i < n; i++)
    *all += grown[i].n - store_length(s->g.s, s->slot[i]);
  struct row *list = memory_alloc(s->g.m, MEMORY_ACTIVATIONS, *all, sizeof *list,
    why);
  size_t at = 0;
  for (size_t i = 0; list != NULL && i < n; i++) {
    for (size_t t = store_length(s->g.s, s->slot[i]); t < grown[i].n; t++)
      list[at++] = (struct row) @[{ s->slot[i], (uint32_t) t,
        grown[i].id[t] }@];
    s->which[i] = at - 1;
  }
  return list;
}

@ One pass reads these rows; then the head computes the logits of the last row of each beam. (A prompt that is read in chunks takes several passes. Its last row is in the last of them, under another number.)

@<Score all beams in one pass@>=
/* A prompt is read in chunks, and only the last chunk's rows are in |p|. A row that is not
   finite is reported before its logits are computed, with its layer. */
static bool pass_and_head(struct search_model *s, const struct row *list,
  size_t all, size_t n, float *logits, struct error *why)
{
  struct generate_context *g = &s->g;
  struct pass *p = NULL;
  bool ok = model_read(g, list, all, n == 1 ? s->chunk : 0, &p, why);
  if (ok && n == 1)@+ s->which[0] = p->n - 1;
  for (size_t i = 0; ok && i < n; i++)
    ok = pass_is_finite(g->lm, p, s->which[i], why);
  ok = ok && model_logits(g->e, g->lm, p, s->which, n, logits, why);
  pass_close(p);
  return ok;
}

@ The source's one function does all of that in order: slots, rows, pass, and logits.

@<Score all beams in one pass@>=
/* |n| is 0 before the first step, when nobody has a slot */
static bool score_beams(void *ctx, const struct search_beam *grown, size_t n,
  float *logits, struct error *why)
{
  struct search_model *s = ctx;
  size_t all;
  if (s->n == 0)@+ assign_prompt_slots(s, grown);
  else if (!assign_slots(s, grown, n, why))@+ return false;
  s->n = n;
  struct row *list = rows_lacking(s, grown, n, &all, why);
  bool ok = list != NULL && pass_and_head(s, list, all, n, logits, why);
  memory_free(s->g.m, list);
  return ok;
}

@ Opening a source means filling in two structures and allocating three short lists. No text may be longer than the context by more than one token, since the last token is not read.

@<Open and close a model as a source@>=
/* A text may have one token more than the context has positions: the last needs no row. */
bool search_model_open(struct search_model *s, const struct generate_context *g,
  size_t num_beams, size_t chunk, struct search_source *from,
  struct error *why)
{
  *s = (struct search_model) @[{ .g = *g, .chunk = chunk,@|
    .max_beams = num_beams }@];
  *from = (struct search_source) @[{ g->lm->config.vocab_size,@|
    (size_t) g->s->n_positions + 1, s, score_beams,@|
    g->e->progress }@];
  if (num_beams > g->s->n_sequences) return error_say(why, "%zu beams in a"@|
      " cache of %" PRIu32 " sequences; wanted:"@| " a sequence for each",@|
      num_beams, g->s->n_sequences);
  s->slot = memory_alloc(g->m, MEMORY_OTHER, num_beams, sizeof *s->slot, why);
  s->prev_slot = memory_alloc(g->m, MEMORY_OTHER, num_beams, sizeof *s->prev_slot, why);
  s->which = memory_alloc(g->m, MEMORY_OTHER, num_beams, sizeof *s->which, why);
  if (s->slot != NULL && s->prev_slot != NULL && s->which != NULL) return true;
  search_model_close(s);
  return false;
}

@ Closing a source leaves the cache alone: it is yours, and you may want to continue from the rows of the last beams.

@<Open and close a model as a source@>=
void search_model_close(struct search_model *s)
{
  memory_free(s->g.m, s->which);
  memory_free(s->g.m, s->prev_slot);
  memory_free(s->g.m, s->slot);
  *s = (struct search_model) @[{ .g = s->g }@];
}

@* Best of n. \label{sec:bestof}
There is a simpler way to spend $n$ times the work on one text: sample $n$ texts, as in \cref{sampling}, and take the one that the model finds likeliest. This is \emph{best-of-n}. The texts may end at different lengths, so we compare the log-probability per token; and we take it from the model's own distribution, whatever temperature and truncation the sampler used.
@^best-of-n@>

@<The best of several texts@>=
struct best_of {@+ struct continuation best;@+ double logprob;
  size_t winner;@+ };
  /* the best text; the sum of its log-probabilities, and its number among the others */
bool best_of_write(const struct generate_context *g, struct sampler *sampler,
  const uint32_t *prompt, size_t n_prompt, const struct generate_options *want,
  size_t n, struct best_of *out, struct error *why);
  /* writes |n| $\ge1$ texts, number |i| with |sampler->sequence == i|, and gives the one with the
     highest log-probability per token, of equal ones the first; |want|'s sampler and watcher
     are not asked. Errors: those of |generate|. On failure |out| is empty */
void best_of_free(struct memory *m, struct best_of *b);
  /* returns the text */

@ Do we need another pass to judge a text? No: while it is written, the loop shows its logits to a watcher. The watcher computes their log-probabilities and adds up those of the tokens that were chosen.

@<Add up what was chosen@>=
struct listener {@+ const struct engine *e;@+ size_t vocab;
  double *scratch, sum;@+ };
@#
static bool listen(void *ctx, const struct step *now)
{
  struct listener *l = ctx;
  l->e->k->log_softmax(l->e, now->logits, 1, l->vocab, l->scratch);
  l->sum += l->scratch[now->chosen];
  return true;
}
  /* log-probabilities of the model itself, before any stage of the sampler: only they can be
     compared between texts */

@ We compare texts by this mean; for an empty text it is 0.

@<Write one, and compare@>=
static double per_token(double sum, const struct continuation *c)
{
  size_t written = c->text.n - c->n_prompt;
  return written == 0 ? 0 : sum / (double) written;
}

@ Each text has its own index, and so its own noise (\cref{sec:philox}). We free the one that loses at once, so at most two texts are in memory.

@<Write one, and compare@>=
/* Each text has a stream of random numbers of its own, its |sequence|. The first text wins
   until there is a better one; the loser is freed at once, so two texts are in memory and not
   |n|. */
static bool best_of_try(const struct generate_context *g, struct sampler *sampler,
  const uint32_t *prompt, size_t n_prompt, const struct generate_options *want,
  size_t i, size_t n, struct listener *l, struct best_of *out,
  struct error *why)
{
  struct generate_options mine = *want;
  struct continuation text;
  mine.select = sampler_choose, mine.accept = sampler_accept;
  mine.select_ctx = sampler;
  mine.on_step = listen, mine.ctx = l;
  sampler->sequence = (uint32_t) i, l->sum = 0;
  if (!generate(g, prompt, n_prompt, &mine, &text, why)) return false;
  bool better = out->winner == n || per_token(l->sum, &text)
    > per_token(out->logprob, &out->best);
  continuation_free(g->m, better ? &out->best : &text);
  if (better)@+ *out = (struct best_of) @[{ text, l->sum, i }@];
  return true;
}

@ If your settings keep the cache's rows, the prompt is read only once: the loop finds the rows of the last text, and goes back to where the new one begins.

@<Write several texts, and keep the best@>=
/* on failure nothing is left for the caller to free */
bool best_of_write(const struct generate_context *g, struct sampler *sampler,
  const uint32_t *prompt, size_t n_prompt, const struct generate_options *want,
  size_t n, struct best_of *out, struct error *why)
{
  struct listener l = @[{ .e = g->e, .vocab = g->lm->config.vocab_size }@];
  *out = (struct best_of) @[{ .winner = n }@];
  l.scratch = memory_alloc(g->m, MEMORY_ACTIVATIONS, l.vocab, sizeof *l.scratch, why);
  bool ok = l.scratch != NULL;
  for (size_t i = 0; ok && i < n; i++)
    ok = best_of_try(g, sampler, prompt, n_prompt, want, i, n, &l, out, why);
  memory_free(g->m, l.scratch);
  if (!ok)@+ best_of_free(g->m, out);
  return ok;
}
void best_of_free(struct memory *m, struct best_of *b)
{
  continuation_free(m, &b->best);
}

@ The model as a source and best-of-n share a header and a source file.

@(sharing.h@>=
#ifndef INCIPIT_SHARING_H
#define INCIPIT_SHARING_H
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "search/search.h"
@<Beams that share a cache@>@;
@<The best of several texts@>@;
#endif

@ The source file begins with what must hold between two steps.

@(sharing.c@>=
/* A model as the source of a search, and best of n. Each beam has a sequence of the store, its
   slot, and |slot[i]| is the slot of beam |i| in the last pass. No two beams have the same. A
   parent's slot goes to its first child, and only further children fork: so a beam without
   children costs nothing, and forks never need more sequences than there are beams. Rows are
   made for what a slot lacks, which is one token for each beam, or the whole prompt. */
#include <inttypes.h>
#include <string.h>
#include "search/sharing.h"
@;@#
@<Assign slots to the children@>@;
@<Assign a slot to the prompt@>@;
@<Make the rows that the beams lack@>@;
@<Score all beams in one pass@>@;
@<Open and close a model as a source@>@;
@<Add up what was chosen@>@;
@<Write one, and compare@>@;
@<Write several texts, and keep the best@>@;

@* What a search costs. \label{sec:searchcost}
\begin{table}
\tabcaption{tab:sharing}{Passes and rows of a search; forks, that is, children beyond a parent's first; kilobytes (\given{1000} bytes) of keys and values that were copied, with pages of 16 and of 64 rows, and if every beam were copied in every step.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrrr@@{}}
\tabhead{beams} & \tabhead{passes} & \tabhead{rows} & \tabhead{forks} & \tabhead{pages of 16} & \tabhead{pages of 64} & \tabhead{all copied}\\\midrule
1 & \val{share.passes.1} & \val{share.rows.1} & \val{share.forks.1} & \val[0]{share.copied16.1} & \val[0]{share.copied64.1} & \val[0]{share.all.1}\\
2 & \val{share.passes.2} & \val{share.rows.2} & \val{share.forks.2} & \val[0]{share.copied16.2} & \val[0]{share.copied64.2} & \val[0]{share.all.2}\\
4 & \val{share.passes.4} & \val{share.rows.4} & \val{share.forks.4} & \val[0]{share.copied16.4} & \val[0]{share.copied64.4} & \val[0]{share.all.4}\\
8 & \val{share.passes.8} & \val{share.rows.8} & \val{share.forks.8} & \val[0]{share.copied16.8} & \val[0]{share.copied64.8} & \val[0]{share.all.8}
\end{tabular*}
\end{table}

What do you pay for four beams? First the rows. A prompt of $p$ tokens is read once, by one beam; after that each of the $N-1$ further steps has a row for each of $B$ beams: $p+B(N-1)$ rows in $N$ passes. A search makes as many passes as greedy decoding, and each has more to do. In time the difference is smaller than in rows, because a pass reads the weights once for all of its rows: in \cref{phases}, with weights of the size of GPT-2 small and one thread, a row alone takes \val[1]{phases.row.gpt2.1.0.1} milliseconds, a row among four \val[1]{phases.row.gpt2.1.0.4}, and one among eight \val[1]{phases.row.gpt2.1.0.8}.

Then the copies. Where a beam has several children, all but one must copy the rows of the last page before they write to it. That is at most a page of rows, however long the text is. Arrays of a fixed shape copy all rows of all beams in every step. \Cref{tab:sharing}\lab{lab:searchcost} lists both, for a prompt of \val{share.prompt} tokens of a tale and \val{share.steps} more.

With four beams we copied \val[1]{share.less} percent of what such arrays would have copied, in pages of 16. In many steps no parent has two children; and where one has, we copy at most a page, while those arrays copy whole texts. The longer the text, the greater the difference, because a page does not grow with it. A fork copied \val[1]{share.mean16} rows on average in pages of 16, and \val[1]{share.mean64} in pages of 64: about half a page, as it would be if forks came equally often at each place of a page.

@* Search errors, counted. \label{sec:optimum}
Does a search with a few beams find the likeliest text? If it does not, that is a \emph{search error}. On a real model we cannot tell, because we cannot look at all texts. On a small enough model we can. So we made a forest\lab{lab:forest} of \val{forest.models} random models with a vocabulary of three, and let each write six tokens. There are $3^6$ such texts, and a recursion goes through all of them. A model is a table: for each of the \val{forest.nodes} beginnings of fewer than six tokens it has three logits, normally distributed and multiplied by a \emph{spread}. The larger the spread, the steeper the distributions; we took $\frac34$, $\frac32$ and 3.
@^search error@>

How wide must a search be to be sure? Before the last of $N$ tokens there are at most $V^{N-1}$ beginnings. With $B=V^{N-1}$ beams we keep each of them, and the best of all texts is among the candidates of the last step. Here that is $3^5=\val{forest.enough}$; for a real vocabulary it is hopeless. With fewer beams you have no guarantee.

\begin{table}
\tabcaption{tab:forest}{Random models of the middle spread, in percent: in how many the search finds the likeliest text, in how many its text is less likely than the greedy one, in how many the leader changed, and in how many the first token was another than the greedy one.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{beams} & \tabhead{found} & \tabhead{worse than greedy} & \tabhead{leader changed} & \tabhead{other first token}\\\midrule
1 & \val[1]{forest.found.1} & \val[2]{forest.share.worse.1} & \val[1]{forest.turned.1} & \val[1]{forest.other.1}\\
2 & \val[1]{forest.found.2} & \val[2]{forest.share.worse.2} & \val[1]{forest.turned.2} & \val[1]{forest.other.2}\\
3 & \val[1]{forest.found.3} & \val[2]{forest.share.worse.3} & \val[1]{forest.turned.3} & \val[1]{forest.other.3}\\
4 & \val[1]{forest.found.4} & \val[2]{forest.share.worse.4} & \val[1]{forest.turned.4} & \val[1]{forest.other.4}\\
5 & \val[1]{forest.found.5} & \val[2]{forest.share.worse.5} & \val[1]{forest.turned.5} & \val[1]{forest.other.5}
\end{tabular*}
\end{table}

We asked four questions of each search. Did it find the best text? Is its text less likely than the greedy one? Does its text begin with another token than the greedy one? And did the leader ever change: was the best candidate of a step no child of the best of the step before? Guess, before you read on: can two beams ever do \emph{worse} than one?

@ \Cref{fig:optimum} answers the first question, \cref{tab:forest} all four for the middle spread. One beam is greedy decoding, and misses the best text in \val[0]{forest.missed.1} percent of the models. A second beam finds most of what the first has missed, and each further one finds a little more. But in \val{forest.worse.2} of the \val{forest.models} models \emph{two beams are worse than one}: the greedy text's beginning fell
behind two others, was dropped, and would have won in the end. No small number of beams is safe from that; it only becomes rare. With \val{forest.enough} beams the search found the best text in \val{forest.exact.found} models of the \val{forest.exact} that we tried. And the flatter the models, the harder they are: where no token leads clearly, no beginning does.

\fig{optimum}{fig:optimum}{The share of \val{forest.models} random models, in percent, in which a search finds the likeliest text, against the number of beams. The spread of the logits is $\frac34$ for the flat ones, $\frac32$ for the middle ones, and 3 for the steep ones.}{Three rising curves over one to eight beams. With one beam the curves begin far apart, the steep models highest, at three quarters of all, the flat ones at less than half. They rise more and more slowly, and with eight beams all three are near the top.}

When is greedy decoding enough? Always if $N=1$, and always if what follows does not depend on what was chosen. Otherwise you can sometimes tell after the fact. Let $p_1,\ldots,p_N$ be the probabilities of greedy decoding's tokens, and $q_i$ that of the second likeliest token at place $i$. Another text leaves the greedy one at some place $i$. Its probability is at most $p_1\cdots p_{i-1}\,q_i$, since no later factor is above 1. So if
\begin{equation}\label{eq:certain}
  p_i\,p_{i+1}\cdots p_N\ge q_i\qquad\hbox{for every }i,
\end{equation}
no text is likelier than the greedy one. In the middle forest that holds for \val[1]{forest.certain} percent of the models; greedy decoding is right in \val[1]{forest.found.1} percent.

@* Length bias. \label{sec:grove}
\begin{table}
\tabcaption{tab:grove}{Random models with an end token, four beams: the mean number of steps, of texts offered to the pool, and of tokens in the text returned; in how many percent of the models that text is the best of all.}
\begin{tabular*}{\textwidth}{@@{}ll@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{$\lambda$} & \tabhead{stopping} & \tabhead{steps} & \tabhead{finished} & \tabhead{tokens} & \tabhead{best of all}\\\midrule
0 & \texttt{true} & \val[2]{grove.steps.0.true} & \val[2]{grove.offers.0.true} & \val[2]{grove.tokens.0.true} & \val[1]{grove.found.0.true}\\
0 & \texttt{false} & \val[2]{grove.steps.0.false} & \val[2]{grove.offers.0.false} & \val[2]{grove.tokens.0.false} & \val[1]{grove.found.0.false}\\
0 & \texttt{never} & \val[2]{grove.steps.0.never} & \val[2]{grove.offers.0.never} & \val[2]{grove.tokens.0.never} & \val[1]{grove.found.0.never}\\
1 & \texttt{true} & \val[2]{grove.steps.1.true} & \val[2]{grove.offers.1.true} & \val[2]{grove.tokens.1.true} & \val[1]{grove.found.1.true}\\
1 & \texttt{false} & \val[2]{grove.steps.1.false} & \val[2]{grove.offers.1.false} & \val[2]{grove.tokens.1.false} & \val[1]{grove.found.1.false}\\
1 & \texttt{never} & \val[2]{grove.steps.1.never} & \val[2]{grove.offers.1.never} & \val[2]{grove.tokens.1.never} & \val[1]{grove.found.1.never}\\
2 & \texttt{true} & \val[2]{grove.steps.2.true} & \val[2]{grove.offers.2.true} & \val[2]{grove.tokens.2.true} & \val[1]{grove.found.2.true}\\
2 & \texttt{false} & \val[2]{grove.steps.2.false} & \val[2]{grove.offers.2.false} & \val[2]{grove.tokens.2.false} & \val[1]{grove.found.2.false}\\
2 & \texttt{never} & \val[2]{grove.steps.2.never} & \val[2]{grove.offers.2.never} & \val[2]{grove.tokens.2.never} & \val[1]{grove.found.2.never}
\end{tabular*}
\end{table}

The texts of the forest end by their length, all in the same step, so neither the length penalty nor early stopping has anything to do. To see them work, we made \val{grove.models} more models,\lab{lab:grove} with three tokens and an end token, that write at most \val{grove.longest} tokens. Again we can look at all \val{grove.texts} texts of a model. \Cref{tab:grove} shows what four beams do under nine rules.
@^length bias@>

@ With \.{true} the search ends when four texts have finished, after \val[1]{grove.steps.1.true} steps whatever $\lambda$ is, since it looks at no score. With $\lambda=0$ you lose little by that: short texts win, and they come first. With $\lambda=1$ the search stops before it has written many of the texts that would have won, and returns the best in only \val[1]{grove.found.1.true} percent of the models. \.{false} goes on and finds it in \val[1]{grove.found.1.false} percent. \.{never} takes
\val[2]{grove.steps.1.never} steps in place of \val[2]{grove.steps.1.false} and gains little. With $\lambda=0$ the last two are the same rule: a longer text is never better.

With $\lambda=2$ \.{false} and \.{never} go nearly always to the end, and still they miss the best in more models than with 1. You might suspect early stopping. But \.{never} stops only when nothing can be gained, and finds no more than \val[1]{grove.found.2.never} percent. Beams are ranked by their sums while they grow, and $\lambda$ counts only when a text has finished; so a text that owes its score to the length penalty must first survive as a beam without it. We think that a large $\lambda$ needs more beams.

@* Beam search rewrites its past. \label{sec:final}
A text that is written token by token only grows. That holds for greedy decoding and for every kind of sampling, and a program that shows you its text while it writes relies on it. With beams it is different. A beam never changes either: it grows, or it is dropped. But the one that leads after eleven tokens need not have grown from the one that led after ten; so a search that showed you the leader of each step would have to take words back before your eyes. In the forest, at the middle spread, the leader changes in \val[1]{forest.turns.2} percent of all steps with two beams and in
\val[1]{forest.turns.5} with five. On the built-in model we counted\lab{lab:dull} \val{final.beam} changes of the leader of four beams in \val{final.steps} steps. (For greedy decoding and sampling we looked in each step for a written token that had changed. We found \val{final.greedy}, as it must be.)

That is why you cannot stream a search. Our command prints nothing until the search is over. It also refuses a stop string together with beams: the matcher of \cref{stopping} follows one text whose bytes are released one after the other, and a beam releases none.
@^streaming@>

@* The likeliest text is dull. \label{sec:dull}
\begin{table}
\tabcaption{tab:dull}{Seven ways to go on after \val{dull.windows} places in three tales: the mean log-probability of a token, in nats; distinct-2, in percent; and the entropy of all tokens written, in bits. (A nat is $1/\ln2$ bits; \cref{sampling} gives log-probabilities in bits.)}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrr@@{}}
\tabhead{way} & \tabhead{log-probability, nats} & \tabhead{distinct-2, \%} & \tabhead{entropy, bits}\\\midrule
the tale itself & \val[3]{dull.logprob.tale} & \val[1]{dull.distinct.tale} & \val[2]{dull.entropy.tale}\\
sampling, temperature 1 & \val[3]{dull.logprob.dice} & \val[1]{dull.distinct.dice} & \val[2]{dull.entropy.dice}\\
the best of four such & \val[3]{dull.logprob.best} & \val[1]{dull.distinct.best} & \val[2]{dull.entropy.best}\\
sampling, temperature \given{0.5} & \val[3]{dull.logprob.cool} & \val[1]{dull.distinct.cool} & \val[2]{dull.entropy.cool}\\
greedy & \val[3]{dull.logprob.greedy} & \val[1]{dull.distinct.greedy} & \val[2]{dull.entropy.greedy}\\
two beams & \val[3]{dull.logprob.two} & \val[1]{dull.distinct.two} & \val[2]{dull.entropy.two}\\
four beams & \val[3]{dull.logprob.four} & \val[1]{dull.distinct.four} & \val[2]{dull.entropy.four}
\end{tabular*}
\end{table}

Suppose a search found the best text every time. Would you want it? Think of a coin that falls on heads nine times of ten. The likeliest sequence of \given{100} throws is heads only. Its probability is $\given{0.9}^{\given{100}}$, one in \val[0]{coin.odds}: throw that coin all day, and you will not see it. What you see is a sequence with about ten tails. No such sequence is likely, but there are very many, each about as unlikely as the others. The logarithm of its probability, per throw, is near its expectation,
\begin{equation}\label{eq:typical}
  \given{0.9}\ln0.9+\given{0.1}\ln0.1=-H,
\end{equation}
minus the entropy $H$: \val[3]{coin.typical}, where the likeliest sequence has $\ln0.9$, or \val[3]{coin.likeliest}. By the law of large numbers longer sequences come ever nearer to the first value and never to the second. The sequences near it are called \emph{typical}, and all of them together the \emph{typical set}.
@^entropy@>

A text is not quite such a sequence. Its tokens are neither independent nor alike, and the entropy changes from token to token. But the expected log-probability of a sampled token is minus the entropy of its distribution, whatever that is, so in a long sampled text the mean log-probability comes close to minus the mean of these entropies (\cited[Shannon 1948]{Shannon 1948}, for languages in which the distant past does not matter). The likeliest text has a higher mean, like the sequence of heads; so a search for it moves away from the typical texts. Does that prove the likeliest text dull? No. We know only that this text is not typical; what it is like, we have to look at.
@^typical set@>

So we asked the model to continue tales that it had not seen, from \val{dull.windows} places, each time with \val{dull.given} tokens given and \val{dull.written} to write, in six ways; the tale's own words are a seventh. \Cref{tab:dull}\lab{lab:dull} gives three numbers for each way. The first is the mean log-probability of a token, by the model itself. The second is \emph{distinct-2}: of all pairs of neighbouring tokens in a text, the share that occur there for the first time.\side{\cited[Li, Galley, Brockett, Gao and Dolan 2016]{Li 2016}.} The third is the entropy of all tokens that a way has written: how many different words it uses, and how evenly.

The likeliest text itself is not among the seven: we do not know it for this model. What four beams write is only likelier than the rest, on average. \cited[Stahlberg and Byrne (2019)]{Stahlberg 2019} did find the likeliest translations, by a search that throws nothing away: for more than half of all sentences the likeliest translation was the empty text. Narrow beams had been good because they missed it.
@^distinct-n@>

@ A search for likely words finds them. The mean of the tale's own words is \val[3]{dull.logprob.tale}, that of four beams \val[3]{dull.logprob.four}; at \val{dull.below} of \val{dull.windows} places the tale is \emph{less} likely than what the beams have written. And it is the tale that the model was made to imitate. Samples at temperature 1 should score like the tale. They are \val[3]{dull.gap.dice} below it, with a standard error of \val[3]{dull.error.dice}; at temperature \given{0.5} they are \val[3]{dull.gap.cool} above, with a standard error of \val[3]{dull.error.cool}. Neither is two standard errors away, so by this column you could not tell either of them from the tale. In the other columns the cooler samples are nearest to the tale. We expect that of a model that gives a little too much to words which no tale would use
(\cited[Holtzman and others 2020]{Holtzman 2020}): now and then such a word is drawn, and the text goes on from something that the model has never read. A lower temperature takes from the unlikely first, as the truncations of \cref{sampling} do.

@ The other two columns show the price. (Two beams have a little more entropy than greedy decoding; but \val{dull.windows} places in three tales are a small sample.) At \val{dull.round} places fewer than half of the pairs in the text of four beams are new. Here is the extreme:\lab{lab:dull}

\checkpoint[9,20]{build/out/laboratory/search.txt}{a tale's own words, and what four beams write}

The beams have found a loop in which each word is all but certain, and they do not leave it because a loop costs almost nothing per word. And four beams end as nearly the same text four times: of all pairs in the four, \val[1]{dull.set.beams} percent occur for the first time;
in four sampled texts it is \val[1]{dull.set.dice} percent.

Nor is a search sure to reach its own goal. At \val{dull.worse} of the places the text of four beams is less likely than that of greedy decoding. The best of four samples, for about as many rows, has a mean of \val[3]{dull.logprob.best}: it is likelier than the tale and no duller. Search was at home in translation, where there is one right answer or nearly one; and even there
the best results are reported for few beams and worse ones for many (\cited[Koehn and Knowles 2017]{Koehn 2017}), which is called the \emph{beam search curse} \cited{Yang 2018}. We have no translations to try that on. Where many answers are right, a search finds one that few would give.
@^beam search curse@>

@* Relatives of beam search. \label{sec:relatives}
Could we keep the beams and change what makes them dull? \emph{Diverse beam search} (\cited[Vijayakumar and others 2018]{Vijayakumar 2018}) divides them into groups that choose one after the other, and lowers the score of a token that an earlier group has just chosen, so that the groups drift apart; you pay with one more number to choose, and the texts are still likely ones. \emph{Beam sampling} draws the candidates of a step instead of ranking them. \emph{Stochastic beams} (\cited[Kool and others 2019]{Kool 2019}) add the noise of \cref{sec:gumbel} to each score, in such a way that the $B$ beams are $B$ \emph{different} texts, drawn
from the model without replacement. Both of these are ways to draw, and no longer a search for the best.
@^diverse beam search@>
@^beam sampling@>
@^stochastic beams@>

Others keep several texts and change what is compared. Best-of-n asks the model. With a second model that judges whole texts, a \emph{reward model}, the same loop picks the text that this model judges best. \emph{Self-consistency} (\cited[Wang and others 2023]{Wang 2023}) samples many solutions of a problem and takes the answer that most of them reach. \emph{Minimum Bayes risk} decoding (\cited[Kumar and Byrne 2004]{Kumar 2004}) takes the text that is most similar to all the others, by some measure of similarity: the text with the least expected error if any of them may be the truth. \emph{Contrastive search} (\cited[Su and others 2022]{Su 2022}) writes one text only, and prefers a likely token whose hidden state is unlike those before it.
Apart from those hidden states, all of these need from an engine only what you have seen: several texts, their log-probabilities, and a cache that shares what the texts have in common.
@^best-of-n@>@^reward model@>
@^self-consistency@>
@^minimum Bayes risk@>
@^contrastive search@>

Can beams obey a constraint, such as a grammar? Nothing in the rule forbids it: the constraint is one more processor, which masks a beam's tokens before they become candidates. But a matcher has a state, and so each beam needs its own, copied from its parent wherever the beam forks, just as its pages are. Our matchers follow one text. So the command refuses \.{--regex} or \.{--json-object} together with \.{--num-beams}, as it refuses \.{--temperature}, rather than ignore the option.

When, then, should you search? Where one answer is right and the model knows it: a translation, a transcription, a short fact. With how many beams? Few: in \cref{tab:forest} the second beam found most of what the first had missed, and each beam costs you a row in every pass. Where many answers are right, sample; and if you can judge answers, sample several. None of the programs of \cref{tab:others} searches unless you ask it to.
@^constrained decoding@>

@* The token tree. \label{sec:tokentree}
A finished text looks as if it had been the only one. But at each of its tokens there was a distribution, and next to the token that was chosen there were others, some of them hardly less likely. You can keep them in a \emph{token tree}: below each token of the text those that might have come next, with their log-probabilities, their ranks, and the reason why they were taken or not. \Cref{fig:tokentree}\lab{lab:lattice} is the tree of a text that was sampled, a spine with short branches. \Cref{fig:lattice}, at the beginning of the chapter, is that of a search, where branches live on for a while. The page that \texttt{make living} builds draws both for a prompt of your own, and there you can open a branch that was passed over and let the text go on from it.
Drawn like that, with a column for each step and a line for each rank, a search looks like a \emph{lattice}; but in a lattice paths meet again, and here no two ever do, since two different texts stay different. So it is a tree all the same. (The token tree of speculative decoding is another: there a pass reads several guesses at once. Ours only remembers.) The tree grows by watching: its keeper is a watcher of the loop (\cref{sec:watch}) or of the search.
@^token tree@>
@^lattice@>

\widefig{tokentree}{fig:tokentree}{What might have been written after The old king. Below each token its probability, the logarithm of it, and its rank; a branch is as thick as its token was likely.}{A tree that grows to the right after The old king. At each of five steps three words branch off, and one of them is red and goes on: wrote, about, cheese, a full stop, It. Wrote and about and the full stop were the likeliest of their three; cheese and It were the least likely.}

@ What must a node remember? Its parent, its token, and why the token was taken or not. In a text a branch was passed over, was the likeliest, or was drawn; in a search a candidate was too low, was kept as a beam, or finished a text. Whether a node belongs to the text in the end is known only at the end: then |token_tree_mark| walks from the root along the text's tokens. \label{sec:treenodes}

All nodes are in one array, each parent before its children. So a parent can be a number, which stays right when the array grows and moves; and the walk of |token_tree_mark| never goes back.

@(tree.h@>=
#ifndef INCIPIT_TREE_H
#define INCIPIT_TREE_H
#include "search/search.h"
enum tree_reason {@+ REASON_PASSED, REASON_LIKELIEST, REASON_DRAWN,
  REASON_LOW, REASON_KEPT, REASON_FINISHED, N_REASONS@+ };
  /* in a text: not chosen, chosen as the likeliest, drawn; in a search: too low, kept as
     a beam, finished */
struct tree_node {@+ uint32_t parent, token;@+ size_t number, rank;
  double logprob;@+ enum tree_reason reason;@+ bool chosen;@+ };
  /* |token| of step |number|, counted from 1, after node |parent|, counted from 1, 0 for the prompt; its
     log-probability after its parent; the rank from 1, among all tokens or in a search
     among the candidates of its step; whether it is in the text in the end */
@<A tree and its functions@>@;
#endif

@ A watcher cannot say why it fails, only that it does not want to go on. What if there is no memory for a node? The tree keeps the error, and the text ends as if you had cancelled it. So look at |ok| when a text is over.

@<A tree and its functions@>=
struct token_tree {@+ struct memory *m;@+ const struct engine *e;
  size_t vocab, branches, beams;@+ bool sampled;@+ struct tree_node *node;
  size_t n, cap;@+ double *logprob;@+ uint32_t *tip, *next;
  bool ok;@+ struct error why;@+ };
  /* node number |i + 1| is |node[i]|, |i < n|; |sampled|: whether tokens are drawn; |tip[beams]|:
     the nodes that may grow; if |ok| is false, |why| says what was refused */
bool token_tree_open(struct token_tree *t, struct memory *m,
  const struct engine *e, size_t vocab, size_t branches, size_t beams,
  struct error *why);
  /* an empty tree that keeps the |branches| likeliest tokens of each step, for a text, or all
     candidates, for a search of at most |beams| beams */
void token_tree_close(struct token_tree *t);
  /* returns its memory */
bool token_tree_step(void *ctx, const struct step *now);
  /* a |step_watch|: |ctx| is a tree that was opened for one beam */
bool token_tree_search(void *ctx, const struct search_step *now);
  /* a watcher of a search; |ctx| is a tree */
void token_tree_mark(struct token_tree *t, const uint32_t *id, size_t n);
  /* marks the nodes of a text whose |n| written tokens are |id[n]| as chosen */
const char *tree_reason_name(enum tree_reason reason);
  /* "passed over", "the likeliest", ... */

@ The functions are in \.{unwoven/search/tree.c}. Each step of a text adds its likeliest tokens, found one after the other (for a handful of branches that is cheaper than sorting); the chosen token becomes a node even if it was drawn from far down the list. Each step of a search adds its candidates, and those that were kept are the parents of the next.

@* What the tutorials say. \label{sec:searchtutorials}
Three of the sources describe beam search, and two of these say elsewhere that a token, once written, stays.

\begin{claimed}{S3-06}
With two beams the leader changed in \val[1]{claim.S1-53} percent of the random models, with five in \val[1]{claim.S3-06}. The sentence is true of greedy decoding and of sampling, but the article describes beam search as well. (``LLMs commit to each token as it is generated'' (S1-53) holds: the next sentence there excepts tree search.)
\end{claimed}

\begin{claimed}{S3-28, S2-93}
Five beams find the likeliest text in \val[1]{claim.S2-93} percent of the models, greedy decoding in \val[1]{forest.found.1}. That is usually so, not always: in \val{claim.S3-28} models two beams find a less likely text than one. S2-93 has noticed the price, which \cref{tab:dull} counts.
\end{claimed}

@* The check. \label{sec:searchcheck}
The laboratory repeats the two searches that we did by hand,\lab{lab:paper} and prints the same numbers, with letters for words. Is the rule the library's? |check_search| compares texts and scores with those that the library gave, for tables of logits and for models from files; with a plain restatement, in which all candidates are sorted, on many random searches; and with an enumeration of all texts.

Now watch a search. After \tok{The}\tok{\ cat}\tok{\ sat} the chapter's program lets four beams grow. Each line shows the step and the rank of a candidate that was kept, the sum of its log-probabilities, that of its newest token, and the text. (A minus zero is a token that was all but certain.) In the sixth step \gen{\ It} overtakes \gen{\ The}: the search ends with another text than greedy decoding.

\checkpoint[14,27]{build/out/search.txt}{the last three steps of four beams on the built-in model, and greedy decoding}

@ Here is the program, which uses the chapter's search as any caller would. It opens its model with \.{unwoven/sampling/pocket.inc}, as the program of \cref{stopping} does.

@c
#include <stdio.h>
#include "families/loader.h"
#include "kernels/kernels.h"
#include "tokenizer/tokenizer.h"
#include "search/sharing.h"
#include "sampling/pocket.inc"
@;@#
@<Print the beams that were kept@>@;
@<Search after three words@>@;
@<Open the model, and search twice@>@;

@ It searches twice: with four beams, and with one, which is greedy decoding.

@<Open the model, and search twice@>=
int main(void)
{
  static struct pocket p;
  struct error why;
  struct ids cat = @[{ .n = 0 }@];
  bool ok = pocket_open(&p, &why)@|
    && tokenizer_encode(p.t, &p.m, "The cat sat", 11, false, false, &cat, &why)@|
    && search_cat(&p, &cat, 4, &why) && search_cat(&p, &cat, 1, &why);
  ids_free(&p.m, &cat);
  pocket_close(&p);
  if (!ok)@+ fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ A watcher prints the candidates that were kept in each step, without the prompt.

@<Print the beams that were kept@>=
enum {@+ GIVEN = 3, WRITTEN = 6@+ };
static void print_ids(const struct tokenizer *t, const uint32_t *id, size_t n)
{
  for (size_t i = 0, length; i < n; i++) {
    const unsigned char *byte = tokenizer_text(t, id[i], &length);
    fwrite(byte, 1, length, stdout);
  }
}
static bool print_step(void *ctx, const struct search_step *now)
{
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    const struct search_beam *b = &now->active[c->parent];
    if (c->outcome == OUTCOME_DROPPED)@+ continue;
    printf("%zu.%zu %7.3f %7.3f  ", now->number, c->rank,@|
      c->score, c->logprob);
    print_ids(ctx, b->id + GIVEN, b->n - GIVEN);
    print_ids(ctx, &c->token, 1);
    printf("\n");
  }
  return true;
}

@ A search needs a cache with a slot for each beam.

@<Search after three words@>=
static bool search_cat(struct pocket *p, const struct ids *cat, size_t beams,
  struct error *why)
{
  @<What is wanted of the search@>@;
  struct search_model model;
  struct search_source from;
  struct search_result r = @[{ .n = 0 }@];
  struct store *s = cache_open(&p->m, &p->lm->config, (uint32_t) beams,
    &(struct cache_options) @[{ .page_rows = 0 }@], why);
  if (s == NULL)@+ return false;
  struct generate_context g = @[{ &p->e, p->lm, s, &p->m }@];
  bool ok = search_model_open(&model, &g, beams, 0, &from, why);
  if (ok) {
    ok = search_run(&from, &p->m, p->e.k, cat->id, cat->n, &want, &r, why);
    search_model_close(&model);
  }
  store_close(s);
  if (ok) @<Print the text that was found@>@;
  search_free(&r);
  return ok;
}

@ The steps are shown only where there is something to see, with more than one beam.

@<What is wanted of the search@>=
const struct search_settings want = @[{ .num_beams = beams,@|
  .num_return = 1, .max_length = GIVEN + WRITTEN, .length_penalty = 1,@|
  .see = beams > 1 ? print_step : NULL, .ctx = p->t }@];

@ The sum of the log-probabilities is printed before the text.

@<Print the text that was found@>=
{
  printf("%s%.3f ", beams > 1 ? "beams:  " : "greedy: ", r.text[0].sum);
  print_ids(p->t, r.text[0].id, r.text[0].n);
  printf("\n");
}

@* Exercises. \label{sec:searchexercises}
The command beside an exercise judges your answer by running the search.

\begin{exercises}
\exercise{check}{ex:search.rows}{A prompt of 20 tokens, 30 to write, five beams, no end token. How many passes are there, and how many rows?}{\texttt{make exercise-09-1}}{30 passes. The first has 20 rows, the others five each: $20+29\cdot5=\given{165}$.}
\exercise{check}{ex:search.three}{In the model of the box ``two beams, three words, three steps'', which texts are kept after the second step if there are three beams? Name them in their order, each by the first letters of its words after \emph{Then}. (Of two equal candidates of the same beam, the one with the lower id goes first.)}{\texttt{make exercise-09-2}}{b c with $\given{0.32}$, a a with $\given{0.20}$, and a b: it ties with a c at $\given{0.15}$, and its last token has the lower id.}
\exercise{think}{ex:search.tie}{Two texts have finished: 2 tokens with a sum of $-3$, and 5 tokens with $-5$. For which length penalty are they equally good? Give two decimals.}{\texttt{make exercise-09-3}}{$3/2^\lambda=5/5^\lambda$, so $(5/2)^\lambda=5/3$ and $\lambda=\ln(5/3)/\ln(5/2)=\given{0.56}$.}
\exercise{think}{ex:search.copied}{Three beams of 37 rows each share nothing but their first 32, in pages of 16. In the next step the first beam has three children, and the others have none. How many rows are copied, and how many pages are in use after the pass?}{\texttt{make exercise-09-4}}{The two full pages are shared by all. The last page of the first beam has 5 rows; two of the children copy them, $10$ rows, and the third keeps the page. The pages of the other two beams are free again: $2+3=5$ pages.}
\exercise{think}{ex:search.bound}{A beam's sum is $-6$ after 12 tokens, and 40 may be written in all. The worst text of a full pool has the score $-\given{0.2}$, and the length penalty is 1. Does the search go on with |early_stopping| false? With \.{never}? And with either, if the length penalty is 0 and the worst score $-5$?}{\texttt{make exercise-09-5}}{$-6/12=-\given{0.5}$ is not better than $-\given{0.2}$: it stops. $-6/40=-\given{0.15}$ is: it goes on. With $\lambda=0$ both compare $-6$ with $-5$ and stop.}
\exercise{think}{ex:search.worse}{Find a model of three tokens and three steps for which two beams give a text that is less likely than the greedy one: a line for each beginning that matters, with three probabilities. (After a beginning without a line all three tokens are equally likely.)}{\texttt{make exercise-09-6}}{First $\given{0.4}$, $\given{0.35}$, $\given{0.25}$; after a $\given{0.34}$, $\given{0.33}$, $\given{0.33}$; after b $\given{0.5}$, $\given{0.5}$, $0$; after a a only a. Then b a and b b both have $\given{0.175}$ and push a a out, which has $\given{0.136}$ and would have kept it; they lose two thirds of theirs at the last token.}
\exercise{check}{ex:search.prompt}{Some programs count the prompt when they divide by the length. Let ours do so. Change |final_score|.}{\texttt{make exercise-09-7}}{|written + s->n_prompt| is what is raised to the power. Long prompts then make all lengths look alike, and the penalty loses its effect.}
\exercise{think}{ex:search.twins}{Four beams that are nearly the same text are a waste. Let no beam have more than two children. Change |decide|.}{\texttt{make exercise-09-8}}{Before a candidate is kept, those of |next[0]| to |next[n_next - 1]| with the same parent are counted.}
\end{exercises}
