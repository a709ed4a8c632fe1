==== check
# an option more: --no-hints, for generate alone
planted
program
export INCIPIT_MODEL=$here/tests/golden/small
words=$(pick 1000 9999)
mine() { cut_off $work/incipit "$@"; }
hints() { mine "$@" 2>&1 > /dev/null; }
no_option() { if mine "$@" > /dev/null 2>&1; then no "it should refuse: $*"; fi; }
[ -n "$(hints generate "The $words" -n 1 --top-k 3)" ] || no "without the option a hint should be given"
[ -z "$(hints generate "The $words" -n 1 --top-k 3 --no-hints)" ] || no "with the option a hint is still given"
[ "$(mine generate "The $words" -n 3 --no-hints)" = "$($build/incipit generate "The $words" -n 3)" ] || no "with the option the text is another"
mine generate --help | grep -q -e '--no-hints ' || no "generate --help does not name it"
mine help --man | grep -q 'no.-hints' || no "the manual page does not name it"
[ "$(mine help --completion | grep -c -e '--no-hints')" = 1 ] || no "it should be completed for one command"
mine generate --no-hnits 2>&1 | grep -q 'the nearest is --no-hints' || no "misspelt, it is not proposed"
no_option generate The --no-hints=yes
no_option trace The --no-hints                          # trace gives no hints, so it has nothing to leave out
[ "$(mine tokenize "The $words" --json)" = "$($build/incipit tokenize "The $words" --json)" ] || no "other commands changed"
==== answer
== program/options.h
-OPTION_HELP, N_OPTIONS
+OPTION_NO_HINTS, OPTION_HELP, N_OPTIONS
== program/options.c
-  [OPTION_HELP] =
+  [OPTION_NO_HINTS] =
+      { .name = "no-hints", .where = G, .words = "give no hints", .default_text = "they are given" },
+  [OPTION_HELP] =
== program/cmd_generate.c
-  give_hints(a, sampler_setup_greedy(&g->how.choice));
+  if (!of[OPTION_NO_HINTS].given) give_hints(a, sampler_setup_greedy(&g->how.choice));
==== wrong is the answer but
-+      { .name = "no-hints", .where = G, .words = "give no hints", .default_text = "they are given" },
++      { .name = "no-hints", .where = G | R, .words = "give no hints", .default_text = "they are given" },
==== skeleton
# an option is a constant in program/options.h, a row of the table in program/options.c, and what it does: cmd_generate.c gives the hints
== program/options.h
-OPTION_HELP, N_OPTIONS
+OPTION_NO_HINTS, OPTION_HELP, N_OPTIONS
