/* guess_setup.c -- who guesses: the text itself, or a second model, which must mean the same by every id.

   Guesses change no text, so a second model that meant something else would not be an error that anybody sees; it would only be
   slow. Hence the two tokenizers are compared here, token by token, and not trusted. */

#include <inttypes.h>
#include <string.h>
#include "families/loader.h"
#include "guess_setup.h"
#include "options.h"
#include "session.h"

/* Two tokens have to agree before we believe that the text repeats itself; beyond four, more would not make us surer. */
enum { SHORTEST = 2, LONGEST = 4 };

void guess_setup_lookup(struct guess_setup *x, size_t most)
{
  *x = (struct guess_setup) { .lookup = { SHORTEST, LONGEST } };
  x->by = (struct speculation) { .guess = guess_by_lookup, .ctx = &x->lookup, .most = most < MOST_GUESSES ? most : MOST_GUESSES };
}

static bool same_text(const struct tokenizer *a, const struct tokenizer *b, uint32_t id)
{
  size_t n, k;
  const unsigned char *one = tokenizer_text(a, id, &n), *other = tokenizer_text(b, id, &k);
  return n == k && (n == 0 || memcmp(one, other, n) == 0) && tokenizer_is_special(a, id) == tokenizer_is_special(b, id);
}

/* does every id stand for the same text in both? A model without a tokenizer is told by the number of its ids alone */
static bool same_tokens(const struct session *o, const char *path, struct error *why)
{
  struct tokenizer *t = NULL;
  struct error none;
  if (o->t == NULL || tokenizer_try(o->m, path, &t, &none) != TOKENIZER_OPEN) return true;
  uint32_t id = 0, n = (uint32_t) tokenizer_vocab_size(o->t);
  bool same = tokenizer_vocab_size(t) == n;
  while (same && id < n && same_text(o->t, t, id)) id++;
  if (!same) error_say(why, "%s: its tokenizer has %zu tokens; wanted: the tokenizer of the model, which has %" PRIu32, path,
      tokenizer_vocab_size(t), n);
  else if (id < n) error_say(why, "%s: its tokenizer means something else by token %" PRIu32 "; wanted: the tokenizer of the model", path, id);
  tokenizer_close(o->m, t);
  return same && id == n;
}

/* The second model's weights are read where they are, by the kernels of the first. */
static bool open_small(struct guess_setup *x, const struct session *o, const struct command_line *w, uint32_t texts,
  struct error *why)
{
  const char *path = w->of[OPTION_DRAFT].text;
  struct model_open_options want = { .k = o->e.k };
  if (o->device != NULL) return error_say(why, "--draft with --device is not supported; wanted: --device cpu, or no --draft");
  x->small = model_open_with(o->m, path, &want, why);
  if (x->small == NULL) return false;
  if (x->small->config.vocab_size != o->lm->config.vocab_size)
    return error_say(why, "%s: the model has %" PRIu32 " ids; wanted: %" PRIu32 ", as many as the model for which it guesses", path,
      x->small->config.vocab_size, o->lm->config.vocab_size);
  return same_tokens(o, path, why) && drafter_open(&x->drafter, &o->e, x->small, o->m, texts, why);
}

bool guess_setup_open(struct guess_setup *x, const struct session *o, const struct command_line *w, uint32_t texts,
  struct error *why)
{
  guess_setup_lookup(x, (size_t) w->of[OPTION_SPECULATE].count);
  if (x->by.most == 0 || !w->of[OPTION_DRAFT].given) return true;
  x->by.guess = guess_by_draft, x->by.ctx = &x->drafter;
  return open_small(x, o, w, texts, why);
}

void guess_setup_close(struct memory *m, struct guess_setup *x)
{
  if (x->drafter.s != NULL) drafter_close(&x->drafter);
  model_close(m, x->small);
  x->small = NULL;
}

bool guess_setup_generate(struct guess_setup *x, const struct generate_context *g, const struct ids *prompt,
  const struct generate_options *want, struct continuation *out, struct error *why)
{
  return x->by.most == 0 ? generate(g, prompt->id, prompt->n, want, out, why)
    : speculate(&x->by, g, prompt->id, prompt->n, want, out, why);
}
