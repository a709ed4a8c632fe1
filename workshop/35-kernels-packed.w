@i types.w
@s vec int
@s each while
@s each_run while
@s TARGET inline
@s INLINE inline
@s __m128 int
@s __m128i int
@s __m512 int
@s __m512i int
@s uint16x4_t int

\chapterquestion{In what order does a tile want its weights?}
@** Packed and prepared weights.

\incipit{A}{ tile} of \cref{sec:linear} reads its weights and its rows from panels. This is how panels are made: in each call, or once for as long as the model is used.
@^panel@>@^packing, of weights@>

@* Packing. \label{sec:packing}
The panel of some rows. Each number that is copied here serves as many multiply--adds as there are outputs, so the loop is plain. It reads each row from end to end. A full tile has a count that the compiler knows, and its loop is written out; where there are fewer rows, zeros take the places of the others.

@<Pack rows into a panel@>=
INLINE void pack_rows(const float *const *row, size_t rows, size_t n, float *to)
{
  size_t wide = (size_t) tile_rows(rows);
  for (size_t k = 0; k < n; k++) {
    float *step = to + panel_place(n, k) * wide;
    if (rows == TILE_ROWS) each (r, TILE_ROWS) step[r] = row[r][k];
    else for (size_t r = 0; r < wide; r++) step[r] = r < rows ? row[r][k] : 0;
  }
}

@ Weights are packed more often: in every call, if they are used as they lie in the file, and then there are as many multiply--adds for a weight as rows. So this copy counts: sixteen inputs of the outputs of a strip are first widened, row by row, into a small block; from there they go to the panel by squares of four times four, which eight shuffles turn on their sides, a \emph{transposition}.
@^transposition@>

@<Pack outputs into a panel@>=
INLINE void turn_square(const float *from, size_t apart, size_t c,
  float *const *to)
{
  four a[4], b[4];
  each (i, 4) memcpy(&a[i], from + (size_t) i * apart, sizeof a[i]);
  b[0] = MIX(a[0], a[1], 0, 4, 1, 5), b[1] = MIX(a[0], a[1], 2, 6, 3, 7);
  b[2] = MIX(a[2], a[3], 0, 4, 1, 5), b[3] = MIX(a[2], a[3], 2, 6, 3, 7);
  each (i, 2) {
    a[2 * i] = MIX(b[i], b[i + 2], 0, 1, 4, 5);
    a[2 * i + 1] = MIX(b[i], b[i + 2], 2, 3, 6, 7);
  }
  each (i, 4) memcpy(to[i] + c, &a[i], sizeof a[i]);
}

@ The addresses of the rows are given, since the keys of attention (\cref{sec:attention}) will be packed in the same way.

@<Pack outputs into a panel@>=
INLINE void pack_outputs(const char *const *row, size_t outs,
  enum weight_type type, size_t n, float *panel)
{
  float block[NR][16] = @[{ { 0 } }@];
  for (size_t k = 0; k < n; k += 16) {
    size_t here = n - k < 16 ? n - k : 16;
    for (size_t c = 0; c < outs; c++)
      @<Widen the inputs from |k| on of output |c| into the |block|@>@;
    for (size_t j = 0; j < here; j += 4) {
      float *to[4];
      each (i, 4) to[i] = panel + panel_place(n, k + j + (size_t) i) * NR;
      for (size_t c = 0; c < NR; c += 4) turn_square(&block[c][j], 16, c, to);
    }
  }
}

@ @<Widen the inputs from |k| on of output |c| into the |block|@>=
{
  struct tensor t = @[{ row[c], type }@];
  prefetch(t, k + PACK_AHEAD);
  each (p, PARTS) {
    size_t i = (size_t) p * WIDTH;
    vec v = @[{ 0 }@];
    if (here >= i + WIDTH) v = load(t, k + i);
    else if (here > i) v = load_partial(t, k + i, (int) (here - i));
    memcpy(&block[c][i], &v, sizeof v);
  }
}

@ A matrix that is stored by inputs has its panel's steps ready made; they are only put in order. No processor guesses that the next piece lies thousands of bytes on, so it is told: the piece of |INPUTS_AHEAD| inputs later is asked for while this one is copied. (To ask for an address that does not exist is allowed; nothing comes.)
@^prefetch@>

@<Pack a strip of a matrix@>=
INLINE void pack_inputs(const struct matrix *w, struct tensor t, size_t o,
  size_t outs, float *panel)
{
  for (size_t k = 0; k < w->in; k++) {
    float *to = panel + panel_place(w->in, k) * NR;
    prefetch(t, (k + INPUTS_AHEAD) * w->out + o);
    each (p, 2) {
      size_t h = (size_t) p * WIDTH, from = k * w->out + o + h;
      vec v = @[{ 0 }@];
      if (outs >= h + WIDTH) v = load(t, from);
      else if (outs > h) v = load_partial(t, from, (int) (outs - h));
      memcpy(to + h, &v, sizeof v);
    }
  }
}
TARGET static void pack_strip(const struct matrix *w, size_t o, size_t outs,
  float *panel)
{
  const char *row[NR];
#define WITH_TYPE(type) \
  @[if (w->transposed) \
    pack_inputs(w, (struct tensor) { w->weight.data, type }, o, outs, panel); \
  else { \
    for (size_t c = 0; c < outs; c++) row[c] = (const char *) w->weight.data \
      + weight_row_bytes(type, (o + c) * w->in); \
    pack_outputs(row, outs, type, w->in, panel); \
  }@]
  DO_WITH_TYPE(w->weight.type)@;
#undef WITH_TYPE
}

@* Prepared weights. \label{sec:prepared11}
The panels of a matrix are the same in every call, so they may as well be packed once. That is what these tables do when a matrix is \emph{prepared}: all panels of all strips, one after the other, in the type of the weights, because a pass with one row waits for bytes. A tile widens what it loads.

@<Prepare the panels of a matrix@>=
TARGET static size_t panel_bytes(const struct matrix *w)
{@+ return lane_steps(w->in, 0) * 16 * NR * number_types[w->weight.type].bytes;@+ }
TARGET static size_t prepared_bytes(const struct matrix *w, enum activations format)
{
  if (format != ACTIVATIONS_F32 || number_types[w->weight.type].block > 1) return 0;
  return (w->out + NR - 1) / NR * panel_bytes(w);
}
TARGET static void prepare(const struct matrix *w, enum activations format,
  void *to)
{
  (void) format;
  size_t size = number_types[w->weight.type].bytes;
  const char *from = w->weight.data;
  for (size_t o = 0; o < w->out; o++)
    for (size_t k = 0; k < w->in; k++) {
      size_t at = panel_place(w->in, k) * NR + o % NR;
      size_t i = w->transposed ? k * w->out + o : o * w->in + k;
      memcpy((char *) to + o / NR * panel_bytes(w) + at * size, from + i * size, size);
    }
}

@ One row by a prepared matrix needs no workspace: a tile of one row takes the row as it is.

@<One row by a matrix that was prepared@>=
INLINE void by_prepared(const struct matrix *w, enum weight_type type,
  const char *panels, const float *x, size_t from, size_t to, float *y)
{
  float sum[NR];
  for (size_t o = from; o < to; o += NR) {
    size_t outs = to - o < NR ? to - o : NR;
    struct tensor panel = @[{ panels + o / NR * panel_bytes(w), type }@];
    tile("linear", outs, 1, x, panel, w->in, sum);
    put_sums(sum, w, o, outs, y);
  }
}

@ Attention packs rows and keys, too. The rest is for linear layers alone.

@(packing.inc@>=
@<Pack rows into a panel@>@;
@<Pack outputs into a panel@>@;

@ @(strips.inc@>=
@<Pack a strip of a matrix@>@;
@<Prepare the panels of a matrix@>@;
@<One row by a matrix that was prepared@>@;

@ The list of copies is sorted by the addresses of the weights, and so a copy is found by binary search.

@<Prepare weights, and find them@>=
static int by_weight(const void *a, const void *b)
{
  uintptr_t x = (uintptr_t) ((const struct prepared_matrix *) a)->weight;
  uintptr_t y = (uintptr_t) ((const struct prepared_matrix *) b)->weight;
  return (x > y) - (x < y);
}
const void *prepared_find(const struct engine *e, const struct matrix *w)
{
  struct prepared_matrix key = @[{ w->weight.data, NULL }@];
  if (e->prepared == NULL || e->prepared->k != e->k
      || e->prepared->activations != e->activations) return NULL;
  const struct prepared_matrix *found = bsearch(&key, e->prepared->of,
    e->prepared->n, sizeof key, by_weight);
  return found == NULL ? NULL : found->copy;
}

@ Each copy is a block of its own. If memory runs out, the copies made so far are freed again. After a matrix has been copied, its pages of the file are given back (\cref{sec:mapping}) before the next one is read: so the process never has both forms of more than one matrix, and the memory of a packed model is that of a mapped one.

@<Prepare weights, and find them@>=
@<Prepare one matrix, in the memory of the kernels@>@;
struct prepared_weights *prepared_open(struct memory *m, const struct kernels *k,
  enum activations asked, const struct tensor_file *source,
  const struct matrix *const *list, size_t n, struct error *why)
{
  struct prepared_weights *p = memory_alloc(m, MEMORY_OTHER, 1, sizeof *p, why);
  if (p == NULL) return NULL;
  p->k = k, p->activations = asked;
  p->of = memory_alloc(m, MEMORY_OTHER, n, sizeof *p->of, why);
  bool ok = p->of != NULL;
  for (size_t i = 0; i < n && ok; i++) {
    enum activations format = activations_of(asked, list[i]->weight.type);
    size_t bytes = k->prepared_bytes(list[i], format);
    if (bytes == 0 || is_prepared(p, list[i]->weight.data)) continue;
    void *copy = prepared_copy(m, k, list[i], format, bytes, why);
    ok = copy != NULL;
    if (!ok) break;
    tensor_file_release(source, list[i]->weight.data, weight_row_bytes(
      list[i]->weight.type, list[i]->in * list[i]->out));
    p->of[p->n++] = (struct prepared_matrix) @[{ list[i]->weight.data, copy }@];
  }
  if (ok) qsort(p->of, p->n, sizeof *p->of, by_weight);
  if (ok) return p;
  prepared_close(m, p);
  return NULL;
}

@ A backend whose memory we cannot write gets a matrix that was prepared in ours. An embedding that is the head as well is copied once.

@<Prepare one matrix, in the memory of the kernels@>=
static bool is_prepared(const struct prepared_weights *p, const void *weight)
{
  for (size_t i = 0; i < p->n; i++)
    if (p->of[i].weight == weight) return true;
  return false;
}

static void *prepared_copy(struct memory *m, const struct kernels *k,
  const struct matrix *w, enum activations format, size_t bytes, struct error *why)
{
  const struct buffers *b = k->memory;
  void *copy = b->alloc(b, m, MEMORY_WEIGHTS, bytes, 1, why);
  void *ready = copy;
  if (copy != NULL && !b->is_host) ready = memory_alloc(m, MEMORY_OTHER, bytes, 1, why);
  if (ready != NULL) k->prepare(w, format, ready);
  if (ready == copy) return copy;
  if (ready != NULL) b->set(b, copy, ready, bytes);
  else b->release(b, m, copy);
  memory_free(m, ready);
  return ready == NULL ? NULL : copy;
}

@ Closing frees the copies and the list, but not the weights, which belong to the model.

@<Prepare weights, and find them@>=
void prepared_close(struct memory *m, struct prepared_weights *p)
{
  if (p == NULL) return;
  const struct buffers *b = p->k->memory;
  for (size_t i = 0; i < p->n; i++) b->release(b, m, p->of[i].copy);
  memory_free(m, p->of);
  memory_free(m, p);
}

@ Kernels multiply faster when the weights are in an order that suits them (\cref{sec:linear}). So a program has the choice between two modes. In the first, \emph{mapped}, the weights stay as they lie in the file: the model starts at once, and programs that use the same file share its memory. In the second, \emph{packed}, a program that will use the model for long enough has the matrices \emph{prepared} and gives the copies to its engine: \.{--packed} of the command, |packed| of the library. It waits for the copies once. The bits of all results are the same.
@^packed weights@>@^mapped weights@>

The model's part in this is only to list its matrices. A backend with a memory of its own needs everything else as well: the embedding, biases, and the gains of norms. They are listed as matrices of a single output.

@<Prepare a model's matrices@>=
struct listing { struct matrix *of; size_t n; };
static void list_tensor(struct listing *s, struct tensor t, size_t in, size_t out)
{
  if (t.data != NULL)
    s->of[s->n++] = (struct matrix) @[{ .weight = t, .in = in, .out = out }@];
}

static void list_matrix(struct listing *s, const struct matrix *w, bool all)
{
  s->of[s->n++] = *w;
  if (all) list_tensor(s, w->bias, w->out, 1);
}

static void list_norm(struct listing *s, const struct norm *g, size_t d)
{
  list_tensor(s, g->gain, d, 1);
  list_tensor(s, g->bias, d, 1);
}

@ @<Prepare a model's matrices@>=
static void list_model(struct listing *s, const struct model *lm, bool all)
{
  size_t d = lm->config.d_model, head = lm->config.head_dim;
  for (uint32_t i = 0; i < lm->config.n_layers; i++) {
    const struct model_layer *l = &lm->layers[i];
    for (size_t j = 0; j < l->n_qkv; j++) list_matrix(s, &l->qkv[j], all);
    for (size_t j = 0; j < l->n_up; j++) list_matrix(s, &l->up[j], all);
    list_matrix(s, &l->out, all), list_matrix(s, &l->down, all);
    if (!all) continue;
    list_norm(s, &l->attn_norm, d), list_norm(s, &l->mlp_norm, d);
    list_norm(s, &l->q_norm, head), list_norm(s, &l->k_norm, head);
  }
  list_matrix(s, &lm->head, all);
  if (!all) return;
  list_norm(s, &lm->final_norm, d);
  list_tensor(s, lm->embedding, d, lm->config.vocab_size);
  list_tensor(s, lm->positions, d, lm->config.n_positions);
}

@ A layer has at most seven matrices with a bias each, and four norms.

@<Prepare a model's matrices@>=
struct prepared_weights *model_prepare(struct memory *m, const struct kernels *k,
  enum activations asked, const struct model *lm, struct error *why)
{
  size_t most = (size_t) lm->config.n_layers * (7 * 2 + 4 * 2) + 6;
  struct listing s = @[{ .of = memory_alloc(m, MEMORY_OTHER, most, sizeof *s.of, why) }@];
  const struct matrix **list = s.of == NULL ? NULL
    : memory_alloc(m, MEMORY_OTHER, most, sizeof *list, why);
  struct prepared_weights *p = NULL;
  if (list != NULL) {
    list_model(&s, lm, !k->memory->is_host);
    for (size_t i = 0; i < s.n; i++) list[i] = &s.of[i];
    p = prepared_open(m, k, asked, lm->weights, list, s.n, why);
  }
  memory_free(m, list);
  memory_free(m, s.of);
  return p;
}

@ Copies are made and found without any multiplication, so this is an ordinary file.

@(prepared.c@>=
#include <stdlib.h>
#include "kernels/kernels.h"
#include "safetensors/tensor_file.h"
@;@#
@<Prepare weights, and find them@>@;
@<Prepare a model's matrices@>@;

@* Keys and values in panels. \label{sec:keypanels}
The keys of the positions from |t0| to |t1| become panels, |NR| positions each; the values are widened, and their rows filled up with zeros. This is all that depends on the type of the cache.

@<Pack the keys and values of a block@>=
INLINE void pack_block(struct query_unit *u, enum weight_type type,
  uint32_t t0, uint32_t t1)
{
  const char *row[256];
  size_t d = u->h->head_dim, stride = u->v.row_bytes, n = 0;
  struct position_block b;
  b.v = &u->v, b.seen = (struct kv_range) @[{ t0, t1, 0 }@];
  b.t0 = t0, b.t1 = t1;
  each_run (r, &b)
    for (uint32_t t = r.t0; t < r.t1; t++, r.at += stride) {
      row[n++] = (const char *) (u->v.key + r.at);
      for (size_t c = 0; c < u->wide; c += WIDTH) {
        struct tensor from = @[{ (const void *) (u->v.value + r.at), type }@];
        vec v = @[{ 0 }@];
        if (c + WIDTH <= d) v = load(from, c);
        else if (c < d) v = load_partial(from, c, (int) (d - c));
        memcpy(u->value + t % 256 * u->wide + c, &v, sizeof v);
      }
    }
  for (size_t i = 0; i < n; i += NR)
    pack_outputs(row + i, n - i < NR ? n - i : NR, type, d, u->key + i * u->deep);
}
TARGET static void pack_positions(struct query_unit *u, uint32_t t0, uint32_t t1)
{
  switch (u->v.type) {
  case WEIGHT_F32: pack_block(u, WEIGHT_F32, t0, t1);@+ break;
  case WEIGHT_F16: pack_block(u, WEIGHT_F16, t0, t1);@+ break;
  case WEIGHT_BF16: pack_block(u, WEIGHT_BF16, t0, t1);@+ break;
  case WEIGHT_Q8_0: pack_block(u, WEIGHT_Q8_0, t0, t1);@+ break;
  case WEIGHT_Q4_0: pack_block(u, WEIGHT_Q4_0, t0, t1);@+ break;
  OTHER_BLOCKS: break;
  }
}

@ Attention includes this after the structure of a unit.

@(keys.inc@>=
@<Pack the keys and values of a block@>@;
