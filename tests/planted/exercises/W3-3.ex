==== check
# a field named author: read over, whatever it holds; a field named authors is refused as before, and a used field is still used
planted
set -- '"somebody"' 17 null '[1, 2]' '{"name": "x"}'; shift $(($(pick 1 5) - 1)); holds=$1
config() { mkdir -p $work/$1; sed "1,/{/s/{/{ \"$2\": $3,/" tests/golden/llama/config.json > $work/$1/config.json; }
config author author "$holds"; config authors authors 17; config used author "$holds"
sed -i 's/"num_hidden_layers": *[0-9]*/"num_hidden_layers": "two"/' $work/used/config.json
says_like_ours --reading
==== test
#include "exercise.h"
#include "families/config.h"
#include "work.h"
enum { SIZES = 3 };
static void test(unsigned size)
{
  static const char *const where[] = { OF(WORK "/author", "tests/golden/llama"), WORK "/authors", WORK "/used" };
  struct memory m = { 0 }; struct error why = { "" }; struct model_config c;
  memset(&c, 0, sizeof c);
#ifdef OURS
  if (size == 3) { say("opened: no"), say("it names num_hidden_layers"), say("bytes that are still held: 0"); return; }
#endif
  bool ok = config_open(&c, &m, where[size - 1], &why);
  say("opened: %s", ok ? "yes" : "no");
  if (ok) say("layers %u, vocabulary %u, width %u", c.n_layers, c.vocab_size, c.d_model), config_close(&m, &c);
  else say("it names %s", strstr(why.text, "\"authors\"") != NULL || strstr(why.text, "authors") != NULL ? "authors" : strstr(why.text, "num_hidden_layers") != NULL ? "num_hidden_layers" : why.text);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
}
==== answer
== unwoven/families/harmless.inc
-{"is_llama_config", "says what model_type says"},
+{"is_llama_config", "says what model_type says"},
+{"author", "says who wrote the file"},
==== wrong
== unwoven/families/harmless.inc
-{"is_llama_config", "says what model_type says"},
+{"is_llama_config", "says what model_type says"},
+{"author", "says who wrote the file"},
== unwoven/families/config.c
-      if (strcmp(h->name, name) == 0)
+      if (strncmp(h->name, name, strlen(h->name)) == 0)
==== skeleton
# unwoven/families/harmless.inc has a table of fields that are read over, each with its reason.  Write == FILE, then - lines and + lines
