/* Chapter 0: errors, memory, files, workers. */
#define _GNU_SOURCE /* |pthread_getattr_np|, |RTLD_NEXT| */
#include "suite.h"
#include "ground/timing.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <dirent.h>
#include <locale.h>
#include <signal.h>
#include "gguf/gguf.h"
#include "ground/buffers.h"
#include "ground/new_file.h"

START_TEST(error_names_its_four_parts)
{
  struct error why;
  ck_assert(!error_found(&why, "config.json", "n_layers", "-2", "1 or more"));
  ck_assert_str_eq(why.text, "config.json: n_layers is -2; wanted: 1 or more");
  ck_assert(!error_say(NULL, "nobody listens"));
}
END_TEST

START_TEST(error_is_one_line_and_whole_characters)
{
  struct error why;
  error_say(
    &why, "\x1b[2J \xc2\x80\xc2\x9b\xc2\xa0\xc3\x9b"); /* the second set of control characters; what
                                                          only looks like it stays */
  ck_assert_str_eq(why.text, "?[2J ????\xc2\xa0\xc3\x9b");
  error_say(&why, "a\nb\tc\x7f");
  ck_assert_str_eq(why.text, "a?b?c?");
  char longer[600];
  for (size_t shift = 0; shift < 4; shift++) {
    memset(longer, 'x', shift);
    for (size_t i = shift; i + 3 < sizeof longer; i += 3) memcpy(longer + i, "\xe2\x82\xac", 4);
    error_say(&why, "%s", longer);
    size_t n = strlen(why.text);
    ck_assert_uint_lt(n, sizeof why.text);
    ck_assert_uint_ge(n, sizeof why.text - 4);
    ck_assert_uint_eq((n - shift) % 3, 0);
  }
}
END_TEST

START_TEST(books_agree_with_a_second_set)
{
  uint64_t seed = suite_seed();
  struct memory m = { 0 };
  uint64_t given[N_MEMORY_CLASSES] = { 0 }, held[N_MEMORY_CLASSES] = { 0 }, all = 0, peak = 0;
  struct {
    void *p;
    size_t n;
    enum memory_class what;
  } block[40] = { { 0 } };
  for (int i = 0; i < 5000; i++) {
    size_t k = rnd(&seed) % 40;
    if (block[k].p == NULL) {
      block[k].n = rnd(&seed) % 1000;
      block[k].what = (enum memory_class)(rnd(&seed) % N_MEMORY_CLASSES);
      block[k].p = memory_alloc(&m, block[k].what, block[k].n, 3, NULL);
      ck_assert_ptr_nonnull(block[k].p);
      ck_assert_uint_eq((uintptr_t) block[k].p % 64, 0);
      for (size_t j = 0; j < 3 * block[k].n; j++) hold(((char *) block[k].p)[j] == 0);
      memset(block[k].p, 0xa5, 3 * block[k].n);
      given[block[k].what] += 3 * block[k].n, held[block[k].what] += 3 * block[k].n;
      all += 3 * block[k].n;
      if (all > peak) peak = all;
    } else {
      memory_free(&m, block[k].p);
      held[block[k].what] -= 3 * block[k].n, all -= 3 * block[k].n;
      block[k].p = NULL;
    }
    for (int w = 0; w < N_MEMORY_CLASSES; w++) {
      hold(m.of[w].allocated == given[w] && m.of[w].live == held[w]);
    }
    ck_assert_uint_eq(m.all.live, all);
    ck_assert_uint_eq(m.all.peak, peak);
  }
  for (size_t k = 0; k < 40; k++) memory_free(&m, block[k].p);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

START_TEST(refusal_is_exact_and_leaves_the_old_block)
{
  for (uint64_t n = 1; n <= 4; n++) {
    struct memory m = { .fail_at = n };
    struct error why = { { 0 } };
    void *p[3];
    for (uint64_t i = 1; i <= 3; i++) {
      p[i - 1] = memory_alloc(&m, MEMORY_TOKENS, 10, 7, &why);
      ck_assert_int_eq(p[i - 1] == NULL, i == n);
    }
    ck_assert_uint_eq(m.all.requested, 210);
    ck_assert_uint_eq(m.all.refused, n <= 3);
    if (n <= 3) ck_assert_ptr_nonnull(strstr(why.text, "70 bytes for tokens"));
    for (int i = 0; i < 3; i++) memory_free(&m, p[i]);
    ck_assert_uint_eq(m.all.live, 0);
  }
  struct memory m = { .fail_at = 2 };
  char *p = memory_alloc(&m, MEMORY_OTHER, 4, 1, NULL);
  memcpy(p, "abc", 4);
  ck_assert_ptr_null(memory_resize(&m, MEMORY_OTHER, p, 400, 1, NULL));
  ck_assert_str_eq(p, "abc");
  p = memory_resize(&m, MEMORY_OTHER, p, 400, 1, NULL);
  ck_assert_str_eq(p, "abc");
  ck_assert_int_eq(p[399], 0);
  ck_assert_uint_eq(m.all.live, 400);
  ck_assert_uint_eq(m.all.peak, 404);
  memory_free(&m, p);
}
END_TEST

START_TEST(product_of_sizes_is_checked)
{
  struct memory m = { 0 };
  struct error why;
  ck_assert_ptr_null(memory_alloc(&m, MEMORY_WEIGHTS, SIZE_MAX / 2, 3, &why));
  ck_assert_ptr_null(memory_alloc(&m, MEMORY_WEIGHTS, SIZE_MAX, 1, &why));
  ck_assert_ptr_null(memory_alloc(&m, MEMORY_WEIGHTS, (size_t) 1 << 33, (size_t) 1 << 31, &why));
  ck_assert_uint_eq(m.all.refused, 3);
  ck_assert_uint_eq(m.all.requests, 3);
  ck_assert_uint_eq(m.all.requested, 0);
  ck_assert_uint_eq(m.all.allocated, 0);
  void *p = memory_alloc(&m, MEMORY_WEIGHTS, 0, 3, &why);
  ck_assert_ptr_nonnull(p);
  memory_free(&m, p);
}
END_TEST

/* arrays grow by one rule: its capacities, and the copies that the text of chapter 0 counts */
START_TEST(an_array_grows_by_doubling)
{
  static const size_t caps[] = { 32, 96, 224, 480, 992, 2016 };
  struct memory m = { 0 };
  uint32_t *p = NULL;
  size_t cap = 0, k = 0, copied = 0;
  for (size_t n = 0; n < 1000; n++) {
    size_t old = cap;
    uint32_t *q = memory_reserve(&m, MEMORY_TOKENS, p, &cap, n + 1, 32, sizeof *q, NULL);
    ck_assert_ptr_nonnull(q);
    if (old == cap) ck_assert_ptr_eq(q, p);
    else {
      ck_assert_uint_eq(cap, caps[k++]);
      copied += old;
      for (size_t i = n; i < cap; i++) hold(q[i] == 0);
    }
    p = q;
    p[n] = (uint32_t) n;
    ck_assert_uint_eq(m.of[MEMORY_TOKENS].live, cap * sizeof *p);
  }
  ck_assert_uint_eq(k, 6);
  ck_assert_uint_eq(copied, 1824);
  for (size_t n = 0; n < 1000; n++) hold(p[n] == n);
  p = memory_reserve(&m, MEMORY_TOKENS, p, &cap, 5000, 32, sizeof *p, NULL); /* many at once */
  ck_assert_uint_eq(cap, 2 * 4999 + 32);
  p[cap - 1] = 1;
  ck_assert_ptr_eq(memory_reserve(&m, MEMORY_TOKENS, p, &cap, cap, 32, sizeof *p, NULL), p);
  ck_assert_uint_eq(m.all.requests, 7);
  memory_free(&m, p);
  for (size_t first = 1; first < 4; first++)
    for (size_t wanted = 1; wanted < 20; wanted++) {
      cap = 0;
      char *c = memory_reserve(&m, MEMORY_OTHER, NULL, &cap, wanted, first, 1, NULL);
      ck_assert_uint_ge(cap, wanted);
      ck_assert_uint_eq(cap, 2 * (wanted - 1) + first);
      memset(c, 1, cap);
      memory_free(&m, c);
    }
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

START_TEST(an_array_that_may_not_grow_is_left_alone)
{
  struct memory m = { .fail_at = 2 };
  struct error why = { "" };
  size_t cap = 0;
  char *p = memory_reserve(&m, MEMORY_CACHE, NULL, &cap, 1, 4, 1, &why);
  memcpy(p, "abc", 4);
  ck_assert_ptr_null(memory_reserve(&m, MEMORY_CACHE, p, &cap, 5, 4, 1, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "12 bytes for cache, 4 held"));
  ck_assert(cap == 4 && strcmp(p, "abc") == 0);
  static const struct {
    size_t wanted, first, size;
  } large[] = { { SIZE_MAX, 1, 1 }, { SIZE_MAX / 2 + 2, 4, 1 }, { SIZE_MAX / 2 + 1, 32, 4 },
    { SIZE_MAX / 2, 1, 8 }, { SIZE_MAX / 4, 16, 4 }, { SIZE_MAX / 8, 16, 64 } };
  for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
    why.text[0] = '\0';
    ck_assert_ptr_null(memory_reserve(&m, MEMORY_CACHE, p, &cap, large[i].wanted, large[i].first,
      large[i].size, &why));
    ck_assert_ptr_nonnull(strstr(why.text, "for cache"));
    ck_assert(cap == 4 && strcmp(p, "abc") == 0);
    ck_assert_uint_eq(m.of[MEMORY_CACHE].refused, i + 2);
  }
  ck_assert_uint_eq(m.all.live, 4);
  p = memory_reserve(&m, MEMORY_CACHE, p, &cap, 5, 4, 1, &why);
  ck_assert(cap == 12 && memcmp(p, "abc\0\0\0\0\0\0\0\0\0", 12) == 0);
  memory_free(&m, p);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* blocks of any purpose and size, none included; every request refused once */
START_TEST(an_arena_frees_all_it_gave)
{
  enum { BLOCKS = 40 };
  struct error why;
  struct arena none = { 0 };
  arena_free(&none);
  for (uint64_t n = 1; n <= BLOCKS + 1; n++) {
    struct memory m = { .fail_at = n + 1 };
    struct arena a = { .m = &m };
    void *apart = memory_alloc(&m, MEMORY_OTHER, 7, 1, NULL), *p[BLOCKS];
    why.text[0] = '\0';
    for (size_t i = 0; i < BLOCKS; i++) {
      p[i] = arena_alloc(&a, (enum memory_class) (i % N_MEMORY_CLASSES), i, 3, &why);
      ck_assert_int_eq(p[i] == NULL, i + 1 >= n);
      if (p[i] == NULL) continue;
      ck_assert_uint_eq((uintptr_t) p[i] % 64, 0);
      for (size_t j = 0; j < 3 * i; j++) hold(((char *) p[i])[j] == 0);
      memset(p[i], 0xa5, 3 * i);
    }
    ck_assert_int_eq(a.refused, n <= BLOCKS);
    ck_assert_uint_eq(m.all.refused, n <= BLOCKS);
    ck_assert_uint_eq(m.all.requests, 1 + (n <= BLOCKS ? n : BLOCKS)); /* then it is silent */
    ck_assert_int_eq(strstr(why.text, "out of memory") != NULL, n <= BLOCKS);
    ck_assert_uint_eq(m.all.live, 7 + 3 * (n - 1) * (n - 2) / 2);
    for (int twice = 0; twice < 2; twice++) {
      arena_free(&a);
      ck_assert_uint_eq(m.all.live, 7);
    }
    ck_assert(!a.refused);
    m.fail_at = 0;
    char *again = arena_alloc(&a, MEMORY_CACHE, 4, 1, &why); /* and can be filled once more */
    ck_assert_ptr_nonnull(again);
    ck_assert_uint_eq(m.of[MEMORY_CACHE].live, 4);
    arena_free(&a);
    memory_free(&m, apart);
    ck_assert_uint_eq(m.all.live, 0);
  }
}
END_TEST

/* pages of this process that are in memory now */
static long resident(void)
{
  long size, pages = 0;
  FILE *in = fopen("/proc/self/statm", "r");
  if (in != NULL && fscanf(in, "%ld %ld", &size, &pages) != 2) pages = 0;
  if (in != NULL) fclose(in);
  return pages;
}
/* whole pages within the range are given back, the others and what is in no mapping stay as they are; the file does, too */
START_TEST(pages_of_a_file_are_given_back)
{
  enum { SIZE = 8 << 20 };
  char name[] = "/tmp/incipit-ground-XXXXXX";
  unsigned char *text = malloc(SIZE), *twin = malloc(SIZE);
  int f = mkstemp(name);
  struct mapping map;
  struct error why;
  for (size_t i = 0; i < SIZE; i++) text[i] = twin[i] = (unsigned char) (i * i >> 8);
  ck_assert_int_eq(write(f, text, SIZE), SIZE);
  close(f);
  ck_assert(file_map(&map, name, &why));
  ck_assert_mem_eq(map.bytes, text, SIZE);
  long all = resident(), page = sysconf(_SC_PAGESIZE);
  file_release(&map, map.bytes + 1, SIZE - 2);
  if (all > 0) ck_assert_int_lt(resident(), all - SIZE / page * 3 / 4);
  ck_assert_mem_eq(map.bytes, text, SIZE);
  all = resident();
  file_release(&map, map.bytes + 1, (size_t) page - 1), file_release(&map, map.bytes, 0);
  file_release(&map, map.bytes + SIZE / 2, SIZE / 2 + 1), file_release(&map, map.bytes, SIZE_MAX);
  file_release(&map, map.bytes + SIZE + 1, 0), file_release(&map, text, SIZE);
  if (all > 0) ck_assert_int_gt(resident(), all - 200);
  ck_assert_mem_eq(text, twin, SIZE);
  file_unmap(&map), free(text), free(twin), unlink(name);
}
END_TEST

START_TEST(files_are_mapped_or_refused_by_name)
{
  char name[] = "/tmp/incipit-ground-XXXXXX";
  int f = mkstemp(name);
  struct mapping map;
  struct error why;
  ck_assert(file_map(&map, name, &why));
  ck_assert_uint_eq(map.size, 0);
  file_unmap(&map);
  ck_assert_int_eq(write(f, "incipit", 7), 7);
  close(f);
  ck_assert(file_map(&map, name, &why));
  ck_assert_uint_eq(map.size, 7);
  ck_assert_int_eq(memcmp(map.bytes, "incipit", 7), 0);
  file_unmap(&map);
  ck_assert_uint_eq(map.size, 0);
  unlink(name);
  ck_assert(!file_map(&map, name, &why));
  ck_assert_ptr_nonnull(strstr(why.text, name));
  ck_assert(!file_map(&map, "/tmp", &why));
  ck_assert_ptr_nonnull(strstr(why.text, "directory"));
  ck_assert(!file_map(&map, "/dev/null", &why));
  ck_assert_ptr_nonnull(strstr(why.text, "not a regular file"));
}
END_TEST

/* a path of 4095 bytes fits, one of 4096 does not; what is in no folder is looked for where we are */
START_TEST(paths_are_joined_or_refused)
{
  static char path[PATH_CAP], folder[PATH_CAP + 10];
  struct error why;
  ck_assert(path_join(path, "a/b", "c.json", &why));
  ck_assert_str_eq(path, "a/b/c.json");
  ck_assert(path_join(path, "a/", "c", &why));
  ck_assert_str_eq(path, "a//c");
  static const char *const beside[][3] = { { "a/b/c", "d", "a/b/d" }, { "/c", "d", "/d" },
    { "c", "d/e", "d/e" }, { "", "d", "d" }, { "a/", "../d", "a/../d" } };
  for (int i = 0; i < 5; i++) {
    ck_assert(path_beside(path, beside[i][0], beside[i][1], &why));
    ck_assert_str_eq(path, beside[i][2]);
  }
  for (size_t n = PATH_CAP - 4; n < PATH_CAP + 4; n++) {
    memset(folder, 'x', n), folder[n] = '\0';
    why.text[0] = '\0';
    ck_assert_int_eq(path_join(path, folder, "y", &why), n + 2 < PATH_CAP);
    ck_assert_int_eq(strstr(why.text, "the path has") == NULL, n + 2 < PATH_CAP);
    ck_assert_int_eq(path_beside(path, "", folder, NULL), n < PATH_CAP);
    folder[n - 1] = '/';
    ck_assert_int_eq(path_beside(path, folder, "y", NULL), n + 1 < PATH_CAP);
    ck_assert(!path_find(path, folder, "y", F_OK));
  }
  ck_assert(path_find(path, "/tmp", ".", R_OK));
  ck_assert_str_eq(path, "/tmp/.");
  ck_assert(!path_find(path, "/tmp", "incipit: not here", F_OK));
}
END_TEST

START_TEST(hexadecimal_digits_are_read)
{
  static const char digits[] = "0123456789abcdefABCDEF";
  for (int c = 0; c < 256; c++) {
    const char *at = c == 0 ? NULL : strchr(digits, c);
    int wanted = at == NULL ? -1 : at - digits < 16 ? (int) (at - digits) : (int) (at - digits) - 6;
    ck_assert_int_eq(hex_digit((unsigned char) c), wanted);
    for (int d = 0; d < 256; d++) {
      const unsigned char two[2] = { (unsigned char) c, (unsigned char) d };
      int low = hex_digit(two[1]);
      hold(hex_byte(two) == (wanted < 0 || low < 0 ? -1 : 16 * wanted + low));
    }
  }
  char *one = malloc(1); /* nothing is read after what is no digit */
  *one = '\0';
  ck_assert_int_eq(hex_byte(one), -1);
  free(one);
}
END_TEST

struct census {
  atomic_uint calls;
  unsigned seen[8];
  int mode[8];
};
/* how this thread rounds a sum of floats; fegetround would answer for the x87 unit */
static int rounding(void)
{
  volatile float one = 1, little = 0x1p-30f;
  return one + little > 1 ? FE_UPWARD : FE_TONEAREST;
}
static void count_me(void *ctx, unsigned worker, unsigned workers)
{
  struct census *c = ctx;
  atomic_fetch_add(&c->calls, 1);
  ck_assert_uint_lt(worker, workers);
  c->seen[worker]++;
  c->mode[worker] = rounding();
}

static bool note_report(void *ctx, size_t done, size_t all)
{
  size_t *told = ctx;
  told[0] = done, told[1] = all, told[2]++;
  return told[2] != 3;
}
START_TEST(who_has_said_no_is_not_asked_again)
{
  size_t told[3] = { 0 };
  struct progress p = { .report = note_report, .ctx = told };
  ck_assert(progress_tell(NULL, 1, 2) && !progress_cancelled(NULL));
  ck_assert(progress_tell(&p, 1, 9) && told[0] == 1 && told[1] == 9);
  p.before = 20, p.all = 40; /* a part of a whole */
  ck_assert(progress_tell(&p, 5, 9) && told[0] == 25 && told[1] == 40 && !progress_cancelled(&p));
  ck_assert(!progress_tell(&p, 6, 9) && progress_cancelled(&p));
  ck_assert(!progress_tell(&p, 7, 9) && told[2] == 3 && told[0] == 26);
  p.cancelled = false; /* the owner begins something else */
  ck_assert(progress_tell(&p, 8, 9) && told[2] == 4);
}
END_TEST

START_TEST(every_worker_does_every_step_once)
{
  for (unsigned n = 1; n <= 5; n++) {
    struct memory m = { 0 };
    struct pool *p = pool_open(&m, n, NULL);
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(pool_workers(p), n);
    struct census c = { 0 };
    for (int i = 0; i < 2000; i++) {
      pool_run(p, count_me, &c);
      ck_assert_uint_eq(atomic_load(&c.calls), n * (unsigned) (i + 1));
      if (i % 500 == 0) usleep(3000); /* long enough for the helpers to fall asleep */
    }
    for (unsigned i = 0; i < n; i++) ck_assert_uint_eq(c.seen[i], 2000);
    pool_close(&m, p);
    ck_assert_uint_eq(m.all.live, 0);
  }
}
END_TEST

/* more parts than workers, each done once, by whom it may be */
struct shares { atomic_uint seen[64], calls; };
static void take_share(void *ctx, unsigned part, unsigned parts)
{
  struct shares *s = ctx;
  ck_assert(part < parts && parts <= 64);
  atomic_fetch_add(&s->seen[part], 1);
  atomic_fetch_add(&s->calls, 1);
}
START_TEST(every_share_is_taken_once)
{
  for (unsigned n = 1; n <= 5; n++) {
    struct memory m = { 0 };
    struct pool *p = pool_open(&m, n, NULL);
    struct shares s = { .calls = 0 };
    unsigned parts = n == 1 ? 1 : 4 * n;
    ck_assert_ptr_nonnull(p);
    for (unsigned i = 0; i < 1000; i++) {
      pool_share(p, take_share, &s);
      ck_assert_uint_eq(atomic_load(&s.calls), parts * (i + 1));
    }
    for (unsigned i = 0; i < 64; i++) ck_assert_uint_eq(atomic_load(&s.seen[i]), i < parts ? 1000 : 0);
    pool_close(&m, p);
  }
  struct shares s = { .calls = 0 };
  pool_share(NULL, take_share, &s);
  ck_assert_uint_eq(s.seen[0], 1);
}
END_TEST

/* the helpers are born under whatever modes their pool is opened with, and have the standard ones;
   the caller has them from begin to end, and its own again after that */
START_TEST(rounding_mode_is_set_and_put_back)
{
  struct memory m = { 0 };
  struct census c = { 0 };
  struct float_modes modes;
  fesetround(FE_UPWARD);
  struct pool *p = pool_open(&m, 3, NULL);
  pool_run(p, count_me, &c);
  ck_assert_int_eq(c.mode[0], FE_UPWARD);
  float_modes_begin(&modes);
  pool_run(p, count_me, &c);
  pool_run(NULL, count_me, &c);
  ck_assert_int_eq(rounding(), FE_TONEAREST);
  float_modes_end(&modes);
  ck_assert(rounding() == FE_UPWARD && fegetround() == FE_UPWARD);
  fesetround(FE_TONEAREST);
  for (int i = 0; i < 3; i++) ck_assert_int_eq(c.mode[i], FE_TONEAREST);
  pool_close(&m, p);
}
END_TEST

/* an arena that is reset gives the same blocks again, in the same order; one that is too small or for
   another purpose is replaced; never more is held than a round has asked for at each of its places */
START_TEST(a_kept_arena_gives_the_same_blocks)
{
  struct memory m = { 0 };
  struct arena a = { .m = &m };
  void *p[3], *q[3];
  for (int i = 0; i < 3; i++) p[i] = arena_alloc(&a, MEMORY_ACTIVATIONS, 10, 10, NULL);
  memset(p[1], 7, 100);
  uint64_t requests = m.all.requests;
  arena_reset(&a);
  ck_assert_uint_eq(m.all.live, 300);
  for (int i = 0; i < 3; i++) q[i] = arena_alloc(&a, MEMORY_ACTIVATIONS, 100 - i, 1, NULL);
  ck_assert(memcmp(p, q, sizeof p) == 0 && ((char *) q[1])[50] == 7);
  ck_assert_uint_eq(m.all.requests, requests);
  arena_reset(&a);
  ck_assert_ptr_eq(arena_alloc(&a, MEMORY_ACTIVATIONS, 100, 1, NULL), p[0]);
  arena_reset(&a); /* a round that was cut short loses nothing */
  q[0] = arena_alloc(&a, MEMORY_OTHER, 100, 1, NULL);
  q[1] = arena_alloc(&a, MEMORY_ACTIVATIONS, SIZE_MAX, 0, NULL);
  ck_assert(q[0] != NULL && q[1] == p[1]);
  q[2] = arena_alloc(&a, MEMORY_ACTIVATIONS, 101, 1, NULL);
  ck_assert(q[2] != NULL && ((char *) q[2])[100] == 0);
  ck_assert_uint_eq(m.all.live, 301);
  ck_assert_uint_eq(m.all.peak, 301);
  ck_assert_uint_eq(m.of[MEMORY_OTHER].live, 100);
  arena_reset(&a);
  m.fail_at = m.all.requests + 1;
  ck_assert_ptr_null(arena_alloc(&a, MEMORY_OTHER, 101, 1, NULL)); /* refused, and then silent */
  ck_assert(a.refused && arena_alloc(&a, MEMORY_ACTIVATIONS, 1, 1, NULL) == NULL);
  ck_assert_uint_eq(m.all.live, 201);
  arena_free(&a);
  ck_assert(m.all.live == 0 && !a.refused);
}
END_TEST

/* what a pool keeps: an arena for the memory that it is charged to and for one user at a time, and
   a workspace for each worker, at multiples of 64, which only grows */
START_TEST(a_pool_keeps_memory_between_steps)
{
  struct memory m = { 0 }, other = { 0 };
  ck_assert(pool_arena(NULL, &m) == NULL && pool_reserve(NULL, 100, NULL));
  ck_assert_ptr_null(pool_workspace(NULL, 0, 0));
  struct pool *p = pool_open(&m, 3, NULL);
  struct arena *a = pool_arena(p, &m);
  ck_assert(a != NULL && pool_arena(p, &other) == NULL);
  ck_assert_ptr_nonnull(arena_alloc(a, MEMORY_ACTIVATIONS, 5, 8, NULL));
  ck_assert_ptr_null(pool_arena(p, &m));
  arena_reset(a);
  ck_assert_ptr_eq(pool_arena(p, &m), a);
  ck_assert_ptr_null(pool_workspace(p, 0, 1));
  for (size_t bytes = 100; bytes >= 50; bytes -= 50) {
    ck_assert(pool_reserve(p, bytes, NULL));
    char *w[3];
    for (unsigned i = 0; i < 3; i++) {
      w[i] = pool_workspace(p, i, 100);
      ck_assert(w[i] != NULL && (uintptr_t) w[i] % 64 == 0);
      memset(w[i], (int) i, 100);
    }
    for (unsigned i = 0; i < 3; i++) ck_assert(w[i][0] == (char) i && w[i][99] == (char) i);
    ck_assert_ptr_null(pool_workspace(p, 2, 101));
  }
  m.fail_at = m.all.requests + 2;
  ck_assert(!pool_reserve(p, 200, NULL));
  for (unsigned i = 0; i < 3; i++) { /* all have it, or none: and none has lost what it had */
    ck_assert_ptr_null(pool_workspace(p, i, 101));
    ck_assert_ptr_nonnull(pool_workspace(p, i, 100));
    memset(pool_workspace(p, i, 100), 1, 100);
  }
  uint64_t requests = m.all.requests;
  ck_assert(pool_reserve(p, 60, NULL) && m.all.requests == requests);
  ck_assert(pool_reserve(p, 200, NULL) && pool_workspace(p, 2, 200) != NULL);
  ck_assert_uint_eq(m.of[MEMORY_OTHER].peak - m.of[MEMORY_OTHER].live, 100);
  pool_close(&m, p);
  ck_assert(m.all.live == 0 && other.all.live == 0);
}
END_TEST

/* steps of every length, from none at all to one that lets all others fall asleep, with more
   workers than the machine has cores: no step is lost, none is done twice, and the end is seen */
static void dawdle(void *ctx, unsigned worker, unsigned workers)
{
  struct census *c = ctx;
  if (c->seen[worker]++ % 251 == 7 * worker) usleep(600);
  atomic_fetch_add(&c->calls, worker < workers ? 1 : 1000);
}
START_TEST(sleepers_miss_no_step)
{
  for (unsigned n = 2; n <= 8; n += 3) {
    struct memory m = { 0 };
    struct pool *p = pool_open(&m, n, NULL);
    struct census c = { 0 };
    for (unsigned i = 1; i <= 4000; i++) {
      pool_run(p, dawdle, &c);
      ck_assert_uint_eq(atomic_load(&c.calls), n * i);
    }
    pool_close(&m, p);
  }
}
END_TEST

START_TEST(pool_survives_every_refusal)
{
  for (uint64_t n = 1; n <= 3; n++) {
    struct memory m = { .fail_at = n };
    struct error why = { { 0 } };
    struct pool *p = pool_open(&m, 3, &why);
    ck_assert_int_eq(p == NULL, n <= 2);
    pool_close(&m, p);
    ck_assert_uint_eq(m.all.live, 0);
  }
  ck_assert_uint_eq(pool_workers(NULL), 1);
  ck_assert_uint_ge(pool_cores(), 1);
}
END_TEST

/* ---- the system refuses the second thread, the third, and so on: whoever was started has been
   waited for when pool_open returns. We stand between the pool and the C library; a sanitizer wants
   that place for itself */
#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
static int created, joined, refuse_thread;
typedef int creating(pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);
typedef int joining(pthread_t, void **);
static void real(const char *name, void *to)
{
  void *f = dlsym(RTLD_NEXT, name);
  memcpy(to, &f, sizeof f);
}
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *x)
{
  creating *create;
  if (refuse_thread > 0 && created + 1 == refuse_thread) return 11; /* EAGAIN */
  real("pthread_create", &create), created++;
  return create(t, a, f, x);
}
int pthread_join(pthread_t t, void **result)
{
  joining *join;
  real("pthread_join", &join), joined++;
  return join(t, result);
}
START_TEST(a_refused_thread_ends_those_before_it)
{
  for (int workers = 2; workers <= 6; workers++)
    for (refuse_thread = 1; refuse_thread <= workers; refuse_thread++) {
      struct memory m = { 0 };
      struct error why = { "" };
      char wanted[60];
      created = joined = 0;
      struct pool *p = pool_open(&m, (unsigned) workers, &why);
      snprintf(wanted, sizeof wanted, "thread %d of %d: ", refuse_thread + 1, workers);
      ck_assert_int_eq(p != NULL, refuse_thread == workers);
      if (p == NULL) ck_assert_ptr_eq(strstr(why.text, wanted), why.text);
      ck_assert(created == refuse_thread - 1 && joined == (p == NULL ? created : 0));
      pool_close(&m, p);
      ck_assert(joined == created && m.all.live == 0);
    }
}
END_TEST
#define REFUSED_THREADS(t) tcase_add_test(t, a_refused_thread_ends_those_before_it)
#else
#define REFUSED_THREADS(t) tally("threads that are refused", 0, 0, 1, "a sanitizer has pthread_create")
#endif

/* ---- a process that was forked has no workers: it is told so, and can close the pool */
static void nothing(void *ctx, unsigned worker, unsigned workers)
{
  (void) ctx, (void) worker, (void) workers;
}
START_TEST(a_forked_process_has_no_workers)
{
  for (unsigned n = 0; n <= 3; n++)
    for (int asleep = 0; asleep < 2; asleep++) {
      struct memory m = { 0 };
      struct pool *p = n == 0 ? NULL : pool_open(&m, n, NULL);
      int status;
      pool_run(p, nothing, NULL);
      if (asleep) usleep(100000);
      pid_t child = fork();
      if (child == 0) {
        alarm(20);
        bool here = pool_alive(p) == (n < 2);
        if (n < 2) pool_run(p, nothing, NULL);
        pool_close(&m, p);
        _exit(here && m.all.live == 0 ? 0 : 1);
      }
      ck_assert(child > 0 && waitpid(child, &status, 0) == child);
      ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%u workers: status %d", n, status);
      ck_assert(pool_alive(p));
      pool_run(p, nothing, NULL), pool_close(&m, p);
      ck_assert_uint_eq(m.all.live, 0);
    }
}
END_TEST

/* ---- no worker has less stack than a build without optimization and with guards needs */
static void measure_stack(void *ctx, unsigned worker, unsigned workers)
{
  pthread_attr_t a;
  size_t *bytes = ctx;
  (void) workers;
  if (pthread_getattr_np(pthread_self(), &a) != 0) return;
  pthread_attr_getstacksize(&a, &bytes[worker]), pthread_attr_destroy(&a);
}
START_TEST(workers_have_stacks_for_large_frames)
{
  struct memory m = { 0 };
  size_t bytes[3] = { 0 };
  struct pool *p = pool_open(&m, 3, NULL);
  pool_run(p, measure_stack, bytes), pool_close(&m, p);
  for (int i = 1; i < 3; i++) ck_assert_uint_ge(bytes[i], 4u << 20);
}
END_TEST

/* ---- bytes without end are refused, however many there are already, and those stay */
START_TEST(lengths_that_wrap_are_refused)
{
  struct memory m = { 0 };
  struct bytes b = { NULL, 0, 0 };
  struct error why;
  for (size_t n = 0; n < 40; n++) {
    for (size_t less = 0; less < 100; less++) {
      ck_assert(!bytes_push(&m, &b, "x", SIZE_MAX - less, &why));
      ck_assert_ptr_nonnull(strstr(why.text, "out of memory"));
    }
    ck_assert(b.n == n && (n == 0 || b.byte[n - 1] == 'a' + n % 26));
    ck_assert(bytes_push(&m, &b, &(char){ (char) ('a' + (n + 1) % 26) }, 1, &why));
  }
  bytes_free(&m, &b);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- what was freed is an empty list again, and can be filled */
START_TEST(a_freed_list_is_an_empty_one)
{
  struct memory m = { 0 };
  struct bytes b = { NULL, 0, 0 };
  struct ids list = { NULL, 0, 0 };
  struct error why;
  for (int twice = 0; twice < 2; twice++) {
    ck_assert(bytes_push(&m, &b, "abc", 3, &why) && b.n == 3 && memcmp(b.byte, "abc", 3) == 0);
    ck_assert(ids_push(&m, &list, 7, &why) && list.n == 1 && list.id[0] == 7);
    bytes_free(&m, &b), ids_free(&m, &list);
    ck_assert(b.byte == NULL && b.n == 0 && list.id == NULL && list.n == 0);
  }
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- memory that is another's is in the books, of all and of its class; refused, it is in none */
START_TEST(what_is_charged_is_held)
{
  struct memory m = { 0 };
  struct error why = { "" };
  ck_assert(memory_charge(&m, MEMORY_CACHE, 100, &why) && memory_charge(&m, MEMORY_WEIGHTS, 7, &why));
  ck_assert(m.all.live == 107 && m.of[MEMORY_CACHE].live == 100 && m.of[MEMORY_WEIGHTS].live == 7);
  memory_discharge(&m, MEMORY_CACHE, 100);
  ck_assert(m.all.live == 7 && m.of[MEMORY_CACHE].live == 0 && m.of[MEMORY_CACHE].peak == 100 && m.all.peak == 107);
  m.fail_at = m.all.requests + 1;
  ck_assert(!memory_charge(&m, MEMORY_CACHE, 100, &why) && strstr(why.text, "out of memory: 100 bytes for cache, 7 held") != NULL);
  ck_assert(m.all.live == 7 && m.of[MEMORY_CACHE].live == 0 && m.of[MEMORY_CACHE].refused == 1);
  memory_discharge(&m, MEMORY_WEIGHTS, 7);
  ck_assert(m.all.live == 0 && m.of[MEMORY_WEIGHTS].live == 0);
}
END_TEST

/* ---- a quarter of the measurements is below the lower quartile, and a quarter above the upper */
START_TEST(quartiles_are_at_the_quarters)
{
  double eight[] = { 5, 1, 4, 2, 3, 6, 8, 7 }, one[] = { 3 }, five[] = { 50, 10, 40, 20, 30 };
  struct quartiles q = timing_quartiles(eight, 8);
  ck_assert(q.low == 3 && q.median == 5 && q.high == 7);
  q = timing_quartiles(five, 5);
  ck_assert(q.low == 20 && q.median == 30 && q.high == 40);
  q = timing_quartiles(one, 1);
  ck_assert(q.low == 3 && q.median == 3 && q.high == 3);
}
END_TEST

/* ---- what is left behind by a file that is refused, and by a second unmapping */
static int next_descriptor(void)
{
  int f = dup(0);
  close(f);
  return f;
}
START_TEST(a_refused_file_leaves_nothing_behind)
{
  char folder[] = "/tmp/incipit-ground-XXXXXX", path[4][60];
  static const char *const words[4] = { "a directory", "not a regular file", "cannot be opened" };
  ck_assert_ptr_nonnull(mkdtemp(folder));
  static const char *const name[4] = { "folder", "pipe", "nobody", "empty" };
  for (int i = 0; i < 4; i++) snprintf(path[i], sizeof path[i], "%s/%s", folder, name[i]);
  ck_assert(mkdir(path[0], 0700) == 0 && mkfifo(path[1], 0600) == 0);
  close(open(path[3], O_WRONLY | O_CREAT, 0600));
  int before = next_descriptor();
  for (int twice = 0; twice < 2; twice++)
    for (int i = 0; i < 4; i++) { /* a pipe that nobody writes is refused, and not waited for */
      struct mapping map = { (const unsigned char *) "stale", 5 };
      struct error why = { "" };
      bool ok = file_map(&map, path[i], &why);
      ck_assert_int_eq(ok, words[i] == NULL);
      ck_assert_uint_eq(map.size, 0);
      ck_assert_ptr_nonnull(map.bytes);
      if (!ok) ck_assert_msg(strstr(why.text, words[i]) != NULL, "%s", why.text);
      if (!ok) ck_assert_msg(strstr(why.text, path[i]) != NULL, "%s", why.text);
      file_unmap(&map), file_unmap(&map);
      ck_assert_int_eq(next_descriptor(), before);
    }
  FILE *f = fopen(path[3], "w");
  fputs("incipit", f), fclose(f);
  struct mapping map;
  ck_assert(file_map(&map, path[3], NULL) && map.size == 7);
  ck_assert_int_eq(next_descriptor(), before); /* a map needs no descriptor either */
  file_unmap(&map), file_unmap(&map);
  ck_assert(map.size == 0 && map.bytes != NULL);
  unlink(path[3]), unlink(path[1]), rmdir(path[0]), rmdir(folder);
}
END_TEST

/* each purpose has a book of its own: what is counted for all is their sum, but for the peaks */
START_TEST(every_purpose_keeps_its_own_book)
{
  static const char *const name[N_MEMORY_CLASSES] = { "weights", "cache", "activations", "tokens",
    "training", "other" };
  uint64_t seed = suite_seed() + 1, peak[N_MEMORY_CLASSES] = { 0 };
  struct memory m = { 0 };
  struct error why;
  struct {
    void *p;
    size_t n;
  } block[N_MEMORY_CLASSES][8] = { { { 0 } } };
  for (int i = 0; i < 3000; i++) {
    unsigned what = (unsigned) (rnd(&seed) % N_MEMORY_CLASSES), k = (unsigned) (rnd(&seed) % 8);
    enum memory_class of = (enum memory_class) what;
    size_t n = rnd(&seed) % 100, old = block[what][k].n;
    void *p = block[what][k].p, *q = NULL;
    if (rnd(&seed) % 8 == 0) m.fail_at = m.all.requests + 1;
    switch (rnd(&seed) % 4) {
    case 0:
      q = memory_alloc(&m, of, SIZE_MAX / 2, 3 + n, &why);
      ck_assert(q == NULL && strstr(why.text, name[what]) != NULL);
      break;
    case 1: memory_free(&m, p), block[what][k].p = NULL, block[what][k].n = 0; break;
    default: /* longer, or shorter */
      q = memory_resize(&m, of, p, n, 7, &why);
      if (q == NULL) {
        char words[120];
        snprintf(words, sizeof words, "%zu bytes for %s, %llu held", 7 * n, name[what],
          (unsigned long long) m.all.live);
        ck_assert_msg(strstr(why.text, words) != NULL, "%s; wanted: %s", why.text, words);
        break;
      }
      for (size_t j = 0; j < 7 * (old < n ? old : n); j++)
        hold(((unsigned char *) q)[j] == what + k);
      memset(q, (int) (what + k), 7 * n);
      block[what][k].p = q, block[what][k].n = n;
    }
    m.fail_at = 0;
    uint64_t sum[5] = { 0 };
    const struct account *b = &m.all;
    uint64_t all[5] = { b->requests, b->refused, b->requested, b->allocated, b->live };
    for (int w = 0; w < N_MEMORY_CLASSES; w++) {
      const struct account *a = &m.of[w];
      uint64_t held = 0;
      for (int j = 0; j < 8; j++) held += 7 * block[w][j].n;
      hold(a->live == held && a->peak >= held && a->peak >= peak[w]);
      if (a->live > peak[w]) peak[w] = a->live;
      hold(a->peak <= peak[w] + (w == (int) what ? 700 : 0)); /* old and new at once */
      peak[w] = a->peak;
      sum[0] += a->requests, sum[1] += a->refused, sum[2] += a->requested, sum[3] += a->allocated;
      sum[4] += a->live;
    }
    for (int j = 0; j < 5; j++)
      if (sum[j] != all[j]) ck_abort_msg("round %d, sum %d", i, j);
  }
  ck_assert_uint_gt(m.all.refused, 500);
  for (int w = 0; w < N_MEMORY_CLASSES; w++) {
    ck_assert_str_eq(memory_class_name((enum memory_class) w), name[w]);
    for (int j = 0; j < 8; j++) memory_free(&m, block[w][j].p);
  }
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* characters of one to four bytes, cut at each; the first and last of both sets of controls */
START_TEST(sentences_end_and_are_cleaned_at_the_right_byte)
{
  static const char *const letter[] = { "x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };
  struct error why;
  for (size_t k = 0; k < 4; k++)
    for (size_t shift = 0; shift < 5; shift++) {
      char longer[700] = "xxxxx";
      size_t one = strlen(letter[k]), cap = sizeof why.text - 1;
      for (size_t at = shift; at + 4 < sizeof longer; at += one)
        memcpy(longer + at, letter[k], one + 1);
      error_say(&why, "%s", longer);
      size_t n = strlen(why.text);
      ck_assert_uint_eq((n - shift) % one, 0);
      ck_assert_uint_gt(n + 2 * one, cap);
      ck_assert(memcmp(why.text, longer, n) == 0);
    }
  error_say(&why, "%s", "\x01\x1f \x7e\x7f\xc2\x80\xc2\x9f\xc2\xa0\xc3\x80\xc3\x9f");
  ck_assert_str_eq(why.text, "?? ~?????\xc2\xa0\xc3\x80\xc3\x9f");
}
END_TEST

/* ---- what a new file takes the place of: a file or nothing, at the end of whatever links */
static char room[40];
static const char *in_room(const char *name)
{
  static char path[8][600];
  static unsigned n;
  char *p = path[n++ % 8];
  snprintf(p, sizeof *path, "%s/%s", room, name);
  return p;
}
static unsigned names_in_room(void)
{
  unsigned n = 0;
  DIR *d = opendir(room);
  while (readdir(d) != NULL) n++;
  closedir(d);
  return n - 2;
}
static void enter_room(void)
{
  strcpy(room, "/tmp/incipit-ground-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(room));
}
static void leave_room(void)
{
  char line[120];
  snprintf(line, sizeof line, "chmod -R u+w %s; rm -r %s", room, room);
  ck_assert_int_eq(system(line), 0);
}
static void put(const char *path, const char *text)
{
  FILE *f = fopen(path, "w");
  ck_assert(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}
static void holds_text(const char *path, const char *text)
{
  char there[100] = "";
  FILE *f = fopen(path, "r");
  ck_assert_msg(f != NULL, "%s", path);
  ck_assert(fread(there, 1, 99, f) == strlen(text) && fclose(f) == 0);
  ck_assert_str_eq(there, text);
}
static bool made(const char *path, bool stream, struct error *why)
{
  struct new_file n;
  if (!new_file_open(&n, path, stream, why)) return false;
  fputs("new", n.f);
  return new_file_end(&n, true, why);
}
START_TEST(a_new_file_replaces_a_file_or_nothing)
{
  struct error why = { "" };
  struct stat st;
  enter_room();
  /* nothing, and a file, whose permissions stay */
  ck_assert_msg(made(in_room("free"), false, &why), "%s", why.text);
  holds_text(in_room("free"), "new");
  put(in_room("old"), "old");
  ck_assert_int_eq(chmod(in_room("old"), 0640), 0);
  ck_assert(made(in_room("old"), false, &why) && stat(in_room("old"), &st) == 0);
  ck_assert_uint_eq(st.st_mode & 0777, 0640);
  holds_text(in_room("old"), "new");
  /* a name as long as a name may be */
  char longest[256] = { 0 };
  memset(longest, 'n', 255);
  ck_assert_msg(made(in_room(longest), false, &why), "%s", why.text);
  /* links: of links, to a file, to one that is not there yet, relative and absolute; they stay */
  ck_assert_int_eq(mkdir(in_room("below"), 0700), 0);
  put(in_room("below/file"), "old");
  static const char *const link[][2] = { { "below/file", "to-file" }, { "to-file", "to-link" },
    { "below/nothing", "dangling" }, { "../old", "below/up" } };
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(symlink(link[i][0], in_room(link[i][1])), 0);
    if (i == 1) put(in_room("below/file"), "old");
    if (i == 3) put(in_room("old"), "old");
    ck_assert_msg(made(in_room(link[i][1]), false, &why), "%s", why.text);
    ck_assert(lstat(in_room(link[i][1]), &st) == 0 && S_ISLNK(st.st_mode));
    holds_text(in_room(link[i][1]), "new");
  }
  holds_text(in_room("below/file"), "new");
  holds_text(in_room("below/nothing"), "new");
  ck_assert_int_eq(symlink(in_room("below/later"), in_room("whole")), 0);
  ck_assert(made(in_room("whole"), false, &why));
  holds_text(in_room("below/later"), "new");
  /* an open file under the name that Linux gives it */
  char open_file[40];
  put(in_room("opened"), "old");
  int f = open(in_room("opened"), O_RDONLY);
  snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", f);
  ck_assert_msg(made(open_file, false, &why), "%s", why.text);
  holds_text(in_room("opened"), "new");
  ck_assert_int_eq(unlink(in_room("opened")), 0);
  close(f);
  unsigned n = names_in_room();
  put(in_room("gone"), "old");
  f = open(in_room("gone"), O_RDONLY);
  ck_assert(f >= 0 && unlink(in_room("gone")) == 0);
  snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", f);
  ck_assert(!made(open_file, false, &why) && strstr(why.text, open_file) != NULL);
  ck_assert_uint_eq(names_in_room(), n);
  close(f);
  leave_room();
}
END_TEST

/* what is no file stays what it is, and nothing is left beside it */
START_TEST(a_new_file_replaces_nothing_else)
{
  static const char *const kind[] = { "a directory", "a directory", "a pipe", "a pipe", "a socket", "a device",
    "a device", "symbolic link", "No such file", "Not a directory", "No such file", "symbolic link" };
  static const char *const name[] = { "folder", "to-folder", "pipe", "to-pipe", "socket", "device", "disk",
    "circle", "nowhere/x", "file/x", "to-nowhere", "far-0" };
  struct error why;
  struct stat before, after;
  enter_room();
  put(in_room("file"), "old");
  ck_assert(mkdir(in_room("folder"), 0700) == 0 && symlink("folder", in_room("to-folder")) == 0
    && mkfifo(in_room("pipe"), 0600) == 0 && symlink("pipe", in_room("to-pipe")) == 0
    && symlink("circle", in_room("circle")) == 0 && symlink("nowhere/x", in_room("to-nowhere")) == 0);
  for (int i = 0; i < 50; i++) {
    char from[20], to[20];
    snprintf(from, sizeof from, "far-%d", i), snprintf(to, sizeof to, "far-%d", i + 1);
    ck_assert_int_eq(symlink(to, in_room(from)), 0);
  }
  struct sockaddr_un at = { .sun_family = AF_UNIX };
  snprintf(at.sun_path, sizeof at.sun_path, "%s", in_room("socket"));
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  ck_assert_int_eq(bind(s, (struct sockaddr *) &at, sizeof at), 0);
  bool devices = mknod(in_room("device"), S_IFCHR | 0600, makedev(1, 3)) == 0
    && mknod(in_room("disk"), S_IFBLK | 0600, makedev(7, 200)) == 0;
  if (!devices) tally("new files and devices", 0, 0, 1, "mknod is not permitted");
  unsigned n = names_in_room();
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
    const char *path = in_room(name[i]);
    if (!devices && strcmp(kind[i], "a device") == 0) continue;
    bool there = lstat(path, &before) == 0;
    /* a disk, a folder and a socket are no streams either */
    for (int stream = 0; stream < (strcmp(kind[i], "a pipe") == 0 || i == 5 ? 1 : 2); stream++) {
      why.text[0] = '\0';
      ck_assert_msg(!made(path, stream, &why), "%s", path);
      ck_assert_msg(strstr(why.text, path) == why.text && strstr(why.text, kind[i]) != NULL, "%s", why.text);
      ck_assert_int_eq(lstat(path, &after) == 0, there);
      ck_assert(!there || (after.st_ino == before.st_ino && after.st_mode == before.st_mode));
      ck_assert_uint_eq(names_in_room(), n);
    }
  }
  ck_assert(!made("", false, &why) && strstr(why.text, "cannot be written") != NULL);
  char longest[PATH_CAP + 2];
  memset(longest, 'x', sizeof longest - 1), longest[sizeof longest - 1] = '\0';
  ck_assert(!made(longest, false, &why) && strstr(why.text, "the path has") != NULL);
  holds_text(in_room("file"), "old");
  close(s), leave_room();
}
END_TEST

/* a stream is written to and stays */
START_TEST(a_new_file_may_be_a_stream)
{
  struct error why = { "" };
  struct stat st;
  char there[4] = "";
  enter_room();
  ck_assert(mkfifo(in_room("pipe"), 0600) == 0);
  int f = open(in_room("pipe"), O_RDONLY | O_NONBLOCK);
  ck_assert_msg(made(in_room("pipe"), true, &why), "%s", why.text);
  ck_assert(read(f, there, 3) == 3 && strcmp(there, "new") == 0 && close(f) == 0);
  ck_assert(lstat(in_room("pipe"), &st) == 0 && S_ISFIFO(st.st_mode));
  put(in_room("old"), "old");
  ck_assert(made(in_room("old"), true, &why));
  holds_text(in_room("old"), "new");
  int d = mknod(in_room("device"), S_IFCHR | 0600, makedev(1, 3)) == 0 ? open(in_room("device"), O_WRONLY) : -1;
  if (d < 0) tally("a device as a stream", 0, 0, 1, "mknod or its device is not permitted");
  else {
    ck_assert(close(d) == 0 && made(in_room("device"), true, &why));
    ck_assert(lstat(in_room("device"), &st) == 0 && S_ISCHR(st.st_mode));
  }
  leave_room();
}
END_TEST

/* what fails, or is given up, leaves the older file and nothing beside it */
START_TEST(a_new_file_is_whole_or_absent)
{
  struct error why = { "" };
  struct new_file n, other;
  enter_room();
  put(in_room("old"), "old");
  ck_assert(new_file_open(&n, in_room("old"), false, &why) && new_file_open(&other, in_room("free"), false, &why));
  ck_assert_uint_eq(names_in_room(), 3);
  fputs("half", n.f), fputs("half", other.f);
  ck_assert(!new_file_end(&n, false, NULL) && !new_file_end(&other, false, NULL));
  holds_text(in_room("old"), "old");
  ck_assert_uint_eq(names_in_room(), 1);
  /* it can be read before it has its name; a name that is taken in the meantime is not cleared away */
  ck_assert(new_file_open(&n, in_room("taken"), false, &why));
  fputs("new", n.f);
  ck_assert(new_file_stored(&n, &why) && n.f == NULL && new_file_stored(&n, &why));
  holds_text(n.part, "new");
  ck_assert_int_eq(mkdir(in_room("taken"), 0700), 0);
  ck_assert(!new_file_end(&n, true, &why) && strstr(why.text, "taken: cannot be written: ") != NULL);
  ck_assert_uint_eq(names_in_room(), 2);
  /* a disk that is full, noticed by a write or by the last one, at the closing */
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, limit;
  getrlimit(RLIMIT_FSIZE, &before), limit = before, limit.rlim_cur = 20000;
  for (size_t length = 20001; length < 80000; length += 20000) {
    ck_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0 && new_file_open(&n, in_room("old"), false, &why));
    for (size_t i = 0; i < length; i++) fputc('x', n.f);
    if (length > 60000) setrlimit(RLIMIT_FSIZE, &before); /* there is room again, too late */
    bool ok = new_file_end(&n, true, &why);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_msg(!ok && strstr(why.text, length > 60000 ? "old: cannot be written: Input/output error"
      : "old: cannot be written: File too large") != NULL, "%s", why.text);
    holds_text(in_room("old"), "old");
    ck_assert_uint_eq(names_in_room(), 2);
  }
  /* a file, and a folder, that may not be written to, by a user who is not root */
  ck_assert(chmod(in_room("old"), 0444) == 0 && chmod(in_room("taken"), 0555) == 0 && chmod(room, 0777) == 0);
  pid_t child = fork();
  if (child == 0) {
    bool ok = getuid() != 0 || setuid(65534) == 0;
    ok = ok && !made(in_room("old"), false, &why) && strstr(why.text, "old: cannot be written: Permission denied") != NULL;
    ok = ok && !made(in_room("taken/x"), false, &why) && strstr(why.text, "x: cannot be written: Permission denied") != NULL;
    _exit(!ok);
  }
  int status;
  ck_assert(waitpid(child, &status, 0) == child && status == 0);
  holds_text(in_room("old"), "old");
  ck_assert_uint_eq(names_in_room(), 2);
  leave_room();
}
END_TEST

/* a country that writes a comma: our numbers have a point there, and its own keep the comma */
START_TEST(a_sentence_is_the_same_in_every_country)
{
  char line[400], there[20];
  struct error why;
  enter_room();
  put(in_room("rules"), "comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\n"
    "grouping -1\nEND LC_NUMERIC\n");
  snprintf(line, sizeof line, "localedef -c -i %s/rules -f UTF-8 %s/comma 2>/dev/null", room, room);
  bool made_it = system(line) != -1 && setenv("LOCPATH", room, 1) == 0 && setlocale(LC_NUMERIC, "comma") != NULL;
  if (!made_it) tally("sentences in another country", 0, 0, 1, "localedef makes none here");
  else {
    snprintf(there, sizeof there, "%g", 2.5);
    ck_assert_str_eq(there, "2,5");
    error_say(&why, "top_p is %g", 2.5);
    ck_assert_str_eq(why.text, "top_p is 2.5");
    float x = 2.5f;
    const struct gguf_entry e = { .type = GGUF_F32, .count = 1, .at = (const unsigned char *) &x };
    ck_assert_str_eq(gguf_excerpt(&e, (char[64]){ 0 }), "2.5");
    snprintf(there, sizeof there, "%g", 2.5);
    ck_assert_str_eq(there, "2,5");
    setlocale(LC_NUMERIC, "C");
  }
  leave_room();
}
END_TEST

START_TEST(two_paths_may_be_one_file)
{
  char path[100];
  enter_room();
  put(in_room("a"), "a"), put(in_room("b"), "a");
  ck_assert(link(in_room("a"), in_room("hard")) == 0 && symlink("a", in_room("soft")) == 0);
  snprintf(path, sizeof path, "%s/./../%s/a", room, strrchr(room, '/') + 1);
  ck_assert(path_same(in_room("a"), in_room("hard")) && path_same(in_room("soft"), in_room("hard")));
  ck_assert(path_same(in_room("a"), path) && !path_same(in_room("a"), in_room("b")));
  ck_assert(!path_same(in_room("a"), in_room("c")) && !path_same(in_room("c"), in_room("a")));
  ck_assert(!path_same(in_room("c"), in_room("c")));
  leave_room();
}
END_TEST

int main(void)
{
  Suite *s = suite_create("ground");
  TCase *edges = tcase_create("edges");
  tcase_set_timeout(edges, 60);
  tcase_add_test(edges, a_freed_list_is_an_empty_one);
  tcase_add_test(edges, what_is_charged_is_held);
  tcase_add_test(edges, quartiles_are_at_the_quarters);
  tcase_add_test(edges, a_refused_file_leaves_nothing_behind);
  tcase_add_test(edges, every_purpose_keeps_its_own_book);
  tcase_add_test(edges, sentences_end_and_are_cleaned_at_the_right_byte);
  tcase_add_test(edges, a_new_file_replaces_a_file_or_nothing);
  tcase_add_test(edges, a_new_file_replaces_nothing_else);
  tcase_add_test(edges, a_new_file_may_be_a_stream);
  tcase_add_test(edges, a_new_file_is_whole_or_absent);
  tcase_add_test(edges, two_paths_may_be_one_file);
  tcase_add_test(edges, a_sentence_is_the_same_in_every_country);
  suite_add_tcase(s, edges);
  TCase *t = tcase_create("ground");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, error_names_its_four_parts);
  tcase_add_test(t, error_is_one_line_and_whole_characters);
  tcase_add_test(t, books_agree_with_a_second_set);
  tcase_add_test(t, refusal_is_exact_and_leaves_the_old_block);
  tcase_add_test(t, product_of_sizes_is_checked);
  tcase_add_test(t, an_array_grows_by_doubling);
  tcase_add_test(t, an_array_that_may_not_grow_is_left_alone);
  tcase_add_test(t, an_arena_frees_all_it_gave);
  tcase_add_test(t, files_are_mapped_or_refused_by_name);
  tcase_add_test(t, pages_of_a_file_are_given_back);
  tcase_add_test(t, paths_are_joined_or_refused);
  tcase_add_test(t, hexadecimal_digits_are_read);
  tcase_add_test(t, who_has_said_no_is_not_asked_again);
  tcase_add_test(t, every_worker_does_every_step_once);
  tcase_add_test(t, every_share_is_taken_once);
  tcase_add_test(t, rounding_mode_is_set_and_put_back);
  tcase_add_test(t, sleepers_miss_no_step);
  tcase_add_test(t, a_kept_arena_gives_the_same_blocks);
  tcase_add_test(t, a_pool_keeps_memory_between_steps);
  tcase_add_test(t, pool_survives_every_refusal);
  tcase_add_test(t, lengths_that_wrap_are_refused);
  REFUSED_THREADS(t);
  tcase_add_test(t, a_forked_process_has_no_workers);
  tcase_add_test(t, workers_have_stacks_for_large_frames);
  suite_add_tcase(s, t);
  return suite_run(s);
}
