/* command.c -- chooses among the subcommands, and answers the small ones. Tests and other
   programs call command_run with streams of their own, as often as they like: nothing is kept from
   one run to the next, and all memory of a run is given back to the console that it came from. */

#include <string.h>
#include "command.h"
#include "hub.h"
#include "library/incipit.h"
#include "kernels/kernels.h"
#include "safetensors/excerpt.h"

/* clang first, because it also claims to be gcc */
#if defined __clang__
#define COMPILER __VERSION__
#elif defined __GNUC__
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

/* the help is laid out for 80 columns */
static bool is_narrow(const struct console *c)
{
  return c->columns > 0 && c->columns < 80;
}

static int run_help(const struct console *c, const struct command_line *w)
{
  struct error why;
  enum subcommand sub = SUB_GENERATE;
  const char *list[N_SUBCOMMANDS];
  for (int i = 0; i < SUB_VERSION; i++)
    list[i] = options_subcommand((enum subcommand) i)->name;
  list[SUB_VERSION] = "version";
  if (w->of[OPTION_MAN].given) help_manual(c->out);
  else if (w->of[OPTION_COMPLETION].given) {
    if (help_completion(c->out, w->operand != NULL ? w->operand : "bash")) return STATUS_DONE;
    error_say(&why, "--completion `%s'; wanted: bash, zsh or fish", w->operand);
    return console_usage_error(c, &why);
  }
  else if (w->operand == NULL) help_overview(c->out, is_narrow(c));
  else {
    while (sub < N_SUBCOMMANDS && strcmp(list[sub], w->operand) != 0)
      sub++;
    if (sub < N_SUBCOMMANDS) help_subcommand(c->out, sub, is_narrow(c));
    else {
      char wrong[120], word[EXCERPT_MAX + 4];
      snprintf(wrong, sizeof wrong, "there is no subcommand `%s'",
        text_excerpt(w->operand, strlen(w->operand), 40, word));
      options_unknown(&why, wrong, "", options_suggest(w->operand, list, N_SUBCOMMANDS),
        "--help");
      return console_usage_error(c, &why);
    }
  }
  return STATUS_DONE;
}

/* all that matters in a report of an error: build, compiler, kernels in use and those that could
   be, and which Unicode the splitting patterns believe in */
static int run_version(const struct console *c)
{
  struct error why;
  const struct kernels *k = session_kernels(&why);
  char pcre2[24], utf8proc[24];
  if (k == NULL) return console_fail(c, &why);
  tokenizer_unicode(pcre2, utf8proc);
  fprintf(c->out, "incipit " INCIPIT_VERSION " (build %s)\n"
    "compiler: " COMPILER "\nkernels: %s, of", c->build, k->name);
  for (size_t i = 0; kernels_at(i) != NULL; i++)
    fprintf(c->out, " %s", kernels_at(i)->name);
  fprintf(c->out, "\nUnicode: %s (PCRE2), %s (utf8proc)\n", pcre2,
    utf8proc);
  return STATUS_DONE;
}

/* what is read on a screen as a whole is folded to its width; JSON and programs of the shell are not */
static int run_folded(const struct console *c, const struct command_line *w,
  int (*act)(const struct console *, const struct command_line *))
{
  struct folding f;
  const struct option_value *of = w->of;
  if (of[OPTION_JSON].given || of[OPTION_MAN].given || of[OPTION_COMPLETION].given) return act(c, w);
  folding_begin(&f, c);
  int status = act(&f.c, w);
  folding_end(&f);
  return status;
}

static int run_command_line(const struct console *c, const struct command_line *w)
{
  switch (w->sub) {
  case SUB_GENERATE: return cmd_generate(c, w);
  case SUB_TOKENIZE: return cmd_tokenize(c, w);
  case SUB_TRACE: return cmd_trace(c, w);
  case SUB_INSPECT: return run_folded(c, w, cmd_inspect);
  case SUB_PROBE: return cmd_probe(c, w);
  case SUB_BENCH: return cmd_bench(c, w);
  case SUB_MEMORY: return run_folded(c, w, cmd_memory);
  case SUB_QUANTIZE: return cmd_quantize(c, w);
  case SUB_CHAT: return cmd_chat(c, w);
  case SUB_SERVE: return cmd_serve(c, w);
  case SUB_PULL: return cmd_pull(c, w);
  case SUB_VERIFY: return cmd_verify(c, w);
  case SUB_PERPLEXITY: return cmd_perplexity(c, w);
  case SUB_HELP: return run_folded(c, w, run_help);
  case SUB_VERSION: case N_SUBCOMMANDS: break;
  }
  return run_version(c);
}

/* The names of models that were fetched become paths before anybody opens one: -m, --draft, --vocab, and what inspect looks at. */
static int run_with_paths(const struct console *c, struct command_line *w)
{
  static const enum option model[] = { OPTION_MODEL, OPTION_DRAFT, OPTION_VOCAB };
  char path[4][PATH_CAP];
  struct error why;
  bool ok = w->sub != SUB_INSPECT || hub_resolve(&w->operand, path[3], &why);
  for (int i = 0; ok && i < 3; i++)
    if (w->of[model[i]].given) ok = hub_resolve(&w->of[model[i]].text, path[i], &why);
  return ok ? run_command_line(c, w) : console_fail(c, &why);
}

/* Four ends: nothing was asked for, and a greeting is printed; what was asked for makes no
   sense; help; or a subcommand has done its work. All but the second empty the output and look
   whether it went out. */
static int answer(const struct console *c, int argc, char **argv)
{
  struct command_line w;
  struct error why;
  struct folding f;
  bool greet = argc < 2;
  if (!greet && !options_parse(&w, argc, argv, &why))
    return console_usage_error(c, &why);
  if (!greet && !w.of[OPTION_HELP].given) return console_end(c, run_with_paths(c, &w));
  folding_begin(&f, c);
  if (greet) help_greet(f.c.out);
  else help_subcommand(f.c.out, w.sub, is_narrow(c));
  folding_end(&f);
  return console_end(c, STATUS_DONE);
}

/* A library that was loaded with us, or the program that calls, may have set another rounding: every
   number from the options to the last weight that is written is computed as the book computes it. */
int command_run(const struct console *c, int argc, char **argv)
{
  struct float_modes modes;
  float_modes_begin(&modes);
  int status = answer(c, argc, argv);
  float_modes_end(&modes);
  return status;
}
