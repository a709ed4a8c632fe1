"""living_wasmtime.py WASM SCRIPT LINES -- what living.mjs does in node, in a runtime that shares no code with a browser's: the engine for WebAssembly
does what the script says, and each answer must be that of the same C compiled for this machine (LINES); of attention and logits, which Python hashes
slowly, one answer in eight. It wants the module wasmtime (pip)."""
import json, pathlib, struct, sys, time
from wasmtime import Engine, Func, FuncType, Instance, Module, Store

wasm, script, lines = sys.argv[1:]
store = Store(Engine())
module = Module(store.engine, pathlib.Path(wasm).read_bytes())
x = {}


def clock(id, precision, at):
    x["memory"].write(store, struct.pack("<q", time.monotonic_ns()), at)
    return 0


def ended(code):
    raise SystemExit(f"the engine has ended, {code}")


mine = {"clock_time_get": clock, "proc_exit": ended}
links = [Func(store, FuncType(i.type.params, i.type.results), mine.get(i.name, lambda *a: 52)) for i in module.imports]      # 52: there is no such call
x = Instance(store, module, links).exports(store)
call = lambda name, *a: x[name](store, *a)
bytes_at = lambda at, n: bytes(x["memory"].read(store, at, at + n))


def text(at):
    end = at
    while not (b := bytes_at(end, 4096)).count(0):
        end += 4096
    return bytes_at(at, end - at + b.index(0)).decode()


def fnv(at, n):
    h = 0xcbf29ce484222325
    for b in bytes_at(at, n) if at else ():
        h = (h ^ b) * 0x100000001b3 & 0xffffffffffffffff
    return f"{h if at else 0:016x}"


if "_initialize" in x:
    call("_initialize")
if not call("living_open"):
    raise SystemExit(text(call("living_error")))
layers, heads, kv_heads, width, context, vocabulary, page = struct.unpack("<7i", bytes_at(call("living_shape"), 28))


def state():
    s = json.loads(text(call("living_state")))
    return {"state": s} if n % 8 else {"state": s, "attention_hash": fnv(call("living_attention"), 4 * layers * heads * s["seq_len"]), "last_logits": fnv(call("living_logits"), 4 * vocabulary)}


def act(line):
    word, *a = line.split(" ")
    if word == "set":
        b = line[4:].encode()
        x["memory"].write(store, b, call("living_room", len(b)))
        ok = bool(call("living_set", len(b)))
        yield {"set": ok, "error": "" if ok else "refused"}
        return
    a = [int(n) for n in a]
    if word == "steps":
        for _ in range(a[0]):
            if call("living_step") != 0:
                break
            yield state()
    elif word == "cell":
        yield {"cell": fnv(call("living_numbers", *a), 8 * kv_heads * width)}
    elif word in ("tree", "stages"):
        yield {word: json.loads(text(call("living_" + word, *a)))}
    else:
        got = call("living_" + word, *a)
        yield state() if (got >= 0 if word == "fork" else got) else {"refused": True}


wanted, n = [json.loads(l) for l in pathlib.Path(lines).read_text(encoding="utf-8").splitlines()], 0
for line in pathlib.Path(script).read_text(encoding="utf-8").split("\n"):
    if line and line[0] != "#":
        for got in act(line):
            if n == len(wanted):
                raise SystemExit(f"{line}: one answer too many")
            for s in got, wanted[n]:
                s.get("state", {}).pop("kernels", None)        # the one thing in which they must differ
            if n % 8:
                wanted[n].pop("attention_hash", None), wanted[n].pop("last_logits", None)
            if got != wanted[n]:
                raise SystemExit(f"{line}, answer {n + 1}: {json.dumps(got)[:600]}; wanted: {json.dumps(wanted[n])[:600]}")
            n += 1
if n != len(wanted) or n < 400:
    raise SystemExit(f"{n} answers; wanted: {len(wanted)}")
print(f"{n} answers: all the same")
