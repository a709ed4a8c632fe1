==== check
set -e
# all_ids() of a short text, of a long one and of none, and of a model that is not there
{ printf '#include <stdlib.h>\n#include <string.h>\n#include "library/incipit.h"\n'; cat "$1"; cat <<'C'
int main(void)
{
  static char text[8000];
  static uint32_t want[8000];
  struct incipit_model *m = incipit_model_open("models/pocket", NULL, NULL);
  const size_t length[] = {0, 11, 1000, 7700};
  for (int i = 0; i < 700; i++) memcpy(text + 11 * i, "The cat sat", 11);
  for (int i = 0; i < 4; i++) {
    size_t n = 12345, n_want;
    char *mine = malloc(length[i] + 1);
    memcpy(mine, text, length[i]), mine[length[i]] = 0;
    if (!incipit_encode(m, mine, length[i], true, false, want, 8000, &n_want, NULL)) return 1;
    uint32_t *id = all_ids(m, mine, &n);
    if (id == NULL || n != n_want || (n > 0 && memcmp(id, want, n * sizeof *id) != 0)) return 2;
    free(id), free(mine);
  }
  size_t n = 12345;
  if (all_ids(NULL, "The cat sat", &n) != NULL) return 3;
  incipit_model_close(m);
  return 0;
}
C
} > $BUILD/ex.c
${CC:-cc} -std=gnu11 -w -Itangled $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex
==== answer
uint32_t *all_ids(const struct incipit_model *m, const char *text, size_t *n)
{
  size_t length = strlen(text);
  if (!incipit_encode(m, text, length, true, false, NULL, 0, n, NULL)) return NULL;
  uint32_t *id = malloc((*n + 1) * sizeof *id);
  if (id != NULL) incipit_encode(m, text, length, true, false, id, *n, n, NULL);
  return id;
}
==== wrong
uint32_t *all_ids(const struct incipit_model *m, const char *text, size_t *n)
{
  uint32_t *id = malloc(1000 * sizeof *id);
  if (!incipit_encode(m, text, strlen(text), true, false, id, 1000, n, NULL)) {
    free(id);
    return NULL;
  }
  return id;
}
==== skeleton
uint32_t *all_ids(const struct incipit_model *m, const char *text, size_t *n)
{
  return NULL;
}
