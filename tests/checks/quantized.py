#!/usr/bin/env python3
"""quantized.py FILE... -- a digest of each GGUF file's tensors: name, type and bytes, in the order of names.

tests/golden/quantized.txt was made with it from files that llama-quantize had written:
  incipit quantize -m MODEL --type f32 --out f32.gguf
  llama-quantize --pure [--token-embedding-type q8_0 --output-tensor-type q8_0] f32.gguf FILE TYPE
with the two options for types of four and five bits."""
import struct, sys
ROW = {0: (1, 4), 1: (1, 2), 30: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34)}
SIZE = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def digest(path):
    data = open(path, 'rb').read()
    at = 0

    def number(form):
        nonlocal at
        x, = struct.unpack_from('<' + form, data, at)
        at += struct.calcsize(form)
        return x

    def string():
        nonlocal at
        n = number('Q')
        at += n
        return data[at - n:at]

    def skip(kind):
        nonlocal at
        if kind == 8:
            string()
        elif kind == 9:
            of, n = number('I'), number('Q')
            for _ in range(n):
                skip(of)
        else:
            at += SIZE[kind]

    at = 8
    tensors, keys = number('Q'), number('Q')
    for _ in range(keys):
        string()
        skip(number('I'))
    found = []
    for _ in range(tensors):
        name = string()
        n = 1
        for _ in range(number('I')):
            n *= number('Q')
        kind, offset = number('I'), number('Q')
        block, size = ROW[kind]
        found.append((name, kind, offset, n // block * size))
    start = (at + 31) // 32 * 32
    h = 14695981039346656037
    for name, kind, offset, size in sorted(found):
        for byte in name + bytes([kind]) + data[start + offset:start + offset + size]:
            h = (h ^ byte) * 1099511628211 & 0xffffffffffffffff
    return '%016x' % h


for path in sys.argv[1:]:
    print(path, digest(path))
