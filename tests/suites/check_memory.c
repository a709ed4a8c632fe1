/* memory: nine numbers, and what they are worth: in words and as an object, of a model on disk and
   of a shape. */
#define _GNU_SOURCE
#include <glob.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include "room.h"
#include "families/loader.h"

enum { NONE = -1 }; /* where null is wanted */
static const char account_keys[] = "parameters weights_bytes kv_bytes_per_token context batch "
                                   "kv_bytes total_bytes max_context max_batch";
static void account_of(const char *line, int64_t field[9])
{
  char copy[sizeof account_keys];
  struct run r = run(line);
  ck_assert_msg(r.status == 0 && r.n_err == 0 && lines_of(&r) == 1, "%s: %s%s", line, r.out, r.err);
  json_t *o = object_of(&r);
  has_keys(o, account_keys);
  strcpy(copy, account_keys);
  for (char *k = strtok(copy, " "); k != NULL; k = strtok(NULL, " ")) {
    json_t *v = json_object_get(o, k);
    ck_assert_msg(json_is_null(v) || (json_is_integer(v) && json_integer_value(v) >= 0),
      "%s: %s: %s", line, k, r.out);
    *field++ = json_is_null(v) ? NONE : json_integer_value(v);
  }
  json_decref(o), done(&r);
}
/* integers that were reckoned without the program: published numbers of weights, and products that
 * can be followed with a pencil */
START_TEST(memory_says_what_the_order_says)
{
  static const struct {
    const char *words;
    int64_t wanted[9];
  } at[] = { /* the twelve, in their own contexts */
    { "--shape gpt2", { 124439808, 248879616, 36864, 1024, 1, 37748736, 286628352, NONE, NONE } },
    { "--shape gpt2-medium",
      { 354823168, 709646336, 98304, 1024, 1, 100663296, 810309632, NONE, NONE } },
    { "--shape gpt2-large",
      { 774030080, 1548060160, 184320, 1024, 1, 188743680, 1736803840, NONE, NONE } },
    { "--shape gpt2-xl",
      { 1557611200, 3115222400, 307200, 1024, 1, 314572800, 3429795200, NONE, NONE } },
    { "--shape gpt3",
      { 174604259328, 349208518656, 4718592, 2048, 1, 9663676416, 358872195072, NONE, NONE } },
    { "--shape llama-7b",
      { 6738415616, 13476831232, 524288, 2048, 1, 1073741824, 14550573056, NONE, NONE } },
    { "--shape llama-13b",
      { 13015864320, 26031728640, 819200, 2048, 1, 1677721600, 27709450240, NONE, NONE } },
    { "--shape llama2-70b",
      { 68976648192, 137953296384, 327680, 4096, 1, 1342177280, 139295473664, NONE, NONE } },
    { "--shape llama3-8b",
      { 8030261248, 16060522496, 131072, 8192, 1, 1073741824, 17134264320, NONE, NONE } },
    { "--shape llama3-70b",
      { 70553706496, 141107412992, 327680, 8192, 1, 2684354560, 143791767552, NONE, NONE } },
    { "--shape mistral-7b",
      { 7241732096, 14483464192, 131072, 32768, 1, 536870912, 15020335104, NONE, NONE } },
    { "--shape qwen2-7b",
      { 7615616512, 15231233024, 57344, 131072, 1, 7516192768, 22747425792, NONE, NONE } },
    /* other contexts, other heads */
    { "--shape gpt2 --context 8192",
      { 124439808, 248879616, 36864, 8192, 1, 301989888, 550869504, NONE, NONE } },
    { "--shape llama-7b --context 128000",
      { 6738415616, 13476831232, 524288, 128000, 1, 67108864000, 80585695232, NONE, NONE } },
    { "--shape llama-7b --context 131072",
      { 6738415616, 13476831232, 524288, 131072, 1, 68719476736, 82196307968, NONE, NONE } },
    { "--shape llama-7b --context 131072 --kv-heads 8",
      { 5933109248, 11866218496, 131072, 131072, 1, 17179869184, 29046087680, NONE, NONE } },
    { "--shape llama2-70b --kv-heads 64",
      { 78371889152, 156743778304, 2621440, 4096, 1, 10737418240, 167481196544, NONE, NONE } },
    { "--shape gpt2 --d-model 512 --d-inner 1000 --vocab-size 300 --layers 3 --heads 8 --kv-heads "
      "8",
      { 6913464, 13826928, 6144, 1024, 1, 6291456, 20118384, NONE, NONE } },
    { "--shape gpt2 --head-dim 80",
      { 131524608, 263049216, 46080, 1024, 1, 47185920, 310235136, NONE, NONE } },
    /* a few numbers, from which nobody knows how many weights there are, and so not what fits */
    { "--layers 120 --heads 128 --head-dim 128 --context 131072",
      { NONE, NONE, 7864320, 131072, 1, 1030792151040, NONE, NONE, NONE } },
    { "--layers 120 --heads 128 --head-dim 128 --context 131072 --kv-heads 8",
      { NONE, NONE, 491520, 131072, 1, 64424509440, NONE, NONE, NONE } },
    { "--layers 26 --heads 8 --kv-heads 4 --head-dim 256",
      { NONE, NONE, 106496, NONE, 1, NONE, NONE, NONE, NONE } },
    { "--layers 26 --heads 8 --kv-heads 4 --head-dim 256 --budget 1TB --batch 7",
      { NONE, NONE, 106496, NONE, 7, NONE, NONE, NONE, NONE } },
    { "--layers 1 --heads 1 --head-dim 1 --context 10 --batch 2 --budget 1TB --window 4",
      { NONE, NONE, 4, 10, 2, 2 * 4 * 4, NONE, NONE, NONE } },
    /* a windowed layer has min(context, W) rows, and its sinks */
    { "--shape mistral-7b --context 1000",
      { 7241732096, 14483464192, 131072, 1000, 1, 131072000, 14614536192, NONE, NONE } },
    { "--shape mistral-7b --context 4095",
      { 7241732096, 14483464192, 131072, 4095, 1, 536739840, 15020204032, NONE, NONE } },
    { "--shape mistral-7b --context 4097",
      { 7241732096, 14483464192, 131072, 4097, 1, 536870912, 15020335104, NONE, NONE } },
    { "--shape mistral-7b --window 0",
      { 7241732096, 14483464192, 131072, 32768, 1, 4294967296, 18778431488, NONE, NONE } },
    { "--shape mistral-7b --window 100 --sinks 4",
      { 7241732096, 14483464192, 131072, 32768, 1, 104 * 131072, 14497095680, NONE, NONE } },
    { "--shape mistral-7b --window 100 --sinks 4 --context 103",
      { 7241732096, 14483464192, 131072, 103, 1, 103 * 131072, 14496964608, NONE, NONE } },
    { "--shape qwen2-7b --window 4096",
      { 7615616512, 15231233024, 57344, 131072, 1, 234881024, 15466114048, NONE, NONE } },
    /* rows in other numbers: 32 of them in 128, 64, 34 and 18 bytes */
    { "--shape llama-7b --kv-type f32",
      { 6738415616, 13476831232, 32 * 2 * 32 * 4 * 128, 2048, 1, 2147483648, 15624314880, NONE,
        NONE } },
    { "--shape llama-7b --kv-type f16",
      { 6738415616, 13476831232, 32 * 2 * 32 * 4 * 64, 2048, 1, 1073741824, 14550573056, NONE,
        NONE } },
    { "--shape llama-7b --kv-type bf16",
      { 6738415616, 13476831232, 32 * 2 * 32 * 4 * 64, 2048, 1, 1073741824, 14550573056, NONE,
        NONE } },
    { "--shape llama-7b --kv-type q8_0",
      { 6738415616, 13476831232, 32 * 2 * 32 * 4 * 34, 2048, 1, 570425344, 14047256576, NONE,
        NONE } },
    { "--shape llama-7b --kv-type q4_0",
      { 6738415616, 13476831232, 32 * 2 * 32 * 4 * 18, 2048, 1, 301989888, 13778821120, NONE,
        NONE } },
    { "--layers 2 --heads 3 --head-dim 80 --kv-type f32 --context 1",
      { NONE, NONE, 2 * 2 * 3 * 80 * 4, 1, 1, 3840, NONE, NONE, NONE } },
    /* so many texts */
    { "--shape llama-7b --batch 3",
      { 6738415616, 13476831232, 524288, 2048, 3, 3221225472, 16698056704, NONE, NONE } },
    { "--shape mistral-7b --batch 3",
      { 7241732096, 14483464192, 131072, 32768, 3, 1610612736, 16094076928, NONE, NONE } },
    /* what fits: the rest divided by what a token or a text takes, rounded down */
    { "--shape llama-7b --context 4096 --budget 80GB",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880,
        (80000000000 - 13476831232) / 524288,
        (80000000000 - 13476831232) / (4096 * (int64_t) 524288) } },
    { "--shape llama-7b --context 4096 --budget 80GiB",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880,
        (80 * (INT64_C(1) << 30) - 13476831232) / 524288,
        (80 * (INT64_C(1) << 30) - 13476831232) / (4096 * (int64_t) 524288) } },
    { "--shape llama-7b --context 4096 --budget 80GB --batch 3",
      { 6738415616, 13476831232, 524288, 4096, 3, 6442450944, 19919282176,
        (80000000000 - 13476831232) / (3 * 524288),
        (80000000000 - 13476831232) / (4096 * (int64_t) 524288) } },
    { "--shape llama-7b --context 4096 --budget 80GB --kv-type q4_0",
      { 6738415616, 13476831232, 147456, 4096, 1, 603979776, 14080811008,
        (80000000000 - 13476831232) / 147456,
        (80000000000 - 13476831232) / (4096 * (int64_t) 147456) } },
    { "--shape llama-7b --context 4096 --budget 15624314880",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880, 4096, 1 } },
    { "--shape llama-7b --context 4096 --budget 15624314879B",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880, 4095, 0 } },
    { "--shape llama-7b --context 4096 --budget 13477355520",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880, 1, 0 } },
    { "--shape llama-7b --context 4096 --budget 13476831232",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880, 0, 0 } },
    { "--shape llama-7b --context 4096 --budget 13476831231",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880, 0, 0 } },
    { "--shape llama-7b --context 4096 --budget 0B",
      { 6738415616, 13476831232, 524288, 4096, 1, 2147483648, 15624314880, 0, 0 } },
    /* the same where no layer has more rows than its window: any context fits, or one below the
       window */
    { "--shape mistral-7b --budget 80GB",
      { 7241732096, 14483464192, 131072, 32768, 1, 536870912, 15020335104, NONE,
        (80000000000 - 14483464192) / 536870912 } },
    { "--shape mistral-7b --budget 15020335104",
      { 7241732096, 14483464192, 131072, 32768, 1, 536870912, 15020335104, NONE, 1 } },
    { "--shape mistral-7b --budget 15020335103",
      { 7241732096, 14483464192, 131072, 32768, 1, 536870912, 15020335104, 4095, 0 } },
    { "--shape mistral-7b --budget 15020335103 --context 10",
      { 7241732096, 14483464192, 131072, 10, 1, 1310720, 14484774912, 4095, 409 } },
    { "--shape mistral-7b --budget 16094076928 --batch 3",
      { 7241732096, 14483464192, 131072, 32768, 3, 1610612736, 16094076928, NONE, 3 } },
    { "--shape mistral-7b --budget 16094076927 --batch 3",
      { 7241732096, 14483464192, 131072, 32768, 3, 1610612736, 16094076928, 4095, 2 } },
    { "--shape mistral-7b --budget 14497095680 --window 100 --sinks 4",
      { 7241732096, 14483464192, 131072, 32768, 1, 13631488, 14497095680, NONE, 1 } },
    { "--shape mistral-7b --budget 14497095679 --window 100 --sinks 4",
      { 7241732096, 14483464192, 131072, 32768, 1, 13631488, 14497095680, 103, 0 } },
    { "--shape mistral-7b --budget 80GB --window 0",
      { 7241732096, 14483464192, 131072, 32768, 1, 4294967296, 18778431488,
        (80000000000 - 14483464192) / 131072, 15 } }
  };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    char line[300];
    int64_t field[9];
    snprintf(line, sizeof line, "memory %s --json", at[i].words);
    account_of(line, field);
    for (int k = 0; k < 9; k++)
      ck_assert_msg(field[k] == at[i].wanted[k], "%s: number %d is %ld; wanted: %ld", line, k + 1,
        (long) field[k], (long) at[i].wanted[k]);
  }
}
END_TEST

/* the bytes of the tensors of numbers in all files of a model, read here from their headers, and
 * how many numbers; bytes of what is no number */
static void sum_headers(const char *dir, int64_t *numbers, int64_t *bytes, int64_t *others)
{
  char pattern[4096];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/*.safetensors", dir);
  ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
  *numbers = *bytes = *others = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    unsigned char length[8];
    FILE *f = fopen(found.gl_pathv[i], "rb");
    ck_assert(f != NULL && fread(length, 1, 8, f) == 8);
    size_t n = length[0] | (size_t) length[1] << 8 | (size_t) length[2] << 16;
    char *text = malloc(n);
    ck_assert_uint_eq(fread(text, 1, n, f), n);
    json_t *header = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL), *t;
    const char *name;
    ck_assert_msg(header != NULL, "%s", found.gl_pathv[i]);
    json_object_foreach(header, name, t)
    {
      if (strcmp(name, "__metadata__") == 0) continue;
      json_t *range = json_object_get(t, "data_offsets");
      const char *type = json_string_value(json_object_get(t, "dtype"));
      int64_t size =
        json_integer_value(json_array_get(range, 1)) - json_integer_value(json_array_get(range, 0));
      if (strcmp(type, "BOOL") == 0) {
        ck_assert_msg(strstr(name, ".attn.bias") != NULL, "%s", name);
        *others += size;
        continue;
      }
      ck_assert_msg(
        strcmp(type, "F32") == 0 || strcmp(type, "F16") == 0 || strcmp(type, "BF16") == 0, "%s",
        type);
      *numbers += size / (strcmp(type, "F32") == 0 ? 4 : 2), *bytes += size;
    }
    json_decref(header), free(text), fclose(f);
  }
  globfree(&found);
}
static int64_t total_at(const char *line, uint64_t context, uint64_t batch)
{
  char longer[5000];
  int64_t field[9];
  snprintf(longer, sizeof longer, "%s --context %lu --batch %lu", line, (unsigned long) context,
    (unsigned long) batch);
  account_of(longer, field);
  return field[6];
}
/* what is said of a model on disk is in its files, and is what the allocator gives to a cache of
   such settings, to the byte; the largest context that fits does, and one token more does not; so
   with the largest batch */
START_TEST(memory_of_a_model_is_what_the_files_and_the_allocator_say)
{
  uint64_t seed = suite_seed();
  glob_t found;
  unsigned models = 0, masks = 0, windows = 0, unbounded = 0, blocks = 0;
  ck_assert(glob("tests/golden/*/config.json", 0, NULL, &found) == 0
    && glob("models/*/config.json", GLOB_APPEND, NULL, &found) == 0);
  for (size_t i = 0; i < found.gl_pathc; i++, models++) {
    char dir[2048], line[4400];
    int64_t numbers, bytes, others, field[9];
    struct error why;
    snprintf(dir, sizeof dir, "%.*s", (int) (strlen(found.gl_pathv[i]) - strlen("/config.json")),
      found.gl_pathv[i]);
    sum_headers(dir, &numbers, &bytes, &others);
    masks += others > 0; /* old files of GPT-2 have masks, which are no weights: neither inspect
                            counts them nor memory */
    snprintf(line, sizeof line, "inspect %s --json", dir);
    struct run r = run(line);
    json_t *o = object_of(&r);
    ck_assert_int_eq(json_integer_value(json_object_get(o, "parameters")), numbers);
    json_decref(o), done(&r);
    struct memory shelf = { .fail_at = 0 };
    struct model *lm = model_open(&shelf, dir, &why);
    ck_assert_msg(lm != NULL, "%s", why.text);
    for (int round = 0; round < 12; round++) {
      struct model_config c = lm->config;
      uint64_t context = 1 + rnd(&seed) % c.n_positions, batch = 1 + rnd(&seed) % 5, sinks = 0;
      if (round == 0) context = c.n_positions;
      const struct kv_format *format = format_at(rnd(&seed) % (c.head_dim % 32 == 0 ? 5 : 3));
      int n = snprintf(line, sizeof line, "memory -m %s --json --kv-type %s", dir, format->name);
      if (rnd(&seed) % 3 == 0) {
        uint64_t window = rnd(&seed) % 8 == 0 ? 0 : 1 + rnd(&seed) % c.n_positions;
        if (window > 0 && !c.learned_positions) sinks = rnd(&seed) % 4;
        n += snprintf(line + n, sizeof line - (size_t) n, " --window %lu --sinks %lu",
          (unsigned long) window, (unsigned long) sinks);
        ck_assert_msg(
          config_set_window(&c, (uint32_t) window, (uint32_t) sinks, &why), "%s", why.text);
      }
      uint64_t row = 2 * (uint64_t) c.n_kv_heads
        * (format->type >= WEIGHT_Q8_0
            ? c.head_dim / 32 * (strcmp(format->name, "q8_0") == 0 ? 34 : 18)
            : c.head_dim * (strcmp(format->name, "f32") == 0 ? 4 : 2)),
               rows = 0;
      blocks += format->type >= WEIGHT_Q8_0;
      for (uint32_t l = 0; l < c.n_layers; l++) {
        uint64_t seen = config_window(&c, l) == 0 ? UINT64_MAX : config_window(&c, l) + sinks;
        rows += seen < context ? seen : context;
        windows += seen < context;
      }
      struct memory book = { .fail_at = 0 };
      struct cache_options options = {
        .rows = context * batch, .page_rows = 1, .pass = 1, .format = format, .preallocate = true
      };
      struct store *s = cache_open(&book, &c, (uint32_t) batch, &options, &why);
      ck_assert_msg(s != NULL, "%s", why.text);
      uint64_t given = book.of[MEMORY_CACHE].live;
      store_close(s);
      char whole[5000];
      snprintf(whole, sizeof whole, "%s --context %lu --batch %lu", line, (unsigned long) context,
        (unsigned long) batch);
      account_of(whole, field);
      const int64_t wanted[] = { numbers, bytes, (int64_t) (c.n_layers * row), (int64_t) context,
        (int64_t) batch, (int64_t) (batch * rows * row), bytes + (int64_t) given, NONE, NONE };
      for (int k = 0; k < 9; k++)
        ck_assert_msg(field[k] == wanted[k], "%s: number %d is %ld; wanted: %ld", whole, k + 1,
          (long) field[k], (long) wanted[k]);
      ck_assert_msg(given == batch * rows * row, "%s: the allocator gives %lu; wanted: %lu", whole,
        (unsigned long) given, (unsigned long) (batch * rows * row));
      /* a budget that may be too small, or enough for several */
      int64_t budget = bytes - 2 + (int64_t) (rnd(&seed) % (3 * given + 2));
      n += snprintf(line + n, sizeof line - (size_t) n, " --budget %ldB", (long) budget);
      snprintf(whole, sizeof whole, "%s --context %lu --batch %lu", line, (unsigned long) context,
        (unsigned long) batch);
      account_of(whole, field);
      int64_t max = field[7], texts = field[8];
      unbounded += max == NONE;
      if (max == NONE)
        ck_assert_int_le(total_at(line, 1000000000000, batch), budget);
      else
        ck_assert_int_gt(total_at(line, (uint64_t) max + 1, batch), budget);
      if (max > 0) ck_assert_int_le(total_at(line, (uint64_t) max, batch), budget);
      ck_assert_int_ge(texts, 0);
      ck_assert_int_gt(total_at(line, context, (uint64_t) texts + 1), budget);
      if (texts > 0) ck_assert_int_le(total_at(line, context, (uint64_t) texts), budget);
    }
    model_close(&shelf, lm);
  }
  globfree(&found);
  ck_assert_msg(models >= 14 && masks == 1 && windows > 50 && unbounded > 5 && blocks > 0,
    "%u %u %u %u %u", models, masks, windows, unbounded, blocks);
}
END_TEST

/* for people: the same numbers in words, in both kinds of thousands, and a bar */
START_TEST(memory_in_words)
{
  static const struct {
    const char *line, *text;
  } at[] = { { "memory --shape llama-7b --context 4096 --budget 24GB",
               "llama-7b: 32 layers, 32 heads, 32 of keys and values, 128 numbers each\n"
               "weights                             6738415616\n"
               "in two bytes each                  13476831232    13.477 GB    12.551 GiB\n"
               "cache, a token in f16                   524288   524.288 kB   512.000 KiB\n"
               "4096 tokens, 1 text                 2147483648     2.147 GB     2.000 GiB\n"
               "together                           15624314880    15.624 GB    14.551 GiB\n"
               "budget                             24000000000    24.000 GB    22.352 GiB\n"
               "1 text: at most 20071 tokens each\n"
               "4096 tokens: at most 4 texts\n"
               "[##################################=====.....................]\n"
               "# weights  = cache  . free\n" },
    { "memory --shape mistral-7b --batch 2 --budget 15GiB --kv-type q8_0",
      "mistral-7b: 32 layers, 32 heads, 8 of keys and values, 128 numbers each\n"
      "weights                             7241732096\n"
      "in two bytes each                  14483464192    14.483 GB    13.489 GiB\n"
      "cache, a token in q8_0                   69632    69.632 kB    68.000 KiB\n"
      "32768 tokens, 2 texts                570425344   570.425 MB   544.000 MiB\n"
      "together                           15053889536    15.054 GB    14.020 GiB\n"
      "budget                             16106127360    16.106 GB    15.000 GiB\n"
      "2 texts: at most any number of tokens each\n"
      "32768 tokens: at most 5 texts\n"
      "[######################################################==....]\n"
      "# weights  = cache  . free\n" },
    { "memory --shape gpt2 --budget 250MB",
      "gpt2: 12 layers, 12 heads, 12 of keys and values, 64 numbers each\n"
      "weights                              124439808\n"
      "in two bytes each                    248879616   248.880 MB   237.350 MiB\n"
      "cache, a token in f16                    36864    36.864 kB    36.000 KiB\n"
      "1024 tokens, 1 text                   37748736    37.749 MB    36.000 MiB\n"
      "together                             286628352   286.628 MB   273.350 MiB\n"
      "budget                               250000000   250.000 MB   238.419 MiB\n"
      "too much by                           36628352    36.628 MB    34.932 MiB\n"
      "1 text: at most 30 tokens each\n"
      "1024 tokens: at most 0 texts\n"
      "[####################################################========]\n"
      "# weights  = cache  . free\n" },
    { "memory -m tests/golden/mistral --context 9",
      "tests/golden/mistral: 2 layers, 2 heads, 1 of keys and values, 6 numbers each\n"
      "weights                                   2820\n"
      "as stored                                11280    11.280 kB    11.016 KiB\n"
      "cache, a token in f32                       96\n"
      "9 tokens, 1 text                           288\n"
      "together                                 11568    11.568 kB    11.297 KiB\n"
      "[###########################################################=]\n"
      "# weights  = cache\n" },
    { "memory --layers 26 --heads 8 --kv-heads 4 --head-dim 256",
      "a model of these numbers: 26 layers, 8 heads, 4 of keys and values, 256 numbers each\n"
      "weights                              not known\n"
      "cache, a token in f16                   106496   106.496 kB   104.000 KiB\n" },
    { "memory --layers 26 --heads 8 --head-dim 256 --context 1000000000 --batch 100",
      "a model of these numbers: 26 layers, 8 heads, 8 of keys and values, 256 numbers each\n"
      "weights                              not known\n"
      "cache, a token in f16                   212992   212.992 kB   208.000 KiB\n"
      "1000000000 tokens, 100 texts   21299200000000000    21.299 PB    18.917 PiB\n" } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    struct run r = run(at[i].line);
    ck_assert_msg(r.status == 0 && r.n_err == 0, "%s: %s", at[i].line, r.err);
    ck_assert_str_eq(r.out, at[i].text);
    done(&r);
  }
  /* the bar has sixty places, and each part that is there has one of them */
  static const struct {
    const char *words;
    const char *parts;
  } bar[] = { { "--shape gpt2 --context 1", "#=" }, { "--shape gpt2 --batch 1000000", "#=" },
    { "--shape gpt2 --budget 1TB", "#=." }, { "--shape gpt2 --context 1 --budget 1TB", "#=." },
    { "--shape gpt2 --batch 1000000 --budget 1B", "#=" }, { "--shape gpt3", "#=" },
    { "--shape llama-7b --context 131072 --budget 100GB", "#=." }, { "", "#=" } };
  for (size_t i = 0; i < sizeof bar / sizeof *bar; i++) {
    char line[200];
    snprintf(line, sizeof line, "memory %s", bar[i].words);
    struct run r = run(line);
    char *b = strchr(r.out, '[');
    ck_assert_msg(r.status == 0 && b != NULL && strspn(b + 1, "#=.") == 60 && b[61] == ']',
      "%s: %s%s", line, r.out, r.err);
    size_t n = 1;
    for (const char *part = bar[i].parts; *part; part++) {
      size_t k = 0;
      while (b[n] == *part) k++, n++;
      ck_assert_msg(k > 0, "%s: no %c in %s", line, *part, b);
    }
    ck_assert_msg(n == 61, "%s: %s", line, b);
    done(&r);
  }
  /* budgets in every unit */
  static const struct {
    const char *text;
    uint64_t bytes;
  } size[] = { { "1000000", 1000000 }, { "1000B", 1000 }, { "7B", 7 }, { "1.5kB", 1500 }, { "2KiB", 2048 },
    { "24MB", 24000000 }, { "1MiB", 1048576 }, { "24GB", 24000000000 }, { "24gb", 24000000000 },
    { "22.5GiB", 24159191040 }, { "22.5gib", 24159191040 }, { "2TB", 2000000000000 },
    { "0.5TiB", 549755813888 }, { "1e3MB", 1000000000 }, { "0B", 0 }, { "1.9999B", 1 } };
  for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
    char line[100], *b;
    snprintf(line, sizeof line, "memory --budget %s", size[i].text);
    struct run r = run(line);
    ck_assert_msg(r.status == 0 && (b = strstr(r.out, "\nbudget ")) != NULL
        && strtoull(b + 8, NULL, 10) == size[i].bytes,
      "%s: %s%s", line, r.out, r.err);
    done(&r);
  }
}
END_TEST

/* the list of shapes: each once, with the numbers that are reckoned with, and a source; the last are those
   of which not all layers have a window, or whose family has other numbers than these */
START_TEST(shapes_are_listed_once_each)
{
  enum { SHAPES = 43, ALIKE = 34 };
  static const char *const name[] = { "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "gpt3",
    "llama-7b", "llama-13b", "llama2-70b", "llama3-8b", "llama3-70b", "mistral-7b", "qwen2-7b",
    "mixtral-8x7b", "olmoe-1b-7b", "qwen3-30b-a3b", "qwen3-0.6b", "qwen3-8b", "gemma-2b", "phi-2",
    "phi3-mini", "phi4-mini", "smollm3-3b", "granite-3.1-2b", "ministral-8b", "ministral3-3b",
    "seed-oss-36b", "ernie4.5-0.3b", "olmo2-7b", "pythia-1.4b", "neox-20b", "falcon-7b", "falcon-40b",
    "stablelm-3b", "command-r-35b", "gemma2-2b", "gemma2-9b", "gemma3-270m", "gemma3-1b",
    "exaone4-32b", "command-r7b", "qwen1.5-moe-a2.7b", "gpt-oss-20b", "gpt-oss-120b" };
  bool seen[SHAPES] = { false };
  struct run r = run("memory --shape list");
  ck_assert_msg(r.status == 0 && r.n_err == 0 && lines_of(&r) == SHAPES + 1, "%s%s", r.out, r.err);
  char *at = strchr(r.out, '\n') + 1;
  ck_assert_msg(strncmp(r.out, "shape ", 6) == 0, "%s", r.out);
  for (int i = 0; i < SHAPES; i++, at = strchr(at, '\n') + 1) {
    char word[32], source[80], line[200];
    unsigned layers, heads, kv_heads, head_dim, d_model, d_inner, vocab, context, window;
    int64_t a[9], b[9];
    size_t k = 0;
    int fields = sscanf(at, "%31s %u %u %u %u %u %u %u %u %u %79[^\n]", word, &layers, &heads,
      &kv_heads, &head_dim, &d_model, &d_inner, &vocab, &context, &window, source);
    ck_assert_msg(
      fields == 11 && strlen(source) > 10 && strpbrk(source, "0123456789") != NULL, "%s", at);
    while (k < SHAPES && strcmp(name[k], word) != 0) k++;
    ck_assert_msg(k < SHAPES && !seen[k], "%s", word);
    seen[k] = true;
    snprintf(line, sizeof line, "memory --shape %s --json", word);
    account_of(line, a);
    ck_assert_int_eq(a[3], context);
    ck_assert_int_eq(a[2], 2 * (int64_t) layers * kv_heads * head_dim * 2);
    if (k >= ALIKE) continue;
    ck_assert_int_eq(a[5], a[2] * (window > 0 && window < context ? window : context));
    snprintf(line, sizeof line,
      "memory --shape %s --json --layers %u --heads %u --kv-heads %u --head-dim %u --d-model %u "
      "--d-inner %u --vocab-size %u --context %u --window %u",
      word, layers, heads, kv_heads, head_dim, d_model, d_inner, vocab, context, window);
    account_of(line, b);
    for (int j = 0; j < 9; j++)
      ck_assert_msg(
        a[j] == b[j], "%s: number %d is %ld; wanted: %ld", line, j + 1, (long) b[j], (long) a[j]);
  }
  ck_assert_str_eq(at, "");
  done(&r);
}
END_TEST

/* budgets that are just enough, amounts where a unit begins, a bound of the workers */
START_TEST(amounts_where_a_unit_begins)
{
  static const struct {
    const char *size, *said;
  } c[] = { { "999", "budget                                     999\n" },
    { "1000", "budget                                    1000     1.000 kB\n" },
    { "1023", "budget                                    1023     1.023 kB\n" },
    { "1024", "budget                                    1024     1.024 kB     1.000 KiB\n" },
    { "999999", "budget                                  999999   999.999 kB   976.562 KiB\n" },
    { "1000000", "budget                                 1000000     1.000 MB   976.562 KiB\n" },
    { "1048576", "budget                                 1048576     1.049 MB     1.000 MiB\n" } };
  char line[200], said[200];
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    snprintf(line, sizeof line, "memory --shape gpt2 --budget %sB", c[i].size);
    struct run r = run(line);
    ck_assert_msg(strstr(r.out, c[i].said) != NULL, "%s: %s", line, r.out);
    done(&r);
  }
  struct run most = run("memory --shape gpt2 --budget 4194303TiB");
  /* 2^62 bytes are too many */
  struct run over = run("memory --shape gpt2 --budget 4194304TiB");
  ck_assert_msg(strstr(most.out, "budget                     4611684918915760128") != NULL, "%s%s",
    most.out, most.err);
  ck_assert_msg(
    over.status == 2 && strstr(over.err, "--budget `4194304TiB'") != NULL, "%s", over.err);
  done(&most), done(&over);
  int64_t field[9];
  account_of("memory --shape gpt2 --json", field);
  for (int64_t k = -1; k < 2; k++) {
    snprintf(line, sizeof line, "memory --shape gpt2 --budget %" PRId64, field[6] + k);
    snprintf(said, sizeof said, "too much by %*s1\n", 33, "");
    struct run r = run(line);
    ck_assert_msg((strstr(r.out, "too much by") != NULL) == (k < 0), "%s: %s", line, r.out);
    ck_assert_msg(k >= 0 || strstr(r.out, said) != NULL, "%s: %s", line, r.out);
    ck_assert_msg(
      (strstr(r.out, "at most 1024 tokens each") != NULL) == (k >= 0), "%s: %s", line, r.out);
    done(&r);
  }
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
  static const char *const asked[] = { "3", "1024", "1025", "99999" },
                           *const got[] = { "3", "1024", "1024", "1024" };
  for (int i = 0; i < 4; i++) {
    setenv("OMP_NUM_THREADS", asked[i], 1);
    struct run r = run("generate --prompt-ids 1 -n 0 --stats");
    snprintf(said, sizeof said, "%-28s %s workers\n", "workers", got[i]);
    ck_assert_msg(r.status == 0 && strstr(r.err, said) != NULL, "%s: %s", asked[i], r.err);
    done(&r);
  }
  unsetenv("OMP_NUM_THREADS");
#endif
}
END_TEST

int main(void)
{
  room_open("memory");
  Suite *s = suite_create("memory");
  TCase *t = tcase_create("scripts");
  tcase_add_test(t, memory_says_what_the_order_says);
  tcase_add_test(t, memory_of_a_model_is_what_the_files_and_the_allocator_say);
  tcase_add_test(t, memory_in_words);
  tcase_add_test(t, shapes_are_listed_once_each);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, amounts_where_a_unit_begins);
  suite_add_tcase(s, t);
  return suite_run(s);
}
