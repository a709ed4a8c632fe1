/* What the command refuses, and in which words; no request for memory that is refused does harm. */
#define _GNU_SOURCE
#include <jansson.h>
#include "room.h"
#include "accounts/formats.h"

/* tests/suites/refusals.tsv: LINE STATUS WORDS...: all of the words stand in the one sentence on the
 * standard error, but those after an exclamation mark do not, and no two lines get the same sentence */
START_TEST(refusals_are_sentences_about_the_thing)
{
  static char *said[600], from[600][300];
  size_t n = 0;
  FILE *f = fopen("tests/suites/refusals.tsv", "r");
  char line[8192];
  ck_assert(f != NULL);
  while (fgets(line, sizeof line, f)) {
    if (line[0] == '#' || line[0] == '\n') continue;
    line[strcspn(line, "\n")] = '\0';
    char *p = line, *typed = next_field(&p), *status = next_field(&p), *word;
    struct run r = run_as(typed, strstr(typed, "--keyboard") ? FROM_KEYBOARD : 0, 0);
    ck_assert_msg(r.status == atoi(status), "%s: status %d: %s", typed, r.status, r.err);
    ck_assert_msg(r.n_out == 0, "%s: %s", typed, r.out);
    ck_assert_msg(strncmp(r.err, "incipit: ", 9) == 0 && strchr(r.err, '\n') == r.err + r.n_err - 1,
      "%s: %s is no sentence on one line", typed, r.err);
    while ((word = next_field(&p)) != NULL)
      ck_assert_msg(*word == '!' ? strstr(r.err, word + 1) == NULL : strstr(r.err, word) != NULL, "%s: %s; wanted: %s",
        typed, r.err, word);
    for (size_t i = 0; i < n; i++)
      ck_assert_msg(strcmp(said[i], r.err) != 0, "%s and %s both say %s", from[i], typed, r.err);
    snprintf(from[n], sizeof from[n], "%.290s", typed);
    said[n++] = strdup(r.err);
    ck_assert(n < 600);
    done(&r);
  }
  fclose(f);
  for (size_t i = 0; i < n; i++) free(said[i]);
  tally("tests/suites/refusals.tsv", (unsigned) n, 0, 0, "");
}
END_TEST

/* A byte of zero behind what was read is no JSON, and every reader of JSON refuses it in the same
   words: a file is whole, or it is another one. (A header of tensors is in check_safetensors.) */
START_TEST(a_byte_of_zero_behind_json_is_refused)
{
  static const struct { const char *file, *without, *text, *line; } at[] = {
    { "config.json", NULL, NULL, "generate The -n 1 -m @/zero" },
    { "generation_config.json", NULL, NULL, "memory -m @/zero" },
    { "tokenizer.json", NULL, NULL, "tokenize The -m @/zero" },
    { "tokenizer_config.json", NULL, "{}", "tokenize The -m @/zero" },
    { "tokenizer_config.json", NULL, "{\"chat_template\":\"\"}", "chat -m @/zero" },
    { "model.safetensors.index.json", "model.safetensors", "{\"weight_map\":{}}", "inspect -m @/zero" },
    { "vocab.json", "tokenizer.json", "{\"a\":0}", "tokenize The -m @/zero" } };
  char path[8192], line[9000];
  variant("zero", NULL);
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    for (int zero = 0; zero < 2; zero++) {
      variant("zero", NULL);
      if (at[i].without != NULL) unlink(place(path, "zero", at[i].without));
      if (at[i].text != NULL) spill_file("zero", at[i].file, at[i].text, 0);
      spill_file("zero", "merges.txt", "a a\n", 0);
      FILE *f = fopen(place(path, "zero", at[i].file), "ab");
      ck_assert(f != NULL && fwrite("\n\0", 1, zero ? 2 : 1, f) > 0 && fclose(f) == 0);
      struct run r = run(at[i].line);
      const char *said = strstr(r.err, "a byte of zero");
      ck_assert_msg((said != NULL) == zero, "%s: %s", at[i].line, r.err);
      ck_assert_msg(!zero || (r.status == 1 && r.n_out == 0 && strstr(r.err, at[i].file) != NULL), "%s: %s", at[i].line, r.err);
      done(&r);
      unlink(path);
    }
  static const char turns[] = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\0\n";
  variant("zero", NULL);
  spill_file("zero", "turns.jsonl", turns, sizeof turns - 1);
  snprintf(line, sizeof line, "chat <'/load %s'", place(path, "zero", "turns.jsonl"));
  struct run r = run(line);
  ck_assert_msg(r.status == 1 && strstr(r.err, "turns.jsonl: this line is not a JSON object: a byte of zero") != NULL, "%s", r.err);
  done(&r);
}
END_TEST

/* every request for memory, of every subcommand, refused once: status 1, a sentence, nothing held,
   nothing half on the standard output but what a stream had let go before */
START_TEST(every_refusal_of_memory_is_survived)
{
  static const char *const line[] = { "generate 'The cat' -n 3 --logprobs 2 --jsonl",
    "generate --prompt-ids 262,270 -n 3 --echo", "generate --prompt-ids 262,270 --json -n 3 -t 3",
    "generate --prompt-ids 262,270 --json -n 3 --kv-type f16 --window 2 --sinks 1",
    "tokenize 'The cat'", "tokenize --ids 262,270", "trace The -n 2 --attention 0.0",
    "memory --batch 2 --window 5 --sinks 1 --kv-type bf16",
    "memory --json -m tests/golden/qwen3-layers", "inspect",
    "inspect tests/golden/small/model.safetensors",
    "tokenize --train tests/golden/small.txt --vocab-size 262 --out @/learnt",
    "probe tokenize <{\"text\":\"The\"}", "probe detokenize <{\"ids\":[262]}",
    "probe stream <{\"ids\":[262,196]}", "probe train-bpe <{\"text\":\"aabaab\",\"merges\":3}",
    "probe forward <{\"ids\":[262,3],\"rows\":\"all\",\"mates\":[[1,2],[3]],\"chunk\":1}",
    "probe logprob <{\"ids\":[262,3]}", "probe generate <{\"ids\":[262],\"max_tokens\":2}",
    "generate The -n 3 --temp 1 --num-sequences 3 --logit-bias 1=2,2=3 --logit-bias 5=-inf --jsonl",
    "generate --prompt-ids 262 -n 2 --temp 1 --num-sequences 5 --logit-bias "
    "1=2,2=3,4=5,6=7,8=9,10=1,11=1,12=1,13=1,14=1",
    "trace The -n 2 --temp 1 --logit-bias 1=2 --json --top-k 5",
    "probe generate "
    "<{\"ids\":[262],\"max_tokens\":2,\"params\":{\"temperature\":1,\"logit_bias\":{\"1\":2},\"bad_"
    "words\":[[1,2],[3]],\"suppress_tokens\":[4]},\"seed\":3}",
    "probe sample "
    "<{\"logits\":[1,2,3],\"ids\":[1,2],\"params\":{\"logit_bias\":{\"1\":2},\"bad_words\":[[1,2],["
    "0]],\"suppress_tokens\":[2]}}",
    "probe process "
    "<{\"op\":\"sequence_bias\",\"params\":{\"bias\":[[[1,2],3]]},\"ids\":[1],\"logits\":[1,2,3]}",
    "probe process "
    "<{\"op\":\"min_length\",\"params\":{\"eos\":[1],\"min_length\":2},\"ids\":[1],\"logits\":[1,2,"
    "3]}",
    "probe philox <{\"key\":[1,2],\"counter\":[3,4,5,6]}",
    "probe inspect <{\"file\":\"tests/golden/small/model.safetensors\"}",
    "probe quantize <{\"type\":\"bf16\",\"x\":[1,2]}",
    "probe quantize <{\"type\":\"f16\",\"hex\":\"003c\"}" };
  uint64_t tried = 0;
  for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
    struct run good = run(line[i]);
    ck_assert_msg(good.status == 0 && good.m.all.requests > 0, "%s: %s", line[i], good.err);
    uint64_t n = good.m.all.requests;
    timings_out(good.out);
    for (uint64_t k = 1; k <= n; k++) {
      struct run r = run_as(line[i], 0, k);
      timings_out(r.out);
      bool probe = strncmp(line[i], "probe", 5) == 0;
      bool answered = probe && r.status == 0 && strncmp(r.out, "{\"error\":\"", 10) == 0
        && strchr(r.out, '\n') == r.out + r.n_out - 1;
      bool refused = r.status == 1 && strncmp(r.err, "incipit: ", 9) == 0
        && strchr(r.err, '\n') == r.err + r.n_err - 1;
      ck_assert_msg(answered || refused || (r.status == 0 && strcmp(r.out, good.out) == 0),
        "%s, request %lu: status %d, %s%s", line[i], (unsigned long) k, r.status, r.out, r.err);
      tried++;
      done(&r);
    }
    done(&good);
  }
  ck_assert_uint_gt(tried, 400);
}
END_TEST

/* jansson stands outside the accounts; its requests are refused one at a time, too, and all that it
 * got must have come back */
START_TEST(every_refusal_of_the_reader_of_json_is_survived)
{
  static const struct {
    const char *line;
    uint64_t stride;
  } at[] = { { "probe train-bpe <{\"text\":\"aab\",\"merges\":2,\"pattern\":\"[a-z]+\"}", 1 },
    { "probe inspect <{\"file\":\"tests/golden/small/model.safetensors\"}", 1 },
    { "generate -n 1 -m tests/golden/llama --prompt-ids 1", 1 },
    { "probe process "
      "<{\"op\":\"repetition_penalty\",\"params\":{\"penalty\":2,\"penalty_last_n\":2},\"ids\":[0,"
      "1,2],\"logits\":[1,2,3]}",
      1 },
    { "probe process "
      "<{\"op\":\"no_repeat_ngram\",\"params\":{\"n\":2},\"ids\":[0,1,0],\"logits\":[1,2,3]}",
      1 },
    { "probe process "
      "<{\"op\":\"bad_words\",\"params\":{\"bad\":[[1],[0,2],[2]],\"eos\":[1]},\"ids\":[0],"
      "\"logits\":[1,2,3]}",
      1 },
    { "probe process "
      "<{\"op\":\"min_length\",\"params\":{\"eos\":[1],\"min_length\":2},\"ids\":[0],\"logits\":[1,"
      "2,3]}",
      1 },
    { "probe process "
      "<{\"op\":\"frequency_presence\",\"params\":{\"frequency\":2,\"presence\":1},\"ids\":[0,1,0],"
      "\"logits\":[1,2,3]}",
      1 },
    { "probe process "
      "<{\"op\":\"sequence_bias\",\"params\":{\"bias\":[[[1],2],[[0,2],\"-inf\"]]},\"ids\":[0],"
      "\"logits\":[1,2,3]}",
      1 },
    { "probe sample "
      "<{\"logits\":[1,2,3],\"ids\":[1,2],\"params\":{\"logit_bias\":{\"1\":2},\"bad_words\":[[1,2]"
      ",[0]],\"suppress_tokens\":[2],\"samplers\":[\"bias\"]},\"seed\":4}",
      1 },
    { "probe philox <{\"key\":[1,2],\"counter\":[3,4,5,6]}", 1 },
    { "probe quantize <{\"type\":\"f16\",\"x\":[1,-2.5]}", 1 },
    { "probe quantize <{\"type\":\"bf16\",\"hex\":\"803f\"}", 1 },
    { "probe generate -m tests/golden/llama "
      "<{\"ids\":[1],\"max_tokens\":2,\"params\":{\"temperature\":0},\"eos\":[]}",
      3 },
    { "inspect --json", 41 }, { "memory --json -m tests/golden/llama", 5 },
    { "generate The -n 1 -m @/chat", 43 } };
  json_set_alloc_funcs(jansson_take, jansson_give);
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    const char *line = at[i].line;
    jansson_asked = jansson_out = jansson_refused = 0;
    struct run good = run(line);
    uint64_t n = jansson_asked;
    ck_assert_msg(good.status == 0 && jansson_out == 0 && n > 0, "%s: %s%lu blocks are still out",
      line, good.err, (unsigned long) jansson_out);
    for (uint64_t k = 1; k <= n; k += at[i].stride) {
      jansson_asked = 0, jansson_refused = k;
      struct run r = run(line);
      bool same = r.status == 0 && strcmp(r.out, good.out) == 0,
           refused = r.status == 1 && strncmp(r.err, "incipit: ", 9) == 0;
      bool answered =
        r.status == 0 && strncmp(line, "probe", 5) == 0 && strncmp(r.out, "{\"error\":\"", 10) == 0;
      ck_assert_msg(same || refused || answered, "%s, request %lu: status %d, %s%s", line,
        (unsigned long) k, r.status, r.out, r.err);
      ck_assert_msg(jansson_out == 0, "%s, request %lu: %lu blocks are still out", line,
        (unsigned long) k, (unsigned long) jansson_out);
      done(&r);
    }
    done(&good);
  }
  json_set_alloc_funcs(malloc, free);
}
END_TEST

START_TEST(what_the_makers_say_wrongly_is_told_with_file_and_field)
{
  static const struct {
    const char *said, *line, *field;
  } at[] = { { "\"do_sample\":true,\"temperature\":-1", "", "temperature" },
    { "\"do_sample\":true,\"temperature\":1e-7", "", "temperature" },
    { "\"do_sample\":true,\"temperature\":1e-7", "--top-k 3", "temperature" },
    { "\"do_sample\":true,\"temperature\":20000", "", "temperature" },
    { "\"do_sample\":true,\"temperature\":\"hot\"", "", "temperature" },
    { "\"do_sample\":true,\"top_k\":-1", "", "top_k" },
    { "\"do_sample\":true,\"top_k\":1.5", "", "top_k" },
    { "\"do_sample\":true,\"top_p\":1.5", "", "top_p" },
    { "\"do_sample\":true,\"top_p\":-0.5", "", "top_p" },
    { "\"do_sample\":true,\"min_p\":2", "", "min_p" },
    { "\"do_sample\":true,\"typical_p\":0", "", "typical_p" },
    { "\"do_sample\":true,\"typical_p\":1.1", "", "typical_p" },
    { "\"repetition_penalty\":0", "", "repetition_penalty" },
    { "\"do_sample\":true,\"repetition_penalty\":-1", "", "repetition_penalty" },
    { "\"no_repeat_ngram_size\":-2", "", "no_repeat_ngram_size" },
    { "\"do_sample\":\"yes\"", "", "do_sample" } };
  variant("misled", NULL);
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    for (int t = 0; t < 2; t++) {
      char file[512], line[512];
      snprintf(file, sizeof file, "{\"eos_token_id\":0,%s}", at[i].said);
      spill_file("misled", "generation_config.json", file, 0);
      snprintf(
        line, sizeof line, "%s The -n 2 -m @/misled %s", t == 0 ? "generate" : "trace", at[i].line);
      struct run r = run(line);
      ck_assert_msg(r.status == 1 && r.n_out == 0 && strncmp(r.err, "incipit: ", 9) == 0
          && strchr(r.err, '\n') == r.err + r.n_err - 1,
        "%s: %d %s%s", at[i].said, r.status, r.out, r.err);
      ck_assert_msg(strstr(r.err, "misled/generation_config.json") != NULL
          && strstr(r.err, at[i].field) != NULL,
        "%s: %s", at[i].said, r.err);
      done(&r);
    }
}
END_TEST

/* which of two names a sentence blames */
START_TEST(a_sentence_blames_the_right_name)
{
  static const struct {
    const char *line;
    int status;
    const char *said;
  } c[] = { { "generate --file x --prompt y", 2, "incipit: --prompt contradicts --file\n" },
    { "generate --prompt y --file x", 2, "incipit: --prompt contradicts --file\n" },
    { "generate --jsonl --json x", 2, "incipit: --json contradicts --jsonl\n" },
    { "generate --prompt y x", 2, "incipit: --prompt contradicts `x'\n" },
    { "generate --sinks 2 x", 2, "incipit: --sinks needs --window\n" },
    { "tokenize --vocab-size 300 x", 2, "incipit: --vocab-size needs --train\n" },
    { "tokenize --train x", 2, "incipit: --train needs --vocab-size\n" },
    { "tokenize --train x --vocab-size 300", 2, "incipit: --train needs --out\n" },
    { "generate x --top-x 2", 2, "the nearest is --top-k\n" },
    { "trace x --otp 3", 2, "is --top\n" },
    { "generate x --mni-p 1", 2, "the nearest is --min-p\n" },
    { "tarce x", 2, "the nearest is trace\n" }, { "hlep", 2, "the nearest is help\n" },
    { "memory --kv-heads 2", 2, "incipit: --layers is missing" },
    { "memory --layers 2", 2, "incipit: --heads is missing" },
    { "memory --layers 2 --heads 6", 2, "incipit: --head-dim is missing" },
    { "memory --layers 2 --heads 6 --head-dim 8 --kv-heads 4", 2,
      "incipit: 6 heads of queries for 4 of keys and values; wanted: a multiple\n" },
    { "generate --prompt-ids 1,286,287 -n 1", 2, "--prompt-ids has id 286; wanted: 0 to 285\n" },
    { "tokenize --ids 285,286", 2, "--ids has id 286; wanted: 0 to 285\n" },
    { "generate x --logit-bias 285=1,286=2", 2, "--logit-bias has id 286; wanted: 0 to 285\n" },
    { "bench -d 60 -p 4 -n 9", 1, "incipit: --n-gen 9 after 60 tokens; the context holds 64\n" },
    { "bench -d 60 -p 9 -n 9", 1,
      "incipit: --n-prompt 9 after 60 tokens; the context holds "
      "64\n" } };
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    struct run r = run(c[i].line);
    ck_assert_msg(r.status == c[i].status && strstr(r.err, c[i].said) != NULL,
      "%s: %d %s; wanted: %s", c[i].line, r.status, r.err, c[i].said);
    done(&r);
  }
  /* at temperature 0 each of these has no effect, and is named itself */
  static const char *const idle[] = { "top-k 3", "top-p 0.5", "min-p 0.1", "typical-p 0.5",
    "seed 3" };
  for (size_t i = 0; i < 5; i++) {
    char line[100], want[100];
    snprintf(line, sizeof line, "generate x -n 1 --%s", idle[i]);
    snprintf(
      want, sizeof want, "hint: --%.*s changes nothing", (int) strcspn(idle[i], " "), idle[i]);
    struct run r = run(line);
    ck_assert_msg(
      strstr(r.err, want) != NULL && strchr(r.err, '\n')[1] == '\0', "%s: %s", line, r.err);
    done(&r);
  }
}
END_TEST

int main(void)
{
  room_open("refusals");
  Suite *s = suite_create("refusals");
  TCase *t = tcase_create("people");
  tcase_add_test(t, a_byte_of_zero_behind_json_is_refused);
  tcase_add_test(t, refusals_are_sentences_about_the_thing);
  suite_add_tcase(s, t);
  t = tcase_create("scripts");
  tcase_add_test(t, every_refusal_of_memory_is_survived);
  tcase_add_test(t, every_refusal_of_the_reader_of_json_is_survived);
  suite_add_tcase(s, t);
  t = tcase_create("choices");
  tcase_add_test(t, what_the_makers_say_wrongly_is_told_with_file_and_field);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, a_sentence_blames_the_right_name);
  suite_add_tcase(s, t);
  return suite_run(s);
}
