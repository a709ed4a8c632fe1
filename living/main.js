// main.js -- the page: what was computed, shown in words, numbers, and the scene; and window.incipit. All asking of the engine stands in one
// queue, so that a click, a key, a script and the clock cannot come between each other's steps.
"use strict";
const $ = id => document.getElementById(id);
const made = (name, cls = "", text = "") => Object.assign(document.createElement(name), { className: cls, textContent: text });
const grouped = n => n.toLocaleString("en"), many = (n, what) => grouped(n) + " " + what + (n === 1 ? "" : "s");
const visible = t => t === "" ? "(nothing)" : t.replace(/^bytes:(?=\\x)/, "").replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥");
const quoted = t => "“" + visible(t) + "”";
const chance = p => p >= .99995 ? "1.0000" : p < 1e-4 ? "<0.0001" : p.toFixed(4);
const PROMPTS = [{ text: "The cat sat on the mat." }, { text: "def count_apples(box):", code: true }, { text: "In a small kingdom by the sea," },
  { text: "The harvest of the kingdom was very good.", fork: true }];
const NEUTRAL = { temperature: 0, top_k: 0, top_p: 1, min_p: 0, repetition_penalty: 1, seed: 0 };
const slow = matchMedia("(prefers-reduced-motion: reduce)");
const sleep = ms => new Promise(done => setTimeout(done, ms));

// ---- the engine in its Worker
let worker;
const open = new Map();
let asked = 0;
const ask = (what, more = {}, moved = []) => new Promise((done, failed) => {
  open.set(++asked, { done, failed });
  worker.postMessage({ id: asked, what, ...more }, moved);
});
async function unpacked(base64) {
  const raw = atob(base64), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}
async function launched() {
  const url = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));
  const trusted = window.trustedTypes?.createPolicy("incipit", { createScriptURL: u => u });      // that one URL, and no other
  worker = new Worker(trusted ? trusted.createScriptURL(url) : url);
  worker.onmessage = ({ data: { id, answer, error } }) => {
    const { done, failed } = open.get(id);
    open.delete(id);
    if (error === undefined) done(answer); else failed(new Error(error));
  };
  worker.onerror = e => { for (const { failed } of open.values()) failed(new Error(e.message || "the Worker has ended")); open.clear(); };
  const files = {};
  let wasm;
  for (const e of document.querySelectorAll("script[data-file]")) {
    const bytes = await unpacked(e.textContent.trim());
    if (e.dataset.file === "living.wasm") wasm = bytes; else files[e.dataset.file] = bytes;
    e.remove();
  }
  const opened = await ask("open", { wasm, files }, [wasm.buffer]);
  return opened;
}

// ---- where we are
let now = null, attention = null, rows = 0, tree = [], shape = null, lastMs = null, scene = null, playing = false, chosen = null, view = "scene", late = false;
const settings = { ...NEUTRAL };
let cache = true, prompt = "", speed = 1, layer = -1, head = -1, ways = 4;
const rowsOf = new Map(), opOf = new Map();                    // how a node came: k with the cache, n without, f by hand
let logged = "";
let chain = Promise.resolve();
const queued = f => { const r = chain.then(f); chain = r.catch(() => {}); return r; };
function wrong(why) { $("wrong").textContent = why; $("wrong").hidden = !why; }
const guarded = f => async (...a) => { try { wrong(""); return await f(...a); } catch (e) { pause(); wrong(e.message); } };

// the weights of the last row: of a head, of a layer, or the mean of all
function weights() {
  if (!attention) return null;
  const n = rows, out = new Float32Array(n);
  let all = 0;
  for (let l = 0; l < LAYERS; l++) for (let h = 0; h < HEADS; h++) if ((layer < 0 || layer === l) && (head < 0 || head === h)) {
    all++;
    for (let i = 0; i < n; i++) out[i] += attention[(l * HEADS + h) * n + i];
  }
  for (let i = 0; i < n; i++) out[i] /= all;
  return out;
}
const whose = () => layer < 0 && head < 0 ? "the mean of all heads" : layer < 0 ? `head ${head + 1}, the mean of all layers` : head < 0 ? `layer ${layer + 1}, the mean of its heads` : `head ${head + 1} of layer ${layer + 1}`;
const far = w => { let d = 0; for (let i = 0; i < w.length; i++) d += w[i] * (w.length - 1 - i); return d; };

// ---- the answers of the engine become the page
const nodeOf = id => tree.find(t => t.node === id);
function path(node = now.node) {           // from the prompt's node, which is left out
  const out = [];
  for (let t = nodeOf(node); t && t.parent >= 0; t = nodeOf(t.parent)) out.unshift(t);
  return out;
}
// what the steps of this text have computed, in blocks: a block is a row of a layer. Null if a step was not seen here
function blocks() {
  const each = path().map(t => rowsOf.get(t.node));
  return each.includes(undefined) ? null : LAYERS * each.reduce((a, b) => a + b, 0);
}
function hold(r) {
  now = r.state, attention = r.attention, rows = r.rows, tree = r.tree;
  if (now.step) rowsOf.set(now.node, now.step.counters.rows);
}
function take(r, over = 0) {
  hold(r);
  if (r.ms !== undefined) lastMs = r.ms;
  const s = now.step;
  if (scene) {
    scene.show({ pieces: now.pieces, prompt: now.prompt_tokens, work: s ? s.work : [], kept: !s || s.cache_rows > 0, over: slow.matches ? 0 : over });
    scene.looks(weights());
  }
  if (chosen && chosen.position >= now.ids.length) choose(null);
  else if (chosen) tell();
  numbers(), text(), said(), look();
  drawTree(), drawStages();
  remember();
}
function numbers() {
  const s = now.step, bytes = now.kv_cache_bytes;
  $("seq-len").textContent = grouped(now.ids.length);
  $("seq-unit").textContent = s ? `tokens, ${grouped(now.seq_len)} of them read` : "tokens, none of them read";
  const all = blocks();
  $("kv-cache").textContent = grouped(bytes);
  $("kv-unit").textContent = s && s.cache_rows ? `bytes, ${many(s.cache_rows, "row")} of ${grouped(s.cache_bytes / s.cache_rows)}` : "bytes kept from step to step";
  $("compute").textContent = grouped(now.compute);
  $("compute-unit").textContent = all === null ? "multiply-adds in all" : `multiply-adds in all, ${many(all, "block")}`;
  $("compute-step").textContent = grouped(now.compute_step);
  $("step-unit").textContent = s ? `multiply-adds, ${many(LAYERS * s.counters.rows, "block")}` : "multiply-adds";
  const asks = 1000 / speed;
  late = lastMs !== null && lastMs > asks;
  $("time").textContent = lastMs === null ? "–" : lastMs < 100 ? lastMs.toFixed(1) : grouped(Math.round(lastMs));
  $("time").classList.toggle("late", late);
  $("pace").textContent = late ? `ms: too slow for ${speed} tokens a second` : "ms, measured here";
}
const sentence = () => {
  const s = now.step;
  if (!s) return now.prompt_tokens ? `The prompt has ${many(now.prompt_tokens, "token")}: ${now.pieces.slice(0, now.prompt_tokens).map(quoted).join(" ")}. Nothing has been computed yet; a step reads it and writes a token.` : "";
  const fresh = s.work.filter(w => w === "new").length, redo = s.work.filter(w => w === "redo").length, kept = s.work.filter(w => w === "cached").length;
  const did = [fresh && `computes ${many(fresh, "row")}` + (redo ? ` and ${grouped(redo)} again` : ""), redo && !fresh && `computes ${many(redo, "row")} again`, kept && `takes ${grouped(kept)} from the cache`].filter(Boolean);
  const w = weights(), c = s.chosen;
  let most = 0;
  for (let i = 0; i < w.length; i++) if (w[i] > w[most]) most = i;
  const took = c ? `and writes ${quoted(c.piece)}, probability ${chance(Math.exp(c.logprob))}, rank ${c.rank} (${c.why})` : "";
  return `Step ${s.step}: the model ${did.length > 1 ? did.slice(0, -1).join(", ") + " and " + did.at(-1) : did[0]}, ${took}. The row of ${quoted(now.pieces[rows - 1])} looks most at ${most === rows - 1 ? "itself" : quoted(now.pieces[most])} (${w[most].toFixed(2)}; ${whose()}), on average ${far(w).toFixed(1)} tokens back.`
    + (now.end ? ` The text has ended.` : "");
};
let heard = 0, hearing, treeSeen = false;
function said() {
  const t = sentence();
  $("said").textContent = t;
  if (!beamed) $("tree-said").textContent = t;
  if (now.step && logged !== now.node + t) {
    logged = now.node + t;
    $("log").append(made("li", "", t));
    if ($("log").childElementCount > 400) $("log").firstElementChild.remove();
  }
  // who listens hears each step, and while it plays no more than one in two seconds, the newest
  clearTimeout(hearing);
  hearing = setTimeout(() => { heard = performance.now(); $("hear").textContent = t; }, playing ? Math.max(0, heard + 2000 - performance.now()) : 30);
}
function text() {
  const box = $("written"), code = PROMPTS.some(p => p.code && p.text === prompt);
  box.className = code ? "written code" : "written";
  // pieces that are parts of a character stand as they are named
  const read = made("span", "read", now.pieces.slice(0, now.prompt_tokens).join("")), more = now.pieces.slice(now.prompt_tokens);
  box.replaceChildren(read, more.slice(0, -1).join(""), ...(more.length ? [made("span", "last", more.at(-1))] : []));
}

// where prompts stand in one line that can be moved, the one that was taken is seen
function inView() {
  const b = document.querySelector(".chips [aria-pressed=true]");
  if (b) b.parentNode.scrollLeft = b.offsetLeft - b.parentNode.offsetLeft;
}

// ---- doing
async function begin(text) {
  pause();
  const r = await ask("set", { options: { prompt: text, cache, max_tokens: 0, ...settings } });      // refused, it leaves all as it is
  beamed = lastMs = null;
  prompt = text, opOf.clear(), rowsOf.clear(), logged = "", $("log").replaceChildren();
  take(r);
  for (const b of document.querySelectorAll(".chips button")) b.setAttribute("aria-pressed", b.dataset.prompt === prompt);
  inView();
  if ($("prompt").value !== prompt) $("prompt").value = PROMPTS.some(p => p.text === prompt) ? "" : prompt;
  scene && (scene.camera = scene.camera);
}
const duration = () => playing ? Math.min(900, 920 / speed) : 900;
async function advance() {
  if (now.end) return false;
  beamed = null;
  if (scene && !cache && rows > 1) scene.wait(true);
  let r;
  try { r = await ask("step"); } finally { scene?.wait(false); }
  if (r.went) opOf.set(r.state.node, cache ? "k" : "n");
  take(r, r.went ? duration() : 0);
  return r.went;
}
async function retreat() {
  beamed = null;
  const r = await ask("back");
  lastMs = null;
  take(r);
  return r.went;
}
async function forked(node, token) {
  beamed = null;
  const r = await ask("fork", { node, token });
  opOf.set(r.node, "f");
  take(r);
  return r.node;
}
const pause = () => { playing = false; $("play").textContent = "Play"; };
async function play() {
  if (playing) return pause();
  playing = true;
  $("play").textContent = "Pause";
  while (playing) {
    const t = performance.now();
    if (!await queued(advance)) break;
    await sleep(Math.max(late ? 0 : 20, 1000 / speed - (performance.now() - t)));
  }
  pause();
}
async function set(o) {
  const options = {};
  for (const k of Object.keys(NEUTRAL)) if (o[k] !== undefined) settings[k] = options[k] = Number(o[k]);
  if (o.cache !== undefined) cache = options.cache = Boolean(o.cache), $(cache ? "cache-on" : "cache-off").checked = true;
  if (o.speed !== undefined) speed = Math.max(.5, Math.min(4, Number(o.speed))), $("speed").value = speed, $("speed-out").textContent = many(speed, "token").replace(/^0\.5 tokens?/, "½ token") + "/s";
  if (o.layer !== undefined) layer = o.layer === null || o.layer === "mean" ? -1 : Number(o.layer), $("layer").value = layer;
  if (o.head !== undefined) head = o.head === null || o.head === "mean" ? -1 : Number(o.head), $("head").value = head;
  if (o.camera !== undefined && scene) scene.camera = o.camera, look();
  if (o.prompt !== undefined) await begin(String(o.prompt));
  else if (Object.keys(options).length) take(await ask("set", { options }));
  else if (now) { scene?.looks(weights()); numbers(), said(), chosen && tell(), remember(); }
}
function look() {
  for (const b of document.querySelectorAll("[data-camera]")) b.setAttribute("aria-pressed", b.dataset.camera === scene?.camera);
  $("back").disabled = $("tree-back").disabled = !now || (!path().length && !now.step);
  $("step").disabled = $("tree-step").disabled = $("tree-eight").disabled = !now || !!now.end;
}

// ---- the command that does the same
const shell = t => "'" + t.replaceAll("'", "'\\''") + "'";
function sampling() {
  const s = settings, out = [];
  if (s.temperature) out.push(`--temperature ${s.temperature}`, `--seed ${s.seed}`);
  for (const k of ["top_k", "top_p", "min_p", "repetition_penalty"]) if (s[k] !== NEUTRAL[k]) out.push(`--${k.replaceAll("_", "-")} ${s[k]}`);
  return out.map(o => " " + o).join("");
}
function command(what = "trace", more = "") {
  const by = path(), last = by.findLastIndex(t => opOf.get(t.node) === "f") + 1, steps = Math.max(1, by.length - last);
  const from = last ? "--prompt-ids " + now.ids.slice(0, now.prompt_tokens + last).join(",") : "-p " + shell(prompt);
  return `incipit ${what} ${from} -n ${steps}${what === "trace" && cache ? " --cache" : what === "generate" && !cache ? " --no-cache" : ""}${sampling()}${more}`;
}
async function copy(text, button) {
  try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; }
  catch { const a = made("textarea"); a.value = text; document.body.append(a); a.select(); document.execCommand("copy"); a.remove(); button.textContent = "Copied"; }
  setTimeout(() => { button.textContent = "Copy as command"; }, 1500);
}

// ---- a block
const SECTIONS = { read: "@sec:encoding@", greedy: "@sec:greedy@", drawn: "@sec:gumbel@", embedding: "@sec:residual@", attention: "@sec:attend@", mlp: "@sec:mlp@", append: "@sec:append@", page: "@sec:layout@", again: "@sec:naivecost@" };
function choose(block) {
  chosen = block;
  scene?.choose(block ? block.position : -9, block ? block.layer : -9);
  if (block) {
    scene?.bring(block.position);
    $("hear").textContent = (block.layer ? `Layer ${block.layer} of ` : "") + `${quoted(now.pieces[block.position])}, position ${block.position}`;
  }
  tell(), remember();
}
let telling = 0;
async function tell() {
  const box = $("about"), me = ++telling;
  if (!chosen || !now) return box.replaceChildren(made("h2", "", "A block"), made("p", "note", "Click on a block, or put the focus on the figure and walk with the arrow keys."));
  const { position: i, layer: l } = chosen, s = now.step, piece = now.pieces[i], by = path()[i - now.prompt_tokens], facts = [];
  const title = l ? `Layer ${l} of ${quoted(piece)}` : quoted(piece);
  const state = !s || i >= s.length ? "not computed yet: a row is computed when its token is read" : { new: "computed in this step", cached: "from the cache", redo: "computed again in this step" }[s.work[i]];
  const parts = [], sections = [], w = weights();
  facts.push(["position", i]);
  if (!l) {
    facts.push(["token", now.ids[i]], ["came from", i < now.prompt_tokens ? "the prompt" : opOf.get(by?.node) === "f" ? "a way opened by hand" : "the model, step " + (i - now.prompt_tokens + 1)]);
    if (by) facts.push(["probability", chance(by.probability)], ["log-probability", by.logprob.toFixed(6)], ["rank", by.rank]);
    if (w && i < rows) facts.push(["looked at by the last row", w[i].toFixed(4)]);
    facts.push(["its rows", state]);
    sections.push(i < now.prompt_tokens ? SECTIONS.read : settings.temperature ? SECTIONS.drawn : SECTIONS.greedy, SECTIONS.embedding);
  } else {
    facts.push(["row", state]);
    if (attention && i < rows) for (let h = 0; h < HEADS; h++) facts.push([`head ${h + 1}: looked at by the last row`, attention[((l - 1) * HEADS + h) * rows + i].toFixed(4)]);
    const x = s && i < s.length ? await ask("numbers", { layer: l - 1, position: i }) : null;
    if (me !== telling) return;
    if (x) for (const [k, name] of [[0, "Key"], [1, "Value"]]) parts.push(made("h2", "", name), cells(x.slice(64 * k, 64 * k + 64)), made("p", "note", `Two heads of 32 numbers; the first three are ${[...x.slice(64 * k, 64 * k + 3)].map(v => v.toFixed(4)).join(", ")}.`));
    else if (s && i < s.length) parts.push(made("p", "note", "Its key and value are not kept for the next step: the cache is off."));
    sections.push(SECTIONS.attention, SECTIONS.append, SECTIONS.page);
    if (s && s.work[i] === "redo") sections.unshift(SECTIONS.again);
  }
  const table = made("table", "facts"), button = made("button", "", "Copy as command"), how = command("trace", (l ? ` --attention ${l - 1}.${Math.max(0, head)}` : "") + " --json");
  for (const [k, v] of facts) { const tr = made("tr"); tr.append(Object.assign(made("th", "", k), { scope: "row" }), made("td", "", v)); table.append(tr); }
  button.onclick = () => copy(how, button);
  box.replaceChildren(made("h2", "", title), table, ...parts, made("h2", "", "In the book"), ...sections.map(t => made("p", "note", t)), made("h2", "", "The same by the command"), made("code", "command", how), button);
}
function cells(x) {
  const box = made("div", "cells"), most = Math.max(...x.map(Math.abs));
  box.setAttribute("role", "img"), box.setAttribute("aria-label", `${x.length} numbers, from ${Math.min(...x).toFixed(3)} to ${Math.max(...x).toFixed(3)}`);
  for (const v of x) {
    const e = made("i");
    e.title = v;
    e.style.setProperty("--c", `color-mix(in srgb, var(${v < 0 ? "--rubric" : "--key"}) ${(100 * Math.abs(v) / most).toFixed(0)}%, var(--page))`);
    box.append(e);
  }
  return box;
}

// ---- how far looks go, by prompt
async function measure() {
  const button = $("measure");
  button.disabled = true, button.textContent = "Measuring…";
  try {
    const three = PROMPTS.filter(p => !p.fork), all = await ask("measure", { prompts: three.map(p => p.text), steps: 48 });
    const most = Math.max(...all.flatMap(a => a.far)), held = Math.max(...all.flatMap(a => a.held)), box = made("div", "heads");
    for (const a of all) {
      const part = made("div"), words = made("p", "held"), table = made("table"), caption = made("caption"), mean = a.far.reduce((x, y) => x + y, 0) / 24;
      caption.append(made("i", "", a.prompt), made("br"), made("b", "", mean.toFixed(2)), ` tokens back on average in ${many(a.steps, "step")}, ${(100 * a.share).toFixed(0)} percent of what there was`);
      table.append(caption);
      const top = made("tr");
      top.append(made("th"), ...[1, 2, 3, 4].map(h => Object.assign(made("th", "", h > 1 ? h : "head 1"), { scope: "col", ariaLabel: "head " + h })));
      table.append(top);
      for (let l = 0; l < LAYERS; l++) {
        const tr = made("tr");
        tr.append(Object.assign(made("th", "", "layer " + (l + 1)), { scope: "row" }));
        for (let h = 0; h < HEADS; h++) { const td = made("td", "", a.far[l * HEADS + h].toFixed(1)); td.style.setProperty("--p", a.far[l * HEADS + h] / most); tr.append(td); }
        table.append(tr);
      }
      for (let i = 0; i < a.held.length; i++) {
        const w = made("span", "", visible(a.pieces[i]));
        w.style.setProperty("--p", a.held[i] / held), w.title = a.held[i].toFixed(4);
        const one = made("span");
        one.append(w, made("small", "", a.held[i].toFixed(3).slice(1))), words.append(one);
      }
      part.append(table, words, made("p", "note", `That is what the words of the prompt get of all looks; an even share is ${a.even.toFixed(3).slice(1)}. Of ${many(a.looks, "far look")}, ${a.first} go to the prompt.`));
      box.append(part);
    }
    $("distances").replaceChildren(box);
    return all;
  } finally { button.disabled = false, button.textContent = "Measure again"; }
}

// ---- the address: prompt, settings, and the way that was gone, step by step
let remembering;
function place() {
  const q = new URLSearchParams();
  q.set("prompt", prompt);
  const run = path().map(t => { const op = opOf.get(t.node) ?? "f"; return op + t.id; });
  if (run.length) q.set("run", run.join("."));
  if (!cache) q.set("cache", 0);
  for (const k of Object.keys(NEUTRAL)) if (settings[k] !== NEUTRAL[k]) q.set(k, settings[k]);
  if (speed !== 1) q.set("speed", speed);
  if (layer >= 0) q.set("layer", layer);
  if (head >= 0) q.set("head", head);
  if (scene && scene.camera !== "follow") q.set("camera", scene.camera);
  if (view !== "scene") q.set("view", view);
  if (chosen) q.set("at", chosen.position + "." + chosen.layer);
  return "#" + q;
}
function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(() => { const to = place(); $("address").href = to; if (location.hash !== to) history.replaceState(null, "", to); }, 150);
}
async function arrive() {
  const q = new URLSearchParams(location.hash.slice(1)), o = {};
  for (const k of [...Object.keys(NEUTRAL), "speed", "layer", "head"]) if (q.has(k) && Number.isFinite(Number(q.get(k)))) o[k] = Number(q.get(k));
  const off = q.get("cache") === "0", run = (q.get("run") ?? "").split(".").filter(Boolean);
  await set({ ...NEUTRAL, layer: -1, head: -1, speed: 1, ...o, cache: true, prompt: q.get("prompt") || PROMPTS[0].text });
  for (const op of run.slice(0, 1500)) {
    const [, how, id] = /^([knf])(\d*)$/.exec(op) ?? [];
    if (!how) break;
    if (how !== "f") {
      const with_ = how === "k";
      if (with_ !== cache) await set({ cache: with_ });
      const parent = now.node, r = await ask("step");
      opOf.set(r.state.node, how);
      lastMs = r.ms, hold(r);
      if (!r.went) break;
      if (id && now.ids.at(-1) !== Number(id)) await forked(parent, Number(id));
    } else if (id) await forked(now.node, Number(id));
  }
  await set({ cache: !off });
  if (scene && q.has("camera")) scene.camera = q.get("camera");
  const at = /^(\d+)\.([0-6])$/.exec(q.get("at") ?? "");
  choose(at && Number(at[1]) < now.ids.length ? { position: Number(at[1]), layer: Number(at[2]) } : null);
  turn(q.get("view") === "tree" ? "tree" : "scene", false);
  take({ state: now, attention, rows, tree });
}

// ---- tabs, buttons, keys, pointers
function turn(to, focus = true) {
  view = to, treeSeen ||= to === "tree";
  for (const v of ["scene", "tree"]) {
    $(v).hidden = v !== to;
    $("tab-" + v).setAttribute("aria-selected", v === to), $("tab-" + v).tabIndex = v === to ? 0 : -1;
  }
  document.body.dataset.view = to;
  for (const b of document.querySelectorAll(".chips .fork")) b.hidden = to !== "tree";
  inView();
  if (focus) $("tab-" + to).focus();
  scene?.size();
  if (now) drawTree(true), drawStages(), remember();
}
function listen() {
  for (const p of PROMPTS) {
    const b = Object.assign(made("button", (p.code ? "code " : "") + (p.fork ? "fork" : ""), p.text), { type: "button" });
    b.dataset.prompt = p.text;
    b.onclick = guarded(() => queued(() => set({ prompt: p.text })));
    document.querySelector(".chips").append(b);
  }
  const fill = (id, n, all, word) => $(id).append(...[-1, ...Array(n).keys()].map(k => Object.assign(made("option", "", k < 0 ? all : word + (k + 1)), { value: k })));
  fill("layer", LAYERS, "all", ""), fill("head", HEADS, "mean", "");
  $("text-form").onsubmit = guarded(e => { e.preventDefault(); return queued(() => set({ prompt: $("prompt").value || prompt })); });
  const click = (id, f) => { $(id).onclick = guarded(() => f()); };
  for (const pre of ["", "tree-"]) {
    click(pre + "step", () => { pause(); return queued(advance); });
    click(pre + "back", () => { pause(); return queued(retreat); });
  }
  click("tree-eight", () => { pause(); return queued(async () => { for (let i = 0; i < 8 && await advance();) i++; }); });
  click("play", play), click("measure", measure), click("scene-command", () => copy(command("trace", layer < 0 && head < 0 ? "" : ` --attention ${Math.max(0, layer)}.${Math.max(0, head)}`), $("scene-command")));
  click("beam", () => { pause(); return queued(beams); });
  click("tree-svg", saveTree), click("tree-command", () => copy(treeCommand(), $("tree-command")));
  $("speed").oninput = () => set({ speed: $("speed").value });
  $("cache-on").onchange = $("cache-off").onchange = guarded(() => queued(() => set({ cache: $("cache-on").checked })));
  $("layer").onchange = () => set({ layer: $("layer").value });
  $("head").onchange = () => set({ head: $("head").value });
  $("ways").oninput = () => { ways = Number($("ways").value), $("ways-out").textContent = ways, drawTree(); };
  for (const b of document.querySelectorAll("[data-camera]")) b.onclick = () => set({ camera: b.dataset.camera });
  $("count-frames").onchange = () => { $("frames").hidden = !$("count-frames").checked; };
  setInterval(() => { if (scene && !$("frames").hidden) frames(); }, 500);
  // the first tree that somebody sees is the fork of chapter 7, unless the text is their own
  for (const v of ["scene", "tree"]) $("tab-" + v).onclick = () => { const seenTree = treeSeen; turn(v); if (v === "tree" && !seenTree && PROMPTS.some(p => p.text === prompt && !p.fork)) guarded(() => queued(async () => { await set({ prompt: PROMPTS[3].text }); await advance(); }))(); };
  document.querySelector(".tabs").onkeydown = e => { if (e.key === "ArrowRight" || e.key === "ArrowLeft") e.preventDefault(), $("tab-" + (view === "scene" ? "tree" : "scene")).click(); };
  document.addEventListener("keydown", keys);
  if (scene) pointers();
  addEventListener("hashchange", () => { if (decodeURIComponent(location.hash) !== decodeURIComponent(place())) pause(), guarded(() => queued(arrive))(); });
  slow.addEventListener("change", () => scene?.calm(slow.matches));
}
let lastFrames = 0, lastLook = 0;
function frames() {
  const c = scene.count, t = performance.now(), n = c.frames - lastFrames;
  $("frames").textContent = n ? `${(1000 * n / (t - lastLook)).toFixed(0)} frames/s, ${c.ms.toFixed(2)} ms of script, ${c.draws} draw calls` : `at rest: nothing is drawn; the last frame took ${c.draws} draw calls`;
  lastFrames = c.frames, lastLook = t;
}
function keys(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && e.target.type !== "range" && e.target.type !== "radio") return;
  const on = e.target === $("view"), act = f => { e.preventDefault(); f(); };
  if (on && scene && now) {
    const c = chosen ?? { position: Math.max(0, rows - 1), layer: 0 }, go = (di, dl) => act(() => choose(chosen ? { position: Math.max(0, Math.min(now.ids.length - 1, c.position + di)), layer: Math.max(0, Math.min(LAYERS, c.layer + dl)) } : c));
    if (e.shiftKey && e.key.startsWith("Arrow")) return act(() => scene.turn(e.key === "ArrowLeft" ? -25 : e.key === "ArrowRight" ? 25 : 0, e.key === "ArrowUp" ? 20 : e.key === "ArrowDown" ? -20 : 0));
    if (e.key === "ArrowLeft") return go(-1, 0);
    if (e.key === "ArrowRight") return go(1, 0);
    if (e.key === "ArrowUp") return go(0, -1);
    if (e.key === "ArrowDown") return go(0, 1);
    if (e.key === "Home") return act(() => choose({ ...c, position: 0 }));
    if (e.key === "End") return act(() => choose({ ...c, position: now.ids.length - 1 }));
    if (e.key === "Escape") return act(() => choose(null));
    if (e.key === "Enter") return act(() => { if (!chosen) choose(c); $("hear").textContent = $("about").innerText; });
    if (e.key === "PageUp") return act(() => scene.zoom(-.15));
    if (e.key === "PageDown") return act(() => scene.zoom(.15));
  }
  if (e.key === " " && e.target.tagName !== "BUTTON" && e.target.tagName !== "SUMMARY") return act(() => $("play").click());
  if (e.shiftKey && e.key !== "+" && e.key !== "?") return;
  const key = { n: () => $("step").click(), b: () => $("back").click(), c: () => $(cache ? "cache-off" : "cache-on").click(), "+": () => set({ speed: speed + .5 }), "-": () => set({ speed: speed - .5 }), t: () => $("tab-" + (view === "scene" ? "tree" : "scene")).click(),
    f: () => $("count-frames").click(), 1: () => set({ camera: "follow" }), 2: () => set({ camera: "side" }), 3: () => set({ camera: "above" }), 4: () => set({ camera: "all" }) }[e.key];
  if (key && now) act(key);
}
function pointers() {
  const c = $("view"), down = new Map();
  let walked = 0, gap = 0;
  c.onpointerdown = e => { down.set(e.pointerId, e), walked = 0, gap = 0; c.setPointerCapture(e.pointerId); };
  c.onpointermove = e => {
    const was = down.get(e.pointerId);
    if (!was) return;
    const dx = e.clientX - was.clientX, dy = e.clientY - was.clientY;
    walked += Math.abs(dx) + Math.abs(dy);
    down.set(e.pointerId, e);
    if (down.size === 2) {
      const [a, b] = [...down.values()], d = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
      if (gap) scene.zoom(Math.log(gap / d));
      gap = d, scene.pan(-dx * scene.perPixel / 2);
    } else if (e.shiftKey || e.buttons === 4 || e.pointerType === "touch") scene.pan(-dx * scene.perPixel);
    else scene.turn(dx, dy);
  };
  c.onpointerup = c.onpointercancel = e => {
    down.delete(e.pointerId);
    if (walked > 6 || e.type === "pointercancel") return;
    const r = c.getBoundingClientRect();
    choose(scene.pick(e.clientX - r.left, e.clientY - r.top));
  };
  c.addEventListener("wheel", e => { if (e.ctrlKey || e.shiftKey || document.activeElement === c) e.preventDefault(), scene.zoom(e.deltaY * .0012); }, { passive: false });
}

// ---- what a test and a teacher's script may call
function state() {
  const n = rows, look = [];
  for (let l = 0; l < LAYERS && attention; l++) look.push(Array.from({ length: HEADS }, (_, h) => [...attention.subarray((l * HEADS + h) * n, (l * HEADS + h + 1) * n)]));
  return now && { ...structuredClone(now), seq_len: now.ids.length, blocks: blocks(), blocks_step: now.step ? LAYERS * now.step.counters.rows : 0, attention: look, settings: { ...settings }, view: { camera: scene?.camera ?? null, layer, head, speed, tab: view }, step_ms: lastMs };
}
let isReady, isNot;
const doing = f => queued(async () => { await f(); return state(); });
window.incipit = {
  ready: new Promise((yes, no) => { isReady = yes, isNot = no; }),
  set: o => { if (o.prompt !== undefined) pause(); return doing(() => set(o)); },
  step: () => doing(advance), back: () => doing(retreat), fork: (node, id) => doing(() => forked(node, id)), go: node => doing(async () => take(await ask("go", { node }))),
  beams: (width, steps) => doing(async () => { beamed = null, $("beam-width").value = width, $("beam-steps").value = steps; await beams(); }), stages: node => queued(() => ask("stages", { node })), numbers: (layer, position) => queued(() => ask("numbers", { layer, position })), measure: () => queued(measure),
  state, tree: () => structuredClone(tree), svg: () => treeSvg(), address: () => place(), command: (what, more) => view === "tree" && !more ? treeCommand() : command(what, more),
  frames: (n, dry) => scene?.measure(n, dry), pick: (x, y) => scene?.pick(x, y), where: (i, l) => scene?.where(i, l), resting: () => !scene || scene.resting,
};
window.incipit.ready.catch(() => {});

// ---- the start: what is missing is said, and then the recorded figure stands there
const SIMD = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);
function missing() {
  if (typeof WebAssembly !== "object" || !WebAssembly.validate(SIMD)) return "WebAssembly with SIMD (of 128 bits)";
  if (typeof DecompressionStream !== "function") return "DecompressionStream";
  if (typeof Worker !== "function") return "Workers";
  return "";
}
function instead(why) {
  $("why-not").textContent = why;
  $("instead").hidden = false;
}
async function start() {
  const none = missing();
  if (none) {
    instead(`This browser has no ${none}, which the engine needs. Here is what it recorded: a newer browser computes it before your eyes.`);
    $("work").hidden = true;
    $("model").textContent = "recorded";
    document.title = "Living figures (recorded) – Incipit";
    return isNot(new Error("no " + none));
  }
  try { scene = makeScene($("view"), $("labels")); } catch (e) { scene = null; }
  if (!scene) {
    instead("This browser has no WebGL2, so the scene in three dimensions is not drawn, and a recorded figure stands here. All else works: the numbers below are computed as you step, and so is the tree.");
    document.querySelector(".stage").hidden = true;
  } else scene.calm(slow.matches);
  listen();
  turn("scene", false);
  const t = performance.now(), opened = await launched();
  shape = opened.shape;
  $("model").textContent = `the built-in model, opened in ${((performance.now() - t) / 1000).toFixed(1)} s`;
  await queued(arrive);
  document.title = "Living figures – Incipit";
  document.body.dataset.ready = "yes";
  isReady(state());
}
