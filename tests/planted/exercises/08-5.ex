==== check
# which of the seven can never fire: by all texts of up to five letters
engine <<'C'
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
sorted=$(words | tr ' ' '\n' | sort); echo "$sorted" > "$answer"      # in any order
is $(run | sort)
==== answer
abcd bcx
==== wrong
abcd xbc bcx cde xe
==== skeleton
# those that can never end a text
