/* quantize_plan.h -- which tensors a quantized file has, in which order, and of which type. */

#ifndef INCIPIT_QUANTIZE_PLAN_H
#define INCIPIT_QUANTIZE_PLAN_H
#include "families/layout.h"
#include "model/experts.h"
#include "model/model.h"

/* a tensor of the file: a matrix or a vector of the model under another name. Two things may differ
   besides the type: GPT-2's matrices are stored the other way round (transposed), and the rows of a
   Llama's queries and keys have another order: the two numbers of a pair are neighbours. If half is
   not zero, rows are regrouped in this way, in each head of twice half rows. If head is not zero, the
   model has queries, keys and values by head of keys, and the file in three blocks: head rows are a
   head, and shared heads of queries belong to each of keys. A stack is a tensor of one dimension more:
   so many matrices, or vectors, one after another; those of experts are in as many places, their
   gates and ups perhaps as rows, or columns, of one matrix that alternate. */
struct planned {
  char name[64]; /* the format's names are shorter */
  struct tensor from;
  enum weight_type type;
  size_t in, out, half, head, shared;
  size_t stack; /* 0: none. out counts the rows of all */
  const struct mixture *experts; /* null: from has all; part says which matrix of each */
  int part;
  bool transposed, is_vector;
};

/* how many columns the matrix has in which quantize_row finds a row, if it is transposed */
size_t quantize_columns(const struct planned *p);

/* where row i of the file is in the model: the tensor, and which row of it. From must not be null */
struct tensor quantize_row(const struct planned *p, size_t i, size_t *row);

/* the list, and what it is made of */
struct quantize_plan {
  struct memory *m;
  const struct model *lm;
  const struct tensor_layout *layout;
  enum weight_type type; /* the one that was asked for */
  struct planned *list;
  size_t n, cap;
  float *made; /* the divisors of Llama 3's frequencies, if there are any */
  struct error *why;
};

/* lists the tensors in the order of the calculation; the plan's m, lm, layout, type and why are set,
   and the rest zero. To be freed even on failure */
bool quantize_plan_make(struct quantize_plan *w);

/* frees the list and what was made for it */
void quantize_plan_free(struct quantize_plan *w);
#endif
