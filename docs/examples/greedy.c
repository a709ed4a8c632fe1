/* greedy.c -- continues a prompt with the likeliest tokens and shows each as soon as it is known.
   cc greedy.c $(pkg-config --cflags --libs incipit) -o greedy; ./greedy PROMPT [DIRECTORY]
   Without a directory the built-in model writes. */
#include <incipit.h>
#include <stdio.h>
#include <string.h>

static bool show(void *ctx, const struct incipit_token *now)
{
  FILE *out = (FILE *) ctx;
  fwrite(now->text, 1, now->n, out);
  return fflush(out) == 0; /* a reader who has gone ends the text */
}

static bool write_text(struct incipit_context *c, struct incipit_model *m, const char *prompt,
  struct incipit_error *why)
{
  uint32_t id[1024];
  size_t n;
  if (!incipit_encode(m, prompt, strlen(prompt), true, false, id, 1024, &n, why)) return false;
  if (n > 1024) return fprintf(stderr, "a prompt of %d tokens\n", (int) n), false;
  struct incipit_generate_options o;
  memset(&o, 0, sizeof o);
  o.size = sizeof o;
  o.max_new_tokens = 12;
  o.on_token = show;
  o.ctx = stdout;
  struct incipit_result *r = incipit_generate(c, id, n, &o, why);
  if (r == NULL) return false;
  printf("\n%d tokens\n", (int) r->n_ids);
  incipit_result_close(r);
  return true;
}

int main(int argc, char **argv)
{
  struct incipit_error why = { 0, "" };
  if (argc < 2) return fprintf(stderr, "usage: greedy PROMPT [DIRECTORY]\n"), 2;
  struct incipit_model *m = incipit_model_open(argc > 2 ? argv[2] : NULL, NULL, &why);
  struct incipit_context *c = m == NULL ? NULL : incipit_context_open(m, NULL, &why);
  bool ok = c != NULL && write_text(c, m, argv[1], &why);
  if (!ok) fprintf(stderr, "greedy: %s (code %d)\n", why.text, why.code);
  incipit_context_close(c);
  incipit_model_close(m);
  return !ok;
}
