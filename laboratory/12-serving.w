@i types.w
@s size_t int
@s lab_print int
@s request int
@s scheduler int
@s scheduler_options int

\chapterquestion{How much of a machine do other people's texts fill, and in which order should they come?}
@** Experiments on serving many.
\incipit{E}{ight requests} with the lengths of the hand calculation are served in several ways, and the slots are watched, pass by pass. What comes out depends on the lengths and on the order, not on the words; so all requests have prompts of one token, and no end token counts.

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "kernels/kernels.h"
#include "phases/phases.h"
#include "serving/scheduler.h"
#include "laboratory/kit2.h"
@;@#
@<Serve lengths, and watch the slots@>@;
@<Count what each way costs@>@;
@<Draw the slots@>@;
@<Serve in a small cache@>@;
@<Read a long prompt beside others@>@;
@<Time a class@>@;
@#
static bool print_all(struct fixture *lab, struct error *why)
{
  return print_ways(lab, why) && print_small(lab, why) && print_long(lab, why);
}
int main(int argc, char **argv)
{
  static const struct lab_command table[] = @[{ { "values", print_all },@|
    { "slots", draw_slots }, { "many", print_many }, { NULL, NULL } }@];
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
One, two, four and up to 64 readers submit a prompt of 64 tokens at the same moment, and each wants 32 tokens. The model is the stand-in of \cref{lab:phases}, in GPT-2 small's shape, its weights are packed once, and the scheduler has a slot for each reader. What is a pass made of, and when did each reader have the first token and the last?

@<Time a class@>=
enum { CLASS = 64, CLASS_PROMPT = 64, CLASS_WRITTEN = 32, CLASS_SIZES = 7,@|
  CLASS_ROUNDS = 5, CLASS_PASSES = 100 };
struct class { struct generate_context g;@+ struct phase pass[CLASS_PASSES];
  size_t n, passes;@+ size_t first[CLASS], last[CLASS]; };
  /* |n| readers; of each pass its work, and the least time that it took in any round;
    |first|, |last|: the passes with the first and the last token of each */

@ All of this is the same in each round, but for the clock. So we take the least time of each single pass over the rounds, by the processor's clock, as \cref{lab:batch} does for its batches: other programs can make a pass slower, but not quicker.

@<Time a class@>=
static bool time_pass(struct class *c, struct scheduler *s, size_t k, bool again,
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
static bool time_class(struct class *c, bool again, struct error *why)
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
static struct delays delays_of(const struct class *c, const struct roofline *bound)
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
static void print_class(const struct class *c, const struct roofline *speed, double once)
{
  struct delays took = delays_of(c, NULL), least = delays_of(c, speed);
  printf("%zu,%zu,%zu,%.4f,%.4f,%.4f,", c->n, c->passes, c->n * CLASS_WRITTEN,@|
    took.all, took.first, 1e3 * took.gap);
  printf("%.4f,%.4f,%.4f,%.1f,%.1f,%.1f\n", least.all, least.first, 1e3 * least.gap,@|
    speed->madds / 1e6, speed->bytes / 1e6, once);
}

@ The probes of the machine take their turn in each round, and the quickest of them counts, since the quickest passes do.

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
static bool time_sizes(struct class *c, float *block, struct roofline *speed, struct error *why)
{
  bool ok = true;
  for (int round = 0; ok && round < CLASS_ROUNDS; round++) {
    probe_again(c->g.e->k, block, speed);
    for (int i = 0; ok && i < CLASS_SIZES; i++) {
      c[i].n = (size_t) 1 << i;
      ok = time_class(&c[i], round > 0, why);
    }
  }
  return ok;
}
static bool print_many(struct fixture *lab, struct error *why)
{
  struct model *lm = lab_stand_in(lab, why);
  struct class *c = lab_take(lab, CLASS_SIZES, sizeof *c, why);
  float *block = lab_take(lab, SWEPT, sizeof *block, why);
  struct roofline speed = @[{ .madds = 0 }@];
  struct engine e = lab->e;
  if (lm == NULL || c == NULL || block == NULL) return false;
  for (size_t i = 0; i < SWEPT; i++) block[i] = 1;
  clock_t start = clock();
  struct prepared_weights *ready = model_prepare(&lab->m, e.k, e.activations, lm, why);
  double once = 1e3 * seconds_since(start);
  struct store *cache = ready == NULL ? NULL : cache_open(&lab->m, &lm->config, CLASS,@|
    &(struct cache_options) @[{ .rows = CLASS * 2 * CLASS_PROMPT }@], why);
  e.prepared = ready;
  for (int i = 0; i < CLASS_SIZES; i++)
    c[i].g = (struct generate_context) @[{ &e, lm, cache, &lab->m }@];
  bool ok = cache != NULL && time_sizes(c, block, &speed, why);
  if (ok) printf("sequences,passes,tokens,seconds,first,gap,bound,boundfirst,boundgap,"
    "speed,bandwidth,once\n");
  for (int i = 0; ok && i < CLASS_SIZES; i++) print_class(&c[i], &speed, once);
  store_close(cache);
  prepared_close(&lab->m, ready);
  return ok;
}
