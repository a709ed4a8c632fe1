==== check
# five command lines: the exit status of each, and whether it has written to its standard output
export INCIPIT_MODEL=tests/golden/small
got=
for line in '--help' 'generate --josn --help' 'generate --help --josn' 'generate The -n 0 --stats' 'help genrate'; do
  rc=0; $build/incipit $line > $work/out 2> /dev/null || rc=$?
  [ -s $work/out ] && said=yes || said=no
  got="$got $rc $said"
done
is $got
==== answer
0 yes
2 no
0 yes
0 no
2 no
==== wrong
0 yes
0 yes
0 yes
0 yes
2 no
==== skeleton
# five lines: the exit status, then yes or no
