/* measures.c -- made from workshop/21-measures.w; change it there */

/* R.37 */

#include <stdio.h>
#include <string.h>
#include "command/options.h"

int main(int argc, char **argv)
{
  int n = 0;
  for (int i = 0; i < N_OPTIONS; i++)
    n += (option_at((enum option)i)->where
          & (1u << SUB_BENCH | 1u << SUB_PERPLEXITY | 1u << SUB_MEMORY)) != 0;
  if (argc > 1 && strcmp(argv[1], "values") == 0)
    printf("measures.options %d\n", n);
  else
    printf("bench, perplexity and memory take %d options\n", n);
  return 0;
}
