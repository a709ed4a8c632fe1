==== check
set -e
# a reader that has closed the pipe: our exit status, and what the shell would report without the line about SIGPIPE
export INCIPIT_MODEL=tests/golden/small
grep -v 'signal(SIGPIPE, SIG_IGN);' program/main.c > $BUILD/ex.c
if cmp -s $BUILD/ex.c program/main.c; then exit 1; fi
${CC:-cc} -std=c11 -O2 -ffp-contract=off -w -Itangled -Iprogram $BUILD/ex.c $BUILD/libprogram.a $BUILD/libmodules.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -ledit -pthread -lm
got=
for command in $BUILD/incipit $BUILD/ex; do
  rm -f $BUILD/ex.pipe; mkfifo $BUILD/ex.pipe
  ( exec 4< $BUILD/ex.pipe ) & exec 3> $BUILD/ex.pipe; wait       # opened, and closed again
  rc=0; env --default-signal=PIPE $command generate The -n 3 >&3 2> /dev/null || rc=$?
  got="$got $rc"; exec 3>&-
done
[ " $(grep -v '^#' "$1" | tr -s ' \n' '  ' | sed 's/ *$//')" = "$got" ]
==== answer
1 141
==== wrong
0 1
==== skeleton
# two numbers
