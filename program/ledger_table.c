/* ledger_table.c -- the table of the ledger: reads ledger/claims.tsv and ledger/sources.tsv, refuses
   rows that say what they may not, and lets a row meet the numbers of a run. The rules themselves,
   and how they decide, are chapter 16 (ledger/rules.h).

   A table is a text file with a line for each row and a tab between its fields, so that it can be
   searched with grep, opened as a spreadsheet, and compared line by line when it changes. It is
   read as a whole and cut into fields where it stands. Every complaint names file, row and field.

   A third table, ledger/quotations.tsv, has a sum of each quotation, made from the source itself by
   tools/quotations.lua: a word that is changed in a quotation is noticed where no copy of the
   source is at hand. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ledger_table.h"
#include "quotation.h"

/* the file, with a zero byte after it */
static char *table_read(struct memory *m, const char *path, struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return NULL;
  char *text = memory_alloc(m, MEMORY_OTHER, map.size + 1, 1, why);
  if (text != NULL && map.size > 0) memcpy(text, map.bytes, map.size);
  file_unmap(&map);
  return text;
}

static char *cut(char **text, const char *end)
{
  char *part = *text;
  *text += strcspn(*text, end);
  if (**text != '\0') *(*text)++ = '\0';
  return part;
}

static size_t count_lines(const char *text)
{
  size_t n = 0;
  for (; *text != '\0'; text++) n += *text == '\n';
  return n + 1;
}

/* each field goes where it belongs; a row with the wrong number of fields is refused by its first
   field, which is most likely still the id */
static bool cut_fields(char *line, const char ***field, size_t n,
  const char *name, struct error *why)
{
  const char *id = line;
  size_t tabs = 0;
  for (const char *c = line; *c != '\0'; c++) tabs += *c == '\t';
  for (size_t i = 0; i < n; i++) *field[i] = cut(&line, "\t");
  return tabs == n - 1 || error_say(why,
    "%s, row %.20s: %zu fields; wanted: %zu, with tabs between them", name, id,
    tabs + 1, n);
}

static bool row_error(const struct ledger_row *r, const char *field,
  const char *found, const char *wanted, struct error *why)
{
  char place[80];
  snprintf(place, sizeof place, "row %.20s, field %s", r->id, field);
  return error_say(why, "ledger/claims.tsv, %s: `%.160s'; wanted: %s", place, found,
    wanted);
}

bool ledger_is_id(const char *id)
{
  size_t n = strlen(id);
  return n > 3 && n < 8 && id[0] == 'S' && id[1] >= '0' && id[1] <= '9'
    && id[2] == '-' && strspn(id + 3, "0123456789") == n - 3;
}

static bool words_known(struct ledger_row *r, struct error *why)
{
  static const char *const kind[] = { "counted", "measured", "computed", "-" };
  bool known = false;
  for (int i = 0; i < 4; i++) known = known || strcmp(r->kind, kind[i]) == 0;
  if (!ledger_is_id(r->id)) return row_error(r, "id", r->id, "as S4-30", why);
  if (!known) return row_error(r, "kind", r->kind,
    "counted, measured, computed or -", why);
  return (verdict_find(r->stated, &r->expected)
      && r->expected != VERDICT_NOT_JUDGED)
    || row_error(r, "verdict", r->stated, "a verdict", why);
}

/* numbers with or without commas between thousands */
static bool next_number(const char **text, double *x)
{
  char digits[40];
  size_t n = 0;
  *text += strcspn(*text, "0123456789");
  if (**text == '\0') return false;
  const char *c = *text;
  for (; n < sizeof digits - 1; c++)
    if ((*c >= '0' && *c <= '9') || (*c == '.' && c[1] >= '0' && c[1] <= '9'))
      digits[n++] = *c;
    else if (*c != ',' || strspn(c + 1, "0123456789") < 3) break;
  digits[n] = '\0';
  *x = strtod(digits, NULL);
  *text = c;
  return true;
}

static bool text_has(const char *text, double wanted)
{
  double x;
  while (next_number(&text, &x))
    if (x == wanted) return true;
  return false;
}

static bool rule_has(const struct parsed_rule *r, double x)
{
  for (size_t i = 0; i < r->n; i++) {
    const struct rule_test *t = &r->list[i];
    const struct expression *e = &t->theirs;
    if (t->how == RELATION_IN && (t->low == x || t->high == x)) return true;
    if (t->how == RELATION_IN) continue;
    if (e->first.n == 0 && e->first.x == x) return true;
    if (e->sign != '\0' && e->second.n == 0 && e->second.x == x) return true;
  }
  return false;
}

/* The number claimed is the author's, so it stands in the sentence, and it is the one that the rule
   compares with: who corrects it in one place only is refused. Ours is never typed: outside of the
   braces of a pattern there is no digit. */
static bool numbers_agree(const struct ledger_row *r, struct error *why)
{
  const char *text = r->claimed;
  double x;
  bool decided = !r->parsed.none && !r->parsed.to_come;
  while (next_number(&text, &x)) {
    if (!text_has(r->quote, x)) return row_error(r, "claimed", r->claimed,
      "numbers of the quotation", why);
    if (decided && !rule_has(&r->parsed, x)) return row_error(r, "claimed",
      r->claimed, "the numbers of the rule", why);
  }
  bool inside = false;
  for (const char *c = r->ours; *c != '\0'; c++) {
    inside = *c == '{' || (inside && *c != '}');
    if (!inside && *c >= '0' && *c <= '9') return row_error(r, "ours", r->ours,
      "no number outside of braces", why);
  }
  return true;
}

/* A result that our copy of the source has lost is not judged. A growth, as O(n), is claimed where it
   stands in the sentence, and is not read into it. */
static bool nothing_lost(const struct ledger_row *r, struct error *why)
{
  bool lost = strcmp(r->claimed, "(lost)") == 0;
  if (lost && !r->parsed.none) return row_error(r, "rule", r->rule,
    "none: what the copy has lost is not judged", why);
  return strstr(r->claimed, "O(") == NULL || strstr(r->quote, r->claimed) != NULL
    || row_error(r, "claimed", r->claimed, "words of the quotation", why);
}

static bool same_operand(const struct operand *a, const struct operand *b)
{
  return a->n == b->n && (a->n > 0 ? memcmp(a->key, b->key, a->n) == 0 : a->x == b->x);
}

/* A test compares our number, on the left, with the author's. So there is a key on the left, no key
   twice, and no number that is added: x - 1 = 0 says what somebody knew beforehand. And what counts or
   weighs is above zero whatever the author says. */
static bool test_compares(const struct rule_test *t)
{
  const struct expression *a = &t->ours, *b = &t->theirs;
  bool two = a->sign != '\0', sum = a->sign == '+' || a->sign == '-';
  int keys = (a->first.n > 0) + (two && a->second.n > 0);
  if (keys == 0 || (two && sum && keys < 2) || (two && same_operand(&a->first, &a->second)))
    return false;
  if (t->how == RELATION_IN) return true;
  bool order = t->how != RELATION_EQUAL && t->how != RELATION_ABOUT;
  if (order && b->sign == '\0' && b->first.n == 0 && b->first.x == 0) return false;
  return a->sign != b->sign || !same_operand(&a->first, &b->first)
    || (two && !same_operand(&a->second, &b->second));
}

static bool rule_compares(const struct ledger_row *r, struct error *why)
{
  for (size_t i = 0; i < r->parsed.n; i++)
    if (!test_compares(&r->parsed.list[i])) return row_error(r, "rule", r->rule,
      "on the left our key, which nothing is added to, on the right the author's number, and none"
      " that is true by itself", why);
  return true;
}

/* Quotations are their authors', to the letter. */
static bool quotation_is(struct ledger *l, const char *id, const char *quote, struct error *why)
{
  char key[24], sum[QUOTATION_SUM];
  int n = snprintf(key, sizeof key, "\n%.16s\t", id);
  const char *at = strstr(l->text[2], key);
  if (at == NULL) return error_say(why, "ledger/claims.tsv, row %.20s, field id: `%.20s'; wanted: one that"
    " ledger/quotations.tsv has a sum for, which tools/quotations.lua takes from the source", id, id);
  quotation_fold(quote, l->folded);
  quotation_sum(l->folded, strlen(l->folded), sum);
  size_t length = strcspn(at + n, "\n");
  return (length == QUOTATION_SUM - 1 && memcmp(at + n, sum, length) == 0)
    || error_say(why, "%s, row %.20s, field %s: `%.160s'; wanted: the author's words, whose sum"
         " ledger/quotations.tsv has", strchr(id, '-') != NULL ? "ledger/claims.tsv"
         : "ledger/sources.tsv", id, strchr(id, '-') != NULL ? "quote" : "begins", quote);
}

/* What must be there depends on the rule. A row that a run decides names its programs and what kind
   of number ours is; a judgement has both senses in words; no row is without its sentence and its
   reason. */
static bool row_complete(const struct ledger_row *r, struct error *why)
{
  bool decided = !r->parsed.none && !r->parsed.to_come;
  bool judged = decided && r->parsed.list[0].meaning != CLAUSE_SAYS;
  if (*r->quote == '\0') return row_error(r, "quote", "", "the sentence", why);
  if (*r->why == '\0') return row_error(r, "why", "", "one line", why);
  if (*r->chapter == '\0') return row_error(r, "chapter", "", "a chapter", why);
  bool has_keys = decided || strchr(r->why, '{') != NULL;   /* a reason may quote a number, too */
  if (has_keys != (*r->run != '\0')) return row_error(r, "run", r->run,
    "the programs of the keys in rule and reason, none without keys", why);
  if (decided != (strcmp(r->kind, "-") != 0)) return row_error(r, "kind", r->kind,
    "- if no run decides, else another", why);
  if (judged != (*r->in_truth != '\0') || judged != (*r->as_read != '\0'))
    return row_error(r, "true, read", r->in_truth,
      "both senses in words where the rule has two, else none", why);
  return true;
}

static bool row_check(struct ledger *l, struct ledger_row *r, struct error *why)
{
  struct error wrong;
  if (!words_known(r, why)) return false;
  if (!rule_parse(r->rule, &r->parsed, &wrong))
    return error_say(why, "ledger/claims.tsv, row %s, field rule: %s", r->id,
      wrong.text);
  return row_complete(r, why) && numbers_agree(r, why) && nothing_lost(r, why)
    && rule_compares(r, why) && quotation_is(l, r->id, r->quote, why);
}

static bool take_row(struct ledger *l, char *line, struct error *why)
{
  struct ledger_row *r = &l->rows[l->n];
  const char **field[LEDGER_FIELDS] = { &r->id, &r->chapter, &r->section,
    &r->run, &r->kind, &r->stated, &r->claimed, &r->ours, &r->rule, &r->quote,
    &r->in_truth, &r->as_read, &r->why, &r->command };
  if (!cut_fields(line, field, LEDGER_FIELDS, "ledger/claims.tsv", why)) return false;
  if (ledger_find(l, r->id) != NULL)
    return row_error(r, "id", r->id, "each id once", why);
  if (!row_check(l, r, why)) return false;
  l->n++;
  return true;
}

static bool take_source(struct ledger *l, char *line, struct error *why)
{
  struct ledger_source *s = &l->sources[l->n_sources++];
  const char **field[] = { &s->id, &s->title, &s->kind, &s->date, &s->place,
    &s->begins };
  return cut_fields(line, field, 6, "ledger/sources.tsv", why)
    && quotation_is(l, s->id, s->begins, why);
}

const struct ledger_row *ledger_find(const struct ledger *l, const char *id)
{
  for (size_t i = 0; i < l->n; i++)
    if (strcmp(l->rows[i].id, id) == 0) return &l->rows[i];
  return NULL;
}

typedef bool take_line(struct ledger *l, char *line, struct error *why);
static bool take_lines(struct ledger *l, char *text, take_line *take,
  struct error *why)
{
  cut(&text, "\n");
  while (*text != '\0') {
    char *line = cut(&text, "\n");
    if (*line != '\0' && !take(l, line, why)) return false;
  }
  return true;
}

static bool open_table(struct ledger *l, int which, const char *folder,
  const char *name, struct error *why)
{
  char path[PATH_CAP];
  return path_join(path, folder, name, why)
    && (l->text[which] = table_read(l->m, path, why)) != NULL;
}

/* The place to fold in is taken before any row is read: it is as long as both texts, so no quotation of
   them is too long for it. */
bool ledger_open(struct ledger *l, struct memory *m, const char *folder,
  struct error *why)
{
  *l = (struct ledger) { .m = m };
  bool ok = open_table(l, 0, folder, "claims.tsv", why)
    && open_table(l, 1, folder, "sources.tsv", why)
    && open_table(l, 2, folder, "quotations.tsv", why);
  ok = ok && (l->folded = memory_alloc(m, MEMORY_OTHER, strlen(l->text[0])
      + strlen(l->text[1]) + 1, 1, why)) != NULL
    && (l->rows = memory_alloc(m, MEMORY_OTHER, count_lines(l->text[0]),
      sizeof *l->rows, why)) != NULL
    && (l->sources = memory_alloc(m, MEMORY_OTHER, count_lines(l->text[1]),
      sizeof *l->sources, why)) != NULL
    && take_lines(l, l->text[1], take_source, why)
    && take_lines(l, l->text[0], take_row, why);
  if (!ok) ledger_close(l);
  return ok;
}

void ledger_close(struct ledger *l)
{
  for (int i = 0; i < 3; i++) memory_free(l->m, l->text[i]);
  memory_free(l->m, l->folded);
  memory_free(l->m, l->rows);
  memory_free(l->m, l->sources);
  *l = (struct ledger) { .n = 0 };
}

/* whole if it is whole and no decimals are asked for, else four digits */
static void put_number(char *to, size_t cap, double x, int decimals)
{
  if (decimals >= 0) snprintf(to, cap, "%.*f", decimals, x);
  else if (floor(x) == x && fabs(x) < 1e15) snprintf(to, cap, "%.0f", x);
  else snprintf(to, cap, "%.4g", x);
}

static void put_braces(const struct ledger_row *r, const struct run_values *v,
  const char *inside, char *to, size_t cap)
{
  size_t n = strcspn(inside, ":}"), which = (size_t) (*inside - '1');
  int decimals = inside[n] == ':' ? inside[n + 1] - '0' : -1;
  double x;
  bool known = which < r->parsed.n
    ? expression_value(&r->parsed.list[which].ours, v, &x, NULL)
    : run_values_find(v, inside, n, &x);
  if (known) put_number(to, cap, x, decimals);
  else snprintf(to, cap, "?");
}

void ledger_fill(const struct ledger_row *r, const struct run_values *v,
  const char *pattern, char *to, size_t cap)
{
  size_t n = 0;
  while (*pattern != '\0' && n + 1 < cap) {
    size_t braces = strcspn(pattern, "}");
    if (*pattern == '{' && pattern[braces] == '}') {
      put_braces(r, v, pattern + 1, to + n, cap - n);
      n += strlen(to + n);
      pattern += braces + 1;
    }
    else to[n++] = *pattern++;
  }
  to[n] = '\0';
}

/* is a within reach times b? A number of ours that is 0 can become any. */
static bool within(double a, double b, double reach)
{
  return a == 0 || (a / b > 0 && a / b <= reach && b / a <= reach);
}

/* Could the test come out otherwise? An equality could; an order or a range only where a bound is near
   enough. A bound that the author printed has to matter: ours, or the author's number, ten times
   larger or smaller would change the outcome. One that we chose may be further away, as with a
   clock, but not a thousand times. */
static bool test_is_open(const struct ledger_row *r, const struct rule_test *t,
  const struct run_values *v)
{
  double ours, bound[2] = { t->low, t->high };
  struct error none;
  bool range = t->how == RELATION_IN, near = false;
  if (t->how == RELATION_EQUAL || t->how == RELATION_ABOUT) return true;
  if (!expression_value(&t->ours, v, &ours, &none)
      || (!range && !expression_value(&t->theirs, v, bound, &none))) return true;
  bool typed = range || (t->theirs.sign == '\0' && t->theirs.first.n == 0);
  for (int i = 0; i < 1 + range; i++)
    near = near || within(ours, bound[i], typed && text_has(r->claimed, bound[i]) ? 10 : 1000);
  return near;
}

/* A row is as stated if its rule gives its verdict; then each test of the rule must be able to fail
   (test_is_open), or the row would hold whatever we compute. */
void ledger_judge(const struct ledger_row *r, const struct run_values *v,
  struct judgement *j)
{
  struct error missing;
  const char *pattern = *r->ours != '\0' || r->parsed.n == 0 ? r->ours : "{1}";
  ledger_fill(r, v, pattern, j->ours, sizeof j->ours);
  j->found = rule_decide(&r->parsed, v, &missing);
  j->why.text[0] = '\0';
  j->as_stated = j->found == r->expected;
  if (j->found == VERDICT_NOT_JUDGED)
    error_say(&j->why, "%s is not judged: %s", r->id, missing.text);
  else if (!j->as_stated) error_say(&j->why, "ledger/claims.tsv, row %s: the"
    " verdict is %s; by its rule and the run it is %s (ours: %s)", r->id,
    r->stated, verdict_name(j->found), j->ours);
  for (size_t i = 0; j->as_stated && i < r->parsed.n; i++)
    if (!test_is_open(r, &r->parsed.list[i], v)) {
      j->found = VERDICT_NOT_JUDGED;
      j->as_stated = false;
      error_say(&j->why, "ledger/claims.tsv, row %s, field rule: test %zu of `%.200s' comes out the same"
        " with other numbers; wanted: a bound that matters", r->id, i + 1, r->rule);
    }
}
