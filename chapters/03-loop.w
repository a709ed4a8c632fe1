@i types.w
@s step_watch int
@s step_select int
@s step_accept int
@s step_stop int
@s step_recall int

\chapterquestion{Why does the tenth word of an answer cost more than the first, when it is
only one more word?}
@** The generation loop, and what recomputing costs.
\incipit{A}{model} predicts one token, and then it is done. To make it write, you hand it its own words: append the token that it predicted, and put the longer text in
again. This is \emph{autoregressive generation}, and a loop of six steps does it. The model cannot tell the tokens that you gave it from those that it wrote. But look
at what goes in. To predict the fourth token the model reads three. To predict the fifth it reads four, and three of these it has read before. Does it remember them?
Not in this loop. From one pass to the next it keeps nothing, so it computes everything about those three again.
@^autoregressive@>

In this chapter we write the loop in twenty lines, in its simplest form, and look at a text that it writes. Then we count how much of its work is done for the first time
and how much is done again; the answer is the reason for the whole second part of the book. At the end the loop grows, need by need, into the one that the engine uses
from here on. If you want to watch it while you read, \.{incipit trace "The cat sat" -n 4} prints the steps for any prompt.

You need these words of chapter 2. A \emph{row} is a token at a position, on its way through the model, and a \emph{pass} takes a set of rows through all layers. In each
layer a row makes a query, a key and a value; its query meets the keys of the rows before it, and its own. The \emph{store} keeps keys and values. At the end the \emph{head}
turns a row into \emph{logits}, one score for each token of the vocabulary.

@* The loop in six steps. \label{sec:sixsteps}
Here is the whole loop, and nothing else. It \emph{forgets} the rows of the text that the store still has; it \emph{reads} all tokens of the text, as rows, in one pass; it \emph{scores} what may follow the last row; it \emph{selects} a token, \emph{appends} it, and \emph{stops} if that was the token that means the end, or if the text is full.

@<Write until the end token, or until the text is full@>=
static bool write_text(struct writer *w, size_t full, struct error *why)
{
  struct engine *e = &w->e;@+ const struct model *lm = w->lm;
  struct ids *text = &w->text;
  for (;;) {
    struct row rows[LONGEST];
    struct pass *p;
    size_t n = text->n, last = n - 1, vocab = lm->config.vocab_size;
    store_crop(w->s, 0, 0);                                  /* 1. forget */
    for (size_t i = 0; i < n; i++)
      rows[i] = (struct row) @[{ 0, (uint32_t) i, text->id[i] }@];
    bool ok = model_forward(e, lm, w->s, rows, n, &p, why);    /* 2. read */
    ok = ok && model_logits(e, lm, p, &last, 1, w->logits, why); /* 3. score */
    pass_close(p);
    if (!ok)@+ return false;
    uint32_t id = likeliest(w->logits, vocab);               /* 4. select */
    if (!ids_push(&w->m, text, id, why))@+ return false;     /* 5. append */
    if (id == lm->config.eos[0] || text->n == full)
      return true;                                         /* 6. stop */
  }
}

@ The writer |w| holds the engine, the model, the store |s| and the text, a growing list of ids (\cref{sec:loopcheck}). All the work is chapter 2's: |store_crop| makes the store forget sequence 0 from position 0 on, |model_forward| (\cref{sec:forward}) is the pass, and |model_logits| (\cref{sec:head}) is the head; |pass_close| frees the hidden states, which nothing needs any more.

A text of $n$ tokens has $n$ rows, and each of them could say what it expects next. That is how a model is trained: each row predicts the next token of a text that somebody
else wrote (\emph{teacher forcing}, \cref{sec:exposure}). Here the tokens that the earlier rows would predict are already there, so we ask only the last one. That saves a good deal: in GPT-2
small the head takes \val{gpt2.head} multiply--adds for a row, and all layers together \val{gpt2.layers.madds}.

We give the built-in model \tok{The}\tok{\ cat}\tok{\ sat}, and on the plain kernels of chapter 2 it writes a tale of \val{loop.tale.written} tokens. The last of them
is the end token, appended like any other; a program that prints for a reader leaves it out. The plain kernels take their time. With \.{-march=native} a compiler may
use the multiply--add of your machine, which is faster and changes no bit. (The first line counts what the loop did for four tokens, the second what it did for all, as
\cref{sec:naivecost} explains; the last is a check, \cref{sec:loopcheck}.)

\checkpoint{build/out/loop.txt}{a text that the loop has written, and what it took}

@* Greedy decoding, ties, and one wrong token. \label{sec:greedy}
How does the loop select a token? In the simplest way: it takes the one with the highest logit. This is \emph{greedy decoding}. We do not need the softmax of chapter
2 for it, since a higher logit means a higher probability. And we need no random numbers, so the same prompt always gets the same text, and we can compare texts and counts.
It is not the best way to write. It falls into repetition, which chapter 7 mends, and the likeliest tokens do not make the likeliest text, as chapter 9 shows.
@^greedy decoding@>

@<Find the token with the highest logit@>=
static uint32_t likeliest(const float *logits, size_t vocab)
{
  uint32_t best = 0;
  for (uint32_t v = 1; v < vocab; v++)
    if (logits[v] > logits[best])@+ best = v;
  return best;
}

@ If two logits are equal, |>| keeps the first: \emph{ties} go to the lowest id. You may never see a tie, but there must be a rule. Suppose several threads searched the logits, and the first to report a maximum won; then two runs of one program could write different texts.
@^tie@>

Why does a pass write only one token? Because what follows a token depends on which token was selected. And if the model errs? The loop never takes a token back, and
each token is input for all that follow. We wanted to see how much one token matters. So we let the built-in model write its tale again, with one token replaced by the
second best: once for each of the \val{loop.slip.places} tokens before the end.\lab{lab:loopslips} After \val{loop.slip.same} of these changes the rest of the tale is the same, token for token: once, for example, the ball is blue instead of red, and that is all. After \val{loop.slip.endless} the text has not ended when it has \given{500} tokens;
in one of these texts the cat waited and waited and waited. After the other \val{loop.slip.other} the model tells something else. So an error need not grow, but everything
after it continues a text with the error in it. \Cref{sec:exposure} measures how soon a model that reads its own words strays from the true text, and \cref{sec:perplexity} how well
it predicts one.

@* Rows computed, rows needed. \label{sec:naivecost}
What does the loop cost? Take a pencil first, for the first sentence of the tale.

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
row at all, since it is never read.
\end{byhand}

\widefig{redogrid}{fig:grid}{The work of four passes. A cell is one row, computed in one pass
at one position. Solid cells are computed for the first time; hatched cells have been computed
before, and come out the same to the last bit. The number in a cell counts the computations of its row so far.}{A grid of four lines, the passes, and six
columns, the positions of The cat sat on the mat. Pass 1 fills positions 0 to 2, pass 2
positions 0 to 3, pass 3 positions 0 to 4, pass 4 positions 0 to 5. The first-time cells are the
three of pass 1 and the last cell of each later pass, six in all; the other twelve cells are
work done again.}

@ Our program runs the loop and finds the same 18, 6 and 12: they are in the first line of its output, and in the last line of \.{incipit trace}. The counters of chapter
2 (\cref{sec:counters}) are incremented inside the pass, where the rows are computed. A row counts as \emph{needed} if no earlier pass has computed it. The store can
tell, because it remembers the tokens of the rows that it forgets.\lab{lab:loopcount}

@<Print what the counters say@>=
static void print_counts(const struct writer *w)
{
  uint64_t rows = w->c.kv_rows_computed, again = w->c.kv_rows_recomputed;
  printf("%2zu tokens: %" PRIu64 " rows = ", w->text.n - 3, rows);
  printf("%" PRIu64 " needed + %" PRIu64 " redundant; ", rows - again, again);
  printf("%" PRIu64 " pairs\n", w->c.qk_pairs);
}

@ Now in general. A prompt has $p$ tokens, and $g$ are to be written. Pass $t$ reads $p+t-1$ tokens, so $g$ passes compute
\begin{equation}\label{eq:naive}
  N(p,g)=\sum_{t=1}^{g}(p+t-1)=gp+\frac{g(g-1)}2
\end{equation}
rows. How many were necessary? Each token that is ever read needs its row once, and the last token
written is never read. So $p+g-1$ rows would have been enough, and in every run the counters find exactly that number. The first term
of~\eqref{eq:naive} grows with the prompt, the second with the square of what we write;
in \cref{fig:growth} you see the second take over from the first. And there is the answer to the question at the head of the chapter: the first
word of an answer costs a pass of $p$ rows, the tenth a pass of $p+9$.

\Cref{fig:heat}\lab{lab:loopgrid} is the grid of \cref{fig:grid} seen from far away, for 50 tokens given and \given{100} written. There, 6 of 18 cells were needed; here \val{loop.needed.50.100} of \val{loop.naive.50.100} are, no more than the upper and the right edge of the picture.

\widefig{heat}{fig:heat}{A pass is a line, one below the other; the prompt has 50 tokens. Of \val{loop.naive.50.100} cells, the first line and the dark
edge, \val{loop.needed.50.100} cells, are needed. The deeper the amber, the more often the row had been
computed before.}{A strip of many lines, one a pass. A thin teal line runs along the top and down the
diagonal edge at the right, the rows computed for the first time. Everything to the left of it is amber, and
darkens downwards, as the earlier computations add up.}

\Cref{tab:waste}\lab{lab:looptable} counts four cases that one article made popular. (The article's own table says $p+g$ where ours says $p+g-1$; see \cref{sec:looptutorials}.)

\begin{table}[tp]
\tabcaption{tab:waste}{Rows computed by the naive loop, rows that were needed, and their
quotient. Every entry was counted by running the loop, with the \emph{parrot}, a toy model whose passes cost next to
nothing (\cref{lab:parrot}).}
\centering\small @^parrot@>
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
@^naive loop@>@^prompt@>

@ How large can the waste be? Write $R=N(p,g)/(p+g-1)$ for the redundancy. The numerator is $g$ passes of mean
length $p+(g-1)/2$, so @^redundancy@>
\begin{equation}\label{eq:waste}
  R=g\cdot\frac{p+\frac{g-1}2}{p+g-1}.
\end{equation}
Let $p\ge1$ and $g\ge1$. The fraction is
$1-\frac{(g-1)/2}{p+g-1}$. What is subtracted is not negative, so $R\le g$. And what is subtracted shrinks as $p$
grows, so $R$ is smallest at $p=1$, where the fraction is $\frac{1+(g-1)/2}{g}=\frac{g+1}{2g}$. Therefore
$$\frac{g+1}2\le R\le g,$$
with equality on the left for a prompt of one token, and on the right for a single token written. For longer answers $R$
approaches $g$ as the prompt grows.
For the first line of the table the bounds are \val[1]{loop.bound.low} and \val{loop.bound.high}, and the count is
\val[2]{loop.waste.100.50}. So the length of the answer sets the waste; a longer prompt can at
most double it.

@ You may have read that generating twice as many tokens costs four times as much. That is true of very long answers
only. Doubling $g$ turns $gp+g(g-1)/2$ into $2gp+g(2g-1)$; the quotient is near 2 while the prompt
dominates and tends to 4 when the answer does. For the four lines of the table it is
\val[2]{loop.double.100.50}, \val[2]{loop.double.500.200}, \val[2]{loop.double.1000.500} and
\val[2]{loop.double.2000.1000}.

There is a second count, and it grows faster. Within a pass, the row at position $i$ looks at
$i+1$ keys, so a pass of $n$ rows has $n(n+1)/2$ pairs of a query and a key, and $g$ passes from a
prompt of one token
\begin{equation}\label{eq:pairs}
  \sum_{n=1}^{g}\frac{n(n+1)}2=\frac{g(g+1)(g+2)}6 .
\end{equation}
For \given{1000} tokens the counters say \val{loop.naive.1.1000} rows and \val{loop.pairs.1.1000} pairs.
The rows grow with the square, the pairs with the cube, and the counters confirm it: between \given{1000} and \given{2000} tokens after a prompt of
one, the slopes on logarithmic paper are \val[2]{loop.slope.rows} and \val[2]{loop.slope.pairs}.
An author who calls the naive loop ``quadratic'' has counted rows. If you would rather see the waste than count it, open the page that \texttt{make living} builds: it runs this loop in your browser, and the rows that are computed again light up. The formulas also cover texts that you would not want to wait for: one of \given{100,000} tokens would take \val{loop.formula.100000} rows.

@* Causality: recomputed rows are identical. \label{sec:causal}
All this work is wasted only if the same comes out each time. Does it? To the last bit. The reason is the causal mask: a row looks at rows before it and never at rows after
it. Go through the layers. The embedding of position $i$ depends on token $i$ and on $i$. A layer
turns the hidden states of positions $0\ldots i$ into the hidden state of position $i$. By
induction over the layers, whatever is computed at position $i$, its key and its value included, depends on tokens $0\ldots i$ only.
A later token can change none of it. That makes the mathematical values equal. That the bits are equal as well is a promise of
\cref{model}: the sums of a row are added in the same order however many rows share its pass.
@^causal mask@>

A proof about a program is only as good as the program, so we tried it in three ways.\side{In
\.{tests/suites/check\_loop.c}: |later_tokens_change_nothing|, |without_the_mask_they_do|, |every_query_is_needed|.} The first test takes texts that begin alike and end differently, and compares all that was computed for the common beginning: nothing differs. The
second takes away the mask. Now the
argument must fail, and it does: not in the first layer, whose keys
are made from the embeddings alone, but in the second. Could we at least leave out the queries of old rows, since only the last row is asked? The third test leaves out a single query of the first layer, at any
position. If old queries were of no use to later tokens, nothing would
change. But something does, since the next layer's keys at that position are made from what
that query found. So the naive loop needs the queries of old rows, in every layer but the last.

But if a row cannot change, we can keep its keys and values, in every layer, and then we never need its query again. That is the next chapter.

@* Measured times. \label{sec:clock}
Counts are exact, but what you wait for is time. So we also timed a step of
the naive loop, one pass of the built-in model, over texts of growing length. What should come out? A pass of $n$ rows does the same for each row, apart from attention, where row $i$ looks at
$i+1$ keys. We expect
\begin{equation}\label{eq:clock}
  t(n)=an+b\,\frac{n(n+1)}2 ,\qquad\hbox{so}\qquad\frac{t(n)}n=a+b\,\frac{n+1}2:
\end{equation}
the time for each \emph{row} is a straight line over the length. \Cref{fig:clock} shows that line.\lab{lab:loopclock} It begins at
\val[1]{loop.clock.row} microseconds, which is what projections, MLP and norms cost a row, and
rises by \val[1]{loop.clock.pair} nanoseconds for each key looked at. We timed \val[0]{loop.clock.texts} lengths, and none is off the line by more than \val[1]{loop.clock.error} percent. In a pass of \val{loop.clock.shortest} rows attention takes \val[0]{loop.clock.share.short} percent of the time; in one of \val{loop.clock.longest} rows, which takes \val[0]{loop.clock.step} milliseconds, it takes
\val[0]{loop.clock.share} percent. So the cost of a step is nearly linear for short texts only. Within this small model's context
attention comes to take more time than everything else, and the cost of a whole text is on its way from the square of \eqref{eq:naive} to the cube of \eqref{eq:pairs}.

\fig{clock}{fig:clock}{Time of one pass, divided by its rows, over the number of rows, and the straight line
of \eqref{eq:clock}. Bars span the middle half of the rounds. Measured once, with one thread and the fast kernels of that day, on an AMD EPYC of which we had two cores. Since then the rows of a prompt attend in tiles (\cref{sec:attention}), and the line is flatter.}{A plot of microseconds a row against rows in the pass. The points lie close to a
straight line that starts well above zero and has doubled at the right end.}

@* The general loop. \label{sec:generate}
The loop of \cref{sec:sixsteps} writes one text for one program. The programs of this book want more of it: to show tokens as they come, to end in other ways, to select
in other ways, to keep rows, to read a long prompt in pieces, to write several texts at once. You could give each program a loop of its own. But they would soon disagree
about when to stop, and testing one would tell us nothing about the rest. So we write one loop, and give each need a place in it (\cref{fig:hooks}). Some of the places
stay empty until the chapter that needs them. If you leave all of them empty you have the naive loop back, and later chapters do so whenever they need something to compare
with.

\widefig{sixsteps}{fig:hooks}{The six steps, and where a caller can attach something. A step to which nothing is attached is the naive loop's: no row is kept, the whole text is
read in one pass, the likeliest token is selected.}{Six boxes in a row, forget, read, score, select, append, stop, and an arrow from the last back to the first. Under
forget: recall, which keeps rows, chapter 4. Under read: chunk, pieces of a prompt, and several sequences in one pass, chapter 5. Under select: select, a sampler, chapter
7. Under append: accept, which is told the token. Under stop: eos, max new tokens and stop, a stop criterion, chapter 8. At the arrow back: on step, a callback that sees
the step.}

First what goes in and what comes out. A pass needs four things: an engine, a model, a store and memory. The loop borrows them, since a model is large and the next text needs the same one. Out come the text, prompt included, and the reason for its end. The caller owns the text and frees it, even after a cancellation: if you break off a long answer, you want to keep what there is.

@<What it takes to generate@>=
struct generate_context {@+ struct engine *e;@+ const struct model *lm;
  struct store *s;@+ struct memory *m;@+ };
  /* what a pass needs; all four are borrowed. |e->c| counts the work */
enum finish_reason {
  FINISH_NONE, /* it has not ended */
  FINISH_STOP, /* an end token came, or a stop criterion said so */
  FINISH_LENGTH, /* |max_new_tokens| are written, or the context is full */
  FINISH_CANCELLED, /* the caller wants no more of it */
  FINISH_ERROR /* something is wrong with this text */
};
  /* why a text ended */
struct continuation {@+ struct ids text;@+ size_t n_prompt;
  enum finish_reason ended;@+ uint32_t sequence;@+ };
  /* |text.id[n_prompt]| is the first token written; |sequence|: its number in the
     store */
void continuation_free(struct memory *m, struct continuation *c);
  /* frees the text */

@ And here is the loop. \label{sec:wholetext} Most callers have one text and want it whole; they call |generate|. A text that is being written is a \emph{sequence}: the text, its options, and how far the reading has come. To write it, open a sequence, take steps until it has ended, and hand the text over. What is left of the twenty lines is one |while|.

What if something goes wrong? When several texts share a step, one may fail and the others should go on; so a sequence that fails ends like any other, and keeps its message.
If you call |generate| you have only one text, so the message becomes the function's own error. And if you press Ctrl-C while a long prompt is read? Then the pass
is given up and the step fails, but nothing is wrong with the text. It ends where it is, and what was written before is kept.

(|sequence_open| checks the prompt before it has cost a pass; it and the functions that free a text are plain C, in \.{unwoven/loop/sequence.c}.)

@<Write a text from its prompt to its end@>=
static bool given_up(const struct generate_context *g, struct continuation *c)
{
  bool cancelled = progress_cancelled(g->e->progress);
  if (cancelled)@+ c->ended = FINISH_CANCELLED;
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
  if (q.c.ended == FINISH_ERROR)@+ ok = error_say(why, "%s", q.why.text);
  memory_free(g->m, logits);
  if (!ok)@+ sequence_close(g->m, &q);
  *out = q.c;
  return ok;
}

@ Where are the six steps? In the step, which can do them for \emph{several texts at once}. Why several? The weights of the model are then read once for all of them, and \cref{phases} shows how much that saves. So the body of the loop is a function that takes any number of sequences one step further, in one pass. Which texts share a pass changes no
bit of any of them, because rows of different sequences never see each other.
@^sequence@>

The first loop forgets, and counts the rows that each sequence has to read. One pass reads all these rows, and one product with the head's matrix scores the last row of each sequence.
In the last loop each sequence takes a token by its own logits, which are in one array: |vocab_size| numbers for each sequence that may choose. Why not every sequence? A long text can be read in pieces. If a text of 5 tokens is read at most 2 rows at a time, three steps read 2, 2 and 1 of its rows, and only the third has logits for the last one. These three steps are one \emph{round} of the sequence: a round goes from one of its tokens to the next.

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
    if (may_choose(list[i]))
      logits = take_tokens(g, list[i], logits);   /* 4., 5. and 6. */
  return true;
}

@* Watching and stopping: callbacks, end tokens, context.
Now the needs, one by one. \emph{You want to see tokens as they come.} \label{sec:watch} Give the loop a function, a \emph{callback}, and it calls that function for each
token, after it was selected. We call the function the \emph{watcher}. It sees the token, the logits it was selected from, and the counters before and after, whose difference
is what the step cost. It can print the token, draw a grid, or cancel the text by returning |false|. (If several texts share a pass, each watcher sees the cost of all.)
@^callback@>@^watcher@>

@<What it takes to generate@>=
struct step {@+ size_t number, length;@+ const float *logits;
  uint32_t chosen;@+ struct counters before, after;@+ };
  /* step |number| (from 1) read |length| tokens; |logits[vocab_size]| lives until
     the watcher returns */
typedef bool step_watch(void *ctx, const struct step *now);
  /* called after every step; |false| cancels */

@ \emph{You want to know how likely a text of your own is.} The text is the prompt, and of each of its tokens you ask how likely it was after those before it. Programs that compare models ask this all the time. The pass has the answer for each row, but so far we score the last row only. So there is one more callback: |on_row| sees the logits of every other row of the prompt. A row is scored only if you ask, because the head is the largest matrix of a small model. (The function |tell_of_rows| is in \.{unwoven/loop/rows.c}.)

@<What it takes to generate@>=
typedef bool step_row(void *ctx, size_t position, const float *logits);
  /* called for each row of the prompt but the last, with the logits of what may follow it;
     by rising |position|, and anew for rows that had to be computed again; |false|: there is
     no memory for it, and the text ends with an error */

@ \emph{There are several end tokens.} Published models have more than one: Llama 3 has one for a text and another for a turn
of a conversation. So |eos| is a list, of two or three ids, where the naive loop looked at one. An empty list means that only the length ends the text; and up to |min_tokens| tokens, an end token does not count as the end. \emph{Or a text should end for another reason}: a phrase has been written, the time is up. For that the caller has a \emph{stop criterion}, a function; chapter 8 has several.
@^end token@>

@<What it takes to generate@>=
typedef bool step_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);
  /* says whether the |text|, whose last token is the newest, is to end with
     it; |*enough| is false before the call; |false| and a message if it cannot tell */

@ Is a token one of the end tokens? There are so few that we look at each.

@<Select a token, append it, and stop or go on@>=
static bool is_one_of(uint32_t id, const uint32_t *list, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (list[i] == id)@+ return true;
  return false;
}

@ When is a context full? \label{sec:contextfull} The context is the store's: it may be shorter than what the model was trained for. Take one of 8 positions and a prompt of 6 tokens. The passes read 6, 7 and 8 tokens; the third writes a ninth, which would have
position 8, and there is no such position. It is written all the same, because it need not be read.\side{A last token needs no row, so a prompt of $n$ in a context of $C$ can
be followed by $C-n+1$ tokens: here $8-6+1=3$.} That is why the code below compares the text's length with |>| and not with |>=|.
@^context@>

The order matters when two ends fall on one token. The end that the model itself selected comes first, then the stop criterion, then the length. A watcher cannot cancel a text that has ended with this token.

@<Select a token, append it, and stop or go on@>=
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
  if (enough)@+ c->ended = FINISH_STOP;
  else if (written == want->max_new_tokens || c->text.n > g->s->n_positions)
    c->ended = FINISH_LENGTH;
  if (want->on_step != NULL && !want->on_step(want->ctx, now)
      && c->ended == FINISH_NONE)
    c->ended = FINISH_CANCELLED;
  return true;
}

@* Selecting: greedy or with a sampler.
\emph{You do not always want the likeliest token.} A \emph{sampler}, chapter 7's, draws a token at random. To the loop it is a function |select|. Its companion |accept|
is told which token has joined the text. Why, when the token was selected a moment ago? Because a choice may come to nothing: a program that guesses several tokens ahead
(\emph{speculative decoding}, \cref{speculation}) asks for many choices and keeps some of them. So selecting changes nothing, and a sampler that has to remember the text
learns of each token by |accept|.
@^sampler@>

@<What it takes to generate@>=
typedef bool step_select(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why);
  /* chooses what follows the |text| by |logits[vocab_size]|, all finite;
     |*chosen| is the likeliest before the call; |false| and a message if it cannot. Choosing
     changes nothing that a later choice depends on */
typedef bool step_accept(void *ctx, uint32_t id, struct error *why);
  /* is told that |id| has joined the text; |false| and a message if it may not */

@ Before anything is selected, we check the logits. A logit that is NaN loses every comparison, since every |>| with it is false. So a model that has gone wrong altogether would write token 0 for ever, and you might take that for bad writing. It is an error instead, and the message names the first such logit.

@<Select a token, append it, and stop or go on@>=
static bool select_token(const struct model *lm, const struct generate_options *want,
  const float *logits, const struct continuation *c, uint32_t *chosen,@|
  struct error *why)
{
  size_t best = 0;
  for (size_t v = 0; v < lm->config.vocab_size; v++) {
    if (!isfinite(logits[v]))
      return error_say(why, "%s: logit %zu is not finite"@|
        " after the last layer; wanted: a number",
        tensor_file_path(lm->weights), v);
    if (logits[v] > logits[best])@+ best = v;
  }
  *chosen = (uint32_t) best;
  return want->select == NULL
    || want->select(want->select_ctx, logits, c, chosen, why);
}

@ These are the last three of the six steps, for one sequence and its own logits. If one of them fails, the sequence ends with an error. Perhaps you only want to know what the reading costs; so with |max_new_tokens == 0| the text ends after it was read, and no token is selected.

@<Select a token, append it, and stop or go on@>=
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
  if (!ok)@+ c->ended = FINISH_ERROR;
  q->before = *g->e->c;
}

@ Why does |generate_step| call |take_tokens|, and not simply |take_token|? \label{sec:guesses} Suppose that somebody has \emph{guessed} what will follow the text, and that the pass has read the guesses too, each at the position that it would have. Then there are logits behind every guess. Are they worth anything? Those behind the first guess are, if the token that we have just selected \emph{is} the first guess: for then the pass has read the very row that the next pass would read. So we select once more, without a pass; and so on, until a guess is wrong or the text has ended. Who would guess, and how well, is a chapter of its own (\cref{speculation}). Until then the list |guess| is empty, and each pass brings one token.
@^guess@>

@<Select a token, append it, and stop or go on@>=
static float *take_tokens(const struct generate_context *g, struct sequence *q,
  float *logits)
{
  const struct ids *text = &q->c.text;
  size_t n = q->guess.n, right = 0, vocab = g->lm->config.vocab_size;
  take_token(g, q, logits);
  while (right < n && q->c.ended == FINISH_NONE
      && text->id[text->n - 1] == q->guess.id[right]) {
    right++;
    take_token(g, q, logits + right * vocab);
  }
  q->guess.n = 0, q->right = right;
  return logits + (n + 1) * vocab;
}

@* Reading: which rows a step computes.
\emph{Rows should be kept}, chapter 4's subject. A function |recall| replaces the first step: it makes the store forget only what does not belong to the text, and says
how many rows are left. \emph{A long prompt should be read in pieces}, since a pass takes memory for each of its rows, and other texts that share the pass have to wait
for the longest. So we read at most |chunk| rows of a sequence in one step (\emph{chunked prefill}, chapter 5).
@^chunked prefill@>

With that we have all options. Name those that matter to you and leave the others zero.

@<What it takes to generate@>=
typedef size_t step_recall(struct store *s, uint32_t sequence,
  const uint32_t *id, size_t n);
  /* makes the store forget what does not belong to the text |id[n]|, and says
     how many of its rows are left */
struct generate_options {
  size_t max_new_tokens;
  const uint32_t *eos;@+ size_t n_eos; /* the end tokens */
  step_watch *on_step;@+ void *ctx; /* the watcher */
  step_row *on_row; /* the watcher's eye on the prompt; |ctx| as well */
  uint32_t sequence; /* the text's number in the store */
  step_recall *recall; /* keeps rows */
  size_t chunk; /* the most rows of the text in a pass; 0: any number */
  step_select *select;@+ step_accept *accept; /* the sampler, */
  void *select_ctx; /* and what both are called with */
  step_stop *stop;@+ void *stop_ctx; /* the stop criterion */
  size_t min_tokens; /* up to this many, an end token does not count */
};
  /* what a caller wants of one text; any function may be null */

@ The first step, for one sequence. The next row to be read is at position |first|, and the rows of guesses come last, with the last rows of the text. Without a |recall|, a round begins with |first| at 0, and |store_crop| forgets everything
from there on. A step reads |count| rows. If more than |chunk| rows are left, the sequence is still |reading|, and the next step goes on where this one stopped; only
after the step that reads its last row may it choose a token. The counters are copied when a round begins, for the watcher.

@<Forget, read and score@>=
static size_t plan_rows(const struct generate_context *g, struct sequence *q)
{
  const struct generate_options *want = q->want;
  size_t n = q->c.text.n;
  q->count = 0;
  if (q->c.ended != FINISH_NONE)@+ return 0;
  if (!q->reading)@+ q->first = 0, q->before = *g->e->c;
  if (want->recall == NULL) store_crop(g->s, q->c.sequence, q->first);
  else q->first = want->recall(g->s, q->c.sequence, q->c.text.id, n - 1);
  size_t left = n - q->first;
  q->reading = want->chunk > 0 && left > want->chunk;
  if (q->reading)@+ q->guess.n = 0;
  q->count = q->reading ? want->chunk : left + q->guess.n;
  return q->count;
}
static bool may_choose(const struct sequence *q)
{@+ return q->count > 0 && !q->reading && q->c.ended == FINISH_NONE;@+ }

@ The new rows of a sequence follow the rows that the store has of it, and a guess stands where it would stand in the text. If it is wrong, nobody has to take it out of the store: the next step forgets what does not belong to the text, as it always does. The last row of the text is always read, or there would be nothing to score. If the step fails,
no text has changed, and the caller may try again, perhaps with one sequence fewer. The new step need not read the same rows. Suppose that the pass has stored its rows and only the logits failed, for want of memory. Then a sequence that is still reading goes on with its next
chunk, and one that had come to its last row begins its round again.

@<Forget, read and score@>=
static size_t make_rows(const struct sequence *q, struct row *rows)
{
  size_t n = q->c.text.n;
  for (size_t i = 0, at = q->first; i < q->count; i++, at++)
    rows[i] = (struct row) @[{ .sequence = q->c.sequence,
      .position = (uint32_t) at,
      .token = at < n ? q->c.text.id[at] : q->guess.id[at - n] }@];
  return q->count;
}

@ Here is the struct whose fields these functions use. You open a sequence, take it step by step to its end, and close it.

@<What it takes to generate@>=
struct sequence {
  struct continuation c; /* the text so far */
  const struct generate_options *want; /* borrowed */
  size_t first, count; /* the next pass reads |count| rows from |first| on */
  bool reading; /* and leaves some for the pass after it */
  struct ids guess; /* what the next pass is to read behind the text */
  size_t room, right; /* for how many there is room, and how many came true */
  struct counters before; /* when the round began */
  struct error why; /* after |FINISH_ERROR| */
};
  /* a text that is being written */
bool sequence_open(struct sequence *q, const struct generate_context *g,
  const uint32_t *prompt, size_t n, const struct generate_options *want,
  struct error *why);
  /* begins a text after the |n| $\ge 1$ ids of the prompt, as sequence |want->sequence|
     of the store; errors: an empty prompt, an id out of range, a prompt longer than
     the context, memory. On failure |q| is empty */
void sequence_close(struct memory *m, struct sequence *q);
  /* frees the text; the store keeps its rows */
bool generate_step(const struct generate_context *g, struct sequence *const *list,
  size_t n, float *logits, struct error *why);
  /* takes |n| sequences, each with its own number in the store, one step further in one
     pass; |logits| has room for |vocab_size| numbers for each of them and for each guess.
     Errors: those of |model_forward| and
     |model_logits|; then no text is longer, and the step may be tried again. What is wrong
     with one text ends this sequence, with |FINISH_ERROR| */

@ The pass is done. If weights are NaN or infinite, a row has become non-finite in some layer, and has spoilt every row that sees it. Which row should the message name?
The first of them: that is where the damage came in, and |pass_is_finite| says after which layer (\cref{sec:forward}). But we ask about the last row before all others.
A damaged row that the last one does not see, because it is outside the window, does no harm, and then the last row is finite.

@<Forget, read and score@>=
static bool finite_until(const struct model *lm, const struct pass *p,
  size_t first, size_t last, struct error *why)
{
  if (pass_is_finite(lm, p, last, NULL))@+ return true;
  while (first < last && pass_is_finite(lm, p, first, NULL))@+ first++;
  return pass_is_finite(lm, p, first, why);
}

@ If a sequence has been read to its end, we need logits of its last row. If that row is not finite, this sequence ends with an error, and the others go on. Guesses count up to the first row that is not finite: if it is wrong, its row does no harm, and if it is right, the next pass will find the error.

@<Forget, read and score@>=
static size_t find_last_rows(const struct model *lm, struct sequence *const *list,
  size_t n, const struct pass *p, size_t *last)
{
  size_t k = 0, end = 0;
  for (size_t i = 0; i < n; i++) {
    struct sequence *q = list[i];
    size_t begin = end;
    end += q->count, q->first += q->count;
    if (!may_choose(q))@+ continue;
    size_t own = end - q->guess.n - 1;
    if (!finite_until(lm, p, begin, own, &q->why)) {
      q->c.ended = FINISH_ERROR;
      continue;
    }
    q->guess.n = 0, last[k++] = own;
    for (size_t r = own + 1; r < end && pass_is_finite(lm, p, r, NULL); r++)
      q->guess.n++, last[k++] = r;
  }
  return k;
}

@ When you wait for one long text, you want to see how much of the text has been read, not how much of the chunk that is in this pass (\cref{sec:progress}). So we tell the pass where in the text it is. Called without a sequence, this function takes it back.

@<Forget, read and score@>=
static void tell_of_text(struct progress *p, const struct sequence *q)
{
  if (p == NULL)@+ return;
  p->before = q == NULL ? 0 : q->first;
  p->all = q == NULL ? 0 : q->c.text.n + q->guess.n;
}

@ Reading makes the rows, puts them through the model, finds the last row of each sequence that has been read to its end, and asks for the logits of those rows. The list of rows is allocated anew for every pass. It would be simpler to allocate it once, at the length that a text may reach. But that length
comes from the model's file, and a file of a few lines may claim a context of $2^{31}-1$ positions. The pass is closed as soon as its logits are computed.

@<Forget, read and score@>=
static bool read_and_score(const struct generate_context *g,
  struct sequence *const *list, size_t n, size_t total, float *logits,@|
  struct error *why)
{
  struct pass *p = NULL;
  size_t k = 0;
  struct row *rows = memory_alloc(g->m, MEMORY_ACTIVATIONS, total, sizeof *rows, why);
  size_t *last = rows == NULL ? NULL
    : memory_alloc(g->m, MEMORY_ACTIVATIONS, total, sizeof *last, why);
  for (size_t i = 0; last != NULL && i < n; i++)
    k += make_rows(list[i], rows + k);
  if (n == 1)@+ tell_of_text(g->e->progress, list[0]);
  bool ok = last != NULL
    && model_forward(g->e, g->lm, g->s, rows, total, &p, why);
  tell_of_text(g->e->progress, NULL);
  if (ok)@+ tell_of_rows(g, list, n, p);
  if (ok)@+ k = find_last_rows(g->lm, list, n, p, last);
  ok = ok && (k == 0 || model_logits(g->e, g->lm, p, last, k, logits, why));
  pass_close(p);
  memory_free(g->m, last);
  memory_free(g->m, rows);
  return ok;
}

@ What if you want passes and no text? \Cref{phases} times a prefill, and \cref{search} reads the rows of all its beams. They call |model_read|, the other function that this module offers.

@<What it takes to generate@>=
bool generate(const struct generate_context *g, const uint32_t *prompt, size_t n,
  const struct generate_options *want, struct continuation *out, struct error *why);
  /* writes after the |n| $\ge 1$ ids of the prompt until something ends the text; errors:
     those of |sequence_open|, of |generate_step| and of the text. On failure |out| is
     empty */
bool model_read(const struct generate_context *g, const struct row *rows, size_t n,
  size_t chunk, struct pass **last, struct error *why);
  /* puts |n| $\ge 1$ rows through the model and its store in passes of at most
     |chunk| rows, 0 for one pass; |*last| is the last one, owned by the caller, null on failure */

@ |model_read| puts the rows through the model, a chunk at a time. It keeps only the last pass, since the caller asks that one for logits. Does it matter where the list
is cut? No. The keys and values of the earlier pieces are in the store, with the same bits, so a row comes out the same in whichever piece it is read (\cref{sec:chunks}).
Progress is counted over the whole list; if the caller has not asked for it, we count in a struct of our own.

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

@ The module needs no tokenizer, since it reads and writes ids and never a character.

@(generate.h@>=
#ifndef INCIPIT_GENERATE_H
#define INCIPIT_GENERATE_H
#include "ground/buffers.h"
#include "model/forward.h"
@<What it takes to generate@>@;
#endif

@ In C a name must be declared before it is used, so the file does not follow the order of our explanation. The functions that read and score rows come first, then those that choose a token, then |generate_step|, which calls both, and |generate|, which calls the step.

@(generate.c@>=
#include <math.h>
#include "loop/rows.h"
#include "safetensors/tensor_file.h"
@;@#
@<Forget, read and score@>@;
@<Select a token, append it, and stop or go on@>@;
@<Take every sequence one step further@>@;
@<Write a text from its prompt to its end@>@;
@<Read a list of rows, a chunk at a time@>@;

@* The check. \label{sec:loopcheck}
The chapter's program lets the naive loop write four tokens, and then the rest of the tale, and prints the counters after both. Then |generate| gets the tale without its last four tokens, with all options but the length and the end tokens left at zero. It has to write the same four, and stop. (The whole tale would take as long again.) If one token differs, the program fails.

@c
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "loop/generate.h"
@;@#
@<The built-in model, and what it takes to run it@>@;
@<Find the token with the highest logit@>@;
@<Write until the end token, or until the text is full@>@;
@<Print what the counters say@>@;
@<Print the text, and write its end once more with the general loop@>@;
int main(void)
{
  static struct writer w;
  struct error why;
  bool ok = writer_open(&w, &why) && write_text(&w, 3 + 4, &why);
  if (ok)@+ print_counts(&w);
  ok = ok && write_text(&w, LONGEST, &why);
  if (ok)@+ print_counts(&w), print_text(&w);
  ok = ok && compare_loops(&w, &why);
  if (!ok)@+ fprintf(stderr, "%s\n", why.text);
  ids_free(&w.m, &w.text), memory_free(&w.m, w.logits);
  store_close(w.s), tokenizer_close(&w.m, w.t);
  model_close(&w.m, w.lm);
  return !ok;
}

@ A writer is the built-in model, what it takes to run it, and the text, which begins with the three tokens that are given.

@<The built-in model, and what it takes to run it@>=
enum {@+ LONGEST = 200@+ };
struct writer {@+ struct memory m;@+ struct counters c;@+ struct engine e;
  struct model *lm;@+ struct tokenizer *t;@+ struct store *s;
  float *logits;@+ struct ids text;@+ };
static bool writer_open(struct writer *w, struct error *why)
{
  static const char pocket[] = "models/pocket", prompt[] = "The cat sat";
  struct memory *m = &w->m;
  w->e = (struct engine) @[{ .k = &kernels_plain, .c = &w->c }@];
  if ((w->lm = model_open(m, pocket, why)) == NULL@|
      || (w->t = tokenizer_open(m, pocket, why)) == NULL@|
      || (w->s = array_store_open(m, &w->lm->config, why)) == NULL)@+ return false;
  w->logits = memory_alloc(m, MEMORY_ACTIVATIONS, w->lm->config.vocab_size,
    sizeof (float), why);
  return w->logits != NULL && tokenizer_encode(w->t, m, prompt,@|
    strlen(prompt), false, false, &w->text, why);
}

@ The text is printed token by token; a token that would be too long for the line begins the next one, without its space. The general loop gets the same store, which it makes forget. If the text is too short to leave four tokens out, it is written again from its prompt.

@<Print the text, and write its end once more with the general loop@>=
static void print_text(const struct writer *w)
{
  for (size_t i = 0, n, column = 0; i < w->text.n; i++) {
    const char *word = (const char *) tokenizer_text(w->t, w->text.id[i], &n);
    bool wrap = n > 1 && column + n > 62, skip = wrap && *word == ' ';
    printf("%s%.*s", wrap ? "\n" : "", (int) n - skip, word + skip);
    column = (wrap ? 0 : column) + n - skip;
  }
  printf("\n");
}
static bool compare_loops(struct writer *w, struct error *why)
{
  struct generate_context g = @[{ &w->e, w->lm, w->s, &w->m }@];
  struct generate_options want = @[{ .max_new_tokens = LONGEST,@|
    .eos = w->lm->config.eos, .n_eos = w->lm->config.n_eos }@];
  struct continuation c;
  size_t given = w->text.n > 3 + 4 ? w->text.n - 4 : 3;
  if (!generate(&g, w->text.id, given, &want, &c, why))@+ return false;
  bool same = c.text.n == w->text.n@|
    && memcmp(c.text.id, w->text.id, c.text.n * sizeof (uint32_t)) == 0;
  if (same)@+ printf("generate: the same last %zu tokens\n", c.text.n - given);
  continuation_free(&w->m, &c);
  return same || error_say(why, "generate writes another end");
}

@* What the tutorials say. \label{sec:looptutorials}
Three of the claims that we ran are the most instructive; the others are in the laboratory.\lab{lab:looptutorials} (S4-27 is claim 27 of the source that the bibliography
lists as S4.)

\begin{claimed}{S4-26, S4-27, S4-30, S4-33, S4-36, S4-39}
the last token is never read. For $p=3$ and $g=4$ that makes \val{claim.S4-27} rows and not $p+g=7$, and \val{claim.S4-27} are what the article's own drawing shows. Its table should say
\val{claim.S4-30}, \val{claim.S4-33}, \val{claim.S4-36} and \val{claim.S4-39}.
\end{claimed}

\begin{claimed}{S0-04, S0-37, S0-58, S1-57, S2-35, S3-11}
for \given{1000} tokens the naive loop computes \val{claim.S0-37} rows, which is quadratic, and \val{loop.pairs.1.1000} pairs, which is
cubic. Another article prints \val{claim.S1-57} as the number of positions for ``attention''; it is the number of rows.
\end{claimed}

\begin{claimed}{S2-12, S2-46}
of the \val{loop.naive.50.100} rows that the loop computes for this article's own example, \val{claim.S2-12} are enough.
And ``only need the query at the last position'' is true of the last layer alone: if one query of the first layer
is left out, keys of the second layer change.
\end{claimed}

@ You now have a loop that is right, and wasteful. All its waste comes from a single line. Have you seen which? Chapter 4 begins by taking it out.

@* Exercises. \label{sec:loopexercises}
The command beside an exercise runs the loop and judges your answer by it.

\begin{exercises}
\exercise{check}{ex:loop.grid}{Draw the grid for a prompt of two tokens and five to write. How many cells has it, and how many
of them are needed?}{\texttt{make exercise-03-1}}{Lines of 2, 3, 4, 5 and 6 cells: 20, of which $2+5-1=6$ are needed.}
\exercise{check}{ex:loop.zero}{A prompt has \given{100} tokens, and \given{100} are to be written. How often is the row of token 0 computed, how
often in vain, how many rows are there in all and how many are needed?}{\texttt{make exercise-03-2}}{Once in
each pass: \given{100} times, 99 of them in vain; \given{14,950} rows, of which \given{199} are needed.}
\exercise{think}{ex:loop.pairs}{Give the number of query--key pairs of the naive loop for any $p$ and $g$, and check it
for one prompt and one length of your own.}{\texttt{make exercise-03-3}}{$\sum_{n=p}^{p+g-1}n(n+1)/2$, a difference of two of the sums in
\eqref{eq:pairs}: $\bigl((p+g-1)(p+g)(p+g+1)-(p-1)p(p+1)\bigr)/6$.}
\exercise{think}{ex:loop.ratio}{For which $p$ is the waste of a text of $g$ written tokens exactly three quarters of
$g$?}{\texttt{make exercise-03-4}}{By \eqref{eq:waste} $\frac{(g-1)/2}{p+g-1}=\frac14$, so $p=g-1$.}
\exercise{think}{ex:loop.end}{An end token is selected in step $k$. How many rows has the naive loop computed, and how many of them
were needed, if the end token itself is never read?}{\texttt{make exercise-03-5}}{$kp+k(k-1)/2$, as if $k$ tokens had been
asked for, and $p+k-1$: the end token costs a pass like any other.}
\exercise{think}{ex:loop.narrow}{In a model whose rows see $w$ positions, how many query--key pairs does the naive loop cost, if $p\ge
w$?}{\texttt{make exercise-03-6}}{A pass of $n$ rows has $wn-w(w-1)/2$; together $w\bigl(pg+g(g-1)/2\bigr)-gw(w-1)/2$. Linear in $n$, and still a square in $g$.}
\exercise{think}{ex:loop.full}{The loop runs until the context of $c$ positions is full. How many tokens does it write after a prompt of $p$, and how many
rows does it compute?}{\texttt{make exercise-03-7}}{$c-p+1$, for the last one needs no position, and $c(c+1)/2-p(p-1)/2$.}
\exercise{think}{ex:loop.stop}{Let the loop also end when the last $n$ tokens repeat the $n$ before them. Which of the six
steps changes?}{\texttt{make exercise-03-8}}{Only the sixth.}
\exercise{check}{ex:loop.window}{Let |plan_rows| and |make_rows| make rows for the last 64 tokens only, at positions from 0. For which $p$ and
$g$ is the loop now linear, and are the rows it repeats still equal to the last bit?}{\texttt{make exercise-03-9}}{Linear once the
window is full: 64 rows a pass. But no row is repeated: the window begins one token later each time, so every row has
another position, and another beginning before it.}
\exercise{think}{ex:loop.half}{Let the loop go on when the context is full: it leaves out the oldest half context, counts positions from 0 again, and does so whenever it is
full. What does this cost a token, compared with the exercise before?}{\texttt{make exercise-03-10}}{Between a half and a whole context of rows, three quarters on average; but most
rows stay where they were from one pass to the next, so a cache could keep them.}
\end{exercises}
