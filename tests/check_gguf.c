/* GGUF files: the description of a file and its defects, the vectors of the format, models with
   their golden logits, tokenizers with their golden ids. */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include "variants.h"
#include "gguf/gguf.h"
#include "safetensors/tensor_file.h"
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
  memcpy(f->byte + f->n, byte, n);
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
  struct written f = { NULL, 0 };
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
  { "an empty string", HEAD(0, 1) "\"a\" 4=8 \"\"", NULL },
  { "blocks", HEAD(1, 0) "\"a\" 4=2 8=64 8=2 4=8 8=0 p32 z136", NULL },
  { "blocks that only ggml multiplies", HEAD(1, 0) "\"a\" 4=1 8=256 4=23 8=0 p32 z136", NULL },
  { "empty", "", "the beginning is something else; wanted: the four letters" },
  { "three letters", "'GGU", "the beginning is something else" },
  { "other letters", "'GGUE 4=3 8=0 8=0", "the beginning is something else" },
  { "no version", "'GGUF 2=3", "the beginning is cut off" },
  { "version 0", "'GGUF 4=0 8=0 8=0", "the version is 0; wanted: version 2 or 3" },
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
  { "an array of arrays", HEAD(0, 1) "\"abc\" 4=9 4=9 8=0", "abc is an array of arrays" },
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
  { "more than the file", HEAD(1, 0) "\"abc\" 4=1 8=400 4=0 8=0 p32 z16", "abc is 1600 bytes at offset 0; wanted: fewer than the file has" },
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
    HEAD(0, 14) "\"u8\" 4=0 1=200 \"i8\" 4=1 1=0x80 \"u16\" 4=2 2=65535 \"i16\" 4=3 2=0xfffe \"u32\" 4=4 4=0xffffffff "
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
  double tol = json_number_value(json_object_get(o, "tol"));
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
static unsigned golden_file(const char *name, void *ctx, bool (*check)(void *, json_t *))
{
  char buffer[300], *line = NULL;
  const char *path = shared_file(buffer, sizeof buffer, name);
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
  unsigned kind = _i % 5 < 3 ? (unsigned) (_i % 5) : (unsigned) (_i % 5 == 3 ? WEIGHT_Q8_0 : WEIGHT_Q4_0), failed = 0;
  struct rig r;
  snprintf(name, sizeof name, "golden/gguf/%s/%s-%s.gguf", model, model, type);
  const char *path = shared_file(buffer, sizeof buffer, name);
  if (path == NULL) return;
  bool open = rig_open(&r, path, NULL, 1, 1);
  if (!open && (kernels_find(NULL, NULL)->matrix_types >> kind & 1) == 0) {
    ck_assert_msg(strstr(r.why.text, type) != NULL && strstr(r.why.text, "weight is") != NULL, "%s", r.why.text);
    ck_assert_uint_eq(r.m.all.live, 0);
    tally(name, 0, 0, 1, "this type is not multiplied yet");
    return;
  }
  ck_assert_msg(open, "%s", r.why.text);
  snprintf(name, sizeof name, "golden/gguf/%s/forward-%s.jsonl", model, type);
  failed += golden_file(name, &r, forward_of);
  snprintf(name, sizeof name, "golden/gguf/%s/greedy-%s.jsonl", model, type);
  failed += golden_file(name, &r, greedy_of);
  if (_i / 5 == 2) {
    snprintf(name, sizeof name, "golden/gguf/%s/text-%s.jsonl", model, type);
    failed += golden_file(name, &r, text_of);
  }
  rig_close(&r);
  ck_assert_uint_eq(failed, 0);
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
  ck_assert_uint_eq(golden_file(name, &x, line_tokens), 0);
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
  suite_add_tcase(s, t);
  t = tcase_create("tokenizers");
  tcase_add_loop_test(t, golden_tokens, 0, 3);
  tcase_add_test(t, vectors_of_a_vocabulary);
  suite_add_tcase(s, t);
  return suite_run(s);
}
