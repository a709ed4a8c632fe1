#!/bin/sh
# profile.sh -- where the time of a pass goes, for some rows of the table of peers.py: Linux' perf samples build/incipit while it
# measures itself, and the samples are counted by what the function is for.  Writes figures/data/profile.csv; the models are those
# that peers.sh has made.  The program's own probes and what it does at the start are left out.
set -eu
models=build/peers/models out=figures/data/profile.csv incipit=${INCIPIT:-build/incipit}
command -v perf > /dev/null || { echo "profile.sh: NOT RUN: there is no perf here (Debian: linux-perf)" >&2; exit 77; }
part=$(mktemp) data=$(mktemp)
trap 'rm -f "$part" "$data"' EXIT
{ echo "# command: bench/profile.sh (make profile)"
  echo "# machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, one thread"
  echo "# values: percent of the samples in matrices, packing and rounding, attention, the other kernels, the system"
  echo "row,multiply,pack,attend,small,system"
} > "$part"
profile() { # ROW MODEL OPTION...
  row=$1 model=$models/$2; shift 2
  [ -e "$model" ] || { echo "profile.sh: there is no $model; make peers" >&2; exit 1; }
  perf record -q -F 999 -o "$data" "$incipit" bench -m "$model" -t 1 -d 0 -r 4 -o json -q "$@" > /dev/null
  perf report -q -i "$data" --stdio --sort dso,sym 2> /dev/null | awk -v row="$row" '
    $1 !~ /%/ { next }
    { of = $1 + 0 }
    /\[kernel/ { system_ += of; all += of; next }
    /probe_|roofline|gguf|tokenizer|name_place|json|libc|ld-linux|\[unknown\]/ { next }
    { all += of }
    /packed_tile|few_rows|int8_outputs|int8_part|stored_outputs|linear_many/ { multiply += of; next }
    /pack_strip|by_panels|linear_part|fill_panel|int8_round/ { pack += of; next }
    /attend|value_chains|pack_positions|score/ { attend += of; next }
    { small += of }
    END { printf "\"%s\",%.0f,%.0f,%.0f,%.0f,%.0f\n", row, 100 * multiply / all, 100 * pack / all, 100 * attend / all, 100 * small / all, 100 * system_ / all }' >> "$part"
}
profile "prefill 512, 110M F32" 110M-f32 -p 512 -n 0
profile "prefill 512, 110M BF16" 110M-bf16 -p 512 -n 0
profile "prefill 512, 1.1B Q8_0" 1.1B-q8_0.gguf -p 512 -n 0
profile "decode 110M F32" 110M-f32 -p 0 -n 64
profile "decode 110M BF16" 110M-bf16 -p 0 -n 64
profile "decode 110M Q8_0" 110M-q8_0.gguf -p 0 -n 64
profile "decode 1.1B Q4_0" 1.1B-q4_0.gguf -p 0 -n 32
profile "decode 1.1B Q4_K" 1.1B-q4_k.gguf -p 0 -n 32
cat "$part" > $out
cat $out
