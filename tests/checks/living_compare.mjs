// living_compare.mjs -- the engine for WebAssembly does what a script says, and each answer must be that of the same C compiled for this
// machine, number for number; and of each text the first 64 steps what `incipit trace --json` has printed. It imports nothing, so it is the
// same in node and in a browser.

const compared = { answers: 0, numbers: 0, steps: 0 };
function same(a, b, where) {
  if (typeof a === 'object' && a !== null && typeof b === 'object' && b !== null) {
    const keys = Object.keys(a), others = Object.keys(b);
    if (keys.join() !== others.join()) throw new Error(`${where}: ${keys} is not ${others}`);
    for (const k of keys) same(a[k], b[k], `${where}.${k}`);
  } else {
    if (a !== b) throw new Error(`${where}: ${JSON.stringify(a)}; wanted: ${JSON.stringify(b)}`);
    compared.numbers++;
  }
}
// FNV-1a of 64 bits in two halves: the prime is 2^40 + 0x1b3
function hash(x) {
  const b = new Uint8Array(x.buffer, x.byteOffset, x.byteLength);
  let high = 0xcbf29ce4, low = 0x84222325;
  for (let i = 0; i < b.length; i++) {
    low = (low ^ b[i]) >>> 0;
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 4294967296) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}
const none = '0'.repeat(16);

// one command of the script: the answers, as wasm/try_living.c prints them
function* act(page, line) {
  const state = () => {
    const s = page.state();
    const look = page.attention(s.seq_len), logits = page.logits();
    return { state: s, attention_hash: look ? hash(look) : none, last_logits: logits ? hash(logits) : none };
  };
  const [word, a, b] = line.split(' ');
  const attempt = f => { try { f(); return state(); } catch { return { refused: true }; } };
  if (word === 'set') {
    try { page.set(line.slice(4)); yield { set: true, error: '' }; } catch { yield { set: false, error: 'refused' }; }
  } else if (word === 'steps') { for (let i = 0; i < Number(a) && page.step() === 0; i++) yield state(); }
  else if (word === 'tree') yield { tree: page.tree() };
  else if (word === 'stages') yield { stages: page.stages(Number(a)) };
  else if (word === 'cell') { const x = page.numbers(Number(a), Number(b)); yield { cell: x ? hash(x) : none }; }
  else yield attempt(() => word === 'back' ? page.back() : word === 'go' ? page.go(Number(a)) : word === 'fork' ? page.fork(Number(a), Number(b)) : page.beams(Number(a), Number(b)));
}
function unlike(o) { delete o.state?.kernels; }                // the one thing in which they must differ

export function compare(page, script, lines, traces) {
  const parsed = text => text.trim().split('\n').map(l => JSON.parse(l));
  const wanted = parsed(lines), traced = parsed(traces);
  let at = 0, trace = null, step = 0;
  for (const line of script.split('\n')) {
    if (line === '' || line[0] === '#') continue;
    if (line.startsWith('set ')) {
      trace = null, step = 0;
      try { const s = JSON.parse(line.slice(4)); trace = traced.find(t => t.prompt === s.prompt && t.cache === s.cache && s.seed === undefined) ?? null; } catch { }
    }
    for (const got of act(page, line)) {
      const want = wanted[at++];
      if (want === undefined) throw new Error(`${line}: one answer too many`);
      unlike(got), unlike(want);
      same(JSON.parse(JSON.stringify(got)), want, `${line}, answer ${at}`);
      compared.answers++;
      if (trace === null || got.state === undefined) continue;
      const theirs = trace.trace.steps[step++], ours = got.state.step;
      const n = got.state.seq_len, look = page.attention(n);
      theirs.attention.forEach((x, i) => same(look[(trace.layer * page.heads + trace.head) * n + i], Math.fround(x), `${line}, step ${step}, attention ${i}`));
      same({ ...ours, attention: [] }, { ...theirs, attention: [] }, `${line}, step ${step} of the command`);
      same(got.state.ids.slice(0, got.state.prompt_tokens), trace.trace.prompt_ids, `${line}, prompt`);
      compared.steps++;
    }
  }
  if (at !== wanted.length) throw new Error(`${at} answers; wanted: ${wanted.length}`);
  if (compared.steps !== 6 * 64) throw new Error(`${compared.steps} steps were compared with the command's; wanted: ${6 * 64}`);
  return `${compared.answers} answers, ${compared.steps} steps of the command, ${compared.numbers} numbers: all the same`;
}
