#!/bin/sh
# serve.sh -- incipit serve, judged from outside by ../shared/tools/servecheck: the openai client, raw sockets, curl, and answers compared with generate's
# and chat's. PYTHON: an interpreter that has the modules openai and requests. The group spec is served with guesses by lookup, and once more with those of the second model.
set -eu
build=${BUILD:-build}
python=${PYTHON:-python3}
judge=${SHARED:-../shared}/tools/servecheck/servecheck.py
[ -f "$judge" ] || { echo "NOT RUN: the judge of the server, for $judge is not here"; exit 77; }
command -v "$python" > /dev/null || { echo "NOT RUN: the judge of the server, for there is no $python"; exit 77; }
for m in openai requests; do
  "$python" -c "import $m" 2> /dev/null || { echo "NOT RUN: the judge of the server, for $python has no module $m"; exit 77; }
done
command -v curl > /dev/null || { echo "NOT RUN: the judge of the server, for there is no curl"; exit 77; }
! "$build/incipit" serve -m /nowhere 2>&1 | grep -q 'without libmicrohttpd' || { echo "NOT RUN: the judge of the server, for this program has no server"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
"$python" "$judge" --incipit "$build/incipit" --shared
"$python" "$judge" --incipit "$build/incipit" --shared --groups spec --draft models/draft
