==== check
# positions back; and with four sinks, how many of the first positions are among what can influence a row that is farther away
engine <<'C'
#include "suite.h"
#include "model/store.h"
/* which positions can have a part in the row at LAST: what each layer sees of what the layer above has seen */
static uint8_t part[2][20000];
static void influence(uint32_t sinks, size_t last)
{
  struct memory m = {0}; struct error why;
  struct model_config c = {.n_positions = 20000, .n_layers = 24, .n_heads = 1, .n_kv_heads = 1, .head_dim = 2};
  if (!config_set_window(&c, 512, sinks, &why)) exit(1);
  struct store *s = array_store_open(&m, &c, &why);
  static struct row row[20000]; static struct segment list[20000];
  for (uint32_t i = 0; i <= last; i++) row[i] = (struct row) {0, i, 0};
  if (!store_begin(s, row, last + 1, &why)) exit(1);
  uint8_t *now = part[0], *next = part[1];
  memset(part, 0, sizeof part), now[last] = 1;
  for (uint32_t layer = c.n_layers; layer-- > 0;) {
    memset(next, 0, sizeof part[0]);
    if (store_segments(s, layer, last + 1, list) != 1) exit(1);
    for (size_t i = 0; i <= last; i++) if (now[i]) {
      struct kv_range v = segment_range(list, (uint32_t) i);
      memset(next + v.lo, 1, v.hi - v.lo), memset(next, 1, v.sinks);
    }
    uint8_t *other = now; now = next, next = other;
  }
  if (now != part[0]) memcpy(part[0], now, sizeof part[0]);
  store_abort(s), store_close(s);
}
int main(void)
{
  size_t last = 19999, first = 0, always = 0;
  influence(0, last);
  while (!part[0][first]) first++;
  influence(4, last);
  while (part[0][always]) always++;
  size_t again = always;
  while (!part[0][again]) again++;
  if (again != first) return 1;                                  /* between the sinks and the reach there is nothing */
  printf("%d %d\n", (int) (last - first), (int) always);
  return 0;
}
C
is $(run)
==== answer
12264 4
==== wrong
12288 4
==== skeleton
# positions back; with four sinks: first positions that can always
