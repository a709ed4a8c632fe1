/* prompt.c -- made from workshop/14-command.w; change it there */

/* B.115  prompt.c */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "command/prompt.h"

/* B.101  Read a stream or a file to its end */

bool bytes_read(struct memory *m, FILE * in, struct bytes *text, struct error *why)
{
  char part[4096];
  size_t n;
  while ((n = fread(part, 1, sizeof part, in)) > 0)
    if (!bytes_push(m, text, part, n, why))
      return false;
  return !ferror(in) || error_say(why, "the standard input"
                                  " cannot be read: %s", strerror(errno));
}

/* B.102  Read a stream or a file to its end */

static bool file_read(struct memory *m, const char *path,
                      struct bytes *text, struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why))
    return false;
  bool ok = bytes_push(m, text, map.bytes, map.size, why);
  file_unmap(&map);
  return ok;
}

/* B.100  Gather the text */

int text_gather(const struct console *c, const struct wishes *w,
                struct bytes *text, struct error *why)
{
  const char *given = w->of[OPTION_PROMPT].given
      ? w->of[OPTION_PROMPT].text : w->operand;
  bool dash = w->operand != NULL && strcmp(w->operand, "-") == 0;
  bool ok;
  if (w->of[OPTION_FILE].given)
    ok = file_read(c->memory, w->of[OPTION_FILE].text, text, why);
  else if (dash || (given == NULL && !c->in_terminal))
    ok = bytes_read(c->memory, c->in, text, why);
  else if (given != NULL)
    ok = bytes_push(c->memory, text, given, strlen(given), why);
  else {
    error_say(why, "%s needs a text, or - for the standard input"
              " (incipit %s --help)", subcommand_at(w->sub)->name,
              subcommand_at(w->sub)->name);
    return STATUS_USAGE;
  }
  return ok ? STATUS_DONE : STATUS_FAILED;
}

/* B.103  Check the ids that were given */

static int check_ids(struct occasion *a)
{
  for (size_t i = 0; i < a->p.list.n; i++)
    if (a->p.list.id[i] >= a->o.vocab_size) {
      error_say(&a->why, "--prompt-ids has id" " %" PRIu32
                "; wanted: 0 to %" PRIu32, a->p.list.id[i], a->o.vocab_size - 1);
      return STATUS_USAGE;
    }
  return STATUS_DONE;
}

/* B.105  Begin with a token that begins a text */

static bool begin_somewhere(struct occasion *a)
{
  const struct model_config *config = &a->o.lm->config;
  uint32_t first;
  if (a->o.t != NULL && tokenizer_bos(a->o.t, &first)) ;
  else if (config->has_bos)
    first = config->bos;
  else if (config->n_eos > 0)
    first = config->eos[0];
  else
    return error_say(&a->why, "%s: the prompt is empty,"
                     " and the model names no" " token to begin or end a"
                     " text with", a->o.path);
  return ids_push(a->o.m, &a->p.list, first, &a->why);
}

/* B.104  Turn the prompt into ids */

static bool encode_prompt(struct occasion *a)
{
  const struct option_value *of = a->w->of;
  if (!a->p.in_ids && a->o.t == NULL)
    return error_say(&a->why, "%s: there is no tokenizer"
                     " that we know; wanted:" " a prompt in ids (--prompt-ids)",
                     a->o.path);
  bool ok = a->o.t == NULL || (a->p.in_ids
                               ? tokenizer_decode(a->o.t, a->o.m, a->p.list.id,
                                                  a->p.list.n,
                                                  false, &a->p.text, &a->why)
                               : tokenizer_encode(a->o.t, a->o.m,
                                                  (char *)a->p.text.byte,
                                                  a->p.text.n,
                                                  !of[OPTION_NO_SPECIAL].given,
                                                  of[OPTION_PARSE_SPECIAL].given,
                                                  &a->p.list, &a->why));
  return ok && (a->p.list.n > 0 || begin_somewhere(a));
}

/* B.106  Measure the prompt against the context */

int occasion_context(struct occasion *a)
{
  const struct option_value *less = &a->w->of[OPTION_CTX_SIZE];
  size_t has = a->o.lm->config.n_positions;
  a->context = less->given ? (size_t)less->count : has;
  if (a->context <= has)
    return STATUS_DONE;
  error_say(&a->why, "--ctx-size is %zu; wanted:"
            " 1 to %zu, the model's context", a->context, has);
  return STATUS_USAGE;
}

/* B.107  Measure the prompt against the context */

static int measure_context(struct occasion *a)
{
  const struct option_value *most = &a->w->of[OPTION_MAX_NEW_TOKENS];
  size_t n = a->p.list.n;
  int status = occasion_context(a);
  if (status != STATUS_DONE)
    return status;
  if (n > a->context) {
    error_say(&a->why, "the prompt has %zu tokens;"
              " the context holds %zu", n, a->context);
    return STATUS_FAILED;
  }
  a->most = a->context - n + 1;
  if (most->given && most->count < a->most)
    a->most = (size_t)most->count;
  return STATUS_DONE;
}

/* B.108  Run an occasion */

int occasion_run(const struct console *c, const struct wishes *w,
                 int (*act)(struct occasion *))
{
  struct occasion a;
  memset(&a, 0, sizeof a);
  a.c = c, a.w = w;
  const struct option_value *given = &w->of[OPTION_PROMPT_IDS];
  a.p.in_ids = given->given;
  int status;
  if (!given->given)
    status = text_gather(c, w, &a.p.text, &a.why);
  else
    status = ids_parse(c->memory, given->text, "prompt-ids", &a.p.list, &a.why);
  if (status == STATUS_DONE)
/* B.109  Open, measure, act and close */

  {
    if (!outfit_open(&a.o, c, w, NEED_MODEL | MAY_TOKENIZER, &a.why))
      status = STATUS_FAILED;
    else {
      a.why.words[0] = '\0';
      if (a.p.in_ids)
        status = check_ids(&a);
      if (status == STATUS_DONE && !encode_prompt(&a))
        status = STATUS_FAILED;
      if (status == STATUS_DONE)
        status = measure_context(&a);
      if (status == STATUS_DONE)
        status = act(&a);
      outfit_close(&a.o);
    }
  }

  bytes_free(c->memory, &a.p.text);
  ids_free(c->memory, &a.p.list);
  if (status == STATUS_USAGE)
    return console_misuse(c, &a.why);
  if (status == STATUS_FAILED && a.why.words[0] != '\0')
    console_fail(c, &a.why);
  return status;
}

/* B.111  Find the likeliest tokens */

void candidates_find(const double *logprob, size_t n, uint32_t chosen,
                     struct candidate *out, size_t k)
{
  size_t held = 0;
  out[0] = (struct candidate) { chosen, logprob[chosen], 1 };
  for (size_t v = 0; v < n; v++) {
    double x = logprob[v];
    if (x > logprob[chosen] || (x == logprob[chosen] && v < chosen))
      out[0].rank++;
    if (held == k && (k == 0 || !(x > out[held].logprob)))
      continue;
    size_t at = held < k ? ++held : held;
    for (; at > 1 && x > out[at - 1].logprob; at--)
      out[at] = out[at - 1];
    out[at] = (struct candidate) { (uint32_t) v, x, 0 };
  }
  for (size_t i = 1; i <= held; i++)
    out[i].rank = i;
}

/* B.112  Show a piece of text */

void piece_quote(FILE * out, const unsigned char *byte, size_t n)
{
  putc('"', out);
  while (n > 0) {
    enum utf8_state state;
    size_t k = utf8_next(byte, n, &state);
    bool control = k == 1 ? *byte < 0x20 || *byte == 0x7f
        : byte[0] == 0xc2 && byte[1] < 0xa0;
    if (*byte == '\n')
      fputs("\\n", out);
    else if (*byte == '\t')
      fputs("\\t", out);
    else if (*byte == '"' || *byte == '\\')
      fprintf(out, "\\%c", *byte);
    else if (state == UTF8_WHOLE && !control)
      fwrite(byte, 1, k, out);
    else
      for (size_t i = 0; i < k; i++)
        fprintf(out, "\\x%02x", byte[i]);
    byte += k, n -= k;
  }
  putc('"', out);
}
