==== check
# a script that continues every line of its input, whatever the line is; the order of the lines is drawn anew
cp $build/incipit $work/scratch/incipit
export INCIPIT_MODEL=$here/tests/golden/small
long=$(awk 'BEGIN { for (i = 0; i < 40; i++) printf "The cat " }')
judged() { sed -n 's/^{"model":"[^"]*",\("prompt":{.*"ids":\[[0-9,]*\]}\),"sequences":\[{"index":0,\("ids":\[[0-9,]*\]\).*/\1 \2/p'; }
shuffle() { awk -v seed=$(pick 1 100000) 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort -n | cut -f2-; }
printf '%s\n' 'The cat' '' '-' '--help' '-n' '  The' 'a\b' '"*"' 'The' "The c$(pick 100 999)" "$long" | shuffle > $work/scratch/input
rc=0; script < $work/scratch/input > $work/said || rc=$?
[ "$rc" = 1 ] || no "one of the lines is too long for the model: the status should be 1, not $rc"
while IFS= read -r line; do [ "$line" = "$long" ] || $build/incipit generate -n 3 --json --prompt="$line" < /dev/null; done < $work/scratch/input | judged > $work/right
[ "$(wc -l < $work/said)" = 10 ] || no "wanted: an object for each of the ten lines that can be continued, not $(wc -l < $work/said) lines"
judged < $work/said > $work/got; cmp -s $work/got $work/right || no "line $(cmp $work/got $work/right 2>&1 | sed -n 's/.*line //p') is continued otherwise"
printf 'The\nThe cat\n' > $work/scratch/input; script < $work/scratch/input > $work/said || no "if no line fails, the status should be 0"
[ "$(wc -l < $work/said)" = 2 ] || no "wanted: two lines for two lines"
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
