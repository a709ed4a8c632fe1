==== check
set -e
# the frame goes into a copy of the module, with a row of its own
awk -v mine="$1" '/^struct chat_template \{/ { while ((getline line < mine) > 0) print line } { print }
  /table\[\] = \{/ { print "{ \"zephyr\", &zephyr, NULL, false }," }' tangled/templates/conversations.c > $BUILD/ex-talk.c
cat > $BUILD/ex.c <<'C'
#include <string.h>
#include "templates/conversations.h"
int main(void)
{
  static const char want[] = "<|system|>\nBe kind.</s>\n<|user|>\nHi</s>\n<|assistant|>\nGood day.</s>\n<|user|>\nOh.</s>\n<|assistant|>\n";
  struct turn talk[] = {{ROLE_SYSTEM, "Be kind.", 8}, {ROLE_USER, "Hi", 2}, {ROLE_ASSISTANT, "Good day.", 9}, {ROLE_USER, "Oh.", 3}};
  struct memory m = { .fail_at = 0 };
  struct rendered_prompt s;
  if (!prompt_render(&m, chat_template_named("zephyr", NULL), talk, 4, 0, true, &s, NULL)) return 1;
  size_t marks = 0;
  for (size_t i = 0; i < s.n; i++) marks += s.part[i].kind == PROMPT_PART_MARK;
  return marks != 4 || s.text.n != strlen(want) || memcmp(s.text.byte, want, s.text.n) != 0;
}
C
${CC:-cc} -std=c11 -w -Itangled $BUILD/ex.c $BUILD/ex-talk.c $BUILD/libmodules.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
timeout 20 $BUILD/ex
==== answer
static const struct frame zephyr = {
  .begin = "", .open = {"<|system|>\n", "<|user|>\n", "<|assistant|>\n"},
  .close = {"{</s>}\n", "{</s>}\n", ""},
  .end = "{</s>}", .after = "\n", .reply = "<|assistant|>\n", .system_at = OWN_TURN };
==== wrong
static const struct frame zephyr = {
  .begin = "", .open = {"<|system|>\n", "<|user|>\n", "<|assistant|>\n"},
  .close = {"{</s>}\n", "{</s>}\n", ""},
  .end = "{</s>}", .after = "", .reply = "<|assistant|>\n", .system_at = OWN_TURN };
==== skeleton
/* TinyLlama's frame */
static const struct frame zephyr = { .begin = "" };
