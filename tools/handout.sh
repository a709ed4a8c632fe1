#!/bin/sh
# handout.sh NAME -- build/labs/NAME/handout.pdf, typeset from the chapter as the lab's skeleton has it (after lab.sh NAME, and after the book:
# its numbers, figures and references are those of the last build)
set -eu
name=$1 root=$PWD tmp=build/labs/$1.tmp
[ -f "course/$name/handout.tex" ] || { echo "handout.sh: there is no course/$name/handout.tex" >&2; exit 1; }
web=$(ls "$tmp"/skeleton/*.w)
chapter=$(basename "$web" .w); chapter=${chapter%%-*}
( cd "$tmp" && CWEBINPUTS=".:$root:$root/chapters" cweave "skeleton/$(basename "$web")" - woven.tex > cweave.log 2>&1 ) || # sections of the program that is gone are not used
  ! grep -v 'Never used' "$tmp/cweave.log" | grep '^!' >&2 || exit 1
texlua tools/fixutf8.lua "$tmp/woven.tex" "$web"
texlua tools/handout.lua "$name" "$tmp/woven.tex" "$tmp" "$chapter"
for pass in first second; do
  TEXINPUTS=macros:.: lualatex -interaction=batchmode -halt-on-error -output-directory="$tmp" -jobname=handout "\\input{$tmp/facts}\\input{handout}" > /dev/null ||
    { grep -A3 '^!' "$tmp/handout.log" >&2; exit 1; }
done
! grep -E 'Missing character|Reference .* undefined' "$tmp/handout.log" >&2 || exit 1
mv "$tmp/handout.pdf" "build/labs/$name/handout.pdf"
