#!/bin/sh
# figures.sh -- are the figures drawn from their data?  All are drawn as they are, and again with one value of a CSV changed
# for each (the k-th file of each figure in round k), another value if that one is not drawn; every figure must look different.  A picture without data is named.
set -eu
limit=$PWD/${BUILD:-build}/limit; [ "$limit" -nt tests/checks/limit.c ] || ${CC:-cc} -std=c11 -O2 tests/checks/limit.c -o "$limit"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/figures.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/build"
cp -r macros figures figures.tex "$tmp/"; cp -r build/data build/values build/values.tex "$tmp/build/"
[ ! -d build/texmf ] || cp -r build/texmf "$tmp/build/"
ls figures/*.tex | sed 's|figures/\(.*\)\.tex|\\figurepage{\1}|' > "$tmp/build/figures.list"
names=$(sed 's/.*{\(.*\)}/\1/' "$tmp/build/figures.list")
data() { grep -oh '\(build/data\|figures/data\)/[A-Za-z0-9._-]*\.csv' "figures/$1.tex" | awk '!seen[$0]++'; }
draw() { # NAME: one PNG a figure
  ( cd "$tmp" && "$limit" 900 env TEXMFVAR="$tmp/build/texmf" TEXINPUTS=macros:.: lualatex -interaction=batchmode -halt-on-error -output-directory=build figures.tex > /dev/null ) \
    || { tail -25 "$tmp/build/figures.log"; exit 1; }
  mkdir "$tmp/$1"; pdftoppm -r 110 -png "$tmp/build/figures.pdf" "$tmp/$1/p"
}
change() { # FILE V: one number, in the line in the middle and the last column; for V > 0 another column, then another line; at last a word
  awk -F, -v OFS=, -v v="$2" 'BEGIN { split("4 1 7 0 4", eighth, " ") } FNR == NR { if ($0 !~ /^#/) n++; next } /^#/ { print; next } { k++ }
    k == 2 + int((n - 1) * eighth[1 + int(v / 6)] / 8) { seen = 0; if (v == 24) $NF = $NF "x"
      else for (i = NF; i > 0; i--) if ($i ~ /^-?[0-9.]+([eE][-+]?[0-9]+)?$/ && seen++ == v % 6) { $i = $i ~ /[.eE]/ ? $i * 1.5 + .1 : $i == 0 ? 1 : int($i * 1.5) + 2; break } } { print }' "$1" "$1" > "$1.new"
  mv "$1.new" "$1"
}
[ -z "${KEEP:-}" ] || trap - EXIT
draw as-is
tested=0; k=1; left=
while :; do # file number k of every figure, with one value changed after another until it is noticed
  left=$(for f in $names; do d=$(data "$f" | sed -n "${k}p"); [ -z "$d" ] || printf '%s\n' "$f:$d"; done)
  [ -n "$left" ] || break
  tested=$((tested + $(printf '%s\n' $left | wc -l)))
  for v in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
    [ -n "$left" ] || break
    files=$(printf '%s\n' $left | cut -d: -f2 | sort -u); still=
    for d in $files; do cp "$d" "$tmp/$d"; change "$tmp/$d" $v; done
    draw "round-$k-$v"
    for c in $left; do
      n=$(printf '%s\n' $names | grep -nx "${c%%:*}" | cut -d: -f1)
      a=$(ls "$tmp"/as-is/p-*.png | sed -n "${n}p"); b=$(ls "$tmp/round-$k-$v"/p-*.png | sed -n "${n}p")
      ! cmp -s "$a" "$b" || still="$still $c"
    done
    for d in $files; do cp "$d" "$tmp/$d"; done
    left=$still
  done
  for c in $left; do echo "${c%%:*}: does not notice a change in ${c#*:}"; echo x >> "$tmp/bad"; done
  k=$((k + 1))
done
bad=$(cat "$tmp/bad" 2>/dev/null | wc -l)
for f in $names; do [ -n "$(data "$f")" ] || echo "$f: has no data"; done
echo "$tested figures with data, $bad do not notice"; [ "$bad" = 0 ]
