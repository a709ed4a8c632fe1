// engine.mjs -- the engine of a page: open(bytes of living.wasm) gives its functions. It imports nothing, so it is the same in node and in a
// browser. The engine asks for next to nothing itself: to end the program, and a clock.

export async function open(bytes) {
  let x;
  const view = () => new DataView(x.memory.buffer), all = () => new Uint8Array(x.memory.buffer);
  const mine = {
    proc_exit(code) { throw new Error('the engine has ended, ' + code); },
    clock_time_get(id, precision, at) { view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true); return 0; },
  };
  const module = await WebAssembly.compile(bytes), wasi = {};
  for (const i of WebAssembly.Module.imports(module)) wasi[i.name] = mine[i.name] ?? (() => 52);   // 52: there is no such call
  x = (await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi })).exports;
  if (x._initialize) x._initialize();
  const text = at => { const m = all(); let end = at; while (m[end]) end++; return new TextDecoder().decode(m.subarray(at, end)); };
  const floats = (at, n) => at ? new Float32Array(x.memory.buffer, at, n) : null;
  const must = ok => { if (!ok) throw new Error(text(x.living_error())); };
  const told = at => { const s = text(at); must(s !== ''); return JSON.parse(s); };
  must(x.living_open());
  const [layers, heads, kv_heads, width, context, vocabulary, page_rows] = new Int32Array(x.memory.buffer, x.living_shape(), 7);
  return {
    exports: x, layers, heads, kv_heads, width, context, vocabulary, page_rows,
    imports: WebAssembly.Module.imports(module).map(i => i.name),
    error: () => text(x.living_error()),
    set(settings) {
      const b = typeof settings === 'string' ? new TextEncoder().encode(settings) : new TextEncoder().encode(JSON.stringify(settings));
      all().set(b, x.living_room(b.length));
      must(x.living_set(b.length));
    },
    step() { const r = x.living_step(); must(r !== 1); return r; },
    back() { must(x.living_back()); },
    fork(node, id) { const k = x.living_fork(node, id); must(k >= 0); return k; },
    go(node) { must(x.living_go(node)); },
    beams(width, steps) { must(x.living_beams(width, steps)); },
    state: () => told(x.living_state()), state_text: () => text(x.living_state()),
    tree: () => told(x.living_tree()), stages: node => told(x.living_stages(node)),
    attention: seq_len => floats(x.living_attention(), layers * heads * seq_len),
    logits: () => floats(x.living_logits(), vocabulary),
    numbers: (layer, position) => floats(x.living_numbers(layer, position), 2 * kv_heads * width),
  };
}
