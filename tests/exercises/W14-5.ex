==== check
set -e
# a script that continues every line of its input, whatever the line is
export INCIPIT_MODEL=$PWD/tests/golden/small PATH="$(cd $BUILD && pwd):$PATH"
long=$(printf 'The cat %.0s' $(seq 40))
judged() { sed -n 's/^{"model":"[^"]*",\("prompt":{.*"ids":\[[0-9,]*\]}\),"sequences":\[{"index":0,\("ids":\[[0-9,]*\]\).*/\1 \2/p'; }
rc=0
printf '%s\n' 'The cat' '' "$long" '-' '--help' '-n' '  The' 'a\b' '"*"' 'The' | sh "$1" 2> /dev/null > $BUILD/ex.out || rc=$?
[ "$rc" = 1 ]
for line in 'The cat' '' '-' '--help' '-n' '  The' 'a\b' '"*"' 'The'; do
  incipit generate -n 3 --json --prompt="$line"
done > $BUILD/ex.wanted
[ "$(wc -l < $BUILD/ex.out)" = 9 ]
[ "$(judged < $BUILD/ex.out)" = "$(judged < $BUILD/ex.wanted)" ]
[ "$(judged < $BUILD/ex.out | wc -l)" = 9 ]
printf 'The\nThe cat\n' | sh "$1" > $BUILD/ex.out
[ "$(wc -l < $BUILD/ex.out)" = 2 ]
==== answer
status=0
while IFS= read -r line; do
  incipit generate -n 3 --json --prompt="$line" < /dev/null || status=1
done
exit $status
==== wrong
status=0
while IFS= read -r line; do
  incipit generate -n 3 --json -- "$line" < /dev/null || status=1
done
exit $status
==== skeleton
while read line; do
  incipit generate -n 3 --json $line
done
