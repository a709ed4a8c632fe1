/* number_type.h -- made from workshop/01-functions.w; change it there */

#ifndef INCIPIT_NUMBER_TYPE_H
#define INCIPIT_NUMBER_TYPE_H
#include "ground/ground.h"

/* <Types of numbers> */

/* the types with which we compute: first those without blocks, IEEE binary32, IEEE
   binary16, the upper half of a binary32; then the types in blocks, laid out as ggml
   does */
enum weight_type { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16,
  WEIGHT_Q8_0, WEIGHT_Q4_0, WEIGHT_Q4_1, WEIGHT_Q5_0, WEIGHT_Q5_1,
  WEIGHT_Q4_K, WEIGHT_Q6_K, WEIGHT_Q2_K, WEIGHT_Q3_K, WEIGHT_Q5_K,
  WEIGHT_IQ4_NL, WEIGHT_IQ4_XS, WEIGHT_MXFP4 };

/* numbers in a block; in one whose scales have scales */
enum { WEIGHT_BLOCK = 32, WEIGHT_SUPER_BLOCK = 256 };
#define UNEQUAL_BLOCKS case WEIGHT_IQ4_NL: case WEIGHT_IQ4_XS: case WEIGHT_MXFP4

/* in a switch, the cases of all types in blocks but Q8_0 and Q4_0, in which rows of a
   cache are kept as well. It is for the places that treat all these types alike: a
   new one is added here and to none of them, and as long as it is missing here, the
   compiler stops at each of them */
#define OTHER_BLOCKS case WEIGHT_Q4_1: case WEIGHT_Q5_0: case WEIGHT_Q5_1: case WEIGHT_Q4_K: case WEIGHT_Q6_K: case WEIGHT_Q2_K: case WEIGHT_Q3_K: case WEIGHT_Q5_K: UNEQUAL_BLOCKS

/* in place of a type's number in GGUF files: it has none */
enum { NOT_IN_GGUF = 255 };

/* what a block has besides its scale d: nothing; for each group a scale and a minimum
   of six bits; a signed byte; a scale and a minimum of four bits; six bits less 32,
   in two layouts; nothing, d being a power of two, in a byte */
enum block_scales { SCALE_ALONE, SCALES_PACKED, SCALES_BYTES, SCALES_NIBBLES,
  SCALES_SIXES, SCALES_APART, SCALE_POWER };

/* what the bits of a number mean: themselves, or one of sixteen whole numbers */
enum block_steps { STEPS_EQUAL, STEPS_CURVE, STEPS_FLOAT };

/* which whole numbers */
static const int8_t block_steps[][16] = { [STEPS_CURVE] =
  { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 },
  [STEPS_FLOAT] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 } };

/* a row of the table */
struct number_type {
  const char *name;
  uint16_t block; /* numbers in a block */
  uint8_t bytes; /* and its bytes */
  uint8_t gguf; /* its number in GGUF files, as ggml has it */
  bool safetensors; /* whether files of that format have it */
  /* <What is known of a type with which we compute> */
  const char *word; /* what a user calls it */
  bool is_written; /* whether we write files with such matrices */
  uint8_t file; /* then the general.file_type of such a GGUF file */
  uint8_t bits; /* of a number; in a block, of what is stored for q */
  uint8_t largest; /* the q that the largest number of a block becomes */
  uint8_t offset; /* what is stored, or multiplied instead of q, is so much more */
  uint8_t group; /* neighbours with one scale */
  uint8_t span; /* neighbours whose bits share bytes */
  bool has_min;
  enum block_scales scales;
  enum block_steps steps;
  uint8_t d_at; /* the byte where d is, in binary16; after it m, if any */
  uint8_t scales_at; /* where sixteen bytes begin that have all scales but d and m, if these are not at the beginning */
  uint8_t low_at, high_at; /* where the low bits or the whole bytes of the numbers begin, and where the high bits */
};

/* types of numbers by their number: first those of enum weight_type */
static const struct number_type number_types[] = {
  /* <Types with which we compute> */
  [WEIGHT_F32] = {"F32", 1, 4, 0, true, "f32", true, 0, .bits = 32},
  [WEIGHT_F16] = {"F16", 1, 2, 1, true, "f16", true, 1, .bits = 16},
  [WEIGHT_BF16] = {"BF16", 1, 2, 30, true, "bf16", true, 32, .bits = 16},
  [WEIGHT_Q8_0] = {"Q8_0", WEIGHT_BLOCK, 34, 8, false, "q8_0", true, 7,
    .bits = 8, .largest = 127, .group = 32, .span = 32, .low_at = 2},
  [WEIGHT_Q4_0] = {"Q4_0", WEIGHT_BLOCK, 18, 2, false, "q4_0", true, 2,
    .bits = 4, .largest = 8, .offset = 8, .group = 32, .span = 32, .low_at = 2},
  [WEIGHT_Q4_1] = {"Q4_1", WEIGHT_BLOCK, 20, 3, false, "q4_1", true, 3,
    .bits = 4, .largest = 15, .group = 32, .span = 32, .has_min = true, .low_at = 4},
  [WEIGHT_Q5_0] = {"Q5_0", WEIGHT_BLOCK, 22, 6, false, "q5_0", true, 8,
    .bits = 5, .largest = 16, .offset = 16, .group = 32, .span = 32,
    .low_at = 6, .high_at = 2},
  [WEIGHT_Q5_1] = {"Q5_1", WEIGHT_BLOCK, 24, 7, false, "q5_1", true, 9,
    .bits = 5, .largest = 31, .group = 32, .span = 32, .has_min = true,
    .low_at = 8, .high_at = 4},
  [WEIGHT_Q4_K] = {"Q4_K", WEIGHT_SUPER_BLOCK, 144, 12, false, "q4_k", true, 14,
    .bits = 4, .largest = 15, .group = 32, .span = 64, .has_min = true,
    .scales = SCALES_PACKED, .low_at = 16},
  [WEIGHT_Q6_K] = {"Q6_K", WEIGHT_SUPER_BLOCK, 210, 14, false, "q6_k", true, 18,
    .bits = 6, .largest = 32, .offset = 32, .group = 16, .span = 128,
    .scales = SCALES_BYTES, .d_at = 208, .scales_at = 192, .high_at = 128},
  [WEIGHT_Q2_K] = {"Q2_K", WEIGHT_SUPER_BLOCK, 84, 10, false, "q2_k",
    .bits = 2, .largest = 3, .group = 16, .span = 128, .has_min = true,
    .scales = SCALES_NIBBLES, .d_at = 80, .low_at = 16},
  [WEIGHT_Q3_K] = {"Q3_K", WEIGHT_SUPER_BLOCK, 110, 11, false, "q3_k",
    .bits = 3, .largest = 4, .offset = 4, .group = 16, .span = 128,
    .scales = SCALES_SIXES, .d_at = 108, .scales_at = 92, .low_at = 32},
  [WEIGHT_Q5_K] = {"Q5_K", WEIGHT_SUPER_BLOCK, 176, 13, false, "q5_k",
    .bits = 5, .largest = 31, .group = 32, .span = 64, .has_min = true,
    .scales = SCALES_PACKED, .low_at = 48, .high_at = 16},
  [WEIGHT_IQ4_NL] = {"IQ4_NL", WEIGHT_BLOCK, 18, 20, false, "iq4_nl",
    .bits = 4, .largest = 127, .group = 32, .span = 32, .steps = STEPS_CURVE, .low_at = 2},
  [WEIGHT_IQ4_XS] = {"IQ4_XS", WEIGHT_SUPER_BLOCK, 136, 23, false, "iq4_xs",
    .bits = 4, .largest = 127, .group = 32, .span = 32, .steps = STEPS_CURVE,
    .scales = SCALES_APART, .low_at = 8},
  [WEIGHT_MXFP4] = {"MXFP4", WEIGHT_BLOCK, 17, 39, false, "mxfp4",
    .bits = 4, .largest = 12, .offset = 12, .group = 32, .span = 32, .steps = STEPS_FLOAT,
    .scales = SCALE_POWER, .low_at = 1},
  /* <Types that occur in files only> */
  {.name = "F64", 1, 8, 28, true},
  {.name = "BOOL", 1, 1, NOT_IN_GGUF, true},
  {.name = "U8", 1, 1, NOT_IN_GGUF, true},
  {.name = "I8", 1, 1, 24, true},
  {.name = "U16", 1, 2, NOT_IN_GGUF, true},
  {.name = "I16", 1, 2, 25, true},
  {.name = "U32", 1, 4, NOT_IN_GGUF, true},
  {.name = "I32", 1, 4, 26, true},
  {.name = "U64", 1, 8, NOT_IN_GGUF, true},
  {.name = "I64", 1, 8, 27, true},
  {.name = "C64", 1, 8, NOT_IN_GGUF, true},
  {.name = "F4", 2, 1, NOT_IN_GGUF, true},
  {.name = "F6_E2M3", 4, 3, NOT_IN_GGUF, true},
  {.name = "F6_E3M2", 4, 3, NOT_IN_GGUF, true},
  {.name = "F8_E5M2", 1, 1, NOT_IN_GGUF, true},
  {.name = "F8_E4M3", 1, 1, NOT_IN_GGUF, true},
  {.name = "F8_E8M0", 1, 1, NOT_IN_GGUF, true},
  {.name = "F8_E5M2FNUZ", 1, 1, NOT_IN_GGUF, true},
  {.name = "F8_E4M3FNUZ", 1, 1, NOT_IN_GGUF, true},
  {.name = "IQ2_XXS", 256, 66, 16, false},
  {.name = "IQ2_XS", 256, 74, 17, false},
  {.name = "IQ3_XXS", 256, 98, 18, false},
  {.name = "IQ1_S", 256, 50, 19, false},
  {.name = "IQ3_S", 256, 110, 21, false},
  {.name = "IQ2_S", 256, 82, 22, false},
  {.name = "IQ1_M", 256, 56, 29, false},
  {.name = "TQ1_0", 256, 54, 34, false},
  {.name = "TQ2_0", 256, 66, 35, false} };

/* the rows of the table, how many of them are of enum weight_type, and how many are
   not */
enum { N_NUMBER_TYPES = sizeof number_types / sizeof number_types[0],
  N_WEIGHT_TYPES = WEIGHT_MXFP4 + 1, N_LISTED_TYPES = 28 };
_Static_assert(N_NUMBER_TYPES == N_WEIGHT_TYPES + N_LISTED_TYPES,
  "each weight type has a row, before those that are only listed");

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
