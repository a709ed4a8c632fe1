// engine.js -- what runs in the Worker: the engine, a file system in memory for it, and its exports as messages. This is the one file of the
// page that knows how living.wasm is called; the page itself sees objects and arrays. A message has an id, and so has its answer.
"use strict";
const utf8 = new TextEncoder(), text8 = new TextDecoder();

// ---- what a WASI program may ask for: files that are read from memory, a clock, and three places to write to. All else is refused
const OK = 0, BADF = 8, NOENT = 44, NOSYS = 52, ROFS = 69, NOTSUP = 58;
function wasi(files, said) {
  let memory;
  const open = [null, null, null, { folder: true }];
  const view = () => new DataView(memory.buffer), bytes = () => new Uint8Array(memory.buffer);
  const found = (at, length) => files[text8.decode(bytes().subarray(at, at + length)).split("/").pop()];
  const describe = (at, file) => {
    bytes().fill(0, at, at + 64);
    view().setUint8(at + 16, file ? 4 : 3);
    view().setBigUint64(at + 24, 1n, true);
    view().setBigUint64(at + 32, BigInt(file ? file.length : 0), true);
    return OK;
  };
  const counts = (a, b) => (view().setUint32(a, 0, true), view().setUint32(b, 0, true), OK);
  const each = (list, n, f) => {           // the buffers of a vectored read or write
    let all = 0;
    for (let i = 0; i < n; i++) all += f(view().getUint32(list + 8 * i, true), view().getUint32(list + 8 * i + 4, true));
    return all;
  };
  const calls = {
    args_sizes_get: counts, environ_sizes_get: counts, args_get: () => OK, environ_get: () => OK, sched_yield: () => OK, fd_advise: () => OK,
    clock_time_get: (id, precision, at) => (view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true), OK),
    proc_exit(code) { throw new Error("the engine has ended with " + code); },
    fd_prestat_get: (fd, at) => fd === 3 ? (view().setUint32(at, 0, true), view().setUint32(at + 4, 1, true), OK) : BADF,
    fd_prestat_dir_name: (fd, at) => (bytes()[at] = 47, OK),
    fd_fdstat_get(fd, at) {
      bytes().fill(0, at, at + 24);
      view().setUint8(at, fd < 3 ? 2 : fd === 3 ? 3 : 4);
      view().setBigUint64(at + 8, 0xffffffffn, true);
      view().setBigUint64(at + 16, 0xffffffffn, true);
      return OK;
    },
    fd_fdstat_set_flags: () => OK,
    fd_close: fd => (open[fd] = undefined, OK),
    fd_filestat_get: (fd, at) => open[fd] ? describe(at, open[fd].file) : BADF,
    path_filestat_get(fd, flags, name, length, at) {
      const file = found(name, length), text = text8.decode(bytes().subarray(name, name + length));
      return file || !text.includes(".") ? describe(at, file) : NOENT;
    },
    path_open(fd, flags, name, length, how, rights, more, fdflags, at) {
      const file = found(name, length);
      if (!file) return NOENT;
      open.push({ file, place: 0 });
      view().setUint32(at, open.length - 1, true);
      return OK;
    },
    fd_read(fd, list, n, at) {
      const f = open[fd];
      if (!f || !f.file) return BADF;
      const got = each(list, n, (to, most) => {
        const part = f.file.subarray(f.place, f.place + most);
        bytes().set(part, to);
        f.place += part.length;
        return part.length;
      });
      view().setUint32(at, got, true);
      return OK;
    },
    fd_pread(fd, list, n, from, at) {
      const f = open[fd];
      if (!f || !f.file) return BADF;
      const was = f.place;
      f.place = Number(from);
      calls.fd_read(fd, list, n, at);
      f.place = was;
      return OK;
    },
    fd_seek(fd, by, whence, at) {
      const f = open[fd];
      if (!f || !f.file) return BADF;
      f.place = Number(by) + (whence === 0 ? 0 : whence === 1 ? f.place : f.file.length);
      view().setBigUint64(at, BigInt(f.place), true);
      return OK;
    },
    fd_write(fd, list, n, at) {
      view().setUint32(at, each(list, n, (from, length) => (said(text8.decode(bytes().slice(from, from + length))), length)), true);
      return OK;
    },
    fd_readdir: (fd, to, length, cookie, at) => (view().setUint32(at, 0, true), OK),
    path_readlink: () => NOENT, path_unlink_file: () => ROFS, path_rename: () => ROFS, path_create_directory: () => ROFS, random_get: () => NOTSUP,
  };
  return { calls, use(m) { memory = m; } };
}

// ---- one engine: its exports as functions that take and give what JavaScript has
async function started(module, files) {
  let told = "";
  const w = wasi(files, s => { told += s; }), bag = {};
  for (const i of WebAssembly.Module.imports(module)) (bag[i.module] ??= {})[i.name] = w.calls[i.name] ?? (() => NOSYS);
  const { exports: e } = await WebAssembly.instantiate(module, bag);
  w.use(e.memory);
  const string = at => {
    const all = new Uint8Array(e.memory.buffer);
    return text8.decode(all.subarray(at, all.indexOf(0, at)));
  };
  const refused = () => new Error(string(e.living_error()) || told || "the engine gives no reason");
  const object = at => {                   // an empty answer is a refusal
    const text = at ? string(at) : "";
    if (!text) throw refused();
    return JSON.parse(text);
  };
  const floats = (at, n) => new Float32Array(e.memory.buffer, at, n).slice();
  const need = ok => { if (!ok) throw refused(); };
  e._initialize?.();
  need(e.living_open());
  const shape = [...new Int32Array(e.memory.buffer, e.living_shape(), 7)];
  const it = {
    shape,
    state: () => object(e.living_state()),
    tree: () => object(e.living_tree()),
    // behind each stage the likeliest tokens that are left, and all others together
    stages(node) {
      const { stages, chosen } = object(e.living_stages(node));
      return { chosen, stages: stages.map(s => ({ name: s.stage, left: s.left, rest: s.rest,
        list: s.top.map((c, i) => ({ ...c, rank: i + 1, logprob: c.probability > 0 ? Math.log(c.probability) : -Infinity })) })) };
    },
    attention: n => floats(e.living_attention(), 24 * n),
    numbers: (layer, position) => { const at = e.living_numbers(layer, position); return at ? floats(at, 128) : null; },
    set(options) {
      const json = utf8.encode(JSON.stringify(options)), room = e.living_room(json.length + 1);
      new Uint8Array(e.memory.buffer).set([...json, 0], room);
      need(e.living_set(json.length));
    },
    step() { const r = e.living_step(); if (r === 1) throw refused(); return r === 0; },
    back: () => e.living_back() !== 0,
    fork(node, id) { const to = e.living_fork(node, id); if (to < 0) throw refused(); return to; },
    go: node => need(e.living_go(node)),
    beams: (width, steps) => need(e.living_beams(width, steps)),
  };
  return it;
}

// a far look goes to a token so many places back, with so much weight
const FAR = 8, MUCH = .3;
// ---- how far a row looks back on average: the positions between it and what it looks at, weighted by how much it looks
function distances(attention, n) {
  const out = new Float64Array(24);
  for (let h = 0; h < 24; h++) for (let i = 0; i < n; i++) out[h] += attention[h * n + i] * (n - 1 - i);
  return out;
}

let engine, module, files;
const looked = () => {                     // the state, the looks of the last row, and the tree
  const state = engine.state(), n = state.step ? state.step.length : 0;
  return { state, attention: n ? engine.attention(n) : null, rows: n, tree: engine.tree() };
};
const does = {
  async open(a) {
    const t = performance.now();
    files = a.files;
    module = await WebAssembly.compile(a.wasm);
    const compiled = performance.now();
    engine = await started(module, files);
    return { shape: engine.shape, compile: compiled - t, open: performance.now() - compiled };
  },
  set(a) { engine.set(a.options); return looked(); },
  step() {
    const t = performance.now(), went = engine.step(), ms = performance.now() - t;
    return { ...looked(), went, ms };
  },
  back() { const went = engine.back(); return { ...looked(), went }; },
  fork(a) { const node = engine.fork(a.node, a.token); return { ...looked(), node }; },
  go(a) { engine.go(a.node); return looked(); },
  beams(a) { engine.beams(a.width, a.steps); return looked(); },
  stages(a) { return engine.stages(a.node); },
  numbers(a) { return engine.numbers(a.layer, a.position); },
  // in an engine of its own, so that the text on the page stays as it is
  async measure(a) {
    const other = await started(module, files), out = [];
    for (const prompt of a.prompts) {
      other.set({ prompt, cache: true, temperature: 0, max_tokens: 0 });
      const far = new Float64Array(24), { pieces, prompt_tokens: given } = other.state(), held = Array(given).fill(0), most = [...held];
      let steps = 0, share = 0, even = 0, looks = 0, first = 0;      // far looks, and those that go to the prompt
      while (steps < a.steps && other.step()) {
        const n = other.state().step.length, all = other.attention(n), d = distances(all, n);
        for (let h = 0; h < 24; h++) {
          far[h] += d[h], share += d[h] / Math.max(1, n - 1) / 24;
          for (let i = 0; i < n; i++) {
            const w = all[h * n + i], away = n - 1 - i >= FAR;
            if (i < given) held[i] += w / 24, most[i] = away && w > most[i] ? w : most[i];
            if (away && w >= MUCH) looks++, first += i < given;
          }
        }
        even += 1 / n, steps++;
      }
      out.push({ prompt, steps, far: [...far].map(f => f / steps), share: share / steps, pieces, held: held.map(x => x / steps), most, even: even / steps, looks, first });
    }
    return out;
  },
};
onmessage = async ({ data }) => {
  try { postMessage({ id: data.id, answer: await does[data.what](data) }); }
  catch (e) { postMessage({ id: data.id, error: e.message }); }
};
