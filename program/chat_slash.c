/* chat_slash.c -- the lines of a talk that are for the program: they begin with a slash.

   Settings are options of the command line, because a talk with other settings is another talk;
   here is what a talk itself needs while it goes on. A transcript is a file with a line of JSON
   for each turn, as {"role": "user", "content": "Hello!"}, which other programs read and write
   as well. An answer that was cut within a character is no text that JSON can hold: its content
   has U+FFFD for the broken part, and its bytes are there as well, as {..., "hex": "48c3"}; if they
   are, they are what is read. */

#include <jansson.h>
#include <string.h>
#include "ground/new_file.h"
#include "safetensors/excerpt.h"
#include "safetensors/jsonfile.h"
#include "chat_slash.h"
#include "json.h"

/* where a command finds what stands after its name; from[n] is no zero byte */
struct operand { const char *from; size_t n; };

typedef enum chat_result slash_action(struct chat *t, struct operand what);

/* what was asked for is not done; from a pipe that ends the talk */
static enum chat_result refuse(struct chat *t, const struct error *why)
{
  console_fail(t->a.c, why);
  return CHAT_REFUSED;
}

/* there is nothing to be done, which changes nothing in the talk either */
static enum chat_result remark(struct chat *t, const struct error *why)
{
  console_fail(t->a.c, why);
  return CHAT_DONE;
}

static enum chat_result begin_anew(struct chat *t, struct operand what)
{
  (void) what;
  chat_forget(t);
  return CHAT_DONE;
}

static enum chat_result quit(struct chat *t, struct operand what)
{
  (void) t;
  (void) what;
  return CHAT_QUIT;
}

static enum chat_result nothing_asked(struct chat *t)
{
  struct error why;
  error_say(&why, "nothing has been asked yet");
  return remark(t, &why);
}

static enum chat_result undo(struct chat *t, struct operand what)
{
  size_t n;
  char *text = chat_take_back(t, &n);
  (void) what;
  if (text == NULL) return nothing_asked(t);
  memory_free(t->a.o.m, text);
  return CHAT_DONE;
}

/* The same question once more. What is drawn depends on the seed, the number of the sequence and
   the position; so the sequence is counted up. The likeliest token is the same every time. */
static enum chat_result regenerate(struct chat *t, struct operand what)
{
  size_t n;
  (void) what;
  char *text = chat_take_back(t, &n);
  if (text == NULL) return nothing_asked(t);
  if (sampler_setup_greedy(&t->how.choice))
    session_hint(t->a.c, t->a.w, "the likeliest tokens are the same each time; --temperature 1"
      " draws them");
  t->how.choice.d.sequence++;
  enum chat_result result = chat_send(t, text, n);
  memory_free(t->a.o.m, text);
  return result;
}

static enum chat_result system_turn(struct chat *t, struct operand what)
{
  struct error why;
  return chat_system(t, what.from, what.n, &why) ? CHAT_DONE : refuse(t, &why);
}

static enum chat_result stats(struct chat *t, struct operand what)
{
  (void) what;
  if (t->cost.given == 0) return nothing_asked(t);
  chat_print_cost(t);
  return CHAT_DONE;
}

/* the path, with a zero byte after it; to be freed */
static char *path_of(struct chat *t, struct operand what, struct error *why)
{
  char *path = memory_alloc(t->a.o.m, MEMORY_OTHER, what.n + 1, 1, why);
  if (path != NULL) memcpy(path, what.from, what.n);
  return path;
}

static const char *const role_name[N_ROLES] = { [ROLE_SYSTEM] = "system", [ROLE_USER] = "user",
  [ROLE_ASSISTANT] = "assistant" };

static bool is_utf8(const unsigned char *byte, size_t n)
{
  enum utf8_state state = UTF8_WHOLE;
  for (size_t k; state == UTF8_WHOLE && n > 0; byte += k, n -= k) k = utf8_next(byte, n, &state);
  return state == UTF8_WHOLE;
}

/* an older file is replaced when all has been written; a terminal or a pipe is written to */
static bool write_turns(const struct chat *t, const char *path, struct error *why)
{
  struct new_file to;
  if (!new_file_open(&to, path, true, why)) return false;
  struct json_writer j = { to.f, '\0' };
  for (size_t i = 0; i < t->n; i++) {
    const unsigned char *byte = (const unsigned char *) t->turn[i].text;
    writer_open(&j, '{');
    put_words_as(&j, "role", role_name[t->turn[i].who]);
    put_text_as(&j, "content", byte, t->turn[i].n);
    if (!is_utf8(byte, t->turn[i].n)) put_hex_as(&j, "hex", byte, t->turn[i].n);
    writer_close(&j, '}');
    writer_end(&j);
  }
  return new_file_end(&to, true, why);
}

static enum chat_result save(struct chat *t, struct operand what)
{
  struct error why;
  char *path = path_of(t, what, &why);
  bool ok = path != NULL && write_turns(t, path, &why);
  memory_free(t->a.o.m, path);
  return ok ? CHAT_DONE : refuse(t, &why);
}

/* what was said: the content, or, if there is a "hex", the bytes of that in byte, which has room for
   as many as it has digits */
static bool said_bytes(const json_t *object, unsigned char *byte, const char **text, size_t *n,
  struct error *why)
{
  const json_t *said = json_object_get(object, "content"), *hex = json_object_get(object, "hex");
  *text = json_string_value(said), *n = json_string_length(said);
  if (hex == NULL) return true;
  *text = (const char *) byte, *n = json_string_length(hex) / 2;
  return (json_is_string(hex)
      && jsonfile_hex(json_string_value(hex), json_string_length(hex), byte))
    || error_say(why, "the hex of a turn is no list of bytes; wanted: two digits for each");
}

/* a turn from its object; the roles take turns, the first being the user's after a system's, and
   the last the assistant's */
static bool take_turn(struct chat *t, const json_t *object, unsigned char *byte,
  struct error *why)
{
  const json_t *who = json_object_get(object, "role");
  const char *text;
  char name[EXCERPT_MAX + 4];
  size_t i = 0, n;
  if (!json_is_string(who) || !json_is_string(json_object_get(object, "content")))
    return error_say(why, "a turn has no role or no content");
  if (!said_bytes(object, byte, &text, &n, why)) return false;
  while (i < N_ROLES && strcmp(json_string_value(who), role_name[i]) != 0) i++;
  if (i == N_ROLES) return error_say(why, "the role `%s' is not system, user or assistant",
    text_excerpt(json_string_value(who), json_string_length(who), 40, name));
  if (i == ROLE_SYSTEM) return t->n == 0 ? chat_system(t, text, n, why)
    : error_say(why, "the system speaks in the middle of a talk");
  bool answers = (t->n - t->first) % 2 == 1;
  if (answers != (i == ROLE_ASSISTANT))
    return error_say(why, "two turns of the %s follow each other", role_name[i]);
  return chat_push(t, (enum role) i, text, n);
}

/* byte has room for the bytes of any turn, since each line has twice as many digits as its hex has
   bytes. A file that ends with a question is refused: the next line typed would be a second one. */
static bool read_turns(struct chat *t, const struct bytes *text, struct error *why)
{
  unsigned char *byte = memory_alloc(t->a.o.m, MEMORY_OTHER, text->n + 1, 1, why);
  bool ok = byte != NULL;
  for (size_t at = 0, n; ok && at < text->n; at += n + 1) {
    const char *line = (const char *) text->byte + at, *end = memchr(line, '\n', text->n - at);
    n = end != NULL ? (size_t) (end - line) : text->n - at;
    json_t *object = jsonfile_object(line, n, why);
    ok = object != NULL && take_turn(t, object, byte, why);
    json_decref(object);
  }
  memory_free(t->a.o.m, byte);
  if (ok && (t->n - t->first) % 2 == 1) ok = error_say(why, "the last turn is a question");
  return ok;
}

/* The talk of a file takes the place of this one. What cannot be read leaves a new talk, since
   the old one has been forgotten by then; the sentence names the file. */
static enum chat_result load(struct chat *t, struct operand what)
{
  struct error wrong, why;
  struct bytes text = { NULL, 0, 0 };
  char *path = path_of(t, what, &why);
  if (path == NULL) return refuse(t, &why);
  bool ok = prompt_read_text(t->a.c, path, &text, &why);
  if (ok) {
    chat_system(t, "", 0, &wrong);
    ok = read_turns(t, &text, &wrong);
    if (!ok) error_say(&why, "%s: %s", path, wrong.text);
    if (!ok) chat_forget(t);
    t->text.n = 0;
  }
  bytes_free(t->a.o.m, &text);
  memory_free(t->a.o.m, path);
  return ok ? CHAT_DONE : refuse(t, &why);
}

static slash_action help;

/* a command, what it needs after its name, or null, and what it does */
static const struct slash_command { const char *name, *operand, *words; slash_action *act; }
  slash_command[] = {
  { .name = "/help", .words = "this list", .act = help },
  { .name = "/new", .words = "forget the talk, and begin another", .act = begin_anew },
  { .name = "/undo", .words = "take back the last question and its answer", .act = undo },
  { .name = "/regen", .words = "another answer to the last question", .act = regenerate },
  { .name = "/system", .operand = "TEXT", .words = "how the model is to behave; begins another"
    " talk", .act = system_turn },
  { .name = "/save", .operand = "FILE", .words = "write the talk into a file", .act = save },
  { .name = "/load", .operand = "FILE", .words = "go on with the talk of a file", .act = load },
  { .name = "/stats", .words = "what the last turn cost", .act = stats },
  { .name = "/quit", .words = "end; so does the end of the input, Ctrl-D", .act = quit } };
enum { N_SLASH_COMMANDS = sizeof slash_command / sizeof *slash_command };

static enum chat_result help(struct chat *t, struct operand what)
{
  FILE *err = t->a.c->err;
  (void) what;
  for (size_t i = 0; i < N_SLASH_COMMANDS; i++) {
    const char *operand = slash_command[i].operand;
    fprintf(err, "%-7s %-5s %s\n", slash_command[i].name, operand != NULL ? operand : "",
      slash_command[i].words);
  }
  fprintf(err, "%-13s a turn that begins with a slash\n", "//...");
  fprintf(err, "%-13s opens and closes a turn of several lines\n", "\"\"\"");
  return CHAT_DONE;
}

/* What other programs call these lines; their users have them in their fingers. */
static const char *known_as(const char *line, size_t n)
{
  static const struct { const char *typed, *ours; } at[] = { { "/bye", "/quit ends" }, { "/exit", "/quit ends" }, { "/q", "/quit ends" },
    { "/clear", "/new forgets the talk" }, { "/reset", "/new forgets the talk" }, { "/retry", "/regen answers again" },
    { "/set", "/system TEXT says how the model is to behave; the rest are options of the command" },
    { "/read", "/load goes on with a talk; incipit chat < FILE reads turns" } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    if (strlen(at[i].typed) == n && memcmp(at[i].typed, line, n) == 0) return at[i].ours;
  return "/help lists what there is";
}

static enum chat_result no_such_command(struct chat *t, const char *line, size_t n, size_t name)
{
  struct error why;
  char word[EXCERPT_MAX + 4];
  error_say(&why, "there is no %s; %s", text_excerpt(line, n, 40, word), known_as(line, name));
  return remark(t, &why);
}

/* What begins with a slash and is not in the list is said to be unknown: a user who mistypes such a line
   does not want the model to answer it. So is one with an operand where none is known, or none where one
   is needed; /system without a text is a way to say nothing. */
enum chat_result chat_slash(struct chat *t, const char *line, size_t n)
{
  while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t')) n--;
  size_t name = 0;
  while (name < n && line[name] != ' ' && line[name] != '\t') name++;
  struct operand what = { line + name, n - name };
  while (what.n > 0 && (*what.from == ' ' || *what.from == '\t')) what.from++, what.n--;
  for (size_t i = 0; i < N_SLASH_COMMANDS; i++) {
    const struct slash_command *s = &slash_command[i];
    if (strlen(s->name) != name || memcmp(line, s->name, name) != 0) continue;
    if ((s->operand == NULL) == (what.n == 0) || s->act == system_turn) return s->act(t, what);
    if (s->operand == NULL) break;
    struct error why;
    error_say(&why, "%s needs a name: %s %s", s->name, s->name, s->operand);
    return refuse(t, &why);
  }
  return no_such_command(t, line, n, name);
}
