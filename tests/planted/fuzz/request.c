/* request.c -- the body of a request to incipit serve: a letter, C for a talk, and JSON. What comes is a job, or a refusal that
 * could be sent. The model is the smallest of ours; to read a request nothing is computed. */
#include "fuzz.h"
#include "command.h"
#include "serve.h"

enum { MOST_OF_A_CLIENT = 200 }; /* bytes of its text in a sentence of ours */

static void nobody(void)
{
}
static bool never(void)
{
  return false;
}
/* opened once, and never closed */
static struct serve_model *model(void)
{
  static struct memory m;
  static struct session o;
  static struct serve_model s;
  static char *argv[] = { "incipit", "serve", "-t", "1", "-m", "tests/golden/small", NULL };
  struct command_line w;
  struct error why;
  if (s.o != NULL) return &s;
  static struct console c; /* the session looks at it later, too */
  c = (struct console) { .in = stdin, .out = stdout, .err = stderr, .program = "incipit", .build = "fuzz", .memory = &m,
    .listen = nobody, .interrupted = never };
  must(options_parse(&w, 6, argv, &why) && session_open(&o, &c, &w, SESSION_NEED_MODEL | SESSION_MAY_TOKENIZER, &why) == 0);
  s = (struct serve_model) { .o = &o, .name = "small", .build = "fuzz", .by = chat_template_named("pocket", &why), .context = 40 };
  must(s.by != NULL);
  return &s;
}
/* is a long piece of a sentence the client's? Short sentences cannot have one. */
static bool repeats(const char *words, const char *body, size_t n)
{
  size_t all = strlen(words);
  for (size_t i = 0; i + MOST_OF_A_CLIENT < all; i++)
    if (memmem(body, n, words + i, MOST_OF_A_CLIENT + 1) != NULL) return true;
  return false;
}
static void check_refusal(const struct serve_refusal *r, const char *body, size_t n)
{
  char *text = NULL;
  size_t n_text = 0;
  FILE *out = open_memstream(&text, &n_text);
  struct json_writer j = { out, '\0' };
  must(r->status == 400 || r->status == 404);
  must(r->type != NULL && r->code != NULL && r->code[0] != '\0' && memchr(r->param, '\0', sizeof r->param) != NULL);
  must(r->why.text[0] != '\0' && strlen(r->why.text) < sizeof r->why.text - 1 && strchr(r->why.text, '\n') == NULL);
  must(!repeats(r->why.text, body, n));
  writer_open(&j, '{');
  serve_put_error(&j, r);
  writer_close(&j, '}');
  fclose(out);
  json_t *sent = json_loadb(text, n_text, 0, NULL), *e = json_object_get(sent, "error");
  must(json_object_size(e) == 4 && json_is_string(json_object_get(e, "message")));
  json_decref(sent);
  free(text);
}
static void check_job(const struct serve_job *j)
{
  struct error why;
  must(j->n_prompts >= 1 && j->per_prompt >= 1 && j->n == j->n_prompts * j->per_prompt && j->n <= 128);
  must(j->k <= 20 && j->n_stop <= 16 && j->seed <= INT64_MAX && sampling_check(&j->s, j->model->o->vocab_size, &why));
  for (size_t i = 0; i < j->n_prompts; i++) {
    const struct serve_prompt *p = &j->prompt[i];
    must(p->list.n >= 1 && p->list.n <= j->model->context);
    for (size_t t = 0; t < p->list.n; t++) must(p->list.id[t] < j->model->o->vocab_size);
    must((p->noted != NULL) == (j->echo && j->logprobs));
  }
  for (size_t i = 0; i < j->n; i++)
    must(j->choice[i].job == j && j->choice[i].prompt == &j->prompt[i / j->per_prompt] && j->choice[i].number == i % j->per_prompt);
  for (size_t i = 0; i < j->n_stop; i++) must(j->stop[i].n >= 1 && j->stop[i].n <= 1024);
}
FUZZ(request)
{
  struct serve_refusal r = { .status = 0 };
  if (size == 0) return 0;
  const char *body = (const char *) data + 1;
  struct serve_job *j = serve_job_open(model(), data[0] == 'C', body, size - 1, &r);
  if (j == NULL) check_refusal(&r, body, size - 1);
  else {
    check_job(j);
    serve_job_close(j);
  }
  return 0;
}
