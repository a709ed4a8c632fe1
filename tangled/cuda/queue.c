/* queue.c -- The queue of a device, and its memory.
   made from workshop/18-cuda.w; change it there

   Calls collect launches and small numbers; device_flush sends both, in that order of
   time: what was asked for first is done first. Small numbers that were sent stay
   where they are until the device has been waited for. A block that is released is
   given to the next request of its size; that request's launches come after those
   that still use it. After the first failure nothing is sent any more, and every
   question gets the same answer. */

#include <stdio.h>
#include <string.h>
#include "cuda/queue.h"

/* <Note a failure> */
void device_fails(struct device *d, const char *why)
{
  if (!d->failed) snprintf(d->fault, sizeof d->fault, "%s", why);
  d->failed = true, d->n = 0;
}

static bool failed(struct device *d)
{
  char why[200];
  d->driver->fault(d->state, why);
  device_fails(d, why);
  return false;
}

/* <Run the list> */
static struct launch_shape shape_of(const struct launch *l)
{
  return (struct launch_shape) { (uint32_t) l->work, l->x, l->y, l->z, l->threads };
}

static bool has_shape(const struct known_list *k, const struct launch *list, size_t n)
{
  for (size_t i = 0; i < n && k->n == n; i++) {
    struct launch_shape s = shape_of(&list[i]);
    if (memcmp(&k->shape[i], &s, sizeof s) != 0) return false;
  }
  return k->n == n;
}

static bool is_known(struct device *d, size_t n, unsigned *place)
{
  for (*place = 0; *place < KEPT; ++*place)
    if (has_shape(&d->known[*place], d->list, n)) return true;
  struct known_list *k = &d->known[*place = d->oldest];
  d->oldest = (d->oldest + 1) % KEPT, k->n = n;
  for (size_t i = 0; i < n; i++) k->shape[i] = shape_of(&d->list[i]);
  return false;
}

bool device_flush(struct device *d)
{
  size_t from = d->sent, n = d->n;
  if (d->failed) return false;
  if (n == 0) return true;
  d->sent = d->filled, d->n = 0;
  unsigned place;
  bool known = is_known(d, n, &place);
  d->counts.launches += n, d->counts.lists++;
  d->counts.known += known;
  return d->driver->run(d->state, d->list, n, place, known, d->mirror + from, d->small + from,
    d->filled - from) || failed(d);
}

/* <Send small numbers> */
void *device_send(struct device *d, const void *from, size_t bytes)
{
  char *to = d->mirror + d->filled;
  if (d->failed || bytes > SMALL_BYTES - d->filled) {
    device_fails(d, "more was sent than had been reserved");
    return d->mirror;
  }
  memcpy(d->small + d->filled, from, bytes);
  d->filled += (bytes + 15) / 16 * 16;
  return to;
}

static bool settle(struct device *d)
{
  char last;
  return device_flush(d) && (d->driver->get(d->state, &last, d->mirror, 1) || failed(d));
}

void device_reserve(struct device *d, size_t bytes, size_t pieces)
{
  size_t most = bytes + 16 * pieces;
  if (d->filled + most <= SMALL_BYTES) return;
  settle(d);
  d->filled = d->sent = 0;
  if (most > SMALL_BYTES) device_fails(d, "one call has more places to send than there is room for");
}

/* <Add a launch to the list> */
void device_launch(struct device *d, const struct launch *l)
{
  if (l->x == 0 || l->y == 0 || l->z == 0) return;
  if (d->n == MOST_LAUNCHES) device_flush(d);
  if (!d->failed) d->list[d->n++] = *l;
}

/* <Find a block for a request> */
static struct device_block *kept_block(struct device *d, size_t bytes)
{
  for (size_t i = 0; i < d->n_blocks; i++)
    if (!d->block[i].used && d->block[i].bytes == bytes) return &d->block[i];
  return NULL;
}

static void drop_kept(struct device *d)
{
  if (d->n_blocks > 0) settle(d);
  for (size_t i = 0; i < d->n_blocks; )
    if (d->block[i].used) i++;
    else {
      d->driver->release(d->state, d->block[i].p);
      d->block[i] = d->block[--d->n_blocks];
    }
}

static struct device_block *new_block(struct device *d, size_t bytes, struct error *why)
{
  struct device_block *list = memory_reserve(d->m, MEMORY_OTHER, d->block, &d->cap,
    d->n_blocks + 1, 16, sizeof *list, why);
  if (list == NULL) return NULL;
  d->block = list;
  void *p = d->driver->alloc(d->state, bytes);
  if (p == NULL) drop_kept(d), p = d->driver->alloc(d->state, bytes);
  if (p == NULL) return NULL;
  d->block[d->n_blocks] = (struct device_block) { .p = p, .bytes = bytes };
  return &d->block[d->n_blocks++];
}

/* <Give and take memory of the device> */
static void *device_alloc(const struct buffers *b, struct memory *m,
  enum memory_class what, size_t count, size_t size, struct error *why)
{
  struct device *d = (struct device *) (uintptr_t) b;
  if (size != 0 && count > SIZE_MAX / 2 / size) {
    error_say(why, "out of memory of %s: %zu times %zu bytes for %s", d->facts.name,
      count, size, memory_class_name(what));
    return NULL;
  }
  size_t bytes = (count * size + 256) / 256 * 256;
  if (!memory_charge(m, what, count * size, why)) return NULL;
  struct error inner = { "" };
  struct device_block *k = kept_block(d, bytes);
  if (k == NULL) k = new_block(d, bytes, &inner);
  if (k != NULL) {
    k->used = true, k->charged = count * size;
    k->what = what, k->m = m;
    return k->p;
  }
  memory_discharge(m, what, count * size);
  if (d->failed) error_say(why, "%s failed: %s", d->facts.name, d->fault);
  else error_say(why, "out of memory of %s: %zu bytes for %s, %llu held by this program of %llu",
    d->facts.name, count * size, memory_class_name(what),
    (unsigned long long) m->all.live, (unsigned long long) d->facts.bytes);
  return NULL;
}

static void device_release(const struct buffers *b, struct memory *m, void *p)
{
  struct device *d = (struct device *) (uintptr_t) b;
  for (size_t i = 0; i < d->n_blocks && p != NULL; i++) {
    if (d->block[i].p != p || !d->block[i].used) continue;
    memory_discharge(m, d->block[i].what, d->block[i].charged);
    d->block[i].used = false;
  }
}

/* <Move bytes to the device and back> */
static void launch_copy(struct device *d, void *to, const void *from, size_t bytes)
{
  bool wide = ((uintptr_t) to | (uintptr_t) from | bytes) % 16 == 0;
  size_t n = wide ? bytes / 16 : bytes, blocks = (n + 255) / 256;
  struct launch l = { .work = WORK_copy_bytes, .y = 1, .z = 1, .threads = 256 };
  l.x = blocks > WIDEST ? WIDEST : (uint32_t) blocks;
  l.a.copy = (struct copy_args) { to, from, n, wide, 0 };
  device_launch(d, &l);
}

static void device_set(const struct buffers *b, void *to, const void *from, size_t bytes)
{
  struct device *d = (struct device *) (uintptr_t) b;
  if (bytes <= 1 << 16) {
    device_reserve(d, bytes, 1);
    launch_copy(d, to, device_send(d, from, bytes), bytes);
  } else if (device_flush(d) && !d->driver->put(d->state, to, from, bytes)) failed(d);
}

static void device_get(const struct buffers *b, void *to, const void *from, size_t bytes)
{
  struct device *d = (struct device *) (uintptr_t) b;
  memset(to, 0, bytes);
  for (size_t at = 0, now; at < bytes && device_flush(d); at += now) {
    now = bytes - at < SMALL_BYTES ? bytes - at : SMALL_BYTES;
    if (d->driver->get(d->state, d->small, (const char *) from + at, now))
      memcpy((char *) to + at, d->small, now);
    else failed(d);
  }
  d->filled = d->sent = 0;
}

static void device_copy(const struct buffers *b, void *to, const void *from, size_t bytes)
{ launch_copy((struct device *) (uintptr_t) b, to, from, bytes); }

static bool device_working(const struct buffers *b, struct error *why)
{
  struct device *d = (struct device *) (uintptr_t) b;
  return !d->failed || error_say(why, "%s failed: %s", d->facts.name, d->fault);
}

/* <Open and close the memory of a device> */
bool device_memory_open(struct device *d, struct error *why)
{
  d->memory = (struct buffers) { .alloc = device_alloc, .release = device_release,
    .set = device_set, .get = device_get, .copy = device_copy, .working = device_working };
  d->list = memory_alloc(d->m, MEMORY_OTHER, MOST_LAUNCHES, sizeof *d->list, why);
  struct launch_shape *shape = d->list == NULL ? NULL
    : memory_alloc(d->m, MEMORY_OTHER, KEPT * MOST_LAUNCHES, sizeof *shape, why);
  if (shape == NULL) return false;
  for (int i = 0; i < KEPT; i++) d->known[i].shape = shape + i * MOST_LAUNCHES;
  d->mirror = device_alloc(&d->memory, d->m, MEMORY_OTHER, SMALL_BYTES, 1, why);
  d->work = d->mirror == NULL ? NULL
    : device_alloc(&d->memory, d->m, MEMORY_ACTIVATIONS, d->work_bytes, 1, why);
  d->small = d->work == NULL ? NULL : d->driver->alloc_shared(d->state, SMALL_BYTES);
  if (d->small == NULL && d->work != NULL)
    return error_say(why, "out of memory: %d bytes to exchange with %s", SMALL_BYTES, d->facts.name);
  return d->small != NULL;
}

void device_memory_close(struct device *d)
{
  if (d->list != NULL && d->mirror != NULL) settle(d);
  if (d->small != NULL) d->driver->release_shared(d->state, d->small);
  for (size_t i = 0; i < d->n_blocks; i++) {
    struct device_block *b = &d->block[i];
    if (b->used) memory_discharge(b->m, b->what, b->charged);
    d->driver->release(d->state, b->p);
  }
  memory_free(d->m, d->block);
  memory_free(d->m, d->list), memory_free(d->m, d->known[0].shape);
}
