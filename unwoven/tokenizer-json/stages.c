/* stages.c -- normalizer and pre-tokenizer: each stage of the file becomes up to three
   steps of ours.

   Sequences may be nested, and are taken apart until single stages are left; the order of
   the file is the order in which they work. A pattern that cannot be compiled is the file's
   fault, so PCRE2's message becomes what was found. Strings go into the pool of strings,
   which tokenizer_index_added points into: so every stage is read before that. */

#include <stdio.h>
#include <string.h>
#include "safetensors/excerpt.h"
#include "tokenizer-json/reader.h"
#include "tokenizer-json/dialects.h"
#include "sentencepiece/pieces.h"

/* The message of PCRE2, or of the allocator, with the name of the field that asked. */
static bool or_refuse(struct json_reader *r, const char *where, bool ok,
  const struct error *inner)
{
  return ok || error_found(r->why, r->file, where, inner->text,
    "a pattern that can be used, and at most 16 stages");
}

bool stages_cut_at(struct json_reader *r, const char *where,
  const char *pattern, size_t n)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_split(r->m, r->t, pattern, n, &inner),
    &inner);
}

static bool put_before(struct json_reader *r, const char *where,
  const char *words, size_t n, bool first_only, bool unless_there)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_string(r->m, r->t,
    (struct text_step) { .what = STEP_PREPEND, .first_only = first_only,
    .unless_there = unless_there }, words, n, NULL, 0, false,
    &inner), &inner);
}

/* a string, or the matches of a pattern */
static bool put_instead(struct json_reader *r, const char *where,
  const char *pattern, size_t n, bool literal, const char *words,
  size_t n_words)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_string(r->m, r->t,
    (struct text_step) { .what = STEP_REPLACE }, words, n_words, pattern,
    n, literal, &inner), &inner);
}

/* Translated before the pattern is compiled, since PCRE2 would take it, with a meaning of its
   own. The message quotes the pattern from the part that is refused on, and counts bytes
   from 1, as people count, since a pattern may be longer than a line. What is good is left in the
   reader's row. */
bool stages_translate(struct json_reader *r, const char *where, json_t *regex)
{
  const char *pattern = json_string_value(regex);
  size_t n = json_string_length(regex), at = 0;
  char text[EXCERPT_MAX + 4], found[200], said[DIALECTS_CAP];
  r->row.n = 0;
  if (!dialects_translate(r->m, pattern, n, &r->row, said, &at, r->why)) return false;
  if (said[0] == '\0') return true;
  snprintf(found, sizeof found, "%s: `%s' at byte %zu", said,
    text_excerpt(pattern + at, n - at, 16, text), at + 1);
  return error_found(r->why, r->file, where, found,
    "a pattern that can be told to PCRE2 as Oniguruma reads it");
}

/* Every match becomes a piece of its own (Isolated), or matches are dropped (Removed), or each is glued
   to the gap on one side, or to its like; inverted, gaps and matches change their parts. A step has a
   flag for matches and one for gaps, and what is glued to what; what cuts need not know why. */
static bool choose_behaviour(struct json_reader *r, const char *where, json_t *how,
  const char *otherwise, bool invert, struct text_step *s)
{
  static const struct { const char *name; enum text_glue glue, inverted; } list[] = {
    { "Isolated", GLUE_NONE, GLUE_NONE }, { "Removed", GLUE_NONE, GLUE_NONE },
    { "MergedWithPrevious", GLUE_BEFORE, GLUE_AFTER }, { "MergedWithNext", GLUE_AFTER, GLUE_BEFORE },
    { "Contiguous", GLUE_RUNS, GLUE_RUNS } };
  const char *name = how == NULL && otherwise != NULL ? otherwise : json_string_value(how);
  size_t i = 0;
  while (i < 5 && (name == NULL || strcmp(name, list[i].name) != 0)) i++;
  if (i == 5) return reader_refuse(r, field_below(where, "behavior").name, how,
    "Isolated, Removed, MergedWithPrevious, MergedWithNext or Contiguous");
  *s = (struct text_step) { .what = STEP_SPLIT, .glue = invert ? list[i].inverted : list[i].glue,
    .keep_matches = i != 1 || invert, .keep_gaps = i != 1 || !invert };
  return true;
}

/* The pattern is a regular expression, or a plain string, in which a dot is a dot. */
static bool read_split(struct json_reader *r, const char *where, json_t *v)
{
  struct field_name at = field_below(where, "pattern");
  json_t *pattern = json_object_get(v, "pattern"), *how =
    json_object_get(v, "behavior");
  json_t *regex = json_object_get(pattern, "Regex"), *text =
    json_object_get(pattern, "String");
  bool invert;
  if (!reader_keys(r, where, v, "type pattern behavior invert ")
    || !reader_keys(r, at.name, pattern, "Regex String ")
    || !reader_flag(r, where, v, "invert", false, &invert)) return false;
  json_t *given = regex != NULL ? regex : text;
  if (json_string_length(given) == 0)
    return reader_refuse(r, at.name, given, "a Regex or a String");
  if (regex != NULL && !stages_translate(r, at.name, regex)) return false;
  struct text_step s;
  if (!choose_behaviour(r, where, how, NULL, invert, &s)) return false;
  struct error inner = { "" };
  return or_refuse(r, at.name, tokenizer_add_step(r->m, r->t, s,
    regex != NULL ? (const char *) r->row.byte : json_string_value(given),
    regex != NULL ? r->row.n : json_string_length(given),
    regex == NULL, &inner), &inner);
}

/* The scheme replaces the older flag, and counts if a file has both, but must not
   contradict it. */
static bool choose_scheme(struct json_reader *r, const char *where,
  json_t *v, enum scheme *s)
{
  static const char *const name[] = { "never", "first",
    "always" };
  json_t *how = json_object_get(v, "prepend_scheme");
  const char *text = json_string_value(how);
  if (how == NULL || json_is_null(how)) return true;
  int i = 0;
  while (i < 3 && (text == NULL || strcmp(text, name[i]) != 0)) i++;
  if (i == 3 || (i != SCHEME_NEVER && *s == SCHEME_NEVER))
    return reader_refuse(r, field_below(where, "prepend_scheme").name, how,
      i == 3 ? "never, first or always"
      : "never, as add_prefix_space is false");
  return *s = (enum scheme) i, true;
}

/* Files from before the schemes have a flag in their place. Only the one character that all
   files use is taken: the decoder undoes it by name. */
bool stages_read_scheme(struct json_reader *r, const char *where,
  json_t *v, enum scheme *s, bool *split)
{
  bool put;
  json_t *mark = json_object_get(v, "replacement");
  if (!reader_keys(r, where, v, "type replacement split str_rep "
    "add_prefix_space prepend_scheme ")
    || !reader_flag(r, where, v, "add_prefix_space", true, &put)
    || !reader_flag(r, where, v, "split", true, split)) return false;
  if (!json_is_string(mark)
    || strcmp(json_string_value(mark), BLOCK) != 0)
    return reader_refuse(r, field_below(where, "replacement").name, mark,
      "the block U+2581");
  *s = put ? SCHEME_ALWAYS : SCHEME_NEVER;
  return choose_scheme(r, where, v, s);
}

static bool may_remove(enum text_step_kind what)
{
  return what == STEP_REPLACE || what == STEP_TRIM || what == STEP_MARKS || what == STEP_MAP
    || what == STEP_CLEAN;
}

/* Blanks become blocks; a block is put before the text, never, always, or only where the
   whole text begins; the text is cut before every block. No block is put where the text
   already begins with one, even one that was a blank; in this the newer form differs from
   the older, whose files prepend first and replace afterwards. */
static bool read_metaspace(struct json_reader *r, const char *where,
  json_t *v)
{
  static const char pattern[] = BLOCK "[^" BLOCK "]*";
  enum scheme s;
  bool split;
  if (!stages_read_scheme(r, where, v, &s, &split)) return false;
  /* Where the whole text begins has two meanings once the normalizer has removed
     something. */
  for (size_t k = 0; s == SCHEME_FIRST && k < r->t->n_normalizers; k++)
    if (may_remove(r->t->step[k].what))
      return reader_refuse(r, field_below(where, "prepend_scheme").name,
        json_object_get(v, "prepend_scheme"),
        "never or always, after a Replace and what else may remove characters");
  return put_instead(r, where, " ", 1, true, BLOCK, strlen(BLOCK))
    && (s == SCHEME_NEVER || put_before(r, where, BLOCK, strlen(BLOCK),
    s == SCHEME_FIRST, true))
    && (!split || stages_cut_at(r, where, pattern, strlen(pattern)));
}

/* All that Unicode counts as numbers, as the makers' own library does: an Arabic four is
   cut out like an ASCII one, and so is a half, which is one character. */
static bool read_digits(struct json_reader *r, const char *where, json_t *v)
{
  bool single;
  return reader_keys(r, where, v, "type individual_digits ")
    && reader_flag(r, where, v, "individual_digits", false, &single)
    && stages_cut_at(r, where, single ? "\\p{N}" : "\\p{N}+", single ? 5 : 6);
}

/* a pattern of ours, with the behaviour that the stage asks for */
static bool cut_by(struct json_reader *r, const char *where, const char *pattern,
  const struct text_step *s)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_step(r->m, r->t, *s, pattern, strlen(pattern), false,
    &inner), &inner);
}

/* What the makers' library takes for punctuation: the signs of ASCII, and Unicode's categories P as they
   were in version 8. What has become punctuation since is named. */
static const char cut_signs[] = "(?![\\x{61d}\\x{9fd}\\x{a76}\\x{c77}\\x{c84}\\x{1b7d}\\x{1b7e}"
  "\\x{2e43}-\\x{2e4f}\\x{2e52}-\\x{2e5d}\\x{10ead}\\x{10f55}-\\x{10f59}\\x{10f86}-\\x{10f89}"
  "\\x{1144b}-\\x{1144f}\\x{1145a}-\\x{1145d}\\x{11660}-\\x{1166c}\\x{116b9}\\x{1183b}"
  "\\x{11944}-\\x{11946}\\x{119e2}\\x{11a3f}-\\x{11a46}\\x{11a9a}-\\x{11aa2}"
  "\\x{11c41}-\\x{11c45}\\x{11c70}\\x{11c71}\\x{11ef7}\\x{11ef8}\\x{11fff}\\x{12ff1}\\x{12ff2}"
  "\\x{16e97}-\\x{16e9a}\\x{16fe2}\\x{1e95e}\\x{1e95f}])[\\p{P}$+<=>^`|~\\x{166d}\\x{111c9}]";

static bool read_punctuation(struct json_reader *r, const char *where, json_t *v)
{
  struct text_step s;
  return reader_keys(r, where, v, "type behavior ")
    && choose_behaviour(r, where, json_object_get(v, "behavior"), "Isolated", false, &s)
    && cut_by(r, where, cut_signs, &s);
}

/* Three stages without settings: words of letters or of signs, both without white space; whatever is
   between white space; and that, with punctuation apart. */
static bool read_words(struct json_reader *r, const char *where, json_t *v, const char *type)
{
#define LETTERS "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}"
  struct text_step words = { .what = STEP_SPLIT, .keep_matches = true },
    signs = { .what = STEP_SPLIT, .keep_matches = true, .keep_gaps = true };
  if (!reader_keys(r, where, v, "type ")) return false;
  if (strcmp(type, "Whitespace") == 0)
    return cut_by(r, where, "[" LETTERS "]+|[^" LETTERS "\\s]+", &words);
  return cut_by(r, where, "\\S+", &words)
    && (strcmp(type, "WhitespaceSplit") == 0 || cut_by(r, where, cut_signs, &signs));
#undef LETTERS
}

/* appends a part for each script, between two other parts; @ in a part is the script's name */
static bool each_script(struct json_reader *r, const char *names, const char *before,
  const char *part, const char *after)
{
  bool ok = bytes_push(r->m, &r->row, before, strlen(before), r->why);
  for (const char *c = names; ok && *c != '\0'; c += c[4] == '\0' ? 4 : 5)
    for (const char *p = part; ok && *p != '\0'; p++)
      ok = *p == '@' ? bytes_push(r->m, &r->row, c, 4, r->why) : bytes_push(r->m, &r->row, p, 1, r->why);
  return ok && bytes_push(r->m, &r->row, after, strlen(after), r->why);
}

/* What has got a script since version 9 of Unicode, whose table the makers' library has: no script to it. */
static const char later_scripts[] =
  "\\x{560}\\x{588}\\x{5ef}\\x{61d}\\x{7fd}-\\x{7ff}\\x{860}-\\x{86a}\\x{870}-\\x{88e}"
  "\\x{890}-\\x{891}\\x{898}-\\x{89f}\\x{8b5}\\x{8be}-\\x{8d3}\\x{9fc}-\\x{9fe}\\x{a76}"
  "\\x{afa}-\\x{aff}\\x{b55}\\x{c04}\\x{c3c}\\x{c5d}\\x{c77}\\x{c84}\\x{cdd}\\x{d00}"
  "\\x{d04}\\x{d3b}-\\x{d3c}\\x{d81}\\x{e86}\\x{e89}\\x{e8c}\\x{e8e}-\\x{e93}\\x{e98}"
  "\\x{ea0}\\x{ea8}-\\x{ea9}\\x{eac}\\x{eba}\\x{170d}\\x{1715}\\x{171f}\\x{180f}\\x{1878}"
  "\\x{1abf}-\\x{1ace}\\x{1b4c}\\x{1b7d}-\\x{1b7e}\\x{1c90}-\\x{1cba}\\x{1cbd}-\\x{1cbf}"
  "\\x{1cf7}\\x{1cfa}\\x{1df6}-\\x{1dfa}\\x{20bf}-\\x{20c0}\\x{23ff}\\x{2b97}"
  "\\x{2bba}-\\x{2bbc}\\x{2bc9}\\x{2bd2}-\\x{2beb}\\x{2bf0}-\\x{2bff}\\x{2c2f}\\x{2c5f}"
  "\\x{2e45}-\\x{2e5d}\\x{312e}-\\x{312f}\\x{31bb}-\\x{31bf}\\x{32ff}\\x{4db6}-\\x{4dbf}"
  "\\x{9fd6}-\\x{9fff}\\x{a7af}\\x{a7b8}-\\x{a7ca}\\x{a7d0}-\\x{a7d1}\\x{a7d3}"
  "\\x{a7d5}-\\x{a7d9}\\x{a7f2}-\\x{a7f6}\\x{a82c}\\x{a8fe}-\\x{a8ff}\\x{ab66}-\\x{ab6b}"
  "\\x{fbc2}\\x{fd40}-\\x{fd4f}\\x{fdcf}\\x{fdfe}-\\x{fdff}\\x{1019c}\\x{1032d}-\\x{1032f}"
  "\\x{10780}-\\x{10785}\\x{10787}-\\x{107b0}\\x{107b2}-\\x{107ba}\\x{10a34}-\\x{10a35}"
  "\\x{10a48}\\x{11070}-\\x{11075}\\x{110c2}\\x{110cd}\\x{11144}-\\x{11147}"
  "\\x{111ce}-\\x{111cf}\\x{1133b}\\x{1145a}\\x{1145e}-\\x{11461}\\x{116b8}-\\x{116b9}"
  "\\x{1171a}\\x{11740}-\\x{11746}\\x{11ab0}-\\x{11abf}\\x{11fb0}\\x{11fc0}-\\x{11ff1}"
  "\\x{11fff}\\x{13430}-\\x{13438}\\x{16f45}-\\x{16f4a}\\x{16f4f}\\x{16f7f}-\\x{16f87}"
  "\\x{16fe2}-\\x{16fe3}\\x{16ff0}-\\x{16ff1}\\x{187ed}-\\x{187f7}\\x{18af3}-\\x{18aff}"
  "\\x{18d00}-\\x{18d08}\\x{1aff0}-\\x{1aff3}\\x{1aff5}-\\x{1affb}\\x{1affd}-\\x{1affe}"
  "\\x{1b002}-\\x{1b122}\\x{1b150}-\\x{1b152}\\x{1b164}-\\x{1b167}\\x{1cf00}-\\x{1cf2d}"
  "\\x{1cf30}-\\x{1cf46}\\x{1cf50}-\\x{1cfc3}\\x{1d1e9}-\\x{1d1ea}\\x{1d2e0}-\\x{1d2f3}"
  "\\x{1d372}-\\x{1d378}\\x{1df00}-\\x{1df1e}\\x{1e7e0}-\\x{1e7e6}\\x{1e7e8}-\\x{1e7eb}"
  "\\x{1e7ed}-\\x{1e7ee}\\x{1e7f0}-\\x{1e7fe}\\x{1e94b}\\x{1ec71}-\\x{1ecb4}"
  "\\x{1ed01}-\\x{1ed3d}\\x{1f10d}-\\x{1f10f}\\x{1f12f}\\x{1f16c}-\\x{1f16f}\\x{1f1ad}"
  "\\x{1f260}-\\x{1f265}\\x{1f6d3}-\\x{1f6d7}\\x{1f6dd}-\\x{1f6df}\\x{1f6f7}-\\x{1f6fc}"
  "\\x{1f7d5}-\\x{1f7d8}\\x{1f7e0}-\\x{1f7eb}\\x{1f7f0}\\x{1f8b0}-\\x{1f8b1}"
  "\\x{1f900}-\\x{1f90f}\\x{1f91f}\\x{1f928}-\\x{1f92f}\\x{1f931}-\\x{1f932}\\x{1f93f}"
  "\\x{1f94c}-\\x{1f94f}\\x{1f95f}-\\x{1f97f}\\x{1f992}-\\x{1f9bf}\\x{1f9c1}-\\x{1fa53}"
  "\\x{1fa60}-\\x{1fa6d}\\x{1fa70}-\\x{1fa74}\\x{1fa78}-\\x{1fa7c}\\x{1fa80}-\\x{1fa86}"
  "\\x{1fa90}-\\x{1faac}\\x{1fab0}-\\x{1faba}\\x{1fac0}-\\x{1fac5}\\x{1fad0}-\\x{1fad9}"
  "\\x{1fae0}-\\x{1fae7}\\x{1faf0}-\\x{1faf6}\\x{1fb00}-\\x{1fb92}\\x{1fb94}-\\x{1fbca}"
  "\\x{1fbf0}-\\x{1fbf9}\\x{2a6d7}-\\x{2a6df}\\x{2b735}-\\x{2b738}\\x{2ceb0}-\\x{2ebe0}"
  "\\x{30000}-\\x{3134a}";

/* Runs of characters of one script, as the makers' library knows them: Chinese and the two Japanese ones
   are one script, and so is the long vowel; a blank, and what belongs to none of these scripts, goes
   with what is before it, and is lost if nothing is. */
static bool read_scripts(struct json_reader *r, const char *where, json_t *v)
{
  static const char names[] = "Latn Cyrl Grek Arab Hebr Hang Deva Thai Zinh Adlm Aghb Ahom Armi Armn Avst "
    "Bali Bamu Bass Batk Beng Bhks Bopo Brah Brai Bugi Buhd Cakm Cans Cari Cham Cher Copt Cprt Dsrt Dupl "
    "Egyp Elba Ethi Geor Glag Goth Gran Gujr Guru Hano Hatr Hluw Hmng Hung Ital Java Kali Khar Khmr Khoj "
    "Knda Kthi Lana Laoo Lepc Limb Lina Linb Lisu Lyci Lydi Mahj Mand Mani Marc Mend Merc Mero Mlym Modi "
    "Mong Mroo Mtei Mult Mymr Narb Nbat Newa Nkoo Ogam Olck Orkh Orya Osge Osma Palm Pauc Perm Phag Phli "
    "Phlp Phnx Plrd Prti Rjng Runr Samr Sarb Saur Sgnw Shaw Shrd Sidd Sind Sinh Sora Sund Sylo Syrc Tagb "
    "Takr Tale Talu Taml Tang Tavt Telu Tfng Tglg Thaa Tibt Tirh Ugar Vaii Wara Xpeo Xsux Yiii";
  static const char later[] = "(?(DEFINE)(?<later>[", any[] = "])(?<any>", first[] = ")(?!(?&later))(?:"
    "[\\p{sc:Hani}\\p{sc:Hira}\\p{sc:Kana}\\x{30fc}](?:[\\p{sc:Hani}\\p{sc:Hira}\\p{sc:Kana}\\x{30fc}]|(?&any))*|"
    "(?![ \\x{30fc}])\\p{sc:Zyyy}(?:(?!\\x{30fc})\\p{sc:Zyyy}|(?&any))*";
  struct text_step s = { .what = STEP_SPLIT, .keep_matches = true };
  r->row.n = 0, r->scripts = true;
  return reader_keys(r, where, v, "type ")
    && bytes_push(r->m, &r->row, later, sizeof later - 1, r->why)
    && bytes_push(r->m, &r->row, later_scripts, sizeof later_scripts - 1, r->why)
    && bytes_push(r->m, &r->row, any, sizeof any - 1, r->why)
    && each_script(r, names, " |(?&later)|[^\\p{sc:Zyyy}\\p{sc:Hani}\\p{sc:Hira}\\p{sc:Kana}", "\\p{sc:@}", "])")
    && bytes_push(r->m, &r->row, first, strlen(first), r->why)
    && each_script(r, names, "", "|\\p{sc:@}(?:\\p{sc:@}|(?&any))*", ")")
    && bytes_push(r->m, &r->row, "", 1, r->why) && cut_by(r, where, (const char *) r->row.byte, &s);
}

/* It may put a blank before the text, and it may cut; both flags are true if they are
   absent. Nothing is left to do for its alphabet: our words are bytes already. */
static bool read_byte_level(struct json_reader *r, const char *where,
  json_t *v)
{
  bool blank, regex;
  r->in_bytes = true;
  return reader_keys(r, where, v, BYTE_LEVEL_KEYS)
    && reader_flag(r, where, v, "add_prefix_space", true, &blank)
    && reader_flag(r, where, v, "use_regex", true, &regex)
    && (!blank || put_before(r, where, " ", 1, false, true))
    && (!regex || stages_cut_at(r, where, split_gpt2, strlen(split_gpt2)));
}

/* back from the letters of the alphabet, of which the text is made here, to bytes */
static bool from_alphabet(struct memory *m, const unsigned char *text, size_t n,
  struct bytes *out, struct error *why)
{
  size_t length;
  for (size_t at = 0; at < n; at += length) {
    enum utf8_state state;
    length = utf8_next(text + at, n - at, &state);
    unsigned char byte = (unsigned char) tokenizer_unicode_to_byte(utf8_point(text + at, length));
    if (!bytes_push(m, out, &byte, 1, why)) return false;
  }
  return true;
}

static bool spell(struct json_reader *r, const char *where, text_change *call)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_step(r->m, r->t,
    (struct text_step) { .what = STEP_CALL, .call = call }, NULL, 0, false, &inner), &inner);
}

bool stages_end(struct json_reader *r)
{
  return !r->in_letters || spell(r, "pre_tokenizer", from_alphabet);
}

/* A stage after ByteLevel, as Falcon has them, sees the letters of its alphabet instead of the
   text, where a byte of an accented letter may look like a digit: so the text is spelt in them
   before, and at the end it becomes bytes again. A stage that puts characters in would put in
   what is no letter. */
static bool after_bytes(struct json_reader *r, const char *where, json_t *name)
{
  const char *type = json_string_value(name);
  if (strcmp(type, "ByteLevel") == 0 || strcmp(type, "Metaspace") == 0)
    return reader_refuse(r, field_below(where, "type").name, name,
      "a stage that only cuts, after ByteLevel");
  bool first = !r->in_letters;
  r->in_letters = true;
  return !first || spell(r, where, tokenizer_to_alphabet);
}

bool stages_read(struct json_reader *r, const char *where, json_t *v)
{
  json_t *name = json_object_get(v, "type");
  const char *type = json_string_value(name);
  if (type == NULL) return reader_refuse(r, field_below(where, "type").name, name,
    "the name of a stage");
  if (strcmp(type, "Sequence") == 0)
    return reader_each(r, where, v, "pretokenizers", stages_read);
  if (r->in_bytes && !after_bytes(r, where, name)) return false;
  if (strcmp(type, "Split") == 0) return read_split(r, where, v);
  if (strcmp(type, "Digits") == 0) return read_digits(r, where, v);
  if (strcmp(type, "Metaspace") == 0) return read_metaspace(r, where, v);
  if (strcmp(type, "Punctuation") == 0) return read_punctuation(r, where, v);
  /* its pattern is large, and a second one would find nothing new */
  if (strcmp(type, "UnicodeScripts") == 0) return r->scripts
    ? reader_refuse(r, field_below(where, "type").name, name, "one of its kind")
    : read_scripts(r, where, v);
  if (strcmp(type, "Whitespace") == 0 || strcmp(type, "WhitespaceSplit") == 0
    || strcmp(type, "BertPreTokenizer") == 0) return read_words(r, where, v, type);
  if (strcmp(type, "ByteLevel") == 0) return read_byte_level(r, where, v);
  return reader_refuse(r, field_below(where, "type").name, name,
    "Sequence, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, BertPreTokenizer, "
    "UnicodeScripts, Metaspace or ByteLevel");
}

/* An empty pattern would match everywhere; an empty replacement is a removal, and allowed. */
static bool read_replace(struct json_reader *r, const char *where,
  json_t *v)
{
  struct field_name at = field_below(where, "pattern");
  json_t *pattern = json_object_get(v, "pattern"), *by =
    json_object_get(v, "content");
  json_t *regex = json_object_get(pattern, "Regex"), *given =
    regex != NULL ? regex : json_object_get(pattern, "String");
  if (!reader_keys(r, where, v, "type pattern content ")
    || !reader_keys(r, at.name, pattern, "Regex String ")) return false;
  if (json_string_length(given) == 0)
    return reader_refuse(r, at.name, given, "a Regex or a String");
  if (regex != NULL && !stages_translate(r, at.name, regex)) return false;
  if (!json_is_string(by))
    return reader_refuse(r, field_below(where, "content").name, by, "some text");
  return put_instead(r, at.name,
    regex != NULL ? (const char *) r->row.byte : json_string_value(given),
    regex != NULL ? r->row.n : json_string_length(given), regex == NULL, json_string_value(by),
    json_string_length(by));
}

/* It has neither pattern nor words, so only the number of stages can refuse it. */
static bool plain_step(struct json_reader *r, const char *where, struct text_step s)
{
  struct error inner = { "" };
  return or_refuse(r, where, tokenizer_add_step(r->m, r->t, s, NULL, 0, false, &inner), &inner);
}

static bool read_trim(struct json_reader *r, const char *where, json_t *v)
{
  struct text_step s = { .what = STEP_TRIM };
  return reader_keys(r, where, v, "type strip_left strip_right ")
    && reader_flag(r, where, v, "strip_left", true, &s.left)
    && reader_flag(r, where, v, "strip_right", true, &s.right) && plain_step(r, where, s);
}

/* SentencePiece's map of characters, in base64. */
static bool read_map(struct json_reader *r, const char *where, json_t *v)
{
  json_t *map = json_object_get(v, "precompiled_charsmap");
  struct field_name at = field_below(where, "precompiled_charsmap");
  const char *wanted = "base64";
  struct error inner = { "something else" };
  bool good;
  if (!reader_keys(r, where, v, "type precompiled_charsmap ")) return false;
  if (json_is_null(map)) return true;
  if (json_string_length(map) == 0) return reader_refuse(r, at.name, map, "base64");
  r->row.n = 0;
  if (!pieces_from_base64(r->m, (const unsigned char *) json_string_value(map),
    json_string_length(map), &r->row, r->why, &good)) return false;
  if (good && tokenizer_add_map(r->m, r->t, r->row.byte, r->row.n, true, &wanted, &inner)) return true;
  return error_found(r->why, r->file, at.name, inner.text, wanted == NULL
    ? "a map that can be kept, and at most 16 stages" : wanted);
}

/* the normalizers that have no settings */
static const struct { const char *name; enum text_step_kind what; } plain_forms[] = {
  { "NFC", STEP_NFC }, { "NFD", STEP_NFD }, { "NFKC", STEP_NFKC }, { "NFKD", STEP_NFKD },
  { "StripAccents", STEP_MARKS }, { "Lowercase", STEP_LOWER }, { "Nmt", STEP_CLEAN } };

/* Each is a step of ours. Refused are those that do several things at once by an older list of
   characters (BertNormalizer), and the alphabet of bytes, which comes later. */
bool stages_read_normalizer(struct json_reader *r, const char *where,
  json_t *v)
{
  if (json_is_null(v) || v == NULL) return true;
  json_t *type = json_object_get(v, "type"), *put =
    json_object_get(v, "prepend");
  const char *name = json_is_string(type) ? json_string_value(type)
    : "";
  if (strcmp(name, "Sequence") == 0)
    return reader_each(r, where, v, "normalizers", stages_read_normalizer);
  for (size_t i = 0; i < sizeof plain_forms / sizeof plain_forms[0]; i++)
    if (strcmp(name, plain_forms[i].name) == 0) return reader_keys(r, where, v, "type ")
      && plain_step(r, where, (struct text_step) { .what = plain_forms[i].what });
  if (strcmp(name, "Strip") == 0) return read_trim(r, where, v);
  if (strcmp(name, "Precompiled") == 0) return read_map(r, where, v);
  if (strcmp(name, "Replace") == 0) return read_replace(r, where, v);
  if (strcmp(name, "Prepend") != 0)
    return reader_refuse(r, field_below(where, "type").name, type,
      "NFC, NFD, NFKC, NFKD, StripAccents, Lowercase, Strip, Nmt, Precompiled, Prepend, Replace "
      "or Sequence");
  return reader_keys(r, where, v, "type prepend ")
    && (json_is_string(put) || reader_refuse(r, field_below(where, "prepend").name,
    put, "some text")) && put_before(r, where, json_string_value(put),
    json_string_length(put), false, false);
}
