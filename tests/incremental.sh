#!/bin/sh
# incremental.sh -- a changed chapter is tangled, woven, compiled and run again, and nothing that does not depend on it.
# What is asked about is made first; then make is only asked what it would do (-n) if a chapter, or a file that was tangled from it, had changed (-W).
set -u
bad=0
would() { make -s -n --no-print-directory "$@" 2>/dev/null; }
has() { case $2 in *"$1"*) ;; *) echo "nothing would do: $1"; bad=1;; esac; }
no() { case $2 in *"$1"*) echo "needless: $1"; bad=1;; esac; }
make -s build/bin/02-model build/bin/03-loop build/values/02-model.val build/values/03-loop.val build/woven/02-model.tex build/woven/03-loop.tex >/dev/null 2>&1
o=$(would -W chapters/03-loop.w tangle build/woven/03-loop.tex build/woven/02-model.tex)
has "tools/weave.sh chapters/03-loop.w" "$o"; no "tools/weave.sh chapters/02-model.w" "$o"; no "tools/tangle.sh chapters/02-model.w" "$o"
o=$(would -W tangled/03-loop/loop.c build/bin/03-loop build/bin/02-model build/values/02-model.val build/values/03-loop.val)
has "-c tangled/03-loop/loop.c" "$o"; has "build/bin/03-loop values" "$o"
no "-c tangled/02-model/" "$o"; no "-o build/bin/02-model" "$o"; no "build/bin/02-model values" "$o"
o=$(would -W tangled/00-ground/ground.h build/bin/03-loop)
has "-c tangled/03-loop/loop.c" "$o"; has "-c tangled/00-ground/ground.c" "$o"
exit $bad
