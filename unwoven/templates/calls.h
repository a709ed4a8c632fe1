/* calls.h -- how a model that calls a tool shows it.

   Special tokens are not printed. But in some models' calls they are the first word, [TOOL_CALLS] for one, and the reader who is
   to run the tool must see it. Which they are the template knows, for it writes such calls itself. */
#ifndef INCIPIT_TEMPLATES_CALLS_H
#define INCIPIT_TEMPLATES_CALLS_H
#include "templates/conversations.h"

/* appends to inside the special tokens that a template writes within a call of tools and nowhere else, and to end the mark that ends
   a call, if it is another than that of an answer: a text ends there, too, but no answer is closed with it. Nothing if the template is
   not run, or knows no calls. On failure, which is memory, both are as they were */
bool conversations_calls(struct memory *m, const struct chat_template *by, const struct tokenizer *v, struct ids *inside,
  struct ids *end, struct error *why);
#endif
