==== check
set -e
# six lines for probe detokenize: a where there is an answer, e where there is an error
export INCIPIT_MODEL=tests/golden/small
got=$(printf '{"ids":[]}\n{"ids":[1.0]}\n{"ids":[1],"skip_special":null}\n{"ids":[1]}\r\n\n{"ids":[1],"ids":[1]}\n' |
  $BUILD/incipit probe detokenize | sed 's/^{"error".*/e/; s/^{.*/a/' | tr '\n' ' ' | sed 's/ $//')
[ -n "$got" ]; [ "$(grep -v '^#' "$1" | tr -s ' \n' '  ' | sed 's/ *$//')" = "$got" ]
==== answer
a e e a e e
==== wrong
e e a a e a
==== skeleton
# six letters, a for an answer and e for an error
