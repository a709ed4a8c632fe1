==== check
# CharDelimiterSplit: what is between two bars, and a bar is nobody's; in front of ByteLevel, alone in the sequence's first place
planted
mkdir -p $work/split $work/more $work/plain
cat > $work/split/tokenizer.json <<'J'
{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "ba": 3, "\u0120": 4, "\u00c2": 5, "\u0142": 6}, "merges": ["a b", "b a"]}, "decoder": {"type": "ByteLevel"},
 "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "CharDelimiterSplit", "delimiter": "|"}, {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]}}
J
sed 's/"delimiter": "|"}/"delimiter": "|", "behavior": "x"}/' $work/split/tokenizer.json > $work/more/tokenizer.json
sed 's/{"type": "CharDelimiterSplit", "delimiter": "|"}, //' $work/split/tokenizer.json > $work/plain/tokenizer.json
says_like_ours --reading
==== test
#include "exercise.h"
#include "tokenizer/tokenizer.h"
#include "work.h"
enum { SIZES = 40 };
static void test(unsigned size)
{
  static const char *const bar[] = { "|", "||", "|", "|||", "|" };
  struct memory m = { 0 }; struct error why = { "" }; struct ids list = { 0 };
  struct tokenizer *t = tokenizer_open(&m, OF(WORK "/split", WORK "/plain"), &why);
  char text[200] = "", word[60] = "";
  if (t == NULL) { tell("%s", why.text); return; }
  for (unsigned k = draw(8); k > 0; k--) {
    size_t from = strlen(text), of = 1 + draw(6);
    if (draw(4) > 0) for (size_t i = 0; i < of; i++) strcat(text, draw(2) ? "a" : "b");
    strcpy(word, text + from);
#ifdef OURS
    if (*word != '\0' && !tokenizer_encode(t, &m, word, strlen(word), false, false, &list, &why)) return;   /* word by word */
#endif
    strcat(text, bar[draw(5)]);
  }
  char shown[200];
  for (size_t i = 0; i <= strlen(text); i++) shown[i] = text[i] == '\n' ? '/' : text[i];
  tell("the text \"%s\" (/ is a line's end)", shown);
#ifndef OURS
  if (!tokenizer_encode(t, &m, text, strlen(text), false, false, &list, &why)) return;
#endif
  for (size_t i = 0; i < list.n; i++) say("id: %u", list.id[i]);
  ids_free(&m, &list), tokenizer_close(&m, t);
  say("bytes that are still held: %llu", (unsigned long long) m.all.live);
  if (size == SIZES) {
    bool open = OF(tokenizer_open(&m, WORK "/more", &why) != NULL, false);
    say("with a field behavior: %s", open ? "accepted" : OF(strstr(why.text, "behavior") != NULL, true) ? "refused, with its name" : "refused");
  }
}
==== answer
== unwoven/tokenizer-json/stages.c
-  if (strcmp(type, "Digits") == 0)
+  if (strcmp(type, "CharDelimiterSplit") == 0) {
+    struct text_step s = {.what = STEP_SPLIT, .keep_gaps = true};
+    struct error inner = {""};
+    json_t *bar = json_object_get(v, "delimiter");
+    return reader_keys(r, where, v, "type delimiter ")
+      && (json_string_length(bar) > 0 || reader_refuse(r, where, bar, "a character"))
+      && or_refuse(r, where, tokenizer_add_step(r->m, r->t, s, json_string_value(bar), json_string_length(bar), true, &inner), &inner);
+  }
+  if (strcmp(type, "Digits") == 0)
==== wrong
== unwoven/tokenizer-json/stages.c
-  if (strcmp(type, "Digits") == 0)
+  if (strcmp(type, "CharDelimiterSplit") == 0) {
+    struct text_step s = {.what = STEP_SPLIT, .keep_matches = true, .keep_gaps = true};
+    struct error inner = {""};
+    json_t *bar = json_object_get(v, "delimiter");
+    return reader_keys(r, where, v, "type delimiter ")
+      && or_refuse(r, where, tokenizer_add_step(r->m, r->t, s, json_string_value(bar), json_string_length(bar), true, &inner), &inner);
+  }
+  if (strcmp(type, "Digits") == 0)
==== skeleton
# unwoven/tokenizer-json/stages.c tells the kinds of pre-tokenizer apart by their type.  Write == FILE, then - lines and + lines
