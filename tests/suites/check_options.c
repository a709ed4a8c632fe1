/* The command's options: what each changes, its limits, and the settings that come with a model. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <jansson.h>
#include "room.h"

/* a line that says the same twice, without its times */
static struct run run_twice(const char *line, int where)
{
  struct run a = run_as(line, where, 0), b = run_as(line, where, 0);
  timings_out(a.out), timings_out(b.out), timings_out(a.err), timings_out(b.err);
  ck_assert_msg(strcmp(a.out, b.out) == 0 && strcmp(a.err, b.err) == 0
      && a.m.all.requests == b.m.all.requests,
    "%s differs from itself", line);
  done(&b);
  return a;
}
/* tests/suites/options.tsv: SUBCOMMAND OPTION WITHOUT WITH WHAT REFUSED WORDS.  WITHOUT, run twice, gives
   the same twice; WITH differs from it in WHAT: out, err, screen (what goes out to a terminal), or
   memory (bytes asked of the allocator).
   REFUSED fails, and says WORDS. */
START_TEST(every_option_changes_something_and_refuses_something)
{
  static bool seen[N_SUBCOMMANDS][N_OPTIONS];
  FILE *f = fopen("tests/suites/options.tsv", "r");
  char line[8192], of_a[8192] = "";
  struct run a = { .status = 0 };
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
    while (o < N_OPTIONS && (strcmp(options_option((enum option) o).name, name) != 0
        || (options_option((enum option) o).where >> s & 1) == 0)) o++; /* some share a name */
    ck_assert_msg(
      s < N_SUBCOMMANDS && o < N_OPTIONS && (options_option((enum option) o).where >> s & 1) != 0,
      "%s --%s is not in the table", sub, name);
    seen[s][o] = true;
    int where = strcmp(what, "screen") == 0 ? ON_TERMINAL : 0;
    if (strcmp(without, of_a) != 0 || where != 0) { /* options of one subcommand often differ from one line */
      done(&a);
      a = run_twice(without, where);
      snprintf(of_a, sizeof of_a, "%s", where == 0 ? without : "");
    }
    struct run c = run_as(with, where, 0), d = run(refused);
    timings_out(c.out), timings_out(c.err);
    ck_assert_msg(a.status == 0 && c.status == 0, "%s | %s: %d %d: %s%s", without, with, a.status,
      c.status, a.err, c.err);
    bool differs = strcmp(what, "out") == 0 || where != 0 ? strcmp(a.out, c.out) != 0
      : strcmp(what, "err") == 0            ? strcmp(a.err, c.err) != 0
                                            : a.m.all.requested != c.m.all.requested;
    ck_assert_msg(differs, "%s --%s changes nothing in %s", sub, name, what);
    ck_assert_msg(d.status != 0 && strstr(d.err, words) != NULL, "%s: status %d: %s; wanted: %s",
      refused, d.status, d.err, words);
    ck_assert_uint_eq(d.n_out, 0);
    passed++;
    done(&c), done(&d);
  }
  fclose(f), done(&a);
  for (int s = 0; s < N_SUBCOMMANDS; s++)
    for (int o = 0; o < N_OPTIONS; o++)
      ck_assert_msg(s == SUB_SERVE || s == SUB_PULL /* one does not end, one wants a hub: check_serve.c, check_pull.c */
          || (options_option((enum option) o).where >> s & 1) == 0 || seen[s][o],
        "tests/suites/options.tsv lacks %s --%s", options_subcommand((enum subcommand) s)->name,
        options_option((enum option) o).name);
  tally("tests/suites/options.tsv", passed, 0, 0, "");
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
      const struct option_entry x = options_option((enum option) o);
      char words[200], said[200];
      if ((x.where >> s & 1) == 0 || x.max == 0) continue;
      bool size = x.value != NULL && strcmp(x.value, "SIZE") == 0;
      snprintf(
        words, sizeof words, "%s --%s ", options_subcommand((enum subcommand) s)->name, x.name);
      char *at = words + strlen(words);
      if (size) /* a bare number below a million is no size */
        sprintf(at, "%" PRIu64 "B", x.min), takes(words, true, NULL), sprintf(at, "%" PRIu64, x.min), takes(words, false, x.name);
      else if (s == SUB_SERVE && o == OPTION_BATCH_ROWS) /* a row for each slot */
        sprintf(at, "8"), takes(words, true, NULL);
      else
        sprintf(at, "%" PRIu64, x.min), takes(words, true, NULL);
      sprintf(at, "%" PRIu64, x.max), takes(words, true, NULL);
      sprintf(at, "%" PRIu64, x.max + 1);
      if (strstr(x.value, "...") != NULL) /* a list */
        sprintf(said, "%s'; wanted: integers from %" PRIu64 " to %" PRIu64, at, x.min, x.max);
      else if (size)
        sprintf(said, "%s'; wanted: %" PRIu64 " to %" PRIu64 " bytes", at, x.min, x.max);
      else if (x.max == INT64_MAX)
        sprintf(said, "%s'; wanted: an integer from %" PRIu64 " on", at, x.min);
      else
        sprintf(said, "%s'; wanted: an integer from %" PRIu64 " to %" PRIu64, at, x.min, x.max);
      takes(words, false, said);
      if (x.min > 0) sprintf(at, "%" PRIu64, x.min - 1), takes(words, false, x.name);
      sprintf(at, "18446744073709551617"), takes(words, false, x.name);
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
    { "generate --penalty-last-n -2", "-1 for all" },
    { "bench -p 1,2;3", NULL }, { "bench -p 1,,2", "with commas between them" },
    { "bench -p 1,", "with commas between them" }, { "bench -p ''", "with commas between them" },
    { "bench -t 1,1025", "--threads is `1,1025'; wanted: integers from 1 to 1024" },
    { "bench -d 1,x", "--n-depth is `1,x'; wanted: integers from 0" } };
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

int main(void)
{
  setenv("INCIPIT_CUDA", "host", 1); /* a device for --device */
  room_open("options");
  Suite *s = suite_create("options");
  TCase *t = tcase_create("people");
  tcase_set_timeout(t, 240);
  tcase_add_test(t, every_option_changes_something_and_refuses_something);
  suite_add_tcase(s, t);
  t = tcase_create("scripts");
  tcase_add_test(t, lengths_and_contexts);
  suite_add_tcase(s, t);
  t = tcase_create("choices");
  tcase_add_test(t, what_the_makers_say_is_what_options_say);
  tcase_add_test(t, options_and_params_are_one);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_set_timeout(t, 240);
  tcase_add_test(t, numbers_at_their_limits);
  tcase_add_test(t, as_many_options_as_there_is_room_for);
  suite_add_tcase(s, t);
  return suite_run(s);
}
