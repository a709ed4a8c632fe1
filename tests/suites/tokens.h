/* tokens.h -- what the suites about tokens share: files, JSON, golden cases of a tokenizer */
#ifndef INCIPIT_TESTS_TOKENS_H
#define INCIPIT_TESTS_TOKENS_H
#include "suite.h"
#include <jansson.h>
#include <time.h>
#include "tokenizer/tokenizer.h"

static struct memory M;
static inline void at_peace(void)
{
  ck_assert_uint_eq(M.all.live, 0);
  memset(&M, 0, sizeof M);
}

/* processor time; sanitizers slow everything down, and then time proves nothing */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define IN_TIME(t) (void) (t)
#else
#define IN_TIME(t) ck_assert_double_lt(t, 5)
#endif
static inline double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static inline size_t unhex(const char *hex, unsigned char *out)
{
  size_t n = 0;
  for (; hex[0] && hex[1]; hex += 2) {
    unsigned v;
    sscanf(hex, "%2x", &v);
    out[n++] = (unsigned char) v;
  }
  return n;
}

static inline char *slurp(const char *path, size_t *n)
{
  FILE *f = fopen(path, "rb");
  ck_assert_ptr_nonnull(f);
  fseek(f, 0, SEEK_END);
  *n = (size_t) ftell(f);
  rewind(f);
  char *p = malloc(*n + 1);
  ck_assert_uint_eq(fread(p, 1, *n, f), *n);
  p[*n] = 0;
  fclose(f);
  return p;
}

static inline json_t *load(const char *path)
{
  json_error_t e;
  json_t *v = json_load_file(path, JSON_ALLOW_NUL, &e);
  if (v == NULL) ck_abort_msg("%s: %s", path, e.text);
  return v;
}

/* runs the lines of a file of cases: encoding, decoding, streams; the number that agree */
static inline unsigned golden(struct tokenizer *t, const char *path, unsigned *failed)
{
  FILE *f = fopen(path, "r");
  ck_assert_ptr_nonnull(f);
  char *row = NULL;
  size_t cap = 0;
  unsigned good = 0;
  while (getline(&row, &cap, f) > 0) {
    json_t *c = json_loads(row, JSON_ALLOW_NUL, NULL), *list = json_object_get(c, "ids"),
           *text = json_object_get(c, "text");
    json_t *chunks = json_object_get(c, "chunks"), *hex = json_object_get(c, "hex");
    ck_assert_ptr_nonnull(c);
    bool ok = true;
    size_t n = json_array_size(list);
    uint32_t *id = calloc(n + 1, sizeof *id);
    for (size_t i = 0; i < n; i++) id[i] = (uint32_t) json_integer_value(json_array_get(list, i));
    struct bytes out = { 0 };
    unsigned char *want = calloc(1, strlen(row) + 1);
    if (text != NULL) {
      struct ids got = { 0 };
      ok = tokenizer_encode(t, &M, json_string_value(text), json_string_length(text),
        json_is_true(json_object_get(c, "add_special")),
        json_is_true(json_object_get(c, "parse_special")), &got, NULL);
      ok = ok && got.n == n && (n == 0 || memcmp(got.id, id, n * sizeof *id) == 0);
      ids_free(&M, &got);
    } else if (chunks != NULL) {
      struct stream s = { .n = 0 };
      bool begun = false;
      for (size_t i = 0; i <= n; i++) {
        out.n = 0;
        const char *h =
          json_string_value(i < n ? json_array_get(chunks, i) : json_object_get(c, "flush"));
        if (i == n)
          stream_flush(&M, &s, &out, NULL);
        else {
          struct bytes fresh = { 0 };
          tokenizer_decode_next(t, &M, id[i], false, &begun, &fresh, NULL);
          stream_feed(&M, &s, fresh.byte, fresh.n, &out, NULL);
          bytes_free(&M, &fresh);
        }
        size_t w = unhex(h, want);
        ok = ok && w == out.n && (w == 0 || memcmp(want, out.byte, w) == 0);
      }
    } else {
      ok = tokenizer_decode(
        t, &M, id, n, json_is_true(json_object_get(c, "skip_special")), &out, NULL);
      size_t w = unhex(json_string_value(hex), want);
      ok = ok && w == out.n && (w == 0 || memcmp(want, out.byte, w) == 0);
    }
    if (ok)
      good++;
    else if (++*failed < 5)
      fprintf(stderr, "%s: %.300s\n", path, row);
    bytes_free(&M, &out);
    free(id);
    free(want);
    json_decref(c);
  }
  free(row);
  fclose(f);
  return good;
}
#endif
