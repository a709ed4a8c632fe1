==== check
# first line: the text; the others: stop strings of 20 bytes together at most; some byte takes eight failures
engine <<'C'
#include <stdio.h>
#include <string.h>
#include "stopping/stops.h"
int main(int argc, char **argv)
{
  struct memory m = {0}; struct error why; struct stops s; struct stop_string list[20]; size_t total = 0; uint32_t state = 0, max = 0;
  if (argc < 3 || argc > 22) return 1;
  for (int i = 2; i < argc; i++) list[i - 2] = (struct stop_string) {(const unsigned char *) argv[i], strlen(argv[i])}, total += strlen(argv[i]);
  if (total > 20 || !stops_open(&s, &m, list, (size_t) argc - 2, &why)) return 1;
  for (const char *p = argv[1]; *p; p++) {
    uint32_t next = stops_step(&s, state, (unsigned char) *p), n = 0;
    for (uint32_t at = state; at != 0 && s.node[at].depth + 1 != s.node[next].depth; at = s.node[at].failure) n++;
    max = n > max ? n : max, state = next;
  }
  return max != 8;
}
C
run $(words) || no "no byte takes eight failures, or the strings are longer than 20 bytes"
==== answer
aaaaaaaac
aaaaaaaab
==== wrong
aaaaaaaab
aaaaaaaab
==== skeleton
# the text, and a line for each stop string
