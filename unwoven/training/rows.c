/* rows.c -- from the grammar to rows of tokens. Everything follows from a seed and at, the
   number of the next text: a run that is continued gets the rows that it would have got, and a
   saved state needs to record nothing else of a data set. A row ends where it is full, and the
   rest of its last text is dropped; so a row always begins with the beginning of a text, or
   with the mark before it. */

#include <string.h>
#include "training/rows.h"

/* The texts one after the other, with nothing between them. They have a seed of their own: no
   text of the training or of the evaluation takes part in choosing the merges, for a tokenizer
   that had seen the texts of the evaluation would cut them into unfairly few tokens. The texts
   of one seed are numbered, and each can be written without those before it. If the texts of
   some future grammar do not fit, an error says so. */
static char *tokenizer_texts(struct memory *m, const struct grammar *g,
  size_t cap,
  size_t *length, struct error *why)
{
  struct passage *p = memory_alloc(m, MEMORY_TRAINING, 1, sizeof *p, why);
  char *all = p == NULL ? NULL : memory_alloc(m, MEMORY_TRAINING, cap, 1,
    why);
  bool ok = all != NULL;
  *length = 0;
  for (size_t i = 0; ok && i < DATASET_TOKENIZER_TEXTS; i++) {
    ok = grammar_write(g, SEED_TOKENIZER, i, p, why);
    if (ok && p->length > cap - *length)
      ok = error_say(why, "the trainer: %zu bytes of text do not fit",
        cap);
    if (ok)
      memcpy(all + *length, p->words, p->length), *length += p->length;
  }
  memory_free(m, p);
  if (!ok) memory_free(m, all);
  return ok ? all : NULL;
}

/* The buffer has half a kilobyte for each text on average, ten megabytes for all of them, which
   chapter 1's trainer reads in a second. Then it is freed, and only the merges are kept. */
bool dataset_merges(struct memory *m, const struct grammar *g,
  struct bpe_merge **out,
  size_t *n, struct error *why)
{
  size_t length, cap = DATASET_TOKENIZER_TEXTS * (size_t) 512;
  char *all = tokenizer_texts(m, g, cap, &length, why);
  if (all == NULL) return false;
  bool ok = bpe_train(m, all, length, split_gpt2, DATASET_MERGES, out, n, why);
  memory_free(m, all);
  return ok;
}

struct dataset { struct memory *m; const struct grammar *g;
struct tokenizer *t;
  uint64_t seed, at; struct passage *piece; struct ids list; };

/* Between texts comes an end-of-text, id 0. Before the first text of a row it comes for every
   other text only: the model must learn both beginnings. The rest of the last text is dropped:
   if the next row continued it, the model would learn to mention names that it was never given. */
bool dataset_row(struct dataset *s, uint32_t *row, size_t n,
  struct error *why)
{
  size_t at = 0;
  for (bool first = true; at < n; first = false) {
    if (!grammar_write(s->g, s->seed, s->at, s->piece, why)) return false;
    s->list.n = 0;
    if (!tokenizer_encode(s->t, s->m, s->piece->words,
      s->piece->length, false, false,
      &s->list, why)) return false;
    if (!first || (s->at & 1) != 0) row[at++] = 0;
    for (size_t i = 0; i < s->list.n && at < n;
    i++) row[at++] = s->list.id[i];
    s->at++;
  }
  return true;
}

struct dataset *dataset_open(struct memory *m, const struct grammar *g,
  struct tokenizer *t,
  uint64_t seed, struct error *why)
{
  struct dataset *s = memory_alloc(m, MEMORY_TRAINING, 1, sizeof *s, why);
  if (s == NULL) return NULL;
  *s = (struct dataset) { .m = m, .g = g, .t = t, .seed = seed };
  s->piece = memory_alloc(m, MEMORY_TRAINING, 1, sizeof *s->piece, why);
  if (s->piece != NULL) return s;
  dataset_close(m, s);
  return NULL;
}

void dataset_close(struct memory *m, struct dataset *s)
{
  if (s == NULL) return;
  ids_free(m, &s->list);
  memory_free(m, s->piece);
  memory_free(m, s);
}

uint64_t dataset_at(const struct dataset *s)
{
  return s->at;
}

void dataset_seek(struct dataset *s, uint64_t at)
{
  s->at = at;
}
