/* conversations.h -- made from workshop/07-templates.w; change it there */

#ifndef INCIPIT_CONVERSATIONS_H
#define INCIPIT_CONVERSATIONS_H
#include "tokenizer/tokenizer.h"

/* <What is said, and by whom> */

/* who speaks */
enum role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, N_ROLES };

/* n bytes of text, which belong to the caller */
struct turn { enum role who; const char *text; size_t n; };

/* <Templates, by name and by sight> */

/* how a family formats a conversation; a row of a fixed table */
struct chat_template;

/* number i of the table, null after the last */
const struct chat_template *chat_template_at(size_t i);

/* its name: "chatml", "llama3", ... */
const char *chat_template_name(const struct chat_template *t);

/* the one with this name; or null and a message that lists all */
const struct chat_template *chat_template_named(const char *name,
  struct error *why);

/* the one that does what a published program of n bytes does, or null if we do not
   know the program */
const struct chat_template *chat_template_known(const char *text,
  size_t n);

/* the one that a model's directory, or its GGUF file, asks for; or null and a message */
const struct chat_template *chat_template_of(const char *folder,
  struct error *why);

/* a file that has the program, instead of the model's; tools, a list, and an object
   with variables that the program sees; each may be null */
struct template_settings { const char *file; struct json_t *tools,
  *variables; };

/* as chat_template_of, but a program that we do not know, or that is given something,
   will be run; to be closed */
const struct chat_template *chat_template_open(struct memory *m,
  const char *folder, const struct template_settings *with,
  struct error *why);

/* closing a row of the table does nothing, and closing a null neither */
void chat_template_close(struct memory *m, const struct chat_template *t);

/* does a model's directory ask for one, whether we know it or not? */
bool chat_template_given(const char *folder);

/* <A script> */

/* a special token; text of the template; the words of a speaker */
enum part_kind { PROMPT_PART_MARK, PROMPT_PART_FRAME, PROMPT_PART_SAID };

/* n bytes from at on; who: the speaker, if they were said */
struct prompt_part { enum part_kind kind; enum role who;
  size_t at, n; };

/* n parts make up the text; inside: it continues another text */
struct rendered_prompt { const struct chat_template *by; struct bytes text;
  struct prompt_part *part; size_t n, cap; bool inside; };

/* renders the turns from, ..., n - 1 and, with reply, the text that asks for an
   answer. With from > 0 it begins after the id that ended the answer in turn from -
   1. On failure *out is empty, and the message names the turn */
bool prompt_render(struct memory *m, const struct chat_template *by,
  const struct turn *talk, size_t n, size_t from, bool reply,
  struct rendered_prompt *out, struct error *why);

/* frees its memory */
void prompt_free(struct memory *m, struct rendered_prompt *s);

/* <What a conversation asks of a template> */

/* may a new turn change the rendering of the n old ones? If so, all must be rendered
   again, with from == 0 */
bool chat_template_rewrites(const struct chat_template *t,
  const struct turn *talk, size_t n);

/* <From a script to ids> */

/* appends the ids: a mark of the template is its token, all else is text. On failure
   out is as it was: a mark that the vocabulary lacks, a letter that it cannot spell,
   memory */
bool prompt_encode(const struct rendered_prompt *s, struct tokenizer *v,
  struct memory *m, struct ids *out, struct error *why);

/* prompt_render and prompt_encode, with the failures of both */
bool conversations_ids(struct memory *m, const struct chat_template *by,
  struct tokenizer *v, const struct turn *talk, size_t n, size_t from,
  bool reply, struct ids *out, struct error *why);

/* appends the id that ends an answer, besides those of the model (or several, if
   plain text ends it); on failure out is as it was: a mark that the vocabulary lacks,
   memory */
bool conversations_ends(struct memory *m, const struct chat_template *by,
  struct tokenizer *v, struct ids *out, struct error *why);
#endif
