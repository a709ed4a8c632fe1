/* line.c -- a command line: words with line ends between them. */
#include "fuzz.h"
#include "options.h"

FUZZ(line)
{
  char *text = malloc(size + 1), *argv[32];
  int argc = 0;
  struct memory m = { .refuse_at = 0 };
  struct error why = { "" };
  struct wishes w;
  memcpy(text, data, size);
  text[size] = '\0';
  argv[argc++] = "incipit";
  for (char *p = text; p != NULL && argc < 31;) {
    char *end = strchr(p, '\n');
    if (end != NULL) *end = '\0';
    argv[argc++] = strdup(p); /* each word in a block of its own size */
    p = end ? end + 1 : NULL;
  }
  argv[argc] = NULL;
  if (!options_parse(&w, argc, argv, &why))
    must(why.words[0] != '\0' && strchr(why.words, '\n') == NULL);
  else {
    struct ids list;
    static const enum option lists[] = { OPTION_PROMPT_IDS, OPTION_IDS };
    for (int i = 0; i < 2; i++)
      if (w.of[lists[i]].given) {
        ids_parse(&m, w.of[lists[i]].text, "ids", &list, &why);
        ids_free(&m, &list);
      }
    struct bias_pair pair;
    struct sampling s;
    const char *at = w.of[OPTION_LOGIT_BIAS].text, *names = w.of[OPTION_SAMPLERS].text;
    if (w.of[OPTION_LOGIT_BIAS].given) {
      while (bias_next(&at, &pair))
        ;
      must(*at == '\0');
    }
    if (w.of[OPTION_SAMPLERS].given) must(samplers_parse(names, &s, &why));
    for (int i = 0; i < N_OPTIONS; i++)
      must(!w.of[i].given || (option_at((enum option) i)->where >> w.sub & 1) != 0);
  }
  must(m.all.held == 0);
  for (int i = 1; i < argc; i++) free(argv[i]);
  free(text);
  return 0;
}
