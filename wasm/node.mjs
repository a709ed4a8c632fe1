// node.mjs -- the engine of a page, in node: node wasm/node.mjs build/living.wasm PROMPT STEPS writes a text, with the cache and without.
import { readFileSync } from 'node:fs';
import { open } from './engine.mjs';

const [, , file, prompt = 'The cat sat', steps = '12'] = process.argv;
const page = await open(readFileSync(file));
for (const cache of [true, false]) {
  page.set({ prompt, cache });
  const began = performance.now();
  for (let i = 0; i < Number(steps) && page.step() === 0; i++);
  const s = page.state(), seconds = (performance.now() - began) / 1e3;
  console.log(`${cache ? 'cache' : 'no cache'}: ${JSON.stringify(s.pieces.join(''))}`);
  console.log(`  ${s.compute} multiply-adds, ${s.kv_cache_bytes} bytes kept, hash ${s.hash_all}, ${(steps / seconds).toFixed(1)} tokens a second`);
}
