/* backend.h -- made from workshop/08-inside.w; change it there */

#ifndef INCIPIT_BACKEND_H
#define INCIPIT_BACKEND_H
#include "model/kernel.h"

/* <Memory of a backend> */

/* memory of a backend; a backend that must know more of its memory has this as the
   first member of its own structure */
struct buffers {
  bool is_host; /* whether its addresses can be read and written by anyone */
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
};

/* the host's memory */
extern const struct buffers buffers_host;

/* <What is asked of a table> */

/* the kernels of this chapter */
extern const struct kernels kernels_plain;

/* split of all tables whose memory is the host's */
void host_split(const struct engine *e, const float *x, size_t rows, size_t n,
  size_t width, float *const *y);

/* gather of all tables whose memory is the host's */
void host_gather(const struct engine *e, const float *x, size_t d,
  const size_t *which, size_t n, float *y);

/* write of all tables whose memory is the host's */
void host_write(const struct engine *e, const struct attention_dims *h,
  const struct segment *list, size_t n, kv_encode *encode, const float *k, const float *v);

/* whether linear can multiply matrices of all types, bits as in matrix_types; a
   sentence about what that names the first it cannot, and those it can */
bool kernels_check_types(const struct kernels *k, uint32_t types,
  const char *what, struct error *why);

/* the names of the types of matrix_types, as in F32, F16 or BF16 */
void kernels_list_types(const struct kernels *k, char text[64]);

/* false and a sentence if the build contracts a*b+c or has no exact fma;
   model_forward refuses to run then */
bool kernels_self_test(const struct kernels *k, struct error *why);

/* floats that one worker of attend needs when no row sees more than max_len positions */
size_t kernels_scratch(const struct attention_dims *h, size_t max_len);
#endif
