/* generating.c -- made from chapters/A2-command.w; change it there */

/* B.120  generating.c */

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "A2-command/subcommands.h"

/* B.115  Name the counters */

uint64_t counter_at(const struct counters *c, int i, const char **name)
{
  const struct {
    const char *name;
    uint64_t value;
  } list[N_COUNTERS] = {
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

/* B.116  Name the counters */

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

/* B.98  What is kept during a generation */

struct writing {
  struct occasion *a;
  const uint32_t *eos;
  size_t n_eos;
  struct bytes text, fresh;

  struct stream tail;
  struct json_out j;
  double *logprob;

  struct candidate *noted;
  size_t k, tokens, room;
  double began, first, last;
  bool begun, mute, failed;

};

/* B.103  Write how likely a token was */

static void put_odds(struct writing *g, size_t i)
{
  const struct candidate *x = g->noted + i * (1 + g->k);
  put_double(&g->j, x[0].logprob);
  if (!g->a->w->of[OPTION_LOGPROBS].given)
    return;
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

/* B.102  Show a token as it comes */

static void show_token(struct writing *g, uint32_t id)
{
  FILE *out = g->a->c->out;
  if (g->a->w->of[OPTION_JSONL].given) {
    put_open(&g->j, '{');
    put_key(&g->j, "index"), put_count(&g->j, 0);
    put_key(&g->j, "id"), put_count(&g->j, id);
    put_key(&g->j, "text");
    put_text(&g->j, g->fresh.byte, g->fresh.n);
    put_key(&g->j, "logprob");
    put_odds(g, g->tokens - 1);
    put_close(&g->j, '}');
    put_end(&g->j);
  } else if (g->a->o.t == NULL)
    fprintf(out, "%s%" PRIu32, g->tokens > 1 ? "," : "", id);
  else if (g->fresh.n > 0)
    fwrite(g->fresh.byte, 1, g->fresh.n, out);
}

/* B.100  Turn a token into bytes that may be released */

static bool read_prompt(struct writing *g)
{
  struct occasion *a = g->a;
  const struct ids *p = &a->p.list;
  bool ok = true;
  for (size_t i = 0; a->o.t != NULL && ok && i < p->n; i++)
    ok = tokenizer_decode_next(a->o.t, a->o.m, p->id[i], true,
                               &g->begun, &g->text, &a->why);
  g->text.n = 0;
  return ok;
}

static bool take_bytes(struct writing *g, uint32_t id)
{
  struct occasion *a = g->a;
  size_t before = g->text.n;
  if (a->o.t == NULL)
    return true;
  return tokenizer_decode_next(a->o.t, a->o.m, id, true, &g->begun,
                               &g->text, &a->why)
      && (g->text.n == before || stream_feed(a->o.m, &g->tail,
                                             g->text.byte + before,
                                             g->text.n - before, &g->fresh,
                                             &a->why));
}

/* B.101  Note how likely the token was */

static bool note_odds(struct writing *g, const struct step *now)
{
  struct occasion *a = g->a;
  size_t width = 1 + g->k, v = a->o.vocab_size;
  if (g->logprob == NULL)
    return true;
  if (g->tokens > g->room) {
    size_t room = 2 * g->room + 16;
    void *more = memory_grow(a->o.m, FOR_OTHER, g->noted,
                             g->room * width, room * width, sizeof *g->noted,
                             &a->why);
    if (more == NULL)
      return false;
    g->noted = more, g->room = room;
  }
  a->o.e.k->log_softmax(&a->o.e, now->logits, 1, v, g->logprob);
  candidates_find(g->logprob, v, now->chosen,
                  g->noted + (g->tokens - 1) * width, g->k);
  return true;
}

/* B.99  Watch a step of the generation */

static bool see_token(void *self, const struct step *now)
{
  struct writing *g = self;
  g->last = console_seconds();
  if (g->tokens++ == 0)
    g->first = g->last;
  g->fresh.n = 0;
  bool ends = false;
  for (size_t i = 0; i < g->n_eos; i++)
    ends = ends || g->eos[i] == now->chosen;
  g->failed = !(ends || take_bytes(g, now->chosen))
      || !note_odds(g, now);
  if (g->failed)
    return false;
  if (!g->mute)
    show_token(g, now->chosen);
  if (fflush(g->a->c->out) != 0)
    return false;
  return !g->a->c->interrupted();
}

/* B.104  Generate, watching */

static bool run_loop(struct writing *g, struct continuation *text)
{
  struct occasion *a = g->a;
  struct outfit *o = &a->o;
  struct generator with = { &o->e, o->lm, o->s, o->m };
  struct settings want = {.max_new_tokens = a->most,.eos = g->eos,
    .n_eos = g->n_eos,.see = see_token,.self = g,
    .keep = !a->w->of[OPTION_NO_CACHE].given,
    .chunk = (size_t)a->w->of[OPTION_CHUNK].count
  };
  a->c->listen();
  g->began = console_seconds();
  bool ok = generate(&with, a->p.list.id, a->p.list.n, &want, text, &a->why);
  if (a->most == 0)
    g->first = g->last = console_seconds();
  return ok && !g->failed;
}

/* B.121  Show what came of it */

/* B.117  Reckon the times */

enum { N_TIMES = 5 };
static const char *const time_name[N_TIMES] = { "load_ms",
  "time_to_first_token_ms", "time_per_output_token_ms",
  "prefill_tokens_per_second", "decode_tokens_per_second"
};

static void reckon_times(const struct writing *g, size_t n, double of[N_TIMES])
{
  double until = g->first - g->began, after = g->last - g->first;
  of[0] = 1e3 * g->a->o.load_seconds;
  of[1] = n > 0 ? 1e3 * until : NAN;
  of[2] = n > 1 ? 1e3 * after / (double)(n - 1) : NAN;
  of[3] = until > 0 ? (double)g->a->p.list.n / until : NAN;
  of[4] = n > 1 && after > 0 ? (double)(n - 1) / after : NAN;
}

/* B.118  Reckon the times */

static void put_timings(struct writing *g, size_t n)
{
  double of[N_TIMES];
  reckon_times(g, n, of);
  put_key(&g->j, "timings"), put_open(&g->j, '{');
  for (int i = 0; i < N_TIMES; i++) {
    put_key(&g->j, time_name[i]);
    if (isnan(of[i]))
      put_word(&g->j, "null");
    else
      put_double(&g->j, of[i]);
  }
  put_close(&g->j, '}');
}

/* B.112  Write the prompt */

static void put_prompt(struct writing *g)
{
  const struct prompt *p = &g->a->p;
  put_key(&g->j, "prompt"), put_open(&g->j, '{');
  put_key(&g->j, "text"), put_text(&g->j, p->text.byte, p->text.n);
  put_key(&g->j, "ids"), put_ids(&g->j, p->list.id, p->list.n);
  put_close(&g->j, '}');
}

/* B.113  Write the prompt */

static void put_all_odds(struct writing *g, const struct continuation *text)
{
  put_key(&g->j, "logprobs"), put_open(&g->j, '[');
  for (size_t i = 0; i < g->tokens; i++) {
    put_open(&g->j, '{');
    put_key(&g->j, "id");
    put_count(&g->j, text->text.id[text->n_prompt + i]);
    put_key(&g->j, "logprob"), put_odds(g, i);
    put_close(&g->j, '}');
  }
  put_close(&g->j, ']');
}

/* B.110  Write the object of a generation */

static void put_generation(struct writing *g, const struct continuation *text)
{
  static const char *const reason[] = { "\"length\"", "\"stop\"",
    "\"length\"", "\"cancelled\""
  };
  struct json_out *j = &g->j;
  size_t n = text->text.n - text->n_prompt;
  put_open(j, '{');
  put_key(j, "model"), put_words(j, g->a->o.path);
  put_prompt(g);

/* B.111  Write the one sequence */

  put_key(j, "sequences"), put_open(j, '['), put_open(j, '{');
  put_key(j, "index"), put_count(j, 0);
  put_key(j, "ids"), put_ids(j, text->text.id + text->n_prompt, n);
  put_key(j, "text"), put_text(j, g->text.byte, g->text.n);
  put_key(j, "finish_reason"), put_word(j, reason[text->ended]);
  put_key(j, "stop");
  put_word(j, text->ended == FINISH_STOP ? "\"eos\"" : "null");
  if (g->a->w->of[OPTION_LOGPROBS].given)
    put_all_odds(g, text);
  put_close(j, '}'), put_close(j, ']');

  put_key(j, "usage"), put_open(j, '{');
  put_key(j, "prompt_tokens"), put_count(j, text->n_prompt);
  put_key(j, "completion_tokens"), put_count(j, n);
  put_key(j, "total_tokens"), put_count(j, text->text.n);
  put_close(j, '}');
  put_key(j, "counters"), put_counters(j, &g->a->o.counters);
  put_timings(g, n);
  put_close(j, '}');
  put_end(j);
}

/* B.119  Print the statistics */

static void print_stats(const struct writing *g, const struct continuation *text)
{
  FILE *err = g->a->c->err;
  const struct memory *m = g->a->o.m;
  double of[N_TIMES];
  reckon_times(g, text->text.n - text->n_prompt, of);
  fprintf(err, "%-28s %zu + %zu\n", "tokens", text->n_prompt,
          text->text.n - text->n_prompt);
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
            purpose_name((enum purpose)i), m->of[i].peak);
}

/* B.109  Finish a generation */

static int finish_writing(struct writing *g, const struct continuation *text)
{
  struct occasion *a = g->a;
  FILE *out = a->c->out;
  g->fresh.n = 0;
  if (!stream_flush(a->o.m, &g->tail, &g->fresh, &a->why))
    return STATUS_FAILED;
  if (g->mute || a->w->of[OPTION_JSONL].given)
    put_generation(g, text);
  else {
    if (g->fresh.n > 0)
      fwrite(g->fresh.byte, 1, g->fresh.n, out);
    if (a->c->out_terminal)
      putc('\n', out);
  }
  if (console_end(a->c, STATUS_DONE) != STATUS_DONE)
    return STATUS_FAILED;
  if (a->w->of[OPTION_STATS].given)
    print_stats(g, text);
  return text->ended == FINISH_CANCELLED ? STATUS_CANCELLED : STATUS_DONE;
}

/* B.107  Give hints */

static bool has_chat_template(const char *folder)
{
  char path[CONSOLE_PATH];
  int n = snprintf(path, sizeof path, "%s/chat_template.jinja", folder);
  if (n < 0 || n >= CONSOLE_PATH)
    return false;
  if (access(path, R_OK) == 0)
    return true;
  snprintf(path, sizeof path, "%s/tokenizer_config.json", folder);
  json_t *value = access(path, R_OK) == 0
      ? json_read(path, SETTINGS_MOST, NULL) : NULL;
  json_t *found = json_object_get(value, "chat_template");
  bool has = found != NULL && !json_is_null(found);
  json_decref(value);
  return has;
}

/* B.108  Give hints */

static void give_hints(const struct occasion *a)
{
  if (!a->p.in_ids && has_chat_template(a->o.path))
    fprintf(a->c->err, "incipit: hint: this model was"
            " trained on conversations and" " has a chat template; the"
            " prompt is used as it is\n");
  const struct sampling_config *s = &a->o.lm->config.sampling;
  if (s->do_sample || s->repetition_penalty != 1 || s->no_repeat_ngram_size != 0)
    fprintf(a->c->err, "incipit: hint: this model's"
            " makers recommend %s, which" " comes with chapter 7; the"
            " likeliest token is taken\n",
            s->do_sample ? "to sample" : "a penalty");
}

/* B.105  Take, hint, run, finish, give back */

static int write_text(struct occasion *a)
{
  const struct option_value *of = a->w->of;
  const struct model_config *config = &a->o.lm->config;
  struct writing g = {.a = a,.eos = config->eos,
    .j = {a->c->out, '\0'}
  };
  struct continuation text = {.n_prompt = 0 };
  g.n_eos = of[OPTION_IGNORE_EOS].given ? 0 : config->n_eos;
  g.mute = of[OPTION_JSON].given;
  g.k = (size_t)of[OPTION_LOGPROBS].count;
  if (g.k > config->vocab_size)
    g.k = config->vocab_size;
  give_hints(a);
  if (of[OPTION_ECHO].given)
    fwrite(a->p.text.byte, 1, a->p.text.n, a->c->out);
  bool ok = !(of[OPTION_LOGPROBS].given || of[OPTION_JSONL].given)
      || (g.logprob = memory_take(a->o.m, FOR_OTHER, config->vocab_size,
                                  sizeof *g.logprob, &a->why)) != NULL;
  ok = ok && read_prompt(&g) && run_loop(&g, &text);
  int status = !ok ? STATUS_FAILED : finish_writing(&g, &text);

/* B.106  Give back what the writing held */

  memory_give(a->o.m, FOR_OTHER, g.logprob, config->vocab_size, sizeof *g.logprob);
  memory_give(a->o.m, FOR_OTHER, g.noted, g.room * (1 + g.k), sizeof *g.noted);
  bytes_free(a->o.m, &g.text);
  bytes_free(a->o.m, &g.fresh);
  continuation_free(a->o.m, &text);

  return status;
}

int run_generate(const struct console *c, const struct wishes *w)
{
  return occasion_run(c, w, write_text);
}
