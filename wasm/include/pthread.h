/* pthread.h -- threads for a machine that has one: what the engine's pool and locks ask for.

   A second thread is refused, as on a machine that has no more of them, so a pool has one worker. With
   one thread a lock is always free, and nobody waits: a wait that returns at once is woken. */

#ifndef INCIPIT_WASM_PTHREAD_H
#define INCIPIT_WASM_PTHREAD_H
#include <errno.h>
#include <stddef.h>

/* wasi-libc has types of these names, of which it makes nothing */
typedef struct { int unused; } lone_thread;
#define pthread_t lone_thread
#define pthread_attr_t lone_thread
#define pthread_mutex_t lone_thread
#define pthread_cond_t lone_thread
#define PTHREAD_MUTEX_INITIALIZER { 0 }

static inline int pthread_mutex_init(pthread_mutex_t *m, const void *a) { (void) m; (void) a; return 0; }
static inline int pthread_mutex_lock(pthread_mutex_t *m) { (void) m; return 0; }
static inline int pthread_mutex_unlock(pthread_mutex_t *m) { (void) m; return 0; }
static inline int pthread_mutex_destroy(pthread_mutex_t *m) { (void) m; return 0; }
static inline int pthread_cond_init(pthread_cond_t *c, const void *a) { (void) c; (void) a; return 0; }
static inline int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) { (void) c; (void) m; return 0; }
static inline int pthread_cond_broadcast(pthread_cond_t *c) { (void) c; return 0; }
static inline int pthread_cond_destroy(pthread_cond_t *c) { (void) c; return 0; }
static inline int pthread_attr_init(pthread_attr_t *a) { (void) a; return 0; }
static inline int pthread_attr_setstacksize(pthread_attr_t *a, size_t n) { (void) a; (void) n; return 0; }
static inline int pthread_attr_destroy(pthread_attr_t *a) { (void) a; return 0; }
static inline int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *x)
{ (void) t; (void) a; (void) f; (void) x; return EAGAIN; }
static inline int pthread_join(pthread_t t, void **r) { (void) t; (void) r; return 0; }
#endif
