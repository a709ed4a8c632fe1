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
static bool collect_pieces(const struct session *o, struct memory *m, struct token_bytes *spelt,
  struct bytes *all, struct error *why)
{
  size_t n = o->lm->config.vocab_size, at = 0;
  for (size_t i = 0; i < n; i++) {
    bool begun = true;
    size_t before = all->n;
    if (!tokenizer_decode_next(o->t, m, (uint32_t) i, true, &begun, all, why)) return false;
    spelt[i].n = all->n - before;
  }
  for (size_t i = 0; i < n; at += spelt[i++].n)
    spelt[i].byte = spelt[i].n > 0 ? all->byte + at : NULL;
  return true;
}

/* a token of two bytes or more whose first is a blank; false if there is none */
static bool find_blank(const struct session *o, struct memory *m, uint32_t *id, size_t *length, struct error *why)
{
  struct bytes text = { NULL, 0, 0 };
  bool ok = true, found = false;
  for (*id = 0; ok && !found && *id < o->lm->config.vocab_size; *id += !found) {
    bool begun = true;
    text.n = 0;
    ok = tokenizer_decode_next(o->t, m, *id, true, &begun, &text, why);
    found = text.n > 1 && text.byte[0] == ' ';
  }
  *length = found ? text.n : 0;
  bytes_free(m, &text);
  return ok;
}

/* Does the decoder drop a blank at the front of the first token? That depends on the decoder and
   on whether the prompt has any text; so one token with a blank is decoded after the prompt, and
   counted. */
static bool loses_blank(const struct session *o, struct memory *m, const struct ids *p,
  bool *strips, struct error *why)
{
  struct bytes text = { NULL, 0, 0 };
  uint32_t blank;
  size_t length;
  bool begun = false, ok = find_blank(o, m, &blank, &length, why);
  for (size_t k = 0; ok && k < p->n; k++)
    ok = tokenizer_decode_next(o->t, m, p->id[k], true, &begun, &text, why);
  size_t before = text.n;
  if (ok && length > 0) ok = tokenizer_decode_next(o->t, m, blank, true, &begun, &text, why);
  *strips = ok && length > 0 && text.n - before < length;
  bytes_free(m, &text);
  return ok;
}

struct lexicon *constraint_setup_words(const struct session *o, struct memory *m, struct error *why)
{
  size_t n = o->lm->config.vocab_size;
  struct bytes all = { NULL, 0, 0 };
  struct lexicon *words = NULL;
  struct token_bytes *spelt = memory_alloc(m, MEMORY_OTHER, n, sizeof *spelt, why);
  if (spelt != NULL && collect_pieces(o, m, spelt, &all, why)) words = lexicon_open(m, spelt, NULL, n, why);
  bytes_free(m, &all);
  memory_free(m, spelt);
  return words;
}

bool constraint_setup_bind(const struct session *o, struct memory *m, const struct lexicon *words, struct constraint *must,
  const struct ids *prompt, struct error *why)
{
  bool strips;
  return loses_blank(o, m, prompt, &strips, why) && constraint_bind(must, words, strips, why);
}

struct token_rule constraint_setup_rule(struct constraint_cursor *b)
{
  return (struct token_rule) { .allow = bond_allow, .take = bond_take,
    .save = bond_save, .restore = bond_restore, .ctx = b };
}

/* opens the constraint, the tokens in order for it, and the bond; a limit too small for any
   match is the line's mistake if the line has set it */
static int bind_text(struct constraint_setup *x, const struct invocation *a,
  struct token_rule *rule, struct error *why)
{
  size_t n = a->o.lm->config.vocab_size;
  bool ends = !a->w->of[OPTION_IGNORE_EOS].given;
  if (a->o.t == NULL) {
    error_say(why, "%s: there is no tokenizer that we know; wanted: one, for"
      " what must match is a text", a->o.path);
    return STATUS_FAILED;
  }
  int status = read_constraint(x, a, why);
  if (status != STATUS_DONE) return status;
  x->words = constraint_setup_words(&a->o, a->o.m, why);
  if (x->words == NULL || !constraint_setup_bind(&a->o, a->o.m, x->words, x->must, &a->p.list, why)) return STATUS_FAILED;
  bool ok = constraint_cursor_open(&x->bond, a->o.m, x->must, n, a->max_tokens,
    a->o.lm->config.eos, ends ? a->o.lm->config.n_eos : 0, why);
  if (!ok) return a->w->of[OPTION_MAX_NEW_TOKENS].given ? STATUS_USAGE : STATUS_FAILED;
  *rule = constraint_setup_rule(&x->bond);
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
