@i types.w

\chapterquestion{What do the settings of published models do?}
@** Model families, rotary frequencies and tensor shapes. \label{lab:models}
\incipit{T}{he program} prints the numbers that \cref{families} quotes; with |"families"| and with |"wheels"| it prints the data of two figures.

@c
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "families/families.h"
#include "families/layout.h"
#include "families/rope_scaling.h"
#include "functions/numbers.h"
@;@#
@<Ask the table what each family does@>@;
@<Slow the wheels of a real model@>@;
@<What slowing costs, and what it saves@>@;
@<What GPT-2 small is made of@>@;
@<Print every number that these pages quote@>@;
@#
int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "families") == 0) print_families();
  else if (strcmp(what, "switches") == 0) print_switches();
  else if (strcmp(what, "wheels") == 0) print_wheels();
  else print_values();
  return 0;
}

@* One model with switches. \label{lab:families}
The marks of \cref{fig:families} come from the table that the reader of settings uses, so the figure shows what the program does. For each switch we ask
first whether the files of a family have a field for it, and only if not, what the family does without one.

@<Ask the table what each family does@>=
enum { NEVER, ALWAYS, AS_THE_FILE_SAYS };
struct place { const char *name; size_t at; const char *field; };
#define on(member) offsetof(struct model_config, member)
static int asked(size_t family, const struct place *p)
{
  if (p->field != NULL && config_reads(family, p->field))
    return AS_THE_FILE_SAYS;
  const char *c = (const char *) config_family(family);
  return p->at > 0 && *(const bool *) (c + p->at) ? ALWAYS : NEVER;
}

@ The switches come in the order in which a row meets them. A switch that is only a field has the distance 0: nothing that is a switch is the first member of the structure.

@<Ask the table what each family does@>=
static const struct place places[] =
  @[{ {"learned positions", on(learned_positions), NULL},@|
  {"mean taken away", on(layer_norm), NULL},@|
  {"biases of q, k, v", on(qkv_bias), "attention_bias"},@|
  {"norm of q and k", on(qk_norm), NULL},@|
  {"wheels slowed", 0, "rope_scaling"},@|
  {"fewer heads of keys", 0, "num_key_value_heads"},@|
  {"heads of any width", 0, "head_dim"},@|
  {"window", 0, "sliding_window"},@|
  {"window by layer", 0, "max_window_layers"},@|
  {"unscaled scores", 0, "scale_attn_weights"},@|
  {"bias of the way out", on(out_bias), "attention_bias"},@|
  {"gate", on(gated), NULL},@|
  {"biases of the MLP", on(mlp_bias), "mlp_bias"} }@];

@ The diagram has the first five families of the table. Each mark prints one line: the row of the switch, the column of the family, and which of the three answers it is.

@<Ask the table what each family does@>=
enum { DIAGRAM = 5 };
static void print_families(void)
{
  printf("switch,family,says\n");
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    for (size_t f = 0; f < DIAGRAM; f++)
      printf("%d,%d,%d\n", (int) i, (int) f, asked(f, &places[i]));
}

@ The families that came later are in a figure of their own. A column of it asks for a setting of the family or for a field; numbers that are not 0 are on.

@<Ask the table what each family does@>=
static int on_or_read(size_t family, double x, const char *field)
{
  if (field != NULL && config_reads(family, field))
    return AS_THE_FILE_SAYS;
  return x != 0 ? ALWAYS : NEVER;
}
static void print_family(size_t f)
{
  const struct model_config *c = config_family(f);
  const struct tensor_layout *l = layout_find("safetensors", c->family);
  bool stable = f == FAMILY_STABLELM, exaone = f == FAMILY_EXAONE4;
  const int says[] = @[{ model_families[f].gguf != NULL,@|
    on_or_read(f, c->root_embedding, "embedding_multiplier"),@|
    on_or_read(f, 0, "residual_multiplier"),@|
    on_or_read(f, c->score_scale, f == FAMILY_GRANITE ? "attention_multiplier" : "query_pre_attn_scalar"),@|
    f == FAMILY_MINISTRAL3 ? AS_THE_FILE_SAYS : NEVER,@|
    on_or_read(f, c->logit_scale, f == FAMILY_GRANITE ? "logits_scaling" : "logit_scale"),@|
    on_or_read(f, c->logit_cap, "final_logit_softcapping"),@|
    on_or_read(f, f == FAMILY_COHERE2, exaone ? "sliding_window" : "no_rope_layers"),@|
    on_or_read(f, 0, f == FAMILY_NEOX ? "rotary_pct" : "partial_rotary_factor"),@|
    c->interleaved, c->rope.local_theta > 0, f == FAMILY_PHI3 ? AS_THE_FILE_SAYS : NEVER,@|
    f == FAMILY_MINISTRAL || c->window_pattern > 0 ? AS_THE_FILE_SAYS : NEVER,@|
    on_or_read(f, c->qkv_bias, f == FAMILY_FALCON ? "bias" : stable ? "use_qkv_bias" : "attention_bias"),@|
    c->layer_norm, on_or_read(f, c->qk_norm, f == FAMILY_COHERE ? "use_qk_norm" : "qk_layernorm"),@|
    c->post_norms, c->bare_branches, c->one_plus,@|
    on_or_read(f, c->parallel, f == FAMILY_FALCON ? "parallel_attn" : "use_parallel_residual"),@|
    on_or_read(f, c->shared_norm, stable ? "use_parallel_residual" : "num_ln_in_parallel_attn"),@|
    l->of[TENSOR_QKV].pattern != NULL,@|
    on_or_read(f, 0, "num_experts_per_tok"), c->head_sinks, c->swiglu_alpha > 0 }@];
  for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
    if (says[i] != NEVER)
      printf("%d,%d,%d\n", (int) i, (int) f - DIAGRAM, says[i]);
}
static void print_switches(void)
{
  printf("switch,family,says\n");
  for (size_t f = DIAGRAM; config_family(f) != NULL; f++) print_family(f);
}

@* Scaled rotary frequencies. \label{lab:wheels}
The speed of a wheel is its scaled frequency divided by its plain one.

@<Slow the wheels of a real model@>=
static double speed_of(struct rope_config r, enum rope_kind kind, uint32_t i,
  uint32_t half)
{
  r.kind = ROPE_PLAIN;
  double plain = rope_scaled_frequency(&r, i, half);
  r.kind = kind;
  return rope_scaled_frequency(&r, i, half) / plain;
}

@ The figure of the wheels has the settings of Llama 3.1, and for yarn the bounds that its inventors propose.

@<Slow the wheels of a real model@>=
enum { HALF = 64 };
static const struct rope_config llama31 =
  @[{ .theta = 5e5, .factor = 8, .original = 8192,@|
    .low_freq_factor = 1, .high_freq_factor = 4,@|
    .beta_slow = 1, .beta_fast = 32, .truncate = true }@];
static void print_wheels(void)
{
  printf("wheel,linear,llama3,yarn\n");
  for (uint32_t i = 0; i < HALF; i++)
    printf("%d,%.6f,%.6f,%.6f\n", (int) i,
      speed_of(llama31, ROPE_LINEAR, i, HALF),
      speed_of(llama31, ROPE_LLAMA3, i, HALF),
      speed_of(llama31, ROPE_YARN, i, HALF));
}

@ How much a score changes between neighbours is the sum of all wheels at distance 0, minus the sum at distance 1.

@<What slowing costs, and what it saves@>=
static double next_door(enum rope_kind kind)
{
  struct rope_config r = llama31;
  double lost = 0;
  r.kind = kind;
  for (uint32_t i = 0; i < HALF; i++)
    lost += (1 - num_cos(rope_scaled_frequency(&r, i, HALF))) / HALF;
  return lost;
}
static double share_of(double score, double others)
{
  return num_exp(score) / (num_exp(score) + others);
}

@* The shapes of a real model. \label{lab:shapes}
The table of shapes is arithmetic on five sizes. A row costs as many multiply--adds as a matrix has numbers; a bias costs none. A test opens a
file with these names and smaller shapes, and counts in the same way.

@<What GPT-2 small is made of@>=
static void print_shapes(void)
{
  enum {@+ D = 768, HEADS = 12, LAYERS = 12, VOCABULARY = 50257, CONTEXT = 1024@+ };
  uint64_t head = (uint64_t) VOCABULARY * D, qkv = 3 * D * D, out = D * D;
  uint64_t mlp = 2 * D * 4 * D, norms = 4 * D, madds = qkv + out + mlp;
  uint64_t layer = madds + 3 * D + D + 4 * D + D + norms;
  struct { const char *name; uint64_t n; } key[] =
    @[{ {"d", D}, {"heads", HEADS}, {"layers", LAYERS}, {"context", CONTEXT},@|
    {"vocabulary", VOCABULARY}, {"qkv", 3 * D}, {"inner", 4 * D},@|
    {"embedding", head}, {"head", head}, {"positions", CONTEXT * D},@|
    {"layer.qkv", qkv + 3 * D}, {"layer.out", out + D},@|
    {"layer.mlp", mlp + 5 * D}, {"layer.norms", norms}, {"layer", madds},@|
    {"madds.qkv", qkv}, {"madds.out", out}, {"madds.mlp", mlp},@|
    {"layers.numbers", LAYERS * layer}, {"layers.madds", LAYERS * madds},@|
    {"numbers", head + CONTEXT * D + LAYERS * layer + 2 * D},@|
    {"madds", LAYERS * madds + head}, {NULL, 0} }@];
  for (int i = 0; key[i].name != NULL; i++)
    printf("gpt2.%s %" PRIu64 "\n", key[i].name, key[i].n);
}

@* The keys. \label{lab:familieskeys}
The window and the layers of Mistral are those of the first model of that name.

@<Print every number that these pages quote@>=
static void print_values(void)
{
  enum { KEYS = 1000, WINDOW = 4096, LAYERS = 32 };
  int fast = 0, slow = 0;
  for (uint32_t i = 0; i < HALF; i++) {
    double speed = speed_of(llama31, ROPE_LLAMA3, i, HALF);
    fast += speed == 1, slow += speed == 1 / llama31.factor;
  }
  printf("wheels.all %d\nwheels.fast %d\nwheels.slow %d\n", HALF, fast, slow);
  printf("wheels.factor %d\n", (int) llama31.factor);
  printf("near.plain %.6f\nnear.linear %.6f\n", next_door(ROPE_PLAIN),
    next_door(ROPE_LINEAR));
  printf("near.llama3 %.6f\nnear.yarn %.6f\n", next_door(ROPE_LLAMA3),
    next_door(ROPE_YARN));
  @<Print the keys about crowds and windows@>@;
  @<Print the keys about sinks and the clamped gate@>@;
  print_shapes();
  printf("family.all %d\nfamily.later %d\n", N_FAMILIES, N_FAMILIES - DIAGRAM);
  int files = 0;
  for (int f = 0; f < N_FAMILIES; f++)
    files += model_families[f].gguf != NULL;
  printf("family.gguf %d\nfamily.growth %.6f\n", files, 1 + 0.1 * num_log(2));
}

@ The second half of yarn, the factor of the scores, is there for many keys: these keys say what share of its weight one key keeps among them.

@<Print the keys about crowds and windows@>=
struct rope_config yarn = llama31;
yarn.kind = ROPE_YARN;
double a = rope_scaled_attention(&yarn), more = KEYS * llama31.factor;
printf("crowd.keys %d\ncrowd.before %.6f\n", KEYS, share_of(5, KEYS));
printf("crowd.after %.6f\ncrowd.scaled %.6f\n", share_of(5, more),
  share_of(5 * a * a, more));
printf("mistral.window %d\nmistral.layers %d\nmistral.reach %d\n", WINDOW,
  LAYERS, LAYERS * (WINDOW - 1));

@ A head with a sink of \given{10} sees a crowd of keys, all with the score 0: which share of its weight do they get together, and which share gets one more key with the score \given{12}? And how far is the curve of the clamped gate from GELU, where it is furthest?

@<Print the keys about sinks and the clamped gate@>=
double sink = num_exp(10), found = num_exp(12), furthest = 0;
for (int i = -800; i <= 800; i++) {
  double x = i / 100.0, gelu = 0.5 * x * (1 + (double) num_erff((float) (x * 0.70710678)));
  double apart = x / (1 + num_exp(-1.702 * x)) - gelu;
  if (apart < 0) apart = -apart;
  if (apart > furthest) furthest = apart;
}
printf("sink.idle %.6f\nsink.found %.6f\nsink.rest %.6f\nclamped.gelu %.6f\n", KEYS / (KEYS + sink),@|
  found / (found + KEYS + sink), KEYS / (found + KEYS + sink), furthest);
