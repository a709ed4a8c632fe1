/* files.c -- the model and the tokenizer of a page that runs outside a browser: from files, as the command reads them.

   In a browser they are built in (wasm/built_in.c). The tests let both write the same texts, so what is built in is
   compared with what is in the files. */

#include <stdlib.h>
#include "families/loader.h"
#include "kernels/kernels.h"
#include "living/living.h"

bool living_material(struct living *g)
{
  const char *path = getenv("INCIPIT_MODEL");
  if (path == NULL) path = "models/pocket";
  struct model_open_options want = { .k = kernels_find(NULL, NULL) };
  g->lm = model_open_with(&g->m, path, &want, &g->why);
  if (g->lm == NULL) return false;
  g->t = tokenizer_open(&g->m, path, &g->why);
  return g->t != NULL;
}
