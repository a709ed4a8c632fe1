/* GGUF files: the description of a file and its defects, the vectors of the format, models with
   their golden logits, tokenizers with their golden ids. */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include "variants.h"
#include "remote.h"
#include "gguf/gguf.h"
#include "gguf/writing.h"
#include "tokenizer-json/gguf_patterns.h"
#include "safetensors/tensor_file.h"
#include "templates/conversations.h"
#include "tokenizer/tokenizer.h"

/* ---- files, written in a small language: words between blanks.  N=X: the number X in N bytes;
   "text": its length in 8 bytes, and the text; 'text: the text alone; pN: zeros up to a multiple
   of N; zN: N zeros; xHH..: bytes.  In texts _ is a blank and \0 a zero */
struct written {
  unsigned char *byte;
  size_t n;
};
static void put(struct written *f, const void *byte, size_t n)
{
  f->byte = realloc(f->byte, f->n + n + 1);
  if (n > 0) memcpy(f->byte + f->n, byte, n);
  f->n += n;
}
static void put_number(struct written *f, size_t n, uint64_t x)
{
  unsigned char byte[8];
  for (size_t i = 0; i < n; i++) byte[i] = (unsigned char) (x >> 8 * i);
  put(f, byte, n);
}
static void put_text(struct written *f, const char *s, size_t n)
{
  char text[600];
  size_t k = 0;
  for (size_t i = 0; i < n; i++) {
    bool zero = s[i] == '\\' && i + 1 < n && s[i + 1] == '0';
    text[k++] = zero ? '\0' : s[i] == '_' ? ' ' : s[i] == '~' ? '_' : s[i];
    i += zero;
  }
  put(f, text, k);
}
static size_t text_length(const char *s, size_t n)
{
  size_t k = n;
  for (size_t i = 0; i + 1 < n; i++) k -= s[i] == '\\' && s[i + 1] == '0';
  return k;
}
static struct written compose(const char *spec)
{
  struct written f = { calloc(1, 1), 0 };
  unsigned char zero[64] = { 0 };
  for (const char *s = spec; *s != '\0';) {
    size_t n = strcspn(s, " ");
    if (*s == '"') put_number(&f, 8, text_length(s + 1, n - 2)), put_text(&f, s + 1, n - 2);
    else if (*s == '\'') put_text(&f, s + 1, n - 1);
    else if (*s == 'p') while (f.n % (size_t) atoi(s + 1) != 0) put(&f, zero, 1);
    else if (*s == 'z') for (int i = atoi(s + 1); i > 0; i--) put(&f, zero, 1);
    else if (*s == 'x') for (size_t i = 1; i + 1 < n; i += 2) {
      char two[3] = { s[i], s[i + 1], 0 };
      put_number(&f, 1, strtoul(two, NULL, 16));
    }
    else if (n > 0) put_number(&f, (size_t) (s[0] - '0'), strtoull(s + 2, NULL, 0));
    s += n + (s[n] == ' ');
  }
  return f;
}
static const char *room(void)
{
  static char dir[200];
  const char *t = getenv("TMPDIR");
  if (dir[0] != '\0') return dir;
  snprintf(dir, sizeof dir, "%s/incipit-gguf-XXXXXX", t ? t : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  return dir;
}
static char *in_room(char path[400], const char *name)
{
  snprintf(path, 400, "%s/%s", room(), name);
  return path;
}
static void leave(void)
{
  variant_drop(room());
}

/* ---- the description and its defects */
#define LEVELS7 "4=9 8=1 4=9 8=1 4=9 8=1 4=9 8=1 4=9 8=1 4=9 8=1 4=9 8=1 "
#define HEAD(tensors, keys) "'GGUF 4=3 8=" #tensors " 8=" #keys " "
#define A "\"a\" 4=2 8=5 8=3 4=1 8=0 "
#define B "\"b\" 4=1 8=4 4=0 8=32 "
#define DATA "p32 z30 p32 z16"
#define LONG64 "\"a123456789b123456789c123456789d123456789e123456789f123456789g123\""
#define LONG63 "\"a123456789b123456789c123456789d123456789e123456789f123456789g12\""
static const struct {
  const char *what, *spec, *words; /* null: it is accepted */
} defect[] = {
  { "two tensors", HEAD(2, 0) A B DATA, NULL },
  { "no tensors, no keys", HEAD(0, 0), NULL },
  { "version 2", "'GGUF 4=2 8=2 8=0 " A B DATA, NULL },
  { "an alignment of 64", HEAD(2, 1) "\"general.alignment\" 4=4 4=64 " A "\"b\" 4=1 8=4 4=0 8=64 p64 z30 p64 z16", NULL },
  { "an alignment of 1", HEAD(2, 1) "\"general.alignment\" 4=4 4=1 " A "\"b\" 4=1 8=4 4=0 8=30 z30 z16", NULL },
  { "padding at the end", HEAD(2, 0) A B DATA " p32", NULL },
  { "something after the end", HEAD(2, 0) A B DATA " z99", NULL },
  { "no dimensions", HEAD(1, 0) "\"a\" 4=0 4=0 8=0 p32 z4", NULL },
  { "four dimensions", HEAD(1, 0) "\"a\" 4=4 8=1 8=2 8=3 8=1 4=24 8=0 p32 z6", NULL },
  { "an empty tensor", HEAD(2, 0) "\"a\" 4=2 8=0 8=7 4=0 8=0 \"b\" 4=1 8=1 4=0 8=0 p32 z4", NULL },
  { "a name of 63 letters", HEAD(1, 0) LONG63 " 4=1 8=1 4=0 8=0 p32 z4", NULL },
  { "all scalars",
    HEAD(0, 12) "\"a\" 4=0 1=7 \"b\" 4=1 1=0xff \"c\" 4=2 2=7 \"d\" 4=3 2=7 \"e\" 4=4 4=7 \"f\" 4=5 4=7 \"g\" 4=6 "
                "4=0x3f800000 \"h\" 4=7 1=1 \"i\" 4=8 \"text\" \"j\" 4=10 8=7 \"k\" 4=11 8=7 \"l\" 4=12 8=0",
    NULL },
  { "arrays", HEAD(0, 4) "\"a\" 4=9 4=0 8=3 'abc \"b\" 4=9 4=8 8=2 \"\" \"xy\" \"c\" 4=9 4=7 8=2 1=0 1=1 \"d\" 4=9 4=12 8=0", NULL },
  { "arrays of arrays", HEAD(0, 2) "\"a.b\" 4=9 4=9 8=2 4=4 8=2 4=1 4=2 4=8 8=1 \"text\" \"c.d\" 4=9 4=9 8=1 4=9 8=2 4=0 8=1 1=7 4=9 8=0", NULL },
  { "eight levels", HEAD(0, 1) "\"a.b\" 4=9 " LEVELS7 "4=0 8=1 1=7", NULL },
  { "an empty string", HEAD(0, 1) "\"a\" 4=8 \"\"", NULL },
  { "blocks", HEAD(1, 0) "\"a\" 4=2 8=64 8=2 4=8 8=0 p32 z136", NULL },
  { "blocks that only ggml multiplies", HEAD(1, 0) "\"a\" 4=1 8=256 4=23 8=0 p32 z136", NULL },
  { "empty", "", "the beginning is something else; wanted: the four letters" },
  { "three letters", "'GGU", "the beginning is something else" },
  { "other letters", "'GGUE 4=3 8=0 8=0", "the beginning is something else" },
  { "no version", "'GGUF 2=3", "the beginning is cut off" },
  { "version 0", "'GGUF 4=0 8=0 8=0", "the version is 0; wanted: 2 or 3, little endian" },
  { "version 1", "'GGUF 4=1 4=0 4=0", "the version is 1, which has lengths of 32 bits" },
  { "version 4", "'GGUF 4=4 8=0 8=0", "the version is 4; wanted" },
  { "big-endian", "'GGUF x00000003 z16", "the version is 50331648, written by a big-endian machine" },
  { "no count of tensors", "'GGUF 4=3 4=0", "the number of tensors is cut off" },
  { "no count of keys", "'GGUF 4=3 8=0 4=0", "the number of keys is cut off" },
  { "2^63 tensors", HEAD(0x8000000000000000, 0), "the number of tensors is 9223372036854775808; wanted: at most 0" },
  { "one tensor more than bytes", HEAD(3, 0) "z74", "the number of tensors is 3; wanted: at most 2" },
  { "tensors that keys leave no room for", HEAD(3, 1) "\"a\" 4=8 \"" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" "\" z74", "the number of tensors is 3; wanted: at most 2" },
  { "2^64-1 keys", HEAD(0, 0xffffffffffffffff), "the number of keys is 18446744073709551615; wanted: at most 0" },
  { "one key more than bytes", HEAD(0, 2) "\"a\" 4=0 1=0 z10", "the number of keys is 2; wanted: at most 1" },
  { "an empty key", HEAD(0, 1) "\"\" 4=4 4=0", "key 1 is without a name; wanted: a name of 1 to 65535 bytes" },
  { "a key with a zero", HEAD(0, 1) "\"a\\0b\" 4=4 4=0", "key 1 is one with a zero in its name" },
  { "a key past the end", HEAD(0, 1) "8=0xffffffffffffffff 'a 4=4 4=0", "key 1 is a string of 18446744073709551615 bytes; wanted: at most 9" },
  { "a key just past the end", HEAD(0, 1) "8=10 'a 4=4 4=0", "key 1 is a string of 10 bytes; wanted: at most 9" },
  { "a key twice", HEAD(0, 2) "\"abc\" 4=4 4=0 \"abc\" 4=4 4=1", "abc is given twice; wanted: each key once" },
  { "a key twice among others", HEAD(0, 3) "\"b\" 4=4 4=0 \"a\" 4=4 4=1 \"b\" 4=0 1=0", "b is given twice" },
  { "no value", HEAD(0, 1) "\"abc\" 4=11 4=0", "abc is cut off by the end" },
  { "an unknown type", HEAD(0, 1) "\"abc\" 4=13 4=0", "abc is a value of type 13; wanted: a type from 0 to 12" },
  { "an array of an unknown type", HEAD(0, 1) "\"abc\" 4=9 4=99 8=0", "abc is a value of type 99" },
  { "nine levels", HEAD(0, 1) "\"a.b\" 4=9 " LEVELS7 "4=9 8=1 4=0 8=1 1=7", "a.b is an array of arrays; wanted: a key with a namespace, and at most 8 levels" },
  { "an array of arrays without a namespace", HEAD(0, 1) "\"abc\" 4=9 4=9 8=1 4=0 8=0", "abc is an array of arrays; wanted: a key with a namespace" },
  { "an array of 2^60 arrays", HEAD(0, 1) "\"a.b\" 4=9 4=9 8=0x1000000000000000 z26", "a.b is an array of 1152921504606846976; wanted: at most 2" },
  { "an array within one past the end", HEAD(0, 1) "\"a.b\" 4=9 4=9 8=1 4=4 8=3 z11", "a.b is an array of 3; wanted: at most 2" },
  { "a type within an array of arrays", HEAD(0, 1) "\"a.b\" 4=9 4=9 8=1 4=13 8=0", "a.b is a value of type 13" },
  { "a truth value of 2", HEAD(0, 1) "\"abc\" 4=7 1=2", "abc is a truth value that is neither; wanted: 0 or 1" },
  { "a truth value of 2 in an array", HEAD(0, 1) "\"abc\" 4=9 4=7 8=3 1=0 1=1 1=2", "abc is a truth value" },
  { "a long array", HEAD(0, 1) "\"abc\" 4=9 4=4 8=3 z11", "abc is an array of 3; wanted: at most 2" },
  { "2^62 numbers", HEAD(0, 1) "\"abc\" 4=9 4=4 8=0x4000000000000000 z64", "abc is an array of 4611686018427387904; wanted: at most 16" },
  { "2^61+1 numbers", HEAD(0, 1) "\"abc\" 4=9 4=10 8=0x2000000000000001 z64", "abc is an array of 2305843009213693953; wanted: at most 8" },
  { "2^63 strings", HEAD(0, 1) "\"abc\" 4=9 4=8 8=0x8000000000000000 z64", "abc is an array of 9223372036854775808; wanted: at most 8" },
  { "strings past the end", HEAD(0, 1) "\"abc\" 4=9 4=8 8=2 \"x\" 8=9 'y", "abc is a string of 9 bytes; wanted: at most 1" },
  { "a string past the end", HEAD(0, 1) "\"abc\" 4=8 8=0xfffffffffffffff8 'y", "abc is a string of 18446744073709551608 bytes; wanted: at most 1" },
  { "an alignment of 0", HEAD(0, 1) "\"general.alignment\" 4=4 4=0", "general.alignment is 0; wanted: a power of two" },
  { "an alignment of 24", HEAD(0, 1) "\"general.alignment\" 4=4 4=24", "general.alignment is 24; wanted: a power of two" },
  { "an alignment of 64 bits", HEAD(0, 1) "\"general.alignment\" 4=10 8=32", "general.alignment is 32; wanted: an unsigned integer of 32 bits" },
  { "a signed alignment", HEAD(0, 1) "\"general.alignment\" 4=5 4=32", "general.alignment is 32; wanted: an unsigned integer" },
  { "an alignment in words", HEAD(0, 1) "\"general.alignment\" 4=8 \"32\"", "general.alignment is \"32\"; wanted: an unsigned integer" },
  { "a list of alignments", HEAD(0, 1) "\"general.alignment\" 4=9 4=4 8=1 4=32", "general.alignment is an array of 1; wanted: an unsigned integer" },
  { "a tensor without a name", HEAD(1, 0) "\"\" 4=1 8=4 4=0 8=0 p32 z16", "tensor 1 is without a name; wanted: a name of 1 to 63 bytes" },
  { "a name of 64 letters", HEAD(1, 0) LONG64 " 4=1 8=4 4=0 8=0 p32 z16", "tensor 1 is one with a longer name; wanted: a name of 1 to 63" },
  { "a name with a zero", HEAD(1, 0) "\"a\\0b\" 4=1 8=4 4=0 8=0 p32 z16", "tensor 1 is one with a zero in its name" },
  { "a name past the end", HEAD(2, 0) A "8=999 'b z60", "tensor 2 is a string of 999 bytes; wanted: at most 61" },
  { "a name twice", HEAD(2, 0) A "\"a\" 4=1 8=4 4=0 8=32 " DATA, "a is given twice; wanted: each name once" },
  { "five dimensions", HEAD(1, 0) "\"abc\" 4=5 8=1 8=1 8=1 8=1 8=1 4=0 8=0 p32 z4", "abc is one of 5 dimensions; wanted: at most 4" },
  { "2^32-1 dimensions", HEAD(1, 0) "\"abc\" 4=0xffffffff 8=1 4=0 8=0 p32 z4", "abc is one of 4294967295 dimensions" },
  { "2^40 times 2^40", HEAD(1, 0) "\"abc\" 4=2 8=0x10000000000 8=0x10000000000 4=0 8=0 p32 z4", "abc is one of too many elements" },
  { "2^63", HEAD(1, 0) "\"abc\" 4=1 8=0x8000000000000000 4=0 8=0 p32 z4", "abc is one of too many elements" },
  { "2^40 times 2^40 times 0", HEAD(1, 0) "\"abc\" 4=3 8=0x10000000000 8=0x10000000000 8=0 4=0 8=0 p32 z4", "abc is one of too many elements" },
  { "2^61 floats", HEAD(1, 0) "\"abc\" 4=1 8=0x2000000000000000 4=0 8=0 p32 z4", "abc is one of too many bytes" },
  { "2^62 halves", HEAD(1, 0) "\"abc\" 4=1 8=0x4000000000000000 4=1 8=0 p32 z4", "abc is one of too many bytes" },
  { "type 4, which was given up", HEAD(1, 0) "\"abc\" 4=1 8=32 4=4 8=0 p32 z20", "abc is of type 4; wanted: a type that this program knows" },
  { "type 9, which is in no file", HEAD(1, 0) "\"abc\" 4=1 8=32 4=9 8=0 p32 z40", "abc is of type 9; wanted" },
  { "type 99", HEAD(1, 0) "\"abc\" 4=1 8=32 4=99 8=0 p32 z40", "abc is of type 99" },
  { "type 2^32-1", HEAD(1, 0) "\"abc\" 4=1 8=32 4=0xffffffff 8=0 p32 z40", "abc is of type 4294967295" },
  { "half a block", HEAD(1, 0) "\"abc\" 4=2 8=16 8=4 4=8 8=0 p32 z68", "abc is Q8_0 with rows of 16; wanted: rows of a multiple of 32" },
  { "half a large block", HEAD(1, 0) "\"abc\" 4=1 8=128 4=13 8=0 p32 z176", "abc is Q5_K with rows of 128; wanted: rows of a multiple of 256" },
  { "a block without dimensions", HEAD(1, 0) "\"abc\" 4=0 4=8 8=0 p32 z34", "abc is Q8_0 with rows of 1" },
  { "a first offset", HEAD(1, 0) "\"abc\" 4=1 8=4 4=0 8=32 p32 z64", "abc is 16 bytes at offset 32; wanted: offset 0, no hole, no overlap" },
  { "a hole", HEAD(2, 0) A "\"b\" 4=1 8=4 4=0 8=64 p32 z96", "b is 16 bytes at offset 64; wanted: offset 32, no hole" },
  { "an overlap", HEAD(2, 0) A "\"b\" 4=1 8=4 4=0 8=0 p32 z96", "b is 16 bytes at offset 0; wanted: offset 32" },
  { "an offset of 2^64-32", HEAD(2, 0) A "\"b\" 4=1 8=4 4=0 8=0xffffffffffffffe0 p32 z96", "b is 16 bytes at offset 18446744073709551584; wanted: offset 32" },
  { "offsets of another alignment", HEAD(2, 1) "\"general.alignment\" 4=4 4=64 " A B DATA, "b is 16 bytes at offset 32; wanted: offset 64" },
  { "one byte missing", HEAD(2, 0) A B "p32 z30 p32 z15", "b is 16 bytes at offset 32; wanted: within the 47 bytes of data" },
  { "no data", HEAD(2, 0) A B, "a is 30 bytes at offset 0; wanted: within the 0 bytes of data" },
  { "more than the file", HEAD(1, 0) "\"abc\" 4=1 8=400 4=0 8=0 p32 z16", "abc is 1600 bytes at offset 0; wanted: fewer than the file has (was it cut?)" },
  { "no offset", HEAD(2, 0) A "\"b\" 4=1 8=4 4=0 4=0", "b is cut off by the end" },
  { "an alignment larger than the file", HEAD(2, 1) "\"general.alignment\" 4=4 4=0x80000000 " A "\"b\" 4=1 8=4 4=0 8=0x80000000 " DATA, "b is 16 bytes at offset 2147483648; wanted: fewer than the file has" },
};
enum { N_DEFECTS = sizeof defect / sizeof *defect };

START_TEST(defects_are_named)
{
  char path[400];
  in_room(path, "defect.gguf");
  for (int i = 0; i < N_DEFECTS; i++) {
    struct written f = compose(defect[i].spec);
    struct memory m = { 0 };
    struct error why = { "" };
    spill(path, f.byte, f.n);
    struct tensor_file *w = NULL;
    /* without its first letters a file is not of this format; so it is read directly */
    struct gguf_file g = { .m = &m };
    bool ok = gguf_read(&g, &m, path, f.byte, f.n, &why);
    gguf_free(&g);
    if (ok) ok = (w = tensor_file_open(&m, path, &why)) != NULL;
    ck_assert_msg(ok == (defect[i].words == NULL), "%s: %s", defect[i].what, why.text);
    if (!ok) {
      ck_assert_msg(strstr(why.text, defect[i].words) != NULL, "%s: %s", defect[i].what, why.text);
      ck_assert_msg(strncmp(why.text, path, strlen(path)) == 0, "%s: %s", defect[i].what, why.text);
    } else ck_assert_str_eq(tensor_file_format(w), "gguf");
    tensor_file_close(&m, w);
    ck_assert_msg(m.all.live == 0, "%s", defect[i].what);
    free(f.byte);
  }
  tally("tests/suites/check_gguf.c: defects of files", N_DEFECTS, 0, 0, "");
  leave();
}
END_TEST

/* every prefix of a good file: none is accepted but those that lack padding, none is read past its
   end (the copy is exact, so a sanitizer sees it) */
START_TEST(every_prefix)
{
  struct written f = compose(HEAD(2, 3) "\"general.alignment\" 4=4 4=32 \"words\" 4=9 4=8 8=2 \"abc\" \"d\" \"x\" 4=12 8=1 " A B DATA);
  struct memory m = { 0 };
  for (size_t n = 0; n <= f.n; n++) {
    unsigned char *copy = malloc(n > 0 ? n : 1);
    struct error why = { "" };
    struct gguf_file g;
    memcpy(copy, f.byte, n);
    bool ok = gguf_read(&g, &m, "x", copy, n, &why);
    ck_assert_msg(ok == (n == f.n), "%zu of %zu: %s", n, f.n, why.text);
    gguf_free(&g);
    free(copy);
  }
  ck_assert_uint_eq(m.all.live, 0);
  free(f.byte);
}
END_TEST

START_TEST(values_come_back)
{
  struct written f = compose(
    HEAD(0, 15) "\"none\" 4=9 4=4 8=0 \"u8\" 4=0 1=200 \"i8\" 4=1 1=0x80 \"u16\" 4=2 2=65535 \"i16\" 4=3 2=0xfffe \"u32\" 4=4 4=0xffffffff "
                "\"i32\" 4=5 4=0xffffffff \"f32\" 4=6 4=0xc0490fdb \"yes\" 4=7 1=1 \"text\" 4=8 \"a_b\" \"u64\" 4=10 8=0x1fffffffffffff "
                "\"i64\" 4=11 8=0x8000000000000000 \"f64\" 4=12 8=0x400921fb54442d18 \"list\" 4=9 4=3 8=3 2=1 2=0xffff 2=3 "
                "\"words\" 4=9 4=8 8=3 \"a\" \"\" \"ccc\"");
  static const struct {
    const char *key;
    double x;
    bool integer;
  } number[] = { { "u8", 200, true }, { "i8", -128, true }, { "u16", 65535, true }, { "i16", -2, true },
    { "u32", 4294967295.0, true }, { "i32", -1, true }, { "f32", (double) -3.14159274101257324f, false },
    { "u64", 9007199254740991.0, true }, { "i64", -9223372036854775808.0, true },
    { "f64", 3.141592653589793, false } };
  struct memory m = { 0 };
  struct error why;
  struct gguf_file g;
  struct gguf_words w;
  bool flag = false;
  char buffer[64];
  ck_assert_msg(gguf_read(&g, &m, "x", f.byte, f.n, &why), "%s", why.text);
  for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
    const struct gguf_entry *e = gguf_find(&g, number[i].key);
    ck_assert_ptr_nonnull(e);
    ck_assert(gguf_numeric(e) && gguf_integer(e) == number[i].integer && !e->is_array && e->count == 1);
    ck_assert_msg(gguf_number(e, 0) == number[i].x, "%s: %.17g", number[i].key, gguf_number(e, 0));
    ck_assert(!gguf_flag(e, &flag) && !gguf_string(e, &w));
  }
  for (size_t i = 0; i < g.n_entries; i++) { /* each is written again as it stands there */
    const struct gguf_entry *e = &g.entry[i];
    const unsigned char *from = (const unsigned char *) e->key.text - 8;
    struct gguf_draft d = { .m = &m, .ok = true, .why = &why };
    gguf_add_entry(&d, e);
    ck_assert(d.ok && d.n_keys == 1 && d.keys.n == (size_t) (e->end - from) && memcmp(d.keys.byte, from, d.keys.n) == 0);
    gguf_draft_free(&d);
  }
  ck_assert(gguf_flag(gguf_find(&g, "yes"), &flag) && flag);
  ck_assert(!gguf_numeric(gguf_find(&g, "yes")) && !gguf_numeric(gguf_find(&g, "text")));
  ck_assert(gguf_string(gguf_find(&g, "text"), &w) && w.n == 3 && memcmp(w.text, "a b", 3) == 0);
  const struct gguf_entry *list = gguf_find(&g, "list"), *words = gguf_find(&g, "words");
  ck_assert(list->is_array && list->count == 3 && gguf_number(list, 1) == -1 && gguf_number(list, 2) == 3);
  ck_assert(!gguf_flag(list, &flag) && !gguf_string(words, &w));
  const unsigned char *at = words->at;
  static const char *const want[] = { "a", "", "ccc" };
  for (int i = 0; i < 3; i++)
    ck_assert(gguf_next_string(words, &at, &w) && w.n == strlen(want[i]) && memcmp(w.text, want[i], w.n) == 0);
  ck_assert(!gguf_next_string(words, &at, &w));
  /* a string that has become longer since is not read, by one byte or by many */
  f.byte[f.n - 11] = 4, at = words->end - 11;
  ck_assert(!gguf_next_string(words, &at, &w));
  f.byte[f.n - 4] = 0xff, at = words->end - 11;
  ck_assert(!gguf_next_string(words, &at, &w));
  f.byte[f.n - 11] = 3, f.byte[f.n - 4] = 0;
  ck_assert_ptr_null(gguf_find(&g, "u3"));
  ck_assert_ptr_null(gguf_find(&g, "u321"));
  ck_assert(!gguf_integer(NULL) && !gguf_numeric(NULL) && !gguf_flag(NULL, &flag) && !gguf_string(NULL, &w));
  ck_assert_str_eq(gguf_excerpt(NULL, buffer), "missing");
  ck_assert_str_eq(gguf_excerpt(words, buffer), "an array of 3");
  ck_assert_str_eq(gguf_excerpt(gguf_find(&g, "text"), buffer), "\"a b\"");
  ck_assert_str_eq(gguf_excerpt(gguf_find(&g, "yes"), buffer), "true");
  ck_assert_str_eq(gguf_excerpt(gguf_find(&g, "i8"), buffer), "-128");
  gguf_free(&g);
  ck_assert_uint_eq(m.all.live, 0);
  free(f.byte);
}
END_TEST

/* shapes are turned round, and the numbers are where they should be */
START_TEST(tensors_are_found)
{
  char path[400];
  struct memory m = { 0 };
  struct error why = { "" };
  struct written f = compose(HEAD(2, 0) A B "p32 x0102 z28 p32 x0000803f z12");
  spill(in_room(path, "two.gguf"), f.byte, f.n);
  struct tensor_file *w = tensor_file_open(&m, path, &why);
  ck_assert_msg(w != NULL, "%s", why.text);
  const struct tensor_entry *a = tensor_file_find(w, "a"), *b = tensor_file_find(w, "b");
  ck_assert(a != NULL && a->rank == 2 && a->shape[0] == 3 && a->shape[1] == 5 && a->type == WEIGHT_F16);
  ck_assert(a->bytes == 30 && a->elements == 15 && a->begin == 0 && a->data[0] == 1 && a->data[1] == 2);
  ck_assert(b != NULL && b->rank == 1 && b->shape[0] == 4 && b->type == WEIGHT_F32 && b->data[3] == 0x3f);
  ck_assert_str_eq(b->file, path);
  tensor_file_close(&m, w);
  uint32_t number;
  ck_assert(gguf_type_number(WEIGHT_F32, &number) && number == 0);
  ck_assert(gguf_type_number(WEIGHT_BF16, &number) && number == 30);
  ck_assert(gguf_type_number(WEIGHT_Q8_0, &number) && number == 8);
  ck_assert(gguf_type_number(WEIGHT_Q4_0, &number) && number == 2);
  ck_assert(gguf_type_number(WEIGHT_Q4_1, &number) && number == 3);
  ck_assert(gguf_type_number(WEIGHT_Q5_0, &number) && number == 6);
  ck_assert(gguf_type_number(WEIGHT_Q5_1, &number) && number == 7);
  ck_assert(gguf_type_number(WEIGHT_Q4_K, &number) && number == 12);
  ck_assert(gguf_type_number(WEIGHT_Q6_K, &number) && number == 14);
  for (unsigned type = 0; type < N_NUMBER_TYPES; type++)
    if (strcmp(number_types[type].name, "BOOL") == 0) ck_assert(!gguf_type_number(type, &number));
  ck_assert(!gguf_recognizes(room()) && !gguf_recognizes("/nowhere") && gguf_recognizes(path));
  free(f.byte);
  leave();
}
END_TEST

/* what is refused costs little: a second at most, and 64 MiB beside the file */
START_TEST(large_refusals_are_cheap)
{
  static const struct {
    const char *what, *spec, *words;
    size_t zeros;
  } large[] = {
    { "80 million bytes of keys", "'GGUF 4=3 8=0 8=5000000 ", "the number of keys is larger; wanted: at most 65536", 80000000 },
    { "80 million bytes of tensors", "'GGUF 4=3 8=3000000 8=0 ", "tensor 1 is without a name", 80000000 },
    { "10 million strings, and the last is too long", "'GGUF 4=3 8=0 8=1 \"abc\" 4=9 4=8 8=10000001 ", "abc is an array of 10000001", 80000007 },
  };
  struct memory m = { 0 };
  for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
    struct written f = compose(large[i].spec);
    struct gguf_file g;
    struct error why = { "" };
    f.byte = realloc(f.byte, f.n + large[i].zeros);
    memset(f.byte + f.n, 0, large[i].zeros);
    clock_t began = clock();
    ck_assert(!gguf_read(&g, &m, "x", f.byte, f.n + large[i].zeros, &why));
    ck_assert_msg(strstr(why.text, large[i].words) != NULL, "%s: %s", large[i].what, why.text);
    ck_assert_msg(clock() - began < CLOCKS_PER_SEC, "%s", large[i].what);
    gguf_free(&g);
    free(f.byte);
  }
  ck_assert(m.all.live == 0 && m.all.peak < 64u << 20);
}
END_TEST

/* as many keys and tensors as a file may have */
START_TEST(as_many_as_there_may_be)
{
  char path[400], word[80];
  struct memory m = { 0 };
  struct error why = { "" };
  struct written f = { malloc(32 << 20), 0 };
  struct gguf_file g;
  unsigned char *byte = f.byte;
  size_t n = 24;
  memcpy(byte, "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0", 24); /* 65536 keys */
  for (unsigned i = 0; i < 65536; i++) {
    snprintf(word, sizeof word, "%08x", i * 2654435761u);
    memcpy(byte + n, "\10\0\0\0\0\0\0\0", 8), memcpy(byte + n + 8, word, 8);
    memcpy(byte + n + 16, "\0\0\0\0\1", 5), n += 21;
  }
  clock_t began = clock();
  ck_assert_msg(gguf_read(&g, &m, "x", byte, n, &why), "%s", why.text);
  ck_assert(g.n_entries == 65536 && gguf_find(&g, word) != NULL);
  gguf_free(&g);
  byte[18] = 0, byte[8] = byte[9] = 0, byte[10] = 4, n = 24; /* 262144 tensors without elements */
  for (unsigned i = 0; i < 262144; i++) {
    snprintf(word, sizeof word, "%08x", i * 2654435761u);
    memcpy(byte + n, "\10\0\0\0\0\0\0\0", 8), memcpy(byte + n + 8, word, 8);
    memcpy(byte + n + 16, "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24), n += 40;
  }
  spill(in_room(path, "many.gguf"), byte, n);
  struct tensor_file *w = tensor_file_open(&m, path, &why);
  ck_assert_msg(w != NULL && tensor_file_count(w) == 262144, "%s", why.text);
  tensor_file_close(&m, w);
  byte[8] = 1; /* one more */
  memset(byte + n, 0, 40), memcpy(byte + n, "\1\0\0\0\0\0\0\0z\1", 10);
  spill(path, byte, n + 40);
  ck_assert(tensor_file_open(&m, path, &why) == NULL && strstr(why.text, "at most 262144 tensors") != NULL);
  ck_assert(clock() - began < 4 * CLOCKS_PER_SEC);
  ck_assert_msg(m.all.live == 0 && m.all.peak < 64u << 20, "%" PRIu64, m.all.peak);
  free(f.byte);
  leave();
}
END_TEST

/* an allocation that fails is a sentence, and nothing is lost */
START_TEST(memory_runs_out)
{
  char path[400];
  struct written f = compose(HEAD(2, 2) "\"b\" 4=4 4=0 \"a\" 4=4 4=1 " A B DATA);
  spill(in_room(path, "two.gguf"), f.byte, f.n);
  for (uint64_t at = 1;; at++) {
    struct memory m = { .fail_at = at };
    struct error why = { "" };
    struct tensor_file *w = tensor_file_open(&m, path, &why);
    bool done = w != NULL;
    ck_assert(done == (m.all.refused == 0) && (done || why.text[0] != '\0'));
    tensor_file_close(&m, w);
    ck_assert_uint_eq(m.all.live, 0);
    if (done) break;
  }
  free(f.byte);
  leave();
}
END_TEST

START_TEST(vectors_of_the_format)
{
  char buffer[300], line[300];
  const char *list = shared_file(buffer, sizeof buffer, "vectors/gguf/EXPECTED.tsv");
  if (list == NULL) return;
  FILE *f = fopen(list, "r");
  unsigned passed = 0, failed = 0;
  ck_assert(fgets(line, sizeof line, f) != NULL);
  while (fgets(line, sizeof line, f)) {
    char name[100], verdict[100], path[600];
    sscanf(line, "%99s %99[^\t]", name, verdict);
    snprintf(path, sizeof path, "%.*s/%s.gguf", (int) (strrchr(list, '/') - list), list, name);
    struct memory m = { 0 };
    struct error why = { "" };
    struct tensor_file *w = tensor_file_open(&m, path, &why);
    bool either = strncmp(verdict, "error in ggml", 13) == 0; /* a lenient reader may accept */
    bool right = (either || (w != NULL) == (strcmp(verdict, "ok") == 0))
      && (w != NULL || strstr(why.text, name) != NULL);
    tensor_file_close(&m, w);
    if (right && m.all.live == 0 && m.all.peak < (64u << 20)) passed++;
    else failed++, fprintf(stderr, "%s: %s\n", name, why.text);
  }
  fclose(f);
  tally("vectors/gguf/EXPECTED.tsv", passed, failed, 0, "");
  ck_assert_uint_eq(failed, 0);
}
END_TEST

/* ---- models: golden logits and greedy ids */
enum { CONTEXT = 512 };
static void rig_close(struct rig *r)
{
  store_close(r->s);
  model_close(&r->m, r->lm);
  pool_close(&r->m, r->pool);
  ck_assert_uint_eq(r->m.all.live, 0);
}
static size_t ids_of(json_t *list, uint32_t *ids)
{
  for (size_t i = 0; i < json_array_size(list); i++)
    ids[i] = (uint32_t) json_integer_value(json_array_get(list, i));
  return json_array_size(list);
}
static bool line_forward(struct rig *r, json_t *o)
{
  uint32_t ids[CONTEXT];
  size_t which[CONTEXT], n = ids_of(json_object_get(o, "ids"), ids), v = r->lm->config.vocab_size;
  for (size_t i = 0; i < n; i++) which[i] = i;
  float *logits = malloc(n * v * sizeof *logits);
  bool ok = model_evaluate(&r->e, r->lm, r->s, ids, n, which, n, logits, &r->why);
  bool rounded = r->e.activations == ACTIVATIONS_INT8;
  double tol = json_number_value(json_object_get(o, rounded ? "tol_q8act" : "tol"));
  json_t *rows = json_object_get(o, "logits");
  ok = ok && json_array_size(rows) == n;
  for (size_t i = 0; i < n && ok; i++) {
    json_t *row = json_array_get(rows, i);
    ok = json_array_size(row) == v;
    for (size_t k = 0; k < v && ok; k++)
      ok = fabs((double) logits[i * v + k] - json_number_value(json_array_get(row, k))) <= tol;
  }
  free(logits);
  return ok;
}
static bool is_end(json_t *eos, uint32_t id)
{
  if (json_is_integer(eos)) return json_integer_value(eos) == (json_int_t) id;
  for (size_t i = 0; i < json_array_size(eos); i++)
    if (json_integer_value(json_array_get(eos, i)) == (json_int_t) id) return true;
  return false;
}
static bool writes(struct rig *r, json_t *o, const char *prompt, const char *answer)
{
  uint32_t ids[2 * CONTEXT], want[CONTEXT];
  size_t n = ids_of(json_object_get(o, prompt), ids), start = n, v = r->lm->config.vocab_size;
  size_t expected = ids_of(json_object_get(o, answer), want);
  size_t max = (size_t) json_integer_value(json_object_get(o, "max_new_tokens"));
  float *logits = malloc(v * sizeof *logits);
  bool ok = true, ended = false;
  while (ok && !ended && n - start < max) {
    size_t last = n - 1;
    ok = model_evaluate(&r->e, r->lm, r->s, ids, n, &last, 1, logits, &r->why);
    uint32_t best = 0;
    for (uint32_t i = 1; i < v; i++) if (logits[i] > logits[best]) best = i;
    ids[n++] = best;
    ended = is_end(json_object_get(o, "eos_token_id"), best);
  }
  free(logits);
  return ok && n - start == expected && memcmp(ids + start, want, expected * sizeof *want) == 0;
}
static bool line_greedy(struct rig *r, json_t *o)
{
  return writes(r, o, "prompt_ids", "ids");
}
static bool line_text(struct rig *r, json_t *o)
{
  return writes(r, o, "ids", "generated");
}
static unsigned golden_file(const char *file, const char *how, void *ctx, bool (*check)(void *, json_t *))
{
  char buffer[300], name[300], *line = NULL;
  const char *path = strncmp(file, "tests/", 6) == 0 ? file : shared_file(buffer, sizeof buffer, file);
  snprintf(name, sizeof name, "%s%s", file, how);
  size_t cap = 0;
  unsigned passed = 0, failed = 0;
  FILE *f = path == NULL ? NULL : fopen(path, "r");
  if (f == NULL) return 0;
  while (getline(&line, &cap, f) > 0) {
    json_t *o = json_loads(line, JSON_ALLOW_NUL, NULL);
    if (o != NULL && check(ctx, o)) passed++;
    else if (failed++ < 5) fprintf(stderr, "%s: %.200s\n", name, line);
    json_decref(o);
  }
  fclose(f);
  free(line);
  tally(name, passed, failed, 0, "");
  return failed;
}
static bool forward_of(void *r, json_t *o) { return line_forward(r, o); }
static bool greedy_of(void *r, json_t *o) { return line_greedy(r, o); }
static bool text_of(void *r, json_t *o) { return line_text(r, o); }
static const char *const golden_model[] = { "llama-gqa", "qwen2", "stories260K" };
static const char *const golden_type[] = { "F32", "F16", "BF16", "Q8_0", "Q4_0" };
START_TEST(golden_logits_and_greedy_ids)
{
  char name[200], buffer[300];
  const char *model = golden_model[_i / 5], *type = golden_type[_i % 5];
  unsigned failed = 0;
  bool blocks = _i % 5 >= 3;
  struct rig r;
  snprintf(name, sizeof name, "golden/gguf/%s/%s-%s.gguf", model, model, type);
  const char *path = shared_file(buffer, sizeof buffer, name);
  if (path == NULL) return;
  ck_assert_msg(rig_open(&r, path, NULL, 1, 1), "%s", r.why.text);
  /* the tolerance without more is for activations in float; the ids are as well */
  r.e.activations = ACTIVATIONS_F32;
  snprintf(name, sizeof name, "golden/gguf/%s/forward-%s.jsonl", model, type);
  failed += golden_file(name, "", &r, forward_of);
  snprintf(name, sizeof name, "golden/gguf/%s/greedy-%s.jsonl", model, type);
  failed += golden_file(name, "", &r, greedy_of);
  if (_i / 5 == 2) {
    snprintf(name, sizeof name, "golden/gguf/%s/text-%s.jsonl", model, type);
    failed += golden_file(name, "", &r, text_of);
  }
  if (blocks) {
    r.e.activations = ACTIVATIONS_INT8;
    snprintf(name, sizeof name, "golden/gguf/%s/forward-%s.jsonl", model, type);
    failed += golden_file(name, " in int8", &r, forward_of);
  }
  rig_close(&r);
  ck_assert_uint_eq(failed, 0);
}
END_TEST

/* the families that llama.cpp's converter writes in ways of its own; in Q8_0 the sharp tolerance is for float activations */
static const char *const family_model[] = { "gemma3", "granite", "olmo2", "smollm3", "phi3", "qwen3moe" };
enum { FAMILY_MODELS = sizeof family_model / sizeof *family_model };
START_TEST(golden_families)
{
  static const char *const kind[] = { "F32", "Q8_0" };
  const char *model = family_model[_i / 2], *type = kind[_i % 2];
  char name[200], buffer[300];
  unsigned failed = 0;
  struct rig r;
  snprintf(name, sizeof name, "golden/families/gguf/%s/%s-%s.gguf", model, model, type);
  const char *path = shared_file(buffer, sizeof buffer, name);
  if (path == NULL) return;
  ck_assert_msg(rig_open(&r, path, NULL, 1, 1), "%s", r.why.text);
  r.e.activations = ACTIVATIONS_F32;
  snprintf(name, sizeof name, "golden/families/gguf/%s/forward-%s.jsonl", model, type);
  failed += golden_file(name, "", &r, forward_of);
  snprintf(name, sizeof name, "golden/families/gguf/%s/greedy-%s.jsonl", model, type);
  failed += golden_file(name, "", &r, greedy_of);
  if (_i % 2 == 1) {
    r.e.activations = ACTIVATIONS_INT8;
    snprintf(name, sizeof name, "golden/families/gguf/%s/forward-%s.jsonl", model, type);
    failed += golden_file(name, " in int8", &r, forward_of);
  }
  rig_close(&r);
  ck_assert_uint_eq(failed, 0);
}
END_TEST

/* files that an independent script made by the rules of llama.cpp's converter, and of older ones; the logits are a reference's that
   has not seen them */
static const struct { const char *name, *family; } file_model[] = { { "mixtral", "mixtral" }, { "mixtral-split", "mixtral" }, { "mixtral-fused", "mixtral" }, { "qwen2_moe-fused", "qwen2_moe" },
  { "mixtral-wide", "mixtral" }, { "olmoe", "olmoe" }, { "qwen2_moe", "qwen2_moe" }, { "qwen2_moe-silent", "qwen2_moe" },
  { "qwen3_moe", "qwen3_moe" }, { "pythia", "gpt_neox" }, { "pythia-serial", "gpt_neox" }, { "falcon", "falcon" },
  { "falcon-old", "falcon" }, { "phi", "phi" }, { "phi-fused", "phi" }, { "stablelm", "stablelm" }, { "stablelm-serial", "stablelm" },
  { "cohere", "cohere" }, { "cohere2", "cohere2" }, { "cohere2-list", "cohere2" }, { "exaone4", "exaone4" },
  { "exaone4-full", "exaone4" }, { "ernie4_5", "ernie4_5" }, { "seed_oss", "seed_oss" }, { "ministral3", "ministral3" } };
START_TEST(files_of_the_families)
{
  char path[200];
  struct rig r;
  snprintf(path, sizeof path, "tests/golden/gguf/%s.gguf", file_model[_i].name);
  ck_assert_msg(rig_open(&r, path, NULL, 1, 1), "%s", r.why.text);
  ck_assert_str_eq(r.lm->config.family, file_model[_i].family);
  ck_assert(r.m.of[MEMORY_WEIGHTS].live == 0 && r.lm->config.n_ignored <= 2);
  r.e.activations = ACTIVATIONS_F32;
  snprintf(path, sizeof path, "tests/golden/gguf/%s.jsonl", file_model[_i].name);
  ck_assert_uint_eq(golden_file(path, "", &r, forward_of), 0);
  rig_close(&r);
}
END_TEST

/* ---- tokenizers: golden ids, and the vectors of a published vocabulary */
struct words_rig {
  struct memory m;
  struct tokenizer *t;
};
static bool line_tokens(void *ctx, json_t *o)
{
  struct words_rig *x = ctx;
  json_t *text = json_object_get(o, "text"), *want = json_object_get(o, "ids");
  struct ids got = { 0 };
  bool ok = tokenizer_encode(x->t, &x->m, json_string_value(text), json_string_length(text),
              json_is_true(json_object_get(o, "add_special")),
              json_is_true(json_object_get(o, "parse_special")), &got, NULL)
    && got.n == json_array_size(want);
  for (size_t i = 0; ok && i < got.n; i++)
    ok = got.id[i] == json_integer_value(json_array_get(want, i));
  ids_free(&x->m, &got);
  return ok;
}
START_TEST(golden_tokens)
{
  char name[200], buffer[300];
  struct words_rig x = { .t = NULL };
  struct error why;
  snprintf(name, sizeof name, "golden/gguf/%s/%s-F16.gguf", golden_model[_i], golden_model[_i]);
  const char *path = shared_file(buffer, sizeof buffer, name);
  if (path == NULL) return;
  ck_assert_msg((x.t = tokenizer_open(&x.m, path, &why)) != NULL, "%s", why.text);
  snprintf(name, sizeof name, "golden/gguf/%s/tokenize.jsonl", golden_model[_i]);
  ck_assert_uint_eq(golden_file(name, "", &x, line_tokens), 0);
  tokenizer_close(&x.m, x.t);
  ck_assert_uint_eq(x.m.all.live, 0);
}
END_TEST

/* the texts of llama.cpp's own test, between lines __ggml_vocab_test__, and their ids */
START_TEST(vectors_of_a_vocabulary)
{
  static const char name[] = "vectors/tokenizer_gguf/ggml-vocab-gpt-2.gguf", mark[] = "\n__ggml_vocab_test__\n";
  char vocab[300], texts[310], ids[310], *line = NULL;
  struct memory m = { 0 };
  struct error why;
  size_t n, cap = 0;
  unsigned good = 0, bad = 0;
  if (shared_file(vocab, sizeof vocab, name) == NULL) return;
  snprintf(texts, sizeof texts, "%s.inp", vocab), snprintf(ids, sizeof ids, "%s.out", vocab);
  struct tokenizer *t = tokenizer_open(&m, vocab, &why);
  ck_assert_msg(t != NULL, "%s", why.text);
  ck_assert_uint_eq(tokenizer_vocab_size(t), 50257);
  char *all = (char *) slurp(texts, &n), *at = all;
  FILE *f = fopen(ids, "r");
  while (getline(&line, &cap, f) > 0) {
    char *end = strstr(at, mark), *s = line;
    size_t length = end != NULL ? (size_t) (end - at) : strlen(at);
    struct ids got = { 0 };
    bool ok = tokenizer_encode(t, &m, at, length, false, false, &got, &why);
    for (size_t i = 0; ok && i < got.n; i++) ok = (uint32_t) strtoul(s, &s, 10) == got.id[i];
    if (ok && strspn(s, " \n") == strlen(s)) good++;
    else bad++;
    ids_free(&m, &got);
    if (end == NULL) break;
    at = end + strlen(mark);
  }
  fclose(f);
  free(line), free(all);
  tally(name, good, bad, 0, "");
  tokenizer_close(&m, t);
  ck_assert(bad == 0 && good > 40 && m.all.live == 0);
}
END_TEST

/* ---- the same model in both forms: one of the models that travel with the project, written as a
   GGUF file, gives the same bits */
struct making {
  struct written keys, tensors, data;
  uint64_t n_keys, n_tensors;
  const char *drop; /* the key that is left out */
  const char *as;   /* the architecture, if it is not the family */
};
static void put_string(struct written *f, const char *text)
{
  put_number(f, 8, strlen(text)), put(f, text, strlen(text));
}
static bool key_begins(struct making *g, const char *arch, const char *name, unsigned type)
{
  char key[100];
  snprintf(key, sizeof key, "%s%s%s", arch, *arch ? "." : "", name);
  if (g->drop != NULL && strcmp(g->drop, key) == 0) return false;
  put_string(&g->keys, key), put_number(&g->keys, 4, type), g->n_keys++;
  return true;
}
static void key_count(struct making *g, const char *arch, const char *name, uint32_t x)
{
  if (key_begins(g, arch, name, GGUF_U32)) put_number(&g->keys, 4, x);
}
static void key_real(struct making *g, const char *arch, const char *name, double x)
{
  float f = (float) x;
  if (key_begins(g, arch, name, GGUF_F32)) put(&g->keys, &f, 4);
}
static void key_text(struct making *g, const char *arch, const char *name, const char *x)
{
  if (key_begins(g, arch, name, GGUF_STRING)) put_string(&g->keys, x);
}
static void add_tensor(struct making *g, const char *name, struct tensor t, size_t rows, size_t columns,
  bool transposed, size_t permuted)
{
  static const unsigned char zero[32];
  uint32_t type;
  size_t each = number_types[t.type].bytes;
  if (t.data == NULL) return;
  ck_assert(gguf_type_number(t.type, &type) && number_types[t.type].block == 1);
  put_string(&g->tensors, name), put_number(&g->tensors, 4, rows > 0 ? 2 : 1);
  put_number(&g->tensors, 8, columns);
  if (rows > 0) put_number(&g->tensors, 8, rows);
  put_number(&g->tensors, 4, type), put_number(&g->tensors, 8, g->data.n), g->n_tensors++;
  size_t n = rows > 0 ? rows : 1, half = permuted / 2;
  for (size_t r = 0; r < n * (permuted && rows == 0 ? columns : 1); r++) {
    /* row r of the file is this row of ours: pairs are neighbours there */
    size_t i = permuted ? r % permuted : 0, from = permuted ? r - i + i / 2 + (i & 1) * half : r;
    size_t width = permuted && rows == 0 ? 1 : columns;
    for (size_t c = 0; c < width; c++)
      put(&g->data, (const char *) t.data + (transposed ? c * n + from : from * width + c) * each, each);
  }
  put(&g->data, zero, (32 - g->data.n % 32) % 32);
}
static void add_matrix(struct making *g, int layer, const char *name, const struct matrix *w, size_t permuted)
{
  char full[100];
  snprintf(full, sizeof full, layer < 0 ? "%.0d%s.weight" : "blk.%d.%s.weight", layer < 0 ? 0 : layer, name);
  add_tensor(g, full, w->weight, w->out, w->in, w->transposed, permuted);
  snprintf(full, sizeof full, "blk.%d.%s.bias", layer, name);
  add_tensor(g, full, w->bias, 0, w->out, false, permuted);
}
static void add_norm(struct making *g, int layer, const char *name, const struct norm *w, size_t d)
{
  char full[100], where[20] = "";
  if (layer >= 0) snprintf(where, sizeof where, "blk.%d.", layer);
  snprintf(full, sizeof full, "%s%s.weight", where, name), add_tensor(g, full, w->gain, 0, d, false, 0);
  snprintf(full, sizeof full, "%s%s.bias", where, name), add_tensor(g, full, w->bias, 0, d, false, 0);
}
static void make_tensors(struct making *g, const struct model *lm)
{
  const struct model_config *c = &lm->config;
  static const char *const qkv[] = { "attn_q", "attn_k", "attn_v" };
  size_t d = c->d_model, turned = strcmp(g->as, "llama") == 0 ? c->head_dim : 0;
  add_tensor(g, "token_embd.weight", lm->embedding, c->vocab_size, d, false, 0);
  add_tensor(g, "position_embd.weight", lm->positions, c->n_positions, d, false, 0);
  for (int i = 0; i < (int) c->n_layers; i++) {
    const struct model_layer *l = &lm->layers[i];
    add_norm(g, i, "attn_norm", &l->attn_norm, d);
    for (size_t k = 0; k < l->n_qkv; k++)
      add_matrix(g, i, l->n_qkv == 1 ? "attn_qkv" : qkv[k], &l->qkv[k], k < 2 ? turned : 0);
    if (c->qk_norm) add_norm(g, i, "attn_q_norm", &l->q_norm, c->head_dim), add_norm(g, i, "attn_k_norm", &l->k_norm, c->head_dim);
    add_matrix(g, i, "attn_output", &l->out, 0);
    add_norm(g, i, "ffn_norm", &l->mlp_norm, d);
    if (l->n_up == 2) add_matrix(g, i, "ffn_gate", &l->up[0], 0);
    add_matrix(g, i, "ffn_up", &l->up[l->n_up - 1], 0), add_matrix(g, i, "ffn_down", &l->down, 0);
  }
  add_norm(g, -1, "output_norm", &lm->final_norm, d);
  if (!c->tied) add_tensor(g, "output.weight", lm->head.weight, c->vocab_size, d, false, 0);
}
static void make_keys(struct making *g, const struct model_config *c)
{
  const char *a = g->as;
  key_text(g, "general", "architecture", a), key_text(g, "general", "name", "a model");
  key_count(g, a, "context_length", c->n_positions), key_count(g, a, "embedding_length", c->d_model);
  key_count(g, a, "block_count", c->n_layers), key_count(g, a, "feed_forward_length", c->d_inner);
  key_count(g, a, "attention.head_count", c->n_heads), key_count(g, a, "attention.head_count_kv", c->n_kv_heads);
  key_real(g, a, c->layer_norm ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon", c->norm_eps);
  if (!c->learned_positions) {
    key_count(g, a, "attention.key_length", c->head_dim), key_count(g, a, "attention.value_length", c->head_dim);
    key_real(g, a, "rope.freq_base", c->rope.theta), key_count(g, a, "rope.dimension_count", c->head_dim);
  }
  if (c->rope.kind == ROPE_LINEAR || c->rope.kind == ROPE_YARN) {
    key_text(g, a, "rope.scaling.type", c->rope.kind == ROPE_YARN ? "yarn" : "linear");
    key_real(g, a, "rope.scaling.factor", c->rope.factor);
    key_count(g, a, "rope.scaling.original_context_length", c->rope.original);
    if (c->rope.kind == ROPE_YARN) key_real(g, a, "rope.scaling.yarn_beta_fast", c->rope.beta_fast), key_real(g, a, "rope.scaling.yarn_beta_slow", c->rope.beta_slow);
  }
  if (c->n_eos > 0) key_count(g, "tokenizer.ggml", "eos_token_id", c->eos[0]);
  if (c->n_eos > 1) key_count(g, "tokenizer.ggml", "eot_token_id", c->eos[1]);
  if (c->has_bos) key_count(g, "tokenizer.ggml", "bos_token_id", c->bos);
}
static void finish(struct making *g, const char *path)
{
  struct written f = { NULL, 0 };
  put(&f, "GGUF\3\0\0\0", 8), put_number(&f, 8, g->n_tensors), put_number(&f, 8, g->n_keys);
  put(&f, g->keys.byte, g->keys.n), put(&f, g->tensors.byte, g->tensors.n);
  while (f.n % 32 != 0) put(&f, "", 1);
  put(&f, g->data.byte, g->data.n);
  spill(path, f.byte, f.n);
  free(f.byte), free(g->keys.byte), free(g->tensors.byte), free(g->data.byte);
}
/* |more|: keys in the language above, of which there are |n_more| */
static void make_model_as(const char *as, const char *base, const char *path, const char *drop, const char *more, unsigned n_more)
{
  char dir[200];
  struct memory m = { 0 };
  struct error why = { "" };
  struct making g = { .drop = drop };
  snprintf(dir, sizeof dir, "tests/golden/%s", base);
  struct model *lm = model_open(&m, dir, &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  g.as = as != NULL ? as : lm->config.family;
  make_keys(&g, &lm->config), make_tensors(&g, lm);
  struct written f = compose(more);
  put(&g.keys, f.byte, f.n), g.n_keys += n_more;
  free(f.byte);
  if (lm->config.rope.kind == ROPE_LLAMA3) {
    float by[64];
    uint32_t half = lm->config.head_dim / 2;
    for (uint32_t i = 0; i < half; i++)
      by[i] = (float) (pow(lm->config.rope.theta, -(double) i / half) / (double) lm->frequency[i]);
    add_tensor(&g, "rope_freqs.weight", (struct tensor){ by, WEIGHT_F32 }, 0, half, false, 0);
  }
  finish(&g, path);
  model_close(&m, lm);
}
static void make_model(const char *base, const char *path, const char *drop, const char *more, unsigned n_more)
{
  make_model_as(NULL, base, path, drop, more, n_more);
}
/* the last is a Llama with biases, which a Qwen 2 is under another name */
static const struct {
  const char *name;
  double off;
  const char *as;
} pair[] = { { "gpt2", 0, NULL }, { "llama", 0, NULL }, { "llama-linear", 0, NULL }, { "llama-yarn", 1e-6, NULL }, { "llama-stretched", 1e-4, NULL },
  { "qwen2", 0, NULL }, { "qwen3", 0, NULL }, { "small", 0, NULL }, { "qwen2", 0, "llama" } };
START_TEST(the_same_bits_from_both_forms)
{
  char path[400], dir[200];
  struct rig a, b;
  static float x[8 * 512], y[8 * 512];
  uint32_t ids[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
  size_t which[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  snprintf(dir, sizeof dir, "tests/golden/%s", pair[_i].name);
  make_model_as(pair[_i].as, pair[_i].name, in_room(path, "same.gguf"), NULL, "", 0);
  ck_assert_msg(rig_open(&a, dir, NULL, 1, 1), "%s", a.why.text);
  ck_assert_msg(rig_open(&b, path, NULL, 1, 1), "%s", b.why.text);
  const struct model_config *c = &a.lm->config, *d = &b.lm->config;
  ck_assert_str_eq(pair[_i].as != NULL ? pair[_i].as : c->family, d->family);
  ck_assert(c->vocab_size == d->vocab_size && c->n_positions == d->n_positions && c->d_inner == d->d_inner
    && c->n_kv_heads == d->n_kv_heads && c->head_dim == d->head_dim && c->tied == d->tied && c->qkv_bias == d->qkv_bias
    && c->has_bos == d->has_bos && c->bos == d->bos && c->n_eos == d->n_eos && memcmp(c->eos, d->eos, c->n_eos * sizeof *c->eos) == 0);
  ck_assert(c->n_eos == 0 || strcmp(d->eos_from, "the metadata") == 0);
  ck_assert(d->sampling.temperature == 1 && d->sampling.top_p == 1 && !d->sampling.do_sample);
  ck_assert_uint_eq(model_parameters(a.lm) + (c->rope.kind == ROPE_LLAMA3) * c->head_dim / 2, model_parameters(b.lm));
  ck_assert(c->vocab_size <= 512);
  ck_assert(model_evaluate(&a.e, a.lm, a.s, ids, 8, which, 8, x, &a.why) && model_evaluate(&b.e, b.lm, b.s, ids, 8, which, 8, y, &b.why));
  for (size_t i = 0; i < 8 * c->vocab_size; i++)
    ck_assert_msg(pair[_i].off == 0 ? x[i] == y[i] : fabsf(x[i] - y[i]) <= pair[_i].off, "%s: %zu: %g and %g", pair[_i].name, i, (double) x[i], (double) y[i]);
  /* nothing is copied, not even permuted rows */
  ck_assert(b.m.of[MEMORY_WEIGHTS].live == 0 && b.lm->neighbours == (strcmp(d->family, "llama") == 0));
  rig_close(&a), rig_close(&b);
  leave();
}
END_TEST

/* the numbers of a pair are put in order in another memory, too */
START_TEST(pairs_in_another_memory)
{
  char path[400];
  struct memory m = { 0 };
  struct error why = { "" };
  struct counters c = { 0 };
  static float x[2][8 * 512];
  uint32_t ids[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
  size_t which[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  const struct kernels *host = kernels_find(NULL, NULL), *k[2] = { host, remote_open(host) };
  make_model("llama", in_room(path, "pairs.gguf"), NULL, "", 0);
  struct model *lm = model_open(&m, path, &why);
  ck_assert_msg(lm != NULL && lm->neighbours && lm->config.vocab_size <= 512, "%s", why.text);
  for (int i = 0; i < 2; i++) {
    struct engine e = { .k = k[i], .c = &c };
    struct cache_options o = { .memory = k[i]->memory };
    struct store *s = cache_open(&m, &lm->config, 1, &o, &why);
    ck_assert_msg(s != NULL && model_evaluate(&e, lm, s, ids, 8, which, 8, x[i], &why), "%s", why.text);
    store_close(s);
  }
  ck_assert(memcmp(x[0], x[1], 8 * lm->config.vocab_size * sizeof(float)) == 0);
  model_close(&m, lm);
  ck_assert(m.all.live == 0 && the_remote.live == 0);
  leave();
}
END_TEST

/* ---- keys of the settings: what is missing, wrong, unknown or harmless */
#define L(rest) "llama." rest
static const struct {
  const char *what, *drop, *more;
  unsigned n_more;
  const char *words; /* null: it is accepted */
} setting[] = {
  { "as it is", NULL, "", 0, NULL },
  { "no architecture", "general.architecture", "", 0, "general.architecture is missing; wanted: gpt2, llama, qwen2, qwen3, smollm3, granite, mistral3, seed_oss, ernie4_5, olmo2, gemma, gemma2, gemma3, exaone4, gptneox, falcon, phi2, stablelm, command-r, cohere2, phi3, qwen3moe, olmoe, qwen2moe or gpt-oss" },
  { "another architecture", "general.architecture", "\"general.architecture\" 4=8 \"mamba\"", 1, "general.architecture is \"mamba\"" },
  { "the beginning of one", "general.architecture", "\"general.architecture\" 4=8 \"llam\"", 1, "general.architecture is \"llam\"" },
  { "an architecture that is a number", "general.architecture", "\"general.architecture\" 4=4 4=1", 1, "general.architecture is 1" },
  { "an adapter", NULL, "\"general.type\" 4=8 \"adapter\"", 1, "general.type is \"adapter\"; wanted: model" },
  { "an adapter's model", NULL, "\"general.type\" 4=8 \"adapter\"", 1, "wanted: model, as one is with the adapter merged into it" },
  { "the eyes of a model", NULL, "\"general.type\" 4=8 \"mmproj\"", 1, "general.type is \"mmproj\"; wanted: model, the file beside this one" },
  { "an adapter that is a number", NULL, "\"general.type\" 4=4 4=1", 1, "general.type is 1; wanted: model" },
  { "an encoder", "general.architecture", "\"general.architecture\" 4=8 \"nomic-bert\"", 1, "general.architecture is \"nomic-bert\", which reads texts and writes none (an encoder); wanted: a model" },
  { "a model", NULL, "\"general.type\" 4=8 \"model\"", 1, NULL },
  { "a vocabulary with a model in it", NULL, "\"general.type\" 4=8 \"vocab\"", 1, NULL },
  { "one of three parts", NULL, "\"split.count\" 4=2 2=3", 1, "split.count is 3; wanted: a file with a name such as NAME-00001-of-00003.gguf" },
  { "one of one", NULL, "\"split.count\" 4=2 2=1", 1, NULL },
  { "no context", L("context_length"), "", 0, "llama.context_length is missing; wanted: an integer from 1" },
  { "a context of 0", L("context_length"), "\"llama.context~length\" 4=4 4=0", 1, "llama.context_length is 0; wanted" },
  { "a context in words", L("context_length"), "\"llama.context~length\" 4=8 \"16\"", 1, "llama.context_length is \"16\"; wanted" },
  { "a context of 2^31", L("context_length"), "\"llama.context~length\" 4=4 4=0x80000000", 1, "llama.context_length is 2147483648; wanted" },
  { "a real context", L("context_length"), "\"llama.context~length\" 4=6 4=0x41800000", 1, "llama.context_length is 16; wanted: an integer" },
  { "a context of 64 bits", L("context_length"), "\"llama.context~length\" 4=10 8=16", 1, NULL },
  { "a negative context", L("context_length"), "\"llama.context~length\" 4=5 4=0xffffffff", 1, "llama.context_length is -1; wanted" },
  { "a list of sizes, one for each layer", L("feed_forward_length"), "\"llama.feed~forward~length\" 4=9 4=4 8=2 4=24 4=24", 1, NULL },
  { "a list of sizes that are not the same", L("feed_forward_length"), "\"llama.feed~forward~length\" 4=9 4=4 8=2 4=24 4=23", 1, "llama.feed_forward_length is an array of 2; wanted: an integer" },
  { "a list of too few sizes", L("feed_forward_length"), "\"llama.feed~forward~length\" 4=9 4=4 8=1 4=24", 1, "llama.feed_forward_length is an array of 1; wanted: an integer" },
  { "a list of real sizes", L("feed_forward_length"), "\"llama.feed~forward~length\" 4=9 4=6 8=2 4=0x41c00000 4=0x41c00000", 1, "llama.feed_forward_length is an array of 2; wanted: an integer" },
  { "a list of sizes that are none", L("feed_forward_length"), "\"llama.feed~forward~length\" 4=9 4=5 8=2 4=0xffffffff 4=0xffffffff", 1, "llama.feed_forward_length is an array of 2; wanted: an integer" },
  { "a list of heads", L("attention.head_count"), "\"llama.attention.head~count\" 4=9 4=5 8=2 4=4 4=4", 1, NULL },
  { "a list of heads of keys", L("attention.head_count_kv"), "\"llama.attention.head~count~kv\" 4=9 4=4 8=2 4=2 4=2", 1, NULL },
  { "a list of widths of heads", L("attention.key_length"), "\"llama.attention.key~length\" 4=9 4=4 8=2 4=4 4=4", 1, "llama.attention.key_length is an array of 2; wanted: an integer" },
  { "no layers", L("block_count"), "", 0, "llama.block_count is missing" },
  { "more layers than tensors", L("block_count"), "\"llama.block~count\" 4=4 4=1000", 1, "1000 layers; wanted: no more layers than the file has tensors" },
  { "one layer too few", L("block_count"), "\"llama.block~count\" 4=4 4=1", 1, "blk.1.attn_k.weight is a tensor without use" },
  { "no epsilon", L("attention.layer_norm_rms_epsilon"), "", 0, "llama.attention.layer_norm_rms_epsilon is missing" },
  { "an epsilon that is NaN", L("attention.layer_norm_rms_epsilon"), "\"llama.attention.layer~norm~rms~epsilon\" 4=6 4=0x7fc00000", 1, "layer_norm_rms_epsilon is nan; wanted: a number from 0 to 1" },
  { "an odd number of heads", L("attention.head_count"), "\"llama.attention.head~count\" 4=4 4=3", 1, "llama.attention.head_count is 3; wanted: a multiple of head_count_kv" },
  { "heads that do not divide", L("attention.key_length"), "", 0, NULL },
  { "no heads of keys", L("attention.head_count_kv"), "", 0, "blk.0.attn_k.weight is [8, 16]; wanted: [16, 16]" },
  { "an odd width of heads", L("attention.key_length"), "\"llama.attention.key~length\" 4=4 4=3", 1, "llama.attention.key_length is 3; wanted: an even number" },
  { "other values than keys", L("attention.value_length"), "\"llama.attention.value~length\" 4=4 4=8", 1, "llama.attention.value_length is 8; wanted: 4, as many as of keys" },
  { "a partial rotation", L("rope.dimension_count"), "\"llama.rope.dimension~count\" 4=4 4=2", 1, "llama.rope.dimension_count is 2; wanted: 4, all of a head" },
  { "no theta", L("rope.freq_base"), "", 0, NULL },
  { "a theta below 1", L("rope.freq_base"), "\"llama.rope.freq~base\" 4=6 4=0x3f000000", 1, "llama.rope.freq_base is 0.5; wanted: a number from 1" },
  { "no stretching", NULL, "\"llama.rope.scaling.type\" 4=8 \"none\"", 1, NULL },
  { "another stretching", NULL, "\"llama.rope.scaling.type\" 4=8 \"longrope\"", 1, "llama.rope.scaling.type is \"longrope\"; wanted: none, linear or yarn" },
  { "a stretching without a factor", NULL, "\"llama.rope.scaling.type\" 4=8 \"linear\"", 1, "llama.rope.scaling.factor is missing" },
  { "yarn without a factor", NULL, "\"llama.rope.scaling.type\" 4=8 \"yarn\"", 1, "llama.rope.scaling.factor is missing" },
  { "yarn, with bounds in the wrong order", NULL, "\"llama.rope.scaling.type\" 4=8 \"yarn\" \"llama.rope.scaling.factor\" 4=6 4=0x40000000 \"llama.rope.scaling.yarn~beta~fast\" 4=6 4=0x3f000000", 3, "llama.rope.scaling.yarn_beta_fast is 0.5; wanted: more than yarn_beta_slow" },
  { "yarn, with bounds that are one", NULL, "\"llama.rope.scaling.type\" 4=8 \"yarn\" \"llama.rope.scaling.factor\" 4=6 4=0x40000000 \"llama.rope.scaling.yarn~beta~fast\" 4=6 4=0x3f800000", 3, "llama.rope.scaling.yarn_beta_fast is 1; wanted: more than yarn_beta_slow" },
  { "yarn's other factors, as ours are", NULL, "\"llama.rope.scaling.yarn~attn~factor\" 4=6 4=0x3f800000 \"llama.rope.scaling.yarn~ext~factor\" 4=6 4=0x3f800000", 2, NULL },
  { "another of yarn's other factors", NULL, "\"llama.rope.scaling.yarn~attn~factor\" 4=6 4=0", 1, "llama.rope.scaling.yarn_attn_factor is 0; wanted: a number" },
  { "yarn with a base of 1", L("rope.freq_base"), "\"llama.rope.freq~base\" 4=6 4=0x3f800000 \"llama.rope.scaling.type\" 4=8 \"yarn\" \"llama.rope.scaling.factor\" 4=6 4=0x40000000", 3, "llama.rope.freq_base is 1; wanted: more than 1" },
  { "an attention factor without yarn", NULL, "\"llama.rope.scaling.attn~factor\" 4=6 4=0x40000000", 1, "llama.rope.scaling.attn_factor is 2; wanted: 1, since this is not yarn" },
  { "a whole attention factor without yarn", NULL, "\"llama.rope.scaling.yarn~attn~factor\" 4=6 4=0x40000000", 1, "llama.rope.scaling.yarn_attn_factor is 2; wanted: 1, since this is not yarn" },
  { "a whole attention factor beside another", NULL, "\"llama.rope.scaling.type\" 4=8 \"yarn\" \"llama.rope.scaling.factor\" 4=6 4=0x40000000 \"llama.rope.scaling.attn~factor\" 4=6 4=0x3f800000 \"llama.rope.scaling.yarn~attn~factor\" 4=6 4=0x40000000", 4, "llama.rope.scaling.yarn_attn_factor is 2; wanted: 1, beside another such factor" },
  { "an attention factor of 1", NULL, "\"llama.rope.scaling.attn~factor\" 4=6 4=0x3f800000", 1, NULL },
  { "the old linear factor", NULL, "\"llama.rope.scale~linear\" 4=6 4=0x40000000", 1, NULL },
  { "a window", NULL, "\"llama.attention.sliding~window\" 4=4 4=8", 1, "llama.attention.sliding_window is 8; wanted: none, or at least the context of 16" },
  { "a window that sees all", NULL, "\"llama.attention.sliding~window\" 4=4 4=16", 1, NULL },
  { "a window of 0", NULL, "\"llama.attention.sliding~window\" 4=4 4=0", 1, NULL },
  { "experts", NULL, "\"llama.expert~count\" 4=4 4=8", 1, "llama.expert_used_count is missing; wanted: an integer from 1 to 1024" },
  { "more chosen than there are", NULL, "\"llama.expert~count\" 4=4 4=8 \"llama.expert~used~count\" 4=4 4=9", 2, "llama.expert_used_count is 9; wanted: at most expert_count" },
  { "too many experts", NULL, "\"llama.expert~count\" 4=4 4=1025 \"llama.expert~used~count\" 4=4 4=2", 2, "llama.expert_count is 1025; wanted: an integer from 1 to 1024" },
  { "experts without a router", NULL, "\"llama.expert~count\" 4=4 4=8 \"llama.expert~used~count\" 4=4 4=2", 2, "blk.0.ffn_gate_inp.weight is missing; wanted: [8, 16], numbers for each expert" },
  { "experts that are chosen in another way", NULL, "\"llama.expert~gating~func\" 4=4 4=2", 1, "llama.expert_gating_func is 2; wanted: 1" },
  { "experts that are chosen as ours are", NULL, "\"llama.expert~gating~func\" 4=4 4=1", 1, NULL },
  { "no experts", NULL, "\"llama.expert~count\" 4=4 4=0 \"llama.expert~used~count\" 4=4 4=0", 2, NULL },
  { "not causal", NULL, "\"llama.attention.causal\" 4=7 1=0", 1, "llama.attention.causal is false; wanted: 1" },
  { "causal, in a list", NULL, "\"llama.attention.causal\" 4=9 4=7 8=1 1=1", 1, "llama.attention.causal is an array of 1; wanted: 1" },
  { "causal", NULL, "\"llama.attention.causal\" 4=7 1=1", 1, NULL },
  { "logits that are scaled", NULL, "\"llama.logit~scale\" 4=6 4=0x3f000000", 1, "llama.logit_scale is 0.5; wanted: 1" },
  { "an unknown key", NULL, "\"llama.strange\" 4=4 4=1", 1, "unknown: llama.strange; wanted: keys that this program knows" },
  { "unknown keys", NULL, "\"llama.strange\" 4=4 4=1 \"alone\" 4=4 4=0 \"split.odd\" 4=4 4=0 \"tokenizer.odd\" 4=4 4=0 \"adapter.odd\" 4=4 4=0", 5, "unknown: adapter.odd, alone, llama.strange, split.odd, tokenizer.odd; wanted" },
  { "a key that begins like ours", NULL, "\"llama2.block~count\" 4=4 4=1 \"generals.x\" 4=4 4=1 \".\" 4=4 4=1", 3, NULL },
  { "keys of others", NULL, "\"mradermacher.quantize~version\" 4=8 \"2\" \"someone.list\" 4=9 4=9 8=1 4=4 8=1 4=7 \"qwen3.rope.freq~base\" 4=6 4=0x3f000000", 3, NULL },
  { "a list of ends", NULL, "\"tokenizer.ggml.eos~token~ids\" 4=9 4=5 8=2 4=3 4=9", 1, NULL },
  { "a list of ends in words", NULL, "\"tokenizer.ggml.eos~token~ids\" 4=9 4=8 8=1 \"x\"", 1, "tokenizer.ggml.eos_token_ids is an array of 1; wanted: ids of tokens" },
  { "a list of ends, one of them below 0", NULL, "\"tokenizer.ggml.eos~token~ids\" 4=9 4=5 8=2 4=3 4=0xffffffff", 1, "tokenizer.ggml.eos_token_ids is an array of 2; wanted: ids of tokens" },
  { "too many ends", NULL, "\"tokenizer.ggml.eos~token~ids\" 4=9 4=0 8=15 1=10 1=11 1=12 1=13 1=14 1=15 1=16 1=17 1=18 1=19 1=20 1=21 1=22 1=23 1=24", 1, "tokenizer.ggml.eos_token_ids is an array of 15; wanted: at most 16 ends" },
  { "just as many ends", NULL, "\"tokenizer.ggml.eos~token~ids\" 4=9 4=0 8=15 1=10 1=11 1=12 1=13 1=14 1=15 1=16 1=17 1=18 1=19 1=20 1=21 1=22 1=23 1=3", 1, NULL },
  { "a penalty of 0", NULL, "\"general.sampling.penalty~repeat\" 4=6 4=0", 1, "general.sampling.penalty_repeat is 0; wanted: a number from 1e-09 to 1e+09" },
  { "unknown keys that say no", NULL, "\"llama.strange\" 4=7 1=0 \"llama.empty\" 4=8 \"\" \"llama.none\" 4=9 4=4 8=0", 3, NULL },
  { "harmless keys", NULL, "\"general.file~type\" 4=4 4=0 \"llama.vocab~size\" 4=4 4=99 \"llama.tensor~data~layout\" 4=8 \"Meta\" \"quantize.imatrix.file\" 4=8 \"x\" \"tokenizer.ggml.padding~token~id\" 4=4 4=0 \"tokenizer.chat~template.tool\" 4=8 \"x\" \"llama.rope.scaling.finetuned\" 4=7 1=1", 7, NULL },
  { "an end that is no id", "tokenizer.ggml.eos_token_id", "\"tokenizer.ggml.eos~token~id\" 4=5 4=0xffffffff", 1, "tokenizer.ggml.eos_token_id is -1; wanted: the id of a token" },
  { "an end in words", "tokenizer.ggml.eot_token_id", "\"tokenizer.ggml.eot~token~id\" 4=8 \"x\"", 1, "tokenizer.ggml.eot_token_id is \"x\"; wanted: the id of a token" },
};
enum { N_SETTINGS = sizeof setting / sizeof *setting };
START_TEST(settings_are_accounted_for)
{
  char path[400];
  in_room(path, "settings.gguf");
  for (int i = 0; i < N_SETTINGS; i++) {
    struct memory m = { 0 };
    struct error why = { "" };
    make_model("llama", path, setting[i].drop, setting[i].more, setting[i].n_more);
    struct model *lm = model_open(&m, path, &why);
    ck_assert_msg((lm != NULL) == (setting[i].words == NULL), "%s: %s", setting[i].what, why.text);
    if (lm == NULL) ck_assert_msg(strstr(why.text, setting[i].words) != NULL && strncmp(why.text, path, strlen(path)) == 0,
        "%s: %s", setting[i].what, why.text);
    model_close(&m, lm);
    ck_assert_uint_eq(m.all.live, 0);
  }
  tally("tests/suites/check_gguf.c: keys of settings", N_SETTINGS, 0, 0, "");
  leave();
}
END_TEST

/* what was read, beside the numbers of a config.json */
START_TEST(settings_are_read)
{
  char path[400];
  struct memory m = { 0 };
  struct error why = { "" };
  struct model_config c;
  const char *names[] = { "other", "llama.strange" };
  bool used[2] = { false, false };
  struct config_options o = { .ignore = names, .n_ignore = 2, .used = used };
  make_model("llama", in_room(path, "read.gguf"), NULL,
    "\"llama.strange\" 4=4 4=1 \"tokenizer.ggml.eom~token~id\" 4=4 4=7 \"llama.rope.scaling.type\" 4=8 \"yarn\" "
    "\"llama.rope.scaling.factor\" 4=6 4=0x40800000 \"llama.rope.scaling.attn~factor\" 4=6 4=0x40000000 \"general.file~type\" 4=4 4=1",
    6);
  ck_assert(!config_open(&c, &m, path, &why));
  ck_assert_msg(config_open_with(&c, &m, path, &o, &why), "%s", why.text);
  ck_assert(!used[0] && used[1] && o.n_unknown == 0);
  ck_assert(c.n_eos == 3 && c.eos[0] == 2 && c.eos[1] == 3 && c.eos[2] == 7 && c.has_bos && c.bos == 1);
  ck_assert(c.rope.kind == ROPE_YARN && c.rope.factor == 4 && c.rope.original == 16 && c.rope.truncate);
  ck_assert(fabs(c.rope.attention_factor - 2 * (0.1 * log(4) + 1)) < 1e-9);
  ck_assert(c.rope.beta_fast == 32 && c.rope.beta_slow == 1 && c.rope.theta == 10000);
  ck_assert(c.n_ignored == 3 && strcmp(c.ignored[0].field, "general.file_type") == 0 && strcmp(c.ignored[0].reason, "describes the file") == 0);
  ck_assert(strcmp(c.ignored[2].field, "llama.strange") == 0 && c.ignored[2].reason == config_ignored_by_caller);
  config_close(&m, &c);
  struct config_options tolerant = { .tolerant = true };
  ck_assert(config_open_with(&c, &m, path, &tolerant, &why) && tolerant.n_unknown == 1 && c.ignored[2].reason == NULL);
  config_close(&m, &c);
  make_model("llama", path, "tokenizer.ggml.eot_token_id", "\"tokenizer.ggml.eot~token~id\" 4=4 4=2 \"llama.rope.scale~linear\" 4=6 4=0x40000000", 2);
  ck_assert(config_open(&c, &m, path, &why) && c.n_eos == 1 && c.eos[0] == 2 && c.rope.kind == ROPE_LINEAR && c.rope.factor == 2);
  config_close(&m, &c);
  /* a list of ends, each once, and advice: of that the penalty counts, and the rest is listed */
  make_model("llama", path, NULL, "\"tokenizer.ggml.eos~token~ids\" 4=9 4=5 8=4 4=9 4=3 4=11 4=9 \"general.sampling.penalty~repeat\" 4=6 4=0x3fa00000 "
    "\"general.sampling.temp\" 4=6 4=0x3f000000 \"general.sampling.top~k\" 4=5 4=0xffffffff \"mradermacher.quantized~by\" 4=8 \"me\"", 5);
  ck_assert_msg(config_open(&c, &m, path, &why), "%s", why.text);
  ck_assert(c.n_eos == 4 && c.eos[0] == 2 && c.eos[1] == 3 && c.eos[2] == 9 && c.eos[3] == 11 && strcmp(c.eos_from, "the metadata") == 0);
  ck_assert(c.sampling.repetition_penalty == 1.25 && !c.sampling.do_sample && c.sampling.temperature == 1 && c.sampling.top_k == 0);
  ck_assert(c.n_ignored == 4 && strcmp(c.ignored[1].field, "general.sampling.temp") == 0 && strstr(c.ignored[1].reason, "do_sample") != NULL);
  ck_assert(strcmp(c.ignored[3].field, "mradermacher.quantized_by") == 0 && strstr(c.ignored[3].reason, "namespace") != NULL);
  config_close(&m, &c);
  make_model("llama", path, NULL, "\"llama.rope.scaling.type\" 4=8 \"none\" \"llama.rope.scale~linear\" 4=6 4=0x40000000", 2);
  ck_assert(config_open(&c, &m, path, &why) && c.rope.kind == ROPE_PLAIN);
  config_close(&m, &c);
  /* an attention factor of a config.json, as the converter writes it; in the words of yarn's first program it multiplies */
  for (int i = 0; i < 3; i++) {
    char more[400];
    snprintf(more, sizeof more, "\"llama.rope.scaling.type\" 4=8 \"yarn\" \"llama.rope.scaling.factor\" 4=6 4=0x40800000 "
      "\"llama.rope.scaling.yarn~attn~factor\" 4=6 4=%s %s", i == 1 ? "0x40000000" : "0x3f800000",
      i == 2 ? "\"llama.rope.scaling.yarn~ext~factor\" 4=6 4=0x3f800000" : "");
    make_model("llama", path, NULL, more, i == 2 ? 4 : 3);
    ck_assert_msg(config_open(&c, &m, path, &why), "%s", why.text);
    ck_assert(c.rope.kind == ROPE_YARN && c.rope.mscale == 0);
    ck_assert(fabs(c.rope.attention_factor - (i == 2 ? 0.1 * log(4) + 1 : 1 + i)) < 1e-9);
    config_close(&m, &c);
  }
  ck_assert_uint_eq(m.all.live, 0);
  leave();
}
END_TEST

/* what a file leaves out: a head's width is its share of the model's, whatever the family, there is no window,
   and the base of the frequencies is 10000; rows of the embedding go before those of the tokenizer; a divisor
   of a frequency is a positive number; unknown keys that are not named are counted */
START_TEST(a_gguf_file_may_be_silent)
{
  static const char *const as[] = { "llama", "qwen2", "qwen3" };
  char path[400], key[60], more[2000] = "";
  struct memory m = { 0 };
  struct error why = { "" };
  struct model_config c;
  for (int i = 0; i < 3; i++) {
    snprintf(key, sizeof key, "%s.attention.key_length", as[i]);
    make_model_as(as[i], "qwen2", in_room(path, "silent.gguf"), key, "", 0);
    ck_assert_msg(config_open(&c, &m, path, &why), "%s", why.text);
    ck_assert_uint_eq(c.head_dim, c.d_model / c.n_heads);
    ck_assert(c.window == 0 && c.window_from == 0 && !c.window_used);
    for (uint32_t l = 0; l < 40; l++) ck_assert_uint_eq(config_window(&c, l), 0);
    config_close(&m, &c);
    snprintf(key, sizeof key, "%s.rope.freq_base", as[i]);
    make_model_as(as[i], "qwen2", path, key, "", 0);
    ck_assert(config_open(&c, &m, path, &why) && c.rope.theta == 10000 && c.rope.kind == ROPE_PLAIN);
    uint32_t rows = c.vocab_size;
    config_close(&m, &c);
    make_model_as(as[i], "qwen2", path, NULL, "\"tokenizer.ggml.tokens\" 4=9 4=8 8=2 \"a\" \"b\"", 1);
    ck_assert(config_open(&c, &m, path, &why) && c.vocab_size == rows && rows != 2);
    config_close(&m, &c);
  }
  for (int i = 0; i < 7; i++)
    snprintf(more + strlen(more), sizeof more - strlen(more), "\"llama.a.key.of.which.nobody.has.ever.heard.%d\" 4=4 4=1 ", i);
  make_model("llama", path, NULL, more, 7);
  ck_assert(!config_open(&c, &m, path, &why));
  int named = 0, left = 0;
  for (const char *s = why.text; (s = strstr(s, "ever.heard.")) != NULL; s++) named++;
  ck_assert_msg(sscanf(strstr(why.text, " and ") != NULL ? strstr(why.text, " and ") : "", " and %d more; wanted", &left) == 1,
    "%s", why.text);
  ck_assert_msg(named > 1 && named + left == 7, "%d named: %s", named, why.text);
  make_model("llama-stretched", path, NULL, "", 0); /* its divisors are the last tensor, in 32 bytes */
  for (int i = 0; i < 4; i++) {
    static const float by[] = { 0, -1, INFINITY, NAN };
    FILE *f = fopen(path, "r+b");
    ck_assert(f != NULL && fseek(f, -32, SEEK_END) == 0 && fwrite(&by[i], 4, 1, f) == 1 && fclose(f) == 0);
    ck_assert_ptr_null(model_open(&m, path, &why));
    ck_assert_msg(strstr(why.text, "rope_freqs.weight is a divisor that is no positive number; wanted: one") != NULL,
      "%s", why.text);
  }
  ck_assert_uint_eq(m.all.live, 0);
  leave();
}
END_TEST

/* what a file leaves out: the settings of files that have only the keys that must be there */
START_TEST(absent_keys_have_their_defaults)
{
  static const struct { const char *arch, *eps; double value; bool is_gpt2, qkv_bias, qk_norm; } row[] = {
    { "gpt2", "layer~norm~epsilon", 0.25, true, true, false }, { "llama", "layer~norm~rms~epsilon", 0.5, false, false, false },
    { "qwen2", "layer~norm~rms~epsilon", 0.5, false, true, false }, { "qwen3", "layer~norm~rms~epsilon", 0.5, false, false, true } };
  static const struct { const char *more; unsigned n; enum rope_kind kind; double factor; } rope[] = {
    { "", 0, ROPE_PLAIN, 0 }, { "\"%1$s.rope.scaling.factor\" 4=6 4=0x40800000 ", 1, ROPE_LINEAR, 4 },
    { "\"%1$s.rope.scale~linear\" 4=6 4=0x40000000 ", 1, ROPE_LINEAR, 2 },
    { "\"%1$s.rope.scaling.factor\" 4=6 4=0x40800000 \"%1$s.rope.scale~linear\" 4=6 4=0x40000000 ", 2, ROPE_LINEAR, 4 } };
  char path[400], spec[2000], more[200];
  struct memory m = { 0 };
  struct error why = { "" };
  struct model_config c;
  in_room(path, "defaults.gguf");
  for (size_t i = 0; i < 4; i++)
    for (size_t k = 0; k < (row[i].is_gpt2 ? 1 : 4); k++) {
      const char *a = row[i].arch;
      snprintf(more, sizeof more, rope[k].more, a);
      snprintf(spec, sizeof spec, "'GGUF 4=3 8=0 8=%u \"general.architecture\" 4=8 \"%s\" \"%s.context~length\" 4=4 4=40 "
        "\"%s.embedding~length\" 4=4 4=64 \"%s.block~count\" 4=4 4=2 \"%s.feed~forward~length\" 4=4 4=24 "
        "\"%s.attention.head~count\" 4=4 4=4 \"%s.attention.%s\" 4=6 4=%s \"tokenizer.ggml.tokens\" 4=9 4=8 8=3 \"a\" \"b\" \"c\" %s",
        8 + rope[k].n, a, a, a, a, a, a, a, row[i].eps, row[i].is_gpt2 ? "0x3e800000" : "0x3f000000", more);
      struct written f = compose(spec);
      spill(path, f.byte, f.n);
      free(f.byte);
      ck_assert_msg(config_open(&c, &m, path, &why), "%s: %s", a, why.text);
      ck_assert(c.vocab_size == 3 && c.n_positions == 40 && c.d_model == 64 && c.n_layers == 2 && c.d_inner == 24 && c.n_heads == 4);
      ck_assert_msg(c.n_kv_heads == 4 && c.head_dim == 16, "%s: %u heads of %u", a, c.n_kv_heads, c.head_dim);
      ck_assert(c.norm_eps == row[i].value && c.layer_norm == row[i].is_gpt2 && c.learned_positions == row[i].is_gpt2 && c.gated != row[i].is_gpt2);
      ck_assert(c.activation == (row[i].is_gpt2 ? ACTIVATION_GELU_TANH : ACTIVATION_SILU) && c.scaled && !c.scaled_by_layer && c.tied);
      ck_assert_msg(c.qk_norm == row[i].qk_norm, "%s", a);
      ck_assert(c.window == 0 && !c.window_listed && config_window(&c, 1) == 0);
      ck_assert(c.n_eos == 0 && !c.has_bos && c.eos_from == NULL);
      ck_assert(!c.sampling.do_sample && c.sampling.temperature == 1 && c.sampling.top_p == 1 && c.sampling.min_p == 0
        && c.sampling.top_k == 0 && c.sampling.typical_p == 1 && c.sampling.repetition_penalty == 1 && c.sampling.no_repeat_ngram_size == 0);
      ck_assert_msg(c.rope.kind == rope[k].kind && c.rope.factor == rope[k].factor, "%s, %zu", a, k);
      ck_assert(c.rope.theta == 10000 && c.rope.beta_fast == 32 && c.rope.beta_slow == 1 && c.rope.truncate);
      ck_assert(row[i].is_gpt2 || c.rope.original == 40);
      config_close(&m, &c);
    }
  ck_assert_uint_eq(m.all.live, 0);
  leave();
}
END_TEST

/* what is said in the later families only; files without tensors, of five layers */
static const struct {
  const char *arch, *more; /* |%1$s|: the architecture */
  unsigned n;
  const char *words; /* null: it is accepted */
  const char *setting;
  double value;
} later[] = {
  { "cohere2", "", 0, "cohere2.logit_scale is missing", NULL, 0 },
  { "cohere2", "\"%1$s.logit~scale\" 4=6 4=0x3f000000 ", 1, "cohere2.attention.sliding_window is missing; wanted: an integer from 1", NULL, 0 },
  { "cohere2", "\"%1$s.logit~scale\" 4=6 4=0x3f000000 \"%1$s.attention.sliding~window\" 4=4 4=8 ", 2, NULL, "logit_scale", 0.5 },
  { "cohere2", "\"%1$s.logit~scale\" 4=6 4=0x3f000000 \"%1$s.attention.sliding~window\" 4=4 4=8 "
    "\"%1$s.attention.sliding~window~pattern\" 4=9 4=7 8=4 1=1 1=1 1=0 1=1 ", 3, "sliding_window_pattern is an array of 4; wanted: a truth value for each", NULL, 0 },
  { "cohere2", "\"%1$s.logit~scale\" 4=6 4=0x3f000000 \"%1$s.attention.sliding~window\" 4=4 4=8 "
    "\"%1$s.attention.sliding~window~pattern\" 4=9 4=8 8=5 \"a\" \"b\" \"c\" \"d\" \"e\" ", 3, "sliding_window_pattern is an array of 5; wanted: a truth value for each", NULL, 0 },
  { "cohere2", "\"%1$s.logit~scale\" 4=6 4=0x3f000000 \"%1$s.attention.sliding~window\" 4=4 4=8 "
    "\"%1$s.attention.sliding~window~pattern\" 4=9 4=5 8=5 4=0 4=1 4=1 4=0 4=1 ", 3, NULL, "some_unturned", 1 },
  { "cohere2", "\"%1$s.logit~scale\" 4=6 4=0x3f000000 \"%1$s.attention.sliding~window\" 4=4 4=8 "
    "\"%1$s.attention.sliding~window~pattern\" 4=9 4=7 8=5 1=1 1=1 1=1 1=1 1=1 ", 3, NULL, "some_unturned", 0 },
  { "exaone4", "", 0, NULL, "some_unturned", 0 },
  { "exaone4", "\"%1$s.attention.sliding~window\" 4=4 4=8 ", 1, NULL, "some_unturned", 1 },
  { "command-r", "", 0, "command-r.logit_scale is missing", NULL, 0 },
  { "gptneox", "\"%1$s.rope.dimension~count\" 4=4 4=6 ", 1, NULL, "rotary", 6 },
  { "gptneox", "\"%1$s.rope.dimension~count\" 4=4 4=5 ", 1, "gptneox.rope.dimension_count is 5; wanted: an even number", NULL, 0 },
  { "gptneox", "\"%1$s.rope.dimension~count\" 4=4 4=18 ", 1, "gptneox.rope.dimension_count is 18; wanted: no more than a head has", NULL, 0 },
  { "gptneox", "\"%1$s.rope.dimension~count\" 4=4 4=16 ", 1, NULL, "rotary", 0 },
  { "gptneox", "\"%1$s.use~parallel~residual\" 4=7 1=0 ", 1, NULL, "parallel", 0 },
  { "gptneox", "\"%1$s.use~parallel~residual\" 4=4 4=1 ", 1, "gptneox.use_parallel_residual is 1; wanted: true or false", NULL, 0 },
  { "gptneox", "", 0, NULL, "parallel", 1 },
  { "stablelm", "\"%1$s.use~parallel~residual\" 4=7 1=0 ", 1, NULL, "parallel", 1 },
  { "falcon", "\"%1$s.tensor~data~layout\" 4=8 \"jploski\" ", 1, NULL, "shared_norm", 1 },
  { "seed~oss", "", 0, NULL, "qkv_bias", 0 },
  { "phi2", "", 0, NULL, "head_bias", 1 },
  { "mistral3", "\"%1$s.attention.temperature~scale\" 4=6 4=0x3f000000 ", 1, NULL, "query_growth", 0.5 },
  { "olmoe", "", 0, "olmoe.expert_count is missing", NULL, 0 },
  { "olmoe", "\"%1$s.expert~count\" 4=4 4=4 \"%1$s.expert~used~count\" 4=4 4=2 ", 2, NULL, "d_expert", 24 },
  { "olmoe", "\"%1$s.expert~count\" 4=4 4=4 \"%1$s.expert~used~count\" 4=4 4=2 ", 2, NULL, "chosen_normed", 0 },
  { "olmoe", "\"%1$s.expert~count\" 4=4 4=4 \"%1$s.expert~used~count\" 4=4 4=2 \"%1$s.expert~weights~norm\" 4=7 1=1 ", 3, NULL, "chosen_normed", 1 },
  { "olmoe", "\"%1$s.expert~count\" 4=4 4=4 \"%1$s.expert~used~count\" 4=4 4=4 ", 2, NULL, "n_chosen", 4 },
  { "qwen2moe", "\"%1$s.expert~count\" 4=4 4=4 \"%1$s.expert~used~count\" 4=4 4=2 ", 2, NULL, "d_expert", 12 },
  { "qwen2moe", "\"%1$s.expert~count\" 4=4 4=4 \"%1$s.expert~used~count\" 4=4 4=2 ", 2, NULL, "d_shared", 24 },
  { "qwen2moe", "\"%1$s.expert~count\" 4=4 4=4 \"%1$s.expert~used~count\" 4=4 4=2 \"%1$s.expert~shared~feed~forward~length\" 4=4 4=9 ", 3, NULL, "d_shared", 9 },
  { "qwen3moe", "\"%1$s.expert~count\" 4=4 4=4 \"%1$s.expert~used~count\" 4=4 4=2 ", 2, "qwen3moe.expert_feed_forward_length is missing", NULL, 0 },
  { "qwen3moe", "\"%1$s.expert~count\" 4=4 4=4 \"%1$s.expert~used~count\" 4=4 4=2 \"%1$s.expert~feed~forward~length\" 4=4 4=9 ", 3, NULL, "chosen_normed", 1 },
};
enum { N_LATER = sizeof later / sizeof *later };
START_TEST(keys_of_the_later_families)
{
  static const char *const centred = "gptneox falcon phi2 stablelm command-r cohere2";
  char path[400], spec[2000], more[600];
  in_room(path, "later.gguf");
  for (int i = 0; i < N_LATER; i++) {
    struct memory m = { 0 };
    struct error why = { "" };
    struct model_config c;
    const char *a = later[i].arch;
    snprintf(more, sizeof more, later[i].more, a);
    snprintf(spec, sizeof spec, "'GGUF 4=3 8=0 8=%u \"general.architecture\" 4=8 \"%s\" \"%s.context~length\" 4=4 4=40 "
      "\"%s.embedding~length\" 4=4 4=64 \"%s.block~count\" 4=4 4=5 \"%s.feed~forward~length\" 4=4 4=24 "
      "\"%s.attention.head~count\" 4=4 4=4 \"%s.attention.layer~norm~%sepsilon\" 4=6 4=0x3f000000 \"tokenizer.ggml.tokens\" 4=9 4=8 8=3 \"a\" \"b\" \"c\" %s",
      8 + later[i].n, a, a, a, a, a, a, a, strstr(centred, a) != NULL ? "" : "rms~", more);
    struct written f = compose(spec);
    spill(path, f.byte, f.n);
    free(f.byte);
    bool ok = config_open(&c, &m, path, &why);
    ck_assert_msg(ok == (later[i].words == NULL) && (ok || strstr(why.text, later[i].words) != NULL), "%d, %s: %s", i, a, why.text);
    for (int k = 0; ok && k < N_MODEL_SETTINGS; k++)
      if (strcmp(config_setting[k].name, later[i].setting) == 0)
        ck_assert_msg(setting_value(&config_setting[k], &c) == later[i].value, "%d, %s: %s is %g", i, a, later[i].setting, setting_value(&config_setting[k], &c));
    if (ok) config_close(&m, &c);
    ck_assert_uint_eq(m.all.live, 0);
  }
  tally("tests/suites/check_gguf.c: keys of later families", N_LATER, 0, 0, "");
  leave();
}
END_TEST

/* the largest of the Gemmas, which are known by their layers, scale their scores by the width of the model and not of a head;
   and layers that are not alike have bits in lists of 1024 */
START_TEST(the_number_of_layers_says_more)
{
  static const struct { const char *arch; unsigned layers; double scale; const char *words; } row[] = { { "gemma2", 45, 0.125, NULL },
    { "gemma2", 46, 0.25, NULL }, { "gemma2", 42, 0.125, NULL }, { "gemma3", 46, 0.125, NULL }, { "gemma3", 62, 0.25, NULL },
    { "gemma3", 1024, 0.125, NULL }, { "gemma3", 1025, 0, "gemma3.block_count is 1025; wanted: at most 1024, as they are not alike" },
    { "smollm3", 1025, 0, "smollm3.block_count is 1025; wanted: at most 1024" }, { "llama", 1025, 0, NULL } };
  char path[400], spec[2000];
  struct memory m = { 0 };
  in_room(path, "layers.gguf");
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    struct error why = { "" };
    struct model_config c;
    const char *a = row[i].arch;
    snprintf(spec, sizeof spec, "'GGUF 4=3 8=0 8=9 \"general.architecture\" 4=8 \"%s\" \"%s.context~length\" 4=4 4=40 "
      "\"%s.embedding~length\" 4=4 4=64 \"%s.block~count\" 4=4 4=%u \"%s.feed~forward~length\" 4=4 4=24 \"%s.attention.key~length\" 4=4 4=64 "
      "\"%s.attention.head~count\" 4=4 4=4 \"%s.attention.layer~norm~rms~epsilon\" 4=6 4=0x3f000000 \"tokenizer.ggml.tokens\" 4=9 4=8 8=3 \"a\" \"b\" \"c\" ",
      a, a, a, a, row[i].layers, a, a, a, a);
    struct written f = compose(spec);
    spill(path, f.byte, f.n);
    free(f.byte);
    bool ok = config_open(&c, &m, path, &why);
    ck_assert_msg(ok == (row[i].words == NULL) && (ok || strstr(why.text, row[i].words) != NULL), "%s, %u: %s", a, row[i].layers, why.text);
    if (ok) ck_assert_msg(c.score_scale == row[i].scale, "%s, %u: %g", a, row[i].layers, c.score_scale);
    if (ok) config_close(&m, &c);
    ck_assert_uint_eq(m.all.live, 0);
  }
  leave();
}
END_TEST

/* divisors of frequencies that are tensors: each is a positive number, and there are 256 at most */
START_TEST(divisors_in_tensors_are_numbers)
{
  char path[400], spec[2000], width[20];
  struct memory m = { 0 };
  in_room(path, "divisors.gguf");
  for (int i = 0; i < 5 + 2; i++) {
    static const char *const by[] = { "0000803f", "00000000", "000080bf", "0000807f", "0000c07f" };
    static const char *const words[] = { "blk.0.attn_norm.weight is missing", "rope_factors is a divisor", "rope_factors is a divisor", "rope_factors is a divisor",
      "rope_factors is a divisor", "rope_factors_short.weight is [4]; wanted: [256]", "257 pairs in a head; wanted: at most 256" };
    unsigned d = i < 5 ? 8 : i == 5 ? 512 : 514, table = (12 * d + 31) / 32 * 32, norm = (4 * d + 31) / 32 * 32;
    for (int k = 0; k < (i < 5 ? 8 : 1); k++) { /* which of the two lists of four is damaged, and where */
      char list[2][80] = { "", "" };
      struct error why = { "" };
      for (int n = 0; n < 8; n++) snprintf(list[n / 4] + 8 * (n % 4), 9, "%s", n == k && i < 5 ? by[i] : by[0]);
      snprintf(width, sizeof width, "%u", d);
      snprintf(spec, sizeof spec, "'GGUF 4=3 8=4 8=7 \"general.architecture\" 4=8 \"phi3\" \"phi3.context~length\" 4=4 4=40 "
        "\"phi3.embedding~length\" 4=4 4=%s \"phi3.block~count\" 4=4 4=1 \"phi3.feed~forward~length\" 4=4 4=24 \"phi3.attention.head~count\" 4=4 4=1 "
        "\"phi3.attention.layer~norm~rms~epsilon\" 4=6 4=0x3f000000 \"token~embd.weight\" 4=2 8=%s 8=3 4=0 8=0 \"output~norm.weight\" 4=1 8=%s 4=0 8=%u "
        "\"rope~factors~short.weight\" 4=1 8=4 4=0 8=%u \"rope~factors~long.weight\" 4=1 8=4 4=0 8=%u p32 z%u z%u x%s z16 x%s ",
        width, width, width, table, table + norm, table + norm + 32, table, norm, list[0], list[1]);
      struct written f = compose(spec);
      spill(path, f.byte, f.n);
      free(f.byte);
      ck_assert_ptr_null(model_open(&m, path, &why));
      ck_assert_msg(strstr(why.text, words[i]) != NULL, "%d, %d: %s", i, k, why.text);
      ck_assert_uint_eq(m.all.live, 0);
    }
  }
  leave();
}
END_TEST

/* every request for memory refused once */
START_TEST(models_survive_refused_requests)
{
  char path[400];
  make_model("llama", in_room(path, "refused.gguf"), NULL, "\"general.file~type\" 4=4 4=1", 1);
  for (uint64_t at = 1;; at++) {
    struct memory m = { .fail_at = at };
    struct error why = { "" };
    struct model *lm = model_open(&m, path, &why);
    bool done = m.all.refused == 0;
    ck_assert_msg((lm != NULL) == done && (done || strstr(why.text, "out of memory") != NULL), "%d: %s", (int) at, why.text);
    model_close(&m, lm);
    ck_assert_uint_eq(m.all.live, 0);
    if (done) break;
  }
  leave();
}
END_TEST

/* ---- tokenizers in both forms: tokenizers that travel with the project, written as GGUF files */
static json_t *load_json(const char *path)
{
  json_t *o = json_load_file(path, JSON_ALLOW_NUL, NULL);
  ck_assert_msg(o != NULL, "%s", path);
  return o;
}
/* the words by id, each with its type */
struct word_row {
  const char *text;
  size_t n;
  unsigned type;
  float score;
};
static size_t words_of(json_t *file, struct word_row *row, size_t max)
{
  json_t *vocab = json_object_get(json_object_get(file, "model"), "vocab"), *id, *one;
  bool scored = json_is_true(json_object_get(json_object_get(file, "model"), "byte_fallback"));
  const char *text;
  size_t n, most = 0, i;
  json_object_keylen_foreach(vocab, text, n, id)
  {
    size_t at = (size_t) json_integer_value(id);
    ck_assert(at < max);
    bool byte = scored && n == 6 && strncmp(text, "<0x", 3) == 0;
    row[at] = (struct word_row){ text, n, byte ? 6 : 1, -1e6f };
    if (at >= most) most = at + 1;
  }
  json_array_foreach(json_object_get(file, "added_tokens"), i, one)
  {
    size_t at = (size_t) json_integer_value(json_object_get(one, "id"));
    json_t *content = json_object_get(one, "content");
    ck_assert(at < max);
    row[at] = (struct word_row){ json_string_value(content), json_string_length(content),
      json_is_true(json_object_get(one, "special")) ? 3 : 4, 0 };
    if (at >= most) most = at + 1;
  }
  json_array_foreach(json_object_get(json_object_get(file, "model"), "merges"), i, one)
  {
    char both[300];
    const char *a = json_string_value(json_array_get(one, 0)), *b = json_string_value(json_array_get(one, 1)), *s = json_string_value(one);
    if (s != NULL) snprintf(both, sizeof both, "%.*s%s", (int) strcspn(s, " "), s, s + strcspn(s, " ") + 1);
    else snprintf(both, sizeof both, "%s%s", a, b);
    json_t *made = json_object_get(vocab, both);
    if (made != NULL && row[json_integer_value(made)].score == -1e6f) row[json_integer_value(made)].score = -(float) i;
  }
  return most;
}
static void key_array(struct making *g, const char *name, unsigned of, uint64_t n)
{
  if (!key_begins(g, "tokenizer.ggml", name, GGUF_ARRAY)) ck_abort_msg("an array cannot be dropped");
  put_number(&g->keys, 4, of), put_number(&g->keys, 8, n);
}
/* |pre| null: a vocabulary with scores */
static void vocabulary_keys(struct making *g, json_t *file, const char *pre)
{
  static struct word_row row[2000];
  memset(row, 0, sizeof row);
  size_t n = words_of(file, row, 2000), i;
  json_t *merges = json_object_get(json_object_get(file, "model"), "merges"), *one;
  key_text(g, "tokenizer.ggml", "model", pre == NULL ? "llama" : "gpt2");
  if (pre != NULL) key_text(g, "tokenizer.ggml", "pre", pre);
  key_array(g, "tokens", GGUF_STRING, n);
  for (i = 0; i < n; i++) put_number(&g->keys, 8, row[i].n), put(&g->keys, row[i].text, row[i].n);
  key_array(g, "token_type", GGUF_I32, n);
  for (i = 0; i < n; i++) put_number(&g->keys, 4, pre == NULL && i == 0 ? 2 : row[i].type);
  if (pre == NULL) {
    key_array(g, "scores", GGUF_F32, n);
    for (i = 0; i < n; i++) put(&g->keys, &row[i].score, 4);
    key_count(g, "tokenizer.ggml", "unknown_token_id", 0);
    return;
  }
  key_array(g, "merges", GGUF_STRING, json_array_size(merges));
  json_array_foreach(merges, i, one)
  {
    char both[300];
    if (json_is_string(one)) snprintf(both, sizeof both, "%s", json_string_value(one));
    else snprintf(both, sizeof both, "%s %s", json_string_value(json_array_get(one, 0)), json_string_value(json_array_get(one, 1)));
    put_string(&g->keys, both);
  }
}
static void make_vocabulary(json_t *file, const char *path, const char *pre, const char *drop, const char *more, unsigned n_more)
{
  struct making g = { .drop = drop };
  vocabulary_keys(&g, file, pre);
  key_count(&g, "tokenizer.ggml", "bos_token_id", 1), key_count(&g, "tokenizer.ggml", "eos_token_id", 2);
  struct written f = compose(more);
  put(&g.keys, f.byte, f.n), g.n_keys += n_more;
  free(f.byte);
  finish(&g, path);
}
static json_t *split_by(const char *pattern)
{
  return json_pack("{s:s,s:{s:s},s:s,s:b}", "type", "Split", "pattern", "Regex", pattern, "behavior", "Isolated", "invert", 0);
}
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define LLAMA3 "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define QWEN2 "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define FALCON "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"
static const struct {
  const char *name, *pattern[4];
  bool whole, composes, begins;
} pre[] = {
  { "gpt-2", { GPT2 }, false, false, false }, { "llama-bpe", { LLAMA3 }, true, false, true },
  { "llama3", { LLAMA3 }, true, false, true }, { "lfm2", { LLAMA3 }, true, false, true },
  { "qwen2", { QWEN2 }, false, true, false }, { "deepseek-r1-qwen", { QWEN2 }, false, true, false },
  { "smollm", { "\\p{N}", GPT2 }, false, false, false }, { "minerva-7b", { "\\p{N}", GPT2 }, false, false, false },
  { "default", { "[\\p{P}\\$\\+<=>\\^~\\|]+", FALCON, "\\p{N}+", "[0-9][0-9][0-9]" }, false, false, false },
};
static const char *const sample[] = { "", " ", "the cat sat", "  two  spaces ", "It's THE cat'S; we'll go", "a1b22c333d4444 55555", "x = y+z; //...",
  "tabs\tand\n\n newlines \r\n  here\n", "caf\xc3\xa9 e\xcc\x81 \xe1\xb9\xa9 s\xcc\xa3\xcc\x87", "\xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80!", "<|begin|>twice cat<|turn|> <|endoftext|>", "cats and cat", "\xff\xfe broken \xc3",
  "$5.00 + 10% <a|b> ~^", " 12 345 6789 ", " <tool> the<tool>cat", "<tool>", "\xe2\x96\x81the \xe2\x96\x81" };
static void same_words(struct tokenizer *t, struct tokenizer *u, struct memory *m, const char *what)
{
  uint64_t seed = suite_seed();
  struct error why = { "" };
  for (size_t i = 0; i < 600; i++) {
    char text[200];
    size_t n = 0;
    if (i < sizeof sample / sizeof *sample) n = strlen(strcpy(text, sample[i]));
    else for (size_t parts = rnd(&seed) % 6 + 1; parts > 0; parts--) {
      const char *s = sample[rnd(&seed) % (sizeof sample / sizeof *sample)];
      size_t l = strlen(s), from = l ? rnd(&seed) % l : 0, take = l ? rnd(&seed) % (l - from) + 1 : 0;
      if (take > 30) take = 30;
      memcpy(text + n, s + from, take), n += take;
    }
    for (int flags = 0; flags < 4; flags++) {
      struct ids a = { 0 }, b = { 0 };
      ck_assert(tokenizer_encode(t, m, text, n, flags & 1, flags & 2, &a, &why) && tokenizer_encode(u, m, text, n, flags & 1, flags & 2, &b, &why));
      ck_assert_msg(a.n == b.n && (a.n == 0 || memcmp(a.id, b.id, a.n * sizeof *a.id) == 0), "%s: %.*s", what, (int) n, text);
      struct bytes x = { 0 }, y = { 0 };
      ck_assert(tokenizer_decode(t, m, a.id, a.n, true, &x, &why) && tokenizer_decode(u, m, a.id, a.n, true, &y, &why));
      ck_assert_msg(x.n == y.n && (x.n == 0 || memcmp(x.byte, y.byte, x.n) == 0), "%s: %.*s", what, (int) n, text);
      bytes_free(m, &x), bytes_free(m, &y), ids_free(m, &a), ids_free(m, &b);
    }
  }
}
START_TEST(names_of_patterns)
{
  char path[400], other[400];
  struct memory m = { 0 };
  struct error why = { "" };
  for (size_t i = 0; i < sizeof pre / sizeof *pre; i++) {
    json_t *file = load_json("tests/golden/tokenizers/llama/tokenizer.json"), *stages = json_array(), *one;
    size_t k;
    for (int p = 0; p < 4 && pre[i].pattern[p] != NULL; p++) json_array_append_new(stages, split_by(pre[i].pattern[p]));
    json_array_append_new(stages, json_pack("{s:s,s:b,s:b,s:b}", "type", "ByteLevel", "add_prefix_space", 0, "trim_offsets", 0, "use_regex", 0));
    json_object_set_new(file, "pre_tokenizer", json_pack("{s:s,s:o}", "type", "Sequence", "pretokenizers", stages));
    json_object_set_new(file, "normalizer", pre[i].composes ? json_pack("{s:s}", "type", "NFC") : json_null());
    json_object_set_new(json_object_get(file, "model"), "ignore_merges", json_boolean(pre[i].whole));
    if (!pre[i].begins) json_object_set_new(file, "post_processor", json_null());
    json_array_foreach(json_object_get(file, "added_tokens"), k, one)
    {
      static const char *const flag[] = { "normalized", "lstrip", "rstrip", "single_word" };
      for (int f = 0; f < 4; f++) json_object_set_new(one, flag[f], json_false());
    }
    ck_assert_int_eq(json_dump_file(file, in_room(other, "tokenizer.json"), 0), 0);
    make_vocabulary(file, in_room(path, "words.gguf"), pre[i].name, "tokenizer.ggml.bos_token_id", "\"tokenizer.ggml.bos~token~id\" 4=4 4=657", 1);
    struct tokenizer *t = tokenizer_open(&m, other, &why);
    ck_assert_msg(t != NULL, "%s", why.text);
    struct tokenizer *u = tokenizer_open(&m, path, &why);
    ck_assert_msg(u != NULL, "%s", why.text);
    ck_assert_str_eq(tokenizer_kind(u), "byte-level BPE");
    ck_assert_uint_eq(tokenizer_vocab_size(t), tokenizer_vocab_size(u));
    ck_assert_uint_eq(tokenizer_added_count(t), tokenizer_added_count(u));
    same_words(t, u, &m, pre[i].name);
    tokenizer_close(&m, t), tokenizer_close(&m, u);
    if (strcmp(pre[i].name, "default") == 0) { /* which is also what no name means */
      make_vocabulary(file, path, "default", "tokenizer.ggml.pre", "", 0);
      t = tokenizer_open(&m, other, &why), u = tokenizer_open(&m, path, &why);
      ck_assert_msg(u != NULL, "%s", why.text);
      same_words(t, u, &m, "no name");
      tokenizer_close(&m, t), tokenizer_close(&m, u);
    }
    json_decref(file);
  }
  ck_assert_uint_eq(m.all.live, 0);
  leave();
}
END_TEST
/* cuts n bytes by the patterns from the k-th on, and notes where each piece ends */
static void cut_by(const struct pattern_group *by, int k, struct splitter **s, struct split_work *w, const unsigned char *text, size_t n, size_t *at, json_t *ends)
{
  if (k == GGUF_PATTERNS || by->pattern[k] == NULL) {
    json_array_append_new(ends, json_integer((json_int_t) (*at += n)));
    return;
  }
  struct error why = { "" };
  struct pieces p;
  struct text_piece next;
  pieces_begin(&p, s[k], w, text, n);
  while (pieces_next(&p, &next, &why) && next.n > 0) cut_by(by, k + 1, s, w, next.byte, next.n, at, ends);
  ck_assert_str_eq(why.text, "");
}
START_TEST(names_cut_as_the_makers_do)
{
  struct memory m = { 0 };
  struct error why = { "" };
  struct splitter *s[GGUF_PATTERNS] = { NULL };
  struct split_work w = { .m = &m };
  const struct pattern_group *by = NULL;
  char *row = NULL, list[GGUF_NAMES_CAP];
  size_t cap = 0;
  unsigned lines = 0, names = 0;
  FILE *f = fopen("tests/golden/tokenizers/cuts.jsonl", "r");
  ck_assert_ptr_nonnull(f);
  gguf_pattern_names(list);
  while (getline(&row, &cap, f) > 0) {
    json_t *c = json_loads(row, JSON_ALLOW_NUL, NULL), *name = json_object_get(c, "pre"), *text = json_object_get(c, "text"), *ends = json_array();
    const struct pattern_group *now = gguf_pattern_named((struct gguf_words) { json_string_value(name), json_string_length(name) });
    ck_assert_ptr_nonnull(now);
    for (int k = 0; now != by && k < GGUF_PATTERNS; k++) {
      splitter_close(s[k]);
      s[k] = now->pattern[k] == NULL ? NULL : splitter_open(&m, now->pattern[k], strlen(now->pattern[k]), false, &why);
      ck_assert_msg(now->pattern[k] == NULL || s[k] != NULL, "%s: %s", json_string_value(name), why.text);
    }
    if (now != by) {
      const char *here = strstr(list, json_string_value(name)); /* its first name is in the list of messages */
      ck_assert_msg(here != NULL && strchr(", ", here[json_string_length(name)]) != NULL, "%s in %s", json_string_value(name), list);
      names++;
    }
    by = now;
    size_t at = 0;
    cut_by(by, 0, s, &w, (const unsigned char *) json_string_value(text), json_string_length(text), &at, ends);
    if (json_string_length(text) == 0) json_array_clear(ends);
    if (!json_equal(ends, json_object_get(c, "cuts"))) ck_abort_msg("%sours: %s", row, json_dumps(ends, 0));
    json_decref(ends), json_decref(c), lines++;
  }
  for (int k = 0; k < GGUF_PATTERNS; k++) splitter_close(s[k]);
  split_work_free(&w);
  free(row), fclose(f);
  ck_assert_uint_ge(lines, 1700);
  ck_assert_uint_eq(names, 31);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
START_TEST(words_with_scores)
{
  char path[400];
  struct memory m = { 0 };
  struct error why = { "" };
  json_t *file = load_json("tests/golden/tokenizers/pieces/tokenizer.json");
  make_vocabulary(file, in_room(path, "words.gguf"), NULL, NULL, "", 0);
  struct tokenizer *t = tokenizer_open(&m, "tests/golden/tokenizers/pieces", &why), *u = tokenizer_open(&m, path, &why);
  ck_assert_msg(t != NULL && u != NULL, "%s", why.text);
  ck_assert_str_eq(tokenizer_kind(u), "SentencePiece BPE");
  uint32_t id = 9;
  ck_assert(tokenizer_bos(u, &id) && id == 1 && tokenizer_is_special(u, 0) && tokenizer_is_special(u, 2) && !tokenizer_is_special(u, 3));
  same_words(t, u, &m, "scores");
  tokenizer_close(&m, u);
  /* without the blank, and with both ends */
  make_vocabulary(file, path, NULL, NULL, "\"tokenizer.ggml.add~space~prefix\" 4=7 1=0 \"tokenizer.ggml.add~bos~token\" 4=7 1=0 \"tokenizer.ggml.add~eos~token\" 4=7 1=1", 3);
  u = tokenizer_open(&m, path, &why);
  ck_assert_msg(u != NULL, "%s", why.text);
  struct ids a = { 0 }, b = { 0 };
  ck_assert(tokenizer_encode(t, &m, " the cat", 8, false, false, &a, &why) && tokenizer_encode(u, &m, "  the cat", 9, true, false, &b, &why));
  ck_assert(b.n == a.n + 1 && memcmp(a.id, b.id, a.n * sizeof *a.id) == 0 && b.id[b.n - 1] == 2 && !tokenizer_bos(u, &id));
  ids_free(&m, &a), ids_free(&m, &b);
  tokenizer_close(&m, t), tokenizer_close(&m, u);
  json_decref(file);
  ck_assert_uint_eq(m.all.live, 0);
  leave();
}
END_TEST

/* ---- vocabularies and their defects */
#define WORDS "\"tokenizer.ggml.tokens\" 4=9 4=8 8=3 \"a\" \"b\" \"ab\" "
#define MODEL(name) "\"tokenizer.ggml.model\" 4=8 \"" name "\" "
#define MERGES "\"tokenizer.ggml.merges\" 4=9 4=8 8=1 \"a_b\" "
#define SCORES "\"tokenizer.ggml.scores\" 4=9 4=6 8=3 4=0 4=0 4=0x3f800000 "
static const struct {
  const char *what, *spec;
  enum tokenizer_found found;
  const char *words;
} vocabulary[] = {
  { "bytes", HEAD(0, 3) MODEL("gpt2") WORDS MERGES, TOKENIZER_OPEN, "" },
  { "scores", HEAD(0, 3) MODEL("llama") WORDS SCORES, TOKENIZER_OPEN, "" },
  { "none", HEAD(0, 0), TOKENIZER_ABSENT, "tokenizer.ggml.model is missing; wanted: a vocabulary: gpt2 or llama" },
  { "none, in words", HEAD(0, 1) MODEL("none"), TOKENIZER_ABSENT, "tokenizer.ggml.model is \"none\"" },
  { "no_vocab", HEAD(0, 1) MODEL("no~vocab"), TOKENIZER_ABSENT, "tokenizer.ggml.model is \"no_vocab\"" },
  { "another kind", HEAD(0, 1) MODEL("bert"), TOKENIZER_OTHER_KIND, "tokenizer.ggml.model is \"bert\"; wanted: gpt2 or llama (another kind of tokenizer)" },
  { "a kind that is a number", HEAD(0, 1) "\"tokenizer.ggml.model\" 4=4 4=1", TOKENIZER_REFUSED, "tokenizer.ggml.model is 1" },
  { "no words", HEAD(0, 1) MODEL("gpt2"), TOKENIZER_REFUSED, "tokenizer.ggml.tokens is missing; wanted: an array of at most 4194304 strings" },
  { "words that are numbers", HEAD(0, 2) MODEL("gpt2") "\"tokenizer.ggml.tokens\" 4=9 4=4 8=1 4=1", TOKENIZER_REFUSED, "tokenizer.ggml.tokens is an array of 1; wanted" },
  { "one word", HEAD(0, 2) MODEL("gpt2") "\"tokenizer.ggml.tokens\" 4=8 \"a\"", TOKENIZER_REFUSED, "tokenizer.ggml.tokens is \"a\"; wanted" },
  { "no merges", HEAD(0, 2) MODEL("gpt2") WORDS, TOKENIZER_REFUSED, "tokenizer.ggml.merges is missing; wanted: an array of strings" },
  { "no scores", HEAD(0, 2) MODEL("llama") WORDS, TOKENIZER_REFUSED, "tokenizer.ggml.scores is missing; wanted: an array of 3 numbers" },
  { "too few scores", HEAD(0, 3) MODEL("llama") WORDS "\"tokenizer.ggml.scores\" 4=9 4=6 8=2 4=0 4=0", TOKENIZER_REFUSED, "tokenizer.ggml.scores is an array of 2; wanted: an array of 3 numbers" },
  { "a score that is NaN", HEAD(0, 3) MODEL("llama") WORDS "\"tokenizer.ggml.scores\" 4=9 4=6 8=3 4=0 4=0x7fc00000 4=0", TOKENIZER_REFUSED, "piece 1 is something else; wanted: letters in UTF-8 and a score" },
  { "too many types", HEAD(0, 4) MODEL("gpt2") WORDS MERGES "\"tokenizer.ggml.token~type\" 4=9 4=5 8=4 4=1 4=1 4=1 4=1", TOKENIZER_REFUSED, "tokenizer.ggml.token_type is an array of 4; wanted: an array of 3 integers" },
  { "types that are reals", HEAD(0, 4) MODEL("gpt2") WORDS MERGES "\"tokenizer.ggml.token~type\" 4=9 4=6 8=3 4=0 4=0 4=0", TOKENIZER_REFUSED, "tokenizer.ggml.token_type is an array of 3; wanted: an array of 3 integers" },
  { "a seventh type", HEAD(0, 4) MODEL("llama") WORDS SCORES "\"tokenizer.ggml.token~type\" 4=9 4=5 8=3 4=1 4=7 4=1", TOKENIZER_REFUSED, "piece 1 is one of an unknown type; wanted: a type from 1 to 6" },
  { "an empty piece", HEAD(0, 3) MODEL("llama") "\"tokenizer.ggml.tokens\" 4=9 4=8 8=3 \"a\" \"\" \"ab\" " SCORES, TOKENIZER_REFUSED, "piece 1 is something else" },
  { "an empty word", HEAD(0, 3) MODEL("gpt2") "\"tokenizer.ggml.tokens\" 4=9 4=8 8=4 \"a\" \"b\" \"ab\" \"\" " MERGES, TOKENIZER_OPEN, "" },
  { "a piece twice", HEAD(0, 3) MODEL("llama") "\"tokenizer.ggml.tokens\" 4=9 4=8 8=3 \"a\" \"b\" \"a\" " SCORES, TOKENIZER_REFUSED, "piece 2 is a word for the second time" },
  { "a letter that is no piece", HEAD(0, 3) MODEL("llama") "\"tokenizer.ggml.tokens\" 4=9 4=8 8=3 \"a\" \"b\" \"ac\" " SCORES, TOKENIZER_REFUSED, "piece 2 is a letter that is no piece" },
  { "a word that is not UTF-8", HEAD(0, 3) MODEL("gpt2") "\"tokenizer.ggml.tokens\" 4=9 4=8 8=1 8=1 xff " MERGES, TOKENIZER_REFUSED, "token 0 is not UTF-8; wanted: letters" },
  { "a piece that is not UTF-8", HEAD(0, 3) MODEL("llama") "\"tokenizer.ggml.tokens\" 4=9 4=8 8=3 8=1 xff \"b\" \"c\" " SCORES, TOKENIZER_REFUSED, "piece 0 is something else" },
  { "a merge without a blank", HEAD(0, 3) MODEL("gpt2") WORDS "\"tokenizer.ggml.merges\" 4=9 4=8 8=2 \"a_b\" \"ab\"", TOKENIZER_REFUSED, "tokenizer.ggml.merges[1] is \"ab\"; wanted: two words of the vocabulary that make a third" },
  { "a merge of a stranger", HEAD(0, 3) MODEL("gpt2") WORDS "\"tokenizer.ggml.merges\" 4=9 4=8 8=1 \"a_c\"", TOKENIZER_REFUSED, "tokenizer.ggml.merges[0] is \"a c\"" },
  { "a merge that makes a stranger", HEAD(0, 3) MODEL("gpt2") WORDS "\"tokenizer.ggml.merges\" 4=9 4=8 8=1 \"b_a\"", TOKENIZER_REFUSED, "tokenizer.ggml.merges[0] is \"b a\"" },
  { "merges that are numbers", HEAD(0, 3) MODEL("gpt2") WORDS "\"tokenizer.ggml.merges\" 4=9 4=4 8=1 4=1", TOKENIZER_REFUSED, "tokenizer.ggml.merges is an array of 1; wanted: an array of strings" },
  { "an unknown name", HEAD(0, 4) MODEL("gpt2") WORDS MERGES "\"tokenizer.ggml.pre\" 4=8 \"afmoe\"", TOKENIZER_REFUSED, "tokenizer.ggml.pre is \"afmoe\"; wanted: one of the names known here: gpt-2, llama3, dbrx, qwen2," },
  { "a part of a name", HEAD(0, 4) MODEL("gpt2") WORDS MERGES "\"tokenizer.ggml.pre\" 4=8 \"llama\"", TOKENIZER_REFUSED, "tokenizer.ggml.pre is \"llama\"" },
  { "the end of a name", HEAD(0, 4) MODEL("gpt2") WORDS MERGES "\"tokenizer.ggml.pre\" 4=8 \"bpe\"", TOKENIZER_REFUSED, "tokenizer.ggml.pre is \"bpe\"" },
  { "an empty name", HEAD(0, 4) MODEL("gpt2") WORDS MERGES "\"tokenizer.ggml.pre\" 4=8 \"\"", TOKENIZER_REFUSED, "tokenizer.ggml.pre is \"\"" },
  { "a name that is a number", HEAD(0, 4) MODEL("gpt2") WORDS MERGES "\"tokenizer.ggml.pre\" 4=4 4=2", TOKENIZER_REFUSED, "tokenizer.ggml.pre is 2" },
  { "a wish that is a number", HEAD(0, 4) MODEL("gpt2") WORDS MERGES "\"tokenizer.ggml.add~bos~token\" 4=4 4=1", TOKENIZER_REFUSED, "tokenizer.ggml.add_bos_token is 1; wanted: true or false" },
  { "a wish without a token", HEAD(0, 4) MODEL("gpt2") WORDS MERGES "\"tokenizer.ggml.add~bos~token\" 4=7 1=1", TOKENIZER_REFUSED, "tokenizer.ggml.bos_token_id is missing; wanted: the id of a token, which is to be added" },
  { "a wish that is not had", HEAD(0, 4) MODEL("llama") WORDS SCORES "\"tokenizer.ggml.add~bos~token\" 4=7 1=0", TOKENIZER_OPEN, "" },
  { "a beginning beyond the words", HEAD(0, 4) MODEL("llama") WORDS SCORES "\"tokenizer.ggml.bos~token~id\" 4=4 4=3", TOKENIZER_REFUSED, "tokenizer.ggml.bos_token_id is 3; wanted: the id of a token" },
  { "a beginning in words", HEAD(0, 4) MODEL("llama") WORDS SCORES "\"tokenizer.ggml.bos~token~id\" 4=8 \"a\"", TOKENIZER_REFUSED, "tokenizer.ggml.bos_token_id is \"a\"" },
  { "an end without a token", HEAD(0, 5) MODEL("llama") WORDS SCORES "\"tokenizer.ggml.bos~token~id\" 4=4 4=0 \"tokenizer.ggml.add~eos~token\" 4=7 1=1", TOKENIZER_REFUSED, "tokenizer.ggml.eos_token_id is missing" },
  { "an unknown piece beyond the words", HEAD(0, 4) MODEL("llama") WORDS SCORES "\"tokenizer.ggml.unknown~token~id\" 4=4 4=3", TOKENIZER_REFUSED, "tokenizer.ggml.unknown_token_id is 3" },
  { "thinned blanks", HEAD(0, 4) MODEL("llama") WORDS SCORES "\"tokenizer.ggml.remove~extra~whitespaces\" 4=7 1=1", TOKENIZER_REFUSED, "tokenizer.ggml.remove_extra_whitespaces is true; wanted: false" },
  { "a map of characters", HEAD(0, 4) MODEL("llama") WORDS SCORES "\"tokenizer.ggml.precompiled~charsmap\" 4=9 4=0 8=1 1=1", TOKENIZER_REFUSED, "tokenizer.ggml.precompiled_charsmap is an array of 1; wanted: none" },
  { "a prefix that is no flag", HEAD(0, 4) MODEL("llama") WORDS SCORES "\"tokenizer.ggml.add~space~prefix\" 4=4 4=1", TOKENIZER_REFUSED, "tokenizer.ggml.add_space_prefix is 1; wanted: true or false" },
  { "a broken file", HEAD(0, 2) MODEL("gpt2"), TOKENIZER_REFUSED, "" },
};
START_TEST(vocabularies_are_refused_by_name)
{
  char path[400];
  in_room(path, "vocabulary");
  for (size_t i = 0; i < sizeof vocabulary / sizeof *vocabulary; i++) {
    struct written f = compose(vocabulary[i].spec);
    struct memory m = { 0 };
    struct error why = { "" };
    struct tokenizer *t;
    spill(path, f.byte, f.n);
    /* without a token to begin with, a vocabulary of scores has to be told so */
    enum tokenizer_found found = tokenizer_try(&m, path, &t, &why);
    bool begins = strcmp(vocabulary[i].what, "scores") == 0;
    if (begins) ck_assert_msg(found == TOKENIZER_REFUSED && strstr(why.text, "bos_token_id is missing") != NULL, "%s", why.text);
    else {
      ck_assert_msg(found == vocabulary[i].found, "%s: %d, %s", vocabulary[i].what, found, why.text);
      ck_assert_msg(strstr(why.text, vocabulary[i].words) != NULL, "%s: %s", vocabulary[i].what, why.text);
      ck_assert_msg(t != NULL || strncmp(why.text, path, strlen(path)) == 0, "%s: %s", vocabulary[i].what, why.text);
    }
    tokenizer_close(&m, t);
    ck_assert_uint_eq(m.all.live, 0);
    free(f.byte);
  }
  tally("tests/suites/check_gguf.c: vocabularies", sizeof vocabulary / sizeof *vocabulary, 0, 0, "");
  leave();
}
END_TEST

/* unused words are found in no text, and user-defined ones in every text */
START_TEST(types_of_words)
{
  char path[400];
  struct memory m = { 0 };
  struct error why = { "" };
  static const char *const spec[] = {
    HEAD(0, 6) MODEL("gpt2") "\"tokenizer.ggml.tokens\" 4=9 4=8 8=8 \"a\" \"b\" \"ab\" \"<u>\" \"<c>\" \"c\" 8=2 xc3a9 \"<?>\" " MERGES
    "\"tokenizer.ggml.token~type\" 4=9 4=5 8=8 4=1 4=1 4=1 4=4 4=3 4=5 4=4 4=2 \"tokenizer.ggml.pre\" 4=8 \"gpt-2\" \"x\" 4=0 1=0",
    HEAD(0, 7) MODEL("llama") "\"tokenizer.ggml.tokens\" 4=9 4=8 8=7 \"a\" \"b\" \"ab\" \"<u>\" \"<c>\" \"c\" \"<unk>\" "
    "\"tokenizer.ggml.scores\" 4=9 4=6 8=7 4=0 4=0 4=0 4=0 4=0 4=0 4=0 \"tokenizer.ggml.unknown~token~id\" 4=4 4=6 "
    "\"tokenizer.ggml.token~type\" 4=9 4=5 8=7 4=1 4=1 4=1 4=4 4=3 4=5 4=2 \"tokenizer.ggml.add~bos~token\" 4=7 1=0 \"tokenizer.ggml.add~space~prefix\" 4=7 1=0" };
  for (int i = 0; i < 2; i++) {
    struct written f = compose(spec[i]);
    spill(in_room(path, "types.gguf"), f.byte, f.n);
    free(f.byte);
    struct tokenizer *t = tokenizer_open(&m, path, &why);
    ck_assert_msg(t != NULL, "%s", why.text);
    ck_assert(!tokenizer_is_special(t, 3) && tokenizer_is_special(t, 4) && tokenizer_added_count(t) == (i == 0 ? 4 : 3));
    ck_assert(i != 0 || tokenizer_is_special(t, 7)); /* the unknown one */
    struct ids got = { 0 };
    ck_assert_msg(tokenizer_encode(t, &m, "ab<u>a<c>", 9, false, true, &got, &why), "%s", why.text);
    static const uint32_t want[] = { 2, 3, 0, 4 };
    ck_assert(got.n == 4 && memcmp(got.id, want, sizeof want) == 0);
    got.n = 0;
    bool ok = tokenizer_encode(t, &m, "c", 1, false, true, &got, &why);
    ck_assert(i == 0 ? !ok : ok && got.n == 1 && got.id[0] == 6);
    size_t n;
    ck_assert(memcmp(tokenizer_text(t, 5, &n), "c", 1) == 0 && n == 1);
    /* an added token is its text, even if all its letters stand for bytes */
    if (i == 0) ck_assert(memcmp(tokenizer_text(t, 6, &n), "\xc3\xa9", 2) == 0 && n == 2);
    ids_free(&m, &got);
    tokenizer_close(&m, t);
  }
  ck_assert_uint_eq(m.all.live, 0);
  leave();
}
END_TEST
/* Gemma's: merges of characters, blocks for blanks, bytes for the rest, and line ends that are a token, though no merge makes it */
START_TEST(characters_that_merge)
{
  char path[400];
  struct memory m = { 0 };
  struct error why = { "" };
  static const char *const kind[] = { MODEL("gpt2") "\"tokenizer.ggml.pre\" 4=8 \"gemma4\" ", MODEL("gemma4") "\"x\" 4=0 1=0 ",
    MODEL("gpt2") "\"tokenizer.ggml.pre\" 4=8 \"sarvam-moe\" " };
  for (int i = 0; i < 3; i++) {
    char spec[900];
    snprintf(spec, sizeof spec, HEAD(0, 6) "%s \"tokenizer.ggml.tokens\" 4=9 4=8 8=9 8=3 xe29681 \"a\" 8=4 xe2968161 8=1 x0a 8=2 x0a0a \"<0xC3>\" \"<0xA9>\" \"<s>\" \"aa\" "
      "\"tokenizer.ggml.token~type\" 4=9 4=5 8=9 4=1 4=1 4=1 4=1 4=1 4=6 4=6 4=3 4=1 \"tokenizer.ggml.merges\" 4=9 4=8 8=1 8=5 xe296812061 \"tokenizer.ggml.bos~token~id\" 4=4 4=7", kind[i]);
    struct written f = compose(spec);
    spill(in_room(path, "characters.gguf"), f.byte, f.n);
    free(f.byte);
    struct tokenizer *t = tokenizer_open(&m, path, &why);
    ck_assert_msg(t != NULL, "%s", why.text);
    struct ids got = { 0 };
    struct bytes back = { 0 };
    static const char text[] = "aa a\n\n\xc3\xa9\n";
    static const uint32_t want[2][8] = { { 1, 1, 2, 4, 5, 6, 3 }, { 1, 1, 2, 3, 3, 5, 6, 3 } };
    uint32_t bos;
    ck_assert_msg(tokenizer_encode(t, &m, text, strlen(text), false, false, &got, &why), "%s", why.text);
    ck_assert_uint_eq(got.n, i < 2 ? 7 : 8);
    ck_assert_mem_eq(got.id, want[i / 2], got.n * sizeof *got.id);
    ck_assert(tokenizer_decode(t, &m, got.id, got.n, false, &back, &why) && back.n == strlen(text) && memcmp(back.byte, text, back.n) == 0);
    ck_assert(tokenizer_bos(t, &bos) == (i < 2) && (i == 2 || bos == 7));
    ck_assert_str_eq(tokenizer_kind(t), "BPE on characters");
    ids_free(&m, &got), bytes_free(&m, &back), tokenizer_close(&m, t);
  }
  ck_assert_uint_eq(m.all.live, 0);
  leave();
}
END_TEST
START_TEST(vocabularies_survive_refused_requests)
{
  char path[400];
  json_t *file = load_json(_i == 0 ? "tests/golden/small/tokenizer.json" : "tests/golden/tokenizers/pieces/tokenizer.json");
  make_vocabulary(file, in_room(path, "refused.gguf"), _i == 0 ? "qwen2" : NULL, NULL, "", 0);
  json_decref(file);
  for (uint64_t at = 1;; at++) {
    struct memory m = { .fail_at = at };
    struct error why = { "" };
    struct tokenizer *t = tokenizer_open(&m, path, &why);
    bool done = m.all.refused == 0;
    /* the library of patterns does without its compiled code, or says in its own words that it cannot */
    ck_assert_msg(t != NULL || (!done && strstr(why.text, "memory") != NULL), "%d: %s", (int) at, why.text);
    tokenizer_close(&m, t);
    ck_assert_uint_eq(m.all.live, 0);
    if (done) break;
  }
  leave();
}
END_TEST

/* the template of a chat is one of the keys */
START_TEST(templates_are_found)
{
  char path[400];
  struct error why = { "" };
  json_t *all = json_load_file("tests/golden/conversations/templates.json", JSON_ALLOW_NUL, NULL), *one;
  size_t i, found = 0;
  in_room(path, "template.gguf");
  json_array_foreach(all, i, one)
  {
    json_t *program = json_object_get(one, "text");
    const char *text = json_string_value(program);
    const struct chat_template *want = chat_template_known(text, json_string_length(program));
    struct making g = { .drop = NULL };
    key_text(&g, "tokenizer", "chat_template", text);
    finish(&g, path);
    ck_assert(chat_template_of(path, &why) == want && chat_template_given(path));
    if (want == NULL) ck_assert_msg(strstr(why.text, "chat_template is \"") != NULL && strncmp(why.text, path, strlen(path)) == 0, "%s", why.text);
    found += want != NULL;
  }
  json_decref(all);
  ck_assert_uint_gt(found, 5);
  static const struct {
    const char *spec, *words;
    bool given;
  } other[] = { { HEAD(0, 0), "has no chat template; its name may be given", false },
    { HEAD(0, 1) "\"tokenizer.chat~template\" 4=4 4=1", "tokenizer.chat_template is not a text", false },
    { HEAD(0, 1) "\"tokenizer.chat~template\" 4=8 8=1 xff", "tokenizer.chat_template is not a text", false },
    { HEAD(0, 1) "\"tokenizer.chat~template\" 4=8", "tokenizer.chat_template is cut off", false } };
  for (i = 0; i < 4; i++) {
    struct written f = compose(other[i].spec);
    spill(path, f.byte, f.n);
    free(f.byte);
    ck_assert(chat_template_of(path, &why) == NULL && chat_template_given(path) == other[i].given);
    ck_assert_msg(strstr(why.text, other[i].words) != NULL, "%s", why.text);
  }
  leave();
}
END_TEST

/* ---- the command: the small model with its vocabulary, in one file, beside its directory */
static char *told(const char *format, const char *path, int *status)
{
  static char text[2][1 << 16];
  static int turn;
  char line[1000], words[1200];
  const char *build = getenv("BUILD");
  snprintf(line, sizeof line, format, path);
  snprintf(words, sizeof words, line, build ? build : "build");
  FILE *f = popen(words, "r");
  ck_assert_ptr_nonnull(f);
  turn ^= 1;
  size_t n = fread(text[turn], 1, sizeof text[turn] - 1, f);
  text[turn][n] = 0;
  *status = pclose(f);
  return text[turn];
}
START_TEST(the_command_takes_both_forms)
{
  /* %%s is the folder of the build, %s the model */
  static const char *const same[] = { "%%s/incipit generate The -n 8 -m %s", "%%s/incipit generate The -n 8 --temperature 1 --seed 3 -m %s",
    "%%s/incipit tokenize 'The cat <|endoftext|>' --parse-special -m %s", "%%s/incipit tokenize --ids 40,50,60,260 -m %s",
    "%%s/incipit perplexity tests/golden/prompt.txt --json -m %s", "%%s/incipit trace The -n 2 --json -m %s",
    "echo '{\"ids\":[3,1,4],\"rows\":\"all\"}' | %%s/incipit probe forward -m %s", "echo '{\"text\":\"The cat\"}' | %%s/incipit probe tokenize --vocab %s",
    "echo '{\"ids\":[3,1],\"max_tokens\":6}' | %%s/incipit probe generate -m %s" };
  static const char *const runs[] = { "%%s/incipit bench -p 4 -n 2 -r 1 --json -m %s", "%%s/incipit memory --json -m %s", "%%s/incipit inspect %s",
    "%%s/incipit inspect --json -m %s" };
  char path[400];
  struct memory m = { 0 };
  struct error why;
  struct making g = { .as = "llama" };
  struct model *lm = model_open(&m, "tests/golden/small", &why);
  json_t *file = load_json("tests/golden/small/tokenizer.json");
  make_keys(&g, &lm->config), make_tensors(&g, lm), vocabulary_keys(&g, file, "gpt-2");
  finish(&g, in_room(path, "small.gguf"));
  model_close(&m, lm), json_decref(file);
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    int a, b;
    char *x = told(same[i], "tests/golden/small", &a), *y = told(same[i], path, &b);
    ck_assert_msg(a == 0 && b == 0 && strcmp(x, y) == 0 && *x, "%s: %d %d\n%s%s", same[i], a, b, x, y);
  }
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    int a;
    char *x = told(runs[i], path, &a);
    ck_assert_msg(a == 0 && *x, "%s: %d", runs[i], a);
  }
  int status;
  json_t *o = json_loads(told("%%s/incipit inspect --json %s", path, &status), 0, NULL);
  ck_assert_str_eq(json_string_value(json_object_get(o, "architecture")), "llama");
  ck_assert_int_eq(json_integer_value(json_object_get(o, "context")), 64);
  json_t *special = json_array_get(json_object_get(json_object_get(o, "tokenizer"), "special"), 0);
  ck_assert_str_eq(json_string_value(json_object_get(special, "from")), "the metadata");
  ck_assert_str_eq(json_string_value(json_object_get(special, "role")), "eos");
  ck_assert_str_eq(json_string_value(json_object_get(json_array_get(json_object_get(o, "ignored_fields"), 0), "field")), "general.name");
  json_decref(o);
  o = json_loads(told("echo '{\"file\":\"%s\"}' | %%s/incipit probe inspect", path, &status), 0, NULL);
  ck_assert(json_is_true(json_object_get(o, "ok")) && json_integer_value(json_object_get(o, "tensors")) == 21);
  json_decref(o);
  /* what cannot be opened is listed, and the reason is a hint */
  make_model("llama", path, NULL, "\"llama.nextn~predict~layers\" 4=4 4=8", 1);
  const char *x = told("%%s/incipit inspect %s 2>&1", path, &status);
  ck_assert(status == 0 && strstr(x, "hint: ") != NULL && strstr(x, "llama.nextn_predict_layers is 8") != NULL && strstr(x, "blk.0.attn_k.weight") != NULL);
  x = told("%%s/incipit generate x -m %s 2>&1", path, &status);
  ck_assert(status != 0 && strstr(x, "llama.nextn_predict_layers is 8") != NULL && strstr(x, "hint") == NULL);
  make_model("llama", path, NULL, "\"llama.strange\" 4=4 4=8", 1);
  x = told("%%s/incipit generate --prompt-ids 1,2 -n 2 -m %s 2>&1", path, &status);
  ck_assert(status != 0 && strstr(x, "llama.strange; wanted: keys that this program knows (--ignore-field NAME") != NULL);
  x = told("%%s/incipit generate --prompt-ids 1,2 -n 2 --ignore-field llama.strange --json -m %s 2>&1", path, &status);
  ck_assert_msg(status == 0 && strstr(x, "the metadata: llama.strange is ignored, as you asked") != NULL, "%s", x);
  x = told("%%s/incipit generate --prompt-ids 1,2 -n 2 --ignore-field llama.strange --ignore-field other -m %s 2>&1", path, &status);
  ck_assert_msg(status != 0 && strstr(x, "--ignore-field other; wanted: a key of the file that this program does not know") != NULL, "%s", x);
  leave();
}
END_TEST

int main(void)
{
  Suite *s = suite_create("gguf");
  TCase *t = tcase_create("files");
  tcase_add_test(t, defects_are_named);
  tcase_add_test(t, every_prefix);
  tcase_add_test(t, values_come_back);
  tcase_add_test(t, tensors_are_found);
  tcase_add_test(t, large_refusals_are_cheap);
  tcase_add_test(t, as_many_as_there_may_be);
  tcase_add_test(t, memory_runs_out);
  tcase_add_test(t, vectors_of_the_format);
  suite_add_tcase(s, t);
  t = tcase_create("models");
  tcase_add_loop_test(t, golden_logits_and_greedy_ids, 0, 15);
  tcase_add_loop_test(t, golden_families, 0, 2 * FAMILY_MODELS);
  tcase_add_loop_test(t, files_of_the_families, 0, sizeof file_model / sizeof *file_model);
  tcase_add_test(t, keys_of_the_later_families);
  tcase_add_test(t, the_number_of_layers_says_more);
  tcase_add_test(t, divisors_in_tensors_are_numbers);
  tcase_add_loop_test(t, the_same_bits_from_both_forms, 0, sizeof pair / sizeof *pair);
  tcase_add_test(t, pairs_in_another_memory);
  tcase_add_test(t, settings_are_accounted_for);
  tcase_add_test(t, settings_are_read);
  tcase_add_test(t, a_gguf_file_may_be_silent);
  tcase_add_test(t, absent_keys_have_their_defaults);
  tcase_add_test(t, models_survive_refused_requests);
  suite_add_tcase(s, t);
  t = tcase_create("tokenizers");
  tcase_add_loop_test(t, golden_tokens, 0, 3);
  tcase_add_test(t, vectors_of_a_vocabulary);
  tcase_add_test(t, names_of_patterns);
  tcase_add_test(t, names_cut_as_the_makers_do);
  tcase_add_test(t, characters_that_merge);
  tcase_add_test(t, words_with_scores);
  tcase_add_test(t, vocabularies_are_refused_by_name);
  tcase_add_test(t, types_of_words);
  tcase_add_test(t, templates_are_found);
  tcase_add_loop_test(t, vocabularies_survive_refused_requests, 0, 2);
  suite_add_tcase(s, t);
  t = tcase_create("command");
  tcase_add_test(t, the_command_takes_both_forms);
  suite_add_tcase(s, t);
  return suite_run(s);
}
