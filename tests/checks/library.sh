#!/bin/sh
# library.sh -- what of the library can be seen: the names of incipit.h and no others, in the archive and in the shared library; the engine
# is in it, and neither trainer nor corpus nor terminal; every function is called wrongly in check_library; all headers of the project
# can be included together, and incipit.h by C++ as well; it has at most 400 lines.
set -eu
build=${BUILD:-build}; library=${LIBRARY:-$build/library}; header=tangled/library/incipit.h
tmp=$(mktemp -d "${TMPDIR:-/tmp}/library.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
fail() { echo "$*"; exit 1; }
# the list is made here once more, in another way: from what the compiler sees declared
echo '#include "library/incipit.h"' > "$tmp/header.c"
${CC:-cc} -E -P -Itangled -Iunwoven "$tmp/header.c" | tr '\n' ' ' | tr ';' '\n' | grep -v typedef | grep -o 'incipit_[a-z_]* *(' | tr -d ' (' | LC_ALL=C sort -u > "$tmp/keep"
[ "$(wc -l < "$tmp/keep")" -ge 40 ] || fail "only $(wc -l < "$tmp/keep") functions"
nm -g --defined-only "$library/libincipit.a" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort > "$tmp/archive"
nm -D --defined-only "$library/libincipit.so" | awk '{ print $3 }' | LC_ALL=C sort > "$tmp/shared"
for l in archive shared; do cmp -s "$tmp/keep" "$tmp/$l" || { diff "$tmp/keep" "$tmp/$l" || true; fail "the $l shows other names than incipit.h"; }; done
readelf -d "$library/libincipit.so" > "$tmp/dynamic"
grep -q 'SONAME.*\[libincipit\.so\.0\]' "$tmp/dynamic" || fail "no soname"
! grep -E 'NEEDED.*(edit|check|asan)|TEXTREL' "$tmp/dynamic" || fail "the shared library needs what it should not"
for l in libincipit.a libincipit.so; do
  if nm "$library/$l" | grep -E ' [tTdDrRbB] (train|corpus_|parrot|gradient|network_|beam_search|command_run|probe_run|toy_|lesson)'; then fail "$l has more than the engine"; fi
done
for f in $(cat "$tmp/keep"); do
  case $f in
  incipit_version) ;;
  *_close) grep -q "  $f(NULL)" tests/suites/check_library.c || [ $f = incipit_sequence_close ] || fail "$f is not called with NULL" ;;
  incipit_vocab_size|incipit_context_size|incipit_is_end) grep -q "$f(NULL" tests/suites/check_library.c || fail "$f is not called with NULL" ;;
  *) grep -qE "(WRONG|WRONG_AS)\(.*$f\(" tests/suites/check_library.c || fail "$f is not called wrongly in check_library" ;;
  esac
done
for h in tangled/*/*.h unwoven/*/*.h program/*.h; do [ ! -f "$h" ] || echo "#include \"${h#*/}\""; done > "$tmp/all.c"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -fsyntax-only -Itangled -Iunwoven -Iprogram "$tmp/all.c" || fail "the headers cannot be included together"
cxx=$(echo "${CXX:-${CC:-cc}}" | sed 's/gcc/g++/; s/^cc$/c++/; s/clang\(-[0-9]*\)*$/clang++\1/')
for std in c++11 c++17; do $cxx -x c++ -std=$std -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Itangled -Iunwoven "$tmp/header.c" || fail "incipit.h is not $std"; done
for std in c99 c11; do ${CC:-cc} -std=$std -Wall -Wextra -Wpedantic -Werror -fsyntax-only -ffast-math -Itangled -Iunwoven "$tmp/header.c" || fail "incipit.h is not $std"; done
[ "$(wc -l < $header)" -le 400 ] || fail "incipit.h has $(wc -l < $header) lines"
echo "$(wc -l < "$tmp/keep") functions, $(wc -l < $header) lines"
