/* jinja_inside.h -- what the files of the interpreter share: values, the tree, a run.

   All that a run makes stays until its end, in one heap, so nothing here is freed singly and no value has an
   owner. Every function that can fail returns false after jinja_fail. */
#ifndef INCIPIT_TEMPLATES_JINJA_INSIDE_H
#define INCIPIT_TEMPLATES_JINJA_INSIDE_H
#include "templates/jinja.h"

/* what a value is; MISSING is a variable that has none, and is never seen by a template */
enum jinja_kind { JINJA_MISSING, JINJA_UNDEFINED, JINJA_NONE, JINJA_BOOL, JINJA_INT, JINJA_FLOAT, JINJA_TEXT,
  JINJA_LIST, JINJA_TUPLE, JINJA_DICT, JINJA_RANGE, JINJA_VIEW, JINJA_ITERATOR, JINJA_NAMESPACE, JINJA_MACRO,
  JINJA_FUNCTION, JINJA_METHOD, JINJA_LOOP };

/* text and its number of code points; never changed, the bytes may be another's */
struct jinja_text { const char *byte; size_t n, points; };

/* a value. safe: text that |safe has marked (Markup), or an undefined value because the sandbox forbids the
   attribute */
struct jinja_value {
  enum jinja_kind kind;
  bool safe;
  union {
    bool flag;
    int64_t n;
    double x;
    const struct jinja_text *text;
    struct jinja_list *list;
    struct jinja_dict *dict;
    const struct jinja_range *range;
    const struct jinja_view *view;
    struct jinja_iterator *iterator;
    const struct jinja_macro *macro;
    const struct jinja_method *method;
    const struct jinja_function *function;
    struct jinja_loop *loop;
  } as;
};

/* a list or a tuple; only its maker changes it */
struct jinja_list { struct jinja_value *item; size_t n, cap; };

/* key and value, in the order in which the keys came; table has their numbers + 1 by hash, once they are many */
struct jinja_pair { struct jinja_value key, value; uint64_t hash; };

/* n pairs */
struct jinja_dict { struct jinja_pair *pair; size_t n, cap; uint32_t *table; size_t slots; };

/* Python's range: first number, distance, how many */
struct jinja_range { int64_t from, step; size_t n; int64_t to; };

/* keys, values or items of a dictionary */
enum jinja_view_of { JINJA_KEYS, JINJA_VALUES, JINJA_ITEMS };

/* what items or keys or values are taken from */
struct jinja_view { const struct jinja_dict *dict; enum jinja_view_of of; };

/* what Python makes lazily and once: here made at once, with the error that would come after the last item */
struct jinja_iterator { struct jinja_list *list; size_t at; const char *failed; const char *name; };

/* a place for a variable: so many functions out, and which there */
struct jinja_place { uint32_t up, slot; };

/* the names of one block that has its own, and where each gets its value when the block begins */
enum jinja_load { JINJA_LOAD_PARAMETER, JINJA_LOAD_CONTEXT, JINJA_LOAD_OUTER, JINJA_LOAD_NOTHING };

/* a name of a block: its place, and where its first value comes from; stored: the block sets it */
struct jinja_symbol { uint32_t name, slot; enum jinja_load load; struct jinja_place outer; bool stored; };

/* the names of one block, and the block around it */
struct jinja_scope {
  struct jinja_scope *outer;
  struct jinja_slots *slots;
  struct jinja_symbol *symbol;
  size_t n, cap;
};

/* how many places the variables of a function need */
struct jinja_slots { struct jinja_slots *outer; uint32_t n; };

/* the tree. Expressions: a STEP applies something to what is on its left, and a CHAIN is a first value with its
   steps, so that long chains are no deep trees. Then arguments of calls, and statements */
enum jinja_node_kind {
  JINJA_CONST, JINJA_NAME, JINJA_LISTED, JINJA_TUPLED, JINJA_DICTED, JINJA_COND, JINJA_AND, JINJA_OR, JINJA_NOT,
  JINJA_COMPARE, JINJA_CONCAT, JINJA_SIGN, JINJA_CHAIN,
  JINJA_STEP_BINARY, JINJA_STEP_ATTRIBUTE, JINJA_STEP_ITEM, JINJA_STEP_SLICE, JINJA_STEP_CALL, JINJA_STEP_FILTER,
  JINJA_STEP_TEST,
  JINJA_ARGUMENT, JINJA_ARGUMENT_NAMED, JINJA_ARGUMENT_LIST, JINJA_ARGUMENT_DICT,
  JINJA_TARGET_ATTRIBUTE,
  JINJA_BLOCK, JINJA_OUTPUT, JINJA_IF, JINJA_FOR, JINJA_SET, JINJA_SET_BLOCK, JINJA_MACRO_DEFINED, JINJA_CALL_BLOCK,
  JINJA_FILTER_BLOCK, JINJA_WITH, JINJA_BREAK, JINJA_CONTINUE, JINJA_GENERATION };

/* op: an operator, as its characters packed by JINJA_OP, or a count. a, b, c and list: parts, as the parser's function
   for the kind says. special: where caller, kwargs and varargs are. soft: within an if, so that an unknown filter errs only when it is reached */
struct jinja_node {
  enum jinja_node_kind kind;
  bool soft, uses_loop, uses_caller, uses_kwargs, uses_varargs;
  uint32_t line, name, op;
  struct jinja_place place, special[3];
  struct jinja_value value;
  struct jinja_node *a, *b, *c;
  struct jinja_node **list;
  size_t n, cap;
  struct jinja_scope *scope, *other;
};

#define JINJA_OP(a, b) ((uint32_t) (a) | (uint32_t) (b) << 8)

/* the places of one call, and those of the function around it */
struct jinja_activation { struct jinja_activation *outer; struct jinja_value *slot; };

/* a macro, or the body of a call block */
struct jinja_macro { const struct jinja_node *node; struct jinja_activation *outer; };

/* arguments of a call: first those by place, then those by name */
struct jinja_named { struct jinja_value value; const struct jinja_text *name; };

/* n by place, n_named by name */
struct jinja_call { struct jinja_value *item; size_t n; struct jinja_named *named; size_t n_named; };

struct jinja_run;
/* a method of a type of values, by name, and how many arguments it takes; null: Python has it and we do not, or, with most
   0, the sandbox forbids it */
struct jinja_method_row {
  const char *name;
  bool (*call)(struct jinja_run *r, const struct jinja_value *self, const struct jinja_call *c,
    struct jinja_value *out);
  unsigned least, most;
};

/* a method and the value that it belongs to */
struct jinja_method { struct jinja_value self; const struct jinja_method_row *row; };

/* a function that every template sees; needs is below most arguments by place */
struct jinja_function {
  const char *name;
  bool (*call)(struct jinja_run *r, const struct jinja_call *c, struct jinja_value *out);
};

/* a loop that runs; after: the item that was looked at ahead, if there is one; pull: takes the next that the condition lets through */
struct jinja_loop {
  bool (*pull)(struct jinja_run *r, struct jinja_loop *l, struct jinja_value *out, bool *some);
  const struct jinja_node *node;
  struct jinja_activation *act;
  struct jinja_value of;
  size_t at;
  int64_t index0, known_length;
  struct jinja_value before, current, after;
  bool has_after, ended;
  struct jinja_list *changed;
};

/* text on its way out; said: which bytes a speaker said, where an account is kept */
struct jinja_output { unsigned char *byte; size_t n, cap, points; unsigned char *said; size_t cap_said; };

/* n bytes behind it, of which used are taken. Letters have as many behind them again, where an account is kept: for each whether
   a speaker said it */
struct jinja_block { struct jinja_block *next; size_t n, used; };

/* a run: its memory, its limits, its output. names: the words of the source, context: their values */
struct jinja_run {
  struct memory *m;
  struct error *why;
  struct jinja_block *block, *letters;
  size_t bytes, steps, depth, calls;
  bool fatal, account;
  const struct jinja_text **names;
  size_t n_names, cap_names;
  uint32_t *name_table;
  size_t name_slots;
  struct jinja_value *context;
  struct jinja_output *out, *root;
  struct jinja_answer *answer;
  const char *now;
  uint32_t line;
};

/* ---- memory and limits: jinja_heap.c ---- */

/* says what is wrong; always false */
bool jinja_fail(struct jinja_run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* the same where Python would not go on either, whoever listens: a limit */
bool jinja_limit(struct jinja_run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* zeroed room until the run ends; null after jinja_limit */
void *jinja_room(struct jinja_run *r, size_t n, size_t size);

/* counts so many steps */
bool jinja_steps(struct jinja_run *r, size_t n);

/* goes one level deeper; false if that is too deep. Each true wants r->depth-- */
bool jinja_deeper(struct jinja_run *r);

/* a text of n bytes to be written before anything else is made */
char *jinja_letters(struct jinja_run *r, size_t n);

/* writes them there, with the account of who said them */
void jinja_put_letters(struct jinja_run *r, char *to, const char *from, size_t n);

/* accounts for a text that a speaker said */
void jinja_said(struct jinja_run *r, const struct jinja_text *t);

/* the text of these bytes, which live as long as the run */
bool jinja_text_of(struct jinja_run *r, const char *byte, size_t n, struct jinja_value *out);

/* a copy of them */
bool jinja_text_copy(struct jinja_run *r, const char *byte, size_t n, struct jinja_value *out);

/* one text after another; the first grows in place if nothing was written behind it */
bool jinja_text_join(struct jinja_run *r, const struct jinja_text *a, const struct jinja_text *b,
  struct jinja_value *out);

/* frees all */
void jinja_heap_free(struct jinja_run *r);

/* appends to an output; jinja_output_text makes a value of it */
bool jinja_write(struct jinja_run *r, struct jinja_output *o, const char *byte, size_t n);

/* the same, of bytes that stand for the one at from: whoever said that has said them */
bool jinja_write_for(struct jinja_run *r, struct jinja_output *o, const char *byte, size_t n, const char *from);

/* whoever said any of this text has said all of that output, which was written by its directions */
void jinja_directed(struct jinja_run *r, struct jinja_output *o, const struct jinja_text *by);

/* the same of a text */
bool jinja_write_text(struct jinja_run *r, struct jinja_output *o, const struct jinja_text *t);

/* what it holds, as a value */
bool jinja_output_text(struct jinja_run *r, const struct jinja_output *o, struct jinja_value *out);

/* frees its room */
void jinja_output_free(struct jinja_run *r, struct jinja_output *o);

/* the number of a name; equal texts have equal numbers */
bool jinja_intern(struct jinja_run *r, const char *byte, size_t n, uint32_t *id);

/* ---- values: jinja_value.c ---- */

/* Python's None */
static inline struct jinja_value jinja_none(void)
{
  return (struct jinja_value) { .kind = JINJA_NONE };
}

/* a truth value */
static inline struct jinja_value jinja_bool(bool b)
{
  return (struct jinja_value) { .kind = JINJA_BOOL, .as.flag = b };
}

/* an integer */
static inline struct jinja_value jinja_int(int64_t n)
{
  return (struct jinja_value) { .kind = JINJA_INT, .as.n = n };
}

/* a double */
static inline struct jinja_value jinja_float(double x)
{
  return (struct jinja_value) { .kind = JINJA_FLOAT, .as.x = x };
}

/* what there is not */
static inline struct jinja_value jinja_undefined(void)
{
  return (struct jinja_value) { .kind = JINJA_UNDEFINED };
}

/* a text that is a constant of ours */
bool jinja_words(struct jinja_run *r, const char *words, struct jinja_value *out);

/* Python's name for the kind, for messages */
const char *jinja_kind_name(const struct jinja_value *v);

/* new and empty; push appends */
struct jinja_list *jinja_list_new(struct jinja_run *r, size_t cap);

/* one more item */
bool jinja_push(struct jinja_run *r, struct jinja_list *l, struct jinja_value v);

/* a list or a tuple as a value */
static inline struct jinja_value jinja_listed(enum jinja_kind kind, struct jinja_list *l)
{
  return (struct jinja_value) { .kind = kind, .as.list = l };
}

/* a dictionary: new, set (errs if the key cannot be hashed), find (null if absent) */
struct jinja_dict *jinja_dict_new(struct jinja_run *r);

/* a key gets a value; errs if it cannot be hashed */
bool jinja_dict_set(struct jinja_run *r, struct jinja_dict *d, struct jinja_value key, struct jinja_value v);

/* the value of a key, null if there is none */
bool jinja_dict_get(struct jinja_run *r, const struct jinja_dict *d, struct jinja_value key, const struct jinja_value **v);

/* the same for n bytes of text */
const struct jinja_value *jinja_dict_word(const struct jinja_dict *d, const char *word, size_t n);

/* a dictionary as a value */
static inline struct jinja_value jinja_dicted(struct jinja_dict *d)
{
  return (struct jinja_value) { .kind = JINJA_DICT, .as.dict = d };
}

/* a value of JSON */
bool jinja_from_json(struct jinja_run *r, json_t *j, struct jinja_value *out);

/* bool(v); an undefined value is false */
bool jinja_true(const struct jinja_value *v);

/* a == b, a < b; errs where Python errs, or values are nested too deeply */
bool jinja_equal(struct jinja_run *r, const struct jinja_value *a, const struct jinja_value *b, bool *same);

/* the order of two, -1, 0 or 1, and 2 if there is none; op is for the message */
bool jinja_less(struct jinja_run *r, const struct jinja_value *a, const struct jinja_value *b, const char *op, int *order);

/* the first byte, from byte from on, where what begins in that; more than its length if nowhere */
bool jinja_find(struct jinja_run *r, const struct jinja_text *in, size_t from, const struct jinja_text *what, size_t *at);

/* is it in that? */
bool jinja_contains(struct jinja_run *r, const struct jinja_value *in, const struct jinja_value *v, bool *found);

/* the number of items, or an error */
bool jinja_length(struct jinja_run *r, const struct jinja_value *v, int64_t *n);

/* item number *at of anything that can be gone through, and *at moves on; *some false after the last */
bool jinja_next(struct jinja_run *r, struct jinja_value *of, size_t *at, struct jinja_value *out, bool *some);

/* can it be gone through? */
bool jinja_iterable(const struct jinja_value *v);

/* all items; the list may be the value's own and is not to be changed */
bool jinja_items(struct jinja_run *r, const struct jinja_value *v, struct jinja_list **out);

/* the code point that begins at byte, and its length */
size_t jinja_point(const char *byte, size_t n, uint32_t *point);

/* the byte at which code point number k begins */
size_t jinja_byte_of(struct jinja_run *r, const struct jinja_text *t, size_t k);

/* text of code points from, ..., to - 1 */
bool jinja_part(struct jinja_run *r, const struct jinja_text *t, size_t from, size_t to, struct jinja_value *out);

/* an integer or a truth value as an integer */
bool jinja_integer(const struct jinja_value *v, int64_t *n);

/* ---- printing: jinja_print.c ---- */

/* str(v) and repr(v), written to an output; the first as a value */
bool jinja_print(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *v);

/* as in a list */
bool jinja_repr(struct jinja_run *r, struct jinja_output *o, const struct jinja_value *v);

/* as a value */
bool jinja_str(struct jinja_run *r, const struct jinja_value *v, struct jinja_value *out);

/* a double as Python's repr */
enum { JINJA_FLOAT_MAX = 40 };

/* returns its length */
size_t jinja_float_repr(double x, char buffer[JINJA_FLOAT_MAX]);

/* json.dumps with the library's four settings */
bool jinja_tojson(struct jinja_run *r, const struct jinja_value *v, const struct jinja_call *c, struct jinja_value *out);

/* HTML's five characters; safe text as it is */
bool jinja_escape(struct jinja_run *r, const struct jinja_value *v, struct jinja_value *out);

/* Python's % of a text, and str.format */
bool jinja_percent(struct jinja_run *r, const struct jinja_value *format, const struct jinja_value *with,
  struct jinja_value *out);

/* str.format */
bool jinja_braces(struct jinja_run *r, const struct jinja_text *format, const struct jinja_call *c,
  struct jinja_value *out);

/* ---- letters: jinja_letters.c ---- */

/* what becomes of letters */
enum jinja_case { JINJA_UPPER, JINJA_LOWER, JINJA_TITLE, JINJA_CAPITALIZE, JINJA_SWAP };

/* a text with its letters changed */
bool jinja_change_case(struct jinja_run *r, const struct jinja_value *v, enum jinja_case how, struct jinja_value *out);

/* what Python strips */
bool jinja_blank(uint32_t point);

/* what repr leaves as it is */
bool jinja_printable(uint32_t point);

/* may it be in a name, or begin one? */
bool jinja_name_point(uint32_t point, bool first);
/* is every cased letter of this kind, and is there one? */
bool jinja_is_case(const struct jinja_text *t, enum jinja_case how);
/* are all, and is there one: letters, digits, blanks? */
enum jinja_class { JINJA_ALPHA, JINJA_DIGIT, JINJA_ALNUM, JINJA_SPACE };

/* are all of this class, and is there one? */
bool jinja_is_class(const struct jinja_text *t, enum jinja_class what);

/* ---- the tree: jinja_lex.c, jinja_parse.c, jinja_names.c ---- */

/* kinds of tokens */
enum jinja_token_kind { JINJA_T_DATA, JINJA_T_VARIABLE, JINJA_T_VARIABLE_END, JINJA_T_BLOCK, JINJA_T_BLOCK_END,
  JINJA_T_NAME, JINJA_T_STRING, JINJA_T_INTEGER, JINJA_T_FLOAT, JINJA_T_OPERATOR, JINJA_T_END };

/* n bytes of data or of a name; op of an operator; value of a string or a number */
struct jinja_token { enum jinja_token_kind kind; uint32_t line, op; const char *byte; size_t n; struct jinja_value value; };

/* in text, or within one of two tags */
enum jinja_state { JINJA_S_TEXT, JINJA_S_VARIABLE, JINJA_S_BLOCK };

/* at is what comes next; held, if pending, comes before it; bracket has those that are open */
struct jinja_lexer {
  struct jinja_run *r;
  const char *source;
  size_t n, at;
  uint32_t line;
  enum jinja_state state;
  bool line_starting, raw;
  char bracket[JINJA_MAX_NESTED + 1];
  size_t brackets;
  bool pending;
  struct jinja_token held;
};
/* a copy of the source with line ends as Jinja sees them */
bool jinja_lexer_open(struct jinja_lexer *x, struct jinja_run *r, const char *source, size_t n);

/* the next token */
bool jinja_lex(struct jinja_lexer *x, struct jinja_token *t);

/* the tree of a source; slots says how much the outermost function needs */
struct jinja_node *jinja_parse(struct jinja_run *r, const char *source, size_t n);

/* gives every name of a tree its place */
bool jinja_resolve(struct jinja_run *r, struct jinja_node *root);

/* ---- running: jinja_run.c, jinja_operators.c, jinja_attributes.c, jinja_filters.c, jinja_tests.c ---- */

/* runs a tree */
bool jinja_execute(struct jinja_run *r, const struct jinja_node *root);

/* the value of an expression */
bool jinja_eval(struct jinja_run *r, struct jinja_activation *act, const struct jinja_node *e, struct jinja_value *out);

/* a op b */
bool jinja_binary(struct jinja_run *r, uint32_t op, const struct jinja_value *a, const struct jinja_value *b,
  struct jinja_value *out);

/* -a, +a */
bool jinja_sign(struct jinja_run *r, uint32_t op, const struct jinja_value *a, struct jinja_value *out);

/* a op b, a truth value; in and not in are i and n */
bool jinja_compare(struct jinja_run *r, uint32_t op, const struct jinja_value *a, const struct jinja_value *b, bool *out);

/* what stands behind a dot */
bool jinja_attribute(struct jinja_run *r, const struct jinja_value *of, const struct jinja_text *name, struct jinja_value *out);

/* what stands in brackets */
bool jinja_item(struct jinja_run *r, const struct jinja_value *of, const struct jinja_value *key, struct jinja_value *out);
/* bounds may be MISSING */
bool jinja_slice(struct jinja_run *r, const struct jinja_value *of, const struct jinja_value bound[3], struct jinja_value *out);

/* calls f */
bool jinja_invoke(struct jinja_run *r, const struct jinja_value *f, const struct jinja_call *c, struct jinja_value *out);

/* a filter or a test by name; false if there is none, known or not says whether Jinja has one */
bool jinja_filter_known(const char *name, size_t n);

/* the same of a test */
bool jinja_test_known(const char *name, size_t n);

/* v|name(c) */
bool jinja_filter(struct jinja_run *r, const struct jinja_text *name, const struct jinja_value *v, const struct jinja_call *c,
  struct jinja_value *out);

/* v is name(c) */
bool jinja_test(struct jinja_run *r, const struct jinja_text *name, const struct jinja_value *v, const struct jinja_call *c,
  bool *out);

/* parts of methods that filters have, too */
bool jinja_strip(struct jinja_run *r, const struct jinja_value *v, const struct jinja_text *set, struct jinja_value *out);

/* most times, all if it is negative */
bool jinja_replace(struct jinja_run *r, const struct jinja_text *t, const struct jinja_text *old, const struct jinja_text *new,
  int64_t most, struct jinja_value *out);

/* with so many fill characters on both sides */
bool jinja_pad(struct jinja_run *r, const struct jinja_text *t, size_t left, size_t right, const struct jinja_text *fill,
  struct jinja_value *out);

/* the lines of a text, with their ends if kept */
bool jinja_lines(struct jinja_run *r, const struct jinja_value *v, bool kept, struct jinja_list **out);

/* in the middle of a width */
bool jinja_center(struct jinja_run *r, const struct jinja_value *v, const struct jinja_value *width, struct jinja_value *out);

/* the next turn of a loop; *some false after the last */
bool jinja_advance(struct jinja_run *r, struct jinja_loop *l, bool *some);

/* attributes of a loop; *there false: it has none of this name */
bool jinja_loop_attribute(struct jinja_run *r, struct jinja_loop *l, const struct jinja_text *name, struct jinja_value *out,
  bool *there);

/* a function that every template sees; null if there is none */
const struct jinja_function *jinja_function_named(const char *name, size_t n);

/* the run's time in a format */
bool jinja_strftime(struct jinja_run *r, const struct jinja_text *format, struct jinja_value *out);

/* argument number i, or the one of this name; null if there is none */
const struct jinja_value *jinja_argument(const struct jinja_call *c, size_t i, const char *name);
/* errs if there are more than so many by place, or names that are not in this list, which ends with null */
bool jinja_arguments(struct jinja_run *r, const char *what, const struct jinja_call *c, size_t least, size_t most,
  const char *const *names);

/* are these its bytes? */
static inline bool jinja_is(const struct jinja_text *t, const char *word, size_t n)
{
  return t->n == n && __builtin_memcmp(t->byte, word, n) == 0;
}
#define JINJA_IS(t, word) jinja_is(t, word, sizeof word - 1)
#endif
