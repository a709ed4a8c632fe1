/* kernel.h -- one table of kernels, and the memory that they compute in.

   The rest of the program calls kernels through this table and never asks which table it has.
   Chapter 2 has the plain table, which defines what each entry computes; every other table
   gives the same bits. A table together with its memory is a backend. For tables of the host
   everything can be read in place, and is_host says so; a pass is written for both cases. */

#ifndef INCIPIT_KERNEL_H
#define INCIPIT_KERNEL_H
#include "model/attention.h"
#include "model/engine.h"

struct buffers;

/* writes n numbers in some weight_type to the weight_row_bytes at to */
typedef void kv_encode(const float *x, size_t n, void *to);

/* a kv_encode that leaves them as they are */
void kv_encode_f32(const float *x, size_t n, void *to);

/* one implementation of all kernels. None of them allocates and none can fail: what could be
   wrong with a shape was refused when the model was opened. Arrays are float, row by row, and
   belong to the caller. Those of a pass, and keys and values, are in memory; weights, lists of
   ids, positions and segments, page tables and what the kernels at the end make of logits are
   the host's */
struct kernels {
  const char *name;

  /* -- the kernels of a layer -- */

  /* y[m] = x*w_m for n matrices with the same in: x is [rows][in], y[m] is
     [rows][out] of list[m] and overlaps nothing. The bias is added last */
  void (*linear)(const struct engine *e, const struct matrix *list, size_t n,
    const float *x, size_t rows, float *const *y);
  /* the same with x rounded to blocks of bytes, for the types of int8_types */
  void (*linear_int8)(const struct engine *e, const struct matrix *list, size_t n,
    const float *x, size_t rows, float *const *y);
  /* the same with x rounded to bfloat16, for the types of bf16_types */
  void (*linear_bf16)(const struct engine *e, const struct matrix *list, size_t n,
    const float *x, size_t rows, float *const *y);
  /* x and y are [rows][d] and may be the same */
  void (*normalize)(const struct engine *e, const struct norm *g,
    const float *x, size_t rows, size_t d, float *y);
  /* rotates the pairs (i, i+half) of each head of x, [rows][n_heads][2*half], by the
     row's angles, in place: the half-split pairing of the Llama checkpoints */
  void (*rotate)(const struct engine *e, float *x, size_t rows, size_t n_heads,
    size_t half, const float *c, const float *s);
  /* q and y are [rows][n_heads][head_dim], and the n segments have all rows once;
     scratch has kernels_scratch floats for each worker; probe may be null (Vaswani
     and others 2017) */
  void (*attend)(const struct engine *e, const struct attention_dims *h, const float *q,
    const struct segment *list, size_t n, float *scratch, float *y,
    const struct attention_probe *probe);
  /* y[i] = f(x[i]), times up[i] if up is not null; y may be x or up */
  void (*activate)(const struct engine *e, enum activation_kind kind,
    const float *x, const float *up, size_t n, float *y);
  /* y[i] += x[i]: the residual stream */
  void (*add)(const struct engine *e, float *y, const float *x, size_t n);

  /* -- at the two ends: before the first layer, once for all layers, and after the last -- */

  /* row id[r] of table, [any][d], widened to y[r], [rows][d] */
  void (*embed)(const struct engine *e, struct tensor table, size_t d,
    const uint32_t *id, size_t rows, float *y);
  /* cosine and sine, times scaling, of position times frequency in float: c and s are
     [rows][half] (Su and others 2021) */
  void (*angles)(const struct engine *e, const uint32_t *position, size_t rows,
    const float *frequency, size_t half, float scaling, float *c, float *s);
  /* exp(x - max) over its sum, in double, for each row of x, [rows][n] */
  void (*softmax)(const struct engine *e, const float *x, size_t rows, size_t n,
    double *y);
  /* (x - max) - log(sum of exp(x - max)), in double, natural logarithms */
  void (*log_softmax)(const struct engine *e, const float *x, size_t rows,
    size_t n, double *y);
  /* z[i] becomes exp(z[i] - max), in double, in place */
  void (*exp_shifted)(double *z, size_t n, double max);

  /* -- no arithmetic of a model -- */

  const struct buffers *memory; /* of all arrays that a pass makes */
  uint32_t matrix_types; /* bit 1 << type for each type of the matrices of linear */
  uint32_t int8_types, bf16_types; /* those of linear_int8 and linear_bf16 */

  /* x, [rows][n][width], into n arrays [rows][width] */
  void (*split)(const struct engine *e, const float *x, size_t rows, size_t n,
    size_t width, float *const *y);
  /* row which[i] of x, [any][d], to row i of y, [n][d] */
  void (*gather)(const struct engine *e, const float *x, size_t d, const size_t *which,
    size_t n, float *y);
  /* keys and values of all rows, [rows][n_kv_heads][head_dim] each, to their places
     in the views of n segments; encode writes the views' type */
  void (*write)(const struct engine *e, const struct attention_dims *h,
    const struct segment *list, size_t n, kv_encode *encode, const float *k,
    const float *v);
  /* first[r], if it is none, becomes mark for each row r of x, [rows][d], with a
     number that is not finite; first is in the backend's memory as well */
  void (*mark_nonfinite)(const struct engine *e, const float *x, size_t rows, size_t d,
    uint32_t mark, uint32_t none, uint32_t *first);

  /* The files of a model were not written for our kernels, and the order of their weights may
     be a slow one. Then a table may ask for a copy in its own order. The copies belong to the
     owner of the engine, since engines with different tables may share the model. No bit of a
     result changes: a copy has the same weights, and each sum is formed in the same order. */

  /* bytes that the weights of w take in the order that is best for the linear layer
     of that format, never the default; 0: use them as they are */
  size_t (*prepared_bytes)(const struct matrix *w, enum activations format);
  /* writes them there, aligned to 64 bytes */
  void (*prepare)(const struct matrix *w, enum activations format, void *to);
  /* bytes of workspace that each worker of such a linear wants, by pool_reserve; with
     less it gives the same bits, but may be slower */
  size_t (*room)(const struct matrix *list, size_t n, size_t rows);
  /* the same for attend with that many rows, none of which sees more than max_len
     positions */
  size_t (*attention_room)(const struct attention_dims *h, size_t rows, size_t max_len);

  /* how fast a machine calculates and reads, in the same instructions as the kernels (chapter
     5), and two products for kernels_self_test */

  /* n multiply-adds, or a few more, of numbers that stay in registers; how many they
     were. *left depends on all of them, so that none can be left out */
  uint64_t (*probe_flops)(uint64_t n, float *left);
  /* the sum of x[n], in no order that a caller should rely on */
  float (*probe_bandwidth)(const float *x, size_t n);
  /* a*b+c as this table was compiled: product and sum rounded */
  float (*mul_add_unfused)(float a, float b, float c);
  /* the multiply-add of this table's kernels */
  float (*mul_add_fused)(float a, float b, float c);
};

/* the kernels of chapter 2 */
extern const struct kernels kernels_plain;

/* Memory of a backend. A graphics processor has memory that our program can neither read nor
   write: an address in it is only a number to be handed back. So a pass asks the backend for
   arrays and for copies into them and out of them. Every function gets the memory as its first
   argument: a backend that must know more has this as the first member of its own structure. */
struct buffers {
  bool is_host; /* whether our program can read and write at its addresses */
  /* as memory_alloc, charged to m, in this memory; an address within it is found by
     adding */
  void *(*alloc)(const struct buffers *b, struct memory *m, enum memory_class what,
    size_t count, size_t size, struct error *why);
  /* as memory_free */
  void (*release)(const struct buffers *b, struct memory *m, void *p);
  /* from the host into this memory, when all kernels before have used to */
  void (*set)(const struct buffers *b, void *to, const void *from, size_t bytes);
  /* from this memory to the host, when all kernels before have filled from */
  void (*get)(const struct buffers *b, void *to, const void *from, size_t bytes);
  /* within this memory; the two do not overlap */
  void (*copy)(const struct buffers *b, void *to, const void *from, size_t bytes);
  /* false and a sentence if anything that was asked of this memory, or of kernels in
     it, has failed */
  bool (*working)(const struct buffers *b, struct error *why);
};

/* the host's memory */
extern const struct buffers buffers_host;

/* -- what every table whose memory is the host's shares -- */

/* split of all tables whose memory is the host's */
void host_split(const struct engine *e, const float *x, size_t rows, size_t n,
  size_t width, float *const *y);

/* gather of all tables whose memory is the host's */
void host_gather(const struct engine *e, const float *x, size_t d,
  const size_t *which, size_t n, float *y);

/* write of all tables whose memory is the host's */
void host_write(const struct engine *e, const struct attention_dims *h,
  const struct segment *list, size_t n, kv_encode *encode, const float *k,
  const float *v);

/* -- the plain table's entries that have no arithmetic of a model in them -- */

/* mark_nonfinite of the plain table */
void plain_mark_nonfinite(const struct engine *e, const float *x, size_t rows,
  size_t d, uint32_t mark, uint32_t none, uint32_t *first);

/* room of the plain table: none */
size_t plain_room(const struct matrix *list, size_t n, size_t rows);

/* attention_room of the plain table: none */
size_t plain_attention_room(const struct attention_dims *h, size_t rows, size_t max_len);

/* prepared_bytes of the plain table: none */
size_t plain_prepared_bytes(const struct matrix *w, enum activations format);

/* prepare of the plain table, never called */
void plain_prepare(const struct matrix *w, enum activations format, void *to);

/* mul_add_unfused of the plain table */
float plain_mul_add_unfused(float a, float b, float c);

/* mul_add_fused of the plain table */
float plain_mul_add_fused(float a, float b, float c);

/* probe_flops of the plain table */
uint64_t plain_probe_flops(uint64_t n, float *left);

/* probe_bandwidth of the plain table */
float plain_probe_bandwidth(const float *x, size_t n);

/* -- what a pass asks of a table before it begins -- */

/* whether linear can multiply matrices of all types, bits as in matrix_types; a
   sentence about what that names the first it cannot, and those it can */
bool kernels_check_types(const struct kernels *k, uint32_t types,
  const char *what, struct error *why);

/* room for the names of all types */
enum { TYPES_TEXT = 8 * N_WEIGHT_TYPES };

/* the names of types, bits as in matrix_types, as in F32, F16 or BF16 */
void kernels_list_types(uint32_t types, char text[TYPES_TEXT]);

/* what users call them, the types of many bits first, as in f32, f16 or q8_0 */
void kernels_list_words(uint32_t types, char text[TYPES_TEXT]);

/* whether k has a product of the format asked for one of types, those of a model's
   matrices; else a sentence about what */
bool kernels_check_activations(const struct kernels *k, enum activations asked,
  uint32_t types, const char *what, struct error *why);

/* the format called f32, bf16 or int8; a sentence if it is none of them */
bool activations_find(const char *name, enum activations *format,
  struct error *why);

/* the format in which a matrix of type is multiplied: the one asked for if type has a
   product with it, else the type's default, which is float, or int8 for types in
   blocks; never ACTIVATIONS_DEFAULT */
enum activations activations_of(enum activations asked, enum weight_type type);

/* linear, linear_int8 or linear_bf16, for each of the n matrices the one of its
   format */
void kernels_multiply(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y);

/* false and a sentence if the build contracts a*b+c or has no exact fma;
   model_forward refuses to run then */
bool kernels_self_test(const struct kernels *k, struct error *why);

/* floats that one worker of attend needs when no row sees more than max_len positions */
size_t kernels_scratch(const struct attention_dims *h, size_t max_len);
#endif
