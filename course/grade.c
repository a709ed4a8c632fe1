/* grade.c -- incipit-grade KEY DIR [--seed WORD] [--public] [--json FILE] [--student NAME] [--commit WORD] [--submitted TIME]

   Grades the hand-in in DIR with the key of a lab, a folder that `make labs' writes.  The files that a student hands in are copied,
   compiled and linked with the lab's tests; files of other names are ignored.  The compiler may read them, the lab's headers and the
   system's, and nothing else.  Each test runs in a process of its own, which can neither open files nor start programs and knows no answers.  What it prints is compared with what the reference prints for the
   same seed, here, in another process.  --seed: the teacher's word, from which the cases are drawn; --public: the public tests alone.
   The last three options go into the record, for incipit-record.  The status is 0 if a grade was given, whatever the grade. */
#define _GNU_SOURCE
#include "cage.h"
#include "look.h"
#include "transcript.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 8, MOST_TESTS = 40, MOST_FILE_BYTES = 1 << 20, MOST_READ_BYTES = 32 << 20, PATH_SIZE = 1000, FEEDBACK = 1500, MOST_READABLE = 20,
  SHORT_SEED = 12 };

struct test { char name[60], promise[300]; unsigned points, seconds; bool is_public, passed; char feedback[FEEDBACK]; double took; };
struct grading {
  const char *key, *dir, *seed, *json, *commit, *student, *submitted;
  bool only_public, ran, apart, fenced, compiler_ran, compiler_fenced;
  const char *readable[MOST_READABLE];
  char include[PATH_SIZE], objects[2][PATH_SIZE]; /* of the key; tests.o and lib.a */
  char work[PATH_SIZE], file[MOST_FILES][60], lab[100], libraries[200];
  size_t n_files, n_tests, n_given; /* the last n_given files are the lab's own, compiled with the student's */
  struct test test[MOST_TESTS];
};

static bool fail(char *why, const char *format, ...)
{
  va_list of;
  va_start(of, format);
  vsnprintf(why, FEEDBACK, format, of);
  va_end(of);
  return false;
}

/* a whole file, ending with a 0; null if it cannot be read, is no plain file, or is larger than most */
static char *slurp(const char *path, size_t most, size_t *size)
{
  struct stat s;
  int f = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  char *text = NULL;
  if (f >= 0 && fstat(f, &s) == 0 && S_ISREG(s.st_mode) && (size_t) s.st_size <= most) text = malloc((size_t) s.st_size + 1);
  ssize_t n = text == NULL ? -1 : read(f, text, (size_t) s.st_size);
  if (f >= 0) close(f);
  if (n < 0) return free(text), NULL;
  text[n] = '\0';
  if (size != NULL) *size = (size_t) n;
  return text;
}

static bool write_file(const char *path, const char *text, size_t n)
{
  FILE *f = fopen(path, "wb");
  bool ok = f != NULL && fwrite(text, 1, n, f) == n;
  return f != NULL && fclose(f) == 0 && ok;
}

/* ---- the key: files, given, libraries, tests.tsv, reference, tests.o, lib.a, include/, and what a hand-in may define and use, and
   the files of the lab that are compiled with it: may-define, may-use, own-may-define, own-may-use */

/* the words of a list become names of files */
static size_t read_names(struct grading *g, const char *list)
{
  char path[PATH_SIZE];
  size_t n = 0;
  snprintf(path, sizeof path, "%s/%s", g->key, list);
  char *names = slurp(path, 10000, NULL);
  for (char *at = names, *word; names != NULL && (word = strtok(at, " \n")) != NULL && g->n_files < MOST_FILES; at = NULL, n++)
    snprintf(g->file[g->n_files++], sizeof *g->file, "%s", word);
  free(names);
  return n;
}

static bool read_key(struct grading *g, char *why)
{
  char path[PATH_SIZE];
  if (read_names(g, "files") == 0) return fail(why, "%s: no key of a lab: it has no `files'", g->key);
  g->n_given = read_names(g, "given");
  snprintf(path, sizeof path, "%s/libraries", g->key);
  char *libraries = slurp(path, sizeof g->libraries - 1, NULL);
  snprintf(g->libraries, sizeof g->libraries, "%s", libraries != NULL ? libraries : "");
  free(libraries);
  snprintf(path, sizeof path, "%s/tests.tsv", g->key);
  FILE *f = fopen(path, "r");
  if (f == NULL) return fail(why, "%s: %s", path, strerror(errno));
  char line[600], kind[20];
  while (fgets(line, sizeof line, f) != NULL && g->n_tests < MOST_TESTS) {
    struct test *t = &g->test[g->n_tests];
    if (*line == '#' || *line == '\n') continue;
    if (sscanf(line, "%59s\t%u\t%19s\t%u\t%299[^\n]", t->name, &t->points, kind, &t->seconds, t->promise) != 5) {
      fclose(f);
      return fail(why, "%s: a line is not name, points, public or hidden, seconds, promise: %s", path, line);
    }
    t->is_public = strcmp(kind, "public") == 0;
    if (t->is_public || !g->only_public) g->n_tests++;
  }
  fclose(f);
  snprintf(g->include, sizeof g->include, "%.900s/include", g->key);
  snprintf(g->objects[0], sizeof *g->objects, "%.900s/tests.o", g->key), snprintf(g->objects[1], sizeof *g->objects, "%.900s/lib.a", g->key);
  const char *base = strrchr(g->key, '/');
  snprintf(g->lab, sizeof g->lab, "%s", base == NULL || base[1] == '\0' ? g->key : base + 1);
  size_t n = strlen(g->lab);
  if (n > 4 && strcmp(g->lab + n - 4, ".key") == 0) g->lab[n - 4] = '\0';
  return g->n_tests > 0 && g->n_files > 0 ? true : fail(why, "%s: a key without tests or files", g->key);
}

/* ---- the hand-in: copied, looked at, compiled, linked */

/* what a compiler reads: the system's headers and libraries, the lab's, and the hand-in */
static void list_readable(struct grading *g)
{
  static const char *const of_system[] = { "/usr/bin", "/usr/include", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/include",
    "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache" };
  size_t n = 0;
  for (; n < sizeof of_system / sizeof *of_system; n++) g->readable[n] = of_system[n];
  g->readable[n++] = g->include, g->readable[n++] = g->objects[0], g->readable[n] = g->objects[1];
}

static struct cage_result tool(struct grading *g, unsigned seconds, char *const argv[])
{
  struct cage c = { seconds, (size_t) 2 << 30, 4u << 20, false, g->work, g->readable };
  struct cage_result r = cage_run(&c, argv);
  g->compiler_ran = true, g->compiler_fenced = r.fenced;
  return r;
}

static bool copy_files(const struct grading *g, char *why)
{
  for (size_t i = 0; i < g->n_files; i++) {
    char from[PATH_SIZE + 70], to[PATH_SIZE + 70];
    size_t n;
    bool given = i >= g->n_files - g->n_given;
    snprintf(from, sizeof from, "%s%s/%s", given ? g->key : g->dir, given ? "/own" : "", g->file[i]);
    snprintf(to, sizeof to, "%s/%s", g->work, g->file[i]);
    char *text = slurp(from, MOST_FILE_BYTES, &n);
    if (text == NULL) return fail(why, "%s is not there, or is not a plain file of at most 1 MB", g->file[i]);
    bool fits = given || (strlen(text) == n ? look_at_source(text, g->file[i], why, FEEDBACK) : fail(why, "%s has a zero byte in it; wanted: C", g->file[i]));
    bool ok = fits && write_file(to, text, n);
    free(text);
    if (!fits) return false;
    if (!ok) return fail(why, "%s could not be copied", g->file[i]);
  }
  return true;
}

static bool is_below(const char *path, const char *folder)
{ return strncmp(path, folder, strlen(folder)) == 0 && path[strlen(folder)] == '/'; }

/* an #include must be of the lab or of the system; a hand-in has nothing to say in assembly */
static bool look_at(const struct grading *g, const char *text, const char *name, char *why)
{
  char of[PATH_SIZE] = "", real[PATH_MAX], include[PATH_MAX], work[PATH_MAX];
  if (realpath(g->include, include) == NULL || realpath(g->work, work) == NULL) return fail(why, "%s: %s", g->include, strerror(errno));
  bool own = false;
  for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
    if (*at == '#') {
      if (sscanf(at, "# %*u \"%999[^\"]\"", of) != 1 || *of == '<') continue;
      char whole[2 * PATH_SIZE];
      snprintf(whole, sizeof whole, *of == '/' ? "%s%s" : "%s/%s", *of == '/' ? "" : g->work, of);
      if (whole[strlen(whole) - 1] == '/') continue; /* the compiler names its directory */
      if (realpath(whole, real) == NULL) continue;
      own = is_below(real, work);
      if (!own && !is_below(real, include) && (!is_below(real, "/usr") || strstr(real, "/include/") == NULL))
        return fail(why, "%s includes %s; wanted: headers of the lab or of the system", name, of);
      continue;
    }
    for (size_t k = 0; own && at[k] != '\n' && at[k] != '\0'; k++)
      if ((k == 0 || !(isalnum((unsigned char) at[k - 1]) || at[k - 1] == '_')) && (isalpha((unsigned char) at[k]) || at[k] == '_')) {
        size_t n = strspn(at + k, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        if ((n == 3 && strncmp(at + k, "asm", 3) == 0) || (n == 5 && strncmp(at + k, "__asm", 5) == 0)
            || (n == 7 && strncmp(at + k, "__asm__", 7) == 0))
          return fail(why, "%s has assembly in it; wanted: C", name);
      }
  }
  return true;
}

/* a file of the lab's own may call what it counts, and has lists of its own (lab.sh) */
static bool object_fits(const struct grading *g, size_t file, const char *object, char *why)
{
  bool given = file >= g->n_files - g->n_given;
  char path[PATH_SIZE + 20];
  size_t n;
  snprintf(path, sizeof path, "%s/%smay-use", g->key, given ? "own-" : "");
  char *use = slurp(path, 100000, NULL);
  snprintf(path, sizeof path, "%s/%smay-define", g->key, given ? "own-" : "");
  char *define = slurp(path, 100000, NULL), *bytes = slurp(object, MOST_READ_BYTES, &n);
  bool ok = use != NULL && define != NULL && bytes != NULL;
  if (!ok) fail(why, "%s: its object could not be looked at", g->file[file]);
  ok = ok && look_at_object(bytes, n, use, given ? "uncounted_" : NULL, define, g->file[file], why, FEEDBACK);
  free(use), free(define), free(bytes);
  return ok;
}

/* runs the compiler; what it has to say against the hand-in is the student's */
static bool compiles(struct grading *g, unsigned seconds, char *const argv[], const char *what, char *why)
{
  struct cage_result r = tool(g, seconds, argv);
  bool ok = r.end == CAGE_EXITED && r.code == 0;
  if (!ok) fail(why, "%s:\n%.1200s", what, r.out == NULL ? "" : r.out);
  free(r.out);
  return ok;
}

/* a file is preprocessed, looked at, and what was looked at is compiled */
static bool compile_one(struct grading *g, size_t i, const char *object, char *why)
{
  char *file = g->file[i], include[PATH_SIZE + 2], before[PATH_SIZE + 70], what[100];
  snprintf(include, sizeof include, "-I%s", g->include), snprintf(before, sizeof before, "%s/%s.i", g->work, file);
  snprintf(what, sizeof what, "%s does not compile", file);
  char *flags[] = { "-std=c11", "-O2", "-g", "-ffp-contract=off", "-Wall", "-Wextra", include };
  enum { N_FLAGS = sizeof flags / sizeof *flags };
  char *argv[N_FLAGS + 6] = { "/usr/bin/cc" };
  memcpy(argv + 1, flags, sizeof flags);
  char **rest = argv + 1 + N_FLAGS;
  rest[0] = "-E", rest[1] = file, rest[2] = "-o", rest[3] = before;
  if (!compiles(g, 20, argv, what, why)) return false;
  char *text = slurp(before, MOST_READ_BYTES, NULL);
  bool ok = text != NULL ? look_at(g, text, file, why) : fail(why, "%s is too long when it is preprocessed", file);
  free(text);
  rest[0] = "-c", rest[1] = before, rest[2] = "-o", rest[3] = (char *) (uintptr_t) object;
  return ok && compiles(g, 40, argv, what, why) && object_fits(g, i, object, why);
}

static bool compile(struct grading *g, char *why)
{
  char of[MOST_FILES][PATH_SIZE + 70], out[PATH_SIZE + 20];
  char *link[MOST_FILES + 20] = { "/usr/bin/cc", "-static", "-Wl,-z,noexecstack", "-o", out };
  int n = 5;
  snprintf(out, sizeof out, "%s/student", g->work);
  for (size_t i = 0; i < g->n_files; i++) {
    size_t length = strlen(g->file[i]);
    if (length < 3 || strcmp(g->file[i] + length - 2, ".c") != 0) continue;
    snprintf(of[i], sizeof of[i], "%s/%s.o", g->work, g->file[i]);
    if (!compile_one(g, i, of[i], why)) return false;
    link[n++] = of[i];
  }
  link[n++] = g->objects[0], link[n++] = g->objects[1];
  char libraries[sizeof g->libraries];
  strcpy(libraries, g->libraries);
  for (char *at = libraries, *word; n < MOST_FILES + 18 && (word = strtok(at, " \n")) != NULL; at = NULL) link[n++] = word;
  return compiles(g, 40, link, "the files do not link with the tests", why);
}

/* ---- the tests, each in a process of its own */

static uint64_t mixed(uint64_t h, const char *word)
{
  for (; *word != '\0'; word++) h = (h ^ (unsigned char) *word) * 0x100000001b3u;
  h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
  return h ^ h >> 27;
}

/* the seed of a test, from its name and a word; at least 17 bytes */
static void seed_of(const char *test, const char *word, char *seed)
{ sprintf(seed, "%016llx", (unsigned long long) mixed(mixed(0xcbf29ce484222325u, word), test)); }

/* the test once, with the word that its seed is made of */
static bool run_once(struct grading *g, struct test *t, const char *word)
{
  char seed[20], student[PATH_SIZE + 20], reference[PATH_SIZE + 20], jail[PATH_SIZE + 20];
  seed_of(t->name, word, seed);
  snprintf(student, sizeof student, "%s/jail/student", g->work), snprintf(reference, sizeof reference, "%s/reference", g->key);
  snprintf(jail, sizeof jail, "%s/jail", g->work);
  char *theirs[] = { student, t->name, seed, NULL }, *ours[] = { reference, t->name, seed, NULL };
  struct cage open = { 60, (size_t) 2 << 30, 4u << 20, false, NULL, NULL };
  struct cage_result right = cage_run(&open, ours);
  if (right.end != CAGE_EXITED || right.code != 0) {
    free(right.out);
    return fail(t->feedback, "the reference itself fails here: tell the teacher");
  }
  struct cage closed = { t->seconds, (size_t) 1 << 30, right.n + (1u << 16), true, jail, NULL };
  struct cage_result r = cage_run(&closed, theirs);
  g->ran = true, g->apart = r.apart, g->fenced = r.fenced;
  t->took += r.seconds;
  bool ok = false;
  if (r.end == CAGE_NOT_RUN || (r.end == CAGE_EXITED && r.code == 127 && r.n == 0)) fail(t->feedback, "the program could not be started");
  else ok = transcript_agrees(right.out, &r, t->is_public, t->feedback, FEEDBACK);
  free(right.out), free(r.out);
  return ok;
}

/* a public test with the seed that the student has, and then every test with the teacher's, so that a table of the public cases
   earns nothing */
static void run_test(struct grading *g, struct test *t)
{
  t->passed = !t->is_public || run_once(g, t, "public");
  if (t->passed && !g->only_public) t->passed = run_once(g, t, g->seed);
}

/* ---- the record */

/* bytes that are no UTF-8, and characters that would steer a terminal, become question marks: JSON has no other text */
static const char *cleaned(char *text)
{
  for (unsigned char *at = (unsigned char *) text; *at != '\0'; ) {
    size_t more = *at < 0x80 ? 0 : *at >= 0xc2 && *at < 0xe0 ? 1 : *at >= 0xe0 && *at < 0xf0 ? 2 : *at >= 0xf0 && *at < 0xf5 ? 3 : 9, k = 1;
    while (k <= more && at[k] >= 0x80 && at[k] < 0xc0) k++;
    bool whole = k == more + 1, control = (*at < 0x20 && *at != '\n' && *at != '\t') || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0);
    bool out = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) || (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f);
    if (whole && !control && !out) at += k;
    else *at++ = '?';
  }
  return text;
}

static json_t *record(struct grading *g, const char *why)
{
  char host[100] = "", when[40], student[300], commit[300], submitted[100];
  time_t t = time(NULL);
  struct tm utc;
  unsigned score = 0, of = 0;
  json_t *tests = json_array();
  strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
  gethostname(host, sizeof host - 1);
  for (size_t i = 0; i < g->n_tests; i++) {
    struct test *x = &g->test[i];
    unsigned points = x->passed ? x->points : 0;
    score += points, of += x->points;
    json_array_append_new(tests, json_pack("{s:s s:i s:i s:b s:s s:s s:f}", "name", x->name, "points", (int) points, "of",
      (int) x->points, "public", x->is_public, "promise", x->promise, "feedback", *why ? why : cleaned(x->feedback), "seconds", x->took));
  }
  const char *base = strrchr(g->dir, '/');
  snprintf(student, sizeof student, "%s", g->student != NULL ? g->student : base != NULL && base[1] != '\0' ? base + 1 : g->dir);
  snprintf(commit, sizeof commit, "%s", g->commit), snprintf(submitted, sizeof submitted, "%s", g->submitted);
  return json_pack("{s:s s:s s:s s:s s:s s:s s:i s:i s:s s:s s:s s:s s:o}", "lab", cleaned(g->lab), "student", cleaned(student), "commit",
    cleaned(commit), "submitted", cleaned(submitted), "graded", when, "machine", cleaned(host), "score", (int) score, "of", (int) of,
    "cage", !g->ran ? "not run" : g->apart ? "no files, no calls, alone" : g->fenced ? "no files, no calls" : "no calls",
    "compiler", !g->compiler_ran ? "not run" : g->compiler_fenced ? "no other files" : "no other files by their names", "seed",
    g->only_public ? "public" : strlen(g->seed) < SHORT_SEED ? "the teacher's, short" : "the teacher's", "error", why, "tests", tests);
}

static void show(struct grading *g, char *why)
{
  unsigned score = 0, of = 0;
  if (*why) printf("%s\n", cleaned(why));
  for (size_t i = 0; i < g->n_tests; i++) {
    struct test *t = &g->test[i];
    score += t->passed ? t->points : 0, of += t->points;
    printf("%-4s %3u of %3u  %s\n", t->passed ? "ok" : "not", t->passed ? t->points : 0, t->points, t->promise);
    if (!t->passed && *t->feedback) printf("                 %s\n", cleaned(t->feedback));
  }
  printf("%u of %u points\n", score, of);
}

static bool options(struct grading *g, int argc, char **argv)
{
  g->seed = "", g->commit = "", g->submitted = "";
  for (int i = 1; i < argc; i++) {
    bool more = i + 1 < argc;
    if (strcmp(argv[i], "--public") == 0) g->only_public = true;
    else if (strcmp(argv[i], "--seed") == 0 && more) g->seed = argv[++i];
    else if (strcmp(argv[i], "--json") == 0 && more) g->json = argv[++i];
    else if (strcmp(argv[i], "--commit") == 0 && more) g->commit = argv[++i];
    else if (strcmp(argv[i], "--student") == 0 && more) g->student = argv[++i];
    else if (strcmp(argv[i], "--submitted") == 0 && more) g->submitted = argv[++i];
    else if (argv[i][0] == '-') return false;
    else if (g->key == NULL) g->key = argv[i];
    else if (g->dir == NULL) g->dir = argv[i];
    else return false;
  }
  return g->dir != NULL;
}

/* a process that removes the folder when this one has ended, in whatever way; it waits for the end of a pipe */
static pid_t start_sweeper(const struct grading *g, int *hold)
{
  int ends[2];
  char byte;
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    setsid();
    for (int s = 1; s < 32; s++) signal(s, SIG_IGN);
    close(ends[1]);
    while (read(ends[0], &byte, 1) < 0 && errno == EINTR) ;
    execl("/bin/rm", "rm", "-rf", "--", g->work, (char *) NULL);
    _exit(1);
  }
  close(ends[0]), *hold = ends[1];
  return child;
}

int main(int argc, char **argv)
{
  static struct grading g;
  char why[FEEDBACK] = "", real[PATH_MAX], work[PATH_MAX], from[PATH_SIZE + 20], to[PATH_SIZE + 20];
  if (argc == 4 && strcmp(argv[1], "--seed-of") == 0) { /* for who makes the lab */
    char seed[20];
    seed_of(argv[2], argv[3], seed);
    return puts(seed) < 0;
  }
  if (!options(&g, argc, argv)) {
    fprintf(stderr, "usage: incipit-grade KEY DIR [--seed WORD] [--public] [--json FILE] [--student NAME] [--commit WORD] [--submitted TIME]\n");
    return 2;
  }
  const char *tmp = getenv("TMPDIR");
  snprintf(g.work, sizeof g.work, "%.900s/grade.XXXXXX", tmp != NULL ? tmp : "/tmp");
  if (realpath(g.key, real) != NULL) g.key = real;
  pid_t sweeper = -1;
  int hold = -1;
  bool begun = read_key(&g, why) && mkdtemp(g.work) != NULL && realpath(g.work, work) != NULL && strlen(work) < sizeof g.work;
  if (begun) strcpy(g.work, work), sweeper = start_sweeper(&g, &hold);
  if (sweeper < 0) {
    fprintf(stderr, "incipit-grade: %s\n", *why ? why : strerror(errno));
    return 1;
  }
  if (!g.only_public && strlen(g.seed) < SHORT_SEED)
    fprintf(stderr, "incipit-grade: a seed of %zu letters can be guessed; wanted: at least %d, drawn at random, such as those of `openssl rand -hex 12'\n",
      strlen(g.seed), SHORT_SEED);
  list_readable(&g);
  snprintf(to, sizeof to, "%s/jail", g.work);
  bool ok = mkdir(to, 0755) == 0 && copy_files(&g, why) && compile(&g, why);
  snprintf(from, sizeof from, "%s/student", g.work), snprintf(to, sizeof to, "%s/jail/student", g.work);
  if (ok && rename(from, to) != 0) ok = fail(why, "%s: %s", from, strerror(errno));
  for (size_t i = 0; ok && i < g.n_tests; i++) run_test(&g, &g.test[i]);
  show(&g, why);
  json_t *all = record(&g, why);
  bool written = g.json == NULL || (all != NULL && json_dump_file(all, g.json, JSON_INDENT(1)) == 0);
  if (!written) fprintf(stderr, "incipit-grade: %s cannot be written\n", g.json);
  json_decref(all);
  close(hold);
  while (waitpid(sweeper, NULL, 0) < 0 && errno == EINTR) ;
  return written ? 0 : 1;
}
