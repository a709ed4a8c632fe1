/* cmd_verify.c -- incipit verify: the ledger of chapter 16. It runs the programs of the laboratory
   that print the keys of the claims asked for, each of them once and as many at a time as there
   are processors, and lets the ledger's rules decide.

   The programs and the ledger are found beside the command, as the built-in model is: where they
   were installed, or in the clone that the command was built in. A program that is not there, that
   fails or that takes too long leaves its claims not judged; they are never taken to hold. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ground/timing.h"
#include "ledger_table.h"
#include "quotation.h"
#include "safetensors/excerpt.h"
#include "command.h"
#include "waiting.h"

/* programs that rows may name, seconds that one may take, milliseconds between two looks */
enum { MAX_JOBS = 40, MOST_SECONDS = 300, GLANCE = 50 };

/* a program: its name in the field run, and where it is; its process while it runs, and the end
   of the pipe that we read; what it printed; how long it took; why it is of no use, or an empty
   sentence */
struct job {
  const char *name;
  size_t n_name;
  char path[PATH_CAP];
  pid_t pid;
  int out;
  struct bytes text;
  double began, seconds;
  bool started, done;
  struct error why;
};

/* n bytes of a line of sections.tsv */
struct words {
  const char *at;
  int n;
};

struct verification {
  const struct console *c;
  const struct command_line *w;
  char root[PATH_CAP]; /* has the folders ledger, models and figures/data */
  struct ledger ledger;
  struct mapping sections; /* sections.tsv, or nothing */
  char words[300]; /* the operands that are no ids, with a blank between two */
  bool *asked; /* [ledger.n] */
  struct job job[MAX_JOBS];
  size_t n_jobs, running;
  struct run_values values;
  struct waiting waiting;
  bool cancelled;
  struct error why;
};

static bool find_beside(const struct console *c, const char *const *place, size_t n, int mode,
  char path[PATH_CAP])
{
  char real[PATH_CAP];
  for (size_t i = 0; i < n; i++)
    if (path_beside(path, c->program, place[i], NULL) && access(path, mode) == 0) {
      if (realpath(path, real) != NULL) strcpy(path, real);
      return true;
    }
  return false;
}

static bool open_ledger(struct verification *v)
{
  static const char *const place[] = { "../share/incipit", "..", "../.." };
  char folder[PATH_CAP], table[PATH_CAP];
  bool found = false;
  for (size_t i = 0; i < 3 && !found; i++) {
    if (!find_beside(v->c, &place[i], 1, R_OK, v->root)) continue;
    found = path_join(folder, v->root, "ledger", NULL)
      && path_join(table, folder, "claims.tsv", NULL) && access(table, R_OK) == 0;
  }
  if (!found)
    return error_say(&v->why, "there is no ledger/claims.tsv beside %.200s; wanted: where make"
      " install puts it, or the clone that the command was built in", v->c->program);
  v->asked = NULL;
  return ledger_open(&v->ledger, v->c->memory, folder, &v->why)
    && (v->asked = memory_alloc(v->c->memory, MEMORY_OTHER, v->ledger.n, sizeof *v->asked,
         &v->why)) != NULL;
}

/* The printed numbers of the sections, LABEL TAB NUMBER TAB TITLE a line, which a build reads off
   the webs. Without them a place is named by its label. */
static void open_sections(struct verification *v)
{
  static const char *const place[] = { "../share/incipit/ledger/sections.tsv", "sections.tsv",
    "../build/sections.tsv" };
  char path[PATH_CAP];
  struct error why;
  if (!find_beside(v->c, place, 3, R_OK, path) || !file_map(&v->sections, path, &why))
    v->sections = (struct mapping) { .bytes = NULL };
}

/* the number of a label's section, and its title; false if the label is not there */
static bool find_section(const struct verification *v, const char *label, struct words *number,
  struct words *title)
{
  const char *at = (const char *) v->sections.bytes, *end = at + v->sections.size;
  size_t n = strlen(label);
  while (at < end) {
    const char *line = at, *tab[2] = { NULL, NULL };
    int tabs = 0;
    for (; at < end && *at != '\n'; at++)
      if (*at == '\t' && tabs < 2) tab[tabs++] = at;
    if (tabs == 2 && (size_t) (tab[0] - line) == n && memcmp(line, label, n) == 0) {
      *number = (struct words) { tab[0] + 1, (int) (tab[1] - tab[0] - 1) };
      *title = (struct words) { tab[1] + 1, (int) (at - tab[1] - 1) };
      return true;
    }
    at += at < end;
  }
  return false;
}

/* where the book decides a row, in words: whole with the title, else for a list */
static void name_place(const struct verification *v, const struct ledger_row *r, bool whole,
  char *to, size_t cap)
{
  struct words number, title;
  if (*r->section == '\0') snprintf(to, cap, "chapter %s", r->chapter);
  else if (!find_section(v, r->section, &number, &title))
    snprintf(to, cap, "chapter %s, %s", r->chapter, r->section);
  else {
    const char *volume = "";
    if (*number.at == 'W') volume = " of the workshop";
    if (*number.at == 'L') volume = " of the laboratory";
    snprintf(to, cap, "section %.*s%s%s%.*s", number.n, number.at, whole ? volume : "",
      whole ? ": " : "", whole ? title.n : 0, title.at);
  }
}

/* What was typed and is no id is words, side by side: incipit verify half an MB */
static bool join_words(struct verification *v)
{
  size_t n = 0;
  for (size_t i = 0; i < v->w->n_operands; i++) {
    const char *word = v->w->operands[i];
    if (ledger_is_id(word)) continue;
    int more = snprintf(v->words + n, sizeof v->words - n, "%s%s", n > 0 ? " " : "", word);
    if (more < 0 || (n += (size_t) more) >= sizeof v->words)
      return error_say(&v->why, "the words are longer than %zu bytes", sizeof v->words - 1);
  }
  return true;
}

/* An id that is not there and words that no sentence has are mistakes of typing. */
static bool operands_known(struct verification *v)
{
  char said[EXCERPT_MAX + 4];
  size_t i = 0;
  if (!join_words(v)) return false;
  for (size_t k = 0; k < v->w->n_operands; k++)
    if (ledger_is_id(v->w->operands[k]) && ledger_find(&v->ledger, v->w->operands[k]) == NULL)
      return error_say(&v->why, "there is no claim `%s'; wanted: an id of the ledger, as S4-30",
        v->w->operands[k]);
  if (v->words[0] == '\0') return true;
  while (i < v->ledger.n && !quotation_contains(v->ledger.rows[i].quote, v->words)) i++;
  if (i < v->ledger.n) return true;
  text_excerpt(v->words, strlen(v->words), EXCERPT_MAX, said);
  return error_say(&v->why, "no sentence of the ledger has the words `%s'; wanted: words that stand side by"
    " side in it, or an id, as S4-30", said);
}

static bool row_wanted(const struct verification *v, const struct ledger_row *r)
{
  const struct option_value *of = v->w->of;
  bool wanted = v->w->n_operands == 0;
  for (size_t i = 0; i < v->w->n_operands; i++)
    wanted = wanted || strcmp(v->w->operands[i], r->id) == 0;
  if (v->words[0] != '\0') wanted = wanted || quotation_contains(r->quote, v->words);
  if (of[OPTION_SOURCE].given)
    wanted = wanted && strncmp(r->id, of[OPTION_SOURCE].text, 2) == 0;
  if (of[OPTION_VERDICT].given)
    wanted = wanted && strcmp(r->stated, of[OPTION_VERDICT].text) == 0;
  if (of[OPTION_CHAPTER].given)
    wanted = wanted && strcmp(r->chapter, of[OPTION_CHAPTER].text) == 0;
  return wanted;
}

/* the programs: those of the laboratory, and a few chapters' own, which are a folder higher in a
   build and beside the others when installed */
static bool add_job(struct verification *v, const char *name, size_t n)
{
  static const char *const folder[] = { "../libexec/incipit", "bin/laboratory", "bin" };
  for (size_t i = 0; i < v->n_jobs; i++)
    if (v->job[i].n_name == n && strncmp(v->job[i].name, name, n) == 0) return true;
  if (v->n_jobs == MAX_JOBS)
    return error_say(&v->why, "the ledger names more than %d programs", MAX_JOBS);
  struct job *j = &v->job[v->n_jobs++];
  *j = (struct job) { .name = name, .n_name = n, .out = -1 };
  bool found = false;
  for (size_t i = 0; i < 3 && !found; i++) {
    char place[200];
    const char *one = place;
    snprintf(place, sizeof place, "%s/%.*s", folder[i], (int) n, name);
    found = find_beside(v->c, &one, 1, X_OK, j->path);
  }
  if (!found) {
    j->done = true;
    error_say(&j->why, "the program %.*s is not beside the command (make checkpoints builds it)",
      (int) n, name);
  }
  return true;
}

static bool choose_jobs(struct verification *v)
{
  for (size_t i = 0; i < v->ledger.n; i++) {
    const struct ledger_row *r = &v->ledger.rows[i];
    v->asked[i] = row_wanted(v, r);
    for (const char *s = v->asked[i] ? r->run : ""; *s != '\0';) {
      size_t n = strcspn(s, " ");
      if (!add_job(v, s, n)) return false;
      s += n + strspn(s + n, " ");
    }
  }
  return true;
}

/* What a program says on its error stream comes through the same pipe: a line that is no KEY NUMBER
   is passed over by the reader of values, and the last line tells why it failed. It runs in the
   folder of the ledger, where it finds the models and the measurements. The second word tells it to
   leave out what takes long and is in no rule. */
static int spawn(const struct verification *v, struct job *j, int out)
{
  posix_spawn_file_actions_t what;
  char *words[] = { j->path, (char *) (uintptr_t) "values", (char *) (uintptr_t) "claims", NULL };
  int failed = posix_spawn_file_actions_init(&what);
  if (failed != 0) return failed;
  if ((failed = posix_spawn_file_actions_addopen(&what, 0, "/dev/null", O_RDONLY, 0)) == 0
    && (failed = posix_spawn_file_actions_adddup2(&what, out, 1)) == 0
    && (failed = posix_spawn_file_actions_adddup2(&what, out, 2)) == 0
    && (failed = posix_spawn_file_actions_addchdir_np(&what, v->root)) == 0)
    failed = posix_spawn(&j->pid, j->path, &what, NULL, words, environ);
  posix_spawn_file_actions_destroy(&what);
  return failed;
}

/* A program that cannot be started is done at once, with its sentence; the claims that wait for it are
   not judged, and the others go on. The writing end is closed here, or the pipe would never end. */
static void start_job(struct verification *v, struct job *j)
{
  int ends[2], failed = 0;
  j->started = true;
  j->began = timing_seconds();
  if (pipe2(ends, O_CLOEXEC) != 0) failed = errno;
  else {
    failed = spawn(v, j, ends[1]);
    close(ends[1]);
    j->out = ends[0];
    if (failed == 0) {
      v->running++;
      return;
    }
    close(j->out);
    j->out = -1;
  }
  j->done = true;
  error_say(&j->why, "%s cannot be started: %s", j->path, strerror(failed));
}

/* the last line of a text without its line feed, for a sentence */
static const char *last_line(struct bytes *text)
{
  char *s = (char *) text->byte;
  size_t n = strlen(s);
  while (n > 0 && s[n - 1] == '\n') s[--n] = '\0';
  while (n > 0 && s[n - 1] != '\n') n--;
  return s + n;
}

/* Its output has ended; the process is waited for in any case, or it would stay as a zombie. What it
   printed counts only if it ended well: half a list of values could make a claim hold. */
static void end_job(struct verification *v, struct job *j)
{
  int status = 0;
  static const char zero = '\0';
  struct error *why = &j->why;
  close(j->out);
  j->out = -1;
  j->seconds = timing_seconds() - j->began;
  j->done = true;
  v->running--;
  while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR) continue;
  if (why->text[0] != '\0' || !bytes_push(v->c->memory, &j->text, &zero, 1, why)) return;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    error_say(why, "%s failed: %.200s", j->path, last_line(&j->text));
  else run_values_take(&v->values, v->c->memory, (char *) j->text.byte, why);
}

static void give_up(struct job *j, const char *reason)
{
  if (j->why.text[0] == '\0') error_say(&j->why, "%s %s", j->path, reason);
  kill(j->pid, SIGKILL);
}

/* reads what there is; at the end of its output a program is done */
static void read_job(struct verification *v, struct job *j)
{
  char part[8192];
  ssize_t n = read(j->out, part, sizeof part);
  if (n > 0 && bytes_push(v->c->memory, &j->text, part, (size_t) n, &j->why)) return;
  if (n < 0 && errno == EINTR) return;
  if (n > 0) give_up(j, "printed too much");
  end_job(v, j);
}

/* waits a little for any of those that run */
static void look_around(struct verification *v)
{
  struct pollfd list[MAX_JOBS];
  struct job *of[MAX_JOBS];
  nfds_t n = 0;
  for (size_t i = 0; i < v->n_jobs; i++)
    if (v->job[i].out >= 0) {
      of[n] = &v->job[i];
      list[n++] = (struct pollfd) { .fd = v->job[i].out, .events = POLLIN };
    }
  if (poll(list, n, GLANCE) > 0)
    for (nfds_t i = 0; i < n; i++)
      if (list[i].revents != 0) read_job(v, of[i]);
  for (nfds_t i = 0; i < n; i++)
    if (of[i]->out >= 0 && timing_seconds() - of[i]->began > MOST_SECONDS)
      give_up(of[i], "took too long");
}

static void say_programs(void *ctx, size_t done, size_t all, char text[WAITING_WORDS])
{
  (void) ctx;
  snprintf(text, WAITING_WORDS, "%zu of %zu programs", done, all);
}

/* as many at a time as there are processors */
static void run_jobs(struct verification *v)
{
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  size_t next = 0, most = cores > 0 ? (size_t) cores : 1;
  waiting_begin(&v->waiting, say_programs, v);
  for (;;) {
    while (!v->cancelled && next < v->n_jobs && v->running < most) {
      if (!v->job[next].done) start_job(v, &v->job[next]);
      next++;
    }
    if (v->running == 0) break;
    look_around(v);
    if (!v->cancelled && !waiting_tell(&v->waiting, next - v->running, v->n_jobs)) {
      v->cancelled = true;
      for (size_t i = 0; i < v->n_jobs; i++)
        if (v->job[i].out >= 0) give_up(&v->job[i], "was cancelled");
    }
  }
  waiting_end(&v->waiting);
}

static const struct job *job_of(const struct verification *v, const char *name, size_t n)
{
  for (size_t i = 0; i < v->n_jobs; i++)
    if (v->job[i].n_name == n && strncmp(v->job[i].name, name, n) == 0) return &v->job[i];
  return NULL;
}

/* what the programs of a row took together, and the first complaint about one of them */
static double seconds_of(const struct verification *v, const struct ledger_row *r,
  const struct job **first, const char **complaint)
{
  double sum = 0;
  *first = NULL;
  *complaint = NULL;
  for (const char *s = r->run; *s != '\0';) {
    size_t n = strcspn(s, " ");
    const struct job *j = job_of(v, s, n);
    if (*first == NULL) *first = j;
    if (j != NULL && *complaint == NULL && j->why.text[0] != '\0') *complaint = j->why.text;
    sum += j != NULL ? j->seconds : 0;
    s += n + strspn(s + n, " ");
  }
  return sum;
}

/* a row with its judgement, ready to be shown */
struct shown {
  const struct ledger_row *row;
  struct judgement is;
  double seconds;
  char place[200], command[PATH_CAP + 8], in_truth[600], as_read[600], why[600];
};

static void prepare(const struct verification *v, const struct ledger_row *r, struct shown *x)
{
  const struct job *first;
  const char *complaint;
  x->row = r;
  x->seconds = seconds_of(v, r, &first, &complaint);
  ledger_judge(r, &v->values, &x->is);
  /* of a program that failed nothing is believed, not even what it printed before */
  if (complaint != NULL) {
    x->is.found = VERDICT_NOT_JUDGED;
    x->is.as_stated = false;
    error_say(&x->is.why, "%s is not judged: %.300s", r->id, complaint);
  }
  if (*r->command != '\0') snprintf(x->command, sizeof x->command, "%s", r->command);
  else if (first != NULL) snprintf(x->command, sizeof x->command, "%s values", first->path);
  else x->command[0] = '\0';
  name_place(v, r, v->w->n_operands > 0, x->place, sizeof x->place);
  ledger_fill(r, &v->values, r->in_truth, x->in_truth, sizeof x->in_truth);
  ledger_fill(r, &v->values, r->as_read, x->as_read, sizeof x->as_read);
  ledger_fill(r, &v->values, r->why, x->why, sizeof x->why);
}

static void put_row(struct json_writer *j, const struct shown *x)
{
  const struct ledger_row *r = x->row;
  writer_open(j, '{');
  put_words_as(j, "id", r->id);
  put_text_as(j, "source", r->id, 2);
  put_words_as(j, "quote", r->quote);
  put_words_as(j, "rule", r->rule);
  put_words_as(j, "verdict", verdict_name(x->is.found));
  put_words_as(j, "claimed", r->claimed);
  put_words_as(j, "ours", x->is.ours);
  put_words_as(j, "section", r->section);
  put_words_as(j, "command", x->command);
  put_double_as(j, "seconds", x->seconds);
  writer_close(j, '}');
}

/* one line, for a list */
static void print_line(FILE *out, const struct shown *x)
{
  const struct ledger_row *r = x->row;
  bool decided = !r->parsed.none && !r->parsed.to_come;
  fprintf(out, "%-6s %-19s ", r->id, verdict_name(x->is.found));
  if (decided) fprintf(out, "%s | %s", r->claimed, x->is.ours);
  else fprintf(out, "%s", r->claimed);
  fprintf(out, "  (%s)\n", x->place);
}

/* a claim by itself, with all that there is to say */
static void print_whole(FILE *out, const struct shown *x)
{
  const struct ledger_row *r = x->row;
  fprintf(out, "%s  %s\n  \"%s\"\n", r->id, verdict_name(x->is.found), r->quote);
  fprintf(out, "  theirs: %s\n", r->claimed);
  if (x->is.ours[0] != '\0') fprintf(out, "  ours:   %s (%s)\n", x->is.ours, r->kind);
  fprintf(out, "  rule:   %s\n", r->rule);
  if (*x->in_truth != '\0')
    fprintf(out, "  %s %s\n  %s %s\n", x->is.found == VERDICT_AMBIGUOUS ? "either:" : "true:  ",
      x->in_truth, x->is.found == VERDICT_AMBIGUOUS ? "or:    " : "read:  ", x->as_read);
  fprintf(out, "  why:    %s\n  where:  %s\n", x->why, x->place);
  if (x->command[0] != '\0') fprintf(out, "  run:    %s\n", x->command);
}

/* one verdict a word, as many as there are of each */
static void print_sum(const struct verification *v, const size_t of[N_VERDICTS], size_t n)
{
  if (v->w->of[OPTION_QUIET].given || v->w->n_operands > 0) return;
  fprintf(v->c->err, "%zu claims:", n);
  const char *between = " ";
  for (int i = 0; i < N_VERDICTS; i++)
    if (of[i] > 0) {
      fprintf(v->c->err, "%s%zu %s", between, of[i], verdict_name((enum verdict) i));
      between = ", ";
    }
  fprintf(v->c->err, "\n");
}

/* One row that is not as stated makes the status a failure, but all rows are shown. */
static int show_rows(struct verification *v)
{
  bool json = v->w->of[OPTION_JSON].given;
  struct json_writer j = { .out = v->c->out };
  size_t of[N_VERDICTS] = { 0 }, n = 0;
  int status = STATUS_DONE;
  if (json) writer_open(&j, '[');
  for (size_t i = 0; i < v->ledger.n; i++) {
    struct shown x;
    if (!v->asked[i]) continue;
    prepare(v, &v->ledger.rows[i], &x);
    if (!json && n > 0 && v->w->n_operands > 0) fprintf(v->c->out, "\n");
    n++, of[x.is.found]++;
    if (json) put_row(&j, &x);
    else if (v->w->n_operands > 0) print_whole(v->c->out, &x);
    else print_line(v->c->out, &x);
    if (!x.is.as_stated) status = console_fail(v->c, &x.is.why);
  }
  if (json) writer_close(&j, ']'), writer_end(&j);
  print_sum(v, of, n);
  return status;
}

static int verify(struct verification *v)
{
  if (!open_ledger(v)) return console_fail(v->c, &v->why);
  if (!operands_known(v)) return console_usage_error(v->c, &v->why);
  if (!choose_jobs(v)) return console_fail(v->c, &v->why);
  open_sections(v);
  if (v->c->listen != NULL) v->c->listen();
  run_jobs(v);
  return v->cancelled ? STATUS_CANCELLED : show_rows(v);
}

int cmd_verify(const struct console *c, const struct command_line *w)
{
  struct error why;
  struct verification *v = memory_alloc(c->memory, MEMORY_OTHER, 1, sizeof *v, &why);
  if (v == NULL) return console_fail(c, &why);
  v->c = c, v->w = w;
  waiting_open(&v->waiting, c, w);
  int status = verify(v);
  run_values_free(&v->values, c->memory);
  for (size_t i = 0; i < v->n_jobs; i++) bytes_free(c->memory, &v->job[i].text);
  memory_free(c->memory, v->asked);
  file_unmap(&v->sections);
  if (v->ledger.m != NULL) ledger_close(&v->ledger);
  memory_free(c->memory, v);
  return status;
}
