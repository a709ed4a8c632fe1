#!/bin/sh
# installed.sh -- installed means installed: what make install copies works from / with no clone in reach: the command continues a prompt; the
# examples of the library, as C and as C++, with the shared library and with the archive, and two in Python say what they should;
# a program with names of its own links; DESTDIR is kept out of every file; make uninstall leaves what was there before.
set -eu
build=${BUILD:-build}; clone=$PWD; tmp=$(mktemp -d "${TMPDIR:-/tmp}/installed.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
fail() { echo "$*"; exit 1; }
install() { # PREFIX DESTDIR [TARGET]
  env -u MAKEFLAGS -u MAKELEVEL make -s BUILD="$build" CC="${CC:-cc}" LIBRARY="$tmp/library" PREFIX="$1" DESTDIR="$2" "${3:-install}" > "$tmp/made" 2>&1 || { cat "$tmp/made"; exit 1; }
}
mkdir "$tmp/library"
install /opt/incipit "$tmp/stage"
! grep -rlI "$tmp" "$tmp/stage" || fail "a file names the DESTDIR"
grep -q '^prefix=/opt/incipit$' "$tmp/stage/opt/incipit/lib/pkgconfig/incipit.pc" || fail "incipit.pc has another prefix"
# what was there before stays, and an empty folder that was there is no less ours for being empty
mkdir -p "$tmp/there/lib" "$tmp/there/include"; echo mine > "$tmp/there/lib/mine"
(cd "$tmp/there" && find . | LC_ALL=C sort) > "$tmp/before"
install "$tmp/there" ''
install "$tmp/there" ''           # twice, as an upgrade is
cp -r tests/golden/small "$tmp/"; cp tests/checks/outside.c "$tmp/"
# from here on nothing is taken from the clone, and no installed file names it
cd "$tmp"
unset INCIPIT_MODEL INCIPIT_ISA
there=$tmp/there
out=$("$there/bin/incipit" generate "The cat sat" -n 4); [ "$out" = " on the mat." ] || fail "generate says '$out'"
"$there/bin/incipit" verify S4-03 S4-05 S1-51 > verified || fail "verify: $(cat verified)"
grep -q '^S4-03  off-by-one$' verified && grep -q '  run:    incipit trace "The cat sat" -n 4' verified || fail "verify says: $(cat verified)"
grep -q '^  where:  section [0-9.]*: ' verified || fail "verify names no section: $(cat verified)"
"$there/bin/incipit" --version | grep -q '^incipit .*build [0-9a-f]' || fail "no build id"
version=$(sed -n 's/^#define INCIPIT_VERSION "\(.*\)"/\1/p' "$there/include/incipit.h")
"$there/bin/incipit" --version | grep -q "^incipit $version " || fail "the command is not of version $version, the header is"
for f in share/man/man1/incipit.1 share/man/man3/incipit.3 share/bash-completion/completions/incipit share/zsh/site-functions/_incipit share/fish/vendor_completions.d/incipit.fish lib/libincipit.a lib/libincipit.so; do
  [ -s "$there/$f" ] || fail "$f is missing"
done
[ "$(ls "$there/include")" = incipit.h ] || fail "more than incipit.h is installed: $(ls "$there/include")"
! grep -rla "$clone" there || fail "a file names the clone's folder"
for f in $(sed 's/.*(\*.*//; s/.*\(incipit_[a-z_]*\)(.*/\1/' "$there/include/incipit.h" | grep '^incipit_' | grep -v 'on_'); do
  grep -q "$f(" "$there/share/man/man3/incipit.3" || fail "incipit.3 has no $f"
done

# the examples: what pkg-config says is all that is needed
export PKG_CONFIG_PATH="$there/lib/pkgconfig" LD_LIBRARY_PATH="$there/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
[ "$(pkg-config --modversion incipit)" = "$version" ] || fail "incipit.pc is of another version"
shared=$(pkg-config --cflags --libs incipit)
! echo "$shared" | grep -qi 'jansson\|pcre\|utf8proc\|edit' || fail "a program with the shared library is told to link $shared"
# where only what runs is installed, there is no jansson.pc
PKG_CONFIG_LIBDIR="$there/lib/pkgconfig" pkg-config --cflags --libs incipit > alone 2>&1 || fail "pkg-config: $(cat alone)"
for f in bin/incipit lib/libincipit.so lib/libincipit.a; do
  ! readelf -SW "$there/$f" 2>/dev/null | grep -q '\.debug_info' || fail "$f is installed with what only a debugger reads"
done
static="$(pkg-config --cflags incipit) $there/lib/libincipit.a $(pkg-config --static --libs incipit | sed 's/-lincipit//')"
! echo "$static" | grep -q 'edit' || fail "the archive wants libedit"
flags="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror ${SANITIZE:-}"
cxx=$(echo "${CXX:-${CC:-cc}}" | sed 's/gcc/g++/; s/^cc$/c++/; s/clang\(-[0-9]*\)*$/clang++\1/')
says() { # NAME COMMAND...: as the file NAME.says
  name=$1; shift
  "$@" < "$tmp/lines" > out 2>&1 || fail "$name: status $?: $(cat out)"
  cmp -s "$tmp/$name.says" out || fail "$name says: $(cat out)"
}
printf 'Hello!\nWhat did the cat do?\n' > lines
"$there/bin/incipit" generate "The cat sat" -n 12 > greedy.says; printf '\n12 tokens\n' >> greedy.says
for p in "The cat sat" "Once" "There was a" "The moon"; do printf '%s|%s\n' "$p" "$("$there/bin/incipit" generate "$p" -n 8; echo x)"; done | sed 's/x$//' > batch.says
"$there/bin/incipit" chat < lines > chat.says
for p in "The cat sat" "Once" "There was a" "The moon"; do printf '%s|%s\n' "$p" "$("$there/bin/incipit" generate "$p" -n 24; echo x)"; done | sed 's/x$//' | LC_ALL=C sort > serving.says
{ printf 'The cat sat|%s|4 tokens, as heard\n' "$("$there/bin/incipit" generate "The cat sat" -n 4)"
  for p in "Once" "There was a"; do printf '%s|%s|8 tokens, as heard\n' "$p" "$("$there/bin/incipit" generate "$p" -n 8)"; done; } > requests.says
echo '6 rows, then 47; 3 rows, then 138; 7 computed' > sharing.says
for l in shared static; do
  eval "with=\$$l"
  for e in greedy batch chat sharing serving; do
    ${CC:-cc} -std=c11 $flags "$there/share/doc/incipit/examples/$e.c" $with -o "$e-c" || fail "$e.c as C, $l"
    $cxx -std=c++11 -x c++ $flags "$there/share/doc/incipit/examples/$e.c" -x none $with -o "$e-cc" || fail "$e.c as C++, $l"
    for how in c cc; do
      case $e in
      greedy) says greedy "./greedy-$how" "The cat sat" ;;
      batch) "./batch-$how" > out; tail -1 out | grep -q '^8 passes, [0-9]* rows$' || fail "batch: $(cat out)"
        sed '$d' out | cmp -s - batch.says || fail "batch says: $(cat out)" ;;
      chat) says chat "./chat-$how" ;;
      sharing) says sharing "./sharing-$how" small ;;
      serving) printf 'The cat sat\nOnce\n\nThere was a\nThe moon\n' | "./serving-$how" > out 2>&1 || fail "serving: $(cat out)"
        LC_ALL=C sort out | cmp -s - serving.says || fail "serving says: $(cat out)" ;;
      esac
    done
  done
  # names of its own in a program, among them those of the chapters; and no name of ours that is not in the header
  ${CC:-cc} -std=c11 -Wall -Wextra $flags outside.c $with -o outside
  ./outside > out 2>&1 || fail "outside: $(cat out)"
done
[ "$(wc -l < "$there/share/doc/incipit/examples/sharing.c")" -le 50 ] || fail "sharing.c has more than 50 lines"
rc=0; ./greedy-c x /nowhere > out 2>&1 || rc=$?
[ $rc = 1 ] && grep -q '/nowhere.*(code 2)' out || fail "a model that is not there: $(cat out)"
python=${PYTHON:-python3}
if command -v "$python" > /dev/null && [ -z "${SANITIZE:-}" ]; then
  says greedy "$python" "$there/share/doc/incipit/examples/greedy.py" "The cat sat"
  says requests "$python" "$there/share/doc/incipit/examples/serving.py" "The cat sat" "Once" "There was a"
else echo "NOT RUN: greedy.py and serving.py, for there is no python3"; fi

cd "$clone"
install "$there" '' uninstall
(cd "$there" && find . | LC_ALL=C sort) | cmp -s - "$tmp/before" || { (cd "$there" && find . | LC_ALL=C sort) | diff - "$tmp/before"; fail "uninstall leaves or takes something"; }
