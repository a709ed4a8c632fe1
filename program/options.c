/* options.c -- the tables of subcommands and options, and the reader of command lines.

   Everything that knows an option is made from its row in option_table: the parsing, the help,
   the manual page and the completion of the shell (help.c). A new option is a name in enum
   option and a row here. A parameter of the sampler has its row in chapter 7, and no name here.

   Why not getopt_long or popt: a mistake is answered with the nearest name of the same
   subcommand, or with the chapter that will bring the option; the same letter means different
   things to different subcommands (-p, -n); values are checked against their limits here, before
   anything is opened; abbreviated names are refused, because tomorrow's option would change
   their meaning; and a program may call the parser many times, in several threads, without
   global state. getopt_long gives none of these, and its own sentences and its abbreviations
   would have to be suppressed. What is left of the job is take_option, forty lines.

   The rules are those of the field: --name VALUE, --name=VALUE, -nVALUE, -n VALUE; two dashes
   alone end the options; one dash alone is an operand, the standard input. Of two equal options
   the last counts, so that one can be appended to a long line. --help wins over everything after
   it. */

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <jansson.h>
#include <string.h>
#include <strings.h>
#include "accounts/formats.h"
#include "ledger/rules.h"
#include "model/quantization.h"
#include "command/quantize.h"
#include "stopping/stops.h"
#include "safetensors/excerpt.h"
#include "hub.h"
#include "options.h"
#include "templates/conversations.h"

/* The tests type every example of this table into a shell, as it stands: people copy the
   example. */
static const struct subcommand_entry subcommand_table[N_SUBCOMMANDS] = {
  [SUB_GENERATE] = { .name = "generate", .operand = "PROMPT|-", .max = 1,
    .words = "continue a prompt", .example = "incipit generate \"The cat sat\" -n 4",
    .instead = "a prompt of several words stands in quotation marks" },
  [SUB_TOKENIZE] = { .name = "tokenize", .operand = "TEXT|-", .max = 1,
    .words = "text to ids and pieces, and back", .example = "incipit tokenize \"The cat sat\"",
    .instead = "a text of several words stands in quotation marks" },
  [SUB_TRACE] = { .name = "trace", .operand = "PROMPT|-", .max = 1,
    .words = "the loop, step by step", .example = "incipit trace \"The cat sat\" -n 4",
    .instead = "a prompt of several words stands in quotation marks" },
  [SUB_INSPECT] = { .name = "inspect", .operand = "PATH", .max = 1,
    .words = "what is in a model's files", .example = "incipit inspect" },
  [SUB_PROBE] = { .name = "probe", .operand = "KIND", .min = 1, .max = 1,
    .words = "questions in JSON, one a line, answered one a line",
    .example = "echo '{\"text\": \"The cat sat\"}' | incipit probe tokenize" },
  [SUB_BENCH] = { .name = "bench",
    .words = "how fast tokens are read and written, and what share of the machine that is",
    .example = "incipit bench -p 32 -n 8 -r 2", .instead = "a model is given as -m PATH" },
  [SUB_PERPLEXITY] = { .name = "perplexity", .operand = "FILE|-", .min = 1, .max = 1,
    .words = "how well a text is predicted", .example = "echo 'The cat sat on the mat.' | incipit perplexity -" },
  [SUB_MEMORY] = { .name = "memory", .words = "what a model takes, and what fits into a budget",
    .example = "incipit memory --shape llama-7b --context 4096 --budget 24GB",
    .instead = "a model is given as -m PATH, a shape as --shape NAME" },
  [SUB_QUANTIZE] = { .name = "quantize",
    .words = "make one GGUF file of a model, with weights in fewer bits",
    .example = "incipit quantize --type q8_0 --out /tmp/pocket-q8_0.gguf",
    .instead = "model, type and file are given as -m PATH --type TYPE --out FILE" },
  [SUB_CHAT] = { .name = "chat", .words = "talk with a model, turn by turn",
    .example = "echo 'Hello!' | incipit chat",
    .instead = "turns are typed, or come from a pipe: echo 'Hello!' | incipit chat" },
  [SUB_SERVE] = { .name = "serve",
    .words = "answer many requests at once over HTTP, as OpenAI's interface does",
    .example = "incipit serve --port 8080",
    .instead = "a model is given as -m PATH" },
  [SUB_PULL] = { .name = "pull", .operand = "ORG/NAME[:FILE]", .max = 1,
    .words = "fetch a model from Hugging Face's hub; -m ORG/NAME[:FILE] then finds it",
    .example = "incipit pull --list", .instead = "one model at a time" },
  [SUB_VERIFY] = { .name = "verify", .operand = "ID|WORDS...", .max = OPTIONS_MAX_OPERANDS,
    .words = "judge what tutorials say: by id, by words of the sentence, or all",
    .example = "incipit verify half an MB" },
  [SUB_HELP] = { .name = "help", .operand = "SUBCOMMAND|SHELL", .max = 1,
    .words = "this list, or the options of one subcommand", .example = "incipit help generate" },
  [SUB_VERSION] = { .name = "--version", .words = "version, build, compiler, kernels, Unicode",
    .example = "incipit --version" },
};

/* Words of other programs, typed from habit: what llama.cpp, ollama and transformers call a thing
   that has another name here, or that is not here, and what to do instead. A word with one dash
   would otherwise be taken for a letter and its value (-ngl for -n gl), and the sentence would be
   about that value. None of these can be right here: the value after the letter would be refused,
   or no option has the name. -fa is missing because it can be: a file called a. */
struct foreign_words { const char *typed, *instead; }; /* blanks between the words */
static const struct foreign_words foreign_options[] = {
  { "-ngl --n-gpu-layers --gpu-layers --device-map",
    "--device cuda has all passes computed on a graphics processor" },
  { "-hf -hfr --hf-repo --hf-file --model-url",
    "nothing is downloaded unasked; incipit pull ORG/NAME[:FILE] fetches a model, and -m ORG/NAME[:FILE] finds it" },
  { "-i -cnv --conversation --interactive --interactive-first", "incipit chat takes turns" },
  { "-no-cnv --no-conversation", "incipit generate continues a text, without turns" },
  { "-sys --system-prompt", "incipit chat --system S says how to behave" },
  { "--chat-template-file --jinja",
    "a model's template is run, or one of a file: incipit chat --chat-template FILE" },
  { "--chat-template-kwargs", "incipit chat --kwarg NAME=JSON gives a template one variable" },
  { "-ctk -ctv --cache-type-k --cache-type-v", "--kv-type TYPE is for keys and values" },
  { "-b -ub --batch-size --ubatch-size", "--chunk N reads at most N tokens in a pass" },
  { "-np --parallel -cb --cont-batching", "incipit serve --slots N writes N texts at a time" },
  { "--alias", "incipit serve --model-name NAME is what clients call the model" },
  { "--num-ctx --max-model-len", "-c N is the length of the context" },
  { "--reverse-prompt", "--stop STRING ends before a string" },
  { "--mmproj --image", "images are not read; a model that sees runs as the model of its texts" },
  { "--lora --lora-scaled", "an adapter is merged into its model first (merge_and_unload of peft)" },
  { "--mirostat --xtc-probability --dry-multiplier", "--samplers lists the stages that there are" },
  { "--flash-attn", "attention needs no such option" },
  { "--no-mmap --mlock", "weights are mapped; --packed copies them" },
  { "--stream", "a text is written as it comes" },
  { "--do-sample", "--temperature 1 draws tokens, and 0 takes the likeliest" },
  { "--max-length --n-tokens", "-n N writes at most N tokens" },
  { "--format", "--json prints an object; generate --json-object writes one" },
  { "--load-in-8bit --load-in-4bit --torch-dtype --dtype",
    "weights are used as they are stored; incipit quantize stores others" },
  { "--verbose --verbose-prompt", "--stats prints counters and times" } };
static const struct foreign_words foreign_subcommands[] = {
  { "run cli", "incipit chat -m PATH talks with a model, incipit generate -m PATH continues a text" },
  { "server", "incipit serve answers requests over HTTP" },
  { "download", "incipit pull ORG/NAME[:FILE] fetches a model" },
  { "push", "nothing is uploaded" },
  { "list ls", "incipit pull --list says which models were fetched; any other is given by its path: -m PATH" },
  { "rm remove", "incipit pull --list says where fetched models are; rm -r removes one" },
  { "ps stop", "no model stays in memory after its command" },
  { "show", "incipit inspect PATH says what is in a model's files" },
  { "embed embedding embeddings", "nothing but texts is written" },
  { "create convert", "incipit quantize makes one GGUF file of a model" } };
enum { N_FOREIGN_OPTIONS = sizeof foreign_options / sizeof *foreign_options,
  N_FOREIGN_SUBCOMMANDS = sizeof foreign_subcommands / sizeof *foreign_subcommands };

/* what to do instead of what is typed, up to a = in it; null if no row has it */
static const char *find_foreign(const char *typed, const struct foreign_words *row, size_t n)
{
  size_t length = strcspn(typed, "=");
  for (size_t i = 0; length > 0 && i < n; i++)
    for (const char *at = row[i].typed; *at != '\0'; at += strspn(at, " ")) {
      size_t k = strcspn(at, " ");
      if (k == length && memcmp(at, typed, k) == 0) return row[i].instead;
      at += k;
    }
  return NULL;
}

/* The slips between two words, by dynamic programming: a letter too many, too few or wrong, or
   two neighbours exchanged, which is what hurried fingers do most (Damerau 1964, Levenshtein
   1966; no part is edited twice, which typing does not need). d[i][j] is the number for the
   first i letters of a and the first j of b. A word too long for the table is no slip of
   anything. */
enum { MAX_WORD = 40 };

static unsigned edit_distance(const char *a, const char *b)
{
  unsigned d[MAX_WORD + 1][MAX_WORD + 1];
  unsigned n = (unsigned) strlen(a), m = (unsigned) strlen(b);
  if (n > MAX_WORD || m > MAX_WORD) return n + m;
  for (unsigned i = 0; i <= n; i++)
    for (unsigned j = 0; j <= m; j++) {
      unsigned best;
      /* from above: a letter of a is too many; from the left: one is missing; diagonally: equal,
         or wrong; two up and two left: an exchange */
      best = i == 0 ? j : d[i - 1][j] + 1;
      if (j > 0 && d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
      if (i > 0 && j > 0) {
        unsigned wrong = a[i - 1] != b[j - 1];
        if (d[i - 1][j - 1] + wrong < best) best = d[i - 1][j - 1] + wrong;
      }
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]
          && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  return d[n][m];
}

/* how many letters a word has; dashes are not letters */
static unsigned count_letters(const char *word)
{
  unsigned n = 0;
  for (; *word != '\0'; word++) n += *word != '-';
  return n;
}

/* a name without the dashes before it: --version is a subcommand like the others */
static const char *without_dashes(const char *name)
{
  return name + strspn(name, "-");
}

/* the one name of the list that begins with word, if dashed only of those with dashes of their own;
   null if none does, or several do */
static const char *sole_prefixed(const char *word, bool dashed, const char *const *list, size_t n)
{
  const char *found = NULL;
  for (size_t i = 0; i < n; i++) {
    if (dashed && list[i][0] != '-') continue;
    if (strncmp(without_dashes(list[i]), word, strlen(word)) != 0) continue;
    if (found != NULL) return NULL;
    found = list[i];
  }
  return found;
}

/* Half a word is more often meant as a beginning than as another word with slips in it, so
   beginnings come first: gen is generate, not bench. More slips than a third of the letters are
   no slips, and a guess would mislead. Of equally near names the first of the list, so that the
   answer does not depend on chance. */
const char *options_suggest(const char *word, const char *const *list, size_t n)
{
  bool dashed = *word == '-'; /* -v is --version rather than verify */
  word = without_dashes(word);
  unsigned letters = count_letters(word), slips = letters / 3 + 1;
  const char *nearest = letters > 0 ? sole_prefixed(word, false, list, n) : NULL;
  if (nearest == NULL && letters > 0 && dashed) nearest = sole_prefixed(word, true, list, n);
  if (nearest != NULL) return nearest;
  for (size_t i = 0; i < n; i++) {
    unsigned distance = edit_distance(word, without_dashes(list[i]));
    if (distance >= slips) continue;
    slips = distance;
    nearest = list[i];
  }
  return nearest;
}

/* always false; the sentence is what was wrong, as in "there is no subcommand `x'", and then the
   name that was probably meant, or where all names are listed */
bool options_unknown(struct error *why, const char *wrong, const char *dashes,
  const char *suggestion, const char *help)
{
  if (suggestion == NULL) return error_say(why, "%s (incipit %s)", wrong, help);
  return error_say(why, "%s; the nearest is %s%s", wrong, dashes, suggestion);
}

/* digits and nothing else: no sign, no blank, no point (strtoull would take the first two, stop
   at the third, and make a large number of -1). Whether the next digit still fits is asked
   before it is added */
static bool digits_parse(const char *text, size_t n, uint64_t *value)
{
  *value = 0;
  for (size_t i = 0; i < n; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    uint64_t digit = (uint64_t) (text[i] - '0');
    if (*value > (UINT64_MAX - digit) / 10) return false;
    *value = *value * 10 + digit;
  }
  return n > 0;
}

/* Ids with commas or semicolons between them; blanks beside them do no harm, and a comma at the
   end is forgiven, because lists are made by programs. Two commas with nothing between them are
   refused: an id may have been lost there. */
int options_parse_ids(struct memory *m, const char *text, const char *what,
  struct ids *list, struct error *why)
{
  *list = (struct ids) { NULL, 0, 0 };
  const char *all = text;
  text += strspn(text, " ");
  while (*text != '\0') {
    uint64_t id;
    size_t n = strcspn(text, ",; ");
    bool ok = digits_parse(text, n, &id) && id <= UINT32_MAX;
    if (!ok) error_say(why, "--%s is `%s'; wanted: ids"
      " with commas between them, as in 1,2,3", what, all);
    if (!ok || !ids_push(m, list, (uint32_t) id, why)) {
      ids_free(m, list);
      return ok ? STATUS_FAILED : STATUS_USAGE;
    }
    text += n + strspn(text + n, " ");
    if (*text == ',' || *text == ';')
      text += 1 + strspn(text + 1, " ");
  }
  return STATUS_DONE;
}

/* A real number: digits, a point, signs, an exponent. strtod would also read hexadecimal digits
   and the words for infinity, so the letters are looked at first. */
static bool real_digits(const char *text, double *x)
{
  char *end;
  size_t n = strspn(text, "0123456789+-.eE");
  *x = n > 0 && text[n] == '\0' ? strtod(text, &end) : NAN;
  return n > 0 && text[n] == '\0' && *end == '\0';
}

/* The number is cut out of the text, since real_digits wants nothing after it. The one infinity is -inf:
   a bias may forbid a token and never force one. */
bool options_next_bias(const char **at, struct bias_pair *pair)
{
  size_t n = strcspn(*at, "=,;"), m;
  char buffer[64];
  if (!digits_parse(*at, n, &pair->id) || (*at)[n] != '=') return false;
  const char *number = *at + n + 1;
  m = strcspn(number, ",;");
  if (m == 0 || m >= sizeof buffer) return false;
  memcpy(buffer, number, m);
  buffer[m] = '\0';
  if (strcmp(buffer, "-inf") == 0) pair->bias = -INFINITY;
  else if (!real_digits(buffer, &pair->bias) || pair->bias - pair->bias != 0)
    return false;
  *at = number + m + (number[m] != '\0');
  return true;
}

/* One name more than there are stages is enough to know that one comes twice or is unknown. */
bool options_parse_samplers(const char *text, struct sampling_params *s,
  struct error *why)
{
  char buffer[256];
  const char *name[N_SAMPLE_STAGES + 1];
  size_t n = 0;
  if (snprintf(buffer, sizeof buffer, "%s", text) >= (int) sizeof buffer)
    return error_say(why, "--samplers has more names than there are stages");
  for (char *at = buffer; *at != '\0' && n <= N_SAMPLE_STAGES; ) {
    size_t length = strcspn(at, ",;");
    name[n++] = at;
    at += length;
    if (*at != '\0') *at++ = '\0';
  }
  struct error wrong;
  return sampling_stages_parse(s, name, n, &wrong)
    || error_say(why, "--%s", wrong.text);
}

/* Readers of values: each sees whether text is a value of option o, and notes its number in v;
   on failure a sentence. The row of an option names its reader; without one every text is a
   value. */

static bool read_count(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  if (digits_parse(text, strlen(text), &v->count) && v->count >= o->min && v->count <= o->max)
    return true;
  if (o->max == INT64_MAX)     /* the largest integer is no limit worth reading */
    return error_say(why, "--%s is `%s'; wanted: an integer from %" PRIu64 " on", o->name, text,
      o->min);
  return error_say(why, "--%s is `%s'; wanted: an integer from %" PRIu64 " to %" PRIu64, o->name,
    text, o->min, o->max);
}

bool options_next_count(const char **at, uint64_t *count)
{
  size_t n = strcspn(*at, ",;");
  if (!digits_parse(*at, n, count)) return false;
  *at += n + ((*at)[n] != '\0');
  return true;
}

/* a name, an equals sign, and a value in JSON; a text wants its quotation marks */
static bool read_kwarg(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  const char *value = strchr(text, '=');
  json_t *read = value == NULL ? NULL : json_loads(value + 1, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
  (void) v;
  bool ok = read != NULL && value > text;
  json_decref(read);
  return ok || error_say(why, "--%s is `%.60s'; wanted: %s, as enable_thinking=false", o->name, text, o->value);
}

/* where a file or a folder is: an empty name is what a shell makes of a variable that is not set,
   and a folder without a name would be the root */
static bool read_path(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  (void) v;
  return *text != '\0' || error_say(why, "--%s is empty; wanted: %s", o->name, o->value);
}

/* one count or several; the first of them is kept, all are taken from the text when they are
   used */
static bool read_counts(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  const char *at = text, *end = text + strlen(text);
  struct option_value one = { .given = true };
  for (size_t i = 0; options_next_count(&at, &one.count); i++) {
    if (one.count < o->min || one.count > o->max) break;
    if (i == 0) v->count = one.count;
    if (at == end && end[-1] != ',' && end[-1] != ';') return true;
  }
  return error_say(why, "--%s is `%s'; wanted: integers from %" PRIu64 " to %" PRIu64
    ", with commas between them", o->name, text, o->min, o->max);
}

/* a parameter of chapter 7, which has the limits; -1 is all of the text */
static bool read_setting(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  const struct sampling_option *r = o->setting;
  bool number = false;
  switch (r->type) {
  case SAMPLING_REAL: number = real_digits(text, &v->real); break;
  case SAMPLING_WINDOW:
    if (strcmp(text, "-1") == 0) {
      v->count = UINT64_MAX;
      return true;
    } /* fall through */
  case SAMPLING_COUNT:
    number = digits_parse(text, strlen(text), &v->count) && v->count <= INT64_MAX;
    v->real = (double) v->count;
    break;
  }
  return (number && sampling_option_fits(r, v->real))
    || error_say(why, "--%s is `%s'; wanted: %s", o->name, text, r->expected);
}

static bool read_length_penalty(const struct option_entry *o, const char *text,
  struct option_value *v, struct error *why)
{
  return (real_digits(text, &v->real) && fabs(v->real) <= 1000)
    || error_say(why, "--%s is `%s'; wanted: a number from -1000 to 1000", o->name, text);
}

/* counted from 0 in the order of enum early_stopping */
static bool read_early(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  static const char *const word[] = { "false", "true", "never" };
  for (v->count = 0; v->count < 3; v->count++)
    if (strcmp(text, word[v->count]) == 0) return true;
  return error_say(why, "--%s is `%s'; wanted: true, false or never", o->name, text);
}

/* Counted in the order of enum activations. The names of types are read in capitals as well, as other
   programs write them; the text becomes ours, so that what is printed later is the same. */
static bool read_activations(const struct option_entry *o, const char *text,
  struct option_value *v, struct error *why)
{
  static const char *const name[] = { "f32", "bf16", "int8" };
  enum activations format;
  struct error not_found;
  for (size_t i = 0; i < 3; i++)
    if (strcasecmp(text, name[i]) == 0 && activations_find(name[i], &format, &not_found)) {
      v->text = name[i], v->count = format;
      return true;
    }
  return error_say(why, "--%s is `%s'; wanted: f32, bf16 or int8", o->name, text);
}

/* the name of a format of the cache */
static bool read_kv_type(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  for (size_t i = 0; format_at(i) != NULL; i++)
    if (strcasecmp(text, format_at(i)->name) == 0) {
      v->text = format_at(i)->name;
      return true;
    }
  return error_say(why, "--%s `%s'; wanted: f32, f16, bf16, q8_0 or q4_0", o->name, text);
}

/* K-quants, mixtures of them, and types with tables of their own: q4_k_m, iq4_xs, tq1_0, mxfp4 */
static bool is_mixture(const char *text)
{
  static const char *const begin[] = { "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "q8_k", "iq", "tq",
    "mxfp4" };
  for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
    if (strncasecmp(text, begin[i], strlen(begin[i])) == 0) return true;
  return false;
}

/* counted in the order of enum weight_type */
static bool read_type(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  char wanted[TYPES_TEXT];
  for (unsigned t = 0; t < N_WEIGHT_TYPES; t++)
    if (number_types[t].is_written && strcasecmp(text, number_types[t].word) == 0) {
      v->text = number_types[t].word, v->count = t;
      return true;
    }
  kernels_list_words(weights_written(), wanted);
  return error_say(why, "--%s is `%s'%s; wanted: %s", o->name, text,
    is_mixture(text) ? ", which llama-quantize makes" : "", wanted);
}

/* a seed may be left to chance, which is settled later and then said (decode_setup.c) */
static bool read_seed(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  return strcmp(text, "random") == 0
    || (digits_parse(text, strlen(text), &v->count) && v->count <= INT64_MAX)
    || error_say(why, "--%s is `%s'; wanted: an integer from 0 to 9223372036854775807, or random",
      o->name, text);
}

/* looked through here, and read again when they are used */
static bool read_stages(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  struct sampling_params unused;
  (void) o;
  (void) v;
  return options_parse_samplers(text, &unused, why);
}

static bool read_biases(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  struct bias_pair pair;
  const char *at = text;
  (void) v;
  while (options_next_bias(&at, &pair)) continue;
  return (*at == '\0' && at > text)
    || error_say(why, "--%s is `%s'; wanted: ID=B, as in 5=1.5 or 5=-inf", o->name, text);
}

/* 24GB are 24e9 bytes, 24GiB are 24 * 2^30; case does not matter, one blank between number and unit is allowed. 24G says
   neither and is refused; so is a bare number below a million, which would be one of bytes and was meant as something else. */
bool options_parse_size(const char *text, uint64_t *bytes)
{
  static const char *const unit[] = { "", "B", "kB", "MB", "GB", "TB",
    "KiB", "MiB", "GiB", "TiB" };
  static const double size[] = { 1, 1, 1e3, 1e6, 1e9, 1e12, 0x1p10, 0x1p20,
    0x1p30, 0x1p40 };
  char *end;
  double x = strtod(text, &end);
  bool plain = end > text && strspn(text, "0123456789.e+") == (size_t) (end
    - text);
  end += *end == ' ';
  for (int i = 0; plain && i < 10; i++)
    if (strcasecmp(end, unit[i]) == 0 && x * size[i] < 0x1p62 && (i > 0 || x >= 1e6)) {
      *bytes = (uint64_t) (x * size[i]);
      return true;
    }
  return false;
}

/* a size between two limits, which are in bytes */
static bool read_size(const struct option_entry *o, const char *text, struct option_value *v, struct error *why)
{
  return (options_parse_size(text, &v->count) && v->count >= o->min && v->count <= o->max)
    || error_say(why, "--%s is `%s'; wanted: %" PRIu64 " to %" PRIu64 " bytes, as 1MiB", o->name, text, o->min, o->max);
}

/* one of two words, the first of which counts as 1 */
static bool read_switch(const struct option_entry *o, const char *text, struct option_value *v, struct error *why)
{
  v->count = strcmp(text, "on") == 0;
  return v->count == 1 || strcmp(text, "off") == 0 || error_say(why, "--%s is `%s'; wanted: on or off", o->name, text);
}

/* what is written down; there is one kind so far */
static bool read_log(const struct option_entry *o, const char *text, struct option_value *v, struct error *why)
{
  (void) v;
  return strcmp(text, "requests") == 0 || error_say(why, "--%s is `%s'; wanted: requests", o->name, text);
}

/* printable characters, which go into a header or an answer as they are */
static bool read_plain(const struct option_entry *o, const char *text, struct option_value *v, struct error *why)
{
  const char *at = text;
  (void) v;
  while (*at > ' ' && *at < 0x7f && *at != '"' && *at != '\\') at++;
  return (*at == '\0' && at > text) || error_say(why, "--%s is `%.100s'; wanted: %s, in printable characters", o->name, text, o->value);
}

/* a branch, a tag or a commit, which becomes part of an address */
static bool read_revision(const struct option_entry *o, const char *text, struct option_value *v, struct error *why)
{
  (void) v;
  return hub_revision_fits(text) || error_say(why, "--%s is `%.100s'; wanted: a branch, a tag or a commit, in letters, digits, points,"
    " dashes and slashes", o->name, text);
}

/* the tutorials of the ledger */
static bool read_source(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  (void) v;
  return (text[0] == 'S' && text[1] >= '0' && text[1] <= '4' && text[2] == '\0')
    || error_say(why, "--%s is `%s'; wanted: %s", o->name, text, o->value);
}

static bool read_verdict(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  enum verdict which;
  (void) v;
  return verdict_find(text, &which)
    || error_say(why, "--%s is `%s'; wanted: holds, holds-with-rounding, off-by-one, misleading,"
      " ambiguous, wrong, not-testable-here or to-come", o->name, text);
}

/* a chapter's number, or W and that of one of the workshop */
static bool read_chapter(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why)
{
  const char *digits = text + (*text == 'W');
  return (digits_parse(digits, strlen(digits), &v->count) && v->count <= 99)
    || error_say(why, "--%s is `%s'; wanted: a chapter, as 3, or W12", o->name, text);
}

/* A bit for each subcommand. The column .normal is for eyes: the default itself is what the code
   does when the option was not given. The limits are chosen so that within them nothing can
   overflow and no sensible wish is refused; where the model's context is the bound, the table
   sets only that of the integers. */
enum { G = 1u << SUB_GENERATE, T = 1u << SUB_TOKENIZE,
  R = 1u << SUB_TRACE, I = 1u << SUB_INSPECT, P = 1u << SUB_PROBE,
  B = 1u << SUB_BENCH, X = 1u << SUB_PERPLEXITY,
  M = 1u << SUB_MEMORY, C = 1u << SUB_CHAT, S = 1u << SUB_SERVE, U = 1u << SUB_PULL, Q = 1u << SUB_QUANTIZE, L = 1u << SUB_VERIFY, H = 1u << SUB_HELP,
  V = 1u << SUB_VERSION };
static const struct option_entry option_table[N_OPTIONS] = {
  /* which model, and how it is run. The limit of --threads is for fingers that slip: workers are
     started before anything is computed. generate keeps rows unless told not to; trace, which
     shows what is done, only if told to. The limits of a shape are such that the weights, in any
     combination, have fewer than 2^62 bytes */
  [OPTION_MODEL] = { .group = GROUP_MODEL, .name = "model", .letter = 'm', .value = "PATH",
    .read = read_path, .where = G | T | R | I | P | B | X | M | C | Q | S,
    .words = "a directory in Hugging Face's layout, a GGUF file, or ORG/NAME[:FILE] that was fetched", .default_text = "the built-in model" },
  [OPTION_IGNORE_FIELD] = { .group = GROUP_MODEL, .name = "ignore-field", .value = "NAME",
    .where = G | T | R | I | P | B | X | M | C | Q | S,
    .words = "read over a field of the model's settings that is not known (repeatable)" },
  [OPTION_THREADS] = { .group = GROUP_MODEL, .name = "threads", .letter = 't', .value = "N",
    .where = G | R | P | X | C | S, .read = read_count, .min = 1, .max = 1024, .words = "workers",
    .default_text = "OMP_NUM_THREADS, or the physical cores" },
  [OPTION_THREAD_LIST] = { .group = GROUP_MODEL, .name = "threads", .letter = 't',
    .value = "N,...", .where = B, .read = read_counts, .min = 1, .max = 1024,
    .words = "workers", .default_text = "OMP_NUM_THREADS, or the physical cores" },
  [OPTION_NO_CACHE] = { .group = GROUP_MODEL, .name = "no-cache", .where = G,
    .words = "compute every row in every step", .default_text = "rows are kept" },
  [OPTION_CACHE] = { .group = GROUP_MODEL, .name = "cache", .where = R,
    .words = "keep rows from step to step", .default_text = "every row in every step" },
  [OPTION_CHUNK] = { .group = GROUP_MODEL, .name = "chunk", .value = "N", .where = G | R | C,
    .read = read_count, .max = INT64_MAX, .words = "read at most N tokens in a pass",
    .default_text = "all in one" },
  [OPTION_KV_TYPE] = { .group = GROUP_MODEL, .name = "kv-type", .value = "TYPE",
    .where = G | R | B | X | M | C | S, .read = read_kv_type,
    .words = "keep rows in f32, f16, bf16, q8_0 or q4_0",
    .default_text = "f32", .there = M, .there_default = "f32; a shape's: f16" },
  [OPTION_WINDOW] = { .group = GROUP_MODEL, .name = "window", .value = "N",
    .where = G | R | B | X | M | C | S, .read = read_count, .max = UINT32_MAX,
    .words = "every row sees the last N only; 0: all", .default_text = "the model's" },
  [OPTION_SINKS] = { .group = GROUP_MODEL, .name = "sinks", .value = "N",
    .where = G | R | B | X | M | C | S, .read = read_count, .max = UINT32_MAX,
    .words = "with --window: and the first N", .default_text = "0" },
  [OPTION_ACTIVATIONS] = { .group = GROUP_MODEL, .name = "activations",
    .value = "f32|bf16|int8", .where = G | R | P | B | X | C | S, .read = read_activations,
    .words = "to what the inputs of matrices are rounded",
    .default_text = "f32; weights in blocks: int8" },
  [OPTION_PACKED] = { .group = GROUP_MODEL, .name = "packed", .where = G | R | P | B | X | C | S,
    .words = "copy the weights into the order of the kernels: a later start, faster passes",
    .default_text = "as they lie in the file" },
  [OPTION_DEVICE] = { .group = GROUP_MODEL, .name = "device", .value = "cpu|cuda[:n]",
    .where = G | R | P | B | X | M | C | S, .words = "where passes are computed", .default_text = "cpu",
    .there = M, .there_default = "none: --budget says how much there is" },
  [OPTION_SHAPE] = { .group = GROUP_MODEL, .name = "shape", .value = "NAME", .where = M,
    .words = "a well-known model by name, or list" },
  [OPTION_LAYERS] = { .group = GROUP_MODEL, .name = "layers", .value = "N", .where = M,
    .read = read_count, .min = 1, .max = 16384, .words = "N layers",
    .default_text = "the shape's" },
  [OPTION_HEADS] = { .group = GROUP_MODEL, .name = "heads", .value = "N", .where = M,
    .read = read_count, .min = 1, .max = 4096, .words = "N heads of queries",
    .default_text = "the shape's" },
  [OPTION_KV_HEADS] = { .group = GROUP_MODEL, .name = "kv-heads", .value = "N", .where = M,
    .read = read_count, .min = 1, .max = 4096, .words = "N heads of keys and values",
    .default_text = "the shape's; without a shape as many as --heads" },
  [OPTION_HEAD_DIM] = { .group = GROUP_MODEL, .name = "head-dim", .value = "N", .where = M,
    .read = read_count, .min = 1, .max = 4096, .words = "numbers of a head",
    .default_text = "the shape's" },
  [OPTION_D_MODEL] = { .group = GROUP_MODEL, .name = "d-model", .value = "N", .where = M,
    .read = read_count, .min = 1, .max = 262144, .words = "beside --shape: numbers of a row",
    .default_text = "the shape's" },
  [OPTION_D_INNER] = { .group = GROUP_MODEL, .name = "d-inner", .value = "N", .where = M,
    .read = read_count, .min = 1, .max = 1048576,
    .words = "beside --shape: numbers inside the MLP", .default_text = "the shape's" },
  [OPTION_BATCH] = { .group = GROUP_MODEL, .name = "batch", .value = "N", .where = M,
    .read = read_count, .min = 1, .max = UINT32_MAX, .words = "N texts",
    .default_text = "1" },
  [OPTION_BUDGET] = { .group = GROUP_MODEL, .name = "budget", .value = "SIZE", .where = M,
    .words = "what there is, as 24GB or 22.5GiB" },
  [OPTION_VOCAB] = { .group = GROUP_MODEL, .name = "vocab", .value = "PATH", .read = read_path, .where = P,
    .words = "a tokenizer.json, a GGUF file, or a directory with a tokenizer", .default_text = "the model's" },
  /* what to continue. The least --vocab-size is that of no merges; the greatest is the one that
     the loader of vocabularies accepts */
  [OPTION_PROMPT] = { .group = GROUP_PROMPT, .name = "prompt", .letter = 'p', .value = "TEXT",
    .where = G | R, .words = "the prompt" },
  [OPTION_FILE] = { .group = GROUP_PROMPT, .name = "file", .letter = 'f', .value = "FILE",
    .read = read_path, .where = G | T | R, .words = "the text is that of a file, byte for byte; -: standard input" },
  [OPTION_PROMPT_IDS] = { .group = GROUP_PROMPT, .name = "prompt-ids", .value = "1,2,3",
    .where = G | R, .words = "the prompt in ids" },
  [OPTION_ECHO] = { .group = GROUP_PROMPT, .name = "echo", .where = G,
    .words = "print the prompt first" },
  [OPTION_NO_ECHO] = { .group = GROUP_PROMPT, .name = "no-echo", .where = G,
    .words = "do not show the prompt before the text", .default_text = "shown on a terminal" },
  [OPTION_CHOMP] = { .group = GROUP_PROMPT, .name = "chomp", .where = G | T | R,
    .words = "without the line break at the end of the text", .default_text = "byte for byte" },
  [OPTION_NO_SPECIAL] = { .group = GROUP_PROMPT, .name = "no-special", .where = G | T | R,
    .words = "add no special tokens to the text",
    .default_text = "as the tokenizer's files say" },
  [OPTION_PARSE_SPECIAL] = { .group = GROUP_PROMPT, .name = "parse-special", .where = G | T | R,
    .words = "the text of a special token is that token", .default_text = "it is plain text" },
  [OPTION_IDS] = { .group = GROUP_PROMPT, .name = "ids", .value = "1,2,3", .where = T,
    .words = "ids to text" },
  [OPTION_TRAIN] = { .group = GROUP_PROMPT, .name = "train", .value = "FILE", .read = read_path, .where = T,
    .words = "learn a byte-level BPE from a file" },
  [OPTION_VOCAB_SIZE] = { .group = GROUP_PROMPT, .name = "vocab-size", .value = "N",
    .where = T | M, .read = read_count, .min = 257, .max = 4194304,
    .words = "with --train: how many ids, the end of text and the 256 bytes included",
    .there = M, .there_words = "beside --shape: N ids", .there_default = "the shape's" },
  [OPTION_OUT] = { .group = GROUP_PROMPT, .name = "out", .value = "DIR", .read = read_path, .where = T,
    .words = "with --train: where to write tokenizer.json" },
  [OPTION_TYPE] = { .group = GROUP_OUTPUT, .name = "type", .value = "TYPE", .read = read_type,
    .where = Q, .words = "weights in f32, f16, bf16, q8_0, q6_k, q5_1, q5_0, q4_1, q4_0 or q4_k (required)" },
  [OPTION_OUT_FILE] = { .group = GROUP_OUTPUT, .name = "out", .value = "FILE", .read = read_path,
    .where = Q, .words = "the file to write; an older one is replaced when this one is whole (required)" },
  [OPTION_SYSTEM] = { .group = GROUP_PROMPT, .name = "system", .value = "S", .where = C,
    .words = "tell the model first how to behave", .default_text = "what the template says" },
  [OPTION_TEMPLATE] = { .group = GROUP_PROMPT, .name = "template", .value = "T", .where = C | S,
    .words = "set turns as this template does: chatml, llama3, ...",
    .default_text = "the model's" },
  [OPTION_CHAT_TEMPLATE] = { .group = GROUP_PROMPT, .name = "chat-template", .value = "FILE", .where = C | S, .read = read_path,
    .words = "set turns as the program in a file does, in Jinja", .default_text = "the model's" },
  [OPTION_TOOLS] = { .group = GROUP_PROMPT, .name = "tools", .value = "FILE", .where = C, .read = read_path,
    .words = "tell the model of tools, a list in JSON; its calls are printed, and running them is yours" },
  [OPTION_KWARG] = { .group = GROUP_PROMPT, .name = "kwarg", .value = "NAME=JSON", .where = C | S, .read = read_kwarg,
    .words = "a variable for the template, as enable_thinking=false; repeatable" },
  /* the server: where it is and who may come; how requests share it; what a client may not do */
  [OPTION_HOST] = { .group = GROUP_NETWORK, .name = "host", .value = "ADDRESS", .where = S,
    .words = "listen at an address; if it is not this machine's own, with --api-key or --no-key",
    .default_text = "127.0.0.1" },
  [OPTION_PORT] = { .group = GROUP_NETWORK, .name = "port", .value = "N", .where = S, .read = read_count, .max = 65535,
    .words = "at a port; 0: one that is free",
    .default_text = "8080" },
  [OPTION_API_KEY] = { .group = GROUP_NETWORK, .name = "api-key", .value = "FILE", .where = S, .read = read_path,
    .words = "only for those who send one of a file's keys, one a line",
    .default_text = "for everybody who can reach it" },
  [OPTION_NO_KEY] = { .group = GROUP_NETWORK, .name = "no-key", .where = S,
    .words = "with --host: for everybody who can reach it" },
  [OPTION_MODEL_NAME] = { .group = GROUP_NETWORK, .name = "model-name", .value = "NAME", .where = S, .read = read_plain,
    .words = "what clients call the model",
    .default_text = "the last part of its path" },
  [OPTION_CORS] = { .group = GROUP_NETWORK, .name = "cors", .value = "ORIGIN", .where = S, .read = read_plain,
    .words = "pages of this origin may read answers, as http://localhost:3000",
    .default_text = "none may" },
  [OPTION_SLOTS] = { .group = GROUP_SCHEDULING, .name = "slots", .value = "N", .where = S, .read = read_count, .min = 1, .max = 256,
    .words = "write at most N texts at a time",
    .default_text = "8" },
  [OPTION_BATCH_ROWS] = { .group = GROUP_SCHEDULING, .name = "batch-rows", .value = "N", .where = S, .read = read_count, .min = 1, .max = 65536,
    .words = "at most N rows in a pass, and one for each slot or more",
    .default_text = "256" },
  [OPTION_KV_ROWS] = { .group = GROUP_SCHEDULING, .name = "kv-rows", .value = "N", .where = S, .read = read_count, .min = 1, .max = UINT32_MAX,
    .words = "keep at most N rows of all texts, in pages of 16",
    .default_text = "a context for each slot" },
  [OPTION_QUEUE] = { .group = GROUP_SCHEDULING, .name = "queue", .value = "N", .where = S, .read = read_count, .max = 65536,
    .words = "let at most N requests wait",
    .default_text = "64" },
  [OPTION_PREFIX_CACHE] = { .group = GROUP_SCHEDULING, .name = "prefix-cache", .value = "on|off", .where = S, .read = read_switch,
    .words = "keep full pages, and find them again by their tokens",
    .default_text = "on" },
  [OPTION_PROMPT_CACHE] = { .group = GROUP_SCHEDULING, .name = "prompt-cache", .value = "FILE", .where = S, .read = read_path,
    .words = "read those pages from a file, and write them there at the end" },
  [OPTION_SPECULATE] = { .group = GROUP_SCHEDULING, .name = "speculate", .value = "N", .where = G | C | S, .read = read_count, .max = 16,
    .words = "guess at most N tokens a pass; no text changes",
    .default_text = "0" },
  [OPTION_DRAFT] = { .group = GROUP_SCHEDULING, .name = "draft", .value = "MODEL", .where = G | C | S, .read = read_path,
    .words = "with --speculate: have a second model guess",
    .default_text = "the text itself" },
  [OPTION_MAX_BODY] = { .group = GROUP_LIMITS, .name = "max-body", .value = "SIZE", .where = S, .read = read_size, .min = 1024, .max = UINT64_C(1) << 32,
    .words = "of a request",
    .default_text = "1MiB" },
  [OPTION_MAX_HEADER] = { .group = GROUP_LIMITS, .name = "max-header", .value = "SIZE", .where = S, .read = read_size, .min = 1024, .max = 1 << 24,
    .words = "of its headers",
    .default_text = "16KiB" },
  [OPTION_CONNECTIONS] = { .group = GROUP_LIMITS, .name = "connections", .value = "N", .where = S, .read = read_count, .min = 1, .max = 65536,
    .words = "open at a time",
    .default_text = "256" },
  [OPTION_REQUEST_TIMEOUT] = { .group = GROUP_LIMITS, .name = "request-timeout", .value = "S", .where = S, .read = read_count, .min = 1, .max = 86400,
    .words = "seconds from a request's first byte to its last",
    .default_text = "10" },
  [OPTION_IDLE_TIMEOUT] = { .group = GROUP_LIMITS, .name = "idle-timeout", .value = "S", .where = S, .read = read_count, .min = 1, .max = 86400,
    .words = "seconds of a connection without a request",
    .default_text = "60" },
  [OPTION_SEND_TIMEOUT] = { .group = GROUP_LIMITS, .name = "send-timeout", .value = "S", .where = S, .read = read_count, .min = 1, .max = 86400,
    .words = "seconds in which a client takes nothing",
    .default_text = "30" },
  [OPTION_DRAIN_TIMEOUT] = { .group = GROUP_LIMITS, .name = "drain-timeout", .value = "S", .where = S, .read = read_count, .min = 1, .max = 86400,
    .words = "seconds for answers to end when the server is to end",
    .default_text = "30" },
  /* what is fetched, and where it is put */
  [OPTION_REVISION] = { .group = GROUP_MODEL, .name = "revision", .value = "R", .where = U, .read = read_revision,
    .words = "a branch, a tag or a commit", .default_text = "main" },
  [OPTION_DIR] = { .group = GROUP_MODEL, .name = "dir", .value = "DIR", .where = U, .read = read_path,
    .words = "put the files there; none that is there is replaced", .default_text = "the store, where -m ORG/NAME looks" },
  [OPTION_DRY_RUN] = { .group = GROUP_OUTPUT, .name = "dry-run", .where = U,
    .words = "list what would be fetched, and fetch nothing" },
  [OPTION_LIST] = { .group = GROUP_OUTPUT, .name = "list", .where = U,
    .words = "list what was fetched, and ask nobody" },
  [OPTION_LOG] = { .group = GROUP_OUTPUT, .name = "log", .value = "requests", .where = S, .read = read_log,
    .words = "a line a request on standard error, without any of its text",
    .default_text = "nothing" },
  /* how much is read and written. bench has the letters of llama-bench as far as they mean the
     same; a letter belongs to a subcommand */
  [OPTION_MAX_NEW_TOKENS] = { .group = GROUP_LENGTH, .name = "max-new-tokens",
    .also = { "max-tokens", "n-predict" }, .letter = 'n', .value = "N", .where = G | R | C,
    .read = read_count, .max = INT64_MAX, .words = "write at most N tokens",
    .default_text = "until a stop or the context is full", .there = R, .there_default = "4" },
  [OPTION_CTX_SIZE] = { .group = GROUP_LENGTH, .name = "ctx-size", .letter = 'c', .value = "N",
    .where = G | R | C | S, .read = read_count, .min = 1, .max = INT64_MAX,
    .words = "use less context than the model has", .default_text = "the model's" },
  [OPTION_IGNORE_EOS] = { .group = GROUP_LENGTH, .name = "ignore-eos", .where = G | R | C,
    .words = "end tokens end nothing" },
  [OPTION_NUM_SEQUENCES] = { .group = GROUP_LENGTH, .name = "num-sequences",
    .also = { "num-return-sequences" }, .value = "N", .where = G, .read = read_count, .min = 1,
    .max = 1000000, .words = "write N texts", .default_text = "1" },
  [OPTION_N_PROMPT] = { .group = GROUP_LENGTH, .name = "n-prompt", .letter = 'p', .value = "N,...",
    .where = B, .read = read_counts, .max = INT32_MAX,
    .words = "read N tokens at once; 0: leave that out", .default_text = "512, or what fits" },
  [OPTION_N_GEN] = { .group = GROUP_LENGTH, .name = "n-gen", .letter = 'n', .value = "N,...",
    .where = B, .read = read_counts, .max = INT32_MAX,
    .words = "write N tokens; 0: leave that out", .default_text = "128, or what fits" },
  [OPTION_N_DEPTH] = { .group = GROUP_LENGTH, .name = "n-depth", .letter = 'd', .value = "N,...",
    .where = B, .read = read_counts, .max = INT32_MAX,
    .words = "after N tokens that are stored already", .default_text = "0" },
  [OPTION_REPETITIONS] = { .group = GROUP_LENGTH, .name = "repetitions", .letter = 'r',
    .value = "N", .where = B, .read = read_count, .min = 1, .max = 1000, .words = "repeat N times",
    .default_text = "5" },
  [OPTION_CONTEXT] = { .group = GROUP_LENGTH, .name = "context", .also = { "ctx-size" },
    .letter = 'c', .value = "N", .where = X | M, .read = read_count, .min = 1, .max = INT64_MAX,
    .words = "windows, or texts, of N tokens", .default_text = "the model's context" },
  [OPTION_STRIDE] = { .group = GROUP_LENGTH, .name = "stride", .value = "N", .where = X,
    .read = read_count, .min = 1, .max = INT64_MAX, .words = "a window every N tokens",
    .default_text = "the context" },
  /* sampling: the parameters have their rows in chapter 7 (sampling_entry) */
  [OPTION_LOGIT_BIAS] = { .group = GROUP_SAMPLING, .name = "logit-bias", .value = "ID=B",
    .where = G | R | C, .read = read_biases,
    .words = "add B to the score of a token; -inf: never write it (repeatable)" },
  [OPTION_SAMPLERS] = { .group = GROUP_SAMPLING, .name = "samplers", .value = "LIST",
    .where = G | R | C, .read = read_stages, .words = "the stages, in order" },
  [OPTION_SEED] = { .group = GROUP_SAMPLING, .name = "seed", .letter = 's', .value = "S",
    .where = G | R | C, .read = read_seed,
    .words = "another seed, another text; random: draw one and print it", .default_text = "0" },
  /* a pattern or a grammar for the whole answer */
  [OPTION_REGEX] = { .group = GROUP_CONSTRAINTS, .name = "regex", .value = "R", .where = G | R,
    .words = "write what the regular expression R matches as a whole" },
  [OPTION_GRAMMAR] = { .group = GROUP_CONSTRAINTS, .name = "grammar", .value = "FILE",
    .read = read_path, .where = G | R, .words = "write what the grammar of a file makes (GBNF)" },
  [OPTION_JSON_OBJECT] = { .group = GROUP_CONSTRAINTS, .name = "json-object", .where = G | R,
    .words = "write one object of JSON" },
  /* beam search, chapter 9, which draws nothing */
  [OPTION_NUM_BEAMS] = { .group = GROUP_SEARCH, .name = "num-beams", .value = "B", .where = G,
    .read = read_count, .min = 1, .max = 65536,
    .words = "search with B beams for the likeliest text", .default_text = "1: no search" },
  [OPTION_LENGTH_PENALTY] = { .group = GROUP_SEARCH, .name = "length-penalty", .value = "A",
    .where = G, .read = read_length_penalty,
    .words = "with --num-beams: divide a text's score by its length to the power A",
    .default_text = "1" },
  [OPTION_EARLY_STOPPING] = { .group = GROUP_SEARCH, .name = "early-stopping",
    .value = "true|false|never", .where = G, .read = read_early,
    .words = "with --num-beams: stop as soon as B texts have ended; when no beam is better;"
      " when none can be", .default_text = "false" },
  /* where a text may end, chapter 8 */
  [OPTION_STOP] = { .group = GROUP_STOPPING, .name = "stop", .value = "STRING",
    .where = G | R | C,
    .words = "end before this string, with \\n, \\t, \\\\ and \\xNN in it (repeatable)" },
  [OPTION_NO_ESCAPE] = { .group = GROUP_STOPPING, .name = "no-escape", .where = G | R | C,
    .words = "a backslash in --stop is a backslash" },
  [OPTION_INCLUDE_STOP] = { .group = GROUP_STOPPING, .name = "include-stop", .where = G | C,
    .words = "end after the stop string" },
  [OPTION_MIN_TOKENS] = { .group = GROUP_STOPPING, .name = "min-tokens", .value = "N",
    .where = G | R | C, .read = read_count, .max = INT64_MAX,
    .words = "end tokens and stop strings count from token N + 1 on", .default_text = "0" },
  [OPTION_STOP_ON_REPETITION] = { .group = GROUP_STOPPING, .name = "stop-on-repetition",
    .value = "N", .where = G | R | C, .read = read_count, .max = INT64_MAX,
    .words = "end when the same N tokens stand three times in a row; 0: never",
    .default_text = "0" },
  /* what to show of it, to people and to programs. The bound of --logprobs bounds a list that is
     kept for every token until the end */
  [OPTION_LOGPROBS] = { .group = GROUP_OUTPUT, .name = "logprobs", .value = "K", .where = G,
    .read = read_count, .max = 1000,
    .words = "with --json or --jsonl: the log-probability and rank of each token, and the K"
      " likeliest", .default_text = "off" },
  [OPTION_STATS] = { .group = GROUP_OUTPUT, .name = "stats", .where = G | C,
    .words = "counters, times, rates and memory, on standard error" },
  [OPTION_JSON] = { .group = GROUP_OUTPUT, .name = "json", .where = G | T | R | I | B | X | M | Q | L | U,
    .words = "print one JSON object", .there = L, .there_words = "print a JSON list" },
  [OPTION_JSONL] = { .group = GROUP_OUTPUT, .name = "jsonl", .where = G,
    .words = "one JSON object a token as it comes, then that of --json" },
  [OPTION_COUNT] = { .group = GROUP_OUTPUT, .name = "count", .where = T,
    .words = "print the number of tokens only" },
  [OPTION_OUTPUT] = { .group = GROUP_OUTPUT, .name = "output", .letter = 'o',
    .value = "table|md|csv|json|jsonl", .where = B, .words = "in which form", .default_text = "table" },
  [OPTION_TOP] = { .group = GROUP_OUTPUT, .name = "top", .value = "K", .where = R,
    .read = read_count, .min = 1, .max = 100, .words = "show the K likeliest candidates",
    .default_text = "5" },
  [OPTION_ATTENTION] = { .group = GROUP_OUTPUT, .name = "attention", .value = "LAYER.HEAD",
    .where = R, .words = "show what the last row looks at, layers and heads counted from 0" },
  /* which rows of the ledger */
  [OPTION_SOURCE] = { .group = GROUP_OUTPUT, .name = "source", .value = "S0|S1|S2|S3|S4",
    .where = L, .read = read_source, .words = "only the claims of this tutorial" },
  [OPTION_VERDICT] = { .group = GROUP_OUTPUT, .name = "verdict", .value = "VERDICT", .where = L,
    .read = read_verdict, .words = "only those with this verdict, as off-by-one or misleading" },
  [OPTION_CHAPTER] = { .group = GROUP_OUTPUT, .name = "chapter", .value = "N", .where = L,
    .read = read_chapter, .words = "only those that this chapter decides, as 3, or W12" },
  [OPTION_MAN] = { .group = GROUP_OUTPUT, .name = "man", .where = H,
    .words = "print the manual page" },
  [OPTION_COMPLETION] = { .group = GROUP_OUTPUT, .name = "completion", .where = H,
    .words = "print the completion for a shell, bash, zsh or fish", .default_text = "bash" },
  [OPTION_QUIET] = { .group = GROUP_OUTPUT, .name = "quiet", .letter = 'q',
    .where = G | T | R | I | B | X | M | C | Q | L | U, .words = "no hints and no progress on standard error" },
  [OPTION_HELP] = { .group = GROUP_OUTPUT, .name = "help", .letter = 'h',
    .where = G | T | R | I | P | B | X | M | Q | L | H | C | V | S | U, .words = "say what the options are" },
};

const struct sampling_option *option_setting(enum option number, enum sample_stage *stage)
{
  if (number < OPTION_SAMPLING || number > OPTION_SAMPLING_END) return NULL;
  return sampling_option_at((size_t) (number - OPTION_SAMPLING), stage);
}

/* Of the numbers that chapter 7's parameters have, some are left over: they have no name and belong
   to no subcommand. */
struct option_entry options_option(enum option number)
{
  const struct sampling_option *r = option_setting(number, NULL);
  if (r != NULL) return (struct option_entry) { .group = GROUP_SAMPLING, .name = r->option,
    .also = { r->also }, .value = r->value, .where = G | R | C, .read = read_setting,
    .max = r->type == SAMPLING_COUNT ? INT64_MAX : 0, .words = r->words,
    .default_text = r->otherwise, .setting = r };
  struct option_entry o = option_table[number];
  if (o.name == NULL) o.name = "";
  return o;
}

/* An option has its own name, perhaps those by which other programs call the same thing, and
   perhaps a letter. Either a letter was typed or a name, never both. */
static bool is_called(const char *name, const char *const also[OPTIONS_ALIASES], char letter,
  const char *typed, char typed_letter)
{
  if (typed_letter != '\0') return letter == typed_letter;
  for (size_t i = 0; i < OPTIONS_ALIASES && also[i] != NULL; i++)
    if (strcmp(typed, also[i]) == 0) return true;
  return strcmp(typed, name) == 0;
}

/* the word of a line as an option: its name, cut if it is too long to be one, or its letter; and
   where its value stands in the word, or null */
struct option_word { char name[64], letter; const char *value; };
static struct option_word option_word_of(const char *word)
{
  struct option_word x = { .letter = '\0' };
  if (word[1] != '-') {
    x.letter = word[1];
    if (word[2] != '\0') x.value = word + 2;
    return x;
  }
  size_t n = strcspn(word + 2, "=");
  if (word[2 + n] == '=') x.value = word + 2 + n + 1;
  snprintf(x.name, sizeof x.name, "%.*s", (int) (n < 63 ? n : 63), word + 2);
  return x;
}

/* is the word an option of any subcommand? */
static bool is_option(const char *word)
{
  if (word[0] != '-' || word[1] == '\0') return false;
  struct option_word x = option_word_of(word);
  for (int i = 0; i < N_OPTIONS; i++) {
    struct option_entry o = options_option((enum option) i);
    if (o.where != 0 && is_called(o.name, o.also, o.letter, x.name, x.letter)) return true;
  }
  return false;
}

/* An option before the subcommand: which subcommand is meant, and so which option, is not known
   yet. */
static bool misplaced_option(const char *word, struct error *why)
{
  return error_say(why, "the subcommand comes first, and `%s' after it,"
    " as in incipit generate %s (incipit --help)", word, word);
}

/* the first word; what other programs call --help and --version is understood. The list of names
   for the nearest one is made on the way */
static bool find_subcommand(const char *word, enum subcommand *sub,
  struct error *why)
{
  const char *list[N_SUBCOMMANDS];
  char wrong[120], text[EXCERPT_MAX + 4];
  size_t n = 0;
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
    word = "help";
  if (strcmp(word, "-V") == 0 || strcmp(word, "version") == 0)
    word = "--version";
  for (int i = 0; i < N_SUBCOMMANDS; i++) {
    *sub = (enum subcommand) i;
    if (strcmp(word, subcommand_table[i].name) == 0) return true;
    list[n++] = subcommand_table[i].name;
  }
  const char *instead = find_foreign(word, foreign_subcommands, N_FOREIGN_SUBCOMMANDS);
  if (instead != NULL) return error_say(why, "there is no subcommand `%s'; %s", word, instead);
  if (is_option(word)) return misplaced_option(word, why);
  snprintf(wrong, sizeof wrong, "there is no subcommand `%s'",
    text_excerpt(word, strlen(word), 40, text));
  return options_unknown(why, wrong, "", options_suggest(word, list, n), "--help");
}

/* Only rows of this subcommand count: to accept an option that has no effect would hide a
   mistake. Two rows may have the same name, for subcommands that mean different things by it. -1
   if there is none */
static int find_option(enum subcommand sub, const char *name,
  char letter)
{
  for (int i = 0; i < N_OPTIONS; i++) {
    struct option_entry o = options_option((enum option) i);
    if ((o.where >> sub & 1) != 0 && is_called(o.name, o.also, o.letter, name, letter))
      return i;
  }
  return -1;
}

/* An option that some other subcommand has is no slip: it stands at the wrong place. What is drawn each request to
   a server says for itself. */
static bool is_elsewhere(enum subcommand sub, const char *wrong, const char *name, struct error *why)
{
  for (int i = 0, found; i < N_SUBCOMMANDS; i++) {
    if ((found = find_option((enum subcommand) i, name, '\0')) < 0) continue;
    const char *other = subcommand_table[i].name;
    return sub == SUB_SERVE && options_option((enum option) found).group == GROUP_SAMPLING
      ? !error_say(why, "%s; a request says it, in a field of its own", wrong)
      : !error_say(why, "%s; %s has one (incipit %s --help)", wrong, other, other);
  }
  return false;
}

/* For a letter no nearest one is offered: every other letter is one slip away. The other names of
   options are offered where none of their own is near. Always false. */
static bool no_such_option(enum subcommand sub, const char *name,
  char letter, struct error *why)
{
  const char *list[N_OPTIONS], *other[N_OPTIONS * OPTIONS_ALIASES];
  const char *asked = subcommand_table[sub].name, *meant = NULL;
  char wrong[120], help[40];
  size_t n = 0, n_other = 0;
  for (int i = 0; i < N_OPTIONS; i++) {
    struct option_entry o = options_option((enum option) i);
    if ((o.where >> sub & 1) == 0) continue;
    list[n++] = o.name;
    for (size_t k = 0; k < OPTIONS_ALIASES && o.also[k] != NULL; k++) other[n_other++] = o.also[k];
  }
  snprintf(help, sizeof help, "%s --help", asked);
  if (sub == SUB_CHAT && (letter == 'p' || letter == 'f' || strcmp(name, "prompt") == 0
      || strcmp(name, "file") == 0))
    return error_say(why, "chat takes no prompt; turns are typed, or come from a file: incipit chat"
      " < FILE (incipit %s)", help);
  if (sub == SUB_PULL && (letter == 'm' || strcmp(name, "model") == 0))
    return error_say(why, "pull takes a name without an option: incipit pull ORG/NAME (incipit %s)", help);
  if (letter != '\0') snprintf(wrong, sizeof wrong, "%s has no option -%c", asked, letter);
  else snprintf(wrong, sizeof wrong, "%s has no option --%s", asked, name);
  if (letter == '\0') meant = options_suggest(name, list, n);
  if (letter == '\0' && meant == NULL) meant = options_suggest(name, other, n_other);
  if (letter == '\0' && meant == NULL && is_elsewhere(sub, wrong, name, why)) return false;
  return options_unknown(why, wrong, "--", meant, help);
}

/* Takes the option at argv[*i], with its value, which may be the next word even if that begins
   with a dash: -n -1 is a mistake about a number. */
static bool take_option(struct command_line *w, int argc, char **argv,
  int *i, struct error *why)
{
  struct option_word x = option_word_of(argv[*i]);
  const char *value = x.value;
  const char *instead = find_foreign(argv[*i], foreign_options, N_FOREIGN_OPTIONS);
  if (instead != NULL)
    return error_say(why, "%s has no option %.*s; %s", subcommand_table[w->sub].name,
      (int) strcspn(argv[*i], "="), argv[*i], instead);
  int found = find_option(w->sub, x.name, x.letter);
  if (found < 0) return no_such_option(w->sub, x.name, x.letter, why);
  /* a value that should not be there, or should and is not */
  const struct option_entry o = options_option((enum option) found);
  if (o.value == NULL && value != NULL)
    return error_say(why, "--%s takes no value; found `%s'", o.name,
      value);
  if (o.value != NULL && value == NULL) {
    if (*i + 1 >= argc)
      return error_say(why, "--%s needs a value: %s", o.name,
        o.value);
    value = argv[++*i];
  }
  w->of[found] = (struct option_value) { .given = true, .text = value };
  if (found == OPTION_LOGIT_BIAS || found == OPTION_STOP || found == OPTION_IGNORE_FIELD || found == OPTION_KWARG) {
    if (w->n_repeated == OPTIONS_MAX_REPEATED)
      return error_say(why, "--%s is given more than %d times", o.name,
        OPTIONS_MAX_REPEATED);
    w->repeated[w->n_repeated].which = (enum option) found;
    w->repeated[w->n_repeated++].text = value;
  }
  return o.read == NULL || o.read(&o, value, &w->of[found], why);
}

/* Options that contradict each other, and below them options that mean nothing without another.
   No rule says which of two contradicting options wins: it would have to be known to be of use,
   and would hide the mistake from those who do not know it. */
static const struct { enum option a, b; } against[] = {
  {OPTION_PROMPT, OPTION_FILE},
  {OPTION_PROMPT, OPTION_PROMPT_IDS},
  {OPTION_FILE, OPTION_PROMPT_IDS}, {OPTION_JSON, OPTION_JSONL},
  {OPTION_ECHO, OPTION_NO_ECHO}, {OPTION_ECHO, OPTION_JSON}, {OPTION_ECHO, OPTION_JSONL},
  {OPTION_IDS, OPTION_COUNT}, {OPTION_IDS, OPTION_FILE},
  {OPTION_IDS, OPTION_TRAIN}, {OPTION_COUNT, OPTION_TRAIN},
  {OPTION_COUNT, OPTION_JSON}, {OPTION_JSON, OPTION_TRAIN},
  {OPTION_FILE, OPTION_TRAIN}, {OPTION_MODEL, OPTION_TRAIN},
  {OPTION_IDS, OPTION_NO_SPECIAL},
  {OPTION_IDS, OPTION_PARSE_SPECIAL},
  {OPTION_TRAIN, OPTION_NO_SPECIAL},
  {OPTION_TRAIN, OPTION_PARSE_SPECIAL},
  {OPTION_PROMPT_IDS, OPTION_PARSE_SPECIAL},
  {OPTION_PROMPT_IDS, OPTION_NO_SPECIAL}, {OPTION_PROMPT_IDS, OPTION_CHOMP},
  {OPTION_IDS, OPTION_CHOMP}, {OPTION_TRAIN, OPTION_CHOMP},
  {OPTION_REGEX, OPTION_GRAMMAR}, {OPTION_REGEX, OPTION_JSON_OBJECT},
  {OPTION_REGEX, OPTION_STOP}, {OPTION_GRAMMAR, OPTION_STOP},
  {OPTION_JSON_OBJECT, OPTION_STOP}, {OPTION_REGEX, OPTION_MIN_TOKENS},
  {OPTION_GRAMMAR, OPTION_MIN_TOKENS},
  {OPTION_JSON_OBJECT, OPTION_MIN_TOKENS},
  {OPTION_REGEX, OPTION_STOP_ON_REPETITION},
  {OPTION_GRAMMAR, OPTION_STOP_ON_REPETITION},
  {OPTION_JSON_OBJECT, OPTION_STOP_ON_REPETITION},
  {OPTION_GRAMMAR, OPTION_JSON_OBJECT},
  {OPTION_MAN, OPTION_COMPLETION}, {OPTION_JSON, OPTION_OUTPUT},
  {OPTION_MODEL, OPTION_SHAPE}, {OPTION_MODEL, OPTION_LAYERS},
  {OPTION_MODEL, OPTION_HEADS}, {OPTION_MODEL, OPTION_KV_HEADS},
  {OPTION_MODEL, OPTION_HEAD_DIM}, {OPTION_MODEL, OPTION_D_MODEL},
  {OPTION_MODEL, OPTION_D_INNER}, {OPTION_IGNORE_FIELD, OPTION_SHAPE},
  {OPTION_IGNORE_FIELD, OPTION_TRAIN}, {OPTION_API_KEY, OPTION_NO_KEY},
  {OPTION_LIST, OPTION_DRY_RUN}, {OPTION_LIST, OPTION_REVISION}, {OPTION_LIST, OPTION_DIR},
  {OPTION_TEMPLATE, OPTION_CHAT_TEMPLATE}, {OPTION_TEMPLATE, OPTION_TOOLS}, {OPTION_TEMPLATE, OPTION_KWARG}
};

static const struct { enum option a, b, either; } needs[] = {
  {OPTION_LOGPROBS, OPTION_JSON, OPTION_JSONL},
  {OPTION_TRAIN, OPTION_VOCAB_SIZE, OPTION_VOCAB_SIZE},
  {OPTION_TRAIN, OPTION_OUT, OPTION_OUT},
  {OPTION_VOCAB_SIZE, OPTION_TRAIN, OPTION_TRAIN},
  {OPTION_OUT, OPTION_TRAIN, OPTION_TRAIN},
  {OPTION_SINKS, OPTION_WINDOW, OPTION_WINDOW},
  {OPTION_LENGTH_PENALTY, OPTION_NUM_BEAMS, OPTION_NUM_BEAMS},
  {OPTION_EARLY_STOPPING, OPTION_NUM_BEAMS, OPTION_NUM_BEAMS},
  {OPTION_NO_ESCAPE, OPTION_STOP, OPTION_STOP},
  {OPTION_DRAFT, OPTION_SPECULATE, OPTION_SPECULATE},
  {OPTION_INCLUDE_STOP, OPTION_STOP, OPTION_STOP},
  {OPTION_D_MODEL, OPTION_SHAPE, OPTION_SHAPE},
  {OPTION_D_INNER, OPTION_SHAPE, OPTION_SHAPE},
  {OPTION_VOCAB_SIZE, OPTION_SHAPE, OPTION_SHAPE}
};

/* a search with more than one beam draws nothing, sees texts whole and not token by token, and
   cannot give more texts than it has beams */
static bool beams_agree(const struct command_line *w, struct error *why)
{
  static const enum option without[] = {
    OPTION_SAMPLERS, OPTION_SEED, OPTION_LOGIT_BIAS, OPTION_REGEX,
    OPTION_GRAMMAR, OPTION_JSON_OBJECT, OPTION_LOGPROBS, OPTION_JSONL,
    OPTION_STOP, OPTION_STOP_ON_REPETITION, OPTION_SPECULATE, OPTION_DRAFT };
  uint64_t beams = w->of[OPTION_NUM_BEAMS].count;
  if (!w->of[OPTION_NUM_BEAMS].given || beams == 1) return true;
  for (int i = OPTION_SAMPLING; i <= OPTION_SAMPLING_END; i++)
    if (w->of[i].given && !option_setting((enum option) i, NULL)->in_search)
      return error_say(why, "--%s contradicts --num-beams %" PRIu64,
        option_setting((enum option) i, NULL)->option, beams);
  for (size_t i = 0; i < sizeof without / sizeof *without; i++)
    if (w->of[without[i]].given) return error_say(why, "--%s contradicts"
        " --num-beams %" PRIu64, option_table[without[i]].name, beams);
  return w->of[OPTION_NUM_SEQUENCES].count <= beams || error_say(why,
    "--num-sequences is %" PRIu64 "; wanted: 1 to %" PRIu64
    ", the number of beams", w->of[OPTION_NUM_SEQUENCES].count, beams);
}

/* Stop strings are checked when the whole line is known: an option after them may take their
   backslashes for what they are. The copies are made with an account of their own, which refuses
   nothing. */
static bool stops_agree(const struct command_line *w, struct error *why)
{
  struct memory m = { .fail_at = 0 };
  bool ok = true;
  for (size_t i = 0; ok && i < w->n_repeated; i++) {
    struct bytes text = { NULL, 0, 0 };
    struct error wrong;
    const char *typed = w->repeated[i].text;
    if (w->repeated[i].which != OPTION_STOP) continue;
    if (*typed == '\0') ok = error_say(why, "--stop is empty; wanted: a"
        " string");
    else if (!w->of[OPTION_NO_ESCAPE].given
        && !stops_unescape(&m, typed, &text, &wrong))
      ok = error_say(why, "--%s", wrong.text);
    bytes_free(&m, &text);
  }
  return ok;
}

/* names that must be known, and values that are wrong beside others. To refuse them now costs a
   comparison; later it would cost the loading of a model */
static bool values_agree(const struct command_line *w, struct error *why)
{
  if (w->of[OPTION_SINKS].count > 0 && w->of[OPTION_WINDOW].count == 0)
    return error_say(why, "--sinks contradicts --window 0, which means no window");
  if (w->of[OPTION_TEMPLATE].given
    && chat_template_named(w->of[OPTION_TEMPLATE].text, why) == NULL)
    return false;
  uint64_t slots = w->of[OPTION_SLOTS].given ? w->of[OPTION_SLOTS].count : 8;
  const struct option_value *rows = &w->of[OPTION_BATCH_ROWS];
  if (rows->given && rows->count < slots)
    return error_say(why, "--batch-rows is %" PRIu64 "; wanted: a row for each of %" PRIu64 " slots, or more", rows->count, slots);
  if (w->of[OPTION_PROMPT_CACHE].given && w->of[OPTION_PREFIX_CACHE].given && w->of[OPTION_PREFIX_CACHE].count == 0)
    return error_say(why, "--prompt-cache contradicts --prefix-cache off");
  const struct option_value *device = &w->of[OPTION_DEVICE];
  return !device->given || strcmp(device->text, "cpu") == 0
    || strncmp(device->text, "cuda", 4) == 0
    || error_say(why, "--device `%s'; wanted: cpu, cuda or cuda:n", device->text);
}

/* An operand is a text or a prompt as well, so it counts as one more option that brings one. In
   a subcommand that does not have the needed option, the needing one means something else and
   needs nothing (--vocab-size). */
static bool options_agree(const struct command_line *w, struct error *why)
{
  static const enum option text[] = { OPTION_PROMPT, OPTION_FILE,
    OPTION_PROMPT_IDS, OPTION_IDS, OPTION_TRAIN, OPTION_MAN, OPTION_LIST };
  for (size_t i = 0; i < sizeof against / sizeof *against; i++)
    if (w->of[against[i].a].given && w->of[against[i].b].given)
      return error_say(why, "--%s contradicts --%s",
        option_table[against[i].a].name, option_table[against[i].b].name);
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
    if (w->of[needs[i].a].given && !w->of[needs[i].b].given
        && !w->of[needs[i].either].given
        && (option_table[needs[i].b].where >> w->sub & 1) != 0)
      return error_say(why, "--%s needs --%s",
        option_table[needs[i].a].name, option_table[needs[i].b].name);
  for (size_t i = 0; i < sizeof text / sizeof *text; i++)
    if (w->operand != NULL && w->of[text[i]].given)
      return error_say(why, "--%s contradicts `%s'",
        option_table[text[i]].name, w->operand);
  if (w->sub == SUB_QUANTIZE && !w->of[OPTION_TYPE].given)
    return error_say(why, "quantize needs --type (incipit quantize --help)");
  if (w->sub == SUB_QUANTIZE && !w->of[OPTION_OUT_FILE].given)
    return error_say(why, "quantize needs --out (incipit quantize --help)");
  if (w->sub == SUB_PULL && w->operand == NULL && !w->of[OPTION_LIST].given)
    return error_say(why, "pull needs ORG/NAME, or --list (incipit pull --help)");
  if (w->sub == SUB_INSPECT && w->operand != NULL && w->of[OPTION_MODEL].given)
    return error_say(why, "--model contradicts `%s'", w->operand);
  if (w->sub == SUB_INSPECT && w->operand != NULL && *w->operand == '\0')
    return error_say(why, "inspect has an empty operand; wanted: PATH");
  return beams_agree(w, why) && stops_agree(w, why) && values_agree(w, why);
}

/* what an operand too many was probably meant as; always false */
static bool too_many(enum subcommand sub, const char *word, struct error *why)
{
  const struct subcommand_entry *s = &subcommand_table[sub];
  if (s->instead == NULL)
    return error_say(why, "`%s' is one word too many (incipit %s --help)", word, s->name);
  return error_say(why, "`%s' is one word too many; %s (incipit %s --help)", word, s->instead,
    s->name);
}

bool options_parse(struct command_line *w, int argc, char **argv,
  struct error *why)
{
  memset(w, 0, sizeof *w);
  if (!find_subcommand(argv[1], &w->sub, why)) return false;
  bool options = true;
  unsigned operands = 0;
  for (int i = 2; i < argc; i++) {
    const char *word = argv[i];
    if (options && strcmp(word, "--") == 0) options = false;
    else if (options && word[0] == '-' && word[1] != '\0') {
      if (!take_option(w, argc, argv, &i, why)) return false;
      if (w->of[OPTION_HELP].given) return true;
    }
    else if (operands++ < subcommand_table[w->sub].max)
      w->operand = w->operands[w->n_operands++] = word;
    else return too_many(w->sub, word, why);
  }
  /* only probe and perplexity cannot do without their operand */
  if (operands < subcommand_table[w->sub].min)
    return error_say(why, "%s needs %s (incipit %s --help)",
      subcommand_table[w->sub].name, subcommand_table[w->sub].operand,
      subcommand_table[w->sub].name);
  return options_agree(w, why);
}

const struct subcommand_entry *options_subcommand(enum subcommand sub)
{
  return &subcommand_table[sub];
}

const char *option_words(const struct option_entry *o, enum subcommand sub)
{
  return (o->there >> sub & 1) != 0 && o->there_words != NULL ? o->there_words : o->words;
}

const char *option_default(const struct option_entry *o, enum subcommand sub,
  char list[OPTIONS_MAX_TEXT])
{
  if (o->read == read_stages) {   /* all stages, as their rows stand in chapter 7 */
    sampling_stage_names(list, OPTIONS_MAX_TEXT);
    return list;
  }
  bool other = (o->there >> sub & 1) != 0 && o->there_default != NULL;
  return other ? o->there_default : o->default_text;
}

const char *options_group_name(enum option_group group)
{
  static const char *const name[N_OPTION_GROUPS] = {
    [GROUP_MODEL] = "Model", [GROUP_PROMPT] = "Prompt", [GROUP_LENGTH] = "Length",
    [GROUP_SAMPLING] = "Sampling", [GROUP_CONSTRAINTS] = "Constraints",
    [GROUP_SEARCH] = "Search", [GROUP_STOPPING] = "Stopping", [GROUP_NETWORK] = "Network",
    [GROUP_SCHEDULING] = "Scheduling", [GROUP_LIMITS] = "Limits", [GROUP_OUTPUT] = "Output" };
  return name[group];
}
