/* simulated.c -- what scheduler.c decides, decided once more on counts: how long each text is, and how many of its rows
   are stored.

   Each function here has its counterpart of the same name in scheduler.c (chapter 12), and
   the_scheduler_makes_the_simulated_passes compares the two, pass by pass. There is no index of prefixes, and memory is
   never refused. A text is in the line from its arrival until its last token; those that run are found by walking along
   the line until all of them have been met, so that a long queue behind them costs nothing. */

#include "serving/simulated.h"

static size_t pages_for(const struct simulation *s, size_t rows)
{
  return (rows + s->page_rows - 1) / s->page_rows;
}

/* the pages that a text needs besides its own for so many more rows */
static size_t pages_wanted(const struct simulation *s, const struct simulated_text *t, size_t rows)
{
  return pages_for(s, t->stored + rows) - pages_for(s, t->stored);
}

struct row_costs row_costs_of(const struct model *lm, size_t row_bytes)
{
  const struct model_config *c = &lm->config;
  uint64_t d = c->d_model, layers = c->n_layers;
  size_t places = c->learned_positions ? weight_row_bytes(lm->positions.type, d) : 0;
  return (struct row_costs) { .layer_madds = lm->layer_madds, .layer_bytes = lm->layer_bytes,
    .pair_madds = 2 * layers * c->n_heads * c->head_dim, .row_bytes = layers * row_bytes,
    .head_madds = d * c->vocab_size, .head_bytes = lm->head_bytes,
    .embedding_bytes = weight_row_bytes(lm->embedding.type, d) + places };
}

bool simulated_open(struct memory *m, struct simulation *s, struct error *why)
{
  s->line = s->end = NO_TEXT, s->running = s->planned = 0;
  s->free_pages = s->pages, s->plan = NULL;
  s->counts = (struct scheduler_counts) { .passes = 0 };
  for (size_t i = 0; i < s->n; i++)
    if (s->text[i].prompt == 0 || s->text[i].wants == 0
        || pages_for(s, s->text[i].prompt + s->text[i].wants) > s->pages)
      return error_say(why, "text %zu: %zu tokens and %zu more; wanted: at least one of each, and no more than %zu pages hold",
        i, s->text[i].prompt, s->text[i].wants, s->pages);
  s->plan = memory_alloc(m, MEMORY_OTHER, s->slots, sizeof *s->plan, why);
  return s->plan != NULL;
}

void simulated_close(struct memory *m, struct simulation *s)
{
  memory_free(m, s->plan);
  s->plan = NULL;
}

void simulated_join(struct simulation *s, uint32_t i)
{
  struct simulated_text *t = &s->text[i];
  t->length = t->prompt, t->stored = t->rows = t->preempted = 0;
  t->running = false, t->next = NO_TEXT;
  if (s->line == NO_TEXT) s->line = i;
  else s->text[s->end].next = i;
  s->end = i;
}

static void leave(struct simulation *s, uint32_t i)
{
  uint32_t before = NO_TEXT;
  for (uint32_t k = s->line; k != i; k = s->text[k].next) before = k;
  if (before == NO_TEXT) s->line = s->text[i].next;
  else s->text[before].next = s->text[i].next;
  if (s->end == i) s->end = before;
  s->free_pages += pages_for(s, s->text[i].stored);
  s->text[i].stored = 0, s->text[i].running = false;
  s->running--;
}

static size_t rows_to_read(const struct simulated_text *t)
{
  return t->length - t->stored;
}

static bool room_for(const struct simulation *s, const struct simulated_text *t)
{
  size_t pages = pages_wanted(s, t, rows_to_read(t)), left = s->running;
  for (uint32_t i = s->line; left > 0; i = s->text[i].next) {
    const struct simulated_text *a = &s->text[i];
    if (!a->running) continue;
    pages += pages_wanted(s, a, rows_to_read(a) + s->page_rows), left--;
  }
  return pages <= s->free_pages;
}

static void let_in(struct simulation *s)
{
  if (s->in_batches && s->running > 0) return;
  for (uint32_t i = s->line; i != NO_TEXT && s->running < s->slots; i = s->text[i].next) {
    if (s->text[i].running) continue;
    if (s->running > 0 && !room_for(s, &s->text[i])) return;
    s->text[i].running = true, s->running++;
  }
}

static void plan_text(struct simulation *s, uint32_t i, size_t rows)
{
  s->text[i].rows = rows;
  s->plan[s->planned++] = i;
}

/* decoding texts first, one row each; then prompts in their order */
static void plan_pass(struct simulation *s)
{
  size_t left = s->pass_rows, met = s->running;
  s->planned = 0;
  for (uint32_t i = s->line; met > 0; i = s->text[i].next) {
    if (!s->text[i].running) continue;
    if (rows_to_read(&s->text[i]) == 1) plan_text(s, i, 1), left--;
    met--;
  }
  met = s->running;
  for (uint32_t i = s->line; met > 0 && left > 0; i = s->text[i].next) {
    if (!s->text[i].running) continue;
    size_t rows = rows_to_read(&s->text[i]);
    met--;
    if (rows == 1) continue;
    if (rows > left) rows = left;
    plan_text(s, i, rows), left -= rows;
  }
}

static bool plan_fits(const struct simulation *s)
{
  size_t pages = 0;
  for (size_t k = 0; k < s->planned; k++)
    pages += pages_wanted(s, &s->text[s->plan[k]], s->text[s->plan[k]].rows);
  return pages <= s->free_pages;
}

/* the youngest loses its slot and its pages; false: it is alone */
static bool make_room(struct simulation *s)
{
  uint32_t youngest = s->line;
  size_t left = s->running;
  if (left <= 1) return false;
  for (uint32_t i = s->line; left > 0; i = s->text[i].next)
    if (s->text[i].running) youngest = i, left--;
  struct simulated_text *t = &s->text[youngest];
  s->free_pages += pages_for(s, t->stored);
  t->stored = t->rows = 0, t->running = false;
  t->preempted++;
  s->running--, s->counts.preempted++;
  return true;
}

size_t simulated_plan(struct simulation *s)
{
  let_in(s);
  plan_pass(s);
  while (s->planned > 0 && !plan_fits(s) && make_room(s)) plan_pass(s);
  return s->planned;
}

static void take_further(struct simulation *s, uint32_t i, uint64_t now)
{
  struct simulated_text *t = &s->text[i];
  s->free_pages -= pages_wanted(s, t, t->rows);
  t->stored += t->rows, s->counts.rows += t->rows;
  t->rows = 0;
  if (t->stored < t->length) return;
  if (t->length == t->prompt) t->first = now;
  t->length++, t->last = now;
  if (t->length == t->prompt + t->wants) leave(s, i);
}

void simulated_advance(struct simulation *s, uint64_t now)
{
  s->counts.passes++, s->counts.slots_used += s->planned;
  for (size_t k = 0; k < s->planned; k++) take_further(s, s->plan[k], now);
}
