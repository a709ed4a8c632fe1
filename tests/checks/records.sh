#!/bin/sh
# records.sh -- the records of the grader in the formats of other systems: the published examples fit the schemas (course/schemas), and so does
# what incipit-record writes; points, late days and regrading come out as they must.  RECORD: another program than that of course/record.c; faults
# planted in it are found here.
set -eu
d=$(mktemp -d "${TMPDIR:-/tmp}/records.XXXXXX"); trap 'rm -rf "$d"' EXIT
w="-std=c11 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror=switch"
if [ -n "${RECORD:-}" ]; then cp "$RECORD" "$d/record"; else ${CC:-cc} $w course/record.c -o "$d/record" -ljansson; fi
${CC:-cc} $w tests/checks/schema.c -o "$d/schema" -ljansson
bad=0; fault() { echo "$1"; bad=1; }
for f in gradescope classroom autolab; do
  "$d/schema" "course/schemas/$f.json" "course/schemas/$f.example.json" || fault "the published example of $f does not fit our schema"
done
cat > "$d/a.json" <<'J'
{"lab":"03-loop","student":"ann","commit":"c1","submitted":"2027-03-02T22:00:01Z","graded":"2027-03-03T08:00:00Z","machine":"m","score":10,"of":15,
 "cage":"","seed":"","error":"","tests":[
 {"name":"greedy","points":10,"of":10,"public":true,"promise":"the first of equals","feedback":"","seconds":0.25},
 {"name":"kept","points":0,"of":5,"public":false,"promise":"the newest row is read","feedback":"case 3: a wrong result, \"no\"","seconds":0.5}]}
J
sed 's/"ann"/"=bob, \\"B\\""/; s/"submitted":"[^"]*"/"submitted":"2027-03-01T21:59:59Z"/' "$d/a.json" > "$d/b.json"
printf '# a term\ndue\t03-loop\t2027-03-01T22:00:00Z\nlate\t03-loop\t10\t3\nfree\tcarl\t2\n' > "$d/policy"
printf 'ann\t03-loop\tkept\t3\tthe oral showed it\n' > "$d/regrade"
rec() { "$d/record" "$@"; }
rec gradescope "$d/a.json" > "$d/gradescope.out"
rec classroom "$d/a.json" | sed 's/^result=//' | base64 -d > "$d/classroom.out"
rec autolab "$d/a.json" | tail -1 > "$d/autolab.out"
for f in gradescope classroom autolab; do "$d/schema" "course/schemas/$f.json" "$d/$f.out" || fault "our $f does not fit"; done
rec classroom --policy "$d/policy" "$d/a.json" | sed 's/^result=//' | base64 -d > "$d/late.out"
"$d/schema" course/schemas/classroom.json "$d/late.out" || fault "a late hand-in does not fit classroom's schema"
# the schemas find what is wrong
sed 's/"status": "passed"/"status": "good"/' "$d/gradescope.out" > "$d/x.json"
! "$d/schema" course/schemas/gradescope.json "$d/x.json" > /dev/null || fault "a word that Gradescope does not know fits"
sed 's/"scores"/"score"/' "$d/autolab.out" > "$d/x.json"
! "$d/schema" course/schemas/autolab.json "$d/x.json" > /dev/null || fault "an autoresult without scores fits"
sed 's/"status": "failed",/&"extra": 1,/' "$d/gradescope.out" > "$d/x.json"
! "$d/schema" course/schemas/gradescope.json "$d/x.json" > /dev/null || fault "a property that Gradescope does not have fits"
want() { # WHAT WANTED FOUND
  [ "$2" = "$3" ] || fault "$1: wanted $2, got $3"
}
line() { rec csv "$@" | tail -n +2; }
want "no policy" 'ann,03-loop,c1,2027-03-02T22:00:01Z,2027-03-03T08:00:00Z,10,15,0,0,10,' "$(line "$d/a.json")"
want "a day and a second late" 'ann,03-loop,c1,2027-03-02T22:00:01Z,2027-03-03T08:00:00Z,10,15,2,20,8,' "$(line --policy "$d/policy" "$d/a.json")"
want "regraded and late" 'ann,03-loop,c1,2027-03-02T22:00:01Z,2027-03-03T08:00:00Z,13,15,2,20,10.4,' "$(line --policy "$d/policy" --regrade "$d/regrade" "$d/a.json")"
want "in time, with a name that a spreadsheet would compute" "\"'=bob, \"\"B\"\"\",03-loop,c1,2027-03-01T21:59:59Z,2027-03-03T08:00:00Z,10,15,0,0,10," \
  "$(line --policy "$d/policy" "$d/b.json")"
sed 's/"ann"/"carl"/' "$d/a.json" > "$d/c.json"
want "two free days" 'carl,03-loop,c1,2027-03-02T22:00:01Z,2027-03-03T08:00:00Z,10,15,2,0,10,' "$(line --policy "$d/policy" "$d/c.json")"
sed 's/2027-03-02T/2027-03-09T/' "$d/a.json" > "$d/e.json"
want "later than is taken" 'ann,03-loop,c1,2027-03-09T22:00:01Z,2027-03-03T08:00:00Z,10,15,9,100,0,' "$(line --policy "$d/policy" "$d/e.json")"
submitted() { sed "s/2027-03-02T22:00:01Z/$1/" "$d/a.json" > "$d/at.json"; line --policy "$d/policy" "$d/at.json" | cut -d, -f8-10; }
want "when it was due" '0,0,10' "$(submitted 2027-03-01T22:00:00Z)"
want "a second later" '1,10,9' "$(submitted 2027-03-01T22:00:01Z)"
want "in the last second of the last late day" '3,30,7' "$(submitted 2027-03-04T22:00:00Z)"
want "a second after it" '4,100,0' "$(submitted 2027-03-04T22:00:01Z)"
sed 's/2027-03-02T22:00:01Z/2027-03-06T22:00:00Z/' "$d/c.json" > "$d/at.json"
want "all free days and all late days" '5,30,7' "$(line --policy "$d/policy" "$d/at.json" | cut -d, -f8-10)"
printf 'ann\t04-cache\tkept\t3\tanother lab\nbob\t03-loop\tkept\t3\tanother student\nann\t04-cache\tpool\t3\tno test of this lab\n' > "$d/other"
want "regraded in another lab" 'ann,03-loop,c1,2027-03-02T22:00:01Z,2027-03-03T08:00:00Z,10,15,0,0,10,' "$(line --regrade "$d/other" "$d/a.json")"
for c in - + = @; do
  sed "s/\"ann\"/\"${c}1\"/; s/\"c1\"/\"a${c}1\"/" "$d/a.json" > "$d/f.json"
  want "a name that begins with $c" "'${c}1,03-loop,a${c}1" "$(line "$d/f.json" | cut -d, -f1-3)"
done
want "autolab's scores" '{"scores":{"greedy":10.0,"kept":0.0},"scoreboard":[10.0]}' "$(cat "$d/autolab.out")"
# refusals
printf 'due\t03-loop\tnext Monday\n' > "$d/bad"
! rec csv --policy "$d/bad" "$d/a.json" > /dev/null 2> "$d/err" || fault "a time that is none is taken"
grep -q 'next Monday is no time' "$d/err" || fault "the time that is none is not named"
printf 'ann\t03-loop\tgone\t3\twhy\n' > "$d/bad"
! rec csv --regrade "$d/bad" "$d/a.json" > /dev/null 2>&1 || fault "points for a test that is not there are taken"
echo '{}' > "$d/bad"; ! rec csv "$d/bad" > /dev/null 2>&1 || fault "an empty record is taken"
! rec moodle "$d/a.json" > /dev/null 2>&1 || fault "an unknown format is taken"
plant() { # WHAT, and a command of sed that changes course/record.c
  sed "$2" course/record.c > "$d/planted.c"
  ! cmp -s "$d/planted.c" course/record.c || { fault "this fault has no place in course/record.c: $1"; return; }
  ${CC:-cc} -std=c11 -O1 -w "$d/planted.c" -o "$d/planted" -ljansson
  ! RECORD="$d/planted" sh tests/checks/records.sh > /dev/null 2>&1 || fault "nobody notices: $1"
}
if [ -z "${RECORD:-}" ]; then
  plant "the last late day is too late" 's/costly > most/costly >= most/'
  plant "a day begins a second too late" 's/handed - due + 86399/handed - due + 86398/'
  plant "who hands in when it is due is late" 's/handed > due)/handed >= due)/; s/due + 86399/due + 86400/'
  plant "free days come on top of the last day" 's/costly > most/v->days_late > most/'
  plant "a row of another lab regrades" 's/ || strcmp(field\[1\], text_of(record, "lab")) != 0) continue/) continue/'
  plant "a row of another student regrades" 's/strcmp(field\[0\], text_of(record, "student")) != 0 || //'
  plant "a minus is no formula" 's/"=+-@"/"=+@"/'
  plant "a plus is no formula" 's/"=+-@"/"=-@"/'
fi
[ $bad = 0 ] && echo "records: three formats fit, the points and the days come out"
