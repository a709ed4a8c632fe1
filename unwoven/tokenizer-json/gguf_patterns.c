/* gguf_patterns.c -- what a name in tokenizer.ggml.pre stands for, and which name a tokenizer has.

   A GGUF file does not describe how a text is cut: it has a name, and the reader of the file must
   know what the name stands for. A name that is not here is refused: with another way of cutting the
   same vocabulary makes other tokens of a text, and the model would be asked about texts that it has
   never seen.

   Where llama.cpp writes a pattern otherwise than the tokenizer's makers did, since its own matcher of
   patterns has no categories of letters in classes, no intersections or no case folding, we take the
   makers' pattern. Not here, although llama.cpp knows them: names of models that only embed texts (jina,
   roberta-bpe, granite-embed, modern-bert, whitespace), and afmoe, whose numbers are cut by a program. */

#include <stdio.h>
#include <string.h>
#include "lookups/split.h"
#include "tokenizer-json/gguf_patterns.h"

/* parts that several patterns share: an English ending; letters in capitals, or without case; small
   ones, or without case; blanks and line ends */
#define ENDING "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define BEFORE "[^\\r\\n\\p{L}\\p{N}]?"
#define SPACE "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define OTHERS "| ?[^\\s\\p{L}\\p{N}]+"

static const char cut_qwen2[] = ENDING "|" BEFORE "\\p{L}+|\\p{N}" OTHERS "[\\r\\n]*" SPACE;
static const char cut_falcon[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+|"
  " ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)";
static const char cut_qwen35[] = ENDING "|" BEFORE "[\\p{L}\\p{M}]+|\\p{N}|"
  " ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" SPACE;

/* capital letters begin a word, so that camelCase is cut; Mistral's takes digits one by one, and cuts no
   ending off */
#define WORDS_BY_CASE(end) BEFORE UPPER "*" LOWER "+" end "|" BEFORE UPPER "+" LOWER "*" end
static const char cut_o200k[] = WORDS_BY_CASE(ENDING "?") "|\\p{N}{1,3}" OTHERS "[\\r\\n/]*" SPACE;
static const char cut_tekken[] = WORDS_BY_CASE("") "|\\p{N}" OTHERS "[\\r\\n/]*" SPACE;
static const char cut_youtu[] = WORDS_BY_CASE(ENDING "?") "|\\p{N}" OTHERS "[\\r\\n/]*" SPACE;

/* Chinese characters apart; PCRE2 has no intersection of classes, so what is no such character is
   looked at before each letter. (sc: the script itself; without it PCRE2 would add what the script shares.) */
#define NO_HAN(class) "(?:(?!\\p{sc:Han})" class ")"
static const char cut_kimi[] = "\\p{sc:Han}+|" BEFORE NO_HAN(UPPER) "*" NO_HAN(LOWER) "+" ENDING "?|"
  BEFORE NO_HAN(UPPER) "+" NO_HAN(LOWER) "*" ENDING "?|\\p{N}{1,3}" OTHERS "[\\r\\n]*" SPACE;

/* the letters with case that DeepSeek's first tokenizer lists one by one */
#define CASED "A-Za-z\\x{b5}\\x{c0}-\\x{d6}\\x{d8}-\\x{f6}\\x{f8}-\\x{1ba}\\x{1bc}-\\x{1bf}" \
  "\\x{1c4}-\\x{293}\\x{295}-\\x{2af}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37b}-\\x{37d}" \
  "\\x{37f}\\x{386}\\x{388}-\\x{38a}\\x{38c}\\x{38e}-\\x{3a1}\\x{3a3}-\\x{3f5}" \
  "\\x{3f7}-\\x{481}\\x{48a}-\\x{52f}\\x{531}-\\x{556}\\x{10a0}-\\x{10c5}" \
  "\\x{13a0}-\\x{13f5}\\x{13f8}-\\x{13fd}\\x{1c90}-\\x{1cba}\\x{1cbd}-\\x{1cbf}" \
  "\\x{1d00}-\\x{1d2b}\\x{1d6b}-\\x{1d77}\\x{1d79}-\\x{1d9a}\\x{1e00}-\\x{1f15}" \
  "\\x{1f18}-\\x{1f1d}\\x{1f20}-\\x{1f45}\\x{1f48}-\\x{1f4d}\\x{1f50}-\\x{1f57}\\x{1f59}" \
  "\\x{1f5b}\\x{1f5d}\\x{1f5f}-\\x{1f7d}\\x{1f80}-\\x{1fb4}\\x{1fb6}-\\x{1fbc}\\x{1fbe}" \
  "\\x{1fc2}-\\x{1fc4}\\x{1fc6}-\\x{1fcc}\\x{1fd0}-\\x{1fd3}\\x{1fd6}-\\x{1fdb}" \
  "\\x{1fe0}-\\x{1fec}\\x{1ff2}-\\x{1ff4}\\x{1ff6}-\\x{1ffc}\\x{2102}\\x{2107}" \
  "\\x{210a}-\\x{2113}\\x{2115}\\x{2119}-\\x{211d}\\x{2124}\\x{2126}\\x{2128}\\x{212a}-\\x{212d}" \
  "\\x{212f}-\\x{2134}\\x{2139}\\x{213c}-\\x{213f}\\x{2145}-\\x{2149}\\x{214e}\\x{2183}" \
  "\\x{2184}\\x{2c00}-\\x{2c7b}\\x{2c7e}-\\x{2ce4}\\x{2ceb}-\\x{2cee}\\x{2cf2}\\x{2cf3}" \
  "\\x{a640}-\\x{a66d}\\x{a680}-\\x{a69b}\\x{a722}-\\x{a76f}\\x{a771}-\\x{a787}" \
  "\\x{a78b}-\\x{a78e}\\x{ab70}-\\x{abbf}\\x{fb00}-\\x{fb06}\\x{fb13}-\\x{fb17}" \
  "\\x{ff21}-\\x{ff3a}\\x{ff41}-\\x{ff5a}\\x{10400}-\\x{1044f}\\x{104b0}-\\x{104d3}" \
  "\\x{104d8}-\\x{104fb}\\x{10c80}-\\x{10cb2}\\x{10cc0}-\\x{10cf2}\\x{118a0}-\\x{118df}" \
  "\\x{1e900}-\\x{1e943}"
/* Chinese, and all between U+0800 and it; Korean */
#define ASIAN "[\\x{4e00}-\\x{9fa5}\\x{800}-\\x{4e00}\\x{ac00}-\\x{d7ff}]+"
/* Chinese and Japanese */
#define KANA "[\\x{4e00}-\\x{9fa5}\\x{3040}-\\x{309f}\\x{30a0}-\\x{30ff}]+"

/* a sign and the Latin letters after it; letters with their marks; the same but for what comes after a
   sign at a line's end */
#define SIGN_AND_WORD "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|" \
  "[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+"

#define LLAMA3_WORDS ENDING "|" BEFORE "\\p{L}+|"
static const char cut_jais2[] = LLAMA3_WORDS "\\p{N}{1,3}" OTHERS "[\\r\\n]*|\\s*[\\r\\n]+|"
  "\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)|\\s{16}(?!\\S)|"
  "\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}";
static const char cut_bailing[] = "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}|"
  " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+";
static const char cut_bloom[] = " ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{ff0c}\\x{3001}\\x{964}\\x{6d4}\\x{60c})]+";

/* Qwen's tokenizers bring a text into the normal form C first: the file does not say so, and llama.cpp
   does not do it, but the published tokenizers do, and so do we. "default", which is also
   meant if the name is absent, is the sequence of four patterns that llama.cpp has for it. */
static const struct pattern_group groups[] = {
  { {split_gpt2}, " gpt-2 phi-2 olmo mpt exaone4 mellum jais trillion gigachat granite-docling a.x-4.0 ", 0 },
  { {split_llama3}, " llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 ",
    GROUP_WHOLE | GROUP_BEGINS },
  { {split_llama3}, " dbrx smaug-bpe glm4 chatglm-bpe ", 0 },
  { {cut_qwen2}, " qwen2 deepseek-r1-qwen kormo megrez ", GROUP_COMPOSES },
  { {cut_qwen2}, " stablelm2 hunyuan grok-2 solar-open ", 0 },
  { {cut_qwen35}, " qwen35 ", GROUP_COMPOSES },
  { {"\\p{N}", split_gpt2},
    " smollm starcoder refact command-r codeshell exaone minerva-7b mellum2 ", 0 },
  { {cut_tekken}, " tekken ", GROUP_WHOLE | GROUP_BEGINS },
  { {cut_o200k}, " gpt-4o llama4 kanana2 talkie minimax-m2 ", 0 },
  { {"[\\r\\n]", "\\s?[" CASED "]+",
      "\\s?[!-/:-~\\x{ff01}-\\x{ff0f}\\x{ff1a}-\\x{ff5e}\\x{2018}-\\x{201f}\\x{3000}-\\x{3002}]+",
      "\\s+$", ASIAN, "\\p{N}+"}, " deepseek-llm ", 0 },
  { {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", ASIAN, "\\p{N}"}, " deepseek-coder ", 0 },
  { {"\\p{N}{1,3}", KANA, SIGN_AND_WORD "[\\r\\n]*" SPACE},
    " deepseek-v3 hunyuan-dense joyai-llm hy_v4 ", 0 },
  { {"\\p{N}{1,3}", KANA, SIGN_AND_WORD "|[\\r\\n]|\\s+(?!\\S)|\\s+", "\\p{N}"}, " spark2_5 ", 0 },
  { {"[\\p{P}\\$\\+<=>\\^~\\|`]+", cut_falcon, "[0-9][0-9][0-9]"}, " falcon ", 0 },
  { {cut_bloom}, " bloom poro-chat gpt3-finnish ", 0 },
  { {cut_bloom, "\\p{N}"}, " viking ", 0 },
  { {"<sentinel:[0-9]+>", "IMGIMG[A-I]{1,4}Z", "[\\t\\n]|    |  ", "\\p{N}",
      "[\\p{P}!-/:-@\\[-`{-~]", split_gpt2}, " chameleon ", GROUP_BEGINS },
  { {"[^\\n]+|\\n+"}, " gemma4 ", GROUP_BEGINS | GROUP_CHARACTERS | GROUP_LINES },
  { {"[^\\n]+|\\n+"}, " sarvam-moe ", GROUP_CHARACTERS },
  { {LLAMA3_WORDS "\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+" SPACE}, " seed-coder ", 0 },
  { {cut_bailing}, " bailingmoe bailingmoe2 llada-moe ", 0 },
  { {ENDING "|" BEFORE "(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}" OTHERS "[\\r\\n/]?|"
      "\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}, " exaone-moe ", 0 },
  { {"\\p{N}{1,3}", LLAMA3_WORDS "\\p{N}+" OTHERS "[\\r\\n]*" SPACE}, " minicpm5 ", GROUP_WHOLE },
  { {"\\p{N}+", "(?=(?:\\d{3})+(?!\\d))"}, " superbpe ", 0 },
  { {"\\d{1,3}(?=(?:\\d{3})*(?!\\w))", cut_o200k}, " tiny_aya cohere2moe ", 0 },
  { {"[\\x{ac00}-\\x{d7a3}\\x{3131}-\\x{318e}]+|[\\x{ff01}\\x{2026}\\x{201c}\\x{201d}\\x{2018}"
      "\\x{2019}\\x{2014}\\x{ff1a}\\x{ff1b}\\x{ff0c}\\x{3001}-\\x{303f}\\x{fe30}-\\x{fe4f}]+|"
      "[\\x{3105}-\\x{312f}]+|" KANA, cut_youtu}, " youtu ", GROUP_WHOLE },
  { {cut_jais2}, " jais-2 ", 0 },
  { {BEFORE "\\p{L}+|\\p{N}" OTHERS "[\\r\\n]*" SPACE}, " ufakzeka ", 0 },
  { {"[^\\n]+|\\n+", cut_qwen2}, " laguna ", 0 },
  { {cut_kimi}, " kimi-k2 ", 0 },
  { {"[\\p{P}\\$\\+<=>\\^~\\|]+", cut_falcon, "\\p{N}+", "[0-9][0-9][0-9]"}, " default ", 0 } };

enum { GROUPS = sizeof groups / sizeof groups[0] };

/* A name is a whole word between blanks; that of a file need not have a zero at its end. */
const struct pattern_group *gguf_pattern_named(struct gguf_words w)
{
  for (size_t i = 0; i < GROUPS; i++)
    for (const char *s = groups[i].names + 1; *s != '\0'; s = strchr(s, ' ') + 1)
      if (strncmp(s, w.text, w.n) == 0 && s[w.n] == ' ' && w.n > 0)
        return &groups[i];
  return NULL;
}

/* The first name of each group: all of them would be longer than a message may be. */
void gguf_pattern_names(char list[GGUF_NAMES_CAP])
{
  size_t n = 0;
  list[0] = '\0';
  for (size_t i = 0; i < GROUPS && n < GGUF_NAMES_CAP; i++) {
    const char *name = groups[i].names + 1;
    n += (size_t) snprintf(list + n, GGUF_NAMES_CAP - n, "%s%.*s", i > 0 ? ", " : "",
      (int) strcspn(name, " "), name);
  }
}

/* Whether a tokenizer has the steps of a group, no more and no fewer: the normal form or none, and the
   same patterns in the same order. */
static bool cuts_so(struct memory *m, const struct tokenizer *t,
  const struct pattern_group *by, bool *same, struct error *why)
{
  size_t k = (by->how & GROUP_COMPOSES) != 0;
  bool ok = true;
  *same = t->n_normalizers == k && t->ignore_merges == ((by->how & GROUP_WHOLE) != 0)
    && t->char_level == ((by->how & GROUP_CHARACTERS) != 0)
    && (k == 0 || t->step[0].what == STEP_NFC);
  for (int i = 0; i < GGUF_PATTERNS && by->pattern[i] != NULL && *same && ok; i++, k++) {
    const struct text_step *s = &t->step[k];
    struct splitter *wanted = splitter_open(m, by->pattern[i],
      strlen(by->pattern[i]), false, why);
    ok = wanted != NULL;
    *same = ok && k < t->n_steps && s->what == STEP_SPLIT
      && s->keep_matches && s->keep_gaps && splitter_same(s->by, wanted);
    splitter_close(wanted);
  }
  *same = *same && k == t->n_steps;
  return ok;
}

/* A writer asks the other way round: which name stands for what a tokenizer does? */
bool gguf_pattern_of(struct memory *m, const struct tokenizer *t,
  struct gguf_words *name, struct error *why)
{
  bool same = false;
  name->n = 0;
  for (size_t i = 0; i < GROUPS && !same; i++) {
    if (!cuts_so(m, t, &groups[i], &same, why)) return false;
    if (!same) continue;
    name->text = groups[i].names + 1;
    name->n = strcspn(name->text, " ");
  }
  return true;
}
