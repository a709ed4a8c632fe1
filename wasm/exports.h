/* exports.h -- the functions that a page calls, by the names that it calls them. */

#ifndef INCIPIT_WASM_EXPORTS_H
#define INCIPIT_WASM_EXPORTS_H
#include <stdint.h>
#if !defined EXPORT
#define EXPORT(name)
#endif

/* opens the engine: 1, or 0 and a sentence */
EXPORT(living_open) int32_t page_open(void);

/* why the last call failed */
EXPORT(living_error) const char *page_error(void);

/* room for so many bytes of input, valid until the next call of it; null if there is no memory */
EXPORT(living_room) unsigned char *page_room(int32_t bytes);

/* does what the JSON object in the room says: 1, or 0 and nothing has changed */
EXPORT(living_set) int32_t page_set(int32_t bytes);

/* one token more: 0; 1: an error; 2: the text has ended */
EXPORT(living_step) int32_t page_step(void);

/* drops the last token: 1, or 0 */
EXPORT(living_back) int32_t page_back(void);

/* writes a token of the caller's choice after a node: the number of the new node, or -1 */
EXPORT(living_fork) int32_t page_fork(int32_t node, int32_t id);

/* goes to a node: 1, or 0 */
EXPORT(living_go) int32_t page_go(int32_t node);

/* a beam search after the present text: 1, or 0; living_state has its result */
EXPORT(living_beams) int32_t page_beams(int32_t width, int32_t steps);

/* JSON; empty on failure: the present text, the tree, the stages of the sampler at a node */
EXPORT(living_state) const char *page_state(void);
EXPORT(living_tree) const char *page_tree(void);
EXPORT(living_stages) const char *page_stages(int32_t node);

/* [layers][heads][seq_len] and [vocabulary] of the step that wrote the last token; null: there is none */
EXPORT(living_attention) const float *page_attention(void);
EXPORT(living_logits) const float *page_logits(void);

/* [2][kv heads][head width]: a key, and its value; null: the cache has no such row */
EXPORT(living_numbers) const float *page_numbers(int32_t layer, int32_t position);

/* layers, heads, heads of keys and values, their width, the longest text, the vocabulary, rows of a page */
EXPORT(living_shape) const int32_t *page_shape(void);
#endif
