#!/bin/sh
# incremental.sh -- a changed chapter is tangled, woven, compiled and run again, and nothing that does not depend on it.
# What is asked about is made first; then make is only asked what it would do (-n) if a chapter, or a file that was tangled from it, had changed (-W).
set -u
bad=0
would() { make -s -n --no-print-directory "$@" 2>/dev/null; }
has() { case $2 in *"$1"*) ;; *) echo "nothing would do: $1"; bad=1;; esac; }
no() { case $2 in *"$1"*) echo "needless: $1"; bad=1;; esac; }
make -s build/bin/model build/bin/laboratory/loop build/values/model.val build/values/loop.val build/woven/model.tex build/woven/loop.tex >/dev/null 2>&1
o=$(would -W chapters/03-loop.w tangle build/woven/loop.tex build/woven/model.tex)
has "tools/weave.sh chapters/03-loop.w" "$o"; no "tools/weave.sh chapters/02-model.w" "$o"; no "tools/tangle.sh chapters/02-model.w" "$o"
o=$(would -W tangled/loop/generate.c build/bin/laboratory/loop build/bin/model build/values/loop.val)
has "-c tangled/loop/generate.c" "$o"; has "build/bin/laboratory/loop values" "$o"
no "-c tangled/model/" "$o"; no "-o build/bin/model" "$o"
o=$(would -W tangled/ground/ground.h build/bin/laboratory/loop)
has "-c tangled/loop/generate.c" "$o"; has "-c tangled/ground/memory.c" "$o"
exit $bad
