#!/bin/sh
# globals.sh -- the library, and the command but for its main, have no writable globals, and call neither exit nor printf nor abort.
build=${BUILD:-build}; rc=0
for lib in "$build/libmodules.a" "$build/libprogram.a"; do
  w=$(objdump -t "$lib" | awk '$3 == "O" || $4 == "O" || $2 == "O"' | grep -E '[[:space:]](\.data|\.bss|\.tbss|\.tdata|\*COM\*)(\.[^[:space:]]*)?[[:space:]]' | grep -v 'data\.rel\.ro') && { echo "writable:"; echo "$w"; rc=1; }
  u=$(nm -Au "$lib" | grep -E ' U (exit|_exit|abort|printf|puts|putchar|perror|__assert_fail|__printf_chk)$') && { echo "calls:"; echo "$u"; rc=1; }
done
exit $rc
