/* judge.c -- judge values|verdicts|judged: the ledger beside what the programs printed when the book
   was built (build/values). Keys for the prose, a table of verdicts by source for the figure, or
   the judged rows for the pages of chapter 16, their reasons with the numbers filled in.

   A row that does not come out as it says is an error: all of them are named, and the book is not
   built. */
#include <stdio.h>
#include <string.h>
#include "ledger_table.h"

/* the ledger and all numbers; the programs whose numbers were taken, and the texts
   that they printed */
struct reckoning { struct memory m; struct ledger l; struct run_values v;
  struct rule_name { const char *at; size_t n; } seen[40];
  size_t n_seen; char *text[40]; };
static bool take_program(struct reckoning *k, const char *name, size_t n,
  struct error *why)
{
  char path[200];
  struct mapping map;
  for (size_t i = 0; i < k->n_seen; i++)
    if (k->seen[i].n == n && strncmp(k->seen[i].at, name, n) == 0) return true;
  snprintf(path, sizeof path, "build/values/%.*s.val", (int) n, name);
  if (k->n_seen == 40 || !file_map(&map, path, why)) return false;
  char *text = memory_alloc(&k->m, MEMORY_OTHER, map.size + 1, 1, why);
  if (text != NULL && map.size > 0) memcpy(text, map.bytes, map.size);
  file_unmap(&map);
  k->seen[k->n_seen] = (struct rule_name) { name, n };
  k->text[k->n_seen++] = text;
  return text != NULL && run_values_take(&k->v, &k->m, text, why);
}

static bool reckon(struct reckoning *k, struct error *why)
{
  bool ok = ledger_open(&k->l, &k->m, "ledger", why);
  for (size_t i = 0; ok && i < k->l.n; i++)
    for (const char *s = k->l.rows[i].run; ok && *s != '\0'; ) {
      size_t n = strcspn(s, " ");
      ok = take_program(k, s, n, why);
      s += n + strspn(s + n, " ");
    }
  return ok;
}

static void close_reckoning(struct reckoning *k)
{
  run_values_free(&k->v, &k->m);
  for (size_t i = 0; i < k->n_seen; i++) memory_free(&k->m, k->text[i]);
  ledger_close(&k->l);
}

enum print_form { FORM_KEYS, FORM_TABLE, FORM_ROWS };
static void print_row(const struct ledger_row *r, const struct run_values *v,
  const struct judgement *j)
{
  const char *part[] = { r->quote, r->in_truth, r->as_read, r->why, r->command };
  char text[2000];
  printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", r->id, r->chapter, r->section, r->run,
    r->kind, verdict_name(j->found), r->claimed, j->ours);
  for (int i = 0; i < 5; i++) {
    if (i == 0) snprintf(text, sizeof text, "%s", part[i]);
    else ledger_fill(r, v, part[i], text, sizeof text);
    printf("\t%s", text);
  }
  printf("\n");
}

static void print_counts(const struct ledger *l, unsigned of[][N_VERDICTS],
  enum print_form form)
{
  if (form == FORM_TABLE) printf("source,verdict,rows\n");
  for (size_t s = 0; s <= l->n_sources; s++)
    for (int i = 0; i < N_VERDICTS; i++) {
      const char *source = s < l->n_sources ? l->sources[s].id : "all";
      printf(form == FORM_TABLE ? "%s,%s,%u\n" : "ledger.%s.%s %u\n", source,
        verdict_name((enum verdict) i), of[s][i]);
    }
}

static bool print_judged(struct reckoning *k, enum print_form form, struct error *why)
{
  unsigned of[12][N_VERDICTS] = { { 0 } };
  size_t n = k->l.n_sources, wrong = 0, kinds[3] = { 0 };
  for (size_t i = 0; n < 11 && i < k->l.n; i++) {
    const struct ledger_row *r = &k->l.rows[i];
    struct judgement j;
    ledger_judge(r, &k->v, &j);
    if (!j.as_stated) wrong++, fprintf(stderr, "%s\n", j.why.text);
    for (size_t s = 0; s < n; s++)
      if (strncmp(r->id, k->l.sources[s].id, 2) == 0) of[s][j.found]++;
    of[n][j.found]++;
    kinds[0] += strcmp(r->kind, "counted") == 0;
    kinds[1] += strcmp(r->kind, "measured") == 0;
    kinds[2] += strcmp(r->kind, "computed") == 0;
    if (form == FORM_ROWS) print_row(r, &k->v, &j);
  }
  if (form != FORM_ROWS) print_counts(&k->l, of, form);
  if (form == FORM_KEYS) printf("ledger.rows %zu\nledger.counted %zu\n"
    "ledger.measured %zu\nledger.computed %zu\n", k->l.n, kinds[0], kinds[1], kinds[2]);
  return wrong == 0 || error_say(why, "%zu rows of the ledger do not come out"
    " as they say", wrong);
}

int main(int argc, char **argv)
{
  static const char *const word[] = { "values", "verdicts", "judged" };
  static struct reckoning k;
  struct error why;
  int form = 0;
  while (argc > 1 && form < 3 && strcmp(argv[1], word[form]) != 0) form++;
  bool ok = argc == 2 && form < 3;
  if (!ok) error_say(&why, "wanted: judge values, judge verdicts or judge judged");
  ok = ok && reckon(&k, &why) && print_judged(&k, (enum print_form) form, &why);
  close_reckoning(&k);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}
