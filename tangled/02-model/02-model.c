/* 02-model.c -- made from chapters/02-model.w; change it there */

/* 2.1 */

#include <stdio.h>
#include <stdint.h>
#include "02-model/forward.h"
int main(int argc, char **argv)
{
  struct memory m = {.refuse_at = 0 };
  struct error why;
  for (int i = 1; i < argc; i++) {
    struct model *lm = model_open(&m, argv[i], &why);
    if (!lm)
      printf("%s\n", why.words);
    else {
      printf("%s ok %s %d %d ignored\n", argv[i], lm->config.family,
             lm->config.n_layers, (int)lm->config.n_ignored);
      model_close(&m, lm);
    }
  }
  return m.all.held != 0;
}
