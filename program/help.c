/* help.c -- the tables of options and of variables in three forms: a screen of help, the list of
   subcommands, and a manual page. The fourth, for shells, is in help_shell.c.

   No form knows an option or a variable by name, so what is added to a table is in all of them.
   The manual page is written when the program is installed, by the program that is installed, so
   that both are of the same age. */

#include <string.h>
#include "console.h"
#include "environment.h"
#include "help.h"

/* A user who types only the name of a program wants to know what it is for; three lines that can
   be typed show it. */
void help_greet(FILE *out)
{
  static const enum subcommand three[] = { SUB_GENERATE, SUB_TRACE,
    SUB_TOKENIZE };
  fprintf(out, "Incipit writes what follows, one token"
    " at a time. Three to try:\n\n");
  for (int i = 0; i < 3; i++)
    fprintf(out, "  %s\n      %s\n", options_subcommand(three[i])->example,
      options_subcommand(three[i])->words);
  fprintf(out, "\nincipit --help lists the rest.\n");
}

/* The words of an option are in a column of their own, broken between words at the end of the
   screen. *at is the column reached, so that the default goes on after the words. */
enum { COLUMN = 28, SCREEN = 78 };

static void print_words(FILE *out, size_t *at, const char *words, bool folded)
{
  while (*words != '\0') {
    size_t n = strcspn(words, " ");
    if (!folded && *at + 1 + n > SCREEN) {
      fprintf(out, "\n%*s", COLUMN, "");
      *at = COLUMN;
    }
    fprintf(out, " %.*s", (int) n, words);
    *at += 1 + n;
    words += n + strspn(words + n, " ");
  }
}

/* The variables are under the subcommands, since they are about more than one of them. */
void help_overview(FILE *out, bool folded)
{
  fprintf(out, "usage: incipit SUBCOMMAND ...\n\n");
  for (int i = 0; i < N_SUBCOMMANDS; i++)
    fprintf(out, "  %-12s %s\n",
        options_subcommand((enum subcommand) i)->name,
        options_subcommand((enum subcommand) i)->words);
  fprintf(out, "\nEnvironment:\n");
  for (int i = 0; i < N_VARIABLES; i++) {
    size_t at = COLUMN;
    fprintf(out, "  %-*s", folded ? 0 : COLUMN - 2, environment_name((enum variable) i));
    print_words(out, &at, environment_words((enum variable) i), folded);
    fprintf(out, "\n");
  }
  fprintf(out, "\nincipit SUBCOMMAND --help lists its options.\n");
}

/* letter, name, other name, value: the names of an option in the order in which people write
   them */
static size_t option_names(const struct option_entry *o, char buffer[80])
{
  size_t n = 0;
  if (o->letter != '\0')
    n += (size_t) snprintf(buffer, 80, "-%c, ", o->letter);
  n += (size_t) snprintf(buffer + n, 80 - n, "--%s", o->name);
  for (size_t i = 0; i < OPTIONS_ALIASES && o->also[i] != NULL; i++)
    n += (size_t) snprintf(buffer + n, 80 - n, ", --%s", o->also[i]);
  if (o->value != NULL)
    n += (size_t) snprintf(buffer + n, 80 - n, " %s", o->value);
  return n;
}

static void print_option(FILE *out, const struct option_entry *o, enum subcommand sub, bool folded)
{
  char names[80], normal[OPTIONS_MAX_TEXT + 12], list[OPTIONS_MAX_TEXT];
  size_t at = 2 + option_names(o, names);
  fprintf(out, "  %s", names);
  if (at >= COLUMN && folded) fputc(' ', out);
  else if (at >= COLUMN) fprintf(out, "\n%*s", COLUMN, "");
  else fprintf(out, "%*s", (int) (COLUMN - at), "");
  at = COLUMN;
  const char *without = option_default(o, sub, list);
  print_words(out, &at, option_words(o, sub), folded);
  snprintf(normal, sizeof normal, "(default: %s)", without != NULL ? without : "");
  if (without != NULL) print_words(out, &at, normal, folded);
  fprintf(out, "\n");
}

/* forty options in one column are a heap; so they stand under headings. Of a group without an
   option of this subcommand nothing is printed */
static void print_group(FILE *out, enum subcommand sub, enum option_group group, bool folded)
{
  bool headed = false;
  for (int i = 0; i < N_OPTIONS; i++) {
    const struct option_entry o = options_option((enum option) i);
    if ((o.where >> sub & 1) == 0 || o.group != group) continue;
    if (!headed) fprintf(out, "\n%s:\n", options_group_name(group));
    headed = true;
    print_option(out, &o, sub, folded);
  }
}

/* A screen of help ends with an example, since most people read the end first. */
void help_subcommand(FILE *out, enum subcommand sub, bool folded)
{
  const struct subcommand_entry *s = options_subcommand(sub);
  const char *left = s->min > 0 ? "" : "[";
  const char *right = s->min > 0 ? "" : "]";
  fprintf(out, "usage: incipit %s", s->name);
  if (s->operand != NULL)
    fprintf(out, " %s%s%s", left, s->operand, right);
  fprintf(out, " [OPTION]...\n%s\n", s->words);
  for (int i = 0; i < N_OPTION_GROUPS; i++)
    print_group(out, sub, (enum option_group) i, folded);
  fprintf(out, "\nExample:\n  %s\n", s->example);
}

/* In troff a dash is not a minus sign, and a line that begins with a point or an apostrophe is a
   command; a backslash takes both meanings away. */
static void print_troff(FILE *out, const char *text)
{
  if (*text == '.' || *text == '\'') fputs("\\&", out);
  for (; *text != '\0'; text++)
    if (*text == '-' || *text == '\\')
      fputs(*text == '-' ? "\\-" : "\\e", out);
    else putc(*text, out);
}

static void print_troff_option(FILE *out, const struct option_entry *o, enum subcommand sub)
{
  char names[80], list[OPTIONS_MAX_TEXT];
  const char *without = option_default(o, sub, list);
  option_names(o, names);
  fprintf(out, ".TP\n.B ");
  print_troff(out, names);
  fprintf(out, "\n");
  print_troff(out, option_words(o, sub));
  fprintf(out, ".");
  if (without != NULL) {
    fprintf(out, " Default: ");
    print_troff(out, without);
    fprintf(out, ".");
  }
  fprintf(out, "\n");
}

/* a tagged paragraph: a name in bold (B) or italics (I), and below it what it is */
static void print_troff_row(FILE *out, char font, const char *name, const char *words)
{
  fprintf(out, ".TP\n.%c ", font);
  print_troff(out, name);
  fprintf(out, "\n");
  print_troff(out, words);
  fprintf(out, ".\n");
}

/* between .nf and .fi lines stay as they are */
static void print_troff_example(FILE *out, const char *example)
{
  fprintf(out, ".PP\n.RS\n.nf\n");
  print_troff(out, example);
  fprintf(out, "\n.fi\n.RE\n");
}

/* .SS begins a section, .PP a paragraph */
static void print_troff_subcommand(FILE *out, enum subcommand sub)
{
  const struct subcommand_entry *s = options_subcommand(sub);
  fprintf(out, ".SS \"incipit ");
  print_troff(out, s->name);
  if (s->operand != NULL)
    fprintf(out, s->min > 0 ? " %s" : " [%s]", s->operand);
  fprintf(out, "\"\n");
  print_troff(out, s->words);
  fprintf(out, ".\n");
  for (int k = 0; k < N_OPTIONS; k++) {
    const struct option_entry o = options_option((enum option) k);
    if ((o.where >> sub & 1) != 0) print_troff_option(out, &o, sub);
  }
  fprintf(out, ".PP\nExample:\n");
  print_troff_example(out, s->example);
}

static const struct { int status; const char *words; } ending[] = { { STATUS_DONE, "done" },
  { STATUS_FAILED, "failed" }, { STATUS_USAGE, "wrong usage" },
  { STATUS_CANCELLED, "cancelled by Ctrl-C" } };

static const struct { const char *name, *words; } file[] = {
  { "../share/incipit/models/pocket", "the built-in model, beside the program; in a clone that is"
    " not installed models/pocket" },
  { "config.json, generation_config.json, tokenizer.json, model.safetensors",
    "what is read in a model's directory; incipit inspect says what was understood" },
  { "*.gguf", "a model in one file, told by its content and not by its name" },
  { "~/.cache/incipit/ORG/NAME", "a model that pull has fetched, or its GGUF files; rm -r removes it" },
  { "*.part, *.etag", "what has come of a file that is not whole yet, and the server's mark of its version; the same pull"
    " goes on with them" } };

/* The head, a section for each subcommand, and what is about all of them. */
void help_manual(FILE *out)
{
  char number[16];
  fprintf(out, ".TH INCIPIT 1\n.SH NAME\n"
    "incipit \\- write what follows, one token at a time\n"
    ".SH SYNOPSIS\n.B incipit\nSUBCOMMAND [OPTION]...\n"
    ".SH SUBCOMMANDS\n");
  for (int i = 0; i < N_SUBCOMMANDS; i++) print_troff_subcommand(out, (enum subcommand) i);
  fprintf(out, ".SH EXIT STATUS\n");
  for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
    snprintf(number, sizeof number, "%d", ending[i].status);
    print_troff_row(out, 'B', number, ending[i].words);
  }
  fprintf(out, ".SH ENVIRONMENT\n");
  for (int i = 0; i < N_VARIABLES; i++) print_troff_row(out, 'B',
      environment_name((enum variable) i), environment_words((enum variable) i));
  fprintf(out, ".SH FILES\n");
  for (size_t i = 0; i < sizeof file / sizeof *file; i++)
    print_troff_row(out, 'I', file[i].name, file[i].words);
  fprintf(out, ".SH EXAMPLES\n");
  for (int i = 0; i < SUB_HELP; i++) {
    const struct subcommand_entry *s = options_subcommand((enum subcommand) i);
    print_troff(out, s->words);
    fprintf(out, ":\n");
    print_troff_example(out, s->example);
    fprintf(out, ".PP\n");
  }
  fprintf(out, ".SH SEE ALSO\n.BR incipit (3),\nthe same engine as a library of C\n");
}
