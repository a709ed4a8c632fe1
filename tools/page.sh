#!/bin/sh
# page.sh PAGE.html -- the C file with the page that incipit serve sends: its bytes, without what is there for those who change it, which
# are comments, indents, and the blanks of the style. (So no line of the page that is to be kept begins with // or has // behind a blank.)
cat <<'C'
/* page.c -- made by tools/page.sh of program/page.html; change that. */
#include "page.h"
const unsigned char serve_page[] = {
C
LC_ALL=C sed -e 's/^ *//' -e 's|^//.*||' -e 's|  *// .*||' -e '/<style>/,/<\/style>/{' -e 's/\([:;,{}]\) /\1/g' -e 's/ \([{}]\)/\1/g' -e 's/;}/}/g' -e '}' "$1" | LC_ALL=C awk '
  /^<!--/ { skip = 1 }
  !skip && !/^\/\*.*\*\/$/ && $0 != "" { print }
  /-->/ { skip = 0 }' | od -An -v -tu1 | sed 's/  *\([0-9][0-9]*\)/\1,/g'
cat <<'C'
};
const size_t serve_page_length = sizeof serve_page;
C
