@i types.w
@s kv_format int
@s cache_options int
@s cache_state int
@s tensor_line int
@s named_shape int
@s perplexity int

\chapterquestion{Will it fit?}
@** Memory: weights, cache, activations, and what fits.
\incipit{W}{hoever} has chosen a model asks this first, and some of the answers that go round are off by a factor of \val[0]{big.factor}. Yet nothing is easier to know. Everything that a model keeps while it writes is an array, and the sizes of arrays are products of a few whole numbers that stand in its settings. The weights are there once. The cache is there once for each text, and grows with it. What a pass needs besides is small, and is given
back when the pass is over.

This chapter writes the products down, and then compares them with what was really requested from the allocator, to the byte: chapter 0 has kept the books all the time. Then it goes through what can be done about the sum. Fewer heads of keys and values, a shorter look back, fewer rows, shorter numbers: the first two are built into models that you can load, the others are the choice of who runs them, and each works on one factor of the product.

\begin{byhand}{a thousand bytes}
A model of 2 layers has 4 heads of queries and 2 heads of keys and values, of 3 numbers each. A number takes 2 bytes, all weights together take 400, and the memory has 1000 bytes.

\medskip
\begin{tabular}{@@{}ll@@{}}
a row in one layer & $2\cdot2\cdot3\cdot2=24$ bytes\\
a token, in all layers & $2\cdot24=48$ bytes\\
left for the cache & $1000-400=600$ bytes\\
so many tokens & $600\div48=12.5$, that is 12\\
with 4 heads of both & $2\cdot48=96$ bytes\\
and then & $600\div96=6.25$, that is 6\\
window of 5 in one layer & $20\cdot24+5\cdot24=600$, that is 20
\end{tabular}
\medskip

The factors of the first line are keys and values, heads, numbers and bytes. No key has been computed to know this, and no weight read.
\end{byhand}

@ The chapter makes two modules. One writes down what a model needs, without needing it: |accounts.h|. The other has the shorter numbers: |formats.h|. A short program takes the built-in model and does what was announced: it reckons, then it looks into the books (\cref{sec:agree}). What the levers cost is measured in the laboratory.

@ The module's header. A model is described by the same |model_config| that is read from its files, so whatever can be loaded can be reckoned, and a model that exists only as an idea can be, too.

@(accounts.h@>=
#ifndef INCIPIT_ACCOUNTS_H
#define INCIPIT_ACCOUNTS_H
#include "model/forward.h"
#include "accounts/formats.h"
@<What is there once@>@;
@<What each token leaves@>@;
@<What a pass borrows@>@;
@<Whether it fits@>@;
@<Models that everybody names@>@;
#endif

@* Weights. \label{sec:weightsbill}
The weights are the tensors of the file, and how large each is follows from the settings. Write $d$ for |d_model|, $f$ for |d_inner|, $V$ for the size of the vocabulary; $q$ is the width of a query in all heads, |n_heads*head_dim|, and $k$ that of a key, |n_kv_heads*head_dim|. A layer of Llama's kind has
\begin{equation}\label{eq:layerweights}
  dq+2dk+qd+3df+2d
\end{equation}
numbers: queries, keys and values, the way back, the three matrices of the MLP, and two norms. GPT-2's kind has two matrices in the MLP instead of three, and a bias for everything. The embedding has $Vd$ numbers, and the head as many again unless it is tied to the embedding.

The function makes a list with a line for each kind of tensor: how many numbers one has, and how many of them there are. A model has hardly more than a dozen kinds.
@^parameters@>

@<What is there once@>=
enum { FOOTPRINT_MAX_TENSORS = 16 };
  /* the most kinds of tensors that a model has */
struct tensor_line { const char *name; uint64_t each, times; };
  /* a kind of tensor: |each| has so many numbers, and there are so many |times| */
size_t footprint_tensors(const struct model_config *c,
  struct tensor_line line[FOOTPRINT_MAX_TENSORS]);
  /* the kinds of tensors that a model of these settings has, in the order of a pass;
     returns how many kinds */
uint64_t footprint_parameters(const struct model_config *c);
  /* how many numbers these are together; settings with which they are more than 64
     bits can count are nobody's, and not looked for */
uint64_t footprint_weights(const struct model *lm);
  /* the bytes, as stored, of all tensors that an open model uses */

@ Kinds that the model lacks get no line. What is called a bias in GPT-2 is one number for each output, so a matrix with a bias is a matrix with one input more.

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

@ A layer has two norms, one in front of either half; queries, keys and values, of which the last two are narrower where heads are shared; and the matrices of the MLP. Each line is counted for all layers at once.

@<List the tensors@>=
static void enter_layers(struct tensor_list *l, const struct model_config *c)
{
  uint64_t d = c->d_model, f = c->d_inner, n = c->n_layers;
  uint64_t q = (uint64_t) c->n_heads * c->head_dim;
  uint64_t k = (uint64_t) c->n_kv_heads * c->head_dim;
  enter(l, "norms", c->layer_norm ? 2 * d : d, 2 * n);
  enter(l, "queries", matrix_of(d, q, c->qkv_bias), n);
  enter(l, "keys and values", matrix_of(d, k, c->qkv_bias), 2 * n);
  enter(l, "norms of heads", c->qk_norm ? c->head_dim : 0, 2 * n);
  enter(l, "the way back", matrix_of(q, d, c->out_bias), n);
  enter(l, "up and gate", matrix_of(d, f, c->mlp_bias), c->gated ? 2 * n : n);
  enter(l, "down", matrix_of(f, d, c->mlp_bias), n);
}

@ The ends of the model: tables before the layers, a norm and the head after them. A tied head is the embedding itself, and is not paid for twice.

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
  return l.n;
}

@ The number of parameters, by which models are called, is the sum of this list. It is not the number of multiply--adds: an embedding is looked up and not multiplied.

@<List the tensors@>=
uint64_t footprint_parameters(const struct model_config *c)
{
  struct tensor_line line[FOOTPRINT_MAX_TENSORS];
  uint64_t sum = 0;
  size_t n = footprint_tensors(c, line);
  for (size_t i = 0; i < n; i++) sum += line[i].each * line[i].times;
  return sum;
}

@ A file may store its tensors in different types. So the bytes of a model that is open are asked of the model. Its counters know already what a pass reads in the layers (\cref{sec:rows}); what is left are the two ends.

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
  return sum;
}

@ \Cref{tab:tensors} adds up the parameters of two models. Nearly two thirds of a model of 7B are in the MLP; and of the smallest GPT-2 nearly a third is the table of its vocabulary, which is why a small model had better tie its head.

\begin{table}
\tabcaption{tab:tensors}{Where the weights are: numbers of one tensor, and how many such tensors there are.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
& \multicolumn{2}{c}{GPT-2 small} & \multicolumn{2}{c}{Llama 7B}\\
\tabhead{tensor} & \tabhead{each} & \tabhead{times} & \tabhead{each} & \tabhead{times}\\
embedding & \val{footprint.gpt2.embedding} & \val{footprint.gpt2.embedding.times} & \val{footprint.llama-7b.embedding} & \val{footprint.llama-7b.embedding.times}\\
positions & \val{footprint.gpt2.positions} & \val{footprint.gpt2.positions.times} & --- & ---\\
norms & \val{footprint.gpt2.norms} & \val{footprint.gpt2.norms.times} & \val{footprint.llama-7b.norms} & \val{footprint.llama-7b.norms.times}\\
queries & \val{footprint.gpt2.queries} & \val{footprint.gpt2.queries.times} & \val{footprint.llama-7b.queries} & \val{footprint.llama-7b.queries.times}\\
keys and values & \val{footprint.gpt2.keys} & \val{footprint.gpt2.keys.times} & \val{footprint.llama-7b.keys} & \val{footprint.llama-7b.keys.times}\\
the way back & \val{footprint.gpt2.the} & \val{footprint.gpt2.the.times} & \val{footprint.llama-7b.the} & \val{footprint.llama-7b.the.times}\\
up and gate & \val{footprint.gpt2.up} & \val{footprint.gpt2.up.times} & \val{footprint.llama-7b.up} & \val{footprint.llama-7b.up.times}\\
down & \val{footprint.gpt2.down} & \val{footprint.gpt2.down.times} & \val{footprint.llama-7b.down} & \val{footprint.llama-7b.down.times}\\
last norm & \val{footprint.gpt2.last} & \val{footprint.gpt2.last.times} & \val{footprint.llama-7b.last} & \val{footprint.llama-7b.last.times}\\
head & tied & & \val{footprint.llama-7b.head} & \val{footprint.llama-7b.head.times}\\
\emph{together} & \val{footprint.gpt2.parameters} & & \val{footprint.llama-7b.parameters} &
\end{tabular*}
\end{table}

@* The cache of a token. \label{sec:cachebill}
For every token that has been read, each layer keeps a key and a value, in each head that has its own: $L$ layers, $h$ heads of keys and values, $d_h$ numbers in a head, $b$ bytes in a number. So a token leaves
\begin{equation}\label{eq:tokenbytes}
  2\,L\,h\,d_h\,b
\end{equation}
bytes, $n$ tokens $n$ times as many, and a batch of $B$ texts $B$ times that. The number of heads is that of keys and values, not of queries; where the two are equal, $h\,d_h$ is mostly the width $d$ of the model, and then one can write $2Ldb$. That formula is printed a lot, and is wrong for most models of the last years: of the 64 heads of Llama~2 70B only 8 have keys and values of their own.
@^KV cache@>

@ Formats may put the numbers of a head into blocks, so $d_hb$ is what |weight_row_bytes| says. A layer with a window $W$ needs no more than $S$ sinks and a ring of $W-1+k$ rows, where $k$ is now the longest pass (\cref{sec:leaving}). And rows come in pages of $P$. With all that, a layer has for each text
\begin{equation}\label{eq:pages}
  \left\lceil\frac nP\right\rceil\hbox{\ pages, with a window at most\ }
  \left\lceil\frac SP\right\rceil+1+\left\lceil\frac{W-2+k}P\right\rceil,
\end{equation}
of $P\cdot2\,h\,d_hb$ bytes each, whichever is less. (A ring of $R$ rows lies askew in the pages. In the worst case one row is on the first page, and the $R-1$ others need $\lceil(R-1)/P\rceil$ more.) With pages of one row and passes of one row that is $n$ rows, or $W+S$ at most; this is what is meant when nothing is said of pages.

@<What each token leaves@>=
struct cache_plan { const struct kv_format *format; uint64_t context, batch;
  uint64_t page_rows, pass; };
  /* how rows are kept; tokens of a text; texts; rows of a page and rows of the longest
     pass, where 0 is taken for 1 */
uint64_t footprint_token(const struct model_config *c, const struct kv_format *f);
  /* the bytes that one token leaves in all layers */
uint64_t footprint_rows(const struct model_config *c, uint32_t layer,
  const struct cache_plan *p);
  /* the rows that a text needs in |layer| at most, in whole pages */
bool footprint_cache(const struct model_config *c, const struct cache_plan *p,
  uint64_t *bytes, struct error *why);
  /* the bytes of the whole cache: what a |cache_open| takes that is told to take all
     |preallocate|; errors: blocks that do not fit a head; more than 63 bits can count */

@ The two formulas as functions. Nothing here looks at the cache; that both come to the same is what \cref{sec:agree} is about.

@<Reckon what tokens leave@>=
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

@ Sums for models that nobody has built yet can be as large as anybody likes, and 63 bits, the most that readers of JSON agree about, are not enough for everything that can be typed. So the products of the cache are checked, and a sum that needs more bits is refused and not silently cut.

@<Reckon what tokens leave@>=
static bool multiply(uint64_t *x, uint64_t by)
{
  if (by != 0 && *x > UINT64_MAX / by) return false;
  *x *= by;
  return true;
}

@ So the cache is a sum over the layers, since each may have a window of its own or none. Blocks that a head has no whole number of are refused here as they are when a cache is opened.

@<Reckon what tokens leave@>=
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

@ \Cref{tab:caches} applies it to models that people talk about, in numbers of two bytes. Bytes come in two kinds of thousands, and half of the confusion about memory is that nobody says which he means: a GB is $10^9$ bytes, a GiB $2^{30}$, seven percent more. The makers of memory chips count in GiB, those of disks in GB, and both write GB.
@^GiB@>

\begin{table}
\tabcaption{tab:caches}{What a token leaves in the cache, in bytes, and what a whole context takes, both for numbers of two bytes. The contexts are those of the published settings; Mistral 7B has a window of \val{shape.mistral-7b.window}, and no more rows than that. Heads are those of keys and values.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrrr@@{}}
\tabhead{model} & \tabhead{layers} & \tabhead{heads} & \tabhead{a token} & \tabhead{context} & \tabhead{GB} & \tabhead{GiB}\\
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
Qwen2 7B & \val{shape.qwen2-7b.layers} & \val{shape.qwen2-7b.heads} & \val{shape.qwen2-7b.token} & \val{shape.qwen2-7b.context} & \val[3]{shape.qwen2-7b.gb} & \val[3]{shape.qwen2-7b.gib}
\end{tabular*}
\end{table}

@ These shapes are in the module, because everybody asks for the same ones. A line says which family a model is of and in which numbers it differs from its kin; what is common to the family is asked of \cref{families}.

@<Models that everybody names@>=
struct named_shape { const char *name, *family, *source;
  uint32_t vocab_size, n_positions, d_model, d_inner, n_layers, n_heads,
    n_kv_heads, head_dim, window; bool tied; };
  /* the settings of a published model by which its memory is reckoned */
const struct named_shape *named_shape_at(size_t i);
  /* line number |i| of the table; null after the last */
bool named_shape_find(const char *name, struct model_config *c, struct error *why);
  /* the settings of a model by its name in the table; false and a sentence that
     lists the names */

@ All numbers of the table are from the papers named in it, or from the settings published with the weights.

@<The table of shapes@>=
static const struct named_shape shapes[] = @[{@|
  {"gpt2", "gpt2", "Radford and others 2019", 50257, 1024, 768, 3072,
    12, 12, 12, 64, 0, true},@|
  {"gpt2-medium", "gpt2", "Radford and others 2019", 50257, 1024, 1024, 4096,
    24, 16, 16, 64, 0, true},@|
  {"gpt2-large", "gpt2", "Radford and others 2019", 50257, 1024, 1280, 5120,
    36, 20, 20, 64, 0, true},@|
  {"gpt2-xl", "gpt2", "Radford and others 2019", 50257, 1024, 1600, 6400,
    48, 25, 25, 64, 0, true},@|
  {"gpt3", "gpt2", "Brown and others 2020", 50257, 2048, 12288, 49152,
    96, 96, 96, 128, 0, true},@|
  {"llama-7b", "llama", "Touvron and others 2023", 32000, 2048, 4096, 11008,
    32, 32, 32, 128, 0, false},@|
  {"llama-13b", "llama", "Touvron and others 2023", 32000, 2048, 5120, 13824,
    40, 40, 40, 128, 0, false},@|
  {"llama2-70b", "llama", "Touvron and others 2023b", 32000, 4096, 8192, 28672,
    80, 64, 8, 128, 0, false},@|
  {"llama3-8b", "llama", "Grattafiori and others 2024", 128256, 8192, 4096,
    14336, 32, 32, 8, 128, 0, false},@|
  {"llama3-70b", "llama", "Grattafiori and others 2024", 128256, 8192, 8192,
    28672, 80, 64, 8, 128, 0, false},@|
  {"mistral-7b", "mistral", "Jiang and others 2023", 32000, 32768, 4096, 14336,
    32, 32, 8, 128, 4096, false},@|
  {"qwen2-7b", "qwen2", "Yang and others 2024", 152064, 131072, 3584, 18944,
    28, 28, 4, 128, 0, false} }@];

@ The settings begin as those of the family.

@<The table of shapes@>=
const struct named_shape *named_shape_at(size_t i)
{@+ return i < sizeof shapes / sizeof *shapes ? &shapes[i] : NULL;@+ }
static void shape_settings(const struct named_shape *s, struct model_config *c)
{
  size_t f = 0;
  while (strcmp(config_family(f)->family, s->family) != 0) f++;
  *c = *config_family(f);
  c->vocab_size = s->vocab_size, c->n_positions = s->n_positions;
  c->d_model = s->d_model, c->d_inner = s->d_inner;
  c->n_layers = s->n_layers, c->n_heads = s->n_heads;
  c->n_kv_heads = s->n_kv_heads, c->head_dim = s->head_dim;
  c->window = s->window, c->window_from = 0;
  c->tied = s->tied;
}

@ A name is looked for in the order of the table. Who misses it is told all names that there are, for nobody can guess whether it is \texttt{llama2-70b} or \texttt{llama-2-70b}.

@<The table of shapes@>=
bool named_shape_find(const char *name, struct model_config *c, struct error *why)
{
  char list[300] = "";
  for (size_t i = 0; named_shape_at(i) != NULL; i++) {
    const struct named_shape *s = named_shape_at(i);
    if (strcmp(s->name, name) == 0) {
      shape_settings(s, c);
      return true;
    }
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
      i > 0 ? ", " : "", s->name);
  }
  return error_say(why, "no shape is called `%s'; wanted: one of %s", name,
    list);
}

@* Activations. \label{sec:passbill}
While a pass runs it needs the arrays of its arena (\cref{sec:forward}): for each of its $m$ rows the stream, its normed copy, and what comes back to be added, of $d$ numbers each; queries and what attention has found, of $q$; keys and values; the inside of the MLP; and the cosines and sines of its angles, a pair for each wheel. All these are numbers of four bytes. (If the engine has a pool of workers, the arena is kept for the next pass, \cref{sec:pool}, so what a pass needs stays allocated as long as the pool.) With the letters from above, and $g=2$ for a gated MLP and else 1, a row takes
\begin{equation}\label{eq:activations}
  4\,\bigl(3d+2q+2k+u+gf+2\lfloor d_h/2\rfloor\bigr)+w
\end{equation}
bytes, where $u=3q$ for models whose files have queries, keys and values in one matrix, as GPT-2's from Hugging Face have, and else 0; and $w=\val{activations.row}$ bytes are for what is not a |float|: the token, the position, a |size_t| for the place in the order, at worst a segment of its own, and a mark for a row that is not finite. Besides, each worker has scratch memory for attention, with $d_h+2$ numbers for each whole block of 256 positions that a row can see, and for two more; and |struct pass| itself takes \val{activations.pass} bytes. (If a model has matrices that are stored by inputs, as GPT-2 has, each worker keeps a workspace of a few hundred kilobytes for their panels as well, \cref{sec:room}. It depends neither on the model nor on the text, and is not counted here.) No factor in this is the number of layers: they all use the same arena.
@^activations@>

@<What a pass borrows@>=
uint64_t footprint_pass(const struct model_config *c, uint64_t rows,
  uint64_t max_len, unsigned workers);
  /* the bytes that |model_forward| takes and returns for a pass of |rows| rows,
     the last of
     which is at position |max_len-1| */

@ What the equation calls $w$ is added up from the structures, as the compiler lays them out.

@<Reckon what a pass borrows@>=
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
  uint64_t sheet = (max_len / 256 + 2) * (c->head_dim + 2);
  return sizeof (struct pass) + rows * (4 * numbers + other)
    + workers * 4 * sheet;
}

@ How much is that? A step of Llama 7B has one row and borrows, with one worker and at its first position, \val{activations.llama.one} bytes, less than what its cache grows by in the same step. A prompt of 2048 tokens that is read in one pass borrows \val[1]{activations.llama.prompt} MB. That is why long prompts are read in chunks: what a pass needs grows with the pass, and hardly with the text (the scratch memory grows by \val{activations.llama.scratch} bytes for every 256 positions), and the cache grows with the text and not with the pass.

@ And the tokenizer? Its tables grow by doubling, so their capacity is the first of a series that is large enough. For the list of $n$ ids and that of $m$ merges the series is $256\,(2^i-1)$; for the two tables in which pieces and pairs are looked up, which are never more than half full, it is $2^i$. So the four of them take
\begin{equation}\label{eq:vocabulary}
  20\,R(n)+24\,P(2n)+16\,R(m)+12\,P(2m)
\end{equation}
bytes, $R$ and $P$ being the next number of either series: \val{vocab.pocket} for the built-in vocabulary, and \val{vocab.gpt2} for that of GPT-2, \val[1]{vocab.gpt2.percent} percent of the smallest model's weights in two bytes. To that come the letters of the pieces, \val{vocab.letters} bytes here, and what the library for patterns asks for, \val{vocab.rest} bytes with everything else. Nobody has ever chosen a model for the size of its tokenizer; but it is there, and the books have it.

The numbers in front are the sizes of the entries, which are \cref{tokenizer}'s and \cref{sec:tables}'s, and how a table grows is their business too. So the tokenizer's module is asked:
|tokenizer_bytes| is \eqref{eq:vocabulary} for any $n$ and $m$, and |tokenizer_tables| says of a tokenizer that is open how many entries it has, and how many bytes its tables really take.

@* Does it fit?. \label{sec:fits}
Weights and cache together must not be more than there is; the arena of a pass comes on top, and an estimate to the last byte must include it. Weights are fixed, and the cache is a multiple of the context and of the batch; so how many texts there may be is a subtraction and a division, and how long one may be is nearly that:
\begin{equation}\label{eq:fits}
  B_{\max}=\left\lfloor\frac{\hbox{budget}-\hbox{weights}}{\hbox{cache of one text}}\right\rfloor.
\end{equation}
A Llama 7B in numbers of two bytes takes \val[2]{fits.llama.weights} GB, and on an accelerator of 80 GB, taken as $80\cdot10^9$ bytes, there is room for \val{fits.llama.batch} texts of 4096 tokens each, or for one of \val{fits.llama.context}. (It was trained for 2048. The account knows what can be paid for, not what makes sense.)

@<Whether it fits@>=
uint64_t footprint_max_context(const struct model_config *c, const struct cache_plan *p,
  uint64_t weights, uint64_t budget);
  /* the longest context that |p->batch| texts may have, so that |weights| and their
     cache take |budget| bytes at most; |UINT64_MAX| if the cache does not grow */
uint64_t footprint_max_batch(const struct model_config *c, const struct cache_plan *p,
  uint64_t weights, uint64_t budget);
  /* how many texts of |p->context| tokens; |UINT64_MAX| if they take nothing */

@ With windows and pages the cache of a text is no multiple of its length, but it never gets smaller when the text gets longer. So the longest context is found by halving an interval: one end fits, the other does not, and the middle becomes one or the other. If even $2^{62}$ tokens fit, the cache has stopped growing, as it does if all layers have a window.

@<Reckon what fits@>=
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

@ How many texts fit is the quotient of \eqref{eq:fits}. A budget of more than 63 bits is taken for one of 63, so that what is answered can also be reckoned.

@<Reckon what fits@>=
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

@ \Cref{fig:stack}\lab{lab:stack} is this for one model and one text that gets longer. The weights are a floor; on it stands the cache, a wedge. How steep it is depends on the levers of the next sections, and they are what the rest of the chapter is about: the same shape, the same text, and the wedge cut to a quarter, and that to little more than a quarter again. (The floor is drawn as it is published. With 8 heads the matrices of keys and values would be smaller, too, and it would lie \val[0]{stack.floor} percent lower.)

\fig{stack}{fig:stack}{Memory for one text on Llama 7B's shape, in GB, over the length of the text: the weights in two bytes a number, and on them the cache, with 32 heads of keys and values as published, with 8, and with 8 in blocks of four bits; each wedge begins at the floor. The line is an accelerator of 80 GB, taken as $80\cdot10^9$ bytes.}{Three wedges on a common floor. The steepest crosses the line of the accelerator before the end; the second is a quarter as steep, the third hardly rises above the floor.}

@ The module of accounts in C's order.

@(accounts.c@>=
#include <stdio.h>
#include <string.h>
#include "accounts/accounts.h"
#include "families/config.h"
#include "families/layout.h"
@;@#
@<List the tensors@>@;
@<Reckon what tokens leave@>@;
@<Reckon what a pass borrows@>@;
@<Reckon what fits@>@;
@<The table of shapes@>@;

@* Grouped-query attention. \label{sec:grouped}
The first lever is in the formula as $h$. Several heads of queries may share one head of keys and values (Ainslie and others 2023); in the extreme all of them share a single one (Shazeer 2019). The queries stay as many as they were, and so do the multiplications of attention; what gets less is what is stored and read. Llama 2 70B has 64 heads of queries and 8 of keys and values: a context of 4096 takes \val{footprint.70b.grouped} bytes, \val[2]{footprint.70b.grouped.gib} GiB, where with 64 it would be \val[0]{footprint.70b.full.gib} GiB.
@^grouped-query attention@>@^multi-query attention@>

Chapter 2 has had groups from the start: head number $i$ of the queries looks at head $\lfloor i/g\rfloor$ of the keys, $g$ being the size of a group. With groups of one that is the attention of 2017, and not another function that happens to do the same: no kernel asks whether there are groups. The other direction can be tested, too. Take a model with groups and write the matrix of each head of keys, and of values, $g$ times, once for each query head of the group. That is a model without groups, with a cache $g$ times as large, and all its logits are the same bits. (|groups_are_shared_heads| in \.{tests/check\_accounts.c} does this.)

Is anything lost? Not by the arithmetic, if a model was trained with groups. Whether it would have become better without them only training can tell; Ainslie and others measured it, and found eight heads of keys and values nearly as good as all, and a single one somewhat worse.

@* Sliding windows. \label{sec:ring}
The second lever is $n$. A row of a layer with a window of $W$ sees itself and the $W-1$ rows before; so the rows before those can go, and the cache of this layer stops growing. \Cref{sec:leaving} has done it: what stays are $W-1+k$ rows for a pass of $k$. \Cref{fig:ring}\lab{lab:ring} watches a window of six at work, with pages of one row. Each row of the text takes the place of the one that has just left.

\widefig{ring}{fig:ring}{A window of six rows in the built-in model, read from the cache: a line for each place in memory, a column for each token that is read, and in each cell the position of the row that lies there. Red is the row that was just written. The first four tokens came in one pass.}{A grid of six lines and sixteen columns. From the seventh column on each new number stands in the line of the oldest, and the red cells run down a staircase that begins anew every six columns.}

@ The rows that have gone are not lost altogether. In the layer below, the oldest row of a window has seen a window of its own. So through $L$ layers something can travel
\begin{equation}\label{eq:reach}
  L\,(W-1)
\end{equation}
positions, one window less a row in each layer, and not a position further. A test changes a token, and the last row that differs stands exactly there (|a_token_reaches_so_far_and_no_further|). Another compares with a model that sees everything: the first row that differs is number $W+1$, counted from 1, the first that has lost something (|a_ring_is_a_mask|).

@* Attention sinks. \label{sec:sinks}
The third lever is to throw rows away although the model would still see them. Which? The oldest, one would say, and that is the window again. But models that were trained to see everything take it badly. Xiao and others (2023) found why: many heads put most of their weight on the very first positions when there is nothing that they want to look at, because a softmax must put it somewhere. Take those rows away, and all the weights of such a head change. So a few of the first rows are kept besides the last ones; they are called \emph{attention sinks}.
@^attention sink@>@^eviction@>

In our program that is a cache with the options |window| and |sinks|: a row sees the first $S$ positions and its window, and nothing between. The model is not changed by that; another cache may show all of its rows. The rows between leave the cache. Positions are \emph{kept}: a key stays turned by the position at which it was read, and a new row goes on counting. (Xiao and others do it the other way. They number the rows in the cache anew in each step, and turn all their keys to their new places. Then a text can become longer than the positions that the model was trained for; but every key must be stored unturned, and turned in every step by every row that looks at it, and what a chunk computes would depend on where it begins.) Models with learned positions are refused: sinks are for texts without end, and their table of positions has one.

@* Shorter number formats. \label{sec:rowformats}
The last factor of the product is the number of bytes in a number. A key is compared with queries and a value is averaged with others; neither needs seven digits. So a cache may keep them in 16 bits, or in blocks, where 32 numbers share a scale. The store of chapter 4 takes a |kv_format| and asks no further: it packs what it is given, and the view says in which type it is to be read. Here are the formats.
@^quantization@>@^block@>

@(formats.h@>=
#ifndef INCIPIT_FORMATS_H
#define INCIPIT_FORMATS_H
#include "cache/cache.h"
@<Ways to keep a row@>@;
#endif

@ A format is found by its name, which is the word that \texttt{--kv-type} takes.

@<Ways to keep a row@>=
enum { N_FORMATS = 5 };
  /* in how many formats a row can be kept */
const struct kv_format *format_at(size_t i);
  /* \.{f32}, \.{f16}, \.{bf16}, \.{q8\_0}, \.{q4\_0}: the bytes are those of ggml; null
     after the last */
const struct kv_format *format_find(const char *name, struct error *why);
  /* the one of that name; null and a sentence that lists them */
void format_decode(enum weight_type type, const void *from, size_t n, float *x);
  /* the |n| numbers that a row of this type stands for, exactly */
bool format_can_hold(const struct kv_format *f, const float *x, size_t n,
  struct error *why);
  /* whether |x| can be packed: its numbers are finite, the scale of each block is one
     of binary16, and blocks are whole */

@ How is a block of 32 made? In \texttt{q8\_0} the largest of them, whatever its sign, is to become 127, or $-127$, and the others are rounded to whole numbers on that scale: $d=\max\vert x_i\vert/127$, and $x_i/d$ to the nearest, halves away from 0. What is stored is $d$, in binary16, and 32 bytes: 34 bytes for 32 numbers.

In \texttt{q4\_0} there are sixteen values, from $-8$ to $7$. They are not symmetric, so the largest gets the long side: $d$ is such that it becomes $-8$, and has the opposite sign of it. That costs the number that lies furthest on the other side up to one step. What is stored is $x_i/d+8$, rounded and kept below 16; two of them fit into a byte: 18 bytes for 32 numbers.

\begin{byhand}{four numbers on sixteen steps}
A block of four, for short: $-1.6$, $0.5$, $0.25$ and $1.55$. The largest is $-1.6$, so $d=-1.6\div(-8)=0.2$.

\medskip
\begin{tabular}{@@{}lrrrr@@{}}
the number & $-1.6$ & $0.5$ & $0.25$ & $1.55$\\
divided by $d$ & $-8$ & $2.5$ & $1.25$ & $7.75$\\
and $8.5$ more & $0.5$ & $11$ & $9.75$ & $16.25$\\
cut off, at most 15 & $0$ & $11$ & $9$ & $15$\\
less 8, times $d$ & $-1.6$ & $0.6$ & $0.2$ & $1.4$
\end{tabular}
\medskip

What is rounded is off by half a step at most, $0.1$. But $1.55$ has been cut: it would have become 16, which is a step too many, and is off by $0.15$.
\end{byhand}

@ The scale is rounded to binary16, but the numbers have been divided by the scale as it was before: that is how ggml makes its blocks, and files of models are made so, too. A float outside the range of a whole-number type may not be converted to it: C leaves open what comes of that. So there are limits on both sides, and what is no number becomes 0.

@<Pack a block@>=
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

@ Of four bits, the halves of a byte are filled from both halves of the block, so that whoever unpacks sixteen bytes at once gets sixteen neighbours from the low halves.

@<Pack a block@>=
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

@ A row is packed number by number, or block by block. Blocks begin anew with each head of each position, so that no scale has a part in two rows: a row that is overwritten or cut off takes its scales with it.

@<Pack a row@>=
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

@ Unpacking rounds nothing. A packed row is a tensor like those of a file, and |tensor_number| gives a number of any tensor, whatever its type. Attention unpacks rows in its own registers (\cref{sec:bodies}); this function is for programs that want to look at what is stored, such as \texttt{incipit probe quantize}.

@<Unpack a row@>=
void format_decode(enum weight_type type, const void *from, size_t n, float *x)
{
  struct tensor row = @[{ from, type }@];
  for (size_t i = 0; i < n; i++) x[i] = tensor_number(row, i);
}

@ The table, and who looks into it.

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
  error_say(why, "no format is called `%s'; wanted: f32, f16, bf16, q8_0 or"@|
    " q4_0", name);
  return NULL;
}

@ Not everything can be packed. An infinite number makes the scale of its block infinite, a scale beyond the largest number of binary16 becomes so, and what is no number is packed as 0. Inside a pass nobody asks. There it is the row itself that tells: a row with a number that is not finite is noted after its layer, whatever the cache makes of it, and an infinite scale makes the rows that look at it such rows (\cref{sec:forward}). Who packs for its own sake can ask before. (In binary16 itself a large number becomes infinity, as the rule of rounding has it, and that is allowed.)

@<Say whether numbers can be packed@>=
bool format_can_hold(const struct kv_format *f, const float *x, size_t n,
  struct error *why)
{
  const struct number_type *t = &number_types[f->type];
  if (n % t->block != 0)
    return error_say(why, "%zu numbers in %s; wanted: a multiple of %d", n,
      f->name, t->block);
  for (size_t i = 0; i < n; i++) {
    if (x[i] - x[i] != 0)
      return error_say(why, "number %zu is not finite; wanted: finite numbers",
        i);
    if (t->largest > 0
        && (num_to_f16(fabsf(x[i]) / t->largest) & 0x7c00) == 0x7c00)
      return error_say(why, "number %zu, %g, gives its block a scale beyond"@|
        " binary16; wanted: a smaller number", i, (double) x[i]);
  }
  return true;
}

@ The module in C's order.

@(formats.c@>=
#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "accounts/formats.h"
@;@#
@<Pack a block@>@;
@<Pack a row@>@;
@<Unpack a row@>@;
@<Find a format@>@;
@<Say whether numbers can be packed@>@;

@* The cost of forgetting. \label{sec:forgetting}
A lever that a model was not trained with makes another model of it. How much another? Three tales that the built-in model has not seen, \val{tales.tokens} tokens in one context, are read with each,\lab{lab:forgetting} and every row is scored: how far its worst logit is from the exact one, how many of the rows would have chosen another token, and the perplexity (\cref{sec:perplexity}).
@^perplexity@>

@ The formats first (\cref{tab:formats}). Sixteen bits change next to nothing: with neither of the two formats does any row choose another token. The blocks of eight bits err more than \texttt{bf16} does, though that too keeps only eight bits of each number: a block has one scale, and its small numbers lose what the largest one dictates. Of \val{tales.rows} rows \val{kv.q8_0.changed} changes its mind. Four bits are another matter: the farthest logit of a row is off by \val[2]{kv.q4_0.mean} in the mean and by \val[2]{kv.q4_0.most} at most, and \val{kv.q4_0.changed} rows lead to another token. The perplexity hardly notices: it comes from a mean over all tokens, and most of them were clear.

\begin{table}
\tabcaption{tab:formats}{What is left of the logits if keys and values are kept shorter: bytes a token in the built-in model, with scales; the largest error of a logit, and the mean of each row's largest; rows with another likeliest token; perplexity.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrr@@{}}
\tabhead{format} & \tabhead{bytes} & \tabhead{largest} & \tabhead{mean} & \tabhead{changed} & \tabhead{perplexity}\\
\texttt{f32} & \val{kv.f32.bytes} & \val[4]{kv.f32.most} & \val[4]{kv.f32.mean} & \val{kv.f32.changed} & \val[4]{kv.f32.perplexity}\\
\texttt{f16} & \val{kv.f16.bytes} & \val[4]{kv.f16.most} & \val[4]{kv.f16.mean} & \val{kv.f16.changed} & \val[4]{kv.f16.perplexity}\\
\texttt{bf16} & \val{kv.bf16.bytes} & \val[4]{kv.bf16.most} & \val[4]{kv.bf16.mean} & \val{kv.bf16.changed} & \val[4]{kv.bf16.perplexity}\\
\texttt{q8\_0} & \val{kv.q8_0.bytes} & \val[4]{kv.q8_0.most} & \val[4]{kv.q8_0.mean} & \val{kv.q8_0.changed} & \val[4]{kv.q8_0.perplexity}\\
\texttt{q4\_0} & \val{kv.q4_0.bytes} & \val[4]{kv.q4_0.most} & \val[4]{kv.q4_0.mean} & \val{kv.q4_0.changed} & \val[4]{kv.q4_0.perplexity}
\end{tabular*}
\end{table}

@ The second promise holds among the paths of each format. A row is packed before anybody looks, and what was packed once is what everybody reads; so with \texttt{q4\_0}, too, a text in one pass, in chunks, token by token, forked, or with no cache at all has the same bits. They are other bits than those of \texttt{f32}, and the same at every attempt.

\Cref{fig:kverrors} has the errors row by row. They do not grow with the position, though later rows look at more and more keys that are a little off.

\fig{kverrors}{fig:kverrors}{The largest error of a logit in each row of the three tales, for four formats of the cache, each point the median of 32 rows; the axis of errors is logarithmic. The marks below are groups of 32 in which the likeliest token of a row has changed, a larger one for two rows; above those of q4\_0, below that of q8\_0.}{Four bands, one above the other, level from left to right: f16 lowest, then bf16 and q8\_0 close together, then q4\_0, nearly three orders of magnitude above the first.}

@ Then the windows (\cref{tab:windows}). A window of 128 makes this model's perplexity \val[1]{win.128.percent} percent larger, and a window of 16 makes it \val[0]{win.16.percent} percent larger: most of what a tale needs was told not long ago. Four sinks help less than their four rows do as a part of the window: beside a window of 16 they bring the perplexity to \val[3]{win.16.sinks.perplexity}, and a window of 20 has \val[3]{win.20.perplexity}. From a width of 256 on they do hardly anything. The effect for which they were invented does not show in this model, which was trained on short texts; where a model leans on its first positions, the left half of the table would look worse, and the right half would not.

\begin{table}
\tabcaption{tab:windows}{The tales with a window in all layers, without and with four sinks: rows that such a cache needs if it is read token by token, rows whose likeliest token has changed, and perplexity.}
\begin{tabular*}{\textwidth}{@@{}r@@{\extracolsep{\fill}}rrrrrr@@{}}
& \multicolumn{3}{c}{no sinks} & \multicolumn{3}{c}{four sinks}\\
\tabhead{window} & \tabhead{rows} & \tabhead{changed} & \tabhead{perplexity} & \tabhead{rows} & \tabhead{changed} & \tabhead{perplexity}\\
16 & \val{win.16.rows} & \val{win.16.changed} & \val[4]{win.16.perplexity} & \val{win.16.sinks.rows} & \val{win.16.sinks.changed} & \val[4]{win.16.sinks.perplexity}\\
64 & \val{win.64.rows} & \val{win.64.changed} & \val[4]{win.64.perplexity} & \val{win.64.sinks.rows} & \val{win.64.sinks.changed} & \val[4]{win.64.sinks.perplexity}\\
128 & \val{win.128.rows} & \val{win.128.changed} & \val[4]{win.128.perplexity} & \val{win.128.sinks.rows} & \val{win.128.sinks.changed} & \val[4]{win.128.sinks.perplexity}\\
256 & \val{win.256.rows} & \val{win.256.changed} & \val[4]{win.256.perplexity} & \val{win.256.sinks.rows} & \val{win.256.sinks.changed} & \val[4]{win.256.sinks.perplexity}\\
1024 & \val{win.1024.rows} & \val{win.1024.changed} & \val[4]{win.1024.perplexity} & \val{win.1024.sinks.rows} & \val{win.1024.sinks.changed} & \val[4]{win.1024.sinks.perplexity}
\end{tabular*}
\end{table}

@* Estimate and measurement. \label{sec:agree}
A formula that was derived from the code by its author agrees with the code, of course. So the other side must be somebody else. All memory of this program is requested from one allocator, which writes down every request (\cref{sec:memory}); its books know nothing of formulas. The test opens more than two hundred models of random shapes, each of which it has written to a file itself: families, heads, groups, widths, layers, windows, sinks, formats, pages, batches, passes. It adds the equations of this chapter up in its own words, and compares them with the books and with the length of the file. The sums must agree to the byte (|the_formula_is_the_allocator| in \.{tests/check\_accounts.c}).

The program of this chapter does the same for the built-in model. First it reckons the case that was done by hand; then it prints, line by line, what the formulas say and what the books have.

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
@<Compare the formulas with the books@>@;
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

@ A line has what was reckoned and what was found. If the two differ, it says so.

@<Compare the formulas with the books@>=
static void compare_line(const char *what, uint64_t reckoned, uint64_t found)
{
  printf("%-11s %9" PRIu64 " %9" PRIu64 "%s\n", what, reckoned, found,
    reckoned == found ? "" : "  differ");
}

@ The weights are mapped from the file and not taken from the allocator; for them the books are the file itself, in which each tensor says how many bytes it has.

@<Compare the formulas with the books@>=
static void compare_weights(const struct model *lm)
{
  uint64_t stored = 0;
  for (size_t i = 0; i < tensor_file_count(lm->weights); i++)
    stored += tensor_file_at(lm->weights, i)->bytes;
  compare_line("weights", 2 * footprint_parameters(&lm->config), stored);
}

@ The tables of the vocabulary are reckoned from their entries, and the tokenizer says how many bytes it has really allocated for them.

@<Compare the formulas with the books@>=
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

@ A pass borrows and gives back, so of it the books have the peak. That is a peak over all passes so far; therefore each pass has a book of its own. Which tokens are read makes no difference.

@<Compare the formulas with the books@>=
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

@ A cache that is told to take all its memory at once can be compared before anything has been read.

@<Compare the formulas with the books@>=
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

@ The plan of the cache is of two texts of 2000 tokens in pages of 16, once in each format.

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

@ This is what it prints.

\checkpoint{build/out/accounts.txt}{the case by hand; bytes as reckoned and as found (caches are of two texts of 2000 tokens)}

@* What the tutorials say. \label{sec:accountstutorials}
Here the five sources have figures, and the formula behind most of them is right. What goes wrong is what is put into it: the hidden size for the heads of keys and values, the numbers of one model for another's, more tokens than a model has positions; and the two kinds of thousands.\lab{lab:memoryclaims}

\begin{tutorial}{wrong}{S3-13}
\quoted{For a model like GPT-4 with \textasciitilde 120 layers and \textasciitilde 128 attention heads, the KV cache for a 128K-token context can consume tens of gigabytes of GPU memory.}
\ourrun of such heads, with \val{big.head_dim} numbers of two bytes each, \val[0]{claim.S3-13} GiB. With 8 heads of keys and values it would be \val[0]{big.grouped.gib} GiB, which is tens; but then it must be said. (Nobody outside knows the shape of GPT-4.)
\end{tutorial}

\begin{tutorial}{misleading}{S0-19}
\quoted{half an MB per token in this toy}
\ourrun \val{claim.S0-19} bytes a token in six layers of 4096 numbers. The half is that of another model, of 32 layers (S0-42).
\end{tutorial}

\begin{tutorial}{misleading}{S0-41}
\quoted{a frontier-scale model. Take a 32-layer model with a 4096-dimension hidden state}
\ourrun $12Ld^2$, with an MLP of four times the width, are \val{claim.S0-41} weights in the layers. That is what everybody calls 7B.
\end{tutorial}

\begin{tutorial}{ambiguous}{S0-42, S0-43}
\quoted{A 100,000-token context window needs 50 GB of KV cache}
\ourrun \val{claim.S0-43} bytes, \val{claim.S0-42} for each token: \val[2]{fifty.gb} GB or \val[2]{fifty.gib} GiB. Neither is 50: 50 GiB is what $102\,400$ tokens take, and 50 GB what $100\,000$ would take of $500\,000$ bytes each.
\end{tutorial}

\begin{tutorial}{misleading}{S0-55, S2-57}
\quoted{It scales with the number of layers, hidden size, precision, and sequence length.}
\ourrun with heads of keys and values instead of hidden size: in Llama 2 70B these are \val{claim.S2-57} numbers of 8192, and the formula with the hidden size says \val[0]{claim.S0-55} times too much. And with the batch.
\end{tutorial}

\begin{tutorial}{misleading}{S2-60}
\quoted{For GPT-2 Small, cache requirements remain modest even at 8K tokens.}
\ourrun \val{claim.S2-60} bytes, more than the \val{small.weights} of the model itself, whose positions end at 1024.
\end{tutorial}

@ Right, or right if one knows what is meant: a token of Llama 7B's shape leaves \val{claim.S0-56} bytes; a step of GPT-2 small at its last position reads \val{claim.S1-16} bytes of weights and cache together, or a little less, as of the table of positions it looks up one row; 4096 tokens of the 70B take \val{claim.S1-25} bytes (\val[2]{footprint.70b.grouped.gib} GiB); $131072$ tokens of a 7B take \val[0]{claim.S2-91} GiB, and of the 70B \val[0]{claim.S1-26} GiB; GPT-3 needs \val[0]{claim.S2-61} GiB for its 2048 tokens, and its cache equals its weights with \val[0]{users.gpt3} users of such a text each.

Three claims no program can decide. That most single GPUs have less than 50 GB (S0-44) is true or not depending on the year; the \val[1]{fifty.sum} GB of that cache and its weights fit into one accelerator of 80 GB and into no card for games. That memory and not compute is the limit of long contexts (S0-39, S3-14) is true of one text on a large machine in decode, and false of prefill: there the pairs are quadratic, and \cref{sec:serial} has the length from which they dominate.

@* Questions. \label{sec:questionstwo}
Part II ends with what people ask, and with what they believe. After each answer comes the place where a program shows it.

\medskip\noindent\emph{What is autoregressive generation?} To write a token, look at all before it, and choose from the scores after the last; then the token belongs to the text. The loop has six steps (\cref{sec:sixsteps}).

\smallskip\noindent\emph{What is the KV cache?} The keys and values of all rows that have been read. They are functions of the tokens up to their row, so they may be kept; with them and without them no bit of a logit differs (\cref{sec:twice}).

\smallskip\noindent\emph{Why is it slower as the text grows?} A step has one row, whose cost is always the same, and it looks at all rows before: $a+bn$ (\cref{sec:cacheclock}). In GPT-2 small's shape $bn$ passes $a$ far beyond the end of the context.

\smallskip\noindent\emph{How much memory does it take?} Weights, and $2Lh\,d_hb$ bytes a token and text (\cref{sec:cachebill}); for a Llama 7B \val{claim.S0-56} bytes, a gigabyte every \val[0]{llama.gigabyte} tokens.

\smallskip\noindent\emph{Can it run without?} Yes, with the same text. A thousand tokens of the built-in model take \val[0]{cache.clock.ratio.1000} times as long (\cref{sec:cacheclock}).
\medskip

@ To take away:

\begin{itemize}
\item One token a pass, and $1+(g-1)$ passes for $g$ tokens: the first comes from the prompt's pass.
\item With the cache rows are linear in the text and pairs are quadratic; without it rows are quadratic and pairs cubic.
\item The number of rows of a pass decides what it waits for: many rows for arithmetic, one row for memory.
\item The cache is the cost of length. It is a product, and most of its factors are levers.
\end{itemize}

@ And four beliefs.

\smallskip\noindent\emph{``It thinks ahead.''} Nothing of the tokens to come is there to be thought of. A row is a function of the tokens up to its own; alter the text after it, and not a bit of it changes. What a row may contain is what makes some continuations likelier than others, and that is all that planning can mean here. The check: |later_tokens_change_nothing|.

\smallskip\noindent\emph{``More processors make the answer come faster.''} The passes of a text follow each other, and no two of them can run at the same time. Within a pass the work can be divided, and a step of decode must read all weights: two workers shorten it as far as two workers read faster than one, here \val[2]{phases.scale.write} times. The check: |one_answer_for_every_schedule| for the bits, and \cref{sec:roofline} for the times.

\smallskip\noindent\emph{``The cache is optional.''} For the text, yes; that is a theorem here, and a test. For the time, no. The check: |to_remember_changes_no_bit|.

\smallskip\noindent\emph{``One token at a time is a limitation of the machine.''} It is a choice of what to compute. The chain rule holds for any order (\cref{sec:chance}), and a model that is trained to fill in masks could write in another. Given a model that predicts the next token, that next token is what it can say. The check: |probabilities_of_all_texts_add_up_to_one|.

@* The check. \label{sec:accountscheck}
What the program prints:

\checkpoint{build/out/accounts.txt}{the case by hand; bytes as reckoned and as found (caches are of two texts of 2000 tokens)}

@* Exercises. \label{sec:accountsexercises}
The command beside an exercise judges your answer by what the modules reckon, or by what the allocator gave.

\begin{exercises}
\exercise{check}{ex:accounts.token}{A model has 26 layers, 8 heads of queries, 4 heads of keys and values and a |head_dim| of 256. How many bytes does a token leave in \texttt{f16}? And in \texttt{q8\_0}, with scales?}{\texttt{make exercise-06-1}}{$2\cdot26\cdot4\cdot256\cdot2$ bytes; in blocks 34 bytes stand for 32 numbers, which makes $34/64$ of it.}
\exercise{check}{ex:accounts.window}{The same model has a window of 4096 in every second layer. How many bytes does a text of 8192 tokens take in \texttt{f16}, in steps of one row? And how many would it take without the windows?}{\texttt{make exercise-06-2}}{13 layers have 8192 rows and 13 have 4096; a row of one layer takes $2\cdot4\cdot256\cdot2$ bytes.}
\exercise{think}{ex:accounts.askew}{A layer has a window of 100; passes have at most 8 rows, and pages 16. How many pages can a text hold at most, and at least, once it is long?}{\texttt{make exercise-06-3}}{The ring has $99+8=107$ rows, at most $1+\lceil106/16\rceil=8$ pages. If they begin with a page, even 107 rows lie on 7.}
\exercise{think}{ex:accounts.cross}{From how many tokens on is the cache of Llama 3 8B larger than its weights, both in two bytes?}{\texttt{make exercise-06-4}}{Weights by $2\cdot32\cdot8\cdot128$ numbers a token: $8030261248/65536$, and one more.}
\exercise{check}{ex:accounts.half}{A number in a block of \texttt{q8\_0} is off by half a step at most. The largest of a block is 3. By how much could another be off, if the scale were exact? Give four digits after the point.}{\texttt{make exercise-06-5}}{A step is $3/127$; half of it is $0.0118$.}
\exercise{think}{ex:accounts.reach}{A model of 24 layers has a window of 512 in every layer. How many positions back can the last row of a text be influenced at most? And with four sinks, how many of the first positions can influence it however long the text is?}{\texttt{make exercise-06-6}}{$24\cdot511$ positions; with sinks the first four can always be, however far away.}
\exercise{build}{ex:accounts.asymmetric}{Let |encode_block4| use the scale $\max\vert x_i\vert/7$, so that the steps are symmetric and none is cut off. Change the function. Does the largest error of a block get smaller for the numbers of the box?}{\texttt{make exercise-06-7}}{|d = fabsf(max) / 7|, the rest as it is. A step of the box becomes $1.6/7$, which is larger, but nothing is cut: 1.55 becomes 1.6, and the largest error falls from 0.15 to 0.05.}
\exercise{build}{ex:accounts.sink}{Let the cache keep the page of the first rows for ever also if nobody asked for sinks, by changing |apply_options| of \cref{cache}. How many pages more does a long text with a window hold then?}{\texttt{make exercise-06-8}}{|s->sink_pages = c->sinks > 0 ? pages_for(s, c->sinks) : 1|. One page more for each layer group that has a window, once the first page has left it.}
\end{exercises}
