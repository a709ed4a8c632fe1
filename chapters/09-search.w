@i types.w
@s size_t int
@s step_watch int
@s step_select int
@s search_score int
@s search_see int

\chapterquestion{Taking the likeliest word at every step: does that make the likeliest text?}
@** Beam search, best of n, the token tree.
\incipit{N}{ot always.} A word that is likely now may lead to a place where nothing is likely any more, and a word that was passed over may have led to a better one. Who decides word by word decides
each before its consequences are known, and never goes back. The likeliest \emph{text} is another thing, and to find it one would have to look at all texts, of which there are more than anybody can look at: $V^T$ for $T$ words from a vocabulary of $V$.

Between one text and all of them there is a compromise, which was made for the recognition of speech. Keep not one beginning but a few, the $B$ best of those that are known; let each of them grow by every possible word; and of all that results keep the
$B$ best again. This is called \emph{beam search}, and the beginnings are \emph{beams}.\side{Lowerre 1976, in a system for speech named Harpy. The picture is that of a beam of light, with darkness on either side.} With $B=1$ it is greedy decoding. With $B$ large enough nothing is ever thrown away. This chapter makes one, to the letter of
the rule in the library \emph{transformers}, version 5.0.1 (Wolf and others 2020), whose texts it has to reproduce in its tests; and then it asks what a search is good for. The answer is not cheerful.
@^beam search@>

\begin{byhand}{two beams, three tokens, three steps}
The tokens are \tok{a}, \tok{b} and \tok{c}. As first token they have the probabilities $0.5$, $0.4$ and $0.1$. After that it depends on the text:

\medskip
\begin{tabular}{@@{}lrrr@@{}}
\tabhead{after} & \tabhead{a} & \tabhead{b} & \tabhead{c}\\
a & 0.4 & 0.3 & 0.3\\
b & 0.1 & 0.1 & 0.8\\
a a & 0.6 & 0.2 & 0.2\\
b c & 0.5 & 0.25 & 0.25
\end{tabular}
\medskip

Greedy: a, then a, then a: $0.5\cdot0.4\cdot0.6=0.12$. With two beams, a has $0.5$ and b has $0.4$ after the first step, and both grow:

\medskip
\begin{tabular}{@@{}lrrr@@{}}
\tabhead{grown from} & \tabhead{a} & \tabhead{b} & \tabhead{c}\\
a, which has 0.5 & 0.20 & 0.15 & 0.15\\
b, which has 0.4 & 0.04 & 0.04 & 0.32\\
b c, which has 0.32 & 0.16 & 0.08 & 0.08\\
a a, which has 0.20 & 0.12 & 0.04 & 0.04
\end{tabular}
\medskip

After the second step b c leads with $0.32$, before a a with $0.20$. The leader's first word was a; now it is b. After the third, b c a has $0.16$, more than greedy's $0.12$; the difference is $0.04$. And nothing is better: all texts that were dropped had at most $0.15$ before their last word, and no word makes a text likelier.
\end{byhand}

@ The chapter makes three files. |search| is the rule; it knows nothing of models, only of somebody who gives scores. |sharing| is such a somebody: a model with the cache of \cref{cache}, where the beams share what they have in
common. |trie| keeps what was considered and why it was not taken. A short program searches and prints what is kept at each step (\cref{sec:oncemore}); how often it was worth it is counted in the laboratory.

@* A source of scores. \label{sec:searchsource}
What does a search need of a model? A list of texts goes in, and for each of them come out the logits of what may follow. That is all, and so a \emph{source} is one function. A table of numbers can be a source, as in the hand calculation or in the toy models against which this chapter is tested; a function of a random generator can;
and so can a transformer, which will want to know a little more: not only how a text reads but which text it was grown from, since that is where its keys and values are. So a beam carries the number of its parent.
@^beam@>

@<What a search works on@>=
struct search_beam { const uint32_t *id; size_t n, parent; double score; };
  /* a text |id[n]|, grown by its last token from beam number |parent| of the
     step before; |score|: the sum of the log-probabilities of what was written */
typedef bool search_score(void *ctx, const struct search_beam *grown,
  size_t n, float *logits, struct error *why);
  /* puts what may follow each of |n| texts into |logits[n][vocab]|; it is called
     once a step, for one beam at first: the prompt */
struct search_source { size_t vocab, max_len; void *ctx;
  search_score *score; const struct progress *progress; };
  /* |score|, called with |ctx|, knows what may follow; no text will have more
     than |max_len| tokens, 0: any number; |progress| says whether a |score| that
     failed was given up, null: it never is */

@ The rest are options. One of them is when to stop (\cref{sec:enough}). Others are \emph{processors}, three of the stages of \cref{sampling}; here they work on log-probabilities, and in the order in which they were given.

@<The options of a search@>=
enum early_stopping { EARLY_FALSE, EARLY_TRUE, EARLY_NEVER };
  /* with |num_beams| finished texts a search ends: (false) if the best beam, ended as it
     is, would not be among them; (true) at once; (never) if no beam ever can be */
enum search_process { PROCESS_REPETITION, PROCESS_NGRAM, PROCESS_MIN_NEW };
  /* a repetition penalty; no n-gram twice; no end before so many tokens */
struct search_processor { enum search_process what; double penalty; size_t n; };
  /* |penalty| for the first, |n| for the others, and |n == 0| does nothing */

@ The rest of the options are numbers: of beams, of texts, of tokens, and the exponent by which texts of different lengths are compared (\cref{sec:finished}).

@<The options of a search@>=
typedef bool search_see(void *ctx, const struct search_step *now);
  /* is called after each step; |false| ends the search */
struct search_settings { size_t num_beams, num_return, max_length;@|
  double length_penalty; enum early_stopping early; const uint32_t *eos;@|
  size_t n_eos; const struct search_processor *process; size_t n_process;@|
  search_see *see; void *ctx; };
  /* beams; texts wanted, 1 to |num_beams|; the most tokens of a text, prompt included; the
     exponent of the length; ids that end a text; processors in order; and a watcher,
     null: none */

@ Like the settings of \cref{sampling} they are checked once, before anything is computed, and each refusal is a sentence. A number of tokens for an n-gram, or before an end, needs no check: with 0 the stage does nothing, and a number larger than the text is one that is never reached.

@<Check the options@>=
static bool check_process(const struct search_processor *p,
  struct error *why)
{
  if (p->what == PROCESS_REPETITION
      && !(p->penalty > 0 && p->penalty < INFINITY))
    return error_say(why, "repetition_penalty"@| " is %g; wanted: a"@|
      " number above 0", p->penalty);
  return true;
}
bool search_check(const struct search_settings *s, size_t vocab,
  size_t n_prompt, struct error *why)
{
  if (s->num_beams == 0 || s->num_beams > UINT32_MAX) return error_say(why,
      "num_beams is %zu;"@| " wanted: 1 or more", s->num_beams);
  if (s->num_return == 0 || s->num_return > s->num_beams)
    return error_say(why, "num_return_sequences"@| " is %zu; wanted: 1"@|
      " to %zu, the number"@| " of beams", s->num_return, s->num_beams);
  if (s->max_length <= n_prompt) return error_say(why,@|
      "max_length is %zu,"@| " and the prompt has"@| " %zu tokens;"@|
      " wanted: more", s->max_length, n_prompt);
  @<Check the ids that end a text, and the power@>@;
  for (size_t i = 0; i < s->n_process; i++)
    if (!check_process(&s->process[i], why)) return false;
  return true;
}

@ Three things are checked here: that the ids of the end tokens are ids; that the number of candidates, a product of two sizes that a caller may have chosen, can be computed at all; and a power. A score will be divided by the length to the power of the length penalty. For a text of 96 tokens
and an exponent of 1000 that power is larger than any number that a double can hold, and a search that compares infinities ends in no order at all.

@<Check the ids that end a text, and the power@>=
for (size_t i = 0; i < s->n_eos; i++)
  if (s->eos[i] >= vocab) return error_say(why, "eos_token_id is %" PRIu32@|
      "; wanted: 0 to %zu", s->eos[i], vocab - 1);
if (s->n_eos + 1 > SIZE_MAX / s->num_beams) return error_say(why,@|
    "%zu beams and %zu"@| " end tokens;"@| " wanted: fewer", s->num_beams,
    s->n_eos);
double power = num_pow((double) (s->max_length - n_prompt),
  s->length_penalty);
if (!(power > 0 && power < INFINITY)) return error_say(why,
    "length_penalty is"@| " %g; wanted: a"@| " number that leaves"@| " %zu to its power"@|
    " finite", s->length_penalty, s->max_length - n_prompt);

@* Candidates. \label{sec:beams}
One step of the search goes like this. Each of the beams has a score, the sum of the logarithms of its probabilities; sums, because the product of the probabilities of a long text is smaller than the smallest number that a double can hold. Each token that may follow makes a \emph{candidate}, a text longer by one, with the beam's score plus its own log-probability. Of these
$B\cdot V$ candidates the best are \emph{ranked}. How many? Some of them end, and a text that has ended does not grow any more. In the worst case each beam has all its $E$ end tokens among the best; so that $B$ candidates are certain to remain which do not end, the best $(1+E)B$ are ranked. With four beams and two end tokens these are 12.
(The library ranks $2B$ at least, and so do we. Without end tokens that is more than is needed, and changes nothing: all texts end in the same step, by their length.) To be ranked is not to be \emph{kept}: of those that are ranked at most $B$ become beams of the next step.
@^candidates@>

What becomes of a candidate is one of three things.

@<The outcome of a candidate@>=
enum search_outcome { OUTCOME_DROPPED, OUTCOME_KEPT, OUTCOME_FINISHED };
  /* it was too low; it is a beam of the next step; it ends, and was offered a place */
struct search_candidate { size_t parent, rank; uint32_t token;@|
  double logprob, score; enum search_outcome outcome; };
  /* beam |parent| and |token| after it; its log-probability after the
     processors, and the sum with it; |rank| from 1 by |score|; those kept are the
     beams of the next step, in this order */

@ All of that is written down for whoever watches, after each step, and with it the texts that have finished.

@<The outcome of a candidate@>=
struct search_text { uint32_t *id; size_t n; double sum, score;@|
  enum finish_reason ended; };
  /* |id[n]|, prompt and end token included; the sum of its log-probabilities, and
     that sum over the power of its length; an end token, the length, or a watcher */
struct search_step { size_t number; const struct search_beam *active; size_t n;@|
  const struct search_candidate *candidate; size_t n_candidates;@|
  const struct search_text *finished; size_t n_finished; };
  /* step |number|, from 1: the beams that grew, the candidates by rank, and the texts
     that have finished so far, best first; all lives until the watcher returns */

@ Two candidates may have the same score. Then the one from the earlier beam goes first, and of one beam's the lower id: the order of the array $[B][V]$ read from end to end. (In transformers the choice is left to a function whose description does not settle it.) If the candidates come in that order, and each is put after
those that are not worse, the rule keeps itself: a list of the best so far, in which a newcomer moves up past those that it beats.
@^ties@>

@<Put a candidate where it belongs, if anywhere@>=
static void rank_candidate(struct search *s, struct search_candidate c)
{
  size_t i = s->n_list;
  if (i == s->max_candidates && !(c.score > s->list[i - 1].score)) return;
  if (i < s->max_candidates) s->n_list++;
  else i--;
  for (; i > 0 && c.score > s->list[i - 1].score; i--)
    s->list[i] = s->list[i - 1];
  s->list[i] = c;
}

@ Nearly all candidates of a large vocabulary are turned away by the first comparison. To sort them all would be to put a whole vocabulary in order, and that once for each beam, for the sake of the $(1+E)B$ best.

What may follow a beam is found by a funnel (\cref{sec:funnel}): fill, take the logarithm of the softmax, and let the processors work. The logarithms are not normalised again after the processors, so a banned token's probability is simply lost. That is how it is done elsewhere, and it makes a difference: a text whose words were all penalised has a lower score than one that was left alone, which is the purpose.

A repetition penalty $r$ divides what is positive and multiplies what is not. Log-probabilities never are positive; so the same number means another thing here than in greedy decoding, where it meets logits of both signs. \Cref{tab:penalty}\lab{lab:paper} has three tokens, of which a and c have been said before, and $r=\val{penalty.r}$. In greedy decoding
a falls after b. In a search a stays in front: its log-probability is near 0, and what is near 0 loses little by being multiplied. A token of probability $p$ has $p^r$ after the penalty, and one that is nearly certain pays next to nothing, however often it was said. (One more difference: if all logits are greater by the same number, the probabilities are the same, but the penalty on logits is not.)

\begin{table}
\tabcaption{tab:penalty}{A repetition penalty of \val{penalty.r} on logits, as in greedy decoding, and on log-probabilities, as in a search. The tokens a and c have been said before.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{token} & \tabhead{logit} & \tabhead{penalised} & \tabhead{log-probability} & \tabhead{penalised}\\
a & \val[2]{penalty.logit.a} & \val[2]{penalty.logit.after.a} & \val[2]{penalty.log.a} & \val[2]{penalty.log.after.a}\\
b & \val[2]{penalty.logit.b} & \val[2]{penalty.logit.after.b} & \val[2]{penalty.log.b} & \val[2]{penalty.log.after.b}\\
c & \val[2]{penalty.logit.c} & \val[2]{penalty.logit.after.c} & \val[2]{penalty.log.c} & \val[2]{penalty.log.after.c}
\end{tabular*}
\end{table}

@<Score what may follow a beam@>=
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

@ What the processors leave goes to the list, with the beam's own score added. That the sum is made here, before anything is compared, matters at a tie: two log-probabilities that differ in their last bit may have the same sum with a score, and then the ids decide.

@<Score what may follow a beam@>=
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

@ The funnel leaves its list by rising id, since nobody asked for another order; so the candidates do come as the array lies.

@<Grow all beams by every token@>=
static bool grow_beams(struct search *s, struct error *why)
{
  s->n_list = 0;
  if (!s->from->score(s->from->ctx, s->active, s->n_active, s->logits, why))
    return false;
  for (size_t i = 0; i < s->n_active; i++)
    if (!grow_beam(s, i, why)) return false;
  for (size_t i = 0; i < s->n_list; i++) s->list[i].rank = i + 1;
  return true;
}

@* Finished beams. \label{sec:finished}
A candidate ends if its token is an end token, or if the text has reached its length. Then it is compared with others that have ended, at other lengths; and sums of logarithms cannot be compared at different lengths, because each further word makes a sum smaller: short texts would win by being short. So the sum is divided by a power of the length,
\begin{equation}\label{eq:lengthpenalty}
  \hbox{score}=\frac{\sum_i\ln p_i}{t^\lambda},
\end{equation}
where $t$ counts what was written, the end token included and the prompt not, and $\lambda$ is called the \emph{length penalty}. It is an odd name: sums are negative, so a larger $\lambda$ is kinder to long texts. With $\lambda=0$ the sum itself counts, with $\lambda=1$ the mean. (Programs differ here by one token or more: some count the prompt, some leave the end token out. The penalty of Wu and others 2016, which is often quoted, is another formula: it divides by $((5+t)/6)^\lambda$.)
@^length penalty@>

Take a text of 2 words with the sum $-3$ and one of 5 words with $-5$. With $\lambda=0$ the short one wins, $-3$ against $-5$; with $\lambda=1$ the long one, $-1$ against $-1.5$.

@<The score of a finished text@>=
static double final_score(const struct search *s, double sum, size_t written)
{
  return sum / num_pow((double) written, s->want->length_penalty);
}

@ The finished texts stand in a pool of $B$ places, best first. A newcomer goes after its equals, as with the candidates; and when all places are taken, the worst gives its place up. The memory of a text that falls out serves the one that comes in.
@^pool@>

@<Offer a text a place among the finished@>=
static void finish_text(struct search *s, const struct search_beam *b,
  const uint32_t *token, double sum, enum finish_reason ended)
{
  size_t n = b->n + (token != NULL), i = s->n_hypotheses;
  double score = final_score(s, sum, n - s->n_prompt);
  if (i == s->want->num_beams && !(score > s->hypotheses[i - 1].score)) return;
  if (i < s->want->num_beams) s->n_hypotheses++;
  else i--;
  uint32_t *id = s->hypotheses[i].id;
  for (; i > 0 && score > s->hypotheses[i - 1].score; i--)
    s->hypotheses[i] = s->hypotheses[i - 1];
  memcpy(id, b->id, b->n * sizeof *id);
  if (token != NULL) id[b->n] = *token;
  s->hypotheses[i] = (struct search_text) @[{ id, n, sum, score, ended }@];
}

@ Not every candidate that ends may finish: only those among the first $B$. The others were ranked merely to make sure that $B$ remain that do not end. Of those, the first $B$ are the beams of the next step. An end token that ranks lower is dropped, and nothing remembers it. Other children of the same beam may be kept, and may end one step later; but then it is another text.

@<Decide what becomes of the candidates@>=
static bool ends(const struct search *s, const struct search_candidate *c,
  enum finish_reason *how)
{
  const struct search_settings *w = s->want;
  *how = s->active[c->parent].n + 1 == s->limit ? FINISH_LENGTH : FINISH_NONE;
  for (size_t i = 0; i < w->n_eos; i++)
    if (w->eos[i] == c->token) *how = FINISH_STOP;
  return *how != FINISH_NONE;
}
static void decide(struct search *s)
{
  size_t width = s->want->num_beams;
  enum finish_reason how;
  s->n_next = 0;
  for (size_t i = 0; i < s->n_list; i++) {
    struct search_candidate *c = &s->list[i];
    if (ends(s, c, &how)) {
      if (i >= width) continue;
      finish_text(s, &s->active[c->parent], &c->token, c->score, how);
      c->outcome = OUTCOME_FINISHED;
    }
    else if (s->n_next < width) keep_candidate(s, c);
  }
}

@ To keep a candidate is to write its text out: the parent's tokens and one more. A token of the text has four bytes; its keys and values have \val{share.row} in the built-in model. So copying the text is nothing beside copying them, which \cref{sec:sharing} avoids. The beams of two steps are needed at once, since a parent may have several children. Two sets of texts take turns.

@<Make a beam of a candidate@>=
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

@ All of that by hand, with two beams and one end token. Look for the ends that come too low, and for the text that is ended by its length alone.

\begin{byhand}{two beams, two tokens and an end}
The tokens are \tok{a}, \tok{b} and an end token, the stop; at most four are written. What follows depends on the last token only:

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

Step 1: a stays, the stop finishes, b stays. Step 2: a b stays, a stop finishes, a a stays; b stop has rank 4 and may not. Step 3: a b stop finishes, a a b stays, a b a stays; a a stop has rank 4 and may not. Step 4 is the last, and all end: a a b stop finishes, and so does a b a b, by its length; a b a stop has rank 3.
\end{byhand}

@* When the search stops. \label{sec:enough}
When is a search over? If no beam is left, certainly. Otherwise only if the pool is full, and then there are three opinions, all in use, by the name of |early_stopping|. One is to stop at once (\.{true}). Another, the usual one (\.{false}), compares the worst of the pool with the best beam, as if that one ended here and now:
if even it would not get in, that is enough. But a beam that goes on has a longer text, and if $\lambda>0$ a greater length may lift its score, even though its sum falls. The third opinion (\.{never}) takes that into account: it divides the best beam's sum by the greatest length that it may reach. The sum can only fall; so if that is not better than the worst of the pool, nothing will ever be.
@^early stopping@>

@<Is the search over?@>=
static bool search_is_done(const struct search *s)
{
  const struct search_settings *w = s->want;
  if (s->n_next == 0) return true;
  if (s->n_hypotheses < w->num_beams) return false;
  if (w->early == EARLY_TRUE) return true;
  size_t written = s->next[0].n - s->n_prompt;
  if (w->early == EARLY_NEVER && w->length_penalty > 0)
    written = s->limit - s->n_prompt;
  return !(final_score(s, s->next[0].score, written)
    > s->hypotheses[w->num_beams - 1].score);
}

@ (With $\lambda\le0$ a longer text is never better, and the present length is the best case. Nor can a processor make a sum rise: a log-probability is never positive, and no multiple of it is.) The proof for the third opinion is one line: let $S<0$ be the beam's sum, $S'\le S$ that of a text grown from it, with a length $t\le L$; then $S'/t^\lambda\le S/t^\lambda\le S/L^\lambda$. With $S=-4$, $L=8$ and $\lambda=1$ it will reach $-0.5$ at best. In the search of the last box all of this happens.

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

After step 2 the pool is full, with $-0.857$ and $-1.204$. \.{true} ends here, and a stop is its text. \.{false} asks the best beam, a b, which has 0.30: its logarithm is $-1.204$, and $-1.204/2=-0.602$ is better than the worst of the pool. On. Step 3 puts $-0.476$ in and $-1.204$ out. The best beam is a a b now, which has 0.060, and $-2.813/3=-0.938$ is worse than $-0.857$: \.{false} ends, with a b stop. \.{never} reckons with the greatest length, $-2.813/4=-0.703$, and goes on. In step 4 $-0.759$ drives out $-0.857$, and $-0.949$ does not get in; the best text is the same. And with $\lambda=0$ the logarithms themselves count: the stop alone has $-1.204$, nothing is better, and the text is empty.
\end{byhand}

@ Back to the program: one step after another, and after each the watcher sees what was considered.

@<Search step by step@>=
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
    if (w->see != NULL && !w->see(w->ctx, &(struct search_step) @[{@|
        s->number, s->active, s->n_active, s->list, s->n_list, s->hypotheses,@|
        s->n_hypotheses }@]) && !over) {
      cancel(s, s->next, s->n_next);
      over = true;
    }
    @<Let the beams that were kept be those that grow@>@;
  }
  return s->n_hypotheses > 0 || error_say(why, "behind token %zu of"@| " the text all"@|
    " tokens are out for"@| " all beams, and no"@| " text has ended", s->active[0].n);
}

@ The two sets of texts change places, and so do the two lists of beams. When the search is over there may be none that were kept; then those that grew last stay, so that the error can say how far they came.

@<Let the beams that were kept be those that grow@>=
if (s->n_next > 0) {
  struct search_beam *old = s->active;
  s->active = s->next, s->n_active = s->n_next;
  s->next = old, s->turn ^= 1;
}

@ When a watcher interrupts it, a search offers all its beams to the pool as they are. That is what a watcher's false means here: not that nothing is wanted, but that this must do. They have their last token already, so none is put after them. The same is done when the source itself was given up in the middle of a step: its logits are worthless then, but the beams that were about to grow are whole, and whoever has waited for them gets them. Only a search that was given up before its first step has nothing to show, and fails.

@<End all beams where they are@>=
static void cancel(struct search *s, const struct search_beam *beam, size_t n)
{
  for (size_t i = 0; i < n; i++)
    finish_text(s, &beam[i], NULL, beam[i].score, FINISH_CANCELLED);
}

@* Beam search. \label{sec:wholesearch}
What a search keeps while it runs: two sets of beams, the pool, the list of candidates, logits for all beams, and a funnel that serves one beam after the other.

@<What a search keeps@>=
struct search { const struct search_source *from;@|
  const struct search_settings *want; struct memory *m;@|
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
  size_t n_hypotheses; };

@ What comes out are texts, best first, and they belong to the caller.

@<What a search gives@>=
struct search_result { struct search_text *text; size_t n, n_prompt, steps;@|
  struct memory *m; };
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
     too long for the source, memory, what the source says, a logit that is no number, or
     no token left for any beam before a text has ended. On failure |out| is empty */
void search_free(struct search_result *r);
  /* returns the texts */

@ All memory of the search itself is allocated before the first step; the source allocates its own in each step, and so do the texts that are exported at the end. The largest part are the logits: four bytes for each token and beam. They come from an arena, so that one call frees them.

@<Take and return what a search keeps@>=
static bool search_take(struct search *s, const struct kernels *k,
  struct error *why)
{
  struct arena *a = &s->lists;
  size_t width = s->want->num_beams, each = s->limit * sizeof (uint32_t);
  if (!funnel_open(&s->f, s->m, k, s->from->vocab, why)) return false;
  s->logits = arena_alloc(a, MEMORY_ACTIVATIONS, width,
    s->from->vocab * sizeof (float), why);
  s->active = arena_alloc(a, MEMORY_OTHER, width, sizeof *s->active, why);
  s->next = arena_alloc(a, MEMORY_OTHER, width, sizeof *s->next, why);
  s->text[0] = arena_alloc(a, MEMORY_TOKENS, width, each, why);
  s->text[1] = arena_alloc(a, MEMORY_TOKENS, width, each, why);
  s->list = arena_alloc(a, MEMORY_OTHER, s->max_candidates, sizeof *s->list, why);
  s->pooled = arena_alloc(a, MEMORY_TOKENS, width, each, why);
  s->hypotheses = arena_alloc(a, MEMORY_OTHER, width, sizeof *s->hypotheses, why);
  return !a->refused;
}

@ A search that took nothing can be closed as well.

@<Take and return what a search keeps@>=
static void search_give(struct search *s)
{
  arena_free(&s->lists);
  funnel_close(&s->f);
}

@ At the beginning there is one beam, the prompt, and not $B$ of them. Programs that work on arrays of a fixed shape begin with $B$ copies and give all but the first a score of $-10^9$, which comes to the same unless $B$ is larger than the vocabulary; then the ghosts of those copies may take places in the pool.

@<Begin with the prompt@>=
static bool search_begin(struct search *s, const uint32_t *prompt,
  struct error *why)
{
  const struct search_source *from = s->from;
  if (s->n_prompt == 0) return error_say(why,
      "the prompt has no"@| " tokens; wanted: 1"@| " or more");
  if (from->max_len > 0 && s->n_prompt >= from->max_len)
    return error_say(why, "the prompt has %zu"@| " tokens; wanted: at"@| " most %zu",
      s->n_prompt, from->max_len - 1);
  for (size_t i = 0; i < s->n_prompt; i++)
    if (prompt[i] >= from->vocab) return error_say(why,
        "token %zu of the"@| " prompt is id %" PRIu32 "; the vocabulary has"@| " %zu",@|
        i, prompt[i], from->vocab);
  return true;
}

@ A text ends also where the model's context does, as in chapter 3's loop, whatever longer length was asked for.

@<Search, and hand the best over@>=
bool search_run(const struct search_source *from, struct memory *m,
  const struct kernels *k, const uint32_t *prompt, size_t n_prompt,
  const struct search_settings *want, struct search_result *out,
  struct error *why)
{
  struct search s = @[{ .from = from, .want = want, .m = m, .lists.m = m,@|
    .n_prompt = n_prompt, .limit = want->max_length }@];
  *out = (struct search_result) @[{ .m = m, .n_prompt = n_prompt }@];
  if (!search_begin(&s, prompt, why)
      || !search_check(want, from->vocab, n_prompt, why)) return false;
  if (from->max_len > 0 && s.limit > from->max_len) s.limit = from->max_len;
  s.max_candidates = (want->n_eos > 1 ? 1 + want->n_eos : 2) * want->num_beams;
  if (s.limit > SIZE_MAX / sizeof (uint32_t)) return error_say(why,
      "max_length is %zu;"@| " wanted: less", s.limit);
  bool ok = search_take(&s, k, why);
  if (ok) {
    @<Let the prompt be the only beam@>@;
    ok = search_steps(&s, why) && export_results(&s, out, why);
  }
  search_give(&s);
  return ok;
}

@ Each place of the pool begins with memory of its own, and keeps some, though not the same, for ever.

@<Let the prompt be the only beam@>=
memcpy(s.text[0], prompt, n_prompt * sizeof *prompt);
s.active[0] = (struct search_beam) @[{ .id = s.text[0], .n = n_prompt }@];
s.n_active = 1;
for (size_t i = 0; i < want->num_beams; i++)
  s.hypotheses[i].id = s.pooled + i * s.limit;

@ The pool's memory goes back with the search, so the texts that were asked for are copied out. If one of the copies is refused, all of them go back; a text that has no tokens yet is null, which does no harm.

@<Hand the best of the pool over@>=
static bool export_results(struct search *s, struct search_result *out,
  struct error *why)
{
  size_t n = s->n_hypotheses < s->want->num_return ? s->n_hypotheses
    : s->want->num_return;
  out->steps = s->number;
  out->text = memory_alloc(s->m, MEMORY_TOKENS, n, sizeof *out->text, why);
  bool ok = out->text != NULL;
  if (ok) out->n = n;
  for (size_t i = 0; ok && i < n; i++) {
    struct search_text *t = &out->text[i];
    *t = s->hypotheses[i];
    t->id = memory_alloc(s->m, MEMORY_TOKENS, t->n, sizeof *t->id, why);
    ok = t->id != NULL;
    if (ok) memcpy(t->id, s->hypotheses[i].id, t->n * sizeof *t->id);
  }
  if (!ok) search_free(out);
  return ok;
}
void search_free(struct search_result *r)
{
  for (size_t i = 0; i < r->n; i++)
    memory_free(r->m, r->text[i].id);
  memory_free(r->m, r->text);
  *r = (struct search_result) @[{ .m = r->m }@];
}

@ The header has what a source is, the outcome of a candidate, the options and the results.

@(search.h@>=
#ifndef INCIPIT_SEARCH_H
#define INCIPIT_SEARCH_H
#include "loop/generate.h"
@<What a search works on@>@;
@<The outcome of a candidate@>@;
@<The options of a search@>@;
@<What a search gives@>@;
#endif

@ In the file the smaller parts stand before those that need them.

@(search.c@>=
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "sampling/funnel.h"
#include "search/search.h"
#include "functions/numbers.h"
@;@#
@<What a search keeps@>@;
@<Check the options@>@;
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
@<Take and return what a search keeps@>@;
@<Begin with the prompt@>@;
@<Hand the best of the pool over@>@;
@<Search, and hand the best over@>@;

@* Beams that share pages. \label{sec:sharing}
Now the source that is a model. Each beam is a sequence of the cache. The first pass is the prompt's; in every other each beam has one row, the newest token of its text. So a step of the search is one pass of $B$ rows, which costs less than $B$ passes of one (\cref{phases}); and the logits are the same bits as if each text were read alone.

What makes beams different from any other company of texts is that they descend from each other. All have the prompt in common. When a beam has two children, both begin with the whole of it. Arrays of a fixed shape must copy the keys and values then, for every beam in every step, because somewhere a row of the array now belongs to another parent. In \cref{cache} a sequence is a list of pages, and a child
gets the list: |store_fork|. The first to write to a page that is shared takes a copy of the rows in it, at most a page's worth.
@^sharing@>

A sequence number is a \emph{slot}. The first child of a parent takes over its slot, as if nothing had happened. A parent without children frees its slot; and a second child, or a third, takes a slot that is free and copies its parent there by a fork.

@<Beams that share a cache@>=
struct search_model { struct generate_context g; size_t chunk, max_beams, n, *which;@|
  uint32_t *slot, *prev_slot; };
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

@ Opening takes three small lists. If one is refused, all go back.

@<Open and close a model as a source@>=
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

@ Closing leaves the cache alone. It is the caller's, and the rows of the last beams may be of use to somebody who goes on from one of them.

@<Open and close a model as a source@>=
void search_model_close(struct search_model *s)
{
  memory_free(s->g.m, s->which);
  memory_free(s->g.m, s->prev_slot);
  memory_free(s->g.m, s->slot);
  *s = (struct search_model) @[{ .g = s->g }@];
}

@ Slots are assigned in two rounds. In the first, each parent's slot goes to its first child; all slots that no beam has then are emptied, and their pages with them, before any page is taken. In the second round the other children take empty slots, lowest first.

@<Assign slots to the children@>=
enum { NO_SLOT = 0x7fffffff };
static bool is_taken(const struct search_model *s, size_t n, uint32_t slot)
{
  for (size_t i = 0; i < n; i++)
    if (s->slot[i] == slot) return true;
  return false;
}
static bool assign_slots(struct search_model *s,
  const struct search_beam *grown, size_t n, struct error *why)
{
  memcpy(s->prev_slot, s->slot, s->n * sizeof *s->prev_slot);
  for (size_t i = 0; i < n; i++) {
    size_t first = 0;
    while (grown[first].parent != grown[i].parent) first++;
    s->slot[i] = first == i ? s->prev_slot[grown[i].parent] : NO_SLOT;
  }
  for (uint32_t q = 0; q < s->max_beams; q++)
    if (!is_taken(s, n, q)) store_crop(s->g.s, q, 0);
  @<Let the other children fork their parents into empty slots@>@;
  return true;
}

@ A fork copies a list of page numbers, four bytes for each page, and no key.

@<Let the other children fork their parents into empty slots@>=
for (size_t i = 0; i < n; i++) {
  if (s->slot[i] != NO_SLOT) continue;
  uint32_t q = 0;
  while (is_taken(s, n, q)) q++;
  s->slot[i] = q;
  if (!store_fork(s->g.s, s->prev_slot[grown[i].parent], q, why)) return false;
}

@ The first step of a search is another matter. There is one beam, without a parent; it has the first slot, where an earlier text may have left rows that can be used again.

@<Assign a slot to the prompt@>=
static void assign_prompt_slots(struct search_model *s, const struct search_beam *only)
{
  for (uint32_t q = 1; q < s->max_beams; q++) store_crop(s->g.s, q, 0);
  store_match_prefix(s->g.s, 0, only->id, only->n - 1);
  s->slot[0] = 0;
}

@ When all have a slot, each beam wants those rows that its sequence does not have: all of the prompt in the first step, and then one.

@<Make the rows that the beams lack@>=
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

@ One pass; then the head looks at the last row of each beam. A prompt that is read in chunks has its last row in the last of several passes, where it has another number.

@<Score all beams in one pass@>=
static bool pass_and_head(struct search_model *s, const struct row *list,
  size_t all, size_t n, float *logits, struct error *why)
{
  struct generate_context *g = &s->g;
  struct pass *p = NULL;
  bool ok = model_read(g, list, all, n == 1 ? s->chunk : 0, &p, why);
  if (ok && n == 1) s->which[0] = p->n - 1;
  for (size_t i = 0; ok && i < n; i++)
    ok = pass_is_finite(g->lm, p, s->which[i], why);
  ok = ok && model_logits(g->e, g->lm, p, s->which, n, logits, why);
  pass_close(p);
  return ok;
}

@ That is the source's one function: assign slots, make rows, put them through the model, score. The list of rows lives as long as the pass.

@<Score all beams in one pass@>=
static bool score_beams(void *ctx, const struct search_beam *grown, size_t n,
  float *logits, struct error *why)
{
  struct search_model *s = ctx;
  size_t all;
  if (s->n == 0) assign_prompt_slots(s, grown);
  else if (!assign_slots(s, grown, n, why)) return false;
  s->n = n;
  struct row *list = rows_lacking(s, grown, n, &all, why);
  bool ok = list != NULL && pass_and_head(s, list, all, n, logits, why);
  memory_free(s->g.m, list);
  return ok;
}

@* Best of n. \label{sec:bestof}
There is a simpler way to spend $n$ times the work on one text: sample $n$ texts, as in \cref{sampling}, and take the one that the model likes best. It is called \emph{best-of-n}. The texts know nothing of each other. What is compared is the log-probability per token, since they may end at different lengths; and it is that of the model's own distribution, whatever temperature and cuts the sampler worked with.
@^best of n@>

@<The best of several texts@>=
struct best_of { struct continuation best; double logprob; size_t winner; };
  /* the best text; the sum of its log-probabilities, and its number among the others */
bool best_of_write(const struct generate_context *g, struct sampler *sampler,
  const uint32_t *prompt, size_t n_prompt, const struct generate_options *want,
  size_t n, struct best_of *out, struct error *why);
  /* writes |n| $\ge1$ texts, number |i| with |sampler->sequence == i|, and gives the one with the
     highest log-probability per token, of equal ones the first; |want|'s chooser and watcher
     are not asked. Errors: those of |generate|. On failure |out| is empty */
void best_of_free(struct memory *m, struct best_of *b);
  /* returns the text */

@ While a text is written, the loop shows its logits to a watcher, who makes log-probabilities of them, picks the one that was chosen, and adds it up. No pass is spent on that.

@<Add up what was chosen@>=
struct listener { const struct engine *e; size_t vocab; double *scratch, sum; };
static bool listen(void *ctx, const struct step *now)
{
  struct listener *l = ctx;
  l->e->k->log_softmax(l->e, now->logits, 1, l->vocab, l->scratch);
  l->sum += l->scratch[now->chosen];
  return true;
}

@ If the caller's settings keep the rows, the prompt is read once: the loop finds the rows of the last text, and goes back to where the new one begins.

@<Write several texts, and keep the best@>=
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
  if (!ok) best_of_free(g->m, out);
  return ok;
}
void best_of_free(struct memory *m, struct best_of *b)
{
  continuation_free(m, &b->best);
}

@ Two texts at most are in memory: the best so far and the one that has just been written. A mean over no tokens, which a limit of none would give, is called 0.

@<Write one, and compare@>=
static double per_token(double sum, const struct continuation *c)
{
  size_t written = c->text.n - c->n_prompt;
  return written == 0 ? 0 : sum / (double) written;
}
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
  if (better) *out = (struct best_of) @[{ text, l->sum, i }@];
  return true;
}

@ Both stand in the same pair of files, as both are about a model and several texts.

@(sharing.h@>=
#ifndef INCIPIT_SHARING_H
#define INCIPIT_SHARING_H
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "search/search.h"
@<Beams that share a cache@>@;
@<The best of several texts@>@;
#endif

@ In the file each part stands after those that it needs: slots before passes, one text before several.

@(sharing.c@>=
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

@* The token tree. \label{sec:tokentree}
A text that is finished looks as if it had been the only one. But at each of its tokens there was a distribution, and next to the token that was chosen stood others, some of them hardly less likely. A \emph{token tree} keeps them: below each token of the text those that might have come next, with their log-probabilities, their ranks, and the reason why they were taken or were not. For a text that was written token by token the tree is
a spine with short branches; for a search, where branches live on for a while, it is a real one.
@^token tree@>

@<What might have been written@>=
enum tree_reason { REASON_PASSED, REASON_LIKELIEST, REASON_DRAWN,
  REASON_LOW, REASON_KEPT, REASON_FINISHED, N_REASONS };
  /* in a text: not chosen, chosen as the likeliest, drawn; in a search: too low, kept as
     a beam, finished */
struct tree_node { uint32_t parent, token; size_t number, rank;@|
  double logprob; enum tree_reason reason; bool chosen; };
  /* |token| of step |number|, counted from 1, after node |parent|, counted from 1, 0 for the prompt; its
     log-probability after its parent; the rank from 1, among all tokens or in a search
     among the candidates of its step; whether it is in the text in the end */

@ The nodes stand in one block of memory, each parent before its children.

@<What might have been written@>=
struct token_tree { struct memory *m; const struct engine *e;@|
  size_t vocab, branches, beams; bool sampled; struct tree_node *node;@|
  size_t n, cap; double *logprob; uint32_t *tip, *next;@|
  bool ok; struct error why; };
  /* node number |i + 1| is |node[i]|, |i < n|; |sampled|: whether tokens are drawn; |tip[beams]|:
     the nodes that may grow; if |ok| is false, |why| says what was refused */
bool token_tree_open(struct token_tree *t, struct memory *m,
  const struct engine *e, size_t vocab, size_t branches, size_t beams,
  struct error *why);
  /* an empty tree that keeps the |branches| likeliest tokens of each step, for a text, or all
     candidates, for a search of at most |beams| beams */
void token_tree_close(struct token_tree *t);
  /* returns its memory */

@ It grows by watching, the loop in one case and the search in the other.

@<What might have been written@>=
bool token_tree_step(void *ctx, const struct step *now);
  /* a |step_watch|: |ctx| is a tree that was opened for one beam */
bool token_tree_search(void *ctx, const struct search_step *now);
  /* a watcher of a search; |ctx| is a tree */
void token_tree_mark(struct token_tree *t, const uint32_t *id, size_t n);
  /* marks the nodes of a text whose |n| written tokens are |id[n]| as chosen */
const char *tree_reason_name(enum tree_reason reason);
  /* "passed over", "the likeliest", ... */

@ A node is added at the end; the block grows by doubling. A watcher cannot say why it fails, only that it does not want to go on; so the tree keeps the sentence, and whoever prints a tree must ask |ok| first, because the text or the search ends as if it had been cancelled.

@<Add a node@>=
static uint32_t add_node(struct token_tree *t, struct tree_node node)
{
  struct tree_node *more = memory_reserve(t->m, MEMORY_OTHER, t->node, &t->cap,
    t->n + 1, 64, sizeof *more, &t->why);
  if (more == NULL) {
    t->ok = false;
    return 0;
  }
  t->node = more;
  t->node[t->n++] = node;
  return (uint32_t) t->n;
}

@ In a text, the likeliest tokens are found one after the other, each as the best of those that come after the one before: less likely, or as likely with a higher id. For a handful of branches that is cheaper than sorting.

@<Find the likeliest tokens, one after the other@>=
static bool goes_before(const double *z, size_t a, size_t b)
{
  return z[a] > z[b] || (z[a] == z[b] && a < b);
}
static size_t best_behind(const struct token_tree *t, size_t last)
{
  size_t best = t->vocab;
  for (size_t i = 0; i < t->vocab; i++)
    if ((last == t->vocab || goes_before(t->logprob, last, i))
        && (best == t->vocab || goes_before(t->logprob, i, best))) best = i;
  return best;
}
static size_t rank_of(const struct token_tree *t, size_t token)
{
  size_t rank = 1;
  for (size_t i = 0; i < t->vocab; i++)
    rank += goes_before(t->logprob, i, token);
  return rank;
}

@ The chosen token is a node in any case, even if a die has found it far down.

@<Watch a text grow@>=
static uint32_t branch(struct token_tree *t, const struct step *now,
  size_t token, size_t rank)
{
  bool chosen = token == now->chosen;
  enum tree_reason reason = REASON_PASSED;
  if (chosen) reason = t->sampled ? REASON_DRAWN : REASON_LIKELIEST;
  return add_node(t, (struct tree_node) @[{ t->tip[0], (uint32_t) token,@|
    now->number, rank, t->logprob[token], reason, chosen }@]);
}

@ The watcher asks for the branches one by one. The node of the chosen token is the tip from which the next step's nodes will hang.

@<Watch a text grow@>=
bool token_tree_step(void *ctx, const struct step *now)
{
  struct token_tree *t = ctx;
  size_t last = t->vocab;
  uint32_t tip = 0;
  t->e->k->log_softmax(t->e, now->logits, 1, t->vocab, t->logprob);
  for (size_t rank = 1; t->ok && rank <= t->branches && rank <= t->vocab;
      rank++) {
    last = best_behind(t, last);
    uint32_t node = branch(t, now, last, rank);
    if (last == now->chosen) tip = node;
  }
  if (t->ok && tip == 0)
    tip = branch(t, now, now->chosen, rank_of(t, now->chosen));
  t->tip[0] = tip;
  return t->ok;
}

@ In a search the candidates are the nodes, whatever became of them. Those that were kept are the tips of the next step, in their order.

@<Watch a search@>=
bool token_tree_search(void *ctx, const struct search_step *now)
{
  static const enum tree_reason of[] = @[{ REASON_LOW, REASON_KEPT,@|
    REASON_FINISHED }@];
  struct token_tree *t = ctx;
  size_t kept = 0;
  for (size_t i = 0; t->ok && i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    uint32_t node = add_node(t, (struct tree_node) @[{ t->tip[c->parent],@|
      c->token, now->number, c->rank, c->logprob, of[c->outcome], false }@]);
    if (c->outcome == OUTCOME_KEPT) t->next[kept++] = node;
  }
  memcpy(t->tip, t->next, kept * sizeof *t->tip);
  return t->ok;
}

@ Which of the leaves is the text is known only in the end. From the root down, the node of each token is among the children of the last one, and there is one such child, because a search never has the same text twice. The walk through the nodes never goes back: children have higher numbers than their parents.

@<Mark what was chosen in the end@>=
void token_tree_mark(struct token_tree *t, const uint32_t *id, size_t n)
{
  uint32_t parent = 0;
  size_t i = 0;
  for (size_t k = 0; k < n; k++) {
    while (i < t->n && (t->node[i].parent != parent
        || t->node[i].token != id[k])) i++;
    if (i == t->n) return;
    t->node[i].chosen = true;
    parent = (uint32_t) i + 1;
  }
}

@ A tree allocates space for the log-probabilities of a step, and two lists of nodes from which others may hang: those of this step and of the next. The nodes themselves come one by one.

@<Open and close a tree@>=
bool token_tree_open(struct token_tree *t, struct memory *m,
  const struct engine *e, size_t vocab, size_t branches, size_t beams,
  struct error *why)
{
  *t = (struct token_tree) @[{ .m = m, .e = e, .vocab = vocab,@|
    .branches = branches, .beams = beams, .ok = true }@];
  t->logprob = memory_alloc(m, MEMORY_OTHER, vocab, sizeof *t->logprob, why);
  t->tip = memory_alloc(m, MEMORY_OTHER, beams, sizeof *t->tip, why);
  t->next = memory_alloc(m, MEMORY_OTHER, beams, sizeof *t->next, why);
  if (t->logprob != NULL && t->tip != NULL && t->next != NULL) return true;
  token_tree_close(t);
  return false;
}
void token_tree_close(struct token_tree *t)
{
  memory_free(t->m, t->next);
  memory_free(t->m, t->tip);
  memory_free(t->m, t->logprob);
  memory_free(t->m, t->node);
  *t = (struct token_tree) @[{ .m = t->m }@];
}

@ The reasons are words that may stand in a sentence, or in a field of the figures' data.

@<Name the reasons@>=
const char *tree_reason_name(enum tree_reason reason)
{
  static const char *const name[N_REASONS] = @[{ "passed over",@|
    "the likeliest", "drawn", "too low", "kept", "finished" }@];
  return name[reason];
}

@ The header needs both, the loop's watcher and that of the search; the latter includes the former.

@(tree.h@>=
#ifndef INCIPIT_TREE_H
#define INCIPIT_TREE_H
#include "search/search.h"
@<What might have been written@>@;
#endif

@ In the file, adding a node comes first, since both watchers do it.

@(tree.c@>=
#include <string.h>
#include "search/tree.h"
@;@#
@<Add a node@>@;
@<Find the likeliest tokens, one after the other@>@;
@<Watch a text grow@>@;
@<Watch a search@>@;
@<Mark what was chosen in the end@>@;
@<Open and close a tree@>@;
@<Name the reasons@>@;

@* The searches, run. \label{sec:oncemore}
A program searches where we have searched by hand, then after three words that the built-in model knows by heart, and at last where its beams get lost. \Cref{sec:searchcheck} has what it prints. Two sources that it shares with the laboratory come first.

The source of the hand calculations is a table that knows the lines of a box. In the first box a line stands for a whole text, in the second for the last token of it. The fourth token begins the text and can never come again.

@<Two sources to search in@>=
struct paper_box { const char *letters; bool last; size_t lines;
  struct { const char *after; double p[3]; } line[5]; };
  /* a table of a hand calculation: the probabilities of three |letters| after a text, or after its |last| letter */
extern const struct paper_box paper_boxes[2];
  /* the box at the beginning of the chapter, and that of the four rules */
struct search_source paper_source(size_t box);
  /* the source that has the scores of |paper_boxes[box]|; a text begins with token 3 */

@ A text is spelt, and the line is looked for that begins with it.

@<Search on paper@>=
const struct paper_box paper_boxes[2] = @[{@|
  { "abc", false, 5, { { "", { 0.5, 0.4, 0.1 } }, { "a", { 0.4, 0.3, 0.3 } },@|
    { "b", { 0.1, 0.1, 0.8 } }, { "aa", { 0.6, 0.2, 0.2 } },@|
    { "bc", { 0.5, 0.25, 0.25 } } } },@|
  { "ab.", true, 3, { { "", { 0.6, 0.1, 0.3 } }, { "a", { 0.2, 0.5, 0.3 } },@|
    { "b", { 0.15, 0.05, 0.8 } } } } }@];
static bool paper_score(void *ctx, const struct search_beam *grown, size_t n,
  float *logits, struct error *why)
{
  const struct paper_box *box = ctx;
  (void) why;
  for (size_t i = 0; i < n; i++, logits += 4) {
    char text[8] = "", *key = text;
    for (size_t k = 1; k < grown[i].n && k < 8; k++)
      text[k - 1] = box->letters[grown[i].id[k]];
    if (box->last && text[0] != '\0') key += strlen(text) - 1;
    for (size_t v = 0; v < 4; v++) logits[v] = v == 3 ? -INFINITY : 0;
    for (size_t l = 0; l < box->lines; l++)
      for (size_t v = 0; strcmp(box->line[l].after, key) == 0 && v < 3; v++)
        logits[v] = (float) num_log(box->line[l].p[v]);
  }
  return true;
}
struct search_source paper_source(size_t box)
{
  return (struct search_source) @[{ .vocab = 4, .score = paper_score,@|
    .ctx = (void *) &paper_boxes[box] }@];
}

@ With the model the source is a |struct search_model|, and the beams share a cache that lives as long as the search.

@<Two sources to search in@>=
bool search_with_cache(const struct generate_context *g, size_t page_rows,
  const uint32_t *prompt, size_t n, const struct search_settings *want,@|
  struct search_result *r, struct cache_state *state, struct error *why);
  /* |search_run| with a model and a cache of its own, in pages of |page_rows| rows, 0 for the usual; |g->s|
     is not used. If |state| is not null, it gets what the cache had become */

@ Slots are as many as beams.

@<Search with a model@>=
bool search_with_cache(const struct generate_context *g, size_t page_rows,
  const uint32_t *prompt, size_t n, const struct search_settings *want,@|
  struct search_result *r, struct cache_state *state, struct error *why)
{
  struct search_model beams;
  struct search_source from;
  struct store *s = cache_open(g->m, &g->lm->config,
    (uint32_t) want->num_beams,@|
    &(struct cache_options) @[{ .page_rows = page_rows }@], why);
  if (s == NULL) return false;
  struct generate_context own = @[{ g->e, g->lm, s, g->m }@];
  bool ok = search_model_open(&beams, &own, want->num_beams, 0, &from, why);
  if (ok) {
    ok = search_run(&from, g->m, g->e->k, prompt, n, want, r, why);
    search_model_close(&beams);
  }
  if (state != NULL) *state = cache_look(s);
  store_close(s);
  return ok;
}

@ The two sources are linked to both programs, and are no part of the library.

@(sources.h@>=
#ifndef INCIPIT_SOURCES_H
#define INCIPIT_SOURCES_H
#include "search/sharing.h"
@<Two sources to search in@>@;
#endif

@ They know nothing of each other.

@(sources.c@>=
#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "search/sources.h"
@;@#
@<Search on paper@>@;
@<Search with a model@>@;

@ So the program of the chapter says only where to search, and prints what was found.

@c
#include <stdio.h>
#include "kernels/kernels.h"
#include "functions/numbers.h"
#include "families/loader.h"
#include "tokenizer/tokenizer.h"
#include "search/sources.h"
@;@#
@<Write out a candidate@>@;
@<Compare the rules on paper@>@;
@<Search after three words@>@;
@<Find where the beams get lost@>@;
@<Open everything, search, and close@>@;

@ Searches on paper are written in the letters of a box, the others in the words of the model's tokenizer.

@<Write out a candidate@>=
struct searcher { struct memory m; struct counters c; struct engine e;
  struct generate_context g; struct tokenizer *t; const char *letters; };
static void write_out(const struct searcher *u, const uint32_t *id, size_t n)
{
  for (size_t i = 0; u->letters != NULL && i < n; i++)
    putchar(u->letters[id[i]]);
  for (size_t i = 0, length; u->letters == NULL && i < n; i++) {
    const unsigned char *byte = tokenizer_text(u->t, id[i], &length);
    for (size_t k = 0; k < length; k++)
      putchar(byte[k] == '\n' ? '/' : byte[k]);
  }
}

@ A watcher prints the candidates that were kept in each step: on paper all of them on one line with their probabilities; with the model one on a line, with the step and the rank, the sum of the log-probabilities, that of the newest token, and the text.

@<Write out a candidate@>=
static bool print_step(void *ctx, const struct search_step *now)
{
  const struct searcher *u = ctx;
  bool paper = u->letters != NULL;
  size_t prompt = paper ? 1 : 3;
  if (paper) printf("%zu", now->number);
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    const struct search_beam *b = &now->active[c->parent];
    if (c->outcome == OUTCOME_DROPPED) continue;
    if (paper) printf("   ");
    else printf("%zu.%zu %7.3f %7.3f " " ", now->number, c->rank,@|
      c->score, c->logprob);
    write_out(u, b->id + prompt, b->n - prompt);
    write_out(u, &c->token, 1);
    if (paper) printf(" %.2f", num_exp(c->score));
    else printf("\n");
  }
  if (paper) printf("\n");
  return true;
}

@ The first box is searched with two beams and watched; it has no end token and no length penalty. Of the second we want to know how each of the four rules ends it: after how many steps, and with which texts in the pool, each before its score.

@<Compare the rules on paper@>=
static const struct { const char *name; enum early_stopping early;
  double lambda; } rule[5] = @[{ { "", EARLY_FALSE, 0 },@|
  { "true", EARLY_TRUE, 1 }, { "false", EARLY_FALSE, 1 },@|
  { "never", EARLY_NEVER, 1 }, { "false", EARLY_FALSE, 0 } }@];
static void print_pool(const struct searcher *u, const struct search_result *r,
  size_t i)
{
  printf("%-5s  %.0f  %zu" " steps", rule[i].name, rule[i].lambda, r->steps);
  for (size_t k = 0; k < r->n; k++) {
    printf("   ");
    write_out(u, r->text[k].id + 1, r->text[k].n - 1);
    printf(" %.3f", r->text[k].score);
  }
  printf("\n");
}
static bool search_on_paper(struct searcher *u, struct error *why)
{
  const uint32_t begin = 3, stop = 2;
  printf("two beams on paper\n");
  for (size_t i = 0; i < 5; i++) {
    struct search_source from = paper_source(i > 0);
    struct search_settings want = @[{ .num_beams = 2, .num_return = 2,@|
      .max_length = i == 0 ? 4 : 5, .length_penalty = rule[i].lambda,@|
      .early = rule[i].early, .eos = &stop, .n_eos = i > 0,@|
      .see = i == 0 ? print_step : NULL, .ctx = u }@];
    struct search_result r;
    u->letters = paper_boxes[i > 0].letters;
    if (!search_run(&from, &u->m, u->e.k, &begin, 1, &want, &r, why))
      return false;
    if (i == 0) printf("with an end token:" " stopping, lambda\n");
    else print_pool(u, &r, i);
    search_free(&r);
  }
  u->letters = NULL;
  return true;
}

@ Four beams grow after \tok{The}\tok{\ cat}\tok{\ sat}, for six steps. \label{sec:cat} At the end the best text stands below that of a single beam, which is greedy decoding's.

@<Search after three words@>=
static bool search_cat(struct searcher *u, struct error *why)
{
  static const char *const name[2] = @[{ "greedy: ", "beams:  " }@];
  struct ids cat = @[{ .n = 0 }@];
  struct search_result r[2] = @[{ { .n = 0 }, { .n = 0 } }@];
  printf("four beams behind" " `The cat sat'\n");
  bool ok = tokenizer_encode(u->t, &u->m, "The cat sat", 11, false, false,
    &cat, why);
  for (size_t i = 2; ok && i-- > 0; ) {
    struct search_settings want = @[{ .num_beams = i == 0 ? 1 : 4,@|
      .num_return = 1, .max_length = cat.n + 6, .length_penalty = 1,@|
      .see = i == 0 ? NULL : print_step, .ctx = u }@];
    ok = search_with_cache(&u->g, 0, cat.id, cat.n, &want, &r[i], NULL, why);
  }
  for (size_t i = 0; i < 2; i++) {
    if (ok) {
      printf("%s%.3f ", name[i], r[i].text[0].sum);
      write_out(u, r[i].text[0].id, r[i].text[0].n);
      printf("\n");
    }
    search_free(&r[i]);
  }
  ids_free(&u->m, &cat);
  return ok;
}

@ Which slots and pages do four beams have? \Cref{fig:seats}\lab{lab:seats} shows the fifth step of this search, with pages of four rows. Before it each of the four beams has pages of its own. All four beams after it descend from the first: one takes over its slot, and the others take the slots that are free now, and read its pages.

\widefig{seats}{fig:seats}{Slots and pages at a fork, in pages of four rows. On the left four beams with a page and three rows each. On the right the four children of the first: one page is read by all, the last page was copied three times, and the last child keeps the one that was there. Red is the newest row of each.}{Two panels of four lines, a line for each slot. On the left each line is a first page of four words, The cat sat and on, by, in or at, and a second page of three more. On the right all four lines begin with The cat sat on, which is drawn solid once and dotted three times; three words, the mat and a full stop, are hatched three times as copied, and solid in the last line. After them stand four new words.}

@* What it costs. \label{sec:searchcost}
Rows first. A prompt of $P$ tokens is read once, by one beam; after that each of the $T-1$ further steps has a row for each of $B$ beams: $P+B(T-1)$ rows in $T$ passes. The passes are as many as without a search; each has more to do. (How much time a pass of several rows takes, and why it is less than as many passes of one, is the subject of \cref{phases}; here only passes, rows and bytes are counted.)

Then what is kept. Where a beam has several children, all but one must copy what they write to: the rows on the last page. That is at most a page of rows, however long the text is; and if forks came as often at one place of a page as at another, it would be half a page on average. Arrays of a fixed shape copy all rows of all beams in every step. \Cref{tab:sharing}\lab{lab:searchcost} has both for a tale's first \val{share.prompt} tokens and \val{share.steps} written after them.

\begin{table}
\tabcaption{tab:sharing}{Passes and rows of a search; forks, that is, children beyond a parent's first; kilobytes of keys and values that were copied, with pages of 16 and of 64 rows, and if every beam were copied in every step.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrrr@@{}}
\tabhead{beams} & \tabhead{passes} & \tabhead{rows} & \tabhead{forks} & \tabhead{pages of 16} & \tabhead{pages of 64} & \tabhead{all copied}\\
1 & \val{share.passes.1} & \val{share.rows.1} & \val{share.forks.1} & \val[0]{share.copied16.1} & \val[0]{share.copied64.1} & \val[0]{share.all.1}\\
2 & \val{share.passes.2} & \val{share.rows.2} & \val{share.forks.2} & \val[0]{share.copied16.2} & \val[0]{share.copied64.2} & \val[0]{share.all.2}\\
4 & \val{share.passes.4} & \val{share.rows.4} & \val{share.forks.4} & \val[0]{share.copied16.4} & \val[0]{share.copied64.4} & \val[0]{share.all.4}\\
8 & \val{share.passes.8} & \val{share.rows.8} & \val{share.forks.8} & \val[0]{share.copied16.8} & \val[0]{share.copied64.8} & \val[0]{share.all.8}
\end{tabular*}
\end{table}

@ With four beams, \val[1]{share.less} percent of what arrays would have copied was copied here, in pages of 16. Not every step has a parent with two children, and where one has, a page is short and a text is long; the longer the text, the greater the difference, for one side grows with it and the other does not. A fork copied \val[1]{share.mean16} rows on average in pages of 16, and \val[1]{share.mean64} in pages of 64.

A kilobyte is 1000 bytes here. A fork is counted where a candidate is kept whose parent has a child already.

@* How often it finds the best. \label{sec:optimum}
Does a search with a few beams find the likeliest text? On a real model nobody can tell, because nobody can look at all texts. On a small enough one we can. So we made a forest\lab{lab:forest} of \val{forest.models} models with a vocabulary of three and let each write six tokens; there are $3^6$ texts, and a recursion goes through all of them. A model is a table: for each beginning of fewer than six tokens, \val{forest.nodes} in all, three logits, normally distributed, from the generator of \cref{sec:philox} with another number in its fourth word. Multiplied by a \emph{spread} they are flatter or steeper; we took $\frac34$, $\frac32$ and 3.

How wide must a search be to be sure? Before the last of $T$ tokens there are at most $V^{T-1}$ beginnings. With so many beams each of them is kept, and the best of all texts is among the candidates of the last step: $B=V^{T-1}$ is enough, which is $3^5=\val{forest.enough}$ here, and hopeless elsewhere. Fewer may be too few.

@ Four things are asked of a search. Has it found the best text? Is its text less likely than the greedy one? Does it begin with another token? And how often did the leader turn round: how often, that is, was the best candidate of a step not a child of the best of the step before? With one beam the third question is a stricter one: is any token different from greedy's? None may be. And $3^5$ beams are asked of the first \val{forest.exact} models as well, since so many can hold every beginning there is; they must find the best each time.

@ \Cref{fig:optimum} has the first answer, \cref{tab:forest} all four for the middle spread. One beam is greedy decoding and misses the best text in \val[0]{forest.missed.1} percent of the models. A second one finds most of what the first has missed, and each further one a little. In \val{forest.worse.2} of the \val{forest.models} models \emph{two beams are worse than one}: the greedy text's beginning fell
after two others, was dropped, and would have come back. No small number of beams is safe from that; it only becomes rare. With \val{forest.enough} beams the best was found \val{forest.exact.found} times of \val{forest.exact}.

The flatter the models, the harder they are: where no token stands out, no beginning does.

And when is greedy decoding enough? Always if $T=1$, and always if what follows does not depend on what was chosen. Otherwise it can sometimes be told after the fact. Let $p_1,\ldots,p_T$ be the probabilities of greedy decoding's tokens, and $q_i$ that of the second likeliest token at place $i$. Another text leaves the greedy one somewhere, say at place $i$; it has at most $p_1\cdots p_{i-1}\,q_i$ then, since no later factor is above 1. So if
\begin{equation}\label{eq:certain}
  p_i\,p_{i+1}\cdots p_T\ge q_i\qquad\hbox{for every }i,
\end{equation}
no text is likelier than the greedy one. In the middle forest that holds for \val[1]{forest.certain} percent of the models; greedy decoding is right in \val[1]{forest.found.1} percent.

\fig{optimum}{fig:optimum}{In how many of \val{forest.models} random models, in percent, a search of so many beams finds the likeliest text. The spread of the logits is $\frac34$ for the flat ones, $\frac32$ for the middle ones, and 3 for the steep ones.}{Three rising curves over one to eight beams. With one beam the curves begin far apart, the steep models highest, at three quarters of all, the flat ones at less than half. They rise more and more slowly, and with eight beams all three are near the top.}

\begin{table}
\tabcaption{tab:forest}{Random models of the middle spread, in percent: in how many the search finds the likeliest text, in how many its text is less likely than the greedy one, and in how many the leader turned round, or the first token was another than greedy's.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{beams} & \tabhead{found} & \tabhead{worse than greedy} & \tabhead{turned round} & \tabhead{other first token}\\
1 & \val[1]{forest.found.1} & \val[2]{forest.share.worse.1} & \val[1]{forest.turned.1} & \val[1]{forest.other.1}\\
2 & \val[1]{forest.found.2} & \val[2]{forest.share.worse.2} & \val[1]{forest.turned.2} & \val[1]{forest.other.2}\\
3 & \val[1]{forest.found.3} & \val[2]{forest.share.worse.3} & \val[1]{forest.turned.3} & \val[1]{forest.other.3}\\
4 & \val[1]{forest.found.4} & \val[2]{forest.share.worse.4} & \val[1]{forest.turned.4} & \val[1]{forest.other.4}\\
5 & \val[1]{forest.found.5} & \val[2]{forest.share.worse.5} & \val[1]{forest.turned.5} & \val[1]{forest.other.5}
\end{tabular*}
\end{table}

@* Models that end. \label{sec:grove}
The texts of the forest end by their length, all in the same step. So the pool is filled at once there, and neither the length penalty nor early stopping has anything to do. For those we made \val{grove.models} more models,\lab{lab:grove} with three tokens and an end token, that write at most \val{grove.longest} tokens, with \val{grove.nodes} beginnings each. Again all texts can be looked at, \val{grove.texts} for each model, and so the best is known under any length penalty. \Cref{tab:grove} has what four beams do under nine rules.

\begin{table}
\tabcaption{tab:grove}{Random models with an end token, four beams: the length penalty and the way of early stopping; the mean number of steps, of texts that were offered to the pool, and of tokens in the text that is returned; in how many models, in percent, that text has the best score of all texts.}
\begin{tabular*}{\textwidth}{@@{}ll@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{$\lambda$} & \tabhead{stopping} & \tabhead{steps} & \tabhead{finished} & \tabhead{tokens} & \tabhead{best of all}\\
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

\.{true} ends when four texts have finished, after \val[1]{grove.steps.1.true} steps whatever $\lambda$ is, since no score is asked. With $\lambda=0$ little is lost by that: short texts win, and they come first. With $\lambda=1$ it has not yet written many of those that would have won, and returns the best in \val[1]{grove.found.1.true} percent of the models only. \.{false} goes on and finds it in \val[1]{grove.found.1.false} percent. \.{never} asks
for \val[2]{grove.steps.1.never} steps in place of \val[2]{grove.steps.1.false} and gains little. With $\lambda=0$ the two are the same rule: a longer text is never better.

With $\lambda=2$ nearly every search goes to the end, and still it misses the best in more models than with 1. The reason is not early stopping. While beams grow they are ranked by their sums, and $\lambda$ has no say before a text has finished; so a text that owes its score to the length penalty has first to survive as a beam without it. A caller who wants long texts by a large $\lambda$ must ask for more beams as well. And under each rule nearly half of the end tokens that were ranked, \val[1]{grove.low.1.false} percent
with \.{false} and $\lambda=1$, stood too low to finish.

@* Streaming a search. \label{sec:final}
A text that is written token by token only grows: what stood there after ten tokens stands there after twenty. That is so for greedy decoding and for every kind of sampling, and a program that shows its text while it writes relies on it. With beams it is different. No beam ever changes either: it grows, or it is dropped. But the one that leads after eleven tokens need not have grown from the one that led after ten, and may have another beginning; so a search that shows the leader of each step would have to take words back before the reader's eyes. In the forest, at the middle spread, the leader turns round in \val[1]{forest.turns.2} percent of all steps with two beams and in
\val[1]{forest.turns.5} with five.

On the built-in model we counted\lab{lab:dull} the same over \val{final.steps} steps after the \val{final.prompts} places of \cref{sec:dull}: the leader of four beams turned round \val{final.beam} times. For greedy decoding and sampling we looked in each step whether a token that had been written was another now; that happened \val{final.greedy} times, as it must, since nothing in the loop ever touches a token again. (The four beams of the box in \cref{sec:searchcheck} turn round once, in the sixth step, where \gen{\ It} overtakes \gen{\ The}.) That is why a search is not streamed. The command waits until it is over.
@^streaming@>

@* The likeliest text is dull. \label{sec:dull}
Suppose a search found the best text every time. Would one want it? Think of a coin that falls on heads nine times of ten. The likeliest row of 100 throws has heads only; its probability is $0.9^{100}$, one in \val[0]{coin.odds}. Nobody who throws that coin will see it. What one sees is a row with about ten tails. No such row is likely, but there are very many, each about as unlikely as the others. The logarithm of its probability, per throw, is near its expectation,
\begin{equation}\label{eq:typical}
  0.9\ln0.9+0.1\ln0.1=-H,
\end{equation}
minus the entropy: \val[3]{coin.typical}, where the likeliest row has $\ln0.9$, or \val[3]{coin.likeliest}. By the law of large numbers longer rows come ever nearer to the first value and never to the second.

A text is not quite such a row. Its tokens are neither independent nor alike, and the entropy of what may come next changes from token to token. But what a text of the model is expected to lose at a token is that entropy, whatever its value, and in a long text what it really loses settles at the average (Shannon 1948, for languages in which the distant past does not matter). The likeliest text loses less, like the row of heads; so whoever looks for it leaves the place where nearly all texts are. That does not prove the likeliest text dull. It says that it is no typical one, and what it is like
has to be looked at.
@^typical set@>

So the model was asked to go on after \val{dull.windows} places in the tales that it has not seen, \val{dull.given} tokens given and \val{dull.written} to write, in six ways; and the tale's own words are a seventh. \Cref{tab:dull} has three numbers for each. The first is the mean log-probability of a token, by the model itself. The second is \emph{distinct-2}: of all pairs of neighbouring tokens in a text, the share that is there for the first time.\side{Li, Galley, Brockett, Gao and Dolan 2016.} The third is the entropy of the tokens, in bits, all texts of a way together: how many different words are used, and how evenly. (A place is where a window of both lengths fits between two ends of tales. Windows overlap by \val{dull.given} tokens: what is given in one was to be written in the one before, so no word of the tales' own is counted twice.)

The likeliest text itself is not among the seven: nobody has it for this model. What four beams write is only likelier than the rest, on average. Where the likeliest translation was looked for by a search that throws nothing away (Stahlberg and Byrne 2019), it turned out to be the empty text for more than half of all sentences; narrow beams had been good because they missed it.
@^distinct-n@>

\begin{table}
\tabcaption{tab:dull}{Seven ways to go on after \val{dull.windows} places in three tales: the mean log-probability of a token, distinct-2 in percent, and the entropy of all tokens written, in bits.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrr@@{}}
\tabhead{way} & \tabhead{log-probability} & \tabhead{distinct-2} & \tabhead{entropy}\\
the tale itself & \val[3]{dull.logprob.tale} & \val[1]{dull.distinct.tale} & \val[2]{dull.entropy.tale}\\
sampling, temperature 1 & \val[3]{dull.logprob.dice} & \val[1]{dull.distinct.dice} & \val[2]{dull.entropy.dice}\\
the best of four such & \val[3]{dull.logprob.best} & \val[1]{dull.distinct.best} & \val[2]{dull.entropy.best}\\
sampling, temperature $\frac12$ & \val[3]{dull.logprob.cool} & \val[1]{dull.distinct.cool} & \val[2]{dull.entropy.cool}\\
greedy & \val[3]{dull.logprob.greedy} & \val[1]{dull.distinct.greedy} & \val[2]{dull.entropy.greedy}\\
two beams & \val[3]{dull.logprob.two} & \val[1]{dull.distinct.two} & \val[2]{dull.entropy.two}\\
four beams & \val[3]{dull.logprob.four} & \val[1]{dull.distinct.four} & \val[2]{dull.entropy.four}
\end{tabular*}
\end{table}

@ Whoever looks for likely words finds them. The tale's own have a mean of \val[3]{dull.logprob.tale}, those of four beams \val[3]{dull.logprob.four}; in \val{dull.below} of \val{dull.windows} places the tale is \emph{less} likely than what the beams have written. It is the tale that the model was made to imitate. Samples at temperature 1 should come out where it does. They are \val[3]{dull.gap.dice} below it, with a standard error of \val[3]{dull.error.dice}; at temperature $\frac12$ they are \val[3]{dull.gap.cool} above, with one of \val[3]{dull.error.cool}. Neither is two standard errors away, so this column does not tell the two apart; in the other columns the cooler samples are nearest to the tale. That is what one expects of a model that gives too much to words which no tale would say
(Holtzman and others 2020): now and then one of them is drawn, and what follows it follows something that the model has never read. Cooling takes from the unlikely first. (So do the cuts of \cref{sampling}.)

What is paid for likeliness stands mostly in the other two columns: mostly, since two beams have a little more entropy than greedy decoding, and 32 places in three tales are no large sample. In \val{dull.round} places fewer than half of the pairs in the text of four beams are new. The second box of \cref{sec:searchcheck} shows the extreme: the beams have found a circle, in which each word is all but certain, and they do not leave it because a circle costs almost nothing per word. And four beams end as nearly the same text four times: of all pairs in the four, \val[1]{dull.set.beams} percent are there for the first time;
in four sampled texts it is \val[1]{dull.set.dice} percent.

Nor is a search sure to do what it is for. In \val{dull.worse} of the places the text of four beams is less likely than that of greedy decoding. The best of four throws, for about as many rows, has a mean of \val[3]{dull.logprob.best}: it is likelier than the tale and no duller. Search was at home in translation, where there is one right answer or nearly one; and even there
the best results are reported for few beams and worse ones for many (Koehn and Knowles 2017). Where many answers are right, it finds one that few would give.

@ Is there a remedy? Two have been proposed that keep the beams. One divides them into groups and takes from a candidate's score what the groups before it have just written, so that the groups drift apart (\emph{diverse beam search}, Vijayakumar and others 2018); the price is one more number to choose, and the texts are likely ones still. The other adds to each score the noise of \cref{sec:gumbel}, in such a way that the $B$ beams are $B$ \emph{different} texts, drawn
from the model without putting any back (\emph{stochastic beams}, Kool and others 2019). That is a way to draw, and no longer a search for the best. A third remedy is the one of most programs that talk: no search.
@^diverse beam search@>
@^stochastic beams@>

@* A lattice and a tree. \label{sec:lattice}
\Cref{fig:lattice}\lab{lab:lattice} is the search after \tok{The}\tok{\ cat}\tok{\ sat} of \cref{sec:cat}, as a tree that was kept by |token_tree_search| shows it: a column for each step, a line for each rank. Drawn like this a search is called a \emph{lattice}; but no two lines of it ever meet again, since equal texts have equal parents, and so it is a tree all the same. \Cref{fig:tokentree} is a text that was sampled, with three branches to each of its tokens, and |token_tree_step| has kept it. In either case a line of the data is a node, with its token by name.

\widefig{lattice}{fig:lattice}{Four beams after The cat sat. In each step the eight candidates stand by rank; the four that were kept, or in the last step finished, have dark frames; those that were dropped are pale. Red is the text that was best in the end. Numbers are sums of log-probabilities.}{Six columns of eight words. In the first step on, by, in and at are kept; each goes on by itself for three steps, to on the mat, by the fire, in the sun, at the window. In the fifth step the four kept all begin with on the mat; the other three are gone. In the sixth the second of them, It was, overtakes the first, The cat.}

\widefig{tokentree}{fig:tokentree}{What might have been written. Below each token its probability, the logarithm of it, and its rank; a branch is as thick as its token was likely.}{A tree that grows to the right after The old king. At each of five steps three words branch off, and one of them is red and goes on: wrote, about, cheese, a full stop, It. Wrote and about and the full stop were the likeliest of their three; cheese and It were the least likely.}

@* What the tutorials say. \label{sec:searchtutorials}
Three of the sources describe beam search, and two of these say elsewhere that a token, once written, stays.

\begin{tutorial}{misleading}{S1-53, S3-06}
\quoted{Each token is committed the moment it's generated.}
\ourrun in greedy decoding and with sampling. With two beams the leader has turned round in \val[1]{claim.S1-53} percent of the models, with five in \val[1]{claim.S3-06}; the same articles describe them.
\end{tutorial}

\begin{tutorial}{holds}{S1-33, S3-27}
\quoted{Maintain the top-N (typically 4-5) candidate sequences at each step, expanding each by one token and keeping the best N overall.}
\ourrun one beam is greedy decoding in \val{claim.S1-33} of \val{forest.models} models; four find the likeliest text in \val[1]{claim.S3-27} percent of them. How a text ends, and how lengths are compared, is not described, and that is half of the rule.
\end{tutorial}

\begin{tutorial}{holds}{S3-28, S2-93}
\quoted{This finds high-probability sequences rather than greedily picking one token at a time.}
\ourrun five beams find the likeliest text in \val[1]{claim.S2-93} percent of the models, greedy decoding in \val[1]{forest.found.1}. Usually, not always: in \val{claim.S3-28} models two beams find a less likely one.
\end{tutorial}

\begin{tutorial}{untested}{S3-29}
\quoted{sampling has largely replaced it because beam search outputs lack the diversity and naturalness that users expect}
\ourrun we cannot ask users. In the four texts of four beams \val[1]{claim.S3-29} percent of the pairs are new, in four sampled ones \val[1]{dull.set.dice}.
\end{tutorial}

@* The check. \label{sec:searchcheck}
The program prints first what was done by hand: the search of the first box, in which the second step is led by another first word than the first; and that of the second box, under its four rules, with the scores of the pool. Then follows a sentence that the model knows by heart, after which the search finds another word than greedy decoding.

\checkpoint[1,37]{build/out/search.txt}{two searches on paper, four beams on the built-in model}

@ Where do the beams get lost? The laboratory has looked at windows of the tales, with 48 given tokens and 48 to be written, and found the place where four beams repeat themselves most in comparison with what the tale says there.\lab{lab:dull} The program searches there once more, and prints in short lines the last words that were given, the tale's own, and those of the beams.

@<Find where the beams get lost@>=
enum { PLACE = 240, SPAN = 48, WIDTH = 56 };
static void print_wrapped(const struct searcher *u, const char *title,
  const uint32_t *id, size_t n)
{
  printf("%s:", title);
  for (size_t i = 0, column = WIDTH, length; i < n; i++, column += length) {
    tokenizer_text(u->t, id[i], &length);
    if (column + length > WIDTH) printf("\n   "), column = 3;
    write_out(u, &id[i], 1);
  }
  printf("\n");
}
static bool search_tale(struct searcher *u, struct error *why)
{
  struct mapping map;
  struct ids tales = @[{ .n = 0 }@];
  struct search_result r;
  const struct search_settings want = @[{ .num_beams = 4, .num_return = 1,@|
    .max_length = 2 * SPAN, .length_penalty = 1 }@];
  if (!file_map(&map, "models/pocket/tales.txt", why)) return false;
  bool ok = tokenizer_encode(u->t, &u->m, (const char *) map.bytes, map.size,
      false, true, &tales, why)@|
    && search_with_cache(&u->g, 0, tales.id + PLACE - SPAN, SPAN, &want, &r,
      NULL, why);
  if (ok) {
    print_wrapped(u, "behind", tales.id + PLACE - 12, 12);
    print_wrapped(u, "the tale", tales.id + PLACE, SPAN);
    print_wrapped(u, "four beams", r.text[0].id + SPAN, SPAN);
    search_free(&r);
  }
  ids_free(&u->m, &tales);
  file_unmap(&map);
  return ok;
}

@ And this is all of it.

@<Open everything, search, and close@>=
int main(void)
{
  static struct searcher u;
  struct error why;
  struct model *lm = NULL;
  u.e = (struct engine) @[{ .k = kernels_find(NULL, &why), .c = &u.c }@];
  bool ok = u.e.k != NULL@|
    && (lm = model_open(&u.m, "models/pocket", &why)) != NULL@|
    && (u.t = tokenizer_open(&u.m, "models/pocket", &why)) != NULL;
  u.g = (struct generate_context) @[{ &u.e, lm, NULL, &u.m }@];
  ok = ok && search_on_paper(&u, &why) && search_cat(&u, &why)
    && search_tale(&u, &why);
  tokenizer_close(&u.m, u.t);
  model_close(&u.m, lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ At last a dull text, from the place in the tales where four beams repeat themselves most in comparison with the tale's own words.

\checkpoint[38,49]{build/out/search.txt}{a tale's own words, and what four beams write}

That the rule is the library's is a matter of tests and not of print. |check_search| compares texts and scores with those that the library gave, for tables of logits and for models from files; with a plain restatement, in which all candidates are sorted, on many random searches; and with an enumeration of all texts.

@* Exercises. \label{sec:searchexercises}
The command beside an exercise judges your answer by running the search.

\begin{exercises}
\exercise{check}{ex:search.rows}{A prompt of 20 tokens, 30 to write, five beams, no end token. How many passes are there, and how many rows?}{\texttt{make exercise-09-1}}{30 passes. The first has 20 rows, the others five each: $20+29\cdot5=165$.}
\exercise{check}{ex:search.three}{In the model of the box ``two beams, three tokens, three steps'', which texts are kept after the second step if there are three beams? Name them in their order. (Of two equal candidates of the same beam, the one with the lower id goes first.)}{\texttt{make exercise-09-2}}{b c with $0.32$, a a with $0.20$, and a b: it ties with a c at $0.15$, and its last token has the lower id.}
\exercise{think}{ex:search.tie}{Two texts have finished: 2 tokens with a sum of $-3$, and 5 tokens with $-5$. For which length penalty are they equally good? Give two decimals.}{\texttt{make exercise-09-3}}{$3/2^\lambda=5/5^\lambda$, so $(5/2)^\lambda=5/3$ and $\lambda=\ln(5/3)/\ln(5/2)=0.56$.}
\exercise{think}{ex:search.copied}{Three beams of 37 rows each share nothing but their first 32, in pages of 16. In the next step the first beam has three children, and the others have none. How many rows are copied, and how many pages are in use after the pass?}{\texttt{make exercise-09-4}}{The two full pages are shared by all. The last page of the first beam has 5 rows; two of the children copy them, $10$ rows, and the third keeps the page. The pages of the other two beams are spare again: $2+3=5$ pages.}
\exercise{think}{ex:search.bound}{A beam's sum is $-6$ after 12 tokens, and 40 may be written in all. The worst text of a full pool has the score $-0.2$, and the length penalty is 1. Does the search go on with |early_stopping| false? With \.{never}? And with either, if the length penalty is 0 and the worst score $-5$?}{\texttt{make exercise-09-5}}{$-6/12=-0.5$ is not better than $-0.2$: it stops. $-6/40=-0.15$ is: it goes on. With $\lambda=0$ both compare $-6$ with $-5$ and stop.}
\exercise{think}{ex:search.worse}{Find a model of three tokens and three steps for which two beams give a text that is less likely than the greedy one: a line for each beginning that matters, with three probabilities. (After a beginning without a line all three tokens are equally likely.)}{\texttt{make exercise-09-6}}{First $0.4$, $0.35$, $0.25$; after a $0.34$, $0.33$, $0.33$; after b $0.5$, $0.5$, $0$; after a a only a. Then b a and b b both have $0.175$ and push a a out, which has $0.136$ and would have kept it; they lose two thirds of theirs at the last token.}
\exercise{build}{ex:search.prompt}{Some programs count the prompt when they divide by the length. Let ours do so. Change |final_score|.}{\texttt{make exercise-09-7}}{|written + s->n_prompt| is what is raised to the power. Long prompts then make all lengths look alike, and the penalty loses its effect.}
\exercise{build}{ex:search.twins}{Four beams that are nearly the same text are a waste. Let no beam have more than two children. Change |decide|.}{\texttt{make exercise-09-8}}{Before a candidate is kept, those of |next[0]| to |next[n_next - 1]| with the same parent are counted.}
\end{exercises}
