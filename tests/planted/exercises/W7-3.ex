==== check
# the frame goes into a copy of the module, with a row of its own
awk '/^static const struct chat_template table/ { exit } { print }' tangled/templates/conversations.c > $ours/head
awk '/^static const struct chat_template table/ { on = 1 } on { print } /table\[\] = \{/ { print "{ \"zephyr\", &zephyr, NULL, false }," }' tangled/templates/conversations.c > $ours/tail
was=$build/obj/templates/conversations.o
wrapped
says_like_ours
==== test
#include "exercise.h"
#include "templates/conversations.h"
enum { SIZES = 12 };
static const char *const word[] = { "Be kind.", "Hi", "Good day.", "Oh.", "a b", "</s>", "Who?", "x" };
static void test(unsigned size)
{
  struct turn talk[8];
  char text[2000] = "";
  size_t n = 0, marks = 0;
  bool reply = draw(2) == 0;
  if (draw(2) == 0) talk[n++].who = ROLE_SYSTEM;
  for (size_t turns = 1 + draw(6), i = 0; i < turns; i++) talk[n++].who = i % 2 ? ROLE_ASSISTANT : ROLE_USER;
  if (talk[n - 1].who == ROLE_ASSISTANT) n--;
  for (size_t i = 0; i < n; i++) talk[i].text = word[draw(8)], talk[i].n = strlen(talk[i].text);
  tell("%zu turns, %s", n, reply ? "and a reply is wanted" : "and no reply is wanted");
#ifdef OURS
  for (size_t i = 0; i < n; i++) {
    static const char *const who[] = { [ROLE_SYSTEM] = "system", [ROLE_USER] = "user", [ROLE_ASSISTANT] = "assistant" };
    snprintf(text + strlen(text), 200, "<|%s|>\n%s</s>\n", who[talk[i].who], talk[i].text), marks++;
  }
  if (reply) strcat(text, "<|assistant|>\n");
#else
  struct memory m = { .fail_at = 0 };
  struct rendered_prompt s;
  if (!prompt_render(&m, chat_template_named("zephyr", NULL), talk, n, 0, reply, &s, NULL) || s.text.n > 1999) return;
  memcpy(text, s.text.byte, s.text.n);
  for (size_t i = 0; i < s.n; i++) marks += s.part[i].kind == PROMPT_PART_MARK;
#endif
  say("marks: %zu", marks);
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) say("%s", line);
}
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
