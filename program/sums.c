/* sums.c -- SHA-256 and SHA-1, as FIPS 180-4 defines them.

   Both read blocks of 64 bytes, turn the same kind of padding into the last one, and differ in the function of a block. SHA-1 is here
   because git knows a small file by it. Two files with one SHA-1 can be made on purpose, so it shows that nothing was damaged on the
   way, and no more; who sent the file, TLS has to say. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "sums.h"

static uint32_t turned(uint32_t x, int n)
{
  return x << n | x >> (32 - n);
}

static uint32_t word_at(const unsigned char *b)
{
  return (uint32_t) b[0] << 24 | (uint32_t) b[1] << 16 | (uint32_t) b[2] << 8 | b[3];
}

static void block_sha256(uint32_t h[8], const unsigned char *b)
{
  static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2 };
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++) w[i] = word_at(b + 4 * i);
  for (int i = 16; i < 64; i++)
    w[i] = w[i - 16] + (turned(w[i - 15], 25) ^ turned(w[i - 15], 14) ^ w[i - 15] >> 3) + w[i - 7]
      + (turned(w[i - 2], 15) ^ turned(w[i - 2], 13) ^ w[i - 2] >> 10);
  memcpy(s, h, sizeof s);
  /* instead of moving seven words up, the one that would be s[i] is taken from where it is */
  for (int i = 0; i < 64; i++) {
    uint32_t *a = &s[-i & 7], e = s[(4 - i) & 7], *last = &s[(7 - i) & 7];
    uint32_t one = *last + (turned(e, 26) ^ turned(e, 21) ^ turned(e, 7))
      + ((e & s[(5 - i) & 7]) ^ (~e & s[(6 - i) & 7])) + k[i] + w[i];
    uint32_t b1 = s[(1 - i) & 7], c = s[(2 - i) & 7];
    s[(3 - i) & 7] += one;
    *last = one + (turned(*a, 30) ^ turned(*a, 19) ^ turned(*a, 10)) + ((*a & b1) ^ (*a & c) ^ (b1 & c));
  }
  for (int i = 0; i < 8; i++) h[i] += s[i];
}

/* the function of round i: a choice, a parity, a majority, a parity */
static uint32_t mixed(int i, uint32_t x, uint32_t y, uint32_t z)
{
  if (i < 20) return (x & y) | (~x & z);
  return i >= 40 && i < 60 ? (x & y) | (x & z) | (y & z) : x ^ y ^ z;
}

static void block_sha1(uint32_t h[8], const unsigned char *b)
{
  static const uint32_t k[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
  uint32_t w[80], s[5];
  for (int i = 0; i < 16; i++) w[i] = word_at(b + 4 * i);
  for (int i = 16; i < 80; i++) w[i] = turned(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  memcpy(s, h, sizeof s);
  for (int i = 0; i < 80; i++) {
    uint32_t next = turned(s[0], 5) + mixed(i, s[1], s[2], s[3]) + s[4] + k[i / 20] + w[i];
    memmove(s + 1, s, 4 * sizeof *s);
    s[2] = turned(s[2], 30);
    s[0] = next;
  }
  for (int i = 0; i < 5; i++) h[i] += s[i];
}

void sum_begin(struct sum *s, enum sum_kind kind)
{
  static const uint32_t first[2][8] = {
    { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 },
    { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0, 0, 0, 0 } };
  s->kind = kind;
  memcpy(s->h, first[kind], sizeof s->h);
  s->n = 0;
}

void sum_begin_blob(struct sum *s, uint64_t bytes)
{
  char head[40];
  int n = snprintf(head, sizeof head, "blob %" PRIu64, bytes);
  sum_begin(s, SUM_SHA1);
  sum_add(s, head, (size_t) n + 1); /* with its zero */
}

static void take_block(struct sum *s, const unsigned char *b)
{
  if (s->kind == SUM_SHA256) block_sha256(s->h, b);
  else block_sha1(s->h, b);
}

void sum_add(struct sum *s, const void *bytes, size_t n)
{
  const unsigned char *b = bytes;
  size_t at = (size_t) (s->n % 64);
  s->n += n;
  while (n > 0) {
    if (at == 0 && n >= 64) {
      take_block(s, b);
      b += 64, n -= 64;
      continue;
    }
    size_t k = 64 - at < n ? 64 - at : n;
    memcpy(s->block + at, b, k);
    b += k, n -= k;
    at = (at + k) % 64;
    if (at == 0) take_block(s, s->block);
  }
}

/* a bit that is set, zeros, and the number of bits at the end of a block */
void sum_end(struct sum *s, char text[SUM_TEXT])
{
  unsigned char last[72] = { 0x80 };
  uint64_t bits = s->n * 8;
  size_t at = (size_t) (s->n % 64), pad = at < 56 ? 56 - at : 120 - at;
  for (size_t i = 0; i < 8; i++) last[pad + 7 - i] = (unsigned char) (bits >> 8 * i);
  sum_add(s, last, pad + 8);
  for (int i = 0; i < (s->kind == SUM_SHA256 ? 8 : 5); i++) snprintf(text + 8 * i, 9, "%08x", (unsigned) s->h[i]);
}
