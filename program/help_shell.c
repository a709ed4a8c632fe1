/* help_shell.c -- completion for bash, zsh and fish: the table of options as a program.

   The first word is one of the subcommands. A word that follows an option with values of its own
   is one of these; a word that begins with a dash, an option of the subcommand; any other a file,
   or what the subcommand works on, if that is one of a list. No word of ours has a blank in it,
   so the lists are plain strings. */

#include <string.h>
#include "accounts/accounts.h"
#include "accounts/formats.h"
#include "templates/conversations.h"
#include "help.h"
#include "probe.h"

enum { N_SHELLS = 3 };
static const char *const shell_name[N_SHELLS] = { "bash", "zsh", "fish" };

/* the n-th word of a list that a column of the table gives with bars between the words */
static bool word_between_bars(const char *list, size_t n, char word[40])
{
  if (list == NULL || strchr(list, '|') == NULL) return false;
  for (; n > 0; n--) {
    list = strchr(list, '|');
    if (list == NULL) return false;
    list++;
  }
  snprintf(word, 40, "%.*s", (int) strcspn(list, "|"), list);
  return true;
}

/* the n-th value that an option may have, if they can be listed; false after the last */
static bool value_at(enum option o, size_t n, char word[40])
{
  const char *name = NULL;
  if (o == OPTION_COMPLETION && n < N_SHELLS) name = shell_name[n];
  if (o == OPTION_KV_TYPE && format_at(n) != NULL) name = format_at(n)->name;
  if (o == OPTION_DEVICE && n < 2) name = n == 0 ? "cpu" : "cuda"; /* or cuda:n */
  if (o == OPTION_TEMPLATE && chat_template_at(n) != NULL)
    name = chat_template_name(chat_template_at(n));
  if (o == OPTION_SHAPE && named_shape_at(n) != NULL) name = named_shape_at(n)->name;
  if (name == NULL) return word_between_bars(options_option(o).value, n, word);
  snprintf(word, 40, "%s", name);
  return true;
}

/* the n-th operand of a subcommand, if they can be listed */
static bool operand_at(enum subcommand sub, size_t n, char word[40])
{
  const char *name = NULL;
  if (sub == SUB_PROBE) name = probe_kind_at(n);
  if (sub == SUB_HELP && n < SUB_VERSION) name = options_subcommand((enum subcommand) n)->name;
  if (name != NULL) snprintf(word, 40, "%s", name);
  return name != NULL;
}

static bool is_of(enum option o, enum subcommand sub)
{
  return (options_option(o).where >> sub & 1) != 0;
}

static void print_subcommands(FILE *out)
{
  for (int i = 0; i < N_SUBCOMMANDS; i++)
    fprintf(out, "%s%s", i > 0 ? " " : "", options_subcommand((enum subcommand) i)->name);
}

static void print_options(FILE *out, enum subcommand sub)
{
  for (int k = 0, n = 0; k < N_OPTIONS; k++)
    if (is_of((enum option) k, sub))
      fprintf(out, "%s--%s", n++ > 0 ? " " : "", options_option((enum option) k).name);
}

static void print_values(FILE *out, enum option o)
{
  char word[40];
  for (size_t n = 0; value_at(o, n, word); n++) fprintf(out, "%s%s", n > 0 ? " " : "", word);
}

static void print_operands(FILE *out, enum subcommand sub)
{
  char word[40];
  for (size_t n = 0; operand_at(sub, n, word); n++) fprintf(out, "%s%s", n > 0 ? " " : "", word);
}

/* a letter belongs to a subcommand, so the pattern of one has both */
static void print_letters(FILE *out, enum option o)
{
  char letter = options_option(o).letter;
  for (int i = 0; letter != '\0' && i < SUB_VERSION; i++)
    if (is_of(o, (enum subcommand) i))
      fprintf(out, "|%s:-%c:*", options_subcommand((enum subcommand) i)->name, letter);
}

/* bash and zsh share the choice of the words: $sub is the subcommand, $prev the word before, $cur
   the word begun. For `incipit trace --at' the options of trace are the words. */
static void print_cases(FILE *out)
{
  char word[40];
  fprintf(out, "  case $sub:$prev:$cur in\n");
  for (int k = 0; k < N_OPTIONS; k++) {
    if (!value_at((enum option) k, 0, word)) continue;
    fprintf(out, "    *:--%s:*", options_option((enum option) k).name);
    print_letters(out, (enum option) k);
    fprintf(out, ") list=\"");
    print_values(out, (enum option) k);
    fprintf(out, "\" ;;\n");
  }
  for (int i = 0; i < SUB_VERSION; i++) {
    const char *name = options_subcommand((enum subcommand) i)->name;
    fprintf(out, "    %s:*:-*) list=\"", name);
    print_options(out, (enum subcommand) i);
    fprintf(out, "\" ;;\n");
    if (!operand_at((enum subcommand) i, 0, word)) continue;
    fprintf(out, "    %s:*:*) list=\"", name);
    print_operands(out, (enum subcommand) i);
    fprintf(out, "\" ;;\n");
  }
  fprintf(out, "  esac\n");
}

static void print_bash(FILE *out)
{
  fprintf(out, "# bash completion for incipit\n_incipit()\n{\n"
    "  local list= sub=${COMP_WORDS[1]} prev=${COMP_WORDS[COMP_CWORD-1]}"
    " cur=${COMP_WORDS[COMP_CWORD]}\n");
  print_cases(out);
  fprintf(out, "  [ $COMP_CWORD -gt 1 ] || list=\"");
  print_subcommands(out);
  fprintf(out, "\"\n  COMPREPLY=($(compgen -W \"$list\" -- \"$cur\"))\n}\n"
    "complete -o default -F _incipit incipit\n");
}

static void print_zsh(FILE *out)
{
  fprintf(out, "#compdef incipit\n# zsh completion for incipit\n"
    "local list= sub=$words[2] prev=$words[CURRENT-1] cur=$words[CURRENT]\n");
  print_cases(out);
  fprintf(out, "  (( CURRENT > 2 )) || list=\"");
  print_subcommands(out);
  fprintf(out, "\"\n  if [[ -n $list ]]; then compadd -- ${=list}; else _files; fi\n");
}

/* -x says that a value follows and is none of the files, -r that one follows. */
static void print_fish(FILE *out)
{
  char word[40];
  fprintf(out, "# fish completion for incipit\ncomplete -c incipit -n __fish_use_subcommand -f -a \"");
  print_subcommands(out);
  fprintf(out, "\"\n");
  for (int i = 0; i < SUB_VERSION; i++) {
    enum subcommand sub = (enum subcommand) i;
    const char *name = options_subcommand(sub)->name;
    if (operand_at(sub, 0, word)) {
      fprintf(out, "complete -c incipit -n '__fish_seen_subcommand_from %s' -f -a \"", name);
      print_operands(out, sub);
      fprintf(out, "\"\n");
    }
    for (int k = 0; k < N_OPTIONS; k++) {
      const struct option_entry o = options_option((enum option) k);
      if (!is_of((enum option) k, sub)) continue;
      fprintf(out, "complete -c incipit -n '__fish_seen_subcommand_from %s' -l %s", name, o.name);
      if (o.letter != '\0') fprintf(out, " -s %c", o.letter);
      if (value_at((enum option) k, 0, word)) {
        fprintf(out, " -x -a \"");
        print_values(out, (enum option) k);
        fprintf(out, "\"");
      }
      else if (o.value != NULL) fprintf(out, " -r");
      fprintf(out, "\n");
    }
  }
}

bool help_completion(FILE *out, const char *shell)
{
  static void (*const print[N_SHELLS])(FILE *) = { print_bash, print_zsh, print_fish };
  for (size_t i = 0; i < N_SHELLS; i++) {
    if (strcmp(shell, shell_name[i]) != 0) continue;
    print[i](out);
    return true;
  }
  return false;
}
