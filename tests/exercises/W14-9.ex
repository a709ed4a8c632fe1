==== check
set -e
# a script that asks a command whether its logits depend on the chunk, the mates or the cache
export INCIPIT_MODEL=$PWD/tests/golden/small REAL="$(cd $BUILD && pwd)/incipit"
fake() { printf '#!/bin/sh\nwhile IFS= read -r l; do\n%s\ndone\n' "$1" > $BUILD/ex.fake; chmod +x $BUILD/ex.fake; }
no() { if "$@"; then exit 1; fi; }                        # a ! would not end the script
sh "$1" $BUILD/incipit                                   # the true one passes
for key in '"chunk": *[1-9]' '"mates": *[[][[]' '"cache": *false'; do     # one number of the second row is another
  fake 'printf "%s\n" "$l" | $REAL "$@" | if printf "%s" "$l" | grep -q '"'$key'"'; then sed "s/\],\[[^,]*,/],[0.5,/"; else cat; fi'
  no sh "$1" $BUILD/ex.fake
done
fake 'echo "{\"error\":\"not today\"}"'; no sh "$1" $BUILD/ex.fake   # all answers equal, and none is an answer
fake 'printf "%s\n" "$l" | $REAL "$@"; exit 0'; no sh "$1" $BUILD/ex.fake  # answers the first line only
fake 'exit 1'; no sh "$1" $BUILD/ex.fake
fake 'printf "%s\n" "$l" | $REAL "$@"'; sh "$1" $BUILD/ex.fake         # slow, and right
==== answer
ask() {
  for how in '' ',"chunk":1' ',"chunk":2' ',"chunk":3' ',"cache":false' \
      ',"mates":[[9],[1,2,3,4,5,6]]' ',"chunk":2,"mates":[[9],[8,7]]'; do
    echo '{"ids":[5,6,7,8,9],"rows":"all"'"$how"'}'
  done
}
ask | "$1" probe forward | awk '
  { n++; if (n == 1) first = $0; if ($0 != first || $0 !~ /^{"logits"/) bad = 1 }
  END { exit bad || n != 7 }'
==== wrong
ask() {
  for how in '' ',"chunk":1' ',"chunk":2' ',"cache":false' ',"mates":[[9],[1,2,3,4,5,6]]'; do
    echo '{"ids":[5,6,7,8,9],"rows":"last"'"$how"'}'
  done
}
ask | "$1" probe forward | awk '
  { n++; if (n == 1) first = $0; if ($0 != first || $0 !~ /^{"logits"/) bad = 1 }
  END { exit bad || n != 5 }'
==== skeleton
echo '{"ids":[5,6,7,8,9],"rows":"all"}' | "$1" probe forward > /dev/null
