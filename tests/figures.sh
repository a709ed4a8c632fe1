#!/bin/sh
# figures.sh -- are the figures drawn from their data?  All are drawn as they are, and again with one value of a CSV changed
# for each (the k-th file of each figure in round k); every figure must look different.  A picture without data is named.
set -eu
tmp=$(mktemp -d "${TMPDIR:-/tmp}/figures.XXXXXX"); trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/build"
cp -r macros figures figures.tex "$tmp/"; cp -r build/data build/values build/values.tex "$tmp/build/"
[ ! -d build/texmf ] || cp -r build/texmf "$tmp/build/"
ls figures/*.tex | sed 's|figures/\(.*\)\.tex|\\figurepage{\1}|' > "$tmp/build/figures.list"
names=$(sed 's/.*{\(.*\)}/\1/' "$tmp/build/figures.list")
data() { grep -oh '\(build/data\|figures/data\)/[A-Za-z0-9._-]*\.csv' "figures/$1.tex" | awk '!seen[$0]++'; }
draw() { # NAME: one PNG a figure
  ( cd "$tmp" && TEXMFVAR=$tmp/build/texmf TEXINPUTS=macros:.: lualatex -interaction=batchmode -halt-on-error -output-directory=build figures.tex > /dev/null ) \
    || { tail -25 "$tmp/build/figures.log"; exit 1; }
  mkdir "$tmp/$1"; pdftoppm -r 110 -png "$tmp/build/figures.pdf" "$tmp/$1/p"
}
change() { # FILE: the last number of the line in the middle
  awk -F, -v OFS=, 'FNR == NR { if ($0 !~ /^#/) n++; next } /^#/ { print; next } { k++ }
    k == int((n + 3) / 2) { for (i = NF; i > 0; i--) if ($i ~ /^-?[0-9.]+([eE][-+]?[0-9]+)?$/) { $i = $i ~ /[.eE]/ ? $i * 1.5 + .1 : int($i * 1.5) + 2; break } } { print }' "$1" "$1" > "$1.new"
  mv "$1.new" "$1"
}
[ -z "${KEEP:-}" ] || trap - EXIT
draw as-is
bad=0; tested=0; k=1
while :; do
  chosen=""
  for f in $names; do
    d=$(data "$f" | sed -n "${k}p")
    [ -z "$d" ] || { chosen="$chosen $f:$d"; }
  done
  [ -n "$chosen" ] || break
  for d in $(printf '%s\n' $chosen | cut -d: -f2 | sort -u); do cp "$d" "$tmp/$d"; change "$tmp/$d"; done
  draw "round-$k"
  for c in $chosen; do
    f=${c%%:*}; n=$(printf '%s\n' $names | grep -nx "$f" | cut -d: -f1); tested=$((tested + 1))
    a=$(ls "$tmp"/as-is/p-*.png | sed -n "${n}p"); b=$(ls "$tmp/round-$k"/p-*.png | sed -n "${n}p")
    if cmp -s "$a" "$b"; then echo "$f: does not notice a change in ${c#*:}"; bad=$((bad + 1)); fi
  done
  for d in $(printf '%s\n' $chosen | cut -d: -f2 | sort -u); do cp "$d" "$tmp/$d"; done
  k=$((k + 1))
done
for f in $names; do [ -n "$(data "$f")" ] || echo "$f: has no data"; done
echo "$tested figures with data, $bad do not notice"; [ "$bad" = 0 ]
