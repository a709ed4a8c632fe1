/* Workshop 7: conversations, templates, marks.  The data in tests/golden/conversations come from
 * Hugging Face's library. */
#define _DEFAULT_SOURCE
#include "tokens.h"
#include <sys/stat.h>
#include "templates/conversations.h"

#define DATA "tests/golden/conversations/"
enum { MOST = 16 };
static struct error why;

/* the built-in vocabulary with the marks of all templates behind it, in the order of make.py;
 * special or not */
static const char *const marks[] = { "<s>", "</s>", "<|im_start|>", "<|im_end|>",
  "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "[INST]",
  "[/INST]" };
enum { MARKS = sizeof marks / sizeof *marks, FIRST = 2048 };
static struct tokenizer *marked(bool special)
{
  json_t *all = load("models/pocket/tokenizer.json"), *list = json_object_get(all, "added_tokens");
  for (int i = 0; i < MARKS; i++)
    json_array_append_new(list,
      json_pack("{s:i,s:s,s:b,s:b,s:b,s:b,s:b}", "id", FIRST + i, "content", marks[i],
        "single_word", 0, "lstrip", 0, "rstrip", 0, "normalized", 0, "special", special));
  char path[] = "/tmp/incipit-marks-XXXXXX";
  int at = mkstemp(path);
  ck_assert_int_ge(at, 0);
  close(at);
  ck_assert_int_eq(json_dump_file(all, path, 0), 0);
  json_decref(all);
  struct tokenizer *t = tokenizer_open(&M, path, &why);
  unlink(path);
  if (t == NULL) ck_abort_msg("%s", why.text);
  return t;
}

static size_t turns_of(json_t *c, struct turn *talk, bool *reply)
{
  json_t *list = json_object_get(c, "turns"), *one;
  size_t i;
  json_array_foreach(list, i, one)
  {
    const char *role = json_string_value(json_object_get(one, "role"));
    json_t *text = json_object_get(one, "content");
    talk[i] = (struct turn){ *role == 's' ? ROLE_SYSTEM
        : *role == 'u'                    ? ROLE_USER
                                          : ROLE_ASSISTANT,
      json_string_value(text), json_string_length(text) };
  }
  *reply = json_is_true(json_object_get(c, "reply"));
  return json_array_size(list);
}
static const struct chat_template *named(const char *name)
{
  const struct chat_template *t = chat_template_named(name, &why);
  if (t == NULL) ck_abort_msg("%s", why.text);
  return t;
}

/* a template that has no place for a system's words must refuse them; then it is asked without them
 */
static size_t written(const struct chat_template *t, struct turn **talk, size_t n, bool reply,
  struct rendered_prompt *s)
{
  if (prompt_render(&M, t, *talk, n, 0, reply, s, &why)) return n;
  if ((*talk)->who != ROLE_SYSTEM || strstr(why.text, "no place for a system turn") == NULL)
    ck_abort_msg("%s", why.text);
  ++*talk;
  if (!prompt_render(&M, t, *talk, n - 1, 0, reply, s, &why)) ck_abort_msg("%s", why.text);
  return n - 1;
}

START_TEST(texts_are_those_of_the_published_programs)
{
  json_t *all = load(DATA "conversations.json"), *texts = load(DATA "texts.json"), *c;
  unsigned good = 0, failed = 0;
  const struct chat_template *t;
  for (size_t k = 0; (t = chat_template_at(k)) != NULL; k++) {
    json_t *of = json_object_get(texts, chat_template_name(t));
    ck_assert_ptr_nonnull(of);
    size_t i;
    json_array_foreach(all, i, c)
    {
      struct turn room[MOST], *talk = room;
      bool reply;
      size_t n = turns_of(c, talk, &reply);
      struct rendered_prompt s;
      written(t, &talk, n, reply, &s);
      json_t *want = json_object_get(of, json_string_value(json_object_get(c, "name")));
      ck_assert_ptr_nonnull(want);
      if (s.text.n == json_string_length(want)
        && memcmp(s.text.byte, json_string_value(want), s.text.n) == 0)
        good++;
      else {
        failed++;
        fprintf(stderr, "%s, %s:\n%.*s\nwanted\n%s\n", chat_template_name(t),
          json_string_value(json_object_get(c, "name")), (int) s.text.n, s.text.byte,
          json_string_value(want));
      }
      size_t at = 0; /* the parts are the text, in order, none empty */
      for (size_t p = 0; p < s.n; p++) {
        ck_assert(s.part[p].at == at && s.part[p].n > 0 && s.part[p].n <= s.text.n - at);
        at += s.part[p].n;
      }
      ck_assert_uint_eq(at, s.text.n);
      prompt_free(&M, &s);
    }
  }
  tally("conversations: texts", good, failed, 0, "");
  ck_assert_uint_eq(failed, 0);
  json_decref(all);
  json_decref(texts);
  at_peace();
}
END_TEST

/* every row of ids.tsv that has this vocabulary */
static unsigned rows_of(const char *vocabulary, struct tokenizer *v, unsigned *failed)
{
  json_t *all = load(DATA "conversations.json"), *c = NULL;
  FILE *f = fopen(DATA "ids.tsv", "r");
  ck_assert_ptr_nonnull(f);
  char *row = NULL;
  size_t space = 0, i;
  unsigned good = 0;
  while (getline(&row, &space, f) > 0) {
    char *rest = row, *template = strsep(&rest, "\t"), *voc = strsep(&rest, "\t"),
         *name = strsep(&rest, "\t");
    if (strcmp(voc, vocabulary) != 0) continue;
    json_array_foreach(
      all, i, c) if (strcmp(json_string_value(json_object_get(c, "name")), name) == 0) break;
    ck_assert_ptr_nonnull(c);
    struct turn room[MOST], *talk = room;
    bool reply, ok = true;
    struct rendered_prompt s;
    struct ids got = { 0 };
    size_t n = turns_of(c, talk, &reply), k = 0;
    n = written(named(template), &talk, n, reply, &s);
    prompt_free(&M, &s);
    if (!conversations_ids(&M, named(template), v, talk, n, 0, reply, &got, &why))
      ck_abort_msg("%s", why.text);
    for (char *one; (one = strsep(&rest, " \n")) != NULL && *one; k++)
      ok = ok && k < got.n && got.id[k] == strtoul(one, NULL, 10);
    if (ok && k == got.n)
      good++;
    else if (++*failed < 5)
      fprintf(stderr, "%s, %s, %s: %zu ids, not %zu\n", template, voc, name, got.n, k);
    ids_free(&M, &got);
  }
  free(row);
  fclose(f);
  json_decref(all);
  return good;
}

START_TEST(ids_are_those_of_apply_chat_template)
{
  unsigned failed = 0;
  struct tokenizer *v = marked(true);
  unsigned good = rows_of("built-in", v, &failed);
  tally("conversations: ids", good, failed, 0, "");
  ck_assert_uint_eq(failed, 0);
  tokenizer_close(&M, v);
  static const char *const other[] = { "qwen3", "llama2-legacy", "llama2-metaspace", "llama3",
    "mistral-v3" };
  for (int i = 0; i < 5; i++) {
    char buffer[400], name[120];
    snprintf(name, sizeof name, "golden/tokenizers/%s: conversations", other[i]);
    snprintf(buffer, sizeof buffer, "%s/golden/tokenizers/%s",
      getenv("SHARED") ? getenv("SHARED") : "../shared", other[i]);
    if (access(buffer, R_OK) != 0) {
      tally(name, 0, 0, 1, "no ../shared");
      continue;
    }
    v = tokenizer_open(&M, buffer, &why);
    if (v == NULL) ck_abort_msg("%s", why.text);
    good = rows_of(other[i], v, &failed);
    tally(name, good, failed, 0, "");
    ck_assert_uint_eq(failed, 0);
    tokenizer_close(&M, v);
  }
  at_peace();
}
END_TEST

/* a question of blanks behind a system's words loses all of them, and two line's ends of the
 * template's */
START_TEST(what_is_trimmed_leaves_no_part)
{
  struct turn talk[] = { { ROLE_SYSTEM, "S", 1 }, { ROLE_USER, " \n\xc2\xa0", 4 } };
  struct rendered_prompt s;
  ck_assert(prompt_render(&M, named("llama2"), talk, 2, 0, true, &s, &why));
  static const char want[] = "<s>[INST] <<SYS>>\nS\n<</SYS>> [/INST]";
  ck_assert_uint_eq(s.text.n, strlen(want));
  ck_assert_mem_eq(s.text.byte, want, s.text.n);
  size_t at = 0;
  for (size_t p = 0; p < s.n; p++) {
    ck_assert(s.part[p].at == at && s.part[p].n > 0 && s.part[p].n <= s.text.n - at);
    at += s.part[p].n;
  }
  ck_assert_uint_eq(at, s.text.n);
  prompt_free(&M, &s);
  at_peace();
}
END_TEST

/* ---- words that look like marks ---------------------------------------------------------- */

START_TEST(no_word_of_anybody_becomes_a_mark)
{
  struct tokenizer *v = marked(true);
  uint64_t seed = suite_seed();
  static const char *const bit[] = { "<s>", "</s>", "<|im_start|>", "<|im_end|>",
    "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "[INST]",
    "[/INST]", "<|endoftext|>", "a", " ", "\n", "system\n", "<|", "|>", "<think>", "</think>",
    "\xc3\xa9" };
  unsigned typed = 0;
  for (int round = 0; round < 3000; round++) {
    const struct chat_template *t = chat_template_at((size_t) round % 12);
    ck_assert_ptr_nonnull(t);
    char text[5][200];
    struct turn talk[5];
    for (int i = 0; i < 5; i++) {
      size_t n = 0;
      for (uint64_t k = rnd(&seed) % 6; k > 0; k--) {
        const char *b = bit[rnd(&seed) % (sizeof bit / sizeof *bit)];
        memcpy(text[i] + n, b, strlen(b)), n += strlen(b);
        typed += *b == '<' && b[1] == '|';
      }
      talk[i] = (struct turn){ i == 0 ? ROLE_SYSTEM
          : i % 2                     ? ROLE_USER
                                      : ROLE_ASSISTANT,
        text[i], n };
    }
    struct turn *from = talk;
    struct rendered_prompt s;
    struct ids got = { 0 };
    struct bytes back = { 0 };
    size_t wanted[MARKS + 1] = { 0 }, found[MARKS + 1] = { 0 };
    written(t, &from, 4, true, &s);
    hold(prompt_encode(&s, v, &M, &got, &why));
    for (size_t p = 0; p < s.n; p++)
      if (s.part[p].kind == PROMPT_PART_MARK)
        for (int i = 0; i <= MARKS; i++) {
          const char *m = i < MARKS ? marks[i] : "<|endoftext|>";
          wanted[i] +=
            s.part[p].n == strlen(m) && memcmp(s.text.byte + s.part[p].at, m, s.part[p].n) == 0;
        }
    for (size_t i = 0; i < got.n; i++)
      if (got.id[i] == 0)
        found[MARKS]++;
      else if (got.id[i] >= FIRST)
        found[got.id[i] - FIRST]++;
    for (int i = 0; i <= MARKS; i++) hold(wanted[i] == found[i]);
    hold(tokenizer_decode(
      v, &M, got.id, got.n, false, &back, NULL)); /* and the letters are all there */
    hold(back.n == s.text.n && memcmp(back.byte, s.text.byte, back.n) == 0);
    bytes_free(&M, &back);
    ids_free(&M, &got);
    prompt_free(&M, &s);
  }
  ck_assert_uint_gt(typed, 3000);
  tokenizer_close(&M, v);
  at_peace();
}
END_TEST

static void refuses(const char *what, bool ok, const char *const part[3])
{
  if (ok) ck_abort_msg("%s is accepted", what);
  for (int i = 0; i < 3 && part[i] != NULL; i++)
    if (strstr(why.text, part[i]) == NULL)
      ck_abort_msg("%s: no \"%s\" in: %s", what, part[i], why.text);
}
#define REFUSES(call, ...) refuses(#call, call, (const char *const[3]){ __VA_ARGS__ })

START_TEST(a_mark_must_be_a_special_token)
{
  struct ids got = { 0 };
  struct turn one = { ROLE_USER, "Hi", 2 };
  struct tokenizer *v = tokenizer_open(&M, "models/pocket", &why);
  ck_assert_ptr_nonnull(v);
  ck_assert(ids_push(&M, &got, 7, NULL));
  REFUSES(conversations_ids(&M, named("chatml"), v, &one, 1, 0, true, &got, &why), "chatml",
    "<|im_start|>", "special");
  REFUSES(conversations_ids(&M, named("llama2"), v, &one, 1, 0, true, &got, &why), "llama2", "<s>");
  REFUSES(conversations_ends(&M, named("llama3"), v, &got, &why), "llama3", "<|eot_id|>");
  ck_assert_uint_eq(got.n, 1);
  tokenizer_close(&M, v);
  v = marked(false);
  REFUSES(conversations_ids(&M, named("chatml"), v, &one, 1, 0, true, &got, &why), "<|im_start|>",
    "marked special");
  ck_assert_uint_eq(got.n, 1);
  tokenizer_close(&M, v);
  ids_free(&M, &got);
  at_peace();
}
END_TEST

/* ---- the order of turns, and the second one ----------------------------------------------- */

static bool goes(const char *name, const char *who, size_t from)
{
  struct turn talk[MOST];
  struct rendered_prompt s;
  size_t n = strlen(who);
  for (size_t i = 0; i < n; i++)
    talk[i] = (struct turn){ who[i] == 's' ? ROLE_SYSTEM
        : who[i] == 'u'                    ? ROLE_USER
                                           : ROLE_ASSISTANT,
      "x", 1 };
  if (!prompt_render(&M, named(name), talk, n, from, true, &s, &why)) {
    ck_assert(s.n == 0 && s.text.n == 0 && s.part == NULL);
    return false;
  }
  prompt_free(&M, &s);
  return true;
}

START_TEST(turns_come_in_their_order)
{
  static const char *const alternate[] = { "llama2", "mistral", "mistral-v1", "mistral-v3",
    "pocket" };
  for (int i = 0; i < 5; i++) {
    REFUSES(goes(alternate[i], "uu", 0), "turn 2 is the user's", alternate[i], "the assistant's");
    REFUSES(goes(alternate[i], "a", 0), "turn 1 is the assistant's", "the user's there");
    REFUSES(goes(alternate[i], "", 0), "there is none", alternate[i]);
    ck_assert(goes(alternate[i], "uau", 0));
  }
  REFUSES(goes("llama2", "suua", 0), "turn 3 is the user's");
  REFUSES(goes("llama2", "s", 0), "needs a turn of the user", "llama2");
  REFUSES(goes("mistral", "su", 0), "mistral", "no place for a system turn");
  REFUSES(goes("pocket", "su", 0), "pocket", "no place for a system turn");
  REFUSES(goes("chatml", "us", 0), "turn 2 is the system's", "another's");
  REFUSES(goes("llama3", "ss", 0), "turn 2 is the system's");
  REFUSES(goes("chatml", "", 0), "there is none");
  ck_assert(goes("chatml", "s", 0));
  ck_assert(goes("chatml", "uuaa", 0)); /* nobody has to take turns there */
  REFUSES(goes("chatml", "uau", 1), "after turn 1, which is not an answer");
  REFUSES(goes("chatml", "ua", 3), "2 turns");
  ck_assert(goes("chatml", "uau", 2));
  REFUSES(goes("qwen3", "uau", 2), "qwen3", "written again");
  REFUSES(goes("mistral-v3", "suau", 3), "mistral-v3", "written again");
  ck_assert(goes("mistral-v3", "uau", 2));
  REFUSES(chat_template_named("gpt", &why) != NULL, "gpt",
    "chatml, qwen2, qwen2.5, qwen3, smollm2, llama2, llama3, llama3.1, mistral, "
    "mistral-v1, mistral-v3, pocket");
  at_peace();
}
END_TEST

/* what is written from an answer on is the end of the whole, and before it stands the id that ended
 * the answer */
START_TEST(a_second_turn_is_the_rest_of_the_whole)
{
  struct tokenizer *v = marked(true);
  static const char *const said[] = { "Be kind.", "Hello!", "Good day.", "  And who are you?\n",
    "I am nobody.", "Oh." };
  static const uint32_t ends[] = { 0, 3, 3, 3, 3, 3, 1, 7, 7, 1, 1, 1,
    0 }; /* of the rows of the table, from 1 on */
  unsigned compared = 0;
  const struct chat_template *t;
  for (size_t k = 0; (t = chat_template_at(k)) != NULL; k++)
    for (int system = 0; system < 2; system++) {
      struct turn talk[6];
      struct rendered_prompt s;
      struct ids whole = { 0 }, rest = { 0 }, end = { 0 };
      for (int i = 0; i < 6; i++)
        talk[i] = (struct turn){ i == 0 ? ROLE_SYSTEM
            : i % 2                     ? ROLE_USER
                                        : ROLE_ASSISTANT,
          said[i], strlen(said[i]) };
      struct turn *of = talk + 1 - system;
      size_t n = 5 + (size_t) system;
      ck_assert(conversations_ends(&M, t, v, &end, &why));
      ck_assert_uint_eq(end.n, 1);
      if (k + 1 < sizeof ends / sizeof *ends - 1) ck_assert_uint_eq(end.id[0], FIRST + ends[k + 1]);
      if (prompt_render(&M, t, of, n, 0, true, &s, &why)) {
        ck_assert(prompt_encode(&s, v, &M, &whole, &why));
        prompt_free(&M, &s);
        for (size_t from = n - 3; from < n; from += 2) {
          rest.n = 0;
          bool ok = conversations_ids(&M, t, v, of, n, from, true, &rest, &why);
          ck_assert_int_eq(ok, !chat_template_rewrites(t, of, n));
          if (!ok) continue;
          hold(rest.n < whole.n && whole.id[whole.n - rest.n - 1] == end.id[0]);
          hold(memcmp(whole.id + whole.n - rest.n, rest.id, rest.n * sizeof *rest.id) == 0);
          compared++;
        }
      }
      ids_free(&M, &whole);
      ids_free(&M, &rest);
      ids_free(&M, &end);
    }
  ck_assert_uint_eq(compared,
    2
      * (2 * 12 - 2 - 2
        - 1)); /* two have no system, qwen3 rewrites, mistral-v3 where there is one */
  tokenizer_close(&M, v);
  at_peace();
}
END_TEST

/* white space is what Python 3 strips: str.isspace over all code points, by hand from its table */
START_TEST(white_space_is_pythons)
{
  static const uint32_t white[] = { 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20,
    0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008,
    0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000 };
  size_t next = 0;
  for (uint32_t c = 1; c < 0x3100; c++) {
    char text[8] = { 0 };
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
    if (n == 1)
      text[0] = (char) c;
    else {
      uint32_t d = c;
      for (size_t i = n - 1; i > 0; i--, d >>= 6) text[i] = (char) (0x80 | (d & 63));
      text[0] = (char) ((0xf00 >> n | d) & 0xff);
    }
    bool blank = next < sizeof white / sizeof *white && white[next] == c;
    next += blank;
    char both[20];
    memcpy(both, text, n), both[n] = 'x', memcpy(both + n + 1, text, n);
    struct turn one = { ROLE_USER, both, 2 * n + 1 };
    struct rendered_prompt s;
    hold(prompt_render(&M, named("llama3"), &one, 1, 0, false, &s, &why));
    size_t left = 0;
    for (size_t p = 0; p < s.n; p++)
      if (s.part[p].kind == PROMPT_PART_SAID) left = s.part[p].n;
    hold(left == (blank ? 1 : 2 * n + 1));
    prompt_free(&M, &s);
  }
  ck_assert_uint_eq(next, sizeof white / sizeof *white);
  at_peace();
}
END_TEST

/* ---- recognition -------------------------------------------------------------------------- */

static char folder[64];
static void file(const char *name, const char *text, size_t n)
{
  char path[160];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "wb");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(text, 1, n, f), n);
  fclose(f);
}
static void settings(json_t *program)
{
  json_t *all = json_pack("{s:o,s:s}", "chat_template", program, "bos_token", "<s>");
  char *text = json_dumps(all, 0);
  file("tokenizer_config.json", text, strlen(text));
  free(text);
  json_decref(all);
}
static void no_file(const char *name)
{
  char path[160];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  unlink(path);
}

START_TEST(published_programs_are_recognized)
{
  strcpy(folder, "/tmp/incipit-talk-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  json_t *all = load(DATA "templates.json"), *one;
  size_t i;
  unsigned good = 0;
  json_array_foreach(all, i, one)
  {
    json_t *program = json_object_get(one, "text");
    const char *want = json_string_value(json_object_get(one, "template")),
               *text = json_string_value(program);
    size_t n = json_string_length(program);
    bool known = *want && !json_is_true(json_object_get(one, "ours"));
    const struct chat_template *t = known ? named(want) : NULL;
    ck_assert_ptr_eq(chat_template_known(text, n), t);
    settings(json_incref(program));
    ck_assert_ptr_eq(chat_template_of(folder, &why), t);
    if (t == NULL)
      REFUSES(chat_template_of(folder, &why) != NULL, "tokenizer_config.json: chat_template",
        "or the name of one: chatml");
    settings(json_pack("[{s:s,s:s},{s:s,s:O}]", "name", "tool_use", "template", "no", "name",
      "default", "template", program));
    ck_assert_ptr_eq(chat_template_of(folder, &why), t);
    char *other = malloc(n + 2),
         *to = other; /* line's ends the other way, and one more at the end */
    for (size_t k = 0; k < n; k++)
      if (text[k] == '\\' && text[k + 1] == 'n')
        *to++ = '\n', k++;
      else
        *to++ = text[k];
    *to++ = '\n';
    settings(json_string("something else"));
    file("chat_template.jinja", other, (size_t) (to - other)); /* the file of its own counts */
    ck_assert_ptr_eq(chat_template_of(folder, &why), t);
    for (int k = 0; k < 200; k++) { /* any other character, and it is not known any more */
      size_t at = (size_t) k * 7919 % (size_t) (to - 1 - other);
      char c = other[at];
      other[at] = c == '~' ? '!' : '~';
      hold(chat_template_known(other, (size_t) (to - other)) == NULL);
      other[at] = c;
    }
    free(other);
    no_file("chat_template.jinja");
    good++;
  }
  tally("conversations: programs", good, 0, 0, "");
  json_decref(all);
  settings(json_integer(7));
  REFUSES(chat_template_of(folder, &why) != NULL, "tokenizer_config.json: chat_template is 7",
    "mistral-v3, pocket");
  settings(json_null());
  REFUSES(chat_template_of(folder, &why) != NULL, folder, "has no chat template",
    "its name may be given: chatml");
  no_file("tokenizer_config.json");
  REFUSES(chat_template_of(folder, &why) != NULL, folder, "has no chat template");
  file("tokenizer_config.json", "{", 1);
  REFUSES(chat_template_of(folder, &why) != NULL, "tokenizer_config.json");
  no_file("tokenizer_config.json");
  file("chat_template.jinja", "\xff\xfe", 2);
  REFUSES(chat_template_of(folder, &why) != NULL, "chat_template.jinja", "not a text");
  file("chat_template.jinja", "{{ x }}\x1b[2J", 11);
  REFUSES(chat_template_of(folder, &why) != NULL, "chat_template.jinja", "{{ x }}");
  ck_assert_ptr_null(strchr(why.text, '\x1b'));
  no_file("chat_template.jinja");
  rmdir(folder);
  at_peace();
}
END_TEST

START_TEST(refused_memory_leaves_nothing)
{
  struct tokenizer *v = marked(true);
  char text[3000];
  memset(text, 'a', sizeof text);
  struct turn talk[4] = { { ROLE_SYSTEM, "Be kind.", 8 }, { ROLE_USER, text, sizeof text },
    { ROLE_ASSISTANT, "<think>\nno\n</think>\n\nNo.", 24 }, { ROLE_USER, " Why? ", 6 } };
  struct ids got = { 0 };
  ck_assert(ids_push(&M, &got, 7, NULL));
  unsigned refused = 0;
  const struct chat_template *t;
  for (size_t k = 0; (t = chat_template_at(k)) != NULL; k++) {
    uint64_t held = M.all.live;
    size_t skip =
      strcmp(chat_template_name(t), "mistral") == 0 || strcmp(chat_template_name(t), "pocket") == 0;
    for (uint64_t at = 1;; at++) {
      struct memory m = { .fail_at = at };
      struct ids own = { 0 };
      bool ok = conversations_ids(&m, t, v, talk + skip, 4 - skip, 0, true, &own, &why)
        && conversations_ends(&m, t, v, &own, &why);
      ids_free(&m, &own);
      hold(m.all.live == 0);
      if (ok) break;
      refused++;
    }
    hold(M.all.live == held);
  }
  ck_assert_uint_gt(refused, 60);
  ids_free(&M, &got);
  tokenizer_close(&M, v);
  at_peace();
}
END_TEST

/* ---- the edges: thoughts with marks in them, failures in the middle -------------------------- */

/* what Python's str does with a thought: the words behind the last mark that ends one are the
   answer; those before the first, behind the last that begins one, are the thought */
static size_t last_of(const char *text, size_t n, const char *word, size_t otherwise)
{
  size_t k = strlen(word), at = otherwise;
  for (size_t i = 0; i + k <= n; i++)
    if (memcmp(text + i, word, k) == 0) at = i + k;
  return at;
}
static char *stripped(char buffer[200], const char *text, size_t n)
{
  while (n > 0 && *text == '\n') text++, n--;
  while (n > 0 && text[n - 1] == '\n') n--;
  snprintf(buffer, 200, "%.*s", (int) n, text);
  return buffer;
}
START_TEST(thoughts_are_split_as_python_splits)
{
  static const char *const bit[] = { "</think>", "<think>", "\n", "a", "b", "</thin", "think>" };
  static const char *const asked[] = { "Why?", "<tool_response>x</tool_response>",
    "<tool_response>x", "x</tool_response>", "<tool_response></tool_response>",
    "</tool_response>" };
  uint64_t seed = suite_seed() + 50;
  unsigned twice = 0;
  for (int round = 0; round < 4000; round++) {
    char text[120] = "", want[900], thought[200], answer[200];
    for (uint64_t k = rnd(&seed) % 9; k > 0; k--) strcat(text, bit[rnd(&seed) % 7]);
    const char *second = asked[rnd(&seed) % 6];
    size_t n = strlen(text), turns = 2 + rnd(&seed) % 2;
    struct turn talk[3] = { { ROLE_USER, "q", 1 }, { ROLE_ASSISTANT, text, n },
      { ROLE_USER, second, strlen(second) } };
    /* the answer is behind the last question, if what comes next is what a tool says */
    bool tool = second == asked[1] || second == asked[4], late = turns == 2 || tool;
    char *end = strstr(text, "</think>");
    size_t rest = last_of(text, n, "</think>", 0), before = end == NULL ? 0 : (size_t) (end - text);
    while (end != NULL && text[rest] == '\n') rest++;
    twice += end != NULL && strstr(end + 1, "</think>") != NULL;
    size_t from = last_of(text, before, "<think>", 0);
    stripped(thought, text + from, before - from);
    snprintf(answer, sizeof answer, "%s", text + rest);
    bool told = late && (turns == 2 || *thought != '\0');
    char *p = want + sprintf(want, "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n");
    if (told) p += sprintf(p, "<think>\n%s\n</think>\n\n", thought);
    p += sprintf(p, "%s<|im_end|>\n", answer + (told ? strspn(answer, "\n") : 0));
    if (turns == 3) sprintf(p, "<|im_start|>user\n%s<|im_end|>\n", second);
    struct rendered_prompt s;
    hold(prompt_render(&M, named("qwen3"), talk, turns, 0, false, &s, &why));
    bool same = s.text.n == strlen(want) && memcmp(s.text.byte, want, s.text.n) == 0;
    if (!same) ck_abort_msg("%s: %.*s; wanted: %s", text, (int) s.text.n, s.text.byte, want);
    prompt_free(&M, &s);
  }
  ck_assert_uint_gt(twice, 100);
  at_peace();
}
END_TEST

/* the second mark of a script is no token, or memory ends: the list is as it was, and the next
   script is right */
START_TEST(a_failed_script_leaves_no_ids)
{
  struct tokenizer *v = tokenizer_open(&M, "models/pocket", &why);
  ck_assert_ptr_nonnull(v);
  static char text[] = "ab<|endoftext|>The cat<|none|>cd";
  struct prompt_part part[] = { { PROMPT_PART_FRAME, ROLE_USER, 0, 2 },
    { PROMPT_PART_MARK, ROLE_USER, 2, 13 }, { PROMPT_PART_SAID, ROLE_USER, 15, 7 },
    { PROMPT_PART_MARK, ROLE_USER, 22, 8 }, { PROMPT_PART_SAID, ROLE_USER, 30, 2 } };
  struct rendered_prompt s = { .by = named("pocket"),
    .part = part,
    .n = 5,
    .text = { (unsigned char *) text, sizeof text - 1, sizeof text } };
  struct ids out = { 0 }, want = { 0 };
  ck_assert(ids_push(&M, &out, 7, NULL));
  REFUSES(prompt_encode(&s, v, &M, &out, &why), "pocket", "<|none|>", "marked special");
  ck_assert_msg(out.n == 1 && out.id[0] == 7, "%zu ids are left", out.n);
  s.n = 3, s.text.n = 22;
  ck_assert(prompt_encode(&s, v, &M, &out, &why) && out.n > 3);
  ck_assert(tokenizer_encode(v, &M, "ab", 2, false, false, &want, NULL));
  ck_assert(
    ids_push(&M, &want, 0, NULL) && memcmp(want.id, out.id + 1, want.n * sizeof *want.id) == 0);
  bool ok = false;
  for (uint64_t k = 1; !ok; k++) {
    struct memory m = { 0 };
    struct ids some = { 0 };
    ck_assert(ids_push(&m, &some, 7, NULL));
    m.fail_at = m.all.requests + k;
    ok = prompt_encode(&s, v, &m, &some, NULL);
    ck_assert_msg(some.n == (ok ? out.n : 1) && some.id[0] == 7, "request %lu", (unsigned long) k);
    ids_free(&m, &some);
    ck_assert_uint_eq(m.all.live, 0);
  }
  ids_free(&M, &out), ids_free(&M, &want);
  tokenizer_close(&M, v);
  at_peace();
}
END_TEST

/* a talk goes on behind its last turn, if that is an answer, and not behind one more */
START_TEST(a_talk_goes_on_behind_its_last_turn)
{
  struct turn talk[] = { { ROLE_USER, "Hi", 2 }, { ROLE_ASSISTANT, "Ho", 2 } };
  struct rendered_prompt s;
  ck_assert_msg(prompt_render(&M, named("chatml"), talk, 2, 2, true, &s, &why), "%s", why.text);
  static const char want[] = "\n<|im_start|>assistant\n";
  ck_assert(s.inside && s.text.n == strlen(want) && memcmp(s.text.byte, want, s.text.n) == 0);
  prompt_free(&M, &s);
  REFUSES(prompt_render(&M, named("chatml"), talk, 2, 3, true, &s, &why), "after turn 3");
  REFUSES(prompt_render(&M, named("chatml"), talk, 1, 2, true, &s, &why), "of 1 turns", "turn 2");
  at_peace();
}
END_TEST

/* white space of four kinds behind a published program does not count, before it it does */
START_TEST(blanks_behind_a_program_do_not_count)
{
  static const char *const tail[] = { " ", "\t", "\r", "\n", "\r\n", "\n \t\r\n\r\n " };
  json_t *all = load(DATA "templates.json"), *one;
  size_t i;
  unsigned tried = 0;
  json_array_foreach(all, i, one)
  {
    const char *text = json_string_value(json_object_get(one, "text"));
    const struct chat_template *t = chat_template_known(text, strlen(text));
    char *other = malloc(strlen(text) + 20);
    for (size_t k = 0; t != NULL && k < sizeof tail / sizeof *tail; k++, tried++) {
      int n = sprintf(other, "%s%s", text, tail[k]);
      ck_assert_msg(chat_template_known(other, (size_t) n) == t, "%zu, %zu", i, k);
      n = sprintf(other, "%s%s", tail[k], text);
      ck_assert_msg(chat_template_known(other, (size_t) n) == NULL, "%zu, %zu", i, k);
    }
    free(other);
  }
  ck_assert_uint_gt(tried, 30);
  json_decref(all);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("conversations");
  TCase *c = tcase_create("all");
  tcase_set_timeout(c, 300);
  tcase_add_test(c, texts_are_those_of_the_published_programs);
  tcase_add_test(c, ids_are_those_of_apply_chat_template);
  tcase_add_test(c, what_is_trimmed_leaves_no_part);
  tcase_add_test(c, no_word_of_anybody_becomes_a_mark);
  tcase_add_test(c, a_mark_must_be_a_special_token);
  tcase_add_test(c, turns_come_in_their_order);
  tcase_add_test(c, a_second_turn_is_the_rest_of_the_whole);
  tcase_add_test(c, white_space_is_pythons);
  tcase_add_test(c, published_programs_are_recognized);
  tcase_add_test(c, refused_memory_leaves_nothing);
  suite_add_tcase(s, c);
  c = tcase_create("edges");
  tcase_add_test(c, thoughts_are_split_as_python_splits);
  tcase_add_test(c, a_failed_script_leaves_no_ids);
  tcase_add_test(c, a_talk_goes_on_behind_its_last_turn);
  tcase_add_test(c, blanks_behind_a_program_do_not_count);
  suite_add_tcase(s, c);
  return suite_run(s);
}
