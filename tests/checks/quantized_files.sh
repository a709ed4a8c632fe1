#!/bin/sh
# quantized_files.sh MODEL -- the sizes and perplexities of figures/data/quantization.files.csv: MODEL in each type
# reads what it has written itself in float32, with the activations that are the default of the type
set -eu
model=$1 b=${BUILD:-build}/incipit
room=$(mktemp -d); trap 'rm -r "$room"' EXIT
"$b" generate -q -m "$model" --prompt-ids 1 -n 511 --temperature 1 --seed 1 --num-sequences 8 > "$room/text"
sed -n '/^#/p' figures/data/quantization.files.csv
echo type,bytes,perplexity
for t in f32 f16 bf16 q8_0 q5_1 q5_0 q4_1 q4_0; do
  "$b" quantize -q -m "$model" --type $t --out "$room/x.gguf" > /dev/null
  "$b" perplexity -q "$room/text" -m "$room/x.gguf" --json | sed "s/.*\"perplexity\":\([0-9.]*\).*/\1/" \
    | awk -v t=$t -v n="$(wc -c < "$room/x.gguf")" '{ printf "%s,%d,%.6f\n", t, n, $1 }'
done
