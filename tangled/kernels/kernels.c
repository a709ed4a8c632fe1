/* kernels.c -- made from chapters/11-simd.w; change it there */

#include <stdio.h>
#include <string.h>
#include "kernels/kernels.h"

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
size_t weight_type_bytes(enum weight_type type)
{ return type == WEIGHT_F32 ? 4 : 2; }
