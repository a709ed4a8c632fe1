/* work.h -- a forward pass while it is made: its arrays, and what forward.c asks of
   pass.c.
   made from chapters/02-model.w; change it there

   A struct work lives in the stack frame of one pass. Its arrays come from an arena,
   or from the memory of the backend, and are gone when the pass is closed; p is what
   stays. */

#ifndef INCIPIT_WORK_H
#define INCIPIT_WORK_H
#include "model/forward.h"

/* how many arrays may come from a backend's memory */
enum { N_LENT = 4 };

/* a pass while it is made */
struct work {
  size_t n, q_width, kv_width; /* rows; numbers in all heads of a query, of a key */
  struct engine *e; struct store *s; struct pass *p;
  const struct model *lm; const struct watcher *watch;
  bool goes_on; /* the pass has not been given up */
  size_t done; /* how far the pass is, for progress: of n rows, in proportion to the layers done */
  uint32_t *id, *position;
  struct segment *seen; size_t n_seen; /* at most n */
  size_t max_seen; /* the longest range that a row sees */
  float *fused, *scratch, *weights; /* for attention */
  const struct buffers *memory;
  struct arena own, *d; /* d is own or the pool's */
  struct float_modes modes; /* the caller's */
  uint32_t *first_bad; /* [n], as p->first_bad_layer, in memory */
  void *lent[N_LENT]; int n_lent; /* what is not from the arena */
  float *shown; /* the host's copy of an array for the watcher */
  float *spare; /* where the numbers of a head are put into our order */
  /* <The arrays of a pass> */
  float *x; /* the residual stream, [n][d_model] */
  float *normed, *added; /* [n][d_model] */
  float *q, *k, *v, *mixed; /* [n][q_width] and, of k and v, [n][kv_width] */
  float *inner, *up; /* [n][d_inner], or as wide as an expert; neighbours */
  float *cosine[2], *sine[2]; /* [n][rotary/2]; the second for local_frequency */
  float *router, *gathered, *answered; /* for experts: [n][n_experts], [n][d_model] each */
  struct expert_choice *chosen, *by_expert; /* [n*n_chosen] each */
};

/* <What the steps of a pass call> */

/* whether kernels, model, store and rows fit together; finds max_seen */
bool work_check(struct work *w, const struct row *rows, struct error *why);

/* opens the pass p and allocates the arrays; to be closed even if it fails */
bool work_open(struct work *w, struct error *why);

/* frees the arrays; p stays. done: the pass has been made. True if done and nothing
   failed in the backend's memory */
bool work_close(struct work *w, bool done, struct error *why);

/* puts the two numbers of each pair of q and k, which are neighbours, half a head
   apart */
void work_gather_pairs(struct work *w);

/* multiplies x, [n][width]; 0: leaves it as it is */
void work_scale(const struct work *w, float *x, size_t width, double by);

/* as model_forward */
typedef bool forward_fn(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, struct pass **made, struct error *why);

/* computes, by forward, the rows of each sequence anew that with these rows becomes a
   long text, or is no longer one; true if there is nothing to do */
bool work_turn_anew(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, forward_fn *forward, struct error *why);

/* the angles of rows and layers that do not turn by frequency */
void work_other_angles(struct work *w);

/* the stream, normed, or as it is if the model has no norm there */
void work_norm(struct work *w, const struct norm *g, float *y);

/* fused into q, k and v */
void work_split(struct work *w);

/* norms queries and keys */
void work_norm_heads(struct work *w, const struct model_layer *l);

/* turns queries and keys, as far as this layer turns them */
void work_rotate(struct work *w, uint32_t layer);

/* the second half of a layer that has experts in the place of its MLP */
void work_experts(struct work *w, const struct model_layer *l, uint32_t layer);

/* what an expert's gate lets through: inner gets n numbers, from inner and up; pairs:
   from inner alone, in which gates and ups alternate */
void work_gate(struct work *w, bool pairs, size_t n);

/* added, as the half of a layer has left it, made ready for the stream */
void work_branch(struct work *w, const struct norm *post);

/* scales and caps n logits */
void logits_finish(const struct model_config *c, float *logits, size_t n);

/* the segments seen, with the store's views of layer */
void work_segments(struct work *w, uint32_t layer);

/* attend for all segments, some at a time; weights: keep the weights, too */
void work_attend(struct work *w, const struct attention_dims *h, bool weights);

/* marks the rows that are no longer finite after layer layers */
void work_mark(struct work *w, uint32_t layer);

/* shows the watcher x, [n][width] */
void work_tap(struct work *w, enum tap_point point, uint32_t layer, float *x,
  size_t width);

/* how many rows from from on to multiply before asking again: all, if nobody wants to
   be asked */
size_t work_rows_at_once(const struct work *w, const struct matrix *list,
  size_t n, size_t from);

/* tells the caller how far the pass is; the answer goes to goes_on */
void work_ask(struct work *w);
#endif
