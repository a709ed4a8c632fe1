/* network.h -- made from workshop/12-training.w; change it there */

#ifndef INCIPIT_NETWORK_H
#define INCIPIT_NETWORK_H
#include "model/counters.h"
#include "kernels/kernels.h"
#include "gradients/gradients.h"

/* <The network from outside> */

/* a decoder of the Llama type with a tied embedding; d_model, d_inner and head_dim
   are multiples of 16 */
struct model_shape { uint32_t n_layers, d_model, n_heads, n_kv_heads,
  head_dim, d_inner,
  vocab_size, n_positions; };

/* one tensor among the weights, named as in Hugging Face's layout; rows is 1 for a
   gain */
struct parameter { char name[64]; size_t offset, rows, cols; };

/* inputs and targets are [sequences][length]; each loss counts share */
struct batch { const uint32_t *inputs, *targets; size_t sequences, length;
float share; };

/* <A network, opened and looked at> */
struct network;

/* buffers for passes of max_rows rows; owned by the caller, who keeps pool */
struct network *network_open(struct memory *m, const struct model_shape *s,
  size_t max_rows,
  const struct kernels *k, struct pool *pool, struct error *why);

/* the operations it works with */
const struct gradients *network_gradients(const struct network *net);

/* frees its memory; null is allowed */
void network_close(struct memory *m, struct network *net);

/* the number of weights in all */
size_t network_count(const struct network *net);

/* tensor i, or null after the last */
const struct parameter *network_parameter(const struct network *net,
  size_t i);

/* <A network, used> */

/* a pass that keeps its rows */
bool network_forward(struct network *net, const float *w,
  const struct batch *b,
  struct error *why);

/* [rows][vocab_size] of the last forward pass, until its loss is computed */
const float *network_logits(const struct network *net);

/* the loss of every row, [rows]; the logits become their gradients */
void network_loss(struct network *net, const struct batch *b,
  double *losses);

/* adds the gradient of the sum of all losses, times share, to gradient, laid out like
   the weights */
void network_backward(struct network *net, const float *w,
  const struct batch *b,
  float *gradient);
#endif
