@i types.w
@s roofline int
@s phase int
@s perplexity int
@s engine int
@s kernels int

\chapterquestion{Why does the first token take so long, and why do the others then come so fast?}
@** Prefill and decode.
\incipit{A}{sk a model} a long question. For a while nothing happens; then the answer runs. Yet a token of the question and a token of the answer cost the same multiplications. So why does one of them come almost for nothing? A processor that runs a model can wait for two things: for the multiplications, or for the numbers that it multiplies. The first pass over a prompt has one row for each token, and uses every weight once for each row. With the cache, each later pass has a single row, and uses every weight exactly once. So the same model, on the same machine, does two kinds of work: first it calculates, and then it mostly reads. The first phase is called \emph{prefill}, the second \emph{decode}.
@^prefill@>@^decode@>

\begin{byhand}{six weights, and a machine of two speeds}
A matrix has $2\cdot3=6$ weights. The machine fetches one weight in each tick of its clock, and in the same tick it can do four multiply--adds with what it has. A row needs six multiply--adds; so $n$ rows need $6n$, and the six weights are fetched once for all of them.

\medskip
\begin{tabular}{@@{}rrrrr@@{}}
\tabhead{rows} & \tabhead{ticks to fetch} & \tabhead{ticks to multiply} & \tabhead{the larger} & \tabhead{ticks a row}\\
1 & 6 & $6\div4=1.5$ & 6 & 6\\
2 & 6 & $12\div4=3$ & 6 & 3\\
4 & 6 & $24\div4=6$ & 6 & 1.5\\
8 & 6 & $48\div4=12$ & 12 & 1.5
\end{tabular}
\medskip

Four rows take as long as one: three of the four are free. After that a row costs 1.5 ticks, however many there are. We could have told where this happens from the machine's two speeds alone: they are four to one, so it happens at 4 rows.
\end{byhand}

A pass with fewer rows than that waits for the memory: it is \emph{memory-bound}. With more rows it waits for the multipliers: it is \emph{compute-bound}. If you keep this one table in mind, you can predict most of the chapter: why a long prompt delays the first token, why every further token takes about the same time, why you pay more for output tokens than for input tokens, and why a server answers many people at once.
@^memory-bound@>@^compute-bound@>@^prompt@>

@* Arithmetic intensity. \label{sec:intensity}
How many rows does it take to keep the multipliers busy? We count what a layer does, and what it has to move for that. A linear layer with $a$ inputs and $b$ outputs does $nab$ multiply--adds for $n$ rows. It reads $ab$ weights and $na$ inputs, and writes $nb$ outputs. With four-byte numbers, the multiply--adds for each byte moved are
\begin{equation}\label{eq:intensity}
  I(n)={nab\over4\,(ab+na+nb)}={1\over4}\cdot{1\over{1\over n}+{1\over b}+{1\over a}}.
\end{equation}
This is the \emph{arithmetic intensity}. (Many authors count a multiply--add as two \emph{floating-point operations}, FLOPs. Then it is twice as much, and a token costs $2N$ FLOPs in a model of $N$ weights, because a row meets each weight once.) For one row the term $1/n$ outweighs the others, and $I$ is a quarter: one multiply--add for four bytes. With more rows $I$ grows, at first in proportion to $n$; when $1/n$ has fallen to $1/a+1/b$ it has reached half of its limit. For a matrix of \given{768} by \given{3072} $I$ is \val[0]{phases.intensity.512} with \given{512} rows and can never exceed \val[0]{phases.intensity.limit}.
@^arithmetic intensity@>

And attention? It has no weights, but it reads the cache. The query of one head meets $m$ keys and mixes $m$ values: with $d_h$ numbers a head, that is $2d_hm$ multiply--adds for $2d_hm$ numbers read, again a quarter. More sequences don't help here, since each has a cache of its own. Two things do: rows of the same sequence share what they read, as in prefill; and so do heads that share their keys and values. With \emph{grouped-query attention} of four queries to a key, the intensity of attention is four times as high. All other work of a decoded row has an intensity of about a quarter if the numbers have four bytes, and of a half if they have two, whatever the model.

@* The roofline. \label{sec:roofline}
Suppose that a machine does $F$ multiply--adds a second and reads $B$ bytes a second, its \emph{bandwidth}. Even a perfect program, which fetches and multiplies at the same time, takes
\begin{equation}\label{eq:bound}
  t\ge\max\Bigl({\hbox{multiply--adds}\over F},{\hbox{bytes}\over B}\Bigr)
\end{equation}
for a pass whose data come from memory. This is the \emph{roofline} model (\cited[Williams and others 2009]{Williams 2009}). The two terms are equal at an intensity of $F/B$, the \emph{ridge point} or \emph{machine balance}: work of less intensity is memory-bound, work of more is compute-bound.
@^roofline@>@^bandwidth@>@^ridge point@>

\widefig{roofline}{fig:roofline}{Passes of 1 to \given{1000} rows under the roof of the machine; small numbers are the rows of a pass. Broken lines: two workers. Red diamonds: one row after up to \given{1000} others. The built-in model's few megabytes come from the processor's caches, and its rows gain little from being many.}{A roof on logarithmic axes, rising on the left with the memory's bandwidth and flat on the right at the multipliers' speed; the corner, the ridge point, is marked. A chain of points for GPT-2's shape climbs under it from the left wall toward the ceiling, almost touching the roof at the left end, far below it in the middle, and at three quarters of its height on the right. The diamonds sit on the left wall. The built-in model's chain begins near the slope and is almost flat.}

@ Now you would like to see points under that roof. The built-in model is too small for this: its few megabytes stay in the processor's caches. So we measure a stand-in as well, \val{phases.standin.parameters} random four-byte weights in the shape of GPT-2 small, which no cache here can hold.\lab{lab:measured} On the machine of these pages one worker thread reaches \val[1]{phases.speed.1} billion multiply--adds and \val[1]{phases.bandwidth.1} billion bytes a second (\cref{sec:machine}). The quotient, \val[1]{phases.balance} multiply--adds a byte, is its ridge point. For a large matrix of four-byte weights that is a pass of \val[0]{phases.balance.rows} rows.

\Cref{fig:roofline}\lab{lab:findings} draws the bound \eqref{eq:bound} as a roof, with the measured passes under it. One row of the stand-in, at the left end, reaches \val[0]{phases.share.write.1} percent of the bandwidth: decode is on the slope. A pass of \given{512} rows reaches \val[0]{phases.share.read.1} percent of the arithmetic: prefill is under the ceiling, and we wanted to know why it does not touch it. Does it still wait for memory? In the pass, the products with matrices run at \val[1]{phases.linear.gpt2} billion multiply--adds a second. We gave the same kernel a small matrix and \given{96} rows, which never leave the second-level cache, and it was no faster: it did \val[1]{phases.alone.gpt2} billion.
So it is the kernel itself that falls short of \val[1]{phases.speed.1}. It has to fetch its numbers from a cache, while the probe finds them in registers.\lab{lab:parts}

\fig{rowtime}{fig:rowtime}{Milliseconds a row against the rows of the pass, in GPT-2 small's shape. The weights are packed in each pass. Grey: the bound \eqref{eq:bound} of one worker, with its corner at the ridge point.}{Logarithmic axes. The curve falls from the first row on, to less than a tenth, and is level at the right end. The curve of two workers runs below it. The bound is a line that falls with slope one until it meets a floor.}

@ \Cref{fig:rowtime} shows the same passes as the price of a row. It falls from \val[1]{phases.row.gpt2.1.0.1} milliseconds for a single row to \val[1]{phases.row.gpt2.1.0.256} in a pass of \given{256}. Beyond that it rises a little: each row has more rows before it to attend to.

But at the left end the curve is much too high above the bound. By our rule four rows should cost no more than one. What is in the way? With many rows the kernel first copies the weights into an order that is faster to multiply: it \emph{packs} them. In a pass of \given{512} rows nobody notices. When we measured this, it packed from four rows on; in a pass of four that took \val[0]{phases.packing} milliseconds, about as long as all the rest, and it was done again in each pass. (Since then two to eight rows have a kernel of their own, which does not pack, and with it the curve falls from its left end: on a machine with AVX-512 a pass of four now takes \val[2]{simd.few.pass.f32.mapped.4.1} times as long as a pass of one, \cref{sec:fewrows}.)
Why not pack once and keep the copies? You can: that is the option \texttt{{-}{-}packed} of the command (\cref{sec:linear}). Then you wait at the start, \val[0]{phases.packing.once} milliseconds for the stand-in, and need memory for the copies (\cref{sec:packedbill}). \Cref{sec:batching} measures what they are worth.
@^packing, of weights@>

@ A second worker helps the two phases differently. In the probes it multiplies \val[2]{phases.scale.speed} times as fast as one alone, but reads only \val[2]{phases.scale.bandwidth} times as fast, since both share the path to memory. What would you expect of the two phases? Prefill gains as the multipliers do, nearly: with two workers \given{512} rows are read \val[2]{phases.scale.read} times as fast. Decode gains as the memory does, nearly: a token comes \val[2]{phases.scale.write} times as fast. On a machine with more cores further workers would help prefill, and decode only until the memory is busy.

@* Time to first token, time per output token. \label{sec:firsttoken}
When you wait for an answer you feel two delays, both called \emph{latency}. The \emph{time to first token} (TTFT) is that of the prefill. The \emph{time per output token} (TPOT, also \emph{inter-token latency}) is that of one decoded row. Their bounds follow from \eqref{eq:bound}. Let the model have $N$ weights of $w$ bytes each, let a cached token take $k$ bytes, and let the prompt have $p$ tokens. Then, leaving out the attention of the prefill, 
\begin{equation}\label{eq:ttft}
  \hbox{TTFT}\ge\max\Bigl({pN\over F},{wN\over B}\Bigr),\qquad
  \hbox{TPOT}\ge{wN+kn\over B},
\end{equation}
where $n$ is the number of tokens so far. (A prefill needs the head for its last row only; in a small model leave the head's weights out of $pN$.) TTFT grows with the prompt as soon as the prompt has more rows than the ridge point. TPOT does not depend on the multipliers at all. \Cref{tab:waits} shows both as we measured them, with one worker. (For a run of your own, \texttt{incipit generate {-}{-}json} prints them.)
@^time to first token@>@^time per output token@>@^latency@>

\begin{table}
\tabcaption{tab:waits}{TTFT: milliseconds to the first token after a prompt. TPOT: milliseconds for one token after a context of that length. (The built-in model is faster here than in \cref{fig:clock,fig:cacheclock}, which were measured with older kernels.)}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrrr@@{}}
& \multicolumn2{c}{GPT-2 small's shape} & \multicolumn2{c}{built-in model}\\
\tabhead{tokens} & \tabhead{TTFT} & \tabhead{TPOT} & \tabhead{TTFT} & \tabhead{TPOT}\\\midrule
1 & \val[0]{phases.ms.gpt2.1.0.1} & \val[0]{phases.ms.gpt2.1.0.1} & \val[2]{phases.ms.pocket.1.0.1} & \val[2]{phases.ms.pocket.1.0.1}\\
\given{128} & \val[0]{phases.ms.gpt2.1.0.128} & \val[0]{phases.ms.gpt2.1.128.1} & \val[1]{phases.ms.pocket.1.0.128} & \val[2]{phases.ms.pocket.1.128.1}\\
\given{256} & \val[0]{phases.ms.gpt2.1.0.256} & \val[0]{phases.ms.gpt2.1.256.1} & \val[1]{phases.ms.pocket.1.0.256} & \val[2]{phases.ms.pocket.1.256.1}\\
\given{512} & \val[0]{phases.ms.gpt2.1.0.512} & \val[0]{phases.ms.gpt2.1.512.1} & \val[1]{phases.ms.pocket.1.0.512} & \val[2]{phases.ms.pocket.1.512.1}\\
\given{1000} & \val[0]{phases.ms.gpt2.1.0.1000} & \val[0]{phases.ms.gpt2.1.1000.1} & \val[1]{phases.ms.pocket.1.0.1000} & \val[2]{phases.ms.pocket.1.1000.1}
\end{tabular*}
\end{table}

\widefig{run}{fig:run}{A run of the stand-in: a prompt of \given{128} tokens, then 24 decoded ones. Above, billions of multiply--adds a second in each pass; below, billions of bytes a second. The lines are the roof of \cref{fig:roofline}.}{Two strips over the same time axis, in milliseconds. In the first the long pass on the left stands high and the many short ones on the right are almost flat; in the second it is the other way round.}

@ Read the table by columns. On this machine a prompt of \given{1000} tokens takes \val[1]{claim.S1-11} times as long as one of \given{100}, for ten times the rows. (In the long one each row has more to attend to, but more rows share the packing.) Now compare the columns. One decoded token costs as much as \val[1]{phases.ratio.100} tokens in a prompt of \given{100}, and as \val[1]{phases.ratio.1000} in one of \given{1000}. We think that this is one reason why services charge more for output tokens than for input tokens. On a machine with a higher ridge point the factor is larger. \Cref{fig:run}\lab{lab:texts} shows one run from the prompt on, as two meters would: one for multiply--adds, one for bytes.

@* The bandwidth limit of decode. \label{sec:serial}
Could we not write the answer in one pass as well? A prompt of a \given{million} tokens can be read in one, because all of it is there. But the second token of an answer depends on the first, which is chosen at the end of a pass. So a text of $g$ new tokens takes one pass for the prompt and $g-1$ more (\val{phases.shown.passes} passes for 20 tokens), one after the other, and each of them reads all weights. More processors shorten a pass; they cannot run two of these passes at the same time.

\begin{table}
\tabcaption{tab:hardware}{Published figures of accelerators. Ridge point: operations for each byte (two to a multiply--add, in bfloat16). Limit: the most tokens a second that 1, 4 and 8 of them can decode for one sequence with \given{140} gigabytes of weights. From the makers' data sheets, \given{2021} to \given{2024}.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{machine} & \tabhead{ridge point} & \tabhead{limit, one} & \tabhead{four} & \tabhead{eight}\\\midrule
A100, 80 GB & \val[0]{phases.balance.A100} & \val[1]{phases.bound.A100.1} & \val[0]{phases.bound.A100.4} & \val[0]{phases.bound.A100.8}\\
H100 & \val[0]{phases.balance.H100} & \val[1]{phases.bound.H100.1} & \val[0]{phases.bound.H100.4} & \val[0]{phases.bound.H100.8}\\
H200 & \val[0]{phases.balance.H200} & \val[1]{phases.bound.H200.1} & \val[0]{phases.bound.H200.4} & \val[0]{phases.bound.H200.8}\\
B200 & \val[0]{phases.balance.B200} & \val[1]{phases.bound.B200.1} & \val[0]{phases.bound.B200.4} & \val[0]{phases.bound.B200.8}\\
MI300X & \val[0]{phases.balance.MI300X} & \val[1]{phases.bound.MI300X.1} & \val[0]{phases.bound.MI300X.4} & \val[0]{phases.bound.MI300X.8}\\
TPU v5e & \val[0]{phases.balance.TPU-v5e} & \val[1]{phases.bound.TPU-v5e.1} & \val[0]{phases.bound.TPU-v5e.4} & \val[0]{phases.bound.TPU-v5e.8}
\end{tabular*}
\end{table}

@ So every machine has a speed limit for every model: its bandwidth divided by what a pass must read. Take a model of 70 \given{billion} two-byte parameters, that is \given{140} gigabytes. \Cref{tab:hardware}\lab{lab:findings} does the division for six accelerators.

With these weights and one token a pass, four H100s cannot exceed \val[0]{phases.bound.H100.4} tokens a second, whatever program runs on them, and communication among the four takes a further share. (One of them could not even hold the model; its column says what its bandwidth alone would allow.) How do you get past the limit? Either you read fewer bytes in a pass, or you get more than one token out of it. Quantized weights are fewer bytes: in four bits each, one H100 has the limit that four have here. A mixture of experts reads only some of its weights for a token. Speculative decoding \cited{Leviathan 2023} lets a small model guess several tokens and checks them in one pass of the large one, as a short prefill.
@^quantized weights@>@^speculative decoding@>@^mixture of experts@>@^accelerator@>

The ridge point can also be read as a number of rows. With two-byte weights a row needs two operations for two bytes, that is one operation a byte. A ridge point of \val[0]{phases.balance.H100} operations a byte therefore means that \val[0]{phases.balance.H100} rows cost no more than one. A prompt of \given{100} tokens is below that number: by \eqref{eq:ttft} an H100 needs at least \val[0]{phases.earliest.100} milliseconds for its prefill, as for a single row, and \val[0]{phases.earliest.1000} for a prompt of \given{1000}.

@* Long contexts and large vocabularies. \label{sec:overtake} So far the matrices did all the work. When does attention take over? The shape of a model alone can tell. A layer with a width of $d$, an inner width of $4d$ and as many heads of keys as of queries does $12d^2$ multiply--adds for a row: $4d^2$ for queries, keys, values and output, and $8d^2$ for the MLP. Its attention does $2dn$ for $n$ keys: $d$ for the score of each key and $d$ for its value. So a decoded row spends more on attention than on the matrices after @^long context@>
\begin{equation}\label{eq:overtake}
  2dn=12d^2,\qquad n=6d
\end{equation}
tokens. At the same $n$ the $2dn$ numbers that a layer has in the cache overtake its $12d^2$ weights: the row then reads as much of the past as of the model. (In a prefill a row meets half of the keys on average, so there attention takes over at $n=12d$.) For GPT-2 small the limit is \val{phases.overtake.gpt2} tokens, beyond its context; for a model of Llama 7B's width of \given{4096} it is \val{phases.overtake.7b}. If there are fewer heads of keys and values, two of the matrices are narrower, so attention overtakes their arithmetic a little earlier; but the cache is much smaller, so it overtakes the weights much later.

And the head? It does $Vd$ multiply--adds for each row whose logits are wanted. In GPT-2 small that is \val[0]{phases.head.gpt2} percent of the multiply--adds of a decoded row, in the built-in model \val[0]{phases.head.pocket} percent, in GPT-2 XL \val[1]{phases.head.gpt2-xl} percent and in a 7B model \val[1]{phases.head.7b} percent. A large vocabulary is a burden for a small model. In prefill the head hardly counts, because only the last row's logits are needed: the others predict tokens of the prompt, which we have.

@* Batching. \label{sec:batching}
By the bound, a pass of \val[0]{phases.balance.rows} rows on this machine should take no longer than one of a single row. But a sequence that decodes supplies only one row at a time. Where can the others come from? From other sequences. A \emph{batch} is a pass with rows of several sequences. The matrices cannot tell one sequence's rows from another's; only attention looks at a row's sequence, to find its keys and values. In this engine a row carries the number of its sequence (\cref{sec:rows}), so a batch needs no new code: to decode three sequences by one token each, we call |model_forward| with three rows, of sequences 0, 1 and 2, each at its own position. By the bound \eqref{eq:bound}, a step of $b$ sequences, each with $n$ cached tokens, takes 
\begin{equation}\label{eq:batch}
  t\ge\max\Bigl({bN\over F},{wN+bkn\over B}\Bigr).
\end{equation}
The weights are read once for all; the caches are read one by one.
@^batching@>@^throughput@>

\fig{batch}{fig:batch}{Tokens a second against the sequences in a batch, in GPT-2 small's shape with one worker, each sequence after \given{128} tokens. The weights were packed once; the broken line packs them in each step. Grey: the bound \eqref{eq:batch}. (These are the quickest of many rounds, and so is the bound, which therefore is a little higher than that of \cref{fig:roofline}.)}{Logarithmic axes. The throughput of the whole batch rises from \val[0]{phases.batch.rate.1} tokens a second for one sequence to \val[0]{phases.batch.rate.32} for 32, on the bound at one and close below it at four; the broken line runs below it, at half its height for four and eight sequences. The tokens of each single sequence fall. The bound rises with slope one up to the ridge point, which a dotted line marks near ten sequences, and then becomes flatter until it is level.}

@ We tried it with up to 32 sequences of the stand-in, each after \given{128} tokens of its own, and were disappointed. One sequence took \val[0]{phases.batch.mapped.ms.1} milliseconds for a step; four took \val[0]{phases.batch.mapped.ms.4}, and eight \val[0]{phases.batch.mapped.ms.8}. The bound said that they should cost nearly the same. You know the culprit: with four rows and with eight, each step packed all weights, as the kernel did then. So we packed them once (\cref{fig:batch}).\lab{lab:batch} Then a step takes \val[0]{phases.batch.ms.1} milliseconds for one sequence, \val[0]{phases.batch.ms.4} for four, \val[0]{phases.batch.ms.8} for eight and \val[0]{phases.batch.ms.32} for 32. One sequence gets \val[0]{phases.batch.share.1} percent of the bound (the best step was a little quicker than the best round of our probe), and four take only a little longer.
(Two take more than four: that kernel did not share the weights among fewer than four rows. Today's shares them from two rows on.) The \emph{throughput},
the tokens of all sequences in a second, rises from \val[0]{phases.batch.rate.1} to \val[0]{phases.batch.rate.32}, \val[1]{phases.batch.gain.32} times as many. Each single user waits longer for a token: throughput is bought with latency. Beyond eight sequences the multipliers decide, and the batch of 32 reaches \val[0]{phases.batch.share.32} percent of the bound, for the reasons of \cref{sec:roofline}.

How many sequences does a large machine serve for the price of one? By \cref{tab:hardware} an H100 does \val[0]{phases.balance.H100} rows for the price of one, if their caches are short. But the caches do not stay short. In \eqref{eq:batch} they cost as much as the weights when $bkn=wN$. For Llama 3 70B at \given{8192} tokens a sequence, that is a batch of \val[0]{phases.batch.even}. So long contexts, not the multipliers, limit the batch, first by the bytes to be read in each step and then by the bytes that fit into memory at all. That is the reason for the smaller caches of \cref{accounts}. And a batch does not stay together, since each text ends at its own time. If the others waited for the longest, most of the batch would soon be idle. So servers let sequences join and leave at every step; this is \emph{continuous batching} (\cited[Yu and others 2022]{Yu 2022}).
@^continuous batching@>

Does a sequence get other tokens in a batch than alone? In this engine it gets the same bits (|a_text_in_company_is_the_text_alone| in \.{tests/suites/check\_loop.c}), since each row's sums are taken in the same order whatever else is in the pass. Many other engines choose the order of summation by the shape of the pass \cited{He 2025}; there the last bits of the logits, and now and then a token, depend on who else is being served.

@* Chunked prefill. \label{sec:chunks}
Suppose that somebody sends your server a prompt of \given{100\,000} tokens, and you read it in one pass of \given{100\,000} rows. In Llama 7B's shape the activations, the arrays in which the pass computes, take \val[1]{fifty.pass} GB (\cref{sec:passbill}), in addition to the \val[1]{fifty.gb} GB of the keys and values that will stay. And while this pass runs, all other users get no token. So long prompts are read in \emph{chunks} (\cited[Agrawal and others 2023]{Agrawal 2023}), one pass each, and a server adds the decoding rows of the other sequences to each of these passes. (Some services go further and read prompts on other machines than those that write, which is called \emph{disaggregation}; then the cache is sent across.) Does it matter where you cut? It cannot: the rows of a chunk find their predecessors in the store, whether these came in the same pass or in an earlier one.
The program of this chapter reads one prompt in chunks of several sizes and compares the logits of its last row. (A |struct reading| has the model, its store and the ids of the text; \cref{sec:phasecheck} opens it.)
@^chunked prefill@>

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

@ One pass first; then we compare the other ways with it, bit by bit. None of them differs (\cref{sec:phasecheck}).

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

@ Chunks change no bit, but they change the time. In the stand-in a prefill of \given{512} rows takes \val[2]{phases.chunk.512} seconds in one pass, \val[2]{phases.chunk.256} in chunks of \given{256}, \val[2]{phases.chunk.128} of \given{128}, \val[2]{phases.chunk.32} of 32, and \val[1]{phases.chunk.1} token by token.\lab{lab:texts} (Decoding \given{512} tokens takes longer still: each needs the head.) Each chunk reads the weights again, and packs them again, so small chunks are slow; from about a \given{hundred} rows on it hardly matters. How large should yours be? At least as large as the ridge point, by \eqref{eq:ttft}, or you wait for the memory. We have measured no accelerator here; the authors of chunked prefill used \given{256} and \given{512} tokens on theirs.

@ A long prefill has one more trap. The scores of $n$ queries with $n$ keys are $n^2$ numbers a head, which for \given{100\,000} tokens would be ten \given{billion}. Must we store them? No. \Cref{sec:blocks} cuts the keys into blocks of \given{256} and computes for each query and block the largest score $m$, the sum $\ell$ of the exponentials and the weighted sum $o$ of the values. Two such triples are joined into one by
$$M=\max(m,m'),\qquad \ell\gets e^{m-M}\ell+e^{m'-M}\ell',\qquad o\gets e^{m-M}o+e^{m'-M}o',$$
and at the end $o/\ell$ is the output. So the scores of one block are all that a worker needs at a time. This recurrence is the \emph{online softmax} (\cited[Milakov and Gimelshein 2018]{Milakov 2018}). \emph{FlashAttention} (\cited[Dao and others 2022]{Dao 2022}) arranges it for accelerators, so that a block of queries meets one block of keys after another in the fast memory of a core. It saves memory and traffic, not multiply--adds: their number remains quadratic (\cref{sec:counting}).
@^FlashAttention@>@^online softmax@>

\begin{table}
\tabcaption{tab:answers}{Seconds for a text that begins with one token, in GPT-2 small's shape with one worker.}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrr@@{}}
\tabhead{tokens} & \tabhead{without cache} & \tabhead{with cache} & \tabhead{factor}\\\midrule
30 & \val[1]{phases.sum.naive.30} & \val[2]{phases.sum.kept.30} & \val[1]{phases.sum.ratio.30}\\
\given{100} & \val[1]{phases.sum.naive.100} & \val[2]{phases.sum.kept.100} & \val[1]{phases.sum.ratio.100}\\
\given{300} & \val[0]{phases.sum.naive.300} & \val[1]{phases.sum.kept.300} & \val[1]{phases.sum.ratio.300}\\
\given{1000} & \val[0]{phases.sum.naive.1000} & \val[1]{phases.sum.kept.1000} & \val[1]{phases.sum.ratio.1000}
\end{tabular*}
\end{table}

@* Latency of a whole answer. \label{sec:answers}
How long does a whole answer take? Add up the measured passes: one over the prompt, then one row after $p$ tokens, one after $p+1$, and so on. (Between two lengths that we measured we draw a straight line.) \Cref{tab:answers}\lab{lab:phasekeys} shows the sums, with the cache and without.
@^latency@>

Such sums are easily wrong, so we also ran four of these texts. All four took longer than the sums, but by no more than \val[0]{phases.sum.excess} percent.

At \given{1000} tokens the naive loop computes \val[0]{cache.clock.rows} times as many rows, and yet it is far less than \val[0]{cache.clock.rows} times as slow. You can see why in \cref{fig:rowtime}: its rows come many to a pass, where each of them is cheaper.

@* What the tutorials say. \label{sec:phasetutorials}
Most of what the sources say about the two phases is right. Where they err, it is about how much. The other claims of this chapter are in the laboratory.\lab{lab:phaseclaims}

\begin{claimed}{S1-11}
by the data sheet (we have run no H100), \given{100} tokens are below that machine's ridge point and \given{1000} are above it; the two bounds of \cref{sec:serial} differ by a factor of \val[1]{phases.earliest.ratio}. The sentence is true of two prompts below the ridge point. On our processor, where both are far above it, we measured a factor of \val[1]{claim.S1-11}.
\end{claimed}

\begin{claimed}{S1-47}
\val[1]{claim.S1-47} times, on this machine with this model, at \given{512} tokens. The sentence names no machine, and the factor depends on the ridge point: \val[0]{phases.balance.rows} rows here, \given{150} to \given{300} on the accelerators of \cref{tab:hardware}, where the range is right if the prompt is long enough.
\end{claimed}

@* Peak FLOPs and bandwidth. \label{sec:machine}
How do you find your own roof? The engine has a small module for it. It measures how fast the machine calculates and reads (|roofline_measure|), how long a pass takes (|phase_read|), and how well a model predicts a text that it only reads (|perplexity_of|). The command \texttt{incipit bench} uses the first two: it prints, for your machine and your model, the tokens a second of both phases and their share of the roof.

@(phases.h@>=
#ifndef INCIPIT_PHASES_H
#define INCIPIT_PHASES_H
#include "loop/generate.h"
@<What a machine can do@>@;
@<What a pass has taken@>@;
@<How well a text is predicted@>@;
#endif

@ For us a machine is two speeds, and a pass is compared with the bound that they set. We need not instrument anything, since the counters of \cref{sec:counters} already count all that \eqref{eq:bound} asks for: the multiply--adds of layers, attention and head, the bytes of weights, and the bytes of the cache, read and written. The inputs and outputs of the layers are left out, since they should stay in the processor's caches; so the intensities in \cref{fig:roofline} are a little higher than \eqref{eq:intensity}.

@<What a machine can do@>=
struct roofline { double madds, bytes; };
  /* multiply--adds of floats and bytes read from memory, a second */
bool roofline_measure(struct memory *m, const struct engine *e,
  struct roofline *out, struct error *why);
  /* what all workers of the engine together do with its kernels' instructions, the medians of
     some rounds; errors: memory */
uint64_t work_madds(const struct counters *c);
  /* multiply--adds of layers, attention and head */
uint64_t work_bytes(const struct counters *c);
  /* bytes of weights and cache, read or written */
void counters_add(struct counters *a, const struct counters *b);
  /* |a| becomes the sum of both */
struct counters counters_since(const struct counters *before,
  const struct counters *after);
  /* what was counted between two copies */
double work_bound(const struct roofline *m, const struct counters *c);
  /* the seconds that |roofline| needs at least (Williams, Waterman and Patterson 2009) */

@ Counters only ever grow, so the work of a pass is the difference between two copies. We go through them as an array. Had we written a line for each, the next counter that somebody adds would be forgotten here.

@<Sum up the work@>=
uint64_t work_madds(const struct counters *c)
{@+ return c->madds_linear + c->madds_attention + c->madds_head;@+ }
@#
uint64_t work_bytes(const struct counters *c)
{
  return c->weight_bytes_read + c->cache_bytes_read
    + c->cache_bytes_written;
}
  /* activations are left out: between two steps they do not leave the cache of the processor */
void counters_add(struct counters *a, const struct counters *b)
{
  for (int i = 0; i < N_COUNTERS; i++) a->of[i] += b->of[i];
}
struct counters counters_since(const struct counters *before,
  const struct counters *after)
{
  struct counters between = *after;
  for (int i = 0; i < N_COUNTERS; i++) between.of[i] -= before->of[i];
  return between;
}
@#
double work_bound(const struct roofline *m, const struct counters *c)
{
  return fmax((double) work_madds(c) / m->madds,
    (double) work_bytes(c) / m->bytes);
}
  /* seconds: the longer of calculating and of reading, as if the two overlapped completely */

@ A data sheet gives the peak of a model of processor. \label{sec:roundsofprobes} We want the speed of yours, now, with the engine's workers and with the instructions of its kernels. So each worker runs |probe_flops|, which only calculates, and then |probe_bandwidth|, which only reads its part of a large block (\cref{sec:probes}). How large must the block be? What one round leaves in the cache has to be gone before the next one asks for it; so the block has four times the bytes of the last-level cache, and never fewer than \given{256} MiB.
@^probe@>

@(measure.h@>=
#ifndef INCIPIT_MEASURE_H
#define INCIPIT_MEASURE_H
#include "phases/phases.h"
struct probe_part { uint64_t done; float left; };
  /* one worker: its multiply--adds, and a result, so that no compiler leaves them out */
struct roofline_probe { const struct kernels *k; const float *block;
  size_t swept; struct probe_part *of; uint64_t spins; };
  /* |block[swept]|, |of[workers]|; each worker does |spins| multiply--adds, or a few more */
void roofline_round(const struct engine *e, struct roofline_probe *p,
  double *madds, double *bytes);
  /* one round: multiply--adds and bytes a second of all workers together */
#endif

@ Each worker takes its share of the block, and the last worker what is left over.

@<Take one round of probes@>=
static void measure_flops(void *ctx, unsigned worker, unsigned workers)
{
  struct roofline_probe *p = ctx;
  (void) workers;
  p->of[worker].done = p->k->probe_flops(p->spins, &p->of[worker].left);
}
static void measure_bandwidth(void *ctx, unsigned worker, unsigned workers)
{
  struct roofline_probe *p = ctx;
  size_t share = p->swept / workers, from = share * worker;
  size_t to = worker + 1 == workers ? p->swept : from + share;
  p->of[worker].left = p->k->probe_bandwidth(p->block + from, to - from);
}

@ By which time do we divide? By the time until the last worker is done. A pass has to wait for its slowest worker as well, and so the roof is one that a pass could reach. We take \given{15} rounds and keep the medians, since a round may be disturbed. (\.{unwoven/phases/machine.c} does so; it also finds out how many multiply--adds take four milliseconds, for |spins|.)

@<Take one round of probes@>=
void roofline_round(const struct engine *e, struct roofline_probe *p,
  double *madds, double *bytes)
{
  double start = timing_seconds(), done = 0;
  pool_run(e->pool, measure_flops, p);
  double middle = timing_seconds();
  pool_run(e->pool, measure_bandwidth, p);
  double end = timing_seconds();
  for (unsigned i = 0; i < pool_workers(e->pool); i++) done += (double) p->of[i].done;
  *madds = done / (middle - start);
  *bytes = (double) (p->swept * sizeof *p->block) / (end - middle);
}

@* Timing a pass. \label{sec:passes}
Every pass in this chapter adds $n$ rows to $d$ cached ones: prefill is $(d,n)=(0,n)$, decode is $(d,1)$. The time includes the logits of the last row, since no phase is over before the next token can be chosen.

@<What a pass has taken@>=
struct phase { double seconds; struct counters work; };
  /* of one pass, or of the passes of a chunked prefill together */
bool phase_read(const struct generate_context *g, size_t depth, size_t n,
  size_t chunk, struct phase *out, struct error *why);
  /* reads |n| rows after |depth| stored rows, in passes of at most |chunk| (0: in one), and
     computes the logits of the last; sequence 0 of the store then has |depth+n| rows. Rows that the
     store lacks are read first, and not counted. Errors: those of |model_forward| */

@ Which tokens should we read? For the time it does not matter: every token costs the same multiply--adds and the same bytes. Ours only differ from one row to the next.

@<Take the time of a pass@>=
static bool read_on(const struct generate_context *g, size_t from, size_t n,
  size_t chunk, float *logits, struct error *why)
{
  struct pass *p = NULL;
  struct row *rows = memory_alloc(g->m, MEMORY_ACTIVATIONS, n, sizeof *rows, why);
  if (rows == NULL) return false;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) (from + i),
      (uint32_t) ((from + i) * 31 % g->lm->config.vocab_size) }@];
  bool ok = model_read(g, rows, n, chunk, &p, why);
  if (ok && logits != NULL)
    ok = model_logits(g->e, g->lm, p, &(size_t) @[{ p->n - 1 }@], 1, logits, why);
  pass_close(p);
  memory_free(g->m, rows);
  return ok;
}

@ To time a row after \given{1000} others, the \given{1000} must be there. If the store lacks some of them, we read these first, in chunks of \given{256}, which need little memory, and count nothing of that. The clock runs from the call to the logits, and we copy the counters at both ends. So time and work belong to the same pass, and their quotient is a point under the roof.

@<Take the time of a pass@>=
bool phase_read(const struct generate_context *g, size_t depth, size_t n,
  size_t chunk, struct phase *out, struct error *why)
{
  size_t v = g->lm->config.vocab_size, have;
  store_crop(g->s, 0, depth);
  have = store_length(g->s, 0);
  if (have < depth && !read_on(g, have, depth - have, 256, NULL, why))
    return false;
  float *logits = memory_alloc(g->m, MEMORY_ACTIVATIONS, v, sizeof *logits, why);
  if (logits == NULL) return false;
  struct counters before = *g->e->c;
  double start = timing_seconds();
  bool ok = read_on(g, depth, n, chunk, logits, why);
  out->seconds = timing_seconds() - start;
  out->work = counters_since(&before, g->e->c);
  memory_free(g->m, logits);
  return ok;
}

@ One file has everything that reads a clock.

@(measure.c@>=
#include "ground/timing.h"
#include "phases/measure.h"
@;@#
@<Take one round of probes@>@;
@<Take the time of a pass@>@;

@* Perplexity. \label{sec:perplexity}
What else can you do with a prefill? Each row of a text predicts the next token, and the text contains that token. So one pass over a text tells you how well the model predicts it, without writing a word. The mean of $-\ln p$ over the tokens is the \emph{loss}, in nats a token, and $e$ to that power is the \emph{perplexity}: the number of equally likely tokens among which the model seems to guess. To compare models with different tokenizers, one divides the sum by $\ln2$ and by the bytes of the text: \emph{bits per byte}.
@^perplexity@>@^bits per byte@>@^loss@>

A text longer than the context is read in \emph{windows}, each from an empty store. The trouble is at the beginning of a window: its first token has no predecessor there and cannot be scored, and the next few have little context. So we let the windows overlap. The first window scores all its tokens but the first; each later one scores only the tokens that no window had before, and for these it has plenty of context. That takes more passes, and it lowers the loss although the model is the same. So compare two perplexities only if their windows are the same.

@<How well a text is predicted@>=
struct perplexity { size_t tokens, windows; double loss; };
  /* of a text, of which |tokens| were scored, in |windows| windows; |loss| is the sum of their
     $-\ln p$, so the perplexity is $e$ to the power of |loss/tokens| */
bool perplexity_of(const struct generate_context *g, const uint32_t *id, size_t n,
  size_t context, size_t stride, struct perplexity *out, struct error *why);
  /* reads |n| ids in windows of |context| ids that begin every |stride| ids, 1 to |context|; errors: a
     context beyond the model's, an id out of range, memory, a logit that is not finite */

@ How many logits at a time? One row at a time would read the head's weights once for each token. All rows at once would need a whole vocabulary of logits for each. So a window is read in chunks of 64 rows, and its logits are computed for 16 rows at a time.

@<Score a window@>=
enum { READ_AT_ONCE = 64, SCORED_AT_ONCE = 16 };
struct ppl_reader { const struct generate_context *g; const uint32_t *id;
  float *logits; double *logprob; struct perplexity *out; };
  /* |[SCORED_AT_ONCE][vocab_size]|, twice */
@#
static bool score_rows(struct ppl_reader *r, struct pass *p, size_t base,
  size_t first, size_t last, struct error *why)
{
  const struct generate_context *g = r->g;
  size_t v = g->lm->config.vocab_size, which[SCORED_AT_ONCE], n;
  for (size_t i = first; i < last; i += n) {
    for (n = 0; n < SCORED_AT_ONCE && i + n < last; n++) which[n] = i + n;
    if (!model_logits(g->e, g->lm, p, which, n, r->logits, why)) return false;
    g->e->k->log_softmax(g->e, r->logits, n, v, r->logprob);
    for (size_t k = 0; k < n; k++)
      @<Add the loss of the token after row |i+k|@>@;
  }
  return true;
}
  /* The row of token $i$ predicts token $i+1$. A few rows at a time, because logits and their
     logarithms take twelve bytes for each token of the vocabulary. */

@ A logit that is not a number spoils the probabilities of its whole row, and a logit of minus infinity makes its own token impossible. Either would make the sum worthless, so it is an error.

@<Add the loss of the token after row |i+k|@>=
{
  double loss = -r->logprob[k * v + r->id[base + i + k + 1]];
  if (!isfinite(loss))
    return error_say(why, "the loss of token %zu is not finite; wanted:"@|
      " finite logits", base + i + k + 1);
  r->out->loss += loss, r->out->tokens++;
}

@ Token |seen| is the first that no window has scored yet, so the row before it is the first whose logits are needed.

@<Score a window@>=
/* The store is emptied, for positions begin at 0 in each window. |seen| is the first token that
   no earlier window has scored; its prediction is in the row before it. The last row of a
   window predicts nothing that is in it. */
static bool score_window(struct ppl_reader *r, size_t begin, size_t end,
  size_t seen, struct error *why)
{
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

@ The last window is the first that reaches the end of the text.

@<Read a text in windows@>=
/* Windows overlap when |stride| is less than |context|, and each token is scored once: in the
   first window that has it. The first token of a window has nothing before it and is scored by
   none but an earlier window. */
static bool read_windows(struct ppl_reader *r, size_t n, size_t context,
  size_t stride, struct error *why)
{
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

@ A stride longer than a window would skip tokens, and a stride of zero would never end; both are refused. All ids are checked before anything is read, since the last row of a chunk is scored with a token of the next chunk, which |model_forward| has not checked yet.

@<Read a text in windows@>=
/* All arguments are checked before anything is read, since a long text takes minutes. */
bool perplexity_of(const struct generate_context *g, const uint32_t *id, size_t n,
  size_t context, size_t stride, struct perplexity *out, struct error *why)
{
  size_t max = g->s->n_positions, v = g->lm->config.vocab_size;
  struct memory *m = g->m;
  *out = (struct perplexity) @[{ .tokens = 0 }@];
  if (context < 1 || context > max)
    return error_say(why, "windows of %zu tokens; wanted: 1 to %zu, the"@|
      " model's context", context, max);
  if (stride < 1 || stride > context)
    return error_say(why, "windows every %zu tokens; wanted: 1 to %zu, the"@|
      " length of a window", stride, context);
  for (size_t i = 0; i < n; i++)
    if (id[i] >= v) return error_say(why, "token %zu of the text is"@|
      " id %" PRIu32 "; the vocabulary"@| " has %zu", i, id[i], v);
  struct ppl_reader r = @[{ .g = g, .id = id, .out = out }@];
  r.logits = memory_alloc(m, MEMORY_ACTIVATIONS, SCORED_AT_ONCE * v,
    sizeof *r.logits, why);
  if (r.logits != NULL) r.logprob = memory_alloc(m, MEMORY_ACTIVATIONS,
    SCORED_AT_ONCE * v, sizeof *r.logprob, why);
  bool ok = r.logprob != NULL && read_windows(&r, n, context, stride, why);
  memory_free(m, r.logprob);
  memory_free(m, r.logits);
  return ok;
}

@ The source file sums and scores; it looks at no clock. What takes the times is a file of its own.

@(phases.c@>=
/* What a pass has done, bounds for its time, and the perplexity of a text. Nothing here looks
   at a clock; measure.c does. Counters are only ever added and subtracted, so the work between
   two moments is the difference of two copies. The losses of a text are added in the order of
   its tokens, one by one: the sum does not depend on how many rows a pass had. */
#include <inttypes.h>
#include <math.h>
#include "phases/phases.h"
@;@#
@<Sum up the work@>@;
@<Score a window@>@;
@<Read a text in windows@>@;

@* The check. \label{sec:phasecheck}
The program of this chapter shows what needs no clock: the rows of the passes of a run, a prompt in chunks, and a text in windows.

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
@<Show the rows of the two phases@>@;
@<Show that chunks change nothing@>@;
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

@ It reads one sentence of the built-in model's training texts over and over. We encode the sentence once and repeat its seven ids. Encoding the repeated text would not give the same: its second \tok{The} would have a blank before it, and that is another token.

@<A model that reads the sentence over and over@>=
enum { WORDS = 7, TEXT = 20 * WORDS };
struct reading {
  struct memory m;@+ struct counters c;@+ struct engine e;
  struct model *lm;@+ struct store *s;@+ struct generate_context g;@+ struct ids text;
};
static bool reading_open(struct reading *r, struct error *why)
{
  static const char sentence[] = "The cat sat on the mat.", pocket[] = "models/pocket";
  r->e = (struct engine) @[{ .k = kernels_find(NULL, why), .c = &r->c }@];
  if (r->e.k == NULL || (r->lm = model_open(&r->m, pocket, why)) == NULL
      || (r->s = cache_open(&r->m, &r->lm->config, 1,
        &(struct cache_options) @[{ .rows = 0 }@], why)) == NULL) return false;
  struct tokenizer *t = tokenizer_open(&r->m, pocket, why);
  bool ok = t != NULL && tokenizer_encode(t, &r->m, sentence, strlen(sentence),
    false, false, &r->text, why);
  for (size_t i = 0; ok && i + WORDS < TEXT; i++)
    ok = ids_push(&r->m, &r->text, r->text.id[i], why);
  tokenizer_close(&r->m, t);
  r->g = (struct generate_context) @[{ &r->e, r->lm, r->s, &r->m }@];
  return ok;
}

@ The first part generates four tokens after a prompt of seven, and prints what the counters say of each pass. The loop of chapter 3 with the cache of chapter 4 has had both phases all along: in the first step the store lacks seven rows, and in each later one it lacks one.

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

@ The last part reads the whole text in windows of 32 tokens.

@<Show what windows do@>=
static bool show_windows(struct reading *r, struct error *why)
{
  for (size_t stride = 32; stride >= 8; stride /= 2) {
    struct perplexity p;
    if (!perplexity_of(&r->g, r->text.id, TEXT, 32, stride, &p, why))
      return false;
    printf("windows every %2zu: %2zu,"@| " %zu of %d scored,"@|
      " perplexity %.4f\n", stride, p.windows, p.tokens, TEXT, exp(p.loss / (double) p.tokens));
  }
  return true;
}

@ What will it print? The first pass has seven rows and does seven times the work of the others in the layers, for the same bytes of weights. Its intensity is only \val[1]{phases.shown.ratio} times theirs, because the head is computed for the last row alone. (The built-in model's weights have two bytes each, so one row has an intensity of a half and not of a quarter.) No size of chunks changes a logit. And the closer together the windows begin, the more context each scored token has, and the lower the perplexity. It is high even so. At the beginning of a text the model knows the sentence by heart, with a perplexity of \val[1]{phases.known.1}. But after a sentence it expects another: the second time, the same sentence has a perplexity of \val[1]{phases.known.2}.

\checkpoint{build/out/phases.txt}{the passes of a run; a prompt in chunks; a text in windows}

@* Exercises. \label{sec:phaseexercises}
The command beside an exercise judges your answer.

\begin{exercises}
\exercise{check}{ex:phases.balance}{A machine does $90\cdot10^9$ multiply--adds and reads $20\cdot10^9$ bytes a second; the weights have two bytes each. From how many rows on is a pass over large matrices compute-bound?}{\texttt{make exercise-05-1}}{A row needs one multiply--add for each weight, that is for each two bytes. In the time of two bytes the machine does $90/20\cdot2=9$.}
\exercise{check}{ex:phases.chunks}{A prompt of \given{1200} tokens is read in chunks of 96, and 40 tokens are written. How many passes are that, and how many rows?}{\texttt{make exercise-05-2}}{$\given{1200}/96=\given{12.5}$, so 13 passes for the prompt, and 39 more: 52 passes. $\given{1200}+39=\given{1239}$ rows.}
\exercise{think}{ex:phases.overtake}{A model has a width of \given{2048}, a gated inner layer of \given{5632} (three matrices), and 32 heads of 64, which share 4 heads of keys and values. At how many tokens does attention overtake the matrices?}{\texttt{make exercise-05-3}}{$2\cdot2048^2$ for queries and output, $2\cdot2048\cdot256$ for keys and values, $3\cdot2048\cdot5632$ for the inner layer; divided by $2\cdot2048$ that is $\given{2048}+\given{256}+\given{8448}=\given{10752}$.}
\exercise{check}{ex:phases.limit}{A model reads \given{16\,060\,000\,000} bytes of weights and \given{131072} bytes of cache for each stored token. What is the most tokens a second that a memory of $10^{12}$ bytes a second allows after \given{8192} tokens? And after \given{65536}? Round down.}{\texttt{make exercise-05-4}}{$10^{12}/(\given{16\,060\,000\,000}+\given{8192}\cdot131072)=\given{58.4}$, and $10^{12}/(\given{16\,060\,000\,000}+\given{65536}\cdot131072)=\given{40.6}$.}
\exercise{think}{ex:phases.time}{Decoding after $n$ stored rows takes $a+bn$. How long does it take to write $g$ tokens after a prompt of $p$, if the first is chosen at the end of the prefill, without the time of the prefill? Give a formula.}{\texttt{make exercise-05-5}}{$g-1$ rows are decoded, after $p$, $p+1$, \dots, $p+g-2$: $(g-1)(a+bp)+b(g-1)(g-2)/2$.}
\exercise{think}{ex:phases.windows}{A text of \given{1500} tokens is read in windows of \given{256}, one every 64. How many windows are read, how many tokens scored, and how many rows computed?}{\texttt{make exercise-05-6}}{$(\given{1500}-\given{256})/64$ rounded up is 20, and the first makes 21. Every token but the first is scored once: \given{1499}. Twenty windows have \given{256} rows, and the last, which begins at \given{1280}, has \given{220}: \given{5340}.}
\exercise{think}{ex:phases.surprise}{Let |struct perplexity| also say which token of the text was the most surprising, in a field |size_t worst|: its place in the text; if several are equal, the first.}{\texttt{make exercise-05-7}}{The largest loss so far must be kept beside it, in |struct ppl_reader|, since the sum has forgotten it.}
\exercise{think}{ex:phases.smaller}{If memory for a pass is refused, the program need not give up: let |model_read| try again with half the rows, and fail only if a single row is refused.}{\texttt{make exercise-05-8}}{Where |model_forward| fails and |here| is more than 1, halve |chunk| (or |here|, if there was no |chunk|) and go on with the same |i|. A pass that is refused has stored nothing.}
\exercise{check}{ex:phases.batch}{The model of exercise 5--4 decodes 32 sequences of \given{4096} tokens each in one batch. How many tokens a second does the same memory allow, for all sequences together and for each? Round down.}{\texttt{make exercise-05-9}}{A step reads $\given{16\,060\,000\,000}+32\cdot4096\cdot131072$ bytes, so there are at most \given{30.08} steps a second: \given{962} tokens for all, 30 for each.}
\end{exercises}
