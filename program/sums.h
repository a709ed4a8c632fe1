/* sums.h -- SHA-256 (FIPS 180-4) and git's sum of a file, of bytes that come piece by piece. */
#ifndef INCIPIT_SUMS_H
#define INCIPIT_SUMS_H
#include <stddef.h>
#include <stdint.h>

/* in hexadecimal digits, with a zero byte; SHA-1 has fewer */
enum { SUM_TEXT = 65 };

/* of a file by itself; of a file as git's SHA-1 knows it */
enum sum_kind { SUM_SHA256, SUM_SHA1 };

/* a sum on its way: h, so far; the block that is not full yet; bytes in all */
struct sum {
  enum sum_kind kind;
  uint32_t h[8];
  unsigned char block[64];
  uint64_t n;
};

/* the sum of nothing so far */
void sum_begin(struct sum *s, enum sum_kind kind);

/* the sum by which git knows a file of so many bytes: SHA-1 of a line that says how many, and of the bytes, which are to be added */
void sum_begin_blob(struct sum *s, uint64_t bytes);

/* and n bytes more */
void sum_add(struct sum *s, const void *bytes, size_t n);

/* the sum of all of them, as sha256sum and sha1sum print it */
void sum_end(struct sum *s, char text[SUM_TEXT]);
#endif
