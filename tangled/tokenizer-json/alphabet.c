/* alphabet.c -- The characters that stand for bytes in the words of a vocabulary,
   both ways.
   made from workshop/06-tokenizer-json.w; change it there

   It knows nothing of files, and every reader and writer of one uses it. Every byte
   has a character; not every character is a byte's. */

#include "tokenizer-json/tokenizer_json.h"

/* <Spell a byte as a character, and back> */
static bool seen(unsigned b)
{
  return (b >= 33 && b <= 126) || (b >= 161 && b <= 255 && b != 173);
}

/* Three blocks of bytes have no glyph of their own: 0 to 32, 127 to 160, and 173.
   They are numbered from 256 on. */
uint32_t tokenizer_byte_to_unicode(unsigned b)
{
  if (seen(b)) return b;
  if (b <= 32) return 256 + b;
  return b <= 160 ? 256 + 33 + (b - 127) : 256 + 33 + 34;
}

int tokenizer_unicode_to_byte(uint32_t c)
{
  if (c < 256) return seen(c) ? (int) c : -1;
  if (c <= 256 + 32) return (int) (c - 256);
  if (c <= 256 + 32 + 34) return (int) (c - 256 - 33 + 127);
  return c == 256 + 33 + 34 ? 173 : -1;
}

/* <Spell bytes for a file> */
bool tokenizer_to_alphabet(struct memory *m, const unsigned char *byte,
  size_t n, struct bytes *out, struct error *why)
{
  for (size_t i = 0; i < n; i++) {
    uint32_t c = tokenizer_byte_to_unicode(byte[i]);
    unsigned char two[2] = { (unsigned char) (0xc0 | c >> 6),
      (unsigned char) (0x80 | (c & 0x3f)) };
    unsigned char one = (unsigned char) c;
    if (!(c < 0x80 ? bytes_push(m, out, &one, 1, why)
      : bytes_push(m, out, two, 2, why))) return false;
  }
  return true;
}
