// measure.mjs -- node wasm/measure.mjs build/living.wasm build/wasm: what the engine costs in node, and what living.sh has just found, as CSV. Seconds are a
// processor's, which do not grow when others are busy; each is the least of five.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { cpus } from 'node:os';
import { open } from './engine.mjs';
import { compare } from '../tests/checks/living_compare.mjs';

const bytes = readFileSync(process.argv[2]), made = process.argv[3], weights = readFileSync(made + '/made/weights.bin');
const text_of = f => readFileSync(f, 'utf8');
const squeezed = b => gzipSync(b, { level: 9 }).length;
const used = f => { const was = process.cpuUsage(); f(); const u = process.cpuUsage(was); return (u.user + u.system) / 1e6; };
const least = f => Math.min(...Array.from({ length: 5 }, f));
const page = await open(bytes);
const text = n => { for (let i = 0; i < n; i++) page.step(); };
page.set({ prompt: 'Once upon a time', cache: true });
text(300);                                                        // the machine code of the loops is made while they run
const token = least(() => { page.set({ prompt: 'Once upon a time', cache: true }); return used(() => text(100)) / 100; });
const row = least(() => { page.set({ prompt: 'Once upon a time', cache: true }); text(90); page.set({ cache: false }); let rows = 0; const s = used(() => { for (let i = 0; i < 10; i++) { page.step(); rows += page.state().seq_len; } }); return s / rows; });
console.log(`# command: make measure-wasm`);
console.log(`# machine: ${cpus()[0].model}, one core; node ${process.version}`);
console.log('key,value,unit');
console.log(`living.bytes.engine,${squeezed(bytes) - squeezed(weights)},bytes`);
console.log(`living.bytes.weights,${squeezed(weights)},bytes`);
console.log(`living.bytes.memory,${page.exports.memory.buffer.byteLength},bytes`);
console.log(`living.measured.token,${(1e3 * token).toFixed(1)},ms`);
console.log(`living.measured.tokens,${Math.round(1 / token)},`);
console.log(`living.measured.row,${(1e3 * row).toFixed(2)},ms`);
console.log(`living.measured.rows_four,${Math.floor(0.25 / row)},`);
const found = compare(await open(bytes), text_of('tests/checks/living.txt'), text_of(made + '/check/lines.jsonl'), text_of(made + '/check/traces.jsonl')).match(/\d+/g);
console.log(`living.checked.answers,${found[0]},`);
console.log(`living.checked.steps,${found[1]},`);
console.log(`living.checked.numbers,${found[2]},`);
const last = f => text_of(made + '/check/' + f).trim().split('\n').pop().match(/\d+/g);
console.log(`living.fused.triples,${last('fmaf.txt')[0]},`);
console.log(`living.fused.wrong,${last('fmaf.txt')[1]},`);
console.log(`living.libc.wrong,${last('libc.txt')[1]},`);
console.log(`living.split.texts,${last('split.txt')[0]},`);
console.log(`living.split.wrong,${last('split.txt')[2]},`);
