/* help.h -- the table of options in four forms. */
#ifndef INCIPIT_HELP_H
#define INCIPIT_HELP_H
#include <stdio.h>
#include "options.h"

/* what is printed if only the program's name was typed */
void help_greet(FILE *out);

/* the subcommands */
void help_overview(FILE *out);

/* one subcommand: usage, options, an example. The words of an option are broken into a column of
   their own, unless they are to be folded for a narrow screen */
void help_subcommand(FILE *out, enum subcommand sub, bool folded);

/* a manual page, for man(1) */
void help_manual(FILE *out);

/* a program for bash, zsh or fish that completes subcommands, options and their values; false if
   the shell is none of them */
bool help_completion(FILE *out, const char *shell);
#endif
