/* the program -- made from chapters/00-foundations.w; change it there */

#include <stdio.h>
#include <string.h>
#include "ground/ground.h"

/* <Play the five requests of the hand calculation> */
enum { EVENTS = 6 };
static const struct event { const char *what; size_t take, give; } event[EVENTS] =
  { {"take 60", 60, 0}, {"take 40", 40, 0}, {"take 80", 80, 0},
    {"return 40", 0, 40}, {"take 50, refused", 50, 0}, {"take 30", 30, 0} };

static void play(struct account after[EVENTS])
{
  struct memory m = { .fail_at = 4 };
  void *block[EVENTS] = { NULL };
  for (int i = 0; i < EVENTS; i++) {
    if (event[i].give > 0) {
      memory_free(&m, block[1]);
      block[1] = NULL;
    }
    else block[i] = memory_alloc(&m, MEMORY_OTHER, 1, event[i].take, NULL);
    after[i] = m.all;
  }
  for (int i = 0; i < EVENTS; i++)
    memory_free(&m, block[i]);
}

/* <Print the account after every event> */
static void print_requests(void)
{
  struct account a[EVENTS];
  play(a);
  printf("%-18s%7s%7s%7s%7s\n", "event", "asked", "given", "held", "peak");
  for (int i = 0; i < EVENTS; i++)
    printf("%-18s%7d%7d%7d%7d\n", event[i].what, (int) a[i].requested,
      (int) a[i].allocated, (int) a[i].live, (int) a[i].peak);
}

/* <Print the account as keys and as points> */
static int print_values(void)
{
  struct account a[EVENTS];
  play(a);
  for (int i = 0; i < EVENTS; i++) {
    printf("ground.asked.%d %d bytes\n", i + 1, (int) a[i].requested);
    printf("ground.given.%d %d bytes\n", i + 1, (int) a[i].allocated);
    printf("ground.held.%d %d bytes\n", i + 1, (int) a[i].live);
    printf("ground.peak.%d %d bytes\n", i + 1, (int) a[i].peak);
    if (a[i].refused > (i > 0 ? a[i - 1].refused : 0))
      printf("ground.refused.request %d\n", (int) a[i].requests);
  }
  printf("ground.requests %d\n", (int) a[EVENTS - 1].requests);
  return 0;
}

static int print_ledger(void)
{
  struct account a[EVENTS];
  play(a);
  printf("event,asked,given,held,peak\n");
  for (int i = 0; i <= EVENTS; i++) {
    const struct account *b = &a[i < EVENTS ? i : EVENTS - 1];
    printf("%d,%d,%d,%d,%d\n", i + 1, (int) b->requested, (int) b->allocated,
      (int) b->live, (int) b->peak);
  }
  return 0;
}

/* <Let every kind of failure speak> */
static void print_failures(void)
{
  struct memory m = { .fail_at = 1 };
  struct error why;
  struct mapping map;
  memory_alloc(&m, MEMORY_CACHE, 3, 1024, &why);
  printf("%s\n", why.text);
  memory_alloc(&m, MEMORY_WEIGHTS, SIZE_MAX / 2, 3, &why);
  printf("%s\n", why.text);
  if (!file_map(&map, "no-such-model", &why)) printf("%s\n", why.text);
  if (!file_map(&map, "tangled", &why)) printf("%s\n", why.text);
  error_found(&why, "config.json", "n_layers", "-2", "1 or more");
  printf("%s\n", why.text);
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "values") == 0) return print_values();
  if (strcmp(what, "ledger") == 0) return print_ledger();
  print_requests();
  print_failures();
  return 0;
}
