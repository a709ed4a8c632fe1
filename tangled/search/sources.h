/* sources.h -- made from chapters/09-search.w; change it there */

#ifndef INCIPIT_SOURCES_H
#define INCIPIT_SOURCES_H
#include "search/sharing.h"

/* <Two sources to search in> */

/* a table of a hand calculation: the probabilities of three letters after a text, or
   after its last letter */
struct paper_box { const char *letters; bool last; size_t lines;
  struct { const char *after; double p[3]; } line[5]; };

/* the box at the beginning of the chapter, and that of the four rules */
extern const struct paper_box paper_boxes[2];

/* the source that has the scores of paper_boxes[box]; a text begins with token 3 */
struct search_source paper_source(size_t box);

/* search_run with a model and a cache of its own, in pages of page_rows rows, 0 for
   the usual; g->s is not used. If state is not null, it gets what the cache had
   become */
bool search_with_cache(const struct generate_context *g, size_t page_rows,
  const uint32_t *prompt, size_t n, const struct search_settings *want,
  struct search_result *r, struct cache_state *state, struct error *why);
#endif
