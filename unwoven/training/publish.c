/* publish.c -- weights, settings and tokenizer of a model, written in Hugging Face's layout.
   The same weights give the same bytes: the order is that of the tensors, numbers are little-
   endian whatever the machine, and there is no date. Each file is written beside its place and
   then takes it. A module of its own, because other programs write small models with it. */

#include <stdio.h>
#include "training/publish.h"
#include "functions/numbers.h"
#include "ground/new_file.h"

/* To what the file will have, so that the model is judged as it will be read. A function of its
   own, so that a test can give the trainer's network and the engine the same numbers and
   compare their logits with ==. Sixteen bits keep eleven binary digits of a weight, and halve
   the file. */
void publish_round_weights(float *w, size_t n)
{
  for (size_t i = 0; i < n; i++) w[i] = num_from_f16(num_to_f16(w[i]));
}

/* if a file cannot be opened, the sentence names it */
static bool open_in(struct new_file *to, const char *directory, const char *name,
  char path[PATH_CAP], struct error *why)
{
  return path_join(path, directory, name, why)
    && new_file_open(to, path, false, why);
}

/* A line of JSON that gives for each tensor its type, its shape and where its bytes begin and
   end. It ends in blanks so that the numbers begin at a multiple of 8, as the format wants it.
   A gain has one dimension, as in all published files; one of shape 1 x d would be refused by
   most programs, ours among them. */
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

/* Eight bytes for the length of the header; then the header and the numbers in the order of the
   tensors. Bytes are written one by one, least significant first, which is the file's order
   whatever the machine's may be. */
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

/* The settings are those of versions 4 and 5 of the library transformers, and only the
   necessary ones. First the shape, which differs from model to model. */
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

/* Then the settings that are fixed in this trainer. Most of them are defaults in some program,
   but a program that assumes another epsilon or another base of the rotations would silently
   compute another model. The token that ends a text is given in two files, because some
   programs look for it in the one and some in the other. */
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

/* Three files and the tokenizer make a model. The test that compares the network with the
   engine writes a directory without a tokenizer, since it works with ids; for this merge may be
   null. */
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
