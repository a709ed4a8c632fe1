#!/bin/sh
# cross.sh [short] -- the engine on ARM, without one: compiled for aarch64, where a warning is an error, and run under an emulator.  Every
# table gives the bits of this machine's (tests/checks/matrix.c); NEON's code has packed multiply-adds and calls none; the built-in model
# predicts a text with the same digits; the suites pass.  Wanted (Debian): gcc-aarch64-linux-gnu, qemu-user, and libraries for
# arm64, which come once as packages and are only unpacked, in build/aarch64/root.  SUITES: others than those below.
# "short": the suite of the kernels without its large shapes, no other, and no package is fetched.
set -eu
build=${BUILD:-build}; dir=$build/aarch64 bad=0 whole=yes
[ "${1:-}" != short ] || whole=
case $dir in /*) ;; *) dir=$PWD/$dir;; esac
root=$dir/root for=aarch64-linux-gnu
not_run() { echo "NOT RUN: $*"; exit 77; }
[ "$(uname -m)" != aarch64 ] || not_run "this machine has NEON itself, and make check tests it"
command -v $for-gcc >/dev/null || not_run "$for-gcc is not installed"
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || not_run "no emulator: qemu-user is not installed"
if [ ! -f "$root/complete" ]; then
  [ -n "$whole" ] || not_run "the libraries for arm64 are not here: make cross fetches them"
  rm -rf "$root"; mkdir -p "$root/apt/lists/partial" "$root/apt/archives/partial" "$root/apt/state"; : > "$root/apt/status"
  # lists and a state of its own: nothing is installed, and no rights are needed
  apt() { apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$root/apt/state" -o Dir::State::status="$root/apt/status" \
    -o Dir::State::lists="$root/apt/lists" -o Dir::Cache="$root/apt" -o APT::Sandbox::User= -o Debug::NoLocking=1 "$@"; }
  { apt update && apt -y -d --no-install-recommends install libc6-dev check libjansson-dev libpcre2-dev libutf8proc-dev libedit-dev; } > "$dir/apt.log" 2>&1 ||
    { cat "$dir/apt.log"; not_run "the libraries for arm64 cannot be fetched"; }
  for p in "$root"/apt/archives/*.deb; do dpkg-deb -x "$p" "$root"; done
  [ -e "$root/lib" ] || ln -s usr/lib "$root/lib"
  # a link to /lib/... would lead to this machine's libraries
  find "$root" -type l -lname '/*' | while read -r l; do ln -sfn "$root$(readlink "$l")" "$l"; done
  rm -rf "$root/apt"; touch "$root/complete"
fi
export PKG_CONFIG_PATH= PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_LIBDIR="$root/usr/lib/$for/pkgconfig"
made() { # TARGET...
  env -u MAKEFLAGS -u MAKELEVEL make -s BUILD="$dir" CC="$for-gcc --sysroot=$root" AR=$for-ar OPT='-O2 -g' EXTRA_CFLAGS=-Werror "$@" > "$dir/made" 2>&1 ||
    { tail -20 "$dir/made"; exit 1; }
}
emulated() { "$emulator" -L "$root" "$@"; }
rm -f "$dir"/matrix.*
made "$dir/libmodules.a" "$dir/incipit" "$dir/tests/check_kernels"
# the tables: one hash, whatever the table and the machine
flags="-std=c11 -O2 -ffp-contract=off -w -Itangled -Iunwoven tests/checks/matrix.c"
libraries="-ljansson -lpcre2-8 -lutf8proc -pthread -lm"
$for-gcc --sysroot="$root" $flags "$dir/libmodules.a" -o "$dir/matrix" $libraries
${CC:-cc} $flags "$build/libmodules.a" -o "$dir/matrix-here" $libraries
emulated "$dir/matrix" > "$dir/matrix.arm"; "$dir/matrix-here" > "$dir/matrix.here"
sed 's/^/aarch64: /' "$dir/matrix.arm"; sed 's/^/here: /' "$dir/matrix.here"
grep -q '^neon [0-9a-f]*$' "$dir/matrix.arm" || { echo "there is no table for NEON"; bad=1; }
# an x86-64 without a fused multiply-add: the same build takes the table in plain C, whose fmaf does without
old=$(command -v qemu-x86_64 || command -v qemu-x86_64-static || true)
if [ "$(uname -m)" = x86_64 ] && [ -n "$old" ]; then
  "$old" -cpu Nehalem "$dir/matrix-here" > "$dir/matrix.old"; sed 's/^/without FMA: /' "$dir/matrix.old"
  [ "$(cut -d' ' -f1 "$dir/matrix.old" | tr '\n' ' ')" = 'plain scalar ' ] || { echo "a table is offered to a machine that lacks its instructions"; bad=1; }
else echo "NOT RUN: no qemu-x86_64 for a machine without FMA"
fi
[ "$(cut -d' ' -f2 "$dir"/matrix.[aho]* | sort -u | wc -l)" = 1 ] || { echo "the bits differ"; bad=1; }
# as tests/checks/objects.sh, for this table
for o in "$dir/obj/kernels/neon.o" "$dir/obj/kernels/neon_"*.o; do
  n=$($for-objdump -d "$o" | grep -cE 'fmla\s.*\.4s' || true)
  [ "$n" -gt 50 ] || { echo "${o##*/}: $n packed multiply-adds"; bad=1; }
  ! $for-nm -u "$o" | grep -E ' (fmaf|fma)$' || { echo "${o##*/} calls fmaf or fma"; bad=1; }
  echo "${o##*/}: $n packed multiply-adds"
done
# the whole way, from a text to a number of seventeen digits: the model in each type, whose files are the same, and shorter rows
head -c 120 models/pocket/tales.txt > "$dir/text"
both() { # ARGUMENT...: what the command says on both machines
  here=$("$build/incipit" "$@" 2>&1) || { echo "$*, here: $here"; bad=1; }
  arm=$(emulated "$dir/incipit" "$@" 2>&1) || { echo "$*: $arm"; bad=1; }
  [ "$here" = "$arm" ] || { echo "$*: $arm; here: $here"; bad=1; }
}
for rows in "" "--kv-type f16 --packed" "--kv-type q8_0"; do both perplexity -q --json "$dir/text" $rows; done
for t in bf16 q8_0 ${whole:+q5_1 q5_0 q4_1 q4_0}; do
  both quantize -q --type $t --out "$dir/small.gguf"; mv "$dir/small.gguf" "$dir/small-arm.gguf"
  "$build/incipit" quantize -q --type $t --out "$dir/small.gguf" > /dev/null
  cmp "$dir/small.gguf" "$dir/small-arm.gguf" || bad=1
  for a in f32 $(case $t in bf16) echo bf16;; *) echo int8;; esac); do both perplexity -q --json "$dir/text" -m "$dir/small.gguf" --activations $a; done
done
rm -f "$dir"/small*.gguf
# the suites; those that start the command find it under BUILD, and the emulator before it
mkdir -p "$dir/as/bin"
printf '#!/bin/sh\nexec %s -L "%s" "%s/incipit" "$@"\n' "$emulator" "$root" "$dir" > "$dir/as/incipit"; chmod +x "$dir/as/incipit"
suite() { # NAME
  rm -f "$dir/$1.tap"
  BUILD="$dir/as" INCIPIT_TAP="$dir/$1.tap" CK_DEFAULT_TIMEOUT=3000 CK_TIMEOUT_MULTIPLIER=10 CK_VERBOSITY=silent emulated "$dir/tests/$1" > "$dir/$1.out" 2>&1 ||
    { bad=1; tail -20 "$dir/$1.out"; }
  grep '^not ok ' "$dir/$1.tap" || true
  echo "$1: $(grep -c '^ok ' "$dir/$1.tap") passed"
}
if [ -z "$whole" ]; then CK_RUN_CASE=edges suite check_kernels
else
  for s in ${SUITES:-check_kernels check_backend}; do made "$dir/tests/$s"; suite "$s"; done
fi
exit $bad
