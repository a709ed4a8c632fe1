/* quantize.c -- from a directory, or a file of floats, to one GGUF file.

   Rounding is done by weights_encode, and the file is written by gguf/writing.h. What is left is
   translation: other names of tensors (quantize_plan.c), other names of settings (families), another
   form of the vocabulary (tokenizer-json). It must be complete, because a setting that is forgotten is
   a model that writes nonsense; so the file is read again before it gets its name. It appears whole or
   not at all, and never in the place of the model that it is made of. */

#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "command/quantize.h"
#include "command/quantize_plan.h"
#include "families/families.h"
#include "families/gguf_settings.h"
#include "families/loader.h"
#include "gguf/parts.h"
#include "gguf/writing.h"
#include "ground/new_file.h"
#include "model/quantization.h"
#include "safetensors/jsonfile.h"
#include "safetensors/tensor_file.h"
#include "tokenizer-json/gguf_tokenizer.h"

/* A row of the table of types has the word that a user has for it. */
bool quantize_type(const char *name, enum weight_type *type)
{
  for (unsigned t = 0; t < N_WEIGHT_TYPES; t++)
    if (number_types[t].is_written && strcmp(name, number_types[t].word) == 0) {
      *type = (enum weight_type) t;
      return true;
    }
  return false;
}

struct work {
  struct memory *m;
  struct quantize_options *o;
  struct quantize_result *r;
  const struct model *lm;
  struct quantize_plan plan;
  float *x; /* a row, */
  unsigned char *coded; /* and its bytes */
  struct tokenizer *t; /* null: none */
  struct gguf_draft draft;
  uint64_t done, all; /* numbers */
  struct error *why;
};

/* Other programs show the type of most matrices, whose number is in the row of the type. That need not
   be the type that was asked for: in a narrow model no row may be a whole number of blocks. */
static void add_kind(struct work *w)
{
  size_t n[N_WEIGHT_TYPES] = { 0 }, most = 0;
  for (size_t i = 0; i < N_WEIGHT_TYPES; i++) {
    for (size_t k = 0; k < w->plan.n; k++)
      n[i] += !w->plan.list[k].is_vector && w->plan.list[k].type == i;
    if (n[i] > n[most] || (n[i] == n[most] && w->o->type == i)) most = i;
  }
  gguf_add_count(&w->draft, "general.file_type", number_types[most].file);
  gguf_add_count(&w->draft, "general.quantization_version", 2);
}

/* The name of the model is that of its directory, whatever slashes follow it. */
static void add_name(struct work *w)
{
  const char *from = w->o->from;
  size_t n = strlen(from), at;
  while (n > 0 && from[n - 1] == '/') n--;
  for (at = n; at > 0 && from[at - 1] != '/'; at--) {}
  gguf_add_text(&w->draft, "general.type", "model", 5);
  if (at < n && from[n - 1] != '.')
    gguf_add_text(&w->draft, "general.name", from + at, n - at);
}

static void add_settings(struct work *w)
{
  const struct model_config *c = &w->lm->config;
  const char *arch = family_named(c->family)->gguf;
  gguf_add_text(&w->draft, "general.architecture", arch, strlen(arch));
  add_name(w);
  add_kind(w);
  gguf_settings_write(&w->draft, c);
}

/* The ids that begin and end a text, and whether a first token is added. A file has room for three ends:
   of a text, of a turn, and of a message to a tool. If there are more, a list has all of them; not every
   program reads it. */
static void add_ids(struct work *w, const struct tokenizer *t)
{
  static const char *const ends[] = { "tokenizer.ggml.eos_token_id",
    "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id" };
  const struct model_config *c = &w->lm->config;
  bool adds = t != NULL && t->prefix_ids.n > 0;
  if (adds || c->has_bos) gguf_add_count(&w->draft, "tokenizer.ggml.bos_token_id",
    adds ? t->prefix_ids.id[0] : c->bos);
  for (uint32_t i = 0; i < c->n_eos && i < 3; i++)
    gguf_add_count(&w->draft, ends[i], c->eos[i]);
  if (c->n_eos > 3) {
    gguf_add_array(&w->draft, "tokenizer.ggml.eos_token_ids", GGUF_I32, c->n_eos);
    for (uint32_t i = 0; i < c->n_eos; i++) gguf_add_number(&w->draft, 4, c->eos[i]);
  }
  if (t == NULL) return;
  gguf_add_flag(&w->draft, "tokenizer.ggml.add_bos_token", adds);
  gguf_add_flag(&w->draft, "tokenizer.ggml.add_eos_token", t->suffix_ids.n > 0);
  if (t->char_level && t->unknown > 0)
    gguf_add_count(&w->draft, "tokenizer.ggml.unknown_token_id", t->unknown - 1);
}

/* A model without a tokenizer gets a file without one, which says so. */
static bool add_vocabulary(struct work *w)
{
  if (w->t == NULL) gguf_add_text(&w->draft, "tokenizer.ggml.model", "none", 4);
  add_ids(w, w->t);
  return w->draft.ok && (w->t == NULL || gguf_tokenizer_write(&w->draft, w->t,
    w->lm->config.vocab_size, w->o->from, w->why));
}

/* The template of a chat is a text in a file of its own or in tokenizer_config.json. It is handed on as
   it is, whether we know it or not. */
static bool add_template(struct work *w)
{
  static const char key[] = "tokenizer.chat_template";
  char path[PATH_CAP];
  struct mapping map;
  if (path_find(path, w->o->from, "chat_template.jinja", F_OK)) {
    if (!file_map(&map, path, w->why)) return false;
    gguf_add_text(&w->draft, key, map.bytes, map.size);
    file_unmap(&map);
    return w->draft.ok;
  }
  if (!path_find(path, w->o->from, "tokenizer_config.json", F_OK)) return true;
  json_t *all = jsonfile_read(path, JSONFILE_MAX_SETTINGS, w->why);
  const json_t *text = json_object_get(all, "chat_template");
  if (json_is_string(text)) gguf_add_text(&w->draft, key, json_string_value(text),
    json_string_length(text));
  json_decref(all);
  return all != NULL && w->draft.ok;
}

/* A model that comes from a GGUF file keeps all of its keys but the two that say how it is rounded, the
   alignment, which is ours, and those of a model in parts: the new one is whole. */
static bool copy_keys(struct work *w)
{
  static const char *const changed[] = { "general.file_type",
    "general.quantization_version", "general.alignment", "split.no", "split.count",
    "split.tensors.count" };
  struct gguf_parts p;
  if (!gguf_parts_open(&p, w->m, w->o->from, w->why)) return false;
  const struct gguf_file *g = &p.part[0].g;
  for (size_t i = 0; i < g->n_entries; i++) {
    bool other = false;
    for (int k = 0; k < 6; k++)
      other = other || (g->entry[i].key.n == strlen(changed[k])
        && memcmp(g->entry[i].key.text, changed[k], g->entry[i].key.n) == 0);
    if (!other) gguf_add_entry(&w->draft, &g->entry[i]);
  }
  gguf_parts_close(&p);
  add_kind(w);
  return w->draft.ok;
}

/* A row of the file is a row of the model, or a column if the matrix is transposed. */
static bool write_row(struct work *w, const struct planned *p, size_t i, FILE *f)
{
  struct error inner;
  size_t row, bytes = weight_row_bytes(p->type, p->in);
  struct tensor from = quantize_row(p, i, &row);
  for (size_t k = 0; k < p->in; k++)
    w->x[k] = tensor_number(from,
      p->transposed ? k * quantize_columns(p) + row : row * p->in + k);
  if (!weights_encode(p->type, w->x, p->in, w->coded, &inner))
    return error_say(w->why, "%s: %s, row %zu: %.200s", w->o->from, p->name, row,
      inner.text);
  /* A number of 16 bits that is too large rounds to infinity, and a model with such a weight computes
     nothing. In float16 that begins at 65520; a model that was published in bfloat16 may have a weight
     beyond that, and can stay in bfloat16. */
  for (size_t k = 0; k < p->in && number_types[p->type].block == 1; k++) {
    float y = tensor_number((struct tensor) { w->coded, p->type }, k);
    if (y - y != 0) return error_say(w->why, "%s: %s, row %zu: number %zu, %g,"
      " is infinite in %s; wanted: smaller numbers, or another type", w->o->from,
      p->name, row, k, (double) w->x[k], number_types[p->type].name);
  }
  fwrite(w->coded, 1, bytes, f);
  w->done += p->in;
  return true;
}

/* Now and then the caller is told how far we are, and may give up. A full disk is noticed there as well:
   there is no reason to compute for another hour. */
static bool write_tensor(struct work *w, const struct planned *p, FILE *f)
{
  uint64_t told = w->done;
  for (size_t i = 0; i < p->out; i++) {
    if (!write_row(w, p, i, f)) return false;
    if (w->done - told < 1 << 16 && i + 1 < p->out) continue;
    told = w->done;
    if (!progress_tell(w->o->progress, (size_t) w->done, (size_t) w->all))
      return error_say(w->why, "%s: the writing was given up", w->o->to);
    if (ferror(f)) return error_say(w->why, "%s: cannot be written: %s", w->o->to,
      strerror(errno));
  }
  gguf_write_padding(f, (uint64_t) p->out * weight_row_bytes(p->type, p->in));
  return true;
}

/* The list is made of the plan, and the sizes are added up. The model's own bytes are counted by tensor,
   so that a head that is tied counts once on both sides. */
static bool list_tensors(struct work *w)
{
  size_t longest = 1;
  struct quantize_result *r = w->r;
  for (size_t i = 0; i < w->plan.n; i++) {
    const struct planned *p = &w->plan.list[i];
    uint64_t each = p->stack > 0 ? p->out / p->stack : p->out;
    const uint64_t shape[] = { p->stack, each, p->in };
    gguf_add_tensor(&w->draft, p->name, p->type, (p->stack > 0) + (p->is_vector ? 1u : 2u),
      shape + (p->stack == 0));
    if (p->in > longest) longest = p->in;
    w->all += (uint64_t) p->in * p->out;
    r->tensors++;
    r->blocks += p->type == w->o->type;
    r->before += p->out * weight_row_bytes(p->from.type, p->in);
    r->after += p->out * weight_row_bytes(p->type, p->in);
  }
  r->numbers = w->all;
  w->x = memory_alloc(w->m, MEMORY_OTHER, longest, sizeof *w->x, w->why);
  w->coded = w->x == NULL ? NULL
    : memory_alloc(w->m, MEMORY_OTHER, longest, sizeof(float), w->why);
  return w->coded != NULL && w->draft.ok;
}

/* Two tokenizers are taken for equal if they read a difficult text in the same way. */
static bool same_tokens(struct work *w, const struct tokenizer *t, const char *part)
{
  static const char text[] = "Once upon a time, there's  naive\t\n\n 12345 "
    "Zo\xc3\xab's \xe2\x82\xac""9.99\n  x=(y+1); \xe6\x97\xa5\xe6\x9c\xac "
    "\xf0\x9f\x99\x82 e\xcc\x81t\xc3\xa9 THE end";
  struct tokenizer *again = tokenizer_open(w->m, part, w->why);
  struct ids a = { .n = 0 }, b = { .n = 0 };
  bool ok = again != NULL && tokenizer_encode(t, w->m, text, sizeof text - 1,
      true, true, &a, w->why)
    && tokenizer_encode(again, w->m, text, sizeof text - 1, true, true, &b, w->why);
  if (ok && (a.n != b.n || memcmp(a.id, b.id, a.n * sizeof *a.id) != 0))
    ok = error_say(w->why, "%s: its tokenizer cannot be said in a GGUF file",
      w->o->from);
  ids_free(w->m, &a);
  ids_free(w->m, &b);
  tokenizer_close(w->m, again);
  return ok;
}

/* The settings and the tokenizer of the new file, before it gets its name. */
static bool read_again(struct work *w, const char *part)
{
  struct model_config c;
  struct config_options fields = w->o->fields;
  fields.used = NULL;
  if (!config_open_with(&c, w->m, part, &fields, w->why)) return false;
  bool ok = gguf_settings_same(&w->lm->config, &c, w->o->from, w->why);
  config_close(w->m, &c);
  return ok && (w->t == NULL || same_tokens(w, w->t, part));
}

static bool write_numbers(struct work *w, FILE *f)
{
  bool ok = gguf_write_draft(&w->draft, f);
  for (size_t i = 0; ok && i < w->plan.n; i++) ok = write_tensor(w, &w->plan.list[i], f);
  long size = ok ? ftell(f) : -1;
  w->r->file = size > 0 ? (uint64_t) size : 0;
  return ok;
}

/* One regular file is never replaced, and that is the model. It may be reached by another name, so the
   files are compared and not their names. If the model is a directory, that applies to everything in it
   except GGUF files, for those were made of the model and are no part of it; if it is in several files,
   to each of them. */
static bool is_in_parts(const struct work *w)
{
  const struct tensor_file *all = w->lm->weights;
  for (size_t i = 0; i < tensor_file_count(all); i++)
    if (path_same(tensor_file_at(all, i)->file, w->o->to)) return true;
  return path_same(tensor_file_path(all), w->o->to);
}

static bool is_of_model(const char *from, const char *to)
{
  char at[PATH_CAP];
  DIR *list = opendir(from);
  bool is = path_same(from, to);
  for (struct dirent *e; list != NULL && !is && (e = readdir(list)) != NULL; ) {
    const char *end = strrchr(e->d_name, '.');
    is = (end == NULL || (end != e->d_name && strcmp(end, ".gguf") != 0))
      && path_join(at, from, e->d_name, NULL) && path_same(at, to);
  }
  if (list != NULL) closedir(list);
  return is;
}

/* It cannot be a stream, because it is read again before it gets its name. */
static bool write_whole(struct work *w)
{
  struct new_file to;
  if (is_of_model(w->o->from, w->o->to) || is_in_parts(w))
    return error_say(w->why, "%s: is the model itself, or a file of it; wanted: another file",
      w->o->to);
  if (!new_file_open(&to, w->o->to, false, w->why)) return false;
  bool ok = write_numbers(w, to.f) && new_file_stored(&to, w->why)
    && read_again(w, to.part);
  return new_file_end(&to, ok, w->why);
}

/* A file that is to be rounded must have floats: rounding a second time what was rounded would add the
   errors, and nothing would show it. */
static bool is_of_floats(const struct work *w)
{
  return (w->lm->matrix_types & WEIGHTS_IN_BLOCKS) == 0 || error_found(w->why,
    w->o->from, "a tensor", "in blocks already", "f32, f16 or bf16");
}

static bool find_tokenizer(struct work *w)
{
  enum tokenizer_found found = tokenizer_try(w->m, w->o->from, &w->t, w->why);
  return found == TOKENIZER_OPEN || found == TOKENIZER_ABSENT;
}

static bool make_file(struct work *w)
{
  bool one_file = gguf_recognizes(w->o->from);
  if (!is_of_floats(w) || !quantize_plan_make(&w->plan)) return false;
  if (one_file ? !copy_keys(w) : !find_tokenizer(w)) return false;
  if (!one_file) {
    add_settings(w);
    if (!add_vocabulary(w) || !add_template(w)) return false;
  }
  return list_tensors(w) && write_whole(w);
}

bool quantize_file(struct memory *m, struct quantize_options *o,
  struct quantize_result *r, struct error *why)
{
  struct model_open_options open = { .fields = o->fields };
  struct model *lm = model_open_with(m, o->from, &open, why);
  struct work w = { .m = m, .o = o, .r = r, .lm = lm, .why = why,
    .plan = { .m = m, .lm = lm, .type = o->type, .why = why },
    .draft = { .m = m, .ok = true, .why = why } };
  *r = (struct quantize_result) { .tensors = 0 };
  o->fields.n_unknown = open.fields.n_unknown;
  if (lm != NULL) w.plan.layout = layout_find("gguf", lm->config.family);
  bool ok = lm != NULL && (w.plan.layout != NULL || error_found(why, o->from, "model_type",
    lm->config.family, "a family of which we know how GGUF files have it"))
    && (lm->config.rope.kind != ROPE_LONG || error_found(why, o->from, "rope_scaling", "longrope",
    "a way to stretch positions that we can write")) && make_file(&w);
  quantize_plan_free(&w.plan);
  memory_free(m, w.x);
  memory_free(m, w.coded);
  gguf_draft_free(&w.draft);
  tokenizer_close(m, w.t);
  model_close(m, lm);
  return ok;
}
