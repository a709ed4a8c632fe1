/* set.c -- what a page sets: the names of the command's options, with their ranges.

   All of an object is read before anything is changed, so a refusal leaves everything as it was. */

#include <string.h>
#include "living/json.h"
#include "living/living.h"

struct wishes { struct living_wish w; struct bytes prompt; bool new_prompt; };

static bool refused(struct living *g, const struct page_field *f, const char *wanted)
{
  static const char *const kind[] = { "a string", "a number", "true or false" };
  if (f->kind == PAGE_NUMBER) return error_say(&g->why, "settings: %s is %g; wanted: %s", f->name, f->number, wanted);
  return error_say(&g->why, "settings: %s is %s; wanted: %s", f->name, kind[f->kind], wanted);
}

/* the whole numbers that a double holds exactly */
static bool whole(const struct page_field *f, double most)
{
  return f->kind == PAGE_NUMBER && f->number >= 0 && f->number <= most && f->number == (double) (uint64_t) f->number;
}

/* a parameter of a stage, by the table of the sampler; -1 if there is none of the name */
static int set_stage(struct living *g, struct wishes *x, const struct page_field *f)
{
  const struct sampling_option *o;
  for (size_t i = 0; (o = sampling_option_at(i, NULL)) != NULL; i++) {
    if (strcmp(o->name, f->name) != 0) continue;
    double n = f->number;
    bool ok = f->kind == PAGE_NUMBER && n <= o->high && (o->above_low ? n > o->low : n >= o->low)
      && (n == o->low || n >= o->low + o->gap)
      && (o->type == SAMPLING_REAL || (n >= -1 && n <= 1e9 && n == (double) (int64_t) n));
    if (!ok) return refused(g, f, o->expected);
    sampling_option_set(&x->w.s, o, n, o->type == SAMPLING_REAL ? 0 : (int64_t) n);
    return 1;
  }
  return -1;
}

static bool set_one(struct living *g, struct wishes *x, struct page_field *f)
{
  if (strcmp(f->name, "prompt") == 0) {
    if (f->kind != PAGE_TEXT) return refused(g, f, "a string");
    struct bytes was = x->prompt;
    x->prompt = f->text, f->text = was;
    x->new_prompt = true;
    return true;
  }
  if (strcmp(f->name, "cache") == 0) {
    x->w.cache = f->flag;
    return f->kind == PAGE_FLAG || refused(g, f, "true or false");
  }
  if (strcmp(f->name, "seed") == 0) {
    if (!whole(f, 9007199254740992.0)) return refused(g, f, "a whole number up to 9007199254740992");
    x->w.seed = (uint64_t) f->number;
    return true;
  }
  if (strcmp(f->name, "max_tokens") == 0) {
    if (!whole(f, LIVING_CONTEXT)) return refused(g, f, "a whole number up to the context, 0: no limit");
    x->w.max_tokens = (size_t) f->number;
    return true;
  }
  int set = set_stage(g, x, f);
  if (set < 0) return error_say(&g->why, "settings: there is no setting %s", f->name);
  return set > 0;
}

bool living_set(struct living *g, const char *text, size_t n)
{
  struct page_reader r = { .m = &g->m, .at = text, .from = text, .end = text + n, .why = &g->why };
  struct wishes x = { .w = g->wish };
  struct page_field f = { .number = 0 };
  bool more = true, ok = true;
  while (ok && more) {
    ok = page_next(&r, &f, &more);
    if (ok && more) ok = set_one(g, &x, &f);
  }
  if (ok && x.new_prompt) ok = living_restart(g, (const char *) x.prompt.byte, x.prompt.n);
  if (ok) g->wish = x.w;
  bytes_free(&g->m, &f.text);
  bytes_free(&g->m, &x.prompt);
  return ok;
}
