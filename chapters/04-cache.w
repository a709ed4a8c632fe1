@i types.w
@s cache_options int
@s cache_state int

\chapterquestion{The model has read this text a moment ago. Why must it read it again?}
@** The KV cache: keep, page, fork, crop.
\incipit{I}{t need not.} The loop of chapter 3 has six steps, and the first of them is to forget. To write the thousandth token it computes again all the rows that it had a moment ago. And nothing in them has changed: we have proved that (\cref{sec:causal}), and tested it to the last bit. So let us leave this step out. The keys and values of all earlier positions stay in the store, and each pass computes a single row, that of the newest token. You get the same text and the same logits, bit for bit; but a text of \given{1000} tokens is written in less than a hundredth of the time. The keys and values that stay in the store from step to step are called the \emph{KV cache}.
@^KV cache@>

The change is one line. It costs memory, a great deal of it for a long text, and it raises questions that the naive loop did not have. What exactly is in the cache after a given number of steps? Is a row's own key there when the row attends? What if two texts begin alike, or if you take a text back a few tokens and go on differently? It is easy to be off by one here. Three of our five tutorials are.

In the first half of this chapter we remove the line, and count what that saves and what it costs. In the second half we build a store for several texts: it keeps their rows in pages, lets two texts share what they have in common, and can take a text back. The loop is still chapter 3's. We begin on paper.

\begin{byhand}{three given, four to write, and nothing forgotten}
\tok{The}\tok{\ cat}\tok{\ sat} are given; \gen{\ on}\gen{\ the}\gen{\ mat}\gen{.} are written. Each pass computes the rows
that the store does not have.

\medskip
\begin{tabular}{@@{}llrr@@{}}
\tabhead{pass} & \tabhead{reads positions} & \tabhead{rows} & \tabhead{in the store then}\\
1, writes \gen{\ on} & 0 1 2 & 3 & 3\\
2, writes \gen{\ the} & 3 & 1 & 4\\
3, writes \gen{\ mat} & 4 & 1 & 5\\
4, writes \gen{.} & 5 & 1 & 6
\end{tabular}
\medskip

In all $3+1+1+1=6$ rows, where chapter 3 computes 18. The store has $3$, $4$, $5$ and finally $6$ rows, for a text of $3+4=7$ tokens: always one fewer than the
text, because the newest token has not been read yet. How many of the six are read again by a later pass? Rows 0, 1 and 2 by three passes, row 3 by two, row 4 by one, row 5 by none: $5$ rows.
\end{byhand}

In general, a prompt of $p$ tokens and $g$ written ones leave $p+g-1$ rows in the cache, and the laboratory checks this in every run.\lab{lab:cachetwice}

@* Why keys and values are kept, and queries are not. \label{sec:whykeep}
In each layer a row makes three vectors: a query, a key and a value. Why do we cache only two of them? Look at where they are used (\cref{fig:cachedstep}). In one head, the result of row $i$ is @^query@>
\begin{equation}\label{eq:cachedstepresult}
  y_i=\sum_{j=0}^{i}w_{ij}\,v_j,\qquad w_{ij}={e^{s_{ij}}\over\sum_{l=0}^{i}e^{s_{il}}},\qquad s_{ij}={q_i\cdot k_j\over\sqrt{d_h}},
\end{equation}
where $q_i$ is its query, $k_j$ and $v_j$ are the key and the value of row $j$, and $d_h$ is the width of a head (\cref{sec:attend}). The key and the value of row $j$ occur in the results of row $j$ and of \emph{all later} rows. The query of row $i$ occurs in the result of row $i$ alone, and we compute that result once, in the pass that makes the query.

\fig{cachedstep}{fig:cachedstep}{One query against five keys: a pass of one row, in one head of one layer, after four rows that are stored. A query is a line of the triangle of scores, and a key is a column. The new row adds a line, for which it needs every column but no other line.}{A triangle of five lines and five columns. Its first four lines, the scores of earlier rows, and their four queries are dotted outlines. The last line is filled: the query of the new row meets the four cached keys above it and its own key, which gives five weights; below them the four cached values and the row's own value are added up to the result.}

Then why couldn't the naive loop leave out the queries of its old rows (\cref{sec:causal})? Because it needed the result $y_i$ of each old row to make that row's keys and values in the \emph{next} layer. We don't, since those are in the cache as well: all that an old query was good for has been stored. And we never have to correct the stored keys and values, because they depend on no token after their own.

@* From recomputing to caching: one line. \label{sec:line}
Where is the line? Chapter 3's loop (\cref{sec:generate}) forgets, makes rows for the tokens that the store does not have, puts them through the model and scores what may follow, selects, appends, and asks whether to stop. Its first step is in these lines:

\smallskip
\noindent|if (want->recall == NULL)|\hfil\break
\null\hskip 1em|store_crop(g->s, q->c.sequence, q->first);|\hfil\break
|else q->first = want->recall(g->s, q->c.sequence, q->c.text.id, n - 1);|
\smallskip

\noindent Here |q->first| is the number of rows that the pass need not compute. It is 0 at the beginning of each step; so |store_crop|, which drops the rows from that number on, drops them all. But if the caller's options have a function |recall|, the loop does not crop. It asks the function how many rows of the text the store has already, and reads only the rest.

The function that we use from now on is |store_match_prefix|. It compares the text with the tokens of the store, keeps the rows up to the first difference, and crops the sequence there. While a text is being written there is no difference: only the newest token has no row, so the pass computes one. If you change a token in the middle of the text, the rows from there on are computed again. As far as the loop is concerned, that is the whole cache. You can even switch it on or off in mid-text; the next pass then computes one row, or all of them.

@(keep.h@>=
#ifndef INCIPIT_KEEP_H
#define INCIPIT_KEEP_H
#include "model/store.h"
size_t store_match_prefix(struct store *s, uint32_t sequence, const uint32_t *id,
  size_t n);
  /* keeps the rows of |sequence| whose tokens are |id[0]|, \dots, |id[n-1]|, as far as
     they agree from the first on; crops the others; returns how many rows are kept */
#endif

@ How can it know which rows belong to a text? A store remembers the tokens of its rows. Every kind of store can list them, so the function serves the array of \cref{sec:rows} as well as this cache.

@(keep.c@>=
/* What a text may take over from the rows of an earlier one. It asks any kind of store, never a
   page: so the array of chapter 2 serves as well. */
#include "cache/keep.h"
@;@#
size_t store_match_prefix(struct store *s, uint32_t sequence, const uint32_t *id,
  size_t n)
{
  const uint32_t *token = store_tokens(s, sequence);
  size_t k = 0, length = store_length(s, sequence);
  while (k < n && k < length && token[k] == id[k]) k++;
  store_crop(s, sequence, k);
    /* a store with a window may have to drop more than it was asked to, so the length is asked
       for again */
  return store_length(s, sequence);
}

@* Cached equals recomputed, bit for bit. \label{sec:twice}
Do you get the same text? The program of this chapter takes the four steps of the case by hand in both ways, and compares all \val{cache.late.of} logits of each step (\cref{sec:cachecheck}). How many of them differ? \val{claim.S0-51}. Both runs round, and still no bit is different, because they perform the same operations in the same order: a row that goes through the layers alone is summed in the same order as in a pass with others (\cref{sec:order}). Tests\side{In \.{tests/suites/check\_cache.c}: |to_remember_changes_no_bit|, |the_whole_context_row_by_row|.} repeat the comparison for every family of models, and for the built-in model up to its full context.

Don't expect this elsewhere. Many engines multiply a matrix by one row with one kernel and by many rows with another, and the two add in different orders \cited{He 2025}. What happens then? We gave our own engine such a pair of kernels and read a text of \val{sampling.order.places} tokens in one pass and then token by token:\lab{lab:twokernels} \val{sampling.pair.differ} of \val{sampling.pair.entries} logits differ in their last bits. Yet the likeliest token changes in \val{sampling.pair.flips} of the \val{sampling.order.places} places, and of \val{sampling.pair.draws} draws \val{sampling.pair.drawn} come out differently. But in a long text the logits of two tokens will one day be closer than the rounding, and then the tokens change places.
@^order of summation@>

\Cref{fig:plates}\lab{lab:plates} shows the keys in the cache after each of the four passes, read from memory. Follow one line through the columns: it never changes again. The cache grows by one line in all layers at once, and is one token shorter than the text. (On the page that \texttt{make living} builds you can watch it grow, and switch it off in the middle of a text: the next word is the same, and you wait for it.)

\widefig{plates}{fig:plates}{The keys of the first and the last layer in the cache after each of the four passes: a line for each position, a cell for each number, darker the larger its magnitude. Red cells are those that the pass has added. A red word is the token that has just been written; it has no line yet.}{Four columns of two plates. The plates of a column have three lines, then four, five and six; after the first pass all three are red, later only the last. The pattern of dark and light cells in a line does not change from column to column.}

@* Keys and values are stored before attention. \label{sec:append}
A row attends to the rows before it \emph{and to itself}. So its key and its value must be in the store before its query is compared with the keys there; chapter 2 made this a rule. Many explanations of the cached step tell it the other way round: the query attends to all cached keys and values, and \emph{then} the new key and value are appended. Does it matter?

\begin{byhand}{a row that overlooks itself}
One head of one number. Two rows are stored, with the values $3$ and $6$. A third comes, with the value $8$. Its scores are such that $e^s$ is $1$ for the first row, $2$ for the second, and $3$ for itself.

\medskip
\begin{tabular}{@@{}ll@@{}}
store first & $(1\cdot3+2\cdot6+3\cdot8)\div(1+2+3)=39\div6=6.5$\\
store last & $(1\cdot3+2\cdot6)\div(1+2)=15\div3=5$
\end{tabular}
\medskip

The next row finds all three. But this one has found $5$ where it should have found $6.5$, and what it hands on to the next layer is wrong.
\end{byhand}

We can put the other order into the real model. The prompt \tok{The}\tok{\ cat}\tok{\ sat} is read as it should be; then the row of \gen{\ on} is read by either rule, and the logits after it are compared.\lab{lab:late} All \val{cache.late.differ} of the \val{cache.late.of} logits come out different. That alone could be rounding; but one is off by \val[2]{cache.late.most}, where all logits are between \val[1]{cache.late.low} and \val[1]{cache.late.high}. And here is the nasty part: the next token is the same. The model knows this sentence by heart, and gives \gen{\ the} a probability of \val[5]{cache.late.right} by either rule. A test that compares the next token would pass. Only when we let both write on from \tok{The}\tok{\ cat} do the two texts part, at token \val{cache.late.parts}. The cached loop with the wrong order is another model, and nothing tells you so.

@* Work per token with the cache. \label{sec:counting}
What have we saved? A step of the naive loop over $n$ tokens computes $n$ rows and compares $n(n+1)/2$ pairs of a query and a key. With the cache it computes one row, whose query meets $n$ keys: its own and those of the $n-1$ rows before. Over a whole text that begins with one token, $T$ steps compute
\begin{equation}\label{eq:cachedrows}
  \sum_{n=1}^{T}n=\frac{T(T+1)}2\ \hbox{rows, now}\ \sum_{n=1}^{T}1=T,
\end{equation}
and of the pairs, which were a sum of sums, a single sum is left:
\begin{equation}\label{eq:cachedpairs}
  \sum_{n=1}^{T}\frac{n(n+1)}2=\frac{T(T+1)(T+2)}6\ \hbox{pairs, now}\ \sum_{n=1}^{T}n=\frac{T(T+1)}2.
\end{equation}
(The third of the four sums follows from $n(n+1)/2=\binom{n+1}2$, whose sum up to $T$ is $\binom{T+2}3$.) For $T=\given{1000}$ the counters of the two loops say\lab{lab:cachesums} \val{cache.naive.rows.1.1000} rows and \val{cache.naive.pairs.1.1000} pairs without the cache, and \val{cache.rows.1.1000} rows and \val{cache.pairs.1.1000} pairs with it. (These are the pairs of one head in one layer; each head of each layer has as many.)

So what has become linear? The rows, and with them everything that a row costs by itself: projections, MLP, norms. Attention has become quadratic, from cubic (\cref{fig:cachegrowth}). If you read that the cache makes generation linear, the author has counted rows; if you find that long contexts are slow, you have met the pairs. With the cache there are as many pairs as the naive loop has \emph{rows}, the same $T(T+1)/2$. That is why some tutorials print this formula as the cost with the cache, and others as the cost without it: the former have counted pairs, the latter rows.

\fig{cachegrowth}{fig:cachegrowth}{Rows (points) and pairs (circles) of a text that begins with one token, without the cache and with it. On logarithmic axes $n^k$ is a line of slope $k$. With the cache there are as many pairs as there were rows without it, so the two lines in the middle are one.}{Logarithmic axes. Without the cache the pairs rise with slope three and the rows with slope two; with it the pairs rise with slope two, on the very line of the rows before, and the rows with slope one.}

In the case by hand we can count the pairs: the three queries of the first pass meet $1$, $2$ and $3$ keys, those of the others $4$, $5$ and $6$. That is \val{cache.pairs.3.4} in all, where chapter 3's loop compares \val{cache.naive.pairs.3.4}.

@* Time per token with the cache. \label{sec:cacheclock}
A step with the cache computes one row, which costs a constant by itself and attends to $n$ keys. We expect
\begin{equation}\label{eq:cachedstep}
  t(n)=a+bn,
\end{equation}
where a step of the naive loop took $an+bn(n+1)/2$. We timed each of \given{1000} steps of the built-in model, both ways, in \val[word]{cache.clock.rounds} rounds (\cref{fig:cacheclock}).\lab{lab:cacheclock} The best fit of \eqref{eq:cachedstep} to the cached steps gives \val[0]{cache.clock.row} microseconds for $a$ and \val[1]{cache.clock.key} nanoseconds a key for $b$, with a mean error of \val[1]{cache.clock.error} percent.

All \given{1000} tokens take \val[1]{cache.clock.naive.1000} seconds without the cache and \val[2]{cache.clock.kept.1000} with it. The longer the text, the larger the factor: it is \val[1]{cache.clock.ratio.30} for the first 30 tokens, \val[1]{cache.clock.ratio.100} for \given{100}, \val[1]{cache.clock.ratio.300} for \given{300}, and \val[0]{cache.clock.ratio.1000} for \given{1000}. That is less than the factor of the rows, \val[0]{cache.clock.rows}. Where has the rest gone? About half of the naive loop's time at this length is pairs, and their factor is only $(T+2)/3$, the quotient of the two sums in \eqref{eq:cachedpairs}. And a row that goes through the layers alone costs more than one among many: \val[0]{cache.clock.row} microseconds, where \cref{sec:clock} found \val[0]{loop.clock.row}. Why, is the subject of \cref{phases}.

\fig{cacheclock}{fig:cacheclock}{Time of a step over the length of the text, without the cache and with it, and the fitted line of \eqref{eq:cachedstep}, which is bent by the logarithmic axes. Medians of the rounds, with one thread, on the machine of \cref{fig:clock} and with its kernels.}{Two curves on logarithmic axes. The naive one rises steadily over two orders of magnitude. The cached one is nearly flat at first and rises a little towards many tokens, close to the fitted curve.}

@* Memory per token. \label{sec:price}
We pay for the saved work with memory. How much? A row that is kept has a key and a value in each layer: $2\cdot\hbox{layers}\cdot\hbox{kv\_heads}\cdot\hbox{head\_dim}$ numbers. In GPT-2 small's shape, 12 layers of 12 heads of 64, and in two-byte numbers, that is \val{cache.gpt2.row} bytes a position. (Ours have four bytes, and take twice that; you will meet shorter ones in \cref{accounts}.) A prompt of 50 tokens and \given{100} written ones leave \val{cache.rows.50.100} rows in the cache, which are \val{cache.gpt2.bytes} bytes. Of the \val{cache.naive.rows.50.100} rows that the naive loop computes, \val{cache.saved.50.100} have been saved. That makes \val[0]{cache.price.50.100} bytes of memory for each row of work saved. The price falls as the text gets longer, since the saved rows grow with the square of its length and the memory only with the length itself:
for \given{1000} tokens after a prompt of one it is \val[0]{cache.price.1.1000} bytes.

And memory is not the whole price. Each step must also read all keys and values that its row attends to. The counters say how much that is (|cache_bytes_read|), and \cref{phases} how long it takes.

@ In Python you meet the cache as a tensor.\label{sec:tenpositions} For a batch of $B$ sequences the keys have, after a prompt of ten tokens, the shape

\smallskip
\hskip 2em\.{[layers][B][kv\_heads][10][head\_dim]},
\smallskip

\noindent and the values the same. A pass of \emph{one} row for each sequence changes 10 to 11. That is all that a cached step does to the cache: each layer gains one position. (Our order of the axes is another, \cref{sec:layout}.)

@* Turned keys: RoPE and the cache. \label{sec:turned}
The keys are stored as attention wants them: multiplied, normed, and \emph{turned} by the angles of their position, which is the \emph{rotary position embedding} (RoPE, \cref{sec:layer}). A key that has been turned once serves every later query. Had we stored it unturned, every row that attends to it would have to turn it again: one rotation for each pair of a query and a key, in every layer.
@^RoPE@>

The price is that a turned key belongs to its position. Suppose that you drop the first half of a text and move the rest to the front. Then you must turn back all keys of the rest by the distance, row by row. And even that does not make them what they would be in a text that begins there. In every layer but the first, a key and a value are made of what their row found when it attended to the rows before it, and
what it found in the half that was dropped cannot be taken out again.

Wouldn't it be nice to compute common paragraphs once, and paste them wherever they occur? For the same reason it cannot be done. The rows of a paragraph that was read at position 0 have not attended to the text after which you paste it, and no turning of keys will make up for that. Only the \emph{beginning} of a text can be
shared, because it has the same positions and the same tokens before it in both. (Models with learned positions, such as GPT-2, add the position before the first layer. Their keys cannot even be turned back.)

@ What can you do when a text reaches the end of the model's context?\label{sec:contextend} You can stop; our loop ends the text, as if its length had been reached. You can read the second half again, from position 0: that is exact for the shorter text, and costs a prefill. You can move the second half by turning its keys, as above; this is llama.cpp's \emph{context shift}, which costs next to nothing but gives other logits. (We compared it with reading the second half again, for \val{cache.shift.cases} beginnings of a tale: the logit that is furthest off is off by \val[2]{cache.shift.mean} on average, and the likeliest token changed in \val{cache.shift.changed} of them.\lab{lab:shift})

There is a fourth way, and it is easily misunderstood. You keep a few rows from the beginning, the \emph{attention sinks}, and a window at the end (\cref{sec:sinks}). That bounds the memory, but not the positions: if the rows keep their positions, as in our engine, the text still ends where the context ends. To go on without end, you must also renumber the rows that are left, in each step, and therefore store keys unturned.
@^context shift@>@^context@>

@* A paged cache: block tables, forks, copy on write. \label{sec:sequences}
So far there was one text. But you may have several at a time: the conversations of your users, the answers among which you will choose, the beams of a search. Their rows can share a pass, and \cref{sec:batching} shows how much that saves. So a store knows its \emph{sequences}: which rows belong to which text, and from which tokens they were computed.

Three things happen to a sequence. A pass \emph{appends} rows. The store checks them before anything is computed: no position may be missing, come twice, or be beyond the context. A sequence can be \emph{forked}, when a second text goes on from where the first is. And it can be \emph{cropped}, when a text is taken back to an earlier position or given up: the store forgets the rows from that position on.
@^sequence@>@^fork@>@^crop@>

@ Where should\label{sec:pages} the rows of a sequence be? The first thing that comes to mind is one block of memory for each text, as in the store of \cref{model}. How long should it be? You don't know how long the text will become. If you reserve a whole context, most of the block stays empty: \cited[Kwon and others (2023)]{Kwon 2023} found that in engines that did so only 20 to 38 percent of the memory reserved for caches held rows. If you reserve less, a text that outgrows its block must be copied. And a fork is a copy in any case, even if the two texts differ in their last token only.

So this store keeps rows in \emph{pages} of $P$ rows each. A sequence has a \emph{block table}, which is the list of its pages: the row of position $t$ is row $t\bmod P$ of the page in entry $\lfloor t/P\rfloor$ of the table. The pages of a sequence may be anywhere in memory, and a page may be in several tables. An operating system gives memory to processes in this way. For keys and values Kwon and others introduced it as \emph{paged attention}; they call a page a block. Only the end of each text's last page is unused (\cref{sec:cachebill}).
@^page@>@^paged attention@>@^block table@>

To fork a sequence, we copy its table (\cref{fig:blocktable}). To crop it, we make the table shorter. No key and no value moves.

\widefig{blocktable}{fig:blocktable}{Pages of four rows. The numbers in a page are the positions of its rows, and \emph{refs} counts the tables that have the page. A fork copies the table. When A appends row 10, its last page is shared, so A first copies rows 8 and 9 to a page of its own; B keeps the old one.}{Three panels, each with block tables on the left and a pool of six pages on the right. First: table A has the entries 3, 0 and 4; page 3 holds rows 0 to 3, page 0 rows 4 to 7, page 4 rows 8 and 9. Second: table B has the same entries, and the three pages have two references each. Third: the last entry of A is now page 5, with copies of rows 8 and 9 and the new row 10; pages 4 and 5 have one reference each, the others two.}

What if both texts go on? A page that is in two tables must not be written to, or one sequence would see what the other appends. But rows are only ever appended, so of all pages that hold rows a pass writes only to the last one of a sequence. If this page is shared, the pass takes a free page, copies the rows that count, and puts the new page into the table. This is called \emph{copy on write}. After a fork, each sequence copies one page at most; the same is true after a crop that ends within a shared page.
@^copy on write@>

@* Prefix caching. \label{sec:prefix}
Forks pay off when many texts begin alike: a service puts the same instructions before each user's question, each turn of a conversation begins with all turns before it, and several answers to a question share the question. The rows of the common beginning are then computed once, and are in memory once. In this chapter the caller says what is shared. It forks a sequence, as beam search does in \cref{search}; or it continues the sequence of an earlier text, as in a chat, and |store_match_prefix| finds how far that text serves.

A server cannot ask its callers. It has to find the common beginning of a new prompt among the pages of all earlier ones, which is called \emph{prefix caching}. vLLM looks each full page up in a table of hashes (and so will we, \cref{sec:prefixindex}); the hash of a page is made from its tokens and from the hash of the page before it, so that it stands for the whole text up to there. SGLang keeps the texts in a radix tree, whose branches are their different continuations, and calls this \emph{RadixAttention} (\cited[Zheng and others 2024]{Zheng 2024}). Pages that no text uses stay until their memory is needed, or are moved to a disk. Prefix caching saves prefill and memory. A decode step still reads all keys and values of its text, shared or not.
@^prefix caching@>@^vLLM@>@^SGLang@>

@* The layout of a page. \label{sec:layout}
What does a page look like inside? For each layer there is a part with its keys and a part with its values. Within a part you can think of two orders (\cref{fig:pagelayout}). \emph{By rows}, the heads of a row are next to each other; that is how rows come out of the matrix products, and how chapter 2's store keeps them. \emph{By heads}, each head has its rows for itself. One head reads the keys of many rows: by rows it finds \given{256} bytes of its own every \val{layout.stride} bytes, in GPT-2 small's shape; by heads it reads one piece of memory from end to end.

\fig{pagelayout}{fig:pagelayout}{The memory of a page, for three heads and four rows. In a part, the order by heads puts together what one head reads.}{Three bars. The first is a page: keys and values of layer 0, of layer 1, and so on. The second is one of its parts by heads: four rows of head 0, which are marked as one piece, then four of head 1, four of head 2. The third is the same part by rows: in each of four rows three heads, and what head 0 reads is marked in four places.}

And how large should a page be? Larger pages are read faster, but on average half of a text's last page is unused. No formula decides this, so we measured attention by itself: one new row in GPT-2 small's shape, one layer of 12 heads of 64, over \given{256}, \given{1024} or \given{4096} positions, in eight layouts, with the pages shuffled as they would be after some forks and crops (\cref{tab:layouts}).\lab{lab:layouts}

The order matters most. Over \given{4096} positions one block by rows takes \val[1]{layout.order} times as long as one block by heads, because a head finds its rows far from each other. By heads the gaps are at the ends of pages, and the fewer there are the better: compared with one block, pages of 16 rows take \val[0]{layout.cost16} percent longer, pages of 64 rows \val[0]{layout.cost64} percent, and pages of \given{256} rows \val[0]{layout.cost256} percent. Why does a gap cost so much? We think that it is the prefetching. The kernel asks for keys 16 rows before it needs them (\cref{sec:tuning}), and in the last 16 rows of a page it asks for the wrong place. That concerns all rows of the smallest pages, a quarter in those of 64 and one in 16 in the largest, which is the order of the three losses. But we have not taken the prefetching out to see.
(The kernel of these times takes one head at a time. Since then all heads of a row take turns, \cref{sec:heads34}, and we have not measured again.)

Now set the two costs side by side. At \given{4096} tokens half a page of \given{256} rows is 3 percent of the cache, and such pages are clearly faster than ours of 64. At \given{256} tokens, where half of such a page is half of the cache, they gain next to nothing (the table's first column). We chose 64 rows, by heads, with short texts in mind. If yours are all long, take \given{256}.

\begin{table}
\tabcaption{tab:layouts}{Microseconds of one layer's attention for one row, over \given{256}, \given{1024} and \given{4096} stored positions. Bold: the layout that we chose.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrr@@{}}
\tabhead{layout} & \tabhead{\given{256}} & \tabhead{\given{1024}} & \tabhead{\given{4096}}\\\midrule
by rows, one block & \val[0]{layout.rows.256} & \val[0]{layout.rows.1024} & \val[0]{layout.rows.4096}\\
by rows, pages of 16 & \val[0]{layout.rows16.256} & \val[0]{layout.rows16.1024} & \val[0]{layout.rows16.4096}\\
by rows, pages of 64 & \val[0]{layout.rows64.256} & \val[0]{layout.rows64.1024} & \val[0]{layout.rows64.4096}\\
by rows, pages of \given{256} & \val[0]{layout.rows256.256} & \val[0]{layout.rows256.1024} & \val[0]{layout.rows256.4096}\\
by heads, one block & \val[0]{layout.heads.256} & \val[0]{layout.heads.1024} & \val[0]{layout.heads.4096}\\
by heads, pages of 16 & \val[0]{layout.heads16.256} & \val[0]{layout.heads16.1024} & \val[0]{layout.heads16.4096}\\
\textbf{by heads, pages of 64} & \textbf{\val[0]{layout.heads64.256}} & \textbf{\val[0]{layout.heads64.1024}} & \textbf{\val[0]{layout.heads64.4096}}\\
by heads, pages of \given{256} & \val[0]{layout.heads256.256} & \val[0]{layout.heads256.1024} & \val[0]{layout.heads256.4096}
\end{tabular*}
\end{table}

@* Sliding windows: pages that can go. \label{sec:leaving}
In some models a layer does not see the whole text. A layer with a \emph{sliding window} of $W$ positions shows the row of position $p$ only the rows from $p-W+1$ on (\cref{sec:ring}). So its cache need not grow for ever. Which pages can we release, and when? Let a sequence have $L$ rows, and let $n$ more come. The earliest of these sees back to $L-W+1$. Rows before that will never be read again. What stays are the rows from $L-W+1$ to $L+n-1$, which are $W-1+n$ rows; for a step of one row that is $W$, however long the text has become. This is often drawn as a ring, in which the new row takes the place of the oldest (\cref{fig:ring}). With pages of one row it is exactly that, and with longer ones nearly: a row that has left the window is kept until all rows of its page have left it.
@^sliding window@>

When pages are released, their entries stay in the table. Take a window of 6, pages of 4 rows, and a text of 17 rows. The next row, at position 17, sees the positions from 12 on, in the pages of entries 3 and 4. So the first three pages go back to the pool, and |first|, the first entry that counts, becomes 3. The entries before it are out of date: their pages may be in use elsewhere, and they are never read. (But a cache with attention sinks, \cref{sec:sinks}, never releases the pages of its first |sink_pages| entries.)

@* The paged cache in C. \label{sec:pagecode}
You say how many rows the cache may hold. It does not take memory for all of them at once, unless you want that: for a context of \given{131072} positions, which Llama~3.1 has, it would ask for gigabytes before the first word. The pool of pages grows by doubling instead. The pages are in the memory of the backend, where the kernels write and read them; the cache itself never looks into one.

@(cache.h@>=
#ifndef INCIPIT_CACHE_H
#define INCIPIT_CACHE_H
#include "cache/keep.h"
@<A store that keeps its rows in pages@>@;
#endif

@ A format says how rows are kept, in four bytes a number or fewer. \Cref{sec:rowformats} adds shorter ones; here there is only float32.

@<A store that keeps its rows in pages@>=
struct kv_format {@+ const char *name;@+ enum weight_type type;
  void (*encode)(const float *x, size_t n, void *to);
    /* writes |n| numbers to the |weight_row_bytes(type,n)| bytes at |to| */
};
  /* a way to keep rows, by its name */
struct cache_options {
  size_t rows; /* the most in all sequences; 0: all their contexts */
  size_t page_rows; /* of a page: a power of two up to 256; 0: 64 */
  size_t pass; /* the most rows of a sequence in one pass; 0: a context */
  const struct kv_format *format; /* of the rows; null: float32 */
  bool preallocate; /* take the memory for all rows on opening */
  bool set_window; /* |window| and |sinks| replace the model's settings */
  uint32_t window, sinks;
    /* a row sees the last |window| rows, 0: all, and the first |sinks| */
  uint32_t context; /* the longest text; 0: the model's */
  const struct buffers *memory; /* where pages are; null: the host's */
};
  /* what a cache is to be like; zero is the usual choice everywhere */
struct store *cache_open(struct memory *m, const struct model_config *c,
  uint32_t n_sequences, const struct cache_options *w, struct error *why);
  /* an empty cache for |n_sequences| sequences of a model; null and a
     message if memory is refused or an option cannot be met. Owned by the caller,
     and closed by |store_close| */

@ A cache reports what it holds and what it has copied, so that you can check that a fork copies nothing.

@<A store that keeps its rows in pages@>=
struct cache_state {
  size_t pages, pages_used; /* in memory, and in some table */
  size_t page_rows; /* rows of a page */
  size_t bytes, bytes_used; /* of all pages, and of those in some table */
  size_t bytes_copied; /* because a shared page was written to */
};
  /* what a cache holds */
struct cache_state cache_look(const struct store *s);
  /* the state of a cache; all zero for a store of another kind */

@ What must a cache know of a sequence? We keep |length|, the number of rows that count, and |token|, the tokens of these rows, by which |store_match_prefix| recognizes a text. While a pass is under way there is also |count|, the number of rows that the pass brings. They are not yet in |length|: a pass may fail, and then we set |count| back to 0, and nothing has happened.

Why is |computed| a number of its own? After a crop the sequence is shorter, but we leave the tokens beyond |length| where they are. If a later pass brings the same ones again, it computes rows that had been computed before, and the cache can say so (\cref{sec:rows}).
@^sequence@>

@(sequences.h@>=
#ifndef INCIPIT_SEQUENCES_H
#define INCIPIT_SEQUENCES_H
#include "model/store.h"
struct kv_sequence {
  size_t length; /* rows of the sequence that count */
  uint32_t *token; size_t cap, computed;
    /* |[cap]|; how many of them are known from earlier passes */
  size_t first, count; /* its rows in |order|, during a pass */
};
  /* what a cache knows of one sequence */
struct sequence_table { struct kv_sequence *sequence; size_t *order; };
  /* |[n_sequences]|; |[n_rows]|, during a pass: indices of rows by sequence and position, plus one,
     because 0 says that no row has come there yet */
@<What a table of sequences does@>@;
#endif

@ A pass may bring its rows in any order, of several sequences at once. Let a sequence have 5 rows, and let a pass bring the positions 7, 5 and 6. Must we sort them, to see whether one is missing? No: the three rows must be 5, 6 and 7, so each of them has one place, its position minus 5, and we only put it there. In general a sequence that has |length| rows and gets |count| more has the places 0 to |count-1|. A row whose place is out of bounds, or taken, is an error. If no row is wrong, every place is taken, since there are as many rows as places, and so no position is missing. Had the pass brought 5, 6 and 8, the 8 would have had no place; had it brought 5, 6 and 6, the second 6 would have found its place taken.

All places together are |order|: first those of sequence 0, then those of sequence 1, and so on. When the function is done, |order| lists the rows of the pass by sequence and position, and nothing had to be sorted.

@(order.c@>=
/* Gives each row of a pass its place in |order|. When it begins, all of |order| is 0, and the counts are set; |first| it sets itself. If it fails, |order| is half filled, and |sequences_end| throws it away. */
#include "cache/sequences.h"
@;@#
bool sequences_order(struct sequence_table *t, const struct store *s,
  struct error *why)
{
  size_t first = 0;
  for (uint32_t q = 0; q < s->n_sequences; q++)
    t->sequence[q].first = first, first += t->sequence[q].count;
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct row *r = &s->rows[i];
    const struct kv_sequence *q = &t->sequence[r->sequence];
    const char *wrong = NULL;
    @<Find out what is wrong with the row's position@>@;
    if (wrong != NULL)
      return error_say(why, "position %u of sequence %u is %s;"@|
        " wanted: from %zu on, below %u,"@| " each once", r->position,
        r->sequence, wrong, q->length, s->n_positions);
    t->order[q->first + r->position - q->length] = i + 1;
  }
  return true;
}

@ The order of the questions matters. The last one reads |order|, and may do so only because the two before it have shown that the place exists.

@<Find out what is wrong with the row's position@>=
if (r->position >= s->n_positions) wrong = "beyond the context";
else if (r->position < q->length)@+ wrong = "stored already";
else if (r->position >= q->length + q->count) wrong = "after a gap";
else if (t->order[q->first + r->position - q->length] != 0)
  wrong = "given twice"; /* there is such a place, or one of the questions above would have been answered */

@ The other functions of the table are short and do what you would expect: they are in \.{unwoven/cache/sequences.c}, in plain C with comments. Each of them also gets the store that the table belongs to, which knows the rows of the pass, the sizes and the memory.

@<What a table of sequences does@>=
bool sequences_open(struct sequence_table *t, struct store *s, struct error *why);
  /* |n_sequences| empty sequences */
bool sequences_begin(struct sequence_table *t, struct store *s, struct error *why);
  /* finds the place of each row of the pass, and sets |rows_recomputed|; errors: a position beyond the
     context, stored already, after a gap or given twice, and memory; then nothing has changed */
bool sequences_order(struct sequence_table *t, const struct store *s, struct error *why);
  /* the part of |sequences_begin| that fills |order| */
void sequences_end(struct sequence_table *t, struct store *s, bool commit);
  /* the rows of the pass count from now on, or are forgotten */
bool sequences_fork(struct sequence_table *t, struct store *s, uint32_t from, uint32_t to,
  struct error *why);
  /* copies the tokens of |from| to the empty sequence |to| */
bool sequences_append(struct sequence_table *t, struct store *s, uint32_t sequence,
  const uint32_t *token, size_t n, struct error *why);
  /* appends |n| tokens whose rows are stored already */
void sequences_close(struct sequence_table *t, struct store *s);
  /* frees the table's arrays */
size_t store_next_cap(size_t cap, size_t wanted, size_t max);
  /* what the capacity |cap| should become, so that |wanted| fit: twice as much, or what is wanted,
     or |max| */

@ All sequences share one \emph{pool} of pages. For each page the cache keeps its address and its \emph{reference count}, the number of tables that the page is in. The free pages are a stack in the same array: if pages 5 and 2 are free, |page[0].free_next| is 5 and |page[1].free_next| is 2. A block table contains the numbers of its pages and, for the kernels, their addresses.
@^reference count@>

@<What the cache holds@>=
struct page_info {
  uint32_t refs; /* how many tables it is in */
  uint32_t writers; /* how many of them write to it in this pass */
  uint32_t free_next; /* an entry of the stack of free pages */
  bool slab; /* does a block of the allocator begin with it? */
  char *data; /* |[n_layers][2][heads][page_rows][head_bytes]| */
};
  /* a page of the pool */
struct page_list {
  uint32_t *page;@+ const char **data; /* |[cap]|: numbers, and addresses */
  size_t n, cap; /* entries, and how many there is room for */
  size_t first; /* entries before it have been released, except sinks' */
  size_t held; /* |first| before the present pass */
};
  /* the block table of a sequence */
struct layer_group {
  uint32_t layer, n_layers; /* its first layer; how many it has */
  struct page_info *page;@+ size_t cap, n_free, max_pages;
    /* |[cap]|, of which |n_free| are free; at most |max_pages| */
  struct page_list *sequence; /* |[n_sequences]| */
};
  /* the pool and the block tables of some layers */

@ A page has keys and values of the same rows for several layers, so one table serves all of them. Can it serve all layers of a model? Only if they see equally far back. In some models one layer sees everything and the next has a window, which can release pages that the first still needs. So we put the layers into \emph{layer groups}: layers with the same window are in the same group, which has a pool and tables of its own. No model that we can read has more than two groups.
@^layer group@>@^window@>

@<What the cache holds@>=
enum {@+ MAX_GROUPS = 2@+ };
  /* the most groups of a model */
struct cache {
  struct store common; /* must come first: a |struct store *| points here */
  struct sequence_table table;
  struct kv_format format;
  size_t heads, head_bytes, page_rows, sink_pages, copied;
    /* |head_bytes|: a key or a value of one head in one row */
  uint32_t *slot_in_group; /* |[n_layers]|: the index of a layer in its group */
  size_t n_groups;
  struct layer_group group[MAX_GROUPS];
};
  /* a store that keeps its rows in pages */

@ Most of what follows needs the number of pages for a given number of rows, and the size of a page. A \emph{part} of a page has the keys of one layer, or its values (\cref{fig:pagelayout}).

@<What the cache holds@>=
static inline size_t pages_for(const struct cache *s, size_t rows)
{@+ return rows / s->page_rows + (rows % s->page_rows != 0);@+ }
  /* how many pages |rows| rows take, even if they do not fill the last one */
static inline size_t part_bytes(const struct cache *s)
{@+ return s->heads * s->page_rows * s->head_bytes;@+ }
  /* the keys of one layer in a page, or its values */
static inline size_t page_bytes(const struct cache *s, const struct layer_group *f)
{@+ return 2 * f->n_layers * part_bytes(s);@+ }
  /* a whole page of a group */

@ These structures are in a header. The little that is not about pages is in \.{unwoven/cache/open.c}, with comments: options, the beginning and the end of a pass, the report, closing.

@(pages.h@>=
#ifndef INCIPIT_PAGES_H
#define INCIPIT_PAGES_H
#include "cache/cache.h"
#include "cache/sequences.h"
@<What the cache holds@>@;
#endif

@ Now a pass comes, with rows for five sequences, and there are pages for four of them. If we hand out pages as we go, the pass fails in the middle, and we have to find out what to take back. So we count first, for all sequences, and take pages only when it is certain that all can be had. Before we count, each sequence of the pass releases the pages that its new rows will not see. If the pass is refused, |cache_begin| gives them back, since nothing has been written there. The error says how much the cache holds and how much was requested, both in whole pages. Then you can wait, crop a sequence, or open a larger cache (\cref{sec:doesnotfit}).

@<Have pages for the rows of the pass@>=
/* Eviction comes first, because the pages that it frees count as free. The tables grow last:
   they are the only request that may fail after the pool has grown, and a larger pool does no
   harm. */
static bool group_reserve(struct cache *s, struct layer_group *f, struct error *why)
{
  for (uint32_t i = 0; i < s->common.n_sequences; i++)
    if (s->table.sequence[i].count > 0) evict_window(s, f, i);
  size_t wanted = count_new_pages(s, f) + count_copies(s, f);
  size_t used = f->cap - f->n_free;
  if (wanted > f->max_pages - used)
    return error_say(why, "the cache holds %zu rows, of which %zu are"@|
      " taken; wanted: room for %zu"@| " more, in pages of %zu",@|
      f->max_pages * s->page_rows, used * s->page_rows, wanted * s->page_rows,
      s->page_rows);
  if (wanted > f->n_free && !pages_grow(s, f, used + wanted, why))
    return false;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    const struct kv_sequence *q = &s->table.sequence[i];
    size_t n = pages_for(s, q->length + q->count);
    if (!list_reserve(s, &f->sequence[i], n, why))@+ return false;
  }
  return true;
}

@ With two groups the same could happen again: the first has room, the second has not. So every group must have enough pages before any of them gives one out.

@<Have pages for the rows of the pass@>=
/* two loops: the second cannot be refused */
bool cache_reserve(struct cache *s, struct error *why)
{
  for (size_t k = 0; k < s->n_groups; k++)
    if (!group_reserve(s, &s->group[k], why))@+ return false;
  for (size_t k = 0; k < s->n_groups; k++)
    for (uint32_t i = 0; i < s->common.n_sequences; i++)
      assign_pages(s, &s->group[k], i);
  return true;
}

@ What does a sequence need? A new page for each that its table lacks, and one more if its last page is partly filled and shared, because it must copy that page before it writes. (No other page of a table is written to.) The new pages are counted first.

@<Count the pages that a pass needs@>=
/* Pages that the tables lack. Counting must foretell exactly what |assign_pages| takes, or that
   would pop from an empty stack. */
static size_t count_new_pages(const struct cache *s,
  const struct layer_group *f)
{
  size_t wanted = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    const struct kv_sequence *q = &s->table.sequence[i];
    size_t had = f->sequence[i].n, n = pages_for(s, q->length + q->count);
    if (q->count > 0 && n > had)@+ wanted += n - had;
  }
  return wanted;
}

static struct page_info *written_page(const struct cache *s,
  const struct layer_group *f, uint32_t sequence)
{
  const struct kv_sequence *q = &s->table.sequence[sequence];
  const uint32_t *list = f->sequence[sequence].page;
  if (q->count == 0 || q->length % s->page_rows == 0)@+ return NULL;
  return &f->page[list[q->length / s->page_rows]];
}
  /* the partly filled last page of a sequence, which the pass is going to write to; null if the
     pass begins a new page */

@ How many copies of a page are wanted? Let three tables have it. With two writers there are two copies, as the third sequence goes on reading the old page. With three writers there are also two: when the first two have copied it, the last has the page for itself. So we go through the writers, count them in |writers|, and want a copy for each until |writers| reaches |refs|. 

@<Count the pages that a pass needs@>=
/* Two rounds over the sequences: a count that a refused pass has left behind must not be added
   to. */
static size_t count_copies(const struct cache *s,
  const struct layer_group *f)
{
  size_t wanted = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    struct page_info *page = written_page(s, f, i);
    if (page != NULL)@+ page->writers = 0;
  }
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    struct page_info *page = written_page(s, f, i);
    if (page != NULL && ++page->writers < page->refs)@+ wanted++;
  }
  return wanted;
}

@ Then the pages are taken, in the same order, and nothing can fail any more. A writer that copies a page gives up its reference to the old one, so the last of several writers finds |refs| at 1 and knows that it need not copy. If the pass is aborted, the new pages go back to the pool. Only a copy stays where it is: another sequence may have begun to write to the old page.

@<Take the pages that a sequence wants@>=
/* never fails: |group_reserve| has seen to it that the stack is not empty */
static uint32_t page_acquire(struct layer_group *f)
{
  uint32_t n = f->page[--f->n_free].free_next;
  f->page[n].refs = 1;
  return n;
}
static void list_set(const struct layer_group *f, struct page_list *l, size_t i,
  uint32_t page)
{@+ l->page[i] = page, l->data[i] = f->page[page].data;@+ }
@<Give a sequence a page of its own@>@;
@#
static void assign_pages(struct cache *s, struct layer_group *f, uint32_t sequence)
{
  const struct kv_sequence *q = &s->table.sequence[sequence];
  struct page_list *l = &f->sequence[sequence];
  const struct page_info *shared = written_page(s, f, sequence);
  if (q->count == 0)@+ return;
  if (shared != NULL && shared->refs > 1) copy_page(s, f, l, q->length);
  while (l->n < pages_for(s, q->length + q->count))
    list_set(f, l, l->n++, page_acquire(f));
}
  /* The copy first: it replaces an entry of the table, and the loop only appends. */

@ Only the rows that count are copied, in every layer, keys and values. |page_address| is \cref{fig:pagelayout} in C.

@<Give a sequence a page of its own@>=
static char *page_address(const struct cache *s, const struct layer_group *f, size_t part,
  size_t page, size_t head, size_t row)
{
  return f->page[page].data + part * part_bytes(s)
    + (head * s->page_rows + row) * s->head_bytes;
}
@#
static void copy_page(struct cache *s, struct layer_group *f, struct page_list *l,
  size_t length)
{
  size_t i = length / s->page_rows;
  size_t bytes = length % s->page_rows * s->head_bytes;
  uint32_t old = l->page[i], mine = page_acquire(f);
  const struct buffers *b = s->common.memory;
  f->page[old].refs--;
  list_set(f, l, i, mine);
  for (size_t part = 0; part < 2 * f->n_layers; part++)
    for (size_t h = 0; h < s->heads; h++) {
      b->copy(b, page_address(s, f, part, mine, h, 0), page_address(s, f, part, old, h, 0),
        bytes);
      s->copied += bytes;
    }
}
  /* The reference is given up before the copy, so that the last of several writers finds |refs|
     at 1 and keeps the old page. Head by head, for in a part the rows of a head are together. */

@ When a sequence is cropped it releases the pages that have none of its rows any more. A page that is in no table is free again.

@<Release pages@>=
void page_release(struct layer_group *f, uint32_t page)
{
  if (--f->page[page].refs == 0) f->page[f->n_free++].free_next = page;
}
@#
static void group_crop(struct cache *s, struct layer_group *f, uint32_t sequence)
{
  struct page_list *l = &f->sequence[sequence];
  size_t n = pages_for(s, s->table.sequence[sequence].length);
  while (l->n > n) {
    l->n--;
    if (l->n >= l->first || l->n < s->sink_pages) page_release(f, l->page[l->n]);
  }
  if (n < l->first)@+ l->first = s->sink_pages;
}
  /* Entries between the sinks' pages and |first| have been released already: releasing them twice
     would free a page that another table has. */

@ How does a pool of pages grow? The store of \cref{model} allocates a larger block and copies everything into it, and for a moment there are both. For a cache of some gigabytes that would be a long moment, and twice the memory; and on a graphics processor the pages may be in use just then. But pages need not be next to each other, since the block table says where each of them is. So the pool allocates one more block, a \emph{slab}, for the new pages alone, and a page keeps its address as long as the cache is open. There are few slabs, because each has as many pages as all slabs before it.
@^slab@>

@<Grow the pool@>=
/* The array |page| may move; the pages may not, for block tables and running kernels have their
   addresses. So a slab is never resized. If the slab is refused, the array is longer than |cap|
   says, and nothing else has changed. */
bool pages_grow(struct cache *s, struct layer_group *f, size_t wanted,
  struct error *why)
{
  struct memory *m = s->common.m;
  size_t cap = store_next_cap(f->cap, wanted, f->max_pages);
  size_t old = f->cap, bytes = page_bytes(s, f);
  const struct buffers *b = s->common.memory;
  struct page_info *page = memory_resize(m, MEMORY_OTHER, f->page, cap,
    sizeof *page, why);
  if (page == NULL)@+ return false;
  f->page = page;
  char *slab = b->alloc(b, m, MEMORY_CACHE, cap - old, bytes, why);
  if (slab == NULL)@+ return false;
  f->cap = cap;
  @<Cut the slab into pages, and make them free@>@;
  return true;
}

@ The first page of a slab is marked, since the slab is freed by its address. The new pages go on the stack of free pages, the lowest on top.

@<Cut the slab into pages, and make them free@>=
page[old].slab = true;
for (size_t i = old; i < cap; i++)
  page[i].data = slab + (i - old) * bytes;
for (size_t i = cap; i > old; i--)
  page[f->n_free++].free_next = (uint32_t) i - 1;
    /* downwards, so that the lowest page is taken first and results of tests do not depend on
       growth */

@ A block table grows as the pool does, by doubling, but never beyond the pages of a whole context. It has two arrays. If the second cannot be had, the first is longer than |cap| says, which does no harm.

@<Grow a block table@>=
bool list_reserve(struct cache *s, struct page_list *l, size_t n,
  struct error *why)
{
  if (n <= l->cap)@+ return true;
  size_t cap = store_next_cap(l->cap, n, pages_for(s, s->common.n_positions));
  uint32_t *page = memory_resize(s->common.m, MEMORY_OTHER, l->page, cap, sizeof *page,
    why);
  if (page == NULL)@+ return false;
  l->page = page;
  const char **data = memory_resize(s->common.m, MEMORY_OTHER, l->data, cap,
    sizeof *data, why);
  if (data == NULL)@+ return false;
  l->data = data, l->cap = cap;
  return true;
}

@ How does attention find its rows? We give it a view of the sequence in one layer: the addresses in the block table, where in a page the layer's keys and values begin, and how far it is from row to row and from head to head. With that a kernel goes through the sequence page by page: one look-up in the table, then the $P$ rows of that page (\cref{sec:attention}). Rows are written through the same view. In float32 a row is stored as it is. The formats of \cref{accounts} round; then every row attends to rounded keys and values, even to its own.

@<Show attention the rows of a sequence@>=
/* the group with the layer's window; there is one, since |group_layers| has put each layer into
   a group */
static const struct layer_group *group_of(const struct cache *s, uint32_t layer)
{
  const struct layer_group *f = s->group;
  const uint32_t *window = s->common.window;
  while (window[layer] != window[f->layer])@+ f++;
  return f;
}
void cache_view(const struct store *common, uint32_t layer, uint32_t sequence,
  struct kv_view *v)
{
  const struct cache *s = (const struct cache *) common;
  const struct layer_group *f = group_of(s, layer);
  const struct page_list *l = &f->sequence[sequence];
  size_t part = 2 * s->slot_in_group[layer];
  *v = (struct kv_view) @[{ .key = part * part_bytes(s),@|
    .value = (part + 1) * part_bytes(s), .page = l->data,@|
    .page_rows = (uint32_t) s->page_rows,@|
    .row_bytes = (uint32_t) s->head_bytes, .head_bytes = s->page_rows * s->head_bytes,@|
    .type = s->format.type }@];
}

@ A fork copies a table, and adds one to the reference count of each of its pages.

@<Fork a sequence@>=
/* |to| is empty. The entries before |first| are copied but not counted: they are out of date in
   both tables. |b->n| grows entry by entry, so a crop can undo a fork that stops half-way. */
static bool group_fork(struct cache *s, struct layer_group *f, uint32_t from,
  uint32_t to, struct error *why)
{
  struct page_list *a = &f->sequence[from], *b = &f->sequence[to];
  if (!list_reserve(s, b, a->n, why))@+ return false;
  for (; b->n < a->n; b->n++) {
    b->page[b->n] = a->page[b->n], b->data[b->n] = a->data[b->n];
    if (b->n >= a->first || b->n < s->sink_pages)
      f->page[a->page[b->n]].refs++;
  }
  b->first = a->first;
  return true;
}

@ The tokens of the sequence, which take four bytes each, are copied by |sequences_fork|. If memory is refused half-way, the new sequence is empty again.

@<Fork a sequence@>=
/* The tokens are copied last, because nothing can fail after them; a crop to 0 takes back the
   tables of the groups that were forked. */
bool cache_fork(struct store *common, uint32_t from, uint32_t to,
  struct error *why)
{
  struct cache *s = (struct cache *) common;
  bool ok = true;
  for (size_t k = 0; ok && k < s->n_groups; k++)
    ok = group_fork(s, &s->group[k], from, to, why);
  ok = ok && sequences_fork(&s->table, common, from, to, why);
  if (!ok) cache_crop(common, to, 0);
  return ok;
}

@ The code for windows is short. Before a pass, a sequence releases the pages that none of the new rows will see.

@<Release pages@>=
/* |first| moves on and the entries stay where they are: so a refused pass can take them back. */
static void evict_window(struct cache *s, struct layer_group *f, uint32_t sequence)
{
  struct page_list *l = &f->sequence[sequence];
  size_t length = s->table.sequence[sequence].length;
  size_t seen = store_window_start(&s->common, f->layer, length) / s->page_rows;
  while (l->first < seen)@+ page_release(f, l->page[l->first++]);
}

@ With a window there is one thing that you cannot always do: take back. After a crop the next row must see the $W-1$ rows before it, and some of these may have been released. But pages are released when a pass begins, not when it ends. So you can take back the rows of the last pass until the next has begun (a refused pass has not), and that is all you need to try a continuation and reject it. A crop that goes further back may need rows that are gone. Then the cache drops the whole sequence, and the text is read again from the start. That costs time and is never wrong.

@<Release pages@>=
/* First the length, for all groups; then the tables. If rows that the next row must see are
   gone in any group, the whole sequence is: the groups never differ in length. */
void cache_crop(struct store *common, uint32_t sequence, size_t length)
{
  struct cache *s = (struct cache *) common;
  struct kv_sequence *q = &s->table.sequence[sequence];
  if (length < q->length) q->length = length;
  for (size_t k = 0; k < s->n_groups; k++) {
    const struct layer_group *f = &s->group[k];
    size_t first = f->sequence[sequence].first;
    if (first > s->sink_pages && first * s->page_rows
        > store_window_start(common, f->layer, q->length)) q->length = 0;
  }
  for (size_t k = 0; k < s->n_groups; k++)
    group_crop(s, &s->group[k], sequence);
}

@ Whatever you append, fork or crop, a few rules hold between passes. In the C they are at the top of the file, where you will want them when you come with a debugger.

@(cache.c@>=
/* Pages: reserving, sharing, copying and releasing them. What holds between passes:
   |refs| of a page is the number of block tables that have it; a page is on the stack of free pages if and only if that is 0.
   An entry of a table from |sink_pages| to |first-1| is out of date: its page was released and may be in use elsewhere. Nobody reads it.
   A page with more than one reference is never written to: a pass that must write copies it first.
   In a pass only |cache_reserve| can fail. It counts for all sequences before it takes anything, and |assign_pages| takes exactly what was counted. */
#include "cache/inside.h"
@;@#
@<Grow the pool@>@;
@<Grow a block table@>@;
@<Release pages@>@;
@<Count the pages that a pass needs@>@;
@<Take the pages that a sequence wants@>@;
@<Have pages for the rows of the pass@>@;
@<Show attention the rows of a sequence@>@;
@<Fork a sequence@>@;

@* What the tutorials say. \label{sec:cachetutorials}
The five sources agree that there is a cache and that it is worth having, and most of what they say about it holds. But when they say which rows it contains at which step, some are off by one, and some only seem to be. The other claims of this chapter, with those that hold, are in the laboratory.\lab{lab:cachetutorials}

\begin{claimed}{S3-08, S0-31}
when token \given{501} is about to be written, \val{claim.S3-08} rows are in the cache, and none of them is computed again, so both sentences hold. But the pass computes the row of token \given{500} for the first time: it is the newest token there is, and token \given{501} has none yet.
\end{claimed}

\begin{claimed}{S1-13}
it attends to its own key and value as well, which the next line of the same list appends too late. In that order the logits after \gen{\ on} are off by up to \val[2]{claim.S1-13}.
\end{claimed}

\begin{claimed}{S3-12}
O(n) is meant to be the cost of a whole text. Each step compares one row with a history of $n$; for \given{1000} tokens that makes \val{claim.S3-12} pairs. The cost of a step is linear, and the sum over all steps is quadratic.
\end{claimed}

@* The check. \label{sec:cachecheck}
The program of this chapter takes the four steps of the case by hand in both ways, and compares the logits. Then it forks a sequence, and in the end it asks for more rows than there is room for.

@c
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "model/forward.h"
#include "cache/cache.h"
@;@#
@<A model and the sentence that it reads@>@;
@<Read more tokens of the sentence@>@;
@<Take the steps of both loops, and compare@>@;
@<Show what a fork costs@>@;
int main(void)
{
  static struct writer w;
  struct error why;
  bool ok = writer_open(&w, &why) && print_twice(&w, &why)
    && print_fork(&w, &why);
  ids_free(&w.m, &w.sentence), memory_free(&w.m, w.logits);
  tokenizer_close(&w.m, w.t), model_close(&w.m, w.lm);
  if (!ok)@+ fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ The built-in model writes this sentence, as \cref{loop} has shown, so we know which tokens come. There is room for the logits of two steps.

@<A model and the sentence that it reads@>=
struct writer { struct memory m;@+ struct counters c;@+ struct engine e;
  struct model *lm;@+ struct tokenizer *t;@+ struct ids sentence;
  float *logits; };
static bool writer_open(struct writer *w, struct error *why)
{
  static const char text[] = "The cat sat on the mat.", pocket[] = "models/pocket";
  w->e = (struct engine) @[{ .k = kernels_find(NULL, why), .c = &w->c }@];
  if (w->e.k == NULL || (w->lm = model_open(&w->m, pocket, why)) == NULL@|
      || (w->t = tokenizer_open(&w->m, pocket, why)) == NULL)@+ return false;
  w->logits = memory_alloc(&w->m, MEMORY_ACTIVATIONS,
    2 * w->lm->config.vocab_size, sizeof (float), why);
  return w->logits != NULL && tokenizer_encode(w->t, &w->m, text,@|
    strlen(text), false, false, &w->sentence, why);
}

@ A sequence of a store reads |n| more tokens of the sentence, which begins again when it is over. The logits of the last row are asked for if there is a place for them.

@<Read more tokens of the sentence@>=
static bool read_on(struct writer *w, struct store *s, uint32_t sequence,
  size_t n, float *logits, struct error *why)
{
  struct row row[32];@+ struct pass *p;
  size_t at = store_length(s, sequence), last = n - 1;
  for (size_t i = 0; i < n; i++)
    row[i] = (struct row) @[{ sequence, (uint32_t) (at + i),
      w->sentence.id[(at + i) % w->sentence.n] }@];
  if (!model_forward(&w->e, w->lm, s, row, n, &p, why))@+ return false;
  bool ok = logits == NULL
    || model_logits(&w->e, w->lm, p, &last, 1, logits, why);
  pass_close(p);
  return ok;
}

@ Before each step one store is cropped to nothing; the other keeps every row whose token still agrees. Then each computes the rows that it is missing. The engine counts the work of either run by itself.

@<Take the steps of both loops, and compare@>=
enum {@+ GIVEN = 3, STEPS = 4@+ };
static bool take_steps(struct writer *w, struct store *const *s,
  struct counters *c, size_t *differ, struct error *why)
{
  size_t vocab = w->lm->config.vocab_size;
  float *z = w->logits;
  for (size_t n = GIVEN; n < GIVEN + STEPS; n++) {
    store_crop(s[0], 0, 0);
    store_match_prefix(s[1], 0, w->sentence.id, n - 1);
    printf("%4zu", n - GIVEN + 1);
    for (size_t k = 0; k < 2; k++) {
      struct counters before = c[k];
      w->e.c = &c[k];
      if (!read_on(w, s[k], 0, n - store_length(s[k], 0), z + k * vocab, why))
        return false;
      printf("%10" PRIu64 "%7" PRIu64, c[k].rows - before.rows,@|
        c[k].qk_pairs - before.qk_pairs);
    }
    printf("%8zu\n", store_length(s[1], 0));
    for (size_t v = 0; v < vocab; v++)
      *differ += memcmp(z + v, z + vocab + v, sizeof *z) != 0;
  }
  return true;
}

@ Both stores are caches with the usual options. The sums of the two runs are what their counters say at the end.

@<Take the steps of both loops, and compare@>=
static bool print_twice(struct writer *w, struct error *why)
{
  struct counters c[2] = @[{ { .rows = 0 } }@];
  struct cache_options usual = @[{ .rows = 0 }@];
  struct store *s[2];
  size_t differ = 0;
  for (size_t k = 0; k < 2; k++)
    s[k] = cache_open(&w->m, &w->lm->config, 1, &usual, why);
  printf("            forgetting      remembering\n");
  printf("step      rows  pairs      rows  pairs  stored\n");
  bool ok = s[0] != NULL && s[1] != NULL && take_steps(w, s, c, &differ, why);
  if (ok)@+ printf(" all%10" PRIu64 "%7" PRIu64 "%10" PRIu64 "%7" PRIu64@|
    "\n%zu of %u logits differ\n", c[0].rows, c[0].qk_pairs, c[1].rows,@|
    c[1].qk_pairs, differ, STEPS * w->lm->config.vocab_size);
  store_close(s[0]), store_close(s[1]);
  w->e.c = &w->c;
  return ok;
}

@ Then we open a cache of three pages, of 16 rows each. It reads eleven tokens. The last is taken back, the sequence is forked, and each of the two goes on by one token. Then 25 more are too many. (The refusal is cut after its semicolon, since it is too long for one line of the box.)

@<Show what a fork costs@>=
static void print_pages(const struct store *s, const char *when)
{
  struct cache_state now = cache_look(s);
  printf("%-10s pages used: %zu, bytes copied: %zu\n", when,@|
    now.pages_used, now.bytes_copied);
}
static bool print_fork(struct writer *w, struct error *why)
{
  struct cache_options small = @[{ .rows = 48, .page_rows = 16 }@];
  struct store *s = cache_open(&w->m, &w->lm->config, 2, &small, why);
  bool ok = s != NULL && read_on(w, s, 0, 11, NULL, why);
  if (ok)@+ store_crop(s, 0, 10);
  ok = ok && store_fork(s, 0, 1, why);
  if (ok)@+ print_pages(s, "forked");
  for (uint32_t q = 0; ok && q < 2; q++) {
    ok = read_on(w, s, q, 1, NULL, why);
    if (ok)@+ print_pages(s, q == 0 ? "0 goes on" : "1 goes on");
  }
  if (ok && !read_on(w, s, 0, 25, NULL, why)) {
    int half = (int) strcspn(why->text, ";") + 1;
    printf("%.*s\n %s\n", half, why->text, why->text + half);
  }
  store_close(s);
  return ok;
}

@ Here is what it prints. Compare the first lines with the case by hand.

\checkpoint{build/out/cache.txt}{the same steps twice; a fork, and a full cache}

The fork copies nothing. When the first of the two sequences goes on, the ten rows of their last page are copied for it; the other then has the old page for itself, and copies nothing. In the end more is requested than there is, and the cache refuses in a sentence with both numbers.

One question is left over from \cref{sec:cacheclock}. A row alone does the same arithmetic as a row among many; so why does it cost more? The answer is worth a chapter: it decides what you pay for a token.

@* Exercises. \label{sec:cacheexercises}
The command beside an exercise judges your answer by running the loop and the cache.

\begin{exercises}
\exercise{check}{ex:cache.rows}{A prompt of 12 tokens, 30 to write. How many rows are in the cache at the end, how many were computed, and how many pairs were compared?}{\texttt{make exercise-04-1}}{$12+30-1=41$ rows, each computed once. The prompt has $12\cdot13/2=78$ pairs, and the 29 rows after it look at $13$, $14$, \dots, $41$ keys: $78+29\cdot27=\given{861}$.}
\exercise{check}{ex:cache.pages}{Three texts begin with the same 40 tokens, in pages of 16, and each goes on for 10 tokens of its own. How many pages are taken, and how many rows are copied?}{\texttt{make exercise-04-2}}{The 40 are two full pages and 8 rows of a third. Two of the three texts copy those 8 rows; the last to write has the page for itself. Each then has 18 rows after the full pages, on two pages: $2+3\cdot2=8$ pages, 16 rows copied.}
\exercise{think}{ex:cache.saved}{From how many tokens on has the cache saved at least as many rows as it has computed, if the prompt has \given{100}?}{\texttt{make exercise-04-3}}{Saved are $gp+g(g-1)/2-(p+g-1)$ rows, computed $p+g-1$. With two tokens the first is one short of the second, with three it is nearly twice as much: 3.}
\exercise{think}{ex:cache.pairs}{How many pairs does the cached loop compare for a prompt of $p$ tokens and $k$ written? Give a formula.}{\texttt{make exercise-04-4}}{$p(p+1)/2$ for the prompt, and $p+1$, $p+2$, \dots\ for the $k-1$ rows after it: $p(p+1)/2+(k-1)p+k(k-1)/2$.}
\exercise{think}{ex:cache.reuse}{A text of 60 tokens is in the cache. How many of its rows can serve another text of 60 tokens that differs in the 38th only? And one that is the first without its first token?}{\texttt{make exercise-04-5}}{37: the rows after the difference belong to another text, though their tokens agree. And none, unless the first two tokens are equal: every token stands at another position.}
\exercise{check}{ex:cache.bytes}{How many bytes a position does a cache of 2-byte numbers take in a model of 24 layers, 16 heads and a |head_dim| of 64? And if the 16 heads share 4 heads of keys and values?}{\texttt{make exercise-04-6}}{$2\cdot24\cdot16\cdot64\cdot2$ bytes, and a quarter of that.}
\exercise{think}{ex:cache.exact}{Change |pages_grow| so that the pool grows by exactly the pages that are wanted, and not by doubling. (Before you try it: how often will it ask for memory for a text of \given{300} tokens that is written one by one, in pages of 16?)}{\texttt{make exercise-04-7}}{|cap = wanted|. It asks once for each page that is added, where doubling asks once for each power of two.}
\exercise{think}{ex:cache.share}{Let |store_match_prefix| keep nothing of a text that differs, not even the rows before the difference. What does that make slower?}{\texttt{make exercise-04-8}}{If |k < length| and |k < n|, the sequence is cropped to nothing. Only a second text that begins like the first costs more now; no logit changes.}
\end{exercises}
