@i types.w

\chapterquestion{A model with a good loss: what can it do, and what can it not?}
@** Evaluating the built-in model.
\incipit{T}{he loss} of a model is an average, and an average hides a lot. This chapter asks the built-in model one question at a time and gives each answer as a number.
It also examines a smaller \emph{sibling}, trained in \cref{training} as well, which is faster and often agrees with the built-in model.
@^sibling@>

\begin{byhand}{what two guesses have in common}
A vocabulary has three tokens. A large model gives them the probabilities $p=(0.7,0.2,0.1)$ to be the next one, a small model $q=(0.5,0.1,0.4)$. If the small one proposes a token
and the large one decides, how often can the proposal be accepted? Never more often than the two agree. For each token that is the smaller of
the two probabilities:
$$\min(0.7,0.5)+\min(0.2,0.1)+\min(0.1,0.4)=0.5+0.1+0.1=0.7.$$
In \emph{speculative decoding}, where the sibling proposes tokens and the model accepts or refuses them, this bound can be reached. Here it measures what the two models have in common.
\end{byhand}

@* How the models are examined. \label{sec:examination}
A loss is one number. It does not say whether the model remembers a name after a page of
text, or whether two continuations that should be equally likely are so. So a program\lab{lab:exam} asks the finished model one question after the other. Most answers have a limit,
and the program says whether they pass. The examination takes a minute or two; \texttt{make model-check} repeats it.
Its answers are committed beside the model, and the numbers of this chapter come from there.

We know much more about these texts than about ordinary ones: \cref{corpus} gives the probability of every choice in them. So we can ask how far the model is from the best
possible model, and we can list all the words that could have come instead of the right one. The texts are \emph{held out}: their seed was used neither for the training nor for the
merges of the tokenizer. The model is run by the engine of chapter~2, without a cache, so that a fault of the cache could not change the answers.
@^held-out texts@>

The texts themselves are examined first.\lab{lab:examcorpus} We encode and decode \val{train.texts.decoded} texts, and all come back byte for byte. In the
\val{train.grammar.tables} tables of the grammar, \val{train.choices.unreached} alternatives have not been used by any text.

While the book is built, the program asks only two of the questions again, to show that the committed answers belong to this model:

\checkpoint{build/out/laboratory/evaluation.txt}{the finished model where several words can follow}

@* The loss, beside the entropy. \label{sec:trainanswers}
On \val{train.heldout} held-out texts\lab{lab:examloss} the model needs \val{train.loss.bits}~bits a token; the entropy of the source is \val{train.source.bits}. Their quotient is
\val{train.ratio.all}. A perfect model would have 1; clearly less than 1 would mean that the grammar is ambiguous, or that texts of the training had leaked into the examination. \Cref{tab:results} has
the same quotient for each sort of text, because a model could be perfect in chronicles and poor in code. Tales are the hardest, and even there the model is near the entropy.
@^loss@>@^entropy@>

\begin{table}
\tabcaption{tab:results}{Five sorts of text: the entropy of the source in bits a token, the loss of the model divided by the entropy, what the distributions of model and sibling have in
common, and how many tokens back the heads look on the average.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{sort} & \tabhead{entropy} & \tabhead{loss / entropy} & \tabhead{in common} & \tabhead{distance}\\\midrule
tale & \val{train.bits.tale} & \val{train.ratio.tale} & \val{train.draft.common.tale} & \val[1]{train.gaze.tale}\\
home & \val{train.bits.home} & \val{train.ratio.home} & \val{train.draft.common.home} & \val[1]{train.gaze.home}\\
chronicle & \val{train.bits.chronicle} & \val{train.ratio.chronicle} & \val{train.draft.common.chronicle} & \val[1]{train.gaze.chronicle}\\
code & \val{train.bits.code} & \val{train.ratio.code} & \val{train.draft.common.code} & \val[1]{train.gaze.code}\\
talk & \val{train.bits.talk} & \val{train.ratio.talk} & \val{train.draft.common.talk} & \val[1]{train.gaze.talk}
\end{tabular*}
\end{table}

The column ``in common'' is the sum of the box above, taken over the whole vocabulary and averaged over all tokens. If the sibling proposed every token, about nine of ten proposals could be accepted.

The last column compares how far back the attention heads look.\lab{lab:examheads} In a long text a head can look farther, so the mean is taken at the same
positions of every text, those from 24 to 39. There is hardly a difference between the sorts: in each of them the heads look ten or eleven tokens back on average.

@* Recall. \label{sec:examrecall}
A tale introduces its hero by name, and later sentences use the name again. Where a name has to come, any name from the tables of the grammar would be good English, but only one is right. Of
the probability that the model gives to all names together, how much does the right name get?\lab{lab:examrecall} \Cref{tab:recall} answers by the distance to the place where
the hero was introduced.
@^recall of names@>

\begin{table}
\tabcaption{tab:recall}{The share of the right name among all names, by the distance to its first mention in tokens.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rr@@{}}
\tabhead{distance} & \tabhead{share of the right name} & \tabhead{mentions}\\\midrule
less than \given{100} & \val{train.names.near} & \val{train.names.near.n}\\
\given{100} to \given{300} & \val{train.names.middle} & \val{train.names.middle.n}\\
more than \given{300} & \val{train.names.far} & \val{train.names.far.n}
\end{tabular*}
\end{table}

The distance makes no visible difference. But the name may have been repeated since its first mention, so this measures whether a tale keeps the name of its hero, and not how far a single head can look.

In code we ask for more: the right name has to win against the whole vocabulary. A variable that a function returns was set a few lines before; it gets a probability of
\val{train.variables.local}. Some pages set a variable in their first line and print it in their last. At \given{100} to \given{300} tokens from its last mention, its name gets a probability of
\val{train.variables.name.middle}, and after the name its value gets \val{train.variables.value.middle}, on \val{train.variables.middle.n} pages. Of
\val{train.printed.n} such pages, the share on which greedy decoding prints the right value is \val{train.printed.right}.

@* Calibration. \label{sec:examchances}
A model may always know the likeliest token and still be wrong about how likely it is. If its probabilities agree with the frequencies, the model is well \emph{calibrated}. The book's running sentence is a good test,\lab{lab:examchances} because its frequencies in the source can be counted: among
many texts that begin with \emph{The cat}, how many continue with \emph{sat}? \Cref{tab:chances} has the model's answers. Each is within \given{0.03} of the share
that was counted, which is the limit of the examination. After \tok{The cat sat on the} only one word is possible, and the model knows it.
@^calibration@>

\begin{table}
\tabcaption{tab:chances}{The probability that the model gives to each token of a sentence, after an end-of-text and the tokens before it.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrrrr@@{}}
\tabhead{token} & The & cat & sat & on & the & mat & .\\\midrule
\tabhead{probability} & \val{train.chance.The} & \val{train.chance.cat} & \val{train.chance.sat} & \val{train.chance.on} & \val{train.chance.the} & \val{train.chance.mat} & \val{train.chance.dot}
\end{tabular*}
\end{table}

\Cref{fig:trainfork} shows the fork for which the chronicles were written: after one sentence, twelve words can follow. Two of them, \emph{However} and \emph{Additionally}, have the same probability in the
source. The model gives them \val{train.fork.However} and \val{train.fork.Additionally}; if the prompt begins with an end-of-text, it gives them \val{train.fork.begun.However} and
\val{train.fork.begun.Additionally}. Even the less likely of the two leads the best of the other ten by \val{train.fork.lead}.

\widefig{trainfork}{fig:trainfork}{The fork: twelve words that can follow \emph{The harvest of the kingdom was very
good}, with their probabilities in the source and in the model.}{Twelve pairs of bars. The
source's are fifteen per cent for However and Additionally and seven for each of the ten others; the
model's stand near them.}

This agreement cannot be taken for granted. Before the calm phases at the end of its training (\cref{sec:plan}), the same model may give one of the two half as much again as the
other, while its loss is nearly as good. At a high learning rate each step changes single probabilities,
and the average over all tokens does not show it.

@* Greedy answers. \label{sec:examsays}
What text does greedy decoding make of these probabilities?\lab{lab:examsays} It continues
\tok{Once upon a time, in a small} with \emph{kingdom}, and \tok{The cat sat} with \emph{on the mat.} Of ten sums, such as \emph{What is 2 plus 3?}, \val{train.sums.right} are right. But these are all
the sums in the grammar: the model has learnt ten sentences, and not how to add.

One kind of sentence tests a known weakness of greedy decoding. In the source, ``the wheel went round'' continues with ``and round'' with 8 chances in 10, and again after each turn. Greedy decoding
always takes the likelier way and stays in the loop: all of its \val{train.wheel.tokens} tokens, when we stop it, are turns of the wheel. Sampling leaves the loop by itself; the probability that it
is still there after forty tokens is \val{train.wheel.drawn}.
@^repetition@>

Chapter~7 has three remedies. A \emph{repetition penalty} of \val[1]{train.wheel.held} divides the logit of each token that has occurred, or multiplies it if it is
negative. In this text it never helps: the loop can only end with the full stop, and a full stop has occurred before, so it
is penalized as well. A \emph{frequency penalty} of \val[1]{train.wheel.each}, which is subtracted \emph{once for each time} that a token has occurred, leaves the loop at token \val{train.wheel.counted.token}, since each turn
makes the next one less likely. If no three tokens may occur twice in the same order, the loop ends at token \val{train.wheel.blocked.token}.
@^repetition penalty@>

@* Long contexts. \label{sec:examrows}
Does the model still work at the end of its context? We pack texts into rows of the whole length, as in training,\lab{lab:examrows} and \cref{fig:trainpositions} shows the bits a token by position.
The line jumps, because every block of positions has other texts in it, but it does not rise: in the last two blocks the model needs \val{train.position.end} times as many bits
as in the middle.

\fig{trainpositions}{fig:trainpositions}{Bits a token by position, over packed rows as long as the context.}{A
line of sixteen points from position 64 to \given{1984}. It jumps between five and seven tenths of a bit and does not rise.}

That is due to the second phase of the training (\cref{sec:plan}). At positions that were never trained a model fails abruptly: one that has seen only rows of \given{512} tokens is
useless soon after them.

Finally, the files must be small enough to be distributed with a book. The model has \val{train.parameters.model} parameters in a file of \bytes{train.file.model}, the sibling
\val{train.parameters.draft} in \bytes{train.file.draft}.

@* What a head looks at. \label{sec:heads}
Attention is the one place where we can easily watch a model at work. For
every row, layer and head there is a list of weights, one for each row up to its own, and the weights sum to one (\cref{model}). Each weight says how much
of the head's output comes from that row. The model has six layers of four heads. We print their weights\lab{lab:heads} for the beginning of a story and over a page of code, and look for a
head whose work can be described in a sentence.
@^attention weights@>

Two numbers sum up a list of weights. The \emph{mean distance} is how many tokens back the head looks on average. The
\emph{entropy} says over how many tokens its weight is spread: equal weights on $2^e$ tokens have an entropy of $e$ bits.
@^entropy@>

\begin{byhand}{one look at four tokens}
A row looks at itself with 0.25, and one, two and three tokens back with 0.5, 0.125 and 0.125. The mean distance is

\smallskip
$0\times0.25+1\times0.5+2\times0.125+3\times0.125=1.125$ tokens.

\smallskip\noindent
The entropy is $\sum p\log_2(1/p)$. All four weights are powers of two, so their logarithms are whole numbers:

\smallskip
$0.25\times2+0.5\times1+0.125\times3+0.125\times3=1.75$ bits,

\smallskip\noindent
a little less than the 2 bits of an even look at all four.
\end{byhand}

\Cref{fig:looks} has a dot for each head and text. The heads of the first layer spread their weight most evenly; the largest entropy of all is
\val[1]{heads.widest} bits. Later heads are narrower. The narrowest has \val[1]{heads.narrowest} bits.

\fig{looks}{fig:looks}{Each head's mean distance and mean entropy, over the story (filled) and over the code (open). The colour gives the
layer, from dark to light.}{A plot of mean distance in tokens against entropy in bits, with twenty-four filled and
twenty-four open dots. The heads of the first layer lie together at the top, about three bits; the others are spread below them.}

Among so many heads, some head will fit any explanation. So we chose one by a rule. Both texts stop just before a word that can only be known by looking back: the name of the girl, and
the name of a variable. For each head we take the largest weight that the last row puts on an earlier occurrence of the word that the model writes next, and multiply the results of the two texts.

The rule finds head \val{heads.the.head} of layer \val{heads.the.layer}, both counted from 0. \Cref{fig:storyarcs,fig:codearcs} show its weights. In the story, the last row,
at the word \emph{whispered}, puts \val[2]{heads.story.weight} of its weight on \emph{\val{heads.story.at}}, \val{heads.story.back} tokens back, and
the model goes on with \emph{\val{heads.story.next}}. In the code, the row of \emph{return} puts
\val[2]{heads.code.weight} on the first \emph{\val{heads.code.at}}, \val{heads.code.back} tokens back, where the variable was
set, and the model writes \emph{\val{heads.code.next}}. The same head finds a name in a tale and in a program. No one built it for
that: training found it, because it lowers the loss.

\widefig{storyarcs}{fig:storyarcs}{What one head looks at in the beginning of a story. The arcs of the last row are dark. Width is
weight.}{Tokens of the story stand side by side. Arcs lead from each token back to those it looks at. From the last
token, whispered, a thick dark arc leads back to Elena.}

\widefig{codearcs}{fig:codearcs}{The same head over a page of code. From \emph{return} it looks at the line in which the variable
was set.}{Tokens of a small function stand side by side. From the last token, return, a thick dark arc leads back to the first hen.}

\checkpoint{build/out/laboratory/heads.txt}{what one head finds in two texts}

Such pictures tempt us to claim more than they show. A weight says where a row looked, not what the head did with what it found there. A head can look
at a word and add nothing to the stream, and a head of an earlier layer may have copied the word to a nearer place. To prove what a head does, we would have to remove it and see what the model writes then.

@* Exercises. \label{sec:examexercises}
The command beside each exercise judges the answer.

\begin{exercises}
\exercise{check}{ex:exam.common}{A model gives four tokens the probabilities $\frac12$, $\frac14$, $\frac18$ and $\frac18$; its sibling gives each of them $\frac14$. How
much do they have in common?}{\texttt{make exercise-W13-1}}{$\frac14+\frac14+\frac18+\frac18=\given{0.75}$.}
\exercise{check}{ex:exam.times}{A source has \given{0.6} bits a token, and a model needs one twentieth more. How many times likelier is a text of \given{200} tokens under the source than
under the model, if the model needs the average number of extra bits for it?}{\texttt{make exercise-W13-2}}{\given{0.03} bits a token are 6 bits, and $2^6=64$. Even with a loss near the entropy, long
texts are less likely than they should be.}
\exercise{think}{ex:exam.wheel}{In the source the wheel goes on with 8 chances in 10, and a full stop ends it with the other 2. One full stop has been said before. A half is subtracted
from a logit for each time that its token has occurred. How often does greedy decoding write \emph{and}, and at which token of the answer does it leave the loop?}{\texttt{make exercise-W13-3}}{The
wheel leads by $\ln\frac{8}{2}=\given{1.386}$. After $k$ times \emph{and} the lead is $\given{1.386}-(k-1)/2$, which is above 0 for $k=3$ and not for $k=4$. Four times \emph{and}, each with its \emph{round}; the next
token is the ninth. The built-in model leaves at token \val{train.wheel.counted.token}.}
\exercise{think}{ex:exam.error}{An event has the probability \given{0.8}. We count how often it comes in \given{1,600} texts. What is the standard error of the share that we count?
And how many texts make the error half as large?}{\texttt{make exercise-W13-4}}{$\sqrt{\given{0.8}\times0.2/\given{1600}}=\given{0.01}$. For half the error one needs four times the texts, \given{6,400}.}
\exercise{check}{ex:exam.failed}{Write a script that is given the name of a file of answers, such as the built-in model's |check.csv|. It prints the keys of the answers that failed, each on a line, and its exit status
is 1 if there are any.}{\texttt{make exercise-W13-5}}{The verdict is the last field, not the fourth: what was wanted is quoted, and some of it contains a comma.}
\exercise{check}{ex:exam.logits}{Write the first exercise as a function of two rows of logits. They may be any finite floats.}{\texttt{make
exercise-W13-6}}{The largest logit of each row is subtracted before the exponential, as in \cref{model}; otherwise the sums would be infinite for logits of \given{1,000}.}
\exercise{check}{ex:heads.look}{A row looks one token back with \given{0.5}, three back with \given{0.25} and five back with \given{0.25}. What is the mean distance, and what is the
entropy of these weights, in bits?}{\texttt{make exercise-W13-7}}{\given{2.5} tokens and \given{1.5} bits.}
\exercise{check}{ex:heads.even}{The last of 32 rows looks evenly at all of them, itself included. What are the entropy and the mean
distance?}{\texttt{make exercise-W13-8}}{5 bits; $(0+31)/2=\given{15.5}$ tokens.}
\exercise{think}{ex:heads.length}{A head that looks evenly at all rows reads a text of 41 rows and one of 81. What is the mean of its distances over all rows, in each text? Does it look farther in
the second?}{\texttt{make exercise-W13-9}}{Row $i$ has the mean $i/2$, and the mean of that is $(n-1)/4$: 10 and 20. No: it does the same in both texts. Only rows at the same
position can be compared, and that is what the examination does.}
\exercise{check}{ex:heads.function}{Write the function that finds both numbers for a row of weights. Some of them may be 0.}{\texttt{make exercise-W13-10}}{A weight of 0 adds nothing to the
entropy, but a machine computes $0\times\log0$ as a NaN.}
\end{exercises}
