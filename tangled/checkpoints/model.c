/* the program -- made from chapters/02-model.w; change it there */

#include <stdio.h>
#include "model/toy.h"

int main(void)
{
  static struct toy toy;
  struct memory m = { .fail_at = 0 };
  struct counters c = { .passes = 0 };
  struct error why;
  struct engine e = { .k = &kernels_plain, .c = &c };
  toy_make(&toy);
  struct store *s = array_store_open(&m, &toy.lm.config, &why);
  bool ok = s != NULL && toy_print(&e, &toy, s, &why);
  store_close(s);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
