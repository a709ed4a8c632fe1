@i types.w
@s lab_print int
@s matrix int
@s model_layer int
@s cache_options int

\chapterquestion{How much does a model lose with each bit that its weights lose?}
@** Experiments on quantization. \label{lab:quantization}
\incipit{T}{he experiments} of this chapter round the weights of a model to every type that the chapter can write, let the rounded model read a text, and compare its logits with those of the model as it was.
They do it with the built-in model whenever the book is made. For a published model, whose files are not part of the project, it was done once, and the results are kept in a file.

@ The program answers four words: all keys, and the data of three figures. Without an argument it prints a checkpoint of the chapter. With the word \.{published} and a folder it measures the model there (\cref{lab:published}).

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "accounts/accounts.h"
#include "families/loader.h"
#include "functions/numbers.h"
#include "model/quantization.h"
#include "laboratory/kit2.h"
@;@#
@<Round the weights of a model@>@;
@<Read a text with rounded weights@>@;
@<Print what a type costs@>@;
@<Let rounded models write@>@;
@<Print the error of each tensor@>@;
@<Print a block of weights@>@;
@<Round with blocks of many lengths@>@;
@<Round to steps that are not equal@>@;
@<Measure a published model@>@;
@<Print the keys of the published model@>@;
@<Print the keys of files@>@;
@<Print the keys of the search@>@;
@#
int main(int argc, char **argv)
{
  static const struct lab_command table[] = @[{ { "", show_tales }, { "values", print_bytes },@|
    { "values", print_types }, { "values", print_tensors },@|
    { "values", print_normal }, { "values", print_lengths }, { "values", print_published },@|
    { "values", print_files }, { "values", print_search }, { "values", print_speeds },@|
    { "values", print_steps },@|
    { "block", print_block }, { "lengths", draw_lengths }, { "steps", draw_steps },@|
    { "types", draw_types }, { NULL, NULL } }@];
  if (argc == 3 && strcmp(argv[1], "published") == 0) return published_main(argv[2]);
  return lab_main(argc, argv, table);
}

@* The weights of a model, rounded. \label{lab:rounding}
A rounded model is the model itself with other tensors. Its structure is copied, with an array of layers of its own, and each matrix is replaced by a copy of another type. Gains stay as they are, and so does a matrix whose rows are not whole blocks.
With float activations a number in a block takes part as the float that it stands for. So a tensor is kept as these floats if no others are wanted: that has the same bits, and takes less time.
While a tensor is rounded we add up the squares of its numbers and of the errors. The root of their quotient is the \emph{relative error}.

@<Round the weights of a model@>=
struct rounding { enum weight_type type;@+ bool packed;
  double off, size;@+ uint64_t numbers, bytes; };
  /* |packed|: the tensors stay in |type| */
static bool round_tensor(struct fixture *lab, struct rounding *r, struct tensor *t,
  size_t row, size_t rows, struct error *why)
{
  size_t n = row * rows;
  bool whole = row % number_types[r->type].block == 0;
  enum weight_type type = whole ? r->type : t->type;
  r->numbers += n, r->bytes += weight_row_bytes(type, n);
  if (!whole) return true;
  void *to = lab_take(lab, weight_row_bytes(type, n), 1, why);
  float *x = lab_take(lab, n, sizeof *x, why);
  bool ok = to != NULL && x != NULL;
  for (size_t i = 0; ok && i < n; i++) x[i] = tensor_number(*t, i);
  ok = ok && weights_encode(type, x, n, to, why);
  struct tensor now = @[{ to, type }@];
  for (size_t i = 0; ok && i < n; i++) {
    double off = (double) tensor_number(now, i) - (double) x[i];
    r->off += off * off, r->size += (double) x[i] * (double) x[i];
    x[i] = tensor_number(now, i);
  }
  *t = r->packed ? now : (struct tensor) @[{ x, WEIGHT_F32 }@];
  return ok;
}

@ The head of many models is the embedding itself; then it is rounded once.

@<Round the weights of a model@>=
static bool round_matrix(struct fixture *lab, struct rounding *r, struct matrix *w,
  struct error *why)
{@+ return round_tensor(lab, r, &w->weight, w->in, w->out, why);@+ }
static bool round_model(struct fixture *lab, struct rounding *r,
  const struct model *from, struct model *to, struct error *why)
{
  size_t n = from->config.n_layers;
  *to = *from;
  to->layers = lab_take(lab, n, sizeof *to->layers, why);
  bool ok = to->layers != NULL && round_tensor(lab, r, &to->embedding,
    from->config.d_model, from->config.vocab_size, why);
  if (ok) memcpy(to->layers, from->layers, n * sizeof *to->layers);
  for (size_t i = 0; ok && i < n; i++) {
    struct model_layer *l = &to->layers[i];
    for (size_t j = 0; ok && j < l->n_qkv; j++)
      ok = round_matrix(lab, r, &l->qkv[j], why);
    for (size_t j = 0; ok && j < l->n_up; j++)
      ok = round_matrix(lab, r, &l->up[j], why);
    ok = ok && round_matrix(lab, r, &l->out, why)
      && round_matrix(lab, r, &l->down, why);
  }
  to->matrix_types |= 1u << (r->packed ? r->type : WEIGHT_F32);
  if (from->head.weight.data == from->embedding.data)
    to->head.weight = to->embedding;
  else ok = ok && round_matrix(lab, r, &to->head, why);
  return ok;
}

@* What the rounded model says. \label{lab:quantreading}
A reading is a pass over each of a few texts of the same length. All logits are kept, those of the exact model and those of the newest reading.

@<Read a text with rounded weights@>=
struct reading { struct fixture *lab;@+ const uint32_t *id;@+ size_t texts, length, vocab;
  float *exact, *logits; };
struct damage { double most, sum, perplexity;@+ size_t changed; };
static bool read_all(struct reading *t, const struct model *lm,
  enum activations format, float *logits, struct error *why)
{
  struct engine e = t->lab->e;
  struct store *s = cache_open(&t->lab->m, &lm->config, 1,
    &(struct cache_options) @[{ .rows = 0 }@], why);
  size_t *which = memory_alloc(&t->lab->m, MEMORY_OTHER, t->length, sizeof *which,
    why);
  bool ok = s != NULL && which != NULL;
  e.activations = format;
  for (size_t i = 0; ok && i < t->length; i++) which[i] = i;
  for (size_t k = 0; ok && k < t->texts; k++)
    ok = model_evaluate(&e, lm, s, t->id + k * t->length, t->length, which,
      t->length, logits + k * t->length * t->vocab, why);
  memory_free(&t->lab->m, which);
  store_close(s);
  return ok;
}

@ Of every row we ask how far its worst logit is from the exact one, and whether another token leads; of all texts we take the perplexity.

@<Read a text with rounded weights@>=
static bool assess(struct reading *t, const struct model *lm,
  enum activations format, struct damage *d, struct error *why)
{
  size_t v = t->vocab, scored = 0;
  double loss = 0, *p = memory_alloc(&t->lab->m, MEMORY_OTHER, v, sizeof *p, why);
  bool ok = p != NULL && read_all(t, lm, format, t->logits, why);
  *d = (struct damage) @[{ .most = 0 }@];
  for (size_t i = 0; ok && i < t->texts * t->length; i++) {
    const float *z = t->logits + i * v, *exact = t->exact + i * v;
    double off = farthest(z, exact, v);
    d->most = fmax(d->most, off), d->sum += off;
    d->changed += best_token(z, v) != best_token(exact, v);
    if ((i + 1) % t->length == 0) continue;
    t->lab->e.k->log_softmax(&t->lab->e, z, 1, v, p);
    loss -= p[t->id[i + 1]], scored++;
  }
  d->perplexity = num_exp(loss / (double) scored);
  memory_free(&t->lab->m, p);
  return ok;
}
static bool reading_open(struct reading *t, const struct model *lm, struct error *why)
{
  size_t n = t->texts * t->length * t->vocab;
  t->exact = lab_take(t->lab, n, sizeof (float), why);
  t->logits = lab_take(t->lab, n, sizeof (float), why);
  return t->exact != NULL && t->logits != NULL
    && read_all(t, lm, ACTIVATIONS_F32, t->exact, why);
}

@* Every type, and both formats of activations. \label{lab:types}
The built-in model reads the three tales that \cref{lab:kit} keeps, once with each type of weights and float activations, and once more with the activations for which the type has a product. Each line of the results is a type with a format of activations.

@<Print what a type costs@>=
enum { N_WAYS = 13 };
static const struct way { const char *name;@+ enum weight_type type;
  enum activations format; } ways[N_WAYS] = @[{@|
  { "f32", WEIGHT_F32, ACTIVATIONS_F32 }, { "f16", WEIGHT_F16, ACTIVATIONS_F32 },@|
  { "bf16", WEIGHT_BF16, ACTIVATIONS_F32 },@|
  { "bf16.bf16", WEIGHT_BF16, ACTIVATIONS_BF16 },@|
  { "q8_0", WEIGHT_Q8_0, ACTIVATIONS_F32 },@|
  { "q8_0.int8", WEIGHT_Q8_0, ACTIVATIONS_INT8 },@|
  { "q5_1", WEIGHT_Q5_1, ACTIVATIONS_F32 }, { "q5_0", WEIGHT_Q5_0, ACTIVATIONS_F32 },@|
  { "q5_0.int8", WEIGHT_Q5_0, ACTIVATIONS_INT8 },@|
  { "q4_1", WEIGHT_Q4_1, ACTIVATIONS_F32 },@|
  { "q4_1.int8", WEIGHT_Q4_1, ACTIVATIONS_INT8 },@|
  { "q4_0", WEIGHT_Q4_0, ACTIVATIONS_F32 },@|
  { "q4_0.int8", WEIGHT_Q4_0, ACTIVATIONS_INT8 } }@];

@ A way costs bits, an error of the weights, and what the reading shows.

@<Print what a type costs@>=
struct cost { struct rounding r;@+ struct damage d; };
static bool way_cost(struct reading *t, const struct model *lm, const struct way *w,
  struct cost *c, struct error *why)
{
  struct model rounded;
  *c = (struct cost) @[{ .r = { .type = w->type,
    .packed = w->format != ACTIVATIONS_F32 } }@];
  return round_model(t->lab, &c->r, lm, &rounded, why)
    && assess(t, &rounded, w->format, &c->d, why);
}
static double bits_of(const struct rounding *r)
{@+ return 8 * (double) r->bytes / (double) r->numbers;@+ }
static double off_of(const struct rounding *r)
{@+ return 100 * sqrt(r->off / r->size);@+ }
static bool tales_open(struct fixture *lab, struct reading *t, struct error *why)
{
  struct ids id;
  if (!lab_tales(lab, &id, why)) return false;
  *t = (struct reading) @[{ .lab = lab, .id = id.id, .texts = 1, .length = id.n,@|
    .vocab = lab->model->config.vocab_size }@];
  return reading_open(t, lab->model, why);
}

@ The keys of a line. The perplexity is also printed as a percentage above that of the exact model, which comes first; \.{every} is the number of rows for each that changes.

@<Print what a type costs@>=
static void print_cost(const char *name, const struct cost *c, double rows,
  double whole)
{
  printf("%s.bits %.4f\n%s.bytes %" PRIu64 "\n%s.weights %.6f\n", name,
    bits_of(&c->r), name, c->r.bytes, name, off_of(&c->r));
  printf("%s.most %.6f\n%s.mean %.6f\n%s.changed %zu\n", name, c->d.most, name,
    c->d.sum / rows, name, c->d.changed);
  printf("%s.perplexity %.6f\n%s.percent %.6f\n", name, c->d.perplexity, name,
    100 * (c->d.perplexity / whole - 1));
  if (c->d.changed > 0)
    printf("%s.every %.4f\n", name, rows / (double) c->d.changed);
}
static bool print_types(struct fixture *lab, struct error *why)
{
  struct reading t;
  struct cost c;
  double whole = 0;
  bool ok = tales_open(lab, &t, why);
  for (int i = 0; ok && i < N_WAYS; i++) {
    ok = way_cost(&t, lab->model, &ways[i], &c, why);
    if (i == 0) whole = c.d.perplexity;
    if (ok) print_cost(label_of("types.%s", ways[i].name).text, &c,
      (double) t.length, whole);
  }
  if (ok) print_key("types.rows", "%zu", t.length);
  return ok;
}

@ \Cref{fig:quanterror} has a point for each way but the exact one: the bits of a weight, and the mean over all rows of the largest error of a logit.

@<Print what a type costs@>=
static bool draw_types(struct fixture *lab, struct error *why)
{
  struct reading t;
  struct cost c;
  bool ok = tales_open(lab, &t, why);
  printf("way,bits,error,changed\n");
  for (int i = 2; ok && i < N_WAYS; i++) {
    ok = way_cost(&t, lab->model, &ways[i], &c, why);
    if (ok) printf("%s,%.4f,%.6f,%.6f\n", ways[i].name, bits_of(&c.r),
      c.d.sum / (double) t.length, 100 * (double) c.d.changed / (double) t.length);
  }
  return ok;
}

@ The bytes of GPT-2 small in each type, with a scale for every block and nothing left out.

@<Print what a type costs@>=
static bool print_bytes(struct fixture *lab, struct error *why)
{
  struct model_config c;
  (void) lab;
  if (!named_shape_find("gpt2", &c, why)) return false;
  uint64_t n = footprint_parameters(&c);
  for (unsigned t = 0; t < N_WEIGHT_TYPES; t++) {
    const struct number_type *of = &number_types[t];
    double bytes = (double) n / of->block * of->bytes;
    printf("weights.gpt2.%s.mb %.6f\nweights.bits.%s %.4f\n", of->name,
      bytes / 1e6, of->name, 8.0 * of->bytes / of->block);
  }
  print_key("weights.gpt2.whole", "%" PRIu64, 4 * n);
  print_key("weights.gpt2.half", "%" PRIu64, 2 * n);
  print_key("claim.S2-81", "%.4f", 128.0
    / (double) weight_row_bytes(WEIGHT_Q4_0, 32));
  return true;
}

@* One tale, three times. \label{lab:quanttales}
A count of changed tokens does not show what a change does to a text. So the built-in model begins a tale, and goes on after the same two words as its rounded copies do, each time with its likeliest token. The inputs are floats, as in most lines of the table. The text is printed in short lines, or not once more if it is that of the exact model, |as|.

@<Let rounded models write@>=
enum { TALE = 39, WIDTH = 56 };
static void print_tale(const struct fixture *lab, const struct continuation *c)
{
  size_t column = WIDTH, n;
  for (size_t i = c->n_prompt; i < c->text.n; i++, column += n) {
    const unsigned char *byte = tokenizer_text(lab->t, c->text.id[i], &n);
    if (column + n > WIDTH) printf("\n   "), column = 3;
    fwrite(byte, 1, n, stdout);
  }
  printf("\n");
}
static bool tell(struct fixture *lab, const char *title, const struct model *lm,
  const struct ids *prompt, struct continuation *as, struct error *why)
{
  struct generate_options want = @[{ .max_new_tokens = TALE,
    .recall = store_match_prefix }@];
  struct continuation c = @[{ .n_prompt = 0 }@];
  struct bench b = @[{ .m = NULL }@];
  bool ok = bench_open(&b, lab, lm, 0, &(struct cache_options) @[{ .rows = 0 }@], why)
    && generate(&b.g, prompt->id, prompt->n, &want, &c, why);
  bool same = ok && as->text.n == c.text.n
    && memcmp(as->text.id, c.text.id, c.text.n * sizeof *c.text.id) == 0;
  if (ok) printf("%s:%s", title, same ? " the same\n" : "");
  if (ok && !same) print_tale(lab, &c);
  if (ok && as->text.n == 0) *as = c;
  else continuation_free(&lab->m, &c);
  bench_close(&b);
  return ok;
}

@ The exact model comes first.

@<Let rounded models write@>=
static bool show_tales(struct fixture *lab, struct error *why)
{
  static const struct { const char *name;@+ enum weight_type type; } way[] = @[{@|
    { "8 bits", WEIGHT_Q8_0 }, { "4 bits", WEIGHT_Q4_0 } }@];
  struct ids prompt = @[{ .n = 0 }@];
  struct continuation exact = @[{ .n_prompt = 0 }@];
  bool ok = lab_encode(lab, "The dog", &prompt, why)
    && tell(lab, "16 bits, as published", lab->model, &prompt, &exact, why);
  for (size_t i = 0; ok && i < 2; i++) {
    struct rounding r = @[{ .type = way[i].type }@];
    struct model lm;
    ok = round_model(lab, &r, lab->model, &lm, why)
      && tell(lab, way[i].name, &lm, &prompt, &exact, why);
  }
  continuation_free(&lab->m, &exact);
  ids_free(&lab->m, &prompt);
  return ok;
}

@* The error of each tensor. \label{lab:tensors}
Are some matrices harder to round than others? Each kind of matrix is rounded by itself, over all layers.

@<Print the error of each tensor@>=
static bool print_kind(struct fixture *lab, const char *name, enum weight_type type,
  size_t kind, struct error *why)
{
  struct rounding r = @[{ .type = type }@];
  bool ok = true;
  for (uint32_t i = 0; ok && i < lab->model->config.n_layers; i++) {
    struct model_layer l = lab->model->layers[i];
    struct matrix *of[] = @[{ &l.qkv[0], &l.qkv[1], &l.qkv[2], &l.out, &l.up[0],@|
      &l.up[1], &l.down }@];
    ok = round_matrix(lab, &r, of[kind], why);
  }
  if (ok) printf("tensor.%s.%s %.6f\n", number_types[type].name, name, off_of(&r));
  return ok;
}
static bool print_tensors(struct fixture *lab, struct error *why)
{
  static const char *const name[] = @[{ "query", "key", "value", "out", "gate", "up",@|
    "down" }@];
  static const enum weight_type type[] = @[{ WEIGHT_BF16, WEIGHT_Q8_0,@|
    WEIGHT_Q5_0, WEIGHT_Q4_1, WEIGHT_Q4_0 }@];
  bool ok = true;
  for (size_t t = 0; t < 5; t++) {
    for (size_t k = 0; ok && k < 7; k++)
      ok = print_kind(lab, name[k], type[t], k, why);
    struct rounding r = @[{ .type = type[t] }@];
    struct tensor e = lab->model->embedding;
    ok = ok && round_tensor(lab, &r, &e, lab->model->config.d_model,
      lab->model->config.vocab_size, why);
    if (ok) printf("tensor.%s.embedding %.6f\n", number_types[type[t]].name,
      off_of(&r));
  }
  return ok;
}

@ What would the errors be if weights were normally distributed? The mean of the largest magnitude in 32 normal numbers, over many blocks, gives the step, and the step over $\sqrt{12}$ the error.

@<Print the error of each tensor@>=
static bool print_normal(struct fixture *lab, struct error *why)
{
  enum { BLOCKS = 20000 };
  uint64_t seed = 32;
  double sum = 0;
  (void) lab, (void) why;
  for (int k = 0; k < BLOCKS; k++) {
    double most = 0;
    for (int i = 0; i < WEIGHT_BLOCK; i++) most = fmax(most, fabs(random_normal(&seed)));
    sum += most / BLOCKS;
  }
  print_key("normal.largest", "%.4f", sum);
  print_key("normal.step", "%.4f", sum / 8);
  print_key("normal.error.4", "%.4f", 100 * sum / 8 / sqrt(12));
  print_key("normal.error.8", "%.4f", 100 * sum / 127 / sqrt(12));
  return true;
}

@* A block of real weights. \label{lab:block}
The first block of the first query matrix, in four bits and back, in the two ways that there are.

@<Print a block of weights@>=
static bool print_block(struct fixture *lab, struct error *why)
{
  struct tensor w = lab->model->layers[0].qkv[0].weight;
  unsigned char even[64], low[64];
  float x[WEIGHT_BLOCK];
  for (size_t i = 0; i < WEIGHT_BLOCK; i++) x[i] = tensor_number(w, i);
  if (!weights_encode(WEIGHT_Q4_0, x, WEIGHT_BLOCK, even, why)
    || !weights_encode(WEIGHT_Q4_1, x, WEIGHT_BLOCK, low, why)) return false;
  printf("i,x,even,low,step,low_step\n");
  for (size_t i = 0; i < WEIGHT_BLOCK; i++)
    printf("%zu,%.6f,%.6f,%.6f,%.6f,%.6f\n", i, (double) x[i],
      (double) block_number(WEIGHT_Q4_0, even, i),@|
      (double) block_number(WEIGHT_Q4_1, low, i),@|
      fabs((double) block_scale_of(WEIGHT_Q4_0, even, i).d),@|
      (double) block_scale_of(WEIGHT_Q4_1, low, i).d);
  return true;
}

@* Blocks of many lengths. \label{lab:lengths}
Why 32? We round all matrices of the layers to sixteen steps as \texttt{q4\_0} does, but with a scale for 8, 16, \dots\ numbers, up to a whole row, and in double, so that the scale itself is exact. A second curve is that of the same weights after one number in a \given{thousand} has been made twenty times as large.

@<Round with blocks of many lengths@>=
struct lengths { double off, size; };
static void round_row(const float *x, size_t n, size_t length, struct lengths *sum)
{
  for (size_t k = 0; k < n; k += length) {
    double most = 0;
    for (size_t i = k; i < k + length && i < n; i++)
      if (fabs((double) x[i]) > fabs(most)) most = (double) x[i];
    double d = most / -8;
    for (size_t i = k; i < k + length && i < n; i++) {
      double q = d == 0 ? 0 : fmin(floor((double) x[i] / d + 0.5), 7);
      sum->off += (q * d - (double) x[i]) * (q * d - (double) x[i]);
      sum->size += (double) x[i] * (double) x[i];
    }
  }
}

@ The random numbers decide which weights are spoilt, so they are drawn in both cases.

@<Round with blocks of many lengths@>=
static double length_error(struct fixture *lab, size_t length, bool spoilt)
{
  struct lengths sum = @[{ 0, 0 }@];
  uint64_t seed = 10;
  float row[1024];
  for (uint32_t i = 0; i < lab->model->config.n_layers; i++) {
    const struct model_layer *l = &lab->model->layers[i];
    const struct matrix *of[] = @[{ &l->qkv[0], &l->qkv[1], &l->qkv[2], &l->out,@|
      &l->up[0], &l->up[1] }@];
    for (int m = 0; m < 6; m++)
      for (size_t o = 0; o < of[m]->out; o++) {
        for (size_t j = 0; j < of[m]->in; j++) {
          row[j] = tensor_number(of[m]->weight, o * of[m]->in + j);
          if (random_uniform(&seed) < 0.001 && spoilt) row[j] *= 20;
        }
        round_row(row, of[m]->in, length, &sum);
      }
  }
  return 100 * sqrt(sum.off / sum.size);
}

@ The rows of these matrices have \given{128} numbers.

@<Round with blocks of many lengths@>=
static bool draw_lengths(struct fixture *lab, struct error *why)
{
  (void) why;
  printf("length,bits,error,spoilt\n");
  for (size_t n = 4; n <= 128; n *= 2)
    printf("%zu,%.4f,%.4f,%.4f\n", n, 4 + 16.0 / (double) n,
      length_error(lab, n, false), length_error(lab, n, true));
  return true;
}
static bool print_lengths(struct fixture *lab, struct error *why)
{
  (void) why;
  for (size_t n = 8; n <= 128; n *= 2)
    printf("lengths.%zu %.4f\nlengths.spoilt.%zu %.4f\n", n,
      length_error(lab, n, false), n, length_error(lab, n, true));
  return true;
}


@* Steps that are not equal. \label{lab:steps}
What does a table of sixteen numbers cost, whatever they are? A block is rounded to the nearest of them, for scales around the one that brings its largest number to the end of the table, and the best scale counts. A table need not be as long on both sides, so both signs of the scale are tried. A scale that must be a power of two has only a few candidates.

@<Round to steps that are not equal@>=
struct steps { const char *name;@+ int8_t value[16];@+ bool powers; };
static const struct steps steps[] = @[{@|
  { "equal", { -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7 }, false },@|
  { "curve", { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 }, false },@|
  { "float", { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 }, true },@|
  { "float.fine", { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 }, false } }@];
static double off_in_steps(const float *x, const struct steps *s, double d)
{
  double off = 0;
  for (size_t i = 0; i < WEIGHT_BLOCK; i++) {
    double best = INFINITY;
    for (size_t q = 0; q < 16; q++)
      best = fmin(best, fabs(d * s->value[q] - (double) x[i]));
    off += best * best;
  }
  return off;
}
static double best_off(const float *x, const struct steps *s)
{
  double most = 0, top = 0, best = INFINITY;
  for (size_t i = 0; i < WEIGHT_BLOCK; i++) most = fmax(most, fabs((double) x[i]));
  for (size_t q = 0; q < 16; q++) top = fmax(top, fabs((double) s->value[q]));
  if (most == 0) return 0;
  for (int e = -1; s->powers && e < 3; e++)
    best = fmin(best, off_in_steps(x, s, ldexp(1, ilogb(most / top) + e)));
  for (int k = -10; !s->powers && k <= 10; k++)
    for (int sign = -1; sign < 2; sign += 2)
      best = fmin(best, off_in_steps(x, s, sign * most / top * (1 + 0.03 * k)));
  return best;
}

@ All matrices of the layers, a row at a time.

@<Round to steps that are not equal@>=
typedef void for_block(void *ctx, const float *x);
static void each_block(struct fixture *lab, for_block *f, void *ctx)
{
  for (uint32_t i = 0; i < lab->model->config.n_layers; i++) {
    const struct model_layer *l = &lab->model->layers[i];
    const struct matrix *of[] = @[{ &l->qkv[0], &l->qkv[1], &l->qkv[2], &l->out,@|
      &l->up[0], &l->up[1], &l->down }@];
    for (int m = 0; m < 7; m++)
      for (size_t k = 0; k < of[m]->in * of[m]->out; k += WEIGHT_BLOCK) {
        float x[WEIGHT_BLOCK];
        for (size_t j = 0; j < WEIGHT_BLOCK; j++) x[j] = tensor_number(of[m]->weight, k + j);
        f(ctx, x);
      }
  }
}
struct step_errors { double off[4], size; };
static void add_errors(void *ctx, const float *x)
{
  struct step_errors *sum = ctx;
  for (size_t t = 0; t < 4; t++) sum->off[t] += best_off(x, &steps[t]);
  for (size_t i = 0; i < WEIGHT_BLOCK; i++) sum->size += (double) x[i] * (double) x[i];
}
static bool print_steps(struct fixture *lab, struct error *why)
{
  struct step_errors sum = @[{ .size = 0 }@];
  (void) why;
  each_block(lab, add_errors, &sum);
  for (size_t t = 0; t < 4; t++)
    printf("steps.%s %.6f\n", steps[t].name, 100 * sqrt(sum.off[t] / sum.size));
  return true;
}

@ For \cref{fig:quantsteps} each weight is divided by the largest of its block, and the quotients are counted in \given{41} classes from $-1$ to 1.

@<Round to steps that are not equal@>=
enum { CLASSES = 41 };
static void count_sharees(void *ctx, const float *x)
{
  double *share = ctx, most = 0;
  for (size_t i = 0; i < WEIGHT_BLOCK; i++) most = fmax(most, fabs((double) x[i]));
  for (size_t i = 0; i < WEIGHT_BLOCK && most > 0; i++)
    share[(int) lround((CLASSES / 2) * ((double) x[i] / most + 1))]++;
}
static bool draw_steps(struct fixture *lab, struct error *why)
{
  double share[CLASSES] = @[{ 0 }@], all = 0;
  (void) why;
  each_block(lab, count_sharees, share);
  for (int i = 0; i < CLASSES; i++) all += share[i];
  printf("x,percent\n");
  for (int i = 0; i < CLASSES; i++)
    printf("%.4f,%.4f\n", i / (double) (CLASSES / 2) - 1, 100 * share[i] / all);
  printf("1.05,0\n"); /* where the last class ends */
  return true;
}

@* A published model. \label{lab:published}
The model stories260K reads eight texts of \given{512} tokens that it has written itself, at temperature 1 with a fixed seed, as in \cref{lab:lossy}. Its inner width is \given{172}, which is no multiple of 32, so the matrices that read the inner vectors cannot be in blocks and stay as they are; converters of files do the same. Its weights are published in float32.

@<Measure a published model@>=
enum { STORIES = 8, STORY = 512 };
static bool write_stories(struct fixture *lab, const struct model *lm, uint32_t *id,
  struct error *why)
{
  struct sampler dice = @[{ .s = sampling_default(), .seed = 1 }@];
  struct generate_options want = @[{ .max_new_tokens = STORY - 1,@|
    .recall = store_match_prefix,@|
    .select = sampler_choose, .select_ctx = &dice }@];
  struct bench b = @[{ .m = NULL }@];
  uint32_t first = lm->config.has_bos ? lm->config.bos : 1;
  bool ok = bench_open(&b, lab, lm, 0, &(struct cache_options) @[{ .rows = 0 }@], why)
    && funnel_open(&dice.f, b.m, b.e.k, lm->config.vocab_size, why);
  for (uint32_t i = 0; ok && i < STORIES; i++) {
    struct continuation c;
    dice.sequence = i;
    ok = generate(&b.g, &first, 1, &want, &c, why);
    for (size_t k = 0; ok && k < STORY; k++)
      id[i * STORY + k] = k < c.text.n ? c.text.id[k] : first;
    continuation_free(b.m, &c);
  }
  funnel_close(&dice.f);
  bench_close(&b);
  return ok;
}

@ A line for each way, and before them where they are from.

@<Measure a published model@>=
static bool published_print(struct fixture *lab, const struct model *lm,
  struct error *why)
{
  uint32_t *id = lab_take(lab, STORIES * STORY, sizeof *id, why);
  struct reading t = @[{ .lab = lab, .id = id, .texts = STORIES, .length = STORY,@|
    .vocab = lm->config.vocab_size }@];
  struct cost c;
  bool ok = id != NULL && write_stories(lab, lm, id, why)
    && reading_open(&t, lm, why);
  printf("way,bits,weights,most,mean,changed,perplexity\n");
  for (int i = 0; ok && i < N_WAYS; i++) {
    ok = way_cost(&t, lm, &ways[i], &c, why);
    if (ok) printf("%s,%.4f,%.6f,%.6f,%.6f,%zu,%.6f\n", ways[i].name, bits_of(&c.r),
      off_of(&c.r), c.d.most, c.d.sum / (STORIES * STORY), c.d.changed,
      c.d.perplexity);
  }
  return ok;
}
static int published_main(const char *folder)
{
  static struct fixture lab;
  struct error why;
  struct model *lm = NULL;
  printf("# command: build/bin/laboratory/quantization published"
    " SHARED/golden/models/stories260K\n"@|
    "# model: stories260K (A. Karpathy, llama2.c; trained on TinyStories)\n"@|
    "# text: 8 texts of 512 tokens, sampled from it at temperature 1, seed 1\n");
  bool ok = lab_open(&lab, &why) && (lm = model_open(&lab.m, folder, &why)) != NULL
    && published_print(&lab, lm, &why);
  model_close(&lab.m, lm);
  lab_close(&lab);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ The keys are read from the file. Three of them are what we say to claims: the tokens that change with float16, and the perplexity with eight bits and with four.

@<Print the keys of the published model@>=
static bool print_published_line(void *ctx, const char *line)
{
  double *whole = ctx;
  struct cost c = @[{ .d = { .most = 0 } }@];
  char way[16];
  double bits, off, mean;
  if (sscanf(line, "%15[^,],%lf,%lf,%lf,%lf,%zu,%lf", way, &bits, &off, &c.d.most,
    &mean, &c.d.changed, &c.d.perplexity) != 7) return false;
  if (strcmp(way, "f32") == 0) *whole = c.d.perplexity;
  struct label k = label_of("stories.%s", way);
  printf("%s.bits %.4f\n%s.weights %.6f\n%s.mean %.6f\n%s.changed %zu\n", k.text,
    bits, k.text, off, k.text, mean, k.text, c.d.changed);
  double more = 100 * (c.d.perplexity / *whole - 1);
  if (strcmp(way, "f16") == 0) print_key("claim.S2-82", "%zu", c.d.changed);
  if (strcmp(way, "q8_0.int8") == 0) print_key("claim.S2-83", "%.6f", more);
  if (strcmp(way, "q4_0") == 0) print_key("claim.S2-84", "%.6f", more);
  printf("%s.changed.percent %.4f\n%s.perplexity %.6f\n%s.percent %.6f\n", k.text,
    100 * (double) c.d.changed / (STORIES * STORY), k.text, c.d.perplexity, k.text,
    more);
  return true;
}
static bool print_published(struct fixture *lab, struct error *why)
{
  double whole = 0;
  (void) lab;
  print_key("stories.rows", "%d", STORIES * STORY);
  return data_read("quantization.stories", print_published_line, &whole, N_WAYS, why);
}

@* Files. \label{lab:files}
The last table is about whole files: stories260K is written in each type by \texttt{incipit quantize}, and each file reads eight stories that the model has written itself, with the inputs that are the default of its type. These stories are not those of \cref{lab:published}, since each of them ends where the model ended it.

@<Print the keys of files@>=
static bool print_file_line(void *ctx, const char *line)
{
  double *whole = ctx, bytes, perplexity;
  char type[16];
  if (sscanf(line, "%15[^,],%lf,%lf", type, &bytes, &perplexity) != 3) return false;
  if (strcmp(type, "f32") == 0) whole[0] = bytes, whole[1] = perplexity;
  struct label k = label_of("files.%s", type);
  printf("%s.bytes %.0f\n%s.share %.4f\n", k.text, bytes, k.text,
    100 * bytes / whole[0]);
  printf("%s.perplexity %.6f\n%s.percent %.6f\n", k.text, perplexity, k.text,
    100 * (perplexity / whole[1] - 1));
  return true;
}
static bool print_files(struct fixture *lab, struct error *why)
{
  double whole[2] = @[{ 1, 1 }@];
  (void) lab;
  return data_read("quantization.files", print_file_line, whole, 8, why);
}

@* The search, and the speeds. \label{lab:ksearch}
What other programs wrote, and how fast they are, is in two files, which \.{bench/superblocks.py} and \.{bench/blocks.py} make again. The first has a line for each type and program, with the error of the weights.

@<Print the keys of the search@>=
static bool print_search_line(void *ctx, const char *line)
{
  double *of = ctx, off;
  char type[16], by[16];
  if (sscanf(line, "%15[^,],%15[^,],%lf", type, by, &off) != 3) return false;
  printf("search.%s.%s %.4f\n", type, by, off);
  if (strcmp(by, "incipit") == 0 && strcmp(type, "q4_0") == 0) of[0] = off;
  if (strcmp(by, "incipit") == 0 && strcmp(type, "q4_k") == 0) of[1] = off;
  return true;
}
static bool print_search(struct fixture *lab, struct error *why)
{
  double of[2] = @[{ 1, 1 }@];
  (void) lab;
  if (!data_read("quantization.search", print_search_line, of, 13, why)) return false;
  print_key("search.gain", "%.4f", 100 * (1 - of[1] / of[0]));
  return true;
}

@ The second has milliseconds of one processor for a token that is written and for one of many that are read, ours and llama.cpp's.

@<Print the keys of the search@>=
static bool print_speed_line(void *ctx, const char *line)
{
  double t[4];
  char type[16];
  (void) ctx;
  if (sscanf(line, "%15[^,],%lf,%lf,%lf,%lf", type, t, t + 1, t + 2, t + 3) != 5)
    return false;
  struct label k = label_of("speeds.%s", type);
  printf("%s.decode %.3f\n%s.decode.times %.3f\n", k.text, t[0], k.text, t[1] / t[0]);
  printf("%s.prefill %.3f\n%s.prefill.times %.3f\n", k.text, t[2], k.text, t[3] / t[2]);
  return true;
}
static bool print_speeds(struct fixture *lab, struct error *why)
{
  (void) lab;
  return data_read("quantization.speeds", print_speed_line, NULL, 9, why);
}
