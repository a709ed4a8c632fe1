#!/bin/sh
# once.sh FLAG... FILE.c... -o PROGRAM -lLIBRARY... -- what cc makes of the same words, but a file that was compiled before is not
# compiled again: each is preprocessed here, with the headers that are here, and what comes out is looked for, with compiler and flags,
# in the folder that ONCE names.  Twenty chapters alone have most of their files in common.
set -eu
cc=${CC:-cc}
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
objects=
for f in $files; do
  $cc $flags -E "$f" -o once.i
  sum=$({ $cc --version; echo "$flags"; cat once.i; } | sha256sum | cut -c1-32)
  if [ ! -f "$ONCE/$sum.o" ]; then
    $cc $flags -x cpp-output -c once.i -o "$ONCE/$sum.$$"
    mv "$ONCE/$sum.$$" "$ONCE/$sum.o"
  fi
  objects="$objects $ONCE/$sum.o"
done
rm -f once.i
$cc $objects -o "$out" $libraries
