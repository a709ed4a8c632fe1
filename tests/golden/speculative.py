#!/usr/bin/env python3
"""speculative.py -- writes tests/golden/speculative.jsonl: the classical rule of acceptance for pairs of distributions, from its definition.

Leviathan, Kalman and Matias 2023: a guess x, drawn from q, is accepted with min(1, p(x)/q(x)); a refused one is replaced by a throw from
max(0, p - q), divided by its sum.  Computed in fractions, from the doubles that the file has, and rounded once at the end.  Nothing of the
program is used here.  Run it again and the file is the same.
"""
import json, os, random
from fractions import Fraction

def rule(p, q):
    p, q = [Fraction(x) for x in p], [Fraction(x) for x in q]
    missing = [max(Fraction(0), a - b) for a, b in zip(p, q)]
    total = sum(missing)
    return {"accept": [float(min(Fraction(1), a / b)) if b else 0.0 for a, b in zip(p, q)],
            "residual": [float(x / total) for x in missing] if total else None,
            "rate": float(sum(min(a, b) for a, b in zip(p, q)))}

r = random.Random(13)
def shares(n, kind):
    if kind == "dyadic":                  # multiples of 1/64, zeros among them: every sum is exact
        cut = sorted(r.randrange(65) for _ in range(n - 1))
        return [(b - a) / 64 for a, b in zip([0] + cut, cut + [64])]
    w = [r.expovariate(1) ** (3 if kind == "steep" else 1) * (kind != "holes" or r.random() < .7) for _ in range(n)]
    if not any(w): w[0] = 1.0
    return [x / sum(w) for x in w]

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "speculative.jsonl"), "w") as f:
    for i in range(96):
        n, kind = r.choice((1, 2, 3, 5, 8, 40)) if i else 3, ("dyadic", "plain", "steep", "holes")[i % 4]
        p, q = shares(n, kind), shares(n, kind)
        if i == 0: p, q = [.5, .3, .2], [.2, .7, .1]
        if i % 12 == 5: q = list(p)
        if i % 12 == 7: q = [1.0 if k == i % n else 0.0 for k in range(n)]
        if i % 12 == 9: p = [1.0 if k == i % n else 0.0 for k in range(n)]
        f.write(json.dumps({"p": p, "q": q, **rule(p, q)}) + "\n")
