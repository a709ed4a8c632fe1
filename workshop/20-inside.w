@i types.w
@s tap_fn int
@s toy int

\chapterquestion{What does a forward pass need besides arithmetic?}
@** Inside the forward pass.
\incipit{C}{hapter 2} has the arithmetic of a model and the order of its steps. This chapter has the rest of the same module: the memory of other processors, the tests that
refuse a build or a model before it can compute wrong numbers, the settings, what all stores have in common, the arrays of a pass, the callback that looks into it, and the tiny model that the boxes of chapter 2 compute by hand.

@* The table of kernels. \label{sec:kerneltable}
A pass gives attention three things: the shape of the heads, the segments, and for each segment a view of the keys and values (\cref{sec:attend}).

@<What attention is given@>=
struct kv_view {
  uintptr_t key, value; /* addresses; with pages, distances from the beginning of a page */
  const char *const *page; /* addresses; null: all rows in one block */
  size_t page_rows, row_bytes, head_bytes;
  enum weight_type type;
  uint32_t sinks;
};
  /* one layer of a sequence. The key of position |t| in head |h| is |head_dim| numbers of |type| at |key +
     h*head_bytes + t*row_bytes| if |page| is null, else at |page[t/page_rows] + key
     + h*head_bytes + t%page_rows*row_bytes|; the values likewise at |value|. All rows see the first |sinks| positions */
struct segment {
  struct kv_view view;
  uint32_t first_row, n_rows, first_position, window;
};
  /* rows |first_row|, |first_row+1|, \dots\ of a pass, |n_rows| of them, which are at |first_position|,
     |first_position+1|, \dots\ of one sequence; |window|: how many positions a row sees, its own among them, 0: all */
struct kv_range { uint32_t lo, hi, sinks; };
  /* positions |lo <= t < hi|, and the first |sinks| positions, which end before |lo|; 0: none */
struct kv_range segment_range(const struct segment *s, uint32_t i);
  /* what row number |i| of a segment sees */

@ Two short functions find the numbers of a head at a position. The plain kernels use them; the fast ones go from position to position by themselves.

@<What attention is given@>=
static inline uintptr_t kv_place(const struct kv_view *v, uint32_t t)
{
  return v->page == NULL ? t * v->row_bytes
    : (uintptr_t) v->page[t / v->page_rows] + t % v->page_rows * v->row_bytes;
}
  /* what is added to |key| or |value|, and |head_bytes| for each head before, to find position |t| */
static inline struct tensor kv_row(const struct kv_view *v, uintptr_t part,
  uint32_t t, size_t head)
{
  uintptr_t at = part + kv_place(v, t) + head * v->head_bytes;
  return (struct tensor) @[{ (const void *) at, v->type }@];
}
  /* the numbers of one head at position |t|; |part| is |v->key| or |v->value| */

@ A table of kernels is a structure of functions. Every function gets the engine, which has the table itself, the threads, and the counters.

@<The table of kernels@>=
struct counters;
struct buffers;
struct prepared_weights;
struct engine {
  const struct kernels *k; /* the kernels in use */
  void *pool; /* its |struct pool *|; null: one thread */
  struct counters *c; /* the callers of kernels add to them */
  struct progress *progress; /* a callback that a pass tells how far it is, or null */
  const struct prepared_weights *prepared; /* for these kernels; null: none */
  enum activations activations; /* to which inputs of linear layers are rounded */
};
  /* the first argument of every kernel */
@<More that a kernel is given@>@;
struct kernels {
  const char *name;
  @<The kernels of a layer@>@;
  @<The kernels at the two ends@>@;
  @<What else a table has@>@;
};
  /* one implementation of all kernels. Arrays are float, row by row, and belong to the caller. Those of a
     pass, and keys and values, are in |memory|; weights, lists of ids, positions and segments, page tables and
     what the kernels at the end make of logits are the host's */
extern const struct kernels kernels_plain;
  /* the kernels of chapter 2 */

@ None of the kernels allocates and none can fail: what could be wrong with a shape was
refused when the model was opened.

@<The kernels of a layer@>=
void (*linear)(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y);
  /* |y[m] = x*w|$_m$ for |n| matrices with the same |in|: |x| is |[rows][in]|,
     |y[m]| is |[rows][out]| of |list[m]| and overlaps nothing. The bias is added last */
void (*linear_int8)(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y);
  /* the same with |x| rounded to blocks of bytes, for the types of |int8_types| */
void (*linear_bf16)(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y);
  /* the same with |x| rounded to bfloat16, for the types of |bf16_types| */
void (*normalize)(const struct engine *e, const struct norm *g,
  const float *x, size_t rows, size_t d, float *y);
  /* |x| and |y| are |[rows][d]| and may be the same */
void (*rotate)(const struct engine *e, float *x, size_t rows, size_t n_heads,
  size_t half, const float *c, const float *s);
  /* rotates the pairs (|i|, |i+half|) of each head of |x|, |[rows][n_heads][2*half]|,
     by the row's angles, in place: the half-split pairing of the Llama checkpoints */
void (*attend)(const struct engine *e, const struct attention_dims *h, const float *q,
  const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe);
  /* |q| and |y| are |[rows][n_heads][head_dim]|, and the |n| segments have all rows once; |scratch| has
     |kernels_scratch| floats for each worker; |probe| may be null (Vaswani and others 2017) */
void (*activate)(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y);
  /* |y[i] = f(x[i])|, times |up[i]| if |up| is not null; |y| may be |x| or |up| */
void (*add)(const struct engine *e, float *y, const float *x, size_t n);
  /* |y[i] += x[i]|: the residual stream */

@ Before the first layer a token is looked up and the angles of its position are computed, once for all layers; after the
last one logits become probabilities.

@<The kernels at the two ends@>=
void (*embed)(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y);
  /* row |id[r]| of |table|, |[any][d]|, widened to |y[r]|, |[rows][d]| */
void (*angles)(const struct engine *e, const uint32_t *position, size_t rows,
  const float *frequency, size_t half, float scaling, float *c, float *s);
  /* cosine and sine, times |scaling|, of position times frequency in float:
     |c| and |s| are |[rows][half]| (Su and others 2021) */
void (*softmax)(const struct engine *e, const float *x, size_t rows, size_t n,
  double *y);
  /* exp(x - max) over its sum, in double, for each row of |x|, |[rows][n]| */
void (*log_softmax)(const struct engine *e, const float *x, size_t rows,
  size_t n, double *y);
  /* (x - max) - log(sum of exp(x - max)), in double, natural logarithms */
void (*exp_shifted)(double *z, size_t n, double max);
  /* |z[i]| becomes exp(z[i] - max), in double, in place */

@ The other entries have no arithmetic of a model in them. The pass asks the table for its memory, and which types of weights it can multiply.

@<What else a table has@>=
const struct buffers *memory; /* of all arrays that a pass makes */
uint32_t matrix_types; /* bit |1 << type| for each type of the matrices of |linear| */
uint32_t int8_types, bf16_types; /* those of |linear_int8| and |linear_bf16| */
@<What is moved and looked for@>@;
@<How a table prepares weights@>@;
@<What measures and tests a table@>@;

@ A pass cuts a fused product into queries, keys and values, gathers the rows whose logits are wanted, and puts keys and values into the store, which may keep them in another type. After each layer it looks for numbers that are not finite.

@<What is moved and looked for@>=
void (*split)(const struct engine *e, const float *x, size_t rows, size_t n,
  size_t width, float *const *y);
  /* |x|, |[rows][n][width]|, into |n| arrays |[rows][width]| */
void (*gather)(const struct engine *e, const float *x, size_t d, const size_t *which,
  size_t n, float *y);
  /* row |which[i]| of |x|, |[any][d]|, to row |i| of |y|, |[n][d]| */
void (*write)(const struct engine *e, const struct attention_dims *h,
  const struct segment *list, size_t n, kv_encode *encode, const float *k,
  const float *v);
  /* keys and values of all rows, |[rows][n_kv_heads][head_dim]| each, to their places in the
     views of |n| segments; |encode| writes the views' type */
void (*mark_nonfinite)(const struct engine *e, const float *x, size_t rows, size_t d,
  uint32_t mark, uint32_t none, uint32_t *first);
  /* |first[r]|, if it is |none|, becomes |mark| for each row |r| of |x|, |[rows][d]|, with a number that is not
     finite; |first| is in the backend's memory as well */

@ Keys and values may be stored in another type than float; one function knows which, and writes them. A caller who wants to see the weights of attention passes an array for them.

@<More that a kernel is given@>=
typedef void kv_encode(const float *x, size_t n, void *to);
  /* writes |n| numbers in some |weight_type| to the |weight_row_bytes| at |to| */
void kv_encode_f32(const float *x, size_t n, void *to);
  /* a |kv_encode| that leaves them as they are */
struct attention_probe { float *weights; size_t stride; };
  /* where attention leaves its weights: |[rows][n_heads][stride]|, that of
     position |t| at index |t|; positions that a row does not see get 0 */

@ The files of a model were not written for our kernels, and the order of their weights may be a slow one. Then a table may ask for a copy in an order of its own. The copies belong to the owner of the engine, because the model may be shared by engines with different tables.
No bit of a result changes: a copy holds the same weights, and each sum is formed in the same order. A table may also want workspace for |linear| and |attend|, for each thread.
@^prepared weights@>

@<How a table prepares weights@>=
size_t (*prepared_bytes)(const struct matrix *w, enum activations format);
  /* bytes that the weights of |w| take in the order that is best for the linear layer of that format,
     never the default; 0: use them as they are */
void (*prepare)(const struct matrix *w, enum activations format, void *to);
  /* writes them there, aligned to 64 bytes */
size_t (*room)(const struct matrix *list, size_t n, size_t rows);
  /* bytes of workspace that each worker of such a |linear| wants, by |pool_reserve|; with less
     it gives the same bits, but may be slower */
size_t (*attention_room)(const struct attention_dims *h, size_t rows, size_t max_len);
  /* the same for |attend| with that many rows, none of which sees more than |max_len| positions */

@ \Cref{phases} wants to know how fast a machine calculates and how fast it reads, in the same instructions as the kernels. Two more functions serve the test of the build in \cref{sec:refused}.

@<What measures and tests a table@>=
uint64_t (*probe_flops)(uint64_t n, float *left);
  /* |n| multiply--adds, or a few more, of numbers that stay in registers; how many
     they were. |*left| depends on all of them, so that none can be left out */
float (*probe_bandwidth)(const float *x, size_t n);
  /* the sum of |x[n]|, in no order that a caller should rely on */
float (*mul_add_unfused)(float a, float b, float c);
  /* |a*b+c| as this table was compiled: product and sum rounded */
float (*mul_add_fused)(float a, float b, float c);
  /* the multiply--add of this table's kernels */

@* Backends: kernels and their memory. \label{sec:backend}
A graphics processor has memory of its own, which our program can neither read nor write: an address in it is only a number to be handed back. So the code of a pass must not
assume that it can look at the arrays that the kernels fill. A table of kernels together with its memory is called a \emph{backend}. The pass asks the backend for arrays, and for copies into them and out of them. For all tables of
today the memory is the \emph{host's}, the memory of our own program: everything can be read in place, and |is_host| says so. A pass is written for both cases.
@^backend@>@^host memory@>

@(kernel.h@>=
#ifndef INCIPIT_KERNEL_H
#define INCIPIT_KERNEL_H
#include "model/tensor.h"
@<What attention is given@>@;
@<The table of kernels@>@;
@<Memory of a backend@>@;
@<What is asked of a table@>@;
#endif

@ The functions get the backend's memory as their first argument, because a backend may keep more about it than this structure has.

@<Memory of a backend@>=
struct buffers {
  bool is_host; /* whether our program can read and write at its addresses */
  void *(*alloc)(const struct buffers *b, struct memory *m, enum memory_class what,
    size_t count, size_t size, struct error *why);
    /* as |memory_alloc|, charged to |m|, in this memory; an address within it is found by adding */
  void (*release)(const struct buffers *b, struct memory *m, void *p);
    /* as |memory_free| */
  void (*set)(const struct buffers *b, void *to, const void *from, size_t bytes);
    /* from the host into this memory, when all kernels before have used |to| */
  void (*get)(const struct buffers *b, void *to, const void *from, size_t bytes);
    /* from this memory to the host, when all kernels before have filled |from| */
  void (*copy)(const struct buffers *b, void *to, const void *from, size_t bytes);
    /* within this memory; the two do not overlap */
  bool (*working)(const struct buffers *b, struct error *why);
    /* false and a sentence if anything that was asked of this memory, or of kernels in it, has failed */
};
  /* memory of a backend; a backend that must know more of its memory has this as the first member of its own structure */
extern const struct buffers buffers_host;
  /* the host's memory */

@ The host's memory is allocated and counted as in \cref{ground}, and every copy is a |memcpy|.

@<The host's memory@>=
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

const struct buffers buffers_host = @[{ .is_host = true,@|
  .alloc = host_alloc, .release = host_release,@|
  .working = host_working, .set = host_copy, .get = host_copy, .copy = host_copy }@];

@ A key or a value in float32 is stored as it is.

@<The host's memory@>=
void kv_encode_f32(const float *x, size_t n, void *to)
{@+ memcpy(to, x, n * sizeof *x);@+ }

@ The second half of the header has the functions that every table whose memory is the host's can use, and what a pass asks of a table before it begins.

@<What is asked of a table@>=
void host_split(const struct engine *e, const float *x, size_t rows, size_t n,
  size_t width, float *const *y);
  /* |split| of all tables whose memory is the host's */
void host_gather(const struct engine *e, const float *x, size_t d,
  const size_t *which, size_t n, float *y);
  /* |gather| of all tables whose memory is the host's */
void host_write(const struct engine *e, const struct attention_dims *h,
  const struct segment *list, size_t n, kv_encode *encode, const float *k,
  const float *v);
  /* |write| of all tables whose memory is the host's */
@<The rest of the plain table@>@;
bool kernels_check_types(const struct kernels *k, uint32_t types,
  const char *what, struct error *why);
  /* whether |linear| can multiply matrices of all |types|, bits as in |matrix_types|; a sentence
     about |what| that names the first it cannot, and those it can */
enum { TYPES_TEXT = 8 * N_WEIGHT_TYPES };
  /* room for the names of all types */
void kernels_list_types(uint32_t types, char text[TYPES_TEXT]);
  /* the names of |types|, bits as in |matrix_types|, as in \.{F32, F16 or BF16} */
void kernels_list_words(uint32_t types, char text[TYPES_TEXT]);
  /* what users call them, the types of many bits first, as in \.{f32, f16 or q8\_0} */
bool kernels_check_activations(const struct kernels *k, enum activations asked,
  uint32_t types, const char *what, struct error *why);
  /* whether |k| has a product of the format |asked| for one of |types|, those of a model's matrices; else a sentence
     about |what| */
bool activations_find(const char *name, enum activations *format,
  struct error *why);
  /* the format called \.{f32}, \.{bf16} or \.{int8}; a sentence if it is none of them */
enum activations activations_of(enum activations asked, enum weight_type type);
  /* the format in which a matrix of |type| is multiplied: the one |asked| for if |type| has a product with it, else
     the type's default, which is float, or int8 for types in blocks; never |ACTIVATIONS_DEFAULT| */
void kernels_multiply(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y);
  /* |linear|, |linear_int8| or |linear_bf16|, for each of the |n| matrices the one of its format */
bool kernels_self_test(const struct kernels *k, struct error *why);
  /* false and a sentence if the build contracts |a*b+c| or has no exact |fma|;
     |model_forward| refuses to run then */
size_t kernels_scratch(const struct attention_dims *h, size_t max_len);
  /* floats that one worker of |attend| needs when no row sees more than |max_len|
     positions */

@ The plain table has nine functions in which there is no arithmetic of a model.

@<The rest of the plain table@>=
void plain_mark_nonfinite(const struct engine *e, const float *x, size_t rows,
  size_t d, uint32_t mark, uint32_t none, uint32_t *first);
  /* |mark_nonfinite| of the plain table */
size_t plain_room(const struct matrix *list, size_t n, size_t rows);
  /* |room| of the plain table: none */
size_t plain_attention_room(const struct attention_dims *h, size_t rows, size_t max_len);
  /* |attention_room| of the plain table: none */
size_t plain_prepared_bytes(const struct matrix *w, enum activations format);
  /* |prepared_bytes| of the plain table: none */
void plain_prepare(const struct matrix *w, enum activations format, void *to);
  /* |prepare| of the plain table, never called */
float plain_mul_add_unfused(float a, float b, float c);
  /* |mul_add_unfused| of the plain table */
float plain_mul_add_fused(float a, float b, float c);
  /* |mul_add_fused| of the plain table */
uint64_t plain_probe_flops(uint64_t n, float *left);
  /* |probe_flops| of the plain table */
float plain_probe_bandwidth(const float *x, size_t n);
  /* |probe_bandwidth| of the plain table */

@ Moving numbers about is the same for every table whose memory is the host's, so these functions are shared.

@<Move rows about@>=
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

@ The plain table wants no workspace and no copies of weights; a row is finite if all its numbers are; its measures are a chain of multiply--adds and a sum.

@<Prepare, measure and test, plainly@>=
void plain_mark_nonfinite(const struct engine *e, const float *x, size_t rows,
  size_t d, uint32_t mark, uint32_t none, uint32_t *first)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < d; i++)
      if (first[r] == none && !isfinite(x[r * d + i])) first[r] = mark;
}
size_t plain_room(const struct matrix *list, size_t n, size_t rows)
{@+ (void) list, (void) (n + rows);@+ return 0;@+ }
size_t plain_attention_room(const struct attention_dims *h, size_t rows, size_t max_len)
{@+ (void) h, (void) (rows + max_len);@+ return 0;@+ }
size_t plain_prepared_bytes(const struct matrix *w, enum activations format)
{@+ (void) w, (void) format;@+ return 0;@+ }
void plain_prepare(const struct matrix *w, enum activations format, void *to)
{@+ (void) w, (void) format;@+ (void) to;@+ }
float plain_mul_add_unfused(float a, float b, float c)
{@+ return a * b + c;@+ }
float plain_mul_add_fused(float a, float b, float c)
{@+ return fmaf(a, b, c);@+ }
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

@ The range of a row follows from its position and the window, as in |store_window_start| (\cref{sec:rows}). As long as the window reaches back to
the sinks, there is no hole: the row sees everything from 0.

@<Find the range of a row@>=
struct kv_range segment_range(const struct segment *s, uint32_t i)
{
  uint32_t at = s->first_position + i, lo = 0;
  if (s->window > 0 && at >= s->window) lo = at + 1 - s->window;
  bool hole = s->view.sinks < lo;
  return (struct kv_range) @[{ hole ? lo : 0, at + 1, hole ? s->view.sinks : 0 }@];
}

@ Attention keeps two numbers and a vector for each block of 256 positions, and a range of $n$ positions touches
at most two blocks more than it fills.

@<Room for attention@>=
size_t kernels_scratch(const struct attention_dims *h, size_t max_len)
{@+ return (max_len / 256 + 2) * ((size_t) h->head_dim + 2);@+ }

@ |tensor_number| reads one number of any type. What is in a block, and what number it stands for, is the subject of \cref{model/quantization}.
The plain kernels of \cref{model} call it for every weight, and a number that stands alone is found without the two divisions
that find a block.

@<One number of a tensor@>=
float tensor_number(struct tensor t, size_t i)
{
  const unsigned char *p = t.data;
  uint16_t h;
  float x;
  switch (t.type) {
  case WEIGHT_F32: memcpy(&x, p + 4 * i, sizeof x);@+ return x;
  case WEIGHT_F16: memcpy(&h, p + 2 * i, sizeof h);@+ return num_from_f16(h);
  case WEIGHT_BF16: memcpy(&h, p + 2 * i, sizeof h);@+ return num_from_bf16(h);
  case WEIGHT_Q8_0: case WEIGHT_Q4_0: OTHER_BLOCKS: break;
  }
  size_t at = i % number_types[t.type].block;
  return block_number(t.type, p + weight_row_bytes(t.type, i - at), at);
}

@* What is refused before a pass. \label{sec:refused}
A table of kernels has loops of its own for each type of weight, and need not have them for all types. A type that a table cannot multiply is refused, and the message lists those that it can, as in \.{F32, F16 or BF16}. Users have words of their own for the types, and read them with the largest first.

@<Refuse types that a table cannot multiply@>=
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
{@+ list_types(types, false, text);@+ }
void kernels_list_words(uint32_t types, char text[TYPES_TEXT])
{@+ list_types(types, true, text);@+ }

@ If several types are missing, the first is named. A longer message would not help, since the model cannot be used with these kernels anyway.

@<Refuse types that a table cannot multiply@>=
bool kernels_check_types(const struct kernels *k, uint32_t types,
  const char *what, struct error *why)
{
  char wanted[TYPES_TEXT];
  uint32_t missing = types & ~k->matrix_types;
  unsigned t = 0;
  if (missing == 0) return true;
  while ((missing >> t & 1) == 0) t++;
  kernels_list_types(k->matrix_types, wanted);
  return error_say(why, "%s: matrices of %s; wanted: %s, which"@|
    " the kernels %s multiply", what, number_types[t].name, wanted, k->name);
}

@ The caller may ask for another format of activations than the default (\cref{model/quantization}). A model in which no matrix has a product with it is refused: the option would do nothing, and the user would believe that it did.

@<Refuse types that a table cannot multiply@>=
bool kernels_check_activations(const struct kernels *k, enum activations asked,
  uint32_t types, const char *what, struct error *why)
{
  char found[TYPES_TEXT], wanted[TYPES_TEXT];
  uint32_t can = asked == ACTIVATIONS_INT8 ? k->int8_types : k->bf16_types;
  if (asked == ACTIVATIONS_DEFAULT || asked == ACTIVATIONS_F32) return true;
  if ((types & can) != 0)@+ return true;
  kernels_list_types(types, found);
  kernels_list_types(can, wanted);
  return error_say(why, "%s: %s activations for matrices of %s;"@|
    " wanted: matrices of %s", what, asked == ACTIVATIONS_INT8 ? "int8" : "bf16",
    found, wanted);
}

@ In a model whose matrices have several types, each takes the format asked for if its type has a product with it, and its default otherwise. Neighbours of the same format go to the kernel together; the others get a call of their own.

@<Multiply each matrix in its format@>=
bool activations_find(const char *name, enum activations *format, struct error *why)
{
  static const char *const word[] = @[{ "f32", "bf16", "int8" }@];
  for (int i = 0; i < 3; i++) {
    *format = (enum activations) (ACTIVATIONS_F32 + i);
    if (strcmp(name, word[i]) == 0)@+ return true;
  }
  return error_say(why, "activations `%s'; wanted: f32, bf16 or int8", name);
}
enum activations activations_of(enum activations asked, enum weight_type type)
{
  bool blocks = number_types[type].block > 1;
  if (asked == ACTIVATIONS_F32)@+ return asked;
  if (asked == ACTIVATIONS_BF16 && type == WEIGHT_BF16)@+ return asked;
  return blocks ? ACTIVATIONS_INT8 : ACTIVATIONS_F32;
}
void kernels_multiply(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  const struct kernels *k = e->k;
  for (size_t i = 0, end; i < n; i = end) {
    enum activations of = activations_of(e->activations, list[i].weight.type);
    for (end = i + 1; end < n; end++)
      if (activations_of(e->activations, list[end].weight.type) != of)@+ break;
    if (of == ACTIVATIONS_INT8) k->linear_int8(e, list + i, end - i, x, rows, y + i);
    else if (of == ACTIVATIONS_BF16)
      k->linear_bf16(e, list + i, end - i, x, rows, y + i);
    else k->linear(e, list + i, end - i, x, rows, y + i);
  }
}

@ \label{sec:selftest}Two entries of a table serve a test of the build only. |mul_add_unfused| is what the compiler has made of |a*b+c| in the table's own file: two roundings if it obeyed, one if it
\emph{contracted} product and sum into one instruction. |mul_add_fused| is the multiply--add of the kernels. To tell them apart we need three numbers for which one rounding and two make a difference. With $a=1+2^{-12}$ the square is
$1+2^{-11}+2^{-24}$; rounded to a float it loses the last term, exactly half a unit in the last place, to the even
neighbour. So $a\cdot a-(1+2^{-11})$ is 0 with two roundings and $2^{-24}$ with one.

A build that fails would compute good logits, but not those of every other build, and its user could not see it. So it refuses to compute any. The modes of rounding are set for the test as for a pass: those of the caller say nothing about the build.

@<Refuse a build that rounds otherwise@>=
bool kernels_self_test(const struct kernels *k, struct error *why)
{
  float a = 0x1.001p0f, c = -0x1.002p0f;
  struct float_modes modes;
  float_modes_begin(&modes);
  float two = k->mul_add_unfused(a, a, c), one = k->mul_add_fused(a, a, c);
  float_modes_end(&modes);
  if (two != 0.0f)
    return error_say(why, "kernels %s: this build contracts a*b+c"@|
      " into one rounding; compile with -ffp-contract=off", k->name);
  if (one != 0x1p-24f)
    return error_say(why, "kernels %s: the multiply-add of this"@|
      " machine rounds twice; wanted: one rounding", k->name);
  return true;
}

@ All of this is one file, which every table shares.

@(kernel.c@>=
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "model/quantization.h"
@;@#
@<One number of a tensor@>@;
@<The host's memory@>@;
@<Move rows about@>@;
@<Prepare, measure and test, plainly@>@;
@<Refuse types that a table cannot multiply@>@;
@<Multiply each matrix in its format@>@;
@<Refuse a build that rounds otherwise@>@;
@<Find the range of a row@>@;
@<Room for attention@>@;

@* Settings. \label{sec:allsettings}
The settings of a model are a structure of numbers and switches. The sizes have the names that the book uses for them everywhere. The switches tell GPT-2 from Llama and its kin:
LayerNorm or RMSNorm, a learned vector for each position or rotations, a gate in the MLP or none, a bias here and there. The
pass asks these switches and never for the name of a family. Which layers have a window is kept in a bit for each, and only if the file lists them;
otherwise all layers from |window_from| on have it.
@^window@>

What else must know a setting? Its reader must know its bounds. The command that shows a model's settings prints it. A file that we write must say it, and is read again to see whether it does. The formula for a model's memory may count it. A device may be unable to compute it. If each of these had a list of its own, a new setting would be missing from one of them, and nobody would notice until a model wrote nonsense. So there is one table, with a row for each setting; even the structure is made of its rows.

@(settings.h@>=
#ifndef INCIPIT_SETTINGS_H
#define INCIPIT_SETTINGS_H
#include "model/kernel.h"
#include "model/rope.h"
@<What the model's maker suggests for sampling@>@;
@<The settings of a model@>@;
#endif

@ Before the structure come the limits of its lists.

@<The settings of a model@>=
enum { CONFIG_MAX_EOS = 16, CONFIG_MAX_LISTED = 1024 };
  /* the most end tokens that settings may name, and the most layers whose windows may be listed */
struct ignored_field { const char *file, *field, *reason; };
  /* a setting that changes nothing, and why we think so */
@<Make the structure of the rows@>@;

@ The rows are a file that is included twice: here each row becomes a member of the structure, and in \.{model.c} an entry of a table. Two macros stand for the two kinds of rows. |SETTING| is one number or switch, |PART| is anything else.

@<Make the structure of the rows@>=
typedef uint32_t setting_COUNT; /* positions, widths, numbers of things */
typedef double setting_REAL; /* a factor, or a small number beside a sum */
typedef bool setting_FLAG; /* a switch */
typedef enum activation_kind setting_CURVE; /* which function the MLP applies */
#define SETTING(kind, name, ...) setting_##kind name;
#define PART(type, name, length) type name length;
struct model_config {
#include "model/settings.inc"
};
  /* the settings of a model; positions, widths and counts are numbers of elements */
#undef SETTING
#undef PART

@ In the table a row is found by its number, |SETTING_d_model| for |d_model|. It says where in the structure the number is, and how to treat it.

@<The settings of a model@>=
enum setting_kind { SETTING_COUNT, SETTING_REAL, SETTING_FLAG, SETTING_CURVE };
  /* |uint32_t|, |double|, |bool|, |enum activation_kind| */
#define SETTING(kind, name, ...) @[SETTING_##name,@]
#define PART(type, name, length)
@[enum {@]
#include "model/settings.inc"
@[  N_MODEL_SETTINGS };@]@;
  /* the numbers of the rows */
#undef SETTING
#undef PART
struct setting {
  const char *name;
  enum setting_kind kind;
  size_t at; /* in |struct model_config| */
  double min, max;
  bool shown, same, sized, device;
};
  /* whether a listing shows it; whether a file must keep it; whether the number of weights
     depends on it; whether a device's kernels know it */
extern const struct setting config_setting[N_MODEL_SETTINGS];
  /* one for each number and switch */
double setting_value(const struct setting *s, const struct model_config *c);
  /* what |c| has there; of a switch 0 or 1 */
void setting_put(const struct setting *s, struct model_config *c, double x);
  /* puts |x|, which is within the bounds, there */
bool kernels_check_settings(const struct kernels *k, const struct model_config *c,
  const char *path, struct error *why);
  /* whether |k| knows every setting that is not zero; a host's kernels know all. Error: the first that it
     does not know, by name */

@ \label{sec:settingrows}Here are the rows. After the kind and the name come the least and the greatest value that a file may give. Then four words. A setting is |shown| or |hidden| when a user asks for the settings. It is the |same| in a file that we write, or a reason makes it |other| (a window, for instance, is not written, and \cref{sec:ggufsettings} says why). The number of weights is |sized| by it or |free| of it, and a test changes each setting to see whether the word is true. Finally, |device| says that a device's kernels compute it; a model in which a setting with the word |host| is on is refused there by the name of the setting. The sizes come first, because \cref{sec:modelsettings} prints them.

@(settings.inc@>=
PART(const char *, family, )@; /* \.{"gpt2"}, \.{"llama"}, \dots: its |model_type| */
SETTING(COUNT, vocab_size, 1, MOST, shown, same, sized, device)@; /* tokens */
SETTING(COUNT, n_positions, 1, MOST, shown, same, sized, device)@; /* the longest text */
SETTING(COUNT, d_model, 1, MOST, shown, same, sized, device)@; /* numbers in a hidden state */
SETTING(COUNT, d_inner, 1, MOST, shown, same, sized, device)@; /* and within the MLP */
SETTING(COUNT, n_layers, 1, MOST, shown, same, sized, device)@;
SETTING(COUNT, n_heads, 1, MOST, shown, same, sized, device)@; /* of queries */
SETTING(COUNT, n_kv_heads, 1, MOST, shown, same, sized, device)@; /* of keys and values */
SETTING(COUNT, head_dim, 1, MOST, shown, same, sized, device)@; /* numbers in each */
@<The rows of the switches@>@;
@<The rows of windows, and what is no single number@>@;

@ A window is a count, and so its row is among the sizes: a row sees so many positions, itself included, and 0 means all. The switches come in the order in which a row of a pass meets them. Scores are |scaled| by $1/\sqrt{d_h}$, and |scaled_by_layer| by one over the layer's number. A model without |layer_norm| has RMSNorm, one without |learned_positions| has rotations, one that is not |gated| has a plain MLP.

@<The rows of the switches@>=
SETTING(COUNT, window, 1, MOST, shown, other, free, device)@;
SETTING(REAL, norm_eps, 0, 1, shown, same, free, device)@;
SETTING(FLAG, scaled, 0, 1, shown, same, free, device)@;
SETTING(FLAG, scaled_by_layer, 0, 1, shown, same, free, device)@;
SETTING(FLAG, layer_norm, 0, 1, shown, same, sized, device)@;
SETTING(FLAG, learned_positions, 0, 1, shown, same, sized, device)@;
SETTING(FLAG, gated, 0, 1, shown, same, sized, device)@;
SETTING(FLAG, qkv_bias, 0, 1, shown, same, sized, device)@;
SETTING(FLAG, out_bias, 0, 1, shown, same, sized, device)@;
SETTING(FLAG, mlp_bias, 0, 1, shown, same, sized, device)@;
SETTING(FLAG, qk_norm, 0, 1, shown, same, sized, device)@;
SETTING(FLAG, tied, 0, 1, shown, same, sized, device)@;
SETTING(CURVE, activation, 0, 2, hidden, same, free, device)@;

@ What is left of windows is worked out while the settings are read, or belongs to a store. The other parts of the structure are no single numbers, and the code that reads and writes them knows each of them by name.

@<The rows of windows, and what is no single number@>=
SETTING(COUNT, window_from, 0, MOST, hidden, other, free, device)@; /* the first layer that has it */
SETTING(COUNT, sinks, 0, MOST, hidden, other, free, device)@; /* first positions that are seen besides */
SETTING(FLAG, window_used, 0, 1, hidden, other, free, device)@;
SETTING(FLAG, window_listed, 0, 1, hidden, other, free, device)@;
PART(uint8_t, windowed, [CONFIG_MAX_LISTED / 8])@; /* if listed, a bit for each layer */
PART(struct rope_config, rope, )@;
PART(uint32_t, n_eos, )@;
PART(uint32_t, eos, [CONFIG_MAX_EOS])@; /* the ids that end a text */
PART(const char *, eos_from, )@; /* the file that gave them; null: none did */
PART(bool, has_bos, )@;
PART(uint32_t, bos, )@; /* the id that begins one */
PART(struct sampling_defaults, sampling, )@;
PART(struct ignored_field *, ignored, )@;
PART(size_t, n_ignored, )@;
PART(size_t, ignored_cap, )@;

@ Two questions are asked of the settings again and again, so they have functions: how far back a layer sees, and whether it can be made to see less.

@<The settings of a model@>=
uint32_t config_window(const struct model_config *c, uint32_t layer);
  /* positions that a row sees in |layer|, itself included; 0: all */
bool config_set_window(struct model_config *c, uint32_t window, uint32_t sinks,
  struct error *why);
  /* makes all layers see the last |window| positions, 0: all, and the first |sinks|;
     errors: sinks without a window, or in a model with learned positions (Xiao and
     others 2023) */

@ The maker of a model may leave advice on how to choose tokens. The advice is kept with the settings, and
\cref{sampling} follows it.

@<What the model's maker suggests for sampling@>=
struct sampling_defaults {
  bool do_sample;
  double temperature, top_p, min_p, typical_p, repetition_penalty;
  uint32_t top_k, no_repeat_ngram_size;
}; /* what is not given has the value that does nothing */

@ A store asks for the window of each of its layers.

@<Ask for the window of a layer@>=
uint32_t config_window(const struct model_config *c, uint32_t layer)
{
  bool near = c->window_listed
    ? c->windowed[layer / 8] >> layer % 8 & 1 : layer >= c->window_from;
  return near ? c->window : 0;
}

@ If memory is short you can ask for a window in all layers of a model that was made without one. The model itself is not changed, since others may be reading it: the window belongs to the store in which a text is kept, and the store sets it in a copy of the
settings (\cref{sec:pages}). \Cref{accounts} measures how much is lost, and how much of that the \emph{sinks} save, the first few positions, which stay visible for ever. With sinks a text may go on without end; its positions are not renumbered. A table of learned positions has an end, so a model with learned positions gets no sinks.

@<Ask for the window of a layer@>=
bool config_set_window(struct model_config *c, uint32_t window, uint32_t sinks,
  struct error *why)
{
  if (sinks > 0 && window == 0)
    return error_say(why, "%u sinks without a window; wanted: a window, or no"@|
      " sinks", sinks);
  if (sinks > 0 && c->learned_positions)
    return error_say(why, "%u sinks for a model whose positions are learned;"@|
      " wanted: none, or a model that turns its keys", sinks);
  c->window = window, c->sinks = sinks;
  c->window_from = 0, c->window_listed = false;
  return true;
}

@ The words of a row become truth values, and its kind and name become the members of an entry. With one number for every kind the callers need no case for each.

@<The table of settings@>=
enum { MOST = 0x7fffffff, setting_hidden = 0, setting_shown = 1, setting_other = 0,@|
  setting_same = 1, setting_free = 0, setting_sized = 1, setting_host = 0,@|
  setting_device = 1 };
#define SETTING(kind, name, min, max, shown, same, sized, device) \
  @[{ #name, SETTING_##kind, offsetof(struct model_config, name), min, max, \
    setting_##shown, setting_##same, setting_##sized, setting_##device },@]
#define PART(type, name, length)
@[const struct setting config_setting[N_MODEL_SETTINGS] = {@]
#include "model/settings.inc"
@[};@]@;
#undef SETTING
#undef PART
double setting_value(const struct setting *s, const struct model_config *c)
{
  const char *at = (const char *) c + s->at;
  switch (s->kind) {
  case SETTING_COUNT:@+ return *(const uint32_t *) (const void *) at;
  case SETTING_REAL:@+ return *(const double *) (const void *) at;
  case SETTING_FLAG:@+ return *(const bool *) at;
  case SETTING_CURVE:@+ return *(const enum activation_kind *) (const void *) at;
  }
  return 0;
}

@ The way back is as short.

@<The table of settings@>=
void setting_put(const struct setting *s, struct model_config *c, double x)
{
  void *at = (char *) c + s->at;
  switch (s->kind) {
  case SETTING_COUNT:@+ *(uint32_t *) at = (uint32_t) x;@+ break;
  case SETTING_REAL:@+ *(double *) at = x;@+ break;
  case SETTING_FLAG:@+ *(bool *) at = x != 0;@+ break;
  case SETTING_CURVE:@+ *(enum activation_kind *) at = (enum activation_kind) x;
  }
}

@ A device that lacks a switch would leave it out, and nothing in the result would show it.

@<The table of settings@>=
bool kernels_check_settings(const struct kernels *k, const struct model_config *c,
  const char *path, struct error *why)
{
  for (int i = 0; i < N_MODEL_SETTINGS && !k->memory->is_host; i++)
    if (!config_setting[i].device && setting_value(&config_setting[i], c) != 0)
      return error_say(why, "%s: has a setting that kernels %s do not know, %s;"@|
        " wanted: the host's kernels", path, k->name, config_setting[i].name);
  return true;
}

@ The table and the two questions are a file.

@(model.c@>=
#include <stddef.h>
#include "model/model.h"
@;@#
@<The table of settings@>@;
@<Ask for the window of a layer@>@;

@ A model that is to read longer texts than it was trained on has its rotations slowed down. There are three ways to do it, and
\cref{sec:wheels} derives them. They change the frequencies and nothing in the pass, except that one of them, YaRN, also multiplies all
cosines and sines by a number near 1, the \emph{attention factor}, so that the scores of longer texts come out a little larger. The structure has the settings of all
four kinds; a model whose file says nothing is of the first kind, and for it only |theta| counts.
@^YaRN@>@^attention factor@>

@(rope.h@>=
#ifndef INCIPIT_ROPE_H
#define INCIPIT_ROPE_H
#include <stdbool.h>
#include <stdint.h>
enum rope_kind { ROPE_PLAIN, ROPE_LINEAR, ROPE_LLAMA3, ROPE_YARN };
  /* how frequencies are changed for longer texts: not at all, or by one of three methods */
struct rope_config {
  enum rope_kind kind;
  double theta, factor; /* the base; how many times longer texts become */
  uint32_t original; /* positions that the model was first trained on */
  double low_freq_factor, high_freq_factor; /* llama3, in turns */
  double beta_slow, beta_fast; /* yarn, in turns */
  double attention_factor, mscale, mscale_all_dim; /* yarn; 0: none */
  bool truncate;
}; /* Su and others 2021; Chen 2023; Grattafiori 2024; Peng 2023 */
double rope_frequency(double theta, uint32_t i, uint32_t half);
  /* $\theta^{-i/n}$ for $n={}$|half|, the frequency of pair |i|; in double, not yet rounded */
double rope_attention(const struct rope_config *r);
  /* what cosines and sines are multiplied by: 1, or yarn's |attention_factor| */
#endif

@* What all stores have in common. \label{sec:storecommon}
The pass works with any kind of store (\cref{sec:rows}). This header has what it sees of one; the array is in chapter 2 and the cache in \cref{cache}.
@^store@>

@(store.h@>=
#ifndef INCIPIT_STORE_H
#define INCIPIT_STORE_H
#include "model/model.h"
struct row {@+ uint32_t sequence, position, token;@+ };
  /* a token at a position (from 0) of a sequence (from 0) */
@<The functions of a kind of store@>@;
@<What all stores have in common@>@;
@<What a pass asks of a store, and what its owner asks@>@;
@<A store that is an array@>@;
#endif

@ A kind of store is a table of functions.

@<The functions of a kind of store@>=
struct store;
struct store_kind {
  bool (*begin)(struct store *s, struct error *why);
    /* finds a place for each of |rows|, or refuses; sets |rows_recomputed| */
  void (*end)(struct store *s, bool commit);
    /* the rows belong to the store from now on, or have never been */
  void (*view)(const struct store *s, uint32_t layer, uint32_t sequence,
    struct kv_view *v);
    /* as |store_view|, without the sinks */
  size_t (*length)(const struct store *s, uint32_t sequence);
  const uint32_t *(*tokens)(const struct store *s, uint32_t sequence);
  void (*crop)(struct store *s, uint32_t sequence, size_t length);
  bool (*fork)(struct store *s, uint32_t from, uint32_t to, struct error *why);
    /* as the functions |store_length|, \dots, |store_fork|; |fork| may be null */
  void (*close)(struct store *s);
    /* frees the store itself and what its kind has allocated */
};
  /* what kinds of store do differently */

@ All stores have a few numbers in common, copied from the model's settings, and the rows of the pass that is going on. A layer's |window| says how many positions a row sees there; a model may be told to keep the first few positions visible as well, the |sinks| of \cref{sec:sinks}. Two numbers are for the counters, because only the store knows them.

@<What all stores have in common@>=
struct store {
  const struct store_kind *kind;
  struct memory *m; /* where passes through this store take their memory */
  const struct buffers *memory; /* where its keys and values are; |store_prepare|: the host's */
  kv_encode *encode; /* writes them in the type in which they are kept; |store_prepare|: float32 */
  uint32_t n_sequences, n_positions; /* the most it holds */
  uint32_t n_layers, n_kv_heads, head_dim; /* of the model */
  uint32_t sinks, *window; /* first positions that are always seen; |[n_layers]|, how
    many a row sees in each layer, 0: all */
  size_t row_bytes; /* keys and values of one row in one layer, as stored */
  const struct row *rows; size_t n_rows; /* of the present pass; 0 between passes */
  size_t rows_visible, rows_recomputed;
};
  /* |rows_visible|: rows of the store that some
     row of the present pass sees in the layer last given to |store_segments|;
     |rows_recomputed|: rows of the pass that an earlier pass had computed, with the same
     tokens up to there, set by |store_begin| */

@ A pass begins, asks layer by layer for the \emph{segments} of its rows, and ends in one of two ways. A segment is a run of consecutive rows of one sequence. They share a view, in which each row sees one position more than the row before; the same view says where to write their keys and values.
@^segment@>

@<What a pass asks of a store, and what its owner asks@>=
bool store_begin(struct store *s, const struct row *rows, size_t n,
  struct error *why);
  /* accepts a pass of |n| rows or refuses it: a sequence or position out of
     range, a gap, a position given twice or stored already; |rows| must live
     until the end of the pass */
size_t store_segments(struct store *s, uint32_t layer, size_t most,
  struct segment *list);
  /* the segments of the pass in |layer|, each of at most |most| $\ge1$ rows; returns how many,
     which is at most the number of rows */
void store_view(const struct store *s, uint32_t layer, uint32_t sequence,
  struct kv_view *v);
  /* where the keys and values of a sequence are in |layer|, those of the present pass among them */
void store_commit(struct store *s);
  /* ends the pass: its rows belong to the store */
void store_abort(struct store *s);
  /* ends the pass as if it had not been */

@ Between passes a sequence can be measured, cropped, and in some stores copied.
@^crop@>

@<What a pass asks of a store, and what its owner asks@>=
size_t store_length(const struct store *s, uint32_t sequence);
  /* the rows that |sequence| has: the position that comes next */
const uint32_t *store_tokens(const struct store *s, uint32_t sequence);
  /* |[store_length]|: their tokens; owned by the store, valid until its next pass */
void store_crop(struct store *s, uint32_t sequence, size_t length);
  /* forgets the rows of |sequence| from position |length| on, but not which tokens
     have been computed; a text that is not longer stays as it is. A store that has let go of rows
     that the next row sees forgets all */
void store_clear(struct store *s);
  /* crops all sequences to nothing */
size_t store_window_start(const struct store *s, uint32_t layer, size_t position);
  /* the first position that a row at |position| sees in |layer|, sinks aside */
bool store_fork(struct store *s, uint32_t from, uint32_t to, struct error *why);
  /* makes the empty sequence |to| equal to |from|, without computing anything;
     errors: a kind of store that cannot, |to| has rows, a number out of range, a pass
     going on, memory; then |to| is empty */
void store_close(struct store *s);
  /* returns the memory; does nothing for null */

@ The array of chapter 2 needs two functions: one that fills in what is common, and one that opens it.

@<A store that is an array@>=
bool store_prepare(struct store *s, const struct store_kind *kind,
  struct memory *m, const struct model_config *c, uint32_t n_sequences,
  struct error *why);
  /* fills in the part that all kinds of store have in common */
struct store *array_store_open(struct memory *m, const struct model_config *c,
  struct error *why);
  /* an empty store for one text of a model, in float32; null
     if memory is refused. Owned by the caller, and closed by |store_close| */

@ What can be refused without knowing the kind of store is refused here, so no kind has to ask. The sequences are checked first, because everything else uses them as an index.

@<Begin and end a pass of a store@>=
bool store_begin(struct store *s, const struct row *rows, size_t n,
  struct error *why)
{
  if (n == 0 || s->n_rows > 0)
    return error_say(why, n == 0 ? "the pass has no rows; wanted: 1 or more"
      : "the store is in a pass; wanted: its end");
  for (size_t i = 0; i < n; i++)
    if (rows[i].sequence >= s->n_sequences)
      return error_say(why, "row %zu is of sequence %" PRIu32 "; wanted:"@|
        " below %" PRIu32, i, rows[i].sequence, s->n_sequences);
  s->rows = rows, s->n_rows = n;
  if (s->kind->begin(s, why)) return true;
  s->n_rows = 0;
  return false;
}
static void store_end(struct store *s, bool commit)
{
  s->kind->end(s, commit);
  s->n_rows = 0;
}
void store_commit(struct store *s)@+ {@+ store_end(s, true);@+ }
void store_abort(struct store *s)@+ {@+ store_end(s, false);@+ }

@ Without a window a row sees from position 0 on; with one, the last |window| positions, its own among them. Positions outside the window are left out of the sum, not multiplied by zero.

@<Show a pass what its rows see@>=
size_t store_window_start(const struct store *s, uint32_t layer, size_t position)
{
  size_t window = s->window[layer];
  bool windowed = window > 0 && position >= window;
  return windowed ? position - window + 1 : 0;
}
void store_view(const struct store *s, uint32_t layer, uint32_t sequence,
  struct kv_view *v)
{
  s->kind->view(s, layer, sequence, v);
  v->sinks = s->sinks;
}

@ How many rows of the store does a pass look at, if each counts once however many rows look at it? Every row of the pass sees itself. The first new row of a sequence also sees the rows that were stored before, from the start of its window on, and the sinks; the rows after it see nothing that has not been counted.

@<Show a pass what its rows see@>=
static void count_visible(struct store *s, uint32_t layer)
{
  s->rows_visible = s->n_rows;
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct row *r = &s->rows[i];
    size_t start = store_window_start(s, layer, r->position);
    if (r->position == store_length(s, r->sequence))
      s->rows_visible += r->position - start + (s->sinks < start ? s->sinks : start);
  }
}

@ The segments are found by going through the rows in the order in which they came. A row belongs to the segment of the row before it if it has the same sequence and the next position. Rows that come
in another order make shorter segments and give the same result.

@<Show a pass what its rows see@>=
static bool continues(const struct segment *l, const struct row *before,
  const struct row *r)
{
  return r->sequence == before->sequence
    && r->position == l->first_position + l->n_rows;
}
size_t store_segments(struct store *s, uint32_t layer, size_t most,
  struct segment *list)
{
  const struct row *r = s->rows;
  size_t n = 0;
  count_visible(s, layer);
  for (size_t i = 0; i < s->n_rows; i++) {
    if (n > 0 && list[n - 1].n_rows < most
        && continues(&list[n - 1], &r[i - 1], &r[i])) {
      list[n - 1].n_rows++;
      continue;
    }
    struct segment *l = &list[n++];
    *l = (struct segment) @[{ .first_row = (uint32_t) i, .n_rows = 1,@|
      .first_position = r[i].position, .window = s->window[layer] }@];
    store_view(s, layer, r[i].sequence, &l->view);
  }
  return n;
}

@ The other functions pass the call on. A fork is refused where it makes no sense in any store.

@<Pass the call on to the kind of store@>=
size_t store_length(const struct store *s, uint32_t sequence)
{@+ return s->kind->length(s, sequence);@+ }
const uint32_t *store_tokens(const struct store *s, uint32_t sequence)
{@+ return s->kind->tokens(s, sequence);@+ }
void store_crop(struct store *s, uint32_t sequence, size_t length)
{@+ s->kind->crop(s, sequence, length);@+ }
void store_clear(struct store *s)
{
  for (uint32_t i = 0; i < s->n_sequences; i++) store_crop(s, i, 0);
}
bool store_fork(struct store *s, uint32_t from, uint32_t to, struct error *why)
{
  if (s->kind->fork == NULL)
    return error_say(why, "this store cannot fork; wanted: a cache");
  uint32_t larger = from > to ? from : to;
  if (larger >= s->n_sequences)
    return error_say(why, "there is no sequence %" PRIu32 "; wanted: below %"
      PRIu32, larger, s->n_sequences);
  size_t length = store_length(s, to);
  if (s->n_rows > 0 || length > 0)
    return error_say(why, s->n_rows > 0 ? "the store is in a pass; wanted:"
      " its end" : "sequence %" PRIu32 " has %zu rows; wanted: none", to, length);
  return s->kind->fork(s, from, to, why);
}

@ Opening a store of any kind begins with the numbers that it needs of the settings, and closing it ends with the windows. The settings themselves are not kept, because they contain lists that belong to the model. |row_bytes| counts a key and a value in float32; a store of smaller numbers says less.

@<Prepare and close a store@>=
bool store_prepare(struct store *s, const struct store_kind *kind,
  struct memory *m, const struct model_config *c, uint32_t n_sequences,
  struct error *why)
{
  *s = (struct store) @[{ .kind = kind, .m = m, .sinks = c->sinks,@|
    .memory = &buffers_host, .encode = kv_encode_f32,@|
    .n_sequences = n_sequences, .n_positions = c->n_positions,@|
    .n_layers = c->n_layers, .n_kv_heads = c->n_kv_heads,@|
    .head_dim = c->head_dim,@|
    .row_bytes = 2 * sizeof(float) * c->n_kv_heads * c->head_dim }@];
  s->window = memory_alloc(m, MEMORY_OTHER, c->n_layers, sizeof *s->window, why);
  for (uint32_t i = 0; s->window != NULL && i < c->n_layers; i++)
    s->window[i] = config_window(c, i);
  return s->window != NULL;
}
void store_close(struct store *s)
{
  if (s == NULL)@+ return;
  memory_free(s->m, s->window);
  s->kind->close(s);
}

@ These functions are one file.

@(store.c@>=
#include <inttypes.h>
#include "model/store.h"
@;@#
@<Begin and end a pass of a store@>@;
@<Show a pass what its rows see@>@;
@<Pass the call on to the kind of store@>@;
@<Prepare and close a store@>@;

@* The interface of a pass. \label{sec:passheader}
A pass is alive until it is closed, and takes its memory from the store's. Its hidden
states are those after the last layer, before the last norm: that norm belongs to the head, and is done only for the rows whose logits are wanted.

@(forward.h@>=
#ifndef INCIPIT_FORWARD_H
#define INCIPIT_FORWARD_H
#include "model/counters.h"
#include "model/store.h"
@<What a pass leaves behind@>@;
@<A watcher@>@;
@<From rows to hidden states@>@;
@<From hidden states to logits and probabilities@>@;
#endif


@ Rows keep the order in which the caller gave them.

@<What a pass leaves behind@>=
struct pass {
  struct memory *m;@+ const struct buffers *memory;
  size_t n;@+ uint32_t d_model;
  bool head_read; /* the head's weights have been counted for this pass */
  float *hidden; /* |[n][d_model]|, in the order of the rows, in |memory| */
  uint32_t *first_bad_layer; /* |[n]| */
};
  /* the hidden states of |n| rows after the last layer; |first_bad_layer|: the layer, from 1, after which a row first held a
     number that is not finite, 0 if its embedding did, |PASS_FINITE| if none */
enum {@+ PASS_FINITE = 0x7fffffff@+ };
  /* no layer: every number of the row is finite */

@ A watcher is called at every stage of every layer with the numbers as they are. What
it writes there is what the pass goes on with.

@<A watcher@>=
enum tap_point { TAP_EMBEDDING, TAP_NORM, TAP_QUERY, TAP_KEY, TAP_VALUE,
  TAP_WEIGHTS, TAP_MIXED, TAP_ATTENTION, TAP_MLP_NORM, TAP_INNER,
  TAP_MLP, TAP_LAYER };
  /* |[n][d_model]| but for: queries and mixed values |[n][n_heads][head_dim]|, keys
     and values |[n][n_kv_heads][head_dim]|, after rotation; attention weights
     |[n][n_heads][max_seen]|; inner |[n][d_inner]|. |TAP_ATTENTION| and |TAP_MLP| are
     what is added to the residual stream, |TAP_LAYER| is the stream after it */
typedef void tap_fn(void *ctx, enum tap_point point, uint32_t layer, float *x,
  size_t rows, size_t width);
  /* |x| is |[rows][width]|, belongs to the pass, and may be changed */
struct watcher {@+ tap_fn *tap;@+ void *ctx;@+ bool weights;@+ };
  /* |weights|: attention weights are wanted, too */

@ The functions take the engine first. Then come the model, which none of them changes, and the store, which is all of a text that stays from one pass
to the next.

@<From rows to hidden states@>=
bool model_forward(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, struct pass **made, struct error *why);
  /* puts |n| rows through all layers and commits them to the store; |*made| is owned
     by the caller. On failure nothing has been stored and there is no pass. It is a failure, too, if
     |e->progress|, which is asked between the layers and at least every 64 rows, gives the pass up */
bool model_forward_watched(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, const struct watcher *watch, struct pass **made,
  struct error *why);
  /* the same, with a watcher; a null |watch| is none */
void pass_close(struct pass *p);
  /* returns the memory of a pass; null is nothing */
bool pass_is_finite(const struct model *lm, const struct pass *p, size_t i,
  struct error *why);
  /* true if the hidden state of row |i| is finite; else a sentence that names the layer */

@ From a hidden state to an answer it is two steps more, and a caller may want only the first:
logits of some rows, or the log-probability of a whole text. A row that is not asked for costs no product with the vocabulary.

@<From hidden states to logits and probabilities@>=
bool model_logits(struct engine *e, const struct model *lm, struct pass *p,
  const size_t *which, size_t n, float *logits, struct error *why);
  /* logits |[n][vocab_size]| of the rows |which[0]|\dots, in that order, each
     below |p->n|; a row may be named twice */
bool model_evaluate(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, const size_t *which, size_t wanted,
  float *logits, struct error *why);
  /* the naive way: empties the store, runs |n| ids through one pass as sequence 0,
     and gives the logits |[wanted][vocab_size]| of the positions |which| */
bool model_logprobs(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, double *logprob, double *sum, struct error *why);
  /* natural logarithms of the probability of each id after those before it,
     |logprob[i]| for |i| from 1 on; |logprob[0]| is 0, and stands for nothing; |*sum|
     adds them in order. A logit that is not finite is an error */

@* The arrays of a pass. \label{sec:arrays}
A pass needs many arrays. They are allocated before the first layer and freed
after the last, so that memory cannot be refused in the middle of the work. They come from an \emph{arena} (\cref{sec:memory}). If the engine has workers, their pool keeps
one (\cref{sec:poolheader}), and the next pass finds the same blocks there: a pass of a small model is over so soon that allocating, zeroing and freeing the
blocks would be noticed. Without workers the arena lasts for this pass, and one call frees it all.
@^arena@>

The queries of a row have |n_heads*head_dim| numbers, its keys and its values |n_kv_heads*head_dim| each. No array has a dimension for the layer: each layer overwrites what the one before has left, and only the stream |x| goes
through.

@(work.h@>=
#ifndef INCIPIT_WORK_H
#define INCIPIT_WORK_H
#include "model/forward.h"
@<The arrays@>@;
@<What is done with the arrays@>@;
#endif

@ The arrays of numbers come first, then what they are made for and the memory they are in.

@<The arrays@>=
enum {@+ N_LENT = 4@+ };
  /* how many arrays may come from a backend's memory */
struct work {
  size_t n, q_width, kv_width; /* rows; numbers in all heads of a query, of a key */
  float *x; /* the residual stream, |[n][d_model]| */
  float *normed, *added; /* |[n][d_model]| */
  float *q, *k, *v, *mixed; /* |[n][q_width]| and, of |k| and |v|, |[n][kv_width]| */
  float *inner, *up; /* |[n][d_inner]| */
  float *cosine, *sine; /* |[n][head_dim/2]| */
  struct engine *e;@+ struct store *s;@+ struct pass *p;
  const struct model *lm;@+ const struct watcher *watch;
  bool goes_on; /* the pass has not been given up */
  size_t done; /* how far the pass is, for |progress|: of |n| rows, in proportion to the layers done */
  uint32_t *id, *position;
  struct segment *seen;@+ size_t n_seen; /* at most |n| */
  size_t max_seen; /* the longest range that a row sees */
  float *fused, *scratch, *weights; /* for attention */
  const struct buffers *memory;
  struct arena own, *d; /* |d| is |own| or the pool's */
  struct float_modes modes; /* the caller's */
  uint32_t *first_bad; /* |[n]|, as |p->first_bad_layer|, in |memory| */
  void *lent[N_LENT];@+ int n_lent; /* what is not from the arena */
  float *shown; /* the host's copy of an array for the watcher */
  float *spare; /* where the numbers of a head are put into our order */
};
  /* a pass while it is made */

@ A pass is checked, opened, and closed whether it succeeded or not. In between, three functions do with all rows what a kernel does with some.

@<What is done with the arrays@>=
bool work_check(struct work *w, const struct row *rows, struct error *why);
  /* whether kernels, model, store and rows fit together; finds |max_seen| */
bool work_open(struct work *w, struct error *why);
  /* opens the pass |p| and allocates the arrays; to be closed even if it fails */
bool work_close(struct work *w, bool done, struct error *why);
  /* frees the arrays; |p| stays. |done|: the pass has been made. Whether it has, and nothing failed in the memory of the backend */
void work_multiply(struct work *w, const struct matrix *list, size_t n,
  const float *x, float *const *y);
  /* |linear| for all rows, some at a time */
void work_gather_pairs(struct work *w);
  /* puts the two numbers of each pair of |q| and |k|, which are neighbours, half a head apart */
void work_segments(struct work *w, uint32_t layer);
  /* the segments |seen|, with the store's views of |layer| */
void work_attend(struct work *w, const struct attention_dims *h, bool weights);
  /* |attend| for all segments, some at a time; |weights|: keep the weights, too */
void work_mark(struct work *w, uint32_t layer);
  /* marks the rows that are no longer finite after |layer| layers */
void work_tap(struct work *w, enum tap_point point, uint32_t layer, float *x,
  size_t width);
  /* shows the watcher |x|, |[n][width]| */

@ The sizes come from the settings, which the shapes of the weights have confirmed; a
product with the number of rows is checked by |memory_alloc|. An array that a kind of model does not use has no numbers.
The arrays that have a vector for each row of the pass are neighbours in one block, |rows|. This block is proportional to the number of rows and does not depend on how long the text is.

@<Allocate the arrays of a pass@>=
enum {@+ N_ARRAYS = 11@+ };
struct pass_array {@+ float **at;@+ size_t width;@+ }; /* where its address goes; numbers a row */
static bool arrays_open(struct work *w, struct error *why)
{
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, half = c->head_dim / 2;
  w->q_width = (size_t) c->n_heads * c->head_dim;
  w->kv_width = (size_t) c->n_kv_heads * c->head_dim;
  bool fused = w->lm->layers[0].n_qkv == 1, gated = w->lm->layers[0].n_up == 2;
  struct pass_array part[N_ARRAYS] = @[{ { &w->normed, c->d_model },@|
    { &w->fused, fused ? 3 * w->q_width : 0 }, { &w->q, w->q_width },@|
    { &w->k, w->kv_width }, { &w->v, w->kv_width }, { &w->mixed, w->q_width },@|
    { &w->added, c->d_model }, { &w->inner, c->d_inner },@|
    { &w->up, gated ? c->d_inner : 0 }, { &w->cosine, half }, { &w->sine, half } }@];
  size_t width = 0;
  for (int i = 0; i < N_ARRAYS; i++) width += part[i].width;
  float *rows = work_array(w, n, width * sizeof *rows, why);
  for (int i = 0; i < N_ARRAYS && rows != NULL; i++) {
    *part[i].at = rows;
    rows += n * part[i].width;
  }
  @<Take what places and attention need@>@;
  return !w->d->refused && reserve_room(w, why);
}

@ The other arrays are not as wide as a row. Attention needs scratch memory for each worker, since several heads are computed at the same time; and if a watcher wants to see the
weights, an array that is as wide as the longest range: the one array here that grows with the square of a prompt.

@<Take what places and attention need@>=
  enum memory_class what = MEMORY_ACTIVATIONS;
  w->id = arena_alloc(w->d, what, n, sizeof *w->id, why);
  w->position = arena_alloc(w->d, what, n, sizeof *w->position, why);
  w->seen = arena_alloc(w->d, what, n, sizeof *w->seen, why);
  w->scratch = work_array(w, pool_workers(w->e->pool),
    kernels_scratch(&w->lm->attention, w->max_seen) * sizeof (float), why);
  size_t copied = w->memory->is_host ? 0 : n * w->q_width;
  if (w->lm->neighbours)
    w->spare = arena_alloc(w->d, what, copied + c->head_dim, sizeof (float), why);
  bool weights = w->watch != NULL && w->watch->weights;
  size_t all = n * c->n_heads, wide = w->max_seen * sizeof (float);
  w->weights = weights ? work_array(w, all, wide, why) : NULL;
  @<Take what only a pass in other memory needs@>@;

@ The arrays that kernels fill are in the memory of the backend (\cref{sec:backend}). If that is the host, they come from the arena, which may have kept them. Other memory is allocated by the backend
and released at the end of the pass; a backend that wants to keep it for the next one can do so itself.

@<Allocate an array in the memory of the backend@>=
static void *work_array(struct work *w, size_t count, size_t size, struct error *why)
{
  const struct buffers *b = w->memory;
  if (b->is_host)
    return arena_alloc(w->d, MEMORY_ACTIVATIONS, count, size, why);
  void *p = w->d->refused ? NULL
    : b->alloc(b, w->s->m, MEMORY_ACTIVATIONS, count, size, why);
  if (p == NULL)@+ w->d->refused = true;
  else w->lent[w->n_lent++] = p;
  return p;
}
static void work_release(struct work *w)
{
  while (w->n_lent > 0)
    w->memory->release(w->memory, w->s->m, w->lent[--w->n_lent]);
}

@ A pass in other memory needs two more arrays: the marks of rows that are not finite, which are copied to the host at the end, and, if there is a watcher, an array on the host for
what it is shown.

@<Take what only a pass in other memory needs@>=
  w->first_bad = w->p->first_bad_layer;
  if (!w->memory->is_host) {
    size_t shown[] = @[{ c->d_model, c->d_inner, w->q_width, w->kv_width,@|
      weights ? c->n_heads * w->max_seen : 0 }@], most = 0;
    for (int i = 0; i < 5; i++)
      if (shown[i] > most)@+ most = shown[i];
    w->first_bad = work_array(w, n, sizeof *w->first_bad, why);
    if (w->watch != NULL)
      w->shown = arena_alloc(w->d, what, n, most * sizeof (float), why);
  }

@ The kernels say how much workspace the linear layers and the attention of a model need (\cref{sec:room}). All layers have matrices of the same shapes, so it is enough to ask for the first.

@<Reserve a workspace for the kernels@>=
static bool reserve_room(const struct work *w, struct error *why)
{
  const struct kernels *k = w->e->k;
  const struct model_layer *l = &w->lm->layers[0];
  size_t n = w->n, most = k->room(l->qkv, l->n_qkv, n);
  size_t others[] = @[{ k->room(&l->out, 1, n), k->room(l->up, l->n_up, n),@|
    k->room(&l->down, 1, n),@| k->attention_room(&w->lm->attention, n, w->max_seen) }@];
  for (int i = 0; i < 4; i++)
    if (others[i] > most) most = others[i];
  return pool_reserve(w->e->pool, most, why);
}

@ The stream of the layers is the pass's own array of hidden states from the start, so that nothing has to be copied at the end. The marks go to the backend's memory and come back.

@<Open and close the work@>=
bool work_open(struct work *w, struct error *why)
{
  const struct buffers *b = w->memory;
  struct arena *kept = pool_arena(w->e->pool, w->s->m);
  w->own = (struct arena) @[{ .m = w->s->m }@];
  w->d = kept != NULL ? kept : &w->own;
  w->p = pass_open(w->s->m, b, w->n, w->lm->config.d_model, why);
  if (w->p == NULL || !arrays_open(w, why)) return false;
  w->x = w->p->hidden;
  if (!b->is_host)
    b->set(b, w->first_bad, w->p->first_bad_layer, w->n * sizeof *w->first_bad);
  return true;
}
bool work_close(struct work *w, bool done, struct error *why)
{
  const struct buffers *b = w->memory;
  size_t marks = w->n * sizeof *w->first_bad;
  if (done && !b->is_host) b->get(b, w->p->first_bad_layer, w->first_bad, marks);
  work_release(w);
  arena_free(&w->own);
  if (w->d != &w->own)@+ arena_reset(w->d);
  return done && b->working(b, why);
}

@* Checks. \label{sec:passchecks}
Ids are checked against the vocabulary here, positions by the
store. An id is an index into a table of weights, and no earlier check knew the size of the table. The longest range that a row sees decides how much scratch memory attention
needs. It is at most the context: a row beyond that is going to be refused by the store, and must not ask for memory before.

@<Check the ids, and find the longest range@>=
static bool rows_check(const struct model *lm, const struct row *rows, size_t n,
  size_t context, size_t *max_len, struct error *why)
{
  *max_len = 1;
  if (n == 0)@+ return error_say(why, "the pass has no rows; wanted: 1 or more");
  for (size_t i = 0; i < n; i++) {
    if (rows[i].token >= lm->config.vocab_size)
      return error_say(why, "the token of row %zu is %" PRIu32 "; wanted:"@|
        " below %" PRIu32 ", the size of the vocabulary", i, rows[i].token,
        lm->config.vocab_size);
    if (rows[i].position >= *max_len) *max_len = (size_t) rows[i].position + 1;
  }
  if (*max_len > context)@+ *max_len = context;
  return true;
}

@ Kernels can read keys and values only in their own memory. So a store has to be opened for the memory of the kernels that will use it.

@<Compare the memories of kernels and store@>=
static bool same_memory(const struct engine *e, const struct store *s,
  struct error *why)
{
  if (s->memory == e->k->memory)@+ return true;
  return error_say(why, "the store's keys and values are not in the memory of the"@|
    " kernels %s; wanted: a store that was opened for these kernels", e->k->name);
}

@ A build in which |a*b+c| is contracted against our orders is refused, so that no pass is ever computed
with other bits than those of the definition. So is a table of kernels that cannot multiply the model's matrices: the model was checked for one table when it was opened, but the engine may have another.

@<Check the kernels, the store and the rows@>=
bool work_check(struct work *w, const struct row *rows, struct error *why)
{
  const struct kernels *k = w->e->k;
  return kernels_self_test(k, why)
    && kernels_check_settings(k, &w->lm->config,
      tensor_file_path(w->lm->weights), why)
    && kernels_check_types(k,
      w->lm->matrix_types, tensor_file_path(w->lm->weights), why)
    && kernels_check_activations(k, w->e->activations, w->lm->matrix_types,
      tensor_file_path(w->lm->weights), why)
    && same_memory(w->e, w->s, why)
    && rows_check(w->lm, rows, w->n, w->s->n_positions, &w->max_seen, why);
}

@* Some rows at a time. \label{sec:rowsatonce}
Nearly all of the time of a pass is spent in products with matrices and in attention, and a person who presses Ctrl-C does not want to wait for all rows of a layer. So if the caller
wants to be asked whether to go on (\cref{sec:progress}), these two take some rows at a time and ask in between. Each row is computed from its own numbers, whichever rows
come with it, so the bits are the same. Otherwise all rows go at once.

How many at a time? A matrix is read again for each group of rows, so the groups should be large. But a group should take no more than some hundredths of a second, so of a large matrix it must not have many rows. We allow as many rows as
need |MADDS_AT_ONCE| multiply--adds, and in any case |ROWS_AT_ONCE|, with which reading the matrix takes a small part of the time.

@<Multiply, some rows at a time@>=
enum { ROWS_AT_ONCE = 64, MADDS_AT_ONCE = 1000000000 };
static size_t rows_at_once(const struct work *w, const struct matrix *list,
  size_t n, size_t from)
{
  size_t left = w->n - from, most = 0;
  for (size_t i = 0; i < n; i++) most += list[i].in * list[i].out;
  most = MADDS_AT_ONCE / most;
  if (most < ROWS_AT_ONCE) most = ROWS_AT_ONCE;
  return w->e->progress == NULL || left < most ? left : most;
}

@ Attention is asked for fewer rows, as each of them looks at many positions.

@<Multiply, some rows at a time@>=
static size_t segments_at_once(const struct work *w, size_t from)
{
  size_t k = from, rows = 0;
  if (w->e->progress == NULL) return w->n_seen - from;
  while (k < w->n_seen && (rows += w->seen[k].n_rows) <= ROWS_AT_ONCE) k++;
  return k - from;
}
static void ask_to_go_on(struct work *w)
{
  w->goes_on = w->goes_on && progress_tell(w->e->progress, w->done, w->n);
}

@ A product of all rows is a loop over groups of them. |list| has at most three matrices, and each has results of its own, so for each the place moves on by as many rows.

@<Multiply, some rows at a time@>=
void work_multiply(struct work *w, const struct matrix *list, size_t n,
  const float *x, float *const *y)
{
  for (size_t r = 0, here; r < w->n && w->goes_on; r += here) {
    float *part[3];
    here = rows_at_once(w, list, n, r);
    for (size_t i = 0; i < n; i++) part[i] = y[i] + r * list[i].out;
    kernels_multiply(w->e, list, n, x + r * list->in, here, part);
    ask_to_go_on(w);
  }
}

@ A rotation turns numbers |i| and |i+half| of a head together. \label{sec:pairs} In some files the rows of the matrices are in another order, so that the two numbers come out as neighbours (\cref{sec:layouts}). We could put the rows in order when the model is opened; an earlier version did, and copied a tenth of the weights before the first token. It is
cheaper to put the results in order, which are some numbers for each row of a pass. No sum changes, since each number is the same product wherever it is stored. If the memory is not the host's, the numbers make a journey to the host and back; a backend for which that is too slow can have a kernel for it.

@<Multiply, some rows at a time@>=
static void gather_heads(float *x, size_t heads, size_t half, float *one)
{
  for (size_t h = 0; h < heads; h++, x += 2 * half) {
    for (size_t i = 0; i < half; i++)
      one[i] = x[2 * i], one[half + i] = x[2 * i + 1];
    memcpy(x, one, 2 * half * sizeof *x);
  }
}
static void gather_rows(struct work *w, float *x, size_t heads)
{
  const struct buffers *b = w->memory;
  size_t d = w->lm->config.head_dim, bytes = heads * d * sizeof *x;
  float *at = b->is_host ? x : w->spare + d;
  if (!b->is_host) b->get(b, at, x, bytes);
  gather_heads(at, heads, d / 2, w->spare);
  if (!b->is_host) b->set(b, x, at, bytes);
}
void work_gather_pairs(struct work *w)
{
  gather_rows(w, w->q, w->n * w->lm->config.n_heads);
  gather_rows(w, w->k, w->n * w->lm->config.n_kv_heads);
}

@ The keys and values of all rows are stored before the first row attends, so it does not matter which rows attend together. The segments are taken a few at a time if the caller wants to be asked, and then the store makes none longer than |ROWS_AT_ONCE|.

@<Multiply, some rows at a time@>=
void work_segments(struct work *w, uint32_t layer)
{
  w->n_seen = store_segments(w->s, layer,
    w->e->progress == NULL ? w->n : ROWS_AT_ONCE, w->seen);
}
void work_attend(struct work *w, const struct attention_dims *h, bool weights)
{
  struct attention_probe probe = @[{ w->weights, w->max_seen }@];
  for (size_t k = 0, here; k < w->n_seen && w->goes_on; k += here) {
    here = segments_at_once(w, k);
    w->e->k->attend(w->e, h, w->q, w->seen + k, here, w->scratch, w->mixed,
      weights ? &probe : NULL);
    ask_to_go_on(w);
  }
}

@* What a pass shows, and what is left of it. \label{sec:taps}
Each step of a pass shows the watcher what it has made. Without a watcher this is one comparison, a dozen times a layer. The watcher is the caller's code, and
runs under the caller's floating-point modes; ours are set again after it. If the array is not in the host's memory, the watcher sees a copy, and what it changes there is copied back.

@<Show the watcher a stage@>=
void work_tap(struct work *w, enum tap_point point, uint32_t layer, float *x,
  size_t width)
{
  const struct buffers *b = w->memory;
  size_t bytes = w->n * width * sizeof *x;
  if (w->watch == NULL)@+ return;
  if (!b->is_host)@+ b->get(b, w->shown, x, bytes);
  float_modes_end(&w->modes);
  w->watch->tap(w->watch->ctx, point, layer, b->is_host ? x : w->shown, w->n, width);
  float_modes_begin(&w->modes);
  if (!b->is_host)@+ b->set(b, x, w->shown, bytes);
}

@ A weight that is not a number makes everything after it not a number, and the answer is
then an error and not a token. Where it began is cheap to find while the rows are at
hand, and cannot be found afterwards. So after the embedding and after each layer a kernel marks the rows that have just ceased to be finite.

@<Note the rows that are no longer finite@>=
void work_mark(struct work *w, uint32_t layer)
{
  w->e->k->mark_nonfinite(w->e, w->x, w->n, w->lm->config.d_model, layer, PASS_FINITE,
    w->first_bad);
}

@ The pass itself outlives the arena, because the caller decides later which of its rows shall have logits. It
holds the hidden states, and for each row the layer after which it was no longer finite. Of its three requests each may be refused; what has been granted
by then goes back through |pass_close|, which accepts a pass that is half open.

@<Open and close a pass@>=
static struct pass *pass_open(struct memory *m, const struct buffers *b, size_t n,
  uint32_t d_model, struct error *why)
{
  struct pass *p = memory_alloc(m, MEMORY_ACTIVATIONS, 1, sizeof *p, why);
  if (p == NULL)@+ return NULL;
  *p = (struct pass) @[{ .m = m, .memory = b, .n = n, .d_model = d_model }@];
  p->hidden = b->alloc(b, m, MEMORY_ACTIVATIONS, n, d_model * sizeof(float), why);
  if (p->hidden != NULL)
    p->first_bad_layer = memory_alloc(m, MEMORY_ACTIVATIONS, n,
      sizeof *p->first_bad_layer, why);
  for (size_t i = 0; p->first_bad_layer != NULL && i < n; i++) p->first_bad_layer[i]
    = PASS_FINITE;
  if (p->first_bad_layer != NULL)@+ return p;
  pass_close(p);
  return NULL;
}

@ A pass knows its sizes, and the memory it came from; so it can be closed without store or model at hand.

@<Open and close a pass@>=
void pass_close(struct pass *p)
{
  if (p == NULL)@+ return;
  memory_free(p->m, p->first_bad_layer);
  p->memory->release(p->memory, p->m, p->hidden);
  memory_free(p->m, p);
}

@ A caller that cannot use a row that is not finite asks before. The message names the file of the weights and the layer.

@<Say where a row stopped being finite@>=
bool pass_is_finite(const struct model *lm, const struct pass *p, size_t i,
  struct error *why)
{
  uint32_t at = p->first_bad_layer[i];
  if (at == PASS_FINITE)@+ return true;
  if (at == 0)
    return error_say(why, "%s: the embedding of row %zu is not finite;"@|
      " wanted: finite logits", tensor_file_path(lm->weights), i);
  return error_say(why, "%s: row %zu is not finite after"@| " layer %" PRIu32
    " of %" PRIu32 "; wanted: finite logits", tensor_file_path(lm->weights), i, at,
    lm->config.n_layers);
}

@ Together these are the file that goes with the forward pass.

@(pass.c@>=
#include <inttypes.h>
#include <string.h>
#include "model/work.h"
#include "safetensors/tensor_file.h"
@;@#
@<Open and close a pass@>@;
@<Say where a row stopped being finite@>@;
@<Check the ids, and find the longest range@>@;
@<Compare the memories of kernels and store@>@;
@<Check the kernels, the store and the rows@>@;
@<Allocate an array in the memory of the backend@>@;
@<Reserve a workspace for the kernels@>@;
@<Allocate the arrays of a pass@>@;
@<Open and close the work@>@;
@<Show the watcher a stage@>@;
@<Note the rows that are no longer finite@>@;
@<Multiply, some rows at a time@>@;

@* The model of the hand calculation. \label{sec:toy}
The model of the hand calculation (\cref{model}) is a |struct model|, as if it had come out of a file, so that what runs is the engine itself and not a copy of it that
was made for the occasion. All its numbers are in one |struct toy|, one after the other, so that an experiment can fill them at random. It is linked to the program of the chapter and to those of the laboratory, and is no part of the library.

@(toy.h@>=
#ifndef INCIPIT_TOY_H
#define INCIPIT_TOY_H
#include "model/forward.h"
@<A model of four words@>@;
#endif

@ The vocabulary has four words, the last of which ends a text. A \emph{trace} is what a watcher has kept of one pass.

@<A model of four words@>=
enum {@+ TOY_WORDS = 4, TOY_WIDTH = 4, TOY_PLACES = 16, TOY_STOP = 3@+ };
  /* tokens, numbers in a row, positions; the token that ends a text */
struct toy {
  float token[TOY_WORDS][TOY_WIDTH], place[TOY_PLACES][TOY_WIDTH];
  float query[TOY_WIDTH][TOY_WIDTH], key[TOY_WIDTH][TOY_WIDTH];
  float value[TOY_WIDTH][TOY_WIDTH], joined[TOY_WIDTH][TOY_WIDTH];
  float gate[TOY_WIDTH], up[TOY_WIDTH], down[TOY_WIDTH];
  float asked[TOY_WORDS][TOY_WIDTH];
  struct model_layer only;
  struct model lm;
};
  /* its numbers, and the model around them; |lm| points into the rest, so a toy is not to be moved */
void toy_make(struct toy *y);
  /* fills in the numbers of the box and the model around them */
struct toy_trace {
  float x[TAP_LAYER + 1][8 * TOY_PLACES], logits[TOY_WORDS * TOY_PLACES];
  double chance[TOY_WORDS * TOY_PLACES];
};
  /* every stage of a pass, and the logits and probabilities of every row */
bool toy_look(struct engine *e, const struct toy *y, struct store *s,
  const uint32_t *ids, size_t n, struct toy_trace *a, struct error *why);
  /* runs |n| tokens in an empty store and keeps what there was to see; errors: those of |model_forward| */
void toy_scores(const struct toy_trace *a, int r, int h, float score[3]);
  /* of head |h| in row |r|, for the keys of the first three */
bool toy_print(struct engine *e, const struct toy *y, struct store *s,
  struct error *why);
  /* prints what the hand has computed, and what the model says after each row */

@ The file makes the model first, and then looks at it.

@(toy.c@>=
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "model/toy.h"
#include "functions/numbers.h"
@;@#
@<Fill in the numbers of the box@>@;
@<Put a model around the numbers@>@;
@<Look at the rows on their way@>@;
@<Print the attention of one head@>@;
@<Print the way of the last row@>@;
@<Do what the hand did, and print it@>@;

@ Matrices are stored with a row for each output; those that only multiply each number by a factor
have it in their diagonal. The corners of a square serve twice, as tokens and as positions, and the four positions repeat for ever.

@<Fill in the numbers of the box@>=
static void toy_by_hand(struct toy *y)
{
  static const float corner[4][2] = @[{ {1, 1}, {1, -1}, {-1, 1}, {-1, -1} }@];
  static const int place[4] = @[{ 0, 1, 3, 2 }@];
  static const float query[TOY_WIDTH] = @[{ -0.8f, 0.4f, -0.4f, 0.8f }@];
  static const float joined[TOY_WIDTH] = @[{ 1, 0.5f, -1, 0.5f }@];
  static const float asked[TOY_WORDS][TOY_WIDTH] =
    @[{ {0, 0, -1, 0}, {0, -1, 0, -1}, {0, 0, 0, 1}, {-1, 0, 1, 0} }@];
  memset(y, 0, sizeof *y);
  for (int i = 0; i < TOY_WIDTH; i++) {
    memcpy(y->token[i], corner[i], sizeof corner[i]);
    y->query[i][i] = query[i], y->key[i][i] = 1;
    y->value[i][i % 2] = 1, y->joined[i][i] = joined[i];
  }
  for (int p = 0; p < TOY_PLACES; p++)
    memcpy(y->place[p] + 2, corner[place[p % 4]], sizeof corner[0]);
  y->gate[0] = 0.5f, y->gate[2] = -1;
  y->up[2] = 1;
  y->down[0] = 1, y->down[2] = -1;
  memcpy(y->asked, asked, sizeof asked);
}

@ The model around the numbers has RMSNorm without a gain, three matrices that make queries, keys and values, and a gated MLP of one number.
Nothing is copied; each matrix of the model points to its place in the |struct toy|.

@<Put a model around the numbers@>=
static struct matrix around(const float *x, size_t in, size_t out)
{
  return (struct matrix) @[{ .weight = { x, WEIGHT_F32 }, .in = in, .out = out }@];
}
void toy_make(struct toy *y)
{
  struct norm bare = @[{ .kind = NORM_RMS, .epsilon = 0 }@];
  toy_by_hand(y);
  y->only = (struct model_layer) @[{ .attn_norm = bare, .mlp_norm = bare,@|
    .qkv = { around(y->query[0], 4, 4), around(y->key[0], 4, 4),
      around(y->value[0], 4, 4) }, .n_qkv = 3,@|
    .out = around(y->joined[0], 4, 4), .n_up = 2,@|
    .up = { around(y->gate, 4, 1), around(y->up, 4, 1) },@|
    .down = around(y->down, 1, 4) }@];
  @<The settings of four words@>@;
}

@ The settings mix the families, GPT-2's learned positions with Llama's gate, because the hand calculation is easiest so. The
engine doesn't mind: it asks for each thing by itself, and never for the family.

@<The settings of four words@>=
y->lm.config = (struct model_config) @[{ .family = "llama",@|
  .vocab_size = TOY_WORDS, .n_positions = TOY_PLACES, .d_model = TOY_WIDTH,@|
  .d_inner = 1, .n_layers = 1, .n_heads = 2, .n_kv_heads = 2,@|
  .head_dim = 2, .learned_positions = true, .gated = true }@];
y->lm.layers = &y->only, y->lm.final_norm = bare;
y->lm.embedding = (struct tensor) @[{ y->token[0], WEIGHT_F32 }@];
y->lm.positions = (struct tensor) @[{ y->place[0], WEIGHT_F32 }@];
y->lm.head = around(y->asked[0], TOY_WIDTH, TOY_WORDS);
y->lm.attention = (struct attention_dims) @[{ 2, 2, 2, 0.70710678f }@];
y->lm.layer_madds = 4 * TOY_WIDTH * TOY_WIDTH + 3 * TOY_WIDTH;

@ A watcher keeps a copy of every stage, all rows of it. |toy_look| runs a pass with that watcher, and asks the head about every row. A model of four words can afford it.

@<Look at the rows on their way@>=
static void keep_all(void *ctx, enum tap_point point, uint32_t layer, float *x,
  size_t rows, size_t width)
{
  struct toy_trace *a = ctx;
  (void) layer;
  memcpy(a->x[point], x, rows * width * sizeof *x);
}
bool toy_look(struct engine *e, const struct toy *y, struct store *s,
  const uint32_t *ids, size_t n, struct toy_trace *a, struct error *why)
{
  struct row rows[TOY_PLACES];@+ size_t all[TOY_PLACES];
  struct watcher w = @[{ keep_all, a, true }@];
  struct pass *p = NULL;
  for (size_t i = 0; i < n; i++)
    all[i] = i, rows[i] = (struct row) @[{ 0, (uint32_t) i, ids[i] }@];
  store_clear(s);
  bool ok = model_forward_watched(e, &y->lm, s, rows, n, &w, &p, why)
    && model_logits(e, &y->lm, p, all, n, a->logits, why);
  if (ok)@+ e->k->softmax(e, a->logits, n, TOY_WORDS, a->chance);
  pass_close(p);
  return ok;
}

@ Scores and exponentials never leave the kernel, so the scores are computed again from the queries and keys that the watcher saw.

@<Look at the rows on their way@>=
void toy_scores(const struct toy_trace *a, int r, int h, float score[3])
{
  for (int t = 0; t < 3; t++) {
    const float *q = a->x[TAP_QUERY] + r * TOY_WIDTH + 2 * h;
    const float *k = a->x[TAP_KEY] + t * TOY_WIDTH + 2 * h;
    score[t] = (q[0] * k[0] + q[1] * k[1]) * 0.70710678f;
  }
}

@* What the chapter's program prints. \label{sec:toyprints}
Numbers have two decimals, as the hand has written them. The weights are the kernel's own; that they agree with the exponentials above them is the check.

@<Print the attention of one head@>=
static void print_line(const char *name, const float *x, int n)
{
  printf("%-24s", name);
  for (int i = 0; i < n; i++)@+ printf("%6.2f", (double) x[i]);
  printf("\n");
}

@ Scores, exponentials and weights are printed for each head.

@<Print the attention of one head@>=
static void print_head(const struct toy_trace *a, int h)
{
  float score[3], shrunk[3];
  toy_scores(a, 2, h, score);
  float max = fmaxf(score[0], fmaxf(score[1], score[2]));
  for (int t = 0; t < 3; t++) shrunk[t] = num_expf(score[t] - max);
  print_line(h == 0 ? "head A  scores" : "head B  scores", score, 3);
  print_line("        exponentials", shrunk, 3);
  print_line("        weights", a->x[TAP_WEIGHTS] + (2 * 2 + h) * 3, 3);
}

@ The stages are printed in their order, for the third row. The gate and the second number of the MLP are multiplied inside the
engine, so the two are computed again from what the norm left.

@<Print the way of the last row@>=
static void print_way(const struct toy *y, const struct toy_trace *a)
{
  int at = 2 * TOY_WIDTH;
  float middle[3] = @[{ 0, 0, a->x[TAP_INNER][2] }@], h[TOY_WIDTH];
  const float *n = a->x[TAP_MLP_NORM] + at, *added = a->x[TAP_ATTENTION] + at;
  for (int i = 0; i < TOY_WIDTH; i++) {
    middle[0] += y->gate[i] * n[i], middle[1] += y->up[i] * n[i];
    h[i] = a->x[TAP_EMBEDDING][at + i] + added[i];
  }
  print_line("row of sat", a->x[TAP_EMBEDDING] + at, 4);
  print_line("its query", a->x[TAP_QUERY] + at, 4);
  print_head(a, 0);
  print_head(a, 1);
  print_line("mixed values", a->x[TAP_MIXED] + at, 4);
  print_line("added by attention", added, 4);
  print_line("the row", h, 4);
  print_line("normed", n, 4);
  print_line("gate, up, inner", middle, 3);
  print_line("the row", a->x[TAP_LAYER] + at, 4);
  print_line("logits", a->logits + at, 4);
}

@ The text is what the hand was given, and the word that it found. The last four lines have the probabilities of all words after each row; the arrow points to the likeliest, the greedy choice of \cref{loop}.

@<Do what the hand did, and print it@>=
static void print_odds(const char *given, const double *chance)
{
  static const char *const word[] = @[{ "the", " cat", " sat", "." }@];
  int best = 0;
  printf("%-24s", given);
  for (int v = 0; v < TOY_WORDS; v++) {
    printf("%6.2f", chance[v]);
    if (chance[v] > chance[best]) best = v;
  }
  printf("  -> %s\n", word[best]);
}
bool toy_print(struct engine *e, const struct toy *y,
  struct store *s, struct error *why)
{
  static const uint32_t text[4] = @[{ 0, 1, 2, TOY_STOP }@];
  static const char *const given[4] = @[{ "the", "the cat", "the cat sat",@|
    "the cat sat." }@];
  struct toy_trace a;
  if (!toy_look(e, y, s, text, 3, &a, why))@+ return false;
  print_way(y, &a);
  if (!toy_look(e, y, s, text, 4, &a, why))@+ return false;
  printf("\n%-24s%6s%6s%6s%6s\n", "after", "the", " cat", " sat", ".");
  for (int r = 0; r < 4; r++) print_odds(given[r], a.chance + r * TOY_WORDS);
  return true;
}
