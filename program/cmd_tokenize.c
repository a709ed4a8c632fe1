/* cmd_tokenize.c -- incipit tokenize: text to ids, one token a line; with --ids ids to text;
   with --train a new vocabulary from a file.

   Bytes are printed so that nothing is lost: a piece stands in quotation marks, and what is no text
   is escaped. No model is opened, only its tokenizer; where a model's settings are beside it
   they say how many ids there are. */

#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include "ground/new_file.h"
#include "lookups/split.h"
#include "command.h"

/* text and ids: one of them is given, the other made */
struct cutting {
  const struct console *c;
  const struct command_line *w;
  struct session o;
  struct bytes text;
  struct ids list;
  struct error why;
};

/* Special tokens are added exactly as generate adds them, because a user who counts tokens wants
   to know what generate will read. Whether an id is too large is known only when the vocabulary
   is open; it is wrong usage all the same. */
static int collect_tokens(struct cutting *g)
{
  const struct option_value *of = g->w->of;
  struct memory *m = g->o.m = g->c->memory;
  bool back = of[OPTION_IDS].given;
  int status;
  if (!back) status = prompt_collect(g->c, g->w, &g->text, &g->why);
  else status = options_parse_ids(m, of[OPTION_IDS].text, "ids", &g->list,
      &g->why);
  if (status != STATUS_DONE) return status;
  status = session_open(&g->o, g->c, g->w, SESSION_NEED_TOKENIZER, &g->why);
  if (status != STATUS_DONE) return status;
  if (back) for (size_t i = 0; i < g->list.n; i++)
    if (g->list.id[i] >= g->o.vocab_size) {
      error_say(&g->why, "--ids has id %" PRIu32
        "; wanted: 0 to %" PRIu32, g->list.id[i], g->o.vocab_size - 1);
      return STATUS_USAGE;
    }
  bool ok = back ? tokenizer_decode(g->o.t, m, g->list.id, g->list.n,
      false, &g->text, &g->why)
    : tokenizer_encode(g->o.t, m, (char *) g->text.byte, g->text.n,
      !of[OPTION_NO_SPECIAL].given, of[OPTION_PARSE_SPECIAL].given,
      &g->list, &g->why);
  return ok ? STATUS_DONE : STATUS_FAILED;
}

/* every piece as a text: half a character becomes U+FFFD there, and the ids say what it is.
   bytes is the length of the text itself */
static void put_tokens(struct cutting *g)
{
  struct json_writer j = { g->c->out, '\0' };
  writer_open(&j, '{');
  put_ids_as(&j, "ids", g->list.id, g->list.n);
  put_open_as(&j, "pieces", '[');
  for (size_t i = 0; i < g->list.n; i++) {
    size_t n;
    const unsigned char *byte = tokenizer_text(g->o.t, g->list.id[i], &n);
    writer_text(&j, byte, n);
  }
  writer_close(&j, ']');
  put_count_as(&j, "bytes", g->text.n);
  writer_close(&j, '}');
  writer_end(&j);
}

/* Ids to text gives the bytes and not one more, so that a text that goes there and back is the
   same file. */
static void show_tokens(struct cutting *g)
{
  FILE *out = g->c->out;
  const struct option_value *of = g->w->of;
  if (of[OPTION_JSON].given) put_tokens(g);
  else if (of[OPTION_COUNT].given) fprintf(out, "%zu\n", g->list.n);
  else if (of[OPTION_IDS].given) fwrite(g->text.byte, 1, g->text.n, out);
  else for (size_t i = 0; i < g->list.n; i++) {
    size_t n;
    const unsigned char *byte = tokenizer_text(g->o.t, g->list.id[i], &n);
    fprintf(out, "%" PRIu32 "\t", g->list.id[i]);
    prompt_quote_piece(out, byte, n);
    fprintf(out, "\n");
  }
}

/* whether it exists is learnt from the attempt: another process might make it between a test and
   the attempt */
static bool make_folder(const char *path, struct error *why)
{
  return mkdir(path, 0777) == 0 || errno == EEXIST
    || error_say(why, "%s: cannot be made: %s", path, strerror(errno));
}

/* A short text may run out of pairs; that is said, because the vocabulary will be smaller than
   the one asked for. */
static bool learn_from(struct cutting *g, const struct mapping *map,
  size_t merges, const char *path)
{
  struct memory *m = g->c->memory;
  struct bpe_merge *merge = NULL;
  size_t n = 0;
  bool ok = bpe_train(m, (const char *) map->bytes, map->size,
      split_gpt2, merges, &merge, &n, &g->why)
    && tokenizer_write(m, path, merge, n, &g->why);
  if (ok) fprintf(g->c->err, "incipit: %s: %zu ids,"
      " of them %zu merges%s\n", path, n + 257, n,
      n < merges ? "; the text has no more pairs" : "");
  bpe_forget(m, merge);
  return ok;
}

/* The folder is made, and the file begun and given up, before anything is learnt, which may take a
   quarter of an hour. The text that is learnt from may have the file's name. */
static bool can_be_written(const char *folder, const char *path, const char *text, struct error *why)
{
  struct new_file to;
  if (!make_folder(folder, why)) return false;
  if (path_same(path, text))
    return error_say(why, "%s: is the text to learn from; wanted: another folder", path);
  if (!new_file_open(&to, path, false, why)) return false;
  new_file_end(&to, false, NULL);
  return true;
}

/* --vocab-size counts everything: the id that ends a text, the 256 bytes, and as many merges as
   are left; 260 asks for three. */
static int learn(struct cutting *g)
{
  const struct option_value *of = g->w->of;
  size_t merges = (size_t) of[OPTION_VOCAB_SIZE].count - 257;
  char path[PATH_CAP];
  if (!path_join(path, of[OPTION_OUT].text, "tokenizer.json", &g->why))
    return STATUS_USAGE;
  struct mapping map;
  if (!file_map(&map, of[OPTION_TRAIN].text, &g->why))
    return STATUS_FAILED;
  bool ok = can_be_written(of[OPTION_OUT].text, path, of[OPTION_TRAIN].text, &g->why)
    && learn_from(g, &map, merges, path);
  file_unmap(&map);
  return ok ? STATUS_DONE : STATUS_FAILED;
}

int cmd_tokenize(const struct console *c, const struct command_line *w)
{
  struct cutting g = { .c = c, .w = w };
  int status;
  if (w->of[OPTION_TRAIN].given) status = learn(&g);
  else {
    status = collect_tokens(&g);
    if (status == STATUS_DONE) show_tokens(&g);
    ids_free(c->memory, &g.list);
    bytes_free(c->memory, &g.text);
    session_close(&g.o);
  }
  if (status == STATUS_USAGE) return console_usage_error(c, &g.why);
  return status == STATUS_FAILED ? console_fail(c, &g.why) : status;
}
