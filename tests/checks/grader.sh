#!/bin/sh
# grader.sh -- the cage of the course's grader, with what the kernel has and without; what may be handed in; a class in which some have names that
# shells stumble over and some try to end the grader; a grader that is ended itself.  The lab 03-loop must have been made (tools/lab.sh).
# SOURCES: a folder with another cage.c and look.c, for faults planted in them, of which each must be found; then nothing is graded.
set -eu
d=$(mktemp -d "${TMPDIR:-/tmp}/grader.XXXXXX"); victim= grader=
trap 'kill $victim $grader 2> /dev/null || true; rm -rf "$d"' EXIT
key=build/labs/03-loop.key answer=build/labs/03-loop.tmp/answer
bad=0; fault() { echo "FAULT: $1"; bad=1; }
w="-std=c11 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror=switch"
mkdir "$d/jail" "$d/tmp"
from=${SOURCES:-course}
${CC:-cc} $w -Icourse tests/checks/cages.c "$from/cage.c" "$from/look.c" -o "$d/cages"
${CC:-cc} $w -Icourse -static tests/checks/cages.c "$from/cage.c" "$from/look.c" -o "$d/jail/student"
cp "$d/jail/student" "$d/other"; echo secret > "$d/secret"

# what a caged program may do, and what ends it, whatever the kernel lacks
sleep 600 & victim=$!
here=$("$d/cages" closed "$d/jail/student" nothing 0)
for without in "" namespaces landlock "namespaces landlock"; do
  try() { CAGE_WITHOUT=$without "$d/cages" closed "$d/jail/student" "$@"; }
  for t in nothing limits; do case $(try $t 0) in *"status 0: begun $t 0") ;; *) fault "without '$without' a program is ended for: $t" ;; esac; done
  case $(try abort 0) in *"signal 6"*) ;; *) fault "without '$without' a program cannot abort" ;; esac
  for t in "open 0" "tgkill 1" "tgkill $victim" "tgkill $$" "kill $victim" "limit-of $victim" "limit-high $victim" "exec $d/other" "execat $d/other" \
    "again 0" "fork 0" "run 0"; do
    case $(try $t) in *"was ended: begun ") ;; *) fault "without '$without' a program may: $t" ;; esac
  done
  case "$here,$without" in *fenced*,|*fenced*,namespaces)
    case $(CAGE_WITHOUT=$without "$d/cages" read "$d/secret" "$d/jail" /usr /lib /lib64) in *secret:*) ;; *) fault "a file is read over the fence" ;; esac
    case $(CAGE_WITHOUT=$without "$d/cages" read "$d/secret" "$d/jail" /usr /lib /lib64 "$d/secret") in *"0: secret"*) ;; *) fault "a file that is listed is not read" ;; esac
  esac
done
kill "$victim" || fault "a caged program ended another"; victim=
case $here in *apart*) ;; *) echo "NOT RUN: this system has no namespaces for a cage" ;; esac
case $here in *fenced*) ;; *) echo "NOT RUN: this kernel has no Landlock" ;; esac

# what may be handed in, and what not
fits() { [ "$("$d/cages" look "$1")" = fits ] || fault "this is refused: $1"; }
fails() { case $("$d/cages" look "$1") in "it $2"*) ;; *) fault "this is not refused with '$2': $1" ;; esac; }
fits '#include <stdio.h>'
fits '  # /* of C */ include "loop/naive.h" // the lab'"'"'s\nint x;\n'
fits '#include "a.h" /* a comment\n   that goes on */\nint x;\n'
fits '/* #include "/etc/passwd" */\n// #include "/etc/passwd"\nchar *s = "#include \"/etc/passwd\"";\n'
fits '#error this isn'"'"'t so\n#if 1 < 2\n#define A "#"\n#endif\nint c = '"'#'"';\n#pragma GCC unroll 4\n'
fits '/* https://x */ int line; int include; char q = '"'\"'"'; /* " */\n#undef x\n'
for i in '#include "/etc/passwd"' '#include </etc/passwd>' '#include "../x.h"' '#include <linux/../../../etc/passwd>' '#import "/etc/passwd"' \
  '#include_next "/etc/passwd"' '#if 0\n#include "/etc/passwd"\n#endif' '%:include "/etc/passwd"' '\n /**/ # /**/ include /**/ "/etc/passwd"' \
  '#inc\\nlude "/etc/passwd"' '#inc\ \nlude "/etc/passwd"' 'char *s = "/*";\n#include "/etc/passwd"\n/**/' 'char *s = "\n#include "/etc/passwd"\n";' '/* " */\n#include "/etc/passwd"' '#embed "x.h"' \
  "char c = '\"';\n#include \"/etc/passwd\"" '//\\n\n#include "/etc/passwd"' '/**//* */ #include "/etc/passwd"'; do
  fails "$i" includes
done
fails '#define A "/etc/passwd"\n#include A\n' 'includes a file whose name is not written out'
fails '#include "x.h" A\n' 'includes a file whose name is not written out'
fails '#include <it'"'"'s.h\n#include "/etc/passwd"\n' 'includes a file whose name is not written out'
fails '??=include "/etc/passwd"\n' 'has a trigraph'
for i in '#line 3 "x.h"' '#line 3' '# 3 "x.h"' '#3'; do fails "$i" 'has a #line'; done
for i in '#pragma GCC dependency <x/*y>\n#include "/etc/passwd"\n/* */' '#if __has_include(<x/*y>)\n#include "/etc/passwd"\n#endif'; do
  fails "$i" 'has a directive with <'
done
fails "$(printf '\357\273\277#include "/etc/passwd"')" includes

[ -z "${SOURCES:-}" ] || exit $bad
plant() { # WHAT FILE, and a command of sed that changes it
  rm -rf "$d/planted"; mkdir "$d/planted"; cp course/cage.c course/look.c "$d/planted"
  sed "$3" "course/$2" > "$d/planted/$2"
  ! cmp -s "$d/planted/$2" "course/$2" || { fault "this fault has no place in course/$2: $1"; return; }
  ! TMPDIR=$d SOURCES=$d/planted sh tests/checks/grader.sh > "$d/planted.txt" 2>&1 || fault "nobody notices: $1"
  ! grep -q 'error:' "$d/planted.txt" || { fault "this fault does not compile: $1"; cat "$d/planted.txt"; }
}
plant "signals go to anybody" cage.c 's/n += allow_if(code + n, __NR_tgkill, 0, (uint64_t) getpid());/n += allow_if(code + n, __NR_tgkill, 2, 9);/'
plant "half of an address is looked at" cage.c 's/UNLESS((uint32_t) (value >> 32), 1)/BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0)/'
plant "any program may be started that is named like ours" cage.c 's/__NR_execveat, 1, (uintptr_t) path/__NR_execveat, 4, AT_EMPTY_PATH/'
plant "the descriptor of the program stays open, and may be used" cage.c 's/O_PATH | O_CLOEXEC);$/O_PATH);/; s/__NR_execveat, 1, (uintptr_t) path/__NR_execveat, 4, AT_EMPTY_PATH/'
plant "the fence is not closed" cage.c 's/ok = ok \&\& syscall(LANDLOCK_RESTRICT, rules, 0) == 0;//'
plant "the program cannot abort" cage.c 's/n += allow_if(code + n, __NR_tgkill, 0, (uint64_t) getpid());//'
plant "a name may lead upwards" look.c 's/ || strstr(file, "\.\.") != NULL//'
plant "a name may begin at the root" look.c "s/\*file == '\/' || //"
plant "a line goes on behind blanks unseen" look.c 's/size_t blanks = .*/size_t blanks = 0;/'
plant "comments are looked for in strings" look.c "s/if (quote != '\"' \&\& quote != '.*') return at;/return at;/"
plant "a quotation ends behind its line" look.c "s/\*at != '\\\\n' \&\& \*at != quote/*at != quote/"
plant "a comment is no blank before a directive" look.c 's/size_t n = strspn(at, letters);/n = strspn(at, letters);/; s/  at = past_blanks(at);$/  size_t n;/'
plant "lines may have other names" look.c 's/isdigit((unsigned char) \*at) || strcmp(word, "line") == 0/0/'
plant "a mark at the beginning hides the first line" look.c 's/ ? text + 3 : text/ ? text : text/'
plant "in a directive < begins nothing" look.c "s/ \&\& \*less == '<')/ \&\& 0)/"

# a class: the loop is the one that course/README.md prints
loop=$(sed -n 's/^    \(find .*\)/\1/p' course/README.md)
[ -n "$loop" ] || fault "course/README.md prints no loop for a class"
mkdir "$d/hand-ins" "$d/grades"
latin=$(printf 'caf\351')
for name in ann "O'Brien" 'two words' -x 'a"b' "$latin" '$(touch x)' zoe; do cp -r "$answer" "$d/hand-ins/$name"; done
change() { # NAME SED: another hand-in, the answer with a line changed
  cp -r "$answer" "$d/hand-ins/$1"; sed "$2" "$answer/naive.c" > "$d/hand-ins/$1/naive.c"
}
# a system call that is hidden in a number: xor eax, eax; mov al, CALL; syscall; ret
raw() {
  change "$1" 's|^uint32_t likeliest.*|static __attribute__((noinline)) uint64_t number(void) { return 0xc3050f'"$2"'b0c031; }\n&|
    s|^  uint32_t best = 0;|  uint64_t (*volatile f)(void) = number; typedef long call(long, long, long);\n  for (long k = 1; k < 70000; k++) ((call *) ((uintptr_t) f + 2))('"$3"');\n&|'
}
raw bad-tgkill ea 'k, k, 9'
raw bad-kill 3e 'k, 9, 0'
raw bad-all 3e '-1, 9, 0'
printf '%s\n' '#include "/etc/passwd"' '#error' > "$d/hand-ins/leak"; mkdir "$d/hand-ins/bad-leak"; mv "$d/hand-ins/leak" "$d/hand-ins/bad-leak/naive.c"
printf 'int sch\366n = "sch\366n"; int int;\n' > "$d/latin"; change bad-latin '1r '"$d/latin"
for without in "" "namespaces landlock"; do
  rm -f "$d"/grades/*
  sleep 600 & victim=$!
  ( cd "$d"; root=$OLDPWD; export CAGE_WITHOUT="$without" TMPDIR="$d/tmp"
    eval "$(printf '%s\n' "$loop" | sed "s|build/labs|$root/build/labs|g; s|WORD|a-long-word-for-a-class|")" ) > "$d/class.txt" 2> "$d/class.err" || fault "the loop over a class ends with a status"
  kill "$victim" 2> /dev/null || fault "a hand-in ended another process"; victim=
  [ ! -s "$d/class.err" ] || { fault "the loop over a class complains"; head -3 "$d/class.err"; }
  n=$(ls "$d/hand-ins" | wc -l) graded=$(find "$d/grades" -name '*.json' | wc -l)
  [ "$n" = "$graded" ] || fault "of $n hand-ins $graded were graded"
  find "$d/grades" -name '*.json' -print0 | xargs -0 build/labs/incipit-record csv > "$d/class.csv" || fault "a record cannot be read"
  # who tries to end others is ended in the tests that call the function, and keeps the points of those that do not
  points=$(sed -n 's/^ "score": \([0-9]*\),/\1/p' "$d"/grades/*.json | sort -n | tr '\n' ' ')
  [ "$points" = "0 0 65 65 65 100 100 100 100 100 100 100 100 " ] || fault "the points of the class are others: $points"
  ! grep -rq root: "$d/grades" "$d/class.txt" || fault "a file is shown in the feedback"
  [ -z "$(ls "$d/tmp")" ] || fault "the grader left something behind: $(ls "$d/tmp")"
done

# a grader that is ended leaves neither its folder nor its processes; a record that cannot be written is not taken from the last time
change bad-endless 's|^  uint32_t best = 0;|  for (;;) ;\n&|'
TMPDIR=$d/tmp build/labs/incipit-grade "$key" "$d/hand-ins/bad-endless" --public > /dev/null 2>&1 & grader=$!
running() { cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\0' '\n' | grep -q "^$d/tmp/grade.*/student"; }
# (each test is a process of its own, so there may be none between two of them: once seen is enough)
i=0; until running || [ $i -gt 300 ]; do i=$((i + 1)); sleep 0.1; done
[ $i -le 300 ] || fault "the grader does not run the hand-in"
kill -9 $grader; wait $grader 2> /dev/null || true; grader=
i=0; while { [ -n "$(ls "$d/tmp")" ] || running; } && [ $i -lt 300 ]; do i=$((i + 1)); sleep 0.1; done
[ -z "$(ls "$d/tmp")" ] || fault "a grader that is killed leaves its folder"
! running || fault "a grader that is killed leaves a process"
echo '{}' > "$d/old.json"; chmod 444 "$d/old.json"; mkdir "$d/dir.json"
! build/labs/incipit-grade "$key" "$answer" --public --json "$d/dir.json" > /dev/null 2>&1 || fault "a record that cannot be written is no error"
build/labs/incipit-grade "$key" "$answer" --seed short --json "$d/r.json" 2> "$d/err" > /dev/null; grep -q 'can be guessed' "$d/err" || fault "a short seed is not remarked"
grep -q "the teacher's, short" "$d/r.json" || fault "a short seed is not in the record"
# nobody prints a loop that takes names apart
! grep -nE 'xargs' README.md course/README.md course/guide.tex course/*/handout.tex handout.tex docs/*.md bench/course.sh | grep -vE 'xargs -0|seq ' || fault "a loop takes names apart"
[ $bad = 0 ] && echo "grader: the cage holds, and the class goes on"
exit $bad
