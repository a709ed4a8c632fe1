==== check
# a script that asks a command whether its logits depend on the chunk, the mates or the cache; the commands have names that are drawn anew
export INCIPIT_MODEL=$here/tests/golden/small
name() { echo $work/scratch/c$(pick 1000000 9999999); }
fake() { # KIND: a command of that kind; all have one text, in which only a number differs
  f=$(name); n=$(pick 1000 9999); cat > $f <<F
#!/bin/sh
kind=\$(( ($n * 7919 + $((($1 + 7 - $n * 7919 % 7) % 7))) % 7 ))
[ \$kind != 5 ] || exit 1
while IFS= read -r l; do
  [ \$kind != 3 ] || { echo '{"error":"not today"}'; continue; }
  case \$kind in 0) pattern='"chunk": *[1-9]' ;; 1) pattern='"mates": *[[][[]' ;; 2) pattern='"cache": *false' ;; *) pattern='^never' ;; esac
  printf '%s\n' "\$l" | $real "\$@" | if printf '%s' "\$l" | grep -q "\$pattern"; then sed 's/\],\[[^,]*,/],[0.5,/'; else cat; fi
  [ \$kind != 4 ] || exit 0
done
F
  chmod +x $f
}
real=$(name); cp $build/incipit $real
says() { # STATUS COMMAND WHAT
  rc=0; script $2 > $work/said 2>&1 || rc=$?
  [ "$rc" = "$1" ] || no "of $3 the status should be $1, not $rc"
}
says 0 $real "a command whose answers do not depend on them"
fake 0; says 1 $f "a command whose answers depend on the chunk"  # one number of the second row is another
fake 1; says 1 $f "a command whose answers depend on the mates"
fake 2; says 1 $f "a command whose answers depend on the cache"
fake 3; says 1 $f "a command that gives no answer but an error"
fake 4; says 1 $f "a command that answers the first line only"
fake 5; says 1 $f "a command that fails"
fake 6; says 0 $f "a command that is slow, and right"
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
