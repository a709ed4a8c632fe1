#!/bin/sh
# living_page.sh -- the living figures in a headless Chromium (living_page.py says what is looked at). PICTURES=FOLDER puts pictures of them there.
set -eu
build=${BUILD:-build} python=${PYTHON:-python3} page=build/living.html
command -v "$python" > /dev/null || { echo "NOT RUN: the living figures, for there is no python3"; exit 77; }
for c in "${CHROMIUM:-}" chromium chromium-browser google-chrome ''; do [ -z "$c" ] || ! command -v "$c" > /dev/null || break; done
[ -n "$c" ] || { echo "NOT RUN: the living figures, for there is no Chromium"; exit 77; }
if [ ! -f "$page" ]; then
  for t in clang-19 wasm-ld-19; do command -v $t > /dev/null || { echo "NOT RUN: the living figures, for there is no $t (./setup --wasm)"; exit 77; }; done
fi
${MAKE:-make} -s living "$build/bin/laboratory/demonstration" > /dev/null || { echo "make living could not make the living figures"; exit 1; }
PYTHONDONTWRITEBYTECODE=1 "$python" tests/checks/living_page.py "$build/incipit" "$c" "$page" ${PICTURES:-}
