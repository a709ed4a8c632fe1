/* order.c -- which conversations a template takes, and which turns it may render by
   themselves.

   The published programs raise an exception if turns do not alternate where they should, or
   if there is a system turn and the template has no place for it. Our messages say the same
   and count turns from 1. In two things we are stricter: the system speaks first or not at
   all; and if its words go into a question, there must be a question, or Llama 2's program
   would silently lose them. */

#include <string.h>
#include "templates/inside.h"

bool talk_in_order(const struct chat_template *t,
  const struct turn *talk, size_t n, struct error *why)
{
  static const char *const whose[] = { "the system's", "the user's",
    "the assistant's" };
  size_t first = n > 0 && talk[0].who == ROLE_SYSTEM;
  const struct frame *f = t->around;
  if (first == 1 && f->system_at == NOT_AT_ALL)
    return error_say(why, "the template %s has no place for a system turn", t->name);
  if (n == 0 || (first == n && f->system_at != OWN_TURN))
    return error_say(why, "the template %s needs a turn of the user, and there is none", t->name);
  for (size_t i = first; i < n; i++) {
    enum role due = (i - first) % 2 == 0 ? ROLE_USER : ROLE_ASSISTANT;
    if (talk[i].who == ROLE_SYSTEM || (f->alternates && talk[i].who != due))
      return error_say(why, "turn %zu is %s; the template %s wants %s there",
        i + 1, whose[talk[i].who], t->name,
        f->alternates ? whose[due] : "another's");
  }
  return true;
}

/* Qwen3 drops thoughts, and Mistral's third moves the system's words to the last question. What a
   program does that is run, nobody knows. */
bool chat_template_rewrites(const struct chat_template *t,
  const struct turn *talk, size_t n)
{
  return t->thinks || t->around->run != NULL || (t->around->system_at == IN_LAST && n > 0
    && talk[0].who == ROLE_SYSTEM);
}

/* The turn before from must be an answer: only an answer is sure to end with a mark, and
   only at a mark can two halves be encoded separately. */
bool talk_may_begin(const struct chat_template *t,
  const struct turn *talk, size_t n, size_t from, struct error *why)
{
  if (from > 0 && (from > n || talk[from - 1].who != ROLE_ASSISTANT))
    return error_say(why, "a conversation of %zu turns cannot be "
      "continued after turn %zu, which is not an answer", n, from);
  if (from > 0 && chat_template_rewrites(t, talk, from))
    return error_say(why, "the template %s changes earlier turns; all must be written again",
      t->name);
  return true;
}

/* To Qwen3, a user's turn that begins with <tool_response> and ends with </tool_response>
   is the reply of a tool, and no question. So a model that thinks, calls a tool, and thinks
   on does not lose its first thought on the way. */
bool talk_is_question(const struct turn *said)
{
  static const char open[] = "<tool_response>",
    close[] = "</tool_response>";
  size_t k = sizeof open - 1, l = sizeof close - 1;
  return said->who == ROLE_USER && !(said->n >= l
    && memcmp(said->text, open, k) == 0
    && memcmp(said->text + said->n - l, close, l) == 0);
}
