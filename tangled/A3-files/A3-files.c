/* A3-files.c -- made from chapters/A3-files.w; change it there */

/* C.1 */

#include <stdio.h>
#include "A3-files/config.h"

int main(void)
{
  struct memory m = {.refuse_at = 0 };
  struct error why;
  struct model_config c;
  if (!config_open(&c, &m, "no-such-model", &why))
    printf("%s\n", why.words);
  return 0;
}
