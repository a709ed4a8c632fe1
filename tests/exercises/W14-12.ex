==== check
# /count says turns and ids: after nothing, after a question, after /undo; and the system's turn is not counted
set -e
unset INCIPIT_MODEL
texlua tests/planted.lua "$1"
${CC:-cc} -std=c11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -I$BUILD/exercise/program program/main.c $BUILD/exercise/libprogram.a $BUILD/exercise/libmodules.a -o $BUILD/ex-talk -ljansson -lpcre2-8 -lutf8proc -ledit -pthread -lm
t=$BUILD/exercise; talk() { $BUILD/ex-talk chat "$@"; }
numbers() { grep -o '[0-9][0-9]*' | tr '\n' ' '; }
[ "$(printf '/count\n' | talk 2>&1 > /dev/null | numbers)" = "0 0 " ]
ids=$(printf 'Hello!\n' | talk --stats 2>&1 > /dev/null | awk '$1 == "tokens" { print $2 + $4 }')
[ "$(printf 'Hello!\n/count\nThank you!\n/undo\n/count\n' | talk 2>&1 > /dev/null | numbers)" = "2 $ids 2 $ids " ]
printf 'Hello!\n/help\n' | talk 2>&1 > /dev/null | grep -q '^/count '
printf 'Hello!\n/count\n' | talk 2> /dev/null > $t/with; printf 'Hello!\n' | talk 2> /dev/null | cmp - $t/with
==== answer
== program/chat_slash.c
-static slash_action help;
+static enum chat_result count(struct chat *t, struct operand what)
+{
+  (void) what;
+  fprintf(t->a.c->err, "%zu turns, %zu ids\n", t->n - t->first, t->text.n);
+  return CHAT_DONE;
+}
+static slash_action help;
== program/chat_slash.c
-  { .name = "/stats",
+  { .name = "/count", .words = "how many turns and ids the talk has", .act = count },
+  { .name = "/stats",
==== wrong is the answer but
-+  fprintf(t->a.c->err, "%zu turns, %zu ids\n", t->n - t->first, t->text.n);
++  fprintf(t->a.c->err, "%zu turns, %zu ids\n", t->n - t->first, t->text.cap);
==== skeleton
== program/chat_slash.c
-static slash_action help;
+static slash_action help;
