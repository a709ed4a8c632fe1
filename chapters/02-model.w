@i types.w
@s tap_fn int
@s kv_encode int

\chapterquestion{What does a model compute, and why should it come out the same twice?}
@** The transformer: one forward pass.
\incipit{A}{ language model} is a function. You give it the tokens of a text, and it gives you a score for
each token of the vocabulary: how well would it fit as the next one? Nothing else ever
comes out of a model. Whatever it seems to know or to want, it has to say in
these scores, one token at a time. The loop of \cref{loop} chooses a token by them.
@^language model@>@^next token@>

@ Nearly all language models of today are \emph{transformers} (\cref{fig:rows}). A transformer works on \emph{rows}. A row is one token at one position of the text, and it carries a vector of
numbers, its \emph{hidden state}. At the beginning this vector is the token's \emph{embedding}, looked up in a table. Then the row goes through a stack of \emph{layers}.
Each layer adds something to the vector, in two steps. In the first, \emph{attention},
the row looks at the rows to its left and takes over some of what they carry; this is the only
place where rows meet. In the second, the \emph{MLP} (multilayer perceptron), each row is alone. After the last layer
the hidden state is multiplied by a vector for each token of the vocabulary, one dot product for each. These are the scores; they are called
\emph{logits}. Rows never look to the right. So a row does not depend on what comes
after it, and all rows of a text can go through the layers side by side.
@^transformer@>@^row@>@^hidden state@>@^embedding@>@^logit@>@^MLP@>

How does a row find what it needs? From its vector it computes three shorter ones, by three matrices. Its \emph{query} says what it looks for, its
\emph{key} what it can be found by, and its \emph{value} what it has to give. The dot product of a query
and a key tells how much of that key's value the row takes over. Why three vectors, when the row has one already? A row does not look for rows that are like itself, so a query must differ from a key. And a row may be found by one property and be useful for another: found because it is a noun,
useful because the noun is \emph{cat}. So a key must differ from a value.

A layer has several such searches side by side, each with its own
matrices. They are called \emph{heads}. Why several? A search gives you a single mixture of values. A row that needs both the subject of its sentence and the word just before it would get the two blended; with two searches it gets them apart.
The numbers in all these matrices are the model's \emph{parameters} or \emph{weights}. They begin as random numbers, and \emph{training} changes them, little by little, until the token that really comes next
in a large amount of text gets high scores (\cref{training}). Training, and not a programmer, decides what each head looks for. In this chapter you are given the weights.
@^query@>@^key@>@^value@>@^head@>@^weights@>@^parameter@>@^multi-head attention@>@^attention@>@^layer@>

\fig{rows}{fig:rows}{The transformer as rows. Each rises through all layers, and in each layer it reads
the keys and values of the rows to its left and its own. Only the last row's logits are needed to go on.}{Six columns, one
for each token of The cat sat on the mat. Arrows rise from the tokens through three layers to the logits. In each
layer arcs lead from every column to the columns on its right, never back. The sixth column is red: its arcs
are those of the new row, and above it stands the next token, a full stop. Above the others it says: not needed.}

@ A whole model fits on a page if we make it small enough. Ours has four tokens, hidden states of four numbers, and a single layer with
two heads of two numbers each. The first two numbers of an embedding are the token, the
last two the position. Attention has four matrices: $W_q$, $W_k$ and $W_v$ make the query, the key and the values of a row, and $W_o$ makes four numbers again of what the heads have found.
\begin{gather*}
W_q=\hbox{diag}(-\given{0.8},\given{0.4},-\given{0.4},\given{0.8})\qquad W_k=\hbox{diag}(1,1,1,1)\\
W_v=\left(\begin{smallmatrix}1&0&0&0\\0&1&0&0\\1&0&0&0\\0&1&0&0\end{smallmatrix}\right)\qquad W_o=\hbox{diag}(1,\given{0.5},-1,\given{0.5})
\end{gather*}
A matrix $\hbox{diag}(\ldots)$ has these numbers in its diagonal and zeros elsewhere, so it multiplies each number of the vector by one of its own. The first two numbers of each product belong to head A, the last two to head B. We follow the last row of three, with three steps whose reasons come later. A \emph{norm} divides a vector by the root of the mean of its squares (\cref{sec:norm}). Each score is divided by $\sqrt{d_h}$, the root of the number of components in a key, here $\sqrt2$. And \emph{softmax} turns scores into \emph{attention weights}, which sum to 1: we subtract the largest
score from each, raise $e$ to the differences, and divide the results by their sum (\cref{sec:weights}). Take a pencil, and round every result to two decimals before you use it again; so did we.
@^attention weights@>@^softmax@>

\begin{byhand}{four tokens, two heads, one layer}
\tok{the} is $(1,1)$, \tok{\ cat} $(1,-1)$, \tok{\ sat} $(-1,1)$, \tok{.} $(-1,-1)$; positions
0, 1 and 2 are $(1,1)$, $(1,-1)$ and $(-1,-1)$. After \tok{the}\tok{\ cat}\tok{\ sat}
the last row is $x=(-1,1,-1,-1)$. Its mean square is 1, so its norm changes nothing.
Keys are the rows themselves, head A taking the first half and head B the second; the values
are the first half, for both. The query is $x$, number by number, times $-0.8$, $0.4$, $-0.4$ and $0.8$, that is $(0.8,0.4)$ for A and
$(0.4,-0.8)$ for B. The products $q\cdot k$ are multiplied by $1/\sqrt2=0.71$.

\medskip
\begin{tabular}{@@{}llrrrrr@@{}}
\tabhead{head} & \tabhead{key of} & \tabhead{$q\cdot k$} & \tabhead{score} & \tabhead{less max} & \tabhead{exp} & \tabhead{weight}\\
A & \tok{the} & 1.20 & 0.85 & 0.00 & 1.00 & 0.53\\
A & \tok{\ cat} & 0.40 & 0.28 & $-0.57$ & 0.57 & 0.30\\
A & \tok{\ sat} & $-0.40$ & $-0.28$ & $-1.13$ & 0.32 & 0.17\\
B & \tok{the} & $-0.40$ & $-0.28$ & $-1.13$ & 0.32 & 0.17\\
B & \tok{\ cat} & 1.20 & 0.85 & 0.00 & 1.00 & 0.53\\
B & \tok{\ sat} & 0.40 & 0.28 & $-0.57$ & 0.57 & 0.30
\end{tabular}
\medskip

Each head's exponentials sum to 1.89. A looks most at \tok{the}, B at the position before its own.
\end{byhand}

@ Each head has now decided where to look. Its output is the sum of the values, multiplied by their weights; the matrix $W_o$ makes four numbers of the two heads' outputs, and these are added to $x$.
The MLP of this model is as small as it can be: $W_{\mathrm{gate}}$ and $W_{\mathrm{up}}$ make one number each of the normed vector. The first, the \emph{gate}, goes through the function $\hbox{SiLU}(g)=g/(1+e^{-g})$, which passes large numbers and holds back negative ones, and multiplies the second.
$W_{\mathrm{down}}$ makes four numbers of the product, which are also added to the vector. The last matrix makes the logits. By an old custom it is called the model's \emph{head}; it has nothing to do with the heads of attention.
@^gate@>
$$
W_{\mathrm{gate}}=\begin{pmatrix}\given{0.5}&0&-1&0\end{pmatrix}\quad
W_{\mathrm{up}}=\begin{pmatrix}0&0&1&0\end{pmatrix}
$$
$$
W_{\mathrm{down}}=\begin{pmatrix}1\\0\\-1\\0\end{pmatrix}\quad
W_{\mathrm{head}}=\begin{pmatrix}0&0&-1&0\\0&-1&0&-1\\0&0&0&1\\-1&0&1&0\end{pmatrix}
$$

\begin{byhand}{from the last row to the next token}
The values are mixed with the weights, multiplied by $1$, $0.5$, $-1$ and $0.5$, and added to $x$. Then come a norm, the MLP, and another norm.

\medskip
\begin{tabular}{@@{}lrrrr@@{}}
\tabhead{values, mixed} & 0.66 & 0.40 & 0.40 & $-0.06$\\
\tabhead{multiplied} & 0.66 & 0.20 & $-0.40$ & $-0.03$\\
\tabhead{$h$, with $x$ added} & $-0.34$ & 1.20 & $-1.40$ & $-1.03$\\
\tabhead{$n$, normed} & $-0.32$ & 1.12 & $-1.31$ & $-0.96$\\
\tabhead{$h$, after the MLP} & $-1.48$ & 1.20 & $-0.26$ & $-1.03$\\
\tabhead{$n$, normed} & $-1.36$ & 1.10 & $-0.24$ & $-0.94$
\end{tabular}
\medskip

The first norm: mean square 1.14, root 1.07. The MLP's gate is $0.5n_1-n_3=1.15$, its other number is $n_3=-1.31$. With
$e^{-1.15}=0.32$ the gate lets $1.15/1.32=0.87$ through; times $-1.31$ is $-1.14$. It is added to $h_1$ and subtracted
from $h_3$. The second norm: mean square 1.19, root 1.09. The four lines of $W_{\mathrm{head}}$ give $-n_3$, $-n_2-n_4$, $n_4$ and $n_3-n_1$.

\medskip
\begin{tabular}{@@{}lrrrr@@{}}
& \tok{the} & \tok{\ cat} & \tok{\ sat} & \tok{.}\\
\tabhead{logit} & 0.24 & $-0.16$ & $-0.94$ & 1.12\\
\tabhead{less max} & $-0.88$ & $-1.28$ & $-2.06$ & 0.00\\
\tabhead{exp} & 0.41 & 0.28 & 0.13 & 1.00\\
\tabhead{probability} & 0.23 & 0.15 & 0.07 & 0.55
\end{tabular}
\medskip

The sum of the exponentials is 1.82. The likeliest next token is the full stop.
\end{byhand}

@ The program of this chapter finds the same numbers (\cref{sec:modelcheck}). Now picture a storyteller who has been given the beginning of a tale and must say the next
word, and only that. Before each word the whole tale goes through the teller's head
again; then the word is said and belongs to the tale. The picture fits the loop of \cref{loop}, but it fails in three places, and each of them is a
subject of this book. First, the teller speaks in words and the model in tokens, and most tokens are only parts
of words. Second, the tale need not be gone through again: what was worked out for its beginning
cannot change, and we may keep it. Third, the model does not choose a word at all. It gives
odds on all of them, and you choose.
@^storyteller@>

@* The model and its shapes. \label{sec:modelshapes}
\cref{fig:block} shows all of a transformer; each of its boxes becomes a few lines of C in this chapter. A token's id enters at the bottom, and the embedding turns it
into a vector of $d$ numbers. Then come $L$ layers, built alike, each with weights of its own. A layer has two halves, attention and MLP, and both halves have the same form: a norm, the work, an addition. After one more norm the head makes the logits.

Why more than one layer? In the first, a row can only look for tokens and positions, since the vectors of other rows hold nothing else yet. In the second, those vectors hold what the first layer has gathered: the row of a verb may know its subject by then, and you can find the verb by it. Each layer works with what the layers below have worked out.

\widefig{block}{fig:block}{One row on its way through a transformer. The vertical line is the residual stream; what the two halves of a layer work out is added to it. GPT-2 has learned positions and no RoPE, GELU and no gate; Llama has what the boxes say. Keys and values stay in the store, where later rows find them.}{A block diagram, read from the bottom up. A token id enters a box, embedding. A thick vertical line, the residual stream, rises from it. A dashed frame, one layer, repeated L times, has two branches to the right of the line. The first goes through norm, query key value, rotation, attention and output projection, and comes back to the line in a circle with a plus sign; a double arrow joins attention with a store of keys and values. The second goes through norm, up and gate, activation, and down, and comes back in another plus sign. Above the frame are a last norm, the head, and the logits.}

@ Two families of models differ in a few of the boxes. GPT-2, of \given{2019}, has LayerNorm, learned positions and a plain MLP. Llama, of \given{2023}, and most models after it have RMSNorm, rotary positions and a gate in the MLP; the later ones also have
fewer heads of keys and values than of queries. You might expect two programs. We have one engine, because the difference is data that it reads from a file. \Cref{tab:threemodels} has three models: the built-in one, which comes with this book and is trained in \cref{training}, and one of each family.
@^learned positions@>@^GPT-2@>@^Llama@>@^built-in model@>

\begin{table}
\tabcaption{tab:threemodels}{The shapes of three models, with their names in the code, and what follows from them. A head that is tied to the embedding, that is, uses the same numbers, is counted once. The FLOPs of a token are those of all matrices; attention adds the FLOPs of a pair for each position that the row sees.}
\begin{tabular*}{\textwidth}{@@{}ll@@{\extracolsep{\fill}}rrr@@{}}
& & \tabhead{built-in} & \tabhead{GPT-2 small} & \tabhead{Llama 3 8B}\\\midrule
layers $L$ & \textsf{n\_layers} & \val{sizes.pocket.layers} & \val{sizes.gpt2.layers} & \val{sizes.llama3.layers}\\
width $d$ & \textsf{d\_model} & \val{sizes.pocket.width} & \val{sizes.gpt2.width} & \val{sizes.llama3.width}\\
heads $H$ & \textsf{n\_heads} & \val{sizes.pocket.heads} & \val{sizes.gpt2.heads} & \val{sizes.llama3.heads}\\
heads of $K$, $V$ & \textsf{n\_kv\_heads} & \val{sizes.pocket.kv} & \val{sizes.gpt2.kv} & \val{sizes.llama3.kv}\\
head width $d_h$ & \textsf{head\_dim} & \val{sizes.pocket.head} & \val{sizes.gpt2.head} & \val{sizes.llama3.head}\\
inner width & \textsf{d\_inner} & \val{sizes.pocket.inner} & \val{sizes.gpt2.inner} & \val{sizes.llama3.inner}\\
vocabulary $V$ & \textsf{vocab\_size} & \val{sizes.pocket.vocabulary} & \val{sizes.gpt2.vocabulary} & \val{sizes.llama3.vocabulary}\\
context $C$ & \textsf{n\_positions} & \val{sizes.pocket.context} & \val{sizes.gpt2.context} & \val{sizes.llama3.context}\\
parameters & & \val{sizes.pocket.parameters} & \val{sizes.gpt2.parameters} & \val{sizes.llama3.parameters}\\
\quad in MLPs, \% & & \val[0]{sizes.pocket.mlp} & \val[0]{sizes.gpt2.mlp} & \val[0]{sizes.llama3.mlp}\\
FLOPs a token & & \val{sizes.pocket.flops} & \val{sizes.gpt2.flops} & \val{sizes.llama3.flops}\\
FLOPs a pair & & \val{sizes.pocket.pair} & \val{sizes.gpt2.pair} & \val{sizes.llama3.pair}
\end{tabular*}
\end{table}

@ You can work out the last lines of the table from the first.\lab{lab:sizes} A matrix of $m$ outputs and $n$ inputs has $mn$ parameters, and each of them is used once for each row, in one multiplication and one addition, which are two floating-point operations (\emph{FLOPs}). So a token costs about
two FLOPs for each parameter that is in a matrix, and a text of $n$ tokens costs $n$ times as much in one pass. Attention adds to that: each pair of a row and a position that it sees costs $4\,Hd_h$ FLOPs in every layer, half of them for the score and half for the value.
@^FLOP@>@^parameter@>

@* Embedding and residual stream. \label{sec:residual}
An id is only a name: tokens 17 and 18 need not have anything in common. The first step therefore replaces an id by a vector, line |id| of a table of $V$ lines of $d$ numbers, the \emph{embedding}. These vectors are learned like all other weights.

Then come the layers. You would expect each to replace the vector by a better one. Deep networks were built like that, and \cited[He and others (2015)]{He 2015} found that more layers made them worse, even on their training data. In a transformer what the two halves of a layer compute is \emph{added} to the vector. The vector on its way from the embedding to the head is called the \emph{residual stream}, and the halves are its tributaries. With such additions He and his colleagues could train networks of more than a \given{hundred} layers.

Why does adding help? Think of information first: what a layer has written stays there for all layers above, unless one of them writes its
opposite, and a layer that has nothing to contribute to some row adds nearly zeros. Now think of training, which works with derivatives. That of $x+f(x)$ is $1+f'(x)$, and the 1 carries a correction from the top of the model to its bottom, however many layers are between. If every layer replaced the vector, the correction would be multiplied by a factor in each, and soon vanish or explode.
@^residual stream@>@^embedding@>

Here are the two operations. A |struct tensor| is an array of weights, as it is in the file, and |tensor_number| gives one of them as a float (\cref{sec:tensors}). The first argument |e| of every operation is the engine: who computes, and with how many threads (\cref{sec:kernels}). The plain loops of this chapter do not need it.

@<Kernels in which each row is alone@>=
static void embed(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < d; i++)
      y[r * d + i] = tensor_number(table, id[r] * d + i);
}
static void add(const struct engine *e, float *y, const float *x, size_t n)
{
  (void) e;
  for (size_t i = 0; i < n; i++) y[i] += x[i];
}

@* The order of summation. \label{sec:order}
A model is mostly sums of products, thousands of terms each. On paper the order of
the terms does not matter. In a computer it does, because every addition rounds, and
what is lost depends on what has been added before. Programs add in one order with AVX2, whose instructions take eight floats at once, and in
another with AVX-512, which takes sixteen; often they also use one order for a single row and another for a batch of rows, because different ways are fastest. Then the logits differ in
their last bits, now and then two logits change places, and the model writes another sentence. The
user of a server gets a text that depends on how many others are using it at that moment (\cited[He and Thinking Machines Lab 2025]{He 2025}).
@^order of summation@>

\begin{byhand}{three digits, four terms}
A machine keeps three decimal digits. It adds $1.00+0.004+0.004+0.004$ from the left:
$1.00+0.004=1.004$, rounded $1.00$; and so again; the sum is $1.00$. Then it adds the
same four in two pairs, which two adders could do at once: $1.00+0.004$ gives $1.00$, and
$0.004+0.004=0.008$; together $1.008$, rounded $1.01$.

Neither is wrong: each addition was rounded correctly, and the true sum is $1.012$. But they are
two answers, and a program that adds one way today and the other tomorrow will not repeat its results.
\end{byhand}

@ We could add without any rounding, in very long numbers, and pay for that in every sum. There is a cheaper cure: make the order \emph{part of the definition}. When the dot product is not ``the
@^dot product@>
sum of the products'' but this sum, in this order, rounded at these places, then there is
one right answer, and any faster program can be checked against it with |==|. All that is left to
choose is an order that suits all machines.

We choose sixteen lanes. Term $k$ goes to lane $k\bmod16$; a lane adds its terms from left to right;
at the end the sixteen are folded in half four times, 8 to 8, 4 to 4, 2 to 2, 1 to
1 (\cref{fig:fold}). A processor whose registers hold sixteen floats needs one register for the lanes; with
eight floats it takes two registers, with four it takes four; a processor without such registers computes one lane
after the other. None does more additions than a sum needs, and all do the same ones.
Lanes are fast as well: in a single chain each addition has to wait for the one before, while sixteen chains can be under way at once.
@^lane@>@^fold@>

\fig{fold}{fig:fold}{The sum of a sequence of terms. Each lane adds every sixteenth term, and four folds
bring the sixteen lanes together. The shape is the definition; which processor computes which part of it, and
when, is free.}{A tree of additions drawn from the top down. A line of sixteen lanes stands at the top, each
with its first three terms. Four rows of arcs lead down: eight lanes are added to the
eight on their left, then four to four, two to two, one to one, and one number is left.}

\begin{aside}{How good is the sum}
Splitting a sum into sixteen also makes it better. Each rounding error is about the size of the partial sum
it happens in, and a term now passes through a sixteenth of the additions. For \val{sum.terms} random terms between 0 and 1, the
chain from left to right is off by \val[1]{sum.chain} units in the last place on average, the sixteen lanes by \val[1]{sum.lanes}.\lab{lab:sums}
\end{aside}

@ Three small decisions complete the definition. First, the product
is not rounded before it is added: |fmaf(a,b,c)| is $ab+c$ rounded once. Today's processors have this \emph{multiply--add} as an instruction. It always means the same, while |a*b+c| may be compiled with one rounding or with two.
Second, lanes begin with $+0$. Third, if the number of terms is not a multiple of sixteen, we leave the lanes that have
no more terms alone. Filling them up with zeros would not always give the same sum: a lane that has
become $-0$ would turn into $+0$, and zero times an infinite number is NaN. \emph{The definition} of the dot product of two vectors of $n$ numbers, and of the plain sum that goes with it, is this:
@^multiply--add@>

\noindent\begin{minipage}{\textwidth}
\begin{align*}
a_j&=\hbox{the chain of }\texttt{fmaf}(x_k,w_k,a_j)\hbox{, from }a_j=+0\hbox{ on,}\\
&\qquad\hbox{over rising }k\hbox{ with }k\bmod16=j;\\
\hbox{dot16}(x,w)&=a_0\hbox{ after }a_j\leftarrow a_j+a_{j+s}\;(j<s)\hbox{ for }s=8,4,2,1;\\
\hbox{sum16}(x)&=\hbox{the same with }a_j+x_k\hbox{ for each }\texttt{fmaf}.
\end{align*}
\end{minipage}

@ In C we need no more lines than in words. The weights of one output are |step| numbers apart, because some files store a matrix by rows and some by columns.

@<Kernels in which each row is alone@>=
static float fold(float *lane)
{
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  return lane[0];
}
static float dot16(const float *x, size_t n, struct tensor w, size_t first, size_t step)
{
  float lane[16] = @[{ 0 }@];
  for (size_t k = 0; k < n; k++)
    lane[k % 16] = fmaf(x[k], tensor_number(w, first + k * step), lane[k % 16]);
  return fold(lane);
}
static float sum16(const float *x, size_t n)
{
  float lane[16] = @[{ 0 }@];
  for (size_t k = 0; k < n; k++) lane[k % 16] += x[k];
  return fold(lane);
}

@ The weights are a |struct tensor|: an address and a type. \label{sec:tensors} You could copy them into float arrays when the model is opened, and the loops would be simpler. But a copy would bring a model of 16-bit weights to three times its size in memory, and you would wait for it before the first token. So they stay in the file, mapped into memory, in the type in which they were published, and each weight is widened when it is used. |tensor_number| does that, and rounds nothing. The inputs of a linear layer are floats; \cref{model/quantization} has two products that round them too, for weights in blocks and for callers who ask for it.
@^tensor@>@^Conv1D@>

@<Numbers as a file stores them@>=
struct tensor { const void *data; enum weight_type type; };
  /* numbers where they lie in the file (or in memory), little-endian, in any
     alignment, owned by others; null |data|: there is no such tensor */
float tensor_number(struct tensor t, size_t i);
  /* number |i| of |t|, of whatever type, as a float; nothing is rounded */
struct matrix { struct tensor weight, bias; size_t in, out; bool transposed; };
  /* a linear layer: |weight| is |[out][in]|, or |[in][out]| if |transposed|
     (GPT-2's Conv1D); |bias| is |[out]| or absent */
enum activations { ACTIVATIONS_DEFAULT, ACTIVATIONS_F32, ACTIVATIONS_BF16,
  ACTIVATIONS_INT8 };
  /* the type to which a linear layer rounds its inputs; the default is none, but |ACTIVATIONS_INT8| for weights in blocks */

@ The types themselves are a table of the workshop (\cref{sec:numbertypes}).

\printedheader[weight_type]{functions/number_type.h}

@ A \emph{linear layer} is a matrix product and, in some models, a \emph{bias}: a number for each output that does not depend on the input and is added last. Output $o$ of a vector $x$ is $\hbox{dot16}(x,w_o)+b_o$. Most of the work of a model is done in this one loop (\cref{sec:passcost}). We give it a list of matrices, because the query,
the key and the value of a row are made from the same vector, and so are the gate and the up projection of an MLP.
@^linear layer@>@^bias@>@^dot16@>

@<Kernels in which each row is alone@>=
static void linear(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++) {
    const struct matrix *w = &list[i];
    size_t row = w->transposed ? 1 : w->in, step = w->transposed ? w->out : 1;
    for (size_t r = 0; r < rows; r++)
      for (size_t o = 0; o < w->out; o++) {
        float sum = dot16(x + r * w->in, w->in, w->weight, o * row, step);
        if (w->bias.data != NULL) sum += tensor_number(w->bias, o);
        y[i][r * w->out + o] = sum;
      }
  }
}

@* Norms. \label{sec:norm}
Every layer adds to the residual stream, so its numbers grow on the way up. In the built-in model the root mean square of a hidden state is \val[2]{stream.first} after the embedding and \val[1]{stream.last} after the last layer, over all rows of a sentence.\lab{lab:stream} That is a trouble for the layers: the matrices of a layer were trained on
vectors of a certain size, and on larger ones its scores come out too large, since the product of a query and a key grows with the square of the size. The cure is a \emph{norm} before each half of a layer. It brings a copy of the vector to a common size; the stream itself is left as it is. What remains in the copy is the vector's direction, and a learned \emph{gain} for each of
its numbers says how much it counts. \emph{RMSNorm} \cited{Zhang 2019} divides by
the root of the mean square; \emph{LayerNorm} \cited{Ba 2016} subtracts the mean first:
@^gain@>
\begin{gather*}
y=\Bigl(x\cdot{1\over\sqrt{\hbox{dot16}(x,x)/d+\varepsilon}}\Bigr)\cdot g,\\
y=\texttt{fmaf}(c\cdot r,g,b)\quad\hbox{with}\quad c=x-\hbox{sum16}(x)/d.
\end{gather*}
Here $d$ is the number of components of $x$, and $\varepsilon$ is a small number that prevents a division by zero; $g$ is the gain and $b$ a bias. In the second line $r$ is the
same reciprocal root as in the first, computed from $c$ instead of $x$. LayerNorm goes through
the vector twice. The textbooks have a way to go through it once: the mean of the squares minus the square of the mean. But that subtracts two large
numbers that are nearly equal, and may leave nothing but their errors.
@^RMSNorm@>@^LayerNorm@>@^norm@>

@<What norms and activations are@>=
enum norm_kind { NORM_RMS, NORM_LAYER };
  /* Zhang and Sennrich 2019; Ba, Kiros and Hinton 2016 */
struct norm { enum norm_kind kind; struct tensor gain, bias; float epsilon; };
  /* |gain| and |bias| are |[d]|; each may be absent; |NORM_RMS| looks at no |bias| */

@ You might write two functions. We need only one, since RMSNorm is LayerNorm with 0 for the mean and without the bias. A gain that is absent is 1.

@<Kernels in which each row is alone@>=
static void normalize(const struct engine *e, const struct norm *g, const float *x,
  size_t rows, size_t d, float *y)
{
  (void) e;
  bool layer = g->kind == NORM_LAYER;
  for (size_t r = 0; r < rows; r++, x += d, y += d) {
    float mean = layer ? sum16(x, d) / (float) d : 0.0f;
    for (size_t i = 0; i < d; i++) y[i] = x[i] - mean;
    struct tensor c = @[{ y, WEIGHT_F32 }@];
    float root = 1.0f / sqrtf(dot16(y, d, c, 0, 1) / (float) d + g->epsilon);
    for (size_t i = 0; i < d; i++) {
      float gain = g->gain.data != NULL ? tensor_number(g->gain, i) : 1.0f;
      if (layer && g->bias.data != NULL)
        y[i] = fmaf(y[i] * root, gain, tensor_number(g->bias, i));
      else y[i] = y[i] * root * gain;
    }
  }
}

@* Positions: rotary embedding (RoPE). \label{sec:layer}
To attention a text is a set of rows: the sum over the keys is the same in whatever order the keys come. To the full stop at its end, \emph{the cat saw the dog.}\ would be the same text as \emph{the dog saw the cat.}, at least in the first layer. You have to put the position into the row. GPT-2 adds to the embedding
of a token a learned vector for its position, as the hand calculation did; a text cannot be longer than that table. Most later models use the \emph{rotary position embedding} (RoPE) of \cited[Su and others (2021)]{Su 2021}: they \emph{rotate} queries and keys by angles that are
proportional to the position. \label{sec:rope}
@^RoPE@>@^position@>

Number $i$ and number $i+{1\over2}d_h$ of a head are taken as a point of the plane, and at position $p$ the point is rotated by the angle $p\,f_i$:
$$
\begin{pmatrix}x'_i\\[2pt]x'_{i+d_h/2}\end{pmatrix}=
\begin{pmatrix}\cos p f_i&-\sin p f_i\\[2pt]\sin p f_i&\cos p f_i\end{pmatrix}
\begin{pmatrix}x_i\\[2pt]x_{i+d_h/2}\end{pmatrix},\qquad f_i=\theta^{-2i/d_h}.
$$
The \emph{base} $\theta$ is a setting of the model, $10^4$ in the first ones and larger in later ones. The frequencies $f_i$ fall from 1 to nearly $1/\theta$ (\cref{fig:hands}): some pairs go round like the second hand of a clock and tell neighbours apart, others like its hour hand, and tell near from far.
@^frequency, of RoPE@>

Why does this say where a row is? A rotation by $\alpha$ has the transpose $R_\alpha^{\mathsf T}=R_{-\alpha}$, and two rotations in turn add their angles. So for a query at $p$ and a key at $t$, pair by pair,
$$(R_{pf}\,q)\cdot(R_{tf}\,k)=q^{\mathsf T}R_{-pf}R_{tf}\,k=q^{\mathsf T}R_{(t-p)f}\,k.$$
The score depends on the difference $t-p$ and not on $p$ and $t$ themselves. A head that looks three positions back does so everywhere in a text. Values are not rotated: the position should
decide how much of a value is taken over, and not what it says.

@ The angle is rounded to float before its cosine and sine are taken. At position \given{10,000} that moves the angle by up to
half a thousandth, and we could easily do better. But the programs that trained these models round it, and a more exact angle would not be the one that the model has learned with. Angles are the same in every layer and every head, so a pass computes them once.

\fig{hands}{fig:hands}{The four pairs of a head of eight numbers, $\theta=10^4$, as hands of clocks. Above, one query at eight positions. Below, the fastest pair of a query, dark, and of a key one position before it: at later positions, on the right, both have been rotated further, and the angle between them is the same.}{Four rows of eight small clocks, for positions 0 to 7. In the first row, frequency 1, the hand goes round once; in the second, frequency a tenth, it moves through a ninth of a turn; in the last two it hardly moves. Below, two larger clocks, each with two hands, one for positions 3 and 2, the other for positions 8 and 7. The hands enclose the same angle in both.}

@<Kernels in which each row is alone@>=
static void angles(const struct engine *e, const uint32_t *position, size_t rows,
  const float *frequency, size_t half, float scaling, float *c, float *s)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < half; i++) {
      float angle = (float) position[r] * frequency[i];
      c[r * half + i] = (float) num_cos((double) angle) * scaling;
      s[r * half + i] = (float) num_sin((double) angle) * scaling;
    }
}

@ A
rotation has four products, and only two of them can be inside an |fmaf|; the others are rounded first. Our rule is that $x_i$ goes into the |fmaf|: number $i$ becomes $\texttt{fmaf}(x_i,c,-(x_{i+d_h/2}\,s))$ with $c$ and $s$ for cosine and sine, and
its partner $\texttt{fmaf}(x_i,s,x_{i+d_h/2}\,c)$.

@<Kernels in which each row is alone@>=
static void rotate(const struct engine *e, float *x, size_t rows, size_t n_heads,
  size_t half, const float *c, const float *s)
{
  (void) e;
  for (size_t r = 0; r < rows; r++, c += half, s += half)
    for (size_t h = 0; h < n_heads; h++, x += 2 * half)
      for (size_t i = 0; i < half; i++) {
        float x0 = x[i], x1 = x[half + i], across = x1 * s[i], along = x1 * c[i];
        x[i] = fmaf(x0, c[i], -across);
        x[half + i] = fmaf(x0, s[i], along);
      }
}

@ We compute the frequencies once, when a model is opened, in double and with our own power function (\cref{sec:numbers}). Models that read longer texts than they were trained on lower their frequencies, and one kind multiplies sines and cosines by a factor; \cref{sec:wheels} derives the ways to do it, and \.{unwoven/model/rope.h} has their settings.

@(rope.c@>=
/** the frequencies of rotary positions.

   In double and with our own power function, so that they are the same on every machine; the
   opener of a model rounds them to float once. */
#include "model/rope.h"
#include "functions/numbers.h"
@;@#
double rope_frequency(double theta, uint32_t i, uint32_t half)
{
  return num_pow(theta, -(double) i / half);
}
double rope_attention(const struct rope_config *r)
{
  return r->attention_factor > 0 ? r->attention_factor : 1;
}

@* Attention: scores, weights, values. \label{sec:attend}
The row of \tok{\ sat} has to find out who sat. The other rows know; how does it get at what they carry? The simplest way would be to take the average of all rows to its left. Then every head of every layer would compute the same average, the word before would count no more than one from two pages ago, and in a long text each row would add next to nothing. The average lacks a choice: a row should decide, by what it carries itself, which of the others to listen to, and how much.

That is what queries and keys are for. In \emph{attention} a row's query $q$ is compared with the key $k_t$ of every position $t$ that the row sees. The dot products are the \emph{scores} $s_t$. \emph{Softmax}, exponentials divided by their sum, turns the scores into weights $p_t$ that sum to 1, and the output $o$ of the head is the sum of the values $v_t$ with these weights (\cited[Vaswani and others 2017]{Vaswani 2017}):
$$s_t={q\cdot k_t\over\sqrt{d_h}},\quad p_t={e^{s_t-m}\over\sum_ue^{s_u-m}},\quad m=\max_ts_t,\qquad o=\sum_tp_tv_t.$$
The width of a head, $d_h$, is often written $d_k$. The largest score $m$ cancels; \cref{sec:weights} says why it is there. A row sees the positions up to its own and none after it: that is the \emph{causal mask}. In training it hides the answer: a row that saw the next token would learn to copy it. When we write, it keeps what has been read from changing (\cref{sec:causal}).
@^attention@>@^softmax@>@^mask@>@^causal mask@>@^score@>

In C the formulas are two loops. Here is one head of one row, written as you might write it on a first evening. The keys and values of |n| positions are in arrays, |stride| numbers apart, and $d_h$ is |d|.

@<Attention in a dozen lines@>=
static void attend_simply(const float *q, const float *k, const float *v, size_t n,
  size_t d, size_t stride, float *o)
{
  float weight[TOY_PLACES], max = -INFINITY, sum = 0;
  for (size_t t = 0; t < n; t++) {
    weight[t] = 0;
    for (size_t i = 0; i < d; i++) weight[t] += q[i] * k[t * stride + i];
    weight[t] /= sqrtf((float) d);
    max = fmaxf(max, weight[t]);
  }
  for (size_t t = 0; t < n; t++)@+ sum += weight[t] = num_expf(weight[t] - max);
  for (size_t i = 0; i < d; i++) o[i] = 0;
  for (size_t t = 0; t < n; t++)
    for (size_t i = 0; i < d; i++) o[i] += weight[t] / sum * v[t * stride + i];
}

@ Each head does this with its own part of the query. The heads' outputs, concatenated, go through one more matrix, the \emph{output projection}, and are added to the stream. \cref{fig:onerow}\lab{lab:heads} shows a head at work.
@^output projection@>@^head@>

The function works: the chapter's program puts the hand calculation through it, and gets the mixed values of the box (\cref{sec:modelcheck}). Why does the section not end here? We need four things that it does not have. Heads may share keys and values. A row may see fewer positions than all. The keys and values of a long text are not always in one array. And ten \given{thousand} positions must be added in an order that is fixed and that several threads can share. We take them in turn.

\fig{onerow}{fig:onerow}{Two rows of attention in the built-in model: the weights that head \val{heads.the.head} of layer \val{heads.the.layer} gives, in a late row of a story, to all positions up to the row's own. Each row's weights sum to 1. The row of \emph{book} looks at several places; that of \emph{whispered} gives \val[2]{heads.story.weight} to the name that the model is about to write.}{Two rows of vertical bars over the words of the beginning of a story that ends in: I will find the book, whispered. In the upper row, of the word book, the bars are low, the highest a quarter, over a comma. In the lower row, of the word whispered, all bars are nearly zero but one, which is nearly 1: over the name Elena, nine words before the end.}

@ Keys and values have to be kept for as long as the text goes on; queries do not. \Cref{cache} is about what that costs. To make it cost less, many models have fewer
heads of keys and values than of queries, and each group of query heads shares one: \emph{grouped-query attention} (GQA). The built-in model has \val{sizes.pocket.heads} heads of queries and \val{sizes.pocket.kv} of keys and values.
@^grouped-query attention@>

@<The shape of the heads@>=
struct attention_dims {
  uint32_t n_heads, n_kv_heads, head_dim; float scale, cap;
  struct tensor sink; /* |[n_heads]|, or none */
};
  /* |n_heads| is a multiple of |n_kv_heads|; |scale| multiplies each score; |cap|, if it is not 0,
     limits it to |cap| times the hyperbolic tangent of score over |cap|; |sink|: a score of each head
     that belongs to no position, and takes its part of the softmax */

@* Windows, sinks, and segments. \label{sec:rowwindows}
A row of a long text looks at every position before it, so each new token takes longer than the last. Some models put a bound to that: in some of their layers a row sees only the last |window| positions, its own among them. This is a \emph{sliding window}. Nothing further back is lost for good: each layer reaches further back than the one below, since the rows that it looks at have looked back themselves. A model that was made without a window can be given one when memory is short. Then it helps a large model to leave the first few positions visible as well, the \emph{attention sinks} (\cref{sec:sinks}); ours has no need of them (\cref{sec:lossy}). So what a row sees is a range of positions and perhaps a few at the beginning:
@^window@>@^sliding window@>@^attention sink@>@^range of positions@>

@<Which positions a row sees@>=
struct kv_range { uint32_t lo, hi, sinks; };
  /* positions |lo <= t < hi|, and the first |sinks| positions, which end before |lo|; 0: none */

@ Do we have to keep a range for each row? The rows that go through a model together are a \emph{pass}, and they may belong to several texts, each of which is a \emph{sequence}. Rows of a pass that follow each other in one sequence form a \emph{segment}: a prompt is one segment, and a pass that adds one token to each of eight texts has eight. Within a segment each row is one position further than the row before, and you can work out every range from one structure.
@^segment@>@^sequence@>@^pass@>

@<Which positions a row sees@>=
struct segment {
  struct kv_view view;
  uint32_t first_row, n_rows, first_position, window;
};
  /* rows |first_row|, |first_row+1|, \dots\ of a pass, |n_rows| of them, which are at |first_position|,
     |first_position+1|, \dots\ of one sequence; |window|: how many positions a row sees, its own among them, 0: all */
struct kv_range segment_range(const struct segment *s, uint32_t i);
  /* what row number |i| of a segment sees */

@ As long as the window reaches back to the sinks there is no hole between them, and the row sees everything from 0 on.

@<Find the range of a row@>=
struct kv_range segment_range(const struct segment *s, uint32_t i)
{
  uint32_t at = s->first_position + i, lo = 0;
  if (s->window > 0 && at >= s->window) lo = at + 1 - s->window;
  bool hole = s->view.sinks < lo;
  return (struct kv_range) @[{ hole ? lo : 0, at + 1, hole ? s->view.sinks : 0 }@];
}

@* Where keys and values are: views. \label{sec:views}
Where does attention find the key of position $t$? That is for the \emph{store} to say, which keeps keys and values from one pass to the next (\cref{sec:rows}). The store of this chapter is an array: the keys of a layer are in one block of memory, one position after the other, so that of position $t$ begins $t$ rows after the first. The cache of \cref{cache} keeps a text in pages of a few positions each, wherever there was room. We do not want two kinds of attention, or a call of a function for every key. So the store describes its layout once for each sequence and layer, in a \emph{view}, and attention computes the addresses itself.
@^view@>@^store@>

@<Where keys and values are@>=
struct kv_view {
  uintptr_t key, value; /* addresses; with pages, distances from the beginning of a page */
  const char *const *page; /* addresses; null: all rows in one block */
  size_t page_rows, row_bytes, head_bytes;
  enum weight_type type;
  uint32_t sinks;
};
  /* one layer of a sequence. The key of position |t| in head |h| is |head_dim| numbers of |type| at |key +
     h*head_bytes + t*row_bytes| if |page| is null, else at |page[t/page_rows] + key
     + h*head_bytes + t%page_rows*row_bytes|; the values likewise at |value|. All rows see the first |sinks| positions */

@ Two short functions do the arithmetic: |kv_row(v, v->key, t, g)| is the key of head |g| at position |t|, and |kv_row(v, v->value, t, g)| is its value. In the built-in model, with two heads of 32 floats, |head_bytes| is \given{128} and |row_bytes| is \given{256}. The kernels of this chapter call them for every key and value; the fast ones of \cref{kernels} do not.

@<Where keys and values are@>=
static inline uintptr_t kv_place(const struct kv_view *v, uint32_t t)
{
  return v->page == NULL ? t * v->row_bytes
    : (uintptr_t) v->page[t / v->page_rows] + t % v->page_rows * v->row_bytes;
}
  /* what is added to |key| or |value|, and |head_bytes| for each head before, to find position |t| */
static inline struct tensor kv_row(const struct kv_view *v, uintptr_t part,
  uint32_t t, size_t head)
{
  uintptr_t at = part + kv_place(v, t) + head * v->head_bytes;
  return (struct tensor) @[{ (const void *) at, v->type }@];
}
  /* the numbers of one head at position |t|; |part| is |v->key| or |v->value| */

@ A caller may want to see the weights, to draw \cref{fig:onerow} for instance, and passes an array for them. (The function at the end is for one family, whose heads have a score that belongs to no position; \cref{sec:headsinks} says what it is good for. Without one the score is $-\infty$.)

@(attention.h@>=
/** what attention is given: where keys and values are, and which of them a row sees.

   A view belongs to the store that filled it in, and is good for one layer of one pass. Segments
   are made anew in each layer, because each layer has its keys and values in another place. */
#ifndef INCIPIT_ATTENTION_H
#define INCIPIT_ATTENTION_H
#include <math.h>
#include "model/tensor.h"
@<Where keys and values are@>@;
@<Which positions a row sees@>@;
static inline float head_sink(const struct attention_dims *h, size_t head)
{@+ return h->sink.data == NULL ? -INFINITY : tensor_number(h->sink, head);@+ }
  /* the score of a head of queries that belongs to no position */
struct attention_probe { float *weights; size_t stride; };
  /* where attention leaves its weights: |[rows][n_heads][stride]|, that of
     position |t| at index |t|; positions that a row does not see get 0 */
#endif

@* Attention in blocks of positions. \label{sec:blocks}
The formula does not say in which order ten \given{thousand} positions are added. One chain from left to right
could not be divided among threads. Sixteen lanes, as for a dot product? Then each head would need sixteen vectors for its partial sums.
So we cut the positions into blocks of \given{256}, which is, we think, long enough that joining them costs little, and short enough to leave work
for every thread. Blocks are counted from the beginning of the sequence. A score is $s_t=\hbox{dot16}(q,k_t)\cdot c$, where $c$ is $1/\sqrt{d_h}$ rounded to float, and each block gives three results:
\begin{align*}
m_b&=\max_ts_t,\\
l_b&=\hbox{sum16}(e^{s_t-m_b})\hbox{, position $t$ in lane $t\bmod16$},\\
o_b&=\hbox{the chain of }\texttt{fmaf}(e^{s_t-m_b},v_t,o_b).
\end{align*}
Each block has subtracted its own maximum, so before we join the blocks we rescale them to the maximum of all. With $w_b=e^{m_b-m}$, and in rising order of the blocks, $l=\texttt{fmaf}(l_b,w_b,l)$ and $o=\texttt{fmaf}(o_b,w_b,o)$. The
output is $o/l$. Up to \given{256} positions there is one block, $w_b=e^0=1$ exactly, and this is the softmax of the textbooks.
@^block, of attention@>@^FlashAttention@>@^online softmax@>

This rescaling is the \emph{online softmax} of \cited[Milakov and Gimelshein (2018)]{Milakov 2018}, and the recurrence of \emph{FlashAttention} (\cited[Dao and others 2022]{Dao 2022}), which goes through the positions block by block, keeps $m$, $l$ and $o$ of what it has seen, and rescales $l$ and $o$ whenever $m$ rises. There it saves memory, because no weight is ever stored. We
rescale once, at the end, so that the roundings do not depend on which thread has finished its blocks first. Why are the blocks at \emph{absolute} positions? If we counted them from the first visible position, a window that moves
with the text would cut the same sum differently at each step, and it would be rounded differently.

@ What if a score is not an ordinary number? The weights of a broken file can be so large that products overflow to $\pm\infty$. Say all scores of a block are $-\infty$, and another block has ordinary ones. Then the positions of the first have the weight 0. But with $m_b=-\infty$ the formulas say $e^{-\infty-(-\infty)}$, which is NaN, and that NaN would spoil the whole row. So the search for a maximum begins with the smallest finite number: \emph{$m_b$ is at least} |-FLT_MAX|. It changes nothing where a score is finite. Where none is, each $e^{s_t-m_b}$ is $e^{-\infty}=0$, the sums of the block are 0, and it adds nothing to the others.

In all other cases the formulas know what to do. If \emph{all} the scores that a row sees are $-\infty$, then $l=0$, and the output is $0/0$, NaN: there is nothing by which one position could be preferred. A score of $+\infty$ gives $e^{\infty-\infty}$, NaN as well. A NaN never becomes a maximum, since a comparison with NaN is false, but its own exponential is NaN, and so is the output. The same holds for values: a position that is seen counts, even with the weight 0, and 0 times an infinite value is NaN. Nothing that is broken is hidden, and the pass marks the row and the layer (\cref{sec:passheader}). Which NaN it is, of the many that a float can be, the processor decides: when we say that two tables agree to the last bit, \emph{a NaN is equal to any other NaN}.
@^NaN@>@^infinity@>@^overflow, of scores@>

@ Now the code: one block of one head of one row. It goes through the positions twice, once for the scores and their maximum, and once for the exponentials and the values. The function leaves $m_b$, $l_b$ and $o_b$ in |left|, one after the other; |of| says which head of keys and values we are in, |see| which positions the row sees; |kept| holds the scores. If the caller has passed an array |weights|, it gets the
exponentials.

@<Attention, where rows meet@>=
static bool is_seen(const struct kv_range *r, uint32_t t)
{@+ return t < r->hi && (t >= r->lo || t < r->sinks);@+ }
static bool sees_block(const struct kv_range *r, uint32_t begin)
{@+ return begin < r->sinks || begin + 256 > r->lo;@+ }
static float capped(float score, float cap)
{@+ return score > -INFINITY ? cap * num_tanhf(score / cap) : score;@+ }
static void attend_block(const struct attention_dims *h, const struct kv_view *v,
  size_t of, const struct kv_range *see, const float *q, uint32_t begin, float *left,
  float *weights)
{
  float kept[256], lane[16] = @[{ 0 }@], *out = left + 2;
  @<Score the positions of a block, and find the maximum@>@;
  @<Add up the exponentials and the weighted values@>@;
  left[1] = fold(lane);
}

@ Compare these lines with the first loop of |attend_simply|. A score is the dot product of the query and a key, times the scale. A position that is not seen gets none; it is left out of every sum. One family, Gemma 2, limits its scores by a hyperbolic tangent (\cref{sec:caps}); a score of $-\infty$ stays what it is.

@<Score the positions of a block, and find the maximum@>=
left[0] = -FLT_MAX;
for (uint32_t t = begin; t < begin + 256; t++) {
  if (!is_seen(see, t)) continue;
  kept[t % 256] = dot16(q, h->head_dim, kv_row(v, v->key, t, of), 0, 1) * h->scale;
  if (h->cap > 0) kept[t % 256] = capped(kept[t % 256], h->cap);
  if (kept[t % 256] > left[0]) left[0] = kept[t % 256];
}

@ With the maximum known, each position's exponential goes into the sum, and its value, times the exponential, into the output.

@<Add up the exponentials and the weighted values@>=
for (size_t i = 0; i < h->head_dim; i++) out[i] = 0;
for (uint32_t t = begin; t < begin + 256; t++) {
  if (!is_seen(see, t)) continue;
  struct tensor value = kv_row(v, v->value, t, of);
  float p = num_expf(kept[t % 256] - left[0]);
  lane[t % 16] += p;
  for (size_t i = 0; i < h->head_dim; i++)
    out[i] = fmaf(p, tensor_number(value, i), out[i]);
  if (weights != NULL) weights[t] = p;
}

@ A caller who asked for the weights has got exponentials. Those of block $b$ still have to be multiplied by $w_b/l$. The loop goes through the blocks in the order in which they were made, so |left| always points to the results of the block at hand.

@<Attention, where rows meet@>=
static void weigh(const struct kv_range *see, const float *left, size_t d, float m,
  float l, float *weights)
{
  for (uint32_t begin = 0; begin < see->hi; begin += 256) {
    if (!sees_block(see, begin)) continue;
    for (uint32_t t = begin; t < begin + 256; t++)
      if (is_seen(see, t)) weights[t] = weights[t] * num_expf(left[0] - m) / l;
    left += d + 2;
  }
}

@ A head goes through the blocks, keeps the results of each, and joins them. A block in which nothing is seen, between the sinks and a window, is left out.

@<Attention, where rows meet@>=
static void attend_head(const struct attention_dims *h, const struct kv_view *v,
  size_t of, const struct kv_range *see, const float *q, float sink, float *left,
  float *y, float *weights)
{
  size_t d = h->head_dim, n = 0;
  float m = sink, l = 0;
  for (uint32_t begin = 0; begin < see->hi; begin += 256) {
    float *block = left + n * (d + 2);
    if (!sees_block(see, begin)) continue;
    attend_block(h, v, of, see, q, begin, block, weights);
    m = block[0] > m ? block[0] : m, n++;
  }
  @<Join the blocks@>@;
  if (weights != NULL) weigh(see, left, d, m, l, weights);
}

@ The blocks are joined as the formulas say: each is rescaled to the maximum of all by $w_b$, and at the end the output is divided by the sum. A head that has a |sink| counts it in the maximum, and begins the sum with its exponential.

@<Join the blocks@>=
if (sink > -INFINITY) l = num_expf(sink - m);
for (size_t i = 0; i < d; i++) y[i] = 0;
for (size_t b = 0; b < n; b++) {
  const float *block = left + b * (d + 2);
  float w = num_expf(block[0] - m);
  l = fmaf(block[1], w, l);
  for (size_t i = 0; i < d; i++) y[i] = fmaf(block[2 + i], w, y[i]);
}
for (size_t i = 0; i < d; i++) y[i] /= l;

@ The operation itself does this for every row of every segment and every head. |head / group| is the head of keys and values that a query head shares with its group; |scratch| has room for the results of the blocks, and |probe|, if it is not null, is where the weights go.

@<Attention, where rows meet@>=
static void attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  size_t d = h->head_dim, group = h->n_heads / h->n_kv_heads;
  (void) e;
  for (size_t k = 0; k < n; k++)
    for (uint32_t r = 0; r < list[k].n_rows; r++)
      for (size_t head = 0; head < h->n_heads; head++) {
        size_t i = (list[k].first_row + (size_t) r) * h->n_heads + head;
        struct kv_range see = segment_range(&list[k], r);
        float *weights = probe == NULL ? NULL : probe->weights + i * probe->stride;
        if (probe != NULL) memset(weights, 0, probe->stride * sizeof *weights);
        attend_head(h, &list[k].view, head / group, &see, q + i * d,
          head_sink(h, head), scratch, y + i * d, weights);
      }
}

@* Softmax: the mask and the scale. \label{sec:weights}
Softmax turns any numbers into weights that sum to 1. Only their differences count, since a constant added
to all of them cancels, and we may subtract the largest first. Why do we? Without that, the exponential of a score of \given{100} would be infinite in float, whose numbers end
before $e^{89}$, and
infinity over infinity is not a number. With it, the largest exponential is 1, and scores far below the largest get a weight of 0.
@^softmax@>

What about the positions that a row must not see? We \emph{leave them out} of both sums. Some programs give them the score $-\infty$, which
has the same result, but computes a score in vain. You might also compute the weights over all positions and set those of
the future to zero \emph{afterwards}. That is wrong: the exponentials of the future are still in the sum by which all weights were divided. In
the model of the hand calculation, let the row of \tok{\ cat} see \tok{the} and itself. Head A's weights are \val[2]{mask.out.0}
and \val[2]{mask.out.1}.\lab{lab:modelclaims} If the weight of the third position is computed as well and set to zero afterwards, they are \val[2]{mask.zeroed.0} and \val[2]{mask.zeroed.1}. Their
sum is \val[2]{mask.left}, a number that depends on a token of the future. Nor is zero times a value always zero. If the value
is infinite or NaN, as it may be in memory that has not been written yet, the sum is NaN.
@^mask@>

@ Why are scores \emph{scaled}, that is, divided by $\sqrt{d_h}$, the root of the number of components in a key? Let the numbers of a query and a key be independent, with
mean 0 and variance 1. Each product $q_ik_i$ has mean 0 and variance $E[q_i^2]\,E[k_i^2]=1$; variances of independent
terms add; so $q\cdot k$ has variance $d_h$, and divided by the root it has variance 1 again. In
\val{variance.samples} random pairs with $d_h=64$ the variance is \val[1]{claim.S2-43} before the division and \val[2]{variance.after} after it.
@^scaling of scores@>

Without the division, the scores of 64 such keys have a standard deviation of 8, the
largest is usually far above the next, and softmax puts nearly all weight on one key: it is \emph{saturated}. The mean largest weight is
\val[2]{saturation.scaled} with the division and \val[2]{saturation.plain} without (\cref{fig:saturation}).\lab{lab:saturation} So sharp a softmax
is also hard to train. The derivative of a weight $p$ by its own score is $p(1-p)$; over all keys, these derivatives sum
to \val[2]{saturation.slope.scaled} with the division and to \val[2]{saturation.slope.plain} without, so little is left to learn from.
@^saturation@>

\fig{saturation}{fig:saturation}{The mean largest weight of a softmax over 64 keys, while the keys get more components. Undivided scores make attention
a choice of one; divided by the root of the number of components they leave it as it was.}{A plot. To the right the numbers in a key, from 1 to
\given{256}, on a logarithmic axis; upwards the mean of the largest of 64 weights, from 0 to 1. One curve rises from a tenth to nine tenths,
steepest in the middle. The other is a flat line at a tenth.}

@* The MLP: GELU, SiLU, SwiGLU. \label{sec:mlp}
Attention only moves information: for given weights its output is a linear function of the values. In the MLP each row works something out by itself. The MLP's first matrix, \emph{up}, compares the vector with |d_inner| learned patterns, one for each of its outputs; an \emph{activation function} decides
which of them count; the second matrix, \emph{down}, adds a learned vector for each that does. Much of what a model knows, of words and of the world, is believed to be in these matrices; they have more of its parameters than any other part (\cref{tab:threemodels}). Could we leave the activation out? Try it: $W_2(W_1x)$ is $(W_2W_1)x$, and two matrices do no more than one. The activation must not be linear.

Which function should it be? GPT-2 uses the \emph{GELU} \cited{Hendrycks 2016}, $x\,\Phi(x)$ with the distribution function $\Phi$ of the normal distribution, in an approximation by a hyperbolic tangent. Llama uses the \emph{SiLU} \cited{Elfwing 2017}, $x/(1+e^{-x})$. It also has a second matrix beside \emph{up}, the \emph{gate}. The gate's output goes through the SiLU and multiplies that of \emph{up}, $u$, number by number, which is called \emph{SwiGLU} (\cited[Shazeer 2020]{Shazeer 2020}):
\begin{gather*}
{1\over2}x\cdot\bigl(1+\tanh(\sqrt{2/\pi}\,(x+\given{0.044715}\,x^3))\bigr),\qquad {x\over1+e^{-x}}\cdot u.
\end{gather*}
Both functions are nearly 0 for negative numbers and nearly $x$ for large ones. The order of rounding is as written, from the inside out; the cube is $(x\cdot x)\cdot x$, and one |fmaf| adds it. Exponentials and
hyperbolic tangents are our own (\cref{sec:numbers}): the C standard does not fix the last bits of a library's functions, and libraries differ in them.
@^GELU@>@^SiLU@>@^SwiGLU@>@^activation function@>@^MLP@>@^gate@>

@ The third activation is the exact GELU, with the error function; some models of the first family use it.

@<What norms and activations are@>=
enum activation_kind { ACTIVATION_SILU, ACTIVATION_GELU_TANH,
  ACTIVATION_GELU_ERF };
  /* Elfwing and others 2017; Hendrycks and Gimpel 2016, approximated and exact */

@ The function takes one number at a time, and multiplies by |up| where there is a gate.

@<Kernels in which each row is alone@>=
static float activation(enum activation_kind kind, float x)
{
  if (kind == ACTIVATION_SILU) return x / (1.0f + num_expf(-x));
  if (kind == ACTIVATION_GELU_ERF)
    return 0.5f * x * (1.0f + num_erff(x * 0.70710677f));
  float cube = x * x * x, inner = 0.7978846f * fmaf(0.044715f, cube, x);
  return 0.5f * x * (1.0f + num_tanhf(inner));
}
static void activate(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++)
    y[i] = activation(kind, x[i]) * (up != NULL ? up[i] : 1.0f);
}

@* The head: logits and probabilities. \label{sec:logits}
After the last layer the hidden state is normed once more and multiplied by the head, a matrix that has a vector for each of the $V$ tokens: one dot product, one \emph{logit}, for every token of the vocabulary. It is a linear layer like the others. In many models this matrix is the embedding's once more (\emph{tied weights} \cited{Press 2017}): a token is
recognized on its way out by the vector that it had on its way in.
@^logit@>@^head@>@^tied weights@>

A softmax of the logits gives the probabilities of the next token. We compute it in double: a float has seven digits, a sum of fifty \given{thousand} exponentials may lose one or two of them, and these numbers are added up over texts and compared with random numbers. The logarithm of a probability is the logit less the maximum, less the
logarithm of the sum; it is an ordinary number even where the probability is too small for a double.
@^log-probability@>

Probabilities and their logarithms need the same sum, once more in sixteen lanes.

@<Softmax of the logits@>=
static double sum_exp(const float *x, size_t n, double *max)
{
  double lane[16] = @[{ 0 }@];
  *max = -INFINITY;
  for (size_t i = 0; i < n; i++) *max = (double) x[i] > *max ? (double) x[i] : *max;
  for (size_t i = 0; i < n; i++) lane[i % 16] += num_exp((double) x[i] - *max);
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  return lane[0];
}

@ Two functions are built on it. They make the probabilities of several rows, or their logarithms. They are called when a pass is over, and so they set the standard floating-point modes once more (\cref{sec:pool}).

@<Softmax of the logits@>=
static void probabilities(const float *x, size_t rows, size_t n, bool logs, double *y)
{
  struct float_modes modes;
  float_modes_begin(&modes);
  for (size_t r = 0; r < rows; r++, x += n, y += n) {
    double max, sum = sum_exp(x, n, &max), log_sum = num_log(sum);
    for (size_t i = 0; i < n; i++) {
      double z = (double) x[i] - max;
      y[i] = logs ? z - log_sum : num_exp(z) / sum;
    }
  }
  float_modes_end(&modes);
}
static void softmax(const struct engine *e, const float *x, size_t rows, size_t n,
  double *y)
{@+ (void) e, probabilities(x, rows, n, false, y);@+ }
static void log_softmax(const struct engine *e, const float *x, size_t rows, size_t n,
  double *y)
{@+ (void) e, probabilities(x, rows, n, true, y);@+ }

@ A sampler that has changed the logits (\cref{sampling}) divides by a sum of its own. It needs only the exponentials.

@<Softmax of the logits@>=
static void exp_shifted(double *z, size_t n, double max)
{@+ for (size_t i = 0; i < n; i++) z[i] = num_exp(z[i] - max);@+ }

@* One table of kernels, and the engine. \label{sec:kernels}
Operations like these, in which a model spends its time, are called \emph{kernels}. The engine calls them through a table of
functions, and the rest of the program never asks which table it has. The loops of this chapter are the table |plain|. They do what the formulas say and are not made to be fast. \Cref{kernels} has
three more tables, for the instructions of different processors, and \cref{cuda} one for graphics processors. The tests compare each of them with the plain one, number by number, with |==|. This chapter, then, defines what the engine computes, and you can run the whole engine on its kernels: \.{INCIPIT\_ISA=plain}. \label{sec:plain}
@^kernel@>@^plain kernels@>

Here is the first argument of every kernel. There is nothing global, so two engines in one process cannot disturb each other.

@(engine.h@>=
/** the first argument of every kernel: who computes, and how.

   An engine belongs to one caller at a time, because the counters are increased without a lock.
   What it points to must outlive it; |k| and |prepared|
   go together, since each table has an order of its own for weights. */
#ifndef INCIPIT_ENGINE_H
#define INCIPIT_ENGINE_H
#include "model/tensor.h"
struct kernels;
struct counters;
struct prepared_weights;
struct engine {
  const struct kernels *k; /* the kernels in use */
  void *pool; /* its |struct pool *|; null: one thread */
  struct counters *c; /* the callers of kernels add to them */
  struct progress *progress; /* a callback that a pass tells how far it is, or null */
  const struct prepared_weights *prepared; /* for these kernels; null: none */
  enum activations activations; /* to which inputs of linear layers are rounded */
};
  /* the first argument of every kernel */
#endif

@ The structures of the sections before make up one header, \.{tensor.h}, which all others include. The table itself, |struct kernels|, is in \.{unwoven/model/kernel.h}, with a comment for each of its entries that says what the arrays are.

@(tensor.h@>=
/** weights as a file stores them, and what kernels know of a model's shape.

   No structure here owns memory: the numbers belong to the mapped files, or to whoever made
   the model. */
#ifndef INCIPIT_TENSOR_H
#define INCIPIT_TENSOR_H
#include "functions/number_type.h"
@<Numbers as a file stores them@>@;
@<What norms and activations are@>@;
@<The shape of the heads@>@;
#endif

@ A table has memory of its own. For all tables but the graphics processor's, |memory| is the host's, in which our program can read everything in place. A table together with its memory is called a \emph{backend}. The code of a pass asks |memory| for its arrays and for copies, so that it works as well where an address is only a number to be handed back (\cref{cuda}). \label{sec:backend}
@^backend@>@^host memory@>

@ The plain kernels are one file: those in which each row is alone, attention, and what makes probabilities of the logits.

@(plain.c@>=
/** the plain kernels, which define what the engine computes.

   Every sum is in the order that chapter 2 gives, and every rounding where its formulas have it;
   no other table may differ in a bit. So nothing here is rearranged for speed. The kernels keep
   no state and allocate nothing. */
#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "ground/pool.h"
#include "model/quantization.h"
@;@#
@<Kernels in which each row is alone@>@;
@<Attention, where rows meet@>@;
@<Softmax of the logits@>@;
@<The table of plain kernels@>@;

@ We initialize the table by name. Otherwise you could exchange two kernels of the same type, such as |softmax| and |log_softmax|, and no
compiler would tell you. The first four lines of functions are those of this chapter; the fifth has two products of \cref{model/quantization}. The others have no arithmetic of a model in them: they move arrays about, measure how fast the machine is (\cref{phases}), or say which types of weights the table can multiply. What they are for is said in \.{unwoven/model/kernel.h}.

@<The table of plain kernels@>=
const struct kernels kernels_plain = @[{ .name = "plain",@|
  .linear = linear, .normalize = normalize, .rotate = rotate,@|
  .attend = attend, .activate = activate, .add = add,@|
  .embed = embed, .angles = angles, .softmax = softmax,@|
  .log_softmax = log_softmax, .exp_shifted = exp_shifted,@|
  .linear_int8 = plain_linear_int8, .linear_bf16 = plain_linear_bf16,@|
  .memory = &buffers_host, .matrix_types = WEIGHTS_ALL,@|
  .int8_types = WEIGHTS_IN_BLOCKS, .bf16_types = 1u << WEIGHT_BF16,@|
  .split = host_split, .gather = host_gather, .write = host_write,@|
  .mark_nonfinite = plain_mark_nonfinite, .room = plain_room,@|
  .attention_room = plain_attention_room,@|
  .prepared_bytes = plain_prepared_bytes, .prepare = plain_prepare,@|
  .mul_add_unfused = plain_mul_add_unfused, .mul_add_fused = plain_mul_add_fused,@|
  .probe_flops = plain_probe_flops, .probe_bandwidth = plain_probe_bandwidth }@];

@* A build that rounds otherwise is refused. \label{sec:selftest}\label{sec:kerneltable}
All our definitions are worth nothing if the compiler rounds in other places. Some compilers, without being asked, \emph{contract} |a*b+c| into one instruction, and then there is one rounding where we wrote two. Such a build would compute good logits, but not those of every other build, and you could not see it. That is why the engine tests itself before each pass.

How do you see a single rounding? We need three numbers for which one rounding and two make a difference. With $a=1+2^{-12}$ the square is
$1+2^{-11}+2^{-24}$; rounded to a float it loses the last term, exactly half a unit in the last place, to the even
neighbour. So $a\cdot a-(1+2^{-11})$ is 0 with two roundings and $2^{-24}$ with one. A table has two entries for this test: |mul_add_unfused| is what the compiler has made of |a*b+c| in the table's own file, and |mul_add_fused| is the multiply--add of its kernels. The modes of rounding are set for the test as for a pass, because those of the caller say nothing about the build.
@^contraction@>@^self-test@>

@(self_test.c@>=
/** does this build round where the definitions say?

   It asks the table of kernels and not the compiler, because each table is compiled with options
   of its own. */
#include "model/kernel.h"
@;@#
bool kernels_self_test(const struct kernels *k, struct error *why)
{
  float a = 0x1.001p0f, c = -0x1.002p0f;
  struct float_modes modes;
  float_modes_begin(&modes);
  float two = k->mul_add_unfused(a, a, c), one = k->mul_add_fused(a, a, c);
  float_modes_end(&modes);
  if (two != 0.0f)
    return error_say(why, "kernels %s: this build contracts a*b+c"@|
      " into one rounding; compile with -ffp-contract=off", k->name);
  if (one != 0x1p-24f)
    return error_say(why, "kernels %s: the multiply-add of this"@|
      " machine rounds twice; wanted: one rounding", k->name);
  return true;
}

@* Settings and weights. \label{sec:modelsettings}
In memory a model is two structures: the \emph{settings}, numbers and switches that say how large the model is and which
of the operations above it uses, and the \emph{weights}. Both come in files, in which every maker of models has other names
for the same things; how those files are read, checked and refused is the subject of \cref{families}.

The settings begin with the names of \cref{tab:threemodels}; then come the switches, such as |gated| and |learned_positions|. The pass asks these switches and never for the name of a family. Many parts of the program must know a setting: its reader must know its bounds, a listing prints it, a device may be unable to compute it. If each had a list of its own, a new setting would be missing from one of them, and you would notice when a model wrote nonsense. We have one table, \.{unwoven/model/settings.inc}, with a row for each setting, and even the structure |struct model_config| is made of its rows. \label{sec:settingrows}
@^settings@>@^weights@>

@ A layer has two halves, each with a norm before it. The first projects to queries, keys
and values and, after attention, back; the second goes up to a wider space and down
again. GPT-2 stores the three projections as one matrix; the later families have a
second matrix on the way up, the gate. One structure serves both: it counts its matrices, and what a family does not have is left at zero and never used.
None of these structures has memory of its own: the numbers stay where they are, in the mapped file.
@^layer@>@^matrix@>

@<One layer@>=
struct mixture;
struct model_layer {
  struct norm attn_norm, mlp_norm; /* |[d_model]| each */
  struct norm attn_post, mlp_post; /* the same after each half, if |post_norms| */
  struct norm q_norm, k_norm; /* |[head_dim]| each, if |qk_norm|; or of all heads together */
  struct matrix qkv[3]; /* |[n_heads*head_dim][d_model]|, then twice
    |[n_kv_heads*head_dim][d_model]|; if fused, one of |[3*d_model][d_model]| */
  struct tensor sink; /* |[n_heads]|, if |head_sinks| */
  struct matrix out; /* |[d_model][n_heads*head_dim]| */
  struct matrix up[2], down; /* |[d_inner][d_model]| each; |[d_model][d_inner]| */
  size_t n_qkv, n_up; /* 1 if fused, else 3; 2 with a gate, which is |up[0]| */
  struct mixture *experts; /* in place of |up| and |down|; or null */
};
  /* the weights of one layer, in the order of their use */

@ The whole model adds what comes before the first layer and after the last. The multiply--adds and bytes
at its end are for the counters. A model does not change between its opening and its closing, which is why threads may read it without a lock.

@<The whole model@>=
struct tensor_file;
struct model {
  struct model_config config;
  struct tensor_file *weights; /* the files, mapped */
  struct tensor embedding, positions; /* |[vocab_size][d_model]|, |[n_positions][d_model]| */
  struct model_layer *layers; /* |[n_layers]| */
  struct norm final_norm; /* |[d_model]|, before the head */
  struct matrix head; /* |[vocab_size][d_model]|, the embedding itself if tied */
  struct attention_dims attention; /* how many, how wide, and what scores are
    multiplied by */
  float *frequency; /* |[rotary/2]|, or null with learned positions */
  float *local_frequency; /* the same for layers with a window, if they have a base of their own */
  float *long_frequency; /* the same for long texts, if they have frequencies of their own */
  bool own_gains; /* the gains of norms are not as the files have them, and belong to the model */
  enum weight_type gain_type; /* in which the file has that of |final_norm| */
  bool neighbours; /* whether the files have the two numbers of a rotated pair side by side */
  uint64_t layer_madds, layer_bytes, head_bytes;
  uint64_t expert_bytes; /* of all experts, which |layer_bytes| leaves out */
  uint32_t matrix_types; /* bit |1 << type| for each type of its matrices */
};
  /* a model: its settings and its weights, which belong to the files */

@ Together these are the header that most of the book includes.

@(model.h@>=
/** a model in memory: its settings, and where its weights are.

   A model does not change between its opening and its closing, so any number of threads may read
   it. The weights belong to the mapped files; only |layers|, frequencies and some gains are allocated. */
#ifndef INCIPIT_MODEL_H
#define INCIPIT_MODEL_H
#include "model/settings.h"
@<One layer@>@;
@<The whole model@>@;
#endif

@ You open a model with |model_open|, from the workshop. A message about a model names its file, which |tensor_file_path| finds.

\printedheader[model_open]{families/loader.h}
\printedheader[tensor_file_path]{safetensors/tensor_file.h}

@ \Cref{accounts} counts the bytes of a model without opening it. |config_open| reads its settings, and |layout_find| says which tensors its family has.

\printedheader[config_open]{families/config.h}
\printedheader[layout_find]{families/layout.h}

@* Counting the work. \label{sec:counters}
What does a pass cost? You could time it, but
time is a poor witness: it depends on the machine and on what else the machine is doing. So we count while it runs. Counts are whole numbers, equal on every
computer, and a formula can be checked against them with |==|. A counter is increased where the cost is paid, once for a
call and never once for an element, so counting takes no time that could be measured. The command prints the counters under these names.
@^counters@>@^pass@>

@(counters.h@>=
/** what passes have cost, in whole numbers.

   A counter is increased by whoever pays the cost, once for a call and never once for an element.
   A pass that fails sets all of them back. */
#ifndef INCIPIT_COUNTERS_H
#define INCIPIT_COUNTERS_H
#include <stdint.h>
enum { N_COUNTERS = 11 };
  /* how many counters there are */
struct counters {
  union {
    struct {
      uint64_t passes, rows; /* calls of |model_forward|; rows in them */
      uint64_t kv_rows_computed; /* rows whose keys and values were computed, */
      uint64_t kv_rows_recomputed; /* and those that an earlier pass had computed */
      uint64_t qk_pairs; /* of one head of the first layer */
      uint64_t madds_linear, madds_attention, madds_head; /* multiply--adds */
      uint64_t weight_bytes_read, cache_bytes_read, cache_bytes_written;
    };
    uint64_t of[N_COUNTERS]; /* the same, in order */
  };
};
  /* what passes have cost */
#endif

@* The key--value store. \label{sec:rows}
A |struct row| has three numbers: the |sequence| to which it belongs, its |position| there, and the |token|. Rows are the unit in which this book counts work. The loops of the later chapters
differ only in which rows go through a pass, and in what is kept of them.
@^row@>@^store@>

What is kept are keys and values. A row's query is compared with the keys of all positions up to its own, so in every layer the keys and values of the earlier rows
must be stored somewhere. We call that place the \emph{store}. In this chapter it is an array that holds one text. In \cref{cache} it becomes the KV cache, which holds many sequences and shares memory among them. The forward pass cannot tell which it has: a store is a |struct store|, with a table of functions for what each kind of store does in its own way.
@^sequence@>@^KV cache@>

@(store.h@>=
/** where keys and values are kept from one pass to the next, and what a pass asks of such a place.

   Four rules hold for every kind of store. The positions of a sequence grow from pass to pass
   without a gap. A pass is accepted whole or refused whole. In every layer the keys and values of
   all rows are stored before any row of that layer attends. Until the pass has ended none of its
   rows counts: a pass that fails in the middle leaves nothing. */
#ifndef INCIPIT_STORE_H
#define INCIPIT_STORE_H
#include "model/model.h"
struct row {@+ uint32_t sequence, position, token;@+ };
  /* a token at a position (from 0) of a sequence (from 0) */
@<What a kind of store does in its own way@>@;
@<What all stores have in common@>@;
@<What a pass asks of a store@>@;
@<What its owner asks@>@;
#endif

@ Why the four rules at the head of the file? Without a gap in the positions a view needs no list of them. The third rule lets a whole prompt go through in one pass, because a row finds the keys of the rows before it although they came with it. The other two make failure harmless: you may interrupt a pass, or be refused memory, and the text is what it was before.

A pass begins, asks in each layer for the segments of its rows, and then commits or aborts. A segment has a view of its sequence (\cref{sec:views}), and the keys and values of its own rows are written where the view says; no function is called for a single key.

@<What a pass asks of a store@>=
bool store_begin(struct store *s, const struct row *rows, size_t n,
  struct error *why);
  /* accepts a pass of |n| rows or refuses it: a sequence or position out of
     range, a gap, a position given twice or stored already; |rows| must live
     until the end of the pass */
size_t store_segments(struct store *s, uint32_t layer, size_t most,
  struct segment *list);
  /* the segments of the pass in |layer|, each of at most |most| $\ge1$ rows; returns how many,
     which is at most the number of rows */
void store_view(const struct store *s, uint32_t layer, uint32_t sequence,
  struct kv_view *v);
  /* where the keys and values of a sequence are in |layer|, those of the present pass among them */
void store_commit(struct store *s);
  /* ends the pass: its rows belong to the store */
void store_abort(struct store *s);
  /* ends the pass as if it had not been */

@ Between passes a sequence can be measured and \emph{cropped}, which keeps only its first rows: the naive loop crops to 0 before every step. A store with windows may have thrown away rows that lie before a window. If the row that comes next after the crop would need one of them, the store can only forget the whole sequence.
@^crop@>

@<What its owner asks@>=
size_t store_length(const struct store *s, uint32_t sequence);
  /* the rows that |sequence| has: the position that comes next */
const uint32_t *store_tokens(const struct store *s, uint32_t sequence);
  /* |[store_length]|: their tokens; owned by the store, valid until its next pass */
void store_crop(struct store *s, uint32_t sequence, size_t length);
  /* forgets the rows of |sequence| from position |length| on, but not which tokens
     have been computed. Cropping to the present length or more removes no row. If a window has
     let go of rows that the next row would need, the whole sequence is forgotten */
void store_clear(struct store *s);
  /* crops all sequences to nothing */
size_t store_window_start(const struct store *s, uint32_t layer, size_t position);
  /* the first position that a row at |position| sees in |layer|, sinks aside */

@ The store of this chapter is opened and closed by its owner. It is the simplest that we could think of, and we throw it away in \cref{cache}; its code is in \.{unwoven/model/array.c}. Each layer has an array of keys and an array of values, in which position |t| has number |t|, for as many positions as the model has; a position takes \val{cost.1.written} bytes in the built-in model. A cropped row's token stays in the array's memory, because \cref{loop} asks how many rows of a pass have been computed before. |store_fork| continues one text in two ways; this store cannot, that of \cref{cache} can.

@<What its owner asks@>=
bool store_fork(struct store *s, uint32_t from, uint32_t to, struct error *why);
  /* makes the empty sequence |to| equal to |from|, without computing anything;
     errors: a kind of store that cannot, |to| has rows, a number out of range, a pass
     going on, memory; then |to| is empty */
void store_close(struct store *s);
  /* returns the memory; does nothing for null */
bool store_prepare(struct store *s, const struct store_kind *kind,
  struct memory *m, const struct model_config *c, uint32_t n_sequences,
  struct error *why);
  /* fills in the part that all kinds of store have in common */
struct store *array_store_open(struct memory *m, const struct model_config *c,
  struct error *why);
  /* an empty store for one text of a model, in float32; null
     if memory is refused. Owned by the caller, and closed by |store_close| */

@ What does a store look like from inside? All stores have a few numbers in common, copied from the model's settings, and the rows of the pass that is going on. Two numbers at the end are for the counters, because only the store knows them.

@<What all stores have in common@>=
struct store {
  const struct store_kind *kind;
  struct memory *m; /* where passes through this store take their memory */
  const struct buffers *memory; /* where its keys and values are; |store_prepare|: the host's */
  kv_encode *encode; /* writes them in the type in which they are kept; |store_prepare|: float32 */
  uint32_t n_sequences, n_positions; /* the most it holds */
  uint32_t n_layers, n_kv_heads, head_dim; /* of the model */
  uint32_t sinks, *window; /* first positions that are always seen; |[n_layers]|, how
    many a row sees in each layer, 0: all */
  size_t row_bytes; /* keys and values of one row in one layer, as stored */
  const struct row *rows; size_t n_rows; /* of the present pass; 0 between passes */
  bool *stretched, turning; /* |[n_sequences]|, whether the keys are turned as in long texts;
    whether they are being turned anew; null but for models with |long_frequency| */
  size_t rows_visible, rows_recomputed;
};
  /* |rows_visible|: rows of the store that some
     row of the present pass sees in the layer last given to |store_segments|;
     |rows_recomputed|: rows of the pass that an earlier pass had computed, with the same
     tokens up to there, set by |store_begin| */

@ A kind of store is a table of functions, one for each thing that an array and a cache do differently. You need it to follow \cref{cache}, which has the second kind.

@<What a kind of store does in its own way@>=
struct store;
struct store_kind {
  bool (*begin)(struct store *s, struct error *why);
    /* finds a place for each of |rows|, or refuses; sets |rows_recomputed| */
  void (*end)(struct store *s, bool commit);
    /* the rows belong to the store from now on, or have never been */
  void (*view)(const struct store *s, uint32_t layer, uint32_t sequence,
    struct kv_view *v);
    /* as |store_view|, without the sinks */
  size_t (*length)(const struct store *s, uint32_t sequence);
  const uint32_t *(*tokens)(const struct store *s, uint32_t sequence);
  void (*crop)(struct store *s, uint32_t sequence, size_t length);
  bool (*fork)(struct store *s, uint32_t from, uint32_t to, struct error *why);
    /* as the functions |store_length|, \dots, |store_fork|; |fork| may be null */
  void (*close)(struct store *s);
    /* frees the store itself and what its kind has allocated */
};
  /* what kinds of store do differently */

@ How do rows become segments? We go through them in the order in which they came. A row belongs to the segment of the row before it if it has the same sequence and the next position. Write a row as its
sequence and its position: the rows $(0,5)$, $(0,6)$, $(0,7)$, $(1,9)$ are two segments, and in the order $(0,5)$, $(0,6)$, $(1,9)$, $(0,7)$ they are three. The result is the same.

@<Make segments of the rows@>=
static bool continues(const struct segment *l, const struct row *before,
  const struct row *r)
{
  return r->sequence == before->sequence
    && r->position == l->first_position + l->n_rows;
}
size_t store_segments(struct store *s, uint32_t layer, size_t most,
  struct segment *list)
{
  const struct row *r = s->rows;
  size_t n = 0;
  count_visible(s, layer);
  for (size_t i = 0; i < s->n_rows; i++) {
    if (n > 0 && list[n - 1].n_rows < most
        && continues(&list[n - 1], &r[i - 1], &r[i])) {
      list[n - 1].n_rows++;
      continue;
    }
    struct segment *l = &list[n++];
    *l = (struct segment) @[{ .first_row = (uint32_t) i, .n_rows = 1,@|
      .first_position = r[i].position, .window = s->window[layer] }@];
    store_view(s, layer, r[i].sequence, &l->view);
  }
  return n;
}

@ For the counters we also want to know how many rows of the store a pass looks at, counting each once, however many rows look at it. Every row of the pass sees itself. The first new row of a sequence also sees the rows that were stored before, from the start of its window on, and the sinks; the rows after it see nothing that has not been counted. With a window of 4 and one sink, a new row at position 10 sees five rows: itself, positions 7 to 9 of the store, and the sink at 0.

@<Count the rows of the store that are seen@>=
size_t store_window_start(const struct store *s, uint32_t layer, size_t position)
{
  size_t window = s->window[layer];
  bool windowed = window > 0 && position >= window;
  return windowed ? position - window + 1 : 0;
}
static void count_visible(struct store *s, uint32_t layer)
{
  s->rows_visible = s->n_rows;
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct row *r = &s->rows[i];
    size_t start = store_window_start(s, layer, r->position);
    if (r->position == store_length(s, r->sequence))
      s->rows_visible += r->position - start + (s->sinks < start ? s->sinks : start);
  }
}

@ These functions are one file. Most others of a store only pass the call on to its kind; you find them in \.{unwoven/model/store.c}.

@(segments.c@>=
/** what the rows of a pass see of a store: segments, views, ranges.

   Only |store_segments| writes: it fills the caller's list and sets |rows_visible|, which is good
   for the layer that was asked for last. */
#include "model/store.h"
@;@#
@<Find the range of a row@>@;
@<Count the rows of the store that are seen@>@;
void store_view(const struct store *s, uint32_t layer, uint32_t sequence,
  struct kv_view *v)
{
  s->kind->view(s, layer, sequence, v);
  v->sinks = s->sinks;
}
@<Make segments of the rows@>@;

@* The forward pass. \label{sec:forward}
Now we run the model. |model_forward| takes any list of rows, puts all of them
through all layers, and leaves a hidden state for each. Why no logits? A step of generation
wants them for one row only, and in a small model the head is the largest matrix
of all; so |model_logits| makes them for the rows that the caller names.
@^pass@>@^hidden state@>@^forward pass@>

What is left of the run is a |struct pass|. Its hidden states are those after the last layer and before the last norm, which belongs to the head. If a weight is not a number, everything after it is not a number either, and you will want to know where it began. While the rows are at hand that is cheap to find; afterwards it cannot be found at all. The pass notes for each row after which layer it ceased to be finite. \label{sec:passheader}

@<What a pass leaves behind@>=
struct pass {
  struct memory *m;@+ const struct buffers *memory;
  size_t n;@+ uint32_t d_model;
  bool head_read; /* the head's weights have been counted for this pass */
  float *hidden; /* |[n][d_model]|, in the order of the rows, in |memory| */
  uint32_t *first_bad_layer; /* |[n]| */
};
  /* the hidden states of |n| rows after the last layer; |first_bad_layer|: the layer, from 1, after which a row first held a
     number that is not finite, 0 if its embedding did, |PASS_FINITE| if none */
enum {@+ PASS_FINITE = 0x7fffffff@+ };
  /* no layer: every number of the row is finite */

@ Sometimes you want to look into a pass: to draw attention, to print the numbers of a
hand calculation, to see whether a later token has changed an earlier row. A \emph{watcher} is a callback that is called at every stage of every layer. It may even change the numbers that it sees, and the pass goes on with what it leaves there. That is how \cref{loop} leaves out
one query and sees what changes.
@^watcher@>@^callback@>

@<A watcher@>=
enum tap_point { TAP_EMBEDDING, TAP_NORM, TAP_QUERY, TAP_KEY, TAP_VALUE,
  TAP_WEIGHTS, TAP_MIXED, TAP_ATTENTION, TAP_MLP_NORM, TAP_INNER,
  TAP_MLP, TAP_LAYER, TAP_EXPERTS };
  /* |[n][d_model]| but for: queries and mixed values |[n][n_heads][head_dim]|, keys
     and values |[n][n_kv_heads][head_dim]|, after rotation; attention weights
     |[n][n_heads][max_seen]|; inner |[n][d_inner]|. |TAP_ATTENTION| and |TAP_MLP| are
     what is added to the residual stream, |TAP_LAYER| is the stream after it.
     |TAP_EXPERTS|: the experts' weights, |[n][n_experts]|, 0 for one that is not chosen */
typedef void tap_fn(void *ctx, enum tap_point point, uint32_t layer, float *x,
  size_t rows, size_t width);
  /* |x| is |[rows][width]|, belongs to the pass, and may be changed */
struct watcher {@+ tap_fn *tap;@+ void *ctx;@+ bool weights;@+ };
  /* |weights|: the caller wants attention weights as well */

@ While it runs, a pass needs many arrays. They are allocated before the first layer and freed
after the last, so that memory cannot be refused in the middle of the work. None of them has a dimension for the layer: each layer overwrites what the one before has left, and only the stream |x| goes
on from layer to layer. \label{sec:arrays}

@<The arrays of a pass@>=
float *x; /* the residual stream, |[n][d_model]| */
float *normed, *added; /* |[n][d_model]| */
float *q, *k, *v, *mixed; /* |[n][q_width]| and, of |k| and |v|, |[n][kv_width]| */
float *inner, *up; /* |[n][d_inner]|, or as wide as an expert; neighbours */
float *cosine[2], *sine[2]; /* |[n][rotary/2]|; the second for |local_frequency| */
float *router, *gathered, *answered; /* for experts: |[n][n_experts]|, |[n][d_model]| each */
struct expert_choice *chosen, *by_expert; /* |[n*n_chosen]| each */

@ A |struct work| has these arrays, what the pass was asked to do, and some odds and ends: lists of ids and positions, the segments of the layer, and arrays that only a backend with its own memory or a watcher needs. \.{unwoven/model/pass.c} fills it in.

@(work.h@>=
/** a forward pass while it is made: its arrays, and what forward.c asks of pass.c.

   A |struct work| lives in the stack frame of one pass. Its arrays come from an arena, or from the
   memory of the backend, and are gone when the pass is closed; |p| is what stays. */
#ifndef INCIPIT_WORK_H
#define INCIPIT_WORK_H
#include "model/forward.h"
enum {@+ N_LENT = 4@+ };
  /* how many arrays may come from a backend's memory */
struct work {
  size_t n, q_width, kv_width; /* rows; numbers in all heads of a query, of a key */
  struct engine *e;@+ struct store *s;@+ struct pass *p;
  const struct model *lm;@+ const struct watcher *watch;
  bool goes_on; /* the pass has not been given up */
  size_t done; /* how far the pass is, for |progress|: of |n| rows, in proportion to the layers done */
  uint32_t *id, *position;
  struct segment *seen;@+ size_t n_seen; /* at most |n| */
  size_t max_seen; /* the longest range that a row sees */
  float *fused, *scratch, *weights; /* for attention */
  const struct buffers *memory;
  struct arena own, *d; /* |d| is |own| or the pool's */
  struct float_modes modes; /* the caller's */
  uint32_t *first_bad; /* |[n]|, as |p->first_bad_layer|, in |memory| */
  void *lent[N_LENT];@+ int n_lent; /* what is not from the arena */
  float *shown; /* the host's copy of an array for the watcher */
  float *spare; /* where the numbers of a head are put into our order */
  @<The arrays of a pass@>@;
};
  /* a pass while it is made */
@<What the steps of a pass call@>@;
#endif

@ Here is what the steps below call in \.{pass.c}. Three functions surround the pass; the others do with all rows what a kernel does with some.

@<What the steps of a pass call@>=
bool work_check(struct work *w, const struct row *rows, struct error *why);
  /* whether kernels, model, store and rows fit together; finds |max_seen| */
bool work_open(struct work *w, struct error *why);
  /* opens the pass |p| and allocates the arrays; to be closed even if it fails */
bool work_close(struct work *w, bool done, struct error *why);
  /* frees the arrays; |p| stays. |done|: the pass has been made. True if |done| and nothing failed in the backend's memory */
void work_gather_pairs(struct work *w);
  /* puts the two numbers of each pair of |q| and |k|, which are neighbours, half a head apart */

@ The next ones are the switches of the families (\cref{sec:switched}). Each does nothing to a model that does not ask for it, so you can read the pass of a Llama without them.

@<What the steps of a pass call@>=
void work_scale(const struct work *w, float *x, size_t width, double by);
  /* multiplies |x|, |[n][width]|; 0: leaves it as it is */
typedef bool forward_fn(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, struct pass **made, struct error *why);
  /* as |model_forward| */
bool work_turn_anew(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, forward_fn *forward, struct error *why);
  /* computes, by |forward|, the rows of each sequence anew that with these |rows| becomes a long text, or
     is no longer one; true if there is nothing to do */
void work_other_angles(struct work *w);
  /* the angles of rows and layers that do not turn by |frequency| */
void work_norm(struct work *w, const struct norm *g, float *y);
  /* the stream, normed, or as it is if the model has no norm there */
void work_split(struct work *w);
  /* |fused| into |q|, |k| and |v| */
void work_norm_heads(struct work *w, const struct model_layer *l);
  /* norms queries and keys */
void work_rotate(struct work *w, uint32_t layer);
  /* turns queries and keys, as far as this layer turns them */
void work_experts(struct work *w, const struct model_layer *l, uint32_t layer);
  /* the second half of a layer that has experts in the place of its MLP */
void work_gate(struct work *w, bool pairs, size_t n);
  /* what an expert's gate lets through: |inner| gets |n| numbers, from |inner| and |up|; |pairs|: from
     |inner| alone, in which gates and ups alternate */
void work_branch(struct work *w, const struct norm *post);
  /* |added|, as the half of a layer has left it, made ready for the stream */
void logits_finish(const struct model_config *c, float *logits, size_t n);
  /* scales and caps |n| logits */

@ And these are for attention, and for the caller: what a layer sees of the store, which rows are still finite, what a watcher is shown, and whether to go on.

@<What the steps of a pass call@>=
void work_segments(struct work *w, uint32_t layer);
  /* the segments |seen|, with the store's views of |layer| */
void work_attend(struct work *w, const struct attention_dims *h, bool weights);
  /* |attend| for all segments, some at a time; |weights|: keep the weights, too */
void work_mark(struct work *w, uint32_t layer);
  /* marks the rows that are no longer finite after |layer| layers */
void work_tap(struct work *w, enum tap_point point, uint32_t layer, float *x,
  size_t width);
  /* shows the watcher |x|, |[n][width]| */
size_t work_rows_at_once(const struct work *w, const struct matrix *list,
  size_t n, size_t from);
  /* how many rows from |from| on to multiply before asking again: all, if nobody wants to be asked */
void work_ask(struct work *w);
  /* tells the caller how far the pass is; the answer goes to |goes_on| */

@ When you press Ctrl-C you don't want to wait until a long prompt is through a whole layer. If the caller wants to be asked whether to go on (\cref{sec:progress}), the matrices take some rows at a time, and in between we ask. Each row is computed from its own numbers, whichever rows come with it, so the bits are the same.

How many rows at a time? A matrix is read again for each group, so the groups should be large; and a group should take no more than some hundredths of a second, so of a large matrix it must not have many rows. |work_rows_at_once| weighs the two. |list| has at most three matrices, and each has results of its own, so each result is written |r| rows further on. |kernels_multiply| calls |linear|, or the product of \cref{model/quantization} that the type of the matrix asks for.

@<Multiply all rows, some at a time@>=
static void work_multiply(struct work *w, const struct matrix *list, size_t n,
  const float *x, float *const *y)
{
  for (size_t r = 0, here; r < w->n && w->goes_on; r += here) {
    float *part[3];
    here = work_rows_at_once(w, list, n, r);
    for (size_t i = 0; i < n; i++) part[i] = y[i] + r * list[i].out;
    kernels_multiply(w->e, list, n, x + r * list->in, here, part);
    work_ask(w);
  }
}

@ The pass follows \cref{fig:block} from the bottom up. The embedding of an id is its vector in the table. GPT-2 adds the vector of
the position from a second table; Llama rotates queries and keys later, by angles that we compute here once
for all layers. Only the vectors that are looked up count as read.

In this and the following sections you meet some calls that do nothing in a GPT-2 or a Llama, such as |work_scale|. They are switches of other families: Gemma multiplies its embedding by a number, OLMo norms what a layer adds. \Cref{sec:switched} is about them, one by one.

@<Turn ids into rows@>=
static void embed_rows(struct work *w, const struct row *rows)
{
  const struct model *lm = w->lm;
  const struct kernels *k = w->e->k;
  size_t d = lm->config.d_model;
  for (size_t i = 0; i < w->n; i++)
    w->id[i] = rows[i].token, w->position[i] = rows[i].position;
  k->embed(w->e, lm->embedding, d, w->id, w->n, w->x);
  work_scale(w, w->x, d, lm->config.embedding_scale);
  uint64_t bytes = weight_row_bytes(lm->embedding.type, d);
  if (lm->config.learned_positions) {
    k->embed(w->e, lm->positions, d, w->position, w->n, w->added);
    k->add(w->e, w->x, w->added, w->n * d);
    bytes += weight_row_bytes(lm->positions.type, d);
  }
  else {
    k->angles(w->e, w->position, w->n, lm->frequency,
      config_rotary(&lm->config) / 2, (float) rope_attention(&lm->config.rope),
      w->cosine[0], w->sine[0]);
    work_other_angles(w);
  }
  w->e->c->weight_bytes_read += w->n * bytes;
  work_tap(w, TAP_EMBEDDING, 0, w->x, d);
}

@ Queries, keys and values are three products with the same normed rows. We make
all three in one call, so that the rows are read once; where the file has them fused, we cut one product
into three.

@<The first half of a layer: attention@>=
static void project_qkv(struct work *w, const struct model_layer *l)
{
  if (l->n_qkv == 3) {
    work_multiply(w, l->qkv, 3, w->normed,@|
      (float *[]) @[{ w->q, w->k, w->v }@]);
    return;
  }
  work_multiply(w, l->qkv, 1, w->normed, (float *[]) @[{ w->fused }@]);
  work_split(w);
}

@ Positions enter queries and keys here, if they have not entered with the embedding. The models called Qwen3 \cited{Yang 2025} norm queries and keys before, head by head; a norm of |head_dim| numbers is the
same function as one of |d_model|. In some files the two numbers of a pair are neighbours, because the rows of their matrices are in another order (\cref{sec:layouts}). We could put the rows of the matrices in order when the model is opened; we tried, and copied a tenth of the weights before the first token. It is cheaper to put the results in order, and no sum changes. \label{sec:pairs}

@<The first half of a layer: attention@>=
static void rotate_qk(struct work *w, const struct model_layer *l, uint32_t i)
{
  const struct model_config *c = &w->lm->config;
  if (l->q_norm.gain.data != NULL) work_norm_heads(w, l);
  if (w->lm->neighbours) work_gather_pairs(w);
  if (c->learned_positions)@+ return;
  work_rotate(w, i);
}

@ Attention comes next. All keys and values of the layer are stored before the
first row attends: a row sees itself, and in a pass of many rows it sees the earlier ones of its
sequence in the same pass. That is why a prompt can go through in one pass at all: no row waits for another row's output, only for keys
and values of the same layer, which are made from what the layer below has left.

@<The first half of a layer: attention@>=
static void attend_rows(struct work *w, uint32_t i)
{
  struct counters *c = w->e->c;
  @<Store the layer's keys and values where its segments say@>@;
  struct attention_dims h = w->lm->attention;
  h.sink = w->lm->layers[i].sink;
  if (w->lm->config.scaled_by_layer) h.scale /= (float) (i + 1);
  bool weights = w->watch != NULL && w->watch->weights;
  work_attend(w, &h, weights);
  @<Count what the layer's attention has cost@>@;
  if (weights)
    work_tap(w, TAP_WEIGHTS, i, w->weights,
      w->lm->config.n_heads * w->max_seen);
}

@ We ask the store for the segments again in every layer, because each layer has its keys and values in another place. The ranges of their rows are the same in all layers,
and so is the number of pairs, unless some layers have a window and others have not.

@<Store the layer's keys and values where its segments say@>=
  work_segments(w, i);
  w->e->k->write(w->e, &w->lm->attention, w->seen, w->n_seen, w->s->encode, w->k, w->v);
  uint64_t pairs = 0;
  for (size_t k = 0; k < w->n_seen; k++)
    for (uint32_t r = 0; r < w->seen[k].n_rows; r++) {
      struct kv_range see = segment_range(&w->seen[k], r);
      pairs += see.hi - see.lo + see.sinks;
    }

@ A pair costs |head_dim| multiply--adds for the score and as many for the value, in each head: |2*q_width| in all. We count pairs in the first layer only; in a model with windows in some layers the others may have fewer or more. And we count the cache as read
once for each position that some row sees, not once for each pair: no machine can read less.

@<Count what the layer's attention has cost@>=
  if (i == 0)@+ c->qk_pairs += pairs;
  c->madds_attention += 2 * w->q_width * pairs;
  c->cache_bytes_written += w->n * w->s->row_bytes;
  c->cache_bytes_read += w->s->rows_visible * w->s->row_bytes;

@ The first half of a layer is a norm, attention, and the way back into the residual stream.

@<The first half of a layer: attention@>=
static void attention_block(struct work *w, const struct model_layer *l, uint32_t i)
{
  const struct kernels *k = w->e->k;
  const struct model_config *c = &w->lm->config;
  size_t d = c->d_model;
  work_norm(w, &l->attn_norm, w->normed);
  work_tap(w, TAP_NORM, i, w->normed, d);
  project_qkv(w, l);
  rotate_qk(w, l, i);
  work_tap(w, TAP_QUERY, i, w->q, w->q_width);
  work_tap(w, TAP_KEY, i, w->k, w->kv_width);
  work_tap(w, TAP_VALUE, i, w->v, w->kv_width);
  attend_rows(w, i);
  work_tap(w, TAP_MIXED, i, w->mixed, w->q_width);
  work_multiply(w, &l->out, 1, w->mixed, (float *[]) @[{ w->added }@]);
  work_branch(w, &l->attn_post);
  if (c->parallel && !c->shared_norm) work_norm(w, &l->mlp_norm, w->normed);
  work_tap(w, TAP_ATTENTION, i, w->added, d);
  k->add(w->e, w->x, w->added, w->n * d);
}

@ The second half is a norm, the matrix up, the activation, the matrix down, and again the way into the stream. With a gate, the activation is
applied to the gate, which then multiplies the other product. Here are most of a model's multiply--adds, and no row looks at another.

@<The second half of a layer: the MLP@>=
static void mlp_block(struct work *w, const struct model_layer *l, uint32_t i)
{
  const struct kernels *k = w->e->k;
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, d = c->d_model;
  if (!c->parallel) work_norm(w, &l->mlp_norm, w->normed);
  work_tap(w, TAP_MLP_NORM, i, w->normed, d);
  work_multiply(w, l->up, l->n_up, w->normed,@|
    (float *[]) @[{ w->inner, w->up }@]);
  k->activate(w->e, c->activation, w->inner, c->gated ? w->up : NULL,
    n * c->d_inner, w->inner);
  work_tap(w, TAP_INNER, i, w->inner, c->d_inner);
  work_multiply(w, &l->down, 1, w->inner, (float *[]) @[{ w->added }@]);
  work_branch(w, &l->mlp_post);
  work_tap(w, TAP_MLP, i, w->added, d);
  k->add(w->e, w->x, w->added, n * d);
  work_tap(w, TAP_LAYER, i, w->x, d);
}

@ Now you can read the pass itself, and it is short: embed, and then for each layer its two halves. Each matrix is multiplied by all rows, and if nobody asks it is read once. The last two counters say so: the
multiply--adds grow with |w->n| and the bytes of weights do not, and much of what later chapters gain comes from that. A pass that is given up ends with its layer.

@<Put the rows through all layers@>=
static bool work_run(struct work *w, const struct row *rows, struct error *why)
{
  const struct model *lm = w->lm;
  struct counters *c = w->e->c;
  w->goes_on = true;
  embed_rows(w, rows);
  work_mark(w, 0);
  for (uint32_t i = 0; i < lm->config.n_layers && w->goes_on; i++) {
    w->done = w->n * i / lm->config.n_layers;
    attention_block(w, &lm->layers[i], i);
    if (lm->layers[i].experts != NULL) work_experts(w, &lm->layers[i], i);
    else mlp_block(w, &lm->layers[i], i);
    work_mark(w, i + 1);
  }
  if (!w->goes_on)
    return error_say(why,@|
      "the pass was given up after %zu of %zu rows", w->done, w->n);
  c->passes++, c->rows += w->n;
  c->kv_rows_computed += w->n, c->kv_rows_recomputed += w->s->rows_recomputed;
  c->madds_linear += w->n * lm->layer_madds;
  c->weight_bytes_read += lm->layer_bytes;
  return true;
}

@ What can go wrong? |work_check| refuses rows whose ids are not in the vocabulary, a build that rounds otherwise, and kernels that do not fit the model; the store refuses rows that leave a gap; memory may run out. We find out all of this before
the first multiplication. The store comes last, since a pass that it has accepted may have taken the place of older rows. If anything goes wrong, the store forgets the rows, and the counters are set back to
what they were, because they count only rows that the caller receives. The floating-point modes are set for the whole pass, and the caller's are put back at its end (\cref{sec:pool}). (One family, Phi-3, turns the keys of a long text otherwise than those of a short one, so a text that has become long is computed anew before its next row; \cref{sec:longrope}.) \label{sec:refused}

@<Run a pass@>=
bool model_forward_watched(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, const struct watcher *watch, struct pass **made,
  struct error *why)
{
  struct work w = @[{ .e = e, .lm = lm, .s = s, .watch = watch, .n = n,@|
    .memory = e->k->memory }@];
  struct counters before = *e->c;
  bool begun, ok = false;
  *made = NULL;
  if (!work_turn_anew(e, lm, s, rows, n, model_forward, why))@+ return false;
  float_modes_begin(&w.modes);
  if (work_check(&w, rows, why)) {
    begun = work_open(&w, why) && store_begin(s, rows, n, why);
    ok = work_close(&w, begun && work_run(&w, rows, why), why);
    if (ok) {@+ store_commit(s);@+ *made = w.p;@+ }
    else {@+ if (begun) store_abort(s);@+ pass_close(w.p);@+ *e->c = before;@+ }
  }
  float_modes_end(&w.modes);
  return ok;
}

@ Most callers do not watch.

@<Run a pass@>=
bool model_forward(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, struct pass **made, struct error *why)
{@+ return model_forward_watched(e, lm, s, rows, n, NULL, made, why);@+ }

@* Logits of the rows that are wanted. \label{sec:head}
You name the rows whose logits you want. We gather them first, so that one call of |linear| serves them all, norm them, and multiply them by the head. The
multiply--adds are counted once a row, the bytes of the matrix once a pass, even if you ask again for every single row.

@<From hidden states to logits@>=
bool model_logits(struct engine *e, const struct model *lm, struct pass *p,
  const size_t *which, size_t n, float *logits, struct error *why)
{
  size_t d = p->d_model, v = lm->config.vocab_size;
  const struct buffers *b = p->memory;
  for (size_t i = 0; i < n; i++)
    if (which[i] >= p->n)
      return error_say(why, "logits of row %zu; wanted: a row below %zu",
        which[i], p->n);
  if (n == 0)@+ return true;
  @<Allocate |x| for the rows and |y| for their logits@>@;
  if (ok)@+ @<Norm the rows |which| and multiply them by the head@>@;
  if (!b->is_host)@+ b->release(b, p->m, y);
  b->release(b, p->m, x);
  if (!ok)@+ return false;
  e->c->madds_head += (uint64_t) n * d * lm->config.vocab_size;
  if (!p->head_read)@+ e->c->weight_bytes_read += lm->head_bytes;
  p->head_read = true;
  return true;
}

@ On a processor the head writes where you want the logits. A device (\cref{cuda}) has memory of its own, and the logits are fetched from there.

@<Allocate |x| for the rows and |y| for their logits@>=
float *x = b->alloc(b, p->m, MEMORY_ACTIVATIONS, n, d * sizeof *x, why);
float *y = b->is_host ? logits : NULL;
if (x != NULL && !b->is_host)
  y = b->alloc(b, p->m, MEMORY_ACTIVATIONS, n, v * sizeof *y, why);
bool ok = x != NULL && y != NULL;

@ When you ask the head for logits, the pass is over and the caller's modes are back. The head sets the standard modes for its own steps.

@<Norm the rows |which| and multiply them by the head@>=
{
  struct float_modes modes;
  float_modes_begin(&modes);
  e->k->gather(e, p->hidden, d, which, n, x);
  e->k->normalize(e, &lm->final_norm, x, n, d, x);
  kernels_multiply(e, &lm->head, 1, x, n, &y);
  if (!b->is_host)@+ b->get(b, logits, y, n * v * sizeof *y);
  logits_finish(&lm->config, logits, n * v);
  float_modes_end(&modes);
  ok = b->working(b, why);
}

@ How would you evaluate a text? The naive way, and for the next chapter the only one, is to put everything through from
the beginning, in one pass. The context is checked before anything is thrown away; a text that is too long leaves the store as it was.

@<From hidden states to logits@>=
static bool naive_pass(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, struct pass **p, struct error *why)
{
  *p = NULL;
  if (n > s->n_positions)
    return error_say(why, "the text has %zu tokens;"@| " wanted: at most %"@|
      PRIu32 ", the model's"@| " context", n, s->n_positions);
  struct row *rows = memory_alloc(s->m, MEMORY_ACTIVATIONS, n, sizeof *rows, why);
  if (rows == NULL)@+ return false;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) i, ids[i] }@];
  store_clear(s);
  bool ok = model_forward(e, lm, s, rows, n, p, why);
  memory_free(s->m, rows);
  return ok;
}

@ The pass is closed as soon as its logits are out; its hidden states are not needed again.

@<From hidden states to logits@>=
bool model_evaluate(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, const size_t *which, size_t wanted,
  float *logits, struct error *why)
{
  struct pass *p;
  bool ok = naive_pass(e, lm, s, ids, n, &p, why)
    && model_logits(e, lm, p, which, wanted, logits, why);
  pass_close(p);
  return ok;
}

@ The header with the watcher is \.{pass.h}; the functions above are declared in \.{unwoven/model/forward.h}.

@(pass.h@>=
/** what a forward pass leaves behind, and what it shows on its way to a caller who watches it.

   A pass belongs to its caller, who closes it; its memory is that of the store it went through,
   but it needs neither store nor model to be closed. */
#ifndef INCIPIT_PASS_H
#define INCIPIT_PASS_H
#include "model/kernel.h"
@<What a pass leaves behind@>@;
@<A watcher@>@;
#endif

@ The forward pass itself is one file.

@(forward.c@>=
/** one forward pass, and the logits of its rows.

   Each step calls kernels through the table of the engine and knows nothing of how they work, nor
   of where the store keeps its rows. What surrounds the steps, checks and arrays and watchers, is
   in pass.c, which never calls back. Counters are increased where the cost is paid. */
#include <inttypes.h>
#include <string.h>
#include "model/work.h"
#include "safetensors/tensor_file.h"
@;@#
@<Multiply all rows, some at a time@>@;
@<Turn ids into rows@>@;
@<The first half of a layer: attention@>@;
@<The second half of a layer: the MLP@>@;
@<Put the rows through all layers@>@;
@<Run a pass@>@;
@<From hidden states to logits@>@;
@<Add up the log-probabilities of a text@>@;

@* The probability of a text. \label{sec:chance}
A model gives you the next token. How likely is a whole text? For any number of tokens, the definition of
conditional probability, applied again and again, gives
\begin{equation}\label{eq:chain}
P(t_1t_2\ldots t_n)=P(t_1)\,P(t_2\mid t_1)\,P(t_3\mid t_1t_2)\cdots P(t_n\mid t_1\ldots t_{n-1}).
\end{equation}
This is the \emph{chain rule}. Each factor is one entry of one row's softmax, and one pass makes all rows. The first needs a convention, because you
must give a model at least one token: we put the token that ends a text before it, since that is what a text follows in training.
No table of probabilities could replace the model: the number of texts of six tokens of GPT-2 has \val{claim.S2-15} digits.
@^chain rule@>@^conditional probability@>

Do these products behave like probabilities? We tried it. For the four words of the hand calculation you can write down every text of four tokens: there are $4^4=$ \val{chain.texts}, and
their probabilities sum to \val[9]{claim.S1-03}.\lab{lab:chance} The proof is one line: sum over the last token, and the last factor becomes 1; sum over the one before, and so on.
No factor exceeds 1, so a text is never likelier than its least likely token. The experiment checks that as well, and finds it in \val{claim.S2-20} of the \val{chain.texts} texts.

@ For \tok{The}\tok{\ cat}\tok{\ sat}, given the end of another text, the built-in model says
$$\val[4]{text.factor.1}\times\val[4]{text.factor.2}\times\val[4]{text.factor.3}\approx\val[5]{text.product},$$
which is below its smallest factor, \val[4]{text.smallest}. The logarithm is the sum \val[3]{text.log}. With long texts you have to add logarithms. Five \given{hundred}
factors of \given{0.15} multiply to a number with more than four \given{hundred} zeros after the point, far below the smallest positive
double: the product is \val{under.product}, and its logarithm, added up, a harmless \val[2]{claim.S2-04}.


@ One pass makes all rows, and row |i| has seen exactly the tokens up to |i|: its log-softmax at the next token is the next term of the sum. If a logit is not finite, the sum would mean nothing. Then the function fails and names the token.

@<Add up the log-probabilities of a text@>=
static bool one_logprob(struct engine *e, const struct model *lm, struct pass *p,
  size_t i, uint32_t next, float *logits, double *logprob, struct error *why)
{
  uint32_t vocab = lm->config.vocab_size;
  if (!pass_is_finite(lm, p, i, why) || !model_logits(e, lm, p, &i, 1, logits, why))
    return false;
  for (uint32_t v = 0; v < vocab; v++)
    if (!(logits[v] - logits[v] == 0))
      return error_say(why, "%s: the logit of token"@| " %" PRIu32
        " after row %zu is not finite;"@| " wanted: a number",
        tensor_file_path(lm->weights), v, i);
  e->k->log_softmax(e, logits, 1, vocab, logprob);
  logprob[0] = logprob[next];
  return true;
}

@ The log-softmax needs an array for the whole vocabulary, and so do the logits; both are allocated
once. We ask the head for one row at a time and keep a single number of its answer: all logits of a long text would be many times its hidden states.

@<Add up the log-probabilities of a text@>=
bool model_logprobs(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, double *logprob, double *sum, struct error *why)
{
  struct pass *p = NULL;
  size_t vocab = lm->config.vocab_size;
  struct arena d = @[{ .m = s->m }@];
  float *logits = arena_alloc(&d, MEMORY_ACTIVATIONS, vocab, sizeof *logits, why);
  double *all = arena_alloc(&d, MEMORY_ACTIVATIONS, vocab, sizeof *all, why);
  bool ok = !d.refused && naive_pass(e, lm, s, ids, n, &p, why);
  *sum = 0;
  if (ok)@+ logprob[0] = 0;
  for (size_t i = 0; i + 1 < n && ok; i++) {
    ok = one_logprob(e, lm, p, i, ids[i + 1], logits, all, why);
    if (ok)@+ logprob[i + 1] = all[0], *sum += all[0];
  }
  pass_close(p);
  arena_free(&d);
  return ok;
}

@ Equation \eqref{eq:chain} begins at the left because text is written so. The same definition works in any order of the tokens: last
first, or the middle one first. There are models that do this, and they must be told which place is to be filled.
A model that writes from left to right need not be told, and what it has read stays the beginning of the text while the text grows.
@^order of tokens@>

Not all models of text use the chain rule. \emph{Masked} models \cited{Devlin 2019} guess what has been covered up, each covered token by itself from all that is visible; the
guesses are not factors of one probability, so such models read well and write badly. \emph{Diffusion} models of text \cited{Austin 2021} begin with
a text of nothing but masks or noise, and improve all of it at once, a few dozen times. \emph{Consistency} models \cited{Song 2023} learn to take many such steps in one, and
\emph{non-autoregressive} translators wrote all words of a sentence at once before that. They pay in other ways: tokens that are chosen
at the same time do not know of each other, and agree only through further passes. This book is about \emph{autoregressive} models, which write from left to
right, because what you can talk to today is mostly of that kind.
@^masked models@>@^diffusion@>@^consistency models@>@^non-autoregressive models@>@^autoregressive@>

@* Which row chooses the tenth token. \label{sec:tenth}\label{sec:modeltutorials}
Which row's logits choose token 10? Row 9, counting from 1: the last row that exists. Row 10 is made of token
10, and cannot help to choose it. It is easy to get this wrong by one, because the row of a token and the guess at it are so often
drawn one above the other. You can settle it with a test: put another token in place 10, and see which rows change.

We did so with sixteen random tokens,\lab{lab:tenth} in a model with random numbers: \val{tenth.before} of the rows 1 to 9 change and
\val{tenth.after} of the rows 10 to 16. So the logits for token 10 did not change; those for token 11 did, and so did all that follow. Every row is
a function of the tokens up to its own, and of no other. Whether a model plans ahead is another question, which this test does not decide: a row may well carry
numbers that matter only ten tokens later, but it has no access to a token that has not been chosen. Row 10 looks at \val{claim.S0-28} keys, one of them its own.

\begin{claimed}{S2-30}
the tenth token is chosen from row 9: changing token 10 left \val{claim.S2-30} rows of 9 as they were, row 9 among them.
Row 10, in our count, contains the answer.
\end{claimed}

\begin{claimed}{S2-29}
a model without the mask also writes one token at a time: a token that has not been chosen cannot be read. What the mask gives
is that rows, once made, stay as they are.
\end{claimed}

@* The check. \label{sec:modelcheck}
How do you know that all of this is right? First, by hand. The numbers of the boxes are in a |struct toy|, around which \.{unwoven/model/toy.c} puts a |struct model|, as if it had come out of a file. The program runs the engine itself and not a copy of it that was made for the occasion. |toy_print| uses the plain kernels and prints what we have found by hand, line by line, then what the model says after each row of the prompt, and
after its own first word; that takes position 3, which is $(-1,1)$. The arrow points to the likeliest token. \label{sec:toy}

@c
#include <math.h>
#include <stdio.h>
#include "functions/numbers.h"
#include "model/toy.h"
@;@#
@<Attention in a dozen lines@>@;
@<Mix the values of the last row once more@>@;
int main(void)
{
  static struct toy toy;
  struct memory m = @[{ .fail_at = 0 }@];
  struct counters c = @[{ .passes = 0 }@];
  struct error why;
  struct engine e = @[{ .k = &kernels_plain, .c = &c }@];
  toy_make(&toy);
  struct store *s = array_store_open(&m, &toy.lm.config, &why);
  bool ok = s != NULL && toy_print(&e, &toy, s, &why)
    && print_simply(&e, &toy, s, &why);
  store_close(s);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ The attention in a dozen lines gets the queries, keys and values that a watcher has seen in the engine's pass, of both heads of the last row.

@<Mix the values of the last row once more@>=
static bool print_simply(struct engine *e, const struct toy *y, struct store *s,
  struct error *why)
{
  static const uint32_t text[3] = @[{ 0, 1, 2 }@];
  struct toy_trace a;
  float o[TOY_WIDTH];
  if (!toy_look(e, y, s, text, 3, &a, why))@+ return false;
  for (size_t at = 0; at < TOY_WIDTH; at += 2)
    attend_simply(a.x[TAP_QUERY] + 2 * TOY_WIDTH + at, a.x[TAP_KEY] + at,
      a.x[TAP_VALUE] + at, 3, 2, TOY_WIDTH, o + at);
  printf("\n%-24s", "mixed in a dozen lines");
  for (int i = 0; i < TOY_WIDTH; i++)@+ printf("%6.2f", (double) o[i]);
  printf("\n");
  return true;
}

@ The numbers that the program prints are those of the boxes, to the last digit, and the dozen lines mix the same values as the kernel.

A toy proves little about a real model, so the tests go further. A second implementation, written from the papers in double precision, shares no line with the engine: small random models of every family get the same logits from both, within the rounding. And \.{tests/golden/make.py transformers} asks Hugging Face's library, for which most of these models were published, what it makes of the same files.

\checkpoint{build/out/model.txt}{what the program of this chapter prints}

@* What a pass costs. \label{sec:passcost}
We put a single row through the built-in model, and then \given{100} rows, and read the counters (\cref{tab:passcost}).\lab{lab:passcost} A row costs the same number of FLOPs in the matrices whether it comes alone or in company. Attention grows with the pairs: row $i$, counted from 0, sees $i+1$ positions, so $n$ rows from an empty store have ${1\over2}n(n+1)$ pairs. The bytes of the weights grow only by the embedding's vectors.

\begin{table}
\tabcaption{tab:passcost}{Two passes of the built-in model from an empty store, counted. Logits are made for the last row only. FLOPs are twice the multiply--adds. The bytes of weights are those of the layers, of the head, and of the vectors that were looked up; the gain of the last norm is left out.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rr@@{}}
\tabhead{rows of the pass} & \val{cost.1.rows} & \val{cost.100.rows}\\\midrule
FLOPs in the layers' matrices & \val{cost.1.linear} & \val{cost.100.linear}\\
FLOPs in attention & \val{cost.1.attention} & \val{cost.100.attention}\\
FLOPs in the head & \val{cost.1.head} & \val{cost.100.head}\\
bytes of weights read & \val{cost.1.bytes} & \val{cost.100.bytes}\\
bytes of keys and values written & \val{cost.1.written} & \val{cost.100.written}\\
FLOPs for each byte of weights & \val[1]{cost.1.intensity} & \val[1]{cost.100.intensity}
\end{tabular*}
\end{table}

Look at the last line. A processor can do many operations in the time in which it reads one byte from memory, dozens or hundreds. With \val[1]{cost.1.intensity} FLOPs a byte it waits for memory, and with \val[1]{cost.100.intensity} it computes. So \given{100} rows in one pass cost much less time than \given{100} passes of one row, and a good part of what follows consists of finding more rows for a pass: those of a prompt
or of many users (\cref{phases}), or guessed tokens that one pass checks together. How long a pass takes is measured in \cref{phases}. First comes the loop: one pass gives you one token, and to get a text you have to ask again.

\begin{claimed}{S0-26}
in GPT-2 small the matrices of a layer cost more until a row sees \val{claim.S0-26} positions, and its context has \val{gpt2.context}.
\end{claimed}

@* Experts: a router, and few of many MLPs. \label{sec:experts}
Why does a model of \given{thirty thousand million} weights write as fast as one of three? Because no token uses them all. In most models every row goes through the whole MLP, whatever it is about. In a \emph{mixture of experts} \cited{Shazeer 2017; Fedus 2022} a layer has many MLPs, called \emph{experts}, and a small matrix, the \emph{router}, which chooses a few of them for each row. Only these compute the row. An expert that no row of the pass has chosen is not even read. So such a model has two sizes. It takes as much memory as all of its weights, and as much time as the few that are \emph{active}. Mixtral \cited{Jiang 2024} has eight experts in each layer and uses two; Qwen3-30B-A3B has \given{128} and uses eight.
@^mixture of experts@>@^expert@>@^router@>@^Mixtral@>@^active weights@>

The name promises more than it keeps. Nobody tells an expert what it is for; router and experts are trained together, and one usually cannot say what an expert knows. Nor does a text choose: each row does, anew in every layer.

@ The router is a linear layer with one output for each expert. A softmax over all of these logits gives each expert a share, and the row takes the $k$ experts with the largest logits. For a row $y$ that comes out of the norm, with the router $W_r$ and experts $f_0, f_1, \ldots$, each of which is a gated MLP like that of \cref{sec:mlp}, the layer adds
\begin{gather*}
\sum_{e\in C} w_e\,f_e(y),\qquad s=\hbox{softmax}(W_ry),\qquad w_e=s_e\Big/\sum_{j\in C}s_j\quad\hbox{or}\quad w_e=s_e,
\end{gather*}
where $C$ are the chosen. With the first kind of weights those of the chosen sum to 1; with the second they sum to less. A model was trained with one kind or the other, and the switch |chosen_normed| says which. Here an engine can be wrong and still write good sentences, because all that changes is how much the layer adds. Two experts may have the same logit, most easily in a file of few bits. Then we take the one with the lower number.

\begin{byhand}{four experts, two chosen, one row}
The row is $y=(1,2)$, and the router's rows are $(0,1)$, $(1,0)$, $(1,1)$ and $(-1,0)$. So the logits are $2,1,3,-1$, and experts 2 and 0 are chosen. The exponentials of $3-3$, $2-3$, $1-3$ and $-1-3$ are $1$, $0.368$, $0.135$ and $0.018$, with the sum $1.521$; the shares of the chosen are $0.66$ and $0.24$. Expert 0 answers $(1,-1)$, expert 2 answers $(2,0)$, so the layer adds $w_0\cdot(1,-1)+w_2\cdot(2,0)$.

\medskip
\begin{tabular}{@@{}lrrr@@{}}
& $w_0$ & $w_2$ & added\\\midrule
shares as they are & $0.24$ & $0.66$ & $(1.56,-0.24)$\\
divided by their sum, $0.90$ & $0.27$ & $0.73$ & $(1.73,-0.27)$
\end{tabular}
\end{byhand}

@ In which order are the answers added? The order is part of the definition, as in every sum of this book (\cref{sec:order}). Two orders are natural: by rank, the best expert first, or by the experts' numbers. We take the numbers, rising. Why? We want to read each expert once, for all of its rows, so we go through the experts one after another. In this order each answer can be added as soon as it is there; by rank, each row would have to keep its answers until the last expert had been read. What a row adds, and in which order, depends on the row alone, so the other rows of the pass cannot change its bits. The sum begins with zero, and each product and each sum is rounded, as in the published programs.

An expert is three matrices. Some families have one more, the \emph{shared} expert, which computes every row. How much of its answer a row takes is worked out for each row: a vector times the row gives one number, and the logistic function turns it into a weight between 0 and 1.
@^shared expert@>

@(experts.h@>=
/** the experts of a layer: a router and many MLPs, few of which compute a row.

   The matrices belong to the files, the list of experts to the model. */
#ifndef INCIPIT_EXPERTS_H
#define INCIPIT_EXPERTS_H
#include "model/settings.h"
struct expert_mlp {@+ struct matrix up[2], down;@+ };
  /* the gate is |up[0]|; |[d_expert][d_model]| each, and |[d_model][d_expert]|. Some files have gate
     and up as one matrix of |2*d_expert| outputs, which alternate; then |up[1]| is empty */
static inline size_t expert_ups(const struct expert_mlp *x)
{@+ return x->up[1].weight.data == NULL ? 1 : 2;@+ }
  /* in how many matrices gate and up are */
struct mixture {
  struct matrix router; /* |[n_experts][d_model]| */
  struct expert_mlp *expert; /* |[n_experts]| */
  void *owned; /* the experts' matrices, if the model has made them from something else; or null */
  struct expert_mlp shared; /* of |d_shared| numbers; and */
  struct matrix shared_gate; /* |[1][d_model]|: how much of it a row takes */
};
  /* what a layer has in the place of its MLP */
struct expert_choice {@+ uint32_t at, expert;@+ float weight;@+ };
  /* an expert that row |at| of the pass has chosen */
void experts_choose(const struct model_config *c, const float *logit, const double *share,
  struct expert_choice *own);
  /* the |n_chosen| experts of a row by their logits and shares, in rising order of their numbers */
#endif

@ We keep the best $k$ in a list, the largest logit first. A new logit starts at the end of the list and moves up past all that are smaller. It does not pass an equal one, so of two equal logits the earlier stays in front. And if a logit is NaN? Every comparison with it is false, but the list still gets its $k$ entries. That is all we need, since such a row will be refused.

@<Choose the experts of a row@>=
static void keep_best(const float *logit, uint32_t n, uint32_t k, struct expert_choice *best)
{
  uint32_t held = 0;
  for (uint32_t e = 0; e < n; e++) {
    uint32_t at = held;
    while (at > 0 && logit[e] > logit[best[at - 1].expert])@+ at--;
    if (at == k)@+ continue;
    if (held < k)@+ held++;
    for (uint32_t i = held - 1; i > at; i--)@+ best[i] = best[i - 1];
    best[at].expert = e;
  }
}

@ For the sum of the answers we need the list in the order of the experts' numbers. Then the shares of the chosen become their weights.

@<Choose the experts of a row@>=
static void order_by_number(struct expert_choice *list, uint32_t k)
{
  for (uint32_t i = 1; i < k; i++) {
    struct expert_choice one = list[i];
    uint32_t at = i;
    for ( ; at > 0 && list[at - 1].expert > one.expert; at--)@+ list[at] = list[at - 1];
    list[at] = one;
  }
}
void experts_choose(const struct model_config *c, const float *logit, const double *share,
  struct expert_choice *own)
{
  double sum = 0;
  keep_best(logit, c->n_experts, c->n_chosen, own);
  order_by_number(own, c->n_chosen);
  for (uint32_t i = 0; i < c->n_chosen; i++)@+ sum += share[own[i].expert];
  for (uint32_t i = 0; i < c->n_chosen; i++)
    own[i].weight = (float) (share[own[i].expert] / (c->chosen_normed ? sum : 1));
}

@ The router multiplies all rows at once, like any matrix. Then each row chooses. Its logits are no longer needed, so their place gets the row's weights, with zeros for the experts that it has not chosen. This is what a watcher (\cref{sec:forward}) sees.

@<Route all rows@>=
static void multiply(struct work *w, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  for (size_t r = 0, here; r < rows && w->goes_on; r += here) {
    float *part[2];
    here = work_rows_at_once(w, list, n, w->n - rows + r);
    for (size_t i = 0; i < n; i++)@+ part[i] = y[i] + r * list[i].out;
    kernels_multiply(w->e, list, n, x + r * list->in, here, part);
    work_ask(w);
  }
}
static void route(struct work *w, const struct mixture *x)
{
  const struct model_config *c = &w->lm->config;
  double share[EXPERTS_MOST];
  multiply(w, &x->router, 1, w->normed, w->n, &w->router);
  for (size_t r = 0; r < w->n && w->goes_on; r++) {
    float *logit = w->router + r * c->n_experts;
    struct expert_choice *own = w->chosen + r * c->n_chosen;
    w->e->k->softmax(w->e, logit, 1, c->n_experts, share);
    experts_choose(c, logit, share, own);
    memset(logit, 0, c->n_experts * sizeof *logit);
    for (uint32_t i = 0; i < c->n_chosen; i++)
      own[i].at = (uint32_t) r, logit[own[i].expert] = own[i].weight;
  }
}

@ The choices are in the order of the rows, and we want them in the order of the experts. Suppose three rows have chosen experts 2, 0 and 2. We count: one choice for expert 0, none for 1, two for 2. So in the new list those of expert 0 begin at place 0, those of expert 1 and those of expert 2 at place 1, and one more pass puts each choice into its place. This is \emph{counting sort}. In the end |from[e]| is where the choices of expert |e| begin. During that last pass the next free place of expert |e| is kept in |from[e+1]|: it starts where the expert begins, and stops where the next one does.
@^counting sort@>

@<Gather the choices by expert@>=
static void gather_by_expert(struct work *w, size_t from[EXPERTS_MOST + 2])
{
  size_t n = w->lm->config.n_experts, all = w->n * w->lm->config.n_chosen;
  memset(from, 0, (n + 2) * sizeof *from);
  for (size_t i = 0; i < all; i++)@+ from[w->chosen[i].expert + 2]++;
  for (size_t e = 1; e < n + 2; e++)@+ from[e] += from[e - 1];
  for (size_t i = 0; i < all; i++)
    w->by_expert[from[w->chosen[i].expert + 1]++] = w->chosen[i];
}

@ An expert computes only the rows that have chosen it. We copy them side by side, so the kernels get a block of rows as always and need to know nothing of experts. How many rows there are differs from pass to pass, but it changes no bit, since a kernel computes each row from its own numbers. The answer, times the weight of the choice, is added to its row. |work_gate| is the curve and the gate, as in every gated MLP but for one family (\cref{sec:clamped}).

@<Compute the rows of the experts@>=
static void run_expert(struct work *w, const struct expert_mlp *x, const float *in, size_t rows)
{
  size_t ups = expert_ups(x);
  multiply(w, x->up, ups, in, rows, (float *[]) @[{ w->inner, w->up }@]);
  work_gate(w, ups == 1, rows * x->down.in);
  multiply(w, &x->down, 1, w->inner, rows, &w->answered);
}
static void add_answer(const struct work *w, size_t r, float weight, size_t answer)
{
  size_t d = w->lm->config.d_model;
  float *to = w->added + r * d, *from = w->answered + answer * d;
  for (size_t j = 0; j < d; j++)@+ to[j] += weight * from[j];
}

@ Now the experts take their turns. We skip an expert that no row has chosen, and do not count its bytes, because they are not read.

@<Compute the rows of the experts@>=
static uint64_t bytes_of(const struct matrix *m)
{
  return (uint64_t) m->out * weight_row_bytes(m->weight.type, m->in)
    + (m->bias.data == NULL ? 0 : weight_row_bytes(m->bias.type, m->out));
}
static void run_chosen(struct work *w, const struct mixture *x)
{
  size_t d = w->lm->config.d_model, from[EXPERTS_MOST + 2];
  gather_by_expert(w, from);
  for (uint32_t e = 0; e < w->lm->config.n_experts && w->goes_on; e++) {
    const struct expert_mlp *one = &x->expert[e];
    const struct expert_choice *list = w->by_expert + from[e];
    size_t rows = from[e + 1] - from[e];
    if (rows == 0)@+ continue;
    for (size_t i = 0; i < rows; i++)
      memcpy(w->gathered + i * d, w->normed + list[i].at * d, d * sizeof (float));
    run_expert(w, one, w->gathered, rows);
    for (size_t i = 0; i < rows; i++)@+ add_answer(w, list[i].at, list[i].weight, i);
    w->e->c->weight_bytes_read += bytes_of(&one->up[0]) + bytes_of(&one->up[1])
      + bytes_of(&one->down);
  }
}

@ The shared expert comes last. It computes all rows, which lie side by side already.

@<Compute the rows of the experts@>=
static void run_shared(struct work *w, const struct mixture *x)
{
  run_expert(w, &x->shared, w->normed, w->n);
  multiply(w, &x->shared_gate, 1, w->normed, w->n, &w->router);
  for (size_t r = 0; r < w->n && w->goes_on; r++)
    add_answer(w, r, 1.0f / (1.0f + num_expf(-w->router[r])), r);
}

@ So the second half of such a layer differs from that of \cref{sec:forward} only in its middle. It works in the host's memory; the kernels of a device refuse a model that has experts, by the name of the setting.

@(experts.c@>=
/** the second half of a layer that has experts in the place of its MLP.

   The answers of a row's experts are added in rising order of the experts' numbers; nothing depends
   on which other rows are in the pass. */
#include <string.h>
#include "functions/numbers.h"
#include "model/experts.h"
#include "model/work.h"
@;@#
@<Choose the experts of a row@>@;
@<Route all rows@>@;
@<Gather the choices by expert@>@;
@<Compute the rows of the experts@>@;
void work_experts(struct work *w, const struct model_layer *l, uint32_t layer)
{
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, d = c->d_model;
  work_norm(w, &l->mlp_norm, w->normed);
  work_tap(w, TAP_MLP_NORM, layer, w->normed, d);
  route(w, l->experts);
  work_tap(w, TAP_EXPERTS, layer, w->router, c->n_experts);
  memset(w->added, 0, n * d * sizeof *w->added);
  if (w->goes_on)@+ run_chosen(w, l->experts);
  if (c->d_shared > 0 && w->goes_on)@+ run_shared(w, l->experts);
  work_branch(w, &l->mlp_post);
  work_tap(w, TAP_MLP, layer, w->added, d);
  w->e->k->add(w->e, w->x, w->added, n * d);
  work_tap(w, TAP_LAYER, layer, w->x, d);
}

@ What does it cost? A row is multiplied with the router and with $k$ of the $E$ experts, so the FLOPs of a token are those of the active weights. Of the \val[1]{sparse.qwen3-30b-a3b.all} \given{thousand million} weights of Qwen3-30B-A3B a token uses \val[1]{sparse.qwen3-30b-a3b.active}, which is \val[0]{sparse.qwen3-30b-a3b.share}~\%; Mixtral uses \val[1]{sparse.mixtral-8x7b.active} of \val[1]{sparse.mixtral-8x7b.all}, OLMoE \val[1]{sparse.olmoe-1b-7b.active} of \val[1]{sparse.olmoe-1b-7b.all}.\lab{lab:bills} A single text waits for memory (\cref{sec:passcost}), and of the weights' bytes it needs the same small share. That answers our question.

@ And a batch? Each row brings its own choice. If rows chose at random, one row would leave out a given expert with the probability $1-k/E$, and $n$ rows would all leave it out with the probability $(1-k/E)^n$. So $n$ rows need $E\bigl(1-(1-k/E)^n\bigr)$ different experts on average. In a layer of \given{128} with eight for each row, four rows need \val[1]{experts.4.expected}, and \given{64} rows \val[1]{experts.64.expected}; counted, with random logits, \val[1]{experts.4.counted} and \val[1]{experts.64.counted} (\cref{fig:touched}).\lab{lab:experts}
Real routers are not random, and the rows of one text choose more alike. But the curve has the same shape. The first rows of a batch share almost nothing, so four users cost nearly four times the bytes of one, where a dense model would read its weights once for all of them. From some dozens of rows on, as in a prompt, all experts are read, and only then is a further row free. Each expert then has about $nk/E$ rows. To give a matrix as many rows as a dense model does, a pass needs $E/k$ times as many.

\fig{touched}{fig:touched}{Different experts of a layer that some rows choose, of \given{128} with eight for each row. The line is the formula, the points are counted, with random logits.}{A curve over the rows of a pass, which double from 1 on. It begins at 8 experts, rises almost in proportion to the rows at first, reaches half of all experts at 11 rows, and is flat at all experts from the eighth point on. Nine points lie on the curve.}

@ How do we know that it is right? Six small models in \.{tests/golden} have experts, one of them a shared expert as well, and a second implementation, in double precision, gives the same logits. A watcher checks which experts are chosen, with which weights. Rows of several texts go through in random schedules, with every table of kernels and any number of workers, and the bits are those of each text alone. And the counters are compared with sums over the experts that the watcher has seen.

@* Exercises. \label{sec:modelexercises}
Exercises 6, 7 and 10 change the engine; the command builds it anew and judges.

\begin{exercises}
\exercise{check}{ex:model.sum}{Add $\given{1.00}$, $\given{0.004}$, $\given{0.004}$, $\given{0.004}$, $\given{0.004}$ in the machine with three digits, from the left, from the right, and in
two lanes (terms 1, 3, 5 and 2, 4, then the fold).}{\texttt{make exercise-02-1}}{\given{1.00}, \given{1.02} and \given{1.01}: three answers to one sum.}
\exercise{check}{ex:model.swap}{Exchange \tok{the} and \tok{\ cat} in the hand calculation. Which of the heads notices, and what is the probability of the full
stop now, to a hundredth?}{\texttt{make exercise-02-2}}{A looks at tokens and does not notice. B looks at the position before its own, where \tok{the} now stands; its mixed values become
$(\given{0.40},\given{0.66})$, and the full stop gets \given{0.67}.}
\exercise{think}{ex:model.order}{How many orders of factorization does a text of $n$ tokens have, and what do all of them give for the sum over all texts?}{\texttt{make
exercise-02-3}}{$n!$, and each gives 1. For four tokens 24.}
\exercise{think}{ex:model.madds}{A layer has $d=64$, 4 heads for queries and 2 for keys and values, all of $d_h=16$, an inner width of \given{192} with a gate. How many multiply--adds
do its matrices cost for one row, and from how many visible positions on does attention cost more?}{\texttt{make exercise-02-4}}{$d^2+2\cdot d\cdot32+d^2=\given{12{,}288}$ for attention's four
matrices and $3\cdot64\cdot192=\given{36{,}864}$ for the MLP: \given{49,152}. Attention costs $2\cdot64$ for each position, so from \given{385} on.}
\exercise{think}{ex:model.lanes}{All terms of a dot product are the same, $x\cdot w$. For which least number of terms, and which $x$ and $w$, does it come out as
$-0$?}{\texttt{make exercise-02-5}}{The lanes begin with $+0$, and $+0+(-0)=+0$; so every lane must have become $-0$, which takes sixteen terms, each a negative product
too small for a float: $x=-2^{-\given{100}}$, $w=2^{-\given{100}}$.}
\exercise{check}{ex:model.window}{Let every row see only the last eight positions, whatever the settings say: change |segment_range| (\cref{sec:rowwindows}). Which rows change, and which do not?}{\texttt{make
exercise-02-6}}{Rows 0 to 7 do not change; the others do.}
\exercise{check}{ex:model.noscale}{Leave the scale out of attention where the model is put together. What changes in the golden logits, and in the counters?}{\texttt{make
exercise-02-7}}{All logits after the first row change; the counters count the same.}
\exercise{think}{ex:model.gelu}{The GELU with the hyperbolic tangent approximates the exact one. Where do they differ most, to a tenth, and by how many ten-thousandths?}{\texttt{make exercise-02-8}}{At \given{2.7}, by 5: in the fourth decimal of a number that is nearly \given{2.7} itself.}
\exercise{think}{ex:model.reach}{Every layer of a model has a window of $w$ positions. How far before the last row is the oldest token that it can know
of, in a model of $l$ layers?}{\texttt{make exercise-02-9}}{$l(w-1)$: each layer reaches $w-1$ positions further back than the one above it.}
\exercise{check}{ex:model.nope}{Let every second layer, from the second on, rotate neither queries nor keys. Such models exist. Can they still tell positions
apart?}{\texttt{make exercise-02-10}}{The other layers do it for them, and the mask does a little as well: the first row sees one key, the tenth ten.}
\exercise{think}{ex:model.experts}{A layer has 64 experts and chooses eight. From how many rows on does a pass need more than half of the experts, if rows choose at random? And with one expert for each row?}{\texttt{make exercise-02-11}}{From six on: $(1-{1\over8})^5$ is \given{0.513} and $(1-{1\over8})^6$ \given{0.449}. With one for each row from \given{45} on.}
\exercise{check}{ex:model.router}{In the case by hand of \cref{sec:experts} let the row be $(2,1)$. Which experts are chosen, and with which weights, to a hundredth, if they are divided by their sum?}{\texttt{make exercise-02-12}}{Experts 1 and 2, with \given{0.27} and \given{0.73}: the logits are $1,2,3,-2$.}
\end{exercises}
