/* kernels.c -- made from chapters/11-simd.w; change it there */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "functions/numbers.h"
#include "kernels/kernels.h"

/* <One number of a tensor> */
static float block_number(enum weight_type type, const unsigned char *block,
  size_t i)
{
  float d = num_from_f16((uint16_t) (block[0] | block[1] << 8));
  if (type == WEIGHT_Q8_0) return (float) (int8_t) block[2 + i] * d;
  unsigned two = block[2 + i % 16];
  return (float) ((int) (i < 16 ? two & 15u : two >> 4) - 8) * d;
}

float tensor_number(struct tensor t, size_t i)
{
  size_t at = i % number_types[t.type].block;
  const unsigned char *p = (const unsigned char *) t.data
    + weight_row_bytes(t.type, i - at);
  float x = 0;
  uint16_t h;
  memcpy(&h, p, sizeof h);
  switch (t.type) {
  case WEIGHT_F32: memcpy(&x, p, sizeof x); break;
  case WEIGHT_F16: return num_from_f16(h);
  case WEIGHT_BF16: return num_from_bf16(h);
  case WEIGHT_Q8_0: case WEIGHT_Q4_0: return block_number(t.type, p, at);
  }
  return x;
}

/* <The host's memory> */
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

const struct buffers buffers_host = { .is_host = true,
  .alloc = host_alloc, .release = host_release,
  .set = host_copy, .get = host_copy, .copy = host_copy };

void kv_encode_f32(const float *x, size_t n, void *to)
{ memcpy(to, x, n * sizeof *x); }

/* <The tables of this build> */
extern const struct kernels kernels_scalar, kernels_avx2, kernels_avx512;

const struct kernels *kernels_at(size_t i)
{
  const struct kernels *found[3] = { &kernels_scalar };
  size_t n = 1;
#if defined __x86_64__
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f")
    && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
    && __builtin_cpu_supports("avx512vl");
  if (avx2) found[n++] = &kernels_avx2;
  if (avx512) found[n++] = &kernels_avx512;
#endif
  return i < n ? found[i] : NULL;
}

/* <Find a table by its name> */
const struct kernels *kernels_find(const char *name, struct error *why)
{
  char there[200] = "";
  size_t n = 0;
  const struct kernels *k = NULL;
  for (size_t i = 0; kernels_at(i) != NULL; i++) {
    k = kernels_at(i);
    if (name != NULL && strcmp(name, k->name) == 0) return k;
    n += (size_t) snprintf(there + n, sizeof there - n, i > 0 ? ", %s" : "%s", k->name);
    if (n >= sizeof there) n = sizeof there - 1;
  }
  if (name == NULL) return k;
  error_say(why, "kernels: %s is not among those that this machine can"
    " run; wanted: one of %s", name, there);
  return NULL;
}

/* <Prepare weights, and find them> */
static int by_weight(const void *a, const void *b)
{
  uintptr_t x = (uintptr_t) ((const struct prepared_matrix *) a)->weight;
  uintptr_t y = (uintptr_t) ((const struct prepared_matrix *) b)->weight;
  return (x > y) - (x < y);
}

const void *prepared_find(const struct engine *e, const struct matrix *w)
{
  struct prepared_matrix key = { w->weight.data, NULL };
  if (e->prepared == NULL || e->prepared->k != e->k) return NULL;
  const struct prepared_matrix *found = bsearch(&key, e->prepared->of,
    e->prepared->n, sizeof key, by_weight);
  return found == NULL ? NULL : found->copy;
}

struct prepared_weights *prepared_open(struct memory *m, const struct kernels *k,
  const struct matrix *const *list, size_t n, struct error *why)
{
  struct prepared_weights *p = memory_alloc(m, MEMORY_OTHER, 1, sizeof *p, why);
  if (p == NULL) return NULL;
  p->k = k;
  p->of = memory_alloc(m, MEMORY_OTHER, n, sizeof *p->of, why);
  bool ok = p->of != NULL;
  for (size_t i = 0; i < n && ok; i++) {
    size_t bytes = k->prepared_bytes(list[i]);
    if (bytes == 0) continue;
    void *copy = memory_alloc(m, MEMORY_WEIGHTS, bytes, 1, why);
    ok = copy != NULL;
    if (!ok) break;
    k->prepare(list[i], copy);
    p->of[p->n++] = (struct prepared_matrix) { list[i]->weight.data, copy };
  }
  if (ok) qsort(p->of, p->n, sizeof *p->of, by_weight);
  if (ok) return p;
  prepared_close(m, p);
  return NULL;
}

void prepared_close(struct memory *m, struct prepared_weights *p)
{
  if (p == NULL) return;
  for (size_t i = 0; i < p->n; i++) memory_free(m, p->of[i].copy);
  memory_free(m, p->of);
  memory_free(m, p);
}

/* <Refuse types that a table cannot multiply> */
void kernels_list_types(const struct kernels *k, char text[64])
{
  uint32_t left = k->matrix_types;
  size_t n = 0;
  text[0] = '\0';
  for (unsigned t = 0; t < N_WEIGHT_TYPES && n < 64; t++) {
    if ((k->matrix_types >> t & 1) == 0) continue;
    const char *before = n == 0 ? "" : ", ";
    left &= ~(1u << t);
    if (n > 0 && left == 0) before = " or ";
    n += (size_t) snprintf(text + n, 64 - n, "%s%s", before,
      number_types[t].name);
  }
}

bool kernels_check_types(const struct kernels *k, uint32_t types,
  const char *what, struct error *why)
{
  char wanted[64];
  uint32_t missing = types & ~k->matrix_types;
  unsigned t = 0;
  if (missing == 0) return true;
  while ((missing >> t & 1) == 0) t++;
  kernels_list_types(k, wanted);
  return error_say(why, "%s: matrices of %s; wanted: %s, which"
    " the kernels %s multiply", what, number_types[t].name, wanted, k->name);
}

/* <Refuse a build that rounds otherwise> */
bool kernels_self_test(const struct kernels *k, struct error *why)
{
  float a = 0x1.001p0f, c = -0x1.002p0f;
  if (k->mul_add_unfused(a, a, c) != 0.0f)
    return error_say(why, "kernels %s: this build contracts a*b+c"
      " into one rounding; compile with -ffp-contract=off", k->name);
  if (k->mul_add_fused(a, a, c) != 0x1p-24f)
    return error_say(why, "kernels %s: the multiply-add of this"
      " machine rounds twice; wanted: one rounding", k->name);
  return true;
}

/* <Find the range of a row> */
struct kv_range segment_range(const struct segment *s, uint32_t i)
{
  uint32_t at = s->first_position + i, lo = 0;
  if (s->window > 0 && at >= s->window) lo = at + 1 - s->window;
  bool hole = s->view.sinks < lo;
  return (struct kv_range) { hole ? lo : 0, at + 1, hole ? s->view.sinks : 0 };
}

/* <Room for attention> */
size_t kernels_scratch(const struct attention_dims *h, size_t max_len)
{ return (max_len / 256 + 2) * ((size_t) h->head_dim + 2); }
