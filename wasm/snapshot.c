/* snapshot.c -- snapshot MODEL C WEIGHTS KINDS: the model and the tokenizer in a folder, as they are when they have been
   opened, written as a file of C and a file of weights; and what every character is, as another file of C.

   It runs where the engine is built, with the engine's own readers. So a page needs none of the three libraries
   that they use: JSON has been read, the pattern is asked what every character is (kinds.h), and there is no normal
   form. What the page's part of the engine could not do is refused here: another layout of layers, another pattern,
   another kind of vocabulary. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kinds.h"
#include "families/loader.h"
#include "ground/new_file.h"
#include "model/forward.h"
#include "tokenizer/tokenizer_internal.h"

struct snapshot { struct memory m; struct model *lm; struct tokenizer *t; FILE *c, *weights, *kinds; uint32_t at; struct error why; };

static bool refuse(struct snapshot *s, const char *what)
{
  return error_say(&s->why, "the model has %s; wanted: what a page can hold", what);
}

static bool plain_norm(const struct norm *n)
{
  return n->kind == NORM_RMS && n->gain.data != NULL && n->bias.data == NULL;
}

static bool plain_matrix(const struct matrix *w)
{
  return w->weight.data != NULL && w->bias.data == NULL && !w->transposed;
}

static bool plain_layer(const struct model_layer *l)
{
  bool ok = plain_norm(&l->attn_norm) && plain_norm(&l->mlp_norm) && l->q_norm.gain.data == NULL
    && l->n_qkv == 3 && l->n_up == 2 && plain_matrix(&l->out) && plain_matrix(&l->down);
  for (int i = 0; i < 3; i++) ok = ok && plain_matrix(&l->qkv[i]);
  for (int i = 0; i < 2; i++) ok = ok && plain_matrix(&l->up[i]);
  return ok;
}

/* what wasm/material.c puts together again */
static bool check_model(struct snapshot *s)
{
  const struct model_config *c = &s->lm->config;
  if (c->learned_positions || s->lm->frequency == NULL) return refuse(s, "learned positions");
  if (!c->tied || s->lm->head.weight.data != s->lm->embedding.data) return refuse(s, "a head of its own");
  if (c->sampling.do_sample) return refuse(s, "advice on sampling");
  if (c->window_listed) return refuse(s, "a list of windows");
  for (uint32_t i = 0; i < c->n_layers; i++)
    if (!plain_layer(&s->lm->layers[i])) return refuse(s, "a layer with biases, norms of queries, or one matrix for three");
  return plain_norm(&s->lm->final_norm) || refuse(s, "another norm at its end");
}

/* Is it the tokenizer that its merges make? Then the same function makes it in the page. */
static bool check_tokenizer(struct snapshot *s, const struct bpe_merge *merge)
{
  struct tokenizer *a = s->t, *b = tokenizer_from_merges(&s->m, merge, a->rules.n, &s->why);
  if (b == NULL) return false;
  bool ok = a->n_vocab == b->n_vocab && a->rules.n == b->rules.n && a->n_steps == b->n_steps
    && a->n_normalizers == 0 && a->n_added == b->n_added && a->prefix_ids.n + a->suffix_ids.n == 0
    && !a->char_level && !a->ignore_merges && splitter_same(a->step[0].by, b->step[0].by)
    && memcmp(a->rules.byte_id, b->rules.byte_id, sizeof a->rules.byte_id) == 0
    && memcmp(a->rules.rule, b->rules.rule, a->rules.n * sizeof *a->rules.rule) == 0;
  for (uint32_t id = 0; ok && id < a->n_vocab; id++) {
    size_t n, k;
    const unsigned char *x = tokenizer_text(a, id, &n), *y = tokenizer_text(b, id, &k);
    ok = n == k && memcmp(x, y, n) == 0 && tokenizer_is_special(a, id) == tokenizer_is_special(b, id);
  }
  for (size_t i = 0; ok && i < a->n_added; i++)
    ok = !a->added[i].single_word && !a->added[i].lstrip && !a->added[i].rstrip && a->added[i].id == b->added[i].id;
  tokenizer_close(&s->m, b);
  return ok || refuse(s, "a tokenizer that its merges do not make");
}

static bool put_merges(struct snapshot *s)
{
  size_t n = s->t->rules.n;
  struct bpe_merge *merge = memory_alloc(&s->m, MEMORY_OTHER, n, sizeof *merge, &s->why);
  if (merge == NULL) return false;
  for (size_t i = 0; i < n; i++)
    merge[i] = (struct bpe_merge) { s->t->rules.rule[i].left - 1, s->t->rules.rule[i].right - 1 };
  bool ok = check_tokenizer(s, merge);
  fprintf(s->c, "static const struct bpe_merge merges[] = {");
  for (size_t i = 0; i < n; i++)
    fprintf(s->c, "%s{ %" PRIu32 ", %" PRIu32 " },", i % 8 == 0 ? "\n  " : " ", merge[i].left, merge[i].right);
  fprintf(s->c, "\n};\n\n");
  memory_free(&s->m, merge);
  return ok;
}

/* the size of a tensor that is [rows][n] */
static void put_tensor(struct snapshot *s, struct tensor t, size_t rows, size_t n)
{
  static const unsigned char none[64] = { 0 };
  size_t bytes = rows * weight_row_bytes(t.type, n), more = (64 - bytes % 64) % 64;
  fprintf(s->c, "  { %" PRIu32 ", %d },\n", s->at, (int) t.type);
  fwrite(t.data, 1, bytes, s->weights);
  fwrite(none, 1, more, s->weights);
  s->at += (uint32_t) (bytes + more);
}

static void put_matrix(struct snapshot *s, const struct matrix *w)
{
  put_tensor(s, w->weight, w->out, w->in);
}

static void put_tensors(struct snapshot *s)
{
  const struct model_config *c = &s->lm->config;
  fprintf(s->c, "static const struct built_in_tensor tensors[] = {\n");
  put_tensor(s, s->lm->embedding, c->vocab_size, c->d_model);
  put_tensor(s, s->lm->final_norm.gain, 1, c->d_model);
  for (uint32_t i = 0; i < c->n_layers; i++) {
    const struct model_layer *l = &s->lm->layers[i];
    put_tensor(s, l->attn_norm.gain, 1, c->d_model), put_tensor(s, l->mlp_norm.gain, 1, c->d_model);
    for (int k = 0; k < 3; k++) put_matrix(s, &l->qkv[k]);
    put_matrix(s, &l->out);
    put_matrix(s, &l->up[0]), put_matrix(s, &l->up[1]), put_matrix(s, &l->down);
  }
  fprintf(s->c, "};\n\n");
}

static void put_frequencies(struct snapshot *s)
{
  fprintf(s->c, "static const float frequencies[] = {");
  for (uint32_t i = 0; i < s->lm->config.head_dim / 2; i++)
    fprintf(s->c, "%s%a,", i % 8 == 0 ? "\n  " : " ", (double) s->lm->frequency[i]);
  fprintf(s->c, "\n};\n\n");
}

static void put_settings(struct snapshot *s)
{
  const struct model_config *c = &s->lm->config;
  const struct rope_config *r = &c->rope;
  fprintf(s->c, "const struct built_in built_in = {\n  .setting = {");
  for (int i = 0; i < N_MODEL_SETTINGS; i++) fprintf(s->c, "%s%a,", i % 8 == 0 ? "\n    " : " ", setting_value(&config_setting[i], c));
  fprintf(s->c, "\n  },\n  .family = \"%s\",\n  .rope = { .kind = %d, .theta = %a, .factor = %a, .local_theta = %a, .original = %" PRIu32 ",\n", c->family,
    (int) r->kind, r->theta, r->factor, r->local_theta, r->original);
  fprintf(s->c, "    .low_freq_factor = %a, .high_freq_factor = %a, .beta_slow = %a, .beta_fast = %a,\n", r->low_freq_factor,
    r->high_freq_factor, r->beta_slow, r->beta_fast);
  fprintf(s->c, "    .attention_factor = %a, .mscale = %a, .mscale_all_dim = %a, .truncate = %d },\n", r->attention_factor, r->mscale,
    r->mscale_all_dim, r->truncate);
  fprintf(s->c, "  .n_eos = %" PRIu32 ", .eos = {", c->n_eos);
  for (uint32_t i = 0; i < c->n_eos; i++) fprintf(s->c, " %" PRIu32 ",", c->eos[i]);
  fprintf(s->c, " },\n  .has_bos = %d, .bos = %" PRIu32 ", .scale = %a,\n", c->has_bos, c->bos, (double) s->lm->attention.scale);
  fprintf(s->c, "  .layer_madds = %" PRIu64 ", .layer_bytes = %" PRIu64 ", .head_bytes = %" PRIu64 ",\n", s->lm->layer_madds,
    s->lm->layer_bytes, s->lm->head_bytes);
  fprintf(s->c, "  .matrix_types = %" PRIu32 ", .neighbours = %d, .frequency = frequencies, .tensor = tensors,\n"
    "  .weights = weights, .merge = merges, .n_merges = sizeof merges / sizeof *merges\n};\n\n", s->lm->matrix_types, s->lm->neighbours);
}

/* All characters of Unicode in a row; a surrogate is none. */
static bool all_characters(struct snapshot *s, struct bytes *text)
{
  for (uint32_t c = 0; c < 0x110000; c++) {
    unsigned char b[4] = { (unsigned char) c };
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (c >= 0xd800 && c < 0xe000) continue;
    uint32_t rest = c;
    for (size_t i = n - 1; i > 0; i--, rest >>= 6) b[i] = (unsigned char) (0x80 | (rest & 0x3f));
    if (n > 1) b[0] = (unsigned char) ((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | rest);
    if (!bytes_push(&s->m, text, b, n, &s->why)) return false;
  }
  return true;
}

/* marks the characters that a pattern matches, one by one */
static bool mark(struct snapshot *s, const struct bytes *text, const char *pattern, unsigned char kind, unsigned char *found)
{
  struct split_work w = { .m = &s->m };
  struct pieces p;
  struct text_piece next = { NULL, 1, false };
  struct splitter *by = splitter_open(&s->m, pattern, strlen(pattern), false, &s->why);
  if (by == NULL) return false;
  bool ok = true;
  pieces_begin(&p, by, &w, text->byte, text->n);
  while (ok && next.n > 0) {
    ok = pieces_next(&p, &next, &s->why);
    if (ok && next.match) found[utf8_point(next.byte, next.n)] |= kind;
  }
  split_work_free(&w), splitter_close(by);
  return ok;
}

static bool put_kinds(struct snapshot *s)
{
  static const char *const name[] = { "OTHER", "LETTER", "NUMBER", "?", "SPACE" };
  struct bytes text = { NULL, 0, 0 };
  unsigned char *found = memory_alloc(&s->m, MEMORY_OTHER, 0x110000, 1, &s->why);
  bool ok = found != NULL && all_characters(s, &text) && mark(s, &text, "\\p{L}", 1, found)
    && mark(s, &text, "\\p{N}", 2, found) && mark(s, &text, "\\s", 4, found);
  fprintf(s->kinds, "/* what every character is, as wasm/snapshot.c asked of PCRE2 */\n\n#include \"kinds.h\"\n\nconst struct kind_range kinds[] = {\n");
  size_t n = 0;
  for (uint32_t c = 0; ok && c < 0x110000; c++) {
    if (found[c] == 3 || found[c] > 4) ok = refuse(s, "a character of two kinds");
    if (ok && (c == 0 || found[c] != found[c - 1])) fprintf(s->kinds, "  { 0x%" PRIx32 ", KIND_%s },\n", c, name[found[c]]), n++;
  }
  char version[24];
  splitter_unicode(version);
  fprintf(s->kinds, "};\nconst size_t n_kinds = %zu;\nconst char kinds_unicode[] = \"%s\";\n", n, version);
  memory_free(&s->m, found);
  bytes_free(&s->m, &text);
  return ok;
}

static bool write_all(struct snapshot *s, const char *path, const char *weights)
{
  const char *name = strrchr(weights, '/');
  fprintf(s->c, "/* %s, as wasm/snapshot.c found it */\n\n#include \"built_in.h\"\n\n", path);
  fprintf(s->c, "static const unsigned char weights[] __attribute__((aligned(64))) = {\n#embed \"%s\"\n};\n\n", name == NULL ? weights : name + 1);
  put_tensors(s);
  put_frequencies(s);
  if (!put_merges(s)) return false;
  put_settings(s);
  return put_kinds(s);
}

/* the three files appear together, or none of them */
static bool write_files(struct snapshot *s, char **path)
{
  struct new_file to[3];
  int n = 0;
  while (n < 3 && new_file_open(&to[n], path[n + 1], false, &s->why)) n++;
  if (n == 3) s->c = to[0].f, s->weights = to[1].f, s->kinds = to[2].f;
  bool ok = n == 3 && write_all(s, path[0], path[2]);
  for (int i = 0; ok && i < n; i++) ok = new_file_stored(&to[i], &s->why);
  for (int i = n - 1; i >= 0; i--) ok = new_file_end(&to[i], ok, &s->why) && ok;
  return ok;
}

int main(int argc, char **argv)
{
  struct snapshot s = { .at = 0 };
  if (argc != 5) {
    fprintf(stderr, "usage: snapshot MODEL C WEIGHTS KINDS\n");
    return 2;
  }
  bool ok = (s.lm = model_open(&s.m, argv[1], &s.why)) != NULL && (s.t = tokenizer_open(&s.m, argv[1], &s.why)) != NULL
    && check_model(&s) && write_files(&s, argv + 1);
  if (!ok) fprintf(stderr, "snapshot: %s\n", s.why.text);
  tokenizer_close(&s.m, s.t);
  model_close(&s.m, s.lm);
  return ok ? 0 : 1;
}
