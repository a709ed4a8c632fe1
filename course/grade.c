/* grade.c -- incipit-grade KEY DIR [--seed WORD] [--public] [--json FILE] [--student NAME] [--commit WORD] [--submitted TIME]

   Grades the hand-in in DIR with the key of a lab, a folder that `make labs' writes.  The files that a student hands in are copied,
   compiled and linked with the lab's tests; files of other names are ignored.  Each test runs in a process of its own, which can
   neither open files nor start programs and knows no answers.  What it prints is compared with what the reference prints for the
   same seed, here, in another process.  --seed: the teacher's word, from which the cases are drawn; --public: the public tests alone.
   The last three options go into the record, for incipit-record.  The status is 0 if a grade was given, whatever the grade. */
#define _GNU_SOURCE
#include "cage.h"
#include "transcript.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 8, MOST_TESTS = 40, MOST_FILE_BYTES = 1 << 20, PATH_SIZE = 1000, FEEDBACK = 1500 };

struct test { char name[60], promise[300]; unsigned points, seconds; bool is_public, passed; char feedback[FEEDBACK]; double took; };
struct grading {
  const char *key, *dir, *seed, *json, *commit, *student, *submitted;
  bool only_public, jailed;
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

/* ---- the key: files, given, libraries, tests.tsv, reference, tests.o, lib.a, include/, may-define, may-use */

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
  const char *base = strrchr(g->key, '/');
  snprintf(g->lab, sizeof g->lab, "%s", base == NULL || base[1] == '\0' ? g->key : base + 1);
  size_t n = strlen(g->lab);
  if (n > 4 && strcmp(g->lab + n - 4, ".key") == 0) g->lab[n - 4] = '\0';
  return g->n_tests > 0 && g->n_files > 0 ? true : fail(why, "%s: a key without tests or files", g->key);
}

/* ---- the hand-in: copied, looked at, compiled, linked */

static struct cage_result tool(const struct grading *g, unsigned seconds, char *const argv[])
{
  struct cage c = { seconds, (size_t) 2 << 30, 4u << 20, false, g->work };
  return cage_run(&c, argv);
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
    bool ok = write_file(to, text, n);
    free(text);
    if (!ok) return fail(why, "%s could not be copied", g->file[i]);
  }
  return true;
}

/* an #include must be of the lab or of the system; a hand-in has nothing to say in assembly */
static bool look_at(const struct grading *g, const char *text, const char *name, char *why)
{
  char of[PATH_SIZE] = "", real[PATH_MAX], include[PATH_MAX], work[PATH_MAX];
  char path[PATH_SIZE + 20];
  snprintf(path, sizeof path, "%s/include", g->key);
  if (realpath(path, include) == NULL || realpath(g->work, work) == NULL) return fail(why, "%s: %s", path, strerror(errno));
  bool own = false;
  for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
    if (*at == '#') {
      if (sscanf(at, "# %*u \"%999[^\"]\"", of) != 1 || *of == '<') continue;
      char whole[2 * PATH_SIZE];
      snprintf(whole, sizeof whole, *of == '/' ? "%s%s" : "%s/%s", *of == '/' ? "" : g->work, of);
      if (whole[strlen(whole) - 1] == '/') continue; /* the compiler names its directory */
      if (realpath(whole, real) == NULL) continue;
      own = strncmp(real, work, strlen(work)) == 0;
      if (!own && strncmp(real, include, strlen(include)) != 0 && strncmp(real, "/usr/", 5) != 0)
        return fail(why, "%s includes %s; wanted: headers of the lab or of the system", name, of);
      if (!own && strncmp(real, include, strlen(include)) != 0 && strstr(real, "/include/") == NULL)
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

/* whether a list of words, one a line, has this one */
static bool among(const char *list, const char *word)
{
  size_t n = strlen(word);
  for (const char *at = list; at != NULL && *at != '\0'; at = strchr(at, '\n'), at += at != NULL)
    if (strncmp(at, word, n) == 0 && (at[n] == '\n' || at[n] == '\0')) return true;
  return false;
}

/* what an object takes from elsewhere, and what it gives; a file of the lab's own may call what it counts (lab.sh) */
static bool symbols_fit(const struct grading *g, size_t file, const char *object, char *why)
{
  const char *name = g->file[file];
  bool given = file >= g->n_files - g->n_given;
  char path[PATH_SIZE], kind[4], symbol[200];
  char *nm[] = { "/usr/bin/nm", "-P", "-g", (char *) (uintptr_t) object, NULL };
  char *dump[] = { "/usr/bin/objdump", "-h", "-w", (char *) (uintptr_t) object, NULL };
  snprintf(path, sizeof path, "%s/may-use", g->key);
  char *use = slurp(path, 100000, NULL);
  snprintf(path, sizeof path, "%s/may-define", g->key);
  char *define = slurp(path, 100000, NULL);
  struct cage_result r = tool(g, 10, nm), s = tool(g, 10, dump);
  bool ok = use != NULL && define != NULL && r.end == CAGE_EXITED && r.code == 0 && s.end == CAGE_EXITED && s.code == 0;
  if (!ok) fail(why, "%s: its object could not be looked at", name);
  for (char *at = r.out; ok && sscanf(at, "%199s %3s", symbol, kind) == 2 && *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
    bool wants = *kind == 'U' || *kind == 'w' || *kind == 'v'; /* the last two: if it is there */
    if (wants && !among(use, symbol) && !(given && strncmp(symbol, "uncounted_", 10) == 0))
      ok = fail(why, "%s calls %s, which is not among what this lab may use", name, symbol);
    else if (!wants && !among(define, symbol))
      ok = fail(why, "%s defines %s, which other files would see; wanted: static, or a name of the lab", name, symbol);
  }
  static const char *const early[] = { ".init_array", ".fini_array", ".preinit_array", ".ctors", ".dtors", ".init", ".fini" };
  for (size_t i = 0; ok && i < sizeof early / sizeof *early; i++)
    if (strstr(s.out, early[i]) != NULL) ok = fail(why, "%s has code that runs before or after the tests", name);
  free(use), free(define), free(r.out), free(s.out);
  return ok;
}

static bool compile(const struct grading *g, char *why)
{
  char include[PATH_SIZE + 20], of[MOST_FILES][PATH_SIZE + 70], tests[PATH_SIZE], lib[PATH_SIZE], out[PATH_SIZE + 20];
  char *link[MOST_FILES + 20] = { "/usr/bin/cc", "-static", "-o", out };
  int n = 4;
  snprintf(include, sizeof include, "-I%s/include", g->key);
  snprintf(out, sizeof out, "%s/student", g->work);
  for (size_t i = 0; i < g->n_files; i++) {
    char *file = (char *) (uintptr_t) g->file[i];
    size_t length = strlen(file);
    if (length < 3 || strcmp(file + length - 2, ".c") != 0) continue;
    snprintf(of[i], sizeof of[i], "%s/%s.o", g->work, file);
    char *see[] = { "/usr/bin/cc", "-std=c11", "-E", include, file, NULL };
    char *make[] = { "/usr/bin/cc", "-std=c11", "-O2", "-g", "-ffp-contract=off", "-Wall", "-Wextra", include, "-c", file, "-o", of[i], NULL };
    struct cage_result r = tool(g, 20, see);
    bool ok = r.end == CAGE_EXITED && r.code == 0;
    if (ok && !look_at(g, r.out, file, why)) return free(r.out), false;
    free(r.out);
    r = tool(g, 40, make);
    ok = ok && r.end == CAGE_EXITED && r.code == 0;
    if (!ok) fail(why, "%s does not compile:\n%.1200s", file, r.out == NULL ? "" : r.out);
    free(r.out);
    if (!ok || !symbols_fit(g, i, of[i], why)) return false;
    link[n++] = of[i];
  }
  snprintf(tests, sizeof tests, "%s/tests.o", g->key), snprintf(lib, sizeof lib, "%s/lib.a", g->key);
  link[n++] = tests, link[n++] = lib;
  char libraries[sizeof g->libraries];
  strcpy(libraries, g->libraries);
  for (char *at = libraries, *word; n < MOST_FILES + 18 && (word = strtok(at, " \n")) != NULL; at = NULL) link[n++] = word;
  struct cage_result r = tool(g, 40, link);
  bool ok = r.end == CAGE_EXITED && r.code == 0;
  if (!ok) fail(why, "the files do not link with the tests:\n%.1200s", r.out == NULL ? "" : r.out);
  free(r.out);
  return ok;
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
  struct cage open = { 60, (size_t) 2 << 30, 4u << 20, false, NULL };
  struct cage_result right = cage_run(&open, ours);
  if (right.end != CAGE_EXITED || right.code != 0) {
    free(right.out);
    return fail(t->feedback, "the reference itself fails here: tell the teacher");
  }
  struct cage closed = { t->seconds, (size_t) 1 << 30, right.n + (1u << 16), true, jail };
  struct cage_result r = cage_run(&closed, theirs);
  g->jailed = r.jailed;
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

static json_t *record(const struct grading *g, const char *why)
{
  char host[100] = "", when[40];
  time_t t = time(NULL);
  struct tm utc;
  unsigned score = 0, of = 0;
  json_t *tests = json_array();
  strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
  gethostname(host, sizeof host - 1);
  for (size_t i = 0; i < g->n_tests; i++) {
    const struct test *x = &g->test[i];
    unsigned points = x->passed ? x->points : 0;
    score += points, of += x->points;
    json_array_append_new(tests, json_pack("{s:s s:i s:i s:b s:s s:s s:f}", "name", x->name, "points", (int) points, "of",
      (int) x->points, "public", x->is_public, "promise", x->promise, "feedback", *why ? why : x->feedback, "seconds", x->took));
  }
  const char *base = strrchr(g->dir, '/');
  const char *student = base != NULL && base[1] != '\0' ? base + 1 : g->dir;
  return json_pack("{s:s s:s s:s s:s s:s s:s s:i s:i s:s s:s s:s s:o}", "lab", g->lab, "student", g->student != NULL ? g->student : student,
    "commit", g->commit, "submitted", g->submitted, "graded", when, "machine", host, "score", (int) score, "of", (int) of, "cage",
    g->jailed ? "no files, no calls" : "no calls", "seed", g->only_public ? "public" : "the teacher's", "error", why, "tests", tests);
}

static void show(const struct grading *g, const char *why)
{
  unsigned score = 0, of = 0;
  if (*why) printf("%s\n", why);
  for (size_t i = 0; i < g->n_tests; i++) {
    const struct test *t = &g->test[i];
    score += t->passed ? t->points : 0, of += t->points;
    printf("%-4s %3u of %3u  %s\n", t->passed ? "ok" : "not", t->passed ? t->points : 0, t->points, t->promise);
    if (!t->passed && *t->feedback) printf("                 %s\n", t->feedback);
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

static void clear(const struct grading *g)
{
  char *rm[] = { "/bin/rm", "-rf", (char *) (uintptr_t) g->work, NULL };
  struct cage c = { 10, (size_t) 1 << 30, 1000, false, NULL };
  struct cage_result r = cage_run(&c, rm);
  free(r.out);
}

int main(int argc, char **argv)
{
  static struct grading g;
  char why[FEEDBACK] = "", real[PATH_MAX], from[PATH_SIZE + 20], to[PATH_SIZE + 20];
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
  if (!read_key(&g, why) || mkdtemp(g.work) == NULL) {
    fprintf(stderr, "incipit-grade: %s\n", *why ? why : strerror(errno));
    return 1;
  }
  snprintf(to, sizeof to, "%s/jail", g.work);
  bool ok = mkdir(to, 0755) == 0 && copy_files(&g, why) && compile(&g, why);
  snprintf(from, sizeof from, "%s/student", g.work), snprintf(to, sizeof to, "%s/jail/student", g.work);
  if (ok && rename(from, to) != 0) ok = fail(why, "%s: %s", from, strerror(errno));
  for (size_t i = 0; ok && i < g.n_tests; i++) run_test(&g, &g.test[i]);
  show(&g, why);
  json_t *all = record(&g, why);
  if (g.json != NULL && json_dump_file(all, g.json, JSON_INDENT(1)) != 0) {
    fprintf(stderr, "incipit-grade: %s cannot be written\n", g.json);
    ok = false;
  }
  bool written = g.json == NULL || access(g.json, R_OK) == 0;
  json_decref(all);
  clear(&g);
  return written ? 0 : 1;
}
