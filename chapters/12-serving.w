@i types.w
@s size_t int
@s store int
@s cache_demand int
@s cache_block int
@s prefix_entry int
@s prefix_index int
@s request int
@s request_state int
@s scheduler int
@s scheduler_options int
@s scheduler_counts int
@s generate_context int
@s generate_options int
@s simulated_text int
@s simulation int
@s row_costs int
@s roofline int
@s counters int
@s heap int
@s heap_item int

\chapterquestion{One computer, and a whole class that wants answers from it. Do they have to queue? And does my answer change when others are served at the same time?}
@** Serving many: continuous batching, shared prefixes.
\incipit{W}{e have a program} that writes for one reader. Now put it on a machine in a classroom, where \given{30} students send it their prompts. The simplest server takes them one after another, and the last student waits for everybody else's answer. That is a pity, because the machine is idle for most of the time. To write one token for one student, a pass fetches all the weights from memory and uses each of them once; the multipliers spend the time waiting for the memory (\cref{sec:serial}).

So let us put other students' rows into the same pass. The weights are there anyway, and a second row can use them too. This is called \emph{batching}, and \cref{sec:batching} has measured what it is worth. \Cref{tab:batchrows} repeats the times.
@^batching@>

\begin{table}[htp]
\tabcaption{tab:batchrows}{One pass with a row for each of several texts, in GPT-2 small's shape with one worker. Each text has \given{128} tokens already; the weights were packed once. From the measurements of \cref{sec:batching}.}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrr@@{}}
\tabhead{texts} & \tabhead{a pass, ms} & \tabhead{tokens a second, all} & \tabhead{times as many}\\\midrule
1 & \val[0]{phases.batch.ms.1} & \val[0]{phases.batch.rate.1} & \val[1]{phases.batch.gain.1}\\
4 & \val[0]{phases.batch.ms.4} & \val[0]{phases.batch.rate.4} & \val[1]{phases.batch.gain.4}\\
8 & \val[0]{phases.batch.ms.8} & \val[0]{phases.batch.rate.8} & \val[1]{phases.batch.gain.8}\\
\given{16} & \val[0]{phases.batch.ms.16} & \val[0]{phases.batch.rate.16} & \val[1]{phases.batch.gain.16}\\
\given{32} & \val[0]{phases.batch.ms.32} & \val[0]{phases.batch.rate.32} & \val[1]{phases.batch.gain.32}
\end{tabular*}
\end{table}

Read the second column from the top. With four texts the pass takes hardly longer than with one, so three students are served almost for nothing. With eight it takes \val[0]{phases.batch.ms.8} milliseconds instead of \val[0]{phases.batch.ms.1}: each student waits half as long again for a token, but eight of them get one. From there on the bargain ends: twice the rows take almost twice the time. You know the place where that happens: it is the \emph{ridge point} of the roofline (\cref{sec:roofline}), about \val[0]{phases.balance.rows} rows on this machine. Below it, a pass waits for the memory, and another row costs little. Above it, a pass waits for the multipliers, and another row costs what a row costs. On an H100, whose ridge point is near \val[0]{phases.balance.H100} rows, a server that took one student at a time would leave almost the whole machine unused.
@^ridge point@>

@ What does the student notice? Two delays, and \cref{sec:firsttoken} has named them. The \emph{time to first token} (TTFT) used to be the prefill; in a server it begins with the wait for a place. The \emph{time per output token} (TPOT) used to be a pass with one row; in a server it is a pass with everybody's rows. A program that decides, pass by pass, whose rows are computed is a \emph{scheduler}. Each of its decisions takes time from one student and gives it to another.
@^scheduler@>@^time to first token@>@^time per output token@>

This chapter builds a scheduler. It is short, because the hard part is done: \cref{loop}'s step takes a list of texts of any lengths, and \cref{cache}'s pages belong to no text in particular. What stands between it and a network, for clients who vanish or lie about what they send, is in \cref{server}. At the end we take its time with a class of up to 64 readers (\cref{sec:measured}), and then let \given{10\,000} simulated users loose on an H100 (\cref{sec:simulation}).

And does your answer change when others are served at the same time? In many servers it does. They choose the \emph{order of summation} by the shape of the pass, so the last bits of a logit depend on the company, and now and then a token with them (\cref{sec:batching}). When a user asked about it, one of vLLM's developers called the effect ``fundamental to GPU architecture'' \cited{vLLM 2024}. In our engine each row's sums have one order, whatever else is in the pass (\cref{sec:twice}). We are going to use that without mercy. Texts will join a pass and leave it, be read in pieces, lose their memory and be read again, and take over other texts' pages; and each must come out, bit for bit, as the model writes it alone. The test |company_changes_no_text| tries it on \given{10\,000} random schedules (\.{tests/suites/check\_serving.c}).
@^order of summation@>@^vLLM@>

@ How should texts share a machine if each has its own length? Let us try two schedules by hand, with the lengths of a tutorial.

\begin{byhand}{eight requests, four slots}
Eight requests wait. They want 10, 100, 20, 30, 50, 15, 80 and 40 tokens. Our machine has four \emph{slots}, so each pass takes four texts one token further.

\emph{Static batching.} The first four requests go together, and when all are done the next four. The first batch takes as long as its longest text, 100 steps; the second takes 80. Together 180 steps.

How busy were the slots? They had $4\cdot180=720$ places for tokens, and $10+100+20+30+50+15+80+40=345$ tokens were written: 48 percent. In more than half of the places a slot was waiting for the longest of its batch.

\emph{Continuous batching.} As soon as a text ends, the next request takes its slot.

\medskip
\begin{tabular}{@@{}lrrl@@{}}
\tabhead{request} & \tabhead{from} & \tabhead{to step} & \tabhead{in the slot of}\\
A (10) & 1 & 10 & \\
B (100) & 1 & 100 & \\
C (20) & 1 & 20 & \\
D (30) & 1 & 30 & \\
E (50) & 11 & 60 & A\\
F (15) & 21 & 35 & C\\
G (80) & 31 & 110 & D\\
H (40) & 36 & 75 & F
\end{tabular}
\medskip

The last text, G, ends with step 110, so $345/440$ of the places are used: 78 percent. Why not all? At the end nobody is left to take a free slot. And look at F, who wanted 15 tokens: they are there after step 35 instead of step 115.
\end{byhand}

\widefig{slots}{fig:slots}{The same eight requests, as our scheduler serves them. Pale stretches are slots without a text.}{Two groups of four rows, one row for each slot, over passes. In batches, short stretches leave most of the rows empty until the longest of the batch ends, and again in the second batch. Continuously, each stretch is followed at once by another, and only at the end a slot or two stay empty.}

\Cref{fig:slots}\lab{lab:slots} shows both schedules as the scheduler of this chapter ran them; the program of \cref{sec:servingcheck} prints the same numbers. Continuous batching is also called \emph{in-flight batching}. The idea of choosing anew before each pass, and not once for each batch, is that of Orca (\cited[Yu and others 2022]{Yu 2022}), and vLLM, SGLang and llama.cpp's server all work this way.
@^continuous batching@>@^in-flight batching@>@^static batching@>@^slot@>@^Orca@>

@* Texts of different lengths in one pass: ragged batches. \label{sec:ragged}
When a slot becomes free, the next request has its whole prompt to read, while its neighbours want one row each. How can they share a pass? Take a simpler case first: four prompts arrive at once, of 7, 3, 12 and 1 tokens. Many libraries want a rectangle. They fill the short prompts up to 12 with \emph{padding}, tokens that mean nothing. This is what they get:

\medskip
\begin{tabular}{@@{}lrll@@{}}
\tabhead{prompt} & \tabhead{tokens} & \tabhead{rectangle} & \tabhead{ragged}\\
A & 7 & \texttt{AAAAAAA.....} & \texttt{AAAAAAA}\\
B & 3 & \texttt{BBB.........} & \texttt{BBB}\\
C & 12 & \texttt{CCCCCCCCCCCC} & \texttt{CCCCCCCCCCCC}\\
D & 1 & \texttt{D...........} & \texttt{D}
\end{tabular}
\medskip

\noindent A letter is a token here, and a dot is padding. The rectangle has $4\cdot12=48$ rows for 23 tokens. And the wasted rows are not the worst of it. With padding you also need a mask, so that no token attends to a dot, and a list of positions, so that the first real token still counts as the first. What happens if you forget one of them, \cref{sec:padded} will show.

Our passes never had a shape. A pass is a list of rows, the letters alone, and each row says to which text it belongs and at which position: A0, A1, and so on up to D0, 23 rows in any order. Such a batch is called \emph{ragged}. The matrices multiply a row without asking whose it is. Attention does ask: it takes the row's text, and reads that text's pages and no others. So there is nothing to mask.
@^ragged batch@>@^padding@>

Now the case that we need is nothing new. One pass can have one row of a text that is being written, the twelve rows of C, and a piece from the middle of a long prompt whose beginning was read in earlier passes. The function |generate_step| of \cref{sec:generate} computes such a pass: we give it a list of texts, and each text's |chunk| says how many rows it may have at most. Only the list is missing.

@* The same batch, padded: mask and position ids. \label{sec:padded}
You will meet the rectangle in nearly every tutorial. So let us compute one, with the built-in model and four prompts of these lengths, and see whether it writes the same texts. What does a padded batch need? Here is prompt B in its line of twelve columns:

\medskip
\begin{tabular}{@@{}lcccccccccccc@@{}}
column & 0 & 1 & 2 & 3 & 4 & 5 & 6 & 7 & 8 & 9 & 10 & 11\\
token & . & . & . & . & . & . & . & . & . & B & B & B\\
mask & 0 & 0 & 0 & 0 & 0 & 0 & 0 & 0 & 0 & 1 & 1 & 1\\
position id & 0 & 0 & 0 & 0 & 0 & 0 & 0 & 0 & 0 & 0 & 1 & 2
\end{tabular}
\medskip

\noindent The pads come first (\emph{left padding}), so that all texts end in the same column. There we read the logits of all four, and there each text gets its next token. The \emph{attention mask} says which columns are real: to the score of every other column attention adds the lowest finite number, and its weight becomes 0. The \emph{position ids} count the real tokens alone.
@^left padding@>@^attention mask@>@^position ids@>@^padding@>

Our engine has neither a mask nor position ids. But its kernels are a table of functions, and we may swap two of them. |angles|, which turns positions into angles, is given the position ids, and |attend| adds the mask. All the rest of the pass is the engine's own. \Cref{tab:padded}\lab{lab:padded} compares the texts with those of the ragged batch.

\begin{table}[htp]
\tabcaption{tab:padded}{Four prompts of 7, 3, 12 and 1 tokens in a rectangle, and 32 tokens more for each. Of the four texts: how many have the logits of the ragged batch in all steps, bit by bit; how many have its tokens; and how far the first logits are from its own. The pad is the end token. The only prompt that needs no pad is always right, except in the second line, where the program gives up at the first NaN.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrr@@{}}
\tabhead{the batch} & \tabhead{bits} & \tabhead{tokens} & \tabhead{farthest logit}\\\midrule
left padding, mask, position ids & \val{serving.padded.left.bits} & \val{serving.padded.left.same} & \val[0]{serving.padded.left.far}\\
the same, and $-\infty$ for the mask & \val{serving.padded.infinite.bits} & \val{serving.padded.infinite.same} & NaN\\
left padding, mask, pads have positions & \val{serving.padded.counted.bits} & \val{serving.padded.counted.same} & \val[7]{serving.padded.counted.far}\\
\quad the same, with learned positions & \val{serving.padded.learned.counted.bits} & \val{serving.padded.learned.counted.same} & \val[4]{serving.padded.learned.counted.far}\\
left padding, no mask, no position ids & \val{serving.padded.unmasked.bits} & \val{serving.padded.unmasked.same} & \val[0]{serving.padded.unmasked.far}\\
right padding, mask, last column read & \val{serving.padded.right.bits} & \val{serving.padded.right.same} & \val[0]{serving.padded.right.far}\\
\quad the same, last token read & \val{serving.padded.mended.bits} & \val{serving.padded.mended.same} & \val[0]{serving.padded.mended.far}
\end{tabular*}
\end{table}

The first line is the good news. If everything about it is right, a padded batch writes the same texts, and even with the same bits. We hadn't expected the bits. A weight of 0 changes no sum, that much is clear. But the pads also move every token: our sums go over sixteen lanes, the position modulo 16 (\cref{sec:blocks}), and after nine pads B's tokens are in other lanes than before. Why is the sum the same? Because the lanes are folded by halves: lane 0 meets lane 8, lane 1 meets lane 9, and so on. Think of the sixteen lanes as a wheel. Turn it as you like, and each lane still meets the one opposite. (Texts of more than \given{256} columns would lose this, since pads move their tokens from one block to another.)

@ Now the ways to go wrong. We walked into the first one ourselves.

\emph{The mask is} $-\infty$. That is what a mask means, after all. What came out for A, B and D was NaN. Can you see why? It's the pads' own rows. A pad in front sees nothing but pads, so all its scores are $-\infty$, and its softmax is $0/0$. The row becomes NaN, and in the next layer the pad has a value of NaN. Its weight there is 0, but 0 times NaN is NaN, and so the pad spoils every row that doesn't want to see it. For this reason libraries add the lowest \emph{finite} number: a pad that sees only pads then mixes their values, which makes no sense and does no harm.
@^NaN@>

\emph{Pads have positions.} The program has a mask, and takes the columns for position ids. The built-in model writes the same texts all the same! It rotates queries and keys (\cref{sec:layer}), and only the \emph{difference} of two positions counts; B's three tokens at 9, 10 and 11 are as far apart as at 0, 1 and 2. Only the roundings differ. So your test passes. Then somebody runs the program with GPT-2, which has learned a vector for each position. In the line below, a small random model of that kind gets \val{serving.padded.learned.counted.same} of the four texts right, and that is C, which has no pads.

\emph{No mask, and the end token for a pad.} GPT-2's vocabulary has no pad, so the tutorials set it to the end token. That is harmless as long as the mask says which tokens are pads. Leave the mask out, and A, B and D follow end tokens that nobody wrote. \Cref{sec:padding} has tried other pads.

\emph{Right padding.} The pads come after the text, and the last column is a pad's row. It predicts what follows a pad, and all texts but C are wrong. You can mend that by reading the logits of each text's last token, as training does. Then all four texts have their tokens again. But now pads stand between the prompt and the new tokens, the lanes are no longer a turned wheel, and some bits of later logits are different.

None of these mistakes gives you an error message, and each looks like a model that isn't very good. In a ragged batch there is no place to make them.
@^right padding@>

@* The scheduler. \label{sec:scheduler}
Who makes the list, and by which rules? Think of the people in that classroom, and of what each of them would call unfair. Five rules follow.

\emph{You are in the middle of your answer, and it stops because somebody pasted a whole book.} So a text that is being written, or \emph{decodes}, has its row in every pass. The book is read in pieces beside it (\emph{chunked prefill}, \cref{sec:chunks}).
@^chunked prefill@>

\emph{Each of your tokens takes a second.} A pass has at most |pass_rows| rows, because everybody's next token waits for the whole pass.

\emph{You came first, and others are served before you.} Who comes first gets a slot first, and is read first.

\emph{Your answer breaks off for lack of memory.} A text is let in only when the cache has pages for all that it must read. If the texts grow and the pages run out even so, the youngest text gives its pages back, waits, and goes on later.

\emph{You wait for ever.} The oldest text is never interrupted. So it ends some day, and then another one is the oldest.

@ The first two rules pull against each other: the time to first token of one request against the time per output token of the others. With |pass_rows| you set the balance. Let a prompt of \given{512} tokens arrive while three texts decode. If each pass has room for few of its rows, the three hardly notice it, but the newcomer waits for many passes. If one pass takes the whole prompt, the newcomer waits as briefly as possible, and the others wait for that pass. \Cref{tab:pieces}\lab{lab:longprompt} has both sides. (We counted the passes and the neighbours' tokens with this chapter's scheduler. The times are those of \cref{sec:chunks} and \cref{fig:rowtime}, without the three rows of the neighbours.)
@^time to first token@>@^time per output token@>

\begin{table}[htp]
\tabcaption{tab:pieces}{A prompt of \given{512} tokens is read in pieces beside three texts that decode. Passes up to its first token; tokens that the three have written meanwhile; seconds to read the prompt, which is the newcomer's TTFT; and milliseconds for one pass with a piece, which is the neighbours' TPOT. GPT-2 small's shape with one worker; the times come from two experiments, whose rounds differ a little.}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{piece} & \tabhead{passes} & \tabhead{tokens, others} & \tabhead{TTFT, s} & \tabhead{TPOT, ms}\\\midrule
\given{16} & \val{serving.long.16.passes} & \val{serving.long.16.tokens} & \val[2]{phases.chunk.16} & \val[0]{phases.ms.gpt2.1.0.16}\\
\given{64} & \val{serving.long.64.passes} & \val{serving.long.64.tokens} & \val[2]{phases.chunk.64} & \val[0]{phases.ms.gpt2.1.0.64}\\
\given{128} & \val{serving.long.128.passes} & \val{serving.long.128.tokens} & \val[2]{phases.chunk.128} & \val[0]{phases.ms.gpt2.1.0.128}\\
\given{256} & \val{serving.long.256.passes} & \val{serving.long.256.tokens} & \val[2]{phases.chunk.256} & \val[0]{phases.ms.gpt2.1.0.256}\\
\given{512} & \val{serving.long.512.passes} & \val{serving.long.512.tokens} & \val[2]{phases.chunk.512} & \val[0]{phases.ms.gpt2.1.0.512}
\end{tabular*}
\end{table}

Pieces of \given{64} cost the newcomer little time, and the neighbours get a token every \val[0]{phases.ms.gpt2.1.0.64} milliseconds and not once in \val[0]{phases.ms.gpt2.1.0.512}. With pieces of \given{16} they get one every \val[0]{phases.ms.gpt2.1.0.16} milliseconds, but now the newcomer pays: near the ridge point the weights are fetched for few rows, and the same prompt takes \val[1]{phases.chunk.16} seconds instead of \val[1]{phases.chunk.64}. Our default is \given{256} rows in a pass, decoding rows included. For rows and slots, vLLM has the options \texttt{max-num-batched-tokens} and \texttt{max-num-seqs}, llama.cpp's server \texttt{batch-size} and \texttt{parallel}.

@ A text that somebody waits for is a \emph{request}. What must the scheduler remember of it? The text itself is a |struct sequence|, as in \cref{sec:generate}. The caller's options are copied, because the scheduler changes |chunk| from pass to pass. And by the third rule it must know who came first, so all requests that have not ended form a line in the order of their arrival, and |next| is the one that came after it. (|chain|, |indexed| and |found| belong to \cref{sec:prefixindex}.)
@^request@>

@<A text that somebody waits for@>=
enum request_state { REQUEST_ENDED, REQUEST_WAITING, REQUEST_RUNNING };
  /* not in the line; in it without a slot; with one */
struct request {
  struct sequence q; /* the text so far, and after an end, why it ended */
  struct generate_options want; /* what the caller wants, but for rows and chunks */
  enum request_state state;
  struct prefix_place chain; /* where its newest full page is in the index */
  size_t indexed; /* how many of its pages were brought to the index */
  size_t found; /* rows that were there already when it first got a slot */
  size_t preempted; /* how often it has lost its slot */
  bool unwanted; /* it was cancelled during a pass, and leaves after it */
  struct request *next; /* the one that came after it */
};
  /* a text that somebody waits for; zero: none */

@ A slot needs no structure. The cache is opened with as many sequences as we want slots, and slot $k$ is simply sequence $k$. That leaves few options. The counters are for this chapter's tables; they also tell you whether a server is set well.

The last two lines are for \cref{speculation}, where guesses are read behind the texts. Until then there are none.

@<What a scheduler is told, and what it counts@>=
typedef bool step_passes(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n, float *logits, struct error *why);
  /* as |generate_step|, which has no |ctx| */
struct scheduler_options {
  size_t pass_rows; /* the most rows in a pass, at least one for each slot; 0: 256 */
  bool share; /* keep full pages, and find them again by their tokens */
  bool in_batches; /* requests are let in only when no text runs: static batching */
  size_t guesses; /* the most for a text in a pass, if there are rows to spare */
  step_passes *step; void *step_ctx; /* computes the passes; null: |generate_step| */
};
  /* how to serve; zero is the usual choice everywhere */
struct scheduler_counts {
  uint64_t passes, rows; /* computed */
  uint64_t slots_used; /* slots with a row, summed over passes */
  uint64_t found; /* rows that were not computed, because the index had them */
  uint64_t preempted; /* slots taken away */
};
  /* what was done since the scheduler was opened */

@ The header is short: two structures and the functions that follow.

@(scheduler.h@>=
#ifndef INCIPIT_SCHEDULER_H
#define INCIPIT_SCHEDULER_H
#include "loop/generate.h"
#include "serving/prefix.h"
@<A text that somebody waits for@>@;
@<What a scheduler is told, and what it counts@>@;
@<What a scheduler does@>@;
#endif

@ How do you use it? You submit requests when they come, and call |scheduler_step| again and again; each call is one pass. The requests are yours. Between two steps you may look at them: new tokens are at the end of |q.c.text|. If you want to be told of each token instead, set |on_step| in the options, as in \cref{sec:watch}.

A reader may lose interest while a pass is being computed, and you learn of it in such a callback. If the text left at once, the pass would go on with rows that belong to nobody, and the logits of its neighbours would go to the wrong texts. So |scheduler_cancel| only makes a note then, |unwanted|, and the text leaves after the pass.

@<What a scheduler does@>=
struct scheduler {
  struct generate_context g; /* the model, and a cache with a sequence for each slot */
  struct scheduler_options w;
  struct request *line; /* all that have not ended, in the order of arrival */
  bool *taken; /* [slots] */
  struct sequence **list; /* [slots]: those that have rows in the next pass */
  struct cache_demand *demand; /* [slots]: their rows */
  float *logits; /* [slots][1 + guesses][vocab] */
  struct prefix_index index;
  uint32_t limit; /* slots that may be used: fewer after memory was refused */
  bool in_pass; /* a pass is being computed, so a callback may be calling */
  struct scheduler_counts counts;
};
  /* requests, and a cache with a slot for some of them; only |counts| is for others to read */
bool scheduler_open(struct scheduler *s, const struct generate_context *g,
  const struct scheduler_options *w, struct error *why);
  /* |g->s| must be a cache; all four are borrowed. Errors: fewer rows in a pass than slots, memory */
bool scheduler_submit(struct scheduler *s, struct request *r, const uint32_t *prompt,
  size_t n, const struct generate_options *want, struct error *why);
  /* puts a text at the end of the line; errors: those of |sequence_open|, and a text that the cache could not hold alone. Then |r| is empty */
bool scheduler_step(struct scheduler *s, struct error *why);
  /* one pass; false and a sentence if it was cancelled. An error of one text ends that
     text, with |FINISH_ERROR| */
void scheduler_cancel(struct scheduler *s, struct request *r);
  /* ends a text with |FINISH_CANCELLED| if it has not ended; a callback may call this and |scheduler_submit|,
    nothing else, and then the pass may still bring the text a token */
void request_close(struct scheduler *s, struct request *r);
  /* cancels, and frees the text */
bool scheduler_idle(const struct scheduler *s);
  /* is the line empty? */
void scheduler_close(struct scheduler *s);
  /* cancels all texts, which stay their callers', and returns the memory; the cache is empty then */

@* One step. \label{sec:schedulerstep}
Here is the whole scheduler in one function. It lets in the requests for which there is room, and plans the pass. If the pages do not suffice for the plan, a text has to make room, and we plan anew. Then the pass is computed. Afterwards the new full pages are brought to the index, and the texts that have ended leave the line (|look_after_texts|). The next sections fill in these words, one by one.

@<Take all texts one step further@>=
bool scheduler_step(struct scheduler *s, struct error *why)
{
  let_in(s);
  size_t n = plan_pass(s);
  while (n > 0 && !cache_fits(s->g.s, s->demand, n) && make_room(s))
    n = plan_pass(s);
  if (n == 0) return true;
  bool ok = compute_pass(s, n, why);
  if (ok) count_pass(s, n);
  else ok = pass_refused(s, n, why);
  look_after_texts(s);
  return ok;
}

@ The pass itself is one call of \cref{loop}'s step, or of a step that takes its place (\cref{speculation}). While it runs, |in_pass| says so, for the sake of callbacks.

@<Compute the pass@>=
static bool compute_pass(struct scheduler *s, size_t n, struct error *why)
{
  const struct scheduler_options *w = &s->w;
  make_room_for_guesses(s, n);
  s->in_pass = true;
  bool ok = w->step == NULL ? generate_step(&s->g, s->list, n, s->logits, why)@|
    : w->step(w->step_ctx, &s->g, s->list, n, s->logits, why);
  s->in_pass = false;
  return ok;
}

@ How does the plan know whether a text decodes or still reads its prompt? It counts the rows that the text must read before its next token: those that the cache does not hold yet. For a text that decodes, this is one, the token chosen in the pass before. The last token must always be read, even if the cache has its row, because the next token is chosen by its logits. A text with one row to read decodes, then, and any other is in its prefill.

@<Plan a pass@>=
/* the rows that a text in a slot has to read before its next token */
static size_t rows_to_read(const struct scheduler *s, const struct request *r)
{
  size_t n = r->q.c.text.n, stored = store_length(s->g.s, r->q.c.sequence);
  return stored < n ? n - stored : 1;
}

@ Which texts have a slot? Always the first of the line. Texts are let in as they stand in the line; and when a slot must be taken away, the youngest loses it, as you will see. So a loop over the texts in slots begins at the head of the line, and stops at the first text that has none. Requests that wait cost nothing, however many they are.

@<Plan a pass@>=
/* is r a text, and in a slot? */
static bool is_running(const struct request *r)
{ return r != NULL && r->state == REQUEST_RUNNING; }

@ The first rule says: decoding rows come first. So the plan has two rounds. The first gives a row to each text that decodes. There are never more such texts than slots, and |pass_rows| is at least the number of slots, so no text is left out. The second round gives what is left to the texts that read their prompts, in the order of their arrival. Let the limit be 8 rows. A, B and C decode; D and E are prompts of 12 and 4 tokens.

\medskip
\begin{tabular}{@@{}rllr@@{}}
\tabhead{pass} & \tabhead{first round} & \tabhead{second round} & \tabhead{rows}\\
1 & A, B, C & D1--5 & 8\\
2 & A, B, C & D6--10 & 8\\
3 & A, B, C & D11--12, E1--3 & 8\\
4 & A, B, C, D, E4 & & 5
\end{tabular}
\medskip

\noindent A, B and C get a token in every pass. D has its first after pass 3. E waits for two passes, but never for long: texts that came later are behind it.
@^decode@>

@<Plan a pass@>=
static void plan_text(struct scheduler *s, struct request *r, size_t rows, size_t *n)
{
  r->want.chunk = rows;
  s->list[*n] = &r->q;
  s->demand[*n] = (struct cache_demand) @[{ r->q.c.sequence, rows }@];
  ++*n;
}
static size_t plan_pass(struct scheduler *s)
{
  size_t n = 0, left = s->w.pass_rows;
  for (struct request *r = s->line; is_running(r); r = r->next)
    if (rows_to_read(s, r) == 1) plan_text(s, r, 1, &n), left--;
  for (struct request *r = s->line; is_running(r) && left > 0; r = r->next) {
    size_t rows = rows_to_read(s, r);
    if (rows == 1) continue;
    if (rows > left) rows = left;
    plan_text(s, r, rows, &n), left -= rows;
  }
  return n;
}

@ A pass may also read guesses behind the texts, and these are rows like any others. \label{sec:guessrows} What may they take? Only what is left over: rows that the plan has not given to anybody, the same number for each text, and pages only if nobody has to give up one for them. So a guess never delays a prompt, and when many students are there, the room for guesses goes to zero by itself.

@<Plan a pass@>=
static void make_room_for_guesses(struct scheduler *s, size_t n)
{
  size_t left = s->w.pass_rows;
  for (size_t i = 0; i < n; i++) left -= s->demand[i].rows;
  size_t room = left / n < s->w.guesses ? left / n : s->w.guesses;
  for (size_t i = 0; i < n; i++) s->demand[i].rows += room;
  if (room > 0 && !cache_fits(s->g.s, s->demand, n)) room = 0;
  for (size_t i = 0; i < n; i++) s->list[i]->room = room;
}

@ How busy are the slots? Divide |slots_used| by the passes and by the slots, and you have the share of the hand calculation. (|limit| is the number of slots, except after a pass for which the system has refused memory; see \cref{sec:preempt}.)

@<Plan a pass@>=
static void count_pass(struct scheduler *s, size_t n)
{
  s->counts.passes++;
  s->counts.slots_used += n;
  for (size_t i = 0; i < n; i++) s->counts.rows += s->list[i]->count;
  if (s->limit < s->g.s->n_sequences) s->limit++;
}

@* Who is let in. \label{sec:admission}
A slot is free, and the first of the line would like it. Should it come in? The tempting answer is: yes, if there are pages for its first piece. Then the prompt is half read when the pages run out, and all that work was for nothing. So we ask for pages for everything that it must read. The texts that are in already will grow, too; we ask for one page more for each of them. This is called \emph{admission control}.
@^admission control@>

And if there is no room? Perhaps the next in the line is small and would fit. We don't let it in. Otherwise a stream of small requests could keep a large one out for ever. The price is that a large request at the head of the line can hold up small ones for a while, which is known as \emph{head-of-line blocking}. (vLLM can also order its line by priorities. In ours only the time of arrival counts.)
@^head-of-line blocking@>@^first come, first served@>

What if pages are lacking? The index of \cref{sec:prefixindex} has some that no text uses; they are kept only in the hope that somebody will ask for them. It gives up as many as are lacking. But it does so only if that opens the door. If a large request waits at the head of the line for a minute, the pages of the class's system prompt should not be thrown away for nothing, pass after pass. We first compare two numbers: the pages that are lacking, and the pages that the index could spare.

There is one kind of request that adopts nothing. If somebody wants to see the logits of the prompt's rows (|on_row|, \cref{sec:watch}), these rows have to be computed, because their logits were not kept.

@<Let requests in@>=
/* gives a slot, and the rows that others have computed; the n texts in slots have written down what they want;
   false, and all is as before: there is no room */
static bool admit(struct scheduler *s, struct request *r, size_t n)
{
  uint32_t slot = 0;
  while (s->taken[slot]) slot++;
  r->q.c.sequence = slot;
  size_t n_known = r->want.on_row != NULL ? 0 : r->q.c.text.n;
  r->indexed = prefix_adopt(&s->index, slot, r->q.c.text.id, n_known, &r->chain);
  s->demand[n] = (struct cache_demand) @[{ slot, rows_to_read(s, r) }@];
  size_t lacking = cache_lacks(s->g.s, s->demand, n + 1);
  if (n > 0 && lacking > 0 && lacking > prefix_spare(&s->index)) {
    store_crop(s->g.s, slot, 0);
    return false;
  }
  for (; lacking > 0 && prefix_evict(&s->index, false); lacking--) continue;
  take_slot(s, r);
  return true;
}

@ A request that finds no other text in a slot is let in without further questions. It will fit once the index has given up enough, since a text that could never fit is refused when it is submitted: |scheduler_submit| compares the rows that prompt and answer may have together with the rows of the whole cache.

What was found counts once for the request, when it first gets a slot. After a preemption it may find its own pages, and nobody would call that a hit.

@<Take a slot@>=
static void take_slot(struct scheduler *s, struct request *r)
{
  size_t all = r->q.c.text.n - 1, has = store_length(s->g.s, r->q.c.sequence);
  if (has > all) has = all;
  if (r->preempted == 0) r->found = has;
  s->counts.found += has;
  s->taken[r->q.c.sequence] = true;
  r->state = REQUEST_RUNNING;
}

@ The scheduler goes through the line once. First come the texts in slots, and what they want is written down: what they must read, and a page to grow. Then the requests that wait are tried in their order, until the slots are taken or one of them does not fit. (With |in_batches|, the door stays closed while a text runs. Only the comparison needs that.)

@<Let requests in@>=
static void let_in(struct scheduler *s)
{
  size_t n = 0;
  struct request *r = s->line;
  for (; is_running(r); r = r->next)
    s->demand[n++] = (struct cache_demand) @[{ r->q.c.sequence,
      rows_to_read(s, r) + s->index.page_rows }@];
  if (s->w.in_batches && n > 0) return;
  for (; r != NULL && n < s->limit && admit(s, r, n); r = r->next)
    s->demand[n++].rows += s->index.page_rows;
}

@* When pages run out: preemption. \label{sec:preempt}
We let the texts in when they were short. Now they have grown, a pass wants one more page, and there is none. What do you do? \Cref{sec:doesnotfit} named the ways out, and now we can try them. The eight requests of the hand calculation come again, but the cache has only ten pages of 16 rows; the eight texts together would fill \val{serving.small.needed} rows.

\begin{table}[htp]
\tabcaption{tab:smallcache}{Eight requests in a cache of ten pages: passes, rows computed, passes until a text is there (the mean of the eight), and texts that broke off. The line for swapping is computed from the one above it: the same schedule, and \val{serving.small.moved} rows moved, out and back.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{way} & \tabhead{passes} & \tabhead{rows} & \tabhead{mean wait} & \tabhead{broken off}\\\midrule
refuse & \val{serving.small.refuse.passes} & \val{serving.small.refuse.rows} & -- & \val{serving.small.refuse.cut}\\
reserve \given{100} tokens for each & \val{serving.small.longest.passes} & \val{serving.small.longest.rows} & \val[0]{serving.small.longest.wait} & \val{serving.small.longest.cut}\\
reserve, lengths known & \val{serving.small.known.passes} & \val{serving.small.known.rows} & \val[0]{serving.small.known.wait} & \val{serving.small.known.cut}\\
preempt and recompute & \val{serving.small.recompute.passes} & \val{serving.small.recompute.rows} & \val[0]{serving.small.recompute.wait} & \val{serving.small.recompute.cut}\\
preempt and swap & \val{serving.small.recompute.passes} & \val{serving.small.needed} & \val[0]{serving.small.recompute.wait} & \val{serving.small.recompute.cut}\\
\midrule
a cache with room for all & \val{serving.passes.continuous} & \val{serving.small.needed} & \val[0]{serving.wait.continuous} & 0
\end{tabular*}
\end{table}

\emph{Refuse.} The text that was to make room ends with an error, and its reader keeps half an answer. \emph{Reserve.} A request waits until pages are free for the longest text that it may become. Then nothing ever runs out. \emph{Preempt and recompute.} One text loses its slot and its pages; when there is room again, its tokens are read once more, like a prompt. \emph{Swap.} The pages of one text are copied to another memory, and copied back later. \Cref{tab:smallcache}\lab{lab:smallcache} has the results.
@^preemption@>@^recomputation@>@^swap@>@^reservation@>

Look at the reservations first. A text of \given{100} tokens takes seven of the ten pages, so if each request may become that long, only one is ever in, and we are back at one after another. Even if we knew all lengths beforehand, B would hold its seven pages from its first token on, and would use most of them only near its end. Refusing is quick and cheap, and two readers have lost their answers after \val{serving.small.refuse.lost} tokens together. With preemption the whole class needs \val{serving.small.recompute.passes} passes, hardly more than with room for all. It costs \val{serving.small.again} rows that are computed a second time, after \val{serving.small.recompute.preempted} preemptions. No token is chosen twice.

So we preempt. Should we recompute or swap? That depends on where a row comes from faster: from another memory, or from the multipliers (\cref{sec:doesnotfit}). On a processor the cache already is in the largest memory there is, and a swap could only go to a disk. So we recompute.

@ Who loses the slot? The youngest text, because it has the least to lose, and because the oldest must not (that was the fifth rule). But first of all, pages that only the index keeps are given up: nobody misses them. One odd case remains. The oldest text is alone, and still there is no room. Then the index holds pages of this very text, and a page that two hold must be copied before it is written to; so the index lets go of these as well.

@<Make room@>=
/* takes a slot away; the text, and the state of its sampler, stay as they are, and it keeps its place in the line */
static void preempt(struct scheduler *s, struct request *r)
{
  store_crop(s->g.s, r->q.c.sequence, 0);
  s->taken[r->q.c.sequence] = false;
  r->state = REQUEST_WAITING;
  r->preempted++;
  s->counts.preempted++;
}
static struct request *find_youngest(const struct scheduler *s)
{
  struct request *r = s->line;
  while (is_running(r->next)) r = r->next;
  return r;
}
static bool make_room(struct scheduler *s)
{
  if (prefix_evict(&s->index, false)) return true;
  struct request *youngest = find_youngest(s);
  if (youngest == s->line) return prefix_evict(&s->index, true);
  preempt(s, youngest);
  return true;
}

@ Is the text that was interrupted still the same text? Its tokens are all there. When it gets a slot again, it reads them like a prompt, and \cref{sec:twice} has shown that recomputed rows have the same bits. Then the next token is chosen. If the sampler's noise came from a generator that everybody shares, this choice would be another one now. Ours depends on the seed, on the number of the text, and on the position (\cref{sec:philox}), not on how often or when it is asked for. So the next token is the one that it would have been, and the reader notices a pause and nothing else.

Could a text wait for ever, which is called \emph{starvation}? And could two texts take each other's pages without end? When a text is let in, |admit| has asked for all rows that it and its neighbours must read, and for a page more for each neighbour. So it cannot lose its slot again before new tokens have been written, its own or those of others. Tokens are never lost, and each text may write only so many; so preemptions come to an end. And the oldest text never loses its slot.
@^starvation@>

@ A pass can fail for another reason: the cache has its pages, but the system refuses memory for the computation. A refused pass has changed nothing (\cref{sec:generate}), so we try again with one text fewer: the youngest loses its slot, and |limit| keeps the slot closed. Each pass that succeeds opens one slot more. If a pass with a single text is refused, there is no memory for this text, and it ends with the reason. If you have cancelled the pass yourself, no text is to blame.

@<Make room@>=
static bool pass_refused(struct scheduler *s, size_t n, struct error *why)
{
  if (progress_cancelled(s->g.e->progress)) return false;
  if (n > 1) {
    preempt(s, find_youngest(s));
    s->limit = (uint32_t) n - 1;
    return true;
  }
  struct request *alone = s->line;
  while (&alone->q != s->list[0]) alone = alone->next;
  alone->q.why = *why;
  alone->q.c.ended = FINISH_ERROR;
  return true;
}

@* Shared prefixes. \label{sec:prefixindex}
The whole class uses one program, and the program puts the same page of instructions before every question. Must we read that page \given{30} times? A row depends on the tokens up to its own and on nothing else (\cref{sec:causal}). So prompts that begin with the same tokens have the same first rows, to the last bit, and the second student can use the pages of the first. \Cref{sec:prefix} has called this \emph{prefix caching}, or \emph{prefix sharing} where the texts run at the same time.
@^prefix caching@>@^prefix sharing@>

How do we find the pages? We could compare each new prompt with every text that runs, token by token. But the best beginning may be that of a text which ended a minute ago. We must find pages without their texts. Suppose that we could ask: \emph{which page has these tokens, and comes after that page?} Then we would look up the first page of the prompt, then the second one after it, and go on until there is no answer. The answers make a tree. Below its root are the first pages of texts, and below each page those that came after it (\cref{fig:prefixtree}). SGLang's RadixAttention is such a tree, with branches of any length (\cited[Zheng and others 2024]{Zheng 2024}); vLLM finds pages by hashes, as we do.
@^RadixAttention@>@^SGLang@>@^prefix tree@>

Why only full pages? A text still writes to its last page. A full page never changes again, so any number of texts can read it.

\widefig{prefixtree}{fig:prefixtree}{Three prompts that begin alike, in pages of four tokens. The pages of the common beginning exist once.}{A tree of boxes, each a page with four words. The root's only child is shared by all three prompts, the next is shared by two of them, and each prompt ends in a branch of its own.}

@ All branches of the tree are in one hash table. The key is the parent's number with the page's tokens. But a hash says only where to look: two different pages can have the same one. A system that trusts the hash alone then gives you the memory of somebody else's text. That is not far-fetched. A bug report about one such index describes how a collision ``silently reuses'' the wrong page \cited{OpenVINO 2026}, and vLLM went over to a cryptographic hash, for which nobody knows how to make a collision. We compare the tokens, every one of them. The parent was found in the same way, so by induction the whole beginning has been compared.
@^hash@>@^hash collision@>

An entry holds a reference to its page, so that the page outlives its text. It also counts its children, since a page with children must not go, and has a time of last use. (|born| is for a trap that we will meet when we add pages.)

@<The pages that are known by their tokens@>=
struct prefix_place { uint32_t entry; uint64_t born; };
  /* an entry, and when it was made: an entry's number may be used again; zero: the root */
struct prefix_entry {
  uint64_t born; /* 0: it is free */
  uint32_t parent; /* the entry of the page before it; 0: it is a first page */
  uint32_t next; /* in the same bucket, or in the list of free entries */
  uint32_t children; /* entries whose parent it is */
  uint64_t used; /* when it was last adopted or made */
  uint64_t needed; /* when it was last found above a page in use */
  struct cache_block block; /* holds a reference to each of its pages */
};
  /* a full page, which is known by its tokens and by what comes before it */
struct prefix_index {
  struct store *s; /* a cache; null if nothing is to be shared */
  struct memory *m;
  size_t page_rows, n, cap; /* entries from 1 to |n-1| have been used; entry 0 is the root */
  struct prefix_entry *entry; /* [cap] */
  uint32_t *token; /* [cap] pages */
  uint32_t *bucket; /* [cap]: the first entry of each, 0: none */
  uint32_t free; /* the first free entry, 0: none */
  size_t kept; /* entries in use */
  uint64_t clock;
};
  /* the tree of all pages that are known */

@ Sharing is a convenience, so after it was opened, the index never reports an error. If there is no memory for another entry, the entry is not made, and some rows are computed again.

@(prefix.h@>=
#ifndef INCIPIT_PREFIX_H
#define INCIPIT_PREFIX_H
#include "cache/share.h"
@<The pages that are known by their tokens@>@;
bool prefix_open(struct prefix_index *x, struct store *s, struct memory *m,
  struct error *why);
  /* an empty index of the pages of |s|, or, if that is null, one that finds nothing */
size_t prefix_adopt(struct prefix_index *x, uint32_t sequence, const uint32_t *id,
  size_t n, struct prefix_place *last);
  /* gives the empty sequence all pages that are known to begin the text |id[n]|; returns how many, and where the last one is */
struct prefix_place prefix_add(struct prefix_index *x, struct prefix_place after,
  const uint32_t *token, uint32_t sequence, size_t i);
  /* the place of page |i| of the sequence, which has |token[page_rows]| and comes after another; zero if it cannot be had */
bool prefix_evict(struct prefix_index *x, bool in_use);
  /* gives up the entry without children that was used longest ago, among all if |in_use|, else among those whose page no text uses; false: there is none */
size_t prefix_spare(struct prefix_index *x);
  /* how many pages |prefix_evict| would give up, one after the other, of those that no text uses */
void prefix_close(struct prefix_index *x);
  /* gives up all entries, and the memory */
#endif

@ Since tokens are compared, the hash may be a quick one. It mixes the parent's number and the tokens by multiplications. Somebody who sends prompts that collide makes the index slow, but never wrong.

@<Find a page by its tokens@>=
static size_t bucket_of(const struct prefix_index *x, uint32_t parent, const uint32_t *token)
{
  uint64_t h = parent;
  for (size_t i = 0; i < x->page_rows; i++)
    h = (h ^ token[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
  return (size_t) (h % x->cap);
}
static uint32_t find_page(const struct prefix_index *x, uint32_t parent,
  const uint32_t *token)
{
  uint32_t i = x->bucket[bucket_of(x, parent, token)];
  while (i != 0 && (x->entry[i].parent != parent
      || memcmp(x->token + i * x->page_rows, token, x->page_rows * sizeof *token) != 0))
    i = x->entry[i].next;
  return i;
}

@ When a request gets its slot, it \emph{adopts} the pages of its beginning: we walk down the tree, and each page that is found goes into the block table of the slot, with one reference more. Then we walk back up and set each page's time of last use. Why upward? Because then a page always has a later time than those below it, and what was used longest ago is a leaf.

@<Adopt the pages of a known beginning@>=
size_t prefix_adopt(struct prefix_index *x, uint32_t sequence, const uint32_t *id,
  size_t n, struct prefix_place *last)
{
  size_t pages = 0;
  uint32_t at = 0;
  struct error why;
  for (; x->s != NULL && (pages + 1) * x->page_rows <= n; pages++) {
    const uint32_t *token = id + pages * x->page_rows;
    uint32_t i = find_page(x, at, token);
    if (i == 0 || !cache_adopt(x->s, sequence, &x->entry[i].block, token, &why)) break;
    at = i;
  }
  *last = (struct prefix_place) @[{ at, at == 0 ? 0 : x->entry[at].born }@];
  for (; at != 0; at = x->entry[at].parent) x->entry[at].used = ++x->clock;
  return pages;
}

@ What if the whole prompt is known, to its last token? Then all its rows are there, but the logits of the last row were not kept, and without them there is no next token. The last token is read once more, then: |rows_to_read| gives 1, and |store_match_prefix| takes one row back. That row is in a page that others have, so the pass copies the page before it writes to it (\cref{sec:pages}). A prompt that is completely known costs one row and one copy of a page.

@ Now pages must get into the tree. A new entry takes a reference to its page, as a block table would. If another text has brought the same tokens in the meantime, its entry stays, and we go on below that one: the rows are the same.

Here is a trap. Ann's text and Bob's begin alike; each has computed its first page for itself, and Ann's is in the index, as entry 5. Bob remembers that his next page belongs below entry 5. Before he has filled it, Ann's text ends, her page is given up, and the number 5 is used again, for a page of Carol's, who began differently. Now Bob's second page comes. Below entry 5 it would follow Carol's beginning, and the next student who begins like Carol would adopt Bob's rows. So a place remembers not only a number but also when that entry was made, its |born|. If the times differ, the place is of no use any more, and Bob's pages are not shared.

@<Add a page@>=
struct prefix_place prefix_add(struct prefix_index *x, struct prefix_place after,
  const uint32_t *token, uint32_t sequence, size_t i)
{
  struct cache_block block;
  struct prefix_place none = @[{ 0, 0 }@];
  if (x->s == NULL || (after.entry != 0 && x->entry[after.entry].born != after.born))
    return none;
  uint32_t e = find_page(x, after.entry, token);
  if (e == 0) {
    if (!cache_block_of(x->s, sequence, i, &block) || (e = new_entry(x)) == 0) return none;
    x->entry[e] = (struct prefix_entry) @[{ .born = ++x->clock, .parent = after.entry,
      .block = block }@];
    memcpy(x->token + e * x->page_rows, token, x->page_rows * sizeof *token);
    cache_block_hold(x->s, &block);
    x->entry[after.entry].children++;
    enter(x, e);
    x->kept++;
  }
  x->entry[e].used = ++x->clock;
  return (struct prefix_place) @[{ e, x->entry[e].born }@];
}

@ The arrays double when they are full. There are as many buckets as entries, so that the lists stay short; when the number of buckets changes, every entry has another bucket and is entered anew.

@<Have one more entry@>=
static void enter(struct prefix_index *x, uint32_t e)
{
  size_t b = bucket_of(x, x->entry[e].parent, x->token + e * x->page_rows);
  x->entry[e].next = x->bucket[b];
  x->bucket[b] = e;
}
static bool more_entries(struct prefix_index *x)
{
  struct error why;
  size_t cap = x->cap == 0 ? 64 : 2 * x->cap;
  void *entry = memory_resize(x->m, MEMORY_OTHER, x->entry, cap, sizeof *x->entry, &why);
  if (entry != NULL) x->entry = entry;
  void *token = entry == NULL ? NULL : memory_resize(x->m, MEMORY_TOKENS, x->token,
    cap * x->page_rows, sizeof *x->token, &why);
  if (token != NULL) x->token = token;
  void *bucket = token == NULL ? NULL : memory_resize(x->m, MEMORY_OTHER, x->bucket, cap,
    sizeof *x->bucket, &why);
  if (bucket == NULL) return false;
  x->bucket = bucket, x->cap = cap;
  memset(x->bucket, 0, cap * sizeof *x->bucket);
  for (uint32_t i = 1; i < x->n; i++) enter(x, i);
  return true;
}
static uint32_t new_entry(struct prefix_index *x)
{
  uint32_t e = x->free;
  if (e != 0) x->free = x->entry[e].next;
  else if (x->n < x->cap || more_entries(x)) e = (uint32_t) x->n++;
  return e;
}

@ When should a page be brought to the index? We could wait until its text has ended, but the students of a class all send their prompts in the same minute. So the scheduler does it right after the pass that has filled the page, and a text that arrives while the first one still reads its prompt finds what was read so far. |chain| is the place of the text's newest page. If a page could not be added, the chain is cut, and the rest of this text is not shared.

@<Bring new pages to the index@>=
static void index_new_pages(struct scheduler *s, struct request *r)
{
  size_t rows = s->index.page_rows, n = store_length(s->g.s, r->q.c.sequence) / rows;
  while (s->index.s != NULL && r->indexed < n) {
    if (r->indexed > 0 && r->chain.entry == 0) return;
    r->chain = prefix_add(&s->index, r->chain, r->q.c.text.id + r->indexed * rows,
      r->q.c.sequence, r->indexed);
    r->indexed++;
  }
}

@ Which page is given up? The one that was used longest ago (\emph{least recently used}, LRU): what is asked for often stays. An entry with children must stay as well, since a child cannot be found without it. We search through all entries. That sounds slow, but there are no more of them than pages in the cache, and a search frees a page, whose rows cost far more to compute.
@^least recently used@>

@<Give up a page@>=
static void drop_entry(struct prefix_index *x, uint32_t i)
{
  uint32_t *at = &x->bucket[bucket_of(x, x->entry[i].parent, x->token + i * x->page_rows)];
  while (*at != i) at = &x->entry[*at].next;
  *at = x->entry[i].next;
  cache_block_release(x->s, &x->entry[i].block);
  x->entry[x->entry[i].parent].children--;
  x->entry[i].next = x->free;
  x->entry[i].born = 0;
  x->free = i;
  x->kept--;
}
bool prefix_evict(struct prefix_index *x, bool in_use)
{
  uint32_t oldest = 0;
  for (uint32_t i = 1; i < x->n; i++) {
    const struct prefix_entry *e = &x->entry[i];
    if (e->born == 0 || e->children > 0) continue;
    if (!in_use && cache_block_in_use(x->s, &e->block)) continue;
    if (oldest == 0 || e->used < x->entry[oldest].used) oldest = i;
  }
  if (oldest != 0) drop_entry(x, oldest);
  return oldest != 0;
}

@ And how many could be given up, if need be? All but the pages that texts use, and the pages above these in the tree, which have children and must stay. Would a text not use those above as well? Not always: with a sliding window it lets go of its first pages and uses the later ones. We climb from each page in use to the root, and leave a mark, the time, in each entry that we pass, so that each page is counted once.
@^sliding window@>

@<Give up a page@>=
size_t prefix_spare(struct prefix_index *x)
{
  size_t n = x->kept;
  uint64_t now = ++x->clock;
  for (uint32_t i = 1; i < x->n; i++) {
    const struct prefix_entry *e = &x->entry[i];
    if (e->born == 0 || !cache_block_in_use(x->s, &e->block)) continue;
    for (uint32_t at = i; at != 0 && x->entry[at].needed != now; at = x->entry[at].parent)
      x->entry[at].needed = now, n--;
  }
  return n;
}

@ What happens to the pages when the program ends? A long system prompt takes seconds to read, and it would be read again at every start. A server keeps its pages in a file, its \emph{prompt cache}. So |prefix_save| writes the index to a file: for each page its tokens, the number of the page before it, and the bytes of its rows. |prefix_load| enters them into an empty index, as far as there is room. You find both in \.{unwoven/serving/prefix\_file.c}. Two things can go wrong with such a file, and each would give your readers wrong texts without a word. It may be damaged: so it has a sum, and a parent must come before its children. And it may be the file of another model, or of this one with another window. Tokens do not show that; the caller adds a key of all that rows depend on besides tokens, and a file with another key is refused. A test turns bits all over a file and cuts it off at many lengths, and each time it must be refused.
@^prompt cache@>

@ A shared index is also a \emph{side channel}: it tells even strangers that a prompt whose first token comes quickly has been here before. By measuring TTFT, you can find out what others have asked. A server for people who should not know of each other gives each of them an index of their own, or none.
@^side channel@>

The file of the index:

@(prefix.c@>=
/** The index of prefixes: which full pages of a cache have which tokens after which others.

   A page is found by its parent and its tokens, and tokens are compared, so what is found has the
   very rows that a pass would compute. An entry holds a reference to its pages; nobody writes to a
   page that has two. The number of an entry is used again after it was given up, and a place
   that remembers one has to compare its birth. */
#include <string.h>
#include "serving/prefix.h"
@;@#
@<Find a page by its tokens@>@;
@<Adopt the pages of a known beginning@>@;
@<Have one more entry@>@;
@<Add a page@>@;
@<Give up a page@>@;

@ And the file of the scheduler. Opening, submitting, cancelling and closing hold no surprises; they are in \.{unwoven/serving/open.c}.

@(scheduler.c@>=
/** The scheduler: whose rows are computed in the next pass.

   Between steps each request of the line waits, without rows in the cache, or runs, in a slot of
   its own; the line is in order of arrival, always, and those that run come first. Three things are promised. The oldest that
   runs is never preempted, so every text ends. A text that is one row away from its next token
   has this row in every pass. And no decision here is seen in a text: a token depends on the
   rows before it and on its position, never on the pass. */
#include "cache/keep.h"
#include "serving/inside.h"
@;@#
@<Plan a pass@>@;
@<Take a slot@>@;
@<Let requests in@>@;
@<Leave@>@;
@<Make room@>@;
@<Bring new pages to the index@>@;
@<Look after the texts of a pass@>@;
@<Compute the pass@>@;
@<Take all texts one step further@>@;

@ A text that ends gives back its slot and its rows. Its full pages stay in the cache as long as the index holds them, for the next one who begins alike.

@<Leave@>=
void request_leave(struct scheduler *s, struct request *r)
{
  struct request **at = &s->line;
  if (r->state == REQUEST_RUNNING) {
    store_crop(s->g.s, r->q.c.sequence, 0);
    s->taken[r->q.c.sequence] = false;
  }
  r->state = REQUEST_ENDED;
  while (*at != r) at = &(*at)->next;
  *at = r->next;
}

@ After the pass, the scheduler looks after each text that was in a slot: its pages go to the index, and if it has ended or is unwanted, it leaves. (A text that lost its slot to a refused pass can be unwanted as well. It is then the first of those that wait.)

@<Look after the texts of a pass@>=
static void look_after_texts(struct scheduler *s)
{
  for (struct request *r = s->line, *next; is_running(r) || (r != NULL && r->unwanted); r = next) {
    next = r->next;
    if (is_running(r)) index_new_pages(s, r);
    if (r->unwanted && r->q.c.ended == FINISH_NONE) r->q.c.ended = FINISH_CANCELLED;
    if (r->q.c.ended != FINISH_NONE) request_leave(s, r);
  }
}

@* Measured: tokens a second, and the wait of each reader. \label{sec:measured}
Let us look at a clock. A class of up to 64 readers presses Enter in the same moment. Each has a prompt of \given{64} tokens and wants 32 more. The model has GPT-2 small's shape, with one worker and weights packed once, and the scheduler is the one of this chapter as it is, with \given{256} rows in a pass. \Cref{tab:measured}\lab{lab:many} has three things for each size of the class: how many tokens a second all of them get together, how long a reader waits for the first token on average, and how long from one token to the next.

\begin{table}[htp]
\tabcaption{tab:measured}{A class served by the scheduler: measured, and the least that the roofline allows for the same passes. Tokens a second are those written, over the whole time; TTFT and TPOT are means over the readers.}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrrrrr@@{}}
& \multicolumn2{c}{tokens a second} & \multicolumn2{c}{TTFT, s} & \multicolumn2{c}{TPOT, ms}\\
\tabhead{readers} & \tabhead{measured} & \tabhead{roofline} & \tabhead{measured} & \tabhead{roofline} & \tabhead{measured} & \tabhead{roofline}\\\midrule
1 & \val[0]{serving.many.rate.1} & \val[0]{serving.many.bound.rate.1} & \val[2]{serving.many.first.1} & \val[2]{serving.many.bound.first.1} & \val[0]{serving.many.gap.1} & \val[0]{serving.many.bound.gap.1}\\
2 & \val[0]{serving.many.rate.2} & \val[0]{serving.many.bound.rate.2} & \val[2]{serving.many.first.2} & \val[2]{serving.many.bound.first.2} & \val[0]{serving.many.gap.2} & \val[0]{serving.many.bound.gap.2}\\
4 & \val[0]{serving.many.rate.4} & \val[0]{serving.many.bound.rate.4} & \val[2]{serving.many.first.4} & \val[2]{serving.many.bound.first.4} & \val[0]{serving.many.gap.4} & \val[0]{serving.many.bound.gap.4}\\
8 & \val[0]{serving.many.rate.8} & \val[0]{serving.many.bound.rate.8} & \val[2]{serving.many.first.8} & \val[2]{serving.many.bound.first.8} & \val[0]{serving.many.gap.8} & \val[0]{serving.many.bound.gap.8}\\
\given{16} & \val[0]{serving.many.rate.16} & \val[0]{serving.many.bound.rate.16} & \val[2]{serving.many.first.16} & \val[2]{serving.many.bound.first.16} & \val[0]{serving.many.gap.16} & \val[0]{serving.many.bound.gap.16}\\
\given{32} & \val[0]{serving.many.rate.32} & \val[0]{serving.many.bound.rate.32} & \val[2]{serving.many.first.32} & \val[2]{serving.many.bound.first.32} & \val[0]{serving.many.gap.32} & \val[0]{serving.many.bound.gap.32}\\
\given{64} & \val[0]{serving.many.rate.64} & \val[0]{serving.many.bound.rate.64} & \val[2]{serving.many.first.64} & \val[2]{serving.many.bound.first.64} & \val[0]{serving.many.gap.64} & \val[0]{serving.many.bound.gap.64}
\end{tabular*}
\end{table}

The predictions come from the counters. Each pass reports its multiply--adds and its bytes, so it has a bound \eqref{eq:bound}; and if you add up the bounds as the clock adds up the passes, you have the delays of a machine that is always as fast as the roof. (The figures are the quickest of \given{5} rounds, pass by pass, as in \cref{sec:batching}.)

\widefig[htp]{class}{fig:class}{The class of \cref{tab:measured} over the number of its readers; grey is the roofline. From left to right: the tokens that all readers get together, the wait for the first token, and the time from one token to the next.}{Three small plots with logarithmic axes. On the left the tokens a second rise and flatten, below a grey line of the same form. In the middle the time to first token rises steeply from the first reader to the last, and on the right the time per token rises as well, from ten readers on more quickly. Both run above their grey lines, close at most sizes.}

@ What do you read in \cref{fig:class}? Together 64 readers get \val[0]{serving.many.rate.64} tokens a second, where one alone gets \val[0]{serving.many.rate.1}: that is \val[1]{serving.many.gain.64} times as many. This is less than \cref{tab:batchrows} might have promised. There, all texts only wrote. Here for every token that is written two are read, and reading doesn't get cheaper in company: a single prompt of \given{64} rows is above the ridge point already. The more readers there are, the more of the time goes into their prompts.

Each reader pays twice. The first token comes after \val[1]{serving.many.first.1} seconds for one reader and after \val[1]{serving.many.first.64} for 64, on average, since all prompts are read in the order of the line. And from one token to the next it takes \val[0]{serving.many.gap.1} milliseconds for one reader, and \val[0]{serving.many.gap.64} in a class of 64; a reader who is served early gets some tokens in passes that are full of other people's prompts.

The roofline predicts the form of all three curves, and not quite their height. The time that it allows is \val[0]{serving.many.share.1} percent of the measured time for one reader and \val[0]{serving.many.share.64} percent for 64, where our kernels fall short of the multipliers' peak (\cref{sec:roofline}). (Two readers reach \val[0]{serving.many.share.2} percent and four \val[0]{serving.many.share.4}, and you know why: the kernel that we measured multiplied two or three rows one by one, \cref{sec:batching}.) So a bound that knows two numbers of the machine, and nothing of its kernels, tells us what grows with the class and how fast. In the next section we are going to rely on that.

@* A crowd of users: a discrete-event simulation. \label{sec:simulation}
What would an H100 do with \given{10\,000} users? We don't have one to spare, and nobody has \given{10\,000} users to spare. But think of what decides how long you wait: the scheduler's rules, which we know; the rows of each pass, which we can count; and the time of a pass, for which the roofline gives us a bound. None of the three needs the model's weights. So let us put numbers where the texts were, and let a counter be the clock.

Such a program is called a \emph{discrete-event simulation}. Nothing happens between two events, so the clock jumps from one to the next. Its heart is a heap of what is going to happen, and when. In Python the well-known library for this is \texttt{simpy}, where each customer is a process with a life of its own. We need only two kinds of events, a text comes and a pass ends, and so a page of C will do.
@^discrete-event simulation@>@^simpy@>

@ A text is two lengths and the time at which it comes. Nobody knows beforehand how long it will be, the scheduler least of all: |wants| is only looked at to see whether the text has ended.

@<A server without a model@>=
struct simulated_text {
  uint64_t arrives; /* nanoseconds */
  size_t prompt, wants; /* tokens, at least one of each */
  uint64_t first, last; /* when it had its first new token, and its last */
  size_t length, stored, rows; /* tokens so far; rows in the cache; rows in the next pass */
  bool running; /* it has a slot */
  size_t preempted;
  uint32_t next; /* the text behind it in the line */
};
  /* the caller fills in when it comes, and both lengths */
struct row_costs {
  uint64_t layer_madds, pair_madds, head_madds; /* of a row; of a row and a position that it sees; of the logits of a row */
  uint64_t layer_bytes, head_bytes; /* of the weights */
  uint64_t embedding_bytes, row_bytes; /* of a token's embedding; of its keys and values */
};
  /* what the passes of a model cost, over all layers */

@ The server has what our scheduler has, and a machine with two speeds. Everything below |n| belongs to the simulation.

@<A server without a model@>=
struct simulation {
  size_t slots, pages, page_rows, pass_rows;
  bool in_batches;
  struct row_costs cost;
  struct roofline machine; /* zero: each pass takes one nanosecond */
  void (*on_pass)(void *ctx, const struct simulation *s, const struct counters *work);
  void *ctx; /* is told of each pass before it is computed; may be null */
  struct simulated_text *text; /* [n], borrowed */
  size_t n;
  uint32_t line, end; /* of those who have come, in their order */
  uint32_t *plan; /* [slots]: the texts with rows in the next pass */
  size_t planned, running, free_pages;
  uint64_t busy; /* nanoseconds in which a pass was computed */
  struct scheduler_counts counts;
};
  /* the caller fills in what stands before |line|; |text| has the answers afterwards */

@ The header declares two functions.

@(simulator.h@>=
#ifndef INCIPIT_SIMULATOR_H
#define INCIPIT_SIMULATOR_H
#include "phases/phases.h"
#include "serving/scheduler.h"
@<A server without a model@>@;
struct row_costs row_costs_of(const struct model *lm, size_t row_bytes);
  /* those of a model whose cache has so many bytes for a row of one layer, if no layer has a window */
bool simulate(struct memory *m, struct simulation *s, struct error *why);
  /* serves all texts; errors: memory, a text without a token, or one that fills more than all pages */
#endif

@ What does a pass cost? We count it as the engine counts its own (\cref{sec:counters}). A text with |n| rows after |stored| others does the layers' multiply--adds |n| times. Its first row sees |stored+1| positions, its last one |stored+n|. It reads its part of the cache once, and writes |n| rows. If these rows are all that it had to read, the head makes its logits. (|row_costs_of| fills in the costs for a model that is open.)

@<Count the work of a pass@>=
static void count_text(const struct row_costs *k, const struct simulated_text *t,
  struct counters *c)
{
  uint64_t n = t->rows, before = t->stored, seen = n * before + n * (n + 1) / 2;
  c->rows += n;
  c->madds_linear += n * k->layer_madds;
  c->madds_attention += seen * k->pair_madds;
  c->weight_bytes_read += n * k->embedding_bytes;
  c->cache_bytes_read += (before + n) * k->row_bytes;
  c->cache_bytes_written += n * k->row_bytes;
  if (before + n == t->length) c->madds_head += k->head_madds;
}
static struct counters count_pass(const struct simulation *s)
{
  struct counters c = @[{ .passes = 1 }@];
  for (size_t i = 0; i < s->planned; i++)
    count_text(&s->cost, &s->text[s->plan[i]], &c);
  c.weight_bytes_read += s->cost.layer_bytes;
  if (c.madds_head > 0) c.weight_bytes_read += s->cost.head_bytes;
  return c;
}

@ When a pass begins, the rules decide whose rows it has. They are those of the sections above, written once more on lengths instead of texts (|simulated_plan|, in \.{unwoven/serving/simulated.c}). The work is counted, and the roofline of \cref{sec:roofline} turns it into time.

@<Begin a pass@>=
static uint64_t begin_pass(struct simulation *s)
{
  if (simulated_plan(s) == 0) return 0;
  struct counters work = count_pass(s);
  if (s->on_pass != NULL) s->on_pass(s->ctx, s, &work);
  if (s->machine.madds == 0) return 1;
  return (uint64_t) ceil(1e9 * work_bound(&s->machine, &work));
}

@ And here is the loop. We take the earliest event from the heap of \cref{sec:heap}; |tie| is the number of the text that comes, or |PASS_ENDS|. The order of events at the same nanosecond matters: somebody who comes just when a pass begins may still join it. All events of that time are taken first, and only then does the next pass begin, if the machine is free.

@<Serve all texts, event by event@>=
static const uint64_t PASS_ENDS = ~(uint64_t) 0;
static bool put_arrivals(struct memory *m, struct heap *agenda, struct simulation *s,
  struct error *why)
{
  for (size_t i = 0; i < s->n; i++)
    if (!heap_push(m, agenda, (struct heap_item) @[{ s->text[i].arrives, i }@], why))
      return false;
  return true;
}
bool simulate(struct memory *m, struct simulation *s, struct error *why)
{
  struct heap agenda = @[{ NULL, 0, 0 }@];
  bool idle = true, ok = simulated_open(m, s, why) && put_arrivals(m, &agenda, s, why);
  s->busy = 0;
  while (ok && agenda.n > 0) {
    struct heap_item now = heap_pop(&agenda);
    if (now.tie == PASS_ENDS) simulated_advance(s, now.key), idle = true;
    else simulated_join(s, (uint32_t) now.tie);
    if (!idle || (agenda.n > 0 && agenda.item[0].key == now.key)) continue;
    uint64_t takes = begin_pass(s);
    if (takes == 0) continue;
    idle = false, s->busy += takes;
    ok = heap_push(m, &agenda, (struct heap_item) @[{ now.key + takes, PASS_ENDS }@], why);
  }
  heap_free(m, &agenda);
  simulated_close(m, s);
  return ok;
}

@ The file of the simulation:

@(simulator.c@>=
/** A server without a model: texts are lengths, and the clock is the roofline.

   Time is in nanoseconds and never runs backwards. Of two events at one time, arrivals come before
   the end of a pass, and both before the next pass begins. The same texts give the same passes, in
   every run and on every machine. */
#include <math.h>
#include "lookups/table.h"
#include "serving/simulated.h"
@;@#
@<Count the work of a pass@>@;
@<Begin a pass@>@;
@<Serve all texts, event by event@>@;

@ Is that still our server? We let both serve the same arrivals, \given{3000} random servers with a small model: the scheduler computes real passes, and the simulation counts. In each pass they have rows of the same texts, in the same order and equally many; the same texts are preempted; and the work that we count is, number for number, what the engine's own counters say. (The test is |the_scheduler_makes_the_simulated_passes| in \.{tests/suites/check\_simulation.c}.) The clock has a check of its own. A server with one slot, whose texts have a single row and come at random, is what textbooks call an M/D/1 queue. If it is busy for a share $\rho$ of the time, a text waits for $\rho/(2(1-\rho))$ passes on average, by the formula of Pollaczek and Khinchine. The simulation comes out there, up to the chance of the draw.
@^M/D/1 queue@>@^queue@>

\begin{table}[htp]
\tabcaption{tab:users}{Users of one simulated H100, each with a request in two minutes: tokens a second, and delays in milliseconds. TTFT and TPOT are given for the median and the 99th percentile, the delay that one user in \given{a hundred} exceeds. Below the line, two other ways to serve \given{10\,000}.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrr@@{}}
& & \multicolumn2{c}{TTFT} & \multicolumn2{c}{TPOT}\\
\tabhead{users} & \tabhead{tokens/s} & \tabhead{median} & \tabhead{99th} & \tabhead{median} & \tabhead{99th}\\\midrule
\given{1000} & \val[0]{serving.users.poisson.1000.rate} & \val[0]{serving.users.poisson.1000.first.50} & \val[0]{serving.users.poisson.1000.first.99} & \val[1]{serving.users.poisson.1000.gap.50} & \val[1]{serving.users.poisson.1000.gap.99}\\
\given{5000} & \val[0]{serving.users.poisson.5000.rate} & \val[0]{serving.users.poisson.5000.first.50} & \val[0]{serving.users.poisson.5000.first.99} & \val[1]{serving.users.poisson.5000.gap.50} & \val[1]{serving.users.poisson.5000.gap.99}\\
\given{10\,000} & \val[0]{serving.users.poisson.10000.rate} & \val[0]{serving.users.poisson.10000.first.50} & \val[0]{serving.users.poisson.10000.first.99} & \val[1]{serving.users.poisson.10000.gap.50} & \val[1]{serving.users.poisson.10000.gap.99}\\
\given{12\,000} & \val[0]{serving.users.poisson.12000.rate} & \val[0]{serving.users.poisson.12000.first.50} & \val[0]{serving.users.poisson.12000.first.99} & \val[1]{serving.users.poisson.12000.gap.50} & \val[1]{serving.users.poisson.12000.gap.99}\\
\given{15\,000} & \val[0]{serving.users.poisson.15000.rate} & \val[0]{serving.users.poisson.15000.first.50} & \val[0]{serving.users.poisson.15000.first.99} & \val[1]{serving.users.poisson.15000.gap.50} & \val[1]{serving.users.poisson.15000.gap.99}\\\midrule
in groups & \val[0]{serving.users.groups.10000.rate} & \val[0]{serving.users.groups.10000.first.50} & \val[0]{serving.users.groups.10000.first.99} & \val[1]{serving.users.groups.10000.gap.50} & \val[1]{serving.users.groups.10000.gap.99}\\
static batches & \val[0]{serving.users.batches.10000.rate} & \val[0]{serving.users.batches.10000.first.50} & \val[0]{serving.users.batches.10000.first.99} & \val[1]{serving.users.batches.10000.gap.50} & \val[1]{serving.users.batches.10000.gap.99}
\end{tabular*}
\end{table}

@ Now send in the users.\lab{lab:users} The model is Llama 3 8B in two bytes a number, and the machine is an H100 with the speeds of \cref{tab:hardware}. It has \given{512} slots, and \given{1024} rows in a pass. Each user asks once in two minutes on average, independently of all others, which is called a \emph{Poisson process}. Prompts are a few \given{hundred} tokens long, some of them thousands, and answers about half as long. \Cref{tab:users} shows five minutes of this.
@^Poisson process@>@^percentile@>

So \given{10\,000} users are no trouble, at best. The median user has the first token after \val[0]{serving.users.poisson.10000.first.50} milliseconds, and only one in \given{a hundred} waits longer than \val[0]{serving.users.poisson.10000.first.99}. With \given{12\,000} it still works. And with \given{15\,000} the median user waits \val[0]{serving.users.poisson.15000.seconds} seconds. What has happened between the two? The machine writes no more than about \val[0]{serving.users.poisson.15000.rate} tokens a second, and more are asked for. So the queue grows as long as users keep coming, and the wait depends only on how long that has been going on. \Cref{fig:knee} shows this \emph{knee} for three machines. On the left is the throughput, and it warns you of nothing: up to the knee each machine writes just what is asked for. On the right, the waits climb well before it.
@^knee@>@^throughput@>

\widefig[htp]{knee}{fig:knee}{Three simulated machines with Llama 3 8B over the rate at which requests come. Left, what they write; the grey line is what is asked for. Right, the TTFT that one request in \given{a hundred} exceeds. Past the knee it depends on how long the rush has lasted, here five minutes.}{Two plots over requests a second. On the left three lines follow a grey diagonal and leave it one after the other, to become level: the A100 first, near thirty requests a second, the H100 near \given{a hundred}, the B200 beyond \given{200}. On the right, on a logarithmic axis, three lines rise slowly from hundredths of a second and shoot up to many seconds at the same places.}

\begin{table}[htp]
\tabcaption{tab:capacity}{Simulated servers of Llama 3 8B: bandwidth in gigabytes a second, tokens for which the cache has pages (a tenth of the memory is kept for other things, as vLLM does), and the most users whose 99th percentile of TTFT is below a second.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrr@@{}}
\tabhead{machine} & \tabhead{bandwidth} & \tabhead{tokens in the cache} & \tabhead{users}\\\midrule
A100, 80 GB & \val[0]{serving.capacity.A100.bandwidth} & \val{serving.capacity.A100.tokens} & \val{serving.capacity.A100.users}\\
H100 & \val[0]{serving.capacity.H100.bandwidth} & \val{serving.capacity.H100.tokens} & \val{serving.capacity.H100.users}\\
H200 & \val[0]{serving.capacity.H200.bandwidth} & \val{serving.capacity.H200.tokens} & \val{serving.capacity.H200.users}\\
MI300X & \val[0]{serving.capacity.MI300X.bandwidth} & \val{serving.capacity.MI300X.tokens} & \val{serving.capacity.MI300X.users}\\
B200 & \val[0]{serving.capacity.B200.bandwidth} & \val{serving.capacity.B200.tokens} & \val{serving.capacity.B200.users}
\end{tabular*}
\end{table}

Two more things are in \cref{tab:users}. First, the users may come in groups: \given{200} of them press Enter within the same second because a lecturer has said \emph{now try it}. On average there are as many requests as before. But one in \given{a hundred} now waits \val[1]{serving.users.groups.10000.seconds} seconds, since a queue is made in a second and takes many to melt. Plan for the bursts and not for the mean. Second, static batches. The machine is the same, and it writes \val[0]{serving.users.batches.10000.rate} tokens a second instead of \val[0]{serving.users.poisson.10000.rate}: not enough for \given{10\,000} users, so their wait grows without end.

How would you notice in time that the knee is near? You might look at how busy the machine is. At \given{1000} users a pass is being computed during \val[2]{serving.users.poisson.1000.busy} percent of the time, and at \given{12\,000} during \val[2]{serving.users.poisson.12000.busy}: as soon as there is a text, there is a pass, and it merely has fewer rows. A utilisation of \given{a hundred} percent tells you nothing. Watch the waits, or the rows in a pass.
@^utilisation@>

@ And which machine should you buy? \Cref{tab:capacity} has the users that each of them can serve if 99 of \given{a hundred} are to have their first token within a second. Such a promise is called a \emph{service-level objective} (SLO), and the load that a server carries without breaking it, its \emph{goodput}.
@^service-level objective (SLO)@>@^goodput@>

Compare the H100 with the H200, which reads its memory much faster and has twice the cache. For one user it is the faster machine by far (\cref{tab:hardware}). For a crowd it is no better: near the knee a pass has hundreds of rows, more than the ridge point, so it waits for the multipliers, and the two have the same ones. (A TPU v5e isn't in the table, because it can't hold the weights.)

How much of this should you believe? The users are a bound, not a promise: no program reaches the peak of a data sheet, and we have counted no tokenizer, no sampler and no network. What carries over is the shape: where the time goes, that bursts hurt more than the mean, and that the waits rise before the throughput says anything.

@* The check, and what the tutorials say. \label{sec:servingcheck}
Is it true that company changes no text? And do the passes agree with the hand calculation? The chapter's program serves the eight requests three times with the built-in model: in batches, continuously, and continuously in a cache so small that texts have to give way. It counts passes and used slots, and compares every text with the one that the model writes when the request is alone.

@<Eight requests@>=
enum { REQUESTS = 8, SLOTS = 4 };
static const size_t wanted[REQUESTS] = @[{ 10, 100, 20, 30, 50, 15, 80, 40 }@];
struct house { struct memory m;@+ struct counters c;@+ struct engine e;
  struct model *lm;@+ struct tokenizer *t;@+ struct ids prompt[REQUESTS];
  struct continuation alone[REQUESTS]; };
static bool house_open(struct house *h, struct error *why)
{
  static const char *const begins[REQUESTS] = @[{ "The cat sat", "The owl", "A", "The harvest",@|
    "In the village", "The dog", "Once", "The king" }@];
  static const char pocket[] = "models/pocket";
  bool ok = true;
  h->e = (struct engine) @[{ .k = kernels_find(NULL, why), .c = &h->c }@];
  if (h->e.k == NULL || (h->lm = model_open(&h->m, pocket, why)) == NULL
      || (h->t = tokenizer_open(&h->m, pocket, why)) == NULL) return false;
  for (size_t i = 0; ok && i < REQUESTS; i++)
    ok = tokenizer_encode(h->t, &h->m, begins[i], strlen(begins[i]), false, false,@|
      &h->prompt[i], why);
  return ok;
}

@ First each request is written alone, by |generate| of \cref{loop}. We set no end token, so that the lengths are those of the hand calculation.

@<Eight requests@>=
static bool write_alone(struct house *h, struct error *why)
{
  struct cache_options usual = @[{ .rows = 0 }@];
  struct store *s = cache_open(&h->m, &h->lm->config, 1, &usual, why);
  bool ok = s != NULL;
  for (size_t i = 0; ok && i < REQUESTS; i++) {
    struct generate_context g = @[{ &h->e, h->lm, s, &h->m }@];
    struct generate_options want = @[{ .max_new_tokens = wanted[i],@|
      .recall = store_match_prefix }@];
    ok = generate(&g, h->prompt[i].id, h->prompt[i].n, &want, &h->alone[i], why);
  }
  store_close(s);
  return ok;
}

@ Then they are served together. All are submitted at once, and the scheduler steps until the line is empty.

@<Serve them together@>=
static bool serve(struct house *h, const struct scheduler_options *w, size_t rows,
  struct scheduler_counts *counts, size_t *same, struct error *why)
{
  struct cache_options size = @[{ .rows = rows, .page_rows = 16 }@];
  struct request r[REQUESTS] = @[{ { .state = REQUEST_ENDED } }@];
  struct scheduler s;
  struct store *cache = cache_open(&h->m, &h->lm->config, SLOTS, &size, why);
  struct generate_context g = @[{ &h->e, h->lm, cache, &h->m }@];
  bool open = cache != NULL && scheduler_open(&s, &g, w, why), ok = open;
  for (size_t i = 0; ok && i < REQUESTS; i++) {
    struct generate_options want = @[{ .max_new_tokens = wanted[i] }@];
    ok = scheduler_submit(&s, &r[i], h->prompt[i].id, h->prompt[i].n, &want, why);
  }
  while (ok && !scheduler_idle(&s)) ok = scheduler_step(&s, why);
  for (size_t i = 0; open && i < REQUESTS; i++) {
    const struct ids *a = &r[i].q.c.text, *b = &h->alone[i].text;
    *same += ok && a->n == b->n && memcmp(a->id, b->id, a->n * sizeof *a->id) == 0;
    request_close(&s, &r[i]);
  }
  if (open) *counts = s.counts, scheduler_close(&s);
  store_close(cache);
  return ok;
}

@ For each way of serving, the program prints the passes, the share of slots that were used, the rows computed, and the slots taken away.

@<Serve them together@>=
static bool print_ways(struct house *h, struct error *why)
{
  static const struct { const char *name;@+ struct scheduler_options w;@+ size_t rows; } way[] = @[{@|
    { "in batches", { .in_batches = true }, 0 }, { "continuously", { .share = false }, 0 },@|
    { "in 160 rows", { .share = true }, 160 } }@];
  size_t same = 0;
  printf("              passes  slots used  rows  preempted\n");
  for (size_t i = 0; i < 3; i++) {
    struct scheduler_counts c;
    if (!serve(h, &way[i].w, way[i].rows, &c, &same, why)) return false;
    printf("%-13s %6" PRIu64 "  %8.1f %%  %4" PRIu64 "  %9" PRIu64 "\n", way[i].name,
      c.passes, 100.0 * (double) c.slots_used / (double) (SLOTS * c.passes), c.rows,
      c.preempted);
  }
  printf("%zu of %d texts are those of a request alone\n", same, 3 * REQUESTS);
  return true;
}

@ The second experiment is the class of \cref{sec:prefixindex}. \given{100} prompts come one after another, each with the same \given{64} tokens and one more of its own, and ask for one token. How many rows will be computed? Guess before you read on.

@<Serve a class@>=
static bool print_class(struct house *h, struct error *why)
{
  struct cache_options size = @[{ .page_rows = 16, .rows = 1024 }@];
  struct scheduler s;
  struct store *cache = cache_open(&h->m, &h->lm->config, SLOTS, &size, why);
  struct generate_context g = @[{ &h->e, h->lm, cache, &h->m }@];
  struct scheduler_options w = @[{ .share = true }@];
  bool ok = cache != NULL && scheduler_open(&s, &g, &w, why);
  for (uint32_t i = 0; ok && i < 100; i++) {
    struct request r;
    struct generate_options want = @[{ .max_new_tokens = 1 }@];
    uint32_t text[65];
    memcpy(text, h->alone[1].text.id, 64 * sizeof *text);
    text[64] = i;
    ok = scheduler_submit(&s, &r, text, 65, &want, why);
    while (ok && !scheduler_idle(&s)) ok = scheduler_step(&s, why);
    request_close(&s, &r);
  }
  if (ok) printf("100 prompts of 65 tokens: %" PRIu64 " rows computed, %" PRIu64@|
    " found\n", s.counts.rows, s.counts.found);
  if (cache != NULL) scheduler_close(&s);
  store_close(cache);
  return ok;
}

@ The main program runs both, and frees what they used.

@c
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/keep.h"
#include "serving/scheduler.h"
@;@#
@<Eight requests@>@;
@<Serve them together@>@;
@<Serve a class@>@;
@#
int main(void)
{
  static struct house h;
  struct error why;
  bool ok = house_open(&h, &why) && write_alone(&h, &why) && print_ways(&h, &why)
    && print_class(&h, &why);
  for (size_t i = 0; i < REQUESTS; i++)
    ids_free(&h.m, &h.prompt[i]), continuation_free(&h.m, &h.alone[i]);
  tokenizer_close(&h.m, h.t), model_close(&h.m, h.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ The first two lines of the output are those of the hand calculation. In the third, texts are preempted, which costs a few passes and rows. (Fewer rows than in \cref{tab:smallcache}, since the index is on: a text that comes back can find pages of its own.) All texts are the same as alone. And the class computes its common beginning once, and then one row for each prompt.

\widecheckpoint{build/out/serving.txt}{eight requests served in three ways, and a class with one beginning}

@ Is that the best that one can do? Our last text ends with pass \val{serving.passes.continuous}. If we knew all lengths beforehand, and took the longest text first, \val{serving.passes.longest} passes would do. But nobody knows that, and the mean student would wait longer: \val[0]{serving.wait.longest} passes for a text instead of \val[0]{serving.wait.continuous}. (In batches it is \val[0]{serving.wait.static}.) What is best for the machine isn't best for its readers.

And what would you set on a machine of your own? About as many slots as the ridge point has rows, and |pass_rows| by the longest pause that you can bear between two tokens. If you then count many preemptions, there are more slots than pages for them.

\claim{S2-86}

@* Exercises. \label{sec:servingexercises}
Each exercise names the command that checks your answer.

\begin{exercises}
\exercise{check}{ex:serving.padding}{Four prompts have 5, \given{120}, \given{30} and \given{77} tokens. How many rows has the rectangle that padding makes of them, and how many has a ragged batch?}{\texttt{make exercise-12-1}}{\given{480} and \given{232}: four times the longest, and the sum.}
\exercise{check}{ex:serving.shortest}{The eight requests of the hand calculation come in the order of their lengths, the shortest first. How many passes does the scheduler need? Number the passes from 1: what is the sum of the eight texts' last passes?}{\texttt{make exercise-12-2}}{\given{130} and \given{420}. The mean wait is shorter than in any other order, and the longest text is left alone at the end.}
\exercise{think}{ex:serving.shared}{Pages have 16 rows. \given{40} requests, one after the other, have the same \given{70} tokens and then 5 of their own, and ask for one token. How many rows are computed?}{\texttt{make exercise-12-3}}{\given{504}. The first computes 75 rows. The others find four full pages, 64 rows, and compute 11 each; the last six of the common tokens are in a page that is not full, and such pages are not in the index.}
\exercise{check}{ex:serving.plan}{Passes have at most \given{16} rows. Texts decode in two of four slots when two prompts arrive, first one of 40 tokens, then one of 30. After which pass does each have its first token?}{\texttt{make exercise-12-4}}{3 and 6. Two rows of each pass are taken, so the first prompt is read in pieces of 14, 14 and 12, and 2 rows of the third pass are left for the second prompt. From then on three rows are taken, and the second prompt gets 13, 13 and 2.}
\exercise{think}{ex:serving.whole}{Pages have 16 rows. A prompt of 48 tokens comes again after its first text has ended. How many rows are computed for the second text's first token, and how many more pages are in use then?}{\texttt{make exercise-12-5}}{1 and 1. All three pages are found, but the logits of the last row are not kept. Its row is written again, in a page that the index holds as well, so the page is copied.}
\exercise{think}{ex:serving.reserve}{A cache has 20 pages of 16 rows. Each request has a prompt of one token and writes 30 tokens, but might write \given{100}. How many can be in at a time if pages are reserved, and how many at most if they are not?}{\texttt{make exercise-12-6}}{2 and 10. A text of \given{100} tokens fills seven pages, one of 30 tokens two.}
\exercise{build}{ex:serving.policy}{Who gets a slot that becomes free? Write the policy. The function |choose| is shown all requests that wait, in the order of arrival: how many tokens each wants, and for how many passes it has waited. There are three slots. Three texts of \given{30} to \given{40} tokens come first, and then short ones without a pause. The mean wait must be at most three quarters of the mean wait in the order of arrival, and nobody may wait for more than \given{150} passes.}{\texttt{make exercise-12-7}}{The shortest request, unless the oldest has waited for \given{90} passes, say; then the oldest. With the first half alone, which is the best for the mean, the long texts wait until no short ones come any more, \given{500} passes and longer. The judge lets our scheduler serve the requests, and counts.}
\exercise{think}{ex:serving.shortprompt}{Prompts are read in the order of arrival, so a question of one line waits behind a pasted book. Let the prompt that lacks the fewest rows be read first. Change |plan_pass|. Which of the five rules is broken then?}{\texttt{make exercise-12-8}}{The second round looks again and again for the smallest number of rows that is greater than the last one, and gives rows to the texts that lack so many. It breaks the third rule, and the fifth with it: if short prompts keep coming, the book is never read.}
\end{exercises}
