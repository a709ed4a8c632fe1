#!/bin/sh
# ccline.sh MODULE -- the command that compiles the program of MODULE's chapter by hand, as the book prints it under the program's
# output and as tests/checks/alone.sh runs it: lines of at most 67 columns, from the folders of the modules that it needs and nothing else.
# Only chapter 11 is about the other tables of kernels; elsewhere the plain one gives the same bits, and compiles in no time.  Chapter 11
# compiles them all, unoptimized, which takes a quarter of the time.  Chapter 3 computes most, on the plain kernels, whose multiply-add is
# a call unless the machine has it.
set -eu
flat= edit= level=-O2 plain= more=
case $1 in kernels) level= ;; loop) level='-O2 -march=native' ;; *) ! tools/needs.sh "$1" | grep -qx kernels || plain=-DONLY_PLAIN ;; esac
if grep -q '^#include "command.h"' "tangled/checkpoints/$1.c"; then flat='-Iprogram program/*.c' edit=-ledit; fi
if [ "$1" = server ]; then flat="-DINCIPIT_HTTP $flat build/program/page.c" edit="$edit -lmicrohttpd"; fi
for m in $(tools/needs.sh "$1"); do [ ! -d "unwoven/$m" ] || more=-Iunwoven; done
{ echo "cc -std=c11 $level -ffp-contract=off $plain -Itangled $more $flat tangled/checkpoints/$1.c"
  for m in $(tools/needs.sh "$1"); do
    if [ "$m" = kernels ] && [ -n "$plain" ]; then echo "unwoven/$m/kernels.c unwoven/$m/prepared.c"; continue; fi
    for root in tangled unwoven; do ! ls $root/"$m"/*.c >/dev/null 2>&1 || echo "$root/$m/*.c"; done
  done
  echo "-o checkpoint -ljansson -lpcre2-8 -lutf8proc $edit -pthread -lm"; } |
tr ' ' '\n' | awk 'NF { if (n + length($0) + 3 > 67) { print line " \\"; line = "  " $0; n = length(line) }
  else { line = line (line == "" ? "" : " ") $0; n = length(line) } } END { print line }'
