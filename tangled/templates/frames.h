/* frames.h -- made from workshop/07-templates.w; change it there */

#ifndef INCIPIT_FRAMES_H
#define INCIPIT_FRAMES_H
#include "templates/conversations.h"
struct jinja_program;

/* <What a template is> */

/* where the system's words go: into a turn of their own; the user's first turn; the
   last turn, if it is a user's */
enum system_place { OWN_TURN, IN_FIRST, IN_LAST, NOT_AT_ALL };

/* what a family has around its turns; a mark stands in braces */
struct frame {
  const char *begin, *open[N_ROLES], *close[N_ROLES];
  /* of the assistant's turn; reply asks for one */
  const char *end, *after, *reply;
  enum system_place system_at;
  bool alternates, trims[N_ROLES];
  /* not null: the template is no row, but is run */
  const struct jinja_program *run;
};

/* silent: the default system turn, or null */
struct chat_template { const char *name; const struct frame *around;
  const char *silent; bool thinks; };
#endif
