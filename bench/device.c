/* device.c -- device [NAME]: the steps of a matrix-vector product on a device (cuda), each as a share of the rate at which the
   device copies, as keys for the book.  A matrix of 16,384 outputs of 4,096 inputs in bfloat16, which no cache holds; on the host
   as a device, host:0 to host:2, a small one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/device.h"

int main(int argc, char **argv)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  const char *name = argc > 1 ? argv[1] : "cuda";
  struct device *d = device_open(&m, name, &why);
  uint32_t in = 4096, out = strncmp(name, "host", 4) == 0 ? 64 : 16384;
  uint16_t *w = calloc((size_t) in * out, sizeof *w);
  float *x = calloc(in, sizeof *x), *y = calloc(out, sizeof *y);
  double madds, bytes, seconds;
  int status = 1;
  if (w == NULL || x == NULL || y == NULL) snprintf(why.text, sizeof why.text, "no memory");
  else if (d != NULL && device_measure(d, &madds, &bytes, &why)) {
    for (size_t i = 0; i < (size_t) in * out; i++) w[i] = (uint16_t) (0x3c00 + i % 255); /* 0.008 to 0.06 */
    status = 0;
    for (unsigned step = 0; step < 4 && status == 0; step++) {
      if (!device_step(d, step, w, x, in, out, y, &seconds, &why)) status = 1;
      else printf("cuda.step.%u\t%.1f\t%%\t%.4g GB/s, copying %.4g\n", step + 1, 200.0 * in * out / seconds / bytes,
        2e-9 * in * out / seconds, 1e-9 * bytes);
    }
  }
  if (status != 0) fprintf(stderr, "device: %s\n", why.text);
  free(w), free(x), free(y);
  device_close(d);
  return status;
}
