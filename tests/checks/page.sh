#!/bin/sh
# page.sh -- the page of incipit serve in a headless Chromium (page.py says what is looked at). PICTURES=FOLDER puts pictures of it there.
set -eu
build=${BUILD:-build}
python=${PYTHON:-python3}
command -v "$python" > /dev/null || { echo "NOT RUN: the page of the server, for there is no python3"; exit 77; }
for c in "${CHROMIUM:-}" chromium chromium-browser google-chrome ''; do [ -z "$c" ] || ! command -v "$c" > /dev/null || break; done
[ -n "$c" ] || { echo "NOT RUN: the page of the server, for there is no Chromium"; exit 77; }
! "$build/incipit" serve -m /nowhere 2>&1 | grep -q 'without libmicrohttpd' || { echo "NOT RUN: the page of the server, for this program has no server"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 "$python" tests/checks/page.py "$build/incipit" "$c" ${PICTURES:-}
