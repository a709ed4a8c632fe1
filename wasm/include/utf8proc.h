/* utf8proc.h -- in place of the library utf8proc, whose tables are a third of a megabyte.

   The engine asks it for the normal form of a text, and whether a character belongs to a word. The
   built-in tokenizer has no normal form and no token that must be a word; wasm/snapshot.c refuses
   to make an engine for one that has. So none of these is ever called, and each ends the program. */

#ifndef INCIPIT_WASM_UTF8PROC_H
#define INCIPIT_WASM_UTF8PROC_H
#include <stddef.h>
#include <stdint.h>

typedef int32_t utf8proc_int32_t;
typedef ptrdiff_t utf8proc_ssize_t;
typedef uint8_t utf8proc_uint8_t;
typedef struct { int combining_class; } utf8proc_property_t;
typedef int utf8proc_option_t;
enum { UTF8PROC_STABLE = 2, UTF8PROC_COMPAT = 4, UTF8PROC_COMPOSE = 8, UTF8PROC_DECOMPOSE = 16 };
typedef enum { UTF8PROC_CATEGORY_CN, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LT, UTF8PROC_CATEGORY_LM,
  UTF8PROC_CATEGORY_LO, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_MC, UTF8PROC_CATEGORY_ME,
  UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NL, UTF8PROC_CATEGORY_NO, UTF8PROC_CATEGORY_PC,
  UTF8PROC_CATEGORY_PD, UTF8PROC_CATEGORY_PS, UTF8PROC_CATEGORY_PE, UTF8PROC_CATEGORY_PI,
  UTF8PROC_CATEGORY_PF, UTF8PROC_CATEGORY_PO, UTF8PROC_CATEGORY_SM, UTF8PROC_CATEGORY_SC,
  UTF8PROC_CATEGORY_SK, UTF8PROC_CATEGORY_SO, UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZL,
  UTF8PROC_CATEGORY_ZP, UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CF, UTF8PROC_CATEGORY_CS,
  UTF8PROC_CATEGORY_CO } utf8proc_category_t;

static inline utf8proc_category_t utf8proc_category(utf8proc_int32_t c) { (void) c; __builtin_trap(); }
static inline const utf8proc_property_t *utf8proc_get_property(utf8proc_int32_t c)
{ (void) c; __builtin_trap(); }
static inline utf8proc_ssize_t utf8proc_decompose_char(utf8proc_int32_t c, utf8proc_int32_t *to,
  utf8proc_ssize_t n, utf8proc_option_t o, int *last)
{ (void) c; (void) to; (void) n; (void) o; (void) last; __builtin_trap(); }
static inline utf8proc_ssize_t utf8proc_normalize_utf32(utf8proc_int32_t *x, utf8proc_ssize_t n,
  utf8proc_option_t o)
{ (void) x; (void) n; (void) o; __builtin_trap(); }
static inline utf8proc_ssize_t utf8proc_encode_char(utf8proc_int32_t c, utf8proc_uint8_t *to)
{ (void) c; (void) to; __builtin_trap(); }
static inline utf8proc_int32_t utf8proc_tolower(utf8proc_int32_t c) { (void) c; __builtin_trap(); }
static inline int utf8proc_grapheme_break_stateful(utf8proc_int32_t a, utf8proc_int32_t b,
  utf8proc_int32_t *before)
{ (void) a; (void) b; (void) before; __builtin_trap(); }
static inline const char *utf8proc_unicode_version(void) { return "none"; }
#endif
