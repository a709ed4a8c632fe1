// living.mjs -- node living.mjs WASM SCRIPT LINES TRACES: living_compare.mjs in node
import { readFileSync } from 'node:fs';
import { open } from '../../wasm/engine.mjs';
import { compare } from './living_compare.mjs';

const [, , wasm, ...texts] = process.argv;
console.log(compare(await open(readFileSync(wasm)), ...texts.map(f => readFileSync(f, 'utf8'))));
