/* serving.c -- answers lines as they come, several at a time: what a server does, without the network.
   Each line of the input is a prompt. Up to eight are answered together; a line that comes later joins them.
   cc serving.c $(pkg-config --cflags --libs incipit) -o serving; ./serving [DIRECTORY] < PROMPTS */
#include <incipit.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { PLACES = 8, WAITING = 64, MOST = 256 };
struct job { uint64_t request; char prompt[1024]; }; /* request 0: none */
struct house {
  struct incipit_model *m;
  struct incipit_context *c;
  struct incipit_batch *b;
  struct job job[WAITING];
  size_t n; /* requests that have not been answered */
  bool more; /* lines may come */
};

static bool submit_line(struct house *h, struct job *j, struct incipit_error *why)
{
  uint32_t id[MOST];
  size_t n;
  struct incipit_generate_options o;
  memset(&o, 0, sizeof o);
  o.size = sizeof o;
  o.max_new_tokens = 24;
  if (!incipit_encode(h->m, j->prompt, strlen(j->prompt), true, false, id, MOST, &n, why)) return false;
  if (n > MOST) n = MOST; /* the beginning of a very long line */
  if (!incipit_batch_submit(h->b, id, n, &o, &j->request, why)) return false;
  h->n++;
  return true;
}

/* takes the lines that are there; waits for one only if nobody else is waiting for an answer */
static bool take_lines(struct house *h, struct incipit_error *why)
{
  while (h->more && h->n < WAITING) {
    struct pollfd in = { 0, POLLIN, 0 };
    struct job *j = h->job;
    if (poll(&in, 1, h->n > 0 ? 0 : -1) <= 0) return true;
    while (j->request != 0) j++;
    h->more = fgets(j->prompt, sizeof j->prompt, stdin) != NULL;
    j->prompt[strcspn(j->prompt, "\n")] = '\0';
    if (h->more && j->prompt[0] != '\0' && !submit_line(h, j, why)) return false;
  }
  return true;
}

static bool show_answers(struct house *h, struct incipit_error *why)
{
  for (struct job *j = h->job; j < h->job + WAITING; j++) {
    struct incipit_request r;
    if (j->request == 0) continue;
    if (!incipit_batch_poll(h->b, j->request, &r, sizeof r, why)) return false;
    if (r.state != INCIPIT_ENDED) continue;
    struct incipit_result *text = incipit_batch_take(h->b, j->request, why);
    if (text == NULL) return false;
    printf("%s|%s\n", j->prompt, r.failure.code != 0 ? r.failure.text : text->text);
    incipit_result_close(text);
    j->request = 0;
    h->n--;
  }
  return fflush(stdout) == 0;
}

int main(int argc, char **argv)
{
  static struct house h;
  struct incipit_error why = { 0, "" };
  struct incipit_context_options o;
  memset(&o, 0, sizeof o);
  o.size = sizeof o;
  o.n_sequences = PLACES;
  h.more = true;
  setvbuf(stdin, NULL, _IONBF, 0); /* so that poll sees what was not read */
  bool ok = (h.m = incipit_model_open(argc > 1 ? argv[1] : NULL, NULL, &why)) != NULL
    && (h.c = incipit_context_open(h.m, &o, &why)) != NULL
    && (h.b = incipit_batch_open(h.c, NULL, &why)) != NULL;
  while (ok && (h.more || h.n > 0))
    ok = take_lines(&h, &why) && incipit_batch_step(h.b, NULL, &why) && show_answers(&h, &why);
  if (!ok) fprintf(stderr, "serving: %s (code %d)\n", why.text, why.code);
  incipit_batch_close(h.b);
  incipit_context_close(h.c);
  incipit_model_close(h.m);
  return !ok;
}
