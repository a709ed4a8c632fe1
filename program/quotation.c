/* quotation.c -- what a quotation of the ledger is compared with: its folded text, and the SHA-256 of
   that (FIPS 180-4), which tools/quotations.lua has made from the source.

   Both programs fold in the same way, so a change of one is a change of the other. Folding makes no
   text longer; that is why the result may have the room of the text. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "quotation.h"

/* Marks of emphasis go, a gap and any white space become one blank, and none is left after a bracket:
   what is equal then is the same words, however the two sources are set. */
void quotation_fold(const char *text, char *to)
{
  static const char lost[] = "[lost]";
  size_t n = 0;
  bool blank = false;
  while (*text != '\0') {
    if (strncmp(text, "**", 2) == 0) text += 2;
    else if (strncmp(text, lost, sizeof lost - 1) == 0) blank = true, text += sizeof lost - 1;
    else if (strchr(" \t\n\r", *text) != NULL) blank = true, text++;
    else {
      if (blank && n > 0 && to[n - 1] != '(') to[n++] = ' ';
      blank = false;
      to[n++] = *text++;
    }
  }
  to[n] = '\0';
}

/* The next character of a text as a reader would type it: printed quotation marks and dashes have three
   bytes in UTF-8, of which the first two are E2 80. */
static char typed(const char **text)
{
  static const struct { const char *printed; char plain; } of[] = {
    { "\xe2\x80\x98", '\'' }, { "\xe2\x80\x99", '\'' }, { "\xe2\x80\x9c", '"' }, { "\xe2\x80\x9d", '"' },
    { "\xe2\x80\x90", '-' }, { "\xe2\x80\x91", '-' }, { "\xe2\x80\x93", '-' }, { "\xe2\x80\x94", '-' } };
  const char *at = *text;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (strncmp(at, of[i].printed, 3) == 0) {
      *text += 3;
      return of[i].plain;
    }
  ++*text;
  if (strchr(" \t\n\r", *at) == NULL) return *at >= 'A' && *at <= 'Z' ? (char) (*at - 'A' + 'a') : *at;
  while (**text != '\0' && strchr(" \t\n\r", **text) != NULL) ++*text;
  return ' ';
}

static bool begins_with(const char *text, const char *words)
{
  while (*words != '\0')
    if (*text == '\0' || typed(&text) != typed(&words)) return false;
  return true;
}

bool quotation_contains(const char *text, const char *words)
{
  for (; !begins_with(text, words); typed(&text))
    if (*text == '\0') return false;
  return true;
}

static uint32_t turned(uint32_t x, int n)
{
  return x >> n | x << (32 - n);
}

/* one block of 64 bytes */
static void sum_block(uint32_t h[8], const unsigned char *b)
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
  for (int i = 0; i < 16; i++, b += 4)
    w[i] = (uint32_t) b[0] << 24 | (uint32_t) b[1] << 16 | (uint32_t) b[2] << 8 | b[3];
  for (int i = 16; i < 64; i++)
    w[i] = w[i - 16] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7]
      + (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
  memcpy(s, h, sizeof s);
  for (int i = 0; i < 64; i++) {
    uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25))
      + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
    uint32_t two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22))
      + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += one;
    s[0] = one + two;
  }
  for (int i = 0; i < 8; i++) h[i] += s[i];
}

void quotation_sum(const char *bytes, size_t n, char sum[QUOTATION_SUM])
{
  uint32_t h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
    0x1f83d9ab, 0x5be0cd19 };
  unsigned char last[128] = { 0 };
  size_t whole = n / 64 * 64, left = n - whole, end = left < 56 ? 64 : 128;
  for (size_t at = 0; at < whole; at += 64) sum_block(h, (const unsigned char *) bytes + at);
  memcpy(last, bytes + whole, left);
  last[left] = 0x80;
  for (size_t i = 0; i < 8; i++) last[end - 1 - i] = (unsigned char) ((uint64_t) n * 8 >> 8 * i);
  for (size_t at = 0; at < end; at += 64) sum_block(h, last + at);
  for (int i = 0; i < 8; i++) snprintf(sum + 8 * i, 9, "%08x", (unsigned) h[i]);
}
