/* launch.h -- Launches as plain data, and what drives a device.
   made from chapters/14-cuda.w; change it there

   Included by kernels and by the host: nothing of CUDA, and nothing of the engine.
   Launches are compared byte by byte, so what would be padding in the arguments has a
   name, zero, and is 0. Addresses are the device's. */

#ifndef INCIPIT_CUDA_LAUNCH_H
#define INCIPIT_CUDA_LAUNCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a block: its number in three directions, how many threads it has, and, on the host,
   in what order they come */
struct block_place { unsigned x, y, z, threads, order; };

/* the types of numbers with which a device computes: those of enum weight_type */
enum device_type { DEVICE_F32, DEVICE_F16, DEVICE_BF16, DEVICE_Q8_0, DEVICE_Q4_0 };

/* rows of numbers on the device, stride apart; scale: in Q8_0, that of the first 32
   numbers of the first row. Null data: there is no such tensor */
struct stored_rows { const void *data; const uint16_t *scale; uint32_t type, stride; };

/* <What each kernel is given> */

/* matrices of a launch */
enum { MOST_PARTS = 3 };

/* a matrix of out rows; the number of its first block */
struct matrix_part { struct stored_rows weight, bias; float *y; uint32_t out, first; };

/* x: [rows][in]; q and d: the same rounded to bytes, and the scale of each 32; h: the
   same rounded to bfloat16, [rows][in, up to a multiple of sixteen, with zeros] */
struct linear_args { struct matrix_part of[MOST_PARTS]; const float *x; const int8_t *q;
  const float *d; const uint16_t *h; uint32_t n, in, rows, zero; };

/* y += x */
struct add_args { float *y; const float *x; size_t n; };

/* the most blocks of a kernel that does one element, or some, in each thread */
enum { WIDEST = 2048 };

/* <What attention on a device is given> */

/* a struct segment with addresses of the device; page: those of its pages, or null */
struct device_segment { uint64_t key, value, row_bytes, head_bytes; const uint64_t *page;
  uint32_t page_rows, type, sinks, first_row, n_rows, first_position, window, zero; };

/* rows rows of a segment from row on; head: the first query head of each group */
struct query_tile { uint32_t segment, row, rows, head; };

/* heads: query heads a tile; left: [rows from first_row][n_heads][blocks][head_dim +
   2], maximum, sum and weighted values of each block; weights: null, or what
   attention_probe has; y: the result; even: 0 if a number of the cache may be at an
   address that does not suit it; suits: all queries are at multiples of sixteen bytes */
struct attend_args { const float *q; float *left; const struct device_segment *segment;
  const struct query_tile *tile; float *weights; float *y; size_t stride;
  uint32_t n_heads, n_kv_heads, head_dim, heads, blocks, first_row; float scale;
  uint32_t even, suits, zero; };

/* <What the choice of a token is given> */

/* the greatest sum of some tokens, and whose it is */
struct best_token { double score; uint32_t id, zero; };

/* temperature 0: the likeliest; part: the best of each block; the first becomes the
   best of all */
struct choose_args { const float *logits; struct best_token *part; uint64_t seed; double temperature;
  uint32_t n, parts, sequence, position; };
#include "cuda/small.h"

/* <A launch> */
#include "cuda/works.inc"

/* the kernels, by their names */
enum kernel_work { WORKS(WORK_NAME) N_WORKS };

/* what each is given */
union work_args { struct linear_args linear; struct add_args add; struct attend_args attend;
  struct norm_args norm; struct angles_args angles; struct activate_args activate;
  struct move_args move; struct split_args split; struct copy_args copy;
  struct mark_args mark; struct bytes_args bytes; struct halves_args halves; struct write_args write;
  struct choose_args choose; struct probe_args probe; struct round_args round; };

/* in a list; lists whose shape is remembered */
enum { MOST_LAUNCHES = 4096, KEPT = 4 };

/* a kernel, how many blocks in each direction, threads a block, and its arguments */
struct launch { enum kernel_work work; uint32_t x, y, z, threads; union work_args a; };

/* <What a device says of itself> */

/* a device as it describes itself: memory, free memory, and its version of the
   hardware */
struct device_facts { char name[100]; uint64_t bytes, free; uint32_t multiprocessors,
  major, minor; };

/* <What drives a device> */

/* one kind of device */
struct device_driver {
  const char *name;
  /* the state of device number; null and a sentence */
  void *(*open)(unsigned number, struct device_facts *facts, char why[200]);
  void (*close)(void *state);
  void *(*alloc)(void *state, size_t bytes); /* zeroed, aligned to 256; null: refused */
  void (*release)(void *state, void *p);
  void *(*alloc_shared)(void *state, size_t bytes); /* of the host, page-locked: quickly copied */
  void (*release_shared)(void *state, void *p);
  /* to the device, and waits for it */
  bool (*put)(void *state, void *to, const void *from, size_t bytes);
  /* to the host, and waits for it */
  bool (*get)(void *state, void *to, const void *from, size_t bytes);
  /* copies from the host's page-locked memory, and then launches the list; does not
     wait. known: the last list in place, below KEPT, had the same kernels with as
     many blocks */
  bool (*run)(void *state, const struct launch *list, size_t n, unsigned place, bool known,
    void *to, const void *from, size_t bytes);
  void (*fault)(void *state, char why[200]); /* what the last false was about */
};

/* the host as a device: number n has its threads in order n */
extern const struct device_driver driver_host;
#ifdef INCIPIT_CUDA

/* the devices of CUDA */
extern const struct device_driver driver_cuda;
#endif
#endif
