==== check
# behind /undo the answer is that of a talk without what was taken back, at the cost of its own rows; and nothing to take back is no fault
set -e
unset INCIPIT_MODEL
texlua tests/planted.lua "$1"
${CC:-cc} -std=c11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -I$BUILD/exercise/program program/main.c $BUILD/exercise/libprogram.a $BUILD/exercise/libmodules.a -o $BUILD/ex-talk -ljansson -lpcre2-8 -lutf8proc -ledit -pthread -lm
t=$BUILD/exercise; talk() { $BUILD/ex-talk chat "$@"; }
printf 'Hello!\nWhat does the fox say?\n/undo\nThank you!\nWho are you?\n' | talk --stats > $t/undone 2> $t/costs
printf 'Hello!\nThank you!\nWho are you?\n' | talk > $t/never
sed 2d $t/undone | cmp - $t/never
[ "$(awk '$1 == "tokens" && ++n == 3 { print $2 }' $t/costs)" = "$(printf 'Hello!\nThank you!\n' | talk --stats 2>&1 > /dev/null | awk '$1 == "tokens" && ++n == 2 { print $2 }')" ]
printf '/undo\nHello!\n/undo\n/undo\nThank you!\n' | talk > $t/empty 2> $t/said
printf 'Hello!\n/new\nThank you!\n' | talk | cmp - $t/empty
[ ! -s $t/said ]
==== answer
== program/cmd_chat.c
-    else if (line_is(line, n, "/help"))
+    else if (line_is(line, n, "/undo")) {
+      if (t->n >= t->first + 2)
+        pop_turn(t), pop_turn(t), t->text.n = 0;
+    } else if (line_is(line, n, "/help"))
==== wrong
== program/cmd_chat.c
-    else if (line_is(line, n, "/help"))
+    else if (line_is(line, n, "/undo")) {
+      if (t->n >= t->first + 2)
+        pop_turn(t), pop_turn(t);
+    } else if (line_is(line, n, "/help"))
==== skeleton
== program/cmd_chat.c
-    else if (line_is(line, n, "/help"))
+    else if (line_is(line, n, "/help"))
