/* record.c -- incipit-record FORMAT [--policy FILE] [--regrade FILE] GRADE.json...

   Turns the records of incipit-grade into what other systems read.  FORMAT:
     gradescope  results.json of one record (gradescope-autograders.readthedocs.io, Output format)
     classroom   one line result=..., JSON in base64, of one record: what a step of GitHub Classroom hands to its grading reporter
     autolab     what Autolab shows, and in its last line the JSON of the scores (docs.autolabproject.com, Guide for Lab Authors)
     csv         a line for each record, with days late and the score that counts

   Lateness and regrading are data.  The policy has lines of tabs: "due", lab, time; "late", lab, percent a day, most days; "free", student, days
   that cost him nothing.  The regrading has lines student, lab, test, points, reason.  Times are UTC, as 2027-03-01T22:00:00Z. */
#define _GNU_SOURCE
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RECORDS = 2000 };

struct options { const char *format, *policy, *regrade; const char *file[MOST_RECORDS]; size_t n; };
struct verdict { long score, of, days_late, percent_off; double counts; };

static const char *text_of(const json_t *record, const char *key)
{
  const char *s = json_string_value(json_object_get(record, key));
  return s == NULL ? "" : s;
}

static long number_of(const json_t *record, const char *key)
{ return (long) json_integer_value(json_object_get(record, key)); }

/* the next line of a table, cut at tabs into n fields; false at the end.  Comments and lines with other numbers of fields are left out */
static bool next_row(FILE *f, char *line, size_t size, char **field, int n)
{
  while (fgets(line, (int) size, f) != NULL) {
    int k = 0;
    line[strcspn(line, "\r\n")] = '\0';
    if (*line == '#' || *line == '\0') continue;
    for (char *at = line; at != NULL && k < n; at = strchr(at, '\t')) {
      if (k > 0) *at++ = '\0';
      field[k++] = at;
    }
    for (; k < n; k++) field[k] = line + strlen(line);
    return true;
  }
  return false;
}

/* seconds since 1970; false if it is no such time */
static bool time_of(const char *words, time_t *t)
{
  struct tm utc = { 0 };
  if (strptime(words, "%Y-%m-%dT%H:%M:%SZ", &utc) == NULL) return false;
  *t = timegm(&utc);
  return true;
}

/* points that somebody has looked at again */
static bool regrade(const char *path, json_t *record)
{
  char line[1000], *field[5];
  FILE *f = path == NULL ? NULL : fopen(path, "r");
  if (path != NULL && f == NULL) return fprintf(stderr, "incipit-record: %s cannot be read\n", path), false;
  while (f != NULL && next_row(f, line, sizeof line, field, 5)) {
    if (strcmp(field[0], text_of(record, "student")) != 0 || strcmp(field[1], text_of(record, "lab")) != 0) continue;
    size_t i;
    json_t *test;
    bool found = false;
    json_array_foreach(json_object_get(record, "tests"), i, test)
      if (strcmp(field[2], text_of(test, "name")) == 0) {
        json_object_set_new(test, "points", json_integer(strtol(field[3], NULL, 10)));
        json_object_set_new(test, "feedback", json_sprintf("graded by hand: %s", field[4]));
        found = true;
      }
    if (!found) return fprintf(stderr, "incipit-record: %s: lab %s has no test %s\n", path, field[1], field[2]), fclose(f), false;
  }
  if (f != NULL) fclose(f);
  return true;
}

/* how late it was and what that costs: each day begun counts, free days first */
static bool judge(const char *path, const json_t *record, struct verdict *v)
{
  char line[1000], *field[4];
  time_t due = 0, handed = 0;
  long percent = 0, most = 0, free_days = 0;
  size_t i;
  json_t *test;
  *v = (struct verdict) { 0 };
  json_array_foreach(json_object_get(record, "tests"), i, test)
    v->score += number_of(test, "points"), v->of += number_of(test, "of");
  FILE *f = path == NULL ? NULL : fopen(path, "r");
  if (path != NULL && f == NULL) return fprintf(stderr, "incipit-record: %s cannot be read\n", path), false;
  while (f != NULL && next_row(f, line, sizeof line, field, 4)) {
    bool of_lab = strcmp(field[1], text_of(record, "lab")) == 0;
    if (strcmp(field[0], "due") == 0 && of_lab && !time_of(field[2], &due))
      return fprintf(stderr, "incipit-record: %s: %s is no time; wanted one like 2027-03-01T22:00:00Z\n", path, field[2]), fclose(f), false;
    if (strcmp(field[0], "late") == 0 && of_lab) percent = strtol(field[2], NULL, 10), most = strtol(field[3], NULL, 10);
    if (strcmp(field[0], "free") == 0 && strcmp(field[1], text_of(record, "student")) == 0) free_days = strtol(field[2], NULL, 10);
  }
  if (f != NULL) fclose(f);
  if (due != 0 && time_of(text_of(record, "submitted"), &handed) && handed > due) v->days_late = (long) ((handed - due + 86399) / 86400);
  long costly = v->days_late > free_days ? v->days_late - free_days : 0;
  v->percent_off = costly > most ? 100 : costly * percent;
  if (v->percent_off > 100) v->percent_off = 100;
  v->counts = (double) v->score * (double) (100 - v->percent_off) / 100;
  return true;
}

static const char *late_words(const struct verdict *v, char *words, size_t size)
{
  if (v->days_late == 0) return "";
  snprintf(words, size, "%ld day%s late: %ld %% off, %.4g points count", v->days_late, v->days_late == 1 ? "" : "s", v->percent_off, v->counts);
  return words;
}

static bool passed(const json_t *test) { return number_of(test, "points") >= number_of(test, "of"); }

static json_t *gradescope(const json_t *record, const struct verdict *v)
{
  char late[200];
  json_t *tests = json_array(), *test;
  size_t i;
  double seconds = 0;
  json_array_foreach(json_object_get(record, "tests"), i, test) {
    bool is_public = json_is_true(json_object_get(test, "public"));
    seconds += json_real_value(json_object_get(test, "seconds"));
    json_array_append_new(tests, json_pack("{s:i s:i s:s s:s s:o s:o s:s}", "score", (int) number_of(test, "points"), "max_score",
      (int) number_of(test, "of"), "status", passed(test) ? "passed" : "failed", "name", text_of(test, "promise"), "number",
      json_sprintf("%zu", i + 1), "output", json_string(text_of(test, "feedback")), "visibility", is_public ? "visible" : "after_due_date"));
  }
  return json_pack("{s:f s:f s:s s:s s:o s:o}", "score", v->counts, "execution_time", seconds, "output",
    *text_of(record, "error") ? text_of(record, "error") : late_words(v, late, sizeof late), "stdout_visibility", "hidden", "tests", tests,
    "extra_data", json_pack("{s:s s:s s:i}", "lab", text_of(record, "lab"), "commit", text_of(record, "commit"), "days_late", (int) v->days_late));
}

/* the reporter of GitHub Classroom adds up the scores of the tests, and counts those that pass: so a lateness is a test as well */
static json_t *classroom(const json_t *record, const struct verdict *v)
{
  char late[200];
  json_t *tests = json_array(), *test;
  size_t i;
  json_array_foreach(json_object_get(record, "tests"), i, test)
    json_array_append_new(tests, json_pack("{s:s s:s s:i s:o s:s s:s s:i s:f}", "name", text_of(test, "promise"), "status",
      passed(test) ? "pass" : "fail", "score", (int) number_of(test, "points"), "message",
      passed(test) ? json_null() : json_string(text_of(test, "feedback")), "test_code", text_of(test, "name"), "filename", "", "line_no", 0,
      "execution_time", json_real_value(json_object_get(test, "seconds"))));
  if (v->percent_off > 0)
    json_array_append_new(tests, json_pack("{s:s s:s s:f s:s}", "name", "handed in on time", "status", "fail", "score",
      v->counts - (double) v->score, "message", late_words(v, late, sizeof late)));
  return json_pack("{s:i s:s s:i s:o}", "version", 1, "status", v->score == v->of ? "pass" : "fail", "max_score", (int) v->of, "tests", tests);
}

static json_t *autolab(const json_t *record, const struct verdict *v)
{
  char late[200];
  json_t *scores = json_object(), *test;
  size_t i;
  if (*text_of(record, "error")) puts(text_of(record, "error"));
  json_array_foreach(json_object_get(record, "tests"), i, test) {
    printf("%s %3ld of %3ld  %s\n", passed(test) ? "ok " : "not", number_of(test, "points"), number_of(test, "of"), text_of(test, "promise"));
    if (!passed(test) && *text_of(test, "feedback")) printf("    %s\n", text_of(test, "feedback"));
    json_object_set_new(scores, text_of(test, "name"), json_real((double) number_of(test, "points") * (double) (100 - v->percent_off) / 100));
  }
  if (v->days_late > 0) puts(late_words(v, late, sizeof late));
  return json_pack("{s:o s:[f]}", "scores", scores, "scoreboard", v->counts);
}

static void print_base64(const char *text)
{
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t n = strlen(text);
  for (size_t i = 0; i < n; i += 3) {
    unsigned long three = 0;
    for (size_t k = 0; k < 3; k++) three = three << 8 | (i + k < n ? (unsigned char) text[i + k] : 0u);
    for (size_t k = 0; k < 4; k++) putchar(i + k > n ? '=' : digit[three >> (18 - 6 * k) & 63]);
  }
}

/* a field of a CSV: in quotation marks if it has to be (RFC 4180), and never what a spreadsheet takes for a formula */
static void print_field(const char *text, char after)
{
  bool quoted = strpbrk(text, ",\"\r\n") != NULL, formula = *text != '\0' && strchr("=+-@", *text) != NULL;
  if (quoted) putchar('"');
  if (formula) putchar('\'');
  for (; *text != '\0'; text++) {
    if (*text == '"') putchar('"');
    putchar(*text);
  }
  if (quoted) putchar('"');
  putchar(after);
}

static void print_line(const json_t *record, const struct verdict *v)
{
  static const char *const words[] = { "student", "lab", "commit", "submitted", "graded" };
  char number[40];
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) print_field(text_of(record, words[i]), ',');
  printf("%ld,%ld,%ld,%ld,", v->score, v->of, v->days_late, v->percent_off);
  snprintf(number, sizeof number, "%.6g", v->counts);
  print_field(number, ',');
  print_field(text_of(record, "error"), '\n');
}

static bool turn(const struct options *o, json_t *record, const char *path)
{
  struct verdict v;
  if (*text_of(record, "lab") == '\0' || !json_is_array(json_object_get(record, "tests")))
    return fprintf(stderr, "incipit-record: %s is no record of incipit-grade: it has no lab or no tests\n", path), false;
  if (!regrade(o->regrade, record) || !judge(o->policy, record, &v)) return false;
  if (strcmp(o->format, "csv") == 0) return print_line(record, &v), true;
  json_t *out = NULL;
  if (strcmp(o->format, "gradescope") == 0) out = gradescope(record, &v);
  else if (strcmp(o->format, "classroom") == 0) out = classroom(record, &v);
  else if (strcmp(o->format, "autolab") == 0) out = autolab(record, &v);
  else return fprintf(stderr, "incipit-record: no format is called %s; wanted: gradescope, classroom, autolab, csv\n", o->format), false;
  char *text = out == NULL ? NULL : json_dumps(out, strcmp(o->format, "gradescope") == 0 ? JSON_INDENT(1) : JSON_COMPACT);
  json_decref(out);
  if (text == NULL) return fprintf(stderr, "incipit-record: %s: no memory\n", path), false;
  if (strcmp(o->format, "classroom") == 0) {
    printf("result=");
    print_base64(text);
    putchar('\n');
  }
  else puts(text);
  free(text);
  return true;
}

static bool options(struct options *o, int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    bool more = i + 1 < argc;
    if (strcmp(argv[i], "--policy") == 0 && more) o->policy = argv[++i];
    else if (strcmp(argv[i], "--regrade") == 0 && more) o->regrade = argv[++i];
    else if (argv[i][0] == '-') return false;
    else if (o->format == NULL) o->format = argv[i];
    else if (o->n < MOST_RECORDS) o->file[o->n++] = argv[i];
    else return false;
  }
  return o->n > 0;
}

int main(int argc, char **argv)
{
  static struct options o;
  json_error_t why;
  bool ok = options(&o, argc, argv);
  if (!ok) return fprintf(stderr, "usage: incipit-record gradescope|classroom|autolab|csv [--policy FILE] [--regrade FILE] GRADE.json...\n"), 2;
  if (strcmp(o.format, "csv") == 0) puts("student,lab,commit,submitted,graded,score,of,days_late,percent_off,counts,error");
  for (size_t i = 0; i < o.n; i++) {
    json_t *record = json_load_file(o.file[i], 0, &why);
    if (record == NULL) ok = fprintf(stderr, "incipit-record: %s: %s\n", o.file[i], why.text) < 0;
    else ok = turn(&o, record, o.file[i]) && ok;
    json_decref(record);
  }
  return !ok;
}
