/* Models in several GGUF files: a model that is cut computes the bits of the whole, whichever part is named and however it was cut; and
   parts that do not belong together are refused, by file and key. The cutter is ours, so that it can cut wrongly. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include "variants.h"
#include "runs.h"
#include "cutter.h"
#include "templates/conversations.h"
#include "tokenizer/tokenizer.h"

static const char *room(void)
{
  const char *t = getenv("TMPDIR");
  if (room_dir[0] != '\0') return room_dir;
  snprintf(room_dir, 200, "%s/incipit-parts-XXXXXX", t ? t : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(room_dir));
  return room_dir;
}
static char *in_room(char path[400], const char *name)
{
  snprintf(path, 400, "%.199s/%.190s", room(), name);
  return path;
}
static void leave(void)
{
  variant_drop(room());
  room_dir[0] = '\0';
}
/* ---- the model is the same */
static void same_logits(const char *whole, const char *part)
{
  struct rig a, b;
  static float x[6 * 2100], y[6 * 2100];
  uint32_t ids[6] = { 3, 1, 4, 1, 5, 9 };
  size_t which[6] = { 0, 1, 2, 3, 4, 5 };
  ck_assert_msg(rig_open(&a, whole, NULL, 1, 1), "%s", a.why.text);
  ck_assert_msg(rig_open(&b, part, NULL, 1, 1), "%s: %s", part, b.why.text);
  const struct model_config *c = &a.lm->config, *d = &b.lm->config;
  ck_assert(c->vocab_size <= 2100 && c->vocab_size == d->vocab_size && c->tied == d->tied && c->qkv_bias == d->qkv_bias);
  ck_assert(model_evaluate(&a.e, a.lm, a.s, ids, 6, which, 6, x, &a.why) && model_evaluate(&b.e, b.lm, b.s, ids, 6, which, 6, y, &b.why));
  ck_assert(memcmp(x, y, 6 * c->vocab_size * sizeof *x) == 0);
  ck_assert(b.m.of[MEMORY_WEIGHTS].live == 0); /* mapped, as a whole file is */
  ck_assert(tensor_file_count(a.lm->weights) == tensor_file_count(b.lm->weights));
  store_close(a.s), store_close(b.s), model_close(&a.m, a.lm), model_close(&b.m, b.lm);
  ck_assert(a.m.all.live == 0 && b.m.all.live == 0);
}
static const struct cut good[] = { { .n = 1 }, { .n = 2 }, { .n = 3, .turned = true }, { .n = 4, .bare = true }, { .n = 5, .bare = true, .turned = true },
  { .n = 2, .at = 2, .add = "general.alignment", .type = GGUF_U32, .number = 32 }, { .n = 2, .at = 2, .add = "general.finetune", .text = "a part" },
  { .n = 2, .at = 2, .add = "general.architecture", .text = "llama" }, { .n = 2, .at = 2, .drop = "split.tensors.count" } };
START_TEST(any_part_opens_the_whole)
{
  static const char *const model[] = { "small", "llama", "qwen2", "gpt2" };
  char whole[400], part[400];
  make_whole(model[_i], in_room(whole, "whole.gguf"));
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    if (good[i].add != NULL && _i > 1) continue; /* of another architecture */
    cut(whole, good[i]);
    for (unsigned no = 1; no <= good[i].n; no++) same_logits(whole, part_path(part, no, good[i].n));
  }
  leave();
}
END_TEST

START_TEST(vocabulary_and_template_are_in_the_first)
{
  char whole[400], part[400];
  static const char text[] = "The cat sat on the mat, twice.";
  make_whole("small", in_room(whole, "whole.gguf"));
  cut(whole, (struct cut) { .n = 3, .bare = true });
  for (unsigned no = 1; no <= 3; no++) {
    struct memory m = { 0 };
    struct error why = { "" };
    struct ids a = { 0 }, b = { 0 };
    struct tokenizer *t = tokenizer_open(&m, whole, &why), *u = tokenizer_open(&m, part_path(part, no, 3), &why);
    ck_assert_msg(t != NULL && u != NULL, "%s", why.text);
    ck_assert(tokenizer_encode(t, &m, text, sizeof text - 1, true, true, &a, &why) && tokenizer_encode(u, &m, text, sizeof text - 1, true, true, &b, &why));
    ck_assert(a.n == b.n && memcmp(a.id, b.id, a.n * sizeof *a.id) == 0);
    ids_free(&m, &a), ids_free(&m, &b), tokenizer_close(&m, t), tokenizer_close(&m, u);
    ck_assert_uint_eq(m.all.live, 0);
    ck_assert(!chat_template_given(whole) && chat_template_given(part));
  }
  struct run r = run("chat -m @/m-00002-of-00003.gguf -n 3 -q <Hello");
  ck_assert_msg(r.status == 0 && r.n_out > 0, "%s", r.err);
  done(&r);
  leave();
}
END_TEST

START_TEST(inspect_counts_them)
{
  char whole[400];
  make_whole("small", in_room(whole, "whole.gguf"));
  cut(whole, (struct cut) { .n = 3 });
  struct run w = run("inspect @/whole.gguf"), p = run("inspect @/m-00002-of-00003.gguf"), j = run("inspect @/m-00003-of-00003.gguf --json"),
             s = run("inspect tests/golden/llama --json");
  ck_assert_msg(w.status == 0 && p.status == 0, "%s%s", w.err, p.err);
  ck_assert(strstr(w.out, "parts:") == NULL && strstr(p.out, "parts: 3 files\n") != NULL);
  json_t *o = object_of(&j), *q = object_of(&s);
  ck_assert_int_eq(json_integer_value(json_object_get(o, "parts")), 3);
  ck_assert_int_eq(json_integer_value(json_object_get(q, "parts")), 2); /* shards are files as well */
  json_decref(o), json_decref(q), done(&w), done(&p), done(&j), done(&s);
  leave();
}
END_TEST

/* the parts of a model can be made one, and none of them is written over */
START_TEST(quantize_makes_them_whole)
{
  char whole[400], one[400], two[400], part[400];
  size_t n, k;
  make_whole("small", in_room(whole, "whole.gguf"));
  cut(whole, (struct cut) { .n = 1 });
  cut(whole, (struct cut) { .n = 3, .turned = true });
  struct run a = run("quantize -q -m @/m-00001-of-00001.gguf --type q8_0 --out @/one.gguf"),
             b = run("quantize -q -m @/m-00003-of-00003.gguf --type q8_0 --out @/two.gguf"),
             c = run("quantize -q -m @/m-00001-of-00003.gguf --type q8_0 --out @/m-00003-of-00003.gguf"),
             e = run("quantize -q -m @/m-00001-of-00003.gguf --type q8_0 --out @/m-00002-of-00003.gguf");
  ck_assert_msg(a.status == 0 && b.status == 0, "%s%s", a.err, b.err);
  ck_assert_msg(e.status == 1 && strstr(e.err, "is the model itself, or a file of it") != NULL, "%s", e.err);
  ck_assert_msg(c.status == 1 && strstr(c.err, "is the model itself, or a file of it") != NULL, "%s", c.err);
  unsigned char *x = slurp(in_room(one, "one.gguf"), &n), *y = slurp(in_room(two, "two.gguf"), &k);
  ck_assert(n == k && memcmp(x, y, n) == 0);
  same_logits(whole, part_path(part, 3, 3));
  struct memory m = { 0 };
  struct error why = { "" };
  struct gguf_parts p;
  ck_assert(gguf_parts_open(&p, &m, two, &why) && gguf_find(&p.part[0].g, "split.no") == NULL
    && gguf_find(&p.part[0].g, "split.count") == NULL && gguf_find(&p.part[0].g, "split.tensors.count") == NULL);
  gguf_parts_close(&p);
  free(x), free(y), done(&a), done(&b), done(&c), done(&e);
  leave();
}
END_TEST

/* ---- parts that do not belong together */
static void same_as(unsigned no, unsigned other, unsigned of) /* part no becomes a copy of another */
{
  char path[400];
  size_t n;
  unsigned char *b = slurp(part_path(path, other, of), &n);
  spill(part_path(path, no, of), b, n);
  free(b);
}
static void lost(void) { char path[400]; unlink(part_path(path, 2, 3)); }
static void first_lost(void) { char path[400]; unlink(part_path(path, 1, 3)); }
static void last_lost(void) { char path[400]; unlink(part_path(path, 3, 3)); }
static void again(void) { same_as(2, 3, 3); }
static void first_again(void) { same_as(3, 1, 3); }
static void second_first(void) { same_as(1, 2, 3); }
static void folder(void) { char path[400]; lost(), mkdir(part_path(path, 2, 3), 0777); }
static void pipe_there(void) { char path[400]; lost(), mkfifo(part_path(path, 2, 3), 0600); }
static void loop(void)
{
  char path[400];
  lost();
  ck_assert(symlink("m-00002-of-00003.gguf", part_path(path, 2, 3)) == 0);
}
static void empty(void) { char path[400]; spill(part_path(path, 2, 3), "", 0); }
static void other_kind(void) { char path[400]; spill(part_path(path, 2, 3), "version https://git-lfs", 23); }
static void cut_off(void)
{
  char path[400];
  size_t n;
  unsigned char *b = slurp(part_path(path, 3, 3), &n);
  spill(path, b, n - 40);
  free(b);
}
static void of_more(void) /* its name says four */
{
  char path[400], to[400];
  rename(part_path(path, 1, 3), part_path(to, 1, 4));
}
static void renamed(void)
{
  char path[400], to[400];
  rename(part_path(path, 1, 3), in_room(to, "m.gguf"));
}
static void other_model(void)
{
  char whole[400], path[400], kept[400];
  in_room(kept, "kept.gguf");
  rename(part_path(path, 1, 3), kept);
  make_whole("llama", in_room(whole, "other.gguf"));
  cut(whole, (struct cut) { .n = 3 });
  rename(kept, path);
}
#define PART2 .n = 3, .at = 2
static const struct {
  const char *what;
  struct cut how;
  void (*then)(void);
  const char *open, *words; /* the file whose path is given, and what the sentence has */
} bad[] = {
  { "the second is lost", { .n = 3 }, lost, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: this is missing; wanted: part 2 of 3, each of which is a file" },
  { "the first is lost", { .n = 3 }, first_lost, "m-00003-of-00003.gguf", "m-00001-of-00003.gguf: this is missing; wanted: part 1 of 3" },
  { "the last is lost", { .n = 3 }, last_lost, "m-00002-of-00003.gguf", "m-00003-of-00003.gguf: this is missing; wanted: part 3 of 3" },
  { "a link to itself", { .n = 3 }, loop, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: this is missing" },
  { "a folder", { .n = 3 }, folder, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: this is a directory; wanted: a file" },
  { "a pipe", { .n = 3 }, pipe_there, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: this is not a regular file" },
  { "an empty file", { .n = 3 }, empty, "m-00003-of-00003.gguf", "m-00002-of-00003.gguf: the beginning is" },
  { "a pointer", { .n = 3 }, other_kind, "m-00003-of-00003.gguf", "m-00002-of-00003.gguf: the beginning is something else" },
  { "the third, cut off", { .n = 3 }, cut_off, "m-00001-of-00003.gguf", "m-00003-of-00003.gguf: " },
  { "the third twice", { .n = 3 }, again, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: split.no is 2; wanted: 1, as its name says" },
  { "the first twice", { .n = 3 }, first_again, "m-00001-of-00003.gguf", "m-00003-of-00003.gguf: split.no is 0; wanted: 2" },
  { "the second as the first", { .n = 3 }, second_first, "m-00001-of-00003.gguf", "m-00001-of-00003.gguf: split.no is 1; wanted: 0" },
  { "no number", { PART2, .drop = "split.no" }, NULL, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: split.no is missing; wanted: 1" },
  { "a number in words", { PART2, .drop = "split.no", .add = "split.no", .text = "1" }, NULL, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: split.no is \"1\"; wanted: 1" },
  { "a number below 0", { PART2, .drop = "split.no", .add = "split.no", .type = GGUF_I32, .number = -1 }, NULL, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: split.no is -1" },
  { "half a number", { PART2, .drop = "split.no", .add = "split.no", .type = GGUF_F32, .number = 0x3f800000 }, NULL, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: split.no is 1; wanted: 1" },
  { "no count", { PART2, .drop = "split.count" }, NULL, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: split.count is missing; wanted: 3" },
  { "another count", { PART2, .drop = "split.count", .add = "split.count", .type = GGUF_U16, .number = 4 }, NULL, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: split.count is 4; wanted: 3, as the name of the file says" },
  { "another count in what is named", { PART2, .drop = "split.count", .add = "split.count", .type = GGUF_U16, .number = 4 }, NULL, "m-00002-of-00003.gguf", "m-00002-of-00003.gguf: split.count is 4; wanted: 3, as the name of the file says" },
  { "a count of 2^63", { .n = 3, .at = 1, .drop = "split.count", .add = "split.count", .type = GGUF_U64, .number = INT64_MIN }, NULL, "m-00001-of-00003.gguf", "m-00001-of-00003.gguf: split.count is 9223372036854775808; wanted: an integer from 1 to 1000" },
  { "a count of 1001", { .n = 3, .at = 1, .drop = "split.count", .add = "split.count", .type = GGUF_U16, .number = 1001 }, NULL, "m-00001-of-00003.gguf", "split.count is 1001; wanted: an integer from 1 to 1000" },
  { "a count below 0", { .n = 3, .at = 1, .drop = "split.count", .add = "split.count", .type = GGUF_I8, .number = -1 }, NULL, "m-00001-of-00003.gguf", "split.count is -1; wanted: an integer from 1" },
  { "a count in words", { .n = 3, .at = 1, .drop = "split.count", .add = "split.count", .text = "3" }, NULL, "m-00001-of-00003.gguf", "split.count is \"3\"; wanted: an integer" },
  { "a count that is a truth", { .n = 3, .at = 1, .drop = "split.count", .add = "split.count", .type = GGUF_BOOL, .number = 1 }, NULL, "m-00001-of-00003.gguf", "split.count is true; wanted: an integer" },
  { "of four by its name", { .n = 3 }, of_more, "m-00001-of-00004.gguf", "m-00001-of-00004.gguf: split.count is 3; wanted: 4, as the name of the file says" },
  { "without a part's name", { .n = 3 }, renamed, "m.gguf", "m.gguf: split.count is 3; wanted: a file with a name such as NAME-00001-of-00003.gguf, by which the other parts are found" },
  { "one tensor too many", { .n = 3, .more = -1 }, NULL, "m-00001-of-00003.gguf", "m-00001-of-00003.gguf: split.tensors.count is 20; wanted: 21, as many as the parts have" },
  { "one tensor too few", { .n = 3, .more = 1 }, NULL, "m-00002-of-00003.gguf", "m-00001-of-00003.gguf: split.tensors.count is 22; wanted: 21" },
  { "no count of tensors", { .n = 3, .at = 1, .drop = "split.tensors.count" }, NULL, "m-00002-of-00003.gguf", "m-00001-of-00003.gguf: split.tensors.count is missing; wanted: 21, as many as the parts have" },
  { "another count of tensors", { PART2, .drop = "split.tensors.count", .add = "split.tensors.count", .type = GGUF_I32, .number = 7 }, NULL, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: split.tensors.count is 7; wanted: 21, as in the first part" },
  { "the same count in another type", { PART2, .drop = "split.tensors.count", .add = "split.tensors.count", .type = GGUF_U32, .number = 21 }, NULL, "m-00001-of-00003.gguf", NULL },
  { "a tensor in no part", { .n = 3, .turned = true, .lost = true, .more = -1 }, NULL, "m-00003-of-00003.gguf", "m-00001-of-00003.gguf: blk.0.attn_k.weight is missing; wanted: [" },
  { "a tensor in two parts", { .n = 3, .twice = 1, .more = 1 }, NULL, "m-00001-of-00003.gguf", "is given twice; wanted: each name once" },
  { "another architecture", { PART2, .add = "general.architecture", .text = "qwen2" }, NULL, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: general.architecture is \"qwen2\"; wanted: \"llama\", as in the first part" },
  { "another name", { PART2, .add = "general.name", .text = "x" }, NULL, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: general.name is \"x\"; wanted: \"small\", as in the first part" },
  { "settings in a later part", { PART2, .add = "llama.expert_count", .type = GGUF_U32, .number = 8 }, NULL, "m-00001-of-00003.gguf", "m-00002-of-00003.gguf: llama.expert_count is in this part; wanted: in the first part, which has all that describes the model" },
  { "another setting", { PART2, .add = "llama.block_count", .type = GGUF_U32, .number = 8 }, NULL, "m-00003-of-00003.gguf", "m-00002-of-00003.gguf: llama.block_count is 8; wanted: 2, as in the first part" },
  { "a key that is one part's only", { PART2, .add = "split.odd", .type = GGUF_U32, .number = 8 }, NULL, "m-00003-of-00003.gguf", NULL },
  { "parts of another model", { .n = 3 }, other_model, "m-00001-of-00003.gguf", "m-00003-of-00003.gguf: token_embd.weight is [24, 16]; wanted: [24, 32]" },
};
enum { N_BAD = sizeof bad / sizeof *bad };
START_TEST(parts_that_do_not_belong_together)
{
  char whole[400], path[400], first[400];
  for (int i = 0; i < N_BAD; i++) {
    struct memory m = { 0 };
    struct error why = { "" };
    struct model_config c;
    make_whole("small", in_room(whole, "whole.gguf"));
    cut(whole, bad[i].how);
    if (bad[i].then != NULL) bad[i].then();
    in_room(path, bad[i].open);
    struct model *lm = model_open(&m, path, &why);
    ck_assert_msg((lm != NULL) == (bad[i].words == NULL), "%s: %s", bad[i].what, why.text);
    model_close(&m, lm);
    snprintf(first, sizeof first, "%.199s/", room());
    if (bad[i].words != NULL) ck_assert_msg(strstr(why.text, bad[i].words) != NULL && strncmp(why.text, first, strlen(first)) == 0, "%s: %s", bad[i].what, why.text);
    /* the settings alone are refused as well, but for what only the list of tensors shows */
    if (config_open(&c, &m, path, &why)) {
      ck_assert_msg(bad[i].words == NULL || bad[i].how.twice > 0 || bad[i].how.lost || bad[i].then == other_model, "%s", bad[i].what);
      config_close(&m, &c);
    }
    ck_assert_msg(m.all.live == 0, "%s", bad[i].what);
    variant_drop(room()), mkdir(room_dir, 0700);
  }
  tally("tests/suites/check_parts.c: parts that do not belong together", N_BAD, 0, 0, "");
  leave();
}
END_TEST

/* names that are parts' and names that are not */
START_TEST(names_of_parts)
{
  static const struct { const char *name; size_t stem; unsigned no, of; } at[] = { { "m-00001-of-00002.gguf", 1, 1, 2 }, { "a/b/m-00012-of-00345.gguf", 5, 12, 345 },
    { "m-1-of-2.gguf", 0, 0, 0 }, { "m-00003-of-00002.gguf", 0, 0, 0 }, { "m-00000-of-00002.gguf", 0, 0, 0 }, { "m-00001-of-00000.gguf", 0, 0, 0 },
    { "-00001-of-00002.gguf", 0, 0, 0 }, { "a/-00001-of-00002.gguf", 0, 0, 0 }, { "m-00001-of-00002.GGUF", 0, 0, 0 }, { "m-00001-of-00002.gguf.part", 0, 0, 0 },
    { "m_00001-of-00002.gguf", 0, 0, 0 }, { "m-0000x-of-00002.gguf", 0, 0, 0 }, { "m-00001-af-00002.gguf", 0, 0, 0 }, { "m-00001-of-0000/.gguf", 0, 0, 0 },
    { "m-99999-of-99999.gguf", 1, 99999, 99999 }, { "", 0, 0, 0 } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    unsigned no = 0, of = 0;
    size_t stem = gguf_part_named(at[i].name, &no, &of);
    ck_assert_msg(stem == at[i].stem && (stem == 0 || (no == at[i].no && of == at[i].of)), "%s: %zu %u %u", at[i].name, stem, no, of);
  }
}
END_TEST

/* a name alone makes no parts: a whole file may be called so */
START_TEST(a_whole_file_may_have_any_name)
{
  char whole[400], named[400];
  make_whole("small", in_room(whole, "whole.gguf"));
  cut(whole, (struct cut) { .n = 3 });
  rename(whole, part_path(named, 2, 7));
  same_logits(named, part_path(whole, 1, 3));
  leave();
}
END_TEST

/* every request for memory refused once */
START_TEST(memory_runs_out)
{
  char whole[400], path[400];
  make_whole("small", in_room(whole, "whole.gguf"));
  cut(whole, (struct cut) { .n = 3 });
  part_path(path, 2, 3);
  for (uint64_t at = 1;; at++) {
    struct memory m = { .fail_at = at };
    struct error why = { "" };
    struct model *lm = model_open(&m, path, &why);
    bool done = m.all.refused == 0;
    ck_assert_msg((lm != NULL) == done && (done || strstr(why.text, "out of memory") != NULL), "%d: %s", (int) at, why.text);
    model_close(&m, lm);
    ck_assert_uint_eq(m.all.live, 0);
    if (done) break;
  }
  leave();
}
END_TEST

int main(void)
{
  Suite *s = suite_create("parts");
  TCase *c = tcase_create("parts");
  tcase_add_loop_test(c, any_part_opens_the_whole, 0, 4);
  tcase_add_test(c, vocabulary_and_template_are_in_the_first);
  tcase_add_test(c, inspect_counts_them);
  tcase_add_test(c, quantize_makes_them_whole);
  tcase_add_test(c, parts_that_do_not_belong_together);
  tcase_add_test(c, names_of_parts);
  tcase_add_test(c, a_whole_file_may_have_any_name);
  tcase_add_test(c, memory_runs_out);
  suite_add_tcase(s, c);
  return suite_run(s);
}
