"""greedy.py -- the library from Python, by ctypes alone: python3 greedy.py PROMPT [DIRECTORY]
Structures are written down as incipit.h has them; libincipit.so.0 must be found by the loader."""
import ctypes as C
import sys

class Error(C.Structure):
    _fields_ = [("code", C.c_int), ("text", C.c_char * 508)]

class Token(C.Structure):
    _fields_ = [("prompt", C.c_size_t), ("number", C.c_size_t), ("id", C.c_uint32), ("text", C.c_void_p), ("n", C.c_size_t)]

ON_TOKEN = C.CFUNCTYPE(C.c_bool, C.c_void_p, C.POINTER(Token))

class GenerateOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("max_new_tokens", C.c_size_t), ("min_new_tokens", C.c_size_t), ("chunk", C.c_size_t),
                ("stop", C.c_void_p), ("n_stop", C.c_size_t), ("include_stop", C.c_bool), ("ignore_end", C.c_bool),
                ("sampler", C.c_void_p), ("sequence", C.c_void_p), ("on_token", ON_TOKEN), ("on_progress", C.c_void_p),
                ("ctx", C.c_void_p)]

class Result(C.Structure):
    _fields_ = [("text", C.c_void_p), ("n", C.c_size_t), ("id", C.POINTER(C.c_uint32)), ("n_ids", C.c_size_t),
                ("finish", C.c_int), ("stop", C.c_char_p)]

lib = C.CDLL("libincipit.so.0")
lib.incipit_model_open.restype = lib.incipit_context_open.restype = C.c_void_p
lib.incipit_model_open.argtypes = [C.c_char_p, C.c_void_p, C.POINTER(Error)]
lib.incipit_context_open.argtypes = [C.c_void_p, C.c_void_p, C.POINTER(Error)]
lib.incipit_encode.restype = C.c_bool
lib.incipit_encode.argtypes = [C.c_void_p, C.c_char_p, C.c_size_t, C.c_bool, C.c_bool, C.POINTER(C.c_uint32), C.c_size_t,
                               C.POINTER(C.c_size_t), C.POINTER(Error)]
lib.incipit_generate.restype = C.POINTER(Result)
lib.incipit_generate.argtypes = [C.c_void_p, C.POINTER(C.c_uint32), C.c_size_t, C.POINTER(GenerateOptions), C.POINTER(Error)]
lib.incipit_result_close.argtypes = [C.POINTER(Result)]
lib.incipit_context_close.argtypes = lib.incipit_model_close.argtypes = [C.c_void_p]
why = Error()

def given(x):
    if not x:
        sys.exit(f"greedy.py: {why.text.decode()} (code {why.code})")
    return x

@ON_TOKEN
def show(ctx, now):
    sys.stdout.buffer.write(C.string_at(now.contents.text, now.contents.n))
    sys.stdout.buffer.flush()
    return True

if len(sys.argv) < 2:
    sys.exit("usage: python3 greedy.py PROMPT [DIRECTORY]")
prompt = sys.argv[1].encode()
model = given(lib.incipit_model_open(sys.argv[2].encode() if len(sys.argv) > 2 else None, None, why))
context = given(lib.incipit_context_open(model, None, why))
ids, n = (C.c_uint32 * 1024)(), C.c_size_t()
given(lib.incipit_encode(model, prompt, len(prompt), True, False, ids, 1024, n, why))
if n.value > 1024:
    sys.exit("a prompt of %d tokens" % n.value)
options = GenerateOptions(size=C.sizeof(GenerateOptions), max_new_tokens=12, on_token=show)
result = given(lib.incipit_generate(context, ids, n.value, options, why))
sys.stdout.buffer.write(b"\n%d tokens\n" % result.contents.n_ids)
lib.incipit_result_close(result)
lib.incipit_context_close(context)
lib.incipit_model_close(model)
