==== check
# a limit on what is held
set -e
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<'C'
#include "ground/ground.h"
int main(void)
{
  struct memory m = {.limit = 100};
  void *a = memory_alloc(&m, MEMORY_OTHER, 1, 60, NULL), *b = memory_alloc(&m, MEMORY_OTHER, 1, 41, NULL), *c = memory_alloc(&m, MEMORY_OTHER, 1, 40, NULL);
  if (!a || b || !c || m.all.refused != 1) return 1;
  memory_free(&m, a);
  b = memory_alloc(&m, MEMORY_OTHER, 1, 41, NULL);
  struct memory free = {.limit = 0};
  return !(b && memory_alloc(&free, MEMORY_OTHER, 1, 1000, NULL));
}
C
${CC:-cc} -std=c11 -I$BUILD/exercise/tangled $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex -pthread -lm -ljansson -lpcre2-8 -lutf8proc
$BUILD/ex
==== answer
== tangled/ground/memory.h
-  uint64_t fail_at;
+  uint64_t fail_at, limit;
== tangled/ground/ground.c
-  return m->all.requests == m->fail_at;
+  return m->all.requests == m->fail_at || (m->limit > 0 && m->all.live + bytes > m->limit);
==== wrong
== tangled/ground/memory.h
-  uint64_t fail_at;
+  uint64_t fail_at, limit;
== tangled/ground/ground.c
-  return m->all.requests == m->fail_at;
+  return m->all.requests == m->fail_at || (m->limit > 0 && m->all.requested > m->limit);
==== skeleton
== tangled/ground/memory.h
-  uint64_t fail_at;
+  uint64_t fail_at, limit;
== tangled/ground/ground.c
-  return m->all.requests == m->fail_at;
+  return m->all.requests == m->fail_at;
