#!/bin/sh
# needs.sh MODULE -- the modules that the program of MODULE is made of: itself and, from book.list, what it needs and what those need.
# The program of a module NAME/MORE is called NAME-MORE.
awk -v wanted="$1" '!/^#/ && NF { split($5, part, ";"); needs[$4] = part[1]; besides[$4] = part[2]; order[++n] = $4 }
  function take(m,   list, i, k) { if (m == "" || m == "-" || m in taken) return; taken[m] = 1; k = split(needs[m], list, ","); for (i = 1; i <= k; i++) take(list[i]) }
  END { if (!(wanted in needs)) sub("-", "/", wanted)
    if (!(wanted in needs)) exit 1
    take(wanted); k = split(besides[wanted], list, ","); for (i = 1; i <= k; i++) take(list[i])
    for (i = 1; i <= n; i++) if (order[i] in taken) print order[i] }' book.list
