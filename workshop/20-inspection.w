@i types.w
@s FILE int
@s sigaction x
@s json_int_t int
@s json_error_t int
@s json_object_foreach while
@s stat x

\chapterquestion{How can one look at what a program does, step by step, and compare it with another
that claims to do the same?}
@** tokenize, trace, inspect, probe.
\incipit{A}{text} that has been written says little about how it was written. Another token somewhere in
the middle may come from another model, from another rounding, from an off-by-one in a mask, or from a
blank at the end of the prompt; and who sees only the text will blame the wrong one. This chapter adds
to the command what it needs to be looked into: |tokenize|, which shows what the model really reads; |trace|, which runs the loop slowly and says at each
step what was computed and why this token was chosen; |inspect|, which says what was
understood of a model's files; and |probe|, which answers questions in a form that any other
program can be asked as well. At its end stands the front door of the whole command.
@^trace@>@^probe@>

\begin{byhand}{which bytes are certain}
One of the questions that |probe| answers is this: if ids come one at a time, which bytes can be shown after
each of them? Take four ids whose bytes, in hexadecimal, are those of the first column. A byte below
\texttt{80} is a character; \texttt{c3} begins one of two bytes, \texttt{e2} one of three;
\texttt{80} to \texttt{bf} go on with what was begun.

\medskip
\begin{tabular}{@@{}llll@@{}}
\tabhead{bytes} & \tabhead{with what was held} & \tabhead{released} & \tabhead{held}\\
\texttt{61 c3} & \texttt{61 c3} & \texttt{61} & \texttt{c3}\\
\texttt{a9 e2} & \texttt{c3 a9 e2} & \texttt{c3 a9} & \texttt{e2}\\
\texttt{82} & \texttt{e2 82} & & \texttt{e2 82}\\
\texttt{ac} & \texttt{e2 82 ac} & \texttt{e2 82 ac} &
\end{tabular}
\medskip

What was released, put together, is what came in, and at no moment is half a character on the
screen. If the last id had not come, the two bytes held would be flushed at the end as they are.
\end{byhand}

@* Tokenize. \label{sec:tokenizing}
Text to ids, one token a line; or ids to text; or, from a file, a new vocabulary. The three have only
the name of the subcommand in common, and the first thing to do is to tell which is meant.

@<Tell what to do with tokens@>=
int run_tokenize(const struct console *c, const struct wishes *w)
{
  struct cutting g = @[{ .c = c, .w = w }@];
  int status;
  if (w->of[OPTION_TRAIN].given) status = learn(&g);
  else {
    status = gather_tokens(&g);
    if (status == STATUS_DONE) show_tokens(&g);
    ids_free(c->memory, &g.list);
    bytes_free(c->memory, &g.text);
    outfit_close(&g.o);
  }
  if (status == STATUS_USAGE) return console_misuse(c, &g.why);
  return status == STATUS_FAILED ? console_fail(c, &g.why) : status;
}

@ What the first two need: both have ids and text in the end, one of them given and one made.

@<What is cut and put together@>=
struct cutting { const struct console *c; const struct wishes *w;
  struct outfit o; struct bytes text; struct ids list;
  struct error why; };

@ From text to ids, or from ids to text. An id that the model does not have is wrong
usage; one that it has and that stands for nothing has no bytes. Special tokens are added to a text exactly as |generate| would add
them, because whoever counts tokens wants to know what |generate| will read.

@<Make ids of the text, or text of the ids@>=
static int gather_tokens(struct cutting *g)
{
  const struct option_value *of = g->w->of;
  struct memory *m = g->o.m = g->c->memory;
  bool back = of[OPTION_IDS].given;
  int status;
  if (!back) status = text_gather(g->c, g->w, &g->text, &g->why);
  else status = ids_parse(m, of[OPTION_IDS].text, "ids", &g->list,
      &g->why);
  if (status != STATUS_DONE) return status;
  if (!outfit_open(&g->o, g->c, g->w, NEED_TOKENIZER, &g->why))
    return STATUS_FAILED;
  if (back) @<Look whether the vocabulary has the ids@>@;
  bool ok = back ? tokenizer_decode(g->o.t, m, g->list.id, g->list.n,
      false, &g->text, &g->why)
    : tokenizer_encode(g->o.t, m, (char *) g->text.byte, g->text.n,
      !of[OPTION_NO_SPECIAL].given, of[OPTION_PARSE_SPECIAL].given,
      &g->list, &g->why);
  return ok ? STATUS_DONE : STATUS_FAILED;
}

@ How many ids there are is known only when the vocabulary is open, so this mistake in the line is found later than all others; it is a
mistake in the line all the same.

@<Look whether the vocabulary has the ids@>=
for (size_t i = 0; i < g->list.n; i++)
  if (g->list.id[i] >= g->o.vocab_size) {
    error_say(&g->why, "--ids has id %" PRIu32@|
      "; wanted: 0 to %" PRIu32, g->list.id[i], g->o.vocab_size - 1);
    return STATUS_USAGE;
  }

@ And what is shown of it. Going back gives the bytes and not one more, so that a text which goes
there and back is the same file. With \texttt{--count} only the number is printed, for a script that has to know whether a
text fits.

@<Show what was cut or put together@>=
static void show_tokens(struct cutting *g)
{
  FILE *out = g->c->out;
  const struct option_value *of = g->w->of;
  if (of[OPTION_JSON].given) put_tokens(g);
  else if (of[OPTION_COUNT].given) fprintf(out, "%zu\n", g->list.n);
  else if (of[OPTION_IDS].given) fwrite(g->text.byte, 1, g->text.n, out);
  else for (size_t i = 0; i < g->list.n; i++) {
    size_t n;
    const unsigned char *byte = tokenizer_text(g->o.t, g->list.id[i], &n);
    fprintf(out, "%" PRIu32 "\t", g->list.id[i]);
    piece_quote(out, byte, n);
    fprintf(out, "\n");
  }
}

@ As an object, with every piece as a text: a piece that is half a character becomes the sign for
what cannot be shown, and the ids say what it really is. The number of bytes is that of the text itself, so that bytes a token can be
had by dividing.

@<Write ids, pieces and bytes as an object@>=
static void put_tokens(struct cutting *g)
{
  struct json_out j = @[{ g->c->out, '\0' }@];
  put_open(&j, '{');
  put_key(&j, "ids"), put_ids(&j, g->list.id, g->list.n);
  put_key(&j, "pieces"), put_open(&j, '[');
  for (size_t i = 0; i < g->list.n; i++) {
    size_t n;
    const unsigned char *byte = tokenizer_text(g->o.t, g->list.id[i], &n);
    put_text(&j, byte, n);
  }
  put_close(&j, ']');
  put_key(&j, "bytes"), put_count(&j, g->text.n);
  put_close(&j, '}');
  put_end(&j);
}

@ To learn a vocabulary takes a text, a number and a place. The number counts everything: the id that
ends a text, the 256 bytes, and then as many merges as are left of it. So \texttt{--vocab-size=260} asks for three merges. The folder is
made before anything is learnt: to find out after a quarter of an hour that there is nowhere to write would be bad manners.
@^training a tokenizer@>

@<Learn a vocabulary@>=
static int learn(struct cutting *g)
{
  const struct option_value *of = g->w->of;
  size_t merges = (size_t) of[OPTION_VOCAB_SIZE].count - 257;
  char path[CONSOLE_PATH];
  int length = snprintf(path, sizeof path, "%s/tokenizer.json",
    of[OPTION_OUT].text);
  if (length < 0 || length >= CONSOLE_PATH) {
    error_say(&g->why, "--out is too long");
    return STATUS_USAGE;
  }
  struct mapping map;
  if (!file_map(&map, of[OPTION_TRAIN].text, &g->why))
    return STATUS_FAILED;
  bool ok = make_folder(of[OPTION_OUT].text, &g->why)
    && learn_from(g, &map, merges, path);
  file_unmap(&map);
  return ok ? STATUS_DONE : STATUS_FAILED;
}

@ A short text may run out of pairs before the number is reached; that is said, because the number in the file will not be the
one that was asked for.

@<Learn from a text, and write what was learnt@>=
static bool learn_from(struct cutting *g, const struct mapping *map,
  size_t merges, const char *path)
{
  struct memory *m = g->c->memory;
  struct bpe_merge *merge = NULL;
  size_t n = 0;
  bool ok = bpe_train(m, (const char *) map->bytes, map->size,
      split_gpt2, merges, &merge, &n, &g->why)
    && tokenizer_write(m, path, merge, n, &g->why);
  if (ok) fprintf(g->c->err, "incipit: %s: %zu ids,"@|
      " of them %zu merges%s\n", path, n + 257, n,
      n < merges ? "; the text has no more pairs" : "");
  bpe_forget(m, merge, merges);
  return ok;
}

@ A folder that is there already serves as well as a new one. Whether it was there is not asked before, but learnt from the attempt:
between the question and the attempt somebody else might make it.

@<Make a folder, unless it is there@>=
static bool make_folder(const char *path, struct error *why)
{
  return mkdir(path, 0777) == 0 || errno == EEXIST
    || error_say(why, "%s: cannot be made: %s", path, strerror(errno));
}

@ Learning and cutting come from chapter 1; what is new in this file is how to ask for them. The vocabulary that is learnt is
written in the layout that other tools read, by a function of \cref{tokenizer}.

@(tokenizing.c@>=
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include "tokens/split.h"
#include "probe/door.h"
@;@#
@<What is cut and put together@>@;
@<Make ids of the text, or text of the ids@>@;
@<Write ids, pieces and bytes as an object@>@;
@<Show what was cut or put together@>@;
@<Make a folder, unless it is there@>@;
@<Learn from a text, and write what was learnt@>@;
@<Learn a vocabulary@>@;
@<Tell what to do with tokens@>@;

@* Trace. \label{sec:tracing}
To see the loop at work, run it slowly. For each step |trace| prints which rows the pass
computed for the first time and which again, the candidates with their probabilities, and
the choice with its reason. It is the grid of chapter 3 with the words written
beside it, and it is drawn from the counters: what it calls new are the rows that the engine did not
count as computed before. A loop that computes less is drawn as one that computes less, and nobody has to remember to change the
drawing.
@^trace@>

@<What is kept during a trace@>=
struct tracing {
  struct occasion *a;
  struct json_out j;
  bool in_json, colour, failed, keeps;
  double *logprob; /* |[vocab_size]| */
  struct candidate *top; /* |[1 + k]| */
  size_t k;
  uint64_t rows, again; /* in all steps so far */
  const uint32_t *eos;
  size_t n_eos;
  struct decisions how;
  uint32_t position; /* of the token that was chosen */
  uint32_t *seen;
    /* |[context + 1]|: the text that the step read, and the choice */
  bool looks;
    /* attention is wanted, that of |layer| and |head_number| */
  uint32_t layer, head_number;
  struct store *s; /* attention's own */
  struct counters counters;
  float *weights; /* |[context]| */
};

@ A step in six parts; the two forms of output share what is found out. What is new and what was computed before is read off the
counters, before and after the step: the trace has no opinion of its own about what the engine does.

@<Watch a step of the trace@>=
static bool see_trace(void *self, const struct step *now)
{
  struct tracing *g = self;
  struct occasion *a = g->a;
  size_t again = (size_t) (now->after.kv_rows_recomputed
    - now->before.kv_rows_recomputed);
  size_t rows = (size_t) (now->after.rows - now->before.rows);
  a->o.e.k->log_softmax(&a->o.e, now->logits, 1, a->o.vocab_size,
    g->logprob);
  candidates_find(g->logprob, a->o.vocab_size, now->chosen, g->top,
    g->k);
  if (g->looks && !look(g, now->length)) {
    g->failed = true;
    return false;
  }
  g->seen[now->length] = now->chosen;
  g->position = (uint32_t) now->length;
  g->rows += rows, g->again += again;
  if (g->in_json) put_step(g, now, rows, again);
  else print_step(g, now, rows, again);
  if (fflush(a->c->out) != 0) return false;
  return !a->c->interrupted();
}

@ Why this token? It was the likeliest, and nobody wanted another; or it was drawn; or the settings had left no other; and whatever it was, it may have ended the text. The other function gives a token's bytes, or none where there is no tokenizer.

@<Say why a token was chosen@>=
static const char *reason_of(const struct tracing *g, uint32_t id)
{
  size_t written = g->position + 1 - g->a->p.list.n;
  for (size_t i = 0; i < g->n_eos; i++)
    if (g->eos[i] == id && written > g->how.ends.flow.min_tokens)
      return "stopped";
  return g->how.ends.all.fired != NULL ? "stopped"
    : decisions_reason(&g->how);
}
@#
static const unsigned char *text_of(const struct tracing *g,
  uint32_t id, size_t *n)
{
  *n = 0;
  if (g->a->o.t == NULL) return (const unsigned char *) "";
  return tokenizer_text(g->a->o.t, id, n);
}

@ A candidate is a line: its rank, its probability, its id and its text, and behind the one that was
taken the reason. The rank and the probability are those that the model gives; of one that was drawn the noise is shown, too, since that is what it won by.

@<Print a candidate, then a step@>=
static void print_candidate(const struct tracing *g,
  const struct candidate *x, bool chosen)
{
  FILE *out = g->a->c->out;
  size_t n;
  const unsigned char *byte = text_of(g, x->id, &n);
  fprintf(out, "  %4" PRIu64 "  %.4f  %6" PRIu32 " ", x->rank,
    num_exp(x->logprob), x->id);
  piece_quote(out, byte, n);
  const char *reason = reason_of(g, x->id);
  if (chosen) fprintf(out, "  <- %s", reason);
  if (chosen && strcmp(decisions_reason(&g->how), "sampled") == 0)
    fprintf(out, " at rank %" PRIu64 " with noise %.3f", x->rank,@|
      gumbel_noise(g->how.d.seed, 0, g->position, x->id));
  fprintf(out, "\n");
}

@ For the eyes, a row is one letter: C for computed, R for done again, and a dash for one that was kept. On a terminal the new ones
are red, as everything is in this book that begins; a terminal that wants no colours says so in
|NO_COLOR|. The colours are sequences of bytes that begin with an escape character: into a file or a pipe they do not go, where
they would be rubbish.
@^NO\_COLOR@>

@<Print a candidate, then a step@>=
static void print_work(const struct tracing *g, size_t kept, size_t rows,
  size_t again)
{
  FILE *out = g->a->c->out;
  for (size_t i = 0; i < kept; i++) fputs("- ", out);
  for (size_t i = 0; i < rows; i++) {
    bool fresh = i >= again;
    if (g->colour) fputs(fresh ? "\x1b[31m" : "\x1b[2m", out);
    fprintf(out, "%c", fresh ? 'C' : 'R');
    if (g->colour) fputs("\x1b[0m", out);
    fputs(i + 1 < rows ? " " : "\n", out);
  }
}

@ Below the row of letters stand the candidates. The one that was chosen is among them as long as the choice is the likeliest, but nothing
here relies on it: if it has not been listed, it gets a line of its own, with its rank. And if somebody asked where the model
looks, the weights of the head follow, one for each position.

@<Print a candidate, then a step@>=
static void print_step(const struct tracing *g, const struct step *now,
  size_t rows, size_t again)
{
  FILE *out = g->a->c->out;
  fprintf(out, "step %zu: %zu rows, %zu new,"@| " %zu again\n  ",
    now->number, rows, rows - again, again);
  print_work(g, now->length - rows, rows, again);
  bool listed = false;
  for (size_t i = 1; i <= g->k; i++) {
    bool chosen = g->top[i].id == now->chosen;
    print_candidate(g, &g->top[i], chosen);
    listed = listed || chosen;
  }
  if (!listed) print_candidate(g, &g->top[0], true);
  if (!g->looks) return;
  fprintf(out, "  looks at");
  for (size_t i = 0; i < now->length; i++)
    fprintf(out, " %.3f", g->weights[i]);
  fprintf(out, "\n");
}

@ For programs, the same as an object. What is kept for the next step has two numbers, rows and bytes; both are 0 if nothing is.

@<Write a step@>=
static void put_candidate(struct tracing *g, const struct candidate *x)
{
  size_t n;
  const unsigned char *byte = text_of(g, x->id, &n);
  put_key(&g->j, "id"), put_count(&g->j, x->id);
  put_key(&g->j, "piece"), put_text(&g->j, byte, n);
  put_key(&g->j, "logprob"), put_double(&g->j, x->logprob);
}

@ The object of a step names its number and the length of the text that it read; then the work, row by row, in
one word for each cell of a line of the grid; then the candidates.

@<Write a step@>=
static void put_step(struct tracing *g, const struct step *now,
  size_t rows, size_t again)
{
  struct json_out *j = &g->j;
  struct counters did;
  put_open(j, '{');
  put_key(j, "step"), put_count(j, now->number);
  put_key(j, "length"), put_count(j, now->length);
  put_key(j, "work"), put_open(j, '[');
  for (size_t i = rows; i < now->length; i++) put_word(j, "\"cached\"");
  for (size_t i = 0; i < rows; i++)
    put_word(j, i < again ? "\"redo\"" : "\"new\"");
  put_close(j, ']');
  put_key(j, "top"), put_open(j, '[');
  for (size_t i = 1; i <= g->k; i++) {
    put_open(j, '{');
    put_candidate(g, &g->top[i]);
    put_close(j, '}');
  }
  put_close(j, ']');
  @<Write the choice, the cache, the work and what was looked at@>@;
  put_close(j, '}');
}

@ The counters of one step are the differences between after and before.

@<Write the choice, the cache, the work and what was looked at@>=
put_key(j, "chosen"), put_open(j, '{');
put_candidate(g, &g->top[0]);
put_key(j, "rank"), put_count(j, g->top[0].rank);
put_key(j, "why"), put_words(j, reason_of(g, now->chosen));
put_close(j, '}');
size_t kept = g->keeps ? now->length : 0;
put_key(j, "cache_rows"), put_count(j, kept);
put_key(j, "cache_bytes"), put_count(j, kept * g->a->o.s->row_bytes
  * g->a->o.lm->config.n_layers);
counters_between(&now->before, &now->after, &did);
put_key(j, "counters"), put_counters(j, &did);
put_key(j, "attention"), put_open(j, '[');
for (size_t i = 0; g->looks && i < now->length; i++)
  put_float(j, g->weights[i]);
put_close(j, ']');

@ All counters are numbers of one type that stand side by side, and none may be forgotten when a
later chapter adds one; so the difference is taken over the whole structure, as if it were an array. That it is as large as one with a
place for each name is checked by the compiler: a counter without a name stops the build.

@<Subtract counters@>=
static void counters_between(const struct counters *before,
  const struct counters *after, struct counters *did)
{
  uint64_t a[N_COUNTERS], b[N_COUNTERS];
  _Static_assert(sizeof *did == sizeof a, "every counter has its name");
  memcpy(b, before, sizeof b);
  memcpy(a, after, sizeof a);
  for (int i = 0; i < N_COUNTERS; i++) a[i] -= b[i];
  memcpy(did, a, sizeof a);
}

@ Attention is not part of what the loop reports. Whoever wants to see it gets a second pass over the
same text, with a watcher, a store of its own, and counters that nobody reads; so the numbers
of the trace are those of the loop alone. The weights of the last row are those with which it gathered what
the choice was made from. They come head by head, |longest| of them for each: as many as the longest text in the pass has
positions, which here is the only one.
@^attention@>

@<Look at what the last row attends to@>=
static void take_weights(void *self, enum watch_stage stage,
  uint32_t layer, float *x, size_t rows, size_t width)
{
  struct tracing *g = self;
  if (stage != STAGE_WEIGHTS || layer != g->layer) return;
  size_t longest = width / g->a->o.lm->config.n_heads;
  const float *from = x + (rows - 1) * width
    + g->head_number * longest;
  for (size_t i = 0; i < rows && i < longest; i++)
    g->weights[i] = from[i];
}

@ The second pass is an ordinary one, over the same ids, at the same positions, through the same functions. Only
the counters are others, which nobody will read, and the store is emptied before, so that the pass is whole.

@<Look at what the last row attends to@>=
static bool look(struct tracing *g, size_t n)
{
  struct occasion *a = g->a;
  struct engine e = a->o.e;
  struct watcher with = @[{ take_weights, g, true }@];
  struct row *rows = memory_take(a->o.m, FOR_OTHER, n, sizeof *rows,
    &a->why);
  struct pass *p = NULL;
  if (rows == NULL) return false;
  e.c = &g->counters;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) i, g->seen[i] }@];
  store_empty(g->s);
  bool ok = forward_watched(&e, a->o.lm, g->s, rows, n, &with, &p,
    &a->why);
  pass_close(p);
  memory_give(a->o.m, FOR_OTHER, rows, n, sizeof *rows);
  return ok;
}

@ Which head, is written as two numbers with a point between them. Both are checked against the
model, and the sentence says how far they go. Layers are counted from 0 at the bottom and
heads from 0 in the order of the query matrix, as the literature does it.

@<Read which head to look at@>=
static bool read_head(struct tracing *g)
{
  const struct model_config *config = &g->a->o.lm->config;
  const char *text = g->a->w->of[OPTION_ATTENTION].text;
  char *end;
  unsigned long layer = strtoul(text, &end, 10), number = 0;
  bool ok = *text >= '0' && *text <= '9' && *end == '.' && end[1] >= '0'
    && end[1] <= '9';
  if (ok) number = strtoul(end + 1, &end, 10);
  if (!ok || *end != '\0' || layer >= config->n_layers
      || number >= config->n_heads)
    return error_say(&g->a->why, "--attention is `%s';"@|
      " wanted: LAYER.HEAD, from"@| " 0.0 to %" PRIu32 ".%" PRIu32, text,
      config->n_layers - 1, config->n_heads - 1);
  g->looks = true, g->layer = (uint32_t) layer;
  g->head_number = (uint32_t) number;
  return true;
}

@ Before the first step, the rooms; after the last, the sum: how many rows were computed, how many of
them would have been enough, and how many were computed again. Four tokens are written if nobody says how many: that fits on a
screen, and is what the figure of chapter 3 shows.

@<Trace a text@>=
static int trace_text(struct occasion *a)
{
  const struct option_value *of = a->w->of;
  struct tracing g = @[{ .a = a, .j = { a->c->out, '\0' },
    .eos = a->o.lm->config.eos }@];
  size_t v = a->o.vocab_size;
  g.k = of[OPTION_TOP].given ? (size_t) of[OPTION_TOP].count : 5;
  if (g.k > v) g.k = v;
  g.n_eos = of[OPTION_IGNORE_EOS].given ? 0 : a->o.lm->config.n_eos;
  g.in_json = of[OPTION_JSON].given, g.keeps = of[OPTION_CACHE].given;
  const char *plain = getenv("NO_COLOR");
  g.colour = a->c->out_terminal && (plain == NULL || *plain == '\0');
  if (!of[OPTION_MAX_NEW_TOKENS].given && a->most > 4) a->most = 4;
  if (of[OPTION_ATTENTION].given && !read_head(&g)) return STATUS_USAGE;
  int status = decisions_open(&g.how, a, &a->why);
  @<Take the rooms of a trace@>@;
  if (status == STATUS_DONE) status = ok ? run_steps(&g) : STATUS_FAILED;
  @<Return the rooms of a trace@>@;
  return status;
}

@ The room for the text is for all that the context could hold, and one token more, which is never read.

@<Take the rooms of a trace@>=
size_t room = a->context + 1;
g.logprob = memory_take(a->o.m, FOR_OTHER, v, sizeof *g.logprob,
  &a->why);
g.top = memory_take(a->o.m, FOR_OTHER, 1 + g.k, sizeof *g.top,
  &a->why);
g.seen = memory_take(a->o.m, FOR_OTHER, room, sizeof *g.seen, &a->why);
g.weights = memory_take(a->o.m, FOR_OTHER, room, sizeof *g.weights,
  &a->why);
if (g.looks) g.s = store_open(a->o.m, &a->o.lm->config, 1, &a->why);
bool ok = g.logprob != NULL && g.top != NULL && g.seen != NULL
  && g.weights != NULL && (!g.looks || g.s != NULL);

@ What was not given is null, and null may be returned.

@<Return the rooms of a trace@>=
memory_give(a->o.m, FOR_OTHER, g.logprob, v, sizeof *g.logprob);
memory_give(a->o.m, FOR_OTHER, g.top, 1 + g.k, sizeof *g.top);
memory_give(a->o.m, FOR_OTHER, g.seen, room, sizeof *g.seen);
memory_give(a->o.m, FOR_OTHER, g.weights, room, sizeof *g.weights);
store_close(g.s);
decisions_close(a->o.m, &g.how);

@ The loop itself is the one that |generate| runs. It is given another watcher and nothing else, so what is traced is what
is generated. A trace that is interrupted ends like one that has finished, with its sum, because half an object would be
no object.

@<Run the steps of a trace@>=
static int run_steps(struct tracing *g)
{
  struct occasion *a = g->a;
  struct generator with = @[{ &a->o.e, a->o.lm, a->o.s, a->o.m }@];
  struct settings want = @[{ .max_new_tokens = a->most, .eos = g->eos,
    .n_eos = g->n_eos, .see = see_trace, .self = g, .recall = g->keeps ? store_keep : NULL,@|
    .chunk = (size_t) a->w->of[OPTION_CHUNK].count }@];
  struct continuation text;
  decisions_apply(&g->how, a, &want);
  if (!endings_begin(&g->how.ends, a->p.list.id, a->p.list.n, &a->why))
    return STATUS_FAILED;
  memcpy(g->seen, a->p.list.id, a->p.list.n * sizeof *g->seen);
  a->c->listen();
  begin_trace(g);
  bool ok = generate(&with, a->p.list.id, a->p.list.n, &want, &text,
      &a->why) && !g->failed;
  bool cancelled = ok && text.ended == FINISH_CANCELLED;
  if (ok) end_trace(g);
  continuation_free(a->o.m, &text);
  if (!ok || console_end(a->c, STATUS_DONE) != STATUS_DONE)
    return STATUS_FAILED;
  return cancelled ? STATUS_CANCELLED : STATUS_DONE;
}

@ What stands above the steps, and below them. Above them stands the prompt as the model sees it: pieces in quotation marks, so
that a blank at the end, which is a token's beginning and not a text's, can be seen.

@<Begin and end a trace@>=
static void begin_trace(struct tracing *g)
{
  const struct ids *list = &g->a->p.list;
  if (g->in_json) {
    put_open(&g->j, '{');
    put_key(&g->j, "prompt_ids"), put_ids(&g->j, list->id, list->n);
    put_key(&g->j, "steps"), put_open(&g->j, '[');
    return;
  }
  fprintf(g->a->c->out, "prompt:");
  for (size_t i = 0; i < list->n; i++) {
    size_t n;
    const unsigned char *byte = text_of(g, list->id[i], &n);
    putc(' ', g->a->c->out);
    if (n > 0) piece_quote(g->a->c->out, byte, n);
    else fprintf(g->a->c->out, "%" PRIu32, list->id[i]);
  }
  fprintf(g->a->c->out, "\n");
}

@ Below the steps stands the sum that the whole of chapter 3 is about: rows computed, rows that would have been enough,
and the difference.

@<Begin and end a trace@>=
static void end_trace(struct tracing *g)
{
  if (!g->in_json) {
    fprintf(g->a->c->out, "computed %" PRIu64 " rows: %" PRIu64@|
      " necessary, %" PRIu64 " again\n", g->rows, g->rows - g->again,
      g->again);
    return;
  }
  put_close(&g->j, ']');
  put_key(&g->j, "totals"), put_open(&g->j, '{');
  put_key(&g->j, "computed"), put_count(&g->j, g->rows);
  put_key(&g->j, "necessary"), put_count(&g->j, g->rows - g->again);
  put_key(&g->j, "redundant"), put_count(&g->j, g->again);
  put_close(&g->j, '}'), put_close(&g->j, '}');
  put_end(&g->j);
}

@ The file of the trace, from what a step needs to the whole. It calls no kernel but the one that makes
log-probabilities of logits, and no part of the model but the pass: what it shows, it has been told.

@(tracing.c@>=
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "functions/numbers.h"
#include "probe/door.h"
@;@#
@<What is kept during a trace@>@;
@<Say why a token was chosen@>@;
@<Subtract counters@>@;
@<Print a candidate, then a step@>@;
@<Write a step@>@;
@<Look at what the last row attends to@>@;
@<Watch a step of the trace@>@;
@<Read which head to look at@>@;
@<Begin and end a trace@>@;
@<Run the steps of a trace@>@;
@<Trace a text@>@;
@#
int run_trace(const struct console *c, const struct wishes *w)
{
  return occasion_run(c, w, trace_text);
}

@* Inspect. \label{sec:inspecting}
What is in these files, and what will the engine make of it? Half of all trouble with a
checkpoint is a field that one program reads and another ignores. So |inspect| does not print
what the files say, but what was \emph{understood}: the settings as they will be used, every tensor, where
the special tokens come from, and each field that changes nothing, with the reason why it may be
ignored. A model that the engine would refuse is refused here as well, in the same words.
@^inspect@>

@<Look into a directory or a file@>=
int run_inspect(const struct console *c, const struct wishes *w)
{
  struct inspection g = @[{ .c = c, .in_json = w->of[OPTION_JSON].given,
    .j = { c->out, '\0' } }@];
  struct stat about;
  bool is_file = w->operand != NULL && stat(w->operand, &about) == 0
    && !S_ISDIR(about.st_mode);
  bool ok;
  if (!is_file) @<Open the model that is inspected@>@;
  else {
    g.tensors = g.alone = weights_open(c->memory, w->operand, &g.why);
    ok = g.alone != NULL;
  }
  if (ok) show_inspection(&g);
  weights_close(c->memory, g.alone);
  if (ok && !is_file) outfit_close(&g.o);
  return ok ? STATUS_DONE : console_fail(c, &g.why);
}

@ A directory is opened exactly as |generate| would open it. Its name comes as an operand and not behind \texttt{--model}, so a
copy of the wishes is made in which it does; without an operand the built-in model is meant.

@<Open the model that is inspected@>=
{
  struct wishes asked = *w;
  asked.of[OPTION_MODEL] = (struct option_value) @[{
    .given = w->operand != NULL, .text = w->operand }@];
  ok = outfit_open(&g.o, c, &asked, NEED_MODEL | MAY_TOKENIZER, &g.why);
  if (ok) g.tensors = g.o.lm->weights;
}

@ A file of tensors has no settings and no tokenizer; then those parts are left out of the screen,
and are null or empty in the object.

@<What is inspected@>=
struct inspection { const struct console *c; struct outfit o;
  bool in_json; struct json_out j; const struct archive *tensors;
  struct archive *alone; struct error why; };

@ The settings are many and of three sorts. A short list of names, with where the numbers lie, serves
the screen and the object alike. The names are those of the program and not those of the file, since two families of
models call the same thing by different names, and what is shown here is what both were understood to mean.

@<List the settings as they were understood@>=
struct setting { const char *name; double value; bool is_bool; };
enum { N_SETTINGS = 28 };
static void list_settings(const struct model_config *c,
  struct setting of[N_SETTINGS])
{
  uint32_t windows = 0;
  for (uint32_t i = 0; i < c->n_layers; i++) windows += config_window(c, i) > 0;
  const struct setting list[N_SETTINGS] = @[{@|
    @<The settings, one by one@>@;
  }@];
  memcpy(of, list, sizeof list);
}

@ First come the sizes, then what one family does and another does not, in the order in which a row meets it; last the wheels, and the maker's advice. Whoever adds a setting to the description adds a line here,
and one to the number of them; of a line too many the compiler tells.

@<The settings, one by one@>=
  {"vocab_size", c->vocab_size, false},@|
  {"n_positions", c->n_positions, false},@|
  {"d_model", c->d_model, false}, {"d_inner", c->d_inner, false},@|
  {"n_layers", c->n_layers, false}, {"n_heads", c->n_heads, false},@|
  {"n_kv_heads", c->n_kv_heads, false},@|
  {"head_dim", c->head_dim, false},@|
  {"window", c->window, false}, {"window_layers", windows, false},@|
  {"norm_eps", c->norm_eps, false}, {"scaled", c->scaled, true},@|
  {"scaled_by_layer", c->scaled_by_layer, true},@|
  {"layer_norm", c->layer_norm, true},@|
  {"learned_positions", c->learned_positions, true},@|
  {"gated", c->gated, true}, {"qkv_bias", c->qkv_bias, true},@|
  {"out_bias", c->out_bias, true}, {"mlp_bias", c->mlp_bias, true},@|
  {"qk_norm", c->qk_norm, true}, {"tied", c->tied, true},@|
  {"rope_linear", c->rope.kind == ROPE_LINEAR, true},@|
  {"rope_llama3", c->rope.kind == ROPE_LLAMA3, true},@|
  {"rope_yarn", c->rope.kind == ROPE_YARN, true},@|
  {"rope_theta", c->rope.theta, false},@|
  {"rope_factor", c->rope.factor, false},@|
  {"rope_attention", rope_attention(&c->rope), false},@|
  {"do_sample", c->sampling.do_sample, true}

@ The numbers among them are integers but for three, and an integer is printed as one. A double holds every integer of 32 bits exactly, so
the detour through one loses nothing.

@<Show the settings@>=
static void show_settings(struct inspection *g)
{
  struct setting of[N_SETTINGS];
  list_settings(&g->o.lm->config, of);
  if (g->in_json) put_key(&g->j, "config"), put_open(&g->j, '{');
  for (int i = 0; i < N_SETTINGS; i++) {
    char room[NUMBER_ROOM];
    double x = of[i].value;
    if (of[i].is_bool) strcpy(room, x != 0 ? "true" : "false");
    else if (x == (double) (uint32_t) x)
      snprintf(room, sizeof room, "%" PRIu32, (uint32_t) x);
    else number_double(x, room);
    if (g->in_json)
      put_key(&g->j, of[i].name), put_word(&g->j, room);
    else fprintf(g->c->out, "  %-20s %s\n", of[i].name, room);
  }
  if (g->in_json) put_close(&g->j, '}');
}

@ A tensor has a name, a type, a shape, and a size in bytes. The shape is printed as the file has it: for a matrix the outputs first, but
for the matrices of GPT-2, which lie the other way round. The name is any string of the file's; with an escape character in it, it could clear the reader's screen or write over the line above. So it is printed as an error
would say it, with question marks for such things.

@<Show the tensors@>=
static void show_tensor(struct inspection *g, const struct stored *t)
{
  if (!g->in_json) {
    struct error clean;
    error_say(&clean, "%s", t->name);
    fprintf(g->c->out, "  %s %s [", clean.words, t->type);
    for (uint32_t i = 0; i < t->rank; i++)
      fprintf(g->c->out, "%s%" PRIu64, i > 0 ? ", " : "", t->shape[i]);
    fprintf(g->c->out, "] %" PRIu64 " bytes\n", t->bytes);
    return;
  }
  put_open(&g->j, '{');
  put_key(&g->j, "name"), put_words(&g->j, t->name);
  put_key(&g->j, "type"), put_words(&g->j, t->type);
  put_key(&g->j, "shape"), put_open(&g->j, '[');
  for (uint32_t i = 0; i < t->rank; i++) put_count(&g->j, t->shape[i]);
  put_close(&g->j, ']');
  put_key(&g->j, "bytes"), put_count(&g->j, t->bytes);
  put_close(&g->j, '}');
}

@ All of them come in the order of their names, which is that of the archive; in the files they may lie in
any other.

@<Show the tensors@>=
static void show_tensors(struct inspection *g)
{
  size_t n = weights_count(g->tensors);
  if (g->in_json) put_key(&g->j, "tensors"), put_open(&g->j, '[');
  else fprintf(g->c->out, "tensors: %zu\n", n);
  for (size_t i = 0; i < n; i++)
    show_tensor(g, weights_at(g->tensors, i));
  if (g->in_json) put_close(&g->j, ']');
}

@ A special token has a role, and the role has a source. The ends of a text are named by
|generation_config.json| or |config.json|, the beginning by the tokenizer or |config.json|;
what the tokenizer calls special and nobody has given a role is just that.

@<Show a special token@>=
static void show_special(struct inspection *g, uint32_t id,
  const char *role, const char *from)
{
  size_t n = 0;
  const unsigned char *byte = (const unsigned char *) "";
  if (g->o.t != NULL) byte = tokenizer_text(g->o.t, id, &n);
  if (!g->in_json) {
    fprintf(g->c->out, "  %" PRIu32 " ", id);
    piece_quote(g->c->out, byte, n);
    fprintf(g->c->out, " %s (%s)\n", role, from);
    return;
  }
  put_open(&g->j, '{');
  put_key(&g->j, "id"), put_count(&g->j, id);
  put_key(&g->j, "text"), put_text(&g->j, byte, n);
  put_key(&g->j, "role"), put_words(&g->j, role);
  put_key(&g->j, "from"), put_words(&g->j, from);
  put_close(&g->j, '}');
}

@ All of them: first those with a role, then the rest. A token that has a role is not listed a second time among the tokens without
one; one that ends a text and begins it, as in GPT-2, is listed twice, because it has two roles.

@<Show the special tokens@>=
static void show_specials(struct inspection *g)
{
  const struct model_config *c = &g->o.lm->config;
  uint32_t first = 0;
  bool begins = g->o.t != NULL && tokenizer_bos(g->o.t, &first);
  for (uint32_t i = 0; i < c->n_eos; i++)
    show_special(g, c->eos[i], "eos", c->eos_from);
  if (begins) show_special(g, first, "bos", "tokenizer.json");
  else if (c->has_bos) show_special(g, c->bos, "bos", "config.json");
  size_t extras = g->o.t == NULL ? 0 : tokenizer_extras(g->o.t);
  for (size_t i = 0; i < extras; i++) {
    struct tokenizer_extra x = tokenizer_extra_at(g->o.t, i);
    bool known = begins ? x.id == first : c->has_bos && x.id == c->bos;
    for (uint32_t k = 0; k < c->n_eos; k++)
      known = known || x.id == c->eos[k];
    if (!known) show_special(g, x.id, x.special ? "special" : "added",
        "tokenizer.json");
  }
}

@ Before them stands what kind of tokenizer it is and how many ids it has. A model without one has none of
either, and its special tokens are numbers without a text.

@<Show the special tokens@>=
static void show_tokenizer(struct inspection *g)
{
  struct json_out *j = &g->j;
  const char *kind = g->o.t == NULL ? "none" : tokenizer_kind(g->o.t);
  size_t n = g->o.t == NULL ? 0 : tokenizer_vocab_size(g->o.t);
  if (!g->in_json)
    fprintf(g->c->out, "tokenizer: %s, %zu ids;"@| " special tokens:\n",
      kind, n);
  else {
    put_key(j, "tokenizer"), put_open(j, '{');
    put_key(j, "kind"), put_words(j, kind);
    put_key(j, "vocab_size"), put_count(j, n);
    put_key(j, "special"), put_open(j, '[');
  }
  show_specials(g);
  if (g->in_json) put_close(j, ']'), put_close(j, '}');
}

@ A field that is ignored is listed with its file and the reason. This list is the honest part of the output: all that a model's
makers wrote down and that changes nothing here. Who finds in it a field that ought to matter has found a mistake, theirs or ours.

@<Show what is ignored@>=
static void show_one_ignored(struct inspection *g, const char *file,
  const char *field, const char *reason)
{
  if (!g->in_json) {
    struct error clean;
    error_say(&clean, "%s: %s: %s", file, field, reason);
    fprintf(g->c->out, "  %s\n", clean.words);
    return;
  }
  put_open(&g->j, '{');
  put_key(&g->j, "file"), put_words(&g->j, file);
  put_key(&g->j, "field"), put_words(&g->j, field);
  put_key(&g->j, "reason"), put_words(&g->j, reason);
  put_close(&g->j, '}');
}

@ The model's settings come first, then the two of a tokenizer that are about many texts at a time.

@<Show what is ignored@>=
static void show_ignored(struct inspection *g)
{
  const struct model_config *c = &g->o.lm->config;
  const char *field[2] = @[{ NULL, NULL }@];
  size_t n = c->n_ignored;
  for (size_t i = 0; g->o.t != NULL && i < 2; i++)
    field[i] = tokenizer_ignores(g->o.t, i), n += field[i] != NULL;
  if (g->in_json)
    put_key(&g->j, "ignored_fields"), put_open(&g->j, '[');
  else fprintf(g->c->out, "ignored: %zu fields\n", n);
  for (size_t i = 0; i < c->n_ignored; i++)
    show_one_ignored(g, c->ignored[i].file, c->ignored[i].field,
      c->ignored[i].reason);
  for (size_t i = 0; i < 2; i++)
    if (field[i] != NULL) show_one_ignored(g, "tokenizer.json",
      field[i], "for batches of texts; here a "@|
      "text is neither cut nor filled up");
  if (g->in_json) put_close(&g->j, ']');
}

@ How many parameters? Those that the model uses; of a file alone, all numbers in it. The two may differ for the same weights: a file
may have a tensor that is of no use here, or a tied head written out a second time.

@<Count the parameters@>=
static uint64_t count_parameters(const struct inspection *g)
{
  uint64_t n = 0;
  if (g->o.lm != NULL) return model_parameters(g->o.lm);
  for (size_t i = 0; i < weights_count(g->tensors); i++)
    n += weights_at(g->tensors, i)->elements;
  return n;
}

@ The parts in their order. For programs every key is there, whatever was inspected, since they look
for it by name and must not have to ask whether it exists; what a file alone does not have is null or empty.

@<Show all that was found@>=
static void show_inspection(struct inspection *g)
{
  struct json_out *j = &g->j;
  const struct model_config *c = g->o.lm == NULL
    ? NULL : &g->o.lm->config;
  if (!g->in_json) @<Show it to people, and return@>@;
  put_open(j, '{');
  @<Put the three facts that everybody asks for first@>@;
  if (c != NULL) show_settings(g);
  else put_key(j, "config"), put_open(j, '{'), put_close(j, '}');
  show_tensors(g);
  if (c != NULL) show_tokenizer(g), show_ignored(g);
  else @<Put what a file alone does not have@>@;
  put_close(j, '}');
  put_end(j);
}

@ For people what is not there is left out, since a screen is read from the top, and a line that says that there is nothing to say
stands in the way.

@<Show it to people, and return@>=
{
  if (c != NULL)
    fprintf(g->c->out, "architecture: %s\n", c->family);
  fprintf(g->c->out, "parameters: %" PRIu64 "\n", count_parameters(g));
  if (c != NULL) show_settings(g);
  show_tensors(g);
  if (c != NULL) show_tokenizer(g), show_ignored(g);
  return;
}

@ What is it, how large is it, how much text does it take: these stand at the head of the object, and the first
and the last of them are nothing that a file of tensors could tell.

@<Put the three facts that everybody asks for first@>=
put_key(j, "architecture");
if (c != NULL) put_words(j, c->family);
else put_word(j, "null");
put_key(j, "parameters"), put_count(j, count_parameters(g));
put_key(j, "context");
if (c != NULL) put_count(j, c->n_positions);
else put_word(j, "null");

@ A program that reads the object finds all keys in it, whatever was inspected.

@<Put what a file alone does not have@>=
put_key(j, "tokenizer"), put_word(j, "null"),
  put_key(j, "ignored_fields"), put_open(j, '['), put_close(j, ']');

@ From the parts to the whole. Like |trace|, this file finds out nothing by itself: it prints what the loaders
of \cref{safetensors,tokenizer} have understood, so that what |inspect| says and what |generate| does cannot
differ.

@(inspecting.c@>=
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include "families/loader.h"
#include "safetensors/safetensors.h"
#include "probe/door.h"
@;@#
@<What is inspected@>@;
@<List the settings as they were understood@>@;
@<Show the settings@>@;
@<Show the tensors@>@;
@<Show a special token@>@;
@<Show the special tokens@>@;
@<Show what is ignored@>@;
@<Count the parameters@>@;
@<Show all that was found@>@;
@<Look into a directory or a file@>@;

@* The protocol. \label{sec:probe}
Two programs that claim to do the same can be compared only if they can be asked the same questions.
\texttt{incipit probe} answers questions, one a line, in JSON: what are the ids of this text; what
are the logits behind these ids; what would you write? The questions that a program in any language
can be asked are a small and stable set, and a file of them, with the answers, is a test of every
program there will ever be. \Cref{fig:probe} shows what becomes of a line.
@^probe@>@^conformance@>

\fig{probe}{fig:probe}{The life of a line. Whatever comes in, exactly one line goes out, and a
question that cannot be answered leaves nothing behind that the next could notice.}{A flow from the
left to the right. A line is read; if it is no object, has a wrong key or a value out of range, it goes
down to an error line. Else it is computed; if that fails, it goes down to the same error line. Else it
is written as an answer. Both ways lead to one line out, and back to the next line in.}

Three rules make it dependable. Every line gets exactly one answer, and in order. An answer is
computed whole before its first character is written, so that a failure half-way is an
error line and not half an answer. And no answer depends on the lines before it. So whoever asks needs no rules for getting back
into step: line for line, question and answer belong together, even where both were written to files and are compared a year later.

Each kind of question has a name, a list of the keys that it may have, what it needs to be
open, and a function that answers. A kind without a function belongs to a later chapter, and
answers every line with an error that says so. (What a question and a key look like is declared in \cref{sec:choosing}, since a second file has answers, too.)

@<A kind of question@>=
struct kind_row { const char *name; unsigned needs, chapter;
  const struct key_row *keys; size_t n_keys;
  bool (*answer)(struct inquiry *q); };

@ The types that a key may have are more than those of JSON. Each has a letter, and the words by which a
wrong value is told what it should have been.

@<The types of values@>=
static const struct { char letter; const char *words; }
  value_type[] = @[{@|
  {'s', "a text"}, {'b', "true or false"},@|
  {'n', "an integer from 0 on"},@|
  {'u', "an integer from 0 to 4294967295"}, {'i', "an integer"},@|
  {'x', "a number"}, {'a', "a list"}, {'o', "an object"},@|
  {'p', "a text or null"}, {'e', "a list or null"},@|
  {'r', "a list or a text"}, {'*', "anything"}
}@];
static const char *words_of_type(char letter)
{
  size_t i = 0;
  while (value_type[i].letter != letter) i++;
  return value_type[i].words;
}

@ What a letter stands for is decided here. An integer is one only if it was written without a point:
then no two programs can disagree about which integer it is. (Many read every number of JSON as a double, and a double holds all
integers only up to $2^{53}$; a large seed with a point behind it would be another seed.)

@<Tell whether a value fits its key@>=
static bool value_fits(char letter, json_t *v)
{
  json_int_t n = json_integer_value(v);
  switch (letter) {
  case 's': return json_is_string(v);
  case 'b': return json_is_boolean(v);
  case 'n': return json_is_integer(v) && n >= 0;
  case 'u': return json_is_integer(v) && n >= 0 && n <= UINT32_MAX;
  case 'i': return json_is_integer(v);
  case 'x': return json_is_number(v);
  case 'a': return json_is_array(v);
  case 'p': return json_is_string(v) || json_is_null(v);
  case 'e': return json_is_array(v) || json_is_null(v);
  case 'r': return json_is_array(v) || json_is_string(v);
  case '*': return true;
  default: return json_is_object(v);
  }
}

@ A value is the normal one if it is the same JSON, where a number may be written with a point or
without: a temperature of 0.0 is one of 0.

@<Tell whether a value is the normal one@>=
static bool is_normal(const struct key_row *k, json_t *v)
{
  json_t *normal = json_loads(k->normal, JSON_DECODE_ANY, NULL);
  bool same = json_is_number(v) && json_is_number(normal)
    ? json_number_value(v) == json_number_value(normal)
    : json_equal(v, normal);
  json_decref(normal);
  return same;
}

@ Every key that is there must be in the list: a key that was misspelled would otherwise be ignored, and the answer be that to another
question. Of two mistakes in a line the first in its order is told. The value itself is shown, but cut to a few letters,
since it may have any number of them.

@<Check the keys of an object@>=
static bool check_value(const struct key_row *k, json_t *v,
  struct error *why)
{
  char room[64];
  if (!value_fits(k->letter, v))
    return error_say(why, "\"%s\" is %s; wanted: %s", k->name,
      json_excerpt(v, room), words_of_type(k->letter));
  if (k->chapter > 0 && !is_normal(k, v))
    return error_say(why, "\"%s\" can only be %s"@| " until chapter %u",
      k->name, k->normal, k->chapter);
  return true;
}

@ And every key that is required must be there. The function is used for the line itself and for the object |"params"| inside
it, which has rules of the same kind.

@<Check the keys of an object@>=
bool check_keys(json_t *object, const struct key_row *keys,
  size_t n, struct error *why)
{
  for (void *at = json_object_iter(object); at != NULL;
      at = json_object_iter_next(object, at)) {
    const char *name = json_object_iter_key(at);
    size_t i = 0;
    while (i < n && strcmp(keys[i].name, name) != 0) i++;
    if (i == n) return error_say(why, "\"%s\" is no key here", name);
    if (!check_value(&keys[i], json_object_iter_value(at), why))
      return false;
  }
  for (size_t i = 0; i < n; i++)
    if (keys[i].required
        && json_object_get(object, keys[i].name) == NULL)
      return error_say(why, "\"%s\" is missing", keys[i].name);
  return true;
}

@ Then values are taken out. A key that may be left out has a default, which the caller names.

@<Take values out of a question@>=
bool flag_of(const struct inquiry *q, const char *key, bool normal)
{
  json_t *v = json_object_get(q->in, key);
  return v == NULL ? normal : json_is_true(v);
}

@ A count that was left out is zero, which is the default of every count in the protocol that has one. Its type was
checked before, so the number fits.

@<Take values out of a question@>=
uint64_t count_of(const struct inquiry *q, const char *key)
{
  return (uint64_t) json_integer_value(json_object_get(q->in, key));
}

@ A text may contain the character U+0000, so its length is taken from the library and never from |strlen|. What is null or
was left out gives a null pointer.

@<Take values out of a question@>=
static const char *text_value(const struct inquiry *q,
  const char *key, size_t *n)
{
  json_t *v = json_object_get(q->in, key);
  *n = json_string_length(v);
  return json_string_value(v);
}

@ Ids are integers, and each must be one that the model has; the sentence names the first that is
not. A list may be empty here; whether that makes sense the kind decides.

@<Take ids out of a question@>=
bool ids_from(const struct inquiry *q, json_t *from, const char *key,
  struct ids *list)
{
  for (size_t i = 0; i < json_array_size(from); i++) {
    json_t *v = json_array_get(from, i);
    json_int_t id = json_integer_value(v);
    bool ok = json_is_integer(v) && id >= 0 && id < q->vocab_size;
    if (!ok) error_say(q->why, "\"%s\"[%zu] is no id;"@|
        " wanted: an integer from 0"@| " to %" PRIu32, key, i,
        q->vocab_size - 1);
    if (!ok || !ids_push(q->o->m, list, (uint32_t) id, q->why)) {
      ids_free(q->o->m, list);
      return false;
    }
  }
  return true;
}

@ Most lists of ids stand directly behind a key; the function above also serves the lists inside a list.

@<Take ids out of a question@>=
bool ids_of(const struct inquiry *q, const char *key, struct ids *list)
{
  return ids_from(q, json_object_get(q->in, key), key, list);
}

@ A text is its ids. Whether special tokens are added, and whether their names in the text are taken for them, are
two questions with two keys: a text from a stranger may contain the name of an end token, and must not be ended by it.

@<Answer with ids, bytes or merges@>=
static bool answer_tokenize(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct ids list = @[{ NULL, 0, 0 }@];
  size_t n;
  const char *text = text_value(q, "text", &n);
  bool ok = tokenizer_encode(q->o->t, m, text, n,
    flag_of(q, "add_special", false),
    flag_of(q, "parse_special", false), &list, q->why);
  if (ok) {
    put_key(&q->out, "ids");
    put_ids(&q->out, list.id, list.n);
  }
  ids_free(m, &list);
  return ok;
}

@ Ids are bytes, and the bytes, as far as they are a text, a text. Both are in the answer, since the text alone cannot say
what the broken parts of it have been.

@<Answer with ids, bytes or merges@>=
static bool answer_detokenize(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct ids list = @[{ NULL, 0, 0 }@];
  struct bytes text = @[{ NULL, 0, 0 }@];
  bool ok = ids_of(q, "ids", &list)
    && tokenizer_decode(q->o->t, m, list.id, list.n,
      flag_of(q, "skip_special", false), &text, q->why);
  if (ok) {
    put_key(&q->out, "hex"), put_hex(&q->out, text.byte, text.n);
    put_key(&q->out, "text"), put_text(&q->out, text.byte, text.n);
  }
  bytes_free(m, &text);
  ids_free(m, &list);
  return ok;
}

@ The question about streaming is: which bytes can be released after each id? Ids are fed one at a time,
as |generate| does it, through the same hold for unfinished characters. All chunks are found
first, one behind the other, with the places where they end, and printed afterwards.

@<Answer with ids, bytes or merges@>=
static bool answer_stream(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct ids list = @[{ NULL, 0, 0 }@], ends = @[{ NULL, 0, 0 }@];
  struct bytes all = @[{ NULL, 0, 0 }@], fresh = @[{ NULL, 0, 0 }@];
  struct stream held = @[{ .n = 0 }@];
  bool ok = ids_of(q, "ids", &list), begun = false;
  for (size_t i = 0; ok && i < list.n; i++) {
    fresh.n = 0;
    ok = tokenizer_decode_next(q->o->t, m, list.id[i], false, &begun,
        &fresh, q->why)
      && stream_feed(m, &held, fresh.byte, fresh.n, &all, q->why)
      && ids_push(m, &ends, (uint32_t) all.n, q->why);
  }
  ok = ok && stream_flush(m, &held, &all, q->why);
  if (ok) put_chunks(&q->out, &all, &ends);
  bytes_free(m, &all), bytes_free(m, &fresh);
  ids_free(m, &list), ids_free(m, &ends);
  return ok;
}

@ Of the four ids of the hand calculation the ends are 1, 3, 3 and 6: chunk number $i$ lies between end $i-1$ and end $i$, and where
two ends are equal it is empty. What lies behind the last end is what was flushed. A text of no bytes has no block, and to a null pointer C adds not even a zero; so an empty string stands for it. (A fuzzer asked for the
chunks of no ids.)

@<Write the chunks of a stream@>=
static void put_chunks(struct json_out *j, const struct bytes *all,
  const struct ids *ends)
{
  size_t from = 0;
  const unsigned char *text = all->n > 0 ? all->byte
    : (const unsigned char *) "";
  put_key(j, "chunks"), put_open(j, '[');
  for (size_t i = 0; i < ends->n; from = ends->id[i++])
    put_hex(j, text + from, ends->id[i] - from);
  put_close(j, ']');
  put_key(j, "flush"), put_hex(j, text + from, all->n - from);
}

@ Learning needs no model at all. Every merge makes a text shorter by at least one id, so more
merges than it has bytes cannot be learnt, and no room is taken for them, however many are asked for.

@<Answer with ids, bytes or merges@>=
static bool answer_train(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct bpe_merge *merge = NULL;
  size_t n, length, made = 0, most = (size_t) count_of(q, "merges");
  const char *text = text_value(q, "text", &n);
  const char *pattern = text_value(q, "pattern", &length);
  if (most > n) most = n;
  if (pattern != NULL && strlen(pattern) != length)
    return error_say(q->why, "\"pattern\" contains U+0000");
  if (!bpe_train(m, text, n, pattern, most, &merge, &made, q->why))
    return false;
  put_key(&q->out, "merges"), put_open(&q->out, '[');
  for (size_t k = 0; k < made; k++) {
    uint32_t pair[2] = @[{ merge[k].left, merge[k].right }@];
    put_ids(&q->out, pair, 2);
  }
  put_close(&q->out, ']');
  bpe_forget(m, merge, most);
  return true;
}

@ Logits are asked for by position. The rows wanted become a list of indices first; the same
index may come twice. What is neither one of the two words nor a list of indices that are rows is refused before
any room for logits is taken. (A word is compared with its length, since it may go on behind a character U+0000.)

@<Find the rows that are wanted@>=
static bool rows_of(const struct inquiry *q, size_t n, size_t **which,
  size_t *wanted)
{
  json_t *v = json_object_get(q->in, "rows");
  const char *word = v == NULL ? "last" : json_string_value(v);
  bool all = word != NULL && strcmp(word, "all") == 0;
  bool whole = word == NULL || v == NULL
    || strlen(word) == json_string_length(v);
  if (!whole || (word != NULL && !all && strcmp(word, "last") != 0))
    return error_say(q->why, "\"rows\" is `%s'; wanted:"@|
      " last, all, or a list", word);
  *wanted = all ? n : word != NULL ? 1 : json_array_size(v);
  *which = memory_take(q->o->m, FOR_OTHER, *wanted, sizeof **which,
    q->why);
  if (*which == NULL) return false;
  for (size_t i = 0; i < *wanted; i++)
    if (word != NULL) (*which)[i] = all ? i : n - 1;
    else @<Take index |i| of the list, if it is a row@>@;
  return true;
}

@ An index is an integer, and the text has a row for each of its ids. The list that was taken is given back where one is not, so
that nobody else has to know how far we had come.

@<Take index |i| of the list, if it is a row@>=
{
  json_t *one = json_array_get(v, i);
  json_int_t at = json_integer_value(one);
  if (!json_is_integer(one) || at < 0 || (size_t) at >= n) {
    memory_give(q->o->m, FOR_OTHER, *which, *wanted, sizeof **which);
    *which = NULL;
    return error_say(q->why, "\"rows\"[%zu] is no row;"@|
      " wanted: an integer from 0"@| " to %zu", i, n - 1);
  }
  (*which)[i] = (size_t) at;
}

@ There must be ids, and no more of them than the context holds.

@<Check that ids fit the context@>=
static bool fits_context(const struct inquiry *q, const char *key,
  size_t n)
{
  size_t context = q->o->lm->config.n_positions;
  if (n == 0) return error_say(q->why, "\"%s\" has a text"@|
      " without ids; wanted: 1 or"@| " more", key);
  return n <= context || error_say(q->why, "\"%s\" has a text"@|
    " of %zu ids; the context"@| " holds %zu", key, n, context);
}

@ The ids may be given company: other texts, the |"mates"|, whose rows go through the same passes. And they
may be fed in parts, with |"chunk"|. The second promise of the preface says that nobody can tell from the answer; here
anybody can try to. All the texts together are a \emph{crowd}, in which number 0 is the one
that was asked about.
@^mates@>@^chunk@>

@<A question about logits@>=
struct crowd { struct ids *of; size_t n; struct store *s;
  struct row *rows; };
static bool gather_crowd(const struct inquiry *q, struct crowd *all)
{
  json_t *mates = json_object_get(q->in, "mates");
  size_t n = json_array_size(mates) + 1, total = 0;
  struct memory *m = q->o->m;
  all->of = memory_take(m, FOR_OTHER, n, sizeof *all->of, q->why);
  if (all->of == NULL) return false;
  all->n = n;
  bool ok = ids_of(q, "ids", &all->of[0])
    && fits_context(q, "ids", all->of[0].n);
  for (size_t i = 1; ok && i < n; i++)
    ok = take_mate(q, json_array_get(mates, i - 1), &all->of[i]);
  for (size_t i = 0; i < n; i++) total += all->of[i].n;
  return ok && n <= UINT32_MAX
    && (all->rows = memory_take(m, FOR_OTHER, total,
      sizeof *all->rows, q->why)) != NULL
    && (all->s = cache_open(m, &q->o->lm->config, (uint32_t) n,
      &(struct cache_wishes) @[{ .rows = 0 }@], q->why)) != NULL;
}

@ A mate must be a list of ids that is not empty and fits, like the text itself.

@<Take a mate@>=
static bool take_mate(const struct inquiry *q, json_t *from,
  struct ids *list)
{
  if (!json_is_array(from))
    return error_say(q->why, "\"mates\" has something"@|
      " that is no list of ids");
  return ids_from(q, from, "mates", list)
    && fits_context(q, "mates", list->n);
}

@ What was gathered is let go, also if the gathering stopped half-way: what is not there is null, and a
list that could not be read is empty.

@<Let the crowd go@>=
static void dismiss_crowd(const struct inquiry *q, struct crowd *all)
{
  struct memory *m = q->o->m;
  size_t total = 0;
  for (size_t i = 0; i < all->n; i++) total += all->of[i].n;
  memory_give(m, FOR_OTHER, all->rows, total, sizeof *all->rows);
  for (size_t i = 0; i < all->n; i++) ids_free(m, &all->of[i]);
  memory_give(m, FOR_OTHER, all->of, all->n, sizeof *all->of);
  store_close(all->s);
}

@ One pass takes the positions from |from| up to, but not including, |to|, of each text as far as it has
them. The rows of the text that was asked about come first, so that a row's number in the pass is its
position less |from|; and those among the wanted ones that are in this pass get their logits.

@<Run a crowd through one pass@>=
static bool run_crowd(const struct inquiry *q, struct crowd *all,
  size_t from, size_t to, const size_t *which, size_t wanted,
  float *logits)
{
  struct outfit *o = q->o;
  struct pass *p = NULL;
  size_t n = 0;
  for (size_t s = 0; s < all->n; s++)
    for (size_t i = from; i < to && i < all->of[s].n; i++)
      all->rows[n++] = (struct row) @[{ (uint32_t) s, (uint32_t) i,
        all->of[s].id[i] }@];
  bool ok = forward(&o->e, o->lm, all->s, all->rows, n, &p, q->why);
  for (size_t i = 0; ok && i < wanted; i++) {
    size_t at = which[i] - from;
    if (which[i] < from || which[i] >= to) continue;
    ok = head(&o->e, o->lm, p, &at, 1,
      logits + i * o->lm->config.vocab_size, q->why);
  }
  pass_close(p);
  return ok;
}

@ With |"cache"| true, the passes go over the text once, in chunks if they are wanted; what one pass has
left in the store the next one sees. With false, each wanted row has a pass of its own over all
ids up to it, and the store is emptied before. For 5 ids of which all rows are wanted that is one pass over 5 rows, or with a
chunk of 2 three over 2, 2 and 1, or without the cache five over 1 to 5, which are 15 rows: three prices for one answer.

@<Find the logits that are wanted@>=
static bool find_logits(const struct inquiry *q, struct crowd *all,
  const size_t *which, size_t wanted, float *logits)
{
  size_t n = all->of[0].n, part = (size_t) count_of(q, "chunk");
  size_t v = q->o->lm->config.vocab_size;
  if (part == 0 || part > n) part = n;
  if (flag_of(q, "cache", true)) {
    for (size_t from = 0; from < n; from += part)
      if (!run_crowd(q, all, from, from + part < n ? from + part : n,
          which, wanted, logits)) return false;
    return true;
  }
  for (size_t i = 0; i < wanted; i++) {
    store_empty(all->s);
    if (!run_crowd(q, all, 0, which[i] + 1, &which[i], 1,
        logits + i * v)) return false;
  }
  return true;
}

@ The answer is a matrix, row by row as they were wanted. Its size cannot overflow in the product of
rows and vocabulary alone, but in bytes it might; that, the allocator looks at.

@<Answer with logits@>=
static bool answer_forward(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct crowd all = @[{ NULL, 0, NULL, NULL }@];
  size_t *which = NULL, wanted = 0, v = q->o->vocab_size;
  float *logits = NULL;
  bool ok = gather_crowd(q, &all)
    && rows_of(q, all.of[0].n, &which, &wanted);
  ok = ok && (logits = memory_take(m, FOR_OTHER, wanted * v,
      sizeof *logits, q->why)) != NULL
    && find_logits(q, &all, which, wanted, logits);
  if (ok) put_logits(&q->out, logits, wanted, v);
  memory_give(m, FOR_OTHER, logits, wanted * v, sizeof *logits);
  memory_give(m, FOR_OTHER, which, wanted, sizeof *which);
  dismiss_crowd(q, &all);
  return ok;
}

@ A list of logits for each row, each with the fewest digits that give back its 32 bits.

@<Write logits@>=
static void put_logits(struct json_out *j, const float *logits,
  size_t wanted, size_t v)
{
  put_key(j, "logits"), put_open(j, '[');
  for (size_t i = 0; i < wanted; i++) {
    put_open(j, '[');
    for (size_t k = 0; k < v; k++) put_float(j, logits[i * v + k]);
    put_close(j, ']');
  }
  put_close(j, ']');
}

@ The first token of a text has no predecessor, hence no probability here, and the answer has a null in
its place. The sum is that of the others. Both are doubles, as chapter 2 computes them: the logarithms of a long text, added
in float32, would lose the digits for which anybody asks this question.

@<Answer with probabilities@>=
static bool answer_logprob(struct inquiry *q)
{
  struct outfit *o = q->o;
  struct ids list = @[{ NULL, 0, 0 }@];
  double *logprob = NULL, sum = 0;
  bool ok = ids_of(q, "ids", &list) && fits_context(q, "ids", list.n)
    && (logprob = memory_take(o->m, FOR_OTHER, list.n,
      sizeof *logprob, q->why)) != NULL
    && logprobs(&o->e, o->lm, o->s, list.id, list.n, logprob, &sum,
      q->why);
  if (ok) {
    put_key(&q->out, "logprobs"), put_open(&q->out, '[');
    put_word(&q->out, "null");
    for (size_t i = 1; i < list.n; i++)
      put_double(&q->out, logprob[i]);
    put_close(&q->out, ']');
    put_key(&q->out, "sum"), put_double(&q->out, sum);
  }
  memory_give(o->m, FOR_OTHER, logprob, list.n, sizeof *logprob);
  ids_free(o->m, &list);
  return ok;
}

@ The last kind runs the whole loop, the same that |generate| runs. End tokens are the model's own, or
those of the question; an empty list means that nothing ends the text but its length.

@<Answer with a text@>=
static bool run_text(struct inquiry *q, const struct ids *list,
  const struct ids *eos, struct sampler *d, struct endings *ends)
{
  struct outfit *o = q->o;
  const struct model_config *config = &o->lm->config;
  struct generator with = @[{ &o->e, o->lm, o->s, o->m }@];
  struct continuation text = @[{ .n_prompt = 0 }@];
  bool own = !json_is_array(json_object_get(q->in, "eos"));
  struct settings want = @[{
    .max_new_tokens = (size_t) count_of(q, "max_tokens"),
    .eos = own ? config->eos : eos->id,
    .n_eos = own ? config->n_eos : eos->n,@|
    .recall = flag_of(q, "cache", true) ? store_keep : NULL,@|
    .chunk = (size_t) count_of(q, "chunk"),@|
    .choose = sampler_choose, .chooser = d, .judge = criteria_judge,@|
    .judging = &ends->all, .min_tokens = ends->flow.min_tokens }@];
  bool ok = generate(&with, list->id, list->n, &want, &text, q->why);
  if (ok) outflow_end(&ends->flow), put_continuation(q, &text, &ends->flow);
  continuation_free(o->m, &text);
  return ok;
}

@ The sampler and the endings are opened around it. Stop strings are strings of a text, so they need a tokenizer.

@<Answer with a text@>=
static bool write_answer(struct inquiry *q, const struct ids *list,
  const struct ids *eos, const struct choices *x,@|
  const struct stop_string *stop, size_t n)
{
  struct outfit *o = q->o;
  struct endings ends;
  struct sampler d = @[{ .s = x->s, .seed = count_of(q, "seed"),
    .sequence = (uint32_t) count_of(q, "sequence") }@];
  if (n > 0 && o->t == NULL) return error_say(q->why, "\"stop\" has strings,"@|
      " and the model has no tokenizer");
  bool ok = endings_open(&ends, o->m, o->t, stop, n, NULL, q->why);
  ends.flow.include_stop = flag_of(q, "include_stop", false);
  ends.flow.min_tokens = (size_t) count_of(q, "min_tokens");
  ok = ok && endings_begin(&ends, list->id, list->n, q->why)
    && funnel_open(&d.f, o->m, o->e.k, o->vocab_size, q->why)
    && run_text(q, list, eos, &d, &ends);
  if (d.f.m != NULL) funnel_close(&d.f);
  endings_close(&ends);
  return ok;
}

@ And around that, what was read from the question: settings, ids, and strings.

@<Answer with a text@>=
static bool answer_generate(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct ids list = @[{ NULL, 0, 0 }@], eos = @[{ NULL, 0, 0 }@];
  struct stop_string *stop = NULL;
  struct choices x;
  size_t n = 0;
  bool ok = choices_read(&x, q, json_object_get(q->in, "params"), 0)
    && ids_of(q, "ids", &list) && ids_of(q, "eos", &eos)
    && fits_context(q, "ids", list.n) && stops_of(q, &stop, &n)
    && write_answer(q, &list, &eos, &x, stop, n);
  memory_give(m, FOR_OTHER, stop, n, sizeof *stop);
  choices_free(m, &x);
  ids_free(m, &list), ids_free(m, &eos);
  return ok;
}

@ The text of an answer is what the new ids add to the text of the prompt, and the outflow has it. Of a text that has stopped the reason is the string that stopped it, or the id, so that somebody who gave a list of end tokens learns
which it was.

@<Write a continuation as an answer@>=
static void put_continuation(struct inquiry *q,
  const struct continuation *text, const struct outflow *flow)
{
  struct json_out *j = &q->out;
  const uint32_t *id = text->text.id;
  size_t n = text->text.n;
  bool stopped = text->ended == FINISH_STOP;
  put_key(j, "ids");
  put_ids(j, id + text->n_prompt, n - text->n_prompt);
  put_key(j, "text");
  put_text(j, flow->text.n > 0 ? (const char *) flow->text.byte : "",
    flow->text.n);
  put_key(j, "finish");
  put_word(j, stopped ? "\"stop\"" : "\"length\"");
  put_key(j, "stop_reason");
  if (flow->found != NULL) put_text(j, flow->found->byte, flow->found->n);
  else if (stopped) put_count(j, id[n - 1]);
  else put_word(j, "null");
}

@ What is in a file of tensors? Opening it validates all of it, so there is nothing left to do but to
add up. This kind is there for the loaders: a file that is wrong in an interesting way can be tried in any
program that speaks the protocol, and must be refused by all of them. A file that is refused is an error line; the program goes on.

@<Answer about a file@>=
static bool answer_inspect(struct inquiry *q)
{
  size_t length;
  uint64_t parameters = 0;
  const char *path = text_value(q, "file", &length);
  if (strlen(path) != length)
    return error_say(q->why, "\"file\" contains U+0000");
  struct archive *w = weights_open(q->o->m, path, q->why);
  if (w == NULL) return false;
  size_t n = weights_count(w);
  for (size_t i = 0; i < n; i++)
    parameters += weights_at(w, i)->elements;
  put_key(&q->out, "ok"), put_word(&q->out, "true");
  put_key(&q->out, "tensors"), put_count(&q->out, n);
  put_key(&q->out, "parameters"), put_count(&q->out, parameters);
  weights_close(q->o->m, w);
  return true;
}

@ Numbers are packed and unpacked by the functions that the cache uses. The question has numbers or bytes, and the answer the other; the rest of the formats that files of weights use come with chapter 10, and until then every line that asks for one is told so.
@^quantization@>

@<Answer about blocks@>=
static bool pack_type(const struct inquiry *q, const struct row_format **f)
{
  static const char *const later[] = @[{ "q4_1", "q5_0", "q5_1", "q4_k",@|
    "q6_k" }@];
  size_t n;
  const char *name = text_value(q, "type", &n);
  *f = NULL;
  for (size_t i = 0; i < sizeof later / sizeof *later; i++)
    if (strcmp(name, later[i]) == 0)
      return error_say(q->why, "%s comes with chapter 10", name);
  *f = strlen(name) == n && strcmp(name, "f32") != 0
    ? format_find(name, NULL) : NULL;
  return *f != NULL || error_say(q->why, "\"type\" is no type of blocks;"@|
    " wanted: f16, bf16, q8_0 or q4_0");
}

@ A number of the question is rounded once to float, and one that is too large for that is refused; so are the three words for what is no number, which other kinds accept.

@<Answer about blocks@>=
static bool pack_numbers(struct inquiry *q, const struct row_format *f,
  json_t *from, float *x, unsigned char *packed)
{
  size_t n = json_array_size(from);
  for (size_t i = 0; i < n; i++) {
    json_t *v = json_array_get(from, i);
    x[i] = (float) json_number_value(v);
    if (!json_is_number(v) || x[i] - x[i] != 0)
      return error_say(q->why, "\"x\"[%zu] is not finite as a float; wanted:"@|
        " a number", i);
  }
  if (!format_holds(f, x, n, q->why)) return false;
  f->pack(x, n, packed);
  put_key(&q->out, "hex");
  put_hex(&q->out, packed, row_bytes(f->type, n));
  return true;
}

@ The way back wants whole blocks, each byte as two digits in lower case or upper.

@<Answer about blocks@>=
bool hex_undo(const struct inquiry *q, const char *text, size_t n,
  unsigned char *byte)
{
  static const char digits[] = "0123456789abcdef0123456789ABCDEF";
  for (size_t i = 0; i < n; i++) {
    const char *d = text[i] == '\0' ? NULL : strchr(digits, text[i]);
    if (d == NULL || n % 2 != 0)
      return error_say(q->why, "\"hex\" is no list of bytes; wanted: two"@|
        " digits for each");
    byte[i / 2] = (unsigned char) (byte[i / 2] << 4 | (d - digits) % 16);
  }
  return true;
}
static bool unpack_bytes(struct inquiry *q, const struct row_format *f,
  const char *text, size_t digits, float *x, unsigned char *packed)
{
  size_t whole = f->type < BLOCKS_Q8_0 ? 1 : BLOCK_NUMBERS;
  size_t one = row_bytes(f->type, whole), n = digits / 2 / one * whole;
  if (!hex_undo(q, text, digits, packed)) return false;
  if (digits / 2 % one != 0)
    return error_say(q->why, "%zu bytes in %s; wanted: a multiple of %zu",
      digits / 2, f->name, one);
  format_unpack(f->type, packed, n, x);
  put_key(&q->out, "x"), put_open(&q->out, '[');
  for (size_t i = 0; i < n; i++) put_float(&q->out, x[i]);
  put_close(&q->out, ']');
  return true;
}

@ Room for both sides is taken for the larger of two estimates: so many numbers as were given, or two for each byte.

@<Answer about blocks@>=
static bool answer_quantize(struct inquiry *q)
{
  const struct row_format *f;
  json_t *from = json_object_get(q->in, "x");
  size_t digits, n;
  const char *text = text_value(q, "hex", &digits);
  if (!pack_type(q, &f)) return false;
  if ((from == NULL) == (text == NULL))
    return error_say(q->why, "wanted: either \"x\" or \"hex\"");
  n = (text == NULL ? json_array_size(from) : digits) + BLOCK_NUMBERS;
  float *x = memory_take(q->o->m, FOR_OTHER, n, sizeof *x, q->why);
  unsigned char *packed = x == NULL ? NULL
    : memory_take(q->o->m, FOR_OTHER, n, sizeof *x, q->why);
  bool ok = packed != NULL && (text == NULL
    ? pack_numbers(q, f, from, x, packed)
    : unpack_bytes(q, f, text, digits, x, packed));
  memory_give(q->o->m, FOR_OTHER, packed, n, sizeof *x);
  memory_give(q->o->m, FOR_OTHER, x, n, sizeof *x);
  return ok;
}

@ Now the tables. The keys of the kinds, first the short ones. Two kinds that take nothing but ids share a list, and what the table does not
say of a key, how a list of mates must look inside, the answering function says.

@<The keys of every kind@>=
static const struct key_row tokenize_keys[] = @[{@|
  {"text", 's', true, 0, NULL}, {"add_special", 'b', false, 0, NULL},@|
  {"parse_special", 'b', false, 0, NULL} }@];
static const struct key_row detokenize_keys[] = @[{@|
  {"ids", 'a', true, 0, NULL}, {"skip_special", 'b', false, 0, NULL} }@];
static const struct key_row ids_keys[] = @[{@|
  {"ids", 'a', true, 0, NULL} }@];
static const struct key_row train_keys[] = @[{@|
  {"text", 's', true, 0, NULL}, {"pattern", 'p', false, 0, NULL},@|
  {"merges", 'n', true, 0, NULL} }@];
static const struct key_row forward_keys[] = @[{@|
  {"ids", 'a', true, 0, NULL}, {"rows", 'r', false, 0, NULL},@|
  {"chunk", 'n', false, 0, NULL}, {"cache", 'b', false, 0, NULL},@|
  {"mates", 'a', false, 0, NULL} }@];
static const struct key_row inspect_keys[] = @[{@|
  {"file", 's', true, 0, NULL} }@];
static const struct key_row quantize_keys[] = @[{@|
  {"type", 's', true, 0, NULL}, {"x", 'a', false, 0, NULL},@|
  {"hex", 's', false, 0, NULL} }@];

@ A question for a whole generation has many keys already, most of which only later chapters will let
vary. Whoever sends them with their defaults gets an answer today.

@<The keys of every kind@>=
static const struct key_row generate_keys[] = @[{@|
  {"ids", 'a', true, 0, NULL}, {"max_tokens", 'n', true, 0, NULL},@|
  {"params", 'o', false, 0, NULL}, {"seed", 'n', false, 0, NULL},@|
  {"sequence", 'u', false, 0, NULL}, {"stop", 'a', false, 0, NULL},@|
  {"include_stop", 'b', false, 0, NULL},@|
  {"min_tokens", 'n', false, 0, NULL}, {"eos", 'e', false, 0, NULL},@|
  {"cache", 'b', false, 0, NULL}, {"chunk", 'n', false, 0, NULL},@|
  {"speculate", 'n', false, 13, "0"} }@];

@ The kinds of \cref{sec:choosing} bring the logits along and need no model; what their parameters may be is checked there.

@<The keys of every kind@>=
static const struct key_row process_keys[] = @[{@|
  {"op", 's', true, 0, NULL}, {"params", 'o', false, 0, NULL},@|
  {"ids", 'a', false, 0, NULL}, {"logits", 'a', true, 0, NULL} }@];
static const struct key_row sample_keys[] = @[{@|
  {"logits", 'a', true, 0, NULL}, {"ids", 'a', false, 0, NULL},@|
  {"prompt_length", 'n', false, 0, NULL}, {"params", 'o', false, 0, NULL},@|
  {"seed", 'n', false, 0, NULL}, {"sequence", 'u', false, 0, NULL},@|
  {"position", 'u', false, 0, NULL} }@];
static const struct key_row philox_keys[] = @[{@|
  {"key", 'a', true, 0, NULL}, {"counter", 'a', true, 0, NULL} }@];
static const struct key_row stop_keys[] = @[{@|
  {"pieces", 'a', false, 0, NULL}, {"pieces_hex", 'a', false, 0, NULL},@|
  {"stop", 'a', false, 0, NULL}, {"include_stop", 'b', false, 0, NULL},@|
  {"min_tokens", 'n', false, 0, NULL} }@];

@ A search has most keys of all; two of them are a vector's own business, and may be anything.

@<The keys of every kind@>=
static const struct key_row beam_keys[] = @[{@|
  {"V", 'n', false, 0, NULL}, {"P", 'n', false, 0, NULL},@|
  {"table", 'a', false, 0, NULL}, {"prompt", 'a', true, 0, NULL},@|
  {"eos", 'a', true, 0, NULL}, {"max_length", 'n', true, 0, NULL},@|
  {"num_beams", 'n', true, 0, NULL},@|
  {"num_return_sequences", 'n', false, 0, NULL},@|
  {"length_penalty", 'x', false, 0, NULL},@|
  {"early_stopping", '*', false, 0, NULL},@|
  {"processors", 'a', false, 0, NULL}, {"case", '*', false, 0, NULL},@|
  {"pad", '*', false, 0, NULL} }@];

@ And the kinds. Those of later chapters are in the table so that an unknown kind can be told from one
that is not there yet. A chapter that brings a kind replaces the null by a function, and no caller notices but by the answer.

@<The table of kinds@>=
#define KEYS(list) list, sizeof list / sizeof *list
static const struct kind_row kind_table[] = @[{@|
  {"tokenize", NEED_TOKENIZER, 0, KEYS(tokenize_keys),
    answer_tokenize},@|
  {"detokenize", NEED_TOKENIZER, 0, KEYS(detokenize_keys),
    answer_detokenize},@|
  {"stream", NEED_TOKENIZER, 0, KEYS(ids_keys), answer_stream},@|
  {"train-bpe", 0, 0, KEYS(train_keys), answer_train},@|
  {"forward", NEED_MODEL | MAY_TOKENIZER, 0, KEYS(forward_keys),
    answer_forward},@|
  {"logprob", NEED_MODEL | MAY_TOKENIZER, 0, KEYS(ids_keys),
    answer_logprob},@|
  {"generate", NEED_MODEL | MAY_TOKENIZER, 0, KEYS(generate_keys),
    answer_generate},@|
  {"inspect", 0, 0, KEYS(inspect_keys), answer_inspect},@|
  {"process", 0, 0, KEYS(process_keys), answer_process},@|
  {"sample", 0, 0, KEYS(sample_keys), answer_sample},@|
  {"philox", 0, 0, KEYS(philox_keys), answer_philox},@|
  {"beam", NEED_MODEL | MAY_TOKENIZER, 0, KEYS(beam_keys), answer_beam},@|
  {"quantize", 0, 0, KEYS(quantize_keys), answer_quantize},@|
  {"stop", 0, 0, KEYS(stop_keys), answer_stop}, {"speculative", 0, 13, NULL, 0, NULL}
}@];
enum { N_KINDS = sizeof kind_table / sizeof *kind_table };

@ One line: read it, check it, answer it. An answering function writes nothing before its last
calculation has succeeded; that is the whole secret of answers that are never half.

@<Answer one line@>=
static bool answer_line(const struct kind_row *k, struct inquiry *q,
  const char *text, size_t n)
{
  if (k->answer == NULL)
    return error_say(q->why, "%s comes with chapter %u", k->name,
      k->chapter);
  q->in = json_object_read(text, n, q->why);
  if (q->in == NULL) return false;
  bool ok = check_keys(q->in, k->keys, k->n_keys, q->why)
    && k->answer(q);
  json_decref(q->in);
  return ok;
}

@ The brace that opens the answer is due before its first key, and before nothing else has been
written; so a function that fails has left nothing on the line, and the error begins with the
same brace.

@<Serve one line, whatever it is@>=
static void serve_line(const struct kind_row *k, struct inquiry *q,
  const char *text, size_t n, bool fits)
{
  FILE *out = q->c->out;
  q->out = (struct json_out) @[{ out, '{' }@];
  q->vocab_size = q->o->vocab_size;
  bool ok = fits ? answer_line(k, q, text, n)
    : error_say(q->why, "the line does not fit into memory");
  if (!ok) {
    q->out = (struct json_out) @[{ out, '{' }@];
    put_key(&q->out, "error"), put_words(&q->out, q->why->words);
  }
  put_close(&q->out, '}');
  put_end(&q->out);
}

@ All lines, until there are no more or nobody listens. The output is emptied after each: the other side may be a program that
waits for this answer before it asks on, and if the answer waited in our buffer, both would wait for ever. The room for lines is given
back after a long one, so that one enormous question does not cost memory for ever.

@<Serve all lines@>=
static int serve(const struct console *c, const struct kind_row *k,
  struct outfit *o, bool named)
{
  struct error why;
  struct inquiry q = @[{ .c = c, .o = o, .named = named, .why = &why }@];
  struct bytes text = @[{ NULL, 0, 0 }@];
  enum line_found found;
  int status = STATUS_DONE;
  while (status == STATUS_DONE
      && (found = line_read(c->in, c->memory, &text)) != LINE_NONE) {
    serve_line(k, &q, (const char *) text.byte, text.n,
      found == LINE_WHOLE);
    status = console_end(c, STATUS_DONE);
    if (text.room > 1 << 20 || found == LINE_TOO_LONG)
      bytes_free(c->memory, &text);
  }
  bytes_free(c->memory, &text);
  return status;
}

@ Before the first line is read, everything is open; so a model that cannot be loaded is a sentence and
a status, and no line has been taken from anybody. A program that starts another one this way learns from the
status alone whether it is worth asking.

@<Probe@>=
int run_probe(const struct console *c, const struct wishes *w)
{
  struct error why;
  struct outfit o;
  const char *list[N_KINDS];
  const struct kind_row *k = NULL;
  for (size_t i = 0; i < N_KINDS; i++) {
    list[i] = kind_table[i].name;
    if (strcmp(list[i], w->operand) == 0) k = &kind_table[i];
  }
  if (k == NULL) {
    error_say(&why, "there is no kind `%s';"@| " the nearest is %s",
      w->operand, nearest_of(w->operand, list, N_KINDS));
    return console_misuse(c, &why);
  }
  if (!outfit_open(&o, c, w, k->needs, &why))
    return console_fail(c, &why);
  int status = serve(c, k, &o, w->of[OPTION_MODEL].given);
  outfit_close(&o);
  return status;
}

@ The file of the protocol: checking, then answering, then the tables, then the lines. Somebody who adds a kind writes
one function and one line in the table, and the list of keys between them.

@(probe.c@>=
#include <inttypes.h>
#include <string.h>
#include "safetensors/jsonfile.h"
#include "safetensors/safetensors.h"
#include "probe/asking.h"
@;@#
@<A kind of question@>@;
@<Check what was asked@>@;
@<The keys of every kind@>@;
@<The answers, kind by kind@>@;
@<The table of kinds@>@;
@<Answer one line@>@;
@<Serve one line, whatever it is@>@;
@<Serve all lines@>@;
@<Probe@>@;

@ The checks, from one value to a whole object. Nothing is computed before all of them have passed: a
question is either good, and then only memory or a number that is not finite can stop its answer, or it
is bad, and then it has cost nothing.

@<Check what was asked@>=
@<The types of values@>@;
@<Tell whether a value fits its key@>@;
@<Tell whether a value is the normal one@>@;
@<Check the keys of an object@>@;
@<Take values out of a question@>@;
@<Take ids out of a question@>@;

@ The answers, each behind what it needs. None of them knows how its question was written down, nor
what comes before or behind its answer on the line.

@<The answers, kind by kind@>=
@<Write the chunks of a stream@>@;
@<Answer with ids, bytes or merges@>@;
@<Find the rows that are wanted@>@;
@<Check that ids fit the context@>@;
@<Take a mate@>@;
@<A question about logits@>@;
@<Let the crowd go@>@;
@<Run a crowd through one pass@>@;
@<Find the logits that are wanted@>@;
@<Write logits@>@;
@<Answer with logits@>@;
@<Answer with probabilities@>@;
@<Write a continuation as an answer@>@;
@<Answer with a text@>@;
@<Answer about a file@>@;
@<Answer about blocks@>@;

@* Questions about choices. \label{sec:choosing}
Chapter 7's sampler is asked in two ways: what one stage makes of a list of logits, and what becomes of it in the whole funnel, down to the token. A third question is about the random numbers alone, so that whoever's texts differ from ours can find out whether it is the dice. These have a file of
their own; what they share with the others is how a question is read, and that stands in a header.
@^probe@>

@<What all answers need@>=
struct inquiry {
  const struct console *c;
  struct outfit *o;
  uint32_t vocab_size;
  bool named;
  json_t *in;
  struct json_out out;
  struct error *why;
};
  /* a question on its way to an answer: ids in it are below |vocab_size|, a model was |named| on the command line, |in| is the line, the answer goes to
     |out|, or a sentence to |why| */
struct key_row { const char *name; char letter; bool required;
  unsigned chapter; const char *normal; };
  /* a key that a question may have; |letter|: see |value_fits|; one of a later |chapter| may only have
     its |normal| value, in JSON */
bool check_keys(json_t *object, const struct key_row *keys, size_t n,
  struct error *why);
  /* does |object| have these keys, all that are required, and no other? */

@ A value that was left out has a default; of a flag and a count that differs from key to key, and the one who asks names it.

@<What all answers need@>=
bool flag_of(const struct inquiry *q, const char *key, bool normal);
  /* the value of a key, |normal| if it is not there */
uint64_t count_of(const struct inquiry *q, const char *key);
  /* the same of an integer; 0 if it is not there */
bool ids_from(const struct inquiry *q, json_t *from, const char *key,
  struct ids *list);
  /* appends the ids of the list |from|; errors: what is no id, memory;
     then |list| is empty */
bool ids_of(const struct inquiry *q, const char *key, struct ids *list);
  /* the same, of the value of a key */
bool answer_process(struct inquiry *q);
  /* one stage of the sampler */
bool answer_sample(struct inquiry *q);
  /* all of them, and the choice */
bool answer_philox(struct inquiry *q);
  /* four words of random bits */
bool answer_beam(struct inquiry *q);
  /* a beam search */
bool answer_stop(struct inquiry *q);
  /* what is released of pieces */
bool hex_undo(const struct inquiry *q, const char *text, size_t n,
  unsigned char *byte);
  /* undoes |n| hexadecimal digits; errors: anything else */
bool stops_of(const struct inquiry *q, struct stop_string **list,
  size_t *n);
  /* the stop strings of a question, their bytes the question's; |list[n]| is the caller's */

@ The settings of a sampler are read from an object into a structure that owns its lists: all ids in one row, and the sequences with a bias as places in that row. Places and not pointers, as long as the row is growing; it may move.

@<What all answers need@>=
struct choices { struct sampling s; struct ids all; struct biased *biased;
  size_t n, room; };
  /* |s| points into the lists; |n| of |room| sequences are used */
bool choices_read(struct choices *x, const struct inquiry *q,
  json_t *params, double temperature);
  /* the settings of |params|, with |temperature| if it does not say; errors: keys, types,
     ranges, ids. |x| is to be freed also on failure */
void choices_free(struct memory *m, struct choices *x);
  /* returns the lists */

@ The header is included by both files of answers, and by nobody else.

@(asking.h@>=
#ifndef INCIPIT_ASKING_H
#define INCIPIT_ASKING_H
#include "command/ending.h"
#include "json/object.h"
#include "probe/door.h"
@<What all answers need@>@;
#endif

@ The keys of |"params"| are the settings of chapter 7 under their own names. Their ranges are in that chapter's table; here are only the types.

@<The keys of the settings@>=
static const struct key_row sampling_keys[] = @[{@|
  {"temperature", 'x', false, 0, NULL}, {"top_k", 'n', false, 0, NULL},@|
  {"top_p", 'x', false, 0, NULL}, {"min_p", 'x', false, 0, NULL},@|
  {"typical_p", 'x', false, 0, NULL},@|
  {"repetition_penalty", 'x', false, 0, NULL},@|
  {"frequency_penalty", 'x', false, 0, NULL},@|
  {"presence_penalty", 'x', false, 0, NULL},@|
  {"penalty_last_n", 'i', false, 0, NULL},@|
  {"no_repeat_ngram", 'n', false, 0, NULL},@|
  {"logit_bias", 'o', false, 0, NULL}, {"bad_words", 'a', false, 0, NULL},@|
  {"suppress_tokens", 'a', false, 0, NULL},@|
  {"samplers", 'a', false, 0, NULL} }@];

@ The real numbers are read in one loop over chapter 7's table, each to its place in the structure.

@<Read the settings@>=
static void read_reals(struct sampling *s, json_t *params)
{
  const struct sampling_real *r;
  for (size_t i = 0; (r = sampling_real_at(i)) != NULL; i++) {
    json_t *v = json_object_get(params, r->name);
    double x = json_number_value(v);
    if (v != NULL) memcpy((char *) s + r->at, &x, sizeof x);
  }
}

@ The order of the stages is a list of their names. A list of more names than there are stages has a name twice, or one that is unknown, among the first nine; to read those is enough to say which.

@<Read the settings@>=
static bool read_stages(struct sampling *s, json_t *list,
  struct error *why)
{
  const char *name[N_STAGES + 1];
  size_t n = json_array_size(list);
  if (n > N_STAGES) n = N_STAGES + 1;
  for (size_t i = 0; i < n; i++) {
    json_t *v = json_array_get(list, i);
    name[i] = json_string_value(v);
    if (name[i] == NULL || strlen(name[i]) != json_string_length(v))
      return error_say(why, "\"samplers\"[%zu] is no name of a stage", i);
  }
  return list == NULL || sampling_stages_parse(s, name, n, why);
}

@ A sequence is ids that are appended to the row, and an entry that remembers how many. Its pointer is set when all have been read.

@<Read the settings@>=
static bool add_biased(struct choices *x, const struct inquiry *q,
  json_t *ids, const char *key, double bias)
{
  struct ids one = @[{ NULL, 0, 0 }@];
  if (!json_is_array(ids) || json_array_size(ids) == 0)
    return error_say(q->why, "\"%s\" has something that is no list of"@|
      " ids; wanted: 1 id or more", key);
  bool ok = ids_from(q, ids, key, &one);
  for (size_t i = 0; ok && i < one.n; i++)
    ok = ids_push(q->o->m, &x->all, one.id[i], q->why);
  if (ok) x->biased[x->n++] = (struct biased) @[{ NULL, one.n, bias }@];
  ids_free(q->o->m, &one);
  return ok;
}

@ A bias by id stands in an object, whose keys are texts. The text must be the id in digits; what the digits say may still be too large for the vocabulary. The value is a number, or the one word that JSON has no number for.

@<Read the settings@>=
static bool read_bias(json_t *v, double *bias)
{
  const char *word = json_string_value(v);
  *bias = word != NULL ? -INFINITY : json_number_value(v);
  return json_is_number(v) || (word != NULL && strcmp(word, "-inf") == 0
    && json_string_length(v) == 4);
}
static bool add_by_id(struct choices *x, const struct inquiry *q,
  const char *name, json_t *v)
{
  uint64_t id = 0;
  double bias;
  size_t n = strspn(name, "0123456789");
  for (size_t i = 0; i < n && id < q->vocab_size; i++)
    id = id * 10 + (uint64_t) (name[i] - '0');
  if (n == 0 || name[n] != '\0' || (n > 1 && name[0] == '0')@|
      || id >= q->vocab_size)
    return error_say(q->why, "\"logit_bias\" has the id \"%.40s\";"@|
      " wanted: 0 to %" PRIu32, name, q->vocab_size - 1);
  if (!read_bias(v, &bias)) return error_say(q->why, "\"logit_bias\" of id"@|
      " %s is no number; wanted: a number or \"-inf\"", name);
  if (!ids_push(q->o->m, &x->all, (uint32_t) id, q->why)) return false;
  x->biased[x->n++] = (struct biased) @[{ NULL, 1, bias }@];
  return true;
}

@ All together. The ids to be suppressed come last into the row; when it is complete, the pointers are set, in the order in which the sequences were read.

@<Read the settings@>=
static bool read_lists(struct choices *x, const struct inquiry *q,
  json_t *params)
{
  json_t *bias = json_object_get(params, "logit_bias");
  json_t *bad = json_object_get(params, "bad_words"), *v;
  const char *name;
  x->room = json_object_size(bias) + json_array_size(bad);
  x->biased = memory_take(q->o->m, FOR_OTHER, x->room, sizeof *x->biased,
    q->why);
  if (x->biased == NULL) return false;
  json_object_foreach(bias, name, v)
    if (!add_by_id(x, q, name, v)) return false;
  x->s.n_logit_bias = x->n;
  for (size_t i = 0; i < json_array_size(bad); i++)
    if (!add_biased(x, q, json_array_get(bad, i), "bad_words", -INFINITY))
      return false;
  x->s.n_bad_words = x->n - x->s.n_logit_bias;
  return read_suppressed(x, q, json_object_get(params, "suppress_tokens"));
}

@ Here the pointers are set.

@<Read the ids to be suppressed, and set all pointers@>=
static bool read_suppressed(struct choices *x, const struct inquiry *q,
  json_t *list)
{
  struct ids one = @[{ NULL, 0, 0 }@];
  size_t at = 0;
  bool ok = ids_from(q, list, "suppress_tokens", &one);
  for (size_t i = 0; ok && i < one.n; i++)
    ok = ids_push(q->o->m, &x->all, one.id[i], q->why);
  for (size_t i = 0; i < x->n; at += x->biased[i++].n)
    x->biased[i].id = x->all.id + at;
  x->s.logit_bias = x->biased;
  x->s.bad_words = x->biased + x->s.n_logit_bias;
  if (one.n > 0) x->s.suppress = x->all.id + at;
  x->s.n_suppress = one.n;
  ids_free(q->o->m, &one);
  return ok;
}

@ Chapter 7 checks the ranges; what is checked here is what JSON can get wrong.

@<Read the settings@>=
bool choices_read(struct choices *x, const struct inquiry *q,
  json_t *params, double temperature)
{
  *x = (struct choices) @[{ .s = sampling_normal }@];
  x->s.temperature = temperature;
  if (!check_keys(params, sampling_keys,
      sizeof sampling_keys / sizeof *sampling_keys, q->why)) return false;
  json_t *last = json_object_get(params, "penalty_last_n");
  read_reals(&x->s, params);
  x->s.top_k = (size_t) json_integer_value(json_object_get(params,
    "top_k"));
  x->s.no_repeat_ngram = (size_t) json_integer_value(json_object_get(
    params, "no_repeat_ngram"));
  if (last != NULL) x->s.penalty_last_n = json_integer_value(last);
  return read_stages(&x->s, json_object_get(params, "samplers"), q->why)
    && read_lists(x, q, params)
    && sampling_check(&x->s, q->vocab_size, q->why);
}
void choices_free(struct memory *m, struct choices *x)
{
  ids_free(m, &x->all);
  memory_give(m, FOR_OTHER, x->biased, x->room, sizeof *x->biased);
}

@ Logits come as numbers, or as the three words for those that JSON cannot write. A number is rounded once to float, and must fit.

@<Take logits out of a question@>=
static bool logit_from(json_t *v, float *x)
{
  const char *word = json_string_value(v);
  *x = (float) json_number_value(v);
  if (json_is_number(v)) return *x - *x == 0;
  if (word == NULL || strlen(word) != json_string_length(v)) return false;
  *x = strcmp(word, "nan") == 0 ? NAN
    : strcmp(word, "inf") == 0 ? INFINITY : -INFINITY;
  return *x != -INFINITY || strcmp(word, "-inf") == 0;
}

@ Both questions about logits begin alike: the logits, whose number is the vocabulary; the ids of the text; a funnel. They end alike, too.

@<Take logits out of a question@>=
struct trickle { struct funnel f; float *logits; size_t n; struct ids list;
  struct choices x; };
static bool trickle_open(struct trickle *t, struct inquiry *q)
{
  struct memory *m = q->o->m;
  json_t *from = json_object_get(q->in, "logits");
  *t = (struct trickle) @[{ .n = json_array_size(from) }@];
  if (t->n == 0 || t->n > UINT32_MAX) return error_say(q->why,
      "\"logits\" has %zu numbers; wanted: 1 or more", t->n);
  q->vocab_size = (uint32_t) t->n;
  t->logits = memory_take(m, FOR_OTHER, t->n, sizeof *t->logits, q->why);
  if (t->logits == NULL || !funnel_open(&t->f, m, q->o->e.k, t->n, q->why))
    return false;
  for (size_t i = 0; i < t->n; i++)
    if (!logit_from(json_array_get(from, i), &t->logits[i]))
      return error_say(q->why, "\"logits\"[%zu] is no float; wanted: a"@|
        " number, \"inf\", \"-inf\" or \"nan\"", i);
  return ids_of(q, "ids", &t->list);
}
static void trickle_close(struct trickle *t, struct memory *m)
{
  choices_free(m, &t->x);
  ids_free(m, &t->list);
  if (t->f.m != NULL) funnel_close(&t->f);
  memory_give(m, FOR_OTHER, t->logits, t->n, sizeof *t->logits);
}

@ A question about one stage names an operation and its parameters. Nearly all operations are a stage of the sampler with all but one setting normal; so the table says which stage, and the parameters are read as settings. Four of them have keys of their own.

@<The operations that can be asked for@>=
static const struct key_row
  temperature_key[] = @[{ {"temperature", 'x', true, 0, NULL} }@],@|
  top_k_key[] = @[{ {"top_k", 'n', true, 0, NULL} }@],@|
  top_p_key[] = @[{ {"top_p", 'x', true, 0, NULL} }@],@|
  min_p_key[] = @[{ {"min_p", 'x', true, 0, NULL} }@],@|
  typical_key[] = @[{ {"typical_p", 'x', true, 0, NULL} }@],@|
  repetition_keys[] = @[{ {"penalty", 'x', true, 0, NULL},@|
    {"penalty_last_n", 'i', false, 0, NULL} }@],@|
  frequency_keys[] = @[{ {"frequency", 'x', false, 0, NULL},@|
    {"presence", 'x', false, 0, NULL}, {"prompt_len", 'n', false, 0, NULL},@|
    {"penalty_last_n", 'i', false, 0, NULL} }@],@|
  ngram_key[] = @[{ {"n", 'n', true, 0, NULL} }@],@|
  bias_key[] = @[{ {"bias", 'o', true, 0, NULL} }@],@|
  sequence_key[] = @[{ {"bias", 'a', true, 0, NULL} }@],@|
  bad_keys[] = @[{ {"bad", 'a', true, 0, NULL},@|
    {"eos", 'a', false, 0, NULL} }@],@|
  tokens_key[] = @[{ {"tokens", 'a', true, 0, NULL} }@],@|
  length_keys[] = @[{ {"eos", 'a', true, 0, NULL},@|
    {"min_length", 'n', true, 0, NULL} }@],@|
  new_keys[] = @[{ {"eos", 'a', true, 0, NULL},@|
    {"min_new_tokens", 'n', true, 0, NULL},@|
    {"prompt_len", 'n', true, 0, NULL} }@];

@ A row of the table: the name, the stage, the keys, and how the parameters of an operation are called as settings.

@<The operations that can be asked for@>=
#define WITH(list) list, sizeof list / sizeof *list
static const struct operation { const char *name;
  enum sampling_stage stage; const struct key_row *keys; size_t n_keys;
  const char *as; } operations[] = @[{@|
  {"temperature", STAGE_TEMPERATURE, WITH(temperature_key), NULL},@|
  {"top_k", STAGE_TOP_K, WITH(top_k_key), NULL},@|
  {"top_p", STAGE_TOP_P, WITH(top_p_key), NULL},@|
  {"min_p", STAGE_MIN_P, WITH(min_p_key), NULL},@|
  {"typical_p", STAGE_TYPICAL_P, WITH(typical_key), NULL},@|
  {"repetition_penalty", STAGE_PENALTIES, WITH(repetition_keys),@|
    "penalty repetition_penalty"},@|
  {"frequency_presence", STAGE_PENALTIES, WITH(frequency_keys),@|
    "frequency frequency_penalty"@| " presence presence_penalty"},@|
  {"no_repeat_ngram", STAGE_NGRAM, WITH(ngram_key), "n no_repeat_ngram"},@|
  {"logit_bias", STAGE_BIAS, WITH(bias_key), "bias logit_bias"},@|
  {"sequence_bias", STAGE_BIAS, WITH(sequence_key), NULL},@|
  {"bad_words", STAGE_BIAS, WITH(bad_keys), NULL},@|
  {"suppress_tokens", STAGE_BIAS, WITH(tokens_key),@|
    "tokens suppress_tokens"},@|
  {"min_length", STAGE_BIAS, WITH(length_keys), NULL},@|
  {"min_new_tokens", STAGE_BIAS, WITH(new_keys), NULL},@|
  {"log_softmax", N_STAGES, NULL, 0, NULL} }@];

@ The parameters as settings. Most of them are renamed by the table, and one, the length of the prompt, is no setting at all. What comes out is an object like the one that the other question has as its |"params"|, and the same function reads it. Where the library has no memory there is nothing to read, and never less than was asked.

@<Make settings of the parameters@>=
static json_t *renamed(const struct operation *o, json_t *params)
{
  json_t *made = json_object(), *v;
  const char *name;
  json_object_foreach(params, name, v) {
    const char *as = name, *at = o->as != NULL ? strstr(o->as, name) : NULL;
    size_t n = strlen(name);
    char room[32] = "";
    if (at != NULL && (at == o->as || at[-1] == ' ') && at[n] == ' ') {
      snprintf(room, sizeof room, "%.*s", (int) strcspn(at + n + 1, " "),
        at + n + 1);
      as = room;
    }
    if (strcmp(name, "prompt_len") != 0 && json_object_set(made, as, v)) {
      json_decref(made);
      return NULL;
    }
  }
  return made;
}

@ Three operations need a thought. Among bad words, one that is nothing but an end token is left out, since a text must be able to end: Hugging Face does so silently, and here it stands in the protocol.

@<Make settings of the parameters@>=
static bool lists_id(json_t *list, json_t *id)
{
  for (size_t i = 0; i < json_array_size(list); i++)
    if (json_equal(json_array_get(list, i), id)) return true;
  return false;
}
static json_t *bad_words(json_t *params)
{
  json_t *bad = json_object_get(params, "bad"), *kept = json_array();
  json_t *eos = json_object_get(params, "eos");
  for (size_t i = 0; i < json_array_size(bad); i++) {
    json_t *one = json_array_get(bad, i);
    bool stays = json_array_size(one) != 1
      || !lists_id(eos, json_array_get(one, 0));
    if (stays && json_array_append(kept, one) != 0) {
      json_decref(kept);
      return NULL;
    }
  }
  return json_pack("{s:o}", "bad_words", kept);
}

@ A text that is shorter than it shall be must not end: the end tokens are suppressed. Its length is counted with the prompt or without.

@<Make settings of the parameters@>=
static json_t *too_short(const struct operation *o, json_t *params,
  size_t length)
{
  uint64_t least = (uint64_t) json_integer_value(json_object_get(params,
    o->keys[1].name));
  uint64_t given = (uint64_t) json_integer_value(json_object_get(params,
    "prompt_len"));
  bool now = length - given < least;
  return json_pack("{s:o}", "suppress_tokens", now
    ? json_incref(json_object_get(params, "eos")) : json_array());
}

@ And a list of sequences, each with its own bias, is no setting of the command; so it is put where the biases stand.

@<Make settings of the parameters@>=
static bool read_sequences(struct choices *x, struct inquiry *q,
  json_t *list)
{
  x->room = json_array_size(list);
  x->biased = memory_take(q->o->m, FOR_OTHER, x->room, sizeof *x->biased,
    q->why);
  for (size_t i = 0; x->biased != NULL && i < x->room; i++) {
    json_t *pair = json_array_get(list, i);
    double bias;
    if (json_array_size(pair) != 2
        || !read_bias(json_array_get(pair, 1), &bias))
      return error_say(q->why, "\"bias\"[%zu] is no pair; wanted: a list of"@|
        " ids and a number", i);
    if (!add_biased(x, q, json_array_get(pair, 0), "bias", bias))
      return false;
  }
  x->s.n_logit_bias = x->n;
  return x->biased != NULL && read_suppressed(x, q, NULL)
    && sampling_check(&x->s, q->vocab_size, q->why);
}

@ Which way an operation goes is told by its keys.

@<Make settings of the parameters@>=
static bool read_operation(struct trickle *t, struct inquiry *q,
  const struct operation *o, json_t *params)
{
  struct ids eos = @[{ NULL, 0, 0 }@];
  if (o->keys == sequence_key) {
    t->x = (struct choices) @[{ .s = sampling_normal }@];
    return read_sequences(&t->x, q, json_object_get(params, "bias"));
  }
  json_t *made = o->keys == bad_keys ? bad_words(params)
    : o->keys == length_keys || o->keys == new_keys
    ? too_short(o, params, t->list.n) : renamed(o, params);
  bool ok = (made != NULL || error_say(q->why, "no memory"))
    && ids_from(q, json_object_get(params, "eos"), "eos", &eos)
    && choices_read(&t->x, q, made, 1);
  ids_free(q->o->m, &eos);
  json_decref(made);
  return ok;
}

@ The answer is the scores behind the stage, rounded to float once. A score may have left the range of float, or even of double, since a penalty may be as large as anybody likes; it is printed as what it is then. If the stage took the last token out, all are $-\infty$: that is an answer here and no error, as one stage alone decides nothing.

@<Answer with the scores behind a stage@>=
static void put_scores(struct inquiry *q, const struct trickle *t)
{
  put_key(&q->out, "logits"), put_open(&q->out, '[');
  for (size_t i = 0; i < t->n; i++) put_float(&q->out, (float) t->f.z[i]);
  put_close(&q->out, ']');
}
static const struct operation *find_operation(struct inquiry *q)
{
  json_t *op = json_object_get(q->in, "op");
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    if (strcmp(json_string_value(op), operations[i].name) == 0
        && json_string_length(op) == strlen(operations[i].name))
      return &operations[i];
  error_say(q->why, "\"op\" is `%.40s'; wanted: temperature, top_k, ...,"@|
    " or log_softmax (the book's list)", json_string_value(op));
  return NULL;
}

@ Where the prompt ends is a parameter of two operations, and must lie within the text.

@<Answer with the scores behind a stage@>=
bool answer_process(struct inquiry *q)
{
  struct trickle t;
  json_t *params = json_object_get(q->in, "params");
  uint64_t given = (uint64_t) json_integer_value(json_object_get(params,
    "prompt_len"));
  const struct operation *o = find_operation(q);
  bool ok = trickle_open(&t, q) && o != NULL
    && check_keys(params, o->keys, o->n_keys, q->why)
    && (given <= t.list.n || error_say(q->why, "\"prompt_len\" is %" PRIu64@|
      "; wanted: 0 to %zu, the number of ids", given, t.list.n))
    && (o->stage == N_STAGES || read_operation(&t, q, o, params))
    && funnel_fill(&t.f, t.logits, q->why);
  if (ok) {
    struct history h = @[{ t.list.id, t.list.n, (size_t) given }@];
    if (o->stage == N_STAGES) stage_log_softmax(&t.f);
    else sampling_stage_run(&t.f, &t.x.s, o->stage, h);
    put_scores(q, &t);
  }
  trickle_close(&t, q->o->m);
  return ok;
}

@ The question about the whole funnel has a place besides: the seed, the number of the text, and the position, which need not be the length of the text that was sent along.

@<Answer with what is left, and the choice@>=
bool answer_sample(struct inquiry *q)
{
  struct trickle t;
  bool ok = trickle_open(&t, q)
    && choices_read(&t.x, q, json_object_get(q->in, "params"), 1);
  json_t *given = json_object_get(q->in, "prompt_length");
  json_t *at = json_object_get(q->in, "position");
  struct history h = @[{ t.list.id, t.list.n, given == NULL ? t.list.n
    : (size_t) json_integer_value(given) }@];
  ok = ok && (h.n_prompt <= h.n || error_say(q->why, "\"prompt_length\" is"@|
      " %zu; wanted: 0 to %zu, the number of ids", h.n_prompt, h.n))
    && sampling_run(&t.f, &t.x.s, t.logits, h, q->why);
  if (ok) {
    uint32_t id = funnel_choose(&t.f, count_of(q, "seed"), (uint32_t)
      count_of(q, "sequence"), at == NULL ? (uint32_t) h.n@|
      : (uint32_t) json_integer_value(at));
    put_choice(q, &t.f, id);
  }
  trickle_close(&t, q->o->m);
  return ok;
}

@ What is left is written by falling score, with probabilities that sum to 1 as nearly as doubles can.

@<Write what is left, and the choice@>=
static void put_choice(struct inquiry *q, struct funnel *f, uint32_t id)
{
  funnel_distribution(f);
  put_key(&q->out, "kept"), put_ids(&q->out, f->left, f->n);
  put_key(&q->out, "probs"), put_open(&q->out, '[');
  for (size_t i = 0; i < f->n; i++) put_double(&q->out, f->w[i]);
  put_close(&q->out, ']');
  put_key(&q->out, "token"), put_count(&q->out, id);
}

@ The generator is asked for one counter under one key.

@<Answer with random bits@>=
static bool words_of(struct inquiry *q, const char *key, size_t n,
  uint32_t *word)
{
  json_t *list = json_object_get(q->in, key);
  if (json_array_size(list) != n) return error_say(q->why,
      "\"%s\" has %zu words; wanted: %zu", key, json_array_size(list), n);
  for (size_t i = 0; i < n; i++) {
    json_t *v = json_array_get(list, i);
    json_int_t x = json_integer_value(v);
    if (!json_is_integer(v) || x < 0 || x > UINT32_MAX)
      return error_say(q->why, "\"%s\"[%zu] is no word; wanted: an integer"@|
        " from 0 to 4294967295", key, i);
    word[i] = (uint32_t) x;
  }
  return true;
}
bool answer_philox(struct inquiry *q)
{
  uint32_t key[2], counter[4], out[4];
  if (!words_of(q, "key", 2, key) || !words_of(q, "counter", 4, counter))
    return false;
  philox4x32(key, counter, out);
  put_key(&q->out, "out"), put_ids(&q->out, out, 4);
  return true;
}

@ The file has the settings first, since |generate| reads them, too, and then the three answers.

@(choosing.c@>=
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "probe/asking.h"
@;@#
@<The keys of the settings@>@;
@<Read the ids to be suppressed, and set all pointers@>@;
@<Read the settings@>@;
@<Take logits out of a question@>@;
@<The operations that can be asked for@>@;
@<Make settings of the parameters@>@;
@<Answer with the scores behind a stage@>@;
@<Write what is left, and the choice@>@;
@<Answer with what is left, and the choice@>@;
@<Answer with random bits@>@;

@* Questions about searches. \label{sec:asksearch}
A search is asked for with a model, or with a table that stands for one: the logits behind a text of length $n$ that ends with the token $t$ are row $t$ of sheet $n\bmod P$. So small a model can be written into the question, and then the answer depends on nothing but the rule of chapter 9.
@^beam search@>

@<A table that stands for a model@>=
struct sheets { size_t v, p; float *logit; };
static bool score_by_table(void *self, const struct search_beam *grown,
  size_t n, float *logits, struct error *why)
{
  const struct sheets *t = self;
  (void) why;
  for (size_t i = 0; i < n; i++) {
    size_t sheet = grown[i].n % t->p, last = grown[i].id[grown[i].n - 1];
    memcpy(logits + i * t->v, t->logit + (sheet * t->v + last) * t->v,
      t->v * sizeof *logits);
  }
  return true;
}

@ The table must have the shape that its two numbers say, and each of its entries must be a float.

@<A table that stands for a model@>=
static bool read_row(struct inquiry *q, json_t *row, size_t v, float *x)
{
  if (json_array_size(row) != v) return error_say(q->why, "\"table\" has a"@|
      " row of %zu numbers; wanted: %zu", json_array_size(row), v);
  for (size_t i = 0; i < v; i++) {
    json_t *one = json_array_get(row, i);
    x[i] = (float) json_number_value(one);
    if (!json_is_number(one) || x[i] - x[i] != 0) return error_say(q->why,
        "\"table\" has something that is no float; wanted: numbers");
  }
  return true;
}
static bool read_sheets(struct inquiry *q, struct sheets *t)
{
  json_t *table = json_object_get(q->in, "table");
  t->v = (size_t) count_of(q, "V"), t->p = (size_t) count_of(q, "P");
  if (t->v == 0 || t->p == 0 || t->v > UINT16_MAX || t->p > UINT16_MAX)
    return error_say(q->why, "\"V\" is %zu and \"P\" is %zu; wanted: 1 to"@|
      " 65535 of both", t->v, t->p);
  if (json_array_size(table) != t->p) return error_say(q->why, "\"table\""@|
      " has %zu sheets; wanted: %zu", json_array_size(table), t->p);
  @<Read the rows of all sheets@>@;
  return true;
}

@ Room is taken only when there are as many rows as the numbers claim, so that nobody can ask for memory with two numbers.

@<Read the rows of all sheets@>=
for (size_t i = 0; i < t->p; i++)
  if (json_array_size(json_array_get(table, i)) != t->v)
    return error_say(q->why, "\"table\"[%zu] has %zu rows; wanted: %zu", i,
      json_array_size(json_array_get(table, i)), t->v);
t->logit = memory_take(q->o->m, FOR_OTHER, t->p * t->v * t->v,
  sizeof *t->logit, q->why);
if (t->logit == NULL) return false;
for (size_t i = 0; i < t->p * t->v; i++)
  if (!read_row(q, json_array_get(json_array_get(table, i / t->v),
      i % t->v), t->v, t->logit + i * t->v)) return false;

@ The processors are pairs of a name and a value, in order.

@<Read the wishes of a search@>=
static bool read_processor(struct inquiry *q, json_t *pair,
  struct search_processor *p)
{
  static const char *const name[] = @[{ "repetition_penalty",@|
    "no_repeat_ngram", "min_new_tokens" }@];
  const char *word = json_string_value(json_array_get(pair, 0));
  json_t *v = json_array_get(pair, 1);
  for (int i = 0; word != NULL && json_array_size(pair) == 2 && i < 3; i++) {
    if (strcmp(word, name[i]) != 0
        || strlen(word) != json_string_length(json_array_get(pair, 0)))
      continue;
    p->what = (enum search_process) i;
    p->penalty = json_number_value(v), p->n = (size_t) json_integer_value(v);
    if (i == 0 ? json_is_number(v)
        : json_is_integer(v) && json_integer_value(v) >= 0) return true;
  }
  return error_say(q->why, "\"processors\" has something else than"@|
    " [\"repetition_penalty\", r], [\"no_repeat_ngram\", n] and"@|
    " [\"min_new_tokens\", n]");
}

@ When to stop is true, false or one word.

@<Read the wishes of a search@>=
static bool read_early(struct inquiry *q, enum early_stopping *early)
{
  json_t *v = json_object_get(q->in, "early_stopping");
  const char *word = json_string_value(v);
  *early = json_is_true(v) ? EARLY_TRUE : word != NULL ? EARLY_NEVER
    : EARLY_FALSE;
  return v == NULL || json_is_boolean(v) || (word != NULL
      && strcmp(word, "never") == 0 && json_string_length(v) == 5)
    || error_say(q->why, "\"early_stopping\" is neither true nor false;"@|
      " wanted: true, false or \"never\"");
}
static bool read_search(struct inquiry *q, struct search_settings *s,
  struct search_processor *p)
{
  json_t *list = json_object_get(q->in, "processors");
  json_t *wanted = json_object_get(q->in, "num_return_sequences");
  json_t *power = json_object_get(q->in, "length_penalty");
  s->num_beams = (size_t) count_of(q, "num_beams");
  s->max_length = (size_t) count_of(q, "max_length");
  s->num_return = wanted == NULL ? 1 : (size_t) json_integer_value(wanted);
  s->length_penalty = power == NULL ? 1 : json_number_value(power);
  s->process = p, s->n_process = json_array_size(list);
  for (size_t i = 0; i < s->n_process; i++)
    if (!read_processor(q, json_array_get(list, i), &p[i])) return false;
  return read_early(q, &s->early);
}

@ Each prompt is a search of its own. The scores are kept until all texts are out, because the answer has all texts first; so are the texts, because a later prompt may be refused.

@<Search behind one prompt@>=
static bool search_prompt(struct inquiry *q, const struct sheets *t,
  const struct search_settings *s, json_t *from,@|
  struct search_result *out)
{
  struct outfit *o = q->o;
  struct search_source source = @[{ .vocab = t->v, .self = (void *) t,
    .score = score_by_table }@];
  struct search_model model = @[{ .n = 0 }@];
  struct store *cache = NULL;
  struct ids prompt = @[{ NULL, 0, 0 }@];
  bool ok = json_is_array(from) || error_say(q->why, "\"prompt\" has"@|
    " something that is no list of ids");
  ok = ok && ids_from(q, from, "prompt", &prompt);
  if (ok && t->logit == NULL) @<Let the model give the scores@>@;
  ok = ok && search_run(&source, o->m, o->e.k, prompt.id, prompt.n, s, out,
    q->why);
  if (cache != NULL) search_model_close(&model), store_close(cache);
  ids_free(o->m, &prompt);
  return ok;
}

@ A model needs a cache with a sequence for each beam. How many beams may be wished for is checked before, for a cache of any number of sequences is quickly asked for.

@<Let the model give the scores@>=
{
  struct generator g = @[{ &o->e, o->lm, NULL, o->m }@];
  ok = (prompt.n > 0 || error_say(q->why, "\"prompt\" has a text without"@|
      " ids; wanted: 1 or more"))
    && search_check(s, q->vocab_size, prompt.n, q->why)
    && (cache = cache_open(o->m, &o->lm->config, (uint32_t) s->num_beams,
      &(struct cache_wishes) @[{ .rows = 0 }@], q->why)) != NULL;
  g.s = cache;
  if (ok && !search_model_open(&model, &g, s->num_beams, 0, &source,
      q->why)) {
    store_close(cache);
    cache = NULL, ok = false;
  }
}

@ If a model was named, the question may bring no table; if none was, it may, and without one the built-in model serves.

@<Answer with a search@>=
static bool search_all(struct inquiry *q, const struct sheets *t,
  const struct search_settings *s, struct search_result *out)
{
  json_t *prompts = json_object_get(q->in, "prompt");
  size_t n = json_array_size(prompts);
  for (size_t i = 0; i < n; i++)
    if (!search_prompt(q, t, s, json_array_get(prompts, i), &out[i]))
      return false;
  put_key(&q->out, "sequences"), put_open(&q->out, '[');
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < out[i].n; k++)
      put_ids(&q->out, out[i].text[k].id, out[i].text[k].n);
  put_close(&q->out, ']');
  put_key(&q->out, "scores"), put_open(&q->out, '[');
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < out[i].n; k++)
      put_double(&q->out, out[i].text[k].score);
  put_close(&q->out, ']');
  return true;
}

@ Everything that was taken for the prompts is given back at one place.

@<Answer with a search@>=
static bool tabled(struct inquiry *q, struct sheets *t)
{
  bool has = json_object_get(q->in, "table") != NULL
    || json_object_get(q->in, "V") != NULL
    || json_object_get(q->in, "P") != NULL;
  if (!has) return true;
  if (q->named) return error_say(q->why, "a model was named with -m; wanted:"@|
      " no \"V\", no \"P\" and no \"table\"");
  if (!read_sheets(q, t)) return false;
  q->vocab_size = (uint32_t) t->v;
  return true;
}

@ The whole begins by finding out which of the two is meant.

@<Answer with a search@>=
bool answer_beam(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct sheets t = @[{ .v = 0 }@];
  struct search_settings s = @[{ .num_beams = 0 }@];
  struct ids eos = @[{ NULL, 0, 0 }@];
  size_t n = json_array_size(json_object_get(q->in, "prompt"));
  size_t room = json_array_size(json_object_get(q->in, "processors"));
  struct search_processor *p = memory_take(m, FOR_OTHER, room, sizeof *p,
    q->why);
  struct search_result *out = p == NULL ? NULL
    : memory_take(m, FOR_OTHER, n, sizeof *out, q->why);
  bool ok = out != NULL && tabled(q, &t) && ids_of(q, "eos", &eos)
    && read_search(q, &s, p);
  s.eos = eos.id, s.n_eos = eos.n;
  ok = ok && search_all(q, &t, &s, out);
  for (size_t i = 0; out != NULL && i < n; i++) search_free(&out[i]);
  memory_give(m, FOR_OTHER, out, n, sizeof *out);
  memory_give(m, FOR_OTHER, p, room, sizeof *p);
  memory_give(m, FOR_OTHER, t.logit, t.p * t.v * t.v, sizeof *t.logit);
  ids_free(m, &eos);
  return ok;
}

@ These answers have a file of their own, too.

@(searching.c@>=
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "search/sharing.h"
#include "probe/asking.h"
@;@#
@<A table that stands for a model@>@;
@<Read the wishes of a search@>@;
@<Search behind one prompt@>@;
@<Answer with a search@>@;

@* Questions about endings. \label{sec:askstop}
What a reader is shown of a text, piece by piece, when strings may end it, is asked without a model: the pieces come with the question, as texts or, for those that are none, in hexadecimal. They go through the outflow of chapter 8, as the tokens of |generate| do.
@^stop strings@>

@<Take stop strings out of a question@>=
bool stops_of(const struct inquiry *q, struct stop_string **list, size_t *n)
{
  json_t *from = json_object_get(q->in, "stop");
  *n = json_array_size(from);
  *list = memory_take(q->o->m, FOR_OTHER, *n, sizeof **list, q->why);
  for (size_t i = 0; *list != NULL && i < *n; i++) {
    json_t *v = json_array_get(from, i);
    (*list)[i].byte = (const unsigned char *) json_string_value(v);
    (*list)[i].n = json_string_length(v);
    if (json_string_length(v) > 0) continue;
    memory_give(q->o->m, FOR_OTHER, *list, *n, sizeof **list);
    *list = NULL;
    return error_say(q->why, "\"stop\"[%zu] is no string, or an empty one;"@|
      " wanted: texts", i);
  }
  return *list != NULL;
}

@ A piece in hexadecimal is undone into a buffer of its own. The two keys exclude each other, and one of them must be there.

@<Take a piece@>=
static bool take_piece(const struct inquiry *q, struct outflow *o,
  json_t *v, bool hex)
{
  size_t n = json_string_length(v);
  const char *text = json_string_value(v);
  if (!json_is_string(v)) return error_say(q->why, "a piece is no text");
  if (!hex) return outflow_bytes(o, (const unsigned char *) text, n, q->why);
  unsigned char *byte = memory_take(q->o->m, FOR_OTHER, n, 1, q->why);
  bool ok = byte != NULL && hex_undo(q, text, n, byte)
    && outflow_bytes(o, byte, n / 2, q->why);
  memory_give(q->o->m, FOR_OTHER, byte, n, 1);
  return ok;
}

@ After each piece it is noted how much has been released; when a string was found, or no piece is left, the rest is released, and belongs to the last.

@<Answer with what is released@>=
static bool run_pieces(struct inquiry *q, struct outflow *o,
  struct ids *ends)
{
  json_t *hex = json_object_get(q->in, "pieces_hex");
  json_t *from = json_object_get(q->in, "pieces");
  if ((hex == NULL) == (from == NULL)) return error_say(q->why,
      "wanted: either \"pieces\" or \"pieces_hex\"");
  json_t *list = hex != NULL ? hex : from;
  for (size_t i = 0; o->found == NULL && i < json_array_size(list); i++)
    if (!take_piece(q, o, json_array_get(list, i), hex != NULL)
        || !ids_push(q->o->m, ends, (uint32_t) o->released, q->why))
      return false;
  outflow_end(o);
  if (ends->n > 0) ends->id[ends->n - 1] = (uint32_t) o->released;
  return true;
}

@ The answer cuts the text at the noted places.

@<Answer with what is released@>=
static void put_deltas(struct inquiry *q, const struct outflow *o,
  const struct ids *ends)
{
  const unsigned char *text = o->text.n > 0 ? o->text.byte
    : (const unsigned char *) "";
  put_key(&q->out, "deltas"), put_open(&q->out, '[');
  for (size_t i = 0, at = 0; i < ends->n; at = ends->id[i++])
    put_text(&q->out, text + at, ends->id[i] - at);
  put_close(&q->out, ']');
  put_key(&q->out, "text"), put_text(&q->out, text, o->text.n);
  put_key(&q->out, "stop_reason");
  if (o->found == NULL) put_word(&q->out, "null");
  else put_text(&q->out, o->found->byte, o->found->n);
  put_key(&q->out, "tokens_consumed"), put_count(&q->out, ends->n);
}

@ All of it.

@<Answer with what is released@>=
bool answer_stop(struct inquiry *q)
{
  struct memory *m = q->o->m;
  struct stops until = @[{ .m = NULL }@];
  struct ids ends = @[{ NULL, 0, 0 }@];
  struct stop_string *list;
  size_t n;
  if (!stops_of(q, &list, &n)) return false;
  struct outflow o = @[{ .m = m, .until = &until,
    .include_stop = flag_of(q, "include_stop", false),@|
    .min_tokens = (size_t) count_of(q, "min_tokens") }@];
  bool ok = stops_open(&until, m, list, n, q->why)
    && run_pieces(q, &o, &ends);
  if (ok) put_deltas(q, &o, &ends);
  outflow_close(&o);
  stops_close(&until);
  ids_free(m, &ends);
  memory_give(m, FOR_OTHER, list, n, sizeof *list);
  return ok;
}

@ The file needs one function of the other that reads hexadecimal.

@(halting.c@>=
#include <string.h>
#include "probe/asking.h"
@;@#
@<Take stop strings out of a question@>@;
@<Take a piece@>@;
@<Answer with what is released@>@;

@* The front door. \label{sec:door}
What remains is to choose among the subcommands, and to answer the small ones at once.

@<The whole command@>=
int run_tokenize(const struct console *c, const struct wishes *w);
  /* text to ids and back, and learning a vocabulary */
int run_trace(const struct console *c, const struct wishes *w);
  /* the loop, step by step */
int run_inspect(const struct console *c, const struct wishes *w);
  /* what is in a model's files */
int run_probe(const struct console *c, const struct wishes *w);
  /* answers lines */
int command_run(const struct console *c, int argc, char **argv);
  /* a whole run of the command, but for what only |main| can do */

@ The header has these and nothing else. Whoever wants the command inside another program calls the
last of them, with a console of their own; the tests do so many times in one process, and look afterwards whether memory is held.

@(door.h@>=
#ifndef INCIPIT_DOOR_H
#define INCIPIT_DOOR_H
#include "measures/measures.h"
#include "command/subcommands.h"
#include "chat/chat.h"
@<The whole command@>@;
#endif

@ Help comes from the table. The names of the manual page and of the completion are options of
\texttt{help}, because they are help of another form.

@<Answer the small subcommands@>=
static int run_help(const struct console *c, const struct wishes *w)
{
  struct error why;
  enum subcommand sub = SUB_GENERATE;
  const char *list[SUB_VERSION];
  for (int i = 0; i < SUB_VERSION; i++)
    list[i] = subcommand_at((enum subcommand) i)->name;
  if (w->of[OPTION_MAN].given) help_manual(c->out);
  else if (w->of[OPTION_COMPLETION].given) help_completion(c->out);
  else if (w->operand == NULL) help_overview(c->out);
  else {
    while (sub < SUB_VERSION && strcmp(list[sub], w->operand) != 0)
      sub++;
    if (sub < SUB_VERSION) help_subcommand(c->out, sub);
    else {
      error_say(&why, "there is no subcommand"@|
        " `%s'; the nearest is %s", w->operand,
        nearest_of(w->operand, list, SUB_VERSION));
      return console_misuse(c, &why);
    }
  }
  return STATUS_DONE;
}

@ Whoever reports an error is asked for the version, so it says all that may matter: the build, the
compiler, the kernels in use and those that could be, and which Unicode the patterns of chapter 1
believe in.

@<Say which version this is@>=
static int run_version(const struct console *c)
{
  struct error why;
  const struct kernels *k = outfit_kernels(&why);
  char pcre2[24], utf8proc[24];
  if (k == NULL) return console_fail(c, &why);
  tokenizer_unicode(pcre2, utf8proc);
  fprintf(c->out, "incipit 0.3 (build %s)\n"@|
    "compiler: " COMPILER "\nkernels: %s, of", c->build, k->name);
  for (size_t i = 0; kernels_at(i) != NULL; i++)
    fprintf(c->out, " %s", kernels_at(i)->name);
  fprintf(c->out, "\nUnicode: %s (PCRE2),"@| " %s (utf8proc)\n", pcre2,
    utf8proc);
  return STATUS_DONE;
}

@ A compiler knows its own name, if not always under the same name. Clang has to be asked first, because it also claims to be
the other one.

@<What this was compiled with@>=
#if defined __clang__
#define COMPILER __VERSION__
#elif defined __GNUC__
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

@ Without an argument, a greeting. It is printed whoever is listening: a script that calls us
without a word gets an answer and not a reproach.

\checkpoint{build/out/probe.txt}{what the command says when it is given nothing to do}

@(command.c@>=
#include <string.h>
#include "probe/door.h"
@;@#
@<What this was compiled with@>@;
@<Answer the small subcommands@>@;
@<Say which version this is@>@;
@<Choose among the subcommands@>@;
@<Run the command from its first word to its status@>@;

@ Each subcommand is a function with the same two parameters; this is the only place where they are told
apart. What they return is the exit status, and whatever sentence belongs to it has been written.

@<Choose among the subcommands@>=
static int run_wishes(const struct console *c, const struct wishes *w)
{
  switch (w->sub) {
  case SUB_GENERATE: return run_generate(c, w);
  case SUB_TOKENIZE: return run_tokenize(c, w);
  case SUB_TRACE: return run_trace(c, w);
  case SUB_INSPECT: return run_inspect(c, w);
  case SUB_PROBE: return run_probe(c, w);
  case SUB_BENCH: return run_bench(c, w);
  case SUB_MEMORY: return run_memory(c, w);
  case SUB_CHAT: return run_chat(c, w);
  case SUB_PERPLEXITY: return run_perplexity(c, w);
  case SUB_HELP: return run_help(c, w);
  case SUB_VERSION: return run_version(c);
  default: fprintf(c->out, "questions.options %d\n", (int) N_OPTIONS);
    return STATUS_DONE;
  }
}

@ A whole run has four ends: nothing was asked for; what was asked for makes no sense; help was asked for; or a
subcommand has done its work. All but the second empty the output, and look whether it went out.

@<Run the command from its first word to its status@>=
int command_run(const struct console *c, int argc, char **argv)
{
  struct wishes w;
  struct error why;
  if (argc < 2) {
    help_greet(c->out);
    return console_end(c, STATUS_DONE);
  }
  if (!options_parse(&w, argc, argv, &why))
    return console_misuse(c, &why);
  if (w.of[OPTION_HELP].given) {
    help_subcommand(c->out, w.sub);
    return console_end(c, STATUS_DONE);
  }
  return console_end(c, run_wishes(c, &w));
}

@* The program. \label{sec:main}
What the reader types is |main|'s business only as far as the operating system is concerned:
the three streams, who is at the other end of them, and the signals. All the rest is done by
|command_run|, which gets these things handed to it and can therefore be tried by a test with
streams that are blocks of memory.

@c
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "chat/editing.h"
#include "probe/door.h"
@;@#
#ifndef INCIPIT_BUILD
#define INCIPIT_BUILD "unknown"
#endif
@<Note that somebody has pressed Ctrl-C@>@;
@<Say why a mapped file is gone, and end@>@;
@<Find the path of this program@>@;
@<Find out about the world, and run the command@>@;

@ The signal that kills the writer of a closed pipe is ignored from the first moment, so that what a reader leaves behind is a write that
fails, and not a dead writer. The status is then one of ours: the shell sees that something could not be done, and
not that a program has died.

@<Find out about the world, and run the command@>=
int main(int argc, char **argv)
{
  struct memory memory = @[{ .refuse_at = 0 }@];
  char path[CONSOLE_PATH];
  find_program(path, argv[0]);
  struct console c = @[{ .in = stdin, .out = stdout, .err = stderr,
    .in_terminal = isatty(0), .out_terminal = isatty(1),
    .program = path, .build = INCIPIT_BUILD, .memory = &memory,
    .listen = listen_for_interrupt, .interrupted = was_interrupted,@|
    .edit = &editing_by_line }@];
  signal(SIGPIPE, SIG_IGN);
  speak_on_lost_file();
  return command_run(&c, argc, argv);
}

@* Signals. \label{sec:signals}
A reader who presses Ctrl-C during a generation has seen enough, but not necessarily too much: what
has been written so far should be complete, and the counts of the work should be printed if they
were asked for. So the signal only raises a flag, and the loop of chapter 3 looks at
it after every step. A second Ctrl-C, from a reader with less patience, ends the program at
once, because the first one puts the system's own treatment back.
@^Ctrl-C@>@^signal@>

The flag is the only variable in the whole project that is not on somebody's stack or in somebody's
block; a signal handler can reach nothing else. That is why it stands here, in the program, and
not in the library.

@<Note that somebody has pressed Ctrl-C@>=
static volatile sig_atomic_t interrupt_seen;
@#
static void note_interrupt(int number)
{
  interrupt_seen = number;
}

@ The handler is installed only when a generation begins, and for one signal: |SA_RESETHAND| takes it away when
it has been called. Before that, while a model is being loaded, Ctrl-C ends the program as it ends every other: there is nothing yet
that could be complete. In a talk each answer installs it anew, and begins with the flag down.

@<Note that somebody has pressed Ctrl-C@>=
static void listen_for_interrupt(void)
{
  struct sigaction how;
  interrupt_seen = 0;
  memset(&how, 0, sizeof how);
  how.sa_handler = note_interrupt;
  how.sa_flags = (int) SA_RESETHAND;
  sigaction(SIGINT, &how, NULL);
}
@#
static bool was_interrupted(void)
{
  return interrupt_seen != 0;
}

@ A model's file is mapped, and another program may shorten it while we read. Then there is nothing
behind the address, and the system sends |SIGBUS|. The usual end is two words from the shell
about a bus. A library must leave the signals of its caller alone; a command can say what
has most likely happened. In a handler only a few functions are allowed; |write| and |_exit|
are among them, |printf| is not.
@^SIGBUS@>

@<Say why a mapped file is gone, and end@>=
static void lost_file(int number)
{
  static const char words[] = "incipit: a file became shorter while"@|
    " it was being read, or its disk failed\n";
  (void) number;
  ssize_t n = write(2, words, sizeof words - 1);
  (void) n;
  _exit(STATUS_FAILED);
}

@ It is installed at the very beginning, for the whole run; there is no way to go on after it. To return from the handler
would be to repeat the read that has failed, and with it the signal, for ever.

@<Say why a mapped file is gone, and end@>=
static void speak_on_lost_file(void)
{
  struct sigaction how;
  memset(&how, 0, sizeof how);
  how.sa_handler = lost_file;
  sigaction(SIGBUS, &how, NULL);
}

@ The built-in model lies beside the program, so the program must know where it is itself. Linux
tells; elsewhere the name by which we were called has to do.

@<Find the path of this program@>=
static void find_program(char path[CONSOLE_PATH], const char *called)
{
  ssize_t n = readlink("/proc/self/exe", path, CONSOLE_PATH - 1);
  if (n > 0) path[n] = '\0';
  else snprintf(path, CONSOLE_PATH, "%s",
      called != NULL ? called : "");
}

@* What tries to break it. \label{sec:hostile}
A program that reads what strangers write is tested by being a stranger. Each of the \val{questions.options} options has a line in a
table of pairs for every subcommand that takes it: two runs that differ in that option alone, and what differs in what they say; and a
third run, which must be refused. Each refusal has a line, too, with the words that its sentence must
contain, and no two lines may be answered by the same sentence. Every request for memory that any
subcommand makes is refused once, and the program must survive it with a sentence and with nothing
held. The protocol is asked questions of which an oracle in another language knows the answers.
@^tests@>

The files of a model are attacked bit by bit (\cref{sec:siege}). What remains are the inputs that nobody thinks of. They are found by a program that changes bytes at
random, watches which lines of ours have been reached, and keeps what reached a new one.\side{Called
fuzzing: Miller, Fredriksen and So 1990; guided by coverage: Zalewski 2013, LLVM's libFuzzer.} There is
such a \emph{target} for the command line, for the protocol, for tokenizers, for a vocabulary told by its content, for tensor files and
for settings; what it must not do is crash, leak, ask for memory that its input does not justify, or read one byte behind the end of a file. Two more, for characters and for merges, also know the right answer, from
a second program that is slow and plain. A campaign ends when ten minutes have brought no new branch of ours to light. Their best
finds are kept and replayed with every \texttt{make check}, which prints how much of each parser
they reach. And since a watchdog that never barks may be asleep, \texttt{make fuzz-proof} plants
one fault in each parser, a boundary moved by one, and waits for it to be found.
@^fuzzing@>

The exercises ask what a stranger may expect of a command, and the last of them lets the reader be one.

\begin{exercises}
\exercise{check}{ex:questions.status}{A script asks for no tokens; for fewer than none; for the text of a file that is not there; and asks
\texttt{probe philox} the question \texttt{[}. What are the four exit statuses?}{\texttt{make exercise-W20-1}}{0, 2, 1 and 0. To evaluate
a prompt and write nothing is a wish like any other; a number out of its range is wrong usage; a missing file is a
failure. The question gets an error for its answer, and giving it is what a protocol is for.}
\exercise{check}{ex:questions.lines}{Six lines come to \texttt{probe detokenize}. In the first the ids are \texttt{[]}, in the second \texttt{[1.0]}, in the others
\texttt{[1]}. The third says also that \texttt{"skip\_special"} is null; the fourth has a carriage return at its end; the fifth, though, is empty; and in the
sixth the key and its list stand twice. Which get an answer, which an error?}{\texttt{make exercise-W20-2}}{Only the first and the fourth an answer. No ids are no bytes, and a carriage return
is white space. An id has no point; null is neither true nor false; an empty line is no object; and of two equal keys nobody can say
which one counts, even where they agree.}
\exercise{think}{ex:questions.hold}{A model writes, one byte a token, a character of two bytes, one of three, one of four and one of one,
and then its end token. Of how many of the lines that \texttt{--jsonl} prints is the text empty?}{\texttt{make exercise-W20-3}}{Of seven: one, two and
three bytes wait for the last of their character, and the end token has no text.}
\exercise{think}{ex:questions.pipe}{A reader has closed the pipe before \texttt{generate The -n 3} writes into it. What is the exit status? And what
would the shell report if |main| had no line about |SIGPIPE|?}{\texttt{make exercise-W20-4}}{1, without a sentence, because what was asked for could not be done and
nobody is there to be told. Without the line the signal, number 13, ends the program, and the shell reports $128+13=141$; a script could not tell that from a
crash.}
\exercise{build}{ex:questions.count}{Let \texttt{tokenize --count} print, behind the number of tokens, how many bytes a token has on the average,
with two decimals; of no tokens, zero.}{\texttt{make exercise-W20-5}}{One line of |show_tokens|: divide |g->text.n| by |g->list.n|, both as
doubles, unless there is nothing to divide by. Divided as integers, the decimals are always zero.}
\exercise{build}{ex:questions.conform}{Write a script that is given the name of a command, ours or another's, and finds out by \texttt{probe forward} whether its
logits depend on the chunk, the mates or the cache: exit status 0 if they do not, 1 if they do, or if there is no
answer.}{\texttt{make exercise-W20-6}}{Ask for \texttt{"rows":"all"} of five ids, plainly and with other values of the three keys, and compare the answers as lines:
they must be equal character for character. To ask for the last row alone would miss an error in the others; and a command that answers every line with the same
error gives equal lines, too, so their beginning and their number must be looked at.}
\end{exercises}

