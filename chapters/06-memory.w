@i types.w
@s kv_format int
@s cache_options int
@s cache_state int
@s tensor_line int
@s named_shape int
@s perplexity int

\chapterquestion{Will it fit?}
@** Memory: weights, cache, activations, and what fits.
\incipit{B}{efore you} run a model you want to know whether it fits into the memory of your machine, and some of the answers in circulation are off by a factor of \val[0]{big.factor}. Yet few questions are easier to answer. Everything that a model keeps while it writes is an array, and the size of an array is a product of a few integers from the model's settings. You need the \emph{weights} once (for a while twice, if you pack them). You need a \emph{KV cache} for each text, and it grows with the text. And you need \emph{activations}, the arrays in which a pass computes: they are small, and freed when the pass ends.

\begin{byhand}{a thousand bytes}
A model has 2 layers, 4 heads of queries and 2 heads of keys and values, with 3 numbers in a head. A number takes 2 bytes, all weights take 400, and the memory has 1000.

\medskip
\begin{tabular}{@@{}ll@@{}}
key and value, in one layer & $2\cdot2\cdot3\cdot2=24$ bytes\\
a token, in all layers & $2\cdot24=48$ bytes\\
left for the cache & $1000-400=600$ bytes\\
tokens that fit & $600\div48=12.5$, so 12\\
with 4 heads of both & $600\div96=6.25$, so 6\\
a window of 5 in one layer & $20\cdot24+5\cdot24=600$, so 20
\end{tabular}
\end{byhand}

The factors of the first line are key and value, heads, numbers in a head, and bytes in a number. In the last line one layer keeps all 20 tokens, and the other, which has a window, only the last 5. To know all this we computed no key and read no weight.

First we write these products down and compare them, to the byte, with what the program requested from its allocator, and with what the operating system says. Then we ask what you can do if it does not fit: fewer heads of keys and values, a shorter window, fewer rows, shorter numbers. Each of these cuts one factor of one product.

@ The chapter makes two modules. The first, |accounts.h|, computes what a model would need without loading it. It needs only the |model_config| that is read from a model's files. So you can ask it about every model that the engine can load, and also about one that nobody has trained yet. The second module, |formats.h|, has the shorter numbers.

@(accounts.h@>=
#ifndef INCIPIT_ACCOUNTS_H
#define INCIPIT_ACCOUNTS_H
#include "model/forward.h"
#include "accounts/formats.h"
#include "accounts/switched.h"
@<Footprint of the weights@>@;
@<Footprint of the cache@>@;
@<Footprint of a pass@>@;
@<What fits into a budget@>@;
@<Published shapes@>@;
#endif

@* Weights. \label{sec:weightsbill}
We begin with what you cannot do without. The weights are the tensors of the model's file, and their sizes follow from the settings: the width $d$ of the model (|d_model|), the width $f$ of the inside of the MLP (|d_inner|), the number $V$ of tokens in the vocabulary, the width $q$ of a query in all heads (|n_heads*head_dim|), and that of a key in all heads of keys, $k$ (|n_kv_heads*head_dim|). A layer of the Llama family has @^weights@>
\begin{equation}\label{eq:layerweights}
  \underbrace{dq}_{\hbox{\scriptsize queries}}+\underbrace{2dk}_{\hbox{\scriptsize keys, values}}+\underbrace{qd}_{\hbox{\scriptsize output}}+\underbrace{3df}_{\hbox{\scriptsize MLP}}+\underbrace{2d}_{\hbox{\scriptsize norms}}
\end{equation}
numbers; ``output'' is the \emph{output projection}, which takes the results of all heads back to width~$d$. A layer of GPT-2 has two matrices in its MLP instead of three, and a bias for everything. The embedding has $Vd$ numbers. The head has as many again, unless it is \emph{tied}, which means that it is the embedding.
@^output projection@>@^tied weights@>

@<Footprint of the weights@>=
enum { FOOTPRINT_MAX_TENSORS = 18 };
  /* the most kinds of tensors that a model has */
struct tensor_line { const char *name; uint64_t each, times; };
  /* a kind of tensor: the numbers in |each| of them, and how many |times| it occurs */
size_t footprint_tensors(const struct model_config *c,
  struct tensor_line line[FOOTPRINT_MAX_TENSORS]);
  /* lists the kinds of tensors of a model with these settings, in the order of a pass;
     returns the number of kinds */
uint64_t footprint_parameters(const struct model_config *c);
  /* the numbers in all these tensors; the settings must be such that 64 bits can
     count them */
uint64_t footprint_weights(const struct model *lm);
  /* the bytes, as stored, of all tensors that an open model uses */

@ We make a list with a line for each kind of tensor, so that you can print it and see where the memory goes. A bias is one number for each output, so a matrix with a bias counts as a matrix with one more input.

@<List the tensors@>=
struct tensor_list { struct tensor_line *line; size_t n; };
static void enter(struct tensor_list *l, const char *name, uint64_t each,
  uint64_t times)
{
  if (each > 0 && times > 0)
    l->line[l->n++] = (struct tensor_line) @[{ name, each, times }@];
}
static uint64_t matrix_of(uint64_t in, uint64_t out, bool bias)
{@+ return (in + bias) * out;@+ }

@ These are the terms of \eqref{eq:layerweights}, each for all layers at once. Some families also normalize queries and keys head by head (\emph{QK-norm}).
@^QK-norm@>

@<List the tensors@>=
static void enter_layers(struct tensor_list *l, const struct model_config *c)
{
  uint64_t d = c->d_model, f = c->d_inner, n = c->n_layers;
  uint64_t q = (uint64_t) c->n_heads * c->head_dim;
  uint64_t k = (uint64_t) c->n_kv_heads * c->head_dim;
  enter(l, "norms", c->layer_norm ? 2 * d : d, 2 * n);
  enter(l, "queries", matrix_of(d, q, c->qkv_bias), n);
  enter(l, "keys and values", matrix_of(d, k, c->qkv_bias), 2 * n);
  enter(l, "QK-norms", c->qk_norm ? c->head_dim : 0, 2 * n);
  enter(l, "output projection", matrix_of(q, d, c->out_bias), n);
  enter(l, "up and gate", matrix_of(d, f, c->mlp_bias), c->gated ? 2 * n : n);
  enter(l, "down", matrix_of(f, d, c->mlp_bias), n);
}

@ Before the layers come the tables, after them a norm and the head. (The last line mends the list for families that have more norms, or fewer; \cref{sec:switched} tells which.) The number of parameters, by which models are named, is the sum of the list.
@^parameter@>

@<List the tensors@>=
size_t footprint_tensors(const struct model_config *c,
  struct tensor_line line[FOOTPRINT_MAX_TENSORS])
{
  struct tensor_list l = @[{ line, 0 }@];
  uint64_t d = c->d_model;
  enter(&l, "embedding", c->vocab_size * d, 1);
  enter(&l, "positions", c->learned_positions ? c->n_positions * d : 0, 1);
  enter_layers(&l, c);
  enter(&l, "last norm", c->layer_norm ? 2 * d : d, 1);
  enter(&l, "head", c->tied ? 0 : c->vocab_size * d, 1);
  return footprint_switched_tensors(c, line, l.n);
}
uint64_t footprint_parameters(const struct model_config *c)
{
  struct tensor_line line[FOOTPRINT_MAX_TENSORS];
  uint64_t sum = 0;
  size_t n = footprint_tensors(c, line);
  for (size_t i = 0; i < n; i++) sum += line[i].each * line[i].times;
  return sum;
}

@ \Cref{tab:tensors} adds up the parameters of two models.\lab{lab:bills} Nearly two thirds of a model of 7B are in the MLP. In the smallest GPT-2 nearly a third is the embedding: a small model does well to tie its head.

\begin{table}[htp]
\tabcaption{tab:tensors}{Parameters of two models: the numbers in one tensor, and how many such tensors there are.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
& \multicolumn{2}{c}{GPT-2 small} & \multicolumn{2}{c}{Llama 7B}\\
\tabhead{tensor} & \tabhead{each} & \tabhead{times} & \tabhead{each} & \tabhead{times}\\\midrule
embedding & \val{footprint.gpt2.embedding} & \val{footprint.gpt2.embedding.times} & \val{footprint.llama-7b.embedding} & \val{footprint.llama-7b.embedding.times}\\
positions & \val{footprint.gpt2.positions} & \val{footprint.gpt2.positions.times} & --- & ---\\
norms & \val{footprint.gpt2.norms} & \val{footprint.gpt2.norms.times} & \val{footprint.llama-7b.norms} & \val{footprint.llama-7b.norms.times}\\
queries & \val{footprint.gpt2.queries} & \val{footprint.gpt2.queries.times} & \val{footprint.llama-7b.queries} & \val{footprint.llama-7b.queries.times}\\
keys and values & \val{footprint.gpt2.keys} & \val{footprint.gpt2.keys.times} & \val{footprint.llama-7b.keys} & \val{footprint.llama-7b.keys.times}\\
output projection & \val{footprint.gpt2.output} & \val{footprint.gpt2.output.times} & \val{footprint.llama-7b.output} & \val{footprint.llama-7b.output.times}\\
up and gate & \val{footprint.gpt2.up} & \val{footprint.gpt2.up.times} & \val{footprint.llama-7b.up} & \val{footprint.llama-7b.up.times}\\
down & \val{footprint.gpt2.down} & \val{footprint.gpt2.down.times} & \val{footprint.llama-7b.down} & \val{footprint.llama-7b.down.times}\\
last norm & \val{footprint.gpt2.last} & \val{footprint.gpt2.last.times} & \val{footprint.llama-7b.last} & \val{footprint.llama-7b.last.times}\\
head & tied & & \val{footprint.llama-7b.head} & \val{footprint.llama-7b.head.times}\\
\emph{together} & \val{footprint.gpt2.parameters} & & \val{footprint.llama-7b.parameters} &
\end{tabular*}
\end{table}

@ How many \emph{bytes} is that? In float32 four bytes a number, in 16 bits two; in the block formats of \cref{sec:rowformats}, $34/32$ and $18/32$. The weights of Llama 7B take \val[1]{weights.llama.f32} GB in float32, \val[1]{fits.llama.weights} in 16 bits, and \val[1]{weights.llama.q8} or \val[1]{weights.llama.q4} in the two block formats. A real file often mixes types, so for an open model we take the bytes as stored. The model already has the sum for its layers, because the counters need it (\cref{sec:modelsettings}); we add the tables before the layers, and the norm and the head after them.

@<List the tensors@>=
uint64_t footprint_weights(const struct model *lm)
{
  const struct model_config *c = &lm->config;
  uint64_t d = c->d_model, v = c->vocab_size;
  uint64_t sum = lm->layer_bytes + v * weight_row_bytes(lm->embedding.type, d);
  if (c->learned_positions)
    sum += c->n_positions * weight_row_bytes(lm->positions.type, d);
  sum += weight_row_bytes(lm->final_norm.gain.type, d);
  if (c->layer_norm) sum += weight_row_bytes(lm->final_norm.bias.type, d);
  if (!c->tied) sum += v * weight_row_bytes(lm->head.weight.type, d);
  return sum + footprint_switched_weights(lm);
}

@ Do you need the weights once? \label{sec:packedbill} Not if you pack them: then the kernels have copies of all matrices, in an order that is faster to multiply (\cref{sec:batching}). The copies are in the type of the weights, but the inputs of each matrix are rounded up to a multiple of 16, and its outputs to a multiple of what a tile takes. So the copies need as many bytes as the matrices, or a little more. Does a packed model need twice the memory, then? You would expect it. But each matrix is given back to the system once it has been copied, and only the embedding and the small vectors are still read from the file. \Cref{sec:rss} shows it happen.
@^packed weights@>

@* The KV cache. \label{sec:cachebill}
And what does a token add? Each layer keeps a key and a value of it, in each head of keys and values. Let $L$ be the number of layers, $h$ the number of heads of keys and values, $d_h$ the numbers in a head, and $b$ the bytes in a number. Then a token adds
\begin{equation}\label{eq:tokenbytes}
  2\,L\,h\,d_h\,b
\end{equation}
bytes to the cache. A text of $n$ tokens takes $n$ times as many, a batch of $B$ texts (sequences, as the cache calls them) $nB$ times. Note that $h$ counts heads of keys and values, not of queries. Where the two are equal, $h\,d_h$ is usually the width $d$ of the model, and the formula becomes $2Ldb$. You will often see it in this form. For most models of the last years that is wrong: Llama~2 70B has 64 heads of queries, but only 8 heads of keys and values, which they share in groups of eight.
@^KV cache@>

@ Three details complete the formula. In a block format (\cref{sec:rowformats}) some bytes belong to a whole block; there |weight_row_bytes| takes the place of $d_hb$. Rows come in pages of $P$ rows. And a layer with a sliding window of $W$ rows keeps only the first $S$ rows of the text (its \emph{sinks}, \cref{sec:sinks}) and a ring of $W-1+k$ rows, where $k$ is the number of rows of the longest pass (\cref{sec:leaving}). So in each layer a text of $n$ tokens has
\begin{equation}\label{eq:pages}
  \left\lceil\frac nP\right\rceil\hbox{ pages, with a window at most }
  \left\lceil\frac SP\right\rceil+1+\left\lceil\frac{W-2+k}P\right\rceil,
\end{equation}
of $P\cdot2\,h\,d_hb$ bytes each. Why the one? A ring of $R$ rows need not begin where a page begins. In the worst case its first page holds one row, and the other $R-1$ rows take $\lceil(R-1)/P\rceil$ more. With pages of one row and passes of one row this is $n$ rows, or $W+S$ at most.

So paging wastes at most $P-1$ rows of a text in a layer without a window: the unused end of its last page, its \emph{internal fragmentation}. Nothing is lost between pages (\emph{external fragmentation}), since any free page serves any text. Compare that with one array for the longest possible text, which wastes everything that the text does not reach (\cref{sec:pages}).
@^fragmentation@>

@<Footprint of the cache@>=
struct cache_plan { const struct kv_format *format; uint64_t context, batch;
  uint64_t page_rows, pass; };
  /* a cache that somebody may open: |batch| texts of |context| tokens, whose rows are kept in
     |format|; |page_rows| are the rows of a page, |pass| those of the longest pass; 0 means 1 */
uint64_t footprint_token(const struct model_config *c, const struct kv_format *f);
  /* the bytes that one token adds, in all layers */
uint64_t footprint_rows(const struct model_config *c, uint32_t layer,
  const struct cache_plan *p);
  /* the most rows that a text needs in |layer|, in whole pages */
bool footprint_cache(const struct model_config *c, const struct cache_plan *p,
  uint64_t *bytes, struct error *why);
  /* the bytes of the whole cache: what |cache_open| allocates with |preallocate|;
     errors: a head is not a multiple of the block; more bytes than 63 bits can
     count */

@ Here are both formulas as functions. They must not look at a cache, or the comparison of \cref{sec:agree} would prove nothing.

@<Compute the bytes of the cache@>=
uint64_t footprint_token(const struct model_config *c, const struct kv_format *f)
{
  return 2 * (uint64_t) c->n_layers * c->n_kv_heads
    * weight_row_bytes(f->type, c->head_dim);
}
static uint64_t round_up(uint64_t x, uint64_t page)
{@+ return x / page + (x % page > 0);@+ }
uint64_t footprint_rows(const struct model_config *c, uint32_t layer,
  const struct cache_plan *p)
{
  uint64_t page = p->page_rows > 0 ? p->page_rows : 1;
  uint64_t pass = p->pass < p->context ? p->pass : p->context;
  uint64_t w = config_window(c, layer);
  if (pass == 0) pass = 1;
  uint64_t pages = round_up(p->context, page);
  uint64_t ring = w == 0 ? 0 : round_up(c->sinks, page) + 1 + round_up(w - 1 + pass - 1,
    page);
  return (w > 0 && ring < pages ? ring : pages) * page;
}

@ The cache is the sum over the layers, since each may have a window of its own or none. The settings of an imagined model can be arbitrarily large, so every product is checked, and a sum of more than 63 bits is refused.

@<Compute the bytes of the cache@>=
static bool multiply(uint64_t *x, uint64_t by)
{
  if (by != 0 && *x > UINT64_MAX / by) return false;
  *x *= by;
  return true;
}
bool footprint_cache(const struct model_config *c, const struct cache_plan *p,
  uint64_t *bytes, struct error *why)
{
  uint64_t row = weight_row_bytes(p->format->type, c->head_dim);
  bool fits = p->context <= INT64_MAX
    && multiply(&row, 2 * (uint64_t) c->n_kv_heads);
  *bytes = 0;
  int block = number_types[p->format->type].block;
  if (c->head_dim % (uint32_t) block != 0)
    return error_say(why, "a cache in %s for a head_dim of %u; wanted: a"@|
      " multiple of %d", p->format->name, c->head_dim, block);
  for (uint32_t i = 0; fits && i < c->n_layers; i++) {
    uint64_t layer = footprint_rows(c, i, p);
    fits = multiply(&layer, p->batch) && multiply(&layer, row)
      && layer <= INT64_MAX && *bytes <= INT64_MAX - layer;
    *bytes += layer;
  }
  return fits || error_say(why, "the cache has more bytes than 63 bits can"@|
    " count; wanted: a smaller context or batch");
}

@ \Cref{tab:caches} applies this to published models, in numbers of two bytes.\lab{lab:bills} Beware of the units. A gigabyte (GB) is $10^9$ bytes, a gibibyte (GiB) is $2^{30}$, seven percent more. The makers of memory chips count in GiB, those of disks in GB, and both write GB. When a tutorial says that \given{100,000} tokens of a 7B need 50 GB, it means \val[2]{fifty.gb} GB, which are \val[2]{fifty.gib} GiB: too many for 50 GB, but 50 GiB would do.
@^GiB@>

\begin{table}[htp]
\tabcaption{tab:caches}{The KV cache of published models, in numbers of two bytes: bytes that a token adds, and the cache of a whole context. Heads are those of keys and values. Contexts are the positions of the published settings; Mistral 7B has a window of \val{shape.mistral-7b.window} rows and keeps no more; DeepSeek-V3 has latents instead of heads (\cref{sec:grouped}).}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrrr@@{}}
\tabhead{model} & \tabhead{layers} & \tabhead{heads} & \tabhead{bytes a token} & \tabhead{context} & \tabhead{GB} & \tabhead{GiB}\\\midrule
GPT-2 small & \val{shape.gpt2.layers} & \val{shape.gpt2.heads} & \val{shape.gpt2.token} & \val{shape.gpt2.context} & \val[3]{shape.gpt2.gb} & \val[3]{shape.gpt2.gib}\\
GPT-2 medium & \val{shape.gpt2-medium.layers} & \val{shape.gpt2-medium.heads} & \val{shape.gpt2-medium.token} & \val{shape.gpt2-medium.context} & \val[3]{shape.gpt2-medium.gb} & \val[3]{shape.gpt2-medium.gib}\\
GPT-2 large & \val{shape.gpt2-large.layers} & \val{shape.gpt2-large.heads} & \val{shape.gpt2-large.token} & \val{shape.gpt2-large.context} & \val[3]{shape.gpt2-large.gb} & \val[3]{shape.gpt2-large.gib}\\
GPT-2 XL & \val{shape.gpt2-xl.layers} & \val{shape.gpt2-xl.heads} & \val{shape.gpt2-xl.token} & \val{shape.gpt2-xl.context} & \val[3]{shape.gpt2-xl.gb} & \val[3]{shape.gpt2-xl.gib}\\
GPT-3 & \val{shape.gpt3.layers} & \val{shape.gpt3.heads} & \val{shape.gpt3.token} & \val{shape.gpt3.context} & \val[3]{shape.gpt3.gb} & \val[3]{shape.gpt3.gib}\\
Llama 7B & \val{shape.llama-7b.layers} & \val{shape.llama-7b.heads} & \val{shape.llama-7b.token} & \val{shape.llama-7b.context} & \val[3]{shape.llama-7b.gb} & \val[3]{shape.llama-7b.gib}\\
Llama 13B & \val{shape.llama-13b.layers} & \val{shape.llama-13b.heads} & \val{shape.llama-13b.token} & \val{shape.llama-13b.context} & \val[3]{shape.llama-13b.gb} & \val[3]{shape.llama-13b.gib}\\
Llama 2 70B & \val{shape.llama2-70b.layers} & \val{shape.llama2-70b.heads} & \val{shape.llama2-70b.token} & \val{shape.llama2-70b.context} & \val[3]{shape.llama2-70b.gb} & \val[3]{shape.llama2-70b.gib}\\
Llama 3 8B & \val{shape.llama3-8b.layers} & \val{shape.llama3-8b.heads} & \val{shape.llama3-8b.token} & \val{shape.llama3-8b.context} & \val[3]{shape.llama3-8b.gb} & \val[3]{shape.llama3-8b.gib}\\
Llama 3 70B & \val{shape.llama3-70b.layers} & \val{shape.llama3-70b.heads} & \val{shape.llama3-70b.token} & \val{shape.llama3-70b.context} & \val[3]{shape.llama3-70b.gb} & \val[3]{shape.llama3-70b.gib}\\
Mistral 7B & \val{shape.mistral-7b.layers} & \val{shape.mistral-7b.heads} & \val{shape.mistral-7b.token} & \val{shape.mistral-7b.context} & \val[3]{shape.mistral-7b.gb} & \val[3]{shape.mistral-7b.gib}\\
Qwen2 7B & \val{shape.qwen2-7b.layers} & \val{shape.qwen2-7b.heads} & \val{shape.qwen2-7b.token} & \val{shape.qwen2-7b.context} & \val[3]{shape.qwen2-7b.gb} & \val[3]{shape.qwen2-7b.gib}\\
DeepSeek-V3 & \val{mla.layers} & --- & \val{mla.token} & \val{mla.context} & \val[3]{mla.gb} & \val[3]{mla.gib}
\end{tabular*}
\end{table}

@ You will ask for the same shapes again and again, so they are in the module. A shape names its family and the numbers in which models of a family differ; what they have in common comes from \cref{families}. The numbers are from the papers \cited{Radford 2019; Brown 2020; Touvron 2023; Touvron 2023b; Grattafiori 2024; Jiang 2023; Yang 2024}, or from the settings published with the weights.

@<Published shapes@>=
struct named_shape { const char *name, *family, *source;
  uint32_t vocab_size, n_positions, d_model, d_inner, n_layers, n_heads,
    n_kv_heads, head_dim, window; bool tied;@+ uint32_t n_experts, n_chosen, d_expert; };
  /* the settings of a published model on which its memory depends */
const struct named_shape *named_shape_at(size_t i);
  /* line |i| of the table; null after the last */
bool named_shape_find(const char *name, struct model_config *c, struct error *why);
  /* the settings of a model by its name in the table; if there is none, false and an
     error that lists the names */

@ Here are a few rows of the table. \label{sec:shapetable} After the source come the vocabulary, the context, the width and the width inside the MLP; then layers, heads, heads of keys and values, and the width of a head. Then come the window, 0 for none, and a word that says whether the head's matrix is the embedding once more. The last three numbers are of models with experts (\cref{sec:experts}): how many there are in a layer, how many compute a row, and how wide each is.

\printedheader[gpt2, llama-7b..llama2-70b, mistral-7b..mixtral-8x7b]{accounts/shapes.inc}

Compare the heads of queries with those of keys and values: up to Llama 13B there are as many of both, and then a fourth, a seventh or an eighth (\cref{sec:grouped}).

A program that is given a name looks it up here, and lists all names if it finds none, since you cannot guess whether it is \texttt{llama2-70b} or \texttt{llama-2-70b}. (All rows are in \.{unwoven/accounts/shapes.inc}, and the looking up is beside it, in \.{find\_shape.c}; the command shows the shapes with \.{--shape list}.)

@* Activations. \label{sec:passbill}
What does the pass itself need? The arrays in which it computes are called \emph{activations}. They are in an arena (\cref{sec:arrays}): for each row of the pass the residual stream, its normed copy, and what is to be added to it, of $d$ numbers each; the queries and the result of attention, of $q$ each; keys and values, of $k$ each; the inside of the MLP; and the cosines and sines by which the row is rotated. All these are |float|s, of four bytes. Let $g$ be 2 for a gated MLP and 1 otherwise. Then a row takes
\begin{equation}\label{eq:activations}
  4\,\bigl(3d+2q+2k+u+gf+2\lfloor d_h/2\rfloor\bigr)+w
\end{equation}
bytes. Here $u=3q$ if queries, keys and values are one matrix in the model's file, as in GPT-2, and 0 otherwise. The other $w=\val{activations.row}$ bytes of a row are its bookkeeping: token, position, order, segment, and a mark that is set if a number is not finite. In addition each worker needs scratch memory for attention: $d_h+2$ numbers for each whole block of \given{256} positions that a row can see, and for two more blocks. The structure |struct pass| itself takes \val{activations.pass} bytes.

The number of layers is not in the formula: all layers use the same arena. Two things belong to the caller and not to the pass, and so they are not in it either. One is the array for the logits, $4V$ bytes for each row whose logits you want: half a megabyte for a vocabulary of \given{128256}. The other is a workspace in which a worker packs rows and weights (\cref{sec:room}), and which the worker keeps.
@^activations@>@^arena@>@^workspace@>

@<Footprint of a pass@>=
uint64_t footprint_pass(const struct model_config *c, uint64_t rows,
  uint64_t max_len, unsigned workers);
  /* the bytes that |model_forward| allocates for a pass of |rows| rows, of which the
     last is at position |max_len-1|; |pass_close| frees them */

@ The sizes in $w$ are added up from the structures, as the compiler lays them out. (|footprint_switched_row| is 0 unless a model turns only a part of each head, or has two sets of angles; \cref{sec:rotations}.)

@<Compute the bytes of a pass@>=
uint64_t footprint_pass(const struct model_config *c, uint64_t rows,
  uint64_t max_len, unsigned workers)
{
  uint64_t d = c->d_model, f = c->d_inner;
  uint64_t q = (uint64_t) c->n_heads * c->head_dim;
  uint64_t k = (uint64_t) c->n_kv_heads * c->head_dim;
  const struct tensor_layout *l = layout_find("safetensors", c->family);
  uint64_t fused = layout_fused(l) ? 3 * q : 0;
  uint64_t numbers = 3 * d + 2 * q + 2 * k + fused + (c->gated ? 2 * f : f)
    + 2 * (c->head_dim / 2);
  uint64_t other = 3 * sizeof (uint32_t) + sizeof (size_t)
    + sizeof (struct segment);
  other += footprint_switched_row(c);
  uint64_t scratch = (max_len / 256 + 2) * (c->head_dim + 2);
  return sizeof (struct pass) + rows * (4 * numbers + other)
    + workers * 4 * scratch;
}

@ How much is that? A decode step of Llama 7B has one row and needs \val{activations.llama.one} bytes at its first position, less than the \val{shape.llama-7b.token} by which the same step makes the cache grow. A prompt of \given{2048} tokens that is read in one pass needs \val[1]{activations.llama.prompt} MB. Activations grow with the pass and hardly with the text (\val{activations.llama.scratch} bytes for every \given{256} positions); the cache grows with the text and not with the pass. That is why long prompts are read in chunks. (The tokenizer needs memory as well, \val{vocab.gpt2} bytes for the tables of GPT-2's vocabulary.\lab{lab:bills} The allocator counts them, and so the check at the end of the chapter includes them.)

@* What fits. \label{sec:fits}
Now you can answer the question. Your budget must hold the weights, the activations of the longest pass, and the caches. The first two are fixed, and each text adds one cache; so the number of texts is a subtraction and a division:
\begin{equation}\label{eq:fits}
  B_{\max}=\left\lfloor\frac{\hbox{budget}-\hbox{weights}-\hbox{activations}}{\hbox{cache of one text}}\right\rfloor.
\end{equation}
But what is your budget? Llama 7B in two-byte numbers takes \val[2]{fits.llama.weights} GB. Take ``80 GB'' as $80\cdot10^9$ bytes, and (without the activations) there is room for \val{fits.llama.batch} texts of \given{4096} tokens. The driver of an H100 of 80 GB says \given{81\,559} MiB, which would be \val{fits.card.batch} texts. Yet you don't get all of that: the driver and the libraries keep some for their own use (their \emph{context}), and the allocator leaves gaps. So servers plan with a reserve. With nine tenths of the card, the usual choice of vLLM, we are at \val{fits.reserve.batch}. A card of 8 GB is too small for these weights; in blocks of four bits they leave room for a text of \val{fits.small.context} tokens. (The model was trained on \given{2048}. The formula knows what can be stored, not what makes sense.) The command \texttt{incipit memory} does these sums:
try \texttt{incipit memory {-}{-}shape llama-7b {-}{-}budget 80GB}.

When does the cache outweigh the weights? If both have numbers of the same size, as soon as
\begin{equation}\label{eq:cross}
  nB>\frac{\hbox{parameters}}{2\,L\,h\,d_h}:
\end{equation}
in Llama 7B from \val{cross.llama-7b} tokens on, in Llama 2 70B from \val{cross.llama2-70b} on. It does not matter whether these tokens are one long text or the sum of many short ones. That is why the cache, and not the weights, limits the number of users of a server.

@<What fits into a budget@>=
uint64_t footprint_max_context(const struct model_config *c, const struct cache_plan *p,
  uint64_t weights, uint64_t budget);
  /* the longest context that |p->batch| texts may have so that |weights| and their
     cache take at most |budget| bytes; |UINT64_MAX| if the cache does not grow */
uint64_t footprint_max_batch(const struct model_config *c, const struct cache_plan *p,
  uint64_t weights, uint64_t budget);
  /* the largest number of texts of |p->context| tokens; |UINT64_MAX| if they take no
     memory */

@ With windows and pages the cache is not proportional to the length of a text, but it never shrinks when the text gets longer. So the longest context is found by bisection. If even $2^{62}$ tokens fit, the cache has stopped growing, as it does when all layers have a window.

@<Find what fits@>=
static bool fits(const struct model_config *c, struct cache_plan p, uint64_t context,
  uint64_t cap)
{
  uint64_t bytes;
  p.context = context;
  return footprint_cache(c, &p, &bytes, NULL) && bytes <= cap;
}
uint64_t footprint_max_context(const struct model_config *c, const struct cache_plan *p,
  uint64_t weights, uint64_t budget)
{
  uint64_t yes = 0, no = (uint64_t) 1 << 62;
  if (weights > budget) return 0;
  if (fits(c, *p, no, budget - weights)) return UINT64_MAX;
  while (no - yes > 1) {
    uint64_t middle = yes + (no - yes) / 2;
    if (fits(c, *p, middle, budget - weights)) yes = middle;
    else no = middle;
  }
  return yes;
}

@ The largest batch is the quotient of \eqref{eq:fits}. A budget of more than 63 bits is taken as one of 63, because |footprint_cache| counts no further.

@<Find what fits@>=
uint64_t footprint_max_batch(const struct model_config *c, const struct cache_plan *p,
  uint64_t weights, uint64_t budget)
{
  struct cache_plan one = *p;
  uint64_t bytes;
  one.batch = 1;
  if (budget > INT64_MAX) budget = INT64_MAX;
  if (weights > budget || !footprint_cache(c, &one, &bytes, NULL)) return 0;
  return bytes == 0 ? UINT64_MAX : (budget - weights) / bytes;
}

@* It does not fit: refuse, preempt, swap. \label{sec:doesnotfit}
A server that fills its memory to $B_{\max}$ has a problem that the formula does not show. The texts grow. You admitted all of them when they were short, and an hour later the pages run out, in the middle of all their answers. What do you do? There are three answers.

You can \emph{refuse}. That is what our cache does: a pass for which there are not enough pages is refused before anything is computed, and all texts are as they were (\cref{sec:pagecode}). Then somebody must still decide. Either a request is admitted only if its longest possible answer fits, which is \emph{admission control}; this wastes what the answers do not use. Or one text must make room.

You can \emph{preempt} a text: crop it to nothing, so that its pages are free, and put its request back into the queue. When its turn comes, you read its prompt and the tokens that it had written as one new prompt. That costs a prefill, and here not one bit of the answer changes, since rows that are computed again are the same rows (|what_is_computed_again_is_known| and \cref{sec:twice}).

Or you can \emph{swap}: copy the pages of the text to the memory of the host, or to a disk, and bring them back later. That costs a transfer in both directions instead of a prefill. Which is faster? It depends on the bus and on the ridge point: a transfer moves $2Lhd_hb$ bytes a token, a prefill computes a multiply--add for each weight: in Llama 7B \val{shape.llama-7b.token} bytes against \val{footprint.llama-7b.parameters} multiply--adds. Kwon and others implemented both, and always preempt the text that came last, so that the older ones are finished. Our engine can do the first two: |store_crop| is all that a preemption needs (\cref{sec:preempt}). It cannot swap.
@^admission control@>@^preemption@>@^swap@>

@ \Cref{fig:stack}\lab{lab:stack} shows one model and one text that gets longer. The weights are the floor. The cache is a wedge on it, whose slope is the number of bytes that a token adds, and the slope is what the levers of the next sections change.

\fig[htp]{stack}{fig:stack}{Memory for one text with the shape of Llama 7B, over the length of the text: the weights, in two bytes a number, and on them one of three caches. Each wedge begins at the floor; they are alternatives, not a sum. (With 8 heads the matrices of keys and values would be smaller too, and the floor \val[0]{stack.floor} percent lower; it is drawn as published.)}{Three wedges on a common floor. The steepest, 32 heads in two bytes, crosses the line of an accelerator of 80 gigabytes before the right edge at \given{131,072} tokens; the second, 8 heads in two bytes, is a quarter as steep; the third, 8 heads in four bits, hardly rises above the floor.}

@ The module, in the order that C wants:

@(accounts.c@>=
#include "accounts/accounts.h"
#include "families/layout.h"
@;@#
@<List the tensors@>@;
@<Compute the bytes of the cache@>@;
@<Compute the bytes of a pass@>@;
@<Find what fits@>@;

@* What the operating system sees: RSS. \label{sec:rss}
You have the formulas, you start the program, and a system monitor shows another number. Who is wrong? Nobody. The allocator counts what the program requested. The system counts the pages that are in memory at this moment, the \emph{resident set size} (RSS), and it counts two kinds: pages that belong to the process alone, and pages of files that are mapped. We looked at both after each step of a program that opens the built-in model and reads up to the end of its context (\cref{tab:rss}).\lab{lab:rss}
@^RSS@>@^resident set@>

\begin{table}
\tabcaption{tab:rss}{MiB that are added by the steps of a program: as our allocator counts them; as the operating system counts them, in pages of the process and in pages of files. Measured on one Linux.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrr@@{}}
& \tabhead{allocator} & \multicolumn{2}{c}{operating system}\\
\tabhead{after this step} & & \tabhead{process} & \tabhead{files}\\\midrule
the model is opened & \val[2]{rss.opened.counted} & \val[2]{rss.opened.anon} & \val[2]{rss.opened.file}\\
a cache for the whole context & \val[2]{rss.cache.counted} & \val[2]{rss.cache.anon} & \val[2]{rss.cache.file}\\
a pass of 64 rows & \val[2]{rss.pass.counted} & \val[2]{rss.pass.anon} & \val[2]{rss.pass.file}\\
the context is full & \val[2]{rss.full.counted} & \val[2]{rss.full.anon} & \val[2]{rss.full.file}\\
the weights are packed & \val[2]{rss.packed.counted} & \val[2]{rss.packed.anon} & \val[2]{rss.packed.file}
\end{tabular*}
\end{table}

Opening the model costs almost nothing: its weights are mapped, and no page of a file is in memory before somebody reads it. The first pass reads them all, and now the files' column has grown by the size of the weights. Do they count? For your machine's memory they do, as long as the model is in use. But they are not this process's alone: a second process that maps the same file shares them, and if memory runs short the system may drop them, since it can read them again. The cache and the activations it cannot drop. In the last step the weights move from one column to the other: the copies belong to the process, and most pages of the file have been given back. (The embedding is still read there.) With the cache open, the first two columns differ by less than a tenth. We think that this is freed blocks which the C library keeps, unused ends of pages, and stacks.
@^mapped weights@>

@* Seven levers. \label{sec:levers}
What can you do to make it fit? The cache takes $2\,L\,h\,d_h\,b\cdot n\cdot B$ bytes. \Cref{tab:levers} lists a lever for each factor. Levers that need training are built into a model, and you choose them when you choose the model. The others are options of the program that runs it, and of these only one is free: if several texts begin with the same tokens, they can share the pages of this prefix (\cref{sec:pages}), and no bit changes. $B$ texts of $n$ tokens with $p$ in common need $p+B\,(n-p)$ rows instead of $Bn$. A server that keeps the pages of a prompt for the next request (\emph{prefix caching}, \cref{sec:prefixindex}) uses this, and saves the prefill as well.
@^prefix caching@>

\begin{table}
\tabcaption{tab:levers}{What makes the cache smaller: the factor that is cut, whether the model must have been trained for it, and whether a given model's output changes when it is applied.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}llll@@{}}
\tabhead{lever} & \tabhead{cuts} & \tabhead{trained} & \tabhead{output} & \tabhead{section}\\\midrule
grouped-query attention (GQA) & $h$ & yes & --- & \labelcref{sec:grouped}\\
latent attention (MLA) & $2\,h\,d_h$ & yes & --- & \labelcref{sec:grouped}\\
layers that share keys and values & $L$ & yes & --- & ---\\
sliding-window attention & $n$ & yes & --- & \labelcref{sec:ring}\\
window and attention sinks & $n$ & no & changes & \labelcref{sec:sinks}\\
quantized cache & $b$ & no & changes & \labelcref{sec:rowformats}\\
shared prefixes & $nB$ & no & same bits & \labelcref{sec:pages}
\end{tabular*}
\end{table}

Moving part of the cache to the memory of the host (\emph{offloading}) is not in the table: it takes as many bytes, elsewhere, and reading them in every step is then limited by a slower bus.
@^offloading@>

@* Grouped-query attention. \label{sec:grouped}
We begin with $h$. Does each query head need keys of its own? Several heads of queries can share one head of keys and values (\cref{fig:groups}): this is \emph{grouped-query attention} (GQA; \cited[Ainslie and others 2023]{Ainslie 2023}). In the extreme all of them share a single one, \emph{multi-query attention} (MQA; \cited[Shazeer 2019]{Shazeer 2019}). The number of queries stays the same, and so do the multiplications of attention; only what is stored and read gets less. Llama 2 70B has 64 heads of queries and 8 of keys and values. A context of \given{4096} tokens takes \val[2]{footprint.70b.grouped.gib} GiB; with 64 heads of keys and values it would take \val[0]{footprint.70b.full.gib} GiB.
@^grouped-query attention@>@^multi-query attention@>

\fig{groups}{fig:groups}{Eight heads of queries, and what the cache keeps of one token in one layer. In multi-head attention each head has a key and a value of its own; in a group, several heads share one. Latent attention keeps one vector for all heads, and with it a short key that carries the position.}{Four panels. In each, a row of eight dark squares, the queries. Below them: eight pairs of a key and a value, one for each query; two pairs, each joined to four queries; one pair, joined to all eight; one long bar with a short one beside it, joined to all eight.}

The model of chapter~2 has had groups from the start: head $i$ of the queries looks at head $\lfloor i/g\rfloor$ of the keys, where $g$ is the size of a group. With $g=1$ this \emph{is} the attention of \given{2017}; no kernel asks whether there are groups. Are groups really no more than shared heads? You can test it. Take a model with groups, and write the matrix of each head of keys, and of values, $g$ times, once for each query head of its group. The result is a model without groups, with a cache $g$ times as large, and all its logits have the same bits (|groups_are_shared_heads| in \.{tests/suites/check\_accounts.c}).

Is anything lost? The arithmetic loses nothing; whether the same model would have become better without groups, only training can tell. Ainslie and others measured it: eight heads of keys and values were nearly as good as all, and a single one somewhat worse.

@ \emph{Multi-head latent attention} (MLA; \cited[DeepSeek-AI 2024]{DeepSeek-AI 2024}) goes further. Of each token it caches a single vector $c$ for all heads, the \emph{latent}. Each head has two matrices: one makes the head's key from the latent, $Uc$, and the other its value. These products need never be computed for the rows of the cache. A score is $q\cdot Uc=(U^{\mathsf T}q)\cdot c$, so $U$ can be multiplied with the one new query instead, and all heads then look at the same $c$, as in MQA.
Only RoPE is in the way. The rotation of row $j$ would have to come between $q$ and $U$; it differs from row to row, and so you could no longer multiply $U$ with the query once for all rows. DeepSeek's way out is to leave the latent unrotated and to put a short rotated key beside it, which all heads share and which carries the position. DeepSeek-V3 \cited{DeepSeek-AI 2024b} keeps \val{mla.row} numbers a token in each layer, where its \val{mla.heads} heads would have \val{mla.full}: \val[0]{mla.factor} times as many (the last line of \cref{tab:caches}). The price is arithmetic, since each head's score is now a sum of \val{mla.row} products. Our engine does not load such models; here they are a line in a table.
@^multi-head latent attention@>@^latent@>

@* Sliding-window attention. \label{sec:ring}
Next comes $n$. Must a row see the whole text? In a layer with a \emph{sliding window} of $W$, a row attends to itself and to the $W-1$ rows before it. Older rows can be dropped, and the cache of this layer stops growing. \Cref{sec:leaving} shows how: $W-1+k$ rows stay for a pass of $k$. \Cref{fig:ring}\lab{lab:ring} watches a window of six at work, with pages of one row. The memory is used as a \emph{ring buffer}: each new row takes the place of the one that has just left.
@^sliding window@>@^ring buffer@>

\widefig{ring}{fig:ring}{A window of six rows in the built-in model, read from the cache: a line for each place in memory, a column for each token that is read, and in each cell the position of the row that is stored there. Red is the row that was just written. The first four tokens came in one pass.}{A grid of six lines and sixteen columns. From the seventh column on each new number replaces the oldest, and the red cells run down a staircase that begins anew every six columns.}

@ Is what the dropped rows said lost? Not altogether. In the layer below, the oldest row of a window has attended to a window of its own. So through $L$ layers information can travel
\begin{equation}\label{eq:reach}
  L\,(W-1)
\end{equation}
positions, a window less one row in each layer, and not a position further. A test changes one token, and the last row that differs is exactly that far away (|a_token_reaches_so_far_and_no_further|). Another test compares a window with a model that sees everything: the first row that differs is row $W+1$, counted from 1, the first that has lost a row (|a_ring_is_a_mask|).

\fig{masks}{fig:masks}{What each row may attend to, a line for each row: everything up to itself; a window of four; a window of four and two sinks. The row itself is red. Dotted cells are rows that the cache has dropped.}{Three triangular grids of twelve rows. In the first the triangle is full. In the second only a band of four cells along the diagonal is filled. In the third the band and the first two columns are filled.}

@* Attention sinks. \label{sec:sinks}
You can also drop rows although the model was trained to see them, which is called \emph{eviction}. Which rows? The oldest, you would say, and that is a window again (\cref{fig:masks}, middle). But large models that were trained to see everything take it badly. \cited[Xiao and others (2023)]{Xiao 2023} found out why: many heads put most of their weight on the very first positions when there is nothing in particular to attend to, because the weights of a softmax must add up to one and have to go somewhere. Remove those rows, and all other weights of such a head change. The remedy is to keep the first few rows besides the latest ones. These first rows are called \emph{attention sinks}, and the method \emph{StreamingLLM}. (Our small models do not need them, \cref{sec:lossy}.)
@^attention sink@>@^eviction@>

@ In our program this is a cache with the options |window| and |sinks|: a row sees the first $S$ positions and its window, and nothing between, and the rows between leave the cache. Here rows keep their \emph{positions}: a key stays rotated by the position at which it was read, and new rows go on counting. So sinks bound the memory of our cache, and not the length of a text: it still ends where the context ends. Xiao and others instead renumber the rows of the cache in each step, and only that lets a text grow beyond the positions that the model was trained on. Their price is that keys must be stored unrotated and rotated again in every step, and that the logits depend on how a text is cut into chunks. (We refuse sinks for models with learned positions.)

@* Quantized cache: F16, Q8\_0, Q4\_0. \label{sec:rowformats}
The last factor is $b$, the bytes in a number. Do keys and values need the seven digits of a |float|? A key is compared with queries, and a value is averaged with others; fewer digits should do. So a cache may store them in 16 bits, or in blocks of 32 numbers that share a scale (\cref{fig:blocks}). The store of chapter~4 takes a |kv_format|: it encodes rows with the format's function, and tells attention in which type to read them.
@^quantized KV cache@>@^quantization@>@^block, of a format@>

\fig{blocks}{fig:blocks}{How 32 numbers are stored, a cell for each byte. In q4\_0 a byte holds two numbers, one from each half of the block: $x_0$ in its low four bits, and $x_{16}$ in its high ones.}{Three bars of cells. f16 has 64 bytes; q8\_0 has 34, of which the first two are the scale; q4\_0 has 18, of which the first two are the scale, and each other byte is divided into a lower and an upper half.}

@ In \texttt{q8\_0} the number of largest magnitude becomes \given{127} or $-\given{127}$, and the others are rounded to integers on the same scale: $d=\max\vert x_i\vert/\given{127}$, and $x_i/d$ to the nearest integer, halves away from 0. We store $d$, in binary16, and 32 bytes: 34 bytes for 32 numbers.

In \texttt{q4\_0} there are sixteen values, from $-8$ to $7$. They are not symmetric, so the number of largest magnitude gets the longer side: $d$ is chosen so that it becomes $-8$. A number on the other side may have to be cut off at $7$, and is then off by up to one step. We store $x_i/d+8$, rounded and at most 15; two of these fit into a byte: 18 bytes for 32 numbers.

\begin{byhand}{four numbers on sixteen steps}
To be short, a block of four: $-1.6$, $0.5$, $0.25$ and $1.55$. The largest magnitude is that of $-1.6$, so $d=-1.6\div(-8)=0.2$.

\medskip
\begin{tabular}{@@{}lrrrr@@{}}
the number & $-1.6$ & $0.5$ & $0.25$ & $1.55$\\
divided by $d$ & $-8$ & $2.5$ & $1.25$ & $7.75$\\
plus $8.5$ & $0.5$ & $11$ & $9.75$ & $16.25$\\
truncated, at most 15 & $0$ & $11$ & $9$ & $15$\\
minus 8, times $d$ & $-1.6$ & $0.6$ & $0.2$ & $1.4$
\end{tabular}
\medskip

Rounding is off by half a step at most, $0.1$. But $1.55$ has been cut off: it would have become 16, a step too many, and is off by $0.15$.
\end{byhand}

@ The interface offers the five formats, and two functions for programs that look at what is stored: |format_decode| below, and |format_can_hold|, which asks whether numbers can be encoded at all (\.{unwoven/accounts/holds.c}). A pass need not ask: a number that is not finite is recorded after the layer that produced it.

@(formats.h@>=
#ifndef INCIPIT_FORMATS_H
#define INCIPIT_FORMATS_H
#include "cache/cache.h"
@<Formats of a row@>@;
#endif

@ The name of a format is the word that \texttt{{-}{-}kv-type} takes.

@<Formats of a row@>=
enum { N_FORMATS = 5 };
  /* the number of formats in which a row can be kept */
const struct kv_format *format_at(size_t i);
  /* \.{f32}, \.{f16}, \.{bf16}, \.{q8\_0}, \.{q4\_0}: the bytes are those of ggml; null
     after the last */
const struct kv_format *format_find(const char *name, struct error *why);
  /* the one of that name; if there is none, null and an error that lists them */
void format_decode(enum weight_type type, const void *from, size_t n, float *x);
  /* the |n| numbers that a row of this type stands for, exactly */
bool format_can_hold(const struct kv_format *f, const float *x, size_t n,
  struct error *why);
  /* whether |x| can be encoded: its numbers are finite, the scale of each block fits
     binary16, and blocks are whole */

@ A block is encoded in the steps of the box. The scale is rounded to binary16 when it is stored, but the numbers have been divided by the unrounded scale; ggml does the same, and so did the programs that made the model files. In C, converting a |float| to an integer type that cannot hold it is undefined, so there are limits on both sides, and a NaN becomes 0.

@<Encode a block@>=
static void put_scale(float d, unsigned char *to)
{
  uint16_t h = num_to_f16(d);
  to[0] = (unsigned char) h, to[1] = (unsigned char) (h >> 8);
}
static int within(float x, int low, int high)
{
  if (x != x) return 0;
  if (x < (float) low) return low;
  return x > (float) high ? high : (int) x;
}
static void encode_block8(const float *x, unsigned char *to)
{
  float max = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    if (fabsf(x[i]) > max) max = fabsf(x[i]);
  float d = max / 127, times = d != 0 ? 1 / d : 0;
  put_scale(d, to);
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    to[2 + i] = (unsigned char) within(roundf(x[i] * times), -128, 127);
}

@ In \texttt{q4\_0} a byte holds $x_i$ and $x_{i+16}$, so that a kernel that loads sixteen bytes gets sixteen neighbours from their low halves and the next sixteen from their high halves.

@<Encode a block@>=
static void encode_block4(const float *x, unsigned char *to)
{
  float max = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    if (fabsf(x[i]) > fabsf(max)) max = x[i];
  float d = max / -8, times = d != 0 ? 1 / d : 0;
  put_scale(d, to);
  for (int i = 0; i < WEIGHT_BLOCK / 2; i++) {
    float low = x[i] * times, high = x[i + WEIGHT_BLOCK / 2] * times;
    to[2 + i] = (unsigned char) (within(low + 8.5f, 0, 15)
      | within(high + 8.5f, 0, 15) << 4);
  }
}

@ A row is encoded number by number, or block by block. Blocks begin anew with each head of each position, so no two rows share a scale, and a row that is overwritten or cut off takes its scales with it.

@<Encode a row@>=
static void encode_f32(const float *x, size_t n, void *to)
{@+ memcpy(to, x, n * sizeof *x);@+ }
static void encode_f16(const float *x, size_t n, void *to)
{
  for (size_t i = 0; i < n; i++) {
    uint16_t h = num_to_f16(x[i]);
    memcpy((char *) to + 2 * i, &h, 2);
  }
}
static void encode_bf16(const float *x, size_t n, void *to)
{
  for (size_t i = 0; i < n; i++) {
    uint16_t h = num_to_bf16(x[i]);
    memcpy((char *) to + 2 * i, &h, 2);
  }
}
static void encode_q8_0(const float *x, size_t n, void *to)
{
  for (size_t i = 0; i < n; i += WEIGHT_BLOCK)
    encode_block8(x + i, (unsigned char *) to + weight_row_bytes(WEIGHT_Q8_0, i));
}
static void encode_q4_0(const float *x, size_t n, void *to)
{
  for (size_t i = 0; i < n; i += WEIGHT_BLOCK)
    encode_block4(x + i, (unsigned char *) to + weight_row_bytes(WEIGHT_Q4_0, i));
}

@ Decoding rounds nothing. An encoded row is a tensor like those of a file, and |tensor_number| returns any number of any tensor. Attention decodes rows in its own registers (\cref{sec:bodies}); this function is for programs that look at what is stored, such as \texttt{incipit probe quantize}.

@<Decode a row@>=
void format_decode(enum weight_type type, const void *from, size_t n, float *x)
{
  struct tensor row = @[{ from, type }@];
  for (size_t i = 0; i < n; i++) x[i] = tensor_number(row, i);
}

@ The formats are a table, and a name that is not in it is an error that lists the names.

@<Find a format@>=
const struct kv_format *format_at(size_t i)
{
  static const struct kv_format list[N_FORMATS] = @[{@|
    { "f32", WEIGHT_F32, encode_f32 },@| { "f16", WEIGHT_F16, encode_f16 },@|
    { "bf16", WEIGHT_BF16, encode_bf16 },@|
    { "q8_0", WEIGHT_Q8_0, encode_q8_0 },@|
    { "q4_0", WEIGHT_Q4_0, encode_q4_0 } }@];
  return i < N_FORMATS ? &list[i] : NULL;
}
const struct kv_format *format_find(const char *name, struct error *why)
{
  for (size_t i = 0; i < N_FORMATS; i++)
    if (strcmp(format_at(i)->name, name) == 0) return format_at(i);
  error_say(why, "no format is called `%s';"@|
    " wanted: f32, f16, bf16, q8_0 or q4_0", name);
  return NULL;
}

@ The module, in the order that C wants:

@(formats.c@>=
#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "accounts/formats.h"
@;@#
@<Encode a block@>@;
@<Encode a row@>@;
@<Decode a row@>@;
@<Find a format@>@;

@* Perplexity lost by a smaller cache. \label{sec:forgetting}
A model that runs with a lever that it was not trained with is a different model. How different? We let the built-in model read three tales that it has not seen, \val{tales.tokens} tokens in one context, once for each setting of the cache.\lab{lab:forgetting} For each row we note the largest error among its logits, and whether its likeliest token has changed; for the whole text we compute the perplexity (\cref{sec:perplexity}). Take the numbers with care. The built-in model is small, and its text is simple; for a larger model you have to measure again. Its keys may be harder to quantize than ours: in large models a few channels of the keys are much larger than the others, and such a channel takes the scale of its block for itself (\cited[Liu and others 2024]{Liu 2024}).
@^perplexity@>

\begin{table}
\tabcaption{tab:formats}{Formats of the cache, in the built-in model: bytes a token, with scales; the largest error of a logit in all rows, and the mean over the rows of each row's largest; rows whose likeliest token has changed; perplexity.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrr@@{}}
\tabhead{format} & \tabhead{bytes} & \tabhead{largest} & \tabhead{mean} & \tabhead{changed} & \tabhead{perplexity}\\\midrule
\texttt{f32} & \val{kv.f32.bytes} & \val[4]{kv.f32.most} & \val[4]{kv.f32.mean} & \val{kv.f32.changed} & \val[4]{kv.f32.perplexity}\\
\texttt{f16} & \val{kv.f16.bytes} & \val[4]{kv.f16.most} & \val[4]{kv.f16.mean} & \val{kv.f16.changed} & \val[4]{kv.f16.perplexity}\\
\texttt{bf16} & \val{kv.bf16.bytes} & \val[4]{kv.bf16.most} & \val[4]{kv.bf16.mean} & \val{kv.bf16.changed} & \val[4]{kv.bf16.perplexity}\\
\texttt{q8\_0} & \val{kv.q8_0.bytes} & \val[4]{kv.q8_0.most} & \val[4]{kv.q8_0.mean} & \val{kv.q8_0.changed} & \val[4]{kv.q8_0.perplexity}\\
\texttt{q4\_0} & \val{kv.q4_0.bytes} & \val[4]{kv.q4_0.most} & \val[4]{kv.q4_0.mean} & \val{kv.q4_0.changed} & \val[4]{kv.q4_0.perplexity}
\end{tabular*}
\end{table}

@ The formats first (\cref{tab:formats}). Sixteen bits change next to nothing: in both formats each row chooses the same token as before. Blocks of eight bits err more than \texttt{bf16} does, although the significand of \texttt{bf16} has only eight bits as well: a block has one scale, and its small numbers lose the bits that its largest number needs. Of \val{tales.rows} rows \val[word]{kv.q8_0.changed} changes its likeliest token. Four bits are another matter: the largest error of a row is \val[2]{kv.q4_0.mean} on average and \val[2]{kv.q4_0.most} at most, and \val{kv.q4_0.changed} rows choose another token. And yet the perplexity hardly moves. We think that this is because it averages over all tokens, and for most of them the choice was clear.
@^block, of a format@>

@ \Cref{fig:kverrors}\lab{lab:forgetting} shows the errors row by row. They do not grow with the position, though later rows attend to more and more keys that are a little off.

Now that rows are rounded, does it matter how a text was cut into passes? No. A row is encoded before any row reads it, even itself, and every reader gets what was encoded. So with \texttt{q4\_0} as well a text has the same bits in one pass, in chunks, token by token, forked, or with no cache at all. They are different bits from those of \texttt{f32}, but the same on every path (|a_lossy_cache_keeps_its_own_bits|).

\fig{kverrors}{fig:kverrors}{The largest error of a logit in each row of the three tales, for four formats of the cache; each point is the median of 32 rows. A dot at the bottom marks a group of 32 rows in which one row has changed its likeliest token, a larger dot two or more: the upper line for q4\_0, the lower for q8\_0.}{Four bands, one above the other, level from left to right: f16 lowest, then bf16 and q8\_0 close together, then q4\_0, more than two orders of magnitude above the first.}

@ Then the windows (\cref{tab:windows}). A window of \given{128} makes this model's perplexity \val[1]{win.128.percent} percent larger, and a window of 16 makes it \val[0]{win.16.percent} percent larger: most of what a tale needs was told not long ago. Are sinks worth their rows? A window of 16 and four sinks keep 20 rows and give a perplexity of \val[3]{win.16.sinks.perplexity}. A window of 20 keeps as many and gives \val[3]{win.20.perplexity}, which is better. The effect for which sinks were invented does not show in this model.

\begin{table}
\tabcaption{tab:windows}{The tales with a window in all layers, without and with four sinks: rows that the cache keeps when the text is read token by token, rows whose likeliest token has changed, and perplexity.}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrrrrr@@{}}
& \multicolumn{3}{c}{no sinks} & \multicolumn{3}{c}{four sinks}\\
\tabhead{window} & \tabhead{rows} & \tabhead{changed} & \tabhead{perplexity} & \tabhead{rows} & \tabhead{changed} & \tabhead{perplexity}\\\midrule
16 & \val{win.16.rows} & \val{win.16.changed} & \val[4]{win.16.perplexity} & \val{win.16.sinks.rows} & \val{win.16.sinks.changed} & \val[4]{win.16.sinks.perplexity}\\
64 & \val{win.64.rows} & \val{win.64.changed} & \val[4]{win.64.perplexity} & \val{win.64.sinks.rows} & \val{win.64.sinks.changed} & \val[4]{win.64.sinks.perplexity}\\
\given{128} & \val{win.128.rows} & \val{win.128.changed} & \val[4]{win.128.perplexity} & \val{win.128.sinks.rows} & \val{win.128.sinks.changed} & \val[4]{win.128.sinks.perplexity}\\
\given{256} & \val{win.256.rows} & \val{win.256.changed} & \val[4]{win.256.perplexity} & \val{win.256.sinks.rows} & \val{win.256.sinks.changed} & \val[4]{win.256.sinks.perplexity}\\
\given{1024} & \val{win.1024.rows} & \val{win.1024.changed} & \val[4]{win.1024.perplexity} & \val{win.1024.sinks.rows} & \val{win.1024.sinks.changed} & \val[4]{win.1024.sinks.perplexity}
\end{tabular*}
\end{table}

\widefig{lossy}{fig:lossy}{stories260K with a smaller cache. Left: perplexity of its own stories against the rows that the cache keeps, the newest ones, or the first four and the newest. Right: the same in texts of four stories, which go on past the context; each point stands for a stretch of \given{512} positions.}{Two plots of perplexity. Left, over 8 to \given{512} rows on a logarithmic axis: both curves are level from \given{512} down to \given{128} rows and then rise, to \val[1]{lossy.stories.8.4.perplexity} with the first four rows and to \val[1]{lossy.stories.8.0.perplexity} without. Right, over \given{2048} positions: with all rows the curve rises from \val[1]{lossy.long.2048.0.0.perplexity} to \val[1]{lossy.long.2048.0.3.perplexity}, with the first four and \given{252} others to \val[1]{lossy.long.256.4.3.perplexity}, and with the newest \given{256} it stays level.}

@* A lossy cache in a published model. \label{sec:lossy}
Does a model that others trained lose as much? The model stories260K is a Llama of \given{260\,000} parameters by Andrej Karpathy, with 5 layers, 8 heads of queries, 4 of keys and values, and a context of \given{512} tokens. It was trained on TinyStories \cited{Eldan 2023}, stories in the words of a small child. We let it read sixteen texts of \given{512} tokens that it has written itself, at temperature 1.\lab{lab:lossy} We drew the stories from the model with its whole cache, so on average nothing can predict them better. Whatever perplexity a smaller cache adds is its own fault. As a control the model reads an English page about manuscripts, which is unlike anything that it was trained on.
@^perplexity@>

The stories have a perplexity of \val[3]{lossy.stories.f32.perplexity}. Formats of 16 bits change it by \val[3]{lossy.stories.f16.percent} percent (\texttt{f16}) and by \val[2]{lossy.stories.bf16.percent} percent (\texttt{bf16}); we take it for chance that the second is an improvement. (The formats with blocks cannot be tried: they need heads of 32 numbers or a multiple of 32, and these heads have 8.) If only the newest half of the rows is kept (\cref{fig:lossy}, left), the perplexity is \val[1]{lossy.stories.256.0.percent} percent larger; with a quarter of them \val[1]{lossy.stories.128.0.percent}, with an eighth \val[1]{lossy.stories.64.0.percent}, and with 16 rows \val[0]{lossy.stories.16.0.percent}. The page about manuscripts has a perplexity of \val[1]{lossy.english.f32.perplexity}, and 16 rows make it only \val[0]{lossy.english.16.0.percent} percent larger:
where the model understands little, there is little to forget.

@ The sinks do not help this model either. With \given{128} rows or more it makes no difference whether four of them are the first of the text; with fewer rows it does harm. The newest 16 rows gave a perplexity \val[0]{lossy.stories.16.0.percent} percent above that of the whole cache; the first four and the newest twelve give \val[0]{lossy.stories.16.4.percent}. We can see why. In the second half of the stories the heads give the first position \val[2]{lossy.first.mean} percent of their weight on average, and none of them more than \val[2]{lossy.first.most} percent; equal weights would be \val[2]{lossy.first.equal} percent. No head of this model has a sink. In the models that Xiao and others tested, Llama 2, MPT, Falcon and Pythia, many do: there the perplexity leaps up as soon as the first rows leave the cache, and keeping four of them prevents it.

Past the context (\cref{fig:lossy}, right) the whole cache is the worst choice. In the second stretch of \given{512} positions its perplexity is \val[0]{lossy.long.2048.0.1.percent} percent larger than in the first, in the fourth \val[0]{lossy.long.2048.0.3.percent} percent: the model was never trained with keys so far away. With the newest \given{256} rows all keys are near, however long the text is, and the perplexity stays \val[1]{lossy.long.256.0.3.percent} percent above that of the whole cache within the context. With the first four among these rows it rises again, to \val[0]{lossy.long.256.4.3.percent} percent, since our rows keep their positions and the first ones get farther and farther away. That is the reason why Xiao and others renumber the rows of the cache.

@ What can you conclude for a larger model? Not a number. We would expect 16 bits to be safe there as well, and a window to be harmless as long as the text does not refer to what has left it. Past the trained context don't take the full cache for the safe choice. And you know how to find out: \texttt{incipit perplexity} accepts the options \texttt{{-}{-}kv-type}, \texttt{{-}{-}window} and \texttt{{-}{-}sinks}. But do not conclude that half a cache is enough, or that sinks are superstition. A large model can use a name that was mentioned many pages ago, and it may have the sinks that ours lack. Nor does a perplexity say all: the name is one token among many, and if it is lost, the average hardly moves, but the answer is wrong.

@* Formula and allocator, to the byte. \label{sec:agree}
We derived the formulas from our own code, so of course they agree with it. We need a witness who has not read them. All memory of this program is requested from one allocator, which counts every request (\cref{sec:memory}) and knows no formulas. A test writes more than two \given{hundred} models of random shapes to files and opens them. They differ in all that the formulas know of: families, heads, groups, widths, layers, windows, sinks, formats, pages, batches, passes. The test computes the equations of this chapter in code of its own, and compares the results with the allocator's counts and with the length of the file. They must agree to the byte (|the_formula_is_the_allocator| in \.{tests/suites/check\_accounts.c}).

@* The check. \label{sec:accountscheck}
The program of this chapter makes the same comparison for the built-in model. The first line is the case by hand; in each other line the bytes by the formula and the bytes that were found must be equal.

\checkpoint{build/out/accounts.txt}{the case by hand; bytes as reckoned and as found (caches are of two texts of \given{2000} tokens)}

@ These are its parts.

@c
#include <inttypes.h>
#include <stdio.h>
#include "safetensors/tensor_file.h"
#include "tokenizer/tokenizer.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "accounts/accounts.h"
@;@#
@<Print what the case by hand comes to@>@;
@<Compare the formulas with the allocator@>@;
@<Open the built-in model, and compare everything@>@;

@ The case by hand needs no model, only its four numbers.

@<Print what the case by hand comes to@>=
static void print_by_hand(void)
{
  static const struct kv_format two = @[{ "f16", WEIGHT_F16, NULL }@];
  struct model_config c = @[{ .n_layers = 2, .n_heads = 4, .n_kv_heads = 2,@|
    .head_dim = 3, .window_from = 1 }@];
  struct cache_plan p = @[{ &two, 0, 1, 0, 0 }@];
  printf("a token: %" PRIu64 " bytes; %" PRIu64 " fit", footprint_token(&c,
    &two), footprint_max_context(&c, &p, 400, 1000));
  c.window = 5;
  printf("; with a window %" PRIu64, footprint_max_context(&c, &p, 400, 1000));
  c.window = 0, c.n_kv_heads = 4;
  printf("; with 4 heads %" PRIu64 "\n", footprint_max_context(&c, &p, 400, 1000));
}

@ Each comparison prints a line with what the formula says and what was found, and says so if the two differ. The weights are mapped from the file and not requested from the allocator; for them we add the lengths that the file gives for its tensors. For the vocabulary the tokenizer reports the bytes of its tables.

@<Compare the formulas with the allocator@>=
static void compare_line(const char *what, uint64_t reckoned, uint64_t found)
{
  printf("%-11s %9" PRIu64 " %9" PRIu64 "%s\n", what, reckoned, found,
    reckoned == found ? "" : "  differ");
}
static void compare_weights(const struct model *lm)
{
  uint64_t stored = 0;
  for (size_t i = 0; i < tensor_file_count(lm->weights); i++)
    stored += tensor_file_at(lm->weights, i)->bytes;
  compare_line("weights", 2 * footprint_parameters(&lm->config), stored);
}
static bool compare_vocabulary(struct error *why)
{
  struct memory book = @[{ .fail_at = 0 }@];
  struct tokenizer *t = tokenizer_open(&book, "models/pocket", why);
  if (t == NULL) return false;
  struct tokenizer_tables taken = tokenizer_tables(t);
  compare_line("vocabulary", tokenizer_bytes(taken.ids, taken.merges),@|
    taken.bytes);
  tokenizer_close(&book, t);
  return true;
}

@ A pass frees what it allocates, so for activations we compare the peak. It is the peak of all passes so far, and therefore each pass gets an account of its own. Which tokens are read makes no difference.

@<Compare the formulas with the allocator@>=
static bool compare_pass(struct engine *e, const struct model *lm, uint32_t n,
  struct error *why)
{
  struct memory book = @[{ .fail_at = 0 }@];
  struct row row[64];
  struct pass *p;
  for (uint32_t i = 0; i < n; i++) row[i] = (struct row) @[{ 0, i, i }@];
  struct store *s = cache_open(&book, &lm->config, 1,
    &(struct cache_options) @[{ .rows = 0 }@], why);
  bool ok = s != NULL && model_forward(e, lm, s, row, n, &p, why);
  if (ok) {
    char what[32];
    snprintf(what, sizeof what, "pass of %u", n);
    compare_line(what, footprint_pass(&lm->config, n, n, 1),
      book.of[MEMORY_ACTIVATIONS].peak);
    pass_close(p);
  }
  store_close(s);
  return ok;
}

@ A cache that allocates all its memory at once can be compared before anything has been read.

@<Compare the formulas with the allocator@>=
static bool compare_cache(const struct model_config *c, const struct cache_plan *p,
  struct error *why)
{
  struct memory book = @[{ .fail_at = 0 }@];
  struct cache_options options = @[{ .rows = p->context * p->batch,@|
    .page_rows = p->page_rows, .pass = p->pass, .format = p->format,@|
    .preallocate = true }@];
  char what[32];
  uint64_t reckoned;
  if (!footprint_cache(c, p, &reckoned, why)) return false;
  struct store *s = cache_open(&book, c, (uint32_t) p->batch, &options, why);
  if (s == NULL) return false;
  snprintf(what, sizeof what, "cache, %s", p->format->name);
  compare_line(what, reckoned, book.of[MEMORY_CACHE].live);
  store_close(s);
  return true;
}

@ The cache is planned for two texts of \given{2000} tokens in pages of 16, once in each format.

@<Open the built-in model, and compare everything@>=
int main(void)
{
  struct memory m = @[{ .fail_at = 0 }@];
  struct counters count = @[{ .passes = 0 }@];
  struct error why;
  struct engine e = @[{ .k = kernels_find(NULL, &why), .c = &count }@];
  struct model *lm = e.k == NULL ? NULL
    : model_open(&m, "models/pocket", &why);
  bool ok = lm != NULL;
  print_by_hand();
  printf("             reckoned     found\n");
  if (ok) compare_weights(lm);
  ok = ok && compare_vocabulary(&why) && compare_pass(&e, lm, 1, &why)@|
    && compare_pass(&e, lm, 64, &why);
  for (size_t i = 0; ok && i < N_FORMATS; i++)
    ok = compare_cache(&lm->config,@|
      &(struct cache_plan) @[{ format_at(i), 2000, 2, 16, 0 }@], &why);
  model_close(&m, lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@* What the tutorials say. \label{sec:accountstutorials}
The five sources print numbers here, and most of their formulas are right. The mistakes are in what they put into them: the hidden size for the heads of keys and values, the numbers of one model for those of another, one gigabyte for the other. Here are the two slips that cost most; the other claims, with those that hold, are in the laboratory.\lab{lab:memorytutorials}

\begin{claimed}{S0-55, S2-57}
It scales with the width of all heads of keys and values, not with the hidden size. In Llama 2 70B this width is \val{claim.S2-57} and the hidden size \given{8192}: the formula with the hidden size gives \val[0]{claim.S0-55} times too much. The batch is missing as well.
\end{claimed}

\begin{claimed}{S3-13}
If all these heads have keys and values, of \val{big.head_dim} numbers in two bytes each, the cache takes \val[0]{claim.S3-13} GiB. With 8 heads of keys and values it takes \val[0]{big.grouped.gib} GiB, which is tens; but then the sentence names the wrong heads. (The shape of GPT-4 is not public.)
\end{claimed}

@* Part II in two pages. \label{sec:questionstwo}
Part II ends with the questions that people ask about the cache, and with what many of them believe. Each answer names the place where a program shows it.

\medskip\noindent\emph{What is autoregressive generation?} To write a token, look at all tokens before it, and choose from the logits after the last; then the chosen token belongs to the text. The loop has six steps (\cref{sec:sixsteps}).

\smallskip\noindent\emph{What is the KV cache?} The keys and values of all rows that have been read. They depend only on the tokens up to their row, so they may be kept. In our engine every bit of every logit is the same with them and without them (\cref{sec:twice}); in engines whose kernels sum many rows in another order than one, the last bits differ.

\smallskip\noindent\emph{Why is it slower as the text grows?} A step has one row, whose cost is constant, and this row attends to all rows before it: the time is $a+bn$ (\cref{sec:cacheclock}).
By \eqref{eq:overtake} attention overtakes the matrices at six times the width of the model, in the shape of GPT-2 small at \val{phases.overtake.gpt2} tokens, beyond the end of its context (\cref{sec:overtake}).

\smallskip\noindent\emph{How much memory does it take?} The weights, and $2Lh\,d_hb$ bytes for each token of each text (\cref{sec:cachebill}): in Llama 7B \val{claim.S0-56} bytes, or a gigabyte every \val[0]{llama.gigabyte} tokens.
\medskip

\noindent Four things to take away:

\begin{itemize}
\item $g$ tokens take $g$ passes: the prompt's pass gives the first, and each pass of one row another.
\item With the cache rows are linear in the length of the text and pairs quadratic; without it rows are quadratic and pairs cubic.
\item The number of rows in a pass decides what limits it: many rows are compute-bound, one row is memory-bound.
\item What makes long texts expensive is the cache. It is a product, and most of its factors are levers.
\end{itemize}

@ And here are four beliefs to give up.

\smallskip\noindent\emph{``It thinks ahead.''} A row is a function of the tokens up to its own: alter the text after it, and not a bit of it changes. A row may well contain something that makes some continuations likelier than others; planning can mean no more than that. The check: |later_tokens_change_nothing|.

\smallskip\noindent\emph{``More processors make the answer come faster.''} The passes of a text follow each other, and no two of them can run at the same time. Within a pass the work can be divided, but a decode step must read all weights, and all workers share the path to memory. Here two workers read \val[2]{phases.scale.bandwidth} times as fast as one, and decode \val[2]{phases.scale.write} times as fast, since one alone did not keep the memory busy. With a third, we think, there would be next to nothing to gain. The check: |one_answer_for_every_schedule| for the bits, and \cref{sec:roofline} for the times.

\smallskip\noindent\emph{``The cache is optional.''} For the text it is, and here a test compares the bits. For the time it is not: without it, a \given{thousand} tokens of the built-in model take \val[0]{cache.clock.ratio.1000} times as long (\cref{sec:cacheclock}). The check: |to_remember_changes_no_bit|.

\smallskip\noindent\emph{``One token at a time is a limitation of the machine.''} It is a choice of what to compute. The chain rule holds for any order (\cref{sec:chance}), and a model that is trained to fill in masked tokens could write in another. A model that predicts the next token can give just that: the next token. The check: |probabilities_of_all_texts_add_up_to_one|.

@* Exercises. \label{sec:accountsexercises}
The command beside an exercise compares your answer with what the modules compute, or with what the allocator counted.

\begin{exercises}
\exercise{check}{ex:accounts.token}{A model has 26 layers, 8 heads of queries, 4 heads of keys and values and a |head_dim| of \given{256}. How many bytes does a token add in \texttt{f16}? And in \texttt{q8\_0}, with scales?}{\texttt{make exercise-06-1}}{$2\cdot26\cdot4\cdot256\cdot2$ bytes; in blocks 34 bytes stand for 32 numbers, which makes $34/64$ of it.}
\exercise{check}{ex:accounts.window}{The same model has a window of \given{4096} in every second layer. How many bytes does a text of \given{8192} tokens take in \texttt{f16}, in steps of one row? And how many would it take without the windows?}{\texttt{make exercise-06-2}}{13 layers have \given{8192} rows and 13 have \given{4096}; a row of one layer takes $2\cdot4\cdot256\cdot2$ bytes.}
\exercise{think}{ex:accounts.askew}{A layer has a window of \given{100}; passes have at most 8 rows, and pages 16. How many pages does a text need at most, and at least, once it is long?}{\texttt{make exercise-06-3}}{The ring has $99+8=\given{107}$ rows, at most $1+\lceil106/16\rceil=8$ pages. If the ring begins where a page begins, \given{107} rows take only 7.}
\exercise{think}{ex:accounts.cross}{From how many tokens on is the cache of Llama 3 8B larger than its weights, both in two bytes?}{\texttt{make exercise-06-4}}{Weights by $2\cdot32\cdot8\cdot128$ numbers a token: $\given{8030261248}/\given{65536}$, and one more.}
\exercise{check}{ex:accounts.half}{A number in a block of \texttt{q8\_0} is off by half a step at most. The largest of a block is 3. By how much could another be off, if the scale were exact? Give four decimals.}{\texttt{make exercise-06-5}}{A step is $3/\given{127}$; half of it is $\given{0.0118}$.}
\exercise{think}{ex:accounts.reach}{A model of 24 layers has a window of \given{512} in every layer. What is the largest distance over which a token can influence the last row of a text? And with four sinks, how many of the first positions can influence it however long the text is?}{\texttt{make exercise-06-6}}{$24\cdot511$ positions; with sinks the first four always can, however far away.}
\exercise{think}{ex:accounts.asymmetric}{Let |encode_block4| use the scale $\max\vert x_i\vert/7$, so that the steps are symmetric and none is cut off. (Before you try it: does the largest error get smaller for the numbers of the box?)}{\texttt{make exercise-06-7}}{|d = fabsf(max) / 7|, the rest as it is. A step of the box becomes $\given{1.6}/7$, which is larger, but nothing is cut: \given{1.55} becomes \given{1.6}, and the largest error falls from \given{0.15} to \given{0.05}.}
\exercise{think}{ex:accounts.sink}{Let the cache always keep the page with the first rows, even if no sinks were asked for, by changing |apply_options| of \cref{cache}. How many more pages does a long text with a window hold then?}{\texttt{make exercise-06-8}}{|s->sink_pages = c->sinks > 0 ? pages_for(s, c->sinks) : 1|. One page more for each group of layers that has a window, once the first page has left it.}
\end{exercises}
