/* help.h -- made from workshop/14-command.w; change it there */

/* B.81  help.h */

#ifndef INCIPIT_HELP_H
#define INCIPIT_HELP_H
#include <stdio.h>
#include "command/options.h"

/* B.67  The table, in four forms */

void help_greet(FILE * out);
/* what somebody sees who has typed the name alone */

void help_overview(FILE * out);
/* the subcommands */

void help_subcommand(FILE * out, enum subcommand sub);
/* one subcommand: usage, options, an example */

void help_manual(FILE * out);
/* a manual page, for man(1) */

void help_completion(FILE * out);
/* a program for bash that completes subcommands and options */

#endif
