/* constraint_setup.c -- what a text must match: --regex, --grammar or --json-object, bound to the
   tokens of the model.

   A constraint is about bytes and a sampler about tokens. Between them stands the list of the
   bytes of every token, in order (the lexicon), which is made once, and a cursor, which knows how
   far the text has come. The bytes are those that the decoder would write at this place: whether
   it drops the first blank of a text is found out here and decides what the first token may be. */

#include <string.h>
#include "constraint_setup.h"

/* a pattern is a part of the line, and a mistake in it is wrong usage; a grammar is a file */
static int read_constraint(struct constraint_setup *x, const struct invocation *a,
  struct error *why)
{
  const struct option_value *of = a->w->of;
  struct memory *m = a->o.m;
  struct bytes rules = { NULL, 0, 0 };
  if (of[OPTION_REGEX].given) {
    const char *text = of[OPTION_REGEX].text;
    x->must = constraint_regex(m, text, strlen(text), why);
    return x->must != NULL ? STATUS_DONE : STATUS_USAGE;
  }
  if (of[OPTION_JSON_OBJECT].given) x->must = constraint_grammar(m,
      "--json-object", constraint_json, strlen(constraint_json), why);
  else if (prompt_read_text(a->c, of[OPTION_GRAMMAR].text, &rules, why)
      && bytes_push(m, &rules, "", 1, why))
    x->must = constraint_grammar(m, of[OPTION_GRAMMAR].text, (const char *) rules.byte,
      rules.n - 1, why);
  bytes_free(m, &rules);
  return x->must != NULL ? STATUS_DONE : STATUS_FAILED;
}

/* The bytes of every token as the decoder makes them in the middle of a text. Special tokens
   have none. All bytes are in one block, which moves as it grows, so lengths are noted first and
   pointers set at the end. */
static bool collect_pieces(const struct invocation *a, struct token_bytes *spelt,
  struct bytes *all, struct error *why)
{
  size_t n = a->o.lm->config.vocab_size, at = 0;
  for (size_t i = 0; i < n; i++) {
    bool begun = true;
    size_t before = all->n;
    if (!tokenizer_decode_next(a->o.t, a->o.m, (uint32_t) i, true, &begun,
        all, why)) return false;
    spelt[i].n = all->n - before;
  }
  for (size_t i = 0; i < n; at += spelt[i++].n)
    spelt[i].byte = spelt[i].n > 0 ? all->byte + at : NULL;
  return true;
}

/* Does the decoder drop a blank at the front of the first token? That depends on the decoder and
   on whether the prompt has any text; so one token with a blank is decoded after the prompt, and
   counted. */
static bool loses_blank(const struct invocation *a, const struct token_bytes *spelt,
  bool *strips, struct error *why)
{
  struct bytes text = { NULL, 0, 0 };
  bool ok = true, begun = false;
  const struct ids *p = &a->p.list;
  size_t n = a->o.lm->config.vocab_size, i = 0;
  for (size_t k = 0; ok && k < p->n; k++)
    ok = tokenizer_decode_next(a->o.t, a->o.m, p->id[k], true, &begun,
      &text, why);
  size_t before = text.n;
  while (i < n && (spelt[i].n < 2 || spelt[i].byte[0] != ' ')) i++;
  if (ok && i < n) ok = tokenizer_decode_next(a->o.t, a->o.m, (uint32_t) i,
      true, &begun, &text, why);
  *strips = ok && i < n && text.n - before < spelt[i].n;
  bytes_free(a->o.m, &text);
  return ok;
}

/* opens the constraint, the tokens in order for it, and the bond; a limit too small for any
   match is the line's mistake if the line has set it */
static int bind_text(struct constraint_setup *x, const struct invocation *a,
  struct token_rule *rule, struct error *why)
{
  size_t n = a->o.lm->config.vocab_size;
  struct bytes all = { NULL, 0, 0 };
  bool strips, ends = !a->w->of[OPTION_IGNORE_EOS].given;
  if (a->o.t == NULL) {
    error_say(why, "%s: there is no tokenizer that we know; wanted: one, for"
      " what must match is a text", a->o.path);
    return STATUS_FAILED;
  }
  int status = read_constraint(x, a, why);
  if (status != STATUS_DONE) return status;
  struct token_bytes *spelt = memory_alloc(a->o.m, MEMORY_OTHER, n, sizeof *spelt,
    why);
  bool ok = spelt != NULL && collect_pieces(a, spelt, &all, why)
    && loses_blank(a, spelt, &strips, why)
    && (x->words = lexicon_open(a->o.m, spelt, NULL, n, why)) != NULL
    && constraint_bind(x->must, x->words, strips, why);
  bytes_free(a->o.m, &all);
  memory_free(a->o.m, spelt);
  if (!ok) return STATUS_FAILED;
  ok = constraint_cursor_open(&x->bond, a->o.m, x->must, n, a->max_tokens,
    a->o.lm->config.eos, ends ? a->o.lm->config.n_eos : 0, why);
  if (!ok) return a->w->of[OPTION_MAX_NEW_TOKENS].given ? STATUS_USAGE : STATUS_FAILED;
  *rule = (struct token_rule) { .allow = bond_allow, .take = bond_take,
    .save = bond_save, .restore = bond_restore, .ctx = &x->bond };
  return STATUS_DONE;
}

int constraint_setup_open(struct constraint_setup *x, const struct invocation *a,
  struct token_rule *rule, struct error *why)
{
  const struct option_value *of = a->w->of;
  return of[OPTION_REGEX].given || of[OPTION_GRAMMAR].given || of[OPTION_JSON_OBJECT].given
    ? bind_text(x, a, rule, why) : STATUS_DONE;
}

/* in the reverse order: the cursor points to what was compiled, and that to the lexicon */
void constraint_setup_close(struct memory *m, struct constraint_setup *x)
{
  constraint_cursor_close(&x->bond, m);
  constraint_free(x->must);
  lexicon_close(x->words);
}

/* the mask is that of the last choice until the next one asks for another */
size_t constraint_setup_allowed(const struct constraint_setup *x)
{
  size_t n = 0;
  for (size_t i = 0; i < x->bond.vocab; i++) n += x->bond.allowed[i] != 0;
  return n;
}
