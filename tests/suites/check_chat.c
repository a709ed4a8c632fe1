/* A conversation.  Its answers are those of the protocol on ids that are rendered as a whole,
   and its rows are counted.  Most talks happen in this process, on streams that are files in
   memory; a terminal, and Ctrl-C from it, need build/incipit itself. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include "marked.h"
#include "runs.h"
#include "templates/conversations.h"

static const struct editing *edit; /* null: none, and no terminal */
static struct run run_with(const char *const *argv, const void *in, size_t n, uint64_t fail_at)
{
  struct console c = { .in_terminal = edit != NULL,
    .out_terminal = edit != NULL,
    .program = "build/incipit",
    .edit = edit };
  int argc = 0;
  while (argv[argc] != NULL) argc++;
  return run_console(c, argc, (char **) argv, in, n, fail_at);
}
#define RUN(in, ...)                                                                               \
  run_with((const char *const[]){ "incipit", __VA_ARGS__, NULL }, in, strlen(in), 0)
static void ends_well(struct run *r, int status)
{
  ck_assert_msg(r->status == status, "status %d: %s%s", r->status, r->out, r->err);
}
static void says(const struct run *r, const char *words)
{
  ck_assert_msg(strstr(r->err, words) != NULL, "%s; wanted: %s", r->err, words);
}

/* ---- what a talk must be: each prompt rendered as a whole, each answer from the protocol */
static struct memory M;
struct model_here {
  const char *folder, *name, *system;
  struct tokenizer *v;
  uint32_t end;
  const struct chat_template *by;
};
static struct model_here here(const char *folder, const char *name, const char *system)
{
  struct error why;
  struct model_here h = { folder, name, system, NULL, 0, chat_template_named(name, &why) };
  struct ids end = { NULL, 0, 0 };
  ck_assert_msg((h.v = tokenizer_open(&M, folder, &why)) != NULL && h.by != NULL, "%s", why.text);
  ck_assert(conversations_ends(&M, h.by, h.v, &end, &why) && end.n == 1);
  h.end = end.id[0];
  ids_free(&M, &end);
  return h;
}
static void leave(struct model_here *h)
{
  tokenizer_close(&M, h->v);
  ck_assert_uint_eq(M.all.live, 0);
}
static json_t *ask(const struct model_here *h, const struct ids *prompt, size_t max,
  size_t *n) /* the answer's text; its n ids, end included */
{
  json_t *q = json_object(), *ids = json_array();
  for (size_t i = 0; i < prompt->n; i++) json_array_append_new(ids, json_integer(prompt->id[i]));
  json_object_set_new(q, "ids", ids),
    json_object_set_new(q, "max_tokens", json_integer((json_int_t) max));
  json_object_set_new(q, "eos", json_pack("[i,i]", (int) h->end, 0)),
    json_object_set_new(q, "params", json_pack("{s:i}", "temperature", 0));
  char *line = json_dumps(q, JSON_COMPACT);
  struct run r = RUN(line, "probe", "generate", "-m", h->folder);
  json_t *a = json_loads(r.out, 0, NULL);
  ck_assert_msg(r.status == 0 && json_object_get(a, "ids") != NULL, "%s%s", r.out, r.err);
  *n = json_array_size(json_object_get(a, "ids"));
  free(line), json_decref(q), done(&r);
  return a;
}
static const char *next_number(const char *at, const char *name, uint64_t *x)
{
  at = strstr(at, name);
  ck_assert_msg(at != NULL, "no %s", name);
  *x = strtoull(at + 28, NULL, 10);
  return at + 28;
}
/* line[n] said in the model's template, each answer of at most most tokens: the output, and the
   rows of each turn.  A turn reads what its prompt has and the cache has not: all ids of the talk
   are in the cache but the newest, which was written and not read.  If the template writes old
   turns anew, the cache keeps what both have in common. */
static size_t alike; /* prompts whose ids are those of the whole conversation: not all, since a
                        model may spell otherwise than its tokenizer */
static void talks_as(const struct model_here *h, const char *const *line, size_t n, size_t max)
{
  struct turn turn[32];
  char *kept[32], in[4096] = "", number[24];
  size_t k = 0, first = 0, made = 0;
  if (h->system != NULL)
    turn[k++] = (struct turn){ ROLE_SYSTEM, h->system, strlen(h->system) }, first = 1;
  for (size_t i = 0; i < n; i++) strcat(in, line[i]), strcat(in, "\n");
  snprintf(number, sizeof number, "%zu", max);
  struct run r = h->system == NULL
    ? RUN(in, "chat", "-m", h->folder, "--template", h->name, "-n", number, "--stats")
    : RUN(in, "chat", "-m", h->folder, "--template", h->name, "-n", number, "--stats", "--system",
      h->system);
  ends_well(&r, 0);
  const char *out = r.out, *err = r.err;
  struct ids cached = { NULL, 0, 0 }, talk = { NULL, 0, 0 };
  for (size_t i = 0; i < n; i++) {
    struct error why;
    struct ids prompt = { NULL, 0, 0 };
    size_t wrote;
    uint64_t given, read, rows;
    turn[k++] = (struct turn){ ROLE_USER, line[i], strlen(line[i]) };
    bool anew = i == 0 || chat_template_rewrites(h->by, turn, k);
    for (size_t j = 0; !anew && j < talk.n; j++) ck_assert(ids_push(&M, &prompt, talk.id[j], &why));
    ck_assert_msg(
      conversations_ids(&M, h->by, h->v, turn, k, anew ? 0 : k - 1, true, &prompt, &why), "%s",
      why.text);
    struct ids at_once = { NULL, 0, 0 };
    ck_assert(conversations_ids(&M, h->by, h->v, turn, k, 0, true, &at_once, &why));
    alike +=
      at_once.n == prompt.n && memcmp(at_once.id, prompt.id, prompt.n * sizeof *prompt.id) == 0;
    ids_free(&M, &at_once);
    json_t *a = ask(h, &prompt, max, &wrote), *ids = json_object_get(a, "ids");
    struct bytes said = { NULL, 0, 0 };
    talk.n = 0;
    for (size_t j = 0; j < prompt.n; j++) ck_assert(ids_push(&M, &talk, prompt.id[j], &why));
    for (size_t j = 0; j < wrote; j++)
      ck_assert(ids_push(&M, &talk, (uint32_t) json_integer_value(json_array_get(ids, j)), &why));
    uint32_t newest = talk.id[talk.n - 1];
    if (newest == h->end || newest == 0)
      talk.n--; /* its end; one that is not the template's is exchanged */
    ck_assert(tokenizer_decode(h->v, &M, talk.id + prompt.n, talk.n - prompt.n, true, &said, &why)
      && bytes_push(&M, &said, "", 1, &why));
    ck_assert(ids_push(&M, &talk, h->end, &why));
    const char *text = (char *) said.byte + strspn((char *) said.byte, " ");
    size_t size = strlen(text), same = 0;
    ck_assert_msg(strncmp(out, text, size) == 0 && out[size] == '\n',
      "turn %zu of %s: %.60s; wanted: %s", i + 1, h->name, out, text);
    out += size + 1;
    err = next_number(err, "tokens   ", &given);
    ck_assert_uint_eq(given, prompt.n);
    ck_assert_uint_eq(strtoull(strchr(err, '+') + 1, NULL, 10), wrote);
    err = next_number(err, "rows_read ", &read), err = next_number(err, "rows  ", &rows);
    while (same < cached.n && same < prompt.n && cached.id[same] == prompt.id[same]) same++;
    if (same == prompt.n) same--;
    ck_assert_uint_eq(read, prompt.n - same);
    ck_assert_uint_eq(rows, read + wrote - 1);
    if (i > 0 && first == 0 && !chat_template_rewrites(h->by, turn, k))
      ck_assert_uint_eq(same, cached.n);
    cached.n = 0;
    for (size_t j = 0; j < prompt.n; j++) ck_assert(ids_push(&M, &cached, prompt.id[j], &why));
    for (size_t j = 0; j + 1 < wrote; j++)
      ck_assert(ids_push(&M, &cached, (uint32_t) json_integer_value(json_array_get(ids, j)), &why));
    kept[made++] = strdup(text);
    turn[k++] = (struct turn){ ROLE_ASSISTANT, kept[made - 1], size };
    json_decref(a), ids_free(&M, &prompt), bytes_free(&M, &said);
  }
  ck_assert(*out == '\0');
  while (made > 0) free(kept[--made]);
  ids_free(&M, &cached), ids_free(&M, &talk), done(&r);
}

static const char pocket_dir[] = "models/pocket";
START_TEST(answers_are_those_of_the_whole_text)
{
  struct model_here h = here(pocket_dir, "pocket", NULL);
  static const char *const line[] = { "Hello!", "What does the fox say?",
    "Where does the cat sleep?", "Thank you!", "Who are you?", "Tell me about the king." };
  talks_as(&h, line, 1, 24);
  talks_as(&h, line, 2, 24);
  talks_as(&h, line, 6, 32);
  leave(&h);
}
END_TEST
START_TEST(every_talk_computes_each_row_once)
{
  static const char *const word[] = { "the", "king", "cat", "What", "is", "a", "tree?", "Where",
    "sea", "I", "like", "milk." };
  uint64_t seed = suite_seed();
  size_t turns = 0;
  struct model_here h = here(pocket_dir, "pocket", NULL);
  for (int round = 0; round < 20; round++) {
    char text[5][100];
    const char *line[5];
    size_t n = 2 + rnd(&seed) % 3;
    for (size_t i = 0; i < n; i++) {
      text[i][0] = '\0', line[i] = text[i];
      for (size_t k = 1 + rnd(&seed) % 6; k > 0; k--)
        strcat(text[i], word[rnd(&seed) % 12]), strcat(text[i], k > 1 ? " " : "");
    }
    talks_as(&h, line, n, 40);
    turns += n;
  }
  ck_assert_msg(alike > turns / 2 && alike < turns, "%zu of %zu", alike, turns);
  leave(&h);
}
END_TEST
static void make_room(void)
{
  snprintf(room_dir, sizeof room_dir, "%s/tests/chat-room", build_dir());
  make_marked(room_dir, 2048);
}
START_TEST(templates_that_change_old_turns_are_written_anew)
{
  static const char *const line[] = { "The cat", "sat", "on" };
  make_room();
  struct model_here h = here(room_dir, "qwen3", NULL);
  talks_as(&h, line, 3, 12);
  leave(&h);
  h = here(room_dir, "qwen3", "Be brief.");
  talks_as(&h, line, 3, 9);
  leave(&h);
  h = here(room_dir, "chatml", NULL); /* and beside it one that does not */
  talks_as(&h, line, 3, 12);
  leave(&h);
}
END_TEST
/* A special token has no bytes, unless the template writes calls of tools with it; then the caller must see it. */
START_TEST(calls_of_tools_are_seen)
{
  static const char *const program[] = { "{% for m in messages %}{% if m.tool_calls %}<|im_start|>{{ m.tool_calls|tojson }}<|im_end|>{% else %}{{ m.content }}<|im_end|>{% endif %}{% endfor %}",
    "{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}" };
  char path[4200];
  make_room();
  snprintf(path, sizeof path, "%s/calls.jinja", room_dir);
  for (int i = 0; i < 2; i++) {
    FILE *f = fopen(path, "w");
    ck_assert(f != NULL && fputs(program[i], f) >= 0 && fclose(f) == 0);
    struct run r = RUN("The cat\n", "chat", "-m", room_dir, "--chat-template", path, "--logit-bias", "284=1e6", "-n", "2");
    ends_well(&r, 0);
    ck_assert_str_eq(r.out, i == 0 ? "<|im_start|><|im_start|>\n" : "\n");
    done(&r);
    r = RUN("The cat\n", "chat", "-m", room_dir, "--chat-template", path, "--logit-bias", "284=1e6", "-n", "2", "--stop", "im_");
    ck_assert_str_eq(r.out, i == 0 ? "<|\n" : "\n");
    done(&r);
  }
  /* where it is what ends a call, it ends the turn, and closes no answer */
  static const char ending[] = "{% for m in messages %}{% if m.tool_calls %}{{ m.tool_calls|tojson }}<|im_start|>{% else %}{{ m.content }}<|im_end|>{% endif %}{% endfor %}";
  FILE *f = fopen(path, "w");
  ck_assert(f != NULL && fputs(ending, f) >= 0 && fclose(f) == 0);
  struct run r = RUN("The cat\n", "chat", "-m", room_dir, "--chat-template", path, "--logit-bias", "284=1e6", "-n", "2", "--stats");
  ck_assert_str_eq(r.out, "\n");
  uint64_t given;
  ck_assert_uint_eq(strtoull(strchr(next_number(r.err, "tokens   ", &given), '+') + 1, NULL, 10), 1);
  done(&r);
  unlink(path);
}
END_TEST
START_TEST(a_cut_answer_is_closed)
{
  struct run whole = RUN("Hello!\n", "chat"), r;
  for (unsigned k = 1; k <= 4; k++) {
    char n[8];
    uint64_t given, read;
    steps_allowed = k, listened = 0;
    r = RUN("Hello!\nWhat does the fox say?\n", "chat", "--stats");
    ends_well(&r, 0);
    ck_assert_uint_eq(listened, 2);
    char *end = strchr(r.out, '\n');
    ck_assert(end != NULL && end - r.out < (ptrdiff_t) whole.n_out - 1
      && strncmp(r.out, whole.out, (size_t) (end - r.out)) == 0);
    ck_assert_msg(strcmp(end + 1, "The fox says yip.\n") == 0, "%s", r.out);
    const char *at = next_number(r.err, "tokens   ", &given);
    ck_assert_uint_eq(given, 8);
    ck_assert_uint_eq(strtoull(strchr(at, '+') + 1, NULL, 10), k);
    at = next_number(at, "tokens   ", &given), next_number(at, "rows_read ", &read);
    ck_assert_uint_eq(
      given, 8 + k + 1 + 12); /* the cut answer, the mark of the template, the new turn */
    ck_assert_uint_eq(read, given - (8 + k - 1));
    snprintf(n, sizeof n, "%u", k); /* to be cut by its length is to be cut at the same place */
    struct run s = RUN("Hello!\n", "chat", "-n", n);
    ck_assert(strncmp(s.out, r.out, s.n_out) == 0);
    done(&r), done(&s);
  }
  steps_allowed = 0;
  r = RUN("Hello!\nWhat does the fox say?\n", "chat", "--stop", " would");
  ck_assert_str_eq(r.out, "Hello! What\nThe fox says yip.\n");
  done(&r);
  r = RUN("Hello!\n", "chat", "-n", "0", "--stats"); /* no token is a way to read a prompt */
  ck_assert_str_eq(r.out, "\n");
  says(&r, "tokens                       8 + 0");
  says(&r, "rows_read                    8");
  done(&r), done(&whole);
}
END_TEST
/* Ctrl-C within the pass that reads a question, or within one that writes: the answer ends there,
   and the talk goes on as after one that was cut */
START_TEST(an_answer_is_stopped_within_a_step)
{
  struct run good = RUN("Hello!\nWhat does the fox say?\n", "chat");
  asks_made = 0;
  struct run r = RUN("Hello!\n", "chat", "-n", "0"); /* the model is loaded, the question is read */
  unsigned loaded = asks_made;
  done(&r);
  for (unsigned back = 0; back < 12; back += 3) {
    asks_allowed = loaded - back;
    r = RUN("Hello!\n/undo\nHello!\nWhat does the fox say?\n", "chat");
    ends_well(&r, 0);
    ck_assert_msg(r.n_out == good.n_out + 1 && r.out[0] == '\n' && r.n_err == 0
        && strcmp(r.out + 1, good.out) == 0,
      "%s%s", r.out, r.err);
    done(&r);
  }
  asks_allowed = 0;
  done(&good);
}
END_TEST
START_TEST(a_full_context_drops_the_oldest_turns)
{
  struct run a = RUN("Hello!\n", "chat"), b = RUN("What does the fox say?\n", "chat"),
             c = RUN("Thank you!\n", "chat");
  char wanted[256];
  /* each of the three fits alone, no two do: every answer is that of a new talk */
  struct run r = RUN("Hello!\nWhat does the fox say?\nThank you!\n", "chat", "-c", "24");
  ends_well(&r, 0);
  static const char full[] =
    "incipit: the context of 24 tokens is full; the oldest 2 turns are forgotten\n";
  snprintf(wanted, sizeof wanted, "%s%s", full, full);
  ck_assert_str_eq(r.err, wanted);
  snprintf(wanted, sizeof wanted, "%s%s%s", a.out, b.out, c.out);
  ck_assert_str_eq(r.out, wanted);
  done(&r);
  r = RUN("Hello!\nWhat does the fox say?\nThank you!\n", "chat", "-c", "24", "-q");
  ck_assert(r.status == 0 && r.n_err == 0);
  done(&r);
  r = RUN("Hello!\nWhat does the fox say?\n", "chat", "-c",
    "33"); /* 30 tokens of the talk leave an eighth of the context, and one that is not read */
  ends_well(&r, 0);
  ck_assert_msg(r.n_err == 0 && strstr(r.out, "\nThe fox says yip\n") != NULL, "%s%s", r.out, r.err);
  done(&r);
  r = RUN("Hello!\nWhat does the fox say?\n", "chat", "-c", "32");
  ends_well(&r, 0);
  says(&r, "the oldest 2 turns are forgotten");
  done(&r);
  r = RUN("Hello!\nHello!\n", "chat", "-c", "18", "--ignore-eos");
  ends_well(&r, 0);
  says(&r, "the context of 18 tokens is full");
  done(&r);
  r = RUN("What does the fox say?\nHello!\n", "chat", "-c", "9"); /* it does not fit alone */
  ends_well(&r, 1);
  says(&r, "the talk has 12 tokens; the context holds 9\n");
  ck_assert_uint_eq(r.n_out, 0);
  done(&r);
  r = RUN("Hello!\n", "chat", "-c", "0"), ends_well(&r, 2), done(&r);
  r = RUN("Hello!\n", "chat", "-c", "100000"), ends_well(&r, 2), says(&r, "the model's context"),
  done(&r);
  done(&a), done(&b), done(&c);
  /* what the system was told is not dropped: the prompt of a later turn is as long as the first */
  make_room();
  static const char in[] = "The cat\nThe cat\nThe cat\n";
  uint64_t n[3];
  r = RUN(in, "chat", "-m", room_dir, "--template", "chatml", "-n", "3", "--stats", "--system",
    "Be brief.", "-c", "48");
  ends_well(&r, 0);
  const char *at = r.err;
  for (int k = 0; k < 3; k++) at = next_number(at, "tokens   ", &n[k]);
  ck_assert_msg(n[1] == n[0] && n[2] == n[0], "%s", r.err);
  says(&r, "the oldest 2 turns are forgotten");
  done(&r);
}
END_TEST
/* A talk that is much longer than the context: what is cut leaves half of it, so most turns read what
   they bring, and over all turns a row is read twice at most. */
START_TEST(a_long_talk_reads_few_rows)
{
  static const char *const word[] = { "the", "king", "cat", "What", "is", "a", "tree?", "Where",
    "sea", "I", "like", "milk." };
  uint64_t seed = 7, reads = 0, brought = 0, least = UINT64_MAX, given, read;
  size_t cuts = 0, large = 0, turns = 60, dropped = 0;
  char in[9000] = "";
  for (size_t i = 0; i < turns; i++) {
    for (size_t k = 3 + rnd(&seed) % 5; k > 0; k--)
      strcat(in, word[rnd(&seed) % 12]), strcat(in, k > 1 ? " " : "\n");
  }
  struct run r = RUN(in, "chat", "-c", "256", "-n", "16", "--stats");
  ends_well(&r, 0);
  const char *at = r.err;
  for (size_t i = 0; i < turns; i++) {
    const char *cut = strstr(at, "the oldest "), *next = strstr(at, "tokens   ");
    bool full = cut != NULL && cut < next;
    if (full) dropped += strtoull(cut + 11, NULL, 10);
    at = next_number(at, "tokens   ", &given);
    uint64_t wrote = strtoull(strchr(at, '+') + 1, NULL, 10);
    at = next_number(at, "rows_read ", &read);
    reads += read, brought += wrote;
    cuts += full;
    if (full) ck_assert_uint_le(given, 256 / 2);
    if (!full && read < least) least = read;
    large += read > 40;
    ck_assert_uint_le(read, 256 / 2);
  }
  ck_assert_msg(cuts >= 4 && cuts <= turns / 6, "%zu cuts in %zu turns", cuts, turns);
  ck_assert_msg(large <= cuts, "%zu turns read much, of %zu; %zu cuts", large, turns, cuts);
  ck_assert_msg(reads < 2 * (turns * 20 + brought) && dropped % 2 == 0 && dropped >= 2 * cuts
    && dropped < 2 * turns, "%lu rows read, %lu brought, %zu turns dropped", (unsigned long) reads,
    (unsigned long) brought, dropped);
  done(&r);
}
END_TEST
/* what goes into a file of turns comes out of it, and a talk that was loaded goes on as the one
   that was saved */
START_TEST(a_talk_is_saved_and_loaded)
{
  char in[9000], path[4200], text[4096];
  snprintf(path, sizeof path, "%s/tests/chat.jsonl", build_dir());
  snprintf(in, sizeof in, "Hello!\nThank you!\n/save %s\nWhat does the fox say?\n", path);
  struct run a = RUN(in, "chat");
  ends_well(&a, 0);
  FILE *f = fopen(path, "r");
  size_t n = fread(text, 1, sizeof text - 1, f);
  text[n] = '\0', fclose(f);
  static const char *const role[] = { "user", "assistant" };
  char *line = text;
  for (int k = 0; k < 4; k++) {
    char *end = strchr(line, '\n');
    ck_assert(end != NULL);
    json_t *turn = json_loadb(line, (size_t) (end - line), JSON_REJECT_DUPLICATES, NULL);
    has_keys(turn, "role content");
    ck_assert_str_eq(json_string_value(json_object_get(turn, "role")), role[k % 2]);
    if (k == 2)
      ck_assert_str_eq(json_string_value(json_object_get(turn, "content")), "Thank you!");
    json_decref(turn), line = end + 1;
  }
  ck_assert(*line == '\0');
  snprintf(in, sizeof in, "What?\n/load %s\nWhat does the fox say?\n", path);
  struct run b = RUN(in, "chat");
  ends_well(&b, 0);
  char *last = strrchr(a.out, '\n');
  for (*last = '\0', last = strrchr(a.out, '\n'); *last == '\n';) last++;
  char *fox = strchr(b.out, '\n') + 1;
  ck_assert_msg(strncmp(fox, last, strlen(last)) == 0 && fox[strlen(last)] == '\n', "%s%s", a.out,
    b.out);
  done(&a), done(&b);
  static const struct {
    const char *file, *said;
  } bad[] = { { "{\"role\":\"assistant\",\"content\":\"Hi\"}\n", "two turns of the assistant" },
    { "{\"role\":\"user\",\"content\":\"Hi\"}\n", "the last turn is a question" },
    { "{\"role\":\"tool\",\"content\":\"Hi\"}\n", "the role `tool'" }, { "{}\n", "has no role" },
    { "{\"role\":\n", "line" } };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    f = fopen(path, "w"), fputs(bad[i].file, f), fclose(f);
    snprintf(in, sizeof in, "/load %s\nHello!\n", path);
    a = RUN(in, "chat");
    ends_well(&a, 1);
    ck_assert_msg(a.n_out == 0 && strstr(a.err, "chat.jsonl: ") != NULL
        && (i == 4 || strstr(a.err, bad[i].said) != NULL),
      "%s: %s", bad[i].file, a.err);
    done(&a);
  }
  unlink(path);
  snprintf(in, sizeof in, "/save %s\t\n", path); /* no part of the name */
  a = RUN(in, "chat");
  ends_well(&a, 0);
  ck_assert(access(path, F_OK) == 0);
  done(&a);
  /* a link leads to the file that is replaced, and a pipe is written to: both stay */
  char other[4300];
  struct stat st;
  snprintf(other, sizeof other, "%s.link", path);
  unlink(other);
  ck_assert_int_eq(symlink("chat.jsonl", other), 0);
  snprintf(in, sizeof in, "Hello!\n/save %s\n", other);
  a = RUN(in, "chat");
  ends_well(&a, 0);
  ck_assert(lstat(other, &st) == 0 && S_ISLNK(st.st_mode) && unlink(other) == 0);
  ck_assert(lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 60 && unlink(path) == 0);
  done(&a);
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  int reader = open(path, O_RDONLY | O_NONBLOCK);
  snprintf(in, sizeof in, "Hello!\n/save %s\n", path);
  a = RUN(in, "chat");
  ends_well(&a, 0);
  ck_assert(read(reader, text, sizeof text) == st.st_size && close(reader) == 0);
  ck_assert(lstat(path, &st) == 0 && S_ISFIFO(st.st_mode) && unlink(path) == 0);
  done(&a);
  static const char *const fails[] = { "/load /nowhere/x\nHello!\n", "/save /nowhere/x\nHello!\n",
    "/save\nHello!\n", "/load .\nHello!\n", "/save .\nHello!\n" };
  for (int i = 0; i < 5; i++) {
    a = RUN(fails[i], "chat");
    ends_well(&a, 1);
    ck_assert_uint_eq(a.n_out, 0);
    done(&a);
  }
}
END_TEST
static size_t read_whole(const char *path, char *text, size_t cap)
{
  FILE *f = fopen(path, "rb");
  ck_assert(f != NULL);
  size_t n = fread(text, 1, cap - 1, f);
  text[n] = '\0', fclose(f);
  return n;
}
/* An answer may be cut within a character, and what has been saved is what is loaded: the same
   bytes, of which JSON can hold only some as a text.  What is no UTF-8 stands there in hexadecimal,
   and U+FFFD in its content is for other programs. */
START_TEST(a_talk_is_saved_byte_for_byte)
{
  static const char *const hex[] = { "", "00", "48c3", "c3a9ff20", "f09f98", "eda080", "0a220a" };
  char in[20000], path[2][4200], text[2][9000];
  for (int i = 0; i < 2; i++)
    snprintf(path[i], sizeof path[i], "%s/tests/chat-bytes-%d.jsonl", build_dir(), i);
  for (size_t i = 0; i < sizeof hex / sizeof *hex; i++) {
    FILE *f = fopen(path[0], "w");
    fprintf(f, "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"assistant\",\"content\":\"y\","
               "\"hex\":\"%s\"}\n", hex[i]);
    fclose(f);
    snprintf(in, sizeof in, "/load %s\n/save %s\n/load %s\n/save %s\n", path[0], path[1], path[1],
      path[0]);
    struct run r = RUN(in, "chat");
    ends_well(&r, 0);
    for (int k = 0; k < 2; k++) read_whole(path[k], text[k], sizeof text[k]);
    ck_assert_str_eq(text[0], text[1]);
    json_t *turn = json_loads(strchr(text[0], '\n') + 1, JSON_ALLOW_NUL, NULL);
    const json_t *said = json_object_get(turn, "content"), *bytes = json_object_get(turn, "hex");
    if (i >= 2 && i <= 5) { /* these are no UTF-8 */
      ck_assert_str_eq(json_string_value(bytes), hex[i]);
      ck_assert(strstr(json_string_value(said), "\xef\xbf\xbd") != NULL);
    } else {
      ck_assert(bytes == NULL && json_string_length(said) == strlen(hex[i]) / 2);
      for (size_t k = 0; k < strlen(hex[i]) / 2; k++)
        ck_assert_int_eq(hex_byte(hex[i] + 2 * k), (unsigned char) json_string_value(said)[k]);
    }
    json_decref(turn), done(&r);
  }
  /* answers of every length, some of which end within a character */
  make_room();
  size_t broken = 0;
  for (unsigned n = 1; n < 20; n++) {
    char most[8];
    snprintf(most, sizeof most, "%u", n);
    snprintf(in, sizeof in, "The cat sat\n/save %s\n", path[0]);
    struct run r = RUN(in, "chat", "-m", room_dir, "--template", "pocket", "-n", most,
      "--ignore-eos", "--temperature", "3", "--seed", most);
    ends_well(&r, 0);
    read_whole(path[0], text[0], sizeof text[0]);
    json_t *turn = json_loads(strchr(text[0], '\n') + 1, JSON_ALLOW_NUL, NULL);
    const json_t *bytes = json_object_get(turn, "hex"), *said = json_object_get(turn, "content");
    if (bytes != NULL) {
      broken++;
      ck_assert_uint_eq(json_string_length(bytes) / 2, r.n_out - 1);
      for (size_t k = 0; k + 1 < r.n_out; k++)
        ck_assert_int_eq(hex_byte(json_string_value(bytes) + 2 * k), (unsigned char) r.out[k]);
    } else
      ck_assert(json_string_length(said) == r.n_out - 1
        && memcmp(json_string_value(said), r.out, r.n_out - 1) == 0);
    json_decref(turn), done(&r);
  }
  ck_assert_msg(broken > 0 && broken < 19, "%zu", broken);
  static const char *const bad[] = { "\"4\"", "\"4g\"", "4", "null" };
  for (int i = 0; i < 4; i++) {
    FILE *f = fopen(path[0], "w");
    fprintf(f, "{\"role\":\"user\",\"content\":\"x\",\"hex\":%s}\n", bad[i]);
    fclose(f);
    snprintf(in, sizeof in, "/load %s\n", path[0]);
    struct run r = RUN(in, "chat");
    ends_well(&r, 1);
    says(&r, "the hex of a turn is no list of bytes; wanted: two digits for each");
    done(&r);
  }
  for (int i = 0; i < 2; i++) unlink(path[i]);
}
END_TEST
/* a turn of several lines, and what is taken back or asked for anew */
START_TEST(turns_of_several_lines_undone_and_repeated)
{
  struct run a = RUN("Hello!\nThank you!\n", "chat", "--stats"), r;
  uint64_t m, n;
  r = RUN("\"\"\"Hello!\"\"\"\n\"\"\"\nThank\nyou!\"\"\"\n", "chat", "--stats");
  ends_well(&r, 0);
  ck_assert(strncmp(r.out, a.out, strcspn(a.out, "\n")) == 0);
  const char *x = next_number(a.err, "tokens   ", &m), *y = next_number(r.err, "tokens   ", &n);
  ck_assert_uint_eq(m, n);
  next_number(x, "tokens   ", &m), next_number(y, "tokens   ", &n);
  ck_assert_msg(n >= m + 1, "a line break more: %s", r.err);
  done(&r);
  /* the line breaks beside the marks are those of the marks, the others are said */
  static const char *const same[] = { "\"\"\"\nHello!\n\"\"\"\n", "\"\"\"Hello!\n\"\"\"\n",
    "\"\"\"\n\"\"\"\n\"\"\"\"\"\"\nHello!\n" };
  struct run plain = RUN("Hello!\n", "chat", "--stats");
  next_number(plain.err, "tokens   ", &m);
  for (int i = 0; i < 3; i++) {
    r = RUN(same[i], "chat", "--stats");
    ends_well(&r, 0), next_number(r.err, "tokens   ", &n);
    ck_assert_msg(strcmp(r.out, plain.out) == 0 && m == n, "%s: %s%s", same[i], r.out, r.err);
    done(&r);
  }
  done(&plain);
  r = RUN("\"\"\"\n\nHello!\n\n\"\"\"\n", "chat", "--stats");
  ends_well(&r, 0), next_number(r.err, "tokens   ", &n);
  ck_assert_uint_gt(n, m);
  done(&r);
  static const char *const no_order[] = { "\"\"\"\n/help\n\"\"\"\n", "\"\"\"/help\"\"\"\n" };
  for (int i = 0; i < 2; i++) {
    r = RUN(no_order[i], "chat");
    ck_assert(r.status == 0 && r.n_out > 0 && r.n_err == 0);
    done(&r);
  }
  r = RUN("\"\"\"\nHello!\n", "chat");
  ends_well(&r, 1);
  says(&r, "the input ends within a text of several lines");
  done(&r);
  /* /undo: as if the question had never been asked */
  r = RUN("Hello!\nWhat does the fox say?\n/undo\nThank you!\n", "chat", "--stats");
  ends_well(&r, 0);
  char *second = strchr(a.out, '\n') + 1;
  ck_assert_msg(strcmp(r.out + r.n_out - strlen(second), second) == 0, "%s%s", a.out, r.out);
  x = next_number(a.err, "tokens   ", &m), x = next_number(x, "tokens   ", &m);
  y = next_number(r.err, "tokens   ", &n), y = next_number(y, "tokens   ", &n),
  next_number(y, "tokens   ", &n);
  ck_assert_uint_eq(m, n);
  done(&r);
  r = RUN("/undo\n/regen\n/stats\nHello!\n/undo\n/undo\n", "chat");
  ends_well(&r, 0);
  ck_assert_str_eq(r.err, "incipit: nothing has been asked yet\nincipit: nothing has been asked "
                          "yet\nincipit: nothing has been asked yet\nincipit: nothing has been "
                          "asked yet\n");
  done(&r);
  /* /regen: greedy the same, with a hint; drawn, as the next sequence of the same seed */
  r = RUN("Hello!\n/regen\n", "chat");
  ends_well(&r, 0);
  says(&r, "incipit: hint: the likeliest tokens are the same each time");
  size_t line = strcspn(r.out, "\n") + 1;
  ck_assert(r.n_out == 2 * line && memcmp(r.out, r.out + line, line) == 0);
  done(&r);
  r = RUN("Tell me a story.\n/regen\n/regen\n", "chat", "--temp", "1", "-s", "5", "-n", "12");
  ends_well(&r, 0);
  ck_assert_uint_eq(r.n_err, 0);
  char *one = r.out, *two = strchr(one, '\n') + 1, *three = strchr(two, '\n') + 1;
  ck_assert(strncmp(one, two, (size_t) (two - one)) != 0
    && strncmp(two, three, (size_t) (three - two)) != 0);
  done(&r);
  r = RUN("Hello!\n/stats\n", "chat");
  ends_well(&r, 0);
  says(&r, "rows_read                    8 rows\n");
  done(&r), done(&a);
  /* /system begins another talk, with these words first; without words, without */
  make_room();
  struct run s = RUN("The cat\n", "chat", "-m", room_dir, "--template", "chatml", "-n", "3",
    "--stats", "--system", "Be brief.");
  r = RUN("The cat\n/system Be brief.\nThe cat\n/system\nThe cat\n", "chat", "-m", room_dir,
    "--template", "chatml", "-n", "3", "--stats");
  ends_well(&r, 0);
  uint64_t bare;
  next_number(s.err, "tokens   ", &m);
  x = next_number(r.err, "tokens   ", &bare), x = next_number(x, "tokens   ", &n);
  ck_assert_uint_eq(m, n);
  next_number(x, "tokens   ", &n);
  ck_assert_uint_eq(n, bare);
  done(&r), done(&s);
  r = RUN("/system Be brief.\nHello!\n", "chat");
  ends_well(&r, 1), says(&r, "has no place for a system turn");
  done(&r);
}
END_TEST
START_TEST(lines_with_a_slash_are_for_us)
{
  struct run a = RUN("Hello!\n", "chat"), b = RUN("What does the fox say?\n", "chat"),
             c = RUN("Hello!\nWhat does the fox say?\n", "chat"), r;
  char wanted[512];
  r = RUN("\n  \n\t\r\nHello!\n\n/help\n/nothing\x1b[2J\nWhat does the fox say?", "chat");
  ends_well(&r, 0);
  ck_assert_str_eq(r.out, c.out);
  says(&r, "/help         this list\n");
  says(&r, "/new ");
  says(&r, "/quit ");
  says(&r, "there is no /nothing");
  says(&r, "; /help lists what there is");
  ck_assert(strchr(r.err, '\x1b') == NULL);
  done(&r);
  snprintf(wanted, sizeof wanted, "%s%s", a.out, b.out);
  r = RUN("Hello!\n/new \r\nWhat does the fox say?\n/quit\nHello!\n", "chat", "--stats");
  ends_well(&r, 0);
  ck_assert_str_eq(r.out, wanted);
  says(&r, "rows_read                    9 rows\n"); /* the mark at the beginning and User: are there */
  done(&r);
  r = RUN("//help\n", "chat", "--stats");
  struct run s = RUN("/ help\n", "chat");
  ends_well(&r, 0);
  ck_assert(r.n_out > 1 && strstr(r.err, "this list") == NULL && s.n_out == 0);
  done(&r), done(&s);
  r = RUN("", "chat"), ends_well(&r, 0), ck_assert(r.n_out == 0 && r.n_err == 0), done(&r);
  r = RUN("Hello!\r\nWhat does the fox say?\r", "chat",
    "--stats"); /* a file from elsewhere: the carriage return is not said */
  ends_well(&r, 0);
  ck_assert_str_eq(r.out, c.out);
  says(&r, "tokens                       8 + ");
  done(&r);
  static const char nul[] =
    "/quit\0\n\0\n"; /* a byte that is zero is no blank: no order, and a turn */
  static const char *const argv[] = { "incipit", "chat", NULL };
  r = run_with(argv, nul, sizeof nul - 1, 0);
  ends_well(&r, 0), says(&r, "there is no /quit");
  ck_assert(r.n_out > 0);
  done(&r);
  r = RUN("/bye\n/clear x\n/byes\n", "chat");
  ends_well(&r, 0), says(&r, "there is no /bye; /quit ends\n"), says(&r, "there is no /clear x; /new forgets the talk\n");
  says(&r, "there is no /byes; /help lists what there is\n");
  done(&r);
  r = RUN(
    "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa9\n", "chat"); /* 40 bytes end within a letter */
  ends_well(&r, 0), says(&r, "there is no /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...; /help");
  done(&r);
  done(&a), done(&b), done(&c);
}
END_TEST
START_TEST(a_template_is_known_or_named)
{
  char path[4200];
  struct run r = RUN("Hello!\n", "chat", "--template", "gpt");
  ends_well(&r, 2);
  says(&r, "there is no template gpt; the names are chatml");
  done(&r);
  r = RUN("Hello!\n", "chat", "--template", "chatml");
  ends_well(&r, 1);
  says(&r, "the template chatml wants the token <|im_start|>");
  ck_assert(r.n_out == 0);
  done(&r);
  r = RUN("Hello!\n", "chat", "--system", "Be brief.");
  ends_well(&r, 1);
  says(&r, "the template pocket has no place for a system turn");
  done(&r);
  r = RUN("Hello!\n", "chat", "-m", "models/pocket");
  ends_well(&r, 1);
  says(&r, "models/pocket: has no chat template; its name may be given: chatml");
  says(&r, "; --template NAME or --chat-template FILE gives one, and to continue a text none is needed");
  done(&r);
  r = RUN("Hello!\n", "chat", "-m", "tests/golden/llama", "--template", "chatml");
  ends_well(&r, 1);
  says(&r, "tokenizer");
  done(&r);
  make_room();
  snprintf(path, sizeof path, "%s/chat_template.jinja", room_dir);
  FILE *f = fopen(path, "w");
  fprintf(f, "{{ messages"), fclose(f);
  r = RUN("Hello!\n", "chat", "-m", room_dir);
  ends_well(&r, 1);
  says(&r, "chat_template.jinja: line 1: the end of the expression is wanted");
  done(&r);
  /* another template would mend nothing if the tools cannot be read, or if this one was asked for */
  for (int i = 0; i < 2; i++) {
    r = i == 0 ? RUN("Hello!\n", "chat", "-m", room_dir, "--tools", "/nowhere/tools.json") : RUN("Hello!\n", "chat", "--chat-template", "/nowhere/t.jinja");
    ends_well(&r, 1);
    says(&r, i == 0 ? "/nowhere/tools.json: cannot be opened" : "/nowhere/t.jinja: cannot be opened");
    ck_assert_msg(strstr(r.err, "gives one") == NULL, "%s", r.err);
    done(&r);
  }
  /* a program that nobody knows is run, and one that does not suit the talk says so itself */
  f = fopen(path, "w");
  fprintf(f, "{%%- for message in messages %%}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] +"
    " '<|im_end|>' }}{%% if message.role == 'system' %%}{{ raise_exception('no orders, please') }}{%% endif %%}{%% endfor %%}"), fclose(f);
  r = RUN("The cat\n", "chat", "-m", room_dir, "-n", "3");
  ends_well(&r, 0);
  done(&r);
  r = RUN("The cat\n", "chat", "-m", room_dir, "-n", "3", "--system", "Run!");
  ends_well(&r, 1);
  says(&r, "chat_template.jinja: the template says: no orders, please");
  done(&r);
  f = fopen(path, "w");
  fprintf(f, "{{ messages|nope }}"), fclose(f);
  r = RUN("Hello!\n", "chat", "-m", room_dir);
  ends_well(&r, 1);
  says(&r, "line 1: the filter `nope' is not known here");
  done(&r);
  r = RUN("The cat\n", "chat", "-m", room_dir, "--template", "chatml", "-n", "3", "--stats");
  struct run s = RUN("The cat\n", "chat", "-m", room_dir, "--template", "chatml", "-n", "3",
    "--stats", "--system", "Be brief.");
  uint64_t n, more;
  ends_well(&r, 0), ends_well(&s, 0);
  next_number(r.err, "tokens   ", &n), next_number(s.err, "tokens   ", &more);
  ck_assert_uint_gt(more, n);
  done(&r), done(&s), unlink(path);
  /* a file with nothing but the template is read as well */
  snprintf(path, sizeof path, "%s/chat_template.json", room_dir);
  json_t *given = json_pack("{s:s}", "chat_template", "{% for message in messages %}{{'<|im_start|>' +"
    " message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if"
    " add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}");
  ck_assert(json_dump_file(given, path, 0) == 0), json_decref(given);
  r = RUN("The cat\n", "chat", "-m", room_dir, "-n", "3");
  s = RUN("The cat\n", "chat", "-m", room_dir, "-n", "3", "--template", "chatml");
  ends_well(&r, 0), ends_well(&s, 0);
  ck_assert_str_eq(r.out, s.out);
  done(&r), done(&s);
  r = RUN("", "generate", "-m", room_dir, "-n", "1", "The");
  says(&r, "has a chat template");
  done(&r), unlink(path);
}
END_TEST
START_TEST(the_same_seed_is_the_same_talk)
{
  static const char in[] = "Tell me a story.\nWhat happened then?\n";
  struct run a = RUN(in, "chat", "--temp", "1", "-s", "5"),
             b = RUN(in, "chat", "--temp", "1", "-s", "5", "-t", "2"),
             c = RUN(in, "chat", "--temp", "1", "-s", "6");
  ends_well(&a, 0);
  ck_assert_str_eq(a.out, b.out);
  ck_assert_str_ne(a.out, c.out);
  done(&a), done(&b), done(&c);
  a = RUN("Hello!\n/new\nHello!\n", "chat", "--temp", "1", "-s",
    "5"); /* and a talk that was forgotten leaves nothing behind */
  ck_assert(a.n_out % 2 == 0 && memcmp(a.out, a.out + a.n_out / 2, a.n_out / 2) == 0);
  done(&a);
}
END_TEST
START_TEST(every_refusal_of_memory_is_survived)
{
  static const char in[] = "Hello!\nThank you!\n/new\nHi\n";
  static const char *const argv[] = { "incipit", "chat", "-n", "3", "--logit-bias", "5=1", "--stop",
    "zzz", NULL };
  struct run good = run_with(argv, in, sizeof in - 1, 0);
  uint64_t n = good.m.all.requests;
  ends_well(&good, 0);
  for (uint64_t k = 1; k <= n; k++) {
    struct run r = run_with(argv, in, sizeof in - 1, k);
    ck_assert_msg((r.status == 0 && strcmp(r.out, good.out) == 0)
        || (r.status <= 1 && strncmp(r.err, "incipit: ", 9) == 0
          && strchr(r.err, '\n') == r.err + r.n_err - 1),
      "request %lu: status %d, %s%s", (unsigned long) k, r.status, r.out, r.err);
    done(&r);
  }
  ck_assert_uint_gt(n, 100);
  done(&good);
}
END_TEST

/* ---- an editor that is not one */
static const char *const *typed;
static int editors;
static char prompts[16];
static struct editor *fake_open(
  struct memory *m, FILE *in, FILE *out, FILE *err, const char *prompt, struct error *why)
{
  (void) m, (void) in, (void) out, (void) err;
  snprintf(prompts, sizeof prompts, "%s", prompt);
  if (typed == NULL) {
    error_say(why, "no terminal today");
    return NULL;
  }
  editors++;
  return (struct editor *) &typed;
}
static enum asked fake_ask(struct editor *e, const char **line, size_t *n)
{
  (void) e;
  if (*typed == NULL) return ASKED_END;
  *line = *typed++, *n = strlen(*line);
  return (*line)[0] == '^' ? ASKED_DROPPED : ASKED_LINE;
}
static void fake_close(struct editor *e)
{
  (void) e;
  editors--;
}
START_TEST(lines_come_from_the_editor_at_a_terminal)
{
  static const struct editing fake = { fake_open, fake_ask, fake_close };
  struct run c = RUN("Hello!\nWhat does the fox say?\n", "chat");
  static const char *const line[] = { "Hello!", "^C", "What does the fox say?", NULL };
  edit = &fake, typed = line;
  struct run r = RUN("Thank you!\n", "chat");
  ends_well(&r, 0);
  ck_assert_str_eq(r.out, c.out);
  ck_assert_str_eq(prompts, "> ");
  ck_assert_int_eq(editors, 0);
  says(&r, "template pocket; /help");
  done(&r);
  typed = NULL;
  r = RUN("Hello!\n", "chat");
  ends_well(&r, 1);
  says(&r, "incipit: no terminal today\n");
  done(&r), done(&c);
  edit = NULL;
}
END_TEST
/* a stream whose first write is interrupted by a signal, as one to a slow terminal may be */
struct slow { char text[64]; size_t n; int interruptions; };
static ssize_t slow_write(void *ctx, const char *byte, size_t n)
{
  struct slow *s = ctx;
  if (s->interruptions > 0) return s->interruptions--, errno = EINTR, -1;
  memcpy(s->text + s->n, byte, n), s->n += n;
  return (ssize_t) n;
}
START_TEST(an_interrupted_write_is_no_failure)
{
  struct slow s = { .interruptions = 1 };
  FILE *out = fopencookie(&s, "w", (cookie_io_functions_t) { .write = slow_write });
  struct console c = { .out = out, .err = stderr };
  setvbuf(out, NULL, _IOLBF, 32);
  fputs("The cat sat\n", out);   /* the line's end is the first write */
  ck_assert(ferror(out));
  ck_assert(console_flush(&c) && !ferror(out));
  fputs("on\n", out);
  ck_assert(console_flush(&c) && s.n >= 3 && memcmp(s.text + s.n - 3, "on\n", 3) == 0);
  ck_assert_int_eq(console_end(&c, 0), 0);
  fclose(out);
}
END_TEST

/* ---- a real terminal */
static char screen[65536];
static size_t shown;
static bool more(int fd) /* reads what comes next; none: the terminal is gone, the screen is full,
                            or two minutes are over */
{
  struct pollfd p = { .fd = fd, .events = POLLIN };
  size_t n = strlen(screen);
  ssize_t k = poll(&p, 1, 120000) > 0 ? read(fd, screen + n, sizeof screen - 1 - n) : 0;
  return k > 0;
}
static bool wait_for(int fd,
  const char *words) /* what has come behind the last words we waited for; a sign, never a time */
{
  for (;;) {
    char *at = strstr(screen + shown, words);
    if (at != NULL) {
      shown = (size_t) (at - screen) + strlen(words);
      return true;
    }
    if (!more(fd)) return false;
  }
}
static bool wait_for_text(
  int fd, size_t n) /* so many letters, whatever they say, have come behind those words */
{
  for (;;) {
    size_t letters = 0;
    for (const char *c = screen + shown; *c != '\0'; c++)
      letters += isalpha((unsigned char) *c) != 0;
    if (letters >= n) return true;
    if (!more(fd)) return false;
  }
}
static const char *last_of_screen(void)
{
  size_t n = strlen(screen);
  return screen + (n > 1500 ? n - 1500 : 0);
} /* a message of Check is short */
static void press(int fd, const char *keys)
{
  ck_assert(write(fd, keys, strlen(keys)) == (ssize_t) strlen(keys));
}
#define SEES(fd, words)                                                                            \
  ck_assert_msg(wait_for(fd, words), "wanted: %s; the screen:\n%s", words, last_of_screen())
START_TEST(a_line_is_edited_and_an_answer_stopped)
{
  enum { WHOLE = 1200 - 8 + 1 }; /* tokens of an answer that nobody stops */
  int fd, status;
  char path[4200];
  snprintf(path, sizeof path, "%s/incipit", build_dir());
  memset(screen, 0, sizeof screen), shown = 0;
  pid_t pid = forkpty(&fd, NULL, NULL, NULL);
  ck_assert(pid >= 0);
  if (pid == 0) {
    setenv("TERM", "xterm", 1), setenv("HOME", "/nowhere", 1);
    execl(path, "incipit", "chat", "--temp", "1", "--ignore-eos", "--stats", "-c", "1200",
      (char *) NULL);
    _exit(99);
  }
  SEES(fd, "> ");
  press(fd, "ello!\033[D\033[D\033[D\033[D\033[DH\r"); /* five times to the left, and the letter
                                                          that was missing */
  SEES(fd, "tokens                       8 + "); /* what arrived is Hello! */
  SEES(fd, "rows_read                    8 rows\r\n");
  SEES(fd, "> ");
  press(fd, "what nobody wants\003");
  SEES(fd, "^C");
  SEES(fd, "> ");
  size_t written = 0, full;
  for (int tries = 0; tries < 8; tries++) { /* Ctrl-C stops an answer that has begun; it may come
                                               too late for one, but not for eight */
    press(fd, "/new\r");
    SEES(fd, "> ");
    press(fd, "\033[A\033[A\r"); /* the line before the last again */
    SEES(fd, "Hello!");
    SEES(fd, "\r\n");
    ck_assert_msg(wait_for_text(fd, 5), "no answer; the screen:\n%s", last_of_screen());
    press(fd, "\003");
    SEES(fd, "tokens                       8 + ");
    SEES(fd, "\r\n");
    written = strtoul(strstr(strstr(screen + shown - 20, "8 + "), "+") + 1, NULL, 10);
    SEES(fd, "> ");
    if (written < WHOLE) break;
  }
  ck_assert_uint_lt(written, WHOLE);
  press(fd, "/new\r");
  SEES(fd, "> ");
  press(fd,
    "Gr\xc3\xbc\xc3\x9f"
    "e\r"); /* letters of two bytes; and what was stopped is forgotten: this answer is as long as
               can be */
  SEES(fd,
    "Gr\xc3\xbc\xc3\x9f"
    "e");
  SEES(fd, "tokens ");
  SEES(fd, " + ");
  SEES(fd, "\r\n");
  for (full = shown - 3; screen[full] != '+'; full--)
    ;
  ck_assert_uint_gt(strtoul(screen + full + 1, NULL, 10), WHOLE - 10);
  SEES(fd, "> ");
  press(fd, "\004");
  wait_for(fd, "nothing more comes");
  ck_assert(waitpid(pid, &status, 0) == pid);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x\n%s", (unsigned) status,
    last_of_screen());
  close(fd);
}
END_TEST
START_TEST(nobody_reads_any_more)
{
  char script[9000];
  snprintf(script, sizeof script,
    "printf 'Hello!\\nThank you!\\n' | %s/incipit chat > /dev/full 2> %s/tests/chat.err",
    build_dir(), build_dir());
  ck_assert_int_eq(WEXITSTATUS(system(script)), 1);
  snprintf(script, sizeof script,
    "[ $(wc -l < %s/tests/chat.err) = 1 ] && grep -q 'the output cannot be written' "
    "%s/tests/chat.err",
    build_dir(), build_dir());
  ck_assert_int_eq(WEXITSTATUS(system(script)), 0);
}
END_TEST

/* ---- the edges: times by a clock of our own, a second answer, orders that are too long ------- */

static unsigned clock_is_ours, looks;
int clock_gettime(clockid_t which, struct timespec *now)
{
  if (!clock_is_ours || which != CLOCK_MONOTONIC)
    return (int) syscall(SYS_clock_gettime, which, now);
  unsigned k = ++looks, ms = k * k; /* the k-th look says k * k milliseconds */
  *now = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
  return 0;
}
/* looks 1 and 2 are about loading; a turn looks once when it begins and once for every token.  The
   rows that a turn reads are its own, and so is its time; a turn of one token has no rate. */
START_TEST(what_a_turn_cost_is_its_own)
{
  static const char *const most[] = { "1", "2", "3", "50" };
  for (int i = 0; i < 4; i++) {
    clock_is_ours = 1, looks = 0;
    struct run r = RUN("Hello!\nThank you!\nHello!\n", "chat", "-n", most[i], "--stats");
    clock_is_ours = 0;
    ends_well(&r, 0);
    const char *at = r.err;
    size_t look = 3;
    for (int turn = 0; turn < 3; turn++) {
      uint64_t given, read, rows;
      at = next_number(at, "tokens   ", &given);
      uint64_t wrote = strtoull(strchr(at, '+') + 1, NULL, 10);
      at = next_number(at, "rows_read ", &read), at = next_number(at, "rows  ", &rows);
      ck_assert_uint_eq(rows, read + wrote - 1);
      ck_assert_msg(turn == 0 ? read == given : read < given, "%s", r.err);
      char told[200];
      int n = sprintf(told, "%-28s %.2f ms\n", "time_to_first_token_ms", 2.0 * (double) look + 1);
      double first = (double) ((look + 1) * (look + 1)),
             last = (double) ((look + wrote) * (look + wrote));
      if (wrote > 1)
        sprintf(told + n, "%-28s %.2f tokens/s\n", "decode_tokens_per_second",
          1e3 * ((double) wrote - 1) / (last - first));
      at = strchr(at, '\n') + 1;
      ck_assert_msg(
        strncmp(at, told, strlen(told)) == 0, "turn %d: %s; wanted: %s", turn, at, told);
      at += strlen(told);
      ck_assert_msg(*at == '\0' || strncmp(at, "tokens   ", 9) == 0, "%s", at);
      look += wrote + 1;
    }
    done(&r);
  }
}
END_TEST

/* a turn that does not fit, or an order that nobody knows, is forgotten: what follows is as if it
   had not been said, with its statistics, and so is a talk behind /new. At a terminal, that is: from
   a pipe a turn that does not fit ends the talk */
START_TEST(what_is_refused_was_never_said)
{
#define FOX "What does the fox say? What does the fox say? What does the fox say? "
  static const struct editing fake = { fake_open, fake_ask, fake_close };
  static const char long_turn[] = FOX FOX FOX;
  char tabs[] = "/help \t\n\t\n/new\t \t\nThank you!\n/quit \t\nHello!\n";
  struct run a = RUN("Hello!\nThank you!\n", "chat", "-c", "60", "--stats"), b;
  for (int k = 0; k < 3; k++) {
    const char *line[] = { long_turn, "Hello!", long_turn, "/what", "Thank you!", NULL };
    if (k == 1) line[0] = "";
    if (k == 2) line[2] = "";
    edit = &fake, typed = line;
    b = RUN("", "chat", "-c", "60", "--stats");
    edit = NULL;
    ends_well(&b, 0), says(&b, "the context holds 60"), says(&b, "there is no /what");
    ck_assert_str_eq(b.out, a.out);
    const char *x = a.err, *y = b.err;
    for (int turn = 0; turn < 2; turn++)
      for (int f = 0; f < 3; f++) {
        static const char *const field[] = { "tokens   ", "rows_read ", "rows  " };
        uint64_t m, n;
        x = next_number(x, field[f], &m), y = next_number(y, field[f], &n);
        ck_assert_msg(m == n, "%s: %lu, %lu", field[f], (unsigned long) m, (unsigned long) n);
      }
    ck_assert(strstr(y, "tokens   ") == NULL);
    done(&b);
  }
  done(&a);
  a = RUN("Thank you!\n", "chat", "--stats");
  b = RUN(tabs, "chat", "--stats");
  ends_well(&b, 0), says(&b, "/help         this list\n");
  ck_assert_str_eq(b.out, a.out);
  uint64_t m, n;
  next_number(a.err, "tokens   ", &m), next_number(b.err, "tokens   ", &n);
  ck_assert_uint_eq(m, n);
  ck_assert(strstr(b.err, "there is no") == NULL);
  done(&a), done(&b);
  a = RUN("Hello!\nThank you!\nHello!\n", "chat", "--stats");
  b = RUN("Hello!\n/new\nHello!\nThank you!\nHello!\n", "chat", "--stats");
  const char *x = a.err, *y = next_number(b.err, "tokens   ", &n);
  for (int turn = 0; turn < 3; turn++) {
    x = next_number(x, "tokens   ", &m), y = next_number(y, "tokens   ", &n);
    ck_assert_uint_eq(m, n);
  }
  size_t line = strcspn(a.out, "\n") + 1;
  ck_assert(strncmp(b.out, a.out, line) == 0);
  ck_assert_str_eq(b.out + line, a.out);
  done(&a), done(&b);
}
END_TEST

/* what the system says stands in front of every talk, also behind /new, and counts once */
START_TEST(a_system_speaks_in_every_talk)
{
  make_room();
  uint64_t n[4], bare;
  static const char in[] = "The cat\n/new\nThe cat\n/new\n/new\nThe cat\n";
  struct run r = RUN(in, "chat", "-m", room_dir, "--template", "chatml", "-n", "3", "--stats",
    "--system", "Be brief.");
  struct run s =
    RUN("The cat\n", "chat", "-m", room_dir, "--template", "chatml", "-n", "3", "--stats");
  ends_well(&r, 0), ends_well(&s, 0);
  const char *at = r.err;
  for (int k = 0; k < 3; k++) at = next_number(at, "tokens   ", &n[k]);
  next_number(s.err, "tokens   ", &bare);
  ck_assert_msg(n[0] > bare && n[1] == n[0] && n[2] == n[0], "%s%s", r.err, s.err);
  size_t line = strcspn(r.out, "\n") + 1;
  ck_assert(r.n_out == 3 * line && memcmp(r.out, r.out + line, 2 * line) == 0);
  done(&r), done(&s);
}
END_TEST

/* the first forty bytes of an order are told, whole letters only: of one to four bytes, at each
   place around the fortieth */
START_TEST(an_order_is_told_in_whole_letters)
{
  static const char *const letter[] = { "b", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };
  for (int i = 0; i < 4; i++)
    for (size_t n = 34; n < 44; n++) {
      char in[100] = "/", want[100], buffer[100];
      memset(in + 1, 'a', n - 1), in[n] = '\0';
      strcat(in, letter[i]), strcat(in, "zzzzzz");
      size_t k = n + strlen(letter[i]) <= 40 ? 40 : n < 40 ? n : 40;
      if (k > strlen(in)) k = strlen(in);
      snprintf(want, sizeof want, "there is no %.*s%s; /help", (int) k, in, k < strlen(in) ? "..." : "");
      snprintf(buffer, sizeof buffer, "%s\n", in);
      struct run r = RUN(buffer, "chat");
      ends_well(&r, 0), says(&r, want);
      done(&r);
    }
}
END_TEST

/* a new talk draws what the first one drew, however often an answer was repeated in between */
START_TEST(a_new_talk_draws_as_the_first)
{
  struct run a = RUN("Tell me a story.\n", "chat", "--temp", "1", "-s", "5", "-n", "12"),
             b = RUN("Tell me a story.\n/regen\n", "chat", "--temp", "1", "-s", "5", "-n", "12"),
             r = RUN("Tell me a story.\n/regen\n/new\nTell me a story.\n", "chat", "--temp", "1", "-s", "5", "-n", "12");
  char wanted[2000];
  ends_well(&r, 0);
  snprintf(wanted, sizeof wanted, "%s%s", b.out, a.out);
  ck_assert_str_eq(r.out, wanted);
  ck_assert(strncmp(b.out, a.out, a.n_out) == 0 && strcmp(b.out + a.n_out, a.out) != 0);
  done(&a), done(&b), done(&r);
}
END_TEST

/* a question that is taken back after old turns were forgotten can be asked again, with the same answer; and turns are
   forgotten only for the room that an answer is given */
START_TEST(what_is_forgotten_is_not_taken_back)
{
  struct run a = RUN("Hello!\nWhat does the fox say?\n", "chat", "-c", "24", "-q"), b = RUN("What does the fox say?\n", "chat");
  struct run r = RUN("Hello!\nWhat does the fox say?\n/undo\nWhat does the fox say?\n", "chat", "-c", "24", "--stats");
  char wanted[2000], context[24];
  uint64_t n[3];
  const char *at = r.err;
  ends_well(&r, 0);
  snprintf(wanted, sizeof wanted, "%s%s", a.out, b.out);
  ck_assert_str_eq(r.out, wanted);
  for (int i = 0; i < 3; i++) at = next_number(at, "tokens   ", &n[i]);
  ck_assert_uint_eq(n[2], n[1]);
  done(&a), done(&b), done(&r);
  for (int times = 3; times < 9; times++) { /* and where some turns are left before it */
    char in[200] = "";
    uint64_t given[10];
    for (int i = 0; i < times; i++) strcat(in, "Hello!\n");
    strcat(in, "/undo\nHello!\n");
    r = RUN(in, "chat", "-c", "64", "--stats");
    at = r.err;
    for (int i = 0; i <= times; i++) at = next_number(at, "tokens   ", &given[i]);
    ck_assert_uint_eq(given[times], given[times - 1]);
    done(&r);
  }
  r = RUN("Hello!\nWhat does the fox say?\n", "chat", "-n", "1", "--stats");
  at = r.err;
  for (int i = 0; i < 2; i++) at = next_number(at, "tokens   ", &n[i]);
  for (int less = 0; less < 2; less++) {
    snprintf(context, sizeof context, "%d", (int) n[1] - less);
    a = RUN("Hello!\nWhat does the fox say?\n", "chat", "-n", "1", "-c", context);
    ends_well(&a, 0);
    ck_assert_msg((strstr(a.err, "are forgotten") != NULL) == (less == 1), "%s: %s", context, a.err);
    done(&a);
  }
  done(&r);
}
END_TEST

/* at a terminal a talk goes on behind an order that is refused: with the system as it was, without half a file; and a file has
   the system's turn */
START_TEST(a_refused_order_changes_nothing)
{
  static const struct editing fake = { fake_open, fake_ask, fake_close };
  char program[4200], path[4200], half[4200], text[4096], same[4096], line[3][14000];
  make_room();
  snprintf(program, sizeof program, "%s/some.jinja", room_dir);
  snprintf(path, sizeof path, "%s/kept.jsonl", room_dir), snprintf(half, sizeof half, "%s/half.jsonl", room_dir);
  FILE *f = fopen(program, "w");
  fputs("{% for m in messages %}{% if m.content == 'bad' %}{{ raise_exception('no') }}{% endif %}{{ '<|im_start|>' + m.role + '\\n' + m.content"
    " + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}", f), fclose(f);
  f = fopen(half, "w");
  fputs("{\"role\":\"user\",\"content\":\"Hi\"}\n{\"role\":\"assistant\",\"content\":\"Hi\"}\n{\"role\":\"tool\",\"content\":\"Hi\"}\n", f), fclose(f);
  snprintf(line[0], sizeof line[0], "/save\t%s", path), snprintf(line[1], sizeof line[1], "/load %s", half);
  edit = &fake, typed = (const char *const[]){ "/system bad", line[0], NULL };
  struct run r = RUN("", "chat", "-m", room_dir, "--chat-template", program, "--system", "Be brief.");
  ends_well(&r, 0), says(&r, "the template says: no");
  read_whole(path, text, sizeof text);
  ck_assert_str_eq(text, "{\"role\":\"system\",\"content\":\"Be brief.\"}\n");
  done(&r);
  typed = (const char *const[]){ line[1], line[0], NULL };
  r = RUN("", "chat", "-m", room_dir, "--chat-template", program);
  ends_well(&r, 0), says(&r, "the role `tool'");
  ck_assert_uint_eq(read_whole(path, text, sizeof text), 0);
  done(&r);
  edit = NULL;
  snprintf(line[2], sizeof line[2], "The cat\n/save %s\n/new once\n/load %s\n/save %s\n", path, path, half);
  r = RUN(line[2], "chat", "-m", room_dir, "--chat-template", program, "-n", "3", "--system", "Be brief.");
  ends_well(&r, 0), says(&r, "there is no /new once; /help");
  ck_assert(read_whole(path, text, sizeof text) == read_whole(half, same, sizeof same) && strcmp(text, same) == 0);
  ck_assert(strncmp(text, "{\"role\":\"system\"", 16) == 0 && strstr(text, "\"The cat\"") != NULL);
  done(&r), unlink(path), unlink(half), unlink(program);
}
END_TEST

int main(void)
{
  unsetenv("INCIPIT_MODEL"), setenv("OMP_NUM_THREADS", "1", 1);
  Suite *s = suite_create("chat");
  TCase *t = tcase_create("talks");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, answers_are_those_of_the_whole_text);
  tcase_add_test(t, every_talk_computes_each_row_once);
  tcase_add_test(t, templates_that_change_old_turns_are_written_anew);
  tcase_add_test(t, a_cut_answer_is_closed);
  tcase_add_test(t, an_answer_is_stopped_within_a_step);
  tcase_add_test(t, a_full_context_drops_the_oldest_turns);
  tcase_add_test(t, a_talk_is_saved_and_loaded);
  tcase_add_test(t, a_talk_is_saved_byte_for_byte);
  tcase_add_test(t, a_long_talk_reads_few_rows);
  tcase_add_test(t, turns_of_several_lines_undone_and_repeated);
  tcase_add_test(t, the_same_seed_is_the_same_talk);
  suite_add_tcase(s, t);
  t = tcase_create("lines");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, lines_with_a_slash_are_for_us);
  tcase_add_test(t, a_template_is_known_or_named);
  tcase_add_test(t, every_refusal_of_memory_is_survived);
  tcase_add_test(t, lines_come_from_the_editor_at_a_terminal);
  tcase_add_test(t, a_line_is_edited_and_an_answer_stopped);
  tcase_add_test(t, an_interrupted_write_is_no_failure);
  tcase_add_test(t, nobody_reads_any_more);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, what_a_turn_cost_is_its_own);
  tcase_add_test(t, what_is_refused_was_never_said);
  tcase_add_test(t, a_system_speaks_in_every_talk);
  tcase_add_test(t, an_order_is_told_in_whole_letters);
  tcase_add_test(t, a_new_talk_draws_as_the_first);
  tcase_add_test(t, what_is_forgotten_is_not_taken_back);
  tcase_add_test(t, a_refused_order_changes_nothing);
  tcase_add_test(t, calls_of_tools_are_seen);
  suite_add_tcase(s, t);
  return suite_run(s);
}
