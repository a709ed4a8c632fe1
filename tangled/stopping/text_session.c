/* text_session.c -- made from chapters/08-stopping.w; change it there */

#include <signal.h>
#include <string.h>
#include "stopping/text_session.h"

/* <Prepare a text, and clear it away> */
void text_session_clear(struct text_session *u)
{
  continuation_free(u->g.m, &u->text);
  text_stream_close(&u->flow);
  stops_close(&u->until);
  ids_free(u->g.m, &u->script);
}

bool text_session_prepare(struct text_session *u,
  const struct text_request *r, struct error *why)
{
  size_t n = 0;
  text_session_clear(u);
  for (; n < 2 && r->stop[n] != NULL; n++)
    u->list[n] = (struct stop_string) {
      (const unsigned char *) r->stop[n], strlen(r->stop[n]) };
  u->r = r;
  u->steps = 0, u->reason = NULL;
  u->flow = (struct text_stream) { .m = u->g.m, .t = u->t,
    .until = &u->until, .min_tokens = r->min_tokens };
  return stops_open(&u->until, u->g.m, u->list, n, why)
    && (r->script == NULL || tokenizer_encode(u->t, u->g.m, r->script,
      strlen(r->script), false, false, &u->script, why));
}

/* <Watch a text, or recite it> */
static volatile sig_atomic_t interrupted;
static void note_signal(int number)
{
  interrupted = number;
}

static bool watch(void *ctx, const struct step *now)
{
  struct text_session *u = ctx;
  u->steps++;
  if (u->see != NULL && !u->see(u->see_ctx, now)) return false;
  if (u->steps == u->r->raise) raise(SIGINT);
  return u->steps != u->r->cancel && interrupted == 0;
}

static bool recite(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  const struct text_session *u = ctx;
  (void) logits, (void) why;
  *chosen = u->script.id[text->text.n - text->n_prompt];
  return true;
}

static struct store *open_shorter(const struct text_session *u,
  uint32_t context, struct error *why)
{
  struct model_config config = u->lm->config;
  config.n_positions = context;
  return store_open(u->g.m, &config, 1, why);
}

/* <Write a text> */
bool text_session_write(struct text_session *u, const struct text_request *r,
  const uint32_t *prompt, size_t n, struct error *why)
{
  const struct model_config *config = &u->lm->config;
  size_t repetition = r->repetition;
  struct criterion list[] = {
    {"string", text_stream_should_stop, &u->flow},
    {"repetition", repetition_should_stop, &repetition}, u->own };
  struct criteria any = { list, u->own.should_stop == NULL ? 2 : 3, NULL };
  if (!text_session_prepare(u, r, why)) return false;
  bool scripted = u->script.n > 0;
  struct generate_options want = { .eos = config->eos,
    .n_eos = r->ignore_eos ? 0 : config->n_eos, .min_tokens = r->min_tokens,
    .max_new_tokens = scripted ? u->script.n : r->max,
    .select = scripted ? recite : u->select,
    .select_ctx = scripted ? u : u->select_ctx, .recall = u->recall,
    .stop = criteria_should_stop, .stop_ctx = &any,
    .on_step = watch, .ctx = u };
  /* <Generate, and find the reason> */
  struct generate_context g = u->g;
  if (r->context > 0 && (g.s = open_shorter(u, r->context, why)) == NULL)
    return false;
  void (*usual)(int) = signal(SIGINT, note_signal);
  interrupted = 0;
  bool ok = text_stream_prompt(&u->flow, prompt, n, why)
    && generate(&g, prompt, n, &want, &u->text, why);
  signal(SIGINT, usual);
  if (g.s != u->g.s) store_close(g.s);
  text_stream_end(&u->flow);
  u->reason = criteria_reason(&any, u->text.ended);
  if (u->reason == NULL) u->reason =
    u->text.ended == FINISH_CANCELLED ? "cancelled" : "length";
  return ok && (interrupted == 0 || r->raise > 0
    || error_say(why, "the text was interrupted"));
}

bool text_session_answer(struct text_session *u, const struct text_request *r,
  struct error *why)
{
  struct ids list = { .n = 0 };
  bool ok = tokenizer_encode(u->t, u->g.m, r->prompt, strlen(r->prompt),
      false, false, &list, why)
    && text_session_write(u, r, list.id, list.n, why);
  ids_free(u->g.m, &list);
  return ok;
}
