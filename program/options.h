/* options.h -- what can be asked for on a command line, and what has been. */
#ifndef INCIPIT_OPTIONS_H
#define INCIPIT_OPTIONS_H
#include "tokens/bpe.h"
#include "sampling/settings.h"
#include "console.h"

/* the subcommands, in the order of the help */
enum subcommand { SUB_GENERATE, SUB_TOKENIZE, SUB_TRACE, SUB_INSPECT,
  SUB_PROBE, SUB_BENCH, SUB_PERPLEXITY, SUB_MEMORY, SUB_QUANTIZE, SUB_CHAT, SUB_SERVE, SUB_PULL, SUB_VERIFY,
  SUB_HELP,
  SUB_VERSION, N_SUBCOMMANDS };

/* The options, in the order of the help. From OPTION_SAMPLING on there is one for each parameter of
   chapter 7's rows; numbers that are left over there belong to no subcommand */
enum option { OPTION_MODEL, OPTION_IGNORE_FIELD, OPTION_THREADS, OPTION_THREAD_LIST, OPTION_PROMPT, OPTION_FILE,
  OPTION_PROMPT_IDS, OPTION_CHOMP, OPTION_MAX_NEW_TOKENS, OPTION_CTX_SIZE,
  OPTION_IGNORE_EOS, OPTION_ECHO, OPTION_NO_ECHO, OPTION_LOGPROBS, OPTION_NO_SPECIAL,
  OPTION_PARSE_SPECIAL, OPTION_STATS, OPTION_JSON, OPTION_JSONL,
  OPTION_NO_CACHE, OPTION_CACHE, OPTION_CHUNK, OPTION_KV_TYPE,
  OPTION_WINDOW, OPTION_SINKS, OPTION_ACTIVATIONS, OPTION_PACKED, OPTION_DEVICE,
  OPTION_SAMPLING, OPTION_SAMPLING_END = OPTION_SAMPLING + N_SAMPLE_STAGES * STAGE_OPTIONS - 1,
  OPTION_LOGIT_BIAS,
  OPTION_REGEX, OPTION_GRAMMAR, OPTION_JSON_OBJECT,
  OPTION_SAMPLERS, OPTION_SEED, OPTION_NUM_SEQUENCES,
  OPTION_NUM_BEAMS, OPTION_LENGTH_PENALTY, OPTION_EARLY_STOPPING,
  OPTION_STOP, OPTION_NO_ESCAPE, OPTION_INCLUDE_STOP,
  OPTION_MIN_TOKENS, OPTION_STOP_ON_REPETITION,
  OPTION_IDS, OPTION_COUNT, OPTION_TRAIN, OPTION_VOCAB_SIZE, OPTION_OUT, OPTION_TYPE, OPTION_OUT_FILE,
  OPTION_N_PROMPT, OPTION_N_GEN, OPTION_N_DEPTH, OPTION_REPETITIONS,
  OPTION_OUTPUT, OPTION_CONTEXT, OPTION_STRIDE, OPTION_SHAPE,
  OPTION_LAYERS, OPTION_HEADS, OPTION_KV_HEADS, OPTION_HEAD_DIM,
  OPTION_D_MODEL, OPTION_D_INNER, OPTION_BATCH, OPTION_BUDGET,
  OPTION_TOP, OPTION_ATTENTION, OPTION_VOCAB, OPTION_SYSTEM,
  OPTION_TEMPLATE, OPTION_CHAT_TEMPLATE, OPTION_TOOLS, OPTION_KWARG,
  OPTION_HOST, OPTION_PORT, OPTION_API_KEY, OPTION_NO_KEY, OPTION_MODEL_NAME, OPTION_CORS, OPTION_SLOTS, OPTION_BATCH_ROWS,
  OPTION_KV_ROWS, OPTION_QUEUE, OPTION_PREFIX_CACHE, OPTION_PROMPT_CACHE, OPTION_SPECULATE, OPTION_DRAFT, OPTION_MAX_BODY,
  OPTION_MAX_HEADER, OPTION_CONNECTIONS, OPTION_REQUEST_TIMEOUT, OPTION_IDLE_TIMEOUT, OPTION_SEND_TIMEOUT,
  OPTION_DRAIN_TIMEOUT, OPTION_LOG, OPTION_REVISION, OPTION_DIR, OPTION_DRY_RUN, OPTION_LIST,
  OPTION_SOURCE, OPTION_VERDICT, OPTION_CHAPTER, OPTION_MAN,
  OPTION_COMPLETION, OPTION_QUIET, OPTION_HELP, N_OPTIONS };

/* a subcommand: its name; its operand, and how many of them it takes, least to most; what it
   does; an example that works as printed; what to do instead of giving an operand too many, or
   null */
struct subcommand_entry {
  const char *name, *operand, *words, *example, *instead;
  unsigned min, max;
};

/* a line of the table of subcommands */
const struct subcommand_entry *options_subcommand(enum subcommand sub);

struct option_entry;
struct option_value;

/* reads text as the value of option o into v; on failure a sentence that says what is wanted */
typedef bool option_reader(const struct option_entry *o, const char *text, struct option_value *v,
  struct error *why);

/* under which heading of the help an option stands */
enum option_group { GROUP_MODEL, GROUP_PROMPT, GROUP_LENGTH, GROUP_SAMPLING, GROUP_CONSTRAINTS,
  GROUP_SEARCH, GROUP_STOPPING, GROUP_NETWORK, GROUP_SCHEDULING, GROUP_LIMITS, GROUP_OUTPUT, N_OPTION_GROUPS };

/* the heading, as "Sampling" */
const char *options_group_name(enum option_group group);

/* how many other names an option may have */
enum { OPTIONS_ALIASES = 2 };

/* an option: its group; --name, perhaps others, --also, and -letter; the name of its value, null for a flag;
   what it does, and what holds without it; a bit for each subcommand; how its value is read,
   null if any text will do; the limits of an integer; the parameter of chapter 7
   that it sets, or null; and for some of the subcommands other words, or another default */
struct option_entry {
  enum option_group group;
  const char *name, *also[OPTIONS_ALIASES], *value, *words, *default_text;
  char letter;
  unsigned where;
  option_reader *read;
  uint64_t min, max;
  const struct sampling_option *setting;
  unsigned there;
  const char *there_words, *there_default;
};

/* a line of the table of options, or one that is made from a parameter of chapter 7 */
struct option_entry options_option(enum option number);

/* what an option does in a subcommand */
const char *option_words(const struct option_entry *o, enum subcommand sub);

/* how many letters a default may have */
enum { OPTIONS_MAX_TEXT = 400 };

/* and what holds there without it, or null; list is room for a default that is made here */
const char *option_default(const struct option_entry *o, enum subcommand sub,
  char list[OPTIONS_MAX_TEXT]);

/* how many values of repeated options a command line may have */
enum { OPTIONS_MAX_REPEATED = 64 };

/* how many operands a command line may have */
enum { OPTIONS_MAX_OPERANDS = 400 };

/* what was given of an option: the text, and its number if it has one */
struct option_value {
  bool given;
  const char *text;
  uint64_t count;
  double real;
};

/* what a command line says; all text belongs to argv; operand, the last of the operands, may be
   null; repeated has the values of those that may be given several times, in order */
struct command_line {
  enum subcommand sub;
  const char *operand, *operands[OPTIONS_MAX_OPERANDS];
  size_t n_operands;
  struct option_value of[N_OPTIONS];
  struct { enum option which; const char *text; } repeated[OPTIONS_MAX_REPEATED];
  size_t n_repeated;
};

/* reads a command line of at least one word after the program's name; on failure a sentence
   that names what is wrong and what is nearest */
bool options_parse(struct command_line *w, int argc, char **argv,
  struct error *why);

/* the parameter of chapter 7 that an option sets, and its stage unless that is null; null if it sets
   none */
const struct sampling_option *option_setting(enum option number, enum sample_stage *stage);

/* takes the next number of a list of counts from *at, which a reader has seen to be one, and steps
   over the comma or semicolon after it; false at the end */
bool options_next_count(const char **at, uint64_t *count);

/* a size: a number and a unit, 24GB or 22.5GiB, or a bare number from a million on; false if it is none */
bool options_parse_size(const char *text, uint64_t *bytes);

/* a pair of --logit-bias */
struct bias_pair { uint64_t id; double bias; };

/* takes the next pair ID=B from *at and steps over the comma or semicolon after it; false at the
   end, and where there is no pair: then **at is not the end */
bool options_next_bias(const char **at, struct bias_pair *pair);

/* the list of stages in text, with commas or semicolons between the names */
bool options_parse_samplers(const char *text, struct sampling_params *s,
  struct error *why);

/* the one of n names that was probably meant by word: the only one that begins with it, or else
   the one that can be made of it with the fewest letters changed, added, left out or exchanged
   with their neighbour, at most a third of its letters; null if there is none. Dashes before
   either are not counted */
const char *options_suggest(const char *word, const char *const *list, size_t n);

/* the sentence about an unknown name: what is wrong, and then the suggestion after its dashes
   or, if that is null, the line that lists all (as "help"). Always false */
bool options_unknown(struct error *why, const char *wrong, const char *dashes,
  const char *suggestion, const char *help);

/* reads ids separated by commas or semicolons; what is the option's name; an empty text is
   an empty list. Returns an exit status: STATUS_USAGE for what is no list of ids,
   STATUS_FAILED for memory; then list is empty */
int options_parse_ids(struct memory *m, const char *text, const char *what,
  struct ids *list, struct error *why);
#endif
