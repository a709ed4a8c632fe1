/* the program -- made from chapters/14-cuda.w; change it there */

#include <stdio.h>
#include <string.h>
#include "cache/cache.h"
#include "cuda/device.h"
#include "model/forward.h"
#include "model/toy.h"

enum { READ = 5 };

/* <Put five words through a table> */
static bool logits_of(struct memory *m, const struct kernels *k, float *logits,
  struct error *why)
{
  static struct toy y;
  struct counters c = { .passes = 0 };
  struct engine e = { .k = k, .c = &c };
  struct cache_options o = { .page_rows = 2, .memory = k->memory };
  struct row rows[READ];
  size_t all[READ];
  struct pass *p = NULL;
  toy_make(&y);
  for (uint32_t i = 0; i < READ; i++)
    rows[i] = (struct row) { 0, i, i * 3 % TOY_WORDS }, all[i] = i;
  struct store *s = cache_open(m, &y.lm.config, 1, &o, why);
  bool ok = s != NULL && model_forward(&e, &y.lm, s, rows, READ, &p, why)
    && model_logits(&e, &y.lm, p, all, READ, logits, why);
  pass_close(p);
  store_close(s);
  return ok;
}

/* <Compare a device with the plain table> */
static bool compare_device(struct memory *m, unsigned order, bool values)
{
  static const char *const name[] = { "forwards", "backwards", "in steps" };
  float plain[READ * TOY_WORDS], there[READ * TOY_WORDS];
  char which[] = "host:0";
  struct error why;
  struct device_counts n = { 0, 0, 0 };
  int differ = 0;
  which[5] = (char) ('0' + order);
  struct device *d = device_open(m, which, &why);
  bool ok = d != NULL && logits_of(m, &kernels_plain, plain, &why)
    && logits_of(m, device_kernels(d), there, &why);
  if (!ok) printf("%s\n", why.text);
  else n = device_count(d);
  for (int i = 0; i < READ * TOY_WORDS && ok; i++)
    differ += memcmp(&plain[i], &there[i], sizeof plain[i]) != 0;
  if (ok && values) printf("cuda.launches %d\ncuda.lists %d\n", (int) n.launches, (int) n.lists);
  else if (ok)
    printf("threads %-10s %2d of %d logits differ\n", name[order], differ, READ * TOY_WORDS);
  device_close(d);
  return ok && differ == 0;
}

int main(int argc, char **argv)
{
  struct memory m = { .all.live = 0 };
  bool values = argc > 1 && strcmp(argv[1], "values") == 0;
  for (unsigned order = 0; order < (values ? 1 : 3); order++)
    if (!compare_device(&m, order, values)) return 1;
  return m.all.live > 0 || (argc > 1 && !values);
}
