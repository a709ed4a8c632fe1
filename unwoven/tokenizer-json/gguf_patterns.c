/* gguf_patterns.c -- what a name in tokenizer.ggml.pre stands for, and which name a tokenizer has.

   A GGUF file does not describe how a text is cut: it has a name, and the reader of the file must
   know what the name stands for. A name that is not here is refused: with another way of cutting the
   same vocabulary makes other tokens of a text, and the model would be asked about texts that it has
   never seen. */

#include <string.h>
#include "lookups/split.h"
#include "tokenizer-json/gguf_patterns.h"

static const char cut_qwen2[] = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|"
  "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
  "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
static const char cut_falcon[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+|"
  " ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)";

/* The patterns of GPT-2 and Llama 3 we have already. Qwen's takes digits one by one, and its tokenizer
   brings texts into the normal form C first: the file does not say so, and llama.cpp does not do it,
   but the published tokenizer does, and so do we. Another group of tokenizers separates digits before
   GPT-2's pattern is applied. "default", which is also meant if the name is absent, is the sequence
   of four patterns that llama.cpp has for it. */
static const struct pattern_group groups[] =
  { {{ split_gpt2 }, " gpt-2 phi-2 olmo mpt exaone4 mellum ", false, false},
  {{ split_llama3 }, " llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 ",
    true, false},
  {{ cut_qwen2 }, " qwen2 deepseek-r1-qwen ", false, true},
  {{ "\\p{N}", split_gpt2 }, " smollm starcoder refact command-r codeshell exaone minerva-7b ",
    false, false},
  {{ "[\\p{P}\\$\\+<=>\\^~\\|]+", cut_falcon, "\\p{N}+", "[0-9][0-9][0-9]" },
    " default ", false, false} };

/* A name is a whole word between blanks; that of a file need not have a zero at its end. */
const struct pattern_group *gguf_pattern_named(struct gguf_words w)
{
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    for (const char *s = groups[i].names + 1; *s != '\0'; s = strchr(s, ' ') + 1)
      if (strncmp(s, w.text, w.n) == 0 && s[w.n] == ' ' && w.n > 0)
        return &groups[i];
  return NULL;
}

/* Whether a tokenizer has the steps of a group, no more and no fewer: the normal form or none, and the
   same patterns in the same order. */
static bool cuts_so(struct memory *m, const struct tokenizer *t,
  const struct pattern_group *by, bool *same, struct error *why)
{
  size_t k = by->composes;
  bool ok = true;
  *same = t->n_normalizers == k && t->ignore_merges == by->is_llama3
    && (k == 0 || t->step[0].what == STEP_NFC);
  for (int i = 0; i < 4 && by->pattern[i] != NULL && *same && ok; i++, k++) {
    const struct text_step *s = &t->step[k];
    struct splitter *wanted = splitter_open(m, by->pattern[i],
      strlen(by->pattern[i]), false, why);
    ok = wanted != NULL;
    *same = ok && k < t->n_steps && s->what == STEP_SPLIT
      && s->keep_matches && s->keep_gaps && splitter_same(s->by, wanted);
    splitter_close(wanted);
  }
  *same = *same && k == t->n_steps;
  return ok;
}

/* A writer asks the other way round: which name stands for what a tokenizer does? */
bool gguf_pattern_of(struct memory *m, const struct tokenizer *t,
  struct gguf_words *name, struct error *why)
{
  bool same = false;
  name->n = 0;
  for (size_t i = 0; i < sizeof groups / sizeof groups[0] && !same; i++) {
    if (!cuts_so(m, t, &groups[i], &same, why)) return false;
    if (!same) continue;
    name->text = groups[i].names + 1;
    name->n = strcspn(name->text, " ");
  }
  return true;
}
