/* cmd_inspect.c -- incipit inspect: what a model's files say, as it was understood.

   Half of all trouble with a checkpoint is a field that one program reads and another ignores.
   So this does not print what the files say but the settings as they will be used, every tensor,
   where the special tokens come from, and each field that changes nothing, with the reason. A
   model that generate refuses is refused here in the same words, but for one reason: fields that
   nobody knows are listed, because whoever is to decide about them must be able to look. A file of tensors alone has no
   settings and no tokenizer: these parts are left out on the screen, and are null or empty in
   the object, where every key is always there. A GGUF file is a model; if it is one that generate
   refuses, its tensors are listed all the same, with a hint that says why no more is. */

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include "accounts/accounts.h"
#include "families/loader.h"
#include "gguf/gguf.h"
#include "safetensors/tensor_file.h"
#include "command.h"

/* tensors of the model, or of the file alone, which then is closed with us */
struct inspection {
  const struct console *c;
  struct session o;
  bool in_json;
  struct json_writer j;
  const struct tensor_file *tensors;
  struct tensor_file *alone;
  struct error why;
};

/* The settings, for the screen and the object alike, under our names and not the files', because
   two families call the same thing by different names. Those of the table of settings come as its
   rows say, so that a new one cannot be forgotten here; the rest is worked out. */
struct shown_setting { const char *name; double value; bool is_bool; };
enum { N_MORE = 7 };

static struct shown_setting layers_with_window(const struct model_config *c)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n_layers; i++) n += config_window(c, i) > 0;
  return (struct shown_setting) { "window_layers", n, false };
}

/* RoPE and the makers' advice come after the table */
static void list_more(const struct model_config *c, struct shown_setting of[N_MORE])
{
  const struct shown_setting list[N_MORE] = {
      {"rope_linear", c->rope.kind == ROPE_LINEAR, true},
      {"rope_llama3", c->rope.kind == ROPE_LLAMA3, true},
      {"rope_yarn", c->rope.kind == ROPE_YARN, true},
      {"rope_theta", c->rope.theta, false},
      {"rope_factor", c->rope.factor, false},
      {"rope_attention", rope_attention(&c->rope), false},
      {"do_sample", c->sampling.do_sample, true}
  };
  memcpy(of, list, sizeof list);
}

/* integers are printed as such; a double holds every integer of 32 bits exactly */
static void show_setting(struct inspection *g, struct shown_setting s)
{
  char buffer[MAX_NUMBER_LEN];
  if (s.is_bool) strcpy(buffer, s.value != 0 ? "true" : "false");
  else if (s.value == (double) (uint32_t) s.value)
    snprintf(buffer, sizeof buffer, "%" PRIu32, (uint32_t) s.value);
  else number_double(s.value, buffer);
  if (g->in_json) put_word_as(&g->j, s.name, buffer);
  else fprintf(g->c->out, "  %-20s %s\n", s.name, buffer);
}

static void show_settings(struct inspection *g)
{
  const struct model_config *c = &g->o.lm->config;
  struct shown_setting more[N_MORE];
  list_more(c, more);
  if (g->in_json) put_open_as(&g->j, "config", '{');
  for (int i = 0; i < N_MODEL_SETTINGS; i++) {
    const struct setting *s = &config_setting[i];
    if (setting_is_listed(s, c)) show_setting(g, (struct shown_setting) { s->name, setting_value(s, c),
        s->kind == SETTING_FLAG });
    if (i == SETTING_window) show_setting(g, layers_with_window(c));
  }
  for (int i = 0; i < N_MORE; i++) show_setting(g, more[i]);
  if (c->rope.kind == ROPE_LONG) show_setting(g, (struct shown_setting) { "rope_longrope", true, true });
  if (g->in_json) writer_close(&g->j, '}');
}

/* The shape is printed as the file has it. A name is any string of the file's, and could clear
   the screen: it is printed as an error would print it. */
static void show_tensor(struct inspection *g, const struct tensor_entry *t)
{
  struct stored_form in_file = tensor_file_stored(t);
  if (!g->in_json) {
    struct error clean;
    error_say(&clean, "%s", t->name);
    fprintf(g->c->out, "  %s %s [", clean.text, in_file.type);
    for (uint32_t i = 0; i < t->rank; i++)
      fprintf(g->c->out, "%s%" PRIu64, i > 0 ? ", " : "", t->shape[i]);
    fprintf(g->c->out, "] %" PRIu64 " bytes\n", in_file.bytes);
    return;
  }
  writer_open(&g->j, '{');
  put_words_as(&g->j, "name", t->name);
  put_words_as(&g->j, "type", in_file.type);
  put_open_as(&g->j, "shape", '[');
  for (uint32_t i = 0; i < t->rank; i++) writer_count(&g->j, t->shape[i]);
  writer_close(&g->j, ']');
  put_count_as(&g->j, "bytes", in_file.bytes);
  writer_close(&g->j, '}');
}

static void show_tensors(struct inspection *g)
{
  size_t n = tensor_file_count(g->tensors);
  if (g->in_json) put_open_as(&g->j, "tensors", '[');
  else fprintf(g->c->out, "tensors: %zu\n", n);
  for (size_t i = 0; i < n; i++)
    show_tensor(g, tensor_file_at(g->tensors, i));
  if (g->in_json) writer_close(&g->j, ']');
}

/* a special token with its role and the file that gives it the role */
static void show_special(struct inspection *g, uint32_t id,
  const char *role, const char *from)
{
  size_t n = 0;
  const unsigned char *byte = (const unsigned char *) "";
  if (g->o.t != NULL) byte = tokenizer_text(g->o.t, id, &n);
  if (!g->in_json) {
    fprintf(g->c->out, "  %" PRIu32 " ", id);
    prompt_quote_piece(g->c->out, byte, n);
    fprintf(g->c->out, " %s (%s)\n", role, from);
    return;
  }
  writer_open(&g->j, '{');
  put_count_as(&g->j, "id", id);
  put_text_as(&g->j, "text", byte, n);
  put_words_as(&g->j, "role", role);
  put_words_as(&g->j, "from", from);
  writer_close(&g->j, '}');
}

/* where a token or a field was found: in a file of a directory, or among the keys of a GGUF */
static const char *found_in(const struct inspection *g, const char *file)
{
  return strcmp(tensor_file_format(g->tensors), "gguf") == 0 ? "the metadata" : file;
}

/* Those with a role, then the rest. A token that ends a text and begins it, as in GPT-2, has two
   roles and is listed twice. */
static void show_specials(struct inspection *g)
{
  const struct model_config *c = &g->o.lm->config;
  uint32_t first = 0;
  bool begins = g->o.t != NULL && tokenizer_bos(g->o.t, &first);
  for (uint32_t i = 0; i < c->n_eos; i++)
    show_special(g, c->eos[i], "eos", c->eos_from);
  if (begins) show_special(g, first, "bos", found_in(g, "tokenizer.json"));
  else if (c->has_bos) show_special(g, c->bos, "bos", found_in(g, "config.json"));
  size_t extras = g->o.t == NULL ? 0 : tokenizer_added_count(g->o.t);
  for (size_t i = 0; i < extras; i++) {
    struct tokenizer_added x = tokenizer_added_at(g->o.t, i);
    bool known = begins ? x.id == first : c->has_bos && x.id == c->bos;
    for (uint32_t k = 0; k < c->n_eos; k++)
      known = known || x.id == c->eos[k];
    if (!known) show_special(g, x.id, x.special ? "special" : "added",
        found_in(g, "tokenizer.json"));
  }
}

static void show_tokenizer(struct inspection *g)
{
  struct json_writer *j = &g->j;
  const char *kind = g->o.t == NULL ? "none" : tokenizer_kind(g->o.t);
  size_t n = g->o.t == NULL ? 0 : tokenizer_vocab_size(g->o.t);
  if (!g->in_json)
    fprintf(g->c->out, "tokenizer: %s, %zu ids; special tokens:\n",
      kind, n);
  else {
    put_open_as(j, "tokenizer", '{');
    put_words_as(j, "kind", kind);
    put_count_as(j, "vocab_size", n);
    put_open_as(j, "special", '[');
  }
  show_specials(g);
  if (g->in_json) {
    writer_close(j, ']');
    writer_close(j, '}');
  }
}

/* all that the makers wrote down and that changes nothing here: a field in this list that ought
   to matter is a mistake, theirs or ours */
static void show_one_ignored(struct inspection *g, const char *file,
  const char *field, const char *reason)
{
  if (!g->in_json) {
    struct error clean;
    error_say(&clean, "%s: %s: %s", file, field, reason);
    fprintf(g->c->out, "  %s\n", clean.text);
    return;
  }
  writer_open(&g->j, '{');
  put_words_as(&g->j, "file", file);
  put_words_as(&g->j, "field", field);
  put_words_as(&g->j, "reason", reason);
  writer_close(&g->j, '}');
}

/* those without a reason are those that nobody knows */
static size_t count_unknown(const struct model_config *c)
{
  size_t n = 0;
  for (size_t i = 0; i < c->n_ignored; i++) n += c->ignored[i].reason == NULL;
  return n;
}

/* On the screen only if there are any, since then generate refuses the model. */
static void show_unknown(struct inspection *g)
{
  const struct model_config *c = &g->o.lm->config;
  size_t n = count_unknown(c);
  if (g->in_json) put_open_as(&g->j, "unknown_fields", '[');
  else if (n > 0) fprintf(g->c->out, "unknown: %zu field%s; generate wants --ignore-field for"
      " each\n", n, n == 1 ? "" : "s");
  for (size_t i = 0; i < c->n_ignored; i++) {
    if (c->ignored[i].reason != NULL) continue;
    struct error clean;
    error_say(&clean, "%s: %s", c->ignored[i].file, c->ignored[i].field);
    if (!g->in_json) {
      fprintf(g->c->out, "  %s\n", clean.text);
      continue;
    }
    writer_open(&g->j, '{');
    put_words_as(&g->j, "file", c->ignored[i].file);
    put_words_as(&g->j, "field", c->ignored[i].field);
    writer_close(&g->j, '}');
  }
  if (g->in_json) writer_close(&g->j, ']');
}

/* Unknown fields are not counted here: they have no reason, and are shown by themselves. */
static void show_ignored(struct inspection *g)
{
  const struct model_config *c = &g->o.lm->config;
  const char *field[2] = { NULL, NULL };
  size_t n = c->n_ignored - count_unknown(c);
  for (size_t i = 0; g->o.t != NULL && i < 2; i++)
    field[i] = tokenizer_ignores(g->o.t, i), n += field[i] != NULL;
  if (g->in_json)
    put_open_as(&g->j, "ignored_fields", '[');
  else fprintf(g->c->out, "ignored: %zu fields\n", n);
  for (size_t i = 0; i < c->n_ignored; i++)
    if (c->ignored[i].reason != NULL) show_one_ignored(g, c->ignored[i].file,
        c->ignored[i].field, c->ignored[i].reason);
  for (size_t i = 0; i < 2; i++)
    if (field[i] != NULL) show_one_ignored(g, "tokenizer.json",
      field[i], "for batches of texts; here a "
      "text is neither cut nor filled up");
  if (g->in_json) writer_close(&g->j, ']');
}

/* those that the model uses; of a file alone, all numbers in it. A tied head that is written out
   a second time makes the difference */
static uint64_t count_parameters(const struct inspection *g)
{
  uint64_t n = 0;
  if (g->o.lm != NULL) return model_parameters(g->o.lm);
  for (size_t i = 0; i < tensor_file_count(g->tensors); i++)
    n += tensor_file_at(g->tensors, i)->elements;
  return n;
}

/* those that one row is multiplied with: of a model with experts not all */
static uint64_t count_active(const struct inspection *g)
{
  const struct model_config *c = &g->o.lm->config;
  return count_parameters(g) - (footprint_parameters(c) - footprint_active(c));
}

static void print_inspection(struct inspection *g)
{
  const struct model_config *c = g->o.lm == NULL ? NULL : &g->o.lm->config;
  if (c != NULL) fprintf(g->c->out, "architecture: %s\n", c->family);
  fprintf(g->c->out, "parameters: %" PRIu64 "\n", count_parameters(g));
  size_t files = tensor_file_files(g->tensors);
  if (files > 1) fprintf(g->c->out, "parts: %zu files\n", files);
  if (c != NULL && c->n_experts > 0)
    fprintf(g->c->out, "of these, a token uses: %" PRIu64 "\n", count_active(g));
  if (c != NULL) show_settings(g);
  show_tensors(g);
  if (c == NULL) return;
  show_tokenizer(g);
  show_ignored(g);
  show_unknown(g);
}

/* every key is there, whatever was inspected: a program looks for it by name. Only a model with experts has one more */
static void put_inspection(struct inspection *g)
{
  struct json_writer *j = &g->j;
  const struct model_config *c = g->o.lm == NULL ? NULL : &g->o.lm->config;
  writer_open(j, '{');
  writer_key(j, "architecture");
  if (c != NULL) writer_words(j, c->family);
  else writer_word(j, "null");
  put_count_as(j, "parameters", count_parameters(g));
  put_count_as(j, "parts", tensor_file_files(g->tensors));
  if (c != NULL) {
    if (c->n_experts > 0) put_count_as(j, "active_parameters", count_active(g));
    put_count_as(j, "context", c->n_positions);
    show_settings(g);
    show_tensors(g);
    show_tokenizer(g);
    show_ignored(g);
    show_unknown(g);
  }
  else {
    put_word_as(j, "context", "null");
    put_open_as(j, "config", '{');
    writer_close(j, '}');
    show_tensors(g);
    put_word_as(j, "tokenizer", "null");
    put_open_as(j, "ignored_fields", '[');
    writer_close(j, ']');
    put_open_as(j, "unknown_fields", '[');
    writer_close(j, ']');
  }
  writer_close(j, '}');
  writer_end(j);
}

/* A directory is opened exactly as generate opens it: the operand takes the place of --model in
   a copy of the options, and --model that of an operand; without either the built-in model is
   meant. */
int cmd_inspect(const struct console *c, const struct command_line *w)
{
  struct inspection g = { .c = c, .in_json = w->of[OPTION_JSON].given,
    .j = { c->out, '\0' } };
  const char *path = w->of[OPTION_MODEL].given ? w->of[OPTION_MODEL].text : w->operand;
  struct stat about;
  bool is_file = path != NULL && stat(path, &about) == 0
    && !S_ISDIR(about.st_mode);
  bool is_gguf = is_file && gguf_recognizes(path), is_model = !is_file || is_gguf;
  int status = STATUS_FAILED;
  if (is_model) {
    struct command_line asked = *w;
    asked.of[OPTION_MODEL] = (struct option_value) {
      .given = path != NULL, .text = path };
    status = session_open(&g.o, c, &asked,
      SESSION_NEED_MODEL | SESSION_MAY_TOKENIZER | SESSION_TOLERANT, &g.why);
    if (status == STATUS_DONE) g.tensors = g.o.lm->weights;
  }
  if (!is_model || (is_gguf && status == STATUS_FAILED)) {
    struct error refused = g.why;
    g.tensors = g.alone = tensor_file_open(c->memory, path, &g.why);
    if (g.alone != NULL) status = STATUS_DONE;
    if (g.alone != NULL && is_gguf) session_hint(c, w, refused.text);
    is_model = false;
  }
  if (status == STATUS_DONE && g.in_json) put_inspection(&g);
  else if (status == STATUS_DONE) print_inspection(&g);
  tensor_file_close(c->memory, g.alone);
  if (status == STATUS_DONE && is_model) session_close(&g.o);
  if (status == STATUS_USAGE) return console_usage_error(c, &g.why);
  return status == STATUS_FAILED ? console_fail(c, &g.why) : status;
}
