/* inside.h -- what the files of the templates share besides the frames */
#ifndef INCIPIT_TEMPLATES_INSIDE_H
#define INCIPIT_TEMPLATES_INSIDE_H
#include "templates/conversations.h"
#include "templates/frames.h"

/* the bytes of a white character at the beginning of n, or 0 */
size_t prompt_blank(const unsigned char *text, size_t n);

/* takes white space off the end of a script, as far back as from */
void prompt_trim_end(struct rendered_prompt *s, size_t from);

/* the thought of an answer, perhaps empty, and the rest; both point into said */
void thought_part(const struct turn *said, struct turn *thought,
  struct turn *rest);

/* takes newlines off the front */
void thought_strip_lines(struct turn *t);

/* may these turns come in this order? false and a sentence that counts turns from 1 */
bool talk_in_order(const struct chat_template *t,
  const struct turn *talk, size_t n, struct error *why);

/* may the turns from number from on be rendered by themselves? false and a sentence */
bool talk_may_begin(const struct chat_template *t,
  const struct turn *talk, size_t n, size_t from, struct error *why);

/* does it count as a question, after which thoughts are kept? */
bool talk_is_question(const struct turn *said);

/* what conversations_ids does, for a template that is run */
bool program_ids(struct memory *m, const struct jinja_program *p, const struct tokenizer *v,
  const struct turn *talk, size_t n, bool reply, struct ids *out, struct error *why);

/* and what conversations_ends does */
bool program_ends(struct memory *m, const struct jinja_program *p, const struct tokenizer *v,
  struct ids *out, struct error *why);

/* all names, with commas between them */
const char *chat_template_names(char buffer[160]);
#endif
