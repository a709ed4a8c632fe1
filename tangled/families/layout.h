/* layout.h -- made from workshop/03-models.w; change it there */

#ifndef INCIPIT_LAYOUT_H
#define INCIPIT_LAYOUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* <What a layout is> */

/* what a tensor is for: first those outside the layers, then those of a layer */
enum tensor_role { TENSOR_EMBEDDING, TENSOR_POSITIONS, TENSOR_FINAL_NORM,
  TENSOR_HEAD, TENSOR_ROPE_FACTORS, TENSOR_ROPE_SHORT, TENSOR_ROPE_LONG,
  TENSOR_ATTN_NORM, TENSOR_QKV, TENSOR_Q, TENSOR_K, TENSOR_V,
  TENSOR_Q_NORM, TENSOR_K_NORM, TENSOR_SINKS, TENSOR_OUT, TENSOR_ATTN_POST,
  TENSOR_MLP_NORM, TENSOR_GATE, TENSOR_UP, TENSOR_DOWN, TENSOR_MLP_POST,
  TENSOR_ROUTER, TENSOR_EXPERT_GATE, TENSOR_EXPERT_UP, TENSOR_EXPERT_DOWN,
  TENSOR_SHARED, TENSOR_SHARED_GATE, TENSOR_SHARED_UP, TENSOR_SHARED_DOWN,
  N_TENSOR_ROLES };

/* the name of the tensors of one role, or null if none; permuted is only for queries
   and keys, and for both or none */
struct tensor_naming { const char *pattern; bool transposed, permuted;
  const char *also; /* another name that some files have instead; or null */ };

/* how files of one format name and store the tensors of a family */
struct tensor_layout {
  const char *name, *format; /* the format of the files, as tensor_file_format has it */
  const char *prefix; /* what a tilde stands for, unless a file leaves it out */
  bool sliced; /* queries, keys and values are one matrix, of which the three are slices */
  bool gate_above; /* gate and up are one matrix, and the gate is the upper half */
  bool gate_between; /* gate and up of an expert are one matrix, and their outputs alternate */
  bool norms_apart; /* each head's norm of queries and keys is a tensor of its own */
  const struct tensor_layout *older; /* how older files of this kind have it; or null */
  enum tensor_role told_by; /* of an older layout: which tensor tells such a file */
  struct tensor_naming of[N_TENSOR_ROLES];
};

/* number i of the layouts that we know; null after the last */
const struct tensor_layout *layout_at(size_t i);

/* the one that the row of this family names for this format; or null */
const struct tensor_layout *layout_find(const char *format, const char *family);

/* whether a pass multiplies with one matrix for queries, keys and values */
bool layout_fused(const struct tensor_layout *l);

/* writes the name of what, "weight" or "bias", of a role that the layout has */
void layout_name(const struct tensor_layout *l, enum tensor_role role,
  const char *prefix, uint32_t layer, const char *what, char full[160]);

/* whether each expert's matrix of this role is a tensor of its own; else one tensor
   has all */
bool layout_apart(const struct tensor_layout *l, enum tensor_role role);

/* as layout_name, of an expert's tensor */
void layout_name_of(const struct tensor_layout *l, enum tensor_role role,
  const char *prefix, uint32_t layer, uint32_t expert, const char *what, char full[160]);

/* the other name, if files may have one */
bool layout_also(const struct tensor_layout *l, enum tensor_role role,
  const char *prefix, uint32_t layer, const char *what, char full[160]);
#endif
