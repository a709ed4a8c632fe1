/* queue.h -- What a device keeps between two calls, for the files of this folder and
   for tests.
   made from workshop/18-cuda.w; change it there */

#ifndef INCIPIT_CUDA_QUEUE_H
#define INCIPIT_CUDA_QUEUE_H
#include "cuda/device.h"
#include "cuda/launch.h"

/* of the small numbers; of the workspace; of that of the host as a device */
enum { SMALL_BYTES = 4 << 20, WORK_BYTES = 64 << 20,
  HOST_WORK_BYTES = 1 << 20 };

/* <A list that was run> */

/* what a graph cannot change */
struct launch_shape { uint32_t work, x, y, z, threads; };

/* a list that was run */
struct known_list { struct launch_shape *shape; size_t n; };

/* <A block of memory of the device> */

/* charged: how much of it, as which class, to whom; meaningless if it is not used */
struct device_block { void *p; size_t bytes, charged; enum memory_class what;
  struct memory *m; bool used; };

/* <What a device keeps> */

/* a device between two calls */
struct device {
  struct buffers memory; /* first: the kernels find the device by it */
  struct kernels k; /* the table of table.c */
  const struct device_driver *driver;
  void *state; /* the driver's */
  struct memory *m;
  struct device_facts facts;
  struct launch *list; /* what waits: n launches */
  size_t n;
  struct known_list known[KEPT]; /* the last shapes; oldest goes next */
  unsigned oldest;
  char *small, *mirror; /* page-locked, and its copy on the device: */
  size_t filled, sent, work_bytes; /* filled bytes, of which sent have been sent */
  struct device_block *block; /* n_blocks, room for cap */
  size_t n_blocks, cap;
  char *work; /* the workspace, work_bytes */
  void *lent[2 * MOST_PARTS]; /* weights that were sent for one launch */
  size_t n_lent;
  bool failed;
  char fault[200]; /* the first failure */
  struct device_counts counts;
};

/* makes room for bytes in pieces calls of device_send; nothing else may be asked
   before the launches that use them */
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
