/* ledger_table.h -- the rows of the ledger, ledger/claims.tsv, and what becomes of them in a run. */
#ifndef INCIPIT_LEDGER_TABLE_H
#define INCIPIT_LEDGER_TABLE_H
#include "ledger/rules.h"

/* fields of a row */
enum { LEDGER_FIELDS = 14 };

/* as S4-30; the chapter that decides it, and the label of the place; the programs
   that print its keys; whether ours is counted, measured or computed; the verdict's
   name; their number; ours, with {1} for the left side of the first test; the rule;
   the whole sentence; the sense in which it is true and that in which it will be
   read; one line why; the command that shows it, or nothing. Then the verdict and the
   rule, read */
struct ledger_row {
  const char *id, *chapter, *section, *run, *kind, *stated, *claimed, *ours,
    *rule, *quote, *in_truth, *as_read, *why, *command;
  enum verdict expected;
  struct parsed_rule parsed;
};

/* as S4; where it can be found, and its first words, for one that has no address */
struct ledger_source { const char *id, *title, *kind, *date, *place, *begins; };

/* the ledger, in memory; all strings point into text, whose third is the sums of the quotations;
   folded is room for one quotation */
struct ledger { struct memory *m; char *text[3], *folded;
  struct ledger_row *rows; struct ledger_source *sources; size_t n, n_sources; };

/* reads the three tables of a folder and checks every row; errors, which name file, row
   and field: a table that is not there, a row with too many or too few fields, one
   that says what it may not, a quotation that is not its author's, a rule that
   compares nothing. On failure there is nothing to close */
bool ledger_open(struct ledger *l, struct memory *m, const char *folder,
  struct error *why);

/* returns everything */
void ledger_close(struct ledger *l);

/* does it look like an id: a source, a dash, and a number? */
bool ledger_is_id(const char *id);

/* the row of that id, or null */
const struct ledger_row *ledger_find(const struct ledger *l, const char *id);

/* the longest text of ours */
enum { OURS_CAP = 160 };

/* what the run came to; is it what the ledger says? Ours in words; if it is not as
   stated, why names the row and both verdicts, or the key that is missing */
struct judgement { enum verdict found; bool as_stated; char ours[OURS_CAP];
  struct error why; };

/* judges a row by its rule */
void ledger_judge(const struct ledger_row *r, const struct run_values *v,
  struct judgement *j);

/* writes a text of the row to to[cap] with {2} replaced by the left side of the
   second test, {2:1} with one decimal, and {k:1} by the number of key k; what is not
   known becomes a question mark */
void ledger_fill(const struct ledger_row *r, const struct run_values *v,
  const char *pattern, char *to, size_t cap);
#endif
