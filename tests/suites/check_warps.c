/* Chapter 14 once more: the suite of the device, with the host's threads as fibers that really wait (fibers.h), and a warp that runs
   ahead of the others.  The Makefile links it with a device of its own, which is compiled with those words. */
#ifndef LESS
#define LESS 6
#endif
#include "check_device.c"
