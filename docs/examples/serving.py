"""serving.py -- several prompts at once, by ctypes alone: python3 serving.py PROMPT...
All are submitted; the first is given up after four tokens; each token is heard when it comes. Structures are written down as
incipit.h has them; libincipit.so.0 must be found by the loader."""
import ctypes as C
import sys

class Error(C.Structure):
    _fields_ = [("code", C.c_int), ("text", C.c_char * 508)]

class Token(C.Structure):
    _fields_ = [("prompt", C.c_size_t), ("number", C.c_size_t), ("id", C.c_uint32), ("text", C.c_void_p), ("n", C.c_size_t)]

ON_TOKEN = C.CFUNCTYPE(C.c_bool, C.c_void_p, C.POINTER(Token))

class ContextOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("n_sequences", C.c_uint32), ("threads", C.c_uint32), ("rows", C.c_size_t),
                ("kv_type", C.c_char_p), ("kernels", C.c_char_p), ("window", C.c_uint32), ("sinks", C.c_uint32),
                ("activations", C.c_char_p)]

class GenerateOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("max_new_tokens", C.c_size_t), ("min_new_tokens", C.c_size_t), ("chunk", C.c_size_t),
                ("stop", C.c_void_p), ("n_stop", C.c_size_t), ("include_stop", C.c_bool), ("ignore_end", C.c_bool),
                ("sampler", C.c_void_p), ("sequence", C.c_void_p), ("on_token", ON_TOKEN), ("on_progress", C.c_void_p),
                ("ctx", C.c_void_p)]

class Result(C.Structure):
    _fields_ = [("text", C.c_void_p), ("n", C.c_size_t), ("id", C.POINTER(C.c_uint32)), ("n_ids", C.c_size_t),
                ("finish", C.c_int), ("stop", C.c_char_p)]

class Request(C.Structure):
    _fields_ = [("state", C.c_int), ("n_ids", C.c_size_t), ("rows_found", C.c_size_t), ("preempted", C.c_size_t),
                ("failure", Error)]

lib = C.CDLL("libincipit.so.0")
why = Error()

def function(name, result, *arguments):
    f = getattr(lib, "incipit_" + name)
    f.restype, f.argtypes = result, arguments + (C.POINTER(Error),)
    def call(*given):
        x = f(*given, why)
        if not x:
            sys.exit(f"serving.py: {why.text.decode()} (code {why.code})")
        return x
    return call

P, N = C.c_void_p, C.c_size_t
model_open = function("model_open", P, C.c_char_p, P)
context_open = function("context_open", P, P, C.POINTER(ContextOptions))
encode = function("encode", C.c_bool, P, C.c_char_p, N, C.c_bool, C.c_bool, C.POINTER(C.c_uint32), N, C.POINTER(N))
batch_open = function("batch_open", P, P, P)
submit = function("batch_submit", C.c_bool, P, C.POINTER(C.c_uint32), N, C.POINTER(GenerateOptions), C.POINTER(C.c_uint64))
step = function("batch_step", C.c_bool, P, C.POINTER(N))
poll = function("batch_poll", C.c_bool, P, C.c_uint64, C.POINTER(Request), N)
cancel = function("batch_cancel", C.c_bool, P, C.c_uint64)
take = function("batch_take", C.POINTER(Result), P, C.c_uint64)
for name in "batch_close", "context_close", "model_close", "result_close":
    getattr(lib, "incipit_" + name).argtypes = [P]

if len(sys.argv) < 2:
    sys.exit("usage: python3 serving.py PROMPT...")
model = model_open(None, None)
context = context_open(model, ContextOptions(size=C.sizeof(ContextOptions), n_sequences=4))
batch = batch_open(context, None)
requests = []
for prompt in sys.argv[1:]:
    heard = bytearray()
    def hear(ctx, now, heard=heard):
        heard += C.string_at(now.contents.text, now.contents.n)
        return True
    ids, n, number = (C.c_uint32 * 1024)(), N(), C.c_uint64()
    encode(model, prompt.encode(), len(prompt.encode()), True, False, ids, 1024, n)
    callback = ON_TOKEN(hear)           # must live as long as the request
    submit(batch, ids, min(n.value, 1024), GenerateOptions(size=C.sizeof(GenerateOptions), max_new_tokens=8, on_token=callback), number)
    requests.append((prompt, number.value, heard, callback))

left, request = N(1), Request()
while left.value > 0:
    step(batch, left)
    poll(batch, requests[0][1], request, C.sizeof(Request))
    if request.n_ids == 4:
        cancel(batch, requests[0][1])
for prompt, number, heard, _ in requests:
    poll(batch, number, request, C.sizeof(Request))
    result = take(batch, number)
    text = C.string_at(result.contents.text, result.contents.n)
    same = "as heard" if text.startswith(bytes(heard)) else "not what was heard"
    print(f"{prompt}|{text.decode()}|{result.contents.n_ids} tokens, {same}")
    lib.incipit_result_close(result)
lib.incipit_batch_close(batch)
lib.incipit_context_close(context)
lib.incipit_model_close(model)
