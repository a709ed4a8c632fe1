/* prompt.c -- from a command line to ids, and back to text for the eyes.

   A prompt comes as a word of the line, by --prompt, in a file, through the standard input, in
   ids, or not at all. generate and trace share everything up to the loop (invocation_run), so the
   order in which mistakes are noticed is written once. */

#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include "prompt.h"

/* No text that anybody means is longer; without a limit /dev/zero would be read for ever. */
enum { MAX_TEXT = 1 << 30 };

/* to the end, in parts; name is for the sentence */
static bool stream_read(struct memory *m, FILE *in, const char *name, struct bytes *text,
  struct error *why)
{
  char part[4096];
  size_t n;
  while ((n = fread(part, 1, sizeof part, in)) > 0) {
    if (text->n + n > MAX_TEXT)
      return error_say(why, "%s does not end within %d bytes", name, MAX_TEXT);
    if (!bytes_push(m, text, part, n, why)) return false;
  }
  return !ferror(in) || error_say(why, "%s cannot be read: %s", name, strerror(errno));
}

/* A text is read and not mapped: a pipe cannot be mapped, and a file might be shortened while we
   work with it. A folder can be opened and not read, so it is found out first. */
bool prompt_read_text(const struct console *c, const char *path, struct bytes *text,
  struct error *why)
{
  struct stat about;
  if (strcmp(path, "-") == 0)
    return stream_read(c->memory, c->in, "the standard input", text, why);
  FILE *in = fopen(path, "rb");
  if (in == NULL) return error_say(why, "%s: cannot be opened: %s", path, strerror(errno));
  bool ok = fstat(fileno(in), &about) != 0 || !S_ISDIR(about.st_mode)
    ? stream_read(c->memory, in, path, text, why)
    : error_found(why, path, "this", "a directory", "a file");
  fclose(in);
  return ok;
}

/* a line break is \n, or \r\n as other systems write it; one is taken away */
static void chomp(struct bytes *text)
{
  if (text->n > 0 && text->byte[text->n - 1] == '\n') text->n--;
  else return;
  if (text->n > 0 && text->byte[text->n - 1] == '\r') text->n--;
}

/* A prompt that goes on after a line break is rarely meant, and echo and every editor put one
   at the end; the tokens would be of another line. */
static void hint_line_break(const struct console *c, const struct command_line *w,
  const struct bytes *text)
{
  if (w->sub != SUB_TOKENIZE && text->n > 0 && text->byte[text->n - 1] == '\n')
    session_hint(c, w, "the prompt ends with a line break, which the model reads like any other"
      " character (--chomp removes it)");
}

/* Text is taken byte for byte. If nothing says where it is and the standard input is not a
   keyboard, it comes from there, so that the command can end a pipe. If it is a keyboard, the
   question is refused: a program that waits for a text without saying so looks as if it were
   working. */
int prompt_collect(const struct console *c, const struct command_line *w,
  struct bytes *text, struct error *why)
{
  const char *given = w->of[OPTION_PROMPT].given
    ? w->of[OPTION_PROMPT].text : w->operand;
  bool dash = w->operand != NULL && strcmp(w->operand, "-") == 0;
  const char *path = w->of[OPTION_FILE].text;
  if (path == NULL && (dash || (given == NULL && !c->in_terminal))) path = "-";
  bool ok;
  if (path != NULL) ok = prompt_read_text(c, path, text, why);
  else if (given != NULL)
    ok = bytes_push(c->memory, text, given, strlen(given), why);
  else {
    error_say(why, "%s needs a text, or - for the standard input"
      " (incipit %s --help)", options_subcommand(w->sub)->name,
      options_subcommand(w->sub)->name);
    return STATUS_USAGE;
  }
  if (w->of[OPTION_CHOMP].given) chomp(text);
  else if (ok && path != NULL) hint_line_break(c, w, text);
  return ok ? STATUS_DONE : STATUS_FAILED;
}

/* an id that the model does not have is wrong usage */
static int check_ids(struct invocation *a)
{
  for (size_t i = 0; i < a->p.list.n; i++)
    if (a->p.list.id[i] >= a->o.vocab_size) {
      error_say(&a->why, "--prompt-ids has id %" PRIu32
        "; wanted: 0 to %" PRIu32, a->p.list.id[i], a->o.vocab_size - 1);
      return STATUS_USAGE;
    }
  return STATUS_DONE;
}

/* An empty prompt still needs a token, because the first prediction is read off a row: the one
   that begins a text, or else the one that ends a text, since what follows an end is a
   beginning. */
bool prompt_begin_somewhere(const struct session *o, struct memory *m, struct ids *list, struct error *why)
{
  const struct model_config *config = &o->lm->config;
  uint32_t first;
  if (o->t != NULL && tokenizer_bos(o->t, &first)) ;
  else if (config->has_bos) first = config->bos;
  else if (config->n_eos > 0) first = config->eos[0];
  else return error_say(why, "%s: the prompt is empty,"
      " and the model names no token to begin or end a"
      " text with", o->path);
  return ids_push(m, list, first, why);
}

/* text becomes ids, and ids text for those who want to see it; a model without a tokenizer that
   we know can be given ids and no text */
static bool encode_prompt(struct invocation *a)
{
  const struct option_value *of = a->w->of;
  if (!a->p.in_ids && a->o.t == NULL)
    return error_say(&a->why, "%s: there is no tokenizer"
      " that we know; wanted: a prompt in ids (--prompt-ids)",
      a->o.path);
  bool ok = a->o.t == NULL || (a->p.in_ids
    ? tokenizer_decode(a->o.t, a->o.m, a->p.list.id, a->p.list.n,
      false, &a->p.text, &a->why)
    : tokenizer_encode(a->o.t, a->o.m, (char *) a->p.text.byte,
      a->p.text.n, !of[OPTION_NO_SPECIAL].given,
      of[OPTION_PARSE_SPECIAL].given, &a->p.list, &a->why));
  return ok && (a->p.list.n > 0
    || prompt_begin_somewhere(&a->o, a->o.m, &a->p.list, &a->why));
}

int invocation_context(struct invocation *a)
{
  const struct option_value *less = &a->w->of[OPTION_CTX_SIZE];
  size_t has = a->o.lm->config.n_positions;
  a->context = less->given ? (size_t) less->count : has;
  if (a->context <= has) return STATUS_DONE;
  error_say(&a->why, "--ctx-size is %zu; wanted:"
    " 1 to %zu, the model's context", a->context, has);
  return STATUS_USAGE;
}

/* What may be written follows from the context. With a context of 8 and a prompt of 5, tokens 6,
   7 and 8 are written and read; the token that the last row predicts needs no row of its own,
   because nothing will read it. So 8 - 5 + 1 = 4 may be written. */
static int measure_context(struct invocation *a)
{
  const struct option_value *max = &a->w->of[OPTION_MAX_NEW_TOKENS];
  size_t n = a->p.list.n;
  int status = invocation_context(a);
  if (status != STATUS_DONE) return status;
  if (n > a->context) {
    error_say(&a->why, "the prompt has %zu tokens;"
      " the context holds %zu", n, a->context);
    return STATUS_FAILED;
  }
  a->max_tokens = a->context - n + 1;
  if (max->given && max->count < a->max_tokens)
    a->max_tokens = (size_t) max->count;
  return STATUS_DONE;
}

/* what a missing tokenizer said is forgotten: it may be missing, and the sentence would be printed
   at the end */
static int run_open(struct invocation *a, int (*act)(struct invocation *))
{
  int status = session_open(&a->o, a->c, a->w, SESSION_NEED_MODEL | SESSION_MAY_TOKENIZER,
    &a->why);
  if (status != STATUS_DONE) return status;
  a->why.text[0] = '\0';
  if (a->p.in_ids) status = check_ids(a);
  if (status == STATUS_DONE && !encode_prompt(a)) status = STATUS_FAILED;
  if (status == STATUS_DONE) status = measure_context(a);
  if (status == STATUS_DONE) status = act(a);
  session_close(&a->o);
  return status;
}

/* A failure without words is a reader who has closed the pipe, about which nothing is said. The
   sentence is written last, so that it comes after everything else. */
int invocation_run(const struct console *c, const struct command_line *w,
  int (*act)(struct invocation *))
{
  struct invocation a;
  memset(&a, 0, sizeof a);
  a.c = c, a.w = w;
  const struct option_value *given = &w->of[OPTION_PROMPT_IDS];
  a.p.in_ids = given->given;
  int status;
  if (!given->given) status = prompt_collect(c, w, &a.p.text, &a.why);
  else status = options_parse_ids(c->memory, given->text, "prompt-ids",
      &a.p.list, &a.why);
  if (status == STATUS_DONE)
    status = run_open(&a, act);
  bytes_free(c->memory, &a.p.text);
  ids_free(c->memory, &a.p.list);
  if (status == STATUS_USAGE) return console_usage_error(c, &a.why);
  if (status == STATUS_FAILED && a.why.text[0] != '\0')
    console_fail(c, &a.why);
  return status;
}

/* One walk over the vocabulary. out[1..k] is kept by insertion: nearly every token fails at the
   first comparison, so this costs one comparison a token. Of equal ones the lower id comes
   first, as in the choice itself. */
void prompt_candidates(const double *logprob, size_t n, uint32_t chosen,
  struct candidate *out, size_t k)
{
  size_t held = 0;
  out[0] = (struct candidate) { chosen, logprob[chosen], 1 };
  for (size_t v = 0; v < n; v++) {
    double x = logprob[v];
    if (x > logprob[chosen] || (x == logprob[chosen] && v < chosen))
      out[0].rank++;
    if (held == k && (k == 0 || !(x > out[held].logprob))) continue;
    size_t at = held < k ? ++held : held;
    for (; at > 1 && x > out[at - 1].logprob; at--)
      out[at] = out[at - 1];
    out[at] = (struct candidate) { (uint32_t) v, x, 0 };
  }
  for (size_t i = 1; i <= held; i++) out[i].rank = i;
}

/* Characters are printed as they are. Line ends, tabs and bytes that do not form a character are
   escaped, so that a piece is one line; so are valid control characters, one byte or two (c2
   followed by a byte below a0): a vocabulary has tokens for them, and some would clear the
   screen. */
void prompt_quote_piece(FILE *out, const unsigned char *byte, size_t n)
{
  putc('"', out);
  while (n > 0) {
    enum utf8_state state;
    size_t k = utf8_next(byte, n, &state);
    bool control = k == 1 ? *byte < 0x20 || *byte == 0x7f
      : byte[0] == 0xc2 && byte[1] < 0xa0;
    if (*byte == '\n') fputs("\\n", out);
    else if (*byte == '\t') fputs("\\t", out);
    else if (*byte == '"' || *byte == '\\')
      fprintf(out, "\\%c", *byte);
    else if (state == UTF8_WHOLE && !control) fwrite(byte, 1, k, out);
    else for (size_t i = 0; i < k; i++)
      fprintf(out, "\\x%02x", byte[i]);
    byte += k, n -= k;
  }
  putc('"', out);
}
