/* laboratory.c -- made from chapters/03-loop.w; change it there */

#include <string.h>
#include "tokenizer/tokenizer.h"
#include "loop/laboratory.h"
#include "families/loader.h"

/* <Find the sentence in the tokens of the built-in model> */
static bool find_sentence(struct laboratory *lab, struct error *why)
{
  struct tokenizer *t = tokenizer_open(&lab->m, "models/pocket", why);
  if (t == NULL) return false;
  struct ids ids = { .n = 0 };
  bool ok = true;
  for (int i = 0; ok && i < PARROT_WORDS; i++)
    ok = tokenizer_encode(t, &lab->m, parrot_word[i], strlen(parrot_word[i]), false, false,
      &ids, why) && (ids.n == (size_t) i + 1
        || error_say(why, "models/pocket: \"%s\" is not one token", parrot_word[i]));
  for (int i = 0; ok && i < PARROT_WORDS; i++) lab->sentence[i] = ids.id[i];
  ids_free(&lab->m, &ids);
  tokenizer_close(&lab->m, t);
  return ok;
}

/* <Open and close a laboratory> */
bool laboratory_open(struct laboratory *lab, struct error *why)
{
  *lab = (struct laboratory) { .pocket = NULL };
  const struct kernels *best = kernels_find(NULL, why);
  if (best == NULL) return false;
  parrot_kernels(&lab->idle, best);
  lab->e = (struct engine) { .k = best, .c = &lab->c };
  parrot_make(&lab->bird);
  lab->pocket = model_open(&lab->m, "models/pocket", why);
  return lab->pocket != NULL && find_sentence(lab, why);
}

void laboratory_close(struct laboratory *lab)
{
  model_close(&lab->m, lab->pocket);
}
