/* template_setup.h -- which template sets the turns of a talk: the one that an option names or has in a file, or the model's. */
#ifndef INCIPIT_TEMPLATE_SETUP_H
#define INCIPIT_TEMPLATE_SETUP_H
#include "templates/conversations.h"
#include "session.h"

/* the template for an open session; null and a sentence; to be closed with chat_template_close */
const struct chat_template *template_setup_open(const struct session *o, const struct command_line *w, struct error *why);

/* appends to ends, which has what ends an answer, the mark that ends a call of tools; and to out the special tokens whose names are
   to be printed, since they are parts of a call: those that end a text are not among them */
bool template_setup_named(const struct session *o, const struct chat_template *by, struct ids *ends, struct ids *out, struct error *why);
#endif
