/* cmd_quantize.c -- incipit quantize: one GGUF file of a model, with its weights in another type.

   Rounding and writing are command/quantize.h's, which leaves no half of a file behind; here is what
   the user is told: how far it is, and how many bits a number takes before and after. The bits
   are of all numbers, those that keep their type included, for they are what the file costs. */

#include <inttypes.h>
#include "command/quantize.h"
#include "command.h"

static void writing_words(void *ctx, size_t done, size_t all, char text[WAITING_WORDS])
{
  (void) ctx;
  snprintf(text, WAITING_WORDS, "writing %zu of %zu million numbers", done / 1000000, all / 1000000);
}

static double bits_of(uint64_t bytes, uint64_t numbers)
{
  return numbers > 0 ? 8.0 * (double) bytes / (double) numbers : 0;
}

static void show_result(const struct console *c, const struct command_line *w,
  const struct quantize_result *r)
{
  const char *type = w->of[OPTION_TYPE].text, *to = w->of[OPTION_OUT_FILE].text;
  double before = bits_of(r->before, r->numbers), after = bits_of(r->after, r->numbers);
  if (w->of[OPTION_JSON].given) {
    struct json_writer j = { c->out, '\0' };
    writer_open(&j, '{');
    put_words_as(&j, "file", to);
    put_words_as(&j, "type", type);
    put_count_as(&j, "tensors", r->tensors);
    put_count_as(&j, "tensors_of_type", r->blocks);
    put_count_as(&j, "numbers", r->numbers);
    put_count_as(&j, "bytes_before", r->before);
    put_count_as(&j, "bytes_after", r->after);
    put_count_as(&j, "file_bytes", r->file);
    put_double_as(&j, "bits_before", before);
    put_double_as(&j, "bits_after", after);
    writer_close(&j, '}');
    writer_end(&j);
    return;
  }
  fprintf(c->out, "%s: %zu tensors, %zu of them in %s\n"
    "weights: %" PRIu64 " numbers, %" PRIu64 " bytes (%.2f bits each) -> %" PRIu64
    " bytes (%.2f bits each)\nfile: %" PRIu64 " bytes\n", to, r->tensors, r->blocks, type,
    r->numbers, r->before, before, r->after, after, r->file);
}

/* What a user gives with --ignore-field has been judged when the settings were looked at. */
static int make_file(struct session *o, const struct console *c, const struct command_line *w,
  struct error *why)
{
  const char *ignore[OPTIONS_MAX_REPEATED];
  struct quantize_result r;
  struct quantize_options want = { .from = o->path, .to = w->of[OPTION_OUT_FILE].text,
    .type = (enum weight_type) w->of[OPTION_TYPE].count, .progress = &o->wait.told };
  want.fields.ignore = ignore;
  for (size_t i = 0; i < w->n_repeated; i++)
    if (w->repeated[i].which == OPTION_IGNORE_FIELD)
      ignore[want.fields.n_ignore++] = w->repeated[i].text;
  if (c->hold != NULL) c->hold();
  waiting_begin(&o->wait, writing_words, NULL);
  bool ok = quantize_file(c->memory, &want, &r, why);
  waiting_end(&o->wait);
  if (ok) show_result(c, w, &r);
  else if (progress_cancelled(&o->wait.told)) return STATUS_CANCELLED;
  return ok ? STATUS_DONE : STATUS_FAILED;
}

int cmd_quantize(const struct console *c, const struct command_line *w)
{
  struct session o;
  struct error why;
  int status = session_open(&o, c, w, SESSION_SETTINGS, &why);
  if (status == STATUS_DONE) {
    status = make_file(&o, c, w, &why);
    session_close(&o);
  }
  if (status == STATUS_USAGE) return console_usage_error(c, &why);
  return status == STATUS_FAILED ? console_fail(c, &why) : status;
}
