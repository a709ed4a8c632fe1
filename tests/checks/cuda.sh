#!/bin/sh
# cuda.sh -- the kernels of chapter 14 by nvcc, where it is: for each generation of devices that the Makefile names, without a warning or a spilled register.
# Where there is a device as well, the command is built and the suite of the device runs on it; else it is said that it did not.
set -eu
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "NOT RUN: the kernels of chapter 14 by nvcc, which this machine lacks"; exit 77; }
# no kernel has anything in local memory, two blocks of attention fit on a multiprocessor, and the loads of a thread are on their way
# together; the last only where nvdisasm shows the machine code
bench/loads.py --check || [ $? = 77 ]
if command -v nvidia-smi > /dev/null && nvidia-smi -L > /dev/null 2>&1; then
  ${MAKE:-make} CUDA=1 build/cuda/tests/check_device build/cuda/incipit
  INCIPIT_TEST_DEVICE=cuda build/cuda/tests/check_device
else
  echo "NOT RUN: the suite of chapter 14 on a graphics processor, which this machine lacks"
fi
