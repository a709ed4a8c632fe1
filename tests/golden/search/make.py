#!/usr/bin/env python3
"""make.py -- writes cases.jsonl: beam searches over small tables of logits, and what they must give.
usage: python3 tests/golden/search/make.py          writes the cases
       python3 tests/golden/search/make.py check    computes them again and compares
The rule is restated here from its description, on whole lists and with a sort, and shares no line with the engine:
num_beams beams from the start, the first with score 0 and the others with -1e9; a list of all candidates of a step,
sorted by falling score and then by beam * V + token; the best max(2, 1 + ends) * num_beams of them are looked at.
A case: V, P, table (logits of a step: table[length % P][last token]), prompt, eos, max_length, num_beams,
num_return_sequences, length_penalty, early_stopping, processors, sequences, scores."""
import json, math, os, random, sys
HERE = os.path.dirname(os.path.abspath(__file__))

def log_softmax(z):
    top = max(z)
    s = math.log(sum(math.exp(x - top) for x in z))
    return [x - top - s for x in z]

def process(case, z, seq):
    for op, value in case["processors"]:
        if op == "repetition_penalty":
            for t in set(seq): z[t] = z[t] / value if z[t] > 0 else z[t] * value
        if op == "no_repeat_ngram":
            n = int(value)
            for i in range(len(seq) - n + 1):
                if seq[i:i + n - 1] == seq[len(seq) - n + 1:]: z[seq[i + n - 1]] = -math.inf
        if op == "min_new_tokens" and len(seq) - len(case["prompt"]) < value:
            for t in case["eos"]: z[t] = -math.inf
    return z

def search(case):
    V, B, ends = case["V"], case["num_beams"], set(case["eos"])
    start, longest, lp = len(case["prompt"]), case["max_length"], case["length_penalty"]
    running = [(0.0 if i == 0 else -1e9, case["prompt"]) for i in range(B)]
    pool, margin = [], math.inf
    while True:
        all_of_them = []
        for b, (score, seq) in enumerate(running):
            z = process(case, log_softmax(case["table"][len(seq) % case["P"]][seq[-1]]), seq)
            all_of_them += [(-(score + x), b * V + t, seq + [t]) for t, x in enumerate(z)]
        all_of_them.sort()
        looked_at = all_of_them[:max(2, 1 + len(case["eos"])) * B]
        done = [seq[-1] in ends or len(seq) == longest for _, _, seq in looked_at]
        length = len(looked_at[0][2]) - start
        for rank, (minus, _, seq) in enumerate(looked_at):
            if done[rank] and rank < B and minus < math.inf: pool.append((-minus / length ** lp, seq))
        pool.sort(key=lambda x: -x[0])
        pool = pool[:B]
        running = [(-minus, seq) for (minus, _, seq), d in zip(looked_at, done) if not d][:B]
        if not running: break
        if len(pool) == B:
            if case["early_stopping"] is True: break
            far = longest - start if case["early_stopping"] == "never" and lp > 0 else length
            margin = min(margin, abs(running[0][0] / far ** lp - pool[-1][0]))
            if not running[0][0] / far ** lp > pool[-1][0]: break
    return pool[:case["num_return_sequences"]], margin

def cases():
    r = random.Random(9)
    out = []
    while len(out) < 60:
        V, P, B = r.choice([4, 6, 9, 12]), r.choice([1, 2, 3]), r.choice([1, 2, 3, 4, 5])
        n_eos = r.choice([0, 1, 1, 2])
        if V - n_eos < B: continue
        prompt = [r.randrange(V) for _ in range(r.choice([1, 2, 3]))]
        spread = r.choice([.5, 1, 2])
        case = {"V": V, "P": P, "table": [[[round(r.gauss(0, spread), 2) for _ in range(V)] for _ in range(V)] for _ in range(P)],
            "prompt": prompt, "eos": r.sample(range(V), n_eos), "max_length": len(prompt) + r.choice([1, 2, 4, 8]), "num_beams": B,
            "num_return_sequences": r.choice([1, B]), "length_penalty": r.choice([-1.0, 0.0, .5, 1.0, 2.0]),
            "early_stopping": r.choice([False, True, "never"]),
            "processors": r.sample([["repetition_penalty", r.choice([.8, 1.3])], ["no_repeat_ngram", r.choice([1, 2, 3])], ["min_new_tokens", r.choice([1, 3])]], r.choice([0, 0, 1, 2, 3]))}
        found, margin = search(case)
        if margin < 1e-9 or len(found) < case["num_return_sequences"]: continue
        case["sequences"], case["scores"] = [seq for _, seq in found], [round(s, 9) for s, _ in found]
        out.append(case)
    return out

if __name__ == "__main__":
    text = "".join(json.dumps(c, separators=(",", ":")) + "\n" for c in cases())
    path = os.path.join(HERE, "cases.jsonl")
    if sys.argv[1:] == ["check"]: sys.exit(open(path).read() != text)
    open(path, "w").write(text)
