/* exports.c -- what a page calls. A page has one engine, so here is the one variable of it; everything else is in the
   module living, which keeps nothing of its own.

   Strings that are returned are UTF-8 with a zero byte at the end, and like arrays they are valid until the next
   call. Nothing is called before living_open has said 1. docs/wasm.md describes each function. */

#include <stdio.h>
#include "living/living.h"

#if defined __wasm__
#define EXPORT(name) __attribute__((export_name(#name)))
#else
#define EXPORT(name)
#endif
#include "exports.h"

static struct living page;

int32_t page_open(void)
{
  return living_material(&page) && living_begin(&page);
}

const char *page_error(void)
{
  return page.why.text;
}

unsigned char *page_room(int32_t bytes)
{
  unsigned char *p = bytes < 0 ? NULL
    : memory_resize(&page.m, MEMORY_TOKENS, page.room.byte, (size_t) bytes + 1, 1, &page.why);
  if (p != NULL) page.room = (struct bytes) { p, 0, (size_t) bytes + 1 };
  return p;
}

int32_t page_set(int32_t bytes)
{
  if (bytes < 0 || (size_t) bytes >= page.room.cap)
    return error_say(&page.why, "settings of %d bytes; wanted: no more than there is room for", (int) bytes);
  return living_set(&page, (const char *) page.room.byte, (size_t) bytes);
}

int32_t page_step(void)
{
  if (living_over(&page)) return 2;
  return living_next(&page, NULL) ? 0 : 1;
}

int32_t page_back(void)
{
  return living_drop(&page);
}

int32_t page_go(int32_t node)
{
  return living_go(&page, (uint32_t) node);
}

/* a place that ends a text has nothing after it */
static bool may_fork(uint32_t node, uint32_t id)
{
  uint32_t v = page.lm->config.vocab_size;
  if (id >= v) return error_say(&page.why, "id %d; wanted: 0 to %d", (int) id, (int) v - 1);
  if (node >= page.n) return error_say(&page.why, "there is no node %d; wanted: 0 to %d", (int) node, (int) page.n - 1);
  if (!page.node[node].stop && page.node[node].n <= LIVING_CONTEXT) return true;
  return error_say(&page.why, "the text ends at node %d", (int) node);
}

/* what fails leaves the page where it was */
int32_t page_fork(int32_t node, int32_t id)
{
  uint32_t was = page.now, wanted = (uint32_t) id;
  if (!may_fork((uint32_t) node, wanted)) return -1;
  if (living_go(&page, (uint32_t) node) && living_next(&page, &wanted)) return (int32_t) page.now;
  struct error why = page.why;
  living_go(&page, was);
  page.why = why;
  return -1;
}

int32_t page_beams(int32_t width, int32_t steps)
{
  if (width >= 0 && steps >= 0) return living_search(&page, (size_t) width, (size_t) steps);
  return error_say(&page.why, "%d beams, %d steps; wanted: positive numbers", (int) width, (int) steps);
}

/* an answer that could not be made is empty, and page_error says why */
static const char *answer(bool made)
{
  return made ? (const char *) page.out.byte : "";
}

const char *page_state(void)
{
  return answer(living_put_state(&page));
}

const char *page_tree(void)
{
  return answer(living_put_tree(&page));
}

const char *page_stages(int32_t node)
{
  return answer(living_put_stages(&page, (uint32_t) node));
}

/* of the step that wrote the last token; null if none was written */
static const struct living_read *last_read(void)
{
  return page.now == 0 ? NULL : &page.node[page.node[page.now].parent].read;
}

const float *page_attention(void)
{
  return last_read() == NULL ? NULL : last_read()->look;
}

const float *page_logits(void)
{
  return last_read() == NULL ? NULL : last_read()->logits;
}

const float *page_numbers(int32_t layer, int32_t position)
{
  return living_cell(&page, (uint32_t) layer, (uint32_t) position);
}

const int32_t *page_shape(void)
{
  const struct model_config *c = &page.lm->config;
  const uint32_t shape[7] = { c->n_layers, c->n_heads, c->n_kv_heads, c->head_dim, LIVING_CONTEXT, c->vocab_size,
    LIVING_PAGE };
  for (int i = 0; i < 7; i++) page.shape[i] = (int32_t) shape[i];
  return page.shape;
}
