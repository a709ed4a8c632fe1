/* help.h -- the tables of options and variables in four forms. */
#ifndef INCIPIT_HELP_H
#define INCIPIT_HELP_H
#include <stdio.h>
#include "options.h"

/* what is printed if only the program's name was typed */
void help_greet(FILE *out);

/* the subcommands, and the variables of the environment. Words are broken into a column of their
   own, unless they are to be folded for a narrow screen */
void help_overview(FILE *out, bool folded);

/* one subcommand: usage, options, an example; words as above */
void help_subcommand(FILE *out, enum subcommand sub, bool folded);

/* a manual page, for man(1) */
void help_manual(FILE *out);

/* a program for bash, zsh or fish that completes subcommands, options and their values; false if
   the shell is none of them */
bool help_completion(FILE *out, const char *shell);
#endif
