/* jinja.h -- chat templates that are run: what the library transformers prints, character for character.

   A template is a program in Jinja that a stranger has written. It is parsed, given the conversation, and run
   with limits on steps, depth, memory and output; it can call nothing outside this module. What it cannot do
   exactly is an error that names it. */
#ifndef INCIPIT_TEMPLATES_JINJA_H
#define INCIPIT_TEMPLATES_JINJA_H
#include <jansson.h>
#include "ground/buffers.h"

/* what a run may use: steps (a node evaluated, a turn of a loop, sixteen bytes looked at); bytes of values and
   text; bytes of output; calls within calls; brackets or blocks within each other in the source */
enum { JINJA_MAX_STEPS = 20000000, JINJA_MAX_BYTES = 256 << 20, JINJA_MAX_OUTPUT = 64 << 20,
  JINJA_MAX_CALLS = 200, JINJA_MAX_NESTED = 100, JINJA_MAX_RANGE = 100000, JINJA_MAX_DEPTH = 4000 };

/* a conversation as the library's apply_chat_template takes it. messages is a list of objects and not empty;
   tools and documents are lists of objects, or null; kwargs an object, or null, whose members the template sees
   as variables; continued is the field of the last message that the text ends within, or null; now is a local time
   YYYY-MM-DDTHH:MM:SS, or null for the clock's. All belong to the caller. account: keep account of what was said */
struct jinja_request {
  json_t *messages, *tools, *documents, *kwargs;
  bool add_generation_prompt, account;
  const char *continued, *now;
};

/* code points from, ..., to - 1 of a text */
struct jinja_span { size_t from, to; };

/* what was printed, what {% generation %} blocks printed of it, and how many steps it took; all zero is empty. said, if an
   account was asked for: a byte for each of the text, not 0 if it comes from the words of a message, its role aside */
struct jinja_answer {
  struct bytes text;
  unsigned char *said;
  struct jinja_span *span;
  size_t n, cap, steps;
};

/* runs the template of n bytes; on failure *out is empty and the sentence has a line of the template, or what
   the template said itself */
bool jinja_render(struct memory *m, const char *source, size_t n, const struct jinja_request *q,
  struct jinja_answer *out, struct error *why);

/* frees its memory */
void jinja_answer_free(struct memory *m, struct jinja_answer *a);
#endif
