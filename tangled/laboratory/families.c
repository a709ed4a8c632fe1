/* the program -- made from laboratory/w03-models.w; change it there */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "families/config.h"
#include "families/rope_scaling.h"
#include "functions/numbers.h"

/* <Ask the table what each family does> */
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

static const struct place places[] =
  { {"learned positions", on(learned_positions), NULL},
  {"mean taken away", on(layer_norm), NULL},
  {"biases of q, k, v", on(qkv_bias), "attention_bias"},
  {"norm of q and k", on(qk_norm), NULL},
  {"wheels slowed", 0, "rope_scaling"},
  {"fewer heads of keys", 0, "num_key_value_heads"},
  {"heads of any width", 0, "head_dim"},
  {"window", 0, "sliding_window"},
  {"window by layer", 0, "max_window_layers"},
  {"unscaled scores", 0, "scale_attn_weights"},
  {"bias of the way out", on(out_bias), "attention_bias"},
  {"gate", on(gated), NULL},
  {"biases of the MLP", on(mlp_bias), "mlp_bias"} };

static void print_families(void)
{
  printf("switch,family,says\n");
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    for (size_t f = 0; config_family(f) != NULL; f++)
      printf("%d,%d,%d\n", (int) i, (int) f, asked(f, &places[i]));
}

/* <Slow the wheels of a real model> */
static double speed_of(struct rope_config r, enum rope_kind kind, uint32_t i,
  uint32_t half)
{
  r.kind = ROPE_PLAIN;
  double plain = rope_scaled_frequency(&r, i, half);
  r.kind = kind;
  return rope_scaled_frequency(&r, i, half) / plain;
}

enum { HALF = 64 };
static const struct rope_config llama31 =
  { .theta = 5e5, .factor = 8, .original = 8192,
    .low_freq_factor = 1, .high_freq_factor = 4,
    .beta_slow = 1, .beta_fast = 32, .truncate = true };
static void print_wheels(void)
{
  printf("wheel,linear,llama3,yarn\n");
  for (uint32_t i = 0; i < HALF; i++)
    printf("%d,%.6f,%.6f,%.6f\n", (int) i,
      speed_of(llama31, ROPE_LINEAR, i, HALF),
      speed_of(llama31, ROPE_LLAMA3, i, HALF),
      speed_of(llama31, ROPE_YARN, i, HALF));
}

/* <What slowing costs, and what it saves> */
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

/* <What GPT-2 small is made of> */
static void print_shapes(void)
{
  enum { D = 768, HEADS = 12, LAYERS = 12, VOCABULARY = 50257, CONTEXT = 1024 };
  uint64_t head = (uint64_t) VOCABULARY * D, qkv = 3 * D * D, out = D * D;
  uint64_t mlp = 2 * D * 4 * D, norms = 4 * D, madds = qkv + out + mlp;
  uint64_t layer = madds + 3 * D + D + 4 * D + D + norms;
  struct { const char *name; uint64_t n; } key[] =
    { {"d", D}, {"heads", HEADS}, {"layers", LAYERS}, {"context", CONTEXT},
    {"vocabulary", VOCABULARY}, {"qkv", 3 * D}, {"inner", 4 * D},
    {"embedding", head}, {"head", head}, {"positions", CONTEXT * D},
    {"layer.qkv", qkv + 3 * D}, {"layer.out", out + D},
    {"layer.mlp", mlp + 5 * D}, {"layer.norms", norms}, {"layer", madds},
    {"madds.qkv", qkv}, {"madds.out", out}, {"madds.mlp", mlp},
    {"layers.numbers", LAYERS * layer}, {"layers.madds", LAYERS * madds},
    {"numbers", head + CONTEXT * D + LAYERS * layer + 2 * D},
    {"madds", LAYERS * madds + head}, {NULL, 0} };
  for (int i = 0; key[i].name != NULL; i++)
    printf("gpt2.%s %" PRIu64 "\n", key[i].name, key[i].n);
}

/* <Print every number that these pages quote> */
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
  /* <Print the keys about crowds and windows> */
  struct rope_config yarn = llama31;
  yarn.kind = ROPE_YARN;
  double a = rope_scaled_attention(&yarn), more = KEYS * llama31.factor;
  printf("crowd.keys %d\ncrowd.before %.6f\n", KEYS, share_of(5, KEYS));
  printf("crowd.after %.6f\ncrowd.scaled %.6f\n", share_of(5, more),
    share_of(5 * a * a, more));
  printf("mistral.window %d\nmistral.layers %d\nmistral.reach %d\n", WINDOW,
    LAYERS, LAYERS * (WINDOW - 1));
  print_shapes();
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "families") == 0) print_families();
  else if (strcmp(what, "wheels") == 0) print_wheels();
  else print_values();
  return 0;
}
