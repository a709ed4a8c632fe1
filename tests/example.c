/* example.c -- a program that stands on the installed library: continues ids with a model of your
   own. cc example.c $(pkg-config --cflags --libs incipit) -o example; ./example DIRECTORY N ID...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "loop/generate.h"
#include "families/loader.h"

int main(int argc, char **argv)
{
  struct memory memory = { .fail_at = 0 };
  struct counters counters = { .passes = 0 };
  struct error why = { "" };
  struct ids prompt = { NULL, 0, 0 };
  struct continuation text = { .n_prompt = 0 };
  if (argc < 4) return fprintf(stderr, "usage: example DIRECTORY N ID...\n"), 2;
  struct model *lm = model_open(&memory, argv[1], &why);
  struct store *s = lm ? store_open(&memory, &lm->config, 1, &why) : NULL;
  struct engine e = { .k = kernels_find(NULL, &why), .c = &counters };
  bool ok = s != NULL && e.k != NULL;
  for (int i = 3; ok && i < argc; i++)
    ok = ids_push(&memory, &prompt, (uint32_t) strtoul(argv[i], NULL, 10), &why);
  struct generate_context with = { &e, lm, s, &memory };
  struct generate_options want = { .max_new_tokens = strtoul(argv[2], NULL, 10) };
  ok = ok && generate(&with, prompt.id, prompt.n, &want, &text, &why);
  for (size_t i = text.n_prompt; ok && i < text.text.n; i++)
    printf("%" PRIu32 "\n", text.text.id[i]);
  if (!ok) fprintf(stderr, "example: %s\n", why.text);
  continuation_free(&memory, &text);
  ids_free(&memory, &prompt);
  store_close(s);
  model_close(&memory, lm);
  return !ok;
}
