==== check
set -e
# put_text in ASCII alone: it reads back to the same characters, those beyond the first 65536 included
texlua tests/planted.lua "$1"
cat > $BUILD/ex.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "json/json.h"
static int same(const char *text, size_t n, const char *wanted, size_t n_wanted)
{
  char *room = NULL; size_t size = 0;
  FILE *out = open_memstream(&room, &size);
  struct json_out j = {out, 0};
  put_text(&j, text, n);
  fclose(out);
  for (size_t i = 0; i < size; i++) if ((unsigned char) room[i] > 126) return 0;
  json_t *v = json_loadb(room, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
  int ok = v != NULL && json_string_length(v) == n_wanted && memcmp(json_string_value(v), wanted, n_wanted) == 0;
  json_decref(v), free(room);
  return ok;
}
int main(void)
{
  for (unsigned c = 0; c < 0x110000; c += c < 0x3000 || (c > 0xd700 && c < 0x10100) ? 1 : 61) {
    char t[5]; size_t n;
    if (c >= 0xd800 && c < 0xe000) continue;
    if (c < 0x80) t[0] = (char) c, n = 1;
    else if (c < 0x800) t[0] = (char) (0xc0 | c >> 6), t[1] = (char) (0x80 | (c & 63)), n = 2;
    else if (c < 0x10000) t[0] = (char) (0xe0 | c >> 12), t[1] = (char) (0x80 | (c >> 6 & 63)), t[2] = (char) (0x80 | (c & 63)), n = 3;
    else t[0] = (char) (0xf0 | c >> 18), t[1] = (char) (0x80 | (c >> 12 & 63)), t[2] = (char) (0x80 | (c >> 6 & 63)), t[3] = (char) (0x80 | (c & 63)), n = 4;
    t[n++] = '0';                                       /* a digit behind it is not part of its number */
    if (!same(t, n, t, n)) return 1;
  }
  return !same("a\xe2\x82z\xff", 5, "a\xef\xbf\xbdz\xef\xbf\xbd", 8);     /* what is no character is U+FFFD */
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled $BUILD/ex.c $BUILD/exercise/libincipit.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
== tangled/json/json.c
-void put_text(struct json_out *j, const void *text, size_t n)
-{
+static void put_escaped(FILE *out, const unsigned char *byte, size_t k)
+{
+  uint32_t c = byte[0] & (0x7fu >> k);
+  for (size_t i = 1; i < k; i++) c = c << 6 | (byte[i] & 0x3fu);
+  if (c >= 0x10000) {
+    c -= 0x10000;
+    fprintf(out, "\\u%04x", 0xd800 + (c >> 10));
+    c = 0xdc00 + (c & 0x3ff);
+  }
+  fprintf(out, "\\u%04x", c);
+}
+void put_text(struct json_out *j, const void *text, size_t n)
+{
== tangled/json/json.c
-      fputs("\xef\xbf\xbd", j->out);
+      fputs("\\ufffd", j->out);
== tangled/json/json.c
-      fwrite(byte, 1, k, j->out);
+      put_escaped(j->out, byte, k);
==== wrong
== tangled/json/json.c
-void put_text(struct json_out *j, const void *text, size_t n)
-{
+static void put_escaped(FILE *out, const unsigned char *byte, size_t k)
+{
+  uint32_t c = byte[0] & (0x7fu >> k);
+  for (size_t i = 1; i < k; i++) c = c << 6 | (byte[i] & 0x3fu);
+  fprintf(out, "\\u%04x", c);
+}
+void put_text(struct json_out *j, const void *text, size_t n)
+{
== tangled/json/json.c
-      fputs("\xef\xbf\xbd", j->out);
+      fputs("\\ufffd", j->out);
== tangled/json/json.c
-      fwrite(byte, 1, k, j->out);
+      put_escaped(j->out, byte, k);
==== skeleton
== tangled/json/json.c
-void put_text(struct json_out *j, const void *text, size_t n)
-{
+static void put_escaped(FILE *out, const unsigned char *byte, size_t k)
+{
+  uint32_t c = byte[0] & (0x7fu >> k);
+  for (size_t i = 1; i < k; i++) c = c << 6 | (byte[i] & 0x3fu);
+  (void) c;
+  fwrite(byte, 1, k, out);
+}
+void put_text(struct json_out *j, const void *text, size_t n)
+{
== tangled/json/json.c
-      fputs("\xef\xbf\xbd", j->out);
+      fputs("\xef\xbf\xbd", j->out);
== tangled/json/json.c
-      fwrite(byte, 1, k, j->out);
+      put_escaped(j->out, byte, k);
