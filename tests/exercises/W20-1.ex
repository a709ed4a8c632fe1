==== check
set -e
# the exit statuses of four command lines
export INCIPIT_MODEL=tests/golden/small
got=
for line in 'generate The -n 0' 'generate The --max-new-tokens -1' 'generate -f /nowhere' 'probe philox'; do
  rc=0; echo '[' | $BUILD/incipit $line > /dev/null 2>&1 || rc=$?
  got="$got $rc"
done
[ " $(grep -v '^#' "$1" | tr '\n' ' ' | tr -s ' ' | sed 's/ $//')" = "$got" ]
==== answer
0 2 1 0
==== wrong
0 2 1 1
==== skeleton
# four numbers
