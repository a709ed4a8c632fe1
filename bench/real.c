/* real.c [TOKENIZER...] -- real sizes: writes, in build/real (ignored), directories of random BF16
   weights in the shapes of published models, TinyLlama in two shards, and measures with warm files:
   the milliseconds until the weights are ready; with each tokenizer given (directories with a
   tokenizer.json, as ../shared/golden/tokenizers/llama3) until both are; and the allocator's peak,
   without the cache, over opening, a prompt of 16 tokens and one more.  Median of five.  Removes
   what it has written. Exit 1 if the weights take more than 100 ms, weights and tokenizer more than
   1 s, or the peak is above 5 % of the files and 100 MB. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/timing.h"
#include "tokenizer/tokenizer.h"
#include "model/forward.h"
#include "families/loader.h"

static double now(void)
{
  return 1e3 * timing_seconds();
}
static int by_size(const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}
static uint64_t seed = 1;
static uint64_t rnd(void)
{
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return seed;
}

/* ---- writing: a list of tensors, then the header, then random numbers of about 0.02 */
struct planned {
  char name[80];
  unsigned long rows, columns;
};
static struct planned plan[600];
static size_t n_plan;
static void add(const char *name, unsigned long rows, unsigned long columns)
{
  snprintf(plan[n_plan].name, sizeof plan[0].name, "%s", name);
  plan[n_plan].rows = rows, plan[n_plan++].columns = columns;
}
static uint64_t bytes_of(size_t i)
{
  return 2ull * plan[i].rows * (plan[i].columns ? plan[i].columns : 1);
}
static uint64_t write_shard(const char *path, size_t from, size_t step)
{
  FILE *f = fopen(path, "wb");
  char *header = calloc(n_plan + 1, 200), *h = header;
  uint64_t at = 0;
  if (f == NULL) perror(path), exit(1);
  h += sprintf(h, "{");
  for (size_t i = from; i < n_plan; i += step) {
    h += sprintf(h,
      plan[i].columns ? "%s\"%s\":{\"dtype\":\"BF16\",\"shape\":[%lu,%lu],"
                      : "%s\"%s\":{\"dtype\":\"BF16\",\"shape\":[%lu],",
      i > from ? "," : "", plan[i].name, plan[i].rows, plan[i].columns);
    h += sprintf(h, "\"data_offsets\":[%llu,%llu]}", (unsigned long long) at,
      (unsigned long long) (at + bytes_of(i)));
    at += bytes_of(i);
  }
  h += sprintf(h, "}");
  while ((h - header) % 8) *h++ = ' ';
  uint64_t length = (uint64_t) (h - header);
  static uint16_t block[1 << 16];
  fwrite(&length, 8, 1, f), fwrite(header, 1, length, f);
  for (uint64_t left = at; left > 0;) {
    size_t n = left < sizeof block ? (size_t) left : sizeof block;
    for (size_t k = 0; k < sizeof block / 8; k++)
      ((uint64_t *) (void *) block)[k] = (rnd() & 0x80ff80ff80ff80ffu) | 0x3c003c003c003c00u;
    if (fwrite(block, 1, n, f) != n) perror(path), exit(1);
    left -= n;
  }
  fclose(f), free(header);
  return at + 8 + length;
}
static const struct shape {
  const char *name;
  int gpt2;
  unsigned long d, inner, layers, heads, kv, context, vocab;
  int tied, shards;
  double eps;
} shapes[] = { { "gpt2", 1, 768, 3072, 12, 12, 12, 1024, 50257, 1, 1, 1e-5 },
  { "smollm-135m", 0, 576, 1536, 30, 9, 3, 2048, 49152, 1, 1, 1e-5 },
  { "tinyllama-1.1b", 0, 2048, 5632, 22, 32, 4, 2048, 32000, 0, 2, 1e-5 } };
static void plan_model(const struct shape *s)
{
  static const char *const gpt2[] = { "ln_1.weight", "ln_1.bias", "attn.c_attn.weight",
    "attn.c_attn.bias", "attn.c_proj.weight", "attn.c_proj.bias", "ln_2.weight", "ln_2.bias",
    "mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight", "mlp.c_proj.bias" };
  static const char *const llama[] = { "input_layernorm", "post_attention_layernorm",
    "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj",
    "mlp.up_proj", "mlp.down_proj" };
  unsigned long d = s->d, kv = d / s->heads * s->kv, f = s->inner,
                a[12][2] = { { d, 0 }, { d, 0 }, { d, 3 * d }, { 3 * d, 0 }, { d, d }, { d, 0 },
                  { d, 0 }, { d, 0 }, { d, f }, { f, 0 }, { f, d }, { d, 0 } };
  unsigned long b[9][2] = { { d, 0 }, { d, 0 }, { d, d }, { kv, d }, { kv, d }, { d, d }, { f, d },
    { f, d }, { d, f } };
  char name[80];
  n_plan = 0;
  add(s->gpt2 ? "transformer.wte.weight" : "model.embed_tokens.weight", s->vocab, d);
  if (s->gpt2) add("transformer.wpe.weight", s->context, d);
  for (unsigned l = 0; l < s->layers; l++)
    for (int i = 0; i < (s->gpt2 ? 12 : 9); i++) {
      if (s->gpt2)
        snprintf(name, sizeof name, "transformer.h.%u.%s", l, gpt2[i]), add(name, a[i][0], a[i][1]);
      else
        snprintf(name, sizeof name, "model.layers.%u.%s.weight", l, llama[i]),
          add(name, b[i][0], b[i][1]);
    }
  add(s->gpt2 ? "transformer.ln_f.weight" : "model.norm.weight", d, 0);
  if (s->gpt2) add("transformer.ln_f.bias", d, 0);
  if (!s->tied) add("lm_head.weight", s->vocab, d);
}
static uint64_t write_model(const char *dir, const struct shape *s)
{
  char path[300];
  uint64_t bytes = 0;
  mkdir(dir, 0777);
  snprintf(path, sizeof path, "%s/config.json", dir);
  FILE *f = fopen(path, "w");
  if (f == NULL) perror(path), exit(1);
  if (s->gpt2)
    fprintf(f,
      "{\"model_type\":\"gpt2\",\"n_embd\":%lu,\"n_layer\":%lu,\"n_head\":%lu,\"n_positions\":%lu,"
      "\"vocab_size\":%lu}",
      s->d, s->layers, s->heads, s->context, s->vocab);
  else
    fprintf(f,
      "{\"model_type\":\"llama\",\"hidden_size\":%lu,\"intermediate_size\":%lu,\"num_hidden_"
      "layers\":%lu,\"num_attention_heads\":%lu,\"num_key_value_heads\":%lu,"
      "\"max_position_embeddings\":%lu,\"vocab_size\":%lu,\"tie_word_embeddings\":%s,\"rms_norm_"
      "eps\":%g}",
      s->d, s->inner, s->layers, s->heads, s->kv, s->context, s->vocab, s->tied ? "true" : "false",
      s->eps);
  fclose(f);
  plan_model(s);
  if (s->shards == 1) {
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    return write_shard(path, 0, 1);
  }
  for (int i = 0; i < s->shards; i++) {
    snprintf(path, sizeof path, "%s/model-%05d-of-%05d.safetensors", dir, i + 1, s->shards);
    bytes += write_shard(path, (size_t) i, (size_t) s->shards);
  }
  snprintf(path, sizeof path, "%s/model.safetensors.index.json", dir);
  if ((f = fopen(path, "w")) == NULL) perror(path), exit(1);
  fprintf(f, "{\"metadata\":{},\"weight_map\":{");
  for (size_t i = 0; i < n_plan; i++)
    fprintf(f, "%s\"%s\":\"model-%05d-of-%05d.safetensors\"", i ? "," : "", plan[i].name,
      (int) (i % (size_t) s->shards) + 1, s->shards);
  fprintf(f, "}}");
  fclose(f);
  return bytes;
}
static void remove_model(const char *dir, const struct shape *s)
{
  char path[300];
  snprintf(path, sizeof path, "%s/config.json", dir), remove(path);
  snprintf(path, sizeof path, "%s/model.safetensors", dir), remove(path);
  snprintf(path, sizeof path, "%s/model.safetensors.index.json", dir), remove(path);
  for (int i = 0; i < s->shards; i++)
    snprintf(path, sizeof path, "%s/model-%05d-of-%05d.safetensors", dir, i + 1, s->shards),
      remove(path);
  rmdir(dir);
}

/* ---- measuring */
static double open_ms(const char *dir, const char *tokenizer)
{
  double t[5];
  for (int i = 0; i < 5; i++) {
    struct memory m = { 0 };
    struct error why;
    double start = now();
    struct model *lm = model_open(&m, dir, &why);
    struct tokenizer *words = lm && tokenizer ? tokenizer_open(&m, tokenizer, &why) : NULL;
    t[i] = now() - start;
    if (lm == NULL || (tokenizer && words == NULL)) fprintf(stderr, "%s\n", why.text), exit(1);
    tokenizer_close(&m, words), model_close(&m, lm);
  }
  qsort(t, 5, sizeof *t, by_size);
  return t[2];
}
static void run(const char *dir, const char *tokenizer, uint64_t *peak, double *seconds)
{
  struct memory m = { 0 };
  struct error why;
  struct counters c = { 0 };
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct model *lm = model_open(&m, dir, &why);
  struct tokenizer *words = tokenizer ? tokenizer_open(&m, tokenizer, &why) : NULL;
  struct store *s = lm ? array_store_open(&m, &lm->config, &why) : NULL;
  double start = now();
  uint32_t ids[17];
  for (uint32_t i = 0; i < 17; i++) ids[i] = 100 * i;
  size_t last = 15;
  float *logits = malloc(lm->config.vocab_size * sizeof *logits);
  bool ok = s != NULL && model_evaluate(&e, lm, s, ids, 16, &last, 1, logits, &why);
  last = 16;
  ok = ok && model_evaluate(&e, lm, s, ids, 17, &last, 1, logits, &why);
  if (!ok || logits[0] - logits[0] != 0)
    fprintf(stderr, "%s\n", ok ? "a logit is not finite" : why.text), exit(1);
  *seconds = (now() - start) / 1e3;
  *peak = 0; /* the peaks of all other purposes, as if they had come at one time */
  for (int i = 0; i < N_MEMORY_CLASSES; i++)
    if (i != MEMORY_CACHE) *peak += m.of[i].peak;
  free(logits), store_close(s), tokenizer_close(&m, words), model_close(&m, lm);
}
int main(int argc, char **argv)
{
  int bad = 0;
  mkdir("build", 0777), mkdir("build/real", 0777);
  printf("model,file bytes,weights ready ms");
  for (int i = 1; i < argc; i++)
    printf(",with %s ms", strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i]);
  printf(",peak bytes without cache,limit bytes,seconds for 16 and 17 rows\n");
  for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
    char dir[200];
    snprintf(dir, sizeof dir, "build/real/%s", shapes[k].name);
    uint64_t bytes = write_model(dir, &shapes[k]), peak, limit = bytes / 20 + 100000000;
    double ms = open_ms(dir, NULL), seconds;
    bad |= ms > 100;
    printf("%s,%llu,%.2f", shapes[k].name, (unsigned long long) bytes, ms);
    for (int i = 1; i < argc; i++) {
      ms = open_ms(dir, argv[i]);
      bad |= ms > 1000;
      printf(",%.1f", ms);
    }
    run(dir, argc > 1 ? argv[1] : NULL, &peak, &seconds);
    bad |= peak > limit;
    printf(",%llu,%llu,%.2f\n", (unsigned long long) peak, (unsigned long long) limit, seconds);
    fflush(stdout);
    remove_model(dir, &shapes[k]);
  }
  rmdir("build/real");
  return bad;
}
