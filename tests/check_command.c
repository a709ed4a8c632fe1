/* Appendix B: what the command says to people, to scripts and to other programs.  Most runs happen
   in this process, on streams that are files in memory; what only a real process shows (signals,
   closed pipes, a lost file) is tried on build/incipit itself. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include "marked.h"
#include "suite.h"
#include "accounts/formats.h"
#include "command.h"
#include "families/loader.h"
#include "json.h"

static const char *build_dir(void)
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
static bool counted_interrupt(void)
{
  return steps_allowed != 0 && --steps_allowed == 0;
}
static void listen_to_nobody(void)
{
}
enum { ON_TERMINAL = 1, FROM_KEYBOARD = 2 };
static struct run run_words(int argc, char **argv, const void *in, size_t n_in, int where,
  uint64_t fail_at, const char *program)
{
  struct run r;
  memset(&r, 0, sizeof r);
  FILE *f = tmpfile(), *out = open_memstream(&r.out, &r.n_out),
       *err = open_memstream(&r.err, &r.n_err);
  ck_assert(f != NULL && out != NULL && err != NULL);
  fwrite(in, 1, n_in, f);
  rewind(f);
  r.m.fail_at = fail_at;
  struct console c = { .in = f,
    .out = out,
    .err = err,
    .in_terminal = where & FROM_KEYBOARD,
    .out_terminal = where & ON_TERMINAL,
    .program = program,
    .build = "test",
    .memory = &r.m,
    .listen = listen_to_nobody,
    .interrupted = counted_interrupt };
  r.status = command_run(&c, argc, argv);
  fclose(f), fclose(out), fclose(err);
  ck_assert_msg(r.m.all.live == 0, "%s %s: %lu bytes are still held", argc > 1 ? argv[1] : "",
    argc > 2 ? argv[2] : "", (unsigned long) r.m.all.live);
  return r;
}
/* a line as one would type it: blanks divide, ' quotes, @ at the beginning of a word is the folder
   of broken models, a word that begins with < is what comes by the standard input, with a line's
   end */
static int words_of(char *line, char **argv, char **in)
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
static struct run run_as(const char *line, int where, uint64_t fail_at)
{
  char copy[4096], *argv[256], *in;
  snprintf(copy, sizeof copy, "%s", line);
  int argc = words_of(copy, argv, &in);
  struct run r =
    run_words(argc, argv, in ? in : "", in ? strlen(in) : 0, where, fail_at, "build/incipit");
  for (int i = 0; i < argc; i++) free(argv[i]);
  free(in);
  return r;
}
static struct run run(const char *line)
{
  return run_as(line, 0, 0);
}
static void done(struct run *r)
{
  free(r->out), free(r->err);
}
static void timings_out(char *text) /* times are never the same twice */
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

/* ---- models that are not as they should be */
static void must(bool ok, const char *what)
{
  if (!ok) {
    perror(what);
    exit(1);
  }
}
static void copy_file(const char *from, const char *to)
{
  FILE *a = fopen(from, "rb"), *b = fopen(to, "wb");
  must(a != NULL && b != NULL, to);
  char part[65536];
  for (size_t n; (n = fread(part, 1, sizeof part, a)) > 0;) fwrite(part, 1, n, b);
  fclose(a), fclose(b);
}
static char *place(char *at, const char *name, const char *file)
{
  snprintf(at, 8192, "%s/%s%s%s", room_dir, name, file ? "/" : "", file ? file : "");
  return at;
}
static void variant(const char *name, const char *without)
{
  static const char *const file[] = { "config.json", "generation_config.json", "tokenizer.json",
    "model.safetensors" };
  char to[8192], from[256];
  mkdir(place(to, name, NULL), 0777);
  for (int i = 0; i < 4; i++) {
    snprintf(from, sizeof from, "tests/golden/small/%s", file[i]);
    if (without == NULL || strcmp(without, file[i]) != 0) copy_file(from, place(to, name, file[i]));
  }
}
static void set_field(
  const char *name, const char *file, const char *field, const char *value) /* value: JSON */
{
  char path[8192];
  json_t *j = json_load_file(place(path, name, file), 0, NULL);
  json_object_set_new(j, field, json_loads(value, JSON_DECODE_ANY, NULL));
  must(json_dump_file(j, path, JSON_PRESERVE_ORDER) == 0, path);
  json_decref(j);
}
static void spill_file(
  const char *name, const char *file, const char *text, size_t n) /* n 0: as long as it is */
{
  char path[8192];
  if (n == 0) n = strlen(text);
  FILE *f = fopen(place(path, name, file), "wb");
  must(f != NULL && fwrite(text, 1, n, f) == n && fclose(f) == 0, path);
}
/* files as a stranger might write them on purpose; tests/check_hostile.c has more of each kind,
 * here is what the command says */
static void make_hostile_models(void)
{
  char path[8192], deep[4096];
  variant("nan", NULL);
  json_t *header;
  FILE *f = fopen(place(path, "nan", "model.safetensors"), "r+b");
  uint64_t length;
  must(f != NULL && fread(&length, 8, 1, f) == 1, path);
  char *text = malloc(length);
  must(fread(text, 1, length, f) == length && (header = json_loadb(text, length, 0, NULL)) != NULL,
    path);
  static const unsigned char none[2] = { 0x00, 0x7e };
  json_t *at =
    json_object_get(json_object_get(header, "model.layers.1.mlp.down_proj.weight"), "data_offsets");
  must(
    fseek(f, (long) (8 + length) + (long) json_integer_value(json_array_get(at, 0)), SEEK_SET) == 0
      && fwrite(none, 1, 2, f) == 2 && fclose(f) == 0,
    path);
  json_decref(header), free(text);
  memset(deep, '[', sizeof deep);
  variant("deep", NULL), spill_file("deep", "config.json", deep, sizeof deep);
  variant("twice", NULL),
    spill_file("twice", "config.json", "{\"model_type\":\"llama\",\n\"model_type\":\"gpt2\"}", 0);
  variant("latin", NULL), spill_file("latin", "tokenizer.json", "{\"version\":\n\"\xe9\"}", 0);
  variant("huge", NULL), spill_file("huge", "generation_config.json", "{\"temperature\":1e999}", 0);
  variant("steer", NULL), set_field("steer", "config.json", "\x1b[2Jclear\xc2\x9b", "7");
  const char *steering =
    "{\"\\u001b[2Jclear\\u009b\\r\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}";
  memset(deep, 0, sizeof deep), deep[0] = (char) strlen(steering), strcpy(deep + 8, steering);
  spill_file("steer", "steer.safetensors", deep, 8 + strlen(steering));
  variant("context", NULL),
    set_field("context", "config.json", "max_position_embeddings", "2147483648");
  variant("layers", NULL), set_field("layers", "config.json", "num_hidden_layers", "1000000000");
  variant("far", NULL),
    set_field("far", "tokenizer.json", "added_tokens", "[{\"id\":4194303,\"content\":\"x\"}]");
  variant("out", "model.safetensors"),
    spill_file("out", "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"x/../../y\"}}", 0);
  variant("root", "model.safetensors"),
    spill_file(
      "root", "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"/etc/passwd\"}}", 0);
  variant("claim", "model.safetensors"),
    spill_file("claim", "model.safetensors", "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10);
  variant("shapes", "model.safetensors"),
    spill_file("shapes", "model.safetensors",
      "\x49\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_"
      "offsets\":[0,0]}}",
      8 + 0x49);
  variant("pipe", "model.safetensors");
  unlink(place(path, "pipe", "model.safetensors"));
  must(mkfifo(path, 0600) == 0, path);
  variant("big", "config.json"), spill_file("big", "config.json", "{}", 0);
  must(truncate(place(path, "big", "config.json"), 2000000) == 0, path);
}
static void make_models(void)
{
  char path[8192];
  snprintf(room_dir, sizeof room_dir, "%s/tests/command-room", build_dir());
  mkdir(room_dir, 0777);
  mkdir(place(path, "empty", NULL), 0777);
  variant("no-weights", "model.safetensors");
  variant("no-config", "config.json");
  variant("cut", NULL);
  must(truncate(place(path, "cut", "model.safetensors"), 60000) == 0, path);
  variant("type", NULL), set_field("type", "config.json", "hidden_size", "\"32\"");
  variant("field", NULL), set_field("field", "config.json", "sliding_windows", "7");
  variant("family", NULL), set_field("family", "config.json", "model_type", "\"bert\"");
  variant("shape", NULL), set_field("shape", "config.json", "intermediate_size", "40");
  variant("vocab", NULL), set_field("vocab", "config.json", "vocab_size", "285");
  variant("json", NULL);
  must(truncate(place(path, "json", "tokenizer.json"), 3000) == 0, path);
  variant("no-eos", "generation_config.json");
  variant("no-tokenizer", "tokenizer.json");
  variant("bos", NULL);
  set_field("bos", "tokenizer.json", "post_processor",
    "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<|endoftext|>\","
    "\"type_id\":0}},{\"Sequence\":"
    "{\"id\":\"A\",\"type_id\":0}}],\"pair\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{"
    "\"Sequence\":{\"id\":\"B\",\"type_id\":1}}],\"special_tokens\":"
    "{\"<|endoftext|>\":{\"id\":\"<|endoftext|>\",\"ids\":[0],\"tokens\":[\"<|endoftext|>\"]}}}");
  variant("chat", NULL);
  FILE *f = fopen(place(path, "chat", "chat_template.jinja"), "w");
  fprintf(f, "{{ messages }}"), fclose(f);
  variant("sampled", NULL), set_field("sampled", "generation_config.json", "do_sample", "true");
  variant("long", NULL), set_field("long", "config.json", "max_position_embeddings", "4096");
  make_marked(place(path, "marked", NULL), 0);
  make_hostile_models();
}

/* ---- the tables of options and of refusals */
static char *next_field(char **p)
{
  char *f = *p;
  if (f == NULL) return NULL;
  char *tab = strchr(f, '\t');
  if (tab != NULL) *tab = '\0';
  *p = tab ? tab + 1 : NULL;
  return f;
}
/* tests/options.tsv: SUBCOMMAND OPTION WITHOUT WITH WHAT REFUSED WORDS.  WITHOUT, run twice, gives
   the same twice; WITH differs from it in WHAT: out, err, or memory (bytes asked of the allocator).
   REFUSED fails, and says WORDS. */
START_TEST(every_option_changes_something_and_refuses_something)
{
  static bool seen[N_SUBCOMMANDS][N_OPTIONS];
  FILE *f = fopen("tests/options.tsv", "r");
  char line[8192];
  unsigned passed = 0;
  ck_assert(f != NULL);
  while (fgets(line, sizeof line, f)) {
    if (line[0] == '#' || line[0] == '\n') continue;
    line[strcspn(line, "\n")] = '\0';
    char *p = line, *sub = next_field(&p), *name = next_field(&p), *without = next_field(&p),
         *with = next_field(&p), *what = next_field(&p), *refused = next_field(&p),
         *words = next_field(&p);
    ck_assert_msg(words != NULL, "%s %s: seven fields are wanted", sub, name);
    int s = 0, o = 0;
    while (s < N_SUBCOMMANDS && strcmp(options_subcommand((enum subcommand) s)->name, sub) != 0)
      s++;
    while (o < N_OPTIONS && strcmp(options_option((enum option) o)->name, name) != 0) o++;
    ck_assert_msg(
      s < N_SUBCOMMANDS && o < N_OPTIONS && (options_option((enum option) o)->where >> s & 1) != 0,
      "%s --%s is not in the table", sub, name);
    seen[s][o] = true;
    struct run a = run(without), b = run(without), c = run(with), d = run(refused);
    timings_out(a.out), timings_out(b.out), timings_out(c.out), timings_out(a.err),
      timings_out(b.err), timings_out(c.err);
    ck_assert_msg(strcmp(a.out, b.out) == 0 && strcmp(a.err, b.err) == 0
        && a.m.all.requests == b.m.all.requests,
      "%s differs from itself", without);
    ck_assert_msg(a.status == 0 && c.status == 0, "%s | %s: %d %d: %s%s", without, with, a.status,
      c.status, a.err, c.err);
    bool differs = strcmp(what, "out") == 0 ? strcmp(a.out, c.out) != 0
      : strcmp(what, "err") == 0            ? strcmp(a.err, c.err) != 0
                                            : a.m.all.requested != c.m.all.requested;
    ck_assert_msg(differs, "%s --%s changes nothing in %s", sub, name, what);
    ck_assert_msg(d.status != 0 && strstr(d.err, words) != NULL, "%s: status %d: %s; wanted: %s",
      refused, d.status, d.err, words);
    ck_assert_uint_eq(d.n_out, 0);
    passed++;
    done(&a), done(&b), done(&c), done(&d);
  }
  fclose(f);
  for (int s = 0; s < N_SUBCOMMANDS; s++)
    for (int o = 0; o < N_OPTIONS; o++)
      ck_assert_msg((options_option((enum option) o)->where >> s & 1) == 0 || seen[s][o],
        "tests/options.tsv lacks %s --%s", options_subcommand((enum subcommand) s)->name,
        options_option((enum option) o)->name);
  tally("tests/options.tsv", passed, 0, 0, "");
}
END_TEST

/* tests/refusals.tsv: LINE STATUS WORDS...: all of the words stand in the one sentence on the
 * standard error, and no two lines get the same sentence */
START_TEST(refusals_are_sentences_about_the_thing)
{
  static char *said[400], from[400][300];
  size_t n = 0;
  FILE *f = fopen("tests/refusals.tsv", "r");
  char line[8192];
  ck_assert(f != NULL);
  while (fgets(line, sizeof line, f)) {
    if (line[0] == '#' || line[0] == '\n') continue;
    line[strcspn(line, "\n")] = '\0';
    char *p = line, *typed = next_field(&p), *status = next_field(&p), *word;
    struct run r = run_as(typed, strstr(typed, "--keyboard") ? FROM_KEYBOARD : 0, 0);
    ck_assert_msg(r.status == atoi(status), "%s: status %d: %s", typed, r.status, r.err);
    ck_assert_msg(r.n_out == 0, "%s: %s", typed, r.out);
    ck_assert_msg(strncmp(r.err, "incipit: ", 9) == 0 && strchr(r.err, '\n') == r.err + r.n_err - 1,
      "%s: %s is no sentence on one line", typed, r.err);
    while ((word = next_field(&p)) != NULL)
      ck_assert_msg(strstr(r.err, word) != NULL, "%s: %s lacks %s", typed, r.err, word);
    for (size_t i = 0; i < n; i++)
      ck_assert_msg(strcmp(said[i], r.err) != 0, "%s and %s both say %s", from[i], typed, r.err);
    snprintf(from[n], sizeof from[n], "%.290s", typed);
    said[n++] = strdup(r.err);
    ck_assert(n < 400);
    done(&r);
  }
  fclose(f);
  for (size_t i = 0; i < n; i++) free(said[i]);
  tally("tests/refusals.tsv", (unsigned) n, 0, 0, "");
}
END_TEST

/* the perplexity of a file that fits into the context is that of the protocol's log-probabilities;
 * in windows it is what chapter 5's suite says */
START_TEST(perplexity_is_what_the_log_probabilities_say)
{
  char path[8192], line[9000];
  place(path, "sentence.txt", NULL);
  FILE *f = fopen(path, "wb");
  fputs("The cat sat on the mat.", f), fclose(f);
  snprintf(line, sizeof line, "perplexity %s --json", path);
  struct run r = run(line), t = run("tokenize 'The cat sat on the mat.' --no-special --json");
  json_t *p = json_loads(r.out, 0, NULL), *cut = json_loads(t.out, 0, NULL),
         *ids = json_object_get(cut, "ids");
  ck_assert_msg(p != NULL && ids != NULL, "%s%s", r.out, r.err);
  char *list = json_dumps(ids, JSON_COMPACT);
  snprintf(line, sizeof line, "probe logprob <{\"ids\":%s}", list);
  struct run q = run(line);
  json_t *said = json_loads(q.out, 0, NULL);
  double sum = json_real_value(json_object_get(said, "sum")), n = (double) json_array_size(ids) - 1;
  ck_assert_int_eq(json_integer_value(json_object_get(p, "tokens")), (int) n);
  ck_assert_int_eq(json_integer_value(json_object_get(p, "windows")), 1);
  ck_assert_int_eq(json_integer_value(json_object_get(p, "bytes")), 23);
  ck_assert_double_eq(json_real_value(json_object_get(p, "mean_loss")), -sum / n);
  ck_assert_double_eq_tol(
    json_real_value(json_object_get(p, "perplexity")), exp(-sum / n), 1e-9 * exp(-sum / n));
  ck_assert_double_eq_tol(
    json_real_value(json_object_get(p, "bits_per_byte")), -sum / log(2) / 23, 1e-12);
  ck_assert_uint_eq(json_object_size(p), 6);
  free(list), json_decref(p), json_decref(cut), json_decref(said);
  done(&r), done(&t), done(&q);
  snprintf(line, sizeof line, "perplexity %s", path);
  r = run(line);
  ck_assert_msg(
    strstr(r.out, "perplexity     ") != NULL && strstr(r.out, "windows        1\n") != NULL, "%s",
    r.out);
  done(&r);
}
END_TEST

/* a bench without a form, of a length that just fits; a_bench_counts_exactly has the numbers */
START_TEST(bench_counts_what_it_times)
{
  struct run r = run(
    "bench -n 2 -p 0 -d 62 -r 1"); /* a default gives way to the context, and 0 leaves a test out */
  ck_assert_msg(r.status == 0 && strstr(r.out, "tg2 @ d62") != NULL && strstr(r.out, "pp") == NULL,
    "%s%s", r.out, r.err);
  done(&r);
}
END_TEST

START_TEST(names_do_not_steer_the_terminal)
{
  struct run r = run("inspect @/steer/steer.safetensors");
  ck_assert_msg(r.status == 0 && strstr(r.out, "  ?[2Jclear??? U8 [0] 0 bytes\n") != NULL, "%s%s",
    r.out, r.err);
  done(&r);
  set_field("steer", "config.json", "\x1b[2Jclear\xc2\x9b",
    "null"); /* says nothing, and is shown as ignored */
  r = run("inspect @/steer");
  ck_assert_msg(r.status == 0 && strstr(r.out, "config.json: ?[2Jclear??: null") != NULL
      && strchr(r.out, 0x1b) == NULL,
    "%s%s", r.out, r.err);
  done(&r);
  set_field("steer", "config.json", "\x1b[2Jclear\xc2\x9b", "7");
}
END_TEST
START_TEST(what_a_terminal_and_an_environment_change)
{
  struct run r = run_as("generate", FROM_KEYBOARD, 0);
  ck_assert_int_eq(r.status, 2);
  ck_assert(strstr(r.err, "generate needs a text") != NULL);
  done(&r);
  r = run_as("generate The -n 1", ON_TERMINAL, 0);
  ck_assert_str_eq(r.out, " cat\n"); /* on a terminal, and only there, a line's end of ours */
  done(&r);
  r = run("generate The -n 1");
  ck_assert_str_eq(r.out, " cat");
  done(&r);
  r = run_as("trace The -n 1", ON_TERMINAL, 0);
  ck_assert(strstr(r.out, "\x1b[31m") != NULL);
  done(&r);
  setenv("NO_COLOR", "1", 1);
  r = run_as("trace The -n 1", ON_TERMINAL, 0);
  ck_assert(strchr(r.out, '\x1b') == NULL);
  done(&r);
  setenv("INCIPIT_ISA", "mmx", 1);
  r = run("generate The -n 1");
  ck_assert_int_eq(r.status, 1);
  ck_assert(strstr(r.err, "mmx") != NULL && strstr(r.err, "scalar") != NULL && r.n_out == 0);
  done(&r);
  for (size_t i = 0; kernels_at(i) != NULL; i++) {
    setenv("INCIPIT_ISA", kernels_at(i)->name, 1);
    r = run("generate 'The cat sat'");
    ck_assert_str_eq(r.out, " on the mat. é€😀!");
    done(&r);
    r = run("--version");
    char words[64];
    snprintf(words, sizeof words, "kernels: %s, of", kernels_at(i)->name);
    ck_assert_msg(strstr(r.out, words) != NULL && strstr(r.out, "build test")
        && strstr(r.out, "compiler: ") && strstr(r.out, "(PCRE2)") && strstr(r.out, "(utf8proc)"),
      "%s", r.out);
    done(&r);
  }
  unsetenv("INCIPIT_ISA");
  setenv("OMP_NUM_THREADS", "3", 1);
  r = run("generate The -n 1 --stats");
  ck_assert_msg(strstr(r.err, "workers                      3\n") != NULL, "%s", r.err);
  done(&r);
  setenv("OMP_NUM_THREADS", "many", 1);
  r = run("generate The -n 1");
  ck_assert_int_eq(r.status, 0);
  done(&r);
  setenv("INCIPIT_MODEL", "/nowhere/at/all", 1);
  r = run("generate The");
  ck_assert(r.status == 1 && strstr(r.err, "/nowhere/at/all") != NULL);
  done(&r);
  unsetenv("INCIPIT_MODEL");
  char *argv[] = { "incipit", "generate", "The", NULL };
  r = run_words(3, argv, "", 0, 0, 0, "/nowhere/bin/incipit");
  ck_assert(r.status == 1 && strstr(r.err, "no built-in model") && strstr(r.err, "INCIPIT_MODEL"));
  done(&r);
}
END_TEST

START_TEST(a_greeting_with_three_things_to_try)
{
  char *argv[] = { "incipit", NULL };
  struct run r = run_words(1, argv, "", 0, ON_TERMINAL | FROM_KEYBOARD, 0, "incipit");
  ck_assert_int_eq(r.status, 0);
  unsigned n = 0;
  for (char *at = r.out; (at = strstr(at, "\n  incipit ")) != NULL; at++) n++;
  ck_assert_uint_eq(n, 3);
  done(&r);
}
END_TEST

START_TEST(hints_are_said_once_and_to_the_eyes)
{
  struct run r = run("generate The -n 2 -m @/chat"), s = run("generate The -n 2");
  ck_assert_str_eq(r.out, s.out);
  ck_assert(strstr(r.err, "chat template") != NULL && s.n_err == 0);
  done(&r);
  r = run("generate --prompt-ids 262 -n 2 -m @/chat");
  ck_assert_uint_eq(r.n_err, 0);
  done(&r);
  done(&s);
  r = run("generate The -n 2 -m @/sampled"),
  s =
    run("generate The -n 2 --temperature 1"); /* what the makers want is done, and needs no word */
  ck_assert_str_eq(r.out, s.out);
  ck_assert(r.n_err == 0 && s.n_err == 0);
  done(&r), done(&s);
}
END_TEST

/* ---- the objects of --json */
static size_t lines_of(const struct run *r)
{
  size_t n = 0;
  for (size_t i = 0; i < r->n_out; i++) n += r->out[i] == '\n';
  return n;
}
static void has_keys(json_t *o, const char *list) /* exactly these, in any order */
{
  char copy[512];
  size_t n = 0;
  snprintf(copy, sizeof copy, "%s", list);
  for (char *k = strtok(copy, " "); k != NULL; k = strtok(NULL, " "), n++)
    ck_assert_msg(json_object_get(o, k) != NULL, "%s is missing", k);
  ck_assert_msg(json_object_size(o) == n, "wanted: %s", list);
}
static json_t *object_of(struct run *r)
{
  ck_assert_msg(r->status == 0 || r->status == 130, "%d %s", r->status, r->err);
  json_t *o = json_loads(r->out, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
  ck_assert_msg(json_is_object(o), "%s", r->out);
  return o;
}
static int64_t number_at(json_t *o, const char *a, const char *b)
{
  return json_integer_value(json_object_get(json_object_get(o, a), b));
}
static const char counter_keys[] =
  "passes rows kv_rows_computed kv_rows_recomputed qk_pairs madds_linear madds_attention "
  "madds_head weight_bytes_read cache_bytes_read cache_bytes_written";

START_TEST(without_a_model_the_built_in_one_serves)
{
  unsetenv("INCIPIT_MODEL");
  if (access("models/pocket/config.json", R_OK) != 0) {
    tally("models/pocket", 0, 0, 1, "there is no built-in model");
    return;
  }
  struct run r = run("generate 'The cat sat' -n 4"), j = run("inspect --json"),
             p = run("probe logprob <{\"ids\":[1,2,3]}"), t = run("trace 'The cat sat'");
  ck_assert_str_eq(r.out, " on the mat.");
  json_t *o = object_of(&j);
  ck_assert_int_eq(json_integer_value(json_object_get(o, "context")), 2048);
  ck_assert(strstr(p.out, "\"sum\":") != NULL
    && strstr(t.out, "computed 18 rows: 6 necessary, 12 again\n") != NULL);
  json_decref(o), done(&r), done(&j), done(&p), done(&t);
  tally("models/pocket", 1, 0, 0, "");
}
END_TEST

START_TEST(generate_prints_the_promised_object)
{
  struct run r = run("generate 'The cat sat' --json --logprobs 3");
  json_t *o = object_of(&r);
  has_keys(o, "model prompt sequences usage counters timings");
  has_keys(json_object_get(o, "prompt"), "text ids");
  has_keys(json_object_get(o, "usage"), "prompt_tokens completion_tokens total_tokens");
  has_keys(json_object_get(o, "counters"), counter_keys);
  has_keys(json_object_get(o, "timings"),
    "load_ms time_to_first_token_ms time_per_output_token_ms prefill_tokens_per_second "
    "decode_tokens_per_second");
  json_t *s = json_array_get(json_object_get(o, "sequences"), 0);
  has_keys(s, "index ids text finish_reason stop logprobs");
  ck_assert_str_eq(json_string_value(json_object_get(s, "text")), " on the mat. é€😀!");
  ck_assert_str_eq(json_string_value(json_object_get(s, "finish_reason")), "stop");
  ck_assert_str_eq(json_string_value(json_object_get(s, "stop")), "eos");
  json_t *ids = json_object_get(s, "ids"), *odds = json_object_get(s, "logprobs");
  size_t g = json_array_size(ids);
  ck_assert_uint_eq(json_array_size(odds), g);
  ck_assert_int_eq(json_integer_value(json_array_get(ids, g - 1)),
    0); /* the end token is in the ids, not in the text */
  ck_assert_int_eq(number_at(o, "usage", "total_tokens"), (int64_t) (3 + g));
  for (size_t i = 0; i < g; i++) {
    json_t *x = json_array_get(odds, i), *top = json_object_get(x, "top");
    has_keys(x, "id logprob rank top");
    ck_assert(json_equal(json_object_get(x, "id"), json_array_get(ids, i)));
    ck_assert_uint_eq(json_array_size(top), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(x, "rank")), 1);
    ck_assert(json_equal(
      json_object_get(json_array_get(top, 0), "logprob"), json_object_get(x, "logprob")));
    for (size_t k = 1; k < 3; k++)
      ck_assert(json_real_value(json_object_get(json_array_get(top, k), "logprob"))
        <= json_real_value(json_object_get(json_array_get(top, k - 1), "logprob")));
  }
  int64_t p = 3, n = (int64_t) g;
  ck_assert_int_eq(number_at(o, "counters", "passes"), n);
  ck_assert_int_eq(number_at(o, "counters", "rows"), p + n - 1);
  ck_assert_int_eq(number_at(o, "counters", "kv_rows_recomputed"), 0);
  ck_assert_int_eq(
    number_at(o, "counters", "qk_pairs"), p * (p + 1) / 2 + (n - 1) * p + n * (n - 1) / 2);
  /* the same without the cache: everything is equal but work, times and memory */
  struct run naive = run("generate 'The cat sat' --json --logprobs 3 --no-cache");
  json_t *other = object_of(&naive);
  ck_assert_int_eq(number_at(other, "counters", "rows"), n * p + n * (n - 1) / 2);
  ck_assert_int_eq(
    number_at(other, "counters", "kv_rows_recomputed"), n * p + n * (n - 1) / 2 - (p + n - 1));
  ck_assert(json_equal(json_object_get(o, "sequences"), json_object_get(other, "sequences")));
  json_decref(other), done(&naive);
  json_decref(o), done(&r);
}
END_TEST

START_TEST(jsonl_is_a_line_a_token_and_then_the_object)
{
  struct run r = run("generate 'The cat sat' --jsonl"),
             whole = run("generate 'The cat sat' --json");
  json_t *o = object_of(&whole), *s = json_array_get(json_object_get(o, "sequences"), 0),
         *last = NULL;
  char text[256] = "";
  size_t n = 0;
  for (char *at = r.out, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
    *end = '\0';
    json_decref(last);
    last = json_loads(at, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(last != NULL, "%s", at);
    if (json_object_get(last, "sequences")) continue;
    has_keys(last, "index id text logprob");
    ck_assert(
      json_equal(json_object_get(last, "id"), json_array_get(json_object_get(s, "ids"), n++)));
    strcat(text, json_string_value(json_object_get(last, "text")));
  }
  ck_assert_uint_eq(n, json_array_size(json_object_get(s, "ids")));
  ck_assert_str_eq(text, json_string_value(json_object_get(s, "text")));
  ck_assert(json_equal(json_object_get(last, "sequences"), json_object_get(o, "sequences")));
  ck_assert(json_equal(json_object_get(last, "counters"), json_object_get(o, "counters")));
  json_decref(last), json_decref(o), done(&r), done(&whole);
}
END_TEST

START_TEST(trace_prints_the_grid_of_the_book)
{
  struct run r = run("trace 'The cat sat' -n 4 --json --attention 1.3"),
             t = run("trace 'The cat sat' -n 4");
  json_t *o = object_of(&r);
  has_keys(o, "prompt_ids steps totals");
  ck_assert_int_eq(number_at(o, "totals", "computed"), 18);
  ck_assert_int_eq(number_at(o, "totals", "necessary"), 6);
  ck_assert_int_eq(number_at(o, "totals", "redundant"), 12);
  json_t *steps = json_object_get(o, "steps");
  ck_assert_uint_eq(json_array_size(steps), 4);
  for (size_t i = 0; i < 4; i++) {
    json_t *s = json_array_get(steps, i), *work = json_object_get(s, "work"),
           *seen = json_object_get(s, "attention");
    has_keys(s, "step length work top chosen cache_rows cache_bytes counters attention");
    has_keys(json_object_get(s, "chosen"), "id piece logprob rank why");
    has_keys(json_object_get(s, "counters"), counter_keys);
    has_keys(json_array_get(json_object_get(s, "top"), 0), "id piece logprob");
    ck_assert_int_eq(number_at(s, "counters", "passes"), 1);
    ck_assert_int_eq(number_at(s, "counters", "rows"), (int64_t) (3 + i));
    ck_assert_uint_eq(json_array_size(work), 3 + i);
    for (size_t k = 0; k < 3 + i; k++)
      ck_assert_str_eq(
        json_string_value(json_array_get(work, k)), i > 0 && k < 2 + i ? "redo" : "new");
    double sum = 0;
    for (size_t k = 0; k < json_array_size(seen); k++)
      sum += json_real_value(json_array_get(seen, k));
    ck_assert_uint_eq(json_array_size(seen), 3 + i);
    ck_assert_msg(fabs(sum - 1) < 1e-5, "attention adds up to %g", sum);
  }
  ck_assert(strstr(t.out, "\n  R R R R R C\n") != NULL
    && strstr(t.out, "computed 18 rows: 6 necessary, 12 again\n") != NULL);
  json_decref(o), done(&r), done(&t);
  /* with the cache: one new row a step, the others kept, the same choices */
  r = run("trace 'The cat sat' -n 4 --json --cache --attention 1.3"),
  t = run("trace 'The cat sat' -n 4 --cache");
  o = object_of(&r), steps = json_object_get(o, "steps");
  ck_assert_int_eq(number_at(o, "totals", "computed"), 6);
  ck_assert_int_eq(number_at(o, "totals", "redundant"), 0);
  for (size_t i = 0; i < 4; i++) {
    json_t *s = json_array_get(steps, i), *work = json_object_get(s, "work");
    ck_assert_int_eq(number_at(s, "counters", "rows"), i == 0 ? 3 : 1);
    ck_assert_int_eq(json_integer_value(json_object_get(s, "cache_rows")), (int64_t) (3 + i));
    ck_assert_int_eq(json_integer_value(json_object_get(s, "cache_bytes")) % (int64_t) (3 + i), 0);
    ck_assert_int_gt(json_integer_value(json_object_get(s, "cache_bytes")), 0);
    ck_assert_uint_eq(json_array_size(work), 3 + i);
    for (size_t k = 0; k < 3 + i; k++)
      ck_assert_str_eq(
        json_string_value(json_array_get(work, k)), i > 0 && k < 2 + i ? "cached" : "new");
  }
  ck_assert(strstr(t.out, "\n  - - - - - C\n") != NULL
    && strstr(t.out, "computed 6 rows: 6 necessary, 0 again\n") != NULL);
  json_decref(o), done(&r), done(&t);
  r = run("trace '!' -n 9");
  ck_assert_msg(
    strstr(r.out, "<- stopped") != NULL && strstr(r.out, "step 2") == NULL, "%s", r.out);
  done(&r);
}
END_TEST

START_TEST(tokenize_and_inspect_print_the_promised_objects)
{
  struct run r = run("tokenize 'The cat é' --json"), i = run("inspect tests/golden/small --json"),
             f = run("inspect tests/golden/small/model.safetensors --json");
  json_t *o = object_of(&r);
  has_keys(o, "ids pieces bytes");
  ck_assert_int_eq(json_integer_value(json_object_get(o, "bytes")), 10);
  ck_assert_str_eq(json_string_value(json_array_get(json_object_get(o, "pieces"), 1)), " cat");
  json_decref(o);
  o = object_of(&i);
  has_keys(o, "architecture parameters context config tensors tokenizer ignored_fields");
  has_keys(json_object_get(o, "tokenizer"), "kind vocab_size special");
  has_keys(json_array_get(json_object_get(json_object_get(o, "tokenizer"), "special"), 0),
    "id text role from");
  json_t *tensors = json_object_get(o, "tensors");
  int64_t elements = 0;
  for (size_t k = 0; k < json_array_size(tensors); k++) {
    json_t *t = json_array_get(tensors, k), *shape = json_object_get(t, "shape");
    has_keys(t, "name type shape bytes");
    int64_t n = 1;
    for (size_t d = 0; d < json_array_size(shape); d++)
      n *= json_integer_value(json_array_get(shape, d));
    ck_assert_int_eq(json_integer_value(json_object_get(t, "bytes")), 2 * n);
    elements += n;
  }
  ck_assert_int_eq(json_integer_value(json_object_get(o, "parameters")), elements);
  ck_assert_int_eq(json_integer_value(json_object_get(o, "context")), 64);
  ck_assert_uint_gt(json_array_size(json_object_get(o, "ignored_fields")), 0);
  has_keys(json_array_get(json_object_get(o, "ignored_fields"), 0), "file field reason");
  json_t *g = object_of(&f);
  has_keys(g, "architecture parameters context config tensors tokenizer ignored_fields");
  ck_assert(json_equal(json_object_get(g, "tensors"), tensors)
    && json_equal(json_object_get(g, "parameters"), json_object_get(o, "parameters")));
  json_decref(g), json_decref(o), done(&r), done(&i), done(&f);
}
END_TEST

/* ---- memory: nine numbers, and what they are worth */
enum { NONE = -1 }; /* where null is wanted */
static const char account_keys[] = "parameters weights_bytes kv_bytes_per_token context batch "
                                   "kv_bytes total_bytes max_context max_batch";
static void account_of(const char *line, int64_t field[9])
{
  char copy[sizeof account_keys];
  struct run r = run(line);
  ck_assert_msg(r.status == 0 && r.n_err == 0 && lines_of(&r) == 1, "%s: %s%s", line, r.out, r.err);
  json_t *o = object_of(&r);
  has_keys(o, account_keys);
  strcpy(copy, account_keys);
  for (char *k = strtok(copy, " "); k != NULL; k = strtok(NULL, " ")) {
    json_t *v = json_object_get(o, k);
    ck_assert_msg(json_is_null(v) || (json_is_integer(v) && json_integer_value(v) >= 0),
      "%s: %s: %s", line, k, r.out);
    *field++ = json_is_null(v) ? NONE : json_integer_value(v);
  }
  json_decref(o), done(&r);
}
/* integers that were reckoned without the program: published numbers of weights, and products that
 * can be followed with a pencil */
START_TEST(memory_says_what_the_order_says)
{
  static const struct {
    const char *words;
    int64_t wanted[9];
  } at[] = { /* the twelve, in their own contexts */
    { "--shape gpt2", { 124439808, 248879616, 36864, 1024, 1, 37748736, 286628352, NONE, NONE } },
    { "--shape gpt2-medium",
      { 354823168, 709646336, 98304, 1024, 1, 100663296, 810309632, NONE, NONE } },
    { "--shape gpt2-large",
      { 774030080, 1548060160, 184320, 1024, 1, 188743680, 1736803840, NONE, NONE } },
    { "--shape gpt2-xl",
      { 1557611200, 3115222400, 307200, 1024, 1, 314572800, 3429795200, NONE, NONE } },
    { "--shape gpt3",
      { 174604259328, 349208518656, 4718592, 2048, 1, 9663676416, 358872195072, NONE, NONE } },
    { "--shape llama-7b",
      { 6738415616, 13476831232, 524288, 2048, 1, 1073741824, 14550573056, NONE, NONE } },
    { "--shape llama-13b",
      { 13015864320, 26031728640, 819200, 2048, 1, 1677721600, 27709450240, NONE, NONE } },
    { "--shape llama2-70b",
      { 68976648192, 137953296384, 327680, 4096, 1, 1342177280, 139295473664, NONE, NONE } },
    { "--shape llama3-8b",
      { 8030261248, 16060522496, 131072, 8192, 1, 1073741824, 17134264320, NONE, NONE } },
    { "--shape llama3-70b",
      { 70553706496, 141107412992, 327680, 8192, 1, 2684354560, 143791767552, NONE, NONE } },
    { "--shape mistral-7b",
      { 7241732096, 14483464192, 131072, 32768, 1, 536870912, 15020335104, NONE, NONE } },
    { "--shape qwen2-7b",
      { 7615616512, 15231233024, 57344, 131072, 1, 7516192768, 22747425792, NONE, NONE } },
    /* other contexts, other heads */
    { "--shape gpt2 --context 8192",
      { 124439808, 248879616, 36864, 8192, 1, 301989888, 550869504, NONE, NONE } },
    { "--shape llama-7b --context 128000",
      { 6738415616, 13476831232, 524288, 128000, 1, 67108864000, 80585695232, NONE, NONE } },
    { "--shape llama-7b --context 131072",
      { 6738415616, 13476831232, 524288, 131072, 1, 68719476736, 82196307968, NONE, NONE } },
    { "--shape llama-7b --context 131072 --kv-heads 8",
      { 5933109248, 11866218496, 131072, 131072, 1, 17179869184, 29046087680, NONE, NONE } },
    { "--shape llama2-70b --kv-heads 64",
      { 78371889152, 156743778304, 2621440, 4096, 1, 10737418240, 167481196544, NONE, NONE } },
    { "--shape gpt2 --d-model 512 --d-inner 1000 --vocab-size 300 --layers 3 --heads 8 --kv-heads "
      "8",
      { 6913464, 13826928, 6144, 1024, 1, 6291456, 20118384, NONE, NONE } },
    { "--shape gpt2 --head-dim 80",
      { 131524608, 263049216, 46080, 1024, 1, 47185920, 310235136, NONE, NONE } },
    /* a few numbers, from which nobody knows how many weights there are, and so not what fits */
    { "--layers 120 --heads 128 --head-dim 128 --context 131072",
      { NONE, NONE, 7864320, 131072, 1, 1030792151040, NONE, NONE, NONE } },
    { "--layers 120 --heads 128 --head-dim 128 --context 131072 --kv-heads 8",
      { NONE, NONE, 491520, 131072, 1, 64424509440, NONE, NONE, NONE } },
    { "--layers 26 --heads 8 --kv-heads 4 --head-dim 256",
      { NONE, NONE, 106496, NONE, 1, NONE, NONE, NONE, NONE } },
    { "--layers 26 --heads 8 --kv-heads 4 --head-dim 256 --budget 1TB --batch 7",
      { NONE, NONE, 106496, NONE, 7, NONE, NONE, NONE, NONE } },
    { "--layers 1 --heads 1 --head-dim 1 --context 10 --batch 2 --budget 1TB --window 4",
      { NONE, NONE, 4, 10, 2, 2 * 4 * 4, NONE, NONE, NONE } },
    /* a windowed layer has min(context, W) rows, and its sinks */
    { "--shape mistral-7b --context 1000",
      { 7241732096, 14483464192, 131072, 1000, 1, 131072000, 14614536192, NONE, NONE } },
    { "--shape mistral-7b --context 4095",
      { 7241732096, 14483464192, 131072, 4095, 1, 536739840, 15020204032, NONE, NONE } },
    { "--shape mistral-7b --context 4097",
      { 7241732096, 14483464192, 131072, 4097, 1, 536870912, 15020335104, NONE, NONE } },
    { "--shape mistral-7b --window 0",
      { 7241732096, 14483464192, 131072, 32768, 1, 4294967296, 18778431488, NONE, NONE } },
    { "--shape mistral-7b --window 100 --sinks 4",
      { 7241732096, 14483464192, 131072, 32768, 1, 104 * 131072, 14497095680, NONE, NONE } },
    { "--shape mistral-7b --window 100 --sinks 4 --context 103",
      { 7241732096, 14483464192, 131072, 103, 1, 103 * 131072, 14496964608, NONE, NONE } },
    { "--shape qwen2-7b --window 4096",
      { 7615616512, 15231233024, 57344, 131072, 1, 234881024, 15466114048, NONE, NONE } },
    /* rows in other numbers: 32 of them in 128, 64, 34 and 18 bytes */
    { "--shape llama-7b --kv-type f32",
      { 6738415616, 13476831232, 32 * 2 * 32 * 4 * 128, 2048, 1, 2147483648, 15624314880, NONE,
        NONE } },
    { "--shape llama-7b --kv-type f16",
      { 6738415616, 13476831232, 32 * 2 * 32 * 4 * 64, 2048, 1, 1073741824, 14550573056, NONE,
        NONE } },
    { "--shape llama-7b --kv-type bf16",
      { 6738415616, 13476831232, 32 * 2 * 32 * 4 * 64, 2048, 1, 1073741824, 14550573056, NONE,
        NONE } },
    { "--shape llama-7b --kv-type q8_0",
      { 6738415616, 13476831232, 32 * 2 * 32 * 4 * 34, 2048, 1, 570425344, 14047256576, NONE,
        NONE } },
    { "--shape llama-7b --kv-type q4_0",
      { 6738415616, 13476831232, 32 * 2 * 32 * 4 * 18, 2048, 1, 301989888, 13778821120, NONE,
        NONE } },
    { "--layers 2 --heads 3 --head-dim 80 --kv-type f32 --context 1",
      { NONE, NONE, 2 * 2 * 3 * 80 * 4, 1, 1, 3840, NONE, NONE, NONE } },
    /* so many texts */
    { "--shape llama-7b --batch 3",
      { 6738415616, 13476831232, 524288, 2048, 3, 3221225472, 16698056704, NONE, NONE } },
    { "--shape mistral-7b --batch 3",
      { 7241732096, 14483464192, 131072, 32768, 3, 1610612736, 16094076928, NONE, NONE } },
    /* what fits: the rest divided by what a token or a text takes, rounded down */
    { "--shape llama-7b --context 4096 --budget 80GB",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880,
        (80000000000 - 13476831232) / 524288,
        (80000000000 - 13476831232) / (4096 * (int64_t) 524288) } },
    { "--shape llama-7b --context 4096 --budget 80GiB",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880,
        (80 * (INT64_C(1) << 30) - 13476831232) / 524288,
        (80 * (INT64_C(1) << 30) - 13476831232) / (4096 * (int64_t) 524288) } },
    { "--shape llama-7b --context 4096 --budget 80GB --batch 3",
      { 6738415616, 13476831232, 524288, 4096, 3, 6442450944, 19919282176,
        (80000000000 - 13476831232) / (3 * 524288),
        (80000000000 - 13476831232) / (4096 * (int64_t) 524288) } },
    { "--shape llama-7b --context 4096 --budget 80GB --kv-type q4_0",
      { 6738415616, 13476831232, 147456, 4096, 1, 603979776, 14080811008,
        (80000000000 - 13476831232) / 147456,
        (80000000000 - 13476831232) / (4096 * (int64_t) 147456) } },
    { "--shape llama-7b --context 4096 --budget 15624314880",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880, 4096, 1 } },
    { "--shape llama-7b --context 4096 --budget 15624314879B",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880, 4095, 0 } },
    { "--shape llama-7b --context 4096 --budget 13477355520",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880, 1, 0 } },
    { "--shape llama-7b --context 4096 --budget 13476831232",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880, 0, 0 } },
    { "--shape llama-7b --context 4096 --budget 13476831231",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880, 0, 0 } },
    { "--shape llama-7b --context 4096 --budget 0",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880, 0, 0 } },
    /* the same where no layer has more rows than its window: any context fits, or one below the
       window */
    { "--shape mistral-7b --budget 80GB",
      { 7241732096, 14483464192, 131072, 32768, 1, 536870912, 15020335104, NONE,
        (80000000000 - 14483464192) / 536870912 } },
    { "--shape mistral-7b --budget 15020335104",
      { 7241732096, 14483464192, 131072, 32768, 1, 536870912, 15020335104, NONE, 1 } },
    { "--shape mistral-7b --budget 15020335103",
      { 7241732096, 14483464192, 131072, 32768, 1, 536870912, 15020335104, 4095, 0 } },
    { "--shape mistral-7b --budget 15020335103 --context 10",
      { 7241732096, 14483464192, 131072, 10, 1, 1310720, 14484774912, 4095, 409 } },
    { "--shape mistral-7b --budget 16094076928 --batch 3",
      { 7241732096, 14483464192, 131072, 32768, 3, 1610612736, 16094076928, NONE, 3 } },
    { "--shape mistral-7b --budget 16094076927 --batch 3",
      { 7241732096, 14483464192, 131072, 32768, 3, 1610612736, 16094076928, 4095, 2 } },
    { "--shape mistral-7b --budget 14497095680 --window 100 --sinks 4",
      { 7241732096, 14483464192, 131072, 32768, 1, 13631488, 14497095680, NONE, 1 } },
    { "--shape mistral-7b --budget 14497095679 --window 100 --sinks 4",
      { 7241732096, 14483464192, 131072, 32768, 1, 13631488, 14497095680, 103, 0 } },
    { "--shape mistral-7b --budget 80GB --window 0",
      { 7241732096, 14483464192, 131072, 32768, 1, 4294967296, 18778431488,
        (80000000000 - 14483464192) / 131072, 15 } }
  };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    char line[300];
    int64_t field[9];
    snprintf(line, sizeof line, "memory %s --json", at[i].words);
    account_of(line, field);
    for (int k = 0; k < 9; k++)
      ck_assert_msg(field[k] == at[i].wanted[k], "%s: number %d is %ld; wanted: %ld", line, k + 1,
        (long) field[k], (long) at[i].wanted[k]);
  }
}
END_TEST

/* the bytes of the tensors of numbers in all files of a model, read here from their headers, and
 * how many numbers; bytes of what is no number */
static void sum_headers(const char *dir, int64_t *numbers, int64_t *bytes, int64_t *others)
{
  char pattern[4096];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/*.safetensors", dir);
  ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
  *numbers = *bytes = *others = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    unsigned char length[8];
    FILE *f = fopen(found.gl_pathv[i], "rb");
    ck_assert(f != NULL && fread(length, 1, 8, f) == 8);
    size_t n = length[0] | (size_t) length[1] << 8 | (size_t) length[2] << 16;
    char *text = malloc(n);
    ck_assert_uint_eq(fread(text, 1, n, f), n);
    json_t *header = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL), *t;
    const char *name;
    ck_assert_msg(header != NULL, "%s", found.gl_pathv[i]);
    json_object_foreach(header, name, t)
    {
      if (strcmp(name, "__metadata__") == 0) continue;
      json_t *range = json_object_get(t, "data_offsets");
      const char *type = json_string_value(json_object_get(t, "dtype"));
      int64_t size =
        json_integer_value(json_array_get(range, 1)) - json_integer_value(json_array_get(range, 0));
      if (strcmp(type, "BOOL") == 0) {
        ck_assert_msg(strstr(name, ".attn.bias") != NULL, "%s", name);
        *others += size;
        continue;
      }
      ck_assert_msg(
        strcmp(type, "F32") == 0 || strcmp(type, "F16") == 0 || strcmp(type, "BF16") == 0, "%s",
        type);
      *numbers += size / (strcmp(type, "F32") == 0 ? 4 : 2), *bytes += size;
    }
    json_decref(header), free(text), fclose(f);
  }
  globfree(&found);
}
static int64_t total_at(const char *line, uint64_t context, uint64_t batch)
{
  char longer[5000];
  int64_t field[9];
  snprintf(longer, sizeof longer, "%s --context %lu --batch %lu", line, (unsigned long) context,
    (unsigned long) batch);
  account_of(longer, field);
  return field[6];
}
/* what is said of a model on disk is in its files, and is what the allocator gives to a cache of
   such settings, to the byte; the largest context that fits does, and one token more does not; so
   with the largest batch */
START_TEST(memory_of_a_model_is_what_the_files_and_the_allocator_say)
{
  uint64_t seed = suite_seed();
  glob_t found;
  unsigned models = 0, masks = 0, windows = 0, unbounded = 0, blocks = 0;
  ck_assert(glob("tests/golden/*/config.json", 0, NULL, &found) == 0
    && glob("models/*/config.json", GLOB_APPEND, NULL, &found) == 0);
  for (size_t i = 0; i < found.gl_pathc; i++, models++) {
    char dir[2048], line[4400];
    int64_t numbers, bytes, others, field[9];
    struct error why;
    snprintf(dir, sizeof dir, "%.*s", (int) (strlen(found.gl_pathv[i]) - strlen("/config.json")),
      found.gl_pathv[i]);
    sum_headers(dir, &numbers, &bytes, &others);
    masks += others > 0; /* old files of GPT-2 have masks, which are no weights: neither inspect
                            counts them nor memory */
    snprintf(line, sizeof line, "inspect %s --json", dir);
    struct run r = run(line);
    json_t *o = object_of(&r);
    ck_assert_int_eq(json_integer_value(json_object_get(o, "parameters")), numbers);
    json_decref(o), done(&r);
    struct memory shelf = { .fail_at = 0 };
    struct model *lm = model_open(&shelf, dir, &why);
    ck_assert_msg(lm != NULL, "%s", why.text);
    for (int round = 0; round < 12; round++) {
      struct model_config c = lm->config;
      uint64_t context = 1 + rnd(&seed) % c.n_positions, batch = 1 + rnd(&seed) % 5, sinks = 0;
      if (round == 0) context = c.n_positions;
      const struct kv_format *format = format_at(rnd(&seed) % (c.head_dim % 32 == 0 ? 5 : 3));
      int n = snprintf(line, sizeof line, "memory -m %s --json --kv-type %s", dir, format->name);
      if (rnd(&seed) % 3 == 0) {
        uint64_t window = rnd(&seed) % 8 == 0 ? 0 : 1 + rnd(&seed) % c.n_positions;
        if (window > 0 && !c.learned_positions) sinks = rnd(&seed) % 4;
        n += snprintf(line + n, sizeof line - (size_t) n, " --window %lu --sinks %lu",
          (unsigned long) window, (unsigned long) sinks);
        ck_assert_msg(
          config_set_window(&c, (uint32_t) window, (uint32_t) sinks, &why), "%s", why.text);
      }
      uint64_t row = 2 * (uint64_t) c.n_kv_heads
        * (format->type >= WEIGHT_Q8_0
            ? c.head_dim / 32 * (strcmp(format->name, "q8_0") == 0 ? 34 : 18)
            : c.head_dim * (strcmp(format->name, "f32") == 0 ? 4 : 2)),
               rows = 0;
      blocks += format->type >= WEIGHT_Q8_0;
      for (uint32_t l = 0; l < c.n_layers; l++) {
        uint64_t seen = config_window(&c, l) == 0 ? UINT64_MAX : config_window(&c, l) + sinks;
        rows += seen < context ? seen : context;
        windows += seen < context;
      }
      struct memory book = { .fail_at = 0 };
      struct cache_options options = {
        .rows = context * batch, .page_rows = 1, .pass = 1, .format = format, .preallocate = true
      };
      struct store *s = cache_open(&book, &c, (uint32_t) batch, &options, &why);
      ck_assert_msg(s != NULL, "%s", why.text);
      uint64_t given = book.of[MEMORY_CACHE].live;
      store_close(s);
      char whole[5000];
      snprintf(whole, sizeof whole, "%s --context %lu --batch %lu", line, (unsigned long) context,
        (unsigned long) batch);
      account_of(whole, field);
      const int64_t wanted[] = { numbers, bytes, (int64_t) (c.n_layers * row), (int64_t) context,
        (int64_t) batch, (int64_t) (batch * rows * row), bytes + (int64_t) given, NONE, NONE };
      for (int k = 0; k < 9; k++)
        ck_assert_msg(field[k] == wanted[k], "%s: number %d is %ld; wanted: %ld", whole, k + 1,
          (long) field[k], (long) wanted[k]);
      ck_assert_msg(given == batch * rows * row, "%s: the allocator gives %lu; wanted: %lu", whole,
        (unsigned long) given, (unsigned long) (batch * rows * row));
      /* a budget that may be too small, or enough for several */
      int64_t budget = bytes - 2 + (int64_t) (rnd(&seed) % (3 * given + 2));
      n += snprintf(line + n, sizeof line - (size_t) n, " --budget %ld", (long) budget);
      snprintf(whole, sizeof whole, "%s --context %lu --batch %lu", line, (unsigned long) context,
        (unsigned long) batch);
      account_of(whole, field);
      int64_t max = field[7], texts = field[8];
      unbounded += max == NONE;
      if (max == NONE)
        ck_assert_int_le(total_at(line, 1000000000000, batch), budget);
      else
        ck_assert_int_gt(total_at(line, (uint64_t) max + 1, batch), budget);
      if (max > 0) ck_assert_int_le(total_at(line, (uint64_t) max, batch), budget);
      ck_assert_int_ge(texts, 0);
      ck_assert_int_gt(total_at(line, context, (uint64_t) texts + 1), budget);
      if (texts > 0) ck_assert_int_le(total_at(line, context, (uint64_t) texts), budget);
    }
    model_close(&shelf, lm);
  }
  globfree(&found);
  ck_assert_msg(models >= 14 && masks == 1 && windows > 50 && unbounded > 5 && blocks > 0,
    "%u %u %u %u %u", models, masks, windows, unbounded, blocks);
}
END_TEST

/* for people: the same numbers in words, in both kinds of thousands, and a bar */
START_TEST(memory_in_words)
{
  static const struct {
    const char *line, *text;
  } at[] = { { "memory --shape llama-7b --context 4096 --budget 24GB",
               "llama-7b: 32 layers, 32 heads, 32 of keys and values, 128 numbers each\n"
               "weights                             6738415616\n"
               "in two bytes each                  13476831232    13.477 GB    12.551 GiB\n"
               "cache, a token in f16                   524288   524.288 kB   512.000 KiB\n"
               "4096 tokens, 1 text                 2147483648     2.147 GB     2.000 GiB\n"
               "together                           15624314880    15.624 GB    14.551 GiB\n"
               "budget                             24000000000    24.000 GB    22.352 GiB\n"
               "1 text: at most 20071 tokens each\n"
               "4096 tokens: at most 4 texts\n"
               "[##################################=====.....................]\n"
               "# weights  = cache  . free\n" },
    { "memory --shape mistral-7b --batch 2 --budget 15GiB --kv-type q8_0",
      "mistral-7b: 32 layers, 32 heads, 8 of keys and values, 128 numbers each\n"
      "weights                             7241732096\n"
      "in two bytes each                  14483464192    14.483 GB    13.489 GiB\n"
      "cache, a token in q8_0                   69632    69.632 kB    68.000 KiB\n"
      "32768 tokens, 2 texts                570425344   570.425 MB   544.000 MiB\n"
      "together                           15053889536    15.054 GB    14.020 GiB\n"
      "budget                             16106127360    16.106 GB    15.000 GiB\n"
      "2 texts: at most any number of tokens each\n"
      "32768 tokens: at most 5 texts\n"
      "[######################################################==....]\n"
      "# weights  = cache  . free\n" },
    { "memory --shape gpt2 --budget 250MB",
      "gpt2: 12 layers, 12 heads, 12 of keys and values, 64 numbers each\n"
      "weights                              124439808\n"
      "in two bytes each                    248879616   248.880 MB   237.350 MiB\n"
      "cache, a token in f16                    36864    36.864 kB    36.000 KiB\n"
      "1024 tokens, 1 text                   37748736    37.749 MB    36.000 MiB\n"
      "together                             286628352   286.628 MB   273.350 MiB\n"
      "budget                               250000000   250.000 MB   238.419 MiB\n"
      "too much by                           36628352    36.628 MB    34.932 MiB\n"
      "1 text: at most 30 tokens each\n"
      "1024 tokens: at most 0 texts\n"
      "[####################################################========]\n"
      "# weights  = cache  . free\n" },
    { "memory -m tests/golden/mistral --context 9",
      "tests/golden/mistral: 2 layers, 2 heads, 1 of keys and values, 6 numbers each\n"
      "weights                                   2820\n"
      "as stored                                11280    11.280 kB    11.016 KiB\n"
      "cache, a token in f32                       96\n"
      "9 tokens, 1 text                           288\n"
      "together                                 11568    11.568 kB    11.297 KiB\n"
      "[###########################################################=]\n"
      "# weights  = cache\n" },
    { "memory --layers 26 --heads 8 --kv-heads 4 --head-dim 256",
      "a model of these numbers: 26 layers, 8 heads, 4 of keys and values, 256 numbers each\n"
      "weights                              not known\n"
      "cache, a token in f16                   106496   106.496 kB   104.000 KiB\n" },
    { "memory --layers 26 --heads 8 --head-dim 256 --context 1000000000 --batch 100",
      "a model of these numbers: 26 layers, 8 heads, 8 of keys and values, 256 numbers each\n"
      "weights                              not known\n"
      "cache, a token in f16                   212992   212.992 kB   208.000 KiB\n"
      "1000000000 tokens, 100 texts   21299200000000000    21.299 PB    18.917 PiB\n" } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    struct run r = run(at[i].line);
    ck_assert_msg(r.status == 0 && r.n_err == 0, "%s: %s", at[i].line, r.err);
    ck_assert_str_eq(r.out, at[i].text);
    done(&r);
  }
  /* the bar has sixty places, and each part that is there has one of them */
  static const struct {
    const char *words;
    const char *parts;
  } bar[] = { { "--shape gpt2 --context 1", "#=" }, { "--shape gpt2 --batch 1000000", "#=" },
    { "--shape gpt2 --budget 1TB", "#=." }, { "--shape gpt2 --context 1 --budget 1TB", "#=." },
    { "--shape gpt2 --batch 1000000 --budget 1B", "#=" }, { "--shape gpt3", "#=" },
    { "--shape llama-7b --context 131072 --budget 100GB", "#=." }, { "", "#=" } };
  for (size_t i = 0; i < sizeof bar / sizeof *bar; i++) {
    char line[200];
    snprintf(line, sizeof line, "memory %s", bar[i].words);
    struct run r = run(line);
    char *b = strchr(r.out, '[');
    ck_assert_msg(r.status == 0 && b != NULL && strspn(b + 1, "#=.") == 60 && b[61] == ']',
      "%s: %s%s", line, r.out, r.err);
    size_t n = 1;
    for (const char *part = bar[i].parts; *part; part++) {
      size_t k = 0;
      while (b[n] == *part) k++, n++;
      ck_assert_msg(k > 0, "%s: no %c in %s", line, *part, b);
    }
    ck_assert_msg(n == 61, "%s: %s", line, b);
    done(&r);
  }
  /* budgets in every unit */
  static const struct {
    const char *text;
    uint64_t bytes;
  } size[] = { { "1000", 1000 }, { "7B", 7 }, { "1.5kB", 1500 }, { "2KiB", 2048 },
    { "24MB", 24000000 }, { "1MiB", 1048576 }, { "24GB", 24000000000 }, { "24gb", 24000000000 },
    { "22.5GiB", 24159191040 }, { "22.5gib", 24159191040 }, { "2TB", 2000000000000 },
    { "0.5TiB", 549755813888 }, { "1e3MB", 1000000000 }, { "0", 0 }, { "1.9999B", 1 } };
  for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
    char line[100], *b;
    snprintf(line, sizeof line, "memory --budget %s", size[i].text);
    struct run r = run(line);
    ck_assert_msg(r.status == 0 && (b = strstr(r.out, "\nbudget ")) != NULL
        && strtoull(b + 8, NULL, 10) == size[i].bytes,
      "%s: %s%s", line, r.out, r.err);
    done(&r);
  }
}
END_TEST

/* the list of shapes: each of the twelve once, with the numbers that are reckoned with, and a
 * source */
START_TEST(twelve_shapes_are_listed_once_each)
{
  static const char *const name[] = { "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "gpt3",
    "llama-7b", "llama-13b", "llama2-70b", "llama3-8b", "llama3-70b", "mistral-7b", "qwen2-7b" };
  bool seen[12] = { false };
  struct run r = run("memory --shape list");
  ck_assert_msg(r.status == 0 && r.n_err == 0 && lines_of(&r) == 13, "%s%s", r.out, r.err);
  char *at = strchr(r.out, '\n') + 1;
  ck_assert_msg(strncmp(r.out, "shape ", 6) == 0, "%s", r.out);
  for (int i = 0; i < 12; i++, at = strchr(at, '\n') + 1) {
    char word[32], source[80], line[200];
    unsigned layers, heads, kv_heads, head_dim, d_model, d_inner, vocab, context, window;
    int64_t a[9], b[9];
    size_t k = 0;
    int fields = sscanf(at, "%31s %u %u %u %u %u %u %u %u %u %79[^\n]", word, &layers, &heads,
      &kv_heads, &head_dim, &d_model, &d_inner, &vocab, &context, &window, source);
    ck_assert_msg(
      fields == 11 && strlen(source) > 10 && strpbrk(source, "0123456789") != NULL, "%s", at);
    while (k < 12 && strcmp(name[k], word) != 0) k++;
    ck_assert_msg(k < 12 && !seen[k], "%s", word);
    seen[k] = true;
    snprintf(line, sizeof line, "memory --shape %s --json", word);
    account_of(line, a);
    ck_assert_int_eq(a[3], context);
    ck_assert_int_eq(a[2], 2 * (int64_t) layers * kv_heads * head_dim * 2);
    ck_assert_int_eq(a[5], a[2] * (window > 0 && window < context ? window : context));
    snprintf(line, sizeof line,
      "memory --shape %s --json --layers %u --heads %u --kv-heads %u --head-dim %u --d-model %u "
      "--d-inner %u --vocab-size %u --context %u --window %u",
      word, layers, heads, kv_heads, head_dim, d_model, d_inner, vocab, context, window);
    account_of(line, b);
    for (int j = 0; j < 9; j++)
      ck_assert_msg(
        a[j] == b[j], "%s: number %d is %ld; wanted: %ld", line, j + 1, (long) b[j], (long) a[j]);
  }
  ck_assert_str_eq(at, "");
  done(&r);
}
END_TEST

START_TEST(lengths_and_contexts)
{
  static const struct {
    const char *line;
    int new_ids;
    const char *why;
  } at[] = { { "generate The --json -n 0", 0, "length" },
    { "generate The --json -n 3", 3, "length" },
    { "generate The --json --max-tokens 3", 3, "length" },
    { "generate The --json -c 4", 4, "length" }, { "generate The --json -c 4 -n 9", 4, "length" },
    { "generate The --json -c 1", 1, "length" }, { "generate '!' --json", 1, "stop" },
    { "generate '!' --json -n 1", 1, "stop" },
    { "generate '!' --json -n 3 --ignore-eos", 3, "length" },
    { "generate The --json --ignore-eos", 64, "length" },
    { "generate --prompt-ids 262;270,\\ 263 --json -n 2", 2, "length" },
    { "generate '' --json -n 2", 2, "length" },
    { "generate --prompt-ids '' --json -n 2", 2, "length" },
    { "generate - --json -n 2 <The", 2, "length" }, { "generate --json -n 2 <The", 2, "length" },
    { "generate -n2 --json -pThe", 2, "length" },
    { "generate --json --max-new-tokens=2 -- The", 2, "length" },
    { "generate The --json -n 9999999999", 19, "stop" } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    char line[200]; /* blanks within a word are written with a backslash above, to be seen */
    snprintf(line, sizeof line, "%s", at[i].line);
    char *slash = strchr(line, '\\');
    if (slash) memmove(slash, slash + 2, strlen(slash + 2) + 1);
    struct run r = run(line);
    json_t *o = object_of(&r), *s = json_array_get(json_object_get(o, "sequences"), 0);
    if (at[i].new_ids != 19)
      ck_assert_msg(
        (int) json_array_size(json_object_get(s, "ids")) == at[i].new_ids, "%s: %s", line, r.out);
    ck_assert_msg(strcmp(json_string_value(json_object_get(s, "finish_reason")), at[i].why) == 0,
      "%s: %s", line, r.out);
    if (at[i].new_ids == 0)
      ck_assert_int_eq(
        number_at(o, "counters", "rows"), 1); /* the prompt is evaluated all the same */
    json_decref(o), done(&r);
  }
}
END_TEST

START_TEST(text_is_taken_byte_for_byte)
{
  static const char *const odd[] = { "\xff\xfe", "\xc3", "a\xe2\x82", "\xf0\x9f\x98",
    "\xed\xa0\x80 x", "The\r\n cat", "  ", "\n" };
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    char *argv[] = { "incipit", "tokenize", (char *) odd[i], "--json", NULL },
         *back[] = { "incipit", "tokenize", "--ids", NULL, NULL }, list[512] = "";
    struct run r = run_words(4, argv, "", 0, 0, 0, "incipit");
    json_t *o = object_of(&r), *ids = json_object_get(o, "ids");
    for (size_t k = 0; k < json_array_size(ids); k++)
      snprintf(list + strlen(list), 16, "%s%d", k ? ";" : "",
        (int) json_integer_value(json_array_get(ids, k)));
    back[3] = list;
    struct run b = run_words(4, back, "", 0, 0, 0, "incipit");
    ck_assert_msg(b.n_out == strlen(odd[i]) && memcmp(b.out, odd[i], b.n_out) == 0,
      "%s comes back as %s", r.out, b.out);
    char *go[] = { "incipit", "generate", (char *) odd[i], "--echo", "-n", "2", NULL },
         *object[] = { "incipit", "generate", (char *) odd[i], "--json", "-n", "2", NULL };
    struct run g = run_words(6, go, "", 0, 0, 0, "incipit"),
               j = run_words(6, object, "", 0, 0, 0, "incipit");
    ck_assert_msg(g.status == 0 && memcmp(g.out, odd[i], strlen(odd[i])) == 0, "%s", g.err);
    json_decref(object_of(
      &j)); /* jansson refuses what is not UTF-8: bytes that are no text have become U+FFFD */
    json_decref(o), done(&r), done(&b), done(&g), done(&j);
  }
  char *argv[] = { "incipit", "tokenize", "-", "--count", NULL };
  struct run r = run_words(4, argv, "a\0b\n", 4, 0, 0, "incipit");
  ck_assert_str_eq(r.out, "4\n");
  done(&r);
}
END_TEST

START_TEST(a_cancelled_run_is_complete)
{
  steps_allowed = 3;
  struct run r = run("generate 'The cat sat' --json --stats");
  ck_assert_int_eq(r.status, 130);
  json_t *o = object_of(&r), *s = json_array_get(json_object_get(o, "sequences"), 0);
  ck_assert_str_eq(json_string_value(json_object_get(s, "finish_reason")), "cancelled");
  ck_assert(json_is_null(json_object_get(s, "stop")));
  ck_assert_uint_eq(json_array_size(json_object_get(s, "ids")), 3);
  ck_assert_str_eq(json_string_value(json_object_get(s, "text")), " on the mat");
  ck_assert(strstr(r.err, "kv_rows_recomputed") != NULL);
  json_decref(o), done(&r);
  steps_allowed = 9; /* in the middle of a character: the bytes go out raw, into JSON as U+FFFD */
  r = run("generate 'The cat sat' -n 20");
  ck_assert_int_eq(r.status, 130);
  ck_assert_str_eq(r.out, " on the mat. é\xe2\x82");
  done(&r);
  steps_allowed = 9;
  r = run("generate 'The cat sat' --json");
  o = object_of(&r), s = json_array_get(json_object_get(o, "sequences"), 0);
  ck_assert_str_eq(json_string_value(json_object_get(s, "text")), " on the mat. é\xef\xbf\xbd");
  json_decref(o), done(&r);
  steps_allowed = 2;
  r = run("trace The --json -n 9");
  ck_assert_int_eq(r.status, 130);
  o = object_of(&r);
  ck_assert_uint_eq(json_array_size(json_object_get(o, "steps")), 2);
  json_decref(o), done(&r);
  steps_allowed = 0;
}
END_TEST

/* every request for memory, of every subcommand, refused once: status 1, a sentence, nothing held,
   nothing half on the standard output but what a stream had let go before */
START_TEST(every_refusal_of_memory_is_survived)
{
  static const char *const line[] = { "generate 'The cat' -n 3 --logprobs 2 --jsonl",
    "generate --prompt-ids 262,270 -n 3 --echo", "generate --prompt-ids 262,270 --json -n 3 -t 3",
    "generate --prompt-ids 262,270 --json -n 3 --kv-type f16 --window 2 --sinks 1",
    "tokenize 'The cat'", "tokenize --ids 262,270", "trace The -n 2 --attention 0.0",
    "memory --batch 2 --window 5 --sinks 1 --kv-type bf16",
    "memory --json -m tests/golden/qwen3-layers", "inspect",
    "inspect tests/golden/small/model.safetensors",
    "tokenize --train tests/golden/small.txt --vocab-size 262 --out @/learnt",
    "probe tokenize <{\"text\":\"The\"}", "probe detokenize <{\"ids\":[262]}",
    "probe stream <{\"ids\":[262,196]}", "probe train-bpe <{\"text\":\"aabaab\",\"merges\":3}",
    "probe forward <{\"ids\":[262,3],\"rows\":\"all\",\"mates\":[[1,2],[3]],\"chunk\":1}",
    "probe logprob <{\"ids\":[262,3]}", "probe generate <{\"ids\":[262],\"max_tokens\":2}",
    "generate The -n 3 --temp 1 --num-sequences 3 --logit-bias 1=2,2=3 --logit-bias 5=-inf --jsonl",
    "generate --prompt-ids 262 -n 2 --temp 1 --num-sequences 5 --logit-bias "
    "1=2,2=3,4=5,6=7,8=9,10=1,11=1,12=1,13=1,14=1",
    "trace The -n 2 --temp 1 --logit-bias 1=2 --json --top-k 5",
    "probe generate "
    "<{\"ids\":[262],\"max_tokens\":2,\"params\":{\"temperature\":1,\"logit_bias\":{\"1\":2},\"bad_"
    "words\":[[1,2],[3]],\"suppress_tokens\":[4]},\"seed\":3}",
    "probe sample "
    "<{\"logits\":[1,2,3],\"ids\":[1,2],\"params\":{\"logit_bias\":{\"1\":2},\"bad_words\":[[1,2],["
    "0]],\"suppress_tokens\":[2]}}",
    "probe process "
    "<{\"op\":\"sequence_bias\",\"params\":{\"bias\":[[[1,2],3]]},\"ids\":[1],\"logits\":[1,2,3]}",
    "probe process "
    "<{\"op\":\"min_length\",\"params\":{\"eos\":[1],\"min_length\":2},\"ids\":[1],\"logits\":[1,2,"
    "3]}",
    "probe philox <{\"key\":[1,2],\"counter\":[3,4,5,6]}",
    "probe inspect <{\"file\":\"tests/golden/small/model.safetensors\"}",
    "probe quantize <{\"type\":\"bf16\",\"x\":[1,2]}",
    "probe quantize <{\"type\":\"f16\",\"hex\":\"003c\"}" };
  uint64_t tried = 0;
  for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
    struct run good = run(line[i]);
    ck_assert_msg(good.status == 0 && good.m.all.requests > 0, "%s: %s", line[i], good.err);
    uint64_t n = good.m.all.requests;
    timings_out(good.out);
    for (uint64_t k = 1; k <= n; k++) {
      struct run r = run_as(line[i], 0, k);
      timings_out(r.out);
      bool probe = strncmp(line[i], "probe", 5) == 0;
      bool answered = probe && r.status == 0 && strncmp(r.out, "{\"error\":\"", 10) == 0
        && strchr(r.out, '\n') == r.out + r.n_out - 1;
      bool refused = r.status == 1 && strncmp(r.err, "incipit: ", 9) == 0
        && strchr(r.err, '\n') == r.err + r.n_err - 1;
      ck_assert_msg(answered || refused || (r.status == 0 && strcmp(r.out, good.out) == 0),
        "%s, request %lu: status %d, %s%s", line[i], (unsigned long) k, r.status, r.out, r.err);
      tried++;
      done(&r);
    }
    done(&good);
  }
  ck_assert_uint_gt(tried, 400);
}
END_TEST

/* jansson stands outside the accounts; its requests are refused one at a time, too, and all that it
 * got must have come back */
static uint64_t jansson_asked, jansson_refused, jansson_out;
static void *jansson_take(size_t n)
{
  bool growth = n >= 32 && (n & (n - 1)) == 0; /* of the text it has read: jansson 2.14 does not
                                                  look whether that worked, and asserts later */
  if (!growth && ++jansson_asked == jansson_refused) return NULL;
  jansson_out++;
  return malloc(n);
}
static void jansson_give(void *p)
{
  if (p != NULL) jansson_out--;
  free(p);
}
START_TEST(every_refusal_of_the_reader_of_json_is_survived)
{
  static const struct {
    const char *line;
    uint64_t stride;
  } at[] = { { "probe train-bpe <{\"text\":\"aab\",\"merges\":2,\"pattern\":\"[a-z]+\"}", 1 },
    { "probe inspect <{\"file\":\"tests/golden/small/model.safetensors\"}", 1 },
    { "generate -n 1 -m tests/golden/llama --prompt-ids 1", 1 },
    { "probe process "
      "<{\"op\":\"repetition_penalty\",\"params\":{\"penalty\":2,\"penalty_last_n\":2},\"ids\":[0,"
      "1,2],\"logits\":[1,2,3]}",
      1 },
    { "probe process "
      "<{\"op\":\"no_repeat_ngram\",\"params\":{\"n\":2},\"ids\":[0,1,0],\"logits\":[1,2,3]}",
      1 },
    { "probe process "
      "<{\"op\":\"bad_words\",\"params\":{\"bad\":[[1],[0,2],[2]],\"eos\":[1]},\"ids\":[0],"
      "\"logits\":[1,2,3]}",
      1 },
    { "probe process "
      "<{\"op\":\"min_length\",\"params\":{\"eos\":[1],\"min_length\":2},\"ids\":[0],\"logits\":[1,"
      "2,3]}",
      1 },
    { "probe process "
      "<{\"op\":\"frequency_presence\",\"params\":{\"frequency\":2,\"presence\":1},\"ids\":[0,1,0],"
      "\"logits\":[1,2,3]}",
      1 },
    { "probe process "
      "<{\"op\":\"sequence_bias\",\"params\":{\"bias\":[[[1],2],[[0,2],\"-inf\"]]},\"ids\":[0],"
      "\"logits\":[1,2,3]}",
      1 },
    { "probe sample "
      "<{\"logits\":[1,2,3],\"ids\":[1,2],\"params\":{\"logit_bias\":{\"1\":2},\"bad_words\":[[1,2]"
      ",[0]],\"suppress_tokens\":[2],\"samplers\":[\"bias\"]},\"seed\":4}",
      1 },
    { "probe philox <{\"key\":[1,2],\"counter\":[3,4,5,6]}", 1 },
    { "probe quantize <{\"type\":\"f16\",\"x\":[1,-2.5]}", 1 },
    { "probe quantize <{\"type\":\"bf16\",\"hex\":\"803f\"}", 1 },
    { "probe generate -m tests/golden/llama "
      "<{\"ids\":[1],\"max_tokens\":2,\"params\":{\"temperature\":0},\"eos\":[]}",
      3 },
    { "inspect --json", 41 }, { "memory --json -m tests/golden/llama", 5 },
    { "generate The -n 1 -m @/chat", 43 } };
  json_set_alloc_funcs(jansson_take, jansson_give);
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    const char *line = at[i].line;
    jansson_asked = jansson_out = jansson_refused = 0;
    struct run good = run(line);
    uint64_t n = jansson_asked;
    ck_assert_msg(good.status == 0 && jansson_out == 0 && n > 0, "%s: %s%lu blocks are still out",
      line, good.err, (unsigned long) jansson_out);
    for (uint64_t k = 1; k <= n; k += at[i].stride) {
      jansson_asked = 0, jansson_refused = k;
      struct run r = run(line);
      bool same = r.status == 0 && strcmp(r.out, good.out) == 0,
           refused = r.status == 1 && strncmp(r.err, "incipit: ", 9) == 0;
      bool answered =
        r.status == 0 && strncmp(line, "probe", 5) == 0 && strncmp(r.out, "{\"error\":\"", 10) == 0;
      ck_assert_msg(same || refused || answered, "%s, request %lu: status %d, %s%s", line,
        (unsigned long) k, r.status, r.out, r.err);
      ck_assert_msg(jansson_out == 0, "%s, request %lu: %lu blocks are still out", line,
        (unsigned long) k, (unsigned long) jansson_out);
      done(&r);
    }
    done(&good);
  }
  json_set_alloc_funcs(malloc, free);
}
END_TEST

/* ---- help, manual page, completion: the table in four forms */
START_TEST(the_table_is_in_all_its_forms)
{
  struct run man = run("help --man"), words = run("help --completion"), over = run("--help"),
             short_ = run("-h");
  ck_assert_str_eq(over.out, short_.out);
  for (int s = 0; s < SUB_VERSION; s++) {
    const struct subcommand_entry *sub = options_subcommand((enum subcommand) s);
    char line[128];
    snprintf(line, sizeof line, "%s --help", sub->name);
    struct run help = run(line);
    snprintf(line, sizeof line, "help %s", sub->name);
    struct run again = run(line);
    ck_assert_str_eq(help.out, again.out);
    ck_assert(help.status == 0 && strstr(help.out, sub->example) != NULL
      && strstr(over.out, sub->name) != NULL);
    for (char *at = help.out, *end; (end = strchr(at, '\n')) != NULL; at = end + 1)
      ck_assert_msg(end - at <= 80, "%s: a line of %d letters", sub->name, (int) (end - at));
    for (int o = 0; o < N_OPTIONS; o++) {
      char dashes[64], troff[128], *t = troff;
      snprintf(dashes, sizeof dashes, "--%s", options_option((enum option) o)->name);
      for (char *d = dashes; *d; d++) {
        if (*d == '-') *t++ = '\\';
        *t++ = *d;
      }
      *t = '\0';
      bool mine = (options_option((enum option) o)->where >> s & 1) != 0;
      ck_assert_msg(
        !mine || (strstr(help.out, dashes) && strstr(man.out, troff) && strstr(words.out, dashes)),
        "%s %s", sub->name, dashes);
    }
    done(&help), done(&again);
  }
  done(&man), done(&words), done(&over), done(&short_);
}
END_TEST

static int shell(
  const char *script, char *out, size_t size) /* status of sh -c script; what it prints */
{
  FILE *f = popen(script, "r");
  size_t n = f ? fread(out, 1, size - 1, f) : 0;
  out[n] = '\0';
  int status = f ? pclose(f) : -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
START_TEST(examples_work_as_printed)
{
  char script[1024], out[65536];
  for (int s = 0; s < N_SUBCOMMANDS; s++) {
    const struct subcommand_entry *sub = options_subcommand((enum subcommand) s);
    snprintf(script, sizeof script,
      "PATH=$PWD/%s:$PATH; export INCIPIT_MODEL=$PWD/tests/golden/small; %s 2>&1", build_dir(),
      sub->example);
    ck_assert_msg(
      shell(script, out, sizeof out) == 0 && out[0] != '\0', "%s: %s", sub->example, out);
  }
  snprintf(script, sizeof script,
    "command -v bash >/dev/null || exit 77; bash -c 'source <(%s/incipit help --completion); "
    "COMP_WORDS=(incipit generate --max); COMP_CWORD=2; _incipit;"
    " echo ${COMPREPLY[@]}; COMP_WORDS=(incipit tok); COMP_CWORD=1; _incipit; echo "
    "${COMPREPLY[@]}'",
    build_dir());
  int status = shell(script, out, sizeof out);
  if (status == 77)
    tally("the completion in bash", 0, 0, 1, "no bash");
  else {
    ck_assert_msg(strcmp(out, "--max-new-tokens\ntokenize\n") == 0, "%s", out);
    tally("the completion in bash", 1, 0, 0, "");
  }
  snprintf(script, sizeof script,
    "command -v groff >/dev/null || exit 77; %s/incipit help --man | groff -man -Tascii -ww 2>&1 "
    ">/dev/null",
    build_dir());
  status = shell(script, out, sizeof out);
  if (status == 77)
    tally("the manual page in groff", 0, 0, 1, "no groff");
  else {
    ck_assert_msg(out[0] == '\0', "%s", out);
    tally("the manual page in groff", 1, 0, 0, "");
  }
}
END_TEST

/* ---- numbers: nothing shorter reads back, and what is printed does */
static bool some_shorter(
  double x, bool single, const char *text) /* all decimals with one digit less around x, by force */
{
  int digits = 0;
  for (const char *c = text; *c && *c != 'e'; c++)
    if (isdigit((unsigned char) *c)) digits += digits > 0 || *c != '0';
  const char *point = strchr(text, '.');
  for (const char *c = (strchr(text, 'e') ? strchr(text, 'e') : text + strlen(text)) - 1;
       c >= text && (*c == '0' || *c == '.') && digits > 1; c--)
    if (*c == '0' && (point == NULL || c > point || strstr(text, ".0") == point)) digits--;
  if (digits <= 1) return false;
  char near[64];
  snprintf(near, sizeof near, "%.*e", digits - 2, x);
  double unit = pow(10, atoi(strchr(near, 'e') + 1) - (digits - 2)), at = strtod(near, NULL);
  for (int k = -1; k <= 1; k++) {
    char again[64];
    snprintf(again, sizeof again, "%.*e", digits - 2, at + k * unit);
    if (single ? strtof(again, NULL) == (float) x : strtod(again, NULL) == x) return true;
  }
  return false;
}
START_TEST(numbers_are_the_shortest_that_read_back)
{
  uint64_t seed = suite_seed();
  char buffer[MAX_NUMBER_LEN];
  for (int i = 0; i < 30000; i++) {
    uint64_t bits = rnd(&seed);
    uint32_t half = (uint32_t) bits;
    float x;
    double y;
    if (i % 3 == 0)
      half =
        (half & 0xff800000u) | (uint32_t) (i % 5 == 0); /* powers of two, and their neighbours */
    memcpy(&x, &half, sizeof x), memcpy(&y, &bits, sizeof y);
    if (i % 7 == 0)
      x = (float) (int) (half % 2000000) / 64, y = (double) (int) (half % 2000000) / 1000;
    number_float(x, buffer);
    if (isfinite(x)) {
      float back = strtof(buffer, NULL);
      ck_assert_msg(memcmp(&back, &x, sizeof x) == 0, "%s is not %a", buffer, (double) x);
      ck_assert_msg(buffer[strcspn(buffer, ".e")] != '\0', "%s is an integer", buffer);
      ck_assert_msg(!some_shorter(x, true, buffer), "%s could be shorter", buffer);
    }
    number_double(y, buffer);
    if (!isfinite(y)) continue;
    double back = strtod(buffer, NULL);
    ck_assert_msg(memcmp(&back, &y, sizeof y) == 0, "%s is not %a", buffer, y);
    ck_assert_msg(!some_shorter(y, false, buffer), "%s could be shorter", buffer);
    json_t *j = json_loads(buffer, JSON_DECODE_ANY, NULL);
    ck_assert_msg(json_is_real(j), "%s", buffer);
    json_decref(j);
  }
  static const struct {
    double x;
    const char *text;
  } known[] = { { 0, "0.0" }, { -0.0, "-0.0" }, { 1, "1.0" }, { 0.1, "0.1" },
    { INFINITY, "\"inf\"" }, { -INFINITY, "\"-inf\"" }, { NAN, "\"nan\"" }, { 1e23, "1e+23" },
    { 9007199254740993.0, "9007199254740992.0" }, { 5e-324, "5e-324" },
    { 123456789, "123456789.0" } };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    number_double(known[i].x, buffer);
    ck_assert_str_eq(buffer, known[i].text);
  }
  number_float(0x1p-96f, buffer); /* one of the powers of two whose nearest decimal is too far
                 below */
  ck_assert_uint_le(strlen(buffer), strlen("1.2621775e-29"));
}
END_TEST

/* ---- the protocol */
static json_t *answer_at(const char *out, size_t i)
{
  for (; i > 0; i--) out = strchr(out, '\n') + 1;
  size_t n = strcspn(out, "\n");
  json_t *j = json_loadb(out, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
  ck_assert_msg(json_is_object(j), "%.*s", (int) n, out);
  return j;
}
static struct run probe(const char *kind, const char *model, const void *in, size_t n)
{
  char *argv[] = { "incipit", "probe", (char *) kind, "-m", (char *) model, NULL };
  return run_words(5, argv, in, n, 0, 0, "incipit");
}
/* shares of a choice are doubles, and the logarithms of two libraries differ in the last place: as
 * near as that they are made the same */
static void agree_on_shares(json_t *wanted, json_t *got)
{
  json_t *w = json_object_get(wanted, "probs"), *g = json_object_get(got, "probs");
  bool near = w != NULL && json_array_size(w) == json_array_size(g);
  for (size_t i = 0; near && i < json_array_size(w); i++) {
    double x = json_number_value(json_array_get(w, i)), y = json_number_value(json_array_get(g, i));
    near = fabs(x - y) <= 1e-13 * fabs(x) + 1e-300;
  }
  if (near) json_object_set(got, "probs", w);
}
START_TEST(cases_that_travel)
{
  FILE *f = fopen("tests/golden/probe/cases.jsonl", "r");
  char *line = NULL;
  size_t cap = 0, n = 0;
  ck_assert(f != NULL);
  while (getline(&line, &cap, f) > 0) {
    json_t *c = json_loads(line, JSON_ALLOW_NUL, NULL);
    char *in = json_dumps(json_object_get(c, "in"), n % 2 ? JSON_ENSURE_ASCII : 0);
    struct run r = probe(json_string_value(json_object_get(c, "kind")), "tests/golden/small", in,
      strlen(in)); /* no line's end: served all the same */
    json_t *a = answer_at(r.out, 0);
    agree_on_shares(json_object_get(c, "out"), a);
    char *wanted = json_dumps(json_object_get(c, "out"), JSON_SORT_KEYS),
         *got = json_dumps(a, JSON_SORT_KEYS); /* as text: -0.0 is not 0.0 */
    ck_assert_msg(
      json_equal(a, json_object_get(c, "out")) && strcmp(wanted, got) == 0, "%s: %s", line, r.out);
    json_decref(a), json_decref(c), free(in), free(wanted), free(got), done(&r);
    n++;
  }
  free(line), fclose(f);
  tally("tests/golden/probe/cases.jsonl", (unsigned) n, 0, 0, "");
}
END_TEST

START_TEST(hostile_lines_get_one_error_each_and_change_nothing)
{
  FILE *f = fopen("tests/golden/probe/hostile.txt", "rb");
  char *line = NULL;
  size_t cap = 0, cases = 0;
  ck_assert(f != NULL);
  for (ssize_t n; (n = getline(&line, &cap, f)) > 0; cases++) {
    char *tab = memchr(line, '\t', (size_t) n);
    *tab = '\0';
    /* the line between two good ones, which must have the same answers */
    const char *good = strcmp(line, "tokenize") == 0                   ? "{\"text\":\"The\"}\n"
      : strcmp(line, "detokenize") == 0 || strcmp(line, "stream") == 0 ? "{\"ids\":[196,262]}\n"
      : strcmp(line, "train-bpe") == 0 ? "{\"text\":\"aab\",\"merges\":2}\n"
      : strcmp(line, "generate") == 0  ? "{\"ids\":[262],\"max_tokens\":2}\n"
      : strcmp(line, "quantize") == 0  ? "{\"type\":\"q8_0\",\"x\":[1,-2.5,0,0,0,0,0,0,0,0,0,0,0,0,"
                                         "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3e4]}\n"
      : strcmp(line, "process") == 0 ? "{\"op\":\"repetition_penalty\",\"params\":{\"penalty\":2},"
                                       "\"logits\":[1,-1,\"-inf\"],\"ids\":[1,0,1]}\n"
      : strcmp(line, "sample") == 0
      ? "{\"logits\":[1,2,0.5],\"params\":{\"top_k\":2,\"logit_bias\":{\"2\":5}},\"seed\":7}\n"
      : strcmp(line, "philox") == 0  ? "{\"key\":[1,2],\"counter\":[3,4,5,6]}\n"
      : strcmp(line, "inspect") == 0 ? "{\"file\":\"tests/golden/small/model.safetensors\"}\n"
                                     : "{\"ids\":[262,3]}\n";
    size_t bad = (size_t) n - (size_t) (tab + 1 - line), k = strlen(good);
    char *all = malloc(bad + 2 * k);
    memcpy(all, good, k), memcpy(all + k, tab + 1, bad), memcpy(all + k + bad, good, k);
    struct run r = probe(line, "tests/golden/small", all, bad + 2 * k);
    ck_assert_msg(r.status == 0 && r.n_err == 0 && lines_of(&r) == 3, "%s %s: %s%s", line, tab + 1,
      r.out, r.err);
    json_t *a = answer_at(r.out, 0), *b = answer_at(r.out, 1), *c = answer_at(r.out, 2),
           *why = json_object_get(b, "error");
    ck_assert_msg(json_object_size(b) == 1 && json_string_length(why) > 0
        && strchr(json_string_value(why), '\n') == NULL,
      "%s %s: %s", line, tab + 1, r.out);
    bool later =
      strcmp(line, "beam") == 0 || strcmp(line, "stop") == 0 || strcmp(line, "speculative") == 0;
    ck_assert_msg(json_equal(a, c) && (json_object_get(a, "error") != NULL) == later, "%s", r.out);
    json_decref(a), json_decref(b), json_decref(c), free(all), done(&r);
  }
  free(line), fclose(f);
  tally("tests/golden/probe/hostile.txt", (unsigned) cases, 0, 0, "");
}
END_TEST

/* lines changed at random: always one object a line, always with the promised keys or the single
 * key error */
START_TEST(lines_changed_at_random)
{
  static const struct {
    const char *kind, *line, *keys;
  } seedling[] = { { "tokenize",
                     "{\"text\":\"The \\u00e9 cat\",\"add_special\":true,\"parse_special\":false}",
                     "ids" },
    { "detokenize", "{\"ids\":[262,270,196,170],\"skip_special\":true}", "hex text" },
    { "stream", "{\"ids\":[241,160,153,129,262]}", "chunks flush" },
    { "train-bpe", "{\"text\":\"aabaab\",\"pattern\":\"[a-z]+\",\"merges\":5}", "merges" },
    { "forward",
      "{\"ids\":[262,270,3],\"rows\":[0,2],\"chunk\":2,\"cache\":true,\"mates\":[[1,2],[3]]}",
      "logits" },
    { "logprob", "{\"ids\":[262,270,3]}", "logprobs sum" },
    { "generate",
      "{\"ids\":[262],\"max_tokens\":4,\"params\":{\"temperature\":0},\"seed\":0,\"stop\":[],"
      "\"eos\":[0,5]}",
      "ids text finish stop_reason" },
    { "generate",
      "{\"ids\":[262,5],\"max_tokens\":3,\"params\":{\"temperature\":0.5,\"top_k\":9,\"penalty_"
      "last_n\":-1,\"logit_bias\":{\"7\":2},\"samplers\":[\"bias\",\"top_k\"]},\"sequence\":3}",
      "ids text finish stop_reason" },
    { "process",
      "{\"op\":\"frequency_presence\",\"params\":{\"frequency\":0.5,\"presence\":-1,\"prompt_len\":"
      "1,\"penalty_last_n\":2},\"ids\":[0,2,2],\"logits\":[1,-2.5,\"-inf\",3]}",
      "logits" },
    { "process",
      "{\"op\":\"sequence_bias\",\"params\":{\"bias\":[[[1,2],\"-inf\"],[[0],1.5]]},\"ids\":[3,1],"
      "\"logits\":[1,-2.5,0,3]}",
      "logits" },
    { "process",
      "{\"op\":\"min_new_tokens\",\"params\":{\"eos\":[0,3],\"min_new_tokens\":2,\"prompt_len\":1},"
      "\"ids\":[3,1],\"logits\":[1,-2.5,0,3]}",
      "logits" },
    { "sample",
      "{\"logits\":[1,2,3.5,\"-inf\"],\"ids\":[1,2],\"prompt_length\":1,\"params\":{\"bad_words\":["
      "[2,1]],\"top_p\":0.9,\"suppress_tokens\":[0]},\"seed\":5,\"position\":9}",
      "kept probs token" },
    { "philox", "{\"key\":[1,2],\"counter\":[3,4,5,4294967295]}", "out" },
    { "inspect", "{\"file\":\"tests/golden/small/model.safetensors\"}", "ok tensors parameters" },
    { "process",
      "{\"op\":\"frequency_presence\",\"params\":{\"frequency\":0.5,\"presence\":-1,\"prompt_len\":"
      "1,\"penalty_last_n\":3},\"ids\":[0,1,1],\"logits\":[1,2.5,-3e4,\"-inf\"]}",
      "logits" },
    { "process",
      "{\"op\":\"sequence_bias\",\"params\":{\"bias\":[[[0,1],2.5],[[2],\"-inf\"]]},\"ids\":[0,2,0]"
      ",\"logits\":[1,2,3]}",
      "logits" },
    { "sample",
      "{\"logits\":[1,2.5,-3,\"-inf\"],\"ids\":[0,1],\"prompt_length\":1,\"params\":{"
      "\"temperature\":0.7,\"top_p\":0.9,\"logit_bias\":{\"1\":-2},\"samplers\":[\"bias\","
      "\"temperature\",\"top_p\"]},\"seed\":12,\"sequence\":1,\"position\":5}",
      "kept probs token" },
    { "philox", "{\"key\":[1,23],\"counter\":[456,7890,4294967295,0]}", "out" },
    { "quantize", "{\"type\":\"f16\",\"x\":[1,-2.5,3e4,0.125,-0.0,65504]}", "hex" },
    { "quantize", "{\"type\":\"q4_0\",\"hex\":\"00b8ff8091a2b3c4d5e6f70819293a4b5c6d\"}", "x" } };
  static const char pool[] = "{}[]\",:0123456789-+.eE\\u \tntrueflasxz\xff\xc3\xa9";
  uint64_t seed = suite_seed();
  for (size_t k = 0; k < sizeof seedling / sizeof *seedling; k++) {
    char *all = malloc(400 * 512), *at = all;
    for (int i = 0; i < 400; i++) {
      char line[512];
      size_t n = strlen(seedling[k].line);
      memcpy(line, seedling[k].line, n);
      for (uint64_t times = rnd(&seed) % 4; times > 0; times--) {
        size_t p = rnd(&seed) % n;
        char c = pool[rnd(&seed) % (sizeof pool - 1)];
        switch (rnd(&seed) % 3) {
        case 0: line[p] = c; break;
        case 1: memmove(line + p + 1, line + p, n - p), line[p] = c, n++; break;
        default: memmove(line + p, line + p + 1, n - p - 1), n--;
        }
      }
      memcpy(at, line, n), at += n, *at++ = '\n';
    }
    struct run r = probe(seedling[k].kind, "tests/golden/small", all, (size_t) (at - all));
    ck_assert_int_eq(r.status, 0);
    ck_assert_uint_eq(lines_of(&r), 400);
    char *out = r.out;
    for (int i = 0; i < 400; i++, out = strchr(out, '\n') + 1) {
      json_t *j = answer_at(out, 0);
      if (json_object_get(j, "error") != NULL)
        ck_assert_uint_eq(json_object_size(j), 1);
      else
        has_keys(j, seedling[k].keys);
      json_decref(j);
    }
    free(all), done(&r);
  }
}
END_TEST

START_TEST(forward_says_the_same_in_every_way)
{
  static const char *const model[] = { "tests/golden/small", "tests/golden/gpt2",
    "tests/golden/llama", "tests/golden/mistral", "tests/golden/qwen2", "tests/golden/qwen3",
    "tests/golden/llama-stretched" };
  static const char *const way[] = { "\"chunk\":0", "\"chunk\":1", "\"chunk\":2",
    "\"chunk\":4,\"cache\":true", "\"cache\":false", "\"mates\":[[3]]",
    "\"mates\":[[2,2,2,2,2,2,2],[1],[4,5]],\"chunk\":3", "\"cache\":false,\"mates\":[[1,2,3]]",
    "\"chunk\":999" };
  for (size_t i = 0; i < sizeof model / sizeof *model; i++) {
    char in[4096] = "";
    for (size_t k = 0; k < sizeof way / sizeof *way; k++)
      snprintf(in + strlen(in), 200, "{\"ids\":[1,5,3,3,2,7,4],\"rows\":[6,0,3,3],%s}\n", way[k]);
    struct run r = probe("forward", model[i], in, strlen(in));
    size_t n = strcspn(r.out, "\n") + 1;
    ck_assert_msg(r.status == 0 && r.out[2] == 'l' && r.n_out == n * (sizeof way / sizeof *way),
      "%s: %s", model[i], r.err);
    for (size_t k = 1; k < sizeof way / sizeof *way; k++)
      ck_assert_msg(memcmp(r.out, r.out + k * n, n) == 0, "%s: %s", model[i], way[k]);
    for (int t = 1; t <= 3; t++) {
      char threads[8],
        *argv[] = { "incipit", "probe", "forward", "-m", (char *) model[i], "-t", threads, NULL };
      snprintf(threads, sizeof threads, "%d", t);
      struct run again = run_words(7, argv, in, strlen(in), 0, 0, "incipit");
      ck_assert_str_eq(r.out, again.out);
      done(&again);
    }
    done(&r);
  }
}
END_TEST

/* the golden lines of the models, through the protocol: what the module says, the protocol says */
START_TEST(golden_lines_through_the_protocol)
{
  static const char *const model[] = { "gpt2", "gpt2-bare", "llama", "llama-stretched", "mistral",
    "qwen2", "qwen3" };
  unsigned n = 0;
  for (size_t i = 0; i < sizeof model / sizeof *model; i++) {
    for (int k = 0; k < 3; k++) {
      static const char *const kind[] = { "forward", "logprob", "greedy" };
      char path[256], dir[128], *line = NULL;
      size_t cap = 0;
      snprintf(dir, sizeof dir, "tests/golden/%s", model[i]);
      snprintf(path, sizeof path, "%s/%s.jsonl", dir, kind[k]);
      FILE *f = fopen(path, "r");
      ck_assert_msg(f != NULL, "%s", path);
      while (getline(&line, &cap, f) > 0) {
        json_t *c = json_loads(line, 0, NULL), *q = json_object();
        json_object_set(q, "ids", json_object_get(c, k == 2 ? "prompt_ids" : "ids"));
        if (k == 0) json_object_set_new(q, "rows", json_string("all"));
        if (k == 2) {
          json_t *eos = json_object_get(c, "eos_token_id");
          json_object_set(q, "max_tokens", json_object_get(c, "max_new_tokens"));
          if (json_is_array(eos))
            json_object_set(q, "eos", eos);
          else
            json_object_set_new(
              q, "eos", json_is_integer(eos) ? json_pack("[O]", eos) : json_array());
        }
        char *in = json_dumps(q, 0);
        struct run r = probe(k == 2 ? "generate" : kind[k], dir, in, strlen(in));
        json_t *a = answer_at(r.out, 0);
        double tol = json_number_value(json_object_get(c, "tol")), worst = 0;
        if (k == 0) {
          json_t *want = json_object_get(c, "logits"), *got = json_object_get(a, "logits");
          ck_assert_uint_eq(json_array_size(want), json_array_size(got));
          for (size_t x = 0; x < json_array_size(want); x++)
            for (size_t y = 0; y < json_array_size(json_array_get(want, x)); y++)
              worst = fmax(worst,
                fabs(json_number_value(json_array_get(json_array_get(want, x), y))
                  - json_number_value(json_array_get(json_array_get(got, x), y))));
        } else if (k == 1) {
          json_t *want = json_object_get(c, "logprobs"), *got = json_object_get(a, "logprobs");
          ck_assert_uint_eq(json_array_size(want), json_array_size(got));
          ck_assert(json_is_null(json_array_get(got, 0)));
          for (size_t x = 1; x < json_array_size(want); x++)
            worst = fmax(worst,
              fabs(json_number_value(json_array_get(want, x))
                - json_number_value(json_array_get(got, x))));
        } else {
          ck_assert_msg(json_equal(json_object_get(a, "ids"), json_object_get(c, "ids")), "%s: %s",
            line, r.out);
          ck_assert_str_eq(json_string_value(json_object_get(a, "text")), "");
        }
        ck_assert_msg(worst <= tol, "%s: off by %g, %g is allowed", path, worst, tol);
        json_decref(a), json_decref(c), json_decref(q), free(in), done(&r);
        n++;
      }
      free(line), fclose(f);
    }
  }
  tally("tests/golden through the protocol", n, 0, 0, "");
}
END_TEST

START_TEST(generate_and_the_protocol_are_one)
{
  struct run g = run("generate 'The cat sat' --json"),
             p = run("probe generate <{\"ids\":[262,270,263],\"max_tokens\":40}"),
             q = run("probe generate <{\"ids\":[262,270,263],\"max_tokens\":40,\"eos\":[]}");
  json_t *a = object_of(&g), *b = object_of(&p), *c = object_of(&q),
         *s = json_array_get(json_object_get(a, "sequences"), 0);
  ck_assert(json_equal(json_object_get(s, "ids"), json_object_get(b, "ids")));
  ck_assert(json_equal(json_object_get(s, "text"), json_object_get(b, "text")));
  ck_assert_str_eq(json_string_value(json_object_get(b, "finish")), "stop");
  ck_assert_int_eq(json_integer_value(json_object_get(b, "stop_reason")), 0);
  ck_assert_str_eq(json_string_value(json_object_get(c, "finish")), "length");
  ck_assert_uint_eq(json_array_size(json_object_get(c, "ids")), 40);
  json_decref(a), json_decref(b), json_decref(c), done(&g), done(&p), done(&q);
  p = run(
    "probe generate <{\"ids\":[262,270,263],\"max_tokens\":9,\"eos\":[260,5]}"); /* any id may end a
                                                                                    text; it is in
                                                                                    the ids, not in
                                                                                    the text */
  ck_assert_str_eq(
    p.out, "{\"ids\":[265,260],\"text\":\" on\",\"finish\":\"stop\",\"stop_reason\":260}\n");
  done(&p);
  p = run("probe generate "
          "<{\"ids\":[262],\"max_tokens\":3,\"params\":{\"temperature\":0.0,\"top_p\":1,"
          "\"samplers\":[\"bias\",\"penalties\",\"ngram\",\"temperature\",\"top_k\",\"top_p\","
          "\"min_p\",\"typical_p\"]},\"seed\":0,\"sequence\":0,\"stop\":[],\"include_stop\":false,"
          "\"min_tokens\":0,\"eos\":null,\"cache\":false,\"chunk\":0,\"speculate\":0}");
  ck_assert_msg(strstr(p.out, "\"text\":\" cat sat on\"") != NULL, "%s", p.out);
  done(&p);
  g = run("tokenize --ids 262,270,0,196"), p = run("probe detokenize <{\"ids\":[262,270,0,196]}");
  ck_assert_str_eq(g.out, "The cat<|endoftext|>\xc3");
  ck_assert_str_eq(p.out,
    "{\"hex\":"
    "\"54686520636174\x33\x63\x37\x63\x36\x35\x36\x65\x36\x34\x36\x66\x36\x36\x37\x34\x36\x35\x37"
    "\x38\x37\x34\x37\x63\x33\x65\x63\x33\",\"text\":\"The cat<|endoftext|>\xef\xbf\xbd\"}\n");
  done(&g), done(&p);
}
END_TEST

/* ---- choices: several texts, seeds, what the makers say */
static json_t *texts_of(
  struct run *r, json_t **whole) /* the sequences of an object, which whole keeps */
{
  *whole = object_of(r);
  json_t *list = json_object_get(*whole, "sequences");
  ck_assert_uint_gt(json_array_size(list), 0);
  return list;
}
/* the text of ids as bytes, by way of tokenize --ids; the end token, 0, is not in it */
static struct run bytes_of_ids(json_t *ids)
{
  char line[4096] = "tokenize --ids ";
  for (size_t i = 0, n = 0; i < json_array_size(ids); i++) {
    int64_t id = json_integer_value(json_array_get(ids, i));
    if (id != 0) snprintf(line + strlen(line), 16, "%s%ld", n++ > 0 ? "," : "", (long) id);
  }
  if (line[strlen(line) - 1] == ' ') strcat(line, "''");
  return run(line);
}
START_TEST(texts_of_a_company_are_those_of_each_alone)
{
  struct run r = run("generate The --temp 1.5 -n 12 -s 5 --num-sequences 4 --json --logprobs 2"),
             two = run("generate The --temp 1.5 -n 12 -s 5 --num-sequences 2 --json"),
             text = run("generate The --temp 1.5 -n 12 -s 5 --num-sequences 4"),
             seen = run_as("generate The --temp 1.5 -n 12 -s 5 --num-sequences 4", ON_TERMINAL, 0),
             lines = run("generate The --temp 1.5 -n 12 -s 5 --num-sequences 4 --jsonl"),
             echo = run("generate The --temp 1.5 -n 12 -s 5 --num-sequences 4 --echo"),
             one = run("generate The --temp 1.5 -n 12 -s 5");
  json_t *o, *pair, *all = texts_of(&r, &o), *first = texts_of(&two, &pair), *last = NULL;
  char *at = text.out, *echoed = echo.out, *line = lines.out;
  int64_t tokens = 0, differ = 0;
  ck_assert_uint_eq(json_array_size(all), 4);
  ck_assert_uint_eq(json_array_size(first), 2);
  for (size_t i = 0; i < 4; i++) {
    char in[256], told[1024] = "";
    json_t *s = json_array_get(all, i), *ids = json_object_get(s, "ids");
    snprintf(in, sizeof in,
      "probe generate "
      "<{\"ids\":[262],\"max_tokens\":12,\"params\":{\"temperature\":1.5},\"seed\":5,\"sequence\":%"
      "zu}",
      i);
    struct run p = run(in), b = bytes_of_ids(ids);
    json_t *alone = object_of(&p);
    ck_assert_int_eq(json_integer_value(json_object_get(s, "index")), (int64_t) i);
    ck_assert_msg(json_equal(ids, json_object_get(alone, "ids"))
        && json_equal(json_object_get(s, "text"), json_object_get(alone, "text")),
      "text %zu: %s%s", i, r.out, p.out);
    ck_assert_str_eq(json_string_value(json_object_get(s, "finish_reason")),
      json_string_value(json_object_get(alone, "finish")));
    ck_assert_uint_eq(json_array_size(json_object_get(s, "logprobs")), json_array_size(ids));
    tokens += (int64_t) json_array_size(ids);
    differ += !json_equal(ids, json_object_get(json_array_get(all, 0), "ids"));
    if (i < 2) ck_assert(json_equal(json_object_get(json_array_get(first, i), "ids"), ids));
    /* on paper: the bytes and a line's end, with the prompt before them or not */
    ck_assert_msg(
      memcmp(at, b.out, b.n_out) == 0 && at[b.n_out] == '\n', "text %zu: %s", i, text.out);
    at += b.n_out + 1;
    ck_assert_msg(memcmp(echoed, "The", 3) == 0 && memcmp(echoed + 3, b.out, b.n_out) == 0
        && echoed[3 + b.n_out] == '\n',
      "text %zu: %s", i, echo.out);
    echoed += 3 + b.n_out + 1;
    if (i == 0) ck_assert(one.n_out == b.n_out && memcmp(one.out, b.out, b.n_out) == 0);
    /* in lines: a token each, with the number of its text */
    for (size_t k = 0; k < json_array_size(ids); k++) {
      json_t *t = answer_at(line, 0);
      line = strchr(line, '\n') + 1;
      has_keys(t, "index id text logprob");
      ck_assert_int_eq(json_integer_value(json_object_get(t, "index")), (int64_t) i);
      ck_assert(json_equal(json_object_get(t, "id"), json_array_get(ids, k)));
      ck_assert(json_equal(json_object_get(t, "logprob"),
        json_object_get(json_array_get(json_object_get(s, "logprobs"), k), "logprob")));
      strcat(told, json_string_value(json_object_get(t, "text")));
      json_decref(t);
    }
    const char *whole =
      json_string_value(json_object_get(s, "text")); /* half a character at the end is in no line */
    ck_assert_msg(strncmp(told, whole, strlen(told)) == 0 && strlen(whole) <= strlen(told) + 3,
      "text %zu: %s; wanted: %s", i, told, whole);
    json_decref(alone), done(&p), done(&b);
  }
  ck_assert(*at == '\0' && *echoed == '\0' && seen.n_out == text.n_out
    && memcmp(seen.out, text.out, text.n_out) == 0);
  ck_assert_int_ge(differ, 2);
  ck_assert_int_eq(number_at(o, "usage", "prompt_tokens"), 1);
  ck_assert_int_eq(number_at(o, "usage", "completion_tokens"), tokens);
  ck_assert_int_eq(number_at(o, "usage", "total_tokens"), 1 + tokens);
  ck_assert_int_eq(number_at(o, "counters", "passes"), tokens);
  last = answer_at(line, 0);
  json_t *these = json_object_get(last, "sequences");
  for (size_t i = 0; i < 4; i++)
    ck_assert(json_equal(json_object_get(json_array_get(these, i), "ids"),
      json_object_get(json_array_get(all, i), "ids")));
  ck_assert(json_equal(json_object_get(last, "usage"), json_object_get(o, "usage"))
    && json_equal(json_object_get(last, "counters"), json_object_get(o, "counters")));
  json_decref(o), json_decref(pair), json_decref(last), done(&r), done(&two), done(&text),
    done(&seen), done(&lines), done(&echo), done(&one);
  /* nothing to write three times, and ids where there is no tokenizer */
  r = run("generate The -n 0 --num-sequences 3"),
  text = run("generate The -n 0 --num-sequences 3 --json");
  ck_assert_str_eq(r.out, "\n\n\n");
  all = texts_of(&text, &o);
  ck_assert_uint_eq(json_array_size(all), 3);
  for (size_t i = 0; i < 3; i++)
    ck_assert(json_array_size(json_object_get(json_array_get(all, i), "ids")) == 0
      && strcmp(
           json_string_value(json_object_get(json_array_get(all, i), "finish_reason")), "length")
        == 0);
  json_decref(o), done(&r), done(&text);
  r = run("generate --prompt-ids 1,2 -n 3 --num-sequences 2 -m tests/golden/llama"),
  one = run("generate --prompt-ids 1,2 -n 3 -m tests/golden/llama");
  size_t n = strcspn(r.out, "\n");
  ck_assert_msg(r.n_out == 2 * (n + 1) && memcmp(r.out, r.out + n + 1, n + 1) == 0 && one.n_out == n
      && memcmp(r.out, one.out, n) == 0,
    "%s | %s", r.out, one.out);
  done(&r), done(&one);
}
END_TEST

START_TEST(a_company_cancelled_in_its_second_text)
{
  steps_allowed = 7;
  struct run r = run("generate The --temp 1 -n 5 --ignore-eos --num-sequences 3 --json");
  ck_assert_int_eq(r.status, 130);
  json_t *o, *all = texts_of(&r, &o);
  ck_assert_uint_eq(json_array_size(all), 2);
  for (size_t i = 0; i < 2; i++) {
    json_t *s = json_array_get(all, i);
    ck_assert_int_eq(json_integer_value(json_object_get(s, "index")), (int64_t) i);
    ck_assert_uint_eq(json_array_size(json_object_get(s, "ids")), i == 0 ? 5 : 2);
    ck_assert_str_eq(
      json_string_value(json_object_get(s, "finish_reason")), i == 0 ? "length" : "cancelled");
    ck_assert(json_is_null(json_object_get(s, "stop")));
  }
  ck_assert_int_eq(number_at(o, "usage", "completion_tokens"), 7);
  steps_allowed = 7;
  struct run lines = run("generate The --temp 1 -n 5 --ignore-eos --num-sequences 3 --jsonl");
  ck_assert_int_eq(lines.status, 130);
  ck_assert_uint_eq(lines_of(&lines), 8);
  json_t *last = answer_at(lines.out, 7);
  ck_assert(json_equal(json_object_get(last, "sequences"), all));
  steps_allowed = 7;
  struct run text = run("generate The --temp 1 -n 5 --ignore-eos --num-sequences 3"),
             a = bytes_of_ids(json_object_get(json_array_get(all, 0), "ids")),
             b = bytes_of_ids(json_object_get(json_array_get(all, 1), "ids"));
  ck_assert_int_eq(text.status, 130);
  ck_assert_msg(text.n_out == a.n_out + b.n_out + 2 && memcmp(text.out, a.out, a.n_out) == 0
      && memcmp(text.out + a.n_out + 1, b.out, b.n_out) == 0 && text.out[a.n_out] == '\n'
      && text.out[text.n_out - 1] == '\n',
    "%s", text.out);
  steps_allowed = 0;
  json_decref(o), json_decref(last), done(&r), done(&lines), done(&text), done(&a), done(&b);
}
END_TEST

START_TEST(a_seed_that_was_drawn_is_told_and_can_be_had_again)
{
  static const char *const line[] = { "generate The --temp 1 -n 12 --json",
    "generate The --temp 1 -n 12 --num-sequences 3", "trace The --temp 1 -n 6 --json",
    "generate The -n 12 --samplers ''" };
  char seen[8][32];
  for (int i = 0; i < 8; i++) {
    char words[256];
    snprintf(words, sizeof words, "%s --seed random", line[i % 4]);
    struct run r = run(words);
    ck_assert_msg(r.status == 0 && strncmp(r.err, "incipit: --seed ", 16) == 0
        && strchr(r.err, '\n') == r.err + r.n_err - 1,
      "%s", r.err);
    snprintf(seen[i], sizeof seen[i], "%.*s", (int) (r.n_err - 17), r.err + 16);
    ck_assert_msg(
      strspn(seen[i], "0123456789") == strlen(seen[i]) && strtoull(seen[i], NULL, 10) <= INT64_MAX,
      "%s", seen[i]);
    for (int k = 0; k < i; k++)
      ck_assert_msg(strcmp(seen[k], seen[i]) != 0, "the seed %s was drawn twice", seen[i]);
    snprintf(words, sizeof words, "%s --seed %s", line[i % 4], seen[i]);
    struct run again = run(words);
    timings_out(r.out), timings_out(again.out);
    ck_assert_str_eq(r.out, again.out);
    ck_assert_uint_eq(again.n_err, 0);
    done(&r), done(&again);
  }
}
END_TEST

/* generation_config.json against the same words as options: a text is as long as a hundred choices,
 * so that what is not taken is seen */
START_TEST(what_the_makers_say_is_what_options_say)
{
  static const struct {
    const char *said, *beside, *same;
  } at[] = { { "", "", "" }, { "\"do_sample\":true", "", "--temperature 1" },
    { "\"do_sample\":true,\"temperature\":4.5,\"top_k\":3,\"top_p\":0.9", "",
      "--temperature 4.5 --top-k 3 --top-p 0.9" },
    { "\"do_sample\":true,\"temperature\":2,\"min_p\":0.02", "", "--temperature 2 --min-p 0.02" },
    { "\"do_sample\":true,\"temperature\":2,\"typical_p\":0.5", "",
      "--temperature 2 --typical-p 0.5" },
    { "\"do_sample\":true,\"temperature\":2,\"top_k\":3,\"top_p\":0.9", "--temperature 5",
      "--temperature 5 --top-k 3 --top-p 0.9" },
    { "\"do_sample\":true,\"temperature\":5,\"top_k\":2,\"top_p\":0.95", "--top-k 4",
      "--temperature 5 --top-k 4 --top-p 0.95" },
    { "\"do_sample\":true,\"temperature\":5,\"top_k\":2", "--top-k 0", "--temperature 5" },
    { "\"do_sample\":true,\"temperature\":5,\"top_p\":0.3", "--top-p 1", "--temperature 5" },
    { "\"do_sample\":true,\"temperature\":5,\"top_p\":0.3", "--top-p 0.8",
      "--temperature 5 --top-p 0.8" },
    { "\"do_sample\":true,\"temperature\":5,\"min_p\":0.5", "--min-p 0", "--temperature 5" },
    { "\"do_sample\":true,\"temperature\":5,\"typical_p\":0.2", "--typical 1", "--temperature 5" },
    { "\"do_sample\":true,\"temperature\":5,\"top_k\":7", "--temp 0", "" },
    { "\"do_sample\":true,\"temperature\":5,\"top_k\":7", "--samplers temperature",
      "--temperature 5" },
    { "\"do_sample\":true,\"temperature\":0,\"top_k\":7", "", "" },
    { "\"do_sample\":false,\"temperature\":5,\"top_k\":2", "", "" },
    { "\"temperature\":5,\"top_k\":2,\"top_p\":0.9,\"min_p\":0.1,\"typical_p\":0.9", "", "" },
    { "\"do_sample\":false,\"temperature\":5,\"top_k\":2,\"top_p\":0.2,\"min_p\":0.5,\"typical_p\":"
      "0.2",
      "--temperature 1.5", "--temperature 1.5" },
    { "\"do_sample\":false,\"top_k\":2", "--temperature 5 --top-k 3", "--temperature 5 --top-k 3" },
    { "\"repetition_penalty\":0.1", "", "--repetition-penalty 0.1" },
    { "\"do_sample\":false,\"repetition_penalty\":0.1,\"no_repeat_ngram_size\":3", "",
      "--repetition-penalty 0.1 --no-repeat-ngram-size 3" },
    { "\"do_sample\":true,\"temperature\":1.5,\"repetition_penalty\":0.5,\"no_repeat_ngram_size\":"
      "2",
      "", "--temperature 1.5 --repetition-penalty 0.5 --no-repeat-ngram-size 2" },
    { "\"repetition_penalty\":0.1,\"no_repeat_ngram_size\":2", "--repeat-penalty 1",
      "--no-repeat-ngram-size 2" },
    { "\"repetition_penalty\":0.1,\"no_repeat_ngram_size\":2",
      "--repetition-penalty 0.2 --no-repeat-ngram-size 0", "--repetition-penalty 0.2" },
    { "\"max_length\":3,\"max_new_tokens\":2,\"min_length\":9", "", "" },
    /* where a number is not used, or something else is said on the line, it may be anything that is
       a number of its kind */
    { "\"do_sample\":false,\"temperature\":1e-7", "", "" },
    { "\"do_sample\":true,\"temperature\":1e-7", "--temperature 2", "--temperature 2" },
    { "\"do_sample\":true,\"temperature\":1e-7", "--samplers top_k", "--samplers top_k" } };
  enum { N = sizeof at / sizeof *at };
  static char *text[N];
  variant("advice", NULL);
  unsigned kinds = 0;
  for (size_t i = 0; i < N; i++) {
    for (int t = 0; t < 2; t++) {
      char file[512], a[512], b[512];
      snprintf(file, sizeof file, "{\"eos_token_id\":0%s%s}", at[i].said[0] ? "," : "", at[i].said);
      spill_file("advice", "generation_config.json", file, 0);
      const char *what = t == 0 ? "generate The -n 30 --ignore-eos -s 3"
                                : "trace The -n 9 --json --ignore-eos -s 3 --cache";
      snprintf(a, sizeof a, "%s -m @/advice %s", what, at[i].beside),
        snprintf(b, sizeof b, "%s %s", what, at[i].same);
      struct run r = run(a), s = run(b);
      ck_assert_msg(
        r.status == 0 && s.status == 0 && r.n_out == s.n_out && memcmp(r.out, s.out, r.n_out) == 0,
        "%s %s: %s | %s%s", at[i].said, at[i].beside, r.out, s.out, r.err);
      if (t == 0) text[i] = strdup(r.out);
      done(&r), done(&s);
    }
    size_t k = 0;
    while (strcmp(text[k], text[i]) != 0) k++;
    kinds += k == i;
    if (at[i].same[0] != '\0') ck_assert_msg(k > 0, "%s changes nothing", at[i].same);
  }
  ck_assert_uint_ge(kinds, 15);
  for (size_t i = 0; i < N; i++) free(text[i]);
  spill_file("advice", "generation_config.json",
    "{\"eos_token_id\":[0,47],\"do_sample\":true,\"temperature\":5,\"repetition_penalty\":0.1}", 0);
  struct run p =
    run("probe generate -m @/advice <{\"ids\":[262],\"max_tokens\":12}"); /* the protocol takes the
                                                                             end tokens only */
  ck_assert_str_eq(p.out,
    "{\"ids\":[270,263,265,260,269,47],\"text\":\" cat sat on the "
    "mat\",\"finish\":\"stop\",\"stop_reason\":47}\n");
  done(&p);
}
END_TEST

START_TEST(what_the_makers_say_wrongly_is_told_with_file_and_field)
{
  static const struct {
    const char *said, *line, *field;
  } at[] = { { "\"do_sample\":true,\"temperature\":-1", "", "temperature" },
    { "\"do_sample\":true,\"temperature\":1e-7", "", "temperature" },
    { "\"do_sample\":true,\"temperature\":1e-7", "--top-k 3", "temperature" },
    { "\"do_sample\":true,\"temperature\":20000", "", "temperature" },
    { "\"do_sample\":true,\"temperature\":\"hot\"", "", "temperature" },
    { "\"do_sample\":true,\"top_k\":-1", "", "top_k" },
    { "\"do_sample\":true,\"top_k\":1.5", "", "top_k" },
    { "\"do_sample\":true,\"top_p\":1.5", "", "top_p" },
    { "\"do_sample\":true,\"top_p\":-0.5", "", "top_p" },
    { "\"do_sample\":true,\"min_p\":2", "", "min_p" },
    { "\"do_sample\":true,\"typical_p\":0", "", "typical_p" },
    { "\"do_sample\":true,\"typical_p\":1.1", "", "typical_p" },
    { "\"repetition_penalty\":0", "", "repetition_penalty" },
    { "\"do_sample\":true,\"repetition_penalty\":-1", "", "repetition_penalty" },
    { "\"no_repeat_ngram_size\":-2", "", "no_repeat_ngram_size" },
    { "\"do_sample\":\"yes\"", "", "do_sample" } };
  variant("misled", NULL);
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    for (int t = 0; t < 2; t++) {
      char file[512], line[512];
      snprintf(file, sizeof file, "{\"eos_token_id\":0,%s}", at[i].said);
      spill_file("misled", "generation_config.json", file, 0);
      snprintf(
        line, sizeof line, "%s The -n 2 -m @/misled %s", t == 0 ? "generate" : "trace", at[i].line);
      struct run r = run(line);
      ck_assert_msg(r.status == 1 && r.n_out == 0 && strncmp(r.err, "incipit: ", 9) == 0
          && strchr(r.err, '\n') == r.err + r.n_err - 1,
        "%s: %d %s%s", at[i].said, r.status, r.out, r.err);
      ck_assert_msg(strstr(r.err, "misled/generation_config.json") != NULL
          && strstr(r.err, at[i].field) != NULL,
        "%s: %s", at[i].said, r.err);
      done(&r);
    }
}
END_TEST

START_TEST(what_has_no_effect_is_hinted_at)
{
  static const char *const idle[] = { "top-k 5", "top-p 0.5", "min-p 0.1", "typical-p 0.5",
    "seed 4" };
  static const char *const live[] = { "--temperature 0.5", "--samplers top_k,top_p,min_p,typical_p",
    "-m @/sampled", "--samplers ''" };
  struct run plain = run("generate The -n 4");
  for (size_t i = 0; i < 5; i++) {
    char line[256], words[128];
    snprintf(line, sizeof line, "generate The -n 4 --%s", idle[i]);
    snprintf(words, sizeof words, "incipit: hint: --%.*s changes nothing at temperature 0",
      (int) strcspn(idle[i], " "), idle[i]);
    struct run r = run(line);
    ck_assert_msg(r.status == 0 && strncmp(r.err, words, strlen(words)) == 0 && lines_of(&r) == 0
        && strchr(r.err, '\n') == r.err + r.n_err - 1,
      "%s: %s", line, r.err);
    ck_assert_str_eq(r.out, plain.out);
    done(&r);
    for (size_t k = 0; k < 4; k++) {
      snprintf(line, sizeof line, "generate The -n 4 %s --%s", live[k], idle[i]);
      r = run(line);
      ck_assert_msg(r.status == 0 && r.n_err == 0, "%s: %s", line, r.err);
      done(&r);
    }
  }
  done(&plain);
}
END_TEST

static int times_said(const char *out, const char *words)
{
  int n = 0;
  for (const char *at = out; (at = strstr(at, words)) != NULL; at++) n++;
  return n;
}
START_TEST(a_trace_says_why)
{
  static const struct {
    const char *line, *why;
    bool noise;
  } at[] = { { "The -n 6", "greedy", false }, { "The -n 6 --temp 2 -s 3", "sampled", true },
    { "The -n 6 --temp 2 --top-k 1", "forced", false },
    { "The -n 6 --temp 0 --top-k 9", "greedy", false },
    { "The -n 6 --temp 2 --min-p 1", "forced", false },
    { "The -n 6 --samplers top_k", "sampled", true },
    { "The -n 3 --temp 1 --logit-bias 5=1e6 --top-p 0.5", "forced", false },
    { "'!' -n 6", "stopped", false }, { "'!' -n 6 --temp 0.5 --logit-bias 0=9", "stopped", true },
    { "The -n 6 --temp 3 -s 8 --cache --chunk 1", "sampled", true } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    char line[256], as[64];
    snprintf(line, sizeof line, "trace %s --top 3", at[i].line);
    struct run t = run(line);
    snprintf(line, sizeof line, "trace %s --json --top 3", at[i].line);
    struct run r = run(line);
    /* the same settings, without what only a trace has, to generate */
    snprintf(line, sizeof line, "generate %s --json --logprobs 3", at[i].line);
    char *cache = strstr(line, "--cache ");
    if (cache != NULL) memmove(cache, cache + 8, strlen(cache + 8) + 1);
    struct run g = run(line);
    json_t *o = object_of(&r), *whole, *s = json_array_get(texts_of(&g, &whole), 0),
           *steps = json_object_get(o, "steps"), *odds = json_object_get(s, "logprobs");
    size_t n = json_array_size(steps);
    ck_assert_uint_eq(n, json_array_size(json_object_get(s, "ids")));
    snprintf(as, sizeof as, "  <- %s", at[i].why);
    const char *said = t.out;
    for (size_t k = 0; k < n; k++) {
      json_t *step = json_array_get(steps, k), *x = json_object_get(step, "chosen"),
             *y = json_array_get(odds, k);
      ck_assert_msg(strcmp(json_string_value(json_object_get(x, "why")), at[i].why) == 0,
        "%s: step %zu: %s", at[i].line, k + 1, r.out);
      ck_assert(json_equal(json_object_get(x, "id"), json_object_get(y, "id"))
        && json_equal(json_object_get(x, "logprob"), json_object_get(y, "logprob"))
        && json_equal(json_object_get(x, "rank"), json_object_get(y, "rank")));
      said = strstr(said, as);
      ck_assert_msg(said != NULL, "%s: %s", at[i].line, t.out);
      said += strlen(as);
      if (!at[i].noise) continue;
      /* the noise is that of the generator for seed, token, position and sequence 0 */
      uint64_t rank,
        seed = strstr(at[i].line, "-s ") ? strtoull(strstr(at[i].line, "-s ") + 3, NULL, 10) : 0;
      double noise;
      char ask[256];
      ck_assert_msg(sscanf(said, " at rank %lu with noise %lf", &rank, &noise) == 2, "%s", said);
      ck_assert_int_eq(json_integer_value(json_object_get(x, "rank")), (int64_t) rank);
      snprintf(ask, sizeof ask, "probe philox <{\"key\":[%lu,0],\"counter\":[%ld,%ld,0,0]}", seed,
        (long) json_integer_value(json_object_get(x, "id")),
        (long) json_integer_value(json_object_get(step, "length")));
      struct run p = run(ask);
      json_t *word = object_of(&p), *out = json_object_get(word, "out");
      uint64_t m = (uint64_t) json_integer_value(json_array_get(out, 0)) << 20
        | (uint64_t) json_integer_value(json_array_get(out, 1)) >> 12;
      double g2 = -log(-log(((double) m + 0.5) * 0x1p-52));
      ck_assert_msg(fabs(noise - g2) < 6e-4, "%s: %g; wanted: %g", at[i].line, noise, g2);
      json_decref(word), done(&p);
    }
    ck_assert_int_eq(times_said(t.out, "<- "), (int) n);
    ck_assert_int_eq(times_said(t.out, "with noise"), at[i].noise ? (int) n : 0);
    json_decref(o), json_decref(whole), done(&t), done(&r), done(&g);
  }
  /* several reasons in one trace: sampled, forced where a cut leaves one, and stopped at the end */
  struct run r = run("trace 'The cat' -n 30 --temp 1.5 --top-p 0.9 -s 7 --cache --json");
  json_t *o = object_of(&r), *steps = json_object_get(o, "steps");
  unsigned sampled = 0, forced = 0;
  for (size_t k = 0; k < json_array_size(steps); k++) {
    const char *why = json_string_value(
      json_object_get(json_object_get(json_array_get(steps, k), "chosen"), "why"));
    sampled += strcmp(why, "sampled") == 0, forced += strcmp(why, "forced") == 0;
    if (strcmp(why, "sampled") != 0 && strcmp(why, "forced") != 0)
      ck_assert_msg(strcmp(why, "stopped") == 0 && k + 1 == json_array_size(steps), "%s", why);
  }
  ck_assert_msg(sampled > 0 && forced > 0, "%s", r.out);
  json_decref(o), done(&r);
}
END_TEST

START_TEST(a_sampled_text_is_the_same_in_every_way)
{
  static const char *const how[] = { "--temp 1.5 -s 11",
    "--temp 2 --top-p 0.9 --repeat-penalty 1.3 -s 4",
    "--temp 1 --no-repeat-ngram-size 2 --frequency-penalty 0.5 -s 9 --num-sequences 3",
    "--temp 3 --typical 0.6 --min-p 0.01 --penalty-last-n 4 --presence-penalty 2" };
  static const char *const way[] = { "-t 1", "-t 2", "-t 3", "--no-cache", "--chunk 1",
    "--chunk 2 -t 3", "--no-cache --chunk 1 -t 2", "-c 40" };
  for (size_t i = 0; i < 4; i++) {
    char line[512];
    snprintf(line, sizeof line, "generate 'The cat sat' -n 20 --ignore-eos --json --logprobs 3 %s",
      how[i]);
    struct run r = run(line);
    json_t *o, *all = texts_of(&r, &o);
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
      snprintf(line, sizeof line,
        "generate 'The cat sat' -n 20 --ignore-eos --json --logprobs 3 %s %s", how[i], way[k]);
      struct run s = run(line);
      json_t *w, *same = texts_of(&s, &w);
      ck_assert_msg(json_equal(all, same), "%s: %s%s", line, r.out, s.out);
      json_decref(w), done(&s);
    }
    for (size_t k = 0; kernels_at(k) != NULL; k++) {
      setenv("INCIPIT_ISA", kernels_at(k)->name, 1);
      snprintf(line, sizeof line,
        "generate 'The cat sat' -n 20 --ignore-eos --json --logprobs 3 %s", how[i]);
      struct run s = run(line);
      json_t *w, *same = texts_of(&s, &w);
      ck_assert_msg(json_equal(all, same), "%s: %s", kernels_at(k)->name, line);
      json_decref(w), done(&s);
    }
    unsetenv("INCIPIT_ISA");
    json_decref(o), done(&r);
  }
}
END_TEST

/* settings at random, as options and as params: generate and the protocol write the same, or refuse
 * both */
static const char *pick(uint64_t *seed, const char *const *list, size_t n)
{
  return list[rnd(seed) % n];
}
static size_t settings_at_random(uint64_t *seed, char *options, char *params)
{
  static const struct {
    const char *key, *option, *also, *value[4];
  } at[] = { { "temperature", "temperature", "temp", { "0", "1", "0.7", "2.5" } },
    { "top_k", "top-k", "top-k", { "0", "1", "3", "50" } },
    { "top_p", "top-p", "top-p", { "0", "0.5", "0.95", "1" } },
    { "min_p", "min-p", "min-p", { "0", "0.02", "0.3", "1" } },
    { "typical_p", "typical-p", "typical", { "0.2", "0.5", "0.95", "1" } },
    { "repetition_penalty", "repetition-penalty", "repeat-penalty", { "1", "1.3", "0.5", "1e-3" } },
    { "frequency_penalty", "frequency-penalty", "frequency-penalty",
      { "0", "0.5", "-1.5", "1e2" } },
    { "presence_penalty", "presence-penalty", "presence-penalty", { "0", "2", "-2.5", "0.1" } },
    { "penalty_last_n", "penalty-last-n", "repeat-last-n", { "-1", "0", "3", "100" } },
    { "no_repeat_ngram", "no-repeat-ngram-size", "no-repeat-ngram-size", { "0", "1", "2", "3" } } };
  static const char *const stage[] = { "bias", "penalties", "ngram", "temperature", "top_k",
    "top_p", "min_p", "typical_p" },
                           *const bias[] = { "1.5", "-3", "0.25", "-inf", "40" };
  size_t n = 0;
  char *o = options, *p = params;
  *o = '\0', p += sprintf(p, "{");
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    if (rnd(seed) % 3 != 0 && i > 0) continue;
    const char *v = at[i].value[rnd(seed) % 4];
    o += sprintf(
      o, " --%s%s%s", rnd(seed) % 2 ? at[i].option : at[i].also, rnd(seed) % 2 ? " " : "=", v),
      p += sprintf(p, "%s\"%s\":%s", n++ ? "," : "", at[i].key, v);
  }
  if (rnd(seed) % 3 == 0) {
    uint32_t id = (uint32_t) rnd(seed) % 100;
    p += sprintf(p, "%s\"logit_bias\":{", n++ ? "," : "");
    for (uint64_t k = 0, m = 1 + rnd(seed) % 4; k < m; k++, id += 1 + (uint32_t) rnd(seed) % 60) {
      const char *v = pick(seed, bias, 5);
      o += sprintf(o,
        k == 0 || rnd(seed) % 2 ? " --logit-bias %u=%s"
          : rnd(seed) % 2       ? ",%u=%s"
                                : ";%u=%s",
        id, v);
      p +=
        sprintf(p, strcmp(v, "-inf") == 0 ? "%s\"%u\":\"%s\"" : "%s\"%u\":%s", k ? "," : "", id, v);
    }
    p += sprintf(p, "}");
  }
  if (rnd(seed) % 3 == 0) {
    unsigned from = (unsigned) rnd(seed) % 8, step = 1 + 2 * ((unsigned) rnd(seed) % 4),
             m = 1 + (unsigned) rnd(seed) % 8;
    o += sprintf(o, " --samplers "), p += sprintf(p, "%s\"samplers\":[", n++ ? "," : "");
    for (unsigned k = 0; k < m; k++)
      o += sprintf(o, "%s%s", k ? rnd(seed) % 2 ? "," : ";" : "", stage[(from + k * step) % 8]),
        p += sprintf(p, "%s\"%s\"", k ? "," : "", stage[(from + k * step) % 8]);
    p += sprintf(p, "]");
  }
  sprintf(p, "}");
  return n;
}
START_TEST(options_and_params_are_one)
{
  uint64_t seed = suite_seed();
  unsigned refused = 0, several = 0;
  for (int i = 0; i < 150; i++) {
    char options[1024], params[1024], line[4096];
    uint64_t number = rnd(&seed) % 4 == 0 ? INT64_MAX - rnd(&seed) % 9
                                          : rnd(&seed) >> (1 + rnd(&seed) % 62),
             texts = 1 + rnd(&seed) % 3;
    settings_at_random(&seed, options, params);
    snprintf(line, sizeof line, "generate 'The cat' --json -n 10 --num-sequences %lu %s %lu%s",
      (unsigned long) texts, rnd(&seed) % 2 ? "-s" : "--seed", (unsigned long) number, options);
    struct run g = run(line);
    json_t *o = g.status == 0 ? object_of(&g) : NULL, *all = json_object_get(o, "sequences");
    ck_assert_msg(
      g.status == 0 || (g.status == 1 && g.n_out == 0), "%s: %d %s", line, g.status, g.err);
    if (g.status == 0) ck_assert_uint_eq(json_array_size(all), texts);
    several += texts > 1, refused += g.status != 0;
    bool wrong = false;
    for (uint64_t k = 0; k < texts; k++) {
      char ask[4096];
      snprintf(ask, sizeof ask,
        "{\"ids\":[262,270],\"max_tokens\":10,\"params\":%s,\"seed\":%lu,\"sequence\":%lu,"
        "\"cache\":%s,\"chunk\":%d}",
        params, (unsigned long) number, (unsigned long) k, k % 2 ? "false" : "true", (int) k);
      struct run p = probe("generate", "tests/golden/small", ask, strlen(ask));
      json_t *a = answer_at(p.out, 0), *s = json_array_get(all, k);
      wrong = wrong || json_object_get(a, "error") != NULL;
      if (g.status == 0) {
        ck_assert_msg(json_equal(json_object_get(s, "ids"), json_object_get(a, "ids"))
            && json_equal(json_object_get(s, "text"), json_object_get(a, "text")),
          "%s | %s: %s%s", line, ask, g.out, p.out);
        ck_assert_str_eq(json_string_value(json_object_get(s, "finish_reason")),
          json_string_value(json_object_get(a, "finish")));
      }
      json_decref(a), done(&p);
    }
    ck_assert_msg(wrong == (g.status != 0), "%s | %s: %s", line, params, g.err);
    json_decref(o), done(&g);
  }
  ck_assert_msg(several > 50 && refused < 75, "%u %u", several, refused);
}
END_TEST

/* what must match matches, whatever the dice and the budget; a limit below the shortest match is
 * refused with it; never status 0 without a match */
START_TEST(what_must_match_matches)
{
  unsigned objects = 0, words = 0, minimum = 0;
  for (int seed = 0; seed < 40; seed++)
    for (int n = 1; n < 30; n += 1 + n / 3) {
      char line[400];
      snprintf(line, sizeof line, "generate 'The cat' --temp 2 -s %d -n %d --json-object --json%s",
        seed, n, seed % 2 ? " --ignore-eos" : "");
      struct run r = run(line);
      ck_assert_msg(r.status == (n < 2 ? 2 : 0), "%s: %d %s", line, r.status, r.err);
      if (n < 2)
        minimum += strstr(r.err, "at most 1 tokens") && strstr(r.err, "2 or more");
      else {
        json_t *o = object_of(&r), *s = json_array_get(json_object_get(o, "sequences"), 0),
               *v = json_loads(json_string_value(json_object_get(s, "text")), 0, NULL);
        ck_assert_msg(json_is_object(v), "%s: %s", line, r.out);
        json_decref(v), json_decref(o), objects++;
      }
      done(&r);
      snprintf(line, sizeof line,
        "generate 'The cat' --temp 1.5 -s %d -n %d --regex '(ab|[0-9]{2,4})+z?' --num-sequences 2",
        seed, n + 1);
      r = run(line);
      ck_assert_msg(r.status == 0, "%s: %d %s", line, r.status, r.err);
      for (char *at = r.out, *end; (end = strchr(at, '\n')) != NULL; at = end + 1, words++) {
        char *x = at, *begun = at;
        while (x < end && (strncmp(x, "ab", 2) == 0 || (*x >= '0' && *x <= '9')))
          x += *x == 'a' ? 2 : 1;
        if (x > begun && x < end && *x == 'z') x++;
        ck_assert_msg(x == end && x > begun, "%s: %.*s", line, (int) (end - at), at);
        for (char *d = at; d < end; d++)
          ck_assert(!(*d >= '0' && *d <= '9') || (d > at && d[-1] >= '0' && d[-1] <= '9')
            || (d + 1 < end && d[1] >= '0' && d[1] <= '9'));
      }
      done(&r);
    }
  ck_assert_msg(
    objects >= 250 && words >= 500 && minimum == 40, "%u %u %u", objects, words, minimum);
}
END_TEST

/* stop strings through both doors, several, over token boundaries, protected and included; the text
 * streamed is the text of the object */
START_TEST(stops_are_the_same_through_both_doors)
{
  static const char *const stops[][2] = { { "--stop sat", "[\"sat\"]" },
    { "--stop 'at o' --stop t", "[\"at o\",\"t\"]" }, { "--stop '. \\xc3\\xa9'", "[\". é\"]" },
    { "--stop nowhere --stop ' the mat.'", "[\"nowhere\",\" the mat.\"]" } };
  unsigned stopped = 0;
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 24; k++) {
      char line[400], ask[400];
      int min = k / 2 % 6;
      snprintf(line, sizeof line, "generate The -n %d %s --min-tokens %d%s", 6 + k / 8 * 20,
        stops[i][0], min, k % 2 ? " --include-stop" : "");
      struct run plain = run(line);
      strcat(line, " --json");
      struct run r = run(line);
      snprintf(ask, sizeof ask,
        "{\"ids\":[262],\"max_tokens\":%d,\"stop\":%s,\"min_tokens\":%d,\"include_stop\":%s,"
        "\"chunk\":%d}",
        6 + k / 8 * 20, stops[i][1], min, k % 2 ? "true" : "false", k % 3);
      struct run p = probe("generate", "tests/golden/small", ask, strlen(ask));
      json_t *a = answer_at(p.out, 0), *o = object_of(&r),
             *s = json_array_get(json_object_get(o, "sequences"), 0),
             *why = json_object_get(s, "stop"), *reason = json_object_get(a, "stop_reason");
      ck_assert_msg(json_equal(json_object_get(s, "ids"), json_object_get(a, "ids"))
          && json_equal(json_object_get(s, "text"), json_object_get(a, "text")),
        "%s | %s: %s%s", line, ask, r.out, p.out);
      if (json_is_string(reason)) {
        ck_assert_msg(json_equal(json_object_get(why, "string"), reason), "%s: %s", line, r.out);
        ck_assert_str_eq(json_string_value(json_object_get(a, "finish")), "stop");
        ck_assert_msg(json_array_size(json_object_get(a, "ids")) > (size_t) min, "%s", p.out);
        stopped++;
      } else
        ck_assert_str_eq(json_string_value(json_object_get(a, "finish")),
          json_is_null(reason) ? "length" : "stop");
      const char *text = json_string_value(json_object_get(s, "text"));
      if (strstr(text, "\xef\xbf\xbd") == NULL)
        ck_assert_msg(strlen(text) == plain.n_out && memcmp(text, plain.out, plain.n_out) == 0,
          "%s: %s", line, plain.out);
      json_decref(a), json_decref(o), done(&p), done(&r), done(&plain);
    }
  ck_assert_uint_gt(stopped, 40);
}
END_TEST

/* the protocol's stop and beam: the words of their answers, on pieces and tables that are small
 * enough to be read */
START_TEST(pieces_and_tables_are_answered)
{
  static const struct {
    const char *kind, *ask, *answer;
  } at[] = {
    { "stop", "{\"pieces\":[\"ab\",\"cd\"],\"stop\":[\"abcd\",\"bc\"]}",
      "{\"deltas\":[\"\",\"a\"],\"text\":\"a\",\"stop_reason\":\"bc\",\"tokens_consumed\":2}" },
    { "stop", "{\"pieces_hex\":[\"c3\",\"a9e2\",\"82\"],\"stop\":[]}",
      "{\"deltas\":[\"\",\"é\",\"\xef\xbf\xbd\"],\"text\":\"é\xef\xbf\xbd\",\"stop_reason\":null,"
      "\"tokens_consumed\":3}" },
    { "stop", "{\"pieces\":[\"x\\n\",\"\\ny\"],\"stop\":[\"\\n\\n\"],\"include_stop\":true}",
      "{\"deltas\":[\"x\\n\",\"\\n\"],\"text\":\"x\\n\\n\",\"stop_reason\":\"\\n\\n\",\"tokens_"
      "consumed\":2}" },
    { "stop", "{\"pieces\":[\"a\",\"b\",\"ab\",\"c\"],\"stop\":[\"ab\"],\"min_tokens\":2}",
      "{\"deltas\":[\"\",\"ab\",\"\"],\"text\":\"ab\",\"stop_reason\":\"ab\",\"tokens_consumed\":"
      "3}" },
    { "stop", "{\"pieces\":[]}",
      "{\"deltas\":[],\"text\":\"\",\"stop_reason\":null,\"tokens_consumed\":0}" },
    { "beam",
      "{\"V\":2,\"P\":1,\"table\":[[[0,0],[0,0]]],\"prompt\":[[0],[1,0]],\"eos\":[],\"max_length\":"
      "3,\"num_beams\":2,\"length_penalty\":0,\"num_return_sequences\":2,\"case\":1,\"pad\":null}",
      NULL }
  };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    char *argv[] = { "incipit", "probe", (char *) at[i].kind, NULL };
    struct run p = run_words(3, argv, at[i].ask, strlen(at[i].ask), 0, 0, "incipit");
    json_t *a = answer_at(p.out, 0),
           *want = at[i].answer == NULL ? NULL : json_loads(at[i].answer, 0, NULL);
    if (want != NULL)
      ck_assert_msg(json_equal(a, want), "%s: %s", at[i].ask, p.out);
    else {
      double half = log(2);
      json_t *x = json_object_get(a, "scores"),
             *all = json_loads("[[0,0,0],[0,0,1],[1,0,0],[1,0,1]]", 0, NULL);
      ck_assert_msg(json_equal(json_object_get(a, "sequences"), all), "%s", p.out);
      for (size_t k = 0; k < 4; k++)
        ck_assert_double_eq_tol(
          json_number_value(json_array_get(x, k)), k < 2 ? -2 * half : -half, 1e-12);
      json_decref(all);
    }
    json_decref(want), json_decref(a), done(&p);
  }
}
END_TEST

/* 27 blocks of numbers as ggml's own functions pack them: the same bytes; what these bytes mean,
 * reckoned here; and that packed is the same bytes once more */
START_TEST(blocks_are_those_of_ggml)
{
  static const struct {
    const char *type;
    size_t bytes;
  } at[] = { { "q8_0", 34 }, { "q4_0", 18 } };
  char buffer[4096];
  unsigned n = 0;
  if (shared_file(buffer, sizeof buffer, "vectors/kvquant/ggml_blocks.json") == NULL) return;
  json_t *all = json_load_file(buffer, 0, NULL), *list = json_object_get(all, "cases");
  ck_assert_uint_eq(json_array_size(list), 27);
  for (size_t i = 0; i < 27 * 2; i++) {
    json_t *c = json_array_get(list, i / 2), *hex = json_object_get(c, at[i % 2].type), *x;
    const char *text = json_string_value(hex);
    json_t *question[3] = { json_pack(
                              "{sssO}", "type", at[i % 2].type, "x", json_object_get(c, "x")),
      json_pack("{sssO}", "type", at[i % 2].type, "hex", hex) },
           *answer[3];
    ck_assert_uint_eq(json_string_length(hex), 2 * at[i % 2].bytes);
    for (int k = 0; k < 3; k++) {
      if (k == 2)
        question[k] =
          json_pack("{sssO}", "type", at[i % 2].type, "x", json_object_get(answer[1], "x"));
      char *in = json_dumps(question[k], 0);
      struct run r = probe("quantize", "tests/golden/small", in, strlen(in));
      ck_assert_msg(r.status == 0 && r.n_err == 0 && lines_of(&r) == 1, "%s", r.err);
      answer[k] = answer_at(r.out, 0);
      has_keys(answer[k], k == 1 ? "x" : "hex");
      ck_assert_msg(k == 1 || json_equal(json_object_get(answer[k], "hex"), hex),
        "%s: %s; wanted: %s", in, r.out, text);
      free(in), done(&r);
    }
    unsigned char byte[34];
    for (size_t k = 0; k < at[i % 2].bytes; k++)
      byte[k] = (unsigned char) strtoul((char[3]){ text[2 * k], text[2 * k + 1] }, NULL, 16);
    int half = byte[0] | byte[1] << 8, power = half >> 10 & 31;
    double scale = ldexp((half & 1023) + (power ? 1024 : 0), (power ? power : 1) - 25)
      * (half & 0x8000 ? -1 : 1);
    ck_assert_uint_eq(json_array_size(x = json_object_get(answer[1], "x")), 32);
    for (size_t k = 0; k < 32; k++) {
      double wanted = scale
        * (i % 2 == 0 ? (int8_t) byte[2 + k] : (byte[2 + k % 16] >> (k < 16 ? 0 : 4) & 15) - 8),
             got = json_real_value(json_array_get(x, k));
      ck_assert_msg((float) got == (float) wanted && signbit(got) == signbit(wanted),
        "%s, number %zu: %g; wanted: %g", text, k, got, wanted);
    }
    for (int k = 0; k < 3; k++) json_decref(question[k]), json_decref(answer[k]);
    n++;
  }
  json_decref(all);
  tally("vectors/kvquant/ggml_blocks.json", n, 0, 0, "");
}
END_TEST

/* ---- what only a real process shows */
struct child {
  pid_t pid;
  int in, out, err;
};
static struct child start(char *const *argv)
{
  int in[2], out[2], err[2];
  ck_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0);
  struct child c = { fork(), in[1], out[0], err[0] };
  if (c.pid == 0) {
    char path[4200];
    dup2(in[0], 0), dup2(out[1], 1), dup2(err[1], 2);
    snprintf(path, sizeof path, "%s/incipit", build_dir());
    signal(SIGPIPE, SIG_DFL), signal(SIGINT, SIG_DFL);
    execv(path, argv);
    _exit(99);
  }
  close(in[0]), close(out[1]), close(err[1]);
  return c;
}
static int finish(struct child *c, char *err, size_t size)
{
  size_t n = 0;
  for (ssize_t k; n < size - 1 && (k = read(c->err, err + n, size - 1 - n)) > 0;) n += (size_t) k;
  err[n] = '\0';
  int status;
  ck_assert(waitpid(c->pid, &status, 0) == c->pid);
  close(c->err);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
START_TEST(ctrl_c_leaves_a_whole_object)
{
  char long_[4200], err[4096],
    *argv[] = { "incipit", "generate", "The", "--jsonl", "--ignore-eos", "-m", long_, NULL };
  snprintf(long_, sizeof long_, "%s/long", room_dir);
  struct child c = start(argv);
  FILE *f = fdopen(c.out, "r");
  char *line = NULL, *last = NULL;
  size_t cap = 0, n = 0;
  close(c.in);
  while (getline(&line, &cap, f) > 0) {
    if (++n == 5) kill(c.pid, SIGINT);
    free(last), last = strdup(line);
  }
  int status = finish(&c, err, sizeof err);
  ck_assert_msg(status == 130, "status %d: %s", status, err);
  json_t *o = json_loads(last, JSON_REJECT_DUPLICATES, NULL),
         *s = json_array_get(json_object_get(o, "sequences"), 0);
  ck_assert_str_eq(json_string_value(json_object_get(s, "finish_reason")), "cancelled");
  ck_assert_uint_eq(json_array_size(json_object_get(s, "ids")), n - 1);
  ck_assert(n < 4000);
  json_decref(o), free(line), free(last), fclose(f);
}
END_TEST

START_TEST(a_reader_who_has_gone_is_no_failure_to_talk_about)
{
  char long_[4200], err[4096], byte,
    *argv[] = { "incipit", "generate", "The", "--ignore-eos", "-m", long_, NULL },
    *probe_argv[] = { "incipit", "probe", "tokenize", "--vocab", "tests/golden/small", NULL };
  snprintf(long_, sizeof long_, "%s/long", room_dir);
  struct child c = start(argv);
  close(c.in);
  ck_assert_int_eq(read(c.out, &byte, 1), 1);
  close(c.out);
  int status = finish(&c, err, sizeof err);
  ck_assert_msg(status == 1 && err[0] == '\0', "status %d: %s", status, err);
  c = start(probe_argv);
  close(c.out);
  signal(SIGPIPE, SIG_IGN);
  for (int i = 0; i < 3; i++) {
    ssize_t n = write(c.in, "{\"text\":\"a\"}\n", 13);
    (void) n;
  }
  close(c.in);
  status = finish(&c, err, sizeof err);
  ck_assert_msg(status == 1 && err[0] == '\0', "status %d: %s", status, err);
}
END_TEST

START_TEST(a_full_disk_and_a_lost_file_are_told)
{
  char script[1024], out[4096];
  snprintf(script, sizeof script,
    "INCIPIT_MODEL=tests/golden/small %s/incipit generate The -n 4 2>&1 >/dev/full", build_dir());
  if (access("/dev/full", W_OK) == 0) {
    ck_assert_int_eq(shell(script, out, sizeof out), 1);
    ck_assert_msg(strstr(out, "the output cannot be written") != NULL, "%s", out);
    snprintf(script, sizeof script, "%s/incipit --help 2>&1 >/dev/full", build_dir());
    ck_assert_int_eq(shell(script, out, sizeof out), 1);
  }
  char dir[4200], path[8400], err[4096], answer[8192],
    *argv[] = { "incipit", "probe", "forward", "-m", dir, NULL };
  variant("lost", NULL);
  snprintf(dir, sizeof dir, "%s/lost", room_dir);
  snprintf(path, sizeof path, "%s/model.safetensors", dir);
  struct child c = start(argv);
  ck_assert_int_eq(write(c.in, "{\"ids\":[1]}\n", 12), 12);
  ck_assert(read(c.out, answer, sizeof answer) > 0); /* the model is open */
  ck_assert_int_eq(truncate(path, 0), 0);
  ck_assert_int_eq(write(c.in, "{\"ids\":[1]}\n", 12), 12);
  close(c.in);
  while (read(c.out, answer, sizeof answer) > 0)
    ;
  int status = finish(&c, err, sizeof err);
  ck_assert_msg(status == 1 && strstr(err, "became shorter") != NULL, "status %d: %s", status, err);
  close(c.out);
}
END_TEST

START_TEST(questions_do_not_wait_for_the_next)
{
  char answer[512], err[512],
    *argv[] = { "incipit", "probe", "tokenize", "--vocab", "tests/golden/small", NULL };
  struct child c = start(argv);
  for (int i = 0; i < 3; i++) { /* each answer comes before the next question is asked */
    ck_assert_int_eq(write(c.in, "{\"text\":\"The\"}\n", 15), 15);
    ssize_t n = read(c.out, answer, sizeof answer);
    ck_assert_msg(n == 14 && memcmp(answer, "{\"ids\":[262]}\n", 14) == 0, "%.*s", (int) n, answer);
  }
  close(c.in);
  ck_assert_int_eq(finish(&c, err, sizeof err), 0);
  close(c.out);
}
END_TEST

/* ---- the oracle outside */
START_TEST(random_questions_against_the_oracle)
{
  char buffer[4096], script[8192], out[65536];
  if (shared_file(buffer, sizeof buffer, "reference/contract.py") == NULL) return;
  if (system("python3 -c 'import json' >/dev/null 2>&1") != 0) {
    tally("reference/contract.py", 0, 0, 1, "no python3");
    return;
  }
  snprintf(script, sizeof script, "python3 tests/contract.py %s/incipit %lu 2>&1", build_dir(),
    (unsigned long) suite_seed());
  int status = shell(script, out, sizeof out);
  char *last = out;
  for (char *at = out; (at = strchr(at, '\n')) != NULL && at[1] != '\0';) last = ++at;
  ck_assert_msg(status == 0, "%s", out);
  tally("reference/contract.py", (unsigned) atoi(last), 0, 0, "");
}
END_TEST

/* ---- the edges: rates that are printed, second texts, limits and one beyond them ------------- */

/* a clock of our own, so that times can be compared: while it is set, the k-th look at it says
   k * k milliseconds, or k if it goes evenly */
static enum { CLOCK_SYSTEM, CLOCK_SQUARES, CLOCK_EVEN } clock_of_ours;
static unsigned looks;
int clock_gettime(clockid_t which, struct timespec *now)
{
  if (clock_of_ours == CLOCK_SYSTEM || which != CLOCK_MONOTONIC)
    return (int) syscall(SYS_clock_gettime, which, now);
  unsigned k = ++looks, ms = clock_of_ours == CLOCK_SQUARES ? k * k : k;
  *now = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
  return 0;
}
static struct run run_timed(const char *line)
{
  clock_of_ours = strncmp(line, "bench", 5) == 0 ? CLOCK_EVEN : CLOCK_SQUARES, looks = 0;
  struct run r = run(line);
  clock_of_ours = CLOCK_SYSTEM;
  return r;
}
static double square(size_t k)
{
  return (double) (k * k);
}

/* looks 1 and 2 are about loading, 3 begins, and then every token is one: so all five numbers are
   known; one text, three, and a search; --stats says the same */
START_TEST(times_and_rates_are_those_of_the_clock)
{
  static const char *const line[] = { "The cat sat' -n 6 --ignore-eos", "The' -n 1 --ignore-eos",
    "The cat' -n 4 --ignore-eos --num-sequences 3", "The' -n 2 --num-beams 1 --ignore-eos",
    "The cat sat' -n 5 --ignore-eos --num-beams 3 --num-sequences 2" };
  static const char *const name[] = { "load_ms", "time_to_first_token_ms",
    "time_per_output_token_ms", "prefill_tokens_per_second", "decode_tokens_per_second" };
  for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
    char words[200];
    snprintf(words, sizeof words, "generate '%s --json --stats", line[i]);
    struct run r = run_timed(words);
    json_t *o = object_of(&r), *all = json_object_get(o, "sequences");
    size_t look = 4, n = json_array_size(all);
    double steps = 0, took = 0, given = (double) number_at(o, "usage", "prompt_tokens");
    for (size_t k = 0; k < n; k++) {
      size_t tokens = json_array_size(json_object_get(json_array_get(all, k), "ids"));
      if (i == 4 && k == 0) took = square(look + tokens - 1) - square(look);
      if (i < 4) took += square(look + tokens - 1) - square(look), look += tokens;
      steps += (double) tokens - 1;
    }
    double want[] = { 3, 16 - 9, took / steps, given / 7e-3, steps / (1e-3 * took) };
    for (int k = 0; k < 5; k++) {
      char told[100];
      bool none = steps == 0 && (k == 2 || k == 4);
      snprintf(told, sizeof told, "%-28s %.2f\n", name[k], want[k]);
      json_t *v = json_object_get(json_object_get(o, "timings"), name[k]);
      ck_assert_msg(none ? json_is_null(v) : fabs(json_number_value(v) - want[k]) < 1e-9 * want[k],
        "%s: %s is %f; wanted: %f", words, name[k], json_number_value(v), want[k]);
      ck_assert_msg(none ? strstr(r.err, name[k]) == NULL : strstr(r.err, told) != NULL,
        "%s: %s %s", words, r.err, told);
    }
    json_decref(o), done(&r);
  }
}
END_TEST

/* what --stats says of the memory is what the allocator counted, and the tokens are those of all
   texts */
START_TEST(statistics_are_those_of_the_run)
{
  struct run r = run("generate 'The cat sat' -n 4 --ignore-eos --num-sequences 3 -t 2 --stats "
                     "--json");
  json_t *o = object_of(&r);
  char told[100];
  for (int i = 0; i < N_MEMORY_CLASSES; i++) {
    snprintf(told, sizeof told, "peak for %-19s %" PRIu64 " bytes\n",
      memory_class_name((enum memory_class) i), r.m.of[i].peak);
    ck_assert_msg(strstr(r.err, told) != NULL, "%s: %s", told, r.err);
  }
  snprintf(told, sizeof told, "%-28s 3 + 12\n%-28s 2\n", "tokens", "workers");
  ck_assert_msg(strstr(r.err, told) == r.err, "%s", r.err);
  json_t *counters = json_object_get(o, "counters"), *v;
  const char *name;
  json_object_foreach(counters, name, v)
  {
    snprintf(told, sizeof told, "\n%-28s %lld\n", name, (long long) json_integer_value(v));
    ck_assert_msg(strstr(r.err, told) != NULL, "%s: %s", told, r.err);
  }
  json_decref(o), done(&r);
}
END_TEST

/* operations and bytes of a test are what generating the same rows counts; with a clock of ours the
   rates are exact, and the shares differ as the work of a second does */
static json_t *counters_behind(size_t n)
{
  char line[200] = "generate --prompt-ids 1";
  for (size_t i = 1; i < n; i++) strcat(line, ",1");
  strcat(line, " -n 0 --json");
  struct run r = run(line);
  json_t *o = object_of(&r), *c = json_incref(json_object_get(o, "counters"));
  json_decref(o), done(&r);
  return c;
}
START_TEST(a_bench_counts_exactly)
{
  struct run r = run_timed("bench -p 7 -n 3 -d 5 -r 4 --json");
  json_t *a = json_loads(r.out, 0, NULL), *c[13] = { NULL };
  ck_assert_msg(json_array_size(a) == 2, "%s%s", r.out, r.err);
  for (size_t n = 5; n < 13; n++) c[n] = counters_behind(n);
  double share[2][2];
  for (int k = 0; k < 2; k++) {
    json_t *t = json_array_get(a, (size_t) k);
    size_t to = k == 0 ? 12 : 8;
    ck_assert_str_eq(
      json_string_value(json_object_get(t, "test")), k == 0 ? "pp7 @ d5" : "tg3 @ d5");
    has_keys(t, "test tokens_per_second stddev flop bytes fma_share bandwidth_share");
    int64_t heads = k == 0 ? 1 : 3, madds = 0, flop;
    static const char *const part[] = { "madds_linear", "madds_attention" };
    for (int i = 0; i < 2; i++)
      madds += json_integer_value(json_object_get(c[to], part[i]))
        - json_integer_value(json_object_get(c[5], part[i]));
    madds += heads * json_integer_value(json_object_get(c[5], "madds_head"));
    flop = json_integer_value(json_object_get(t, "flop"));
    ck_assert_int_eq(flop, 2 * madds);
    double seconds = k == 0 ? 1e-3 : 3e-3, n = k == 0 ? 7 : 3;
    double rate = json_real_value(json_object_get(t, "tokens_per_second"));
    ck_assert_double_eq_tol(rate, n / seconds, 1e-6 * n / seconds);
    ck_assert_double_lt(json_real_value(json_object_get(t, "stddev")), 1e-3 * rate);
    ck_assert_double_gt(json_real_value(json_object_get(t, "bandwidth_share")), 0);
    ck_assert_double_gt(json_real_value(json_object_get(t, "fma_share")), 0);
    share[k][0] = json_real_value(json_object_get(t, "fma_share")) * seconds / (double) madds;
    share[k][1] = json_real_value(json_object_get(t, "bandwidth_share")) * seconds
      / (double) json_integer_value(json_object_get(t, "bytes"));
  }
  for (int i = 0; i < 2; i++) ck_assert_double_eq_tol(share[0][i], share[1][i], 1e-6 * share[0][i]);
  for (size_t n = 5; n < 13; n++) json_decref(c[n]);
  json_decref(a), done(&r);
  /* one round instead of four, in another form: the same work, the same shares */
  r = run_timed("bench -p 7 -n 0 -d 5 -r 1 --output csv");
  static const char head[] = "test,tokens_per_second,stddev,flop,bytes,fma_share,"
                             "bandwidth_share\npp7 @ d5,";
  ck_assert_msg(strncmp(r.out, head, sizeof head - 1) == 0, "%s", r.out);
  double rate, spread, flop, bytes, two[2];
  ck_assert_int_eq(sscanf(r.out + sizeof head - 1, "%lf,%lf,%lf,%lf,%lf,%lf\n", &rate, &spread,
                     &flop, &bytes, &two[0], &two[1]),
    6);
  ck_assert_double_eq_tol(rate, 7000, 0.01);
  ck_assert_double_eq(spread, 0);
  for (int i = 0; i < 2; i++)
    ck_assert_double_eq_tol(two[i], share[0][i] * 1e3 * (i == 0 ? flop / 2 : bytes), 1e-5 * two[i]);
  done(&r);
  r = run_timed("bench -p 7 -n 0 -d 5 -r 1"); /* the table has the same, per cent */
  const char *row = strstr(r.out, "pp7 @ d5");
  double cell[6], want[6] = { rate, 0, flop / 1e9, bytes / 1e6, 100 * two[0], 100 * two[1] };
  ck_assert_msg(row != NULL
      && sscanf(row + 8, "%lf %lf %lf %lf %lf %lf", &cell[0], &cell[1], &cell[2], &cell[3],
           &cell[4], &cell[5])
        == 6,
    "%s", r.out);
  for (int i = 0; i < 6; i++)
    ck_assert_msg(fabs(cell[i] - want[i]) < 0.06, "%s: %f; wanted: %f", r.out, cell[i], want[i]);
  done(&r);
  static const char *const over[] = { "-p 65 -n 0", "-d 60 -p 5 -n 0", "-d 60 -p 0 -n 5",
    "-d 64 -p 1" };
  for (size_t i = 0; i < 4; i++) {
    char line[100];
    snprintf(line, sizeof line, "bench -r 1 %s", over[i]);
    r = run(line);
    ck_assert_msg(
      r.status == 1 && strstr(r.err, "the context holds 64") != NULL, "%s: %s", line, r.err);
    done(&r);
  }
}
END_TEST

/* with a token that begins a text, that token is there and is not scored; one that ends a text is
   not there; a file of one token can be scored only behind a beginning */
static void make_begun(void)
{
  static const char *const name[] = { "begun", "closed" };
  for (int i = 0; i < 2; i++) {
    char path[8192], post[700];
    make_marked(place(path, name[i], NULL), 0);
    snprintf(post, sizeof post,
      "{\"type\":\"TemplateProcessing\","
      "\"single\":[{\"SpecialToken\":{\"id\":"
      "\"b\"}},{\"Sequence\":{\"id\":\"A\"}}%s],\"special_tokens\":{\"b\":{\"id\":\"b\","
      "\"ids\":[284]},"
      "\"e\":{\"id\":\"e\",\"ids\":[285]}}}",
      i ? ",{\"SpecialToken\":{\"id\":\"e\"}}" : "");
    set_field(name[i], "tokenizer.json", "post_processor", post);
  }
}
START_TEST(a_beginning_is_read_and_not_scored)
{
  static const char *const model[] = { "@/marked", "@/begun", "@/closed" };
  static const char *const text[] = { "The cat sat on", "T" };
  char line[9000], path[8192];
  make_begun();
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++) {
      spill_file("begun", "text", text[k], 0);
      snprintf(line, sizeof line, "tokenize '%s' --no-special --json -m %s", text[k], model[i]);
      struct run t = run(line);
      json_t *cut = object_of(&t), *ids = json_object_get(cut, "ids");
      if (i > 0) json_array_insert_new(ids, 0, json_integer(284));
      char *list = json_dumps(ids, JSON_COMPACT);
      snprintf(line, sizeof line, "probe logprob -m %s <{\"ids\":%s}", model[i], list);
      struct run q = run(line);
      snprintf(
        line, sizeof line, "perplexity %s -m %s --json", place(path, "begun", "text"), model[i]);
      struct run r = run(line);
      size_t n = json_array_size(ids) - 1;
      if (n == 0)
        ck_assert_msg(r.status == 1 && strstr(r.err, "no token to score"), "%s", r.err);
      else {
        json_t *p = object_of(&r), *said = object_of(&q);
        double sum = json_real_value(json_object_get(said, "sum"));
        ck_assert_int_eq(json_integer_value(json_object_get(p, "tokens")), (int) n);
        ck_assert_double_eq(json_real_value(json_object_get(p, "mean_loss")), -sum / (double) n);
        ck_assert_double_eq_tol(json_real_value(json_object_get(p, "bits_per_byte")),
          -sum / log(2) / (double) strlen(text[k]), 1e-12);
        json_decref(p), json_decref(said);
      }
      free(list), json_decref(cut), done(&t), done(&q), done(&r);
    }
}
END_TEST

/* windows of eight tokens, as far apart as was asked; in words the same numbers as in JSON */
START_TEST(windows_as_far_apart_as_asked)
{
  static const struct {
    int stride, windows;
  } c[] = { { 8, 3 }, { 4, 4 }, { 2, 7 }, { 1, 13 } };
  char line[9000], path[8192], told[300];
  spill_file("empty", "windows", "!#%')+!#%')+!#%')+!#", 20);
  place(path, "empty", "windows");
  for (int i = 0; i < 4; i++) {
    snprintf(line, sizeof line, "perplexity %s --context 8 --stride %d --json", path, c[i].stride);
    struct run r = run(line);
    json_t *o = object_of(&r);
    int64_t tokens = json_integer_value(json_object_get(o, "tokens"));
    ck_assert_msg(json_integer_value(json_object_get(o, "windows")) == c[i].windows, "%s", r.out);
    snprintf(told, sizeof told,
      "%-14s %d\n%-14s 20\n%-14s %d\n%-14s %.6f\n%-14s %.4f\n%-14s "
      "%.6f\n",
      "tokens", (int) tokens, "bytes", "windows", c[i].windows, "mean loss",
      json_real_value(json_object_get(o, "mean_loss")), "perplexity",
      exp(json_real_value(json_object_get(o, "mean_loss"))), "bits per byte",
      json_real_value(json_object_get(o, "bits_per_byte")));
    snprintf(line, sizeof line, "perplexity %s --context 8 --stride %d", path, c[i].stride);
    struct run t = run(line);
    ck_assert_str_eq(t.out, told);
    done(&t);
    line[strlen(line) - strlen(" --stride 8")] = '\0'; /* the stride of the context is usual */
    t = run(line);
    ck_assert_int_eq(strcmp(t.out, told) == 0, c[i].stride == 8);
    json_decref(o), done(&r), done(&t);
  }
  unlink(path);
}
END_TEST

/* a second text begins anew: in the middle of no stop string, with no token written, with no end
   that the first one had.  All texts of a greedy company are alike. */
START_TEST(a_second_text_begins_anew)
{
  static const struct {
    const char *words;
    size_t tokens;
    const char *text, *stop;
  } c[] = { { "-n 3 --stop 'mat on'", 3, " on the mat", NULL },
    { "-n 3 --stop 't on'", 3, " on the mat", NULL },
    { "-n 4 --min-tokens 2 --stop ' on'", 4, " on the mat.", NULL },
    { "-n 4 --min-tokens 1 --stop ' the' --stop ' mat'", 2, " on", " the" },
    { "-n 4 --stop 'q' --stop ' mat'", 3, " on the", " mat" },
    { "-n 4 --stop 'mat on' --stop '.' --include-stop", 4, " on the mat.", "." },
    { "-n 3 --stop-on-repetition 1", 3, " on the mat", NULL } };
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    char line[200];
    snprintf(line, sizeof line, "generate 'The cat sat' --num-sequences 3 --json %s", c[i].words);
    struct run r = run(line);
    json_t *o = object_of(&r), *all = json_object_get(o, "sequences");
    for (size_t k = 0; k < 3; k++) {
      json_t *s = json_array_get(all, k), *stop = json_object_get(s, "stop");
      ck_assert_msg(
        json_array_size(json_object_get(s, "ids")) == c[i].tokens, "%s: %s", line, r.out);
      ck_assert_str_eq(json_string_value(json_object_get(s, "text")), c[i].text);
      const char *found = json_string_value(json_object_get(stop, "string"));
      if (c[i].stop == NULL)
        ck_assert_msg(json_is_null(stop), "%s: %s", line, r.out);
      else
        ck_assert_msg(found != NULL && strcmp(found, c[i].stop) == 0, "%s: %s", line, r.out);
    }
    json_decref(o), done(&r);
  }
  /* sampled, each text of a company is what the protocol gives for its number alone */
  unsigned stopped = 0, other = 0;
  for (int seed = 0; seed < 12; seed++) {
    char line[300];
    static const char *const stop[] = { "t", "o", "e", "a" };
    snprintf(line, sizeof line,
      "generate The --temp 2 -s %d -n 6 --num-sequences 4 --json --stop "
      "'%s'",
      seed, stop[seed % 4]);
    struct run r = run(line);
    json_t *o = object_of(&r), *all = json_object_get(o, "sequences");
    for (size_t k = 0; k < 4; k++) {
      json_t *s = json_array_get(all, k), *is = json_object_get(s, "stop");
      snprintf(line, sizeof line,
        "probe generate <{\"ids\":[262],\"max_tokens\":6,\"params\":{"
        "\"temperature\":2},\"seed\":%d,\"sequence\":%zu,\"stop\":[\"%s\"]}",
        seed, k, stop[seed % 4]);
      struct run p = run(line);
      json_t *a = object_of(&p), *reason = json_object_get(a, "stop_reason");
      ck_assert_msg(json_equal(json_object_get(s, "ids"), json_object_get(a, "ids")), "%s", line);
      ck_assert(json_equal(json_object_get(s, "text"), json_object_get(a, "text")));
      ck_assert(json_equal(json_object_get(s, "finish_reason"), json_object_get(a, "finish")));
      ck_assert_int_eq(json_is_object(is), json_is_string(reason));
      ck_assert_int_eq(json_is_string(is), json_is_integer(reason));
      stopped += json_is_object(is), other += !json_is_object(is);
      json_decref(a), done(&p);
    }
    json_decref(o), done(&r);
  }
  ck_assert_msg(stopped > 10 && other > 5, "%u stopped, %u not", stopped, other);
  /* and its log-probabilities are its own */
  struct run r = run("generate --prompt-ids 262 --temp 2 -n 6 --num-sequences 3 --json --logprobs "
                     "1");
  json_t *o = object_of(&r), *all = json_object_get(o, "sequences");
  for (size_t k = 0; k < 3; k++) {
    json_t *x = json_array_get(all, k), *ids = json_object_get(x, "ids");
    json_t *odds = json_object_get(x, "logprobs");
    json_array_insert_new(ids, 0, json_integer(262));
    char *list = json_dumps(ids, JSON_COMPACT), line[300];
    snprintf(line, sizeof line, "probe logprob <{\"ids\":%s}", list);
    struct run p = run(line);
    json_t *a = object_of(&p), *want = json_object_get(a, "logprobs");
    for (size_t i = 1; i < json_array_size(ids); i++)
      ck_assert_double_eq_tol(json_number_value(json_array_get(want, i)),
        json_number_value(json_object_get(json_array_get(odds, i - 1), "logprob")), 1e-9);
    free(list), json_decref(a), done(&p);
  }
  json_decref(o), done(&r);
}
END_TEST

/* every beam has its own score: those of the protocol, whose second prompt has its own, too; as
   many texts as beams, and one more */
START_TEST(every_beam_has_its_score)
{
  struct run r = run("generate --prompt-ids 262,270 -n 5 --num-beams 4 --num-sequences 4 --json");
  struct run p = run("probe beam -m tests/golden/small <{\"prompt\":[[262,270],[1,2]],\"eos\":[0],"
                     "\"max_length\":7,\"num_beams\":4,\"num_return_sequences\":4}");
  struct run q = run("probe beam -m tests/golden/small <{\"prompt\":[[1,2]],\"eos\":[0],"
                     "\"max_length\":7,\"num_beams\":4,\"num_return_sequences\":4}");
  json_t *o = object_of(&r), *a = object_of(&p), *b = object_of(&q),
         *all = json_object_get(o, "sequences");
  json_t *two = json_object_get(a, "scores"), *one = json_object_get(b, "scores");
  ck_assert_msg(json_array_size(all) == 4 && json_array_size(two) == 8, "%s%s", r.out, p.out);
  for (size_t i = 0; i < 4; i++) {
    json_t *score = json_object_get(json_array_get(all, i), "score"),
           *want = json_array_get(two, i);
    ck_assert_msg(json_equal(score, want), "%zu: %s%s", i, r.out, p.out);
    ck_assert_msg(
      json_equal(json_array_get(two, 4 + i), json_array_get(one, i)), "%zu: %s", i, p.out);
    ck_assert(i == 0 || !json_equal(want, json_array_get(two, i - 1)));
    ck_assert(!json_equal(want, json_array_get(one, i)));
  }
  json_decref(o), json_decref(a), json_decref(b), done(&r), done(&p), done(&q);
  r = run("generate The -n 2 --num-beams 4 --num-sequences 5");
  ck_assert_msg(
    r.status == 2 && strstr(r.err, "is 5; wanted: 1 to 4, the number") != NULL, "%s", r.err);
  done(&r);
}
END_TEST

/* a line ends with an option that nobody knows: whatever else is refused comes first */
static void takes(const char *words, bool good, const char *said)
{
  char line[4096];
  snprintf(line, sizeof line, "%s --nonsense", words);
  struct run r = run(line);
  bool read = strstr(r.err, "has no option --nonsense") != NULL;
  ck_assert_msg(r.status == 2 && r.n_out == 0 && read == good, "%.200s: %s", words, r.err);
  ck_assert_msg(good || strstr(r.err, said) != NULL, "%.200s: %s; wanted: %s", words, r.err, said);
  done(&r);
}
/* every number of every subcommand: its least and its most are taken, one less and one more are
   not */
START_TEST(numbers_at_their_limits)
{
  for (int s = 0; s < N_SUBCOMMANDS; s++)
    for (int o = 0; o < N_OPTIONS; o++) {
      const struct option_entry *x = options_option((enum option) o);
      char words[200], said[200];
      if ((x->where >> s & 1) == 0 || x->max == 0) continue;
      snprintf(
        words, sizeof words, "%s --%s ", options_subcommand((enum subcommand) s)->name, x->name);
      char *at = words + strlen(words);
      sprintf(at, "%" PRIu64, x->min), takes(words, true, NULL);
      sprintf(at, "%" PRIu64, x->max), takes(words, true, NULL);
      sprintf(at, "%" PRIu64, x->max + 1);
      if (x->max == INT64_MAX)
        sprintf(said, "%s'; wanted: an integer from %" PRIu64 " on", at, x->min);
      else
        sprintf(said, "%s'; wanted: an integer from %" PRIu64 " to %" PRIu64, at, x->min, x->max);
      takes(words, false, said);
      if (x->min > 0) sprintf(at, "%" PRIu64, x->min - 1), takes(words, false, x->name);
      sprintf(at, "18446744073709551617"), takes(words, false, x->name);
    }
  static const struct {
    const char *words, *said;
  } c[] = { { "generate --length-penalty 1000", NULL }, { "generate --length-penalty -1000", NULL },
    { "generate --length-penalty 1000.001", "-1000 to 1000" },
    { "generate --seed 9223372036854775807", NULL },
    { "generate --length-penalty -1000.001", "-1000 to 1000" },
    { "generate --seed 9223372036854775808", "0 to 9223372036854775807" },
    { "generate --penalty-last-n 9223372036854775807", NULL },
    { "generate --penalty-last-n -1", NULL },
    { "generate --penalty-last-n 9223372036854775808", "-1 for all" },
    { "generate --penalty-last-n -2", "-1 for all" } };
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) takes(c[i].words, c[i].said == NULL, c[i].said);
  char words[200] = "generate --logit-bias 5=";
  for (size_t n = strlen(words), k = 1; k < 66; k++) {
    words[n + k - 1] = k == 2 ? '.' : '1', words[n + k] = '\0';
    takes(words, k != 2 ? k < 64 : true, "wanted: ID=B");
  }
  struct run r = run("generate --prompt-ids 4294967295 -n 1"),
             t = run("generate --prompt-ids 4294967296");
  ck_assert_msg(strstr(r.err, "has id 4294967295; wanted: 0 to 285") != NULL, "%s", r.err);
  ck_assert_msg(strstr(t.err, "--prompt-ids is `4294967296'; wanted: ids") != NULL, "%s", t.err);
  done(&r), done(&t);
}
END_TEST

/* sixty-four stop strings and biases in all, and one more; a list that is just full is all used */
START_TEST(as_many_options_as_there_is_room_for)
{
  for (int n = 63; n < 67; n++)
    for (int mixed = 0; mixed < 2; mixed++) {
      char words[2048] = "generate";
      for (int i = 0; i < n; i++)
        snprintf(
          words + strlen(words), 40, mixed && i % 2 ? " --logit-bias %d=1" : " --stop x%d", i);
      static const char said[] = "--stop is given more than 64 times";
      takes(words, n <= 64, said);
    }
  char line[2048] = "generate 'The cat sat' -n 4 --json";
  for (int i = 0; i < 63; i++) snprintf(line + strlen(line), 20, " --stop x%d", i);
  strcat(line, " --stop ' mat'");
  struct run r = run(line);
  json_t *o = object_of(&r), *s = json_array_get(json_object_get(o, "sequences"), 0);
  ck_assert_str_eq(json_string_value(json_object_get(s, "text")), " on the");
  json_decref(o), done(&r);
}
END_TEST

/* which of two names a sentence blames */
START_TEST(a_sentence_blames_the_right_name)
{
  static const struct {
    const char *line;
    int status;
    const char *said;
  } c[] = { { "generate --file x --prompt y", 2, "incipit: --prompt contradicts --file\n" },
    { "generate --prompt y --file x", 2, "incipit: --prompt contradicts --file\n" },
    { "generate --jsonl --json x", 2, "incipit: --json contradicts --jsonl\n" },
    { "generate --prompt y x", 2, "incipit: --prompt contradicts `x'\n" },
    { "generate --sinks 2 x", 2, "incipit: --sinks needs --window\n" },
    { "tokenize --vocab-size 300 x", 2, "incipit: --vocab-size needs --train\n" },
    { "tokenize --train x", 2, "incipit: --train needs --vocab-size\n" },
    { "tokenize --train x --vocab-size 300", 2, "incipit: --train needs --out\n" },
    { "generate x --top-x 2", 2, "the nearest is --top-k\n" },
    { "trace x --otp 3", 2, "is --top\n" },
    { "generate x --mni-p 1", 2, "the nearest is --min-p\n" },
    { "tarce x", 2, "the nearest is trace\n" }, { "hlep", 2, "the nearest is help\n" },
    { "memory --kv-heads 2", 2, "incipit: --layers is missing" },
    { "memory --layers 2", 2, "incipit: --heads is missing" },
    { "memory --layers 2 --heads 6", 2, "incipit: --head-dim is missing" },
    { "memory --layers 2 --heads 6 --head-dim 8 --kv-heads 4", 2,
      "incipit: 6 heads of queries for 4 of keys and values; wanted: a multiple\n" },
    { "generate --prompt-ids 1,286,287 -n 1", 2, "--prompt-ids has id 286; wanted: 0 to 285\n" },
    { "tokenize --ids 285,286", 2, "--ids has id 286; wanted: 0 to 285\n" },
    { "generate x --logit-bias 285=1,286=2", 2, "--logit-bias has id 286; wanted: 0 to 285\n" },
    { "bench -d 60 -p 4 -n 9", 1, "incipit: --n-gen 9 behind 60 tokens; the context holds 64\n" },
    { "bench -d 60 -p 9 -n 9", 1,
      "incipit: --n-prompt 9 behind 60 tokens; the context holds "
      "64\n" } };
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    struct run r = run(c[i].line);
    ck_assert_msg(r.status == c[i].status && strstr(r.err, c[i].said) != NULL,
      "%s: %d %s; wanted: %s", c[i].line, r.status, r.err, c[i].said);
    done(&r);
  }
  /* at temperature 0 each of these has no effect, and is named itself */
  static const char *const idle[] = { "top-k 3", "top-p 0.5", "min-p 0.1", "typical-p 0.5",
    "seed 3" };
  for (size_t i = 0; i < 5; i++) {
    char line[100], want[100];
    snprintf(line, sizeof line, "generate x -n 1 --%s", idle[i]);
    snprintf(
      want, sizeof want, "hint: --%.*s changes nothing", (int) strcspn(idle[i], " "), idle[i]);
    struct run r = run(line);
    ck_assert_msg(
      strstr(r.err, want) != NULL && strchr(r.err, '\n')[1] == '\0', "%s: %s", line, r.err);
    done(&r);
  }
}
END_TEST

/* the likeliest come first, of equals the lower id; the rank of the chosen counts in the same way
 */
START_TEST(of_equal_candidates_the_lower_id_comes_first)
{
  uint64_t seed = suite_seed() + 60;
  for (int round = 0; round < 3000; round++) {
    double logprob[20];
    struct candidate out[24];
    size_t n = 1 + rnd(&seed) % 20, k = rnd(&seed) % (n + 1);
    for (size_t v = 0; v < n; v++)
      logprob[v] = rnd(&seed) % 8 == 0 ? -INFINITY : -(double) (rnd(&seed) % 4);
    uint32_t chosen = (uint32_t) (rnd(&seed) % n);
    prompt_candidates(logprob, n, chosen, out, k);
    for (size_t v = 0; v < n; v++) {
      size_t rank = 1;
      for (size_t w = 0; w < n; w++)
        rank += logprob[w] > logprob[v] || (logprob[w] == logprob[v] && w < v);
      if (v == chosen) ck_assert_msg(out[0].id == v && out[0].rank == rank, "round %d", round);
      if (rank <= k) ck_assert_msg(out[rank].id == v && out[rank].rank == rank, "round %d", round);
      if (rank <= k) ck_assert(memcmp(&out[rank].logprob, &logprob[v], sizeof(double)) == 0);
    }
  }
}
END_TEST

/* every character in quotation marks, for the eye and for JSON: control characters are escaped,
   those just before and just behind them are not */
START_TEST(characters_at_the_edge_of_text)
{
  for (uint32_t c = 1; c < 0x3000; c++) {
    unsigned char b[4];
    size_t n = 0, size;
    char *got, want[40] = "\"";
    if (c < 0x80)
      b[n++] = (unsigned char) c;
    else if (c < 0x800)
      b[n++] = (unsigned char) (0xc0 | c >> 6);
    else
      b[n++] = (unsigned char) (0xe0 | c >> 12), b[n++] = (unsigned char) (0x80 | (c >> 6 & 63));
    if (c >= 0x80) b[n++] = (unsigned char) (0x80 | (c & 63));
    FILE *f = open_memstream(&got, &size);
    prompt_quote_piece(f, b, n), fclose(f);
    bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    if (c == '\n' || c == '\t')
      strcat(want, c == '\n' ? "\\n" : "\\t");
    else if (c == '"' || c == '\\')
      sprintf(want, "\"\\%c", (char) c);
    else
      for (size_t i = 0; i < n; i++) sprintf(want + strlen(want), control ? "\\x%02x" : "%c", b[i]);
    strcat(want, "\"");
    ck_assert_msg(strcmp(got, want) == 0, "U+%04X: %s; wanted: %s", c, got, want);
    free(got);
  }
  char text[130] = "";
  for (int c = 1; c < 128; c++) text[c - 1] = (char) c;
  char *argv[] = { "incipit", "tokenize", text, "--json", NULL };
  struct run r = run_words(4, argv, "", 0, 0, 0, "incipit");
  json_t *o = object_of(&r), *pieces = json_object_get(o, "pieces");
  char back[130] = "";
  for (size_t i = 0; i < json_array_size(pieces); i++)
    strcat(back, json_string_value(json_array_get(pieces, i)));
  ck_assert_str_eq(back, text);
  for (size_t i = 0; i + 1 < r.n_out; i++)
    ck_assert_msg((unsigned char) r.out[i] >= 0x20 && r.out[i] != 0x7f, "%s", r.out);
  ck_assert(strstr(r.out, "\\u007f") && strstr(r.out, "\\u001f") && strstr(r.out, "\\u0001"));
  json_decref(o), done(&r);
}
END_TEST

/* a question, and what its answer says: integers longer than 63 bits are numbers all the same, and
   what looks like one in a text stays as it is; lists and depths just full, and one more */
START_TEST(questions_at_their_limits)
{
  static const struct {
    const char *kind, *in, *says;
  } c[] = { { "sample", "{\"logits\":[9223372036854775807,1]}", "\"token\":0" },
    { "sample", "{\"logits\":[9223372036854775808,1]}", "\"token\":0" },
    { "sample", "{\"logits\":[-9223372036854775809,1]}", "\"token\":1" },
    { "sample", "{\"logits\":[1,9999999999999999999,2]}", "\"token\":1" },
    { "sample", "{\"logits\":[1,12345678901234567890123]}", "\"token\":1" },
    { "sample", "{\"logits\":[9223372036854775808,1e0000000000000000000038]}", "\"token\":1" },
    { "sample", "{\"logits\":[9223372036854775808,1E+0000000000000000000038]}", "\"token\":1" },
    { "sample", "{\"logits\":[9223372036854775808,1e-0000000000000000000038]}", "\"token\":0" },
    { "sample", "{\"logits\":[9223372036854775808,1.0000000000000000000001e20]}", "\"token\":1" },
    { "sample", "{\"logits\":[9223372036854775808],\"seed\":9223372036854775808}",
      "\"seed\\\" is" },
    { "sample", "{\"logits\":[1],\"seed\":9223372036854775807}", "\"token\":0" },
    { "process", "{\"op\":\"\\\"9223372036854775808\\\\\",\"logits\":[9223372036854775808]}",
      "`\\\"9223372036854775808\\\\'" },
    { "process", "{\"op\":\"\\\\\\\"9223372036854775808 1\",\"logits\":[9223372036854775808]}",
      "`\\\\\\\"9223372036854775808 1'" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"0\":9}}}", "\"token\":0" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"2\":9}}}", "\"token\":2" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"3\":9}}}",
      "id \\\"3\\\"; wanted: 0 to 2" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"02\":9}}}", "id \\\"02\\\"" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"00\":9}}}", "id \\\"00\\\"" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"\":9}}}", "id \\\"\\\"" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"+1\":9}}}", "id \\\"+1\\\"" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"1 \":9}}}", "id \\\"1 \\\"" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"18446744073709551617\":9}}}",
      "id \\\"18" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"samplers\":[\"bias\",7]}}",
      "\\\"samplers\\\"[1] is no" },
    { "sample", "{\"logits\":[1,2],\"ids\":[1,1],\"prompt_length\":2}", "\"token\":" },
    { "sample", "{\"logits\":[1,2],\"ids\":[1,1],\"prompt_length\":3}", "is 3; wanted: 0 to 2" },
    { "sample", "{\"logits\":[1,2],\"ids\":[1,2]}", "\\\"ids\\\"[1] is no id" },
    { "sample", "{\"logits\":[1],\"position\":4294967295,\"sequence\":4294967295}", "\"token\":0" },
    { "sample", "{\"logits\":[1],\"position\":4294967296}", "\\\"position\\\" is 4294967296" },
    { "philox", "{\"key\":[4294967295,0],\"counter\":[0,0,0,4294967295]}", "\"out\":[" },
    { "philox", "{\"key\":[1,4294967296],\"counter\":[0,0,0,0]}", "\\\"key\\\"[1] is no word" },
    { "philox", "{\"key\":[1,2],\"counter\":[0,0,0,4294967296]}", "\\\"counter\\\"[3] is no word" },
    { "philox", "{\"key\":[1,2],\"counter\":[0,0,0]}", "has 3 words; wanted: 4" },
    { "quantize", "{\"type\":\"f16\",\"hex\":\"FF7b\"}", "\"x\":[65504.0]" },
    { "quantize", "{\"type\":\"f16\",\"hex\":\"aAbB\"}", "\"x\":[-0.958" },
    { "quantize", "{\"type\":\"f16\",\"hex\":\"003C\"}", "\"x\":[1.0]" },
    { "quantize", "{\"type\":\"bf16\",\"hex\":\"803F0\"}", "two digits for each" },
    { "quantize", "{\"type\":\"bf16\",\"hex\":\"803f00\"}",
      "3 bytes in bf16; wanted: a multiple "
      "of 2" },
    { "forward", "{\"ids\":[1,2],\"rows\":[2]}",
      "\\\"rows\\\"[0] is no row; wanted: an integer "
      "from 0 to 1" },
    { "forward", "{\"ids\":[1,2],\"rows\":[1,-1]}", "\\\"rows\\\"[1] is no row" },
    { "forward", "{\"ids\":[1],\"mates\":[[2],[]]}", "\\\"mates\\\" has a text without ids" },
    { "forward", "{\"ids\":[],\"mates\":[[2]]}", "\\\"ids\\\" has a text without ids" },
    { "forward", "{\"ids\":[1],\"mates\":[[2],[286]]}",
      "\\\"mates\\\"[0] is no id; wanted: an "
      "integer from 0" },
    { "stop", "{\"pieces\":[\"ab\",\"c\"],\"stop\":[\"q\",\"\"]}", "\\\"stop\\\"[1] is no string" },
    { "stop", "{\"pieces\":[\"ab\",\"ca\"],\"stop\":[\"ax\"]}", "\"deltas\":[\"ab\",\"ca\"]" },
    { "stop", "{\"pieces\":[\"xa\",\"bx\"],\"stop\":[\"q\",\"ab\"]}",
      "\"deltas\":[\"x\",\"\"],\"text\":\"x\"" },
    { "beam",
      "{\"V\":65535,\"P\":1,\"table\":[],\"prompt\":[],\"eos\":[],\"max_length\":1,"
      "\"num_beams\":1}",
      "0 sheets" },
    { "beam",
      "{\"V\":65536,\"P\":1,\"table\":[],\"prompt\":[],\"eos\":[],\"max_length\":1,"
      "\"num_beams\":1}",
      "\\\"V\\\" is 65536" },
    { "beam",
      "{\"V\":1,\"P\":65536,\"table\":[],\"prompt\":[],\"eos\":[],\"max_length\":1,"
      "\"num_beams\":1}",
      "\\\"P\\\" is 65536" } };
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    char *argv[] = { "incipit", "probe", (char *) c[i].kind, NULL };
    struct run r = run_words(3, argv, c[i].in, strlen(c[i].in), 0, 0, "incipit");
    ck_assert_msg(r.status == 0 && strstr(r.out, c[i].says), "%s: %s%s; wanted: %s", c[i].in, r.out,
      r.err, c[i].says);
    done(&r);
  }
  for (int depth = JSONFILE_MAX_DEPTH - 1; depth <= JSONFILE_MAX_DEPTH + 1; depth++) {
    char in[400] = "{\"x\":", *argv[] = { "incipit", "probe", "philox", NULL };
    for (int i = 1; i < depth; i++) strcat(in, i % 2 ? "[" : "{\"y\":");
    if (depth % 2) strcat(in, "1"); /* an object needs a value, a list needs none */
    for (int i = depth - 1; i > 0; i--) strcat(in, i % 2 ? "]" : "}");
    strcat(in, "}");
    struct run r = run_words(3, argv, in, strlen(in), 0, 0, "incipit");
    const char *want =
      depth <= JSONFILE_MAX_DEPTH ? "is no key here" : "this line has 65 brackets in each other";
    ck_assert_msg(strstr(r.out, want) != NULL, "%d: %s %s", depth, in, r.out);
    done(&r);
  }
}
END_TEST

/* lines and streams as long as the rooms that they are read with, and a byte less and more */
START_TEST(lines_as_long_as_a_room)
{
  for (size_t n = 4094; n <= 8194; n += n == 4098 ? 8190 - 4098 : 1) {
    char *text = malloc(n + 40), *argv[] = { "incipit", "tokenize", "-", "--count", NULL };
    for (size_t i = 0; i < n; i++) text[i] = (char) ('!' + i % 7 * 2);
    struct run r = run_words(4, argv, text, n, 0, 0, "incipit");
    ck_assert_uint_eq(strtoul(r.out, NULL, 10), n);
    done(&r);
    size_t head = strlen("{\"text\":\""), body = n - head - 2;
    char *lines = malloc(2 * n + 4), *p = lines;
    for (int k = 0; k < 2; k++) {
      p += sprintf(p, "{\"text\":\"");
      for (size_t i = 0; i < body; i++) *p++ = (char) (k ? 'b' : 'a');
      p += sprintf(p, "\"}\n");
    }
    r = probe("tokenize", "tests/golden/small", lines, (size_t) (p - lines));
    for (size_t k = 0; k < 2; k++) {
      json_t *a = answer_at(r.out, k), *ids = json_object_get(a, "ids");
      static char all[60000];
      size_t at = 0;
      for (size_t i = 0; i < json_array_size(ids); i++)
        at += (size_t) sprintf(
          all + at, "%s%d", i ? "," : "", (int) json_integer_value(json_array_get(ids, i)));
      char *back[] = { "incipit", "tokenize", "--ids", all, NULL };
      struct run b = run_words(4, back, "", 0, 0, 0, "incipit");
      ck_assert_msg(
        b.n_out == body && strspn(b.out, k ? "b" : "a") == body, "%zu of %zu", b.n_out, body);
      json_decref(a), done(&b);
    }
    free(text), free(lines), done(&r);
  }
}
END_TEST

/* what a model's files say of tokens that begin and end, each once and in its role; a window that
   every layer has is counted for each */
START_TEST(special_tokens_are_listed_once)
{
  make_begun();
  static const struct {
    const char *model, *eos, *list;
  } c[] = { { "begun", "0",
              "0 eos generation_config.json|284 bos tokenizer.json|285 special "
              "tokenizer.json|" },
    { "closed", "0",
      "0 eos generation_config.json|284 bos tokenizer.json|285 special "
      "tokenizer.json|" },
    { "begun", "[0,285]",
      "0 eos generation_config.json|285 eos generation_config.json|"
      "284 bos tokenizer.json|" },
    { "begun", "[285,284]",
      "285 eos generation_config.json|284 eos generation_config.json|"
      "284 bos tokenizer.json|0 special tokenizer.json|" } };
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    char line[200], list[400] = "";
    set_field(c[i].model, "generation_config.json", "eos_token_id", c[i].eos);
    snprintf(line, sizeof line, "inspect @/%s --json", c[i].model);
    struct run r = run(line);
    json_t *o = object_of(&r), *all = json_object_get(json_object_get(o, "tokenizer"), "special"),
           *x;
    size_t k;
    json_array_foreach(all, k, x) snprintf(list + strlen(list), 80, "%d %s %s|",
      (int) json_integer_value(json_object_get(x, "id")),
      json_string_value(json_object_get(x, "role")), json_string_value(json_object_get(x, "from")));
    ck_assert_str_eq(list, c[i].list);
    json_decref(o), done(&r);
  }
  static const struct {
    const char *model;
    int64_t layers;
  } w[] = { { "mistral", 2 }, { "qwen3-layers", 2 }, { "llama", 0 } };
  for (size_t i = 0; i < 3; i++) {
    char line[100];
    snprintf(line, sizeof line, "inspect tests/golden/%s --json", w[i].model);
    struct run r = run(line);
    json_t *o = object_of(&r);
    ck_assert_int_eq(number_at(o, "config", "window_layers"), w[i].layers);
    json_decref(o), done(&r);
  }
}
END_TEST

/* a text that has just as many pairs as are asked for, one more and one less */
START_TEST(a_text_with_just_enough_pairs)
{
  char path[8192], line[9000], said[200];
  spill_file("empty", "pairs", "abababab cdcdcdcd", 0);
  size_t has = 0;
  for (int step = 0; step < 4; step++) {
    size_t asked = step == 0 ? 40 : has + 2 - (size_t) step;
    snprintf(line, sizeof line, "tokenize --train %s --vocab-size %zu --out @/learnt",
      place(path, "empty", "pairs"), 257 + asked);
    struct run r = run(line);
    if (step == 0) has = strtoul(strstr(r.err, "of them ") + 8, NULL, 10);
    size_t n = asked < has ? asked : has;
    snprintf(said, sizeof said, ": %zu ids, of them %zu merges%s\n", 257 + n, n,
      asked > has ? "; the text has no more pairs" : "");
    ck_assert_msg(has > 3 && has < 40 && strstr(r.err, said) != NULL, "%zu: %s; wanted: %s", asked,
      r.err, said);
    done(&r);
  }
  unlink(place(path, "empty", "pairs"));
}
END_TEST

/* budgets that are just enough, amounts where a unit begins, a bound of the workers */
START_TEST(amounts_where_a_unit_begins)
{
  static const struct {
    const char *size, *said;
  } c[] = { { "999", "budget                                     999\n" },
    { "1000", "budget                                    1000     1.000 kB\n" },
    { "1023", "budget                                    1023     1.023 kB\n" },
    { "1024", "budget                                    1024     1.024 kB     1.000 KiB\n" },
    { "999999", "budget                                  999999   999.999 kB   976.562 KiB\n" },
    { "1000000", "budget                                 1000000     1.000 MB   976.562 KiB\n" },
    { "1048576", "budget                                 1048576     1.049 MB     1.000 MiB\n" } };
  char line[200], said[200];
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    snprintf(line, sizeof line, "memory --shape gpt2 --budget %s", c[i].size);
    struct run r = run(line);
    ck_assert_msg(strstr(r.out, c[i].said) != NULL, "%s: %s", line, r.out);
    done(&r);
  }
  struct run most = run("memory --shape gpt2 --budget 4194303TiB");
  /* 2^62 bytes are too many */
  struct run over = run("memory --shape gpt2 --budget 4194304TiB");
  ck_assert_msg(strstr(most.out, "budget                     4611684918915760128") != NULL, "%s%s",
    most.out, most.err);
  ck_assert_msg(
    over.status == 2 && strstr(over.err, "--budget `4194304TiB'") != NULL, "%s", over.err);
  done(&most), done(&over);
  int64_t field[9];
  account_of("memory --shape gpt2 --json", field);
  for (int64_t k = -1; k < 2; k++) {
    snprintf(line, sizeof line, "memory --shape gpt2 --budget %" PRId64, field[6] + k);
    snprintf(said, sizeof said, "too much by %*s1\n", 33, "");
    struct run r = run(line);
    ck_assert_msg((strstr(r.out, "too much by") != NULL) == (k < 0), "%s: %s", line, r.out);
    ck_assert_msg(k >= 0 || strstr(r.out, said) != NULL, "%s: %s", line, r.out);
    ck_assert_msg(
      (strstr(r.out, "at most 1024 tokens each") != NULL) == (k >= 0), "%s: %s", line, r.out);
    done(&r);
  }
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
  static const char *const asked[] = { "3", "1024", "1025", "99999" },
                           *const got[] = { "3", "1024", "1024", "1024" };
  for (int i = 0; i < 4; i++) {
    setenv("OMP_NUM_THREADS", asked[i], 1);
    struct run r = run("generate --prompt-ids 1 -n 0 --stats");
    snprintf(said, sizeof said, "%-28s %s\n", "workers", got[i]);
    ck_assert_msg(r.status == 0 && strstr(r.err, said) != NULL, "%s: %s", asked[i], r.err);
    done(&r);
  }
  unsetenv("OMP_NUM_THREADS");
#endif
}
END_TEST

/* a vocabulary that loses the first blank of a text loses it where a text begins, and not behind a
   prompt: so what must match is written as it is, in as few tokens as that takes */
START_TEST(a_first_blank_is_lost_only_at_the_beginning)
{
  static const char tokenizer[] =
    "{\"added_tokens\":[{\"id\":0,\"content\":\"<e>\","
    "\"special\":true}],"
    "\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},"
    "\"content\":\"\xe2\x96\x81\"},"
    "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\","
    "\"pattern\":{\"String\":"
    "\"\xe2\x96\x81\"},\"content\":\" \"},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" "
    "\","
    "\"start\":1,\"stop\":0}]},\"model\":{\"type\":\"BPE\",\"vocab\":{\"<e>\":0,\"a\":1,\"b\":2,"
    "\"\xe2\x96\x81\":3,\"ab\":4,\"\xe2\x96\x81"
    "ab\":5},\"merges\":[[\"a\",\"b\"],"
    "[\"\xe2\x96\x81\","
    "\"ab\"]]}}                                                        ";
  static const struct {
    const char *prompt, *must;
    int tokens;
    const char *text;
  } c[] = { { "a", " ab", 1, " ab" }, { "a", "ab", 1, "ab" }, { "''", "ab", 1, "ab" },
    { "''", " ab", 4, "" }, { "' '", " ab", 1, " ab" }, { "a", "  ab", 2, "  ab" } };
  variant("strips", NULL), spill_file("strips", "tokenizer.json", tokenizer, 0);
  for (size_t i = 0; i < sizeof c / sizeof *c; i++)
    for (int n = c[i].tokens - 1; n < 4; n++) {
      char line[200];
      snprintf(line, sizeof line, "generate -m @/strips -p %s --regex '%s' -n %d", c[i].prompt,
        c[i].must, n);
      struct run r = run(line);
      if (n < c[i].tokens)
        ck_assert_msg(r.status != 0 && r.n_out == 0, "%s: %s", line, r.out);
      else
        ck_assert_msg(
          r.status == 0 && strcmp(r.out, c[i].text) == 0, "%s: %s%s", line, r.out, r.err);
      done(&r);
    }
  /* and a second text begins as the first did */
  struct run r = run("generate -m @/strips -p '' -n 2 --logit-bias 5=1000 --num-sequences 3");
  ck_assert_msg(strcmp(r.out, "ab ab\nab ab\nab ab\n") == 0, "%s%s", r.out, r.err);
  done(&r);
}
END_TEST

/* a template that is null, or none, is no reason for a hint */
START_TEST(a_hint_needs_a_template)
{
  static const struct {
    const char *config;
    bool hint;
  } c[] = { { "{\"chat_template\":null}", false }, { "{}", false },
    { "{\"chat_template\":\"x\"}", true }, { "{\"chat_template\":[]}", true } };
  variant("hint", NULL);
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    spill_file("hint", "tokenizer_config.json", c[i].config, 0);
    struct run r = run("generate The -n 1 -m @/hint");
    ck_assert_msg(
      r.status == 0 && (strstr(r.err, "chat template") != NULL) == c[i].hint, "%s", r.err);
    done(&r);
  }
}
END_TEST

int main(void)
{
  setenv("INCIPIT_MODEL", "tests/golden/small", 1);
  unsetenv("INCIPIT_ISA"), unsetenv("OMP_NUM_THREADS"), unsetenv("NO_COLOR");
  make_models();
  Suite *s = suite_create("command");
  TCase *t = tcase_create("people");
  tcase_add_test(t, every_option_changes_something_and_refuses_something);
  tcase_add_test(t, refusals_are_sentences_about_the_thing);
  tcase_add_test(t, perplexity_is_what_the_log_probabilities_say);
  tcase_add_test(t, bench_counts_what_it_times);
  tcase_add_test(t, names_do_not_steer_the_terminal);
  tcase_add_test(t, what_a_terminal_and_an_environment_change);
  tcase_add_test(t, a_greeting_with_three_things_to_try);
  tcase_add_test(t, hints_are_said_once_and_to_the_eyes);
  tcase_add_test(t, without_a_model_the_built_in_one_serves);
  tcase_add_test(t, the_table_is_in_all_its_forms);
  tcase_add_test(t, examples_work_as_printed);
  suite_add_tcase(s, t);
  t = tcase_create("scripts");
  tcase_add_test(t, generate_prints_the_promised_object);
  tcase_add_test(t, jsonl_is_a_line_a_token_and_then_the_object);
  tcase_add_test(t, trace_prints_the_grid_of_the_book);
  tcase_add_test(t, tokenize_and_inspect_print_the_promised_objects);
  tcase_add_test(t, memory_says_what_the_order_says);
  tcase_add_test(t, memory_of_a_model_is_what_the_files_and_the_allocator_say);
  tcase_add_test(t, memory_in_words);
  tcase_add_test(t, twelve_shapes_are_listed_once_each);
  tcase_add_test(t, lengths_and_contexts);
  tcase_add_test(t, text_is_taken_byte_for_byte);
  tcase_add_test(t, a_cancelled_run_is_complete);
  tcase_add_test(t, every_refusal_of_memory_is_survived);
  tcase_add_test(t, every_refusal_of_the_reader_of_json_is_survived);
  tcase_add_test(t, numbers_are_the_shortest_that_read_back);
  suite_add_tcase(s, t);
  t = tcase_create("choices");
  tcase_add_test(t, texts_of_a_company_are_those_of_each_alone);
  tcase_add_test(t, a_company_cancelled_in_its_second_text);
  tcase_add_test(t, a_seed_that_was_drawn_is_told_and_can_be_had_again);
  tcase_add_test(t, what_the_makers_say_is_what_options_say);
  tcase_add_test(t, what_the_makers_say_wrongly_is_told_with_file_and_field);
  tcase_add_test(t, what_has_no_effect_is_hinted_at);
  tcase_add_test(t, a_trace_says_why);
  tcase_add_test(t, a_sampled_text_is_the_same_in_every_way);
  tcase_add_test(t, options_and_params_are_one);
  tcase_add_test(t, what_must_match_matches);
  tcase_add_test(t, stops_are_the_same_through_both_doors);
  tcase_add_test(t, pieces_and_tables_are_answered);
  suite_add_tcase(s, t);
  t = tcase_create("protocol");
  tcase_add_test(t, cases_that_travel);
  tcase_add_test(t, hostile_lines_get_one_error_each_and_change_nothing);
  tcase_add_test(t, lines_changed_at_random);
  tcase_add_test(t, forward_says_the_same_in_every_way);
  tcase_add_test(t, golden_lines_through_the_protocol);
  tcase_add_test(t, generate_and_the_protocol_are_one);
  tcase_add_test(t, blocks_are_those_of_ggml);
  tcase_add_test(t, random_questions_against_the_oracle);
  suite_add_tcase(s, t);
  t = tcase_create("processes");
  tcase_add_test(t, ctrl_c_leaves_a_whole_object);
  tcase_add_test(t, a_reader_who_has_gone_is_no_failure_to_talk_about);
  tcase_add_test(t, a_full_disk_and_a_lost_file_are_told);
  tcase_add_test(t, questions_do_not_wait_for_the_next);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, times_and_rates_are_those_of_the_clock);
  tcase_add_test(t, statistics_are_those_of_the_run);
  tcase_add_test(t, a_bench_counts_exactly);
  tcase_add_test(t, a_beginning_is_read_and_not_scored);
  tcase_add_test(t, windows_as_far_apart_as_asked);
  tcase_add_test(t, a_second_text_begins_anew);
  tcase_add_test(t, every_beam_has_its_score);
  tcase_add_test(t, numbers_at_their_limits);
  tcase_add_test(t, as_many_options_as_there_is_room_for);
  tcase_add_test(t, a_sentence_blames_the_right_name);
  tcase_add_test(t, of_equal_candidates_the_lower_id_comes_first);
  tcase_add_test(t, characters_at_the_edge_of_text);
  tcase_add_test(t, questions_at_their_limits);
  tcase_add_test(t, lines_as_long_as_a_room);
  tcase_add_test(t, special_tokens_are_listed_once);
  tcase_add_test(t, a_text_with_just_enough_pairs);
  tcase_add_test(t, amounts_where_a_unit_begins);
  tcase_add_test(t, a_first_blank_is_lost_only_at_the_beginning);
  tcase_add_test(t, a_hint_needs_a_template);
  suite_add_tcase(s, t);
  return suite_run(s);
}
