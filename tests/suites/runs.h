/* runs.h -- runs of the command in the test's own process, on streams that are files in memory, and
   the objects that it prints */
#ifndef INCIPIT_RUNS_H
#define INCIPIT_RUNS_H
#include <jansson.h>
#include <sys/wait.h>
#include "suite.h"
#include "command.h"
#include "json.h"

static inline const char *build_dir(void)
{
  const char *b = getenv("BUILD");
  return b ? b : "build";
}
static char room_dir[4096]; /* a folder of our own, with models that are not as they should be */

/* ---- one run in this process */
struct run {
  int status;
  char *out, *err;
  size_t n_out, n_err;
  struct memory m;
};
static unsigned steps_allowed; /* then Ctrl-C */
static inline bool counted_interrupt(void)
{
  return steps_allowed != 0 && --steps_allowed == 0;
}
static unsigned asks_allowed, asks_made __attribute__((unused)); /* then Ctrl-C within a step; the asks are counted in any case */
static inline bool counted_cancel(void)
{
  asks_made++;
  return asks_allowed != 0 && --asks_allowed == 0;
}
static unsigned listened;
static inline void listen_to_nobody(void)
{
  listened++;
}
/* one run on console C, whose streams are files in memory: IN is what comes by the standard input.
   FAIL_AT: the request for memory that is refused, 0 for none; the caller ends with done(). */
static inline struct run run_console(
  struct console c, int argc, char **argv, const void *in, size_t n_in, uint64_t fail_at)
{
  struct run r;
  memset(&r, 0, sizeof r);
  c.in = tmpfile();
  c.out = open_memstream(&r.out, &r.n_out), c.err = open_memstream(&r.err, &r.n_err);
  ck_assert(c.in != NULL && c.out != NULL && c.err != NULL);
  fwrite(in, 1, n_in, c.in);
  rewind(c.in);
  r.m.fail_at = fail_at;
  c.build = "test", c.memory = &r.m;
  c.listen = listen_to_nobody, c.interrupted = counted_interrupt;
  c.cancelled = counted_cancel;
  r.status = command_run(&c, argc, argv);
  fclose(c.in), fclose(c.out), fclose(c.err);
  ck_assert_msg(r.m.all.live == 0, "%s %s: %lu bytes are still held", argc > 1 ? argv[1] : "",
    argc > 2 ? argv[2] : "", (unsigned long) r.m.all.live);
  return r;
}
enum { ON_TERMINAL = 1, FROM_KEYBOARD = 2, WATCHED = 4 /* the standard error is a terminal */ };
static size_t screen_columns __attribute__((unused)); /* of the terminal, 0: nobody knows */
/* as main would say of a terminal */
static inline bool coloured(int where)
{
  const char *plain = getenv("NO_COLOR"), *term = getenv("TERM");
  return (where & ON_TERMINAL) != 0 && (plain == NULL || *plain == '\0')
    && (term == NULL || strcmp(term, "dumb") != 0);
}
static inline struct run run_words(int argc, char **argv, const void *in, size_t n_in, int where,
  uint64_t fail_at, const char *program)
{
  struct console c = { .in_terminal = where & FROM_KEYBOARD,
    .out_terminal = where & ON_TERMINAL, .err_terminal = where & WATCHED,
    .colour = coloured(where), .columns = where & ON_TERMINAL ? screen_columns : 0,
    .err_columns = where & WATCHED ? screen_columns : 0,
    .program = program };
  return run_console(c, argc, argv, in, n_in, fail_at);
}
/* a line as one would type it: blanks divide, ' quotes, @ at the beginning of a word is the folder
   of broken models, a word that begins with < is what comes by the standard input, with a line's
   end */
static inline int words_of(char *line, char **argv, char **in)
{
  int n = 0;
  *in = NULL;
  argv[n++] = strdup("incipit");
  for (char *p = line; *p != '\0';) {
    while (*p == ' ') p++;
    if (*p == '\0') break;
    char word[2048], *w = word;
    bool quoted = false;
    for (; *p != '\0' && (quoted || *p != ' '); p++)
      if (*p == '\'')
        quoted = !quoted;
      else
        *w++ = *p;
    *w = '\0';
    char *made;
    if (word[0] == '@')
      ck_assert(asprintf(&made, "%s%s", room_dir, word + 1) > 0);
    else
      made = strdup(word);
    if (word[0] == '<') {
      ck_assert(asprintf(in, "%s\n", word + 1) > 0);
      free(made);
    } else
      argv[n++] = made;
  }
  argv[n] = NULL;
  return n;
}
static inline struct run run_as(const char *line, int where, uint64_t fail_at)
{
  char *copy = strdup(line), *argv[256], *in;
  int argc = words_of(copy, argv, &in);
  struct run r =
    run_words(argc, argv, in ? in : "", in ? strlen(in) : 0, where, fail_at, "build/incipit");
  for (int i = 0; i < argc; i++) free(argv[i]);
  free(in), free(copy);
  return r;
}
static inline struct run run(const char *line)
{
  return run_as(line, 0, 0);
}
static inline void done(struct run *r)
{
  free(r->out), free(r->err);
}
static inline void timings_out(char *text) /* times are never the same twice */
{
  if (strstr(text, "fma_share") != NULL
    || strstr(text, "FMA %")
      != NULL) { /* a bench: numbers with a point, and the blanks before them */
    char *to = text;
    for (char *at = text; *at != '\0';) {
      size_t n = strspn(at, "0123456789.eE+-");
      if (n > 0 && strchr("0123456789", *at) != NULL
        && (memchr(at, '.', n) != NULL || memchr(at, 'e', n) != NULL))
        at += n, *to++ = '#';
      else if (*at == ' ' && to > text && to[-1] == ' ')
        at++;
      else
        *to++ = *at++;
    }
    *to = '\0';
  }
  for (char *at; (at = strstr(text, "\"timings\":{")) != NULL;) {
    char *end = strchr(at, '}');
    memmove(at, end + 1, strlen(end + 1) + 1);
  }
  for (char *at;
       (at = strstr(text, "_ms ")) != NULL || (at = strstr(text, "_per_second ")) != NULL;) {
    while (at > text && at[-1] != '\n') at--;
    char *end = strchr(at, '\n');
    memmove(at, end + 1, strlen(end + 1) + 1);
  }
}

/* the fields of a line of tests/suites/options.tsv or tests/suites/refusals.tsv, one after the other */
static inline char *next_field(char **p)
{
  char *f = *p;
  if (f == NULL) return NULL;
  char *tab = strchr(f, '\t');
  if (tab != NULL) *tab = '\0';
  *p = tab ? tab + 1 : NULL;
  return f;
}

/* ---- the objects of --json */
static inline size_t lines_of(const struct run *r)
{
  size_t n = 0;
  for (size_t i = 0; i < r->n_out; i++) n += r->out[i] == '\n';
  return n;
}
static inline void has_keys(json_t *o, const char *list) /* exactly these, in any order */
{
  char copy[512];
  size_t n = 0;
  snprintf(copy, sizeof copy, "%s", list);
  for (char *k = strtok(copy, " "); k != NULL; k = strtok(NULL, " "), n++)
    ck_assert_msg(json_object_get(o, k) != NULL, "%s is missing", k);
  ck_assert_msg(json_object_size(o) == n, "wanted: %s", list);
}
static inline json_t *object_of(struct run *r)
{
  ck_assert_msg(r->status == 0 || r->status == 130, "%d %s", r->status, r->err);
  json_t *o = json_loads(r->out, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
  ck_assert_msg(json_is_object(o), "%s", r->out);
  return o;
}
static inline int64_t number_at(json_t *o, const char *a, const char *b)
{
  return json_integer_value(json_object_get(json_object_get(o, a), b));
}
static const char counter_keys[] =
  "passes rows kv_rows_computed kv_rows_recomputed qk_pairs madds_linear madds_attention "
  "madds_head weight_bytes_read cache_bytes_read cache_bytes_written";

static inline int shell(
  const char *script, char *out, size_t size) /* status of sh -c script; what it prints */
{
  FILE *f = popen(script, "r");
  size_t n = f ? fread(out, 1, size - 1, f) : 0;
  out[n] = '\0';
  int status = f ? pclose(f) : -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- the protocol */
static inline json_t *answer_at(const char *out, size_t i)
{
  for (; i > 0; i--) out = strchr(out, '\n') + 1;
  size_t n = strcspn(out, "\n");
  json_t *j = json_loadb(out, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
  ck_assert_msg(json_is_object(j), "%.*s", (int) n, out);
  return j;
}
static inline struct run probe_refused(
  const char *kind, const char *model, const void *in, size_t n, uint64_t fail_at)
{
  char *argv[] = { "incipit", "probe", (char *) kind, "-m", (char *) model, NULL };
  return run_words(5, argv, in, n, 0, fail_at, "incipit");
}
static inline struct run probe(const char *kind, const char *model, const void *in, size_t n)
{
  return probe_refused(kind, model, in, n, 0);
}

/* ---- jansson stands outside the accounts: the request jansson_refused is refused, and all that it
   has taken is counted in jansson_out */
static uint64_t jansson_asked, jansson_refused, jansson_out;
static inline void *jansson_take(size_t n)
{
  bool growth = n >= 32 && (n & (n - 1)) == 0; /* of the text it has read: jansson 2.14 does not
                                                  look whether that worked, and asserts later */
  if (!growth && ++jansson_asked == jansson_refused) return NULL;
  jansson_out++;
  return malloc(n);
}
static inline void jansson_give(void *p)
{
  if (p != NULL) jansson_out--;
  free(p);
}
#endif
