/* incipit pull against a hub of the test's own, which is right, slow, broken or hostile as it is told. Nothing is asked of any other
   machine. Each test is a process of its own, with a store of its own. */
#define _GNU_SOURCE
#include "command.h"
/* what is left of pull where there is no libcurl */
#undef INCIPIT_CURL
#define cmd_pull pull_without_curl
#include "../../program/cmd_pull.c"
#undef cmd_pull
#include <signal.h>
#include <sys/resource.h>
#include "hub.h"
#include "cutter.h"

static struct test_hub the_hub, other_place;
static char home[300], store[340];

/* ---- a home, and a repository */
static char *slurped(const char *path, size_t *n)
{
  char *text = NULL;
  FILE *f = fopen(path, "rb"), *to = open_memstream(&text, n);
  for (int c; f != NULL && (c = getc(f)) != EOF;) putc(c, to);
  fclose(to);
  if (f != NULL) fclose(f);
  return text;
}
static void keep(struct test_hub *h, const char *name, const char *bytes, size_t n, bool lfs)
{
  h->file[h->n++] = (struct kept_file) { name, bytes, n, lfs };
}
static void keep_words(struct test_hub *h, const char *name, const char *words)
{
  keep(h, name, words, strlen(words), false);
}
/* the small model, as a repository would have it, and things that nobody needs */
static void fill(struct test_hub *h)
{
  static const char *const name[] = { "config.json", "generation_config.json", "tokenizer.json", "model.safetensors" };
  char path[200];
  for (int i = 0; i < 4; i++) {
    size_t n;
    snprintf(path, sizeof path, "tests/golden/small/%s", name[i]);
    char *text = slurped(path, &n);
    ck_assert(n > 0);
    keep(h, name[i], text, n, i == 3);
  }
  keep_words(h, "README.md", "# small");
  keep_words(h, "vocab.json", "{}");
  keep_words(h, "merges.txt", "");
  keep_words(h, "pytorch_model.bin", "no");
  keep_words(h, "onnx/model.onnx", "no");
}
/* words are compared only if they can be fetched at all */
static bool no_curl(void)
{
  struct run r = run("pull org/name");
  bool none = strstr(r.err, "built without libcurl") != NULL;
  done(&r);
  through_the_gate();
  the_hub.n_asked = 0;
  if (none) tally("the hub", 0, 0, 1, "this program has no libcurl");
  return none;
}
static void at_home(void)
{
  char words[100];
  snprintf(home, sizeof home, "%s/pull-room", build_dir());
  mkdir(home, 0777);
  snprintf(home, sizeof home, "%s/pull-room/%ld", build_dir(), (long) getpid());
  ck_assert(mkdir(home, 0777) == 0);
  char *whole = realpath(home, NULL);
  snprintf(home, sizeof home, "%s", whole);
  free(whole);
  snprintf(room_dir, sizeof room_dir, "%s", home);
  snprintf(store, sizeof store, "%s/incipit", home);
  setenv("HOME", home, 1), setenv("XDG_CACHE_HOME", home, 1), setenv("HF_HOME", home, 1);
  static const char *const none[] = { "HF_TOKEN", "http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY", "no_proxy", "NO_PROXY" };
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) unsetenv(none[i]);
  hub_begin(&the_hub), hub_begin(&other_place);
  snprintf(words, sizeof words, "http://127.0.0.1:%d/", the_hub.port);
  setenv("HF_ENDPOINT", words, 1);
  setenv("INCIPIT_MODEL", "tests/golden/small", 1);
  signal(SIGXFSZ, SIG_IGN);
}
static void from_home(void)
{
  char words[400];
  hub_end(&the_hub), hub_end(&other_place);
  snprintf(words, sizeof words, "rm -rf '%s'", home);
  ck_assert(system(words) == 0);
}
static struct run pull_as(const char *line, int where, uint64_t fail_at)
{
  through_the_gate();
  struct run r = run_as(line, where, fail_at);
  through_the_gate();
  return r;
}
static struct run pull(const char *line)
{
  return pull_as(line, 0, 0);
}
static bool says(const struct run *r, int status, const char *words)
{
  return r->status == status && strstr(r->err, words) != NULL;
}
static void fetched(const char *line)
{
  struct run r = pull(line);
  ck_assert_msg(r.status == 0, "%s: %s", line, r.err);
  done(&r);
}
static void refused(const char *line, const char *words)
{
  struct run r = pull(line);
  ck_assert_msg(says(&r, 1, words) && strncmp(r.err, "incipit: ", 9) == 0 && strchr(r.err, '\n') == r.err + r.n_err - 1,
    "%s: status %d: %s; wanted: %s", line, r.status, r.err, words);
  done(&r);
}
/* is it in the folder of org/name, byte for byte? */
static bool has(const char *name, const struct kept_file *f)
{
  char path[800];
  size_t n = 0;
  snprintf(path, sizeof path, "%s/org/name/%s", store, name);
  char *text = slurped(path, &n);
  bool same = access(path, F_OK) == 0 && (f == NULL || (n == f->n && memcmp(text, f->bytes, n) == 0));
  free(text);
  return same;
}
/* how many files in it have a name that ends so */
static unsigned how_many(const char *end)
{
  char script[600], out[100];
  snprintf(script, sizeof script, "find '%s' -name '*%s' | wc -l", home, end);
  ck_assert(shell(script, out, sizeof out) == 0);
  return (unsigned) atoi(out);
}
static const struct question *last_asked(const struct test_hub *h)
{
  return &h->asked[h->n_asked - 1];
}
static size_t part_size(void)
{
  char script[600], out[100];
  snprintf(script, sizeof script, "cat $(find '%s' -name '*.part') /dev/null | wc -c", home);
  ck_assert(shell(script, out, sizeof out) == 0);
  return (size_t) atol(out);
}

/* ---- sums */
START_TEST(sums_are_those_of_the_standards)
{
  static char many[1000000];
  static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    four[] = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
  memset(many, 'a', sizeof many);
  const struct { const char *text; size_t n; const char *sha256, *sha1; } at[] = {
    { "", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
    { "abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "a9993e364706816aba3e25717850c26c9cd0d89d" },
    { two, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", "84983e441c3bd26ebaae4aa1f95129e5e54670f1" },
    { four, 112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1", "a49b2446a02c645bf419f995b67091253a04a259" },
    { many, sizeof many, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "34aa973cd4c4daa4f61eeb2bdbad27316534016f" } };
  uint64_t seed = suite_seed();
  char text[SUM_TEXT];
  struct sum s;
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    for (int kind = 0; kind < 2; kind++)
      for (int pieces = 0; pieces < 4; pieces++) {
        sum_begin(&s, (enum sum_kind) kind);
        for (size_t done = 0, k; done < at[i].n; done += k) {
          k = pieces == 0 ? at[i].n : rnd(&seed) % (pieces == 1 ? 5 : 200) + 1;
          if (k > at[i].n - done) k = at[i].n - done;
          sum_add(&s, at[i].text + done, k);
        }
        sum_end(&s, text);
        ck_assert_str_eq(text, kind == SUM_SHA256 ? at[i].sha256 : at[i].sha1);
      }
  sum_begin_blob(&s, 0), sum_end(&s, text);
  ck_assert_str_eq(text, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"); /* git hash-object /dev/null */
  sum_begin_blob(&s, 12), sum_add(&s, "hello world\n", 12), sum_end(&s, text);
  ck_assert_str_eq(text, "3b18e512dba79e4c8300dd08aeb37f8e728b8dad");
}
END_TEST

/* ---- names */
START_TEST(names_of_models_are_plain)
{
  static const struct { const char *text, *repo, *revision, *file; } good[] = {
    { "Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B", "", "" }, { "a/b:Q4_K_M", "a/b", "", "Q4_K_M" }, { "a/b@main:x/y.gguf", "a/b", "main", "x/y.gguf" },
    { "a/b@refs/pr/1", "a/b", "refs/pr/1", "" }, { "a_b/c-d.e", "a_b/c-d.e", "", "" }, { "a/b:x@1,(2)+=.gguf", "a/b", "", "x@1,(2)+=.gguf" } };
  static const char *const bad[] = { "", "gpt2", "a/", "/b", "a/b/c", "../b", "a/..", ".a/b", "a/.b", "-a/b", "a/-b", "a/b:", "a/b:../x", "a/b:/x",
    "a/b:x/../y", "a/b:x//y", "a/b:.x", "a/b:x/", "a/b@", "a/b@:x", "a/b@../x", "a/b@x/", "a/b@/x", "a b/c", "a/b:x y", "a\\b/c", "a/b\n", "a/\xc3\xa9",
    "a/b?c", "a/b#c", "a/b%2e", "a/b:x;y", "a/b:x\"", "a/b:-x" };
  struct hub_name n;
  struct error why;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    ck_assert_msg(hub_name_parse(good[i].text, &n, &why), "%s: %s", good[i].text, why.text);
    ck_assert_str_eq(n.repo, good[i].repo);
    ck_assert_str_eq(n.revision, good[i].revision);
    ck_assert_str_eq(n.file, good[i].file);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    ck_assert_msg(!hub_name_parse(bad[i], &n, &why) && strstr(why.text, "wanted: ORG/NAME") != NULL, "%s", bad[i]);
  static const char *const address[] = { "https://huggingface.co/a/b", "http://www.huggingface.co/a/b/resolve/main/x.gguf?download=true", "hf.co/a/b:Q4_0",
    "huggingface.co/a/b@main", "https://mirror.example/a/b#files" };
  for (size_t i = 0; i < sizeof address / sizeof *address; i++)
    ck_assert_msg(!hub_name_parse(address[i], &n, &why) && strstr(why.text, "is an address; wanted: the name within it, a/b") != NULL
      && ends_like(why.text, "a/b"), "%s", why.text);
  static const char *const no_address[] = { "https://huggingface.co/a", "https://", "https://a", "hf.co/", "https:///", "https://x/a/" };
  for (size_t i = 0; i < sizeof no_address / sizeof *no_address; i++)
    ck_assert_msg(!hub_name_parse(no_address[i], &n, &why) && strstr(why.text, "wanted: ORG/NAME") != NULL, "%s", why.text);
  for (size_t length = 90; length < 220; length++) { /* at the limits of a word, a revision, a file */
    char text[500], word[300];
    memset(word, 'x', length), word[length] = '\0';
    snprintf(text, sizeof text, "a/%s", word);
    ck_assert_int_eq(hub_name_parse(text, &n, &why), length < HUB_WORD);
    snprintf(text, sizeof text, "a/b@%s", word);
    ck_assert_int_eq(hub_name_parse(text, &n, &why), length < HUB_WORD);
    snprintf(text, sizeof text, "a/b@y/%s", word);
    ck_assert_int_eq(hub_name_parse(text, &n, &why), length < HUB_WORD);
    snprintf(text, sizeof text, "a/b@yyyyyyy/%s", word);
    ck_assert_int_eq(hub_name_parse(text, &n, &why), length + 8 < HUB_REVISION);
    snprintf(text, sizeof text, "a/b:%s", word);
    ck_assert_int_eq(hub_name_parse(text, &n, &why), length < HUB_FILE);
  }
}
END_TEST

START_TEST(a_file_is_picked_by_a_word_of_its_name)
{
  static const char *const list[] = { "m-Q4_0.gguf", "m-Q4_0_4_4.gguf", "m-Q4_K_M.gguf", "m-Q4_K_S.gguf", "m-IQ4_XS.gguf", "UD/m-UD-Q4_K_XL.gguf",
    "mmproj-Q8_0.gguf", "m.q8_0.gguf", "m_f16.gguf", "m-Q6_K.GGUF", "m-Q6_K.gguf.part", "imatrix-Q5_K.gguf", "x-Q4_K_M.txt" };
  static const struct { const char *wanted, *is; } at[] = { { "Q4_0", "m-Q4_0.gguf" }, { "q4_0", "m-Q4_0.gguf" }, { "Q4_K_M", "m-Q4_K_M.gguf" },
    { "IQ4_XS", "m-IQ4_XS.gguf" }, { "Q4_XS", NULL }, { "Q4_K", NULL }, { "Q4_K_XL", "UD/m-UD-Q4_K_XL.gguf" }, { "Q8_0", "m.q8_0.gguf" },
    { "F16", "m_f16.gguf" }, { "m-UD-Q4_K_XL.gguf", "UD/m-UD-Q4_K_XL.gguf" }, { "UD/m-UD-Q4_K_XL.gguf", "UD/m-UD-Q4_K_XL.gguf" }, { "m", NULL },
    { "Q5_K", NULL }, { "gguf", NULL }, { "", NULL }, { "mmproj-Q8_0.gguf", NULL }, { "M-q4_0.gguf", NULL }, { "Q6_K", "m-Q6_K.GGUF" } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    struct hub_pick pick = { .wanted = at[i].wanted };
    struct error why = { "" };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) hub_pick_offer(&pick, list[k]);
    const char *is = hub_pick_end(&pick, "a/b", &why);
    ck_assert_msg(at[i].is == NULL ? is == NULL && why.text[0] != '\0' : is != NULL && strcmp(is, at[i].is) == 0, "%s: %s %s", at[i].wanted,
      is ? is : "none", why.text);
  }
}
END_TEST

/* ---- what the hub says */
#define SHA "\"sha\":\"0123456789012345678901234567890123456789\""
#define BLOB "\"blobId\":\"0123456789012345678901234567890123456789\""
/* a model's files lie in its folder, or in one below, and in none that is deeper */
static void note_name(void *ctx, const char *name)
{
  char *all = ctx;
  size_t n = strlen(all);
  snprintf(all + n, 200 - n, "%s;", name);
}
START_TEST(files_are_found_one_folder_below)
{
  char folder[] = "/tmp/incipit-pull-XXXXXX", path[200], all[200] = "";
  static const char *const name[] = { "below/", "below/deeper/", "one.gguf", "below/two.GGUF", "below/deeper/three.gguf", ".four.gguf", "five.txt" };
  ck_assert_ptr_nonnull(mkdtemp(folder));
  for (int i = 0; i < 7; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, name[i]);
    if (i < 2) ck_assert_int_eq(mkdir(path, 0700), 0);
    else fclose(fopen(path, "w"));
  }
  hub_each_gguf(folder, note_name, all);
  ck_assert_msg(strlen(all) == strlen("one.gguf;below/two.GGUF;") && strstr(all, "one.gguf;") != NULL && strstr(all, "below/two.GGUF;") != NULL, "%s", all);
  for (int i = 7; i-- > 2;) snprintf(path, sizeof path, "%s/%s", folder, name[i]), unlink(path);
  for (int i = 2; i-- > 0;) snprintf(path, sizeof path, "%s/%s", folder, name[i]), rmdir(path);
  ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(a_hostile_answer_is_refused)
{
  static const struct { const char *text, *words; } at[] = {
    { "", "is not JSON" }, { "[]", "no object" }, { "{}", "sha is missing" }, { "{\"sha\":7}", "sha is 7; wanted: the commit" },
    { "{\"sha\":\"main\"}", "sha is \"main\"" }, { "{\"sha\":\"0123456789012345678901234567890123456789\",\"sha\":\"x\"}", "is not JSON: duplicate" },
    { "{" SHA "}", "siblings is no list" }, { "{" SHA ",\"siblings\":{}}", "siblings is no list" },
    { "{" SHA ",\"siblings\":[7]}", "siblings[0].rfilename is missing" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":7}]}", "siblings[0].rfilename is 7" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"a.md\"},{\"rfilename\":\"../../x\"}]}", "siblings[1].rfilename is \"../../x\"; wanted: a path within the repository" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"/etc/passwd\"}]}", "a path within" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"a/../../b.gguf\"}]}", "a path within" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"a/..\"}]}", "a path within" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"./a\"}]}", "a path within" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"a//b\"}]}", "a path within" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"a/\"}]}", "a path within" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"\"}]}", "a path within" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"a\\\\..\\\\b\"}]}", "a path within" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"config.json\\u0000x\"}]}", "a path within" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"a\\u001b[2J\"}]}", "a path within" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"a\\nb\"}]}", "a path within" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"a\\u007f\"}]}", "a path within" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"config.json\"}]}", "siblings[0].size is missing" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"config.json\",\"size\":-1," BLOB "}]}", "size is -1" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"config.json\",\"size\":1.5," BLOB "}]}", "size is 1.5" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"config.json\",\"size\":\"5\"," BLOB "}]}", "size is \"5\"" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"config.json\",\"size\":17592186044417," BLOB "}]}", "16 TiB at most" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"config.json\",\"size\":5}]}", "blobId is missing" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"config.json\",\"size\":5,\"blobId\":\"012345678901234567890123456789012345678g\"}]}", "40 hexadecimal" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"config.json\",\"size\":5," BLOB ",\"lfs\":{}}]}", "lfs.sha256 is missing" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"config.json\",\"size\":5," BLOB ",\"lfs\":{\"sha256\":\"0123\"}}]}", "64 hexadecimal" },
    { "{" SHA ",\"siblings\":[{\"rfilename\":\"a.gguf\",\"size\":5," BLOB "},{\"rfilename\":\"a.gguf\",\"size\":6," BLOB "}]}", "each name once" } };
  struct memory m = { .fail_at = 0 };
  struct hub_listing l;
  struct error why;
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    bool ok = hub_listing_read(&m, "org/name", at[i].text, strlen(at[i].text), &l, &why);
    ck_assert_msg(!ok && strstr(why.text, at[i].words) != NULL && strncmp(why.text, "org/name: ", 10) == 0, "%s: %s", at[i].text, ok ? "read" : why.text);
    ck_assert(m.all.live == 0);
  }
  /* names that are odd and no tricks are passed over; the largest size is one */
  static const char odd[] = "{" SHA ",\"siblings\":[{\"rfilename\":\"a b.gguf\"},{\"rfilename\":\"\xc3\xa9.gguf\"},{\"rfilename\":\"x/..y\"},"
    "{\"rfilename\":\"config.json\",\"size\":17592186044416," BLOB ",\"lfs\":null}]}";
  ck_assert_msg(hub_listing_read(&m, "org/name", odd, strlen(odd), &l, &why), "%s", why.text);
  ck_assert(l.n == 1 && l.file[0].kind == SUM_SHA1 && l.file[0].bytes == HUB_MAX_BYTES);
  hub_listing_free(&m, &l);
  char *many = malloc(5 << 20);
  for (int more = 0; more < 2; more++) {
    size_t n = (size_t) sprintf(many, "{" SHA ",\"siblings\":[{\"rfilename\":\"x\"}");
    for (int i = 1; i < HUB_MAX_FILES + more; i++) n += (size_t) sprintf(many + n, ",{\"rfilename\":\"x%d\"}", i);
    n += (size_t) sprintf(many + n, "]}");
    bool ok = hub_listing_read(&m, "org/name", many, n, &l, &why);
    ck_assert_msg(ok == (more == 0) && (ok || strstr(why.text, "50001 files") != NULL), "%s", why.text);
    hub_listing_free(&m, &l);
  }
  free(many);
  ck_assert(!hub_listing_read(&m, "org/name", "{}", HUB_MAX_ANSWER + 1, &l, &why) && strstr(why.text, "16 MiB") != NULL);
}
END_TEST

START_TEST(what_the_engine_reads_is_chosen)
{
  /* the names that a repository has; those that are chosen, in the order in which they are fetched, or words of a refusal */
  static const struct { const char *has, *file, *chosen, *words; } at[] = {
    { "config.json model.safetensors tokenizer.json tokenizer.model vocab.json merges.txt README.md chat_template.jinja", "",
      "chat_template.jinja model.safetensors tokenizer.json config.json", NULL },
    { "config.json model.safetensors vocab.json merges.txt tokenizer.model", "", "merges.txt model.safetensors vocab.json config.json", NULL },
    { "config.json model.safetensors vocab.json tokenizer.model", "", "model.safetensors tokenizer.model config.json", NULL },
    { "config.json model.safetensors model.safetensors.index.json model-00001-of-00002.safetensors", "", "model.safetensors config.json", NULL },
    { "config.json model.safetensors.index.json model-00001-of-00002.safetensors model-00002-of-00002.safetensors consolidated.safetensors "
      "model-1-of-2.safetensors x/model-00001-of-00002.safetensors", "",
      "model-00001-of-00002.safetensors model-00002-of-00002.safetensors model.safetensors.index.json config.json", NULL },
    { "config.json model.safetensors a-Q8_0.gguf", "Q8_0", "a-Q8_0.gguf", NULL },
    { "config.json model.safetensors a-Q8_0.gguf", "", "model.safetensors config.json", NULL },
    { "config.json a-Q8_0.gguf mmproj-f16.gguf", "", "a-Q8_0.gguf", NULL },
    { "a-Q8_0.gguf a-Q4_0.gguf", "", NULL, "org/name has 2 GGUF files: a-Q8_0.gguf, a-Q4_0.gguf; wanted: one of them, as org/name:a-Q8_0.gguf" },
    { "a-Q8_0.gguf a-Q4_0.gguf", "Q5_0", NULL, "org/name has no GGUF file `Q5_0'; wanted: the name of one of its 2" },
    { "a-Q8_0.gguf b-Q8_0.gguf", "Q8_0", NULL, "`Q8_0' fits 2 GGUF files" }, { "a-Q8_0.gguf x/a-Q8_0.gguf", "x/a-Q8_0.gguf", "x/a-Q8_0.gguf", NULL },
    { "a-Q8_0-00001-of-00002.gguf a-Q8_0-00002-of-00002.gguf", "", "a-Q8_0-00002-of-00002.gguf a-Q8_0-00001-of-00002.gguf", NULL },
    { "x/a-q8_0-00001-of-00003.gguf x/a-q8_0-00002-of-00003.gguf x/a-q8_0-00003-of-00003.gguf b-Q4_0.gguf", "Q8_0",
      "x/a-q8_0-00002-of-00003.gguf x/a-q8_0-00003-of-00003.gguf x/a-q8_0-00001-of-00003.gguf", NULL },
    { "a-Q8_0-00001-of-00002.gguf a-Q8_0-00002-of-00002.gguf a-Q4_0.gguf config.json", "a-Q8_0-00002-of-00002.gguf",
      "a-Q8_0-00002-of-00002.gguf a-Q8_0-00001-of-00002.gguf", NULL },
    { "a-Q8_0-00001-of-00002.gguf a-Q8_0-00002-of-00002.gguf a-Q4_0.gguf", "", NULL,
      "org/name has 2 GGUF files: a-Q8_0-00001-of-00002.gguf, a-Q4_0.gguf; wanted: one of them" },
    { "a-Q8_0-00001-of-00002.gguf", "", NULL, "org/name has a-Q8_0-00001-of-00002.gguf and not a-Q8_0-00002-of-00002.gguf; wanted: all 2 parts of a model" },
    { "a-Q8_0-00002-of-00002.gguf", "", NULL, "no GGUF file" },
    { "a-Q8_0-00001-of-01001.gguf", "", NULL, "org/name has a-Q8_0-00001-of-01001.gguf; wanted: at most 1000 parts" },
    { "config.json pytorch_model.bin", "", NULL, "only weights of another kind" },
    { "adapter_config.json adapter_model.safetensors config.json", "", NULL, "org/name has a LoRA adapter, which is no model by itself; wanted: a model with" },
    { "adapter_config.json model.safetensors config.json", "", "model.safetensors config.json", NULL },
    { "config.json", "", NULL, "no model.safetensors and no GGUF file" }, { "model.safetensors", "", NULL, "no GGUF file" }, { "", "", NULL, "no GGUF file" } };
  struct memory m = { .fail_at = 0 };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    char text[4000] = "{" SHA ",\"siblings\":[", copy[600], got[600] = "", form[400];
    struct hub_listing l;
    struct error why = { "" };
    struct hub_name n = { .repo = "org/name" };
    snprintf(copy, sizeof copy, "%s", at[i].has), snprintf(n.file, sizeof n.file, "%s", at[i].file);
    for (char *f = strtok(copy, " "), *comma = ""; f != NULL; f = strtok(NULL, " "), comma = ",") {
      snprintf(form, sizeof form, "%s{\"rfilename\":\"%s\",\"size\":1," BLOB "}", comma, f);
      strcat(text, form);
    }
    strcat(text, "]}");
    ck_assert_msg(hub_listing_read(&m, "org/name", text, strlen(text), &l, &why), "%s", why.text);
    bool ok = hub_choose(&l, &n, &why);
    for (size_t k = 0; ok && k < l.n; k++)
      if (l.file[k].chosen) snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", got[0] ? " " : "", l.file[k].name);
    if (at[i].chosen != NULL) ck_assert_msg(ok && strcmp(got, at[i].chosen) == 0, "%s: %s %s", at[i].has, got, why.text);
    else ck_assert_msg(!ok && strstr(why.text, at[i].words) != NULL, "%s: %s%s", at[i].has, got, why.text);
    ck_assert(!ok || (l.single != NULL) == (strstr(got, ".gguf") != NULL));
    hub_listing_free(&m, &l);
  }
  ck_assert(m.all.live == 0);
}
END_TEST

/* ---- whole */
START_TEST(a_model_is_fetched_whole_and_found)
{
  if (no_curl()) return;
  fill(&the_hub);
  struct run d = pull("pull org/name --dry-run");
  ck_assert_msg(d.status == 0 && the_hub.n_asked == 1 && d.n_err == 0 && strstr(d.out, "org/name at 0000000000\n") != NULL
    && strstr(d.out, "  model.safetensors ") != NULL && strstr(d.out, "README") == NULL && strstr(d.out, "vocab.json") == NULL
    && strstr(d.out, "kept in") == NULL && access(store, F_OK) != 0, "%s%s", d.out, d.err);
  ck_assert_str_eq(the_hub.asked[0].path, "/api/models/org/name/revision/main?blobs=true");
  done(&d);
  struct run none = pull("generate The -n 3 -m org/name");
  ck_assert_msg(says(&none, 1, "org/name: there is no such file or directory, and this model was not fetched; nothing is downloaded unasked:"
    " incipit pull org/name fetches it"), "%s", none.err);
  ck_assert_uint_eq(the_hub.n_asked, 1);
  done(&none);
  struct run r = pull("pull org/name");
  char kept[500];
  snprintf(kept, sizeof kept, "kept in %s/org/name\n", store);
  ck_assert_msg(r.status == 0 && strstr(r.out, kept) != NULL && strcmp(r.err, "incipit: hint: incipit generate -m org/name continues a text; it has no template for talks\n") == 0,
    "%s%s", r.out, r.err);
  ck_assert_uint_eq(the_hub.n_asked, 2 + 4);
  ck_assert_str_eq(last_asked(&the_hub)->path, "/org/name/resolve/0000000000000000000000000000000000000007/config.json");
  for (int i = 0; i < 4; i++) ck_assert_msg(has(the_hub.file[i].name, &the_hub.file[i]), "%s", the_hub.file[i].name);
  ck_assert(!has("README.md", NULL) && !has("vocab.json", NULL) && how_many(".part") == 0 && how_many(".etag") == 0);
  done(&r);
  /* -m finds it in all that takes one */
  static const char *const lines[] = { "generate The -n 3 -m %s", "tokenize The -m %s", "trace The -n 1 -m %s", "inspect %s", "inspect -m %s --json",
    "memory -m %s --json", "probe logprob -m %s <{\"ids\":[1,2]}", "perplexity tests/golden/prompt.txt -m %s", "probe tokenize --vocab %s <{\"text\":\"The\"}",
    "generate The -n 3 --speculate 2 --draft %s" };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    char a[200], b[200];
    snprintf(a, sizeof a, lines[i], "org/name"), snprintf(b, sizeof b, lines[i], "tests/golden/small");
    struct run x = run(a), y = run(b);
    ck_assert_msg(x.status == 0 && strcmp(x.out, y.out) == 0, "%s: %s%s%s", a, x.err, x.out, y.out);
    done(&x), done(&y);
  }
  setenv("INCIPIT_MODEL", "org/name", 1);
  struct run e = run("generate The -n 3"), f = run("generate The -n 3 -m tests/golden/small");
  ck_assert_msg(e.status == 0 && strcmp(e.out, f.out) == 0, "%s", e.err);
  done(&e), done(&f);
  setenv("INCIPIT_MODEL", "org/other", 1);
  e = run("generate The -n 3");
  ck_assert(says(&e, 1, "org/other: there is no such file or directory, and this model was not fetched"));
  done(&e), setenv("INCIPIT_MODEL", "tests/golden/small", 1);
  /* again: everything is looked at, and nothing fetched */
  size_t before = the_hub.n_asked;
  r = pull("pull org/name --json");
  json_t *o = object_of(&r), *files = json_object_get(o, "files");
  has_keys(o, "model revision commit path files bytes fetched_bytes");
  ck_assert(the_hub.n_asked == before + 1 && json_array_size(files) == 4 && json_integer_value(json_object_get(o, "fetched_bytes")) == 0
    && json_is_true(json_object_get(json_array_get(files, 0), "was_here")) && json_object_get(json_array_get(files, 0), "git_blob") != NULL);
  snprintf(kept, sizeof kept, "%s/org/name", store);
  ck_assert_str_eq(json_string_value(json_object_get(o, "path")), kept);
  json_decref(o), done(&r);
  r = pull("pull --list");
  ck_assert_msg(strncmp(r.out, "org/name  ", 10) == 0 && strstr(r.err, "a folder each; rm -r removes one") != NULL && the_hub.n_asked == before + 1, "%s%s", r.out, r.err);
  done(&r);
  r = pull("pull --list --json");
  o = object_of(&r);
  has_keys(o, "store models");
  has_keys(json_array_get(json_object_get(o, "models"), 0), "model path bytes whole");
  json_decref(o), done(&r);
}
END_TEST

/* a path that is here goes before a name; what cannot be one is left to those who open it */
START_TEST(a_path_goes_before_a_name)
{
  if (no_curl()) return;
  fill(&the_hub);
  fetched("pull org/name -q");
  char was[400], words[900];
  ck_assert(getcwd(was, sizeof was) != NULL && chdir(home) == 0 && mkdir("org", 0777) == 0);
  /* there is a folder org, and no org/name in it: the store is looked into all the same */
  struct run r = run("tokenize The -m org/name");
  ck_assert_msg(r.status == 0, "%s", r.err);
  done(&r);
  ck_assert(mkdir("org/name", 0777) == 0);
  r = run("tokenize The -m org/name");
  ck_assert_msg(says(&r, 1, "org/name: no tokenizer.json here"), "%s", r.err);
  done(&r);
  r = run("tokenize The -m org/nam");
  ck_assert_msg(says(&r, 1, "org/nam: cannot be opened"), "%s", r.err);
  done(&r);
  ck_assert(chdir(was) == 0);
  r = run("tokenize The -m org/name.gguf");
  ck_assert_msg(says(&r, 1, "org/name.gguf: cannot be opened: No such file"), "%s", r.err);
  done(&r);
  /* without a home nothing is found, and nothing breaks */
  unsetenv("HOME"), unsetenv("XDG_CACHE_HOME");
  r = run("tokenize The -m org/name");
  ck_assert_msg(says(&r, 1, "was not fetched"), "%s", r.err);
  done(&r);
  refused("pull --list", "neither XDG_CACHE_HOME nor HOME");
  setenv("XDG_CACHE_HOME", "not/absolute", 1), setenv("HOME", home, 1);
  r = run("pull --list");
  snprintf(words, sizeof words, "it would be in %s/.cache/incipit", home);
  ck_assert_msg(r.status == 0 && strstr(r.err, words) != NULL, "%s", r.err);
  done(&r);
}
END_TEST

START_TEST(one_gguf_file_is_fetched_and_found)
{
  if (no_curl()) return;
  char path[400], line[500], script[1600], out[4000];
  size_t n, n8;
  snprintf(script, sizeof script, "mkdir -p %s/made && for t in f16 q8_0; do %s/incipit quantize -m tests/golden/small --type $t --out %s/made/$t.gguf -q 2>&1; done", home,
    build_dir(), home);
  ck_assert_msg(shell(script, out, sizeof out) == 0, "%s", out);
  snprintf(path, sizeof path, "%s/made/f16.gguf", home);
  char *f16 = slurped(path, &n);
  snprintf(path, sizeof path, "%s/made/q8_0.gguf", home);
  char *q8 = slurped(path, &n8);
  keep(&the_hub, "small-F16.gguf", f16, n, true);
  keep(&the_hub, "sub/small-Q8_0.gguf", q8, n8, true);
  keep_words(&the_hub, "config.json", "{}");
  refused("pull org/name", "org/name has 2 GGUF files: small-F16.gguf, small-Q8_0.gguf; wanted: one of them, as org/name:small-F16.gguf");
  refused("pull org/name:Q4_0", "no GGUF file `Q4_0'");
  struct run r = pull("pull org/name:q8_0");
  ck_assert_msg(r.status == 0 && strstr(r.err, "incipit generate -m org/name:small-Q8_0.gguf continues a text; ") != NULL
    && strstr(r.out, "/org/name/sub/small-Q8_0.gguf\n") != NULL && strstr(r.out, "config.json") == NULL, "%s%s", r.out, r.err);
  ck_assert(has("sub/small-Q8_0.gguf", &the_hub.file[1]) && !has("config.json", NULL) && how_many(".part") == 0);
  done(&r);
  /* alone it needs no word */
  snprintf(line, sizeof line, "generate The -n 3 -m %s", path);
  struct run want = run(line);
  static const char *const names[] = { "org/name", "org/name:Q8_0", "org/name:small-Q8_0.gguf", "org/name:sub/small-Q8_0.gguf", "org/name@main" };
  for (size_t i = 0; i < 5; i++) {
    snprintf(line, sizeof line, "generate The -n 3 -m %s", names[i]);
    struct run x = run(line);
    ck_assert_msg(x.status == 0 && strcmp(x.out, want.out) == 0, "%s: %s", line, x.err);
    done(&x);
  }
  done(&want);
  fetched("pull org/name:F16");
  refused("generate The -n 3 -m org/name", "org/name has 2 GGUF files");
  refused("generate The -n 3 -m org/name:Q6_K", "org/name:Q6_K: there is no such file or directory, and this model was not fetched");
  r = run("tokenize The -m org/name:F16");
  ck_assert_int_eq(r.status, 0);
  done(&r);
  r = run("pull --list");
  ck_assert_msg(strstr(r.out, "org/name:small-F16.gguf  ") != NULL && strstr(r.out, "org/name:sub/small-Q8_0.gguf  ") != NULL, "%s", r.out);
  done(&r);
  /* another revision is another folder, and asked for by its name */
  fetched("pull org/name:F16 --revision refs/pr/1");
  bool asked = false;
  for (size_t i = 0; i < the_hub.n_asked; i++) asked = asked || strcmp(the_hub.asked[i].path, "/api/models/org/name/revision/refs%2Fpr%2F1?blobs=true") == 0;
  ck_assert(asked);
  r = run("tokenize The -m org/name@refs/pr/1");
  ck_assert_msg(r.status == 0, "%s", r.err);
  done(&r);
  r = run("pull --list");
  ck_assert_msg(strstr(r.out, "org/name@refs/pr/1:small-F16.gguf  ") != NULL, "%s", r.out);
  done(&r);
  r = run("pull org/name@v1 --revision v2");
  ck_assert(says(&r, 2, "--revision contradicts `org/name@v1'"));
  done(&r);
}
END_TEST

/* a model in several files is one model: all of them come, the first last, and -m finds it when all are here */
START_TEST(a_model_in_several_files_is_fetched_whole)
{
  if (no_curl()) return;
  char whole[400], part[400], line[500], kept[900];
  static const char *const name[] = { "sub/m-Q8_0-00001-of-00003.gguf", "sub/m-Q8_0-00002-of-00003.gguf", "sub/m-Q8_0-00003-of-00003.gguf" };
  snprintf(whole, sizeof whole, "%s/whole.gguf", home);
  make_whole("small", whole);
  cut(whole, (struct cut) { .n = 3 });
  for (unsigned i = 0; i < 3; i++) {
    size_t n;
    char *text = slurped(part_path(part, i + 1, 3), &n);
    keep(&the_hub, name[i], text, n, true);
  }
  keep_words(&the_hub, "m-Q4_0.gguf", "GGUF");
  struct run d = pull("pull org/name:q8_0 --dry-run");
  ck_assert_msg(d.status == 0 && strstr(d.out, name[0]) != NULL && strstr(d.out, name[1]) != NULL && strstr(d.out, name[2]) != NULL
    && strstr(d.out, "Q4_0") == NULL, "%s", d.out);
  done(&d);
  /* it stops in the last file, which is the first: what is here is no model yet */
  snprintf(the_hub.of, sizeof the_hub.of, "00001-of-00003.gguf"), the_hub.cuts = 99, the_hub.cut = 100;
  struct run r = pull("pull org/name:q8_0");
  ck_assert_msg(r.status == 1 && has(name[1], &the_hub.file[1]) && has(name[2], &the_hub.file[2]) && !has(name[0], NULL), "%s", r.err);
  done(&r);
  r = run("generate The -n 3 -m org/name:q8_0");
  ck_assert_msg(says(&r, 1, "this model was not fetched"), "%s", r.err);
  done(&r);
  r = run("pull --list");
  ck_assert_msg(strstr(r.out, "org/name:sub/m-Q8_0-00002-of-00003.gguf  ") != NULL && strstr(r.out, "00003-of-00003.gguf  ") == NULL
    && strstr(r.out, "not whole: the same pull goes on") != NULL, "%s", r.out);
  done(&r);
  hub_mended(&the_hub);
  r = pull("pull org/name:q8_0");
  snprintf(kept, sizeof kept, "kept in %s/org/name/%s\n", store, name[0]);
  ck_assert_msg(r.status == 0 && strstr(r.out, kept) != NULL && strstr(r.err, "incipit chat -m org/name:m-Q8_0-00001-of-00003.gguf talks with it") != NULL,
    "%s%s", r.out, r.err);
  done(&r);
  for (int i = 0; i < 3; i++) ck_assert_msg(has(name[i], &the_hub.file[i]), "%s", name[i]);
  snprintf(line, sizeof line, "generate The -n 3 -m %s", whole);
  struct run want = run(line);
  static const char *const names[] = { "org/name", "org/name:Q8_0", "org/name:m-Q8_0-00001-of-00003.gguf", "org/name:m-Q8_0-00003-of-00003.gguf" };
  for (size_t i = 0; i < 4; i++) {
    snprintf(line, sizeof line, "generate The -n 3 -m %s", names[i]);
    struct run x = run(line);
    ck_assert_msg(x.status == 0 && strcmp(x.out, want.out) == 0, "%s: %s", line, x.err);
    done(&x);
  }
  done(&want);
  r = run("pull --list --json");
  json_t *o = object_of(&r), *list = json_object_get(o, "models");
  ck_assert(json_array_size(list) == 1 && json_is_true(json_object_get(json_array_get(list, 0), "whole"))
    && (size_t) json_integer_value(json_object_get(json_array_get(list, 0), "bytes")) == the_hub.file[0].n + the_hub.file[1].n + the_hub.file[2].n);
  json_decref(o), done(&r);
  /* a file that is right is kept when another is missing; a first file of another version goes before anything is replaced */
  size_t before = the_hub.n_asked;
  snprintf(kept, sizeof kept, "%s/org/name/%s", store, name[1]);
  ck_assert(unlink(kept) == 0);
  fetched("pull org/name:q8_0");
  ck_assert_uint_eq(the_hub.n_asked, before + 2);
  static const char other[] = "GGUF of tomorrow";
  the_hub.file[0].bytes = other, the_hub.file[0].n = sizeof other - 1, the_hub.file[1].bytes = other, the_hub.file[1].n = sizeof other - 1;
  snprintf(the_hub.of, sizeof the_hub.of, "00002-of-00003.gguf"), the_hub.cuts = 99, the_hub.cut = 3;
  r = pull("pull org/name:q8_0");
  ck_assert_msg(r.status == 1 && !has(name[0], NULL), "%s", r.err);
  done(&r);
}
END_TEST

/* ---- cut, and taken up again */
START_TEST(a_transfer_goes_on_where_it_was_cut)
{
  if (no_curl()) return;
  fill(&the_hub);
  const struct kept_file *f = &the_hub.file[3];
  /* once: the same run goes on */
  snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors"), the_hub.cut = 10000, the_hub.cuts = 1;
  struct run r = pull("pull org/name --json");
  json_t *o = object_of(&r);
  uint64_t all = 0;
  for (int i = 0; i < 4; i++) all += the_hub.file[i].n;
  ck_assert(has(f->name, f) && (uint64_t) json_integer_value(json_object_get(o, "fetched_bytes")) == all);
  ck_assert_str_eq(the_hub.asked[4].range, "bytes=10000-");
  ck_assert_str_eq(the_hub.asked[4].if_range, "\"first\"");
  json_decref(o), done(&r);
  /* again and again: the run gives up, says how much it has, and the next one needs only the rest */
  hub_mended(&the_hub);
  char script[500], out[100];
  snprintf(script, sizeof script, "rm -r '%s'", store);
  ck_assert(shell(script, out, sizeof out) == 0);
  snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors"), the_hub.cut = 100, the_hub.cuts = 100;
  char words[200];
  snprintf(words, sizeof words, "the connection broke at 400 of %zu bytes", f->n);
  refused("pull org/name", words);
  ck_assert(part_size() == 400 && !has("model.safetensors", NULL) && !has("config.json", NULL) && how_many(".etag") == 1);
  r = pull("pull --list");
  ck_assert_msg(strstr(r.out, "org/name  400 bytes, not whole") != NULL, "%s", r.out);
  done(&r);
  r = pull("generate The -n 1 -m org/name");
  ck_assert(says(&r, 1, "was not fetched"));
  done(&r);
  hub_mended(&the_hub);
  r = pull("pull org/name --dry-run");
  ck_assert_msg(strstr(r.out, "  400 bytes are here\n") != NULL, "%s", r.out);
  done(&r);
  r = pull("pull org/name --json");
  o = object_of(&r);
  ck_assert_int_eq(json_integer_value(json_object_get(o, "fetched_bytes")), (json_int_t) (f->n - 400 + the_hub.file[0].n));
  ck_assert(has(f->name, f) && how_many(".part") == 0 && how_many(".etag") == 0);
  json_decref(o), done(&r);
}
END_TEST

/* leaves 400 bytes of the weights, with their mark, as a pull that was cut leaves them */
static void begin_weights(void)
{
  char script[800], out[100], sum[SUM_TEXT];
  const struct kept_file *w = &the_hub.file[3];
  struct sum s;
  sum_begin(&s, SUM_SHA256), sum_add(&s, w->bytes, w->n), sum_end(&s, sum);
  snprintf(script, sizeof script, "cd '%s' && rm -rf incipit && mkdir -p incipit/org/name && cd incipit/org/name && printf '\"first\"' > model.safetensors.%.16s.etag"
    " && : > model.safetensors.%.16s.part", home, sum, sum);
  ck_assert(shell(script, out, sizeof out) == 0);
  snprintf(script, sizeof script, "%s/org/name/model.safetensors.%.16s.part", store, sum);
  FILE *f = fopen(script, "wb");
  ck_assert(fwrite(w->bytes, 1, 400, f) == 400 && fclose(f) == 0 && part_size() == 400);
  hub_mended(&the_hub);
  snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors");
}

START_TEST(a_wrong_range_is_never_written_on)
{
  if (no_curl()) return;
  fill(&the_hub);
  const struct kept_file *f = &the_hub.file[3];
  char line[400], last[100];
  /* a server that knows no ranges sends all of it, and all of it is taken */
  begin_weights();
  the_hub.deaf = true;
  fetched("pull org/name");
  ck_assert(has(f->name, f) && the_hub.n_asked == 5);
  /* so does one that has another version now: the mark does not hold */
  begin_weights();
  the_hub.tag = "\"second\"";
  fetched("pull org/name");
  ck_assert(has(f->name, f) && strcmp(the_hub.asked[3].if_range, "\"first\"") == 0 && the_hub.n_asked == 5);
  /* and one that does not look at the mark, but says another one */
  begin_weights();
  the_hub.tag = "\"second\"", the_hub.blind = true;
  fetched("pull org/name");
  ck_assert(has(f->name, f) && the_hub.asked[3].range[0] != '\0' && the_hub.asked[4].range[0] == '\0' && the_hub.n_asked == 6);
  /* ranges that are not what was asked for */
  snprintf(last, sizeof last, "bytes 400-%zu/%zu", f->n - 1, f->n);
  const char *const wrong[] = { "bytes 0-399/400", "bytes 399-499/500", "bytes 400-410/411", "bytes 400-x/y", "", "bytes 400-", "items 400-500/501", last + 1,
    "bytes */500", "bytes  400-500/501" };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    begin_weights();
    the_hub.range = wrong[i];
    snprintf(line, sizeof line, "Content-Range is %s; wanted: %s", wrong[i][0] != '\0' ? wrong[i] : "missing", last);
    if (strchr(wrong[i], ' ') != NULL && wrong[i][6] == ' ') snprintf(line, sizeof line, "wanted: %s", last);
    refused("pull org/name", line);
    ck_assert_msg(part_size() == 400 && !has(f->name, NULL), "%s", wrong[i]);
  }
  /* a range that nobody has asked for */
  begin_weights();
  char script[700], out[100];
  snprintf(script, sizeof script, "rm '%s'/org/name/*.part", store);
  ck_assert(shell(script, out, sizeof out) == 0);
  the_hub.eager = true;
  refused("pull org/name", "the server sent a range, and none was asked for");
  /* no such range: begun anew */
  begin_weights();
  the_hub.status = 416;
  refused("pull org/name", "another version at each try");
  ck_assert(part_size() == 0);
  the_hub.status = 0;
  fetched("pull org/name");
  ck_assert(has(f->name, f));
}
END_TEST

/* what is not the same byte for byte by its mark, or has none, is not gone on with */
START_TEST(without_a_strong_mark_all_is_fetched_again)
{
  if (no_curl()) return;
  fill(&the_hub);
  const struct kept_file *f = &the_hub.file[3];
  static const char *const tags[] = { "", "W/\"first\"", "first", "\"fi rst\"", "\"" };
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
    char script[500], out[100];
    snprintf(script, sizeof script, "rm -rf '%s'", store);
    ck_assert(shell(script, out, sizeof out) == 0);
    hub_mended(&the_hub);
    snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors"), the_hub.cut = 100, the_hub.cuts = 1, the_hub.tag = tags[i];
    fetched("pull org/name");
    ck_assert(has(f->name, f) && how_many(".etag") == 0);
    for (size_t k = 0; k < the_hub.n_asked; k++) ck_assert_msg(the_hub.asked[k].range[0] == '\0', "%s", tags[i]);
  }
}
END_TEST

/* the hub has another file under the name now: what has come of the old one is left alone */
START_TEST(another_version_is_not_gone_on_with)
{
  if (no_curl()) return;
  fill(&the_hub);
  begin_weights();
  struct kept_file old = the_hub.file[3];
  char *other = malloc(old.n);
  memcpy(other, old.bytes, old.n), other[old.n - 1] ^= 1;
  the_hub.file[3].bytes = other;
  fetched("pull org/name");
  ck_assert(has("model.safetensors", &the_hub.file[3]) && part_size() == 400);
  for (size_t i = 0; i < the_hub.n_asked; i++) ck_assert(the_hub.asked[i].range[0] == '\0');
  /* and back: config.json goes first, so that a stop in between leaves no model of two halves */
  the_hub.file[3] = old;
  the_hub.cut = 100, the_hub.cuts = 100;
  refused("pull org/name", "broke at");
  ck_assert(!has("config.json", NULL) && has("tokenizer.json", NULL));
  the_hub.cuts = 0;
  fetched("pull org/name");
  ck_assert(has("config.json", &the_hub.file[0]) && has("model.safetensors", &old));
  free(other);
}
END_TEST

/* ---- wrong bytes */
START_TEST(wrong_bytes_never_get_a_name)
{
  if (no_curl()) return;
  fill(&the_hub);
  static const struct { const char *name, *words; } at[] = { { "model.safetensors", "its SHA-256 is " }, { "generation_config.json", "its git sum is " } };
  for (size_t i = 0; i < 2; i++) {
    char script[500], out[100];
    snprintf(script, sizeof script, "rm -rf '%s'", store);
    ck_assert(shell(script, out, sizeof out) == 0);
    snprintf(the_hub.of, sizeof the_hub.of, "%s", at[i].name), the_hub.torn = true;
    refused("pull org/name", at[i].words);
    refused("pull org/name", "what had come was thrown away");
    ck_assert(!has(at[i].name, NULL) && !has("config.json", NULL) && how_many(".part") == 0 && how_many(".etag") == 0);
    hub_mended(&the_hub);
  }
  fetched("pull org/name");
  /* a file on the disk that was damaged since is seen, and fetched again */
  char path[500];
  snprintf(path, sizeof path, "%s/org/name/model.safetensors", store);
  FILE *f = fopen(path, "r+b");
  ck_assert(f != NULL && fseek(f, 99, SEEK_SET) == 0);
  putc('!', f), fclose(f);
  hub_mended(&the_hub);
  fetched("pull org/name");
  ck_assert(has("model.safetensors", &the_hub.file[3]) && the_hub.n_asked == 3);
  /* so is a part whose bytes were changed: the sum is over all of them */
  begin_weights();
  char script[700], out[100];
  snprintf(script, sizeof script, "printf x | dd of=$(echo '%s'/org/name/*.part) conv=notrunc status=none", store);
  ck_assert(shell(script, out, sizeof out) == 0);
  refused("pull org/name", "its SHA-256 is ");
  fetched("pull org/name");
}
END_TEST

START_TEST(more_than_the_list_says_is_not_taken)
{
  if (no_curl()) return;
  fill(&the_hub);
  for (int mute = 0; mute < 2; mute++) {
    hub_mended(&the_hub);
    snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors"), the_hub.more = 1, the_hub.mute = mute;
    refused("pull org/name", "what the server sends is longer; wanted: as many bytes as the hub's list says");
    ck_assert(!has("model.safetensors", NULL) && part_size() <= the_hub.file[3].n);
  }
  /* without a length the end of the connection is the end: too early, it is a broken one */
  hub_mended(&the_hub);
  snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors"), the_hub.mute = true, the_hub.cut = 100, the_hub.cuts = 3;
  fetched("pull org/name -q");
  hub_mended(&the_hub);
  the_hub.about = true, the_hub.more = HUB_MAX_ANSWER;
  refused("pull org/name", "the hub's answer has more than 16 MiB");
}
END_TEST

/* ---- elsewhere */
static const char *address(const struct test_hub *h, const char *path)
{
  static char text[400];
  snprintf(text, sizeof text, "http://127.0.0.1:%d%s", h->port, path);
  return text;
}
START_TEST(a_token_stays_with_the_hub)
{
  if (no_curl()) return;
  fill(&the_hub), fill(&other_place);
  setenv("HF_TOKEN", "hf_secret\n", 1); /* a line's end at its end does no harm */
  snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors");
  static const int status[] = { 301, 302, 303, 307, 308 };
  char to[400];
  snprintf(to, sizeof to, "%s", address(&other_place, "/bucket/model.safetensors"));
  for (size_t i = 0; i < 5; i++) {
    char script[500], out[100];
    snprintf(script, sizeof script, "rm -rf '%s'", store);
    ck_assert(shell(script, out, sizeof out) == 0);
    the_hub.status = status[i], the_hub.location = to;
    fetched("pull org/name");
    ck_assert(has("model.safetensors", &the_hub.file[3]));
  }
  ck_assert_uint_eq(other_place.n_asked, 5);
  for (size_t i = 0; i < other_place.n_asked; i++) ck_assert_str_eq(other_place.asked[i].token, "");
  for (size_t i = 0; i < the_hub.n_asked; i++) ck_assert_str_eq(the_hub.asked[i].token, "Bearer hf_secret");
  /* within the hub it goes along; a relative place will do */
  the_hub.n_asked = 0, the_hub.location = "/elsewhere/./model.safetensors?a=b";
  char script[500], out[100];
  snprintf(script, sizeof script, "rm -rf '%s'", store);
  ck_assert(shell(script, out, sizeof out) == 0);
  struct run r = pull("pull org/name");
  /* the address ends like the file no more, so it is the hub's own answer: that there is no such file */
  ck_assert_msg(says(&r, 1, "answers 404 (EntryNotFound)"), "%s", r.err);
  ck_assert_str_eq(last_asked(&the_hub)->token, "Bearer hf_secret");
  ck_assert_str_eq(last_asked(&the_hub)->path, "/elsewhere/model.safetensors?a=b");
  done(&r);
  /* the same machine by another name is another host */
  hub_mended(&the_hub);
  snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors"), the_hub.status = 302;
  snprintf(to, sizeof to, "http://localhost:%d/x?y", the_hub.port);
  the_hub.location = to;
  r = pull("pull org/name");
  ck_assert_msg(says(&r, 1, "localhost, where the hub keeps it, answers 404"), "%s", r.err);
  ck_assert_str_eq(last_asked(&the_hub)->token, "");
  done(&r);
}
END_TEST

START_TEST(a_token_comes_from_a_file_or_a_variable)
{
  if (no_curl()) return;
  fill(&the_hub);
  char path[400];
  snprintf(path, sizeof path, "%s/token", home);
  static const struct { const char *file, *variable, *sent, *words; } at[] = { { NULL, NULL, "", NULL }, { "hf_file\n", NULL, "Bearer hf_file", NULL },
    { "hf_file", "hf_word", "Bearer hf_word", NULL }, { "", NULL, "", NULL }, { "a b", NULL, NULL, "/token: this is no token" },
    { "a\r\nX-Evil: 1", NULL, NULL, "/token: this is no token" }, { NULL, "a\r\nX-Evil: 1", NULL, "HF_TOKEN: this is no token" },
    { NULL, "\xc3\xa9", NULL, "HF_TOKEN: this is no token" } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    unlink(path), unsetenv("HF_TOKEN");
    FILE *f = at[i].file != NULL ? fopen(path, "w") : NULL;
    if (f != NULL) fputs(at[i].file, f), fclose(f);
    if (at[i].variable != NULL) setenv("HF_TOKEN", at[i].variable, 1);
    the_hub.n_asked = 0;
    struct run r = pull("pull org/name --dry-run");
    if (at[i].words != NULL) ck_assert_msg(says(&r, 1, at[i].words) && the_hub.n_asked == 0, "%s", r.err);
    else {
      ck_assert_msg(r.status == 0, "%s", r.err);
      ck_assert_str_eq(the_hub.asked[0].token, at[i].sent);
    }
    done(&r);
  }
  char *long_one = malloc(700);
  memset(long_one, 'x', 699), long_one[699] = '\0';
  unlink(path), setenv("HF_TOKEN", long_one, 1);
  refused("pull org/name", "this is no token");
  long_one[511] = '\0', setenv("HF_TOKEN", long_one, 1);
  fetched("pull org/name --dry-run");
  long_one[511] = 'x', long_one[512] = '\0', setenv("HF_TOKEN", long_one, 1);
  refused("pull org/name", "this is no token");
  free(long_one), unsetenv("HF_TOKEN"), unsetenv("HF_HOME");
  /* without HF_HOME it is below HOME */
  char script[900], out[100];
  snprintf(script, sizeof script, "mkdir -p '%s/.cache/huggingface'; echo hf_home > '%s/.cache/huggingface/token'", home, home);
  ck_assert(shell(script, out, sizeof out) == 0);
  fetched("pull org/name --dry-run");
  ck_assert_str_eq(last_asked(&the_hub)->token, "Bearer hf_home");
}
END_TEST

/* a proxy is used, and a token does not go over plain http to another machine */
START_TEST(a_proxy_is_used_and_hears_no_token)
{
  if (no_curl()) return;
  fill(&the_hub);
  char proxy[100];
  snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", the_hub.port);
  setenv("http_proxy", proxy, 1), setenv("HF_ENDPOINT", "http://hub.example", 1), setenv("HF_TOKEN", "hf_secret", 1);
  struct run r = pull("pull org/name --dry-run");
  ck_assert_msg(r.status == 0 && strstr(r.err, "hint: the token is not sent") != NULL, "%s", r.err);
  ck_assert_str_eq(the_hub.asked[0].path, "http://hub.example/api/models/org/name/revision/main?blobs=true");
  ck_assert_str_eq(the_hub.asked[0].token, "");
  done(&r);
  setenv("no_proxy", "hub.example", 1);
  unsetenv("HF_TOKEN");
  refused("pull org/name --dry-run", "org/name: http://hub.example does not answer");
  ck_assert_uint_eq(the_hub.n_asked, 1);
}
END_TEST

START_TEST(places_that_are_not_gone_to)
{
  if (no_curl()) return;
  fill(&the_hub);
  static const struct { const char *to, *words; } at[] = { { "file:///etc/passwd", "sends us to file:///etc/passwd; wanted: an address of https or http" },
    { "ftp://127.0.0.1/x", "wanted: an address of https or http" }, { "gopher://127.0.0.1/x", "wanted: an address" }, { "dict://127.0.0.1/x", "wanted: an address" },
    { "http://", "wanted: an address" } };
  for (int about = 0; about < 2; about++)
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
      hub_mended(&the_hub);
      the_hub.about = about, the_hub.status = 302, the_hub.location = at[i].to;
      refused("pull org/name", strcmp(at[i].to, "http://") == 0 ? "sends us" : at[i].words);
    }
  hub_mended(&the_hub);
  the_hub.status = 302;
  refused("pull org/name", "sends us elsewhere and does not say where");
  hub_mended(&the_hub);
  snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors"), the_hub.loops = 10;
  fetched("pull org/name");
  char script[500], out[100];
  snprintf(script, sizeof script, "rm -rf '%s'", store);
  ck_assert(shell(script, out, sizeof out) == 0);
  hub_mended(&the_hub);
  snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors"), the_hub.loops = 11;
  refused("pull org/name", "has sent us elsewhere 10 times");
  ck_assert_uint_eq(the_hub.loops, 0);
}
END_TEST

/* an address of https is not left for one of http; and a server whose certificate nobody has signed is not asked anything */
START_TEST(https_is_not_left_and_not_believed)
{
  static const struct { const char *from, *to; bool fits; } at[] = { { "https://a/x", "https://b/y", true }, { "https://a/x", "http://a/x", false },
    { "http://a/x", "https://a/x", true }, { "http://a/x", "http://b/x", true }, { "HTTPS://a/x", "HTTP://b", false }, { "https://a", "file:///x", false },
    { "https://a", "ftp://a/x", false } };
  struct error why;
  if (no_curl()) return;
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    ck_assert_msg(hub_hop_fits(at[i].from, at[i].to, &why) == at[i].fits, "%s %s", at[i].from, at[i].to);
  char script[2000], out[2000], words[100];
  struct sockaddr_in where = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  socklen_t n = sizeof where;
  int closed = socket(AF_INET, SOCK_STREAM, 0);
  ck_assert(bind(closed, (struct sockaddr *) &where, sizeof where) == 0 && getsockname(closed, (struct sockaddr *) &where, &n) == 0);
  close(closed);
  int port = ntohs(where.sin_port);
  snprintf(script, sizeof script, "command -v openssl >/dev/null || exit 77; cd '%s' && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    " -keyout key -out cert -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 2>/dev/null && { openssl s_server -accept %d -key key -cert cert -www"
    " >/dev/null 2>&1 & echo $! > pid; }; i=0; while ! openssl s_client -connect 127.0.0.1:%d </dev/null >/dev/null 2>&1; do i=$((i+1)); [ $i -lt 50 ] || exit 78; sleep 0.1; done",
    home, port, port);
  int status = shell(script, out, sizeof out);
  if (status == 77) {
    tally("a certificate that nobody has signed", 0, 0, 1, "no openssl");
    return;
  }
  ck_assert_int_eq(status, 0);
  snprintf(words, sizeof words, "https://127.0.0.1:%d", port);
  setenv("HF_ENDPOINT", words, 1), setenv("HF_TOKEN", "hf_secret", 1);
  struct run r = pull("pull org/name");
  snprintf(script, sizeof script, "kill $(cat '%s/pid')", home);
  shell(script, out, sizeof out);
  ck_assert_msg(says(&r, 1, "does not answer: ") && strstr(r.err, "ertificate") != NULL, "%d %s", r.status, r.err);
  done(&r);
}
END_TEST

/* ---- what the hub refuses */
START_TEST(each_refusal_of_the_hub_is_a_sentence)
{
  if (no_curl()) return;
  fill(&the_hub);
  static const struct { int status; const char *headers, *words; } at[] = {
    { 401, NULL, "answers 401: it knows no such model, or none for everybody; wanted: the name as it is at " },
    { 401, "X-Error-Code: RepoNotFound\r\n", "answers 401 (RepoNotFound): " }, { 401, "X-Error-Code: \x1b[2Jfoo\r\n", "answers 401: " },
    { 401, "X-Error-Code: GatedRepo\r\n", "answers 401 (GatedRepo): its makers want to be asked first" },
    { 403, "X-Error-Code: GatedRepo\r\n", "answers 403 (GatedRepo): its makers want to be asked first" },
    { 404, "X-Error-Code: RevisionNotFound\r\n", "answers 404 (RevisionNotFound): there is no such model, revision or file" },
    { 429, "Retry-After: 17\r\n", "answers 429: too many have asked; wanted: the same once more in 17 s" },
    { 429, NULL, "wanted: the same once more later" }, { 500, NULL, "answers 500: it has a trouble of its own" }, { 503, NULL, "answers 503" },
    { 418, NULL, "answers 418; wanted: 200" }, { 400, NULL, "answers 400; wanted: 200" } };
  for (int about = 0; about < 2; about++)
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
      hub_mended(&the_hub);
      the_hub.about = about, the_hub.status = at[i].status, the_hub.headers = at[i].headers;
      if (!about) snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors");
      refused("pull org/name", at[i].words);
      ck_assert_uint_eq(part_size(), 0);
    }
  hub_mended(&the_hub);
  the_hub.about = true, the_hub.status = 403;
  refused("pull org/name", "and a token in HF_TOKEN");
  setenv("HF_TOKEN", "x", 1);
  refused("pull org/name", "and a token that may read it");
  hub_mended(&the_hub);
  the_hub.answer = "<html>", the_hub.n_answer = 6;
  refused("pull org/name", "org/name: the answer is not JSON");
  the_hub.answer = NULL, the_hub.about = true, the_hub.cuts = 1, the_hub.cut = 40;
  refused("pull org/name", "does not answer: ");
  /* nobody is there; and addresses that are none */
  hub_mended(&the_hub);
  int closed = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in where = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  socklen_t n = sizeof where;
  ck_assert(bind(closed, (struct sockaddr *) &where, sizeof where) == 0 && getsockname(closed, (struct sockaddr *) &where, &n) == 0);
  char words[200];
  snprintf(words, sizeof words, "http://127.0.0.1:%d", ntohs(where.sin_port));
  setenv("HF_ENDPOINT", words, 1);
  refused("pull org/name", "does not answer: ");
  close(closed);
  static const char *const wrong[] = { "ftp://x", "file:///x", "x y", "http://", "http://a/?b", "http://a/#b", "https://a\nb" };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    setenv("HF_ENDPOINT", wrong[i], 1);
    refused("pull org/name", "wanted: an address, as https://huggingface.co");
  }
}
END_TEST

/* ---- what is here now, is told what it is good for */
START_TEST(what_was_fetched_is_offered_for_what_it_can_do)
{
  if (no_curl()) return;
  fill(&the_hub);
  keep_words(&the_hub, "chat_template.jinja", "{{ messages[0].content }}");
  struct run r = pull("pull org/name");
  ck_assert_msg(says(&r, 0, "hint: incipit chat -m org/name talks with it\n"), "%s", r.err);
  done(&r);
  the_hub.file[0] = (struct kept_file) { "config.json", "{\"model_type\":\"bert\"}", 21, false };
  r = pull("pull org/name --revision other");
  ck_assert_msg(says(&r, 0, "hint: it cannot be run: ") && strstr(r.err, "model_type is \"bert\", which reads texts") != NULL
    && strstr(r.err, "talks with it") == NULL, "%s", r.err);
  done(&r);
}
END_TEST

/* ---- the disk */
START_TEST(a_full_disk_is_said_before_or_keeps_what_came)
{
  if (no_curl()) return;
  fill(&the_hub);
  static const char huge[] = "{" SHA ",\"siblings\":[{\"rfilename\":\"a.gguf\",\"size\":17592186044416," BLOB "}]}";
  the_hub.answer = huge, the_hub.n_answer = sizeof huge - 1;
  refused("pull org/name", "the disk has room for ");
  ck_assert_uint_eq(the_hub.n_asked, 1);
  hub_mended(&the_hub);
  struct rlimit was, less;
  ck_assert(getrlimit(RLIMIT_FSIZE, &was) == 0);
  less = was, less.rlim_cur = 20000;
  ck_assert(the_hub.file[3].n > 20000 && setrlimit(RLIMIT_FSIZE, &less) == 0);
  refused("pull org/name", "cannot be written: File too large; what has come is kept");
  ck_assert(setrlimit(RLIMIT_FSIZE, &was) == 0 && part_size() == 20000);
  fetched("pull org/name");
  ck_assert(has("model.safetensors", &the_hub.file[3]));
  ck_assert_str_eq(the_hub.asked[the_hub.n_asked - 2].range, "bytes=20000-");
  /* folders that cannot be */
  char path[500];
  snprintf(path, sizeof path, "%s/incipit/org2", home);
  FILE *f = fopen(path, "w");
  ck_assert(f != NULL && fclose(f) == 0);
  refused("pull org2/name", "org2: this folder cannot be made");
  refused("pull org/name --dir /dev/null/x", "/dev/null: this folder cannot be made");
  refused("pull org/name --dir /proc/nowhere", "cannot be made");
  /* a link that leads nowhere: mkdir says that there is something, and who looks behind it, that there is nothing */
  char line[600];
  snprintf(path, sizeof path, "%s/dangling", home);
  snprintf(line, sizeof line, "pull org/name --dir %s", path);
  ck_assert(symlink("nowhere", path) == 0);
  refused(line, "dangling: this folder cannot be made: File exists");
}
END_TEST

/* ---- Ctrl-C */
START_TEST(a_pull_that_is_stopped_can_be_gone_on_with)
{
  if (no_curl()) return;
  fill(&the_hub);
  struct run r = { .status = 0 };
  char words[300], script[500], out[100];
  snprintf(script, sizeof script, "rm -rf '%s'", store);
  /* within the wait, which is asked every tenth of a second; how often it is asked before depends on the machine */
  for (unsigned asks = 12; asks < 2000; asks *= 2) {
    ck_assert(shell(script, out, sizeof out) == 0);
    snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors"), the_hub.cut = 5000, the_hub.cuts = 1, the_hub.waits = true;
    asks_allowed = asks;
    done(&r);
    r = pull("pull org/name");
    if (part_size() == 5000) break;
  }
  snprintf(words, sizeof words, "incipit: model.safetensors: stopped at 5000 of %zu bytes; they are kept, and the same line goes on from there\n", the_hub.file[3].n);
  ck_assert_msg(r.status == 130 && strcmp(r.err, words) == 0, "%d %s", r.status, r.err);
  ck_assert(part_size() == 5000 && !has("config.json", NULL));
  done(&r);
  asks_allowed = 0;
  hub_mended(&the_hub);
  fetched("pull org/name");
  ck_assert_str_eq(the_hub.asked[1].range, "bytes=5000-");
  ck_assert(has("model.safetensors", &the_hub.file[3]));
  /* at every moment: while the hub is asked, while what is here is read, between two tries; what is kept is right */
  for (unsigned at = 1; at < 28; at += 3) {
    snprintf(script, sizeof script, "rm -f '%s'/org/name/model.safetensors", store);
    ck_assert(shell(script, out, sizeof out) == 0);
    hub_mended(&the_hub);
    snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors"), the_hub.cut = 5000, the_hub.cuts = 1;
    asks_allowed = at;
    r = pull("pull org/name --json");
    ck_assert_msg((r.status == 130 && r.n_out == 0) || r.status == 0, "%u: %d %s", at, r.status, r.err);
    asks_allowed = 0;
    done(&r);
  }
  fetched("pull org/name");
  ck_assert(has("model.safetensors", &the_hub.file[3]) && has("config.json", &the_hub.file[0]) && how_many(".part") == 0);
}
END_TEST

START_TEST(two_pulls_do_not_write_into_one_folder)
{
  if (no_curl()) return;
  fill(&the_hub);
  char path[500], script[2900], out[2000];
  snprintf(path, sizeof path, "%s/org/name", store);
  snprintf(script, sizeof script, "mkdir -p '%s'", path);
  ck_assert(shell(script, out, sizeof out) == 0);
  int held = open(path, O_RDONLY | O_DIRECTORY);
  ck_assert(held >= 0 && flock(held, LOCK_EX) == 0);
  refused("pull org/name", "another incipit fetches into this folder");
  ck_assert(how_many(".part") == 0 && !has("config.json", NULL));
  /* the folder is locked for the name alone, too: all bytes are there, and the last file is still called a part */
  close(held);
  snprintf(script, sizeof script, "mkdir '%s/config.json'", path);
  ck_assert(shell(script, out, sizeof out) == 0);
  refused("pull org/name", "config.json: cannot be written");
  ck_assert(how_many(".part") == 1);
  snprintf(script, sizeof script, "rmdir '%s/config.json'", path);
  ck_assert(shell(script, out, sizeof out) == 0);
  held = open(path, O_RDONLY | O_DIRECTORY);
  ck_assert(held >= 0 && flock(held, LOCK_EX) == 0);
  refused("pull org/name", "another incipit fetches into this folder");
  close(held);
  fetched("pull org/name");
  /* two real ones: one fetches, the other waits for nothing; together they leave one model */
  snprintf(script, sizeof script, "rm -rf '%s'; %s/incipit pull org/name -q >/dev/null 2>'%s/a' & %s/incipit pull org/name -q >/dev/null 2>'%s/b'; wait; cat '%s/a' '%s/b'",
    store, build_dir(), home, build_dir(), home, home, home);
  ck_assert(shell(script, out, sizeof out) == 0);
  ck_assert_msg(out[0] == '\0' || strstr(out, "another incipit fetches") != NULL, "%s", out);
  for (int i = 0; i < 4; i++) ck_assert(has(the_hub.file[i].name, &the_hub.file[i]));
  ck_assert(how_many(".part") == 0);
}
END_TEST

/* ---- a folder of the user's own */
START_TEST(nothing_in_a_folder_of_ones_own_is_replaced)
{
  if (no_curl()) return;
  fill(&the_hub);
  char path[800], out[600], script[1900];
  struct run r = pull("pull org/name --dir @/mine");
  snprintf(out, sizeof out, "kept in %s/mine\n", home);
  ck_assert_msg(r.status == 0 && strstr(r.out, out) != NULL && strstr(r.err, "/mine continues a text; ") != NULL && access(store, F_OK) != 0, "%s%s", r.out, r.err);
  done(&r);
  r = run("generate The -n 1 -m @/mine");
  ck_assert_int_eq(r.status, 0);
  done(&r);
  hub_mended(&the_hub);
  fetched("pull org/name --dir @/mine");
  ck_assert_uint_eq(the_hub.n_asked, 1);
  snprintf(path, sizeof path, "%s/mine/generation_config.json", home);
  FILE *f = fopen(path, "w");
  fputs("mine", f), fclose(f);
  snprintf(script, sizeof script, "rm '%s/mine/model.safetensors'", home);
  ck_assert(shell(script, out, sizeof out) == 0);
  refused("pull org/name --dir @/mine", "generation_config.json: this is another file than the hub's, and is not replaced");
  snprintf(path, sizeof path, "%s/mine/config.json", home);
  ck_assert(access(path, F_OK) == 0 && the_hub.n_asked == 2);
  /* a link where a part would be is not written through */
  struct hub_file file = { .name = "model.safetensors" };
  char *about = describe(&the_hub), *sum = strstr(about, "\"sha256\":\"") + 10;
  snprintf(path, sizeof path, "%s/other/model.safetensors.%.16s.part", home, sum);
  free(about), (void) file;
  snprintf(script, sizeof script, "mkdir '%s/other'; echo precious > '%s/precious'; ln -s '%s/precious' '%s'", home, home, home, path);
  ck_assert(shell(script, out, sizeof out) == 0);
  refused("pull org/name --dir @/other", "cannot be written: ");
  snprintf(script, sizeof script, "cat '%s/precious'", home);
  ck_assert(shell(script, out, sizeof out) == 0);
  ck_assert_str_eq(out, "precious\n");
}
END_TEST

/* ---- what is seen, and options */
START_TEST(progress_is_for_eyes_and_every_option_does_something)
{
  if (no_curl()) return;
  fill(&the_hub);
  snprintf(the_hub.of, sizeof the_hub.of, "model.safetensors"), the_hub.cut = 5000, the_hub.cuts = 1, the_hub.waits = true;
  struct run r = { .status = 0 };
  for (unsigned asks = 12; asks < 2000; asks *= 2) { /* a line is shown after half a second */
    the_hub.cuts = 1, asks_allowed = asks;
    done(&r);
    r = pull_as("pull org/name", WATCHED, 0);
    if (strstr(r.err, "\rmodel.safetensors: ") != NULL) break;
  }
  ck_assert_msg(r.status == 130 && strstr(r.err, "asking http://127.0.0.1:") != NULL && strstr(r.err, " kB of 69.8 kB, ") != NULL, "%s", r.err);
  asks_allowed = 0;
  done(&r);
  hub_mended(&the_hub);
  r = pull_as("pull org/name -q", WATCHED, 0);
  ck_assert_msg(r.status == 0 && r.n_err == 0, "%s", r.err);
  done(&r);
  static const struct { const char *option, *line; int status; const char *words; } at[] = {
    { "revision", "pull org/name --revision ../x", 2, "--revision is `../x'; wanted: a branch" }, { "dir", "pull org/name --dir ''", 2, "--dir is empty; wanted: DIR" },
    { "dry-run", "pull --list --dry-run", 2, "--list contradicts --dry-run" }, { "list", "pull org/name --list", 2, "--list contradicts `org/name'" },
    { "json", "pull --list --json=1", 2, "--json takes no value" }, { "quiet", "pull --list --quiet=1", 2, "--quiet takes no value" },
    { "help", "pull --help=1", 2, "--help takes no value" } };
  static bool seen[N_OPTIONS];
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    r = pull(at[i].line);
    ck_assert_msg(says(&r, at[i].status, at[i].words), "%s: %s", at[i].line, r.err);
    done(&r);
    for (int o = 0; o < N_OPTIONS; o++)
      seen[o] = seen[o] || ((options_option((enum option) o).where >> SUB_PULL & 1) != 0 && strcmp(options_option((enum option) o).name, at[i].option) == 0);
  }
  for (int o = 0; o < N_OPTIONS; o++)
    ck_assert_msg(seen[o] || (options_option((enum option) o).where >> SUB_PULL & 1) == 0, "%s", options_option((enum option) o).name);
  static const struct { const char *line, *words; } wrong[] = { { "pull", "pull needs ORG/NAME, or --list" }, { "pull gpt2", "`gpt2' is no name of a model; wanted: ORG/NAME" },
    { "pull a/b c/d", "`c/d' is one word too many; one model at a time" }, { "pull https://huggingface.co/a/b", "is an address; wanted: the name within it, a/b" } };
  for (size_t i = 0; i < 4; i++) {
    r = pull(wrong[i].line);
    ck_assert_msg(says(&r, 2, wrong[i].words), "%s: %s", wrong[i].line, r.err);
    done(&r);
  }
}
END_TEST

START_TEST(without_libcurl_there_is_a_sentence)
{
  char *argv[] = { "incipit", "pull", "org/name", NULL }, *list[] = { "incipit", "pull", "--list", NULL };
  struct memory m = { .fail_at = 0 };
  struct command_line w;
  struct error why;
  char *text = NULL;
  size_t n = 0;
  FILE *err = open_memstream(&text, &n), *out = tmpfile();
  struct console c = { .in = stdin, .out = out, .err = err, .program = "incipit", .build = "none", .memory = &m, .listen = listen_to_nobody, .interrupted = counted_interrupt };
  ck_assert(options_parse(&w, 3, argv, &why) && pull_without_curl(&c, &w) == 1);
  fflush(err);
  ck_assert_msg(strstr(text, "built without libcurl; wanted: the library (libcurl4-openssl-dev), and make again") != NULL, "%s", text);
  ck_assert(options_parse(&w, 3, list, &why) && pull_without_curl(&c, &w) == 0);
  fclose(err), fclose(out), free(text);
}
END_TEST

START_TEST(every_refusal_of_memory_is_survived)
{
  if (no_curl()) return;
  fill(&the_hub);
  struct run good = pull("pull org/name --json");
  uint64_t n = good.m.all.requests;
  ck_assert(good.status == 0 && n > 3);
  done(&good);
  for (uint64_t k = 1; k <= n + 3; k++) {
    the_hub.n_asked = 0;
    struct run r = pull_as("pull org/name --json", 0, k);
    bool is_refused = r.status == 1 && strncmp(r.err, "incipit: ", 9) == 0 && strchr(r.err, '\n') == r.err + r.n_err - 1 && r.n_out == 0;
    ck_assert_msg(is_refused || r.status == 0, "request %lu: %d %s", (unsigned long) k, r.status, r.err);
    done(&r);
  }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("pull");
  const struct { const char *name; const TTest *test[7]; } part[] = {
    { "names", { sums_are_those_of_the_standards, names_of_models_are_plain, a_file_is_picked_by_a_word_of_its_name, a_hostile_answer_is_refused,
      files_are_found_one_folder_below, what_the_engine_reads_is_chosen, without_libcurl_there_is_a_sentence } },
    { "whole", { a_model_is_fetched_whole_and_found, a_path_goes_before_a_name, one_gguf_file_is_fetched_and_found, a_model_in_several_files_is_fetched_whole, nothing_in_a_folder_of_ones_own_is_replaced,
      progress_is_for_eyes_and_every_option_does_something, every_refusal_of_memory_is_survived } },
    { "cut", { a_transfer_goes_on_where_it_was_cut, a_wrong_range_is_never_written_on, without_a_strong_mark_all_is_fetched_again,
      another_version_is_not_gone_on_with, a_pull_that_is_stopped_can_be_gone_on_with, two_pulls_do_not_write_into_one_folder } },
    { "wrong", { wrong_bytes_never_get_a_name, more_than_the_list_says_is_not_taken, what_was_fetched_is_offered_for_what_it_can_do, a_full_disk_is_said_before_or_keeps_what_came } },
    { "elsewhere", { a_token_stays_with_the_hub, a_token_comes_from_a_file_or_a_variable, a_proxy_is_used_and_hears_no_token, places_that_are_not_gone_to,
      https_is_not_left_and_not_believed, each_refusal_of_the_hub_is_a_sentence } } };
  for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
    TCase *t = tcase_create(part[i].name);
    tcase_add_checked_fixture(t, at_home, from_home);
    for (size_t k = 0; k < 7 && part[i].test[k] != NULL; k++) tcase_add_test(t, part[i].test[k]);
    suite_add_tcase(s, t);
  }
  return suite_run(s);
}
