#!/bin/sh
# living.sh [short|mutants] -- the engine for a browser: that fmaf is exact there, that the same sources give the same bytes, that it is not
# too large, and that a page gets the bits of this machine: three texts of 64 steps, with the cache and without, what the command
# traces, and what branches, in node and in Chromium.  With mutants: faults planted in what is only compiled for WebAssembly.
# What is not here is skipped by its name.
set -eu
build=${BUILD:-build}; dir=$build/wasm/check; mkdir -p "$dir"
make=${MAKE:-make}
for c in clang-19 wasm-ld-19 node; do command -v $c >/dev/null 2>&1 || { echo "NOT RUN: no $c here (./setup --wasm)"; exit 77; }; done
[ -f /usr/lib/wasm32-wasi/libc.a ] || { echo "NOT RUN: no wasi-libc here (./setup --wasm)"; exit 77; }
[ -f "$(clang-19 --target=wasm32-wasi -print-libgcc-file-name)" ] || { echo "NOT RUN: no libclang-rt-19-dev-wasm32 here (./setup --wasm)"; exit 77; }
[ "$build" = build ] || { echo "NOT RUN: only of the plain build"; exit 77; }
say() { echo "living: $*"; }
bad() { echo "living: $*" >&2; exit 1; }
# what a program says, which ends the check if it fails; within the words of say its status would be lost
asked() { # NAME COMMAND...
  who=$1; shift
  "$@" > "$dir/said" || bad "$who: $(cat "$dir/said")"
  say "$who: $(cat "$dir/said")"
}
$make --no-print-directory -s -j2 build/living.wasm build/wasm/try_living build/wasm/try_fmaf.wasm build/wasm/try_libc.wasm build/wasm/try_split build/wasm/try_numbers build/wasm/try_numbers.wasm build/incipit > "$dir/make.log" 2>&1 || { tail -20 "$dir/make.log"; exit 1; }

# what the command traces of the script's six texts
traces() {
  : > "$dir/traces.jsonl"
  for p in 'The cat sat|0|0' 'Once upon a time there was a kingdom|3|2' 'def add(a, b):
    return|5|3'; do
    text=${p%%|*} head=${p#*|}
    for cache in true false; do
      c=; [ $cache = false ] || c=--cache
      t=$(build/incipit trace "$text" -n 64 $c --attention "${head%|*}.${head#*|}" --json)
      printf '%s' "$text" | node -e 'const [c, l, h, t] = process.argv.slice(1); console.log(JSON.stringify({ prompt: require("fs").readFileSync(0, "utf8"), cache: c === "true", layer: +l, head: +h, trace: JSON.parse(t) }))' \
        $cache "${head%|*}" "${head#*|}" "$t" >> "$dir/traces.jsonl"
    done
  done
}
script=tests/checks/living.txt
if [ "${1:-}" != mutants ]; then
  # fmaf, and the C library's, which must fail
  node wasm/run.mjs build/wasm/try_fmaf.wasm > "$dir/fmaf.txt" || { cat "$dir/fmaf.txt"; exit 1; }
  say "fmaf: $(tail -1 "$dir/fmaf.txt")"
  if node wasm/run.mjs build/wasm/try_libc.wasm > "$dir/libc.txt"; then bad "the C library's fmaf is exact by now: ours is not needed"; fi
  say "the C library's: $(tail -1 "$dir/libc.txt")"
  # the functions of numbers
  [ "$(node wasm/run.mjs build/wasm/try_numbers.wasm)" = "$(build/wasm/try_numbers)" ] || bad "the functions of numbers.h give other bits"
  # the cutter of texts
  build/wasm/try_split > "$dir/split.txt" || { cat "$dir/split.txt"; exit 1; }
  say "cutter: $(tail -1 "$dir/split.txt")"
  # the same bytes twice, in another folder; it compiles everything, which a short check leaves out
  if [ "${1:-}" != short ]; then
  rm -rf "$dir/again"; mkdir -p "$dir/again"
  $make --no-print-directory -s -j2 WASM="$dir/again" "$dir/again/living.wasm" > "$dir/make.log" 2>&1 || { tail -20 "$dir/make.log"; exit 1; }
  cmp build/living.wasm "$dir/again/living.wasm" || bad "the same sources give other bytes"
  say "sha256 $(sha256sum < build/living.wasm | cut -c1-64), twice"
  rm -rf "$dir/again"
  fi
  # how large, less what is the model's
  all=$(gzip -9nc build/living.wasm | wc -c); weights=$(gzip -9nc build/wasm/made/weights.bin | wc -c)
  [ $((all - weights)) -le 563200 ] || bad "the engine is $((all - weights)) bytes compressed, without the weights; wanted: at most 550 KiB"
  say "$((all - weights)) bytes compressed, and $weights of weights"
fi
traces
build/wasm/try_living $script > "$dir/lines.jsonl"
if [ "${1:-}" = mutants ]; then exec sh tests/checks/living_mutants.sh "$dir"; fi
export PYTHONDONTWRITEBYTECODE=1
asked node node tests/checks/living.mjs build/living.wasm $script "$dir/lines.jsonl" "$dir/traces.jsonl"
python=${PYTHON:-python3}
if "$python" -c 'import wasmtime' 2> /dev/null; then
  asked wasmtime "$python" tests/checks/living_wasmtime.py build/living.wasm $script "$dir/lines.jsonl"
else echo "NOT RUN: the engine in wasmtime, for $python has no module of the name"; fi
# a browser
for c in "${CHROMIUM:-}" chromium chromium-browser google-chrome ''; do [ -z "$c" ] || ! command -v "$c" > /dev/null || break; done
if [ -z "$c" ] || ! command -v "$python" > /dev/null; then echo "NOT RUN: the engine in a browser, for there is no Chromium or no python3"; exit 0; fi
asked Chromium "$python" tests/checks/living.py "$c" build/living.wasm $script "$dir/lines.jsonl" "$dir/traces.jsonl" "$dir/page.html"
