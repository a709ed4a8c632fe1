#!/bin/sh
# numbers.sh N FILE -- does an answer consist of N numbers and nothing else (lines with # aside)?  N may be "pairs": two on each line.
awk -v n="$1" '
  !/^#/ { for (i = 1; i <= NF; i++) { all++; if ($i !~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/) bad = 1 }
    if (n == "pairs" && NF != 2) bad = 1 }
  END { exit bad || all == 0 || (n != "pairs" && all != n) }' "$2" || { echo "numbers are wanted ($1), and nothing else"; exit 1; }
