@i types.w
@s living int
@s living_read int
@s fixture int
@s store int
@s model_config int

\chapterquestion{A tutorial has a moving picture, and says what you will see in it. Would you see it if nothing were scripted?}
@** A moving picture that computes. \label{lab:demonstration}
\incipit{S}{0 comes with a} moving picture: blocks below tokens, beams of light, three prompts, a slider. What it says about that picture could not be tested, because its patterns are drawn and not computed. Our own page (\cref{living}) has such a picture too, and everything in it is computed. So we can look for what S0 sees.

This program asks the page's engine, without the page, and prints what decides some rows of the ledger (\cref{ledger}). A test opens the page in a browser, lets it measure the same, and compares each number with the one that is printed here.

@c
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "families/loader.h"
#include "laboratory/kit.h"
#include "living/living.h"
@;@#
@<Three prompts@>@;
@<Begin a text, and take a step@>@;
@<Count the blocks@>@;
@<Look back@>@;
@<Print what the looks are@>@;
@<Print how fast it can be@>@;
@#
int main(void)
{
  static struct living g;
  bool ok = living_material(&g) && living_begin(&g)
    && g.lm->config.n_layers * g.lm->config.n_heads == HEADS
    && print_blocks(&g) && print_looks(&g) && print_one_look(&g)
    && print_speed(&g.why);
  if (!ok) fprintf(stderr, "%s\n", g.why.text);
  living_end(&g);
  tokenizer_close(&g.m, g.t), model_close(&g.m, g.lm);
  return !ok;
}

@ S0 tells its prompts apart by what they are: code, and a story with a kingdom. The third is ours. Twenty tokens are what S0 lets its picture write; what is a mean is taken over \given{48} steps, as the page does it.

@<Three prompts@>=
enum { PROMPTS = 3, SHOWN = 20, WRITTEN = 48, HEADS = 24, LONGEST = 16 };
static const char *const name[PROMPTS] = @[{ "story", "code", "kingdom" }@];
static const char *const prompt[PROMPTS] = @[{ "The cat sat on the mat.",@|
  "def count_apples(box):", "In a small kingdom by the sea," }@];
static const char anchor[] = " kingdom";

@ The engine of the page is told what the page tells it, as an object of JSON. A step has read a text and written a token; what it computed for that stands at the place before the token.

@<Begin a text, and take a step@>=
static bool begin(struct living *g, const char *text, bool cache)
{
  char set[200];
  int n = snprintf(set, sizeof set, "{\"prompt\":\"%s\",\"cache\":%s,"
    "\"temperature\":0,\"max_tokens\":0}", text, cache ? "true" : "false");
  return living_set(g, set, (size_t) n) && (g->prompt.n <= LONGEST
    || error_say(&g->why, "the prompt has %zu tokens", g->prompt.n));
}
@#
static const struct living_read *step(struct living *g, size_t *n)
{
  if (!living_next(g, NULL)) return NULL;
  uint32_t parent = g->node[g->now].parent;
  *n = g->node[parent].n;
  return &g->node[parent].read;
}

@* Blocks. \label{lab:pageblocks}
The picture has ``a short vertical stack of six smaller blocks'' below every token. In our page a block is a row of keys and values of one layer, and a click on it shows its numbers. We count those that the engine can give.

@<Count the blocks@>=
static size_t cells(struct living *g)
{
  size_t n = 0;
  for (uint32_t l = 0; l < g->lm->config.n_layers; l++)
    for (uint32_t i = 0; i < LIVING_CONTEXT; i++)
      n += living_cell(g, l, i) != NULL;
  return n;
}

@ \emph{Computed} is another number: a block for each layer of each row that a pass has. We print both after twenty tokens, and the work of an early and a late step.

@<Count the blocks@>=
static bool write_some(struct living *g, int steps, uint64_t *rows,
  uint64_t madds[2])
{
  for (int k = 1; k <= steps; k++) {
    size_t n;
    const struct living_read *r = step(g, &n);
    if (r == NULL) return false;
    const struct counters *a = &r->before, *b = &r->after;
    *rows += b->rows - a->rows;
    if (k == 2 || k == SHOWN) madds[k == SHOWN] = b->madds_linear
      + b->madds_attention + b->madds_head@|
      - a->madds_linear - a->madds_attention - a->madds_head;
  }
  return true;
}

@ With the cache and without it, for a prompt of seven tokens and one of eight.

@<Count the blocks@>=
static bool print_both_ways(struct living *g, int p)
{
  for (int cache = 1; cache >= 0; cache--) {
    const char *way = cache ? "kept" : "naive";
    uint64_t rows = 0, madds[2];
    if (!begin(g, prompt[p], cache) || !write_some(g, SHOWN, &rows, madds))
      return false;
    printf("demonstration.%s.%s.blocks %" PRIu64 "\n", name[p], way,@|
      rows * g->lm->config.n_layers);
    printf("demonstration.%s.%s.early %" PRIu64 "\n"@|
      "demonstration.%s.%s.late %" PRIu64 "\n", name[p], way, madds[0],@|
      name[p], way, madds[1]);
  }
  return true;
}

@ The switch is thrown as S0 says, after twenty tokens, and the counter goes on until it is above the \given{2400} that S0 has seen.

@<Count the blocks@>=
static bool print_switch(struct living *g)
{
  static const char off[] = "{\"cache\":false}";
  uint64_t rows = 0, madds[2], layers = g->lm->config.n_layers;
  int steps = 0;
  if (!begin(g, prompt[0], true) || !write_some(g, SHOWN, &rows, madds))
    return false;
  print_key("demonstration.cells", "%zu", cells(g));
  print_key("demonstration.read", "%zu", g->node[g->now].n - 1);
  print_key("demonstration.bytes", "%zu", (g->node[g->now].n - 1)
    * g->s->row_bytes * layers);
  bool ok = living_set(g, off, strlen(off));
  for (; ok && layers * rows <= 2400; steps++)
    ok = write_some(g, 1, &rows, madds);
  printf("demonstration.switch.steps %d\ndemonstration.switch.blocks %" PRIu64
    "\n", steps, layers * rows);
  return ok;
}
@#
static bool print_blocks(struct living *g)
{
  bool ok = print_switch(g);
  for (int p = 0; ok && p < PROMPTS; p += 2) ok = print_both_ways(g, p);
  return ok;
}

@ After twenty tokens the page has \val{demonstration.cells} blocks below the \val{demonstration.read} tokens that were read, and none below the newest; that it should have some is another row, S0-11. The numbers of blocks computed are those of \cref{lab:picture}, where a parrot counts them: \val{demonstration.story.kept.blocks} with the cache and \val{demonstration.story.naive.blocks} without, after a prompt of \val{demonstration.story.prompt}; \val{demonstration.kingdom.kept.blocks} and \val{demonstration.kingdom.naive.blocks} after one of \val{demonstration.kingdom.prompt}. Switched over in the middle, the counter passes \given{2400} only in step \val{demonstration.switch.steps} after the switch.

\begin{claimed}{S0-08}
so it is in ours: \val{demonstration.cells} blocks, six below each token that was read.
\end{claimed}

@* Looks. \label{lab:pagelooks}
A beam of light is as bright as the attention. But whose? A step has \given{24} weights for each token that it sees, one for each head of each layer. The page draws one head, or the mean of some. We take a single step first: what do the beams add up to, and how many tokens are the favourite of some head?

@<Look back@>=
static size_t favourite(const float *look, size_t n)
{
  size_t best = 0;
  for (size_t i = 0; i < n; i++) if (look[i] > look[best]) best = i;
  return best;
}
@#
static bool print_one_look(struct living *g)
{
  const struct living_read *r = NULL;
  bool seen[LIVING_CONTEXT] = @[{ false }@], ok = begin(g, prompt[0], true);
  size_t n = 0, different = 0;
  double line = 0;
  for (int k = 0; ok && k < SHOWN; k++) ok = (r = step(g, &n)) != NULL;
  for (size_t h = 0; ok && h < HEADS; h++) {
    size_t best = favourite(r->look + h * n, n);
    different += !seen[best];
    seen[best] = true;
    for (size_t i = 0; i < n; i++) line += (double) r->look[h * n + i] / HEADS;
  }
  print_key("demonstration.line", "%.4f", line);
  print_key("demonstration.favourites", "%zu", different);
  print_key("demonstration.heads", "%d", HEADS);
  return ok;
}

@ Over all steps of a text the program keeps what the page's table of distances is made of: how far each head looks on average, and which share each token of the prompt gets. Beside the share stands an even one, one divided by the number of tokens. And it counts \emph{far looks}: a weight of \given{0.3} or more on a token at least eight places back.

@<Look back@>=
struct looks { double far[HEADS], even, held[LONGEST], most[LONGEST];
  size_t spikes, named; };
@#
static void take_look(struct looks *t, size_t h, const float *look, size_t n,
  size_t given)
{
  double far = 0;
  for (size_t i = 0; i < n; i++) {
    double w = (double) look[i];
    size_t back = n - 1 - i;
    far += w * (double) back;
    if (i < given) t->held[i] += w / HEADS;
    if (back < 8) continue;
    if (i < given && w > t->most[i]) t->most[i] = w;
    if (w >= 0.3) t->spikes++, t->named += i < given;
  }
  t->far[h] += far;
}

@ All sums become means at the end, when the number of steps is known.

@<Look back@>=
static bool watch_text(struct living *g, int p, struct looks *t)
{
  *t = (struct looks) @[{ .even = 0 }@];
  if (!begin(g, prompt[p], true)) return false;
  for (int k = 0; k < WRITTEN; k++) {
    size_t n;
    const struct living_read *r = step(g, &n);
    if (r == NULL) return false;
    for (size_t h = 0; h < HEADS; h++)
      take_look(t, h, r->look + h * n, n, g->prompt.n);
    t->even += 1.0 / (double) n;
  }
  t->even /= WRITTEN;
  for (size_t h = 0; h < HEADS; h++) t->far[h] /= WRITTEN;
  for (size_t i = 0; i < g->prompt.n; i++) t->held[i] /= WRITTEN;
  return true;
}

@ The anchor of the third prompt is found by its text, not by a number of ours.

@<Print what the looks are@>=
static size_t anchor_of(struct living *g)
{
  size_t i = 0, n;
  for (; i < g->prompt.n; i++) {
    const unsigned char *byte = tokenizer_text(g->t, g->prompt.id[i], &n);
    if (n == strlen(anchor) && memcmp(byte, anchor, n) == 0) break;
  }
  return i;
}
@#
static bool print_looks(struct living *g)
{
  for (int p = 0; p < PROMPTS; p++) {
    struct looks t;
    double far = 0;
    if (!watch_text(g, p, &t)) return false;
    for (size_t h = 0; h < HEADS; h++) far += t.far[h] / HEADS;
    printf("demonstration.%s.prompt %zu\n", name[p], g->prompt.n);
    printf("demonstration.%s.far %.4f\ndemonstration.%s.even %.4f\n"@|
      "demonstration.%s.spikes %zu\ndemonstration.%s.named %zu\n", name[p],@|
      far, name[p], t.even, name[p], t.spikes, name[p], t.named);
    size_t i = anchor_of(g);
    if (i < g->prompt.n)
      printf("demonstration.anchor %.4f\ndemonstration.anchor.most %.4f\n",@|
        t.held[i], t.most[i]);
  }
  return true;
}

@ Now what S0 says about them.

\begin{claimed}{S0-10}
a step has a weight for each head of each layer. In the twentieth step \val{demonstration.favourites} of \val{demonstration.read} tokens are the favourite of some head. In GPT-2 small a pair of positions has \val{claim.S0-10} weights. A line must say whose it is; ours does.
\end{claimed}

\begin{claimed}{S0-15}
of the far looks of the code \val{demonstration.code.named} of \val{demonstration.code.spikes} do go to the line with the function's name. But the heads look no less far: the mean distance is \val[1]{demonstration.code.far} tokens, in the two stories \val[1]{demonstration.story.far} and \val[1]{demonstration.kingdom.far}. And in the stories, too, most far looks go to the first line.
\end{claimed}

\begin{claimed}{S0-16}
a head looks at \tok{\ kingdom} from far, once with a weight of \val[2]{demonstration.anchor.most}. On average the word gets a share of \val[3]{demonstration.anchor}, where an even one would be \val[3]{demonstration.kingdom.even}. What the heads hold on to in all three texts is the first token.
\end{claimed}

This is one small model, and three texts. It does not show what large models do. It shows that such a picture has to be computed before it can teach anything about attention.

@* Speed. \label{lab:pagespeed}
The slider of S0 goes to four tokens a second. Can our page keep that up? The times were measured once, in node, and stand in a file (\.{living.csv}). The step with the most work that a text of twenty tokens needs is the last one without the cache, which computes all rows again.

@<Print how fast it can be@>=
struct times { double token, row; };
static bool take_time(void *ctx, const char *line)
{
  struct times *t = ctx;
  return sscanf(line, "living.measured.token,%lf", &t->token) == 1@|
    || sscanf(line, "living.measured.row,%lf", &t->row) == 1;
}
static bool print_speed(struct error *why)
{
  struct times t = @[{ 0, 0 }@];
  if (!data_read("living", take_time, &t, 2, why)) return false;
  print_key("demonstration.rate", "%.1f", 1e3 / ((7 + SHOWN - 1) * t.row));
  print_key("demonstration.rate.kept", "%.0f", 1e3 / t.token);
  return true;
}

@ Is that fast enough for S0's slider?

\begin{claimed}{S0-17}
ours keeps that pace: at this length \val[0]{demonstration.rate} tokens a second without the cache, and \val[0]{demonstration.rate.kept} with it. Whether four are fast is for the eye to say.
\end{claimed}
