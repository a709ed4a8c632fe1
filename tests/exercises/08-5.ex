==== check
set -e
# which of the seven can never fire: by all texts of up to five letters
cat > $BUILD/ex.c <<"C"
#include <stdio.h>
#include <string.h>
#include "stopping/stopping.h"
int main(void)
{
  struct memory m = {0}; struct error why; struct stops s; struct stop_string list[7]; int fired[7] = {0};
  static const char *const stop[7] = {"abcd", "bc", "xbc", "bcx", "cde", "e", "xe"};
  for (int i = 0; i < 7; i++) list[i] = (struct stop_string) {(const unsigned char *) stop[i], strlen(stop[i])};
  if (!stops_open(&s, &m, list, 7, &why)) return 1;
  for (int code = 0; code < 6 * 6 * 6 * 6 * 6; code++) {
    struct text_stream o = {.m = &m, .until = &s};
    char text[5];
    for (int i = 0, c = code; i < 5; i++, c /= 6) text[i] = "abcdex"[c % 6];
    if (!text_stream_bytes(&o, (const unsigned char *) text, 5, &why)) return 1;
    if (o.found != NULL) fired[o.found - list] = 1;
    text_stream_close(&o);
  }
  for (int i = 0; i < 7; i++) if (!fired[i]) printf("%s\n", stop[i]);
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex > $BUILD/ex.never
[ "$(grep -v "^#" "$1" | tr ' ' '\n' | sort)" = "$(sort $BUILD/ex.never)" ]
==== answer
abcd bcx
==== wrong
abcd xbc bcx cde xe
==== skeleton
# those that can never end a text
