#!/bin/sh
# once.sh FLAG... FILE.c... -o PROGRAM -lLIBRARY... -- what cc makes of the same words, but what was compiled before is not compiled again.
# Each file is preprocessed here, with the headers that are here: one that is missing is missed.  If it reads as it does in the clone and
# without any -D, make's object is of the same text, and is taken.  What else there is, is compiled and kept in the folder that ONCE names.
# TABLES: when it has been linked as the words say, it is linked again for the run, with all tables of kernels, which make has compiled, in
# place of the file that knows the plain one alone: they give the same bits, and the plain one would take half a minute.
set -eu
cc=${CC:-cc} clone=$(cd "$(dirname "$0")/../.." && pwd) build=${BUILD:-build}
case $build in /*) ;; *) build=$clone/$build ;; esac
flags= files= out=a.out libraries=
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=$2; shift ;;
    -l*|-pthread) libraries="$libraries $1" ;;
    -*) flags="$flags $1" ;;
    *) files="$files $1" ;;
  esac
  shift
done
mkdir -p "$ONCE"
text() { # FILE TO FLAG...: the sum of a file as the compiler sees it
  source=$1 to=$2; shift 2
  $cc "$@" -E -P "$source" > "$to" && sha256sum < "$to" | cut -c1-32
}
plain=; for f in $flags; do case $f in -D*) ;; *) plain="$plain $f" ;; esac; done
by_make() { # FILE: where make puts its object
  case $1 in program/*) echo "$build/${1%.c}.o" ;; *) o=${1#*/}; echo "$build/obj/${o%.c}.o" ;; esac
}
# make says that there is a server, and that models can be fetched, to the command alone
with_server() { case $1 in program/*) ! pkg-config --exists libmicrohttpd 2>/dev/null || echo -DINCIPIT_HTTP
  ! pkg-config --exists libcurl 2>/dev/null || echo -DINCIPIT_CURL ;; esac; }
objects= others=
for f in $files; do
  sum=$(text "$f" once.i $flags) || exit 1
  made=$(by_make "$f") known=$ONCE/$(echo "$f" | tr / -).sum
  if [ -f "$made" ] && [ -f "$clone/$f" ]; then
    if ! [ "$known" -nt "$made" ]; then
      (cd "$clone" && text "$f" "$known.$$.i" $plain $(with_server "$f")) > "$known.$$"
      mv "$known.$$" "$known"; rm "$known.$$.i"
    fi
  fi
  if [ -f "$known" ] && [ -f "$made" ] && [ "$sum" = "$(cat "$known")" ]; then objects="$objects $made"; others="$others $made"; continue; fi
  sum=$({ $cc --version; echo "$flags $sum"; } | sha256sum | cut -c1-32)
  if [ ! -f "$ONCE/$sum.o" ]; then
    $cc $flags -c "$f" -o "$ONCE/$sum.$$"
    mv "$ONCE/$sum.$$" "$ONCE/$sum.o"
  fi
  objects="$objects $ONCE/$sum.o"
  case $f in */kernels/kernels.c) ;; *) others="$others $ONCE/$sum.o" ;; esac
done
rm -f once.i
$cc $objects -o "$out" $libraries
[ -z "${TABLES:-}" ] || $cc $others "$build/libmodules.a" -o "$out" $libraries
