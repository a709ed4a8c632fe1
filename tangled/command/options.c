/* options.c -- made from workshop/14-command.w; change it there */

/* B.65  options.c */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "accounts/formats.h"
#include "stopping/stops.h"
#include "command/options.h"
#include "templates/conversations.h"

/* B.20  The table of subcommands */

static const struct subcommand_row subcommand_table[N_SUBCOMMANDS] = {
  [SUB_GENERATE] = {"generate", "PROMPT|-", "continue a prompt",
                    "incipit generate \"The cat sat\"" " -n 4", 0, 1, false},
  [SUB_TOKENIZE] = {"tokenize", "TEXT|-",
                    "text to ids and pieces," " and back",
                    "incipit tokenize \"The cat sat\"", 0, 1, false},
  [SUB_TRACE] = {"trace", "PROMPT|-", "the loop, step by step",
                 "incipit trace \"The cat sat\"" " -n 4", 0, 1, false},
  [SUB_INSPECT] = {"inspect", "PATH", "what is in a model's files",
                   "incipit inspect", 0, 1, false},
  [SUB_PROBE] = {"probe", "KIND", "questions in JSON, one a line,"
                 " answered one a line", "echo '{\"text\": \"The cat sat\"}' |"
                 " incipit probe tokenize", 1, 1, false},
  [SUB_BENCH] = {"bench", NULL, "how fast tokens are read and written,"
                 " and what share of the" " machine that is",
                 "incipit bench -p 32 -n 8 -r 2", 0, 0, false},
  [SUB_PERPLEXITY] = {"perplexity", "FILE", "how well a text is"
                      " predicted", "incipit perplexity README.md", 1, 1, false},
  [SUB_MEMORY] = {"memory", NULL, "what a model takes, and what fits into"
                  " a budget", "incipit memory --shape llama-7b" " --context 4096"
                  " --budget 24GB", 0, 0, false},
  [SUB_CHAT] = {"chat", NULL, "talk with a model, turn by turn",
                "echo 'Hello!' | incipit chat", 0, 0, false},
  [SUB_HELP] = {"help", "SUBCOMMAND", "this list, or the options"
                " of one subcommand", "incipit help generate", 0, 1, false},
  [SUB_VERSION] = {"--version", NULL, "version, build, compiler,"
                   " kernels, Unicode", "incipit --version", 0, 0, false},
  [SUB_VALUES] = {"values", NULL, "", "", 0, 0, true}
};

/* B.21  The table of options */

enum { G = 1u << SUB_GENERATE, T = 1u << SUB_TOKENIZE,
  R = 1u << SUB_TRACE, I = 1u << SUB_INSPECT, P = 1u << SUB_PROBE,
  B = 1u << SUB_BENCH, X = 1u << SUB_PERPLEXITY,
  M = 1u << SUB_MEMORY, C = 1u << SUB_CHAT, H = 1u << SUB_HELP
};
static const struct option_row option_table[N_OPTIONS] = {

/* B.22  Options that say what to begin with */

  [OPTION_MODEL] = {"model", NULL, "PATH", "a directory in Hugging Face's"
                    " layout", "the built-in model", 'm', false, 0, 0,
                    G | T | R | P | B | X | M | C},
  [OPTION_THREADS] = {"threads", NULL, "N", "workers",
                      "OMP_NUM_THREADS, or the physical" " cores", 't', true, 1,
                      1024,
                      G | R | P | B | X | C},
  [OPTION_PROMPT] = {"prompt", NULL, "TEXT", "the prompt", NULL, 'p',
                     false, 0, 0, G | R},
  [OPTION_FILE] = {"file", NULL, "FILE", "the text is that of a file,"
                   " byte for byte", NULL, 'f', false, 0, 0, G | T | R},
  [OPTION_PROMPT_IDS] = {"prompt-ids", NULL, "1,2,3", "the prompt in ids",
                         NULL, 0, false, 0, 0, G | R}

  ,

/* B.23  Options that bound a generation */

  [OPTION_MAX_NEW_TOKENS] = {"max-new-tokens", "max-tokens", "N",
                             "write at most so many",
                             "until a stop or the context is" " full; trace: 4",
                             'n', true, 0, INT64_MAX, G | R | C},
  [OPTION_CTX_SIZE] =
      {"ctx-size", NULL, "N", "use less context than the" " model has",
       "the model's", 'c', true, 1, INT64_MAX, G | R | C},
  [OPTION_IGNORE_EOS] = {"ignore-eos", NULL, NULL, "end tokens end nothing",
                         NULL, 0, false, 0, 0, G | R | C},
  [OPTION_NO_CACHE] = {"no-cache", NULL, NULL, "compute every row in"
                       " every step", "rows are kept", 0, false, 0, 0, G},
  [OPTION_CACHE] = {"cache", NULL, NULL, "keep rows from step to step",
                    "every row in every step", 0, false, 0, 0, R},
  [OPTION_CHUNK] = {"chunk", NULL, "N", "read at most N tokens in a pass",
                    "all in one", 0, true, 0, INT64_MAX, G | R},
  [OPTION_KV_TYPE] = {"kv-type", NULL, "TYPE", "keep rows in f32, f16,"
                      " bf16, q8_0 or q4_0", "f32; a shape's: f16", 0, false, 0, 0,
                      G | R | B | X | M | C},
  [OPTION_WINDOW] = {"window", NULL, "N", "every row sees the last N only;"
                     " 0: all", "the model's", 0, true, 0, UINT32_MAX,
                     G | R | B | X | M | C},
  [OPTION_SINKS] = {"sinks", NULL, "N", "with --window: and the first N",
                    "0", 0, true, 0, UINT32_MAX, G | R | B | X | M | C},
  [OPTION_NO_SPECIAL] = {"no-special", NULL, NULL, "add no special tokens"
                         " to the text", "as the tokenizer's files say", 0, false,
                         0, 0,
                         G | T | R},
  [OPTION_PARSE_SPECIAL] = {"parse-special", NULL, NULL, "the text of a"
                            " special token is that token", "it is plain text", 0,
                            false, 0, 0,
                            G | T | R}

  ,

/* B.24  Options that say how to choose */

  [OPTION_TEMPERATURE] = {"temperature", "temp", "T", "divide the scores by"
                          " T; 0: the likeliest token", "the model's, or 0", 0,
                          false, 0, 0,
                          G | R | C},
  [OPTION_TOP_K] = {"top-k", NULL, "K", "only the K likeliest; 0: all",
                    "the model's, or 0", 0, true, 0, INT64_MAX, G | R | C},
  [OPTION_TOP_P] = {"top-p", NULL, "P", "only the fewest with a share of P",
                    "the model's, or 1", 0, false, 0, 0, G | R | C},
  [OPTION_MIN_P] = {"min-p", NULL, "M", "only those M times as likely as the"
                    " best", "the model's, or 0", 0, false, 0, 0, G | R | C},
  [OPTION_TYPICAL_P] = {"typical-p", "typical", "P", "only the most typical"
                        " with a share of P", "the model's, or 1", 0, false, 0, 0,
                        G | R | C},
  [OPTION_SAMPLERS] = {"samplers", NULL, "LIST", "the stages, in order",
                       "bias, penalties, ngram," " temperature, top_k, top_p,"
                       " min_p, typical_p", 0,
                       false, 0, 0, G | R | C},
  [OPTION_SEED] = {"seed", NULL, "S", "another seed, another text; random:"
                   " draw one and print it", "0", 's', false, 0, 0, G | R | C},
  [OPTION_NUM_SEQUENCES] = {"num-sequences", NULL, "N", "write N texts",
                            "1", 0, true, 1, 1000000, G},

/* B.28  Options against repetition, and biases */

  [OPTION_REPETITION_PENALTY] = {"repetition-penalty", "repeat-penalty",
                                 "R",
                                 "divide the scores of what the"
                                 " text has by R, or multiply",
                                 "the model's, or 1", 0, false, 0, 0, G | R | C},
  [OPTION_FREQUENCY_PENALTY] = {"frequency-penalty", NULL, "A", "subtract A"
                                " for each time a token was" " written", "0", 0,
                                false, 0, 0, G | R | C},
  [OPTION_PRESENCE_PENALTY] =
      {"presence-penalty", NULL, "A", "subtract A if" " a token was written", "0",
       0, false, 0, 0, G | R | C},
  [OPTION_PENALTY_LAST_N] = {"penalty-last-n", "repeat-last-n", "N",
                             "penalties look at the last N" " tokens; -1: all",
                             "-1", 0, false, 0, 0,
                             G | R | C},
  [OPTION_NO_REPEAT_NGRAM] = {"no-repeat-ngram-size", NULL, "N", "no N"
                              " tokens in a row come twice;" " 0: off",
                              "the model's, or 0", 0, true,
                              0, INT64_MAX, G | R | C},
  [OPTION_LOGIT_BIAS] = {"logit-bias", NULL, "ID=B", "add B to the score of"
                         " a token; -inf: never write" " it (repeatable)", NULL, 0,
                         false, 0, 0,
                         G | R | C}

  ,

/* B.27  Options about what must match */

  [OPTION_REGEX] = {"regex", NULL, "R", "write what the regular expression R"
                    " matches as a whole", NULL, 0, false, 0, 0, G | R},
  [OPTION_GRAMMAR] = {"grammar", NULL, "FILE", "write what the grammar of a"
                      " file makes (GBNF)", NULL, 0, false, 0, 0, G | R},
  [OPTION_JSON_OBJECT] = {"json-object", NULL, NULL, "write one object of"
                          " JSON", NULL, 0, false, 0, 0, G | R}

  ,

/* B.25  Options of a search */

  [OPTION_NUM_BEAMS] = {"num-beams", NULL, "B", "search with B beams for the"
                        " likeliest text", "1: no search", 0, true, 1, 65536, G},
  [OPTION_LENGTH_PENALTY] = {"length-penalty", NULL, "A", "with --num-beams:"
                             " divide a text's score by its"
                             " length to the power A", "1", 0, false,
                             0, 0, G},
  [OPTION_EARLY_STOPPING] = {"early-stopping", NULL, "true|false|never",
                             "with --num-beams: stop as soon"
                             " as B texts have ended; when no beam"
                             " is better; when none can be", "false", 0, false, 0,
                             0, G}

  ,

/* B.26  Options that say when to stop */

  [OPTION_STOP] = {"stop", NULL, "STRING", "end before this string, with"
                   " \\n, \\t, \\\\ and \\xNN in it" " (repeatable)", NULL, 0,
                   false, 0, 0,
                   G | R | C},
  [OPTION_NO_ESCAPE] = {"no-escape", NULL, NULL, "a backslash in --stop is a"
                        " backslash", NULL, 0, false, 0, 0, G | R | C},
  [OPTION_INCLUDE_STOP] = {"include-stop", NULL, NULL, "end behind the stop"
                           " string", NULL, 0, false, 0, 0, G | C},
  [OPTION_MIN_TOKENS] = {"min-tokens", NULL, "N", "end tokens and stop"
                         " strings count from token N + 1" " on", "0", 0, true, 0,
                         INT64_MAX,
                         G | R | C},
  [OPTION_STOP_ON_REPETITION] = {"stop-on-repetition", NULL, "N", "end when"
                                 " the same N tokens stand three"
                                 " times in a row; 0: never", "0", 0,
                                 true, 0, INT64_MAX, G | R | C}

  ,

/* B.29  Options that say what to show of it */

  [OPTION_ECHO] = {"echo", NULL, NULL, "print the prompt first", NULL, 0,
                   false, 0, 0, G},
  [OPTION_LOGPROBS] = {"logprobs", NULL, "K", "with --json or --jsonl: the"
                       " log-probability and rank of"
                       " each token, and the K likeliest",
                       "off", 0, true, 0, 1000, G},
  [OPTION_STATS] = {"stats", NULL, NULL, "counters, times, rates and"
                    " memory, on standard error", NULL, 0, false, 0, 0, G | C},
  [OPTION_JSON] = {"json", NULL, NULL, "print one JSON object", NULL, 0,
                   false, 0, 0, G | T | R | I | B | X | M},
  [OPTION_JSONL] = {"jsonl", NULL, NULL, "one JSON object a token as it"
                    " comes, then that of --json", NULL, 0, false, 0, 0, G}

  ,

/* B.30  Options of 'tokenize' */

  [OPTION_IDS] = {"ids", NULL, "1,2,3", "ids to text", NULL, 0, false, 0, 0,
                  T},
  [OPTION_COUNT] = {"count", NULL, NULL, "print the number of tokens only",
                    NULL, 0, false, 0, 0, T},
  [OPTION_TRAIN] = {"train", NULL, "FILE", "learn a byte-level BPE from a"
                    " file", NULL, 0, false, 0, 0, T},
  [OPTION_VOCAB_SIZE] = {"vocab-size", NULL, "N", "with --train: how many"
                         " ids, the end of text and the"
                         " 256 bytes included; beside --shape:"
                         " another vocabulary", NULL, 0, true, 257, 4194304, T | M},
  [OPTION_OUT] =
      {"out", NULL, "DIR", "with --train: where to write" " tokenizer.json", NULL,
       0, false, 0, 0, T}

  ,

/* B.31  Options of what measures */

  [OPTION_N_PROMPT] = {"n-prompt", NULL, "N", "read N tokens at once; 0:"
                       " leave that out", "512, or what fits", 'p', true, 0,
                       INT32_MAX, B},
  [OPTION_N_GEN] = {"n-gen", NULL, "N", "write N tokens; 0: leave that out",
                    "128, or what fits", 'n', true, 0, INT32_MAX, B},
  [OPTION_N_DEPTH] = {"n-depth", NULL, "N", "behind N tokens that are"
                      " stored already", "0", 'd', true, 0, INT32_MAX, B},
  [OPTION_REPETITIONS] = {"repetitions", NULL, "N", "so many times", "5",
                          'r', true, 1, 1000, B},
  [OPTION_OUTPUT] = {"output", NULL, "table|csv|json", "in which form",
                     "table", 'o', false, 0, 0, B},
  [OPTION_CONTEXT] = {"context", "ctx-size", "N", "windows, or texts, of N"
                      " tokens", "the model's context", 'c', true, 1, INT64_MAX,
                      X | M},
  [OPTION_STRIDE] = {"stride", NULL, "N", "a window every N tokens",
                     "the context", 0, true, 1, INT64_MAX, X}

  ,

/* B.32  Options of 'memory' */

  [OPTION_SHAPE] = {"shape", NULL, "NAME", "a model that everybody names, or"
                    " list", NULL, 0, false, 0, 0, M},
  [OPTION_LAYERS] = {"layers", NULL, "N", "so many layers", "the shape's", 0,
                     true, 1, 16384, M},
  [OPTION_HEADS] = {"heads", NULL, "N", "so many heads of queries",
                    "the shape's", 0, true, 1, 4096, M},
  [OPTION_KV_HEADS] = {"kv-heads", NULL, "N", "so many of keys and values",
                       "the shape's; without a shape as many as --heads", 0, true,
                       1, 4096, M},
  [OPTION_HEAD_DIM] = {"head-dim", NULL, "N", "numbers of a head",
                       "the shape's", 0, true, 1, 4096, M},
  [OPTION_D_MODEL] = {"d-model", NULL, "N", "beside --shape: numbers of a row",
                      "the shape's", 0, true, 1, 262144, M},
  [OPTION_D_INNER] = {"d-inner", NULL, "N", "beside --shape: numbers inside"
                      " the MLP", "the shape's", 0, true, 1, 1048576, M},
  [OPTION_BATCH] = {"batch", NULL, "N", "so many texts", "1", 0, true, 1,
                    UINT32_MAX, M},
  [OPTION_BUDGET] = {"budget", NULL, "SIZE", "what there is, as 24GB or"
                     " 22.5GiB", NULL, 0, false, 0, 0, M}

  ,

/* B.33  Options of 'chat' */

  [OPTION_SYSTEM] = {"system", NULL, "S", "tell the model first how to"
                     " behave", "what the template says", 0, false, 0, 0, C},
  [OPTION_TEMPLATE] = {"template", NULL, "T", "set turns as this template"
                       " does: chatml, llama3, ...", "the model's", 0, false, 0, 0,
                       C}

  ,

/* B.34  Options of the other subcommands */

  [OPTION_TOP] = {"top", NULL, "K", "show the K likeliest candidates", "5",
                  0, true, 1, 100, R},
  [OPTION_ATTENTION] = {"attention", NULL, "LAYER.HEAD", "show what the"
                        " last row looks at, layers and" " heads counted from 0",
                        NULL, 0,
                        false, 0, 0, R},
  [OPTION_VOCAB] = {"vocab", NULL, "PATH", "a tokenizer.json, or a"
                    " directory with a tokenizer", "the model's", 0, false, 0, 0,
                    P},
  [OPTION_MAN] = {"man", NULL, NULL, "print the manual page", NULL, 0,
                  false, 0, 0, H},
  [OPTION_COMPLETION] = {"completion", NULL, NULL, "print the shell's"
                         " completion", NULL, 0, false, 0, 0, H},
  [OPTION_HELP] = {"help", NULL, NULL, "say what the options are", NULL,
                   'h', false, 0, 0, G | T | R | I | P | B | X | M | H | C}

};

/* B.35  What later chapters bring */

struct later_row {
  const char *name, *also;
  char letter;
  unsigned where, chapter;
};
static const struct later_row later_option[] = {

  {"activations", NULL, 0, G | R | P, 10},
  {"device", NULL, 0, G | R, 14}
};
enum { N_LATER = sizeof later_option / sizeof *later_option };
static const struct later_row later_subcommand[] = {
  {"quantize", NULL, 0, 0, 10}, {"verify", NULL, 0, 0, 16}
};

enum { N_LATER_SUBS = sizeof later_subcommand / sizeof *later_subcommand
};

/* B.66  Read what was typed */

/* B.45  Count the slips between two words */

enum { WORD_MOST = 40 };
static unsigned slips(const char *a, const char *b)
{
  unsigned d[WORD_MOST + 1][WORD_MOST + 1];
  unsigned n = (unsigned)strlen(a), m = (unsigned)strlen(b);
  if (n > WORD_MOST || m > WORD_MOST)
    return n + m;
  for (unsigned i = 0; i <= n; i++)
    for (unsigned j = 0; j <= m; j++) {
      unsigned best;

/* B.46  Set 'best' to the slips between i letters and j letters */

      best = i == 0 ? j : d[i - 1][j] + 1;
      if (j > 0 && d[i][j - 1] + 1 < best)
        best = d[i][j - 1] + 1;
      if (i > 0 && j > 0) {
        unsigned wrong = a[i - 1] != b[j - 1];
        if (d[i - 1][j - 1] + wrong < best)
          best = d[i - 1][j - 1] + wrong;
      }
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]
          && d[i - 2][j - 2] + 1 < best)
        best = d[i - 2][j - 2] + 1;

      d[i][j] = best;
    }
  return d[n][m];
}

/* B.47  Count the slips between two words */

const char *nearest_of(const char *word, const char *const *list, size_t n)
{
  const char *nearest = list[0];
  for (size_t i = 1; i < n; i++)
    if (slips(word, list[i]) < slips(word, nearest))
      nearest = list[i];
  return nearest;
}

/* B.48  Read a number within its limits */

static bool digits_parse(const char *text, size_t n, uint64_t * value)
{
  *value = 0;
  for (size_t i = 0; i < n; i++) {
    if (text[i] < '0' || text[i] > '9')
      return false;
    uint64_t digit = (uint64_t) (text[i] - '0');
    if (*value > (UINT64_MAX - digit) / 10)
      return false;
    *value = *value * 10 + digit;
  }
  return n > 0;
}

/* B.56  Read a number within its limits */

static bool count_parse(const struct option_row *o, const char *text,
                        uint64_t * value, struct error *why)
{
  if (digits_parse(text, strlen(text), value) && *value >= o->least
      && *value <= o->most)
    return true;
  if (o->most == INT64_MAX)
    return error_say(why, "--%s is `%s'; wanted: an"
                     " integer from %" PRIu64 " on", o->name, text, o->least);
  return error_say(why, "--%s is `%s'; wanted: an"
                   " integer from %" PRIu64 " to %" PRIu64, o->name, text, o->least,
                   o->most);
}

/* B.57  Read a list of ids */

int ids_parse(struct memory *m, const char *text, const char *what,
              struct ids *list, struct error *why)
{
  *list = (struct ids) { NULL, 0, 0 };
  const char *all = text;
  text += strspn(text, " ");
  while (*text != '\0') {
    uint64_t id;
    size_t n = strcspn(text, ",; ");
    bool ok = digits_parse(text, n, &id) && id <= UINT32_MAX;
    if (!ok)
      error_say(why, "--%s is `%s'; wanted: ids"
                " with commas between them," " as in 1,2,3", what, all);
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

/* B.49  Read what is no count */

static bool real_digits(const char *text, double *x)
{
  char *end;
  size_t n = strspn(text, "0123456789+-.eE");
  *x = n > 0 && text[n] == '\0' ? strtod(text, &end) : NAN;
  return n > 0 && text[n] == '\0' && *end == '\0';
}

/* B.50  Read what is no count */

enum option option_of_real(const struct sampling_real *r)
{
  int i = 0;
  for (; i < N_OPTIONS; i++) {
    const char *a = option_table[i].name, *b = r->name;
    while (a != NULL && *a != '\0' && (*a == *b || (*a == '-' && *b == '_')))
      a++, b++;
    if (a != NULL && *a == '\0' && *b == '\0')
      break;
  }
  return (enum option)i;
}

/* B.51  Read what is no count */

bool bias_next(const char **at, struct bias_pair *pair)
{
  size_t n = strcspn(*at, "=,;"), m;
  char room[64];
  if (!digits_parse(*at, n, &pair->id) || (*at)[n] != '=')
    return false;
  const char *number = *at + n + 1;
  m = strcspn(number, ",;");
  if (m == 0 || m >= sizeof room)
    return false;
  memcpy(room, number, m);
  room[m] = '\0';
  if (strcmp(room, "-inf") == 0)
    pair->bias = -INFINITY;
  else if (!real_digits(room, &pair->bias) || pair->bias - pair->bias != 0)
    return false;
  *at = number + m + (number[m] != '\0');
  return true;
}

/* B.52  Read what is no count */

bool samplers_parse(const char *text, struct sampling *s, struct error *why)
{
  char room[256];
  const char *name[N_STAGES + 1];
  size_t n = 0;
  if (snprintf(room, sizeof room, "%s", text) >= (int)sizeof room)
    return error_say(why, "--samplers has more names than there are stages");
  for (char *at = room; *at != '\0' && n <= N_STAGES;) {
    size_t length = strcspn(at, ",;");
    name[n++] = at;
    at += length;
    if (*at != '\0')
      *at++ = '\0';
  }
  struct error wrong;
  return sampling_stages_parse(s, name, n, &wrong)
      || error_say(why, "--%s", wrong.words);
}

/* B.53  Read what is no count */

static bool other_parse(enum option o, const char *text,
                        struct option_value *v, struct error *why)
{
  const struct sampling_real *r;
  struct sampling s;
  for (size_t i = 0; (r = sampling_real_at(i)) != NULL; i++)
    if (option_of_real(r) == o)
      return (real_digits(text, &v->real) && sampling_real_fits(r, v->real))
          || error_say(why, "--%s is `%s'; wanted: %s", option_table[o].name,
                       text, r->wanted);
  if (o == OPTION_LENGTH_PENALTY)
    return (real_digits(text, &v->real) && fabs(v->real) <= 1000)
        || error_say(why, "--length-penalty is `%s'; wanted: a number from"
                     " -1000 to 1000", text);

/* B.54  Read what may be a word */

  if (o == OPTION_EARLY_STOPPING) {
    v->count = strcmp(text, "true") == 0 ? 1 : strcmp(text, "never") == 0 ? 2 : 0;
    return v->count > 0 || strcmp(text, "false") == 0 || error_say(why,
                                                                   "--early-stopping is `%s'; wanted: true, false or never",
                                                                   text);
  }
  if (o == OPTION_PENALTY_LAST_N) {
    v->count = UINT64_MAX;
    return strcmp(text, "-1") == 0 || (digits_parse(text, strlen(text),
                                                    &v->count) &&
                                       v->count <= INT64_MAX)
        || error_say(why,
                     "--penalty-last-n is `%s'; wanted: -1 for all, or a"
                     " number of tokens", text);
  }
  if (o == OPTION_SEED)
    return strcmp(text, "random") == 0
        || (digits_parse(text, strlen(text), &v->count)
            && v->count <= INT64_MAX) || error_say(why, "--seed is `%s'; wanted:"
                                                   " an integer from 0 to 9223372036854775807, or random",
                                                   text);

/* B.55  Read biases or stages, if they are meant */

  struct bias_pair pair;
  const char *at = text;
  if (o == OPTION_SAMPLERS)
    return samplers_parse(text, &s, why);
  if (o != OPTION_LOGIT_BIAS)
    return true;
  while (bias_next(&at, &pair)) ;
  return (*at == '\0' && at > text) || error_say(why, "--logit-bias is `%s';"
                                                 " wanted: ID=B, as in 5=1.5 or 5=-inf",
                                                 text);

}

/* B.38  Find the subcommand */

static bool find_subcommand(const char *word, enum subcommand *sub,
                            struct error *why)
{
  const char *list[N_SUBCOMMANDS];
  size_t n = 0;
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
    word = "help";
  for (int i = 0; i < N_SUBCOMMANDS; i++) {
    *sub = (enum subcommand)i;
    if (strcmp(word, subcommand_table[i].name) == 0)
      return true;
    if (!subcommand_table[i].hidden)
      list[n++] = subcommand_table[i].name;
  }
  for (int i = 0; i < N_LATER_SUBS; i++)
    if (strcmp(word, later_subcommand[i].name) == 0)
      return error_say(why, "%s comes with chapter %u;"
                       " this program ends with" " chapter 9", word,
                       later_subcommand[i].chapter);
  return error_say(why, "there is no subcommand"
                   " `%s'; the nearest is %s", word, nearest_of(word, list, n));
}

/* B.41  Find an option of this subcommand */

static bool is_called(const char *name, const char *also, char letter,
                      const char *typed, char typed_letter)
{
  if (typed_letter != '\0')
    return letter == typed_letter;
  return strcmp(typed, name) == 0 || (also != NULL && strcmp(typed, also) == 0);
}

/* B.42  Find an option of this subcommand */

static int find_option(enum subcommand sub, const char *name, char letter)
{
  for (int i = 0; i < N_OPTIONS; i++) {
    const struct option_row *o = &option_table[i];
    if ((o->where >> sub & 1) != 0
        && is_called(o->name, o->also, o->letter, name, letter))
      return i;
  }
  return -1;
}

/* B.43  Say that there is no such option, and what is nearest */

static bool comes_later(enum subcommand sub, const char *name,
                        char letter, struct error *why)
{
  for (int i = 0; i < N_LATER; i++) {
    const struct later_row *l = &later_option[i];
    if ((l->where >> sub & 1) == 0 || !is_called(l->name, l->also,
                                                 l->letter, name, letter))
      continue;
    error_say(why, "--%s comes with chapter %u;"
              " this program ends with" " chapter 9", l->name, l->chapter);
    return true;
  }
  return false;
}

/* B.44  Say that there is no such option, and what is nearest */

static bool no_such_option(enum subcommand sub, const char *name,
                           char letter, struct error *why)
{
  const char *list[N_OPTIONS], *asked = subcommand_table[sub].name;
  size_t n = 0;
  if (comes_later(sub, name, letter, why))
    return false;
  for (int i = 0; i < N_OPTIONS; i++)
    if ((option_table[i].where >> sub & 1) != 0)
      list[n++] = option_table[i].name;
  if (n == 0)
    return error_say(why, "%s takes no options", asked);
  if (letter != '\0')
    return error_say(why, "%s has no option -%c" " (incipit %s --help)",
                     asked, letter, asked);
  return error_say(why, "%s has no option --%s;" " the nearest is --%s",
                   asked, name, nearest_of(name, list, n));
}

/* B.39  Take one option, with its value */

static bool take_option(struct wishes *w, int argc, char **argv,
                        int *i, struct error *why)
{
  const char *word = argv[*i], *value = NULL;
  char name[64], letter = '\0';
  if (word[1] != '-') {
    letter = word[1], name[0] = '\0';
    if (word[2] != '\0')
      value = word + 2;
  } else {
    size_t n = strcspn(word + 2, "=");
    if (word[2 + n] == '=')
      value = word + 2 + n + 1;
    snprintf(name, sizeof name, "%.*s", (int)(n < 63 ? n : 63), word + 2);
  }
  int found = find_option(w->sub, name, letter);
  if (found < 0)
    return no_such_option(w->sub, name, letter, why);

/* B.40  See to the value of option 'found' */

  const struct option_row *o = &option_table[found];
  if (o->value == NULL && value != NULL)
    return error_say(why, "--%s takes no value;" " found `%s'", o->name, value);
  if (o->value != NULL && value == NULL) {
    if (*i + 1 >= argc)
      return error_say(why, "--%s needs a value: %s", o->name, o->value);
    value = argv[++*i];
  }
  w->of[found] = (struct option_value) {.given = true,.text = value };
  if (found == OPTION_LOGIT_BIAS || found == OPTION_STOP) {
    if (w->n_repeated == REPEATED_MOST)
      return error_say(why, "--%s is given more than %d times", o->name,
                       REPEATED_MOST);
    w->repeated[w->n_repeated].which = (enum option)found;
    w->repeated[w->n_repeated++].text = value;
  }
  return o->counts ? count_parse(o, value, &w->of[found].count, why)
      : other_parse((enum option)found, value, &w->of[found], why);

}

/* B.58  See whether the options agree */

static const struct {
  enum option a, b;
} against[] = {
  {OPTION_PROMPT, OPTION_FILE},
  {OPTION_PROMPT, OPTION_PROMPT_IDS},
  {OPTION_FILE, OPTION_PROMPT_IDS}, {OPTION_JSON, OPTION_JSONL},
  {OPTION_ECHO, OPTION_JSON}, {OPTION_ECHO, OPTION_JSONL},
  {OPTION_IDS, OPTION_COUNT}, {OPTION_IDS, OPTION_FILE},
  {OPTION_IDS, OPTION_TRAIN}, {OPTION_COUNT, OPTION_TRAIN},
  {OPTION_COUNT, OPTION_JSON}, {OPTION_JSON, OPTION_TRAIN},
  {OPTION_FILE, OPTION_TRAIN}, {OPTION_MODEL, OPTION_TRAIN},
  {OPTION_IDS, OPTION_NO_SPECIAL},
  {OPTION_IDS, OPTION_PARSE_SPECIAL},
  {OPTION_TRAIN, OPTION_NO_SPECIAL},
  {OPTION_TRAIN, OPTION_PARSE_SPECIAL},
  {OPTION_PROMPT_IDS, OPTION_PARSE_SPECIAL},
  {OPTION_PROMPT_IDS, OPTION_NO_SPECIAL},
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
  {OPTION_MODEL, OPTION_D_INNER}
};

/* B.59  See whether the options agree */

static const struct {
  enum option a, b, either;
} needs[] = {
  {OPTION_LOGPROBS, OPTION_JSON, OPTION_JSONL},
  {OPTION_TRAIN, OPTION_VOCAB_SIZE, OPTION_VOCAB_SIZE},
  {OPTION_TRAIN, OPTION_OUT, OPTION_OUT},
  {OPTION_VOCAB_SIZE, OPTION_TRAIN, OPTION_TRAIN},
  {OPTION_OUT, OPTION_TRAIN, OPTION_TRAIN},
  {OPTION_SINKS, OPTION_WINDOW, OPTION_WINDOW},
  {OPTION_LENGTH_PENALTY, OPTION_NUM_BEAMS, OPTION_NUM_BEAMS},
  {OPTION_EARLY_STOPPING, OPTION_NUM_BEAMS, OPTION_NUM_BEAMS},
  {OPTION_NO_ESCAPE, OPTION_STOP, OPTION_STOP},
  {OPTION_INCLUDE_STOP, OPTION_STOP, OPTION_STOP},
  {OPTION_D_MODEL, OPTION_SHAPE, OPTION_SHAPE},
  {OPTION_D_INNER, OPTION_SHAPE, OPTION_SHAPE},
  {OPTION_VOCAB_SIZE, OPTION_SHAPE, OPTION_SHAPE}
};

/* B.60  See whether the options agree */

static bool beams_agree(const struct wishes *w, struct error *why)
{
  static const enum option without[] = {
    OPTION_TEMPERATURE, OPTION_TOP_K, OPTION_TOP_P, OPTION_MIN_P,
    OPTION_TYPICAL_P, OPTION_SAMPLERS, OPTION_SEED,
    OPTION_FREQUENCY_PENALTY, OPTION_PRESENCE_PENALTY,
    OPTION_PENALTY_LAST_N, OPTION_LOGIT_BIAS, OPTION_REGEX,
    OPTION_GRAMMAR, OPTION_JSON_OBJECT, OPTION_LOGPROBS, OPTION_JSONL,
    OPTION_NO_CACHE, OPTION_STOP, OPTION_STOP_ON_REPETITION
  };
  uint64_t beams = w->of[OPTION_NUM_BEAMS].count;
  if (!w->of[OPTION_NUM_BEAMS].given || beams == 1)
    return true;
  for (size_t i = 0; i < sizeof without / sizeof *without; i++)
    if (w->of[without[i]].given)
      return error_say(why, "--%s contradicts"
                       " --num-beams %" PRIu64, option_table[without[i]].name,
                       beams);
  return w->of[OPTION_NUM_SEQUENCES].count <= beams ||
      error_say(why,
                "--num-sequences is %" PRIu64 "; wanted: 1 to %" PRIu64
                ", the number of beams", w->of[OPTION_NUM_SEQUENCES].count, beams);
}

/* B.61  See whether the options agree */

static bool stops_agree(const struct wishes *w, struct error *why)
{
  struct memory m = {.refuse_at = 0 };
  bool ok = true;
  for (size_t i = 0; ok && i < w->n_repeated; i++) {
    struct bytes text = { NULL, 0, 0 };
    struct error wrong;
    const char *typed = w->repeated[i].text;
    if (w->repeated[i].which != OPTION_STOP)
      continue;
    if (*typed == '\0')
      ok = error_say(why, "--stop is empty; wanted: a" " string");
    else if (!w->of[OPTION_NO_ESCAPE].given
             && !stop_unescape(&m, typed, &text, &wrong))
      ok = error_say(why, "--%s", wrong.words);
    bytes_free(&m, &text);
  }
  return ok;
}

/* B.62  See whether the options agree */

static bool values_agree(const struct wishes *w, struct error *why)
{
  if (w->of[OPTION_SINKS].count > 0 && w->of[OPTION_WINDOW].count == 0)
    return error_say(why, "--sinks contradicts --window 0, which is no window");
  if (w->of[OPTION_TEMPLATE].given
      && chat_template_named(w->of[OPTION_TEMPLATE].text, why) == NULL)
    return false;
  const struct option_value *kept = &w->of[OPTION_KV_TYPE];
  return !kept->given || format_find(kept->text, NULL) != NULL
      || error_say(why, "--kv-type `%s'; wanted: f32, f16, bf16, q8_0 or q4_0",
                   kept->text);
}

/* B.63  See whether the options agree */

static bool options_agree(const struct wishes *w, struct error *why)
{
  static const enum option text[] = { OPTION_PROMPT, OPTION_FILE,
    OPTION_PROMPT_IDS, OPTION_IDS, OPTION_TRAIN, OPTION_MAN,
    OPTION_COMPLETION
  };
  for (size_t i = 0; i < sizeof against / sizeof *against; i++)
    if (w->of[against[i].a].given && w->of[against[i].b].given)
      return error_say(why, "--%s contradicts --%s",
                       option_table[against[i].a].name,
                       option_table[against[i].b].name);
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
    if (w->of[needs[i].a].given && !w->of[needs[i].b].given
        && !w->of[needs[i].either].given
        && (option_table[needs[i].b].where >> w->sub & 1) != 0)
      return error_say(why, "--%s needs --%s",
                       option_table[needs[i].a].name,
                       option_table[needs[i].b].name);
  for (size_t i = 0; i < sizeof text / sizeof *text; i++)
    if (w->operand != NULL && w->of[text[i]].given)
      return error_say(why, "--%s contradicts `%s'",
                       option_table[text[i]].name, w->operand);
  return beams_agree(w, why) && stops_agree(w, why) && values_agree(w, why);
}

/* B.36  Read a command line */

bool options_parse(struct wishes *w, int argc, char **argv, struct error *why)
{
  memset(w, 0, sizeof *w);
  if (!find_subcommand(argv[1], &w->sub, why))
    return false;
  bool options = true;
  unsigned operands = 0;
  for (int i = 2; i < argc; i++) {
    const char *word = argv[i];
    if (options && strcmp(word, "--") == 0)
      options = false;
    else if (options && word[0] == '-' && word[1] != '\0') {
      if (!take_option(w, argc, argv, &i, why))
        return false;
      if (w->of[OPTION_HELP].given)
        return true;
    } else if (operands++ < subcommand_table[w->sub].most)
      w->operand = word;
    else
      return error_say(why, "`%s' is one word too many"
                       " (incipit %s --help)", word, subcommand_table[w->sub].name);
  }

/* B.37  Complain if an operand is missing */

  if (operands < subcommand_table[w->sub].least)
    return error_say(why, "%s needs %s (incipit %s --help)",
                     subcommand_table[w->sub].name,
                     subcommand_table[w->sub].operand,
                     subcommand_table[w->sub].name);

  return options_agree(w, why);
}

const struct subcommand_row *subcommand_at(enum subcommand sub)
{
  return &subcommand_table[sub];
}

const struct option_row *option_at(enum option number)
{
  return &option_table[number];
}
