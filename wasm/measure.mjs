// measure.mjs -- node wasm/measure.mjs build/living.wasm build/wasm VALUES CLOCK: what the engine costs in node, and what living.sh has just
// found, as CSV; and how long a step takes by the rows of its text, here and in node. Seconds are a processor's, which grow less than a clock's when
// others are busy; each is the least of several.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { cpus } from 'node:os';
import { open } from './engine.mjs';
import { compare } from '../tests/checks/living_compare.mjs';

const [, , wasm, made, values, clock] = process.argv;
const bytes = readFileSync(wasm), weights = readFileSync(made + '/made/weights.bin');
const text_of = f => readFileSync(f, 'utf8');
const squeezed = b => gzipSync(b, { level: 9 }).length;
const used = f => { const was = process.cpuUsage(); f(); const u = process.cpuUsage(was); return (u.user + u.system) / 1e6; };
const least = (f, n = 9) => Math.min(...Array.from({ length: n }, f));
const page = await open(bytes);
const text = n => { for (let i = 0; i < n; i++) page.step(); };
const begin = () => page.set({ prompt: 'Once upon a time', cache: true, temperature: 0 });
begin();
text(300);                                                        // the machine code of the loops is made while they run
const token = least(() => { begin(); return used(() => text(100)) / 100; });
const row = least(() => { begin(); text(90); page.set({ cache: false }); let rows = 0; const s = used(() => { for (let i = 0; i < 5; i++) { page.step(); rows += page.state().seq_len; } }); return s / rows; });

// a step and back, so that the next is as long: as wasm/try_clock.c does it
const once = () => { const s = used(() => page.step()); page.back(); return 1e3 * s; };
function both(rows) {
  let kept = Infinity, naive = Infinity;
  for (let round = 0; round < 3; round++) {
    begin();
    text(rows - 4);
    kept = Math.min(kept, least(once, 9));
    page.set({ cache: false });
    naive = Math.min(naive, least(once, 3));
  }
  return [kept, naive];
}
const ROWS = [8, 16, 32, 64, 128, 256];
const machine = `# command: make measure-wasm\n# machine: ${cpus()[0].model}, one core; node ${process.version}; milliseconds of a processor\n`;
const here = execFileSync(made + '/try_clock', ROWS.map(String), { encoding: 'utf8' }).trim().split('\n').map(l => l.split(','));
writeFileSync(clock, machine + 'rows,kept,naive,nativekept,nativenaive\n' + ROWS.map((n, i) => `${n},${both(n).map(x => x.toFixed(3))},${here[i][1]},${here[i][2]}\n`).join(''));

const found = compare(await open(bytes), text_of('tests/checks/living.txt'), text_of(made + '/check/lines.jsonl'), text_of(made + '/check/traces.jsonl')).match(/\d+/g);
const last = f => text_of(made + '/check/' + f).trim().split('\n').pop().match(/\d+/g);
const all = {
  'bytes.engine': [squeezed(bytes) - squeezed(weights), 'bytes'], 'bytes.weights': [squeezed(weights), 'bytes'], 'bytes.memory': [page.exports.memory.buffer.byteLength, 'bytes'],
  'measured.token': [(1e3 * token).toFixed(1), 'ms'], 'measured.tokens': [Math.round(1 / token), ''], 'measured.row': [(1e3 * row).toFixed(2), 'ms'],
  'measured.rows_four': [Math.floor(0.25 / row), ''], 'checked.answers': [found[0], ''], 'checked.steps': [found[1], ''], 'checked.numbers': [found[2], ''],
  'fused.triples': [last('fmaf.txt')[0], ''], 'fused.wrong': [last('fmaf.txt')[1], ''], 'libc.wrong': [last('libc.txt')[1], ''],
  'split.texts': [last('split.txt')[0], ''], 'split.wrong': [last('split.txt')[2], ''],
};
writeFileSync(values, machine + 'key,value,unit\n' + Object.entries(all).map(([k, [x, unit]]) => `living.${k},${x},${unit}\n`).join(''));
