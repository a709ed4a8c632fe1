@i types.w
@s json_error_t int
@s json_int_t int
@s field_read int

\chapterquestion{If GPT-2, Llama and Qwen are one kind of model, what is all the rest in their settings files?}
@** Published models: from settings to a model.
\incipit{O}{ne kind of} model has many makers, and each has changed something: where positions enter, which numbers are scaled, which
products get a bias. Each has recorded the changes in a settings file, under names of its own. This chapter reads those files and builds the model
that chapter 2 computes with. Its main idea is that the differences are data and not programs: one description, filled from a table, says all that the engine
must know about a family, and a setting that is not in the table is refused by name.
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

@ The program computes the same table with the engine's own functions.

@c
#include <math.h>
#include <stdio.h>
#include "families/rope_scaling.h"
@;@#
@<Slow the wheels of the hand calculation@>@;
@#
int main(void)
{
  print_hand();
  return 0;
}

@ A wheel's speed is its slowed frequency over the original one; the share that was kept follows from the speed. The longest training text must be a whole number of positions;
with \given{125} of them the first wheel makes 20 turns, to two digits.

@<Slow the wheels of the hand calculation@>=
static double speed_of(struct rope_config r, enum rope_kind kind, uint32_t i,
  uint32_t half)
{
  r.kind = ROPE_PLAIN;
  double plain = rope_scaled_frequency(&r, i, half);
  r.kind = kind;
  return rope_scaled_frequency(&r, i, half) / plain;
}
static double kept(double speed, double factor)
{
  return (speed - 1 / factor) / (1 - 1 / factor);
}

@ One structure of settings serves all kinds, since each kind reads only its own fields.

@<Slow the wheels of the hand calculation@>=
static void print_hand(void)
{
  struct rope_config r = @[{ .theta = 1e4, .factor = 5, .original = 125,@|
    .low_freq_factor = 1, .high_freq_factor = 4,@|
    .beta_slow = 1, .beta_fast = 4, .truncate = true }@];
  printf("wheel   turns  linear  llama3            yarn\n");
  for (uint32_t i = 0; i < 4; i++) {
    double turns = rope_scaled_frequency(&r, i, 4) * r.original / 6.283185307179586;
    double llama = speed_of(r, ROPE_LLAMA3, i, 4);
    double yarn = speed_of(r, ROPE_YARN, i, 4);
    printf("%5d %7.2g %7.2f %7.2f %7.2f %7.2f %7.2f\n", (int) i, turns,
      speed_of(r, ROPE_LINEAR, i, 4), fabs(kept(llama, r.factor)), llama,
      fabs(kept(yarn, r.factor)), yarn);
  }
  r.kind = ROPE_YARN;
  double a = rope_scaled_attention(&r);
  printf("scores times %.2f\n", a * a);
}

@* One model with switches. \label{sec:switches}
One diagram describes all five families (\cref{fig:families})\lab{lab:families}: a row is looked up, goes through layers of two halves, and is compared with the
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
Beside its weights (\cref{safetensors}) a model has the file \.{config.json}. It gives the number and width of the layers and
two dozen other settings, under names that depend on the \emph{family} of the model and on the
year in which it was saved. We read it into one structure. Everything after that
knows only one kind of model: a GPT-2 is a model with learned positions, biases and a
LayerNorm, a Llama is one with rotations and an RMSNorm, and the rest is the same. The structure is chapter 2's |struct model_config| (\cref{sec:modelsettings}), which the pass reads;
this chapter fills it. If the structure already has all the parts that a new family needs, the family costs one row of a table (\cref{sec:families}).
@^GPT-2@>@^Llama@>

@(config.h@>=
#ifndef INCIPIT_CONFIG_H
#define INCIPIT_CONFIG_H
#include "model/model.h"
@<What is asked of the settings@>@;
#endif

@ Reading the settings takes memory only for the list of ignored fields. The list belongs to the structure, and closing frees it.

@<What is asked of the settings@>=
struct config_options {
  const char *const *ignore;
  size_t n_ignore; /* fields to ignore if they are unknown */
  bool tolerant; /* ignore all unknown fields */
  size_t n_unknown; /* how many other unknown fields there were */
  bool *used; /* |[n_ignore]|, or null: was it met? */
};
  /* the caller's wishes; borrowed. Filled in: |n_unknown|, fields refused or (if
     |tolerant|) ignored; |used|: whether a file has an unknown field of that name */
extern const char config_ignored_by_caller[];
  /* the reason, in the list of what was ignored, of a field that the caller named; that of another
     unknown field is null */
bool config_open(struct model_config *c, struct memory *m, const char *directory,
  struct error *why);
  /* reads \.{config.json} and, if there, \.{generation\_config.json}, or the keys of a GGUF file; every
     field is used, known to be harmless, or an error; on failure nothing is held */
bool config_open_with(struct model_config *c, struct memory *m,
  const char *directory, struct config_options *o, struct error *why);
  /* the same, with the caller's wishes about unknown fields; |o| may be null */
bool config_read_directory(struct model_config *c, struct memory *m,
  const char *directory, struct config_options *o, struct error *why);
  /* the same for a directory alone; |o| is not null */
bool config_ignore(struct model_config *c, struct memory *m, const char *file,
  const char *field, const char *reason, struct error *why);
  /* adds to the list of what is ignored; |field| is copied, the others are not */
void config_close(struct memory *m, struct model_config *c);
  /* frees the list of ignored fields */

@ Two functions query the table of families without a file; the figure of this chapter is drawn from their answers.

@<What is asked of the settings@>=
const struct model_config *config_family(size_t i);
  /* the defaults of family number |i| of the table; null after
     the last */
bool config_reads(size_t i, const char *field);
  /* whether |field| is used in the \.{config.json} of family number |i| */

@ We must never overlook a setting that matters. A model saved with
a kind of normalization that we do not have would still run, and write nonsense in a
confident voice. So every field of the file must be accounted for: we use it; or it
is in a list of harmless fields, each with its reason; or it is null, |false| or
empty, which means that a feature is absent; or it is an error that names the field. The price is that a harmless field invented tomorrow will be refused until we have
looked at it. We think the price is right. But you need not wait for us: one sentence names all unknown fields of a file, and a caller that has checked them can say which to ignore. A field that we know cannot be
switched off in this way. A program that only shows what is in the files may ask to see all of them.

@<The state of reading settings@>=
struct tables;
struct config_reader {
  const char *path, *file; /* the path for messages; the file's bare name */
  json_t *all;
  const struct tables *t; /* those that are being read */
  struct config_options *o;
  json_t *strange; /* unknown fields: an object of the file's values */
  struct model_config *c;
  struct memory *m;
  struct error *why;
};
/*- Every complaint has the path of the file, the field, its value and what was wanted. */
static bool setting_bad(struct config_reader *s, const char *name, json_t *found,
  const char *wanted)
{
  char buffer[64];
  return error_found(s->why, s->path, name, jsonfile_excerpt(found, buffer), wanted);
}

@ A field that is used has a row in a table: its name, the families that have it, whether
it must be there, the function that reads it, where the value goes, and the least and
greatest value that makes sense. For a setting of chapter 2's table (\cref{sec:settingrows}) the place and the bounds are there, so the row here has only its name. Families are bits of a number, so that one row can apply to several. We can read a table as a list, check it against the published files line by line,
and count its rows; with a function of many branches we could not.

@<A row of the table of fields@>=
struct config_field;
typedef bool field_read(struct config_reader *s, const struct config_field *f,
  json_t *value);
struct config_field {
  const char *name;
  unsigned of; /* families */
  bool required;
  field_read *read;
  struct field_place { size_t at;@+ double min, max; } to; /* in |struct model_config| */
};
enum { NULL_COUNTS = 1 << 30, /* null is a value of this field, not its absence */
  MOST = 0x7fffffff };

@ JSON distinguishes integers, reals and truth values: none of |12.0|, |"12"| and |true| is the integer 12.
A count goes where the row says, and must be within its bounds; a value of another type is turned into $-1$, which no row allows.

@<Read a number or a flag@>=
/*- JSON tells integers, reals and truth values apart: none of 12.0, "12" and true is the
  integer 12. A value of another type becomes -1, which no row allows. */
static bool read_count(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "an integer from %.0f to %.0f", f->to.min,
    f->to.max);
  double x = json_is_integer(value) ? (double) json_integer_value(value) : -1;
  if (x < f->to.min || x > f->to.max) return setting_bad(s, f->name, value, wanted);
  *(uint32_t *) ((char *) s->c + f->to.at) = (uint32_t) x;
  return true;
}

@ A real may be written as an integer, because some files have |1| for |1.0|.

@<Read a number or a flag@>=
/*- A real may be written as an integer: some files have 1 for 1.0. */
static bool read_real(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "a number from %g to %g", f->to.min, f->to.max);
  double x = json_is_number(value) ? json_number_value(value) : f->to.min - 1;
  if (x < f->to.min || x > f->to.max) return setting_bad(s, f->name, value, wanted);
  *(double *) ((char *) s->c + f->to.at) = x;
  return true;
}
@#
static bool read_flag(struct config_reader *s, const struct config_field *f,
json_t *value)
{
  if (!json_is_boolean(value))
    return setting_bad(s, f->name, value, "true or false");
  *(bool *) ((char *) s->c + f->to.at) = json_is_true(value);
  return true;
}

@ A row that is about a setting of the table has the setting's number instead of a place. It is read by its kind.

@<Read a setting of the table@>=
#define setting(name) read_setting, @[{ SETTING_##name, 0, 0 }@]
#define NOWHERE @[{ 0, 0, 0 }@]
/*- The row has the number of a setting instead of a place; place and bounds are in the table of
  settings. */
static bool read_setting(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  const struct setting *to = &config_setting[f->to.at];
  struct config_field at = *f;
  at.to = (struct field_place) @[{ to->at, to->min, to->max }@];
  switch (to->kind) {
  case SETTING_COUNT:@+ return read_count(s, &at, value);
  case SETTING_REAL:@+ return read_real(s, &at, value);
  case SETTING_FLAG:@+ return read_flag(s, &at, value);
  case SETTING_CURVE:@+ return read_activation(s, &at, value);
  }
  return false;
}

@ For some settings our arithmetic is right with one value only. Related families multiply the embedding, the output of a layer, or the logits by a number, or rotate only a part of each head. Some tools write
such a field into the files of our families as well, and then its value is 1.

@<Insist on a value@>=
/*- Related families multiply here by a number; ours have no such factor, but some tools write
  the field all the same. */
static bool read_one(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  return (json_is_number(value) && json_number_value(value) == 1)
    || setting_bad(s, f->name, value, "1: there is no such factor here");
}

@ One field is true by default: in a causal model a row sees only the rows before it, and |is_causal| is false in models that were changed to read texts instead of writing them. The library takes a null
there for false, as it does in yarn's |truncate|. For these two, null is a value.

@<Insist on a value@>=
/*- False in models that were changed to read texts instead of writing them. The library takes
  null for false, so null counts as a value. */
static bool read_true(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  return json_is_true(value)
    || setting_bad(s, f->name, value, "true: no row sees what comes after it");
}
@#
static bool read_truth(struct config_reader *s, const struct config_field *f,
json_t *value)
{
  if (!json_is_boolean(value) && !json_is_null(value))
    return setting_bad(s, f->name, value, "true or false");
  *(bool *) ((char *) s->c + f->to.at) = json_is_true(value);
  return true;
}

@ The activation function of the MLP is one of three, and we accept the library's names for them. The GELU with a hyperbolic tangent has several names, for several ways to compute one formula. The exact GELU is
\emph{not} the same function: the two differ so little that a text would look right, but enough that it would not be the model's text.

@<Read the name of a curve@>=
/*- The exact GELU is not the one with a hyperbolic tangent: a text would look right, and not be
  the model's. */
static bool read_activation(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  static const struct { const char *name; enum activation_kind kind; } curve[] =
    @[{ {"silu", ACTIVATION_SILU}, {"swish", ACTIVATION_SILU},@|
    {"gelu_new", ACTIVATION_GELU_TANH}, {"gelu_fast", ACTIVATION_GELU_TANH},@|
    {"gelu_pytorch_tanh", ACTIVATION_GELU_TANH},@|
    {"gelu", ACTIVATION_GELU_ERF}, {"gelu_python", ACTIVATION_GELU_ERF} }@];
  const char *found = json_is_string(value) ? json_string_value(value) : "";
  for (size_t i = 0; i < sizeof curve / sizeof curve[0]; i++)
    if (strcmp(found, curve[i].name) == 0) {
      s->c->activation = curve[i].kind;
      return true;
    }
  return setting_bad(s, f->name, value, "silu, gelu_new or gelu");
}

@ The token that ends a text is one id or a list of them. The file with the advice for
sampling is read second, and its value replaces the one in \.{config.json}, since it is the newer kind of file and corrects the older one. We record which of the two files gave the value, so that a user can find out
why a text ended. The token that begins a text is optional, and its id can be any number, even 0; so a flag must say whether there is one.

@<Read ids@>=
/*- One id or a list. The file of advice is read second, and its value replaces the first, since
  it corrects the older kind of file; which file it was is kept for the user who asks why a
  text ended. */
static bool read_eos(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  size_t n = json_is_array(value) ? json_array_size(value) : 1;
  if (n > CONFIG_MAX_EOS) return setting_bad(s, f->name, value, "at most 16 ids");
  for (size_t i = 0; i < n; i++) {
    json_t *id = json_is_array(value) ? json_array_get(value, i) : value;
    if (!json_is_integer(id) || json_integer_value(id) < 0
        || json_integer_value(id) > MOST)
      return setting_bad(s, f->name, value, "an id or a list of ids");
    s->c->eos[i] = (uint32_t) json_integer_value(id);
  }
  s->c->n_eos = (uint32_t) n, s->c->eos_from = s->file;
  return true;
}
@#
/*- Any id is possible, even 0; so a flag says whether there is one. */
static bool read_bos(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  s->c->has_bos = read_count(s, f, value);
  return s->c->has_bos;
}

@ GPT-2's early files have |n_ctx| beside |n_positions|, with the same value. If the
two differ, we do not know which was meant, and an error message is better than a guess.

@<Read what must agree with something else@>=
/*- If the two names of the context differ, nobody can know which was meant. */
static bool read_n_ctx(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  return json_equal(value, json_object_get(s->all, "n_positions"))
    || setting_bad(s, f->name, value, "the same as n_positions");
}

@ Here are the tables for \.{config.json}, each ended by a row without a name. The same
setting has one name in GPT-2 and another in the later families. What is no setting of its own, such as a part of the advice, has its place and bounds in the row, and |field_at| (\cref{sec:steer}) turns the place into a distance from the beginning of |struct model_config|.

@<The fields of \.{config.json} that are used@>=
@<Fields of GPT-2@>@;
@<Fields of the later families@>@;
@<Fields of windows@>@;
@<Fields that every family has@>@;

@ In GPT-2 the sizes begin with |n_|, and |n_inner| may be null. The two switches for the
scores of attention came later, when the model was trained again by others.

@<Fields of GPT-2@>=
static const struct config_field gpt2_field[] =
  @[{ {"n_positions", GPT2, false, setting(n_positions)},@|
  {"n_ctx", GPT2, false, read_n_ctx, NOWHERE},@|
  {"n_embd", GPT2, true, setting(d_model)},@|
  {"n_layer", GPT2, true, setting(n_layers)},@|
  {"n_head", GPT2, true, setting(n_heads)},@|
  {"n_inner", GPT2, false, setting(d_inner)},@|
  {"activation_function", GPT2, false, setting(activation)},@|
  {"layer_norm_epsilon", GPT2, false, setting(norm_eps)},@|
  {"scale_attn_weights", GPT2, false, setting(scaled)},@|
  {"scale_attn_by_inverse_layer_idx", GPT2, false, setting(scaled_by_layer)},@|
  {NULL, 0, false, NULL, NOWHERE} }@];

@ The later families count heads twice, once for queries and once for keys and values, and
may give the width of a head, which otherwise follows from the other sizes; if the given width differs from the computed one, the given one counts. A field that only some of these
families have carries their bits alone. If a file does not give the number of heads for keys, Llama has as many as for queries. For the other families the library takes the number of their first
published model; that default is hardly ever what a file means, so we require the field.

@<Fields of the later families@>=
static const struct config_field later_field[] =
  @[{ {"max_position_embeddings", LATER, false, setting(n_positions)},@|
  {"hidden_size", LATER, true, setting(d_model)},@|
  {"num_hidden_layers", LATER, true, setting(n_layers)},@|
  {"num_attention_heads", LATER, true, setting(n_heads)},@|
  {"num_key_value_heads", LLAMA, false, setting(n_kv_heads)},@|
  {"num_key_value_heads", LATER, true, setting(n_kv_heads)},@|
  {"head_dim", LATER, false, setting(head_dim)},@|
  {"intermediate_size", LATER, true, setting(d_inner)},@|
  {"hidden_act", LATER, false, setting(activation)},@|
  {"rms_norm_eps", LATER, false, setting(norm_eps)},@|
  {"attention_bias", LLAMA | QWEN3, false, setting(out_bias)},@|
  {"mlp_bias", LLAMA, false, setting(mlp_bias)},@|
  {NULL, 0, false, NULL, NOWHERE} }@];

@ Windows have four fields, of which Mistral's files have the first, and Qwen's all. Their joint meaning is worked out when all have been read (\cref{sec:windows}).

@<Fields of windows@>=
static const struct config_field window_field[] =
  @[{ {"sliding_window", MISTRAL | QWEN2 | QWEN3, false, setting(window)},@|
  {"use_sliding_window", QWEN2 | QWEN3, false, setting(window_used)},@|
  {"max_window_layers", QWEN2 | QWEN3, false, setting(window_from)},@|
  {"layer_types", LATER, false, read_nothing, NOWHERE},@|
  {NULL, 0, false, NULL, NOWHERE} }@];

@ Three fields about rotation belong together and are read as a group, after the others;
so are the two that name the family, before them. Here they are listed only so that they are not refused; |read_nothing| reads them. The factors that must be 1 end the table. The similar fields that cap the
scores or the logits, |attn_logit_softcapping|, |final_logit_softcapping| and |clip_qkv|, have no row: if they are null they are ignored, and any number is refused.

@<Fields that every family has@>=
static const struct config_field common_field[] =
  @[{ {"vocab_size", ALL, true, setting(vocab_size)},@|
  {"tie_word_embeddings", ALL, false, setting(tied)},@|
  {"bos_token_id", ALL, false, read_bos, field_at(bos, 0, MOST)},@|
  {"eos_token_id", ALL, false, read_eos, NOWHERE},@|
  {"rope_theta", LATER, false, read_nothing, NOWHERE},@|
  {"rope_scaling", LATER, false, read_nothing, NOWHERE},@|
  {"rope_parameters", LATER, false, read_nothing, NOWHERE},@|
  {"model_type", ALL, true, read_nothing, NOWHERE},@|
  {"architectures", ALL, false, read_nothing, NOWHERE},@|
  {"is_causal", ALL | NULL_COUNTS, false, read_true, NOWHERE},@|
  {"partial_rotary_factor", LATER, false, read_one, NOWHERE},@|
  {"embedding_multiplier", ALL, false, read_one, NOWHERE},@|
  {"residual_multiplier", ALL, false, read_one, NOWHERE},@|
  {"logits_scaling", ALL, false, read_one, NOWHERE},@|
  {"logit_scale", ALL, false, read_one, NOWHERE},@|
  {NULL, 0, false, NULL, NOWHERE} }@];

@ Here is the table for \.{generation\_config.json}. The lengths that this file may suggest are the
caller's business, not the model's, and are among the harmless fields.

@<The fields of \.{generation\_config.json} that are used@>=
static const struct config_field advice_field[] =
  @[{ {"do_sample", ALL, false, read_flag, field_at(sampling.do_sample, 0, 0)},@|
  {"temperature", ALL, false, read_real, field_at(sampling.temperature, 0, 1e4)},@|
  {"top_k", ALL, false, read_count, field_at(sampling.top_k, 0, MOST)},@|
  {"top_p", ALL, false, read_real, field_at(sampling.top_p, 0, 1)},@|
  {"min_p", ALL, false, read_real, field_at(sampling.min_p, 0, 1)},@|
  {"typical_p", ALL, false, read_real, field_at(sampling.typical_p, 1e-9, 1)},@|
  {"repetition_penalty", ALL, false, read_real,@|
    field_at(sampling.repetition_penalty, 1e-9, 1e9)},@|
  {"no_repeat_ngram_size", ALL, false, read_count,@|
    field_at(sampling.no_repeat_ngram_size, 0, MOST)},@|
  {"bos_token_id", ALL, false, read_bos, field_at(bos, 0, MOST)},@|
  {"eos_token_id", ALL, false, read_eos, NOWHERE},@|
  {NULL, 0, false, NULL, NOWHERE} }@];

@ The harmless fields are listed with the reason why each cannot change a logit. Most of them
belong to training, to other heads, or to the program that saved the file. The command
\.{incipit inspect} prints the reason beside the name. Two tests check the tables on a small model: altering a field that is used
must change the answer or be refused, and altering a harmless one must change nothing.
@^harmless fields@>

@<The fields that are known to be harmless@>=
struct harmless_entry { const char *name, *reason; };
@<Fields about the file or another program@>@;
@<Fields of training and of other heads@>@;
@<Fields of advice among the settings@>@;

@ Some fields describe the file itself or concern other programs. One gives the type of the weights, and may be wrong, since files are converted and their settings copied. What counts is the
type in the header of each tensor, which at least must agree with the number of its bytes.

@<Fields about the file or another program@>=
static const struct harmless_entry harmless_file[] =
  @[{ {"transformers_version", "says who wrote the file"},@|
  {"_name_or_path", "says where the file lay"},@|
  {"name_or_path", "says where the file lay"},@|
  {"auto_map", "says where the program of the makers lies"},@|
  {"tokenizer_class", "says which class of another program reads the tokenizer"},@|
  {"model_max_length", "how long texts may be, for another program's tokenizer"},@|
  {"prefix", "suggestions to a user interface"},@|
  {"_commit_hash", "says where the file lay"},@|
  {"torch_dtype", "the weights' own header says their type"},@|
  {"dtype", "the weights' own header says their type"},@|
  {"is_llama_config", "says what model_type says"},@|
  {"transformers.js_config", "settings of another program"},@|
  {"task_specific_params", "suggestions to a user interface"},@|
  {"reorder_and_upcast_attn", "the precision of another program"},@|
  {"max_sequence_length", "says what max_position_embeddings says"},@|
  {"max_length", "lengths are the caller's"},@|
  {"_attn_implementation_autoset", "how another program computes"},@|
  {"_attn_implementation", "how another program computes"},@|
  {"attn_implementation", "how another program computes"},@|
  {"use_flash_attention", "how another program computes"},@|
  {"use_flash_attention_2", "how another program computes"},@|
  {"use_flash_attn", "how another program computes"},@|
  {"use_bfloat16", "the precision of another program"},@|
  {"torchscript", "how another program computes"},@|
  {"chunk_size_feed_forward", "how another program computes"},@|
  {"unsloth_fixed", "says who wrote the file"},@|
  {"unsloth_version", "says who wrote the file"},@|
  {"output_past", "what is kept changes no result"},@|
  {"pretraining_tp", "cuts a product into parts, and adds them up again"},@|
  {"use_cache", "what is kept changes no result"},@|
  {"pad_token_id", "we never pad"},@|
  {"output_attentions", "what another program returns"},@|
  {"output_hidden_states", "what another program returns"},@|
  {"return_dict", "what another program returns"},@|
  {NULL, NULL} }@];

@ Dropout and initial values matter only during training. The same layers may also have carried a
classifier in place of our head, whose settings are still in the file although that head is gone.

@<Fields of training and of other heads@>=
static const struct harmless_entry harmless_training[] =
  @[{ {"initializer_range", "used before training only"},@|
  {"n_special", "belongs to GPT-2's predecessor"},@|
  {"predict_special_tokens", "belongs to GPT-2's predecessor"},@|
  {"attn_pdrop", "dropout: used in training only"},@|
  {"embd_pdrop", "dropout: used in training only"},@|
  {"resid_pdrop", "dropout: used in training only"},@|
  {"attention_dropout", "dropout: used in training only"},@|
  {"gradient_checkpointing", "used in training only"},@|
  {"neftune_noise_alpha", "used in training only"},@|
  {"router_aux_loss_coef", "used in training only"},@|
  {"finetuning_task", "belongs to a classifier"},@|
  {"problem_type", "belongs to a classifier"},@|
  {"summary_activation", "belongs to a classifier"},@|
  {"summary_first_dropout", "belongs to a classifier"},@|
  {"summary_proj_to_labels", "belongs to a classifier"},@|
  {"summary_type", "belongs to a classifier"},@|
  {"summary_use_proj", "belongs to a classifier"},@|
  {"id2label", "belongs to a classifier"},@|
  {"label2id", "belongs to a classifier"},@|
  {"num_labels", "belongs to a classifier"},@|
  {"_num_labels", "belongs to a classifier"},@|
  {NULL, NULL} }@];

@ Up to version 4 of the library, advice for sampling could also be among the model's own settings, and many fine-tuned models that were saved with that version have some of it there, often with the default values. Version 5 ignores it there, and so do we. Even
|suppress_tokens|, which would change a logit, is in this list, because it has always been a setting of the sampler and not of the model.

@<Fields of advice among the settings@>=
static const char advice[] = "advice for sampling, read from generation_config.json";
static const struct harmless_entry harmless_sampling[] =
  @[{ {"do_sample", advice}, {"temperature", advice}, {"top_k", advice},@|
  {"top_p", advice}, {"min_p", advice}, {"typical_p", advice},@|
  {"epsilon_cutoff", advice}, {"eta_cutoff", advice},@|
  {"repetition_penalty", advice}, {"no_repeat_ngram_size", advice},@|
  {"encoder_no_repeat_ngram_size", advice}, {"diversity_penalty", advice},@|
  {"bad_words_ids", advice}, {"suppress_tokens", advice},@|
  {"begin_suppress_tokens", advice}, {"forced_bos_token_id", advice},@|
  {"forced_eos_token_id", advice}, {"remove_invalid_values", advice},@|
  {"exponential_decay_length_penalty", advice}, {"min_length", advice},@|
  {"max_new_tokens", advice}, {"num_beams", advice}, {"num_beam_groups", advice},@|
  {"num_return_sequences", advice}, {"early_stopping", advice},@|
  {"length_penalty", advice}, {"output_scores", advice},@|
  {"return_dict_in_generate", advice}, {NULL, NULL} }@];

@ In the file of advice, the fields about search are harmless because our caller asks for a search by options (chapter 9), and
those about length because our caller sets the length. ``Harmless'' has a weaker meaning in this list: these fields do change what another program writes, but they change
no logit.

@<The advice that is known to be harmless@>=
static const struct harmless_entry harmless_advice[] =
  @[{ {"transformers_version", "says who wrote the file"},@|
  {"_from_model_config", "says who wrote the file"},@|
  {"pad_token_id", "we never pad"},@|
  {"max_length", "lengths are the caller's"},@|
  {"max_new_tokens", "lengths are the caller's"},@|
  {"min_length", "lengths are the caller's"},@|
  {"min_new_tokens", "lengths are the caller's"},@|
  {"num_beams", "a search is asked for by option"},@|
  {"num_return_sequences", "a search is asked for by option"},@|
  {"early_stopping", "a search is asked for by option"},@|
  {"length_penalty", "a search is asked for by option"},@|
  {"use_cache", "what is kept changes no result"},@|
  {"cache_implementation", "where rows are kept changes no result"},@|
  {"output_attentions", "what another program returns"},@|
  {"output_hidden_states", "what another program returns"},@|
  {"output_scores", "what another program returns"},@|
  {"return_dict_in_generate", "what another program returns"},@|
  {"output_logits", "what another program returns"},@|
  {"return_legacy_cache", "what another program returns"},@|
  {"cache_config", "where rows are kept changes no result"},@|
  {"prefill_chunk_size", "how much is read at once changes no result"},@|
  {"disable_compile", "how another program computes"},@|
  {"low_memory", "how another program computes"},@|
  {NULL, NULL} }@];

@ Speculative decoding, guessing ahead with a smaller model, changes the time that a text takes and not the text. The last fields are for the makers' own programs: which ids begin a turn, or whether their code may run.

@<The advice that is known to be harmless@>=
static const struct harmless_entry harmless_other[] =
  @[{ {"is_assistant", "guessing changes no result"},@|
  {"num_assistant_tokens", "guessing changes no result"},@|
  {"num_assistant_tokens_schedule", "guessing changes no result"},@|
  {"assistant_confidence_threshold", "guessing changes no result"},@|
  {"assistant_lookbehind", "guessing changes no result"},@|
  {"target_lookbehind", "guessing changes no result"},@|
  {"prompt_lookup_num_tokens", "guessing changes no result"},@|
  {"max_matching_ngram_size", "guessing changes no result"},@|
  {"num_beam_groups", "a search is asked for by option"},@|
  {"diversity_penalty", "a search is asked for by option"},@|
  {"encoder_no_repeat_ngram_size", "belongs to models with an encoder"},@|
  {"encoder_repetition_penalty", "belongs to models with an encoder"},@|
  {"_commit_hash", "says where the file lay"},@|
  {"trust_remote_code", "whether a program of the makers may run"},@|
  {"user_token_id", "turns are set by the template"},@|
  {"assistant_token_id", "turns are set by the template"},@|
  {"chat_format", "turns are set by the template"},@|
  {"max_window_size", "lengths are the caller's"}, {NULL, NULL} }@];

@ A reading needs three things: \label{sec:steer} the family, which decides which rows count, a list of tables
with fields that are used, and a list of tables with fields that are harmless. Both
lists end with a null. Some fields are read elsewhere, as a group, since the meaning of one depends on another; in the tables they have a reader that accepts anything.

@<What steers a reading@>=
struct tables {
  unsigned family;
  const struct config_field *used[4];
  const struct harmless_entry *harmless[4];
};
#define field_at(member, min, max) @[{ offsetof(struct model_config, member), min, max }@]
/*- For fields that are read as a group elsewhere, because the meaning of one depends on
  another. Here they are only known. */
static bool read_nothing(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  (void) s;
  (void) f;
  (void) value;
  return true;
}

@ Each field of the file is looked up in the tables of used fields, then in those of harmless ones; then
we check whether its value says anything at all.

@<Account for every field@>=
/*- A field may have several rows, for different families; the first that has our bit counts. */
static const struct config_field *used_find(const struct tables *t, const char *name)
{
  for (int i = 0; t->used[i] != NULL; i++)
    for (const struct config_field *f = t->used[i]; f->name != NULL; f++)
      if (strcmp(f->name, name) == 0 && (f->of & t->family) != 0) return f;
  return NULL;
}
static const char *harmless_reason(const struct tables *t, const char *name)
{
  for (int i = 0; t->harmless[i] != NULL; i++)
    for (const struct harmless_entry *h = t->harmless[i]; h->name != NULL; h++)
      if (strcmp(h->name, name) == 0) return h->reason;
  return NULL;
}
@<Meet an unknown field@>@;
@<Use a field, ignore it, or refuse it@>@;

@ An unknown field may still have a value that says no. When a later release of the library
introduces a feature, its field is saved with every model, switched off in most. A zero does not count as a no: a threshold of zero may well mean something. A used field that is null is left at its default, with the two exceptions above.

@<Use a field, ignore it, or refuse it@>=
/*- A later library saves the field of a new feature with every model, switched off in most. A
  zero is no such no: a threshold of zero may mean something. */
static bool says_nothing(const json_t *value)
{
  return json_is_null(value) || json_is_false(value)
    || (json_is_string(value) && json_string_length(value) == 0)
    || (json_is_array(value) && json_array_size(value) == 0)
    || (json_is_object(value) && json_object_size(value) == 0);
}
/*- A used field that is null keeps its default, but for those in which null is a value. */
static bool read_field(struct config_reader *s, const char *name, json_t *value,
  const struct tables *t)
{
  const struct config_field *f = used_find(t, name);
  if (f != NULL)
    return (json_is_null(value) && (f->of & NULL_COUNTS) == 0) || f->read(s, f, value);
  const char *reason = harmless_reason(t, name);
  if (reason == NULL && says_nothing(value)) reason = "null, false or empty";
  if (reason != NULL)
    return config_ignore(s->c, s->m, s->file, name, reason, s->why);
  return read_unknown(s, name, value);
}

@ What is left is an unknown field. The caller may have asked for it to be ignored, or may want to see all fields; otherwise it is kept, with its value, until all fields have been read and the sentence can name every unknown one.

@<Meet an unknown field@>=
const char config_ignored_by_caller[] = "ignored, as you asked";
/*- Kept with its value until all fields have been read, so that one sentence can name every
  unknown one. */
static bool read_unknown(struct config_reader *s, const char *name, json_t *value)
{
  for (size_t i = 0; i < s->o->n_ignore; i++)
    if (strcmp(s->o->ignore[i], name) == 0) {
      if (s->o->used != NULL) s->o->used[i] = true;
      return config_ignore(s->c, s->m, s->file, name, config_ignored_by_caller,
        s->why);
    }
  if (s->o->tolerant) {
    s->o->n_unknown++;
    return config_ignore(s->c, s->m, s->file, name, NULL, s->why);
  }
  if (s->strange == NULL) s->strange = json_object();
  return json_object_set(s->strange, name, value) == 0
    || error_say(s->why, "%s: no memory for the unknown fields", s->path);
}

@ If there is only one, the sentence shows its value. If there are several, the sentence lists their names, and counts those that do not fit.

@<Name the unknown fields@>=
/*- One field is shown with its value; of several there is room for the names, and those that do
  not fit are counted. */
static bool refuse_unknown(struct config_reader *s)
{
  char names[240] = "", wanted[] = "fields that this program knows";
  size_t n = 0, shown = 0, all = json_object_size(s->strange);
  void *i = json_object_iter(s->strange);
  s->o->n_unknown = all;
  if (all == 1) return setting_bad(s, json_object_iter_key(i),
    json_object_iter_value(i), "a field that this program knows");
  for (; i != NULL; i = json_object_iter_next(s->strange, i)) {
    const char *name = json_object_iter_key(i);
    if (n + strlen(name) + 3 > sizeof names) break;
    n += (size_t) snprintf(names + n, sizeof names - n, "%s%s",
      shown > 0 ? ", " : "", name);
    shown++;
  }
  return shown == all
    ? error_say(s->why, "%s: unknown: %s; wanted: %s", s->path, names,@|
      wanted)
    : error_say(s->why, "%s: unknown: %s and %zu more; wanted: %s", s->path,@|
      names, all - shown, wanted);
}

@ We look for missing fields after all others have been read. The first fault of a file is more likely an unknown name than a missing
one, and often both faults are a single field, spelt differently.

@<Read all fields of a file@>=
static bool settings_read(struct config_reader *s, const struct tables *t)
{
  s->t = t;
  for (void *i = json_object_iter(s->all); i != NULL;
       i = json_object_iter_next(s->all, i))
    if (!read_field(s, json_object_iter_key(i), json_object_iter_value(i), t))
      return false;
  if (s->strange != NULL) return refuse_unknown(s);
  for (int i = 0; t->used[i] != NULL; i++)
    for (const struct config_field *f = t->used[i]; f->name != NULL; f++) {
      json_t *value = json_object_get(s->all, f->name);
      if (f->required && used_find(t, f->name) == f
          && (value == NULL || json_is_null(value)))
        return setting_bad(s, f->name, value, "a value: it has no default");
    }
  return true;
}

@ The ignored fields are recorded, since a user of \.{inspect} wants to see them. The name
may belong to the parsed file, which is freed after the reading, so the list keeps a copy.

@<Remember what was ignored@>=
/*- The name may belong to the parsed file, which is freed after the reading: so a copy. */
bool config_ignore(struct model_config *c, struct memory *m, const char *file,
  const char *field, const char *reason, struct error *why)
{
  struct ignored_field *p = memory_reserve(m, MEMORY_OTHER, c->ignored, &c->ignored_cap,
    c->n_ignored + 1, 32, sizeof *p, why);
  if (p == NULL) return false;
  c->ignored = p;
  char *copy = memory_alloc(m, MEMORY_OTHER, strlen(field) + 1, 1, why);
  if (copy == NULL) return false;
  strcpy(copy, field);
  c->ignored[c->n_ignored++] = (struct ignored_field) @[{ file, copy, reason }@];
  return true;
}

@* Families. \label{sec:families}
The field |model_type| gives the family, and |architectures| must not contradict it: a
checkpoint for classification has the same type but no head that we could use. Before the fields are read, each
family sets the flags for what it always does, and the library's default for each field that a file may leave out. For example, Mistral's window is there unless the file says null, and every family has a default for the longest text. The five rows below, the tables of fields, and the names in
\cref{sec:layouts} are all that the book knows of the five families; everything else is common to them.

A family has a number, from which its bit follows, and a row. The row has all its names: that of |model_type|, that of its class, how the class was once spelt, and what GGUF files call it. (The files of a Mistral call themselves |llama|, since without its window it is one.) It also names the two layouts of its tensors, for a directory and for a GGUF file. A file that knows the table includes this header; no other part of the program needs to know how many families there are.

@(families.h@>=
#ifndef INCIPIT_FAMILIES_H
#define INCIPIT_FAMILIES_H
#include "families/config.h"
enum model_family { FAMILY_GPT2, FAMILY_LLAMA, FAMILY_MISTRAL, FAMILY_QWEN2,@|
  FAMILY_QWEN3, N_FAMILIES };
  /* the numbers of the families */
enum { GPT2 = 1 << FAMILY_GPT2, LLAMA = 1 << FAMILY_LLAMA,@|
  MISTRAL = 1 << FAMILY_MISTRAL, QWEN2 = 1 << FAMILY_QWEN2,@|
  QWEN3 = 1 << FAMILY_QWEN3, ALL = (1 << N_FAMILIES) - 1, LATER = ALL & ~GPT2 };
  /* their bits, for rows that are about several */
struct family_row {
  const char *type, *architecture, *once; /* and how the class was once spelt, or null */
  const char *gguf, *layout[2];
  struct model_config always;
};
  /* what a family is called, how its files name tensors, and what its settings begin with */
extern const struct family_row model_families[];
  /* |N_FAMILIES| rows */
const struct family_row *family_named(const char *type);
  /* the row with this |type|, or null */
const char *family_list(bool gguf, char list[200]);
  /* all types, or all names in GGUF files, as a sentence lists them: ``a, b or c'' */
#endif

@ The table begins with GPT-2, which is unlike all the others. A row that was forgotten stops the compiler.

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
    .window_from = 28 }} }@];
_Static_assert(sizeof model_families / sizeof model_families[0] == N_FAMILIES,@|
  "a family without a row");

@ The table can be queried without a file: for a row, or for whether a family uses a field.

@<Ask the table of families@>=
const struct model_config *config_family(size_t i)
{
  return i < N_FAMILIES ? &model_families[i].always : NULL;
}
/*- For the figure of the families, and for tests. */
bool config_reads(size_t i, const char *field)
{
  struct tables t = tables_of(&model_families[i]);
  return used_find(&t, field) != NULL;
}
const struct family_row *family_named(const char *type)
{
  for (int i = 0; i < N_FAMILIES; i++)
    if (strcmp(model_families[i].type, type) == 0) return &model_families[i];
  return NULL;
}

@ Sentences list the families from the table. Two families may share a name in GGUF files; it is listed once.

@<Ask the table of families@>=
/*- Two families may share a name in GGUF files; it is listed once. */
const char *family_list(bool gguf, char list[200])
{
  const char *name[N_FAMILIES];
  size_t n = 0, at = 0;
  for (int i = 0; i < N_FAMILIES; i++) {
    const char *one = gguf ? model_families[i].gguf : model_families[i].type;
    bool met = false;
    for (size_t k = 0; k < n; k++) met = met || strcmp(name[k], one) == 0;
    if (!met) name[n++] = one;
  }
  for (size_t i = 0; i < n && at < 200; i++) {
    const char *before = i + 1 < n ? ", " : " or ";
    at += (size_t) snprintf(list + at, 200 - at, "%s%s", i == 0 ? "" : before, name[i]);
  }
  return list;
}

@ This function alone decides which tables count for a family.

@<The tables of a family@>=
static struct tables tables_of(const struct family_row *f)
{
  unsigned bit = 1u << (f - model_families);
  return (struct tables) @[{ bit,
    { bit == GPT2 ? gpt2_field : later_field, window_field, common_field },@|
    { harmless_file, harmless_training, harmless_sampling } }@];
}

@ A family that is not in the table is refused by name, and by that of its class, under which you will find it in the library. Some of these families have tensors
with exactly Llama's names but put their norms elsewhere: they would load, run, and write nonsense.

@<Find the family@>=
/*- Some families have tensors with exactly Llama's names and put their norms elsewhere: they
  would load, run, and write nonsense. So the name must be in the table, and the class must
  not contradict it. */
static const struct family_row *family_find(struct config_reader *s)
{
  json_t *type = json_object_get(s->all, "model_type");
  json_t *list = json_object_get(s->all, "architectures");
  for (size_t i = 0; config_family(i) != NULL && json_is_string(type); i++) {
    if (strcmp(json_string_value(type), model_families[i].type) != 0) continue;
    @<Return the row if |list| has its architecture@>@;
  }
  char found[160], of_type[64], of_list[64], all[200];
  snprintf(found, sizeof found, "%s%s%s", jsonfile_excerpt(type, of_type),@|
    json_array_size(list) > 0 ? ", for " : "",
    json_array_size(list) > 0 ? jsonfile_excerpt(list, of_list) : "");
  error_found(s->why, s->path, "model_type", found, family_list(false, all));
  return NULL;
}

@ A missing list contradicts nothing; old files have none. If there are several names, one that matches is enough, since a file may serve more than one class of a program. The first conversions of Llama were made before the library had settled how to spell its class.

@<Return the row if |list| has its architecture@>=
bool same = list == NULL || json_is_null(list);
for (size_t k = 0; k < json_array_size(list); k++) {
  const char *name = json_string_value(json_array_get(list, k));
  if (name == NULL) continue;
  same = same || strcmp(name, model_families[i].architecture) == 0
    || (model_families[i].once != NULL && strcmp(name, model_families[i].once) == 0);
}
if (same) return &model_families[i];
setting_bad(s, "architectures", list, model_families[i].architecture);
return NULL;

@ If some sizes are not given, they follow from others: there are as many heads for keys as for
queries, and the heads divide the width evenly. If the division leaves
a remainder, the file is wrong. (A |head_dim| that is given need not divide anything: the heads together may be wider than the row, or narrower.)

@<Derive the sizes that were not given@>=
/*- Sizes that are not given follow from others. A head_dim that is given need not divide
  anything: the heads together may be wider than the row, or narrower. */
static bool settings_derive(struct config_reader *s)
{
  struct model_config *c = s->c;
  const char *heads = s->t->family == GPT2 ? "n_head" : "num_attention_heads";
  json_t *found = json_object_get(s->all, heads);
  if (c->n_kv_heads == 0) c->n_kv_heads = c->n_heads;
  if (c->head_dim == 0 && c->d_model % c->n_heads != 0)
    return setting_bad(s, heads, found, "a divisor of the width");
  if (c->head_dim == 0) c->head_dim = c->d_model / c->n_heads;
  if (c->n_heads % c->n_kv_heads != 0)
    return setting_bad(s, heads, found, "a multiple of num_key_value_heads");
  @<Derive the width of the MLP, and what rotation and biases ask for@>@;
  return true;
}

@ In GPT-2 an MLP is four times as wide as the row, unless the file says otherwise; if four times the width would not fit into 32 bits, the file is refused before we multiply.
A rotation turns two numbers of a head together, so a head must have an even number of them. If a family has one switch for all biases of attention,
it applies to queries, keys and values as well as to the output.

@<Derive the width of the MLP, and what rotation and biases ask for@>=
if (!c->learned_positions && c->head_dim % 2 != 0)
  return setting_bad(s, "head_dim", json_object_get(s->all, "head_dim"),
    "an even number: rotations turn pairs");
if (c->d_inner == 0 && c->d_model > MOST / 4)
  return setting_bad(s, "n_embd", json_object_get(s->all, "n_embd"),
    "at most 536870911");
if (c->d_inner == 0) c->d_inner = 4 * c->d_model;
if (c->gated && c->out_bias) c->qkv_bias = true;

@ Four fields say which layers have a window. \label{sec:windows} A |sliding_window| of null means no window, though in most fields null means the default. In Qwen's files it counts only where
|use_sliding_window| is true, and then from layer |max_window_layers| on; the published files give a window but switch it off. Newer files also list the kind of each layer, and if there is such a list, it decides.

@<Find out which layers have a window@>=
/*- null means no window here, though in most fields it means the default. In Qwen's files a
  window counts only where use_sliding_window is true. If the layers are listed, the list
  decides. */
static bool settings_window(struct config_reader *s)
{
  struct model_config *c = s->c;
  json_t *list = json_object_get(s->all, "layer_types");
  json_t *window = json_object_get(s->all, "sliding_window");
  if (json_is_null(window) || !c->window_used) c->window = 0;
  if (list != NULL && !json_is_null(list) && !settings_layers(s, list))
    return false;
  if (c->window == 0 || c->window_listed) c->window_from = 0;
  return true;
}

@ A list has a word for each layer. A family without |use_sliding_window| has no choice: all words must agree with |sliding_window|, since a Mistral with two kinds of layers is
another model, with another name. So a word is wrong if it is neither of the two, if it asks for a window when there is none, or if it denies a window that the family always has.

@<Read the list of layers@>=
/*- A Mistral with two kinds of layers is another model: without use_sliding_window all words
  must agree with the window. */
static const char *layer_words(const struct model_config *c, bool choice)
{
  if (c->window == 0) return "full_attention: there is no window";
  return choice ? "full_attention or sliding_attention"@|
    : "sliding_attention";
}
@#
static bool settings_layers(struct config_reader *s, json_t *list)
{
  struct model_config *c = s->c;
  bool choice = used_find(s->t, "use_sliding_window") != NULL;
  size_t n = json_array_size(list);
  if (n != c->n_layers || n > CONFIG_MAX_LISTED)
    return setting_bad(s, "layer_types", list, "a word for each layer");
  c->window_listed = c->window > 0 && choice;
  for (size_t i = 0; i < n; i++) {
    const char *word = json_string_value(json_array_get(list, i));
    bool near = word != NULL && strcmp(word, "sliding_attention") == 0;
    bool full = word != NULL && strcmp(word, "full_attention") == 0;
    if (!(near && c->window > 0) && !(full && (c->window == 0 || choice)))
      return setting_bad(s, "layer_types", list, layer_words(c, choice));
    if (c->window_listed && near)
      c->windowed[i / 8] = (uint8_t) (c->windowed[i / 8] | 1u << i % 8);
  }
  return true;
}

@ The frequencies are described in one of two places. Files of transformers 4 have
|rope_theta| and |rope_scaling|, those of version 5 put both into |rope_parameters|, and
the kind is called |rope_type| or, earlier, |type|. We accept either, and refuse a file
that contradicts itself: if only one of the two places was edited, we cannot know which is right.

@<Read how positions are rotated@>=
/*- Version 4 of the library has rope_theta and rope_scaling, version 5 has rope_parameters. If
  only one of the two places was edited, nobody can know which is right. */
static bool settings_rope(struct config_reader *s)
{
  json_t *old = json_object_get(s->all, "rope_scaling");
  json_t *five = json_object_get(s->all, "rope_parameters");
  if (json_is_null(old)) old = NULL;
  if (json_is_null(five)) five = NULL;
  if (old != NULL && five != NULL && !json_equal(old, five))
    return setting_bad(s, "rope_scaling", old, "the same as rope_parameters");
  const char *name = five != NULL ? "rope_parameters" : "rope_scaling";
  json_t *given = five != NULL ? five : old;
  if (given != NULL && !json_is_object(given))
    return setting_bad(s, name, given, "an object or null");
  return settings_theta(s, given)
    && (given == NULL || rope_kind(s, name, given));
}

@ The number $\theta$ may be inside the description or beside it. If it is in neither place, it is \given{10\,000}, as in the first paper on rotary positions.

@<Read |theta| from either place@>=
/*- 10000 is the base of the first paper on rotary positions. */
static bool settings_theta(struct config_reader *s, json_t *given)
{
  json_t *theta = json_object_get(s->all, "rope_theta");
  if (json_is_null(theta)) theta = NULL;
  json_t *inner = json_object_get(given, "rope_theta");
  if (theta != NULL && inner != NULL
      && json_number_value(theta) != json_number_value(inner))
    return setting_bad(s, "rope_theta", theta, "the one in rope_parameters");
  s->c->rope.theta = 10000;
  struct config_field f = @[{ "rope_theta", ALL, false, read_real,
    field_at(rope.theta, 1, 1e18) }@];
  if (inner == NULL) inner = theta;
  return inner == NULL || read_real(s, &f, inner);
}

@ We have three kinds of stretching (\cref{sec:wheels}), and a fourth word for none, which is also the kind if the file names none. Any other kind is refused by name, and so is any other member: the description is read with a table, like the settings themselves, as if it were a file of its own, and
the kinds take the place of the families.

@<Read the kind of stretching@>=
@<The fields of a stretching@>@;
@<Work out what a stretching leaves open@>@;
/*- The description is read as if it were a file of its own: the kinds of stretching take the
  place of the families, and an unknown member is refused. */
static bool rope_kind(struct config_reader *s, const char *where, json_t *given)
{
  static const char *const kinds[] = @[{ "default", "linear", "llama3", "yarn" }@];
  json_t *type = json_object_get(given, "rope_type");
  if (type == NULL) type = json_object_get(given, "type");
  const char *kind = json_is_string(type) ? json_string_value(type) : "";
  unsigned k = 0;
  while (type != NULL && k < 4 && strcmp(kinds[k], kind) != 0) k++;
  if (k == 4)
    return setting_bad(s, where, given,
      "a rope_type of default, linear, llama3 or yarn");
  struct tables t = @[{ 1u << k, { stretching, yarn_field }, { harmless_stretching } }@];
  struct config_reader inner = *s;
  inner.all = given, s->c->rope.kind = (enum rope_kind) k;
  bool ok = settings_read(&inner, &t);
  s->strange = inner.strange;
  return ok && rope_derive(s, where, given);
}

@ The rows carry the bits of the kinds. One field is harmless: it says whether the model was trained further after the wheels had been slowed.

@<The fields of a stretching@>=
enum { PLAIN = 1 << ROPE_PLAIN, LINEAR = 1 << ROPE_LINEAR,@|
  LLAMA3 = 1 << ROPE_LLAMA3, YARN = 1 << ROPE_YARN };
static const struct config_field stretching[] =
  @[{ {"factor", LINEAR | LLAMA3, true, read_real, field_at(rope.factor, 1, 1e9)},@|
  {"factor", YARN, false, read_real, field_at(rope.factor, 1, 1e9)},@|
  {"low_freq_factor", LLAMA3, true, read_real,@|
    field_at(rope.low_freq_factor, 1e-9, 1e9)},@|
  {"high_freq_factor", LLAMA3, true, read_real,@|
    field_at(rope.high_freq_factor, 1e-9, 1e9)},@|
  {"original_max_position_embeddings", LLAMA3 | YARN, false, read_count,@|
    field_at(rope.original, 1, MOST)},@|
  {"partial_rotary_factor", ALL, false, read_one, NOWHERE},@|
  {"rope_type", ALL, false, read_nothing, NOWHERE},@|
  {"type", ALL, false, read_nothing, NOWHERE},@|
  {"rope_theta", ALL, false, read_nothing, NOWHERE},@|
  {NULL, 0, false, NULL, NOWHERE} }@];
static const struct harmless_entry harmless_stretching[] =
  @[{ {"finetuned", "says what was done to the weights"}, {NULL, NULL} }@];

@ Yarn has the most fields, and none of them is required.

@<The fields of a stretching@>=
static const struct config_field yarn_field[] =
  @[{ {"beta_fast", YARN, false, read_real, field_at(rope.beta_fast, 1e-9, 1e9)},@|
  {"beta_slow", YARN, false, read_real, field_at(rope.beta_slow, 1e-9, 1e9)},@|
  {"attention_factor", YARN, false, read_real,@|
    field_at(rope.attention_factor, 1e-9, 1e9)},@|
  {"mscale", YARN, false, read_real, field_at(rope.mscale, 0, 1e9)},@|
  {"mscale_all_dim", YARN, false, read_real, field_at(rope.mscale_all_dim, 0, 1e9)},@|
  {"truncate", YARN | NULL_COUNTS, false, read_truth,@|
    field_at(rope.truncate, 0, 0)},@|
  {NULL, 0, false, NULL, NOWHERE} }@];

@ If the original context is not given, it is the model's present one; if yarn's factor is not given, it is the present context over the original one. Bounds in the wrong order are refused; so is a |theta| of 1, because yarn
would divide by its logarithm, which is 0. Last of all we work out yarn's attention factor if it is not given, so that the pass finds it in the settings in either case.

@<Work out what a stretching leaves open@>=
@<List the scales that do not count@>@;
/*- yarn would divide by the logarithm of a base of 1. Its attention factor is worked out last,
  so that the pass finds it in the settings whether or not it was given. */
static bool rope_derive(struct config_reader *s, const char *where, json_t *given)
{
  struct rope_config *r = &s->c->rope;
  if (r->original == 0) r->original = s->c->n_positions;
  if (r->kind == ROPE_YARN && r->factor == 0)
    r->factor = (double) s->c->n_positions / r->original;
  if (r->kind == ROPE_LLAMA3 && r->high_freq_factor <= r->low_freq_factor)
    return setting_bad(s, where, given, "high_freq_factor above low_freq_factor");
  if (r->kind == ROPE_YARN && r->beta_fast <= r->beta_slow)
    return setting_bad(s, where, given, "beta_fast above beta_slow");
  if (r->kind == ROPE_YARN && r->theta <= 1)
    return setting_bad(s, where, given, "a rope_theta above 1");
  if (!rope_scales(s, given)) return false;
  if (r->kind == ROPE_YARN) r->attention_factor = rope_scaled_attention(r);
  return true;
}

@ The two scales count only if both are there and no |attention_factor| is. Otherwise the library ignores them silently; we ignore them too, but list them.

@<List the scales that do not count@>=
/*- The two scales count only together, and only without an attention_factor. The library
  ignores them silently otherwise; they are listed here. */
static bool rope_scales(struct config_reader *s, json_t *given)
{
  static const char *const name[] = @[{ "mscale", "mscale_all_dim" }@];
  const struct rope_config *r = &s->c->rope;
  bool both = r->mscale > 0 && r->mscale_all_dim > 0;
  for (int i = 0; i < 2 && (!both || r->attention_factor > 0); i++)
    if (json_is_number(json_object_get(given, name[i]))
        && !config_ignore(s->c, s->m, s->file, name[i], both
          ? "there is an attention_factor" : "half of a pair that counts together",
          s->why)) return false;
  return true;
}

@ A file is opened, and must contain an object. The advice has no families; its tables are read with all bits set. We keep the path of the file, because every message begins with it.

@<Read one of the two files@>=
/*- The path is kept, because every message begins with it. */
static bool settings_file(struct config_reader *s, const char *directory,
  const char *file, char path[PATH_CAP])
{
  s->path = path, s->file = file;
  if (!path_join(path, directory, file, s->why)) return false;
  s->all = jsonfile_read(path, JSONFILE_MAX_SETTINGS, s->why);
  if (s->all == NULL) return false;
  if (json_is_object(s->all)) return true;
  return setting_bad(s, "this", s->all, "an object");
}
@#
/*- The advice has no families: all bits are set. */
static bool settings_advice(struct config_reader *s)
{
  struct tables t = @[{ ALL, { advice_field }, { harmless_advice, harmless_other } }@];
  return settings_read(s, &t);
}

@ One field is checked before all others. Weights that were quantized for another engine have tensors with other names and types, and an error about missing tensors would not tell you the reason. If you have converted
such weights back and the field is still in the file, you may ask for it to be ignored.

@<Refuse weights that were quantized@>=
/*- Checked before all others: such weights have tensors with other names and types, and a
  message about missing tensors would hide the reason. */
static bool is_quantized(struct config_reader *s)
{
  static const char field[] = "quantization_config";
  json_t *given = json_object_get(s->all, field);
  json_t *method = json_object_get(given, "quant_method");
  if (given == NULL || says_nothing(given)) return false;
  for (size_t i = 0; i < s->o->n_ignore; i++)
    if (strcmp(s->o->ignore[i], field) == 0) return false;
  char by[EXCERPT_MAX + 4] = "bitsandbytes";
  if (json_is_string(method))
    text_excerpt(json_string_value(method), json_string_length(method), 40, by);
  error_say(s->why, "%s: %s: the weights are quantized by %s;"@|
    " wanted: the model before that, in F32, F16 or BF16", s->path, field, by);
  return true;
}

@ We find the family first, since it decides which fields count; then we read its fields, and derive the rest from them. The
suggestions for sampling begin with neutral values, so that a later chapter can apply all of them without asking which were given.

@<Read the model's own settings@>=
/*- The family first, since it decides which fields count. Advice begins with neutral values, so
  that a sampler can apply all of it without asking what was given. */
static bool settings_model(struct config_reader *s)
{
  if (is_quantized(s)) return false;
  const struct family_row *f = family_find(s);
  if (f == NULL) return false;
  *s->c = f->always;
  s->c->family = f->type;
  s->c->sampling = (struct sampling_defaults) @[{ .temperature = 1, .top_p = 1,
    .typical_p = 1, .repetition_penalty = 1 }@];
  s->c->rope = (struct rope_config) @[{ .beta_fast = 32, .beta_slow = 1,@|
    .truncate = true }@];
  struct tables t = tables_of(f);
  return settings_read(s, &t) && settings_derive(s) && settings_window(s)
    && (s->c->learned_positions || settings_rope(s));
}

@ A user who has been told of all unknown fields of the first file, and has named them, should not then be told of others in the second. So if the first is refused for such fields, we look through the second for its unknown fields as well, and append a sentence about them. Any other fault of the second file is reported when it is actually read.

@<Look for unknown fields in the second file@>=
/*- A user who has been told of all unknown fields of the first file, and has named them, should
  not then be told of others in the second. Any other fault of the second file is reported
  when it is really read. */
static void add_unknown(struct config_reader *s, const char *directory,
  const char *file, char path[PATH_CAP])
{
  struct error first = *s->why, *why = s->why, other;
  size_t n = s->o->n_unknown;
  json_decref(s->strange);
  s->strange = NULL;
  s->why = &other;
  s->o->n_unknown = 0;
  if (settings_file(s, directory, file, path)) settings_advice(s);
  if (s->strange != NULL) error_say(why, "%s; %s", first.text, other.text);
  s->o->n_unknown += n;
}

@ This is the whole reading of a directory; if it fails half-way, everything is freed. The second file may be absent, so we ask whether it is there before we open it: a file that is there but cannot be read is an
error like any other. If the first is missing and we recognize another kind of file in its place, the sentence says what it is (\cref{sec:misfits}). jansson's tree is freed as soon as it has been read; none of our pointers lead into it. The function that everybody calls, |config_open_with|, asks first whether the path leads to a GGUF file, where the settings are among the keys (\cref{gguf}); it is in \.{unwoven/families/open.c}, above the two readers.

@<Open and close the settings@>=
@<Look for unknown fields in the second file@>@;
/*- The second file may be absent, so we ask whether it is there: one that is there and cannot
  be read is an error like any other. */
bool config_read_directory(struct model_config *c, struct memory *m,
  const char *directory, struct config_options *o, struct error *why)
{
  char path[PATH_CAP];
  struct config_reader s = @[{ .c = c, .m = m, .o = o, .why = why }@];
  *c = (struct model_config) @[{ .family = NULL }@];
  bool ok = settings_file(&s, directory, "config.json", path)
    && settings_model(&s);
  if (!ok && !path_find(path, directory, "config.json", F_OK))
    misfit_path(directory, "config.json", why);
  json_decref(s.all);
  s.all = NULL;
  const char *second = "generation_config.json";
  bool there = path_find(path, directory, second, F_OK);
  if (ok && there)
    ok = settings_file(&s, directory, second, path) && settings_advice(&s);
  else if (there && s.strange != NULL) add_unknown(&s, directory, second, path);
  json_decref(s.all);
  json_decref(s.strange);
  if (!ok) config_close(m, c);
  return ok;
}

@ The only memory to free is the list with its copies of the names. The structure is emptied, so that closing it a second time does nothing.

@<Open and close the settings@>=
/*- Emptied, so that closing it a second time does nothing. */
void config_close(struct memory *m, struct model_config *c)
{
  for (size_t i = 0; i < c->n_ignored; i++)
    memory_free(m, (char *) (uintptr_t) c->ignored[i].field);
  memory_free(m, c->ignored);
  *c = (struct model_config) @[{ .family = NULL }@];
}

@ The module has the readers first, because the tables name them, and the functions that walk the tables last.

@(config.c@>=
@;
/** The settings of a model from its \.{config.json} and \.{generation\_config.json}. Every field of
  both files is used, or in a list of harmless ones with the reason, or says nothing (null, false,
  empty), or is refused by name; so no setting that matters can be overlooked. What is read is in
  tables, and families are bits in their rows. Readers of single fields come first, because the
  tables name them; then the tables; then what walks through them. Missing fields are looked for
  last: a field that is spelt differently is unknown and missing at once, and its name helps more.
  Nothing that is kept points into the parsed files. This file knows nothing of GGUF; \.{open.c}
  stands above both. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "safetensors/excerpt.h"
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
#include "families/families.h"
#include "families/rope_scaling.h"
@#
@<The state of reading settings@>@;
@<A row of the table of fields@>@;
@<Readers and tables@>@;
@<From one field to two files@>@;

@ These are the readers, and the tables that give each field its reader.

@<Readers and tables@>=
@<Read a number or a flag@>@;
@<Insist on a value@>@;
@<Read the name of a curve@>@;
@<Read a setting of the table@>@;
@<Read ids@>@;
@<Read what must agree with something else@>@;
@<The fields that are known to be harmless@>@;
@<The advice that is known to be harmless@>@;
@<What steers a reading@>@;
@<The fields of \.{config.json} that are used@>@;
@<The fields of \.{generation\_config.json} that are used@>@;
@<The table of families@>@;
@<The tables of a family@>@;

@ These are the functions that work on the tables. They lead from a single field, which is used, ignored with a reason or refused, to the two
files of a directory.

@<From one field to two files@>=
@<Remember what was ignored@>@;
@<Account for every field@>@;
@<Name the unknown fields@>@;
@<Read all fields of a file@>@;
@<Ask the table of families@>@;
@<Find the family@>@;
@<Derive the sizes that were not given@>@;
@<Read the list of layers@>@;
@<Find out which layers have a window@>@;
@<Read the kind of stretching@>@;
@<Read |theta| from either place@>@;
@<Read how positions are rotated@>@;
@<Read one of the two files@>@;
@<Refuse weights that were quantized@>@;
@<Read the model's own settings@>@;
@<Open and close the settings@>@;

@* Scaled rotary frequencies. \label{sec:wheels}
Rotary positions turn pairs of numbers by an angle that is the position times a frequency (\cref{sec:layer}); such a pair with its frequency is a
\emph{wheel}. Wheel $i$ of $h$ has the frequency $f_i=\theta^{-i/h}$, from 1 down to nearly $1/\theta$, which is chapter 2's |rope_frequency|. In a score the wheel contributes
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

@ The settings of all kinds are in chapter 2's |struct rope_config|. Two functions read it: one is called when a model is built, the other when its settings are read.

@(rope_scaling.h@>=
#ifndef INCIPIT_ROPE_SCALING_H
#define INCIPIT_ROPE_SCALING_H
#include "model/rope.h"
double rope_scaled_frequency(const struct rope_config *r, uint32_t i,
  uint32_t half);
  /* frequency of wheel |i| of |half|, slowed as |r| says; in double, not yet rounded */
double rope_scaled_attention(const struct rope_config *r);
  /* yarn's attention factor, worked out if it is not given; 1 for all other kinds */
#endif

@ Frequency number $i$ of |half| is computed in double, and the caller rounds it once, when it is stored. In the hand calculation $\theta=10^4$ and four wheels have the frequencies 1, $10^{-1}$, $10^{-2}$ and $10^{-3}$. For
llama3 and yarn, the share that a wheel keeps determines its new frequency.

@<The frequency of a wheel@>=
double rope_scaled_frequency(const struct rope_config *r, uint32_t i,
  uint32_t half)
{
  double f = rope_frequency(r->theta, i, half), share = 0;
  if (r->kind == ROPE_PLAIN) return f;
  if (r->kind == ROPE_LINEAR) return f / r->factor;
  if (r->kind == ROPE_LLAMA3) share = llama3_share(r, f);
  else share = yarn_share(r, i, half);
  double kept = share * f, slowed = (1 - share) * (f / r->factor);
  return kept + slowed;
}

@ Llama3's share depends on the turns. With a share of 0 or 1, one of the two terms above is exactly zero, and the other is right to the last bit.

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

@ Yarn's share depends on the number of the wheel. The two bounds may be outside the range of wheels, and then the line is cut off where the wheels end. If a very long original context reverses the order of the bounds, the published
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
  if (r->kind != ROPE_YARN) return 1;
  if (r->attention_factor > 0) return r->attention_factor;
  if (r->mscale > 0 && r->mscale_all_dim > 0)
    return sharpened(r->factor, r->mscale)
      / sharpened(r->factor, r->mscale_all_dim);
  return sharpened(r->factor, 1);
}

@ The module is small and knows nothing of files: it needs logarithms and two ways of rounding.

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
The functions that open models compute the table of the hand calculation.

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
A tensor is found by its name, and names depend on the file and not on the model. In Hugging Face's files of a Llama the query matrix of layer 3 is called \.{model.layers.3.self\_attn.q\_proj.weight}. In the files of \texttt{llama.cpp} the same
matrix is \.{blk.3.attn\_q.weight}, and its rows are in another order. The matrices of GPT-2 come from Hugging Face with the inputs first, and from \texttt{llama.cpp} with the outputs first. So everything that depends on the file is in one table, a \emph{layout}: for each
\emph{role} that a tensor can have in a model, its name and the order of its numbers.
@^layout of a file@>@^names of tensors@>

@(layout.h@>=
#ifndef INCIPIT_LAYOUT_H
#define INCIPIT_LAYOUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
@<What a layout is@>@;
#endif

@ There is a role for each tensor in our description of a model. A layout names those roles that its files have: for attention either three matrices or one that combines them, and a gate only if the files have one.

@<What a layout is@>=
enum tensor_role { TENSOR_EMBEDDING, TENSOR_POSITIONS, TENSOR_FINAL_NORM,@|
  TENSOR_HEAD, TENSOR_ROPE_FACTORS,@|
  TENSOR_ATTN_NORM, TENSOR_QKV, TENSOR_Q, TENSOR_K, TENSOR_V,@|
  TENSOR_Q_NORM, TENSOR_K_NORM, TENSOR_OUT, TENSOR_MLP_NORM, TENSOR_GATE,@|
  TENSOR_UP, TENSOR_DOWN, N_TENSOR_ROLES };
  /* what a tensor is for: first those outside the layers, then those of a layer */

@ In a pattern, a tilde stands for the prefix that the body of the model may have, and a number sign for the number of the layer; \.{.weight} or \.{.bias} is added at the end.

The two flags are about the order of the numbers. A matrix that is |transposed| has the inputs first. In one that is |permuted|, the two rows that a rotation turns together (\cref{sec:layer}) are neighbours; in our own order they are half a head apart. Neither costs a copy of the weights:
a transposed matrix has kernels of its own, and the results of a permuted one are put in order before they are rotated (\cref{sec:pairs}).

@<What a layout is@>=
struct tensor_naming { const char *pattern; bool transposed, permuted; };
  /* the name of the tensors of one role, or null if none; |permuted| is only for
     queries and keys, and for both or none */
struct tensor_layout {
  const char *name, *format; /* the format of the files, as |tensor_file_format| has it */
  const char *prefix; /* what a tilde stands for, unless a file leaves it out */
  struct tensor_naming of[N_TENSOR_ROLES];
};
  /* how files of one format name and store the tensors of a family */
const struct tensor_layout *layout_at(size_t i);
  /* number |i| of the layouts that we know; null after the last */
const struct tensor_layout *layout_find(const char *format, const char *family);
  /* the one that the row of this family names for this format; or null */
bool layout_fused(const struct tensor_layout *l);
  /* whether queries, keys and values are one matrix */
void layout_name(const struct tensor_layout *l, enum tensor_role role,
  const char *prefix, uint32_t layer, const char *what, char full[160]);
  /* writes the name of |what|, \.{"weight"} or \.{"bias"}, of a role that the layout has */

@ GPT-2's names are those that its makers gave to the parts of their program: \.{wte} and \.{wpe} are the embeddings of tokens and of positions, \.{c\_fc} is the up projection, \.{c\_proj} the output of attention or the down projection. Query, key and value are one matrix, three times as wide as the row.
The head has no prefix: it does not belong to the body that the prefix names.

@<The layouts that we know@>=
static const struct tensor_layout hf_gpt2 = @[{@|
  .name = "hf-gpt2", .format = "safetensors",@|
  .prefix = "transformer.", .of = {@|
  [TENSOR_EMBEDDING] = {"~wte", false, false},@|
  [TENSOR_POSITIONS] = {"~wpe", false, false},@|
  [TENSOR_FINAL_NORM] = {"~ln_f", false, false},@|
  [TENSOR_HEAD] = {"lm_head", false, false},@|
  [TENSOR_ATTN_NORM] = {"~h.#.ln_1", false, false},@|
  [TENSOR_QKV] = {"~h.#.attn.c_attn", true, false},@|
  [TENSOR_OUT] = {"~h.#.attn.c_proj", true, false},@|
  [TENSOR_MLP_NORM] = {"~h.#.ln_2", false, false},@|
  [TENSOR_UP] = {"~h.#.mlp.c_fc", true, false},@|
  [TENSOR_DOWN] = {"~h.#.mlp.c_proj", true, false} } }@];

@ All later families of Hugging Face have Llama's names. Qwen 3 has a norm for the queries and one for the keys, as wide as one head. One name misleads: the second norm of a layer is called \.{post\_attention\_layernorm}, because it comes after attention; for us it is the norm before the MLP.

@<The layouts that we know@>=
static const struct tensor_layout hf_llama = @[{@|
  .name = "hf-llama", .format = "safetensors", .prefix = "model.", .of = {@|
  [TENSOR_EMBEDDING] = {"~embed_tokens", false, false},@|
  [TENSOR_FINAL_NORM] = {"~norm", false, false},@|
  [TENSOR_HEAD] = {"lm_head", false, false},@|
  [TENSOR_ATTN_NORM] = {"~layers.#.input_layernorm", false, false},@|
  [TENSOR_Q] = {"~layers.#.self_attn.q_proj", false, false},@|
  [TENSOR_K] = {"~layers.#.self_attn.k_proj", false, false},@|
  [TENSOR_V] = {"~layers.#.self_attn.v_proj", false, false},@|
  [TENSOR_Q_NORM] = {"~layers.#.self_attn.q_norm", false, false},@|
  [TENSOR_K_NORM] = {"~layers.#.self_attn.k_norm", false, false},@|
  [TENSOR_OUT] = {"~layers.#.self_attn.o_proj", false, false},@|
  [TENSOR_MLP_NORM] = {"~layers.#.post_attention_layernorm", false, false},@|
  [TENSOR_GATE] = {"~layers.#.mlp.gate_proj", false, false},@|
  [TENSOR_UP] = {"~layers.#.mlp.up_proj", false, false},@|
  [TENSOR_DOWN] = {"~layers.#.mlp.down_proj", false, false} } }@];

@ The files of \texttt{llama.cpp} (\cref{gguf}) have one set of names for all families. Nothing is transposed. The rows of queries and keys are permuted in the files of a Llama, since Meta's program, for which the format's first files were made, turned neighbours; those of a Qwen are not. So there are three layouts. One tensor is in the files of some Llamas only: the divisors of the frequencies, which the loader takes if it is there (\cref{sec:ropefactors}).

@<The layouts that we know@>=
static const struct tensor_layout gguf_gpt2 = @[{@|
  .name = "gguf-gpt2", .format = "gguf", .of = {@|
  [TENSOR_EMBEDDING] = {"token_embd", false, false},@|
  [TENSOR_FINAL_NORM] = {"output_norm", false, false},@|
  [TENSOR_HEAD] = {"output", false, false},@|
  [TENSOR_POSITIONS] = {"position_embd", false, false},@|
  [TENSOR_ATTN_NORM] = {"blk.#.attn_norm", false, false},@|
  [TENSOR_QKV] = {"blk.#.attn_qkv", false, false},@|
  [TENSOR_OUT] = {"blk.#.attn_output", false, false},@|
  [TENSOR_MLP_NORM] = {"blk.#.ffn_norm", false, false},@|
  [TENSOR_UP] = {"blk.#.ffn_up", false, false},@|
  [TENSOR_DOWN] = {"blk.#.ffn_down", false, false} } }@];

@ Only here are rows permuted.

@<The layouts that we know@>=
static const struct tensor_layout gguf_llama = @[{@|
  .name = "gguf-llama", .format = "gguf", .of = {@|
  [TENSOR_EMBEDDING] = {"token_embd", false, false},@|
  [TENSOR_FINAL_NORM] = {"output_norm", false, false},@|
  [TENSOR_HEAD] = {"output", false, false},@|
  [TENSOR_ROPE_FACTORS] = {"rope_freqs", false, false},@|
  [TENSOR_ATTN_NORM] = {"blk.#.attn_norm", false, false},@|
  [TENSOR_Q] = {"blk.#.attn_q", false, true},@|
  [TENSOR_K] = {"blk.#.attn_k", false, true},@|
  [TENSOR_V] = {"blk.#.attn_v", false, false},@|
  [TENSOR_OUT] = {"blk.#.attn_output", false, false},@|
  [TENSOR_MLP_NORM] = {"blk.#.ffn_norm", false, false},@|
  [TENSOR_GATE] = {"blk.#.ffn_gate", false, false},@|
  [TENSOR_UP] = {"blk.#.ffn_up", false, false},@|
  [TENSOR_DOWN] = {"blk.#.ffn_down", false, false} } }@];

@ Qwen2 and Qwen3 share the last layout.

@<The layouts that we know@>=
static const struct tensor_layout gguf_qwen = @[{@|
  .name = "gguf-qwen", .format = "gguf", .of = {@|
  [TENSOR_EMBEDDING] = {"token_embd", false, false},@|
  [TENSOR_FINAL_NORM] = {"output_norm", false, false},@|
  [TENSOR_HEAD] = {"output", false, false},@|
  [TENSOR_ROPE_FACTORS] = {"rope_freqs", false, false},@|
  [TENSOR_ATTN_NORM] = {"blk.#.attn_norm", false, false},@|
  [TENSOR_Q] = {"blk.#.attn_q", false, false},@|
  [TENSOR_K] = {"blk.#.attn_k", false, false},@|
  [TENSOR_V] = {"blk.#.attn_v", false, false},@|
  [TENSOR_Q_NORM] = {"blk.#.attn_q_norm", false, false},@|
  [TENSOR_K_NORM] = {"blk.#.attn_k_norm", false, false},@|
  [TENSOR_OUT] = {"blk.#.attn_output", false, false},@|
  [TENSOR_MLP_NORM] = {"blk.#.ffn_norm", false, false},@|
  [TENSOR_GATE] = {"blk.#.ffn_gate", false, false},@|
  [TENSOR_UP] = {"blk.#.ffn_up", false, false},@|
  [TENSOR_DOWN] = {"blk.#.ffn_down", false, false} } }@];

@ Which layouts a family has is in its row (\cref{sec:families}).

@<Find a layout@>=
const struct tensor_layout *layout_at(size_t i)
{
  static const struct tensor_layout *const known[] = @[{ &hf_gpt2, &hf_llama,@|
    &gguf_gpt2, &gguf_llama, &gguf_qwen }@];
  return i < sizeof known / sizeof known[0] ? known[i] : NULL;
}
/*- A row of the table of families has the names of its two layouts. */
const struct tensor_layout *layout_find(const char *format, const char *family)
{
  const struct family_row *f = family == NULL ? NULL : family_named(family);
  const struct tensor_layout *l = NULL;
  for (size_t i = 0; f != NULL && (l = layout_at(i)) != NULL; i++)
    if (strcmp(l->format, format) == 0 && (strcmp(l->name, f->layout[0]) == 0
        || strcmp(l->name, f->layout[1]) == 0)) break;
  return l;
}
bool layout_fused(const struct tensor_layout *l)
{
  return l->of[TENSOR_QKV].pattern != NULL;
}

@ A name is written piece by piece. A name that does not fit is cut, and then no tensor is found under it.

@<Write the name of a tensor@>=
/*- A name that does not fit is cut, and then no tensor is found under it. */
void layout_name(const struct tensor_layout *l, enum tensor_role role,
  const char *prefix, uint32_t layer, const char *what, char full[160])
{
  size_t n = 0;
  for (const char *p = l->of[role].pattern; *p != '\0' && n < 160; p++) {
    char *to = full + n;
    size_t left = 160 - n;
    if (*p == '~') n += (size_t) snprintf(to, left, "%s", prefix);
    else if (*p == '#') n += (size_t) snprintf(to, left, "%" PRIu32, layer);
    else n += (size_t) snprintf(to, left, "%c", *p);
  }
  if (n < 160) snprintf(full + n, 160 - n, ".%s", what);
}

@ The module needs no weights. A layout is data, and a program that has only the settings of a model can ask how a file would name its tensors.

@(layout.c@>=
@;
/** How files name the tensors of a model, and in which order they store the numbers. A layout is
  data: a new kind of file is a table, and nobody compares names elsewhere. In a pattern a tilde
  is the prefix that the body of the model may have, a number sign the number of the layer.
  Whether rows are permuted or matrices transposed is never guessed from a shape, since a square
  matrix has the shape of its transpose. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "families/families.h"
#include "families/layout.h"
@;@#
@<The layouts that we know@>@;
@<Find a layout@>@;
@<Write the name of a tensor@>@;

@* Building the model. \label{sec:model}
Here names and shapes come together. |model_open| takes from the settings which tensors there must be, looks for
each by its name, checks its shape, and leaves it where it is in the file: a model of
ten gigabytes is open in a few milliseconds, because only the header
has been read. Numbers are widened to float32 when they are used. The structures that are filled here, |struct model| and |struct model_layer|, are chapter 2's
(\cref{sec:modelsettings}). Callers can open a model, close it, and count its parameters.
@^model@>

@(loader.h@>=
#ifndef INCIPIT_LOADER_H
#define INCIPIT_LOADER_H
#include "families/config.h"
#include "families/layout.h"
@<A model, from outside@>@;
#endif

@ An open model never changes, so any number of passes can share it.

@<A model, from outside@>=
struct model *model_open(struct memory *m, const char *directory,
  struct error *why);
  /* maps the weights of a directory in Hugging Face's layout, or of a GGUF file, and checks them
     against its settings; null and a sentence that names file and field. Owned by
     the caller; any number of threads may read it. Its matrices can be multiplied by the
     plain table of kernels */
struct model_open_options {
  const struct kernels *k; /* null: the plain table */
  const struct tensor_layout *layout; /* null: by the file's format and the family */
  struct config_options fields;
  struct progress *progress;
};
  /* the caller's wishes: the table of kernels that will multiply (a matrix of a type that it cannot
     multiply is refused, with the file, the tensor, its type, and the types that the table has); the names of
     the tensors; unknown fields; and the callback that is told how many tensors have been found, or null. |fields| is filled in
     even on failure */
struct model *model_open_with(struct memory *m, const char *directory,
  struct model_open_options *o, struct error *why);
  /* the same, with the caller's wishes; giving up is a failure */
void model_close(struct memory *m, struct model *lm);
  /* closes the files and frees the rest; null is allowed */
uint64_t model_parameters(const struct model *lm);
  /* numbers in the tensors that are used; a tied head is counted once */

@ While the model is being built we keep the prefix of the names, a mark for each tensor
of the file that has been used, and whether something has gone wrong. After an error all
further calls do nothing, so one test at the end suffices. The alternative, a test after each of a layer's dozen tensors, would bury the list of names that you want to see in the code.

@<The state of assembly@>=
struct model_loader {
  struct memory *m;
  const struct kernels *k; /* those that will multiply */
  struct model *lm;
  const struct tensor_layout *layout;
  const char *prefix; /* the layout's, or nothing */
  uint32_t layer; /* the one that is assembled */
  bool *used; /* one for each tensor of the file */
  struct tensor factors; /* divisors of the frequencies, if the file has them */
  struct progress *progress;
  size_t n_found; /* tensors so far */
  bool ok;
  uint64_t bytes; /* of the tensors found so far */
  struct error *why;
};

@ This function finds one tensor by its role and checks its shape; |columns| is 0 for a vector. It has three
error messages: the tensor is missing, it has another shape, or its type is one
that we cannot compute with. Shapes are compared as text, since the message needs the text anyway; so a message can never show two shapes that look alike.

@<Find one tensor, and insist on its shape@>=
/*- columns is 0 for a vector. Shapes are compared as text, which the message needs anyway: so
  it can never show two that look alike. */
static struct tensor require_tensor(struct model_loader *a,
  enum tensor_role role, const char *what, uint64_t rows, uint64_t columns)
{
  struct tensor none = @[{ NULL, WEIGHT_F32 }@];
  char name[160];
  if (!a->ok) return none;
  @<Write the |name|, or fail if the layout has none@>@;
  const struct tensor_entry *t = tensor_file_find(a->lm->weights, name);
  char wanted[TYPES_TEXT], found[64] = "missing";
  if (columns == 0) snprintf(wanted, sizeof wanted, "[%" PRIu64 "]", rows);
  else snprintf(wanted, sizeof wanted, "[%" PRIu64 ", %" PRIu64 "]", rows, columns);
  if (t != NULL) shape_words(t, found);
  a->ok = strcmp(found, wanted) == 0
    || error_found(a->why, t == NULL ? tensor_file_path(a->lm->weights) : t->file, name,
      found, wanted);
  if (a->ok && !progress_tell(a->progress, ++a->n_found,
      tensor_file_count(a->lm->weights)))
    a->ok = error_say(a->why, "%s: the loading was given up", t->file);
  if (!a->ok) return none;
  @<Turn |t| into a tensor of a type that we have, or fail@>@;
}

@ If the model has a role that the layout lacks, that layout cannot be used.

@<Write the |name|, or fail if the layout has none@>=
if (a->layout->of[role].pattern == NULL) {
  a->ok = error_found(a->why, tensor_file_path(a->lm->weights), "the layout",
    a->layout->name, "one that names every tensor that the settings call for");
  return none;
}
layout_name(a->layout, role, a->prefix, a->layer, what, name);

@ The type must be one with which the kernels can multiply. The same is required of gains and biases, since the kernels read them number by number, which types that pack numbers into blocks do not allow. A tensor that is found is marked as used, and
its bytes are added up. The sentence lists only types that a file of this format can have.

@<Turn |t| into a tensor of a type that we have, or fail@>=
uint32_t can = a->k->matrix_types & (columns == 0 ? WEIGHTS_ONE_BY_ONE : WEIGHTS_ALL);
if (t->type < N_WEIGHT_TYPES && (can >> t->type & 1) != 0) {
  a->used[t->number] = true, a->bytes += t->bytes;
  a->lm->matrix_types |= 1u << t->type;
  return (struct tensor) @[{ t->data, (enum weight_type) t->type }@];
}
if (strcmp(tensor_file_format(a->lm->weights), "gguf") != 0)
  can &= WEIGHTS_ONE_BY_ONE;
kernels_list_types(can, wanted);
a->ok = error_found(a->why, t->file, name, number_types[t->type].name, wanted);
return none;

@ A shape is written as in the file, as a list in brackets. A long one is cut, but
then it cannot be the wanted one anyway.

@<Write a shape in words@>=
/*- A long shape is cut, but then it cannot be the wanted one. */
static void shape_words(const struct tensor_entry *t, char found[64])
{
  size_t n = (size_t) snprintf(found, 64, "[");
  for (uint32_t i = 0; i < t->rank && n < 40; i++)
    n += (size_t) snprintf(found + n, 64 - n, "%s%" PRIu64, i > 0 ? ", " : "",
      t->shape[i]);
  snprintf(found + n, 64 - n, t->rank > 0 && n >= 40 ? "..." : "]");
}

@ The settings say whether a matrix has a
bias. GPT-2 stores its matrices with the inputs first, since its layers were written as convolutions. A square matrix has the same shape as its transpose,
so we take the order from the layout and never guess it from the shape.

@<Find a matrix with its bias@>=
/*- The order comes from the layout and never from the shape: a square matrix has the shape of
  its transpose. */
static struct matrix require_matrix(struct model_loader *a, enum tensor_role role,
  size_t in, size_t out, bool bias)
{
  const struct tensor_naming *as = &a->layout->of[role];
  struct matrix w = @[{ .in = in, .out = out, .transposed = as->transposed }@];
  w.weight = as->transposed ? require_tensor(a, role, "weight", in, out)
    : require_tensor(a, role, "weight", out, in);
  if (bias) w.bias = require_tensor(a, role, "bias", out, 0);
  a->lm->layer_madds += (uint64_t) in * out;
  return w;
}

@ A norm has a gain, and a LayerNorm has a bias as well. Its epsilon comes from the settings and is rounded to float
here, once, as the published programs do.

@<Find a norm@>=
/*- Epsilon is rounded to float here, once, as the published programs do. */
static struct norm require_norm(struct model_loader *a, enum tensor_role role,
  size_t d)
{
  const struct model_config *c = &a->lm->config;
  struct norm g = @[{ .kind = c->layer_norm ? NORM_LAYER : NORM_RMS,
    .epsilon = (float) c->norm_eps }@];
  g.gain = require_tensor(a, role, "weight", d, 0);
  if (c->layer_norm) g.bias = require_tensor(a, role, "bias", d, 0);
  return g;
}

@ Now we can assemble a layer, with the same code for all families. With fewer heads for keys and values than for queries, two of the three matrices
are narrower; with a given |head_dim|, the first need not be square. If the layout has one matrix for all three, a pass cuts its results into three equal parts, so there must be as many heads of keys and values as of queries.

@<Assemble queries, keys and values@>=
/*- Of one matrix for all three a pass cuts the results into three equal parts, so there must be
  as many heads of keys as of queries. */
static void assemble_qkv(struct model_loader *a, struct model_layer *l)
{
  const struct model_config *c = &a->lm->config;
  size_t d = c->d_model, q = (size_t) c->n_heads * c->head_dim;
  size_t kv = (size_t) c->n_kv_heads * c->head_dim;
  l->n_qkv = layout_fused(a->layout) ? 1 : 3;
  if (l->n_qkv == 1) {
    if (a->ok && q != kv)
      a->ok = error_found(a->why, tensor_file_path(a->lm->weights), "the layout",
        a->layout->name, "one with a matrix each for queries, keys and values");
    l->qkv[0] = require_matrix(a, TENSOR_QKV, d, 3 * q, c->qkv_bias);
    return;
  }
  l->qkv[0] = require_matrix(a, TENSOR_Q, d, q, c->qkv_bias);
  l->qkv[1] = require_matrix(a, TENSOR_K, d, kv, c->qkv_bias);
  l->qkv[2] = require_matrix(a, TENSOR_V, d, kv, c->qkv_bias);
  a->lm->neighbours = a->layout->of[TENSOR_Q].permuted;
  if (!c->qk_norm) return;
  l->q_norm = require_norm(a, TENSOR_Q_NORM, c->head_dim);
  l->k_norm = require_norm(a, TENSOR_K_NORM, c->head_dim);
}

@ Tensors are asked for in the order of their use. So if a file has several faults, the message is about the one that a pass would meet first.

@<Assemble a layer@>=
/*- In the order of their use: of several faults the message is about the one that a pass would
  meet first. */
static void assemble_layer(struct model_loader *a, uint32_t i,
  struct model_layer *l)
{
  const struct model_config *c = &a->lm->config;
  size_t d = c->d_model, inner = c->d_inner;
  a->layer = i;
  l->attn_norm = require_norm(a, TENSOR_ATTN_NORM, d);
  assemble_qkv(a, l);
  l->out = require_matrix(a, TENSOR_OUT, (size_t) c->n_heads * c->head_dim, d,
    c->out_bias);
  l->mlp_norm = require_norm(a, TENSOR_MLP_NORM, d);
  if (c->gated)
    l->up[l->n_up++] = require_matrix(a, TENSOR_GATE, d, inner, c->mlp_bias);
  l->up[l->n_up++] = require_matrix(a, TENSOR_UP, d, inner, c->mlp_bias);
  l->down = require_matrix(a, TENSOR_DOWN, inner, d, c->mlp_bias);
}

@ Outside the layers there are the embedding, GPT-2's positions, the last norm and the
head. Most small models have no head of their own: the matrix that turns an id into
a row also measures how similar the last row is to the row of each id.

@<Assemble what is outside the layers@>=
/*- rope_freqs.weight is the only tensor that a file may have or not: only GGUF files of a
  stretched Llama 3 do. */
static void assemble_ends(struct model_loader *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  lm->embedding = require_tensor(a, TENSOR_EMBEDDING, "weight", c->vocab_size,
    c->d_model);
  if (c->learned_positions)
    lm->positions = require_tensor(a, TENSOR_POSITIONS, "weight",
      c->n_positions, c->d_model);
  lm->final_norm = require_norm(a, TENSOR_FINAL_NORM, c->d_model);
  if (tensor_file_find(lm->weights, "rope_freqs.weight") != NULL
      && a->layout->of[TENSOR_ROPE_FACTORS].pattern != NULL)
    a->factors = require_tensor(a, TENSOR_ROPE_FACTORS, "weight",
      c->head_dim / 2, 0);
  @<Find the head, or take the embedding for it@>@;
}

@ The size of the head in bytes is recorded for the counters, because a pass that computes logits reads all of it, however few rows need them.

@<Find the head, or take the embedding for it@>=
lm->head = (struct matrix) @[{ .in = c->d_model, .out = c->vocab_size }@];
lm->head.weight = c->tied ? lm->embedding
  : require_tensor(a, TENSOR_HEAD, "weight", c->vocab_size, c->d_model);
lm->head_bytes = (uint64_t) c->vocab_size
  * weight_row_bytes(lm->head.weight.type, c->d_model);

@ The number of layers comes from a file, so before we allocate memory for that many layers
we check that it is possible. Each layer has several tensors, so if there are more layers than tensors, the number must be wrong.

@<Assemble the layers@>=
/*- The number comes from a file. Each layer has several tensors, so more layers than tensors is
  a lie, and no memory is asked for it. */
static void assemble_layers(struct model_loader *a)
{
  struct model *lm = a->lm;
  uint32_t n = lm->config.n_layers;
  uint64_t before = a->bytes;
  if (n > tensor_file_count(lm->weights)) {
    char found[64];
    snprintf(found, sizeof found, "%" PRIu32 " layers", n);
    a->ok = error_found(a->why, tensor_file_path(lm->weights), "this", found,
      "no more layers than the file has tensors");
    return;
  }
  lm->layers = memory_alloc(a->m, MEMORY_OTHER, n, sizeof *lm->layers, a->why);
  a->ok = lm->layers != NULL;
  for (uint32_t i = 0; i < n && a->ok; i++)
    assemble_layer(a, i, &lm->layers[i]);
  lm->layer_bytes = a->bytes - before;
}

@ A tensor without a use is as suspicious as an unknown setting: a bias
that the settings deny would be silently left out. So it is an error, unless it is one
of those that older versions of the libraries have left in files. We recognize those by the end of their names, and add each to the list of what was ignored, with a reason.

@<Account for every tensor@>=
/*- A bias that the settings deny would be left out silently. Old libraries have left masks and
  frequencies in files; they are known by the end of their names, and listed. */
static bool check_unused(struct model_loader *a, const struct tensor_entry *t)
{
  static const struct { const char *end, *reason; } known[] =
    @[{ {".attn.bias", "a stored causal mask: ours is the order of rows"},@|
    {".attn.masked_bias", "the value that a stored mask puts in"},@|
    {".rotary_emb.inv_freq", "stored frequencies: computed from rope_theta"} }@];
  size_t n = strlen(t->name);
  for (int i = 0; i < 3; i++) {
    size_t k = strlen(known[i].end);
    if ((n > k && strcmp(t->name + n - k, known[i].end) == 0)
      || strcmp(t->name, known[i].end + 1) == 0)
      return config_ignore(&a->lm->config, a->m, t->file, t->name,
        known[i].reason, a->why);
  }
  char head[160];
  layout_name(a->layout, TENSOR_HEAD, a->prefix, 0, "weight", head);
  if (strcmp(t->name, head) == 0) return tied_head(a, t);
  return error_found(a->why, t->file, t->name, "a tensor without use",
    "only the tensors that the settings call for");
}

@ Some tools write the head of a tied model all the same. It does no harm if it equals the
embedding, byte for byte. If it does not, settings and weights contradict each other, and we cannot know which is right.

@<Compare a stored head with the embedding it is tied to@>=
/*- Some tools write the head of a tied model. It must be the embedding, byte for byte: if not,
  settings and weights contradict each other. */
static bool tied_head(struct model_loader *a, const struct tensor_entry *t)
{
  const struct model_config *c = &a->lm->config;
  uint64_t bytes = (uint64_t) c->vocab_size
    * weight_row_bytes(a->lm->embedding.type, c->d_model);
  if (t->bytes != bytes || memcmp(t->data, a->lm->embedding.data, bytes) != 0)
    return error_found(a->why, t->file, t->name, "not the embedding",
      "equal, since tie_word_embeddings is true");
  return config_ignore(&a->lm->config, a->m, t->file, t->name,
    "the embedding once more: the head is tied", a->why);
}

@ The frequencies are computed from the settings, and rounded here, once. A model with learned positions has none. The GGUF file of a Llama~3.1 does not say how its wheels are slowed; it has the result: \label{sec:ropefactors} a tensor with a divisor for each wheel, in float. We divide in double. The divisors were rounded when the file was made, so the
last bit of a frequency may differ from that of the same model in Hugging Face's form.

@<Compute the frequencies of the rotations@>=
/*- Rounded here, once. The divisors of a GGUF file were rounded when it was made, so the last
  bit may differ from that of the directory. */
static bool model_frequencies(struct model_loader *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  uint32_t half = c->head_dim / 2;
  if (c->learned_positions) return true;
  lm->frequency = memory_alloc(a->m, MEMORY_OTHER, half, sizeof(float), a->why);
  for (uint32_t i = 0; i < half && lm->frequency != NULL; i++) {
    float by = a->factors.data == NULL ? 1 : tensor_number(a->factors, i);
    if (!(by > 0 && by <= FLT_MAX))
      return error_found(a->why, tensor_file_path(lm->weights),
        "rope_freqs.weight", "a divisor that is no positive number", "one");
    lm->frequency[i] = (float) (rope_scaled_frequency(&c->rope, i, half) / (double) by);
  }
  return lm->frequency != NULL;
}

@ The layout is that of the file's format, for the family that the settings have named. To learn whether the names have the prefix, we look for the embedding under its full name: a file that was saved from the body of a model, without the head, has no prefix.

@<Find the layout and the prefix@>=
/*- A file that was saved from the body of a model, without the head, has no prefix; the
  embedding tells which it is. */
static bool model_layout(struct model_loader *a)
{
  char name[160];
  const struct tensor_file *w = a->lm->weights;
  const char *family = a->lm->config.family;
  if (a->layout == NULL) a->layout = layout_find(tensor_file_format(w), family);
  if (a->layout == NULL)
    return error_found(a->why, tensor_file_path(w), "model_type", family,
      "a family whose tensors we know in files of this format");
  a->prefix = a->layout->prefix;
  layout_name(a->layout, TENSOR_EMBEDDING, a->prefix, 0, "weight", name);
  if (tensor_file_find(w, name) == NULL) a->prefix = "";
  return true;
}

@ Now everything is put together. The number by which scores are multiplied in attention,
$1/\sqrt{d_h}$ or 1, is computed here, once, in double, and rounded.

@<Assemble the model@>=
/*- The number by which scores are multiplied is computed in double, here, and rounded once. */
static bool model_assemble(struct model_loader *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  if (tensor_file_count(lm->weights) == 0)
    return error_found(a->why, tensor_file_path(lm->weights), "this",@|
      "a file without tensors", "those of a model");
  if (!kernels_check_settings(a->k, c, tensor_file_path(lm->weights), a->why)
    || !model_layout(a)) return false;
  lm->attention = (struct attention_dims) @[{ c->n_heads, c->n_kv_heads, c->head_dim,
    (float) (c->scaled ? 1 / sqrt((double) c->head_dim) : 1) }@];
  assemble_ends(a);
  if (a->ok) assemble_layers(a);
  for (size_t i = 0; i < tensor_file_count(lm->weights) && a->ok; i++)
    if (!a->used[i]) a->ok = check_unused(a, tensor_file_at(lm->weights, i));
  return a->ok && model_frequencies(a);
}

@ The marks for used tensors are needed only while the model is being built and are freed in either case. After a failure the same function that closes a complete model frees what was built of it.

@<Open and close a model@>=
struct model *model_open_with(struct memory *m, const char *directory,
  struct model_open_options *o, struct error *why)
{
  const struct kernels *k = o->k != NULL ? o->k : &kernels_plain;
  struct model *lm = k == NULL ? NULL
    : memory_alloc(m, MEMORY_OTHER, 1, sizeof *lm, why);
  if (lm == NULL) return NULL;
  struct model_loader a = @[{ .m = m, .k = k, .lm = lm, .layout = o->layout,@|
    .progress = o->progress, .ok = true, .why = why }@];
  bool ok = config_open_with(&lm->config, m, directory, &o->fields, why)
    && (lm->weights = tensor_file_open(m, directory, why)) != NULL;
  size_t n = ok ? tensor_file_count(lm->weights) : 0;
  if (ok) a.used = memory_alloc(m, MEMORY_OTHER, n, sizeof *a.used, why);
  ok = ok && a.used != NULL && model_assemble(&a);
  memory_free(m, a.used);
  if (ok) return lm;
  model_close(m, lm);
  return NULL;
}
struct model *model_open(struct memory *m, const char *directory,
  struct error *why)
{
  struct model_open_options none = @[{ .progress = NULL }@];
  return model_open_with(m, directory, &none, why);
}

@ The settings are closed last, because the sizes of the blocks are worked out from them.

@<Open and close a model@>=
/*- The settings last: the sizes of the blocks come from them. */
void model_close(struct memory *m, struct model *lm)
{
  if (lm == NULL) return;
  memory_free(m, lm->layers);
  memory_free(m, lm->frequency);
  tensor_file_close(m, lm->weights);
  config_close(m, &lm->config);
  memory_free(m, lm);
}

@ A tied head is counted once, as the embedding; tensors that were
ignored are not counted at all. The list of what was ignored contains settings as well; the lookup finds no tensor for those.

@<Count the parameters@>=
/*- What was ignored has settings in it as well; no tensor is found for those. */
uint64_t model_parameters(const struct model *lm)
{
  const struct model_config *c = &lm->config;
  uint64_t n = 0;
  for (size_t i = 0; i < tensor_file_count(lm->weights); i++)
    n += tensor_file_at(lm->weights, i)->elements;
  for (size_t i = 0; i < c->n_ignored; i++) {
    const struct tensor_entry *t = tensor_file_find(lm->weights, c->ignored[i].field);
    if (t != NULL) n -= t->elements;
  }
  return n;
}

@ The module begins with the state of assembly, which all of its functions share, and ends with those that
other modules call.

@(loader.c@>=
@;
/** From settings and tensors to a model. Weights stay where they are in the mapped file; only
  headers have been read. The settings say which tensors there must be, so each is asked for by
  its role, with the shape that follows from the settings, and afterwards a tensor that nobody
  asked for is an error. After a failure all further calls do nothing, so one test at the end
  suffices; the first message stays. Tensors are asked for in the order of their use. What was
  built is freed by the function that closes a complete model. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "safetensors/tensor_file.h"
#include "families/loader.h"
#include "families/rope_scaling.h"
@;@#
@<The state of assembly@>@;
@<Write a shape in words@>@;
@<Find one tensor, and insist on its shape@>@;
@<Tensors by the layer@>@;
@<The model as a whole@>@;

@ These functions lead from a tensor to a layer: first the two things that are made of tensors, matrices and norms.

@<Tensors by the layer@>=
@<Find a matrix with its bias@>@;
@<Find a norm@>@;
@<Assemble queries, keys and values@>@;
@<Assemble a layer@>@;

@ These lead from the layers to the model: the embedding and the head first, then the layers, the check for tensors left over, and
the frequencies, which we compute.

@<The model as a whole@>=
@<Assemble what is outside the layers@>@;
@<Assemble the layers@>@;
@<Compare a stored head with the embedding it is tied to@>@;
@<Account for every tensor@>@;
@<Compute the frequencies of the rotations@>@;
@<Find the layout and the prefix@>@;
@<Assemble the model@>@;
@<Open and close a model@>@;
@<Count the parameters@>@;

@* Exercises. \label{sec:familyexercises}
Two exercises are calculations; the third adds a line to a table, and the point of it is the reason.

\begin{exercises}
\exercise{check}{ex:families.attention}{Qwen2.5 is stretched by YaRN with the factor 4. By which number does that multiply its attention scores? Three decimals are enough.}{\texttt{make
exercise-W3-1}}{The factor $\given{0.1}\ln 4+1$ is \given{1.1386}. Query and key are both multiplied by it, so a score is multiplied by its square: \given{1.296}.}
\exercise{think}{ex:families.wheels}{The small Llama~3.2 has heads of 64 numbers, so 32 wheels, the base \given{500,000}, and is stretched as Llama~3.1 is, but with the factor 32. The original context is \given{8192}, the two bounds are 1 and 4. How many of its wheels are left
alone, how many are slowed down by the whole factor, and how many lie between?}{\texttt{make exercise-W3-2}}{A wheel $i$ turns once in $2\pi\cdot\text{base}^{i/32}$ positions. That is below \given{2048} up to $i=14$, which makes 15 wheels, and above \given{8192} from $i=18$ on,
which makes 14. Three are between. The factor plays no part in it.}
\exercise{check}{ex:families.author}{Some files begin to have a field \texttt{author}. Make our reader ignore it, with a reason, whatever its value; \texttt{authors} must still be refused.}{\texttt{make
exercise-W3-3}}{A line in the table of harmless fields: the author of a file changes no logit. If you compare only the beginnings of names, you accept \texttt{authors}, and one day a field that matters.}
\end{exercises}
