/* chat.c -- a conversation, line by line; an answer ends at a stop string, too.
   cc chat.c $(pkg-config --cflags --libs incipit) -o chat; ./chat [DIRECTORY] */
#include <incipit.h>
#include <stdio.h>
#include <string.h>

static bool show(void *ctx, const struct incipit_token *now)
{
  (void) ctx;
  fwrite(now->text, 1, now->n, stdout);
  return fflush(stdout) == 0;
}

static bool converse(struct incipit_chat *t, struct incipit_error *why)
{
  static const char *const stop[] = { "\n\n", "USER:" };
  char line[4096];
  struct incipit_generate_options o;
  memset(&o, 0, sizeof o);
  o.size = sizeof o;
  o.max_new_tokens = 100;
  o.stop = stop;
  o.n_stop = 2;
  o.on_token = show;
  while (fgets(line, sizeof line, stdin) != NULL) {
    struct incipit_result *r = incipit_chat_say(t, line, strcspn(line, "\n"), &o, why);
    if (r == NULL && why->code != INCIPIT_FULL) return false;
    if (r == NULL && !incipit_chat_reset(t, why)) return false;
    printf(r == NULL ? "(a new conversation begins)\n" : "\n");
    incipit_result_close(r);
  }
  return true;
}

int main(int argc, char **argv)
{
  struct incipit_error why = { 0, "" };
  struct incipit_model *m = incipit_model_open(argc > 1 ? argv[1] : NULL, NULL, &why);
  struct incipit_context *c = m == NULL ? NULL : incipit_context_open(m, NULL, &why);
  struct incipit_chat *t = c == NULL ? NULL : incipit_chat_open(c, NULL, NULL, &why);
  bool ok = t != NULL && converse(t, &why);
  if (!ok) fprintf(stderr, "chat: %s (code %d)\n", why.text, why.code);
  incipit_chat_close(t);
  incipit_context_close(c);
  incipit_model_close(m);
  return !ok;
}
