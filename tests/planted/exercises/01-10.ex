==== check
# a text in four languages, of sentences that are drawn anew: bytes per token and tokens per word, by this book's vocabulary
texts=
draw() { # NAME SENTENCE...
  name=$work/scratch/$1.txt; shift; texts="$texts $name"; : > $name
  for s in "$@"; do [ "$(pick 0 2)" = 0 ] || echo "$s" >> $name; done; echo "$1" >> $name
}
draw english 'All human beings are born free and equal in dignity and rights.' 'They are endowed with reason and conscience.' 'Should they act in a spirit of brotherhood?' 'Everyone has the right to life.' 'No one shall be held in slavery.'
draw german 'Alle Menschen sind frei und gleich an Würde und Rechten geboren.' 'Sie sind mit Vernunft und Gewissen begabt.' 'Jeder hat das Recht auf Leben.' 'Niemand darf in Sklaverei gehalten werden.'
draw greek 'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι.' 'Κάθε άτομο έχει δικαίωμα στη ζωή.' 'Κανείς δεν επιτρέπεται να ζει υπό καθεστώς δουλείας.'
draw russian 'Все люди рождаются свободными и равными.' 'Каждый человек имеет право на жизнь.' 'Никто не должен содержаться в рабстве.'
mv $work/scratch/greek.txt $work/scratch/$(pick 1000 9999).txt; texts=$(cd $work/scratch && set +f && for f in *.txt; do echo $work/scratch/$f; done)
right=$(for f in $texts; do awk -v f=$f -v b=$(wc -c < $f) -v w=$(wc -w < $f) -v t=$($build/incipit tokenize --count -f $f) 'BEGIN { printf "%s %.2f %.2f\n", f, b / t, t / w }'; done)
script $texts > $work/said || no "the script ended with a status that is not 0"
while read -r line; do grep -qxF "$line" $work/said || no "a line is missing: $line"; done <<T
$right
T
==== answer
#!/bin/sh
# for each file: its name, bytes per token and tokens per word, with two decimals
for f in "$@"; do
  bytes=$(wc -c < "$f") words=$(wc -w < "$f") tokens=$(build/incipit tokenize --count -f "$f")
  awk -v f="$f" -v b="$bytes" -v w="$words" -v t="$tokens" 'BEGIN { printf "%s %.2f %.2f\n", f, b / t, t / w }'
done
==== wrong
#!/bin/sh
# characters instead of bytes
for f in "$@"; do
  bytes=$(LC_ALL=C.UTF-8 wc -m < "$f") words=$(wc -w < "$f") tokens=$(build/incipit tokenize --count -f "$f")
  awk -v f="$f" -v b="$bytes" -v w="$words" -v t="$tokens" 'BEGIN { printf "%s %.2f %.2f\n", f, b / t, t / w }'
done
==== skeleton
#!/bin/sh
# for each file: its name, bytes per token and tokens per word, with two decimals
for f in "$@"; do
  echo "$f 0.00 0.00"
done
