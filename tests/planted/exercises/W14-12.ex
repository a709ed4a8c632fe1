==== check
# /count says turns and ids: after nothing, after a question, after /undo; and the system's turn is not counted
planted
program
export INCIPIT_MODEL=$here/models/pocket
talk() { printf '%b' "$1" > $work/scratch/input; cut_off /bin/sh -c '"$0" chat < "$1"' $work/incipit $work/scratch/input; }
numbers_of() { grep -o '[0-9][0-9]*' | tr '\n' ' '; }
set -- 'Hello!' 'Thank you!' 'What does the fox say?' 'Who are you?' 'Good day.'; shift $(($(pick 1 5) - 1)); asked=$1
[ "$(talk '/count\n' 2>&1 > /dev/null | numbers_of)" = "0 0 " ] || no "before the first question it should say 0 and 0"
ids=$(printf '%s\n' "$asked" | $build/incipit chat --stats 2>&1 > /dev/null | awk '$1 == "tokens" { print $2 + $4 }')
said=$(talk "$asked\n/count\nThank you!\n/undo\n/count\n" 2>&1 > /dev/null | numbers_of)
[ "$said" = "2 $ids 2 $ids " ] || no "after '$asked', /count, 'Thank you!', /undo, /count it says $said; wanted: 2 $ids 2 $ids"
talk "$asked\n/help\n" 2>&1 > /dev/null | grep -q '^/count ' || no "/help does not name it"
talk "$asked\n/count\n" 2> /dev/null > $work/with; printf '%s\n' "$asked" | $build/incipit chat 2> /dev/null | cmp -s - $work/with || no "the answer itself changed"
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
# the commands of a chat are a table in program/chat_slash.c.  Write == FILE, then - lines and + lines
