/* the program -- made from chapters/08-stopping.w; change it there */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "families/loader.h"
#include "cache/keep.h"
#include "stopping/stopping.h"

/* <A wish, and the desk at which it is granted> */
struct wish { const char *name, *prompt, *stop[2], *script;
  size_t most, min_tokens, triple, sentences, cancel, raise;
  uint32_t context; bool eos; };
struct desk { struct memory m; struct counters c; struct engine e;
  struct model *lm; struct tokenizer *t; struct store *s;
  const struct wish *w; struct ids script; struct text_stream flow;
  size_t steps, shown; bool aloud; const char *reason; };
static bool encode(struct desk *k, const char *text, struct ids *list,
  struct error *why)
{
  return text == NULL || tokenizer_encode(k->t, &k->m, text,
    strlen(text), false, false, list, why);
}

/* <Say what a token shows> */
static int print_bytes(const unsigned char *byte, size_t n)
{
  int width = 0;
  for (size_t i = 0; i < n; i++)
    if (byte[i] == '\n') width += printf("\\n");
    else if (byte[i] < 0x80) width += printf("%c", byte[i]);
    else width += printf("\\x%02X", (unsigned) byte[i]);
  return width;
}

static void show_token(struct desk *k, uint32_t id)
{
  const struct text_stream *flow = &k->flow;
  size_t n, held = flow->text.n - flow->released;
  const unsigned char *byte = tokenizer_text(k->t, id, &n);
  printf("%3zu  \"", k->steps);
  printf("\"%*s\"", 13 - print_bytes(byte, n), "shows ");
  int wide = print_bytes(flow->text.byte + k->shown, flow->released - k->shown);
  printf("\"%*s", held > 0 ? 24 - wide : 0, held > 0 ? "holds \"" : "");
  print_bytes(flow->text.byte + flow->released, held);
  printf("%s%s\n", held > 0 ? "\"" : "",
    flow->found != NULL ? " and ends" : "");
  k->shown = flow->released;
}

/* <Stop and watch a text> */
static bool enough_sentences(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  const struct desk *k = ctx;
  size_t seen = 0;
  (void) text, (void) why;
  for (size_t i = 0; i < k->flow.text.n; i++)
    seen += k->flow.text.byte[i] == '.';
  *enough = k->w->sentences > 0 && seen >= k->w->sentences;
  return true;
}

static bool recite(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  const struct desk *k = ctx;
  (void) logits, (void) why;
  *chosen = k->script.id[text->text.n - text->n_prompt];
  return true;
}

static volatile sig_atomic_t interrupted;
static void note_signal(int number)
{
  interrupted = number;
}

static bool watch(void *ctx, const struct step *now)
{
  struct desk *k = ctx;
  k->steps++;
  if (k->aloud) show_token(k, now->chosen);
  if (k->steps == k->w->raise) raise(SIGINT);
  return k->steps != k->w->cancel && interrupted == 0;
}

/* <Write what is wished> */
static bool generate_for(struct desk *k, const struct ids *prompt,
  struct error *why)
{
  const struct wish *w = k->w;
  const struct model_config *config = &k->lm->config;
  size_t triple = w->triple, script = k->script.n;
  struct criterion list[] = { {"string", text_stream_should_stop, &k->flow},
    {"repetition", repetition_should_stop, &triple},
    {"callback", enough_sentences, k} };
  struct criteria judges = { list, 3, NULL };
  struct generate_context maker = { &k->e, k->lm, k->s, &k->m };
  struct generate_options want = { .max_new_tokens = script > 0 ? script : w->most,
    .eos = config->eos, .n_eos = w->eos ? config->n_eos : 0,
    .min_tokens = w->min_tokens, .recall = store_match_prefix, .on_step = watch,
      .ctx = k,
    .select = script > 0 ? recite : NULL, .select_ctx = k,
    .stop = criteria_should_stop, .stop_ctx = &judges };
  struct continuation text;
  bool ok = generate(&maker, prompt->id, prompt->n, &want, &text, why);
  text_stream_end(&k->flow);
  if (ok) k->reason = criteria_reason(&judges, text.ended);
  if (ok && k->reason == NULL)
    k->reason = text.ended == FINISH_CANCELLED ? "cancelled" : "length";
  if (ok) continuation_free(&k->m, &text);
  return ok;
}

static bool write_text(struct desk *k, const struct wish *w,
  struct error *why)
{
  struct memory *m = &k->m;
  struct ids prompt = { NULL, 0, 0 };
  struct stop_string list[2];
  struct stops until;
  size_t n = 0;
  uint32_t *context = &k->lm->config.n_positions, usual = *context;
  for (; n < 2 && w->stop[n] != NULL; n++) list[n] = (struct stop_string) {
    (const unsigned char *) w->stop[n], strlen(w->stop[n]) };
  text_stream_close(&k->flow);
  k->w = w, k->steps = k->shown = 0;
  k->flow = (struct text_stream) { .m = m, .t = k->t, .until = &until,
    .min_tokens = w->min_tokens };
  if (w->context > 0) *context = w->context;
  bool ok = stops_open(&until, m, list, n, why)
    && encode(k, w->prompt, &prompt, why) && encode(k, w->script, &k->script,
      why)
    && text_stream_prompt(&k->flow, prompt.id, prompt.n, why)
    && generate_for(k, &prompt, why) && (interrupted == 0 || w->raise > 0
      || error_say(why, "the text was interrupted"));
  *context = usual, interrupted = 0;
  ids_free(m, &k->script);
  ids_free(m, &prompt);
  stops_close(&until);
  return ok;
}

/* <Say how a text ended> */
static bool show_end(struct desk *k, const struct wish *w, struct error *why)
{
  if (!write_text(k, w, why)) return false;
  size_t n = k->flow.text.n;
  printf("%-24s%4zu  %-11s", w->name, k->steps, k->reason);
  for (size_t i = n < 22 ? 0 : n - 22; i < n; i++)
    putchar(k->flow.text.byte[i] == '\n' ? '/' : k->flow.text.byte[i]);
  printf("\n");
  return true;
}

/* <The wishes> */
#define OWL "User: Where does the owl live?\nAssistant:"
#define SUN "The cat sat in the sun. The clock said"
static const struct wish wishes[] = {
  {"end token", "The dog", .most = 400, .eos = true},
  {"the same, not before 100", "The dog", .most = 400, .eos = true,
    .min_tokens = 99},
  {"length 20", "The dog", .most = 20, .eos = true},
  {"context 24", "The dog", .most = 400, .eos = true, .context = 24},
  {"two line ends", OWL, {"\n\n"}, .most = 400, .eos = true},
  {"these, or User:", OWL, {"\n\n", "User:"}, .most = 400, .eos = true},
  {"4.", "A list:\n", {"4."}, "1. apples\n2. pears\n3. plums\n4. nuts\n"
    "5. apples\n6. plums", .most = 20},
  {"2 tokens, three times", SUN, .most = 400, .triple = 2},
  {"three sentences", "The dog", .most = 400, .sentences = 3},
  {"cancelled by a callback", "The dog", .most = 400, .cancel = 7},
  {"cancelled by a signal", "The dog", .most = 400, .raise = 7},
  {"on the way", "A list:\n", {"\n\n", "User:"}, "A caf\xc3\xa9.\nUseful: 5 "
    "\xe2\x82\xac.\n\nUser:", .most = 40} };

/* <Open the desk, grant all wishes, and close it> */
static void name_end(const struct desk *k)
{
  const struct model_config *config = &k->lm->config;
  size_t n;
  const unsigned char *byte = tokenizer_text(k->t, config->eos[0], &n);
  printf("end token %" PRIu32 ", %.*s, says %s\n", config->eos[0], (int) n,
    (const char *) byte, config->eos_from);
}

int main(void)
{
  enum { ENDS = sizeof wishes / sizeof *wishes - 1 };
  static struct desk k;
  struct error why;
  k.e = (struct engine) { .k = kernels_find(NULL, &why), .c = &k.c };
  bool ok = k.e.k != NULL
    && (k.lm = model_open(&k.m, "models/pocket", &why)) != NULL
    && (k.t = tokenizer_open(&k.m, "models/pocket", &why)) != NULL
    && (k.s = store_open(&k.m, &k.lm->config, 1, &why)) != NULL;
  if (ok) name_end(&k);
  signal(SIGINT, note_signal);
  for (size_t i = 0; ok && i < ENDS; i++) ok = show_end(&k, &wishes[i], &why);
  k.aloud = true;
  ok = ok && write_text(&k, &wishes[ENDS], &why);
  text_stream_close(&k.flow);
  store_close(k.s);
  tokenizer_close(&k.m, k.t);
  model_close(&k.m, k.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
