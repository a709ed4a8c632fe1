/* try_living.c -- try_living SCRIPT: does what a script says with the functions that a page calls, and prints a line of
   JSON after each command. tests/checks/living.mjs does the same with the engine for WebAssembly; then every number of
   every line must be the same.

   set JSON; steps N, which prints the state after each; back; go NODE; fork NODE ID; beams WIDTH STEPS; tree;
   stages NODE; cell LAYER POSITION. Lines that begin with # are passed over. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "exports.h"

static uint64_t mixed(const float *x, size_t n)
{
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < 4 * n; i++) h = (h ^ ((const unsigned char *) x)[i]) * 1099511628211u;
  return h;
}

/* the number behind a key of the state; the test trusts the C that wrote it, and compares it with the other side's */
static long number_of(const char *state, const char *key)
{
  char name[40];
  snprintf(name, sizeof name, "\"%s\":", key);
  const char *at = strstr(state, name);
  return at == NULL ? 0 : strtol(at + strlen(name), NULL, 10);
}

static void tell_state(void)
{
  const char *state = page_state();
  long n = number_of(state, "seq_len");
  const int32_t *s = page_shape();
  const float *look = page_attention(), *logits = page_logits();
  printf("{\"state\":%s,\"attention_hash\":\"%016" PRIx64 "\",\"last_logits\":\"%016" PRIx64 "\"}\n", state,
    look == NULL ? 0 : mixed(look, (size_t) (s[0] * s[1] * n)), logits == NULL ? 0 : mixed(logits, (size_t) s[5]));
}

static void tell_cell(int layer, int position)
{
  const int32_t *s = page_shape();
  const float *x = page_numbers(layer, position);
  printf("{\"cell\":\"%016" PRIx64 "\"}\n", x == NULL ? 0 : mixed(x, (size_t) (2 * s[2] * s[3])));
}

static void act(const char *line)
{
  int a = 0, b = 0;
  if (strncmp(line, "set ", 4) == 0) {
    size_t n = strcspn(line + 4, "\n");
    memcpy(page_room((int32_t) n), line + 4, n);
    bool ok = page_set((int32_t) n) != 0;
    printf("{\"set\":%s,\"error\":%s}\n", ok ? "true" : "false", ok ? "\"\"" : "\"refused\"");
    return;
  }
  if (sscanf(line, "steps %d", &a) == 1) {
    for (int i = 0; i < a && page_step() == 0; i++) tell_state();
    return;
  }
  if (strncmp(line, "tree", 4) == 0) printf("{\"tree\":%s}\n", page_tree());
  else if (sscanf(line, "stages %d", &a) == 1) printf("{\"stages\":%s}\n", page_stages(a));
  else if (sscanf(line, "cell %d %d", &a, &b) == 2) tell_cell(a, b);
  else {
    bool ok = strncmp(line, "back", 4) == 0 ? page_back() != 0
      : sscanf(line, "go %d", &a) == 1 ? page_go(a) != 0
      : sscanf(line, "fork %d %d", &a, &b) == 2 ? page_fork(a, b) >= 0
      : sscanf(line, "beams %d %d", &a, &b) == 2 && page_beams(a, b) != 0;
    if (!ok) printf("{\"refused\":true}\n");
    else tell_state();
  }
}

int main(int argc, char **argv)
{
  static char line[4096];
  FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (f == NULL || !page_open()) {
    fprintf(stderr, "try_living: %s\n", f == NULL ? "wanted: a script" : page_error());
    return 1;
  }
  while (fgets(line, sizeof line, f) != NULL)
    if (*line != '#' && *line != '\n') act(line);
  fclose(f);
  return 0;
}
