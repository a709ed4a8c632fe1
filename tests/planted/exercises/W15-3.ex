==== check
# all_ids() of a short text, of a long one and of none, and of a model that is not there
wrapped
says_like_ours --reading
==== head
#include <stdlib.h>
#include <string.h>
#include "library/incipit.h"
==== tail
uint32_t *ex_all_ids(const struct incipit_model *m, const char *text, size_t *n) { return all_ids(m, text, n); }
==== test
#include "exercise.h"
#include "library/incipit.h"
uint32_t *ex_all_ids(const struct incipit_model *m, const char *text, size_t *n);
enum { SIZES = 8 };
static void test(unsigned size)
{
  static struct incipit_model *m;
  static uint32_t want[9000];
  static char text[9000];
  static const char *const word[] = { "The cat", " sat", " on the", " mat.", "\xc3\xa9", " who", "?", " x" };
  size_t n = 12345;
  *text = '\0';
  if (m == NULL) m = incipit_model_open("models/pocket", NULL, NULL);
  for (unsigned k = size == 1 ? 0 : size < 5 ? draw(20) : 1000 + draw(300); k > 0; k--) strcat(text + (strlen(text)), word[draw(8)]);
  tell("a text of %zu bytes", strlen(text));
#ifdef OURS
  uint32_t *id = want;
  if (!incipit_encode(m, text, strlen(text), true, false, want, 9000, &n, NULL)) id = NULL;
#else
  char *mine = malloc(strlen(text) + 1);
  uint32_t *id = ex_all_ids(m, strcpy(mine, text), &n);
  (void) want;
#endif
  say("ids: %zu", id == NULL ? (size_t) -1 : n);
  for (size_t i = 0; id != NULL && i < n; i++) say("id %zu: %u", i, id[i]);
  if (size == SIZES) say("without a model: %s", OF(ex_all_ids(NULL, "The cat sat", &n) == NULL, true) ? "null" : "a pointer");
}
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
