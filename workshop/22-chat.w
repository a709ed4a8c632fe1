@i types.w
@s talk int
@s reading int
@s EditLine int
@s History int
@s HistEvent int
@s FILE int

\chapterquestion{What must be kept of a talk so that the tenth question costs no more than the second?}
@** incipit chat: keeping the cache from turn to turn. \label{sec:chat}
\incipit{A}{talk is a text} that two write in turns, and the part of it that is new is always at the end. Chapter~4 keeps the rows of a text; \cref{templates} says which ids stand for a turn, and
which of them follow what is there already. Put together, they are a talk in which nobody reads anything twice: the model reads the new question, and the mark at which it stopped last time. What remains to be written in this chapter is manners again. Somebody sits at a keyboard, mistypes, wants the last line
back, has heard enough of an answer, or pastes a page too many; and none of this may end a talk that took an hour.
@^chat@>@^conversation@>

\begin{byhand}{four turns, kept and forgotten}
Let each question have 10 ids with all that surrounds it, and each answer 6, the mark at its end included. Whoever forgets reads the whole talk again at each turn. Whoever keeps reads the question, and before it the one mark that was written and not yet read. While an answer is written, both compute a row for each of its ids but the last.

\medskip
\begin{tabular}{@@{}lrrr@@{}}
\tabhead{turn} & \tabhead{ids of the prompt} & \tabhead{rows, if forgotten} & \tabhead{rows, if kept}\\
1 & 10 & $10+5=15$ & $10+5=15$\\
2 & $10+6+10=26$ & $26+5=31$ & $11+5=16$\\
3 & $26+6+10=42$ & $42+5=47$ & $11+5=16$\\
4 & $42+6+10=58$ & $58+5=63$ & $11+5=16$\\
together & & 156 & 63
\end{tabular}
\medskip

The tenth turn costs one who keeps 16 rows, like the second, and one who forgets $58+6\cdot16+5=159$.
\end{byhand}

@ The program has a short talk with the built-in model, always the same one, and says after each answer what it cost. With |"values"| it prints the keys of the prose.

@c
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "chat/chat.h"
@;@#
@<What is said in the program's talk@>@;
@<Say it, and add up the rows@>@;
@#
int main(int argc, char **argv)
{
  char *line[] = @[{ argv[0], "chat", "-m", "models/pocket",@|
    "--template", "pocket", "-t", "1", "-n", "24", NULL }@];
  struct memory m = @[{ .refuse_at = 0 }@];
  struct wishes w;
  struct error why;
  struct talk t;
  bool values = argc > 1 && strcmp(argv[1], "values") == 0;
  FILE *out = values ? tmpfile() : stdout;
  struct console c = @[{ .in = stdin, .out = out, .err = stderr,@|
    .program = argv[0], .memory = &m, .listen = to_nobody,@|
    .interrupted = never }@];
  if (out == NULL) return perror("a temporary file"), 1;
  bool ok = options_parse(&w, 10, line, &why);
  if (!ok) return fprintf(stderr, "%s\n", why.words), 1;
  ok = talk_open(&t, &c, &w) == STATUS_DONE && say_all(&t, values);
  if (!ok) fprintf(stderr, "%s\n", t.a.why.words);
  talk_close(&t);
  return !ok || m.all.held != 0;
}

@* What is kept. \label{sec:kept}
A talk has two memories. One is the list of turns, as they were said, which a template wants to see. The other is the list of ids: all that was fed to the model, and behind it what the model wrote. The first could be made into the second again at any time, and that is what a server does which keeps nothing
between two questions. We keep the ids because they are the exact ones. What the model wrote as two tokens its tokenizer might spell as one, and then the rows behind that place would not fit any more.

@<A talk, and what it costs@>=
struct turn_cost { size_t given, written; uint64_t read, rows;
  double began, first, last; };
  /* of the last turn: ids that the prompt had, ids of the answer; rows
     of the pass that read, and of all; moments, in seconds */
struct talk {
  struct occasion a;
  const struct chat_template *by;
  struct decisions how;
  struct ids eos, end, text;
    /* what ends an answer; the template's own; the talk so far */
  struct turn *turn; size_t n, room, first;
    /* |turn[n]|, each a copy; those below |first| begin every talk */
  size_t bare, shown; /* bytes of the answer: blanks before it; gone out */
  uint64_t rows_before;
  struct turn_cost cost;
  bool gone; /* nobody reads the output any more, and that was told */
};
  /* a talk with a model. It must stay where it is: it points to itself */

@ From outside a talk is opened, somebody says something, and it is closed. To forget it is to begin another with the same model.

@<A talk, and what it costs@>=
int talk_open(struct talk *t, const struct console *c,
  const struct wishes *w);
  /* opens the model and learns how its talks are set; returns an exit
     status, and unless that is |STATUS_DONE| a sentence is in |t->a.why|;
     to be closed in any case */
bool talk_say(struct talk *t, const char *line, size_t n);
  /* |n| bytes are said, and the answer goes to the console's |out|. What
     does not fit is refused there with a sentence, and is no failure;
     false, with a sentence in |t->a.why| unless |t->gone|, if the talk
     cannot go on */
void talk_forget(struct talk *t);
  /* the next turn is the first */
void talk_close(struct talk *t);
  /* returns what was taken */
int run_chat(const struct console *c, const struct wishes *w);
  /* the subcommand; returns an exit status */

@ A turn is copied, since the line it came in will be overwritten by the next. One byte more is taken than it has, so that an empty one has an address, too.

@<Keep a turn, and give it back@>=
static bool push_turn(struct talk *t, enum speaker who,
  const void *text, size_t n)
{
  struct memory *m = t->a.o.m;
  if (t->n == t->room) {
    void *more = memory_grow(m, FOR_OTHER, t->turn, t->room,
      2 * t->room + 8, sizeof *t->turn, &t->a.why);
    if (more == NULL) return false;
    t->turn = more, t->room = 2 * t->room + 8;
  }
  char *copy = memory_take(m, FOR_OTHER, n + 1, 1, &t->a.why);
  if (copy == NULL) return false;
  if (n > 0) memcpy(copy, text, n);
  t->turn[t->n++] = (struct turn) @[{ who, copy, n }@];
  return true;
}
static void pop_turn(struct talk *t)
{
  struct turn *last = &t->turn[--t->n];
  memory_give(t->a.o.m, FOR_OTHER, (char *) last->text, last->n + 1, 1);
}

@ A talk that is forgotten leaves its rows in the cache. Nobody has to throw them away: the next prompt begins with the same mark or the same words of the system, and chapter~4 keeps just these.

@<Keep a turn, and give it back@>=
void talk_forget(struct talk *t)
{
  while (t->n > t->first) pop_turn(t);
  t->text.n = 0;
}

@ Which template? The one that was named; else the one that the model's files ask for. The built-in model asks for nothing, because its files are as old as chapter~3 and know no templates; but we have trained it ourselves, and know. A name that does not exist was refused when the line was read.

@<Choose a template@>=
static bool choose_template(struct talk *t)
{
  struct occasion *a = &t->a;
  const struct option_value *of = a->w->of;
  bool own = !of[OPTION_MODEL].given && !has_chat_template(a->o.path);
  if (of[OPTION_TEMPLATE].given || own)
    t->by = chat_template_named(own && !of[OPTION_TEMPLATE].given@|
      ? "pocket" : of[OPTION_TEMPLATE].text, &a->why);
  else t->by = chat_template_of(a->o.path, &a->why);
  return t->by != NULL;
}

@ Whether a template suits the model is tried before anybody has typed a word: a first turn is set, with the system's words if there are any, and thrown away. A mark that the vocabulary lacks is found then, and a system that has no place.

@<Try the template@>=
static bool try_template(struct talk *t)
{
  struct memory *m = t->a.o.m;
  struct ids none = @[{ NULL, 0, 0 }@];
  const struct option_value *system = &t->a.w->of[OPTION_SYSTEM];
  if (system->given && !push_turn(t, SYSTEM, system->text,@|
      strlen(system->text))) return false;
  t->first = t->n;
  if (!push_turn(t, USER, "x", 1)) return false;
  bool ok = conversation_ids(m, t->by, t->a.o.t, t->turn, t->n, 0,@|
    true, &none, &t->a.why);
  pop_turn(t);
  ids_free(m, &none);
  return ok;
}

@ An answer ends at any of the model's end tokens, or at the template's.

@<Learn what ends an answer@>=
static bool learn_ends(struct talk *t)
{
  struct memory *m = t->a.o.m;
  const struct model_config *config = &t->a.o.lm->config;
  bool ok = conversation_ends(m, t->by, t->a.o.t, &t->end, &t->a.why);
  for (size_t i = 0; ok && i < t->end.n; i++)
    ok = ids_push(m, &t->eos, t->end.id[i], &t->a.why);
  for (size_t i = 0; ok && i < config->n_eos; i++)
    ok = ids_push(m, &t->eos, config->eos[i], &t->a.why);
  return ok;
}

@ Opening has no prompt to measure, but otherwise the order of |generate|: the model, the context, the template, the settings. The sampler is given the number 0 for every answer. Its noise depends on the position, and positions go on; so the same seed gives the same talk, as long as the same is said.

@<Open a talk, and close it@>=
int talk_open(struct talk *t, const struct console *c,
  const struct wishes *w)
{
  struct occasion *a = &t->a;
  memset(t, 0, sizeof *t);
  a->c = c, a->w = w;
  if (!outfit_open(&a->o, c, w, NEED_MODEL | NEED_TOKENIZER, &a->why))
    return STATUS_FAILED;
  int status = occasion_context(a);
  if (status == STATUS_DONE && (!choose_template(t)
      || !try_template(t) || !learn_ends(t))) status = STATUS_FAILED;
  if (status == STATUS_DONE)
    status = decisions_open(&t->how, a, &a->why);
  return status;
}

@ Closing knows no order, and does not mind if opening stopped half-way.

@<Open a talk, and close it@>=
void talk_close(struct talk *t)
{
  struct memory *m = t->a.c->memory;
  t->first = 0;
  talk_forget(t);
  memory_give(m, FOR_OTHER, t->turn, t->room, sizeof *t->turn);
  ids_free(m, &t->text), ids_free(m, &t->end), ids_free(m, &t->eos);
  decisions_close(m, &t->how);
  outfit_close(&t->a.o);
}

@* One answer. \label{sec:oneanswer}
The next prompt is the talk so far and the ids of the new turn. So it is with a template that leaves old turns alone. One that changes them gets to see all of them and writes everything again; then the cache keeps what the two versions have in common. We need not know how much that is, since it is the loop that compares, id by id, and crops.
@^prefill@>

@<Set the next prompt@>=
static bool next_ids(struct talk *t, struct ids *next)
{
  struct memory *m = t->a.o.m;
  bool whole = t->text.n == 0
    || chat_template_rewrites(t->by, t->turn, t->n);
  bool ok = true;
  for (size_t i = 0; ok && !whole && i < t->text.n; i++)
    ok = ids_push(m, next, t->text.id[i], &t->a.why);
  return ok && conversation_ids(m, t->by, t->a.o.t, t->turn, t->n,@|
    whole ? 0 : t->n - 1, true, next, &t->a.why);
}

@ Sooner or later a talk is longer than the context. One could drop the oldest turns then, or squeeze them into a summary, and go on without a word, as many programs do; the model would have forgotten what was agreed on an hour ago, and whoever talks with it would not know why. Here it is said, with both numbers, and the turn is taken back. A shorter one may still fit, and \texttt{/new} begins another talk.
@^context@>

@<Measure the next prompt@>=
static bool fits(struct talk *t, size_t n)
{
  struct occasion *a = &t->a;
  const struct option_value *most = &a->w->of[OPTION_MAX_NEW_TOKENS];
  if (n > a->context)
    return error_say(&a->why, "with this turn the talk has %zu tokens; "@|
      "the context holds %zu; /new begins another talk", n, a->context);
  a->most = a->context - n + 1;
  if (most->given && most->count < a->most)
    a->most = (size_t) most->count;
  return true;
}

@ What the outflow has released goes out at once. An answer often begins with a blank, which belongs to its first word as the tokenizer cuts words; at the beginning of a line it is in the way, so blanks before the first letter are not shown.

@<Show what has come of an answer@>=
static void show_fresh(struct talk *t)
{
  const struct outflow *o = &t->how.ends.flow;
  while (t->bare == t->shown && t->shown < o->released
      && o->text.byte[t->shown] == ' ') t->bare++, t->shown++;
  if (o->released > t->shown) fwrite(o->text.byte + t->shown, 1,
    o->released - t->shown, t->a.c->out);
  t->shown = o->released;
}

@ The watcher shows, and notes for the first token when it came and how many rows had been read for it. Ctrl-C is looked at here, after every step. It ends the answer by the loop's own way of cancelling, which leaves text and cache as after any other step; this is why the talk can go on. While a long question is being read there is no step, and
so somebody may press a second time; that ends the program (\cref{sec:signals}).
@^Ctrl-C@>

@<Watch an answer@>=
static bool see_answer(void *self, const struct step *now)
{
  struct talk *t = self;
  t->cost.last = timing_seconds();
  t->cost.written = now->number;
  if (now->number == 1) {
    t->cost.first = t->cost.last;
    t->cost.read = now->after.rows - t->rows_before;
  }
  show_fresh(t);
  if (fflush(t->a.c->out) != 0) return false;
  return !t->a.c->interrupted();
}

@ The loop gets the whole prompt each time and is told to keep rows; it finds out for itself that most of the prompt is there.

@<Let the model answer@>=
static bool run_answer(struct talk *t, const struct ids *next,
  struct continuation *out)
{
  struct occasion *a = &t->a;
  struct generator with = @[{ &a->o.e, a->o.lm, a->o.s, a->o.m }@];
  struct settings want = @[{ .max_new_tokens = a->most,@|
    .eos = t->eos.id, .see = see_answer, .self = t, .recall = store_keep }@];
  want.n_eos = a->w->of[OPTION_IGNORE_EOS].given ? 0 : t->eos.n;
  decisions_apply(&t->how, a, &want);
  t->rows_before = a->o.counters.rows, t->bare = t->shown = 0;
  t->cost = (struct turn_cost) @[{ .given = next->n,@|
    .began = timing_seconds() }@];
  a->c->listen();
  if (!generate(&with, next->id, next->n, &want, out, &a->why))
    return false;
  t->cost.rows = a->o.counters.rows - t->rows_before;
  if (t->cost.written == 0) t->cost.read = t->cost.rows;
  return true;
}

@ An answer must be closed before the next turn begins, and by the mark that the template closes it with. If the model wrote that one, nothing is to do. If it ended with another of its end tokens, that one is exchanged, which costs nothing: the last token of a text has been written and not been read, so there is no row of it. And if the answer was cut, by its length, by a
string or by somebody's patience, the mark is put behind what there is. Of a stop string the ids stay in the talk, since the model has written them.

@<Close the answer@>=
static bool close_answer(struct talk *t, size_t given,
  enum finish ended)
{
  struct ids *x = &t->text;
  const char *reason = criteria_reason(&t->how.ends.all, ended);
  bool by_token = x->n > given && reason != NULL
    && strcmp(reason, "eos") == 0;
  if (by_token) x->n--;
  for (size_t i = 0; i < t->end.n; i++)
    if (!ids_push(t->a.o.m, x, t->end.id[i], &t->a.why)) return false;
  return true;
}

@ The text of the answer becomes a turn, too, because a template that writes everything again will ask for it. Each answer ends with a line's end, also in a pipe: answers come one behind the other there, and must be told apart.

@<End the answer@>=
static bool end_answer(struct talk *t)
{
  const struct console *c = t->a.c;
  struct outflow *o = &t->how.ends.flow;
  outflow_end(o);
  show_fresh(t);
  putc('\n', c->out);
  if (fflush(c->out) != 0) {
    t->gone = true;
    console_end(c, STATUS_DONE);
    return false;
  }
  return push_turn(t, ASSISTANT, o->text.n > 0 ? o->text.byte + t->bare
    : NULL, o->text.n - t->bare);
}

@ So something is said and answered. What cannot be set, because it is too long or has a letter that the vocabulary cannot spell, is no reason to end a talk: the sentence goes to the standard error, and the turn is taken back as if it had not been said. What fails in the middle of an answer is a reason.

@<Say something@>=
static bool answer(struct talk *t, const struct ids *next)
{
  struct continuation out = @[{ .n_prompt = 0 }@];
  if (!endings_begin(&t->how.ends, next->id, next->n, &t->a.why)
    || !run_answer(t, next, &out)) return false;
  ids_free(t->a.o.m, &t->text);
  t->text = out.text;
  return close_answer(t, next->n, out.ended) && end_answer(t);
}
bool talk_say(struct talk *t, const char *line, size_t n)
{
  struct ids next = @[{ NULL, 0, 0 }@];
  t->cost = (struct turn_cost) @[{ .given = 0 }@];
  if (!push_turn(t, USER, line, n)) return false;
  bool ok = next_ids(t, &next) && fits(t, next.n);
  if (ok) ok = answer(t, &next);
  else {
    console_fail(t->a.c, &t->a.why);
    pop_turn(t);
    ok = true;
  }
  ids_free(t->a.o.m, &next);
  return ok;
}

@ The costs of a turn are few lines, with the names that \texttt{--stats} has in |generate|. How many rows a prompt needed stands apart from those of the answer, for that is where a talk is cheap or dear.

@<Print what a turn cost@>=
static void print_cost(const struct talk *t)
{
  const struct turn_cost *k = &t->cost;
  FILE *err = t->a.c->err;
  if (k->given == 0) return;
  fprintf(err, "%-28s %zu + %zu\n", "tokens", k->given, k->written);
  fprintf(err, "%-28s %" PRIu64 "\n", "rows_read", k->read);
  fprintf(err, "%-28s %" PRIu64 "\n", "rows", k->rows);
  if (k->written == 0) return;
  fprintf(err, "%-28s %.2f\n", "time_to_first_token_ms",@|
    1e3 * (k->first - k->began));
  if (k->last > k->first)
    fprintf(err, "%-28s %.2f\n", "decode_tokens_per_second",@|
      (double) (k->written - 1) / (k->last - k->first));
}

@* Lines that are no turns. \label{sec:slash}
A line that begins with a slash is for the program and not for the model. There are three such lines, fewer than elsewhere: settings are options, and a talk with other settings is another talk. A turn that has to begin with a slash begins with two.

@<The lines that are for us@>=
static const struct { const char *name, *words; } order[] = @[{@|
  { "/help", "this list" },@|
  { "/new", "forget the talk, and begin another" },@|
  { "/quit", "end; so does the end of the input, Ctrl-D" },@|
  { "//...", "a turn that begins with a slash" } }@];
enum { ORDERS = sizeof order / sizeof *order };
static void print_orders(FILE *err)
{
  for (size_t i = 0; i < ORDERS; i++)
    fprintf(err, "%-8s %s\n", order[i].name, order[i].words);
}

@ A complaint shows 40 bytes of the line at most, and not half a letter; |error_say| sees to what could disturb the terminal.

@<Do what a line says@>=
static void refuse_order(const struct talk *t, const char *line, size_t n)
{
  struct error why;
  size_t k = n < 40 ? n : 40;
  while (k > 0 && k < n && (line[k] & 0xc0) == 0x80) k--;
  error_say(&why, "there is no %.*s; /help lists what there is",@|
    (int) k, line);
  console_fail(t->a.c, &why);
}

@ Whoever mistypes such a line would not want the model to answer it, so what is not on the list is refused. Blanks behind the word do not matter.

@<Do what a line says@>=
static bool line_is(const char *line, size_t n, const char *word)
{
  while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t')) n--;
  return n == strlen(word) && memcmp(line, word, n) == 0;
}
static bool obey(struct talk *t, const char *line, size_t n, bool *quit)
{
  *quit = line_is(line, n, "/quit");
  if (line_is(line, n, "")) return true;
  if (n > 1 && line[0] == '/' && line[1] == '/') line++, n--;
  else if (line[0] == '/') {
    if (line_is(line, n, "/new")) talk_forget(t);
    else if (line_is(line, n, "/help")) print_orders(t->a.c->err);
    else if (!*quit) refuse_order(t, line, n);
    return true;
  }
  bool ok = talk_say(t, line, n);
  if (ok && t->a.w->of[OPTION_STATS].given) print_cost(t);
  return ok;
}

@ Lines come from the editor, if both ends are a terminal, or as they are. In a pipe there is no prompt, since nobody would see it; what comes out there is answers and nothing else. The carriage return of a file from elsewhere is no part of what is said; the editor takes it off with the line's end.

@<Read the next line@>=
struct reading { const struct console *c; struct editor *e;
  struct bytes text; };
static enum asked next_line(struct reading *r, const char **line,
  size_t *n)
{
  const struct console *c = r->c;
  struct error why;
  if (r->e != NULL) return c->edit->ask(r->e, line, n);
  enum line_found found = line_read(c->in, c->memory, &r->text);
  if (found == LINE_NONE) return ASKED_END;
  *line = (const char *) r->text.byte, *n = r->text.n;
  if (*n > 0 && (*line)[*n - 1] == '\r') *n -= 1;
  if (found == LINE_WHOLE) return ASKED_LINE;
  error_say(&why, "a line does not fit "@|"into memory, and is "@|"left out");
  console_fail(c, &why);
  return ASKED_DROPPED;
}

@ The talk goes on until somebody ends it or the input does; that is no failure. If the input ended because a signal came while nobody was answering, the status says so.

@<Talk@>=
static int converse(struct talk *t, struct reading *r)
{
  const char *line = "";
  size_t n = 0;
  bool quit = false;
  while (!quit) {
    errno = 0;
    enum asked got = next_line(r, &line, &n);
    if (got == ASKED_END) break;
    if (got == ASKED_LINE && n > 0 && !obey(t, line, n, &quit))
      return STATUS_FAILED;
  }
  if (quit || !ferror(r->c->in)) return STATUS_DONE;
  if (errno == EINTR) return STATUS_CANCELLED;
  error_say(&t->a.why, "the standard input cannot be read: %s",@|
    strerror(errno));
  return STATUS_FAILED;
}

@ The subcommand opens a talk and an editor, and closes both. At a terminal it says once how to get out: there are programs of which this cannot be guessed.

@<Run the subcommand@>=
int run_chat(const struct console *c, const struct wishes *w)
{
  struct talk t;
  struct reading r = @[{ .c = c }@];
  int status = talk_open(&t, c, w);
  bool typed = c->in_terminal && c->out_terminal && c->edit != NULL;
  if (status == STATUS_DONE && typed) {
    r.e = c->edit->open(c->memory, c->in, c->out, c->err, "> ",@|
      &t.a.why);
    if (r.e == NULL) status = STATUS_FAILED;
    else fprintf(c->err, "%s, template %s; /help, /quit\n", t.a.o.path,@|
      chat_template_name(t.by));
  }
  if (status == STATUS_DONE) status = converse(&t, &r);
  if (r.e != NULL) c->edit->close(r.e);
  bytes_free(c->memory, &r.text);
  talk_close(&t);
  if (status == STATUS_USAGE) return console_misuse(c, &t.a.why);
  if (status == STATUS_FAILED && !t.gone) console_fail(c, &t.a.why);
  return status;
}

@ The header of the talk.

@(chat.h@>=
#ifndef INCIPIT_CHAT_H
#define INCIPIT_CHAT_H
#include "command/subcommands.h"
#include "templates/conversations.h"
@<A talk, and what it costs@>@;
#endif

@ And its file, from the keeping of turns to the subcommand.

@(chat.c@>=
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "ground/timing.h"
#include "chat/chat.h"
@;@#
@<Keep a turn, and give it back@>@;
@<Choose a template@>@;
@<Try the template@>@;
@<Learn what ends an answer@>@;
@<Open a talk, and close it@>@;
@<Set the next prompt@>@;
@<Measure the next prompt@>@;
@<Show what has come of an answer@>@;
@<Watch an answer@>@;
@<Let the model answer@>@;
@<Close the answer@>@;
@<End the answer@>@;
@<Say something@>@;
@<Print what a turn cost@>@;
@<The lines that are for us@>@;
@<Do what a line says@>@;
@<Read the next line@>@;
@<Talk@>@;
@<Run the subcommand@>@;

@* A line that is typed. \label{sec:editing}
A terminal by itself lets one take back the last letter, and no more. Whoever wants to go back into the line, or to have an earlier one again, needs a program between the keys and the line, and there are three libraries for that which everybody has. Readline is the best known, and has the GPL, which would have to become the licence of the whole program. Linenoise is small, and meant to be copied into one's own sources, where it would be ours to look
after. We take libedit, which comes from BSD, has a free licence, knows wide characters and reads its user's habits from \.{.editrc}. Nothing outside this file knows that; who prefers another writes three functions.
@^line editing@>@^libedit@>

@<What an editor holds@>=
struct editor { struct memory *m; EditLine *line; History *past;
  FILE *in, *out; const char *prompt; bool dropped; };
static struct editor *editor_of(EditLine *line)
{
  void *self = NULL;
  el_get(line, EL_CLIENTDATA, &self);
  return self;
}
static char *prompt_of(EditLine *line)
{
  return (char *) editor_of(line)->prompt;
}

@ While a line is typed, Ctrl-C should drop the line and not end the program. One could catch the signal; but what the library does with one depends on its version, and the flag of \cref{sec:signals} is for answers. It is simpler to take the signal away for as long as the editor has the terminal: then Ctrl-C is a key like any other, and a key can be bound to a function. (The library has each call twice, for letters and for wide ones. It keeps the name of a function as a wide string, and makes that of letters by a copy which it never returns; so this name is given as it is kept.)

@<Drop a line@>=
static unsigned char drop_line(EditLine *line, int key)
{
  (void) key;
  editor_of(line)->dropped = true;
  return CC_EOF;
}
static void bind_keys(struct editor *e)
{
  el_set(e->line, EL_SETTY, "-d", "-isig", NULL);
  el_wset(e->line, EL_ADDFN, L"drop-line", L"give it up", drop_line);
  el_set(e->line, EL_BIND, "^C", "drop-line", NULL);
}

@ The library takes the signal away only when it waits for the first key, a moment after the prompt is to be seen. Whoever was quicker would send a signal to a program that is not answering, and be left with a prompt that does nothing; and a Ctrl-D of that moment would be an end that nobody reads. So we tell the terminal ourselves, before the
prompt, to hand over all keys as they are, and put everything back when the line is there.

@<Take the keys as they are@>=
static bool keep_quiet(int fd, struct termios *before)
{
  struct termios now;
  if (tcgetattr(fd, before) != 0) return false;
  now = *before;
  now.c_lflag &= ~(tcflag_t) (ISIG | ECHO | ICANON);
  now.c_cc[VMIN] = 1, now.c_cc[VTIME] = 0;
  return tcsetattr(fd, TCSANOW, &now) == 0;
}

@ Letters beyond ASCII are only understood in a locale that has them. A program begins in none; ours takes the user's for this one purpose, the kinds of characters, so that no number is ever printed with a comma. Where that one knows nothing but ASCII, the plain UTF-8 locale must do.
@^locale@>

@<Let letters be letters@>=
static void choose_letters(void)
{
  if (setlocale(LC_CTYPE, "") == NULL
    || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
    setlocale(LC_CTYPE, "C.UTF-8");
}

@ The library takes its memory from the system and not from us, like the reader of JSON. What it cannot get is told as what it is.

@<Open an editor@>=
static void editor_close(struct editor *e)
{
  if (e->line != NULL) el_end(e->line);
  if (e->past != NULL) history_end(e->past);
  memory_give(e->m, FOR_OTHER, e, 1, sizeof *e);
}
static struct editor *editor_open(struct memory *m, FILE *in, FILE *out,
  FILE *err, const char *prompt, struct error *why)
{
  HistEvent now;
  struct editor *e = memory_take(m, FOR_OTHER, 1, sizeof *e, why);
  if (e == NULL) return NULL;
  choose_letters();
  *e = (struct editor) @[{ .m = m, .in = in, .out = out,@|
    .prompt = prompt, .line = el_init("incipit", in, out, err),@|
    .past = history_init() }@];
  if (e->line == NULL || e->past == NULL) {
    editor_close(e);
    error_say(why, "the terminal cannot be set up for typing");
    return NULL;
  }
  history(e->past, &now, H_SETSIZE, 1000);
  @<Tell the library its habits@>@;
  return e;
}

@ The keys are those of Emacs, as in most shells, unless the user's own file says otherwise; it is read last but for our one key.

@<Tell the library its habits@>=
el_set(e->line, EL_CLIENTDATA, e);
el_set(e->line, EL_PROMPT, prompt_of);
el_set(e->line, EL_EDITOR, "emacs");
el_set(e->line, EL_HIST, history, e->past);
el_source(e->line, NULL);
bind_keys(e);

@ A line comes with its end, which is taken off; one that was not empty can be had again. Behind a line that was dropped the cursor stands in the middle of it, so we move on ourselves, and so at the end of the input, for the sake of the shell's own prompt.

@<Ask for a line@>=
static enum asked editor_ask(struct editor *e, const char **line,
  size_t *n)
{
  HistEvent now;
  struct termios before;
  int count = 0;
  e->dropped = false;
  bool quiet = keep_quiet(fileno(e->in), &before);
  const char *text = el_gets(e->line, &count);
  if (quiet) tcsetattr(fileno(e->in), TCSADRAIN, &before);
  if (text == NULL || count <= 0) {
    fputs(e->dropped ? "^C\n" : "\n", e->out);
    fflush(e->out);
    return e->dropped ? ASKED_DROPPED : ASKED_END;
  }
  *line = text, *n = strlen(text);
  if (*n > 1) history(e->past, &now, H_ENTER, text);
  while (*n > 0 && strchr("\r\n", text[*n - 1]) != NULL) --*n;
  return ASKED_LINE;
}

@ That is all that is seen of it from outside: three functions in a row, for |main| to hand in.

@(editing.h@>=
#ifndef INCIPIT_EDITING_H
#define INCIPIT_EDITING_H
#include "command/console.h"
extern const struct editing editing_by_line;
  /* lines are edited by libedit, with a history as long as the program
     runs; both streams must be terminals */
#endif

@ The only file that includes the library's header.

@(editing.c@>=
#define _XOPEN_SOURCE 700
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <termios.h>
#include "chat/editing.h"
@;@#
@<What an editor holds@>@;
@<Drop a line@>@;
@<Take the keys as they are@>@;
@<Let letters be letters@>@;
@<Open an editor@>@;
@<Ask for a line@>@;
@#
const struct editing editing_by_line = @[{ editor_open, editor_ask,@|
  editor_close }@];

@* What a turn costs. \label{sec:turncost}
The built-in model knows a kingdom and its animals, and little else; so that is what the program talks about.

@<What is said in the program's talk@>=
static const char *const said[] = @[{ "Hello!",@|
  "What does the fox say?", "Where does the cat sleep?",@|
  "Thank you!" }@];
enum { SAID = sizeof said / sizeof *said };
static void to_nobody(void)
{
}
static bool never(void)
{
  return false;
}

@ For each turn the rows are printed that were read for the question. Added up are those of all rows, and beside them what a program would compute that forgets between two turns: its prompt has no rows at all.

@<Say it, and add up the rows@>=
static bool say_all(struct talk *t, bool values)
{
  uint64_t kept = 0, again = 0;
  for (size_t i = 0; i < SAID; i++) {
    const struct turn_cost *k = &t->cost;
    if (!values) printf("> %s\n", said[i]);
    if (!talk_say(t, said[i], strlen(said[i]))) return false;
    if (!values) printf("  [%zu ids and %zu; %" PRIu64 " rows read, %"@|
      PRIu64 " in all]\n", k->given, k->written, k->read, k->rows);
    kept += k->rows, again += k->rows - k->read + k->given;
    if (values) printf("chat.ids.%zu %zu\nchat.read.%zu %" PRIu64 "\n",@|
      i + 1, k->given, i + 1, k->read);
  }
  if (values) printf("chat.rows.kept %" PRIu64 "\nchat.rows.again %"@|
    PRIu64 "\n", kept, again);
  return true;
}

@ What the program prints:

\checkpoint{build/out/chat.txt}{a talk, and what each turn cost}

@ The last prompt has \val{chat.ids.4} ids, and \val{chat.read.4} rows were read for it: those of the new turn, and the one of the mark that ended the answer before it, which had been written and not yet read. All four turns together took \val{chat.rows.kept} rows. A program that reads the whole talk at each turn computes \val{chat.rows.again}, and gives the same answers; the second sum grows with the
square of the talk.

So the tenth question costs no more rows than the second. Is it answered as quickly? Nearly: a row of a long talk still looks back at all rows before it, and they must all be fetched from memory for each token. That share is small at first, and grows with the talk (\cref{sec:cachebill} counts the bytes).

@* Exercises. \label{sec:chatexercises}
Two can be tried in the time that it takes to type them; the third is an order that is missing.

\begin{exercises}
\exercise{check}{ex:chat.again}{Somebody says \texttt{Hello!} to the built-in model, types \texttt{/new}, and says \texttt{Hello!} again. For the first \texttt{Hello!} 8 rows were read. How many are read for the second?}{\texttt{make exercise-W22-1}}{1. All rows of the second prompt are in the cache still. But the scores behind the last of them are not kept, and so that one is computed again.}
\exercise{think}{ex:chat.cut}{In the program's talk \val{chat.read.2} rows are read for the second question. How many are read for it if the first answer was stopped after three tokens?}{\texttt{make exercise-W22-2}}{One more. The last token of the answer has been written and not read; in a whole answer that is the mark, and in a stopped one it is a word, behind which the mark is put by us.}
\exercise{build}{ex:chat.undo}{Add the order \texttt{/undo}, which takes the last question and its answer back, so that what is said next is answered as if they had never been said. With nothing to take back it does nothing.}{\texttt{make exercise-W22-3}}{In |obey|: if |t->n >= t->first + 2|, two times |pop_turn|; and |t->text.n = 0|, for the ids are still those of the longer talk. The next prompt is then set from the turns, and the cache keeps what is alike by itself.}
\end{exercises}
