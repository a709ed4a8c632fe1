/* generating.c -- made from workshop/14-command.w; change it there */

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "ground/timing.h"
#include "search/sharing.h"
#include "safetensors/jsonfile.h"
#include "command/subcommands.h"

/* <Name the counters> */
uint64_t counter_at(const struct counters *c, int i, const char **name)
{
  const struct { const char *name; uint64_t value; }
    list[N_COUNTERS] = {
    {"passes", c->passes}, {"rows", c->rows},
    {"kv_rows_computed", c->kv_rows_computed},
    {"kv_rows_recomputed", c->kv_rows_recomputed},
    {"qk_pairs", c->qk_pairs},
    {"madds_linear", c->madds_linear},
    {"madds_attention", c->madds_attention},
    {"madds_head", c->madds_head},
    {"weight_bytes_read", c->weight_bytes_read},
    {"cache_bytes_read", c->cache_bytes_read},
    {"cache_bytes_written", c->cache_bytes_written}
  };
  *name = list[i].name;
  return list[i].value;
}

void put_counters(struct json_out *j, const struct counters *c)
{
  put_open(j, '{');
  for (int i = 0; i < N_COUNTERS; i++) {
    const char *name;
    uint64_t value = counter_at(c, i, &name);
    put_key(j, name), put_count(j, value);
  }
  put_close(j, '}');
}

/* <What is kept during a generation> */
struct written {
  struct ids id; /* the new ones */
  struct bytes text;
  enum finish ended;
  const char *reason; /* what ended it, or null */
  const struct stop_string *string;
  double score; /* of a search */
  struct candidate *noted; /* [tokens][1 + k] */
  size_t tokens, room;
};
struct writing {
  struct occasion *a;
  struct decisions how;
  const uint32_t *eos;
  size_t n_eos;
  struct written *all, *now; /* all[n], the newest being now */
  size_t n, room;
  size_t shown; /* bytes of this text that have been released to the reader */
  struct json_out j;
  /* [vocab_size], or null: nobody wants to know */
  double *logprob;
  size_t k;
  double began, first, last, decoded; /* moments; time behind first tokens */
  bool mute, failed; /* --json shows nothing before the end */
};

/* <Write how likely a token was> */
static void put_odds(struct writing *g, const struct written *w, size_t i)
{
  const struct candidate *x = w->noted + i * (1 + g->k);
  put_double(&g->j, x[0].logprob);
  if (!g->a->w->of[OPTION_LOGPROBS].given) return;
  put_key(&g->j, "rank"), put_count(&g->j, x[0].rank);
  put_key(&g->j, "top"), put_open(&g->j, '[');
  for (size_t n = 1; n <= g->k; n++) {
    put_open(&g->j, '{');
    put_key(&g->j, "id"), put_count(&g->j, x[n].id);
    put_key(&g->j, "logprob"), put_double(&g->j, x[n].logprob);
    put_close(&g->j, '}');
  }
  put_close(&g->j, ']');
}

/* <Show what may be shown> */
static size_t take_fresh(struct writing *g, const unsigned char **byte)
{
  const struct outflow *o = &g->how.ends.flow;
  size_t n = o->released - g->shown;
  *byte = n > 0 ? o->text.byte + g->shown : (const unsigned char *) "";
  g->shown = o->released;
  return n;
}

/* <Show a token as it comes> */
static void show_token(struct writing *g, uint32_t id)
{
  FILE *out = g->a->c->out;
  const unsigned char *byte;
  size_t n = take_fresh(g, &byte);
  if (g->a->w->of[OPTION_JSONL].given) {
    put_open(&g->j, '{');
    put_key(&g->j, "index"), put_count(&g->j, g->n - 1);
    put_key(&g->j, "id"), put_count(&g->j, id);
    put_key(&g->j, "text");
    put_text(&g->j, byte, n);
    put_key(&g->j, "logprob");
    put_odds(g, g->now, g->now->tokens - 1);
    put_close(&g->j, '}');
    put_end(&g->j);
  }
  else if (g->a->o.t == NULL)
    fprintf(out, "%s%" PRIu32, g->now->tokens > 1 ? "," : "", id);
  else if (n > 0) fwrite(byte, 1, n, out);
}

/* <Note how likely the token was> */
static bool note_odds(struct writing *g, const struct step *now)
{
  struct occasion *a = g->a;
  struct written *w = g->now;
  size_t width = 1 + g->k, v = a->o.vocab_size;
  if (g->logprob == NULL) return true;
  if (w->tokens > w->room) {
    size_t room = 2 * w->room + 16;
    void *more = memory_grow(a->o.m, FOR_OTHER, w->noted,
      w->room * width, room * width, sizeof *w->noted, &a->why);
    if (more == NULL) return false;
    w->noted = more, w->room = room;
  }
  a->o.e.k->log_softmax(&a->o.e, now->logits, 1, v, g->logprob);
  candidates_find(g->logprob, v, now->chosen,
    w->noted + (w->tokens - 1) * width, g->k);
  return true;
}

/* <Watch a step of the generation> */
static bool see_token(void *self, const struct step *now)
{
  struct writing *g = self;
  g->last = timing_seconds();
  if (g->now->tokens++ == 0) {
    if (g->n == 1) g->first = g->last;
    g->decoded -= g->last;
  }
  g->failed = !note_odds(g, now);
  if (g->failed) return false;
  if (!g->mute) show_token(g, now->chosen);
  if (fflush(g->a->c->out) != 0) return false;
  return !g->a->c->interrupted();
}

/* <Generate, watching> */
static bool run_loop(struct writing *g, struct continuation *text)
{
  struct occasion *a = g->a;
  struct outfit *o = &a->o;
  struct generator with = { &o->e, o->lm, o->s, o->m };
  struct settings want = { .max_new_tokens = a->most, .eos = g->eos,
    .n_eos = g->n_eos, .see = see_token, .self = g,
    .recall = a->w->of[OPTION_NO_CACHE].given ? NULL : store_keep,
    .chunk = (size_t) a->w->of[OPTION_CHUNK].count };
  decisions_apply(&g->how, a, &want);
  if (g->n == 1) g->began = timing_seconds();
  bool ok = generate(&with, a->p.list.id, a->p.list.n, &want, text, &a->why);
  if (a->most == 0) g->first = g->last = timing_seconds();
  if (g->now->tokens > 0) g->decoded += g->last;
  return ok && !g->failed;
}

/* <Show what came of it> */

/* <Reckon the times> */
enum { N_TIMES = 5 };
static const char *const time_name[N_TIMES] = { "load_ms",
  "time_to_first_token_ms", "time_per_output_token_ms",
  "prefill_tokens_per_second", "decode_tokens_per_second" };
static void reckon_times(const struct writing *g, double of[N_TIMES])
{
  double until = g->first - g->began, after = g->decoded, steps = 0;
  for (size_t i = 0; i < g->n; i++)
    if (g->all[i].tokens > 1) steps += (double) (g->all[i].tokens - 1);
  bool any = g->n > 0 && g->all[0].tokens > 0;
  of[0] = 1e3 * g->a->o.load_seconds;
  of[1] = any ? 1e3 * until : NAN;
  of[2] = steps > 0 ? 1e3 * after / steps : NAN;
  of[3] = until > 0 ? (double) g->a->p.list.n / until : NAN;
  of[4] = steps > 0 && after > 0 ? steps / after : NAN;
}

static void put_timings(struct writing *g)
{
  double of[N_TIMES];
  reckon_times(g, of);
  put_key(&g->j, "timings"), put_open(&g->j, '{');
  for (int i = 0; i < N_TIMES; i++) {
    put_key(&g->j, time_name[i]);
    if (isnan(of[i])) put_word(&g->j, "null");
    else put_double(&g->j, of[i]);
  }
  put_close(&g->j, '}');
}

/* <Write the prompt> */
static void put_prompt(struct writing *g)
{
  const struct prompt *p = &g->a->p;
  put_key(&g->j, "prompt"), put_open(&g->j, '{');
  put_key(&g->j, "text"), put_text(&g->j, p->text.byte, p->text.n);
  put_key(&g->j, "ids"), put_ids(&g->j, p->list.id, p->list.n);
  put_close(&g->j, '}');
}

static void put_all_odds(struct writing *g, const struct written *w)
{
  put_key(&g->j, "logprobs"), put_open(&g->j, '[');
  for (size_t i = 0; i < w->tokens; i++) {
    put_open(&g->j, '{');
    put_key(&g->j, "id"), put_count(&g->j, w->id.id[i]);
    put_key(&g->j, "logprob"), put_odds(g, w, i);
    put_close(&g->j, '}');
  }
  put_close(&g->j, ']');
}

/* <Write one sequence> */
static void put_sequence(struct writing *g, size_t i)
{
  static const char *const reason[] = { "\"length\"", "\"stop\"",
    "\"length\"", "\"cancelled\"" };
  struct json_out *j = &g->j;
  const struct written *w = &g->all[i];
  put_open(j, '{');
  put_key(j, "index"), put_count(j, i);
  put_key(j, "ids"), put_ids(j, w->id.id, w->id.n);
  put_key(j, "text"), put_text(j, w->text.byte, w->text.n);
  put_key(j, "finish_reason"), put_word(j, reason[w->ended]);
  put_key(j, "stop");
  if (w->string != NULL) {
    put_open(j, '{'), put_key(j, "string");
    put_text(j, w->string->byte, w->string->n), put_close(j, '}');
  }
  else if (w->reason == NULL || strcmp(w->reason, "match") == 0)
    put_word(j, "null");
  else put_words(j, w->reason);
  if (g->a->w->of[OPTION_NUM_BEAMS].count > 1)
    put_key(j, "score"), put_double(j, w->score);
  if (g->a->w->of[OPTION_LOGPROBS].given) put_all_odds(g, w);
  put_close(j, '}');
}

/* <Write the object of a generation> */
static size_t tokens_of(const struct writing *g)
{
  size_t n = 0;
  for (size_t i = 0; i < g->n; i++) n += g->all[i].id.n;
  return n;
}

static void put_generation(struct writing *g)
{
  struct json_out *j = &g->j;
  size_t n = tokens_of(g), given = g->a->p.list.n;
  put_open(j, '{');
  put_key(j, "model"), put_words(j, g->a->o.path);
  put_prompt(g);
  put_key(j, "sequences"), put_open(j, '[');
  for (size_t i = 0; i < g->n; i++) put_sequence(g, i);
  put_close(j, ']');
  put_key(j, "usage"), put_open(j, '{');
  put_key(j, "prompt_tokens"), put_count(j, given);
  put_key(j, "completion_tokens"), put_count(j, n);
  put_key(j, "total_tokens"), put_count(j, given + n);
  put_close(j, '}');
  put_key(j, "counters"), put_counters(j, &g->a->o.counters);
  put_timings(g);
  put_close(j, '}');
  put_end(j);
}

/* <Print the statistics> */
static void print_stats(const struct writing *g)
{
  FILE *err = g->a->c->err;
  const struct memory *m = g->a->o.m;
  double of[N_TIMES];
  reckon_times(g, of);
  fprintf(err, "%-28s %zu + %zu\n", "tokens", g->a->p.list.n,
    tokens_of(g));
  fprintf(err, "%-28s %u\n", "workers", pool_workers(g->a->o.crew));
  for (int i = 0; i < N_COUNTERS; i++) {
    const char *name;
    uint64_t value = counter_at(&g->a->o.counters, i, &name);
    fprintf(err, "%-28s %" PRIu64 "\n", name, value);
  }
  for (int i = 0; i < N_TIMES; i++)
    if (!isnan(of[i]))
      fprintf(err, "%-28s %.2f\n", time_name[i], of[i]);
  for (int i = 0; i < N_PURPOSES; i++)
    fprintf(err, "peak for %-19s %" PRIu64 " bytes\n",
      purpose_name((enum purpose) i), m->of[i].peak);
}

/* <End a text> */
static bool end_text(struct writing *g)
{
  struct occasion *a = g->a;
  struct outflow *o = &g->how.ends.flow;
  const unsigned char *byte;
  FILE *out = a->c->out;
  outflow_end(o);
  g->now->reason = criteria_reason(&g->how.ends.all, g->now->ended);
  g->now->string = o->found;
  if (!bytes_push(a->o.m, &g->now->text, o->text.byte, o->text.n, &a->why))
    return false;
  size_t n = take_fresh(g, &byte);
  if (g->mute || a->w->of[OPTION_JSONL].given) return true;
  if (n > 0) fwrite(byte, 1, n, out);
  if (a->c->out_terminal || g->how.sequences > 1) putc('\n', out);
  return true;
}

static bool cancelled(const struct writing *g)
{
  return g->n > 0 && g->now->ended == FINISH_CANCELLED;
}

/* <Finish a generation> */
static int finish_writing(struct writing *g)
{
  struct occasion *a = g->a;
  if (g->mute || a->w->of[OPTION_JSONL].given) put_generation(g);
  if (console_end(a->c, STATUS_DONE) != STATUS_DONE)
    return STATUS_FAILED;
  if (a->w->of[OPTION_STATS].given) print_stats(g);
  return cancelled(g) ? STATUS_CANCELLED : STATUS_DONE;
}

/* <Make a place for a text> */
static bool new_text(struct writing *g)
{
  if (g->n == g->room) {
    void *more = memory_grow(g->a->o.m, FOR_OTHER, g->all, g->room,
      2 * g->room + 1, sizeof *g->all, &g->a->why);
    if (more == NULL) return false;
    g->all = more, g->room = 2 * g->room + 1;
  }
  g->now = &g->all[g->n++];
  g->shown = 0;
  return true;
}

static bool echo_prompt(const struct writing *g)
{
  const struct bytes *text = &g->a->p.text;
  if (g->a->w->of[OPTION_ECHO].given)
    fwrite(text->byte, 1, text->n, g->a->c->out);
  return true;
}

/* <Write one text> */
static bool keeps_word(struct writing *g)
{
  bool yes;
  return bond_matches(&g->how.bond, &yes, &g->a->why) && (yes
    || g->now->ended == FINISH_CANCELLED || error_say(&g->a->why,
    "text %zu does not match what it must", g->n - 1));
}

static bool write_one(struct writing *g)
{
  struct memory *m = g->a->o.m;
  struct error *why = &g->a->why;
  struct continuation text = { .n_prompt = 0 };
  if (!new_text(g)) return false;
  g->how.d.sequence = (uint32_t) (g->n - 1);
  bond_restart(&g->how.bond);
  bool ok = echo_prompt(g) && endings_begin(&g->how.ends,
    g->a->p.list.id, g->a->p.list.n, why) && run_loop(g, &text);
  for (size_t i = text.n_prompt; ok && i < text.text.n; i++)
    ok = ids_push(m, &g->now->id, text.text.id[i], why);
  g->now->ended = text.ended;
  continuation_free(m, &text);
  return ok && end_text(g) && keeps_word(g);
}

/* <Write the best of a search> */
static bool see_search(void *self, const struct search_step *now)
{
  struct writing *g = self;
  g->last = timing_seconds();
  if (now->number == 1) g->first = g->last;
  return !g->a->c->interrupted();
}

static bool search_texts(struct writing *g, const struct search_source *from,
  struct search_result *out)
{
  struct occasion *a = g->a;
  const struct option_value *of = a->w->of;
  const struct sampling *s = &g->how.d.s;
  struct search_processor process[3] = {
    {PROCESS_REPETITION, s->repetition_penalty, 0},
    {PROCESS_NGRAM, 0, s->no_repeat_ngram},
    {PROCESS_MIN_NEW, 0, (size_t) of[OPTION_MIN_TOKENS].count} };
  struct search_settings want = {
    .num_beams = (size_t) of[OPTION_NUM_BEAMS].count,
    .num_return = (size_t) g->how.sequences,
    .max_length = a->p.list.n + a->most, .length_penalty = 1,
    .early = (enum early_stopping) (of[OPTION_EARLY_STOPPING].count == 1
      ? EARLY_TRUE : of[OPTION_EARLY_STOPPING].count == 2 ? EARLY_NEVER
      : EARLY_FALSE), .eos = g->eos, .n_eos = g->n_eos,
    .process = process, .n_process = 3, .see = see_search, .self = g };
  if (of[OPTION_LENGTH_PENALTY].given)
    want.length_penalty = of[OPTION_LENGTH_PENALTY].real;
  g->began = timing_seconds();
  return search_run(from, a->o.m, a->o.e.k, a->p.list.id, a->p.list.n,
    &want, out, &a->why);
}

static bool take_text(struct writing *g, const struct search_text *t)
{
  if (!new_text(g)) return false;
  struct written *w = g->now;
  size_t given = g->a->p.list.n;
  w->ended = t->ended, w->score = t->score;
  struct error *why = &g->a->why;
  bool ok = echo_prompt(g) && endings_begin(&g->how.ends,
    g->a->p.list.id, given, why);
  for (size_t i = given; ok && i < t->n; i++) {
    bool last = i + 1 == t->n && t->ended == FINISH_STOP;
    w->tokens++;
    ok = ids_push(g->a->o.m, &w->id, t->id[i], why)
      && (last || outflow_id(&g->how.ends.flow, t->id[i], why));
    if (ok && !last && !g->mute) show_token(g, t->id[i]);
  }
  return ok && end_text(g);
}

static bool write_beams(struct writing *g)
{
  struct occasion *a = g->a;
  struct generator with = { &a->o.e, a->o.lm, a->o.s, a->o.m };
  struct search_model model;
  struct search_source from;
  struct search_result found;
  if (a->most == 0) return error_say(&a->why, "a search writes 1 token or"
      " more; wanted: another --max-new-tokens");
  if (!search_model_open(&model, &with, (size_t)
      a->w->of[OPTION_NUM_BEAMS].count, (size_t)
      a->w->of[OPTION_CHUNK].count, &from, &a->why)) return false;
  bool ok = search_texts(g, &from, &found);
  search_model_close(&model);
  for (size_t i = 0; ok && i < found.n; i++)
    ok = take_text(g, &found.text[i]);
  if (ok) g->decoded = g->last - g->first, search_free(&found);
  return ok;
}

/* <Give hints> */
bool has_chat_template(const char *folder)
{
  char path[CONSOLE_PATH];
  int n = snprintf(path, sizeof path, "%s/chat_template.jinja", folder);
  if (n < 0 || n >= CONSOLE_PATH) return false;
  if (access(path, R_OK) == 0) return true;
  n = snprintf(path, sizeof path, "%s/tokenizer_config.json", folder);
  json_t *value = n > 0 && n < CONSOLE_PATH && access(path, R_OK) == 0
    ? json_read(path, SETTINGS_MOST, NULL) : NULL;
  json_t *found = json_object_get(value, "chat_template");
  bool has = found != NULL && !json_is_null(found);
  json_decref(value);
  return has;
}

static void give_hints(const struct occasion *a, bool greedy)
{
  static const enum option idle[] = { OPTION_TOP_K, OPTION_TOP_P,
    OPTION_MIN_P, OPTION_TYPICAL_P, OPTION_SEED };
  if (!a->p.in_ids && has_chat_template(a->o.path))
    fprintf(a->c->err, "incipit: hint: this model was"
      " trained on conversations and" " has a chat template; the"
      " prompt is used as it is" " (incipit chat sets it as"
      " turns)\n");
  for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
    if (a->w->of[idle[i]].given && greedy)
      fprintf(a->c->err, "incipit: hint: --%s changes nothing at"
        " temperature 0 (--temperature 1" " is the model as it is)\n",
        option_at(idle[i])->name);
}

/* <Take, hint, run, finish, give back> */
static int write_text(struct occasion *a)
{
  const struct option_value *of = a->w->of;
  const struct model_config *config = &a->o.lm->config;
  struct writing g = { .a = a, .eos = config->eos,
    .j = { a->c->out, '\0' } };
  g.n_eos = of[OPTION_IGNORE_EOS].given ? 0 : config->n_eos;
  g.mute = of[OPTION_JSON].given;
  g.k = (size_t) of[OPTION_LOGPROBS].count;
  if (g.k > config->vocab_size) g.k = config->vocab_size;
  int status = decisions_open(&g.how, a, &a->why);
  bool ok = status == STATUS_DONE;
  if (ok) give_hints(a, decisions_greedy(&g.how));
  if (ok && (of[OPTION_LOGPROBS].given || of[OPTION_JSONL].given))
    ok = (g.logprob = memory_take(a->o.m, FOR_OTHER, config->vocab_size,
      sizeof *g.logprob, &a->why)) != NULL;
  if (ok) a->c->listen();
  if (ok && of[OPTION_NUM_BEAMS].count > 1) ok = write_beams(&g);
  else while (ok && g.n < g.how.sequences && !cancelled(&g)
      && !(a->most == 0 && a->c->interrupted())) ok = write_one(&g);
  if (status == STATUS_DONE) status = ok ? finish_writing(&g)
    : STATUS_FAILED;
  /* <Give back what the writing held> */
  memory_give(a->o.m, FOR_OTHER, g.logprob, config->vocab_size,
    sizeof *g.logprob);
  for (size_t i = 0; i < g.n; i++) {
    struct written *w = &g.all[i];
    memory_give(a->o.m, FOR_OTHER, w->noted, w->room * (1 + g.k),
      sizeof *w->noted);
    bytes_free(a->o.m, &w->text);
    ids_free(a->o.m, &w->id);
  }
  memory_give(a->o.m, FOR_OTHER, g.all, g.room, sizeof *g.all);
  decisions_close(a->o.m, &g.how);
  return status;
}

int run_generate(const struct console *c, const struct wishes *w)
{
  return occasion_run(c, w, write_text);
}
