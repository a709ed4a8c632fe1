/* unique.c -- a text is cut into pieces, and equal pieces are kept once, with their number.

   A piece is not copied: its bytes stay in the text, which is the caller's and outlives the
   trainer. The array of pieces may move when it grows; therefore the table gives a piece's number
   and not its address. n_bytes counts each different piece once. */

#include <string.h>
#include "lookups/split.h"
#include "tokens/unique.h"
#include "tokens/utf8.h"

static bool enter_piece(struct memory *m, struct unique_pieces *u,
  const unsigned char *byte, size_t n, struct error *why)
{
  uint32_t known = name_map_get(&u->number, byte, n);
  if (known != 0) {
    u->piece[known - 1].weight++;
    return true;
  }
  struct unique_piece *p = memory_reserve(m, MEMORY_TOKENS, u->piece,
    &u->cap, u->n + 1, 64, sizeof *p, why);
  if (p == NULL) return false;
  u->piece = p;
  u->piece[u->n++] = (struct unique_piece) { byte, n, 1 };
  u->n_bytes += n;
  return name_map_put(m, &u->number, byte, n, (uint32_t) u->n, why);
}

/* Bytes that do not form characters cannot be shown to a pattern, which knows only characters;
   each run of them is a piece of its own, and merges may be learnt inside it as anywhere else. */
static bool cut_runs(struct memory *m, struct unique_pieces *u,
  const unsigned char *text, size_t n, const struct splitter *by,
  struct split_work *cut, struct error *why)
{
  for (size_t at = 0, length = 0; at < n; at += length) {
    bool whole;
    struct pieces p;
    struct text_piece next;
    length = utf8_run(text + at, n - at, &whole);
    pieces_begin(&p, whole ? by : NULL, cut, text + at, length);
    do {
      if (!pieces_next(&p, &next, why)) return false;
      if (next.n > 0 && !enter_piece(m, u, next.byte, next.n, why))
        return false;
    } while (next.n > 0);
  }
  return true;
}

/* Without a pattern the whole text is one piece. With one, the splitter and the memory of its
   searches are needed only here. */
bool unique_collect(struct memory *m, struct unique_pieces *u,
  const unsigned char *text, size_t n, const char *pattern, struct error *why)
{
  if (pattern == NULL) return n == 0 || enter_piece(m, u, text, n, why);
  struct split_work cut = { .m = m };
  struct splitter *by = splitter_open(m, pattern, strlen(pattern), false, why);
  bool ok = by != NULL && cut_runs(m, u, text, n, by, &cut, why);
  splitter_close(by);
  split_work_free(&cut);
  return ok;
}

void unique_free(struct memory *m, struct unique_pieces *u)
{
  name_map_free(m, &u->number);
  memory_free(m, u->piece);
}
