/* batch.c -- four prompts in the same passes, each row of weights read once for all of them.
   cc batch.c $(pkg-config --cflags --libs incipit) -o batch; ./batch [DIRECTORY] */
#include <incipit.h>
#include <stdio.h>
#include <string.h>

enum { TEXTS = 4, MOST = 64 };
static const char *const begin[TEXTS] = { "The cat sat", "Once", "There was a", "The moon" };

static bool write_four(struct incipit_context *c, struct incipit_model *m, struct incipit_error *why)
{
  uint32_t id[TEXTS][MOST];
  struct incipit_prompt prompt[TEXTS];
  struct incipit_result *result[TEXTS];
  for (int i = 0; i < TEXTS; i++) {
    prompt[i].id = id[i];
    if (!incipit_encode(m, begin[i], strlen(begin[i]), true, false, id[i], MOST, &prompt[i].n, why))
      return false;
    if (prompt[i].n > MOST) { /* as snprintf: the first MOST have been written, and this is how many there are */
      why->code = INCIPIT_INPUT;
      snprintf(why->text, sizeof why->text, "a prompt has %zu tokens; wanted: at most %d", prompt[i].n, MOST);
      return false;
    }
  }
  struct incipit_generate_options o;
  memset(&o, 0, sizeof o);
  o.size = sizeof o;
  o.max_new_tokens = 8;
  if (!incipit_generate_many(c, prompt, TEXTS, &o, result, why)) return false;
  for (int i = 0; i < TEXTS; i++) {
    printf("%s|%s\n", begin[i], result[i]->text);
    incipit_result_close(result[i]);
  }
  struct incipit_report r;
  if (!incipit_context_report(c, &r, sizeof r, why)) return false;
  printf("%d passes, %d rows\n", (int) r.passes, (int) r.rows);
  return true;
}

int main(int argc, char **argv)
{
  struct incipit_error why = { 0, "" };
  struct incipit_context_options o;
  memset(&o, 0, sizeof o);
  o.size = sizeof o;
  o.n_sequences = TEXTS;
  struct incipit_model *m = incipit_model_open(argc > 1 ? argv[1] : NULL, NULL, &why);
  struct incipit_context *c = m == NULL ? NULL : incipit_context_open(m, &o, &why);
  bool ok = c != NULL && write_four(c, m, &why);
  if (!ok) fprintf(stderr, "batch: %s (code %d)\n", why.text, why.code);
  incipit_context_close(c);
  incipit_model_close(m);
  return !ok;
}
