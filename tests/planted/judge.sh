# judge.sh NN-k ANSWER -- judges an answer to an exercise: runs the part check of tests/planted/exercises/NN-k.ex, which is made of the
# commands below.  The status is 0 if the answer is right; else one sentence says why not.
# An answer is data: numbers and words are compared (is, near, digest), a formula is computed by tests/planted/exercises/formula.c, what a program
# of ours reads is the file $answer.  An answer that is code is run in a cage (tests/planted/exercises/cage.c) and says what it did, for inputs that
# are drawn anew; what is right is computed beside it, by a program that it cannot see.
set -euf                                  # -f: nothing in an answer is a pattern of names of files
e=$1 build=${BUILD:-build} here=$PWD
was= lent= also=        # objects whose names an answer may use as well; names of the test that it may; flags of the test
ours=$build/exercises/$e work=$build/answers/$e answer=$build/answers/$e/answer
rm -rf "$work"; mkdir -p "$work/jail" "$work/scratch"
trap '[ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
no() { echo "$*"; exit 1; }
[ -f "$2" ] || no "$2 is no file"
[ "$(wc -c < "$2")" -le 100000 ] || no "no answer is as long as that"
LC_ALL=C tr -d '\r' < "$2" > "$answer"

# ---- numbers and words
lines() { grep -v '^#' "$answer" | grep '[^[:space:]]' || true; }      # without remarks
words() { lines | tr ',;\t\n' '    ' | tr -s ' ' | sed 's/^ //; s/ $//'; }
compare() { # TOLERANCE RIGHT...
  SLACK=$1; shift; RIGHT="$*" MINE=$(words) SLACK=$SLACK awk '
    function number(x) { return x ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/ }
    function same(mine, right,   d) {                 # a number may have more decimals than are asked for, if it is rounded to them
      if (!number(mine) || !number(right)) return tolower(mine) == tolower(right)
      if (ENVIRON["SLACK"] != "") return (mine - right) ^ 2 <= ENVIRON["SLACK"] ^ 2
      d = right ~ /[eE]/ ? 0 : index(right, ".") ? length(right) - index(right, ".") : 0
      return mine + 0 == right + 0 || (d > 0 && length(mine) - index(mine, ".") > d && index(mine, ".") && mine !~ /[eE]/ && sprintf("%." d "f", mine) == right)
    }
    BEGIN {
      n = split(ENVIRON["RIGHT"], right, " "); m = split(ENVIRON["MINE"], mine, " ")
      if (n == 0) { print "our own program printed nothing"; exit 1 }
      if (m == 0) { print "there is no answer in the file yet"; exit 1 }
      if (m != n) { print "wanted: " n (n > 1 ? " words or numbers" : " word or number") ", not " m; exit 1 }
      for (i = 1; i <= n; i++) if (!same(mine[i], right[i])) { print (n > 1 ? "number " i " of " n ", " : "") mine[i] ", is not right"; exit 1 }
    }' || exit 1
}
is() { compare '' "$@"; }                 # RIGHT...: the answer is these numbers and words, in this order
near() { compare "$@"; }                  # TOLERANCE RIGHT...
digest() { # SUM: the answer is the one with this sum, which does not tell it
  [ -n "$(words)" ] || no "there is no answer in the file yet"
  [ "$(echo "incipit $e $(words | tr A-Z a-z)" | sha256sum | cut -c1-32)" = "$1" ] || no "$(words | cut -c1-60): not right"
}
numbers() { # N: the answer is N numbers and nothing else; "pairs": two on each line
  lines | awk -v n="$1" '{ gsub(/[,;]/, " "); for (i = 1; i <= NF; i++) { all++; if ($i !~ /^[-+]?(0x)?([0-9]+\.?[0-9]*|\.[0-9]+)([eEpP][-+]?[0-9]+)?$/) bad = 1 } if (n == "pairs" && NF != 2) bad = 1 }
    END { exit bad || all == 0 || (n != "pairs" && all != n) }' || no "wanted: numbers ($1), and nothing else"
}

# ---- formulas
pick() { awk -v a="$1" -v b="$2" -v r="$(od -An -N4 -tu4 /dev/urandom)" 'BEGIN { print a + r % (b - a + 1) }'; }      # FROM TO: a number, drawn anew
formula() { # LINE NAME=VALUE...: its value
  text=$(lines | sed -n "${1}p"); [ -n "$text" ] || no "wanted: a formula in line $1"
  shift; "$build/formula" "$text" "$@"
}
computes() { # LINE RIGHT NAME=VALUE...
  line=$1 right=$2; shift 2
  value=$(formula "$line" "$@") || no "$value"
  [ "$value" = "$right" ] || no "for $*, the formula gives $value; counted: $right"
}

# ---- programs of ours: C from the standard input, once
flags="-std=gnu11 -O2 -ffp-contract=off -w -Itests/planted/exercises/include -Itests/suites -Itests/planted -Iprogram"
libraries="-ljansson -lpcre2-8 -lutf8proc $(pkg-config --libs libmicrohttpd 2>/dev/null || :) $(pkg-config --libs libcurl 2>/dev/null || :) -pthread -lm"
engine() { # [FILE]
  [ ! -x "$ours/engine" ] || return 0
  [ $# = 1 ] && cp "$1" "$ours/engine.c" || cat > "$ours/engine.c"
  ${CC:-cc} -s $flags -Itangled -Iunwoven "$ours/engine.c" "$build/libprogram.a" "$build/libmodules.a" -o "$ours/engine" $libraries
}
# what it says when it is given nothing is the same for every answer, and is kept
run() {
  if [ $# -gt 0 ] || [ "$(readlink /proc/self/fd/0)" != /dev/null ]; then "$build/limit" 100 "$ours/engine" "$@"; return; fi
  if ! [ "$ours/said" -nt "$ours/engine" ]; then "$build/limit" 100 "$ours/engine" > "$work/said" || return; mv "$work/said" "$ours/said"; fi
  cat "$ours/said"
}

# ---- answers that are code
cage() { "$build/cage" "$@"; }
apart="--hide tests/planted/exercises --hide $build/exercises --scratch $work/scratch"
cc() { cage --seconds 120 /usr/bin/env ${CC:-cc} $flags -O1 -Icourse "$@"; }
sources() { # FILE...: what is compiled if these are changed: themselves, and the files of the library that include a changed header
  ( cd "$work" && set +f && grep -H '^ *# *include *"' tangled/*/*.[ch] tangled/*/*.inc unwoven/*/*.[ch] unwoven/*/*.inc program/*.[ch] ) | awk -v changed="$*" '
    BEGIN { n = split(changed, c, " "); for (i = 1; i <= n; i++) hit[c[i]] }
    { file = $0; sub(/:.*/, "", file); name = $0; sub(/^[^"]*"/, "", name); sub(/".*/, "", name); dir = file; sub(/[^\/]*$/, "", dir)
      all[file] = all[file] " " dir name " tangled/" name " unwoven/" name " program/" name }
    END {
      for (more = 1; more;) { more = 0; for (f in all) if (!(f in hit)) { n = split(all[f], of, " "); for (i = 1; i <= n; i++) if (of[i] in hit && !(f in hit)) { hit[f]; more = 1 } } }
      for (f in hit) if (f ~ /\.c$/ && f !~ /^tangled\/checkpoints\// && f != "program/main.c") print f
    }' | sort
}
object() { # FROM TO FLAG...: compiles a file that an answer is part of, and looks at it: what it includes, assembly, code before main
  from=$1 to=$2; shift 2
  cc "$@" -E "$from" -o "$to.i" > "$to.said" 2>&1 || no "it does not compile: $(grep -m 1 -e error -e '^it ' "$to.said")"
  awk -v work="$work/" '/^# [0-9]+ "/ {
      f = $3; gsub(/"/, "", f); if (index(f, work) == 1) f = substr(f, length(work) + 1)
      if (f ~ /^\/usr\/(lib|include)\/|^<|\/$/ || (f !~ /\.\.\// && f ~ /^(answer\.c|test\.c|work\.h|(tangled|unwoven|program|tests|course)\/.*\.(c|h|inc|cu))$/)) next
      print "it includes " f ", which is no file of the library"; exit 1
    }' "$to.i" || exit 1
  ! grep '^[^-]' "$answer" | grep -qw -e asm -e __asm -e __asm__ -e embed || no "an answer has no assembly in it"
  # what was compiled before of the same text, as a test of several answers, is taken from there
  sum=$({ echo "${CC:-cc} $flags $*"; cat "$to.i"; } | sha256sum | cut -c1-32)
  if [ -f "$build/once/$sum.o" ]; then cp "$build/once/$sum.o" "$to"
  else
    cc "$@" -c "$from" -o "$to" > "$to.said" 2>&1 || no "it does not compile: $(grep -m 1 -e error -e '^it ' "$to.said")"
    mkdir -p "$build/once"; cp "$to" "$build/once/$sum.$$"; mv "$build/once/$sum.$$" "$build/once/$sum.o"
  fi
  ! objdump -h -w "$to" | grep -q -e '\.init' -e '\.fini' -e '\.preinit' -e '\.ctors' -e '\.dtors' || no "it has code that runs before or after all other"
}
may_use() { # NAMES OBJECT...: what an object takes from outside is of the library, of the harmless part of C, of its file as it was, or of NAMES
  names=$1; shift
  [ "$build/symbols" -nt "$build/libmodules.a" ] && [ "$build/symbols" -nt tests/planted/exercises/may-use ] ||
    { nm -P -g "$build/libmodules.a" "$build/libprogram.a" 2> /dev/null | awk '$2 ~ /[TDBRVWC]/ { print $1 }'; tr ' ' '\n' < tests/planted/exercises/may-use; } > "$build/symbols"
  for o in "$@"; do
    case $o in "$work"/program/*) plain=$build/program${o#"$work"/program} ;; "$work"/unwoven/*) plain=$build/obj${o#"$work"/unwoven} ;; *) plain=$build/obj${o#"$work"/tangled} ;; esac
    other=$({ cat "$build/symbols"; echo "$names" | tr ' ' '\n'; nm -P -g --defined-only $objects | awk '{ print $1 }'; nm -P -g -u "$plain" $was 2> /dev/null | awk '{ print $1 }'
      echo :; nm -P -g -u "$o" | awk '{ print $1 }'; } | awk '$0 == ":" { on = 1; next } !on { may[$0]; next } !($0 in may) { print; exit }')
    [ -z "$other" ] || no "it calls $other, which no answer needs"
  done
}
planted() { # makes the changes in copies of the C; $objects are the changed sources, compiled, $stale those that include a changed header
  cp -r tangled unwoven program "$work"
  changed=$("$build/change" "$answer" "$work") || no "$(echo "$changed" | tail -1)"
  include="-I$work/tangled -I$work/unwoven -I$work/program" objects= stale=
  for f in $(sources $changed); do
    case " $(echo $changed) " in
    *" $f "*) object "$work/$f" "$work/${f%.c}.o" $include; objects="$objects $work/${f%.c}.o" ;;
    *) stale="$stale $f" ;;
    esac
  done
}
wrapped() { # FLAG...: the answer between the parts head and tail
  cat "$ours/head" "$answer" "$ours/tail" > "$work/answer.c"
  include="-Itangled -Iunwoven $*" objects=$work/answer.o stale=
  object "$work/answer.c" "$work/answer.o" $include
}
linked() { # TARGET FLAG...: with the objects; while the linker takes a stale one from the library, it is compiled again
  target=$1; shift
  for again in 1 2 3 4 5 6 7 8; do
    ${CC:-cc} -s -Wl,-t,-t $objects "$@" "$build/libprogram.a" "$build/libmodules.a" -o "$target" $libraries > "$work/linked" 2>&1 ||
      no "it cannot be linked: $(grep -m 1 -e undefined -e multiple "$work/linked" | cut -c1-200)"
    # in one process: of a header that all include, hundreds are stale
    more=$(printf '%s\n' $stale | awk 'NR == FNR { sub(/\)*$/, ""); sub(/.*[(\/)]/, ""); taken[$0]; next }
      { o = $0; sub(/.*\//, "", o); sub(/\.c$/, ".o", o); if (o in taken) print }' "$work/linked" -)
    [ -n "$more" ] || return 0
    for f in $more; do
      object "$work/$f" "$work/${f%.c}.o" $include; objects="$objects $work/${f%.c}.o"
      stale=$(for s in $stale; do [ "$s" = "$f" ] || echo "$s"; done)
    done
  done
}
says_like_ours() { # [--seconds N] [--reading]: the part test with the reader's code, and with OURS
  case " $* " in *" --reading "*) ;; *) set -- --closed "$@" ;; esac
  { cat "$ours/test"; echo 'const struct lab_test lab_tests[] = { { "exercise", SIZES, test }, { 0 } };'; } > "$work/test.c"
  echo "#define WORK \"$work\"" > "$work/work.h"
  object "$work/test.c" "$work/test.o" -Itests/planted/exercises $also $include
  [ "$build/kit.o" -nt course/kit.c ] || ${CC:-cc} $flags -c course/kit.c -o "$build/kit.o"
  linked "$work/jail/program" -static "$work/test.o" "$build/kit.o"
  may_use "$lent" $objects
  may_use "say say_near say_most say_least say_bits tell draw draw_float abort" "$work/test.o"
  [ -x "$ours/reference" ] ||
    ${CC:-cc} -s $flags -DOURS $also -Icourse -Itests/planted/exercises -Itangled -Iunwoven "$work/test.c" "$build/kit.o" "$build/libprogram.a" "$build/libmodules.a" -o "$ours/reference" $libraries
  cage "$@" $apart --like "$ours/reference" "$work/jail/program" exercise "${SEED:-$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')}"
}
cut_off() { # PROGRAM ARGUMENT...: with files to read, but none to write outside scratch
  ended=0; : > "$work/scratch/.errors"
  cage --seconds 20 --reading $apart /usr/bin/env LC_ALL="${LC_ALL:-${LANG:-C}}" ${INCIPIT_MODEL:+INCIPIT_MODEL=$INCIPIT_MODEL} PATH="$work/scratch:$PATH" \
    /bin/sh -c 'errors=$1; shift; exec "$@" 2> "$errors"' sh "$work/scratch/.errors" "$@" || ended=$?
  cat "$work/scratch/.errors" >&2
  return $ended
}
script() { # ARGUMENT...: the answer, run by sh, with what we have as its standard input
  cat > "$work/scratch/.input" < /dev/stdin
  cut_off /bin/sh -c 'in=$1; shift; exec sh "$@" < "$in"' sh "$work/scratch/.input" "$answer" "$@"
}
program() { # the whole program, with the reader's changes
  set -- "$work"/program/main.c; object "$1" "$work/program/main.o" $include
  objects="$objects $work/program/main.o"; libraries="-ledit $libraries"; linked "$work/incipit"
}
. "$ours/check"
