/* line.c -- a command line: words with line ends between them. */
#include "fuzz.h"
#include "options.h"

FUZZ(line)
{
  char *text = malloc(size + 1), *argv[32];
  int argc = 0;
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct command_line w;
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
    must(why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
  else {
    struct ids list;
    static const enum option lists[] = { OPTION_PROMPT_IDS, OPTION_IDS };
    for (int i = 0; i < 2; i++)
      if (w.of[lists[i]].given) {
        options_parse_ids(&m, w.of[lists[i]].text, "ids", &list, &why);
        ids_free(&m, &list);
      }
    struct bias_pair pair;
    struct sampling_params s;
    const char *at = w.of[OPTION_LOGIT_BIAS].text, *names = w.of[OPTION_SAMPLERS].text;
    if (w.of[OPTION_LOGIT_BIAS].given) {
      while (options_next_bias(&at, &pair))
        ;
      must(*at == '\0');
    }
    if (w.of[OPTION_SAMPLERS].given) must(options_parse_samplers(names, &s, &why));
    for (int i = 0; i < N_OPTIONS; i++)
      must(!w.of[i].given || (options_option((enum option) i).where >> w.sub & 1) != 0);
  }
  must(m.all.live == 0);
  for (int i = 1; i < argc; i++) free(argv[i]);
  free(text);
  return 0;
}
