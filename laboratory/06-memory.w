@i types.w
@s kv_format int
@s cache_options int
@s tensor_line int
@s named_shape int
@s lab_print int

\chapterquestion{How much does a model need, and what does it forget if it gets less?}
@** Experiments on memory. \label{lab:accounts}
\incipit{M}{ost numbers} of the chapter are footprints: they need no model, only the formulas of its modules and the settings of models that are known by
name. A few lines print each of them. The rest is measured. The built-in model reads three tales while its cache remembers less than it should, in shorter numbers or through
a window, and what it says is compared with what it would have said.

@ The program answers four words: all keys, and the data of three figures. With the word \.{lossy} and the folder of a published model it measures that model (\cref{lab:lossy}); with the word \.{rss} it asks the operating system (\cref{lab:rss}).

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "accounts/accounts.h"
#include "families/loader.h"
#include "functions/numbers.h"
#include "kernels/kernels.h"
#include "model/forward.h"
#include "tokenizer/tokenizer.h"
#include "laboratory/kit2.h"
@;@#
@<Print the footprints@>@;
@<Print what the claims come to@>@;
@<Draw the stack@>@;
@<Watch the ring@>@;
@<Read three tales@>@;
@<Measure what a shorter memory costs@>@;
@<Measure a model that is not here@>@;
@<Print the keys of a lossy cache@>@;
@<Ask the operating system@>@;
@#
int main(int argc, char **argv)
{
  static const struct lab_command table[] = @[{ { "values", print_footprints },@|
    { "values", print_claims }, { "values", print_vocabulary },@|
    { "values", print_big }, { "values", print_cross },@|
    { "values", print_latent }, { "values", print_damage },@|
    { "values", print_lossy },@|
    { "values", print_rss },@|
    { "stack", print_stack }, { "ring", print_ring },@|
    { "errors", print_errors }, { NULL, NULL } }@];
  if (argc == 3 && strcmp(argv[1], "lossy") == 0) return lossy_main(argv[2]);
  if (argc == 2 && strcmp(argv[1], "rss") == 0) return rss_main();
  return lab_main(argc, argv, table);
}

@* Memory of published models. \label{lab:bills}
Of each shape that has a name we print its settings, what a token leaves, and what its whole context takes in two bytes. Of two shapes we also print every line of the footprint
of their weights; the name of a key ends with the first word of its line.

@<Print the footprints@>=
static void print_sparse(const char *name, const struct model_config *c)
{
  uint64_t all = footprint_parameters(c), active = footprint_active(c);
  printf("footprint.%s.active %" PRIu64 "\n", name, active);
  printf("sparse.%s.all %.6f\nsparse.%s.active %.6f\n", name, (double) all / 1e9, name,
    (double) active / 1e9);
  printf("sparse.%s.share %.6f\n", name, 100 * (double) active / (double) all);
}
static bool print_shape(const struct named_shape *n, struct error *why)
{
  struct model_config c;
  struct cache_plan p = @[{ format_at(1), n->n_positions, 1, 0, 0 }@];
  uint64_t bytes;
  if (!named_shape_find(n->name, &c, why) || !footprint_cache(&c, &p, &bytes, why))
    return false;
  printf("shape.%s.layers %u\nshape.%s.heads %u\n", n->name, c.n_layers,
    n->name, c.n_kv_heads);
  printf("shape.%s.token %" PRIu64 "\nshape.%s.context %u\n", n->name,
    footprint_token(&c, p.format), n->name, c.n_positions);
  printf("shape.%s.gb %.6f\nshape.%s.gib %.6f\n", n->name,
    (double) bytes / 1e9, n->name, (double) bytes / 0x1p30);
  printf("footprint.%s.parameters %" PRIu64 "\n", n->name, footprint_parameters(&c));
  if (n->window > 0) printf("shape.%s.window %u\n", n->name, n->window);
  if (c.n_experts > 0)@+ print_sparse(n->name, &c);
  return true;
}
static bool print_tensors(const char *name, struct error *why)
{
  struct model_config c;
  struct tensor_line line[FOOTPRINT_MAX_TENSORS];
  if (!named_shape_find(name, &c, why)) return false;
  for (size_t i = 0, n = footprint_tensors(&c, line); i < n; i++) {
    int word = (int) strcspn(line[i].name, " ");
    printf("footprint.%s.%.*s %" PRIu64 "\nfootprint.%s.%.*s.times %" PRIu64 "\n",
      name, word, line[i].name, line[i].each,@|
      name, word, line[i].name, line[i].times);
  }
  return true;
}
static bool print_footprints(struct fixture *lab, struct error *why)
{
  (void) lab;
  for (size_t i = 0; named_shape_at(i) != NULL; i++)
    if (!print_shape(named_shape_at(i), why)) return false;
  return print_tensors("gpt2", why) && print_tensors("llama-7b", why);
}

@ The tables of a tokenizer grow by doubling, so their capacity is the first number of a series that is large enough. For the list of $n$ ids and that of $m$ merges the series is $\given{256}\,(2^i-1)$; for the two hash tables in which pieces and pairs are looked up, which are never more than half full, it is $2^i$. So the four tables take
\begin{equation}\label{eq:vocabulary}
  20\,R(n)+24\,P(2n)+16\,R(m)+12\,P(2m)
\end{equation}
bytes, where $R$ and $P$ are the next number of either series, and the factors are the sizes of the entries: \val{vocab.pocket} bytes for the built-in vocabulary, and \val{vocab.gpt2} for that of GPT-2. In addition there are the letters of the pieces, \val{vocab.letters} bytes in the built-in vocabulary, and \val{vocab.rest} bytes for the pattern library and everything else. How a table grows is the tokenizer's business (\cref{tokenizer}, \cref{sec:tables}), so its module is asked: |tokenizer_bytes| computes \eqref{eq:vocabulary} for any $n$ and $m$, and |tokenizer_tables| says of an open tokenizer how many entries it has, and how many bytes its tables really take.

@<Print the footprints@>=
static bool print_vocabulary(struct fixture *lab, struct error *why)
{
  struct memory book = @[{ .fail_at = 0 }@];
  struct model_config c;
  struct tokenizer *t = tokenizer_open(&book, "models/pocket", why);
  (void) lab;
  if (t == NULL || !named_shape_find("gpt2", &c, why)) return false;
  struct tokenizer_tables taken = tokenizer_tables(t);
  uint64_t tables = tokenizer_bytes(taken.ids, taken.merges);
  uint64_t large = tokenizer_bytes(50257, 50000);
  print_key("vocab.pocket", "%" PRIu64, tables);
  print_key("vocab.gpt2", "%" PRIu64, large);
  print_key("vocab.gpt2.percent", "%.4f",@|
    percent(large, 2 * footprint_parameters(&c)));
  print_key("vocab.letters", "%" PRIu64, taken.letters);
  print_key("vocab.rest", "%" PRIu64,@|
    book.of[MEMORY_TOKENS].live - tables - taken.letters);
  tokenizer_close(&book, t);
  return true;
}

@* What became of the claims. \label{lab:memoryclaims}
A claim is a number of ours, under the name of the sentence of a tutorial that it is about. What the cache of a shape takes is asked many times: for so many tokens, in two
bytes, perhaps with other heads. A name that is unknown would give a settings struct of zeros and a footprint of zero; all names are those of the table.

@<Print what the claims come to@>=
static struct model_config shape(const char *name)
{
  struct model_config c = @[{ .n_layers = 0 }@];
  named_shape_find(name, &c, NULL);
  return c;
}
static uint64_t cache_of(const char *name, uint64_t tokens, uint32_t kv_heads)
{
  struct model_config c = shape(name);
  struct cache_plan p = @[{ format_at(1), tokens, 1, 0, 0 }@];
  uint64_t bytes = 0;
  if (kv_heads > 0) c.n_kv_heads = kv_heads;
  footprint_cache(&c, &p, &bytes, NULL);
  return bytes;
}
static double gib(uint64_t bytes)
{
  return (double) bytes / 0x1p30;
}

@ The weights of a 7B in four formats, what fits beside them, and how much a pass of it would borrow, for one row and for a prompt of its whole context.

@<Print what the claims come to@>=
static void print_fits(const struct model_config *c)
{
  struct cache_plan p = @[{ format_at(1), 4096, 1, 0, 0 }@];
  uint64_t weights = 2 * footprint_parameters(c), card = 80000000000;
  uint64_t blocks = footprint_parameters(c) / WEIGHT_BLOCK;
  uint64_t eight = blocks * weight_row_bytes(WEIGHT_Q8_0, WEIGHT_BLOCK);
  uint64_t four = blocks * weight_row_bytes(WEIGHT_Q4_0, WEIGHT_BLOCK);
  print_key("fits.llama.weights", "%.4f", (double) weights / 1e9);
  print_key("weights.llama.f32", "%.4f", (double) (2 * weights) / 1e9);
  print_key("weights.llama.q8", "%.4f", (double) eight / 1e9);
  print_key("weights.llama.q4", "%.4f", (double) four / 1e9);
  print_key("fits.small.context", "%" PRIu64,@|
    footprint_max_context(c, &p, four, 8000000000));
  print_key("fits.llama.batch claim.S1-49", "%" PRIu64,@|
    footprint_max_batch(c, &p, weights, card));
  uint64_t shown = (uint64_t) 81559 << 20; /* what its driver says of an H100 of 80 GB */
  print_key("fits.card", "%" PRIu64 " bytes", shown);
  print_key("fits.card.batch", "%" PRIu64,@|
    footprint_max_batch(c, &p, weights, shown));
  print_key("fits.reserve.batch", "%" PRIu64,@|
    footprint_max_batch(c, &p, weights, shown / 10 * 9));
  print_key("fits.llama.context", "%" PRIu64,@|
    footprint_max_context(c, &p, weights, card));
  print_key("fifty.pass", "%.4f",
    (double) footprint_pass(c, 100000, 100000, 1) / 1e9);
  print_key("activations.row", "%zu",@|
    3 * sizeof (uint32_t) + sizeof (size_t) + sizeof (struct segment));
  print_key("activations.llama.one", "%" PRIu64, footprint_pass(c, 1, 1, 1));
  print_key("activations.pass", "%zu", sizeof (struct pass));
  print_key("activations.llama.scratch", "%" PRIu64,@|
    footprint_pass(c, 1, 257, 1) - footprint_pass(c, 1, 1, 1));
  print_key("activations.llama.prompt", "%.4f",@|
    (double) footprint_pass(c, 2048, 2048, 1) / 1e6);
}

@ The claims about this shape. Then what it would save if four query heads shared each key head: in parameters, and in the cache, beside that of a slightly shorter text in which no head is shared.

@<Print what the claims come to@>=
static void print_seven(struct model_config c)
{
  uint64_t token = cache_of("llama-7b", 1, 0), whole = footprint_parameters(&c);
  uint64_t hundred = cache_of("llama-7b", 100000, 0);
  uint64_t layers = (uint64_t) c.n_layers * c.d_model * c.d_model * 12;
  print_key("claim.S0-42 claim.S0-56 claim.S2-55 claim.S1-24", "%" PRIu64, token);
  print_key("claim.S0-43 claim.S0-63", "%" PRIu64, hundred);
  print_key("llama.gigabyte", "%.4f", 1e9 / (double) token);
  print_key("fifty.sum", "%.4f", (double) (hundred + 2 * whole) / 1e9);
  print_key("fifty.gb", "%.4f", (double) hundred / 1e9);
  print_key("fifty.gib", "%.4f", gib(hundred));
  print_key("claim.S0-19", "%" PRIu64, 6 * token / c.n_layers);
  print_key("claim.S0-41", "%" PRIu64, layers);
  print_key("claim.S0-46", "%" PRIu64, cache_of("llama-7b", 100000, 8));
  print_key("claim.S0-49", "%" PRIu64, layers * 2 / token);
  print_key("claim.S2-91", "%.4f", gib(cache_of("llama-7b", 131072, 0)));
  c.n_kv_heads = 8;
  print_key("stack.grouped", "%" PRIu64, footprint_token(&c, format_at(1)));
  print_key("stack.small", "%" PRIu64, footprint_token(&c, format_at(4)));
  print_key("stack.floor", "%.4f",@|
    100 - 100 * (double) footprint_parameters(&c) / (double) whole);
  print_key("seven.short.gib", "%.4f", gib(cache_of("llama-7b", 128000, 0)));
  print_key("seven.grouped.gib", "%.4f", gib(cache_of("llama-7b", 131072, 8)));
}

@ Those about the smallest model, the one of 70B, and GPT-3, whose weights were never published.

@<Print what the claims come to@>=
static void print_others(void)
{
  struct model_config two = shape("llama2-70b"), three = shape("gpt3");
  struct model_config small = shape("gpt2");
  uint64_t grouped = cache_of("llama2-70b", 4096, 0);
  uint64_t full = cache_of("llama2-70b", 4096, 64);
  uint64_t weights = 2 * footprint_parameters(&small);
  uint64_t rows = cache_of("gpt2", 1024, 0);
  uint64_t third = cache_of("gpt3", 2048, 0);
  print_key("footprint.70b.grouped claim.S1-25", "%" PRIu64, grouped);
  print_key("footprint.70b.grouped.gib", "%.4f", gib(grouped));
  print_key("footprint.70b.full.gib", "%.4f", gib(full));
  print_key("claim.S1-26", "%.4f", gib(cache_of("llama2-70b", 131072, 0)));
  print_key("claim.S1-61", "%" PRIu64, full / grouped);
  print_key("claim.S0-55", "%u", two.d_model / (two.n_kv_heads * two.head_dim));
  print_key("claim.S2-57", "%u", two.n_kv_heads * two.head_dim);
  print_key("claim.S4-46", "%u", two.n_heads);
  print_key("claim.S1-16", "%" PRIu64, weights + rows);
  print_key("small.weights", "%" PRIu64, weights);
  print_key("claim.S2-59", "%" PRIu64, rows);
  print_key("claim.S2-60", "%" PRIu64, cache_of("gpt2", 8192, 0));
  print_key("claim.S2-61", "%.4f", gib(third));
  print_key("users.gpt3 claim.S2-62", "%.4f",@|
    2 * (double) footprint_parameters(&three) / (double) third);
  print_key("claim.S4-45", "%u", three.n_layers);
  print_key("claim.S4-48", "%u", three.n_layers * three.n_heads);
}

@ What follows from the shape of GPT-2 small: the product of the head, the length from which attention costs more than the matrices of a layer ($12d^2$ multiply--adds for each row, and $2d$ for each position that it looks at), the vectors and the weights of a position over all heads and layers, what ten positions leave for the next row, and the weights in numbers of four bytes.

@<Print what the claims come to@>=
static void print_small(void)
{
  struct model_config c = shape("gpt2");
  uint64_t heads = (uint64_t) c.n_heads * c.n_layers;
  uint64_t head = (uint64_t) c.vocab_size * c.d_model;
  print_key("claim.S2-07 claim.S2-23", "%" PRIu64, head);
  print_key("claim.S2-21", "%u", c.d_model);
  print_key("claim.S2-42", "%u", c.head_dim);
  print_key("claim.S0-26", "%u", 12 * c.d_model / 2);
  print_key("claim.S0-27", "%" PRIu64, 3 * heads);
  print_key("claim.S0-10", "%" PRIu64, heads);
  print_key("claim.S2-22", "%" PRIu64,@|
    footprint_token(&c, format_at(0)) / weight_row_bytes(WEIGHT_F32, 1) * 10);
  print_key("claim.S2-76", "%" PRIu64 " bytes", 2 * footprint_parameters(&c));
  print_key("small.weights.f32", "%" PRIu64, 4 * footprint_parameters(&c));
  print_key("small.width", "%u", c.n_heads * c.head_dim);
}
static bool print_claims(struct fixture *lab, struct error *why)
{
  struct model_config c = shape("llama-7b");
  (void) lab, (void) why;
  print_fits(&c);
  print_seven(c);
  print_others();
  print_small();
  return true;
}

@ The shape that one source calls ``like GPT-4'' is given in numbers; what it does not say, the size of a head, is that of most large models.

@<Print what the claims come to@>=
static bool print_big(struct fixture *lab, struct error *why)
{
  struct model_config c = @[{ .n_layers = 120, .n_heads = 128,@|
    .n_kv_heads = 128, .head_dim = 128 }@];
  struct cache_plan p = @[{ format_at(1), 131072, 1, 0, 0 }@];
  uint64_t full, grouped;
  (void) lab;
  if (!footprint_cache(&c, &p, &full, why)) return false;
  c.n_kv_heads = 8;
  if (!footprint_cache(&c, &p, &grouped, why)) return false;
  print_key("big.head_dim", "%u", c.head_dim);
  print_key("claim.S3-13", "%.4f", gib(full));
  print_key("big.grouped.gib", "%.4f", gib(grouped));
  print_key("big.factor", "%.4f", (double) full / (double) grouped);
  print_key("bytes.f32", "%zu", weight_row_bytes(WEIGHT_F32, 1));
  print_key("bytes.f16", "%zu", weight_row_bytes(WEIGHT_F16, 1));
  print_key("bytes.bf16", "%zu", weight_row_bytes(WEIGHT_BF16, 1));
  print_key("bytes.q8.ratio", "%.4f", (double) weight_row_bytes(WEIGHT_F16, 32)@|
    / (double) weight_row_bytes(WEIGHT_Q8_0, 32));
  print_key("claim.S0-48", "%.4f", (double) weight_row_bytes(WEIGHT_F16, 32)@|
    / (double) weight_row_bytes(WEIGHT_Q4_0, 32));
  return true;
}

@ From which length of all texts together does the cache outweigh the weights, if both have numbers of two bytes? The first token after the quotient.

@<Print what the claims come to@>=
static bool print_cross(struct fixture *lab, struct error *why)
{
  static const char *const name[] = @[{ "llama-7b", "llama2-70b" }@];
  (void) lab, (void) why;
  for (int i = 0; i < 2; i++) {
    struct model_config c = shape(name[i]);
    printf("cross.%s %" PRIu64 "\n", name[i], 2 * footprint_parameters(&c)@|
      / footprint_token(&c, format_at(1)) + 1);
  }
  return true;
}

@ Multi-head latent attention is not in the engine. The settings are those published with the weights of DeepSeek-V3: 61 layers, \given{128} heads with keys of $\given{128}+64$ numbers and values of \given{128}, a latent of \given{512} numbers, a rotated key of 64, and \given{163840} positions (the paper speaks of a context of \given{131072}).

@<Print what the claims come to@>=
static bool print_latent(struct fixture *lab, struct error *why)
{
  enum { LAYERS = 61, HEADS = 128, PLAIN = 128, ROTATED = 64, VALUE = 128,
    LATENT = 512, CONTEXT = 163840 };
  uint64_t row = LATENT + ROTATED, token = LAYERS * row * 2;
  uint64_t full = HEADS * (PLAIN + ROTATED + VALUE);
  (void) lab, (void) why;
  print_key("mla.layers", "%d", LAYERS);
  print_key("mla.heads", "%d", HEADS);
  print_key("mla.row", "%" PRIu64, row);
  print_key("mla.full", "%" PRIu64, full);
  print_key("mla.factor", "%.4f", (double) full / (double) row);
  print_key("mla.token", "%" PRIu64, token);
  print_key("mla.context", "%d", CONTEXT);
  print_key("mla.gb", "%.6f", (double) (token * CONTEXT) / 1e9);
  print_key("mla.gib", "%.6f", gib(token * CONTEXT));
  return true;
}

@* Weights and cache, stacked. \label{lab:stack}
What a shape of 7B takes for one text of growing length: the weights, and on top of them the cache with all its heads, with a quarter of them, and with these in four bits.

@<Draw the stack@>=
static bool print_stack(struct fixture *lab, struct error *why)
{
  struct model_config c;
  (void) lab;
  if (!named_shape_find("llama-7b", &c, why)) return false;
  uint64_t weights = 2 * footprint_parameters(&c), bytes;
  printf("tokens,weights,mha,gqa,small\n");
  for (uint64_t n = 0; n <= 131072; n += 4096) {
    printf("%" PRIu64 ",%.4f", n, (double) weights / 1e9);
    for (int k = 0; k < 3; k++) {
      struct cache_plan p = @[{ format_at(k == 2 ? 4 : 1), n, 1, 0, 0 }@];
      c.n_kv_heads = k == 0 ? 32 : 8;
      if (!footprint_cache(&c, &p, &bytes, why)) return false;
      printf(",%.4f", (double) (weights + bytes) / 1e9);
    }
    printf("\n");
  }
  return true;
}

@* The ring of a sliding window. \label{lab:ring}
A store with a window of six positions reads sixteen rows, four as a prompt and the others one by one. Its pages have one row each, so a page is a place
in the ring; we number the places in the order in which they are first used. Before each pass we begin it ourselves, look where the store would put the rows and what the last of them would see, and take the pass back.

@<Watch the ring@>=
struct ring { const char *place[16]; int n; };
static int place_number(struct ring *r, const char *place)
{
  int i = 0;
  while (i < r->n && r->place[i] != place) i++;
  if (i == r->n) r->place[r->n++] = place;
  return i;
}
static bool print_places(struct store *s, const struct row *row, size_t n,
  struct ring *r, struct error *why)
{
  struct segment l; /* the rows follow each other */
  if (!store_begin(s, row, n, why)) return false;
  store_segments(s, 0, n, &l);
  struct kv_range v = segment_range(&l, (uint32_t) n - 1);
  for (uint32_t t = v.lo; t < v.hi; t++)
    printf("%u,%d,%u,%d\n", v.hi, place_number(r, l.view.page[t]), t,@|
      t >= row->position);
  store_abort(s);
  return true;
}

@ The cache is opened with a window where the model has none. The model itself is not changed: the store decides what a row sees.

@<Watch the ring@>=
static bool print_ring(struct fixture *lab, struct error *why)
{
  enum { WINDOW = 6, STEPS = 16, PROMPT = 4 };
  struct row row[STEPS];
  struct pass *p;
  struct ring ring = @[{ .n = 0 }@];
  struct store *s = cache_open(&lab->m, &lab->model->config, 1,
    &(struct cache_options) @[{ .page_rows = 1, .set_window = true,@|
      .window = WINDOW }@], why);
  bool ok = s != NULL;
  printf("step,place,position,fresh\n");
  for (uint32_t i = 0; i < STEPS; i++)
    row[i] = (struct row) @[{ 0, i, lab->sentence[i % PARROT_WORDS] }@];
  for (size_t i = 0, n = PROMPT; ok && i < STEPS; i += n, n = 1) {
    ok = print_places(s, row + i, n, &ring, why)
      && model_forward(&lab->e, lab->model, s, row + i, n, &p, why);
    if (ok) pass_close(p);
  }
  store_close(s);
  return ok;
}

@* The loss with a shorter window. \label{lab:forgetting}
A reading is one pass of all rows of the tales through a cache that remembers in its own way; all logits are kept. The first reading is the exact one, in float32 and with nothing
forgotten. All others are compared with it, so its logits are kept beside theirs.

@<Read three tales@>=
struct memory_way { const char *name; size_t format; uint32_t window, sinks; };
static const struct memory_way in_format[N_FORMATS] = @[{@|
  { "f32", 0, 0, 0 }, { "f16", 1, 0, 0 }, { "bf16", 2, 0, 0 },@|
  { "q8_0", 3, 0, 0 }, { "q4_0", 4, 0, 0 } }@];
struct tales { struct ids id; float *exact, *logits; size_t vocab; };
static bool tales_read(struct fixture *lab, const struct tales *t,
  const struct memory_way *way, float *logits, struct error *why)
{
  struct cache_options options = @[{ .format = format_at(way->format),@|
    .set_window = true, .window = way->window, .sinks = way->sinks }@];
  struct store *s = cache_open(&lab->m, &lab->model->config, 1, &options, why);
  bool ok = s != NULL
    && lab_logits(lab, s, t->id.id, t->id.n, t->id.n, logits, why);
  store_close(s);
  return ok;
}
static bool tales_open(struct fixture *lab, struct tales *t,
  struct error *why)
{
  *t = (struct tales) @[{ .vocab = lab->model->config.vocab_size }@];
  if (!lab_tales(lab, &t->id, why)) return false;
  t->exact = lab_take(lab, t->id.n * t->vocab, sizeof (float), why);
  t->logits = lab_take(lab, t->id.n * t->vocab, sizeof (float), why);
  return t->exact != NULL && t->logits != NULL
    && tales_read(lab, t, &in_format[0], t->exact, why);
}

@ What became of a row: how far the farthest logit is from where it should be, and whether another token leads.

@<Measure what a shorter memory costs@>=
static double row_error(const struct tales *t, size_t i, bool *changed)
{
  const float *z = t->logits + i * t->vocab, *exact = t->exact + i * t->vocab;
  *changed = best_token(z, t->vocab) != best_token(exact, t->vocab);
  return farthest(z, exact, t->vocab);
}

@ \Cref{fig:kverrors} has a point for 32 rows, the median of their errors.

@<Measure what a shorter memory costs@>=
static bool print_errors(struct fixture *lab, struct error *why)
{
  enum { GROUP = 32 };
  struct tales t;
  bool ok = tales_open(lab, &t, why);
  printf("format,row,error,changed\n");
  for (int k = 1; ok && k < N_FORMATS; k++) {
    ok = tales_read(lab, &t, &in_format[k], t.logits, why);
    for (size_t i = 0; ok && i + GROUP <= t.id.n; i += GROUP) {
      double off[GROUP];
      int changed = 0;
      bool now;
      for (size_t j = 0; j < GROUP; j++, changed += now)
        off[j] = row_error(&t, i + j, &now);
      printf("%s,%zu,%.6f,%d\n", in_format[k].name, i + GROUP / 2,
        timing_quartiles(off, GROUP).median, changed);
    }
  }
  return ok;
}

@ Over all rows: the worst of these errors, their sum, the number of rows that lead to another token, and the perplexity of the text.

@<Measure what a shorter memory costs@>=
struct damage { double most, sum, perplexity; size_t changed; };
static bool assess(struct fixture *lab, const struct tales *t,
  const struct memory_way *way, struct damage *d, struct error *why)
{
  size_t v = t->vocab, n = t->id.n;
  double loss = 0, *logprob = memory_alloc(&lab->m, MEMORY_OTHER, v, 8, why);
  bool ok = logprob != NULL && tales_read(lab, t, way, t->logits, why);
  *d = (struct damage) @[{ .most = 0 }@];
  for (size_t i = 0; ok && i < n; i++) {
    bool changed;
    double off = row_error(t, i, &changed);
    d->most = fmax(d->most, off), d->sum += off;
    d->changed += changed;
    if (i + 1 == n) break;
    lab->e.k->log_softmax(&lab->e, t->logits + i * v, 1, v, logprob);
    loss -= logprob[t->id.id[i + 1]];
  }
  d->perplexity = exp(loss / (double) (n - 1));
  memory_free(&lab->m, logprob);
  return ok;
}

@ The rows of a window are those of a plan with passes of one row.

@<Measure what a shorter memory costs@>=
static bool print_window(struct fixture *lab, const struct tales *t,
  uint32_t window, uint32_t sinks, double whole, struct error *why)
{
  struct memory_way way = @[{ NULL, 0, window, sinks }@];
  struct model_config c = lab->model->config;
  struct damage d;
  struct cache_plan p = @[{ format_at(0), t->id.n, 1, 1, 1 }@];
  const char *with = sinks > 0 ? ".sinks" : "";
  if (!assess(lab, t, &way, &d, why)
      || !config_set_window(&c, window, sinks, why)) return false;
  printf("win.%u%s.rows %" PRIu64 "\nwin.%u%s.changed %zu\n", window, with,
    footprint_rows(&c, 0, &p), window, with, d.changed);
  printf("win.%u%s.perplexity %.6f\n", window, with, d.perplexity);
  if (sinks == 0) printf("win.%u.percent %.4f\n", window,
    100 * (d.perplexity / whole - 1));
  return true;
}

@ All keys of both tables. There are five windows, each without sinks and with four, and one that is as large as the smallest with its sinks. The smallest is hardly a clause, the largest more
than half of all three tales together. This takes a few seconds, because each line of both tables is a reading of its own.

@<Measure what a shorter memory costs@>=
static bool print_damage(struct fixture *lab, struct error *why)
{
  static const uint32_t window[] = @[{ 16, 64, 128, 256, 1024 }@];
  struct tales t;
  struct damage d;
  double whole = 0;
  bool ok = tales_open(lab, &t, why);
  if (ok) print_key("tales.tokens tales.rows", "%zu", t.id.n);
  for (int k = 0; ok && k < N_FORMATS; k++) {
    const char *name = in_format[k].name;
    ok = assess(lab, &t, &in_format[k], &d, why);
    if (k == 0) whole = d.perplexity;
    if (ok) printf("kv.%s.bytes %" PRIu64 "\nkv.%s.most %.6f\nkv.%s.mean %.6f\n"
      "kv.%s.changed %zu\nkv.%s.perplexity %.6f\n",@| name,
      footprint_token(&lab->model->config, format_at((size_t) k)), name, d.most,
      name, d.sum / (double) t.id.n, name, d.changed, name, d.perplexity);
  }
  ok = ok && print_window(lab, &t, 20, 0, whole, why);
  for (int i = 0; ok && i < 5; i++)
    ok = print_window(lab, &t, window[i], 0, whole, why)
      && print_window(lab, &t, window[i], 4, whole, why);
  return ok;
}

@* A lossy cache in a published model. \label{lab:lossy}
The built-in model was made for this book. We repeat the measurement with a model that others trained: stories260K, a Llama of \given{260\,000} parameters that Andrej Karpathy trained on the TinyStories, with 5 layers, 8 heads of queries, 4 of keys and values, and a context of \given{512} tokens. Its files are not part of this project. So the program takes their folder as an argument, and what it prints is kept in \.{figures/data/accounts.lossy.csv}, from which the keys are read; \texttt{make lossy} measures again, and a test compares, where the files are.

What should the model read? A text of the kind that it was trained on: sixteen texts of \given{512} tokens that it has written itself, at temperature 1 with a fixed seed, from the token that begins a text. Such texts have an advantage. They are drawn from the very probabilities that the model gives with the whole cache. No other probabilities can predict them better on average, and the loss that a smaller cache adds is, on average, the divergence of Kullback and Leibler between the two. As a control it reads the English page of \.{tests/texts}, on manuscripts, of which it understands little.

@<Measure a model that is not here@>=
enum { STORIES = 16, STORY = 512, BEYOND = 4 };
  /* texts, their tokens, and how many of them follow each other in a long one */
struct lossy { struct fixture *lab; struct model *lm; struct tokenizer *t;@+
  struct ids stories, english; double *logprob; };
  /* |stories| has the first |BEYOND-1| texts again at its end */
static bool write_stories(struct lossy *x, struct error *why)
{
  struct sampler dice = @[{ .s = sampling_default(), .seed = 1 }@];
  struct generate_options want = @[{ .max_new_tokens = STORY - 1,@|
    .recall = store_match_prefix,@|
    .select = sampler_choose, .select_ctx = &dice }@];
  struct bench b = @[{ .m = NULL }@];
  uint32_t first;
  bool ok = tokenizer_bos(x->t, &first)
    && bench_open(&b, x->lab, x->lm, 0, &(struct cache_options) @[{ .rows = 0 }@], why)
    && funnel_open(&dice.f, b.m, b.e.k, x->lm->config.vocab_size, why);
  for (uint32_t i = 0; ok && i < STORIES; i++) {
    struct continuation c;
    dice.sequence = i;
    ok = generate(&b.g, &first, 1, &want, &c, why);
    for (size_t k = 0; ok && k < c.text.n; k++)
      ok = ids_push(b.m, &x->stories, c.text.id[k], why);
    continuation_free(b.m, &c);
  }
  funnel_close(&dice.f);
  bench_close(&b);
  return ok;
}

@ The model is opened with a context that is four times its own, since we want to know what happens past its end; its files are not changed. (Its positions are rotations, which can be computed for any position.)

@<Measure a model that is not here@>=
static bool lossy_open(struct lossy *x, const char *folder, struct error *why)
{
  struct memory *m = &x->lab->m;
  struct mapping page;
  if ((x->lm = model_open(m, folder, why)) == NULL
      || (x->t = tokenizer_open(m, folder, why)) == NULL) return false;
  x->lm->config.n_positions = BEYOND * STORY;
  x->logprob = lab_take(x->lab, BEYOND * STORY, sizeof *x->logprob, why);
  if (x->logprob == NULL || !file_map(&page, "tests/texts/english.txt", why))
    return false;
  bool ok = tokenizer_encode(x->t, m, (const char *) page.bytes, page.size, true,
    false, &x->english, why) && write_stories(x, why);
  file_unmap(&page);
  for (size_t i = 0; ok && i < (BEYOND - 1) * STORY; i++)
    ok = ids_push(m, &x->stories, x->stories.id[i], why);
  return ok;
}
static void lossy_close(struct lossy *x)
{
  struct memory *m = &x->lab->m;
  ids_free(m, &x->english);
  ids_free(m, &x->stories);
  tokenizer_close(m, x->t);
  model_close(m, x->lm);
}

@ A setting of the cache has a line for each \given{512} positions: the mean loss of their tokens in all texts, and the perplexity. Where a long text goes from one story to the next the token is not scored, since the cut cannot be predicted. Long text $i$ consists of the stories $i$ to $i+3$, counted around, so that each stretch of \given{512} positions has each story once, and all stretches would have the same loss if what came before them made no difference.

@<Measure a model that is not here@>=
struct lossy_text { const char *name; const struct ids *id; size_t n, length; };
  /* |n| texts of |length| tokens, of which each begins |STORY| after the last */
static bool lossy_line(struct lossy *x, const struct lossy_text *t,
  const struct memory_way *way, struct error *why)
{
  double loss[BEYOND] = @[{ 0 }@], sum;
  size_t scored[BEYOND] = @[{ 0 }@], rows = way->window + way->sinks;
  struct cache_options options = @[{ .format = format_at(way->format),@|
    .set_window = true, .window = way->window, .sinks = way->sinks }@];
  struct store *s = cache_open(&x->lab->m, &x->lm->config, 1, &options, why);
  bool ok = s != NULL;
  for (size_t k = 0; ok && k < t->n; k++) {
    ok = model_logprobs(&x->lab->e, x->lm, s, t->id->id + k * STORY, t->length,@|
      x->logprob, &sum, why);
    for (size_t i = 0; ok && i < t->length; i++)
      if (i % STORY > 0)
        loss[i / STORY] -= x->logprob[i], scored[i / STORY]++;
  }
  if (way->window == 0 || rows > t->length) rows = t->length;
  for (int i = 0; ok && i < BEYOND && scored[i] > 0; i++) {
    double mean = loss[i] / (double) scored[i];
    printf("%s,%s,%u,%zu,%.6f,%d,%.6f,%.6f\n", t->name, way->name, way->sinks,
      rows, (double) rows / (double) t->length, i, mean, num_exp(mean));
  }
  store_close(s);
  return ok;
}

@ Which settings? First the two formats of 16 bits. (The two formats of blocks need heads of 32 numbers or a multiple; those of this model have 8.) Then caches of \given{256} rows down to 8, each in three ways: the newest rows; the first row and the newest; the first four and the newest. So caches of the same line of \cref{fig:lossy} differ in which rows they keep, and not in how many. The long texts are read with everything kept, and with \given{256} rows.

@<Measure a model that is not here@>=
static bool lossy_windows(struct lossy *x, const struct lossy_text *t,
  uint32_t most, uint32_t least, struct error *why)
{
  static const uint32_t sinks[] = @[{ 0, 1, 4 }@];
  bool ok = true;
  for (uint32_t rows = most; rows >= least; rows /= 2)
    for (int i = 0; ok && i < 3; i++)
      ok = lossy_line(x, t, &(struct memory_way) @[{ "f32", 0,@|
        rows - sinks[i], sinks[i] }@], why);
  return ok;
}
static bool lossy_print(struct lossy *x, struct error *why)
{
  const struct lossy_text text[] = @[{@|
    { "stories", &x->stories, STORIES, STORY },@|
    { "english", &x->english, 1, x->english.n },@|
    { "long", &x->stories, STORIES, BEYOND * STORY } }@];
  bool ok = true;
  printf("text,format,sinks,rows,share,stretch,loss,perplexity\n");
  for (int i = 0; ok && i < 2; i++) {
    for (int k = 0; ok && k < 3; k++) ok = lossy_line(x, &text[i], &in_format[k], why);
    ok = ok && lossy_windows(x, &text[i], 256, 8, why);
  }
  return ok && lossy_line(x, &text[2], &in_format[0], why)
    && lossy_windows(x, &text[2], 256, 256, why);
}

@ Do the heads of this model lean on the first position, as those of large models do? A watcher adds up the weights that the rows of the second half of each story give to it, head by head.

@<Measure a model that is not here@>=
struct leaning { double *of; size_t heads; };
  /* the sum of each head, layer after layer */
static void lean(void *ctx, enum tap_point point, uint32_t layer, float *x,
  size_t rows, size_t width)
{
  struct leaning *l = ctx;
  if (point != TAP_WEIGHTS) return;
  for (size_t r = STORY / 2; r < rows; r++)
    for (size_t h = 0; h < l->heads; h++)
      l->of[layer * l->heads + h] += x[r * width + h * (width / l->heads)];
}
static bool lean_over(struct lossy *x, struct leaning *l, struct error *why)
{
  struct bench b = @[{ .m = NULL }@];
  struct watcher look = @[{ .tap = lean, .ctx = l, .weights = true }@];
  bool ok = bench_open(&b, x->lab, x->lm, 0, &(struct cache_options) @[{ .rows = 0 }@],
    why);
  for (size_t k = 0; ok && k < STORIES; k++) {
    struct row row[STORY];
    struct pass *p = NULL;
    for (uint32_t i = 0; i < STORY; i++)
      row[i] = (struct row) @[{ 0, i, x->stories.id[k * STORY + i] }@];
    store_clear(b.s);
    ok = model_forward_watched(&b.e, x->lm, b.s, row, STORY, &look, &p, why);
    pass_close(p);
  }
  bench_close(&b);
  return ok;
}

@ The line has the mean over all heads, and the largest.

@<Measure a model that is not here@>=
static bool lossy_first(struct lossy *x, struct error *why)
{
  struct leaning l = @[{ .heads = x->lm->config.n_heads }@];
  size_t all = l.heads * x->lm->config.n_layers;
  double rows = STORIES * STORY / 2, mean = 0, most = 0;
  l.of = lab_take(x->lab, all, sizeof *l.of, why);
  if (l.of == NULL || !lean_over(x, &l, why)) return false;
  for (size_t i = 0; i < all; i++)
    mean += l.of[i] / rows / (double) all, most = fmax(most, l.of[i] / rows);
  printf("weights,%.6f,%.6f\n", mean, most);
  return true;
}

@ The first lines of the file say where it is from.

@<Measure a model that is not here@>=
static int lossy_main(const char *folder)
{
  static struct fixture lab;
  struct lossy x = @[{ .lab = &lab }@];
  struct error why;
  printf("# command: build/bin/laboratory/accounts lossy"
    " SHARED/golden/models/stories260K (make lossy)\n"@|
    "# model: stories260K (A. Karpathy, llama2.c; trained on TinyStories);"
    " 5 layers, 8 heads, 4 of keys and values, context 512\n"@|
    "# stories: 16 texts of 512 tokens, sampled from it at temperature 1, seed 1;"@|
    " english: tests/texts/english.txt; long: 16 texts of 4 stories\n");
  bool ok = lab_open(&lab, &why) && lossy_open(&x, folder, &why)
    && lossy_print(&x, &why) && lossy_first(&x, &why);
  lossy_close(&x);
  lab_close(&lab);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ The keys are read from the file. A perplexity is printed as it is, and by how many percent it is larger than that of the whole cache, which comes first for each text. Beside the weights of the first position we print the weight that it would have if each row gave all positions the same.

@<Print the keys of a lossy cache@>=
static double equal_weight(void)
{
  double sum = 0;
  for (int r = STORY / 2; r < STORY; r++) sum += 1.0 / (r + 1);
  return sum / (STORY / 2);
}
enum { LOSSY_LINES = 2 * (3 + 3 * 6) + 4 * 4 + 1 };
static bool print_lossy_line(void *ctx, const char *line)
{
  double *whole = ctx, share, loss, perplexity;
  char text[16], format[16];
  unsigned sinks, rows, stretch;
  if (sscanf(line, "weights,%lf,%lf", &share, &loss) == 2) {
    printf("lossy.first.mean %.6f\n", 100 * share);
    printf("lossy.first.most %.6f\n", 100 * loss);
    printf("lossy.first.equal %.6f\n", 100 * equal_weight());
    return true;
  }
  if (sscanf(line, "%15[^,],%15[^,],%u,%u,%lf,%u,%lf,%lf", text, format, &sinks,
    &rows, &share, &stretch, &loss, &perplexity) != 8) return false;
  bool all = share == 1 && stretch == 0, exact = strcmp(format, "f32") == 0;
  if (all && exact) *whole = perplexity;
  struct label k = label_of("lossy.%s.%s", text, all ? format@|
    : label_of("%u.%u", rows, sinks).text);
  if (strcmp(text, "long") == 0)
    k = label_of("lossy.long.%u.%u.%u", rows, sinks, stretch);
  printf("%s.perplexity %.6f\n", k.text, perplexity);
  if (!all || !exact) printf("%s.percent %.6f\n", k.text,@|
    100 * (perplexity / *whole - 1));
  return true;
}
static bool print_lossy(struct fixture *lab, struct error *why)
{
  double whole = 0;
  (void) lab;
  return data_read("accounts.lossy", print_lossy_line, &whole, LOSSY_LINES, why);
}

@* What the operating system sees. \label{lab:rss}
The allocator counts what the program requests. The operating system counts pages that are in memory, the \emph{resident set} (RSS), and of these it tells apart those that belong to the process alone and those that are parts of a file. Both are in \.{/proc/self/status}, in units of \given{1024} bytes. The program looks there when it begins and after each step, and prints what has been added since the beginning. It opens nothing but the built-in model, so that little else is in the way. The numbers change from system to system, and so the file is one that \texttt{make measure} writes.

@<Ask the operating system@>=
struct resident { double anon, file; };
static struct resident resident_now(void)
{
  struct resident now = @[{ 0, 0 }@];
  char line[128];
  FILE *f = fopen("/proc/self/status", "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    sscanf(line, "RssAnon: %lf", &now.anon);
    sscanf(line, "RssFile: %lf", &now.file);
  }
  if (f != NULL) fclose(f);
  return now;
}
static void print_step(const char *step, const struct memory *m,
  const struct resident *begun)
{
  struct resident now = resident_now();
  printf("%s,%.1f,%.1f,%.1f\n", step, (double) m->all.live / 1024,@|
    now.anon - begun->anon, now.file - begun->file);
}

@ The steps: the model is opened; a cache for its whole context is allocated; 64 rows are read, then the rest of the context; and at last the weights are packed.

@<Ask the operating system@>=
static bool read_rows(struct engine *e, const struct model *lm, struct store *s,
  uint32_t from, uint32_t to, struct error *why)
{
  struct row row[64];
  struct pass *p;
  for (uint32_t n; from < to; from += n) {
    n = to - from < 64 ? to - from : 64;
    for (uint32_t i = 0; i < n; i++)
      row[i] = (struct row) @[{ 0, from + i, (from + i) % 100 }@];
    if (!model_forward(e, lm, s, row, n, &p, why)) return false;
    pass_close(p);
  }
  return true;
}
static bool take_rss(struct memory *m, struct engine *e, struct error *why)
{
  struct resident begun = resident_now();
  struct model *lm = model_open(m, "models/pocket", why);
  if (lm == NULL) return false;
  print_step("opened", m, &begun);
  struct store *s = cache_open(m, &lm->config, 1,
    &(struct cache_options) @[{ .preallocate = true }@], why);
  bool ok = s != NULL;
  if (ok) print_step("cache", m, &begun);
  ok = ok && read_rows(e, lm, s, 0, 64, why);
  if (ok) print_step("pass", m, &begun);
  ok = ok && read_rows(e, lm, s, 64, lm->config.n_positions, why);
  if (ok) print_step("full", m, &begun);
  struct prepared_weights *ready = ok ? model_prepare(m, e->k, e->activations, lm, why)
    : NULL;
  if (ready != NULL) print_step("packed", m, &begun);
  prepared_close(m, ready);
  store_close(s), model_close(m, lm);
  return ready != NULL;
}
static int rss_main(void)
{
  static struct memory m;
  static struct counters c;
  struct error why;
  struct engine e = @[{ .k = kernels_find(NULL, &why), .c = &c }@];
  printf("step,counted,anon,file\n");
  bool ok = e.k != NULL && take_rss(&m, &e, &why);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@ The keys are in MiB.

@<Ask the operating system@>=
static bool take_resident(void *ctx, const char *line)
{
  char step[16];
  double counted, anon, file;
  (void) ctx;
  if (sscanf(line, "%15[a-z],%lf,%lf,%lf", step, &counted, &anon, &file) != 4)
    return false;
  printf("rss.%s.counted %.4f\nrss.%s.anon %.4f\nrss.%s.file %.4f\n", step,@|
    counted / 1024, step, anon / 1024, step, file / 1024);
  return true;
}
static bool print_rss(struct fixture *lab, struct error *why)
{
  (void) lab;
  return data_read("accounts.rss", take_resident, NULL, 5, why);
}

@* Claims of the tutorials. \label{lab:memorytutorials}
Two boxes are in \cref{sec:accountstutorials}. These are the others.

\begin{claimed}{S0-19}
\val{claim.S0-19} bytes a token in six layers of \given{4096} numbers. The half is that of another model, of 32 layers (S0-42).
\end{claimed}

\begin{claimed}{S0-41}
$12Ld^2$, with an MLP of four times the width, are \val{claim.S0-41} weights in the layers. That is what everybody calls 7B.
\end{claimed}

\begin{claimed}{S0-43}
\val{claim.S0-43} bytes, \val{claim.S0-42} for each token: \val[2]{fifty.gb} GB or \val[2]{fifty.gib} GiB. Rounded, either is 50. (Exactly 50 GiB is what $\given{102\,400}$ tokens take, and exactly 50 GB what $\given{100\,000}$ would take of $\given{500\,000}$ bytes each.)
\end{claimed}

\begin{claimed}{S2-60}
\val{claim.S2-60} bytes, more than the \val{small.weights} of the model itself, whose positions end at \given{1024}.
\end{claimed}

@ Right, or right if one knows what is meant: a token of Llama 7B's shape leaves \val{claim.S0-56} bytes; a step of GPT-2 small at its last position reads \val{claim.S1-16} bytes of weights and cache together, or a little less, as of the table of positions it looks up one row; \given{4096} tokens of the 70B take \val{claim.S1-25} bytes (\val[2]{footprint.70b.grouped.gib} GiB); $\given{131072}$ tokens of a 7B take \val[0]{claim.S2-91} GiB, and of the 70B \val[0]{claim.S1-26} GiB; GPT-3 needs \val[0]{claim.S2-61} GiB for its \given{2048} tokens, and its cache equals its weights with \val[0]{users.gpt3} users of such a text each.

Three claims no program can decide. That most single GPUs have less than 50 GB (S0-44) is true or not depending on the year; the \val[1]{fifty.sum} GB of that cache and its weights fit into one accelerator of 80 GB and into no card for games. That memory and not compute is the limit of long contexts (S0-39, S3-14) is true of one text on a large machine in decode, and false of prefill: there the pairs are quadratic, and \cref{eq:overtake} has the length from which they dominate.
