@i types.w

\newcommand\sign[1]{\tok{<\textbar#1\textbar>}}
\chapterquestion{A model only ever continues a text. How does it come to answer?}
@** Chat templates. \label{sec:conversations}
\incipit{Y}{ou ask a model} ``What does the fox say?'', and it may go on with ``What does the owl say?'' It does nothing wrong. It continues a text, and after a question there are often more questions. A model that answers continues a text as well, but the text is a conversation, written in the format in which the model was trained on conversations: special tokens, which we call \emph{marks}, say where a turn begins, whose it is, and where it ends. The prompt
ends at a point where, in training, an answer always came next. So the model writes an answer. Nothing else is different from chapter~3.
@^conversation@>@^chat template@>

Everything depends on the format. With one blank too many
or one newline too few, you give the model a kind of text that it has never seen. It does not complain. It answers a little worse, and you will not know why. So this chapter turns a list of turns into exactly the ids that Hugging Face's library gives, which the makers of most models use. We differ from it on purpose in one thing: what a
user types is always text, even if it looks like a mark.

\begin{byhand}{two questions, and what the second costs}
Count one id for each mark, each word and each newline. In ChatML a turn is a mark, a role, a newline, the words, another mark and a newline; a mark, a role and a newline ask for an answer. The user says two words, the model answers
with four, and the user says three more.

\medskip
\begin{tabular}{@@{}lrr@@{}}
\tabhead{what} & \tabhead{ids} & \tabhead{so far}\\
first question, 2 words & $5+2=7$ & 7\\
asks for an answer & 3 & 10\\
the answer, 4 words and a mark & $4+1=5$ & 15\\
its newline & 1 & 16\\
second question, 3 words & $5+3=8$ & 24\\
asks for an answer & 3 & 27
\end{tabular}
\medskip

The prompt of the second question has 27 ids. With the cache of chapter~4 there are $10+5-1=14$ rows already: the model wrote the mark that ended its answer, but has not read it. So $27-14=13$ rows are computed. Of the 27 ids $2+4+3=9$ are words of the two speakers. The other 18 come from the template.
\end{byhand}

@* Templates in Jinja. \label{sec:jinja}
A model is published with its \emph{chat template}, in \.{tokenizer\_config.json} or in a file \.{chat\_template.jinja}, and this template is a program. It is written in Jinja, a language made for web pages, with loops, conditions, macros, filters and
the methods of Python's strings; it takes the list of turns and prints the text. To support every template, we would have to run these programs.
@^Jinja@>

That needs an interpreter, and we would take one from the distribution if it had one for C. Debian~12 has Jinja itself, in Python; \.{jinjar} for R; \.{tera} for Rust, with a similar language; and \.{libctpl}, which is in C, but has a language of its own, as does \.{libctemplate} in C++. The inference engines in
C++ that run these templates carry their own interpreters. So do we: it is the second half of this chapter (\cref{sec:running}).

Why is there a first half? Most models use one of a few formats, whose programs differ mainly in what they do with tools, pictures and dates. Such a format is also a row of a table, and a row can do more than a program: it knows which part of the text is a mark and which are a speaker's words, and it can format a new turn without formatting all the old ones again. So we \emph{recognize} a published program that is a row, and run every other one. Read the table first. It says in strings what the programs say in loops.

@ A conversation is a list of turns. Three roles may speak: the user; the assistant, which is the model; and, before both, the \emph{system}, through which the application tells the assistant how to behave.

@<What is said, and by whom@>=
enum role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, N_ROLES };
  /* who speaks */
struct turn { enum role who; const char *text; size_t n; };
  /* |n| bytes of text, which belong to the caller */

@ You can get a template in three ways: by its name, by the text of its published program, and from a model's directory, where we find the program for you.

@<Templates, by name and by sight@>=
struct chat_template;
  /* how a family formats a conversation; a row of a fixed table */
const struct chat_template *chat_template_at(size_t i);
  /* number |i| of the table, null after the last */
const char *chat_template_name(const struct chat_template *t);
  /* its name: |"chatml"|, |"llama3"|, \dots */
const struct chat_template *chat_template_named(const char *name,
  struct error *why);
  /* the one with this name; or null and a message that lists all */
const struct chat_template *chat_template_known(const char *text,
  size_t n);
  /* the one that does what a published program of |n| bytes does, or
     null if we do not know the program */
const struct chat_template *chat_template_of(const char *folder,
  struct error *why);
  /* the one that a model's directory, or its GGUF file, asks for; or null and a message */
struct template_settings { const char *file; struct json_t *tools,
  *variables; };
  /* a file that has the program, instead of the model's; tools, a list,
     and an object with variables that the program sees; each may be null */
const struct chat_template *chat_template_open(struct memory *m,
  const char *folder, const struct template_settings *with,
  struct error *why);
  /* as |chat_template_of|, but a program that we do not know, or that is
     given something, will be run; to be closed */
void chat_template_close(struct memory *m, const struct chat_template *t);
  /* closing a row of the table does nothing, and closing a null neither */
bool chat_template_given(const char *folder);
  /* does a model's directory ask for one, whether we know it or not? */

@* Twelve families in a table. \label{sec:rowsoftemplates}
The families differ in little. A mark may come before everything. Each speaker's words have something before and after them. An answer ends with a mark, which the model writes itself, and something may follow that mark before the next turn begins. Last comes
the text that asks for an answer. All these are strings. In them a mark, which is one token, is written in braces, since no template uses a brace itself.

@<What a template is@>=
enum system_place { OWN_TURN, IN_FIRST, IN_LAST, NOT_AT_ALL };
  /* where the system's words go: into a turn of their own; the user's
     first turn; the last turn, if it is a user's */
struct frame {
  const char *begin, *open[N_ROLES], *close[N_ROLES];
  const char *end, *after, *reply;
    /* of the assistant's turn; |reply| asks for one */
  enum system_place system_at;
  bool alternates, trims[N_ROLES];
  const struct jinja_program *run;
    /* not null: the template is no row, but is run */
};
  /* what a family has around its turns; a mark stands in braces */
struct chat_template { const char *name; const struct frame *around;
  const char *silent; bool thinks; };
  /* |silent|: the default system turn, or null */

@ The structures have a header of their own, since the files that look for a template and check a conversation need them as well.

@(frames.h@>=
#ifndef INCIPIT_FRAMES_H
#define INCIPIT_FRAMES_H
#include "templates/conversations.h"
struct jinja_program;
@<What a template is@>@;
#endif

@ ChatML came with OpenAI's \.{gpt-3.5-turbo}, and many other models use it, Qwen and SmolLM among them. All turns look alike, roles are words, and speakers need not alternate. If we had to invent a template, we would copy this one: every turn is closed before the next is opened, and no turn depends on what else
is in the conversation.
@^ChatML@>

@<What surrounds the words@>=
#define SIGN(name) "{<|" name "|>}"
#define IM(role) SIGN("im_start") role "\n"
static const struct frame chatml = @[{@|
  .begin = "", .open = @[{ IM("system"), IM("user"),@|
    IM("assistant") }@],@|
  .close = @[{ SIGN("im_end") "\n", SIGN("im_end") "\n", "" }@],@|
  .end = SIGN("im_end"), .after = "\n",@|
  .reply = IM("assistant"), .system_at = OWN_TURN }@];

@ Llama~3 does the same with other marks, a mark at the very beginning, and no newline between turns. It strips white space from both ends of each turn's text.
@^Llama 3@>

@<What surrounds the words@>=
#define BEFORE SIGN("start_header_id")
#define BEHIND SIGN("end_header_id") "\n\n"
#define HEAD(role) BEFORE role BEHIND
static const struct frame llama3 = @[{@|
  .begin = SIGN("begin_of_text"), .open = @[{ HEAD("system"),@|
    HEAD("user"), HEAD("assistant") }@],@|
  .close = @[{ SIGN("eot_id"), SIGN("eot_id"), "" }@],@|
  .end = SIGN("eot_id"), .after = "", .reply = HEAD("assistant"),@|
  .system_at = OWN_TURN, .trims = @[{ true, true, true }@] }@];

@ Llama~2 has no marks for turns. Its two marks, \texttt{<s>} and \texttt{</s>}, surround a question and its answer, as if each pair were a text of its own; the rest is ordinary text, such as a word in square brackets. The system's words go into the first question. White space is stripped from the question together with all that was put into it, so
an empty question after a system's words loses two newlines of the template. No separate text asks for an answer, because the end of a question does that.
@^Llama 2@>

@<What surrounds the words@>=
static const struct frame llama2 = @[{@|
  .begin = "", .open = @[{ "<<SYS>>\n", "{<s>}{[INST]} ", " " }@],@|
  .close = @[{ "\n<</SYS>>\n\n", " {[/INST]}", " " }@],@|
  .end = "{</s>}", .after = "", .reply = "", .system_at = IN_FIRST,@|
  .alternates = true, .trims = @[{ false, true, true }@] }@];
  /*- No marks for turns: <s> and </s> go around a question and its answer, the rest is text. The
    system's words are stripped together with the question into which they go. */

@ Five more frames are in \.{unwoven/templates/frames.inc}. Each has one difficulty.

\emph{Llama~3.1} always has a system turn, with two dates in it: the day on which the model's knowledge ends, and today. A text that depends on the day is not a function of the conversation, and no test could check it. Fortunately its program has a default date, which it prints if the caller passes none; Llama~3.2's asks the clock first. We always print the default.

\emph{Mistral's} templates follow Llama~2's. There are three versions, which differ in blanks and in what they do with a system's words. The first program refuses them. The next puts them into the first question. The one that came with the third vocabulary puts them into the last question, so that they move with every turn. In that vocabulary the bracketed words are marks, one token each; in the earlier ones they are ordinary text. We write them in braces and let the vocabulary decide.
@^Mistral@>

\emph{The built-in model} was trained on the kingdom's dialogues (\cref{corpus}), which have no marks for turns: a line begins with \texttt{User:} or with \texttt{Assistant:}, and an empty line comes before the next question. Here a newline ends a turn. The text that asks for an answer has no blank after the colon. Why? The vocabulary puts that blank at the beginning of the next word; if we wrote it, the model would have to continue with a word that lacks its blank.

@ Some models of one family differ only in the default system turn, which is used when you give none. Qwen2's program then says that the model is a helpful assistant, and the model expects to read it. Qwen3's program also treats reasoning in a special way (\cref{sec:thoughts}). Here are the rows of the table.

@<What surrounds the words@>=
#include "templates/frames.inc"
@#
static const struct chat_template table[] = @[{@|
  { "chatml", &chatml, NULL, false },@|
  { "qwen2", &chatml, "You are a helpful "@| "assistant.", false },@|
  { "qwen2.5", &chatml, "You are Qwen, "@| "created by Alibaba "@|
    "Cloud. You are a "@| "helpful assistant.", false },@|
  { "qwen3", &chatml, NULL, true },@|
  { "smollm2", &chatml, "You are a helpful "@| "AI assistant named "@|
    "SmolLM, trained by "@| "Hugging Face", false },@|
  { "llama2", &llama2, NULL, false },@|
  { "llama3", &llama3, NULL, false },@|
  { "llama3.1", &llama3_dated, "", false },@|
  { "mistral", &mistral, NULL, false },@|
  { "mistral-v1", &mistral_v1, NULL, false },@|
  { "mistral-v3", &mistral_v3, NULL, false },@|
  { "pocket", &pocket, NULL, false } }@];
enum { TEMPLATES = sizeof table / sizeof *table };

@* Rendering a conversation. \label{sec:writescript}
To Hugging Face's library the text of a conversation is one string. To us it is more: for each part we also keep its kind. A part is a mark, text of the template, or the words of a speaker. We call the result a \emph{rendered prompt}, or a \emph{script}, as in a theatre. Forgetting the kinds is where the trouble of \cref{sec:injection} begins.

@<A script@>=
enum part_kind { PROMPT_PART_MARK, PROMPT_PART_FRAME, PROMPT_PART_SAID };
  /* a special token; text of the template; the words of a speaker */
struct prompt_part { enum part_kind kind; enum role who;
  size_t at, n; };
  /* |n| bytes from |at| on; |who|: the speaker, if they were said */
struct rendered_prompt { const struct chat_template *by; struct bytes text;
  struct prompt_part *part; size_t n, cap; bool inside; };
  /* |n| parts make up the text; |inside|: it continues another text */
bool prompt_render(struct memory *m, const struct chat_template *by,
  const struct turn *talk, size_t n, size_t from, bool reply,
  struct rendered_prompt *out, struct error *why);
  /* renders the turns |from|, \dots, |n - 1| and, with |reply|, the text
     that asks for an answer. With |from > 0| it begins after the id that
     ended the answer in turn |from - 1|. On failure |*out| is empty, and
     the message names the turn */
void prompt_free(struct memory *m, struct rendered_prompt *s);
  /* frees its memory */

@ Each part is appended. Adjacent pieces of template text become one part, and an empty string adds no part.

@<Put a part at the end@>=
struct writer { struct memory *m; struct rendered_prompt *out;
  struct error *why; };
/*- Text of the template that follows the same becomes one part with it. If memory runs out after
  the text, the caller throws the script away. */
static bool put(struct writer *w, enum part_kind kind,
  enum role who, const char *text, size_t n)
{
  struct rendered_prompt *s = w->out;
  struct prompt_part *last = s->n > 0 ? &s->part[s->n - 1] : NULL;
  size_t at = s->text.n;
  if (n == 0) return true;
  if (!bytes_push(w->m, &s->text, text, n, w->why)) return false;
  if (kind == PROMPT_PART_FRAME && last != NULL && last->kind == kind) {
    last->n += n;
    return true;
  }
  struct prompt_part *p = memory_reserve(w->m, MEMORY_TOKENS, s->part,
    &s->cap, s->n + 1, 16,
    sizeof *p, w->why);
  if (p == NULL) return false;
  s->part = p;
  s->part[s->n++] = (struct prompt_part) @[{ kind, who, at, n }@];
  return true;
}

@ A string of the table is appended piece by piece: marks, and the text between them.

@<Put what the table says@>=
static bool put_frame(struct writer *w, const char *words)
{
  while (*words != '\0') {
    bool sign = *words == '{';
    size_t n = strcspn(words + sign, sign ? "}" : "{");
    if (!put(w, sign ? PROMPT_PART_MARK : PROMPT_PART_FRAME, ROLE_SYSTEM,
      words + sign, n))
      return false;
    words += sign ? n + 2 : n;
  }
  return true;
}
  /*- The strings are our own: every brace is closed. */

@ A turn consists of what opens it, the system's words if they belong here, its own words, and what closes it. White space is stripped from the system's words and the turn's own words together. So a turn's own words lose white space at their beginning only if nothing comes before them. (What is white space to these programs? What Python's |strip| removes: Unicode's list, and four separators at the end of ASCII's control characters, which have separated nothing since the days of paper tape.)

@<Put a turn@>=
static bool put_turn(struct writer *w, const struct frame *f,
  const struct turn *now, const struct turn *within)
{
  if (!put_frame(w, f->open[now->who])) return false;
  size_t from = w->out->text.n, k, at = 0;
  if (within != NULL && (!put_frame(w, f->open[ROLE_SYSTEM])
      || !put(w, PROMPT_PART_SAID, within->who, within->text, within->n)
      || !put_frame(w, f->close[ROLE_SYSTEM]))) return false;
  /*- The system's words and the turn's own are stripped together, so the beginning only if nothing
    comes before it. */
  if (f->trims[now->who] && w->out->text.n == from)
    while (at < now->n && (k = prompt_blank((const unsigned char *)
        now->text + at, now->n - at)) > 0) at += k;
  if (!put(w, PROMPT_PART_SAID, now->who, now->text + at, now->n - at))
    return false;
  if (f->trims[now->who]) prompt_trim_end(w->out, from);
  return put_frame(w, f->close[now->who]) && (now->who != ROLE_ASSISTANT
    || (put_frame(w, f->end) && put_frame(w, f->after)));
}

@* Reasoning blocks. \label{sec:thoughts}
Qwen3 writes its reasoning before it answers, between \texttt{<think>} and \texttt{</think>}. We call this text the thought of an answer. The template's program drops the thoughts from all answers but those after the last question: a thought about an old question is of no use for a new one, and takes space in the context. After the last question it does the opposite: thoughts are kept, and if the last turn is an answer without a thought, it gets an empty one. (The program also has a switch that asks for an answer without a thought. It is off by default, and here it stays off.)
@^reasoning block@>

A thought comes before the answer's words, and the template surrounds it with words of its own. We pass it to |put_turn| as |within|, the parameter for the system's words; no turn has both.

@<Put an answer of one who thinks@>=
static bool put_thinker(struct writer *w, const struct turn *said,
  bool late, bool last)
{
  struct turn thought, rest;
  struct frame f = chatml;
  thought_part(said, &thought, &rest);
  /*- Thoughts before the last question are dropped; after it they stay, and a last answer without
    one gets an empty one. */
  if (!late || (!last && thought.n == 0))
    return put_turn(w, &f, &rest, NULL);
  thought_strip_lines(&rest);
  /*- The thought goes where the system's words would: no turn has both. */
  f.open[ROLE_SYSTEM] = "<think>\n", f.close[ROLE_SYSTEM] = "\n</think>\n\n";
  return put_turn(w, &f, &rest, &thought);
}

@ Which turn is the last question? A user's turn between \.{<tool\_response>} and \.{</tool\_response>} is a tool's reply to the assistant, and does not count. So a model that thinks, calls a tool, and thinks on does not lose its first thought on the way. Other templates make
no such distinction.
@^tools, of a model@>

@<Put the turns@>=
static bool put_turns(struct writer *w, const struct chat_template *t,
  const struct turn *talk, size_t n, size_t from)
{
  size_t first = talk[0].who == ROLE_SYSTEM, question = n;
  while (question > 0 && !talk_is_question(&talk[question - 1])) question--;
  for (size_t i = from > first ? from : first; i < n; i++) {
    bool here = first == 1 && talk[i].who == ROLE_USER
      && ((t->around->system_at == IN_FIRST && i == 1)
      || (t->around->system_at == IN_LAST && i == n - 1));
    bool ok;
    if (t->thinks && talk[i].who == ROLE_ASSISTANT)
      ok = put_thinker(w, &talk[i], question > 0 && i >= question,
        i == n - 1);
    else
      ok = put_turn(w, t->around, &talk[i], here ? &talk[0] : NULL);
    if (!ok) return false;
  }
  return true;
}
  /*- question: how many turns there are up to the last question; 0 if there is none, and then all
    thoughts are dropped. */

@* The order of a conversation. \label{sec:order-of-talk}
Before anything is rendered, we check the list of turns. The published programs raise an exception if turns do not alternate where they should, or if there is a system turn and the template has no place for it. Our messages say the same and count turns from 1. In two things we are stricter. The system speaks first or not at all; and if its words go into a question, there must be a question. Without one, Llama~2's
program would silently lose them. (\.{unwoven/templates/order.c})

A chat program renders only the new turns, with |from|, because the earlier ones are in the cache. That works if a new turn leaves the rendering of the old ones unchanged. With two templates it does not: Qwen3 drops thoughts, and Mistral's third moves the system's words to the last question. Then the whole conversation must be rendered again, and the store keeps the rows up to the first id that differs
(|store_match_prefix|, \cref{sec:line}). A caller can ask beforehand.

@<What a conversation asks of a template@>=
bool chat_template_rewrites(const struct chat_template *t,
  const struct turn *talk, size_t n);
  /* may a new turn change the rendering of the |n| old ones? If so, all
     must be rendered again, with |from == 0| */

@ A script begins with the template's first mark and the system's turn, or the default one. After an answer it begins with the text that follows an answer's mark.

@<Put the beginning, or what follows an answer@>=
static bool put_beginning(struct writer *w,
  const struct chat_template *t, const struct turn *talk, bool follows)
{
  const struct frame *f = t->around;
  if (follows) return put_frame(w, f->after);
  if (!put_frame(w, f->begin)) return false;
  if (f->system_at != OWN_TURN) return true;
  if (talk[0].who == ROLE_SYSTEM) return put_turn(w, f, &talk[0], NULL);
  return t->silent == NULL || (put_frame(w, f->open[ROLE_SYSTEM])
    && put_frame(w, t->silent) && put_frame(w, f->close[ROLE_SYSTEM]));
}
  /*- After an answer, which ended with a mark, only what follows that mark. */

@ The text that asks for an answer comes last. If any step fails, the script is freed.

@<Write a script@>=
bool prompt_render(struct memory *m, const struct chat_template *by,
  const struct turn *talk, size_t n, size_t from, bool reply,
  struct rendered_prompt *out, struct error *why)
{
  struct writer w = @[{ m, out, why }@];
  *out = (struct rendered_prompt) @[{ .by = by, .inside = from > 0 }@];
  if (talk_in_order(by, talk, n, why) && talk_may_begin(by, talk, n, from, why)
      && put_beginning(&w, by, talk, from > 0)
      && put_turns(&w, by, talk, n, from)
      && (!reply || put_frame(&w, by->around->reply))) return true;
  prompt_free(m, out);
  return false;
}
void prompt_free(struct memory *m, struct rendered_prompt *s)
{
  bytes_free(m, &s->text);
  memory_free(m, s->part);
  *s = (struct rendered_prompt) @[{ .by = s->by }@];
}

@* Special tokens in a user's text. \label{sec:injection}
Now the script becomes ids. Hugging Face's library encodes the whole string, and every mark in it becomes a special token, even one that a user wrote. So a user who types \sign{im\_end}, a newline and \sign{im\_start}\texttt{system} has ended the user's turn and begun one of the system's, and the model cannot tell the difference. A web page
that a program pastes into a question can do the same. This is one kind of \emph{prompt injection}. The remedy is simple, because we have kept who said what. \emph{A mark counts only where the template put it; everywhere else it is ordinary text.}
@^prompt injection@>@^special token@>

How can we do that without changing a single id of an honest conversation? The obvious way is to encode each part by itself, but that gives other ids: the newline after a role and the first letter of the question may belong to one piece, and in Llama~2 the blank before a question is a part of its first word. But no merge ever crosses a mark. So we cut at the marks of the template, and only there. The text
between two of them, whether the template's or a speaker's, is encoded in one call, with special tokens off.

@ A mark is looked up in the vocabulary. It must be there, and be flagged as special: a token that is not special would be found in a user's words as well, and the promise would be empty. Words in square brackets are the exception that we met with Mistral: where they are not tokens, they are encoded with the text around them.

@<Find the token of a mark@>=
static bool find_mark(const struct rendered_prompt *s, size_t i,
  const struct tokenizer *v, bool *there, uint32_t *id,
  struct error *why)
{
  const struct prompt_part *p = &s->part[i];
  const char *text = (const char *) s->text.byte + p->at;
  *there = p->kind == PROMPT_PART_MARK && tokenizer_find(v, text, p->n, id)
    && tokenizer_is_special(v, *id);
  return *there || p->kind != PROMPT_PART_MARK || *text == '['
    || error_say(why, "the template %s wants the token %.*s, and "@|
      "this vocabulary has none that is marked special",@|
      s->by->name, (int) p->n, text);
}
  /*- A token that is not flagged special would be found in a speaker's words, too, and the promise
    would be empty. A word in brackets is text where the vocabulary has no token for it (Mistral's
    first ones). */

@ The tokenizer treats the beginning of a text differently from text after a mark: Llama~2's newer files put a block character before the first word of the text, but not before the first word after a mark. For the latter there is |tokenizer_encode_inside| from chapter~1.

@<Encode what lies between two marks@>=
static bool encode_stretch(const struct rendered_prompt *s, size_t from,
  size_t to, struct tokenizer *v, struct memory *m, struct ids *out,
  struct error *why)
{
  const char *text = (const char *) s->text.byte + from;
  if (from == to) return true;
  return from > 0 || s->inside
    ? tokenizer_encode_inside(v, m, text, to - from, out, why)
    : tokenizer_encode(v, m, text, to - from, false, false, out, why);
}
  /*- Only the very first stretch is the beginning of a text, before which some files put a block.
    */

@ One pass over the parts gives the ids of a script. It remembers where the last mark ended.

@<Encode a script@>=
bool prompt_encode(const struct rendered_prompt *s, struct tokenizer *v,
  struct memory *m, struct ids *out, struct error *why)
{
  size_t start = out->n, done = 0;
  bool ok = true, there;
  for (size_t i = 0; ok && i < s->n; i++) {
    uint32_t id;
    ok = find_mark(s, i, v, &there, &id, why);
    if (!ok || !there) continue;
    ok = encode_stretch(s, done, s->part[i].at, v, m, out, why)
      && ids_push(m, out, id, why);
    done = s->part[i].at + s->part[i].n;
  }
  ok = ok && encode_stretch(s, done, s->text.n, v, m, out, why);
  if (!ok) out->n = start;
  return ok;
}

@ We promise this for special tokens, and for nothing more. Llama~2's brackets are ordinary text in Llama~2's vocabulary, and so is the built-in model's \texttt{User:}. If a user types them, the ids are the same as the template's, and no program can tell them apart. And an added token that is not flagged special, such as Qwen3's \texttt{<think>}, is found
wherever it occurs, because the vocabulary says so. Where a template has real marks, they are safe: a test types all of them, in all templates, and their ids appear only where the template put them.

@<From a script to ids@>=
bool prompt_encode(const struct rendered_prompt *s, struct tokenizer *v,
  struct memory *m, struct ids *out, struct error *why);
  /* appends the ids: a mark of the template is its token, all else is
     text. On failure |out| is as it was: a mark that the vocabulary
     lacks, a letter that it cannot spell, memory */
bool conversations_ids(struct memory *m, const struct chat_template *by,
  struct tokenizer *v, const struct turn *talk, size_t n, size_t from,
  bool reply, struct ids *out, struct error *why);
  /* |prompt_render| and |prompt_encode|, with the failures of both */
bool conversations_ends(struct memory *m, const struct chat_template *by,
  struct tokenizer *v, struct ids *out, struct error *why);
  /* appends the id that ends an answer, besides those of the model (or
     several, if plain text ends it); on failure |out| is as it was: a
     mark that the vocabulary lacks, memory */

@ Most callers want both steps at once, and never see the script.

@<Encode a conversation@>=
bool conversations_ids(struct memory *m, const struct chat_template *by,
  struct tokenizer *v, const struct turn *talk, size_t n, size_t from,
  bool reply, struct ids *out, struct error *why)
{
  struct rendered_prompt s;
  if (by->around->run != NULL)
    return program_ids(m, by->around->run, v, talk, n, reply, out, why);
  if (!prompt_render(m, by, talk, n, from, reply, &s, why)) return false;
  bool ok = prompt_encode(&s, v, m, out, why);
  prompt_free(m, &s);
  return ok;
}

@ When is an answer over? When the model has written the mark that ends it. Some models list that mark in \.{generation\_config.json} among the tokens that end a text. Others do not; Llama~3's first files did not, and its answers went on and on. We take the mark from the template, by encoding the frame's string |end|; for the built-in model that is the newline.

@<Find what ends an answer@>=
bool conversations_ends(struct memory *m, const struct chat_template *by,
  struct tokenizer *v, struct ids *out, struct error *why)
{
  struct rendered_prompt s = @[{ .by = by, .inside = true }@];
  struct writer w = @[{ m, &s, why }@];
  if (by->around->run != NULL)
    return program_ends(m, by->around->run, v, out, why);
  bool ok = put_frame(&w, by->around->end)
    && prompt_encode(&s, v, m, out, why);
  prompt_free(m, &s);
  return ok;
}
  /*- Not every model lists its mark among the tokens that end a text; Llama 3's first files did
    not. */

@ Now we can ask the second question. The cache holds the first prompt and the answer. The answer ends with that id, which the model wrote, or which we add if the model was interrupted. The new prompt is rendered with |from|; only the rows of its ids and of the id that ended the answer have to be computed. Are the ids of the two halves the same as those of the whole? They are, if encoding the answer's text
gives the ids that the model wrote. A model may split a word into other tokens than its tokenizer would; then the cache has what the model wrote, and the model goes on from that. (Llama~2's frame has a blank before the mark at the end, which the model seldom writes; then the cache simply lacks it.)

@* Recognition. \label{sec:recognition}
We recognize a published program by a hash of its text: a number of 64 bits, computed with the function of \cref{sec:tables}. Two differences are ignored. A newline is sometimes written as a character and sometimes as a backslash and an n, which in Jinja's strings is the same; and white space at the end prints nothing. Apart from these, the copies of a program that we found in different places agree.

\printedfunction{templates/find.c}{key_of}

A table in \.{unwoven/templates/find.c} has the hashes of fifteen programs, each published with its model; the source and the licence of each text are in
\.{tests/golden/conversations/templates.json}, and a test compares the table with them. Two programs are missing. Mistral~7B~0.1 was first published with a blank after each answer, which no row has; and no two copies of Mistral's third that we found were alike, so it can only be chosen by name.

Could two programs have the same hash? Not by chance. An attacker could construct one, because this hash is not cryptographic; but publishing such a program with a model would only give that model's own conversations the wrong format.

@ Could we not look for a telling word, \sign{im\_start} say, and take the template that has it? Other engines do. It works until a model has another default system turn, or a blank in another place; then the model answers a little worse, and you do not know why. Running the program is better, since an edited program prints what its editor wanted. And if it cannot be read at all, you can give the name of a row.

@ The header has what callers need, in the order of this chapter.

@(conversations.h@>=
#ifndef INCIPIT_CONVERSATIONS_H
#define INCIPIT_CONVERSATIONS_H
#include "tokenizer/tokenizer.h"
@<What is said, and by whom@>@;
@<Templates, by name and by sight@>@;
@<A script@>@;
@<What a conversation asks of a template@>@;
@<From a script to ids@>@;
#endif

@ The table comes first.

@(conversations.c@>=
@;
/** The formats of conversations: turns become text, and text becomes ids in which no speaker can
  write a mark. A published template is a program. Those of a few formats we know, by a hash of their
  text, and have what they print as rows of a table, with each mark in braces, which no template
  uses; the others are run (program.c). Each part of a rendered prompt keeps its kind: a mark, text of the template, or a speaker's
  words. A mark counts only where the template put it: we cut at those, look them up, and encode
  all that lies between two of them in one call, with special tokens off. So an honest conversation
  has the ids of Hugging Face's library, and a speaker's words never become a special token. What
  is no special token in a vocabulary has no such promise. */
#include <stdio.h>
#include <string.h>
#include "safetensors/excerpt.h"
#include "templates/inside.h"
@<What surrounds the words@>@;
@<Put a part at the end@>@;
@<Put what the table says@>@;
@<Put a turn@>@;
@<Put an answer of one who thinks@>@;
@<Put the beginning, or what follows an answer@>@;
@<Put the turns@>@;
@<Write a script@>@;
@<Find the token of a mark@>@;
@<Encode what lies between two marks@>@;
@<Encode a script@>@;
@<Encode a conversation@>@;
@<Find what ends an answer@>@;
#include "templates/named.inc"
@;@#

@* Templates that are run. \label{sec:running}
All other programs are run. No document says what they do in every case: they do what Jinja and Python do. So our contract is short: print exactly what Hugging Face's library prints, character for character, or refuse with a message. An interpreter that is nearly right is worse than none. A missing newline makes a model answer a little worse, and again you will not know why.
@^interpreter@>

How large is the language? There are many published templates, but nearly all of them use the same few constructs: loops and conditions, a dozen methods of strings, a dozen filters. We counted before we wrote, and built what is used. A template that uses another filter or method of Jinja gets an error that names it.

@ Here is the grammar, from the loosest operator to the tightest. Typewriter type is written as it is; outside of it a star means any number of times, a question mark at most once, and a bar a choice.

\medskip
\begin{tabular}{@@{}l@@{\enspace}p{90mm}@@{}}
\textit{template} & $\to$ (text \textbar\ \texttt{\{\{} \textit{tuple} \texttt{\}\}} \textbar\ \texttt{\{\%} \textit{statement} \texttt{\%\}} \textbar\ \texttt{\{\#} comment \texttt{\#\}})*\\
\textit{statement} & $\to$ \texttt{if} \textbar\ \texttt{for} \textbar\ \texttt{set} \textbar\ \texttt{macro} \textbar\ \texttt{call} \textbar\ \texttt{filter} \textbar\ \texttt{generation} \textbar\ \texttt{break} \dots\\
\textit{tuple} & $\to$ \textit{expr} (\texttt{,} \textit{expr})*\\
\textit{expr} & $\to$ \textit{or} (\texttt{if} \textit{or} (\texttt{else} \textit{expr})?)*\\
\textit{or}, \textit{and} & $\to$ operands with \texttt{or}, with \texttt{and} between them\\
\textit{not} & $\to$ \texttt{not}* \textit{compare}\\
\textit{compare} & $\to$ \textit{sum} ((\texttt{==} \textbar\ \texttt{<} \textbar\ \texttt{in} \textbar\ \texttt{not in} \dots) \textit{sum})*\\
\textit{sum} & $\to$ \textit{join} ((\texttt{+} \textbar\ \texttt{-}) \textit{join})*\\
\textit{join} & $\to$ \textit{product} (\texttt{\textasciitilde} \textit{product})*\\
\textit{product} & $\to$ \textit{power} ((\texttt{*} \textbar\ \texttt{/} \textbar\ \texttt{//} \textbar\ \texttt{\%}) \textit{power})*\\
\textit{power} & $\to$ \textit{signed} (\texttt{**} \textit{signed})*\\
\textit{signed} & $\to$ (\texttt{-} \textbar\ \texttt{+})* \textit{value} \textit{step}*\\
\textit{step} & $\to$ \texttt{.}name \textbar\ \texttt{[}\dots\texttt{]} \textbar\ \texttt{(}\dots\texttt{)} \textbar\ \texttt{\textbar}filter \textbar\ \texttt{is} test
\end{tabular}
\medskip

\begin{byhand}{three lines that look harmless}
What does \texttt{\{\{ 1 + 1 is even \}\}} print? A test is a step, and binds tighter than a sum: $1+(1\hbox{ is even})$. One is odd; false is 0; so 1 is printed.

What does \texttt{\{\{ 'a' \textasciitilde\ 1 + 2 \}\}} print? The wavy line joins as text and binds tighter than the plus: \texttt{'a1'} plus 2. A text and a number have no sum, and the template fails.

What does a loop over two items print whose body is a \texttt{break}, and whose \texttt{else} says \emph{none}? The \texttt{else} of a loop should run when there were no items. Jinja notes at the \emph{end} of a turn that there was one, and the first turn never comes to its end: \emph{none} is printed.
\end{byhand}

@ The parser makes a tree by \emph{recursive descent}, with one function for each line of the grammar. The textbook's tree for a sum is as deep as the sum has terms, and a function that walks through it calls itself as often. So we make a sum one node with a list of terms, and likewise a value with the steps after it: a long template makes a long list and not a deep tree.
@^recursive descent@>

The evaluator is a function with a case for each kind of node. Its heart is the step: given the value on the left, what comes out?

\printedfunction{templates/jinja_run.c}{eval_step}

Everything that can fail returns false. We keep the first error, with the line of the template that was being evaluated: in a long program a message without a line is of no use.

@ Which variable does a name mean? Try to count in a template: \texttt{\{\% set n = n + 1 \%\}} in the body of a loop. After the loop |n| is what it was before. Why? Jinja compiles a template to a function of Python, and it decides what a name means when it compiles, not when it gets there. A name that a block sets anywhere is the block's own. A loop's body is such a block, anew in each turn; a branch of an \texttt{if} is not. So each turn has an |n| of its own, which starts with the value of the outer one. If a template really has to count, it needs a \emph{namespace}, an object whose attributes can be set from within a block. A macro, by contrast, sees the variables around it as they are when it is called.
@^namespace, of Jinja@>

We decide it in the same way, before the template runs (\.{jinja\_names.c}): each name becomes a pair of numbers, how many blocks further out its variable is, and which variable it is there. When a block begins, its own names get their first values.

\printedfunction{templates/jinja_run.c}{enter}

@ Loops are the other half of the core. We fetch an item only when its turn comes, since a loop's condition may look at what earlier turns did; only |loop.last| has to look ahead by one. The variable |idle| is the surprise of the box.

\printedfunction{templates/jinja_run.c}{run_turns}

@ Values have Python's rules, and here are those that bite. Integers, truth values and floats that are the same number are equal, and one is as good a key of a dictionary as another. We compare an integer of 64 bits with a float exactly; turned into a float first, two different integers might be equal to it. Python's integers have no bounds. Ours have 64 bits, and a sum that needs more is an error, never a wrong number.

An undefined value prints nothing and counts as an empty list; but adding it to anything, or asking it for an attribute, is an error. After a dot a method comes before a key, in brackets a key before a method. And there is the filter \texttt{safe}, which was made for web pages. If a text is declared safe, every text added to it has HTML's five special characters replaced. No chat needs that; but templates do it, by accident, and their models were trained on what came out.

A filter such as \texttt{select} is \emph{lazy} in Jinja: it does nothing until a loop goes through its items, so an error in the third item may never show. We make the items at once. If one of them fails, we keep its error, and report it only to a loop that gets so far.

@ White space decides between two templates that look alike. A line with nothing but a tag prints nothing: the blanks before the tag are dropped, and so is the newline after it. That holds for tags with a percent sign and for comments, but not for expressions. A minus sign in a tag drops all white space on its side, newlines included; a plus sign keeps it. Line ends of any kind become newlines, even within strings, and the very last one is dropped.

@ A template comes from one stranger, with a model, and its input from another. It can call nothing outside of this module. What harm can it do? It can run for ever, fill the memory, or exhaust the stack. Some published ones do, given an ordinary description of a tool, because their macros call each other in a circle. The library has one limit, on the length of a range. We have a few more, and going beyond one is an error:

\medskip
\begin{tabular}{@@{}p{86mm}r@@{}}
\tabhead{what} & \tabhead{at most}\\
steps: a node evaluated, a turn of a loop, sixteen bytes looked at & \given{20000000}\\
bytes of values and text & \given{268435456}\\
bytes of output & \given{67108864}\\
calls within calls, lists within lists that are printed & \given{200}\\
brackets within brackets, blocks within blocks & \given{100}\\
numbers of a range & \given{100000}
\end{tabular}
\medskip

Why do bytes count as steps? A filter may look through a long text again and again, and that takes time as well. Values are never freed while a template runs; all memory is freed at its end. Is that not wasteful for a text that grows turn by turn? It would be, if we copied the text in each turn. But a text that ends where the free memory begins grows in place, and its earlier versions are beginnings of the same bytes.

@* Marks in a text that was printed. \label{sec:signs}
The output of a program is one string, and the promise of \cref{sec:injection} seems to be lost: how can we tell a mark of the template from a mark that a user typed? It is worse than it looks. Take a template that prints \texttt{<\textbar im\_} before the user's words. If they begin with \texttt{end\textbar>}, there is a mark that neither of the two wrote.
A template that deletes \texttt{/think} from the words makes a mark of \texttt{<\textbar im\_/thinkend\textbar>}. Small letters, slices and joins can do the same. So it is not enough to look for marks in what the user typed.

Instead we keep an account: for each byte, did a speaker say it? You may fear that every filter and every method must now say what becomes of it. Hardly any must. A slice of a text is the same bytes in the same place. So we keep the account by place. After each block of letters comes a second block of the same size, its account, and the one function that copies letters copies the account as well.
A few operations write other letters than they read, for example small ones for capitals. They say for each letter that they write from which one it came. A mark then counts if no byte of it is a speaker's.

\printedfunction{templates/program.c}{mark_at}

If no mark anywhere has such a byte, and that is nearly always so, we encode the text as the library does. Otherwise we cut it at the marks that are the template's own, as in \cref{sec:injection}, and all that lies between two of them is text. The template has seen the words just as they were typed, so even a talk about special tokens is formatted as the library formats it.
The role of a turn is not a speaker's word: it is ours, and many templates print it inside a mark.

Usually a tokenizer puts the id that begins a text before it. For a formatted conversation neither the library nor we do so: where the token is wanted, the template prints it. Otherwise a prompt would begin twice.

@ What does a program need besides the turns? The special tokens, such as |bos_token|; the list \texttt{tools}, if there are any; \texttt{add\_generation\_prompt}; and whatever variables the model's makers have invented, such as \texttt{enable\_thinking}. You give variables with \.{--kwarg} and tools with \.{--tools}. If a model calls a tool, its call is text like any other, and ends its turn; running the tool is yours.

Text like any other? Mistral's models begin a call with the special token \texttt{[TOOL\_CALLS]}, and special tokens are not printed. You would see a line of JSON and wonder what it is. Which special tokens are parts of a call? A list of names would be too short tomorrow. But the template knows: it has to write the calls of earlier turns. So we give it a made-up talk whose answer calls a tool twice, and another whose answer is a plain word. The marks that only the first has are those of a call, and |chat| and the server print them.
One of them may be no part of a call but its end, as Llama's \sign{eom\_id} is. We tell it by counting: it is the last mark of the text, and it is there once although there are two calls.

\printedfunction{templates/program.c}{take_calls}

How do we know that it is right? By asking the library. A file in \.{tests/golden/jinja} has small templates for every rule of this chapter, and what the library printed for them, or that it refused; its script makes it anew. A larger set, real templates among them, is compared when it is at hand. And while we wrote this, a program put templates together at random, and both interpreters ran them, until no text differed. Errors need not be worded alike. But where Python refuses, we refuse.

@* Three turns, printed. \label{sec:talkcheck}
The program renders three turns in eight templates. \.{unwoven/templates/shown.inc} prints them: a blank of the template as an underscore, a newline as a backslash and an n, and the words of the speakers in quotation marks. With |"strips"| it prints the data of the figure.

@c
#include <stdio.h>
#include <string.h>
#include "templates/conversations.h"
#include "templates/jinja.h"
@;@#
@<Three turns, and the templates that are shown@>@;
#include "templates/shown.inc"
@;@#
@<Small templates, and what they print@>@;
@#
int main(int argc, char **argv)
{
  struct memory m = @[{ .fail_at = 0 }@];
  struct error why;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = true;
  if (strcmp(what, "strips") == 0)
    printf("place,user,assistant,frame,mark\n");
  for (size_t i = 0; ok && i < SHOWN; i++) {
    struct rendered_prompt s;
    const struct chat_template *by = chat_template_named(shown[i], &why);
    ok = by != NULL && prompt_render(&m, by, three, 3, 0, true, &s, &why);
    if (!ok) break;
    if (strcmp(what, "values") == 0) print_counts(shown[i], &s);
    else if (strcmp(what, "strips") == 0) print_strips(SHOWN - i, &s);
    else print_script(shown[i], &s);
    prompt_free(&m, &s);
  }
  if (ok && strcmp(what, "values") == 0) ok = print_cost(&m, &why);
  if (ok && argc < 2) print_small(&m);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok || m.all.live != 0;
}

@ The three turns begin a conversation that the built-in model really has.

@<Three turns, and the templates that are shown@>=
static const char hello[] = "Hello!", ask[] = "Hello! What would "@|
  "you like to know?", fox[] = "What does the fox "@| "say?";
static const struct turn three[3] = @[{@|
  { ROLE_USER, hello, sizeof hello - 1 },@|
  { ROLE_ASSISTANT, ask, sizeof ask - 1 },@|
  { ROLE_USER, fox, sizeof fox - 1 } }@];
static const char *const shown[] = @[{ "chatml", "qwen2", "llama2",@|
  "llama3", "llama3.1", "mistral", "mistral-v3", "pocket" }@];
enum { SHOWN = sizeof shown / sizeof *shown };

@ The keys count, for each template, the marks, the characters of the template, and those of the speakers (\cref{fig:turns}). In ChatML \val{talk.chatml.marks} marks and \val{talk.chatml.frame} characters of the template surround the speakers' \val{talk.chatml.said} characters; Mistral's first needs \val{talk.mistral.marks} and \val{talk.mistral.frame}. Llama~3.1 spends \val{talk.llama3.1.frame} characters, most of them on dates. And the built-in model, with one mark and
\val{talk.pocket.frame} characters, follows the dialogues that it was trained on.

\widefig{turns}{fig:turns}{Three turns in eight templates, from left to right as they are read. Thick and grey: what the user says. Thick and red: what the model said. Thin: text of the template. Ticks: its marks, one token each.}{Eight horizontal strips, one for each template. In all of them a short grey piece is followed by a longer red one and a grey one of middle length. Between them are ticks and
thin lines: long thin lines before the first words of Qwen2 and of Llama 3.1, hardly any in Mistral. The built-in model's strip has one tick, at its beginning.}

@ Then it runs some small templates. Each is printed with its output, or with what is wrong with it.

@<Small templates, and what they print@>=
static const char *const small[] = @[{@|
  "{{ 2 ** 3 ** 2 }} {{ -2 ** 2 }}",@|
  "{{ 1 + 1 is even }}",@|
  "{{ 'a' ~ 1 + 2 }}",@|
  "{% set n = 0 %}{% for x in [1, 2] %}{% set n = n + x %}{% endfor %}{{ n }}",@|
  "{% for x in [1, 2] %}{% break %}{% else %}none{% endfor %}",@|
  "{{ [1, 'it\\'s', None, 1e16, true] }}",@|
  "{{ ('<'|safe) + '<' }} {{ '<' + '<' }}",@|
  "{{ messages[0].items is defined }} {{ gone|length }} {{ gone }}|",@|
  "{{ 9223372036854775807 + 1 }}",@|
  "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}" }@];
@#
static void print_small(struct memory *m)
{
  json_t *one = json_pack("[{s:s, s:s}]", "role", "user", "content", "Hi");
  struct jinja_request q = @[{ .messages = one }@];
  for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
    struct jinja_answer a;
    struct error why;
    bool ok = jinja_render(m, small[i], strlen(small[i]), &q, &a, &why);
    printf("%s\n  %.*s\n", small[i], ok ? (int) a.text.n : 400,
      ok ? (const char *) a.text.byte : why.text);
    jinja_answer_free(m, &a);
  }
  json_decref(one);
}

@ What does a program cost beside a row? We wrote ChatML as a program. It takes \val{talk.run.steps} steps, parsing included, for the \val[bare]{talk.run.bytes} bytes of the three turns. That is a fraction of a millisecond, and the model then needs milliseconds for each token. So the limit on steps leaves room for conversations that no context would hold.

@ Here are four of the eight templates:

\widecheckpoint[1,15]{build/out/templates.txt}{the same three turns in four templates}

@ The other four are Llama~3.1, with its dates, and three that have hardly anything around the words:

\widecheckpoint[16,29]{build/out/templates.txt}{and in four more}

@ The small templates come last, and each has one of the surprises of this chapter.

\widecheckpoint[30,49]{build/out/templates.txt}{small templates, and below each what it prints}

@* Exercises. \label{sec:talkexercises}
The first two need only a pencil, and so do the last but one. The third adds a template as a row, and the last one as a program.

\begin{exercises}
\exercise{check}{ex:talk.rows}{As in the box: a third question has 6 words, and the second answer had 10. How many ids has the third prompt, and how many rows are computed for it?}{\texttt{make exercise-W7-1}}{The second answer and its mark are 11 ids, and with them the cache has $27+11-1=37$ rows. Then come a newline, $5+6$ and 3: the prompt has $38+15=53$ ids, and $53-37=16$ rows are computed.}
\exercise{think}{ex:talk.moved}{A template puts the system's words, 40 ids, into the last question, and each question and each answer has 20 ids with all that surrounds it. How many rows are computed for the third question with a cache that keeps the common prefix? How many would it be if the words stayed in the first question? (The system's words come at the very beginning of a question; ignore the row of the mark that ends an answer.)}{\texttt{make exercise-W7-2}}{The second prompt is
$20+20+60$ ids long, and after it come 20 of an answer. The third differs from it where the words were, after 40 ids: $20+20+60=\given{100}$ rows. If they stayed in the first question, it would be 20.}
\exercise{check}{ex:talk.zephyr}{TinyLlama's chat model has another template: \texttt{<\textbar user\textbar>}, a newline, the words, \texttt{</s>} and a newline. The other speakers' turns look the same, with their names, and \texttt{<\textbar assistant\textbar>} with a newline asks for an answer. The names in bars are ordinary text; \texttt{</s>} is a mark. Write its frame.}{\texttt{make exercise-W7-3}}{Like |chatml|, with the speaker's name between bars and a newline
where that has |IM("user")|, and |"{</s>}"| for the mark at the end, in |close| and in |end|; |after| is |"\n"|.}
\exercise{check}{ex:talk.tight}{What do these print, with a blank between: \texttt{\{\{ 10 - 2 ** 2 ** 2 \}\}}, \texttt{\{\{ 2 \textasciitilde\ 3 * 4 \}\}}, \texttt{\{\{ 2 + 3 is odd \}\}}?}{\texttt{make exercise-W7-4}}{Powers go from left to right: $10-(2^2)^2=-6$. A product binds tighter than the wavy line: \given{212}. A test binds tighter than a sum: $2+1=3$.}
\exercise{think}{ex:talk.box}{A template says \texttt{\{\% set n = 1 \%\}}, then for each \texttt{x} of 1, 2, 3 sets \texttt{n} to \texttt{n * x} and prints it, and prints \texttt{n} after the loop. What is printed? And if \texttt{n} is an attribute of a namespace? (All digits in a row; a blank between the two answers.)}{\texttt{make exercise-W7-5}}{Each turn begins with the 1 from outside, and nothing comes out: \texttt{1231}. The attribute keeps its value: \texttt{1266}.}
\exercise{build}{ex:talk.program}{Write TinyLlama's template as a program, with the text that asks for an answer if \texttt{add\_generation\_prompt} is true; \texttt{</s>} is \texttt{eos\_token}. A turn with another role than the three is an error that says which role it was.}{\texttt{make exercise-W7-6}}{A loop with one sum, \texttt{'<\textbar' + m.role + '\textbar>' + newline + m.content + eos\_token + newline}, and before it an \texttt{if} with \texttt{raise\_exception}; then the prompt for an answer.}
\end{exercises}
