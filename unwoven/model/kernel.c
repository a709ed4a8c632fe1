/* kernel.c -- what tables of kernels share: single numbers, the host's memory, formats, refusals.

   No state: every function works on its arguments. Nothing here allocates for itself, and only
   the checks can fail, with a sentence. A model is checked here against a table before anything
   is multiplied, so that the kernels themselves need not ask. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "model/quantization.h"

/* What is in a block, and what number it stands for, is chapter 10's. The plain kernels call this
   for every weight, so a number that stands alone is found without the two divisions that find
   a block. */
float tensor_number(struct tensor t, size_t i)
{
  const unsigned char *p = t.data;
  uint16_t h;
  float x;
  switch (t.type) {
  case WEIGHT_F32: memcpy(&x, p + 4 * i, sizeof x); return x;
  case WEIGHT_F16: memcpy(&h, p + 2 * i, sizeof h); return num_from_f16(h);
  case WEIGHT_BF16: memcpy(&h, p + 2 * i, sizeof h); return num_from_bf16(h);
  case WEIGHT_Q8_0: case WEIGHT_Q4_0: OTHER_BLOCKS: break;
  }
  size_t at = i % number_types[t.type].block;
  return block_number(t.type, p + weight_row_bytes(t.type, i - at), at);
}

/* -- the host's memory: allocated and counted as everything else, and every copy is a memcpy -- */

static void *host_alloc(const struct buffers *b, struct memory *m,
  enum memory_class what, size_t count, size_t size, struct error *why)
{
  (void) b;
  return memory_alloc(m, what, count, size, why);
}

static void host_release(const struct buffers *b, struct memory *m, void *p)
{
  (void) b;
  memory_free(m, p);
}

static void host_copy(const struct buffers *b, void *to, const void *from, size_t bytes)
{
  (void) b;
  memcpy(to, from, bytes);
}

static bool host_working(const struct buffers *b, struct error *why)
{
  (void) b, (void) why;
  return true;
}

const struct buffers buffers_host = { .is_host = true,
  .alloc = host_alloc, .release = host_release,
  .working = host_working, .set = host_copy, .get = host_copy, .copy = host_copy };

void kv_encode_f32(const float *x, size_t n, void *to)
{ memcpy(to, x, n * sizeof *x); }

/* -- moving numbers about, the same for every table whose memory is the host's -- */

void host_split(const struct engine *e, const float *x, size_t rows, size_t n,
  size_t width, float *const *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < n; i++)
      memcpy(y[i] + r * width, x + (r * n + i) * width, width * sizeof *x);
}

void host_gather(const struct engine *e, const float *x, size_t d,
  const size_t *which, size_t n, float *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++)
    memcpy(y + i * d, x + which[i] * d, d * sizeof *x);
}

void host_write(const struct engine *e, const struct attention_dims *h,
  const struct segment *list, size_t n, kv_encode *encode, const float *k,
  const float *v)
{
  size_t d = h->head_dim, width = h->n_kv_heads * d;
  (void) e;
  for (size_t i = 0; i < n; i++)
    for (uint32_t r = 0; r < list[i].n_rows; r++)
      for (size_t g = 0; g < h->n_kv_heads; g++) {
        const struct kv_view *view = &list[i].view;
        size_t from = (list[i].first_row + (size_t) r) * width + g * d;
        uintptr_t at = kv_place(view, list[i].first_position + r)
          + g * view->head_bytes;
        encode(k + from, d, (void *) (view->key + at));
        encode(v + from, d, (void *) (view->value + at));
      }
}

/* -- the plain table wants no workspace and no copies of weights, and its measures are a chain of
   multiply-adds and a sum -- */

void plain_mark_nonfinite(const struct engine *e, const float *x, size_t rows,
  size_t d, uint32_t mark, uint32_t none, uint32_t *first)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < d; i++)
      if (first[r] == none && !isfinite(x[r * d + i])) first[r] = mark;
}

size_t plain_room(const struct matrix *list, size_t n, size_t rows)
{ (void) list, (void) (n + rows); return 0; }
size_t plain_attention_room(const struct attention_dims *h, size_t rows, size_t max_len)
{ (void) h, (void) (rows + max_len); return 0; }
size_t plain_prepared_bytes(const struct matrix *w, enum activations format)
{ (void) w, (void) format; return 0; }
void plain_prepare(const struct matrix *w, enum activations format, void *to)
{ (void) w, (void) format; (void) to; }
float plain_mul_add_unfused(float a, float b, float c)
{ return a * b + c; }
float plain_mul_add_fused(float a, float b, float c)
{ return fmaf(a, b, c); }
uint64_t plain_probe_flops(uint64_t n, float *left)
{
  *left = 0;
  for (uint64_t i = 0; i < n; i++) *left = fmaf(*left, 0.5f, 1.0f);
  return n;
}

float plain_probe_bandwidth(const float *x, size_t n)
{
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i];
  return sum;
}

/* -- what a table cannot multiply -- */

/* the next type of a list, by number, or the one of the most bits first: users think of types as
   large and small */
static unsigned first_type(uint32_t left, bool by_size)
{
  unsigned first = N_WEIGHT_TYPES;
  for (unsigned t = 0; t < N_WEIGHT_TYPES; t++) {
    if ((left >> t & 1) == 0) continue;
    if (first == N_WEIGHT_TYPES || (by_size
        && weight_row_bytes(t, WEIGHT_SUPER_BLOCK)
          > weight_row_bytes(first, WEIGHT_SUPER_BLOCK))) first = t;
  }
  return first;
}

static void list_types(uint32_t left, bool as_words, char text[TYPES_TEXT])
{
  size_t n = 0;
  text[0] = '\0';
  while (left != 0 && n < TYPES_TEXT) {
    unsigned t = first_type(left, as_words);
    const char *before = n == 0 ? "" : ", ";
    left &= ~(1u << t);
    if (n > 0 && left == 0) before = " or ";
    n += (size_t) snprintf(text + n, TYPES_TEXT - n, "%s%s", before,
      as_words ? number_types[t].word : number_types[t].name);
  }
}

void kernels_list_types(uint32_t types, char text[TYPES_TEXT])
{ list_types(types, false, text); }
void kernels_list_words(uint32_t types, char text[TYPES_TEXT])
{ list_types(types, true, text); }

/* A table has loops of its own for each type, and need not have them for all. If several types
   are missing, the first is named: a longer message would not help, since the model cannot be
   used with these kernels anyway. */
bool kernels_check_types(const struct kernels *k, uint32_t types,
  const char *what, struct error *why)
{
  char wanted[TYPES_TEXT];
  uint32_t missing = types & ~k->matrix_types;
  unsigned t = 0;
  if (missing == 0) return true;
  while ((missing >> t & 1) == 0) t++;
  kernels_list_types(k->matrix_types, wanted);
  return error_say(why, "%s: matrices of %s; wanted: %s, which the kernels %s multiply",
    what, number_types[t].name, wanted, k->name);
}

/* A model in which no matrix has a product with the format is refused: the option would do
   nothing, and the user would believe that it did. */
bool kernels_check_activations(const struct kernels *k, enum activations asked,
  uint32_t types, const char *what, struct error *why)
{
  char found[TYPES_TEXT], wanted[TYPES_TEXT];
  uint32_t can = asked == ACTIVATIONS_INT8 ? k->int8_types : k->bf16_types;
  if (asked == ACTIVATIONS_DEFAULT || asked == ACTIVATIONS_F32) return true;
  if ((types & can) != 0) return true;
  kernels_list_types(types, found);
  kernels_list_types(can, wanted);
  return error_say(why, "%s: %s activations for matrices of %s; wanted: matrices of %s",
    what, asked == ACTIVATIONS_INT8 ? "int8" : "bf16",
    found, wanted);
}

/* -- the format in which a matrix is multiplied -- */

bool activations_find(const char *name, enum activations *format, struct error *why)
{
  static const char *const word[] = { "f32", "bf16", "int8" };
  for (int i = 0; i < 3; i++) {
    *format = (enum activations) (ACTIVATIONS_F32 + i);
    if (strcmp(name, word[i]) == 0) return true;
  }
  return error_say(why, "activations `%s'; wanted: f32, bf16 or int8", name);
}

enum activations activations_of(enum activations asked, enum weight_type type)
{
  bool blocks = number_types[type].block > 1;
  if (asked == ACTIVATIONS_F32) return asked;
  if (asked == ACTIVATIONS_BF16 && type == WEIGHT_BF16) return asked;
  return blocks ? ACTIVATIONS_INT8 : ACTIVATIONS_F32;
}

/* The matrices of a model may have several types, and each takes the format asked for if its type
   has a product with it, else its default. Neighbours of the same format go to the kernel
   together, so that their input is read once; the others get a call of their own. */
void kernels_multiply(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  const struct kernels *k = e->k;
  for (size_t i = 0, end; i < n; i = end) {
    enum activations of = activations_of(e->activations, list[i].weight.type);
    for (end = i + 1; end < n; end++)
      if (activations_of(e->activations, list[end].weight.type) != of) break;
    if (of == ACTIVATIONS_INT8) k->linear_int8(e, list + i, end - i, x, rows, y + i);
    else if (of == ACTIVATIONS_BF16)
      k->linear_bf16(e, list + i, end - i, x, rows, y + i);
    else k->linear(e, list + i, end - i, x, rows, y + i);
  }
}

/* Attention keeps two numbers and a vector for each block of 256 positions, and a range of n
   positions touches at most two blocks more than it fills. */
size_t kernels_scratch(const struct attention_dims *h, size_t max_len)
{ return (max_len / 256 + 2) * ((size_t) h->head_dim + 2); }
