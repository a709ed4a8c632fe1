/* The ledger: rules and what they decide, tables that say what they may not, and incipit verify
   with faults planted: a changed value, a flipped verdict, a missing key, a program that fails.
   The planted trees have programs of a line of shell; the real ones are run by tests/checks/verify.sh. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include "runs.h"
#include "ledger_table.h"
#include "quotation.h"

static enum verdict decide(const char *rule, const char *printed, struct error *why)
{
  struct memory m = { .fail_at = 0 };
  struct run_values v = { .n = 0 };
  struct parsed_rule r;
  char text[400];
  snprintf(text, sizeof text, "%s", printed);
  ck_assert_msg(run_values_take(&v, &m, text, why), "%s", why->text);
  ck_assert_msg(rule_parse(rule, &r, why), "%s: %s", rule, why->text);
  enum verdict is = rule_decide(&r, &v, why);
  run_values_free(&v, &m);
  ck_assert_uint_eq(m.all.live, 0);
  return is;
}
START_TEST(rules_decide)
{
  static const struct { const char *rule, *printed; enum verdict is; } of[] = {
    { "says a = 150", "a 150\n", VERDICT_HOLDS },
    { "says a = 150", "a 150.0000 bytes\n", VERDICT_HOLDS },
    { "says a = 150", "a 149\n", VERDICT_OFF_BY_ONE },
    { "says a = 150", "a 151\n", VERDICT_OFF_BY_ONE },
    { "says a = 150", "a 149.5\n", VERDICT_WRONG },
    { "says a = 1.5", "a 2.5\n", VERDICT_WRONG },
    { "says a = 150", "a 148\n", VERDICT_WRONG },
    { "says a ~ 171", "a 171.2857\n", VERDICT_ROUNDED },
    { "says a ~ 171", "a 171\n", VERDICT_HOLDS },
    { "says a ~ 171", "a 171.5308\n", VERDICT_WRONG },
    { "says a ~ 171", "a 172\n", VERDICT_OFF_BY_ONE },
    { "says a ~ 416", "a 416.5\n", VERDICT_ROUNDED },
    { "says a ~ 417", "a 416.5\n", VERDICT_WRONG },
    { "says a ~ 5e1", "a 52.4288\n", VERDICT_ROUNDED },
    { "says a ~ 50", "a 52.4288\n", VERDICT_WRONG },
    { "says a ~ 0.15", "a 0.149\n", VERDICT_ROUNDED },
    { "says a / 1e9 ~ 5e1", "a 52428800000\n", VERDICT_ROUNDED },
    { "says a / b = 10", "a 1000\nb 100\n", VERDICT_HOLDS },
    { "says a - 1 = 99", "a 100\n", VERDICT_HOLDS },
    { "says a + b = 2 * 2", "a 3\nb 1\n", VERDICT_HOLDS },
    { "says a * b > 11", "a 3\nb 4\n", VERDICT_HOLDS },
    { "says a = b", "a 3\nb 3\n", VERDICT_HOLDS },
    { "says a in 10..100", "a 10\n", VERDICT_HOLDS },
    { "says a in 0.5..1.5", "a 1.6\n", VERDICT_WRONG },
    { "says a < 1", "a 1\n", VERDICT_WRONG },
    { "says a <= 1", "a 1\n", VERDICT_HOLDS },
    { "says a >= -1", "a -1\n", VERDICT_HOLDS },
    { "says a = 1 ; says b = 2", "a 1\nb 3\n", VERDICT_OFF_BY_ONE },
    { "says a = 1 ; says b ~ 2", "a 1\nb 2.2\n", VERDICT_ROUNDED },
    { "says a = 9 ; says b ~ 2", "a 1\nb 2.2\n", VERDICT_WRONG },
    { "true a = 1 ; read b = 2", "a 1\nb 9\n", VERDICT_MISLEADING },
    { "true a = 1 ; read b = 2", "a 1\nb 2\n", VERDICT_HOLDS },
    { "true a = 1 ; read b = 2", "a 9\nb 2\n", VERDICT_WRONG },
    { "true a = 5 ; read b ~ 0.3", "a 5\nb 0.29\n", VERDICT_ROUNDED }, /* the worse of two that hold */
    { "either a ~ 0.3 ; or b = 5", "a 0.29\nb 5\n", VERDICT_ROUNDED },
    { "true a = 1 ; read b = 2 ; read c = 3", "a 1\nb 2\nc 9\n", VERDICT_MISLEADING },
    { "either a = 1 ; or b = 2", "a 1\nb 9\n", VERDICT_AMBIGUOUS },
    { "either a = 1 ; or b = 2", "a 9\nb 2\n", VERDICT_AMBIGUOUS },
    { "either a = 1 ; or b = 2", "a 9\nb 9\n", VERDICT_WRONG },
    { "either a = 1 ; or b = 2", "a 1\nb 2\n", VERDICT_HOLDS },
    { "none", "", VERDICT_NOT_TESTABLE },
    { "to-come", "", VERDICT_TO_COME },
    { "says a = 1", "aa 1\nb 1\n", VERDICT_NOT_JUDGED }, /* a missing key is never alive */
    { "true a = 1 ; read b = 2", "a 1\n", VERDICT_NOT_JUDGED },
    { "says a / b = 1", "a 1\nb 0\n", VERDICT_NOT_JUDGED },
    { "says a = 1", "a version\na\nno line", VERDICT_NOT_JUDGED },
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct error why = { "" };
    enum verdict is = decide(of[i].rule, of[i].printed, &why);
    ck_assert_msg(is == of[i].is, "%s with %s: %s; wanted: %s", of[i].rule, of[i].printed,
      verdict_name(is), verdict_name(of[i].is));
    if (is == VERDICT_NOT_JUDGED) ck_assert(why.text[0] != '\0');
  }
}
END_TEST
START_TEST(what_is_no_rule_is_refused)
{
  static const struct { const char *rule, *words; } of[] = {
    { "", "ends too early" }, { "say a = 1", "`say'" }, { "says", "a key or a number" },
    { "says a", "= ~ <" }, { "says a == 1", "`=='" }, { "says a =", "ends too early" },
    { "says a = 1x", "`1x'" }, { "says a = ?", "`?'" }, { "says a in 5", "`5'" },
    { "says a in 9..1", "`9..1'" }, { "says a in ..", "`..'" }, { "says a in 1..x", "`1..x'" },
    { "says a = 1 says b = 2", "`says'" }, { "says a = 1 ;", "ends too early" },
    { "true a = 1", "mixes its words" }, { "read a = 1", "mixes its words" },
    { "says a = 1 ; read b = 2", "mixes its words" }, { "true a = 1 ; or b = 2", "mixes its words" },
    { "either a = 1", "mixes its words" }, { "none of it", "`none'" },
    { "says a / = 1", "`='" }, { "says a = 1 / 2 / 3", "`/'" },
    { "says a = 1 ; says a = 1 ; says a = 1 ; says a = 1 ; says a = 1 ; says a = 1 ; says a = 1",
      "more than 6 tests" },
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct parsed_rule r;
    struct error why = { "" };
    ck_assert_msg(!rule_parse(of[i].rule, &r, &why), "%s", of[i].rule);
    ck_assert_msg(strstr(why.text, of[i].words) != NULL, "%s: %s", of[i].rule, why.text);
  }
}
END_TEST
START_TEST(two_numbers_for_a_key_are_refused)
{
  struct memory m = { .fail_at = 0 };
  struct run_values v = { .n = 0 };
  struct error why;
  char same[] = "a 1\na 1.0\n", other[] = "b 2\na 3\n";
  ck_assert(run_values_take(&v, &m, same, &why));
  ck_assert(!run_values_take(&v, &m, other, &why));
  ck_assert_str_eq(why.text, "two numbers for a: 1 and 3");
  run_values_free(&v, &m);
}
END_TEST

/* an id is a source of one digit, a dash, and a number of four digits at most */
START_TEST(ids_are_known_by_their_form)
{
  static const struct { const char *id; bool is; } of[] = { { "S4-30", true }, { "S0-1", true }, { "S9-1234", true }, { "S4-", false },
    { "S4-12345", false }, { "S44-1", false }, { "T4-30", false }, { "S4_30", false }, { "S4-3x", false }, { "Sx-30", false }, { "", false } };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) ck_assert_msg(ledger_is_id(of[i].id) == of[i].is, "%s", of[i].id);
}
END_TEST
/* a number is shown whole if it is, with as many decimals as are asked for, else with four digits */
START_TEST(numbers_are_shown_as_they_are)
{
  static const struct { const char *pattern, *shown; } of[] = { { "{a}", "123456" }, { "{b}", "0.0001235" }, { "{c:1} of {a:0}", "2.5 of 123456" },
    { "{d}", "1e+15" }, { "{e}", "-7" }, { "{f}", "?" }, { "{c", "{c" }, { "", "" } };
  struct memory m = { .fail_at = 0 };
  struct run_values v = { .n = 0 };
  struct ledger_row r = { .id = "S4-30" };
  struct error why;
  char printed[] = "a 123456\nb 0.00012346\nc 2.54\nd 1000000000000000\ne -7\n", to[60];
  ck_assert(run_values_take(&v, &m, printed, &why));
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    ledger_fill(&r, &v, of[i].pattern, to, sizeof to);
    ck_assert_str_eq(to, of[i].shown);
  }
  run_values_free(&v, &m);
}
END_TEST
/* a bound matters if ours is near: ten times the author's, a thousand times one of ours; zero is near all, and a number
   of the other sign near none */
START_TEST(a_bound_must_be_near)
{
  static const struct { const char *printed; bool near; } of[] = { { "a 0\n", true }, { "a 1\n", true }, { "a 0.5\n", true }, { "a 0.4\n", false },
    { "a -3\n", false }, { "a -0.5\n", false } };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct memory m = { .fail_at = 0 };
    struct run_values v = { .n = 0 };
    struct ledger_row r = { .id = "S4-30", .ours = "", .claimed = "5", .rule = "says a < 5", .expected = VERDICT_HOLDS };
    struct error why;
    struct judgement j;
    char text[20];
    snprintf(text, sizeof text, "%s", of[i].printed);
    ck_assert(run_values_take(&v, &m, text, &why) && rule_parse(r.rule, &r.parsed, &why));
    ledger_judge(&r, &v, &j);
    ck_assert_msg(j.as_stated == of[i].near && j.found == (of[i].near ? VERDICT_HOLDS : VERDICT_NOT_JUDGED), "%s: %s", of[i].printed, j.why.text);
    run_values_free(&v, &m);
  }
}
END_TEST

/* ---- a clone in small: build/incipit, programs of shell beside it, and a ledger */
#define HEAD                                                                                       \
  "id\tchapter\tsection\trun\tkind\tverdict\tclaimed\tours\trule\tquote\ttrue\tread\twhy\tcommand\n"
#define GOOD                                                                                       \
  "S4-30\t3\tsec:a\tone\tcounted\toff-by-one\t150\t\tsays rows = 150\tThere are 150 rows.\t\t\t"    \
  "The last is {1}.\t\n"                                                                           \
  "S4-31\t3\tsec:a\tone two\tcounted\tmisleading\t6\t{1:1} and {2}\ttrue rows > 100 ; read pairs " \
  "= 6\tSix, that is 6.\tIn one sense.\tIn another, {pairs}.\tWhy.\tincipit generate The\n"         \
  "S4-32\t13\t\t\t-\tto-come\tsoon\t\tto-come\tLater.\t\t\tIt comes.\t\n"                            \
  "S0-01\t3\tsec:b\t\t-\tnot-testable-here\tall\t\tnone\tAll of them.\t\t\tNobody knows.\t\n"
/* the sums of these quotations, as sha256sum prints them */
#define SUMS                                                                                       \
  "id\tsha256\n"                                                                                   \
  "S4\t3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d\n"     \
  "S4-30\t894e5f994f89b75262d88fca0d93d7e4d6484524aff4dff71678a95e8d069174\n"  \
  "S4-31\t456b89eecd4de42fd0c57b5aa3e7984147b2723cd20b7cb0669048254f9fb726\n"  \
  "S4-32\t2fa02eef51bd0fa06a6819892679ed722a4940bd60bf29131d7fb53cd202afe9\n"  \
  "S0-01\te02dd0ab39a485cab361a3f29c1ed887575bd036212015f758debab64c075045\n"
static void put(const char *name, const char *text, mode_t mode)
{
  char path[5000];
  snprintf(path, sizeof path, "%s/%s", room_dir, name);
  FILE *f = fopen(path, "w");
  ck_assert_msg(f != NULL, "%s", path);
  fputs(text, f);
  fclose(f);
  chmod(path, mode);
}
static void tree(const char *claims, const char *one, const char *two)
{
  static const char *const folder[] = { "", "/build", "/build/bin", "/build/bin/laboratory",
    "/ledger" };
  char path[5000];
  for (int i = 0; i < 5; i++) {
    snprintf(path, sizeof path, "%s%s", room_dir, folder[i]);
    mkdir(path, 0777);
  }
  put("ledger/claims.tsv", claims, 0666);
  put("ledger/sources.tsv", "id\ttitle\tkind\tdate\twhere\tbegins\nS4\tt\tk\td\tw\tb\n", 0666);
  put("ledger/quotations.tsv", SUMS, 0666);
  put("build/bin/laboratory/one", one, 0777);
  put("build/bin/laboratory/two", two, 0777);
}
static struct run verify(const char *line)
{
  char program[5000], *copy = strdup(line), *argv[256], *in;
  snprintf(program, sizeof program, "%s/build/incipit", room_dir);
  int argc = words_of(copy, argv, &in);
  struct run r = run_words(argc, argv, "", 0, 0, 0, program);
  for (int i = 0; i < argc; i++) free(argv[i]);
  free(in), free(copy);
  return r;
}
#define ONE "#!/bin/sh\necho rows 149\n"
#define TWO "#!/bin/sh\necho a word to the wise >&2\necho pairs 7 bytes\n"
static void comes_out(const char *line, int status, const char *out, const char *err)
{
  struct run r = verify(line);
  ck_assert_msg(r.status == status, "%s: status %d: %s%s", line, r.status, r.out, r.err);
  ck_assert_msg(out == NULL || strstr(r.out, out) != NULL, "%s: %s; wanted: %s", line, r.out, out);
  ck_assert_msg(err == NULL || strstr(r.err, err) != NULL, "%s: %s; wanted: %s", line, r.err, err);
  done(&r);
}
START_TEST(a_ledger_that_is_right)
{
  tree(HEAD GOOD, ONE, TWO);
  comes_out("verify", 0, "S4-30  off-by-one          150 | 149  (chapter 3, sec:a)\n"
                         "S4-31  misleading          6 | 149.0 and 7  (chapter 3, sec:a)\n"
                         "S4-32  to-come             soon  (chapter 13)\n"
                         "S0-01  not-testable-here   all  (chapter 3, sec:b)\n",
    "4 claims: 1 off-by-one, 1 misleading, 1 not-testable-here, 1 to-come\n");
  comes_out("verify S4-31", 0, "\"Six, that is 6.\"", "");
  comes_out("verify S4-31", 0, "read:   In another, 7.", "");
  comes_out("verify S4-30", 0, "why:    The last is 149.", "");
  comes_out("verify --source S0", 0, "S0-01", "1 claims");
  comes_out("verify --chapter 13", 0, "S4-32", "1 claims");
  comes_out("verify --verdict misleading", 0, "S4-31", "1 claims");
  comes_out("verify S4-99", 2, "", "there is no claim `S4-99'; wanted: an id of the ledger");
  comes_out("verify 'of THEM'", 0, "S0-01", "");
  comes_out("verify 150 rows", 0, "S4-30  off-by-one", "");
  comes_out("verify S4-31 150 rows", 0, "S4-31  misleading", "");
  comes_out("verify of them all", 2, "", "no sentence of the ledger has the words `of them all'");
}
END_TEST
/* a place is named as the book prints it; one that no section has, by its label */
START_TEST(places_have_numbers)
{
  tree(HEAD GOOD, ONE, TWO);
  put("build/sections.tsv", "sec:aa\t1.1\tNot this\nsec:a\tL3.7\tRows, counted\nsec:b\n", 0666);
  comes_out("verify S4-30", 0, "  where:  section L3.7 of the laboratory: Rows, counted\n", "");
  comes_out("verify", 0, "S4-30  off-by-one          150 | 149  (section L3.7)\n", "");
  comes_out("verify S0-01", 0, "  where:  chapter 3, sec:b\n", "");
  comes_out("verify S4-32", 0, "  where:  chapter 13\n", "");
  comes_out("verify S4-30 --json", 0, "\"section\":\"sec:a\"", "");
  put("build/sections.tsv", "sec:a\t3.7\tRows", 0666);
  comes_out("verify S4-30", 0, "  where:  section 3.7: Rows\n", "");
  put("build/sections.tsv", "", 0666);
  comes_out("verify S4-30", 0, "  where:  chapter 3, sec:a\n", "");
  char path[5000];
  snprintf(path, sizeof path, "%s/build/sections.tsv", room_dir);
  unlink(path);
}
END_TEST
START_TEST(the_object_has_its_fields)
{
  tree(HEAD GOOD, ONE, TWO);
  struct run r = verify("verify S4-30 S4-32 --json");
  json_t *list = json_loads(r.out, 0, NULL), *o = json_array_get(list, 0);
  static const char *const key[] = { "id", "source", "quote", "rule", "verdict", "claimed", "ours",
    "section", "command", "seconds" };
  ck_assert_msg(json_array_size(list) == 2 && json_object_size(o) == 10, "%s", r.out);
  for (int i = 0; i < 10; i++)
    ck_assert_msg(i < 9 ? json_is_string(json_object_get(o, key[i]))
                        : json_is_number(json_object_get(o, key[i])), "%s", key[i]);
  ck_assert_str_eq(json_string_value(json_object_get(o, "ours")), "149");
  ck_assert_str_eq(json_string_value(json_object_get(o, "source")), "S4");
  json_decref(list);
  done(&r);
}
END_TEST

/* faults in what programs print: status 1, and a sentence that names the row */
START_TEST(faults_of_a_run)
{
  tree(HEAD GOOD, "#!/bin/sh\necho rows 150\n", TWO);
  comes_out("verify", 1, "S4-30  holds", "row S4-30: the verdict is off-by-one; by its rule and the"
    " run it is holds (ours: 150)");
  tree(HEAD GOOD, ONE, "#!/bin/sh\necho pairs 6\n");
  comes_out("verify S4-31", 1, "S4-31  holds", "row S4-31: the verdict is misleading");
  tree(HEAD GOOD, "#!/bin/sh\necho row 149\n", TWO);
  comes_out("verify", 1, "S4-30  not-judged", "S4-30 is not judged: no program printed the key rows");
  tree(HEAD GOOD, "#!/bin/sh\necho rows 149\necho it broke >&2\nexit 3\n", TWO);
  comes_out("verify", 1, "S4-30  not-judged", "S4-30 is not judged:");
  comes_out("verify", 1, "S4-31  not-judged", "one failed: it broke");
  tree(HEAD GOOD, ONE, "#!/bin/sh\necho pairs 7\necho rows 148\n");
  comes_out("verify", 1, "S4-31  not-judged", "two numbers for rows");
  tree(HEAD GOOD, "#!/bin/sh\nkill -9 $$\n", TWO);
  comes_out("verify", 1, "S4-30  not-judged", "one failed");
  char path[5000];
  tree(HEAD GOOD, ONE, TWO);
  snprintf(path, sizeof path, "%s/build/bin/laboratory/two", room_dir);
  unlink(path);
  comes_out("verify", 1, "S4-31  not-judged", "the program two is not beside the command");
  comes_out("verify S4-30", 0, "off-by-one", "");
}
END_TEST

/* faults in the table: the sentence names file, row and field */
START_TEST(faults_of_a_table)
{
  static const struct { const char *from, *to, *words; } of[] = {
    { "off-by-one\t150", "holds\t150", "row S4-30: the verdict is holds; by its rule and the run it"
      " is off-by-one" },
    { "misleading\t6", "wrong\t6", "row S4-31: the verdict is wrong" },
    { "off-by-one\t150", "off-by-one\t149", "row S4-30, field claimed: `149'; wanted: numbers of"
      " the quotation" },
    { "says rows = 150", "says rows = 149", "row S4-30, field claimed: `150'; wanted: the numbers"
      " of the rule" },
    { "\toff-by-one\t", "\toff-by-two\t", "row S4-30, field verdict: `off-by-two'; wanted: a" },
    { "\toff-by-one\t", "\tnot-judged\t", "row S4-30, field verdict: `not-judged'" },
    { "says rows = 150", "says rows is 150", "row S4-30, field rule: `is' in the rule" },
    { "{1:1} and {2}", "149 and {2}", "row S4-31, field ours: `149 and {2}'; wanted: no number" },
    { "In one sense.", "", "row S4-31, field true, read" },
    { "In another, {pairs}.", "", "row S4-31, field true, read" },
    { "There are 150 rows.", "", "row S4-30, field quote" },
    { "Why.", "", "row S4-31, field why" },
    { "\tone two\t", "\t\t", "row S4-31, field run" },
    { "\tone\tcounted", "\tone\tguessed", "row S4-30, field kind: `guessed'" },
    { "S4-31\t", "S4-30\t", "row S4-30, field id: `S4-30'; wanted: each id once" },
    { "S4-31\t", "T4-31\t", "row T4-31, field id: `T4-31'; wanted: as S4-30" },
    { "S0-01\t3\t", "S0-01\t", "row S0-01: 13 fields; wanted: 14" },
    { "Nobody knows.\t", "Nobody knows.\tx\ty", "row S0-01: 15 fields; wanted: 14" },
    { "none\t", "says rows = 1\t", "row S0-01, field run" },
    /* quotations are their authors' */
    { "There are 150", "There were 150", "row S4-30, field quote: `There were 150 rows.'; wanted: the author's words" },
    { "150 rows.\t", "150 rows\t", "row S4-30, field quote" },
    { "All of them.", "all of them.", "row S0-01, field quote" },
    { "Later.", "Later.[lost]And", "row S4-32, field quote" },
    { "Six, that is 6.", "All of them, 6.", "row S4-31, field quote" },
    { "S4-32\t", "S4-33\t", "row S4-33, field id: `S4-33'; wanted: one that ledger/quotations.tsv has" },
    /* a rule compares the author's number with ours */
    { "says rows = 150", "says rows - 1 = 150", "row S4-30, field rule: `says rows - 1 = 150'; wanted: on the left our key" },
    { "says rows = 150", "says 1 + rows = 150", "row S4-30, field rule" },
    { "says rows = 150", "says rows = 150 ; says rows > 0", "row S4-30, field rule" },
    { "says rows = 150", "says rows = 150 ; says rows >= 0", "row S4-30, field rule" },
    { "says rows = 150", "says rows = 150 ; says rows = rows", "row S4-30, field rule" },
    { "says rows = 150", "says rows = 150 ; says rows / rows = 1", "row S4-30, field rule" },
    { "says rows = 150", "says 150 = 150", "row S4-30, field rule" },
    { "says rows = 150", "says rows / 2 = 150 ; says rows / 2 <= rows / 2", "row S4-30, field rule" },
    { "\t150\t\tsays rows = 150", "\t(lost)\t\tsays rows = 150", "row S4-30, field rule: `says rows = 150'; wanted: none" },
    { "\tall\t", "\tO(n)\t", "row S0-01, field claimed: `O(n)'; wanted: words of the quotation" },
    /* and a bound that matters, the author's more than ours: 149 is not 5 or less, nor 0.1 */
    { "off-by-one\t150\t\tsays rows = 150", "off-by-one\t150\t\tsays rows = 150 ; says rows > 0.1",
      "row S4-30, field rule: test 2 of `says rows = 150 ; says rows > 0.1' comes out the same" },
    { "off-by-one\t150\t\tsays rows = 150", "off-by-one\t150\t\tsays rows = 150 ; says rows in 0.01..1e6",
      "row S4-30, field rule: test 2" },
    { "true rows > 100 ; read pairs = 6", "true rows > 6 ; read pairs = 6", "row S4-31, field rule: test 1" },
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    static char text[4000];
    const char *at = strstr(HEAD GOOD, of[i].from);
    ck_assert_msg(at != NULL, "%s", of[i].from);
    size_t n = (size_t) (at - strstr(HEAD GOOD, HEAD));
    snprintf(text, sizeof text, "%.*s%s%s", (int) n, HEAD GOOD, of[i].to, at + strlen(of[i].from));
    tree(text, ONE, TWO);
    struct run r = verify("verify");
    ck_assert_msg(r.status == 1 && strstr(r.err, of[i].words) != NULL
        && strstr(r.err, "ledger/claims.tsv") != NULL, "%s -> %s: status %d: %s", of[i].from,
      of[i].to, r.status, r.err);
    done(&r);
  }
}
END_TEST
/* the numbers of a claim are those of its sentence, however these are written: with commas between thousands or between
   numbers, with a point inside or behind, in a range */
START_TEST(numbers_of_a_sentence_are_found)
{
  static const struct { const char *quote, *claimed, *kind, *verdict, *run, *rule; bool good; } of[] = {
    { "In 1,024 rows, 3,2 and 10..100 it is 2.5.", "1024, 3, 2, 10, 100 and 2.5", "-", "not-testable-here", "", "none", true },
    { "In 1,024 rows, 3,2 and 10..100 it is 2.5.", "24", "-", "not-testable-here", "", "none", false },
    { "In 1,024 rows, 3,2 and 10..100 it is 2.5.", "32", "-", "not-testable-here", "", "none", false },
    { "Of 75 rows there are 2.", "2 times 75", "counted", "off-by-one", "one", "says rows = 75 * 2", true },
    { "Of 75 rows there are 2.", "2 times 75", "counted", "off-by-one", "one", "says rows = 150", false },
    { "Of 75 rows there are 2.", "75", "counted", "off-by-one", "one", "says rows = 75 * 2", true } };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    static char line[2000], folded[400], sum[QUOTATION_SUM], sums[2000];
    snprintf(line, sizeof line, HEAD "S4-30\t3\tsec:a\t%s\t%s\t%s\t%s\t\t%s\t%s\t\t\tWhy.\t\n", of[i].run, of[i].kind, of[i].verdict,
      of[i].claimed, of[i].rule, of[i].quote);
    quotation_fold(of[i].quote, folded);
    quotation_sum(folded, strlen(folded), sum);
    snprintf(sums, sizeof sums, "id\tsha256\nS4\t3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d\nS4-30\t%s\n", sum);
    tree(line, ONE, TWO);
    put("ledger/quotations.tsv", sums, 0666);
    comes_out("verify", of[i].good ? 0 : 1, NULL, of[i].good ? "1 claims" : "row S4-30, field claimed");
  }
}
END_TEST
START_TEST(no_ledger_and_no_memory)
{
  char path[5000];
  tree(HEAD GOOD, ONE, TWO);
  snprintf(path, sizeof path, "%s/ledger/sources.tsv", room_dir);
  unlink(path);
  comes_out("verify", 1, "", "sources.tsv");
  snprintf(path, sizeof path, "%s/ledger/quotations.tsv", room_dir);
  unlink(path);
  put("ledger/sources.tsv", "id\ttitle\tkind\tdate\twhere\tbegins\nS4\tt\tk\td\tw\tb\n", 0666);
  comes_out("verify", 1, "", "quotations.tsv");
  put("ledger/quotations.tsv", SUMS, 0666);
  put("ledger/sources.tsv", "id\ttitle\tkind\tdate\twhere\tbegins\nS4\tt\tk\td\tw\tB\n", 0666);
  comes_out("verify", 1, "", "ledger/sources.tsv, row S4, field begins: `B'; wanted: the author's words");
  snprintf(path, sizeof path, "%s/ledger/claims.tsv", room_dir);
  unlink(path);
  comes_out("verify", 1, "", "there is no ledger/claims.tsv beside");
  tree(HEAD GOOD, ONE, TWO);
  for (uint64_t at = 1; at < 12; at++) {
    char program[5000], *argv[] = { "incipit", "verify", "-q", NULL };
    snprintf(program, sizeof program, "%s/build/incipit", room_dir);
    struct run r = run_words(3, argv, "", 0, 0, at, program);
    ck_assert_msg(r.status == 1 || (r.status == 0 && at > 5), "request %d: status %d", (int) at,
      r.status);
    done(&r);
  }
}
END_TEST
START_TEST(cancelled_programs_are_ended)
{
  tree(HEAD GOOD, "#!/bin/sh\nexec sleep 50\n", TWO);
  asks_allowed = 3;
  comes_out("verify", 130, "", NULL);
  asks_allowed = 0;
}
END_TEST

/* ---- the words of a sentence, however they are typed */
START_TEST(words_are_found_as_they_are_typed)
{
  static const struct { const char *text, *words; bool in; } of[] = {
    { "The model can\u2019t plan", "can't plan", true }, { "a \u201cquoted\u201d word", "A \"Quoted\" Word", true },
    { "gold \u2014 silver", "gold - silver", true }, { "one\n two", "one two", true }, { "aab", "ab", true },
    { "aab", "abb", false }, { "ab", "abc", false }, { "", "a", false }, { "a", "", true }, { "\u20ac5", "5", true } };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    ck_assert_msg(quotation_contains(of[i].text, of[i].words) == of[i].in, "%s in %s", of[i].words, of[i].text);
}
END_TEST

/* ---- the ledger that is committed */
START_TEST(quotations_are_folded_and_summed)
{
  static const struct { const char *text, *folded; } of[] = {
    { " a\t\nb \r c ", "a b c" }, { "( True)", "(True)" }, { "**a** * b", "a * b" },
    { "from [lost] to [lost], a", "from to , a" }, { "([lost])", "()" }, { "[lost]: the", ": the" },
    { "a[lost]b [lost]", "a b" }, { "[a] … b", "[a] … b" }, { "", "" },
  };
  char to[100];
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    quotation_fold(of[i].text, to);
    ck_assert_str_eq(to, of[i].folded);
  }
  /* the examples of the standard, and lengths about a block: those of sha256sum */
  static const struct { size_t n; const char *sum; } a[] = {
    { 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318" },
    { 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a" },
    { 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb" },
    { 200, "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5" },
  };
  char text[201], sum[QUOTATION_SUM];
  memset(text, 'a', sizeof text);
  for (size_t i = 0; i < sizeof a / sizeof *a; i++) {
    quotation_sum(text, a[i].n, sum);
    ck_assert_str_eq(sum, a[i].sum);
  }
  quotation_sum("abc", 3, sum);
  ck_assert_str_eq(sum, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
END_TEST
/* a word of any row that is altered is refused, whether or not the sources are at hand */
START_TEST(an_altered_word_is_refused)
{
  static const char *const name[] = { "claims.tsv", "sources.tsv", "quotations.tsv" };
  char *text[3], path[5000];
  struct error why;
  struct memory m = { .fail_at = 0 };
  struct ledger l;
  tree(HEAD GOOD, ONE, TWO);
  for (int i = 0; i < 3; i++) {
    struct mapping map;
    snprintf(path, sizeof path, "ledger/%s", name[i]);
    ck_assert_msg(file_map(&map, path, &why), "%s", why.text);
    text[i] = strndup((const char *) map.bytes, map.size);
    file_unmap(&map);
    snprintf(path, sizeof path, "ledger/%s", name[i]);
    put(path, text[i], 0666);
  }
  snprintf(path, sizeof path, "%s/ledger", room_dir);
  ck_assert_msg(ledger_open(&l, &m, path, &why), "%s", why.text);
  ck_assert_uint_eq(l.n, 347);
  for (size_t i = 0; i < l.n; i++) { /* one letter, in turn at the beginning, in the middle, at the end */
    size_t n = strlen(l.rows[i].quote), at = (size_t) (l.rows[i].quote - l.text[0]);
    at += i % 3 * (n - 1) / 2;
    while (((unsigned char) text[0][at] & 0xc0) == 0x80) at--;
    char before = text[0][at];
    text[0][at] = before == 'q' ? 'x' : 'q';
    put("ledger/claims.tsv", text[0], 0666);
    text[0][at] = before;
    struct ledger wrong;
    ck_assert_msg(!ledger_open(&wrong, &m, path, &why), "%s", l.rows[i].id);
    ck_assert_msg(strstr(why.text, l.rows[i].id) != NULL && strstr(why.text, "field") != NULL, "%s: %s",
      l.rows[i].id, why.text);
  }
  ledger_close(&l);
  for (int i = 0; i < 3; i++) free(text[i]);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
START_TEST(all_claims_are_there)
{
  static const size_t wanted[] = { 63, 62, 108, 54, 60 };
  struct memory m = { .fail_at = 0 };
  struct ledger l;
  struct error why;
  size_t of[5] = { 0 };
  ck_assert_msg(ledger_open(&l, &m, "ledger", &why), "%s", why.text);
  ck_assert_uint_eq(l.n, 347);
  ck_assert_uint_eq(l.n_sources, 5);
  for (size_t i = 0; i < l.n; i++) of[l.rows[i].id[1] - '0']++;
  for (size_t s = 0; s < 5; s++) {
    ck_assert_uint_eq(of[s], wanted[s]);
    for (size_t i = 1; i <= wanted[s]; i++) {
      char id[12];
      snprintf(id, sizeof id, "S%zu-%02zu", s, i);
      ck_assert_msg(ledger_find(&l, id) != NULL, "%s", id);
    }
  }
  ledger_close(&l);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
START_TEST(quotations_are_letter_for_letter)
{
  struct memory m = { .fail_at = 0 };
  struct ledger l;
  struct error why;
  unsigned n = 0, bad = 0;
  ck_assert_msg(ledger_open(&l, &m, "ledger", &why), "%s", why.text);
  for (int s = 0; s < 5; s++) {
    char path[4096], name[60];
    struct mapping map;
    snprintf(name, sizeof name, "reference/tutorials/S%d.txt", s);
    if (shared_file(path, sizeof path, name) == NULL) continue;
    ck_assert_msg(file_map(&map, path, &why), "%s", why.text);
    char *text = strndup((const char *) map.bytes, map.size);
    file_unmap(&map);
    char *folded = malloc(strlen(text) + 1);
    quotation_fold(text, folded);
    for (size_t i = 0; i < l.n; i++) {
      if (l.rows[i].id[1] != '0' + s) continue;
      /* what stands there in the source is the sum's; that it is the row's is known since ledger_open */
      char *quote = malloc(strlen(l.rows[i].quote) + 1), sum[QUOTATION_SUM], line[100];
      quotation_fold(l.rows[i].quote, quote);
      const char *at = strstr(folded, quote);
      if (at != NULL) quotation_sum(at, strlen(quote), sum);
      snprintf(line, sizeof line, "\n%s\t%s\n", l.rows[i].id, at == NULL ? "" : sum);
      n++;
      if (at == NULL || strstr(l.text[2], line) == NULL) bad++, printf("%s: %s\n", l.rows[i].id, quote);
      free(quote);
    }
    free(text), free(folded);
  }
  if (n > 0) tally("ledger: quotations", n - bad, bad, 0, "");
  ck_assert_uint_eq(bad, 0);
  ledger_close(&l);
}
END_TEST

int main(void)
{
  char here[4000];
  if (getcwd(here, sizeof here) == NULL) return 1;
  if (build_dir()[0] == '/') snprintf(room_dir, sizeof room_dir, "%s/tests/ledger-room", build_dir());
  else snprintf(room_dir, sizeof room_dir, "%s/%s/tests/ledger-room", here, build_dir());
  Suite *s = suite_create("ledger");
  TCase *t = tcase_create("rules");
  tcase_add_test(t, rules_decide);
  tcase_add_test(t, what_is_no_rule_is_refused);
  tcase_add_test(t, two_numbers_for_a_key_are_refused);
  tcase_add_test(t, ids_are_known_by_their_form);
  tcase_add_test(t, numbers_are_shown_as_they_are);
  tcase_add_test(t, a_bound_must_be_near);
  suite_add_tcase(s, t);
  t = tcase_create("verify");
  tcase_add_test(t, a_ledger_that_is_right);
  tcase_add_test(t, places_have_numbers);
  tcase_add_test(t, the_object_has_its_fields);
  tcase_add_test(t, faults_of_a_run);
  tcase_add_test(t, faults_of_a_table);
  tcase_add_test(t, numbers_of_a_sentence_are_found);
  tcase_add_test(t, no_ledger_and_no_memory);
  tcase_add_test(t, cancelled_programs_are_ended);
  suite_add_tcase(s, t);
  t = tcase_create("the table");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, all_claims_are_there);
  tcase_add_test(t, quotations_are_folded_and_summed);
  tcase_add_test(t, words_are_found_as_they_are_typed);
  tcase_add_test(t, an_altered_word_is_refused);
  tcase_add_test(t, quotations_are_letter_for_letter);
  suite_add_tcase(s, t);
  return suite_run(s);
}
