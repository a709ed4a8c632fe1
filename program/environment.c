/* environment.c -- the variables of the environment, with the words that help and manual have for them.

   Nothing else in program/ asks the environment, so what is read is what is told. (libcurl looks for a proxy by itself, in variables that
   each user of curl knows.) An empty variable
   counts as none, whichever it is: that is how a shell takes one away for a single line. An option of
   the command line goes before a variable; which option that is stands where the variable is read. */

#include <stdlib.h>
#include "environment.h"

static const struct { const char *name, *words; } table[N_VARIABLES] = {
  [VARIABLE_MODEL] = { "INCIPIT_MODEL", "the model to use where none is given" },
  [VARIABLE_ISA] = { "INCIPIT_ISA", "the kernels to use, of those that the machine has: scalar, avx2, avx512 or neon" },
  [VARIABLE_CUDA] = { "INCIPIT_CUDA", "if it is host, --device cuda runs the kernels of the device"
    " on the host, thread by thread" },
  [VARIABLE_WORKERS] = { "OMP_NUM_THREADS", "the number of workers where none is given" },
  [VARIABLE_PLAIN] = { "NO_COLOR", "if it is not empty, nothing is coloured" },
  [VARIABLE_TERMINAL] = { "TERM", "if it is dumb, nothing is coloured either" },
  [VARIABLE_ENDPOINT] = { "HF_ENDPOINT", "the hub that pull asks, instead of https://huggingface.co" },
  [VARIABLE_TOKEN] = { "HF_TOKEN", "the token by which the hub knows who asks, for models that are not for"
    " everybody" },
  [VARIABLE_HUB_HOME] = { "HF_HOME", "where the file token is, if HF_TOKEN is not set; without it"
    " ~/.cache/huggingface" },
  [VARIABLE_PROXY] = { "https_proxy", "the proxy that pull goes through, as curl does; no_proxy says where it"
    " does not" },
  [VARIABLE_CACHE] = { "XDG_CACHE_HOME", "fetched models are in incipit below it" },
  [VARIABLE_HOME] = { "HOME", "and without it in .cache/incipit below this" } };

const char *environment_get(enum variable v)
{
  const char *text = getenv(table[v].name);
  return text != NULL && *text != '\0' ? text : NULL;
}

const char *environment_name(enum variable v)
{
  return table[v].name;
}

const char *environment_words(enum variable v)
{
  return table[v].words;
}
