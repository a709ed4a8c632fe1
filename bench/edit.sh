#!/bin/sh
# edit.sh [WEB [CHAPTER]] -- how long a changed word takes to be seen: a word of WEB (chapters/04-cache.w) is changed, then the chapter
# is set alone (make chapter-04), then its whole volume (make book's first PDF); the word is put back and all is set again.
# Prints seconds.  The book must have been built before.
set -eu
web=${1:-chapters/04-cache.w} no=${2:-04}
[ -f build/incipit.pdf ] || { echo "edit.sh: there is no build/incipit.pdf; make book first" >&2; exit 1; }
j=-j$(getconf _NPROCESSORS_ONLN)
make "$j" book > /dev/null
cp -p "$web" build/edit.w
trap 'cp -p build/edit.w "$web"; touch "$web"; make "$j" build/incipit.pdf > /dev/null' EXIT
seconds() { # WHAT TARGET
  from=$(date +%s.%N); make "$j" "$2" > /dev/null; to=$(date +%s.%N)
  awk -v what="$1" -v a="$from" -v b="$to" 'BEGIN { printf "%-44s %5.1f s\n", what, b - a }'
}
awk '!done && sub(/\. The /, ". This ") { done = 1 } 1' build/edit.w > "$web"
cmp -s build/edit.w "$web" && { echo "edit.sh: no word to change in $web" >&2; exit 1; }
seconds "a word changed: the chapter alone" "chapter-$no"
seconds "the volume" build/incipit.pdf
