#!/bin/sh
# measure.sh [short] -- rewrites every measured file: figures/data/CHAPTER.WORD.csv is what the chapter's program prints for
# WORD, behind lines that say how, by which build, when rounds are many, and on which machine.  With "short" it writes into
# build/measured instead, and the columns and the direction of each effect are compared with the committed file.
# ONLY=CHAPTER: the files of one chapter alone.
set -eu
out=figures/data; [ "${1:-}" != short ] || out=build/measured
mkdir -p "$out"
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -1)
l3=$(sed -n 's/K$//p' /sys/devices/system/cpu/cpu0/cache/index3/size 2>/dev/null) || l3=0
flags=$(sed -n 's/^flags[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -1 | tr ' ' '\n' | grep -E '^(avx2|avx512f)$' | sort | tr '\n' ' ')
bad=0
while read -r chapter word rising; do
  [ "$chapter" = "${ONLY:-$chapter}" ] || continue
  program=build/bin/laboratory/$chapter; [ -x "$program" ] || program=build/bin/$chapter
  [ -x "$program" ] || continue
  f=$out/$chapter.$word.csv
  { echo "# command: $program $word (make measure)"
    echo "# build: $(sed -n 's/.*{\([0-9a-f]*\)}.*/\1/p' build/buildid.tex 2>/dev/null)"
    echo "# machine: ${machine:-unknown}, $(getconf _NPROCESSORS_ONLN) cores, L3 $((${l3:-0} >> 10)) MiB, ${flags}one thread"
    echo "# values: median and quartiles over the rounds that the program's source names"
    "$program" "$word"; } > "$f.new"
  mv "$f.new" "$f"
  if [ "$out" = build/measured ]; then
    old=figures/data/$chapter.$word.csv
    [ "$(grep -v '^#' "$f" | head -1)" = "$(grep -v '^#' "$old" | head -1)" ] || { echo "$old: other columns than the program prints now"; bad=1; }
    # the effect: the quotient of these two columns rises from the first line to the last
    grep -v '^#' "$f" | awk -F, -v r="$rising" -v f="$old" '
      NR == 1 { split(r, c, "/"); for (i = 1; i <= NF; i++) at[$i] = i; next }
      { q = $at[c[1]] / $at[c[2]]; if (NR == 2) first = q; last = q }
      END { if (!(last > first)) { print f ": " r " does not rise on this machine: " first " to " last; exit 1 } }' || bad=1
  fi
  echo "$f"
done < tools/measured.tsv
exit $bad
