@i types.w
@s size_t int

\chapterquestion{The model has said how likely each token is, and has chosen none. Who chooses, and how can the same
choice be made again tomorrow?}
@** Sampling: temperature, top-k, top-p, penalties, seeds.
\incipit{A}{t the end} of a pass you hold a list of numbers, a \emph{logit} for each token of the vocabulary. The model is done, and it has not written anything yet. Which token do you take? Take the likeliest, and the same prompt has one continuation for ever, which may go round in a circle. Draw at random, and you have as many continuations as you like, some of them bad. So programs adjust the distribution before they draw. They sharpen or flatten it, cut off its tail, penalize tokens that have been written, and strike out tokens that must not be. Each of these is a small operation on a list of numbers, and most of what you can set when you use a language model is one of them. Programs agree about the formulas. They differ in the order of the operations, at ties, at a sum that is reached exactly, and where no token is left.
@^sampling@>

This chapter defines each operation, down to the last tie, and puts them in an order. Then we draw. A random number generator usually has a state. If two texts share it, each takes numbers that the other would have taken: write a second text, and the first is another, though its seed is the same. Ours has no state. The random number that decides about a token is a function of four things: the seed, the index of the text, the position, and the token. So you can write a text again, alone or among many others, in one piece or with a pause, and it is the same text.

\begin{byhand}{four tokens, five ways}
A model gives \tok{on}, \tok{in}, \tok{by} and \tok{to} the probabilities $0.4$, $0.3$, $0.2$ and $0.1$.

\medskip
\begin{tabular}{@@{}lrrrr@@{}}
& \tabhead{on} & \tabhead{in} & \tabhead{by} & \tabhead{to}\\
the model & 0.40 & 0.30 & 0.20 & 0.10\\
squared & 0.16 & 0.09 & 0.04 & 0.01\\
temperature $\frac12$ & 0.53 & 0.30 & 0.13 & 0.03\\
top-k, $k=2$ & 0.57 & 0.43 & &\\
top-p, $p=0.85$ & 0.44 & 0.33 & 0.22 &\\
min-p, $m=0.4$ & 0.44 & 0.33 & 0.22 &\\
typical, $p=0.45$ & & 0.60 & 0.40 &
\end{tabular}
\medskip

Before you read on, do the third line yourself. A temperature of $\frac12$ divides the logits by $\frac12$, which doubles them, and so squares the probabilities. The squares add up to $0.30$, and divided by that they give the third line. Top-k keeps the best two, with the sum $0.70$; $0.40/0.70=0.57$. Top-p keeps the fewest that have $0.85$ together: two have $0.70$, three have $0.90$. Min-p keeps those that are at least $0.4$ times as likely as the best, so the threshold is $0.16$. Typical sampling may drop the likeliest token; \cref{sec:tails} says why.
\end{byhand}

@* The sampler's pipeline. \label{sec:pipeline}
\Cref{fig:sampler} shows the way from the logits to the token. We call each box a \emph{stage}; Hugging Face's library says \emph{logits processor}, and \emph{logits warper} for those from the temperature on, which run only when it samples; llama.cpp has a \emph{sampler chain}. The first stages change logits by what the text already contains. The temperature changes all of them by one rule. The next four only remove tokens. The last draws one of those that are left.
@^logits processor@>@^sampler chain@>@^stage@>

\widefig{sampler}{fig:sampler}{The sampler's pipeline, in its normal order. $z$ is the logit of a token, $p$ its probability, $w$ its probability over that of the best.}{Two rows of boxes joined by arrows. The upper row: the logits of the vocabulary; a mask, if a grammar says which tokens may come; bias, z plus b; penalties, z over r, or z minus c alpha plus beta; n-gram ban, minus infinity; temperature, z over T. The lower row, from right to left: top-k, the k best; top-p, the fewest with a share; min-p, w at least m; typical, minus log p near H; draw, the greatest z plus g; one token.}

What happens if you set nothing? Programs differ here more than in the formulas. Hugging Face's |generate| takes the likeliest token unless you ask it to sample, and then it cuts to the best 50. llama.cpp always samples, with a temperature of \given{0.8} and three cuts. vLLM leaves the distribution as it is. So ``the same model with the default settings'' is three different samplers. \Cref{tab:sampler} lists an option for each stage, and its \emph{neutral} value, with which the stage does nothing. A model's publisher may put recommended values into a file, \.{generation\_config.json}; Hugging Face, vLLM's server and our command take those first. (Where the file is silent, our command takes the likeliest token.)
@^default settings@>@^generation\_config.json@>@^neutral value@>@^vLLM@>@^llama.cpp@>@^Hugging Face@>

\begin{table}[tp]
\tabcaption{tab:sampler}{The options of a sampler, their ranges here, and their values where nothing is said, in Hugging Face's library when it samples, in vLLM, and in llama.cpp. The neutral values are those of |sampling_default|. A dash: the program has no such option. Found in their documentation and sources, in 2026.}
\centering\footnotesize\tabcolsep=3pt
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}llccrrr@@{}}
\toprule
\tabhead{stage} & \tabhead{option} & \tabhead{neutral} & \tabhead{range} & \tabhead{HF} & \tabhead{vLLM} & \tabhead{llama.cpp}\\
\midrule
bias & \.{logit-bias} & none & $<\infty$ & none & none & none\\
penalties & \.{repetition-penalty} & 1 & $>0$ & 1 & 1 & 1\\
& \.{frequency-penalty} & 0 & finite & --- & 0 & 0\\
& \.{presence-penalty} & 0 & finite & --- & 0 & 0\\
& \.{penalty-last-n} & $-1$ & $\ge-1$ & --- & --- & 64\\
n-gram ban & \.{no-repeat-ngram-size} & 0 & $\ge0$ & 0 & --- & ---\\
temperature & \.{temperature} & 1 & 0 to $10^4$ & 1 & 1 & \given{0.8}\\
top-k & \.{top-k} & 0 & $\ge0$ & 50 & 0 & 40\\
top-p & \.{top-p} & 1 & 0 to 1 & 1 & 1 & \given{0.95}\\
min-p & \.{min-p} & 0 & 0 to 1 & 0 & 0 & \given{0.05}\\
typical & \.{typical-p} & 1 & $>0$ to 1 & 1 & --- & 1\\
draw & \.{seed} & & 64 bits & random & random & random\\
\bottomrule
\end{tabular*}
\end{table}

@ The chapter makes three pairs of files. |draws| makes the random numbers; |funnel| holds the tokens that are left, and the stages; |sampling| is about the options, the order of the stages, and the function that the loop of \cref{loop} calls when it wants a token. A short program follows one distribution through all stages (\cref{sec:funnelseen}). The laboratory measured what the options do to a text, and we tell its results from \cref{sec:heat} on.

@* The candidate list. \label{sec:funnel}
A sampler begins with all tokens and ends with one, and on the way there are fewer and fewer. So we call what it works on a \emph{funnel}. It has the \emph{candidates}, a list of the tokens that are left, and a copy of all logits in double precision. The stages change this copy, so the code calls it |score|. A token that is taken out gets the logit $-\infty$, which is the probability 0, and leaves the list.
@^score@>

The list is in one of two orders: by rising id, as in the vocabulary, or by falling logit, where of equal logits the lower id comes first. Sorting costs work; so the funnel remembers in which order the list is.
@^funnel@>@^candidate@>

@<The tokens that are left, and their logits@>=
struct sort_item {@+ uint64_t key;@+ uint32_t id;@+ };
  /* an id, and what it is sorted by */
struct funnel {@+ struct arena buffers;@+ const struct kernels *k;
  size_t vocab, n;@+ double *score;@+ uint32_t *candidates;@+ bool sorted, overflow;
  const uint8_t *allowed;@+ @<Scratch memory of the stages@>@;@+ };
  /* |n| tokens are left, |candidates[n]|, by falling score if |sorted|, or else by rising id;
     |score[vocab]| are the scores, $-\infty$ where a token is out; |overflow|: a stage
     has made one that is $+\infty$ or a NaN. |allowed| is borrowed, and null
     unless there is a mask: then a token with 0 in |allowed[vocab]| is out from the beginning */
bool funnel_open(struct funnel *f, struct memory *m,
  const struct kernels *k, size_t vocab, struct error *why);
  /* allocates the buffers for |vocab| $\ge1$ tokens; |m| and |k| are borrowed and must
     outlive it; on failure there is nothing to close, but it does no harm */
void funnel_close(struct funnel *f);
  /* frees the buffers */
bool funnel_fill(struct funnel *f, const float *logits, struct error *why);
  /* begins anew with |logits[vocab]|; those that are $-\infty$ are out; errors: NaN,
     $+\infty$, or no finite logit */

@ The stages have scratch memory as well, which we explain where it is used. All buffers are allocated once and serve every token of a text (\.{unwoven/sampling/buffers.c}): 56 bytes for each token of the vocabulary, \val{sampling.room} for one of \val{sampling.large}. That is little beside any model with such a vocabulary.

@<Scratch memory of the stages@>=
double *weight; /* |weight[i]| belongs to |candidates[i]| */
struct sort_item *sort_buf, *sort_spare; /* for sorting */
uint32_t *count; /* of each token in a history; all zero between two calls */
uint64_t bits, noises; /* how often a draw took random bits, and made noise of them */

@ The model's logits are floats. From here on they are doubles, because the stages divide, exponentiate and add, and a float might lose the digit that a later comparison needs. What if a logit is not a number? Every comparison with a NaN is false, so a NaN would win or lose by the accident of how we write a loop. A logit of $+\infty$ would be certain, as would every other token that has it. And if no token is left, what should we return?
@^NaN@>@^infinity@>

Other programs return something. When all logits are $-\infty$, one takes the first token and another the last. With a NaN some write one token for ever; users have reported screens full of exclamation marks, because the token 0 is an exclamation mark in some vocabularies. We think that you would rather know. Here each of the three is an error, always, and the message names the first logit that is wrong.

(In the loop we store an id first, and count it only if the token stays. An |if| around the store would be a jump that the processor has to guess; \cref{sec:radix} shows more of these.)

@<Fill the funnel@>=
bool funnel_fill(struct funnel *f, const float *logits, struct error *why)
{
  f->n = 0, f->sorted = f->overflow = false;
  for (size_t i = 0; i < f->vocab; i++) {
    f->score[i] = (double) logits[i];
    if (logits[i] != logits[i] || f->score[i] == INFINITY)
      return error_say(why, "logit %zu is %s; wanted: a number,"
        " or -inf for a token that is out", i, f->score[i] == INFINITY ? "inf" : "nan");
    if (f->allowed != NULL && f->allowed[i] == 0)@+ f->score[i] = -INFINITY;
    f->candidates[f->n] = (uint32_t) i; /* stored in any case: an |if| would be guessed wrong */
    f->n += f->score[i] > -INFINITY;
  }
  return f->n > 0 || error_say(why, "all %zu logits are -inf%s;"
    " wanted: a token to choose", f->vocab,@|
    f->allowed != NULL ? ", or not allowed" : "");
}

@ A stage takes tokens out in one of two ways. Either it sets their logits to $-\infty$ and calls |drop_masked|, which keeps the other candidates in their order. Or it keeps the first |n| candidates, and calls |truncate_to|. (A stage can make a NaN, as $\infty-\infty$. It stays in the list, because |sampling_run| must hear of it in order to report it.)

@<Let those go that are out@>=
static void drop_masked(struct funnel *f)
{
  size_t n = 0;
  for (size_t i = 0; i < f->n; i++) {
    uint32_t id = f->candidates[i];
    f->candidates[n] = id;
    n += f->score[id] != -INFINITY; /* a NaN stays, to be reported */
    f->overflow |= !(f->score[id] < INFINITY);
  }
  f->n = n;
}
static void truncate_to(struct funnel *f, size_t n)
{
  for (size_t i = n; i < f->n; i++)@+ f->score[f->candidates[i]] = -INFINITY;
  f->n = n < f->n ? n : f->n;
}

@ Several stages need probabilities. Do they need the division? It is enough to know the \emph{weights} $w=e^d$, where $d=z-\max z$ says how far a logit $z$ is below the best. Weights are probabilities that have not been divided by their sum $W$ yet. The greatest is 1, so nothing overflows, and those that underflow to 0 do no harm. We compute and add the weights in the order of the list: another order might give another sum, and with it another cut. The exponentials come from the kernel that serves attention.
@^weight, of a candidate@>

@<Weigh the tokens that are left@>=
static double max_score(const struct funnel *f)
{
  double max = -INFINITY;
  for (size_t i = 0; i < f->n; i++)
    if (f->score[f->candidates[i]] > max)@+ max = f->score[f->candidates[i]];
  return max;
}
static double softmax_weights(struct funnel *f)
{
  double sum = 0;
  for (size_t i = 0; i < f->n; i++)@+ f->weight[i] = f->score[f->candidates[i]];
  f->k->exp_shifted(f->weight, f->n, max_score(f));
  for (size_t i = 0; i < f->n; i++)@+ sum += f->weight[i];
  return sum;
}

@* Temperature. \label{sec:temperature}
The simplest stage divides every logit by the same number, the \emph{temperature} $T$. The name comes from physics, where a system is in a state of energy $E$ with a probability
proportional to $e^{-E/T}$: the colder it is, the more surely it is in the state of lowest energy.\side{Boltzmann \given{1868}, Gibbs \given{1902}; as a setting for sampling from a network: \cited[Ackley, Hinton and Sejnowski 1985]{Ackley 1985}.} What does $T$
do to a distribution? Look at two tokens. If $p_i=e^{z_i}/\sum_j e^{z_j}$, then
\begin{equation}\label{eq:temperature}
  \frac{p_i(T)}{p_j(T)}=e^{(z_i-z_j)/T}=\Bigl(\frac{p_i}{p_j}\Bigr)^{1/T}.
\end{equation}
A ratio of 4 to 1 becomes 16 to 1 at $T=\frac12$, and 2 to 1 at $T=2$. No ratio crosses 1, so the order of the tokens stays, and with it the likeliest, at every temperature. For $T\to\infty$ all ratios
go to 1, and the distribution becomes uniform. For $T\to0$ each ratio goes to 0 or to infinity, except that of two tokens which are tied.
@^temperature@>

@ And at $T=0$? The formula divides by zero. Everybody who sets it means \emph{greedy decoding}: the likeliest token and no other. That is a branch and no
limit, and at a tie the two differ: the limit shares the probability between the tied tokens, while the branch takes the one with the lowest id. We refuse a $T$ below $10^{-5}$ that is not zero, because the quotients lose their meaning, and one above $10^4$, which leaves hardly a difference between any two tokens. Within this range a quotient may still be too low for a double; then its token is out.
@^greedy decoding@>

@<Divide by the temperature@>=
void funnel_temperature(struct funnel *f, double t)
{
  if (t == 1)@+ return;
  sort_by_id(f);
  if (t == 0) {
    size_t best = 0;
    for (size_t i = 1; i < f->n; i++)
      if (f->score[f->candidates[i]] > f->score[f->candidates[best]])@+ best = i;
    uint32_t id = f->candidates[best];
    f->candidates[best] = f->candidates[0], f->candidates[0] = id;
    truncate_to(f, 1);
  }
  else {
    for (size_t i = 0; i < f->n; i++)@+ f->score[f->candidates[i]] /= t;
    drop_masked(f);
  }
}

@* Truncation: top-k, top-p, min-p, typical. \label{sec:tails}
At any given place of a text, nearly all tokens of the vocabulary are wrong. Each of these has hardly any probability, but there are many. Suppose that together they have three percent. Then a text of \given{100} tokens contains three of them on average; and the model, which takes what it reads for true, goes on from there. So you cut off the tail of the distribution. But where? There are four common answers.
@^truncation@>

\emph{Top-k} keeps the $k$ likeliest tokens, however likely they are.\side{\cited[Fan, Lewis and Dauphin 2018]{Fan 2018}.} Exactly $k$ are left: of tokens that tie for the $k$th place those with the lower ids stay. If the list is sorted already, they are its first $k$. If not, we need not sort it. It is enough to find the key of the $k$th best, |last|, and how many of the tokens with this key may stay, |equals|; then one sweep marks the others. (\Cref{sec:radix} explains keys, which rise as logits fall, and how to find the $k$th.)
@^top-k@>@^tie@>

@<Keep the $k$ best@>=
void funnel_top_k(struct funnel *f, size_t k)
{
  if (k == 0 || k >= f->n)@+ return;
  if (!f->sorted) {
    size_t equals;
    uint64_t last = kth_key(f, k, &equals);
    for (size_t i = 0; i < f->n; i++) {
      uint64_t key = falling_key(f->score[f->candidates[i]]);
      if (key > last || (key == last && equals == 0))
        f->score[f->candidates[i]] = -INFINITY;
      else if (key == last)@+ equals--;
    }
    drop_masked(f);
  }
  else@+ truncate_to(f, k);
}

@ A fixed $k$ is too many where the model is sure and too few where it is not. \emph{Top-p}, or \emph{nucleus sampling}, keeps the fewest of the likeliest tokens whose probabilities add up to a share $p$.\side{\cited[Holtzman, Buys, Du, Forbes and Choi 2020]{Holtzman 2020}.} If $p_1\ge p_2\ge\cdots$ are the probabilities in falling order, it keeps the first $n$, where
\begin{equation}\label{eq:nucleus}
  n=\min\Bigl\{j:\ \sum_{i=1}^j p_i\ge p\Bigr\};
\end{equation}
these tokens are the \emph{nucleus}. With $p=\given{0.9}$ the built-in model keeps \val[word]{sampling.sure} token after \tok{The}\tok{\ cat}\tok{\ sat}\tok{\ on}, and \val{sampling.order.after} at the beginning of a new sentence.
@^top-p@>

@<Keep the fewest that reach a share@>=
void funnel_top_p(struct funnel *f, double p)
{
  if (p == 1)@+ return;
  sort_descending(f);
  keep_share(f, p, softmax_weights(f));
}

@ Is the sum to \emph{reach} $p$, as in \eqref{eq:nucleus}, or to \emph{exceed} it? The paper says that it reaches it; so do today's Hugging Face, vLLM and llama.cpp. Meta's reference implementation of Llama and Karpathy's \.{llama2.c} go on until the sum exceeds it. Of four tokens with a quarter each and $p=\frac12$ the first rule keeps two, the second three; and with $p=1$ the second rule asks for what does not exist. We reach. At least one token always stays; with $p=0$ the rule alone would keep none.

The weights and their sum have been computed in the order of the list, and we add the prefix up in the same order; so however large $p$ is, no rounding can keep the whole list from reaching it. A tie is another matter. For the quarters, whose weights are exactly 1, it comes out as the rule says. But three tokens with $\given{0.4}$, $\given{0.3}$ and $\given{0.2}$ have in doubles the sum $\given{0.8999999999999999}$, and a constant added to all logits, which changes no probability, may move it to the other side of $\given{0.9}$. Where a sum of \emph{unequal} probabilities meets $p$ exactly, rounding decides, in every program.

@<Keep as many as it takes to reach a share@>=
static void keep_share(struct funnel *f, double p, double all)
{
  double sum = 0;
  size_t n = 0;
  while (n < f->n && (n == 0 || sum < p * all))@+ sum += f->weight[n++];
  truncate_to(f, n);
}

@ Top-p has to sort and to add. \emph{Min-p} removes a token that is less than $m$ times as likely as the best.\side{\cited[Nguyen and others 2024]{Nguyen 2024}.} It is a threshold and not a count. All tokens that reach it stay, however many tie; we sort nothing and add nothing, because the weight of a token is that very quotient. Where the model is sure, the threshold is high and few stay; where no token is likely, it is low.
@^min-p@>

@<Keep what is likely enough beside the best@>=
void funnel_min_p(struct funnel *f, double m)
{
  if (m == 0)@+ return;
  softmax_weights(f);
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] < m)@+ f->score[f->candidates[i]] = -INFINITY;
  drop_masked(f);
}

@ \emph{Typical sampling} starts from another thought. A text is not a sequence of likeliest words. At each place people tell about as much as is expected there, and
the likeliest word may tell too little.\side{\cited[Meister, Pimentel, Wiher and Cotterell 2023]{Meister 2023}.} How much a token tells is its information, $-\ln p$; the expectation of that is the \emph{entropy} $H=-\sum p\ln p$. So we order the tokens by $\vert -\ln p-H\vert$, the most typical first, and keep the fewest that have together the share $p$.

With $d=z-\max z$ and $W=\sum w$ we have $\ln p=d-\ln W$, and $H=\ln W-m$ with $m=\sum wd/W$. Hence $\vert -\ln p-H\vert=\vert d-m\vert$: the logarithms cancel, and no token needs one of its own. In our example $H=\given{1.28}$, and the four tokens are $\given{0.36}$, $\given{0.08}$, $\given{0.33}$ and $\given{1.02}$ away from it. So \tok{in} comes first and \tok{by} second; together they have half of the probability, and the likeliest token is left out, for being too likely. (Where a weight underflows to 0 and its distance is infinite, their product would be a NaN; such a token adds nothing to the mean, so we skip it.)
@^typical sampling@>@^entropy@>

@<Keep the most typical that reach a share@>=
void funnel_typical_p(struct funnel *f, double p)
{
  if (p == 1)@+ return;
  sort_by_id(f);
  double max = max_score(f), all = softmax_weights(f), mean = 0;
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] > 0)@+ mean += f->weight[i] * (f->score[f->candidates[i]] - max);
  mean /= all;
  for (size_t i = 0; i < f->n; i++)@+ f->sort_buf[i] = (struct sort_item) @[{@|
    num_bits64(fabs(f->score[f->candidates[i]] - max - mean)), f->candidates[i] }@];
  @<Take the list by rising distance, and keep the share@>@;
}

@ A distance is positive, and the bits of a positive double are in order as they are. For a moment the list is in a third order, by distance. We compute the weights again in that order, since their sum is part of the stage; then the candidates that stay go back into the order of their ids.

@<Take the list by rising distance, and keep the share@>=
sort_list(f);
keep_share(f, p, softmax_weights(f));
restore_id_order(f);

@* Radix sort and selection of logits. \label{sec:radix}
Top-p and typical sampling need a sorted list, and a vocabulary of \val{sampling.large} tokens is a long list to sort for every token of a text. The C library's |qsort| would compare some $2\cdot10^6$ pairs, and after each comparison comes a
jump that the processor can only guess. But our numbers have 64 bits, and such numbers can be sorted without comparing any two of them, as letters are in a sorting office, pigeonhole by pigeonhole. This is called a \emph{radix sort}.
@^radix sort@>

For that a logit must become an integer whose order is the right one. The bits of a double nearly are such an integer: the exponent is above the mantissa, so of two positive numbers the greater has the greater bits. We want falling order; so we subtract them from the bits of infinity. Of two negative numbers the smaller has the greater bits, which is what we want already; and since the sign is the highest bit, negative logits come after all positive ones. A zero may have either sign and is the same logit: adding $+0$ makes both $+0$.

@<A key that rises as the logit falls@>=
/* the bits of a positive double rise with it, and those of a negative one fall; $z+0$ makes
   of both zeros one */
static uint64_t falling_key(double z)
{
  uint64_t u = num_bits64(z + 0.0);
  return (u >> 63) != 0 ? u : 0x7ff0000000000000u - u;
}

@ We sort from the last byte of the key to the first. Each round deals the list out into \given{256} pigeonholes by one byte, and takes it up again in the
order of the holes. Keys in the same hole keep their order; so after eight rounds the list is sorted, and tokens with equal keys are in the order in which they were before, by rising id. That is our rule for ties, for free. If all keys fall into the same hole, the round would change nothing, and we leave it out: if a logit was widened from a float and has not been divided yet, its last three bytes are zero.\side{Punched cards were sorted like this, one column at a time and the last column first, before there were computers.}

Where in the result does a hole begin? After the keys of all holes before it. We count these for all eight rounds in one sweep, because a round moves the keys and does not change them.

@<Sort by the key, and leave equals as they stood@>=
/* deals |sort_buf| out by one byte of the keys; equal bytes stay in their order, so rounds
   from the last byte to the first sort by the whole key */
static void radix_scatter(struct funnel *f, const size_t *count, unsigned shift)
{
  size_t at[256], sum = 0;
  for (int d = 0; d < 256; d++)@+ at[d] = sum, sum += count[d];
  for (size_t i = 0; i < f->n; i++)
    f->sort_spare[at[f->sort_buf[i].key >> shift & 255]++] = f->sort_buf[i];
  struct sort_item *dealt = f->sort_spare;
  f->sort_spare = f->sort_buf, f->sort_buf = dealt;
}
static void sort_list(struct funnel *f)
{
  size_t count[8][256] = @[{ {0} }@];
  for (size_t i = 0; i < f->n; i++)
    for (unsigned d = 0; d < 8; d++)
      count[d][f->sort_buf[i].key >> 8 * d & 255]++;
  for (unsigned d = 0; f->n > 0 && d < 8; d++) /* a byte that all have in common needs no round */
    if (count[d][f->sort_buf[0].key >> 8 * d & 255] < f->n)
      radix_scatter(f, count[d], 8 * d);
  for (size_t i = 0; i < f->n; i++)@+ f->candidates[i] = f->sort_buf[i].id;
}

@ Before we sort by logit, the list must be in order of ids, or ties would come out wrong. It is: the list has only these two orders, and the same procedure brings it back from the other, with the id as the key. A stage that changes logits asks for the order of ids first, since the new logits need not be in the old order.

@<Bring the list into one of its two orders@>=
static void sort_descending(struct funnel *f)
{
  if (f->sorted)@+ return;
  for (size_t i = 0; i < f->n; i++)@+ f->sort_buf[i] =
    (struct sort_item) @[{ falling_key(f->score[f->candidates[i]]), f->candidates[i] }@];
  sort_list(f);
  f->sorted = true;
}
static void restore_id_order(struct funnel *f)
{
  for (size_t i = 0; i < f->n; i++)
    f->sort_buf[i] = (struct sort_item) @[{ f->candidates[i], f->candidates[i] }@];
  sort_list(f);
  f->sorted = false;
}
static void sort_by_id(struct funnel *f)
{
  if (f->sorted)@+ restore_id_order(f);
}

@ Top-k needs less: only the $k$th key. Try it with digits for bytes. The keys are \given{412}, \given{137}, \given{405} and \given{431}, and you want the third smallest. Deal them by their \emph{first} digit: one falls into hole 1, and three into hole 4. So the third is the second in hole 4, and you may forget the others. Deal these three by the second digit: they fall into the holes 1, 0 and 3, and the second is \given{412}. With bytes there are \given{256} holes. The keys before the hole of the $k$th are safe; only those in it are dealt by the next byte. This is a \emph{radix selection}, and its time is proportional to the length of the list.
The logits of a model differ in their first two or three bytes, so hardly any are left after the third round; and those that remain after the last are tied. A byte that all keys have in common needs no round. (The keys are in the memory of |sort_buf|. Most of them fall into a few holes, so the same count is raised again and again, and we think that the processor waits each time for the sum before. So four sets of counts take turns.)
@^selection@>

@<Find the key of the $k$th best@>=
/* a radix selection: the |k|th smallest key, found byte by byte from the first, and in |equals|
   how many of those that have it are among the first |k|. The keys lie in the memory of
   |sort_buf|, and only those in the hole of the |k|th stay for the next byte */
static uint64_t kth_key(struct funnel *f, size_t k, size_t *equals)
{
  size_t n = f->n;
  uint64_t *key = (void *) f->sort_buf, differ = 0;
  for (size_t i = 0; i < n; i++) {
    key[i] = falling_key(f->score[f->candidates[i]]);
    differ |= key[i] ^ key[0];
  }
  for (unsigned shift = 64; shift > 0 && n > 1; ) {
    shift -= 8;
    if ((differ >> shift & 255) == 0)@+ continue;
    size_t count[4][256] = @[{ { 0 } }@], hole = 0, rest = 0;
    /* most keys fall into a few holes: four sets of counts, lest each wait for the last */
    for (size_t i = 0; i < n; i++)@+ count[i & 3][key[i] >> shift & 255]++;
    for (size_t d = 0; d < 256; d++)@+ count[0][d] += count[1][d] + count[2][d] + count[3][d];
    while (k > count[0][hole])@+ k -= count[0][hole++];
    for (size_t i = 0; i < n; i++) {
      key[rest] = key[i];
      rest += (key[i] >> shift & 255) == hole;
    }
    n = rest;
  }
  *equals = k;
  return key[0];
}

@* Repetition penalties and n-gram blocking. \label{sec:penalties}
Models repeat themselves. A sentence that occurs in the text makes the same sentence likelier, and after a second time it is likelier still. Greedy decoding then goes round in a circle; with a window of finite length it must, because once a window returns, everything after it returns too. What can you do? Four measures are in use: three penalties and a ban. Each is a formula about the \emph{history}, the tokens of the text so far.
@^repetition@>@^penalty@>@^history@>@^n-gram@>

The \emph{repetition penalty} $r$ lowers the logit $z$ of each token that occurs in the history, however often it occurs: to $z/r$ if $z$ is positive, to $zr$ if it is not.\side{\cited[Keskar and others 2019]{Keskar 2019}, in a model
called CTRL, divide every such logit. Hugging Face's library added the second case, since dividing a negative logit raises it.} That it needs two cases shows what is wrong with it: it treats zero as special, and for a logit zero means nothing. Add the same number to all logits, and no probability changes, but the penalty does something else. Published models recommend it all the same, so it is here, exactly as it is elsewhere.
@^repetition penalty@>

@ To treat each token once, the function counts the tokens of the history as it meets them. Afterwards it clears the counts that it has touched, and not the whole array: a history is mostly shorter than a vocabulary.

@<Mark down what the history has@>=
static void forget_counts(struct funnel *f, const uint32_t *seen, size_t n)
{
  for (size_t i = 0; i < n; i++)@+ f->count[seen[i]] = 0;
}
void funnel_repetition_penalty(struct funnel *f, double r,
  const uint32_t *seen, size_t n)
{
  if (r == 1)@+ return;
  sort_by_id(f);
  for (size_t i = 0; i < n; i++) {
    double *z = &f->score[seen[i]];
    if (f->count[seen[i]]++ == 0 && *z > -INFINITY)
      *z = *z > 0 ? *z / r : *z * r;
  }
  forget_counts(f, seen, n);
  drop_masked(f);
}

@ The \emph{frequency penalty} $\alpha$ and the \emph{presence penalty} $\beta$ are subtracted, so the zero of the logits does not matter to them: a token that has been written $c\ge1$ times gets $z-(c\alpha+\beta)$. They count what the model has
written and not what it was given, as in vLLM and in the formula of OpenAI's documentation; llama.cpp counts both, within a window. The first loop counts; the second subtracts at the first occurrence of each token, and clears its count, so that later occurrences do nothing.
@^frequency penalty@>@^presence penalty@>

@<Subtract for what has been written@>=
void funnel_frequency_presence(struct funnel *f, double frequency,
  double presence, const uint32_t *written, size_t n)
{
  if (frequency == 0 && presence == 0)@+ return;
  sort_by_id(f);
  for (size_t i = 0; i < n; i++)@+ f->count[written[i]]++;
  for (size_t i = 0; i < n; i++) {
    uint32_t id = written[i];
    if (f->count[id] > 0 && f->score[id] > -INFINITY)
      f->score[id] -= f->count[id] * frequency + presence;
    f->count[id] = 0;
  }
  drop_masked(f);
}

@ The fourth measure bans. If no sequence of $n$ tokens is to occur in a text twice, then after the last $n-1$ tokens we must not write a token that has followed the same $n-1$ before. This is \emph{n-gram blocking}. It is the only one of the four that
guarantees anything, and what it guarantees may be more than you want: you can write a name of two tokens only once, and an end token that has followed these tokens before cannot follow them again. With $n=1$ no token may occur twice at all, and eventually none is left.
@^n-gram blocking@>

@<Ban what would repeat an n-gram@>=
void funnel_no_repeat_ngram(struct funnel *f, size_t n,
  const uint32_t *id, size_t length)
{
  if (n == 0 || n > length)@+ return;
  const uint32_t *end = id + length - (n - 1);
  for (size_t i = 0; i + n <= length; i++)
    if (memcmp(id + i, end, (n - 1) * sizeof *id) == 0)
      f->score[id[i + n - 1]] = -INFINITY;
  drop_masked(f);
}

@* Logit bias and bad words. \label{sec:bias}
The bluntest instruments are lists. A \emph{logit bias} is added to the logit of a token. To suppress a token, give it a bias of $-\given{100}$; $-\infty$ removes it for certain. But suppose that you want to ban a word of several tokens. Ban its first token, and you have banned every word that begins with it. So a bias may also belong to a sequence: we add it to the last token, when the others are the end of the text. That is how you ban a \emph{bad word}. (A longer word that begins with all of its tokens is hit too; the same word spelt in other tokens is not.)
@^logit bias@>@^bad word@>

@<What may be added to a logit@>=
struct sequence_bias {@+ const uint32_t *id;@+ size_t n;@+ double bias;@+ };
  /* |bias| for the last of |n| $\ge1$ ids where the others end the text;
     $-\infty$ takes it out */

@ One function serves three options: a bias by id, which is a sequence of one; a bias by sequence; and the list of bad words, whose bias is $-\infty$. Biases on one token add up. What is out stays out, whatever is added. |funnel_suppress| takes out a list of single tokens, in one sweep.
@^suppress tokens@>

@<Add a bias to the ends of sequences@>=
void funnel_sequence_bias(struct funnel *f, const struct sequence_bias *list,
  size_t n, const uint32_t *id, size_t length)
{
  if (n == 0)@+ return;
  sort_by_id(f);
  for (size_t i = 0; i < n; i++) {
    size_t others = list[i].n - 1;
    if (others > length || (others > 0 && memcmp(list[i].id,
        id + length - others, others * sizeof *id) != 0))@+ continue;
    double *z = &f->score[list[i].id[others]];
    if (list[i].bias == -INFINITY)@+ *z = -INFINITY;
    else if (*z > -INFINITY)@+ *z += list[i].bias;
  }
  drop_masked(f);
}
void funnel_suppress(struct funnel *f, const uint32_t *id, size_t n)
{
  if (n == 0)@+ return;
  for (size_t i = 0; i < n; i++)@+ f->score[id[i]] = -INFINITY;
  drop_masked(f);
}

@ When the stages are done, you can ask for the distribution that is left: the weights over their sum, by falling logit. Where texts are to be compared across steps, as in \cref{search}, a stage of its own makes log-probabilities of the logits, $d-\ln W$.
@^log-probability@>

@<Turn the logits into a distribution@>=
void funnel_distribution(struct funnel *f)
{
  sort_descending(f);
  double all = softmax_weights(f);
  for (size_t i = 0; i < f->n; i++)@+ f->weight[i] /= all;
}
void funnel_log_softmax(struct funnel *f)
{
  sort_by_id(f);
  double max = max_score(f), log_sum = num_log(softmax_weights(f));
  for (size_t i = 0; i < f->n; i++)
    f->score[f->candidates[i]] = f->score[f->candidates[i]] - max - log_sum;
}

@* Counter-based random numbers: Philox. \label{sec:philox}
A random number generator is usually a machine with a state: each call returns a number and turns the state into the next. Call it in another order and you get other numbers; and a program that writes several texts at once calls it in an order that depends on all of them. So we want a generator without a state, a
\emph{counter-based} generator: a function from a counter and a key to a number, which mixes so thoroughly that consecutive counters give numbers without any visible relation.\side{\cited[Salmon, Moraes, Dror and Shaw 2011]{Salmon 2011}, ``Parallel random numbers: as easy as 1, 2, 3''.}
It remembers nothing from one call to the next, and you can have the last number without any that come before it.
@^Philox@>@^random numbers@>@^counter-based generator@>

Ours is called \emph{Philox4x32-10}. It takes a counter of four words of 32 bits and a key of two, and mixes them in ten rounds. Why does multiplying mix? A round multiplies two of the four words by constants, and each product has 64 bits. In its lower half a bit depends only on the bits below it; in its upper half a bit depends on nearly all. The lower halves become words of the next counter as they are; the upper ones are combined, by exclusive or, with the other two words and the key.

\begin{byhand}{a round of Philox}
The counter is $(5, 9, 0, 0)$, the key $(42, 0)$. The products are \texttt{D2511F53}$\cdot5=$ \texttt{4\,1B959C9F} and \texttt{CD9E8D57}$\cdot0=0$, in hexadecimal, upper half before lower half. The next counter has
\[(0\oplus9\oplus42,\ 0,\ 4\oplus0\oplus0,\ \hbox{\texttt{1B959C9F}})=(35,\ 0,\ 4,\ \hbox{\texttt{1B959C9F}}).\]
One word is mixed already, and the others are still small. In the next round the 35 and the 4 are multiplied; nine rounds later no word shows where it came from.
\end{byhand}

@ After each round the key is incremented by two constants, so that no two rounds are alike. How many rounds are enough? The authors of the method report that after seven the numbers pass every test of BigCrush, the hardest collection of statistical tests that they know; the other three rounds are a margin.

@<Ten rounds of mixing@>=
static inline void philox_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d,
  uint32_t k0, uint32_t k1)
{
  uint64_t p = (uint64_t) 0xD2511F53u * *a, q = (uint64_t) 0xCD9E8D57u * *c;
  *a = (uint32_t) (q >> 32) ^ *b ^ k0, *b = (uint32_t) q;
  *c = (uint32_t) (p >> 32) ^ *d ^ k1, *d = (uint32_t) p;
}
void philox4x32(const uint32_t key[2], const uint32_t counter[4],
  uint32_t out[4])
{
  uint32_t k0 = key[0], k1 = key[1];
  uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
  for (int round = 0; round < 10; round++) {
    philox_round(&a, &b, &c, &d, k0, k1);
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  out[0] = a, out[1] = b;
  out[2] = c, out[3] = d;
}

@ The authors found the multipliers in a search for good mixing. The key is incremented by the binary fractions of the golden ratio and of $\sqrt3-1$: any constants would do, and these hide nothing. A round loses nothing: it is a one-to-one map of counters to counters. So under one key two different counters never give the same four words.

What is the counter, and what is the key? The key is the seed, 64 bits. The counter is made of the token's id, the position in the text, the index of the text among those of a request, and a zero. Other uses of chance in this book put another number in place of the zero, so that they never share a word with this one.
@^seed@>

A round is a chain: each of its steps waits for the one before it, and the ten rounds wait for each other. But no token waits for another. So we make the numbers for sixteen tokens at once, each round for all of them, and the compiler makes of the inner loop instructions that multiply several numbers at a time (\cref{kernels}). The results are those of |philox4x32|, bit for bit.

@<Numbers of 52 bits for sixteen tokens@>=
void philox_bits(uint64_t seed, uint32_t sequence, uint32_t position,
  const uint32_t id[16], uint64_t bits[16])
{
  uint32_t k0 = (uint32_t) seed, k1 = (uint32_t) (seed >> 32);
  uint32_t a[16], b[16], c[16], d[16] = @[{ 0 }@];
  memcpy(a, id, sizeof a);
  for (int j = 0; j < 16; j++)@+ b[j] = position, c[j] = sequence;
  for (int round = 0; round < 10; round++) {
    for (int j = 0; j < 16; j++)@+ philox_round(&a[j], &b[j], &c[j], &d[j], k0, k1);
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  for (int j = 0; j < 16; j++)@+ bits[j] = (uint64_t) a[j] << 20 | b[j] >> 12;
}

@* Drawing a token: Gumbel-max. \label{sec:gumbel}
Now draw one of the candidates, with the probability $w_i/W$. The textbook draws one random number $u$ and walks along the list, adding up probabilities until the sum exceeds $u$; this is called \emph{inverse transform sampling}. It is simple, but which token it finds depends on the order of the list and on every rounding before it. Strike out one token, and the choice between two others may change (\cref{ex:sampling.textbook} counts how often). There is another way. Give each token its own random number, a \emph{waiting time} with the rate $w_i$, which is to say that within any short time $dt$ it ends with the chance $w_i\,dt$, and take the token whose time is over first. It is a race, and a token with twice the weight runs twice as fast.
@^Gumbel-max@>@^inverse transform sampling@>@^waiting time@>

Is the race fair? That takes three lines. A waiting time with the rate $w$ is longer than $t$ with the probability $e^{-wt}$. Token $i$ comes in at the time $t$ with the density $w_ie^{-w_it}$, and then it wins if all others take longer, which has the probability $\prod_{j\ne i}e^{-w_jt}$. Together
\begin{equation}\label{eq:race}
  \Pr(i\hbox{ wins})=\int_0^\infty w_ie^{-w_it}\prod_{j\ne i}e^{-w_jt}\,dt=w_i\int_0^\infty e^{-Wt}\,dt=\frac{w_i}{W}.
\end{equation}
We did not divide any weight by $W$, and did not even have to know $W$.

@ How do you make a waiting time? If $u$ is uniform between 0 and 1, then $-\ln u$ is larger than $t$ when $u<e^{-t}$, which has the probability $e^{-t}$: it is a waiting time with the rate 1. Divided by $w_i$ it has the rate $w_i$. The smallest of the $-\ln u_i/w_i$ wins. So does the smallest of their logarithms, $\ln(-\ln u_i)-\ln w_i$, and, with the sign turned round, the greatest. Finally $\ln w_i$ and the logit $z_i$ differ by the same number for all tokens. So the winner is the token with the greatest
\begin{equation}\label{eq:gumbel}
  z_i+g_i,\qquad g_i=-\ln(-\ln u_i).
\end{equation}
You sample by adding noise $g_i$ to the logits and choosing greedily. This is the \emph{Gumbel-max trick} \cited{Maddison 2014}.\side{The distribution of $g$ is Gumbel's \cited{Gumbel 1954}, that of the largest of very many numbers: he was interested in floods.}

@ The uniform number is $u=(m+\frac12)2^{-52}$ for an integer $m$ of 52 bits. Neither 0 nor 1 can come out, and $u$ and $1-u$ are doubles without rounding. So the noise has a least and a greatest value. Do we lose something by that? A token whose logit is more than 41 below the best can never win. It should win, but less than once in $10^{17}$ draws.

@<The noise of a token at a place@>=
double gumbel_noise(uint64_t seed, uint32_t sequence, uint32_t position,
  uint32_t id)
{
  uint32_t key[2] = @[{ (uint32_t) seed, (uint32_t) (seed >> 32) }@];
  uint32_t counter[4] = @[{ id, position, sequence, 0 }@], out[4];
  philox4x32(key, counter, out);
  uint64_t m = (uint64_t) out[0] << 20 | out[1] >> 12;
  return -num_log(-num_log(((double) m + 0.5) * 0x1p-52));
}

@ What does the draw \emph{not} depend on? A token's number is its own: if another token is struck out or penalized, the noise of this one stays what it was, and the winner remains the winner unless it was the one to go. The order of the list does not matter, nor which other texts are being written, nor how many threads there are, nor whether the prompt was read in one piece. It depends on the seed, the index of the text, the position and the token, and on the logits, of which \cref{model} has made sure. (vLLM's newer runner draws in the same way, with noise that is a function of seed, position and token; we read it at the commit of \cref{tab:others}.)

Is it fair in the machine too? We drew \val{sampling.chi.draws} times from our four tokens, each time with another seed.\lab{lab:chi} They came \val{sampling.chi.1}, \val{sampling.chi.2}, \val{sampling.chi.3} and \val{sampling.chi.4} times. Pearson's test statistic, $\chi^2=\sum(\hbox{found}-\hbox{expected})^2/\hbox{expected}$, is \val[2]{sampling.chi.square}. With four tokens it has three degrees of freedom; a fair sampler exceeds $\given{7.81}$ in one of 20 such experiments. The suite \.{check\_draws} does the same with eight tokens and \given{200000} draws, at neighbouring positions, texts and seeds, and looks at pairs of draws as well.
@^chi-squared test@>

\begin{byhand}{a race of four}
The weights of our four tokens may be 4, 3, 2 and 1, and their random numbers $0.5$, $0.8$, $0.1$ and $0.9$.

\medskip
\begin{tabular}{@@{}lrrrr@@{}}
& \tabhead{on} & \tabhead{in} & \tabhead{by} & \tabhead{to}\\
$w$ & 4 & 3 & 2 & 1\\
$u$ & 0.5 & 0.8 & 0.1 & 0.9\\
$-\ln u$ & 0.693 & 0.223 & 2.303 & 0.105\\
$-\ln u/w$ & 0.173 & 0.074 & 1.151 & 0.105\\
$z=\ln w$ & 1.386 & 1.099 & 0.693 & 0\\
$g=-\ln(-\ln u)$ & 0.367 & 1.500 & $-0.834$ & 2.250\\
$z+g$ & 1.753 & 2.599 & $-0.141$ & 2.250
\end{tabular}
\medskip

The token \tok{in} has the shortest time and the greatest sum. Strike out \tok{on}, or \tok{by}: \tok{in} still wins. Strike out \tok{in} itself: \tok{to} wins, whose own noise has not changed.
\end{byhand}

You pay for this. A choice takes not one random number but one for each candidate, each with ten rounds of Philox and two logarithms. For \val{sampling.large} candidates that would be the most expensive part of the whole sampler. We cannot avoid the random bits, but we can avoid nearly all of the logarithms.

@ \emph{Bound the noise before computing it.} Let $b$ be the greatest sum so far, and ask whether a token with the logit $z$ can still reach it. That takes $g\ge b-z$, or $-\ln u\le e^{z-b}$. Now $-\ln u\ge1-u$ for every $u$, since the logarithm is below its tangent at 1. So unless
\begin{equation}\label{eq:noisebound}
  1-u\le e^{z-b}=w\,e^{\max z-b}
\end{equation}
the token cannot win, and we never take its two logarithms. For example, let $b=9$. A token with $z=2$ needs $1-u\le e^{-7}=\given{0.0009}$; of a \given{thousand} such tokens one goes on to the logarithms. The weight $w$ is there already, for all tokens by one kernel, and the last factor changes only when a new best is found. So the test costs a multiplication and a comparison. Where the right side is below $2^{-53}$, the smallest value that $1-u$ can have, we do not even need the random bits.

Each time a token is the best so far, the bound tightens. Among $n$ tokens in no particular order that happens about $\ln n$ times, so nearly all of them meet a tight bound; \cref{sec:samplingcost} counts.

@<Let the tokens race@>=
uint32_t funnel_choose(struct funnel *f, uint64_t seed, uint32_t sequence,
  uint32_t position)
{
  if (f->n == 1)@+ return f->candidates[0];
  softmax_weights(f);
  double best = -INFINITY, max = max_score(f), reach = INFINITY;
  uint32_t chosen = UINT32_MAX;
  uint64_t bits[16];
  for (size_t i = 0, end = 0; i < f->n; i++) {
    uint32_t id = f->candidates[i];
    double bound = f->weight[i] * reach;
    if (bound < 0x1p-53)@+ continue;
    @<Make random bits from |candidates[i]| on, if there are none@>@;
    uint64_t m = bits[i + 16 - end];
    f->bits++;
    if (0x1p52 - (double) m - 0.5 > bound * 0x1p52)@+ continue; /* $1-u$: cannot win */
    f->noises++;
    double sum = f->score[id] - num_log(-num_log(((double) m + 0.5) * 0x1p-52));
    if (sum < best || (sum == best && id > chosen))@+ continue;
    chosen = id, best = sum;
    @<Lower |reach| to what the new best leaves@>@;
  }
  return chosen;
}

@ We make random bits for sixteen candidates at once, this one and the next ones of the list, since nearly all of them will need theirs. They belong to |candidates[end-16]| to |candidates[end-1]|; beyond the end of the list the last token fills the places.

@<Make random bits from |candidates[i]| on, if there are none@>=
if (i >= end) {
  uint32_t next[16];
  for (size_t j = 0; j < 16; j++)@+ next[j] = f->candidates[i + j < f->n ? i + j : f->n - 1];
  philox_bits(seed, sequence, position, next, bits);
  end = i + 16;
}

@ A bound that is wrong by one rounding would now and then lose a winner, and no test would be likely to notice. So we widen it, by a margin in the exponent. The exponentials and logarithms are right within a few units in the last place, some $10^{-15}$; $2^{-40}$ is about a \given{thousand} times that. The sum $z+g$ is rounded to the last place of the larger of the two, which for a logit of $10^{30}$ is a very large step; so the margin has sixteen units in the last place of the best logit as well. What about a logit far below the best? It may be off by more of its own units, but it cannot win. And a weight of 0 may meet an infinite |reach|: the product is a NaN, both tests are false, and we simply compute that token.

@<Lower |reach| to what the new best leaves@>=
reach = num_exp(max - best + 0x1p-40 + fabs(max) * 0x1p-48);

@* Sampling parameters and their order. \label{sec:settings}
All options live in one structure, under the field's usual names. Its default changes nothing. In which order do the stages run? Bias and penalties come first, while the logits are still those of the model; then the temperature; then the cuts, which therefore look at the distribution that we draw from. On this much vLLM and Hugging Face agree. But the order is data, and \cref{sec:stageorder} shows what another one does.
@^sampling parameters@>

@<What a user may set@>=
enum sample_stage {@+ SAMPLE_BIAS, SAMPLE_PENALTIES, SAMPLE_NGRAM,
  SAMPLE_TEMPERATURE, SAMPLE_TOP_K, SAMPLE_TOP_P, SAMPLE_MIN_P,
  SAMPLE_TYPICAL_P, N_SAMPLE_STAGES@+ };
  /* the stages that a list may name, in their normal order */

@ The lists are borrowed. A stage that is not in the list |stage| does not run.

@<What a user may set@>=
struct sampling_params {@+ double temperature;@+ size_t top_k;@+ double top_p, min_p,
  typical_p, repetition_penalty, frequency_penalty, presence_penalty;
  int64_t penalty_last_n;@+ size_t no_repeat_ngram;@|
  const struct sequence_bias *logit_bias, *bad_words;@+ size_t n_logit_bias, n_bad_words;
  const uint32_t *suppress;@+ size_t n_suppress;@|
  enum sample_stage stage[N_SAMPLE_STAGES];@+ size_t n_stages;@+ };
  /* |penalty_last_n|: how many tokens at the end of the
     history count, $-1$: all; each stage at most once */
struct sampling_params sampling_default(void);
  /* what changes nothing: temperature 1, no cut, no penalty, the normal order */

@ Suppose we add a stage. Who has to hear of it? The default order must have it, and so must everyone who reads a list of stages or prints one. Its parameter needs a range, which has to be checked. The command needs an option, with a line in the help, in the manual page and in the completions of three shells; the protocol of the tests needs a key. Our first version had a list in each of these places. We added a stage to the first list and forgot the others: everything compiled without a warning, one stage ran twice, and the command crashed on a misspelt name.
@^stage@>

So now \emph{a stage is one row of one table}, and every list is made from the rows. A row has a name and the parameters that the stage reads; and of a parameter it has all that a list, a check or a help page asks for.

@<What a user may set@>=
enum sampling_type {@+ SAMPLING_REAL, SAMPLING_COUNT, SAMPLING_WINDOW@+ };
  /* a |double|; a |size_t|; an |int64_t|, where $-1$ is all */
struct sampling_option {@+ const char *name;@+ size_t at;@+ enum sampling_type type;
  double neutral, low, high, gap;@+ bool above_low, in_search;
  const char *option, *also, *value, *expected, *words, *otherwise;@+ };
  /* parameter |name| is |at| bytes from the beginning of |struct sampling_params|; at |neutral| its
     stage does nothing. It goes from |low| or |above_low| to |high|, less what is within |gap|
     above |low|; |expected| says so in words. The command's option, another program's name for
     it, and its value; what it does, and what holds without it; |in_search|: a beam search reads it as well */
enum {@+ STAGE_OPTIONS = 4@+ };
  /* the most parameters of a stage */
struct sampling_row {@+ const char *name;@+ struct sampling_option option[STAGE_OPTIONS];@+ };
  /* a stage: its name in a list, and its parameters */

@ Here is the table. The biases have no parameter that is a number: they are lists, and are checked by themselves. What a row leaves out is zero.

@<The stages, a row for each@>=
#define FIELD(field) @[.name = #field, .at = offsetof(struct sampling_params, field)@]
static const struct sampling_row rows[] = @[{@/
  [SAMPLE_BIAS] = { .name = "bias" },@/
  @<The row of the penalties@>,@/
  [SAMPLE_NGRAM] = { .name = "ngram", .option = {@|
    { FIELD(no_repeat_ngram), .type = SAMPLING_COUNT, .high = DBL_MAX,@|
      .option = "no-repeat-ngram-size", .value = "N",@|
      .expected = "an integer from 0 on", .in_search = true,@|
      .words = "no N tokens in a row come twice; 0: off",@|
      .otherwise = "the model's, or 0" } } },@/
  [SAMPLE_TEMPERATURE] = { .name = "temperature", .option = {@|
    { FIELD(temperature), .neutral = 1, .high = 1e4, .gap = 1e-5,@|
      .option = "temperature", .also = "temp", .value = "T",@|
      .expected = "0, or 0.00001 to 10000",@|
      .words = "divide the scores by T; 0: the likeliest token",@|
      .otherwise = "the model's, or 0" } } },@/
  @<The rows of the cuts@>@/
}@];
_Static_assert(sizeof rows / sizeof *rows == N_SAMPLE_STAGES, "a stage without a row");

@ Each cut has one parameter. Where other programs call it by another name, the command takes that name as well.

@<The rows of the cuts@>=
@[@|
[SAMPLE_TOP_K] = { .name = "top_k", .option = {@|
  { FIELD(top_k), .type = SAMPLING_COUNT, .high = DBL_MAX,@|
    .option = "top-k", .value = "K",@|
    .expected = "an integer from 0 on",@|
    .words = "only the K likeliest; 0: all",@|
    .otherwise = "the model's, or 0" } } },@/
[SAMPLE_TOP_P] = { .name = "top_p", .option = {@|
  { FIELD(top_p), .neutral = 1, .high = 1,@|
    .option = "top-p", .value = "P", .expected = "0 to 1",@|
    .words = "only the fewest with a share of P",@|
    .otherwise = "the model's, or 1" } } },@/
[SAMPLE_MIN_P] = { .name = "min_p", .option = {@|
  { FIELD(min_p), .high = 1,@|
    .option = "min-p", .value = "M", .expected = "0 to 1",@|
    .words = "only those M times as likely as the best",@|
    .otherwise = "the model's, or 0" } } },@/
[SAMPLE_TYPICAL_P] = { .name = "typical_p", .option = {@|
  { FIELD(typical_p), .neutral = 1, .above_low = true, .high = 1,@|
    .option = "typical-p", .also = "typical", .value = "P",@|
    .expected = "above 0, up to 1",@|
    .words = "only the most typical with a share of P",@|
    .otherwise = "the model's, or 1" } } }
@]

@ The penalties are one stage with four parameters, since they share the window.

@<The row of the penalties@>=
@[@|
[SAMPLE_PENALTIES] = { .name = "penalties", .option = {@|
  { FIELD(repetition_penalty), .neutral = 1, .above_low = true,@|
    .high = DBL_MAX, .option = "repetition-penalty",@|
    .also = "repeat-penalty", .value = "R",@|
    .expected = "a number above 0", .in_search = true,@|
    .words = "divide the scores of what the text"
      " has by R, or multiply",@|
    .otherwise = "the model's, or 1" },@/
  { FIELD(frequency_penalty), .low = -DBL_MAX, .high = DBL_MAX,@|
    .option = "frequency-penalty", .value = "A",@|
    .expected = "a finite number",@|
    .words = "subtract A for each time"
      " a token was written", .otherwise = "0" },@/
  { FIELD(presence_penalty), .low = -DBL_MAX, .high = DBL_MAX,@|
    .option = "presence-penalty", .value = "A",@|
    .expected = "a finite number",@|
    .words = "subtract A if a token was written",@|
    .otherwise = "0" },@/
  { FIELD(penalty_last_n), .type = SAMPLING_WINDOW, .neutral = -1, .low = -1,@|
    .high = DBL_MAX, .option = "penalty-last-n",@|
    .also = "repeat-last-n", .value = "N",@|
    .expected = "-1 for all, or a number of tokens",@|
    .words = "penalties look at the last N tokens;"
      " -1: all", .otherwise = "-1" } } }
@]

@ We make the names and the default from the rows, the way through all parameters, the check of their ranges, and the reading of a list of stages. None of that is surprising, and it is plain C in \.{unwoven/sampling}. Within its range you may set every value, even an unwise one.

@<What a user may set@>=
const struct sampling_row *sampling_row(enum sample_stage stage);
  /* the row of a stage */
const char *sampling_stage_name(enum sample_stage stage);
  /* \.{bias}, \.{penalties}, ... */
const struct sampling_option *sampling_option_at(size_t i, enum sample_stage *stage);
  /* parameter |i| of all, in the order of the rows, and its stage unless |stage| is null; null
     past the last */
void sampling_option_set(struct sampling_params *s, const struct sampling_option *r,
  double x, int64_t n);
  /* sets a parameter to |x| if it is a real number, or else to |n| */

@ The order of the rows is the normal order.

@<The stages, a row for each@>=
const struct sampling_row *sampling_row(enum sample_stage stage)
{
  return &rows[stage];
}
const char *sampling_stage_name(enum sample_stage stage)
{
  return rows[stage].name;
}

@ The \emph{history} of a choice is a text and the place where the prompt ends.

@<What a user may set@>=
struct history {@+ const uint32_t *id;@+ size_t n, n_prompt;@+ };
  /* |id[n]|, of which the first |n_prompt| $\le n$ were given */
void sampling_stage_run(struct funnel *f, const struct sampling_params *s,
  enum sample_stage stage, struct history h);
  /* one stage of a checked |s|; all may be out after it */
bool sampling_run(struct funnel *f, const struct sampling_params *s,
  const float *logits, struct history h, struct error *why);
  /* fills the funnel and runs the stages of |s|; errors: logits
     that are no numbers, a stage after which a score is $+\infty$ or no token is left */

@ What a stage \emph{does} is not in its row, since each function wants other arguments. It is a line of a |switch|. Why no |default|? Without it the compiler checks the |switch|: if you leave out a stage, |-Wswitch| names it, and our \.{Makefile} makes that an error. (We may add the three kinds of bias in any order: they differ only for a token with a bias of $-\infty$, and that is out in any order.)
@^default, none in a switch@>

@<Run one stage@>=
void sampling_stage_run(struct funnel *f, const struct sampling_params *s,
  enum sample_stage stage, struct history h)
{
  switch (stage) {
  case SAMPLE_BIAS:@/
    funnel_sequence_bias(f, s->logit_bias, s->n_logit_bias, h.id, h.n);
    funnel_suppress(f, s->suppress, s->n_suppress);
    funnel_sequence_bias(f, s->bad_words, s->n_bad_words, h.id, h.n);
    break;
  case SAMPLE_PENALTIES: @<Mark down what the window has@>@; break;
  case SAMPLE_NGRAM: funnel_no_repeat_ngram(f, s->no_repeat_ngram, h.id, h.n);@+ break;
  case SAMPLE_TEMPERATURE: funnel_temperature(f, s->temperature);@+ break;
  case SAMPLE_TOP_K: funnel_top_k(f, s->top_k);@+ break;
  case SAMPLE_TOP_P: funnel_top_p(f, s->top_p);@+ break;
  case SAMPLE_MIN_P: funnel_min_p(f, s->min_p);@+ break;
  case SAMPLE_TYPICAL_P: funnel_typical_p(f, s->typical_p);@+ break;
  case N_SAMPLE_STAGES: break;
  }
}

@ The penalties look at a window of the history, its last |penalty_last_n| tokens. The frequency and the presence penalty look at that part of the window which the model has written; so they begin at the beginning of the window or at the end of the prompt, whichever is later.

@<Mark down what the window has@>=
{
  size_t from = s->penalty_last_n >= 0
    && (uint64_t) s->penalty_last_n < h.n
    ? h.n - (size_t) s->penalty_last_n : 0;
  size_t later = from > h.n_prompt ? from : h.n_prompt;
  if (from < h.n)@+ funnel_repetition_penalty(f, s->repetition_penalty,@|
    h.id + from, h.n - from);
  if (later < h.n)@+ funnel_frequency_presence(f, s->frequency_penalty,@|
    s->presence_penalty, h.id + later, h.n - later);
}

@ And the whole is a loop over the list. After a stage two things may have gone wrong. A finite logit may have become $+\infty$, since a penalty of $10^{-\given{308}}$ is a number like any other. Or no token is left, because everything has been banned. Both are errors that name the stage. (A stage that computes logits ends with |drop_masked|, which has seen all of them.)

@<Run all stages@>=
bool sampling_run(struct funnel *f, const struct sampling_params *s,
  const float *logits, struct history h, struct error *why)
{
  if (!funnel_fill(f, logits, why))@+ return false;
  for (size_t i = 0; i < s->n_stages; i++) {
    sampling_stage_run(f, s, s->stage[i], h);
    const char *name = rows[s->stage[i]].name;
    for (size_t j = 0; f->overflow && j < f->n; j++)
      if (!(f->score[f->candidates[j]] < INFINITY))
        return error_say(why, "after the stage %s the score of id %" PRIu32
          " is infinite; wanted: a number", name, f->candidates[j]);
    if (f->n == 0)@+ return error_say(why, "after the stage %s no token is left", name);
  }
  return true;
}

@* Masks: constrained decoding. \label{sec:bonds}
If a program reads the model's answer, it needs an answer that it can parse. A JSON object with a brace too few is useless, however likely it is. You could draw, look, and draw again; a model that errs often would keep you waiting. The remedy is to strike out tokens before the draw, but which ones depends on what has been written. After \texttt{\{"a": 1} the next byte may be white space, a comma, a closing brace, or something that continues a number, such as a digit; a letter only if it is e or E. \Cref{constraints} makes a machine that knows this for a regular expression or a grammar. In each of its \emph{states} it has a \emph{mask}: which tokens may come next, so that the text can still be ended well, and whether it may end here. Drawing only tokens that the mask allows is \emph{constrained decoding}, also called guided decoding or structured output.
@^constrained decoding@>@^structured output@>@^mask@>@^grammar@>

What does a mask do to a text? It guarantees the form and nothing else. What the model wanted to write is lost, and may have been better; \cref{constraints} counts how often a token was taken against the model's will. And a mask looks one step ahead: a token may be allowed and likely, and lead to where only unlikely tokens are allowed. To draw from the model's distribution over all matching texts you would have to look ahead over all of them.

The sampler need not know what such a machine is. If you have a rule for texts, you supply four functions. One says which tokens are allowed; the others are out before the first stage. One is told which token has joined the text. Two save the state of the rule, as a number, and restore it.

@<A rule for what may come@>=
struct token_rule {
  bool (*allow)(void *ctx, size_t written, const uint8_t **allowed,
    struct error *why);
    /* what may be token number |written| of a text, counted from 0: |(*allowed)[vocab]|,
       0 for what may not come, valid until the next call; changes no state */
  bool (*take)(void *ctx, uint32_t id, struct error *why);
    /* |id| has joined the text: the only function that advances the state */
  uint32_t (*save)(const void *ctx);
    /* the state, as a number */
  void (*restore)(void *ctx, uint32_t state);
    /* goes back to a state that |save| gave */
  void *ctx; };
  /* a rule for the tokens of a text; all zero: none */

@ The rule decides about the end tokens as well: they are allowed exactly where the text may end. And it knows how many tokens may still be written. When few are left, it allows only those from which the end can be reached in time; so a text that is not cancelled does match (\cref{sec:bound}).

@* The sampler in the loop. \label{sec:sampler}
The loop of \cref{loop} asks one function of yours which token comes next, and tells another which token has joined the text. A \emph{sampler} supplies both. It consists of parameters, a funnel, a seed, the index of the text, and a rule. Choosing changes nothing but the funnel's scratch memory. So you may ask a sampler what it would choose at this place, or after some tokens that you only guess, as often as you like, and the same question gets the same answer.
@^sampler@>

Why are choosing and accepting two functions, and not one? Because a chosen token need not join the text. A program that guesses several tokens ahead (\emph{speculative decoding}) lets the model read the guesses in one pass, asks at each of their positions what the sampler would choose, and keeps the guesses up to the first that differs. If choosing advanced the sampler, the program would have to take its choices back.
@^speculative decoding@>

What is there to advance? Not the noise, which is computed from the position of the token. Only a rule has to remember how far in its pattern the text has come. That is one number, and it is the whole state of a sampler.

@<Who chooses@>=
struct sampler {@+ struct funnel f;@+ struct sampling_params s;@+ uint64_t seed;
  uint32_t sequence;@+ struct token_rule rule;@+ };
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

@ The position of a choice is the number of tokens before it, those of the prompt included. So you can continue a text that another run began, with what has been written as a part of the prompt, as if it had never been interrupted. There are two exceptions: the frequency and presence penalties, which treat given and written tokens differently, and a rule, which applies to what is written. (Accepting a token, saving and restoring are left to the rule, in \.{unwoven/sampling/state.c}.) A host program may have changed the processor's rounding; as a pass does, the sampler computes under the standard modes and puts back what it found.

@<Choose a token for the loop@>=
bool sampler_choose(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  struct sampler *d = ctx;
  struct history h = @[{ text->text.id, text->text.n, text->n_prompt }@];
  d->f.allowed = NULL;
  if (d->rule.allow != NULL && !d->rule.allow(d->rule.ctx,@|
    h.n - h.n_prompt, &d->f.allowed, why))@+ return false;
  struct float_modes modes;
  float_modes_begin(&modes);
  bool ok = sampling_run(&d->f, &d->s, logits, h, why);
  if (ok) *chosen = funnel_choose(&d->f, d->seed, d->sequence,@|
    (uint32_t) text->text.n);
  float_modes_end(&modes);
  return ok;
}

@* The interface of the module. \label{sec:samplingface}
The stages are public one by one, so that you can run them in any order, and compare two programs stage by stage. First those that look at nothing but the logits.

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

@ The others get a history or a list of ids. Each of these ids must be one of the vocabulary; that is checked once, where ids come in.

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

@ Of what is left a caller may have the log-probabilities, the distribution, or one token.

@<The stages, one by one@>=
void funnel_log_softmax(struct funnel *f);
  /* scores become log-probabilities among the tokens that are left */
void funnel_distribution(struct funnel *f);
  /* |candidates[n]| by falling score, and in |weight[n]| their probabilities */
uint32_t funnel_choose(struct funnel *f, uint64_t seed, uint32_t sequence,
  uint32_t position);
  /* the id with the greatest |score + g|, of equal ones the lowest, where |g| is
     |gumbel_noise|; |n| $\ge1$; leaves |weight| undefined (Gumbel 1954, Maddison and others 2014) */

@ The first header declares the random numbers. The race needs the bits as well, before it knows whether it wants the noise.

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
void philox_bits(uint64_t seed, uint32_t sequence, uint32_t position,
  const uint32_t id[16], uint64_t bits[16]);
  /* for each id the number |m| of 52 bits of which its |u| is made, $(m+0.5)2^{-52}$ */
#endif

@ The other two headers collect the parts that the chapter has shown.

@(funnel.h@>=
#ifndef INCIPIT_FUNNEL_H
#define INCIPIT_FUNNEL_H
#include "sampling/draws.h"
#include "model/kernel.h"
@<The tokens that are left, and their logits@>@;
@<What may be added to a logit@>@;
@<The stages, one by one@>@;
#endif

@ The third includes that of the loop, whose step it implements.

@(sampling.h@>=
#ifndef INCIPIT_SAMPLING_H
#define INCIPIT_SAMPLING_H
#include "loop/generate.h"
#include "sampling/funnel.h"
@<What a user may set@>@;
@<A rule for what may come@>@;
@<Who chooses@>@;
#endif

@ In the files of C each part comes after those that it needs.

@(draws.c@>=
#include <string.h>
#include "sampling/draws.h"
#include "functions/numbers.h"
@;@#
@<Ten rounds of mixing@>@;
@<Numbers of 52 bits for sixteen tokens@>@;
@<The noise of a token at a place@>@;

@ Everything that works on the list of tokens is in \.{funnel.c}.

@(funnel.c@>=
#include <math.h>
#include <string.h>
#include "sampling/funnel.h"
#include "functions/numbers.h"
@;@#
@<Fill the funnel@>@;
@<Let those go that are out@>@;
@<A key that rises as the logit falls@>@;
@<Sort by the key, and leave equals as they stood@>@;
@<Bring the list into one of its two orders@>@;
@<Weigh the tokens that are left@>@;
@<Divide by the temperature@>@;
@<Find the key of the $k$th best@>@;
@<Keep the $k$ best@>@;
@<Keep as many as it takes to reach a share@>@;
@<Keep the fewest that reach a share@>@;
@<Keep what is likely enough beside the best@>@;
@<Keep the most typical that reach a share@>@;
@<Mark down what the history has@>@;
@<Subtract for what has been written@>@;
@<Ban what would repeat an n-gram@>@;
@<Add a bias to the ends of sequences@>@;
@<Turn the logits into a distribution@>@;
@<Let the tokens race@>@;

@ And \.{sampling.c} has the parameters, the stages in order, and the step.

@(sampling.c@>=
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include "ground/pool.h"
#include "sampling/sampling.h"
@;@#
@<The stages, a row for each@>@;
@<Run one stage@>@;
@<Run all stages@>@;
@<Choose a token for the loop@>@;

@* One distribution through all stages. \label{sec:funnelseen}
The module is complete. Let us watch it at work. We give the built-in model three sentences, in which a dog thinks about soup and a mouse has milk, and ask what the cat thinks about. The parameters give every stage something to do. \Cref{fig:funnel} shows the likeliest tokens, with a column for each stage.\lab{lab:funnelseen} Before you look: which will it be, milk or soup?
@^funnel@>

\widefig{funnel}{fig:funnel}{One distribution on its way. A dotted bar is what a stage removes. A bias raises the logit of pancakes by 1. Milk and soup have been written, and are penalized; ``about soup'' must not come twice, and soup is out. The temperature sharpens what is left, four stages cut it, and after each the probabilities add up to 1 again; then one token is drawn.}{The likeliest tokens in lines, ten columns from left to right: the model, bias, penalties, n-grams, temperature, the best 8, a share reached, at least a fifth of the best, the most typical, drawn. Milk begins as the longest bar, then cheese and soup. Pancakes grow in the second column; milk and soup shrink in the third, and soup is gone in the fourth. From the column of the best 8 on the lower half is empty.
Milk goes with the fifth of the best, warm with the most typical; four tokens are left, and pancakes are drawn.}

Neither. Look at the two tokens that the penalty touches. Milk was the likeliest, and comes out in sixth place: its logit is divided by \given{1.3}, which leaves less than a third of its probability. You would not guess that from the number \given{1.3}, because the effect depends on the size of the logit. Min-p then cuts milk away, since it is less than a fifth as likely as cheese; without the penalty it would have been the best. The last stage removes a token that no other stage had objected to: \tok{\ warm} carries more information than is typical here. Read backwards: a token that is missing has one reason, and the funnel shows which.

@ A short program prints the same in numbers: after each stage, how many candidates are left, the entropy of their distribution in bits, which says how undecided it is (two bits are four equally likely tokens), and the best of them.

\checkpoint[1,12]{build/out/sampling.txt}{the same in numbers: how many tokens are left, the entropy, and the likeliest}

@ The program needs the built-in model with its tokenizer, a store, and a funnel. (The programs of this chapter and the next two open and close the first two with \.{unwoven/sampling/pocket.inc}; you have seen that code in \cref{loop}.)

@c
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "tokenizer/tokenizer.h"
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "sampling/pocket.inc"
@;@#
static const char sentences[] = "The dog thought about soup."@|
  " The mouse had milk. The cat thought about";
struct session {@+ struct pocket p;@+ struct store *s;@+ struct funnel f;@+ };
@<Show what a stage has left@>@;
@<Let one distribution through the stages@>@;
@<Open everything, follow one distribution, and close@>@;

@ The first column of the figure is the model's own distribution.

@<Show what a stage has left@>=
static const char *piece(const struct session *u, uint32_t id, int *n)
{
  size_t length;
  const unsigned char *byte = tokenizer_text(u->p.t, id, &length);
  *n = (int) length;
  return (const char *) byte;
}
static void show(struct session *u, const char *name)
{
  struct funnel *f = &u->f;
  double h = 0;
  int n;
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] > 0)@+ h -= f->weight[i] * num_log(f->weight[i]);
  const char *first = piece(u, f->candidates[0], &n);
  printf("%-11s %4zu left, %.2f bits, first \"%.*s\", %.3f\n", name, f->n,@|
    h / num_log(2), n, first, f->weight[0]);
}

@ A bias needs the id of its token, which the tokenizer finds. One pass over the three sentences gives the logits.

@<Let one distribution through the stages@>=
static bool follow(struct session *u, const struct ids *text,
  float *logits, struct error *why)
{
  struct sampling_params s = sampling_default();
  struct history h = @[{ text->id, text->n, text->n }@];
  size_t last = text->n - 1;
  uint32_t liked;
  int n;
  if (!tokenizer_find(u->p.t, " pancakes", 9, &liked))
    return error_say(why, "the built-in model has no pancakes");
  struct sequence_bias bias = @[{ &liked, 1, 1.0 }@];
  @<Give every stage something to do@>@;
  if (!model_evaluate(&u->p.e, u->p.lm, u->s, text->id, text->n, &last, 1,
        logits, why) || !funnel_fill(&u->f, logits, why))@+ return false;
  @<Run the stages, and draw@>@;
  return true;
}

@ These are the numbers at the heads of the columns.

@<Give every stage something to do@>=
s.n_logit_bias = 1, s.logit_bias = &bias;
s.repetition_penalty = 1.3, s.no_repeat_ngram = 2;
s.temperature = 0.8;
s.top_k = 8, s.top_p = 0.95;
s.min_p = 0.2, s.typical_p = 0.9;

@ |sampling_run| would run all stages at once. Here we call them one by one, so that we can look after each of them. The draw comes at the end, for the position after the three sentences.

@<Run the stages, and draw@>=
show(u, "the model");
for (size_t i = 0; i < s.n_stages; i++) {
  sampling_stage_run(&u->f, &s, s.stage[i], h);
  show(u, sampling_stage_name(s.stage[i]));
}
const char *chosen = piece(u, funnel_choose(&u->f, 1, 0,
  (uint32_t) text->n), &n);
printf("chosen: \"%.*s\"\n", n, chosen);

@ The program closes all that it has opened, even if something failed.

@<Open everything, follow one distribution, and close@>=
int main(void)
{
  static struct session u;
  struct error why;
  struct ids text = @[{ NULL, 0, 0 }@];
  struct memory *m = &u.p.m;
  float *logits = NULL;
  printf("... had milk. The cat thought about\n");
  bool ok = pocket_open(&u.p, &why)@|
    && (u.s = cache_open(m, &u.p.lm->config, 1,@|
      &(struct cache_options) @[{ .rows = 256 }@], &why)) != NULL@|
    && funnel_open(&u.f, m, u.p.e.k, u.p.lm->config.vocab_size, &why)@|
    && (logits = memory_alloc(m, MEMORY_OTHER, u.f.vocab, 4, &why)) != NULL@|
    && tokenizer_encode(u.p.t, m, sentences, strlen(sentences), false, false,
      &text, &why)@|
    && follow(&u, &text, logits, &why);
  ids_free(m, &text), memory_free(m, logits);
  funnel_close(&u.f), store_close(u.s);
  pocket_close(&u.p);
  if (!ok)@+ fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@* The effect of temperature. \label{sec:heat}
People say that a temperature does three things:\lab{lab:heat} it makes the next token less certain, it makes texts more various, and it leaves the likeliest token the likeliest. We proved the last with \eqref{eq:temperature}, and the experiment stops if it ever fails. You can see the first in one distribution, the built-in model's after the nine tokens of \emph{The harvest of the kingdom was very good.}, where a dozen words may follow. At temperature 1 its entropy is \val[2]{sampling.heat.1} bits, about that of twelve equally likely words. At $T=\given{0.5}$ it is \val[2]{sampling.heat.0.5} bits. At $T=2$ it is \val[2]{sampling.heat.2} bits, that of more than \given{128} equally likely words: now words are likely that the model does not believe in. At $T=\given{100}$ it is \val[2]{sampling.heat.100} bits, almost the \val[0]{sampling.heat.most} of a uniform choice from the whole vocabulary.

For the second we wrote whole texts (\cref{fig:warmth}): eight for each temperature, of \val{sampling.long} tokens each, after the same prompt. At each step we noted how undecided the model is, before any stage; that is the entropy in the figure. \emph{Distinct-2} is the number of different pairs of neighbouring tokens in all eight texts, divided by the number of pairs: 1 if no pair occurs twice.\side{\cited[Li, Galley, Brockett, Gao and Dolan 2016]{Li 2016}.} It tells you how various the texts are, and nothing about whether they are any good.
@^distinct-n@>@^entropy@>

Up to a temperature of \given{1.2} the texts become more various, and the model, reading what it writes, remains as sure of itself as before; the texts keep to the grammar. Above that another thing happens. Now and then we draw a token that does not fit. The model has never seen such a beginning and becomes unsure, so that the next token is worse. Distinct-2 cannot tell the two kinds of variety apart.

\fig{warmth}{fig:warmth}{Texts of the built-in model at ten temperatures; the axis serves a ratio and bits. Distinct-2 rises all the way. The entropy is the model's own, before the temperature: it says how sure the model is of the next token after what it has written itself, and it breaks away when the text does.}{Two curves over the temperature from a fifth to 2. Distinct-2 rises from a third to three quarters at temperature 1 and to nearly 1. The entropy stays below one bit until the temperature is a little above 1 and then rises to more than two.}

@* A fork: two tokens at 15 percent. \label{sec:fork}
A tutorial asks you to imagine that at the tenth token ``however'' and ``additionally'' both have a probability of 15 percent.\lab{lab:fork} With the built-in model we need not imagine it: after the harvest's nine tokens the two words have \val[3]{sampling.fork.p.1} and \val[3]{sampling.fork.p.2}, together \val[2]{sampling.fork.either}. \Cref{fig:fork} shows both continuations, and on the page that \texttt{make living} builds you can take either way yourself, and follow the distribution through every stage of the sampler. Two independent texts part here, one each way, in \val[3]{sampling.fork.both} of the cases. (At 15 percent each it would be $2\cdot0.15^2=\val[3]{claim.S3-47}$, and together they would have \val[2]{sampling.fork.wanted}.)
@^fork@>

\widefig{fork}{fig:fork}{Nine tokens, and two ways on. Which of them is taken at the tenth decides about everything that follows: continued greedily, the one goes on with a bridge, and the other with mice.}{Nine outlined tokens: The harvest of the kingdom was very good. After them the way parts. Above, Additionally, then: the new bridge. Below, However, nearly as likely, then: the mice had.}

Of \val{sampling.fork.draws} draws a share of \val[3]{sampling.fork.took.1} took the first way, and \val[3]{sampling.fork.took.2} the second. Two draws agree with the probability $\sum p_i^2=\val[3]{sampling.agree.expected}$, and did in \val[3]{sampling.agree.found} of the pairs: hardly one pair in ten has even its first word in common.

What does greedy decoding do at such a fork? It takes the likelier way, however small its lead. To see an exact tie, we lift the second logit to the first by a bias; the difference of two floats is a double without rounding. Then greedy decoding takes the lower id, every time. A temperature that is nearly zero does not: of \val{sampling.tie.draws} draws at $T=10^{-3}$ a share of \val[3]{sampling.tie.cold} took the first, as with a coin.
@^tie@>

@* Diversity against likelihood. \label{sec:several}
Tutorials list four strategies: near greedy, hotter, top-k, and the nucleus. Which would you take? \Cref{tab:strategies}\lab{lab:several} compares them, with greedy decoding and the unchanged model beside them: \val{sampling.texts} texts of each, of \val{sampling.long} tokens, after the same prompt.
@^diversity@>

\begin{table}[tp]
\tabcaption{tab:strategies}{Six strategies: how many of the texts are different; distinct-2; the model's own entropy and log-probability of a token, in bits. All parameters but those named are neutral. With eight texts of one prompt, read the differences and not the last decimals.}
\centering\small
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lrrrr@@{}}
\toprule
& \tabhead{different} & \tabhead{distinct-2} & \tabhead{entropy} & \tabhead{log-probability}\\
\midrule
greedy, $T=0$ & \val{sampling.greedy.different} & \val[2]{sampling.greedy.distinct} & \val[2]{sampling.greedy.entropy} & \val[2]{sampling.greedy.logprob}\\
near greedy, $T=\given{0.2}$ & \val{sampling.near.different} & \val[2]{sampling.near.distinct} & \val[2]{sampling.near.entropy} & \val[2]{sampling.near.logprob}\\
top-k, $k=3$ & \val{sampling.topk.different} & \val[2]{sampling.topk.distinct} & \val[2]{sampling.topk.entropy} & \val[2]{sampling.topk.logprob}\\
nucleus, $p=\given{0.7}$ & \val{sampling.nucleus.different} & \val[2]{sampling.nucleus.distinct} & \val[2]{sampling.nucleus.entropy} & \val[2]{sampling.nucleus.logprob}\\
the model, $T=1$ & \val{sampling.plain.different} & \val[2]{sampling.plain.distinct} & \val[2]{sampling.plain.entropy} & \val[2]{sampling.plain.logprob}\\
hotter, $T=\given{1.5}$ & \val{sampling.hotter.different} & \val[2]{sampling.hotter.distinct} & \val[2]{sampling.hotter.entropy} & \val[2]{sampling.hotter.logprob}\\
\bottomrule
\end{tabular*}
\end{table}

@ Two lines surprised us. Near greedy is not greedy: its eight texts are all different, and likelier on average than the greedy one. Greedy decoding takes the likeliest token at every step, and finds a text that is not the likeliest; \cref{search} pursues that. And the nucleus, which removes up to \given{0.3} of the probability at every place, loses little variety, while the mean surprise of its tokens (minus their log-probability) is two thirds as large as the model's. As it should, $k=1$ at $T=1$ wrote the greedy text, \val{sampling.k1.same} tokens of \val{sampling.long}, whatever the seed.

\checkpoint[2,7]{build/out/laboratory/sampling.txt}{a text of each, with the same seed; a stroke is the end of a line}

Five of the six texts take the same way at the fork, and three are the same as far as the box goes. That is no accident. They have the same seed, so the same noise belongs to the same tokens, and parameters that change the logits a little do not change the winner. When you compare parameters, compare them on the same noise, as we do in this book (\emph{common random numbers}).
@^common random numbers@>

@ To judge a model by one text is to judge the draw as well. How many texts do you need? Let some property of a text occur with the probability $p$; here, that the text goes on with the first word of the fork. The share found in $n$ texts has the expectation $p$ and the \emph{standard error}
\begin{equation}\label{eq:stderr}
  \sqrt{\frac{p(1-p)}n}.
\end{equation}
For each text the answer is 1 or 0, with the variance $p(1-p)^2+(1-p)p^2=p(1-p)$; the texts are independent, so the variances add up, and that of their mean is a single one's divided by $n$. For $n=1$ it is \val[3]{sampling.error.expected.1} by the formula, and \val[3]{sampling.error.found.1} in many repetitions of the experiment, more than the share itself; for $n=\given{100}$ it is \val[3]{sampling.error.expected.100} and \val[3]{sampling.error.found.100}. Ten times the accuracy costs a \given{hundred} times the texts.
@^standard error@>

@* Repetition loops, and what breaks them. \label{sec:loops}
Ignore the end token, and greedy decoding of the built-in model falls into a loop: it tells a little story of \val{sampling.loop.none.circle} tokens about the harvest, whose first sentence is the prompt, and then tells it again in the same words. Which of the measures breaks the loop, when, and at what price? \Cref{tab:circles}\lab{lab:circles} answers for \val{sampling.loop.long} tokens, and \cref{fig:circles} draws it.
@^repetition loop@>

\begin{table}[tp]
\tabcaption{tab:circles}{Seven attempts at a greedy loop: the length of the loop at the end, 0 for none; the first step at which the measure changed the choice, and how often it did; the mean log-probability of a token, in bits. A temperature is no penalty: it changes the draw, and never the best token.}
\centering\small
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lrrrr@@{}}
\toprule
& \tabhead{loop} & \tabhead{first} & \tabhead{times} & \tabhead{log-probability}\\
\midrule
nothing & \val{sampling.loop.none.circle} & --- & \val{sampling.loop.none.acted} & \val[2]{sampling.loop.none.logprob}\\
presence penalty 1 & \val{sampling.loop.presence.circle} & \val{sampling.loop.presence.first} & \val{sampling.loop.presence.acted} & \val[2]{sampling.loop.presence.logprob}\\
frequency penalty \given{0.5} & \val{sampling.loop.frequency.circle} & \val{sampling.loop.frequency.first} & \val{sampling.loop.frequency.acted} & \val[2]{sampling.loop.frequency.logprob}\\
repetition penalty \given{1.1} & \val{sampling.loop.repetition.circle} & \val{sampling.loop.repetition.first} & \val{sampling.loop.repetition.acted} & \val[2]{sampling.loop.repetition.logprob}\\
repetition penalty \given{1.5} & \val{sampling.loop.strong.circle} & \val{sampling.loop.strong.first} & \val{sampling.loop.strong.acted} & \val[2]{sampling.loop.strong.logprob}\\
no 4-gram twice & \val{sampling.loop.ngram.circle} & \val{sampling.loop.ngram.first} & \val{sampling.loop.ngram.acted} & \val[2]{sampling.loop.ngram.logprob}\\
temperature 1 & \val{sampling.loop.warmth.circle} & --- & \val{sampling.loop.warmth.acted} & \val[2]{sampling.loop.warmth.logprob}\\
\bottomrule
\end{tabular*}
\end{table}

\fig{circles}{fig:circles}{The surprise of all tokens so far, for four of the attempts. The loop climbs by the same amount in each round, mostly where the story might have been another. The weaker repetition penalty costs hardly more; sampling costs most.}{Four curves of surprise over the tokens written, in bits. Greedy decoding rises in equal steps, one for each round. The weaker repetition penalty stays close to it. No 4-gram twice jumps once and then rises. Temperature 1 rises fastest.}

@ All of them work here, and some are cheap: the frequency penalty has even led to a likelier text, since greedy decoding does not look for the likeliest. The n-gram ban acts latest, when the story begins for the second time, and has to act only twice. The strong repetition penalty acts from the third token on, at places where nothing was wrong. It cannot know: a penalty on tokens sees words that have been said, and not loops.

@ Do they always work? \label{sec:toyloop} We made a toy model of three tokens that shows where each of them fails.\lab{lab:toyloop} Its logits are 5, 3 and \given{2.5} after every text, and greedy decoding writes its first token for ever.

A presence penalty of 1 lowers that token to 4, and it stays the best: \val{sampling.toy.presence1.others} of \val{sampling.toy.presence1.length} tokens are others. One of \given{2.5} lets the second win \val[word]{sampling.toy.presence2.others} time; then both are lowered alike, and the loop is back. A repetition penalty of \given{1.2} leaves the first above 3; one of 2 lets the second come \val[word]{sampling.toy.repetition2.others} time, and then halves both. (In both cases the first is then level with the third, and wins the tie.) A frequency penalty of \given{0.5} grows with each use, so no token wins for ever; it makes a loop of \val[word]{sampling.toy.frequency.circle} tokens instead of one.
Only the ban of 2-grams ends the repetition, and with it the text: after \val[word]{sampling.toy.ngram.length} tokens every pair that could come next has been used, no token is left, and that is an error.

So of the four measures only n-gram blocking guarantees that nothing comes back, and its guarantee has a price. With $V$ tokens there are $V^2$ pairs, each at most once; a text without a repeated pair is at most $V^2+1$ tokens long, and may come to a dead end long before.
@^dead end@>

@* Exposure bias: a model that reads its own text. \label{sec:exposure}
In training a model reads true texts, and is asked for the next token of each; that is \emph{teacher forcing} \cited{Williams 1989}. In writing it reads what it has written. An error of its own is a beginning that it has never seen, and it predicts the next token from there. The difference is called \emph{exposure bias}.\side{\cited[Bengio, Vinyals, Jaitly and Shazeer 2015]{Bengio 2015}; \cited[Ranzato and others 2016]{Ranzato 2016}.} How much does it cost? Let us begin with a simple calculation. A writer goes wrong with the probability $e$ at each token, and recovers with the probability $r$. In the long run it goes wrong as often as it recovers: if $x$ is the share of tokens in the wrong, $(1-x)e=xr$, so
\begin{equation}\label{eq:exposure}
  x=\frac{e}{e+r}.
\end{equation}
With $e=\given{0.01}$ and $r=\given{0.1}$ the share \val[2]{claim.S1-40} of the tokens is wrong, nine times as many as if each were predicted from a true beginning.
@^exposure bias@>@^teacher forcing@>

@ For the built-in model we can measure it, in a tale of its grammar that it has not been trained on. At every fifth place, from the tenth on, we cut the true text off and let the model continue greedily, for \val{sampling.exposure.places} tokens. It predicts the first of these from a true beginning, the second from one that may be wrong already, and so on. We count how often the $k$th token equals the true one. You may object that a different token need not be an error, since many words would do. True, but the same holds for the control, in which the model has the true text before it at every place. So the gap between the two curves of \cref{fig:exposure}\lab{lab:exposure} has a meaning.

With the true text before it the model is right about the first token in \val[2]{sampling.forced.1} of \val{sampling.exposure.tries} places, and about the last in \val[2]{sampling.forced.last}. On its own it begins with the same \val[2]{sampling.free.1} and ends with \val[2]{sampling.free.last}. (The standard error of such a share is three or four hundredths.) That does not prove bad writing, since both texts may be good tales. It measures how fast a text that is left to itself parts from one that is not.

\fig{exposure}{fig:exposure}{How often the token is the true one, place by place. Given the true text each time, the model loses nothing on the way; given its own, it has left the true text after a dozen tokens, mostly for another that would have done as well.}{Two curves over places 1 to 16. The one for true beginnings stays near five sixths. The one for the model's own text begins there and falls to a seventh.}

@* Determinism and the order of summation. \label{sec:otherorder}
``At temperature 0, the output is deterministic'', says a tutorial, ``assuming identical infrastructure''. What does it assume? That every sum is added up in the same order. In this book it is, by definition; elsewhere the order depends on how many texts are computed together, on the kernel that was chosen for their number, and on the device. What would another order change? To find out we gave the table of kernels another |linear|, which adds its products one after the other instead of in sixteen lanes.\lab{lab:otherorder}
@^order of summation@>@^determinism@>

We compared \val{sampling.order.entries} logits, those after each of \val{sampling.order.places} tokens of a tale. A share of \val[3]{sampling.order.differ} differ, by \val[1]{sampling.order.most} millionths at most. So nearly every number is another. Yet \val{sampling.order.flips} of the \val{sampling.order.places} likeliest tokens changed, and \val{sampling.order.drawn} of \val{sampling.order.draws} that were drawn. A token changes only if its lead is smaller than such a difference, and that is rare.

But we were kind to the others. Our sums are kept in four bytes; an accelerator mostly keeps two, and rounds each result to eight binary digits. Then a difference in the last bit of a sum sometimes becomes a difference of a part in \given{256}. We rounded as well\lab{lab:halforder}, read \val{sampling.half.places} tokens in both orders, and now \val{sampling.half.flips} of the likeliest tokens is another one. An answer may well have a \given{thousand} tokens, and after the first that changes, the text is another text. So ``greedy decoding is deterministic'' is true of this book's engine, by construction, and of few others.

\claim{S2-08}

@* The order of the stages. \label{sec:stageorder}
vLLM divides by the temperature before it cuts; llama.cpp cuts first and divides last. Hugging Face has the first order. (It bans bad words after the penalties and we before; a banned token is out either way.) Here the order is a list, so either is one option away. How often does it matter?\lab{lab:stageorder}
@^order of stages@>@^llama.cpp@>@^vLLM@>

It matters when the temperature changes what the cut sees. A temperature above 1 flattens the distribution; then top-p and min-p leave more tokens if they come after it, and fewer if before. Top-k does not care, because the order of the tokens is the same. At the fork, with $T=2$ and top-p \given{0.9}, \val{sampling.order.before} tokens are left if the temperature comes first, and \val{sampling.order.after} if it comes last. Of \val{sampling.orders.sets} sets of parameters, drawn at random, \val{sampling.orders.differ} leave different tokens in the two orders. If somebody recommends you a temperature and a top-p, ask for which program.

@* What sampling costs. \label{sec:samplingcost}
Will you wait for the sampler? We fill a vocabulary of \val{sampling.large} tokens, as many as Llama 3 has, with logits from a normal distribution whose standard deviation is 3. No model is involved, since we measure the sampler.\lab{lab:samplingcost} The counters of the funnel say how many random numbers and how many logarithms a choice took. If nothing is cut, all \val{sampling.plain.left} tokens race, and \val{sampling.plain.bits} random numbers are made; but the bound lets only \val{sampling.plain.noises} of them through to the two logarithms. Top-p with \given{0.9} leaves \val{sampling.nucleus.left} tokens, and \val[word]{sampling.nucleus.noises} noises are computed; with common settings, a temperature of \given{0.8}, top-k 40, top-p \given{0.95} and min-p \given{0.05}, \val{sampling.usual.left} are left.
@^cost of sampling@>

A choice takes \val[1]{sampling.clock.greedy} milliseconds if it is greedy, \val[1]{sampling.clock.usual} with the common settings, \val[1]{sampling.clock.plain} if nothing is cut, and \val[1]{sampling.clock.nucleus} after a nucleus, which has to sort. For one token the passes of \cref{phases} take \val[0]{phases.ms.gpt2.1.0.1} milliseconds in GPT-2 small's shape. Beside the pass, such a sampler costs little.

@* Which sampler when. \label{sec:which}
If you take one thing from this chapter to your own programs, let it be this: one temperature and one cut are enough for nearly everything. A second cut rarely removes what the first has left.

\emph{Temperature.} At 1 the text is a sample of the model, which is what you want when you estimate something from samples. Below 1 every ratio grows: there are fewer slips and less variety. Take 0 where one answer is right, and in tests.

\emph{Top-k} costs little, and bounds what later stages have to look at. But it is the same $k$ where one token fits and where a \given{thousand} do: take it as a guard (40 or more) and not as the cut.

\emph{Top-p} follows the model's certainty, and \given{0.9} to \given{0.95} with $T$ up to 1 is the common choice. Its weakness is heat: a flattened tail fills the share. \emph{Min-p} looks only at the best token and not at the sum of a tail, so it bears a temperature above 1; take \given{0.05} to \given{0.1} where texts should be unlike one another.

\emph{Typical sampling} is the only cut that may remove the likeliest token; its authors found it less repetitive in stories and summaries.
@^choosing a sampler@>

You will meet others. Hugging Face's library has two more thresholds.\side{\cited[Hewitt, Manning and Liang 2022]{Hewitt 2022}.} \emph{Epsilon sampling} removes tokens with $p<\varepsilon$; but where a \given{thousand} words would do, all of them may be below $\varepsilon$. \emph{Eta sampling} therefore lowers the threshold there, to $\min(\varepsilon,\sqrt\varepsilon\,e^{-H})$. Min-p does nearly the same with a number that is easier to choose. Elsewhere there are \emph{top-a}, which removes tokens below $a$ times the \emph{square} of the best probability, so that it cuts more where the model is sure, and \emph{dynamic temperature}, which takes $T$ from the entropy.
@^epsilon sampling@>@^eta sampling@>

@ What is missing here, and why? \emph{Mirostat} holds the surprise of the text near a target: after each token it moves its cut up or down by the difference.\side{\cited[Basu, Ramachandran, Keskar and Varshney 2021]{Basu 2021}.} So the choice at a place depends on all choices before it, and not only on the text: interrupt a text and continue it, and it becomes another, unless you have saved the cut with it. That is what \cref{sec:sampler} avoids. \emph{XTC}, ``exclude top choices'', does the opposite of truncation: with a given probability it removes all tokens above a threshold but the least likely of these. It makes texts more surprising by taking away what the model thinks best; we know of no evaluation. Our generator would have a random number for it, with another number in the place of the zero.
\emph{Top-n-sigma} and \emph{DRY}, a penalty that grows with the length of a repetition, are exercises. \emph{Minimum Bayes risk} decoding is not a stage but a choice among whole texts: it samples several, and takes the one that is most like the others; \cref{sec:relatives} explains it.
@^mirostat@>@^XTC@>@^top-n-sigma@>@^DRY@>@^minimum Bayes risk@>@^surprise@>

@* Differences between implementations. \label{sec:samplingothers}
\begin{table}[tp]
\tabcaption{tab:others}{Where programs differ, and what is done here. Found in their sources: Hugging Face's transformers \given{5.0.1.dev0} (\texttt{6978a60}), vLLM (\texttt{017e9f4}) and llama.cpp (\texttt{3f545be}), as they stood in 2026. A dash: there is no such option. Where a stroke divides two, the first is for greedy decoding, the second for sampling.}
\centering\footnotesize\tabcolsep=3pt
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lllll@@{}}
\toprule
& \tabhead{Hugging Face} & \tabhead{vLLM} & \tabhead{llama.cpp} & \tabhead{here}\\
\midrule
tied at the $k$th place & all stay & all stay & $k$, any & $k$, lower ids\\
top-p, all equal & highest ids & highest ids & any & lowest ids\\
min-p & after top-p & before top-k & before $T$ & after top-p\\
penalties look at & prompt, text & prompt, text & last 64 & prompt, text\\
frequency counts & --- & text & last 64 & text\\
temperature 0 & refused & greedy & greedy & greedy\\
nothing is left & token 0/error & any token & last token & an error\\
a NaN & that token/error & undefined & undefined & an error\\
random state & the batch's & request's or none & the slot's & none\\
log-probabilities & processed & raw & raw & raw\\
\bottomrule
\end{tabular*}
\end{table}

Most programs of the kind have each stage of this chapter, and hardly two agree on all of its edges. \Cref{tab:others} lists the differences that you can see. We took what most of them do, and where they leave something open, a rule that can be written down. So the same seed gives another text here than in another program. What you can compare are the distributions: the tests have some \given{500} cases, made by the programs themselves, each of which agrees or has its difference explained.

@ The last line answers a common question: if a program reports a log-probability, is it \emph{raw} or \emph{processed}, that is, taken before the stages or after them? Ours is the model's, before any stage, so it does not depend on the temperature. vLLM and llama.cpp do the same unless you tell them otherwise. The scores of Hugging Face are those after the processors, and not normalized.
@^log-probability@>@^vLLM@>@^llama.cpp@>@^Hugging Face@>

@* What the tutorials say. \label{sec:samplingtutorials}
Most of what the tutorials say about sampling is right, and right in the same words. Two statements teach something; the laboratory has the others.\lab{lab:samplingtutorials}

\begin{claimed}{S1-30}
Of four tokens with a quarter each, \val{sampling.reach} reach a half, and it takes \val{claim.S1-30} to exceed it; with a share of 1 nothing exceeds it. Both rules are in use (\cref{sec:tails}): Meta's reference exceeds; the paper, Hugging Face, vLLM and llama.cpp reach.
\end{claimed}

\begin{claimed}{S2-10}
The greedy text of \cref{tab:strategies} has \val[2]{sampling.greedy.logprob} bits a token, and texts drawn at a temperature of $\given{0.2}$ have \val[2]{sampling.near.logprob} on average. Greedy decoding takes the likeliest next token, and that is not the likeliest path.
\end{claimed}

@* Exercises. \label{sec:samplingexercises}
The command beside an exercise checks your answer with the funnel of this chapter.

\begin{exercises}
\exercise{check}{ex:sampling.share}{Five tokens have the probabilities $\frac{16}{31}$, $\frac{8}{31}$, $\frac{4}{31}$, $\frac{2}{31}$ and $\frac{1}{31}$. How many of them does top-p with $p=\given{0.9}$ leave, after a temperature of 1, of $\frac12$ and of 2?}{\texttt{make exercise-07-1}}{At 1 the first three have $28/31$, which reaches $\given{0.9}$: 3. At $\frac12$ the weights are \given{256}, 64, 16, 4 and 1, and the first two have $\given{320}/\given{341}$: 2. At 2 they are 4, $2\sqrt2$, 2, $\sqrt2$ and 1; three have less than four fifths, and it takes 4.}
\exercise{check}{ex:sampling.marks}{A token occurs in the text three times, one of them in the prompt. Its logit is 3; the penalties are $r=\frac32$, $\alpha=\frac14$ and $\beta=\frac12$. What is its logit after them? And if it is $-3$?}{\texttt{make exercise-07-2}}{$3/\frac32-(2\cdot\frac14+\frac12)=1$, and $-3\cdot\frac32-1=-5\frac12$. The repetition penalty looks at the prompt as well, but does not count; the other two count, but only what has been written.}
\exercise{think}{ex:sampling.half}{The likeliest of 26 tokens has the probability $\frac14$, each of the others $\given{0.03}$. At which temperature does it have $\frac12$, and at which $\given{0.99}$? Give three decimals.}{\texttt{make exercise-07-3}}{Its ratio to each of the others is $\frac{25}{3}$. At the temperature $T$ that is $(\frac{25}{3})^{1/T}$, and it has to be 25, or $25\cdot99$: $T=\ln\frac{25}{3}/\ln25=\given{0.659}$, and $T=\ln\frac{25}{3}/\ln(25\cdot99)=\given{0.271}$.}
\exercise{think}{ex:sampling.orders}{Find four probabilities, a $k$, a $p$ and a $T$ for which three orders of the same stages leave different numbers of tokens: top-p, top-k, temperature leaves three; top-k, top-p, temperature two; temperature, top-k, top-p one.}{\texttt{make exercise-07-4}}{For instance $\frac{5}{12}$, $\frac{4}{12}$, $\frac{2}{12}$ and $\frac{1}{12}$, with $k=3$, $p=\given{0.8}$ and $T=\frac18$. Of all, it takes three to reach $p$. Of the best three, which have 11 twelfths, it takes two, with $9/11$; and of the eighth powers of 5, 4 and 2 the first alone has more than four fifths of the sum. With top-k first never more are left than with top-p first: $p$ is then a share of less.}
\exercise{think}{ex:sampling.zero}{Two tokens have the logits 5 and 2. The first occurs in the history, and $r=2$. Which two numbers, each added to both logits, make the tokens equally likely after the penalty?}{\texttt{make exercise-07-5}}{$(5+c)/2=2+c$ gives $c=1$, and $2(5+c)=2+c$ gives $c=-8$; the first token's logit is positive with the one and negative with the other, as it has to be. Without the penalty it is $e^3$ times as likely as the second, whatever is added. At $c=-5$ the penalty does nothing at all.}
\exercise{think}{ex:sampling.deadend}{A vocabulary has three tokens, and no pair of tokens may come twice ($n=2$). Write the shortest text after which no token is left, and a longest one.}{\texttt{make exercise-07-6}}{After a token $a$ nothing is left when $aa$, $ab$ and $ac$ have all occurred: $aabaca$, six tokens, or $2v$ for a vocabulary of $v$. There are $v^2$ pairs, and none comes twice, so $v^2+1$ tokens are the most; a round that goes through all pairs exists: $aabbccacba$.}
\exercise{think}{ex:sampling.records}{Four tokens with the weights 8, 4, 2 and 1 race, and are looked at in this order. How often is one of them the best so far, on average? And in the reverse order? Give two decimals.}{\texttt{make exercise-07-7}}{The $i$th is the best so far if it wins the race among the first $i$: $\frac88+\frac{4}{12}+\frac{2}{14}+\frac{1}{15}=\given{1.54}$, and $\frac11+\frac23+\frac47+\frac{8}{15}=\given{2.77}$. With equal weights either would be $1+\frac12+\frac13+\frac14$, and this sum is where the $\ln n$ comes from.}
\exercise{build}{ex:sampling.sigma}{\emph{Top-n-sigma} keeps the tokens whose logit is no more than $n\sigma$ below the best, where $\sigma^2$ is the mean of the squared differences of the logits that are left from their mean. Make it a stage: an option \texttt{top\_n\_sigma} from 0 upwards, 0 being off; the same name in lists of stages; and the last place in the normal order. Does it matter whether it comes before the temperature or after it?}{\texttt{make exercise-07-8}}{A function in \texttt{funnel.c}, a line each in the list of stages, the structure, and |sampling_stage_run|, and a row of the table; the default, the check of the range and the names come from the row. The compiler stops at a stage without a row. The temperature divides the differences and $\sigma$ by the same number, so it does not matter.}
\exercise{think}{ex:sampling.textbook}{Let |funnel_choose| draw as the textbook does: one number $u$ for the place, made of the bits of the id 0; the tokens by falling logit; and the first of them at which the running sum of the weights exceeds $uW$. Then three tokens have the probabilities $\frac12$, $\frac{3}{10}$ and $\frac15$, and one that was not chosen is struck out. In what share of the places does the choice change, if it is the last of the three? And if it is the first?}{\texttt{make exercise-07-9}}{Walk along |weight| after |sort_descending|. Without the last the boundary between the other two moves from $\frac12$ to $\frac58$: that changes $\frac18$ of all choices, out of $\frac45$, or $\given{0.156}$.
Without the first the second reaches from 0 to $\frac35$, and the third from there: where $u$ is between $\frac35$ and $\frac45$ the token changes, $\frac15$ out of $\frac12$, or $\given{0.4}$. In the race both shares are 0.}
\exercise{think}{ex:sampling.dry}{\emph{DRY} penalizes what would go on with a repetition. For each earlier place of the text, but the very first, let $l$ be how many tokens before it agree with the last tokens of the text, counted backwards from both. If $l\ge a$ for a token at such a place, $m\,b^{\,l-a}$ is subtracted from its logit, once, for the largest $l$ that it has; $a\ge1$, and $m=0$ is off. Write |stage_dry(f, m, b, a, id, n)| for |double| $m$ and $b$ and the text |id[n]|.}{\texttt{make exercise-07-10}}{The funnel's counts can hold the largest $l$ of each token, if they are put back to zero. The list must come into the order of ids before a logit is changed. The time is a product of the text's length and the length of its repetitions: a text of one token only is the worst.}
\end{exercises}
