#!/bin/sh
# ccline.sh MODULE -- the command that compiles the program of MODULE's chapter by hand, as the book prints it under the program's
# output and as tests/checks/alone.sh runs it: lines of at most 67 columns, from the folders of the modules that it needs and nothing else.
set -eu
flat= edit=
if grep -q '^#include "command.h"' "tangled/checkpoints/$1.c"; then flat='-Iprogram program/*.c' edit=-ledit; fi
{ echo "cc -std=c11 -O2 -ffp-contract=off -Itangled -Iunwoven $flat tangled/checkpoints/$1.c"
  for m in $(tools/needs.sh "$1"); do for root in tangled unwoven; do ls $root/"$m"/*.c >/dev/null 2>&1 && echo "$root/$m/*.c"; done; done
  echo "-o checkpoint -ljansson -lpcre2-8 -lutf8proc $edit -pthread -lm"; } |
tr ' ' '\n' | awk 'NF { if (n + length($0) + 3 > 67) { print line " \\"; line = "  " $0; n = length(line) }
  else { line = line (line == "" ? "" : " ") $0; n = length(line) } } END { print line }'
