@i types.w
@s size_t int
@s lab_print int
@s request int
@s scheduler int
@s scheduler_options int
@s timed_class int
@s roofline int
@s phase int
@s engine int
@s kernels int
@s rectangle int
@s padded int
@s way_to_pad int
@s kv_view int
@s segment int
@s tensor int
@s simulation int
@s row_costs int
@s crowd int
@s service int
@s machine int
@s park int

\chapterquestion{How much of a machine do other people's texts fill, and in which order should they come?}
@** Experiments on serving many.
\incipit{E}{ight requests} with the lengths of the hand calculation are served in several ways, and the slots are watched, pass by pass. What comes out depends on the lengths and on the order, not on the words; so all requests have prompts of one token, and no end token counts. Then four prompts are padded, a class is timed, and thousands of users are simulated.

@c
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "kernels/kernels.h"
#include "accounts/accounts.h"
#include "phases/phases.h"
#include "serving/simulator.h"
#include "functions/numbers.h"
#include "laboratory/kit2.h"
#include "laboratory/kit-random.h"
@;@#
@<Serve lengths, and watch the slots@>@;
@<Count what each way costs@>@;
@<Draw the slots@>@;
@<A rectangle of tokens@>@;
@<Ways to pad@>@;
@<Compare the ways to pad@>@;
@<Serve in a small cache@>@;
@<Read a long prompt beside others@>@;
@<Time a class@>@;
@<Simulate users@>@;
@#
static bool print_all(struct fixture *lab, struct error *why)
{
  return print_ways(lab, why) && print_small(lab, why) && print_long(lab, why);
}
int main(int argc, char **argv)
{
  static const struct lab_command table[] = @[{ { "values", print_all },@|
    { "slots", draw_slots }, { "many", print_many },@|
    { "values", print_padded }, { "values", print_timed }, { "values", print_users }, { "knee", draw_knee }, { NULL, NULL } }@];
  return lab_main(argc, argv, table);
}

@* Slots. \label{lab:slots}
A watch has the number of each request, its length, and, for every pass, which request was in which slot.

@<Serve lengths, and watch the slots@>=
enum { WAITING_TEXTS = 8, SEATS = 4, MOST_PASSES = 400 };
static const size_t lengths[WAITING_TEXTS] = @[{ 10, 100, 20, 30, 50, 15, 80, 40 }@];
struct watch { size_t order[WAITING_TEXTS];@+ int seat[MOST_PASSES][SEATS];
  size_t passes, joined, used;@+ size_t ended[WAITING_TEXTS]; };
  /* |seat| is the number of a request, or $-1$; |joined|: requests that got a slot while others kept
    theirs; |used|: slots with a text, over all passes; |ended|: the pass after which a request had its text */

@ We look before and after each step. A request that runs after the step, or has ended in it, had a row in the pass.

@<Serve lengths, and watch the slots@>=
static bool watch_step(struct watch *w, struct request *r, struct scheduler *s,
  struct error *why)
{
  bool ran[WAITING_TEXTS], others = false, newcomer = false;
  for (size_t i = 0; i < WAITING_TEXTS; i++) ran[i] = r[i].state == REQUEST_RUNNING;
  if (!scheduler_step(s, why)) return false;
  for (size_t k = 0; k < SEATS; k++) w->seat[w->passes][k] = -1;
  for (size_t i = 0; i < WAITING_TEXTS; i++) {
    if (r[i].state == REQUEST_WAITING || w->ended[i] > 0) continue;
    w->seat[w->passes][r[i].q.c.sequence] = (int) w->order[i], w->used++;
    if (r[i].state == REQUEST_ENDED) w->ended[i] = w->passes + 1;
    others = others || ran[i];
    newcomer = newcomer || !ran[i];
  }
  w->joined += others && newcomer;
  w->passes++;
  return true;
}
static bool watch_all(struct fixture *lab, struct watch *w, bool in_batches,
  struct error *why)
{
  struct request r[WAITING_TEXTS];
  struct scheduler s;
  struct scheduler_options how = @[{ .in_batches = in_batches }@];
  struct store *cache = cache_open(&lab->m, &lab->model->config, SEATS,@|
    &(struct cache_options) @[{ .rows = 0 }@], why);
  struct generate_context g = @[{ &lab->e, lab->model, cache, &lab->m }@];
  bool open = cache != NULL && scheduler_open(&s, &g, &how, why), ok = open;
  uint32_t first = lab->sentence[0];
  memset(r, 0, sizeof r);
  for (size_t i = 0; ok && i < WAITING_TEXTS; i++) {
    struct generate_options want = @[{ .max_new_tokens = lengths[w->order[i]] }@];
    ok = scheduler_submit(&s, &r[i], &first, 1, &want, why);
  }
  while (ok && !scheduler_idle(&s) && w->passes < MOST_PASSES) ok = watch_step(w, r, &s, why);
  for (size_t i = 0; open && i < WAITING_TEXTS; i++) request_close(&s, &r[i]);
  if (open) scheduler_close(&s);
  store_close(cache);
  return ok;
}

@ Three ways: in batches, as they come, and the longest first. The last is for comparison: nobody knows beforehand how long a text will be. Its passes are as few as they can be, since no text can be split, and the longest has \given{100} tokens.

@<Count what each way costs@>=
static int by_length(const void *a, const void *b)
{
  size_t x = lengths[*(const size_t *) a], y = lengths[*(const size_t *) b];
  return x < y ? 1 : x > y ? -1 : 0;
}
static bool one_way(struct fixture *lab, struct watch *w, bool in_batches, bool longest,
  struct error *why)
{
  memset(w, 0, sizeof *w);
  for (size_t i = 0; i < WAITING_TEXTS; i++) w->order[i] = i;
  if (longest) qsort(w->order, WAITING_TEXTS, sizeof *w->order, by_length);
  return watch_all(lab, w, in_batches, why);
}
static bool print_way(struct fixture *lab, const char *name, bool in_batches,
  bool longest, struct error *why)
{
  struct watch *w = lab_take(lab, 1, sizeof *w, why);
  double wait = 0;
  if (w == NULL || !one_way(lab, w, in_batches, longest, why)) return false;
  for (size_t i = 0; i < WAITING_TEXTS; i++) wait += (double) w->ended[i];
  print_key(label_of("serving.passes.%s", name).text, "%zu", w->passes);
  print_key(label_of("serving.used.%s", name).text, "%.4f",@|
    (double) w->used / (double) (SEATS * w->passes));
  print_key(label_of("serving.wait.%s", name).text, "%.3f", wait / WAITING_TEXTS);
  print_key(label_of("serving.joined.%s", name).text, "%zu", w->joined);
  return true;
}
static bool print_ways(struct fixture *lab, struct error *why)
{
  return print_way(lab, "static", true, false, why)
    && print_way(lab, "continuous", false, false, why)
    && print_way(lab, "longest", false, true, why);
}

@ The figure needs a line for each stretch of passes in which a slot had the same request, in both ways.

@<Draw the slots@>=
static void draw_seats(const struct watch *w, const char *way)
{
  for (size_t k = 0; k < SEATS; k++)
    for (size_t i = 0, from = 0; i < w->passes; i++)
      if (i + 1 == w->passes || w->seat[i + 1][k] != w->seat[i][k]) {
        if (w->seat[i][k] >= 0) printf("%s,%zu,%d,%zu,%zu\n", way, k, w->seat[i][k], from, i + 1);
        from = i + 1;
      }
}
static bool draw_slots(struct fixture *lab, struct error *why)
{
  struct watch *w = lab_take(lab, 1, sizeof *w, why);
  printf("way,slot,request,from,to\n");
  if (w == NULL || !one_way(lab, w, true, false, why)) return false;
  draw_seats(w, "static");
  if (!one_way(lab, w, false, false, why)) return false;
  draw_seats(w, "continuous");
  return true;
}

@* A padded batch. \label{lab:padded}
The tutorials' batch is a rectangle: a row for each token of each text, and for each pad. Our engine has no mask and no list of position ids. But its kernels are a table (\cref{lab:parts} has swapped some of them), and two functions of it are enough: |angles| is given the positions, and |attend| adds the mask to the scores. So a padded pass is the engine's own pass with another table. The first member of |struct rectangle| is the table; a kernel that is called with the engine finds the rest behind it.

@<A rectangle of tokens@>=
enum { PADDED = 4, COLUMNS = 64, NEW_TOKENS = 32, RECTANGLE = 12 };
struct rectangle { struct kernels k;@+ const struct kernels *true_ones;
  const struct model *lm;@+ float mask;
  const struct row *row;@+ size_t columns[PADDED];
  bool real[PADDED][COLUMNS];@+ uint32_t place[PADDED][COLUMNS]; };
  /* |mask| is added to the score of a pad; |row|: the rows of the present pass; of each text and column, whether
    there is a token, and its position id */
static const struct rectangle *rectangle_of(const struct engine *e)
{
  return (const struct rectangle *) (uintptr_t) e->k;
}

@ Position ids first. A model of Llama's kind turns them into angles, one of GPT-2's kind looks their vectors up in a table of its own. Both kernels are given the columns, and pass the position ids on.

@<A rectangle of tokens@>=
static void name_places(const struct rectangle *r, size_t rows, uint32_t *place)
{
  for (size_t i = 0; i < rows; i++)
    place[i] = r->place[r->row[i].sequence][r->row[i].position];
}
static void padded_angles(const struct engine *e, const uint32_t *position, size_t rows,
  const float *frequency, size_t half, float scaling, float *c, float *s)
{
  uint32_t place[PADDED * RECTANGLE];
  (void) position;
  name_places(rectangle_of(e), rows, place);
  rectangle_of(e)->true_ones->angles(e, place, rows, frequency, half, scaling, c, s);
}
static void padded_embed(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y)
{
  const struct rectangle *r = rectangle_of(e);
  uint32_t place[PADDED * RECTANGLE];
  bool positions = table.data == r->lm->positions.data;
  if (positions) name_places(r, rows, place);
  r->true_ones->embed(e, table, d, positions ? place : id, rows, y);
}

@ Then attention, as the tutorials have it: scores for all columns up to the row's own, the mask added to those of pads, and a softmax over everything. Only the order of the sums is ours, sixteen lanes that are folded (\cref{sec:linear}).

@<A rectangle of tokens@>=
static float fold16(float *lane)
{
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  return lane[0];
}
static void attend_padded(const struct rectangle *r, const bool *real,
  const struct attention_dims *h, const struct kv_view *v, size_t of, size_t n,@|
  const float *q, float *y)
{
  float score[COLUMNS], lane[16] = @[{ 0 }@], max = -FLT_MAX;
  for (uint32_t t = 0; t < n; t++) {
    struct tensor key = kv_row(v, v->key, t, of);
    float product[16] = @[{ 0 }@];
    for (size_t i = 0; i < h->head_dim; i++)
      product[i % 16] = fmaf(q[i], tensor_number(key, i), product[i % 16]);
    score[t] = fold16(product) * h->scale + (real[t] ? 0 : r->mask);
    if (score[t] > max) max = score[t];
  }
  for (size_t i = 0; i < h->head_dim; i++) y[i] = 0;
  for (uint32_t t = 0; t < n; t++) {
    struct tensor value = kv_row(v, v->value, t, of);
    float p = num_expf(score[t] - max);
    lane[t % 16] += p;
    for (size_t i = 0; i < h->head_dim; i++) y[i] = fmaf(p, tensor_number(value, i), y[i]);
  }
  float sum = fold16(lane);
  for (size_t i = 0; i < h->head_dim; i++) y[i] /= sum;
}
static void padded_attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,@|
  const struct attention_probe *probe)
{
  const struct rectangle *r = rectangle_of(e);
  size_t d = h->head_dim, group = h->n_heads / h->n_kv_heads;
  (void) scratch, (void) probe;
  for (size_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < list[k].n_rows; i++)
      for (size_t head = 0; head < h->n_heads; head++) {
        size_t row = list[k].first_row + (size_t) i, at = (row * h->n_heads + head) * d;
        attend_padded(r, r->real[r->row[row].sequence], h, &list[k].view, head / group,@|
          list[k].first_position + (size_t) i + 1, q + at, y + at);
      }
}

@ The ways to pad. In the first there are no pads, and the table is the engine's own: it is the ragged batch. The others fill each text up to the longest, on the left or on the right.

@<Ways to pad@>=
enum pad_side { NO_PADS, PADS_LEFT, PADS_RIGHT };
struct way_to_pad { const char *name;@+ enum pad_side where;@+ float mask;@+ bool counted, last_column; };
  /* |counted|: pads have position ids as well; |last_column|: the first new token is read from the last column, not from
    the last token */
static const struct way_to_pad ways_to_pad[] = @[{@|
  { "ragged", NO_PADS, 0, false, false }, { "left", PADS_LEFT, -FLT_MAX, false, true },@|
  { "infinite", PADS_LEFT, -INFINITY, false, true },@|
  { "counted", PADS_LEFT, -FLT_MAX, true, true }, { "unmasked", PADS_LEFT, 0, true, true },@|
  { "right", PADS_RIGHT, -FLT_MAX, false, true },@|
  { "mended", PADS_RIGHT, -FLT_MAX, false, false } }@];
enum { WAYS_TO_PAD = sizeof ways_to_pad / sizeof *ways_to_pad };

@ A column is added to a text with its token, whether that is real, and its position id. A pad before the text has 0, as the tutorials give it; the mask hides it anyway.

@<Ways to pad@>=
struct padded { struct rectangle r;@+ const struct way_to_pad *way;
  struct row row[PADDED * RECTANGLE];@+ size_t n, real[PADDED];
  uint32_t text[PADDED][NEW_TOKENS];@+ float *logits;@+ size_t spoilt; };
  /* |row[n]|: of the next pass; |real|: tokens of each text; |text|: what was written; |logits[NEW_TOKENS][PADDED][vocab]|;
    |spoilt|: texts whose first logits were not finite */
static void add_column(struct padded *p, uint32_t s, uint32_t id, bool real)
{
  uint32_t at = (uint32_t) p->r.columns[s]++;
  p->r.real[s][at] = real;
  p->r.place[s][at] = p->way->counted ? at : real ? (uint32_t) p->real[s] : 0;
  p->real[s] += real;
  p->row[p->n++] = (struct row) @[{ s, at, id }@];
}
static void add_prompt(struct padded *p, uint32_t s, const uint32_t *id, size_t n, uint32_t pad)
{
  size_t pads = p->way->where == NO_PADS ? 0 : RECTANGLE - n;
  for (size_t i = 0; i < pads && p->way->where == PADS_LEFT; i++) add_column(p, s, pad, false);
  for (size_t i = 0; i < n; i++) add_column(p, s, id[i], true);
  for (size_t i = 0; i < pads && p->way->where == PADS_RIGHT; i++) add_column(p, s, pad, false);
}

@ One pass over the rectangle, and then one column for each new token. The likeliest token is taken.

@<Ways to pad@>=
static void find_rows(const struct padded *p, size_t step, size_t *which)
{
  for (size_t i = 0; i < p->n; i++)
    if (step > 0 || p->way->last_column || p->r.real[p->row[i].sequence][p->row[i].position])
      which[p->row[i].sequence] = i;
}
static bool padded_step(struct fixture *lab, struct engine *e, struct store *s,
  struct padded *p, size_t step, struct error *why)
{
  size_t which[PADDED], v = p->r.lm->config.vocab_size;
  float *logits = p->logits + step * PADDED * v;
  struct pass *made = NULL;
  find_rows(p, step, which);
  bool ok = model_forward(e, p->r.lm, s, p->row, p->n, &made, why);
  for (size_t i = 0; ok && i < PADDED; i++)
    p->spoilt += made->first_bad_layer[which[i]] != PASS_FINITE;
  ok = ok && (p->spoilt > 0 || model_logits(e, p->r.lm, made, which, PADDED, logits, why));
  pass_close(made);
  p->n = 0;
  for (uint32_t i = 0; ok && i < PADDED; i++) {
    p->text[i][step] = (uint32_t) best_token(logits + i * v, v);
    add_column(p, i, p->text[i][step], true);
  }
  (void) lab;
  return ok;
}
static bool write_padded(struct fixture *lab, const struct model *lm, struct ids *prompt,
  const struct way_to_pad *way, struct padded *p, struct error *why)
{
  struct engine e = lab->e;
  struct store *s = cache_open(&lab->m, &lm->config, PADDED,@|
    &(struct cache_options) @[{ .rows = PADDED * COLUMNS }@], why);
  bool ok = s != NULL;
  float *logits = p->logits;
  *p = (struct padded) @[{ .way = way, .logits = logits }@];
  p->r.k = *e.k, p->r.true_ones = e.k, p->r.lm = lm, p->r.mask = way->mask, p->r.row = p->row;
  p->r.k.angles = padded_angles, p->r.k.embed = padded_embed, p->r.k.attend = padded_attend;
  if (way->where != NO_PADS) e.k = &p->r.k;
  for (uint32_t i = 0; i < PADDED; i++)
    add_prompt(p, i, prompt[i].id, prompt[i].n, lab->model->config.eos[0]);
  for (size_t t = 0; ok && t < NEW_TOKENS && p->spoilt == 0; t++)
    ok = padded_step(lab, &e, s, p, t, why);
  store_close(s);
  return ok;
}

@ What comes out is compared with the ragged batch: in how many texts all logits have the same bits, how many have the same tokens, and how far the first logits are apart. The prompts are the sentence of \cref{lab:parrot} and the first tokens of the three tales, 7, 3, 12 and 1 tokens. Positions that count pads do less harm to the built-in model, which only looks at differences of positions, than to a model that has learned a vector for each; so that way is tried with a small model of GPT-2's kind as well, whose weights are random.

@<Compare the ways to pad@>=
static void compare_padded(const struct padded *a, const struct padded *p, const char *model)
{
  size_t v = p->r.lm->config.vocab_size, all = PADDED * v, bits = 0, same = 0;
  for (size_t i = 0; i < PADDED; i++) {
    bool equal = true;
    for (size_t t = 0; t < NEW_TOKENS; t++)
      equal = equal && memcmp(a->logits + t * all + i * v, p->logits + t * all + i * v,@|
        v * sizeof (float)) == 0;
    bits += equal && p->spoilt == 0;
    same += memcmp(a->text[i], p->text[i], sizeof p->text[i]) == 0;
  }
  const char *key = "serving.padded.%s%s.%s";
  print_key(label_of(key, model, p->way->name, "bits").text, "%zu", bits);
  print_key(label_of(key, model, p->way->name, "same").text, "%zu", p->spoilt > 0 ? 0 : same);
  print_key(label_of(key, model, p->way->name, "spoilt").text, "%zu", p->spoilt);
  if (p->spoilt == 0) print_key(label_of(key, model, p->way->name, "far").text, "%.9f",@|
    farthest(a->logits, p->logits, all));
}
static bool print_ways_to_pad(struct fixture *lab, const struct model *lm, const char *model,
  struct ids *prompt, struct error *why)
{
  size_t all = NEW_TOKENS * PADDED * (size_t) lm->config.vocab_size;
  struct padded *a = lab_take(lab, 1, sizeof *a, why), *p = lab_take(lab, 1, sizeof *p, why);
  if (a == NULL || p == NULL || (a->logits = lab_take(lab, all, sizeof (float), why)) == NULL@|
      || (p->logits = lab_take(lab, all, sizeof (float), why)) == NULL
      || !write_padded(lab, lm, prompt, &ways_to_pad[0], a, why)) return false;
  for (size_t i = 1; i < WAYS_TO_PAD; i++) {
    if (!write_padded(lab, lm, prompt, &ways_to_pad[i], p, why)) return false;
    compare_padded(a, p, model);
  }
  return true;
}

@ The four prompts.

@<Compare the ways to pad@>=
static bool take_prompts(struct fixture *lab, struct ids *prompt, struct error *why)
{
  static const size_t length[PADDED] = @[{ PARROT_WORDS, 3, RECTANGLE, 1 }@];
  uint32_t end = lab->model->config.eos[0];
  struct ids tales;
  size_t k = 1;
  if (!lab_tales(lab, &tales, why)) return false;
  prompt[0] = (struct ids) @[{ .id = lab->sentence, .n = length[0] }@];
  for (size_t i = 0; i < tales.n && k < PADDED; i++)
    if (tales.id[i] != end && (i == 0 || tales.id[i - 1] == end))
      prompt[k] = (struct ids) @[{ .id = tales.id + i, .n = length[k] }@], k++;
  return k == PADDED || error_say(why, "fewer tales than prompts");
}
static bool print_padded(struct fixture *lab, struct error *why)
{
  struct model_config small = random_model_gpt2;
  struct ids prompt[PADDED];
  small.vocab_size = lab->model->config.vocab_size, small.n_positions = COLUMNS;
  small.d_model = 64, small.d_inner = 256, small.n_layers = 2;
  small.n_heads = small.n_kv_heads = 4, small.head_dim = 16;
  struct model *lm = random_model_open(&lab->m, &small, why);
  bool ok = lm != NULL && take_prompts(lab, prompt, why)
    && print_ways_to_pad(lab, lab->model, "", prompt, why)
    && print_ways_to_pad(lab, lm, "learned.", prompt, why);
  random_model_close(&lab->m, lm);
  return ok;
}

@* A small cache. \label{lab:smallcache}
What do we do when the pages run out? The eight requests come again, and the cache has ten pages of 16 rows. \emph{Recompute} is the scheduler as it is. \emph{Refuse} is a caller who ends a text as soon as it has lost its slot. \emph{Reserve} is a caller who submits a request only when the pages of all that it may write are left; in one variant he knows its length, in the other he must expect the longest. A text of $n$ tokens after a prompt of one has $n$ rows when it ends, since its last token is never read.

@<Serve in a small cache@>=
enum remedy { RECOMPUTE, REFUSE, RESERVE_KNOWN, RESERVE_LONGEST };
enum { SMALL_ROWS = 160, SMALL_PAGE = 16, LONGEST = 100 };
struct small { size_t passes, cut, lost;@+ double wait;@+ struct scheduler_counts counts; };
  /* |cut|: texts that were refused; |lost|: tokens that they had by then */
static size_t pages_for(size_t i, enum remedy how)
{
  size_t rows = how == RESERVE_KNOWN ? lengths[i] : how == RESERVE_LONGEST ? LONGEST : 0;
  return (rows + SMALL_PAGE - 1) / SMALL_PAGE;
}
static bool submit_next(struct scheduler *s, struct request *r, size_t *next,
  enum remedy how, uint32_t first, struct error *why)
{
  for (; *next < WAITING_TEXTS; ++*next) {
    size_t held = pages_for(*next, how);
    struct generate_options want = @[{ .max_new_tokens = lengths[*next] }@];
    for (size_t i = 0; i < *next; i++)
      if (r[i].state != REQUEST_ENDED) held += pages_for(i, how);
    if (held > SMALL_ROWS / SMALL_PAGE) return true;
    if (!scheduler_submit(s, &r[*next], &first, 1, &want, why)) return false;
  }
  return true;
}

@ After each step we look who has ended, and, if texts are to be refused, who has lost its slot.

@<Serve in a small cache@>=
static void look_around(struct scheduler *s, struct request *r, size_t n, enum remedy how,
  size_t *ended, struct small *o)
{
  for (size_t i = 0; i < n; i++) {
    if (how == REFUSE && r[i].state == REQUEST_WAITING && r[i].preempted > 0)
      scheduler_cancel(s, &r[i]), o->cut++, o->lost += r[i].q.c.text.n - 1;
    if (r[i].state == REQUEST_ENDED && ended[i] == 0) ended[i] = o->passes;
  }
}
static bool serve_small(struct fixture *lab, enum remedy how, struct small *o,
  struct error *why)
{
  struct request r[WAITING_TEXTS];
  struct scheduler s;
  struct store *cache = cache_open(&lab->m, &lab->model->config, SEATS,@|
    &(struct cache_options) @[{ .rows = SMALL_ROWS, .page_rows = SMALL_PAGE }@], why);
  struct generate_context g = @[{ &lab->e, lab->model, cache, &lab->m }@];
  bool open = cache != NULL
    && scheduler_open(&s, &g, &(struct scheduler_options) @[{ .share = false }@], why);
  bool ok = open;
  size_t next = 0, ended[WAITING_TEXTS] = @[{ 0 }@];
  memset(r, 0, sizeof r);
  *o = (struct small) @[{ .passes = 0 }@];
  while (ok && (next < WAITING_TEXTS || !scheduler_idle(&s))) {
    ok = submit_next(&s, r, &next, how, lab->sentence[0], why) && scheduler_step(&s, why);
    o->passes++;
    if (ok) look_around(&s, r, next, how, ended, o);
  }
  for (size_t i = 0; i < WAITING_TEXTS; i++) o->wait += (double) ended[i] / WAITING_TEXTS;
  if (open) o->counts = s.counts;
  for (size_t i = 0; open && i < WAITING_TEXTS; i++) request_close(&s, &r[i]);
  if (open) scheduler_close(&s);
  store_close(cache);
  return ok;
}

@ A swap would move the rows that we compute again, out and back. We have no swap; its rows are reckoned from those of the recomputation.

@<Serve in a small cache@>=
static bool print_small(struct fixture *lab, struct error *why)
{
  static const char *const name[] = @[{ "recompute", "refuse", "known", "longest" }@];
  size_t needed = 0;
  for (size_t i = 0; i < WAITING_TEXTS; i++) needed += lengths[i];
  print_key("serving.small.needed", "%zu", needed);
  for (int k = RECOMPUTE; k <= RESERVE_LONGEST; k++) {
    struct small o;
    if (!serve_small(lab, (enum remedy) k, &o, why)) return false;
    print_key(label_of("serving.small.%s.passes", name[k]).text, "%zu", o.passes);
    print_key(label_of("serving.small.%s.rows", name[k]).text, "%" PRIu64, o.counts.rows);
    print_key(label_of("serving.small.%s.preempted", name[k]).text, "%" PRIu64, o.counts.preempted);
    print_key(label_of("serving.small.%s.cut", name[k]).text, "%zu", o.cut);
    print_key(label_of("serving.small.%s.lost", name[k]).text, "%zu", o.lost);
    print_key(label_of("serving.small.%s.wait", name[k]).text, "%.3f", o.wait);
    if (k != RECOMPUTE) continue;
    print_key("serving.small.again", "%" PRIu64, o.counts.rows - needed);
    print_key("serving.small.moved", "%" PRIu64, 2 * (o.counts.rows - needed));
  }
  return true;
}

@* A long prompt among texts that decode. \label{lab:longprompt}
Three texts decode, and a prompt of \given{512} tokens arrives. We give its rows a limit, so that a pass has at most that many rows of the prompt beside the three; and we count the passes up to its first token, and the tokens that the others have written meanwhile.

@<Read a long prompt beside others@>=
enum { LONG_PROMPT = 512, NEIGHBOURS = SEATS - 1 };
static bool step_until(struct scheduler *s, const struct request *r, size_t tokens,
  size_t *passes, struct error *why)
{
  for (*passes = 0; r->q.c.text.n < tokens; ++*passes)
    if (!scheduler_step(s, why)) return false;
  return true;
}
static bool read_beside(struct fixture *lab, size_t limit, size_t *passes, size_t *tokens,
  struct error *why)
{
  struct request r[SEATS];
  struct scheduler s;
  struct store *cache = cache_open(&lab->m, &lab->model->config, SEATS,@|
    &(struct cache_options) @[{ .rows = 0 }@], why);
  struct generate_context g = @[{ &lab->e, lab->model, cache, &lab->m }@];
  struct scheduler_options how = @[{ .pass_rows = limit + NEIGHBOURS }@];
  bool open = cache != NULL && scheduler_open(&s, &g, &how, why), ok = open;
  uint32_t id[LONG_PROMPT];
  size_t before = 0;
  struct generate_options want = @[{ .max_new_tokens = 200 }@];
  memset(r, 0, sizeof r);
  *tokens = 0;
  for (size_t i = 0; i < LONG_PROMPT; i++) id[i] = lab->sentence[0];
  for (size_t i = 0; ok && i < NEIGHBOURS; i++)
    ok = scheduler_submit(&s, &r[i], id, 1, &want, why);
  ok = ok && step_until(&s, &r[NEIGHBOURS - 1], 3, passes, why);
  for (size_t i = 0; ok && i < NEIGHBOURS; i++) before += r[i].q.c.text.n;
  ok = ok && scheduler_submit(&s, &r[NEIGHBOURS], id, LONG_PROMPT, &want, why)
    && step_until(&s, &r[NEIGHBOURS], LONG_PROMPT + 1, passes, why);
  for (size_t i = 0; ok && i < NEIGHBOURS; i++) *tokens += r[i].q.c.text.n;
  *tokens -= before;
  for (size_t i = 0; open && i < SEATS; i++) request_close(&s, &r[i]);
  if (open) scheduler_close(&s);
  store_close(cache);
  return ok;
}
static bool print_long(struct fixture *lab, struct error *why)
{
  static const size_t limit[] = @[{ 16, 64, 128, 256, 512 }@];
  for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
    size_t passes, tokens;
    if (!read_beside(lab, limit[i], &passes, &tokens, why)) return false;
    print_key(label_of("serving.long.%zu.passes", limit[i]).text, "%zu", passes);
    print_key(label_of("serving.long.%zu.tokens", limit[i]).text, "%zu", tokens);
  }
  return true;
}

@* A class, timed. \label{lab:many}
One, two, four and up to 64 readers submit a prompt of 64 tokens at the same moment, and each wants 32 tokens. The model is the stand-in of \cref{lab:phases}, in GPT-2 small's shape, its weights are packed once, and the scheduler has a slot for each reader. What is a pass made of, and when did each reader have the first token and the last? (\texttt{make measure} with \texttt{ONLY=serving} asks for the word |"many"|.)

@<Time a class@>=
enum { CLASS = 64, CLASS_PROMPT = 64, CLASS_WRITTEN = 32, CLASS_SIZES = 7,@|
  CLASS_ROUNDS = 5, CLASS_PASSES = 100 };
struct timed_class { struct generate_context g;@+ struct phase pass[CLASS_PASSES];
  size_t n, passes;@+ size_t first[CLASS], last[CLASS]; };
  /* |n| readers; of each pass its work, and the least time that it took in any round;
    |first|, |last|: the passes with the first and the last token of each */

@ All of this is the same in each round, but for the clock. So we take the least time of each single pass over the rounds, by the processor's clock, as \cref{lab:batch} does for its batches: other programs can make a pass slower, but not quicker.

@<Time a class@>=
static bool time_pass(struct timed_class *c, struct scheduler *s, size_t k, bool again,
  struct error *why)
{
  struct counters before = *c->g.e->c;
  clock_t start = clock();
  if (!scheduler_step(s, why)) return false;
  double seconds = (double) (clock() - start) / CLOCKS_PER_SEC;
  if (!again || seconds < c->pass[k].seconds) c->pass[k].seconds = seconds;
  c->pass[k].work = counters_since(&before, c->g.e->c);
  return true;
}
static bool time_class(struct timed_class *c, bool again, struct error *why)
{
  struct request r[CLASS];
  struct scheduler s;
  struct scheduler_options usual = @[{ .pass_rows = 0 }@];
  struct generate_options want = @[{ .max_new_tokens = CLASS_WRITTEN }@];
  uint32_t prompt[CLASS_PROMPT];
  bool open = scheduler_open(&s, &c->g, &usual, why), ok = open;
  memset(r, 0, sizeof r);
  for (uint32_t i = 0; ok && i < c->n; i++) {
    for (uint32_t k = 0; k < CLASS_PROMPT; k++) prompt[k] = (i * 7 + k * 31) % 50257;
    ok = scheduler_submit(&s, &r[i], prompt, CLASS_PROMPT, &want, why);
  }
  for (c->passes = 0; ok && !scheduler_idle(&s); c->passes++) {
    ok = time_pass(c, &s, c->passes, again, why);
    for (size_t i = 0; ok && i < c->n; i++) {
      if (r[i].q.c.text.n == CLASS_PROMPT + 1) c->first[i] = c->passes;
      if (r[i].q.c.text.n < CLASS_PROMPT + CLASS_WRITTEN) c->last[i] = c->passes + 1;
    }
  }
  for (size_t i = 0; open && i < c->n; i++) request_close(&s, &r[i]);
  if (open) scheduler_close(&s);
  return ok;
}

@ A line of the file sums these passes up: until a reader had the first token, on average over the readers; from one token to the next; and until the last reader had the last token. Beside each time is the least that the roofline allows, which is the same sum over the bounds of the passes.

@<Time a class@>=
struct delays { double first, gap, all; };
static struct delays delays_of(const struct timed_class *c, const struct roofline *bound)
{
  double end[CLASS_PASSES];
  struct delays d = @[{ 0 }@];
  for (size_t k = 0; k < c->passes; k++) {
    d.all += bound != NULL ? work_bound(bound, &c->pass[k].work) : c->pass[k].seconds;
    end[k] = d.all;
  }
  for (size_t i = 0; i < c->n; i++) {
    d.first += end[c->first[i]] / (double) c->n;
    d.gap += (end[c->last[i]] - end[c->first[i]]) / (double) (c->n * (CLASS_WRITTEN - 1));
  }
  return d;
}
static void print_class(const struct timed_class *c, const struct roofline *speed, double once)
{
  struct delays took = delays_of(c, NULL), least = delays_of(c, speed);
  printf("%zu,%zu,%zu,%.4f,%.4f,%.4f,", c->n, c->passes, c->n * CLASS_WRITTEN,@|
    took.all, took.first, 1e3 * took.gap);
  printf("%.4f,%.4f,%.4f,%.1f,%.1f,%.1f\n", least.all, least.first, 1e3 * least.gap,@|
    speed->madds / 1e6, speed->bytes / 1e6, once);
}

@ The probes of the machine take their turn before each class, and the quickest of them counts, since the quickest passes do. A pass for one reader does nothing but read weights, and may be quicker at that than our probe. Then it is the better probe: no roof is lower than what was reached.

@<Time a class@>=
enum { SWEPT = 1 << 26, SPINS = 1 << 28 };
static double seconds_since(clock_t start)
{
  return (double) (clock() - start) / CLOCKS_PER_SEC;
}
static void probe_again(const struct kernels *k, float *block, struct roofline *speed)
{
  float left;
  clock_t start = clock();
  double done = (double) k->probe_flops(SPINS, &left);
  speed->madds = fmax(speed->madds, done / seconds_since(start));
  start = clock();
  left += k->probe_bandwidth(block, SWEPT);
  speed->bytes = fmax(speed->bytes, SWEPT * sizeof (float) / seconds_since(start));
  block[0] = left > 0;
}
static bool time_sizes(struct timed_class *c, float *block, struct roofline *speed, struct error *why)
{
  bool ok = true;
  for (int round = 0; ok && round < CLASS_ROUNDS; round++) {
    for (int i = 0; ok && i < CLASS_SIZES; i++) {
      probe_again(c->g.e->k, block, speed);
      c[i].n = (size_t) 1 << i;
      ok = time_class(&c[i], round > 0, why);
    }
  }
  for (size_t k = 0; ok && k < c[0].passes; k++)
    speed->bytes = fmax(speed->bytes, (double) work_bytes(&c[0].pass[k].work) / c[0].pass[k].seconds);
  return ok;
}
static bool open_class(struct fixture *lab, struct bench *b, struct prepared_weights **ready,
  double *once, struct error *why)
{
  struct model *lm = lab_stand_in(lab, why);
  struct cache_options room = @[{ .rows = CLASS * 2 * CLASS_PROMPT }@];
  if (lm == NULL || !bench_open(b, lab, lm, 1, &room, why)) return false;
  store_close(b->s);
  b->s = b->g.s = cache_open(&lab->m, &lm->config, CLASS, &room, why);
  clock_t start = clock();
  *ready = model_prepare(&lab->m, b->e.k, b->e.activations, lm, why);
  *once = 1e3 * seconds_since(start);
  b->e.prepared = *ready;
  return b->s != NULL && *ready != NULL;
}
static bool print_many(struct fixture *lab, struct error *why)
{
  struct bench b = @[{ .m = NULL }@];
  struct prepared_weights *ready = NULL;
  struct roofline speed = @[{ .madds = 0 }@];
  double once;
  struct timed_class *c = lab_take(lab, CLASS_SIZES, sizeof *c, why);
  float *block = lab_take(lab, SWEPT, sizeof *block, why);
  bool ok = c != NULL && block != NULL && open_class(lab, &b, &ready, &once, why);
  for (size_t i = 0; ok && i < SWEPT; i++) block[i] = 1;
  for (int i = 0; ok && i < CLASS_SIZES; i++) c[i].g = b.g;
  ok = ok && time_sizes(c, block, &speed, why);
  if (ok) printf("sequences,passes,tokens,seconds,first,gap,bound,boundfirst,boundgap,"
    "speed,bandwidth,once\n");
  for (int i = 0; ok && i < CLASS_SIZES; i++) print_class(&c[i], &speed, once);
  bench_close(&b);
  prepared_close(&lab->m, ready);
  return ok;
}

@ The keys are made of the file: tokens a second of all readers together, both delays, and the same three by the roofline.

@<Time a class@>=
static bool print_timed(struct fixture *lab, struct error *why)
{
  enum { N, PASSES, TOKENS, SECONDS, FIRST, GAP, BOUND, BOUND_FIRST, BOUND_GAP, COLUMNS_USED };
  double x[COLUMNS_USED][CLASS_SIZES];
  (void) lab;
  if (!data_numbers("serving.many", COLUMNS_USED, CLASS_SIZES, x[0], why)) return false;
  for (int i = 0; i < CLASS_SIZES; i++) {
    int n = (int) x[N][i];
    print_key(label_of("serving.many.rate.%d", n).text, "%.3f", x[TOKENS][i] / x[SECONDS][i]);
    print_key(label_of("serving.many.first.%d", n).text, "%.4f", x[FIRST][i]);
    print_key(label_of("serving.many.gap.%d", n).text, "%.3f", x[GAP][i]);
    print_key(label_of("serving.many.bound.rate.%d", n).text, "%.3f", x[TOKENS][i] / x[BOUND][i]);
    print_key(label_of("serving.many.bound.first.%d", n).text, "%.4f", x[BOUND_FIRST][i]);
    print_key(label_of("serving.many.bound.gap.%d", n).text, "%.3f", x[BOUND_GAP][i]);
    print_key(label_of("serving.many.share.%d", n).text, "%.1f", 100 * x[BOUND][i] / x[SECONDS][i]);
    print_key(label_of("serving.many.gain.%d", n).text, "%.3f",@|
      x[TOKENS][i] / x[SECONDS][i] * x[SECONDS][0] / x[TOKENS][0]);
    print_key(label_of("serving.many.passes.%d", n).text, "%.0f", x[PASSES][i]);
  }
  return true;
}

@* Users. \label{lab:users}
The model is Llama 3 8B with weights and cache in two bytes, and the machines are those of \cref{tab:hardware} that can hold it. A tenth of the memory is kept for activations and everything else, as vLLM does, and what the weights leave of the rest is divided into pages of 16 rows.

@<Simulate users@>=
enum { MACHINES = 6 };
struct machine { char name[16];@+ double tera, giga, holds; };
struct park { struct machine of[MACHINES];@+ size_t n; };
static bool take_machine(void *ctx, const char *line)
{
  struct park *p = ctx;
  struct machine *m = &p->of[p->n];
  if (p->n == MACHINES || sscanf(line, "%15[A-Za-z0-9 ],%lf,%lf,%lf", m->name, &m->tera,@|
      &m->giga, &m->holds) != 4) return false;
  p->n++;
  return true;
}

@ What a row of such a model costs follows from its settings. Norms do no multiply--adds and have few bytes; they are counted in the bytes alone.

@<Simulate users@>=
static struct row_costs published_costs(const struct model_config *c, size_t *weights)
{
  uint64_t d = c->d_model, q = (uint64_t) c->n_heads * c->head_dim;
  uint64_t kv = (uint64_t) c->n_kv_heads * c->head_dim, head = d * c->vocab_size;
  *weights = 2 * footprint_parameters(c);
  return (struct row_costs) @[{@|
    .layer_madds = c->n_layers * (2 * d * (q + kv) + 3 * d * c->d_inner),@|
    .pair_madds = 2 * c->n_layers * q, .head_madds = head,@|
    .layer_bytes = *weights - 4 * head, .head_bytes = 2 * head,@|
    .embedding_bytes = 2 * d, .row_bytes = footprint_token(c, format_find("f16", NULL)) }@];
}
static bool server_of(const struct machine *m, struct simulation *s, struct error *why)
{
  struct model_config c;
  size_t weights;
  if (!named_shape_find("llama3-8b", &c, why)) return false;
  *s = (struct simulation) @[{ .slots = 512, .page_rows = 16, .pass_rows = 1024,@|
    .machine = { 1e12 * m->tera / 2, 1e9 * m->giga } }@];
  s->cost = published_costs(&c, &weights);
  double left = 0.9e9 * m->holds - (double) weights;
  s->pages = left < 0 ? 0 : (size_t) (left / (double) (16 * s->cost.row_bytes));
  return true;
}

@ Users ask independently of each other, so the time from one arrival to the next has an exponential distribution: a \emph{Poisson process}. For bursts, groups of \given{200} arrive within a second, and the groups are a Poisson process; a lecturer has said \emph{now try it}. The lengths of prompts and answers have log-normal distributions, many short ones and a few long: the medians are \given{300} and \given{150} tokens.

@<Simulate users@>=
enum { MINUTES = 5, ASKS_EVERY = 120, GROUP = 200, MOST_TEXTS = 80000 };
struct crowd { double users, group;@+ uint64_t seed;@+ size_t n;
  struct simulated_text text[MOST_TEXTS];@+ double first[MOST_TEXTS], gap[MOST_TEXTS]; };
  /* |group|: how many come together; |first|, |gap|: milliseconds, sorted */
static size_t random_length(struct crowd *c, double median, double spread, double most)
{
  double x = median * exp(spread * random_normal(&c->seed));
  return (size_t) fmin(fmax(x, 1), most);
}
static bool crowd_comes(struct crowd *c, struct error *why)
{
  double now = 0, rate = c->users / ASKS_EVERY / c->group;
  c->seed = 12, c->n = 0;
  while ((now -= log(random_uniform(&c->seed)) / rate) < 60 * MINUTES)
    for (double i = 0; i < c->group; i++) {
      double at = now + (c->group > 1 ? random_uniform(&c->seed) : 0);
      if (c->n == MOST_TEXTS) return error_say(why, "more than %d texts", MOST_TEXTS);
      c->text[c->n++] = (struct simulated_text) @[{ .arrives = (uint64_t) (1e9 * at),@|
        .prompt = random_length(c, 300, 0.9, 4096), .wants = random_length(c, 150, 0.8, 1024) }@];
    }
  return true;
}

@ When all texts are done, we sort the delays, so that a percentile is a place in the list. The tokens a second are counted up to the end of the last text.

@<Simulate users@>=
static int by_delay(const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}
struct service { double rate, asked, busy;@+ double first[3], gap[3];@+ uint64_t preempted, rows; };
  /* tokens a second that were written, and that were asked for; the share of the time in which a pass was
    computed; percentiles 50, 95 and 99, in milliseconds */
static void judge_service(struct crowd *c, const struct simulation *s, struct service *out)
{
  static const double place[3] = @[{ .5, .95, .99 }@];
  double end = 60e9 * MINUTES, tokens = 0;
  size_t gaps = 0;
  for (size_t i = 0; i < c->n; i++) {
    const struct simulated_text *t = &c->text[i];
    c->first[i] = 1e-6 * (double) (t->first - t->arrives);
    if (t->wants > 1) c->gap[gaps++] = 1e-6 * (double) (t->last - t->first) / (double) (t->wants - 1);
    tokens += (double) t->wants, end = fmax(end, (double) t->last);
  }
  qsort(c->first, c->n, sizeof *c->first, by_delay);
  qsort(c->gap, gaps, sizeof *c->gap, by_delay);
  *out = (struct service) @[{ .rate = 1e9 * tokens / end, .asked = tokens / (60 * MINUTES),@|
    .busy = (double) s->busy / end, .preempted = s->counts.preempted, .rows = s->counts.rows }@];
  for (int i = 0; i < 3; i++) {
    out->first[i] = c->first[(size_t) (place[i] * (double) c->n)];
    out->gap[i] = c->gap[(size_t) (place[i] * (double) gaps)];
  }
}
static bool serve_crowd(struct fixture *lab, const struct machine *m, struct crowd *c,
  bool in_batches, struct service *out, struct error *why)
{
  struct simulation s;
  if (!crowd_comes(c, why) || !server_of(m, &s, why)) return false;
  s.text = c->text, s.n = c->n, s.in_batches = in_batches;
  if (!simulate(&lab->m, &s, why)) return false;
  judge_service(c, &s, out);
  return true;
}

@ The table has Poisson arrivals of \given{1000} to \given{15\,000} users of an H100, then \given{10\,000} who come in groups, and \given{10\,000} who are served in batches. Each user asks once in two minutes on average.

@<Simulate users@>=
static void print_service(const char *way, double users, const struct service *o)
{
  static const int place[3] = @[{ 50, 95, 99 }@];
  const char *key = "serving.users.%s.%.0f.%s%d";
  print_key(label_of("serving.users.%s.%.0f.rate", way, users).text, "%.1f", o->rate);
  print_key(label_of("serving.users.%s.%.0f.busy", way, users).text, "%.4f", 100 * o->busy);
  for (int i = 0; i < 3; i++) {
    print_key(label_of(key, way, users, "first.", place[i]).text, "%.2f", o->first[i]);
    print_key(label_of(key, way, users, "gap.", place[i]).text, "%.3f", o->gap[i]);
  }
  double seconds = o->first[strcmp(way, "groups") == 0 ? 2 : 0] / 1000;
  print_key(label_of("serving.users.%s.%.0f.seconds", way, users).text, "%.3f", seconds);
}
static bool print_crowds(struct fixture *lab, const struct machine *m, struct crowd *c,
  struct error *why)
{
  static const struct { const char *way;@+ double users, group;@+ bool in_batches; } of[]@|
    = @[{ { "poisson", 1000, 1, false }, { "poisson", 5000, 1, false },@|
    { "poisson", 10000, 1, false }, { "poisson", 12000, 1, false },@|
    { "poisson", 15000, 1, false }, { "groups", 10000, GROUP, false },@|
    { "batches", 10000, 1, true } }@];
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct service o;
    c->users = of[i].users, c->group = of[i].group;
    if (!serve_crowd(lab, m, c, of[i].in_batches, &o, why)) return false;
    print_service(of[i].way, c->users, &o);
  }
  return true;
}

@ How many users are too many for a machine? We say: when more than one percent of the requests wait longer than a second for the first token. The number is found by halving, to \given{250} users.

@<Simulate users@>=
static bool print_capacity(struct fixture *lab, const struct machine *m, struct crowd *c,
  struct error *why)
{
  size_t enough = 0, many = 30000;
  struct simulation s;
  char name[16];
  for (size_t i = 0; i < sizeof name; i++) name[i] = m->name[i] == ' ' ? '-' : m->name[i];
  if (!server_of(m, &s, why)) return false;
  print_key(label_of("serving.capacity.%s.tokens", name).text, "%zu", s.pages * s.page_rows);
  print_key(label_of("serving.capacity.%s.bandwidth", name).text, "%.0f", m->giga);
  if (s.pages == 0) return true;
  c->group = 1;
  while (many - enough > 250) {
    struct service o;
    size_t middle = (enough + many) / 2 / 250 * 250;
    if (middle == enough) middle += 250;
    c->users = (double) middle;
    if (!serve_crowd(lab, m, c, false, &o, why)) return false;
    if (o.first[2] <= 1000) enough = middle;
    else many = middle;
  }
  print_key(label_of("serving.capacity.%s.users", name).text, "%zu", enough);
  return true;
}
static bool open_park(struct fixture *lab, struct park *p, struct crowd **c, struct error *why)
{
  p->n = 0;
  *c = lab_take(lab, 1, sizeof **c, why);
  return *c != NULL && data_read("phases.hardware", take_machine, p, MACHINES, why);
}
static bool print_users(struct fixture *lab, struct error *why)
{
  struct crowd *c;
  struct park p;
  bool ok = open_park(lab, &p, &c, why) && print_crowds(lab, &p.of[1], c, why);
  for (size_t i = 0; ok && i < p.n; i++) ok = print_capacity(lab, &p.of[i], c, why);
  return ok;
}

@ The figure has three machines over the rate of arrivals. When a machine writes less than \given{60} percent of what is asked for, it is far enough over its knee.

@<Simulate users@>=
static bool draw_knee(struct fixture *lab, struct error *why)
{
  static const size_t which[3] = @[{ 0, 1, 3 }@];
  static const int rate[] = @[{ 5, 10, 20, 26, 30, 32, 35, 40, 60, 80, 92, 100, 104, 110, 120,@|
    140, 170, 200, 220, 230, 236, 240, 250 }@];
  struct crowd *c;
  struct park p;
  if (!open_park(lab, &p, &c, why)) return false;
  c->group = 1;
  printf("machine,requests,asked,tokens,half,late\n");
  for (size_t k = 0; k < 3; k++)
    for (size_t i = 0; i < sizeof rate / sizeof *rate; i++) {
      struct service o;
      c->users = rate[i] * ASKS_EVERY;
      if (!serve_crowd(lab, &p.of[which[k]], c, false, &o, why)) return false;
      printf("%s,%d,%.1f,%.1f,%.2f,%.2f\n", p.of[which[k]].name, rate[i], o.asked, o.rate,@|
        o.first[0], o.first[2]);
      if (o.rate < 0.6 * o.asked) break;
    }
  return true;
}
