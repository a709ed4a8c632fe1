/* the program -- made from chapters/08-stopping.w; change it there */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/keep.h"
#include "stopping/stopping.h"
#include "sampling/pocket.inc"

/* <Count full stops> */
static bool three_sentences(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  struct bytes so_far = ((const struct text_stream *) ctx)->text;
  size_t seen = 0;
  (void) text, (void) why;
  for (size_t i = 0; i < so_far.n; i++) seen += so_far.byte[i] == '.';
  *enough = seen >= 3;
  return true;
}

/* <The requests> */

/* up to max tokens after prompt; two stop strings or fewer; the same repetition
   tokens three times; a signal after token number raise; a context smaller than the
   model's; a criterion of the caller's own; are the tokens shown, and is it shown the
   obvious way? */
struct request { const char *name, *prompt, *stop[2], *script;
  size_t max, min_tokens, repetition, raise; uint32_t context;
  step_stop *own; bool tokens, obvious; };
static const char owl[] = "User: Where does the owl live?\nAssistant:";

static const struct request ends[] = {
  { "end token", "The dog", .max = 400 },
  { "the same, not before 100", "The dog", .max = 400, .min_tokens = 99 },
  { "length 20", "The dog", .max = 20 },
  { "context 24", "The dog", .max = 400, .context = 24 },
  { "two line ends", owl, { "\n\n" }, .max = 400 },
  { "these, or User:", owl, { "\n\n", "User:" }, .max = 400, .obvious = true },
  { "4.", "A list:\n", { "4." }, .script = "1. apples\n2. pears\n" "3. plums\n4. nuts" },
  { "2 tokens, three times", "The cat sat in the sun. The clock said",
    .max = 400, .repetition = 2 },
  { "three sentences", "The dog", .max = 400, .own = three_sentences },
  { "cancelled by a signal", "The dog", .max = 400, .raise = 7 },
  { "", "A list:\n", { "\n\n", "User:" }, .tokens = true,
    .script = "A caf\xc3\xa9.\nUseful: 5 \xe2\x82\xac.\n\nUser:" } };

/* <What a session holds> */

/* the model, and what it takes to write; the newest text, of which steps tokens are
   written, and shown bytes */
struct session { struct pocket p; struct generate_context g;
  const struct request *r; struct text_stream flow;
  struct ids prompt, script; size_t steps, shown; };

/* <Show a text> */
static void show(const unsigned char *byte, size_t n)
{
  for (size_t i = 0; i < n; i++) putchar(byte[i] == '\n' ? '/' : byte[i]);
}

/* <The obvious way> */
static void show_obvious(const struct session *u, struct ids c)
{
  char text[400] = "", *found = NULL;
  size_t shown = 0, n;
  for (size_t i = u->prompt.n; found == NULL && i < c.n; i++) {
    const unsigned char *byte = tokenizer_text(u->p.t, c.id[i], &n);
    if (shown + n >= sizeof text) break;
    memcpy(text + shown, byte, n);
    found = strstr(text, u->r->stop[1]);
    if (found == NULL) shown += n;
    if (found == NULL && i + 11 >= c.n) show(byte, n), putchar('|');
  }
  if (found != NULL) printf(" %zu to be wiped off\n", shown - (size_t) (found - text));
}

/* <Watch a text, or recite it> */
static volatile sig_atomic_t interrupted;
static void note_signal(int number) { interrupted = number; }
static bool watch(void *ctx, const struct step *now)
{
  struct session *u = ctx;
  u->steps++, (void) now;
  if (u->r->tokens) show(u->flow.text.byte + u->shown,
    u->flow.released - u->shown), putchar('|');
  u->shown = u->flow.released;
  if (u->steps == u->r->raise) raise(SIGINT);
  return interrupted == 0;
}

static bool recite(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  (void) logits, (void) why;
  *chosen = ((const struct session *) ctx)->script.id[text->text.n - text->n_prompt];
  return true;
}

/* <Write a text, and say how it ended> */
static bool answer(struct session *u, const struct stops *until,
  struct error *why)
{
  const struct request *r = u->r;
  struct continuation text = { .n_prompt = 0 };
  /* <The criteria of a request> */
  struct criterion list[] = {
    {"string", text_stream_should_stop, &u->flow},
    {"repetition", repetition_should_stop, (void *) &r->repetition},
    {"callback", r->own, &u->flow} };
  struct criteria any = { list, r->own == NULL ? 2 : 3, NULL };
  /* <The options of the loop> */
  bool scripted = u->script.n > 0;
  struct generate_options want = { .eos = u->p.lm->config.eos,
    .n_eos = u->p.lm->config.n_eos, .min_tokens = r->min_tokens,
    .max_new_tokens = scripted ? u->script.n : r->max,
    .select = scripted ? recite : NULL, .select_ctx = u,
    .recall = store_match_prefix, .stop = criteria_should_stop,
    .stop_ctx = &any, .on_step = watch, .ctx = u };
  u->flow = (struct text_stream) { .m = u->g.m, .t = u->p.t,
    .until = until, .min_tokens = r->min_tokens };
  interrupted = 0;
  bool ok = text_stream_prompt(&u->flow, u->prompt.id, u->prompt.n, why)
    && generate(&u->g, u->prompt.id, u->prompt.n, &want, &text, why);
  text_stream_end(&u->flow);
  /* <Print how the text ended> */
  size_t n = u->flow.text.n, last = n < 22 ? n : 22;
  const char *reason = criteria_reason(&any, text.ended);
  if (reason == NULL) reason = text.ended == FINISH_CANCELLED ? "cancelled" : "length";
  if (!r->tokens) printf("%-24s%4zu  %-11s", r->name, u->steps, reason),
    show(u->flow.text.byte + n - last, last);
  printf("\n");
  if (ok && r->obvious) show_obvious(u, text.text);
  text_stream_close(&u->flow);
  continuation_free(u->g.m, &text);
  return ok && (interrupted == 0 || r->raise > 0
    || error_say(why, "the text was interrupted"));
}

/* <Answer a request> */
static bool begin(struct session *u, const struct request *r,
  struct error *why)
{
  struct memory *m = &u->p.m;
  struct stop_string list[2];
  struct stops until;
  struct model_config config = u->p.lm->config;
  size_t n = 0;
  for (; n < 2 && r->stop[n] != NULL; n++)
    list[n] = (struct stop_string) {
      (const unsigned char *) r->stop[n], strlen(r->stop[n]) };
  if (r->context > 0) config.n_positions = r->context;
  if (!stops_open(&until, m, list, n, why)) return false;
  u->g = (struct generate_context) { &u->p.e, u->p.lm, NULL, m };
  u->r = r, u->steps = u->shown = u->prompt.n = u->script.n = 0;
  bool ok = tokenizer_encode(u->p.t, m, r->prompt, strlen(r->prompt),
      false, false, &u->prompt, why)
    && (r->script == NULL || tokenizer_encode(u->p.t, m, r->script,
      strlen(r->script), false, false, &u->script, why))
    && (u->g.s = array_store_open(m, &config, why)) != NULL
    && answer(u, &until, why);
  store_close(u->g.s), stops_close(&until);
  return ok;
}

/* <Open the model, and answer all requests> */
int main(void)
{
  static struct session u;
  struct error why;
  bool ok = pocket_open(&u.p, &why);
  signal(SIGINT, note_signal);
  if (ok) printf("end token %u, says %s\n",
    (unsigned) u.p.lm->config.eos[0], u.p.lm->config.eos_from);
  for (size_t i = 0; ok && i < sizeof ends / sizeof *ends; i++)
    ok = begin(&u, &ends[i], &why);
  ids_free(&u.p.m, &u.script), ids_free(&u.p.m, &u.prompt);
  pocket_close(&u.p);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
