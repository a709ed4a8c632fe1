@i types.w
@s size_t int
@s operand int
@s relation int
@s clause int
@s verdict int
@s outcome int
@s take_line int
@s ledger int
@s judgement int
@s print_form int

\chapterquestion{I have read in a tutorial that the cache turns quadratic cost into linear cost. Is that right? And how could I find out?}
@** The ledger: what the tutorials say.
\incipit{F}{ive tutorials} made us write this book. They explain to many readers how a language model writes, and we went through them with a pencil and marked what could be right or wrong: a count, a formula, a size in bytes, a rule, a promise that something stays the same. That gave \val{ledger.rows} statements. We wrote each one down, with the whole sentence that contains it, and tested it with the engine of this book, if anything can test it.

The result is a \emph{ledger}, a table with one row for each statement. A row has the sentence, the number that it claims, the number that our program prints, a \emph{verdict} such as \emph{holds} or \emph{off by one}, and one line that gives the reason. We do not choose the verdict: each row also has a \emph{rule}, which compares our number with the claim, and a program applies all the rules whenever the book is built. If a rule gives another verdict than the row, the build stops.

You can repeat this. The command \texttt{incipit verify S1-11} runs the experiment for row 11 of tutorial S1 and prints everything that the row says. \texttt{incipit verify} runs all of them, in less than two minutes on two cores.

Why judge tutorials at all? We do not want to shame their authors, who gave their time away. But a learner who meets two tutorials that contradict each other needs a third opinion, and an author would like to know which sentence to change. We ourselves learned more from the sentences that are almost right than from those that are right.
@^ledger@>@^verdict@>@^tutorials@>@^claim@>

@ Here is the row for the question at the head of this chapter.

\claim{S0-04}

The verdict \emph{misleading} means that the sentence has two senses: one in which it is true, and one in which many readers will read it. So the answer to the question is: yes for the work in the matrices, no for the attention. \Cref{sec:counting} counts both.

@ \Cref{tab:sources} lists the five tutorials. The book calls them S0 to S4; S4-30 is claim number 30 of S4.

\begin{table}
\tabcaption{tab:sources}{The five tutorials.}
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lll@@{}}
& \tabhead{title} & \tabhead{section}\\
S0 & Autoregressive generation: how an LLM writes \dots{} & \ref{sec:ledgerS0}\\
S1 & Autoregressive generation (course note) & \ref{sec:ledgerS1}\\
S2 & Autoregressive Generation (Language AI Handbook) & \ref{sec:ledgerS2}\\
S3 & How AI Text Generation Actually Works & \ref{sec:ledgerS3}\\
S4 & The Autoregressive Loop and the Redundancy Problem & \ref{sec:ledgerS4}
\end{tabular*}
\end{table}

You have read a sentence in one of them and want to know whether it is right? Give a few of its words to the command: \texttt{incipit verify half an MB} finds the rows that have these words, runs them, and shows what came out. On paper, search \cref{sec:ledgertable}, which has every sentence as its author printed it.

@* The standard. \label{sec:ledgerstandard}
Anybody can catch a tutorial in an error. It is enough to read each sentence alone, at its weakest, and with one's own definitions. That would be easy and worth nothing, so we wrote down how we read before we judged, and when readers of an earlier edition showed us rows that broke these rules, we judged them again (\.{ledger/objections.md} has the list).

\emph{Which sentences.} All that say something about how text is generated, and that could be false. We left out definitions of words, instructions for the code that comes with a text, history, and announcements of what the next section will say. A sentence with two statements has two rows; a statement made twice in one text, in other words, mostly has one. The headings, figures and code of the texts were read like the rest.

\emph{Whole, and in its place.} We judge the sentence with the qualifications it has (``roughly'', ``for K and V''), on the hardware and for the model that its author names, and with what the paragraph around it assumes. Where a sentence has two senses, the author's comes first. We call it \emph{misleading} only if that sense is right and a reader who comes to learn will take the other, and both senses are printed.

\emph{Charged once.} If a number is wrong because it was computed from another number that is wrong, the second is called misleading, and its row says where the first one is.

\emph{Small things are small.} Two whole numbers that differ by one are off by one; nothing more is meant. We let a sentence pass where only the prefix of a word is at stake: it may say ``recompute all rows'', although one of them is computed for the first time.

\emph{What people do} is not for us to judge: ``most'', ``often'', ``typical requests'', advice, and taste. This is so even where an example of ours would agree. (The sizes of published models are facts, and we look them up.) A question, or an invitation to try something, is judged by what it takes for granted. And what a drawing shows is its author's to choose. But if a text says what one will see in a moving picture, of attention or of work, we look for it in a picture of our own, in which nothing is scripted\lab{lab:demonstration}.

\emph{Lost is lost.} Where our copy of a text has lost a formula, we do not guess it. The gap is printed as [lost].
@^standard of judging@>

@* What became of the claims. \label{sec:ledgersum}
Of the \val{ledger.rows} statements \val{ledger.all.holds} hold as they are, and \val{ledger.all.holds-with-rounding} more hold when our number is rounded to the digits that the author printed (\cref{fig:verdicts,tab:verdicts}). Another \val{ledger.all.off-by-one} are off by one. Most of these have the same cause: they count the newest token as if its keys and values were in the cache already. They are computed one step later, when the token is read.

A larger group, \val{ledger.all.misleading} statements, is \emph{misleading}: true in one sense, and likely to be read in another. The commonest of them says that the cache makes generation linear. In \val[word]{ledger.all.ambiguous} cases the sentence is \emph{ambiguous}: it has two meanings, and the author does not say which. In just \val[word]{ledger.all.wrong} of the \val{ledger.rows} we found no sense that is right. No run has decided the rest so far.
@^off by one@>

\fig{verdicts}{fig:verdicts}{What became of the claims, by source. The table at the end of the chapter has every one of them.}{Five horizontal bars, one for each tutorial, divided by verdict. In each of them the largest part holds; the second largest is misleading in S0, S2 and S3, not tested in S1; in S4 two are equally large, off by one and misleading.}

\begin{table}
\tabcaption{tab:verdicts}{Verdicts by source.}
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lrrrrrrrr@@{}}
& \tabhead{holds} & \tabhead{rounded} & \tabhead{$\pm1$} & \tabhead{ambig.} & \tabhead{mislead.} & \tabhead{wrong} & \tabhead{untested} & \tabhead{to come}\\\midrule
S0 & \val{ledger.S0.holds} & \val{ledger.S0.holds-with-rounding} & \val{ledger.S0.off-by-one} & \val{ledger.S0.ambiguous} & \val{ledger.S0.misleading} & \val{ledger.S0.wrong} & \val{ledger.S0.not-testable-here} & \val{ledger.S0.to-come}\\
S1 & \val{ledger.S1.holds} & \val{ledger.S1.holds-with-rounding} & \val{ledger.S1.off-by-one} & \val{ledger.S1.ambiguous} & \val{ledger.S1.misleading} & \val{ledger.S1.wrong} & \val{ledger.S1.not-testable-here} & \val{ledger.S1.to-come}\\
S2 & \val{ledger.S2.holds} & \val{ledger.S2.holds-with-rounding} & \val{ledger.S2.off-by-one} & \val{ledger.S2.ambiguous} & \val{ledger.S2.misleading} & \val{ledger.S2.wrong} & \val{ledger.S2.not-testable-here} & \val{ledger.S2.to-come}\\
S3 & \val{ledger.S3.holds} & \val{ledger.S3.holds-with-rounding} & \val{ledger.S3.off-by-one} & \val{ledger.S3.ambiguous} & \val{ledger.S3.misleading} & \val{ledger.S3.wrong} & \val{ledger.S3.not-testable-here} & \val{ledger.S3.to-come}\\
S4 & \val{ledger.S4.holds} & \val{ledger.S4.holds-with-rounding} & \val{ledger.S4.off-by-one} & \val{ledger.S4.ambiguous} & \val{ledger.S4.misleading} & \val{ledger.S4.wrong} & \val{ledger.S4.not-testable-here} & \val{ledger.S4.to-come}\\
all & \val{ledger.all.holds} & \val{ledger.all.holds-with-rounding} & \val{ledger.all.off-by-one} & \val{ledger.all.ambiguous} & \val{ledger.all.misleading} & \val{ledger.all.wrong} & \val{ledger.all.not-testable-here} & \val{ledger.all.to-come}
\end{tabular*}
\end{table}

@ Where does our number come from? Each row says one of three words. In \val{ledger.counted} rows it is \emph{counted}: a program ran the engine and counted rows, pairs, bytes, equal tokens, or cases in which a property held. In \val{ledger.measured} rows it is \emph{measured}, with a clock or with many random draws. A measured number will be different on your machine, so the rules of these rows ask only for a bound that should hold on both.
In \val{ledger.computed} rows it is \emph{computed}, from the settings of a published model or the data sheet of an accelerator, by a formula that a chapter derives.

No run can decide some statements: those about all models, about what most people use, or about what reads well. Nor can a formula that is lost be judged. The verdict is then \emph{not tested here}, and the row gives the reason. A statement about several devices has the verdict \emph{to come}, because the chapter that tests it is not written yet.

The box shows how three rows are judged.

\begin{byhand}{three rows judged}
The article S4 prints a table. Its first line says that for 50 tokens after a prompt of 100 the naive loop computes 6,225 rows, that 150 of them are needed, and that the factor between the two is 41.5. Its last line, for 1000 tokens after a prompt of 2000, gives a factor of 833.

\medskip
\begin{tabular}{@@{}llrl@@{}}
\tabhead{row} & \tabhead{rule} & \tabhead{our run} & \tabhead{verdict}\\
S4-29 & says \emph{rows} = 6225 & 6225 & holds\\
S4-30 & says \emph{needed} = 150 & 149 & off by one\\
S4-40 & says \emph{factor} \texttt{\textasciitilde} 833 & 833.4445 & holds, rounded
\end{tabular}
\medskip

For S4-29 the numbers are equal. S4-30 asks for equality as well, and $150-149=1$: two whole numbers that differ by exactly one get a verdict of their own, because counting one too many is a common mistake with a common cause. S4-40 allows rounding, shown by \texttt{\textasciitilde}, to as many digits as the author printed: $833.4445$ rounded to three digits is $833$. The factor of the first line, $41.5$, does not survive this: our own counts give $6225/149=41.7785$. It is right only with the article's 150, so its verdict is \emph{misleading} (S4-31).
\end{byhand}

@* What the tutorials get right. \label{sec:ledgerright}
A list of corrections alone would give a false picture. The five tutorials agree on a great deal, and what they agree on is the skeleton of this book. Each statement in this section is one of theirs in our words, and each was tested.

\claim{S4-20}

The loop is as they describe it: a pass, a choice, one token appended, and the next pass (S0-23, S4-02). A text of $n$ tokens takes $n$ passes (S0-21, S1-37) and ends with an end token or at a maximum length (S1-05, S2-09). Each token depends on all tokens before it (S1-35, S3-04): after we changed one token, all \val{prop.earlier.changed} rows after it changed. Every token takes a pass of its own, and no two of these passes can be done at once (S3-17).

All of Part II rests on one fact: the keys and values of a position never change when the text grows (S2-40, S4-20). S4 gives the reason step by step, and better than we do: the embedding depends only on the token and its position, the mask hides later positions, and so the same is true of every layer (S4-15 to S4-20). We compared \val{prop.later.rows} rows, and all were the same to the last bit.

Most of the arithmetic is right. S4's total for the naive loop, $gp+g(g-1)/2$, agrees with our counters in every line of its table (S4-22, S4-29, S4-32, S4-35, S4-38). S0's bytes of a cache are exact (S0-42). S0 corrects its own opening further down, in words that we could not improve: with the cache each step is linear, and the sum is quadratic (S0-54, S0-61).

\claim{S0-54}

On sampling and stopping there is little to add. Temperature, top-k, and nucleus sampling (S1-29, S1-31, S1-32, S3-24, S3-25), the danger of loops (S1-28, S3-23), the difference between one sample and many (S3-48), stop strings (S3-42), and a text that is cut off in the middle of a sentence (S3-41): all these statements held when we ran them.

@* What to change. \label{sec:ledgerchange}
The next five sections are letters, one to each author. A letter names a few sentences, the most useful correction first, and says what could stand there instead. We know the address of only one author. If you know another, please pass the letter on: \texttt{make letters} writes each one to a file that can be sent, with the sentences it names, our runs, and the commands that repeat them.

@ \emph{To the author of S0.} Your section on why inference gets slower is the best short account that we know, but it contradicts your opening. ``Without it, inference cost scales quadratically with sequence length instead of linearly'' (S0-04) could become: \emph{without it the work on keys and values is quadratic in the length instead of linear, and attention cubic instead of quadratic}. ``That makes each step O(T)'' (S0-36) is true of the rows. With attention in the deeper layers a step is $O(T^2)$,
as your FAQ says. One sentence seems to have lost a word (S0-20): COMPUTE climbs only \emph{slowly} in KV CACHE mode. In the demo, the cache of the newest token fills one step later than you draw it (S0-11), and the query comes from the last token, not from the empty slot (S0-09). A beam needs a name: a step has a weight for every head of every layer (S0-10). COMPUTE needs a unit: no single unit gives both \given{120} and more than \given{2400} (S0-13). Last, a matter of taste: a model of 32 layers and \given{4096} dimensions is usually called a 7B and not frontier scale (S0-41).

@ \emph{To the author of S1.} Your note says in a few pages nearly everything that one must know, and your example of the cache counts the right heads. In your list for the decode phase, the new token's key and value are appended after the token has attended. They must come first, because a token attends to itself (S1-13). ``A 1000-token prompt is processed in roughly the same wall-clock time as a 100-token prompt'' (S1-11) would be true if both prompts were below the ridge point of the machine. On an H100 the ridge point is at \val[0]{phases.balance.H100} rows, and the longer prompt takes at least \val[1]{phases.earliest.ratio} times as long.
In the paper that introduced it a nucleus \emph{reaches} its share and need not exceed it (S1-30). A response of \given{500} tokens takes \given{500} times as many passes as one token, but not \given{500} times as long, because the first token has to wait for the prompt (S1-42). And the \given{500},\given{500} positions that you compare with \given{1000} (S1-57) are rows. Of pairs in attention there are \val{claim.S2-36} without the cache and \val{claim.S0-61} with it.

@ \emph{To the author of S2.} Your chapter has the most statements of the five and the largest number that hold. The sentences on ``from quadratic to linear'' (S2-03, S2-94) are true of rows; pairs go from cubic to quadratic. The hidden state that you call $h_{10}$ is, to most readers, that of the tenth token, and that one already contains the answer; if you mean the state that predicts it, at position 9, one word would say so (S2-30). Generation is sequential because a pass cannot read a token that has not been chosen, not because of the mask (S2-29). What the mask gives is that finished rows stay as they are.
Call the bias of the head \emph{context}-independent instead of token-independent (S2-24): a bias that is the same for all tokens cancels in the softmax. The product of heads and head size is the width of the model only where every query head has its own keys (S2-57). The numbers of attention operations for \given{1000} and \given{100} tokens (S2-37, S2-38) have the right proportion, but as counts they are twice too large: your own sum gives \val{claim.S2-37} and \val{claim.S2-38}.

@ \emph{To the author of S3.} Your sections on temperature, and on why one answer says little about a model, need a few lines where we need a chapter (S3-24, S3-25, S3-48). ``With KV caching, it's O(n)'' (S3-12) could become \emph{with KV caching each step is O(n)}: the sum of the steps is quadratic. The cache ``for a model like GPT-4'' (S3-13) would take \val[0]{claim.S3-13} GiB if all \given{128} heads had keys. Tens of gigabytes is right for eight heads, so name those. Generation stops when the end token is \emph{selected} (S3-39).
It usually is when its probability is high, but a random draw can choose another token. ``Each token is committed the moment it's generated'' (S3-06) is true of sampling, and not of the beam search that you describe two sections later.

@ \emph{To the author of S4.} Your drawing of the redundancy is the reason that this book counts rows. The drawing has six necessary cells, and the formula should give six as well: $p+g-1$ instead of $p+g$, since the last token is never read (S4-27). In your table the necessary counts should be \val{claim.S4-30}, \val{claim.S4-33}, \val{claim.S4-36} and \val{claim.S4-39}. For the same reason only five of the six results are worth storing (S4-14). ``RECOMPUTED (3rd time!)'' can be read as a third recomputation, and it is the third computation (S4-08). The ratio in your text has $g^2/2$ where your table uses $g(g-1)/2$ (S4-28); the table is right.
Layers and heads multiply the naive and the necessary count alike, so they leave the waste factor as it is (S4-48). That factor grows in proportion to $g$, not to its square, and cannot exceed $g$ (S4-53, S4-58). And in your own table twice the tokens cost \val[1]{claim.S4-43} times the work, because the prompts are long (S4-43). The factor of four is the limit for short prompts.

@* A rule and its tests. \label{sec:ledgerrules}
How does a rule decide? A laboratory program prints lines, each with a \emph{key} and a number, such as \texttt{loop.naive.3.4 18}. A \emph{test} compares such numbers with what a sentence says:

\medskip
\begin{tabular}{@@{}ll@@{}}
\emph{test} & \emph{expression} \emph{relation} \emph{expression}\\
\emph{expression} & \emph{operand}, or \emph{operand} \emph{operator} \emph{operand}\\
\emph{operand} & a key, or a number\\
\emph{operator} & \texttt{+} \texttt{-} \texttt{*} \texttt{/}\\
\emph{relation} & \texttt{=} \texttt{\textasciitilde} \texttt{\char60} \texttt{\char62} \texttt{\char60=} \texttt{\char62=} \texttt{in}
\end{tabular}
\medskip

The left side of the relation is our number, and the right side is the author's. So there is a key on the left, and nothing may be added to it: of $x-1=0$ nobody could say which number is the author's. And no test asks whether a count is greater than 0, which it is whatever the sentence says. The relation \texttt{\textasciitilde} is equality after rounding. After \.{in} comes a range, such as \.{10..\given{100}}. One operator is enough: it makes a ratio of two keys, or divides a number of bytes by $10^9$. Blanks separate all words, so that a key may contain points and dashes.
@^test of a rule@>

@ A \emph{rule} is one or more tests. Before each test there is a word that tells what the test means for the sentence. Most sentences have one meaning, and the word is \.{says}. Other sentences need a judgement, and their rule has two halves. A sentence is \emph{misleading} if it is \.{true} in one sense and will be \.{read} in another;
it is \emph{ambiguous} if its author left open whether \.{either} of two things is meant \.{or} the other. The row explains both senses in words, and there is a test for each. So even a judgement is supported by runs: in one sense the sentence has to hold, and in the other it has to fail.

Two words stand alone, without a test: \.{none} if no run of ours can decide, and \.{to-come} if a later chapter has to test the sentence.

@(rules.h@>=
#ifndef INCIPIT_LEDGER_RULES_H
#define INCIPIT_LEDGER_RULES_H
#include "ledger/values.h"
@<What may become of a sentence@>@;
@<A rule@>@;
#endif

@ There are nine verdicts. The first is for a row that cannot be judged, because a program is missing, fails, or does not print a key. Such a row never counts as holding.

@<What may become of a sentence@>=
enum verdict { VERDICT_NOT_JUDGED, VERDICT_HOLDS, VERDICT_ROUNDED,
  VERDICT_OFF_BY_ONE, VERDICT_MISLEADING, VERDICT_AMBIGUOUS, VERDICT_WRONG,
  VERDICT_NOT_TESTABLE, VERDICT_TO_COME, N_VERDICTS };
  /* what a rule and a run may come to */
const char *verdict_name(enum verdict which);
  /* ``holds'', ``off-by-one'', ... */
bool verdict_find(const char *name, enum verdict *which);
  /* the verdict of that name; false if there is none */

@ This is a rule after parsing. Its keys point into the text of the rule. A number keeps the count of its digits, because ``as many digits as the author printed'' depends on how the number is written: \given{171} has three digits, and \.{5e1} has one. The parser reads one word at a time, and every message of it quotes the wrong word and says what could stand there. (It is plain C, in \.{unwoven/ledger/reading.c}.)

@<A rule@>=
enum { RULE_MAX_TESTS = 6 };
  /* tests that a rule may have */
enum clause { CLAUSE_SAYS, CLAUSE_TRUE, CLAUSE_READ, CLAUSE_EITHER, CLAUSE_OR,
  N_CLAUSES };
  /* what a test means for its sentence */
enum relation { RELATION_EQUAL, RELATION_ABOUT, RELATION_LESS, RELATION_MORE,
  RELATION_AT_MOST, RELATION_AT_LEAST, RELATION_IN, N_RELATIONS };
  /* how ours and theirs are compared */
struct operand { const char *key;@+ size_t n;@+ double x;@+ int digits; };
  /* a key of |n| bytes or, if |n| is 0, the number |x|, written with so many digits */
struct expression { struct operand first, second;@+ char sign; };
  /* two operands and the sign between them, or the first alone, and no sign */
struct rule_test { enum clause meaning;@+ struct expression ours, theirs;
  enum relation how;@+ double low, high; };
  /* a test; theirs is the range if |how| is |RELATION_IN| */
struct parsed_rule { struct rule_test list[RULE_MAX_TESTS];@+ size_t n;
  bool none, to_come; };
  /* a rule: tests, or no test and one of the two flags */
bool rule_parse(const char *text, struct parsed_rule *r, struct error *why);
  /* borrows |text|; on failure a sentence that quotes what is wrong */
@<What a rule decides@>@;

@* Deciding. \label{sec:ledgerdecide}
A test has one of five outcomes: exact (equal, or true), equal after rounding, off by one, false, or unknown because a key is missing. They are ordered from good to bad, and the result of several tests is the worst of their outcomes. (|struct run_values| is the list of all keys and numbers that programs printed. If two programs print different numbers under one key, one of them is wrong, and both are refused; \.{unwoven/ledger/values.c} keeps the list and works out expressions with it.)

@<What a rule decides@>=
enum outcome { OUTCOME_EXACT, OUTCOME_ROUNDED, OUTCOME_OFF_BY_ONE, OUTCOME_FALSE,
  OUTCOME_UNKNOWN };
  /* how a test came out, from good to bad */
bool expression_value(const struct expression *e, const struct run_values *v,
  double *x, struct error *why);
  /* its value; false and a sentence that names the key that was not printed, or
     a division by zero */
enum outcome test_outcome(const struct rule_test *t, const struct run_values *v,
  struct error *why);
  /* |why| is written if it is unknown */
enum verdict rule_decide(const struct parsed_rule *r, const struct run_values *v,
  struct error *why);
  /* the verdict; |why| is written if the row is not judged */

@ Two numbers are equal if they agree to nine digits. We do not ask for more, because the quotient of two printed numbers may differ in its last bits from the number in the rule. For rounding, |snprintf| rounds our number to as many digits as theirs was written with. It rounds the exact value of the double, and of two equally near results it takes the one with the even digit. Numbers that are off by one must both be whole.

@<Compare ours with theirs@>=
/* Relative, and with room for a few roundings: both sides may have been printed and read again. */
static bool equal_numbers(double a, double b)
{
  return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}
@#
static bool equal_rounded(double ours, double theirs, int digits)
{
  char text[64];
  snprintf(text, sizeof text, "%.*e", digits > 0 ? digits - 1 : 0, ours);
  return equal_numbers(strtod(text, NULL), theirs);
}
  /* Is ours theirs, when it is printed with the digits that they give? printf rounds as a reader
     expects, and no formula with powers of ten does at the borders. */
@#
static bool off_by_one(double a, double b)
{
  return floor(a) == a && floor(b) == b && fabs(a - b) == 1;
}
  /* only of two whole numbers: 0.5 and 1.5 are simply different */

@ A comparison or a range is true or false, with nothing in between. Only where equality is asked for can a number be right after rounding, or off by one.

@<Compare ours with theirs@>=
/* From the strictest to the mildest: the first that holds is the outcome. An inequality either
   holds or does not; rounding and off by one are for equations. */
static enum outcome compare(const struct rule_test *t, double ours, double theirs)
{
  bool holds = false;
  switch (t->how) {
  case RELATION_LESS: holds = ours < theirs; break;
  case RELATION_MORE: holds = ours > theirs; break;
  case RELATION_AT_MOST: holds = ours <= theirs; break;
  case RELATION_AT_LEAST: holds = ours >= theirs; break;
  case RELATION_IN: holds = t->low <= ours && ours <= t->high; break;
  case RELATION_EQUAL: case RELATION_ABOUT:
    if (equal_numbers(ours, theirs)) return OUTCOME_EXACT;
    if (t->how == RELATION_ABOUT
      && equal_rounded(ours, theirs, t->theirs.first.digits)) return OUTCOME_ROUNDED;
    if (off_by_one(ours, theirs)) return OUTCOME_OFF_BY_ONE;
    break;
  case N_RELATIONS: break;
  }
  return holds ? OUTCOME_EXACT : OUTCOME_FALSE;
}

@ A test works out both sides and compares them. The two limits of a range are numbers of the rule, so |in| has no right side to work out.

@<Compare ours with theirs@>=
/* an interval has its two ends in the test and nothing on the right */
enum outcome test_outcome(const struct rule_test *t, const struct run_values *v,
  struct error *why)
{
  double ours, theirs = 0;
  if (!expression_value(&t->ours, v, &ours, why)) return OUTCOME_UNKNOWN;
  if (t->how != RELATION_IN && !expression_value(&t->theirs, v, &theirs, why))
    return OUTCOME_UNKNOWN;
  return compare(t, ours, theirs);
}

@ The last step turns outcomes into a verdict. A sentence with one meaning has one, the worst of its tests. A judgement has two halves. If both hold, the sentence is right in either sense, and nothing in it misleads. If \.{true} fails, or both \.{either} and \.{or}, the sentence is wrong. It is misleading or ambiguous only if one half holds and the other does not.

@<Decide@>=
/* in the order of |enum outcome| */
static enum verdict plain_verdict(enum outcome o)
{
  static const enum verdict of[] = { VERDICT_HOLDS, VERDICT_ROUNDED,@|
    VERDICT_OFF_BY_ONE, VERDICT_WRONG, VERDICT_NOT_JUDGED };
  return of[o];
}
@#
static enum verdict verdict_of_two(enum outcome first, enum outcome second,
  bool open)
{
  bool one = first <= OUTCOME_ROUNDED, other = second <= OUTCOME_ROUNDED;
  if (one && other) return plain_verdict(first > second ? first : second);
  if (open && (one || other)) return VERDICT_AMBIGUOUS;
  return one ? VERDICT_MISLEADING : VERDICT_WRONG;
}
  /* A claim with two readings. Both true: the worse of the two. One true: ambiguous if the text
     leaves open which is meant, misleading if a reader will take the false one. */

@ The first half are the tests with \.{says}, \.{true} or \.{either}, the second those with \.{read} or \.{or}. Of each half the worst outcome counts, and a single unknown one leaves the row without a verdict.

@<Decide@>=
/* Each clause belongs to the first reading or to the second, and a reading is as good as its
   worst clause. The first clause says which kind of rule it is. */
enum verdict rule_decide(const struct parsed_rule *r, const struct run_values *v,
  struct error *why)
{
  enum outcome worst[2] = { OUTCOME_EXACT, OUTCOME_EXACT };
  if (r->none) return VERDICT_NOT_TESTABLE;
  if (r->to_come) return VERDICT_TO_COME;
  for (size_t i = 0; i < r->n; i++) {
    enum clause meaning = r->list[i].meaning;
    int half = meaning == CLAUSE_READ || meaning == CLAUSE_OR;
    enum outcome o = test_outcome(&r->list[i], v, why);
    if (o == OUTCOME_UNKNOWN) return VERDICT_NOT_JUDGED;
    if (o > worst[half]) worst[half] = o;
  }
  if (r->list[0].meaning == CLAUSE_SAYS) return plain_verdict(worst[0]);
  bool open = r->list[0].meaning == CLAUSE_EITHER || r->list[0].meaning == CLAUSE_OR;
  return verdict_of_two(worst[0], worst[1], open);
}

@ One file compares and decides; it reads no text, for the rules have been parsed.

@(rules.c@>=
/* From a parsed rule and the values of a run to a verdict. Outcomes are ordered from exact to
   unknown, so the worst of several is the largest, and a verdict is looked up by it. A value
   that is missing decides nothing: it gives ``not judged'', never a verdict by default. Parsing
   is in reading.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ledger/rules.h"
@;@#
@<Compare ours with theirs@>@;
@<Decide@>@;

@* A row of the ledger. \label{sec:ledgerfile}
The rows are in a text file, \.{ledger/claims.tsv}, one line each, with tabs between the fields. So \texttt{grep} can search them, and a comparison of two versions shows which rows changed. These are the fields of a row, with those of S4-30 as an example.

\medskip
{\small\begin{tabular}{@@{}p{57mm}l@@{}}
id; chapter and section & S4-30; 3, sec:looptutorials\\
programs that print the keys of the rule & loop\\
kind of our number & counted\\
verdict & off-by-one\\
the number claimed & ``150''\\
our number: \texttt{\char123 1\char125} is the first test's left side & \texttt{\char123 1\char125}\\
rule & ``\texttt{says claim.S4-30 = 150}''\\
the whole sentence & ``100 50 6,225 150 41.5$\times$''\\
for a judgement, its two senses, true and read & (empty)\\
the reason; a command that shows it
\end{tabular}}
\medskip

The program that reads this file, \.{program/ledger\_table.c}, is plain C and not printed here. It refuses a row in which the number claimed is missing from the sentence or from the rule: if one of us ``corrects'' a number in one place only, a message names the row and the field. It refuses a digit in the pattern for our number, so no result is ever typed. It refuses a judgement without both senses, a row without a reason, and a row that names programs its rule does not need. It refuses a claim that stands for something our copy has lost.

@ The quotations need a guard of their own, because a sentence with one word changed is still a sentence. The five texts belong to their authors, so they are not part of this project. What the project has is a fingerprint of each quotation, its SHA-256, in \.{ledger/quotations.tsv}. A script made these sums from the texts: it found each quotation in its source, character by character, and took the sum of what stands there. \texttt{incipit verify} takes the sum of what stands in the row, and refuses a row with another. Where copies of the five texts are at hand, a test looks for every quotation in them as well, and compares the sums with theirs.

Three things are not compared. A run of blanks and ends of lines counts as one blank, and none after an opening parenthesis; the two stars that set a word in bold are left out; and so is the mark [lost]. It stands where the copy has lost a symbol or a formula, as on pages that set their formulas as pictures. Both sides are brought into this form first.

@ Can a test be true by itself? The comparison of the two sides is not the whole answer: \texttt{found > 4} says little if \emph{found} is \given{58}. So when a row has come out as it should, the program asks of every order and every range whether another number could have changed it. If the author printed the bound, ten times our number or a tenth of it must be enough to change the outcome. A bound that we chose ourselves may be further away, by a factor of \given{1000} at most, because times are different on your machine. A test that would come out the same is no test, and the row is not judged.

Last, the program compares the verdict of the rule with the verdict in the row. A verdict that is typed has no other purpose: it is there to be contradicted.

@* The chapter's program. \label{sec:ledgerrun}
The chapter's program judges the three rows of the hand calculation and three more: a misleading sentence, an ambiguous one, and one whose key no program printed.

@<Judge a few rows@>=
static const struct { const char *id, *rule; } worked[] = {
  { "S4-29", "says rows = 6225" }, { "S4-30", "says needed = 150" },@|
  { "S4-40", "says factor ~ 833" },@|
  { "S0-04", "true rows.1000 / rows.100 in 9..11 ;"@|
    " read pairs.1000 / pairs.100 in 9..11" },@|
  { "S0-13", "either drawn = 120 ; or kept = 120" },@|
  { "S9-01", "says walked < 1" }
};
static bool show_worked(struct memory *m, struct error *why)
{
  char printed[] = "rows 6225\n"@| "needed 149\n"@| "factor 833.4445\n"@|
    "rows.100 100\n"@| "rows.1000 1000\n"@| "pairs.100 5050\n"@|
    "pairs.1000 500500\n"@| "drawn 120\n"@| "kept 162\n";
  struct run_values v = @[{ .n = 0 }@];
  bool ok = run_values_take(&v, m, printed, why);
  for (size_t i = 0; ok && i < sizeof worked / sizeof *worked; i++) {
    struct parsed_rule r;
    ok = rule_parse(worked[i].rule, &r, why);
    if (ok) @<Judge a row, and print it@>@;
  }
  run_values_free(&v, m);
  return ok;
}

@ A row without a verdict has no number of ours; the reason is printed in place of the rule.

@<Judge a row, and print it@>=
{
  struct error missing;
  double x = 0;
  enum verdict is = rule_decide(&r, &v, &missing);
  if (is != VERDICT_NOT_JUDGED) expression_value(&r.list[0].ours, &v, &x, why);
  printf("%s  ours %-8.7g  %s\n  %s\n", worked[i].id, x, verdict_name(is),
    is != VERDICT_NOT_JUDGED ? worked[i].rule : missing.text);
}

@ The rest is a short |main|.

@c
#include <stdio.h>
#include "ledger/rules.h"
@;@#
@<Judge a few rows@>@;
@#
int main(void)
{
  struct memory m = @[{ .fail_at = 0 }@];
  struct error why;
  bool ok = show_worked(&m, &why);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ It prints six verdicts.

\widecheckpoint{build/out/ledger.txt}{six rows judged}

@* What a ledger cannot do. \label{sec:ledgerlimits}
A verdict is only as good as its rule, and people write the rules. We tried to judge whole sentences, with the qualifications that their authors gave them and on the hardware that they name. No program can find two kinds of mistakes. A rule may test something that the sentence does not say. And the second half of a judgement, how a sentence will be \emph{read}, is our guess about readers.

A run is not a proof either. We compared keys in \val{prop.later.rows} rows of one model; that they never change follows from the definition of a pass, not from the comparison.

If you think that a verdict is wrong, say so. Open an issue in the repository that you have this book from, with the id in its title. You need not explain much; ``S4-31: unfair, because'' is a good beginning. Every objection gets an entry in \.{ledger/objections.md}, with what became of it, even if nothing did. Or change the rule yourself: edit the row in \.{ledger/claims.tsv} and run \texttt{incipit verify} with its id, which reads the file each time. The row has everything that you need to contradict us: the sentence, the rule, and the run. A new row for a tutorial of your own needs a sentence, a rule, a key that some laboratory program prints, and a sum of the sentence: \texttt{texlua tools/quotations.lua} with the folder of the texts writes them all.

@* The table. \label{sec:ledgertable}
The claims of each source follow in the order of its text. A row begins with the mark of its verdict, its id, and the whole sentence in italics. Then come their claim in bold, a bar, our result in red, and the kind of our number; then the reason. A judgement adds the two senses. The row ends with the section of this book, of the workshop (W) or of the laboratory (L) that decides it, and often with a command that you can type.
The mark [lost] in a quotation stands for a symbol or a formula that is missing in our copy of the source.

\begin{trivlist}\item[]\small
\verdict{holds}\quad \verdict{rounded}\quad \verdict{offbyone}\quad \verdict{ambiguous}\quad \verdict{misleading}\\[2pt] \verdict{wrong}\quad \verdict{untested}\quad \verdict{tocome}
\end{trivlist}

@* S0: How an LLM writes one token at a time. \label{sec:ledgerS0}
\ledgersource{S0}
\ledgerrows{S0}

@* S1: Autoregressive generation, a course note. \label{sec:ledgerS1}
\ledgersource{S1}
\ledgerrows{S1}

@* S2: Autoregressive generation, Language AI Handbook. \label{sec:ledgerS2}
\ledgersource{S2}
\ledgerrows{S2}

@* S3: How AI text generation actually works. \label{sec:ledgerS3}
\ledgersource{S3}
\ledgerrows{S3}

@* S4: The autoregressive loop and the redundancy problem. \label{sec:ledgerS4}
\ledgersource{S4}
\ledgerrows{S4}

@* Exercises. \label{sec:ledgerexercises}
Each exercise names the command that checks your answer.

\begin{exercises}
\exercise{check}{ex:ledger.digits}{The test \texttt{says k \textasciitilde{} 5e1} holds, exactly or rounded, for some whole numbers \emph{k} below \given{100}. Give the least and the greatest of them.}{\texttt{make exercise-16-1}}{46 and 54. One digit is left. 45 and 55 lie halfway between two results, and of these the one with the even digit wins: 4e1 and 6e1.}
\exercise{check}{ex:ledger.worst}{A rule says \texttt{says a = 10 ; says b \textasciitilde{} 3}. The run prints 11 for \emph{a} and \given{3.2} for \emph{b}. Which verdict?}{\texttt{make exercise-16-2}}{Off by one: \emph{a} differs by one and \emph{b} holds after rounding, and of several outcomes the worst decides.}
\exercise{think}{ex:ledger.judge}{A tutorial says: ``With a cache, generating twice as many tokens takes twice the work.'' Write a rule that calls it misleading, with the keys \texttt{rows.100} and \texttt{rows.1000}, \texttt{pairs.100} and \texttt{pairs.1000}. If rows and pairs both grew linearly, the rule must not say misleading.}{\texttt{make exercise-16-3}}{The rule \texttt{true rows.1000 / rows.100 in 9..11 ;} and on the same line \texttt{read pairs.1000 / pairs.100 in 9..11}: ten times the tokens, ten times the rows, but many more pairs.}
\exercise{check}{ex:ledger.percent}{Many sentences say ``about''. Add a relation \texttt{about} that holds if ours is within ten percent of theirs, the bounds included, and never gives the verdict off by one.}{\texttt{make exercise-16-4}}{Add a name to the list of relations, one to the |enum|, and a case to |compare|: |holds = fabs(ours - theirs) <= 0.1 * fabs(theirs) * (1 + 1e-9)|.}
\end{exercises}
