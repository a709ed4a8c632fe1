#!/usr/bin/env python3
"""blocks.py -- writes tests/golden/blocks.txt: blocks of every type with the numbers that they stand for, and what rounding makes of
thousands of blocks that check_kernels makes again.  Needs ../shared/reference/contract.py, and the package gguf, whose own
dequantizer says what the blocks of 256 and those with unequal steps are, and must agree with the contract about all that the contract knows.
The tests need neither.
usage: python3 tests/checks/blocks.py > tests/golden/blocks.txt"""
import os, random, struct, sys
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.environ.get("SHARED", os.path.join(here, "..", "..", "..", "shared")), "reference"))
import contract as rule
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.quants import dequantize, quantize

BYTES = dict(rule.BLOCK, q4_k=144, q6_k=210)
OTHERS = dict(q2_k=84, q3_k=110, q5_k=176, iq4_nl=18, iq4_xs=136, mxfp4=17)
D_AT = dict(q6_k=208, q2_k=80, q3_k=108)
def half(r): return r.choice([struct.pack("<e", r.gauss(0, 1)), struct.pack("<e", r.gauss(0, 1e-3)), struct.pack("<H", r.randrange(0x7c00) | r.randrange(2) << 15), struct.pack("<H", r.randrange(1024))])
def block(r, t):
    b = bytearray(r.choice([r.randrange(256), r.choice([0, 255, 128, 136, 63, 240])]) for _ in range(dict(BYTES, **OTHERS)[t]))
    at = D_AT.get(t, 0)
    if t == "mxfp4": b[0] = r.choice([0, 1, 2, 127, r.randrange(252)])   # 12 times the largest scales is no float
    else: b[at:at + 2] = half(r)
    if t in ("q4_1", "q5_1", "q4_k", "q5_k", "q2_k"): b[at + 2:at + 4] = half(r)
    return bytes(b)
def floats(t, b):
    theirs = dequantize(np.frombuffer(b, dtype=np.uint8), Type[t.upper()]).astype(np.float32).reshape(-1)
    if t in OTHERS: return theirs.tobytes().hex()
    ours = np.array((rule.q4_k if t == "q4_k" else rule.q6_k if t == "q6_k" else lambda b: rule.dequantize_block(t, b))(b), dtype=np.float32)
    assert np.array_equal(theirs, ours), t
    return theirs.tobytes().hex()

MASK = 2 ** 64 - 1
def splitmix(seed):
    while True:
        seed = (seed + 0x9e3779b97f4a7c15) & MASK
        z = seed
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK
        z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
        yield z ^ z >> 31
def numbers(g):      # 32 numbers of one size, some much smaller, some zero, some on whole steps
    size = next(g) % 44 - 34
    x = []
    for _ in range(32):
        u = next(g)
        whole, kind = (u >> 40) - (1 << 23), u % 16
        x.append(0.0 if kind == 0 else (whole >> 16) * 2.0 ** (size - 7) if kind < 4 else whole * 2.0 ** (size - 23 - (6 if kind < 6 else 0)))
    return x
def tiny(g):         # the same near the least float, where the reciprocal of a scale may be infinite; by the package itself: C does not say what happens
    size = next(g) % 44 - 149
    return np.array([np.float32(((next(g) >> 40) - (1 << 23)) * 2.0 ** (size - 23)) for _ in range(32)], dtype=np.float32)
def tiny_rounded(t, seed, n):
    g, h = splitmix(seed), 0xcbf29ce484222325
    with np.errstate(all="ignore"):
        for _ in range(n):
            for byte in quantize(tiny(g).reshape(1, 32), Type[t.upper()]).tobytes(): h = (h ^ byte) * 0x100000001b3 & MASK
    return "%016x" % h
def rounded(t, seed, n):
    g, h = splitmix(seed), 0xcbf29ce484222325
    for _ in range(n):
        for byte in rule.quantize_block(t, numbers(g)): h = (h ^ byte) * 0x100000001b3 & MASK
    return "%016x" % h

r = random.Random(20)
print("# written by tests/checks/blocks.py: TYPE, a block, its numbers as floats; or TYPE, a seed, how many blocks, the FNV-1a of their bytes")
for t in BYTES:
    for _ in range(8):
        b = block(r, t)
        print(t.upper(), b.hex(), floats(t, b))
for t in rule.BLOCK:
    for seed in range(1, 9): print(t.upper(), seed, 250, rounded(t, seed, 250))
for t in rule.BLOCK:
    for seed in range(1, 5): print(t.upper(), seed, 250, tiny_rounded(t, seed, 250), "tiny")
r = random.Random(47)
for t in OTHERS:
    for _ in range(8):
        b = block(r, t)
        print(t.upper(), b.hex(), floats(t, b))
