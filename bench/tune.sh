#!/bin/sh
# tune.sh [NAME]... -- every number that was chosen by the clock (ground/tuning.h) beside others, on this machine: compiles the
# kernels once for each value, by a changed copy of the header that the compiler finds first, and lets bench/tune.c time them in one
# process, turn about.  Only the part of the kernels that has the number is compiled.  THREADS="1 2" and ROUNDS=11 are the defaults;
# TABLE=avx2 takes other kernels than the fastest of this machine, in a folder of their own.
# Writes build/tune/tune.csv; on the screen stands what would be chosen here.  Half an hour on two cores that do nothing else.
set -u
T=${BUILD:-build}/tune${TABLE:+-}${TABLE:-} CC=${CC:-cc} J=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
LIBS=${LIBS:--ljansson -lpcre2-8 -lutf8proc -pthread -lm}
FLAGS="-std=c11 -O2 -ffp-contract=off -fPIC -fno-semantic-interposition -w"
mkdir -p "$T"
$CC -std=gnu11 -O2 -w -Itangled -Iunwoven bench/tune.c "${BUILD:-build}/libmodules.a" -rdynamic -o "$T/tune" -ldl -pthread -lm || exit 1

has() { grep -qw "$1" /proc/cpuinfo; }
table=scalar; has avx2 && table=avx2; has avx512bw && table=avx512; table=${TABLE:-$table}
vnni() { [ "$table" = avx512 ] && has avx512_vnni; }
# one NAME VALUE PART: the objects of a part with a number changed, and everything else from the archive
one() {
  name=$1 value=$2 part=$3 so=$T/$1${2:+-}$2 sources=''
  [ -z "$(find "$so.so" -newer "${BUILD:-build}/libmodules.a" 2> /dev/null)" ] || return 0
  mkdir -p "$so/ground"
  [ -z "$value" ] || sed -e "s/^\( *$name = \)[0-9]*/\1$value/" -e "s/\(define $name \)[0-9]*/\1$value/" unwoven/ground/tuning.h > "$so/ground/tuning.h"
  case $part in
  pool) sources=ground/pool.c ;;
  linear) sources=kernels/${table}_linear.c ;;
  blocks) sources=kernels/${table}_blocks.c; vnni && sources=kernels/vnni.c ;;
  whole) sources="$(cd tangled; ls kernels/"${table}"_*.c ../unwoven/kernels/"${table}"_*.c 2> /dev/null | sed "s,../unwoven/,,")"; vnni && sources="$sources kernels/vnni.c" ;;
  attention) sources="kernels/${table}_attention.c kernels/${table}_heads.c"
    [ "$table" != avx512 ] || sources="$sources kernels/avx2_attention.c kernels/avx2_heads.c" ;;
  esac
  for s in $sources; do
    [ -f "tangled/$s" ] && root=tangled || root=unwoven
    # shellcheck disable=SC2086
    $CC $FLAGS "-I$so" -Itangled -Iunwoven -c "$root/$s" -o "$so/$(basename "$s" .c).o" || exit 1
  done
  # shellcheck disable=SC2046,SC2086
  $CC -shared -Wl,-Bsymbolic -u kernels_find -u pool_open $(ls "$so"/*.o 2> /dev/null) "${BUILD:-build}/libmodules.a" -o "$so.so" \
    $LIBS && strip "$so.so"
}
if [ "${1:-}" = one ]; then one "$2" "$3" "$4"; exit; fi
asked() { [ -z "$NAMES" ] || case " $NAMES " in *" $1 "*) ;; *) return 1 ;; esac; }
NAMES="$*"
one default '' none
"$T/tune" list | while read -r name value part; do
  if asked "$name"; then echo "$name $value $part"; fi
done | xargs -P "$J" -L 1 sh "$0" one || exit 1
{
  echo "# command: bench/tune.sh (make tune)"
  echo "# machine: ${MACHINE:-$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(getconf _NPROCESSORS_ONLN) cores, $table}"
  echo "# compiled by $($CC --version | head -1)"
  echo "# values: the time with the number of the header over that with another one, median and quartiles of ${ROUNDS:-11} rounds"
  echo "number,threads,low,ratio,high"
  # shellcheck disable=SC2086
  for threads in ${THREADS:-1 2}; do "$T/tune" "$T" "$threads" "${ROUNDS:-11}" $NAMES || exit 1; done
} > "$T/tune.csv.new" && mv "$T/tune.csv.new" "$T/tune.csv"
