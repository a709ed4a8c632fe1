/* bench, perplexity and --stats: what is timed and counted, with a clock of our own. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <sys/syscall.h>
#include <time.h>
#include "room.h"
#include "kernels/kernels.h"

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
  ck_assert_msg(r.status == 0 && strstr(r.out, "tg2@d62") != NULL && strstr(r.out, "\npp") == NULL,
    "%s%s", r.out, r.err);
  done(&r);
}
END_TEST

/* ---- rates that are printed, and what is counted */

/* a clock of our own, so that times can be compared: while it is set, the k-th look at it says
   k * k milliseconds, or k if it goes evenly, or k seconds */
static enum { CLOCK_SYSTEM, CLOCK_SQUARES, CLOCK_EVEN, CLOCK_SECONDS } clock_of_ours;
static unsigned looks;
int clock_gettime(clockid_t which, struct timespec *now)
{
  if (clock_of_ours == CLOCK_SYSTEM || which != CLOCK_MONOTONIC)
    return (int) syscall(SYS_clock_gettime, which, now);
  unsigned k = ++looks, ms = clock_of_ours == CLOCK_SQUARES ? k * k : k;
  if (clock_of_ours == CLOCK_SECONDS) ms = 1000 * k;
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
      snprintf(
        told, sizeof told, "%-28s %.2f %s\n", name[k], want[k], k < 3 ? "ms" : "tokens/s");
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
    ck_assert_msg(
      (strstr(r.err, told) != NULL) == (r.m.of[i].peak > 0), "%s: %s", told, r.err);
  }
  ck_assert_msg(strstr(r.err, " 0 ") == NULL, "%s", r.err);
  struct run i = run("inspect --json");
  json_t *model = object_of(&i), *tensor;
  size_t k;
  uint64_t mapped = 0;
  json_array_foreach(json_object_get(model, "tensors"), k, tensor) mapped +=
    (uint64_t) json_integer_value(json_object_get(tensor, "bytes"));
  snprintf(told, sizeof told, "%-28s %" PRIu64 " bytes\n", "weights mapped", mapped);
  ck_assert_msg(strstr(r.err, told) != NULL, "%s: %s", told, r.err);
  json_decref(model), done(&i);
  snprintf(told, sizeof told, "%-28s 3 + 12 tokens\n%-28s 2 workers\n", "tokens", "workers");
  ck_assert_msg(strstr(r.err, told) == r.err, "%s", r.err);
  json_t *counters = json_object_get(o, "counters"), *v;
  const char *name;
  json_object_foreach(counters, name, v)
  {
    const char *unit = strstr(name, "bytes") ? "bytes" : strstr(name, "madds") ? "multiply-adds"
      : strstr(name, "pairs")                ? "pairs"
      : strcmp(name, "passes") == 0          ? "passes"
                                             : "rows";
    snprintf(told, sizeof told, "\n%-28s %lld %s\n", name, (long long) json_integer_value(v), unit);
    ck_assert_msg((strstr(r.err, told) != NULL) == (json_integer_value(v) > 0), "%s: %s", told,
      r.err);
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
      json_string_value(json_object_get(t, "test")), k == 0 ? "pp7@d5" : "tg3@d5");
    has_keys(t, "test tokens_per_second stddev flop bytes fma_share bandwidth_share model threads "
                "kernels kv_type activations weights load_seconds build processor");
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
                             "bandwidth_share,model,threads,kernels,kv_type,activations,weights,load_seconds,build,"
                             "processor\n"
                             "pp7@d5,";
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
  const char *row = strstr(r.out, "pp7@d5");
  unsigned threads;
  double cell[6], want[6] = { rate, 0, flop / 1e9, bytes / 1e6, 100 * two[0], 100 * two[1] };
  ck_assert_msg(row != NULL
      && sscanf(row + 6, "%u %lf %lf %lf %lf %lf %lf", &threads, &cell[0], &cell[1], &cell[2],
           &cell[3], &cell[4], &cell[5])
        == 7,
    "%s", r.out);
  for (int i = 0; i < 6; i++)
    ck_assert_msg(fabs(cell[i] - want[i]) < 0.06, "%s: %f; wanted: %f", r.out, cell[i], want[i]);
  done(&r);
  /* what was measured with, in JSON and CSV: loading took one look at the clock, and packing two more */
  r = run_timed("bench -p 7 -n 0 -r 1 -t 1 --kv-type bf16 --activations f32 --json");
  a = json_loads(r.out, 0, NULL);
  json_t *t = json_array_get(a, 0);
  ck_assert_str_eq(json_string_value(json_object_get(t, "activations")), "f32");
  ck_assert_str_eq(json_string_value(json_object_get(t, "weights")), "mapped");
  ck_assert_double_eq_tol(json_real_value(json_object_get(t, "load_seconds")), 0.001, 1e-9);
  json_decref(a), done(&r);
  r = run_timed("bench -p 7 -n 0 -r 1 -t 1 --packed --json");
  a = json_loads(r.out, 0, NULL), t = json_array_get(a, 0);
  ck_assert_str_eq(json_string_value(json_object_get(t, "activations")), "default");
  ck_assert_str_eq(json_string_value(json_object_get(t, "weights")), "packed");
  ck_assert_double_eq_tol(json_real_value(json_object_get(t, "load_seconds")), 0.003, 1e-9);
  json_decref(a), done(&r);
  char csv[300];
  snprintf(csv, sizeof csv, ",\"tests/golden/small\",1,%s,bf16,f32,packed,0.003,test,\"", kernels_find(NULL, NULL)->name);
  r = run_timed("bench -p 7 -n 0 -r 1 -t 1 --kv-type bf16 --activations f32 --packed -o csv");
  ck_assert_msg(strstr(r.out, csv) != NULL, "%s lacks %s", r.out, csv);
  done(&r);
  /* the copies of --packed, in a hint and in the account; times are those of the clock */
  r = run_timed("generate The -n 1 -m models/pocket --packed --stats");
  const char *peak = strstr(r.err, "peak for weights");
  ck_assert(peak != NULL);
  snprintf(csv, sizeof csv, "hint: %.0f MB of weights packed in %.2f s\n", strtod(peak + 28, NULL) / 1e6,
    (9 - 4) / 1e3);
  ck_assert_msg(strstr(r.err, csv) != NULL && strtod(peak + 28, NULL) > 1e6, "%s lacks %s", r.err, csv);
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
/* what stands on a screen at the end, if every \r begins the line anew */
static void screen_of(const char *text, char *line, size_t size)
{
  size_t at = 0, n = 0;
  for (; *text != '\0'; text++)
    if (*text == '\r')
      at = 0;
    else if (*text == '\n')
      at = n = 0;
    else if (at + 1 < size) {
      line[at++] = *text;
      if (at > n) n = at;
    }
  line[n] = '\0';
}
/* with a clock that goes a second at each look, whatever is waited for is shown, and taken away;
   not where nobody sees it, nor with -q */
START_TEST(who_waits_is_told)
{
  static const struct {
    const char *line, *told[3];
  } at[] = { { "generate 'The cat sat' -n 2",
               { "\rloading 2 of 21 tensors", "\rreading 0 of 3 tokens", "\rreading 1 of 3 tokens" } },
    { "generate 'The cat sat' -n 2 --json",
      { "\rreading 1 of 3 tokens", "\r1 tokens", "\rloading 21 of 21 tensors" } },
    { "generate 'The cat sat' -n 3 --num-beams 2", { "\rreading 0 of 3 tokens", "\r2 tokens" } },
    { "trace 'The cat sat' -n 2", { "\rreading 0 of 3 tokens", "\rreading 2 of 4 tokens" } },
    { "perplexity README.md --context 64", { "\rwindow 1 of ", "\rwindow 2 of " } },
    { "bench -p 2 -n 1 -r 2", { "\r0 of 6 rounds", "\r2 of 6 rounds", "\r5 of 6 rounds" } },
    { "bench -p 2,3 -n 0 -r 1 -d 0,4 -t 1", { "\r0 of 8 rounds", "\r7 of 8 rounds" } } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    char line[200], last[400];
    struct run plain = run(at[i].line);
    clock_of_ours = CLOCK_SECONDS, looks = 0;
    struct run r = run_as(at[i].line, WATCHED, 0);
    snprintf(line, sizeof line, "%s -q", at[i].line);
    struct run q = run_as(line, WATCHED, 0);
    clock_of_ours = CLOCK_SYSTEM;
    ck_assert_msg(r.status == 0 && q.status == 0 && plain.status == 0, "%s: %s", line, r.err);
    for (int k = 0; k < 3 && at[i].told[k] != NULL; k++)
      ck_assert_msg(strstr(r.err, at[i].told[k]) != NULL, "%s: %s lacks %s", at[i].line, r.err,
        at[i].told[k]);
    screen_of(r.err, last, sizeof last);
    ck_assert_msg(strspn(last, " ") == strlen(last), "%s leaves `%s'", at[i].line, last);
    ck_assert(strchr(plain.err, '\r') == NULL && q.n_err == 0);
    timings_out(r.out), timings_out(plain.out);
    if (strncmp(line, "bench", 5) != 0) ck_assert_str_eq(r.out, plain.out);
    done(&r), done(&q), done(&plain);
  }
  clock_of_ours = CLOCK_SECONDS, looks = 0; /* the loss so far, in a window that is not the first */
  struct run r = run_as("perplexity README.md --context 9", WATCHED, 0);
  clock_of_ours = CLOCK_SYSTEM;
  ck_assert_msg(strstr(r.err, "\rwindow 3 of ") != NULL && strstr(r.err, ", perplexity ") != NULL,
    "%.300s", r.err);
  done(&r);
  clock_of_ours = CLOCK_SECONDS, looks = 0, screen_columns = 12; /* cut, so that it stays on a line */
  r = run_as("generate 'The cat sat' -n 2", WATCHED, 0);
  clock_of_ours = CLOCK_SYSTEM, screen_columns = 0;
  ck_assert_msg(strstr(r.err, "\rreading 1 o\r") != NULL, "%s", r.err);
  for (const char *at_ = r.err; *at_ != '\0'; at_ += strcspn(at_, "\r")) {
    at_++;
    ck_assert_uint_lt(strcspn(at_, "\r"), 12);
  }
  done(&r);
  variant("wordy", NULL); /* a vocabulary of a megabyte, for a reader that cannot say how far it is */
  char path[8192];
  FILE *wordy = fopen(place(path, "wordy", "tokenizer.json"), "a");
  ck_assert(wordy != NULL && fprintf(wordy, "%1050000s\n", "") > 0 && fclose(wordy) == 0);
  static const struct {
    const char *line, *told;
  } once[] = { { "generate The -n 1 -m @/wordy", "\rloading the vocabulary\r" },
    { "tokenize The -m @/wordy", "\rloading the vocabulary\r" },
    { "generate The -n 1 --packed", "\rpacking 0.1 MB of weights\r" } };
  for (int i = 0; i < 3; i++) {
    char line[200], last[400];
    snprintf(line, sizeof line, "%s -q", once[i].line);
    struct run plain = run(once[i].line), q = run_as(line, WATCHED, 0);
    r = run_as(once[i].line, WATCHED, 0);
    screen_of(r.err, last, sizeof last);
    ck_assert_msg(r.status == 0 && strstr(r.err, once[i].told) != NULL, "%s: %s", once[i].line, r.err);
    ck_assert_str_eq(r.out, plain.out);
    ck_assert(strchr(plain.err, '\r') == NULL && q.n_err == 0);
    if (i < 2) ck_assert_msg(strspn(last, " ") == strlen(last), "%s leaves `%s'", once[i].line, last);
    done(&r), done(&plain), done(&q);
  }
  clock_of_ours = CLOCK_EVEN, looks = 1000000; /* half a second is not over */
  r = run_as("generate 'The cat sat' -n 2", WATCHED, 0);
  clock_of_ours = CLOCK_SYSTEM;
  ck_assert_uint_eq(r.n_err, 0);
  done(&r);
}
END_TEST

/* lists: every test at every depth with every number of workers, in each form; an array that is
   given up is not begun */
START_TEST(lists_and_forms_of_a_bench)
{
  static const char *const name[] = { "pp2", "pp3", "tg1", "pp2@d4", "pp3@d4", "tg1@d4" };
  struct run r = run("bench -p 2,3 -n 1 -d 0,4 -t 1,2 -r 1 --kv-type f16 --json");
  json_t *a = json_loads(r.out, 0, NULL), *t;
  size_t i;
  ck_assert_msg(r.status == 0 && json_array_size(a) == 12, "%s%s", r.out, r.err);
  json_array_foreach(a, i, t)
  {
    ck_assert_str_eq(json_string_value(json_object_get(t, "test")), name[i % 6]);
    ck_assert_int_eq(json_integer_value(json_object_get(t, "threads")), i < 6 ? 1 : 2);
    ck_assert_str_eq(json_string_value(json_object_get(t, "kv_type")), "f16");
    ck_assert_str_eq(json_string_value(json_object_get(t, "build")), "test");
    ck_assert_str_eq(json_string_value(json_object_get(t, "kernels")),
      kernels_find(NULL, NULL)->name);
    ck_assert(strstr(json_string_value(json_object_get(t, "model")), "tests/golden/small") != NULL
      && json_string_length(json_object_get(t, "processor")) > 0);
  }
  json_decref(a), done(&r);
  r = run("bench -p 2 -n 1 -t 1,2 -r 1 -o jsonl");
  char *at = r.out;
  for (i = 0; i < 4; i++) {
    size_t n = strcspn(at, "\n");
    t = json_loadb(at, n, 0, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(t, "test")), i % 2 ? "tg1" : "pp2");
    json_decref(t), at += n + 1;
  }
  ck_assert_str_eq(at, "");
  done(&r);
  variant("a|b", NULL);
  char cpu[200] = "", *name_end; /* as the system's own tools find it */
  FILE *in = popen("sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1", "r");
  ck_assert(in != NULL && fgets(cpu, 79, in) != NULL);
  pclose(in), name_end = strchr(cpu, '\n'), *(name_end != NULL ? name_end : cpu + strlen(cpu)) = '\0';
  r = run("bench -p 2 -n 0 -t 1 -r 1 --json");
  a = json_loads(r.out, 0, NULL);
  ck_assert_str_eq(json_string_value(json_object_get(json_array_get(a, 0), "processor")), cpu);
  json_decref(a), done(&r);
  r = run("bench -p 2 -n 1 -d 4 -t 1,2 -r 1 --kv-type bf16 --packed -o md");
  ck_assert(strncmp(r.out, "| test | threads | tokens/s |", 29) == 0 && lines_of(&r) == 6
    && strstr(r.out, "\n| pp2@d4 | 1 | ") && strstr(r.out, "\n| tg1@d4 | 2 | "));
  for (at = r.out; *at != '\0'; at = strchr(at, '\n') + 1) {
    size_t bars = 0;
    for (const char *c = at; *c != '\n'; c++) bars += *c == '|';
    ck_assert_uint_eq(bars, 15);
  }
  /* what it was measured with is in every row, as in the other forms */
  r.out[strlen(r.out) - 1] = '\0';
  for (at = r.out, i = 0; (at = strchr(at, '\n')) != NULL; i++) {
    char model[64], kernels[32], cache[16], activations[16], weights[16], build[16], processor[200];
    at++;
    if (i == 0) continue;
    ck_assert_int_eq(sscanf(at, "| %*s | %*u | %*f ± %*f | %*f | %*f | %*f | %*f | %63s | %31s | %15s"
      " | %15s | %15s | %15s | %199[^\n]", model, kernels, cache, activations, weights, build,
      processor), 7);
    ck_assert_str_eq(model, "tests/golden/small");
    ck_assert_str_eq(kernels, kernels_find(NULL, NULL)->name);
    ck_assert(strcmp(cache, "bf16") == 0 && strcmp(activations, "default") == 0
      && strcmp(weights, "packed") == 0 && strcmp(build, "test") == 0);
    processor[strcspn(processor, "|")] = '\0', processor[strlen(processor) - 1] = '\0';
    ck_assert_str_eq(processor, cpu);
  }
  ck_assert_uint_eq(i, 5);
  done(&r);
  r = run("bench -p 2 -n 0 -t 1 -r 1 -m @/a|b -o md"); /* a bar in a name ends no cell */
  ck_assert_msg(r.status == 0 && strstr(r.out, "/a\\|b | ") != NULL, "%s%s", r.out, r.err);
  done(&r);
  char with[300];
  snprintf(with, sizeof with, "tests/golden/small: %s kernels, cache f16, activations f32, weights"
    " mapped\nbuild test on ", kernels_find(NULL, NULL)->name);
  r = run("bench -p 2 -n 0 -t 1 -r 1 --kv-type F16 --activations F32");
  ck_assert_msg(strncmp(r.out, with, strlen(with)) == 0, "%s; wanted: %s", r.out, with);
  done(&r);
  r = run("bench -p 2 -n 0 -t 1,2 -r 1 -o csv");
  ck_assert(lines_of(&r) == 3 && strstr(r.out, "\"tests/golden/small\",2,") != NULL);
  done(&r);
  variant("a\"b,c", NULL);
  r = run("bench -p 2 -n 0 -t 1 -r 1 -o csv -m @/a\"b,c");
  ck_assert_msg(r.status == 0 && strstr(r.out, "/a\"\"b,c\",1,") != NULL, "%s%s", r.out, r.err);
  done(&r);
  asks_made = 0;
  r = run("bench -p 2 -n 1 -r 1 --json");
  unsigned all = asks_made;
  done(&r);
  for (unsigned k = 1; k <= all; k += 11) {
    asks_allowed = k;
    r = run("bench -p 2 -n 1 -r 1 --json");
    ck_assert_msg(r.status == 130 && r.n_out == 0 && r.n_err == 0, "%u: %d %s%s", k, r.status,
      r.out, r.err);
    done(&r);
  }
  asks_allowed = 0;
}
END_TEST

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

int main(void)
{
  room_open("bench");
  Suite *s = suite_create("bench");
  TCase *t = tcase_create("people");
  tcase_add_test(t, perplexity_is_what_the_log_probabilities_say);
  tcase_add_test(t, bench_counts_what_it_times);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, times_and_rates_are_those_of_the_clock);
  tcase_add_test(t, statistics_are_those_of_the_run);
  tcase_add_test(t, a_bench_counts_exactly);
  tcase_add_test(t, who_waits_is_told);
  tcase_add_test(t, lists_and_forms_of_a_bench);
  tcase_add_test(t, a_beginning_is_read_and_not_scored);
  tcase_add_test(t, windows_as_far_apart_as_asked);
  suite_add_tcase(s, t);
  return suite_run(s);
}
