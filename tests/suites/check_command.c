/* The command for people: greeting, help, examples, hints, signals.  Most runs happen in this
   process, on streams that are files in memory; what only a real process shows (signals, closed
   pipes, a lost file) is tried on build/incipit itself. */
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <fenv.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <utf8proc.h>
#include "room.h"
#include "library/incipit.h"
#include "kernels/kernels.h"

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
  /* on a terminal, and only there, the prompt, dimmed, and a line's end of ours */
  ck_assert_str_eq(r.out, "\x1b[2mThe\x1b[0m cat\n");
  done(&r);
  r = run_as("generate The -n 1 --no-echo", ON_TERMINAL, 0);
  ck_assert_str_eq(r.out, " cat\n");
  done(&r);
  r = run_as("generate --prompt-ids 262 -n 1", ON_TERMINAL, 0);
  ck_assert_str_eq(r.out, " cat\n");
  done(&r);
  r = run_as("generate The -n 1 --echo", ON_TERMINAL, 0);
  ck_assert_str_eq(r.out, "The cat\n");
  done(&r);
  r = run_as("generate The -n 0", ON_TERMINAL, 0);
  ck_assert_str_eq(r.out, "\x1b[2mThe\x1b[0m\n");
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
  unsetenv("NO_COLOR"), setenv("TERM", "dumb", 1);
  r = run_as("trace The -n 1", ON_TERMINAL, 0);
  ck_assert(strchr(r.out, '\x1b') == NULL);
  done(&r);
  setenv("TERM", "xterm", 1);
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
    char unicode[128], pcre2[24];
    pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, pcre2);
    snprintf(unicode, sizeof unicode, "\nUnicode: %s (PCRE2), %s (utf8proc)\n", pcre2, utf8proc_unicode_version());
    ck_assert_msg(strstr(r.out, unicode) != NULL, "%s lacks %s", r.out, unicode);
    ck_assert_msg(strstr(r.out, words) != NULL && strstr(r.out, "build test")
        && strstr(r.out, "compiler: ") && strstr(r.out, "(PCRE2)") && strstr(r.out, "(utf8proc)"),
      "%s", r.out);
    done(&r);
  }
  unsetenv("INCIPIT_ISA");
  char words[64];
  setenv("OMP_NUM_THREADS", "3", 1);
  r = run("generate The -n 1 --stats");
  ck_assert_msg(strstr(r.err, "workers                      3 workers\n") != NULL, "%s", r.err);
  done(&r);
  setenv("OMP_NUM_THREADS", "many", 1);
  r = run("generate The -n 1");
  ck_assert_int_eq(r.status, 0);
  ck_assert_str_eq(r.err, "incipit: hint: OMP_NUM_THREADS is not a number of workers, and was passed"
    " over\n");
  done(&r);
  unsetenv("OMP_NUM_THREADS");
  snprintf(words, sizeof words, "generate The -n 1 -t %u", 2 * pool_cores() + 1);
  r = run(words);
  ck_assert_msg(r.status == 0 && strstr(r.err, "physical cores wait for each other") != NULL, "%s",
    r.err);
  done(&r);
  snprintf(words, sizeof words, "generate The -n 1 -t %u", 2 * pool_cores());
  r = run(words);
  ck_assert(r.status == 0 && r.n_err == 0);
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

/* of a long prompt its end is shown, whole lines if they are not too long, whole characters if they
   are; --echo, which is asked for, has all of it */
START_TEST(a_long_prompt_shows_its_end)
{
  static const struct {
    const char *line; /* said this many times */
    size_t times, columns, lines, shown; /* lines and bytes on the screen, 0: all */
  } at[] = { { "The cat\n", 3, 80, 3, 0 }, { "The cat\n", 6, 80, 6, 0 }, { "The cat\n", 7, 80, 6, 48 },
    { "The cat\n", 50, 80, 6, 48 }, { "The", 100, 20, 0, 120 }, { "\xe2\x82\xac", 45, 20, 0, 0 },
    { "\xe2\x82\xac", 60, 10, 0, 180 }, { "The cat sat on\n", 20, 10, 3, 45 },
    { "The", 170, 0, 0, 480 } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    char text[2000] = "", path[8192], line[9000], want[2200];
    for (size_t k = 0; k < at[i].times; k++) strcat(text, at[i].line);
    mkdir(place(path, "folded", NULL), 0777);
    spill_file("folded", "prompt", text, 0);
    screen_columns = at[i].columns;
    snprintf(line, sizeof line, "generate -n 0 -m models/pocket -f %s -q", place(path, "folded", "prompt"));
    struct run r = run_as(line, ON_TERMINAL, 0);
    size_t from = at[i].shown == 0 ? 0 : strlen(text) - at[i].shown;
    if (from > 0) snprintf(want, sizeof want, "\x1b[2m[%zu bytes before]\n%s\x1b[0m\n", from, text + from);
    else snprintf(want, sizeof want, "\x1b[2m%s\x1b[0m\n", text);
    ck_assert_msg(r.status == 0 && strcmp(r.out, want) == 0, "%zu: %s; wanted: %s", i, r.out, want);
    done(&r);
    strcat(line, " --echo");
    r = run_as(line, ON_TERMINAL, 0);
    snprintf(want, sizeof want, "%s\n", text);
    ck_assert_str_eq(r.out, want);
    done(&r);
  }
  screen_columns = 0;
}
END_TEST

/* on a narrow screen what is read as a whole is folded at its blanks: no line is longer than the
   screen, unless it is one word, nothing is lost, and what programs read is as it is */
static void same_words(const char *a, const char *b, const char *line)
{
  while (*a != '\0' || *b != '\0') {
    a += strspn(a, " \n"), b += strspn(b, " \n");
    size_t n = strcspn(a, " \n");
    ck_assert_msg(n == strcspn(b, " \n") && strncmp(a, b, n) == 0, "%s: %.40s; wanted: %.40s", line, a, b);
    a += n, b += n;
  }
}
START_TEST(a_narrow_screen_is_not_written_past)
{
  static const struct {
    size_t columns;
    const char *text, *want;
  } fold[] = { { 9, "\xc3\xa9 \xc3\xa9 \xc3\xa9 \xc3\xa9 \xc3\xa9\n", "\xc3\xa9 \xc3\xa9 \xc3\xa9 \xc3\xa9 \xc3\xa9\n" },
    { 12, "ab c  de fg hi", "ab c\n  de fg hi" }, { 12, "ab c de fg hi\n\nx\n", "ab c de fg\n  hi\n\nx\n" },
    { 0, "ab c de", "ab c de" }, { 4, "abcdefgh ij", "abcdefgh\n  ij" } };
  for (size_t i = 0; i < sizeof fold / sizeof *fold; i++) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    console_fold(out, fold[i].columns, fold[i].text, strlen(fold[i].text));
    fclose(out);
    ck_assert_str_eq(text, fold[i].want);
    free(text);
  }
  static const char *const lines[] = { "memory --shape llama-7b --context 4096", "memory --shape list",
    "generate --help", "chat --help", "help", "help trace", "inspect", "trace 'The cat sat' -n 2 --attention 0.0",
    "trace 'The cat sat' -n 1 --top 20", "", "generate The --no-such-option", "generate The -n 1 --stats",
    "memory --help", "generate The -t 900 -n 1" };
  static const size_t columns[] = { 12, 20, 33, 60, 79, 80, 200 };
  setenv("NO_COLOR", "1", 1);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
      if (strncmp(lines[i], "trace", 5) == 0 && columns[k] < 20) continue; /* R×9 is another word */
      screen_columns = columns[k];
      struct run r = run_as(lines[i], ON_TERMINAL | WATCHED, 0), plain = run(lines[i]);
      screen_columns = 0;
      bool bar = strstr(lines[i], "4096") != NULL; /* which has as many places as there are */
      char *cut[4] = { r.out, r.err, plain.out, plain.err };
      timings_out(r.err), timings_out(plain.err);
      for (int e = 0; bar && e < 4; e += 2) {
        char *from = strchr(cut[e], '['), *to = strchr(cut[e], ']');
        ck_assert_uint_eq((size_t) (to - from), e > 0 || columns[k] > 62 ? 61 : columns[k] - 1);
        memmove(from, to, strlen(to) + 1);
      }
      if (strncmp(lines[i], "generate The", 12) != 0) same_words(cut[0], cut[2], lines[i]);
      if (strstr(lines[i], "-n 1") == NULL || strstr(lines[i], "900") != NULL) same_words(cut[1], cut[3], lines[i]);
      for (int e = 0; e < 2; e++)
        for (const char *at = cut[e], *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
          size_t used = 0, indent = strspn(at, " ");
          for (const char *c = at; c < end; c++) used += (*c & 0xc0) != 0x80;
          bool word = memchr(at + indent, ' ', (size_t) (end - at) - indent) == NULL;
          ck_assert_msg(used <= columns[k] || (word && indent <= columns[k] / 2), "%s at %zu: %.*s",
            lines[i], columns[k], (int) (end - at), at);
        }
      done(&r), done(&plain);
    }
  screen_columns = 20;
  static const char *const programs[] = { "memory --shape llama-7b --json", "inspect --json", "help --man",
    "help --completion", "trace The -n 1 --json", "tokenize 'The cat sat'" };
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    struct run r = run_as(programs[i], ON_TERMINAL, 0), plain = run(programs[i]);
    ck_assert_msg(r.status == 0 && strcmp(r.out, plain.out) == 0, "%s", programs[i]);
    done(&r), done(&plain);
  }
  struct run b = run_as("bench -p 4 -n 0 -r 1", ON_TERMINAL, 0); /* a table becomes a sentence a test */
  ck_assert_msg(strstr(b.out, "\npp4, threads ") != NULL && strstr(b.out, "\n  tokens/s,") != NULL, "%s", b.out);
  done(&b);
  screen_columns = 0;
  unsetenv("NO_COLOR");
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
  r = run("generate The -n 2 -m @/chat -q"), s = run("generate The -n 2 -m @/chat --parse-special");
  ck_assert(r.n_err == 0 && s.n_err == 0);
  done(&r), done(&s);
  r = run("generate The -n 2 -m @/sampled"),
  s =
    run("generate The -n 2 --temperature 1"); /* what the makers want is done, and needs no word */
  ck_assert_str_eq(r.out, s.out);
  ck_assert(r.n_err == 0 && s.n_err == 0);
  done(&r), done(&s);
}
END_TEST

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
  ck_assert(strstr(r.err, "\nkv_rows_computed             5 rows\n") != NULL);
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

/* Ctrl-C within a step: in loading, in the prompt, in the second token, in a search; what is in an
   object is whole, and a run that is given up before it has begun prints nothing */
enum { TENSORS = 21, ASKS = 5 * 2 }; /* of the small model; questions of a pass through two layers */
START_TEST(a_run_is_cancelled_within_a_step)
{
  asks_made = 0;
  struct run r = run("generate 'The cat sat' -n 3");
  ck_assert_uint_eq(asks_made, TENSORS + 3 * ASKS);
  done(&r);
  static const char *const line[] = { "generate The --json", "trace The --json", "tokenize The",
    "perplexity tests/golden/prompt.txt", "inspect", "memory" };
  for (size_t i = 0; i < 6; i++) {
    asks_allowed = 1 + (unsigned) i;
    r = run(line[i]);
    if (i != 2) /* no model is loaded to tokenize */
      ck_assert_msg(r.status == 130 && r.n_out == 0 && r.n_err == 0, "%s: %d %s%s", line[i],
        r.status, r.out, r.err);
    done(&r);
  }
  for (unsigned at = 1; at <= 3 * ASKS; at++) {
    asks_allowed = TENSORS + at;
    r = run("generate 'The cat sat' --json");
    ck_assert_int_eq(r.status, 130);
    json_t *o = object_of(&r), *s = json_array_get(json_object_get(o, "sequences"), 0);
    size_t n = (at - 1) / ASKS;
    ck_assert_uint_eq(json_array_size(json_object_get(s, "ids")), n);
    ck_assert_str_eq(json_string_value(json_object_get(s, "finish_reason")), "cancelled");
    ck_assert_int_eq(number_at(o, "usage", "completion_tokens"), (int64_t) n);
    ck_assert_int_eq(number_at(o, "counters", "passes"), (int64_t) n);
    ck_assert_int_eq(number_at(o, "counters", "rows"), n == 0 ? 0 : 3 + (int64_t) n - 1);
    json_decref(o), done(&r);
  }
  asks_allowed = TENSORS + 1;
  r = run("generate 'The cat sat' --num-beams 3 --json");
  json_t *o = object_of(&r), *all = json_object_get(o, "sequences"), *s = json_array_get(all, 0);
  ck_assert(r.status == 130 && json_array_size(all) == 1
    && json_array_size(json_object_get(s, "ids")) == 0);
  ck_assert_str_eq(json_string_value(json_object_get(s, "finish_reason")), "cancelled");
  json_decref(o), done(&r);
  for (unsigned at = ASKS + 1; at <= 3 * ASKS; at++) { /* the texts are those of so many steps */
    char words[100];
    size_t n = (at - 1) / ASKS, i;
    snprintf(words, sizeof words, "generate 'The cat sat' --num-beams 3 --num-sequences 3 --json -n %zu", n);
    struct run short_ = run(words);
    asks_allowed = TENSORS + at;
    r = run("generate 'The cat sat' --num-beams 3 --num-sequences 3 --json");
    json_t *p = object_of(&short_), *some = json_object_get(p, "sequences");
    o = object_of(&r), all = json_object_get(o, "sequences");
    ck_assert(r.status == 130 && json_array_size(all) == 3 && json_array_size(some) == 3);
    json_array_foreach(all, i, s)
    {
      json_t *ids = json_object_get(s, "ids"), *of = json_array_get(some, i);
      ck_assert_msg(json_equal(ids, json_object_get(of, "ids"))
          && json_equal(json_object_get(s, "score"), json_object_get(of, "score")),
        "%u: %s%s", at, r.out, short_.out);
      ck_assert_str_eq(json_string_value(json_object_get(s, "finish_reason")), "cancelled");
    }
    json_decref(o), json_decref(p), done(&r), done(&short_);
  }
  unsigned mixed = 0; /* the last of the texts had ended before, the first had not */
  for (unsigned at = 6 * ASKS + 1; at <= 9 * ASKS; at += 5) {
    asks_allowed = TENSORS + at;
    r = run("generate 'The cat sat' --num-beams 2 --num-sequences 2 --length-penalty 0 --json");
    o = object_of(&r), all = json_object_get(o, "sequences");
    const char *last =
      json_string_value(json_object_get(json_array_get(all, json_array_size(all) - 1), "finish_reason"));
    ck_assert_msg(r.status == 130 && strstr(r.out, "\"cancelled\"") != NULL, "%u: %s", at, r.out);
    mixed += strcmp(last, "cancelled") != 0;
    json_decref(o), done(&r);
  }
  ck_assert_uint_gt(mixed, 0);
  asks_allowed = TENSORS + 1;
  r = run("generate 'The cat sat' --num-sequences 3");
  ck_assert(r.status == 130 && strcmp(r.out, "\n") == 0);
  done(&r);
  asks_allowed = TENSORS + 2 * ASKS + 1;
  r = run("trace The --json -n 9 --cache");
  o = object_of(&r);
  ck_assert(r.status == 130 && json_array_size(json_object_get(o, "steps")) == 2);
  json_decref(o), done(&r);
  for (unsigned at = TENSORS + 1; at < TENSORS + 2 * ASKS; at += 3) {
    asks_allowed = at;
    r = run("perplexity README.md --context 9 --json");
    ck_assert(r.status == 130 && r.n_out == 0 && r.n_err == 0);
    done(&r);
  }
  asks_allowed = 0;
}
END_TEST

/* where nothing can be written, no other text is begun; where nothing can be read, that is no end of
   the input; the sentence is said once */
START_TEST(streams_that_fail)
{
  static const struct {
    const char *line, *in, *out, *said;
  } at[] = { { "generate The -n 1 --num-sequences 3", "/dev/null", "/dev/full",
               "incipit: the output cannot be written: " },
    { "bench -p 2 -n 0 -r 1", "/dev/null", "/dev/full", "incipit: the output cannot be written: " },
    { "probe tokenize --vocab tests/golden/small", "/", "/dev/null",
      "incipit: the standard input cannot be read: " },
    { "generate -", "/", "/dev/null", "incipit: the standard input cannot be read: " } };
  if (access("/dev/full", W_OK) != 0) return;
  for (int i = 0; i < 4; i++) {
    char *copy = strdup(at[i].line), *argv[32], *in, *err;
    size_t n_err;
    struct memory m = { .fail_at = 0 };
    struct console c = { .in = fopen(at[i].in, "r"), .out = fopen(at[i].out, "w"),
      .err = open_memstream(&err, &n_err), .program = "build/incipit", .build = "test", .memory = &m,
      .listen = listen_to_nobody, .interrupted = counted_interrupt, .cancelled = counted_cancel };
    int argc = words_of(copy, argv, &in);
    asks_made = 0;
    ck_assert_int_eq(command_run(&c, argc, argv), 1);
    fclose(c.in), fclose(c.out), fclose(c.err);
    ck_assert_msg(strncmp(err, at[i].said, strlen(at[i].said)) == 0
        && strchr(err, '\n') == err + n_err - 1,
      "%s: %s", at[i].line, err);
    if (i == 0) ck_assert_uint_eq(asks_made, TENSORS + ASKS);
    ck_assert_uint_eq(m.all.live, 0);
    for (int k = 0; k < argc; k++) free(argv[k]);
    free(copy), free(err);
  }
}
END_TEST

/* a text comes from a file, a pipe or the standard input, byte for byte; a line break at its end is
   hinted at, and --chomp takes one away */
START_TEST(texts_from_pipes_and_without_their_line_break)
{
  char out[4096], script[16384];
  struct run want = run("tokenize 'The cat' --json");
  static const char *const same[] = { "tokenize -f - --json --chomp '<The cat'",
    "tokenize - --json --chomp '<The cat'", "tokenize --json --chomp '<The cat'" };
  for (int i = 0; i < 3; i++) {
    struct run r = run(same[i]);
    ck_assert_str_eq(r.out, want.out);
    done(&r);
  }
  done(&want);
  static const struct {
    const char *in, *left;
  } end[] = { { "a\n", "a" }, { "a\r\n", "a" }, { "a\n\n", "a\n" }, { "a\r", "a\r" }, { "a", "a" },
    { "\n", "" }, { "", "" } };
  for (int i = 0; i < 7; i++) {
    char *argv[] = { "incipit", "tokenize", "-", "--chomp", "--json", NULL };
    struct run r = run_words(5, argv, end[i].in, strlen(end[i].in), 0, 0, "incipit");
    json_t *o = object_of(&r);
    ck_assert_msg(json_integer_value(json_object_get(o, "bytes")) == (int) strlen(end[i].left),
      "%d: %s", i, r.out);
    json_decref(o), done(&r);
  }
  static const char hint[] = "the prompt ends with a line break";
  struct run r = run("generate -n 1 '<The'"), s = run("generate -n 1 --chomp '<The'"),
             t = run("generate -n 1 -q '<The'"), u = run("generate -n 1 -f tests/golden/prompt.txt");
  ck_assert(strstr(r.err, hint) != NULL && strstr(r.err, "--chomp") != NULL && s.n_err == 0
    && t.n_err == 0 && u.n_err == 0 && strcmp(s.out, " cat") == 0 && strcmp(r.out, t.out) == 0);
  done(&r), done(&s), done(&t), done(&u);
  snprintf(script, sizeof script,
    "export INCIPIT_MODEL=tests/golden/small; b=%s/incipit; printf 'The cat' | $b tokenize -f "
    "/dev/fd/0 --count; printf 'The cat sat' | $b perplexity - --json; printf 'The cat sat' > "
    "%s/text; $b perplexity %s/text --json",
    build_dir(), room_dir, room_dir);
  ck_assert_int_eq(shell(script, out, sizeof out), 0);
  char *two = strchr(out, '\n') + 1, *three = strchr(two, '\n') + 1;
  ck_assert_msg(out[0] == '2' && strncmp(two, "{\"tokens\":2,", 12) == 0
      && strncmp(two, three, (size_t) (three - two)) == 0,
    "%s", out);
  /* a grammar as well; what cannot be read is told */
  snprintf(script, sizeof script,
    "b=%s/incipit; m='-m tests/golden/small'; echo 'root ::= \"a b\"' | $b generate The --grammar - "
    "$m; echo 'root ::= \"a b\"' | $b generate The --grammar /dev/fd/0 $m; $b probe tokenize --vocab "
    "tests/golden/small </ 2>&1",
    build_dir());
  ck_assert_int_eq(shell(script, out, sizeof out), 1);
  ck_assert_str_eq(out, "a ba bincipit: the standard input cannot be read: Is a directory\n");
}
END_TEST

/* fields that nobody knows: generate names all of them, inspect shows them and the rest, and with
   --ignore-field the model is the one without them */
START_TEST(unknown_fields_are_shown_and_read_over)
{
  struct run r = run("inspect -m @/strange"), s = run("inspect tests/golden/small");
  ck_assert_msg(r.status == 0 && strncmp(r.out, s.out, s.n_out) == 0
      && strcmp(r.out + s.n_out,
           "unknown: 3 fields; generate wants --ignore-field for each\n  config.json: a_note\n"
           "  config.json: b_note\n  config.json: c_note\n")
        == 0,
    "%s%s", r.out, r.err);
  done(&r), done(&s);
  r = run("inspect @/strange --json");
  json_t *o = object_of(&r), *list = json_object_get(o, "unknown_fields");
  ck_assert(json_array_size(list) == 3);
  has_keys(json_array_get(list, 1), "file field");
  ck_assert_str_eq(json_string_value(json_object_get(json_array_get(list, 1), "field")), "b_note");
  json_decref(o), done(&r);
  r = run("inspect --json"), o = object_of(&r);
  ck_assert_uint_eq(json_array_size(json_object_get(o, "unknown_fields")), 0);
  json_decref(o), done(&r);
  r = run("generate The -n 4 -m @/strange --ignore-field a_note --ignore-field b_note "
          "--ignore-field=c_note --ignore-field a_note"),
  s = run("generate The -n 4");
  ck_assert_str_eq(r.out, s.out);
  ck_assert_str_eq(r.err,
    "incipit: hint: config.json: a_note is ignored, as you asked\nincipit: hint: config.json: "
    "b_note is ignored, as you asked\nincipit: hint: config.json: c_note is ignored, as you "
    "asked\n");
  done(&r), done(&s);
  r = run("inspect @/strange --ignore-field a_note --json"), o = object_of(&r);
  ck_assert_uint_eq(json_array_size(json_object_get(o, "unknown_fields")), 2);
  json_decref(o), done(&r);
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
      snprintf(dashes, sizeof dashes, "--%s", options_option((enum option) o).name);
      for (char *d = dashes; *d; d++) {
        if (*d == '-') *t++ = '\\';
        *t++ = *d;
      }
      *t = '\0';
      bool mine = (options_option((enum option) o).where >> s & 1) != 0;
      ck_assert_msg(
        !mine || (strstr(help.out, dashes) && strstr(man.out, troff) && strstr(words.out, dashes)),
        "%s %s", sub->name, dashes);
    }
    done(&help), done(&again);
  }
  done(&man), done(&words), done(&over), done(&short_);
}
END_TEST
/* the other shells have the same lists; where they are installed they read what is written */
START_TEST(other_shells_and_groups)
{
  static const char *const shells[] = { "zsh", "fish" };
  char line[200], out[4096];
  for (int i = 0; i < 2; i++) {
    snprintf(line, sizeof line, "help %s --completion", shells[i]);
    struct run r = run(line);
    ck_assert(r.status == 0 && strstr(r.out, "q8_0") && strstr(r.out, "perplexity")
      && strstr(r.out, "pocket") && strstr(r.out, "ignore-field"));
    done(&r);
    snprintf(line, sizeof line,
      "command -v %s >/dev/null || exit 77; %s/incipit help %s --completion | %s -n 2>&1",
      shells[i], build_dir(), shells[i], shells[i]);
    int status = shell(line, out, sizeof out);
    snprintf(line, sizeof line, "the completion in %s", shells[i]);
    if (status == 77)
      tally(line, 0, 0, 1, "not installed");
    else {
      ck_assert_msg(status == 0 && out[0] == '\0', "%s: %s", line, out);
      tally(line, 1, 0, 0, "");
    }
  }
  struct run bare = run("help --completion"), bash = run("help bash --completion");
  ck_assert_str_eq(bare.out, bash.out);
  ck_assert(strstr(bash.out, "\n    *:--completion:*) list=\"bash zsh fish\" ;;\n")
    && strstr(bash.out, "\n    *:--output:*|bench:-o:*) list=\"table md csv json jsonl\" ;;\n"));
  done(&bare), done(&bash);
  static const char *const head[] = { "\nModel:\n", "\nPrompt:\n", "\nLength:\n", "\nSampling:\n",
    "\nConstraints:\n", "\nSearch:\n", "\nStopping:\n", "\nOutput:\n" };
  struct run g = run("generate --help"), i = run("inspect --help"), t = run("trace --help"),
             m = run("memory --help");
  const char *at = g.out;
  for (int k = 0; k < 8; k++) ck_assert((at = strstr(at, head[k])) != NULL);
  ck_assert(strstr(i.out, head[0]) && strstr(i.out, head[7]) && strstr(i.out, head[3]) == NULL);
  /* words of one subcommand are not those of another */
  ck_assert(strstr(g.out, "trace: 4") == NULL && strstr(g.out, "a shape's") == NULL
    && strstr(t.out, "at most N tokens (default: 4)") != NULL && strstr(m.out, "--train") == NULL
    && strstr(m.out, "a shape's") != NULL);
  done(&g), done(&i), done(&t), done(&m);
  struct run a = run("--version"), b = run("-V"), c = run("version");
  ck_assert(a.status == 0 && strcmp(a.out, b.out) == 0 && strcmp(a.out, c.out) == 0
    && strncmp(a.out, "incipit " INCIPIT_VERSION " (build ", 16 + strlen(INCIPIT_VERSION)) == 0);
  done(&a), done(&b), done(&c);
  a = run("help version"), b = run("--version --help");
  ck_assert(a.status == 0 && strcmp(a.out, b.out) == 0 && strstr(a.out, "incipit --version\n"));
  done(&a), done(&b);
  struct run man = run("help --man");
  ck_assert(strstr(man.out, ".SH FILES\n") && strstr(man.out, ".SH EXAMPLES\n")
    && strstr(man.out, "NO_COLOR") && strstr(man.out, "TERM") && strstr(man.out, "incipit (3)"));
  done(&man);
}
END_TEST
/* the caller's rounding changes nothing that is read, computed, written or printed, and is his own afterwards */
static void with_rounding(int mode, const char *line, const char *file, char *text, size_t size)
{
  ck_assert_int_eq(fesetround(mode), 0);
  struct run r = run(line);
  ck_assert_int_eq(fegetround(), mode);
  fesetround(FE_TONEAREST);
  ck_assert_msg(r.status == 0, "%s: %s", line, r.err);
  FILE *f = file == NULL ? NULL : fopen(file, "rb");
  memset(text, 0, size);
  if (f == NULL) snprintf(text, size, "%s", r.out);
  else {
    ck_assert_uint_gt(fread(text, 1, size, f), 1000);
    fclose(f), unlink(file);
  }
  done(&r);
}
START_TEST(the_callers_rounding_is_his_own)
{
  static const int mode[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
  static char want[1 << 20], got[1 << 20], quantize[5000], file[4400];
  snprintf(file, sizeof file, "%s/rounded.gguf", room_dir);
  snprintf(quantize, sizeof quantize, "quantize -m tests/golden/small --type q8_0 --out %s", file);
  const char *line[] = { "generate -m models/pocket Once -n 12 --temperature 0.7 --top-p 0.9 --seed 4", quantize,
    "generate -m models/pocket Once -n 5 --num-beams 3 --length-penalty 0.7" };
  for (int k = 0; k < 3; k++) {
    with_rounding(FE_TONEAREST, line[k], k == 1 ? file : NULL, want, sizeof want);
    for (int i = 0; i < 3; i++) {
      with_rounding(mode[i], line[k], k == 1 ? file : NULL, got, sizeof got);
      ck_assert_msg(memcmp(want, got, sizeof got) == 0, "%s, rounding %d", line[k], i);
    }
  }
}
END_TEST
START_TEST(examples_work_as_printed)
{
  char script[16384], out[65536];
  for (int s = 0; s < N_SUBCOMMANDS; s++) {
    const struct subcommand_entry *sub = options_subcommand((enum subcommand) s);
    bool lasts = s == SUB_SERVE; /* it is ended when it has said where it listens */
    snprintf(script, sizeof script,
      "PATH=$(cd %s; pwd):$PATH; export INCIPIT_MODEL=$PWD/tests/golden/small; cd %s/empty; %s%s 2>&1%s",
      build_dir(), room_dir, lasts ? "{ " : "", sub->example,
      lasts ? " & pid=$!; sleep 1; kill $pid; wait $pid; }" : ""); /* from any folder */
    ck_assert_msg(
      shell(script, out, sizeof out) == 0 && out[0] != '\0', "%s: %s", sub->example, out);
  }
  snprintf(script, sizeof script,
    "command -v bash >/dev/null || exit 77; bash -c 'source <(%s/incipit help --completion); "
    "say() { COMP_WORDS=(incipit \"$@\"); COMP_CWORD=$#; COMPREPLY=(); _incipit; echo "
    "${COMPREPLY[@]}; }; say generate --max; say tok; say generate --kv-type q; say generate "
    "--early-stopping \"\"; say chat --template poc; say memory --shape gpt2-; say bench -o x "
    "--output j; say probe tok; say help per; say inspect \"\"; say generate --device'",
    build_dir());
  int status = shell(script, out, sizeof out);
  if (status == 77)
    tally("the completion in bash", 0, 0, 1, "no bash");
  else {
    ck_assert_msg(strcmp(out,
                    "--max-new-tokens\ntokenize\nq8_0 q4_0\ntrue false never\npocket\ngpt2-medium "
                    "gpt2-large gpt2-xl\njson jsonl\ntokenize\nperplexity\n\n--device\n")
        == 0,
      "%s", out);
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
  /* a bench, and texts of one token each, of which a million are wanted */
  char *bench_argv[] = { "incipit", "bench", "-p", "2", "-n", "0", "-r", "1", "-m",
    "tests/golden/small", NULL },
       *many_argv[] = { "incipit", "generate", "The", "-n", "1", "--num-sequences", "1000000", "-m",
         "tests/golden/small", NULL };
  char **line[] = { bench_argv, many_argv };
  for (int i = 0; i < 2; i++) {
    c = start(line[i]);
    close(c.in), close(c.out);
    status = finish(&c, err, sizeof err);
    ck_assert_msg(status == 1 && err[0] == '\0', "%s: status %d: %s", line[i][1], status, err);
  }
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
    snprintf(script, sizeof script,
      "%s/incipit bench -m tests/golden/small -p 2 -n 0 -r 1 2>&1 >/dev/full", build_dir());
    ck_assert_int_eq(shell(script, out, sizeof out), 1);
    ck_assert_msg(strncmp(out, "incipit: the output cannot be written: ", 39) == 0, "%s", out);
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

/* before there is anything to be completed, Ctrl-C ends the program at once, with the status that a
   shell would report; a program that was started deaf to it stays so */
START_TEST(ctrl_c_before_a_generation_ends_at_once)
{
  char answer[512], err[512],
    *argv[] = { "incipit", "probe", "tokenize", "--vocab", "tests/golden/small", NULL };
  struct child c = start(argv);
  ck_assert_int_eq(write(c.in, "{\"text\":\"The\"}\n", 15), 15);
  ck_assert_int_eq(read(c.out, answer, sizeof answer), 14);
  kill(c.pid, SIGINT);
  ck_assert_int_eq(finish(&c, err, sizeof err), 130);
  ck_assert_str_eq(err, "");
  close(c.in), close(c.out);
  char script[512], out[512];
  snprintf(script, sizeof script,
    "trap '' INT; { echo '{\"text\":\"The\"}'; kill -INT 0; echo '{\"text\":\"The\"}'; } | "
    "%s/incipit probe tokenize --vocab tests/golden/small",
    build_dir());
  signal(SIGINT, SIG_IGN);
  ck_assert_int_eq(shell(script, out, sizeof out), 0);
  signal(SIGINT, SIG_DFL);
  ck_assert_str_eq(out, "{\"ids\":[262]}\n{\"ids\":[262]}\n");
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
  room_open("command");
  Suite *s = suite_create("command");
  TCase *t = tcase_create("people");
  tcase_add_test(t, names_do_not_steer_the_terminal);
  tcase_add_test(t, what_a_terminal_and_an_environment_change);
  tcase_add_test(t, a_greeting_with_three_things_to_try);
  tcase_add_test(t, a_long_prompt_shows_its_end);
  tcase_add_test(t, a_narrow_screen_is_not_written_past);
  tcase_add_test(t, hints_are_said_once_and_to_the_eyes);
  tcase_add_test(t, without_a_model_the_built_in_one_serves);
  tcase_add_test(t, the_table_is_in_all_its_forms);
  tcase_add_test(t, other_shells_and_groups);
  tcase_add_test(t, the_callers_rounding_is_his_own);
  tcase_add_test(t, examples_work_as_printed);
  suite_add_tcase(s, t);
  t = tcase_create("scripts");
  tcase_add_test(t, text_is_taken_byte_for_byte);
  tcase_add_test(t, a_cancelled_run_is_complete);
  tcase_add_test(t, a_run_is_cancelled_within_a_step);
  tcase_add_test(t, streams_that_fail);
  tcase_add_test(t, texts_from_pipes_and_without_their_line_break);
  tcase_add_test(t, unknown_fields_are_shown_and_read_over);
  tcase_add_test(t, numbers_are_the_shortest_that_read_back);
  suite_add_tcase(s, t);
  t = tcase_create("choices");
  tcase_add_test(t, what_has_no_effect_is_hinted_at);
  suite_add_tcase(s, t);
  t = tcase_create("processes");
  tcase_add_test(t, ctrl_c_leaves_a_whole_object);
  tcase_add_test(t, a_reader_who_has_gone_is_no_failure_to_talk_about);
  tcase_add_test(t, a_full_disk_and_a_lost_file_are_told);
  tcase_add_test(t, ctrl_c_before_a_generation_ends_at_once);
  tcase_add_test(t, questions_do_not_wait_for_the_next);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, a_hint_needs_a_template);
  suite_add_tcase(s, t);
  return suite_run(s);
}
