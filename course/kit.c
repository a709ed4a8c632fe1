/* kit.c -- test NAME SEED [SIZE]: runs a test of a lab and prints its transcript; all sizes if none is named, the smallest first */
#include "kit.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) */
static uint64_t next_bits(void)
{
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

uint32_t draw(uint32_t n)
{ return (uint32_t) ((next_bits() >> 32) * n >> 32); }

float draw_float(void)
{ return (float) ((double) (next_bits() >> 40) / (1 << 23) - 1); }

static void line(const char *begin, const char *format, va_list of)
{
  fputs(begin, stdout);
  vprintf(format, of);
  putchar('\n');
}

void tell(const char *format, ...)
{
  va_list of;
  va_start(of, format);
  line("# ", format, of);
  va_end(of);
}

void say(const char *format, ...)
{
  va_list of;
  va_start(of, format);
  line("= ", format, of);
  va_end(of);
}

void say_near(const char *what, double value)
{ printf("~ %s %.9g\n", what, value); }

void say_close(const char *what, double value)
{ printf("^ %s %.15g\n", what, value); }

void say_why(const char *what, const char *sentence)
{ printf("= %s | %.*s\n", what, (int) strcspn(sentence, "\n"), sentence); }

void say_done(const char *what, bool ok, const char *sentence)
{
  if (ok) say("%s yes", what);
  else printf("= %s no | %.*s\n", what, (int) strcspn(sentence, "\n"), sentence);
}

void say_most(const char *what, double value, double slack)
{ printf("< %s %.9g %.9g\n", what, value, value * slack); }

void say_least(const char *what, double value, double floor)
{ printf("> %s %.9g %.9g\n", what, value, floor); }

void say_bits(const char *what, float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (value != value) bits = 0x7fc00000; /* one NaN is as good as another */
  printf("= %s %08" PRIx32 " (%.9g)\n", what, bits, (double) value);
}

static uint64_t counts[COUNTERS];

void count_begin(void)
{
  memset(counts, 0, sizeof counts);
  say("counting begins");
}

void count_more(unsigned what, uint64_t by)
{ counts[what] += by; }

uint64_t count_of(unsigned what)
{ return counts[what]; }

int main(int argc, char **argv)
{
  if (argc < 3 || argc > 4) {
    fprintf(stderr, "usage: %s NAME SEED [SIZE]; tests:", argv[0]);
    for (const struct lab_test *t = lab_tests; t->name != NULL; t++) fprintf(stderr, " %s", t->name);
    fputc('\n', stderr);
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  uint64_t seed = strtoull(argv[2], NULL, 16);
  unsigned only = argc > 3 ? (unsigned) strtoul(argv[3], NULL, 10) : 0;
  for (const struct lab_test *t = lab_tests; t->name != NULL; t++) {
    if (strcmp(t->name, argv[1]) != 0) continue;
    for (unsigned size = 1; size <= t->sizes; size++) {
      if (only != 0 && only != size) continue;
      state = seed + 0x632be59bd9b4e019u * size;
      printf("size %u\n", size);
      t->run(size);
    }
    printf("end %s\n", argv[2]);
    return 0;
  }
  fprintf(stderr, "%s: no test is called %s\n", argv[0], argv[1]);
  return 2;
}
