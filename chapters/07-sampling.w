@i types.w
@s size_t int

\chapterquestion{The model has said how likely each word is, and has chosen none. Who chooses, and how can the same
choice be made again tomorrow?}
@** Sampling: temperature, top-k, top-p, penalties, seeds.
\incipit{A}{t the end} of a pass stands a list of numbers, one for each token of the vocabulary. The model is done. It has not written anything yet: between its list and the next
token lies a decision, and everything that a user of a language model can set lies in that decision. Take the likeliest token, and the same prompt has one
continuation for ever. Throw dice, and it has as many as you like, some of them bad; so the dice are loaded: the list is sharpened or flattened, its tail is cut
off, what has been said too often is marked down, and what may not be said is struck out. Each of these is a small operation on a list of numbers. There are a dozen, every program has its own
names and its own order for them, and they agree in the formulas, but not in the order, at ties, at a sum that is reached exactly, or where nothing is left.
@^sampling@>

So this chapter writes down what each of them does, to the last tie, and in which order. Then comes the draw. A random
number generator is a machine that turns a state into the next; and whoever shares it, disturbs it. Ours has no state. The random number that decides
about a token is a function of four things: the seed, the number of the text, the position, and the token. Hence a text can be written again, alone or among
many others, in one piece or with a pause, and it is the same text.

\begin{byhand}{four tokens, five ways}
A model gives \tok{on}, \tok{in}, \tok{by} and \tok{to} the probabilities $0.4$, $0.3$, $0.2$ and $0.1$.

\medskip
\begin{tabular}{@@{}lrrrr@@{}}
& \tabhead{on} & \tabhead{in} & \tabhead{by} & \tabhead{to}\\
as it is & 0.40 & 0.30 & 0.20 & 0.10\\
squared & 0.16 & 0.09 & 0.04 & 0.01\\
temperature $\frac12$ & 0.53 & 0.30 & 0.13 & 0.03\\
the best 2 & 0.57 & 0.43 & &\\
until 0.9 is reached & 0.44 & 0.33 & 0.22 &\\
until 0.9 is exceeded & 0.40 & 0.30 & 0.20 & 0.10\\
at least half the best & 0.44 & 0.33 & 0.22 &
\end{tabular}
\medskip

A temperature of $\frac12$ divides the logits by $\frac12$, which doubles them, and so squares the probabilities: the second line has the sum $0.30$, and divided by it gives the third. The best two have
the sum $0.70$; $0.40/0.70=0.57$. The first three have $0.90$: they reach $0.9$, but do not exceed it, and one token more or less depends on which of the two words
somebody has written. Half the best is $0.20$, which \tok{by} reaches too.
\end{byhand}

@ The chapter makes three files. |draws| has the random numbers; |funnel| has the tokens that are left, and the operations that leave fewer of them; |sampling_params| has the settings, the order, and the function that chapter 3's loop calls in its
fourth step. A short program follows one distribution through all stages and writes a few texts; what the settings are good for is measured in the laboratory.

@* Candidates. \label{sec:funnel}
A sampler narrows. It begins with all tokens and ends with one, and on the way there are fewer and fewer: so what it works on is a \emph{funnel}. For every token of the vocabulary it has a score, a logit in double precision,
and it has a list of the tokens that are left. A token that is taken out gets the score $-\infty$, which is the logit of the
probability 0, and vanishes from the list.

The list stands in one of two orders: by rising id, as in the vocabulary, or by falling score, where of equal scores the lower id comes first. The second costs
work to make; so it is remembered whether it has been made.
@^funnel@>

@<The tokens that are left, and their scores@>=
struct sort_item { uint64_t key; uint32_t id; };
  /* an id, and what it is sorted by */
struct funnel { struct arena buffers; const struct kernels *k; size_t vocab, n;
  double *score, *weight; uint32_t *candidates, *count; struct sort_item *sort_buf,
    *sort_spare;
  bool sorted; uint64_t bits, noises; const uint8_t *allowed; };
  /* |n| tokens are left, |candidates[n]|, by falling score or else by rising id;
     |score[vocab]| are the scores, $-\infty$ where a token is out; the others are
     room for |vocab| each, |count| all zero between two calls. What is 0 in |allowed[vocab]|, borrowed
     and mostly null, is out from the beginning. |bits| and |noises|
     count how often a choice took random bits, and made noise of them */
bool funnel_open(struct funnel *f, struct memory *m,
  const struct kernels *k, size_t vocab, struct error *why);
  /* allocates the buffers for |vocab| $\ge1$ tokens; |m| and |k| are borrowed and must
     outlive it; on failure there is nothing to close, but it does no harm */
void funnel_close(struct funnel *f);
  /* frees the buffers */
bool funnel_fill(struct funnel *f, const float *logits, struct error *why);
  /* all |logits[vocab]|, from the top: those that are $-\infty$ are out; errors: NaN,
     $+\infty$, or none that is finite */

@ The buffers are allocated once and used for every token of a text: 56 bytes for each token of the vocabulary, \val{sampling.room} for one of \val{sampling.large}. That is little beside any model that has such a vocabulary.

@<Allocate and free the buffers@>=
bool funnel_open(struct funnel *f, struct memory *m,
  const struct kernels *k, size_t vocab, struct error *why)
{
  *f = (struct funnel) @[{ .buffers.m = m, .k = k, .vocab = vocab }@];
  struct arena *a = &f->buffers;
  f->score = arena_alloc(a, MEMORY_OTHER, vocab, 8, why);
  f->weight = arena_alloc(a, MEMORY_OTHER, vocab, 8, why);
  f->candidates = arena_alloc(a, MEMORY_OTHER, vocab, 4, why);
  f->count = arena_alloc(a, MEMORY_OTHER, vocab, 4, why);
  f->sort_buf = arena_alloc(a, MEMORY_OTHER, vocab, 16, why);
  f->sort_spare = arena_alloc(a, MEMORY_OTHER, vocab, 16, why);
  if (!a->refused) return true;
  funnel_close(f);
  return false;
}

@ It can be closed when half of it is there, and twice. (What |arena_alloc| gives is zero, so the counts begin as they must.)

@<Allocate and free the buffers@>=
void funnel_close(struct funnel *f)
{
  arena_free(&f->buffers);
  *f = (struct funnel) @[{ .vocab = 0 }@];
}

@ The scores come from the model in float, and from here on they are double: what follows divides, exponentiates and adds up, and each of these would lose a
digit of a float that a comparison might have wanted. Two kinds of number are no scores, and one list is none. NaN is greater than nothing and less than nothing, so
every comparison with it goes one way for no reason; $+\infty$ would be certain, beside every other token that is; and if no token is left there is nothing to choose from.
@^NaN@>@^infinity@>

Programs differ here more than anywhere else. With all scores at $-\infty$ one takes the first token, another the last, a third stops with a message about tensors; with one NaN some write that
token for ever, and exclamation marks down the whole screen have been reported more than once, because the token 0 is an exclamation mark in some vocabularies. Here it is an error, always, and the
sentence says which score was the first.

@<Fill the funnel@>=
bool funnel_fill(struct funnel *f, const float *logits, struct error *why)
{
  f->n = 0, f->sorted = false;
  for (size_t i = 0; i < f->vocab; i++) {
    f->score[i] = (double) logits[i];
    if (logits[i] != logits[i] || f->score[i] == INFINITY)
      return error_say(why, "logit %zu is %s; wanted: a number,"@|
        " or -inf for a token that is out", i,
        f->score[i] == INFINITY ? "inf" : "nan");
    if (f->allowed != NULL && f->allowed[i] == 0) f->score[i] = -INFINITY;
    if (f->score[i] > -INFINITY) f->candidates[f->n++] = (uint32_t) i;
  }
  return f->n > 0 || error_say(why, "all %zu logits are -inf%s;"@|
    " wanted: a token to choose", f->vocab,@|
    f->allowed != NULL ? ", or not allowed" : "");
}

@ Operations that take tokens out do so by their scores, and then let the list settle: whoever has the score $-\infty$ leaves it, and the others stay in their order. (Also a NaN stays, which one stage can make of two infinities, dividing up to the one and subtracting the other: it must not vanish without a word.)

@<Let those go that are out@>=
static void drop_masked(struct funnel *f)
{
  size_t n = 0;
  for (size_t i = 0; i < f->n; i++)
    if (f->score[f->candidates[i]] != -INFINITY) f->candidates[n++] = f->candidates[i];
  f->n = n;
}

@ Others know how many tokens of the list are to stay: the first so many.

@<Let those go that are out@>=
static void truncate_to(struct funnel *f, size_t n)
{
  for (size_t i = n; i < f->n; i++) f->score[f->candidates[i]] = -INFINITY;
  f->n = n < f->n ? n : f->n;
}

@* Sorting the candidates. \label{sec:radix}
Some of the operations want the tokens in an order: two by falling score, one by another number. A vocabulary of \val{sampling.large} tokens is a long list to sort for every word of a text. Sorting by comparisons takes some $2\cdot10^6$ of them, each a
jump that the processor cannot foresee, and that is ten milliseconds or more: as much as a small model takes for its whole pass. But a score is a number of 64 bits, and
numbers can be sorted like letters in a sorting office, pigeonhole by pigeonhole, without comparing any two of them.
@^radix sort@>

For that a score must first become an integer whose order is the right one. The bits of a double nearly are such an integer: its exponent stands above its mantissa, so that of two positive numbers the greater has the greater bits. They are to come in falling order; so they are subtracted from the bits of infinity. Of two negative numbers the smaller has the greater bits, which is what we want; and as the sign is their highest bit, they come after all positive ones without our doing anything. A zero may have either sign, and is the same score: adding $+0$ makes both $+0$.

@<A key that rises as the score falls@>=
static uint64_t falling_key(double z)
{
  uint64_t u = num_bits64(z + 0.0);
  return (u >> 63) != 0 ? u : 0x7ff0000000000000u - u;
}

@ The sorting office goes from the last digit of the key to the first, a byte at a time. In each round the list is dealt out into 256 pigeonholes by one byte, and taken up again in the
order of the holes; and because those in one hole keep their order, after eight rounds the list is sorted, and tokens with equal keys stand as they stood before. That is the rule for ties, for free. A round in which all keys fall into one hole changes nothing and is left out: of a float that was widened, and not divided by anything yet, the last three bytes are zero.\side{Punched cards were sorted like this, one column at a time and the last column first, before there were computers.}

@<Sort by the key, and leave equals as they stood@>=
static void radix_scatter(struct funnel *f, const size_t *count, unsigned shift)
{
  size_t at[256], sum = 0;
  for (int d = 0; d < 256; d++) at[d] = sum, sum += count[d];
  for (size_t i = 0; i < f->n; i++)
    f->sort_spare[at[f->sort_buf[i].key >> shift & 255]++] = f->sort_buf[i];
  struct sort_item *dealt = f->sort_spare;
  f->sort_spare = f->sort_buf, f->sort_buf = dealt;
}

@ How many go into each hole must be known before the first is dealt, and can be counted for all eight rounds in one: the keys do not change, only their places.

@<Sort by the key, and leave equals as they stood@>=
static void sort_list(struct funnel *f)
{
  size_t count[8][256] = @[{ {0} }@];
  for (size_t i = 0; i < f->n; i++)
    for (unsigned d = 0; d < 8; d++)
      count[d][f->sort_buf[i].key >> 8 * d & 255]++;
  for (unsigned d = 0; f->n > 0 && d < 8; d++)
    if (count[d][f->sort_buf[0].key >> 8 * d & 255] < f->n)
      radix_scatter(f, count[d], 8 * d);
  for (size_t i = 0; i < f->n; i++) f->candidates[i] = f->sort_buf[i].id;
}

@ Sorted by score, the list must have stood by rising id before, or ties would stand wrongly. It does, since it has only these two orders; and from the second it comes back into the first by the same means, the id being the key. An
operation that changes scores asks for the first order before it begins, since what it does to the scores need not leave the second intact.

@<Bring the list into one of its two orders@>=
static void sort_descending(struct funnel *f)
{
  if (f->sorted) return;
  for (size_t i = 0; i < f->n; i++) f->sort_buf[i] =
    (struct sort_item) @[{ falling_key(f->score[f->candidates[i]]), f->candidates[i] }@];
  sort_list(f);
  f->sorted = true;
}
static void sort_by_id(struct funnel *f)
{
  if (!f->sorted) return;
  for (size_t i = 0; i < f->n; i++)
    f->sort_buf[i] = (struct sort_item) @[{ f->candidates[i], f->candidates[i] }@];
  sort_list(f);
  f->sorted = false;
}

@ The other thing that several operations want is the \emph{weights}: $w=e^d$, where $d=z-\max z$ is how far a score lies below the best. Weights are probabilities that have not been divided by their sum yet. The greatest is 1, so nothing overflows, and
there is no harm in those that underflow. Their sum is taken in the order in which the list stands, one after another: an order of summation is part of what a stage is.
@^weights@>

@<Weigh the tokens that are left@>=
static double max_score(const struct funnel *f)
{
  double max = -INFINITY;
  for (size_t i = 0; i < f->n; i++)
    if (f->score[f->candidates[i]] > max) max = f->score[f->candidates[i]];
  return max;
}
static double softmax_weights(struct funnel *f)
{
  double sum = 0;
  for (size_t i = 0; i < f->n; i++) f->weight[i] = f->score[f->candidates[i]];
  f->k->exp_shifted(f->weight, f->n, max_score(f));
  for (size_t i = 0; i < f->n; i++) sum += f->weight[i];
  return sum;
}

@* Temperature. \label{sec:temperature}
The simplest of the stages divides every score by the same number, the temperature $T$. The name is borrowed from physics, where a system is in a state of energy $E$ with a probability
proportional to $e^{-E/T}$: the colder it is, the more surely it is found in the state of lowest energy.\side{Boltzmann 1868, Gibbs 1902; as a setting for sampling from a network: Ackley, Hinton and Sejnowski 1985.} What $T$
does to a distribution follows from one line. If $p_i=e^{z_i}/\sum_j e^{z_j}$, then
\begin{equation}\label{eq:temperature}
  \frac{p_i(T)}{p_j(T)}=e^{(z_i-z_j)/T}=\Bigl(\frac{p_i}{p_j}\Bigr)^{1/T}.
\end{equation}
A ratio of 4 to 1 becomes 16 to 1 at $T=\frac12$, and 2 to 1 at $T=2$. No ratio ever crosses 1, so the order of the tokens stays, and with it the likeliest, at every temperature. For $T\to\infty$ all ratios
go to 1, and the distribution to the uniform one; for $T\to0$ each goes to 0 or to infinity, except that of two tokens which are tied.
@^temperature@>

@ At $T=0$ itself the formula divides by zero. What everybody means by it is greedy decoding: the likeliest token and no other. That is a branch and no
limit, and at a tie the two differ: the limit shares the probability between the tied tokens, while the branch takes the one with the lowest id. A $T$ that is not zero but so small that the quotients lose their meaning is of no use to anybody; below $10^{-5}$ it is refused, and so is one above $10^4$, which leaves no difference between any two tokens (\cref{sec:settings}). A quotient may still be too low for a double; then its token is out.
@^greedy decoding@>

@<Divide by the temperature@>=
void funnel_temperature(struct funnel *f, double t)
{
  sort_by_id(f);
  if (t == 0) {
    size_t best = 0;
    for (size_t i = 1; i < f->n; i++)
      if (f->score[f->candidates[i]] > f->score[f->candidates[best]]) best = i;
    uint32_t id = f->candidates[best];
    f->candidates[best] = f->candidates[0], f->candidates[0] = id;
    truncate_to(f, 1);
  }
  else {
    for (size_t i = 0; i < f->n; i++) f->score[f->candidates[i]] /= t;
    drop_masked(f);
  }
}

@* Truncation: top-k, top-p and others. \label{sec:tails}
A vocabulary has more tokens than a page has words, and nearly all of them are wrong at any given place. Each has a probability that is next to nothing; all together they have a few percent. Whoever draws from the whole distribution
draws one of them every few dozen tokens, and the model, which believes what it reads, goes on from there. Therefore one cuts the tail off. Where to cut is a question to which
there are four answers.
@^truncation@>

\emph{Top-k} keeps the $k$ likeliest, however likely they are.\side{Fan, Lewis and Dauphin 2018.} Of tokens that are tied at the $k$th place those with the lower ids stay, and exactly $k$ are left. (Hugging Face and vLLM keep all that are
tied with the $k$th, so more than $k$ may be left; which of them llama.cpp keeps is left to a sorting function.)
@^top-k@>

If the list stands by falling score already, that is its first $k$. If not, it need not be sorted: it suffices to know how good the $k$th is. The key of the $k$th is found byte by byte from the top, and then one sweep through the list keeps those before it, and as many of those equal to it as there
is room for, the first first. This is called \emph{selection}, and its cost grows with the length of the list and with nothing else.

@<Keep the $k$ best@>=
void funnel_top_k(struct funnel *f, size_t k)
{
  if (k == 0 || k >= f->n) return;
  if (!f->sorted) {
    size_t equals;
    uint64_t last = kth_key(f, k, &equals);
    for (size_t i = 0; i < f->n; i++) {
      uint64_t key = falling_key(f->score[f->candidates[i]]);
      if (key > last || (key == last && equals == 0))
        f->score[f->candidates[i]] = -INFINITY;
      else if (key == last) equals--;
    }
    drop_masked(f);
  }
  else truncate_to(f, k);
}

@ To find the $k$th key: deal the list into 256 holes by the first byte. In one of the holes the $k$th must be, and the holes before it say how many are safe. Only those in that hole matter from now on, and they are dealt by the second byte; and so on. Scores of a model differ in their first two or three bytes, so that after the third round hardly any are left; and if all eight are needed, the tokens that are left are tied.

@<Find the key of the $k$th best@>=
static uint64_t kth_key(struct funnel *f, size_t k, size_t *equals)
{
  size_t n = f->n;
  for (size_t i = 0; i < n; i++)
    f->sort_buf[i].key = falling_key(f->score[f->candidates[i]]);
  for (unsigned shift = 56; ; shift -= 8) {
    size_t count[256] = @[{ 0 }@], before = 0, rest = 0;
    for (size_t i = 0; i < n; i++) count[f->sort_buf[i].key >> shift & 255]++;
    uint64_t hole = 0;
    while (before + count[hole] < k) before += count[hole++];
    k -= before;
    for (size_t i = 0; i < n; i++)
      if ((f->sort_buf[i].key >> shift & 255) == hole)
        f->sort_buf[rest++] = f->sort_buf[i];
    n = rest;
    if (shift == 0 || n == 1) break;
  }
  *equals = k;
  return f->sort_buf[0].key;
}

@ \emph{Top-p} keeps as few as have together the share $p$ of the probability; the set is called the nucleus.\side{Holtzman, Buys, Du, Forbes and Choi 2020.} Where the model is sure, one token will do; where it is not, half the vocabulary may
be needed. That is its advantage over a fixed $k$: at the fork of \cref{sec:fork} a nucleus of nine tenths has \val{sampling.order.after} tokens, and after the words \tok{The}\tok{\ cat}\tok{\ sat}\tok{\ on} it has \val{sampling.sure}. Is a set to \emph{reach} $p$, or to \emph{exceed} it? The paper that proposed the method says that it is to reach
it, with $\ge$; many descriptions say ``exceed''. Of four tokens with a quarter each and $p=\frac12$ the first rule keeps two, the second three; and with $p=1$
the second rule asks for something that does not exist.

@<Keep the fewest that reach a share@>=
void funnel_top_p(struct funnel *f, double p)
{
  if (p == 1) return;
  sort_descending(f);
  keep_share(f, p, softmax_weights(f));
}

@ The weights stand in |weight|, in the order of the list, and their sum has been taken in that order. The prefix is added up in the same order, so that of two sums over the same tokens neither is larger than the other for no better reason than rounding. At least one token stays: a share of 0 is reached by none
at all, and that would be no choice.

@<Keep as many as it takes to reach a share@>=
static void keep_share(struct funnel *f, double p, double all)
{
  double sum = 0;
  size_t n = 0;
  while (n < f->n && (n == 0 || sum < p * all)) sum += f->weight[n++];
  truncate_to(f, n);
}

@ \emph{Min-p} cuts where a token is less than $m$ times as likely as the best.\side{Nguyen and others 2024.} It is a threshold and no count, so every token that reaches it stays, however many are tied; nothing has to be sorted, and no sum is needed. The weight of a token is that very quotient. Where the model is sure, the threshold is high and few stay; where no token is likely, it is low.
@^min-p@>

@<Keep what is likely enough beside the best@>=
void funnel_min_p(struct funnel *f, double m)
{
  if (m == 0) return;
  softmax_weights(f);
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] < m) f->score[f->candidates[i]] = -INFINITY;
  drop_masked(f);
}

@ \emph{Typical} sampling starts from another thought. A text is not a row of likeliest words; people say what carries about as much information as is expected of them at this place, and
the likeliest word may carry too little.\side{Meister, Pimentel, Wiher and Cotterell 2023.} The information of a token is $-\ln p$, and its expectation is the entropy $H$. So tokens are ordered by $\vert -\ln p-H\vert$, the most typical first, and
kept until they have the share $p$.

With $d=z-\max z$ and $W=\sum w$ we have $\ln p=d-\ln W$, and $H=-\sum p\ln p=\ln W-m$ with $m=\sum wd/W$. Hence $\vert -\ln p-H\vert=\vert d-m\vert$: the logarithms cancel, and no token has to be asked for its own. In the hand calculation $H=1.28$, and the four tokens are $0.36$, $0.08$, $0.33$ and $1.02$ away from it: \tok{in} comes first, then \tok{by}, and together they have the half. The likeliest token is left out of a typical half, for being too likely. (A weight may underflow to 0, and its distance be infinite; their product would be a NaN, and the token counts for nothing anyway.)
@^typical sampling@>@^entropy@>

@<Keep the most typical that reach a share@>=
void funnel_typical_p(struct funnel *f, double p)
{
  if (p == 1) return;
  sort_by_id(f);
  double max = max_score(f), all = softmax_weights(f), mean = 0;
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] > 0) mean += f->weight[i] * (f->score[f->candidates[i]] - max);
  mean /= all;
  for (size_t i = 0; i < f->n; i++) f->sort_buf[i] = (struct sort_item) @[{@|
    num_bits64(fabs(f->score[f->candidates[i]] - max - mean)), f->candidates[i] }@];
  @<Take the list by rising distance, and keep the share@>@;
}

@ A distance is positive, and the bits of a positive double are in order as they are. The list that |sort_list| leaves stands in a third order, for a moment: by distance. The weights have to be taken again in that order, since their sum, too, belongs to the stage; then those
that stay go back into the order of their ids.

@<Take the list by rising distance, and keep the share@>=
sort_list(f);
keep_share(f, p, softmax_weights(f));
f->sorted = true; /* or in any order but the other */
sort_by_id(f);

@* Repetition penalties. \label{sec:penalties}
Models repeat themselves. A sentence that stands in the text makes the same sentence likelier, and after a second time it is likelier still; greedy decoding then goes round in a circle, and for a window of finite length it \emph{must},
once a state returns. Three penalties are in use, and each is a formula about the \emph{history}, that is about the tokens of the text so far.
@^repetition@>@^penalties@>

The \emph{repetition penalty} $r$ looks at each token of the history once, however often it stands there, and makes its score worse: $z/r$ if it is positive, $zr$ if it is not.\side{Keskar and others 2019, in a model
called CTRL.} The case distinction gives away that a logit is being treated as if its zero meant something. It does not: adding the same number to all scores changes no probability, but it does change what this penalty does. It is what published models recommend all the same, so it is here, exactly as it is elsewhere.

@<Mark down what the history has@>=
void funnel_repetition_penalty(struct funnel *f, double r,
  const uint32_t *seen, size_t n)
{
  if (r == 1) return;
  sort_by_id(f);
  for (size_t i = 0; i < n; i++) {
    double *z = &f->score[seen[i]];
    if (f->count[seen[i]]++ == 0 && *z > -INFINITY)
      *z = *z > 0 ? *z / r : *z * r;
  }
  forget_counts(f, seen, n);
  drop_masked(f);
}

@ To see each token once, the tokens of the history are counted as they come, in a list that is all zero before and must be so again: only what has been counted is put back, for a history is shorter than a vocabulary, most of the time.

@<Forget what was counted@>=
static void forget_counts(struct funnel *f, const uint32_t *seen, size_t n)
{
  for (size_t i = 0; i < n; i++) f->count[seen[i]] = 0;
}

@ The \emph{frequency penalty} $\alpha$ and the \emph{presence penalty} $\beta$ are subtracted, so the zero does not matter to them: $z-(c\alpha+\beta)$ for a token that has been written $c\ge1$ times. They count what the model has
written and not what it was given, as OpenAI and vLLM do it; llama.cpp counts both, within a window. A token gets its subtraction when it is met for the first time, so the counting has to be done before.

@<Subtract for what has been written@>=
void funnel_frequency_presence(struct funnel *f, double frequency,
  double presence, const uint32_t *written, size_t n)
{
  if (frequency == 0 && presence == 0) return;
  sort_by_id(f);
  for (size_t i = 0; i < n; i++) f->count[written[i]]++;
  for (size_t i = 0; i < n; i++) {
    uint32_t id = written[i];
    if (f->count[id] > 0 && f->score[id] > -INFINITY)
      f->score[id] -= f->count[id] * frequency + presence;
    f->count[id] = 0;
  }
  drop_masked(f);
}

@ The third measure bans. If no sequence of $n$ tokens is to stand in a text twice, then after the last $n-1$ tokens no token may come that has followed the same $n-1$ before. That is all there is to \emph{n-gram blocking}; it is the only one of these that
promises anything, and what it promises may be more than one wants: a name of two tokens can be written once only, and an end token that has followed these tokens before cannot follow them again. With $n=1$ no token may come twice at all, and one day there is none left.
@^n-gram blocking@>

@<Ban what would repeat an n-gram@>=
void funnel_no_repeat_ngram(struct funnel *f, size_t n,
  const uint32_t *id, size_t length)
{
  if (n == 0 || n > length) return;
  const uint32_t *end = id + length - (n - 1);
  for (size_t i = 0; i + n <= length; i++)
    if (memcmp(id + i, end, (n - 1) * sizeof *id) == 0)
      f->score[id[i + n - 1]] = -INFINITY;
  drop_masked(f);
}

@* Logit biases and banned words. \label{sec:bias}
The bluntest instruments come last. A \emph{bias} is added to the score of a token: somebody who does not want to read a word gives it $-10^2$, and $-\infty$ says it outright. A bias may also depend on what has just been written: for a
sequence of tokens it is added to the last of them, when the others are the end of the text. That is how a word of several tokens is banned, and not every word that begins with the first of them. (A longer word that begins with all of them is hit, too; the same word spelt in other tokens is not.) A bias for one token is the case where there are no others.
@^logit bias@>@^bad words@>

@<What may be added to a score@>=
struct sequence_bias { const uint32_t *id; size_t n; double bias; };
  /* |bias| for the last of |n| $\ge1$ ids where the others end the text;
     $-\infty$ takes it out */

@ Three options that look different are this one function: a bias by id, a bias by sequence, and the list of bad words, whose bias is infinite. Biases on one token add up. What is out stays out, whatever is added.

@<Add a bias to the ends of sequences@>=
void funnel_sequence_bias(struct funnel *f, const struct sequence_bias *list,
  size_t n, const uint32_t *id, size_t length)
{
  sort_by_id(f);
  for (size_t i = 0; i < n; i++) {
    size_t others = list[i].n - 1;
    if (others > length || (others > 0 && memcmp(list[i].id,
        id + length - others, others * sizeof *id) != 0)) continue;
    double *z = &f->score[list[i].id[others]];
    if (list[i].bias == -INFINITY) *z = -INFINITY;
    else if (*z > -INFINITY) *z += list[i].bias;
  }
  drop_masked(f);
}

@ A list of tokens that must not come at all is taken out in one sweep, for whatever reason they must not: because somebody suppresses them, or because the text is too short to end.

@<Strike tokens out@>=
void funnel_suppress(struct funnel *f, const uint32_t *id, size_t n)
{
  for (size_t i = 0; i < n; i++) f->score[id[i]] = -INFINITY;
  drop_masked(f);
}

@ Where scores are to be compared across steps, as chapter 9 does, they are made log-probabilities: $d-\ln W$.

@<Make log-probabilities of the scores@>=
void funnel_log_softmax(struct funnel *f)
{
  sort_by_id(f);
  double max = max_score(f), log_sum = num_log(softmax_weights(f));
  for (size_t i = 0; i < f->n; i++)
    f->score[f->candidates[i]] = f->score[f->candidates[i]] - max - log_sum;
}

@ The stages are public one by one, because a list of them in any order is what a user may ask for (\cref{sec:stageorder}), and because a program that is compared with another wants to compare stage by stage. Those that look at the history are given it.

@<The stages, one by one@>=
void funnel_temperature(struct funnel *f, double t);
  /* |score/t|; for 0 the likeliest alone is left, unchanged */
void funnel_top_k(struct funnel *f, size_t k);
  /* exactly |k| by falling score, then rising id; 0: all */
void funnel_top_p(struct funnel *f, double p);
  /* the shortest prefix in that order with a share of at least |p|, one or more; 1: all */
void funnel_min_p(struct funnel *f, double m);
  /* all that are at least |m| times as likely as the best */
void funnel_typical_p(struct funnel *f, double p);
  /* by rising distance of the information from its mean, the shortest prefix with a
     share of at least |p|; 1: all */
void funnel_log_softmax(struct funnel *f);
  /* scores become log-probabilities among the tokens that are left */

@ An id in a history or a list must be one of the vocabulary. Nobody checks that here: it is checked once, where ids come in, and not for every token of a text.

@<The stages, one by one@>=
void funnel_repetition_penalty(struct funnel *f, double r,
  const uint32_t *seen, size_t n);
  /* each distinct id of |seen[n]|: |score/r| if |score > 0|, else |score*r|; |r > 0| */
void funnel_frequency_presence(struct funnel *f, double frequency,
  double presence, const uint32_t *written, size_t n);
  /* |score - (c*frequency + presence)| for an id that stands |c| $\ge1$ times in |written[n]| */
void funnel_no_repeat_ngram(struct funnel *f, size_t n,
  const uint32_t *id, size_t length);
  /* takes out what would complete an n-gram that |id[length]| has; 0: nothing */
void funnel_sequence_bias(struct funnel *f, const struct sequence_bias *list,
  size_t n, const uint32_t *id, size_t length);
  /* adds each of |list[n]| whose ids but the last are the end of |id[length]| */
void funnel_suppress(struct funnel *f, const uint32_t *id, size_t n);
  /* takes the ids |id[n]| out */

@ When the stages are done, two things can be asked of a funnel: the distribution that is left, and the token.

@<What comes out below@>=
void funnel_distribution(struct funnel *f);
  /* |candidates[n]| by falling score, and in |weight[n]| their probabilities */
uint32_t funnel_choose(struct funnel *f, uint64_t seed, uint32_t sequence,
  uint32_t position);
  /* the id with the greatest |score + g|, of equal ones the lowest, where |g| is
     |gumbel_noise|; |n| $\ge1$; leaves |weight| undefined (Gumbel 1954, Maddison and others 2014) */

@ The distribution is the weights over their sum, in the order of the list.

@<Turn the scores into a distribution@>=
void funnel_distribution(struct funnel *f)
{
  sort_descending(f);
  double all = softmax_weights(f);
  for (size_t i = 0; i < f->n; i++) f->weight[i] /= all;
}

@* A counter-based random generator. \label{sec:philox}
A random number generator is usually a machine with a state: each call returns a number and turns the state into the next. Who calls it in another order gets other numbers; and a program that writes several texts at once calls it in an order that depends on all of them. Ours is a
\emph{counter-based} generator: a function from a counter and a key to a number, so thoroughly mixing that consecutive counters give numbers without any visible relation.\side{Salmon, Moraes, Dror and Shaw 2011, ``Parallel random numbers: as easy as 1, 2, 3''.}
Nothing is remembered from one call to the next. The last number can be had without any that come before it.
@^Philox@>@^random numbers@>

Philox4x32-10 takes a counter of four words of 32 bits and a key of two. One round multiplies two of the four words by constants. A product of two words has 64 bits: its lower half is a word in which each bit depends on the bits below it, and its upper half one in which each bit depends on nearly all. The lower halves become words of the next counter
as they are; the upper ones are mixed, by exclusive or, with the other two words and the key. After ten rounds, with a key that is advanced in each, no statistical test that anybody has found can tell the results from chance.

@<Ten rounds of mixing@>=
void philox4x32(const uint32_t key[2], const uint32_t counter[4],
  uint32_t out[4])
{
  uint32_t k0 = key[0], k1 = key[1];
  uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
  for (int round = 0; round < 10; round++) {
    uint64_t p = (uint64_t) 0xD2511F53u * a, q = (uint64_t) 0xCD9E8D57u * c;
    a = (uint32_t) (q >> 32) ^ b ^ k0, b = (uint32_t) q;
    c = (uint32_t) (p >> 32) ^ d ^ k1, d = (uint32_t) p;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  out[0] = a, out[1] = b;
  out[2] = c, out[3] = d;
}

@ The multipliers were found by the authors of the method in a search for good mixing; the key advances by the golden ratio and by $\sqrt3-1$, as binary fractions, for want of a reason to take other numbers. No round can lose anything: each is a one-to-one map of counters to counters, so two different counters never give the same four words
under one key.

What is the counter, and what is the key? The key is the seed, 64 bits. The counter is the token's id, the position in the text, the number of the text among those of a request, and a zero, which other uses of chance in this book replace by another number, so that they never share a word with this one.

@<A number of 52 bits for a token at a place@>=
static uint64_t bits_for(uint64_t seed, uint32_t sequence,
  uint32_t position, uint32_t id)
{
  uint32_t key[2] = @[{ (uint32_t) seed, (uint32_t) (seed >> 32) }@];
  uint32_t counter[4] = @[{ id, position, sequence, 0 }@], out[4];
  philox4x32(key, counter, out);
  return (uint64_t) out[0] << 20 | out[1] >> 12;
}

@* Drawing a token. \label{sec:gumbel}
Now the tokens that are left have scores, and one of them is to be drawn, with the probability $w_i/W$. The textbook draws one random number $u$ and walks along the list, adding up probabilities until the sum exceeds $u$. It is simple, but the token that it finds depends on the order of the list, and on every rounding before it; a token far down
changes because one at the top was removed. There is another way. Let each token have its own random number, a waiting time $E_i$ with the rate $w_i$, which is to say that within any short time $dt$ it ends with the chance $w_i\,dt$, and take the token whose time is over first. It is a race, and a token with twice the weight runs twice as fast.
@^Gumbel-max@>

That the race is fair takes three lines. A waiting time with the rate $w$ is longer than $t$ with the probability $e^{-wt}$. Token $i$ comes in at the time $t$ with the density $w_ie^{-w_it}$, and then it wins if all others take longer, which has the probability $\prod_{j\ne i}e^{-w_jt}$. Together
\begin{equation}\label{eq:race}
  \Pr(i\hbox{ wins})=\int_0^\infty w_ie^{-w_it}\prod_{j\ne i}e^{-w_jt}\,dt=w_i\int_0^\infty e^{-Wt}\,dt=\frac{w_i}{W}.
\end{equation}
Nothing had to be divided by $W$, nor had $W$ to be known. For the distribution of the hand calculation, where the weights may be 4, 3, 2 and 1, the first token wins with $4/10$, as it should.

@ How is a waiting time made? If $u$ is uniform between 0 and 1, then $-\ln u$ is larger than $t$ with the probability that $u<e^{-t}$, which is $e^{-t}$: a waiting time with the rate 1. Divided by $w_i$ it has the rate $w_i$. The smallest of the $-\ln u_i/w_i$ wins. So does the smallest of their logarithms, $\ln(-\ln u_i)-\ln w_i$, and with the sign turned round the greatest. The difference of $\ln w_i$ and $z_i$ is the same for all tokens, and may be added: the winner has the greatest
\begin{equation}\label{eq:gumbel}
  z_i+g_i,\qquad g_i=-\ln(-\ln u_i).
\end{equation}
So to sample is to add noise to the scores and to choose greedily.\side{The distribution of $g$ is Gumbel's, that of the largest of very many numbers: he was interested in floods.} The uniform number is $u=(m+\frac12)2^{-52}$ for an integer $m$ of 52 bits: neither 0 nor 1 can come out, and all its values, like $1-u$, are doubles without rounding.

@<The noise of a token at a place@>=
double gumbel_noise(uint64_t seed, uint32_t sequence, uint32_t position,
  uint32_t id)
{
  uint64_t m = bits_for(seed, sequence, position, id);
  return -num_log(-num_log(((double) m + 0.5) * 0x1p-52));
}

@ Compare what the two ways depend on. In the race a token's number is its own: if another is struck out or marked down, the noise of this one stays what it was, and the winner stays the winner unless it was the one to go. The order of the list does not matter. Nor does it matter which other texts are being written, how many workers there are, whether the prompt was read in one piece,
or whether anybody computed a token more than once. What is left to depend on are the scores themselves, and \cref{phases} has made sure of those.

There is a price. Instead of one random number for a choice, there is one for each token that is left, and each takes ten rounds of Philox and two logarithms. For \val{sampling.large} tokens this would be the dearest part of the whole sampler. The bits have to be made, but of the logarithms nearly none has to be taken.

@ \emph{Bound the noise before computing it.} Let $b$ be the best sum so far, and ask whether a token with the score $z$ can still reach it. That takes $g\ge b-z$, or $-\ln u\le e^{z-b}$. Now $-\ln u\ge1-u$ for every $u$: the logarithm lies below its tangent at 1. So unless
\begin{equation}\label{eq:noisebound}
  1-u\le e^{z-b}=w\,e^{\max z-b}
\end{equation}
it cannot win, and its two logarithms are never taken. The weight is there already, for all tokens by one kernel; the last factor changes only when a new best is found. So the test costs a multiplication and a comparison. And where the right side is below $2^{-53}$, the smallest value that $1-u$ can have, not even the random bits are needed.
@^lazy evaluation@>

@<Let the tokens race@>=
uint32_t funnel_choose(struct funnel *f, uint64_t seed, uint32_t sequence,
  uint32_t position)
{
  if (f->n == 1) return f->candidates[0];
  softmax_weights(f);
  double best = -INFINITY, max = max_score(f), reach = INFINITY;
  uint32_t chosen = UINT32_MAX;
  for (size_t i = 0; i < f->n; i++) {
    uint32_t id = f->candidates[i];
    double bound = f->weight[i] * reach;
    if (bound < 0x1p-53) continue;
    f->bits++;
    uint64_t m = bits_for(seed, sequence, position, id);
    if (0x1p52 - (double) m - 0.5 > bound * 0x1p52) continue;
    f->noises++;
    double sum = f->score[id] - num_log(-num_log(((double) m + 0.5) * 0x1p-52));
    if (sum < best || (sum == best && id > chosen)) continue;
    chosen = id, best = sum;
    @<Set |reach| to what a weight is multiplied by@>@;
  }
  return chosen;
}

@ A bound that is wrong by one rounding would now and then lose a winner, and nobody would ever notice. So it is widened. The exponentials and logarithms are right within a few units in the last place, some $10^{-15}$; and the sum $z+g$ is rounded to the last place of the larger of the two, which for a score of $10^{30}$ is a very large step. Both are covered by a margin in the exponent: $2^{-40}$, which is some $10^3$ times the first, and sixteen units in the last place of the best score for the second. (A score far below the best may be off by more of its own units; but it cannot win.) A weight of 0, which a token has when its score is far below the best, may multiply an infinite reach; such a NaN is not below any bound, so that token is simply computed.

@<Set |reach| to what a weight is multiplied by@>=
reach = num_exp(max - best + 0x1p-40 + fabs(max) * 0x1p-48);

@ How much is saved depends on the order in which the tokens come: each time a token is the best so far, the bound tightens. Among $n$ tokens in no particular order that happens about $\ln n$ times. \Cref{sec:samplingcost} counts.

@(draws.h@>=
#ifndef INCIPIT_DRAWS_H
#define INCIPIT_DRAWS_H
#include <stdint.h>
void philox4x32(const uint32_t key[2], const uint32_t counter[4],
  uint32_t out[4]);
  /* Philox4x32-10 of a key and a counter (Salmon and others 2011) */
double gumbel_noise(uint64_t seed, uint32_t sequence, uint32_t position,
  uint32_t id);
  /* $-\ln(-\ln u)$ for a |u| that depends on these four alone; from
     $-3.6$ to $36.7$ */
#endif

@ The generator and the noise are a file of their own, and the funnel another. The race needs the random bits, but not through a function of the header: it has to see them before it knows whether it wants the noise.

@(funnel.h@>=
#ifndef INCIPIT_FUNNEL_H
#define INCIPIT_FUNNEL_H
#include "sampling/draws.h"
#include "model/kernel.h"
@<The tokens that are left, and their scores@>@;
@<What may be added to a score@>@;
@<The stages, one by one@>@;
@<What comes out below@>@;
#endif

@ Their parts stand in the order of the chapter, but for what must be known before it is used. \.{draws.c} has the ten rounds and the noise.

@(draws.c@>=
#include <string.h>
#include "sampling/draws.h"
#include "functions/numbers.h"
@;@#
@<Ten rounds of mixing@>@;
@<A number of 52 bits for a token at a place@>@;
@<The noise of a token at a place@>@;

@ And \.{funnel.c} has everything that works on the list of tokens.

@(funnel.c@>=
#include <math.h>
#include <string.h>
#include "sampling/funnel.h"
#include "functions/numbers.h"
@;@#
@<Allocate and free the buffers@>@;
@<Fill the funnel@>@;
@<Let those go that are out@>@;
@<A key that rises as the score falls@>@;
@<Sort by the key, and leave equals as they stood@>@;
@<Bring the list into one of its two orders@>@;
@<Weigh the tokens that are left@>@;
@<The stages that cut@>@;
@<The stages that look back@>@;
@<A number of 52 bits for a token at a place@>@;
@<Turn the scores into a distribution@>@;
@<Let the tokens race@>@;

@ The stages themselves come in two groups, by what they look at.

@<The stages that cut@>=
@<Divide by the temperature@>@;
@<Find the key of the $k$th best@>@;
@<Keep the $k$ best@>@;
@<Keep as many as it takes to reach a share@>@;
@<Keep the fewest that reach a share@>@;
@<Keep what is likely enough beside the best@>@;
@<Keep the most typical that reach a share@>@;
@<Make log-probabilities of the scores@>@;

@ The second group looks at the text.

@<The stages that look back@>=
@<Forget what was counted@>@;
@<Mark down what the history has@>@;
@<Subtract for what has been written@>@;
@<Ban what would repeat an n-gram@>@;
@<Add a bias to the ends of sequences@>@;
@<Strike tokens out@>@;

@* The settings. \label{sec:settings}
A user's options are one structure. Its names are those of the field, its normal values change nothing, and what must hold of the others |sampling_check| asks once for a whole text: ranges, and that ids belong to the vocabulary.
@^settings@>

@<What a user may set@>=
enum sample_stage { SAMPLE_BIAS, SAMPLE_PENALTIES, SAMPLE_NGRAM,
  SAMPLE_TEMPERATURE, SAMPLE_TOP_K, SAMPLE_TOP_P, SAMPLE_MIN_P,
  SAMPLE_TYPICAL_P, N_SAMPLE_STAGES };
  /* the stages that a list may name, in their normal order */
struct sampling_params { double temperature; size_t top_k; double top_p, min_p,
  typical_p, repetition_penalty, frequency_penalty, presence_penalty;
  int64_t penalty_last_n; size_t no_repeat_ngram;@|
  const struct sequence_bias *logit_bias, *bad_words; size_t n_logit_bias, n_bad_words;
  const uint32_t *suppress; size_t n_suppress;@|
  enum sample_stage stage[N_SAMPLE_STAGES]; size_t n_stages; };
  /* all lists are borrowed; |penalty_last_n|: the last so many tokens of the
     history count, $-1$: all; each stage at most once */
extern const struct sampling_params sampling_default;
  /* what changes nothing: temperature 1, no cut, no penalty, the normal order */

@ The history of a choice is a text and the place where the prompt ends.

@<What a user may set@>=
struct history { const uint32_t *id; size_t n, n_prompt; };
  /* |id[n]|, of which the first |n_prompt| $\le n$ were given */
bool sampling_check(const struct sampling_params *s, size_t vocab,
  struct error *why);
  /* are all numbers that a stage of the list reads in their ranges, all ids below |vocab|? On failure a sentence that names the setting, the value and the range */
void sampling_stage_run(struct funnel *f, const struct sampling_params *s,
  enum sample_stage stage, struct history h);
  /* one stage of a checked |s|; all may be out after it */
bool sampling_run(struct funnel *f, const struct sampling_params *s,
  const float *logits, struct history h, struct error *why);
  /* fills the funnel and lets the stages of |s| do their work; errors: logits
     that are no numbers, a stage after which a score is $+\infty$ or no token is left */

@ Seven of the settings are real numbers, and each has a range. The command reads them from a line, the protocol from an object, and both need the name, the place and the range, and a sentence when the value lies outside. So that is a table.

@<What a user may set@>=
struct sampling_option { const char *name; size_t at;
  enum sample_stage where; double low, high; bool above_low;
  const char *expected; };
  /* setting |name| of the stage |where| lies |at| bytes from the beginning of |struct sampling_params|,
     from |low| or |above_low| to |high|; |expected| says so in words */
const struct sampling_option *sampling_option_at(size_t i);
  /* number |i| of the settings that are reals; null past the last */
bool sampling_option_fits(const struct sampling_option *r, double x);
  /* does |x| lie in the range? */
const char *sampling_stage_name(enum sample_stage stage);
  /* \.{bias}, \.{penalties}, ... */
bool sampling_stages_parse(struct sampling_params *s, const char *const *name,
  size_t n, struct error *why);
  /* sets the list of stages; errors: an unknown name, a name given twice */

@ The ranges are those beyond which a formula loses its meaning; within them everything is allowed, also what is unwise. The temperature has a hole in its range, between 0 and $10^{-5}$.

@<Settings that are real numbers@>=
#define OPTION(field, stage, low, high, above, wanted) @[{ #field,@| \
  offsetof(struct sampling_params, field), stage, low, high, above, wanted }@]
static const struct sampling_option sampling_options[] = @[{@|
  OPTION(temperature, SAMPLE_TEMPERATURE, 0, 1e4, false,@|
    "0, or 0.00001 to 10000"),@|
  OPTION(top_p, SAMPLE_TOP_P, 0, 1, false, "0 to 1"),@|
  OPTION(min_p, SAMPLE_MIN_P, 0, 1, false, "0 to 1"),@|
  OPTION(typical_p, SAMPLE_TYPICAL_P, 0, 1, true, "above 0, up to 1"),@|
  OPTION(repetition_penalty, SAMPLE_PENALTIES, 0, DBL_MAX, true,@|
    "a number above 0"),@|
  OPTION(frequency_penalty, SAMPLE_PENALTIES, -DBL_MAX, DBL_MAX, false,@|
    "a finite number"),@|
  OPTION(presence_penalty, SAMPLE_PENALTIES, -DBL_MAX, DBL_MAX, false,@|
    "a finite number")
}@];
enum { N_SAMPLING_OPTIONS = sizeof sampling_options / sizeof sampling_options[0] };

@ A NaN fits nowhere, because the comparisons are written so that they hold for what is right and not for what is wrong.

@<Settings that are real numbers@>=
const struct sampling_option *sampling_option_at(size_t i)
{
  return i < N_SAMPLING_OPTIONS ? &sampling_options[i] : NULL;
}
bool sampling_option_fits(const struct sampling_option *r, double x)
{
  bool hole = r->at == offsetof(struct sampling_params, temperature)
    && x > 0 && !(x >= 1e-5);
  return x <= r->high && (r->above_low ? x > r->low : x >= r->low) && !hole;
}

@ The normal order has what is wanted and what has been said first, while the scores are still those of the model; then the temperature; then the cuts, which look at the distribution that will be drawn from. On this much OpenAI, vLLM and Hugging Face agree; within the cuts there are differences. The order is data, and \cref{sec:stageorder} shows what another one does.

@<The stages and their names@>=
const struct sampling_params sampling_default = @[{ .temperature = 1, .top_p = 1,@|
  .typical_p = 1, .repetition_penalty = 1, .penalty_last_n = -1,@|
  .stage = { SAMPLE_BIAS, SAMPLE_PENALTIES, SAMPLE_NGRAM, SAMPLE_TEMPERATURE,@|
    SAMPLE_TOP_K, SAMPLE_TOP_P, SAMPLE_MIN_P, SAMPLE_TYPICAL_P },@|
  .n_stages = N_SAMPLE_STAGES }@];
static const char *const stage_name[N_SAMPLE_STAGES] = @[{ "bias", "penalties",@|
  "ngram", "temperature", "top_k", "top_p", "min_p", "typical_p" }@];
const char *sampling_stage_name(enum sample_stage stage)
{
  return stage_name[stage];
}

@ A stage that is not in the list does not run. One that stands in it twice is a mistake: to reach a share of what reached it is another share, and to divide by a temperature twice is a temperature that nobody has written down.

@<The stages and their names@>=
bool sampling_stages_parse(struct sampling_params *s, const char *const *name,
  size_t n, struct error *why)
{
  s->n_stages = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned found = 0;
    while (found < N_SAMPLE_STAGES && strcmp(name[i], stage_name[found]) != 0)
      found++;
    if (found == N_SAMPLE_STAGES) return error_say(why, "samplers has `%s';"@|
        " wanted: bias, penalties, ngram, temperature, top_k, top_p,"@|
        " min_p, typical_p", name[i]);
    for (size_t j = 0; j < s->n_stages; j++)
      if (s->stage[j] == found) return error_say(why,
          "samplers has `%s' twice; wanted: once at most", name[i]);
    s->stage[s->n_stages++] = (enum sample_stage) found;
  }
  return true;
}

@ The check of all settings goes through the table, and then through the lists. A number whose stage is not in the list is never read; so it may be anything.

@<Check the settings@>=
static bool runs(const struct sampling_params *s, enum sample_stage stage)
{
  for (size_t i = 0; i < s->n_stages; i++)
    if (s->stage[i] == stage) return true;
  return false;
}
bool sampling_check(const struct sampling_params *s, size_t vocab,
  struct error *why)
{
  for (const struct sampling_option *r = sampling_options; r < sampling_options
    + N_SAMPLING_OPTIONS; r++) {
    double x;
    memcpy(&x, (const char *) s + r->at, sizeof x);
    if (runs(s, r->where) && !sampling_option_fits(r, x))
      return error_say(why, "%s is %g; wanted: %s", r->name, x, r->expected);
  }
  if (runs(s, SAMPLE_PENALTIES) && s->penalty_last_n < -1) return error_say(why, "penalty_last_n is %"@|
      PRId64 "; wanted: -1 for all, or a number of tokens",
      s->penalty_last_n);
  return check_biased("logit_bias", s->logit_bias, s->n_logit_bias,@|
      vocab, why)
    && check_biased("bad_words", s->bad_words, s->n_bad_words, vocab, why)
    && check_ids("suppress_tokens", s->suppress, s->n_suppress, vocab, why);
}

@ An id that the vocabulary does not have would be an address past the end of the scores. A sequence without ids ends everywhere, and there is no last one to which anything could be added.

@<Check ids in the settings@>=
static bool check_ids(const char *name, const uint32_t *id, size_t n,
  size_t vocab, struct error *why)
{
  for (size_t i = 0; i < n; i++)
    if (id[i] >= vocab) return error_say(why, "%s has id %" PRIu32@|
        "; wanted: 0 to %zu", name, id[i], vocab - 1);
  return true;
}
static bool check_biased(const char *name, const struct sequence_bias *list,
  size_t n, size_t vocab, struct error *why)
{
  for (size_t i = 0; i < n; i++) {
    if (list[i].n == 0) return error_say(why,
        "%s has an empty sequence; wanted: 1 id or more", name);
    if (!(list[i].bias < INFINITY)) return error_say(why,
        "%s has a bias of %g; wanted: a number or -inf", name,
        list[i].bias);
    if (!check_ids(name, list[i].id, list[i].n, vocab, why)) return false;
  }
  return true;
}

@ One stage is a line. The window of the penalties ends where the text ends, and what the model has written begins where the prompt ends; the frequency and the presence penalty look at what lies in both.

@<Run one stage@>=
void sampling_stage_run(struct funnel *f, const struct sampling_params *s,
  enum sample_stage stage, struct history h)
{
  if (stage == SAMPLE_BIAS) @<Add all kinds of bias@>@;
  if (stage == SAMPLE_PENALTIES) @<Mark down what the window has@>@;
  if (stage == SAMPLE_NGRAM)
    funnel_no_repeat_ngram(f, s->no_repeat_ngram, h.id, h.n);
  if (stage == SAMPLE_TEMPERATURE) funnel_temperature(f, s->temperature);
  if (stage == SAMPLE_TOP_K) funnel_top_k(f, s->top_k);
  if (stage == SAMPLE_TOP_P) funnel_top_p(f, s->top_p);
  if (stage == SAMPLE_MIN_P) funnel_min_p(f, s->min_p);
  if (stage == SAMPLE_TYPICAL_P) funnel_typical_p(f, s->typical_p);
}

@ The order within the stage matters to nobody but to a token with a bias of $-\infty$, and it is out in any order.

@<Add all kinds of bias@>=
{
  funnel_sequence_bias(f, s->logit_bias, s->n_logit_bias, h.id, h.n);
  funnel_suppress(f, s->suppress, s->n_suppress);
  funnel_sequence_bias(f, s->bad_words, s->n_bad_words, h.id, h.n);
}

@ A window of |n| tokens begins |n| before the end, unless the text is shorter. The two subtractions count from the later of two places, the beginning of the window and the end of the prompt.

@<Mark down what the window has@>=
{
  size_t from = s->penalty_last_n >= 0
    && (uint64_t) s->penalty_last_n < h.n
    ? h.n - (size_t) s->penalty_last_n : 0;
  size_t later = from > h.n_prompt ? from : h.n_prompt;
  if (from < h.n) funnel_repetition_penalty(f, s->repetition_penalty,@|
    h.id + from, h.n - from);
  if (later < h.n) funnel_frequency_presence(f, s->frequency_penalty,@|
    s->presence_penalty, h.id + later, h.n - later);
}

@ And the whole is a loop over the list. After each stage two things may have gone wrong. A finite score may have become $+\infty$, since a penalty of $10^{-308}$ is a number like any other (one that has become $-\infty$ is out, as if it had been struck); and there may be no token left, because everything has been banned. Both are errors that name the stage. To go on with the last token that was left, as some programs do, would be to write what was forbidden.
@^nothing left@>

@<Run all stages@>=
bool sampling_run(struct funnel *f, const struct sampling_params *s,
  const float *logits, struct history h, struct error *why)
{
  if (!funnel_fill(f, logits, why)) return false;
  for (size_t i = 0; i < s->n_stages; i++) {
    sampling_stage_run(f, s, s->stage[i], h);
    const char *name = stage_name[s->stage[i]];
    for (size_t j = 0; j < f->n; j++)
      if (!(f->score[f->candidates[j]] < INFINITY))
        return error_say(why, "behind the stage %s the score of id %"@|
          PRIu32 " is infinite; wanted: a number", name, f->candidates[j]);
    if (f->n == 0) return error_say(why,
        "behind the stage %s no token is left", name);
  }
  return true;
}

@* Sampling in the loop. \label{sec:sampler}
Chapter 3's loop asks the caller's function which token comes next, and tells another one afterwards which token has joined the text. A \emph{sampler} supplies both functions. It consists of settings, a funnel, a seed, and the number of the text. Choosing changes nothing but the funnel's scratch memory. So we may ask a sampler what it would choose at this place, or after some tokens that we only guess, as often as we like, and the same question gets the same answer.
@^sampler@>

Why are choosing and accepting two functions, and not one? Because a chosen token need not join the text. A program that guesses several tokens ahead (\emph{speculative decoding}) lets the model read the guesses in one pass, asks at each of their positions what the sampler would choose, and keeps the guesses up to the first that differs. A sampler that advanced with every choice would then have to be taken back.
@^speculative decoding@>

What is there to advance? Not the noise, which is computed from the position of the token. Only a rule for the text (\cref{sec:bonds}) has to remember how far in its pattern the text has come. That is one number, and it is the whole state of a sampler. It can be saved, and restored if a guess turns out to be wrong.

@<Who chooses@>=
struct sampler { struct funnel f; struct sampling_params s; uint64_t seed;
  uint32_t sequence; struct token_rule rule; };
  /* chooses for text number |sequence| of those that are written with
     |seed|; what |s| borrows must outlive it; a |rule| that is all zero allows everything */
bool sampler_choose(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why);
  /* a |step_select| for |struct generate_options|; |ctx| is a |struct sampler|, whose
     state stays as it is */
bool sampler_accept(void *ctx, uint32_t id, struct error *why);
  /* the |step_accept| that belongs to it: |id| has joined the text; errors: those of the rule */
uint32_t sampler_save(const struct sampler *d);
  /* the state of a sampler: where in the text its rule is; 0 without a rule */
void sampler_restore(struct sampler *d, uint32_t state);
  /* goes back to a state that |sampler_save| gave, in the same text */

@ The position of a choice is the number of tokens before it, the prompt's included. A text that was begun by one run and is continued by another, with what has been written as a part of the prompt, therefore goes on as if it had never been interrupted, unless one of the two penalties tells the two kinds of tokens apart, or the text is bound to match something, which begins with what is written (\cref{sec:bonds}).

@<Choose a token for the loop@>=
bool sampler_choose(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  struct sampler *d = ctx;
  struct history h = @[{ text->text.id, text->text.n, text->n_prompt }@];
  d->f.allowed = NULL;
  if (d->rule.allow != NULL && !d->rule.allow(d->rule.ctx,@|
    h.n - h.n_prompt, &d->f.allowed, why)) return false;
  if (!sampling_run(&d->f, &d->s, logits, h, why)) return false;
  *chosen = funnel_choose(&d->f, d->seed, d->sequence,
    (uint32_t) text->text.n);
  return true;
}

@ Accepting a token, saving and restoring are done by the rule. A sampler without a rule has nothing to remember.

@<Choose a token for the loop@>=
bool sampler_accept(void *ctx, uint32_t id, struct error *why)
{
  const struct sampler *d = ctx;
  return d->rule.take == NULL || d->rule.take(d->rule.ctx, id, why);
}
uint32_t sampler_save(const struct sampler *d)
{
  return d->rule.save == NULL ? 0 : d->rule.save(d->rule.ctx);
}
void sampler_restore(struct sampler *d, uint32_t state)
{
  if (d->rule.restore != NULL) d->rule.restore(d->rule.ctx, state);
}

@* Stages that must match. \label{sec:bonds}
A program that reads a model's answer wants more than a likely text: it wants one that it can read. A JSON object with a brace too few is worth nothing, however likely it is. The cure is the oldest of all in this chapter, to strike out; but what is to be struck out depends on what has been written. After \texttt{\{"a": 1} there may come white space, a comma, a closing brace, or what goes on with a number; a letter only if it is an e. \Cref{constraints} makes machines that know this for a regular expression or a grammar: in a given \emph{state} they say which tokens may come, so that the text can still be ended well, and whether it may end here.
@^constrained decoding@>

The sampler need not know what such a machine is. It asks before each choice which tokens may come, and tells the machine which token has joined the text. Two more functions give the state of the machine as a number and set it back. A caller who has a rule for texts supplies the four functions. A token that may not come is out before the first stage, so that the others share its probability in the ratio that the model gave them.
@^logits processor@>

@<A rule for what may come@>=
struct token_rule {
  bool (*allow)(void *ctx, size_t written, const uint8_t **allowed,
    struct error *why);
    /* what may be token number |written| of a text, counted from 0: |(*allowed)[vocab]|,
       0 for what may not, good until the next call; changes no state */
  bool (*take)(void *ctx, uint32_t id, struct error *why);
    /* |id| has joined the text: the only function that advances the state */
  uint32_t (*save)(const void *ctx);
    /* the state, as a number */
  void (*restore)(void *ctx, uint32_t state);
    /* goes back to a state that |save| gave */
  void *ctx; };
  /* a rule for the tokens of a text; all zero: none */

@ The rule also decides about the end tokens, which may come exactly where the text may end, and it knows how many tokens may still be written. When they become scarce it allows only those from which the end can be reached in time: that is what makes the promise that a text which is not cancelled matches. \Cref{constraints} has the two functions for its machines (\cref{sec:bound}).

What does such a rule do to a text? It guarantees its form and nothing else. Struck out is what cannot be a beginning of a matching text; what the model wanted to say instead is not known to it, and may have been better. \Cref{constraints} counts how often a token was taken against the model's will. And a guarantee on every step is not one on the whole: a token may be allowed and likely, and lead where only unlikely tokens are allowed. To draw from the model's own distribution over all matching texts one would have to look ahead over all of them.

The third file includes the loop, whose step it is.

@(sampling.h@>=
#ifndef INCIPIT_SAMPLING_H
#define INCIPIT_SAMPLING_H
#include "loop/generate.h"
#include "sampling/funnel.h"
@<What a user may set@>@;
@<A rule for what may come@>@;
@<Who chooses@>@;
#endif

@ Its parts are the settings, the stages in order, and the step.

@(sampling.c@>=
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "sampling/sampling.h"
@;@#
@<Settings that are real numbers@>@;
@<The stages and their names@>@;
@<Check ids in the settings@>@;
@<Check the settings@>@;
@<Run one stage@>@;
@<Run all stages@>@;
@<Choose a token for the loop@>@;

@* One distribution through all stages. \label{sec:funnelseen}
The module is complete. To see it at work, the built-in model is given three sentences, in which a dog thinks about soup and a mouse has milk, and is asked what the cat thinks about. Every stage has something to do. \Cref{fig:funnel} has the likeliest tokens, and a column for each stage.\lab{lab:funnelseen}
@^funnel@>

\widefig{funnel}{fig:funnel}{One distribution on its way; dotted is what a stage removes. Somebody likes pancakes: their score is raised by 1. Milk and soup have been said, and are marked down; ``about soup'' must not stand there twice, and soup is out. The temperature sharpens what is left, four stages cut it, each renewing the sum of 1; then one is drawn.}{The likeliest tokens in lines, ten columns from left to right: the model, bias, penalties, n-grams, temperature, the best 8, a share reached, at least a fifth of the best, the most typical, drawn. Milk begins as the longest bar, then cheese and soup. Pancakes grow in the second column; milk and soup shrink in the third, and soup is gone in the fourth. From the column of the best 8 on the lower half is empty. Milk goes with the fifth of the best, warm with the most typical; four tokens are left, and pancakes are drawn.}

Look at the two tokens that the penalty touches. Milk was the likeliest, and comes out in sixth place: its score is divided by 1.3, which leaves less than a third of its probability. Nobody would guess that from the number, because it depends on the size of the score. Min-p then cuts it away, since it is less than a fifth as likely as cheese; without the penalty it would have been the best. The last stage removes a token that nobody had anything against: \tok{\ warm} carries more information than is typical here. Read backwards: a token that is missing has one reason, and the funnel shows which.

\checkpoint[1,12]{build/out/sampling.txt}{the same in numbers: how many tokens are left, the entropy, and the best}

@ The numbers of the box come from a short program. It lets this one distribution through the stages, and then writes six texts (\cref{sec:several}). All that it needs is the built-in model with its tokenizer, a store, and a sampler.

@c
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "tokenizer/tokenizer.h"
#include "cache/cache.h"
#include "sampling/sampling.h"
@;@#
@<What the program works with@>@;
@<Show what a stage has left@>@;
@<Let one distribution through the stages@>@;
@<Write a text by each strategy@>@;
@<Open everything, follow, write, and close@>@;

@ The store is chapter 4's cache, so that every text of the same prompt reads the prompt only once.

@<What the program works with@>=
struct session { struct memory m; struct counters c; struct engine e;
  struct model *lm; struct tokenizer *t; struct store *s; struct sampler d; };
static bool encode(struct session *u, const char *text, struct ids *list,
  struct error *why)
{
  return tokenizer_encode(u->t, &u->m, text, strlen(text), false, false,
    list, why);
}

@ Of a stage we want to see how many tokens are left, the entropy of their distribution in bits, and the best of them.

@<Show what a stage has left@>=
static void show(struct session *u, const char *name)
{
  struct funnel *f = &u->d.f;
  double h = 0;
  size_t n;
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] > 0) h -= f->weight[i] * num_log(f->weight[i]);
  const unsigned char *byte = tokenizer_text(u->t, f->candidates[0], &n);
  printf("%-11s %4zu left, %.2f bits, first \"%.*s\", %.3f\n", name, f->n,@|
    h / num_log(2), (int) n, (const char *) byte, f->weight[0]);
}

@ The settings are those of somebody who likes pancakes, and they give every stage something to do.

@<Give every stage something to do@>=
u->d.s = sampling_default;
u->d.s.n_logit_bias = 1;
u->d.s.logit_bias = &bias;
u->d.s.repetition_penalty = 1.3;
u->d.s.no_repeat_ngram = 2;
u->d.s.temperature = 0.8;
u->d.s.top_k = 8;
u->d.s.top_p = 0.95;
u->d.s.min_p = 0.2;
u->d.s.typical_p = 0.9;

@ |sampling_run| would let all stages do their work at once; here they are called one by one, so that each can be looked at. The draw comes at the end, for the position after the three sentences.

@<Let one distribution through the stages@>=
static bool follow(struct session *u, const struct ids *text, float *logits,
  struct error *why)
{
  struct funnel *f = &u->d.f;
  size_t last = text->n - 1, n;
  uint32_t liked;
  if (!tokenizer_find(u->t, " pancakes", 9, &liked))
    return error_say(why, "the built-in model has no pancakes");
  struct sequence_bias bias = @[{ &liked, 1, 1.0 }@];
  @<Give every stage something to do@>@;
  if (!sampling_check(&u->d.s, f->vocab, why)
      || !model_evaluate(&u->e, u->lm, u->s, text->id, text->n, &last, 1, logits, why)
      || !funnel_fill(f, logits, why)) return false;
  @<Call the stages one by one@>@;
  uint32_t id = funnel_choose(f, 1, 0, (uint32_t) text->n);
  const unsigned char *byte = tokenizer_text(u->t, id, &n);
  printf("chosen: \"%.*s\"\n", (int) n, (const char *) byte);
  return true;
}

@ After each stage a line is printed: how many candidates are left, and how sure the distribution is.

@<Call the stages one by one@>=
show(u, "the model");
for (size_t i = 0; i < u->d.s.n_stages; i++) {
  sampling_stage_run(f, &u->d.s, u->d.s.stage[i],
    (struct history) @[{ text->id, text->n, text->n }@]);
  show(u, sampling_stage_name(u->d.s.stage[i]));
}

@ The three sentences are the beginning of a tale, so the built-in model has something to expect.

@<Let one distribution through the stages@>=
static bool follow_one(struct session *u, struct error *why)
{
  struct ids text = @[{ NULL, 0, 0 }@];
  float *logits = memory_alloc(&u->m, MEMORY_OTHER, u->d.f.vocab, 4, why);
  printf("... had milk. The cat thought about\n");
  bool ok = logits != NULL
    && encode(u, "The dog thought about soup. The mouse had milk."@|
      " The cat thought about", &text, why) && follow(u, &text, logits, why);
  ids_free(&u->m, &text);
  memory_free(&u->m, logits);
  return ok;
}

@ Here everything is opened and closed again.

@<Open everything, follow, write, and close@>=
int main(void)
{
  static struct session u;
  struct error why;
  u.e = (struct engine) @[{ .k = kernels_find(NULL, &why), .c = &u.c }@];
  bool ok = u.e.k != NULL@|
    && (u.lm = model_open(&u.m, "models/pocket", &why)) != NULL@|
    && (u.t = tokenizer_open(&u.m, "models/pocket", &why)) != NULL@|
    && (u.s = cache_open(&u.m, &u.lm->config, 1,@|
      &(struct cache_options) @[{ .rows = 256 }@], &why)) != NULL@|
    && funnel_open(&u.d.f, &u.m, u.e.k, u.lm->config.vocab_size, &why)@|
    && follow_one(&u, &why);
  for (int i = 0; ok && i < N_STRATEGIES; i++) ok = write_text(&u, i, &why);
  funnel_close(&u.d.f);
  store_close(u.s);
  tokenizer_close(&u.m, u.t);
  model_close(&u.m, u.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@* The effect of temperature. \label{sec:heat}
Three things are said of temperature:\lab{lab:heat} that it makes the next token less certain, that it makes texts more various, and that it leaves the likeliest token the likeliest. The last was proved with \eqref{eq:temperature}, and the experiment stops if it ever fails. The first can be seen in one distribution, that after nine tokens about a good harvest, where a dozen words may follow. Its entropy after a temperature of 1 is \val[2]{sampling.heat.1} bits, about that of twelve equally likely words. At $T=\frac12$ it is \val[2]{sampling.heat.0.5}; at $T=2$ \val[2]{sampling.heat.2}, that of more than $2^7$ equally likely words: now words are likely that the model does not believe in. At $T=10^2$ it is \val[2]{sampling.heat.100}, of \val[0]{sampling.heat.most} that the whole vocabulary has.

\Cref{fig:warmth} has whole texts: eight for each temperature, of \val{sampling.long} tokens each, from the same prompt. At each step the model is asked how undecided it is, before any setting; that is the entropy in the figure. \emph{Distinct-2} is the number of different pairs of neighbouring tokens in all eight texts, divided by the number of pairs: 1 if no pair comes twice.\side{Li, Galley, Brockett, Gao and Dolan 2016.} It says how various the texts are, and nothing about whether they are any good.
@^distinct-n@>@^entropy@>

Up to a temperature of $1\frac15$ they become more various, and the model, reading what it writes, remains as sure of itself as before; the texts stay within the grammar. Above it is another picture: a token that does not fit is taken now and then, the model has never seen what it should go on from, and becomes unsure, so that the next token is worse. Variety of the one kind and of the other looks the same to the number that counts different pairs.

\fig{warmth}{fig:warmth}{Texts of the built-in model at ten temperatures. Distinct-2 rises all the way. The entropy is the model's own, before the temperature: it says how sure the model is of the next token after what it has written itself, and it breaks away when the text does.}{Two curves over the temperature from a fifth to 2. Distinct-2 rises from a third to three quarters at temperature 1 and to nearly 1. The entropy stays below one bit until the temperature is a little above 1 and then rises to more than two.}

@* A fork. \label{sec:fork}
A tutorial asks us to imagine that at the tenth token ``however'' and ``additionally'' both have a probability of 15 percent.\lab{lab:fork} With the built-in model nobody has to imagine it: its grammar has such a sentence, of nine tokens, and the model has learnt it well. The two words have \val[3]{sampling.fork.p.1} and \val[3]{sampling.fork.p.2}, together \val[2]{sampling.fork.either}. (At 15 percent each it would be \val[2]{sampling.fork.wanted}, and two texts would part there, one each way, in \val[3]{claim.S3-47} of the cases; with the model's numbers it is \val[3]{sampling.fork.both}.) \Cref{fig:fork} has both ways.

\widefig{fork}{fig:fork}{Nine tokens, and two ways on. Which of them is taken at the tenth decides about everything that follows: continued greedily, the one goes on with a bridge, and the other with mice.}{Nine outlined tokens: The harvest of the kingdom was very good. After them the way parts. Above, Additionally, then: the new bridge. Below, However, nearly as likely, then: the mice had.}

Of \val{sampling.fork.draws} draws \val[3]{sampling.fork.took.1} took the first way and \val[3]{sampling.fork.took.2} the second. Two draws agree in \val[3]{sampling.agree.found} of the pairs, where \val[3]{sampling.agree.expected} are to be expected: hardly one pair in ten has even its first word in common. To draw so often the pass through the model is made once, since a draw depends on the seed and not on when it is made.
@^fork@>

@ What does greedy decoding do at such a fork? It takes the likelier way, however small its lead. To see an exact tie one has to be made: a bias on the second lifts its score to that of the first, without rounding, since both are floats. Then the lower id is taken, for ever. A temperature that is nearly zero is not greedy at a tie: of \val{sampling.tie.draws} draws at $T=10^{-3}$ the share \val[3]{sampling.tie.cold} takes the first, as a coin would.
@^ties@>

@* Several texts, and what they are worth. \label{sec:several}
Now the four strategies that tutorials list, on one prompt, through the same function: near greedy, hotter, top-k, and the nucleus; and greedy decoding and the model as it is beside them. \Cref{tab:strategies}\lab{lab:several} has \val{sampling.texts} texts of each, of \val{sampling.long} tokens.

\begin{table}[tp]
\tabcaption{tab:strategies}{Six strategies: how many of the texts are different; distinct-2; the model's own entropy and log-probability of a token, in bits. All settings but those named are normal.}
\centering\small
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lrrrr@@{}}
\toprule
& \tabhead{different} & \tabhead{distinct-2} & \tabhead{entropy} & \tabhead{log-probability}\\
\midrule
greedy, $T=0$ & \val{sampling.greedy.different} & \val[2]{sampling.greedy.distinct} & \val[2]{sampling.greedy.entropy} & \val[2]{sampling.greedy.logprob}\\
near greedy, $T=\frac15$ & \val{sampling.near.different} & \val[2]{sampling.near.distinct} & \val[2]{sampling.near.entropy} & \val[2]{sampling.near.logprob}\\
the best 3 & \val{sampling.topk.different} & \val[2]{sampling.topk.distinct} & \val[2]{sampling.topk.entropy} & \val[2]{sampling.topk.logprob}\\
nucleus, $p=\frac7{10}$ & \val{sampling.nucleus.different} & \val[2]{sampling.nucleus.distinct} & \val[2]{sampling.nucleus.entropy} & \val[2]{sampling.nucleus.logprob}\\
as it is, $T=1$ & \val{sampling.plain.different} & \val[2]{sampling.plain.distinct} & \val[2]{sampling.plain.entropy} & \val[2]{sampling.plain.logprob}\\
hotter, $T=\frac32$ & \val{sampling.hotter.different} & \val[2]{sampling.hotter.distinct} & \val[2]{sampling.hotter.entropy} & \val[2]{sampling.hotter.logprob}\\
\bottomrule
\end{tabular*}
\end{table}

Two lines are worth a second look. Near greedy is not greedy: its eight texts are all different, and likelier on the average than the greedy one. Greedy decoding takes the likeliest token at every step, and finds a text that is not the likeliest; chapter 9 goes after that. And the nucleus, which removes up to three tenths of the probability at every place, loses little variety and has two thirds of the surprise. With the extremes everything is as it should be: $k=1$ at $T=1$ wrote the greedy text, \val{sampling.k1.same} tokens of \val{sampling.long}, whatever the seed.

\checkpoint[13,18]{build/out/sampling.txt}{a text of each, with the same seed; a stroke is the end of a line}

Four of the six texts begin alike, and that is no accident. They have the same seed, so the same noise belongs to the same tokens; settings that change the scores a little do not change the winner. Whoever compares settings compares them with the same noise.
@^common random numbers@>

@ The second half of the program writes a text by each strategy, with the same seed.

@<Write a text by each strategy@>=
static const struct { const char *name; double t; size_t k; double p; }
  strategy[] = @[{ {"greedy", 0, 0, 1}, {"near", 0.2, 0, 1},@|
    {"plain", 1, 0, 1}, {"hotter", 1.5, 0, 1}, {"topk", 1, 3, 1},@|
    {"nucleus", 1, 0, 0.7} }@];
enum { N_STRATEGIES = sizeof strategy / sizeof strategy[0], LENGTH = 14 };
static bool write_text(struct session *u, int i, struct error *why)
{
  struct ids prompt = @[{ NULL, 0, 0 }@];
  struct bytes text = @[{ NULL, 0, 0 }@];
  struct continuation c = @[{ .n_prompt = 0 }@];
  struct generate_context g = @[{ &u->e, u->lm, u->s, &u->m }@];
  struct generate_options want = @[{ .max_new_tokens = LENGTH,
    .recall = store_match_prefix,@|
    .select = sampler_choose, .select_ctx = &u->d }@];
  u->d.s = sampling_default, u->d.seed = 2;
  u->d.s.temperature = strategy[i].t;
  u->d.s.top_k = strategy[i].k, u->d.s.top_p = strategy[i].p;
  bool ok = encode(u, "The harvest of the kingdom was very good.", &prompt, why)@|
    && generate(&g, prompt.id, prompt.n, &want, &c, why)@|
    && tokenizer_decode(u->t, &u->m, c.text.id + c.n_prompt, LENGTH, true, &text,
      why);
  for (size_t j = 0; j < text.n; j++)
    if (text.byte[j] == '\n') text.byte[j] = '/';
  if (ok) printf("%-8s%.*s\n", strategy[i].name,@|
    (int) (text.n < 50 ? text.n : 50), (const char *) text.byte);
  bytes_free(&u->m, &text);
  continuation_free(&u->m, &c);
  ids_free(&u->m, &prompt);
  return ok;
}

@ Whoever judges a model by one text judges the draw as well. Let some property of a text be there with the probability $p$; here, that the text goes on with the first of the two words of the fork. The share found in $n$ texts has the expectation $p$ and the \emph{standard error}
\begin{equation}\label{eq:stderr}
  \sqrt{\frac{p(1-p)}n}.
\end{equation}
For each text the answer is 1 or 0, with the variance $p(1-p)^2+(1-p)p^2=p(1-p)$; the texts are independent, so the variances add up, and that of their mean is a single one's divided by $n$. To see the error itself, the experiment of $n$ texts is repeated over and over. For $n=1$ it is \val[3]{sampling.error.expected.1} by the formula and \val[3]{sampling.error.found.1} in the experiment, more than the share itself; for $n=10^2$ it is \val[3]{sampling.error.expected.100} and \val[3]{sampling.error.found.100}. Ten times the accuracy costs $10^2$ times the texts.
@^standard error@>

@* Repetition. \label{sec:loops}
Greedy decoding of the built-in model, with the end token ignored, comes into a circle by itself: a little story about the harvest, whose first sentence is the prompt, of \val{sampling.loop.none.circle} tokens ends, begins again, and is told in the same words, because after the same text the same model says the same. Which of the measures breaks the circle, when, and at what price? \Cref{tab:circles}\lab{lab:circles} says it for \val{sampling.loop.long} tokens, and \cref{fig:circles} draws it.

\begin{table}[tp]
\tabcaption{tab:circles}{Seven attempts at a greedy circle: the length of the circle at the end, 0 for none; the first step at which the measure changed the choice, and how often it did; the mean log-probability of a token, in bits. A temperature is no penalty: it changes the draw, and never the best token.}
\centering\small
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lrrrr@@{}}
\toprule
& \tabhead{circle} & \tabhead{first} & \tabhead{times} & \tabhead{log-probability}\\
\midrule
nothing & \val{sampling.loop.none.circle} & --- & \val{sampling.loop.none.acted} & \val[2]{sampling.loop.none.logprob}\\
presence penalty 1 & \val{sampling.loop.presence.circle} & \val{sampling.loop.presence.first} & \val{sampling.loop.presence.acted} & \val[2]{sampling.loop.presence.logprob}\\
frequency penalty 0.5 & \val{sampling.loop.frequency.circle} & \val{sampling.loop.frequency.first} & \val{sampling.loop.frequency.acted} & \val[2]{sampling.loop.frequency.logprob}\\
repetition penalty 1.1 & \val{sampling.loop.repetition.circle} & \val{sampling.loop.repetition.first} & \val{sampling.loop.repetition.acted} & \val[2]{sampling.loop.repetition.logprob}\\
repetition penalty 1.5 & \val{sampling.loop.strong.circle} & \val{sampling.loop.strong.first} & \val{sampling.loop.strong.acted} & \val[2]{sampling.loop.strong.logprob}\\
no 4-gram twice & \val{sampling.loop.ngram.circle} & \val{sampling.loop.ngram.first} & \val{sampling.loop.ngram.acted} & \val[2]{sampling.loop.ngram.logprob}\\
temperature 1 & \val{sampling.loop.warmth.circle} & --- & \val{sampling.loop.warmth.acted} & \val[2]{sampling.loop.warmth.logprob}\\
\bottomrule
\end{tabular*}
\end{table}

\fig{circles}{fig:circles}{The surprise of all tokens so far, for four of the attempts. The circle climbs by the same amount in each round, mostly where the story might have been another. The weaker repetition penalty costs hardly more; sampling costs most.}{Four curves of surprise over the tokens written, in bits. Greedy decoding rises in equal steps, one for each round. The weaker repetition penalty stays close to it. No 4-gram twice jumps once and then rises. Temperature 1 rises fastest.}

All of them work here, and some are cheap: the frequency penalty has even led to a likelier text, for greedy decoding had not looked for the likeliest. The n-gram ban acts latest, when the story begins for the second time, and needs to act twice; the strong penalty acts from the third token on, at places where nothing was wrong. It cannot know: a penalty on tokens sees words that have been said, not circles. That they work here does not mean that they work, as a toy will show.

@* Where each of them fails. \label{sec:toyloop}
A toy is enough to see it.\lab{lab:toyloop} It is a model whose logits are 5, 3 and $2\frac12$ for ever, whatever stands before; greedy decoding writes its first token for ever. A presence penalty of 1 lowers that token to 4, and it stays the best: of \val{sampling.toy.presence1.length} tokens \val{sampling.toy.presence1.others} are others. One of $2\frac12$ lowers it so far that the second wins, \val[word]{sampling.toy.presence2.others} time; then both have been seen, both are lowered alike, and the circle is back. (The first has $2\frac12$ then, like the third, and wins by its id.) A repetition penalty of $\frac65$ divides 5 by so little that it stays above 3; one of 2 lets the second come \val[word]{sampling.toy.repetition2.others} time, and then halves both. A frequency penalty of $\frac12$ grows with each use, and never lets one token win for ever;
it makes a circle of \val[word]{sampling.toy.frequency.circle} tokens instead of one.
Only the ban of 2-grams ends the repetition, and with it the text: after \val[word]{sampling.toy.ngram.length} tokens every pair that could come next has been used, nothing is left, and that is an error.

So of the four only n-gram blocking guarantees that nothing comes back, and its guarantee has a price. With $V$ tokens there are $V^2$ pairs, each at most once; a text without a repeated pair has at most $V^2+1$ tokens, and may come to a dead end long before.

@* A model that reads itself. \label{sec:exposure}
In training a model reads true texts, and is asked for the next token of each; in writing it reads what it has written. An error of its own is a beginning that it has never seen, and the next token is predicted from there. This difference is called \emph{exposure bias}.\side{Bengio, Vinyals, Jaitly and Shazeer 2015; Ranzato and others 2016.} How much does it cost? A simple calculation first. Let a writer go wrong with the probability $e$ a token, and recover from an error with the probability $r$ a token. In the long run it goes wrong as often as it recovers: if $x$ is the share of tokens in the wrong, $(1-x)e=xr$, so
\begin{equation}\label{eq:exposure}
  x=\frac{e}{e+r}.
\end{equation}
With $e=0.01$ and $r=0.1$ the share \val[2]{claim.S1-40} of the tokens is wrong, nine times as many as when each is predicted from a true beginning.
@^exposure bias@>@^teacher forcing@>

@ For the built-in model it can be measured in a text of its grammar that it has not been trained on. At every fifth place, from the tenth on, the true text is cut off, and the model writes on greedily, for \val{sampling.exposure.places} tokens. The first of these it predicts from a true beginning; the second already from one that it may have got wrong; and so on. Counted is how often the token in each place is the true one. Not every other token is an error, as many words would do; but where the model is given the true text, at the same places, as many words would do as well.

\Cref{fig:exposure}\lab{lab:exposure} has the result. With the true text before it the model has the right token in \val[2]{sampling.forced.1} of \val{sampling.exposure.tries} places, and it does as well at each of the others; at the last it is \val[2]{sampling.forced.last}. On its own it has \val[2]{sampling.free.1} at the first and \val[2]{sampling.free.last} at the last. That is no proof of bad writing: both texts may be good tales. It is the measure of how fast a text that was left to itself parts from one that was not.

\fig{exposure}{fig:exposure}{How often the token is the true one, place by place. Given the true text each time, the model loses nothing on the way; given its own, it has left the true text behind after a dozen tokens, mostly for another that would have done as well.}{Two curves over places 1 to 16. The one for true beginnings stays near five sixths. The one for the model's own text begins there and falls to a seventh.}

@* Another order of summation. \label{sec:otherorder}
Greedy decoding is deterministic, it is said, ``assuming identical infrastructure''. The assumption is that every sum is added up in the same order. In this book it is, by definition; elsewhere it depends on the number of texts that are computed at once, on the kernel that was chosen for their number, and on the device. What would another order change? It is easy to try: the table of kernels gets another |linear|, which adds its products one after the other instead of in sixteen lanes.\lab{lab:otherorder}

Of \val{sampling.order.entries} logits, after \val{sampling.order.places} tokens of a tale, the share \val[3]{sampling.order.differ} differ, the most by \val[1]{sampling.order.most} millionths. So nearly every number is another; and how many tokens? Of the \val{sampling.order.places} likeliest, \val{sampling.order.flips}; of \val{sampling.order.draws} that were drawn, \val{sampling.order.drawn}. For a token to flip two sums must be closer together than the difference, and with a dozen candidates some bits apart that is rare. But it is not never. A text of $10^3$ tokens has $10^3$ chances, a service writes texts all day, and after the first flip everything is another text. It did not happen in these; elsewhere it has been reported often enough, by people who were told that it cannot be.
@^order of summation@>@^determinism@>

@* The order of the stages. \label{sec:stageorder}
OpenAI and vLLM divide by the temperature before they cut; llama.cpp cuts before it divides, and does the dividing last; Hugging Face has most of the first order, but bans n-grams and bad words after the penalties, and knows nothing of presence. Users of each expect their own. Since the order is a list here, either is one option away; but how often does it matter?\lab{lab:stageorder}

It matters when the temperature changes what the cut sees. A temperature above 1 flattens; then top-p and min-p leave more tokens if they come after it, and fewer if before. Top-k is indifferent, since the order of the tokens is the same. At $T=2$ a nucleus of nine tenths has \val{sampling.order.before} tokens at the fork if the temperature comes first, and \val{sampling.order.after} if it comes last. Of \val{sampling.orders.sets} sets of settings, drawn by the generator of this chapter with another last word of the counter, \val{sampling.orders.differ} leave other tokens in the two orders. A published recommendation of a temperature and a top-p means one thing in one program, and another in the next.

@* What it costs. \label{sec:samplingcost}
A vocabulary of \val{sampling.large} tokens, Llama 3's, is filled with scores from a normal distribution, three times as wide as the standard one; no model is involved, since it is the sampler that we measure.\lab{lab:samplingcost} The counters of the funnel say how many random numbers and how many logarithms a choice took. If nothing is cut, all \val{sampling.plain.left} tokens race, and \val{sampling.plain.bits} random numbers are made; but the bound lets only \val{sampling.plain.noises} of them through to the two logarithms. After a nucleus of nine tenths \val{sampling.nucleus.left} tokens are left, and \val[word]{sampling.nucleus.noises} noises are computed; with settings as one finds them recommended, a temperature of $\frac45$, the best 40, a share of $\frac{19}{20}$ and a twentieth of the best, \val{sampling.usual.left} are left.
@^cost of sampling@>

\fig{samplerclock}{fig:samplerclock}{What a choice among \val{sampling.large} tokens takes on one core. With nothing cut, most of the time goes into random bits; with a nucleus, into sorting. The usual settings cut to a few dozen tokens before anything dear is done. Measured once, on the machine that the file of the numbers names.}{Five bars: greedy, the usual settings, a nucleus, typical sampling, and nothing cut. All are below five milliseconds.}

In the same time a model reads a small part of its weights. The sampler is not what one waits for, as long as it does not sort by comparisons and does not compute what it does not need.

@* What others do. \label{sec:samplingothers}
Each stage of this chapter is in every program of the kind, and hardly two programs agree on all of its edges. \Cref{tab:others} has those where a user can see the difference. We took what most of them do, unless it left something open, or depended on the order of a sum: then we took what can be written down. So a text that was drawn elsewhere, with the same settings and even the same seed, is not drawn here again; what can be compared are the distributions, and for those there are some $5\cdot10^2$ cases in the tests, made by the programs themselves, each with its difference explained or none.

\begin{table}[tp]
\tabcaption{tab:others}{Where programs differ, and what is done here. Found in their sources, in 2026; a dash: there is no such thing.}
\centering\footnotesize
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lllll@@{}}
\toprule
& \tabhead{Hugging Face} & \tabhead{vLLM} & \tabhead{llama.cpp} & \tabhead{here}\\
\midrule
tied at the $k$th place & all stay & all stay & $k$, any & $k$, lower ids\\
top-p, all equal & highest ids & highest ids & any & lowest ids\\
min-p & before typical & before top-k & before $T$ & after top-p\\
penalties look at & prompt, text & prompt, text & last 64 & prompt, text\\
frequency counts & --- & text & last 64 & text\\
temperature 0 & refused & greedy & greedy & greedy\\
nothing is left & token 0 & any token & last token & an error\\
a NaN & that token & undefined & undefined & an error\\
randomness & one for a batch & one a request & one a slot & none is kept\\
\bottomrule
\end{tabular*}
\end{table}

@* What the tutorials say. \label{sec:samplingtutorials}
Most of what is said about sampling is right, and right in the same words. Five statements need another one beside them.

\begin{tutorial}{offbyone}{S1-30}
\quoted{Sample from the smallest set of tokens whose cumulative probability exceeds}
\ourrun of four tokens with a quarter each, \val{sampling.reach} reach a half, and \val{claim.S1-30} are needed to exceed it; and with a share of 1 nothing exceeds it. The paper, and every program that we know of, has ``reaches''.
\end{tutorial}

\begin{tutorial}{misleading}{S2-97}
\quoted{Use 0.0-0.3 for factual tasks, 0.7-1.0 for creative tasks.}
\ourrun a temperature of 0 is no small temperature. It is a branch of the program, since the formula divides by it; at a tie the two differ (\val[3]{sampling.tie.cold} of the draws at $10^{-3}$, all or none at 0), and some programs refuse it.
\end{tutorial}

\begin{tutorial}{misleading}{S2-10}
\quoted{Greedy decoding often produces repetitive or generic text because it always takes the safe, high-probability path.}
\ourrun it takes the likeliest next token, and that is not the likeliest path: the greedy text of \cref{tab:strategies} has \val[2]{sampling.greedy.logprob} bits a token, and texts drawn at a temperature of $\frac15$ have \val[2]{sampling.near.logprob} on the average.
\end{tutorial}

\begin{tutorial}{misleading}{S3-45}
\quoted{Even if the probability distribution is identical each time, the random sampling produces different tokens.}
\ourrun it may: at the fork two draws agree in \val[3]{sampling.agree.found} of the pairs, and where the model is sure nearly always. With the same seed they agree in all of them.
\end{tutorial}

\begin{tutorial}{misleading}{S2-103}
\quoted{repetition penalty, frequency penalty, presence penalty, and n-gram blocking prevent language models from getting stuck in repetitive loops}
\ourrun in the toy of \cref{sec:toyloop} both presence penalties and both repetition penalties end in the circle that they began with, the frequency penalty in one of \val[word]{sampling.toy.frequency.circle}, and n-gram blocking after \val[word]{sampling.toy.ngram.length} tokens with nothing left to say. In a real text they help, mostly.
\end{tutorial}

@ The others, in one paragraph each. Greedy decoding gives the same text for the same prompt (S1-27, S2-08, S2-100, S3-22); one source says ``always'' and another, rightly, ``assuming identical infrastructure'' (S3-49), and \cref{sec:otherorder} has put a number to the assumption. It repeats itself (S1-28, S3-23): of random tables, \val{sampling.cycle.tables} of them, in which the next of four tokens depends on the last three, all end in a circle, of \val[1]{sampling.cycle.mean} tokens on the average and \val{sampling.cycle.longest} at most, as they must, with 64 states. That greedy decoding is temperature 0 (S3-21) is a convention, and a good one.

Top-k keeps $k$ (S1-29); a nucleus adapts to the distribution, which a fixed $k$ does not (S1-31, S2-105): at the fork of \cref{sec:stageorder} and in the funnel the same $p$ leaves very different numbers. A temperature below 1 sharpens and one above 1 flattens (S1-32, S2-87, S2-88, S2-96, S3-24, S3-25); the entropies are in \cref{sec:heat}. Every choice above temperature 0 involves chance (S3-44), except where one token is left: top-k with $k=1$ repeats the greedy text. One different choice can change everything that follows (S3-46): if two texts agree at each step with the probability $\frac9{10}$, they agree for $10^2$ steps with \val[6]{sampling.agree.90}, and with 0.99 still only with \val[3]{claim.S3-46}.

One output is no evaluation (S3-48): where half of the answers are right, the standard error is \val[2]{sampling.error.one} with one text and \val[2]{claim.S3-48} with $10^2$. Errors of a model's own go on from errors (S1-40), and with an error of one percent a token a text of $10^2$ tokens is free of them with \val[3]{sampling.drift.100}, one five times as long with \val[4]{claim.S3-51} (S3-51), if they come independently, which they do not: that is exposure bias.
Which strategy most chatbots use (S3-26), and that beams are commoner in translation (S1-34), no program can decide.


@* Exercises. \label{sec:samplingexercises}
The command beside an exercise judges your answer by what the funnel does with it.

\begin{exercises}
\exercise{check}{ex:sampling.share}{Five tokens have the probabilities $\frac{16}{31}$, $\frac{8}{31}$, $\frac{4}{31}$, $\frac{2}{31}$ and $\frac{1}{31}$. How many of them does top-p with $p=0.9$ leave, after a temperature of 1, of $\frac12$ and of 2?}{\texttt{make exercise-07-1}}{At 1 the first three have $28/31$, which reaches $0.9$: 3. At $\frac12$ the weights are 256, 64, 16, 4 and 1, and the first two have $320/341$: 2. At 2 they are 4, $2\sqrt2$, 2, $\sqrt2$ and 1; three have less than four fifths, and it takes 4.}
\exercise{check}{ex:sampling.marks}{A token stands in the text three times, once of them in the prompt. Its logit is 3; the penalties are $r=\frac32$, $\alpha=\frac14$ and $\beta=\frac12$. What is its score after them? And if its logit is $-3$?}{\texttt{make exercise-07-2}}{$3/\frac32-(2\cdot\frac14+\frac12)=1$, and $-3\cdot\frac32-1=-5\frac12$. The repetition penalty looks at the prompt, too, but does not count; the other two count, but only what has been written.}
\exercise{think}{ex:sampling.half}{The likeliest of 26 tokens has the probability $\frac14$, each of the others $0.03$. At which temperature does it have $\frac12$, and at which $0.99$? Give three decimals.}{\texttt{make exercise-07-3}}{Its ratio to each of the others is $\frac{25}{3}$. At the temperature $T$ that is $(\frac{25}{3})^{1/T}$, and it has to be 25, or $25\cdot99$: $T=\ln\frac{25}{3}/\ln25=0.659$, and $T=\ln\frac{25}{3}/\ln(25\cdot99)=0.271$.}
\exercise{think}{ex:sampling.orders}{Find four probabilities, a $k$, a $p$ and a $T$ for which three orders of the same stages leave different numbers of tokens: top-p, top-k, temperature leaves three; top-k, top-p, temperature two; temperature, top-k, top-p one.}{\texttt{make exercise-07-4}}{For instance $\frac{5}{12}$, $\frac{4}{12}$, $\frac{2}{12}$ and $\frac{1}{12}$, with $k=3$, $p=0.8$ and $T=\frac18$. Of all, it takes three to reach $p$. Of the best three, which have 11 twelfths, it takes two, with $9/11$; and of the eighth powers of 5, 4 and 2 the first alone has more than four fifths of the sum. With top-k first never more are left than with top-p first: $p$ is then a share of less.}
\exercise{think}{ex:sampling.zero}{Two tokens have the logits 5 and 2. The first stands in the history, and $r=2$. Which two numbers, each added to both logits, make the tokens equally likely after the penalty?}{\texttt{make exercise-07-5}}{$(5+c)/2=2+c$ gives $c=1$, and $2(5+c)=2+c$ gives $c=-8$; the first token's score is positive with the one and negative with the other, as it has to be. Without the penalty it is $e^3$ times as likely as the second, whatever is added. At $c=-5$ the penalty does nothing at all.}
\exercise{think}{ex:sampling.deadend}{A vocabulary has three tokens, and no pair of tokens may come twice ($n=2$). Write the shortest text after which no token is left, and a longest one.}{\texttt{make exercise-07-6}}{After a token $a$ nothing is left when $aa$, $ab$ and $ac$ have all occurred: $aabaca$, six tokens, or $2v$ for a vocabulary of $v$. There are $v^2$ pairs, and none comes twice, so $v^2+1$ tokens are the most; a round that goes through all pairs exists: $aabbccacba$.}
\exercise{think}{ex:sampling.records}{Four tokens with the weights 8, 4, 2 and 1 race, and are looked at in this order. How often is one of them the best so far, on average? And in the reverse order? Give two decimals.}{\texttt{make exercise-07-7}}{The $i$th is the best so far if it wins the race among the first $i$: $\frac88+\frac{4}{12}+\frac{2}{14}+\frac{1}{15}=1.54$, and $\frac11+\frac23+\frac47+\frac{8}{15}=2.77$. With equal weights either would be $1+\frac12+\frac13+\frac14$, and this sum is where the $\ln n$ comes from.}
\exercise{build}{ex:sampling.sigma}{\emph{Top-n-sigma} keeps the tokens whose score lies no more than $n\sigma$ below the best, where $\sigma^2$ is the mean of the squared differences of the scores that are left from their mean. Make it a stage: a setting \texttt{top\_n\_sigma} from 0 upwards, 0 being off; the same name in lists of stages; and the last place in the normal order. Does it matter whether it stands before the temperature or after it?}{\texttt{make exercise-07-8}}{A function in \texttt{funnel.c}, and a line each in the list of stages, the structure, the table of reals, the normal order, the names, and |sampling_stage_run|. Who forgets the normal order leaves a zero in its last place, and the stage 0 runs twice: it adds every bias once more. The temperature divides the differences and $\sigma$ by the same number, so it does not matter.}
\exercise{build}{ex:sampling.textbook}{Let |funnel_choose| draw as the textbook does: one number $u$ for the place, made of the bits of the id 0; the tokens by falling score; and the first of them at which the running sum of the weights exceeds $uW$. Then three tokens have the probabilities $\frac12$, $\frac{3}{10}$ and $\frac15$, and one that was not chosen is struck out. In what share of the places does the choice change, if it is the last of the three? And if it is the first?}{\texttt{make exercise-07-9}}{Walk along |weight| after |sort_descending|. Without the last the boundary between the other two moves from $\frac12$ to $\frac58$: that changes $\frac18$ of all choices, out of $\frac45$, or $0.156$.
Without the first the second reaches from 0 to $\frac35$, and the third from there: whoever had a $u$ between $\frac35$ and $\frac45$ gets another token, $\frac15$ out of $\frac12$, or $0.4$. In the race both shares are 0.}
\exercise{build}{ex:sampling.dry}{\emph{DRY} marks down what would go on with a repetition. For each earlier place of the text, but the very first, let $l$ be how many tokens before it agree with the last tokens of the text, counted backwards from both. If $l\ge a$ for a token at such a place, $m\,b^{\,l-a}$ is subtracted from its score, once, for the largest $l$ that it has; $a\ge1$, and $m=0$ is off. Write |stage_dry(f, m, b, a, id, n)| for |double| $m$ and $b$ and the text |id[n]|.}{\texttt{make exercise-07-10}}{The funnel's counts can hold the largest $l$ of each token, if they are put back to zero. The list must come into the order of ids before a score is changed. The time is a product of the text's length and the length of its repetitions: a text of one token only is the worst.}
\end{exercises}
