#!/bin/sh
# globals.sh -- the library has no writable globals, and calls neither exit nor printf nor abort.
lib=${BUILD:-build}/libincipit.a; rc=0
w=$(objdump -t "$lib" | awk '$3 == "O" || $4 == "O" || $2 == "O"' | grep -E '[[:space:]](\.data|\.bss|\.tbss|\.tdata|\*COM\*)(\.[^r][^[:space:]]*)?[[:space:]]' | grep -v 'data\.rel\.ro') && { echo "writable:"; echo "$w"; rc=1; }
u=$(nm -Au "$lib" | grep -E ' U (exit|_exit|abort|printf|puts|putchar|perror|__assert_fail|__printf_chk)$') && { echo "calls:"; echo "$u"; rc=1; }
exit $rc
