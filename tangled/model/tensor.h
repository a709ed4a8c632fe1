/* tensor.h -- weights as a file stores them, and what kernels know of a model's
   shape.
   made from chapters/02-model.w; change it there

   No structure here owns memory: the numbers belong to the mapped files, or to
   whoever made the model. */

#ifndef INCIPIT_TENSOR_H
#define INCIPIT_TENSOR_H
#include "functions/number_type.h"

/* <Numbers as a file stores them> */

/* numbers where they lie in the file (or in memory), little-endian, in any alignment,
   owned by others; null data: there is no such tensor */
struct tensor { const void *data; enum weight_type type; };

/* number i of t, of whatever type, as a float; nothing is rounded */
float tensor_number(struct tensor t, size_t i);

/* a linear layer: weight is [out][in], or [in][out] if transposed (GPT-2's Conv1D);
   bias is [out] or absent */
struct matrix { struct tensor weight, bias; size_t in, out; bool transposed; };

/* the type to which a linear layer rounds its inputs; the default is none, but
   ACTIVATIONS_INT8 for weights in blocks */
enum activations { ACTIVATIONS_DEFAULT, ACTIVATIONS_F32, ACTIVATIONS_BF16,
  ACTIVATIONS_INT8 };

/* <What norms and activations are> */

/* Zhang and Sennrich 2019; Ba, Kiros and Hinton 2016 */
enum norm_kind { NORM_RMS, NORM_LAYER };

/* gain and bias are [d]; each may be absent; NORM_RMS looks at no bias */
struct norm { enum norm_kind kind; struct tensor gain, bias; float epsilon; };

/* Elfwing and others 2017; Hendrycks and Gimpel 2016, approximated and exact */
enum activation_kind { ACTIVATION_SILU, ACTIVATION_GELU_TANH,
  ACTIVATION_GELU_ERF };

/* <The shape of the heads> */

/* n_heads is a multiple of n_kv_heads; scale multiplies each score; cap, if it is not
   0, limits it to cap times the hyperbolic tangent of score over cap; sink: a score
   of each head that belongs to no position, and takes its part of the softmax */
struct attention_dims {
  uint32_t n_heads, n_kv_heads, head_dim; float scale, cap;
  struct tensor sink; /* [n_heads], or none */
};
#endif
