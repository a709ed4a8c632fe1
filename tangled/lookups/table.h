/* table.h -- made from workshop/16-lookups.w; change it there */

#ifndef INCIPIT_TABLE_H
#define INCIPIT_TABLE_H
#include "ground/ground.h"

/* <A table from pairs to numbers> */

/* a pair and its value; 0: the slot is free */
struct pair_slot { uint32_t left, right, value; };

/* cap slots, a power of two, at most half of them used; a slot whose value is 0 is
   free; all zero is an empty table */
struct pair_map { struct pair_slot *slot; size_t cap, used; };

/* enters value >=1 for a pair, in place of an older one */
bool pair_map_put(struct memory *m, struct pair_map *p, uint32_t left,
  uint32_t right, uint32_t value, struct error *why);

/* the value of a pair, 0 if there is none */
uint32_t pair_map_get(const struct pair_map *p, uint32_t left, uint32_t right);

/* returns the block and empties the table */
void pair_map_free(struct memory *m, struct pair_map *p);

/* <A table from strings to numbers> */

/* n bytes and their value; 0: the slot is free */
struct name_slot { const unsigned char *byte; size_t n; uint32_t value; };

/* like struct pair_map; the bytes belong to the caller and stay where they are */
struct name_map { struct name_slot *slot; size_t cap, used; };

/* enters value >=1 for a string of n bytes, in place of an older one */
bool name_map_put(struct memory *m, struct name_map *p, const unsigned char *byte,
  size_t n, uint32_t value, struct error *why);

/* the value of a string, 0 if there is none */
uint32_t name_map_get(const struct name_map *p, const unsigned char *byte,
  size_t n);

/* returns the block and empties the table */
void name_map_free(struct memory *m, struct name_map *p);

/* <A heap of things to do> */

/* what a heap orders: by key, of equals by tie */
struct heap_item { uint64_t key, tie; };

/* item[0] is the smallest; item[i] is not larger than item[2*i + 1] and item[2*i +
   2]; all zero is empty */
struct heap { struct heap_item *item; size_t n, cap; };

/* puts an entry in; on failure the heap is as it was */
bool heap_push(struct memory *m, struct heap *h, struct heap_item e, struct error *why);

/* takes the smallest of h->n >=1 entries out */
struct heap_item heap_pop(struct heap *h);

/* returns the block and empties the heap */
void heap_free(struct memory *m, struct heap *h);
#endif
