==== check
# the loop with the reader's sixth step: what the plain loop writes, up to the first place where the last n tokens repeat the n before
planted
says_like_ours
==== test
#include "tiny.h"
#include "exercise.h"
#include "loop/generate.h"
enum { SIZES = 12, G = 60 };
static void test(unsigned size)
{
  struct tiny t; struct memory m = { 0 }; struct counters c = { 0 }; struct error why; struct continuation out;
  size_t p = 1 + draw(4), repeat = size == 1 ? 0 : 1 + draw(5);
  uint32_t prompt[4], begin = draw(TINY_V);
  tiny_make(&t, fresh());
  if (size < 4)                                       /* one that says the same token for ever */
    for (int i = 0; i < TINY_V * TINY_D; i++) ((float *) (uintptr_t) t.lm.head.weight.data)[i] = 0;
  for (uint32_t i = 0; i < p; i++) prompt[i] = (begin + 3 * i) % TINY_V;  /* no token comes twice */
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct generate_context gen = { &e, &t.lm, array_store_open(&m, &t.lm.config, &why), &m };
  struct generate_options want = { .max_new_tokens = G };
#ifndef OURS
  want.repeat = repeat;
#endif
  tell("repeat is %zu, the prompt has %zu tokens", repeat, p);
  if (!generate(&gen, prompt, p, &want, &out, &why)) return;
#ifdef OURS
  for (size_t n = p + 1; n <= out.text.n && repeat > 0; n++)
    if (n >= 2 * repeat && memcmp(out.text.id + n - repeat, out.text.id + n - 2 * repeat, repeat * sizeof *out.text.id) == 0) { out.text.n = n; break; }
#endif
  say("tokens written: %zu", out.text.n - p);
  for (size_t i = p; i < out.text.n; i++) say("token %zu: %u", i, out.text.id[i]);
}
==== answer
== tangled/loop/generate.h
-  step_row *on_row;
-  uint32_t sequence;
+  step_row *on_row;
+  size_t repeat;
+  uint32_t sequence;
== tangled/loop/generate.c
-    if (enough)
+    size_t r = want->repeat;
+    if (r > 0 && written >= r && c->text.n >= 2 * r
+        && memcmp(c->text.id + c->text.n - r, c->text.id + c->text.n - 2 * r,
+                  r * sizeof *c->text.id) == 0)
+      c->ended = FINISH_STOP;
+    else if (enough)
== tangled/loop/generate.c
-#include <math.h>
+#include <math.h>
+#include <string.h>
==== wrong
== tangled/loop/generate.h
-  step_row *on_row;
-  uint32_t sequence;
+  step_row *on_row;
+  size_t repeat;
+  uint32_t sequence;
== tangled/loop/generate.c
-    if (enough)
+    size_t r = want->repeat;
+    if (r > 0 && written >= r && c->text.n >= 2 * r
+        && memcmp(c->text.id + c->text.n - r, c->text.id + c->text.n - r,
+                  r * sizeof *c->text.id) == 0)
+      c->ended = FINISH_STOP;
+    else if (enough)
== tangled/loop/generate.c
-#include <math.h>
+#include <math.h>
+#include <string.h>
==== skeleton
== tangled/loop/generate.h
-  step_row *on_row;
-  uint32_t sequence;
+  step_row *on_row;
+  size_t repeat; /* 0: off */
+  uint32_t sequence;
# and the step itself, which is in tangled/loop/generate.c, where a text is found to have ended
