@i types.w
@s json_error_t int
@s json_int_t int

\chapterquestion{If GPT-2, Llama and Qwen are one kind of model, what is all the rest in their settings files?}
@** Published models: from settings to a model.
\incipit{O}{ne kind of} model has many makers, and each has changed something: where positions enter, which numbers are scaled, which
products get a bias. Each has recorded the changes in a settings file, under names of its own. In this chapter we read those files and build the model
that \cref{model} computes with. We write no program for each family. The differences are data: one description, filled from a table, has all that the engine
must know about a family, and a setting that we do not know is refused by name.
@^model@>@^family@>

The hardest of the differences can be worked out on paper. Rotary positions turn pairs of numbers in queries and keys (\cref{sec:layer}), some fast and some slow; we call each pair a \emph{wheel}. The model
has been trained on short texts. How must we slow the wheels, so that it can read texts five times as long?

\begin{byhand}{four wheels, slowed five times}
A head of 8 numbers has 4 wheels. Each turns ten times slower than the one before, and in the longest training text
the first made 20 turns. \emph{Linear} slows all of them to $1/5=0.20$. The other two methods keep a share $s$ of each wheel's speed and slow
the rest: the speed becomes $s+(1-s)\cdot0.20$.

\medskip
\begin{tabular}{@@{}rrrrrrr@@{}}
& & \tabhead{linear} & \tabhead{llama3} & & \tabhead{yarn} &\\
\tabhead{wheel} & \tabhead{turns} & \tabhead{speed} & \tabhead{share} & \tabhead{speed} & \tabhead{share} & \tabhead{speed}\\
0 & 20 & 0.20 & 1.00 & 1.00 & 1.00 & 1.00\\
1 & 2 & 0.20 & 0.33 & 0.46 & 0.50 & 0.60\\
2 & 0.2 & 0.20 & 0.00 & 0.20 & 0.00 & 0.20\\
3 & 0.02 & 0.20 & 0.00 & 0.20 & 0.00 & 0.20
\end{tabular}
\medskip

In \emph{llama3} the share grows with the turns, from 0 at 1 turn to 1 at 4: for wheel 1 it is $(2-1)/(4-1)=0.33$. In \emph{yarn} it falls with the number of the
wheel. Which number would a wheel of exactly 4 turns have? $20/4=5$ is ten to the power 0.70, so its number is 0.70, rounded down 0. A wheel of 1
turn has the number 1.30, rounded up 2. Wheel 1 is half-way from 0 to 2, and its share is $1-0.50=0.50$. In addition, yarn multiplies every score by $(1+0.1\cdot\ln5)^2=1.16^2=1.35$.
\end{byhand}

@ The program computes the same table with the engine's own functions; \.{unwoven/families/slowed.inc} has the loop. The longest training text must be a whole number of positions there: with \given{125} of them the first wheel makes 20 turns, to two digits.

@c
#include <math.h>
#include <stdio.h>
#include "families/rope_scaling.h"
#include "families/slowed.inc"
@;@#
int main(void)
{
  print_hand();
  return 0;
}

@* One model with switches. \label{sec:switches}
One diagram describes the first five families (\cref{fig:families})\lab{lab:families}: a row is looked up, goes through layers of two halves, and is compared with the
vocabulary. At some places of the diagram there is a switch, and a family is a setting of the switches. Some switches are fixed for the family; others are left
to the file, so that two models of one family can differ.
@^family@>@^GPT-2@>@^Llama@>@^Mistral@>@^Qwen@>

\fig{families}{fig:families}{One model, and where the families differ. A dot is a switch that the family has always on, a ring one that is always off, and a
half is left to the file. The marks are read from the table of this chapter.}{A diagram in two parts. On the left the way of a row from the bottom up: embedding, then a
layer of two halves with norm, queries, keys and values, attention, output, norm, and the MLP, then the head. From these places
lines lead to rows of marks on the right, one for each switch, in five columns: GPT-2, Llama, Mistral, Qwen2, Qwen3. GPT-2's column is nearly the opposite of the others:
learned positions, LayerNorm and biases on, gate and rotations off. The other four differ in six places, mostly in halves.}

Why do they differ in these places? Mostly because the makers left something out and nothing got worse. LayerNorm subtracts the mean; RMSNorm
does not, and saves a pass over the row. GPT-2 has a bias after every product; Llama has none. GPT-2 learns a row for each position and cannot read beyond the end of that
table; rotations have no table, cost no weights, and make a score depend on the distance alone. The gate in the MLP was found by experiment, and
its author offers no reason for it. It costs a third matrix, so the hidden layer of the MLP is made narrower; with the same number of
weights the loss is lower.
@^RMSNorm@>

@ Other switches save memory. With \emph{grouped-query attention} there are fewer heads of keys and values than of queries. The cache holds keys and values, so with a quarter of the heads four times as many texts fit. Mistral's
\emph{sliding window} has the same purpose: a row sees the last \val{mistral.window} positions, so no more have to be kept. Is everything older lost? Not quite. In the layer
below, the oldest row in the window has seen a window of its own; through \val{mistral.layers} layers information can travel \val{mistral.reach} positions. Qwen's files can turn the
window on for the upper layers alone: then the lower ones see everything, and the upper ones keep little. A small model ties its head to its
embedding because the two would be a large share of all its weights.
@^window@>

Some switches repair what others broke. Without a bias in queries and keys, a score cannot prefer a distance. The makers of Qwen put those biases back, because, they say, the
model then reads further than it was trained. Queries and keys can also grow during training until softmax is saturated (\cref{sec:weights}); Qwen 3 brings each of them to a fixed size
by a norm, and takes the biases out again. In GPT-2's files two switches change the scores themselves: the division by the root of the head's width can be turned off, and the scores can
be divided by the number of the layer, which keeps training in 16 bits from overflowing.

@* The settings. \label{sec:config}
Beside its weights (\cref{safetensors}) a model has the file \.{config.json}. In it are the number of layers, their width, and
two dozen other settings, under names that depend on the family and on the year in which the file was saved.
We read all of them into the |struct model_config| of \cref{sec:modelsettings}, and from there on there is only one kind of model: a GPT-2 has learned positions, biases and a
LayerNorm, a Llama has rotations and an RMSNorm, and the rest is the same.
@^GPT-2@>@^Llama@>

The obvious way is to ask the file for the twenty names that we know. But suppose somebody publishes a model with a norm that we do not have. Its file says so, in a field that we never ask for. The model is loaded, runs, and writes nonsense in a
confident voice. So we go the other way round, from the file to us, and account for \emph{every} field. A field is used; or it is in a list of harmless fields, each with its reason; or its value says no (null, |false| or
empty), so that a feature is absent; or it is an error that names the field.
@^harmless fields@>

The price is that a harmless field invented tomorrow is refused until somebody has looked at it. We think the price is right, and it need not be paid twice: one sentence names all unknown fields of a model, and once you have checked them you can say which to ignore. What you cannot switch off in this way is a field that we know.

@ How do we write down which fields are used? With an |if| for each name, nobody could compare the code with the published files. So a field is a row of a table. Families are bits of a number, and one row can be about several.

\printedheader[field_read, config_field]{families/fields.h}

Here is the table for GPT-2. The place and the bounds of a setting are in \cref{model}'s table (\cref{sec:settingrows}), so a row here has only its name. |n_ctx| has a function of its own: GPT-2's early files have it beside |n_positions|, with the same value, and if the two differ we cannot know which was meant.

\printedheader[gpt2_field]{families/fields.inc}

The later families have a table like it, and those of windows, of fields that all have, and of \.{generation\_config.json} are beside it in \.{unwoven/families/fields.inc}.

@ What does it mean to read a number? JSON tells integers, reals and truth values apart: none of |12.0|, |"12"| and |true| is the integer 12. A missing or misspelt number must not become a zero by accident either, so a value of the wrong type is turned into one that no row allows.

\printedfunction{families/fields.inc}{read_count}

Some settings have one value with which our arithmetic is right. Related families multiply the embedding, the output of a layer, or the logits by a factor; some tools write that factor into the files of our families as well, and then it has to be 1. And some words look like synonyms and are not. \.{gelu\_new}, \.{gelu\_fast} and \.{gelu\_pytorch\_tanh} are one function; \.{gelu} is another. The two curves differ so
little that a text would look right, but enough that it would not be the model's text.

@ The harmless fields are listed with the reason why each cannot change a logit. Most of them belong to training, to other heads, or to the program that saved the file. Even the type of the weights, \.{torch\_dtype}, is harmless; it may well be wrong, because files are converted and their settings copied, and what counts is the type in the header of each tensor. The command \.{incipit inspect} prints the reason beside the name.

Is such a field really harmless? A test alters each of them in the file of a small model, and no logit may change. Another test alters each field that is used, and then the answer must change or the file must be refused. The lists are in \.{unwoven/families/harmless.inc}.

@ Now one function can account for a field. Null, |false| and what is empty say no. Zero does not: a threshold of zero may mean something.

\printedfunction{families/config.c}{says_nothing}

\printedfunction{families/config.c}{read_field}

Why does |says_nothing| come so late? When a later release of the library introduces a feature, its field is saved with every model and switched off in most. Those files we can read, although we have never heard of the field.

Missing fields are looked for after all others, because a field that is spelt differently is unknown and missing at once, and the unknown name helps more. And one field is looked for before all others, \.{quantization\_config}. Weights that were quantized for another engine have tensors with other names and types, and a sentence about missing tensors would hide the reason.

@* Families. \label{sec:families}
The field |model_type| has the family's name. Each
family begins with the flags for what it always does, and with the library's default for each field that a file may leave out. Mistral's window, for example, is there unless the file says null.

A family is a number, from which its bit follows, and a row. In the row are all its names: in |model_type|, of its class, how the class was once spelt, and in GGUF files. (A Mistral calls itself |llama| there, since without its window it is one; so does a Mixtral, which is told from both by a key that counts its experts.) Then come the names of its two layouts, for a directory and for a GGUF file (\cref{sec:layouts}).

@(families.h@>=
#ifndef INCIPIT_FAMILIES_H
#define INCIPIT_FAMILIES_H
#include "families/config.h"
enum model_family { FAMILY_GPT2, FAMILY_LLAMA, FAMILY_MISTRAL, FAMILY_QWEN2,@|
  FAMILY_QWEN3, FAMILY_SMOLLM3, FAMILY_GRANITE, FAMILY_MINISTRAL, FAMILY_MINISTRAL3,@|
  FAMILY_SEED_OSS, FAMILY_ERNIE, FAMILY_OLMO2, FAMILY_GEMMA, FAMILY_GEMMA2, FAMILY_GEMMA3,@|
  FAMILY_EXAONE4, FAMILY_NEOX, FAMILY_FALCON, FAMILY_PHI, FAMILY_STABLELM, FAMILY_COHERE,@|
  FAMILY_COHERE2, FAMILY_PHI3, FAMILY_MIXTRAL, FAMILY_QWEN3_MOE, FAMILY_OLMOE,@|
  FAMILY_QWEN2_MOE, FAMILY_GPT_OSS, N_FAMILIES };
  /* the numbers of the families */
enum { GPT2 = 1 << FAMILY_GPT2, LLAMA = 1 << FAMILY_LLAMA,@|
  MISTRAL = 1 << FAMILY_MISTRAL, QWEN2 = 1 << FAMILY_QWEN2,@|
  QWEN3 = 1 << FAMILY_QWEN3, SMOLLM3 = 1 << FAMILY_SMOLLM3,@|
  GRANITE = 1 << FAMILY_GRANITE, MINISTRAL = 1 << FAMILY_MINISTRAL,@|
  MINISTRAL3 = 1 << FAMILY_MINISTRAL3, SEED_OSS = 1 << FAMILY_SEED_OSS,@|
  ERNIE = 1 << FAMILY_ERNIE, OLMO2 = 1 << FAMILY_OLMO2, GEMMA = 1 << FAMILY_GEMMA,@|
  GEMMA2 = 1 << FAMILY_GEMMA2, GEMMA3 = 1 << FAMILY_GEMMA3,@|
  EXAONE4 = 1 << FAMILY_EXAONE4, NEOX = 1 << FAMILY_NEOX, FALCON = 1 << FAMILY_FALCON,@|
  PHI = 1 << FAMILY_PHI, STABLELM = 1 << FAMILY_STABLELM, COHERE = 1 << FAMILY_COHERE,@|
  COHERE2 = 1 << FAMILY_COHERE2, PHI3 = 1 << FAMILY_PHI3,@|
  MIXTRAL = 1 << FAMILY_MIXTRAL, QWEN3_MOE = 1 << FAMILY_QWEN3_MOE,@|
  OLMOE = 1 << FAMILY_OLMOE, QWEN2_MOE = 1 << FAMILY_QWEN2_MOE,@|
  GPT_OSS = 1 << FAMILY_GPT_OSS,@|
  ALL = (1 << N_FAMILIES) - 1, LATER = ALL & ~GPT2 };
  /* their bits, for rows that are about several */
struct family_row {
  const char *type, *architecture, *once; /* and how the class was once spelt, or null */
  const char *gguf, *layout[2]; /* null: we know no such files of this family */
  struct model_config always;
};
  /* what a family is called, how its files name tensors, and what its settings begin with */
extern const struct family_row model_families[];
  /* |N_FAMILIES| rows */
const struct family_row *family_named(const char *type);
  /* the row with this |type|, or null */
enum { FAMILY_LIST = 400 };
  /* bytes for a list of all families */
const char *family_list(bool gguf, char list[FAMILY_LIST]);
  /* all types, or all names in GGUF files, as a sentence lists them: ``a, b or c'' */
#endif

@ These rows, the tables of fields and the layouts are all that the engine knows of families. If the settings already have all the parts that a new family needs, the family costs one row. A row that was forgotten stops the compiler.

@<The table of families@>=
const struct family_row model_families[] =
  @[{ [FAMILY_GPT2] = {"gpt2", "GPT2LMHeadModel", NULL, "gpt2",@|
    {"hf-gpt2", "gguf-gpt2"}, { .family = "gpt2", .n_positions = 1024, .layer_norm = true, .norm_eps = 1e-5,
    .learned_positions = true, .qkv_bias = true, .out_bias = true,
    .mlp_bias = true, .tied = true, .scaled = true,
    .activation = ACTIVATION_GELU_TANH }},@|
  [FAMILY_LLAMA] = {"llama", "LlamaForCausalLM", "LLaMAForCausalLM", "llama",@|
    {"hf-llama", "gguf-llama"}, { .family = "llama", .n_positions = 2048, .gated = true, .norm_eps = 1e-6,
    .scaled = true }},@|
  [FAMILY_MISTRAL] = {"mistral", "MistralForCausalLM", NULL, "llama",@|
    {"hf-llama", "gguf-llama"}, { .family = "mistral", .n_positions = 131072, .gated = true,
    .norm_eps = 1e-6, .scaled = true, .window = 4096, .window_used = true }},@|
  [FAMILY_QWEN2] = {"qwen2", "Qwen2ForCausalLM", NULL, "qwen2",@|
    {"hf-llama", "gguf-qwen"}, { .family = "qwen2", .n_positions = 32768, .gated = true, .norm_eps = 1e-6,
    .scaled = true, .qkv_bias = true, .window = 4096, .window_from = 28 }},@|
  [FAMILY_QWEN3] = {"qwen3", "Qwen3ForCausalLM", NULL, "qwen3",@|
    {"hf-llama", "gguf-qwen"}, { .family = "qwen3", .n_positions = 32768, .gated = true, .norm_eps = 1e-6,
    .scaled = true, .qk_norm = true, .head_dim = 128, .window = 4096,
    .window_from = 28 }},
#include "families/rows.inc"
  }@];
_Static_assert(sizeof model_families / sizeof model_families[0] == N_FAMILIES,@|
  "a family without a row");


@ The rows of the other families look the same, and are in \.{unwoven/families/rows.inc}; each adds what a section from \cref{sec:switched} on explains. Five families have experts in the place of their MLPs (\cref{sec:experts}). Without them Mixtral is a Mistral, OLMoE a Llama whose queries and keys are normed, and two others are Qwens. The last, gpt-oss, has two switches of its own (\cref{sec:headsinks} and \cref{sec:clamped}). How many experts there are, and how wide they are, is always in the file; what a file may leave out is whether the weights of the chosen are divided by their sum.

@ The table has a file to itself, since both readers of settings and the layouts look into it.

@(families.c@>=
@;
/** The table of families. Everything that depends on a family is a row here, a bit in a row of
  \.{fields.inc}, or a layout; nothing else in the program asks which family a model has. */
#include <stdio.h>
#include <string.h>
#include "families/families.h"
@;@#
@<The table of families@>@;
@<Ask the table of families@>@;

@ The first loop is what you expect. The second function is there for a sentence: a family that is not in the table is refused, and the sentence lists those that are. Two families may have one name in GGUF files; it is listed once.

@<Ask the table of families@>=
const struct family_row *family_named(const char *type)
{
  for (int i = 0; i < N_FAMILIES; i++)
    if (strcmp(model_families[i].type, type) == 0) return &model_families[i];
  return NULL;
}
@#
const char *family_list(bool gguf, char list[FAMILY_LIST])
{
  const char *name[N_FAMILIES];
  size_t n = 0, at = 0;
  for (int i = 0; i < N_FAMILIES; i++) {
    const char *one = gguf ? model_families[i].gguf : model_families[i].type;
    bool met = one == NULL;
    for (size_t k = 0; k < n && !met; k++) met = strcmp(name[k], one) == 0;
    if (!met) name[n++] = one;
  }
  for (size_t i = 0; i < n && at < FAMILY_LIST; i++) {
    const char *before = i + 1 < n ? ", " : " or ";
    at += (size_t) snprintf(list + at, FAMILY_LIST - at, "%s%s", i == 0 ? "" : before,
      name[i]);
  }
  return list;
}
  /*- Two families may share a name in GGUF files; it is listed once. */

@ Is a name enough to trust a file? Some families that we do not have use exactly Llama's names for their tensors and put the norms elsewhere: they would load, run, and write nonsense. Their |model_type| gives them away. A checkpoint that was trained further as a classifier has the right type and no head that we could use; the list |architectures| gives that one away, and so the class must not contradict the type.

@* Where two fields can contradict each other. \label{sec:windows}
Most fields speak for themselves. Three groups do not, and each has its own small story.

The first is the window. A |sliding_window| of null means that there is none, though in most fields null means the default. In Qwen's files the number counts only if |use_sliding_window| is true, and then from layer |max_window_layers| on; the published files give a window and switch it off. Newer files list the kind of each layer, and if there is such a list, it decides. But the list can contradict the rest as well. A Mistral with windows in half of its layers is another model, with another name; so in a family without |use_sliding_window| all words of the list must agree.

@ The second group describes the rotation. Version 4 of the library wrote |rope_theta| and |rope_scaling|; version 5 puts both into |rope_parameters|, and in both the kind has had two names. We take either. But what if a file has both and they differ? Somebody has edited one of the two places, and nothing tells us which. Such a file is refused.

Inside, the description is read with tables like a file of its own: the kinds of stretching take the place of the families. So an unknown kind is refused by name, and so is an unknown member (\.{unwoven/families/rope\_settings.inc}).

The third group is about the token that ends a text. Both files may name it, as one id or as a list. \.{generation\_config.json} is read second and wins, since it is the newer kind of file and corrects the older. We keep which file it was, so that you can find out why a text ended.

@* Scaled rotary frequencies. \label{sec:wheels}
Back to the wheels. Rotary positions turn a pair of numbers by an angle, the position times a frequency (\cref{sec:layer}). Wheel $i$ of $h$ has the frequency $f_i=\theta^{-i/h}$, from 1 down to nearly $1/\theta$; that is chapter 2's |rope_frequency|. In a score the wheel contributes
$$\lVert q_i\rVert\,\lVert k_i\rVert\cos(f_i\Delta+\varphi_i),$$
where $\Delta$ is the distance of the two positions, and $\varphi_i$ the angle between query and key before they were turned.
@^frequency, of RoPE@>@^wheel@>

Suppose a model was trained on texts of $L$ positions and is to read $kL$. In training it has met distances up to $L$, and so, for each wheel, angles up to
$f_iL$. If a wheel makes a turn or more within $L$, $f_iL\ge2\pi$, the model has seen all of its angles, and a longer text brings no new ones. If a wheel
makes less than one turn, the model has seen only a part of the circle. In a longer text that wheel turns to angles that never occurred in training,
and we cannot predict what the model does with them.

@ \emph{Linear} stretching \cited{Chen 2023} divides every frequency by $k$. It is the same as dividing the positions, and all angles stay within the range of the training. The method pays for this
at short distances. How sharply can a model tell a token from its neighbour? Take a query and a key that agree, $\varphi_i=0$, and all lengths 1. The
mean contribution is
$$S(\Delta)={1\over h}\sum_i\cos(f_i\Delta),\qquad S(0)-S(\Delta)\approx{\Delta^2\over2h}\sum_if_i^2\quad\hbox{for small }f_i\Delta,$$
and nearly all of the difference comes from the fast wheels. Divide the frequencies by $k$, and the difference between a token and its neighbour is divided by nearly $k^2$. With the wheels of Llama 3.1,
slowed \val{wheels.factor} times, it falls from \val[3]{near.plain} to \val[4]{near.linear}. The model has to learn short distances anew, and after linear stretching it does need
some more training.
@^linear stretching@>

So the fast wheels should be left alone. They need no slowing, because the model has seen all their angles. The slow ones can be slowed, because they never told neighbours apart. \emph{Llama3} stretching, from the program that Meta published with Llama~3.1,
looks at the number of turns that each wheel made within $L$, which is $f_iL/2\pi$. Above |high_freq_factor| the wheel keeps its speed; below |low_freq_factor| it
is slowed $k$ times; between the two the share that is kept grows in a straight line with the turns. Of Llama 3.1's \val{wheels.all} wheels \val{wheels.fast} keep their speed and \val{wheels.slow} are slowed all the
way (\cref{fig:wheels}).\lab{lab:wheels} The difference between a token and its neighbour stays at \val[3]{near.llama3}.
@^Llama 3.1@>

\fig{wheels}{fig:wheels}{How much of its speed each wheel keeps when texts become eight times longer; wheels of Llama 3.1, fastest first. Linear stretching also slows those that tell
neighbours apart.}{A plot. To the right the 64 wheels, upwards the share of the speed, from 0 to 1. A flat line at one eighth is linear. The line of llama3 stays at 1 until wheel 28 and
bends down to one eighth at wheel 35. The line of yarn leaves 1 at wheel 18 and falls straight to one eighth at wheel 36.}

@ \emph{Yarn} \cited{Peng 2023} has the same idea with another curve: its share falls in a straight line with the \emph{number} of the wheel, which is a line in the logarithm of the turns. (This is what the published program computes; in the paper the line is over the turns, as in Llama3.) A wheel that makes $\beta$ turns has
$f_iL=2\pi\beta$, and with $f_i=\theta^{-i/h}$ its number is
$$i(\beta)=h\,{\ln(L/2\pi\beta)\over\ln\theta}.$$
Wheels before $i(\beta_{\hbox{\scriptsize fast}})$ keep their speed, those after $i(\beta_{\hbox{\scriptsize slow}})$ are slowed. Unless the file says that |truncate| is false, the published program rounds the two places outwards to whole wheels. It keeps the first
from falling below 0 and the second from rising above $2h-1$. (There are only $h$ wheels, but we must do the same to get the same model.) If the two places coincide, it adds a thousandth to the second.
@^YaRN@>

Yarn does a second thing. A row that sees $k$ times as many keys divides its attention among them. Suppose that one key has a score $s$ above the rest, which are all alike. Among $n$ keys its share is
$e^s/(e^s+n)$. For $s=5$ and $n=$ \val{crowd.keys} that is \val[3]{crowd.before}; among \val{wheels.factor} times as many only \val[3]{crowd.after}. To keep its share it would need a score of $s+\ln k$. Yarn multiplies
cosines and sines by $a=1+{1\over10}\ln k$, for queries and keys alike, and therefore each score by
$$a^2\approx1+\given{0.2}\ln k,$$
which for $s=5$ adds exactly $\ln k$, because $5\cdot0.2=1$. The share becomes \val[3]{crowd.scaled}, a little more than before, because the approximation drops the square of $\ln k$. The authors found the tenth by experiment; our calculation shows what it means: it is right for a key
whose score is five above the others. A file may give this \emph{attention factor} itself, or as a quotient of two such terms, with |mscale| and |mscale_all_dim| before the logarithms.
@^attention factor@>

@ Two functions have all of this. One is called when a model is built, the other when its settings are read.

@(rope_scaling.h@>=
#ifndef INCIPIT_ROPE_SCALING_H
#define INCIPIT_ROPE_SCALING_H
#include "model/rope.h"
double rope_scaled_frequency(const struct rope_config *r, uint32_t i,
  uint32_t half);
  /* frequency of wheel |i| of |half|, slowed as |r| says; in double, not yet rounded */
double rope_scaled_attention(const struct rope_config *r);
  /* the attention factor of yarn and of longrope, worked out if it is not given; 1 for all other kinds */
#endif

@ The share that a wheel keeps gives its new frequency. (|ROPE_LONG| is the list of \cref{sec:longrope}.) In the hand calculation $\theta=10^4$, and four wheels have the frequencies 1, $10^{-1}$, $10^{-2}$ and $10^{-3}$. All is computed in double; the caller rounds once, when it stores a frequency.

@<The frequency of a wheel@>=
double rope_scaled_frequency(const struct rope_config *r, uint32_t i,
  uint32_t half)
{
  double f = rope_frequency(r->theta, i, half), share = 0;
  if (r->kind == ROPE_PLAIN) return f;
  if (r->kind == ROPE_LINEAR) return f / r->factor;
  if (r->kind == ROPE_LONG) return f / r->divisor[ROPE_SHORT_TEXTS][i];
  if (r->kind == ROPE_LLAMA3) share = llama3_share(r, f);
  else share = yarn_share(r, i, half);
  double kept = share * f, slowed = (1 - share) * (f / r->factor);
  return kept + slowed;
}

@ Llama3's share depends on the turns. With a share of 0 or 1 one of the two terms above is exactly zero, and the other is right to the last bit.

@<The share that a wheel keeps@>=
/*- With a share of 0 or 1 one term of the sum below is exactly zero, and the other is right to
  the last bit. */
static double llama3_share(const struct rope_config *r, double frequency)
{
  double turns = frequency * r->original / 6.283185307179586;
  if (turns > r->high_freq_factor) return 1;
  if (turns < r->low_freq_factor) return 0;
  return (turns - r->low_freq_factor)
    / (r->high_freq_factor - r->low_freq_factor);
}

@ Yarn's share depends on the number of the wheel. A very long original context can put the two bounds in the wrong order. The published
program computes with them as they are, and so do we.

@<The share that a wheel keeps@>=
static double yarn_place(const struct rope_config *r, double turns, uint32_t half)
{
  return half * num_log(r->original / (turns * 6.283185307179586))
    / num_log(r->theta);
}
/*- The bounds may lie outside of the wheels; the second ends at 2 half - 1, although there are
  only half of them, as in the published program. If a very long original context turns the
  bounds round, it computes with them as they are, and so do we. */
static double yarn_share(const struct rope_config *r, uint32_t i, uint32_t half)
{
  double low = yarn_place(r, r->beta_fast, half);
  double high = yarn_place(r, r->beta_slow, half), last = 2.0 * half - 1;
  if (r->truncate) low = floor(low), high = ceil(high);
  if (low < 0) low = 0;
  if (high > last) high = last;
  if (low == high) high += 0.001;
  double slowed = (i - low) / (high - low);
  if (slowed < 0) return 1;
  return slowed > 1 ? 0 : 1 - slowed;
}

@ If texts do not become longer, attention need not be sharpened, so up to a factor of 1 the result is 1.

@<The attention factor@>=
/*- Texts that do not become longer need no sharper attention. */
static double sharpened(double factor, double scale)
{
  return factor <= 1 ? 1 : 0.1 * scale * num_log(factor) + 1;
}
double rope_scaled_attention(const struct rope_config *r)
{
  if (r->kind != ROPE_YARN && r->kind != ROPE_LONG) return 1;
  if (r->attention_factor > 0) return r->attention_factor;
  if (r->kind == ROPE_LONG)
    return r->factor <= 1 ? 1 : sqrt(1 + num_log(r->factor) / num_log(r->original));
  if (r->mscale > 0 && r->mscale_all_dim > 0)
    return sharpened(r->factor, r->mscale)
      / sharpened(r->factor, r->mscale_all_dim);
  return sharpened(r->factor, 1);
}

@ That is all. The file needs logarithms, and neither a model nor its settings file.

@(rope_scaling.c@>=
@;
/** The frequencies of rotary positions in a model that was stretched. No file and no model is known
  here. All is computed in double, and the caller rounds once, when it stores a frequency. The
  order of operations is that of the published programs, because the bits of the logits depend on
  it. */
#include <math.h>
#include "families/rope_scaling.h"
#include "functions/numbers.h"
@;@#
@<The share that a wheel keeps@>@;
@<The frequency of a wheel@>@;
@<The attention factor@>@;

@* The check of the frequencies. \label{sec:wheelscheck}
The functions that open models give the table that we worked out by hand.

\checkpoint{build/out/families.txt}{what the program of this chapter prints}

@* The shapes of a real model. \label{sec:shapes}
GPT-2 small is the model of chapter 2's hand calculation with other sizes (\cref{tab:shapes}):\lab{lab:shapes} rows of \val{gpt2.d} numbers, \val{gpt2.heads} heads of
\val{claim.S2-42}, \val{gpt2.layers} layers, a vocabulary of \val{gpt2.vocabulary}. The biggest single product is the head's, \val{claim.S2-07} multiply--adds for each
row whose logits are needed, against \val{gpt2.layer} for one layer; so we compute it only for the rows whose logits are asked for. A layer has four matrices
of $d\times d$ in attention, three of them for queries, keys and values, and two of $d\times4d$ in the MLP: $12d^2$ multiply--adds for each row. Attention itself costs $2d$ for
each position that a row sees, half for its score and half for its value. It costs more than the matrices only when a row sees more than
$12d^2/2d=6d=$ \val{claim.S0-26} positions, and this model's context ends at \val{gpt2.context}.
@^GPT-2@>

\begin{table}[tp]
\tabcaption{tab:shapes}{The tensors of GPT-2 small, and the multiply--adds (madds) of one row. The whole includes the last norm.}
\centering\small
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}llrr@@{}}
\toprule
\tabhead{what} & \tabhead{shape} & \tabhead{numbers} & \tabhead{madds a row}\\
\midrule
embedding, head & \val{gpt2.vocabulary} $\times$ \val{gpt2.d} & \val{gpt2.embedding} & \val{gpt2.head}\\
positions & \val{gpt2.context} $\times$ \val{gpt2.d} & \val{gpt2.positions} & 0\\
query, key, value & \val{gpt2.d} $\times$ \val{gpt2.qkv} & \val{gpt2.layer.qkv} & \val{gpt2.madds.qkv}\\
output & \val{gpt2.d} $\times$ \val{gpt2.d} & \val{gpt2.layer.out} & \val{gpt2.madds.out}\\
up, down & \val{gpt2.d} $\times$ \val{gpt2.inner}, twice & \val{gpt2.layer.mlp} & \val{gpt2.madds.mlp}\\
two norms & \val{gpt2.d}, four times & \val{gpt2.layer.norms} & 0\\
\midrule
\val{gpt2.layers} layers & & \val{gpt2.layers.numbers} & \val{gpt2.layers.madds}\\
the whole & & \val{gpt2.numbers} & \val{gpt2.madds}\\
\bottomrule
\end{tabular*}
\end{table}

@* The names of the tensors. \label{sec:layouts}
Which tensor is the query matrix of layer 3? That depends on the file and not on the model. In Hugging Face's files of a Llama it is \.{model.layers.3.self\_attn.q\_proj.weight}. In the files of \texttt{llama.cpp} the same
matrix is \.{blk.3.attn\_q.weight}, and its rows are in another order. And GPT-2 has no such matrix: queries, keys and values are one, three times as wide as the row. We collect what depends on the file in one table, a \emph{layout}: for each
\emph{role} that a tensor can have in a model, its name and the order of its numbers (\cref{tab:tensornames}).
@^layout of a file@>@^names of tensors@>

\begin{table}[tbp]
\tabcaption{tab:tensornames}{One role, three names. A layer's names come after a prefix with its number, such as \.{transformer.h.3.}, \.{model.layers.3.} or \.{blk.3.}; at the end comes \.{.weight} or \.{.bias}.}
\centering\footnotesize
\begin{tabular}{@@{}llll@@{}}
\toprule
\tabhead{role} & \tabhead{GPT-2} & \tabhead{Llama, Mistral, Qwen} & \tabhead{in GGUF}\\
\midrule
embedding & \.{wte} & \.{embed\_tokens} & \.{token\_embd}\\
last norm & \.{ln\_f} & \.{norm} & \.{output\_norm}\\
head & \.{lm\_head} & \.{lm\_head} & \.{output}\\
\midrule
norm 1 & \.{ln\_1} & \.{input\_layernorm} & \.{attn\_norm}\\
queries & \.{attn.c\_attn} & \.{self\_attn.q\_proj} & \.{attn\_q}\\
output & \.{attn.c\_proj} & \.{self\_attn.o\_proj} & \.{attn\_output}\\
norm 2 & \.{ln\_2} & \.{post\_attention\_layernorm} & \.{ffn\_norm}\\
gate & & \.{mlp.gate\_proj} & \.{ffn\_gate}\\
up & \.{mlp.c\_fc} & \.{mlp.up\_proj} & \.{ffn\_up}\\
\bottomrule
\end{tabular}
\end{table}

In our tables (\.{unwoven/families/layout.c}) a tilde stands for the prefix of the body, which some files leave out, and a number sign for the number of the layer. A bar at the end says that \.{.weight} is left out, and that other endings follow an underscore.

One of these names misleads. The second norm of a Llama's layer is called \.{post\_attention\_layernorm}, because it comes after attention; for us it is the norm before the MLP. The head has no prefix in any of these files: it does not belong to the body that the prefix names.

@(layout.h@>=
#ifndef INCIPIT_LAYOUT_H
#define INCIPIT_LAYOUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
@<What a layout is@>@;
#endif

@ Each tensor has a role. A layout names those that its files have.

@<What a layout is@>=
enum tensor_role { TENSOR_EMBEDDING, TENSOR_POSITIONS, TENSOR_FINAL_NORM,@|
  TENSOR_HEAD, TENSOR_ROPE_FACTORS, TENSOR_ROPE_SHORT, TENSOR_ROPE_LONG,@|
  TENSOR_ATTN_NORM, TENSOR_QKV, TENSOR_Q, TENSOR_K, TENSOR_V,@|
  TENSOR_Q_NORM, TENSOR_K_NORM, TENSOR_SINKS, TENSOR_OUT, TENSOR_ATTN_POST,@|
  TENSOR_MLP_NORM, TENSOR_GATE, TENSOR_UP, TENSOR_DOWN, TENSOR_MLP_POST,@|
  TENSOR_ROUTER, TENSOR_EXPERT_GATE, TENSOR_EXPERT_UP, TENSOR_EXPERT_DOWN,@|
  TENSOR_SHARED, TENSOR_SHARED_GATE, TENSOR_SHARED_UP, TENSOR_SHARED_DOWN,@|
  N_TENSOR_ROLES };
  /* what a tensor is for: first those outside the layers, then those of a layer */

@ Two flags are about the order of the numbers. A matrix that is |transposed| has the inputs first. In one that is |permuted|, the two rows that a rotation turns together (\cref{sec:layer}) are neighbours; in our own order they are half a head apart. Neither costs a copy of the weights:
a transposed matrix has kernels of its own, and the results of a permuted one are put in order before they are rotated (\cref{sec:pairs}).

@<What a layout is@>=
struct tensor_naming { const char *pattern; bool transposed, permuted;
  const char *also; /* another name that some files have instead; or null */ };
  /* the name of the tensors of one role, or null if none; |permuted| is only for
     queries and keys, and for both or none */
struct tensor_layout {
  const char *name, *format; /* the format of the files, as |tensor_file_format| has it */
  const char *prefix; /* what a tilde stands for, unless a file leaves it out */
  bool sliced; /* queries, keys and values are one matrix, of which the three are slices */
  bool gate_above; /* gate and up are one matrix, and the gate is the upper half */
  bool gate_between; /* gate and up of an expert are one matrix, and their outputs alternate */
  bool norms_apart; /* each head's norm of queries and keys is a tensor of its own */
  const struct tensor_layout *older; /* how older files of this kind have it; or null */
  enum tensor_role told_by; /* of an older layout: which tensor tells such a file */
  struct tensor_naming of[N_TENSOR_ROLES];
};
  /* how files of one format name and store the tensors of a family */
const struct tensor_layout *layout_at(size_t i);
  /* number |i| of the layouts that we know; null after the last */
const struct tensor_layout *layout_find(const char *format, const char *family);
  /* the one that the row of this family names for this format; or null */
bool layout_fused(const struct tensor_layout *l);
  /* whether a pass multiplies with one matrix for queries, keys and values */
void layout_name(const struct tensor_layout *l, enum tensor_role role,
  const char *prefix, uint32_t layer, const char *what, char full[160]);
  /* writes the name of |what|, \.{"weight"} or \.{"bias"}, of a role that the layout has */
bool layout_apart(const struct tensor_layout *l, enum tensor_role role);
  /* whether each expert's matrix of this role is a tensor of its own; else one tensor has all */
void layout_name_of(const struct tensor_layout *l, enum tensor_role role,
  const char *prefix, uint32_t layer, uint32_t expert, const char *what, char full[160]);
  /* as |layout_name|, of an expert's tensor */
bool layout_also(const struct tensor_layout *l, enum tensor_role role,
  const char *prefix, uint32_t layer, const char *what, char full[160]);
  /* the other name, if files may have one */

@ All layouts are in \.{unwoven/families/layout.c}. The one with the most surprises is GPT-2's: its layers were written as convolutions, so every matrix is |transposed|.

\printedheader[hf_gpt2]{families/layout.c}

In the layouts of GGUF files (\cref{gguf}) nothing is transposed. The rows of queries and keys are permuted in the files of a Llama, since Meta's program, for which the format's first files were made, turned neighbours; those of a Qwen are not. Could the loader find this out by itself? No: a permuted matrix has the same shape, and so has the transpose of a square one. So the order is always taken from the layout and never guessed from a shape.

@* Building the model. \label{sec:model}
Now names and shapes come together. |model_open| takes from the settings which tensors there must be, looks for
each by its name, checks its shape, and leaves it where it is in the file. That is why a model of
ten gigabytes is open in a few milliseconds: only its header has been read. Numbers are widened to float32 when they are used.
@^model@>

The interesting part of the code is a list of names, and we want it to look like one. A layer has about a dozen tensors; a test after each of them would bury the list. So the state of the work has a flag |ok|. After the first failure all further calls do nothing, and one test at the end suffices.

\printedfunction{families/loader.c}{assemble_layer}

This is the code for all families. The tensors are asked for in the order of their use, so if a file has several faults the sentence is about the one that a pass would meet first. A matrix in which inputs and outputs change places is no special case either:

\printedfunction{families/loader.c}{require_matrix}

@ Below both is |require_tensor|, which has three complaints: the tensor is missing, it has another shape, or its type is one that the kernels cannot multiply with. Shapes are compared as text, such as $[\val{gpt2.d},\val{gpt2.qkv}]$. That looks slow and clumsy, and it has a good reason: the complaint needs both texts anyway, and so it can never show two shapes that look alike. Each tensor that was found is marked as used.

The number of layers comes from a file too, and a damaged file may claim any number of them. Before we allocate anything we ask whether it is possible: each layer has several tensors, so more layers than tensors must be wrong.

@ And when the model is complete? A tensor that nobody has asked for is as suspicious as an unknown setting. If the settings say that there is no bias, and the file has one, then it would be left out silently. So it is an error, unless it is one of those that older versions of the library have left in files.

\printedfunction{families/loader.c}{check_unused}

Most small models have no head of their own: the embedding also measures how similar the last row is to the row of each id. Some tools write the head all the same. It does no harm if it equals the embedding, byte for byte. If it does not, settings and weights contradict each other, and we cannot know which is right.

@ Last come the frequencies, computed from the settings and rounded, once. The GGUF file of a stretched Llama~3 does not say how its wheels are slowed; \label{sec:ropefactors} it has the result, a tensor with a divisor for each wheel. Those divisors were rounded to float when the file was made. So the
last bit of a frequency may differ from that of the same model in Hugging Face's form.

@* The other families: a switch for each difference. \label{sec:switched}
GPT-2, Llama, Mistral, Qwen2 and Qwen3 are five families of \val{family.all} that we read. The other \val{family.later} are Llamas too, with something changed, and each change has its reason: SmolLM3, Granite, Ministral, Seed-OSS, Ernie, OLMo 2, Exaone 4, the three Gemmas; Pythia and others of the family GPT-NeoX, Falcon, Phi, StableLM, Cohere's models; and five that have experts. We found that two dozen switches describe them all (\cref{fig:switches}).\lab{lab:families}
None of them needs a new kernel. Some are settings that the pass hands to the kernels it has. Others are a loop over a row, in \.{unwoven/model/switches.c}; beside a matrix such a loop costs next to nothing.
@^family@>@^SmolLM3@>@^Granite@>@^Gemma@>@^OLMo 2@>@^Exaone 4@>@^GPT-NeoX@>@^Pythia@>@^Falcon@>@^Phi@>@^StableLM@>@^Cohere@>@^Ministral@>@^Seed-OSS@>@^Ernie@>@^gpt-oss@>

\fig{switches}{fig:switches}{The families that came after the first five, and their switches. A dot is a switch that the family has always on; a half is left to the file. The marks are read from the table of this chapter.}{A grid of marks with 23 columns, SmolLM3 to gpt-oss, and 25 rows. Granite has five halves, four of them for its four numbers. Ministral 3 alone has the half for queries that grow, and Phi-3 alone the one for two lists of divisors. Gemma 2 has the most dots: it multiplies its embedding, caps, norms after the halves, and adds one to its gains. OLMo 2 and Exaone 4 alone have the dot for no norms before the halves. The last five columns have the half for experts, and the last alone has dots for sinks and a clamped gate. Five of the seven columns from GPT-NeoX to Phi-3 have the dot for parallel halves, or its half.}

You can read the sections that follow in any order. Each says what is changed, why, and where the code is. How do we know that a switch is right? An engine with a wrong switch writes fluent text too. So for each switch there is a small random model whose logits a second program has computed, in double precision and with plain loops, and a test compares all of them. Many mistakes change a logit by no more than rounding does. So each switch has a planted fault as well, such as norms of queries after the rotation, a window one position too wide, or a factor on one half of the layer only; and the tests must notice each of them.

@* Factors. \label{sec:factors}
Suppose you have found good settings for training a small model, and want to train one twice as wide. The sizes of all numbers change, and the settings are no longer good. One cure is to put factors into the model, so that the numbers stay the same size at any width. \emph{Granite} has four of them, the embedding multiplier, the residual multiplier, and those of attention and logits:
$$x_0=m_e\,e(\hbox{token}),\qquad x\leftarrow x+m_r\,f(x),\qquad s=m_a\,q\cdot k,\qquad z\leftarrow z/m_z.$$
The first multiplies the embedding, the second what each half of a layer adds, the third is the scale of the scores, and the last divides the logits. Beware of the third: it \emph{replaces} $1/\sqrt{d_h}$ and does not come in addition.
@^embedding multiplier@>@^residual multiplier@>

Gemma multiplies its embedding by $\sqrt d$. Its embedding is also its head. A head wants small rows, since its products should be small; the residual stream wants large ones. With the factor one table can be both. Cohere multiplies its logits by a number, where Granite divides. To us these are the same setting; the reader of Granite's file turns the number round.

\printedfunction{model/switches.c}{work_scale}

A factor of 0 means that the switch is off.

@* Caps. \label{sec:caps}
What if training drives some scores so high that softmax becomes a choice of one key, and learns no more? Gemma 2 bends large scores down:
$$s\leftarrow c\tanh(s/c).$$
This is called \emph{soft-capping}. Near 0 the result is $s$ itself, and however large $s$ is, it stays below $c$. The logits are capped too, with another $c$. The order matters: first the scale, then the cap, then the mask. In our kernels the mask has come already, as the score $-\infty$ of a position that is not seen. The hyperbolic tangent would turn it into $-c$, and the position would get a small weight instead of none. So the cap leaves $-\infty$ alone.
@^soft-capping@>@^Gemma 2@>

\printedfunction{kernels/cap.inc}{cap_scores}

Gemma 3 has given up the cap of scores, which the fast kernels of other programs did not have, and norms its queries and keys instead. The logits' cap is one loop after the head:

\printedfunction{model/switches.c}{logits_finish}

@* A score without a position. \label{sec:headsinks}
What does a head do that has found nothing? Softmax makes it hand out all of its weight, so it must take something from somewhere. Trained models have found a way out: they look at the first token, whose value they make small. That is the attention sink of \cref{sec:sinks}, and the reason why a window must not let go of the first positions. But a place that every row must see is a nuisance for layers with a window. So \emph{gpt-oss} gives each head of queries a number of its own, a learned score $b$ that belongs to no position:
$$w_t=e^{s_t}\Big/\Bigl(e^b+\sum_ue^{s_u}\Bigr).$$
@^attention sink@>@^gpt-oss@>@^softmax@>
The score takes its share of the softmax, but adds no value. The weights of the positions now sum to less than 1, and a head can be silent. Say that $b$ is \given{10} and that \val{crowd.keys} keys have nothing to say, all with the score 0. Together they get \val[3]{sink.idle} of the weight, where softmax alone would give them all of it. If there is one key more, with the score \given{12}, it gets \val[3]{sink.found}, and the crowd \val[4]{sink.rest}.

In which order is it added? The sum is part of the definition (\cref{sec:blocks}), and $e^b$ comes first: the maximum of all blocks begins with $b$, and the sum $l$ with $e^{b-m}$. The score does not belong to any block, so it does not matter how a text is cut into passes, pages or tiles. It is added where a head's blocks are joined, in one place for each kind of kernel, and costs one exponential for each head and row. A head without such a score has $b=-\infty$, and nothing is added: not one bit of another family changes. Do not take it for the sinks of a window, although the purpose is the same; those are positions, and have values.

@* Where the norms are. \label{sec:normorder}
A Llama norms before each half of a layer, and nothing norms what the halves add; so the stream grows from layer to layer. \emph{OLMo 2} norms what is added, and not what goes in:
$$x\leftarrow x+N(f(x)).$$
Its makers report that training is steadier, since sudden large gradients become rarer. Gemma 2 and 3 do both, and have four norms in a layer; Exaone 4 is like OLMo 2. Here the name that misled us in \cref{sec:layouts} has its second meaning: \.{post\_attention\_layernorm}, the norm before the MLP in a Llama, is in an OLMo the norm of what attention adds. The layouts keep the two apart.
@^post-norm@>@^OLMo 2@>

\printedfunction{model/switches.c}{work_norm}

\printedfunction{model/switches.c}{work_branch}

@ Norms have two more variations. Gemma's files store a gain as its distance from 1, so weight decay in training pulls the gain to 1 and not to 0. We add the 1 when the model is opened. Gains are copied for that, and there are few of them. In a GGUF file of a Gemma the 1 has been added already. And Cohere's LayerNorm has no bias.

What is normed of queries and keys? Qwen 3 and Gemma 3 norm each head by itself, with one gain for all heads. OLMo 2 takes all heads of a row as one vector. (If the heads of your test model have equal norms, you will not notice the difference.) StableLM and Cohere, if they norm queries and keys at all, have gains for each head:

\printedfunction{model/switches.c}{norm_heads}

@* What is turned. \label{sec:rotations}
Must every layer turn its queries and keys? In \emph{SmolLM3} every fourth layer does not (\emph{NoPE}, no position encoding). Such a layer sees what a key is, but not where it is. So it has no angle that a longer text could make unfamiliar, and the other layers know the order. Cohere 2 and Exaone 4 join this with windows: layers with a window turn, those that see everything do not. (An Exaone without windows turns everywhere.) The list in SmolLM3's file is a trap: it is called \.{no\_rope\_layers}, and a 1 in it means that the layer \emph{is} turned.
@^NoPE@>

@ GPT-NeoX, Phi and StableLM turn only the first numbers of each head, a quarter or half of them. The others compare contents and know no positions. If $r$ of the $d_h$ numbers of a head are turned, the pairs are $(i,i+r/2)$, and $r$ takes the place of $d_h$ in the formula of the frequencies. Our kernel turns whole heads. So we copy the parts that turn side by side, turn them, and copy them back. There is room for the copy in the array in which attention will leave its result.

\printedfunction{model/switches.c}{rotate}

@ Ernie and Cohere pair number $2i$ with $2i+1$, as the paper on rotary positions does and as the GGUF files of a Llama do. The code that puts those in order (\cref{sec:pairs}) serves here too.

\emph{Gemma 3} has two bases. Five of its six layers have a window of, say, \given{512} positions, and turn by the usual base of \given{10\,000}. Every sixth layer sees all of a long text, and to tell large distances apart it turns much more slowly. If the file stretches positions, only these layers are stretched.

The last change is \emph{Ministral 3}'s. We saw that attention spreads thin over many keys, and that YaRN answers with a factor for all scores of a stretched model. Ministral lets the factor grow with the position $p$ of the query. If the model was first trained with $o$ positions,
$$q\leftarrow q\,\bigl(1+\beta\ln(1+\lfloor p/o\rfloor)\bigr).$$
For positions below $o$ the factor is 1, so short texts stay as they were; with $\beta=\given{0.1}$ it is \val[3]{family.growth} for the next $o$ positions.

\printedfunction{model/switches.c}{grow_queries}

@* Long texts by another list: longrope. \label{sec:longrope}
Phi-3 and Phi-4-mini come with two lists of divisors, a short and a long one, with a number for each wheel. The numbers were found by a search, so no formula gives them. Texts up to the length $o$ of the first training use the short list, longer ones the long list. With either list cosines and sines are multiplied by $\sqrt{1+\ln k/\ln o}$, if texts may become $k$ times as long as $o$.
@^longrope@>@^Phi-3@>@^Phi-4-mini@>

Which length counts? It could be the position of a row, or the size of the cache. The published program looks at the length of the \emph{whole} text, and turns all of its positions by one list. So a text of $o$ tokens and the same text with one token more have no key in common. What does this mean for a cache? When a text grows past $o$, every key in the cache has been turned by the wrong list. Turning the keys further does not help, since all layers above have been computed with the wrong ones. The library drops its cache at that moment and computes all rows anew. An engine that keeps its cache writes something else from there on, and no short test shows it.

@ We do as the library does. Before a pass begins we ask how long each of its texts will be, and whether its rows in the store were turned by the list for that length. If not, they are computed once more. This also happens in the other direction, when a text is cut back, and for each branch of a fork by itself. So the keys in the store are always those that one pass over the whole text would give, however the text has grown:

\printedfunction{model/switches.c}{work_turn_anew}

The price is a second reading of the text, once, when it crosses $o$. A prompt that is read in pieces and ends beyond $o$ pays it as well. Two features of other chapters need care. A guess (\cref{speculation}) might carry a text across $o$ and then turn out wrong, so guesses end there. And requests do not share the pages of their prefixes (\cref{serving}), because the same words have other keys in a longer text.

The promise of \cref{model}, that the logits of a row depend only on the tokens up to its own, has one exception in this family: all rows of one text in a single pass are turned by the list for the length that the text has at the end of the pass. The test grows, cuts and forks texts at random around $o$, and after each pass compares the last row with a fresh pass over the whole text, bit by bit.

@* Halves in parallel. \label{sec:parallel}
In the layer of a Llama the MLP reads what attention has added. GPT-NeoX, Falcon, Phi and Cohere let both read the same stream,
$$x\leftarrow x+\hbox{attention}(N_1(x))+\hbox{MLP}(N_2(x)),$$
which hardly changes what a large model learns. On many processors the two halves can then be computed at the same time, and their sums need be exchanged only once. We compute them one after the other all the same. Only one thing changes: the MLP's norm has to be taken before attention is added to the stream (look for |parallel| in \cref{model}). Phi and Cohere use one norm for both halves, and so does Falcon with its smaller model; NeoX and the larger Falcon have two.
@^parallel attention and MLP@>

@* Matrices that are one. \label{sec:fusedmatrices}
If queries, keys and values are one matrix, in which order are its rows? We know three answers. GPT-2: all queries, all keys, all values, and stored by inputs, so the result is cut into three. Phi-3: the same order, with fewer keys than queries, and stored by outputs. There a slice of the matrix is a matrix again, so the loader makes three matrices of it and the pass needs no code at all. Gate and up are fused in the same way. GPT-NeoX and Falcon fuse head by head: the queries that share a head of keys, then that key, then its value. With one head of keys, as in the first Falcon, that is again all queries, the key, the value.

\printedfunction{model/switches.c}{work_split}

@* A gate with limits, and matrices in blocks. \label{sec:clamped}
The experts of \emph{gpt-oss} have another gate, a SwiGLU with limits. With the products $g$ of the gate's matrix and $u$ of the other,
$$g\leftarrow\min(g,c),\qquad u\leftarrow\max(-c,\min(u,c)),\qquad y=(u+1)\cdot g\,\sigma(\alpha g),$$
where $\sigma$ is the logistic function. The makers chose $\alpha=\given{1.702}$ and $c=\given{7}$. With this $\alpha$ the curve is the quick approximation of GELU that its inventors gave with it \cited{Hendrycks 2016}; it is never further than \val[3]{clamped.gelu} from the exact one. The 1 lets the gate through where $u$ is 0, so an expert whose up matrix has learned nothing is a plain MLP and not a dead one. For the limits the makers give no reason. We suppose that they bound what training may build on: numbers that are very large between two matrices are what formats of few bits bear least. The gate needs no limit below, for there the logistic function has made it small.
@^SwiGLU, clamped@>@^GELU@>@^gpt-oss@>

\printedfunction{model/switches.c}{clamped_gate}

@ Every product of such a layer has a bias, the router's too, and those of all experts lie in one tensor, a row for each. Gate and up are one matrix whose outputs alternate. We could take it apart, but then it would have to be copied. So it stays as it is, and the pass takes its results in pairs: |work_gate| reads two neighbours and writes one number, and never writes over a number that it has yet to read.

In one place we do copy. The published files have the experts in MXFP4, the type of \cref{sec:unequal}, as two tensors: one has all numbers, two in a byte, the other all scales. Our kernels want the scale of a block beside its numbers, and in a byte numbers that are sixteen apart, as in GGUF files. So the matrices are put together when the model is opened, which takes as long as reading them once, and as much memory as they have in the file; after that the file's pages are given back.
@^MXFP4@>

\printedfunction{families/loader.c}{pack_mxfp4}

And the router? The published program takes the best logits first and makes a softmax of these alone. We make a softmax of all and divide the chosen by their sum. Apart from a rounding in double precision that is the same, since dividing by the sum removes the common factor in which the two softmaxes differ. So the router needs no new switch: |chosen_normed| is enough.

@* What a switch costs, and what a device refuses. \label{sec:switchedcosts}
\Cref{accounts} gives formulas for what a model costs, and the formulas know the switches. A test counts the tensors of each small model, its madds and its bytes, and all of these numbers must be those of the formulas.

A graphics processor (\cref{cuda}) computes the switches that are only other uses of its kernels: OLMo's norms, layers that are not turned, biases, windows by layer. The loops of these sections run in the host's memory. So a device refuses a model that needs one of them, in a sentence that names the setting.

@* The same families in GGUF files. \label{sec:familyfiles}
\val{family.gguf} of the \val{family.all} families are read from GGUF files as well (\cref{gguf}; \cref{tab:familyfiles} lists all). You might think that this costs nothing but names. But \texttt{llama.cpp}'s converter prepares some models for its own program, and a reader has to know what was done (\cref{tab:familyforms}). It shows in the shapes only where a tensor has other dimensions. All else fits, runs, and writes nonsense if you get it wrong.
@^GGUF file@>

\begin{table}[tbp]
\tabcaption{tab:familyforms}{What a GGUF file has in another form than the directory.}
\centering\footnotesize
\begin{tabular}{@@{}>{\raggedright\arraybackslash}p{34mm}>{\raggedright\arraybackslash}p{72mm}@@{}}
\toprule
\tabhead{family} & \tabhead{in its file}\\
\midrule
Llama, Mixtral, Ministral~3, Granite, SmolLM3 & rows of queries and keys permuted: pairs are neighbours\\
Gemma & norms with the 1 already added\\
GPT-NeoX, Falcon & the fused matrix in three blocks, no longer head by head\\
Falcon & with two norms, \.{attn\_norm\_2} is the one for attention\\
StableLM, Cohere & the norms of all heads are one tensor\\
StableLM & halves are parallel if a layer has no \.{ffn\_norm}; the key counts for nothing\\
Seed-OSS, gpt-oss & the norm before the MLP is \.{post\_attention\_norm}\\
gpt-oss & gate and up of the experts are apart, and a block has its scale beside its numbers\\
Cohere~2 & every fourth layer sees everything, unless a list says otherwise\\
Exaone~4 & a list says which layers have a window\\
Mixtral & calls itself \.{llama}; the key \.{expert\_count} tells it\\
OLMoE, Qwen2-MoE & no key says that the weights of the chosen are not divided by their sum; Qwen3-MoE's are\\
\bottomrule
\end{tabular}
\end{table}

\begin{table}
\tabcaption{tab:familyfiles}{The families: whether a directory is read, the architecture in GGUF files, how many small models are compared with those of Hugging Face's library, and a published model that a test runs whole. A program makes the table from the one of this chapter and from the tests.}
\small
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}clcl@@{}}
\tabhead{\texttt{model\_type}} & \tabhead{directory} & \tabhead{GGUF} & \tabhead{compared} & \tabhead{run whole}\\\midrule
\familyrows
\end{tabular*}
\end{table}

@ Formats also have a past. The first files of a Mixtral had a tensor for each matrix of each expert, as the directory has; later all matrices of a kind are one tensor with three dimensions, whose slices are the experts. The first files of a Phi-2 had its three matrices as one. Such files are still fetched every day. A layout may therefore point to an |older| one, and say which tensor tells a file of that kind. The loader looks for this tensor in the first layer, and the rest of the program never learns how old the file is. Newer is a wish that the converter grants for any family: queries, keys and values in one tensor, one above the other. A second table for each layout would say the same each time, so the loader makes a copy of the first and changes a row.

How do we know that all this is right? Our own writer would be a poor witness: an error that reader and writer share would not show. A script that contains no line of our engine makes a small file for each family with the \texttt{gguf} package of \texttt{llama.cpp}'s authors, by the converter's rules, and beside it the logits of the reference in double precision. Our logits must be those, and for a file that we write of a directory, the bits must be the same in both forms.

A file of an unknown architecture is refused by its name. A conversion is refused if the file could not say what the directory says: a limit for queries and keys in an OLMoE, an MLP in the place of some layer's experts, a Falcon with biases, the divisors of longrope.

@* Models that see: the model of texts within. \label{sec:wrappers}
You fetch a Gemma 3 of the larger sizes, and its \.{config.json} has no number of layers. It says \.{gemma3} where the small one says \.{gemma3\_text}, and instead of sizes it has two objects, \.{text\_config} and \.{vision\_config}. Many models of today are built so: a model of texts, a second model that turns an image into rows as wide as those of the first, and a matrix between them that adapts the widths. The rows of an image are put in the place of certain tokens. In a text without images there are no such tokens, so only the model of texts computes. We read that model and leave the images to others: in a Gemma 3, a Mistral~3, a LLaVA, an Idefics 3 or a SmolVLM.
@^models that see@>@^vision, models with@>

That makes our task easy, and leaves three traps. The first is in the settings. The library writes into the inner object only what differs from the defaults of its class, so the heads of that Gemma are not mentioned: its class has \given{8}. A model by itself always names them, and there we would rather refuse a file than guess. The second trap is the head. It belongs to the whole and not to the model within, and so does the word that says whether it is the embedding once more; if both objects have that word, the outer one counts. The third is in the names: the library has changed them, and files of both kinds are in use. In older ones everything of the text begins with \.{language\_model}, the head as well; in newer ones only the body has a prefix, and that is \.{model.language\_model}. The embedding tells us which.

\printedfunction{families/loader.c}{model_layout}

What about the tensors that see? A tensor without a use is an error, for good reasons (\cref{sec:model}). Here we know what they are for, and so we name each of them among what was ignored, and do not count them among the weights. But only tensors with the names of such models are passed over, and only beside a model whose names say that it sees.

@* Exercises. \label{sec:familyexercises}
Four exercises are calculations; the third adds a line to a table, and the point of it is the reason.

\begin{exercises}
\exercise{check}{ex:families.attention}{Qwen2.5 is stretched by YaRN with the factor 4. By which number does that multiply its attention scores? Three decimals are enough.}{\texttt{make
exercise-W3-1}}{The factor $\given{0.1}\ln 4+1$ is \given{1.1386}. Query and key are both multiplied by it, so a score is multiplied by its square: \given{1.296}.}
\exercise{think}{ex:families.wheels}{The small Llama~3.2 has heads of 64 numbers, so 32 wheels, the base \given{500,000}, and is stretched as Llama~3.1 is, but with the factor 32. The original context is \given{8192}, the two bounds are 1 and 4. How many of its wheels are left
alone, how many are slowed down by the whole factor, and how many lie between?}{\texttt{make exercise-W3-2}}{A wheel $i$ turns once in $2\pi\cdot\text{base}^{i/32}$ positions. That is below \given{2048} up to $i=14$, which makes 15 wheels, and above \given{8192} from $i=18$ on,
which makes 14. Three are between. The factor plays no part in it.}
\exercise{check}{ex:families.author}{Some files begin to have a field \texttt{author}. Make our reader ignore it, with a reason, whatever its value; \texttt{authors} must still be refused.}{\texttt{make
exercise-W3-3}}{A line in the table of harmless fields: the author of a file changes no logit. If you compare only the beginnings of names, you accept \texttt{authors}, and one day a field that matters.}
\exercise{think}{ex:families.gemma}{The smallest Gemma 3 has 18 layers; every sixth sees everything, the others the last \given{512} positions. A text of \given{4096} tokens is in the cache. How many rows does the cache hold in all layers together, and how many would it hold without windows?}{\texttt{make
exercise-W3-4}}{Three layers keep \given{4096} rows and fifteen keep \given{512}: $\given{12288}+\given{7680}=\given{19968}$ rows. Without windows there would be $18\cdot4096=\given{73728}$.}
\exercise{think}{ex:families.granite}{Granite's heads have 64 numbers, and its scores are multiplied by \given{0.015625}. Somebody multiplies them by $1/\sqrt{64}$ as well. By which factor are that engine's scores wrong, and what is the share of a key that is 8 above \given{1000} equal others, with the right scores and with the wrong ones? Three decimals.}{\texttt{make
exercise-W3-5}}{The factor is one over the root of 64, \given{0.125}. A key that is 8 above the others has the share $e^8/(e^8+\given{1000})=\given{0.749}$; with wrong scores it is 1 above them, and $e/(e+\given{1000})=\given{0.003}$. Such an engine looks at everything alike.}
\end{exercises}
