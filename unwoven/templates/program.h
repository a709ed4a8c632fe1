/* program.h -- a template that is run, and what it was given when it was opened. */
#ifndef INCIPIT_TEMPLATES_PROGRAM_H
#define INCIPIT_TEMPLATES_PROGRAM_H
#include <jansson.h>
#include "templates/inside.h"

/* how many tokens have names that a template may use */
enum { TOKEN_NAMES = 7 };

/* source of n bytes; what is given besides the turns; ids of tokens by name, -1: none; when the talk began; the file that the
   source is from */
struct jinja_program {
  struct chat_template as;
  struct frame around;
  char *source;
  size_t n;
  json_t *tools, *variables;
  int64_t token[TOKEN_NAMES];
  char now[32], from[128];
};

/* name i of them, as bos_token */
const char *program_token_name(size_t i);
#endif
