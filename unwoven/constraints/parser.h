/* parser.h -- a tree for each pattern or rule, and what the two parsers share.

   Patterns and grammars differ more in notation than in what they can say, so both become
   the same abstract syntax trees, of six kinds of nodes. All nodes of a text are in one
   list, and the number of a node serves as a pointer. */

#ifndef INCIPIT_PARSER_H
#define INCIPIT_PARSER_H
#include "ground/ground.h"

/* characters lo to hi, both included */
struct code_range { uint32_t lo, hi; };

/* what struct ast_node says of each */
enum ast_kind { AST_EMPTY, AST_SET, AST_BOTH, AST_EITHER,
  AST_TIMES, AST_CALL };

/* SET: b ranges from number a on; BOTH: a, then b; EITHER: one of the two; TIMES: a,
   min to max times; CALL: rule a */
struct ast_node { enum ast_kind kind; uint32_t a, b, min, max; };
#define NO_AST_NODE UINT32_MAX
#define PARSER_FOREVER UINT32_MAX
#define PARSER_LAST_POINT 0x10ffff

/* n elements in a block for cap; all zero is empty. The user of the list knows the
   elements' size and type, which the compiler cannot check: that is the price of writing
   the function once, and each list is used in few places. */
struct array { void *block; size_t n, cap; };

/* a new element of size bytes at the end, zeroed; NULL and a sentence if memory is
   refused: the list is as it was */
void *array_push(struct memory *m, struct array *l, size_t size,
  struct error *why);

/* frees the block and empties the list */
void array_free(struct memory *m, struct array *l);

/* limits: nesting, repetition counts, bytes of a pattern or grammar */
enum { PARSER_MAX_DEPTH = 100, PARSER_MAX_TIMES = 1000, PARSER_MAX_TEXT = 1 << 20 };

/* Byte at of n is next. name begins each message: the grammar's file, or the words "the
   pattern"; lines: messages name lines, not bytes. depth counts parentheses, which are read
   by functions that call themselves, so that a text of nothing but parentheses does not
   overflow the stack. */
struct parser { struct memory *m; const char *name; const unsigned char *text;
  size_t n, at, depth; bool lines; struct array nodes, ranges;
  struct error *why; };

/* checks the whole text first: false and a sentence if it is not UTF-8, or too long;
   text must outlive the parser */
bool parser_begin(struct parser *r, struct memory *m, const char *name,
  const char *text, size_t n, struct error *why);

/* frees the lists */
void parser_end(struct parser *r);

/* says what is wrong at byte at; always NO_AST_NODE */
uint32_t parser_refuse(struct parser *r, size_t at, const char *what);

/* its number, or NO_AST_NODE */
uint32_t parser_node(struct parser *r, struct ast_node s);

/* BOTH or EITHER; NO_AST_NODE if either is that */
uint32_t parser_join(struct parser *r, enum ast_kind kind, uint32_t a,
  uint32_t b);

/* reads one character and returns it */
uint32_t parser_point(struct parser *r);

/* a character given by its number, in hexadecimal digits; false and a sentence if no
   character has it */
bool parser_hex(struct parser *r, size_t min, size_t max,
  uint32_t *point);

/* node s, repeated as the text here says: by nothing, ?, *, +, or a count in braces */
uint32_t parser_times(struct parser *r, uint32_t s);

/* adds one range */
bool parser_range(struct parser *r, uint32_t lo, uint32_t hi);

/* the set of all ranges from number from on, or of all other characters */
uint32_t parser_set(struct parser *r, size_t from, bool negated);

/* a name of n bytes in the text, where it first occurs, and what it stands for, or
   NO_AST_NODE */
struct grammar_rule { const unsigned char *name; size_t n, at; uint32_t means; };

/* the tree of the whole pattern, or NO_AST_NODE and a sentence */
uint32_t parser_pattern(struct parser *r);

/* puts a struct grammar_rule for every name into the list, which the caller frees even if it
   fails; *root: the number of the rule root */
bool parser_grammar(struct parser *r, struct array *rules, uint32_t *root);
#endif
