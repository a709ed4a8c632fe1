#!/bin/sh
# living_mutants.sh FOLDER -- faults in what is compiled for a browser alone: the table of kernels, the exact multiply-add of four lanes,
# the cutter of texts, what is built in.  Each is planted in a copy of its file (tests/planted/wasm.txt), its objects are compiled and
# linked, and the programs of living.sh, which has called this, must find it.  The file of faults has the notation of tests/planted/mutants,
# with what finds the fault in place of a suite: fmaf, split, or page.
set -eu
dir=$1 m=$1/mutants; rm -rf "$m"; mkdir -p "$m"
exec texlua tests/checks/living_mutants.lua tests/planted/wasm.txt "$dir" "$m"
