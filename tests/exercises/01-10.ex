==== check
# the first article of the Universal Declaration of Human Rights in four languages, by this book's vocabulary
set -e
printf 'All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood.\n' > $BUILD/english.txt
printf 'Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.\n' > $BUILD/german.txt
printf 'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.\n' > $BUILD/greek.txt
printf 'Все люди рождаются свободными и равными в своем достоинстве и правах.\n' > $BUILD/russian.txt
said=$(sh "$1" $BUILD/english.txt $BUILD/german.txt $BUILD/greek.txt $BUILD/russian.txt)
for l in english german greek russian; do
  f=$BUILD/$l.txt b=$(wc -c < $f) w=$(wc -w < $f) t=$(build/incipit tokenize --count -f $f)
  echo "$said" | grep -q "^$f $(awk -v b=$b -v w=$w -v t=$t 'BEGIN { printf "%.2f %.2f", b / t, t / w }')\$"
done
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
