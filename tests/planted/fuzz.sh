#!/bin/sh
# fuzz.sh replay | campaign [MOST [IDLE]] | proof | seeds | unpack | pack TARGET FOLDER -- the fuzzers of the parsers.
# A corpus is one archive, tests/planted/fuzz/corpus/TARGET.tar.gz: the same inputs give the same bytes.  It is unpacked in build/fuzz/corpus/TARGET.
# replay: every target over its committed corpus, with the coverage of the parser's file where gcov is there (no clang needed)
# campaign: libFuzzer on every target (TARGET="a b": on those) until IDLE seconds (600) went by without a new edge, MOST seconds (1200) at most;
# KEEP=1 puts what is worth keeping into the corpus, and the last log beside it.  proof: a fault of tests/planted/fuzz/planted.txt (FILE and TARGET, in
# the notation of tests/planted/mutants) is found within a minute, beginning with the corpus.
set -eu
build=${BUILD:-build}; out=$build/fuzz corpus=$build/fuzz/corpus; mkdir -p "$out"
targets="line probe tokenizer vocabulary tensors gguf quantize config stream merges constraint sampling stops request framing settings jinja listing"
libs=${LIBS:-"-ljansson -lpcre2-8 -lutf8proc -pthread -lm $(pkg-config --libs libmicrohttpd 2>/dev/null || :) $(pkg-config --libs libcurl 2>/dev/null || :)"}
base="-std=c11 -g -ffp-contract=off -Itangled -Iunwoven -Iprogram -Itests/planted/fuzz"
wrap="-Wl,--wrap=file_map,--wrap=file_unmap"
! pkg-config --exists libmicrohttpd 2>/dev/null || base="$base -DINCIPIT_HTTP"
! pkg-config --exists libcurl 2>/dev/null || base="$base -DINCIPIT_CURL"
# headers come from the target framing itself
headers="-Wl,--wrap=MHD_get_connection_values"
modules="$(ls program/*.c unwoven/living/read.c | grep -v -e main -e chat_edit)
  $(for m in ground safetensors gguf tokenizer families sentencepiece tokenizer-json tokens lookups constraints sampling stopping templates; do ls tangled/$m/*.c unwoven/$m/*.c 2>/dev/null || :; done)"
parsers="program/options.c program/json.c program/probe.c program/probe_request.c program/probe_sample.c program/serve_fields.c program/hub_list.c"
for p in tokenizer-json/tokenizer_json sentencepiece/sentencepiece sentencepiece/tiktoken sentencepiece/wire sentencepiece/pairs safetensors/safetensors safetensors/jsonfile gguf/gguf gguf/values gguf/format gguf/parts families/gguf_settings tokenizer/unigram tokenizer/charsmap tokenizer/added tokenizer-json/tekken tokenizer-json/gguf_patterns tokenizer-json/gguf_tokenizer tokenizer-json/alphabet tokenizer-json/fields tokenizer-json/words tokenizer-json/stages tokenizer-json/dialects tokenizer-json/around tokenizer-json/decoder families/config tokens/utf8 tokens/bpe tokens/lossy tokens/rules tokens/unique constraints/parser constraints/pattern constraints/grammar constraints/net constraints/nodes constraints/characters constraints/networks sampling/funnel stopping/stops living/read templates/jinja_attributes templates/jinja_chat templates/jinja_filters templates/jinja_format templates/jinja_functions templates/jinja_heap templates/jinja_letters templates/jinja_lex templates/jinja_names templates/jinja_operators templates/jinja_parse templates/jinja_print templates/jinja_run templates/jinja_tests templates/jinja_value; do parsers="$parsers $(ls tangled/$p.c unwoven/$p.c 2>/dev/null || :)"; done

limit=$build/limit
[ "$limit" -nt tests/checks/limit.c ] || ${CC:-cc} -std=c11 -O2 tests/checks/limit.c -o "$limit"

# the parsers and what they stand on, watched by libFuzzer; model and kernels come from the library as it is
instrumented() { # SOURCE OBJECT
  clang $base -O1 -w -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -c "$1" -o "$2"
}
engine() {
  [ -z "$(find tangled unwoven program tests/planted/fuzz -name '*.h' -newer "$out/obj/stamp" 2>/dev/null)" ] || rm -rf "$out/obj"
  mkdir -p "$out/obj"; watched=
  for f in $modules tests/planted/fuzz/exact.c; do
    o=$out/obj/$(echo "$f" | tr / _).o
    [ "$o" -nt "$f" ] || instrumented "$f" "$o"
    watched="$watched $o"
  done
  touch "$out/obj/stamp"
}
fuzzer() { # TARGET [OBJECT TO LEAVE OUT, OBJECT TO TAKE]
  objects=$watched
  case $1 in framing) own=$headers ;; *) own= ;; esac
  [ $# -lt 3 ] || objects="$(echo "$objects" | tr ' ' '\n' | grep -v "/$2\$") $3"
  clang $base -O1 -w -DFUZZ_ENTRY -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all tests/planted/fuzz/$1.c $objects "$build/libprogram.a" "$build/libmodules.a" $wrap $own $libs -o "$out/${4:-fuzz-$1}"
}
# sorted, without times and owners
pack() { # TARGET FOLDER
  mkdir -p tests/planted/fuzz/corpus
  (cd "$2" && find . -type f | sed 's|^\./||' | LC_ALL=C sort |
    tar --no-recursion --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 --format=gnu -T - -cf -) |
    gzip -9n > tests/planted/fuzz/corpus/$1.tar.gz
}
unpack() { # TARGET...: brings $corpus/TARGET up to date
  for u in "$@"; do
    mkdir -p "$corpus"
    [ -f tests/planted/fuzz/corpus/$u.tar.gz ] || { mkdir -p "$corpus/$u"; continue; }
    ! cmp -s tests/planted/fuzz/corpus/$u.tar.gz "$corpus/$u.tar.gz" || [ ! -d "$corpus/$u" ] || continue
    rm -rf "$corpus/$u" "$corpus/$u.tar.gz"; mkdir "$corpus/$u"
    tar -xzf tests/planted/fuzz/corpus/$u.tar.gz -C "$corpus/$u"
    cp tests/planted/fuzz/corpus/$u.tar.gz "$corpus/"
  done
}
need_clang() { command -v clang >/dev/null 2>&1 || { echo "NOT RUN: there is no clang here"; exit 77; }; }
FUZZ_ROOM=$(mktemp -d /dev/shm/fuzz.XXXXXX 2>/dev/null || mktemp -d "${TMPDIR:-/tmp}/fuzz.XXXXXX"); export FUZZ_ROOM
trap 'rm -rf "$FUZZ_ROOM"' EXIT
options="-max_len=9000 -timeout=10 -rss_limit_mb=1000 -dict=tests/planted/fuzz/words.dict"

case ${1:-replay} in
replay)
  covered=; gcov=; case ${CC:-cc} in *clang*) ;; *) command -v gcov >/dev/null 2>&1 && gcov=yes ;; esac
  rm -rf "$out/replay"; mkdir -p "$out/replay"
  for p in $parsers; do
    o=$out/replay/$(basename "$p" .c).o
    ${CC:-cc} $base -O0 ${gcov:+--coverage} -w -c "$p" -o "$o"; covered="$covered $o"
  done
  ${CC:-cc} $base -O1 -w ${gcov:+--coverage} tests/planted/fuzz/replay.c tests/planted/fuzz/exact.c $(for t in $targets; do echo tests/planted/fuzz/$t.c; done) $covered "$build/libprogram.a" "$build/libmodules.a" $wrap $headers $libs -o "$out/replay/replay"
  unpack $targets
  for t in $targets; do "$limit" 300 "$out/replay/replay" $t "$corpus/$t"/* || { echo "the corpus of $t is not survived"; exit 1; }; done
  rc=0
  if [ -n "$gcov" ]; then
    for p in $parsers; do
      # what writes is no parser
      # not counted: what writes, and what reads files of more lines than a fuzzer makes (ranks: 50,256 and more, check_scores has them)
      line=$(cd "$out/replay" && gcov -f -n "$(basename "$p" .c).o" 2>/dev/null | awk -v skip=" tokenizer_to_alphabet tokenizer_byte_to_unicode make_merge make_words make_description tokenizer_write learn_pairs pairs_by_id add_special_text add_special_series add_family gguf_pattern_of cuts_so " '
        /^Function/ { name = substr($2, 2, length($2) - 2); next } /^File/ { name = "" }
        name != "" && /^Lines executed:/ { split($0, f, /[:%]/); n = $NF; if (index(skip, " " name " ") == 0) { hit += f[2] * n / 100; all += n } name = "" }
        END { printf "%.1f %d", all ? 100 * hit / all : 0, all }')
      echo "$p: ${line% *} % of ${line#* } lines"
      awk -v x="${line% *}" 'BEGIN { exit !(x + 0 < 85) }' && { echo "$p: fewer than 85 % of the lines"; rc=1; }
    done
  else echo "coverage NOT RUN: no gcov for ${CC:-cc}"; fi
  exit $rc ;;
campaign)
  need_clang; engine; most=${2:-1200} idle=${3:-600}
  mkdir -p "$out/crashes" tests/planted/fuzz/log
  for t in ${TARGET:-$targets}; do
    fuzzer $t
    unpack $t; fresh=$out/new-$t; rm -rf "$fresh"; mkdir -p "$fresh"
    python3 tests/planted/fuzz/seeds.py "$out/seeds" 2>/dev/null; mkdir -p "$out/seeds/$t"
    "$limit" $((most + 300)) "$out/fuzz-$t" $options -max_total_time=$most -artifact_prefix="$out/crashes/$t-" "$fresh" "$corpus/$t" "$out/seeds/$t" > "$out/$t.log" 2>&1 & pid=$!
    # an edge is what libFuzzer counts as cov; when it has not risen for a while, the campaign is over
    edges=0 since=$(date +%s) began=$since ended="after $most s"
    while kill -0 $pid 2>/dev/null; do
      sleep 2; now=$(date +%s)
      n=$(grep -o ' cov: [0-9]*' "$out/$t.log" | tail -1 | tr -dc 0-9)
      [ "${n:-0}" -le $edges ] || { edges=$n; since=$now; }
      if [ $((now - since)) -ge $idle ]; then ended="after $idle s without a new edge"; kill -INT $pid 2>/dev/null || :; break; fi
    done
    rc=0; wait $pid || rc=$?
    [ $rc = 0 ] || [ $rc = 72 ] || [ $rc = 130 ] || { tail -40 "$out/$t.log"; echo "$t: FAILED, see $out/crashes"; exit 1; }
    rm -rf "$out/least-$t"; mkdir -p "$out/least-$t"
    "$limit" 3600 "$out/fuzz-$t" $options -merge=1 "$out/least-$t" "$corpus/$t" "$out/seeds/$t" "$fresh" > "$out/$t.merge" 2>&1
    runs=$(grep -oE '^#[0-9]+' "$out/$t.log" | tail -1 | tr -dc 0-9)
    { echo "$t: $runs runs in $((now - began)) s, ended $ended; $edges edges"; echo "$(ls "$out/least-$t" | wc -l) inputs, $(cat "$out/least-$t"/* | wc -c) bytes after merging, $(ls "$corpus/$t" | wc -l) before"
      clang --version | head -1; grep -E '^#[0-9]+[[:space:]]+(INITED|DONE)' "$out/$t.log" || true; grep -E '^#[0-9]+[[:space:]]+NEW' "$out/$t.log" | tail -1 | cut -c1-100; } > "$out/$t.summary"
    head -2 "$out/$t.summary"
    if [ -n "${KEEP:-}" ]; then
      cp "$out/$t.summary" tests/planted/fuzz/log/$t.txt
      pack $t "$out/least-$t"
    fi
  done ;;
proof)
  need_clang; engine; rm -f "$out"/clean-*
  bad=0
  texlua tools/ctokens.lua tests/planted/fuzz/planted.txt > "$out/planted.tsv"
  while read -r n file target; do
    unpack $target
    if ! [ -f "$out/clean-$target" ]; then  # as it is, the parser survives the corpus: what is found is what was planted
      fuzzer $target
      "$limit" 600 "$out/fuzz-$target" $options -runs=0 "$corpus/$target" > "$out/$target.log" 2>&1 < /dev/null || { tail -30 "$out/$target.log"; echo "$target: fails without a planted fault"; exit 1; }
      : > "$out/clean-$target"
    fi
    o=$(echo "$file" | tr / _).o
    mkdir -p "$out/planted"
    texlua tools/ctokens.lua tests/planted/fuzz/planted.txt "$n" > "$out/planted/$(basename "$file")" || { bad=1; continue; }
    instrumented "$out/planted/$(basename "$file")" "$out/planted/$o"
    fuzzer $target "$o" "$out/planted/$o" "planted-$target"
    mkdir -p "$out/planted/new"; began=$(date +%s)
    if "$limit" 300 "$out/planted-$target" $options -max_total_time=60 -artifact_prefix="$out/planted/" "$out/planted/new" "$corpus/$target" > "$out/planted/$target.log" 2>&1 < /dev/null; then
      echo "$n: NOT FOUND in 60 s ($file, $target)"; bad=1
    else echo "$n: found after $(($(date +%s) - began)) s ($file, $target)"; fi
    rm -rf "$out/planted/new"
  done < "$out/planted.tsv"
  [ $bad = 0 ] && echo "$(wc -l < "$out/planted.tsv") planted faults, all found" ;;
unpack) unpack ${TARGET:-$targets} ;;
pack) pack "$2" "$3" ;;
seeds) python3 tests/planted/fuzz/seeds.py "${2:-$out/seeds}" ;;
esac
