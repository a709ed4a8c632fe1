==== check
# a limit on what is held
planted
says_like_ours
==== test
#include "exercise.h"
#include "ground/ground.h"
enum { SIZES = 30 };
static void test(unsigned size)
{
  uint64_t limit = size % 5 == 0 ? 0 : 50 + draw(200), live = 0, refused = 0;
  void *block[20] = { NULL }; uint64_t bytes[20] = { 0 };
#ifdef OURS
  struct memory m = { 0 };
#else
  struct memory m = { .limit = limit };
#endif
  tell("a limit of %llu bytes", (unsigned long long) limit);
  for (int i = 0; i < 40; i++) {
    unsigned k = draw(20); uint64_t n = 1 + draw(60);
    if (block[k] != NULL) { memory_free(&m, block[k]), block[k] = NULL, live -= bytes[k]; continue; }
#ifdef OURS
    bool fits = limit == 0 || live + n <= limit;
    if (fits) block[k] = malloc(1), block[k] = memory_alloc(&m, MEMORY_OTHER, 1, n, NULL);
    refused += !fits;
#else
    block[k] = memory_alloc(&m, MEMORY_OTHER, 1, n, NULL), refused = m.all.refused;
#endif
    if (block[k] != NULL) live += bytes[k] = n;
    say("%llu bytes: %s, held %llu, refused %llu", (unsigned long long) n, block[k] != NULL ? "given" : "refused", (unsigned long long) m.all.live, (unsigned long long) refused);
  }
}
==== answer
== unwoven/ground/memory.h
-  uint64_t fail_at;
+  uint64_t fail_at, limit;
== tangled/ground/memory.c
-  return m->all.requests == m->fail_at;
+  return m->all.requests == m->fail_at || (m->limit > 0 && m->all.live + bytes > m->limit);
==== wrong
== unwoven/ground/memory.h
-  uint64_t fail_at;
+  uint64_t fail_at, limit;
== tangled/ground/memory.c
-  return m->all.requests == m->fail_at;
+  return m->all.requests == m->fail_at || (m->limit > 0 && m->all.requested > m->limit);
==== skeleton
== unwoven/ground/memory.h
-  uint64_t fail_at;
+  uint64_t fail_at, limit;
# and the function in tangled/ground/memory.c that decides whether a request is refused
