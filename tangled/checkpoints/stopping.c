/* the program -- made from chapters/08-stopping.w; change it there */

#include <inttypes.h>
#include <stdio.h>
#include "families/loader.h"
#include "kernels/kernels.h"
#include "cache/keep.h"
#include "stopping/text_session.h"

/* <The requests> */
#define DOG "The dog", .max = 400
#define OWL "User: Where does the owl live?\nAssistant:", .max = 400
#define SUN "The cat sat in the sun. The clock said", .max = 400
#define LIST "1. apples\n2. pears\n3. plums\n4. nuts\n5. apples\n6. plums"
#define CAFE "A caf\xc3\xa9.\nUseful: 5 " "\xe2\x82\xac.\n\nUser:"
static const struct { const char *name; struct text_request r; }
ends[] = {
  { "end token", { DOG } },
  { "the same, not before 100", { DOG, .min_tokens = 99 } },
  { "length 20", { "The dog", .max = 20 } },
  { "context 24", { DOG, .context = 24 } },
  { "two line ends", { OWL, .stop = { "\n\n" } } },
  { "these, or User:", { OWL, .stop = { "\n\n", "User:" } } },
  { "4.", { "A list:\n", .stop = { "4." }, .script = LIST } },
  { "2 tokens, three times", { SUN, .repetition = 2 } },
  { "three sentences", { DOG } },
  { "cancelled by a callback", { DOG, .cancel = 7 } },
  { "cancelled by a signal", { DOG, .raise = 7 } } };
static const struct text_request on_the_way = { "A list:\n",
  .stop = { "\n\n", "User:" }, .script = CAFE };

/* the ninth */
enum { ENDS = sizeof ends / sizeof *ends, SENTENCES = 8 };

/* <Count full stops> */
static bool three_sentences(void *ctx, const struct continuation *text,
  bool *enough, struct error *why)
{
  const struct text_stream *flow = ctx;
  size_t seen = 0;
  (void) text, (void) why;
  for (size_t i = 0; i < flow->text.n; i++)
    seen += flow->text.byte[i] == '.';
  *enough = seen >= 3;
  return true;
}

/* <Say what a token shows> */
static void print_quoted(const unsigned char *byte, size_t n, int width)
{
  width -= printf("\"");
  for (size_t i = 0; i < n; i++)
    if (byte[i] == '\n') width -= printf("\\n");
    else if (byte[i] < 0x80) width -= printf("%c", byte[i]);
    else width -= printf("\\x%02X", (unsigned) byte[i]);
  printf("\"%*s", width > 1 ? width - 1 : 0, "");
}

struct reader { const struct text_session *u; size_t shown; };
static bool show_token(void *ctx, const struct step *now)
{
  struct reader *x = ctx;
  const struct text_stream *flow = &x->u->flow;
  size_t n, held = flow->text.n - flow->released;
  const unsigned char *byte = tokenizer_text(x->u->t, now->chosen, &n);
  printf("%3zu  ", x->u->steps), print_quoted(byte, n, 9);
  byte = flow->text.byte + x->shown, n = flow->released - x->shown;
  printf("shows "), print_quoted(byte, n, held > 0 ? 19 : 0);
  if (held > 0) printf("holds "), print_quoted(byte + n, held, 0);
  printf("%s\n", flow->found != NULL ? " and ends" : "");
  x->shown = flow->released;
  return true;
}

/* <Say how a text ended> */
static void show_end(const struct text_session *u, const char *name)
{
  size_t n = u->flow.text.n;
  printf("%-24s%4zu  %-11s", name, u->steps, u->reason);
  for (size_t i = n < 22 ? 0 : n - 22; i < n; i++)
    putchar(u->flow.text.byte[i] == '\n' ? '/' : u->flow.text.byte[i]);
  printf("\n");
}

/* <Open a session, answer all requests, and close it> */
static bool run(struct text_session *u, struct error *why)
{
  const struct model_config *config = &u->lm->config;
  size_t n;
  const unsigned char *byte = tokenizer_text(u->t, config->eos[0], &n);
  printf("end token %" PRIu32 ", %.*s, says %s\n", config->eos[0], (int) n,
    (const char *) byte, config->eos_from);
  for (size_t i = 0; i < ENDS; i++) {
    u->own = (struct criterion) { "callback",
      i == SENTENCES ? three_sentences : NULL, &u->flow };
    if (!text_session_answer(u, &ends[i].r, why)) return false;
    show_end(u, ends[i].name);
  }
  struct reader x = { u, 0 };
  u->see = show_token, u->see_ctx = &x;
  return text_session_answer(u, &on_the_way, why);
}

int main(void)
{
  static const char *const pocket = "models/pocket";
  static struct memory m;
  struct counters c = { .passes = 0 };
  struct error why;
  struct engine e = { .k = kernels_find(NULL, &why), .c = &c };
  struct text_session u = { .recall = store_match_prefix };
  bool ok = e.k != NULL
    && (u.lm = model_open(&m, pocket, &why)) != NULL
    && (u.t = tokenizer_open(&m, pocket, &why)) != NULL;
  struct store *s = ok ? store_open(&m, &u.lm->config, 1, &why) : NULL;
  u.g = (struct generate_context) { &e, u.lm, s, &m };
  ok = s != NULL && run(&u, &why);
  text_session_clear(&u);
  store_close(s);
  tokenizer_close(&m, u.t);
  model_close(&m, u.lm);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
