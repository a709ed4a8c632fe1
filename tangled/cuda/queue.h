/* queue.h -- made from workshop/37-cuda.w; change it there */

#ifndef INCIPIT_CUDA_QUEUE_H
#define INCIPIT_CUDA_QUEUE_H
#include "cuda/device.h"
#include "cuda/launch.h"

/* of the small numbers, and of the workspace */
enum { SMALL_BYTES = 4 << 20, WORK_BYTES = 64 << 20,
  HOST_WORK_BYTES = 1 << 20 };

/* what a graph cannot change */
struct launch_shape { uint32_t work, x, y, z, threads; };

/* a list that was run */
struct known_list { struct launch_shape *shape; size_t n; };

/* memory of the device, and how much of it is charged to whom */
struct device_block { void *p; size_t bytes, charged; enum memory_class what; struct memory *m; bool used; };

/* memory comes first: the kernels find the device by it */
struct device { struct buffers memory; struct kernels k; const struct device_driver *driver;
  void *state; struct memory *m; struct device_facts facts;
  struct launch *list; size_t n; struct known_list known[KEPT]; unsigned oldest;
  char *small, *mirror; size_t filled, sent, work_bytes;
  struct device_block *block; size_t n_blocks, cap;
  char *work; void *lent[2 * MOST_PARTS]; size_t n_lent; bool failed; char fault[200]; struct device_counts counts; };

/* makes room for that many bytes in as many calls of device_send; nothing else may be
   asked of the device before the launch that uses them */
void device_reserve(struct device *d, size_t bytes, size_t pieces);

/* the place on the device at which a copy of from will be before the next launch */
void *device_send(struct device *d, const void *from, size_t bytes);

/* adds it to the list */
void device_launch(struct device *d, const struct launch *l);

/* runs the list; false if the device has failed */
bool device_flush(struct device *d);

/* gives d->memory its functions, and allocates what d needs itself */
bool device_memory_open(struct device *d, struct error *why);

/* frees all blocks */
void device_memory_close(struct device *d);

/* notes the first failure: nothing is launched any more */
void device_fails(struct device *d, const char *why);

/* makes d->k */
void device_table(struct device *d);
#endif
