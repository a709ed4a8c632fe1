@i types.w

\chapterquestion{The model has twenty-four heads. What does one of them look at?}
@** What a head looks at. \label{sec:heads}
\incipit{A}{ttention} is the one place where a model tells us something about how it works without being asked. For
every row, layer and head there is a list of weights, one for each row up to its own, and the weights sum to one (\cref{model}): so much
of what the head passes on comes from there. We print them
for the built-in model, over the beginning of a story and over a page of code, and look for a head whose work can be described in
a sentence.
@^attention weights@>

Two numbers sum up a list of weights. The \emph{mean distance} is how many tokens back the head looks on the average; the
\emph{entropy} says over how many tokens it spreads its look: $e$ bits are as much as an even look at $2^e$ tokens.

\begin{byhand}{one look at four tokens}
A row looks at itself with 0.25, and one, two and three tokens back with 0.5, 0.125 and 0.125. The mean distance is

\smallskip
$0\times0.25+1\times0.5+2\times0.125+3\times0.125=1.125$ tokens.

\smallskip\noindent
The entropy is $\sum p\log_2(1/p)$. Logarithms of powers of two are counted on the fingers:

\smallskip
$0.25\times2+0.5\times1+0.125\times3+0.125\times3=1.75$ bits,

\smallskip\noindent
a little less than the 2 bits of an even look at all four.
\end{byhand}

@ The program reads both texts with the built-in model, lets a watcher see the weights as they are computed, and keeps for
each layer and head the means over all rows. Of the last row it asks one thing more: which head looks most at the word that the model is about to write?

@c
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "model/forward.h"
#include "families/loader.h"
#include "functions/numbers.h"
@;@#
@<Two texts@>@;
@<What is kept of a reading@>@;
@<Look over the model's shoulder@>@;
@<Show a token as a word@>@;
@<Find the word that comes next@>@;
@<Read a text, and keep what the heads looked at@>@;
@<Find the head that looks for the next word@>@;
@<Print what was kept@>@;

@ A reading holds the weights of all heads and is too large to lie on the stack of every machine; so the two of them are static. Whatever is printed is printed
from both, at once or not at all.

@c
int main(int argc, char **argv)
{
  static struct reading story, code;
  struct error why;
  struct memory m = @[{ .refuse_at = 0 }@];
  bool ok = read_text(&m, a_story, &story, &why)
    && read_text(&m, a_page, &code, &why);
  if (ok) {
    choose_head(&story, &code);
    print_what(argc > 1 ? argv[1] : "", &story, &code);
  }
  else fprintf(stderr, "%s\n", why.words);
  return !ok;
}

@ Both texts stop just before a word that can only be known by looking back: the girl's name, and the name of the variable. Each
occurs earlier, and nothing else in the text says what it is. The variable occurs three times before, and it does not matter at which of these places a head looks.

@<Two texts@>=
static const char a_story[] =
  "Once upon a time, in a small kingdom, there"@|
  " lived a kind girl named Elena. "@|
  "\"I will find the book,\" whispered";
static const char a_page[] =
  "def count_apples(basket):\n    hen = 0\n"@|
  "    for apple in basket:\n        hen = hen + 1\n"@|
  "    return";

@ The model's shape is fixed by what was trained, and the two texts are short; so arrays of fixed size will do, and a longer text
would be refused. All weights are kept. That is a small waste, as only one head is drawn in the end; but which one it is can be known only when both texts have been read, and reading them again to
save some memory would be a poor trade.

@<What is kept of a reading@>=
enum { LAYERS = 6, HEADS = 4, LONGEST = 64 };
struct reading {
  size_t n;
  uint32_t id[LONGEST];
  char word[LONGEST][24]; /* the token as a figure can show it */
  double distance[LAYERS][HEADS], entropy[LAYERS][HEADS];
  float all[LAYERS][HEADS][LONGEST][LONGEST]; /* |[row][position]| */
  char next[24]; /* what the model writes after the text */
  int layer, head; /* the head that is drawn, and its weights */
  float (*kept)[LONGEST];
};

@ The engine lets a watcher see what it computes, at several stages of each layer; of these we want the weights. At |STAGE_WEIGHTS| the watcher is shown $n$ rows, each with the weights of
the first head, then of the second, and so on, and for each head there is the same room, whether a row sees few positions or many. A row sees none after its own, so the loop ends there.

@<Look over the model's shoulder@>=
static void look(void *what, enum watch_stage stage,
  uint32_t layer, float *x, size_t rows, size_t width)
{
  struct reading *t = what;
  if (stage != STAGE_WEIGHTS) return;
  for (size_t r = 0; r < rows; r++)
    for (size_t h = 0; h < HEADS; h++)
      for (size_t k = 0; k <= r; k++) {
        float p = x[r * width + h * (width / HEADS) + k];
        @<Enter the weight |p| of head |h|, row |r|, position |k|@>@;
      }
}

@ The sums are divided by the number of rows as they grow, so that what remains is a mean over rows. A weight of 0 has no logarithm; but the less one looks at something, the less it adds
to the entropy, and not to look adds nothing.

@<Enter the weight |p| of head |h|, row |r|, position |k|@>=
double share = (double) p / (double) rows;
t->distance[layer][h] += share * (double) (r - k);
if (p > 0)
  t->entropy[layer][h] -= share * num_log((double) p) / num_log(2);
t->all[layer][h][r][k] = p;

@ A reading needs the tokenizer for the ids and for the words under the figures. A comma would end a field of the
data, so it is shown by a low mark that looks like one, and the end of a line by a paragraph's. Of many blanks, as at the beginning of a line of code, one is shown.

@<Show a token as a word@>=
static void show_word(const struct tokenizer *w, uint32_t id,
  char word[24])
{
  size_t n, k = 0;
  const unsigned char *byte = tokenizer_text(w, id, &n);
  for (size_t i = 0; i < n && k < 20; i++) {
    const char *s = byte[i] == ',' ? "\u201a"
      : byte[i] == '\n' ? "\u00b6" : NULL;
    if (s != NULL) strcpy(word + k, s), k += strlen(s);
    else if (byte[i] != ' ' || k == 0) word[k++] = (char) byte[i];
  }
  word[k] = '\0';
}

@ First the words: the text becomes ids, as the model wants them, and each id a word, as a reader does. The ids are needed again for the pass, so both are kept.

@<Read a text, and keep what the heads looked at@>=
static bool find_words(struct memory *m, struct tokenizer *w,
  const char *text, struct reading *t, struct error *why)
{
  struct ids ids = @[{ .n = 0 }@];
  if (!tokenizer_encode(w, m, text, strlen(text), false, false,
    &ids, why)) return false;
  bool ok = ids.n <= LONGEST
    || error_say(why, "the text is too long");
  t->n = ids.n;
  for (size_t i = 0; ok && i < t->n; i++) {
    t->id[i] = ids.id[i];
    show_word(w, t->id[i], t->word[i]);
  }
  ids_free(m, &ids);
  return ok;
}

@ Then the pass, watched; and of its last row the logits, since a head that looks at the right word is of interest only if the
model then says it. All rows are computed in one pass. That a row cannot see the later ones is what makes this the same as reading word by word.

@<Read a text, and keep what the heads looked at@>=
static bool watch_pass(struct memory *m, const struct model *lm,
  const struct tokenizer *w, struct reading *t, struct error *why)
{
  struct counters c = @[{ .passes = 0 }@];
  struct engine e = @[{ .k = kernels_find(NULL, why), .c = &c }@];
  struct store *s = store_open(m, &lm->config, 1, why);
  struct watcher shoulder = @[{ .see = look, .what = t,
    .weights = true }@];
  struct row rows[LONGEST];
  for (size_t i = 0; i < t->n; i++)
    rows[i] = (struct row) @[{ .position = (uint32_t) i,
      .token = t->id[i] }@];
  struct pass *p = NULL;
  bool ok = s != NULL && e.k != NULL
    && forward_watched(&e, lm, s, rows, t->n, &shoulder, &p, why)
    && say_next(m, &e, lm, w, p, t, why);
  pass_close(p);
  store_close(s);
  return ok;
}

@ The word with the highest logit is what a greedy writer would write. No probabilities are needed to know which is the largest.

@<Find the word that comes next@>=
static bool say_next(struct memory *m, struct engine *e,
  const struct model *lm, const struct tokenizer *w, struct pass *p,
  struct reading *t, struct error *why)
{
  size_t wide = lm->config.vocab_size, last = t->n - 1, best = 0;
  float *z = memory_take(m, FOR_ACTIVATIONS, wide, sizeof *z, why);
  bool ok = z != NULL && head(e, lm, p, &last, 1, z, why);
  for (size_t i = 0; ok && i < wide; i++)
    if (z[i] > z[best]) best = i;
  if (ok) show_word(w, (uint32_t) best, t->next);
  memory_give(m, FOR_ACTIVATIONS, z, wide, sizeof *z);
  return ok;
}

@ The whole reading opens the model's files, and closes them whether it succeeded or not. A model of another shape would write over the ends of the arrays, so the shape is compared before
anything is looked at.

@<Read a text, and keep what the heads looked at@>=
static bool read_text(struct memory *m, const char *text,
  struct reading *t, struct error *why)
{
  memset(t, 0, sizeof *t);
  struct tokenizer *w = tokenizer_open(m, "models/pocket", why);
  struct model *lm = w == NULL ? NULL
    : model_open(m, "models/pocket", why);
  bool ok = lm != NULL;
  if (ok && (lm->config.n_layers != LAYERS
    || lm->config.n_heads != HEADS))
    ok = error_say(why,@|
      "models/pocket has another shape "@|
      "than the program");
  ok = ok && find_words(m, w, text, t, why)
    && watch_pass(m, lm, w, t, why);
  model_close(m, lm);
  tokenizer_close(m, w);
  return ok;
}

@ Which head is worth drawing? With so many to choose from one finds a pretty picture for any story. So the program chooses, by a rule that can be said in a sentence: for each head, how much of the last row's
look goes to an earlier place of the very word that the model writes next? The two texts' answers are multiplied, for a head that is good at one of them only is not
meant.

@<Find the head that looks for the next word@>=
static double on_next(const struct reading *t, int l, int h)
{
  double most = 0;
  for (size_t k = 0; k < t->n; k++) {
    double p = (double) t->all[l][h][t->n - 1][k];
    if (strcmp(t->word[k], t->next) == 0 && p > most) most = p;
  }
  return most;
}

@ The same head is drawn for both texts. If the model wrote a word that stands nowhere in its text, all products would be 0 and the first head would be taken: a picture that shows
nothing, as it should.

@<Find the head that looks for the next word@>=
static void choose_head(struct reading *story, struct reading *code)
{
  int layer = 0, best = 0;
  for (int l = 0; l < LAYERS; l++)
    for (int h = 0; h < HEADS; h++)
      if (on_next(story, l, h) * on_next(code, l, h)
        > on_next(story, layer, best) * on_next(code, layer, best))
        layer = l, best = h;
  story->layer = code->layer = layer;
  story->head = code->head = best;
  story->kept = story->all[layer][best];
  code->kept = code->all[layer][best];
}

@* Twenty-four looks. \label{sec:looks}
\Cref{fig:looks} has a dot for each head and text. The heads of the first layer look most evenly; the widest of all looks
spreads over \val[1]{heads.widest} bits. Later heads are narrower. The narrowest spreads over
\val[1]{heads.narrowest} bits.

\fig{looks}{fig:looks}{Each head's mean distance and mean entropy, over the story (filled) and over the code (open). Layers are told by
colour, from dark to light.}{A plot of mean distance in tokens against entropy in bits, with twenty-four filled and
twenty-four open dots. The heads of the first layer lie together at the top, about three bits; the others are spread below them.}

@ \Cref{fig:storyarcs,fig:codearcs} are one head, the one that the rule above found, number \val{heads.the.head} of layer \val{heads.the.layer}, both counted from 0. In the story, the last row,
at the word \emph{whispered}, puts \val[2]{heads.story.weight} of its weight on \emph{\val{heads.story.at}}, \val{heads.story.back} tokens back; and
the model goes on with \emph{\val{heads.story.next}}. In the code, the row of \emph{return} puts
\val[2]{heads.code.weight} on the first \emph{\val{heads.code.at}}, \val{heads.code.back} tokens back, where the variable was
set; and the model writes \emph{\val{heads.code.next}}. The same head finds whoever was named, in a tale and in a program. We did not build it for
that. It was the cheapest way to lower the loss.

Such pictures tempt one to say more than they show. A weight says where a row looked, not what it did with what it saw; a head can look
at a word and add nothing, and another may have brought the word to a nearer place before. A proof would have to take the head away and see what the model writes then.

\widefig{storyarcs}{fig:storyarcs}{What one head looks at in the beginning of a story. The arcs of the last row are dark. Width is
weight.}{Tokens of the story stand side by side. Arcs lead from each token back to those it looks at. From the last
token, whispered, a thick dark arc leads back to Elena.}

\widefig{codearcs}{fig:codearcs}{The same head over a page of code. From \emph{return} it looks at the line in which the variable
was set.}{Tokens of a small function stand side by side. From the last token, return, a thick dark arc leads back to the first hen.}

\checkpoint{build/out/heads.txt}{what the program of this chapter prints}

@ The keys give, for both texts, distance and entropy of every head. The widest arc of the last row is found once more, over all tokens and not only over the wanted word: if the head that was chosen looked
harder at something else, the prose would have to say so.

@<Print what was kept@>=
static size_t widest(const struct reading *t)
{
  size_t best = 0;
  for (size_t k = 0; k < t->n; k++)
    if (t->kept[t->n - 1][k] > t->kept[t->n - 1][best]) best = k;
  return best;
}

@ All weights and distances of a text, and behind them what its last row found. The first byte of a word, its blank, is left out in the prose.

@<Print what was kept@>=
static void print_keys(const char *name, const struct reading *t)
{
  for (int l = 0; l < LAYERS; l++)
    for (int h = 0; h < HEADS; h++) {
      printf("heads.%s.distance.%d.%d %.4f\n", name, l, h,@|
        t->distance[l][h]);
      printf("heads.%s.entropy.%d.%d %.4f\n", name, l, h,@|
        t->entropy[l][h]);
    }
  size_t k = widest(t), last = t->n - 1;
  printf("heads.%s.weight %.4f\nheads.%s.back %zu\n", name,
    (double) t->kept[last][k], name, last - k);
  printf("heads.%s.at %s\nheads.%s.next %s\n", name,@|
    t->word[k] + 1, name, t->next + 1);
}

@ Four more keys complete them: the head's place, and the narrowest and the widest of all looks, whichever head has them and in whichever text.

@<Print what was kept@>=
static void print_all_keys(const struct reading *story,
  const struct reading *code)
{
  double least = story->entropy[0][0], most = least;
  for (int i = 0; i < 2 * LAYERS * HEADS; i++) {
    const struct reading *t = i % 2 == 0 ? story : code;
    double e = t->entropy[i / 2 / HEADS][i / 2 % HEADS];
    if (e < least) least = e;
    if (e > most) most = e;
  }
  print_keys("story", story);
  print_keys("code", code);
  printf("heads.narrowest %.4f\nheads.widest %.4f\n", least, most);
  printf("heads.the.layer %d\nheads.the.head %d\n",@|
    story->layer, story->head);
}

@ A figure wants the words in one file and the arcs in another, since they differ in number: a word a token, and an arc for every pair of which one sees the other.

@<Print what was kept@>=
static void print_words(const struct reading *t)
{
  printf("position,word\n");
  for (size_t i = 0; i < t->n; i++) printf("%zu,%s\n", i, t->word[i]);
}
@#
static void print_arcs(const struct reading *t)
{
  printf("from,to,weight\n");
  for (size_t r = 0; r < t->n; r++)
    for (size_t k = 0; k <= r; k++)
      printf("%zu,%zu,%.4f\n", r, k, (double) t->kept[r][k]);
}

@ The dots of \cref{fig:looks} are one a head and text. They stand in one file, because the figure draws both over the same axes.

@<Print what was kept@>=
static void print_looks(const struct reading *story,
  const struct reading *code)
{
  printf("layer,head,storydistance,storyentropy,"@|
    "codedistance,codeentropy\n");
  for (int l = 0; l < LAYERS; l++)
    for (int h = 0; h < HEADS; h++)
      printf("%d,%d,%.4f,%.4f,%.4f,%.4f\n", l, h,@|
        story->distance[l][h], story->entropy[l][h],@|
        code->distance[l][h], code->entropy[l][h]);
}

@ Without an argument the program says what its one head found, in a form that a reader can compare with the two figures.

@<Print what was kept@>=
static void print_found(const char *name, const struct reading *t)
{
  size_t k = widest(t), last = t->n - 1;
  printf("%-6s at \"%s\" looks %zu tokens back, "@|
    "at \"%s\" (%.2f),\n", name,@|
    t->word[last], last - k, t->word[k],@|
    (double) t->kept[last][k]);
  printf("       and the model writes \"%s\"\n", t->next);
}

@ Each word on the command line prints one file; the \.{Makefile} knows their names from the figures that read them.

@<Print what was kept@>=
static void print_what(const char *what, const struct reading *story,
  const struct reading *code)
{
  if (strcmp(what, "values") == 0) print_all_keys(story, code);
  else if (strcmp(what, "looks") == 0) print_looks(story, code);
  else if (strcmp(what, "story") == 0) print_arcs(story);
  else if (strcmp(what, "code") == 0) print_arcs(code);
  else if (strcmp(what, "storywords") == 0) print_words(story);
  else if (strcmp(what, "codewords") == 0) print_words(code);
  else print_found("story", story), print_found("code", code);
}

@* Exercises. \label{sec:headsexercises}
The command beside each exercise judges the answer.

\begin{exercises}
\exercise{check}{ex:heads.look}{A row looks one token back with 0.5, three back with 0.25 and five back with 0.25. How far is that on the average, and what is the
entropy of these weights, in bits?}{\texttt{make exercise-W17-1}}{2.5 tokens and 1.5 bits.}
\exercise{check}{ex:heads.even}{The last of 32 rows looks evenly at all of them, itself included. What are the entropy and the mean
distance?}{\texttt{make exercise-W17-2}}{5 bits; $(0+31)/2=15.5$ tokens.}
\exercise{think}{ex:heads.length}{A head that looks evenly at everything reads a text of 41 rows and one of 81. What is the mean of its distances over all rows, in either? May one say that it looks farther in
the second?}{\texttt{make exercise-W17-3}}{Row $i$ has the mean $i/2$, and the mean of that is $(n-1)/4$: 10 and 20. It does nothing else in the longer text; only rows at the same
position can be compared, which is what the examination does.}
\exercise{build}{ex:heads.function}{Write the function that finds both numbers for a row of weights. Some of them may be 0.}{\texttt{make exercise-W17-4}}{A weight of 0 adds nothing to the
entropy, but $0\times\log0$ is not a number to a machine.}
\end{exercises}
