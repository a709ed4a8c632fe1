/* number_type.h -- made from workshop/01-functions.w; change it there */

#ifndef INCIPIT_NUMBER_TYPE_H
#define INCIPIT_NUMBER_TYPE_H
#include "ground/ground.h"

/* <Types of numbers> */

/* the types with which we compute: IEEE binary32, IEEE binary16, the upper half of a
   binary32; blocks: a scale in binary16, then 32 signed bytes, or 16 bytes with two
   numbers each, number i in the low half of byte i and number i+16 in the high half,
   8 too large (ggml's layout); five more kinds of blocks */
enum weight_type { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16,
  WEIGHT_Q8_0, WEIGHT_Q4_0, WEIGHT_Q4_1, WEIGHT_Q5_0, WEIGHT_Q5_1,
  WEIGHT_Q4_K, WEIGHT_Q6_K };

/* numbers in a block; in one of the last two types */
enum { WEIGHT_BLOCK = 32, WEIGHT_SUPER_BLOCK = 256 };

/* block numbers take bytes bytes; largest: in a type with a scale, the whole number
   that the largest of a block becomes, else 0; safetensors: whether files of that
   format have the type */
struct number_type { const char *name; uint16_t block; uint8_t bytes, largest;
  bool safetensors; };

/* types of numbers by their number: first those of enum weight_type */
static const struct number_type number_types[] = {
  [WEIGHT_F32] = {"F32", 1, 4, 0, true}, [WEIGHT_F16] = {"F16", 1, 2, 0, true},
  [WEIGHT_BF16] = {"BF16", 1, 2, 0, true},
  [WEIGHT_Q8_0] = {"Q8_0", WEIGHT_BLOCK, 34, 127, false},
  [WEIGHT_Q4_0] = {"Q4_0", WEIGHT_BLOCK, 18, 8, false},
  [WEIGHT_Q4_1] = {"Q4_1", WEIGHT_BLOCK, 20, 15, false},
  [WEIGHT_Q5_0] = {"Q5_0", WEIGHT_BLOCK, 22, 16, false},
  [WEIGHT_Q5_1] = {"Q5_1", WEIGHT_BLOCK, 24, 31, false},
  [WEIGHT_Q4_K] = {"Q4_K", WEIGHT_SUPER_BLOCK, 144, 15, false},
  [WEIGHT_Q6_K] = {"Q6_K", WEIGHT_SUPER_BLOCK, 210, 32, false},
  {"F64", 1, 8, 0, true}, {"BOOL", 1, 1, 0, true}, {"U8", 1, 1, 0, true},
  {"I8", 1, 1, 0, true}, {"U16", 1, 2, 0, true}, {"I16", 1, 2, 0, true},
  {"U32", 1, 4, 0, true}, {"I32", 1, 4, 0, true}, {"U64", 1, 8, 0, true},
  {"I64", 1, 8, 0, true}, {"C64", 1, 8, 0, true}, {"F4", 2, 1, 0, true},
  {"F6_E2M3", 4, 3, 0, true}, {"F6_E3M2", 4, 3, 0, true},
  {"F8_E5M2", 1, 1, 0, true}, {"F8_E4M3", 1, 1, 0, true},
  {"F8_E8M0", 1, 1, 0, true}, {"F8_E5M2FNUZ", 1, 1, 0, true},
  {"F8_E4M3FNUZ", 1, 1, 0, true},
  /* <Types that occur in GGUF files only> */
  {"Q2_K", 256, 84, 0, false}, {"Q3_K", 256, 110, 0, false},
  {"Q5_K", 256, 176, 0, false}, {"IQ2_XXS", 256, 66, 0, false},
  {"IQ2_XS", 256, 74, 0, false}, {"IQ3_XXS", 256, 98, 0, false},
  {"IQ1_S", 256, 50, 0, false}, {"IQ4_NL", 32, 18, 0, false},
  {"IQ3_S", 256, 110, 0, false}, {"IQ2_S", 256, 82, 0, false},
  {"IQ4_XS", 256, 136, 0, false}, {"IQ1_M", 256, 56, 0, false},
  {"TQ1_0", 256, 54, 0, false}, {"TQ2_0", 256, 66, 0, false},
  {"MXFP4", 32, 17, 0, false} };

/* the rows of the table, and how many of them are of enum weight_type */
enum { N_NUMBER_TYPES = sizeof number_types / sizeof number_types[0],
  N_WEIGHT_TYPES = WEIGHT_Q6_K + 1 };

/* sets of types, bit 1 << type for each: those with which we compute, those in
   blocks, the others */
enum { WEIGHTS_ALL = (1 << N_WEIGHT_TYPES) - 1,
  WEIGHTS_IN_BLOCKS = WEIGHTS_ALL & -(1 << WEIGHT_Q8_0),
  WEIGHTS_ONE_BY_ONE = WEIGHTS_ALL ^ WEIGHTS_IN_BLOCKS };

/* bytes of n numbers in a row, a multiple of the type's block */
static inline size_t weight_row_bytes(unsigned type, size_t n)
{
  return n / number_types[type].block * number_types[type].bytes;
}
#endif
