/* calls.h -- how a model that calls a tool shows it.

   Special tokens are not printed. But in some models' calls they are the first word, [TOOL_CALLS] for one, and the reader who is
   to run the tool must see it. Which they are the template knows, for it writes such calls itself. */
#ifndef INCIPIT_TEMPLATES_CALLS_H
#define INCIPIT_TEMPLATES_CALLS_H
#include "templates/conversations.h"

/* appends the special tokens that a template writes within a call of tools and nowhere else; none if it is not run, or knows no
   calls. On failure, which is memory, out is as it was */
bool conversations_calls(struct memory *m, const struct chat_template *by, const struct tokenizer *v, struct ids *out,
  struct error *why);
#endif
