==== check
# a script that reads the file of answers: the keys that failed, one a line, and exit status 1 if there are any; the files are drawn anew
try() { # what the script says about the file, and its status
  awk '{ key = $0; sub(/,.*/, "", key) } NR > 1 && /,FAIL$/ { print key; bad = 1 } END { exit bad }' $work/scratch/f.csv > $work/right && status=0 || status=1
  script $work/scratch/f.csv > $work/said && got=0 || got=$?
  cmp -s $work/said $work/right || no "of the file '$(tail -n +2 $work/scratch/f.csv | tr '\n' ';')' it should print: $(echo $(cat $work/right))"
  [ $got = $status ] || no "of the file '$(tail -n +2 $work/scratch/f.csv | tr '\n' ';')' the status should be $status, not $got"
}
for round in 1 2 3 4 5 6; do
  { echo 'key,figure,wanted,verdict'
    for n in $(seq $(pick 0 5)); do
      echo "$(pick 1 9)" | awk -v key="k$(pick 100 999)" -v v=$(pick 1 3) '{ split("FAIL PASS ", verdict, " "); if (v == 3) verdict[3] = ""
        wanted[1] = "\"0.75, give or take 0.25\""; wanted[2] = "\"at least 2\""; wanted[3] = "\"at most 0, and no FAIL\""
        print (($1 == 9) ? "FAIL" key : key) "," $1 "," wanted[1 + $1 % 3] "," verdict[v] }'
    done; [ $round != 1 ] || echo 'FAIL,3,"at least 2",PASS'; [ $round != 2 ] || echo 'd,nan,"at least 0",FAIL'; [ $round != 3 ] || echo "e$(pick 10 99),1,\"0.75, give or take 0.25\",FAIL"; } > $work/scratch/f.csv
  try
done
cp models/pocket/check.csv $work/scratch/f.csv; try
==== answer
awk -F, '$NF == "FAIL" { print $1; bad = 1 } END { exit bad }' "$1"
==== wrong
awk -F, '$4 == "FAIL" { print $1; bad = 1 } END { exit bad }' "$1"
==== skeleton
cat "$1" > /dev/null
