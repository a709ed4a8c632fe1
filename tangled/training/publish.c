/* publish.c -- made from workshop/12-training.w; change it there */

/* Weights, settings and tokenizer of a model, written in Hugging Face's layout. The
   same weights give the same bytes: the order is that of the tensors, numbers are
   little-endian whatever the machine, and there is no date. Each file is written
   beside its place and then takes it. */
#include <stdio.h>
#include "training/publish.h"
#include "functions/numbers.h"
#include "ground/new_file.h"

/* <Round to sixteen bits> */

/* to what the file will have, so that the model is judged as it will be read */
void publish_round_weights(float *w, size_t n)
{
  for (size_t i = 0; i < n; i++) w[i] = num_from_f16(num_to_f16(w[i]));
}

/* <Open a file of a directory> */
static bool open_in(struct new_file *to, const char *directory, const char *name,
  char path[PATH_CAP], struct error *why)
{
  return path_join(path, directory, name, why)
    && new_file_open(to, path, false, why);
}

/* <Write the weights> */

/* The header ends in blanks so that the numbers begin at a multiple of 8, as the
   format wants it. */
static size_t header_write(const struct network *net, char *to,
  size_t cap)
{
  const struct parameter *p;
  int n = snprintf(to, cap, "{\"__metadata__\":{\"format\":\"pt\"}");
  for (size_t i = 0; (p = network_parameter(net, i)) != NULL; i++) {
    char dims[48];
    if (p->rows == 1) snprintf(dims, sizeof dims, "%zu", p->cols);
    else snprintf(dims, sizeof dims, "%zu,%zu", p->rows, p->cols);
    n += snprintf(to + n, cap - (size_t) n,
      ",\"%s\":{\"dtype\":\"F16\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
      p->name, dims, 2 * p->offset,
      2 * (p->offset + p->rows * p->cols));
  }
  n += snprintf(to + n, cap - (size_t) n, "}");
  while (n % 8 != 0) to[n++] = ' ';
  return (size_t) n;
}

static bool weights_write(struct memory *m, const char *directory,
  const struct network *net, const float *w, struct error *why)
{
  char path[PATH_CAP];
  size_t cap = 65536, n = network_count(net);
  struct new_file to;
  char *header = memory_alloc(m, MEMORY_TRAINING, cap, 1, why);
  bool ok = header != NULL
    && open_in(&to, directory, "model.safetensors", path, why);
  if (ok) {
    FILE *f = to.f;
    size_t size = header_write(net, header, cap - 8);
    for (int i = 0; i < 8; i++) fputc((int) (size >> 8 * i & 0xff), f);
    fwrite(header, 1, size, f);
    for (size_t i = 0; i < n; i++) {
      uint16_t h = num_to_f16(w[i]);
      fputc(h & 0xff, f), fputc(h >> 8, f);
    }
    ok = new_file_end(&to, true, why);
  }
  memory_free(m, header);
  return ok;
}

/* <Write the settings> */
static void shape_write(FILE *f, const struct model_shape *s)
{
  fprintf(f, "{\n  \"architectures\": [\"LlamaForCausalLM\"],\n"
    "  \"model_type\": \"llama\",\n  \"vocab_size\": %u,\n"
    "  \"hidden_size\": %u,\n  \"intermediate_size\": %u,\n"
    "  \"num_hidden_layers\": %u,\n  \"num_attention_heads\": %u,\n"
    "  \"num_key_value_heads\": %u,\n  \"head_dim\": %u,\n"
    "  \"max_position_embeddings\": %u,\n", s->vocab_size,
    s->d_model, s->d_inner, s->n_layers, s->n_heads, s->n_kv_heads,
    s->head_dim, s->n_positions);
}

static bool settings_write(const char *directory, const struct model_shape *s,
  struct error *why)
{
  char path[PATH_CAP];
  struct new_file to;
  if (!open_in(&to, directory, "config.json", path, why)) return false;
  shape_write(to.f, s);
  fprintf(to.f, "  \"hidden_act\": \"silu\",\n  \"rms_norm_eps\": 1e-05,\n"
    "  \"rope_theta\": 10000.0,\n  \"rope_scaling\": null,\n"
    "  \"attention_bias\": false,\n  \"mlp_bias\": false,\n"
    "  \"tie_word_embeddings\": true,\n  \"bos_token_id\": 0,\n"
    "  \"eos_token_id\": 0,\n  \"torch_dtype\": \"float16\"\n}\n");
  if (!new_file_end(&to, true, why)
    || !open_in(&to, directory, "generation_config.json", path, why)) return false;
  fprintf(to.f, "{\n  \"bos_token_id\": 0,\n  \"eos_token_id\": 0\n}\n");
  return new_file_end(&to, true, why);
}

/* <Write a model's directory> */
bool publish_model(struct memory *m, const char *directory,
  const struct model_shape *s,
  const struct network *net, const float *w,
    const struct bpe_merge *merge, size_t n,
  struct error *why)
{
  char path[PATH_CAP];
  if (!weights_write(m, directory, net, w, why)
    || !settings_write(directory, s, why)) return false;
  return merge == NULL || (path_join(path, directory, "tokenizer.json", why)
    && tokenizer_write(m, path, merge, n, why));
}
