==== check
# a reader that has closed the pipe: our exit status, and what the shell would report without the line about SIGPIPE
export INCIPIT_MODEL=tests/golden/small
grep -v 'signal(SIGPIPE, SIG_IGN);' program/main.c > $work/main.c
! cmp -s $work/main.c program/main.c || no "the line about SIGPIPE is gone"
${CC:-cc} $flags -Itangled -Iunwoven $work/main.c $build/libprogram.a $build/libmodules.a -o $work/incipit -ledit $libraries
got=
for command in $build/incipit $work/incipit; do
  rm -f $work/pipe; mkfifo $work/pipe
  ( exec 4< $work/pipe ) & exec 3> $work/pipe; wait       # opened, and closed again
  rc=0; env --default-signal=PIPE $command generate The -n 3 >&3 2> /dev/null || rc=$?
  got="$got $rc"; exec 3>&-
done
is $got
==== answer
1 141
==== wrong
0 1
==== skeleton
# two numbers
