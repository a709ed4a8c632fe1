==== check
# a text, and three stop strings: by the rule of the earliest beginning, over all cuts, three texts
engine <<'C'
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
  if (argc != 5) return 1;
  const char *text = argv[1];
  size_t n = strlen(text), cut[64], cuts = 0;
  if (n == 0 || n > 16) return 1;
  for (int i = 2; i < 5; i++) if (argv[i][0] == 0) return 1;
  for (unsigned way = 0; way < 1u << (n - 1); way++) {
    size_t left = n;
    for (size_t end = 1; end <= n && left == n; end++) {
      if (end < n && !(way >> (end - 1) & 1)) continue;
      char so_far[20];
      memcpy(so_far, text, end), so_far[end] = 0;
      for (int i = 2; i < 5; i++) {
        const char *p = strstr(so_far, argv[i]);
        if (p != NULL && (size_t) (p - so_far) < left) left = (size_t) (p - so_far);
      }
    }
    size_t k = 0;
    while (k < cuts && cut[k] != left) k++;
    if (k == cuts) cut[cuts++] = left;
  }
  return cuts < 3;
}
C
run $(words) || no "over all cuts there are not three texts"
==== answer
abcdef
abcdef bcde cd
==== wrong
abcd
abcd bc b
==== skeleton
# the text, and after it three stop strings
