/* the program -- made from chapters/08-stopping.w; change it there */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/keep.h"
#include "stopping/stopping.h"

/* <Count full stops> */
static bool three_sentences(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  const struct text_stream *flow = ctx;
  size_t seen = 0;
  (void) text, (void) why;
  for (size_t i = 0; i < flow->text.n; i++) seen += flow->text.byte[i] == '.';
  *enough = seen >= 3;
  return true;
}

/* <The requests> */
#define DOG .prompt = "The dog", .max = 400
#define OWL .prompt = "User: Where does the owl live?\nAssistant:", .max = 400
#define LIST "1. apples\n2. pears\n3. plums\n4. nuts\n5. apples\n6. plums"

/* up to max tokens after prompt; two stop strings or fewer; the same repetition
   tokens three times; an end after token number cancel; a signal after number raise;
   a context smaller than the model's; a criterion of the caller's own; are the tokens
   shown? */
struct request { const char *name, *prompt, *stop[2], *script;
  size_t max, min_tokens, repetition, cancel, raise; uint32_t context;
  step_stop *own; bool tokens; };

static const struct request ends[] = {
  { "end token", DOG },
  { "the same, not before 100", DOG, .min_tokens = 99 },
  { "length 20", .prompt = "The dog", .max = 20 },
  { "context 24", DOG, .context = 24 },
  { "two line ends", OWL, .stop = { "\n\n" } },
  { "these, or User:", OWL, .stop = { "\n\n", "User:" } },
  { "4.", "A list:\n", .stop = { "4." }, .script = LIST },
  { "2 tokens, three times", "The cat sat in the sun. The clock said",
    .max = 400, .repetition = 2 },
  { "three sentences", DOG, .own = three_sentences },
  { "cancelled by a callback", DOG, .cancel = 7 },
  { "cancelled by a signal", DOG, .raise = 7 },
  { "", "A list:\n", .stop = { "\n\n", "User:" }, .tokens = true,
    .script = "A caf\xc3\xa9.\nUseful: 5 \xe2\x82\xac.\n\nUser:" } };

/* <What a session holds> */

/* what it takes to write; the newest text, of which steps tokens are written, and
   shown bytes */
struct session { struct generate_context g; const struct model_config *config;
  struct tokenizer *t; const struct request *r; struct text_stream flow;
  struct ids prompt, script; size_t steps, shown; };

/* <Show a text> */
static void show(const struct session *u, size_t from, size_t to)
{
  for (; from < to; from++)
    putchar(u->flow.text.byte[from] == '\n' ? '/' : u->flow.text.byte[from]);
}

/* <Watch a text, or recite it> */
static volatile sig_atomic_t interrupted;
static void note_signal(int number)
{ interrupted = number; }
static bool watch(void *ctx, const struct step *now)
{
  struct session *u = ctx;
  u->steps++;
  (void) now;
  if (u->r->tokens) show(u, u->shown, u->flow.released), putchar('|');
  u->shown = u->flow.released;
  if (u->steps == u->r->raise) raise(SIGINT);
  return u->steps != u->r->cancel && interrupted == 0;
}

static bool recite(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  const struct session *u = ctx;
  (void) logits, (void) why;
  *chosen = u->script.id[text->text.n - text->n_prompt];
  return true;
}

/* <Write a text, and say how it ended> */
static bool answer(struct session *u, const struct stops *until,
  struct error *why)
{
  const struct request *r = u->r;
  struct continuation text = { .n_prompt = 0 };
  /* <The criteria of a request> */
  size_t repetition = r->repetition;
  struct criterion list[] = {
    {"string", text_stream_should_stop, &u->flow},
    {"repetition", repetition_should_stop, &repetition},
    {"callback", r->own, &u->flow} };
  struct criteria any = { list, r->own == NULL ? 2 : 3, NULL };
  /* <The options of the loop> */
  bool scripted = u->script.n > 0;
  struct generate_options want = { .eos = u->config->eos,
    .n_eos = u->config->n_eos, .min_tokens = r->min_tokens,
    .max_new_tokens = scripted ? u->script.n : r->max,
    .select = scripted ? recite : NULL, .select_ctx = u,
    .recall = store_match_prefix, .stop = criteria_should_stop,
    .stop_ctx = &any, .on_step = watch, .ctx = u };
  u->flow = (struct text_stream) { .m = u->g.m, .t = u->t,
    .until = until, .min_tokens = r->min_tokens };
  void (*usual)(int) = signal(SIGINT, note_signal);
  interrupted = 0;
  bool ok = text_stream_prompt(&u->flow, u->prompt.id, u->prompt.n, why)
    && generate(&u->g, u->prompt.id, u->prompt.n, &want, &text, why);
  signal(SIGINT, usual);
  text_stream_end(&u->flow);
  /* <Print how the text ended> */
  size_t n = u->flow.text.n, last = n < 22 ? n : 22;
  const char *reason = criteria_reason(&any, text.ended);
  if (reason == NULL) reason =
    text.ended == FINISH_CANCELLED ? "cancelled" : "length";
  if (!r->tokens) printf("%-24s%4zu  %-11s", r->name, u->steps, reason);
  show(u, r->tokens ? n : n - last, n), printf("\n");
  text_stream_close(&u->flow);
  continuation_free(u->g.m, &text);
  return ok && (interrupted == 0 || r->raise > 0
    || error_say(why, "the text was interrupted"));
}

/* <Answer a request> */
static bool begin(struct session *u, const struct request *r,
  struct error *why)
{
  struct memory *m = u->g.m;
  struct stop_string list[2];
  struct stops until;
  struct model_config config = *u->config;
  size_t n = 0;
  for (; n < 2 && r->stop[n] != NULL; n++)
    list[n] = (struct stop_string) {
      (const unsigned char *) r->stop[n], strlen(r->stop[n]) };
  if (r->context > 0) config.n_positions = r->context;
  if (!stops_open(&until, m, list, n, why)) return false;
  u->r = r, u->steps = u->shown = u->prompt.n = u->script.n = 0;
  bool ok = tokenizer_encode(u->t, m, r->prompt, strlen(r->prompt),
      false, false, &u->prompt, why)
    && (r->script == NULL || tokenizer_encode(u->t, m, r->script,
      strlen(r->script), false, false, &u->script, why))
    && (u->g.s = array_store_open(m, &config, why)) != NULL
    && answer(u, &until, why);
  store_close(u->g.s), u->g.s = NULL;
  stops_close(&until);
  return ok;
}

/* <Open the model, and answer all requests> */
int main(void)
{
  static struct memory m;
  struct counters c = { .passes = 0 };
  struct error why;
  struct engine e = { .k = kernels_find(NULL, &why), .c = &c };
  struct session u = { .r = NULL };
  struct model *lm = NULL;
  bool ok = e.k != NULL && (lm = model_open(&m, "models/pocket", &why)) != NULL
    && (u.t = tokenizer_open(&m, "models/pocket", &why)) != NULL;
  u.g = (struct generate_context) { &e, lm, NULL, &m };
  if (ok) u.config = &lm->config, printf("end token %" PRIu32 ", says %s\n",
    lm->config.eos[0], lm->config.eos_from);
  for (size_t i = 0; ok && i < sizeof ends / sizeof *ends; i++)
    ok = begin(&u, &ends[i], &why);
  ids_free(&m, &u.script), ids_free(&m, &u.prompt);
  tokenizer_close(&m, u.t), model_close(&m, lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
