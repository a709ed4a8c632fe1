/* the program -- made from workshop/03-models.w; change it there */

#include <math.h>
#include <stdio.h>
#include "families/rope_scaling.h"

/* <Slow the wheels of the hand calculation> */
static double speed_of(struct rope_config r, enum rope_kind kind, uint32_t i,
  uint32_t half)
{
  r.kind = ROPE_PLAIN;
  double plain = rope_scaled_frequency(&r, i, half);
  r.kind = kind;
  return rope_scaled_frequency(&r, i, half) / plain;
}

static double kept(double speed, double factor)
{
  return (speed - 1 / factor) / (1 - 1 / factor);
}

static void print_hand(void)
{
  struct rope_config r = { .theta = 1e4, .factor = 5, .original = 125,
    .low_freq_factor = 1, .high_freq_factor = 4,
    .beta_slow = 1, .beta_fast = 4, .truncate = true };
  printf("wheel   turns  linear  llama3            yarn\n");
  for (uint32_t i = 0; i < 4; i++) {
    double turns = rope_scaled_frequency(&r, i, 4) * r.original / 6.283185307179586;
    double llama = speed_of(r, ROPE_LLAMA3, i, 4);
    double yarn = speed_of(r, ROPE_YARN, i, 4);
    printf("%5d %7.2g %7.2f %7.2f %7.2f %7.2f %7.2f\n", (int) i, turns,
      speed_of(r, ROPE_LINEAR, i, 4), fabs(kept(llama, r.factor)), llama,
      fabs(kept(yarn, r.factor)), yarn);
  }
  r.kind = ROPE_YARN;
  double a = rope_scaled_attention(&r);
  printf("scores times %.2f\n", a * a);
}

int main(void)
{
  print_hand();
  return 0;
}
