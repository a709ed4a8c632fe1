/* command.c -- made from workshop/14-command.w; change it there */

/* B.2 */

#include <stdio.h>
#include <string.h>
#include "command/options.h"

/* B.3  Say what is wrong with a line */

static void judge(const char *sub, const char *option)
{
  char *argv[] = { "incipit", (char *)sub, (char *)option, NULL };
  struct wishes w;
  struct error why;
  printf("incipit %s %s\n", sub, option);
  bool ok = options_parse(&w, 3, argv, &why);
  printf("  %s\n", ok ? "nothing is wrong" : why.words);
}

int main(int argc, char **argv)
{
  (void)argv;
  if (argc > 1)
    printf("command.status.cancelled" " %d\n", (int)STATUS_CANCELLED);
  else {
    judge("generate", "--josn");
    judge("generate", "--promt=x");
    judge("tokenize", "--ids");
    judge("trace", "--top=0");
    judge("generat", "--json");
  }
  return 0;
}
