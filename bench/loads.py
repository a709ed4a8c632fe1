#!/usr/bin/env python3
"""loads.py [--check] -- what nvcc makes of the kernels of chapter 14: registers, and how many loads of weights a thread has issued
before it uses the first of them.  Needs nvcc, and nvdisasm of the CUDA toolkit (NVDISASM names another).  Writes
figures/data/cuda.loads.csv, for sm_90; --check writes nothing, and says whether a thread of few_bf16_1 has its loads on their way, 32
of them, and a thread of attend_blocks the 16 values of a step.  It is an error with and without --check if any kernel, for sm_80 or
sm_90, keeps something in local memory: a stack frame or a spilled register (ptxas says it), or a load or store of it in the machine code;
and if attend_blocks has so many registers that only one of its blocks fits on a multiprocessor.
"""
import os, re, subprocess, sys, tempfile

# kernel, the load of a weight, and whether it is the first such run in the code that counts (weights and inputs have loads of the
# same width there, and the weights come first) or the longest
KERNELS = [("step_outputs", "LDG.E.U16", False), ("step_lanes", "LDG.E.U16", False), ("step_pairs", "LDG.E", True), ("few_bf16_1", "LDG.E", True),
    ("attend_blocks", "LD.E.U16", False)]

def find(name, more):
    for d in [*os.environ["PATH"].split(":"), *more]:
        if os.access(f"{d}/{name}", os.X_OK):
            return f"{d}/{name}"
    return None

def plain(text):
    """the name of a kernel in a mangled one"""
    m = re.search(r"_Z(\d+)(\w+)", text)
    return m.group(2)[:int(m.group(1))] if m else None

def runs(code, load):
    """lengths of the runs of a load; what uses what was loaded, waits or branches ends a run"""
    n, all = 0, []
    for op in code + ["BRA"]:
        if op == load or op.startswith(load + ".CONSTANT") or op.startswith(load + ".STRONG"):
            n += 1
        elif op.split(".")[0] in ("FFMA", "FADD", "BRA", "BAR", "SHFL", "HMMA", "IDP", "WARPSYNC", "EXIT"):
            if n:
                all.append(n)
            n = 0
    return all

def compiled(nvcc, arch, to):
    """registers of each kernel, and what ptxas says of those that have a stack frame or spill"""
    made = subprocess.run([nvcc, "-std=c++17", "-O3", "-fmad=false", f"-arch={arch}", "-cubin", "-Werror", "all-warnings", "-Xptxas", "-v,-warn-spills",
        "-Itangled", "-Iunwoven", "tangled/cuda/kernels.cu", "-o", to], stderr=subprocess.PIPE, text=True)
    said = made.stderr
    if made.returncode != 0:
        sys.exit(f"{arch}: nvcc complains:\n{said}")
    name, used, frames = None, {}, {}
    for l in said.splitlines():
        if "entry function" in l:
            name = plain(l)
        if name and "stack frame" in l and any(int(n) for n in re.findall(r"\d+", l)):
            frames[name] = l.strip()
        m = re.search(r"Used (\d+) registers", l)
        if m and name:
            used[name] = int(m.group(1))
    return used, frames

def machine_code(dis, cubin):
    """the instructions of each kernel"""
    text = subprocess.run([dis, "-c", cubin], check=True, stdout=subprocess.PIPE, text=True).stdout
    code, now = {}, None
    for l in text.splitlines():
        if re.match(r"\s*\.section", l):
            now = code.setdefault(plain(l), []) if ".text._Z" in l else None
        m = re.match(r"\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", l)
        if m and now is not None:
            now.append(m.group(1))
    return code

def main():
    cuda = ["/usr/local/cuda/bin"]
    nvcc, dis = find("nvcc", cuda), os.environ.get("NVDISASM") or find("nvdisasm", cuda)
    if not nvcc:
        print("NOT RUN: the machine code of chapter 14's kernels: no nvcc here")
        return 77
    bad = []
    with tempfile.TemporaryDirectory() as d:
        for arch in ("sm_80", "sm_90"):
            used, frames = compiled(nvcc, arch, f"{d}/k.cubin")
            bad += [f"{arch}: {k}: {f}" for k, f in frames.items()]
            if used["attend_blocks"] * 256 * 2 > 65536:
                bad.append(f"{arch}: attend_blocks: {used['attend_blocks']} registers; wanted: at most 128")
            if dis:
                code = machine_code(dis, f"{d}/k.cubin")
                local = {k: sum(op.split(".")[0] in ("LDL", "STL") for op in ops) for k, ops in code.items()}
                bad += [f"{arch}: {k}: {n} loads and stores of local memory" for k, n in local.items() if n]
    for b in bad:
        print(b)
    if bad:
        return 1
    if not dis:
        print("NOT RUN: the machine code of chapter 14's kernels: no nvdisasm here")
        return 77
    rows = [(k, used[k], runs(code[k], load)[0] if first else max(runs(code[k], load))) for k, load, first in KERNELS]
    if "--check" in sys.argv:
        print(" ".join(f"{k}: {n}" for k, _, n in rows))
        return 0 if rows[3][2] >= 32 and rows[4][2] >= 16 else 1
    with open("figures/data/cuda.loads.csv", "w") as f:
        f.write("kernel,registers,loads\n" + "".join(f"{k},{r},{n}\n" for k, r, n in rows))
    return 0

if __name__ == "__main__":
    sys.exit(main())
