/* suite.h -- what every check suite shares: Check, a tally of golden lines, the way to ../shared.
   A suite is one program.  It writes its test results as TAP to $INCIPIT_TAP and, for every file
   of golden cases, one line  FILE<TAB>PASSED<TAB>FAILED<TAB>SKIPPED<TAB>REASON  to $INCIPIT_TALLY.
 */
#ifndef INCIPIT_SUITE_H
#define INCIPIT_SUITE_H
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ground/ground.h"

static inline void tally(
  const char *file, unsigned passed, unsigned failed, unsigned skipped, const char *reason)
{
  const char *path = getenv("INCIPIT_TALLY");
  FILE *f = path ? fopen(path, "a") : NULL;
  if (f == NULL) return;
  fprintf(f, "%s\t%u\t%u\t%u\t%s\n", file, passed, failed, skipped, reason);
  fclose(f);
}

/* Check writes down every assertion that holds, too; in loops of thousands only the one that does
   not hold is told */
#define hold(...)                                                                                  \
  do {                                                                                             \
    if (!(__VA_ARGS__)) ck_abort_msg("%s", #__VA_ARGS__);                                          \
  } while (0)
#define hold_msg(holds, ...)                                                                       \
  do {                                                                                             \
    if (!(holds)) ck_abort_msg(__VA_ARGS__);                                                       \
  } while (0)

/* the path of a file below ../shared, or null when it is not there (then it is tallied as skipped)
 */
static inline const char *shared_file(char *buffer, size_t size, const char *name)
{
  const char *base = getenv("SHARED");
  snprintf(buffer, size, "%s/%s", base ? base : "../shared", name);
  if (access(buffer, R_OK) == 0) return buffer;
  tally(name, 0, 0, 1, "no ../shared");
  return NULL;
}

/* a small generator for property tests; its seed is printed when a test fails */
static inline uint64_t rnd(uint64_t *s)
{
  uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
static inline uint64_t suite_seed(void)
{
  const char *s = getenv("INCIPIT_SEED");
  return s ? strtoull(s, NULL, 0) : 20260101;
}

static inline int suite_run(Suite *s)
{
  SRunner *r = srunner_create(s);
  if (getenv("INCIPIT_TAP")) srunner_set_tap(r, getenv("INCIPIT_TAP"));
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed != 0;
}
#endif
