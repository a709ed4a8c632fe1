/* device.h -- a graphics processor for the rest of the engine: a table of kernels with a memory
   of its own.

   A device is used by one thread at a time. The caller who opened it closes it, after everything
   that was allocated in its memory has been released. Calls of its kernels only write down what
   to do; an error shows when numbers come back (buffers.working). */

#ifndef INCIPIT_CUDA_DEVICE_H
#define INCIPIT_CUDA_DEVICE_H
#include "kernels/kernels.h"

/* begins with the struct buffers of its memory; used by one thread at a time */
struct device;

/* cuda, cuda:n, or host:n, which runs the same kernels on the host, its threads in order n, 0 to
   2. Owned by the caller. On failure null, and a sentence in why; in a build without CUDA it
   says how to get it */
struct device *device_open(struct memory *m, const char *name, struct error *why);

/* frees what the device still holds; null does nothing */
void device_close(struct device *d);

/* its table, for an engine; valid as long as the device is open */
const struct kernels *device_kernels(const struct device *d);

/* the memory of that table */
const struct buffers *device_memory(const struct device *d);

/* the name that it gives itself */
const char *device_name(const struct device *d);

/* its memory, and what was free when it was opened */
void device_room(const struct device *d, uint64_t *bytes, uint64_t *free);

/* kernels that were launched, and lists in which they were sent */
struct device_counts { uint64_t launches, lists, known; };

/* since it was opened; known: lists that had the shape of one of the last four */
struct device_counts device_count(const struct device *d);

/* multiply-adds in float, and bytes read or written by a copy, a second: the best of some rounds */
bool device_measure(const struct device *d, double *madds, double *bytes, struct error *why);

/* multiplies one row x by a matrix w of bfloat16, [out][in], with kernel number step (0 to 3) of
   chapter 14's table; in is a multiple of 16; x, w and y are in the host's memory. seconds: what
   one of ten launches took */
bool device_step(const struct device *d, unsigned step, const uint16_t *w,
  const float *x, uint32_t in, uint32_t out, float *y, double *seconds, struct error *why);

/* the token that funnel_choose takes from logits on the device, if nothing but a temperature was
   set; 0: the likeliest. Refuses the logits that funnel_fill refuses */
bool device_choose(const struct device *d, const float *logits, uint32_t n,
  double temperature, uint64_t seed, uint32_t sequence, uint32_t position, uint32_t *id,
  struct error *why);
#endif
